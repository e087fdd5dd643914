"""Calls of compiled code with arrays that hold no tracked value, rewritten after one has failed.

An array that adapted code makes can hold a tracked value later, and compiled code cannot read it as
an array of NumPy. The functions in the variables of a compiled module have stand-ins, which give
them plain arrays. Its classes and their methods cannot be exchanged: `tree.build(x, y)` becomes

    plainly(tree.build)(x, y)

This takes time at every call, so it is not done before it is needed.
"""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from importlib.machinery import ExtensionFileLoader
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.plain_values import unheld
from gradwrap.adaptation.stand_ins import OWN_LIBRARIES, call_plainly, original_of
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import holds_batch, is_recorded
from gradwrap.core.observing.code import package_of
from gradwrap.core.values.dynamic import attribute_or_none, type_of
from gradwrap.core.values.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLAINLY = "__gradwrap_plainly__"
BUILTINS = frozenset(vars(builtins))


def plainly(function: Any) -> Any:
    """Return what calls compiled code with plain arrays; functions in Python as they are.

    The arrays replace variables without tracked values. Compiled code may write to them.
    """
    kind = type_of(function)
    if kind is FunctionType or (kind is MethodType and type_of(function.__func__) is FunctionType):
        return function
    if not any(map(_is_compiled, _modules(function))):
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


NAMES: dict[str, Any] = {PLAINLY: plainly}
"""The function that the new code calls, as in `storing`."""
