"""Packages that know nothing of gradwrap: written to files, and imported."""

from __future__ import annotations

import importlib
import itertools
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_numbers = itertools.count()
HEADER = "import cmath\nimport functools\nimport math\n\nimport numpy as np\n"


def written(folder: Path, source: str, *, names: bool = False) -> Any:
    """Import a module of this source, with NumPy as `np`; or with each name imported by itself."""
    text = HEADER + textwrap.dedent(source)
    name = f"package_{next(_numbers)}"
    (folder / f"{name}.py").write_text(_by_name(text) if names else text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def installed(folder: Path, source: str) -> Any:
    """Import a module that gradwrap takes for an installed package."""
    packages = folder / "site-packages"
    packages.mkdir()
    return written(packages, source)


def _by_name(text: str) -> str:
    """Write `zeros` for `np.zeros`, and `m_sin` for `math.sin`."""
    found = sorted(set(re.findall(r"\bnp\.(\w+)", text)) - {"sum"})  # which is a builtin too
    of_math = sorted(set(re.findall(r"\bmath\.(\w+)", text)))
    text = re.sub(r"\bnp\.(?!sum\b)(\w+)", r"\1", re.sub(r"\bmath\.(\w+)", r"m_\1", text))
    lines = [f"from numpy import {name}" for name in found]
    lines += [f"from math import {name} as m_{name}" for name in of_math]
    return text.replace("import numpy as np\n", "\n".join(["import numpy as np", *lines, ""]), 1)
