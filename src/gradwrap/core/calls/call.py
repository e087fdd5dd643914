"""Generator of the written calls: the source of one operation's usual call at one level.

The usual case: every array argument is a wrapper of one class and one level, a native array or a
Python number. For it, a function is written once per operation and class, as `dataclasses` and
`namedtuple` do: arguments are unpacked into locals, and nothing is looked up by name. Everything
else goes `elsewhere`, to the general call in `gradwrap.core.calls.general`.

The frame is the same at each level: signature, unpacking, the key, the native call, views. A level
(`Tape`, `Forward`, `Batches`, each beside its unusual call) adds its tests before the call, and its
lines for the result. For `sin` on the tape:

    def sin(x, /):
        if type(x) is V:
            x_n = x._node; x_d = x._value
        elif type(x) in PLAIN:
            x_n = None; x_d = x
        else:
            return other(bound, (x, ), ())
        out = native(x_d)
        if x_n is None: return plain(out)
        if x_n.meta.level <= silent():
            if type(silent()) is int: return plain(out)
            return watched(bound, (x_d, ), (x_n, ), (), out)
        meta = x_n.meta
        node = Node(); node.seq = number(); node.parent = x_n; node.formula = f0; ...
        made = V(); made._value = out; made._node = node; ...
        return made
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.calls.source import execute
from gradwrap.core.levels.levels import threshold_of_calls
from gradwrap.core.levels.wrapper import AnyWrapper, is_simple_key, make_wrapper, stripped
from gradwrap.core.library.labelled import plain_key
from gradwrap.core.observing.comparing import looks
from gradwrap.core.observing.performing import performs
from gradwrap.core.table.kinds import passed
from gradwrap.core.values.dynamic import IMMUTABLE, type_of
from gradwrap.errors import BatchedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gradwrap.core.calls.bound import BoundOp
    from gradwrap.core.library.backend import Backend
    from gradwrap.core.table.rule import Rule

WORDS_OF_THE_TEXT = """
    V PLAIN SEQUENCES NUMBERS bound other silent watched meta_of described native plain link Node
    new_node number make_wrapper several is_tracked plain_key BatchedValueError is_float out
    meta level like edges metas item
    node data spaces calls deepest weighted dual Tangent pushed more added no_tangent any_complex
    annihilated
    batch found aligned moved repeated op xp on_diagonals like_batch batch_of
    refuse_differing example one raised Exception
    look looks kept kept_parts kept_shared saved_part shared exposed Guarded holds_guarded guarding
    IMMUTABLE by made base remember as_view simple is_simple
    type int float tuple slice zip len dict next
