"""The operators of a variable.

Each binds the compiled call of its operation to the class of the library when it is first used, in
its own place; from then on Python calls that. In place, an operator changes the variable and
records the change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gradwrap.core import inplace

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.variable import Variable

__all__ = ["METHOD_OPS", "Operators"]


class Operators:
    """What `+`, `*`, `@`, `<` ... do: an operation each."""

    __slots__ = ()

    def _operator(self, name: str, method: str, *, swapped: bool = False) -> Callable[..., Self]:
        """Bind an operation to the class in place of the method that asks for it."""
        raise NotImplementedError

    def _comparison(self, name: str, method: str) -> Callable[..., Variable[Any]]:
        """The same for an operation whose result is of bools."""
        bound: Callable[..., Any] = self._operator(name, method)
        return bound

    # The other operand is an array of the library, a variable, or a Python number.

    def __add__(self, other: Any, /) -> Self:
        return self._operator("add", "__add__")(self, other)

    def __radd__(self, other: Any, /) -> Self:
        bound = self._operator("add", "__radd__", swapped=True)
        return bound(self, other)

    def __iadd__(self, other: Any, /) -> Self:
        return inplace.operate(self, "add", other)

    def __sub__(self, other: Any, /) -> Self:
        return self._operator("subtract", "__sub__")(self, other)

    def __rsub__(self, other: Any, /) -> Self:
        bound = self._operator("subtract", "__rsub__", swapped=True)
        return bound(self, other)

    def __isub__(self, other: Any, /) -> Self:
        return inplace.operate(self, "subtract", other)

    def __mul__(self, other: Any, /) -> Self:
        return self._operator("multiply", "__mul__")(self, other)

    def __rmul__(self, other: Any, /) -> Self:
        bound = self._operator("multiply", "__rmul__", swapped=True)
        return bound(self, other)

    def __imul__(self, other: Any, /) -> Self:
        return inplace.operate(self, "multiply", other)

    def __truediv__(self, other: Any, /) -> Self:
        return self._operator("divide", "__truediv__")(self, other)

    def __rtruediv__(self, other: Any, /) -> Self:
        bound = self._operator("divide", "__rtruediv__", swapped=True)
        return bound(self, other)

    def __itruediv__(self, other: Any, /) -> Self:
        return inplace.operate(self, "divide", other)

    def __floordiv__(self, other: Any, /) -> Self:
        return self._operator("floor_divide", "__floordiv__")(self, other)

    def __rfloordiv__(self, other: Any, /) -> Self:
        bound = self._operator("floor_divide", "__rfloordiv__", swapped=True)
        return bound(self, other)

    def __ifloordiv__(self, other: Any, /) -> Self:
        return inplace.operate(self, "floor_divide", other)

    def __mod__(self, other: Any, /) -> Self:
        return self._operator("remainder", "__mod__")(self, other)

    def __rmod__(self, other: Any, /) -> Self:
        bound = self._operator("remainder", "__rmod__", swapped=True)
        return bound(self, other)

    def __imod__(self, other: Any, /) -> Self:
        return inplace.operate(self, "remainder", other)

    def __pow__(self, other: Any, /) -> Self:
        return self._operator("pow", "__pow__")(self, other)

    def __rpow__(self, other: Any, /) -> Self:
        bound = self._operator("pow", "__rpow__", swapped=True)
        return bound(self, other)

    def __ipow__(self, other: Any, /) -> Self:
        return inplace.operate(self, "pow", other)

    def __matmul__(self, other: Any, /) -> Self:
        return self._operator("matmul", "__matmul__")(self, other)

    def __rmatmul__(self, other: Any, /) -> Self:
        bound = self._operator("matmul", "__rmatmul__", swapped=True)
        return bound(self, other)

    def __imatmul__(self, other: Any, /) -> Self:
        return inplace.operate(self, "matmul", other)

    def __and__(self, other: Any, /) -> Self:
        return self._operator("bitwise_and", "__and__")(self, other)

    def __rand__(self, other: Any, /) -> Self:
        bound = self._operator("bitwise_and", "__rand__", swapped=True)
        return bound(self, other)

    def __iand__(self, other: Any, /) -> Self:
        return inplace.operate(self, "bitwise_and", other)

    def __or__(self, other: Any, /) -> Self:
        return self._operator("bitwise_or", "__or__")(self, other)

    def __ror__(self, other: Any, /) -> Self:
        bound = self._operator("bitwise_or", "__ror__", swapped=True)
        return bound(self, other)

    def __ior__(self, other: Any, /) -> Self:
        return inplace.operate(self, "bitwise_or", other)

    def __xor__(self, other: Any, /) -> Self:
        return self._operator("bitwise_xor", "__xor__")(self, other)

    def __rxor__(self, other: Any, /) -> Self:
        bound = self._operator("bitwise_xor", "__rxor__", swapped=True)
        return bound(self, other)

    def __ixor__(self, other: Any, /) -> Self:
        return inplace.operate(self, "bitwise_xor", other)

    def __lshift__(self, other: Any, /) -> Self:
        return self._operator("bitwise_left_shift", "__lshift__")(self, other)

    def __rlshift__(self, other: Any, /) -> Self:
        bound = self._operator("bitwise_left_shift", "__rlshift__", swapped=True)
        return bound(self, other)

    def __ilshift__(self, other: Any, /) -> Self:
        return inplace.operate(self, "bitwise_left_shift", other)

    def __rshift__(self, other: Any, /) -> Self:
        return self._operator("bitwise_right_shift", "__rshift__")(self, other)

    def __rrshift__(self, other: Any, /) -> Self:
        bound = self._operator("bitwise_right_shift", "__rrshift__", swapped=True)
        return bound(self, other)

    def __irshift__(self, other: Any, /) -> Self:
        return inplace.operate(self, "bitwise_right_shift", other)

    def __eq__(  # type: ignore[override]  # an array of bools, as in NumPy
        self, other: Any, /
    ) -> Variable[Any]:
        return self._comparison("equal", "__eq__")(self, other)

    def __ne__(  # type: ignore[override]  # an array of bools, as in NumPy
        self, other: Any, /
    ) -> Variable[Any]:
        return self._comparison("not_equal", "__ne__")(self, other)

    def __lt__(self, other: Any, /) -> Variable[Any]:
        return self._comparison("less", "__lt__")(self, other)

    def __le__(self, other: Any, /) -> Variable[Any]:
        return self._comparison("less_equal", "__le__")(self, other)

    def __gt__(self, other: Any, /) -> Variable[Any]:
        return self._comparison("greater", "__gt__")(self, other)

    def __ge__(self, other: Any, /) -> Variable[Any]:
        return self._comparison("greater_equal", "__ge__")(self, other)

    if TYPE_CHECKING:

        def __hash__(self) -> int: ...
    else:
        __hash__ = object.__hash__

    def __neg__(self) -> Self:
        return self._operator("negative", "__neg__")(self)

    def __pos__(self) -> Self:
        return self._operator("positive", "__pos__")(self)

    def __abs__(self) -> Self:
        return self._operator("abs", "__abs__")(self)

    def __invert__(self) -> Self:
        return self._operator("bitwise_invert", "__invert__")(self)

    def __divmod__(self, other: Any, /) -> tuple[Self, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: Any, /) -> tuple[Self, Self]:
        return other // self, other % self


METHOD_OPS = {
    "__add__": "add",
    "__radd__": "add",
    "__sub__": "subtract",
    "__rsub__": "subtract",
    "__mul__": "multiply",
    "__rmul__": "multiply",
    "__truediv__": "divide",
    "__rtruediv__": "divide",
    "__floordiv__": "floor_divide",
    "__rfloordiv__": "floor_divide",
    "__mod__": "remainder",
    "__rmod__": "remainder",
    "__pow__": "pow",
    "__rpow__": "pow",
    "__matmul__": "matmul",
    "__rmatmul__": "matmul",
    "__and__": "bitwise_and",
    "__rand__": "bitwise_and",
    "__or__": "bitwise_or",
    "__ror__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__rxor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rlshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
    "__rrshift__": "bitwise_right_shift",
    "__eq__": "equal",
    "__ne__": "not_equal",
    "__lt__": "less",
    "__le__": "less_equal",
    "__gt__": "greater",
    "__ge__": "greater_equal",
    "__neg__": "negative",
    "__pos__": "positive",
    "__abs__": "abs",
    "__invert__": "bitwise_invert",
    "__getitem__": "getitem",
}
"""The operation of each method that binds itself."""
