"""The names in code: variables, attributes, imports, and string constants."""

from __future__ import annotations

import dis
import functools
from itertools import pairwise
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLES = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
"""The bytecode instructions that read a variable of a module."""
ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "LOAD_SUPER_ATTR"})
"""The bytecode instructions that read an attribute."""


class Import(NamedTuple):
    """An import within a function: its level of relative import, and the name."""

    level: int
    name: str


class Names(NamedTuple):
    """The names in code."""

    variables: frozenset[str]
    """The variables of its module and of `builtins`."""
    attributes: frozenset[str]
    """Possible names of attributes, including each identifier among the strings."""
    names: frozenset[str]
    """All names and strings."""
    described: frozenset[str]
    """The variables whose attributes it reads."""
    opened: frozenset[str]
    """The variables and attributes whose `__dict__` it reads, but not those of a function."""
    imports: frozenset[Import]
    tells_same: bool
    """Whether it tests two values for identity."""


@functools.lru_cache(maxsize=1024)
def names_of(code: CodeType) -> Names:
    """Return the names in code, including nested functions."""
    codes = list(_codes(code))
    steps = [step for one in codes for step in dis.get_instructions(one)]
    variables = {step.argval for step in steps if step.opname in VARIABLES}
    imports = {
        Import(level.argval, step.argval)
        for level, _, step in zip(steps, steps[1:], steps[2:], strict=False)
        if step.opname == "IMPORT_NAME"
    }
    constants = [constant for one in codes for constant in one.co_consts]
    words = {one for one in constants if isinstance(one, str) and one.isidentifier()}
    names = words.union(*(one.co_names for one in codes))
    tells_same = not names.isdisjoint(("id", "is_"))
    described: set[str] = set()
    opened: set[str] = set()
    for before, step in pairwise(steps):
        if step.opname == "IS_OP" and before.argval not in (None, ...):
            tells_same = True
        elif step.opname in ATTRIBUTES and isinstance(before.argval, str):
            described.add(before.argval)
            if step.argval == "__dict__" and before.opname in (*VARIABLES, *ATTRIBUTES):
                opened.add(before.argval)
    attributes = words.union(step.argval for step in steps if step.opname in ATTRIBUTES)
    return Names(
        frozenset(variables),
        frozenset(attributes),
        frozenset(names),
        frozenset(described),
        frozenset(opened),
        frozenset(imports),
        tells_same,
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
