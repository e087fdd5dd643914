"""The Rosenbrock function, by a Python loop over single elements and vectorised."""

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .base import Array, Growth, Namespace, Traced, Workload


def loop(np: Namespace, x: Traced) -> Traced:  # noqa: ARG001  nothing but operators
    """Compute the function element by element, as its definition reads."""
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def loop_for_jax(np: Namespace, x: Traced) -> Traced:  # noqa: ARG001  nothing but operators
    """Use JAX's own loop; `jit` would unroll Python's, and compile for minutes."""

    def add_term(i: Any, total: Traced) -> Traced:
        return total + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2

    lax: Any = import_module("jax.lax")
    return lax.fori_loop(0, len(x) - 1, add_term, 0.0)


def loop_by_hand(np: Namespace, x: Array) -> tuple[Array]:
    """Compute the gradient element by element too, to compare a loop with a loop."""
    g = np.zeros_like(x)
    for i in range(len(x) - 1):
        xi = x[i]
        d = x[i + 1] - xi * xi
        g[i] -= 400 * xi * d + 2 * (1 - xi)
        g[i + 1] += 200 * d
    return (g,)


def vectorised(np: Namespace, x: Traced) -> Traced:
    """Compute the same function by slices."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def vectorised_by_hand(np: Namespace, x: Array) -> tuple[Array]:
    """Compute the closed form by slices."""
    g = np.zeros_like(x)
    d = x[1:] - x[:-1] ** 2
    g[:-1] -= 400 * x[:-1] * d + 2 * (1 - x[:-1])
    g[1:] += 200 * d
    return (g,)


def _data(rng: np.random.Generator, *, n: int) -> tuple[Array, ...]:
    return (rng.normal(size=n),)


LOOP_1000 = Workload(
    name="loop-1000",
    title="Rosenbrock by a Python loop, n = 1,000",
    fun=loop,
    by_hand=loop_by_hand,
    data=partial(_data, n=1000),
    bound=60.0,
    expected={"autograd": 517.0, "torch": 130.0},
    own={"jax": loop_for_jax},
)
LOOP_4000 = Workload(
    name="loop-4000",
    title="Rosenbrock by a Python loop, n = 4,000",
    fun=loop,
    by_hand=loop_by_hand,
    data=partial(_data, n=4000),
    own={"jax": loop_for_jax},
)
LOOP_GROWTH = Growth(
    name="loop-growth",
    title="Rosenbrock by a Python loop, time at n = 4,000 / at 1,000",
    small=LOOP_1000.name,
    large=LOOP_4000.name,
    bound=4.4,
)
VECTORISED = Workload(
    name="rosenbrock",
    title="Rosenbrock vectorised, n = 1,000,000",
    fun=vectorised,
    by_hand=vectorised_by_hand,
    data=partial(_data, n=1_000_000),
    bound=3.0,
    expected={"autograd": 7.0, "torch": 3.9},
)
