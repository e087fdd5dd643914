"""Arrays without axes, which NumPy takes for arrays of one element where an axis is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

NP: Any = np
ALONG: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda y, axis: np.sum(y, axis=axis),
    "prod": lambda y, axis: NP.prod(y, axis=axis),
    "nanprod": lambda y, axis: NP.nanprod(y, axis=axis),
    "max": lambda y, axis: np.max(y, axis=axis),
    "cumsum": lambda y, axis: np.cumsum(y, axis=axis),
    "cumprod": lambda y, axis: NP.cumprod(y, axis=axis),
    "nancumprod": lambda y, axis: NP.nancumprod(y, axis=axis),
    "cumulative_sum": lambda y, axis: np.cumulative_sum(y, axis=axis),
    "cumulative_prod": lambda y, axis: NP.cumulative_prod(y, axis=axis),
    "take": lambda y, axis: np.take(y, [0, 0], axis=axis),
    "repeat": lambda y, axis: np.repeat(y, 3, axis=axis),
    "repeat by counts": lambda y, axis: np.repeat(y, [3], axis=axis),
    "compress": lambda y, axis: np.compress([True], y, axis=axis),
    "squeeze": lambda y, axis: np.squeeze(y, axis=axis),
    "median": lambda y, axis: np.median(y, axis=axis),
    "percentile": lambda y, axis: np.percentile(y, 30.0, axis=axis),
}


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("axis", [0, -1, 1])
def test_a_number_along_an_axis_is_as_in_numpy(name: str, axis: int) -> None:
    number, numbers = np.array(2.0), np.array([2.0, 3.0])

    def along(y: Any) -> Any:
        return ALONG[name](y, axis)

    def cubes(y: Any) -> Any:
        return np.sum(along(y * y) * y)

    try:
        wanted = along(number)
    except ValueError as error:  # an AxisError
        for call in (gw.grad(cubes), gw.hessian(cubes)):
            with pytest.raises(type(error)):
                call(number)
        with pytest.raises(type(error)):
            gw.vmap(along)(numbers)
        return
    wanted_slope = (cubes(number + 1e-4) - cubes(number - 1e-4)) / 2e-4
    assert np.shape(gw.vjp(along, number)[0]) == wanted.shape
    np.testing.assert_allclose(gw.grad(cubes)(number), wanted_slope, rtol=1e-7)
    np.testing.assert_allclose(gw.jvp(cubes, (number,), (1.0,))[1], wanted_slope, rtol=1e-7)
    np.testing.assert_allclose(gw.hessian(cubes)(number), wanted_slope, rtol=1e-7)  # 6 y = 3 y**2
    mapped = gw.vmap(along)(numbers)
    np.testing.assert_array_equal(mapped, np.stack([along(n) for n in numbers]))
    slopes = gw.vmap(gw.grad(cubes))(numbers)
    np.testing.assert_allclose(slopes, wanted_slope / 4 * numbers**2, rtol=1e-7)


def test_resize_of_nothing_makes_zeros() -> None:
    f: Callable[[Any], Any] = lambda x: np.resize(x, (2, 2)) + np.sum(x)
    value, pull = gw.vjp(f, np.zeros(0))
    np.testing.assert_array_equal(value, np.zeros((2, 2)))
    assert pull(np.ones((2, 2)))[0].shape == (0,)


def test_a_bool_is_added_to_a_part() -> None:
    def f(x: Any) -> Any:
        y = x * x
        y[:] += True
        y[0] *= np.True_
        y[1:] -= False
        return np.sum(y)

    value, slope = gw.value_and_grad(f)(np.arange(3.0))
    assert value == 8.0
    np.testing.assert_array_equal(slope, [0.0, 2.0, 4.0])


@pytest.mark.parametrize(
    "function", [np.interp, fn(lambda p, k, y: np.clip(p, k[0], k[-1]) * y[0])]
)
def test_guarded_buffers_of_operations_on_constants(function: Any) -> None:
    def f(y: Any) -> Any:
        return np.sum(function(np.array([0.5]), np.arange(3.0), y))

    with gw.guard_buffers():
        guarded = gw.grad(f)(np.arange(3.0))
    np.testing.assert_array_equal(guarded, gw.grad(f)(np.arange(3.0)))


# vmap with fallback="loop" ------------------------------------------------------------------------


def branches(v: Any) -> Any:
    return v * v if v > 1 else -v


def test_a_branch_on_a_mapped_value_is_looped_on_demand() -> None:
    x = np.array([0.5, 2.0, 3.0])
    with pytest.raises(gw.errors.BatchedValueError, match='fallback="loop"'):
        gw.vmap(branches)(x)
    with pytest.raises(gw.errors.BatchedValueError):
        gw.vmap(branches, fallback="error")(x)
    looped = gw.vmap(branches, fallback="loop")
    np.testing.assert_array_equal(looped(x), [-0.5, 4.0, 9.0])
    np.testing.assert_array_equal(gw.vmap(gw.grad(branches), fallback="loop")(x), [-1.0, 4.0, 6.0])
    np.testing.assert_array_equal(gw.grad(lambda x: np.sum(looped(x)))(x), [-1.0, 4.0, 6.0])
    np.testing.assert_array_equal(gw.jvp(looped, (x,), (x,))[1], [-0.5, 8.0, 18.0])


def test_a_loop_begins_again_with_the_arguments_as_they_were() -> None:
    def f(v: Any, w: Any) -> Any:
        v[0] += 1.0
        w["a"][0] *= 2.0
        return v * 2 + w["a"] if v[0] > 1.2 else v + w["a"]

    x, w = np.array([[0.5], [0.1]]), {"a": np.array([1.0])}
    found = gw.vmap(f, in_axes=(0, None), fallback="loop")(x, w)
    np.testing.assert_array_equal(found, [[5.0], [3.1]])
    np.testing.assert_array_equal(x, [[0.5], [0.1]])


def test_a_loop_may_return_numbers() -> None:
    count = gw.vmap(fn(lambda v: sum(range(int(v)))), fallback="loop")
    np.testing.assert_array_equal(count(np.array([1.0, 3.0, 4.0])), [0, 3, 6])
    nested = gw.vmap(gw.vmap(branches, fallback="loop"), fallback="loop")
    np.testing.assert_array_equal(nested(np.array([[0.5, 2.0]])), [[-0.5, 4.0]])
