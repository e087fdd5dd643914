"""Forward mode: arrays with tangents, and how operations push tangents forward.

A `Dual` is a wrapper that holds a tangent where a variable holds its node of the graph. An
operation is performed on its data, and the derivative, which follows from the same row of the
table, is applied to the tangents at once. Nothing is recorded.

The kind of the row writes the term of each argument (`gradwrap.core.table.kinds`). Where it has
none, the tangent is the transpose of the transpose: the VJP is linear in the cotangent, and its own
VJP with respect to that is the JVP.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gradwrap.core.array.display import shown
from gradwrap.core.array.variable import Variable
from gradwrap.core.calls.call import WORDS, Call, deepest, indented, tuple_of
from gradwrap.core.calls.general import interpret, no_rule, untracked
from gradwrap.core.calls.record import record
from gradwrap.core.calls.source import execute
from gradwrap.core.graph.linear import push
from gradwrap.core.graph.node import Leaf
from gradwrap.core.levels.levels import new_level
from gradwrap.core.levels.wrapper import make_wrapper, native
from gradwrap.core.table.kinds import weighted
from gradwrap.core.table.rule import Formula
from gradwrap.core.values.comparing import zeros_like
from gradwrap.core.values.dynamic import SEQUENCE, rebuilt
from gradwrap.core.values.space import Tangent, fit_tangent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.calls.bound import BoundOp
    from gradwrap.core.table.rule import Rule
    from gradwrap.core.values.space import Meta

A = TypeVar("A")


class _NotingTangent(Tangent):
    """The tangent of one output of several; reading it notes that the output is used."""

    __slots__ = ("_note", "_tangent")

    def __init__(self, tangent: Tangent, note: Callable[[], None]) -> None:
        self.meta: Meta = tangent.meta
        self._tangent = tangent
        self._note = note

    @property
    def value(self) -> Any:  # it has none of its own
        self._note()
        return self._tangent.value


def _note_use(on_use: Callable[..., None], out: Any, used: set[int], index: int) -> None:
    if index not in used:
        used.add(index)
        on_use(out, used)


# The usual call -----------------------------------------------------------------------------------


class Forward(Call):
    """Write the call in forward mode: the sum of the tracked arguments' terms."""

    def __init__(self, bound: BoundOp, other: Callable[..., Any]) -> None:
        super().__init__(bound, other)
        kind = self.rule.kind
        self.terms: list[str | None] = [
            kind.push(self.rule, index) for index in range(len(self.rule.arrays))
        ]
        self.active: list[int] = [index for index, term in enumerate(self.terms) if term != ""]

    def usual(self) -> bool:
        return not self.rule.checked and None not in self.terms

    def scope(self) -> dict[str, Any]:
        bound = self.bound
        own = {
            f"j{index}": formula.function
            for index, formula in enumerate(self.rule.jvps)
            if formula is not None
        }
        return (
            super().scope()
            | own
            | {
                "Tangent": Tangent,
                "added": _added,
                "any_complex": partial(_any_complex, bound),
                "calls": _Calls(bound),
                "deepest": deepest,
                "dual": dual,
                "no_tangent": zeros_like,
                "spaces": bound.namespaces,
                "weighted": weighted,
            }
        )

    def before(self) -> list[str]:
        if not self.active:
            return []
        untracked = indented([*self.perform(), self.result("plain(out)")])
        if self.rule.variadic:
            lines = ["if level == -2:", *untracked]
        elif len(self.active) == 1:
            x = self.rule.arrays[self.active[0]]
            lines = [f"if {x}_n is None:", *untracked, f"like = {x}_n.meta; level = like.level"]
        else:
            lines = [*self.level_of(self.active), "if level == -2:", *untracked]
        lines += [f"if level <= silent(): {self.elsewhere}"]
        if self.rule.kind.real_only(self.rule):
            data = tuple_of(f"{a}_d" for a in self.rule.arrays)
            lines += [f"if any_complex({data}): {self.elsewhere}"]
        return lines

    def ending(self) -> list[str]:
        if not self.active:
            return [self.result("plain(out)")]
        lines: list[str] = []
        if self.rule.real_steps:
            lines += [f"if not any_complex((out, )): {self.result('plain(out)')}"]
        lines += self.tangent()
        if self.rule.same and len(self.rule.arrays) == 1 and self.rule.outputs == 1:
            lines += [
                "if pushed.dtype is like.dtype and pushed.shape == out.shape:",
                f"    {self.result('make_wrapper(V, out, Tangent(like, pushed))')}",
            ]
        like = "None" if self.rule.casts else "like"
        return [*lines, self.result(f"dual(bound, out, level, {like}, pushed)")]

    def tangent(self) -> list[str]:
        """Return lines that compute the tangent of the output."""
        rule = self.rule
        lines: list[str] = []
        if rule.variadic:
            x = rule.arrays[0]
            value = "no_tangent(data) if node is None else node.value"
            lines += [f"{x}_t = [{value} for node, data in zip({x}_n, {x}_d)]"]
            return [*lines, f"pushed = {self.terms[0]}"]
        for x in rule.arrays:
            if any(f"{x}_meta" in formula.saved for formula in self._formulas()):
                lines += [
                    f"{x}_meta = {x}_n.meta if {x}_n is not None else described({x}_d, level)"
                ]
        if len(self.active) == 1:
            x = rule.arrays[self.active[0]]
            return [*lines, f"{x}_t = {x}_n.value", f"pushed = {self.terms[self.active[0]]}"]
        add = "pushed + more" if rule.outputs == 1 and not rule.checked else "added(pushed, more)"
        lines += ["pushed = None"]
        for index in self.active:
            x = rule.arrays[index]
            lines += [f"if {x}_n is not None:", f"    {x}_t = {x}_n.value"]
            if index == self.active[0]:
                lines += [f"    pushed = {self.terms[index]}"]
            else:
                lines += [
                    f"    more = {self.terms[index]}",
                    f"    pushed = more if pushed is None else {add}",
                ]
        return lines

    def _formulas(self) -> list[Formula]:
        chosen = self.rule.jvps or self.rule.formulas
        return [formula for formula in chosen if formula is not None]


