"""A line that shows how far a long computation is: tqdm's if it is installed, or a plain one."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

INTERVAL = 0.1
"""The seconds between two changes of the line."""


class Progress:
    """A line on standard error: the iteration, the value, the length of the gradient.

    Parameters
    ----------
    wanted
        Whether there is to be a line at all.
    what
        The name that the line begins with.
    total
        The number of iterations, where it is known.
    """

    def __init__(self, wanted: bool, what: str, total: int | None = None) -> None:
        self.wanted = wanted
        self._what = what
        self._total = total
        self._bar: Any = _tqdm(what, total) if wanted else None
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
        elif self._latest is not None:
            self._write(end="\n")

    def show(self, step: int, text: Callable[[], str]) -> None:
        """Show an iteration; `text` is called when the line changes."""
        if not self.wanted:
            return
        advance, self._step, self._latest = step - self._step, step, text
        if self._bar is not None:
            self._bar.update(advance)
        now = time.monotonic()
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


def _tqdm(what: str, total: int | None) -> Any:
    try:
        module: Any = import_module("tqdm.auto")
    except ImportError:
        return None
    return module.tqdm(desc=what, total=total, unit=" iterations")
