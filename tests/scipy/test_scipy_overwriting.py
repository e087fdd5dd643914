"""Options that permit SciPy to overwrite an argument: no gradient and no array is changed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.linalg
from sklearn.utils.arrayfuncs import cholesky_delete

import gradwrap as gw
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Derived
from gradwrap.scipy.results import float_parts
from gradwrap.scipy.table import all_rows
from samples import SAMPLES
from scipy_samples import Random

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.scipy.table import Row
    from scipy_samples import Sample

linalg: Any = scipy.linalg
ROWS = [
    row
    for row in sorted(all_rows(), key=lambda row: row.path)
    if isinstance(row.kind, Derived) and row.path in SAMPLES and row.permissions
]
ALL = {row.path: row for row in all_rows()}


def _signature(row: Row) -> Any:
    try:
        return row.signature
    except (TypeError, ValueError):
        return ""


CASES = [
    pytest.param(row, sample, words, order, id=f"{row.path}-{index}-{'+'.join(words)}-{order}")
    for row in ROWS
    for index, sample in enumerate(SAMPLES[row.path](Random())[:2])
    for every in [list(row.permissions)]
    for words in [[word] for word in every] + ([every] if len(every) > 1 else [])
    for order in "CF"
]


def test_functions_are_found() -> None:
    named = [row.path for row in all_rows() if "overwrite_" in str(_signature(row))]

    assert len(named) >= 60
    assert {row.path for row in ROWS} >= {
        path for path in named if path in SAMPLES and isinstance(ALL[path].kind, Derived)
    }


def is_float(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def laid_out(args: Any, order: Any) -> Any:
    """Return copies of the arrays in arguments, in an order of memory."""
    if isinstance(args, tuple):
        return tuple(laid_out(x, order) for x in args)
    return np.array(args, order=order) if isinstance(args, np.ndarray) else args


def total(row: Row, sample: Sample, words: list[str]) -> Callable[..., Any]:
    """A function that makes the arrays of temporaries, and uses them again after the call."""
    options = sample.kwargs | dict.fromkeys(words, True)

    def function(scale: Any, *args: Any) -> Any:
        given = [_scaled(x, scale) for x in args]
        result = dispatcher(row.path)(*given, **options)
        again = sum(np.sum(np.real(x) ** 2) for x in _arrays(given))
        parts = [part for path, part in float_parts(result) if not row.is_byproduct(path)]
        return again + sum(
            np.sum(np.real(part) * np.cos(np.arange(np.size(part))).reshape(np.shape(part)))
            for part in parts
        )

    return function


def _scaled(x: Any, scale: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(_scaled(part, scale) for part in x)
    return x * scale if hasattr(x, "dtype") and np.ndim(x) and x.dtype.kind in "fc" else x


def _arrays(args: Any) -> list[Any]:
    found: list[Any] = []
    for x in args:
        if isinstance(x, tuple):
            found += _arrays(x)
        elif hasattr(x, "dtype") and x.dtype.kind in "fc":
            found.append(x)
    return found


@pytest.mark.parametrize(("row", "sample", "words", "order"), CASES)
def test_gradient_is_that_without_the_permission(
    row: Row, sample: Sample, words: list[str], order: str
) -> None:
    args = laid_out(sample.args, order)
    places = tuple(1 + i for i, x in enumerate(args) if is_float(x))
    scale = np.float64(1.1)
    for tracked in {(0,), places, (0, *places[:1])} - {()}:
        wanted = gw.grad(total(row, sample, []), tracked)(scale, *laid_out(sample.args, order))

        found = gw.grad(total(row, sample, words), tracked)(scale, *args)

        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    for one, other in zip(_arrays(args), _arrays(sample.args), strict=True):
        np.testing.assert_array_equal(one, other)

    pushed = [
        gw.jvp(lambda s, words=words: total(row, sample, words)(s, *args), [scale], [scale])
        for words in (words, [])
    ]
    np.testing.assert_array_equal(pushed[0], pushed[1])


@pytest.mark.parametrize(("row", "sample", "words", "order"), CASES)
def test_value_is_that_of_scipy_with_the_permission(
    row: Row, sample: Sample, words: list[str], order: str
) -> None:
    options = sample.kwargs | dict.fromkeys(words, True)
    native = row.original(*laid_out(sample.args, order), **options)
    wanted = [np.asarray(part) for _, part in float_parts(native)]
    args = laid_out(sample.args, order)

    def value(*tracked: Any) -> list[Any]:
        return [part for _, part in float_parts(dispatcher(row.path)(*tracked, **options))]

    places = [i for i, x in enumerate(args) if is_float(x)]

    def of_some(*tracked: Any) -> list[Any]:
        given = list(args)
        for i, x in zip(places, tracked, strict=True):
            given[i] = x
        return value(*given)

    found = gw.vjp(of_some, *(args[i] for i in places))[0] if places else value(*args)
    plain = value(*laid_out(sample.args, order))

    for one, two, other in itertools.zip_longest(found, plain, wanted):
        assert np.asarray(one).tobytes() == other.tobytes()
        assert np.asarray(two).tobytes() == other.tobytes()


def test_plain_array_that_a_gradient_needs_is_not_overwritten() -> None:
    matrix = np.asfortranarray(np.array([[2.0, 0.3], [0.1, 1.5]]))

    def function(p: Any) -> Any:
        held = matrix.copy(order="F")
        y = p * held  # whose derivative needs `held`
        dispatcher("linalg.inv")(held, overwrite_a=True)
        return np.sum(y * np.array([[1.0, 2.0], [3.0, 4.0]]))

    assert gw.grad(function)(0.5) == pytest.approx(2.0 + 0.6 + 0.3 + 6.0)


def test_option_that_is_more_than_a_permission_is_refused() -> None:
    c = np.ones((4, 3))

    with pytest.raises(gw.errors.NoRuleError, match=r"overwrite_c=\. Fix: leave it out"):
        gw.grad(
            lambda a: np.sum(dispatcher("linalg.qr_multiply")(a, c, "left", overwrite_c=True)[0])
        )(np.ones((4, 2)))


# Adapted code, which may rely on what SciPy leaves in its arguments -------------------------------

POINT = np.array([0.5, 1.5, 0.7])
MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 4.0]])
WEIGHTS = np.array([1.0, 2.0, 3.0])
MAKERS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda _: np.random.default_rng(0).uniform(size=3),
    "constant": lambda _: np.linspace(1.0, 2.0, 3),
    "tracked": lambda x: x * 2.0,
    "row": lambda x: np.stack([x, x * x])[1],
    "column": lambda x: np.stack([x, x * x], axis=1)[:, 1],
}
LEAVING: dict[str, Callable[[Any], Any]] = {
    "solve": lambda b: linalg.solve(MATRIX, b, overwrite_b=True),
    "solve_triangular": lambda b: linalg.solve_triangular(MATRIX, b, overwrite_b=True),
    "cho_solve": lambda b: linalg.cho_solve(linalg.cho_factor(MATRIX), b, overwrite_b=True),
    "dtrtrs": lambda b: linalg.lapack.dtrtrs(MATRIX, b, overwrite_b=1),
    "dpotrs": lambda b: linalg.lapack.dpotrs(MATRIX, b, overwrite_b=1),
    "daxpy": lambda b: linalg.blas.daxpy(WEIGHTS, b, a=2.0),
    "dscal": lambda b: linalg.blas.dscal(3.0, b),
}


@pytest.mark.parametrize("name", LEAVING)
@pytest.mark.parametrize("made", MAKERS)
def test_adapted_code_reads_what_scipy_leaves(name: str, made: str) -> None:
    """An operation has saved the array before; its derivative is that of the old values."""

    def f(x: Any) -> Any:
        b = MAKERS[made](x)
        before = np.sum(x * b * WEIGHTS)
        LEAVING[name](b)
        return before + np.sum(b * WEIGHTS) * x[1]

    value, slope = gw.value_and_grad(gw.adapting(f))(POINT)
    assert np.allclose(value, f(POINT), rtol=1e-12)
    steps = 1e-6 * np.eye(3)
    wanted = [(f(POINT + step) - f(POINT - step)) / 2e-6 for step in steps]
    assert np.allclose(slope, wanted, rtol=1e-6, atol=1e-8)
    forward = [gw.jvp(gw.adapting(f), (POINT,), (step,))[1] for step in np.eye(3)]
    assert np.allclose(forward, slope, rtol=1e-10)


def factor(x: Any) -> Any:
    a = np.asfortranarray(MATRIX * x[0])
    linalg.lu_factor(a, overwrite_a=True)
    return np.sum(a * np.cos(np.arange(9.0)).reshape(3, 3))


def test_a_factor_that_is_left_in_the_matrix() -> None:
    wanted = (factor(POINT * (1.0 + 1e-6)) - factor(POINT * (1.0 - 1e-6))) / 1e-6
    assert np.allclose(gw.grad(gw.adapting(factor))(POINT), [wanted, 0.0, 0.0], rtol=1e-6)


def test_compiled_code_writes_to_an_array_that_an_operation_has_saved() -> None:
    """The array is made in adapted code, and holds nothing tracked."""

    def f(x: Any) -> Any:
        whole = np.array(MATRIX)
        before = np.sum(whole * x[0])
        cholesky_delete(whole[:3, :3], 0)
        return before + np.sum(whole) * x[1]

    after = np.array(MATRIX)
    cholesky_delete(after[:3, :3], 0)
    wanted = [np.sum(MATRIX), np.sum(after), 0.0]
    assert np.allclose(gw.grad(gw.adapting(f))(POINT), wanted, rtol=1e-12)
