"""xarray's labelled arrays: gradients with labels, of its own operations, over NumPy and Dask."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.scipy
from gradwrap.errors import (
    NonDifferentiableInputError,
    NonScalarOutputError,
    PytreeError,
    TangentError,
    TrackedValueError,
)
from lambdas import fn, rows
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable

xr: Any = pytest.importorskip("xarray")
pytest.importorskip("scipy")
pytestmark = pytest.mark.peers

RANDOM = np.random.default_rng(3)
DAYS = np.array("2001-01-30", dtype="datetime64[ns]") + np.arange(6) * np.timedelta64(1, "D")
T = xr.DataArray(
    RANDOM.normal(size=(6, 4)),
    dims=("time", "station"),
    coords={
        "time": np.array([0.0, 1.0, 2.5, 3.0, 4.5, 6.0]),
        "station": list("abcd"),
        "height": ("station", np.array([10.0, 25.0, 3.0, 400.0])),
        "number": ("time", np.arange(6)),
        "run": 7,
    },
    name="temperature",
    attrs={"units": "K"},
)
LINE = T.isel(station=0, drop=True)
KIND = xr.DataArray([0, 1, 1, 0, 1, 0], dims="time", name="kind")
WEIGHTS = xr.DataArray(np.arange(6.0) + 1.0, dims="time")
AT = xr.DataArray([0.4, 2.2, 5.9], dims="probe")


def stations(length: int, dim: str = "point") -> Any:
    return xr.DataArray(np.arange(length) % 3, dims=dim)


def assigned(x: Any) -> Any:
    x = x.copy()
    x[{"time": 0}] = 3.0 * x.isel(time=1)
    x.loc[{"time": 3.0}] = 0.0
    x[{"time": [1, 2], "station": [0, 3]}] = x.isel(time=[4, 5], station=[1, 2]).data
    return x


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "arithmetic, by name": lambda x: x * LINE + x.isel(time=0) / (2.0 + x.mean("time") ** 2),
    "sel": lambda x: x.sel(time=slice(1.0, 4.5), station=["d", "a", "a"]),
    "sel the nearest": lambda x: x.sel(time=[2.2, 5.0], method="nearest"),
    "isel": lambda x: x.isel(time=[0, 2, 2], station=1),
    "isel by positions of maxima": lambda x: x.isel(x.argmax(dim=["time"])) + x.isel(x.argmin(...)),
    "isel by a position for each": lambda x: x.isel(time=(x**2).argmax("time")) * LINE[0],
    "isel by arrays": lambda x: x.isel(time=stations(4), station=stations(4)[::-1]),
    "loc": lambda x: x.loc[{"station": "c"}],
    "mean over a dimension": lambda x: x.mean("station"),
    "sum without NaN": lambda x: x.where(x > 0).sum("time"),
    "std": lambda x: x.std("time", ddof=1),
    "var, NaN not skipped": lambda x: x.var("time", ddof=1, skipna=False),
    "max": lambda x: x.max("time"),
    "median": lambda x: x.median("time"),
    "quantile": lambda x: x.quantile([0.2, 0.7], "time"),
    "where": lambda x: x.where(x > 0, x**2),
    "clip": lambda x: x.clip(-0.5, 0.5),
    "fillna": lambda x: x.where(x > 0).fillna(2.0 * x),
    "groupby": lambda x: x.groupby(KIND).mean(),
    "the first of groups": lambda x: x.where(x.time != 0).groupby(KIND).first(),
    "the last of groups": lambda x: x.groupby(KIND).last(),
    "anomalies of groups": lambda x: x.groupby(KIND) - x.groupby(KIND).mean(),
    "groupby_bins": lambda x: x.groupby_bins("time", [-1.0, 2.0, 7.0]).sum(),
    "resample": lambda x: x.assign_coords(time=DAYS).resample(time="MS").mean(),
    "rolling": lambda x: x.rolling(time=3).mean().dropna("time"),
    "rolling, part of a window": lambda x: x.rolling(time=3, min_periods=1).max(),
    "coarsen": lambda x: x.coarsen(time=2).mean(),
    "weighted": lambda x: x.weighted(WEIGHTS).mean("time"),
    "interp": lambda x: x.interp(time=[0.3, 2.0, 4.0]),
    "interp, cubic": lambda x: x.interp(time=[0.3, 2.0, 4.0], method="cubic"),
    "interp, pchip": lambda x: x.interp(time=[0.3, 2.0, 4.0], method="pchip"),
    "interp, to a field": lambda x: x.interp(time=xr.DataArray([[0.1, 2.0]], dims=("u", "v"))),
    "interp, to a number": lambda x: x.interp(time=2.7),
    "interp, outwards": lambda x: x.interp(time=7.0, kwargs={"fill_value": "extrapolate"}),
    "interp, in two dimensions": lambda x: (
        x.assign_coords(station=np.arange(4.0)).interp(time=AT, station=AT / 2.0)
    ),
    "interp, at tracked points": lambda x: (
        LINE.drop_vars("number").interp(time=3.0 + np.tanh(x)).drop_vars("time")
    ),
    "concat": lambda x: xr.concat([x, 2.0 * x.isel(time=[0])], "time"),
    "dot": lambda x: xr.dot(x, x.isel(station=0), dim="time"),
    "matmul": lambda x: x @ x.rename(station="other"),
    "diff": lambda x: x.diff("time"),
    "differentiate": lambda x: x.differentiate("time"),
    "integrate": lambda x: x.integrate("time"),
    "cumulative_integrate": lambda x: x.cumulative_integrate("time"),
    "cumsum": lambda x: x.cumsum("time"),
    "shift": lambda x: x.shift(time=2, fill_value=0.5),
    "roll": lambda x: x.roll(time=2),
    "pad": lambda x: x.pad(time=2, mode="edge"),
    "ffill": lambda x: x.where(KIND > 0).ffill("time").fillna(0.0),
    "ffill, not far": lambda x: x.where(x.number > 2).bfill("time", limit=1).fillna(0.0),
    "transpose": lambda x: x.transpose("station", "time") * LINE,
    "stack": lambda x: x.stack(point=("time", "station")) ** 2,
    "unstack": lambda x: x.stack(point=("time", "station")).unstack("point"),
    "apply_ufunc": lambda x: xr.apply_ufunc(np.hypot, x, LINE),
    "apply_ufunc along a dimension": lambda x: xr.apply_ufunc(
        fn(lambda a: np.linalg.norm(a, axis=-1)), x, input_core_dims=[["time"]]
    ),
    "interpolate_na": lambda x: x.where(KIND > 0).interpolate_na("time").fillna(0.0),
    "apply_ufunc for each vector": lambda x: xr.apply_ufunc(
        fn(lambda a, b: np.stack([a @ b, a[0]])),
        *(x, LINE * x.isel(station=0)),
        input_core_dims=[["time"], ["time"]],
        output_core_dims=[["two"]],
        vectorize=True,
    ),
    "apply_ufunc for each number": lambda x: xr.apply_ufunc(
        fn(lambda a, b: (a * b, a**2)),
        *(x, 2.0),
        output_core_dims=[[], []],
        vectorize=True,
        output_dtypes=[float, float],
    )[1],
    "polyfit": lambda x: x.polyfit("time", 2).polyfit_coefficients,
    "polyval": lambda x: xr.polyval(AT, x.isel(time=[0, 1, 2]).rename(time="degree").assign_coords(
        degree=[0, 1, 2]
    )),
    "a Dataset's arithmetic": lambda x: (
        (xr.Dataset({"a": x, "b": x.mean("time")}) * 2.0).mean("station").to_array()
    ),
    "assignment": assigned,
    "np.hypot": lambda x: np.hypot(x, LINE),
    "np.sum": lambda x: np.sum(x**2),
    "cov": lambda x: xr.cov(x, x.isel(station=0), "time"),
}  # fmt: skip


def total(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The sum of the elements, each with another weight."""

    def weighted(x: Any) -> Any:
        y = f(x)
        weights = np.reshape(np.cos(0.3 + np.arange(int(y.size))), y.shape)
        return (y * y.copy(data=weights)).sum()

    return weighted


