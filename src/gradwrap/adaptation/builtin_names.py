"""Stand-ins for `isinstance`, `issubclass`, `hasattr`, `type`, and for types of numbers.

Those of `getattr` and `vars` note for a trace which attributes code reads by computed names. The
types stay classes. Questions about them are answered by the real classes: instances and subclasses,
attributes, equality and hash, and NumPy's question for a dtype.
"""

from __future__ import annotations

import builtins
import copyreg
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap import random
from gradwrap.adaptation import exact_numbers, float_arrays
from gradwrap.adaptation.plain_values import PLAIN, Holder, at_hand, kind_of, number_in, unheld
from gradwrap.adaptation.readers import evaluated
from gradwrap.core.array.adapted import callers_for, shown_as
from gradwrap.core.array.python_floats import python_float
from gradwrap.core.array.texts import read, refuse_reading
from gradwrap.core.levels.modes import code_that_runs, is_traced
from gradwrap.core.levels.wrapper import AnyWrapper, has_effect, is_recorded
from gradwrap.core.observing.code import frame_of
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

_isinstance = builtins.isinstance
_hasattr = builtins.hasattr
_getattr = builtins.getattr
_vars: Any = builtins.vars


def is_instance(value: Any, kinds: Any, /) -> bool:
    """Do what `isinstance` does; a variable is also an instance of its array's type."""
    if type_of(value) in PLAIN:
        return _isinstance(value, kinds)
    if _isinstance(value, AnyWrapper):
        return issubclass(kind_of(value), kinds) or (
            _isinstance(value, kinds) and _names_wrapper(kinds)
        )
    shown = shown_as.get(id(type_of(value)))
    return _isinstance(value, kinds) or (shown is not None and issubclass(shown(value), kinds))


def _names_wrapper(kinds: Any) -> bool:
    """Tell if classes include a class of wrappers, so that a variable is an instance."""
    if _isinstance(kinds, TUPLE):
        return any(map(_names_wrapper, kinds))
    return _isinstance(kinds, type) and issubclass(kinds, AnyWrapper)


def is_subclass(kind: Any, kinds: Any, /) -> bool:
    """Do what `issubclass` does; a stand-in is a subclass of what the real class derives from."""
    return issubclass(real(kind), kinds)


def has_attribute(value: Any, name: str, /) -> bool:
    """Do what `hasattr` does; a variable has its value's special methods, and none of its own.

    Code for several libraries looks for `detach` before it takes a value out of the graph.
    """
    ran = code_that_runs.get()
    if ran is not None:
        ran.asked.add(name)
    if _isinstance(value, AnyWrapper):
        if name.startswith("__"):
            return any(name in vars(kind) for kind in kind_of(value).__mro__)
        if _hasattr(type_of(value), name):
            return _hasattr(kind_of(value), name)
    return _hasattr(value, name)


def get_attribute(value: Any, name: str, /, *default: Any) -> Any:
    """Do what `getattr` does; a trace is told the name."""
    ran = code_that_runs.get()
    if ran is not None:
        ran.asked.add(name)
    return _getattr(value, name, *default)


def variables_of(*value: Any) -> Any:
    """Do what `vars` does; a trace is told the object."""
    if not value:
        found: dict[str, Any] = frame_of(1).f_locals
        return found if type_of(found) is DICT else {**found}
    ran = code_that_runs.get()
    if ran is not None:
        ran.opened[id(value[0])] = value[0]
    return _vars(*value)


callers_for.update((get_attribute.__code__, has_attribute.__code__))


# Classes ------------------------------------------------------------------------------------------


def real(kind: Any) -> Any:
    """Return the class behind a stand-in; other values unchanged."""
    return kind.stands_for if _isinstance(kind, StandIn) else kind


