"""Syntax trees of source, built by one thread at a time."""

from __future__ import annotations

import ast
import threading
from typing import Any

_building = threading.RLock()
ATTEMPTS = 10


def parsed(text: str, file: str = "<unknown>", mode: str = "exec") -> Any:
    """Return the syntax tree of a source, as `ast.parse` does, whichever threads ask at once.

    Python 3.11 counts the depth of the trees of all threads in one place (gh-106905): a thread
    that builds a tree while another does may get `SystemError`. Those that ask here wait for each
    other. If code of others builds one meanwhile, the tree is built again.
    """
    with _building:
        for _ in range(ATTEMPTS - 1):
            try:
                return ast.parse(text, file, mode)
            except SystemError:
                continue
        return ast.parse(text, file, mode)
