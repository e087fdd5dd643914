"""From a call to a node: reverse mode's usual call, and the general call of every level.

`Tape` writes the call of the usual case (see `gradwrap.core.call`). Everything else comes to
`apply`: wrappers of several levels, nested lists, indices that `vmap` maps over, arrays of another
library. It finds the level that the call belongs to and hands it over to that level.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of, find_backend
from gradwrap.core.bound import BoundOp
from gradwrap.core.call import Call, indented, tuple_of
from gradwrap.core.dynamic import SEQUENCE, rebuilt, type_of
from gradwrap.core.levels import current_watch, silent_up_to
from gradwrap.core.node import EDGE, JOINT, Leaf, Node, OutputsMeta, output_node
from gradwrap.core.rule import passes
from gradwrap.core.scatter import is_basic_key
from gradwrap.core.wrapper import (
    UNTRACKED,
    Wrapper,
    batched_parts,
    holds_wrapper,
    is_recorded,
    key_with_batches,
    snapshot,
    stripped,
    unwrapped_key,
)
from gradwrap.errors import MixedLibrariesError, NoRuleError, NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.space import Meta

__all__ = [
    "BoundOp",
    "Values",
    "apply",
    "around",
    "interpret",
    "namespace_of",
    "new_node",
    "no_rule",
    "perform",
    "record",
    "record_in_place",
    "record_watched",
    "refuse_without_formula",
    "untracked",
]


def apply_call(bound: BoundOp, *args: Any, **kwargs: Any) -> Any:
    """Call an operation with any mixture of arguments."""
    arrays, statics = bound.split(*args, **kwargs)
    if bound.check:
        statics = _native_statics(bound, statics)
    return _apply_linked(bound, arrays, statics)


def _apply_linked(bound: BoundOp, arrays: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """The general call; a result that is a view remembers what it is a view of."""
    result = apply(bound, arrays, statics)
    return bound.linked(result, arrays, statics) if bound.rule.views else result


def bind_calls(bound: BoundOp, level: type[Call]) -> None:
    """Give a binding its call, as a level writes it, and its general form."""
    bound.apply = functools.partial(apply_call, bound)
    bound.apply.__name__ = bound.name.rpartition(".")[2]  # type: ignore[attr-defined]  # a partial takes attributes
    bound.apply.__wrapped__ = bound.split  # type: ignore[attr-defined]  # for its signature
    bound.call = level(bound, _apply_linked).function() or bound.apply


def operator_call(bound: BoundOp, level: type[Call], *, swapped: bool) -> Callable[..., Any]:
    """The method of an operator: a type it does not know gets its own turn."""
    rule = bound.rule
    is_foreign = bound.variable_class._is_foreign

    def apply_or_decline(bound: BoundOp, arrays: tuple[Any, ...], statics: tuple[Any, ...]) -> Any:
        if any(is_foreign(array) for array in arrays):
            return NotImplemented
        return _apply_linked(bound, arrays, statics)

    names = rule.arrays[::-1] if swapped else (*rule.arrays, *rule.statics)
    written = level(bound, apply_or_decline).function(", ".join(names))
    if written is not None:
        return written
    count = len(rule.arrays)

    def operate(*operands: Any) -> Any:
        arrays = operands[:count]
        return apply_or_decline(bound, arrays[::-1] if swapped else arrays, operands[count:])

    return operate


def _native_statics(bound: BoundOp, statics: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a user's function is given for its parameters without a formula."""
    rule = bound.rule
    for name, value in zip(rule.statics, statics, strict=True):
        if is_recorded(value):
            raise no_rule(rule.name, bound.backend.name, name, rule.parameters)
    return tuple(unwrapped_key(value) for value in statics)


def no_rule(op: str, backend: str, argument: str, parameters: Sequence[str]) -> NoRuleError:
    """The error for an operation that has no rule for a tracked argument."""
    formulas = ", ".join(
        f"lambda xp, g, {name}: ..." if name == argument else "None" for name in parameters
    )
    return NoRuleError(
        f"{op} on {backend} arrays has no derivative with respect to its argument {argument}, "
        f"which is tracked. Fix: gradwrap.defvjp({op}, {formulas}) gives it one, "
        "or .detach() the argument if its gradient is not wanted."
    )


