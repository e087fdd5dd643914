"""The source of library functions that a saved module needs, read from the library's files.

Such functions use only NumPy, Python's modules, and the definitions of their own file. The
files are read when a text is requested, also from an archive.
"""

from __future__ import annotations

import ast
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.observing.parsing import parsed
from gradwrap.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Shipped(NamedTuple):
    """Functions as text, without annotations."""

    imports: set[str]
    """The modules that they use, as `import` lines."""
    lines: list[str]
    """The constants of their files that they use, and their definitions."""


def shipped(functions: Iterable[Any]) -> Shipped:
    """Return the source of functions, and of the definitions in their files that they use.

    Raises
    ------
    CompileError
        The library was installed without its source.
    """
    by_module: dict[str, list[str]] = {}
    for function in functions:
        by_module.setdefault(function.__module__, []).append(function.__name__)
    imports: set[str] = set()
    constants: list[str] = []
    definitions: list[str] = []
    for module, names in by_module.items():
        for node in _needed(module, names):
            if isinstance(node, ast.Import):
                imports.add(ast.unparse(node))
            elif isinstance(node, ast.FunctionDef):
                definitions += ["", "", ast.unparse(node)]
            else:
                constants.append(ast.unparse(node))
    return Shipped(imports, [*constants, *definitions])


def _needed(module: str, names: list[str]) -> list[ast.stmt]:
    """Return the statements that define names of a module and of all names in them, in order."""
    package, _, file = module.rpartition(".")
    try:
        text = files(package).joinpath(f"{file}.py").read_text(encoding="utf-8")
    except OSError:
        raise CompileError(
            f"the text of this program holds functions of {module}, whose source is not installed. "
            "Fix: install gradwrap with its .py files; calls of the program need none"
        ) from None
    nodes: list[ast.stmt] = _Unannotated().visit(parsed(text)).body
    defined = {name: node for node in nodes for name in _defined(node)}
    needed: list[ast.stmt] = []
    waiting = [defined[name] for name in names]
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.append(node)
            used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            waiting += [defined[name] for name in used & defined.keys()]
    return [node for node in nodes if node in needed]


class _Unannotated(ast.NodeTransformer):
    """Removes the annotations of functions and variables."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Remove the annotation of a parameter."""
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Remove the annotations of a function."""
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """Turn an annotated assignment into a plain one."""
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign([node.target], node.value), node)


def _defined(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Import):
        return [alias.asname or alias.name for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
