"""Programs over time: an LSTM over text, steps of an ODE, a Kalman filter."""

import numpy as np

from ..workloads import Array, Namespace, Workload
from ..workloads.base import Traced

_UNROLLED = {"jax": "jit unrolls the loop and compiles for minutes"}

CHARACTERS, WIDTH, HIDDEN, LENGTH = 30, 16, 32, 100


def lstm(  # noqa: PLR0913  the parameters of two layers
    np: Namespace, one_hot: Traced, embed: Traced, w: Traced, b: Traced, u: Traced
) -> Traced:
    """Return the cross entropy of an LSTM that predicts each next character of a text."""
    h = np.zeros(HIDDEN)
    c = np.zeros(HIDDEN)
    total = 0.0
    for step in range(LENGTH):
        z = w @ np.concatenate([one_hot[step] @ embed, h]) + b
        keep = 1 / (1 + np.exp(-z[:HIDDEN]))
        take = 1 / (1 + np.exp(-z[HIDDEN : 2 * HIDDEN]))
        show = 1 / (1 + np.exp(-z[2 * HIDDEN : 3 * HIDDEN]))
        c = keep * c + take * np.tanh(z[3 * HIDDEN :])
        h = show * np.tanh(c)
        scores = u @ h
        total = total + np.log(np.sum(np.exp(scores))) - np.dot(scores, one_hot[step + 1])
    return total


def lstm_by_hand(  # noqa: PLR0913  the parameters of two layers
    np: Namespace, one_hot: Array, embed: Array, w: Array, b: Array, u: Array
) -> tuple[Array, ...]:
    """Back-propagate through time, with the states kept in a list."""
    h, c = np.zeros(HIDDEN), np.zeros(HIDDEN)
    states: list[tuple[Array, ...]] = []
    for step in range(LENGTH):
        x = np.concatenate([one_hot[step] @ embed, h])
        z = w @ x + b
        gates = 1 / (1 + np.exp(-z[: 3 * HIDDEN]))
        new = np.tanh(z[3 * HIDDEN :])
        keep, take, show = gates[:HIDDEN], gates[HIDDEN : 2 * HIDDEN], gates[2 * HIDDEN :]
        before = c
        c = keep * c + take * new
        level = np.tanh(c)
        h = show * level
        e = np.exp(u @ h)
        states.append((x, keep, take, show, new, before, level, h, e / np.sum(e)))
    g_embed, g_w, g_b, g_u = (np.zeros_like(a) for a in (embed, w, b, u))
    g_h, g_c, g_z = np.zeros(HIDDEN), np.zeros(HIDDEN), np.empty(4 * HIDDEN)
    for step in reversed(range(LENGTH)):
        x, keep, take, show, new, before, level, h, p = states[step]
        g_s = p - one_hot[step + 1]
        g_u += np.outer(g_s, h)
        g_h = g_h + u.T @ g_s
        g_c = g_c + g_h * show * (1 - level * level)
        g_z[:HIDDEN] = g_c * before * keep * (1 - keep)
        g_z[HIDDEN : 2 * HIDDEN] = g_c * new * take * (1 - take)
        g_z[2 * HIDDEN : 3 * HIDDEN] = g_h * level * show * (1 - show)
        g_z[3 * HIDDEN :] = g_c * take * (1 - new * new)
        g_w += np.outer(g_z, x)
        g_b += g_z
        g_x = w.T @ g_z
        g_embed += np.outer(one_hot[step], g_x[:WIDTH])
        g_h, g_c = g_x[WIDTH:], g_c * keep
    return g_embed, g_w, g_b, g_u


def _text(rng: np.random.Generator) -> tuple[Array, ...]:
    shapes = (CHARACTERS, WIDTH), (4 * HIDDEN, WIDTH + HIDDEN), (4 * HIDDEN,), (CHARACTERS, HIDDEN)
    one_hot = np.eye(CHARACTERS)[rng.integers(0, CHARACTERS, LENGTH + 1)]
    return one_hot, *(0.2 * rng.normal(size=shape) for shape in shapes)


LSTM = Workload(
    name="lstm",
    title="LSTM over a text of 100 characters, hidden 32",
    fun=lstm,
    by_hand=lstm_by_hand,
    data=_text,
    argnums=(1, 2, 3, 4),
    bound=6.0,
    left_out=_UNROLLED,
)

STEPS, TIME_STEP = 50, 0.01


