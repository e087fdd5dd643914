"""Forward mode where the data are native arrays: the usual call of an operation, by itself.

What `push_forward` finds out at each call, which line of its table a row's JVP follows from and
what its formulas are given, is found out once. Whatever is unusual goes to the general call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.forward import Tangent, jvp_source
from gradwrap.core.kinds import type_of
from gradwrap.core.modes import silent_up_to
from gradwrap.core.rule import passes, zero
from gradwrap.core.space import fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.record import BoundOp
    from gradwrap.core.rule import Rule

__all__ = ["fast_dual"]


def fast_dual(
    bound: BoundOp, general: Callable[..., Any], *, swapped: bool = False
) -> Callable[..., Any] | None:
    """A quicker call of an operation, if there is one; it leaves the unusual to the general one."""
    rule = bound.rule
    if bound.backend.depth or not rule.differentiable or _is_special(rule):
        return None
    count = len(rule.arrays)
    if count == 1 and jvp_source(rule) == "itself":
        return _linear(bound, general)
    steps = [] if rule.statics or count > 2 else _steps(bound)
    if len(steps) == 1:
        return _unary(bound, general, steps[0])
    if len(steps) == 2:
        return _binary(bound, general, steps[0], steps[1], swapped=swapped)
    return None


def _is_special(rule: Rule) -> bool:
    is_several = rule.variadic or rule.outputs != 1
    return is_several or rule.checked or rule.casts or rule.real_steps or rule.key is not None


def _steps(bound: BoundOp) -> list[Callable[..., Any]]:
    """What each argument's tangent contributes; empty where that takes more than is found here."""
    source = jvp_source(bound.rule)
    indices = range(len(bound.rule.arrays))
    if source == "by product":
        return [_by_product(bound, index) for index in indices]
    if source != "as VJP":
        return []
    steps = [_by_formula(bound, index) for index in indices]
    return [] if None in steps else [step for step in steps if step is not None]


# The tangent of one argument: a function of the tangent, all arguments and the output ------------


def _by_formula(bound: BoundOp, index: int) -> Callable[..., Any] | None:
    """By the formula of the cotangent, which is that of the tangent too."""
    rule, namespaces = bound.rule, bound.namespaces
    formula = rule.formula_of(index)
    if formula is None or formula.function is zero:
        return None
    function = formula.function
    if function is passes:
        return _unchanged
    words = (*rule.arrays, "out")
    if not set(formula.saved) <= set(words):
        return None
    places = [words.index(name) for name in formula.saved]
    if len(places) == 1:
        only = places[0]

        def with_one(t: Any, *values: Any) -> Any:
            return function(namespaces[type_of(t)], t, values[only])

        return with_one

    def with_several(t: Any, *values: Any) -> Any:
        return function(namespaces[type_of(t)], t, *(values[at] for at in places))

    return with_several


def _unchanged(t: Any, *_: Any) -> Any:
    return t


def _by_product(bound: BoundOp, index: int) -> Callable[[Any, Any, Any, Any], Any]:
    """By the operation itself, with one argument replaced by its tangent."""
    if index == 0:
        return lambda t, x1, x2, out: _function(bound, t)(t, x2)
    return lambda t, x1, x2, out: _function(bound, t)(x1, t)


def _function(bound: BoundOp, tangent: Any) -> Callable[..., Any]:
    """The operation on arrays like this tangent: it may be a wrapper of another transform's."""
    kind = type_of(tangent)
    return bound.native if kind in bound.backend.native_types else kind._bind(bound.op).call


# Calls -------------------------------------------------------------------------------------------


def _unary(
    bound: BoundOp, general: Callable[..., Any], step: Callable[..., Any]
) -> Callable[..., Any]:
    cls, native = bound.variable_class, bound.native

    def unary(x: Any) -> Any:
        node = x._node if type(x) is cls else None
        if node is None or _is_unusual(node.meta):
            return general(x)
        data = x._data
        out = native(data)
        if out.dtype != node.meta.dtype:
            return general(x)
        made = _dual(bound, out, node.meta, step(node.value, data, out))
        return bound.linked(made, (x,), ()) if bound.rule.views else made

    return unary


def _binary(
    bound: BoundOp,
    general: Callable[..., Any],
    first: Callable[..., Any],
    second: Callable[..., Any],
    *,
    swapped: bool,
) -> Callable[..., Any]:
    cls, native, plain = bound.variable_class, bound.native, bound.backend.plain_types

    def unusual(x1: Any, x2: Any) -> Any:
        return general(x2, x1) if swapped else general(x1, x2)

    def binary(x1: Any, x2: Any) -> Any:
        one, node1 = (x1._data, x1._node) if type(x1) is cls else (x1, None)
        two, node2 = (x2._data, x2._node) if type(x2) is cls else (x2, None)
        node = node1 or node2
        if (
            node is None
            or type(one) not in plain
            or type(two) not in plain
            or one is None
            or two is None
            or _is_unusual(node.meta)
            or (node1 is not None and node2 is not None and not _are_alike(node1, node2))
        ):
            return unusual(x1, x2)
        out = native(one, two)
        if out.dtype != node.meta.dtype:
            return unusual(x1, x2)
        t = None if node1 is None else first(node1.value, one, two, out)
        if node2 is not None:
            other = second(node2.value, one, two, out)
            t = other if t is None else t + other
        return _dual(bound, out, node.meta, t)

    def swapped_binary(x2: Any, x1: Any) -> Any:
        return binary(x1, x2)

    return swapped_binary if swapped else binary


def _linear(bound: BoundOp, general: Callable[..., Any]) -> Callable[..., Any]:
    """Of one array: the same on the tangent."""
    cls, native, split, forward = bound.variable_class, bound.native, bound.split, bound.forward

    def linear(*args: Any, **kwargs: Any) -> Any:
        arrays, statics = split(*args, **kwargs)
        x = arrays[0]
        node = x._node if type(x) is cls else None
        if node is None or _is_unusual(node.meta):
            return general(*args, **kwargs)
        out = forward(native, x._data, *statics)
        if out.dtype != node.meta.dtype:
            return general(*args, **kwargs)
        t = node.value
        made = _dual(bound, out, node.meta, forward(_function(bound, t), t, *statics))
        return bound.linked(made, arrays, statics) if bound.rule.views else made

    return linear


def _is_unusual(meta: Any) -> bool:
    return bool(meta.is_complex or meta.level <= silent_up_to())


def _are_alike(node1: Any, node2: Any) -> bool:
    """Whether two tangents belong to one transform, and are of one kind."""
    is_one_level = node1.meta.level == node2.meta.level
    return is_one_level and type(node1.value) is type(node2.value) and not node2.meta.is_complex


def _dual(bound: BoundOp, out: Any, like: Any, t: Any) -> Any:
    """A result with its tangent; its description is that of an operand where they are equal."""
    if out.shape != t.shape or out.dtype != t.dtype:
        t = fitted(bound.namespaces[type(t)], bound.backend, t, out)
    return bound.variable_class(out, Tangent(bound.backend.meta(out, like.level, like), t))
