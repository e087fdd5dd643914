"""Inspection of backward passes for non-finite values and for zeros that annihilate.

At its start, a pass asks once whether its context has requested one of these checks. If so, it
takes the slow path at every node, and checks the result of every formula.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.scatter import OutputPart, Scattered
from gradwrap.core.observing.arithmetic import computes_derivative
from gradwrap.core.values.comparing import described
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE
from gradwrap.core.values.record import Record
from gradwrap.errors import AnomalyError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradwrap.core.graph.node import Leaf, Node


class Wanted(Record):
    """The checks that a context requests for its backward passes."""

    notes: bool = False
    """Name the operation in whatever a formula raises."""
    finite: bool = False
    zeros_annihilate: bool = False


class Inspection:
    """One inspected backward pass."""

    __slots__ = ("_selected_by", "_wanted", "began_finite")

    def __init__(self, asked: Wanted, roots: Sequence[tuple[Node | Leaf, Any]]) -> None:
        self._wanted = asked
        self._selected_by: dict[int, str] = {}
        self.began_finite: bool = asked.finite and all(is_finite(g) for _, g in roots)

    def inspected_edges(self, node: Node, edges: Any) -> Any:
        """Return the edges of a node, with formulas whose results are inspected."""
        if self._wanted.finite:
            self._follow(node, edges)
        return [
            (parent, partial(self._call, node, formula), saved, index)
            for parent, formula, saved, index in edges
        ]

    def _follow(self, node: Node, edges: Any) -> None:
        """Remember the selecting operation behind each node, for the message on NaNs from zeros."""
        rule = node.op.rule
        selects = rule is not None and rule.selects
        name = node.op.name if selects else self._selected_by.get(node.seq)
        if name is None:
            return
        for parent, _, _, _ in edges:
            for one in parent if isinstance(parent, TUPLE) else (parent,):
                if one is not None:
                    self._selected_by.setdefault(one.seq, name)

    def at_end(self, arrived: dict[Node | Leaf, Any]) -> None:
        """Check the sums of cotangents, since a sum can overflow."""
        if self.began_finite:
            for node, g in arrived.items():
                if not is_finite(g):
                    raise _of_a_sum(node, g)

    @computes_derivative(node="node", asked="asked", cotangent="g")
    def _call(self, node: Node, formula: Any, xp: Any, g: Any, *saved: Any) -> Any:
        """Call a formula and check its result."""
        asked = self._wanted
        if self.began_finite and not is_finite(g):
            raise _of_a_sum(node, g)
        try:
            result = formula(xp, g, *saved)
        except Exception as error:
            if asked.notes and not isinstance(error, AnomalyError):
                error.add_note(f"In the backward pass, at {node.op.name}. {_recorded_at(node)}")
            raise
        if asked.zeros_annihilate and _is_elementwise(node) and result is not g:
            # A formula that has summed g to a smaller shape has no derivative but 1 or -1.
            is_summed = result.shape != g.shape
            result = result if is_summed else xp.where(g == 0, xp.zeros_like(result), result)
        if asked.finite and not is_finite(result) and is_finite(g):
            raise self._anomaly(node, g, result)
        return result

    def _anomaly(self, node: Node, g: Any, result: Any) -> AnomalyError:
        name = node.op.name
        words = [
            (
                f"{node.name()} returned {_kind(result)} values: in the backward pass, the "
                f"derivative of {name} ({_space(result)}) made them from a finite cotangent."
            )
        ]
        if _is_elementwise(node) and _made_from_zero(g, result):
            selected_by = self._selected_by.get(node.seq)
            origin = (
                f"`{selected_by}` did not take these values, so the cotangent there is 0"
                if selected_by is not None
                else "The cotangent there is 0"
            )
            words.append(
                f"{origin}, but 0 times a derivative that is not finite is NaN. "
                f"Fix: keep such values from {name}: gradwrap.apply_where(condition, x, f, fill) "
                "gives f only those that are taken; or let zeros annihilate, by "
                "`with gradwrap.strong_zeros():`."
            )
        else:
            words.append(
                f"Fix: keep the arguments of {name} away from where its derivative is not finite."
            )
        stack = _stack(node)
        return AnomalyError("\n".join((" ".join(words), _recorded_at(node))), name, stack)


def _of_a_sum(node: Node | Leaf, g: Any) -> AnomalyError:
    op = getattr(node, "op", None)
    name = "a leaf" if op is None else f"the result of {op.name}"
    return AnomalyError(
        f"{node.name()} was given {_kind(g)} values ({_space(g)}): every cotangent that was sent "
        f"to {name} is finite, but their sum, taken to the dtype and shape there, is not, or a "
        "hook has changed it. Fix: scale the loss, or compute in a wider dtype.\n"
        + ("" if op is None else _recorded_at(node)),
        "" if op is None else op.name,
        _stack(node),
    )


def _stack(node: Any) -> str:
    watch = getattr(getattr(node, "op", None), "watch", None)
    return "" if watch is None else str(watch.stack)


def _recorded_at(node: Any) -> str:
    stack = _stack(node)
    if not stack:
        return (
            "Where it was recorded is not known. "
            "Fix: run forward, too, inside of gradwrap.detect_anomaly()."
        )
    return f"It was recorded here (most recent call last):\n{stack.rstrip()}"


# What a cotangent is made of ----------------------------------------------------------------------


def _is_elementwise(node: Node) -> bool:
    rule = node.op.rule
    return rule is not None and rule.kind.is_elementwise


def parts_of(cotangent: Any) -> Iterator[Any]:
    """Yield the native arrays of a cotangent, below all wrappers."""
    if cotangent is None:
        return
    if isinstance(cotangent, SEQUENCE):
        for one in cotangent:
            yield from parts_of(one)
    elif isinstance(cotangent, Scattered):
        yield from parts_of(cotangent.values)
    elif isinstance(cotangent, OutputPart):
        yield from parts_of(cotangent.value)
    else:
        yield innermost(cotangent)


def is_finite(cotangent: Any) -> bool:
    """Tell if a cotangent has no NaN and no infinity, which waits for the device."""
    for part in parts_of(cotangent):
        xp = backend_of(part).xp
        if not bool(xp.all(xp.isfinite(part))):
            return False
    return True


def _kind(cotangent: Any) -> str:
    for part in parts_of(cotangent):
        xp = backend_of(part).xp
        if bool(xp.any(xp.isnan(part))):
            return "nan"
    return "inf"


def _space(cotangent: Any) -> str:
    return ", ".join(map(described, parts_of(cotangent)))


def _made_from_zero(g: Any, result: Any) -> bool:
    """Tell if a non-finite value stands where the cotangent is zero."""
    zero, bad = next(parts_of(g)), next(parts_of(result))
    xp = backend_of(bad).xp
    if tuple(zero.shape) != tuple(bad.shape):
        return bool(xp.any(zero == 0))
    return bool(xp.any((zero == 0) & ~xp.isfinite(bad)))
