"""Comparisons of an extrapolated program with the function, at lengths that were not traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.extrapolating.sizes import Declined, TooSlow, timed
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.tree import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.engines.register import Executable
    from gradwrap.compiler.extrapolating.points import Family, Found, Subject
    from gradwrap.compiler.ir.program import Program

    Compared = Callable[[Family], None]
    Mismatch = Callable[[Sequence[Any], Sequence[Any], Sequence[float] | None], str]

NUMBER: type[Any] = np.generic
SECONDS = 1.0
"""The time that a comparison at full size may take."""
SHARE = 0.1
"""By so much of its size, an argument is changed at most."""


def at_unseen(
    engine: Callable[[Program], Executable], mismatch: Mismatch, precisions: Callable[..., Any]
) -> Compared:
    """Return a function that compares programs at two points that were not traced."""

    def compare(family: Family) -> None:
        subject = family.subject
        for seed, point in enumerate(family.unseen):
            program = family.at(point)
            leaves = changed(family.cut_leaves(), subject.given, seed)
            wanted, _ = flatten(_run(subject, leaves, family.around()))
            given = _inputs(leaves, subject.given)
            try:
                found = engine(program).call(*given)
            except Exception as error:  # noqa: BLE001  the program is wrong
                raise Declined(f"at {point}, its program raises {error!r}") from error
            problem = mismatch(wanted, found, precisions(family.base.traced))
            if problem:
                raise Declined(f"at lengths {point}, its program gives {problem}")

    return compare


def _run(subject: Subject, leaves: Sequence[Any], around: Any) -> Any:
    """Run the function on plain arrays at short lengths."""
    function, entered = around.with_arrays(leaves, lambda array: array)
    args, kwargs = unflatten(subject.treedef, entered)
    try:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  on other arguments, it may raise anything
        raise Declined(f"with short loops it raised {type(error).__name__}: {error}") from error


def _inputs(leaves: Sequence[Any], given: Sequence[bool]) -> list[Any]:
    found = [leaf for leaf, is_given in zip(leaves, given, strict=True) if is_given]
    return [np.float64(x) if type_of(x) is float else x for x in found]


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
    sizes = np.abs(array[np.isfinite(array)])
    scale = float(np.max(sizes, initial=0.0)) or 1.0
    factors = 1.0 + SHARE * rng.uniform(-1.0, 1.0, array.shape)
    new = np.where(array == 0, scale * SHARE * rng.uniform(0.1, 1.0, array.shape), array * factors)
    if type_of(leaf) is float:
        return float(new)
    if isinstance(leaf, NUMBER):
        return array.dtype.type(new)
    made = np.empty_like(array)
    made[...] = new
    return made


def in_full(found: Found, call: Callable[..., Any], mismatch: Mismatch) -> str | None:
    """Compare the program with the function at full size, on changed arguments.

    Returns
    -------
    How they differ, or ""; None if the function takes too long.
    """
    subject = found.family.subject
    leaves = changed(subject.leaves, subject.given, 2)
    surroundings = subject.surroundings
    function, entered = surroundings.with_arrays(leaves, lambda array: array, timed(SECONDS))
    args, kwargs = unflatten(subject.treedef, entered)
    try:
        with np.errstate(all="ignore"):
            wanted, _ = flatten(function(*args, **kwargs))
    except TooSlow:
        return None
    given = _inputs(leaves, subject.given)
    return mismatch(wanted, call(*given), found.precisions)


