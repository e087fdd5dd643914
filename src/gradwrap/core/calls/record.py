"""Reverse mode: operations are recorded as nodes of the graph.

`Tape` writes the code of a usual call (`gradwrap.core.calls.call`) that also makes the node;
`record` makes the node of any other call.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.array.writing.remembered import remember
from gradwrap.core.array.writing.views import as_view
from gradwrap.core.calls.call import Call, indented, tuple_of
from gradwrap.core.calls.general import as_data, no_rule, untracked
from gradwrap.core.graph.node import EDGE, JOINT, Leaf, Node, make_node
from gradwrap.core.graph.outputs import OutputsMeta, output_node
from gradwrap.core.levels.levels import current_watch, next_sequence_number, silent_up_to
from gradwrap.core.levels.wrapper import UNTRACKED, make_wrapper
from gradwrap.core.library.buffers import Guarded, exposed, holds_guarded, shared
from gradwrap.core.observing.watching import UNNOTED, kept_parts, kept_shared, kept_value
from gradwrap.core.table.rule import passes
from gradwrap.core.values.dynamic import SEQUENCE, rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.calls.bound import BoundOp, NodeOp

NODE_FIELDS = ("parent", "formula", "saved", "index", "meta", "op", "more")
"""What `make_node` is given; the generated text has the lines of that function in its place."""
MADE = (
    "made = V(); made._value = out; made._node = node; "
    "made._view = made._views = None; made._is_array = False"
)
"""The lines of `make_wrapper`."""


class Tape(Call):
    """Write the call in reverse mode: a node with an edge to each tracked argument."""

    def usual(self) -> bool:
        rule = self.rule
        return not rule.checked if rule.is_joint else rule.outputs == 1

    def scope(self) -> dict[str, Any]:
        bound = self.bound
        return super().scope() | {
            "Node": Node,
            "new_node": bound.backend.node,
            "number": next_sequence_number,
            "watched": record_watched,
            "is_float": bound.backend.is_float,
            "several": _several,
            "kept": bound.backend.kept,
            "kept_parts": kept_parts,
            "kept_shared": partial(kept_shared, bound.backend.kept),
            "saved_part": saved_part,
            "shared": shared,
            "exposed": exposed,
            "Guarded": Guarded,
            "holds_guarded": holds_guarded,
            "guarding": guarding,
            "as_view": as_view,
            "remember": remember,
        }

    def ending(self) -> list[str]:
        rule = self.rule
        if rule.is_joint:
            return self._record_joint()
        active = [i for i in range(len(rule.arrays)) if rule.formula_of(i) is not None]
        if not active:
            return [self.result("plain(out)")]
        if len(active) == 1:
            return self._record_one(active[0])
        if len(active) == 2:
            return self._record_two(active[0], active[1])
        return self._record_many(active)

    def _node(self, edge: Sequence[str], meta: str, op: str, more: str = "None") -> list[str]:
        """Return lines that make the `node`."""
        values = [*edge, meta, op, more]
        if self.bound.backend.node is not None:
            return [f"node = new_node({', '.join(values)})"]
        fields = zip(NODE_FIELDS, values, strict=True)
        stores = [f"node.{field} = {value}" for field, value in fields]
        return ["; ".join(["node = Node(); node.seq = number()", *stores])]

    def _made(self, edge: Sequence[str], meta: str, op: str, more: str = "None") -> list[str]:
        """Return lines that make the result, `made`, with its node."""
        return [*self._node(edge, meta, op, more), MADE]

    def _linked(self) -> list[str]:
        """Return lines for a recorded result. Usual views and usual new arrays need no call."""
        backend, x = self.bound.backend, self.rule.arrays[0]
        if not self.rule.views or not backend.keeps_base or backend.depth:
            return [self.result("made")]
        view = f"as_view(made, {x}, bound.op, {self.statics})"
        return [
            "base = out.base",
            f"if base is None and out is not {x}_d: return made",
            f"if (base is {x}_d or base is {x}_d.base) and {x}_d.shape:",
            f"    return remember({x}, {view})",
            self.result("made"),
        ]

    def _unless_silent(self, level: str) -> list[str]:
        """Return lines that leave if the level is not recorded, or recordings are watched."""
        data, nodes = (self._all(part) for part in ("d", "n"))
        watched = f"watched(bound, {data}, {nodes}, {self.statics}, out)"
        return [
            f"if {level} <= silent():",
            f"    if type(silent()) is int: {self.result('plain(out)')}",
            f"    {self.result(watched)}",
        ]

    def _all(self, part: str) -> str:
        """Name the data (`d`) or the nodes (`n`) of all arguments."""
        names = [f"{a}_{part}" for a in self.rule.arrays]
        return names[0] if self.rule.variadic else tuple_of(names)

    def _keep(
        self, indices: Sequence[int], level: str, tracked: Sequence[str] = ()
    ) -> tuple[list[str], str]:
        """Return lines that guard saved arrays the caller may write to, and the binding to use.

        A wrapper's array is the caller's if it is a view of one that `wrap` has been given: the
        transforms have kept those of their arguments.
        """
        rule = self.rule
        lines: list[str] = []
        sharing: list[str] = []
        parts: list[str] = []
        formulas = [f for f in map(rule.formula_of, indices) if f is not None]
        backend = self.bound.backend
        has_base = not backend.depth and all(hasattr(kind, "base") for kind in backend.array_types)
        is_view = "{}_d.base is not None" if has_base else "True"
        for name in dict.fromkeys(name for formula in formulas for name in formula.saved):
            if name in rule.arrays and rule.variadic:
                pairs = f"zip({name}_d, {name}_n)"
                lines += [
                    f"{name}_d = [kept(d, {level}) if n is None else d for d, n in {pairs}]",
                    f"if holds_guarded(tuple({name}_d)): by = guarding(bound)",
                ]
            elif name in rule.arrays:
                test = f"type({name}_n) is not Node or {is_view.format(name)} or exposed"
                keep = f"{name}_d = kept{{}}({name}_d, {level})"
                guard = f"    if type({name}_d) is Guarded: by = guarding(bound)"
                if name in tracked and not self.bound.backend.depth:
                    parts += [f"if {name}._view is not None: {name}_d = saved_part({name})"]
                if name in tracked:
                    sharing += [f"if {test}:", f"    {keep.format('_shared')}", guard]
                else:
                    lines += [f"if type({name}) is not V:", f"    {keep.format('')}", guard]
                    lines += [f"elif shared and ({test}):", f"    {keep.format('_shared')}", guard]
            elif self._may_be_array(name):
                known = "simple or " if name == rule.key else ""
                test = f"{known}type({name}) in IMMUTABLE"
                keep = f"{name} if {test} else kept_parts({name}, {level})"
                changed = f"{name}_k is not {name} and holds_guarded({name}_k)"
                lines += [f"{name}_k = {keep}", f"if {changed}: by = guarding(bound)"]
        if sharing:
            # a transform keeps its arguments when it is called, and its results are its own
            lines += [f"if shared and (exposed or not {level}):", *indented(sharing)]
        return ([*parts, "by = bound", *lines], "by") if lines else (parts, "bound")

    def _may_be_array(self, name: str) -> bool:
        """Tell if a static argument can be an array: if it has no default."""
        return name in self.rule.statics and f"{name}=" not in self.rule.signature_text

    def _edge(self, index: int) -> tuple[str, str, str, str]:
        formula = self.rule.formula_of(index)
        assert formula is not None
        own = self.rule.arrays[index]
        if len(formula.saved) == 1 and formula.saved[0] not in self.rule.statics:
            saved = self._saved(formula.saved[0], own)
        else:
            saved = tuple_of(self._saved(name, own) for name in formula.saved)
        return f"{own}_n", f"f{index}", saved, f"{index}"

    def _saved(self, name: str, own: str) -> str:
        if name in self.rule.arrays:
            return f"{name}_d"
        if name.endswith("_meta") and name not in self.rule.statics:
            x = name.removesuffix("_meta")
            if x == own:
                return f"{x}_n.meta"
            return f"({x}_n.meta if {x}_n is not None else meta_of({x}_d, {own}_n.meta.level))"
        return f"{name}_k" if self._may_be_array(name) else name

    def _record_one(self, index: int) -> list[str]:
        rule = self.rule
        x = rule.arrays[index]
        lines = [
            f"if {x}_n is None: {self.result('plain(out)')}",
            *self._unless_silent(f"{x}_n.meta.level"),
        ]
        if rule.same and len(rule.arrays) == 1:
            lines += [f"meta = {x}_n.meta"]
        else:
            like = "" if rule.casts else f", {x}_n.meta"
            lines += [f"meta = meta_of(out, {x}_n.meta.level{like})"]
        if rule.real_steps:
            lines += ["if not meta.is_complex:", "    return plain(out)"]
        if rule.casts:
            lines += ["if not is_float(meta):", "    return plain(out)"]
        keep, op = self._keep([index], "meta.level", [x])
        return [*lines, *keep, *self._made(self._edge(index), "meta", op), *self._linked()]

    def _record_two(self, first: int, second: int) -> list[str]:
        rule = self.rule
        a, b = rule.arrays[first], rule.arrays[second]
        meta = f"meta_of(out, {a}_n.meta.level, {a}_n.meta)"
        if rule.same and len(rule.arrays) == 2:
            meta = f"{a}_n.meta if {a}_n.meta is {b}_n.meta else {meta}"
        keep, op = self._keep([first, second], f"{a}_n.meta.level", [a, b])
        more = f"({', '.join(self._edge(second))})"
        return [
            f"if {a}_n is None:",
            *indented(self._guarded(second, a)),
            f"if {b}_n is None:",
            *indented(self._guarded(first, b)),
            f"if {a}_n.meta.level != {b}_n.meta.level: {self.elsewhere}",
            *self._unless_silent(f"{a}_n.meta.level"),
            f"meta = {meta}",
            *keep,
            *self._made(self._edge(first), "meta", op, more),
            "return made",
        ]

    def _guarded(self, index: int, scalar: str) -> list[str]:
        """Return lines that record one of two arguments if the other is not tracked."""
        rule = self.rule
        x = rule.arrays[index]
        meta = f"meta_of(out, {x}_n.meta.level, {x}_n.meta)"
        lines = [f"if {x}_n is None: return plain(out)", *self._unless_silent(f"{x}_n.meta.level")]
        formula = rule.formula_of(index)
        if rule.same and len(rule.arrays) == 2:
            lines += [f"if type({scalar}) in (float, int):"]
            if formula is not None and formula.function is passes:
                lines += [f"    if {x}_n.meta.level: return make_wrapper(V, out, {x}_n)"]
            lines += indented(self._made(self._edge(index), f"{x}_n.meta", "bound"))
            lines += ["    return made"]
        lines += [f"meta = {meta}"]
        if formula is not None and formula.function is passes:
            lines += [f"if meta is {x}_n.meta and meta.level: return make_wrapper(V, out, {x}_n)"]
        keep, op = self._keep([index], "meta.level", [x])
        return [*lines, *keep, *self._made(self._edge(index), "meta", op), "return made"]

    def _record_many(self, active: list[int]) -> list[str]:
        keep, op = self._keep(active, "level")
        lines = [*self.level_of(active), *self._unless_silent("level"), *keep, "edges = ()"]
        for index in active:
            x = self.rule.arrays[index]
            lines += [f"if {x}_n is not None: edges += ({', '.join(self._edge(index))})"]
        first = [f"edges[{place}]" for place in range(EDGE)]
        made = self._made(first, "meta_of(out, level, like)", op, f"edges[{EDGE}:]")
        return [*lines, *made, "return made"]

    def _record_joint(self) -> list[str]:
        """Return lines for a function whose one formula gives all arguments' cotangents."""
        rule = self.rule
        lines = [] if rule.variadic else self.level_of(range(len(rule.arrays)))
        lines += [f"if level == -2: {self.result('plain(out)')}", *self._unless_silent("level")]
        if self.collects_metas():
            x = rule.arrays[0]
            pairs = f"for meta, data in zip(metas, {x}_d)"
            whole = f"[described(data, level) if meta is None else meta {pairs}]"
            lines += [f"if None in metas: metas = {whole}"]
        edge = self._joint_edge()
        keep, op = self._keep([0], "level")
        lines += keep
        if rule.outputs > 1:
            return [*lines, f"return several({op}, level, [{', '.join(edge)}], out)"]
        made = self._made(edge, "meta_of(out, level, like)", op)
        return [*lines, *made, self.result("made")]

    def _joint_edge(self) -> tuple[str, str, str, str]:
        formula = self.rule.formula_of(0)
        assert formula is not None
        saved = tuple_of(self._saved_jointly(name) for name in formula.saved)
        nodes = f"tuple({self._all('n')})" if self.rule.variadic else self._all("n")
        return nodes, "f0", saved, f"{JOINT}"

    def collects_metas(self) -> bool:
        formula = self.rule.formula_of(0)
        return formula is not None and "metas" in formula.saved

    def _saved_jointly(self, name: str) -> str:
        if name in self.rule.arrays:
            return f"tuple({name}_d)" if self.rule.variadic else f"{name}_d"
        if name.endswith("_meta") and name not in self.rule.statics:
            x = name.removesuffix("_meta")
            return f"({x}_n.meta if {x}_n is not None else described({x}_d, level))"
        return f"{name}_k" if self._may_be_array(name) else name


