"""Find the source text of a formula, as it is written in the table."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import linecache
from types import FunctionType

__all__ = ["Helper", "expression_of", "helpers_of", "named_in", "steps_of", "summary_of", "text_of"]

Helper = FunctionType | type
Definition = ast.Lambda | ast.FunctionDef
Place = tuple[int, int]  # line and column, as in the syntax tree


def text_of(function: FunctionType, words: tuple[str, ...]) -> str:
    """Return a formula that is a single expression, or else a call of the function."""
    expression = expression_of(function)
    return f"{function.__name__}({', '.join(words)})" if expression is None else expression


def expression_of(function: FunctionType) -> str | None:
    """Return the expression of a lambda, or of a single `return`, without `xp`; else None."""
    steps = steps_of(function)
    return steps[0] if len(steps) == 1 else None


def steps_of(function: FunctionType) -> list[str]:
    """Return a function's assignments and what it returns; an empty list if it does more."""
    *assignments, last = _body(definition_of(function))
    returned = last.value if isinstance(last, ast.Return) else None
    if returned is None or not all(isinstance(step, ast.Assign) for step in assignments):
        return []
    return [_text(step) for step in (*assignments, returned)]


def helpers_of(function: FunctionType) -> list[Helper]:
    """Return what a formula calls of gradwrap, or the formula itself if it is not an expression."""
    return [function] if expression_of(function) is None else named_in(function)


def named_in(function: FunctionType) -> list[Helper]:
    """Return the functions and classes of gradwrap that the source of a function names."""
    nodes = [node for step in _body(definition_of(function)) for node in ast.walk(step)]
    names = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
    found = ((name, function.__globals__.get(name)) for name in names)
    helpers = [(name, f) for name, f in found if isinstance(f, Helper) and f.__name__ == name]
    return [f for _, f in helpers if f.__module__.startswith("gradwrap.")]


def summary_of(function: object) -> str:
    """Return the first paragraph of a docstring in one line, or an empty text without one."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def definition_of(function: FunctionType) -> Definition:
    """Find the node of a function in the syntax tree of its file, by the positions in its code.

    Several lambdas may begin in one line, so the line alone does not do. A lambda within a lambda
    is told from the outer one by its parameters.
    """
    code = function.__code__
    spans = [span for span in map(_span, code.co_positions()) if span is not None]
    parameters = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    matching = [
        node
        for node in _definitions(code.co_filename)
        if _first_line(node) == code.co_firstlineno
        and _parameters(node) == parameters
        and all(_holds(node, start, end) for start, end in spans)
    ]
    if len(matching) != 1:
        raise LookupError(
            f"{code.co_filename}, line {code.co_firstlineno}: {len(matching)} functions may be "
            f"{code.co_name}({', '.join(parameters)}). Fix: write each in a line of its own, and "
            "run Python without -X no_debug_ranges."
        )
    return matching[0]


class _WithoutNamespace(ast.NodeTransformer):
    """Turns `xp.cos(x)` into `cos(x)`, and `helper(xp, g, x)` into `helper(g, x)`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if _is_xp(node.value):
            return ast.Name(node.attr)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        plain = isinstance(node.func, ast.Name) and node.func.id in dir(builtins)
        if node.args and _is_xp(node.args[0]) and not plain:
            node.args = node.args[1:]
        return self.generic_visit(node)


def _is_xp(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "xp"


@functools.cache
def _definitions(filename: str) -> list[Definition]:
    tree = ast.parse("".join(linecache.getlines(filename)))  # gradwrap writes some formulas itself
    return [node for node in ast.walk(tree) if isinstance(node, Definition)]


def _first_line(node: Definition) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _parameters(node: Definition) -> list[str]:
    args = node.args
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _span(position: tuple[int | None, ...]) -> tuple[Place, Place] | None:
    """Return where the text of an instruction begins and ends, or None if it has no text."""
    line, end_line, column, end_column = position
    if line is None or end_line is None or column is None or end_column is None:
        return None
    start, end = (line, column), (end_line, end_column)
    return (start, end) if start < end else None


def _holds(node: Definition, start: Place, end: Place) -> bool:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    first, last = (_first_line(node), 0), (node.end_lineno, node.end_col_offset)
    if isinstance(node, ast.Lambda):
        first = (node.lineno, node.col_offset)
    return first <= start and end <= last


def _body(node: Definition) -> list[ast.stmt]:
    """Return the statements of a function, without its docstring."""
    if isinstance(node, ast.Lambda):
        return [ast.Return(node.body)]
    return node.body[1:] if ast.get_docstring(node) else node.body


def _text(node: ast.AST) -> str:
    return ast.unparse(_WithoutNamespace().visit(copy.deepcopy(node)))