def apply(bound: BoundOp, arrays: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Perform an operation on any mixture of wrapped and native arrays.

    It belongs to the highest level among the arguments; those of lower levels are data to it.
    """
    rule = bound.rule
    keys: list[Any] = []
    if rule.key is not None:
        at = rule.statics.index(rule.key)
        statics = (*statics[:at], key_with_batches(statics[at]), *statics[at + 1 :])
        keys = [] if is_basic_key(statics[at]) else list(batched_parts(statics[at]))
    arrays = [
        bound.variable_class._stacked(array)
        if isinstance(array, SEQUENCE) and holds_wrapper(array)
        else array
        for array in arrays
    ]
    top, level = _top_of([*arrays, *keys])
    if top is not None:
        arrays = [stripped(array) for array in arrays]
        top, level = _top_of([*arrays, *keys])
    if top is not None and top._kind is not bound.variable_class._kind:
        bound = top._bind(bound.op)
    data: list[Any] = []
    nodes: list[Any] = []
    for array in arrays:
        node = getattr(array, "_node", None)
        if node is not None and node.meta.level == level:
            data.append(array._data)
            nodes.append(node)
        else:
            data.append(_as_data(bound, array))
            nodes.append(None)
    _check_one_library(bound, data)
    return bound.variable_class._interpret(bound, level, data, nodes, statics)


def interpret(  # noqa: PLR0913  all there is to a call
    bound: BoundOp,
    level: int,
    data: Sequence[Any],
    nodes: Sequence[Any],
    statics: tuple[Any, ...],
    derive: Callable[..., Any] | None = None,
) -> Any:
    """Perform an operation; where an argument is tracked, record it, or do what `derive` does."""
    is_silent = level <= silent_up_to()
    if bound.check and not is_silent:
        refuse_without_formula(bound, nodes)
    out = perform(bound, data, statics)
    bound = around(bound, out)
    if is_silent or not bound.rule.differentiable:
        return untracked(bound, out)
    return (derive or record)(bound, level, data, nodes, statics, out)


def perform(bound: BoundOp, data: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """An operation on native arrays, or on wrappers of lower levels, which record it."""
    wrapper = next((item for item in data if isinstance(item, Wrapper)), None)
    if wrapper is None and bound.rule.key is not None:
        wrapper = next(batched_parts(statics), None)
    function = bound.native if wrapper is None else type_of(wrapper)._bind(bound.op).call
    arguments = (data, *statics) if bound.rule.variadic else (*data, *statics)
    return bound.forward(function, *arguments)


def around(bound: BoundOp, out: Any) -> BoundOp:
    """The same operation on arrays of the class of a result: what is to wrap it."""
    first = out[0] if isinstance(out, SEQUENCE) and out else out
    if not isinstance(first, Wrapper):
        return bound
    return bound.variable_class._around(type(first))._bind(bound.op)  # type: ignore[no-any-return]  # a class is Any here


def namespace_of(bound: BoundOp, arrays: Sequence[Any]) -> Any:
    """The namespace that takes all of the arrays: that of the deepest wrapper among them."""
    deepest: Any = None
    for array in arrays:
        kind = type_of(array)
        if isinstance(array, Wrapper) and (
            deepest is None or kind._backend.depth > deepest._backend.depth
        ):
            deepest = kind
    if deepest is not None:
        return deepest._namespace
    return bound.namespaces[next(iter(bound.backend.native_types))]


def refuse_without_formula(bound: BoundOp, nodes: Sequence[Node | Leaf | None]) -> None:
    """A user's function is not even called where its result could not be recorded."""
    rule = bound.rule
    for index, node in enumerate(nodes):
        if node is not None and rule.lacks(0 if rule.variadic else index):
            raise no_rule(rule.name, bound.backend.name, rule.arrays[index], rule.arrays)


def record_in_place(bound: BoundOp, x: Any, value: Any, key: Any, level: int) -> Node:
    """Record `x[key] = value`, written into the buffer itself, which nothing else refers to."""
    backend_meta = bound.backend.meta
    node = getattr(value, "_node", None)
    if node is not None and node.meta.level == level:
        data = value._data
    else:
        data, node = _as_data(bound, value), None
    bound.backend.write(x._data, key, data)
    meta = backend_meta(x._data, level) if x._node is None else x._node.meta
    words = {"key": key, "value_meta": None}
    if node is not None:
        words["value_meta"] = node.meta
    elif hasattr(data, "dtype"):
        words["value_meta"] = backend_meta(data, level)
    formula = bound.rule.formulas[0]
    assert formula is not None
    saved = tuple(words[name] for name in formula.saved)
    return new_node([(x._node, node), formula.function, saved, JOINT], meta, bound)


def _top_of(arrays: Sequence[Any]) -> tuple[Any, int]:
    """The class and the level of the tracked argument of the highest level."""
    top, level = None, UNTRACKED
    for array in arrays:
        node = getattr(array, "_node", None)
        if node is not None and node.meta.level > level:
            top, level = type_of(array), node.meta.level
    return top, level


def _as_data(bound: BoundOp, array: Any) -> Any:
    """The data that an argument stands for at a level that does not track it."""
    kind = type_of(array)
    if isinstance(array, Wrapper):
        return snapshot(stripped(array))
    if kind in bound.backend.plain_types or bound.backend.is_array(array):
        return array
    if isinstance(array, SEQUENCE) and not bound.check:
        return bound.backend.asarray(array)
    if hasattr(kind, "__array_namespace__"):
        backend_of(array)  # so that its library is known
        return array
    if find_backend(kind) is not None or bound.check:  # a user's function takes what it likes
        return array
    raise NotAnArrayError(
        f"{bound.name} got a {kind.__name__} among {bound.backend.name} arrays. "
        f"Fix: pass {bound.backend.name} arrays or Python numbers."
    )


def _check_one_library(bound: BoundOp, data: Sequence[Any]) -> None:
    if len(data) == 1 or {type(item) for item in data} <= bound.backend.plain_types:
        return
    names: set[str] = set()
    for item in data:
        backend = find_backend(type_of(item))
        if backend is not None and getattr(item, "ndim", 0) is not None:
            names.add(backend.name)
    if len(names) > 1:
        raise MixedLibrariesError(
            f"{bound.name} got arrays of {' and '.join(sorted(names))}. "
            "Fix: convert them to one library before the call, "
            "for example with xp.asarray(numpy_array)."
        )


def untracked(bound: BoundOp, out: Any) -> Any:
    """Wrap results that are not tracked."""
    if isinstance(out, SEQUENCE):
        wrapped = [untracked(bound, part) for part in out]
        return rebuilt(out, wrapped)
    return bound.variable_class._plain(out)


def record(  # noqa: PLR0913  all there is to a call
    bound: BoundOp,
    level: int,
    data: Sequence[Any],
    nodes: Sequence[Node | Leaf | None],
    statics: tuple[Any, ...],
    out: Any,
) -> Any:
    """The results of an operation, with the node that recorded it."""
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
    return variable_class(out, new_node(edges, meta, bound))


class Values:
    """What the words of a formula stand for in one call; each is looked up only if it is used."""

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
            return self._statics[rule.statics.index(name)]
        if rule.variadic and name == rule.arrays[0]:
            return tuple(self._data)
        if name in rule.arrays:
            return self._data[rule.arrays.index(name)]
        return self._meta(rule.arrays.index(name.removesuffix("_meta")))

    def _meta(self, index: int) -> Meta | None:
        node = self._nodes[index]
        if node is not None:
            return node.meta
        value = self._data[index]
        if not hasattr(value, "dtype"):
            return None  # a Python number
        return self._bound.backend.meta(value, self._level)


def _several(bound: BoundOp, level: int, edges: list[Any], out: Any) -> Any:
    """Record an operation of several outputs: one node, and one that selects for each output."""
    backend = bound.backend
    metas = OutputsMeta(backend.meta(part, level) for part in out)
    source = new_node(edges, metas, bound)
    wrapped: list[Any] = []
    for index, (part, meta) in enumerate(zip(out, metas, strict=True)):
        if backend.dtype_kind(meta.dtype)[0]:
            wrapped.append(bound.variable_class(part, output_node(source, index, meta)))
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
    """Record what a compiled call has performed and left to be looked at."""
    level = next(node.meta.level for node in nodes if node is not None)
    if level <= silent_up_to():
        return untracked(bound, out)
    return record(bound, level, data, nodes, statics, out)


def new_node(edges: list[Any], meta: Any, bound: BoundOp) -> Node:
    """A node of edges that lie one after the other."""
    watch = current_watch()
    if watch is not None:
        bound, edges = watch.observed(bound, edges)
    parent, formula, saved, index = edges[:EDGE]
    more = tuple(edges[EDGE:]) or None
    return (bound.backend.node or Node)(parent, formula, saved, index, meta, bound, more)  # type: ignore[no-any-return]  # a backend's own


# The usual call ----------------------------------------------------------------------------------


class Tape(Call):
    """Reverse mode: a node with an edge to each tracked argument."""

    def usual(self) -> bool:
        rule = self.rule
        return not rule.checked if rule.is_joint else rule.outputs == 1

    def scope(self) -> dict[str, Any]:
        bound = self.bound
        return super().scope() | {
            "Node": bound.backend.node or Node,
            "watched": record_watched,
            "is_float": lambda meta: bound.backend.dtype_kind(meta.dtype)[0],
            "several": _several,
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

    def _unless_silent(self, level: str) -> list[str]:
        """The exit for what is not recorded, or not by this call because it is watched."""
        data, nodes = (self._all(part) for part in ("d", "n"))
        watched = f"watched(bound, {data}, {nodes}, {self.statics}, out)"
        return [
            f"if {level} <= silent():",
            f"    if type(silent()) is int: {self.result('plain(out)')}",
            f"    {self.result(watched)}",
        ]

    def _all(self, part: str) -> str:
        """The data (`d`) or the nodes (`n`) of all arguments."""
        names = [f"{a}_{part}" for a in self.rule.arrays]
        return names[0] if self.rule.variadic else tuple_of(names)

    def _edge(self, index: int) -> str:
        formula = self.rule.formula_of(index)
        assert formula is not None
        own = self.rule.arrays[index]
        if len(formula.saved) == 1 and (formula.saved[0] in (*self.rule.arrays, "out")):
            return f"{own}_n, f{index}, {self._saved(formula.saved[0], own)}, {index}"
        saved = tuple_of(self._saved(name, own) for name in formula.saved)
        return f"{own}_n, f{index}, {saved}, {index}"

    def _saved(self, name: str, own: str) -> str:
        if name in self.rule.arrays:
            return f"{name}_d"
        if name.endswith("_meta") and name not in self.rule.statics:
            x = name.removesuffix("_meta")
            if x == own:
                return f"{x}_n.meta"
            return f"({x}_n.meta if {x}_n is not None else meta_of({x}_d, {own}_n.meta.level))"
        return name

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
        return [*lines, self.result(f"V(out, Node({self._edge(index)}, meta, bound))")]

    def _record_two(self, first: int, second: int) -> list[str]:
        rule = self.rule
        a, b = rule.arrays[first], rule.arrays[second]
        meta = f"meta_of(out, {a}_n.meta.level, {a}_n.meta)"
        if rule.same and len(rule.arrays) == 2:
            meta = f"{a}_n.meta if {a}_n.meta is {b}_n.meta else {meta}"
        edges = f"{self._edge(first)}, meta, bound, ({self._edge(second)})"
        return [
            f"if {a}_n is None:",
            *indented(self._guarded(second, a)),
            f"if {b}_n is None:",
            *indented(self._guarded(first, b)),
            f"if {a}_n.meta.level != {b}_n.meta.level: {self.elsewhere}",
            *self._unless_silent(f"{a}_n.meta.level"),
            f"meta = {meta}",
            f"return V(out, Node({edges}))",
        ]

    def _guarded(self, index: int, scalar: str) -> list[str]:
        """Record one of two arguments, where the other is not tracked."""
        rule = self.rule
        x = rule.arrays[index]
        meta = f"meta_of(out, {x}_n.meta.level, {x}_n.meta)"
        lines = [f"if {x}_n is None: return plain(out)", *self._unless_silent(f"{x}_n.meta.level")]
        if rule.same and len(rule.arrays) == 2:
            formula = rule.formula_of(index)
            lines += [f"if type({scalar}) in (float, int):"]
            if formula is not None and formula.function is passes:
                lines += [f"    if {x}_n.meta.level: return V(out, {x}_n)"]
            lines += [f"    meta = {x}_n.meta", "else:", f"    meta = {meta}"]
        else:
            lines += [f"meta = {meta}"]
        return [*lines, f"return V(out, Node({self._edge(index)}, meta, bound))"]

    def _record_many(self, active: list[int]) -> list[str]:
        lines = [*self.level_of(active), *self._unless_silent("level"), "edges = ()"]
        for index in active:
            x = self.rule.arrays[index]
            lines += [f"if {x}_n is not None: edges += ({self._edge(index)})"]
        meta = "meta_of(out, level, like)"
        return [*lines, f"return V(out, Node(*edges[:4], {meta}, bound, edges[4:]))"]

    def _record_joint(self) -> list[str]:
        """Record a function whose one formula gives the cotangents of all arguments."""
        rule = self.rule
        formula = rule.formula_of(0)
        assert formula is not None
        lines = [] if rule.variadic else self.level_of(range(len(rule.arrays)))
        lines += [f"if level == -2: {self.result('plain(out)')}", *self._unless_silent("level")]
        if "metas" in formula.saved:
            x = rule.arrays[0]
            of_data = "meta_of(data, level, like)"
            pairs = f"for node, data in zip({x}_n, {x}_d)"
            lines += [f"metas = tuple([{of_data} if node is None else node.meta {pairs}])"]
        saved = tuple_of(self._saved_jointly(name) for name in formula.saved)
        nodes = f"tuple({self._all('n')})" if rule.variadic else self._all("n")
        edge = f"{nodes}, f0, {saved}, -1"
        if rule.outputs > 1:
            return [*lines, f"return several(bound, level, [{edge}], out)"]
        return [*lines, self.result(f"V(out, Node({edge}, meta_of(out, level, like), bound))")]

    def _saved_jointly(self, name: str) -> str:
        if name in self.rule.arrays:
            return f"tuple({name}_d)" if self.rule.variadic else f"{name}_d"
        if name.endswith("_meta") and name not in self.rule.statics:
            x = name.removesuffix("_meta")
            return f"({x}_n.meta if {x}_n is not None else described({x}_d, level))"
        return name
