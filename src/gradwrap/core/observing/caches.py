"""Caches in the source of a function: dictionaries that get a key where it was not found.

In a cache, two equal keys may have a result each, and the function still returns the same. That is
not so for counts, sums by key and groups: they change what an equal key has.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.observing.parsing import end_of_block, last_line, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType

    Look = tuple[str, str]
    """The texts of a dictionary and of a key that a function looks for in it."""

FAILURES = frozenset({"KeyError", "LookupError", "Exception"})
REMOVALS = frozenset({"clear", "pop", "popitem", "move_to_end"})
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCKS = (ast.For, ast.AsyncFor, ast.While, *DEFINITIONS)
CONTAINERS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
NOTHING: frozenset[Any] = frozenset()


def syntax_of(
    code: CodeType, namespace: dict[str, Any]
) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the syntax of a function, whose first line is 1, or None without its source."""
    lines = linecache.getlines(code.co_filename, namespace)
    try:
        end = end_of_block(lines, code.co_firstlineno - 1, last_line(code) - 1)
        tree = parsed(textwrap.dedent("".join(lines[code.co_firstlineno - 1 : end])))
    except (SyntaxError, ValueError, IndexError):
        return None
    function: Any = tree.body[0] if tree.body else None
    return function if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def caches_of(code: CodeType, namespace: dict[str, Any]) -> frozenset[str]:
    """Return the texts by which a function names its caches, such as "self.known".

    Without the source of the function, none is known.
    """
    function = syntax_of(code, namespace)
    return NOTHING if function is None else caches_in(function)


def aliases_of(code: CodeType, namespace: dict[str, Any]) -> frozenset[str]:
    """Return the local names that stand for attributes alone; without the source, none is known."""
    function = syntax_of(code, namespace)
    return NOTHING if function is None else aliases_in(function)


