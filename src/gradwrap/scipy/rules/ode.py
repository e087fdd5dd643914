"""Objects that step from time to time, and keep the state: `scipy.integrate.ode`, `RK45`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.errors import NoRuleError
from gradwrap.scipy.answers import Answers
from gradwrap.scipy.classes import meta_of
from gradwrap.scipy.dispatching import scipys
from gradwrap.scipy.rules.paths import EXPLICIT, METHODS, Explicit, Implicit, recorded_steps
from gradwrap.scipy.solving import as_array, attached, plain, quiet, refuse_failure

BACKWARD = 2
"""The number of backward differentiation among the methods of SciPy's integrators."""


def _with_derivative(stepper: Any, start: Any, y: Any, end: Any) -> Any:
    """Return the state that SciPy has reached with the derivative of exact steps to it."""
    first, last, params = plain(start), plain(end), plain(stepper.f_params)
    if first == last and not is_recorded([start, end]):
        return y

    def rate(t: Any, y: Any) -> Any:
        return np.reshape(np.copy(as_array(stepper.f(t, y, *stepper.f_params))), (-1,))

    is_stiff = getattr(stepper._integrator, "meth", 0) == BACKWARD
    method = METHODS["Radau" if is_stiff else "DOP853"]
    steps: list[Any] = []
    native = quiet(stepper.f)
    scipys("integrate.solve_ivp")(
        lambda t, y: native(t, y, *params), (first, last), plain(y),
        method=recorded_steps(method, steps), rtol=1e-6 if is_stiff else 1e-9, atol=1e-11,
    )  # fmt: skip
    times = [start, *(high for _, high in steps[:-1]), end]
    path = (Implicit if is_stiff else Explicit)(method, rate, y, times)
    if is_recorded(path.states[-1]):
        refuse_failure("scipy.integrate.ode", stepper.successful(), "it was not successful")
    if is_recorded(path.states[-1]) and stepper.has_solout:
        raise NoRuleError(
            "scipy.integrate.ode has no derivative with set_solout(). Fix: leave it out, and call "
            "integrate(t) for each time."
        )
    return attached("integrate.ode", plain(stepper.y), {(): path.states[-1]})


def stepping(native: Any) -> Any:
    """Make the subclass of `ode` whose states have derivatives."""

    class Ode(native, metaclass=meta_of(native)):  # type: ignore[metaclass,misc]  # a class of SciPy's
        t: Any

        def __init__(self, f: Any, jac: Any = None) -> None:
            super().__init__(f, jac)
            self._state: Any = None
            self.has_solout = False

        def set_initial_value(self, y: Any, t: Any = 0.0) -> Any:
            super().set_initial_value(plain(y) if np.ndim(plain(y)) else [plain(y)], plain(t))
            self._state, self.t = np.reshape(as_array(y), (-1,)), t
            return self

        def set_solout(self, solout: Any) -> None:
            super().set_solout(quiet(solout))
            self.has_solout = True

        @property
        def y(self) -> Any:
            return super().y if self._state is None else self._state

        def integrate(self, t: Any, step: bool = False, relax: bool = False) -> Any:
            start, before = self.t, self._state
            given = {name: vars(self)[name] for name in ("f", "jac", "f_params", "jac_params")}
            self.t = plain(start)
            for name, value in given.items():
                setattr(self, name, quiet(plain(value)))
            try:
                reached = super().integrate(plain(t), step, relax)
            finally:
                for name, value in given.items():
                    setattr(self, name, value)
            self._state = np.array(reached)
            if before is not None and is_differentiating():
                end = t if self.t == plain(t) else self.t
                self._state, self.t = _with_derivative(self, start, before, end), end
            return self._state

    Ode.__name__ = Ode.__qualname__ = native.__name__
    Ode.__module__ = native.__module__
    return Ode


# Solvers that are stepped by hand -----------------------------------------------------------------

SHOWN = {
    *("t", "t_old", "t_bound", "direction", "status", "n", "nfev", "njev", "nlu"),
    *("h_abs", "max_step", "rtol", "atol", "vectorized"),
}
"""The attributes of SciPy's solvers that are data."""


def stepped_by_hand(native: Any) -> Any:
    """Make the subclass of a solver whose states have derivatives, where they depend on arguments.

    SciPy's solver runs beside it on plain data, and chooses the steps.
    """

    def init(self: Any, fun: Any, t0: Any, y0: Any, t_bound: Any, *args: Any, **more: Any) -> None:
        self._path = None
        rate = _rate_of(fun, args, more)
        with Answers(is_probe=True) as answers:
            moves = is_recorded([t0, y0, t_bound]) or (
                is_differentiating() and is_recorded(rate(t0, as_array(y0)))
            )
        moves = moves or bool(answers.found)
        if not moves or type(self) is not made:
            native.__init__(self, fun, t0, y0, t_bound, *args, **more)
            return
        given = [plain(one) for one in (t0, y0, t_bound, *args)]
        self._plain = native(quiet(fun), *given, **{k: _quiet(v) for k, v in more.items()})
        way = Explicit if native.__name__ in EXPLICIT else Implicit
        self.fun, self.y, self.y_old = rate, np.reshape(as_array(y0) * 1.0, (-1,)), None
        self._end, self._path = t_bound, way(native, rate, self.y, [t0])
        self._path.is_forward = self._plain.direction >= 0
        _show(self)

    def step(self: Any) -> Any:
        if self._path is None:
            return native.step(self)
        message = self._plain.step()
        if self._plain.status != "failed":
            is_end = self._plain.t == plain(self._end)
            self._path.extend(self._end if is_end else self._plain.t)
            self.y_old, state = self.y, {(): self._path.states[-1]}
            self.y = attached(f"integrate.{native.__name__}", self._plain.y, state)
        _show(self)
        return message

    def dense_output(self: Any) -> Any:
        if self._path is None:
            return native.dense_output(self)
        return _Between(self._plain.dense_output(), self._path, native.__name__)

    body = {"__init__": init, "step": step, "dense_output": dense_output, "scipys": native}
    names = {"__module__": native.__module__, "__doc__": native.__doc__}
    made = meta_of(native)(native.__name__, (native,), {**body, **names})
    return made


def _show(solver: Any) -> None:
    """Copy the data of SciPy's solver to the one that stands for it."""
    found = vars(solver._plain)
    vars(solver).update({name: found[name] for name in SHOWN & found.keys()})


def _quiet(value: Any) -> Any:
    return quiet(value) if callable(value) else plain(value)


def _rate_of(fun: Any, args: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """Return the rate of a state, whether the function takes states as columns or not."""
    takes_columns = more.get("vectorized", False) or (len(args) > 3 and args[3])

    def rate(t: Any, y: Any) -> Any:
        made = fun(t, y[:, None]) if takes_columns else fun(t, y)
        return np.reshape(np.copy(as_array(made)), (-1,))

    return rate


class _Between:
    """The states inside of the last step of a solver, with their derivatives."""

    def __init__(self, found: Any, path: Any, name: str) -> None:
        self.t_old, self.t, self.t_min, self.t_max = found.t_old, found.t, found.t_min, found.t_max
        self._found, self._path, self._name = found, path, name
        self._place = len(path.times) - 2

    def __call__(self, t: Any) -> Any:
        """Return the states at a time, or at several, as SciPy's object does."""
        times = as_array(t)
        flat = np.reshape(times, (-1,))
        columns = [self._path.within(self._place, flat[k]) for k in range(flat.shape[0])]
        parts = {(): np.reshape(np.stack(columns, axis=1), (-1, *times.shape))}
        return attached(f"integrate.{self._name}", self._found(plain(times)), parts)
