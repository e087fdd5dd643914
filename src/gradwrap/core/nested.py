"""Nested lists of arrays and numbers, some of them tracked, as one array."""

from __future__ import annotations

from typing import Any

from gradwrap.core.kinds import SEQUENCE, type_of

__all__ = ["holds_variable", "stack_nested"]


def holds_variable(value: Any) -> bool:
    """Whether a variable is somewhere in nested lists and tuples."""
    if isinstance(value, SEQUENCE):
        return any(holds_variable(part) for part in value)
    return hasattr(type_of(value), "_bind")


def stack_nested(cls: Any, value: Any) -> Any:
    """Make one array of nested lists: stacked where they hold variables, copied otherwise."""
    if not holds_variable(value):
        if isinstance(value, SEQUENCE):
            return cls(cls._backend.asarray(value))
        return value
    if not isinstance(value, SEQUENCE):
        return value
    parts = [stack_nested(cls, part) for part in value]
    shapes = {tuple(getattr(part, "shape", ())) for part in parts}
    if len(shapes) > 1:
        raise ValueError(
            f"Nested arrays of different shapes {sorted(shapes)} cannot make one array. "
            "Fix: give them one shape, or use concat."
        )
    like = next(part for part in parts if hasattr(type_of(part), "_bind"))
    xp = like._namespace
    return xp.stack([xp.asarray(part) for part in parts])
