"""The instructions of code, and the names in them: `dis` takes some twenty times as long."""

from __future__ import annotations

import sys
from opcode import opmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

CACHE, EXTENDED_ARG = opmap.get("CACHE", 0), opmap["EXTENDED_ARG"]
LOAD_ATTR, LOAD_GLOBAL = opmap["LOAD_ATTR"], opmap["LOAD_GLOBAL"]
STORE_ATTR, STORE_GLOBAL = opmap["STORE_ATTR"], opmap["STORE_GLOBAL"]
STORE_SUBSCR, COMPARE_OP = opmap["STORE_SUBSCR"], opmap["COMPARE_OP"]
CONTAINS_OP = opmap["CONTAINS_OP"]
FLAGGED = {LOAD_GLOBAL} if sys.version_info < (3, 12) else {LOAD_GLOBAL, LOAD_ATTR}
"""Instructions whose argument has a flag below the place of the name."""
NAMING = {LOAD_ATTR, LOAD_GLOBAL, STORE_ATTR, STORE_GLOBAL}


def steps_of(code: CodeType) -> Iterator[tuple[int, int]]:
    """Yield the instructions of code, and their arguments."""
    whole = 0
    codes = code.co_code
    for step, argument in zip(codes[::2], codes[1::2], strict=True):
        if step == EXTENDED_ARG:
            whole = (whole | argument) << 8
        elif step != CACHE:
            yield step, whole | argument
            whole = 0


def named_steps_of(code: CodeType) -> Iterator[tuple[int, str]]:
    """Yield the instructions of code that read or write attributes and globals, and the names."""
    for step, argument in steps_of(code):
        if step in NAMING:
            yield step, code.co_names[argument >> (step in FLAGGED)]


def kinds_of(code: CodeType) -> frozenset[int]:
    """Return the kinds of instructions in code."""
    return frozenset(code.co_code[::2])
