"""Objects of other packages that are data and hold arrays, such as sparse matrices.

A trace watches all that the value of such an object depends on, and gives its arrays their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

holders: dict[type, Callable[[Any], tuple[Any, ...]]] = {}
"""By class: the function that returns, as nested tuples, what the value of an object depends on."""


def parts_held(value: Any) -> tuple[Any, ...] | None:
    """Return what the value of an object depends on: numbers, names and arrays; None for others."""
    if holders:
        for kind in type_of(value).__mro__:
            parts_of = holders.get(kind)
            if parts_of is not None:
                return parts_of(value)
    return None
