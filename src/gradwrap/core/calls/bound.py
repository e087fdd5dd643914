"""Bindings: an operation bound to the arrays of one library, for its calls and for its nodes."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from gradwrap.core.calls.source import compiled
from gradwrap.core.table.kinds import passed
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.library.backend import Backend
    from gradwrap.core.table.registry import Op
    from gradwrap.core.table.rule import Rule


class NodeOp:
    """The operation as its nodes know it, for the backward pass.

    A single node that is hooked or watched has a changed copy, so that the others pay nothing.
    """

    rule: Any = None  # the row that names the saved values; None for a custom call
    holomorphic = False  # conjugate before and after
    symmetric = False  # the cotangents of two arguments that are one are equal
    consumes = False  # its formula may write to the cotangent
    materializes = True  # zeros, not None, where no cotangent arrived
    check = False  # a user's formula, whose result is compared with the argument
    parts = False  # its formula may return a part of a cotangent
    special = True  # the backward pass takes it off its fast path
    guards = False  # it is special for nothing but guarded arrays
    selects = False  # its nodes select one output of several
    leaves = False  # it takes elements of its arguments by place, and leaves others
    by_element = False  # each element of the result is, or depends on, one of an argument's
    halves = False  # what it leaves of one of two arguments, it takes of the other
    plain = False  # it is special for nothing but the elements that it leaves
    hooks: Any = None
    watch: Any = None
    guarding: Any = None  # the copy for nodes that saved guarded arrays, once there is one

    def __init__(
        self, name: str, backend: Backend | None = None, variable_class: Any = None
    ) -> None:
        self.name: str = name
        self.backend: Any = backend
        self.variable_class: Any = variable_class
        self.namespaces: Any = _NoNamespaces() if backend is None else backend.namespaces

    def changed(self, **changes: Any) -> Any:
        """Copy the binding for a single node, with changes that take it off the fast path."""
        made = copy.copy(self)
        made.__dict__.update({"guards": False, "plain": False, **changes, "special": True})
        return made

    def __repr__(self) -> str:
        where = "" if self.backend is None else f" on {self.backend.name}"
        return f"<{self.name}{where}>"


class _NoNamespaces(dict[type, None]):
    """Map every type to no namespace: for nodes whose formulas compute nothing."""

    def __missing__(self, kind: type) -> None:
        return None


class BoundOp(NodeOp):
    """An operation on the arrays of one backend: its native function, its rule and its call.

    `call` is the function that stands for the operation in the namespace, `apply` its form for
    any mixture of arguments. `split` takes the arguments of a call apart into arrays and statics;
    `forward(function, *arguments)` calls a function with them.
    """

    call: Callable[..., Any]
    apply: Callable[..., Any]

    def __init__(
        self, op: Op, rule: Rule, backend: Backend, native: Callable[..., Any], variable_class: Any
    ) -> None:
        super().__init__(rule.name, backend, variable_class)
        self.op: Op = op
        self.rule: Rule = rule
        self.native: Callable[..., Any] = native
        self.holomorphic: bool = rule.holomorphic
        self.symmetric: bool = rule.symmetric
        self.consumes: bool = rule.consumes
        self.check: bool = rule.checked
        self.materializes: bool = rule.materializes
        self.parts: bool = rule.parts
        is_view = rule.views is not None and rule.kind.name == "linear"
        self.by_element: bool = rule.kind.is_elementwise or is_view
        self.leaves: bool = rule.selects and (rule.kind.is_elementwise or rule.key is not None)
        self.halves: bool = self.leaves and len(rule.formulas) - rule.formulas.count(None) == 2
        self.plain: bool = self.leaves and not rule.checked
        self.special: bool = rule.checked or (rule.is_joint and rule.outputs > 1)
        self.special |= self.leaves and not rule.parts  # the pass knows indices
        self.jumps: str = rule.jumps
        self.split: Callable[..., Any]
        self.forward: Callable[..., Any]
        self.split, self.forward = _argument_handlers(rule)

    def linked(self, result: Any, arrays: Sequence[Any], statics: tuple[Any, ...]) -> Any:
        """Return the result; if it is a view, link it to its source, so that writes reach both."""
        kind = type_of(result)  # of a key that `vmap` maps over, it is a batch
        kind = kind if getattr(kind, "_is_batched", False) else type_of(arrays[0])
        link = getattr(kind, "_linked", None)
        source = arrays if self.rule.variadic else arrays[0]
        return result if link is None else link(result, source, self, statics)


def _argument_handlers(rule: Rule) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make two functions: one splits a call into (arrays, statics), one calls natively."""
    names = ", ".join(rule.parameters)
    arrays = "*" + rule.arrays[0] + "," if rule.variadic else "".join(f"{a}, " for a in rule.arrays)
    statics = "".join(f"{s}, " for s in rule.statics)
    text = f"lambda {rule.signature_text}: (({arrays}), ({statics}))"
    split = eval(compiled(text, "<split>", "eval"), rule.scope)  # noqa: S307  the table's
    split.__qualname__ = rule.name  # for Python's own messages about a call that does not fit
    call = ", ".join(passed(rule, rule.parameters))
    forward = eval(compiled(f"lambda native_, {names}: native_({call})", "<forward>", "eval"))  # noqa: S307  the table's
    return split, forward
