"""How operations save NumPy's arrays: small ones are copied, large ones compared later.

Up to `COPIED` bytes, each operation saves a copy. Up to `SHARED`, operations share one copy while
the array does not change: comparing memory takes less time than the operation. Above that, the
array itself is saved. All uses at one level share a `Content`, so that in a loop the whole array is
read when it is first saved and when backward begins to need it; each further use looks at a sample.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import numpy as np

from gradwrap.core.library.buffers import (
    MOST,
    Content,
    Guarded,
    calling_line,
    notes_wanted,
    originals,
)

COPIED = 1 << 12
SHARED = 1 << 16

NDARRAY: type[Any] = np.ndarray

_copies: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_contents: dict[Any, weakref.ref[Words]] = {}


def kept(array: Any, level: int, briefly: bool = False) -> Any:
    """Return a copy of an array, or a `Guarded` that notices later writes."""
    notes = notes_wanted()
    if notes is not None:
        notes.append((level, digest_of(np.asarray(array))))
    if not isinstance(array, NDARRAY):
        return array  # a number, which cannot be written to
    size = array.nbytes
    if size <= COPIED or array.dtype.hasobject:
        return _copy(array)
    if array.flags.writeable or not is_constant(array):
        if size <= SHARED:
            return _shared_copy(array)
        briefly = briefly and _is_in_one_piece(array)
        content = Content(array, _sample_of) if briefly else _content(array, level)
        return Guarded(array, content, calling_line())
    return array


def is_constant(array: Any) -> bool:
    """Tell if nobody can write to a buffer: the array and its bases are all read-only."""
    while isinstance(array, NDARRAY):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes)


def _shared_copy(array: Any) -> Any:
    """Return the last copy of an array if the array is unchanged, or a new copy."""
    if not _is_in_one_piece(array):
        return _copy(array)
    known = _copies.get(id(array))
    data = _bytes_of(array)
    if (
        known is not None
        and known.base == data.data
        and (known.dtype, known.shape, known.strides) == (array.dtype, array.shape, array.strides)
    ):
        return known
    copy = np.ndarray(array.shape, array.dtype, bytearray(data), 0, array.strides)
    _copies[id(array)] = copy
    originals[id(copy)] = weakref.ref(copy), id(array)
    return copy


def _copy(array: Any) -> Any:
    """Copy an array, and note the copy as `copied` does, without another call."""
    copy = np.array(array)
    if copy.strides != array.strides:
        copy = copied_as_it_lies(array)
    if len(originals) >= MOST:
        originals.clear()
    originals[id(copy)] = weakref.ref(copy), id(array)
    return copy


def _content(array: Any, level: int) -> Content:
    """Return the content of a large array: the record at this level if it seems unchanged."""
    found = _contents.get((level, id(array)))
    content = None if found is None else found()
    if content is None or content.array is not array:  # a view may be another object each time
        if not _is_in_one_piece(array):
            return Content(array, digest_of)
        found = _contents.get((level, *_place(array)))
        content = None if found is None else found()
    if content is None or not content.seems_unchanged():
        content = Words(array)
        for key in (level, id(array)), (level, *_place(array)):
            _contents[key] = weakref.ref(content, partial(_forget, key))
    return content


def _forget(key: Any, dead: Any) -> None:
    if _contents.get(key) is dead:
        _contents.pop(key, None)


def _is_in_one_piece(array: Any) -> bool:
    flags = array.flags
    return bool(flags.c_contiguous or flags.f_contiguous)


def _place(array: Any) -> tuple[int, int]:
    return array.__array_interface__["data"][0], array.nbytes


class Words(Content):
    """The content of a contiguous buffer, with a sample that is compared at each use."""

    __slots__ = ("_sample", "_sampled")

    def __init__(self, array: Any) -> None:
        super().__init__(array, digest_of)
        self._sampled = _sampled(array)
        self._sample = self._sampled.tobytes()

    def seems_unchanged(self) -> bool:
        """Tell if the sample has not changed; `is_unchanged` looks at all of the buffer."""
        return bool(self._sampled.tobytes() == self._sample)


LINES, LINE = 16, 128


def _sampled(array: Any) -> Any:
    """Return a sample of a contiguous buffer: pieces as long as a cache line."""
    data = _bytes_of(array)
    step = data.nbytes // LINES
    return data[: LINES * step].reshape(LINES, step)[:, :LINE]


def _sample_of(array: Any) -> bytes:
    return _sampled(array).tobytes()  # type: ignore[no-any-return]  # of NumPy


BLOCKS, COLUMNS = 4, 1021
ROW = 8 * COLUMNS


def digest_of(array: Any) -> tuple[int, int]:
    """Return two numbers that identify the content of an array.

    The words of 8 bytes are taken as rows of 1021. In four blocks of an odd number of rows, the
    columns are added up, as fast as memory is read. The sums and the remaining words go through
    CRC-32. A change of one word, and the same change of all words, change the sums. So does a swap
    of two, unless they lie a multiple of 1021 words apart in one block.
    """
    from zlib import crc32  # its library is loaded when an array is first guarded

    data = _bytes_of(array)
    rows = (data.nbytes // ROW // BLOCKS - 1) | 1
    whole = max(rows, 0) * BLOCKS * ROW
    sums = np.add.reduce(data[:whole].view(np.uint64).reshape(BLOCKS, -1, COLUMNS), axis=1)
    return crc32(sums), crc32(data[whole:])


def _bytes_of(array: Any) -> Any:
    """Return an array's bytes as they lie in memory, or a copy's if there are gaps."""
    rows = array if array.flags.c_contiguous else array.T
    return np.ascontiguousarray(rows).reshape(-1).view(np.uint8)


class Memory:
    """The memory of an array, of which NumPy makes another array.

    Views of that array refer to it, and not to this array's buffer: NumPy passes over the bases of
    a view that are arrays, and over nothing else.
    """

    __slots__ = ("__array_interface__", "array", "loan")

    def __init__(self, array: Any, loan: Any) -> None:
        self.array: Any = array  # it may have memory of its own: `x.imag` of real numbers
        self.loan: Any = loan
        self.__array_interface__: Any = array.__array_interface__ | {"strides": array.strides}


# Memory order ------------------------------------------------------------------------------------


def empty_in_order_of(like: Any, array: Any) -> Any:
    """Return an empty array like `array` in the memory order, if possible the strides, of `like`.

    `array` may have batch axes in front of the axes of `like`.
    """
    if array.ndim > like.ndim:
        batch = array.shape[: array.ndim - like.ndim]
        steps = np.empty_like(like).strides
        axes = sorted(range(like.ndim), key=lambda axis: -steps[axis])
        made = np.empty((*batch, *(like.shape[axis] for axis in axes)), array.dtype)
        back = [axes.index(axis) + len(batch) for axis in range(like.ndim)]
        return made.transpose(*range(len(batch)), *back)
    made = np.empty_like(like, array.dtype)
    repeats = any(step == 0 and n > 1 for step, n in zip(like.strides, like.shape, strict=True))
    if made.strides == like.strides or array.dtype != like.dtype or repeats:
        return made
    low, high = np.lib.array_utils.byte_bounds(like)
    start = like.__array_interface__["data"][0] - low
    return np.ndarray(like.shape, array.dtype, np.empty(high - low, np.uint8), start, like.strides)


def lies_outside(array: Any, axes: int = 1) -> bool:
    """Tell if the first axes, those of batches, have the longest strides."""
    steps = [abs(step) for step in array.strides]
    longest = 0
    for axis in range(array.ndim - 1, -1, -1):
        if array.shape[axis] != 1:
            if axis < axes and (not steps[axis] or steps[axis] < longest):
                return False
            longest = max(longest, steps[axis])
    return True


def copied_as_it_lies(array: Any) -> Any:
    """Copy an array with the same memory order."""
    copy = np.array(array)
    if copy.strides == getattr(array, "strides", ()):
        return copy
    made = empty_in_order_of(array, array)
    made[...] = array
    return made