def guarding(op: Any) -> Any:
    """Return the binding for nodes of the operation that saved guarded arrays."""
    if op.guarding is None:
        op.guarding = op.changed(watch=UNNOTED, guards=not op.special)
    return op.guarding


def saved_part(view: Any) -> Any:
    """Return what an operation saves of a view: a copy if its base is being written to."""
    whole = view._view.source
    while whole._view is not None:
        whole = whole._view.source
    return view._backend.saved_part(view._value, whole._value) if whole._is_array else view._value


def record_in_place(bound: BoundOp, x: Any, value: Any, key: Any, level: int) -> Node:
    """Record `x[key] = value`, written into a buffer that nothing else refers to."""
    backend_meta = bound.backend.meta
    node = getattr(value, "_node", None)
    if node is not None and node.meta.level == level:
        data = value._value
    else:
        data, node = as_data(bound, value), None
    bound.backend.write(x._value, key, data)
    meta = backend_meta(x._value, level) if x._node is None else x._node.meta
    value_meta = None if node is None else node.meta
    words = {"key": kept_value(key, level), "value_meta": value_meta}
    formula = bound.rule.formulas[0]
    assert formula is not None
    saved = tuple(words[name] for name in formula.saved)
    return new_node([(x._node, node), formula.function, saved, JOINT], meta, bound)


