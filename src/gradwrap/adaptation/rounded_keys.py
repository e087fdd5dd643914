"""Caches whose keys may be plain numbers or text that were made of tracked values.

`cache[int(1000 * x)]` would find the result of an earlier call, which has no gradient, or that of
another one. So what a cache had before an adapted call is not found there under such a key, once
the call has made a plain number or text of a value: the function computes its result again. At the
end of the call the cache is as it was before.

Where the source of a function shows a cache (`core/observing/caches.py`), each look for a key is
written anew: `cache[key]` becomes `looked(cache, name := key)[name]`.
"""

from __future__ import annotations

import ast
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.steps import CONTAINS_OP, STORE_SUBSCR, kinds_of
from gradwrap.core.array.adapted import plain_made
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded
from gradwrap.core.observing.caches import FAILURES, aliases_in, caches_in, look_of
from gradwrap.core.values.dynamic import DICT, SEQUENCE, type_of

if TYPE_CHECKING:
    from types import CodeType

NUMBERS = (int, float, complex, bytes, np.generic, AnyWrapper)
PARTED: Any = (*SEQUENCE, frozenset)
INNER = (
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)
KEY = "__gradwrap_key__"
FUNCTION = "__gradwrap_looked__"


class Looked:
    """A cache in which an adapted call has looked for such keys."""

    def __init__(self, held: dict[Any, Any]) -> None:
        self.held: dict[Any, Any] = held
        self.before: dict[Any, Any] = dict(held)
        self.keys: set[Any] = set()

    def restore(self) -> None:
        """Let the cache have what it had under these keys before the call, and in its order."""
        new = {key: value for key, value in self.held.items() if key not in self.keys}
        self.held.clear()
        self.held.update(self.before | new)


caches: ContextVar[dict[int, Looked] | None] = ContextVar("gradwrap_looked", default=None)
"""The caches in which the adapted call that runs has looked for such keys, by identity."""


def looked(held: Any, key: Any) -> Any:
    """Return a cache that a key is about to be looked up in."""
    known = caches.get()
    if known is None or not plain_made.get() or not isinstance(held, DICT):
        return held
    if not _may_be_made(key) or is_recorded(key):
        return held
    if id(held) not in known:
        known[id(held)] = Looked(held)
    cache = known[id(held)]
    if key not in cache.keys:
        cache.keys.add(key)
        held.pop(key, None)
    return held


def _may_be_made(key: Any) -> bool:
    """Tell if a key has numbers, or text with digits."""
    if isinstance(key, PARTED):
        return any(map(_may_be_made, key))
    if isinstance(key, str):
        return any(map(str.isdigit, key))
    return isinstance(key, NUMBERS) and type_of(key) is not bool


def restore(known: dict[int, Looked]) -> None:
    """Let all caches have what they had before the call."""
    while known:
        known.popitem()[1].restore()


# Source -------------------------------------------------------------------------------------------


LOOKING = frozenset({"get", *FAILURES})
"""Names in functions that look for a key without `in`."""
NAMES: dict[str, Any] = {FUNCTION: looked}
"""The function that the new code calls."""


def may_cache(code: CodeType) -> bool:
    """Tell if a function may look for a key, and store under it."""
    kinds = kinds_of(code)
    return STORE_SUBSCR in kinds and (CONTAINS_OP in kinds or not LOOKING.isdisjoint(code.co_names))


def rewrite(function: ast.FunctionDef) -> None:
    """Write the looks into caches anew, in the syntax of a function."""
    writer = _Looks(caches_in(function) - (_own_names(function) - aliases_in(function)))
    if writer.names:
        function.body = [writer.visit(statement) for statement in function.body]


def _own_names(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function binds itself: what they refer to does not last."""
    outer = {
        name
        for node in ast.walk(function)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    bound = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    return {node.id for node in bound if isinstance(node.ctx, ast.Store)} - outer


class _Looks(ast.NodeTransformer):
    """A writer of looks into caches, but for those in comprehensions and functions inside."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        """Visit a node, unless a name that it binds would be bound elsewhere."""
        return node if isinstance(node, INNER) else super().visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[whole]) if self._is(whole):
                named = ast.NamedExpr(ast.Name(KEY, ast.Store()), self.visit(node.left))
                node.left = ast.copy_location(named, node.left)
                node.comparators = [_looked(whole, ast.Name(KEY, ast.Load()))]
            case _:
                self.generic_visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and self._is(node.value):
            node.value, node.slice = self._keyed(node.value, node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if (
            isinstance(node.func, ast.Attribute)
            and look_of(node) is not None
            and self._is(node.func.value)
        ):
            node.func.value, node.args[0] = self._keyed(node.func.value, node.args[0])
        return node

    def _is(self, whole: ast.expr) -> bool:
        return isinstance(whole, (ast.Name, ast.Attribute)) and ast.unparse(whole) in self.names

    def _keyed(self, whole: ast.expr, key: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Return the cache that a key is given to, and the key's name."""
        named = ast.copy_location(ast.NamedExpr(ast.Name(KEY, ast.Store()), key), key)
        return _looked(whole, named), ast.copy_location(ast.Name(KEY, ast.Load()), key)


def _looked(whole: ast.expr, key: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Constant(FUNCTION), [whole, key], []), whole)
