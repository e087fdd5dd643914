"""Where NumPy's protocols and methods plug in; `gradwrap.backends` fills these at import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["call_function", "call_ufunc", "find_method", "install"]

_ufunc: Callable[..., Any] | None = None
_function: Callable[..., Any] | None = None
_methods: Callable[[str], Callable[..., Any] | None] | None = None


def install(
    ufunc: Callable[..., Any],
    function: Callable[..., Any],
    methods: Callable[[str], Callable[..., Any] | None],
) -> None:
    """Enter the handlers of the protocols and of NumPy's methods."""
    global _ufunc, _function, _methods
    _ufunc, _function, _methods = ufunc, function, methods


def call_ufunc(cls: Any, ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    """Answer `__array_ufunc__`."""
    return NotImplemented if _ufunc is None else _ufunc(cls, ufunc, method, inputs, kwargs)


def call_function(cls: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """Answer `__array_function__`."""
    return NotImplemented if _function is None else _function(cls, function, args, kwargs)


def find_method(name: str) -> Callable[..., Any] | None:
    """A method of NumPy's arrays, as a function of the variable."""
    return None if _methods is None else _methods(name)
