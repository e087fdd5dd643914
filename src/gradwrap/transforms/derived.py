"""Functions that transforms make of functions: they can be pickled, as closures cannot.

Such a function is pickled as the call of the transform that made it, or by its name where a
decorated function is found under it.
"""

from __future__ import annotations

import functools
import sys
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    F = TypeVar("F", bound=Callable[..., Any])


class Derived(functools.partial[Any]):
    """A function that a transform has made; `partial` calls it faster than a method would."""

    __name__: str
    __qualname__: str
    making: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
    """The transform, and the arguments that it was called with."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, like any function of a class."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        """Copy and pickle the call that made the function; a decorated function by name."""
        transform, args, kwargs = self.making
        return own_name(self) or (_remade, (transform, args, kwargs))

    def __repr__(self) -> str:
        made: str = self.func.__name__  # such as "gradient"
        return f"<{made.removesuffix('_of')} of {self.__qualname__}>"


def derived(fun: Callable[..., Any], transform: Any, *args: Any, **kwargs: Any) -> Callable[[F], F]:
    """Return a decorator for the result of `transform(fun, *args, **kwargs)`."""

    def decorated(function: F) -> F:
        made = Derived(function)
        if not hasattr(fun, "__name__"):  # an object with `__call__`
            functools.update_wrapper(made, function)
        functools.update_wrapper(made, fun)
        made.making = transform, (fun, *args), kwargs
        return cast("F", made)

    return decorated


def own_name(value: Any) -> str:
    """Return the name by which pickle finds a decorated function, or "".

    cloudpickle sends the functions of `__main__` to processes that do not have it.
    """
    module: str = getattr(value, "__module__", "")
    name: str = getattr(value, "__qualname__", "")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    asks = sys._getframe(2).f_globals.get("__name__", "")  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    is_sent = module == "__main__" and asks.startswith("cloudpickle")
    return name if found is value and not is_sent else ""


def _remade(transform: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return transform(*args, **kwargs)
