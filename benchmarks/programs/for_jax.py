"""The programs that write in place, as JAX's users write them.

Arrays are immutable there: an update gives a new array, a loop is `lax.fori_loop` or, over a
recurrence, `lax.scan`, and parts of arrays whose length varies are masks.
"""

from importlib import import_module
from typing import Any

from ..workloads import Namespace
from ..workloads.base import Traced


def _lax() -> Any:
    return import_module("jax.lax")


def heat(np: Namespace, u: Traced, rate: Traced) -> Traced:
    """Take 200 explicit steps."""

    def step(_: Any, u: Traced) -> Traced:
        return u.at[1:-1].add(rate * (u[2:] - 2 * u[1:-1] + u[:-2]))

    u = _lax().fori_loop(0, 200, step, u)
    return np.mean(u * u)


def jacobi(np: Namespace, u: Traced, f: Traced) -> Traced:
    """Take 50 sweeps."""

    def sweep(_: Any, u: Traced) -> Traced:
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].set(0.25 * (around + f))

    u = _lax().fori_loop(0, 50, sweep, u)
    return np.mean(u * u)


def gauss_seidel(np: Namespace, u: Traced, f: Traced) -> Traced:
    """Take 5 sweeps, each a recurrence from left to right."""
    lax = _lax()

    def sweep(_: Any, u: Traced) -> Traced:
        def point(left: Traced, here: Any) -> tuple[Traced, Traced]:
            right, source = here
            new = 0.5 * (left + right + source)
            return new, new

        return u.at[1:-1].set(lax.scan(point, u[0], (u[2:], f[1:-1]))[1])

    u = lax.fori_loop(0, 5, sweep, u)
    return np.mean(u * u)


def n_body(np: Namespace, x: Traced, v: Traced, mass: Traced) -> Traced:
    """Take 30 leapfrog steps."""

    def step(_: Any, state: Any) -> Any:
        x, v = state
        d = x[None, :, :] - x[:, None, :]
        r2 = np.sum(d * d, axis=2) + 0.1
        v = v + 0.01 * np.sum(d * (mass / (r2 * np.sqrt(r2)))[:, :, None], axis=1)
        return x + 0.01 * v, v

    x, _ = _lax().fori_loop(0, 30, step, (x, v))
    return np.sum(x * x)


def cholesky(np: Namespace, a: Traced) -> Traced:
    """Subtract the product of each finished column with itself."""
    n = a.shape[0]
    rows = np.arange(n)

    def column(j: Any, state: Any) -> Any:
        a, factor = state
        new = np.where(rows >= j, a[:, j] / np.sqrt(a[j, j]), 0.0)
        return a - np.outer(new, new), factor.at[:, j].set(new)

    _, factor = _lax().fori_loop(0, n, column, (a, np.zeros((n, n))))
    return np.sum(factor**3)


def lu(np: Namespace, a: Traced) -> Traced:
    """Eliminate column by column."""
    n = a.shape[0]
    rows = np.arange(n)

    def eliminate(k: Any, a: Traced) -> Traced:
        factors = np.where(rows > k, a[:, k] / a[k, k], 0.0)
        return a - np.outer(factors, a[k])

    return np.sum(np.log(np.diag(_lax().fori_loop(0, n - 1, eliminate, a))))


def tridiagonal(np: Namespace, a: Traced, b: Traced, c: Traced, d: Traced) -> Traced:
    """Scan forward and back."""
    lax = _lax()

    def forward(before: Any, here: Any) -> Any:
        b0, d0 = before
        a1, b1, c0, d1 = here
        w = a1 / b0
        new = b1 - w * c0, d1 - w * d0
        return new, new

    def back(after: Traced, here: Any) -> tuple[Traced, Traced]:
        b0, c0, d0 = here
        new = (d0 - c0 * after) / b0
        return new, new

    _, (pivots, right) = lax.scan(forward, (b[0], d[0]), (a[1:], b[1:], c[:-1], d[1:]))
    pivots, right = np.concatenate([b[:1], pivots]), np.concatenate([d[:1], right])
    last = right[-1] / pivots[-1]
    _, x = lax.scan(back, last, (pivots[:-1], c[:-1], right[:-1]), reverse=True)
    return np.mean(np.append(x, last) ** 2)


