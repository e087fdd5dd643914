"""The folders show the data flow: imports run one way."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.counting import called_code

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(__file__).parents[2] / "src" / "gradwrap"
MODULES = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
LAYERS: tuple[set[str], ...] = (
    {"errors"},
    {"typing"},
    {"core"},
    {"rules"},
    {"backends"},
    {"transforms"},
    {"random"},
    {"autograd", "compiler", "cupy", "drawing", "extend", "numpy", "profiling", "scipy", "testing"}
    | {"bridges", "tree"},
    {"dask", "jax", "optimize", "torch"},
    {"adaptation"},
    {"compat"},
    {"_elsewhere", "_setup"},
    {"__init__"},
)
"""The packages and modules of gradwrap: each imports from itself and from the lines above it."""
ROOMS: dict[str, tuple[set[str], ...]] = {
    "backends": (
        *(
            {"c_expressions", "differing_rows"},
            {"backward_slices", "pytorch_methods"},
            {"numpy"},
            {"drop_in", "iterating"},
        ),
        {"cupy", "jax", "torch"},
    ),
    "core": (
        *({"table"}, {"values"}, {"levels"}, {"library"}, {"observing"}, {"graph"}, {"calls"}),
        {"array"},
    ),
    "compiler": (
        *(
            {"cache"},
            {"ir"},
            {"tracing"},
            {"sparsity"},
            {"passes"},
            {"rolling"},
            {"pipeline"},
            {"engines"},
        ),
        *({"extrapolating"}, {"calls"}, {"__main__"}),
    ),
}
"""The same within three packages."""
EXCEPTIONS = {
    # Beside the core
    "typing/__init__.py imports core": "its two aliases of namespaces name `Variable`",
    "transforms/sparse_jacobian.py imports compiler": "by text, to detect a pattern if asked",
    "compiler/__main__.py imports __init__": "it is a program, and imports gradwrap as users do",
    # The core: a node names the operation that it was made by, of `calls`
    "core/graph/arrivals.py imports calls": "types: a node's operation",
    "core/graph/custom_nodes.py imports calls": "it makes nodes with an operation of their own",
    "core/graph/node.py imports calls": "types: a node's operation",
    "core/graph/outputs.py imports calls": "it makes nodes with an operation of their own",
    # ... the class of variables is made in `array`, and wraps what is recorded below it
    "core/calls/forward.py imports array": "`Dual` derives from `Variable`",
    "core/calls/record.py imports array": "a result that is a view is remembered by its source",
    "core/graph/custom_nodes.py imports array": "it wraps the outputs of a user's function",
    "core/graph/linear.py imports array": "it wraps the inputs of a linear function",
    # ... what observes nodes knows them, and is asked by the passes over them
    "core/observing/hooks.py imports graph": "hooks are kept at nodes",
    "core/observing/inspection.py imports graph": "types: nodes",
    "core/observing/places.py imports graph": "the line of a node is looked up by it",
    "core/observing/watching.py imports calls": "types: a bound operation",
    "core/observing/watching.py imports graph": "a watch reads the edges of nodes",
    "core/values/comparing.py imports library": "messages name the library of an array",
}
"""Imports that run upwards, with their reasons."""
NAMED = re.compile(r"gradwrap(\.\w+)+\.?")


@functools.cache
def imported(path: Path) -> tuple[set[str], set[str]]:
    """The modules of gradwrap that a file imports, also in functions and for types; and by text."""
    found: set[str] = set()
    named: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if node.module == "gradwrap" and full not in MODULES:  # from where that has it
                    full = getattr(gw, alias.name).__module__
                found.add(full if full in MODULES else str(node.module))
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.partition(":")[0]  # "module:name"
            if NAMED.fullmatch(text):
                named.add(text.rstrip("."))  # and the beginning of a name, in an f-string
    return found & MODULES.keys(), named & MODULES.keys()


def needs(path: Path) -> set[str]:
    found, named = imported(path)
    return found | named


def upwards(layers: tuple[set[str], ...], folder: str = "") -> set[str]:
    """The imports from a layer above, or from another part of the same one."""
    place = {part: line for line, parts in enumerate(layers) for part in parts}

    def part_of(module: str) -> str | None:
        parts = MODULES[module].relative_to(SOURCE).with_suffix("").parts
        if folder and parts[0] != folder:
            return None
        part = parts[1 if folder else 0]
        return None if folder and part == "__init__" else part

    found: set[str] = set()
    for module, path in MODULES.items():
        own = part_of(module)
        if own is None:
            continue
        assert own in place, f"{own} has no layer. Fix: enter it into LAYERS or ROOMS."
        for other in filter(None, map(part_of, needs(path))):
            if other != own and place[other] >= place[own]:
                found.add(f"{path.relative_to(SOURCE)} imports {other}")
    return found


@pytest.mark.slow
def test_imports_run_downwards() -> None:
    """A file imports from its own layer and those below, in functions, for types and by text."""
    found = upwards(LAYERS).union(*(upwards(rooms, name) for name, rooms in ROOMS.items()))

    assert sorted(found - EXCEPTIONS.keys()) == []
    assert sorted(EXCEPTIONS.keys() - found) == []  # they are mended: take them off the list


def test_an_import_upwards_is_found(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text(
        'def f():\n    import_module("gradwrap.scipy.fft")\n    "gradwrap.dask.backend:DaskBackend"'
        '\n    f"gradwrap.optimize.{name}"\n    "gradwrap.vjp is a function"\n'
        "    from gradwrap import vjp, tree\n    from gradwrap.core.array import variable\n"
    )

    assert needs(file) == {
        "gradwrap.core.array.variable",
        "gradwrap.dask.backend",
        "gradwrap.optimize",
        "gradwrap.scipy.fft",
        "gradwrap.transforms.reverse",
        "gradwrap.tree",
    }


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
    waiting = {name: imported(path)[0] - {name} for name, path in MODULES.items()}
    while free := {
        *(name for name, needs in waiting.items() if not needs),
        *(waiting.keys() - set().union(*waiting.values())),
    }:
        waiting = {name: needs - free for name, needs in waiting.items() if name not in free}
    assert waiting == {}  # what is left are the circles


def test_dask_is_added_by_public_names_alone() -> None:
    """`gradwrap.dask` shows that a package of somebody else's can add an array library."""
    modules = ("errors", "extend", "numpy", "tree")
    public = {"gradwrap", *(f"gradwrap.{name}" for name in modules)}
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
        assert names <= {*dir(gw)}, path.name
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


def frames_of(call: Callable[[], Any]) -> list[Path]:
    """The file of each call of gradwrap's functions; what is bound once is bound before."""
    for _ in range(3):
        call()
    found = [Path(code.co_filename) for code in called_code(call)]
    return [path for path in found if SOURCE in path.parents]


@pytest.mark.parametrize(("name", "most"), [("grad", 90), ("jvp", 93), ("vmap(grad)", 236)])
def test_calls_of_functions_in_a_journey(name: str, most: int) -> None:
    """On Python 3.11, where a list comprehension counts as a call; later versions have fewer."""
    assert len(frames_of(JOURNEYS[name])) <= most


def test_the_core_that_a_gradient_goes_through_can_be_read_in_one_sitting() -> None:
    called = {path for call in JOURNEYS.values() for path in frames_of(call)}
    files = {path for path in called if SOURCE / "core" in path.parents}
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    assert len(files) <= 12, sorted(path.name for path in files)
    assert lines <= 3_000
