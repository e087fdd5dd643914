"""The recorder of a profile, which calls operations and measures them."""

from __future__ import annotations

import threading
import time
import tracemalloc
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.calls.bound import NodeOp
from gradwrap.core.graph.node import EDGE, JOINT
from gradwrap.core.levels.wrapper import AnyWrapper, innermost
from gradwrap.core.library.backend import is_array
from gradwrap.core.library.buffers import callers
from gradwrap.core.values.dynamic import SEQUENCE, SLICE, type_of
from gradwrap.profiling.memory import Account, arrays_of, buffers_of, saved_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradwrap.core.calls.bound import BoundOp
    from gradwrap.core.graph.node import Node
    from gradwrap.core.library.buffers import Stack
    from gradwrap.core.observing.performing import Performer


class Event(NamedTuple):
    """One call of an operation, or one visit of its node in a backward pass."""

    operation: str
    backward: bool
    """True in a backward pass; so are the calls of what is computed again there."""
    visit: bool
    """True for the visit of a node."""
    place: Stack
    """The lines of code that led to the operation, from that of the `with` block inwards."""
    began: float
    """In seconds since the profile began."""
    time: float
    own: float
    """The time without that of the events inside of this one, and of the profile itself."""
    bytes: int
    """The size of the arrays that it made."""
    saved: int
    """The size of those arrays that were first saved for backward by this operation."""
    thread: int


class _Open:
    """An event that has not ended yet."""

    __slots__ = ("backward", "highest", "inside", "is_whole", "operation", "place", "to_save")

    def __init__(self, operation: str, place: Stack, *, backward: bool, is_whole: bool) -> None:
        self.operation = operation
        self.place = place
        self.backward = backward
        self.is_whole = is_whole  # inner calls belong to it
        self.inside = 0.0
        self.highest = 0  # of the traced bytes
        self.to_save: list[Any] = []


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.open: list[_Open] = []


