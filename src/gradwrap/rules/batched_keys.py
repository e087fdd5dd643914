"""Indices under `vmap`: the key for a batch, made from the key for one example.

NumPy's rule for advanced indices decides where their axes appear in the result: in place if the
indices are adjacent, at the front if a slice separates them. The batch axis may separate adjacent
indices, so that their axes move; `BatchedKey` moves them back.
"""

from __future__ import annotations

from typing import Any

from gradwrap.core.levels.wrapper import batched_parts, data_of
from gradwrap.core.library.compat import device
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.errors import BatchedValueError


class BatchedKey:
    """The key for all examples of an array, each of this shape.

    `key` selects from the data. `of_result` moves the axes of the selection, behind the batch axis,
    to where one example's key would put them; `of_value` does the opposite for a value that is
    written there.
    """

    def __init__(
        self, xp: Any, key: Any, shape: tuple[int, ...], level: int, size: int, place: Any
    ) -> None:
        parts, hidden = _spelled_out(_as_parts(xp, key, place), len(shape))
        parts = _without_masks(xp, parts, level, shape, hidden)
        mapped = [next(batched_parts(part, level), None) for part in parts]
        is_advanced = [
            one is not None or (hasattr(p, "dtype") and not _is_mask(p))
            for one, p in zip(mapped, parts, strict=True)
        ]
        if any(is_advanced):
            is_advanced = [
                advanced or isinstance(p, int)
                for advanced, p in zip(is_advanced, parts, strict=True)
            ]
        places = [i for i, advanced in enumerate(is_advanced) if advanced]
        self.is_separated: bool = bool(places) and places[-1] - places[0] + 1 != len(places)
        counted = [hidden if p is Ellipsis else 1 for p in parts]
        self.before: int = 0 if not places or self.is_separated else sum(counted[: places[0]])
        ranks = [
            (one.ndim if one is not None else getattr(p, "ndim", 0)) if advanced else 0
            for p, one, advanced in zip(parts, mapped, is_advanced, strict=True)
        ]
        self.rank: int = max(ranks, default=0)
        self.is_mapped: bool = any(one is not None for one in mapped)
        self.ndim: int = self.rank + sum(
            axes
            for p, axes, advanced in zip(parts, counted, is_advanced, strict=True)
            if not advanced and not isinstance(p, int)
        )
        if not self.is_mapped:
            self.key: Any = (slice(None), *parts)
            return
        examples = xp.reshape(xp.arange(size, device=place), (size, *(1,) * self.rank))
        self.inner: tuple[Any, ...] = tuple(
            _with_rank(xp, data_of(one), self.rank) if one is not None else p
            for p, one in zip(parts, mapped, strict=True)
        )
        self.key = (examples, *self.inner)

    def of_result(self, xp: Any, result: Any) -> Any:
        """Return the selection, batch axis first, with its axes in one example's order."""
        if not self.is_mapped:
            return xp.moveaxis(result, self.rank, 0) if self.is_separated else result
        if self.before and self.rank:
            return xp.moveaxis(result, self._at_front(), self._in_place())
        return result

    def of_value(self, xp: Any, value: Any, is_batched: bool) -> Any:
        """Return a value to be written at the key, with its axes in the order of the selection."""
        if not hasattr(value, "shape"):
            return value
        rank = len(value.shape) - is_batched
        if rank > self.ndim:  # leading axes of length one, which NumPy accepts
            extra = rank - self.ndim
            shape = value.shape[1 + extra :] if is_batched else value.shape[extra:]
            value = xp.reshape(value, (*value.shape[:is_batched], *shape))
            rank = self.ndim
        head = value.shape[:1] if is_batched else (1,)
        own = value.shape[1:] if is_batched else value.shape
        value = xp.reshape(value, (*head, *(1,) * (self.ndim - rank), *own))
        if not self.is_mapped:
            return xp.moveaxis(value, 0, self.rank) if self.is_separated else value
        if self.before and self.rank:
            return xp.moveaxis(value, self._in_place(), self._at_front())
        return value

    def of_shared(self, xp: Any, result: Any) -> Any:
        """Move the batch axis of a selection from a shared array to the front."""
        return xp.moveaxis(result, self.before, 0) if self.before else result

    def _at_front(self) -> tuple[int, ...]:
        return tuple(range(1, self.rank + 1))

    def _in_place(self) -> tuple[int, ...]:
        return tuple(range(self.before + 1, self.before + self.rank + 1))


def _as_parts(xp: Any, key: Any, place: Any) -> list[Any]:
    """Return the parts of a key, with arrays in place of bools and of sequences."""
    found: list[Any] = []
    for part in key if isinstance(key, TUPLE) else (key,):
        if hasattr(part, "__len__") and not hasattr(part, "dtype"):
            kind = None if len(part) else xp.int64
            found.append(xp.asarray(list(part), dtype=kind, device=place))
        else:
            is_bool = isinstance(part, bool)
            found.append(xp.asarray(part, device=place) if is_bool else part)
    return found


def _spelled_out(parts: list[Any], ndim: int) -> tuple[list[Any], int]:
    """Return the parts, padded with slices, and the number of axes that an ellipsis stands for.

    An ellipsis is kept, since it separates advanced indices even if it stands for no axis.
    """
    hidden = ndim - sum(_axes_of(part) for part in parts)
    if any(part is Ellipsis for part in parts):
        return parts, hidden
    return [*parts, *[slice(None)] * hidden], 0


def _axes_of(part: Any) -> int:
    """Count the axes of the array that a part of a key consumes."""
    if part is None or part is Ellipsis:
        return 0
    return int(part.ndim) if _is_mask(part) else 1


def _is_mask(part: Any) -> bool:
    return "bool" in str(getattr(part, "dtype", ""))


def _without_masks(
    xp: Any, parts: list[Any], level: int, shape: tuple[int, ...], hidden: int
) -> list[Any]:
    """Replace masks by integer arrays."""
    found: list[Any] = []
    axis = 0
    for part in parts:
        start, axis = axis, axis + (hidden if part is Ellipsis else _axes_of(part))
        if not _is_mask(part):
            found.append(part)
        elif not part.shape:
            if not part:
                raise BatchedValueError(
                    "an array that vmap maps over was indexed by False, which selects nothing. "
                    "Fix: x[None][:0] does the same."
                )
            found.append(None)
        elif next(batched_parts(part, level), None) is not None:
            raise BatchedValueError(
                "a boolean index that vmap maps over: the number of elements it selects may differ "
                "from example to example. Fix: xp.where(mask, x, 0)."
            )
        elif tuple(part.shape) != tuple(shape[start:axis]):
            raise IndexError(
                f"a boolean index of shape {tuple(part.shape)} for axes of shape "
                f"{tuple(shape[start:axis])}. Fix: give it the same shape."
            )
        else:
            found += xp.nonzero(part)
    return found


def _with_rank(xp: Any, index: Any, rank: int) -> Any:
    """Insert axes of length one behind the batch axis of a batch of integer arrays."""
    own = index.shape[1:]
    return xp.reshape(index, (index.shape[0], *(1,) * (rank - len(own)), *own))


def place_of(*arrays: Any) -> Any:
    """Return the device of the first array among some values."""
    return next(device(array) for array in arrays if hasattr(array, "shape"))
