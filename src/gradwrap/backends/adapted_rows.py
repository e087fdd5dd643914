"""Rows of the table with the changes that a library needs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from gradwrap.core.registry import GENERIC, find_op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.rule import FormulaFunction, Rule

__all__ = ["adapted"]


def adapted(
    name: str,
    *formulas: FormulaFunction,
    native: FormulaFunction | None = None,
    jvps: Sequence[FormulaFunction] | None = None,
    consumes: bool | None = None,
) -> Rule:
    """Return the generic rule of an operation with other formulas, or another native function."""
    op = find_op(name)
    assert op is not None, name
    rule = copy.copy(op.rules[GENERIC])
    if formulas:
        rule.define(formulas)
    if native is not None:
        rule.native = native
    if jvps is not None:
        rule.define_jvps(jvps)
    if consumes is not None:
        rule.consumes = consumes
    return rule
