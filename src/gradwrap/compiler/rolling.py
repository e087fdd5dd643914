"""Rolling: loops that a trace has unrolled are found again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradwrap.compiler.program import Program


def rolled(program: Program) -> None:
    """Find the loops of a program."""
