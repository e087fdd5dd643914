"""Decimal numbers and fractions of tracked numbers, in adapted code.

Such a number has an exact part, which Python's own arithmetic computes (the precision, the errors
and the comparisons are those of plain code), and a tracked float with the same value, by which it
has a derivative. It is no instance of `Decimal` or `Fraction`, so compiled code that reads these
refuses it.
"""

from __future__ import annotations

import operator
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.plain_values import Holder, open_instances, unheld
from gradwrap.core.array.adapted import (
    FLOAT_DIGITS,
    adapted_caller,
    keeps_all,
    note_plain,
    rounded,
    shown_as,
    warn_of_text,
)
from gradwrap.core.array.conversions import known
from gradwrap.core.array.python_floats import array_of, python_float
from gradwrap.core.array.texts import made_of, refuse_reading, texts_of_call
from gradwrap.core.levels.wrapper import AnyWrapper, has_effect
from gradwrap.core.observing.callers import current_caller, refused
from gradwrap.core.observing.comparing import looks
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.tree import flatten, is_lone, unflatten
from gradwrap.errors import GradwrapError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")
FUNCTIONS: dict[str, Any] = {"sqrt": np.sqrt, "ln": np.log, "log10": np.log10, "exp": np.exp}
"""The functions of a decimal number, and NumPy's."""
KEPT = ("normalize", "conjugate", "canonical")
"""Methods whose result has the number's derivative."""
ROUNDING = (
    *("quantize", "to_integral_value", "to_integral", "to_integral_exact"),
    "limit_denominator",
)
"""Methods that round: the result has the derivative of `round(x, decimals)`."""
QUESTIONS = (
    *("is_nan", "is_qnan", "is_snan", "is_finite", "is_infinite"),
    *("is_normal", "is_subnormal"),
)
"""Methods whose answer is the same for all numbers around."""


