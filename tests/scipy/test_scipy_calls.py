"""What one call of a function of SciPy's costs, in Python frames of gradwrap."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.counting import called_code

import gradwrap as gw
import gradwrap.scipy.linalg as sl
import gradwrap.scipy.ndimage as ours_of_images
import gradwrap.scipy.signal as ours
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import ArrayApi, Formula
from gradwrap.scipy.results import float_parts
from gradwrap.scipy.table import all_rows, row_of
from lambdas import fn, is_a
from samples import SAMPLES
from scipy_options import Case, is_float, places_of, total_of
from scipy_samples import Random

untyped: Any = gw  # called with what no type allows
untyped_sl: Any = sl
signal: Any = ours  # SciPy's types know no text as a mode
HERE = str(Path(gw.__file__).parent)
A = np.array([[2.0, 0.0], [0.3, 1.5]])
B = np.array([0.7, -0.4])


def frames(function: Any, *args: Any) -> int:
    for _ in range(3):
        function(*args)
    names = [code.co_filename for code in called_code(lambda: function(*args))]
    return sum(name.startswith((HERE, "<")) and "importlib" not in name for name in names)


def test_frames_of_a_gradient_of_one_argument() -> None:
    assert frames(gw.grad(fn(lambda b: np.sum(sl.cho_solve((A, True), b)))), B) <= 220


def test_frames_of_a_gradient_of_both_arguments() -> None:
    def total(c: Any, b: Any) -> Any:
        return np.sum(sl.cho_solve((c, True), b))

    assert frames(gw.grad(total, (0, 1)), A, B) <= 300


def test_frames_of_a_plain_call() -> None:
    assert frames(sl.cho_solve, (A, True), B) <= 5


def counted(monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> list[str]:
    """Note each call of a function that is kept under a name."""
    function, calls = getattr(where, name), []

    @functools.wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return function(*args, **kwargs)

    monkeypatch.setitem(vars(where), name, noted)
    return calls


FORMULAS: Any = [row for row in all_rows() if is_a(row.kind, Formula) and row.path in SAMPLES]


@pytest.mark.slow
def test_no_formula_and_no_array_api_path_runs_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in FORMULAS:
        kind: Any = row.kind
        case = Case(row, SAMPLES[row.path](Random())[0], {})
        values = [case.sample.args[place] for place in places_of(case.sample)]
        if not values:
            continue
        of_scipy = counted(monkeypatch, row, "original")
        of_formula = [] if is_a(kind, ArrayApi) else counted(monkeypatch, kind, "function")
        gw.grad(total_of(case, dispatcher(row.path)), range(len(values)))(*values)

        limits = (1, 0) if kind.gives_value else (2, 0) if is_a(kind, ArrayApi) else (1, 1)
        assert (len(of_scipy), len(of_formula)) <= limits, row.path
        monkeypatch.undo()


def test_array_api_path_that_gives_the_value_keeps_the_dtype() -> None:
    for row in FORMULAS:
        if not is_a(row.kind, ArrayApi) or not row.kind.gives_value:
            continue
        sample = SAMPLES[row.path](Random())[0]
        args = [x.astype("float32") if is_float(x) and np.ndim(x) else x for x in sample.args]

        def parts(*values: Any, args: Any = args, row: Any = row, sample: Any = sample) -> Any:
            rest = iter(values)
            given = [next(rest) if is_float(x) else x for x in args]
            return dict(float_parts(dispatcher(row.path)(*given, **sample.kwargs)))

        values = [x for x in args if is_float(x)]
        found, wanted = gw.vjp(parts, *values)[0], parts(*values)
        assert found.keys() == wanted.keys(), row.path
        for path, part in wanted.items():
            assert found[path].dtype == np.asarray(part).dtype, row.path
            np.testing.assert_allclose(found[path], part, rtol=1e-5, atol=1e-5)


def test_each_matrix_of_a_stack_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    row: Any = row_of("linalg.polar")
    calls = counted(monkeypatch, row, "original")
    a = np.stack([A, A.T, A @ A])

    u, p = gw.vjp(untyped_sl.polar, a)[0]

    assert len(calls) == 3
    np.testing.assert_allclose(u @ p, a, atol=1e-13)
    with pytest.raises(ValueError, match="zero-size"):
        gw.vjp(untyped_sl.polar, a[:0])


def test_arguments_reach_scipy_however_they_are_given() -> None:
    wanted = sl.cho_solve((A, True), B)

    def calls(b: Any) -> list[Any]:
        return [
            sl.cho_solve((A, True), b),
            sl.cho_solve((A, True), b=b),
            sl.cho_solve(b=b, c_and_lower=(A, True)),
            sl.cho_solve((A, True), b, False, False),
        ]

    for found in gw.vjp(calls, B)[0]:
        assert found.tobytes() == wanted.tobytes()


def test_arguments_of_any_number_reach_scipy() -> None:
    found: Any = untyped.jacobian(lambda a: sl.block_diag(a, B, 3 * a))(B)

    np.testing.assert_array_equal(found.sum((0, 1)), [4.0, 4.0])


def test_wrong_call_is_refused_as_scipy_refuses_it() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'b'"):
        gw.grad(lambda c: np.sum(untyped_sl.cho_solve((c, True))))(A)


@pytest.mark.filterwarnings("ignore:Diagonal number 3 is exactly zero")
def test_decomposition_of_a_singular_matrix_divides_by_no_last_pivot() -> None:
    singular = np.array([[4.0, 1.0, 2.0], [8.0, 3.0, 5.0], [2.0, 1.0, 1.5]])

    gw.testing.check_rule(lambda a: sl.lu_factor(a)[0], singular)
    gw.testing.check_rule(lambda a: list(sl.lu(a)[1:]), singular)


@pytest.mark.filterwarnings("ignore:Diagonal number 2 is exactly zero")
def test_decomposition_that_divides_by_a_pivot_of_zero_is_refused() -> None:
    singular = np.array([[2.0, 1.0, 3.0], [0.0, 0.0, 1.0], [0.0, 0.0, 4.0]])

    with pytest.raises(gw.errors.NoRuleError, match="divides by a pivot that is zero"):
        gw.grad(lambda a: np.sum(untyped_sl.lu_factor(a)[0]))(singular)


@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "convolve2d"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_of_a_batch_are_those_of_each_example(name: str, mode: str) -> None:
    function: Any = getattr(signal, name)
    rng = np.random.default_rng(2)
    shape = (5, 6) if name == "convolve2d" else (17,)
    x, y = rng.normal(size=(3, *shape)), rng.normal(size=tuple(n // 2 for n in shape))

    def total(x: Any, y: Any) -> Any:
        return np.sum(np.sin(function(x, y, mode)))

    gradient = gw.grad(total, (0, 1))
    found = gw.vmap(gradient, (0, None), fallback="loop")(x, y)
    for k, one in enumerate(x):
        for part, wanted in zip(found, gradient(one, y), strict=True):
            np.testing.assert_allclose(part[k], wanted, rtol=1e-12, atol=1e-13)


def test_a_short_kernel_costs_no_transform_of_a_long_signal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, y = np.sin(np.arange(4001.0)), np.array([0.5, 1.0, -0.25])
    for transform in (
        "scipy.signal._signaltools._freq_domain_conv",
        "numpy.fft._pocketfft._raw_fft",
    ):
        monkeypatch.setattr(transform, None)
    slope = gw.grad(lambda x: np.sum(signal.convolve(x, y, "same") ** 2))(x)
    wanted = 2 * np.convolve(np.convolve(x, y, "same"), y[::-1], "same")
    np.testing.assert_allclose(slope[2:-2], wanted[2:-2], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("mode", ["reflect", "constant", "wrap"])
def test_filters_of_large_images_are_those_of_small_ones(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small ones gather the neighbourhoods, large ones are convolutions."""
    rng = np.random.default_rng(4)
    image, weights = rng.normal(size=(9, 8)), rng.normal(size=(3, 4))

    def total(image: Any, weights: Any) -> Any:
        smooth = ours_of_images.gaussian_filter(image, 0.8, mode=mode)
        return np.sum(np.sin(smooth) * ours_of_images.convolve(image, weights, mode=mode))

    gradient = gw.grad(total, (0, 1))
    hessian = gw.hessian(lambda weights: total(image, weights) ** 2)
    wanted = [*gradient(image, weights), hessian(weights)]
    monkeypatch.setattr("gradwrap.scipy.rules.ndimage.FEW", 0)
    found = [*gradient(image, weights), hessian(weights)]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_products_with_large_toeplitz_matrices_are_those_with_small_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    c, r, x = rng.normal(size=6), rng.normal(size=4), rng.normal(size=(4, 3))

    def total(c: Any, r: Any, x: Any) -> Any:
        return np.sum(np.cos(untyped_sl.matmul_toeplitz((c, r), x)))

    gradient = gw.grad(total, (0, 1, 2))
    wanted = gradient(c, r, x)
    monkeypatch.setattr("gradwrap.scipy.rules.linear_systems.FEW", 0)
    for one, other in zip(gradient(c, r, x), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_plain_tuples_of_numbers_stand_for_arrays() -> None:
    simpson = dispatcher("integrate.simpson")
    found = gw.grad(lambda y: simpson((y[0], y[1], 3.0), x=(0.0, 1.0, 2.0)))(np.ones(2))
    np.testing.assert_allclose(found, [1 / 3, 4 / 3], rtol=1e-15)
