"""Caches whose keys may be plain numbers, text or bytes that were made of tracked values.

`cache[int(1000 * x)]` would find the result of an earlier call, which has no gradient, or that of
another one. So what a cache had before an adapted call is not found there under such a key, once
the call has made a plain number or text of a value: the function computes its result again. It also
does if another transform has begun since it last looked for the key, in which the arguments are
others, and for text that gives a number exactly if the call has made such a text again: it may be
of another argument with an equal value. At the end of the call the cache is as it was before.

Where the source of a function shows a cache (`core/observing/caches.py`), each look for a key is
written anew: `cache[key]` becomes `looked(cache, name := key)[name]`, or `read(...)` where the
function has looked for the key before.
"""

from __future__ import annotations

import ast
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.steps import CONTAINS_OP, STORE_SUBSCR, kinds_of
from gradwrap.core.array.adapted import plain_made
from gradwrap.core.levels.levels import newest_level
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
FUNCTION, READ = "__gradwrap_looked__", "__gradwrap_read__"


class Looked:
    """A cache in which an adapted call has looked for such keys."""

    def __init__(self, held: dict[Any, Any]) -> None:
        self.held: dict[Any, Any] = held
        self.before: dict[Any, Any] = dict(held)
        self.keys: dict[Any, tuple[int, int]] = {}
        """By key: the newest transform, and how many texts and bytes there were when the call last
        looked for it."""

    def restore(self) -> None:
        """Let the cache have what it had under these keys before the call, and in its order."""
        new = {key: value for key, value in self.held.items() if key not in self.keys}
        self.held.clear()
        self.held.update(self.before | new)


caches: ContextVar[dict[int, Looked] | None] = ContextVar("gradwrap_looked", default=None)
"""The caches in which the adapted call that runs has looked for such keys, by identity."""


def looked(held: Any, key: Any) -> Any:
    """Return a cache in which a function looks for a key that may be missing."""
    known, made = caches.get(), plain_made.get()
    if known is None or not made or not isinstance(held, DICT):
        return held
    if not may_be_made(key) or is_recorded(key):
        return held
    if id(held) not in known:
        known[id(held)] = Looked(held)
    cache = known[id(held)]
    now = newest_level(), made[2] + (made[1] if _has_text(key) else 0)
    if cache.keys.get(key) != now:
        cache.keys[key] = now
        held.pop(key, None)
    return held


def read(held: Any, key: Any) -> Any:
    """Return a cache from which a function reads a key that it may have stored just now."""
    known = caches.get()
    cache = None if known is None else known.get(id(held))
    is_known = cache is not None and not (isinstance(key, AnyWrapper) or key not in cache.keys)
    return held if is_known else looked(held, key)


def may_be_made(key: Any) -> bool:
    """Tell if a key has numbers, or text with digits, which the call may have made of values."""
    made = plain_made.get()
    if not made or not made[0]:
        return False
    if isinstance(key, PARTED):
        return any(map(may_be_made, key))
    if isinstance(key, str):
        return bool(made[2]) or any(map(str.isdigit, key))
    return isinstance(key, NUMBERS) and type_of(key) is not bool


def _has_text(key: Any) -> bool:
    return any(map(_has_text, key)) if isinstance(key, PARTED) else isinstance(key, str)


def restore(known: dict[int, Looked]) -> None:
    """Let all caches have what they had before the call."""
    while known:
        known.popitem()[1].restore()


# Source -------------------------------------------------------------------------------------------


LOOKING = frozenset({"get", "setdefault", *FAILURES})
"""Names in functions that look for a key without `in`."""
NAMES: dict[str, Any] = {FUNCTION: looked, READ: read}
"""The functions that the new code calls."""


def may_cache(code: CodeType) -> bool:
    """Tell if a function may look for a key, and store under it."""
    kinds, names = kinds_of(code), code.co_names
    is_filled = STORE_SUBSCR in kinds or "setdefault" in names
    return is_filled and (CONTAINS_OP in kinds or not LOOKING.isdisjoint(names))


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
        self._may_miss = False
        """Whether a missing key leads to an `except` clause."""
        self._known: set[tuple[str, str]] = set()
        """The texts of dictionaries and keys that the function has looked for before."""

    def visit(self, node: ast.AST) -> Any:
        """Visit a node, unless a name that it binds would be bound elsewhere."""
        return node if isinstance(node, INNER) else super().visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[whole]) if self._is(whole):
                named = ast.NamedExpr(ast.Name(KEY, ast.Store()), self.visit(node.left))
                node.left = ast.copy_location(named, node.left)
                function = self._function(whole, named.value)
                node.comparators = [_looked(whole, ast.Name(KEY, ast.Load()), function)]
            case _:
                self.generic_visit(node)
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        outer, self._may_miss = self._may_miss, True
        node.body = [self.visit(statement) for statement in node.body]
        self._may_miss = outer
        for name in ("handlers", "orelse", "finalbody"):
            setattr(node, name, [self.visit(part) for part in getattr(node, name)])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and self._is(node.value):
            function = self._function(node.value, node.slice) if self._may_miss else READ
            node.value, node.slice = self._keyed(node.value, node.slice, function)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if (
            isinstance(node.func, ast.Attribute)
            and look_of(node) is not None
            and self._is(node.func.value)
        ):
            function = self._function(node.func.value, node.args[0])
            node.func.value, node.args[0] = self._keyed(node.func.value, node.args[0], function)
        return node

    def _function(self, whole: ast.expr, key: ast.expr) -> str:
        """Return what the first look for a key calls, or what the later ones call."""
        look = ast.unparse(whole), ast.unparse(key)
        is_known = look in self._known
        self._known.add(look)
        return READ if is_known else FUNCTION

    def _is(self, whole: ast.expr) -> bool:
        return isinstance(whole, (ast.Name, ast.Attribute)) and ast.unparse(whole) in self.names

    def _keyed(self, whole: ast.expr, key: ast.expr, function: str) -> tuple[ast.expr, ast.expr]:
        """Return the cache that a key is given to, and the key's name."""
        named = ast.copy_location(ast.NamedExpr(ast.Name(KEY, ast.Store()), key), key)
        return _looked(whole, named, function), ast.copy_location(ast.Name(KEY, ast.Load()), key)


def _looked(whole: ast.expr, key: ast.expr, function: str) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Constant(function), [whole, key], []), whole)
