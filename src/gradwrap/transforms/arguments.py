"""What goes into a differentiated function: wrapped arguments; and what comes out."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from types import EllipsisType, FunctionType
from typing import Any, TypeAlias

from gradwrap.core.backend import Backend, backend_of, find_backend
from gradwrap.core.checking import check_differentiable
from gradwrap.core.dynamic import type_of
from gradwrap.core.node import Leaf
from gradwrap.core.space import zeros_of
from gradwrap.core.tree import TreeDef, flatten, map_leaves, path_of, unflatten
from gradwrap.core.variable import AnyVariable, Variable, variable_class
from gradwrap.core.wrapper import snapshot
from gradwrap.errors import ArgnumsError, NonDifferentiableInputError, NotAnArrayError

__all__ = [
    "Argnums",
    "Tracked",
    "as_original",
    "default_scalar",
    "described",
    "differentiable",
    "is_array",
    "left_behind",
    "name_of",
    "one_or_tuple",
    "passes_through",
    "selected",
    "unwrapped",
    "wrapped_untracked",
]

Argnums: TypeAlias = int | str | Sequence[int | str]
Place: TypeAlias = int | str
"""Where an argument stands in a call: its position, or its keyword."""

NUMBERS = (int, float, complex)
PASSED_THROUGH: tuple[type[Any], ...] = (
    Variable,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    EllipsisType,
)


def one_or_tuple(found: Sequence[Any], argnums: Argnums) -> Any:
    """What was found for the arguments: for one position the thing itself, else a tuple."""
    return found[0] if isinstance(argnums, (int, str)) else tuple(found)


class Tracked:
    """One argument under differentiation: its leaves, and how to give gradients back in its form.

    None, and what is neither an array nor a number, passes through where it is a part of a
    pytree; the gradient has None in its place.
    """

    originals: list[Any]
    treedef: TreeDef

    def __init__(self, value: Any, level: int, name: Callable[[], str]) -> None:
        self.originals, self.treedef = flatten(value)
        variables: list[Any] = []
        for index, original in enumerate(self.originals):
            if not self.treedef.is_lone and passes_through(original):
                variables.append(original)
            else:
                variables.append(self._track(original, index, value, level, name))
        # the function may write to its arguments, which gives them other nodes
        self.leaves: list[tuple[Any, Any] | None] = [
            (v._node, v._backend.xp) if isinstance(v, AnyVariable) else None for v in variables
        ]
        if variables and not any(self.leaves):
            raise NotAnArrayError(
                f"argument {name()} holds no array: there is nothing to differentiate. "
                "Fix: leave it out of argnums."
            )
        self.value: Any = unflatten(self.treedef, variables)

    @staticmethod
    def _track(
        original: Any, index: int, value: Any, level: int, name: Callable[[], str]
    ) -> Variable[Any]:
        try:
            return track(original, level)
        except (NonDifferentiableInputError, NotAnArrayError):
            path = path_of(value, name(), index)
        # again, with the path in the message, which takes time to find
        return track(original, level, f"argument {path}")

    def gradients(self, arrived: dict[Any, Any]) -> list[Any]:
        """What has arrived at each leaf: zeros at one that the output does not depend on."""
        return [
            None
            if leaf is None
            else arrived[leaf[0]]
            if leaf[0] in arrived
            else zeros_of(leaf[1], leaf[0].meta)
            for leaf in self.leaves
        ]

    def restored(self, gradients: Sequence[Any]) -> Any:
        """Gradients in the argument's structure, and each of its leaf's type."""
        pairs = zip(gradients, self.originals, strict=True)
        return unflatten(
            self.treedef, [None if g is None else as_original(g, leaf) for g, leaf in pairs]
        )


def passes_through(leaf: Any) -> bool:
    """Whether a leaf is no candidate for differentiation: a name, a flag, None, a function."""
    if isinstance(leaf, NUMBERS):
        return isinstance(leaf, bool)
    return not hasattr(leaf, "dtype") and not is_array(leaf)


def track(value: Any, level: int, what: str = "argument") -> Variable[Any]:
    """Wrap an array, or a number, as a leaf of a level."""
    value, backend = differentiable(value, what)
    return variable_class(backend)(snapshot(value), Leaf(backend.meta(value, level)))


def differentiable(value: Any, what: str = "argument") -> tuple[Any, Backend]:
    """An array that can be differentiated (a number is one), and its library."""
    if isinstance(value, NUMBERS) and find_backend(type(value)) is None:
        if isinstance(value, bool):
            raise NonDifferentiableInputError(
                f"{what} is a bool; only floating-point and complex values can be "
                "differentiated. Fix: leave it out of argnums."
            )
        value = default_scalar(value)
    if not is_array(value):
        raise NotAnArrayError(
            f"{what} is a {type(value).__qualname__}, which cannot be differentiated. "
            f"Fix: {_remedy(value, what)}."
        )
    backend = backend_of(value)
    if not backend.is_float(value):
        check_differentiable(backend, value, what)
    return backend.to_hold(value), backend


def _remedy(value: Any, what: str) -> str:
    if what == "argument self":
        return "on a method, self is argument 0; take argnums=1 for the one after it"
    if dataclasses.is_dataclass(value):
        return f"make it a pytree with gradwrap.register_pytree({type(value).__qualname__})"
    if hasattr(value, "__array__"):
        return "convert it to an array, for example with np.asarray, before the call"
    return "pass an array or a number, or leave it out of argnums"


def default_scalar(value: complex) -> Any:
    """A Python number as a NumPy scalar, which is a float (complex) too."""
    import numpy as np

    return np.float64(value) if isinstance(value, (int, float)) else np.complex128(value)


def is_array(value: Any) -> bool:
    """Whether something is an array of a library, or a wrapper of one."""
    if find_backend(type_of(value)) is not None:
        return True
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return False
    try:
        backend_of(value)
    except NotAnArrayError:
        return False
    return True


def as_original(gradient: Any, original: Any) -> Any:
    """A gradient of the kind its argument was: array, array scalar, or number."""
    while isinstance(gradient, AnyVariable):
        if gradient._node is not None or isinstance(original, AnyVariable):
            return gradient
        gradient = gradient._data
    if not hasattr(original, "shape") or not hasattr(original, "__setitem__"):
        return gradient[()] if hasattr(gradient, "__getitem__") else gradient
    if not hasattr(gradient, "__setitem__"):
        return backend_of(original).asarray(gradient, original)
    return gradient


def wrapped_untracked(tree: Any) -> Any:
    """Wrap the arrays of a tree, not tracked; all else passes through untouched."""
    return map_leaves(_wrap_leaf, tree)


def _wrap_leaf(leaf: Any) -> Any:
    if isinstance(leaf, PASSED_THROUGH) or not is_array(leaf):
        return leaf
    backend = backend_of(leaf)
    return variable_class(backend)(backend.to_hold(leaf)) if backend.is_numeric(leaf) else leaf


def unwrapped(tree: Any, level: int) -> Any:
    """Take off the wrappers of a level, and those that track nothing."""

    def strip(leaf: Any) -> Any:
        while isinstance(leaf, AnyVariable):
            node = leaf._node
            if node is not None and node.meta.level != level:
                break
            leaf = leaf._data
        return snapshot(leaf)

    return map_leaves(strip, tree)


def left_behind(tree: Any, level: int) -> Any:
    """Take off the wrappers of transforms that ended inside the one of this level.

    A function may keep what an inner one computed, in a list or an array that both write to.
    """

    def strip(leaf: Any) -> Any:
        while isinstance(leaf, AnyVariable) and leaf._node is not None:
            if leaf._node.meta.level <= level:
                break
            leaf = leaf._data
        return snapshot(leaf)

    return map_leaves(strip, tree)


def name_of(fun: Callable[..., Any]) -> str:
    """What messages call a function."""
    return getattr(fun, "__name__", type(fun).__name__)


def selected(
    fun: Callable[..., Any], argnums: Argnums, args: Sequence[Any], kwargs: dict[str, Any]
) -> list[Place]:
    """The places of the arguments that `argnums` names in a call."""
    if argnums == 0 and type(argnums) is int and args:
        return [0]
    wanted = [argnums] if isinstance(argnums, (int, str)) else argnums
    try:
        return [_place(fun, one, args, kwargs) for one in wanted]
    except TypeError as error:
        if isinstance(error, ArgnumsError):
            raise
        raise _not_argnums(argnums) from None


def _not_argnums(argnums: object) -> ArgnumsError:
    return ArgnumsError(
        f"argnums={argnums!r}. Fix: give a position (an int), a parameter's name (a str), "
        "or a sequence of them."
    )


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
    names = positional_names(fun)
    count = f"{len(args)} positional argument{'' if len(args) == 1 else 's'}"
    if 0 <= index < len(names) and names[index] in kwargs:
        fix = f"pass {names[index]} by position, or use argnums={names[index]!r}"
    elif 0 <= index < len(names):
        fix = f"pass {names[index]}; a default is not differentiated"
    elif args:
        fix = f"use a position from 0 to {len(args) - 1}, or a parameter's name"
    else:
        fix = "pass the argument by position, or use its name, as in argnums='x'"
    raise ArgnumsError(
        f"argnums={argnum} is out of range: {name_of(fun)} was called with {count}. Fix: {fix}."
    )


def _place_of_name(
    fun: Callable[..., Any], name: str, args: Sequence[Any], kwargs: dict[str, Any]
) -> Place:
    if name in kwargs:
        return name
    names = positional_names(fun)
    if name in names and names.index(name) < len(args):
        return names.index(name)
    known = parameter_names(fun)
    if name in known:
        raise ArgnumsError(
            f"argnums={name!r}: {name_of(fun)} has this parameter, but was called without it. "
            f"Fix: pass {name}; a default is not differentiated."
        )
    raise ArgnumsError(
        f"argnums={name!r} names no parameter of {name_of(fun)}({', '.join(known)}). "
        "Fix: name one of its parameters."
    )


def described(fun: Callable[..., Any], place: Place) -> str:
    """What messages call an argument."""
    if isinstance(place, str):
        return place
    names = positional_names(fun)
    return names[place] if place < len(names) else str(place)


def positional_names(fun: Callable[..., Any]) -> list[str]:
    """The parameters that can be passed by position."""
    if isinstance(fun, FunctionType) and not vars(fun):  # `inspect` takes longer than a gradient
        return list(fun.__code__.co_varnames[: fun.__code__.co_argcount])
    return [
        p.name for p in _parameters(fun) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def parameter_names(fun: Callable[..., Any]) -> list[str]:
    """All parameters that have a name."""
    return [p.name for p in _parameters(fun) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _parameters(fun: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    try:
        return tuple(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return ()
