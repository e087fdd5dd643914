"""Nested lists of arrays and numbers, some of them tracked, as one array."""

from __future__ import annotations

from typing import Any

from gradwrap.core.levels.wrapper import AnyWrapper, holds_wrapper
from gradwrap.core.values.dynamic import SEQUENCE


def stack_nested(cls: Any, value: Any) -> Any:
    """Make one array of nested lists: stacked where they hold variables, copied otherwise."""
    if not holds_wrapper(value):
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
    like: Any = next(part for part in parts if isinstance(part, AnyWrapper))
    xp = like._namespace
    return xp.stack([xp.asarray(part) for part in parts])
