"""Forward mode: an array with its tangent, and how an operation pushes tangents forward.

A `Dual` is a variable whose place in the graph is taken by its tangent. It has all of the doors of
a variable; an operation on it is performed on the data, and its derivative, which the same row of
the table gives, is applied to the tangents at once. Nothing is recorded.

What of a row gives its JVP:

===============  ===========================================================================
kind             JVP
===============  ===========================================================================
any              the formulas of `jvp=`, where the row has them
elementwise      the formulas of the cotangent: the derivative of each element is a number
linear           the operation itself, on the tangent
multilinear      the operation with one argument replaced by its tangent, for each of them
reduction        the weights, which are the cotangent of ones, times the tangent, summed
all others       the transpose of the transpose: the VJP is linear in the cotangent, and its
                 own VJP with respect to that is the JVP
===============  ===========================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from gradwrap.core.backend import backend_of
from gradwrap.core.kinds import SEQUENCE, rebuilt
from gradwrap.core.linear import push
from gradwrap.core.modes import new_level
from gradwrap.core.node import Leaf
from gradwrap.core.record import Values, namespace_of, no_rule, perform, record, untracked
from gradwrap.core.rule import passes, zero
from gradwrap.core.scatter import zeros_of
from gradwrap.core.space import fitted
from gradwrap.core.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.meta import Meta
    from gradwrap.core.record import BoundOp
    from gradwrap.core.rule import Formula, Rule

__all__ = ["Tangent", "jvp_source", "push_forward"]

JVPSource = Literal["own", "as VJP", "itself", "by product", "weights", "transposed twice"]


class Tangent:
    """The tangent of an array, in the place of a node."""

    __slots__ = ("meta", "value")

    def __init__(self, meta: Meta, value: Any) -> None:
        self.meta: Meta = meta
        self.value: Any = value


def push_forward(  # noqa: PLR0913  all there is to a call
    bound: BoundOp,
    level: int,
    data: Sequence[Any],
    nodes: Sequence[Tangent | None],
    statics: tuple[Any, ...],
    out: Any,
) -> Any:
    """The results of an operation with their tangents; `data` and `out` are of lower levels."""
    tangents = [None if node is None else node.value for node in nodes]
    several = isinstance(out, SEQUENCE)
    outs = tuple(out) if several else (out,)
    if bound.rule.real_steps and not _any_complex(bound, outs):
        return untracked(bound, out)
    pushed = _tangents(bound, level, data, nodes, tangents, statics, out)
    xp = namespace_of(bound, [*data, *tangents, *outs])
    wrapped: list[Any] = []
    for part, tangent in zip(outs, pushed, strict=True):
        if tangent is None or not _is_float(bound, part):
            wrapped.append(untracked(bound, part))
        else:
            meta = bound.backend.meta(part, level)
            whole = fitted(xp, bound.backend, tangent, part)
            wrapped.append(bound.variable_class(part, Tangent(meta, whole)))
    if not several:
        return wrapped[0]
    return rebuilt(out, wrapped)


def _tangents(  # noqa: PLR0913  all there is to a call
    bound: BoundOp,
    level: int,
    data: Sequence[Any],
    nodes: Sequence[Any],
    tangents: list[Any],
    statics: tuple[Any, ...],
    out: Any,
) -> Sequence[Any]:
    """The tangent of each output; None for zero."""
    rule = bound.rule
    words = Values(bound, level, data, nodes, statics, out)
    xp = namespace_of(bound, [*data, *tangents, *(out if isinstance(out, SEQUENCE) else (out,))])
    source = jvp_source(rule)
    if source == "as VJP" and not rule.holomorphic and _any_complex(bound, data):
        source = "transposed twice"
    if source == "own" and not _has_jvp(rule, tangents):
        source = "transposed twice"
    if source == "own":
        if rule.variadic:
            given = _with_zeros(bound, data, tangents)
            total = _applied(rule.jvps[0], xp, given, words)
        else:
            total = _summed(bound, rule.jvps, xp, tangents, words)
        return total if isinstance(out, SEQUENCE) and total is not None else [total]
    if source == "as VJP":
        return [_summed(bound, rule.formulas, xp, tangents, words)]
    if source == "itself":
        return [perform(bound, [tangents[0]], statics)]
    if source == "by product":
        return [_product_rule(bound, data, tangents, statics)]
    if source == "weights":
        return [_of_reduction(bound, xp, data[0], tangents[0], words)]
    return _transposed_twice(bound, data, tangents, statics, out)


def jvp_source(rule: Rule) -> JVPSource:
    """Which line of the table above a row's JVP follows from.

    An elementwise function that is not holomorphic has it from its VJP for real arrays alone.
    """
    if rule.jvps:
        return "own"
    if rule.kind == "elementwise":
        return "as VJP"
    if rule.kind == "linear" and not rule.variadic:
        return "itself"
    if rule.kind == "multilinear":
        return "by product"
    if rule.kind == "reduction" and {"axis", "keepdims"} <= set(rule.statics):
        return "weights"
    return "transposed twice"


def _has_jvp(rule: Rule, tangents: Sequence[Any]) -> bool:
    """Whether the row has a formula for each tangent; else all of it follows from the VJP."""
    if rule.variadic or not rule.jvps:
        return bool(rule.jvps)
    formulas = (*rule.jvps, *[None] * (len(tangents) - len(rule.jvps)))
    return all(
        tangent is None or formula is not None
        for tangent, formula in zip(tangents, formulas, strict=True)
    )


def _applied(formula: Formula | None, xp: Any, tangent: Any, words: Values) -> Any:
    assert formula is not None
    return formula.function(xp, tangent, *(words[name] for name in formula.saved))


def _summed(
    bound: BoundOp,
    formulas: Sequence[Formula | None],
    xp: Any,
    tangents: Sequence[Any],
    words: Values,
) -> Any:
    """What each argument's tangent contributes, added up."""
    total: Any = None
    for index, tangent in enumerate(tangents):
        if tangent is None:
            continue
        formula = formulas[index] if index < len(formulas) else None
        if formula is None:
            rule = bound.rule
            raise no_rule(rule.name, bound.backend.name, rule.arrays[index], rule.arrays)
        if formula.function is zero:
            continue
        part = tangent if formula.function is passes else _applied(formula, xp, tangent, words)
        if total is None:
            total = part
        elif isinstance(part, SEQUENCE):
            total = [a + b for a, b in zip(total, part, strict=True)]
        else:
            total = total + part
    return total


