"""A chain of 1,000 ops, for the cost of one op (10 elements) and of copying (1e5 elements)."""

from functools import partial

import numpy as np

from .base import Array, Namespace, Traced, Workload

TURNS = 125  # of eight ops each


def chain(np: Namespace, x: Traced, b: Traced, *, turns: int = TURNS) -> Traced:
    """Apply eight unary and binary ops again and again."""
    y = x
    for _ in range(turns):
        y = np.sin(y)
        y = y * x
        y = y + b
        y = y * 0.9
        y = y - 0.1
        y = y + 1.0
        y = np.sqrt(y)
        y = y / 1.5
    return np.sum(y)


def chain_by_hand(np: Namespace, x: Array, b: Array, *, turns: int = TURNS) -> tuple[Array]:
    """Keep the arrays for backward in a list, then walk the list backward."""
    y = x
    saved: list[tuple[Array, Array, Array]] = []
    for _ in range(turns):
        s = np.sin(y)
        r = np.sqrt((s * x + b) * 0.9 - 0.1 + 1.0)
        saved.append((y, s, r))
        y = r / 1.5
    g = np.ones_like(x)
    gx = np.zeros_like(x)
    for y, s, r in reversed(saved):
        g = g / 1.5
        g = g * 0.5 / r
        g = g * 0.9
        gx += g * s
        g = g * x
        g = g * np.cos(y)
    return (gx + g,)


def data(rng: np.random.Generator, *, n: int) -> tuple[Array, ...]:
    """Return numbers of moderate size, which remain so along the chain."""
    return rng.uniform(0.5, 1.5, n), rng.uniform(0.05, 0.1, n)


SMALL = Workload(
    name="chain-small",
    title="chain of 1,000 ops on 10 elements",
    fun=chain,
    by_hand=chain_by_hand,
    data=partial(data, n=10),
    bound=3.0,
    expected={"autograd": 13.6, "torch": 5.6},
)
LARGE = Workload(
    name="chain-large",
    title="chain of 1,000 ops on 100,000 elements",
    fun=chain,
    by_hand=chain_by_hand,
    data=partial(data, n=100_000),
    bound=1.3,
    expected={"autograd": 1.0, "torch": 0.6},
)
