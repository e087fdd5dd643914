"""The operators of a wrapper.

Each finds its operation by the symbol in the table's row, and binds the written call to the class
of the library when it is first used, in its own place; from then on Python calls that. In place, an
operator changes the wrapper and records the change.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from gradwrap.core.array.writing import inplace
from gradwrap.core.calls.general import operator_call
from gradwrap.core.table.registry import changes, find_op, op_of_symbol
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

B = TypeVar("B")

BINARY = inplace.BINARY
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
UNARY = {"-": "neg", "+": "pos", "~": "invert"}
NAMED = {"abs": "abs", "getitem": "getitem"}
"""The methods of operations that have no symbol."""


class Operators(Generic[B]):
    """The methods of `+`, `*`, `@`, `<` and so on; `B` is the type of a comparison."""

    __slots__ = ()

    @classmethod
    def _operator(cls, op: Any, method: str, *, swapped: bool = False) -> Callable[..., Any]:
        """Bind an operation to the class: the bound method replaces the general one."""
        before = changes()
        bound: Any = cls
        reflected = "" if swapped else method.replace("__", "__r", 1)
        function = operator_call(
            bound._bind(op), bound._level, swapped=swapped, reflected=reflected
        )
        setattr(cls, method, function)
        if changes() != before:
            cls._forget_operators()
        return function

    @classmethod
    def _operator_in_place(cls, symbol: str, method: str) -> Callable[..., Any]:
        """Bind an in-place operator to the class: the bound method replaces the general one."""
        before = changes()
        function = inplace.in_place_call(cls, symbol)
        setattr(cls, method, function)
        if changes() != before:
            cls._forget_operators()
        return function

    @classmethod
    def _write_call(cls) -> Callable[..., None]:
        """Bind the written call of `x[key] = value` to the class, replacing the general method."""
        bound: Any = cls
        op = find_op("setitem")
        assert op is not None
        usual = bound._writes_in_place and not bound._backend.depth
        function = inplace.write_call(bound._bind(op)) if usual else None
        cls.__setitem__ = function or inplace.set_item  # type: ignore[method-assign]  # of one library's class
        return cls.__setitem__

    def __setitem__(self, key: Any, value: Any) -> None:
        type_of(self)._write_call()(self, key, value)

    @classmethod
    def _forget_operators(cls) -> None:
        """Remove the bound methods, so that the general ones apply again."""
        for method in METHODS & cls.__dict__.keys():
            with contextlib.suppress(AttributeError):  # another thread was here
                delattr(cls, method)

    if TYPE_CHECKING:  # the other operand is an array of the library, a wrapper, or a number

        def __add__(self, other: Any, /) -> Self: ...
        def __radd__(self, other: Any, /) -> Self: ...
        def __iadd__(self, other: Any, /) -> Self: ...
        def __sub__(self, other: Any, /) -> Self: ...
        def __rsub__(self, other: Any, /) -> Self: ...
        def __isub__(self, other: Any, /) -> Self: ...
        def __mul__(self, other: Any, /) -> Self: ...
        def __rmul__(self, other: Any, /) -> Self: ...
        def __imul__(self, other: Any, /) -> Self: ...
        def __truediv__(self, other: Any, /) -> Self: ...
        def __rtruediv__(self, other: Any, /) -> Self: ...
        def __itruediv__(self, other: Any, /) -> Self: ...
        def __floordiv__(self, other: Any, /) -> Self: ...
        def __rfloordiv__(self, other: Any, /) -> Self: ...
        def __ifloordiv__(self, other: Any, /) -> Self: ...
        def __mod__(self, other: Any, /) -> Self: ...
        def __rmod__(self, other: Any, /) -> Self: ...
        def __imod__(self, other: Any, /) -> Self: ...
        def __pow__(self, other: Any, /) -> Self: ...
        def __rpow__(self, other: Any, /) -> Self: ...
        def __ipow__(self, other: Any, /) -> Self: ...
        def __matmul__(self, other: Any, /) -> Self: ...
        def __rmatmul__(self, other: Any, /) -> Self: ...
        def __imatmul__(self, other: Any, /) -> Self: ...
        def __and__(self, other: Any, /) -> Self: ...
        def __rand__(self, other: Any, /) -> Self: ...
        def __iand__(self, other: Any, /) -> Self: ...
        def __or__(self, other: Any, /) -> Self: ...
        def __ror__(self, other: Any, /) -> Self: ...
        def __ior__(self, other: Any, /) -> Self: ...
        def __xor__(self, other: Any, /) -> Self: ...
        def __rxor__(self, other: Any, /) -> Self: ...
        def __ixor__(self, other: Any, /) -> Self: ...
        def __lshift__(self, other: Any, /) -> Self: ...
        def __rlshift__(self, other: Any, /) -> Self: ...
        def __ilshift__(self, other: Any, /) -> Self: ...
        def __rshift__(self, other: Any, /) -> Self: ...
        def __rrshift__(self, other: Any, /) -> Self: ...
        def __irshift__(self, other: Any, /) -> Self: ...
        def __neg__(self) -> Self: ...
        def __pos__(self) -> Self: ...
        def __invert__(self) -> Self: ...
        def __abs__(self) -> Self: ...
        def __getitem__(self, key: Any, /) -> Self: ...
        def __lt__(self, other: Any, /) -> B: ...
        def __le__(self, other: Any, /) -> B: ...
        def __gt__(self, other: Any, /) -> B: ...
        def __ge__(self, other: Any, /) -> B: ...
        def __eq__(self, other: Any, /) -> B: ...  # type: ignore[override]  # an array of bools, as in NumPy
        def __ne__(self, other: Any, /) -> B: ...  # type: ignore[override]  # an array of bools, as in NumPy
        def __hash__(self) -> int: ...

    def __divmod__(self, other: Any, /) -> tuple[Self, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: Any, /) -> tuple[Self, Self]:
        return other // self, other % self


def _general(find: Callable[[], Any], method: str, *, swapped: bool = False) -> Any:
    """Make the general method of an operator, which binds the operation at its first call."""

    def operate(self: Any, *operands: Any) -> Any:
        return type_of(self)._operator(find(), method, swapped=swapped)(self, *operands)

    operate.__name__ = method
    return operate


def _in_place(symbol: str, method: str) -> Any:
    def operate(self: Any, other: Any, /) -> Any:
        return type_of(self)._operator_in_place(symbol, method)(self, other)

    return operate


_FIND: dict[str, Callable[[], Any]] = {
    **{f"__{w}__": partial(op_of_symbol, s, 2) for s, w in (BINARY | COMPARISONS).items()},
    **{f"__{w}__": partial(op_of_symbol, s, 1) for s, w in UNARY.items()},
    **{f"__{w}__": partial(find_op, name) for name, w in NAMED.items()},
}
_FIND_SWAPPED = {f"__r{w}__": _FIND[f"__{w}__"] for w in BINARY.values()}
_IN_PLACE = {f"__i{word}__": symbol for symbol, word in BINARY.items()}
METHODS = _FIND.keys() | _FIND_SWAPPED.keys() | _IN_PLACE.keys() | {"__setitem__"}
"""The methods that bind themselves."""
for _name, _find in _FIND.items():
    setattr(Operators, _name, _general(_find, _name))
for _name, _find in _FIND_SWAPPED.items():
    setattr(Operators, _name, _general(_find, _name, swapped=True))
for _name, _symbol in _IN_PLACE.items():
    setattr(Operators, _name, _in_place(_symbol, _name))


def operation_of_method(method: str) -> Any:
    """Return the operation behind a method such as `__add__`, or None."""
    find = _FIND.get(method)
    return None if find is None else find()
