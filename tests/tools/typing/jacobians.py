"""The protocols of gradwrap/typing/derivatives.py, as a checker sees what is typed by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, assert_type

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gradwrap.typing.derivatives import Hessian, Jacobian

Array = NDArray[np.float64]


class Params(TypedDict):
    w: Array
    b: Array


def loss(w: Array, x: Array, y: Array, *, rate: float = 0.1) -> np.float64:
    return np.float64(((x @ w - y) ** 2).sum() * rate)


def scaled(x: Array, factor: float = 2.0) -> Array:
    return x * factor


def scaled_and_aux(x: Array, factor: float = 2.0) -> tuple[Array, int]:
    return x * factor, x.size


def three_and_aux(w: Array, x: Array, y: Params) -> tuple[float, int]:
    return float(w.sum() * x.sum() * y["w"].sum()), w.size


def of_params(params: Params, x: Array) -> float:
    return float((params["w"] * x).sum())


w: Array = np.ones(3)
both: Params = {"w": w, "b": w}


def jacobians(jacobian: Jacobian) -> None:
    assert_type(jacobian(scaled)(w, factor=3.0), Array)
    assert_type(jacobian(loss, 1)(w, w, w, rate=1.0), Array)
    assert_type(jacobian(loss, 2)(w, w, w), Array)
    assert_type(jacobian(loss, (0,))(w, w, w), tuple[Array])
    assert_type(jacobian(loss, (0, 1))(w, w, y=w), tuple[Array, Array])
    assert_type(jacobian(loss, "w"), Any)
    assert_type(jacobian(loss, (0, 2))(w, w, w), tuple[Array, Array])
    assert_type(jacobian(loss, (0, 1, 2))(w, w, w), tuple[Array, Array, Array])
    assert_type(jacobian(loss, [0, 2])(w, w, y=w), tuple[Any, ...])
    assert_type(jacobian(three_and_aux, 2, has_aux=True)(w, w, both), tuple[Params, int])
    assert_type(
        jacobian(three_and_aux, (0, 2), has_aux=True)(w, w, both), tuple[tuple[Array, Params], int]
    )
    assert_type(jacobian(np.tanh)(w), Any)
    assert_type(jacobian(scaled_and_aux, has_aux=True)(w), tuple[Array, int])
    assert_type(jacobian(of_params)(both, w), Params)
    jacobian(scaled)(w, factor="a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    jacobian(scaled, chunk=2)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    jacobian(3.0)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]


def hessians(hessian: Hessian) -> None:
    assert_type(hessian(loss)(w, x=w, y=w, rate=1.0), Array)
    assert_type(hessian(loss, 1)(w, w, w), Array)
    assert_type(hessian(loss, (0,))(w, w, w), tuple[tuple[Array]])
    assert_type(hessian(loss, (0, 1))(w, w, w), tuple[tuple[Array, Array], tuple[Array, Array]])
    assert_type(hessian(loss, (0, 2))(w, w, w), tuple[tuple[Array, Array], tuple[Array, Array]])
    assert_type(hessian(loss, [0])(w, w, y=w), tuple[tuple[Any, ...], ...])
    assert_type(
        hessian(three_and_aux, (0,), has_aux=True)(w, w, both), tuple[tuple[tuple[Array]], int]
    )
    assert_type(hessian(scaled_and_aux, has_aux=True)(w), tuple[Array, int])
    hessian(loss)("a", w, w)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