def record(  # noqa: PLR0913  all there is to a call
    bound: BoundOp,
    level: int,
    data: Sequence[Any],
    nodes: Sequence[Node | Leaf | None],
    statics: tuple[Any, ...],
    out: Any,
) -> Any:
    """Return the results of an operation with the node that recorded it."""
    rule = bound.rule
    backend = bound.backend
    like = next(node.meta for node in nodes if node is not None)
    values = Values(bound, level, data, nodes, statics, out)
    edges: list[Any] = []
    if rule.is_joint:
        formula = rule.formulas[0]
        assert formula is not None
        saved = tuple(values[name] for name in formula.saved)
        edges += (tuple(nodes), formula.function, saved, JOINT)
    else:
        for index, node in enumerate(nodes):
            if node is None:
                continue
            one = rule.formula_of(index)
            if one is None:
                if rule.lacks(index):
                    raise no_rule(rule.name, backend.name, rule.arrays[index], rule.arrays)
                continue
            saved = tuple(values[name] for name in one.saved)
            edges += (node, one.function, saved, index)
    if not edges:
        return untracked(bound, out)
    variable_class = bound.variable_class
    if isinstance(out, SEQUENCE):
        return _several(bound, level, edges, out)
    meta = backend.meta(out, level, None if rule.casts else like)
    if rule.casts and not backend.dtype_kind(meta.dtype)[0]:
        return untracked(bound, out)
    if rule.real_steps and not meta.is_complex:
        return untracked(bound, out)
    return make_wrapper(variable_class, out, new_node(edges, meta, bound))


