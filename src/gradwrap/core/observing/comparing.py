"""Who looks at comparisons of numbers, and at their signs, which have no derivative."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

looker: ContextVar[Callable[..., None] | None] = ContextVar("gradwrap_looker", default=None)
"""A function that gets the name and operands of each operation in `LOOKED` on tracked values."""
LOOKED = frozenset(
    {
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("sign", "ceil", "floor", "trunc", "round", "floor_divide", "argmax", "argmin"),
    }
)
"""The operations that jump: to true or false, to another whole number, or to another place."""
looks: Callable[[], Any] = looker.get
solvers: list[str] = []
"""The packages whose own comparisons, in rules and solvers, are no search of the calling code."""
