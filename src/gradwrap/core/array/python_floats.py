"""Floats of Python in adapted code: what `float(x)`, `x.item()` and the module `math` give there.

Such a float stays tracked, and does what Python's floats do: it has no `shape`, a division by zero
raises `ZeroDivisionError`, a power of a negative number may be complex, and a product with an array
of float32 keeps the dtype. Arithmetic with numbers of Python gives such floats again, and with
NumPy's numbers and arrays it gives what NumPy gives.
"""

from __future__ import annotations

import errno
import math
import operator
import os
import sys
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.array.adapted import adapted_caller, warn_of_text
from gradwrap.core.calls.general import operator_call
from gradwrap.core.calls.loop import differing
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    holds_batch,
    innermost,
    make_wrapper,
    native,
)
from gradwrap.core.library.backend import backend_of, by_type, lock
from gradwrap.core.observing.callers import MARK
from gradwrap.core.observing.code import frame_of
from gradwrap.core.table.registry import changes, op_of_symbol
from gradwrap.core.values.dynamic import LIST, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

DOUBLE: Any = np.float64
PYTHONS = frozenset({float, int, bool})
DIVIDING: dict[str, Callable[[float, float], object]] = {
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "divmod": divmod,
}
"""The operators that raise Python's own error, whose text each version changes, for zero."""
CHECKED = ("pow", *DIVIDING)
"""The operators that may raise an error or give a complex number."""
BINARY = ("add", "sub", "mul", *CHECKED)
SYMBOLS = dict(zip(BINARY, ("+", "-", "*", "**", "/", "//", "%"), strict=False))


class PythonFloat:
    """A tracked float of Python: the base of one class for each class of wrappers."""

    __slots__ = ()

    _value: Any
    _node: Any
    _is_weak: bool = True
    _arrays: Any = None
    """The class of wrappers for arrays."""

    @classmethod
    def _bind(cls, op: Any) -> Any:
        """Return the operation of arrays: its result may be one."""
        return cls._arrays._bind(op)

    def __getattr__(self, name: str) -> Any:
        if adapted_caller() is not None and not hasattr(float, name):
            raise AttributeError(f"'float' object has no attribute {name!r}")
        return getattr(array_of(self), name)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return array_of(self).__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given = [_like_others(one, inputs) for one in inputs]
        return array_of(self).__array_ufunc__(ufunc, method, *given, **options)

    def beside(self, others: Any) -> Any:
        """Return the number as an array of no axes, in the precision of others."""
        return _like_others(self, others)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __neg__(self) -> Any:
        return python_float(-array_of(self))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return python_float(abs(array_of(self)))

    def __round__(self, ndigits: int | None = None) -> Any:
        made = round(array_of(self), ndigits)
        return made if ndigits is None else python_float(made)

    def __repr__(self) -> str:
        if (frame := adapted_caller()) is None:
            return repr(array_of(self))
        text = str(native(self))
        warn_of_text(self, frame, text, spec="")
        return text

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        if (frame := adapted_caller()) is None:
            return format(array_of(self), spec)
        text = format(native(self), spec)
        warn_of_text(self, frame, text, spec=spec)
        return text


def array_of(value: Any) -> Any:
    """Return a float of Python as a variable for an array of no axes; other values unchanged."""
    if not isinstance(value, PythonFloat):
        return value
    given: Any = value
    return make_wrapper(given._arrays, given._value, given._node)


def python_float(variable: Any) -> Any:
    """Return a variable of one real number as a float of Python; other values unchanged."""
    if not isinstance(variable, AnyWrapper) or isinstance(variable, PythonFloat):
        return variable
    data = variable._value
    if type_of(data) is DOUBLE:
        return make_wrapper(_class_for(type_of(variable)), data, variable._node)
    if variable.shape != () or not _is_real(variable.dtype):
        return variable
    if variable.dtype.itemsize < DOUBLE(0).itemsize:
        variable = variable.astype(np.float64)
    return make_wrapper(_class_for(type_of(variable)), variable._value, variable._node)