def slopes(f: Callable[[Any], Any], x: Any, h: float = 1e-6) -> Any:
    """The derivative of a scalar by each element, by central differences."""
    found = np.empty(x.shape)
    for key in np.ndindex(x.shape):
        moved = [x.copy(deep=True), x.copy(deep=True)]
        moved[0].data[key] += h
        moved[1].data[key] -= h
        found[key] = (float(f(moved[0])) - float(f(moved[1]))) / (2.0 * h)
    return found


def assert_labelled(found: Any, values: Any, labels: Any, rtol: float = 1e-6) -> None:
    """The values, with all labels of another."""
    np.testing.assert_allclose(found.data, values, rtol=rtol, atol=1e-8)
    assert type(found) is type(labels)
    xr.testing.assert_identical(found.copy(data=labels.data), labels)


@pytest.mark.parametrize("name", OPERATIONS)
def test_gradient_of_an_operation_is_right_and_has_the_labels_of_the_argument(name: str) -> None:
    if name.startswith("ffill"):  # of plain arrays
        pytest.importorskip("bottleneck")
    f = total(OPERATIONS[name])

    value, gradient = gw.value_and_grad(f)(T)

    assert_labelled(gradient, slopes(f, T), T)
    assert_labelled(value, f(T).data, f(T), rtol=1e-12)