"""
WORDS = frozenset(WORDS_OF_THE_TEXT.split())
"""The words of the generated text: a parameter of that name sends all calls elsewhere."""


class Call:
    """One operation at one level, and the text of its usual call.

    `other` is the general call, `(bound, arrays, statics)`.
    """

    def __init__(self, bound: BoundOp, other: Callable[..., Any]) -> None:
        self.bound: BoundOp = bound
        self.rule: Rule = bound.rule
        self.other: Callable[..., Any] = other
        self.arrays: str = tuple_of(self.rule.arrays)
        if self.rule.variadic:
            self.arrays = f"(*{self.rule.arrays[0]}, )"
        self.statics: str = tuple_of(self.rule.statics)
        self.elsewhere: str = f"return other(bound, {self.arrays}, {self.statics})"

    def function(self, signature: str | None = None) -> Callable[..., Any] | None:
        """Return the written function, or None if it has no quick way for this operation."""
        if not self.usual() or not WORDS.isdisjoint(self.rule.parameters):
            return None
        name = self.rule.name.replace(".", "_")
        scope = self.scope()
        title = f"{self.rule.name}, {type(self).__name__} of {self.bound.backend.name}"
        execute(self.text(signature), scope, title)
        function: Any = scope[name]
        function.__module__ = "gradwrap"
        function.__doc__ = getattr(self.bound.native, "__doc__", None)
        performs(function, "operation", self.rule.name)
        return function  # type: ignore[no-any-return]  # of the scope

    def text(self, signature: str | None = None) -> str:
        """Write the source of the function."""
        name = self.rule.name.replace(".", "_")
        lines = [*self.unpacking(), *self.keys(), *self.before(), *self.perform(), *self.ending()]
        return "\n".join(
            [f"def {name}({signature or self.rule.signature_text}):", *indented(lines)]
        )

    # A level fills in -----------------------------------------------------------------------------

    def usual(self) -> bool:
        """Tell if there is a usual call, to be written."""
        raise NotImplementedError

    def unpack(self, index: int) -> list[str]:
        """Return more lines, run after the wrapper `x` is unpacked into `x_n` and `x_d`."""
        lacking = [f"if {self.rule.arrays[index]}_n is not None: {self.elsewhere}"]
        return lacking if self.rule.lacks(index) else []

    def look_at(self, index: int) -> list[str]:
        """Return lines to run before a wrapper is unpacked."""
        return []

    def before(self) -> list[str]:
        """Return lines to run before the operation; they may leave by `elsewhere`."""
        return []

    def ending(self) -> list[str]:
        """Return the lines that make the result from `out`, the operation's native result."""
        raise NotImplementedError

    def scope(self) -> dict[str, Any]:
        """Return the objects that the text names."""
        bound = self.bound
        scope: dict[str, Any] = {
            **self.rule.scope,
            "__name__": __name__,
            "V": bound.variable_class,
            "PLAIN": bound.backend.plain_types,
            "SEQUENCES": (list, tuple),
            "bound": bound,
            "other": self.other,
            "silent": threshold_of_calls,
            "meta_of": bound.backend.meta,
            "described": partial(_described, bound.backend),
            "native": bound.native,
            "looks": looks,
            "is_tracked": _is_tracked,
            "plain_key": plain_key,
            "BatchedValueError": BatchedValueError,
            "IMMUTABLE": IMMUTABLE,
            "is_simple": is_simple_key,
            "plain": bound.variable_class._plain,
            "link": bound.variable_class._linked,
            "make_wrapper": make_wrapper,
        }
        for index in range(len(self.rule.arrays)):
            formula = self.rule.formula_of(index)
            if formula is not None:
                scope[f"f{index}"] = formula.function
        return scope

    def level_of(self, indices: Iterable[int]) -> list[str]:
        """Return lines that find the common `level` of the tracked arguments, and `like`."""
        lines = ["level = -2"]
        for index in indices:
            x = self.rule.arrays[index]
            lines += [
                f"if {x}_n is not None:",
                f"    if level != -2 and {x}_n.meta.level != level: {self.elsewhere}",
                f"    level = {x}_n.meta.level; like = {x}_n.meta",
            ]
        return lines

    # The frame ------------------------------------------------------------------------------------

    def unpacking(self) -> list[str]:
        """Return lines that split the arguments into data `x_d` and nodes `x_n`."""
        if self.rule.variadic:
            return self.unpacking_sequence()
        lines: list[str] = []
        for index, x in enumerate(self.rule.arrays):
            lines += [f"if type({x}) is V:"]
            lines += indented(self.look_at(index))
            lines += [f"    {x}_n = {x}._node; {x}_d = {x}._value"]
            lines += indented(self.unpack(index))
            if self.bound.backend.depth:  # its data may be of a higher level than others
                lines += [f"    if {x}_n is None and is_tracked({x}_d): {self.elsewhere}"]
            lines += [f"elif type({x}) in PLAIN:", f"    {x}_n = None; {x}_d = {x}"]
            if index == 0 and self._calls_operator() and len(self.rule.arrays) == 2:
                # 1j * np.float64(2.0) is a Python complex, since np.float64 is a float
                other = f"getattr({self.rule.arrays[1]}, 'shape', ())"
                lines += [f"    if type({x}) is complex and not {other}: {self.elsewhere}"]
            lines += ["else:", f"    {self.elsewhere}"]
        return lines

    def unpacking_sequence(self) -> list[str]:
        """Return lines that split a list of arrays into data and nodes of one `level`."""
        x = self.rule.arrays[0]
        more = "; metas.append({})" if self.collects_metas() else ""
        lines = [
            f"if type({x}) not in SEQUENCES: {self.elsewhere}",
            f"{x}_d = []; {x}_n = []; level = -2{'; metas = []' if more else ''}",
            f"for item in {x}:",
            "    if type(item) is V:",
            "        node = item._node; data = item._value",
            f"        {x}_n.append(node); {x}_d.append(data)",
            "        if node is not None:",
            f"            like = node.meta{more.format('like')}",
            "            if like.level != level:",
            f"                if level != -2: {self.elsewhere}",
            "                level = like.level",
        ]
        if self.bound.backend.depth:
            lines += [f"        elif is_tracked(data): {self.elsewhere}"]
        if more:
            lines += [f"        else: {more.format('None')[2:]}"]
        plain = f"{x}_n.append(None); {x}_d.append(item){more.format('None')}"
        return [*lines, f"    elif type(item) in PLAIN: {plain}", f"    else: {self.elsewhere}"]

    def collects_metas(self) -> bool:
        """Tell if the lines for a sequence collect its arrays' descriptions, as `metas`."""
        return False

    def keys(self) -> list[str]:
        """Return lines that take the wrappers off an index."""
        key = self.rule.key
        if key is None:
            return []
        ends = " and ".join(f"type({key}.{end}) in IMMUTABLE" for end in ("start", "stop"))
        return [
            f"simple = type({key}) is int",
            f"if type({key}) is slice: simple = {key}.step is None and {ends}",
            f"elif type({key}) is tuple: simple = is_simple({key})",
            "if not simple:",
            f"    try: {key} = plain_key({self.rule.arrays[0]}, {key})",
            f"    except BatchedValueError: {self.elsewhere}",
        ]

    def perform(self) -> list[str]:
        """Return lines that call the native function, or the operator where that is quicker."""
        data = [f"{a}_d" for a in self.rule.arrays]
        symbol = self.rule.symbol
        if self._calls_operator():
            if symbol == "[]":
                return [f"out = {data[0]}[{self.rule.key}]"]
            lines = [
                f"out = {symbol}{data[0]}"
                if len(data) == 1
                else f"out = {f' {symbol} '.join(data)}"
            ]
        else:
            lines = [f"out = {self.native_call()}"]
        if self.bound.jumps:
            tracked = " or ".join(f"{a}_n is not None" for a in self.rule.arrays)
            looked = ", ".join([repr(self.rule.jumps), *data])
            lines += ["look = looks()", f"if look is not None and ({tracked}): look({looked})"]
        return lines

    def _calls_operator(self) -> bool:
        is_quicker = self.rule.symbol is not None and self.bound.backend.has_operators
        return is_quicker and not self.bound.op.keepable

    def native_call(self) -> str:
        """Return the expression that calls the native function on the data."""
        rule = self.rule
        values = [f"{name}_d" if name in rule.arrays else name for name in rule.parameters]
        return f"native({', '.join(passed(rule, values))})"

    def result(self, value: str) -> str:
        """Return a `return` line for a value, linked to the argument if it may be a view."""
        if self.rule.views:
            return f"return link({value}, {self.rule.arrays[0]}, bound, {self.statics})"
        return f"return {value}"


def _described(backend: Backend, data: Any, level: int) -> Any:
    """Return the description of an array; None for a number."""
    return backend.meta(data, level) if hasattr(data, "dtype") else None


def _is_tracked(data: Any) -> bool:
    """Tell if an enclosing transform tracks the data."""
    return isinstance(stripped(data), AnyWrapper)


def tuple_of(names: Iterable[str]) -> str:
    """Write a tuple of these names."""
    return f"({''.join(f'{name}, ' for name in names)})"


def indented(lines: list[str]) -> list[str]:
    """Indent lines by one step."""
    return ["    " + line for line in lines]


def deepest(values: Iterable[Any]) -> type[Any]:
    """Return the type of the most deeply nested wrapper among values, or of a native array."""
    found: Any = None
    for value in values:
        kind = type_of(value)
        if found is None or _depth(kind) >= _depth(found):
            found = kind
    return found  # type: ignore[no-any-return]  # a type


def _depth(kind: Any) -> int:
    backend = getattr(kind, "_backend", None)
    return 0 if backend is None else int(backend.depth) + 1