class _Calls(dict[type, Any]):
    """Map the type of a tangent, which may be a wrapper, to the operation's call for it."""

    def __init__(self, bound: BoundOp) -> None:
        super().__init__()
        self._bound = bound

    def __missing__(self, kind: Any) -> Any:
        bound = self._bound
        bind = getattr(kind, "_bind", None)
        found: Any = bound.native if bind is None else bind(bound.op).call
        self[kind] = found
        return found


def dual(bound: BoundOp, out: Any, level: int, like: Meta | None, t: Any) -> Any:
    """Attach tangents to the results of an operation, brought to their shapes and dtypes."""
    if isinstance(out, SEQUENCE):
        tangents = [None] * len(out) if t is None else t
        parts = [
            dual(bound, part, level, like, one) for part, one in zip(out, tangents, strict=True)
        ]
        if bound.rule.on_use is not None:
            used: set[int] = set()
            for index, part in enumerate(parts):
                note = partial(_note_use, bound.rule.on_use, out, used, index)
                part._node = _NotingTangent(part._node, note)
        return rebuilt(out, parts)
    backend = bound.backend
    if t is None or not hasattr(out, "dtype") or not backend.dtype_kind(out.dtype)[0]:
        return untracked(bound, out)
    if t.shape != out.shape or t.dtype != out.dtype:
        t = fit_tangent(bound.namespaces[type(t)], t, out)
    return make_wrapper(bound.variable_class, out, Tangent(backend.meta(out, level, like), t))


# Everything else ----------------------------------------------------------------------------------


def push_forward(  # noqa: PLR0913  all there is to a call
    bound: BoundOp,
    level: int,
    data: Sequence[Any],
    nodes: Sequence[Any],
    statics: tuple[Any, ...],
    out: Any,
) -> Any:
    """Return the results with their tangents; `data` and `out` are of lower levels."""
    rule = bound.rule
    outs = tuple(out) if isinstance(out, SEQUENCE) else (out,)
    if rule.real_steps and not _any_complex(bound, outs):
        return untracked(bound, out)
    for index, node in enumerate(nodes):
        if node is not None and not rule.variadic and rule.lacks(index):
            raise no_rule(rule.name, bound.backend.name, rule.arrays[index], rule.arrays)
    terms = [
        rule.kind.push(rule, 0 if rule.variadic else index)
        for index, node in enumerate(nodes)
        if node is not None
    ]
    if not any(term != "" for term in terms):
        return untracked(bound, out)  # the tracked arguments have a derivative of zero
    if None in terms or (rule.kind.real_only(rule) and _any_complex(bound, data)):
        t = _transposed_twice(bound, data, nodes, statics, out)
    else:
        t = _pusher(bound)(data, nodes, statics, out, level)
    return dual(bound, out, level, None, t)


