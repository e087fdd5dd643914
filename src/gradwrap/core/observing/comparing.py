"""Who looks at comparisons of numbers, and at their signs, which have no derivative."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

looker: ContextVar[Callable[..., None] | None] = ContextVar("gradwrap_looker", default=None)
"""A function that gets what makes an operation jump, as its row tells, and its operands."""
looks: Callable[[], Any] = looker.get
asker: ContextVar[Callable[[str], None] | None] = ContextVar("gradwrap_asker", default=None)
"""A function that is called where code makes "bytes" or "text" of a tracked value, has "rounded" it
to decimals, or has "stopped" its gradient."""
solvers: list[str] = []
"""The packages whose own comparisons, in rules and solvers, are no search of the calling code."""
