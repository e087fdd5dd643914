"""Structured arrays that hold tracked values in adapted code: a variable for each field of floats.

The other fields (whole numbers, text) stay plain. What moves elements (a key, `np.sort`,
`np.concatenate`) moves places, and each field follows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.plain_values import Holder, are_plain, standing_in, unheld
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, type_of
from gradwrap.core.values.pytree_classes import register_pytree
from gradwrap.errors import AdaptationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ours: Any = drop_in
RECORDS: Any = np.rec
anything: Any = np


class Structured(Holder):
    """A structured array, or one record of it."""

    __slots__ = ("_stands_for", "dtype", "is_record", "parts", "shape")
    _stands_for: Any
    dtype: Any
    is_record: bool
    parts: dict[str, Any]
    shape: tuple[int, ...]
    __array_priority__: float = 1.0
    __hash__: Any = None  # as for arrays of NumPy

    def __init__(
        self, fields: dict[str, Any], dtype: Any, shape: tuple[int, ...], kind: Any
    ) -> None:
        for name, value in (
            ("parts", fields),
            ("dtype", dtype),
            ("shape", shape),
            ("_stands_for", kind),
            ("is_record", issubclass(kind, np.void)),
        ):
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]  # it is read alone
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # likewise
        """The class of NumPy's for which it passes."""
        return self._stands_for

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of records."""
        return math.prod(self.shape)

    def gradwrap_array(self) -> Any:
        """Return the plain array, or refuse if a field is tracked."""
        if not self._is_tracked():
            return self.plain()
        raise AdaptationError(
            "a structured array that holds tracked values was given to a function of whole arrays. "
            'Fix: give it the fields, as x["name"].'
        )

    def _is_tracked(self) -> bool:
        return is_recorded(list(self.parts.values()))

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.asarray(self.gradwrap_array(), *args, **options)

    def plain(self) -> Any:
        """Return a plain structured array of the same values."""
        made: Any = np.empty(self.shape, self.dtype)
        for name, field in self.parts.items():
            made[name] = field.plain() if isinstance(field, Structured) else native(field)
        return made[()] if self.is_record else made

    # Fields and records ---------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.parts:
                raise ValueError(f"no field of name {key}")
            field: Any = self.parts[key]
            return field[()] if isinstance(field, AnyWrapper) and not field.ndim else field
        if self.is_record:
            return self[self.dtype.names[key]]
        if type_of(key) is list and key and isinstance(key[0], str):
            parts = {name: self.parts[name] for name in key}
            return Structured(parts, self.dtype[key], self.shape, self._stands_for)
        like: Any = np.empty(self.shape, bool)[key]
        is_record = isinstance(like, np.bool_)
        found = {
            name: field[
                key if isinstance(field, Structured) else (*_keys(key), ...) if is_record else key
            ]
            for name, field in self.parts.items()
        }
        of_record = RECORDS.record if self._stands_for is np.recarray else np.void
        return Structured(
            found, self.dtype, like.shape, of_record if is_record else self._stands_for
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self.parts[key][...] = value
            return
        if self.is_record:
            self[self.dtype.names[key]] = value
            return
        part = self[key]
        _fill(part, value)
        if part.ndim or not part.is_record:  # a copy, where the key is a list or a mask
            for name, field in self.parts.items():
                field[key] = part.parts[name]

    def __getattr__(self, name: str) -> Any:
        if self._stands_for in (np.recarray, RECORDS.record) and name in self.parts:
            return self[name]
        found: Any = getattr(self.plain(), name)
        if name in MOVING and callable(found):

            def method(*args: Any, **options: Any) -> Any:
                return self._moved(lambda places: getattr(places, name)(*args, **options))

            return method
        if name in OF_PLAIN or not self._is_tracked():
            return found
        raise AdaptationError(
            f".{name} of a structured array that may hold tracked values is not known. Fix: take "
            'it of a field, as x["name"].'
        )

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __len__(self) -> int:
        counted: Any = self.dtype.names if self.is_record else range(self.shape[0])
        return len(counted)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> Any:
        return self.plain() == (other.plain() if isinstance(other, Structured) else other)

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    def __repr__(self) -> str:
        return repr(self.plain())

    # Methods --------------------------------------------------------------------------------------

    def _moved(self, move: Callable[[Any], Any]) -> Any:
        """Return the records of the places that a function of arrays leaves, in its order."""
        return taken([self], move(np.arange(self.size).reshape(self.shape)))

    def copy(self, *_: Any) -> Any:
        """Return a copy."""
        fields = {name: field.copy() for name, field in self.parts.items()}
        return Structured(fields, self.dtype, self.shape, self._stands_for)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.copy()

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Return an array of records (`np.recarray`), or of NumPy's class."""
        kind = dtype if type is None else type
        kind = getattr(kind, "stands_for", kind)
        if kind not in (None, np.ndarray, np.recarray) and kind != self.dtype:
            if not self._is_tracked():
                return self.plain().view(kind)
            raise AdaptationError(
                f"a structured array that may hold tracked values cannot be viewed as {kind}. "
                'Fix: take the fields, as x["name"].'
            )
        kind = kind if kind in (np.ndarray, np.recarray) else self._stands_for
        return Structured(self.parts, self.dtype, self.shape, kind)

    def tolist(self) -> Any:
        """Return nested lists of tuples of fields; tracked ones stay tracked."""
        return tuple(self) if self.is_record else [part.tolist() for part in self]

    def item(self, *places: Any) -> Any:
        """Return one record as a tuple."""
        return self.tolist() if self.is_record else self.reshape(-1)[places or 0].tolist()

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Sort the records in place."""
        self[...] = anything.sort(self, axis, kind, order)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Move the records as NumPy's function moves places; what it counts is plain."""
        given: list[Structured] = []

        def placed(value: Any) -> Any:
            if isinstance(value, Structured):
                before = sum(one.size for one in given)
                given.append(value)
                return np.arange(before, before + value.size).reshape(value.shape)
            return type_of(value)(map(placed, value)) if type_of(value) in (list, tuple) else value

        if function.__name__ == "structured_to_unstructured":
            return np.stack([self[name] for name in self.dtype.names], axis=-1)
        found = function(*_plain(args), **_plain(options))
        if getattr(getattr(found, "dtype", None), "names", None):
            if function is np.sort:
                return anything.take(self, anything.argsort(self, *args[1:], **options))
            return taken(given, function(*placed(args), **options))  # `placed` fills the list
        kind: Any = getattr(getattr(found, "dtype", None), "kind", "i")
        if kind in "fcV":
            raise AdaptationError(
                f"{function.__name__} of a structured array that may hold tracked values is not "
                'known. Fix: call it with the fields, as x["name"].'
            )
        return found


