"""Results that must be equal but for rounding: those of tracked values, and of plain ones."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.levels import differentiating
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    batched_parts,
    holds_batch,
    innermost,
    is_batch,
    is_recorded,
    layers,
    native,
)
from gradwrap.core.observing.callers import Refusal, noted
from gradwrap.core.values.dynamic import attributes_of
from gradwrap.core.values.tree import flatten, map_leaves

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = 32
"""So many examples of a batch are computed alone, to be compared."""
SAME = 1e-6
"""The relative difference up to which code has computed the same in another way."""


def parts_of(value: Any) -> list[Any]:
    """Return the leaves of a value, with the attributes in place of each object."""
    leaves = flatten(value)[0]
    return [part for leaf in leaves for part in flatten(_attributes(leaf) or leaf)[0]]


def _attributes(leaf: Any) -> dict[str, Any]:
    return {} if isinstance(leaf, (AnyWrapper, np.ndarray)) else attributes_of(leaf)


def are_equal(first: list[Any], second: list[Any], tolerance: float = 1e-9) -> bool:
    """Tell if the parts of two values are equal; only numbers and arrays are compared."""
    pairs = zip(first, second, strict=False)
    return len(first) == len(second) and all(_equal(*pair, tolerance) for pair in pairs)


def _equal(one: Any, other: Any, tolerance: float) -> bool:
    values = [native(v) if isinstance(v, AnyWrapper) else v for v in (one, other)]
    if not all(isinstance(v, (np.ndarray, np.generic, int, float, complex)) for v in values):
        return True
    first, second = (np.asarray(v) for v in values)
    if first.shape != second.shape or not {first.dtype.kind, second.dtype.kind} <= set("biufc"):
        return bool(first.shape == second.shape)
    return bool(np.allclose(first, second, rtol=tolerance, atol=0.0, equal_nan=True))


def check_caught(
    since: Refusal | None, out: object, function: Callable[..., Any], args: Any, kwargs: Any
) -> None:
    """Raise the last refusal if code has caught it, and went on without the gradient.

    That is so if its result depends on nothing tracked, or is another one than for plain values.
    `since` is what was noted before the code ran.
    """
    latest = noted.get()
    if latest is None or latest is since:
        return
    what = "depends on nothing tracked: a gradient would be zero"
    if is_recorded(out):
        noted.set(since)
        if not _differs(out, function, args, kwargs):
            return
        what = "is another one than for plain values: a part of the gradient would be missing"
    noted.set(None)
    raise latest.error(f"{latest.message} The code has caught this error, and its result {what}.")


def _differs(out: object, function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Tell if a function gives another result for plain values, and the same one each time."""
    if is_traced():
        return False
    if holds_batch([out, args, kwargs]):
        return _differs_in_an_example(out, function, args, kwargs)
    found: list[Any] = []
    for _ in range(2):
        try:
            with differentiating(False):
                plain = function(*map_leaves(_plain, args), **map_leaves(_plain, kwargs))
        except Exception:  # noqa: BLE001  it takes tracked values alone: there is nothing to compare
            return False
        found.append(parts_of(plain))
        if are_equal(parts_of(out), found[0], SAME):
            return False
    return are_equal(*found)


def _differs_in_an_example(out: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Tell if some example of a batch has another result alone; of many, some are looked at."""
    batches = {layer._node.size: layer for layer in batched_parts([out, args, kwargs])}
    if len(batches) > 1 or any(map(_is_nested, flatten([out, args, kwargs])[0])):
        return False
    size = next(iter(batches))

    def differs(index: int) -> bool:
        def one(leaf: Any) -> Any:
            plain = copy.copy(innermost(leaf))
            return plain[index] if holds_batch(leaf) else plain

        try:
            with differentiating(False):
                found = function(*map_leaves(one, args), **map_leaves(one, kwargs))
        except Exception:  # noqa: BLE001  as above
            return False
        return not are_equal(parts_of(map_leaves(one, out)), parts_of(found), SAME)

    return any(map(differs, range(0, size, max(1, size // EXAMPLES))))


def _is_nested(leaf: Any) -> bool:
    return isinstance(leaf, AnyWrapper) and sum(map(is_batch, layers(leaf))) > 1


def _plain(leaf: Any) -> Any:
    return copy.copy(native(leaf)) if isinstance(leaf, AnyWrapper) else copy.copy(leaf)
