"""xarray's labelled arrays: checked with its own types where it is installed."""

from __future__ import annotations

from typing import assert_type

import xarray as xr

import gradwrap as gw


def loss(w: xr.DataArray, x: xr.DataArray, *, rate: float = 0.1) -> xr.DataArray:
    return ((w * x) ** 2).sum() * rate


def smoothed(w: xr.DataArray) -> xr.DataArray:
    return w.rolling(time=3).mean()


def loss_of_dataset(data: xr.Dataset) -> xr.DataArray:
    return (data["a"] * data["b"]).sum()


def loss_of_variable(values: xr.Variable) -> xr.Variable:
    return (values**2).sum()


def on_arrays(w: xr.DataArray, x: xr.DataArray) -> None:
    assert_type(gw.grad(loss)(w, x, rate=0.2), xr.DataArray)
    assert_type(gw.grad(loss, (0, 1))(w, x), tuple[xr.DataArray, xr.DataArray])
    value, gradient = gw.value_and_grad(loss)(w, x)
    assert_type(value, xr.DataArray)
    assert_type(gradient, xr.DataArray)
    out, pull = gw.vjp(smoothed, w)
    assert_type(out, xr.DataArray)
    assert_type(pull(out), tuple[xr.DataArray])
    assert_type(gw.jvp(smoothed, (w,), (x,)), tuple[xr.DataArray, xr.DataArray])
    assert_type(gw.jacobian(smoothed)(w), xr.DataArray)
    assert_type(gw.hessian(loss)(w, x), xr.DataArray)
    assert_type(gw.vmap(smoothed)(w), xr.DataArray)
    assert_type(gw.vmap(gw.grad(loss))(w, x), xr.DataArray)
    assert_type(gw.tree.map(abs, w), xr.DataArray)
    assert_type(gw.optimize.adam(loss, w, (x,)).x, xr.DataArray)
    gw.grad(loss)(w, 1.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def on_datasets(data: xr.Dataset, values: xr.Variable) -> None:
    assert_type(gw.grad(loss_of_dataset)(data), xr.Dataset)
    assert_type(gw.value_and_grad(loss_of_dataset)(data), tuple[xr.DataArray, xr.Dataset])
    assert_type(gw.grad(loss_of_variable)(values), xr.Variable)
    assert_type(gw.optimize.minimize(loss_of_dataset, data).x, xr.Dataset)
