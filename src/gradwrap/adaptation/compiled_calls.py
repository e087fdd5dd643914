"""Calls of compiled code, and operators beside lists, rewritten after one of them has failed.

An array that adapted code makes can hold a tracked value later, and compiled code cannot read it as
an array of NumPy. The functions in the variables of a compiled module have stand-ins, which give
them plain arrays. Its classes and their methods cannot be exchanged: `tree.build(x, y)` becomes

    plainly(tree.build)(x, y)

An operator of a plain array asks a list beside it for plain numbers. If one of them is tracked,
`array - found` becomes `operate("sub", array, found)`, which joins the list to an array.

This takes time at every call, so it is not done before it is needed.
"""

from __future__ import annotations

import ast
import builtins
import datetime as dt
import functools
import operator
import sys
from importlib.machinery import ExtensionFileLoader
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.builtin_names import standing_kind
from gradwrap.adaptation.plain_values import unheld
from gradwrap.adaptation.stand_ins import OWN_LIBRARIES, call_plainly, original_of
from gradwrap.adaptation.storing import SYMBOLS
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import AnyWrapper, holds_batch, holds_wrapper, is_recorded, native
from gradwrap.core.observing.code import package_of
from gradwrap.core.values.dynamic import SEQUENCE, attribute_or_none, type_of
from gradwrap.core.values.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLAINLY, OPERATE = "__gradwrap_plainly__", "__gradwrap_operate__"
ours: Any = drop_in
TIMES = (dt.date, dt.time, dt.timedelta)
"""The classes of dates and durations, whose subclasses are those of other packages."""
BUILTINS = frozenset(vars(builtins))


def plainly(function: Any) -> Any:
    """Return what calls compiled code with plain arrays; functions in Python as they are.

    The arrays replace variables without tracked values. Compiled code may write to them.
    """
    kind = type_of(function)
    if kind is FunctionType or (kind is MethodType and type_of(function.__func__) is FunctionType):
        return function
    if not any(map(_is_compiled, _modules(function))) and not _makes_times(function):
        return function
    return functools.partial(_called, function)


def _called(function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    given, named = unheld(args), unheld(options)
    leaves = flatten([given, named])[0]
    if is_traced() or is_recorded(leaves) or holds_batch(leaves):
        return function(*args, **options)
    return call_plainly(function, given, named)


def _modules(function: Any) -> Iterator[Any]:
    """Yield the names of the modules that a function, a class or a method may be of."""
    original = original_of(function)
    yield attribute_or_none(original, "__module__")
    yield type_of(original).__module__
    owner = attribute_or_none(original, "__self__")
    if owner is not None:
        yield type_of(owner).__module__


def _makes_times(function: Any) -> bool:
    """Tell if a function is a class of dates or durations, or a method of one."""
    original = original_of(function)
    owner = attribute_or_none(original, "__self__")
    kinds = (one if isinstance(one, type) else type_of(one) for one in (original, owner))
    return any(issubclass(kind, TIMES) for kind in kinds)


@functools.cache
def _loaded_from(name: str) -> bool:
    loader = attribute_or_none(attribute_or_none(sys.modules[name], "__spec__"), "loader")
    return isinstance(loader, ExtensionFileLoader)


def _is_compiled(name: Any) -> bool:
    """Tell if a module is compiled code of a package."""
    if not isinstance(name, str) or package_of(name) in OWN_LIBRARIES or name not in sys.modules:
        return False
    return _loaded_from(name)


class CompiledCalls(ast.NodeTransformer):
    """A rewriter of calls whose function may be compiled."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite `f(x)` to `plainly(f)(x)`; builtins of Python are left as they are."""
        self.generic_visit(node)
        function = node.func
        is_ours = isinstance(function, ast.Constant)
        if is_ours or (isinstance(function, ast.Name) and function.id in BUILTINS):
            return node
        found = ast.Call(ast.Constant(PLAINLY), [function], [])
        node.func = ast.fix_missing_locations(ast.copy_location(found, function))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Rewrite `a - b` to `operate("sub", a, b)`, if neither is a constant."""
        self.generic_visit(node)
        symbol = SYMBOLS.get(type(node.op))
        is_constant = isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant)
        if symbol is None or is_constant:
            return node
        args = [ast.Constant(symbol), node.left, node.right]
        found = ast.Call(ast.Constant(OPERATE), args, [])
        return ast.fix_missing_locations(ast.copy_location(found, node))


def joined(values: Any) -> Any:
    """Join a list that holds variables to one array; return other values unchanged.

    An object whose `__array__` returns a variable is that variable: a ufunc would refuse it, as one
    alone, or in a list.
    """
    if not isinstance(values, SEQUENCE):
        has_own = hasattr(values, "__array_ufunc__")
        return values if has_own else _its_variable(values)
    if holds_wrapper(values):
        return ours.array(values)
    parts = list(map(_its_variable, values))
    return ours.array(parts) if holds_wrapper(parts) else values


def _its_variable(value: Any) -> Any:
    """Return the variable that an object returns as its array; other objects unchanged."""
    if isinstance(value, ARRAYS) or not is_differentiating():
        return value
    if attribute_or_none(type_of(value), "__array__") is None:
        return value
    found = value.__array__()
    return found if isinstance(found, AnyWrapper) else value


def operate(symbol: str, left: Any, right: Any) -> Any:
    """Apply an operator; an array joins the list beside it to an array, an integer repeats it."""
    if symbol == "mul":
        left, right = (_counted(value) for value in (left, right))
    if isinstance(left, TIMES) or isinstance(right, TIMES):
        left, right = (
            native(one) if isinstance(one, AnyWrapper) and not is_recorded(one) else one
            for one in (left, right)
        )
    if isinstance(left, ARRAYS):
        right = joined(right)
    elif isinstance(right, ARRAYS):
        left = joined(left)
    return getattr(operator, symbol)(left, right)


def _counted(value: Any) -> Any:
    """Return an integer of NumPy's, tracked or not, as one of Python's, which repeats a list."""
    return operator.index(value) if issubclass(standing_kind(value), np.integer) else value


ARRAYS = (np.ndarray, np.generic, AnyWrapper)
NAMES: dict[str, Any] = {PLAINLY: plainly, OPERATE: operate}
"""The functions that the new code calls, as in `storing`."""
