"""A node's formulas in a backward pass that is more than formulas on plain real arrays.

Where the pass is itself recorded, what they saved gets its place in the graph again. Where the
function is holomorphic, their results are conjugated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.dynamic import SEQUENCE, TUPLE
from gradwrap.core.node import JOINT
from gradwrap.core.record import output_node
from gradwrap.core.scatter import Scattered

if TYPE_CHECKING:
    from gradwrap.core.node import Node

__all__ = ["conjugate", "conjugated", "rewrapped"]


def conjugated(edges: Any) -> Any:
    """The adjoint of a holomorphic function: conjugate after its transpose as well as before."""
    return tuple(
        (parent, _ConjugateAfter(formula), saved, index) for parent, formula, saved, index in edges
    )


class _ConjugateAfter:
    __slots__ = ("formula",)

    def __init__(self, formula: Any) -> None:
        self.formula = formula

    def __call__(self, xp: Any, g: Any, *saved: Any) -> Any:
        return conjugate(xp, self.formula(xp, g, *saved))


def conjugate(xp: Any, cotangent: Any) -> Any:
    """A cotangent, or several, or the part of one, conjugated."""
    if cotangent is None:
        return None
    if isinstance(cotangent, SEQUENCE):
        return tuple(conjugate(xp, part) for part in cotangent)
    if type(cotangent) is Scattered:
        return Scattered(cotangent.key, xp.conj(cotangent.values))
    return xp.conj(cotangent)


def rewrapped(node: Node, edges: list[Any]) -> list[Any]:
    """Give what the formulas saved its place in the graph again, so that they can be recorded."""
    rule = getattr(node.op, "rule", None)
    if rule is None:
        return edges
    parents: dict[str, Any] = {}
    for parent, _, _, index in edges:
        if index != JOINT:
            parents[rule.arrays[index]] = parent
        elif rule.variadic:
            parents[rule.arrays[0]] = parent
        else:
            parents.update(zip(rule.arrays, parent, strict=True))
    rewrapped: list[Any] = []
    for parent, formula, saved, index in edges:
        names = rule.formulas[0 if rule.is_joint else index].saved
        again = tuple(
            _rewrap_output(node, value)
            if name == "out"
            else _rewrap(node, value, parents.get(name))
            for name, value in zip(names, saved, strict=True)
        )
        rewrapped.append((parent, formula, again, index))
    return rewrapped


def _rewrap(node: Node, value: Any, owner: Any) -> Any:
    """A saved argument as a variable of the node it came from; as it is, if it was not tracked."""
    if owner is None:
        return value
    variable = node.op.variable_class
    if not isinstance(owner, TUPLE):
        return variable(value, owner)
    return tuple(
        item if one is None else variable(item, one) for item, one in zip(value, owner, strict=True)
    )


def _rewrap_output(node: Node, value: Any) -> Any:
    """A saved output as a variable of its node, or of nodes that select each of several."""
    op = node.op
    if not isinstance(value, SEQUENCE):
        return op.variable_class(value, node)
    metas: Any = node.meta
    return tuple(
        op.variable_class(part, output_node(node, index, meta))
        if op.backend.dtype_kind(meta.dtype)[0]
        else part
        for index, (part, meta) in enumerate(zip(value, metas, strict=True))
    )
