"""Hooks: user functions that receive gradients, and may replace them.

A node without hooks costs nothing: the first hook gives the node a binding of its own, marked
special, so that the backward pass takes it off its fast path. The order, for one variable, is
that of PyTorch: its hooks as they were registered, what `retain_grad` keeps, the hooks before
its node, the node itself, the hooks after it. For a leaf: its hooks, then `grad` is added to, then
the hooks after accumulation.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.node import JOINT, Leaf, Node
from gradwrap.core.levels.levels import TAPE_LEVEL
from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import AnyWrapper, make_wrapper, native, snapshot
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.comparing import mismatch
from gradwrap.core.values.dynamic import SEQUENCE, class_of, type_of
from gradwrap.core.values.record import Record
from gradwrap.errors import HookResultError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from gradwrap.core.observing.handles import Hooks
    from gradwrap.core.values.space import Meta


def follow(variable: Any, before: Any) -> None:
    """Move `retain_grad`'s request to the new node of a variable after a write in place."""
    hooks = before.op.hooks if isinstance(before, Node) else None
    if hooks is not None and hooks.retained is not None and hooks.retained() is variable:
        variable._node.own_hooks().retained, hooks.retained = hooks.retained, None


# The backward pass ------------------------------------------------------------------------------


def _quiet(gradient: Any) -> AbstractContextManager[None]:
    """Switch recording off while hooks run, unless the pass itself is recorded."""
    return nullcontext() if isinstance(gradient, AnyWrapper) else no_grad()


def on_variable(node: Node | Leaf, hooks: Hooks, g: Any, *, owned: bool = False) -> Any:
    """Run the hooks of a variable on its whole gradient, then retain the gradient.

    A hook gets a buffer of its own: so a change in place cannot spoil another gradient.
    """
    if not hooks.variable and hooks.retained is None:
        return g
    if not owned:
        g = _own(g)
    with _quiet(g):
        for hook in tuple(hooks.variable.values()):
            result = hook(g)
            if result is not None:
                g = _checked(result, g, node.meta, hook)
    variable = None if hooks.retained is None else hooks.retained()
    if variable is not None:
        accumulate(variable, g, _own)
    return g


def accumulate(variable: Any, g: Any, first: Callable[[Any], Any] = lambda g: g) -> None:
    """Add a gradient to the `grad` of a variable, or set it to `first(g)` if there is none."""
    before = getattr(variable, "_grad", None)
    variable._grad = first(g) if before is None else before + g


def before_node(node: Node | Leaf, hooks: Hooks, g: Any) -> Any:
    """Run the hooks before a node, which get the gradients of its outputs as a tuple."""
    if not hooks.before:
        return g
    several = type_of(g) is tuple
    gradients = tuple(map(_own, g if several else (g,)))
    metas: Any = node.meta if several else (node.meta,)
    gradients = _run(hooks.before, gradients, metas)
    return gradients if several else gradients[0]


def after_node(
    arguments: list[_Argument | None], hooks: Hooks, cotangents: dict[int, Any], g: Any
) -> list[tuple[Node | Leaf, Any]]:
    """Run the hooks after a node on its arguments' cotangents; None stands for no cotangent."""
    sent = [None if one is None else cotangents.get(one.seq) for one in arguments]
    inputs = tuple(None if arrival is None else _own(arrival[1]) for arrival in sent)
    metas = [None if argument is None else argument.meta for argument in arguments]
    inputs = _run(hooks.after, inputs, metas, g if type_of(g) is tuple else (g,))
    return [
        (argument.node, one)
        for argument, one in zip(arguments, inputs, strict=True)
        if argument is not None and one is not None
    ]