def _slope(np: Namespace, y: Traced, force: Traced) -> Traced:
    """Return the slope of the Lorenz-96 model, whose variables lie on a circle."""
    ahead = np.concatenate([y[1:], y[:1]])
    behind = np.concatenate([y[-1:], y[:-1]])
    before = np.concatenate([y[-2:], y[:-2]])
    return (ahead - before) * behind - y + force


def runge_kutta(np: Namespace, y: Traced, force: Traced) -> Traced:
    """Return the mean square of the state after some classical Runge-Kutta steps."""
    h = TIME_STEP
    for _ in range(STEPS):
        k1 = _slope(np, y, force)
        k2 = _slope(np, y + 0.5 * h * k1, force)
        k3 = _slope(np, y + 0.5 * h * k2, force)
        k4 = _slope(np, y + h * k3, force)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.mean(y * y)


def _slope_back(np: Namespace, g: Array, y: Array) -> Array:
    """Apply the transpose of the Jacobian of the slope."""
    ahead = np.concatenate([y[1:], y[:1]])
    behind = np.concatenate([y[-1:], y[:-1]])
    before = np.concatenate([y[-2:], y[:-2]])
    out = -g
    a = g * behind
    out[1:] += a[:-1]
    out[:1] += a[-1:]
    out[-2:] -= a[:2]
    out[:-2] -= a[2:]
    b = g * (ahead - before)
    out[-1:] += b[:1]
    out[:-1] += b[1:]
    return out


def runge_kutta_by_hand(np: Namespace, y: Array, force: Array) -> tuple[Array, ...]:
    """Apply the transposed steps to the states, which are kept in a list."""
    h = TIME_STEP
    states: list[tuple[Array, Array, Array, Array]] = []
    for _ in range(STEPS):
        k1 = _slope(np, y, force)
        y2 = y + 0.5 * h * k1
        k2 = _slope(np, y2, force)
        y3 = y + 0.5 * h * k2
        k3 = _slope(np, y3, force)
        y4 = y + h * k3
        states.append((y, y2, y3, y4))
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + _slope(np, y4, force))
    g, g_force = 2 * y / y.size, np.zeros_like(force)
    for y1, y2, y3, y4 in reversed(states):
        g4 = h / 6 * g
        back4 = _slope_back(np, g4, y4)
        g3 = h / 3 * g + h * back4
        back3 = _slope_back(np, g3, y3)
        g2 = h / 3 * g + 0.5 * h * back3
        back2 = _slope_back(np, g2, y2)
        g1 = h / 6 * g + 0.5 * h * back2
        g_force += g1 + g2 + g3 + g4
        g = g + back4 + back3 + back2 + _slope_back(np, g1, y1)
    return g, g_force


def _states(rng: np.random.Generator) -> tuple[Array, ...]:
    return rng.normal(size=1000), 8 + rng.normal(size=1000)


ODE = Workload(
    name="ode",
    title="50 Runge-Kutta steps of an ODE, n = 1,000",
    fun=runge_kutta,
    by_hand=runge_kutta_by_hand,
    data=_states,
    argnums=(0, 1),
    bound=4.0,
    left_out=_UNROLLED,
)

TRACK, STATE, SEEN = 60, 6, 3


def kalman(  # noqa: PLR0913  two matrices and two covariances
    np: Namespace, seen: Traced, f: Traced, h: Traced, q: Traced, r: Traced
) -> Traced:
    """Return the squared innovations of a Kalman filter, each weighted by its covariance."""
    x = np.zeros(STATE)
    p = np.eye(STATE)
    total = 0.0
    for step in range(TRACK):
        x = f @ x
        p = f @ p @ f.T + q
        y = seen[step] - h @ x
        s = h @ p @ h.T + r
        gain = np.linalg.solve(s, h @ p).T
        total = total + np.dot(y, np.linalg.solve(s, y))
        x = x + gain @ y
        p = p - gain @ h @ p
    return total


def _observations(rng: np.random.Generator) -> tuple[Array, ...]:
    f = np.eye(STATE) + 0.1 * np.eye(STATE, k=SEEN)
    h = np.eye(SEEN, STATE) + 0.05 * rng.normal(size=(SEEN, STATE))
    seen = np.cumsum(rng.normal(size=(TRACK, SEEN)), axis=0)
    return seen, f, h, 0.1 * np.eye(STATE), 0.5 * np.eye(SEEN)


KALMAN = Workload(
    name="kalman",
    title="Kalman filter, 60 steps, 6 states",
    fun=kalman,
    by_hand=kalman,
    data=_observations,
    argnums=(1, 2, 3, 4),
    left_out=_UNROLLED,
)
