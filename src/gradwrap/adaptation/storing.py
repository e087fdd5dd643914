"""Stores to plain arrays, rewritten after a store has failed.

An array that comes from somewhere else than a function that makes arrays (random numbers, another
package) cannot hold a tracked value. If nothing else refers to it, the name can refer to a variable
from then on instead: `out[i] = x` becomes

    if (new := store(x, (out,), i)) is not None: out = new

This takes time at every store, so it is not done before it is needed.

From Python 3.14 on, an argument may refer to an object without being counted. Tuples and return
values are counted in all versions. So the array is handed over in a tuple, and a function that
stores begins with `out = itself(out)` for each of its parameters.
"""

from __future__ import annotations

import ast
import operator
import sys
from typing import Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.plain_values import objects
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.observing.code import frame_of
from gradwrap.core.values.dynamic import LIST, SEQUENCE, TUPLE, type_of

ours: Any = drop_in
NEW = "__gradwrap_new__"
SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Div: "truediv",
    ast.MatMult: "matmul",
    ast.Mult: "mul",
    ast.Pow: "pow",
    ast.Sub: "sub",
}


def store(value: Any, held: tuple[Any], key: Any) -> Any:
    """Run `holder[key] = value`; return a variable that replaces the holder, or None."""
    is_alone = _references(held) == ALONE
    (holder,) = held
    if is_alone and _is_exchanged(value, holder):
        made = ours.array(holder)
        made[key] = value
        return made
    if type_of(holder) is np.ndarray and holder.dtype.kind == "O":
        has_parts = bool(getattr(value, "ndim", 0)) or isinstance(value, SEQUENCE)
        if has_parts and not _is_of_element(key, holder):
            value = objects(value)
    holder[key] = value
    return None


def _is_of_element(key: Any, holder: Any) -> bool:
    """Tell if a key is that of one element, which takes a list or an array as it is."""
    parts = key if isinstance(key, TUPLE) else (key,)
    return len(parts) == holder.ndim and all(isinstance(one, (int, np.integer)) for one in parts)


def update_item(value: Any, held: tuple[Any], key: Any, symbol: str) -> Any:
    """Run `holder[key] += value` or a similar update, as `store` does."""
    is_alone = _references(held) == ALONE
    (holder,) = held
    if is_alone and _is_exchanged(value, holder):
        made = ours.array(holder)
        made[key] = getattr(operator, symbol)(made[key], value)
        return made
    holder[key] = getattr(operator, f"i{symbol}")(holder[key], value)
    return None


def update(value: Any, held: tuple[Any], symbol: str) -> Any:
    """Run `holder += value` or a similar update; return the holder's new value."""
    is_alone = _references(held) == ALONE
    (holder,) = held
    if is_alone and _is_exchanged(value, holder):
        return getattr(operator, symbol)(ours.array(holder), value)
    return getattr(operator, f"i{symbol}")(holder, value)


def itself(value: Any) -> Any:
    """Return the value; binding it to a name makes one counted reference."""
    return value


def _is_exchanged(value: Any, holder: Any) -> bool:
    return (
        type_of(holder) is np.ndarray
        and (holder.base is None or _base_references(holder) == ALONE_IN_BASE)
        and holder.dtype.kind in "fc"
        and is_differentiating()
        and is_recorded(value)
    )


def _references(held: tuple[Any]) -> int:
    """Count the references to a holder, but not those from what a profiler makes."""
    if sys.getprofile() is None or sys.version_info >= (3, 13):
        return sys.getrefcount(held[0])
    names = frame_of(2).f_locals  # at each event of a profiler, Python writes it anew
    is_the_frames = sys.getrefcount(names) == LOCALS
    count = sum(one is held[0] for one in names.values()) if is_the_frames else 0
    return sys.getrefcount(held[0]) - count


def _base_references(holder: Any) -> int:
    """Count the references to a view's base array; 0 if it has none."""
    return sys.getrefcount(holder.base) if type_of(holder.base) is np.ndarray else 0


def _calibrated() -> tuple[int, int]:
    holder = np.zeros(1).reshape(1, 1)
    return _references((holder,)), _base_references(holder)


LOCALS = 3
"""The references to the local names of a frame: that of the frame, a name's, and the counting."""
ALONE, ALONE_IN_BASE = _calibrated()
"""The references to an array that one name or attribute refers to, and the tuple of a call; and
to the base of an array that is the only view of it, as `np.linspace` and `reshape` make it."""
NAMES: dict[str, Any] = {
    "__gradwrap_itself__": itself,
    "__gradwrap_store__": store,
    "__gradwrap_update_item__": update_item,
    "__gradwrap_update__": update,
    "__gradwrap_slice__": slice,
}
"""The functions that the new code calls. They are constants of it, under these names until then."""