MOVING = frozenset(
    ("T", "diagonal", "flatten", "ravel", "repeat", "reshape", "squeeze", "swapaxes", "take")
) | {"transpose", "compress"}
"""Methods that move elements."""
OF_PLAIN = frozenset(("argsort", "flags", "itemsize", "nbytes", "searchsorted", "strides"))
"""Attributes and methods that are asked of the plain array: they have no derivative."""


def _keys(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, TUPLE) else (key,)


def _plain(value: Any) -> Any:
    if isinstance(value, Structured):
        return value.plain()
    if type_of(value) is dict:
        return {key: _plain(part) for key, part in value.items()}
    return type_of(value)(map(_plain, value)) if type_of(value) in (list, tuple) else value


def taken(given: list[Structured], places: Any) -> Any:
    """Return the records at these places of all given arrays in a row."""
    first = given[0]
    fields: dict[str, Any] = {}
    for name in first.dtype.names:
        parts = [_in_a_row(one, one.parts[name]) for one in given]
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
        fields[name] = joined[places]
    return Structured(fields, first.dtype, places.shape, first.__class__)


def _in_a_row(whole: Structured, field: Any) -> Any:
    return field.reshape((-1, *field.shape[whole.ndim :]))


def structured(plain: Any) -> Any:
    """Return a structured array that can hold tracked values, with the values of a plain one."""
    fields = {name: _field(plain[name]) for name in plain.dtype.names}
    return Structured(fields, plain.dtype, plain.shape, type_of(plain))


