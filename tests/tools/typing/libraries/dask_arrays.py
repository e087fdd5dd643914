"""Dask's arrays: their methods are not annotated, so a checker knows no type of their results."""

from __future__ import annotations

from typing import assert_type

import dask.array as da

import gradwrap as gw


def loss(w: da.Array, x: da.Array) -> da.Array:
    total: da.Array = ((w * x) ** 2).sum()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return total  # pyright: ignore[reportUnknownVariableType]


def scaled(w: da.Array) -> da.Array:
    doubled: da.Array = w * 2.0  # pyright: ignore[reportUnknownVariableType]
    return doubled  # pyright: ignore[reportUnknownVariableType]


def on_arrays(w: da.Array, x: da.Array) -> None:
    assert_type(gw.grad(loss)(w, x), da.Array)
    assert_type(gw.grad(loss, (0, 1))(w, x), tuple[da.Array, da.Array])
    assert_type(gw.value_and_grad(loss)(w, x), tuple[da.Array, da.Array])
    out, pull = gw.vjp(scaled, w)
    assert_type(out, da.Array)
    assert_type(pull(out), tuple[da.Array])
    assert_type(gw.jvp(scaled, (w,), (x,)), tuple[da.Array, da.Array])
    assert_type(gw.jacobian(scaled)(w), da.Array)
    assert_type(gw.vmap(scaled)(w), da.Array)
    assert_type(gw.vmap(gw.grad(loss))(w, x), da.Array)
    gw.grad(loss)(w, 1.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