def python_floats(values: Any) -> Any:
    """Return nested lists and tuples with floats of Python in place of variables."""
    if type_of(values) in (LIST, TUPLE):
        return type_of(values)(map(python_floats, values))
    return python_float(values)


def _is_real(dtype: Any) -> bool:
    return getattr(dtype, "kind", "") == "f"


_classes: dict[type[Any], Any] = {}


def _class_for(kind: Any) -> Any:
    known = _classes.get(kind)
    if known is None:
        names = [name for name in dir(kind) if name[0] != "_" and not hasattr(float, name)]
        attributes = {name: _array_attribute(name) for name in names}
        made: Any = type(
            kind.__name__,
            (PythonFloat, kind),
            {
                "__slots__": (),
                "__module__": kind.__module__,
                "_arrays": kind,
                "_bindings": {},
                **attributes,
            },
        )
        with lock:
            by_type[made] = by_type[kind]
            known = _classes.setdefault(kind, made)
    return known


def _array_attribute(name: str) -> Any:
    """Return an attribute that arrays have, and floats of Python have not."""

    def get(self: Any) -> Any:
        if adapted_caller() is not None:
            raise AttributeError(f"'float' object has no attribute {name!r}")
        return getattr(array_of(self), name)

    return property(get)


# Arithmetic ---------------------------------------------------------------------------------------


def _like_others(value: Any, others: Any) -> Any:
    """Return a float of Python in the precision of the arrays that it is combined with."""
    if not isinstance(value, PythonFloat):
        return value
    array = array_of(value)
    dtypes = [
        getattr(one.dtype, "numpy_dtype", one.dtype)  # of a column of pandas
        for one in others
        if hasattr(one, "dtype") and not isinstance(one, PythonFloat)
    ]
    if not dtypes:
        return array
    common: Any = np.zeros(0, np.result_type(*dtypes, 1.0))
    wanted = common.real.dtype
    return array.astype(wanted) if _is_real(wanted) and wanted != array.dtype else array


def _compared(value: Any, compare: Callable[[Any, float], Any]) -> bool:
    """Compare a number with zero; the examples of a batch must have the same answer.

    In a trace it is a branch of the program. So the answer is no branch there, if it is no and no
    handler waits for an error.
    """
    if holds_batch(value):
        answers = False if is_traced() else compare(innermost(value), 0.0)
        if np.any(answers) and not np.all(answers):
            raise differing(ArithmeticError("a number is zero, or too large"))
        return bool(np.all(answers))
    number = native(value)
    if isinstance(value, AnyWrapper) and is_traced() and not _is_awaited():
        present = backend_of(number).concrete(number)
        if not compare(present, 0.0):
            return False
    return bool(compare(number, 0.0))


def _is_awaited() -> bool:
    """Tell if a caller handles errors: its code has a table of exceptions."""
    frame: FrameType | None = frame_of(1)
    while frame is not None:
        if MARK in frame.f_globals and frame.f_code.co_exceptiontable:
            return True
        frame = frame.f_back
    return False


def _binary(name: str, *, is_swapped: bool) -> Callable[[Any, Any], Any]:
    apply: Callable[[Any, Any], Any] = divmod if name == "divmod" else getattr(operator, name)
    is_checked, reflected = name in CHECKED, f"__r{name}__"
    bound: dict[Any, tuple[int, Callable[[Any, Any], Any]]] = {}

    def bind(own: Any) -> Callable[[Any, Any], Any]:
        """Return the operator of a class of floats, which gives floats of this class."""
        before, op = changes(), op_of_symbol(SYMBOLS[name], 2)
        above: Any = super(PythonFloat, own)  # arrays' own, bound to this class
        found = operator_call(above._bind(op), own._level, swapped=is_swapped)
        bound[own] = before, found
        return found

    def method(self: Any, other: Any) -> Any:
        kind, own = type_of(other), type_of(self)
        is_plain = kind in PYTHONS
        if is_plain or kind is own:
            if is_checked:
                number, its = self._value, other if is_plain else other._value
                is_usual = type_of(number) is DOUBLE and (is_plain or type_of(its) is DOUBLE)
                if is_usual:  # Python raises its own errors
                    both = (its, number) if is_swapped else (number, its)
                    is_usual = type_of(apply(float(both[0]), float(both[1]))) is float
                if not is_usual:
                    return _slowly(name, *((other, self) if is_swapped else (self, other)))
            known = bound.get(own)
            if known is None or known[0] != changes():
                return bind(own)(self, other)
            return known[1](self, other)
        if isinstance(other, PythonFloat):
            return _slowly(name, *((other, self) if is_swapped else (self, other)))
        number = _plain_number(other, "" if is_swapped else reflected)
        if number is not other:
            return number if number is NotImplemented else method(self, number)
        mine = _like_others(self, (other,))
        return apply(other, mine) if is_swapped else apply(mine, other)

    return method


