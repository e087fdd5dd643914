"""xarray's labelled arrays over Dask's: lazy gradients with labels, and one forward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

xr: Any = pytest.importorskip("xarray")
da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")
pytest.importorskip("scipy")
pytestmark = pytest.mark.peers

FIELD = xr.DataArray(
    np.random.default_rng(0).normal(size=(8, 6)),
    dims=("time", "station"),
    coords={"time": np.arange(8.0), "station": list("abcdef"), "height": ("station", np.arange(6))},
    name="temperature",
    attrs={"units": "K"},
)
CHUNKED = FIELD.chunk(time=3, station=2)
KIND = xr.DataArray([0, 1] * 4, dims="time", name="kind")
DAYS = np.array("2001-01-01", dtype="datetime64[ns]") + np.arange(8) * np.timedelta64(1, "D")
POINTS = xr.DataArray([0, 3, 3], dims="point")
WEIGHTS = xr.DataArray(np.arange(8.0) + 1.0, dims="time")

OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "arithmetic, by name": lambda x: x * x.isel(time=0) - x.mean("time"),
    "sel": lambda x: x.sel(time=slice(2.0, 5.0), station="c"),
    "isel": lambda x: x.isel(time=[0, 2, 2]),
    "mean": lambda x: x.mean("station"),
    "std": lambda x: x.std("time"),
    "max": lambda x: x.max("time"),
    "where": lambda x: x.where(x > 0, 0.0),
    "groupby": lambda x: x.groupby(KIND) - x.groupby(KIND).mean(),
    "resample": lambda x: x.assign_coords(time=DAYS).resample(time="2D").mean(),
    "rolling": lambda x: x.rolling(time=3, min_periods=1).mean(),
    "coarsen": lambda x: x.coarsen(time=2).mean(),
    "weighted": lambda x: x.weighted(WEIGHTS).mean("time"),
    "interp": lambda x: x.interp(time=[0.5, 1.7]),
    "interp, cubic": lambda x: x.interp(time=[0.5, 1.7], method="cubic"),
    "concat": lambda x: xr.concat([x, 2.0 * x], "time"),
    "dot": lambda x: xr.dot(x, x.isel(time=0), dim="station"),
    "diff": lambda x: x.diff("time"),
    "differentiate": lambda x: x.differentiate("time"),
    "integrate": lambda x: x.integrate("time"),
    "shift": lambda x: x.shift(time=1, fill_value=0.0),
    "transpose": lambda x: x.transpose("station", "time"),
    "stack": lambda x: x.stack(point=("time", "station")).unstack("point"),
    "isel by arrays": lambda x: x.isel(time=POINTS, station=POINTS[::-1]),
    "median": lambda x: x.where(x > -0.5).median("time"),
    "quantile": lambda x: x.quantile([0.3, 0.8], "time"),
    "median of all": lambda x: x.median(),
    "pad": lambda x: x.pad(time=2, mode="edge"),
    "chunk": lambda x: x.chunk(time=8, station=1),
    "the first of groups": lambda x: x.where(x.time != 0).groupby(KIND).first(),
    "the last of samples": lambda x: x.assign_coords(time=DAYS).resample(time="3D").last(),
    "apply_ufunc": lambda x: xr.apply_ufunc(np.tanh, x, dask="parallelized"),
    "polyfit": lambda x: x.polyfit("time", 1, skipna=False).polyfit_coefficients,
    "a Dataset": lambda x: xr.Dataset({"a": x, "b": 2.0 * x}).mean("time").b,
}


def refuse(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("something was computed")


@pytest.mark.parametrize("name", OPERATIONS)
def test_gradient_is_lazy_and_labelled(name: str) -> None:
    def f(x: Any) -> Any:
        return (OPERATIONS[name](x) ** 2).sum()

    with dask.config.set(scheduler=refuse):
        value, gradient = gw.value_and_grad(f)(CHUNKED)

    assert isinstance(gradient.data, da.Array)
    wanted = gw.value_and_grad(f)(FIELD)
    found = dask.compute(value, gradient)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-9)
    np.testing.assert_allclose(found[1].data, wanted[1].data, rtol=1e-9, atol=1e-12)
    xr.testing.assert_identical(found[1].copy(data=FIELD.data), FIELD)


@pytest.mark.parametrize(
    "select",
    [
        fn(lambda x: x.isel(x.argmax(dim=["time", "station"]))),
        fn(lambda x: x.isel(x.argmin(dim=["time"]))),
        fn(lambda x: x.isel(time=(x**2).argmax("time"))),
    ],
)
def test_selecting_by_positions_computes_them(select: Any) -> None:
    def f(x: Any) -> Any:
        return (select(x) ** 2).sum()

    gradient = gw.grad(f)(CHUNKED)

    assert isinstance(gradient.data, da.Array)
    np.testing.assert_allclose(gradient.data.compute(), gw.grad(f)(FIELD).data)


def test_value_and_gradient_share_the_forward_pass() -> None:
    """Each chunk of the data is made once, and goes through the slow function once."""
    made: list[Any] = []
    passed: list[Any] = []

    def chunk(block: Any) -> Any:
        made.append(block.shape)
        return block + 1.0

    def slow(a: Any) -> Any:
        passed.append(a.shape)
        return np.cos(a)

    weights = xr.DataArray(np.ones(6), dims="station", coords={"station": FIELD.station})
    source = xr.DataArray(
        da.from_array(FIELD.data, chunks=(4, 6)).map_blocks(
            chunk, dtype=float, meta=np.empty((0, 0))
        ),
        dims=FIELD.dims,
        coords=FIELD.coords,
    )
    features = xr.apply_ufunc(slow, source, dask="parallelized", output_dtypes=[float])

    def loss(w: Any) -> Any:
        return ((features * w).sum("station", skipna=False) ** 2).mean("time", skipna=False)

    value, gradient = gw.value_and_grad(loss)(weights.chunk())
    made.clear()
    passed.clear()
    found = dask.compute(value, gradient, scheduler="synchronous")

    assert len(made) == 2
    assert len(passed) == 2
    numbers = np.cos(FIELD.data + 1.0)
    np.testing.assert_allclose(found[1], 2.0 * numbers.T @ numbers.sum(1) / 8.0)
    assert found[1].dims == ("station",)


def test_a_dataset_in_chunks() -> None:
    data = xr.Dataset({"a": FIELD, "b": FIELD.isel(time=0, drop=True)}).chunk(station=2)

    with dask.config.set(scheduler=refuse):
        gradient = gw.grad(lambda d: (d.a * d.b).sum(skipna=False))(data)

    assert type(gradient) is xr.Dataset
    computed = gradient.compute()
    np.testing.assert_allclose(computed.a, np.broadcast_to(data.b, (8, 6)))
    np.testing.assert_allclose(computed.b, FIELD.sum("time"))


def test_what_looks_at_the_values_is_named() -> None:
    refused: dict[str, Callable[[Any], Any]] = {
        r"ffill and bfill look at the values.* \.load\(\)": lambda x: x.ffill("time"),
        r"interp in several dimensions.* \.load\(\)": lambda x: x.assign_coords(
            station=np.arange(6.0)
        ).interp(time=0.5 * POINTS, station=0.5 * POINTS),
        r"polyfit with missing values looks.* skipna=False": lambda x: (
            x.polyfit("time", 1, skipna=True).polyfit_coefficients
        ),
        r"interp by PchipInterpolator.* \.load\(\)": lambda x: x.interp(time=[0.5], method="pchip"),
        r"interp by ScipyInterpolator with .*'fill_value': 0\.0.* \.load\(\)": lambda x: x.interp(
            time=[0.5], kwargs={"fill_value": 0.0}
        ),
    }
    for message, operation in refused.items():
        with pytest.raises(gw.errors.TrackedCodeError, match=message):
            gw.vjp(operation, CHUNKED)


def test_chunk_makes_dasks_arrays_of_numpys() -> None:
    gradient = gw.grad(lambda x: (x.chunk(time=3) ** 2).sum())(FIELD)

    assert isinstance(gradient.data, da.Array)
    xr.testing.assert_allclose(gradient.compute(), 2.0 * FIELD)


def test_coordinates_in_chunks_are_not_computed() -> None:
    x = CHUNKED.assign_coords(depth=("time", da.from_array(np.arange(8.0), chunks=3)))

    with dask.config.set(scheduler=refuse):
        tangent = gw.jvp(lambda x: 2.0 * x, (x,), (x,))[1]

    assert isinstance(tangent.depth.data, da.Array)
    np.testing.assert_allclose(tangent, 2.0 * FIELD)
