"""Tracebacks without gradwrap's frames between the user's lines."""

from __future__ import annotations

import os
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from gradwrap.errors import GradwrapError

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "GRADWRAP_TRACEBACK"
"""The environment variable that keeps all frames if it is `full`."""


def shorten(error: BaseException) -> None:
    """Remove gradwrap's frames before the user's last frame from an error's traceback.

    Frames after that one are left out too if gradwrap raised the error itself, since its message
    names the operation.
    """
    if os.environ.get(VARIABLE) == "full":
        return
    entries = list(_entries(error.__traceback__))
    ours = [_is_of(entry, "gradwrap") for entry in entries]
    if all(ours):
        return
    last = len(ours) - 1 - ours[::-1].index(False)
    ends = last + 1 if isinstance(error, GradwrapError) else len(entries)
    kept: TracebackType | None = None
    for k in reversed(range(ends)):
        if k > last or not ours[k]:
            entry = entries[k]
            kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    error.__traceback__ = kept


def forget(error: BaseException | None) -> None:
    """Drop the local names of gradwrap's and NumPy's frames in an error's tracebacks."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        for entry in _entries(error.__traceback__):
            if _is_of(entry, "gradwrap", "numpy"):
                with suppress(RuntimeError):  # it is still running
                    entry.tb_frame.clear()
        error = error.__cause__ or error.__context__


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_of(entry: TracebackType, *packages: str) -> bool:
    module = str(entry.tb_frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in packages