def _field(part: Any) -> Any:
    if part.dtype.names:
        return structured(part)
    return ours.array(part) if part.dtype.kind in "fc" else np.array(part)


def has_floats(dtype: Any) -> bool:
    """Tell if a dtype has fields of floats, also nested ones."""
    if dtype.names is None:
        return dtype.base.kind in "fc"
    return any(has_floats(dtype[name]) for name in dtype.names)


def _fill(made: Structured, value: Any) -> None:
    """Store a tuple in a record, a list of tuples in rows, or another structured array."""
    if not isinstance(value, SEQUENCE):
        dtype: Any = getattr(value, "dtype", None)
        others: Any = getattr(dtype, "names", None)
        for i, name in enumerate(made.dtype.names):
            made[name] = value if others is None else value[others[i]]
    elif made.is_record:
        for name, part in zip(made.dtype.names, value, strict=True):
            made[name] = part
    else:
        for i, row in enumerate(value):
            _fill(made[i], row)


def making(original: Any, make: Callable[..., Any]) -> Callable[..., Any]:
    """Make a stand-in of a function that makes arrays also make structured ones."""
    converts = original.__name__ in ("array", "asarray", "asanyarray", "ascontiguousarray")

    def made(*args: Any, **options: Any) -> Any:
        given: Any = args[0] if args else None
        if isinstance(given, Structured):
            if not converts:
                return structured(original(given.plain(), *args[1:], **options))
            is_copied = original.__name__ == "array" and options.get("copy") is not False
            return given.copy() if is_copied else given
        kind: Any = options.get("dtype", args[1] if len(args) > 1 and converts else None)
        if converts and kind is not None and not isinstance(kind, str) and not are_plain(args, {}):
            dtype: Any = np.dtype(kind)
            if dtype.names and has_floats(dtype):
                filled = structured(original(_values(given), *args[1:], **options))
                _fill(filled, given)
                return filled
        found = make(*args, **options)
        if type_of(found) is np.ndarray and found.dtype.names and has_floats(found.dtype):
            return structured(found) if is_differentiating() else found
        return found

    return made


def _values(value: Any) -> Any:
    """Return nested lists and tuples with plain numbers in them."""
    if isinstance(value, SEQUENCE):
        return type_of(value)(map(_values, value))
    return native(unheld(value))


def records() -> Iterator[tuple[Any, Any]]:
    """Yield the functions of `np.rec` with their stand-ins."""
    for name in ("fromarrays", "fromrecords", "array"):
        yield getattr(RECORDS, name), _of_records(name, getattr(RECORDS, name))


def _of_records(name: str, original: Any) -> Any:
    @standing_in(original, f"numpy.rec.{name}")
    def stand_in(given: Any, *args: Any, **options: Any) -> Any:
        if are_plain((given,), {}):
            return original(given, *args, **options)
        if isinstance(given, Structured):
            return given.copy().view(np.recarray)
        made = structured(original(_values(list(given)), *args, **options))
        if name != "fromarrays":
            _fill(made, list(given))
            return made
        for field, column in zip(made.dtype.names, given, strict=True):
            made[field] = column
        return made

    return stand_in


register_pytree(
    Structured,
    lambda one: (list(one.parts.values()), (one.dtype, one.shape, one.__class__)),
    lambda about, fields: Structured(
        dict(zip(about[0].names, fields, strict=True)), about[0], about[1], about[2]
    ),
)
