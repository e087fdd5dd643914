"""Code of ours that our own profile functions do not watch."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gradwrap.core.values.dynamic import attribute_or_none

if TYPE_CHECKING:
    from collections.abc import Generator

PAUSES = "__gradwrap_pauses__"
"""The attribute of a profile function that is not called while a module is imported."""


@contextmanager
def paused() -> Generator[None]:
    """Let no profile function of ours watch what runs meanwhile."""
    watcher = sys.getprofile()
    pauses = attribute_or_none(watcher, PAUSES)
    if pauses:
        sys.setprofile(None)
    try:
        yield
    finally:
        if pauses and sys.getprofile() is None:  # and not a profiler that a module has started
            sys.setprofile(watcher)
