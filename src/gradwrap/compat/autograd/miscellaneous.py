"""`misc` of HIPS autograd: flattening, optimisers, fixed points."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compat.autograd.operators import make_vjp, vspace
from gradwrap.compat.autograd.primitives import defvjp, primitive
from gradwrap.core.values.tree import flatten as flatten_tree
from gradwrap.core.values.tree import unflatten as unflatten_tree
from gradwrap.optimize.descending import adam_step, rmsprop_step, sgd_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.optimize.descending import Memory, Step

    Function = Callable[..., Any]


def flatten(value: Any) -> tuple[Any, Function]:
    """Return the numbers of nested containers as one vector, and the function back."""
    leaves, treedef = flatten_tree(value)
    shapes = [np.shape(leaf) for leaf in leaves]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    flat = np.concatenate([np.reshape(leaf, -1) for leaf in leaves]) if leaves else np.array([])

    def unflatten(vector: Any) -> Any:
        starts = [0, *ends[:-1]]
        parts = zip(starts, ends, shapes, strict=True)
        return unflatten_tree(treedef, [np.reshape(vector[a:b], s)[()] for a, b, s in parts])

    return flat, unflatten


def flatten_func(func: Function, example: Any) -> tuple[Function, Function, Any]:
    """Return a function of vectors, the function from vectors to containers, and the vector."""
    flat, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, flat


@primitive
def fixed_point(f: Function, a: Any, x0: Any, distance: Function, tol: float) -> Any:
    """Return x with f(a)(x) = x, by repeating f(a)."""
    step = f(a)
    x, before = step(x0), x0
    while distance(x, before) > tol:
        x, before = step(x), x
    return x


def _fixed_point_vjp(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: Any) -> Function:
    pull_a, _ = make_vjp(lambda a: f(a)(ans))(a)
    pull_x, _ = make_vjp(f(a))(ans)
    space = vspace(x0)

    def vjp(g: Any) -> Any:
        def step(total: Any) -> Any:
            return space.add(pull_x(total), g)

        return pull_a(fixed_point.fun(lambda _: step, a, space.zeros(), distance, tol))

    return vjp


defvjp(fixed_point, None, _fixed_point_vjp, None)


def const_graph(fun: Function, *args: Any, **kwargs: Any) -> Function:
    """Return the function with arguments bound. HIPS autograd repeats a recorded graph here."""
    return functools.partial(fun, *args, **kwargs)


# Optimisers ---------------------------------------------------------------------------------------


def _descended(
    grad: Function, x0: Any, callback: Any, count: int, step: Step, memory: Memory
) -> Any:
    x, unflatten = flatten(x0)
    for i in range(count):
        g = flatten(grad(unflatten(x), i))[0]
        if callback:
            callback(unflatten(x), i, unflatten(g))
        x = step(x, g, memory, i)
    return unflatten(x)


def sgd(
    grad: Function,
    x0: Any,
    callback: Any = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Descend with momentum; the gradient counts with the weight `1 - mass`."""
    step = sgd_step(lambda _: (1.0 - mass) * step_size, mass)
    return _descended(grad, x0, callback, num_iters, step, {})


def rmsprop(
    grad: Function,
    x0: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """Descend; divide each step by the root of a running mean of squared gradients."""
    step = rmsprop_step(lambda _: step_size, gamma, eps)
    return _descended(grad, x0, callback, num_iters, step, {"square": 1.0})


def adam(
    grad: Function,
    x0: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Descend by Adam: the mean of the gradients, over the root of the mean of their squares."""
    step = adam_step(lambda _: step_size, b1, b2, eps)
    return _descended(grad, x0, callback, num_iters, step, {})
