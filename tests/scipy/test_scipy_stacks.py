"""Functions of matrices on stacks: each equal to the loop over the matrices, in all modes."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.results import float_parts
from gradwrap.scipy.table import rows_of
from samples import SAMPLES
from scipy_samples import Random

if TYPE_CHECKING:
    from gradwrap.scipy.table import Row
    from scipy_samples import Sample

COUNT = 2
LINALG: Any = import_module("gradwrap.scipy.linalg")
PARTS = {"cho_solve": (0,), "cho_solve_banded": (0,), "lu_solve": (0, 1)}
"""Pairs, and the parts of them that are stacked."""


def stacked(x: Any) -> Any:
    """Return an array and one close to it as a stack; a number, or an option, as it is."""
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x
    if x.dtype.kind not in "fc":
        return np.stack([x] * COUNT)
    moved = 0.03 * np.cos(np.arange(x.size)).reshape(x.shape)
    moved = moved if x.ndim < 2 or not np.array_equal(x, x.T.conj()) else (moved + moved.T) / 2
    return np.stack([x, np.where(x == 0, x, x + moved)])


def stack_of(row: Row, sample: Sample) -> list[Any]:
    """Return the arguments of a call of matrices as those of a call of stacks."""
    args: list[Any] = []
    for name, arg in zip(row.signature.parameters, sample.args, strict=False):
        if isinstance(arg, tuple):
            places = PARTS.get(row.path.rpartition(".")[2], range(len(arg)))
            args.append(tuple(stacked(x) if i in places else x for i, x in enumerate(arg)))
        elif name in ("b", "x") and np.ndim(arg) == 1:
            args.append(arg)  # the right side of all systems
        else:
            args.append(stacked(arg))
    return args


def one_of(args: list[Any], like: tuple[Any, ...], index: int) -> list[Any]:
    """Return the arguments of the call of one matrix."""

    def one(x: Any, single: Any) -> Any:
        if isinstance(x, tuple):
            return tuple(one(part, other) for part, other in zip(x, single, strict=True))
        return x[index] if np.ndim(x) > np.ndim(single) else x

    return [one(x, single) for x, single in zip(args, like, strict=True)]


def parts_of(result: Any, row: Row) -> list[Any]:
    return [part for path, part in float_parts(result) if not row.is_byproduct(path)]


def is_stacked_by_scipy(row: Row, sample: Sample) -> bool:
    args = stack_of(row, sample)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            whole = parts_of(row.original(*args, **sample.kwargs), row)
            each = [
                parts_of(row.original(*one_of(args, sample.args, i), **sample.kwargs), row)
                for i in range(COUNT)
            ]
        except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):
            return False
    return len(whole) == len(each[0]) and all(
        np.shape(part) == (COUNT, *np.shape(ones[0])) and np.allclose(part, np.stack(ones))
        for part, *ones in zip(whole, *each, strict=True)
    )


ROWS = [row for _, row in sorted(rows_of("linalg").items()) if row.path in SAMPLES]
of_each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)


def stacked_samples(row: Row) -> list[tuple[int, Sample]]:
    samples: list[Sample] = SAMPLES[row.path](Random())
    return [(i, sample) for i, sample in enumerate(samples) if is_stacked_by_scipy(row, sample)]


@pytest.mark.slow
def test_most_functions_are_tried() -> None:
    assert sum(bool(stacked_samples(row)) for row in ROWS) >= 55


def both(row: Row, sample: Sample) -> tuple[Any, Any, list[Any]]:
    """The function of stacks and the loop over it, of the floating-point arguments."""
    args = stack_of(row, sample)
    function = dispatcher(row.path)
    leaves = [x for x, _ in _floats(args)]

    def symmetric(values: list[Any]) -> list[Any]:
        names = list(row.signature.parameters)
        return [
            (x + np.conj(x.mT)) / 2 if name in row.symmetric and np.ndim(x) > 1 else x
            for x, name in zip(values, [*names, *names[-1:] * len(values)], strict=False)
        ]

    def whole(*values: Any) -> list[Any]:
        given = symmetric(_with_floats(args, list(values)))
        return parts_of(function(*given, **sample.kwargs), row)

    def loop(*values: Any) -> list[Any]:
        given = symmetric(_with_floats(args, list(values)))
        each = [
            parts_of(function(*one_of(given, sample.args, i), **sample.kwargs), row)
            for i in range(COUNT)
        ]
        return [np.stack(ones) for ones in zip(*each, strict=True)]

    return whole, loop, leaves


def _floats(args: Any) -> list[tuple[Any, None]]:
    found: list[tuple[Any, None]] = []
    for x in args:
        if isinstance(x, tuple):
            found += _floats(x)
        elif isinstance(x, np.ndarray) and x.dtype.kind in "fc":
            found.append((x, None))
    return found


def _with_floats(args: Any, values: list[Any]) -> list[Any]:
    made: list[Any] = []
    for x in args:
        if isinstance(x, tuple):
            made.append(tuple(_with_floats(x, values)))
        elif isinstance(x, np.ndarray) and x.dtype.kind in "fc":
            made.append(values.pop(0))
        else:
            made.append(x)
    return made


def direction_of(x: Any) -> Any:
    return (
        (np.sin(1.0 + np.arange(x.size)) * (1 + 0.3j if np.iscomplexobj(x) else 1))
        .astype(x.dtype)
        .reshape(x.shape)
    )


def weighted(parts: list[Any]) -> Any:
    """Sum the parts with weights, so that no element is like another."""
    total = 0.0
    for part in parts:
        weights = np.cos(1.0 + np.arange(np.size(part))).reshape(np.shape(part))
        total = total + np.sum(np.real(part) * weights) + 0.7 * np.sum(np.imag(part) * weights)
    return total


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate:RuntimeWarning")
@of_each_row
def test_derivatives_of_a_stack_are_those_of_a_loop(row: Row) -> None:
    for _, sample in stacked_samples(row):
        check_first(row, sample)


def check_first(row: Row, sample: Sample) -> None:
    whole, loop, leaves = both(row, sample)
    places = tuple(range(len(leaves)))
    directions = [direction_of(x) for x in leaves]

    found = gw.grad(lambda *v: weighted(whole(*v)), places)(*leaves)
    wanted = gw.grad(lambda *v: weighted(loop(*v)), places)(*leaves)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)

    pushed = gw.jvp(lambda *v: weighted(whole(*v)), leaves, directions)[1]
    inner = sum(np.sum(np.real(np.conj(g) * t)) for g, t in zip(found, directions, strict=True))
    np.testing.assert_allclose(pushed, inner, rtol=1e-8, atol=1e-9)


@of_each_row
def test_second_derivatives_of_a_stack_are_those_of_a_loop(row: Row) -> None:
    for place, sample in stacked_samples(row):
        if place == 0 and sample.upto >= 2:
            check_second(row, sample)


def check_second(row: Row, sample: Sample) -> None:
    whole, loop, leaves = both(row, sample)
    direction = direction_of(leaves[0])

    def of_first(function: Any) -> Any:
        def total(x: Any) -> Any:
            return weighted([part**2 for part in function(x, *leaves[1:])])

        return gw.jvp(gw.grad(total), [leaves[0]], [direction])[1]

    np.testing.assert_allclose(of_first(whole), of_first(loop), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: LINALG.block_diag([[x[0], 2.0], [x[1], 1.0]], [[x[0], 3.0]], [x[1]], x[0]),
        lambda x: LINALG.solve_toeplitz([x[0], x[1]], [1.0, 2.0]),
        lambda x: LINALG.solve_toeplitz(([x[0], x[1]], [x[0], 0.3]), [1.0, 2.0]),
        lambda x: LINALG.cho_solve([[[x[0], 0.0], [x[1], 1.0]], True], [1.0, 2.0]),
        lambda x: LINALG.lu_solve(([[x[0], 0.2], [x[1], 1.0]], [1, 1]), [1.0, 2.0]),
        lambda x: LINALG.inv([[x[0], 2.0], [x[1], 1.0]]),
    ],
)
def test_lists_of_tracked_values_are_matrices(function: Any) -> None:
    gw.testing.check_grads(function, (np.array([2.0, 0.5]),), order=1)


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_real_and_complex_results_in_one_batch(name: str) -> None:
    function = getattr(LINALG, name)
    matrix = np.array([[2.0, 0.3], [0.1, 1.5]])
    stack = np.stack([matrix, -matrix, 2 * matrix])  # the roots of the second are complex

    def gradient(a: Any) -> Any:
        return gw.grad(lambda a: np.sum(np.real(function(a) * np.array([[1, 2j], [3, 4]]))))(a)

    found = gw.vmap(gradient, fallback="loop")(stack)

    np.testing.assert_allclose(found, [gradient(one) for one in stack], rtol=1e-10, atol=1e-12)
