"""Where NumPy's protocols and methods plug in; `gradwrap.backends` fills it.

What answers them is loaded at the first call that asks: it takes a tenth of the time that
`import gradwrap` may take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.looping import is_innermost_batch, looped
from gradwrap.errors import BatchedValueError, NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Handlers", "call_function", "call_ufunc", "find_method", "install", "method_names"]


class Handlers(NamedTuple):
    """What answers `__array_ufunc__` and `__array_function__`, and finds NumPy's methods.

    `methods` are the names of those, `writing` the functions that change an argument.
    """

    ufunc: Callable[..., Any]
    function: Callable[..., Any]
    method: Callable[[str], Callable[..., Any] | None]
    methods: frozenset[str]
    writing: frozenset[Any]


_load: Callable[[], Handlers] | None = None
_loaded: Handlers | None = None


def install(load: Callable[[], Handlers]) -> None:
    """Name the function that loads the handlers."""
    global _load  # noqa: PLW0603  set once, at import
    _load = load


def _handlers() -> Handlers:
    global _loaded  # noqa: PLW0603  the same handlers whichever thread sets them
    if _loaded is None:
        assert _load is not None
        _loaded = _load()
    return _loaded


def call_ufunc(cls: Any, ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    """Answer `__array_ufunc__`."""
    try:
        return _handlers().ufunc(cls, ufunc, method, inputs, dict(kwargs))
    except (BatchedValueError, NoRuleError):
        if method == "at" or not is_innermost_batch((inputs, kwargs)):
            raise
        return looped(getattr(ufunc, method), f"np.{ufunc.__name__}", *inputs, **kwargs)


def call_function(cls: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """Answer `__array_function__`."""
    try:
        return _handlers().function(cls, function, args, kwargs)
    except (BatchedValueError, NoRuleError):
        if function in _handlers().writing or not is_innermost_batch((args, kwargs)):
            raise
        return looped(function, f"np.{function.__name__}", *args, **kwargs)


def find_method(name: str) -> Callable[..., Any] | None:
    """A method of NumPy's arrays, as a function of the variable."""
    return _handlers().method(name)


def method_names() -> frozenset[str]:
    """The methods that `find_method` finds."""
    return _handlers().methods
