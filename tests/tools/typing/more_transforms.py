"""Types of forward mode, vmap, Jacobians and checkpoint; see transforms.py."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[np.float64]


def loss(w: Array, x: Array, *, rate: float = 0.1) -> np.float64:
    return np.float64((w * x).sum() * rate)


def scaled(x: Array, factor: float = 2.0) -> Array:
    return x * factor


def scaled_and_aux(x: Array, factor: float = 2.0) -> tuple[Array, int]:
    return x * factor, x.size


def number(x: float) -> float:
    return x**2


def returns_any(x: Any) -> Any:
    return x


w: Array = np.ones(3)

# jvp, linearize -----------------------------------------------------------------------------------

assert_type(gw.jvp(scaled, (w, 2.0), (w, 0.0)), tuple[Array, Array])
assert_type(gw.jvp(scaled, (w,), (w,)), tuple[Array, Array])
assert_type(gw.jvp(scaled, [w], [w]), tuple[Array, Array])
assert_type(gw.jvp(scaled_and_aux, (w,), (w,), has_aux=True), tuple[Array, Array, int])
assert_type(gw.jvp(loss, (w, w), (w, w)), tuple[np.float64, np.float64])

out, push = gw.linearize(scaled, w, 2.0)
assert_type(out, Array)
assert_type(push(w, 1.0), Array)
push(w, "a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.linearize(scaled, "a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
assert_type(gw.linearize(lambda x: -x, w)[1](w), Array)

# compile ------------------------------------------------------------------------------------------

assert_type(gw.compile(scaled)(w, factor=3.0), Array)
assert_type(gw.compile(gw.grad(loss), engine="c")(w, w, rate=1.0), Array)
gw.compile(scaled)("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.compile(engine="c", static=1)(scaled)("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(gw.compile(scaled).source, str)
whatever = gw.compile(returns_any(scaled))  # a compiled function, not the decorator
assert_type(whatever.source, str)

# vmap ---------------------------------------------------------------------------------------------

assert_type(gw.vmap(scaled)(w, factor=3.0), Array)
assert_type(gw.vmap(loss, in_axes=(None, 0))(w, x=w, rate=1.0), Array)
gw.vmap(loss)(w)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
gw.vmap(loss, fallback="never")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
gradient = gw.grad(loss)
assert_type(gw.vmap(gradient)(w, w, rate=1.0), Array)


@gw.vmap
def row_sum(row: Array) -> np.float64:
    return np.float64(row.sum())


assert_type(row_sum(row=w), Array)


def as_floats(row: Array) -> tuple[np.float64, Array]:
    return np.float64(row.sum()), row


assert_type(gw.vmap(as_floats)(w), tuple[Array, Array])
assert_type(gw.vmap(float)(1.0), Array)


class Rows:
    @gw.vmap
    def total(self, row: Array) -> np.float64:
        return np.float64(row.sum())


assert_type(Rows().total(w), Array)
assert_type(gw.vmap(gw.value_and_grad(loss))(w, w), tuple[Array, Array])
assert_type(gw.vmap(gw.grad(loss))(w, w, rate=1.0), Array)
assert_type(gw.vmap(gw.grad(loss, 1), in_axes=(None, 0))(w, w), Array)
assert_type(gw.vmap(gw.grad(loss, (0, 1)))(w, w), tuple[Array, Array])
assert_type(gw.vmap(gw.hessian(loss))(w, w), Array)
assert_type(gw.vmap(gw.grad(number))(2.0), Array)
gw.vmap(gw.grad(loss))(w)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
assert_type(gw.vmap(returns_any)(w), Any)
assert_type(gw.vmap(gw.grad(lambda x: np.sum(x * x)))(w), Any)
assert_type(gw.vmap(gw.vmap(row_sum))(w), Array)

# Jacobians: of the type of the argument -----------------------------------------------------------

assert_type(gw.jacrev(scaled)(w, factor=3.0), Array)
assert_type(gw.jacfwd(scaled)(w), Array)
assert_type(gw.jacobian(scaled)(w), Array)
assert_type(gw.jacobian(scaled_and_aux, has_aux=True)(w), tuple[Array, int])
assert_type(gw.jacrev(loss)(w, x=w, rate=1.0), Array)
assert_type(gw.jacobian(scaled, 1)(w, 2.0), Any)
assert_type(gw.jacobian(np.tanh)(w), Any)
assert_type(gw.jacfwd(returns_any)(w), Any)
assert_type(gw.hessian(returns_any)(w), Any)
assert_type(gw.hessian(loss)(w, w, rate=1.0), Array)
assert_type(gw.hvp(loss, (w, w), (w, w)), tuple[Array, Array])
assert_type(gw.hvp(np.sum, w, w), Array)
assert_type(gw.hvp(lambda x: np.sum(x**3), w, w), Array)
gw.jacrev(scaled)(w, factor="a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.hessian(loss)("a", w)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.hvp(loss, (w, w), (w, "a"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]

# checkpoint ---------------------------------------------------------------------------------------

assert_type(gw.checkpoint(scaled)(x=w, factor=3.0), Array)
gw.checkpoint(scaled)(w, factr=3.0)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

# scan ---------------------------------------------------------------------------------------------


def moved(carry: Array, x: Array) -> tuple[Array, np.float64]:
    return carry + x, np.sum(x)


def halved(carry: Array, _: None) -> tuple[Array, None]:
    return carry / 2.0, None


assert_type(gw.scan(moved, w, w), tuple[Array, Array])
assert_type(gw.scan(halved, w, length=3), tuple[Array, None])
gw.scan(moved, "a", w)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]

# Methods, partials, callables, decorators ---------------------------------------------------------


class Model:
    @gw.checkpoint
    def layer(self, x: Array, scale: float = 1.0) -> Array:
        return x * scale

    @gw.custom_vjp
    def clipped(self, x: Array, scale: float = 1.0) -> Array:
        return x * scale

    @gw.primitive
    def opaque(self, x: Array, scale: float = 1.0) -> Array:
        return x * scale

    def loss(self, w: Array, x: Array) -> np.float64:
        return loss(w, x)

    def __call__(self, w: Array, x: Array) -> np.float64:
        return loss(w, x)


model = Model()
assert_type(model.layer(w, scale=2.0), Array)
assert_type(model.clipped(w, scale=2.0), Array)
assert_type(model.opaque(w, scale=2.0), Array)
model.clipped(w, scale="a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
model.opaque("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(gw.grad(model.loss)(w, x=w), Array)
assert_type(gw.grad(model)(w, x=w), Array)
from_partial: Callable[[Array, Array], Array] = gw.grad(functools.partial(loss, rate=1.0))
partly = functools.partial(scaled, factor=3.0)
assert_type(gw.vjp(partly, w)[1](w), tuple[Array])
assert_type(gw.jvp(partly, (w,), (w,)), tuple[Array, Array])
assert_type(gw.linearize(partly, w)[1](w), Array)
assert_type(gw.checkpoint(partly)(w), Array)
assert_type(gw.vmap(partly)(w), Array)
assert_type(gw.value_and_grad(model.loss, (0, 1))(w, w), tuple[np.float64, tuple[Array, Array]])
assert_type(gw.value_and_grad(model)(w, x=w), tuple[np.float64, Array])
assert_type(gw.hessian(model.loss)(w, x=w), Array)
assert_type(gw.vmap(model.loss)(w, x=w), Array)
assert_type(gw.checkpoint(model)(w, x=w), np.float64)
assert_type(gw.vjp(model, w, w)[1](np.float64(1.0)), tuple[Array, Array])
assert_type(gw.jvp(model.loss, (w, w), (w, w)), tuple[np.float64, np.float64])
assert_type(gw.hvp(model, (w, w), (w, w)), tuple[Array, Array])
assert_type(gw.elementwise_grad(model.layer)(w, scale=2.0), Array)
assert_type(gw.custom_vjp(model.layer)(w, scale=2.0), Array)
assert_type(gw.primitive(model)(w, x=w), np.float64)


@gw.value_and_grad
def value_and_slope(w: Array, *, rate: float = 1.0) -> np.float64:
    return loss(w, w, rate=rate)


assert_type(value_and_slope(w, rate=2.0), tuple[np.float64, Array])


@functools.partial(gw.grad, argnums=1)
def slope_in_x(w: Array, x: Array) -> np.float64:
    return loss(w, x)


@gw.hessian
def curvature(w: Array, *, rate: float = 1.0) -> np.float64:
    return loss(w, w, rate=rate)


@gw.jacobian
def slopes(w: Array, *, rate: float = 1.0) -> Array:
    return w * rate


@gw.elementwise_grad
def derivative(w: Array, *, rate: float = 1.0) -> Array:
    return w * rate


@functools.partial(gw.custom_jvp, nondiff_argnums=(1,))
def to_the_power(w: Array, n: int) -> Array:
    return w**n


in_x: Array = slope_in_x(w, w)
assert_type(curvature(w, rate=2.0), Array)
assert_type(slopes(w, rate=2.0), Array)
assert_type(derivative(w, rate=2.0), Array)
to_the_power.defjvps(None)
derivative(w, rate="a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# The gradients of the tape are of the type of its inputs ------------------------------------------

v = gw.wrap(w, requires_grad=True)
y = v * v
assert_type(gw.autograd.grad(y, v, w), tuple[Array, ...])
assert_type(gw.autograd.grad([y], [v, v], [w]), tuple[Array, ...])
assert_type(gw.autograd.grad(y, v, w, create_graph=True), tuple[gw.Variable[Array], ...])
assert_type(gw.autograd.grad(y, v, w, allow_unused=True), tuple[Array | None, ...])
gw.autograd.grad(y, w)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
