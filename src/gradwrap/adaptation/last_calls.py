"""Functions that keep the arguments of their last call, and compare them with the next ones.

`if x == self.last: return self.found` would return the result of an earlier call, which has no
gradient, or that of other arguments. So the comparison of a tracked value, or of a number, text or
bytes that may be made of one, with a plain one that was kept tells that they differ, and the
function computes again. What it keeps then is put back when the adapted call ends.
"""

from __future__ import annotations

import ast
import operator
from contextvars import ContextVar
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.rounded_keys import may_be_made
from gradwrap.adaptation.steps import (
    COMPARE_OP,
    STORE_ATTR,
    STORE_GLOBAL,
    STORE_SUBSCR,
    kinds_of,
    named_steps_of,
)
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.observing.comparing import looker
from gradwrap.core.values.dynamic import DICT, LIST, attributes_of, type_of
from gradwrap.core.values.record import Record
from gradwrap.core.values.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

kept_objects: ContextVar[list[tuple[Any, Any]] | None] = ContextVar("gradwrap_kept", default=None)
"""The attributes of objects that keep arguments, lists and dictionaries that do, and copies of them
from before the adapted call."""
FUNCTIONS = frozenset({"array_equal", "array_equiv", "allclose", "isclose"})
STORES = frozenset({STORE_ATTR, STORE_GLOBAL})
OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "__gradwrap_equal__",
    ast.NotEq: "__gradwrap_differ__",
}


def compared(function: Callable[..., Any], at: int, *values: Any, **options: Any) -> Any:
    """Compare two values, of which the one in place `at` was kept by an earlier call."""
    is_kept = is_differentiating() and not is_recorded(flatten(values[at])[0])
    given = values[1 - at]
    if not is_kept or not (is_recorded(flatten(given)[0]) or may_be_made(given)):
        return function(*values, **options)
    token = looker.set(None)  # the answer is not used
    try:
        found = function(*values, **options)
    finally:
        looker.reset(token)
    differ = function is operator.ne
    shape = np.shape(found)
    return np.full(shape, differ) if shape else differ


def keep(holder: Any, name: str = "") -> None:
    """Note the attributes or items of what a function is about to store its arguments to.

    With a name, it is that attribute of an object, if there is one.
    """
    kept = kept_objects.get()
    if name:
        holder = attributes_of(holder).get(name)
    place: Any = holder if type_of(holder) in (DICT, LIST) else attributes_of(holder)
    if kept is None or any(known is place or _is_of(known, holder) for known, _ in kept):
        return
    place = OfClass(holder) if issubclass(type_of(holder), type) else place
    kept.append((place, place.copy()))


def _is_of(place: Any, holder: Any) -> bool:
    return type_of(place) is OfClass and place.of is holder


class OfClass(Record):
    """The attributes of a class, as a dictionary."""

    of: type

    def copy(self) -> dict[str, Any]:
        """Return the attributes that are no part of every class."""
        return {name: one for name, one in vars(self.of).items() if not name.startswith("__")}

    def clear(self) -> None:
        """Leave the attributes as they are, until they are updated."""

    def update(self, values: dict[str, Any]) -> None:
        """Give the class these attributes, and no others."""
        now = self.copy()
        for name in now.keys() - values.keys():
            delattr(self.of, name)
        for name, value in values.items():
            if now.get(name, self) is not value:
                setattr(self.of, name, value)


NAMES: dict[str, Any] = {
    "__gradwrap_compared__": compared,
    "__gradwrap_keep__": keep,
    "__gradwrap_equal__": operator.eq,
    "__gradwrap_differ__": operator.ne,
}
"""The functions that the new code calls."""


def may_keep(code: CodeType) -> bool:
    """Tell if a function compares, and stores to an attribute or a global name that it reads.

    It may also store to a place in a list or a dictionary.
    """
    kinds = kinds_of(code)
    inner = [part for part in code.co_consts if type_of(part) is CodeType]  # generators
    compares = any(COMPARE_OP in kinds_of(one) for one in (code, *inner))
    if not compares and FUNCTIONS.isdisjoint(code.co_names):
        return False
    if STORE_SUBSCR in kinds:
        return True
    steps = list(named_steps_of(code))
    stored = {name for step, name in steps if step in STORES}
    return any(step not in STORES and name in stored for step, name in steps)


