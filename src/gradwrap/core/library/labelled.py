"""Types that label one array, as tables do: operations use the array, gradients get labels.

A package that knows such a type enters it here. An operation with a wrapper and such an object
computes with its array, and returns a wrapper without labels. The library of the type would put
elements with equal labels together. So where an argument of a transform had labels, other objects
must have the same ones in the same order, or the operation is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.levels.levels import TAPE_LEVEL
from gradwrap.core.levels.wrapper import AnyWrapper, layers
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MOST_LEVELS = 4096
"""The transforms whose labels are remembered, the latest ones."""


class Labelled(NamedTuple):
    """The functions that read the array and axes of a labelled object, and label another array."""

    data: Callable[[Any], Any]
    """The array of an object; raises an error if there is none of numbers."""
    relabelled: Callable[[Any, Any], Any]
    """Another array with the labels of an object; the array itself if they do not fit."""
    axes: Callable[[Any], Sequence[Any]]
    """The labels of each axis of an object, which have a length and a method `equals`."""


labelled: dict[type[Any], Labelled] = {}
attributes: dict[str, Callable[[Any], Any]] = {}
"""Attributes of labelled objects that a wrapper of such an argument has, too."""
_known: dict[int, list[Any]] = {}
"""The labels of the arguments of a transform, by its level."""


def labels_of(value: Any) -> Labelled | None:
    """Return how the type of a value labels its array, or None."""
    if not labelled:
        return None
    return next((labelled[base] for base in type_of(value).__mro__ if base in labelled), None)


def without_labels(value: Any) -> Any:
    """Return the array of a labelled value, and any other value unchanged."""
    found = labels_of(value)
    return value if found is None else found.data(value)


def remember_labels(value: Any, level: int) -> None:
    """Note the labels of an argument of the transform that has this level.

    Raises
    ------
    TrackedValueError
        Another argument has other labels along an axis of the same length.
    """
    found = labels_of(value)
    if found is None or level == TAPE_LEVEL:
        return
    known = _known.setdefault(level, [])
    for axis in found.axes(value):
        if any(len(axis) == len(other) and not axis.equals(other) for other in known):
            raise _misaligned(value)
        known.append(axis)
    while len(_known) > MOST_LEVELS:
        _known.pop(next(iter(_known)), None)


def unlabelled(arrays: Iterable[Any]) -> list[Any]:
    """Return the arguments of an operation, with labelled values replaced by arrays.

    Raises
    ------
    TrackedValueError
        One of them has other labels than the arguments of the transform.
    """
    arrays = list(arrays)
    if all(labels_of(array) is None for array in arrays):
        return arrays
    known = [axis for array in arrays for axis in _labels_of_arguments(array)]
    for array in arrays:
        found = labels_of(array)
        if found is not None and known:
            for axis in found.axes(array):
                if not any(axis.equals(other) for other in known):
                    raise _misaligned(array)
    return [without_labels(array) for array in arrays]


def attribute_of(variable: Any, name: str) -> Callable[[Any], Any] | None:
    """Return the function that gets an attribute of a labelled argument, or None."""
    return attributes.get(name) if _labels_of_arguments(variable) else None


def _labels_of_arguments(value: Any) -> list[Any]:
    """Return the labels of the arguments of all transforms around a wrapper."""
    if not _known or not isinstance(value, AnyWrapper):
        return []
    return [
        axis
        for layer in layers(value)
        if layer._node is not None
        for axis in _known.get(layer._node.meta.level, ())
    ]


def _misaligned(value: Any) -> TrackedValueError:
    kind = type_of(value)
    return TrackedValueError(
        f"a {kind.__name__} has other labels than an argument of the function, or the same ones in "
        f"another order: {kind.__module__.partition('.')[0]} would put equal labels together, "
        "which tracked values do not have. Fix: bring them into one order before the call "
        "(other.reindex(argument.index)), or pass .to_numpy() of each to go by position."
    )