class Exact(Holder):
    """The base of tracked decimal numbers and fractions."""

    __slots__ = ("exact",)

    kind: type[Any]

    def __init__(self, exact: Any, variable: Any) -> None:
        self.exact: Any = exact
        self._gradwrap_array: Any = _at(exact, variable)
        open_instances()

    def __float__(self) -> float:
        return float(self._gradwrap_array)  # refused by C code, which can keep no derivative

    def __int__(self) -> int:
        _note_whole(self)
        return int(self.exact)

    __trunc__ = __int__

    def __floor__(self) -> int:
        _note_whole(self)
        return int(self.exact.__floor__())

    def __ceil__(self) -> int:
        _note_whole(self)
        return int(self.exact.__ceil__())

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None:
            _note_whole(self)
            return round(self.exact)
        return self.rounded_to(round(self.exact, ndigits))

    def __bool__(self) -> bool:
        return bool(operator.ne(self, 0))

    def __hash__(self) -> int:
        return hash(self._gradwrap_array)

    def __neg__(self) -> Any:
        return _computed(-self.exact, -self._gradwrap_array)

    def __pos__(self) -> Any:
        return _computed(+self.exact, self._gradwrap_array)

    def __abs__(self) -> Any:
        return _computed(abs(self.exact), abs(self._gradwrap_array))

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __reduce__(self) -> Any:
        raise self.refusal("pickle")

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __str__(self) -> str:
        return self.shown(str(self.exact), is_whole=True)

    def __repr__(self) -> str:
        return self.shown(repr(self.exact))

    def __format__(self, spec: str) -> str:
        return self.shown(format(self.exact, spec), is_whole=keeps_all(spec))

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self.kind, name):
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        if name in QUESTIONS:
            return getattr(self.exact, name)
        if name not in (*FUNCTIONS, *KEPT, *ROUNDING):
            raise self.refusal(name)

        def method(*args: Any, **options: Any) -> Any:
            exact = getattr(self.exact, name)(*args, **options)
            if name in ROUNDING:
                return self.rounded_to(exact)
            function = FUNCTIONS.get(name)
            return _computed(exact, function(self._array()) if function else self._gradwrap_array)

        return method

    @property
    def real(self) -> Any:
        """The number itself, as of all real numbers."""
        return self

    @property
    def imag(self) -> Any:
        """Zero."""
        return self.exact.imag

    def copy_abs(self) -> Any:
        """Return the number without its sign, not rounded."""
        return self if self.exact.copy_abs() == self.exact else self.copy_negate()

    def copy_negate(self) -> Any:
        """Return the number with the other sign, not rounded."""
        return made(self.exact.copy_negate(), -self._gradwrap_array)

    def is_zero(self) -> bool:
        """Tell if the number is zero."""
        return bool(operator.eq(self, 0))

    def is_signed(self) -> bool:
        """Tell if the number has a minus sign."""
        number: Any = self  # its comparisons are set below
        return bool(number < 0) or self.exact.is_signed()

    def max(self, other: Any) -> Any:
        """Return the greater one of two numbers."""
        return +self if self > other else +self.kind(other) if type_of(other) is int else +other

    def min(self, other: Any) -> Any:
        """Return the lesser one of two numbers."""
        return +self if self < other else +self.kind(other) if type_of(other) is int else +other

    def fma(self, other: Any, third: Any) -> Any:
        """Return `self * other + third`, rounded once."""
        exact = self.exact.fma(_exact(other), _exact(third))
        return _computed(exact, self._gradwrap_array * _number(other) + _number(third))

    def _array(self) -> Any:
        return array_of(self._gradwrap_array)

    def rounded_to(self, exact: Any) -> Any:
        """Return what the number is rounded to."""
        return made(exact, rounded(self._array(), self.constant(exact).gradwrap_array()))

    def constant(self, exact: Any) -> Any:
        """Return a number that is constant between steps: without a derivative."""
        if type_of(exact) is int:  # a quotient of fractions
            return exact
        return made(exact, self._array().detach())

    def shown(self, text: str, *, is_whole: bool = False) -> str:
        """Return text of the number, and note it."""
        frame = adapted_caller(3)
        if frame is not None:
            warn_of_text(self._gradwrap_array, frame, text)
            if is_whole and has_effect(self._gradwrap_array):
                texts_of_call().add_whole(text, self)
        return text

    def refusal(self, what: str) -> GradwrapError:
        """Return the error for what has no derivative."""
        caller = current_caller()
        name = f"{self.kind.__name__}.{what}"
        message = (
            f"{name} of a tracked number{'' if caller is None else f' {caller}'} has no derivative "
            "here. Fix: write it with the operators of numbers and sqrt, ln, exp, log10; or take "
            'the derivative by differences, with gradwrap.adapting(f, compiled="numerical").'
        )
        return refused(caller, TrackedValueError(message))


def _note_whole(number: Exact) -> None:
    note_plain()
    look = looks()
    if look is not None:
        look("whole", known(number.gradwrap_array()))


def _exact(value: Any) -> Any:
    return value.exact if isinstance(value, Exact) else value


def _number(value: Any) -> Any:
    """Return a number as a float that may be tracked."""
    value = unheld(value)
    return value if isinstance(value, AnyWrapper) else _as_float(value)


def _as_float(exact: Any) -> float:
    """Return the float next to an exact number."""
    found = float(exact)
    if (found == 0.0 or np.isinf(found)) and exact != found:
        raise refused(
            current_caller(),
            TrackedValueError(
                f"{exact!r} meets tracked numbers, and is out of the range of floats. Fix: scale "
                'the numbers; or gradwrap.adapting(f, compiled="numerical") takes the derivative '
                "by differences."
            ),
        )
    return found


def _at(exact: Any, variable: Any) -> Any:
    """Return a tracked float, moved to the float of an exact number without a new derivative."""
    wanted = _as_float(exact)
    array = array_of(variable)
    found = known(array)
    if found != wanted and not np.isnan(wanted):
        array = array + (wanted - found)
    return python_float(array)


def made(exact: Any, variable: Any) -> Any:
    """Return the tracked number for an exact one; for a float, the tracked float."""
    kind = _KINDS.get(type_of(exact))
    return _at(exact, variable) if kind is None else kind(exact, variable)


def _computed(exact: Any, variable: Any) -> Any:
    """Return a computed number; it is a rounded one if its context has fewer digits than floats."""
    number = made(exact, variable)
    is_rounded = type_of(exact) is Decimal and getcontext().prec < FLOAT_DIGITS
    return number.rounded_to(exact) if is_rounded else number