class Values:
    """The values of the words in a formula for one call; each is looked up only if used."""

    def __init__(  # noqa: PLR0913  all there is to a call
        self,
        bound: BoundOp,
        level: int,
        data: Sequence[Any],
        nodes: Sequence[Node | Leaf | None],
        statics: tuple[Any, ...],
        out: Any,
    ) -> None:
        self._bound = bound
        self._level = level
        self._data = data
        self._nodes = nodes
        self._statics = statics
        self._out = out

    def __getitem__(self, name: str) -> Any:
        rule = self._bound.rule
        if name == "out":
            return self._out
        if name == "metas":
            return tuple(self._meta(i) for i in range(len(self._data)))
        if name in rule.statics:
            return kept_value(self._statics[rule.statics.index(name)], self._level)
        if rule.variadic and name == rule.arrays[0]:
            return tuple(map(self._array, range(len(self._data))))
        if name in rule.arrays:
            return self._array(rule.arrays.index(name))
        return self._meta(rule.arrays.index(name.removesuffix("_meta")))

    def _array(self, index: int) -> Any:
        data = self._data[index]
        if self._nodes[index] is None:
            return kept_value(data, self._level)
        return kept_shared(kept_value, data, self._level) if shared else data

    def _meta(self, index: int) -> Any:
        node = self._nodes[index]
        if node is not None:
            return node.meta
        value = self._data[index]
        if not hasattr(value, "dtype"):
            return None  # a Python number
        return self._bound.backend.meta(value, self._level)