def _plain_number(value: Any, reflected: str) -> Any:
    """Return a number of a subclass of Python's as Python's, and other values as they are.

    It is NotImplemented for a subclass with an operator `reflected` of its own, which comes first,
    and for another object with such an operator that might be converted to an array.
    """
    kind = type_of(value)
    if not issubclass(kind, (float, int)) or issubclass(kind, np.generic):
        is_asked = reflected and hasattr(kind, "__array__") and not hasattr(kind, "__array_ufunc__")
        is_its = is_asked and type_of(getattr(kind, reflected, None)) is FunctionType
        return NotImplemented if is_its and not isinstance(value, AnyWrapper) else value
    base: Any = float if issubclass(kind, float) else int
    if reflected and getattr(kind, reflected) is not getattr(base, reflected):
        return NotImplemented
    return base(value)


def _slowly(name: str, left: Any, right: Any) -> Any:
    """Perform an operator on two numbers of Python, in a trace or in nested transforms, too.

    Raises
    ------
    ZeroDivisionError
        The divisor is zero, or zero has a negative exponent.
    OverflowError
        A power is too large.
    """
    if name in DIVIDING and _compared(right, operator.eq):
        DIVIDING[name](1.0, 0.0)
    left_array, right_array = array_of(left), array_of(right)
    if name == "divmod":
        return python_float(left_array // right_array), python_float(left_array % right_array)
    is_known = not (holds_batch(right) or (is_traced() and isinstance(right, AnyWrapper)))
    if name == "pow" and is_known:
        exponent = float(native(right))
        if exponent < 0.0 and _compared(left, operator.eq):
            _ = 0.0**exponent  # it raises Python's error
        is_fraction = math.isfinite(exponent) and not exponent.is_integer()
        if is_fraction and _compared(left, operator.lt):
            return (left_array + 0j) ** right_array
        if exponent > 1.0 and _compared(left, partial(_exceeds, exponent)):
            raise OverflowError(errno.ERANGE, os.strerror(errno.ERANGE))
    return python_float(getattr(operator, name)(left_array, right_array))


def _exceeds(exponent: float, number: Any, _: float) -> Any:
    """Tell if a power is too large."""
    return abs(number) > sys.float_info.max ** (1.0 / exponent)


for _name in BINARY:
    setattr(PythonFloat, f"__{_name}__", _binary(_name, is_swapped=False))
    if _name != "divmod":
        setattr(PythonFloat, f"__i{_name}__", _binary(_name, is_swapped=False))
    setattr(PythonFloat, f"__r{_name}__", _binary(_name, is_swapped=True))


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    apply = getattr(operator, name)

    def method(self: Any, other: Any) -> Any:
        found = apply(array_of(self), array_of(other))
        is_number = type_of(other) in PYTHONS or isinstance(other, PythonFloat)
        if not is_number or is_traced() or not isinstance(found, AnyWrapper) or holds_batch(found):
            return found
        return bool(native(found))  # a truth of Python is a number, and an index

    return method


for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(PythonFloat, f"__{_name}__", _comparison(_name))