class StandIn(type):
    """The metaclass of classes that stand in for others."""

    stands_for: Any

    def __new__(
        mcs, name: str, bases: tuple[Any, ...], namespace: dict[str, Any], **options: Any
    ) -> Any:
        """Derive a class from the real class behind a stand-in."""
        bases = tuple(map(real, bases))
        return type_of(bases[0])(name, bases, namespace, **options)

    def __instancecheck__(cls, value: Any) -> bool:
        return is_instance(value, cls.stands_for)

    def __subclasscheck__(cls, kind: Any) -> bool:
        return issubclass(real(kind), cls.stands_for)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.stands_for, name)

    @property
    def __mro__(cls) -> Any:
        """The classes of the real class, in which tables of functions by class look."""
        return cls.stands_for.__mro__

    def __dir__(cls) -> list[str]:
        return dir(cls.stands_for)

    def __eq__(cls, other: object) -> Any:
        # NumPy's dtypes equal their classes, so `dtype in (np.float32, np.float64)` asks here.
        return cls.stands_for == real(other)

    def __hash__(cls) -> int:
        return hash(cls.stands_for)

    def __repr__(cls) -> str:
        return repr(cls.stands_for)

    def __getitem__(cls, item: Any) -> Any:
        return cls.stands_for[item]

    def __or__(cls, other: Any) -> Any:
        return cls.stands_for | real(other)

    def __ror__(cls, other: Any) -> Any:
        return real(other) | cls.stands_for


def _pickled(cls: Any) -> Any:
    """Pickle a stand-in as the real class."""
    kind = real(cls)
    return type, (int if kind is type else kind(),)


def standing_in_class(kind: type[Any], call: Callable[..., Any]) -> Any:
    """Make the stand-in of a class; `call(cls, ...)` answers calls of it."""
    methods = {name: getattr(kind, name, None) for name in dir(kind) if name not in _OF_THE_CLASS}
    namespace: dict[str, Any] = {
        name: method for name, method in methods.items() if callable(method)
    }
    namespace |= {"__doc__": kind.__doc__, "__module__": kind.__module__, "stands_for": kind}
    if issubclass(kind, NUMBERS):
        namespace["dtype"] = namespace["__numpy_dtype__"] = np.dtype(kind)
    if issubclass(kind, float):
        namespace["__match_args__"] = ("real",)  # `case float(x)` binds the number itself
    metaclass: Any = type("StandIn", (StandIn,), {"__call__": call})
    copyreg.pickle(metaclass, _pickled)
    PLAIN.add(metaclass)
    return type.__new__(metaclass, kind.__name__, (), namespace)


NUMBERS: Any = (float, complex, np.inexact)
_OF_THE_CLASS = {"__class__", "__init_subclass__", "__subclasshook__", "__base__"}


def _type(_: Any, value: Any, *definition: Any, **options: Any) -> Any:
    if definition:
        bases, *rest = definition
        return type(value, tuple(map(real, bases)), *rest, **options)
    if _isinstance(value, Holder) and id(type_of(value)) not in shown_as:
        return value.__class__
    return standing_kind(value)


def standing_kind(value: Any) -> Any:
    """Return the class of a value, or of the array that a variable holds, for adapted code."""
    kind = type_of(value)
    if _isinstance(value, AnyWrapper):
        kind = kind_of(value)
    if id(kind) in shown_as:
        kind = shown_as[id(kind)](value)
    return _STANDING.get(id(kind), kind)


def _stays(value: Any) -> bool:
    """Tell if a value stays an array: it is tracked, or the value of a trace."""
    if type_of(value) in PLAIN:
        return False
    return is_recorded(value) or (is_traced() and _isinstance(value, AnyWrapper))


number_readers: dict[Any, Callable[[Any], Any]] = {}
"""What reads the number of an object in place of its own method, which is not adapted."""


def _number_in(value: Any, method: str) -> Any:
    """Return what an instance of a subclass holds, or what its own method converts it to."""
    if not _isinstance(value, Holder):
        if type_of(value) in PLAIN or _isinstance(value, AnyWrapper):
            return value
        converts: Any = getattr(type_of(value), method, None)
        if type_of(converts) is FunctionType:
            reads: Any = number_readers.get(converts, converts)
            return reads(value)
        return value
    kinds = (vars(kind) for kind in type_of(value).__mro__)
    own: Any = next((names[method] for names in kinds if method in names), None)
    is_own = type_of(own) is FunctionType and not own.__module__.startswith("gradwrap.")
    return own(value) if is_own else unheld(value)


