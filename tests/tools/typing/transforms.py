"""Types of the transforms: not run, but checked by tests/tools/test_typing.py.

A line with an `ignore` is an error that both checkers must find: both are told to report an
`ignore` that is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[np.float64]


class Params(TypedDict):
    w: Array
    b: Array


class Layer(NamedTuple):
    w: Array
    b: float


def loss(w: Array, x: Array, y: Array, *, rate: float = 0.1) -> np.float64:
    return np.float64(((x @ w - y) ** 2).sum() * rate)


def loss_of_params(params: Params, x: Array) -> float:
    return float((params["w"] * x).sum())


def loss_of_layer(layer: Layer) -> Any:
    return (layer.w * layer.b).sum()


def loss_and_aux(w: Array, x: Array) -> tuple[np.float64, dict[str, int]]:
    return np.float64((w * x).sum()), {"n": x.size}


def three_and_aux(w: Array, x: float, y: Params, *, rate: float = 0.1) -> tuple[float, str]:
    return float(w.sum() * x * y["w"].sum() * rate), "aux"


def residuals(w: Array) -> tuple[Array, Array]:
    return w, w


def nothing(w: Array) -> None:
    del w


def scaled(x: Array, factor: float = 2.0) -> Array:
    return x * factor


def number(x: float) -> float:
    return x**2


def of_list(values: list[float]) -> float:
    return sum(value**2 for value in values)


def holomorphic(z: complex) -> complex:
    return z**2


w: Array = np.ones(3)

# grad ---------------------------------------------------------------------------------------------

gradient = gw.grad(loss)
assert_type(gradient(w, w, w), Array)
assert_type(gradient(w, w, y=w, rate=1.0), Array)
assert_type(gw.grad(loss, 1)(w, w, w), Array)
assert_type(gw.grad(loss, argnums=(0, 1))(w, w, y=w), tuple[Array, Array])
assert_type(gw.grad(loss, 2)(w, w, w), Array)
assert_type(gw.grad(loss, (0,))(w, w, w), tuple[Array])
assert_type(gw.grad(loss, argnums=(0, 2))(w, w, w, rate=1.0), tuple[Array, Array])
assert_type(gw.grad(loss, argnums=(0, 1, 2))(w, w, w), tuple[Array, Array, Array])
assert_type(gw.grad(number)(2.0), float)
assert_type(gw.grad(gw.grad(number))(2.0), float)
assert_type(gw.grad(of_list)([1.0, 2.0]), list[float])
assert_type(gw.value_and_grad(of_list)([1.0, 2.0]), tuple[float, list[float]])
assert_type(gw.grad(holomorphic, holomorphic=True)(1j), complex)
assert_type(gw.grad(loss_of_params)({"w": w, "b": w}, w), Params)
assert_type(gw.grad(loss_of_layer)(Layer(w, 1.0)), Layer)
assert_type(gw.grad(loss_and_aux, has_aux=True)(w, w), tuple[Array, dict[str, int]])
assert_type(
    gw.grad(loss_and_aux, (0, 1), has_aux=True)(w, w), tuple[tuple[Array, Array], dict[str, int]]
)
both: Params = {"w": w, "b": w}
with_aux = gw.grad(three_and_aux, has_aux=True)
assert_type(with_aux(w, 1.0, y=both, rate=2.0), tuple[Array, str])
assert_type(gw.grad(three_and_aux, 1, has_aux=True)(w, 1.0, both), tuple[float, str])
assert_type(gw.grad(three_and_aux, 2, has_aux=True)(w, 1.0, both), tuple[Params, str])
assert_type(gw.grad(three_and_aux, (0,), has_aux=True)(w, 1.0, both), tuple[tuple[Array], str])
assert_type(
    gw.grad(three_and_aux, (0, 2), has_aux=True)(w, 1.0, both), tuple[tuple[Array, Params], str]
)
assert_type(
    gw.grad(three_and_aux, (0, 1, 2), has_aux=True)(w, 1.0, both, rate=2.0),
    tuple[tuple[Array, float, Params], str],
)
assert_type(
    gw.grad(three_and_aux, [2, 0], has_aux=True)(w, 1.0, y=both), tuple[tuple[Any, ...], str]
)

gradient(w, w)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
gradient(w, w, w, rate="a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gradient("a", w, w)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.grad(residuals)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
gw.grad(nothing)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
gw.grad(loss_and_aux)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]

# Positions that are not written out, and names: anything

assert_type(gw.grad(loss, "rate")(w, w, w, rate=1.0), Any)
assert_type(gw.grad(loss, ("w", "rate"))(w, w, w, rate=1.0), Any)
assert_type(gw.grad(loss, [0, 2])(w, w, y=w, rate=1.0), tuple[Any, ...])
assert_type(gw.grad(loss, (2, 0))(w, w, w), Any)


def at(position: int) -> Any:
    return assert_type(gw.grad(loss, position)(w, w, w), Any)


# A decorator; and twice
@gw.grad
def slope(x: float) -> float:
    return x**3


assert_type(slope(2.0), float)
second = gw.grad(slope)
assert_type(second(2.0), float)

# The parameters of lambdas are Any
from_lambda: Callable[[Array], Array] = gw.grad(lambda x: float(x @ x))
gw.grad(lambda x: x.sum() * x.unknown_attribute)(w)
gw.grad(lambda a, b: (a * b).sum(), (0, 1))(w, w)
gw.testing.check_grads(lambda a, b: (a * b).sum(), (w, w))
gw.apply_where(w > 0.0, (w, w), lambda a, b: a / b)
gw.testing.check_grads(3.0, (w,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# value_and_grad -----------------------------------------------------------------------------------

assert_type(gw.value_and_grad(loss)(w, w, w), tuple[np.float64, Array])
assert_type(gw.value_and_grad(loss, 1)(w, w, w), tuple[np.float64, Array])
assert_type(gw.value_and_grad(loss, (0, 1))(w, w, w), tuple[np.float64, tuple[Array, Array]])
assert_type(gw.value_and_grad(loss, [0, 2])(w, w, y=w), tuple[np.float64, tuple[Any, ...]])
assert_type(
    gw.value_and_grad(three_and_aux, 2, has_aux=True)(w, 1.0, both),
    tuple[tuple[float, str], Params],
)
assert_type(
    gw.value_and_grad(three_and_aux, (0, 1, 2), has_aux=True)(w, 1.0, both),
    tuple[tuple[float, str], tuple[Array, float, Params]],
)
assert_type(
    gw.value_and_grad(three_and_aux, [0], has_aux=True)(w, 1.0, both),
    tuple[tuple[float, str], tuple[Any, ...]],
)
assert_type(
    gw.value_and_grad(loss_and_aux, has_aux=True)(w, w),
    tuple[tuple[np.float64, dict[str, int]], Array],
)
assert_type(gw.value_and_grad(loss, 2)(w, w, w), tuple[np.float64, Array])
assert_type(gw.value_and_grad(loss, (0, 2))(w, w, w), tuple[np.float64, tuple[Array, Array]])
gw.value_and_grad(residuals)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType, reportCallIssue]

# elementwise_grad, stop_gradient ------------------------------------------------------------------

assert_type(gw.elementwise_grad(scaled)(w), Array)
assert_type(gw.elementwise_grad(scaled)(w, factor=3.0), Array)
assert_type(gw.elementwise_grad(scaled, 1)(w, 3.0), float)
assert_type(gw.elementwise_grad(np.tanh)(w), Any)
assert_type(gw.stop_gradient(w), Array)
assert_type(gw.stop_gradient(Layer(w, 1.0)), Layer)

# vjp ----------------------------------------------------------------------------------------------

out, pull = gw.vjp(scaled, w, 2.0)
assert_type(out, Array)
assert_type(pull(w), tuple[Array, float])
assert_type(gw.vjp(scaled, w)[1](w), tuple[Array])
assert_type(gw.vjp(loss_and_aux, w, w, has_aux=True)[2], dict[str, int])
pull("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.vjp(scaled, "a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
assert_type(gw.vjp(np.tanh, w)[0], Any)
assert_type(gw.vjp(lambda x: -x, w)[1](w), tuple[Array])
