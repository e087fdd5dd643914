"""xarray's labelled arrays over CuPy's, on a GPU or on the double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from hosted_cupy import device_params, on_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

cupy: Any = pytest.importorskip("cupy")
xr: Any = pytest.importorskip("xarray")
pytest.importorskip("scipy")

FIELD = xr.DataArray(
    np.random.default_rng(0).normal(size=(6, 4)),
    dims=("time", "station"),
    coords={"time": np.arange(6.0), "station": list("abcd")},
    name="temperature",
    attrs={"units": "K"},
)
KIND = xr.DataArray([0, 1] * 3, dims="time", name="kind")
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "arithmetic, by name": lambda x: x * x.isel(time=0) - x.mean("time"),
    "sel": lambda x: x.sel(time=slice(1.0, 3.0), station="c"),
    "isel": lambda x: x.isel(time=[0, 2, 2]),
    "std": lambda x: x.std("time"),
    "max": lambda x: x.max("time"),
    "where": lambda x: x.where(x > 0, 0.0),
    "groupby": lambda x: x.groupby(KIND) - x.groupby(KIND).mean(),
    "rolling": lambda x: x.rolling(time=3, min_periods=1).mean(),
    "concat": lambda x: xr.concat([x, 2.0 * x], "time"),
    "dot": lambda x: xr.dot(x, x.isel(time=0), dim="station"),
    "diff": lambda x: x.diff("time"),
    "shift": lambda x: x.shift(time=1, fill_value=0.0),
    "stack": lambda x: x.stack(point=("time", "station")),
    "apply_ufunc": lambda x: xr.apply_ufunc(np.tanh, x),
}


@pytest.fixture(autouse=True, scope="module", params=device_params())
def counts(request: pytest.FixtureRequest) -> Iterator[Any]:
    with on_device(request.param) as counted:
        yield counted


@pytest.mark.parametrize("name", OPERATIONS)
def test_gradient_is_labelled_and_on_the_device(name: str) -> None:
    def f(x: Any) -> Any:
        return (OPERATIONS[name](x) ** 2).sum()

    gradient = gw.grad(f)(FIELD.copy(data=cupy.asarray(FIELD.data)))

    assert isinstance(gradient.data, cupy.ndarray)
    found = FIELD.copy(data=cupy.asnumpy(gradient.data))
    np.testing.assert_allclose(found, gw.grad(f)(FIELD), rtol=1e-9, atol=1e-12)
    xr.testing.assert_identical(gradient.copy(data=FIELD.data), FIELD)
