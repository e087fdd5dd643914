"""The folders show the data flow: imports run one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "gradwrap"
LAYERS = ("core", "rules", "backends", "transforms", "drawing")
FILES = sorted(path for layer in LAYERS for path in (SOURCE / layer).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The folders of gradwrap that a file imports from, also inside of functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gradwrap"):
            parts = (node.module or "").split(".")
            found.update(parts[1:2] or [alias.name for alias in node.names])
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_file_imports_from_its_own_layer_and_those_below(path: Path) -> None:
    layer = LAYERS.index(path.relative_to(SOURCE).parts[0])

    above = imported(path).intersection(LAYERS[layer + 1 :])

    assert not above


def test_core_names_no_library() -> None:
    for path in (SOURCE / "core").rglob("*.py"):
        modules = {
            name
            for node in ast.walk(ast.parse(path.read_text()))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert not modules.intersection({"cupy", "torch", "jax", "dask", "array_api_strict"})
