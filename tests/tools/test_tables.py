"""Operations are named in tables: what is asked of an operation is a field of its row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gradwrap.backends.c_expressions import FORMS
from gradwrap.compiler.ir.operations import METHODS
from gradwrap.compiler.ir.operations import NAMES as ROWS

SOURCE = Path(__file__).parents[2] / "src" / "gradwrap"
NAMES = {*ROWS, *METHODS, *(name for name, _ in FORMS)}
TABLES = (
    "rules",  # rows of the table of derivatives
    "scipy/rules",
    "backends",  # tables of how each library spells an operation
    "dask/protocol.py",
    "adaptation",  # tables of the functions of other packages that are replaced
    "typing",
    "compiler/ir/operations.py",
)
LISTS = {
    "core/calls/diagonals.py": "the rows through which a diagonal of tangents stays one",
    "compiler/engines/c/library.py": "functions of C that the compiler is not to put together",
    "compiler/engines/cupy/arrays.py": "CuPy's spelling of the tracer's namespace",
    "compiler/tracing/backend.py": "functions of formulas that a trace performs otherwise",
    "compiler/tracing/namespace.py": "the spelling of the tracer's namespace",
}
"""The files outside of the tables that may have one list of operations, and why."""


def literals(node: ast.AST) -> list[str]:
    """The texts that a list, a set, a tuple, or the keys of a dictionary have."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        parts = list(node.elts)
    elif isinstance(node, ast.Dict):
        parts = [key for key in node.keys if key is not None]
    else:
        return []
    return [
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def lists_in(text: str) -> list[int]:
    """The lines with lists of two operations and more."""
    return [
        getattr(node, "lineno", 0)
        for node in ast.walk(ast.parse(text))
        if len(NAMES.intersection(literals(node))) > 1
    ]


def comparisons_in(text: str) -> list[int]:
    """The lines that compare the name of something with that of an operation."""
    found: list[int] = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        is_name = any(
            (isinstance(side, ast.Attribute) and side.attr == "name")
            or (isinstance(side, ast.Name) and side.id == "name")
            for side in sides
        )
        texts = [word for side in sides for word in literals(ast.List([side])) or literals(side)]
        if is_name and NAMES.intersection(texts):
            found.append(node.lineno)
    return found


def patterns_in(text: str) -> list[int]:
    """The lines that import a module of regular expressions."""
    modules = {"re", "regex", "sre_compile", "sre_parse", "fnmatch"}
    found: list[int] = []
    for node in ast.walk(ast.parse(text)):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if modules.intersection(names):
            found.append(getattr(node, "lineno", 0))
    return found


@pytest.mark.slow
def test_lists_of_operations_are_in_tables() -> None:
    found: list[str] = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if not any(place == table or place.startswith(f"{table}/") for table in TABLES):
            found += [place] * len(lists_in(path.read_text(encoding="utf-8")))

    assert len(found) <= 5
    assert sorted(found) == sorted(LISTS)


@pytest.mark.slow
def test_the_compiler_compares_no_name_of_an_operation() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): lines
        for path in (SOURCE / "compiler").rglob("*.py")
        if (lines := comparisons_in(path.read_text(encoding="utf-8")))
    }

    assert found == {}


@pytest.mark.slow
def test_the_compiler_has_no_regular_expressions() -> None:
    """It decides by the program and by marks that it sets when it writes, not by texts."""
    found = {
        path.relative_to(SOURCE).as_posix(): lines
        for path in (SOURCE / "compiler").rglob("*.py")
        if (lines := patterns_in(path.read_text(encoding="utf-8")))
    }

    assert found == {}


@pytest.mark.parametrize("text", ["import re", "from re import compile", "import os, re as r"])
def test_regular_expressions_are_found(text: str) -> None:
    assert patterns_in(text) == [1]


@pytest.mark.parametrize(
    "text",
    [
        'x = ["add", "subtract"]',
        'x = {"add": 1, "multiply": 2}',
        'if name in ("getitem", "setitem"): pass',
    ],
)
def test_a_list_is_found(text: str) -> None:
    assert lists_in(text) == [1]


@pytest.mark.parametrize(
    "text",
    ['step.name == "getitem"', '"copy" != name', 'step.name in ("add", "other")'],
)
def test_a_comparison_is_found(text: str) -> None:
    assert comparisons_in(text) == [1]


def test_other_texts_are_none() -> None:
    assert lists_in('x = ["add", "something"]') == []
    assert patterns_in("from gradwrap import re_made; import resource") == []
    assert comparisons_in('kind == "getitem"; step.op is GETITEM; name == "something"') == []
