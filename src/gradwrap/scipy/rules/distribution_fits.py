"""Fits of distributions to tracked data: the derivatives of the most likely parameters.

SciPy's method finds the parameters, in closed form or by a search. Where the likelihood is
greatest, its gradient in the free parameters is zero; the implicit function theorem then gives
their derivatives. If the end of the support is at an element of the data, as for `expon`, this is a
constraint, and its Lagrange multiplier is one more unknown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import is_recorded, native
from gradwrap.errors import NoRuleError
from gradwrap.scipy.rules.optimize import is_near_zero
from gradwrap.scipy.solving import attached, data_of, plain, solution
from gradwrap.transforms.jacobian import jacobian
from gradwrap.transforms.reverse import grad

FIX = "f", "fix_"
MOST = 1e9
"""The greatest condition number of the likelihood's curvature that counts as a peak."""


def fitted(
    name: str, dist: Any, original: Any, args: tuple[Any, ...], given: dict[str, Any]
) -> Any:
    """Return SciPy's parameters with their derivatives in the data and in the fixed parameters."""
    given = dict(given)
    data, starts = (args[0], args[1:]) if args else (given.pop("data"), ())
    if str(given.get("method", "mle")).lower() != "mle":
        raise NoRuleError(
            f"{name} has no derivative with method={given['method']!r}. "
            "Fix: leave it out, or .detach() the data."
        )
    data = np.reshape(data if hasattr(data, "dtype") else np.asarray(data), (-1,))
    quiet = {key: _plain(value) for key, value in given.items()}
    found = original(dist, _plain(data), *map(_plain, starts), **quiet)
    fixed = _fixed(dist, given)
    fit = Fit(dist, data, [float(one) for one in found], fixed)
    parts = {(i,): value if is_recorded(value) else found[i] for i, value in fixed.items()}
    if len(fixed) < len(found):
        start = fit.start()
        if not fit.is_peak(start):
            raise NoRuleError(
                f"{name} has no derivative here: {tuple(fit.found)} is not a point where the "
                "likelihood has a slope of zero and a curvature in each parameter. Fix: fix a "
                "parameter, such as floc=0, or .detach() the data."
            )
        root = solution(fit.residual, start, name, is_unique=True)
        parts |= {(i,): root[place] for place, i in enumerate(fit.free)}
    return attached(name.removeprefix("scipy."), found, parts)


class Fit(NamedTuple):
    """The parameters that were found for some data, and those of them that are given."""

    dist: Any
    data: Any
    found: list[float]
    fixed: dict[int, Any]

    @property
    def free(self) -> list[int]:
        """The places of the parameters that are not given."""
        return [i for i in range(len(self.found)) if i not in self.fixed]

    def parameters(self, x: Any) -> list[Any]:
        """All parameters, from the free ones."""
        free = self.free
        return [x[free.index(i)] if i in free else self.fixed[i] for i in range(len(self.found))]

    def slope(self, x: Any) -> Any:
        """The gradient of the negative mean of the log-likelihoods."""
        return grad(lambda v: -np.mean(self.dist.logpdf(self.data, *self.parameters(v))))(x)

    def ends(self) -> list[tuple[float, int]]:
        """The finite ends of the standard support that lie at an element, with its place."""
        *shapes, loc, scale = self.found
        numbers = np.asarray(data_of(self.data))
        at = np.argmin(numbers), np.argmax(numbers)
        ends = [*zip(map(float, self.dist._get_support(*shapes)), map(int, at), strict=True)]
        return [
            (end, i)
            for end, i in ends
            if np.isfinite(end) and abs(loc + scale * end - numbers[i]) <= 1e-9 * abs(scale)
        ]

    def distances(self, x: Any) -> Any:
        """The distances of these ends from the elements."""
        *_, loc, scale = self.parameters(x)
        return np.stack([loc + scale * end - self.data[i] for end, i in self.ends()])

    def residual(self, unknown: Any) -> Any:
        """What is zero at the peak: the gradient, with a multiplier for each end; distances."""
        count = len(self.free)
        x, forces = unknown[:count], unknown[count:]
        if not self.ends():
            return self.slope(x)
        moves = jacobian(self.distances)(x)
        return np.concatenate([self.slope(x) - forces @ moves, self.distances(x)])

    def start(self) -> Any:
        """The free parameters that were found, and the multipliers there."""
        x = np.array([self.found[i] for i in self.free])
        ends = self.ends()
        if not ends:
            return x
        with no_grad(), np.errstate(all="ignore"):
            moves = np.reshape(plain(jacobian(self.distances)(x)), (len(ends), -1))
            return np.concatenate([x, np.linalg.lstsq(moves.T, plain(self.slope(x)))[0]])

    def is_peak(self, start: Any) -> bool:
        """Tell if the residual is zero there, and changes with each unknown."""
        with no_grad(), np.errstate(all="ignore"):
            value, slopes = plain(self.residual(start)), plain(jacobian(self.residual)(start))
            if not (np.isfinite(value).all() and is_near_zero(self.residual, start, value)):
                return False
        last = len(self.found) - 2  # shapes have no unit
        units = [1 + abs(self.found[i]) if i < last else abs(self.found[-1]) for i in self.free]
        scales = np.array([*units, *(1.0 for _ in range(len(start) - len(units)))])
        return bool(np.linalg.cond(slopes * scales[:, None] * scales) <= MOST)


def _plain(value: Any) -> Any:
    return native(value) if is_recorded(value) else value


def _fixed(dist: Any, given: dict[str, Any]) -> dict[int, Any]:
    """Return the parameters that are given, by their places."""
    shapes = dist.shapes.replace(" ", "").split(",") if dist.shapes else []
    fixed: dict[int, Any] = {}
    for place, name in enumerate([*shapes, "loc", "scale"]):
        keys = [before + name for before in FIX] + [f"f{place}"] * (name in shapes)
        for key in keys:
            if given.get(key) is not None:
                fixed[place] = given[key]
    return fixed
