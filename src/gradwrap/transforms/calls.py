"""Calls with a derivative of their own: how the arguments are split and the results wrapped.

Such a call belongs to the highest level among its arguments. To that level, the values of the
levels below are data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.calls.annihilating import dual_kind
from gradwrap.core.calls.forward import Dual
from gradwrap.core.levels.levels import TAPE_LEVEL, inspecting
from gradwrap.core.levels.wrapper import (
    UNTRACKED,
    layers,
    level_of,
    make_wrapper,
    snapshot,
    stripped,
)
from gradwrap.core.library.backend import backend_of, is_array, is_floating, wrapper_class
from gradwrap.core.values.comparing import mismatch, namespace_of
from gradwrap.core.values.prefixes import zeros_filled
from gradwrap.core.values.space import Tangent, fit_tangent
from gradwrap.core.values.tree import TreeDef, flatten
from gradwrap.errors import RuleResultError, TrackedValueError
from gradwrap.transforms.arguments import default_scalar, wrapped_untracked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.library.backend import Backend
    from gradwrap.core.values.space import Meta


class Split(NamedTuple):
    """The arguments of a call, split into nodes and data at their highest level."""

    level: int
    """`UNTRACKED`, where no transform tracks any."""
    wrapper: Any
    """An argument of that level."""
    nodes: tuple[Any, ...]
    """For each argument its place in that level; None where it has none."""
    data: list[Any]
    """For each argument its value to the levels below."""


def split(arguments: Sequence[Any]) -> Split:
    """Split the arguments of a call at their highest level."""
    data: list[Any] = [*map(current_value, arguments)]
    levels = [*map(level_of, data)]
    level = max(levels, default=UNTRACKED)
    nodes: list[Any] = [None] * len(data)
    wrapper = None if level == UNTRACKED else data[levels.index(level)]
    for place, value in enumerate(data):  # quicker than comprehensions
        if wrapper is not None and levels[place] == level:
            nodes[place], data[place] = value._node, value._value
    return Split(level, wrapper, tuple(nodes), data)


def current_value(value: Any) -> Any:
    """Return a snapshot of a value without the outer wrappers that track nothing."""
    return snapshot(stripped(value))


def output_of(value: Any, like: Sequence[Any]) -> Any:
    """Return an output of a user's function; a float or complex number becomes an array."""
    value = current_value(value)
    if type(value) in (float, complex):
        backend = next((backend_of(one) for one in like if is_array(one)), None)
        return default_scalar(value) if backend is None else backend.xp.asarray(value)[()]
    return value


def dual(out: Any, tangent: Any, level: int) -> Any:
    """Attach a tangent to an output at a level; None stands for zero."""
    if tangent is None or not is_floating(out):
        return wrapped_untracked(out)
    if isinstance(tangent, RefusedTangent):
        return with_tangent(out, tangent, level)
    xp = namespace_of([out, tangent])
    return with_tangent(out, fit_tangent(xp, tangent, out), level)


class RefusedTangent:
    """The tangent of an output without a derivative: any use of it raises an error."""

    def __init__(self, error: Exception, like: Any) -> None:
        self.__dict__.update(error=error, shape=like.shape, dtype=like.dtype)

    def __getattr__(self, name: str) -> Any:
        raise self.__dict__["error"]

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise self.__dict__["error"]

    __array_ufunc__: Callable[..., Any] = _refuse
    __array_function__: Callable[..., Any] = _refuse
    __array__: Callable[..., Any] = _refuse
    __add__: Callable[..., Any] = _refuse
    __radd__: Callable[..., Any] = _refuse
    __sub__: Callable[..., Any] = _refuse
    __rsub__: Callable[..., Any] = _refuse
    __mul__: Callable[..., Any] = _refuse
    __rmul__: Callable[..., Any] = _refuse
    __truediv__: Callable[..., Any] = _refuse
    __rtruediv__: Callable[..., Any] = _refuse
    __matmul__: Callable[..., Any] = _refuse
    __rmatmul__: Callable[..., Any] = _refuse
    __neg__: Callable[..., Any] = _refuse
    __getitem__: Callable[..., Any] = _refuse


def with_tangent(out: Any, tangent: Any, level: int) -> Any:
    """Wrap an array with a tangent of the same space."""
    backend = backend_of(out)
    asked = inspecting.get()
    dual = wrapper_class(Dual if asked is None else dual_kind(asked), backend)
    return make_wrapper(dual, out, Tangent(backend.meta(out, level), tangent))


def refuse_tracked(values: Sequence[Any], level: int, what: str, *, only: bool = False) -> None:
    """Refuse arrays tracked at this level or above: they come from a closure."""
    if level < TAPE_LEVEL:  # the pass itself is recorded, and so are they
        return
    for value in values:
        for layer in layers(value):
            own = level_of(layer)
            if not layer._is_batched and (own == level or (own > level and not only)):
                raise TrackedValueError(
                    f"{what} a tracked array that is not among the arguments: its gradient would "
                    "be lost. Fix: pass it as an argument, or .detach() it."
                )


# What the functions of a rule return --------------------------------------------------------------


class Space:
    """The library, shape and dtype of an array, which its cotangent or tangent has too."""

    __slots__ = ("backend", "meta")

    def __init__(self, array: Any) -> None:
        self.backend: Backend = backend_of(array)
        self.meta: Meta = self.backend.meta(array, 0)


def spaces_of(values: Sequence[Any]) -> list[Space | None]:
    """Return the spaces of values; None for a value that is not an array of floats."""
    return [Space(one) if is_floating(one) else None for one in values]


def checked_leaves(
    tree: Any,
    treedef: TreeDef,
    spaces: Sequence[Space | None],
    where: Callable[[int | None], str],
    whose: str,
) -> list[Any]:
    """Return a tree's leaves, checked against their spaces; None for zero or no space.

    `where` begins a message about a leaf, by its number, or about the structure.
    """
    leaves = zeros_filled(tree, treedef, treedef.size)
    if leaves is None:
        given = flatten(tree)[1]
        raise RuleResultError(
            f"{where(None)} the structure {given}; {whose} has {treedef}. "
            "Fix: return that structure, None where all of it is zero."
        )
    return [
        None if leaf is None or space is None else _checked(leaf, space, where, index, whose)
        for index, (leaf, space) in enumerate(zip(leaves, spaces, strict=True))
    ]


def _checked(
    value: Any, space: Space, where: Callable[[int | None], str], index: int, whose: str
) -> Any:
    """Return an array checked against a space; its precision may differ, and is fixed later."""
    meta, backend = space.meta, space.backend
    if type(value) in (int, float, complex) and meta.shape == ():
        value = backend.xp.asarray(value, device=meta.device) * backend.xp.ones(
            (), dtype=meta.dtype, device=meta.device
        )
    found = mismatch(value, backend, meta, dtypes="castable")
    if found is None:
        return value
    problem = found.message(
        "an array",
        whose,
        backend,
        meta,
        shape=". Fix: return that shape; sum over the axes that were broadcast",
        dtype=f"xp.{meta.dtype}",
        like="or None for zero",
    )
    raise RuleResultError(f"{where(index)} {problem}")
