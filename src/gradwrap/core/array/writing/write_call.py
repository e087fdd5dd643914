"""The written call of `x[key] = value` in the usual case: only `x` refers to its buffer.

The write then goes into the buffer itself, and the node is that of the operation that makes a new
array. All else goes to `gradwrap.core.array.writing.inplace`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.array.writing.outdated import outdate_views
from gradwrap.core.array.writing.ownership import owns_buffer
from gradwrap.core.array.writing.views import view_of
from gradwrap.core.calls.record import Tape
from gradwrap.core.graph.node import Leaf, Node
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.scatter import is_basic_key
from gradwrap.core.observing.callers import check_store_of_view
from gradwrap.core.observing.hooks import follow
from gradwrap.core.table.rule import passes
from gradwrap.core.values.dynamic import TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.calls.bound import BoundOp
    from gradwrap.core.table.rule import Rule


class Write(Tape):
    """Write the call of `setitem` on the tape, which reuses the buffer of its first argument."""

    def scope(self) -> dict[str, Any]:
        own = {"owns": owns_buffer, "own_part": is_own_part, "hold": _hold, "Leaf": Leaf}
        return super().scope() | own | {"write": self.bound.backend.write}

    def look_at(self, index: int) -> list[str]:
        x, value = self.rule.arrays
        if index:
            return []
        is_view = f"type({value}) is V and {value}._view is not None"
        own_part = f"own_part({x}, {self.rule.key}, {value})"
        return [f"if {is_view} and {own_part}: return", f"if not owns({x}): {self.elsewhere}"]

    def before(self) -> list[str]:
        x, value = self.rule.arrays
        casts = f"{value}_n is not None and {value}_d.dtype != {x}_d.dtype"
        unusual = f"level <= silent() or type({x}_n) is Leaf or ({casts})"
        return [*self.level_of((0, 1)), f"if {unusual}: {self.elsewhere}"]

    def perform(self) -> list[str]:
        x, value = self.rule.arrays
        return [f"write({x}_d, {self.rule.key}, {value}_d)"]

    def ending(self) -> list[str]:
        x = self.rule.arrays[0]
        keep, op = self._keep([0], "level")
        meta = f"{x}_n.meta if {x}_n is not None else meta_of({x}_d, level)"
        node = self._node(self._joint_edge(), "meta", op)
        return [f"meta = {meta}", *keep, *node, f"hold({x}, node)"]

    def _saved_jointly(self, name: str) -> str:
        value = self.rule.arrays[1]
        if name == f"{value}_meta":  # without it, the formula gives no cotangent
            return f"None if {value}_n is None else {value}_n.meta"
        return super()._saved_jointly(name)


class Update(Write):
    """Write the call of `x[key] += value`, which returns whether the usual case applied.

    The formula of the operator passes the cotangent of `x[key]` on unchanged (`+=`, `-=`). So the
    part that is read needs no node, and the cotangent of `x` is not cleared at the key.
    """

    def __init__(self, bound: BoundOp, symbol: str, formula: Callable[..., Any]) -> None:
        super().__init__(bound, lambda *_: False)
        self._symbol = symbol
        self._formula = formula

    def scope(self) -> dict[str, Any]:
        return super().scope() | {"f0": partial(_of_update, self._formula), "fits": _fits}

    def look_at(self, index: int) -> list[str]:
        x, value = self.rule.arrays
        shares = f"type({value}) is V and {value}._view is not None"
        return [f"if {shares} or not owns({x}): {self.elsewhere}"] if not index else []

    def perform(self) -> list[str]:
        x, value = self.rule.arrays
        return [
            f"out = {x}_d[{self.rule.key}]",
            f"if not fits(out, {value}_d): {self.elsewhere}",
            f"out {self._symbol}= {value}_d",
        ]

    def ending(self) -> list[str]:
        return [*super().ending(), "return True"]


def _fits(part: Any, value: Any) -> bool:
    """Tell if `part += value` keeps the shape and dtype of the part without a conversion."""
    if type(value) in (int, float):
        return True
    shape = getattr(value, "shape", None)  # a Python bool has no shape
    return shape in ((), part.shape) and value.dtype == part.dtype


def _of_update(formula: Any, xp: Any, g: Any, key: Any, value_meta: Any) -> tuple[Any, Any]:
    """Return the cotangents of an array and of the value added to part of it."""
    if value_meta is None:
        return g, None
    part = g[key]
    of_value = formula(xp, part)
    return g, xp.asarray(part, copy=True) if of_value is part else of_value


def _hold(variable: Any, node: Node) -> None:
    """Set the node of a variable after a write to its buffer, and mark its views as outdated."""
    before = variable._node
    variable._node = node
    variable._is_array = True
    follow(variable, before)
    outdate_views(variable, recorded=True)


def is_own_part(variable: Any, key: Any, value: Any) -> bool:
    """Tell if `value` is the view `variable[key]` itself, as in the second step of `x[i] += y`."""
    how = view_of(value) if isinstance(value, AnyWrapper) else None
    if how is None or how.source is not variable or how.op.name != "getitem":
        return False
    read, written = (k if isinstance(k, TUPLE) else (k,) for k in (how.statics[0], key))
    if is_basic_key(key) and read == written:
        return True
    check_store_of_view()
    return False


def update_call(bound: BoundOp, symbol: str, rule: Rule) -> Callable[..., bool] | None:
    """Return the written call of `x[key] += value` for an operator's row, or None.

    `bound` is the binding of `x[key] = value`.
    """
    of_part, of_value = rule.formula_of(0), rule.formula_of(1)
    if of_part is None or of_part.function is not passes or of_value is None or of_value.saved:
        return None
    x, value = bound.rule.arrays
    writer = Update(bound, symbol, of_value.function)
    return writer.function(f"{x}, {bound.rule.key}, {value}")


def is_current_part(view: Any) -> bool:
    """Tell if a view still equals `x[key]`, in values and in the graph, and has no hooks."""
    how, node = view._view, view._node
    before = how.source._node
    if how.op.name != "getitem" or not is_basic_key(how.statics[0]):
        return False
    if node is None or before is None:
        return node is before
    return type(node) is Node and node.parent is before and node.op.hooks is None
