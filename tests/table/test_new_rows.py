"""A new operation costs one row: the generated tests find it, and pass in every mode."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = ("test_rules.py", "test_forward_rules.py", "test_vmap_rules.py")


NEW = ("soft_sign", "log_mean_exp", "reverse_last")


@pytest.mark.slow
def test_generated_tests_pass_for_new_rows() -> None:
    files = [str(ROOT / "tests" / "table" / name) for name in GENERATED]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "extra_rows", "-k", " or ".join(NEW), *files],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "tests" / "table"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout
    for name in NEW:
        assert len(re.findall(rf"{name}\b.* PASSED", found.stdout)) >= 20, found.stdout
