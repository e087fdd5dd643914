"""Types that label one array, as tables do: operations use the array, gradients get labels.

A package that knows such a type enters it here. An operation with a wrapper and such an object
computes with its array, and returns a wrapper without labels. The library of the type would put
elements with equal labels together. So where an argument of a transform had labels, other objects
must have the same ones in the same order, or the operation is refused.
"""

from __future__ import annotations

import functools
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from gradwrap.core.levels.levels import TAPE_LEVEL, is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, layers, unwrapped_index
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.core.values.record import Record
from gradwrap.core.values.space import Meta
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Axes(list[Any]):
    """The labels of the arguments of one transform."""

    __slots__ = ("__weakref__",)


class LabelledLevel(int):
    """The level of a transform whose arguments have labels, which it keeps."""

    axes: Axes


class Labelled(Record):
    """The functions that read the array and axes of a labelled object, and label another array."""

    data: Callable[[Any], Any]
    """The array of an object; raises an error if there is none of numbers."""
    relabelled: Callable[[Any, Any], Any]
    """Another array with the labels of an object; the array itself if they do not fit."""
    axes: Callable[[Any], Sequence[Any]]
    """The labels of each axis of an object, which have a length and a method `equals`."""
    held: Callable[[Any], Any] | None = None
    """What a tracked array is beside such objects, if its library can combine it with them."""
    combined: Callable[[Callable[..., Any], Sequence[Any]], Any] | None = None
    """The result of a function of arrays, with the labels of the operand that has some."""
    tracked: Callable[[Any], Any] | None = None
    """The tracked array that an object holds, or None."""


labelled: dict[type[Any], Labelled] = {}
holders: list[Callable[[Any], Any]] = []
"""Functions that return the tracked array in an instance of another class, also in containers."""
attributes: dict[str, Callable[[Any], Any]] = {}
"""Attributes of labelled objects that a wrapper of such an argument has, too."""
are_kept: ContextVar[bool] = ContextVar("gradwrap_labels", default=False)
"""Whether results have the labels of an operand, as code expects that knows nothing of wrappers."""
known_labels: WeakValueDictionary[int, Axes] = WeakValueDictionary()
"""The labels of the arguments of a transform, by its level, while an array of that level lives."""


def labels_of(value: Any) -> Labelled | None:
    """Return how the type of a value labels its array, or None."""
    kind: Any = type_of(value)
    return _of_type(kind, len(labelled)) if labelled else None


@functools.lru_cache(256)
def _of_type(kind: Any, _count: int) -> Labelled | None:
    """Return how a type labels its array, as long as no further types are entered."""
    return next((labelled[base] for base in kind.__mro__ if base in labelled), None)


def without_labels(value: Any) -> Any:
    """Return the array of a labelled value, and any other value unchanged."""
    found = labels_of(value)
    return value if found is None else found.data(value)


def tracked_in(value: Any) -> Any:
    """Return the tracked array that a labelled value holds, or None."""
    found = labels_of(value)
    return None if found is None or found.tracked is None else found.tracked(value)


def opening(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of arrays, so that it is given those that labelled objects hold."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if (labelled or holders) and is_differentiating():
            args, kwargs = opened(args, kwargs)
        return function(*args, **kwargs)

    return call


def opened(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments with the arrays that labelled objects hold in their places."""
    return tuple(map(array_held, args)), {name: array_held(arg) for name, arg in kwargs.items()}


def array_held(value: Any) -> Any:
    """Return the tracked array that a labelled object, or one of another class, holds, or it."""
    found = tracked_in(value)
    if found is not None:
        return found
    for held in holders:
        value = held(value)
    return value


def with_labels(value: Any, level: int) -> int:
    """Return the level for an argument of a transform, with which its labels are kept.

    Raises
    ------
    TrackedValueError
        Another argument has other labels along an axis of the same length.
    """
    found = labels_of(value)
    if found is None or level == TAPE_LEVEL:
        return level
    known = known_labels.get(level)
    if known is None:
        known = known_labels[level] = Axes()
    for axis in found.axes(value):
        if any(len(axis) == len(other) and not axis.equals(other) for other in known):
            raise _misaligned(value)
        known.append(axis)
    kept = LabelledLevel(level)
    kept.axes = known
    return kept


def relabel(made: Any, like: Any) -> None:
    """Keep the labels of an object with a tracked array that was made in its shape."""
    meta = made._node.meta
    level = with_labels(like, meta.level)
    made._node.meta = Meta(meta.shape, meta.dtype, meta.device, level, meta.is_complex)


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


def keeps_labels(operands: Sequence[Any]) -> Labelled | None:
    """Return the type of labels whose library combines the operands, and keeps them, or None."""
    if not labelled:
        return None
    found = next(filter(None, map(labels_of, operands)), None)
    if found is None or found.held is None:
        return None
    if not are_kept.get() and all(tracked_in(one) is None for one in operands):
        return None
    if any(_labels_of_arguments(one) or getattr(one, "ndim", 0) > 2 for one in operands):
        return None
    return found


def combined(found: Labelled, apply: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Return a result with labels, or leave it to the library's operator in adapted code."""
    if found.combined is None or are_kept.get():
        return NotImplemented
    return found.combined(apply, operands)


def key_without_labels(array: Any, key: Any) -> Any:
    """Return an index with the arrays of labelled objects, which the library would look up.

    Raises
    ------
    TrackedValueError
        A mask has other labels than the arguments of the transform, or numbers stand for labels.
    """
    parts = key if isinstance(key, TUPLE) else (key,)
    if all(labels_of(part) is None for part in parts):
        return key
    known = _labels_of_arguments(array)
    for part in parts:
        found = labels_of(part)
        if found is None or not known:
            continue
        if found.data(part).dtype.kind != "b":
            if any([*axis] != [*range(len(axis))] for axis in known):
                raise _by_label(part)
        elif not all(any(axis.equals(other) for other in known) for axis in found.axes(part)):
            raise _misaligned(part)
    plain = tuple(map(without_labels, parts))
    return plain if isinstance(key, TUPLE) else plain[0]


def plain_key(array: Any, key: Any) -> Any:
    """Return an index of an array without wrappers and without labels."""
    return unwrapped_index(key_without_labels(array, key) if labelled else key)


def attribute_of(variable: Any, name: str) -> Callable[[Any], Any] | None:
    """Return the function that gets an attribute of a labelled argument, or None."""
    return attributes.get(name) if _labels_of_arguments(variable) else None


def _labels_of_arguments(value: Any) -> list[Any]:
    """Return the labels of the arguments of all transforms around a wrapper."""
    if not known_labels or not isinstance(value, AnyWrapper):
        return []
    return [
        axis
        for layer in layers(value)
        if layer._node is not None
        for axis in known_labels.get(layer._node.meta.level, ())
    ]


def _by_label(value: Any) -> TrackedValueError:
    kind = type_of(value)
    return TrackedValueError(
        f"an argument of the function was indexed by the numbers of a {kind.__name__}, which "
        f"{kind.__module__.partition('.')[0]} would look up among the labels of the argument. "
        "Tracked values have no labels. Fix: index by .to_numpy() to go by position; "
        "positions of labels are argument.index.get_indexer(labels)."
    )


def _misaligned(value: Any) -> TrackedValueError:
    kind = type_of(value)
    return TrackedValueError(
        f"a {kind.__name__} has other labels than an argument of the function, or the same ones in "
        f"another order: {kind.__module__.partition('.')[0]} would put equal labels together, "
        "which tracked values do not have. Fix: bring them into one order before the call "
        "(other.reindex(argument.index)), or pass .to_numpy() of each to go by position."
    )
