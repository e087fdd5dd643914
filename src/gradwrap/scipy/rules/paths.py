"""The paths of solvers of differential equations, by their accepted steps."""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np
import scipy.integrate

from gradwrap.core.levels.modes import is_grad_enabled
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.scipy.answers import Answers
from gradwrap.scipy.dispatching import scipys
from gradwrap.scipy.rules.jumps import refuse_jump_in_step
from gradwrap.scipy.solving import data_of, plain
from gradwrap.transforms.implicit import custom_root


def recorded_steps(method: Any, steps: list[Any]) -> Any:
    """Subclass a solver of SciPy so that it records the times of its steps."""

    class Recorder(method):  # type: ignore[misc]  # a class of SciPy's
        def step(self) -> Any:
            message = super().step()
            if self.status != "failed":
                steps.append((self.t_old, self.t))
            return message

    Recorder.__name__ = method.__name__
    return Recorder


METHODS = {
    name: getattr(scipy.integrate, name)
    for name in ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
}
EXPLICIT = ("RK23", "RK45", "DOP853")


def stages(tableau: Any, fun: Any, t: Any, y: Any, f: Any, h: Any) -> tuple[Any, Any, list[Any]]:
    """Take one explicit step; return the new state, its rate, and the rates of the stages."""
    rates = [f]
    for a, c in zip(tableau.A[1:], tableau.C[1:], strict=True):
        rates.append(fun(t + c * h, y + h * combined(a, rates)))
    y = y + h * combined(tableau.B, rates)
    f = fun(t + h, y)
    return y, f, [*rates, f]


def combined(weights: Any, rates: list[Any]) -> Any:
    return weights[: len(rates)] @ np.stack(rates)


def within_step(
    tableau: Any, fun: Any, t: Any, y: Any, y_new: Any, h: Any, rates: list[Any]
) -> Any:
    """Return the state inside of a step, as a function of the fraction of the step."""
    if tableau is not METHODS["DOP853"]:
        columns = list(tableau.P.T @ np.stack(rates))
        return lambda x: y + h * sum(q * x ** (i + 1) for i, q in enumerate(columns))
    rates = list(rates)
    for a, c in zip(tableau.A_EXTRA, tableau.C_EXTRA, strict=True):
        rates.append(fun(t + c * h, y + h * combined(a, rates)))
    change, last = y_new - y, rates[tableau.n_stages]
    parts = [change, h * rates[0] - change, 2 * change - h * (last + rates[0])]
    parts += list(h * (tableau.D @ np.stack(rates)))

    def inside(x: Any) -> Any:
        total: Any = 0.0
        for i, part in enumerate(reversed(parts)):
            total = (total + part) * (x if i % 2 == 0 else 1 - x)
        return y + total

    return inside


S6 = 6**0.5
RADAU_C = np.array([(4 - S6) / 10, (4 + S6) / 10, 1.0])
RADAU_A = np.array(
    [
        [(88 - 7 * S6) / 360, (296 - 169 * S6) / 1800, (-2 + 3 * S6) / 225],
        [(296 + 169 * S6) / 1800, (88 + 7 * S6) / 360, (-2 - 3 * S6) / 225],
        [(16 - S6) / 36, (16 + S6) / 36, 1 / 9],
    ]
)


def collocated(fun: Any, t: Any, y: Any, h: Any) -> Any:
    """Take one step of Radau's method of order 5, whose stages solve a system of equations."""

    def residual(z: Any) -> Any:
        rates = np.stack([fun(t + c * h, y + z[i]) for i, c in enumerate(RADAU_C)])
        return z - h * (RADAU_A @ rates)

    def solve(f: Any, z: Any) -> Any:
        def flat(v: Any) -> Any:
            return data_of(f(np.reshape(v, z.shape))).reshape(-1)

        # with its full output, it does not warn where rounding stops it
        made = scipys("optimize.fsolve")(flat, np.reshape(z, (-1,)), xtol=1e-13, full_output=True)
        return np.reshape(made[0], z.shape)

    guess = np.zeros((3, *y.shape), dtype=data_of(y).dtype)
    return y + custom_root(residual, guess, solve)[2]


class Path:
    """The states of a method at the ends of its steps, and at any time between."""

    def __init__(self, solver: Any, rate: Any, y: Any, times: list[Any]) -> None:
        self.solver: Any = solver
        self.rate: Any = rate
        self.times: list[Any] = times
        self.points: list[float] = [float(plain(t)) for t in times]
        self.is_forward: bool = self.points[-1] >= self.points[0]
        self.states: list[Any] = [y]
        for i in range(len(times) - 1):
            self.states.append(self._checked(i))

    def __call__(self, t: Any) -> Any:
        """Return the state at a time."""
        point, sign = float(plain(t)), 1 if self.is_forward else -1
        place = bisect.bisect_left(self.points, point * sign, key=lambda one: one * sign)
        place = min(place, len(self.points) - 1)
        end = self.times[place]
        if t is end or (point == self.points[place] and not is_recorded([t, end])):
            return self.states[place]
        return self.within(max(0, place - 1), t)

    def extend(self, time: Any) -> None:
        """Take a step more, to a time."""
        self.times.append(time)
        self.points.append(float(plain(time)))
        self.states.append(self._checked(len(self.times) - 2))

    def _checked(self, i: int) -> Any:
        """Take a step, and refuse a rate that jumps in it where it compares tracked values."""
        with Answers() as answers:
            state = self.stepped(i)
        ends = (self.points[i], self.states[i]), (self.points[i + 1], state)
        refuse_jump_in_step(answers, self.rate, *ends)
        return state

    def stepped(self, i: int) -> Any:
        """Return the state at the end of a step."""
        raise NotImplementedError

    def within(self, i: int, t: Any) -> Any:
        """Return the state at a time inside of a step."""
        raise NotImplementedError


class Explicit(Path):
    """The path of an explicit method, by repeating SciPy's accepted steps."""

    def __init__(self, solver: Any, rate: Any, y: Any, times: list[Any]) -> None:
        self.rates: list[Any] = []
        self.inside: dict[Any, Any] = {}
        self.f: Any = rate(times[0], y)
        super().__init__(solver, rate, y, times)

    def stepped(self, i: int) -> Any:
        """Return the state at the end of a step."""
        h = self.times[i + 1] - self.times[i]
        y, self.f, rates = stages(self.solver, self.rate, self.times[i], self.states[i], self.f, h)
        self.rates.append(rates)
        return y

    def within(self, i: int, t: Any) -> Any:
        """Return the state at a time inside of a step."""
        start, h = self.times[i], self.times[i + 1] - self.times[i]
        key = i, is_grad_enabled()  # what is made in `no_grad` has no derivative
        if key not in self.inside:
            self.inside[key] = within_step(
                self.solver, self.rate, start, self.states[i], self.states[i + 1], h, self.rates[i]
            )
        return self.inside[key]((t - start) / h)


class Implicit(Path):
    """The path of an implicit method, by Radau's method with SciPy's steps."""

    def stepped(self, i: int) -> Any:
        """Return the state at the end of a step."""
        return self.within(i, self.times[i + 1])

    def within(self, i: int, t: Any) -> Any:
        """Return the state at a time inside of a step."""
        return collocated(self.rate, self.times[i], self.states[i], t - self.times[i])