def recursive_filter(np: Namespace, x: Traced, b: Traced, a: Traced) -> Traced:
    """Scan over the signal, with the two last values in hand."""
    direct = b[0] * x[2:] + b[1] * x[1:-1] + b[2] * x[:-2]

    def step(before: Any, here: Traced) -> Any:
        one, two = before
        new = here - a[0] * one - a[1] * two
        return (new, one), new

    start = b[0] * x[:2]
    _, y = _lax().scan(step, (start[1], start[0]), direct)
    return np.mean(np.concatenate([start, y]) ** 2)


def waves(np: Namespace, u: Traced, v: Traced, speed: Traced) -> Traced:
    """Take 50 steps."""

    def step(_: Any, state: Any) -> Any:
        u, v = state
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        v = v.at[1:-1, 1:-1].add(0.2 * speed * (around - 4 * u[1:-1, 1:-1]))
        return u.at[1:-1, 1:-1].add(0.2 * v[1:-1, 1:-1]), v

    u, v = _lax().fori_loop(0, 50, step, (u, v))
    return np.sum(u * u + v * v)


def gray_scott(np: Namespace, u: Traced, v: Traced, rates: Traced) -> Traced:
    """Take 40 steps."""
    inner = (slice(1, -1), slice(1, -1))

    def spread(w: Traced) -> Traced:
        return w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] - 4 * w[inner]

    def step(_: Any, state: Any) -> Any:
        u, v = state
        reaction = u[inner] * v[inner] ** 2
        grown = 0.16 * spread(u) - reaction + rates[0] * (1 - u[inner])
        made = 0.08 * spread(v) + reaction - (rates[0] + rates[1]) * v[inner]
        return u.at[inner].add(grown), v.at[inner].add(made)

    _, v = _lax().fori_loop(0, 40, step, (u, v))
    return np.mean(v * v)


def springs(np: Namespace, x: Traced, v: Traced, stiffness: Traced) -> Traced:
    """Take 100 steps."""

    def step(_: Any, state: Any) -> Any:
        x, v = state
        stretch = x[1:] - x[:-1]
        force = stiffness * stretch * (1 + 0.1 * stretch**2)
        v = v.at[:-1].add(0.02 * force).at[1:].add(-0.02 * force)
        return x + 0.02 * v, v

    x, v = _lax().fori_loop(0, 100, step, (x, v))
    return np.sum(v * v) + np.sum(x * x)


def lorenz(np: Namespace, path: Traced, parameters: Traced) -> Traced:
    """Scan over the steps, with the state as one array."""
    h = 0.01

    def slope(s: Traced) -> Traced:
        sigma, rho, beta = parameters
        x, y, z = s
        return np.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    def step(s: Traced, _: Any) -> tuple[Traced, Traced]:
        k1 = slope(s)
        k2 = slope(s + h / 2 * k1)
        k3 = slope(s + h / 2 * k2)
        k4 = slope(s + h * k3)
        s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return s, s

    _, rest = _lax().scan(step, path[0], None, length=path.shape[0] - 1)
    return np.mean(np.concatenate([path[:1], rest]) ** 2)


def triangular_system(np: Namespace, a: Traced, b: Traced) -> Traced:
    """Solve row by row, with the rows that are not solved yet at zero."""
    n = b.shape[0]

    def row(i: Any, x: Traced) -> Traced:
        return x.at[i].set((b[i] - a[i] @ x) / a[i, i])

    x = _lax().fori_loop(0, n, row, np.zeros(n))
    return np.mean(x * x)


def recurrent_cell(np: Namespace, states: Traced, x: Traced, w: Traced, u: Traced) -> Traced:
    """Scan over the steps."""

    def step(state: Traced, here: Traced) -> tuple[Traced, Traced]:
        new = np.tanh(state @ w + here @ u)
        return new, new

    _, rest = _lax().scan(step, states[0], x)
    return np.mean(np.concatenate([states[:1], rest]) ** 2)
