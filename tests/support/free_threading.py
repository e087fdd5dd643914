"""Marks for what Python's free-threaded build does otherwise."""

from __future__ import annotations

import sys
from typing import Any

import pytest

_has_gil: Any = getattr(sys, "_is_gil_enabled", lambda: True)
threads_begin_anew = pytest.mark.skipif(
    bool(getattr(sys.flags, "thread_inherit_context", 0)),
    reason="threads inherit the context of the thread that starts them",
)
counts_at_once = pytest.mark.skipif(
    not _has_gil(), reason="without the GIL, references are counted later"
)
