"""SciPy's sparse matrices that get a tracked element: they are tracked until the transform ends."""

from __future__ import annotations

import weakref
from abc import ABC
from typing import Any

import scipy.sparse

from gradwrap.core.array.wrapping import wrap
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.observing.changed import note_changed
from gradwrap.core.values.dynamic import type_of
from gradwrap.scipy.solving import is_tracer, plain
from gradwrap.scipy.tracked_matrix import TrackedMatrix, lacks, tracked

OF_DICTIONARIES = frozenset(
    name for name in vars(dict) if not name.startswith("__") and name not in vars(TrackedMatrix)
)


class TrackedArray(ABC, TrackedMatrix):
    """A tracked matrix with the memory layout of SciPy's arrays, so that they can be converted."""


class TrackedDictionary(TrackedArray, dict[Any, Any]):  # type: ignore[misc]  # its methods are those of the matrix
    """A tracked matrix with the layout of SciPy's dictionaries of elements (`dok_array`).

    The dictionary itself is empty.
    """

    def __getattribute__(self, name: str) -> Any:
        if name in OF_DICTIONARIES:
            return TrackedMatrix.__getattr__(self, name)
        return super().__getattribute__(name)

    def __len__(self) -> int:
        return self.nnz

    def __contains__(self, key: object) -> bool:
        return key in self.entries()

    def __bool__(self) -> bool:
        return bool(self.made)


def _refusing(name: str) -> Any:
    def refuse(self: Any, *_: Any) -> Any:  # noqa: ARG001  a method's form
        raise lacks(name)

    return refuse


for _name in ("__delitem__", "__ior__", "__or__", "__reversed__", "__ror__"):
    setattr(TrackedDictionary, _name, _refusing(_name))


def become_tracked(matrix: Any, found: TrackedMatrix) -> None:
    """Make an object of SciPy's class a matrix of tracked elements."""
    is_array = issubclass(type_of(matrix), scipy.sparse.sparray)
    is_dictionary = issubclass(type_of(matrix), dict)
    kind = TrackedDictionary if is_dictionary else TrackedArray if is_array else TrackedMatrix
    matrix.__class__ = kind
    vars(matrix).clear()
    vars(matrix).update(vars(found))


def take_store(matrix: Any) -> None:
    """Make a matrix of SciPy's one of tracked elements, until the outermost transform ends."""
    if is_differentiating():
        note_changed(_Before(matrix))
    become_tracked(matrix, tracked(matrix, wrap))


class _Before:
    """What a matrix was before it got a tracked element.

    Called, it makes it SciPy's again, with the values that a plain run would have left; a trace
    has none, and leaves it as it was.
    """

    def __init__(self, matrix: Any) -> None:
        self._kind: Any = type_of(matrix)
        self._held: dict[str, Any] | None = dict(vars(matrix))
        self._matrix = weakref.ref(matrix, self._forget)

    def _forget(self, _: Any) -> None:
        self._held = None

    def __call__(self) -> None:
        matrix = self._matrix()
        if matrix is None or self._held is None or not isinstance(matrix, TrackedMatrix):
            return
        is_traced_now = is_tracer(plain(matrix.stored_data()))
        held = self._held if is_traced_now else vars(matrix.made.copy())  # it owns its arrays
        matrix.__class__ = self._kind
        vars(matrix).clear()
        vars(matrix).update(held)
