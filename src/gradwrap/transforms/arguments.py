"""What goes into a differentiated function: wrapped arguments; and what comes out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from gradwrap.core.backend import backend_of, find_backend
from gradwrap.core.node import Leaf
from gradwrap.core.tree import flatten_with_paths, map_leaves, unflatten
from gradwrap.core.variable import Variable, check_differentiable, variable_class
from gradwrap.errors import ArgnumsError, NonDifferentiableInputError, NotAnArrayError

__all__ = ["Argnums", "Tracked", "is_array", "selected", "unwrapped", "wrapped_untracked"]

Argnums = int | str | Sequence[int | str]


class Tracked:
    """One argument under differentiation: its leaves, and how to give gradients back in its form."""

    def __init__(self, value: Any, name: str, level: int) -> None:
        pairs, self.treedef = flatten_with_paths(value, name)
        self.originals = [leaf for _, leaf in pairs]
        self.leaves: list[Leaf] = []
        variables = []
        for path, leaf in pairs:
            variable = track(leaf, path, level)
            self.leaves.append(variable._node)
            variables.append(variable)
        self.value = unflatten(self.treedef, variables)

    def restored(self, gradients: Sequence[Any]) -> Any:
        """Gradients in the argument's structure, and each of its leaf's type."""
        pairs = zip(gradients, self.originals, strict=True)
        return unflatten(self.treedef, [as_original(g, leaf) for g, leaf in pairs])


def track(value: Any, path: str, level: int) -> Variable[Any]:
    """Wrap an array, or a number, as a leaf of a level."""
    if isinstance(value, bool):
        raise NonDifferentiableInputError(
            f"argument {path} is a bool; only floating-point and complex values can be "
            "differentiated. Fix: leave it out of argnums."
        )
    if isinstance(value, (int, float, complex)) and find_backend(type(value)) is None:
        value = default_scalar(value)
    if not is_array(value):
        raise NotAnArrayError(
            f"argument {path} is a {type(value).__name__}, which cannot be differentiated. "
            "Fix: pass an array or a number, or leave it out of argnums."
        )
    backend = backend_of(value)
    check_differentiable(backend, value, f"argument {path}")
    return variable_class(backend)(value, Leaf(backend.meta(value, level)))


def default_scalar(value: complex) -> Any:
    """A Python number as a NumPy scalar, which is a float (complex) too."""
    import numpy as np

    return np.complex128(value) if isinstance(value, complex) else np.float64(value)


def is_array(value: Any) -> bool:
    """Whether something is an array of a library, or a wrapper of one."""
    if find_backend(type(value)) is not None:
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
    if isinstance(gradient, Variable):
        return gradient
    if not hasattr(original, "shape") or not hasattr(original, "__setitem__"):
        return gradient[()] if hasattr(gradient, "__getitem__") else gradient
    if not hasattr(gradient, "__setitem__"):
        return backend_of(original).asarray(gradient, original)
    return gradient


def wrapped_untracked(tree: Any) -> Any:
    """Wrap the arrays of a tree, not tracked; all else passes through untouched."""
    return map_leaves(_wrap_leaf, tree)


def _wrap_leaf(leaf: Any) -> Any:
    if isinstance(leaf, (Variable, int, float, complex, str)) or not is_array(leaf):
        return leaf
    backend = backend_of(leaf)
    return variable_class(backend)(leaf) if backend.is_numeric(leaf) else leaf


def unwrapped(tree: Any, level: int) -> Any:
    """Take off the wrappers of a level, and those that track nothing."""

    def strip(leaf: Any) -> Any:
        while isinstance(leaf, Variable):
            node = leaf._node
            if node is not None and node.meta.level != level:
                break
            leaf = leaf._data
        return leaf

    return map_leaves(strip, tree)


Selection = list[tuple[str, int | str]]


def selected(
    fun: Callable[..., Any], argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Selection:
    """The arguments that `argnums` names: for each its display name, and its place."""
    wanted = [argnums] if isinstance(argnums, (int, str)) else list(argnums)
    return [_place(fun, one, args, kwargs) for one in wanted]


def _place(
    fun: Callable[..., Any], argnum: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, int | str]:
    names = _parameter_names(fun)
    called = getattr(fun, "__name__", type(fun).__name__)
    if isinstance(argnum, str):
        if argnum in kwargs:
            return argnum, argnum
        if argnum in names and names.index(argnum) < len(args):
            return argnum, names.index(argnum)
        raise ArgnumsError(
            f"argnums names {argnum!r}, but {called} was not called with it; its parameters are "
            f"({', '.join(names)}). Fix: name one of them, and pass it."
        )
    index = argnum + len(args) if argnum < 0 else argnum
    if not 0 <= index < len(args):
        hint = (
            f" Fix: pass it by position, or use argnums={names[index]!r}."
            if (0 <= index < len(names) and names[index] in kwargs)
            else ""
        )
        raise ArgnumsError(
            f"argnums={argnum} is out of range: {called} was called with {len(args)} "
            f"positional arguments.{hint}"
        )
    return (names[index] if index < len(names) else f"{index}"), index


def _parameter_names(fun: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
