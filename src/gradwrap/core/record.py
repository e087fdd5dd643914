"""From a call to a node: the one place where operations are performed and recorded.

A `BoundOp` is an operation bound to a backend. Its `call` is compiled on first use for the usual
case (`gradwrap.core.compile`); everything else comes to `apply` here: wrappers of several
levels, sequences of arrays, several outputs, arrays that do not belong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of, find_backend
from gradwrap.core.kinds import SEQUENCE, rebuilt, type_of
from gradwrap.core.modes import current_watch, silent_up_to
from gradwrap.core.node import EDGE, JOINT, Leaf, Node
from gradwrap.core.scatter import OutputPart, is_basic_key
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

    from gradwrap.core.backend import Backend, NamespaceByType
    from gradwrap.core.meta import Meta
    from gradwrap.core.registry import Op
    from gradwrap.core.rule import Rule

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


class BoundOp:
    """An operation on the arrays of one backend: its native function, rule and compiled call."""

    __slots__ = (
        "backend",
        "call",
        "check",
        "consumes",
        "forward",
        "holomorphic",
        "materializes",
        "name",
        "namespaces",
        "native",
        "op",
        "parts",
        "quick",
        "rule",
        "special",
        "split",
        "variable_class",
    )

    split: Callable[..., Any]
    forward: Callable[..., Any]
    hooks: Any = None  # a node with hooks has a binding of its own, which holds them
    watch: Any = None  # a node that was watched has one too, and what is known of it
    selects: bool = False  # whether its nodes select one output of several

    def __init__(
        self,
        op: Op,
        rule: Rule,
        backend: Backend,
        native: Callable[..., Any],
        variable_class: Any,
    ) -> None:
        self.op: Op = op
        self.name: str = rule.name
        self.rule: Rule = rule
        self.backend: Backend = backend
        self.native: Callable[..., Any] = native
        self.namespaces: NamespaceByType = backend.namespaces
        self.holomorphic: bool = rule.holomorphic
        self.consumes: bool = rule.consumes
        self.materializes: bool = True  # zeros, not None, where no cotangent arrived
        self.check: bool = rule.checked
        self.parts: bool = rule.parts
        self.special: bool = rule.checked or rule.consumes or rule.is_joint
        self.variable_class: Any = variable_class
        self.split, self.forward = _argument_handlers(rule)
        self.call: Callable[..., Any] = self.apply
        self.quick: Callable[..., Any] | None = None  # a call that is worth taking inside a level

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        """Call with any mixture of arguments."""
        arrays, statics = self.split(*args, **kwargs)
        if self.check:
            statics = _native_statics(self, statics)
        result = apply(self, arrays, statics)
        return self.linked(result, arrays, statics) if self.rule.views else result

    def linked(self, result: Any, arrays: Sequence[Any], statics: tuple[Any, ...]) -> Any:
        """The result, which writing to its source is to change where it is a view of that."""
        kind = type_of(arrays[0])
        return (
            kind._linked(result, arrays[0], self, statics)
            if isinstance(arrays[0], Wrapper)
            else result
        )

    def copy_to(self, other: BoundOp) -> None:
        """Let another binding, of a single node, be the same but for what is changed in it."""
        for name in BoundOp.__slots__:
            if hasattr(self, name):  # what selects an output has no rule
                setattr(other, name, getattr(self, name))

    def __repr__(self) -> str:
        return f"<{self.name} on {self.backend.name}>"


def _argument_handlers(rule: Rule) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make the functions that take a call apart into (arrays, statics), and make it natively."""
    names = ", ".join(rule.parameters)
    arrays = "*" + rule.arrays[0] + "," if rule.variadic else "".join(f"{a}, " for a in rule.arrays)
    statics = "".join(f"{s}, " for s in rule.statics)
    split = eval(f"lambda {rule.signature_text}: (({arrays}), ({statics}))", rule.scope)  # noqa: S307  the table's
    split.__qualname__ = rule.name  # for Python's own messages about a call that does not fit
    call = ", ".join(_passed(rule, name) for name in rule.parameters)
    forward = eval(f"lambda native_, {names}: native_({call})")  # noqa: S307  the table's
    return split, forward


def _passed(rule: Rule, name: str) -> str:
    return f"{name}={name}" if name in rule.keyword_only else name


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
    wrapper = None
    for item in data:
        if isinstance(item, Wrapper):
            wrapper = type_of(item)
            break
    if wrapper is None and bound.rule.key is not None:
        wrapper = next((type_of(part) for part in batched_parts(statics)), None)
    function = bound.native
    if wrapper is not None:
        bound = wrapper._bind(bound.op)
        if bound.quick is None:
            return apply(bound, data, statics)
        function = bound.quick
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


class OutputsMeta(tuple[Any, ...]):
    """The descriptions of several outputs."""

    __slots__ = ()

    @property
    def is_complex(self) -> bool:
        return any(meta.is_complex for meta in self)

    @property
    def level(self) -> int:
        return int(self[0].level)


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
    return bound.backend.node(parent, formula, saved, index, meta, bound, more)  # type: ignore[no-any-return]  # a backend's own


def output_node(source: Node, index: int, meta: Meta) -> Node:
    """The node of one output of several."""
    return Node(source, select_output, (index,), 0, meta, SELECT)


def select_output(xp: Any, g: Any, index: int) -> OutputPart:  # noqa: ARG001  a formula's form
    """Hand the cotangent of one output to the node of all."""
    return OutputPart(index, g)


class _Select(BoundOp):
    """The binding of the nodes that select an output; nothing is ever called."""

    selects: bool = True

    def __init__(self) -> None:
        self.name = "output"
        self.holomorphic = False
        self.consumes = False
        self.check = False
        self.special = True
        self.parts = True
        self.namespaces: _NoNamespaces = _NoNamespaces()  # type: ignore[assignment]  # never calls a function


class _NoNamespaces(dict[type, None]):
    def __missing__(self, kind: type) -> None:
        return None


SELECT = _Select()
