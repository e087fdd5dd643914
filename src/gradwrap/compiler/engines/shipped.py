"""The source of library functions that a saved module needs, read from the library's files.

Such functions use only NumPy, Python's modules, and the definitions of their own file. The
files are read when a text is requested, also from an archive.
"""

from __future__ import annotations

import ast
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gradwrap.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Iterable

FUTURE = "from __future__ import annotations"
"""The first line of a module with such functions, so that annotations are not evaluated."""


def shipped(functions: Iterable[Any]) -> list[str]:
    """Return the source lines of functions, and of the definitions in their files that they use.

    Raises
    ------
    CompileError
        The library was installed without its source.
    """
    by_module: dict[str, list[str]] = {}
    for function in functions:
        by_module.setdefault(function.__module__, []).append(function.__name__)
    return [line for module, names in by_module.items() for line in _lines(module, names)]


def _lines(module: str, names: list[str]) -> list[str]:
    package, _, file = module.rpartition(".")
    try:
        text = files(package).joinpath(f"{file}.py").read_text(encoding="utf-8")
    except OSError:
        raise CompileError(
            f"the text of this program holds functions of {module}, whose source is not installed. "
            "Fix: install gradwrap with its .py files; calls of the program need none"
        ) from None
    nodes = ast.parse(text).body
    defined = {name: node for node in nodes for name in _defined(node)}
    wanted: list[ast.stmt] = []
    waiting = [defined[name] for name in names]
    while waiting:
        node = waiting.pop()
        if node not in wanted:
            wanted.append(node)
            used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            waiting += [defined[name] for name in used & defined.keys()]
    lines: list[str] = []
    for node in sorted(wanted, key=lambda node: node.lineno):
        lines += ["", ""] if isinstance(node, ast.FunctionDef) else []
        lines.append(ast.get_source_segment(text, node) or "")
    return lines


def _defined(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Import):
        return [alias.asname or alias.name for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
