"""Types for the lambdas of tests.

pyright's strict mode wants to know a lambda's parameters, and takes them from the type that is
expected where the lambda stands. `rows` is that type for the rows of `pytest.mark.parametrize`,
`fn` for the functions that keep whatever parameters they are given
(`gw.vmap(fn(lambda x: ...))`), and `Function` for everything else. `is_a` asks for a type, and an
`Any` stays an `Any`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Function", "Row", "fn", "is_a", "rows"]

R = TypeVar("R")

if TYPE_CHECKING:
    Function: TypeAlias = (
        Callable[[], Any]
        | Callable[[Any], Any]
        | Callable[[Any, Any], Any]
        | Callable[[Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any], Any]
    )
    Row: TypeAlias = Function | tuple[Function | object, ...] | object


def rows(values: Iterable[Row]) -> list[Any]:
    """The rows of a table of cases, or its cells where a row has one."""
    return list(values)


@overload
def fn(function: Callable[[], R]) -> Callable[[], R]: ...
@overload
def fn(function: Callable[[Any], R]) -> Callable[[Any], R]: ...
@overload
def fn(function: Callable[[Any, Any], R]) -> Callable[[Any, Any], R]: ...
@overload
def fn(function: Callable[[Any, Any, Any], R]) -> Callable[[Any, Any, Any], R]: ...
@overload
def fn(function: Callable[[Any, Any, Any, Any], R]) -> Callable[[Any, Any, Any, Any], R]: ...
def fn(function: Any) -> Any:
    """Return the function itself."""
    return function


def is_a(value: object, *kinds: type[Any]) -> bool:
    """Call `isinstance` without a type checker learning from it: an Any stays Any.

    After `isinstance`, it would be a list or a `Variable` of unknown elements.
    """
    return isinstance(value, kinds)