def caches_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Return the texts by which the syntax of a function names its caches."""
    reader = _Reader()
    reader.block(function.body, _State(NOTHING, NOTHING))
    reader.stored |= {look[0] for node in ast.walk(function) if (look := _filled_by(node))}
    unread = {
        ast.unparse(node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and id(node) not in reader.read
    }
    return frozenset(reader.stored - reader.refused - unread - set(_used_otherwise(function)))


def aliases_in(function: ast.AST) -> frozenset[str]:
    """Return the local names that stand for attributes alone, as in `known = self.known = {}`.

    What such a name refers to lasts as long as the object.
    """
    names: set[str] = set()
    standing: set[int] = set()
    for node in ast.walk(function):
        targets = _alias_targets(node)
        names.update(one.id for one in targets)
        standing.update(map(id, targets))
    others = {
        getattr(node, "arg", None) or getattr(node, "id", None)
        for node in ast.walk(function)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and id(node) not in standing and _is_bound(node))
    }
    return frozenset(names - others)


def _alias_targets(node: ast.AST) -> list[ast.Name]:
    """Return the names that an assignment gives to an attribute."""
    match node:
        case ast.Assign(targets=targets, value=value) if any(
            isinstance(one, ast.Attribute) for one in (*targets, value)
        ):
            return [one for one in targets if isinstance(one, ast.Name)]
        case _:
            return []


def _is_bound(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


class _State(NamedTuple):
    """The facts known before a statement, on every path to it."""

    missing: frozenset[Look]
    """Keys that are not in their dictionaries."""
    found: frozenset[tuple[str, Look]]
    """Names that may refer to the value of a key, or to None where the key is missing."""
    if_true: frozenset[tuple[str, Look]] = NOTHING
    """Names, and keys that are missing if they are true."""

    def without(self, names: Iterable[str]) -> _State:
        """Return the facts that still hold after names are bound anew."""
        gone = set(names)
        missing = {look for look in self.missing if not _names_in(*look) & gone}
        found = {(name, look) for name, look in self.found if name not in gone}
        if_true = {(name, look) for name, look in self.if_true if not _names_in(name, *look) & gone}
        return _State(frozenset(missing), frozenset(found), frozenset(if_true))

    def with_missing(self, looks: Iterable[Look]) -> _State:
        return self._replace(missing=self.missing.union(looks))

    def after_if(self, test: ast.expr, body: _State | None) -> _State:
        """Return the facts known after `if name:`, whose body may have ended with other facts."""
        if body is None or not isinstance(test, ast.Name):
            return self
        return self._replace(if_true=self.if_true | {(test.id, look) for look in body.missing})


class _Reader:
    """A reader of a function's statements, in order; loops and branches are read once."""

    def __init__(self) -> None:
        self.stored: set[str] = set()
        self.refused: set[str] = set()
        self.read: set[int] = set()
        """The targets of the assignments."""

    def block(self, statements: list[ast.stmt], state: _State) -> _State | None:
        """Return the facts known after statements, or None if the last one leaves the block."""
        for statement in statements:
            after = self._statement(statement, state)
            if after is None:
                return None
            state = after
        return state

    def _statement(self, statement: ast.stmt, state: _State) -> _State | None:
        after: _State | None = None
        match statement:
            case ast.If():
                where, otherwise = _missing_by(statement.test, state)
                where |= {look for name, look in state.if_true if _is_name(statement.test, name)}
                body = self.block(statement.body, state.with_missing(where))
                after = _joined(body, self.block(statement.orelse, state.with_missing(otherwise)))
                if after is not None and not _names_in(ast.unparse(statement.test)) & _bound_in(
                    statement
                ):
                    after = after.after_if(statement.test, body)
            case ast.Try():
                after = self._attempt(statement, state)
            case ast.With() | ast.AsyncWith():
                after = self.block(statement.body, state.without(_bound_in(statement)))
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                pass
            case ast.Assign(targets=targets, value=value):
                after = self._assignment(targets, value, state)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                after = self._assignment([target], value, state)
            case _:
                self._changes(statement, state)
                after = state.without(_bound_in(statement))
        if isinstance(statement, BLOCKS):
            inside = _State(NOTHING, state.found)
            for inner in (statement.body, getattr(statement, "orelse", [])):
                self.block(inner, inside)
            return after if isinstance(statement, DEFINITIONS) else inside
        return after

    def _attempt(self, statement: ast.Try, state: _State) -> _State | None:
        """Read `try: ... d[key] ... except KeyError: ...`, whose handler runs without the key."""
        looks = {
            look
            for one in ast.walk(statement.body[0])
            if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load)
            if (look := look_of(one)) is not None
        }
        is_one_look = len(looks) == 1 == len(statement.body)
        after = self.block([*statement.body, *statement.orelse], state)
        failed = state.without(_bound_in(statement))
        for handler in statement.handlers:
            kinds = _names_in("" if handler.type is None else ast.unparse(handler.type))
            is_miss = is_one_look and not FAILURES.isdisjoint(kinds)
            after = _joined(
                after, self.block(handler.body, failed.with_missing(looks if is_miss else ()))
            )
        return None if after is None else self.block(statement.finalbody, after)

    def _assignment(self, targets: list[ast.expr], value: ast.expr, state: _State) -> _State:
        self.read.update(map(id, targets))
        look = look_of(value)
        stored = {look_of(target) for target in targets} - {None}
        for dictionary, key in (one for one in stored if one is not None):
            self.stored.add(dictionary)
            if (dictionary, key) not in state.missing and _popped_by(value) != (dictionary, key):
                self.refused.add(dictionary)
        bound = [name for target in targets for name in _bound_in(target)]
        state = state.without(bound)
        missing = state.missing - stored
        held = {one for one in (look, *stored) if one is not None}
        if isinstance(value, ast.Name):
            bound.append(value.id)  # from now on, the dictionary has what the name refers to
            held = {one for one in stored if one is not None}
        if_true = frozenset((name, look) for name, look in state.if_true if look not in stored)
        return _State(missing, state.found | set(itertools.product(bound, held)), if_true)

    def _changes(self, statement: ast.stmt, state: _State) -> None:
        """Refuse dictionaries whose values a statement may change, such as `d.get(key).append(x)`.

        The value may have a name.
        """
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                pass
            case ast.AugAssign(target=ast.Name(id=name)):
                pass
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
                pass
            case _:
                return
        self.refused |= {look[0] for held, look in state.found if held == name}


def _joined(one: _State | None, other: _State | None) -> _State | None:
    if one is None or other is None:
        return other if one is None else one
    return _State(one.missing & other.missing, one.found | other.found, one.if_true & other.if_true)


