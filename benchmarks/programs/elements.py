"""Programs that write element by element, row by row, or step by step, into arrays of their own."""

import numpy as np

from ..workloads import Array, Namespace, Workload
from ..workloads.base import Traced
from . import for_jax

_UNLIKE = {
    "autograd": "its arrays cannot be written to",
    "torch": "it refuses to write to an array of which a part was saved for backward",
}


def tridiagonal(np: Namespace, a: Traced, b: Traced, c: Traced, d: Traced) -> Traced:
    """Return the mean square of the solution of a tridiagonal system (Thomas' algorithm)."""
    n = b.shape[0]
    b, x = 1.0 * b, 1.0 * d
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        x[i] -= w * x[i - 1]
    x[n - 1] /= b[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - c[i] * x[i + 1]) / b[i]
    return np.mean(x * x)


def _bands(rng: np.random.Generator) -> tuple[Array, ...]:
    a, c = rng.uniform(0.1, 0.4, (2, 300))
    return a, rng.uniform(1, 2, 300), c, rng.normal(size=300)


TRIDIAGONAL = Workload(
    name="tridiagonal",
    title="tridiagonal system by elements, n = 300",
    fun=tridiagonal,
    by_hand=tridiagonal,
    data=_bands,
    argnums=(0, 1, 2, 3),
    left_out=_UNLIKE,
    own={"jax": for_jax.tridiagonal},
)


def recursive_filter(np: Namespace, x: Traced, b: Traced, a: Traced) -> Traced:
    """Return the mean square of a signal after a filter with two poles."""
    y = b[0] * x
    for i in range(2, x.shape[0]):
        y[i] += b[1] * x[i - 1] + b[2] * x[i - 2] - a[0] * y[i - 1] - a[1] * y[i - 2]
    return np.mean(y * y)


FILTER = Workload(
    name="filter",
    title="recursive filter, n = 500",
    fun=recursive_filter,
    by_hand=recursive_filter,
    data=lambda rng: (rng.normal(size=500), np.array([0.3, 0.2, 0.1]), np.array([-0.6, 0.2])),
    argnums=(0, 1, 2),
    left_out=_UNLIKE,
    own={"jax": for_jax.recursive_filter},
)


def waves(np: Namespace, u: Traced, v: Traced, speed: Traced) -> Traced:
    """Return the energy of a membrane after 50 steps, with its edge held fast."""
    u, v = 1.0 * u, 1.0 * v
    for _ in range(50):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        v[1:-1, 1:-1] += 0.2 * speed * (around - 4 * u[1:-1, 1:-1])
        u[1:-1, 1:-1] += 0.2 * v[1:-1, 1:-1]
    return np.sum(u * u + v * v)


WAVES = Workload(
    name="waves",
    title="waves on a square, 60x60, 50 steps",
    fun=waves,
    by_hand=waves,
    data=lambda rng: (
        rng.normal(size=(60, 60)),
        rng.normal(size=(60, 60)),
        rng.uniform(0.5, 1, (58, 58)),
    ),
    argnums=(0, 1, 2),
    left_out=_UNLIKE,
    own={"jax": for_jax.waves},
)


def gray_scott(np: Namespace, u: Traced, v: Traced, rates: Traced) -> Traced:
    """Return the mean square of what two substances become that react and spread."""
    u, v = 1.0 * u, 1.0 * v
    inner = (slice(1, -1), slice(1, -1))
    for _ in range(40):
        spread_u = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[inner]
        spread_v = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * v[inner]
        reaction = u[inner] * v[inner] ** 2
        u[inner] += 0.16 * spread_u - reaction + rates[0] * (1 - u[inner])
        v[inner] += 0.08 * spread_v + reaction - (rates[0] + rates[1]) * v[inner]
    return np.mean(v * v)


GRAY_SCOTT = Workload(
    name="gray-scott",
    title="Gray-Scott reaction, 50x50, 40 steps",
    fun=gray_scott,
    by_hand=gray_scott,
    data=lambda rng: (
        rng.uniform(0.4, 1, (50, 50)),
        rng.uniform(0, 0.4, (50, 50)),
        np.array([0.04, 0.06]),
    ),
    argnums=(0, 1, 2),
    left_out=_UNLIKE,
    own={"jax": for_jax.gray_scott},
)


