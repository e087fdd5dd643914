"""A Black-Scholes-like price: some thirty elementwise ops on long arrays."""

import numpy as np

from .base import Array, Namespace, Traced, Workload

N = 1_000_000
RATE = 0.03
SLOPE = 1.702  # of the logistic function that stands for the normal distribution


def price(np: Namespace, s: Traced, k: Traced, t: Traced, sigma: Traced) -> Traced:
    """Return the total price of European calls, with the normal distribution taken as logistic."""
    spread = sigma * np.sqrt(t)
    d1 = (np.log(s / k) + (RATE + 0.5 * sigma * sigma) * t) / spread
    d2 = d1 - spread
    n1 = 1 / (1 + np.exp(-SLOPE * d1))
    n2 = 1 / (1 + np.exp(-SLOPE * d2))
    return np.sum(s * n1 - k * np.exp(-RATE * t) * n2)


def price_by_hand(np: Namespace, s: Array, k: Array, t: Array, sigma: Array) -> tuple[Array, ...]:
    """Differentiate with respect to every argument, with common subexpressions computed once."""
    root = np.sqrt(t)
    spread = sigma * root
    drift = RATE + 0.5 * sigma * sigma
    d1 = (np.log(s / k) + drift * t) / spread
    d2 = d1 - spread
    n1 = 1 / (1 + np.exp(-SLOPE * d1))
    n2 = 1 / (1 + np.exp(-SLOPE * d2))
    kd = k * np.exp(-RATE * t)
    g2 = -SLOPE * kd * n2 * (1 - n2)
    g1 = SLOPE * s * n1 * (1 - n1) + g2
    g_spread = -g2 - g1 * d1 / spread
    g_top = g1 / spread
    return (
        n1 + g_top / s,
        -(kd * n2 + g_top) / k,
        RATE * kd * n2 + g_top * drift + g_spread * sigma * 0.5 / root,
        g_top * sigma * t + g_spread * root,
    )


def data(rng: np.random.Generator, *, n: int = N) -> tuple[Array, ...]:
    """Return prices, strikes, times and volatilities as on a market."""
    return (
        rng.uniform(80, 120, n),
        rng.uniform(80, 120, n),
        rng.uniform(0.2, 2, n),
        rng.uniform(0.1, 0.4, n),
    )


BLACK_SCHOLES = Workload(
    name="black-scholes",
    title="Black-Scholes-like formula, n = 1,000,000",
    fun=price,
    by_hand=price_by_hand,
    data=data,
    argnums=(0, 1, 2, 3),
    bound=2.0,
    expected={"autograd": 2.4, "torch": 2.3},
)
