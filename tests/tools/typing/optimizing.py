"""Types of `gw.optimize`, `gw.tree`, `gw.ravel_pytree` and sparse Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.typing.sparse import LinearOperator, SparseArray

Array = NDArray[np.float64]


class Params(TypedDict):
    w: Array
    b: float


def loss(p: Params, x: Array, *, rate: float = 0.1) -> np.float64:
    return np.float64(((x * p["w"] + p["b"]) ** 2).sum() * rate)


def residuals(p: Params, x: Array) -> Array:
    return x * p["w"] + p["b"]


def scaled(x: Array, factor: float = 2.0) -> Array:
    return x * factor


def scaled_and_aux(x: Array) -> tuple[Array, int]:
    return x, x.size


w: Array = np.ones(3)
start: Params = {"w": w, "b": 0.0}

# Minimising ---------------------------------------------------------------------------------------

found = gw.optimize.minimize(loss, start, (w,), method="BFGS", gtol=1e-9)
assert_type(found, gw.optimize.OptimizeResult[Params])
assert_type(found.x, Params)
assert_type(found.nit, int)
assert_type(found["hess_inv"], Any)
gw.optimize.minimize(loss, w, (w,))  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
assert_type(gw.optimize.minimize(lambda x: np.sum(x**2), w).x, Array)
assert_type(gw.optimize.least_squares(residuals, start, (w,), bounds=(0.0, 1.0)).x, Params)
assert_type(gw.optimize.adam(loss, start, (w,), steps=3), gw.optimize.Descent[Params])
assert_type(gw.optimize.sgd(loss, start, batches=[w]).x, Params)
assert_type(
    gw.optimize.rmsprop(loss, start, (w,), learning_rate=lambda step: 1.0 / step).jac, Params
)
accumulated = gw.optimize.accumulate_gradients(loss, start, gw.optimize.minibatches(w, size=2))
assert_type(accumulated, tuple[Any, Params])
gw.optimize.accumulate_gradients(loss, start, [], reduction="all")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.optimize.adam(loss, start, (w,), steps="3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.optimize.adma  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # noqa: B018

# Containers ---------------------------------------------------------------------------------------

leaves, structure = gw.tree.flatten(start)
assert_type(leaves, list[Any])
assert_type(gw.tree.unflatten(structure, leaves), Any)
assert_type(gw.tree.map(lambda p, g: p - g, start, start), Params)
assert_type(gw.tree.leaves(start), list[Any])
flat, unravel = gw.ravel_pytree(start)
assert_type(unravel(flat), Params)

# Sparse Jacobians ---------------------------------------------------------------------------------

jacobian = gw.jacobian(scaled, sparsity=np.eye(3))
assert_type(jacobian(w, factor=3.0), "SparseArray")
assert_type(jacobian(w).toarray(), NDArray[Any])
jacobian(w, factor="a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(gw.hessian(scaled, sparsity="detect")(w).toarray(), NDArray[Any])
with_aux = gw.jacrev(scaled_and_aux, sparsity=np.eye(3), has_aux=True)
pair: Callable[[Array], tuple[SparseArray, int]] = with_aux

# Operators, fixed points, options -----------------------------------------------------------------

operator: LinearOperator = gw.linear_operator(scaled, w)
assert_type(gw.linear_operator(scaled, w) @ w, Any)
assert_type(gw.linear_operator(scaled, w).matvec(w), NDArray[Any])
assert_type(gw.hessian_diagonal(loss)(start, w), Params)
assert_type(gw.hessian_diagonal(loss, 1)(start, w), Array)
assert_type(gw.fixed_point(scaled, w), Array)
out, push, aux = gw.linearize(scaled_and_aux, w, has_aux=True)
assert_type(out, Array)
assert_type(push(w), Array)
assert_type(aux, int)
assert_type(gw.vmap(scaled, in_axes=None, axis_size=3)(w), Array)
assert_type(gw.checkpoint(scaled, w), Array)
assert_type(gw.checkpoint(scaled, w, factor=3.0), Array)
assert_type(gw.checkpoint(scaled, policy=("matmul",), static_argnums=1)(w, 3.0), Array)
gw.checkpoint(scaled, "a")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]

# Methods of a tensor ------------------------------------------------------------------------------

x = gw.wrap(w, requires_grad=True)
assert_type(x.pow(2).mm(x.t()).relu().softmax(dim=1), gw.Variable[Array])
assert_type(x.mul_(2.0).zero_(), gw.Variable[Array])
assert_type(x.add(x, alpha=2.0), gw.Variable[Array])
assert_type(x.eq(x), gw.Variable[Any])
assert_type(x.float(), gw.Variable[Any])
assert_type(x.split(2), tuple[gw.Variable[Array], ...])
assert_type(x.numel(), int)
assert_type(x.numpy(), NDArray[Any])
x.add()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
x.bernoulli_()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

# Sizes of chunks ----------------------------------------------------------------------------------

assert_type(gw.jacrev(scaled, chunk_size="64 MiB")(w), Array)
assert_type(gw.vmap(scaled, chunk_size=8)(w), Array)
assert_type(gw.vmap(scaled, chunk_size="1 GB")(w), Array)
gw.hessian(scaled, chunk_size=2.5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