def _product_rule(
    bound: BoundOp, data: Sequence[Any], tangents: Sequence[Any], statics: tuple[Any, ...]
) -> Any:
    total: Any = None
    for index, tangent in enumerate(tangents):
        if tangent is not None:
            part = perform(bound, [*data[:index], tangent, *data[index + 1 :]], statics)
            total = part if total is None else total + part
    return total


def _of_reduction(bound: BoundOp, xp: Any, x: Any, tangent: Any, words: Values) -> Any:
    """Each output is a sum over elements, to first order: by the weights, which are its VJP."""
    rule = bound.rule
    weights = _applied(rule.formulas[0], xp, xp.ones_like(words["out"]), words)
    product = (xp.conj(weights) if _conjugates(bound, x) else weights) * tangent
    summed = xp.sum(product, axis=words["axis"], keepdims=words["keepdims"], dtype=product.dtype)
    return xp.real(summed) if _conjugates(bound, x) else summed


def _conjugates(bound: BoundOp, x: Any) -> bool:
    return not bound.holomorphic and _any_complex(bound, [x])


def _transposed_twice(
    bound: BoundOp,
    data: Sequence[Any],
    tangents: Sequence[Any],
    statics: tuple[Any, ...],
    out: Any,
) -> list[Any]:
    """Pull a variable cotangent back, and the tangents back through that."""
    reverse = bound.variable_class._sibling(Variable)._bind(bound.op)
    level = new_level()
    leaves = [
        None if t is None else Leaf(bound.backend.meta(item, level))
        for item, t in zip(data, tangents, strict=True)
    ]
    recorded = record(reverse, level, data, leaves, statics, out)
    return push(leaves, recorded if isinstance(out, SEQUENCE) else [recorded], tangents)


def _with_zeros(bound: BoundOp, data: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    return [
        zeros_of(backend_of(item).xp, bound.backend.meta(item, 0)) if tangent is None else tangent
        for item, tangent in zip(data, tangents, strict=True)
    ]


def _is_float(bound: BoundOp, part: Any) -> bool:
    return hasattr(part, "dtype") and bool(bound.backend.dtype_kind(part.dtype)[0])


def _any_complex(bound: BoundOp, arrays: Sequence[Any]) -> bool:
    return any(
        bound.backend.dtype_kind(array.dtype)[1] for array in arrays if hasattr(array, "dtype")
    )
