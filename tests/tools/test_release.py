"""The distributions have what they should have: tests, stubs, one version everywhere."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import gradwrap

ROOT = Path(__file__).parents[2]
TYPINGS = ROOT / "typings"
IGNORED = {".venv", "build", "dist", "site", "venv"}

pytest.importorskip("hatchling")
package_readme: Any = importlib.import_module("package_readme")


def built(target: str, source: Path, folder: Path) -> Path:
    """Build a distribution into a folder, and return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=source)
    (path,) = folder.iterdir()
    return path


def sources(folder: str, *suffixes: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.suffix in suffixes and "__pycache__" not in path.parts
    }


@pytest.mark.slow
def test_source_distribution_has_all_that_its_tests_need(tmp_path: Path) -> None:
    with tarfile.open(built("sdist", ROOT, tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = sources("tests", ".py", ".txt", ".json", ".toml", ".md")
    for folder in ("src", "docs", "examples", "benchmarks", "typings"):
        wanted |= sources(folder, ".py", ".pyi", ".md", ".typed")
    wanted |= {"conftest.py", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}
    wanted |= {"CITATION.cff", "noxfile.py", ".ci/run", ".ci/constraints.txt"}
    assert len(wanted) > 500
    assert wanted - names == set()
    assert {name.partition("/")[0] for name in names} & IGNORED == set()


def test_wheel_has_the_package_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(built("wheel", ROOT, tmp_path)) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == {name.removeprefix("src/") for name in sources("src", ".py", ".typed")}


def test_the_description_has_no_relative_links(tmp_path: Path) -> None:
    with zipfile.ZipFile(built("wheel", ROOT, tmp_path)) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        text = wheel.read(name).decode().partition("\n\n")[2]
    assert text.startswith("# gradwrap\n")
    assert "[Python Array API\nstandard](https://data-apis.org/" in text
    assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []


def test_links_of_the_description_are_absolute_if_the_repository_is_known() -> None:
    text = "![A fit](docs/fit.svg) [the\nguide](docs/a.md#b), [it](https://a.org/x), [c](#d)"
    assert package_readme.described(text, "https://host.example/g/") == (
        "![A fit](https://host.example/g/raw/main/docs/fit.svg) "
        "[the\nguide](https://host.example/g/blob/main/docs/a.md#b), [it](https://a.org/x), [c](#d)"
    )
    assert package_readme.described(text, None) == " the\nguide, [it](https://a.org/x), [c](#d)"


def test_stubs_of_cupy_are_a_package_of_their_own(tmp_path: Path) -> None:
    with zipfile.ZipFile(built("wheel", TYPINGS, tmp_path)) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        whole = wheel.read("cupy-stubs/__init__.pyi")
    wanted = sources("typings/cupy", ".pyi", ".typed") | sources("typings/cupyx", ".pyi", ".typed")
    renamed = {name.removeprefix("typings/").replace("/", "-stubs/", 1) for name in wanted}
    assert names == renamed
    assert whole == (TYPINGS / "cupy" / "__init__.pyi").read_bytes()


def test_every_file_names_the_same_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == gradwrap.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {gradwrap.__version__}" in citation