def _missing_by(test: ast.expr, state: _State) -> tuple[set[Look], set[Look]]:
    """Return the keys that are missing where a test holds, and those where it fails."""
    nothing: set[Look] = set()
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = {look for name, look in state.found if _is_name(operand, name)}
            where, otherwise = _missing_by(operand, state)
            return otherwise | found, where
        case ast.BoolOp(op=ast.And(), values=values):
            return nothing.union(*(_missing_by(value, state)[0] for value in values)), nothing
        case ast.BoolOp(values=values):
            return nothing, nothing.union(*(_missing_by(value, state)[1] for value in values))
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn() as op], comparators=[whole]):
            look = {(ast.unparse(whole), ast.unparse(key))}
            return (nothing, look) if isinstance(op, ast.In) else (look, nothing)
        case ast.Compare(
            left=value, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]
        ):
            look = {look for name, look in state.found if _is_name(value, name)}
            return (look, nothing) if isinstance(op, ast.Is) else (nothing, look)
        case _:
            return nothing, nothing


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def look_of(node: ast.expr) -> Look | None:
    """Return the dictionary and the key of `d[key]`, `d.get(key)` or `d.setdefault`, or None."""
    match node:
        case ast.Subscript(value=whole, slice=key):
            if any(isinstance(part, ast.Slice) for part in ast.walk(key)):
                return None  # a sequence
        case ast.Call(func=ast.Attribute(value=whole, attr="get"), args=[key], keywords=[]):
            pass
        case ast.Call(
            func=ast.Attribute(value=whole, attr="get"),
            args=[key, ast.Constant(value=None)],
            keywords=[],
        ):
            pass
        case ast.Call(func=ast.Attribute(value=whole, attr="setdefault"), args=[key, value]):
            if isinstance(value, CONTAINERS):
                return None  # it gathers a group: `d.setdefault(key, [])`
        case _:
            return None
    return ast.unparse(whole), ast.unparse(key)


def _popped_by(node: ast.expr) -> Look | None:
    """Return the dictionary and the key of `d.pop(key)`, or None."""
    match node:
        case ast.Call(func=ast.Attribute(value=whole, attr="pop"), args=[key], keywords=[]):
            return ast.unparse(whole), ast.unparse(key)
        case _:
            return None


def _filled_by(node: ast.AST) -> Look | None:
    """Return the dictionary and the key of `d.setdefault(key, value)`, or None."""
    match node:
        case ast.Call(func=ast.Attribute(attr="setdefault")):
            return look_of(node)
        case _:
            return None


def _names_in(*texts: str) -> set[str]:
    return {
        node.id for text in texts for node in ast.walk(parsed(text)) if isinstance(node, ast.Name)
    }


def _bound_in(node: ast.AST) -> set[str]:
    """Return the names that a node binds, in all its parts."""
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    }


def _used_otherwise(function: ast.AST) -> Iterable[str]:
    """Yield the texts of dictionaries that are used for more than looks, stores and removals."""
    expected = {id(name) for node in ast.walk(function) for name in _alias_targets(node)}
    users = (node for node in ast.walk(function) if isinstance(node, (ast.Return, ast.BinOp)))
    read = {id(part) for node in users for part in ast.iter_child_nodes(node)}
    for node in ast.walk(function):
        match node:
            case ast.Attribute() if id(node) in read:
                pass  # `return d[key].value`
            case (
                ast.Attribute(value=value) | ast.Subscript(value=value, ctx=ast.Store() | ast.Del())
            ) if (look := look_of(value)) is not None:
                yield look[0]  # of a value: `d[key].append(x)`
            case _:
                pass
        whole = _dictionary_in(node)
        if whole is not None:
            expected.add(id(whole))
        elif isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in expected:
            yield ast.unparse(node)


def _dictionary_in(node: ast.AST) -> ast.expr | None:
    """Return the dictionary that a node looks into, stores into, or removes a key of."""
    match node:
        case (
            ast.Subscript(value=whole)
            | ast.UnaryOp(op=ast.Not(), operand=whole)
            | ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[whole])
            | ast.Compare(left=ast.Call(func=ast.Name(id="len"), args=[whole]))
            | ast.Call(
                func=ast.Name(id="next"), args=[ast.Call(func=ast.Name(id="iter"), args=[whole])]
            )  # the oldest key, which is removed
        ):
            return whole
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=whole, attr=name))) if (
            name in REMOVALS
        ):
            return whole
        case ast.Assign(
            targets=[target], value=ast.Call(func=ast.Attribute(value=whole)) as value
        ) if _popped_by(value) == look_of(target) is not None:
            return whole
        case ast.Call(func=ast.Attribute(value=whole)) if look_of(node) is not None:
            return whole
        case _:
            return None