def _pusher(bound: BoundOp) -> Callable[..., Any]:
    """Return the function that sums the terms of any tangents; write it at the first use."""
    known: Callable[..., Any] | None = getattr(bound, "push", None)
    if known is not None:
        return known
    free = copy.copy(bound)
    free.rule = rule = _with_free_names(bound.rule)
    writer = bound.variable_class._level(free, native)
    writer.terms = [term or "" for term in writer.terms]
    writer.active = [index for index, term in enumerate(writer.terms) if term]
    names = [[f"{a}_{part}" for a in rule.arrays] for part in "dn"]
    targets = [one[0] if rule.variadic else tuple_of(one) for one in names]
    lines = [f"{', '.join([*targets, tuple_of(rule.statics)])} = data, nodes, statics"]
    lines += [*writer.tangent(), "return pushed"] if writer.active else ["return None"]
    scope = writer.scope()
    text = "\n".join(["def push(data, nodes, statics, out, level):", *indented(lines)])
    execute(text, scope, f"tangent of {rule.name} of {bound.backend.name}")
    bound.push = scope["push"]  # type: ignore[attr-defined]  # kept with the binding
    return scope["push"]  # type: ignore[no-any-return]  # of the scope


def _with_free_names(rule: Rule) -> Rule:
    """Rename the row's parameters that clash with words of the written text."""
    if WORDS.isdisjoint(rule.parameters):
        return rule

    def free(name: str) -> str:
        base, meta, _ = name.partition("_meta")
        return f"{base}_{meta}" if base in rule.parameters and base in WORDS else name

    def renamed(formulas: Sequence[Formula | None]) -> tuple[Formula | None, ...]:
        return tuple(
            None if f is None else Formula(f.function, tuple(free(name) for name in f.saved))
            for f in formulas
        )

    made = copy.copy(rule)
    made.parameters, made.arrays, made.statics = (
        tuple(free(name) for name in names)
        for names in (rule.parameters, rule.arrays, rule.statics)
    )
    made.keyword_only = frozenset(free(name) for name in rule.keyword_only)
    made.formulas, made.jvps = renamed(rule.formulas), renamed(rule.jvps)
    return made


def _added(first: Any, second: Any) -> Any:
    """Add two tangents, or the tangents of several outputs."""
    if isinstance(first, SEQUENCE):
        return [a + b for a, b in zip(first, second, strict=True)]
    return first + second


def _transposed_twice(
    bound: BoundOp, data: Sequence[Any], nodes: Sequence[Any], statics: tuple[Any, ...], out: Any
) -> Any:
    """Compute the tangent of a result by transposing the vector-Jacobian product."""
    tangents = [None if node is None else node.value for node in nodes]
    reverse = bound.variable_class._sibling(Variable)._bind(bound.op)
    level = new_level()
    leaves = [
        None if t is None else Leaf(bound.backend.meta(item, level))
        for item, t in zip(data, tangents, strict=True)
    ]
    recorded = record(reverse, level, data, leaves, statics, out)
    several = isinstance(out, SEQUENCE)
    pushed = push(leaves, recorded if several else [recorded], tangents)
    return pushed if several else pushed[0]


def _any_complex(bound: BoundOp, arrays: Sequence[Any]) -> bool:
    return any(
        bound.backend.dtype_kind(array.dtype)[1] for array in arrays if hasattr(array, "dtype")
    )


# The wrapper --------------------------------------------------------------------------------------


class Dual(Variable[A]):
    """An array with its tangent: the argument of a function under `jvp`.

    It has everything that a `Variable` has, but nothing is recorded: its tangent is stored where a
    variable has its node.
    """

    __slots__ = ()

    _writes_in_place = False
    _level = Forward

    @classmethod
    def _interpret(
        cls, bound: BoundOp, level: int, data: Any, nodes: Any, statics: tuple[Any, ...]
    ) -> Any:
        return interpret(bound, level, data, nodes, statics, push_forward)

    def __repr__(self) -> str:
        if self._node is None:
            return f"Dual({shown(self)})"
        return f"Dual({shown(self)}, tangent={shown(self._node.value)})"


AnyDual: Final[type[Any]] = Dual
"""`Dual` to the rest of the library, as `AnyWrapper` is `Wrapper`."""
