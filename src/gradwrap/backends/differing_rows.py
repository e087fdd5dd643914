"""Rows of the table, changed for one library."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from gradwrap.core.table.registry import GENERIC, find_op
from gradwrap.core.values.space import zeros_of
from gradwrap.errors import RuleDefinitionError
from gradwrap.rules.selection import cotangent_of_written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.table.rule import FormulaFunction, Rule


def differing(
    name: str,
    *formulas: FormulaFunction,
    native: FormulaFunction | None = None,
    jvps: Sequence[FormulaFunction] | None = None,
    consumes: bool | None = None,
) -> Rule:
    """Return the generic rule of an operation with other formulas, or another native function."""
    op = find_op(name)
    if op is None:
        raise RuleDefinitionError(
            f"{name!r} is not a name of the table. Fix: use a name of the standard, such as 'sum' "
            "or 'linalg.inv'."
        )
    rule = copy.copy(op.rules[GENERIC])
    if formulas:
        rule.define(formulas)
    if native is not None:
        rule.native = native
        rule.symbol = None  # the operator is not this function
    if jvps is not None:
        rule.define_jvps(jvps)
    if consumes is not None:
        rule.consumes = consumes
    return rule


def writing(
    write: Callable[..., Any], native: FormulaFunction, *, consumes: bool | None = None
) -> Rule:
    """Make the row of `setitem` from `write(array, key, value)`, which returns the array."""

    def cotangents(xp: Any, g: Any, key: Any, value_meta: Any) -> tuple[Any, Any]:
        of_value = None if value_meta is None else cotangent_of_written(xp, g, key, write)
        return write(g, key, 0), of_value

    jvps: list[FormulaFunction] = [
        lambda xp, t, key: write(t.copy(), key, 0),
        lambda xp, t, x_meta, key: write(zeros_of(xp, x_meta), key, t),
    ]
    return differing("setitem", cotangents, native=native, jvps=jvps, consumes=consumes)
