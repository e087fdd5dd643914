"""Docstrings whose section *Returns* is prose: made what the reader of docstrings expects.

It takes each line of that section for a type, unless the lines below it are indented.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe  # pyright: ignore[reportMissingImports]  # of the extra docs

__all__ = ["ProseReturns", "indented"]

RETURNS = re.compile(r"(?<=^Returns\n-------\n)(?:(?!\w[^\n]*\n---).*\n?)+", re.MULTILINE)


def indented(docstring: str) -> str:
    """Indent the section *Returns* below an empty type, if it is prose."""

    def moved(section: re.Match[str]) -> str:
        first, _, rest = section[0].partition("\n")
        if first.startswith(" ") or rest.startswith(" "):
            return section[0]
        return ":\n" + textwrap.indent(section[0], "    ")

    return RETURNS.sub(moved, docstring)


class ProseReturns(griffe.Extension):  # type: ignore[misc]  # mypy does not read griffe
    """Reads prose where types are expected."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Mend the docstring of an object when it is read."""
        if obj.docstring is not None:
            obj.docstring.value = indented(obj.docstring.value)
