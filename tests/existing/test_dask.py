"""Packages that compute with `dask.array` inside, in adapted code."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import BatchedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.peers
try:
    da: Any = importlib.import_module("dask.array")
    xr: Any = importlib.import_module("xarray")
    gda: Any = importlib.import_module("gradwrap.dask.array")
except ImportError:
    pytest.skip("Dask or xarray is not installed", allow_module_level=True)

X = np.array([0.3, 0.5, -0.2, 0.7])


def stacked(x: Any) -> Any:
    a = da.from_array(x, chunks=2)
    return da.stack([a, a**2]).sum(axis=0).mean().compute()


def by_blocks(x: Any) -> Any:
    return float(da.from_array(x, chunks=2).map_blocks(lambda block: block**2).sum())


def decomposed(x: Any) -> Any:
    a = da.concatenate([da.from_array(x), da.ones(3)])
    return da.linalg.svd(a.reshape(7, 1))[1].compute()[0]


def chunked(x: Any) -> Any:
    return xr.DataArray(x, dims="t").chunk({"t": 2}).mean("t").compute().values ** 2


def applied(x: Any) -> Any:
    data = xr.DataArray(x, dims="t").chunk(t=2)
    squares = xr.apply_ufunc(np.square, data, dask="parallelized", output_dtypes=[float])
    return squares.sum().values


CASES: dict[str, Callable[[Any], Any]] = {
    "from_array": lambda x: da.sum(da.sin(da.from_array(x, chunks=2)) * x[0]).compute(),
    "of a list": lambda x: da.asarray([x[0], x[1] ** 2]).sum().compute(),
    "an array of NumPy": lambda x: np.sum(np.asarray(da.asarray(x) ** 2) * x),
    "plain data": lambda x: (da.arange(4, chunks=2) * x).sum().compute(),
    "stacked": stacked,
    "by blocks": by_blocks,
    "decomposed": decomposed,
    "chunked": chunked,
    "applied": applied,
}


@pytest.mark.parametrize("name", CASES)
def test_as_differences(name: str) -> None:
    fun = CASES[name]
    adapted = gw.adapting(fun)
    value, gradient = gw.value_and_grad(adapted)(X)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(4)]
    wanted = np.array([(fun(X + e) - fun(X - e)) / 2e-5 for e in 1e-5 * np.eye(4)])
    assert isinstance(value, float)  # as the function gives it
    np.testing.assert_allclose(value, fun(X), rtol=1e-14)
    np.testing.assert_allclose(gradient, wanted, atol=1e-9)
    np.testing.assert_allclose(forward, wanted, atol=1e-9)


def test_the_same_comes_out_that_went_in() -> None:
    def through_dask(x: Any) -> Any:
        return np.sum((gda.from_array(x, chunks=2) ** 3).compute() * x)

    gradient = gw.grad(through_dask)(X)
    assert type(gradient) is np.ndarray
    np.testing.assert_allclose(gradient, 4 * X**3)
    (product,) = gw.hvp(through_dask, (X,), (np.ones(4),))
    np.testing.assert_allclose(product, 12 * X**2)

    lazy = gw.grad(lambda a: np.sum(a.compute() ** 2))(da.from_array(X, chunks=2))
    assert lazy.chunks == ((2, 2),)
    np.testing.assert_allclose(lazy.compute(), 2 * X)


def test_a_batch_is_not_computed() -> None:
    with pytest.raises(BatchedValueError, match='fallback="loop"'):
        gw.vmap(lambda x: gda.from_array(x).compute())(np.ones((3, 4)))
