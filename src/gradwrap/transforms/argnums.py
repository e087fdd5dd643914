"""Arguments that `argnums` names in a call, and their names in messages."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from gradwrap.core.values.comparing import kind_of
from gradwrap.errors import ArgnumsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.typing.signatures import Argnums

    Place: TypeAlias = int | str
    """Where an argument stands in a call: its position, or its keyword."""


def name_of(fun: Callable[..., Any]) -> str:
    """Return the name of a function for messages."""
    return getattr(fun, "__name__", type(fun).__name__)


def counted(count: int) -> str:
    """Return the words for a number of positional arguments."""
    return f"{count} positional argument{'' if count == 1 else 's'}"


def check_transform(name: str, fun: object, argnums: object) -> None:
    """Refuse, when a transform is applied, a non-function or an invalid `argnums`."""
    if not callable(fun):
        raise ArgnumsError(
            f"gradwrap.{name} takes a function and returns another; it got {kind_of(fun)}. "
            f"Fix: gradwrap.{name}(f)(x) for a function f of x; for an array that was computed on "
            "the tape, y.backward()."
        )
    if isinstance(argnums, (int, str)):
        return
    if hasattr(argnums, "shape"):
        raise ArgnumsError(
            f"argnums, the second argument of gradwrap.{name}, is {kind_of(argnums)}. Fix: give "
            f"the point to the function that is returned, gradwrap.{name}(f)(x); argnums is a "
            "position (an int), a parameter's name (a str), or a sequence of them."
        )
    parts = cast("Iterable[object]", argnums) if isinstance(argnums, Iterable) else (argnums,)
    for one in () if isinstance(parts, Iterator) else parts:
        if not isinstance(one, (int, str)):
            raise _not_argnums(one)


def described(fun: Callable[..., Any], place: Place) -> str:
    """Return the name of an argument for messages."""
    if isinstance(place, str):
        return place
    names = _positional_names(fun)
    return names[place] if place < len(names) else str(place)


def one_or_tuple(found: Sequence[Any], argnums: Argnums) -> Any:
    """Return the single result if `argnums` is one position or name, else a tuple."""
    return found[0] if isinstance(argnums, (int, str)) else tuple(found)


def selected(
    fun: Callable[..., Any], argnums: Argnums, args: Sequence[Any], kwargs: dict[str, Any]
) -> list[Place]:
    """Return the places of the arguments that `argnums` names in a call."""
    if argnums == 0 and type(argnums) is int and args:
        return [0]
    wanted = [argnums] if isinstance(argnums, (int, str)) else argnums
    try:
        return [_place(fun, one, args, kwargs) for one in wanted]
    except TypeError as error:
        if isinstance(error, ArgnumsError):
            raise
        raise _not_argnums(argnums) from None


def _place(
    fun: Callable[..., Any], argnum: int | str, args: Sequence[Any], kwargs: dict[str, Any]
) -> Place:
    if isinstance(argnum, str):
        return _place_of_name(fun, argnum, args, kwargs)
    if type(argnum) is not int:
        raise _not_argnums(argnum)
    index = argnum + len(args) if argnum < 0 else argnum
    if 0 <= index < len(args):
        return index
    raise _out_of_range(fun, argnum, index, args, kwargs)


def _place_of_name(
    fun: Callable[..., Any], name: str, args: Sequence[Any], kwargs: dict[str, Any]
) -> Place:
    if name in kwargs:
        return name
    names = _positional_names(fun)
    if name in names and names.index(name) < len(args):
        return names.index(name)
    known = [p.name for p in _parameters(fun) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if name in known:
        raise ArgnumsError(
            f"argnums={name!r}: {name_of(fun)} has this parameter, but was called without it. "
            f"Fix: pass {name}; a default is not differentiated."
        )
    raise ArgnumsError(
        f"argnums={name!r} names no parameter of {name_of(fun)}({', '.join(known)}). "
        "Fix: name one of its parameters."
    )


def _out_of_range(
    fun: Callable[..., Any], argnum: int, index: int, args: Sequence[Any], kwargs: dict[str, Any]
) -> ArgnumsError:
    names = _positional_names(fun)
    count = counted(len(args))
    if 0 <= index < len(names) and names[index] in kwargs:
        fix = f"pass {names[index]} by position, or use argnums={names[index]!r}"
    elif 0 <= index < len(names):
        fix = f"pass {names[index]}; a default is not differentiated"
    elif args:
        fix = f"use a position from 0 to {len(args) - 1}, or a parameter's name"
    else:
        fix = "pass the argument by position, or use its name, as in argnums='x'"
    return ArgnumsError(
        f"argnums={argnum} is out of range: {name_of(fun)} was called with {count}. Fix: {fix}."
    )


def _not_argnums(argnums: object) -> ArgnumsError:
    return ArgnumsError(
        f"argnums={argnums!r}. Fix: give a position (an int), a parameter's name (a str), "
        "or a sequence of them."
    )


def _positional_names(fun: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that can be passed by position."""
    if isinstance(fun, FunctionType) and not vars(fun):  # `inspect` takes longer than a gradient
        return list(fun.__code__.co_varnames[: fun.__code__.co_argcount])
    return [
        p.name for p in _parameters(fun) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def _parameters(fun: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    try:
        return tuple(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return ()
