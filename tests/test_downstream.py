"""A typed project against the installed wheel: nothing of this repository is in its sight."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


def run(command: list[str | Path], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
        text=True,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, in a folder of its own."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    pip: list[str | Path] = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(folder / "site")]
    assert run([*pip, "install", *options, str(ROOT)], folder) == ""
    return folder / "site"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "tests" / "downstream", tmp_path / "project"))


def test_mypy_strict(site: Path, project: Path) -> None:
    pytest.importorskip("mypy")
    command: list[str | Path] = [sys.executable, "-m", "mypy", "--follow-imports=silent", "."]
    assert run(command, project, MYPYPATH=str(site)) == ""


def test_pyright_strict(site: Path, project: Path) -> None:
    pytest.importorskip("pyright")
    config = project / "pyrightconfig.json"
    config.write_text(config.read_text().replace("{", f'{{ "extraPaths": ["{site}"],', 1))
    pyright = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    assert run([*pyright], project) == ""
