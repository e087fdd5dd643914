"""`r_` and `c_` of the drop-in namespaces, which join what is between their brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.backends.drop_in_creation import first_variable
from gradwrap.core.dynamic import TUPLE
from gradwrap.core.wrapper import holds_wrapper
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = ["joining"]


def joining(library: ModuleType) -> dict[str, Any]:
    """Return the two of a library, with which tracked values can be joined too."""
    return {
        "r_": _Joining(library, "r_", 0, lambda a: a[None] if a.ndim == 0 else a),
        "c_": _Joining(
            library, "c_", -1, lambda a: a[(None,) * (1 - a.ndim)][:, None] if a.ndim < 2 else a
        ),
    }


class _Joining:
    """The library's own object, unless a variable is to be joined."""

    def __init__(
        self, library: ModuleType, name: str, axis: int, piece: Callable[[Any], Any]
    ) -> None:
        self._native: Any = getattr(library, name)
        self._name = f"{library.__name__}.{name}"
        self._axis = axis
        self._piece = piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, TUPLE) else (key,)
        variable = first_variable(items)
        if variable is None:
            return self._native[key]
        if isinstance(items[0], str):
            raise NoRuleError(
                f"{self._name} with a string in front has no rule for tracked values. "
                "Fix: concatenate, stack and reshape say the same."
            )
        xp: Any = variable.__array_namespace__()
        pieces = [
            self._piece(xp.asarray(item)) if holds_wrapper(item) else self._native[item]
            for item in items
        ]
        return xp.concat(pieces, axis=self._axis)