def springs(np: Namespace, x: Traced, v: Traced, stiffness: Traced) -> Traced:
    """Return the energy of a chain of masses on stiffening springs after 100 steps."""
    x, v = 1.0 * x, 1.0 * v
    for _ in range(100):
        stretch = x[1:] - x[:-1]
        force = stiffness * stretch * (1 + 0.1 * stretch**2)
        v[:-1] += 0.02 * force
        v[1:] -= 0.02 * force
        x += 0.02 * v
    return np.sum(v * v) + np.sum(x * x)


SPRINGS = Workload(
    name="springs",
    title="chain of springs, n = 200, 100 steps",
    fun=springs,
    by_hand=springs,
    data=lambda rng: (rng.normal(size=200), rng.normal(size=200), rng.uniform(0.5, 1, 199)),
    argnums=(0, 1, 2),
    left_out=_UNLIKE,
    own={"jax": for_jax.springs},
)


def lorenz(np: Namespace, path: Traced, parameters: Traced) -> Traced:
    """Return the mean square along a path of Lorenz's system, by the classical Runge-Kutta."""
    path = 1.0 * path
    h = 0.01

    def slope(x: Traced, y: Traced, z: Traced) -> tuple[Traced, ...]:
        sigma, rho, beta = parameters
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    for i in range(path.shape[0] - 1):
        x, y, z = path[i, 0], path[i, 1], path[i, 2]
        k1 = slope(x, y, z)
        k2 = slope(x + h / 2 * k1[0], y + h / 2 * k1[1], z + h / 2 * k1[2])
        k3 = slope(x + h / 2 * k2[0], y + h / 2 * k2[1], z + h / 2 * k2[2])
        k4 = slope(x + h * k3[0], y + h * k3[1], z + h * k3[2])
        for j in range(3):
            path[i + 1, j] = path[i, j] + h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j])
    return np.mean(path * path)


LORENZ = Workload(
    name="lorenz",
    title="Lorenz system, 100 Runge-Kutta steps",
    fun=lorenz,
    by_hand=lorenz,
    data=lambda _: (np.ones((101, 3)), np.array([10.0, 28.0, 8 / 3])),
    argnums=(0, 1),
    left_out=_UNLIKE,
    own={"jax": for_jax.lorenz},
)


def triangular_system(np: Namespace, a: Traced, b: Traced) -> Traced:
    """Return the mean square of the solution of a lower triangular system, row by row."""
    x = 1.0 * b
    x[0] /= a[0, 0]
    for i in range(1, x.shape[0]):
        x[i] = (x[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.mean(x * x)


TRIANGULAR_SYSTEM = Workload(
    name="triangular-system",
    title="triangular system by rows, n = 100",
    fun=triangular_system,
    by_hand=triangular_system,
    data=lambda rng: (2 * np.eye(100) + 0.1 * rng.normal(size=(100, 100)), rng.normal(size=100)),
    argnums=(0, 1),
    left_out=_UNLIKE,
    own={"jax": for_jax.triangular_system},
)


def recurrent_cell(np: Namespace, states: Traced, x: Traced, w: Traced, u: Traced) -> Traced:
    """Return the mean square of the states of a recurrent cell, kept in the rows of an array."""
    states = 1.0 * states
    for i in range(x.shape[0]):
        states[i + 1] = np.tanh(states[i] @ w + x[i] @ u)
    return np.mean(states * states)


RECURRENT_CELL = Workload(
    name="recurrent-cell",
    title="recurrent cell with states in rows, 60 steps of 16",
    fun=recurrent_cell,
    by_hand=recurrent_cell,
    data=lambda rng: (
        rng.normal(size=(61, 16)),
        rng.normal(size=(60, 8)),
        0.2 * rng.normal(size=(16, 16)),
        0.2 * rng.normal(size=(8, 16)),
    ),
    argnums=(0, 1, 2, 3),
    left_out=_UNLIKE,
    own={"jax": for_jax.recurrent_cell},
)
