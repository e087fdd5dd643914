"""Generated source: executed, and shown by tracebacks and debuggers."""

from __future__ import annotations

import functools
import linecache
from typing import Any

from gradwrap.core.library.buffers import GENERATED

compiled: Any = functools.lru_cache(maxsize=4096)(compile)
"""Compile a text, once: primitives that a function makes in each call share their code."""


def execute(text: str, scope: dict[str, Any], title: str) -> None:
    """Execute source that gradwrap has written, under a file name that tracebacks can look up."""
    name = f"{GENERATED}{title}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compiled(text, name, "exec"), scope)  # noqa: S102  written from the table alone