def _binary(name: str, *, is_swapped: bool) -> Callable[[Any, Any], Any]:
    apply = getattr(operator, name)

    def method(self: Exact, other: Any) -> Any:
        is_float = isinstance(other, AnyWrapper) or type_of(other) is float
        if is_float and self.kind is Fraction:  # the result is a float
            mine = self.gradwrap_array()
            return apply(other, mine) if is_swapped else apply(mine, other)
        if is_float or not isinstance(other, (int, self.kind, type_of(self))):
            return NotImplemented
        left, right = (other, self) if is_swapped else (self, other)
        exact, a, b = apply(_exact(left), _exact(right)), _number(left), _number(right)
        if name == "floordiv":
            _note_whole(self)
            return self.constant(exact)
        if type_of(exact) is complex:
            raise self.refusal(f"__{name}__ with a complex result")
        if name == "mod":
            return _computed(exact, a - float(_exact(left) // _exact(right)) * b)
        return _computed(exact, apply(a, b))

    return method


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    apply = getattr(operator, name)

    def method(self: Exact, other: Any) -> Any:
        tracked = unheld(other)
        if isinstance(tracked, AnyWrapper):
            other = _exact(other) if isinstance(other, Exact) else float(known(tracked))
        elif isinstance(other, (int, float, Decimal, Fraction)):
            tracked = float(other)
        else:
            return NotImplemented
        apply(self.gradwrap_array(), tracked)  # it is noted
        return apply(self.exact, other)

    return method


for _name in BINARY:
    setattr(Exact, f"__{_name}__", _binary(_name, is_swapped=False))
    setattr(Exact, f"__r{_name}__", _binary(_name, is_swapped=True))
for _name in COMPARISONS:
    setattr(Exact, f"__{_name}__", _comparison(_name))


class TrackedDecimal(Exact):
    """A decimal number with a derivative."""

    __slots__ = ()
    kind = Decimal


class TrackedFraction(Exact):
    """A fraction with a derivative."""

    __slots__ = ()
    kind = Fraction


def _shown(number: Exact) -> Any:
    return number.kind


_KINDS: dict[type[Any], type[Exact]] = {Decimal: TrackedDecimal, Fraction: TrackedFraction}
for _kind in _KINDS.values():
    shown_as[id(_kind)] = _shown


def _maker(kind: Any) -> Callable[..., Any]:
    """Make what answers calls of a class: of tracked numbers, and of their text."""

    def make(_: Any, *args: Any, **options: Any) -> Any:
        if len(args) != 1 or options:
            return kind(*map(_refused_part, args), **options)
        (value,) = args
        number = value
        if type_of(value) is str:
            number = made_of(value)
            if number is None:
                refuse_reading(value)
                return kind(value)
        elif isinstance(value, Exact):
            value = value.exact
        elif isinstance(value, AnyWrapper) and not value.shape:
            value = float(known(value))
        return made(kind(value), unheld(number)) if isinstance(number, _HELD) else kind(value)

    return make


def _refused_part(value: Any) -> Any:
    if type_of(value) is str:
        refuse_reading(value)
    return value


_HELD = (AnyWrapper, Exact)
CALLS: tuple[tuple[Any, Callable[..., Any]], ...] = tuple((one, _maker(one)) for one in _KINDS)
"""The classes, with what answers calls of their stand-ins."""
MAKERS = frozenset({"from_float", "from_decimal"})
"""Class methods that do what a call of the class does."""


returned: list[tuple[type[Any], Callable[[Any], Any]]] = [(Exact, Exact.gradwrap_array)]
"""Classes of numbers that functions may return, with what gives their tracked float, if any."""


def as_floats(out: Any) -> Any:
    """Return the output of a function with tracked floats in place of other numbers of them."""
    kinds = tuple(kind for kind, _ in returned)
    leaves, treedef = ([out], None) if is_lone(out) else flatten(out)
    if not any(isinstance(leaf, kinds) for leaf in leaves):
        return out
    made = list(map(_float_in, leaves))
    return made[0] if treedef is None else unflatten(treedef, made)


def _float_in(leaf: Any) -> Any:
    read = next((read for kind, read in returned if isinstance(leaf, kind)), None)
    return leaf if read is None else read(leaf)
