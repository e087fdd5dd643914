"""Slices of ever more or fewer elements, such as `x[:i]` in the turns of a loop, as whole axes.

A *ragged* axis of a value has another length in each turn. It is replaced by the whole axis that
it is a part of: its elements lie between `start` and `stop` there, and the rest holds anything.
Elementwise operations are performed on all of it. Where elements meet, in sums, products and
writes, those outside are replaced by a number that has no effect. The masks for that are
the rows of a triangle, so that only indices differ from turn to turn, and loops are found.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.analysis import elements
from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.operations import (
    ADD_ACCUMULATE,
    ADD_REDUCE,
    COPY,
    FLIP,
    GETITEM,
    MATMUL,
    MEAN,
    RESHAPE,
    SCATTER_ADD,
    SETITEM,
    Kind,
)
from gradwrap.compiler.ir.program import (
    Instr,
    Ref,
    Value,
    copy,
    full,
    getitem,
    given,
    is_elementwise,
    is_literal,
    zeros,
)
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.core.values.dynamic import SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gradwrap.compiler.ir.operations import Operation
    from gradwrap.compiler.ir.program import Program

FEWEST = 4
"""The fewest lengths of slices in one place of the code that make them ragged."""
BACKWARDS = slice(None, None, -1)


class Axis(NamedTuple):
    """A ragged axis: the elements from `start` to `stop` of a whole axis."""

    whole: int
    """The length of the whole axis."""
    start: int
    stop: int
    starts: bool
    """Whether `start` varies."""
    stops: bool
    """Whether `stop` varies."""

    @property
    def length(self) -> int:
        """Return the number of elements."""
        return self.stop - self.start

    @property
    def reversed(self) -> Axis:
        """Return the axis in the opposite direction."""
        start, stop = self.whole - self.stop, self.whole - self.start
        return Axis(self.whole, start, stop, self.stops, self.starts)


class Padded(NamedTuple):
    """A value with ragged axes, as one with whole axes."""

    ref: Ref
    axes: dict[int, Axis]
    is_copy: bool = False
    """Whether it is a copy of a part, which later writes do not change."""


class _Span(NamedTuple):
    """A slice in a key."""

    axis: int
    """The axis that it selects from."""
    start: int
    stop: int


class Unpadded(Exception):  # noqa: N818  it is caught, and the operation stays as it is
    """An operation has to be performed on the elements alone."""


def pad_slices(program: Program) -> float:
    """Replace the ragged slices of a trace by whole axes.

    Returns
    -------
    How many times as many elements are computed then; 0 if there are no such slices.
    """
    slices = _slices(program)
    if not (slices.ragged or slices.single):
        return 0.0
    first, before = len(program.values), elements(program, program.root.body)
    padding = _Padding(program, slices)
    padding.run()
    remove_dead(program)
    every = {index for step in program.root.body for index in given(step)}
    describe_orders(program, first, every if slices.ragged else slices.single)
    program.exact = False
    if not slices.ragged:
        return 0.0
    program.quiet = ("divide", "invalid", "over", "under")  # of what lies outside of the slices
    program.notes.append(
        "slices whose length varies: computed as whole axes with masks, so that errors of "
        "arithmetic give no warning"
    )
    return elements(program, program.root.body) / max(before, 1)


def _parts(key: Any, ndim: int) -> list[Any] | None:
    """Return the parts of a key, one for each axis and each new axis; None for other keys."""
    parts: list[Any] = [*key] if isinstance(key, TUPLE) else [key]
    if not all(
        part is None
        or part is Ellipsis
        or type_of(part) is int
        or (isinstance(part, SLICE) and is_literal(part))
        for part in parts
    ):
        return None
    rest = ndim - sum(part is not None and part is not Ellipsis for part in parts)
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        parts[at : at + 1] = [slice(None)] * rest
    else:
        parts += [slice(None)] * rest
    return parts


def _kind_of(part: Any) -> Any:
    """Return the kind of a part of a key: for a slice, which of its bounds are given."""
    if isinstance(part, SLICE):
        return part.start is None, part.stop is None, part.step
    return type_of(part)


def _spans(parts: Sequence[Any], shape: Sequence[int]) -> list[_Span] | None:
    """Return the slices among the parts of a key, with plain bounds; None if one has steps."""
    spans: list[_Span] = []
    axis = 0
    for part in parts:
        if isinstance(part, SLICE):
            start, stop, step = part.indices(shape[axis])
            if part == BACKWARDS:
                start, stop = 0, shape[axis]
            elif step != 1:
                return None
            spans.append(_Span(axis, start, max(start, stop)))
        axis += part is not None
    return spans


class _Varying(NamedTuple):
    """A slice whose length varies."""

    starts: bool
    """Whether its start varies."""
    stops: bool
    longest: int
    """The length of the longest axis that such slices select from."""


class _Place(NamedTuple):
    """What slices of one place in the code have in common."""

    line: int
    name: str
    ndim: int
    kinds: tuple[Any, ...]
    """The kinds of the parts of their keys."""


class _Slices(NamedTuple):
    """Slices whose bounds vary."""

    ragged: dict[int, dict[int, _Varying]]
    """Those whose length varies, by operation and axis."""
    single: dict[int, set[int]]
    """By operation: the axes of slices `i : i + 1`."""
    copied: set[int]
    """The parts that are copied, in some turn at least."""


def _slices(program: Program) -> _Slices:
    """Return the slices of a trace whose bounds vary from turn to turn."""
    values = program.values
    places: dict[_Place, list[tuple[Instr, tuple[int, ...], list[_Span]]]] = defaultdict(list)
    for step in program.root.body:
        if not isinstance(step, Instr) or not step.op.has_key or type_of(step.args[0]) is not Ref:
            continue
        key: Any = step.args[1]
        if not any(isinstance(part, SLICE) for part in (key if isinstance(key, TUPLE) else (key,))):
            continue
        source: int = step.args[0].index
        shape: tuple[int, ...] = values[source].shape
        parts = _parts(key, len(shape))
        spans = None if parts is None else _spans(parts, shape)
        if parts is not None and spans:
            kinds = tuple([_kind_of(part) for part in parts])
            places[_Place(step.line, step.name, len(shape), kinds)].append((step, shape, spans))
    copies = {
        index
        for step in program.root.body
        if isinstance(step, Instr) and step.op is COPY
        for index in step.reads
    }
    slices = _Slices({}, {}, set())
    for group in places.values():
        outs = {step.out for step, _, _ in group}
        if not outs.isdisjoint(copies):
            slices.copied.update(outs)
        for column in zip(*[spans for _, _, spans in group], strict=True):
            lengths = {one.stop - one.start for one in column}
            if lengths == {1} and len({one.start for one in column}) >= FEWEST:
                for step, _, _ in group:
                    slices.single.setdefault(step.out, set()).add(column[0].axis)
            if len(lengths) < FEWEST:
                continue
            axis = column[0].axis
            starts = {one.start for one in column}
            stops = {one.stop for one in column}
            axes: list[int] = [shape[axis] for _, shape, _ in group]
            varying = _Varying(len(starts) > 1, len(stops) > 1, max(axes))
            for step, _, _ in group:
                slices.ragged.setdefault(step.out, {})[axis] = varying
    return slices


class _Padding:
    """Rewrites a trace without ragged axes."""

    def __init__(self, program: Program, slices: _Slices) -> None:
        self._program = program
        self._values = program.values
        self._ragged, self._single, self._copied = slices
        self._padded: dict[int, Padded] = {}
        """By value with ragged axes: the value that replaces it."""
        self._waiting: dict[int, Instr] = {}
        """By value: the operation that makes it, which waits until its length is known: it may be
        that of a ragged axis."""
        self._plain: set[int] = set()
        """The values with ragged axes that are there without padding too."""
        self._body: list[Any] = []
        self._tables: dict[tuple[str, int], Ref] = {}
        """By kind and length of an axis: the matrix whose rows are its masks, or orders."""
        self._before: list[Any] = []
        self._line = 0

    def run(self) -> None:
        """Rewrite the program."""
        root = self._program.root
        for step in root.body:
            assert isinstance(step, Instr)
            self._line = step.line
            if step.out in self._single:
                step = self._by_index(step)  # noqa: PLW2901  the same operation
            try:
                if self._ragged:
                    self._step(step)
                else:
                    self._body.append(step)
            except Unpadded:  # what it has written so far is removed as dead code
                self._keep(step)
        for index in _indices(root.result):
            self._need(index)
        root.body[:] = [*self._before, *self._body]

    # Writing ------------------------------------------------------------------------------------

    def _keep(self, step: Instr) -> None:
        """Perform an operation as it is."""
        for index in step.reads:
            self._need(index)
        self._body.append(step)

    def _need(self, index: int) -> None:
        """Provide a value without its padding."""
        waiting = self._waiting.pop(index, None)
        if waiting is not None:
            self._keep(waiting)
        padded = self._padded.get(index)
        if padded is None or index in self._plain:
            return
        self._plain.add(index)
        key = [slice(None)] * len(self._value(padded.ref).shape)
        for axis, one in padded.axes.items():
            key[axis] = slice(one.start, one.stop)
        self._body.append(
            Instr(getitem, "getitem", (padded.ref, tuple(key)), (), index, views=True)
        )

    def _emit(
        self,
        fn: Callable[..., Any],
        name: str,
        args: tuple[Any, ...],
        shape: Iterable[int],
        dtype: Any,
        kw: tuple[tuple[str, Any], ...] = (),
        *,
        views: bool = False,
    ) -> Ref:
        shape = tuple(shape)
        made = self._program.new(Value(shape, dtype, is_ndarray=bool(shape)))
        self._body.append(Instr(fn, name, args, kw, made.index, views, self._line))
        return made

    def _again(self, step: Instr, args: tuple[Any, ...], shape: Iterable[int]) -> Ref:
        """Perform an operation on other arguments."""
        value = self._values[step.out]
        made = self._program.new(value._replace(shape=tuple(shape)))
        self._body.append(step.on(args, made.index))
        return made

    def _define(self, step: Instr, ref: Ref, axes: dict[int, Axis]) -> None:
        """Say what replaces the result of an operation."""
        if axes:
            self._padded[step.out] = Padded(ref, axes)
        else:
            last = self._body.pop()
            assert last.out == ref.index
            self._body.append(last.on(last.args, step.out))

    def _by_index(self, step: Instr) -> Instr:
        """Return an operation on a part of one element, with its index in place of a slice."""
        source, key, *rest = step.args
        shape = self._value(source).shape
        parts = _parts(key, len(shape)) or []
        made: list[Any] = []
        place: list[Any] = []
        axis = 0
        for part in parts:
            is_one = axis in self._single[step.out] and isinstance(part, SLICE)
            if is_one:
                made.append(part.indices(shape[axis])[0])
                place.append(0)
            else:
                made.append(part)
                place += [slice(None)] * (not isinstance(part, int))
            if is_one and step.op is GETITEM:
                made.append(None)
            axis += part is not None
        if step.op is GETITEM:
            return step.on((source, tuple(made)))
        value: Any = rest[0]
        if type_of(value) is Ref and self._value(value).shape:
            ends = self._value(value).shape
            inside = place[len(place) - len(ends) :]
            kept = [n for n, one in zip(ends, inside, strict=True) if one != 0]
            self._need(value.index)
            dtype = self._value(value).dtype
            value = self._emit(
                getitem, "getitem", (value, tuple(inside)), kept, dtype, views=bool(kept)
            )
        return step.on((source, tuple(made), value))

    # Operations ---------------------------------------------------------------------------------

    def _step(self, step: Instr) -> None:
        op = step.op
        reads = [index for index in step.reads if index in self._padded]
        if step.out in self._ragged or (op.has_key and reads):
            if op is GETITEM:
                self._read(step)
            else:
                self._write(step)
        elif not reads and self._waits(step):
            self._waiting[step.out] = step
        elif not reads:
            self._keep(step)
        elif is_elementwise(step) and not step.kw:
            args, axes, shape = self._aligned(step.args)
            self._define(step, self._again(step, tuple(args), shape), axes)
        elif op.kind is Kind.COPY and self._source_of(step).is_copy:
            self._padded[step.out] = self._source_of(step)
        elif op.kind in (Kind.COPY, Kind.CAST, Kind.PART) and not _is_read(step.args[1:]):
            padded = self._source_of(step)
            shape = self._value(padded.ref).shape
            self._define(step, self._again(step, (padded.ref, *step.args[1:]), shape), padded.axes)
        elif op.kind is Kind.REDUCE or op is MEAN:
            self._reduce(step)
        elif op.kind is Kind.TRANSPOSE:
            self._transpose(step)
        elif op is FLIP:
            self._flip(step)
        elif op is MATMUL and not step.kw:
            self._product(step)
        elif op.kind is Kind.RESHAPE:
            self._reshape(step)
        elif op.kind is Kind.BROADCAST:
            self._broadcast(step)
        else:
            raise Unpadded

    def _waits(self, step: Instr) -> bool:
        """Tell if a result has as many elements as is known where it is used.

        These are arrays of one number, or of one that is repeated, and what is computed from them
        alone; single elements may have been written.
        """
        kind = step.op.kind
        if kind is Kind.FILL or (kind is Kind.BROADCAST and len(step.args) == 2):
            return bool(self._values[step.out].shape)
        arrays = [index for index in step.reads if self._values[index].shape]
        if not arrays or not all(index in self._waiting for index in arrays):
            return False
        if kind is Kind.RESHAPE:
            return self._pairs(step) is not None
        if kind is Kind.WRITE:
            parts = _parts(step.args[1], len(self._value(step.args[0]).shape)) or [None]
            return len(arrays) == 1 and all(type_of(part) is int for part in parts)
        return kind in (Kind.COPY, Kind.CAST) or (is_elementwise(step) and not step.kw)

    def _pairs(self, step: Instr) -> dict[int, int] | None:
        """Return the axis of the result for each axis of an array with another shape.

        Axes of one element are left out. The result is None if others are joined or split.
        """
        before, after = self._value(step.args[0]).shape, self._values[step.out].shape
        padded = self._padded.get(step.args[0].index)
        ragged = padded.axes.keys() if padded else ()
        from_axes = [n for n, length in enumerate(before) if length != 1 or n in ragged]
        to_axes = [n for n, length in enumerate(after) if length != 1]
        if [before[n] for n in from_axes] != [after[n] for n in to_axes]:
            return None
        return dict(zip(from_axes, to_axes, strict=True))

    def _read(self, step: Instr) -> None:
        source, shape, axes = self._source(step.args[0])
        whole, spans, parts = self._keyed(step, shape, axes)
        made: dict[int, Axis] = {}
        ends: list[int] = []
        axis = 0
        for part in parts:
            if part is None:
                ends.append(1)
            elif isinstance(part, SLICE):
                if axis in spans:
                    made[len(ends)] = spans[axis]
                    ends.append(spans[axis].whole)
                else:
                    ends.append(len(range(*part.indices(shape[axis]))))
            axis += part is not None
        if all(part == slice(None) for part in whole):
            if not made:
                raise Unpadded
            self._keep_part(step, source, made)
            return
        dtype = self._values[step.out].dtype
        key = tuple(whole)
        ref = self._emit(getitem, "getitem", (source, key), ends, dtype, views=bool(ends))
        if made:
            self._keep_part(step, ref, made)
        else:
            self._define(step, ref, made)

    def _keep_part(self, step: Instr, ref: Ref, axes: dict[int, Axis]) -> None:
        """Say what replaces a part of an array, and copy it where the trace does so later.

        The trace copies no part without elements, so that a turn would have fewer operations.
        """
        is_copy = step.out in self._copied
        if is_copy:
            value = self._values[step.out]
            ref = self._emit(copy, "copy", (ref,), self._shape(ref), value.dtype)
        self._padded[step.out] = Padded(ref, axes, is_copy)

    def _source(self, arg: Any) -> tuple[Ref, tuple[int, ...], dict[int, Axis]]:
        """Return an array that is read or written, its real shape and its ragged axes."""
        if type_of(arg) is not Ref:
            raise Unpadded
        shape = self._value(arg).shape
        padded = self._padded.get(arg.index)
        if padded is None:
            self._need(arg.index)
            return arg, shape, {}
        return padded.ref, shape, padded.axes

    def _keyed(
        self, step: Instr, shape: tuple[int, ...], axes: dict[int, Axis]
    ) -> tuple[list[Any], dict[int, Axis], list[Any]]:
        """Return a key of whole axes, what it selects of each ragged axis, and the key's parts."""
        parts = _parts(step.args[1], len(shape))
        if parts is None or _spans(parts, shape) is None:
            raise Unpadded
        varying = self._ragged.get(step.out, {})
        whole: list[Any] = []
        spans: dict[int, Axis] = {}
        axis = 0
        for part in parts:
            one = axes.get(axis)
            if part is None:
                whole.append(part)
                continue
            if isinstance(part, SLICE):
                start, stop, _ = part.indices(shape[axis])
                if one is None and axis not in varying:
                    whole.append(part)
                elif part == BACKWARDS:
                    spans[axis] = (one or Axis(shape[axis], 0, shape[axis], False, False)).reversed
                    whole.append(part)
                else:
                    found = varying.get(axis)
                    starts, stops = (found.starts, found.stops) if found else (False, False)
                    known = one or Axis(shape[axis], 0, shape[axis], starts, stops)
                    spans[axis] = Axis(
                        known.whole,
                        known.start + start,
                        known.start + max(start, stop),
                        known.starts or starts,
                        known.stops or stops,
                    )
                    whole.append(slice(None))
            else:
                at = part + shape[axis] * (part < 0)
                whole.append(part if one is None else one.start + at)
            axis += 1
        return whole, spans, parts

    def _write(self, step: Instr) -> None:
        target, _, value = step.args
        if type_of(target) is not Ref or step.kw:
            raise Unpadded
        if target.index in self._waiting:
            target = self._filled_like(step, target, value)
        source, shape, axes = self._source(target)
        whole, spans, parts = self._keyed(step, shape, axes)
        if not spans:
            if _is_read(value) and value.index in self._padded:
                raise Unpadded
            ref = self._again(step, (source, tuple(whole), value), self._shape(source))
            self._define(step, ref, axes)
            return
        places: dict[int, int] = {}
        ends: list[int] = []
        axis = 0
        for part in parts:
            if isinstance(part, SLICE):
                places[axis] = len(ends)
                length = len(range(*part.indices(shape[axis])))
                ends.append(self._shape(source)[axis] if axis in spans else length)
            elif part is None:
                ends.append(1)
            axis += part is not None
        wanted = {places[axis]: one for axis, one in spans.items()}
        moved = self._moved(value, wanted, len(ends))
        dtype = self._values[step.out].dtype
        if dtype.kind not in "fc" or (type_of(moved) is Ref and self._value(moved).dtype != dtype):
            raise Unpadded
        if step.op is SCATTER_ADD:
            made = self._masked(moved, wanted, ends, dtype, _zero(dtype))
            key = tuple(whole)
        elif step.op is SETITEM:
            key = tuple(whole)
            old = self._emit(getitem, "getitem", (source, key), ends, dtype, views=True)
            made = self._masked(moved, wanted, ends, dtype, old)
        else:
            raise Unpadded
        ref = self._again(step, (source, key, made), self._shape(source))
        self._define(step, ref, axes)

    def _filled_like(self, step: Instr, target: Ref, value: Any) -> Ref:
        """Provide an array that waits and is written to, if need be with whole axes."""
        shape = self._value(target).shape
        padded = self._padded.get(value.index) if type_of(value) is Ref else None
        parts = _parts(step.args[1], len(shape))
        spans = None if parts is None else _spans(parts, shape)
        varying = self._ragged.get(step.out, {})
        if parts is None or spans is None:
            self._need(target.index)
            return target
        if any(part is None for part in parts):
            raise Unpadded
        axes: dict[int, Axis] = {}
        count = 0
        for axis, part in enumerate(parts):
            if isinstance(part, SLICE):
                place = count - sum(isinstance(one, SLICE) for one in parts)
                one = padded and padded.axes.get(place + len(self._shape(padded.ref)))
                span = next(span for span in spans if span.axis == axis)
                if padded is None and axis in varying and shape[axis] < varying[axis].longest:
                    axes[axis] = Axis(varying[axis].longest, 0, shape[axis], False, True)
                elif one is not None and shape[axis] < one.whole and part == BACKWARDS:
                    axes[axis] = one.reversed
                elif one is not None and shape[axis] < one.whole:
                    start = min(max(one.start - span.start, 0), one.whole - shape[axis])
                    stop = start + shape[axis]
                    axes[axis] = Axis(one.whole, start, stop, one.starts, one.stops)
                count += 1
        if not axes:
            self._need(target.index)
            return target
        made = self._filled(target.index, axes, every=True)
        del self._waiting[target.index]
        self._padded[target.index] = Padded(made, axes)
        return target

    def _filled(self, index: int, axes: dict[int, Axis], *, every: bool = False) -> Ref:
        """Make an array that waits, with whole axes.

        Axes of one element stay as they are, which are repeated by elementwise operations, unless
        `every` axis counts.

        Raises
        ------
        Unpadded
            It is no such array, or has another length.
        """
        step = self._waiting.get(index)
        shape = [*self._values[index].shape]
        axes = {n: one for n, one in axes.items() if n >= 0 and (every or shape[n] != 1)}
        if not axes:
            self._need(index)
            return Ref(index)
        if step is None:
            raise Unpadded
        for axis, one in axes.items():
            if shape[axis] != one.length:
                raise Unpadded
            shape[axis] = one.whole
        kind, whole = step.op.kind, tuple(shape)
        if kind is Kind.FILL:
            return self._again(step, (whole, *step.args[1:]), shape)
        if kind is Kind.BROADCAST:
            first: Any = step.args[0]
            if type_of(first) is Ref:
                first = self._filled_argument(first, axes, len(shape))
            return self._again(step, (first, whole), shape)
        if kind is Kind.RESHAPE:
            pairs = {after: before for before, after in (self._pairs(step) or {}).items()}
            if not axes.keys() <= pairs.keys():
                raise Unpadded
            source = {pairs[n]: one for n, one in axes.items()}
            made = self._filled(step.args[0].index, source)
            return self._reshaped(made, shape, self._values[index].dtype)
        if kind is Kind.WRITE:
            target, key, value = step.args
            made = self._filled(target.index, axes, every=every)
            parts = _parts(key, len(shape)) or []
            moved = [
                part % self._value(target).shape[n] + (axes[n].start if n in axes else 0)
                for n, part in enumerate(parts)
            ]
            return self._again(step, (made, tuple(moved), value), shape)
        args = [self._filled_argument(arg, axes, len(shape), every=every) for arg in step.args]
        return self._again(step, tuple(args), shape)

    def _filled_argument(
        self, arg: Any, axes: dict[int, Axis], ndim: int, *, every: bool = False
    ) -> Any:
        if type_of(arg) is not Ref:
            return arg
        less = ndim - len(self._value(arg).shape)
        own = {axis - less: one for axis, one in axes.items()}
        return self._filled(arg.index, own, every=every)

    def _reshaped(self, ref: Ref, shape: Sequence[int], dtype: Any) -> Ref:
        args = (ref, tuple(shape))
        return self._emit(np.reshape, RESHAPE.name, args, shape, dtype, views=True)

    def _reduce(self, step: Instr) -> None:
        op, padded, value = step.op, self._source_of(step), self._value(step.args[0])
        shape = self._shape(padded.ref)
        options = dict(step.kw)
        axis = options.get("axis", 0)
        if len(step.args) > 1 or not options.keys() <= {"axis", "dtype", "keepdims"}:
            raise Unpadded
        summed = range(len(shape)) if axis is None else axis if isinstance(axis, TUPLE) else (axis,)
        along = {one % len(shape) for one in summed}
        masked = {one: padded.axes[one] for one in along & padded.axes.keys()}
        other = _without_effect(op, value.dtype)
        made = self._masked(padded.ref, masked, shape, value.dtype, other)
        keeps = bool(options.get("keepdims"))
        kept = [n for n in range(len(shape)) if keeps or n not in along]
        ends = [1 if n in along else shape[n] for n in kept]
        axes = {kept.index(n): one for n, one in padded.axes.items() if n not in along}
        if op is not MEAN:
            self._define(step, self._again(step, (made,), ends), axes)
            return
        if value.dtype != self._values[step.out].dtype:
            raise Unpadded
        count = 1.0
        for one in along:
            count *= value.shape[one]
        kw = (("axis", tuple(sorted(along))), ("keepdims", keeps))
        total = self._emit(np.add.reduce, ADD_REDUCE.name, (made,), ends, value.dtype, kw)
        self._define(step, self._emit(np.divide, "divide", (total, count), ends, value.dtype), axes)

    def _transpose(self, step: Instr) -> None:
        padded = self._source_of(step)
        shape = self._shape(padded.ref)
        if step.kw or step.args[1:] not in ((), ((1, 0),), (1, 0)) or len(shape) != 2:
            raise Unpadded
        axes = {1 - axis: one for axis, one in padded.axes.items()}
        args = (padded.ref, *step.args[1:])
        self._define(step, self._again(step, args, shape[::-1]), axes)

    def _flip(self, step: Instr) -> None:
        padded = self._source_of(step)
        shape = self._shape(padded.ref)
        axis = dict(step.kw).get("axis")
        if len(step.args) > 1 or type_of(axis) not in (int, type(None)):
            raise Unpadded
        along = range(len(shape)) if axis is None else (axis % len(shape),)
        axes = {n: one.reversed if n in along else one for n, one in padded.axes.items()}
        self._define(step, self._again(step, (padded.ref,), shape), axes)

    def _product(self, step: Instr) -> None:
        left, right = step.args
        if type_of(left) is not Ref or type_of(right) is not Ref:
            raise Unpadded
        dims = [len(self._value(one).shape) for one in step.args]
        if not all(1 <= n <= 2 for n in dims):
            raise Unpadded
        inner = (dims[0] - 1, 0)
        known = [self._padded.get(one.index) for one in step.args]
        ragged = [
            None if one is None else one.axes.get(axis)
            for one, axis in zip(known, inner, strict=True)
        ]
        refs = [self._whole(one) for one in step.args]
        shapes = [[*self._shape(one)] for one in refs]
        if any(ragged):
            if None in ragged:
                raise Unpadded
            common = self._common([one for one in ragged if one is not None])
            for n, axis in enumerate(inner):
                one = ragged[n]
                assert one is not None
                moved = self._along(refs[n], axis, one, common)
                shapes[n][axis] = common.whole
                dtype = self._value(moved).dtype
                refs[n] = self._masked(moved, {axis: common}, shapes[n], dtype, _zero(dtype))
        axes: dict[int, Axis] = {}
        ends: list[int] = []
        for n, axis in enumerate(inner):
            other = 1 - axis if dims[n] == 2 else None
            if other is None:
                continue
            padded = known[n]
            if padded is not None and other in padded.axes:
                axes[len(ends)] = padded.axes[other]
            ends.append(shapes[n][other])
        self._define(step, self._again(step, tuple(refs), ends), axes)

    def _reshape(self, step: Instr) -> None:
        padded, pairs = self._source_of(step), self._pairs(step)
        if pairs is None:
            raise Unpadded
        value = self._values[step.out]
        shape = [*value.shape]
        for n, one in padded.axes.items():
            shape[pairs[n]] = one.whole
        axes = {pairs[n]: one for n, one in padded.axes.items()}
        self._define(step, self._reshaped(padded.ref, shape, value.dtype), axes)

    def _broadcast(self, step: Instr) -> None:
        padded = self._source_of(step)
        before, after = (self._values[one].shape for one in (step.args[0].index, step.out))
        more = len(after) - len(before)
        if len(step.args) != 2 or any(before[n] != after[n + more] for n in padded.axes):
            raise Unpadded
        shape = [*after]
        for n, one in padded.axes.items():
            shape[n + more] = one.whole
        axes = {n + more: one for n, one in padded.axes.items()}
        self._define(step, self._again(step, (padded.ref, tuple(shape)), shape), axes)

    def _value(self, ref: Any) -> Value:
        index: int = ref.index
        return self._values[index]

    def _source_of(self, step: Instr) -> Padded:
        """Return what replaces the first argument of an operation."""
        index: int = step.args[0].index
        return self._padded[index]

    # Axes ---------------------------------------------------------------------------------------

    def _shape(self, ref: Ref) -> tuple[int, ...]:
        return self._value(ref).shape

    def _whole(self, arg: Ref) -> Ref:
        padded = self._padded.get(arg.index)
        if padded is None:
            self._need(arg.index)
            return arg
        return padded.ref

    def _common(self, found: Sequence[Axis]) -> Axis:
        """Return the axis along which several ragged ones are laid."""
        if len({one.length for one in found}) > 1:
            raise Unpadded
        first = min(found, key=lambda one: (one.starts, one.start))
        return first._replace(whole=max(one.whole for one in found))

    def _along(self, ref: Ref, axis: int, one: Axis, wanted: Axis) -> Ref:
        """Lay a ragged axis along another one."""
        shape, dtype = [*self._shape(ref)], self._value(ref).dtype
        if one.whole != wanted.whole:
            more = wanted.whole - one.whole
            if more < 0:
                part = (*[slice(None)] * axis, slice(wanted.whole))
                if one.stop > wanted.whole:
                    raise Unpadded
                shape[axis] = wanted.whole
                ref = self._emit(getitem, "getitem", (ref, part), shape, dtype, views=True)
            else:
                shape[axis] = more
                rest = self._emit(zeros, "zeros", (tuple(shape), dtype), shape, dtype)
                shape[axis] = wanted.whole
                kw = (("axis", axis),)
                ref = self._emit(np.concatenate, "concatenate", ([ref, rest],), shape, dtype, kw)
        by = wanted.start - one.start
        if not by:
            return ref
        if one.starts is wanted.starts:  # by as much in each turn, or no loop will be found
            kw = (("axis", axis),)
            return self._emit(np.roll, "roll", (ref, by), shape, dtype, kw)
        whole = wanted.whole
        kind = np.dtype(np.intp)
        row = -by % whole
        order = self._emit(
            getitem, "getitem", (self._orders(whole), row), (whole,), kind, views=True
        )
        key: Any = (*[slice(None)] * axis, order) if axis else order
        return self._emit(getitem, "getitem", (ref, key), shape, dtype)

    def _aligned(self, args: Sequence[Any]) -> tuple[list[Any], dict[int, Axis], tuple[int, ...]]:
        """Lay the operands of an elementwise operation along common axes."""
        shapes = [self._value(arg).shape if type_of(arg) is Ref else np.shape(arg) for arg in args]
        ndim = max(map(len, shapes))
        found: dict[int, list[Axis]] = {}
        for arg, shape in zip(args, shapes, strict=True):
            padded = self._padded.get(arg.index) if type_of(arg) is Ref else None
            for axis, one in padded.axes.items() if padded else ():
                found.setdefault(axis + ndim - len(shape), []).append(one)
        common = {axis: self._common(ones) for axis, ones in found.items()}
        moved = [arg if type_of(arg) is not Ref else self._moved(arg, common, ndim) for arg in args]
        ends = np.broadcast_shapes(
            *[self._shape(one) if type_of(one) is Ref else np.shape(one) for one in moved]
        )
        return moved, common, ends

    def _moved(self, arg: Any, wanted: dict[int, Axis], ndim: int) -> Any:
        """Lay the ragged axes of an operand along others, counted among `ndim` axes."""
        if type_of(arg) is not Ref:
            if np.ndim(arg):
                raise Unpadded
            return arg
        shape = self._value(arg).shape
        less = ndim - len(shape)
        own = {axis - less: one for axis, one in wanted.items() if axis >= less}
        if arg.index in self._waiting:
            return self._filled(arg.index, own)
        padded = self._padded.get(arg.index)
        if padded is None:
            self._need(arg.index)
            if any(shape[axis] != 1 for axis in own):
                raise Unpadded
            return arg
        if not padded.axes.keys() <= own.keys():
            raise Unpadded
        if any(shape[axis] != 1 for axis in own.keys() - padded.axes.keys()):
            raise Unpadded
        ref = padded.ref
        for axis, one in padded.axes.items():
            if one.length != own[axis].length:
                raise Unpadded
            ref = self._along(ref, axis, one, own[axis])
        return ref

    def _masked(
        self, value: Any, axes: dict[int, Axis], shape: Sequence[int], dtype: Any, other: Any
    ) -> Any:
        """Replace the elements outside of ragged axes by other ones."""
        for axis, one in axes.items():
            after = len(shape) - 1 - axis
            if one.stops or one.stop != one.whole:
                inside = self._mask(one.whole, one.stop, after)
                args = (inside, value, other)
                value = self._emit(np.where, "where", args, shape, dtype)
            if one.starts or one.start:
                outside = self._mask(one.whole, one.start, after)
                args = (outside, other, value)
                value = self._emit(np.where, "where", args, shape, dtype)
        return value

    def _mask(self, whole: int, stop: int, after: int) -> Ref:
        """Return which elements of an axis lie before a place, with further axes after it."""
        key: Any = (stop, slice(None), *[None] * after) if after else stop
        shape = (whole, *[1] * after)
        dtype = np.dtype(np.bool_)
        return self._emit(getitem, "getitem", (self._table(whole), key), shape, dtype, views=True)

    def _table(self, whole: int) -> Ref:
        """Return a matrix whose row `stop` tells which elements lie before `stop`."""
        return self._made_before("mask", whole, self._masks)

    def _orders(self, whole: int) -> Ref:
        """Return a matrix whose row `by` has the places of elements moved forwards by `by`."""
        return self._made_before("order", whole, self._places)

    def _made_before(self, kind: str, whole: int, make: Callable[[int], Ref]) -> Ref:
        if (kind, whole) not in self._tables:
            body, self._body = self._body, []
            self._tables[kind, whole] = make(whole)
            self._before += self._body
            self._body = body
        return self._tables[kind, whole]

    def _masks(self, whole: int) -> Ref:
        shape, dtype = (whole + 1, whole), np.dtype(np.bool_)
        ones = self._emit(full, "full", (shape, True, dtype), shape, dtype)
        return self._emit(np.tril, "tril", (ones,), shape, dtype, (("k", -1),))

    def _places(self, whole: int) -> Ref:
        shape, dtype = (whole, whole), np.dtype(np.intp)
        ones = self._emit(full, "full", ((whole,), 1, dtype), (whole,), dtype)
        kw = (("axis", 0),)
        counts = self._emit(np.add.accumulate, ADD_ACCUMULATE.name, (ones,), (whole,), dtype, kw)
        places = self._emit(np.subtract, "subtract", (counts, 1), (whole,), dtype)
        column = (slice(None), None)
        down = self._emit(getitem, "getitem", (places, column), (whole, 1), dtype, views=True)
        both = self._emit(np.add, "add", (down, places), shape, dtype)
        return self._emit(np.remainder, "remainder", (both, whole), shape, dtype)


def _is_read(nest: Any) -> bool:
    """Tell if an argument, or one of several, is a value."""
    return type_of(nest) is Ref or (
        isinstance(nest, TUPLE) and any(type_of(one) is Ref for one in nest)
    )


def _without_effect(op: Operation, dtype: Any) -> Any:
    """Return the number that has no effect in a reduction."""
    if op in (ADD_REDUCE, MEAN):
        return _zero(dtype)
    if dtype.kind == "f" and op.start.endswith("inf()"):
        return -np.inf if op.start.startswith("-") else np.inf
    raise Unpadded


def _zero(dtype: Any) -> Any:
    return {"f": 0.0, "c": 0j, "b": False}.get(dtype.kind, 0)


def _indices(result: Any) -> list[int]:
    return [leaf.index for leaf in result.leaves if type_of(leaf) is Ref]
