"""Watched recordings, in which saved arrays are packed or guarded, and places noted.

A node that is watched gets a binding of its own, marked special, so that the backward pass takes it
off its fast path; others cost nothing. Its saved values may be `Packed` or `Guarded`, and the pass
asks the binding to restore the arrays.
"""

from __future__ import annotations

import operator
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from gradwrap.core.graph.node import EDGE, JOINT
from gradwrap.core.levels.levels import current_watch, next_sequence_number, unwatched, watch_with
from gradwrap.core.levels.wrapper import AnyWrapper, innermost, make_wrapper, native
from gradwrap.core.library.backend import backend_of, find_backend, library_of
from gradwrap.core.library.buffers import Content, Guarded, buffer_of, callers, shared, shown
from gradwrap.core.values.comparing import described_wholly
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, class_of, is_immutable, rebuilt, type_of
from gradwrap.core.values.record import Record
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import SavedArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from gradwrap.core.calls.bound import BoundOp
    from gradwrap.core.library.buffers import Stack

Hooks = tuple["Callable[[Any], Any]", "Callable[[Any], Any]"]


class Watch(Record):
    """The way in which a context keeps the values that its operations save, with notes on them."""

    hooks: Hooks | None = None
    notes_place: bool = False
    guards: bool = False
    told: Callable[[BoundOp, list[Any]], Stack] | None = None
    """Is told of each operation, with its edges, and answers with the place to note."""

    @property
    def keeps(self) -> bool:
        """Tell if saved arrays are packed or guarded, rather than kept unchanged."""
        return self.hooks is not None or self.guards

    def observed(self, bound: BoundOp, edges: list[Any]) -> tuple[BoundOp, list[Any]]:
        """Return a binding for one node, and its edges with the saved values packed or guarded."""
        edges = list(edges)
        place = tuple(callers())[::-1] if self.notes_place or self.guards else ()
        if self.told is not None:
            told = self.told(bound, edges)
            place = place or told
        for at in range(2, len(edges), EDGE):
            edges[at] = self.kept(edges[at], place)
        return bound.changed(watch=Observation(place)), edges

    def kept(self, value: Any, place: Stack) -> Any:
        """Return a saved value with its arrays packed or guarded."""
        if self.hooks is not None:
            return mapped(value, is_array, self._pack)
        return mapped(value, is_array, partial(_guarded, place)) if self.guards else value

    def _pack(self, array: Any) -> Packed:
        assert self.hooks is not None
        pack, unpack = self.hooks
        with unwatched():
            return Packed(pack(array), unpack, array)


_left: list[tuple[Any, Any]] = []
"""What contexts made that were left before those inside of them, and what was outside."""


class Watching:
    """A context manager that watches recordings or inspects backward passes."""

    _state: tuple[Callable[[], Any], Callable[[Any], Any], Any] = (
        current_watch,
        watch_with,
        Watch(),
    )
    """Functions that read and write what the context asks for, and what to start from."""

    def __init__(self) -> None:
        self._entered: list[tuple[Any, Any]] = []

    def _watch(self, outside: Any) -> Any:
        """Return the watch inside of this context, made from the outer watch."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        current, change, nothing = self._state
        outside = current()
        made = self._watch(outside or nothing)
        made = made.changed() if made is outside else made  # an object of its own
        self._entered.append((made, outside))
        change(made)
        return self

    def __exit__(self, *exc_info: object) -> None:
        # not by a token: a generator may be closed in another context than it was started in
        current, change, _ = self._state
        made, outside = self._entered.pop()
        if current() is not made:  # another has been entered since, and leaves later
            _left.append((made, outside))
            return
        for entry in reversed(_left.copy()):
            if entry[0] is outside:
                _left.remove(entry)
                outside = entry[1]
        change(outside)


class Observation:
    """The place in the code where a watched node was recorded."""

    __slots__ = ("place",)

    def __init__(self, place: Stack) -> None:
        self.place: Stack = place

    @property
    def stack(self) -> str:
        """The lines of code that led to the operation, without gradwrap's."""
        return shown(self.place)

    def restored(
        self,
        op: str,
        edges: Iterable[Any],
        began: int,
        on_path: Container[Any] | None,
        targets: Container[Any] | None,
    ) -> list[Any]:
        """Return the edges that this pass needs, with their saved arrays restored."""
        return [
            (parent, formula, array_of(op, saved, began), index)
            for parent, formula, saved, index in edges
            if index == JOINT or on_path is None or parent in on_path or parent in (targets or ())
        ]