def _float(_: Any, value: Any = 0.0, /) -> Any:
    kind = type_of(value)
    if kind in PLAIN:
        if kind is not str:
            return float(value)
        return python_float(unheld(read(value, float)))
    if number_in(value) is not None and has_effect(value):
        return python_float(value)
    value = _number_in(value, "__float__")
    if _stays(value):
        return python_float(_single(value, float).real)
    number = float(value)
    if not _isinstance(value, AnyWrapper):  # a decimal number or a fraction, made of text
        refuse_reading(repr(number))
    return number


def _complex(_: Any, real: Any = 0, imag: Any = 0) -> Any:
    if type_of(real) is str:
        refuse_reading(real)
    real, imag = _number_in(real, "__complex__"), _number_in(imag, "__complex__")
    if _stays(real) or _stays(imag):
        return _single(real, complex) + 1j * _single(imag, complex)
    return complex(real, imag) if imag != 0 else complex(real)


def _single(value: Any, kind: type[Any]) -> Any:
    """Return the single element of an array as a scalar of the dtype of `kind`."""
    if not _isinstance(value, AnyWrapper):
        return kind(value)
    if value.ndim:
        if value.size != 1:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        value = value.reshape(())
    value = at_hand(value)
    is_kind = value.dtype.kind in "fc" if kind is float else value.dtype.kind == "c"
    return value[()] if is_kind else value[()].astype(kind)


def _scalar_type(kind: Any) -> Callable[..., Any]:
    """Make a stand-in for a scalar type of NumPy that also takes tracked numbers and arrays."""

    def make(cls: Any, value: Any = 0, /) -> Any:
        if type_of(value) is str:
            value = read(value, kind)
        value = unheld(value)
        if not _stays(value):
            return kind(value)
        if _isinstance(value, SEQUENCE):
            value = np.stack([cls(part) for part in value])
        return value.astype(kind)[()]

    return make


def _generator(_: Any, bit_generator: Any) -> Any:
    return random.Generator(bit_generator)


def _random_state(_: Any, seed: Any = None) -> Any:
    return random.RandomState(seed)


SCALARS: tuple[type[Any], ...] = (
    *(np.float16, np.float32, np.float64, np.longdouble),
    *(np.complex64, np.complex128, np.clongdouble),
)
_CALLS: tuple[tuple[Any, Callable[..., Any]], ...] = (
    *((type, _type), (float, _float), (complex, _complex)),
    *((kind, _scalar_type(kind)) for kind in SCALARS),
    *((np.random.Generator, _generator), (np.random.RandomState, _random_state)),
    *exact_numbers.CALLS,
    *float_arrays.CALLS,
)
CLASSES: list[tuple[Any, Any]] = [(kind, standing_in_class(kind, make)) for kind, make in _CALLS]
"""Each class with the one that stands in for it."""
for _kind, _standing in CLASSES:
    for _name in exact_numbers.MAKERS.intersection(dir(_kind)):
        setattr(_standing, _name, staticmethod(_standing))
_STANDING = {id(kind): standing for kind, standing in CLASSES}


def enter_class(kind: Any, call: Callable[..., Any]) -> None:
    """Enter one more class; `call(cls, ...)` answers calls of what stands in for it."""
    CLASSES.append((kind, standing_in_class(kind, call)))
    _STANDING[id(kind)] = CLASSES[-1][1]


BUILTINS: dict[str, Any] = {
    "isinstance": is_instance,
    "issubclass": is_subclass,
    "hasattr": has_attribute,
    "getattr": get_attribute,
    "vars": variables_of,
    "eval": evaluated,
    **{kind.__name__: standing for kind, standing in CLASSES if kind.__module__ == "builtins"},
}
"""The builtins that adapted code gets as globals, by their names."""
