"""Properties for any shape, axis, key and dtype, found by hypothesis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwrap as gw
from lambdas import fn

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = settings(max_examples=60, deadline=None, derandomize=True)
DTYPES = st.sampled_from([np.float32, np.float64])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
BINARY = st.sampled_from([np.add, np.subtract, np.multiply, np.divide, np.maximum, np.hypot])
REDUCTION = st.sampled_from([np.sum, np.mean, np.max, np.prod, np.var])


def values(shape: tuple[int, ...], dtype: Any, seed: int) -> NDArray[Any]:
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape).astype(dtype)


def one_by_one(f: Any, x: Any, cotangent: Any, step: float) -> Any:
    """The gradient of <cotangent, f(x)> by central differences, an element at a time."""
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[place] += step
        below[place] -= step
        gradient[place] = np.sum((f(above) - f(below)) * cotangent) / (2 * step)
    return gradient


@FEW
@given(
    function=BINARY,
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3),
    dtypes=st.tuples(DTYPES, DTYPES),
)
def test_binary_function_sums_to_each_arguments_shape_and_keeps_its_dtype(
    function: Any, shapes: Any, dtypes: tuple[Any, Any]
) -> None:
    first, second = shapes.input_shapes
    a, b = values(first, dtypes[0], 0), values(second, dtypes[1], 1)

    out, pull = gw.vjp(function, a, b)
    gradients: Any = pull(np.ones_like(out))
    of_a, of_b = gradients

    assert (of_a.shape, of_a.dtype) == (a.shape, a.dtype)
    assert (of_b.shape, of_b.dtype) == (b.shape, b.dtype)
    assert np.shape(out) == shapes.result_shape
    wide_a, wide_b = np.broadcast_arrays(a.astype(np.float64), b.astype(np.float64))
    slope = (function(wide_a + 1e-6, wide_b) - function(wide_a - 1e-6, wide_b)) / 2e-6
    np.testing.assert_allclose(of_a, summed_to(a.shape, slope), rtol=2e-4, atol=2e-4)


def summed_to(shape: tuple[int, ...], wide: Any) -> Any:
    """Sum each element's values over the places that it was repeated to."""
    places = np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), wide.shape)
    total = np.zeros(shape)
    np.add.at(total.reshape(-1), places.reshape(-1), wide.reshape(-1))
    return total


@FEW
@given(function=REDUCTION, data=st.data(), dtype=DTYPES)
def test_reduction_over_any_axes(function: Any, data: st.DataObject, dtype: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3))
    axis = data.draw(st.none() | hnp.valid_tuple_axes(len(shape), min_size=1))
    keepdims = data.draw(st.booleans())
    x = values(shape, dtype, 2)

    def f(a: Any) -> Any:
        return function(a, axis=axis, keepdims=keepdims)

    out, pull = gw.vjp(f, x)
    cotangent = values(np.shape(out), dtype, 3)

    (gradient,) = pull(np.asarray(cotangent))

    assert (gradient.shape, gradient.dtype) == (x.shape, x.dtype)
    np.testing.assert_array_equal(out, f(x))
    if dtype is np.float64:
        np.testing.assert_allclose(
            gradient, one_by_one(f, x, cotangent, 1e-6), rtol=1e-5, atol=1e-6
        )


KEYS = st.deferred(lambda: hnp.basic_indices((3, 4, 2), allow_newaxis=True))


@FEW
@given(
    key=KEYS
    | hnp.integer_array_indices((3, 4, 2), result_shape=hnp.array_shapes(max_dims=2, max_side=4))
    | hnp.arrays(np.bool_, (3, 4, 2))
    | hnp.arrays(np.bool_, (3,))
    | st.tuples(st.integers(0, 2), hnp.arrays(np.intp, (3,), elements=st.integers(0, 3)))
    | st.tuples(st.slices(3), hnp.arrays(np.intp, (2,), elements=st.integers(-4, 3)), st.just(1))
)
def test_reading_and_writing_at_any_key(key: Any) -> None:
    """Reading: gradients count how often each element is read. Writing: they go to the last."""
    x = values((3, 4, 2), np.float64, 4)
    places = np.arange(x.size).reshape(x.shape)
    picked = np.asarray(places[key])
    weights = values(picked.shape, np.float64, 5)

    read = gw.grad(fn(lambda a: np.sum(a[key] * weights)))(x)

    np.testing.assert_allclose(
        read.reshape(-1),
        np.bincount(picked.reshape(-1), weights.reshape(-1), minlength=x.size),
        rtol=1e-12,
    )

    factor = values(x.shape, np.float64, 6)

    def write(a: Any, v: Any) -> Any:
        b = a * 1.0
        b[key] = v
        return np.sum(b * factor)

    of_x, of_v = gw.grad(write, (0, 1))(x, weights)

    last = np.full(x.shape, -1)
    last[key] = np.arange(weights.size).reshape(weights.shape)
    np.testing.assert_allclose(of_x, np.where(last == -1, factor, 0.0))
    wanted = np.zeros(weights.size)
    wanted[last[last >= 0]] = factor[last >= 0]
    np.testing.assert_allclose(of_v, wanted.reshape(weights.shape))


@FEW
@given(shape=SHAPES, dtype=DTYPES)
def test_elementwise_grad_has_shape_and_dtype_of_its_argument(
    shape: tuple[int, ...], dtype: Any
) -> None:
    x = values(shape, dtype, 7)

    slope = gw.elementwise_grad(np.sqrt)(x)

    assert (np.shape(slope), slope.dtype) == (x.shape, x.dtype)
    np.testing.assert_allclose(slope, 0.5 / np.sqrt(x), rtol=1e-6)
