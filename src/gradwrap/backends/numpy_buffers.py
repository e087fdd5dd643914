"""NumPy's arrays as operations save them: copied if they are small, compared later if not.

Up to `COPIED` bytes, each operation saves a copy. Up to `SHARED`, operations share one copy while
the array does not change: comparing memory takes less time than the operation. Above that, the
array itself is saved. All uses at one level share a `Content`, so that in a loop the whole array is
read when it is first saved and when backward begins to need it; each further use looks at a sample.
"""

from __future__ import annotations

import weakref
import zlib
from typing import Any

import numpy as np

from gradwrap.core.library.buffers import Content, Guarded, calling_line, notes_wanted

COPIED = 1 << 12
SHARED = 1 << 16

NDARRAY: type[Any] = np.ndarray

_copies: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_contents: weakref.WeakValueDictionary[Any, Words] = weakref.WeakValueDictionary()


def kept(array: Any, level: int) -> Any:
    """Return an array with the content that it has now, or `Guarded`."""
    if not isinstance(array, NDARRAY):
        return array  # a number, which nobody can write to
    notes = notes_wanted()
    if notes is not None:
        notes.append((level, digest_of(array)))
    if array.nbytes <= COPIED or array.dtype.hasobject:
        return np.array(array)
    if is_constant(array):
        return array
    return _shared_copy(array) if array.nbytes <= SHARED else _guarded(array, level)


def is_constant(array: Any) -> bool:
    """Tell if nobody can write to a buffer: it is read-only, and no view of one that is not."""
    while isinstance(array, NDARRAY):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes)


def _shared_copy(array: Any) -> Any:
    """A copy of an array: the last one that was made, if the array has not changed since."""
    rows = array if array.flags.c_contiguous else array.T
    if not rows.flags.c_contiguous:
        return np.array(array)
    known = _copies.get(id(array))
    if (
        known is not None
        and (known.dtype, known.shape, known.strides) == (array.dtype, array.shape, array.strides)
        and known.base == memoryview(_bytes_of(rows))
    ):
        return known
    copy = np.ndarray(array.shape, array.dtype, bytearray(_bytes_of(rows)), 0, array.strides)
    _copies[id(array)] = copy
    return copy


def _guarded(array: Any, level: int) -> Guarded:
    rows = array if array.flags.c_contiguous else array.T
    if not rows.flags.c_contiguous:
        return Guarded(array, Content(array, digest_of), calling_line())
    data = _bytes_of(rows)
    key = level, data.__array_interface__["data"][0], data.nbytes
    content = _contents.get(key)
    if content is None or not content.seems_unchanged():
        content = _contents[key] = Words(data)
    return Guarded(array, content, calling_line())


class Words(Content):
    """The content of a contiguous buffer, with a sample of it, at which each use looks."""

    __slots__ = ("_sample", "_sampled")

    def __init__(self, data: Any) -> None:
        super().__init__(data, digest)
        words = data[: data.nbytes // 8 * 8].view(np.uint64)
        self._sampled = words[:: len(words) // SAMPLE]
        self._sample = self._sampled.tobytes()

    def seems_unchanged(self) -> bool:
        """Tell if the sample has not changed; `is_unchanged` looks at all of the buffer."""
        return bool(self._sampled.tobytes() == self._sample)


SAMPLE = 256
ROWS, COLUMNS = 31, 1021
BLOCK = 8 * ROWS * COLUMNS


def digest(data: Any) -> tuple[int, int]:
    """Return numbers that tell one content of a buffer of bytes from another.

    Blocks of 31 rows of 1021 words are added up along their columns, as fast as memory is read,
    and the sums and what is left over go through CRC-32. Neither number divides a usual length, and
    31 is odd: so a change of one word, the same change of all words, and a swap of two words change
    the sums, unless the two lie a multiple of 1021 words apart in one block.
    """
    whole = data.nbytes // BLOCK * BLOCK
    blocks = data[:whole].view(np.uint64).reshape(-1, ROWS, COLUMNS)
    sums = np.add.reduce(blocks, axis=1)
    return zlib.crc32(sums), zlib.crc32(data[whole:])


def digest_of(array: Any) -> tuple[int, int]:
    """Return the same of an array in any layout."""
    return digest(_bytes_of(np.ascontiguousarray(array)))


def _bytes_of(rows: Any) -> Any:
    """The bytes of an array that lies in one piece, in the order of its elements."""
    return np.asarray(rows).reshape(-1).view(np.uint8)
