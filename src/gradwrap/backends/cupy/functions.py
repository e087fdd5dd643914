"""The functions of the `cupy` module for `gradwrap.cupy`; tracked values go to NumPy's."""

from __future__ import annotations

import functools
import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.cupy.faults import with_reason
from gradwrap.backends.cupy.protocol import COUNTERPARTS, elementwise_kernel
from gradwrap.backends.drop_in import (
    Submodule,
    creation_functions,
    first_variable,
    joining,
    with_arrays,
)
from gradwrap.backends.numpy.functions.spelling import ALWAYS
from gradwrap.backends.numpy.functions.table import on_data
from gradwrap.core.array import protocol
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import NoRuleError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy

SUBMODULES = ("fft", "linalg")
OTHER_NAMES = {"row_stack": "vstack"}
"""Functions of NumPy with two names, of which its protocol knows the other."""


class DropIn:
    """The functions of `cupy` for tracked values, each made at its first use."""

    def __init__(self, module: ModuleType) -> None:
        self._found: dict[str, Any] = {
            **{name: with_reason(f) for name, f in creation_functions(cupy).items()},
            **joining(cupy),
            "asnumpy": _asnumpy,
            "get_array_module": functools.partial(_array_module, module),
        }

    def find(self, name: str) -> Any:
        if name.startswith("__") and not hasattr(cupy, name):
            raise AttributeError(f"module 'gradwrap.cupy' has no attribute {name!r}")
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._make(name)
        return found

    def _make(self, name: str) -> Any:
        known = getattr(cupy, name)
        if name in SUBMODULES:
            counterparts = getattr(np, name)
            return Submodule(known, lambda found, name: _standing_for(found, counterparts, name))
        return _standing_for(known, np, name)


def _standing_for(known: Any, counterparts: ModuleType, name: str) -> Any:
    """Return a version of CuPy's function for tracked values; other objects unchanged."""
    if isinstance(known, cupy.ufunc):
        return Ufunc(known)
    if isinstance(known, (type, ModuleType)) or not callable(known):
        return known
    counterpart = getattr(counterparts, OTHER_NAMES.get(name, name), None)
    if getattr(known, "__module__", "").startswith("numpy"):
        return known  # NumPy's own, which asks its arguments
    return _function(known, counterpart if callable(counterpart) else None)


def _function(known: Callable[..., Any], counterpart: Callable[..., Any] | None) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        variable = first_variable([*args, *kwargs.values()])
        if variable is None:
            return known(*args, **kwargs)
        cls = type_of(variable)
        if isinstance(counterpart, np.ufunc):
            return protocol.call_ufunc(cls, counterpart, "__call__", args, kwargs)
        needed = counterpart in ALWAYS or is_recorded([args, kwargs]) or _writes(args, kwargs)
        if needed or (counterpart is not None and type(native(variable)) is not cupy.ndarray):
            if counterpart is None:
                raise NoRuleError(_no_rule(known))
            args, kwargs = as_numpys(known, counterpart, args, kwargs)
            args, kwargs = with_arrays(counterpart, args, kwargs) or (args, kwargs)
            return protocol.call_function(cls, counterpart, args, kwargs)
        return cls._plain(on_data(known, args, kwargs))

    return functools.update_wrapper(function, known, ("__module__", "__name__", "__doc__"), ())


def _writes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Tell whether a call may write to an argument, which then must remain a variable."""
    return isinstance(kwargs.get("out"), AnyWrapper) or any(
        isinstance(a, AnyWrapper) for a in args[2:]
    )


def _no_rule(known: Callable[..., Any]) -> str:
    name = f"{known.__module__.partition('.')[0]}.{known.__name__}"
    return (
        f"{name} has no rule, and an argument is tracked. Fix: write it with functions that have "
        "one; or make the call one operation with gradwrap.primitive, and give that a rule with "
        "gradwrap.defvjp; or .detach() the argument if its gradient is not wanted."
    )


def as_numpys(
    known: Callable[..., Any],
    counterpart: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call's arguments in the order and with the names of NumPy's function."""
    theirs, ours = _parameters(known), _parameters(counterpart)
    if theirs is None or ours is None:
        return args, kwargs
    bound = inspect.Signature(list(theirs.values())).bind(*args, **kwargs).arguments
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for at, (name, parameter) in enumerate(theirs.items()):
        if name not in bound:
            continue
        value = bound[name]
        if parameter.kind == parameter.VAR_POSITIONAL:
            positional += value
            continue
        if parameter.kind == parameter.VAR_KEYWORD:
            named.update(value)
            continue
        place = list(ours)[at] if at < len(ours) else name
        word = name if name in ours or place in theirs else place
        if word not in ours:
            if value is parameter.default:
                continue
            raise NoRuleError(
                f"cupy.{known.__name__} with {name}= has no rule for tracked values. Fix: omit it."
            )
        if len(positional) == at and list(ours)[at] == word and not named and _by_place(ours[word]):
            positional.append(value)
        else:
            named[word] = value
    return tuple(positional), named


def _by_place(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)


@functools.cache
def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter] | None:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def _asnumpy(a: Any, *args: Any, **kwargs: Any) -> Any:
    """Copy an array to the host; refuse a tracked array."""
    if is_recorded(a):
        raise TrackedValueError(
            "cupy.asnumpy would take a tracked value out of the graph, and drop its gradient. "
            "Fix: call it outside of the function, or on .detach() if no gradient is wanted."
        )
    return cupy.asnumpy(native(a), *args, **kwargs)


def _array_module(module: ModuleType, *args: Any) -> Any:
    """Return the drop-in if an argument is an array of CuPy, tracked or not; else NumPy."""
    if any(isinstance(a, AnyWrapper) and a._backend.name == "cupy" for a in args):
        return module
    found = cupy.get_array_module(*args)
    return module if found is cupy else found


METHODS = ("accumulate", "at", "outer", "reduce", "reduceat")


class Ufunc:
    """A ufunc of CuPy; with tracked values, it and its methods act as NumPy's ufunc."""

    def __init__(self, known: Any) -> None:
        self._known = known
        self._counterpart = COUNTERPARTS.get(known)
        self.__name__: str = known.__name__
        self.__doc__ = known.__doc__

    def __repr__(self) -> str:
        return repr(self._known)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._known, name)
        return functools.partial(self._method, found) if name in METHODS else found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        variable = first_variable([*args, *kwargs.values()])
        if variable is None:
            return self._known(*args, **kwargs)
        return elementwise_kernel(variable, self._known, *args, **kwargs)

    def _method(self, known: Any, *args: Any, **kwargs: Any) -> Any:
        variable = first_variable([*args, *kwargs.values()])
        if variable is None:
            return known(*args, **kwargs)
        method = known.__name__
        if not isinstance(self._counterpart, np.ufunc):
            raise NoRuleError(f"cupy.{self.__name__}.{method} has no rule for tracked values.")
        return protocol.call_ufunc(type(variable), self._counterpart, method, args, kwargs)
