"""Types of a `Variable`: operators, attributes, methods; see transforms.py."""

from __future__ import annotations

from typing import Any, Literal, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw
from gradwrap.core.array.flat import Flat

Array = NDArray[np.float64]
Var = gw.Variable[Array]

array: Array = np.ones((3, 3))
mask: NDArray[np.bool_] = array > 0.5
x = gw.wrap(array, requires_grad=True)

# What it is ---------------------------------------------------------------------------------------

assert_type(x, gw.Variable[NDArray[np.float64]])
assert_type(gw.wrap(np.ones(3, dtype=np.float32)).data.dtype, np.dtype[np.float32])
assert_type(x.data, Array)
assert_type(x.grad, Array | None)
assert_type(x.dtype, np.dtype[np.float64])
assert_type(x.device, Literal["cpu"])
assert_type(x.shape, tuple[int, ...])
assert_type((x.ndim, x.size, x.nbytes, x.itemsize, len(x)), tuple[int, int, int, int, int])
assert_type(x.T, Var)
assert_type(x.mT, Var)
assert_type(x.real, Var)
assert_type(x.flat, Flat[Var])
assert_type(x.flat[0], Var)
assert_type(x.item(), Any)
assert_type(float(x), float)
_ = x.shpe  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
x.shape = (9,)
x.real = x.imag = x.flat = 1.0
x.ndim = 1  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def of_no_dtype(y: gw.Variable[str]) -> None:
    _ = y.dtype  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def of_anything(y: gw.Variable[Any]) -> None:
    assert_type(y.dtype, Any)
    assert_type(y.grad, Any | None)
    assert_type(y * 2.0, gw.Variable[Any])


# Operators, from both sides -----------------------------------------------------------------------

assert_type(x + x, Var)
assert_type(x * 2.0, Var)
assert_type(2.0 * x, Var)
assert_type(2 - x, Var)
assert_type(x * np.float64(2.0), Var)
assert_type(np.float64(2.0) * x, Var)
assert_type(np.float32(2.0) * x, Var)
assert_type(x * array, Var)
assert_type(x @ array, Var)
assert_type(gw.wrap(array) * x, Var)
assert_type(gw.wrap(array) @ x, Var)
assert_type(x**2, Var)
assert_type(-x, Var)
assert_type(abs(x), Var)
assert_type(divmod(x, 2.0), tuple[Var, Var])
assert_type(sum(row for row in x), Var | Literal[0])
x += 1.0
assert_type(x, Var)

# Comparisons: of bools, whose dtype is another
assert_type(x > 0.0, gw.Variable[Any])
assert_type(0.0 < x, gw.Variable[Any])  # noqa: SIM300  the reflected operator
assert_type(x == array, gw.Variable[Any])
assert_type((x > 0.0).data, Any)
assert_type(bool(x[0, 0] > 0.0), bool)

# Items

assert_type(x[0], Var)
assert_type(x[0, 1:, None, ...], Var)
assert_type(x[mask], Var)
assert_type(x[x > 0.0], Var)
assert_type([row for row in x], list[Var])  # noqa: C416  iteration is the subject
first, *others = x
assert_type(first, Var)
assert_type(others, list[Var])
x[0] = 2.0
x[mask] = x[mask] * 2.0

# Methods ------------------------------------------------------------------------------------------

assert_type(x.sum(), Var)
assert_type(x.sum(axis=0, keepdims=True), Var)
assert_type(x.mean((0, 1)), Var)
assert_type(x.std(ddof=1), Var)
assert_type(x.max(axis=-1), Var)
assert_type(x.reshape(9), Var)
assert_type(x.reshape((3, -1)), Var)
assert_type(x.transpose(1, 0), Var)
assert_type(x.dot(array).clip(0.0, 1.0).cumsum(axis=0), Var)
assert_type(x.take([0, 1], axis=1), Var)
assert_type(x.astype(np.float32), gw.Variable[Any])
assert_type(x.argmax(axis=0), gw.Variable[Any])
assert_type(x.nonzero(), tuple[gw.Variable[Any], ...])
assert_type(x.sort(), None)
assert_type(x.copy(), Var)
assert_type(x.clone(), Var)
x.summ()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
x.sum(axes=0)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
x.sum("rows")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
x.clip(0.0, 1.0, array)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# What NumPy's stubs say, to which a variable is an array. It is not: docs/types.md has the ways out

plain: NDArray[Any] = array * x
assert_type(np.sum(x), Any)
np.concatenate([x, np.where(x > 0.0, x, 0.0)])
np.linalg.inv(np.mean(x) * x)

# The tape -----------------------------------------------------------------------------------------


def descend(data: Array, target: Array, rate: float) -> float:
    weights = gw.wrap(np.zeros(3), requires_grad=True)
    error = gw.wrap(data) @ weights - target
    loss = (error**2).mean()
    loss.backward()
    with gw.no_grad():
        assert weights.grad is not None
        weights -= rate * weights.grad
    return float(loss.item())


handle = x.register_hook(lambda g: g * 2.0)
assert_type(handle, gw.autograd.RemovableHandle)
assert_type(x.requires_grad_(), Var)
assert_type(x.detach(), Var)
x.backward(gradient=x)
x.backward("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
x.data = array
x.data = "a"  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
x.grad = None
x.grad = "a"  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
