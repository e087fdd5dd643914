"""Compile an operation's call for the usual case.

The usual case: every array argument is a variable of one class and one level, a native array or
a Python number. For it, a function is written out once per operation and backend, as
`dataclasses` and `namedtuple` do: arguments are unpacked into locals, what the formulas save is
a tuple of those locals, and nothing is looked up by name. All else goes to `record.apply`.

For `multiply`, it reads:

    def multiply(x1, x2, /):
        if type(x1) is V:
            x1_n = x1._node; x1_d = x1._data
        elif type(x1) in PLAIN:
            x1_n = None; x1_d = x1
        else:
            return other(bound, (x1, x2, ), ())
        ... the same for x2 ...
        out = x1_d * x2_d
        if x1_n is None:
            if x2_n is None: return plain(out)
            if x2_n.meta.level <= silent():
                if type(silent()) is int: return plain(out)
                return watched(bound, (x1_d, x2_d, ), (x1_n, x2_n, ), (), out)
            if type(x1) in (float, int):
                meta = x2_n.meta
            else:
                meta = meta_of(out, x2_n.meta.level, x2_n.meta)
            return V(out, Node(x2_n, f1, (x1_d,), 1, meta, bound))
        ...
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.modes import compiled_threshold
from gradwrap.core.record import apply, record_watched
from gradwrap.core.rule import passes
from gradwrap.core.wrapper import Wrapper, stripped, unwrapped_key
from gradwrap.errors import BatchedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.record import BoundOp
    from gradwrap.core.rule import Rule

__all__ = ["compile_call", "compile_operator"]


def can_compile(rule: Rule) -> bool:
    return not rule.variadic and not rule.is_joint and rule.outputs == 1


def compile_call(bound: BoundOp) -> Callable[..., Any]:
    """The function that stands for the operation in a namespace."""
    if not can_compile(bound.rule):
        call: Any = functools.partial(bound.apply)
        call.__name__ = bound.name.rpartition(".")[2]
        call.__wrapped__ = bound.split  # for its signature
        return call  # type: ignore[no-any-return]  # a partial, which takes attributes
    return _compile(bound, bound.rule.signature_text, apply)


def compile_operator(bound: BoundOp, *, swapped: bool = False) -> Callable[..., Any]:
    """The method of an operator: a type it does not know gets its own turn."""
    rule = bound.rule
    names = rule.arrays[::-1] if swapped else (*rule.arrays, *rule.statics)

    def apply_or_decline(bound: BoundOp, arrays: tuple[Any, ...], statics: tuple[Any, ...]) -> Any:
        if any(bound.variable_class._is_foreign(a) for a in arrays):
            return NotImplemented
        return apply(bound, arrays, statics)

    return _compile(bound, ", ".join(names), apply_or_decline)


def _compile(bound: BoundOp, signature: str, other: Callable[..., Any]) -> Callable[..., Any]:
    rule = bound.rule
    scope: dict[str, Callable[[Any], Any] | Any] = {
        **rule.scope,
        "V": bound.variable_class,
        "PLAIN": bound.backend.plain_types,
        "Node": bound.backend.node,
        "bound": bound,
        "other": other,
        "silent": compiled_threshold,
        "watched": record_watched,
        "meta_of": bound.backend.meta,
        "native": bound.native,
        "is_tracked": lambda data: isinstance(stripped(data), Wrapper),
        "unwrapped_key": unwrapped_key,
        "BatchedValueError": BatchedValueError,
        "plain": bound.variable_class._plain,
        "is_float": lambda meta: bound.backend.dtype_kind(meta.dtype)[0],
        "link": bound.variable_class._linked,
    }
    for index in range(len(rule.arrays)):
        formula = rule.formula_of(index)
        if formula is not None:
            scope[f"f{index}"] = formula.function
    name = rule.name.replace(".", "_")
    lines = [f"def {name}({signature}):", *_indent(_body(bound))]
    exec("\n".join(lines), scope)  # noqa: S102  written above, from the table alone
    function = scope[name]
    function.__module__ = "gradwrap"
    function.__doc__ = getattr(bound.native, "__doc__", None)
    return function


def _indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _body(bound: BoundOp) -> list[str]:
    rule = bound.rule
    arrays, statics = (
        "".join(f"{a}, " for a in rule.arrays),
        "".join(f"{s}, " for s in rule.statics),
    )
    elsewhere = f"return other(bound, ({arrays}), ({statics}))"
    lines: list[str] = []
    for index, array in enumerate(rule.arrays):
        lines += [f"if type({array}) is V:"]
        lines += [f"    {array}_n = {array}._node; {array}_d = {array}._data"]
        if rule.lacks(index):
            lines += [f"    if {array}_n is not None: {elsewhere}"]
        if bound.backend.depth:  # it may hold what belongs to a higher level than the others
            lines += [f"    if {array}_n is None and is_tracked({array}_d): {elsewhere}"]
        lines += [f"elif type({array}) in PLAIN:"]
        lines += [f"    {array}_n = None; {array}_d = {array}"]
        lines += ["else:", f"    {elsewhere}"]
    if rule.key is not None:
        lines += [
            f"if type({rule.key}) is not int:",
            f"    try: {rule.key} = unwrapped_key({rule.key})",
            f"    except BatchedValueError: {elsewhere}",
        ]
    lines += [f"out = {_native_call(bound)}"]
    active = [i for i in range(len(rule.arrays)) if rule.formula_of(i) is not None]
    if not active:
        lines += [_result(rule, "plain(out)")]
    elif len(active) == 1:
        lines += _record_one(rule, active[0])
    elif len(active) == 2:
        lines += _record_two(rule, active[0], active[1], elsewhere)
    else:
        lines += _record_many(rule, active, elsewhere)
    return lines


def _native_call(bound: BoundOp) -> str:
    rule = bound.rule
    data = [f"{a}_d" for a in rule.arrays]
    if rule.symbol is not None and bound.backend.has_operators:
        if len(data) == 1:
            return rule.symbol + data[0]
        return f" {rule.symbol} ".join(data)
    passed: list[Any] = []
    for name in rule.parameters:
        value = f"{name}_d" if name in rule.arrays else name
        passed.append(f"{name}={value}" if name in rule.keyword_only else value)
    return f"native({', '.join(passed)})"


def _result(rule: Rule, value: str) -> str:
    if rule.views:
        statics = "".join(f"{s}, " for s in rule.statics)
        return f"return link({value}, {rule.arrays[0]}, bound, ({statics}))"
    return f"return {value}"


def _unless_silent(rule: Rule, level: str) -> list[str]:
    """The exit for what is not recorded, or not by the compiled call because it is watched."""
    data, nodes = ("".join(f"{a}_{part}, " for a in rule.arrays) for part in "dn")
    statics = "".join(f"{s}, " for s in rule.statics)
    watched = f"watched(bound, ({data}), ({nodes}), ({statics}), out)"
    return [
        f"if {level} <= silent():",
        f"    if type(silent()) is int: {_result(rule, 'plain(out)')}",
        f"    {_result(rule, watched)}",
    ]


def _edge(rule: Rule, index: int) -> str:
    formula = rule.formula_of(index)
    assert formula is not None
    own = rule.arrays[index]
    if len(formula.saved) == 1 and (formula.saved[0] in (*rule.arrays, "out")):
        return f"{own}_n, f{index}, {_saved(rule, formula.saved[0], own)}, {index}"
    saved = "".join(f"{_saved(rule, name, own)}, " for name in formula.saved)
    return f"{own}_n, f{index}, ({saved}), {index}"


def _saved(rule: Rule, name: str, own: str) -> str:
    if name in rule.arrays:
        return f"{name}_d"
    if name.endswith("_meta") and name not in rule.statics:
        array = name.removesuffix("_meta")
        if array == own:
            return f"{array}_n.meta"
        return (
            f"({array}_n.meta if {array}_n is not None else meta_of({array}_d, {own}_n.meta.level))"
        )
    return name


def _record_one(rule: Rule, index: int) -> list[str]:
    x = rule.arrays[index]
    others = [a for a in rule.arrays if a != x]
    lines = [
        f"if {x}_n is None: {_result(rule, 'plain(out)')}",
        *_unless_silent(rule, f"{x}_n.meta.level"),
    ]
    if rule.same and not others:
        lines += [f"meta = {x}_n.meta"]
    else:
        like = "" if rule.casts else f", {x}_n.meta"
        lines += [f"meta = meta_of(out, {x}_n.meta.level{like})"]
    if rule.real_steps:
        lines += ["if not meta.is_complex:", "    return plain(out)"]
    if rule.casts:
        lines += ["if not is_float(meta):", "    return plain(out)"]
    lines += [_result(rule, f"V(out, Node({_edge(rule, index)}, meta, bound))")]
    return lines


def _record_two(rule: Rule, first: int, second: int, elsewhere: str) -> list[str]:
    a, b = rule.arrays[first], rule.arrays[second]
    lines = [f"if {a}_n is None:"]
    lines += _indent(_guarded(rule, second, a))
    lines += [f"if {b}_n is None:"]
    lines += _indent(_guarded(rule, first, b))
    meta = f"meta_of(out, {a}_n.meta.level, {a}_n.meta)"
    if rule.same and len(rule.arrays) == 2:
        meta = f"{a}_n.meta if {a}_n.meta is {b}_n.meta else {meta}"
    lines += [
        f"if {a}_n.meta.level != {b}_n.meta.level: {elsewhere}",
        *_unless_silent(rule, f"{a}_n.meta.level"),
        f"meta = {meta}",
        f"return V(out, Node({_edge(rule, first)}, meta, bound, ({_edge(rule, second)})))",
    ]
    return lines


def _guarded(rule: Rule, index: int, scalar: str) -> list[str]:
    """Record one of two arguments, where the other is not tracked."""
    x = rule.arrays[index]
    meta = f"meta_of(out, {x}_n.meta.level, {x}_n.meta)"
    lines = [f"if {x}_n is None: return plain(out)", *_unless_silent(rule, f"{x}_n.meta.level")]
    if rule.same and len(rule.arrays) == 2:
        formula = rule.formula_of(index)
        unchanged = formula is not None and formula.function is passes
        lines += [f"if type({scalar}) in (float, int):"]
        if unchanged:
            lines += [f"    if {x}_n.meta.level: return V(out, {x}_n)"]
        lines += [f"    meta = {x}_n.meta", "else:", f"    meta = {meta}"]
    else:
        lines += [f"meta = {meta}"]
    return [*lines, f"return V(out, Node({_edge(rule, index)}, meta, bound))"]


def _record_many(rule: Rule, active: list[int], elsewhere: str) -> list[str]:
    lines = ["level = -2"]
    for index in active:
        x = rule.arrays[index]
        lines += [
            f"if {x}_n is not None:",
            f"    if level != -2 and {x}_n.meta.level != level: {elsewhere}",
            f"    level = {x}_n.meta.level; like = {x}_n.meta",
        ]
    lines += [*_unless_silent(rule, "level"), "edges = ()"]
    for index in active:
        lines += [f"if {rule.arrays[index]}_n is not None: edges += ({_edge(rule, index)})"]
    meta = "meta_of(out, level, like)"
    lines += [f"return V(out, Node(*edges[:4], {meta}, bound, edges[4:]))"]
    return lines
