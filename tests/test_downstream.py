"""A typed project against the installed wheel: nothing of this repository is in its sight."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


def perform(
    command: list[str | Path], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
        text=True,
    )


def run(command: list[str | Path], folder: Path, **environment: str) -> str:
    done = perform(command, folder, **environment)
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


@pytest.fixture
def environment(site: Path, tmp_path: Path) -> Path:
    """An environment with the wheel installed; the dependencies are those of this one."""
    folder = tmp_path / "environment"
    assert run([sys.executable, "-m", "venv", "--without-pip", folder], tmp_path) == ""
    packages = next(folder.glob("lib/python*/site-packages"))
    shutil.copytree(site, packages, dirs_exist_ok=True)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder


def test_all_public_types_are_known(environment: Path, tmp_path: Path) -> None:
    """`pyright --verifytypes`, on the wheel: 100 %."""
    pytest.importorskip("pyright")
    path = os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])
    pyright: list[str | Path] = [sys.executable, "-m", "pyright", "--outputjson"]
    options = ["--verifytypes", "gradwrap", "--ignoreexternal"]
    done = perform([*pyright, *options], tmp_path, PATH=path, VIRTUAL_ENV=str(environment))
    report = json.loads(done.stdout)["typeCompleteness"]
    unclear = [
        (symbol["name"], [one["message"] for one in symbol["diagnostics"]])
        for symbol in report["symbols"]
        if symbol["isExported"] and (symbol["isTypeAmbiguous"] or not symbol["isTypeKnown"])
    ]
    assert unclear == []
    assert report["pyTypedPath"] == str(_package(environment) / "py.typed")
    counts = report["exportedSymbolCounts"]
    assert counts["withUnknownType"] == counts["withAmbiguousType"] == 0
    assert counts["withKnownType"] > 500
    assert report["completenessScore"] == 1.0


def _package(environment: Path) -> Path:
    return next(environment.glob("lib/python*/site-packages")) / "gradwrap"