UNNOTED = Observation(())
"""Of nodes that saved guarded arrays outside of any watch."""


def kept_value(value: Any, level: int) -> Any:
    """Return the form in which an operation saves an argument; a watch may keep it unchanged."""
    watch: Watch | None = current_watch()
    return value if watch is not None and watch.keeps else kept_parts(value, level)


def kept_parts(value: Any, level: int) -> Any:
    """Return the form in which an array of any library, or nested arrays, are saved."""
    if is_immutable(value):
        return value
    library = library_of(value)
    if library is not None:
        return library.kept(value, level)
    if not isinstance(value, SEQUENCE):
        return value
    parts = [kept_parts(part, level) for part in value]
    if isinstance(value, TUPLE) and all(map(operator.is_, parts, value)):
        return value
    return rebuilt(value, parts)


def kept_shared(keep: Callable[[Any, int], Any], value: Any, level: int) -> Any:
    """Apply `keep` to the data of a wrapper if the caller can write to them."""
    array = innermost(value)
    is_shared = id(array) in shared or id(buffer_of(array)) in shared
    return keep(value, level) if is_shared else value


def kept_tree(tree: Any, level: int) -> Any:
    """Return a tree with its arrays in the form in which they are saved."""
    return map_leaves(lambda leaf: kept_parts(leaf, level), tree)


def restored_tree(op: str, tree: Any) -> Any:
    """Restore the saved arrays of a tree, checked to have their content."""
    reader = next_sequence_number()
    return map_leaves(lambda leaf: array_of(op, leaf, reader), tree)


def array_of(op: str, kept: Any, reader: int) -> Any:
    """Restore a saved value: unpack and check its arrays."""

    def restore(one: Any) -> Any:
        return one.unpacked(op) if isinstance(one, Packed) else one.checked(op, reader)

    return mapped(kept, lambda one: isinstance(one, (Packed, Guarded)), restore)


class Packed:
    """The result of the user's packing function for an array, and the array's description."""

    __slots__ = ("_content", "_described", "_unpack")

    def __init__(self, content: Any, unpack: Callable[[Any], Any], array: Any) -> None:
        self._content = content
        self._unpack = unpack
        self._described = described_wholly(array)

    def held_arrays(self) -> list[Any]:
        """Return no arrays: the packed content may be on disk."""
        return []

    def unpacked(self, op: str) -> Any:
        """Unpack the array, and check that its kind is the same."""
        with unwatched():
            array = native(self._unpack(self._content))
        found = described_wholly(array) if library_of(array) else class_of(array)
        if found != self._described:
            raise SavedArrayError(
                f"saved_tensors_hooks: unpack gave {found} in place of an array that {op} had "
                f"saved, {self._described}. Fix: let unpack return what pack was given."
            )
        return array


class Copied(Content):
    """The content of an array of any library, as a copy."""

    __slots__ = ()

    def __init__(self, array: Any) -> None:
        super().__init__(array, backend_of(array).copy)

    def is_unchanged(self) -> bool:
        now, then = self.array, self._then
        backend = backend_of(now)
        same = now == then
        if backend.is_float(now):
            same = same | ((now != now) & (then != then))  # noqa: PLR0124  NaN stays NaN
        return bool(backend.xp.all(same))


_copied: weakref.WeakValueDictionary[int, Copied] = weakref.WeakValueDictionary()


def _guarded(place: Stack, array: Any) -> Guarded:
    """Guard an array; guards of the same content share one copy."""
    known = _copied.get(id(array))
    if known is None or known.array is not array or not known.is_unchanged():
        known = _copied[id(array)] = Copied(array)
    return Guarded(array, known, place)


# What a formula saved -----------------------------------------------------------------------------


def is_array(value: Any) -> bool:
    """Tell if a value is a native array; a lone integer, as in an index, is left alone."""
    backend = find_backend(type_of(value))
    return backend is not None and (value.ndim > 0 or backend.is_float(value))


def mapped(value: Any, wanted: Callable[[Any], bool], change: Callable[[Any], Any]) -> Any:
    """Apply `change` to the arrays in a value, below wrappers and in tuples and lists."""
    kind = type_of(value)
    if isinstance(value, AnyWrapper):
        inner = mapped(value._value, wanted, change)
        return value if inner is value._value else make_wrapper(kind, inner, value._node)
    if isinstance(value, SEQUENCE):
        parts = [mapped(part, wanted, change) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return rebuilt(value, parts)
    return change(value) if wanted(value) else value
