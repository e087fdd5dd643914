"""The table is complete, and its rows are what the core takes them for."""

from __future__ import annotations

import pytest

from gradwrap.core.namespace import composites
from gradwrap.core.registry import find_op, ops
from gradwrap.core.rule import Rule, zero
from gradwrap.errors import RuleDefinitionError

ELEMENTWISE = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_invert",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "square",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]
OTHERS = [
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "max",
    "min",
    "cumulative_sum",
    "matmul",
    "tensordot",
    "vecdot",
    "matrix_transpose",
    "einsum",
    "linalg.cholesky",
    "linalg.cross",
    "linalg.diagonal",
    "linalg.eig",
    "linalg.eigh",
    "linalg.eigvals",
    "linalg.eigvalsh",
    "linalg.matmul",
    "linalg.matrix_power",
    "linalg.matrix_rank",
    "linalg.matrix_transpose",
    "linalg.outer",
    "linalg.pinv",
    "linalg.qr",
    "linalg.svd",
    "linalg.svdvals",
    "linalg.tensordot",
    "linalg.vecdot",
    "linalg.vector_norm",
    "linalg.matrix_norm",
    "linalg.solve",
    "linalg.inv",
    "linalg.det",
    "linalg.slogdet",
    "linalg.trace",
    "reshape",
    "permute_dims",
    "broadcast_to",
    "expand_dims",
    "squeeze",
    "concat",
    "stack",
    "unstack",
    "flip",
    "roll",
    "tile",
    "repeat",
    "moveaxis",
    "astype",
    "copy",
    "getitem",
    "setitem",
    "take",
    "take_along_axis",
    "where",
    "sort",
    "argsort",
    "argmax",
    "argmin",
]
ROWS = [rule for op in ops() for rule in op.rules.values() if rule.kind != "user"]


@pytest.mark.parametrize("name", ELEMENTWISE + OTHERS)
def test_function_has_a_rule_or_is_made_of_those_that_have(name: str) -> None:
    assert find_op(name) is not None or name in composites()


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: rule.name)
def test_row_without_derivative_has_a_reason(rule: Rule) -> None:
    assert rule.differentiable or rule.reason


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: rule.name)
def test_formula_gets_all_it_uses_by_its_parameters(rule: Rule) -> None:
    """A formula that closed over something would save it unseen."""
    for formula in rule.formulas:
        if formula is not None and formula.function is not zero:
            assert getattr(formula.function, "__closure__", None) is None
            assert set(formula.saved) <= set(rule.words())


def test_formula_with_an_unknown_name_is_refused_with_those_it_may_use() -> None:
    with pytest.raises(RuleDefinitionError) as caught:
        Rule("f", "x, /, *, axis=None", [lambda xp, g, y: g], kind="general")

    assert str(caught.value) == (
        "f: a formula names y, which it cannot be given. It may use xp, g, out, x, axis, x_meta."
    )


def test_formula_whose_first_parameters_are_others_is_refused() -> None:
    with pytest.raises(RuleDefinitionError, match=r"first two parameters are xp and g"):
        Rule("f", "x, /", [lambda g, x: g * x], kind="general")
