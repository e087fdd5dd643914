"""The table: operations by name, each with a generic rule and rules for some backends."""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from gradwrap.core.table.rule import Rule

GENERIC = "*"


class Op:
    """A named operation and its rules, one per backend that differs from the generic one.

    `version` counts the changes, so that bindings made before a rule was registered are renewed.
    `keepable` says that the policy of a checkpoint has named it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.rules: dict[str, Rule] = {}
        self.version = 0
        self.keepable = False

    def rule_for(self, backend: str) -> Rule | None:
        """Return the rule of `backend`, or else the generic one."""
        return self.rules.get(backend) or self.rules.get(GENERIC)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


_ops: dict[str, Op] = {}
_op_of_function: dict[Hashable, Op] = {}
modules_waiting: list[str] = []
_functions_later: dict[str, Callable[[Any], None]] = {}
_lock = threading.Lock()
_changes = 0


def register(rules: Iterable[Rule], backend: str = GENERIC, *, depth: int = 1) -> None:
    """Enter rules into the table under their names, with the caller's module as chapter.

    That is the caller's, or that of a caller `depth` calls further out.
    """
    chapter = sys._getframe(depth).f_globals["__name__"]  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    with _lock:
        for rule in rules:
            rule.chapter = chapter
            op = _ops.get(rule.name)
            if op is None:
                op = _ops[rule.name] = Op(rule.name)
            op.rules[backend] = rule
            op.version += 1


def redefine(op: Op, rules: Mapping[str, Rule]) -> None:
    """Change the rules of an operation that may be in use."""
    global _changes  # noqa: PLW0603  all threads are to see it
    with _lock:
        op.rules = {**op.rules, **rules}
        op.version += 1
        _changes += 1


def changes() -> int:
    """Return how many times a rule has been changed.

    Code that makes and keeps something from rules, without a lock, drops it if this number has
    grown meanwhile: it may be out of date.
    """
    return _changes


def register_function(function: Hashable, op: Op) -> None:
    """Register `op` as the operation of a library's function."""
    with _lock:
        _op_of_function[function] = op


def load_later(*modules: str) -> None:
    """Name modules with further rules, imported when an unknown operation is requested."""
    with _lock:
        modules_waiting.extend(modules)


def load_all() -> None:
    """Import the modules that were left for later."""
    for module in tuple(modules_waiting):
        import_module(module)  # waits for a thread that is at it
        with _lock:
            if module in modules_waiting:
                modules_waiting.remove(module)


def find_op(name: str) -> Op | None:
    """Return the operation of that name, dotted for extensions (`linalg.inv`)."""
    op = _ops.get(name)
    if op is None and modules_waiting:
        load_all()
        op = _ops.get(name)
    return op


def op_of_symbol(symbol: str, arity: int) -> Op:
    """Return the operation of an operator symbol with one or two operands."""
    for op in tuple(_ops.values()):
        rule = op.rules.get(GENERIC)
        if rule is not None and rule.symbol == symbol and len(rule.arrays) == arity:
            return op
    raise KeyError(symbol)


def op_of_function(function: Any) -> Op | None:
    """Return the operation registered for a library's function."""
    try:
        return _op_of_function.get(function)
    except TypeError:  # not hashable, so never registered
        return None


def register_functions_later(module: str, enter: Callable[[Any], None]) -> None:
    """Name a module whose functions `enter` registers after its import."""
    with _lock:
        _functions_later[module] = enter


def search_function(function: Any) -> Op | None:
    """Find a function's operation; also look in modules imported since."""
    found = op_of_function(function)
    if found is None:
        for name in [name for name in _functions_later if name in sys.modules]:
            enter = _functions_later.get(name)
            if enter is not None:  # else another thread was here
                enter(import_module(name))  # it waits while another thread imports it
                _functions_later.pop(name, None)
        found = op_of_function(function)
    return found


def ops_so_far() -> list[Op]:
    """Return the operations of the chapters imported so far."""
    return list(_ops.values())


def ops() -> Iterator[Op]:
    """Return all named operations, in the order of the tables."""
    load_all()
    return iter(tuple(_ops.values()))
