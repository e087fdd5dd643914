"""docs/compiled-gallery.md is current, and the sources that it shows give the gradients."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import make_compiled
from gradwrap.core.values.tree import flatten

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "compiled-gallery.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_page_is_current() -> None:
    command = [sys.executable, str(ROOT / "docs" / "make_compiled.py"), "--check"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "number", range(5), ids=[program.title for program in make_compiled.PROGRAMS]
)
def test_shown_sources_give_the_gradients(number: int) -> None:
    program = make_compiled.PROGRAMS[number]
    scope: dict[str, Any] = {}
    exec(SHOWN[2 * number + 1], scope)  # noqa: S102  what the page shows
    assert "gradwrap" not in scope
    for args in program.calls:
        nearby = tuple(arg * 1.001 for arg in args)
        for at in (args, nearby):
            wanted = flatten(gw.grad(program.function, program.argnums)(*at))[0]
            for a, b in zip(wanted, scope["compiled"](*at), strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)