@pytest.mark.parametrize("name", OPERATIONS)
def test_tangent_of_an_operation_is_right_and_has_the_labels_of_the_output(name: str) -> None:
    if name.startswith("ffill"):  # of plain arrays
        pytest.importorskip("bottleneck")
    f = OPERATIONS[name]
    direction = T.copy(data=np.random.default_rng(5).normal(size=T.shape))

    out, tangent = gw.jvp(f, (T,), (direction,))

    assert_labelled(out, f(T).data, f(T), rtol=1e-12)
    h = 1e-6
    slope = (f(T + h * direction) - f(T - h * direction)) / (2.0 * h)
    assert_labelled(tangent, slope.data, out, rtol=1e-5)


def test_coordinates_stay_what_they_are() -> None:
    gradient = gw.grad(lambda x: (x * x.height * x.time).sum())(T)

    assert_labelled(gradient, T.height.data * T.time.data[:, None], T)
    assert gradient.number.dtype == T.number.dtype
    assert list(gradient.station.values) == list("abcd")
    assert gradient.attrs == {"units": "K"}
    assert gradient.attrs is not T.attrs
    assert gradient.name == "temperature"


def test_datasets_come_back_as_datasets() -> None:
    data = xr.Dataset({"air": T, "sea": LINE**2}, attrs={"source": "a model"})

    def loss(d: Any) -> Any:
        return (d.air.mean("station") * d.sea).sum()

    gradient = gw.grad(loss)(data)

    assert type(gradient) is xr.Dataset
    wanted = data.copy(
        data={"air": np.repeat(data.sea.data[:, None] / 4.0, 4, 1), "sea": T.mean("station").data}
    )
    xr.testing.assert_allclose(gradient, wanted)
    xr.testing.assert_identical(gradient * 0.0 + 1.0, data * 0.0 + 1.0)
    assert gradient.attrs == data.attrs
    assert gradient.air.attrs == {"units": "K"}


def test_variables_come_back_as_variables() -> None:
    gradient = gw.grad(lambda v: (v**3).sum())(T.variable)

    assert_labelled(gradient, 3.0 * T.data**2, T.variable)


def test_labelled_arrays_among_others() -> None:
    params = {"slope": LINE, "offset": 2.0, "names": ["a", None]}

    gradient = gw.grad(fn(lambda p, x: ((p["slope"] * x + p["offset"]) ** 2).sum()))(params, T)

    rest = LINE.data[:, None] * T.data + 2.0
    assert_labelled(gradient["slope"], (2.0 * rest * T.data).sum(1), LINE)
    np.testing.assert_allclose(gradient["offset"], 2.0 * rest.sum())
    assert gradient["names"] == [None, None]


