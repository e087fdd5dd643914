"""Registration of classes as pytrees, like lists and dictionaries."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar, overload

import optree

from gradwrap.core.values.dynamic import class_of
from gradwrap.core.values.tree import NAMESPACE, known_arrays, registered
from gradwrap.errors import PytreeError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

C = TypeVar("C", bound=type[Any])
_optree: Any = optree  # whose types ask more of a class than it does


@overload
def register_pytree(cls: C) -> C: ...
@overload
def register_pytree(
    cls: C,
    flatten: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten: Callable[[Any, tuple[Any, ...]], Any],
) -> C: ...
def register_pytree(cls: Any, flatten: Any = None, unflatten: Any = None) -> Any:
    """Let arguments and results be objects of a class: a dataclass, or any other.

    Parameters
    ----------
    cls
        The class. For a dataclass, nothing else is needed, and this function may be its decorator.
        Its fields are the parts of the tree; fields with `field(metadata={"static": True})` stay as
        they are. Objects are rebuilt without calling `__init__`.
    flatten
        For any other class: a function from an object to a pair. The pair has the parts of the
        object, and the other data needed to rebuild it, which must be hashable.
    unflatten
        A function from the other data and new parts to an object.

    Raises
    ------
    PytreeError
        The class is registered already, or it is not a dataclass and the functions are missing.

    Examples
    --------
    >>> import dataclasses, gradwrap as gw
    >>> @gw.register_pytree
    ... @dataclasses.dataclass
    ... class Line:
    ...     slope: float
    ...     offset: float
    ...     name: str = dataclasses.field(default="line", metadata={"static": True})
    >>> gw.grad(lambda line: line.slope * 3.0 + line.offset)(Line(2.0, 1.0))
    Line(slope=np.float64(3.0), offset=np.float64(1.0), name='line')
    """
    if not isinstance(cls, type):
        raise PytreeError(f"register_pytree takes a class; it got {class_of(cls)}.")
    name = cls.__name__
    if (flatten is None) != (unflatten is None):
        raise PytreeError(f"{name}: give both of flatten and unflatten, or neither.")
    entries: Any = optree.AutoEntry
    if flatten is None or unflatten is None:
        if not dataclasses.is_dataclass(cls):
            raise PytreeError(
                f"{name} is not a dataclass. Fix: register_pytree({name}, flatten, unflatten)."
            )
        flatten, unflatten = _functions_of_dataclass(cls)
        entries = optree.GetAttrEntry
    enter(cls, flatten, unflatten, entries)
    return cls


def enter(
    cls: type[Any], flatten: Callable[..., Any], unflatten: Callable[..., Any], entries: Any
) -> None:
    """Register a class with optree; `entries` is the kind of the steps that lead to its parts."""
    try:
        _optree.register_pytree_node(
            cls, flatten, unflatten, path_entry_type=entries, namespace=NAMESPACE
        )
    except ValueError as error:
        raise PytreeError(f"{cls.__name__} is registered already.") from error
    registered.add(cls)
    known_arrays.discard(cls)


def _functions_of_dataclass(cls: type[Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    fields = dataclasses.fields(cls)
    parts = tuple(one.name for one in fields if not one.metadata.get("static"))
    kept = tuple(one.name for one in fields if one.metadata.get("static"))

    def flatten(value: Any) -> Any:
        static = tuple(getattr(value, name) for name in kept)
        return tuple(getattr(value, name) for name in parts), static, parts

    def unflatten(static: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        made = object.__new__(cls)
        for name, value in zip((*parts, *kept), (*values, *static), strict=True):
            object.__setattr__(made, name, value)
        return made

    return flatten, unflatten
