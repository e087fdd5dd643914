"""Types of the tape and of rules; see transforms.py beside this file."""

from __future__ import annotations

import dataclasses
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw
from gradwrap.core.table import kinds
from gradwrap.core.table.registry import register

Array = NDArray[np.float64]
array: Array = np.ones(3)

# The tape -----------------------------------------------------------------------------------------

x = gw.wrap(array, requires_grad=True)
assert_type(x, gw.Variable[Array])
assert_type(gw.wrap(x), gw.Variable[Array])
assert_type(gw.unwrap(x), Array)
assert_type(gw.unwrap(array), Array)
assert_type(x.data, Array)
assert_type(x.grad, Array | None)
assert_type(x.detach(), gw.Variable[Array])
assert_type(x.shape, tuple[int, ...])
assert_type(x * 2.0 + x[0], gw.Variable[Array])
assert_type(-x.T @ x, gw.Variable[Array])
x.backward(array, retain_graph=True)
gw.autograd.backward([x, x], [None, array])
x.backward(array, True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
x.requires_grd = True  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


@gw.no_grad()
def evaluate(x: Array, scale: float = 1.0) -> Array:
    return x * scale


assert_type(evaluate(array, scale=2.0), Array)
evaluate("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

with gw.no_grad(), gw.enable_grad(), gw.set_grad_enabled(True):
    assert_type(gw.is_grad_enabled(), bool)

# Rules --------------------------------------------------------------------------------------------


def formula_of_one(g: Any) -> Any:
    return g


def formula(xp: Any, g: Any, x: Any) -> Any:
    return g * xp.exp(x)


def formula_of_strings() -> str:
    return "g"


def formula_that_needs_a_keyword(xp: Any, g: Any, *, scale: float) -> Any:
    return g * scale


@gw.primitive
def power(x: Array, k: int = 2) -> Array:
    return x**k


assert_type(power(array), Array)
assert_type(power(array, k=3), Array)
power(array, k="a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defvjp(power, lambda xp, g, x, k: g * k * x ** (k - 1))
gw.defvjp("sin", lambda xp, g, x: g * xp.cos(x), backend="numpy")
gw.defvjp(np.cbrt, lambda xp, g, out: g / (3 * out**2), params="x")
gw.defvjp(power, None, None)
gw.defvjp(power, "g * x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defvjp(power, formula_of_one)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defvjp(power, formula, bakend="numpy")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
gw.defvjp(3.0, formula)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defjvp(power, "t * x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defjvp(power, formula_of_one)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defjvp(3.0, formula)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defjvp(power, formula, parms="x")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
gw.defvjp(power, formula_of_strings)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defvjp(power, formula_that_needs_a_keyword)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defvjp(power, [formula])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defvjp(power, 3.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.defvjp(power, formula)
gw.testing.check_grads(power, [array], order=1)
gw.testing.check_grads(power, [array], modes=("fwd",))
gw.defjvp(power, lambda xp, t, x, k: t * k * x ** (k - 1))
assert_type(gw.testing.check_rule(power, array, 3), gw.testing.RuleReport)

# An entry of the library's own table
kinds.elementwise("exponential", "x", formula, samples=("x(3)",), domain=(0.0, 1.0))
kinds.elementwise("twice", "x", "2 * g")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
kinds.linear("twice", "x, /")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
kinds.general("twice", "x, /", formula, smaples=())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
kinds.general("twice", "x, /", formula, order="one")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
register([formula])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]

# Functions with a rule of their own ---------------------------------------------------------------


@gw.custom_vjp
def scaled(x: Array, scale: float = 2.0) -> Array:
    return x * scale


scaled.defvjp(lambda x, scale: (x * scale, scale), lambda scale, g: (g * scale, None))
assert_type(scaled(array, scale=3.0), Array)
scaled("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
scaled.defvjp(lambda x, scale: x, lambda scale, g: None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
scaled.defvjp(lambda x, scale: (x, None))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
scaled.defvjp(3, 4)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.custom_vjp(scaled, nondiff_argnums="x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.custom_vjp(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@gw.custom_jvp
def shifted(x: Array) -> Array:
    return x + 1.0


@shifted.defjvp
def shifted_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return shifted(*primals), tangents[0]


assert_type(shifted(array), Array)
assert_type(shifted_jvp((array,), (array,)), tuple[Array, Array])
shifted.defjvps(lambda t, out, x: t)
shifted.defjvp(3)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
shifted.defjvps(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.primitive(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


class Cube(gw.Function):
    @staticmethod
    def forward(ctx: Any, x: Array) -> Array:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @gw.once_differentiable
    def backward(ctx: Any, g: Array) -> Array:
        x: Array = ctx.saved_tensors[0]
        return g * 3 * x**2


assert_type(Cube.apply(array), Array)
assert_type(Cube.backward(None, array), Array)


class Scaled(gw.Function):
    @staticmethod
    def forward(ctx: gw.FunctionCtx, x: Array, *, rate: float = 2.0) -> tuple[Array, Array]:
        ctx.rate = rate
        ctx.save_for_backward(x)
        return x * rate, x

    @staticmethod
    def backward(ctx: gw.FunctionCtx, g: Array, _: Array) -> Array:
        assert_type(ctx.rate, Any)
        assert_type(ctx.saved_tensors, tuple[Any, ...])
        return g * float(ctx.rate)


class Squared(gw.Function):
    @staticmethod
    def forward(ctx: gw.FunctionCtx[Array], x: Array) -> Array:
        ctx.save_for_backward(x, None)
        ctx.save_for_backward("x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        return x**2

    @staticmethod
    def backward(ctx: gw.FunctionCtx[Array], g: Array) -> Array:
        assert_type(ctx.saved_tensors, tuple[Array, ...])
        assert_type(ctx.note, Any)
        (x,) = ctx.saved_tensors
        return g * 2.0 * x


class Doubled(gw.Function):
    @staticmethod
    def forward(x: Array, label: str = "") -> Array:
        return 2.0 * x

    @staticmethod
    def setup_context(ctx: gw.FunctionCtx, inputs: tuple[Any, ...], output: Array) -> None:
        ctx.label = inputs[1]

    @staticmethod
    def backward(ctx: gw.FunctionCtx, g: Array) -> tuple[Array, None]:
        return 2.0 * g, None


assert_type(Scaled.apply(array, rate=3.0), tuple[Array, Array])
assert_type(Doubled.apply(array, "x"), Array)
assert_type(Doubled.apply(array, label="x"), Array)
assert_type(Doubled.apply(gw.wrap(array)), Any)  # on the tape: annotate the result
with gw.saved_tensors_hooks(lambda a: a.copy(), lambda kept: kept), gw.save_on_cpu():
    pass
gw.saved_tensors_hooks(3, 4)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Implicit differentiation -------------------------------------------------------------------------


def solve(f: Any, b: Array) -> Array:
    return b


assert_type(gw.custom_linear_solve(lambda x: 2 * x, array, solve, symmetric=True), Array)
assert_type(gw.custom_root(lambda x: x, array, solve), Array)

# Pytrees ------------------------------------------------------------------------------------------


@gw.register_pytree
@dataclasses.dataclass
class Point:
    x: Array


assert_type(Point(array).x, Array)
gw.register_pytree(Point, lambda p: ((p.x,), None), lambda aux, parts: Point(*parts))
