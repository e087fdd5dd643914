"""Addresses: where the elements of arrays, of views and of parts selected by keys lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.engines.c.operations import DOUBLE, NUMBER
from gradwrap.compiler.ir.operations import ARRAY, STACK
from gradwrap.compiler.ir.program import Instr, Ref, Value
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


MARK = "\0"
"""The character on both sides of an integer, and of a local variable, in the lines of a kernel.

Turns of a loop differ from each other in these alone (`turns.py`). The final text has no marks.
"""


def integer(number: int) -> str:
    """Return the text of an integer that may differ between turns."""
    return f"{MARK}{number}{MARK}"


class Arr(NamedTuple):
    """The layout of an array: a pointer, an offset, and the strides in elements."""

    dtype: Any
    shape: tuple[int, ...]
    pointer: str
    strides: tuple[int, ...]
    root: int = -1
    """The number of the value whose buffer holds it; -1 for read-only memory."""
    offset: int = 0
    computed: str = ""
    """The text of a further offset, which is computed."""

    @property
    def is_packed(self) -> bool:
        """Tell if the array lies in C's order without gaps."""
        return self.strides == packed(self.shape)

    @property
    def start(self) -> str:
        """Return the pointer to its first element."""
        return " + ".join((self.pointer, *self._offsets()))

    @property
    def element(self) -> str:
        """Return the first element."""
        return f"{self.pointer}[{' + '.join(self._offsets()) or integer(0)}]"

    def _offsets(self) -> list[str]:
        parts = [integer(self.offset)] if self.offset else []
        return [*parts, self.computed] if self.computed else parts

    def moved(self, elements: int, index: str = "") -> Arr:
        """Return the array further on by a number of elements, and by an index."""
        computed = " + ".join(filter(None, (self.computed, index)))
        return self._replace(offset=self.offset + elements, computed=computed)


class Num(NamedTuple):
    """A number: a variable, or a literal."""

    dtype: Any
    text: str


