"""Types that label one array, as a table does: operations take the array, gradients get the labels.

A package that knows such a type enters it here. An operation with a wrapper and such an object
computes with its array, and returns a wrapper without labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable


class Labelled(NamedTuple):
    """How a type labels an array."""

    data: Callable[[Any], Any]
    """The array of an object; raises an error if there is none of numbers."""
    relabelled: Callable[[Any, Any], Any]
    """Another array with the labels of an object; the array itself if they do not fit."""


labelled: dict[type[Any], Labelled] = {}


def labels_of(value: Any) -> Labelled | None:
    """How the type of a value labels an array; None if it does not."""
    if not labelled:
        return None
    return next((labelled[base] for base in type_of(value).__mro__ if base in labelled), None)


def without_labels(value: Any) -> Any:
    """Return the array of a labelled one, and any other value as it is."""
    found = labels_of(value)
    return value if found is None else found.data(value)
