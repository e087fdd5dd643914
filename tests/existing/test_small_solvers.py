"""Small packages that give SciPy's solvers functions of their own, as public packages do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.5, 0.7, 0.3, 0.9])


def check(function: Any, rtol: float = 1e-5) -> None:
    """Compare both modes with central differences."""
    units = np.eye(4)
    expected = [(function(X + 1e-6 * e) - function(X - 1e-6 * e)) / 2e-6 for e in units]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=rtol)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in units], expected, rtol=rtol)


EVENTS = """
    import math
    from scipy.integrate import solve_ivp

    EXACT = {"rtol": 1e-10, "atol": 1e-12}

    class Ball:
        terminal = True
        direction = -1

        def __init__(self, radius):
            self.radius = radius

        def __call__(self, t, y):
            return y[0] - self.radius

    def falling(t, y, g, drag):
        return [y[1], -g - drag * y[1]]

    def fall(x, t_eval=None, method="RK45"):
        return solve_ivp(
            lambda t, y: falling(t, y, 9.8, x[2]), (0, 30.0), [1.0 + x[0], x[1]],
            events=Ball(0.1 * x[3]), t_eval=t_eval, method=method, **EXACT,
        )

    def time_and_speed_at_the_ground(x):
        found = fall(x)
        return found.t[-1] + found.y[1, -1] * found.t_events[0][0]

    def by_an_implicit_method(x):
        found = fall(x, method="Radau")
        return found.t[-1] + found.y[1, -1]

    def cut_at_the_event(x):
        found = fall(x, np.linspace(0.0, 1.0, 41))
        assert found.t[-1] < 0.9 and found.y.shape[1] == len(found.t)
        return np.sum(found.y ** 2)

    def bouncing(x):
        def hits(t, y, *rest):
            return y[0]

        hits.terminal = True
        hits.direction = -1
        t, y = 0.0, [1.0 + x[0], 0.0]
        for _ in range(3):
            found = solve_ivp(falling, (t, 9.0), y, args=(9.8, x[1]), events=hits, **EXACT)
            t, y = found.t[-1], [0.0, -x[3] * found.y[1, -1]]
        return t + y[1]

    def crossings(x):
        def crosses(t, y):
            return y[0] - 0.2 * x[3]

        def turns(t, y):
            return y[1]

        found = solve_ivp(
            lambda t, y: [y[1], -(1 + x[0]) * math.sin(y[0])], (0, 9.0), [x[1], x[2]],
            events=[crosses, turns, lambda t, y: y[0] + 10.0], dense_output=True, **EXACT,
        )
        assert len(found.t_events[0]) > 2 and found.t_events[2].size == 0
        middle = found.sol(found.t_events[0][0] / 2)
        return np.sum(np.diff(found.t_events[1])) + found.y_events[0][2, 1] + middle[0]

    def backwards(x):
        found = solve_ivp(
            lambda t, y: x[0] * y, (2.0, -9.0), [1.0 + x[1]], events=Half(x[3]), **EXACT
        )
        return found.t[-1] * x[2]

    class Half:
        terminal = 1

        def __init__(self, part):
            self.part = part

        def __call__(self, t, y):
            return y[0] - self.part
"""
WITH_EVENTS = [line.split()[1].partition("(")[0] for line in EVENTS.splitlines() if "(x):" in line]


@pytest.mark.parametrize("name", WITH_EVENTS)
def test_events_of_solve_ivp(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, EVENTS), name), rtol=1e-4)


def test_an_event_whose_function_only_touches_zero_is_refused() -> None:
    from gradwrap.scipy.integrate import solve_ivp

    def time(x: Any) -> Any:
        found = solve_ivp(lambda t, y: [1.0], (0.0, 2.0), [x[0]], events=lambda t, y: 0.0 * y[0])
        return found.t_events[0][0]

    with pytest.raises(gw.errors.NoRuleError, match="slope zero at its time"):
        gw.grad(time)(X)