def test_dtypes_are_kept() -> None:
    single, double = T.astype(np.float32), T * (1.0 + 0.0j)

    assert gw.grad(lambda x: (x**2).sum())(single).dtype == np.float32
    by_complex = gw.grad(fn(lambda x: np.sum(np.abs(x) ** 2)))(double)
    assert_labelled(by_complex, 2.0 * double.data, double)


def test_a_file_that_was_not_read_is_read() -> None:
    lazy = xr.DataArray(
        xr.Variable(T.dims, xr.core.indexing.LazilyIndexedArray(T.data)), coords=T.coords
    )

    gradient = gw.grad(lambda x: (x**2).sum())(lazy)

    np.testing.assert_allclose(gradient, 2.0 * T.data)


# Other transforms ---------------------------------------------------------------------------------


def test_vjp_and_linearize() -> None:
    out, pull = gw.vjp(lambda x: x.mean("time"), T)

    assert_labelled(pull(3.0 * out)[0], np.tile(out.data / 2.0, (6, 1)), T)
    same, push = gw.linearize(fn(lambda x: x.mean("time")), T)
    xr.testing.assert_identical(same, out)
    assert_labelled(push(T), T.data.mean(0), out)


def test_a_tangent_may_have_another_name_and_other_attributes() -> None:
    other = (2.0 * T).rename("change").assign_attrs(units="m")

    tangent = gw.jvp(lambda x: x**2, (T,), (other,))[1]

    assert_labelled(tangent, 4.0 * T.data**2, T**2)


@pytest.mark.parametrize(
    "change",
    rows(
        [
            lambda x: x.assign_coords(time=x.time + 1.0),
            lambda x: x.drop_vars("height"),
            lambda x: x.transpose(),
        ]
    ),
)
def test_a_tangent_with_other_labels_is_an_error(change: Any) -> None:
    with pytest.raises(TangentError, match=r"tangent of x has the structure .*\(DataArray\["):
        gw.jvp(fn(lambda x: x**2), (T,), (change(T),))


@pytest.mark.parametrize("jacobian", [gw.jacrev, gw.jacfwd, gw.jacobian])
def test_jacobian_has_the_labels_of_the_output_and_of_the_argument(jacobian: Any) -> None:
    found = jacobian(fn(lambda x: x.mean("station") ** 2))(T)

    assert found.dims == ("time", "time_in", "station")
    np.testing.assert_array_equal(found.time_in, T.time)
    np.testing.assert_array_equal(found.number_in, T.number)
    assert list(found.station.values) == list("abcd")
    diagonal = 2.0 * T.mean("station").data[:, None, None] / 4.0
    np.testing.assert_allclose(found, diagonal * np.eye(6)[:, :, None] * np.ones(4))


def test_jacobians_between_labelled_and_plain_arrays() -> None:
    out = gw.jacobian(lambda x: x.data.sum(axis=0))(T)
    assert out.dims == ("out_0", "time", "station")
    np.testing.assert_allclose(out, np.broadcast_to(np.eye(4)[:, None, :], (4, 6, 4)))
    square = gw.jacobian(lambda a: LINE.copy(data=a**2))(np.arange(6.0))
    assert square.dims == ("time", "in_0")
    np.testing.assert_allclose(square, np.diag(2.0 * np.arange(6.0)))
    np.testing.assert_array_equal(square.time, LINE.time)


def test_jacobian_of_several_arguments() -> None:
    by_x, by_y = gw.jacobian(fn(lambda x, y: (x * y).sum("time")), (0, 1))(T, LINE)

    assert by_x.dims == ("station", "time", "station_in")
    assert by_y.dims == ("station", "time")
    np.testing.assert_allclose(by_y, T.data.T)


def test_hessian() -> None:
    found = gw.hessian(lambda x: (x**3).sum())(LINE)

    assert found.dims == ("time", "time_in")
    np.testing.assert_allclose(found, np.diag(6.0 * LINE.data))
    third = gw.jacobian(gw.hessian(fn(lambda x: (x**3).sum())))(LINE)
    assert third.dims == ("time", "time_in", "time_in_in")
    assert_labelled(gw.hvp(fn(lambda x: (x**3).sum()), LINE, LINE), 6.0 * LINE.data**2, LINE)
    assert_labelled(gw.hessian_diagonal(lambda x: (x**3).sum())(LINE), 6.0 * LINE.data, LINE)


