"""Forward mode inside of `strong_zeros`: a tangent that is zero stays zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.calls.forward import Dual, Forward

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.calls.bound import BoundOp

A = TypeVar("A")


class ForwardOfStrongZeros(Forward):
    """Write the call in forward mode, with a selection for each elementwise derivative."""

    def __init__(self, bound: BoundOp, other: Callable[..., Any]) -> None:
        super().__init__(bound, other)
        if self.rule.kind.is_elementwise:
            self.terms: list[str | None] = [
                term and f"annihilated(spaces[type({x}_t)], {x}_t, {term})"
                for x, term in zip(self.rule.arrays, self.terms, strict=True)
            ]

    def scope(self) -> dict[str, Any]:
        return super().scope() | {"annihilated": _annihilated}


def _annihilated(xp: Any, t: Any, pushed: Any) -> Any:
    """Return what a derivative makes of a tangent, with zeros where the tangent is zero."""
    return pushed if pushed is t else xp.where(t == 0, xp.zeros_like(pushed), pushed)


class DualOfStrongZeros(Dual[A]):
    """A dual inside of `strong_zeros`."""

    __slots__ = ()

    _level: type[Forward] = ForwardOfStrongZeros


def dual_kind(asked: Any) -> type[Any]:
    """Return the class of duals where this inspection is asked for."""
    return DualOfStrongZeros if asked.zeros_annihilate else Dual
