"""The rows of NumPy's arrays do what the rows of all arrays do, and allocate less for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from counting import allocated

ANY: Any = np  # for calls that NumPy's own types are too narrow for
RNG = np.random.default_rng(0)
NAN = np.nan


def shares(x: Any, out: Any) -> Any:
    """The gradient of the sum of the extrema `out`, which keep their axes, by its definition."""
    chosen = (x == out) | np.isnan(x)
    along = [axis for axis in range(x.ndim) if out.shape[axis] != x.shape[axis]]
    return chosen / np.sum(chosen, axis=tuple(along), keepdims=True)


EXTREMA: dict[str, Any] = {
    "one": RNG.permutation(24).reshape(2, 3, 4) * 1.0,
    "ties": RNG.integers(0, 3, (2, 3, 4)).astype(float),
    "NaN": np.where(RNG.random((2, 3, 4)) < 0.2, NAN, RNG.permutation(24).reshape(2, 3, 4) * 1.0),
    "NaN in place of a tie": np.array([[[NAN, 1.0], [2.0, 2.0]]]),
    "single precision": RNG.permutation(24).reshape(2, 3, 4).astype(np.float32),
    "columns": np.asfortranarray(RNG.permutation(24).reshape(2, 3, 4) * 1.0),
}


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 2, (0, 1), (0, 1, 2)])
@pytest.mark.parametrize("extremum", [ANY.max, ANY.min])
@pytest.mark.parametrize("name", EXTREMA)
def test_an_extremum_shares_its_cotangent_evenly(
    name: str, extremum: Any, axis: Any, keepdims: bool
) -> None:
    x = EXTREMA[name]
    found = gw.grad(lambda x: np.sum(extremum(x, axis=axis, keepdims=keepdims)))(x)
    np.testing.assert_array_equal(found, shares(x, extremum(x, axis=axis, keepdims=True)))
    assert (found.dtype, found.strides) == (x.dtype, x.strides)


def test_a_stabilised_sum_of_exponentials_allocates_six_arrays() -> None:
    """The difference, its exponentials, the cotangents of both uses of x, their sum, a mask."""
    x = RNG.normal(size=(200, 300))

    def fun(x: Any) -> Any:
        top = np.max(x, axis=1, keepdims=True)
        return np.sum(np.log(np.sum(np.exp(x - top), axis=1, keepdims=True)) + top)

    gradient = gw.grad(fun)
    gradient(x)
    assert allocated(lambda: gradient(x)) < 6 * x.nbytes


def test_of_one_extremum_the_cotangent_is_one_number() -> None:
    """The difference, its exponentials, a mask, and the cotangent that the number is added to."""
    x = RNG.normal(size=60_000)

    def fun(x: Any) -> Any:
        top = np.max(x)
        return np.log(np.sum(np.exp(x - top))) + top

    gradient = gw.grad(fun)
    np.testing.assert_allclose(gradient(x), np.exp(x) / np.sum(np.exp(x)), rtol=1e-12)
    assert allocated(lambda: gradient(x)) < 3.4 * x.nbytes


def test_the_cotangent_of_an_extremum_changes_nothing_of_the_users() -> None:
    """What arrives at x first is the user's cotangent itself, or an array that a formula saved."""
    x, factor = RNG.normal(size=(2, 9))
    g = np.ones(9)
    _, pull = gw.vjp(lambda x: (x + 1.0, np.max(x)), x)
    (found,) = pull((g, np.float64(3.0)))
    np.testing.assert_array_equal(found, 1.0 + 3.0 * (x == np.max(x)))
    np.testing.assert_array_equal(g, np.ones(9))

    @gw.primitive
    def scaled_sum(x: Any) -> Any:
        return np.sum(x * factor)

    gw.defvjp(scaled_sum, lambda xp, g, x: factor)

    def loss(x: Any) -> Any:
        return scaled_sum(x) + 2.0 * np.min(x)

    before = factor.copy()
    for _ in range(2):
        found = gw.grad(loss)(x)
        np.testing.assert_array_equal(found, factor + 2.0 * (x == np.min(x)))
    np.testing.assert_array_equal(factor, before)


SUBSCRIPTS: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = [
    ("ij,jk->ik", (40, 50), (50, 60)),
    ("ij,jk->ki", (40, 50), (50, 60)),
    ("ij,kj", (40, 50), (60, 50)),
    ("ijk,ljk->li", (12, 30, 20), (13, 30, 20)),
    ("bij,bjk->kbi", (5, 30, 20), (5, 20, 31)),
    ("...ij,jk->...ik", (5, 30, 20), (20, 31)),
    ("ij,...jk->k...i", (30, 20), (4, 20, 31)),
    ("ij,j->i", (300, 400), (400,)),
    ("i,ij->j", (300,), (300, 400)),
    ("ij,ji->", (200, 300), (300, 200)),
    ("ij,j->ij", (200, 300), (300,)),
]


@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
@pytest.mark.parametrize(("subscripts", "first", "second"), SUBSCRIPTS)
def test_a_large_einsum_is_that_of_numpy_in_its_memory_order(
    subscripts: str, first: tuple[int, ...], second: tuple[int, ...], orders: Any
) -> None:
    a = ANY.asarray(RNG.normal(size=first), order=orders[0])
    b = ANY.asarray(RNG.normal(size=second), order=orders[1])
    expected = ANY.einsum(subscripts, a, b)
    found: Any
    found, pull = gw.vjp(lambda a, b: ANY.einsum(subscripts, a, b), a, b)
    assert (type(found), found.shape) == (type(expected), expected.shape)
    assert found.strides == expected.strides
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    g: Any = ANY.multiply(1.5, RNG.normal(size=expected.shape))
    of_a, of_b = pull(g)
    direction = RNG.normal(size=second)
    along: Any = ANY.sum(g * ANY.einsum(subscripts, a, direction))
    np.testing.assert_allclose(np.sum(of_b * direction), along, rtol=1e-9)
    np.testing.assert_allclose(np.sum(of_a * a), np.sum(g * expected), rtol=1e-9)
