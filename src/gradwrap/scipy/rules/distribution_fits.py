"""Fits of distributions to tracked data: the derivatives of the most likely parameters.

SciPy's method finds the parameters, in closed form or by a search. Where the likelihood is greatest,
its gradient in the free parameters is zero; the implicit function theorem then gives their
derivatives. If the end of the support is at an element of the data, as for `expon`, this is a
constraint, and its Lagrange multiplier is one more unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import is_recorded, native
from gradwrap.errors import NoRuleError
from gradwrap.scipy.rules.optimize import is_zero
from gradwrap.scipy.solving import attached, data_of, plain, solution
from gradwrap.transforms.jacobian import jacobian
from gradwrap.transforms.reverse import grad

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FIX = "f", "fix_"
MOST = 1e9
"""The greatest condition number of the likelihood's curvature that counts as a peak."""


def fitted(name: str, dist: Any, original: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """Return SciPy's parameters with their derivatives in the data and in the fixed parameters."""
    given = dict(given)
    data, starts = (args[0], args[1:]) if args else (given.pop("data"), ())
    if str(given.get("method", "mle")).lower() != "mle":
        raise NoRuleError(
            f"{name} has no derivative with method={given['method']!r}. "
            "Fix: leave it out, or .detach() the data."
        )
    if not hasattr(data, "dtype"):
        data = np.asarray(data)
    data = np.reshape(data, (-1,))
    quiet = {key: _plain(value) for key, value in given.items()}
    found = original(dist, _plain(data), *map(_plain, starts), **quiet)
    fixed = _fixed(dist, given)
    free = [i for i in range(len(found)) if i not in fixed]
    if not free:
        return tuple(fixed[i] for i in range(len(found)))

    def parameters(x: Any) -> list[Any]:
        made = [fixed.get(i) for i in range(len(found))]
        for place, i in enumerate(free):
            made[i] = x[place]
        return made

    def cost(x: Any) -> Any:
        return -np.mean(dist.logpdf(data, *parameters(x)))

    ends = _ends(dist, data, found)
    slope = grad(cost)

    def distances(x: Any) -> Any:
        return np.stack([end(parameters(x)) for end in ends])

    def residual(unknown: Any) -> Any:
        x, forces = unknown[: len(free)], unknown[len(free) :]
        if not ends:
            return slope(x)
        return np.concatenate([slope(x) - forces @ jacobian(distances)(x), distances(x)])

    start = np.array([float(found[i]) for i in free])
    with no_grad(), np.errstate(all="ignore"):
        if ends:
            moves = np.reshape(plain(jacobian(distances)(start)), (len(ends), len(free)))
            forces = np.linalg.lstsq(moves.T, plain(slope(start)))[0]
            start = np.concatenate([start, forces])
        value, slopes = plain(residual(start)), plain(jacobian(residual)(start))
        is_peak = np.all(np.isfinite(value)) and is_zero(residual, start, value)
    units = np.array([*(abs(float(found[-1])) for _ in free), *(1.0 for _ in ends)])
    for place, i in enumerate(free):
        if i < len(found) - 2:  # a shape has no unit
            units[place] = 1.0 + abs(float(found[i]))
    shown = tuple(float(one) for one in found)
    if not is_peak or np.linalg.cond(slopes * units[:, None] * units) > MOST:
        raise NoRuleError(
            f"{name} has no derivative here: {shown} is not a point where the likelihood has a "
            "slope of zero and a curvature in each parameter. Fix: fix a parameter, such as "
            "floc=0, or .detach() the data."
        )
    root = solution(residual, start)
    parts = {(i,): root[place] for place, i in enumerate(free)}
    parts |= {(i,): value if is_recorded(value) else found[i] for i, value in fixed.items()}
    return attached(name.removeprefix("scipy."), found, parts)


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


def _ends(dist: Any, data: Any, found: Sequence[Any]) -> list[Callable[[Sequence[Any]], Any]]:
    """Return the distances of the support's ends from the elements of the data that are there."""
    *shapes, loc, scale = (float(one) for one in found)
    numbers = np.asarray(data_of(data))
    made: list[Callable[[Sequence[Any]], Any]] = []
    ends = dist._get_support(*shapes)
    for end, place in zip(ends, (np.argmin(numbers), np.argmax(numbers)), strict=True):
        gap = loc + scale * float(end) - numbers[place]
        if np.isfinite(end) and abs(gap) <= 1e-9 * abs(scale):
            made.append(lambda v, end=float(end), at=data[place]: v[-2] + v[-1] * end - at)
    return made
