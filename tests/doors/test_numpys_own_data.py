"""Calls that NumPy's own tests make: `numpys_calls.py` found that they failed, or were wrong."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn

ANY: Any = np  # for calls that NumPy's own types are too narrow for
special: Any = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("subscripts", ["iii->i", "iii", "iji,jj->j", "i...ii->...i"])
def test_einsum_with_an_axis_three_times(subscripts: str) -> None:
    x = np.arange(27.0).reshape(3, 3, 3)
    operands: tuple[Any, ...] = (x, np.arange(9.0).reshape(3, 3))[: subscripts.count(",") + 1]
    if "..." in subscripts:
        operands = (np.arange(81.0).reshape(3, 3, 3, 3),)

    def contracted(*given: Any) -> Any:
        return ANY.einsum(subscripts, *given)

    gw.testing.check_grads(contracted, operands)


@pytest.mark.parametrize("shape", [(2, 0), (0, 2), (0, 0), (3, 2, 0)])
@pytest.mark.parametrize("order", [1, np.inf])
def test_norms_of_empty_matrices(shape: tuple[int, ...], order: float) -> None:
    x = np.zeros(shape)
    value, pull = gw.vjp(fn(lambda x: ANY.linalg.matrix_norm(x, ord=order)), x)

    np.testing.assert_array_equal(value, ANY.linalg.matrix_norm(x, ord=order))
    assert pull(np.ones_like(value))[0].shape == shape


@pytest.mark.parametrize(
    ("breakpoints", "weights"),
    [
        ([-np.inf, 1.0], [0.0, 1.0]),
        ([0.0, np.inf], [1.0, 0.0]),
        ([np.inf, np.inf], [1.0, 0.0]),
        ([-np.inf, -np.inf], [0.0, 1.0]),
        ([-np.inf, 0.5], [0.0, 1.0]),
    ],
)
def test_interpolation_to_infinite_breakpoints(breakpoints: Any, weights: Any) -> None:
    values = np.array([3.0, 10.0])
    interpolated = fn(lambda fp: ANY.interp(0.5, breakpoints, fp))
    found, gradient = gw.value_and_grad(interpolated)(values)

    np.testing.assert_array_equal(found, ANY.interp(0.5, breakpoints, values))
    np.testing.assert_array_equal(gradient, weights)


def test_interpolation_between_infinite_breakpoints() -> None:
    both = [-np.inf, np.inf]
    value, _ = gw.vjp(fn(lambda fp: ANY.interp([0.5, 1.0], both, fp)), np.array([3.0, 10.0]))
    assert np.isnan(value).all()
    equal = np.array([3.0, 3.0])
    assert gw.value_and_grad(fn(lambda fp: ANY.interp(0.5, both, fp)))(equal)[0] == 3.0


def test_weights_of_an_average_are_floats() -> None:
    x = np.arange(6.0).reshape(2, 3)

    def weighted(x: Any) -> Any:
        return ANY.average(x, 0, returned=True, weights=[1, 2])[1] * x[0, 1]

    found: Any = gw.vjp(weighted, x)[0]
    np.testing.assert_array_equal(found, np.full(3, 3.0))
    total = ANY.average(gw.wrap(x), 0, returned=True, weights=[1, 2])[1]
    assert np.asarray(total).dtype == np.float64


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_modes_of_a_convolution_by_number(name: str, mode: int) -> None:
    x = np.array([0.3, 1.0, -2.0, 0.7])
    gw.testing.check_grads(fn(lambda x: getattr(ANY, name)(x, [1.0, 2.0], mode)), [x])


@pytest.mark.parametrize("name", ["i0", "j0", "gammaln", "expit", "erf"])
def test_gradients_of_special_functions_in_half_precision(name: str) -> None:
    x = np.array([0.5, 1.0], np.float16)
    value, pull = gw.vjp(getattr(special, name), x)
    (gradient,) = pull(np.ones_like(value))

    assert value.dtype == getattr(special, name)(x).dtype
    assert gradient.dtype == np.float16
    wanted = gw.grad(fn(lambda x: np.sum(getattr(special, name)(x))))(x.astype(float))
    np.testing.assert_allclose(gradient, wanted, rtol=2e-3)


def _spaced(stop: Any, axis: int, base: Any) -> Any:
    return ANY.logspace(1, stop, 4, base=base, axis=axis)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logarithms_to_several_bases(axis: int, dtype: Any) -> None:
    bases = np.array([2.0, 3.0], dtype)
    for stop in (2, np.array([2.0, 1.5], dtype)):
        spaced = partial(_spaced, stop, axis)
        value, _ = gw.vjp(spaced, bases)
        wanted = ANY.logspace(1, stop, 4, base=bases, axis=axis)
        np.testing.assert_allclose(value, wanted, rtol=1e-6)
        assert value.dtype == wanted.dtype
        (slopes,) = gw.vjp(spaced, bases)[1](np.ones_like(wanted))
        exponents = np.linspace(np.ones(2), stop * np.ones(2), 4)
        np.testing.assert_allclose(
            slopes, np.sum(exponents * bases ** (exponents - 1), axis=0), rtol=1e-5
        )