def _run(
    callbacks: dict[int, Any], values: tuple[Any, ...], metas: Any, *outputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Run hooks that may replace gradients; hooks that receive `outputs` may also drop one."""
    with _quiet((*outputs, values)[0][0]):
        for hook in tuple(callbacks.values()):
            result = hook(values, *outputs)
            if result is not None:
                values = _checked_tuple(result, values, metas, hook, may_drop=bool(outputs))
    return values


class _Argument(Record):
    """A stand-in for an argument's node, which collects cotangents until the hooks have run."""

    node: Node | Leaf
    meta: Meta
    seq: int
    """Its position among the arguments."""


def held_back(
    node: Node, edges: Iterable[Any], wanted: Callable[[Any], bool]
) -> tuple[list[_Argument | None], list[Any]]:
    """Return stand-ins for a node's arguments, by position, and edges that lead to them."""
    arguments: list[_Argument | None] = [None] * node.arity
    redirected: list[Any] = []
    for parent, formula, saved, index in edges:
        if index == JOINT:
            for position, one in enumerate(parent):
                if one is not None:
                    arguments[position] = _Argument(one, one.meta, position)
            redirected.append((tuple(arguments), formula, saved, index))
        elif wanted(parent):
            arguments[index] = _Argument(parent, parent.meta, index)
            redirected.append((arguments[index], formula, saved, index))
    return arguments, redirected


def leaf_hooks(arrived: dict[Node | Leaf, Any]) -> None:
    """Run the hooks of the leaves that a pass has reached."""
    for leaf, g in arrived.items():
        if type(leaf) is Leaf and leaf.hooks is not None:
            arrived[leaf] = on_variable(leaf, leaf.hooks, g)


# What a hook returns ----------------------------------------------------------------------------


def _own(g: Any) -> Any:
    """Return a gradient in a buffer of its own, or None if there is no gradient."""
    if g is None:
        return None
    return snapshot(g) if isinstance(g, AnyWrapper) else backend_of(g).copy(g)


def _name(hook: Any) -> str:
    return getattr(hook, "__name__", None) or type(hook).__name__


def _lowered(value: Any, level: int) -> Any:
    """Remove a level's wrappers from a hook's result, which must be data to that level."""
    if not isinstance(value, AnyWrapper):
        return value
    inner = _lowered(value._value, level)
    if value._node is None or value._node.meta.level == level:
        return inner
    if inner is value._value:
        return value
    from gradwrap.core.library.backend import wrapper_class

    return make_wrapper(wrapper_class(type_of(value)._kind, backend_of(inner)), inner, value._node)


def _checked(result: Any, g: Any, meta: Meta, hook: Any) -> Any:
    """Check that a hook's result fits the gradient that it replaces, and return it."""
    recorded = isinstance(g, AnyWrapper)
    if isinstance(result, AnyWrapper) and not recorded:
        result = native(result)
    elif meta.level != TAPE_LEVEL:
        result = _lowered(result, meta.level)
    found = mismatch(result, backend_of(g), meta)
    if found is not None:
        became = f"a gradient of {found.part} {getattr(meta, found.part, None)} became {found.got}"
        problem = {
            "shape": f"has changed the size of value: {became}",
            "dtype": f"has changed the type of value: {became}",
        }.get(found.part, f"returned {found.got} in place of a gradient")
        raise HookResultError(
            f"hook '{_name(hook)}' {problem}. Fix: return an array of {backend_of(g).name}, "
            f"{meta}, or None to leave the gradient as it is."
        )
    if recorded and not isinstance(result, AnyWrapper):
        return make_wrapper(type_of(g), result)
    return result


def _checked_tuple(
    result: Any, values: tuple[Any, ...], metas: Any, hook: Any, *, may_drop: bool = False
) -> tuple[Any, ...]:
    if not isinstance(result, SEQUENCE):
        raise HookResultError(
            f"expected tuple, but hook '{_name(hook)}' returned {class_of(result)}. "
            f"Fix: return a tuple of {len(values)}, or None to leave the gradients as they are."
        )
    if len(result) != len(values):
        raise HookResultError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got "
            f"{len(result)}, but expected {len(values)}). Fix: return one for each gradient."
        )
    checked: list[Any] = []
    for one, value, meta in zip(result, values, metas, strict=True):
        if value is None and one is not None:
            raise HookResultError(
                f"hook '{_name(hook)}' can't replace a None gradient with a non-None value. "
                "Fix: return None where there was none."
            )
        drops = one is None and (may_drop or value is None)
        checked.append(None if drops else _checked(one, value, meta, hook))
    return tuple(checked)
