"""Rules whose cotangents are put where the arguments are, for libraries of arrays in parts."""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.library.scatter import at_key
from gradwrap.core.table.rule import Formula, Rule, zero
from gradwrap.core.values.dynamic import SEQUENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    Place = Callable[[Any, Any], Any]


@functools.cache
def placed_rule(rule: Rule, place: Place) -> Rule:
    """Return the rule with formulas whose results go through `place(cotangent, meta)`.

    A symmetric operation is unchanged: its saved arguments are compared, so that `x * x` takes one
    product.
    """
    if rule.parts or rule.symmetric:
        return rule
    made = copy.copy(rule)
    metas = ("metas",) if rule.variadic else tuple(f"{name}_meta" for name in rule.arrays)
    each = (metas,) if rule.is_joint else [(meta,) for meta in metas]
    pairs = zip(rule.formulas, each, strict=False)
    made.formulas = tuple(_placed_formula(formula, names, place) for formula, names in pairs)
    return made


def _placed_formula(
    formula: Formula | None, metas: tuple[str, ...], place: Place
) -> Formula | None:
    """Return a formula, of one argument or of all, whose results are placed."""
    if formula is None or formula.function in (zero, at_key):
        return formula
    function, own = formula.function, len(formula.saved)

    def placed(xp: Any, g: Any, *saved: Any) -> Any:
        found, spaces = function(xp, g, *saved[:own]), saved[own:]
        if metas == ("metas",):
            (spaces,) = spaces
        if isinstance(found, SEQUENCE):
            return [_put(place, one, space) for one, space in zip(found, spaces, strict=True)]
        return _put(place, found, spaces[0])

    return Formula(placed, (*formula.saved, *metas))


def _put(place: Place, cotangent: Any, meta: Any) -> Any:
    """Place a cotangent; a number has no place."""
    return cotangent if cotangent is None or meta is None else place(cotangent, meta)
