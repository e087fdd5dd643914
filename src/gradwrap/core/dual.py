"""`Dual`: an array with its tangent, for forward mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from gradwrap.core.fast_dual import fast_dual
from gradwrap.core.forward import push_forward
from gradwrap.core.record import apply, interpret
from gradwrap.core.variable import Variable
from gradwrap.core.wrapper import native

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.record import BoundOp

__all__ = ["AnyDual", "Dual", "uncompiled_operator"]

A = TypeVar("A")


class Dual(Variable[A]):
    """An array with its tangent: what a function under `jvp` receives.

    It has everything that a `Variable` has, but nothing is recorded: its tangent is in the place
    of a node.
    """

    __slots__ = ()

    _writes_in_place = False

    @classmethod
    def _compiled(cls, bound: BoundOp) -> Callable[..., Any]:
        bound.quick = fast_dual(bound, bound.apply)
        return bound.quick or bound.apply

    @classmethod
    def _compiled_operator(cls, bound: BoundOp, *, swapped: bool) -> Callable[..., Any]:
        general = uncompiled_operator(bound, swapped=swapped)
        return fast_dual(bound, general, swapped=swapped) or general

    @classmethod
    def _interpret(
        cls, bound: BoundOp, level: int, data: Any, nodes: Any, statics: tuple[Any, ...]
    ) -> Any:
        return interpret(bound, level, data, nodes, statics, push_forward)

    def __repr__(self) -> str:
        if self._node is None:
            return f"Dual({native(self)!r})"
        return f"Dual({native(self)!r}, tangent={native(self._node.value)!r})"


AnyDual: Final[type[Any]] = Dual
"""`Dual` to the rest of the library, as `AnyVariable` is `Variable`."""


def uncompiled_operator(bound: BoundOp, *, swapped: bool) -> Callable[..., Any]:
    """The method of an operator, for the wrappers whose calls are not compiled."""
    count = len(bound.rule.arrays)
    is_foreign = bound.variable_class._is_foreign

    def operate(*operands: Any) -> Any:
        arrays, statics = operands[:count], operands[count:]
        if any(is_foreign(array) for array in arrays):
            return NotImplemented
        result = apply(bound, arrays[::-1] if swapped else arrays, statics)
        return bound.linked(result, arrays, statics) if bound.rule.views else result

    return operate
