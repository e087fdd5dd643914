"""A subclass of `Backend` overrides what `Backend` has: another method would never be called."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "gradwrap"


def classes() -> dict[str, ast.ClassDef]:
    """The classes of the library by name."""
    return {
        node.name: node
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }


def members(node: ast.ClassDef) -> set[str]:
    """The public methods and attributes that the body of a class defines."""
    found: set[str] = set()
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            found.add(one.name)
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            found.add(one.target.id)
        elif isinstance(one, ast.Assign):
            found.update(target.id for target in one.targets if isinstance(target, ast.Name))
    return {name for name in found if not name.startswith("_")}


@pytest.mark.slow
def test_a_backend_overrides_what_backends_have() -> None:
    known = classes()
    kinds = {"Backend"}
    while (
        more := {
            name
            for name, node in known.items()
            if kinds & {base.id for base in node.bases if isinstance(base, ast.Name)}
        }
        - kinds
    ):
        kinds |= more
    assert {"NumPyBackend", "CupyBackend", "TorchBackend", "TraceBackend"} <= kinds

    extra = {
        name: members(known[name]) - members(known["Backend"])
        for name in kinds
        if not members(known[name]) <= members(known["Backend"])
    }

    assert extra == {}