def rewrite(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Write the comparisons of arguments with kept ones anew, in the syntax of a function."""
    stored = _stored_in(function)
    if not stored:
        return
    writer = _Comparisons(stored)
    kept = {text for text, names in stored.items() if _is_compared(function, text, names)}
    function.body = [writer.visit(statement) for statement in function.body]
    arguments = {arg.arg for arg in (*function.args.posonlyargs, *function.args.args)}
    made = _bound_in(function) - arguments
    function.body[:0] = [
        ast.copy_location(ast.Expr(_call("__gradwrap_keep__", given, function)), function.body[0])
        for text in sorted(writer.found | kept)
        if (given := _keeper(ast.parse(text, mode="eval").body, made))
    ]


def _is_compared(function: ast.AST, text: str, names: set[str]) -> bool:
    """Tell if a function compares what it keeps with what it is about to keep, in any way."""
    kinds = (ast.Compare, ast.GeneratorExp, ast.ListComp)
    return any(
        names & {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        and any(ast.unparse(part) == text for part in ast.walk(node) if isinstance(part, ast.expr))
        for node in ast.walk(function)
        if isinstance(node, kinds)
    )


def _keeper(place: ast.expr, made: set[str]) -> list[ast.expr]:
    """Return what `keep` is given for a place: an object, or an object and a name; or nothing.

    The names that the function makes itself refer to nothing yet.
    """
    match place:
        case ast.Attribute(value=ast.Name(id=name) as holder) if name not in made:
            return [holder]
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name) as holder, attr=attribute)):
            return [] if name in made else [holder, ast.Constant(attribute)]
        case ast.Subscript(value=ast.Name() as holder):
            return [holder]
        case _:
            return []


class _Comparisons(ast.NodeTransformer):
    """A writer of comparisons in tests, where equal arguments lead to a result alone."""

    def __init__(self, stored: dict[str, set[str]]) -> None:
        self._stored = stored
        self.found: set[str] = set()
        """The texts of what is kept."""

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        where = _only_results(node.body) and not _refuses(node.orelse)
        otherwise = _only_results(node.orelse) and not _refuses(node.body)
        node.test = self._test(node.test, where, otherwise)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = self._test(node.test, True, True)
        return node

    def _test(self, node: ast.expr, where: bool, otherwise: bool) -> ast.expr:
        """Write a test; `where` (`otherwise`) the code that it leads to may be left out."""
        match node:
            case ast.BoolOp():
                node.values = [self._test(value, where, otherwise) for value in node.values]
            case ast.UnaryOp(op=ast.Not()):
                node.operand = self._test(node.operand, otherwise, where)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                name = OPERATORS.get(type(op))
                if name is not None and (where if isinstance(op, ast.Eq) else otherwise):
                    return self._written(node, ast.Constant(name), [left, right], [])
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name) as function):
                if name in FUNCTIONS and len(node.args) > 1:
                    is_starred = any(isinstance(arg, ast.Starred) for arg in node.args)
                    if where and not is_starred:
                        return self._written(node, function, node.args, node.keywords)
                elif name in ("all", "bool"):
                    node.args = [self._test(arg, where, otherwise) for arg in node.args]
                    if isinstance(function, ast.Attribute) and not node.args:
                        function.value = self._test(function.value, where, otherwise)
            case _:
                pass
        return node

    def _written(
        self, node: ast.expr, function: ast.expr, values: list[ast.expr], more: list[ast.keyword]
    ) -> ast.expr:
        for at, value in enumerate(values[:2]):
            wholes = (value, value.value) if isinstance(value, ast.Subscript) else (value,)
            names = set(_names_in(values[1 - at]))
            texts = [
                text for text in map(ast.unparse, wholes) if self._stored.get(text, set()) & names
            ]
            if texts:
                self.found.update(texts)
                given = [ast.copy_location(function, node), ast.Constant(at), *values]
                return _call("__gradwrap_compared__", given, node, more)
        return node


def _only_results(statements: list[ast.stmt]) -> bool:
    """Tell if statements return or name results, and change nothing else."""
    return all(
        isinstance(one, (ast.Return, ast.Pass))
        or (isinstance(one, ast.Assign) and all(isinstance(t, ast.Name) for t in one.targets))
        for one in statements
    )


def _refuses(statements: list[ast.stmt]) -> bool:
    """Tell if statements raise an error: a comparison that leads to them is a check."""
    return bool(statements) and isinstance(statements[-1], ast.Raise)


def _stored_in(function: ast.AST) -> dict[str, set[str]]:
    """Return the texts of attributes, global names and places in them that a function stores to.

    With each come the names in what is stored.
    """
    shared = {
        name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names
    }
    own = _bound_in(function) - shared
    found: dict[str, set[str]] = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            for place, value in _pairs(target, node.value):
                is_global = isinstance(place, ast.Name) and place.id in shared
                if isinstance(place, ast.Attribute) or is_global or _is_part(place, own):
                    found.setdefault(ast.unparse(place), set()).update(_names_in(value))
    return found


def _bound_in(function: ast.AST) -> set[str]:
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def _is_part(place: ast.expr, own: set[str]) -> bool:
    """Tell if a target is a fixed place of what lasts: it has no name of the function's own."""
    match place:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant()):
            return name not in own
        case ast.Subscript(value=ast.Attribute(), slice=ast.Constant()):
            return True
        case _:
            return False


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [(target, value)]
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(part, value) for part in target.elts]


def _names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names in an expression, but for those of modules and functions that it calls."""
    called = {
        id(one.func.value if isinstance(one.func, ast.Attribute) else one.func)
        for one in ast.walk(node)
        if isinstance(one, ast.Call) and one.args
    }
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and id(one) not in called and one.id != "self":
            yield one.id


def _call(
    name: str, args: list[ast.expr], at: Any, keywords: list[ast.keyword] | None = None
) -> ast.Call:
    function = ast.copy_location(ast.Constant(name), at)
    return ast.copy_location(ast.Call(function, args, keywords or []), at)
