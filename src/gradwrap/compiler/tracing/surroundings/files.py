"""Files that a function reads while it is traced: what they hold is a part of its surroundings."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.tracing.namespace import current
from gradwrap.compiler.tracing.surroundings.watch import State
from gradwrap.core.levels.modes import code_that_runs
from gradwrap.core.observing.code import PYTHONS, is_in_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

EVENTS = frozenset({"open", "os.listdir", "os.scandir"})
"""By their names in Python's table of audit events: a file or a folder is read."""
NAMES = frozenset(
    {"open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_text", "read_bytes"}
    | {"listdir", "scandir", "iterdir", "walk", "glob", "rglob"}
)
STARTS = ("open_", "load_", "read_")
"""Names in code that reads files or folders, and how others start."""
WRITES = os.O_WRONLY
"""The flag of a file that is opened to be written alone."""
_listens: list[bool] = []
"""Not empty once the process tells which files it opens."""


def may_read(names: Iterable[Any]) -> bool:
    """Tell if code may read files that has these names, or asks for attributes of these names."""
    return any(name in NAMES or name.startswith(STARTS) for name in map(str, names))


def listen() -> bool:
    """Let Python tell which files are opened; return whether it did not so far.

    An audit hook stays until Python ends, and makes each `id()` slower by 0.3 us: there is none in
    a process until a function is compiled that may read files.
    """
    if _listens:
        return False
    _listens.append(True)
    sys.addaudithook(_heard_by(current.get, code_that_runs.get))
    return True


def _heard_by(tape: Callable[[], Any], ran: Callable[[], Any]) -> Callable[[str, Any], None]:
    """Return a hook that notes the files which a traced function reads.

    It holds all that it uses: Python calls it when the variables of modules have gone.
    """
    events, writes, decoded = EVENTS, WRITES, os.fsdecode
    absolute = os.path.abspath  # `Path.resolve` follows links, which may come to lead elsewhere

    def hear(event: str, args: Any) -> None:
        if event not in events or tape() is None or (event == "open" and args[2] & writes):
            return
        notes = ran()
        if notes is not None and not isinstance(args[0], int):
            notes.files.add(absolute(decoded(args[0] or ".")))

    return hear


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
