"""Syntax trees of source, built by one thread at a time, and where the source of code is."""

from __future__ import annotations

import ast
import itertools
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType

_building = threading.RLock()
ATTEMPTS = 10
GOING_ON = "#)]}"
"""What a line of a block may begin with that is not indented more than the block's first line."""


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


def end_of_block(lines: list[str], first: int, last: int) -> int:
    """Return the number of lines up to the end of a block whose lines `first` to `last` are known.

    Lines are counted from 0. A line of a text at the block's margin is taken for its end.
    """
    margin = indent_of(lines[first])
    last += 1
    while last < len(lines):
        line = lines[last].lstrip()
        if line and line[0] not in GOING_ON and indent_of(lines[last]) <= margin:
            break
        last += 1
    return last


def last_line(code: CodeType) -> int:
    """Return the last line, counted from 1, of which code has an instruction."""
    inner = (one for one in code.co_consts if isinstance(one, type(code)))
    ends = (end for _, end, _, _ in code.co_positions() if end is not None)
    return max(itertools.chain(ends, map(last_line, inner)), default=code.co_firstlineno)


def indent_of(line: str) -> int:
    """Return the number of characters before the text of a line."""
    return len(line) - len(line.lstrip())
