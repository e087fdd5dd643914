"""What type checkers make of the tape and of rules; see transforms.py beside this file."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw

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
gw.defvjp(power, 3.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def formula(xp: Any, g: Any, x: Any) -> Any:
    return g * xp.exp(x)


gw.defvjp(power, formula)
gw.testing.check_grads(power, [array], order=1)
