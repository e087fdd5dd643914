"""`scipy.integrate.ode`: an object that steps from time to time, and keeps the state."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.errors import NoRuleError
from gradwrap.scipy.classes import meta_of
from gradwrap.scipy.dispatching import scipys
from gradwrap.scipy.rules.paths import METHODS, Explicit, Implicit, recorded_steps
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
