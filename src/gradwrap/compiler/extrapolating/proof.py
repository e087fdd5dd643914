"""Comparisons of an extrapolated program with the function, at lengths that were not traced."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.extrapolating.paths import can_run_other, covered, paths
from gradwrap.compiler.extrapolating.points import inputs_of, itself, run
from gradwrap.compiler.extrapolating.sizes import Declined, TooSlow, timed
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.transforms.reverse import differentiated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from gradwrap.compiler.engines.register import Executable
    from gradwrap.compiler.extrapolating.points import Family, Found, Subject
    from gradwrap.compiler.ir.program import Program

    Mismatch = Callable[[Sequence[Any], Sequence[Any], Sequence[float] | None], str]
    MismatchOfCall = Callable[
        [Callable[..., Any], Subject, Sequence[Any], Sequence[Any], Sequence[float]], str
    ]

NUMBER: type[Any] = np.generic
SECONDS = 1.0
"""The most time that a comparison at full size may take."""
LEAST, PART = 0.1, 0.5
"""It may take so many seconds, or this part of the time of the first call until then."""
FOLLOWED = 3.0
"""The time of a run whose steps are followed, by that of one whose steps are not."""
FAR = 8.0
"""A run is left out that must take so many times too long, by a short one with followed steps."""
OTHER_PATHS = "a late turn takes another branch"
SHARE = 0.1
"""By so much of its size, an argument is changed at most."""


def at_unseen(
    engine: Callable[[Program], Executable], mismatch: Mismatch, precisions: Callable[..., Any]
) -> Callable[[Family], None]:
    """Return a function that compares programs at two points that were not traced."""

    def compare(family: Family) -> None:
        for seed, point in enumerate(family.unseen):
            at_point(family, family.at(point), engine, mismatch, precisions, seed)

    return compare


def at_point(
    family: Family,
    program: Program,
    engine: Callable[[Program], Executable],
    mismatch: Mismatch,
    precisions: Callable[..., Any],
    seed: int,
) -> None:
    """Compare a program with the function at the current lengths.

    Raises
    ------
    Declined
        They differ.
    """
    subject, point = family.subject, family.sizes.short
    leaves = changed(family.cut_leaves(), subject.given, seed)
    began = time.perf_counter()
    with new_paths(family) as taken:
        wanted, _ = flatten(run(subject, leaves, family.around()))
    longer = max(whole / near for whole, near in zip(family.actual, point, strict=True))
    family.seconds = max(family.seconds, (time.perf_counter() - began) * longer)
    family.paths |= taken
    given = inputs_of(leaves, subject.given)
    try:
        found = engine(program).call(*given)
    except Exception as error:
        raise Declined(f"at {point}, its program raises {error!r}") from error
    problem = mismatch(wanted, found, precisions(family.base.traced))
    family.is_in_order &= all(one.flags.c_contiguous for one in wanted if np.ndim(one))
    if problem:
        raise Declined(f"at lengths {point}, its program gives {problem}")


def new_paths(family: Family) -> AbstractContextManager[set[Any]]:
    """Collect the steps of a run that may be new; none if all code has taken all its branches."""
    is_users = family.subject.surroundings.is_users
    return paths(is_users, covered(family.paths)) if is_followed(family) else nullcontext(set())


def is_followed(family: Family) -> bool:
    """Tell if a run may take steps that the runs so far did not take."""
    surroundings, known = family.subject.surroundings, covered(family.paths)
    objects = [one for one, _ in surroundings.objects()]
    return can_run_other(objects, family.paths, known, surroundings.is_users)


def changed(leaves: Sequence[Any], given: Sequence[bool], seed: int) -> list[Any]:
    """Return leaves whose floats are a little different, in general position.

    A gradient at zero, for instance, would hide what a program leaves out.
    """
    rng = np.random.default_rng(seed)
    return [
        _changed(leaf, rng) if is_given else leaf
        for leaf, is_given in zip(leaves, given, strict=True)
    ]


def _changed(leaf: Any, rng: Any) -> Any:
    array = np.asarray(leaf)
    if array.dtype.kind not in "fc" or not array.size:
        return leaf
    new = np.asarray(array * rng.uniform(1.0 - SHARE, 1.0 + SHARE, array.shape), array.dtype)
    zeros = array == 0
    if np.any(zeros):
        scale = float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0)) or 1.0
        new[zeros] = scale * SHARE * rng.uniform(0.1, 1.0, np.count_nonzero(zeros))
    if type_of(leaf) is float:
        return float(new)
    if isinstance(leaf, NUMBER):
        return new[()]
    made = np.empty_like(array)
    made[...] = new
    return made


def in_a_direction(
    family: Family, function: Callable[..., Any], given: tuple[Any, Any], results: Any
) -> bool:
    """Tell if the results of a gradient at full size fit the function that it differentiates.

    Its value is compared, and the gradient's product with a direction in which all elements of the
    arguments change, with a central difference. For other functions there is no such comparison.
    """
    of, (args, kwargs) = differentiated(function), given
    if of is None or kwargs:
        return False
    argnums: Any = of.argnums
    places: Sequence[Any] = (argnums,) if isinstance(argnums, (int, str)) else argnums
    if not all(isinstance(place, int) for place in places):
        return False
    gradient = results[1] if of.gives_value else results
    parts = (gradient,) if isinstance(argnums, int) else gradient
    rng = np.random.default_rng(3)
    total = size = 0.0
    moved: list[list[Any]] = [[*args], [*args]]
    for place, part in zip(places, parts, strict=True):
        leaves, treedef = flatten(args[place])
        slopes = flatten(part)[0]
        if len(slopes) != len(leaves):
            return False
        steps = [_step(x, rng) for x in leaves]
        if any(step is None for step in steps):
            return False
        for to, sign in zip(moved, (STEP, -STEP), strict=True):
            new = [_moved(x, sign * step) for x, step in zip(leaves, steps, strict=True)]
            to[place] = unflatten(treedef, new)
        for slope, step in zip(slopes, steps, strict=True):
            total += float(np.sum(slope * step))
            size += float(np.sum((slope * step) ** 2))
    try:
        with new_paths(family) as taken:
            above = float(of.fun(*moved[0]))
        below = float(of.fun(*moved[1]))
    except Exception:  # noqa: BLE001  the function is compared as it is called
        return False
    if not taken <= family.paths:
        return False
    noise = ROUNDING * max(abs(above), abs(below)) / STEP
    if np.sqrt(size) < VISIBLE * noise:  # a difference would not tell it from another one
        return False
    distance = abs((above - below) / (2 * STEP) - total)
    is_value = not of.gives_value or _is_between(float(results[0]), above, below, total)
    return bool(is_value and distance <= RELATIVE * np.sqrt(size) + noise)


STEP = 1e-6
"""The relative change of the arguments in a difference."""
RELATIVE = 1e-5
"""The relative error of a difference."""
ROUNDING = 1e-13
"""The relative error of a value."""
VISIBLE = 10.0
"""By so much, a gradient has to exceed the rounding errors of a difference."""


def _step(leaf: Any, rng: Any) -> Any:
    """Return a change of an array by up to its largest element; None for others.

    No two elements change equally, so that one element's slope in the place of another is seen.
    """
    array = np.asarray(leaf)
    if array.dtype != np.float64:
        return None
    scale = float(np.max(np.abs(array), initial=0.0)) or 1.0
    draws = rng.uniform(-0.5, 0.5, array.shape)
    return scale * (draws + np.copysign(0.5, draws))


def _moved(leaf: Any, step: Any) -> Any:
    return float(leaf + step) if type_of(leaf) is float else leaf + step


def _is_between(value: float, above: float, below: float, slope: float) -> bool:
    """Tell if a value lies where those at both ends of a short step say."""
    curvature = RELATIVE * STEP * abs(slope)
    distance = abs(value - (above + below) / 2)
    return bool(distance <= curvature + ROUNDING / STEP**0.5 * abs(value))


def general(
    subject: Subject, call: Callable[..., Any], results: Sequence[Any]
) -> tuple[tuple[Any, Any], Sequence[Any]]:
    """Return arguments in general position, and the results of a program there.

    These are its own arguments and results, unless these have zeros or many equal elements.
    """
    leaves = subject.leaves
    if any(map(_is_special, subject.inputs)):
        leaves = changed(leaves, subject.given, 2)
        results = call(*inputs_of(leaves, subject.given))
    return unflatten(subject.treedef, leaves), results


def _is_special(leaf: Any) -> bool:
    """Tell if an array has zeros, or neighbours that are equal, which may hide faults."""
    array = np.ravel(leaf)
    return bool(np.any(array == 0) or np.any(array[1:] == array[:-1]))


def affordable(spent: float) -> float:
    """Return the seconds that a comparison at full size may take after those of a first call."""
    return min(SECONDS, max(LEAST, PART * spent))


def in_full(
    found: Found,
    call: Callable[..., Any],
    mismatch: MismatchOfCall,
    seconds: float,
) -> str | None:
    """Compare the program with the function at full size, on changed arguments.

    `mismatch` may run the function again, to see how far its results move. `seconds` are those of
    a run whose steps are followed.

    Returns
    -------
    How they differ, or ""; None if the function takes too long.
    """
    subject = found.family.subject
    if found.family.seconds > FAR * seconds:
        return None
    seconds /= 1.0 if is_followed(found.family) else FOLLOWED
    leaves = changed(subject.leaves, subject.given, 2)
    surroundings = subject.surroundings
    function, entered = surroundings.with_arrays(leaves, itself, timed(seconds))
    args, kwargs = unflatten(subject.treedef, entered)
    try:
        with np.errstate(all="ignore"), new_paths(found.family) as taken:
            wanted, _ = flatten(function(*args, **kwargs))
        results = call(*inputs_of(leaves, subject.given))
    except TooSlow:
        return None
    except Exception as error:  # noqa: BLE001  on other arguments, it may raise anything
        return f"on changed arguments it raised {type(error).__name__}: {error}"
    if not taken <= found.family.paths:
        return OTHER_PATHS
    given = subject._replace(leaves=leaves)
    return mismatch(subject.function, given, wanted, results, found.precisions)
