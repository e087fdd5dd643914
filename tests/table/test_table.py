"""The table is complete, and its rows are what the core takes them for."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
import pytest

from gradwrap.core.library.namespace import composites
from gradwrap.core.table.kinds import GENERAL
from gradwrap.core.table.registry import find_op, ops
from gradwrap.core.table.rule import Rule, zero
from gradwrap.errors import RuleDefinitionError
from lambdas import fn

BEYOND_THE_STANDARD = ["copy", "einsum", "getitem", "setitem", "to_device"]
NUMPY: Any = array_api_compat.array_namespace(np.empty(0))
ROWS = [rule for op in ops() for rule in op.rules.values() if rule.provenance != "user"]


@pytest.mark.parametrize("name", BEYOND_THE_STANDARD)
def test_function_has_a_rule_or_is_made_of_those_that_have(name: str) -> None:
    assert find_op(name) is not None or name in composites()


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: rule.name)
def test_row_without_derivative_has_a_reason(rule: Rule) -> None:
    assert rule.differentiable or rule.reason


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: rule.name)
def test_formula_gets_all_it_uses_by_its_parameters(rule: Rule) -> None:
    """A formula that is a closure keeps values that nothing accounts for."""
    for formula in (*rule.formulas, *rule.jvps):
        if formula is not None and formula.function is not zero:
            assert getattr(formula.function, "__closure__", None) is None
            assert set(formula.saved) <= set(rule.words())


def test_formula_with_an_unknown_name_is_refused_with_those_it_may_use() -> None:
    with pytest.raises(RuleDefinitionError) as caught:
        Rule("f", "x, /, *, axis=None", [fn(lambda xp, g, y: g)], kind=GENERAL)

    assert str(caught.value) == (
        "f: a formula names y, which it cannot be given. It may use xp, g, out, x, axis, x_meta."
    )


def test_formula_whose_first_parameters_are_others_is_refused() -> None:
    with pytest.raises(RuleDefinitionError, match=r"first two parameters are xp and g"):
        Rule("f", "x, /", [fn(lambda g, x: g * x)], kind=GENERAL)


@pytest.mark.parametrize(
    "rule",
    [r for r in ROWS if r.diagonal is not None and set(r.diagonal.split()) <= set(r.arrays)],
    ids=lambda rule: rule.name,
)
def test_zero_gives_zero_at_the_arguments_that_keep_a_diagonal(rule: Rule) -> None:
    """Off the diagonal are zeros, which the operation does not look at under `vmap`."""
    assert rule.diagonal is not None
    function = getattr(NUMPY, rule.name)
    for zero_at in rule.diagonal.split():
        for other in (-1.5, 0.5, 3.0):
            values = [np.zeros(2) if name == zero_at else np.full(2, other) for name in rule.arrays]
            assert np.array_equal(function(*values), np.zeros(2))


@pytest.mark.parametrize("rule", [r for r in ROWS if r.symmetric], ids=lambda rule: rule.name)
def test_formulas_of_a_symmetric_row_are_one_function_of_the_other_argument(rule: Rule) -> None:
    """Backward calls the first alone where both arguments are one array."""
    first, second = rule.formulas
    assert first is not None
    assert second is not None
    assert (first.saved, second.saved) == (("x2",), ("x1",))
    g, x = np.array([0.3, -1.2]), np.array([1.7, 0.4])
    assert np.array_equal(first.function(NUMPY, g, x), second.function(NUMPY, g, x))