def test_hessian_of_a_dataset_is_a_dictionary_of_datasets() -> None:
    data = xr.Dataset({"a": LINE, "b": T})

    found = gw.hessian(lambda d: (d.a * d.b.mean("station")).sum())(data)

    assert found["a"]["b"].dims == ("time", "time_in", "station")
    np.testing.assert_allclose(found["a"]["b"].sum("station"), np.eye(6))
    np.testing.assert_allclose(found["a"]["a"], 0.0)


def test_vmap_maps_over_a_dimension_and_gives_it_back() -> None:
    def energy(x: Any) -> Any:
        assert x.dims == ("station",)
        assert "time" not in x.coords
        return (x**2).sum("station")

    assert_labelled(gw.vmap(energy)(T), (T.data**2).sum(1), (T**2).sum("station"))
    assert_labelled(gw.vmap(gw.grad(energy))(T), 2.0 * T.data, T)
    columns = gw.vmap(fn(lambda x: x * 2.0), in_axes=1, out_axes=-1)(T)
    assert_labelled(columns, 2.0 * T.data, T)
    two = gw.vmap(fn(lambda x, y: (x * y).sum()), in_axes=(1, None))(T, LINE)
    np.testing.assert_allclose(two, LINE.data @ T.data)
    assert two.dims == ("station",)
    np.testing.assert_array_equal(two.height, T.height)


@pytest.mark.parametrize("name", ["max", "std", "interp", "groupby", "rolling, part of a window"])
def test_gradients_of_a_batch(name: str) -> None:
    f = total(OPERATIONS[name])
    batch = xr.concat([T, 2.0 * T + T**2], "member")

    found = gw.vmap(gw.grad(f), fallback="loop")(batch)

    for index in range(2):
        one = batch.isel(member=index)
        np.testing.assert_allclose(found.isel(member=index), gw.grad(f)(one), atol=1e-12)
    assert found.dims == batch.dims


def test_vmap_of_two_dimensions_at_once_gives_a_batch() -> None:
    other = LINE.isel(time=slice(4)).rename(time="lead")

    found = gw.vmap(fn(lambda x, y: x.sum() * y), in_axes=(1, 0))(T, other)

    assert found.dims == ("batch",)
    np.testing.assert_allclose(found, T.data.sum(0) * other.data)


def test_the_tape() -> None:
    x = gw.tree.map(lambda a: gw.wrap(a, requires_grad=True), T)

    (x**2).mean("time").sum().data.backward()

    assert_labelled(gw.tree.map(lambda a: a.grad, x), T.data / 3.0, T)


def test_an_inner_gradient() -> None:
    def outer(x: Any) -> Any:
        inner = gw.grad(lambda y: (y**3 * x.mean("time")).sum())(x)
        assert inner.dims == x.dims
        return (inner**2).sum()

    assert_labelled(gw.grad(outer)(T), slopes(outer, T), T)


def test_auxiliary_outputs_are_labelled_and_plain() -> None:
    gradient, aux = gw.grad(lambda x: ((x**2).sum(), {"mean": x.mean("time")}), has_aux=True)(T)

    assert_labelled(gradient, 2.0 * T.data, T)
    xr.testing.assert_identical(aux["mean"], T.mean("time"))
    assert type(aux["mean"].data) is np.ndarray


def test_containers() -> None:
    leaves, structure = gw.tree.flatten(xr.Dataset({"a": T, "b": LINE}))
    assert [leaf.shape for leaf in leaves] == [(6, 4), (6,)]
    assert "a(time, station), b(time)" in str(structure)
    flat, unravel = gw.ravel_pytree(T)
    xr.testing.assert_identical(unravel(flat), T)
    moved = gw.tree.map(lambda p, g: p - 0.5 * g, T, gw.grad(lambda x: (x**2).sum())(T))
    assert_labelled(moved, 0.0 * T.data, T)
    means = gw.checkpoint(fn(lambda x: x.mean("time")))
    assert_labelled(gw.grad(fn(lambda x: means(x).sum()))(T), np.full((6, 4), 1.0 / 6.0), T)


