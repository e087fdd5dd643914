"""A namespace in which every floating-point array is tracked.

Tracking must change no value, so the public conformance suite has to pass as it does without.
The suite compares values by `float(x[i])` and the like, which a tracked array refuses. That one
refusal is lifted here; what it says is tested in `tests/engine/test_errors.py`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import gradwrap as gw
from gradwrap.core.array.conversions import Conversions
from gradwrap.core.levels.wrapper import native
from gradwrap.core.library.namespace import WrappedNamespace

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["TrackedNamespace", "lift_refusal", "namespace", "tracked"]


class TrackedNamespace:
    """`gw.wrap_namespace(xp)`, with what its functions return tracked."""

    def __init__(self, namespace: Any) -> None:
        self._namespace = namespace
        self.__name__ = namespace.__name__

    def __getattr__(self, name: str) -> Any:
        found: Any = getattr(self._namespace, name)
        if isinstance(found, WrappedNamespace):
            found = TrackedNamespace(found)
        elif callable(found) and not isinstance(found, type):
            found = _tracking(found)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return dir(self._namespace)


def _tracking(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return tracked(function(*args, **kwargs))

    return call


def tracked(value: Any) -> Any:
    """Return the same values, tracked where they are floating-point.

    They are results of an operation on a leaf, since a leaf refuses to be written to.
    """
    if issubclass(type(value), tuple):
        parts = [tracked(part) for part in value]
        return value.__class__(*parts) if hasattr(value, "_fields") else tuple(parts)
    if not issubclass(type(value), gw.Variable) or value.requires_grad:
        return value
    kinds = ("real floating", "complex floating")
    if not value.__array_namespace__().isdtype(value.dtype, kinds):
        return value
    return gw.wrap(value.data, requires_grad=True).copy()


def lift_refusal() -> None:
    """Let `float()`, `int()`, `np.asarray` and DLPack read tracked arrays, in this process."""

    def read(self: Any, what: str, fix: str = "", *, into: str = "") -> Any:
        return native(self)

    Conversions._untracked_data = read  # type: ignore[method-assign]  # in the place of the refusal


def namespace(xp: ModuleType) -> TrackedNamespace:
    """Return the namespace that the suite is given for a library."""
    lift_refusal()
    return TrackedNamespace(gw.wrap_namespace(xp))
