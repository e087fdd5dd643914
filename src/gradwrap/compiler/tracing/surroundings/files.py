"""Files that a function reads while it is traced: what they hold is a part of its surroundings."""

from __future__ import annotations

import builtins
import functools
import io
import os
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.tracing.namespace import current
from gradwrap.compiler.tracing.surroundings.watch import State
from gradwrap.core.levels.modes import code_that_runs
from gradwrap.core.observing.code import PYTHONS, is_in_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

NAMES = frozenset(
    {"open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_text", "read_bytes"}
    | {"listdir", "scandir", "iterdir", "walk", "glob", "rglob"}
)
STARTS = ("open_", "load_", "read_")
"""Names in code that reads files or folders, and how others start."""
DATA_SOURCE = "numpy.lib._datasource"
"""The module that opens files for `np.loadtxt`, by what it has kept of Python's functions."""
PLACES = ((builtins, "open"), (io, "open"), (os, "listdir"), (os, "scandir"))
PATHS: Any = (str, bytes, os.PathLike)
_lock = threading.Lock()
_exchanged: list[tuple[Any, str, Any, Any]] = []
"""Where a function was exchanged, the function, and what is in its place."""
_runs: list[None] = []
"""As many as there are runs that are told of files."""


def may_read(names: Iterable[Any]) -> bool:
    """Tell if code may read files that has these names, or asks for attributes of these names."""
    return any(name in NAMES or name.startswith(STARTS) for name in map(str, names))


@contextmanager
def noting() -> Generator[None]:
    """Note the files that a traced function reads, by functions in place of those that open files.

    An audit hook of Python would do so, too. But it stays, slows `id` down, and lets
    `sys.settrace` fail in other threads.
    """
    with _lock:
        if not _runs:
            source = sys.modules.get(DATA_SOURCE)
            places = [*PLACES, *([] if source is None else [(source, "open")])]
            found = [(holder, name, getattr(holder, name)) for holder, name in places]
            _exchanged.extend((*one, _told(one[2])) for one in found)
            for holder, name, _, told in _exchanged:
                setattr(holder, name, told)
        _runs.append(None)
    try:
        yield
    finally:
        with _lock:
            _runs.pop()
            if not _runs:
                for holder, name, function, told in _exchanged:
                    if getattr(holder, name) is told:  # and not another tool's
                        setattr(holder, name, function)
                _exchanged.clear()


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that notes its first argument, a path, if a function is being traced."""

    @functools.wraps(function)
    def told(*args: Any, **kwargs: Any) -> Any:
        notes = None if current.get() is None else code_that_runs.get()
        path = args[0] if args else kwargs.get("file", kwargs.get("path", "."))
        mode = args[1] if len(args) > 1 else kwargs.get("mode")
        writes = isinstance(mode, str) and not mode.startswith("r")
        if notes is not None and isinstance(path, PATHS) and not writes:
            notes.files.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100  not resolved
        return function(*args, **kwargs)

    return told


def states(paths: Iterable[str]) -> Iterator[State]:
    """Yield the places to watch for files, but for code and what comes with packages."""
    for path in sorted(paths):
        is_shipped = path.startswith(PYTHONS) or is_in_packages(path)
        if not (is_shipped or path.endswith((".py", ".pyc"))):
            yield State(f"the file {path}", path, _state)


def _state(path: str) -> tuple[int, ...]:
    """Return what changes when a file is written; () if it is missing."""
    try:
        found = os.stat(path)  # noqa: PTH116  a path would have to be made at each call
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino
