"""Fits of distributions by maximum likelihood: SciPy's parameters, with implicit derivatives.

At the parameters that SciPy returns, the slope of the likelihood is zero in all that are free.
Where an end of the distribution's support touches the data, as in `expon.fit`, it stays there.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.errors import NoRuleError
from gradwrap.scipy.rules.optimize import constrained
from gradwrap.scipy.solving import as_array, plain
from gradwrap.transforms.arguments import stop_gradient
from gradwrap.transforms.jacobian import jacobian
from gradwrap.transforms.reverse import grad

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 8
"""The most Newton steps from SciPy's parameters to the maximum."""
FAR = 0.05
"""The longest first step, relative to the parameters: SciPy's search ends near the maximum."""


def fitted(
    dist: Any, name: str, fit: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return the parameters that SciPy's `fit` returns for tracked data, or fixed parameters."""
    method = options.get("method", "MLE")
    if str(method).lower() != "mle":
        raise NoRuleError(
            f"{name} has no derivative with method={method!r}. Fix: leave it out, or compute the "
            "moments with NumPy and solve for the parameters with scipy.optimize.root."
        )
    found = fit(dist, *plain(args), **plain(options))
    data = np.reshape(as_array(args[0] if args else options["data"]), (-1,))
    fixed = _fixed(dist, options)
    free = [place for place in range(len(found)) if place not in fixed]

    def parameters(theta: Any) -> list[Any]:
        parts = {**fixed, **{place: theta[k] for k, place in enumerate(free)}}
        return [parts[place] for place in range(len(found))]

    def cost(theta: Any) -> Any:
        *shapes, loc, scale = parameters(theta)
        return -np.sum(dist.logpdf(data, *shapes, loc=loc, scale=scale))

    def gap(theta: Any, end: int) -> Any:
        """Return how far an end of the support is from the data."""
        *shapes, loc, scale = parameters(theta)
        standard = dist._get_support(*shapes)[end]
        if not np.isfinite(plain(standard)):
            return np.inf
        place = loc + scale * standard
        return np.max(data) - place if end else np.min(data) - place

    start = np.array([float(found[place]) for place in free])
    last = len(found) - 2
    sizes = [1 + abs(float(one)) for one in found[:last]] + 2 * [abs(float(found[-1]))]
    units = np.array([sizes[place] for place in free])  # shapes have no unit
    with no_grad():
        near = 1e-9 * (np.ptp(plain(data)) + abs(float(found[-1])))
        touching = [end for end in (0, 1) if abs(plain(gap(start, end))) <= near]
        touching = [end for end in touching if _moves(functools.partial(gap, end=end), start)]
        point = start if touching else _maximum(cost, start, units, name)

    def held(theta: Any) -> Any:
        return np.stack([gap(theta, end) for end in touching])

    conditions = [{"type": "eq", "fun": held}] if touching else []
    if touching:
        _check_held(grad(cost), held, start, units, name)
    root = constrained(name, grad(cost), point, None, conditions)
    moved = dict(zip(free, root, strict=True))
    return tuple(
        value + (moved[place] - stop_gradient(moved[place]))
        if place in moved
        else as_array(fixed[place])
        if is_recorded(fixed[place])
        else value
        for place, value in enumerate(found)
    )


def _fixed(dist: Any, options: dict[str, Any]) -> dict[int, Any]:
    """Return the parameters that the caller has fixed, by their places."""
    shapes = dist.shapes.replace(",", " ").split() if dist.shapes else []
    words = [(f"f{k}", f"f{one}", f"fix_{one}") for k, one in enumerate(shapes)]
    found: dict[int, Any] = {}
    for place, names in enumerate([*words, ("floc",), ("fscale",)]):
        given = [options[one] for one in names if options.get(one) is not None]
        if given:
            found[place] = given[0]
    return found


def _moves(function: Callable[[Any], Any], theta: Any) -> bool:
    """Tell if a function depends on free parameters."""
    return bool(np.any(plain(jacobian(function)(theta)) != 0))


def _maximum(cost: Callable[[Any], Any], start: Any, units: Any, name: str) -> Any:
    """Return the maximum of the likelihood near SciPy's parameters, by Newton's steps."""
    theta, slope = start, grad(cost)
    for k in range(STEPS):
        g, curvature = plain(slope(theta)), plain(jacobian(slope)(theta))
        _check_curvature(curvature * units[:, None] * units, name)
        step = np.linalg.solve(curvature, g)
        unit = np.maximum(np.abs(start), 1 / np.sqrt(np.diag(curvature)))
        far = np.max(np.abs(step) / unit)
        if k == 0 and far > FAR:
            raise _irregular(name)
        theta = theta - step
        if far <= 1e-13:
            break
    return theta


def _check_held(slope: Any, held: Any, theta: Any, units: Any, name: str) -> None:
    """Check that the likelihood rises only towards where an end of the support meets the data."""
    with no_grad():
        g, curvature = plain(slope(theta)), plain(jacobian(slope)(theta))
        rows = plain(jacobian(held)(theta))
    if not np.isfinite(g).all():
        raise _irregular(name)
    weights = np.linalg.lstsq(rows.T, g)[0]
    if not np.max(np.abs(g - rows.T @ weights)) <= 1e-3 * np.max(np.abs(g)):
        raise _irregular(name)
    along = np.linalg.svd(rows * units)[2][len(rows) :]  # directions that keep the ends in place
    _check_curvature(along @ (curvature * units[:, None] * units) @ along.T, name)


def _check_curvature(curvature: Any, name: str) -> None:
    """Check that the negative logarithm of the likelihood is convex, in units of the parameters."""
    values = np.linalg.eigvalsh(curvature) if np.isfinite(curvature).all() else np.zeros(1)
    if np.any(values < 1e-10 * np.max(values, initial=1.0)):  # also of rounding alone
        raise _irregular(name)


def _irregular(name: str) -> NoRuleError:
    return NoRuleError(
        f"{name}: the parameters that SciPy returns are not at a regular maximum of the likelihood "
        "(its slope is not zero, or its curvature is singular), so they have no derivative by it. "
        "Fix: fix a parameter, such as floc=, start nearer, or give a tighter optimizer=."
    )