def packed(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of an array in C's order."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def in_order(dtype: Any, shape: tuple[int, ...], pointer: str, root: int = -1) -> Arr:
    """Return the layout of an array in C's order."""
    return Arr(dtype, shape, pointer, packed(shape), root)


def anywhere(shape: tuple[int, ...]) -> Arr:
    """Return the layout of an array without an address, to compute the layout of its parts."""
    return in_order(DOUBLE, shape, "")


def no_key(part: Ref, extent: int) -> str:
    """Return no text for a dynamic index, where only the shape is computed."""
    del part, extent
    return ""


def is_plain_key(key: Any) -> bool:
    """Tell if a key has only integers, slices of literals, `None` and `...`."""
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    for part in parts:
        if part is None or part is Ellipsis or type(part) is Ref:
            continue
        if isinstance(part, SLICE):
            if any(p is not None and not is_integer(p) for p in (part.start, part.stop, part.step)):
                return False
        elif not is_integer(part):
            return False
    return True


def is_integer(part: Any) -> bool:
    """Tell if a part of a key is a literal integer."""
    return not isinstance(part, bool) and (
        isinstance(part, int) or (isinstance(part, NUMBER) and part.dtype.kind in "iu")
    )


def fits(shape: tuple[int, ...], key: Any, result: tuple[int, ...]) -> bool:
    """Tell if a key of an array of a shape selects a part of shape `result`."""
    return taken(anywhere(shape), key, no_key).shape == result


def taken(arr: Arr, key: Any, dynamic: Callable[[Ref, int], str]) -> Arr:
    """Return the layout of `x[key]`. `dynamic` returns the text of an index that is a value."""
    parts: list[Any] = list(key) if isinstance(key, TUPLE) else [key]
    count = sum(part is not None and part is not Ellipsis for part in parts)
    if Ellipsis not in [part for part in parts if type(part) is not Ref]:
        parts.append(Ellipsis)
    index, fixed, axis = "", 0, 0
    shape: list[int] = []
    strides: list[int] = []
    for part in parts:
        if part is None:
            shape.append(1)
            strides.append(0)
        elif part is Ellipsis:
            for _ in range(len(arr.shape) - count):
                shape.append(arr.shape[axis])
                strides.append(arr.strides[axis])
                axis += 1
        elif isinstance(part, SLICE):
            start, stop, step = part.indices(arr.shape[axis])
            shape.append(len(range(start, stop, step)))
            strides.append(arr.strides[axis] * step)
            fixed += arr.strides[axis] * max(start, 0)
            axis += 1
        else:
            if type(part) is Ref:
                place = f"{dynamic(part, arr.shape[axis])} * {integer(arr.strides[axis])}"
                index = f"{index} + {place}" if index else place
            else:
                fixed += (int(part) + (arr.shape[axis] if part < 0 else 0)) * arr.strides[axis]
            axis += 1
    return arr._replace(shape=tuple(shape), strides=tuple(strides)).moved(fixed, index)


def reduced_axes(instr: Instr, rank: int) -> tuple[int, ...] | None:
    """Return the axes of a reduction; None if they are not literal."""
    axis: Any = instr.args[1] if len(instr.args) > 1 else dict(instr.kw).get("axis", 0)
    if axis is None:
        return tuple(range(rank))
    axes: Any = axis if isinstance(axis, TUPLE) else (axis,)
    if not all(is_integer(one) for one in axes):
        return None
    return tuple(int(one) % rank for one in axes)


def summed_axes(instr: Instr) -> tuple[int, ...] | None:
    """Return the axes that an `einsum` of one array sums; None for other operations."""
    if len(instr.args) != 2 or not isinstance(instr.args[0], str) or instr.kw:
        return None
    given_, arrow, left = instr.args[0].replace(" ", "").partition("->")
    if not arrow or "." in given_ or len(set(given_)) != len(given_) or left == given_:
        return None
    if "".join(letter for letter in given_ if letter in left) != left:
        return None
    return tuple(axis for axis, letter in enumerate(given_) if letter not in left)


def joined(instr: Instr, values: Any, value: Value) -> list[tuple[Any, Any]] | None:
    """Return the keys and the parts of an array joined from others; None for other arrays."""
    parts: Any = instr.args[0] if instr.args else None
    if not isinstance(parts, (TUPLE, LIST)) or not value.shape:
        return None
    if instr.op is ARRAY:
        if instr.kw or any(isinstance(part, (TUPLE, LIST)) for part in parts):
            return None
        return [(number, part) for number, part in enumerate(parts)]
    if {*dict(instr.kw)} - {"axis"} or len(instr.args) > 2:
        return None
    if not all(type(part) is Ref and values[part.index].dtype == value.dtype for part in parts):
        return None
    axis = instr.args[1] if len(instr.args) > 1 else dict(instr.kw).get("axis", 0)
    if not is_integer(axis):
        return None
    before = (slice(None),) * (axis % len(value.shape))
    if instr.op is STACK:
        return [((*before, number), part) for number, part in enumerate(parts)]
    found: list[tuple[Any, Any]] = []
    start = 0
    for part in parts:
        end = start + values[part.index].shape[len(before)]
        found.append(((*before, slice(start, end)), part))
        start = end
    return found


def order_of(instr: Instr, rank: int) -> list[int]:
    """Return the permutation of axes that a transposition performs."""
    sample: Any = np.broadcast_to(0, range(rank))  # the length of each axis is its number
    return list(instr.fn(sample, *instr.args[1:], **dict(instr.kw)).shape)


def selected(instr: Instr, arr: Arr) -> Arr:
    """Return the view that NumPy takes of an array with the same strides."""
    room: Any = np.zeros(1, np.int8)
    sample: Any = np.lib.stride_tricks.as_strided(room, arr.shape, arr.strides)
    view = instr.fn(sample, *instr.args[1:], **dict(instr.kw))
    fixed = view.__array_interface__["data"][0] - room.__array_interface__["data"][0]
    return arr._replace(shape=view.shape, strides=view.strides).moved(int(fixed))


def aligned(arr: Arr, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return an array's strides along the axes of a shape it is broadcast to."""
    extra = len(shape) - len(arr.shape)
    found = [
        0 if mine == 1 and extent != 1 else stride
        for mine, extent, stride in zip(arr.shape, shape[extra:], arr.strides, strict=True)
    ]
    return (*([0] * extra), *found)


def collapsed(
    shape: tuple[int, ...], strides: Sequence[tuple[int, ...]]
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Merge axes whose elements are contiguous in all arrays; return extents and strides."""
    extents: list[int] = []
    found: list[list[int]] = [[] for _ in strides]
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        steps = [one[axis] for one in strides]
        if extents and all(
            mine[-1] == step * extent for mine, step in zip(found, steps, strict=True)
        ):
            extents[-1] *= extent
            for mine, step in zip(found, steps, strict=True):
                mine[-1] = step
        else:
            extents.append(extent)
            for mine, step in zip(found, steps, strict=True):
                mine.append(step)
    if not extents:  # as a row that is longer in other turns
        return [1], [mine[-1:] or (1,) for mine in strides]
    return extents, [tuple(mine) for mine in found]