class Recorder:
    """The observer of one profile."""

    def __init__(self, *, traces: bool) -> None:
        self._traces = traces
        self._start = time.perf_counter()
        self.overhead: float = 0.0
        """The seconds that the profile itself took, in no event."""
        self._outer = tuple(callers())[::-1]
        self._threads = _PerThread()
        self._seen: dict[Any, tuple[Any, ...]] = {}
        self.events: list[Event] = []
        self.fallbacks: Counter[tuple[str, Stack]] = Counter()
        self.repeated: dict[tuple[str, Stack], list[Event]] = {}
        self.account: Account = Account(self.clock)

    def start(self) -> None:
        """Start the clock."""
        self._start = time.perf_counter()

    def clock(self) -> float:
        """Return the seconds since the profile began."""
        return time.perf_counter() - self._start

    def _charge(self, seconds: float) -> None:
        """Count time as overhead of the profile, and not of the open event."""
        self.overhead += seconds
        if self._threads.open:
            self._threads.open[-1].inside += seconds

    # Calls ----------------------------------------------------------------------------------------

    def __call__(
        self, performer: Performer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a function, and record it as an event, or as part of the open event."""
        entered = self.clock()
        outer = self._threads.open[-1] if self._threads.open else None
        if performer.kind == "fallback":
            place = self._place() if outer is None or not outer.is_whole else outer.place
            self.fallbacks[performer.name_of(*args, **kwargs), place] += 1
            return function(*args, **kwargs)
        if outer is not None and outer.is_whole:
            return function(*args, **kwargs)
        if performer.kind == "visit":
            return self._visit(function, args, kwargs)
        opened = _Open(
            performer.name_of(*args, **kwargs),
            self._place(),
            backward=performer.kind == "pass" or (outer is not None and outer.backward),
            is_whole=performer.kind == "operation",
        )
        known = buffers_of(args)
        # recomputations by `checkpoint` are intended, and not counted as repetitions
        is_first = opened.is_whole and not opened.backward
        again = self._is_again(opened.operation, args) if is_first else False
        began, result = self._timed(opened, function, args, kwargs)
        event = self._end(opened, began, args[:1] if result is None else (result,), known)
        if again:
            self.repeated.setdefault((opened.operation, opened.place), []).append(event)
        self._charge(self.clock() - entered - event.time)
        return result

    def _visit(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Visit a node; the new arrays are the cotangents at its arguments."""
        entered = self.clock()
        pending, _, node, g, *_ = args
        if node.op.selects:
            function(*args, **kwargs)
            return
        place = () if node.op.watch is None else node.op.watch.place
        opened = _Open(node.op.name, place, backward=True, is_whole=node.op.rule is not None)
        parents = list(_parents(node))
        known = buffers_of((g, *(saved for _, _, saved, _ in node.edges)))
        began, _ = self._timed(opened, function, args, kwargs)
        arrived = [pending[one.seq][1] for one in parents if one.seq in pending]
        event = self._end(opened, began, arrived, known, visit=True)
        self._charge(self.clock() - entered - event.time)

    def _timed(
        self, opened: _Open, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[float, float], Any]:
        """Call a function; return its start time, its duration, and its result."""
        alive, traced = self.account.alive, self._traced()
        self._threads.open.append(opened)
        began = self.clock()
        try:
            result = function(*args, **kwargs)
        finally:
            took = self.clock() - began
            self._traced()
            self._threads.open.pop()
            if self._threads.open:
                self._threads.open[-1].inside += took
        self.account.reach(alive + opened.highest - traced)
        return (began, took), result

    def _traced(self) -> int:
        """Return the bytes traced now, and note the highest number for the open events."""
        if not self._traces:
            return 0
        now, highest = tracemalloc.get_traced_memory()
        for opened in self._threads.open:
            opened.highest = max(opened.highest, highest)
        tracemalloc.reset_peak()
        return now

    def _end(
        self,
        opened: _Open,
        timed: tuple[float, float],
        made: Any,
        known: frozenset[int],
        *,
        visit: bool = False,
    ) -> Event:
        arrays = [array for value in made for array in arrays_of(value)]
        size = self.account.enter(arrays, known)
        saved = self.account.save(opened.to_save)
        event = Event(
            opened.operation,
            opened.backward,
            visit,
            self._inside(opened.place),
            timed[0],
            timed[1],
            timed[1] - opened.inside,
            size,
            saved,
            threading.get_ident(),
        )
        self.events.append(event)
        return event

    def told(self, bound: BoundOp, edges: list[Any]) -> Stack:
        """Note the arrays that a node saves; return the place of its operation."""
        entered = self.clock()
        arrays = saved_in(edges, EDGE)
        opened = self._threads.open[-1] if self._threads.open else None
        if opened is None:
            self.account.save(arrays)
            place = self._place()
        else:
            opened.to_save += arrays
            place = opened.place
        self._charge(self.clock() - entered)
        return place

    # Places ---------------------------------------------------------------------------------------

    def _place(self) -> Stack:
        return tuple(callers())[::-1]

    def _inside(self, place: Stack) -> Stack:
        """Return a place without the calls that led to the `with` block."""
        depth = len(self._outer) - 1
        if depth < 0 or [code for code, _ in place[: depth + 1]] != [c for c, _ in self._outer]:
            return place
        return place[depth:]

    # Repetitions ----------------------------------------------------------------------------------

    def _is_again(self, operation: str, args: tuple[Any, ...]) -> bool:
        """Tell if an operation was called before with the same arguments."""
        held: list[Any] = []
        key = (operation, *(_identity(arg, held) for arg in args))
        if not held or _UNKNOWN in key:
            return False
        before = self._seen.get(key)
        if before is not None and all(a() is b for a, b in zip(before, held, strict=True)):
            return True
        try:
            self._seen[key] = tuple(weakref.ref(one) for one in held)
        except TypeError:  # a number of NumPy's
            return False
        return False


def _parents(node: Node) -> Iterator[Any]:
    for parent, _, _, index in node.edges:
        if index == JOINT:
            yield from (one for one in parent if one is not None)
        else:
            yield parent


_UNKNOWN = ("unknown",)
_SAMPLES = 4


def _identity(arg: Any, held: list[Any]) -> Any:
    """Return a value that identifies an argument; add the objects it relies on to `held`.

    A plain array is known by its identity and some of its values.
    """
    if isinstance(arg, NodeOp):  # the general call is given its operation
        return arg.name
    if arg is None or isinstance(arg, (bool, int, float, complex, str, SLICE, type(...))):
        return repr(arg)
    if isinstance(arg, SEQUENCE):
        parts = tuple(_identity(part, held) for part in arg)
        return _UNKNOWN if _UNKNOWN in parts else parts
    node = arg._node if isinstance(arg, AnyWrapper) else None
    if node is not None:
        held.append(node)
        return id(node)
    array = innermost(arg)
    if not is_array(array) or not array.shape or not hasattr(array, "tobytes"):
        return _UNKNOWN
    owner = array
    while isinstance(getattr(owner, "base", None), type_of(array)):
        owner = owner.base  # two views of the same part are the same argument
    held.append(owner)
    part = () if owner is array else (array.__array_interface__["data"][0], array.strides)
    steps = tuple(slice(None, None, max(1, size // _SAMPLES)) for size in array.shape)
    return id(owner), array.shape, part, array[steps].tobytes()
