"""Rules of the responses of linear systems in time: scipy.signal.lsim, step and impulse."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.errors import NoRuleError
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.solving import as_array, data_of


def _matrices(system: Any) -> list[Any]:
    """Return the matrices of a system that is given as SciPy takes it."""
    if not isinstance(system, (tuple, list)):
        made = system.to_ss()
        return [made.A, made.B, made.C, made.D]
    parts: Any = [np.atleast_1d(as_array(one)) * 1.0 for one in system]
    if len(parts) == 3:
        parts = dispatcher("signal.zpk2tf")(parts[0], parts[1], as_array(system[2]))
    if len(parts) == 2:
        parts = dispatcher("signal.tf2ss")(*parts)
    return list(map(np.atleast_2d, parts))


def _simulated(
    matrices: list[Any], inputs: Any, times: Any, start: Any, interp: bool
) -> tuple[Any, Any]:
    """Return the output and the state at equally spaced times, by exponentials of matrices."""
    a, b, c, d = matrices
    n, m, times = a.shape[0], b.shape[1], data_of(times)
    expm = dispatcher("linalg.expm")
    state: Any = np.zeros(n) if start is None else as_array(start)
    if times[0] > 0:
        state = state @ expm(a.T * times[0])
    states = [state]
    if inputs is None:
        step = expm(a.T * (times[1] - times[0])) if times.size > 1 else None
        for _ in times[1:]:
            states.append(states[-1] @ step)
        x = np.stack(states)
        return np.squeeze(x @ c.T), np.squeeze(x)
    u = np.reshape(as_array(inputs) * 1.0, (times.size, -1))
    dt = times[1] - times[0] if times.size > 1 else 0.0
    rows = [np.concatenate([a * dt, b * dt, np.zeros((n, m))], axis=1)]
    rows += [np.concatenate([np.zeros((m, n + m)), np.eye(m)], axis=1), np.zeros((m, n + 2 * m))]
    whole = expm(np.concatenate(rows).T)
    by_state, by_input, by_slope = whole[:n, :n], whole[n : n + m, :n], whole[n + m :, :n]
    for i in range(1, times.size):
        change = (u[i] - u[i - 1]) @ by_slope if interp else 0.0
        states.append(states[-1] @ by_state + u[i - 1] @ by_input + change)
    x = np.stack(states)
    return np.squeeze(x @ c.T) + np.squeeze(u @ d.T), np.squeeze(x)


def _response(system: Any, U: Any, T: Any, X0: Any, interp: bool) -> Any:
    is_none = U is None or (isinstance(U, (int, float)) and U == 0)
    found = _simulated(_matrices(system), None if is_none else U, T, X0, interp)
    return T, *found


def _given_times(name: str, times: Any) -> Any:
    if times is None:
        raise NoRuleError(
            f"scipy.signal.{name} has no derivative without T=, which then depends on the system. "
            "Fix: give it the times."
        )
    return times


def _step(system: Any, X0: Any, T: Any) -> Any:
    times = _given_times("step", T)
    ones = np.ones(np.shape(times))
    return times, _simulated(_matrices(system), ones, times, X0, interp=False)[0]


def _impulse(system: Any, X0: Any, T: Any) -> Any:
    times = _given_times("impulse", T)
    a, b, c, d = _matrices(system)
    start = np.squeeze(b if X0 is None else b + as_array(X0))
    start = np.reshape(start, (-1,)) if np.ndim(start) == 0 else start
    return times, _simulated([a, b, c, d], None, times, start, interp=False)[0]


ROWS = [
    formula("signal.lsim", _response, "system U X0", groups="system"),
    formula("signal.step", _step, "system X0", groups="system", neutral="N"),
    formula("signal.impulse", _impulse, "system X0", groups="system", neutral="N"),
]
