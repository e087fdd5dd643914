"""The hooks of a node or leaf, and the handles that remove them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Self

from gradwrap.core.levels.levels import next_sequence_number
from gradwrap.core.values.dynamic import class_of
from gradwrap.errors import HookResultError

if TYPE_CHECKING:
    from collections.abc import Callable
    from weakref import ReferenceType


class _Callbacks(dict[int, Any]):
    """Functions in the order of their registration; a handle refers to them weakly."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """Remove a hook, by `remove()` or at the end of a `with` block.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.array(2.0), requires_grad=True)
    >>> with x.register_hook(lambda g: 10 * g):
    ...     (3 * x).backward()
    >>> (3 * x).backward()
    >>> x.grad
    np.float64(33.0)
    """

    __slots__ = ("_callbacks", "_number")

    def __init__(self, callbacks: _Callbacks, hook: Callable[..., Any]) -> None:
        self._callbacks = weakref.ref(callbacks)
        self._number = next_sequence_number()
        callbacks[self._number] = hook

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        callbacks = self._callbacks()
        if callbacks is not None:
            callbacks.pop(self._number, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class Hooks:
    """The hooks of one node or leaf, its retained variable, and its `metadata`."""

    __slots__ = ("accumulated", "after", "before", "metadata", "retained", "variable")

    def __init__(self) -> None:
        self.variable: _Callbacks = _Callbacks()
        self.before: _Callbacks = _Callbacks()
        self.after: _Callbacks = _Callbacks()
        self.accumulated: _Callbacks = _Callbacks()
        self.retained: ReferenceType[Any] | None = None
        self.metadata: dict[Any, Any] = {}


def register(callbacks: _Callbacks, hook: Callable[..., Any]) -> RemovableHandle:
    if not callable(hook):
        raise HookResultError(
            f"a hook is a function; this is {class_of(hook)}. Fix: pass the function itself."
        )
    return RemovableHandle(callbacks, hook)