def _several(bound: BoundOp, level: int, edges: list[Any], out: Any) -> Any:
    """Record an operation of several outputs: one node for all, and a selecting node for each."""
    backend = bound.backend
    metas = OutputsMeta(backend.meta(part, level) for part in out)
    source = new_node(edges, metas, bound)
    wrapped: list[Any] = []
    for index, (part, meta) in enumerate(zip(out, metas, strict=True)):
        if backend.dtype_kind(meta.dtype)[0]:
            node = output_node(source, index, meta)
            wrapped.append(make_wrapper(bound.variable_class, part, node))
        else:
            wrapped.append(untracked(bound, part))
    return rebuilt(out, wrapped)


def record_watched(
    bound: BoundOp,
    data: Sequence[Any],
    nodes: Sequence[Node | Leaf | None],
    statics: tuple[Any, ...],
    out: Any,
) -> Any:
    """Record an operation that a written call performed but did not record."""
    level = next((node.meta.level for node in nodes if node is not None), UNTRACKED)
    if level <= silent_up_to():
        return untracked(bound, out)
    return record(bound, level, data, nodes, statics, out)


def new_node(edges: list[Any], meta: Any, bound: NodeOp) -> Node:
    """Make a node from the flat list of its edges."""
    watch = current_watch()
    if watch is not None:
        bound, edges = watch.observed(bound, edges)
    elif any(map(holds_guarded, edges[2::EDGE])):
        bound = guarding(bound)
    parent, formula, saved, index = edges[:EDGE]
    more = tuple(edges[EDGE:]) or None
    make: Callable[..., Node] = bound.backend.node or partial(make_node, Node)
    return make(parent, formula, saved, index, meta, bound, more)