def test_a_compiled_gradient_keeps_the_labels_of_each_call() -> None:
    def loss(x: Any) -> Any:
        return (x**2).sum() * x.attrs.get("scale", 1.0)

    compiled = gw.compile(gw.grad(loss))

    for one in (T, 2.0 * T, T.rename("other"), T.assign_attrs(scale=3.0), T.assign_coords(run=8)):
        xr.testing.assert_identical(compiled(one), gw.grad(loss)(one))


def test_optimizers() -> None:
    def loss(p: Any) -> Any:
        return ((p - T) ** 2).sum()

    start = xr.zeros_like(T)
    assert_labelled(gw.optimize.minimize(loss, start).x, T.data, T, rtol=1e-4)
    fitted = gw.optimize.least_squares(lambda p: p - T, start)
    assert_labelled(fitted.x, T.data, T)
    assert fitted.jac.dims == ("time", "station", "time_in", "station_in")
    descent = gw.optimize.sgd(loss, start, steps=60, learning_rate=0.3)
    assert_labelled(descent.x, T.data, T)
    assert_labelled(descent.jac, 0.0 * T.data, T)


# What is refused ----------------------------------------------------------------------------------


def test_arrays_that_have_no_derivative_are_named() -> None:
    with pytest.raises(NonDifferentiableInputError, match=r"argument x\.data has dtype int64"):
        gw.grad(fn(lambda x: x.sum()))(T.astype(int))
    data = xr.Dataset({"a": T, "count": KIND})
    with pytest.raises(NonDifferentiableInputError, match=r"argument d\['count'\] has dtype int64"):
        gw.grad(fn(lambda d: d.a.sum()))(data)
    gradient = gw.grad(fn(lambda d: d.a.sum()))(data.set_coords("count"))
    assert list(gradient.data_vars) == ["a"]
    xr.testing.assert_identical(gradient["count"], data.set_coords("count")["count"])


def test_an_output_with_dimensions_is_no_scalar() -> None:
    with pytest.raises(NonScalarOutputError, match=r"an array of shape \(6,\)"):
        gw.grad(lambda x: x.mean("station"))(T)


def test_a_tracked_coordinate_does_not_leave_a_transform() -> None:
    def labelled(x: Any) -> Any:
        return x.assign_coords(size=x**2)

    with pytest.raises(PytreeError, match=r"coordinate 'size' .* Fix: .*reset_coords\('size'\)"):
        gw.vjp(labelled, T)
    out, _ = gw.vjp(fn(lambda x: labelled(x).reset_coords("size")), T)
    np.testing.assert_allclose(out["size"], T**2)


def test_a_coordinate_may_come_from_an_argument_that_is_not_differentiated() -> None:
    aux = gw.grad(fn(lambda x, y: (x.sum(), x.assign_coords(y=y))), has_aux=True)(T, LINE)[1]

    assert type(aux.coords["y"].data) is np.ndarray
    np.testing.assert_array_equal(aux.coords["y"], LINE)


