"""The stubs in typings/, and any of our own, agree with the modules: mypy's stubtest compares them.

CuPy can be compared without a GPU: importing it needs none. A stub may omit names, since it has
only those that this project and a typical user need; those that it has must be right.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parents[2]
TYPINGS = ROOT / "typings"
ALLOWED = TYPINGS / "stubtest-allowlist.txt"
SOURCE = ROOT / "src"
PACKAGES = sorted(path.parent.name for path in TYPINGS.glob("*/__init__.pyi"))
CUPY = 14
OWN = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in SOURCE.rglob("*.pyi")
)


def stubtest(*modules: str, path: Path = TYPINGS, allowed: Path | None = ALLOWED) -> str:
    """Return the mistakes that stubtest finds; an empty text if there are none."""
    options = ["--concise", "--ignore-missing-stub", "--ignore-disjoint-bases"]
    options += ["--mypy-config-file", str(ROOT / "pyproject.toml")]
    if allowed is not None:  # one list for all packages: each needs its own lines only
        options += ["--allowlist", str(allowed), "--ignore-unused-allowlist"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", *modules, *options],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={"MYPYPATH": str(path), "PATH": "", "PYTHONPATH": str(SOURCE)},
        text=True,
    )
    # On its error stream the library says what it could not load, such as NCCL.
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_all_stub_packages_are_found() -> None:
    assert {"cupy", "cupyx", "graphviz", "scipy", "sklearn"} <= set(PACKAGES)


@pytest.mark.slow
@pytest.mark.parametrize("of_cupy", [True, False], ids=["cupy", "others"])
def test_the_stubs_are_what_the_installed_libraries_are(of_cupy: bool) -> None:
    """One run reads the types of NumPy and Python once for all packages."""
    if of_cupy:
        pytest.importorskip("cupy", minversion=f"{CUPY}.0", reason=f"the stubs are of CuPy {CUPY}")
    packages = [one for one in PACKAGES if one.startswith("cupy") == of_cupy and find_spec(one)]
    if not packages:
        pytest.skip("none of the libraries is installed")
    assert stubtest(*packages) == ""


@pytest.mark.slow
@pytest.mark.skipif(not OWN, reason="there is no .pyi under src")
def test_our_own_stubs_are_what_the_modules_are() -> None:
    assert stubtest(*OWN, path=SOURCE) == ""


@pytest.mark.slow
def test_a_wrong_stub_would_be_found(tmp_path: Path) -> None:
    pytest.importorskip("graphviz")
    (tmp_path / "graphviz").mkdir()
    right = (TYPINGS / "graphviz" / "__init__.pyi").read_text(encoding="utf-8")
    wrong = right.replace("quiet: bool", "silent: bool")
    (tmp_path / "graphviz" / "__init__.pyi").write_text(wrong, encoding="utf-8")
    found = stubtest("graphviz", path=tmp_path, allowed=None)
    assert 'Source.pipe is inconsistent, stub parameter "silent" differs' in found


def test_each_line_of_the_allowlist_has_a_reason() -> None:
    """A comment stands above each expression, or above the expressions right before it."""
    lines = ["", *ALLOWED.read_text(encoding="utf-8").splitlines()]
    for above, line in itertools.pairwise(lines):
        assert not line or line.startswith("# ") or above, line
