"""Stores to plain arrays are written anew where one has failed.

An array that comes from somewhere else than a function that makes arrays (random numbers, another
package) cannot hold a tracked value. If nothing else refers to it, the name can refer to a variable
from then on instead: `out[i] = x` becomes

    if (new := store(x, out, i)) is not None: out = new

This takes time at every store, so it is not done before it is needed.
"""

from __future__ import annotations

import ast
import operator
import sys
from typing import Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.values.dynamic import LIST, type_of

ours: Any = drop_in
NEW = "__gradwrap_new__"
UPDATES: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Div: "truediv",
    ast.MatMult: "matmul",
    ast.Mult: "mul",
    ast.Pow: "pow",
    ast.Sub: "sub",
}


def store(value: Any, holder: Any, key: Any) -> Any:
    """`holder[key] = value`; a variable that is to stand for the holder from then on, or None."""
    if _is_exchanged(value, holder) and sys.getrefcount(holder) == ALONE:
        made = ours.array(holder)
        made[key] = value
        return made
    holder[key] = value
    return None


def update_item(value: Any, holder: Any, key: Any, symbol: str) -> Any:
    """`holder[key] += value`, and the like."""
    if _is_exchanged(value, holder) and sys.getrefcount(holder) == ALONE:
        made = ours.array(holder)
        made[key] = getattr(operator, symbol)(made[key], value)
        return made
    holder[key] = getattr(operator, f"i{symbol}")(holder[key], value)
    return None


def update(value: Any, holder: Any, symbol: str) -> Any:
    """`holder += value`, and the like: what the name refers to from then on."""
    if _is_exchanged(value, holder) and sys.getrefcount(holder) == ALONE:
        return getattr(operator, symbol)(ours.array(holder), value)
    return getattr(operator, f"i{symbol}")(holder, value)


def _is_exchanged(value: Any, holder: Any) -> bool:
    return (
        type_of(holder) is np.ndarray
        and holder.base is None
        and holder.dtype.kind in "fc"
        and is_differentiating()
        and is_recorded(value)
    )


def _count(_: Any, holder: Any, __: Any) -> int:
    return sys.getrefcount(holder)


def _calibrated() -> int:
    holder = np.zeros(1)
    return _count(0, holder, 0)


ALONE = _calibrated()
"""The references to an array that one name or attribute refers to, in a call here."""
NAMES: dict[str, Any] = {
    "__gradwrap_store__": store,
    "__gradwrap_update_item__": update_item,
    "__gradwrap_update__": update,
    "__gradwrap_slice__": slice,
}
"""The objects that the new code refers to, by its global names."""


class Stores(ast.NodeTransformer):
    """Writes stores anew, in functions, to names and attributes that are theirs."""

    def __init__(self) -> None:
        self._locals: list[set[str]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Note the local names of a function while it is visited."""
        self._locals.append(_local_names(node))
        self.generic_visit(node)
        self._locals.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """The body of a class has no local names."""
        outer, self._locals = self._locals, []
        self.generic_visit(node)
        self._locals = outer
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """`out[i] = x`, and `out[0], out[1] = x, y`."""
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
        """`out += x`, and `out[i] += x`."""
        self.generic_visit(node)
        symbol = UPDATES.get(type(node.op))
        if symbol is None:
            return node
        word = ast.Constant(symbol)
        if self._is_store(node.target):
            return self._exchanging(node, node.target, node.value, "__gradwrap_update_item__", word)
        if not self._is_own(node.target):
            return node
        called = _call("__gradwrap_update__", node.value, _loaded(node.target), word)
        return ast.copy_location(ast.Assign([node.target], called), node)

    def _exchanging(
        self, node: ast.stmt, target: Any, value: ast.expr, function: str, *more: ast.expr
    ) -> ast.AST:
        """`if (new := function(value, holder, key)) is not None: holder = new`."""
        call = _call(function, value, _loaded(target.value), _key(target.slice), *more)
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
        """Tell if it is a local name, or an attribute of one."""
        if isinstance(target, ast.Attribute):
            return self._is_own(target.value) and isinstance(target.value, ast.Name)
        return isinstance(target, ast.Name) and any(
            target.id in names for names in self._locals[-1:]
        )


def _several(found: Any) -> list[Any]:
    return list(found) if isinstance(found, LIST) else [found]


def _local_names(node: ast.FunctionDef) -> set[str]:
    """The parameters of a function, and the names that it assigns to."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    found = {one.arg for one in every}
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


def _loaded(expression: Any) -> Any:
    """The expression of a target, as a value."""
    if isinstance(expression, ast.Attribute):
        return ast.Attribute(_loaded(expression.value), expression.attr, ast.Load())
    return ast.Name(expression.id, ast.Load())


def _key(key: ast.expr) -> ast.expr:
    """A key as an expression: slices are calls."""
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_key(part) for part in key.elts], ast.Load())
    if isinstance(key, ast.Slice):
        parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
        return _call("__gradwrap_slice__", *parts)
    return key


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])
