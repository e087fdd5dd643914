"""`np.nditer` over arrays of which some hold tracked values.

NumPy's iterator goes over the places of the elements; the values are elements of the arrays, each
a view of its array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNNEEDED = frozenset({"buffered", "delay_bufalloc", "grow_inner", "copy_if_overlap"})
OF_PLACES = frozenset(
    ("finished", "has_index", "has_multi_index", "index", "iterindex", "iternext", "iterrange")
) | {"itersize", "multi_index", "ndim", "nop", "remove_axis", "reset", "shape"}
"""What an iterator tells of its places, and not of the values there."""


class Iterating:
    """The iterator that stands for `np.nditer` if an operand is a variable."""

    def __init__(  # noqa: PLR0913  the parameters are NumPy's
        self,
        make: Callable[..., Any],
        op: Any,
        flags: Any = (),
        op_flags: Any = None,
        op_dtypes: Any = None,
        order: Any = "K",
        casting: Any = "safe",
        op_axes: Any = None,
        itershape: Any = None,
        buffersize: int = 0,
    ) -> None:
        self._is_single = not isinstance(op, SEQUENCE)
        given: list[Any] = [op] if self._is_single else list(op)
        flags = [flag for flag in flags or () if flag not in UNNEEDED]
        self._in_chunks = "external_loop" in flags
        if op_dtypes is not None:
            raise NoRuleError(
                "np.nditer(op_dtypes=...) has no derivative: it gives parts of converted copies. "
                "Fix: convert the arrays before, with x.astype(dtype)."
            )
        if self._in_chunks and any("write" in word for word in _words(op_flags)):
            raise NoRuleError(
                'np.nditer(flags=["external_loop"]) cannot write to arrays that may hold tracked '
                "values. Fix: leave external_loop out, or write functions of whole arrays."
            )
        arrays = [None if one is None else _array(one) for one in given]
        places = [None if one is None else _places(one) for one in arrays]
        options = {"order": order, "casting": casting, "itershape": itershape, "op_axes": op_axes}
        options = {key: value for key, value in options.items() if value is not None}
        if any(one is None for one in given):
            probe = np.nditer(places, ["zerosize_ok", "refs_ok"], **options)
            dtype = np.result_type(*(one.dtype for one in arrays if one is not None))
            for i, like in enumerate(probe.operands):
                if arrays[i] is None:
                    arrays[i] = make(like.shape, dtype)
                    like[...] = np.arange(like.size).reshape(like.shape)
                    places[i] = like
        self.operands: tuple[Any, ...] = tuple(arrays)
        self._plain: Any = np.nditer(places, flags, **options)

    def _values(self, places: Any) -> Any:
        """Return the elements at the iterator's places."""
        found = tuple(map(self._element, self.operands, [places] if self._is_single else places))
        return found[0] if self._is_single else found

    def _element(self, array: Any, place: Any) -> Any:
        key = np.unravel_index(np.array(place), array.shape)
        return array[key] if self._in_chunks else array[(*key, ...)]

    def __iter__(self) -> Iterator[Any]:
        return map(self._values, self._plain)

    def __next__(self) -> Any:
        return self._values(next(self._plain))

    @property
    def value(self) -> Any:
        """The elements at the present place."""
        return self._values(self._plain.value)

    def __getitem__(self, key: Any) -> Any:
        found = (self.value,) if self._is_single else self.value
        return found[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self[key][...] = value

    def __len__(self) -> int:
        return len(self.operands)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Do nothing: there are no buffers to write back."""

    def close(self) -> None:
        """Do nothing, as `__exit__`."""

    @property
    def dtypes(self) -> tuple[Any, ...]:
        """The dtypes of the arrays."""
        return tuple(array.dtype for array in self.operands)

    def __getattr__(self, name: str) -> Any:
        if name not in OF_PLACES and hasattr(np.nditer, name):
            raise NoRuleError(
                f"np.nditer(...).{name} has no rule for arrays that may hold tracked values. Fix: "
                "iterate over the iterator, or write functions of whole arrays."
            )
        return getattr(self._plain, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OF_PLACES:
            setattr(self._plain, name, value)
        else:
            object.__setattr__(self, name, value)


def _words(op_flags: Any) -> list[str]:
    found: list[str] = []
    for one in op_flags or ():
        found += [one] if isinstance(one, str) else one
    return found


def _array(value: Any) -> Any:
    return value if isinstance(value, AnyWrapper) else np.asarray(value)


def _places(array: Any) -> Any:
    """Return the places of the elements, in the memory order of the array."""
    data = one_array(array) if isinstance(array, AnyWrapper) else array
    like: Any = np.empty_like(backend_of(data).concrete(data), dtype=np.intp)
    count: int = like.size
    like[...] = np.arange(count).reshape(like.shape)
    return like