class Stores(ast.NodeTransformer):
    """A rewriter of stores to a function's local names and their attributes."""

    def __init__(self) -> None:
        self._locals: list[set[str]] = []
        self._stores = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Track the local names of a function while its body is visited."""
        before = self._stores
        self._locals.append(_local_names(node))
        self.generic_visit(node)
        self._locals.pop()
        if self._stores > before:
            start = 0 if ast.get_docstring(node) is None else 1
            for name in _parameters(node):
                value = _call("__gradwrap_itself__", ast.Name(name, ast.Load()))
                line = ast.Assign([ast.Name(name, ast.Store())], value)
                node.body.insert(start, ast.copy_location(line, node.body[0]))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Visit a class, whose body has no local names."""
        outer, self._locals = self._locals, []
        self.generic_visit(node)
        self._locals = outer
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Rewrite `out[i] = x`, and `out[0], out[1] = x, y`."""
        self.generic_visit(node)
        if len(node.targets) != 1:
            return node
        (target,) = node.targets
        if isinstance(target, ast.Tuple) and any(map(self._is_store, target.elts)):
            names = [f"__gradwrap_{i}__" for i in range(len(target.elts))]
            first = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
            parts = [
                ast.Assign([part], ast.Name(name, ast.Load()))
                for part, name in zip(target.elts, names, strict=True)
            ]
            if any(isinstance(part, ast.Starred) for part in target.elts):
                return node
            lines: list[ast.stmt] = [ast.Assign([first], node.value)]
            for part in parts:
                ast.copy_location(part, node)
                lines += _several(self.visit_Assign(part))
            return [ast.copy_location(line, node) for line in lines]
        if not self._is_store(target):
            return node
        return self._exchanging(node, target, node.value, "__gradwrap_store__")

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Rewrite `out += x`, and `out[i] += x`."""
        self.generic_visit(node)
        symbol = SYMBOLS.get(type(node.op))
        if symbol is None:
            return node
        word = ast.Constant(symbol)
        if self._is_store(node.target):
            return self._exchanging(node, node.target, node.value, "__gradwrap_update_item__", word)
        if not self._is_own(node.target):
            return node
        self._stores += 1
        called = _call("__gradwrap_update__", node.value, _held(node.target), word)
        return ast.copy_location(ast.Assign([node.target], called), node)

    def _exchanging(
        self, node: ast.stmt, target: Any, value: ast.expr, function: str, *more: ast.expr
    ) -> ast.AST:
        """Write `if (new := function(value, (holder,), key)) is not None: holder = new`."""
        self._stores += 1
        call = _call(function, value, _held(target.value), _key(target.slice), *more)
        test = ast.Compare(
            ast.NamedExpr(ast.Name(NEW, ast.Store()), call), [ast.IsNot()], [ast.Constant(None)]
        )
        holder = _loaded(target.value)
        holder.ctx = ast.Store()
        body = ast.Assign([holder], ast.Name(NEW, ast.Load()))
        return ast.copy_location(ast.If(test, [body], []), node)

    def _is_store(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Subscript) and self._is_own(target.value)

    def _is_own(self, target: ast.expr) -> bool:
        """Tell if an expression is a local name or an attribute of one."""
        if isinstance(target, ast.Attribute):
            return self._is_own(target.value) and isinstance(target.value, ast.Name)
        return isinstance(target, ast.Name) and any(
            target.id in names for names in self._locals[-1:]
        )


def _several(found: Any) -> list[Any]:
    return list(found) if isinstance(found, LIST) else [found]


def _local_names(node: ast.FunctionDef) -> set[str]:
    """Return the parameters of a function and the names that it assigns."""
    arguments = node.args
    several = [one.arg for one in (arguments.vararg, arguments.kwarg) if one is not None]
    found = {*_parameters(node), *several}
    outer: set[str] = set()
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, (ast.Global, ast.Nonlocal)):
            outer.update(part.names)
        elif not isinstance(
            part,
            (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension),
        ):
            waiting += ast.iter_child_nodes(part)
    return found - outer


def _parameters(node: ast.FunctionDef) -> list[str]:
    """Return the parameters of a function, without `*args` and `**kwargs`."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [one.arg for one in every]


def _loaded(expression: Any) -> Any:
    """Write a target as an expression that reads it."""
    if isinstance(expression, ast.Attribute):
        return ast.Attribute(_loaded(expression.value), expression.attr, ast.Load())
    return ast.Name(expression.id, ast.Load())


def _held(expression: Any) -> ast.Tuple:
    return ast.Tuple([_loaded(expression)], ast.Load())


def _key(key: ast.expr) -> ast.expr:
    """Write a key as an expression, with slices as calls."""
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_key(part) for part in key.elts], ast.Load())
    if isinstance(key, ast.Slice):
        parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
        return _call("__gradwrap_slice__", *parts)
    return key


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(name), list(args), [])