def test_a_leaf_of_another_rank_does_not_fit_the_labels() -> None:
    with pytest.raises(
        PytreeError, match=r"shape \(\) cannot have the dimensions \(time, station\)"
    ):
        gw.tree.map(lambda a: a.sum(), T)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "values": (lambda x: x.values, "values takes plain .* use .data"),
    "to_pandas": (lambda x: x.to_pandas(), "to_pandas takes plain .* use .data"),
    "float": (lambda x: float(x.sum()), "__float__ takes plain .* go on with the DataArray"),
    "sortby": (lambda x: x.sortby(x.isel(station=0)), "sortby takes plain .* have no derivative"),
    "rank": (lambda x: x.rank("time"), "rank takes plain .* have no derivative"),
    "groupby_bins": (
        lambda x: x.groupby_bins(x.isel(station=0), 2).mean(),
        "groupby_bins takes plain .* have no derivative",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_takes_plain_values_is_named_with_a_remedy(name: str) -> None:
    if name == "rank":
        pytest.importorskip("bottleneck")
    function, message = REFUSED[name]

    with pytest.raises(TrackedValueError, match=f"Fix: xarray's {message}"):
        gw.grad(lambda x: (x * function(x)).sum())(T)


def test_the_remedies_work() -> None:
    def plain(x: Any) -> Any:
        return x.copy(data=x.data.detach())

    assert_labelled(gw.grad(lambda x: (x * plain(x).max()).sum())(T), np.full((6, 4), T.max()), T)
    by_order = gw.grad(lambda x: (x.sortby(plain(x.isel(station=0))) * LINE.data[:, None]).sum())(T)
    order = np.argsort(T.data[:, 0])
    wanted = np.empty((6, 4))
    wanted[order] = LINE.data[:, None]
    assert_labelled(by_order, wanted, T)


def test_the_page_shows_what_is_computed() -> None:
    pytest.importorskip("dask")
    page = Path(__file__).parents[2] / "docs" / "xarray.md"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

    found = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")

    assert found.failed == 0
    assert found.attempted > 30


# Importing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "imports", ["import gradwrap as gw, xarray as xr", "import xarray as xr, gradwrap as gw"]
)
def test_xarray_is_entered_whichever_is_imported_first(imports: str) -> None:
    text = (
        f"{imports}; x = xr.DataArray([1.0], dims='t'); print(gw.grad(lambda x: x.sum())(x).dims)"
    )

    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)

    assert done.stdout == "('t',)\n"


def test_gradwrap_does_not_import_xarray() -> None:
    text = "import sys, gradwrap as gw; gw.grad(abs)(1.0); print('xarray' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_adapted_code_gets_tracked_values_of_an_array(tmp_path: Path) -> None:
    source = """
        import xarray as xr
        def run(x):
            chances = xr.DataArray(x / np.sum(x), dims="k")
            return np.sum(np.asarray(chances.values) ** 2)
        """
    run = written(tmp_path, source).run
    x = np.array([0.2, 0.5, 0.9])
    expected = [(run(x + e) - run(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(x), expected, rtol=1e-7)
    with pytest.raises(TrackedValueError):
        gw.grad(fn(lambda x: xr.DataArray(x, dims="k").values[0]))(x)


def test_item_of_an_array_is_tracked_in_adapted_code(tmp_path: Path) -> None:
    source = """
        import xarray as xr
        def run(x):
            squares = xr.DataArray(x**2, dims="k")
            return squares.sum().item() * squares.item(0)
        """
    run = written(tmp_path, source).run
    x = np.array([0.2, 0.5, 0.9])  # sum(x**2) * x[0]**2
    expected = 2 * x * x[0] ** 2 + np.array([2 * x[0] * np.sum(x**2), 0, 0])
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(x), expected)


def test_float_of_an_array_is_tracked_in_adapted_code(tmp_path: Path) -> None:
    source = """
        import xarray as xr
        def run(x):
            squares = xr.DataArray(x**2, dims="k")
            return float(squares.sum()) * float(squares[0]) + (complex(squares[1]) * 2.0).real
        """
    run = written(tmp_path, source).run
    x = np.array([0.2, 0.5, 0.9])
    expected = 2 * x * x[0] ** 2 + np.array([2 * x[0] * np.sum(x**2), 4 * x[1], 0])
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(x), expected)
    assert gw.value_and_grad(gw.adapting(run))(x)[0] == run(x)


def test_a_fit_is_differentiated_where_scipy_is_ours() -> None:
    data = xr.DataArray(np.exp(-0.1 * np.arange(8.0)), dims="t", coords={"t": np.arange(8.0)})

    def rate(scale: Any) -> Any:
        model = fn(lambda t, a, b: a * np.exp(-t * b))
        start = {"a": 1.0, "b": 0.1}
        return (data * scale).curvefit("t", model, p0=start).curvefit_coefficients.data[0]

    with pytest.raises(TrackedValueError, match=r"Fix: .*gradwrap\.scipy\.install\(\)"):
        gw.grad(rate)(2.0)
    gradwrap.scipy.install()
    try:
        np.testing.assert_allclose(gw.grad(rate)(2.0), 1.0, rtol=1e-6)
    finally:
        gradwrap.scipy.uninstall()
