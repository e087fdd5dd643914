"""Saved modules hold functions of the library: read from its files when a text is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.engines import shipped
from gradwrap.errors import CompileError

SOURCE = Path(__file__).parents[2] / "src" / "gradwrap"
AT = np.array([0, 2, 2, 1])
X = np.linspace(0.1, 1.0, 3 * 20_000).reshape(3, -1)


def repeated(x: Any) -> Any:
    return np.sum(np.sin(x[AT]) * np.cos(x[AT]))


def test_a_saved_module_needs_numpy_alone(tmp_path: Path) -> None:
    compiled: Any = gw.compile(gw.grad(repeated))
    wanted = compiled(X)
    compiled.save(tmp_path / "saved.py")
    text = (tmp_path / "saved.py").read_text(encoding="utf-8")
    for name in ("add_at", "_index_arrays", "aligned"):
        assert text.count(f"def {name}(") == 1
    compiled_text = "\n".join(line for line in text.splitlines() if "import" in line)
    assert "gradwrap" not in compiled_text
    np.savez(tmp_path / "given.npz", x=X, wanted=wanted)
    program = (
        "import numpy as np, saved, sys; given = np.load('given.npz'); "
        "np.testing.assert_allclose(saved.compiled(given['x'])[0], given['wanted'], 1e-13, 1e-13); "
        "assert not any(name.startswith('gradwrap') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


def test_programs_run_where_the_source_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> Path:
        return Path("nowhere") / package

    monkeypatch.setattr(shipped, "files", missing)
    compiled: Any = gw.compile(gw.grad(repeated))
    for _ in range(2):
        np.testing.assert_allclose(compiled(X), gw.grad(repeated)(X), 1e-13, 1e-13)
    assert "runs eagerly" not in compiled.explain()
    with pytest.raises(CompileError, match=r"whose source is not installed\. Fix: install"):
        _ = compiled.source


@pytest.mark.slow
def test_the_library_compiles_and_saves_from_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in SOURCE.rglob("*.py"):
            packed.write(path, path.relative_to(SOURCE.parent))
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "import numpy as np, gradwrap as gw\n"
        "at = np.array([0, 2, 2])\n"
        "compiled = gw.compile(gw.grad(lambda x: np.sum(np.sin(x[at]))))\n"
        "compiled(np.ones(3)); compiled(np.ones(3))\n"
        "assert 'library.zip' in gw.__file__, gw.__file__\n"
        "assert 'def add_at(' in compiled.source\n"
        "assert 'eagerly' not in compiled.explain(), compiled.explain()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_saved_functions_have_no_annotations_and_imports_come_first_and_once() -> None:
    compiled: Any = gw.compile(gw.grad(repeated))
    compiled(X)
    nodes = ast.parse(compiled.source).body
    imports = [
        ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert imports[:3] == ["import math", "import pathlib", "import numpy as np"]
    assert len(imports) == len({*imports})
    assert all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in nodes[: len(imports)])
    every = [part for node in nodes for part in ast.walk(node)]
    assert not any(isinstance(part, ast.AnnAssign) for part in every)
    assert not any(getattr(part, "annotation", None) for part in every)
    assert not any(getattr(part, "returns", None) for part in every)
