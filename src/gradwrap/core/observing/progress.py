"""A progress line of a long computation, by tqdm if it is installed."""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

INTERVAL = 0.1
"""The seconds between two changes of the line."""
PATIENCE = 2.0
"""The seconds after which a line is shown that nobody has asked for."""


class Progress:
    """A line on standard error: the iteration, the value, the length of the gradient.

    Parameters
    ----------
    wanted
        True: show the line. False: show none. None: show it if the computation takes longer than
        two seconds, in a terminal or a notebook. There, the environment variable
        `GRADWRAP_PROGRESS=0` turns it off, and `GRADWRAP_PROGRESS=1` turns it on everywhere.
    what
        The name that the line begins with.
    total
        The number of iterations, where it is known.
    """

    def __init__(self, wanted: bool | None, what: str, total: int | None = None) -> None:
        self.wanted: bool = _is_watched() if wanted is None else wanted
        self._begins = time.monotonic() + PATIENCE if wanted is None else 0.0
        self._what = what
        self._total = total
        self._bar: Any = None
        self._is_begun = False
        self._latest: Callable[[], str] | None = None
        self._step = 0
        self._shown = 0.0
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Show the last state, and end the line."""
        if self._bar is not None:
            if self._latest is not None:
                self._bar.set_postfix_str(self._latest())
            self._bar.close()
        elif self._latest is not None and self._is_begun:
            self._write(end="\n")

    def show(self, step: int, text: Callable[[], str]) -> None:
        """Show an iteration; `text` is called when the line changes."""
        if not self.wanted:
            return
        self._latest = text
        now = time.monotonic()
        if not self._is_begun:
            if now < self._begins:
                return
            self._is_begun = True
            self._bar = _tqdm(self._what, self._total)
        advance, self._step = step - self._step, step
        if self._bar is not None:
            self._bar.update(advance)
        if now - self._shown < INTERVAL:
            return
        self._shown = now
        if self._bar is not None:
            self._bar.set_postfix_str(text(), refresh=False)
        elif sys.stderr.isatty():
            self._write(end="")

    def _write(self, end: str) -> None:
        assert self._latest is not None
        of = "" if self._total is None else f" of {self._total}"
        line = f"{self._what}: iteration {self._step}{of}, {self._latest()}"
        start = "\r" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{start}{line.ljust(self._width) if start else line}{end}")
        sys.stderr.flush()
        self._width = len(line)


def _is_watched() -> bool:
    """Tell if standard error is shown to a user: in a terminal, or in a notebook."""
    chosen = os.environ.get("GRADWRAP_PROGRESS", "")
    if chosen:
        return chosen != "0"
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _tqdm(what: str, total: int | None) -> Any:
    try:
        module: Any = import_module("tqdm.auto")
    except ImportError:
        return None
    return module.tqdm(desc=what, total=total, unit=" iterations")
