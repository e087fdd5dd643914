"""The text of a variable, and its display in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.wrapper import AnyWrapper, is_batch

if TYPE_CHECKING:
    from collections.abc import Callable

displays: dict[str, Callable[[Any], str]] = {}
"""By the kind of text (`"html"`), the function that makes it: the package of drawings enters it."""


def shown(value: Any) -> str:
    """Return the text of a wrapper's value: a native array, or a batch that `vmap` maps over."""
    while isinstance(value, AnyWrapper) and not is_batch(value):
        value = value._value
    return repr(value)


class Displayed:
    """The methods that IPython and Jupyter ask for."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return displays["html"](self)
