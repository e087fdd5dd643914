"""Pickles of compiled functions: derivatives in them are made again from the functions they are of.

A derivative such as `gw.grad(f)` is a function in a function, which pickle refuses. Its code names
the transform that made it, and its closure holds the transform's arguments.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.tracing.run import is_transform

if TYPE_CHECKING:
    from collections.abc import Callable


class Derived(NamedTuple):
    """A function that a transform has made, as the call that makes it again."""

    module: str
    transform: str
    arguments: dict[str, Any]


def derived(value: Any) -> Any:
    """Return a function as the call of the transform that made it; other objects unchanged."""
    if not isinstance(value, FunctionType) or not is_transform(value):
        return value
    module, (name, *inner) = value.__globals__["__name__"], value.__code__.co_qualname.split(".")
    transform: Any = getattr(import_module(module), name, None) if inner else None
    names, cells = value.__code__.co_freevars, value.__closure__ or ()
    if transform is None or not {*names} <= inspect.signature(transform).parameters.keys():
        return value
    found = {key: cell.cell_contents for key, cell in zip(names, cells, strict=True)}
    return Derived(module, name, {key: derived(one) for key, one in found.items()})


def remade(value: Any) -> Any:
    """Return the function that `derived` has described; other objects unchanged."""
    if not isinstance(value, Derived):
        return value
    make: Callable[..., Any] = getattr(import_module(value.module), value.transform)
    return make(**{key: remade(one) for key, one in value.arguments.items()})
