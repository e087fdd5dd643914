"""The folders show the data flow: imports run one way."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

SOURCE = Path(__file__).parents[2] / "src" / "gradwrap"
LAYERS = ("core", "rules", "backends", "transforms", "drawing", "profiling")
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


def test_no_two_files_of_transforms_import_each_other() -> None:
    folder = SOURCE / "transforms"
    imports = {
        path.stem: {
            (node.module or "").rpartition(".")[2]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith("gradwrap.transforms.")
        }
        for path in folder.glob("*.py")
    }

    while imports:  # take away the files that import none of those that are left
        done = {name for name, others in imports.items() if not others & imports.keys()}
        assert done, f"these import each other: {sorted(imports)}"
        imports = {name: others for name, others in imports.items() if name not in done}


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


@pytest.mark.slow
def test_no_files_import_each_other() -> None:
    """Imports for types alone, and those inside of functions, count as well."""
    modules = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): (
            path
        )
        for path in SOURCE.rglob("*.py")
    }
    waiting = {name: imported_modules(name, path, modules) for name, path in modules.items()}
    while free := {
        *(name for name, needs in waiting.items() if not needs),
        *(waiting.keys() - set().union(*waiting.values())),
    }:
        waiting = {name: needs - free for name, needs in waiting.items() if name not in free}
    assert waiting == {}  # what is left are the circles


def imported_modules(name: str, path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules of gradwrap that a file imports, or takes names from."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(one if one in modules else str(node.module) for one in full)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & (modules.keys() - {name})


def test_dask_is_added_by_public_names_alone() -> None:
    """`gradwrap.dask` shows that a package of somebody else's can add an array library."""
    public = {"gradwrap", "gradwrap.errors", "gradwrap.extend", "gradwrap.tree"}
    found: set[str] = set()
    for path in (SOURCE / "dask").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found.update(
            node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gradwrap")
        )
        names = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "gradwrap"
            for alias in node.names
        }
        assert names <= {*gw.__all__}, path.name
    assert {name for name in found if not name.startswith("gradwrap.dask")} <= public


# How much of the core a call goes through ---------------------------------------------------------


def total(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


X = np.arange(3.0)
JOURNEYS: dict[str, Callable[[], Any]] = {
    "grad": lambda: gw.grad(total)(X),
    "jvp": lambda: gw.jvp(total, (X,), (np.ones(3),)),
    "vmap(grad)": lambda: gw.vmap(gw.grad(total))(np.ones((2, 3))),
}


def files_of(call: Callable[[], Any]) -> set[Path]:
    """The files of the core in which a function is called; what is bound once is bound before."""
    call()
    found: set[Path] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.add(Path(frame.f_code.co_filename))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return {path for path in found if SOURCE / "core" in path.parents}


def test_the_core_that_a_gradient_goes_through_can_be_read_in_one_sitting() -> None:
    files = {path for call in JOURNEYS.values() for path in files_of(call)}
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    assert len(files) <= 12, sorted(path.name for path in files)
    assert lines <= 3_000
