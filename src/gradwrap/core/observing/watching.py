"""Recordings that are watched: saved arrays are packed or guarded, places in code are noted.

A node that is watched gets a binding of its own, marked special, so that the backward pass takes
it off its fast path; others cost nothing. What its formulas saved may stand there in another
form (`Packed`, `Guarded`), and the pass asks the binding for the arrays again.
"""

from __future__ import annotations

import linecache
import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from gradwrap.core.graph.node import EDGE, JOINT
from gradwrap.core.levels.levels import current_watch, unwatched, watch_with
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.library.backend import backend_of, find_backend, library_of
from gradwrap.core.values.comparing import described, described_wholly
from gradwrap.core.values.dynamic import SEQUENCE, rebuilt, type_of
from gradwrap.errors import BufferChangedError, SavedArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from types import CodeType, FrameType

    from gradwrap.core.calls.bound import BoundOp

Hooks = tuple["Callable[[Any], Any]", "Callable[[Any], Any]"]
Stack = tuple[tuple["CodeType", int], ...]

PACKAGE = str(Path(__file__).parent.parent)


class Watch(NamedTuple):
    """The form in which a context keeps what its operations save, and what it notes of them."""

    hooks: Hooks | None = None
    notes_place: bool = False
    guards: bool = False

    def observed(self, bound: BoundOp, edges: list[Any]) -> tuple[BoundOp, list[Any]]:
        """A binding for one node, and its edges with what they save in its new form."""
        edges = list(edges)
        for at in range(2, len(edges), EDGE):
            edges[at] = self.kept(edges[at])
        return bound.changed(watch=self.observation()), edges

    def kept(self, value: Any) -> Any:
        """The form in which something that is saved for backward is kept."""
        keep = self._pack if self.hooks is not None else guarded if self.guards else None
        return value if keep is None else mapped(value, is_array, keep)

    def observation(self) -> Observation:
        """Note the place of a call that is recorded now, if that is wanted."""
        return Observation(tuple(_frames()) if self.notes_place or self.guards else ())

    def _pack(self, array: Any) -> Packed:
        assert self.hooks is not None
        pack, unpack = self.hooks
        with unwatched():
            return Packed(pack(array), unpack, array)


class Watching:
    """A context manager during which recordings are watched, or passes are inspected."""

    _state: tuple[Callable[[], Any], Callable[[Any], Any], Any] = (
        current_watch,
        watch_with,
        Watch(),
    )
    """Functions that read and write what the context asks for, and what to start from."""

    def __init__(self) -> None:
        self._outside: list[Any] = []

    def _watch(self, outside: Any) -> Any:
        """The watch inside of this context, made from the one outside."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        current, change, nothing = self._state
        self._outside.append(current())
        change(self._watch(current() or nothing))
        return self

    def __exit__(self, *exc_info: object) -> None:
        # not by a token: a generator may be closed in another context than it was started in
        self._state[1](self._outside.pop())


class Observation:
    """The notes on a node that was watched."""

    __slots__ = ("_place",)

    def __init__(self, place: Stack) -> None:
        self._place = place

    @property
    def stack(self) -> str:
        """The lines of code that led to the operation, those of gradwrap left out."""
        return "".join(
            f'  File "{code.co_filename}", line {line}, in {code.co_name}\n'
            f"    {linecache.getline(code.co_filename, line).strip()}\n"
            for code, line in self._place
        )

    def restored(
        self,
        op: str,
        edges: Iterable[Any],
        on_path: Container[Any] | None,
        targets: Container[Any] | None,
    ) -> list[Any]:
        """The edges that this pass needs, with the arrays that they saved."""
        return [
            (parent, formula, self.array_of(op, saved), index)
            for parent, formula, saved, index in edges
            if index == JOINT or on_path is None or parent in on_path or parent in (targets or ())
        ]

    def array_of(self, op: str, kept: Any) -> Any:
        """Restore what was saved for backward to the form in which it was given."""

        def restore(one: Any) -> Any:
            return one.unpacked(op) if isinstance(one, Packed) else one.checked(op, self.stack)

        return mapped(kept, lambda one: isinstance(one, (Packed, Guarded)), restore)


class Packed:
    """The content that the user's function made of an array, and a description of the array."""

    __slots__ = ("_content", "_described", "_unpack")

    def __init__(self, content: Any, unpack: Callable[[Any], Any], array: Any) -> None:
        self._content = content
        self._unpack = unpack
        self._described = described_wholly(array)

    def held_arrays(self) -> list[Any]:
        """No arrays that are known of: they may be on disk."""
        return []

    def unpacked(self, op: str) -> Any:
        """The array again, checked to be of the same kind."""
        with unwatched():
            array = native(self._unpack(self._content))
        found = described_wholly(array) if library_of(array) else f"a {type(array).__name__}"
        if found != self._described:
            raise SavedArrayError(
                f"saved_tensors_hooks: unpack gave {found} in place of an array that {op} had "
                f"saved, {self._described}. Fix: let unpack return what pack was given."
            )
        return array


class Guarded:
    """An array that is to have the same values in backward as in forward, and a copy of them."""

    __slots__ = ("__weakref__", "_copy", "array")

    def __init__(self, array: Any) -> None:
        self.array: Any = array
        self._copy = backend_of(array).copy(array)

    def is_unchanged(self) -> bool:
        """Tell if the array still has the values of the copy."""
        now, then = self.array, self._copy
        backend = backend_of(now)
        same = now == then
        if backend.is_float(now):
            same = same | ((now != now) & (then != then))  # noqa: PLR0124  NaN stays NaN
        return bool(backend.xp.all(same))

    def held_arrays(self) -> list[Any]:
        """The array; not the copy, which nothing needs."""
        return [self.array]

    def checked(self, op: str, stack: str) -> Any:
        """Return the array, unless somebody has written to it."""
        if not self.is_unchanged():
            raise BufferChangedError(
                f"An array that {op} saved for backward, {described(self.array)}, was overwritten "
                "after that, so the gradient would be wrong. Fix: write to a copy of it, or after "
                "backward.\n"
                f"{op} was recorded here (most recent call last):\n{stack.rstrip()}"
            )
        return self.array


_guarded: weakref.WeakValueDictionary[int, Guarded] = weakref.WeakValueDictionary()


def guarded(array: Any) -> Guarded:
    """Copy the values of an array; all who save it while it has these values share the copy."""
    known = _guarded.get(id(array))
    if known is None or known.array is not array or not known.is_unchanged():
        known = _guarded[id(array)] = Guarded(array)
    return known


# What a formula saved -----------------------------------------------------------------------------


def is_array(value: Any) -> bool:
    """Tell if a value is a native array; a lone integer, as in an index, is left alone."""
    backend = find_backend(type_of(value))
    return backend is not None and (value.ndim > 0 or backend.is_float(value))


def mapped(value: Any, wanted: Callable[[Any], bool], change: Callable[[Any], Any]) -> Any:
    """Change the arrays in a value: below wrappers, and in tuples and lists."""
    kind = type_of(value)
    if isinstance(value, AnyWrapper):
        inner = mapped(value._value, wanted, change)
        return value if inner is value._value else kind(inner, value._node)
    if isinstance(value, SEQUENCE):
        parts = [mapped(part, wanted, change) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return rebuilt(value, parts)
    return change(value) if wanted(value) else value


def _frames() -> Iterable[tuple[CodeType, int]]:
    """The code and line of each caller outside gradwrap, outermost first."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    found: list[tuple[CodeType, int]] = []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) and code.co_filename != "<string>":
            found.append((code, frame.f_lineno))
        frame = frame.f_back
    return reversed(found)
