"""The namespace of the arrays that `vmap` maps over."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.looping import looped
from gradwrap.core.namespace import ABOUT, WrappedNamespace
from gradwrap.core.wrapper import innermost

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BatchedNamespace"]

LIKE = {"empty_like": "empty", "ones_like": "ones", "zeros_like": "zeros"}


class BatchedNamespace(WrappedNamespace):
    """What differs under `vmap`: arrays made like an example, and functions without a rule."""

    def _find(self, path: str) -> Any:
        found = super()._find(path)
        if path in LIKE:
            return functools.partial(_like, self, getattr(self, LIKE[path]))
        if path in ABOUT and not path.startswith("__"):
            return functools.partial(_about, found)
        if self._has_rule(path) or not isinstance(found, functools.partial):
            return found
        return functools.partial(looped, found, path)


def _like(
    xp: Any,
    make: Callable[..., Any],
    x: Any,
    /,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """An array of the shape of one example, the same for all."""
    dtype = x.dtype if dtype is None else dtype
    device = xp.asarray(x).device if device is None else device
    return make(tuple(x.shape), dtype=dtype, device=device)


def _about(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function about dtypes: all examples have one."""
    return function(*(innermost(arg) for arg in args), **kwargs)
