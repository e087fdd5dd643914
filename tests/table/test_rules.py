"""Every row of the table, tested by the harness: nothing here is about a particular operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from harness import (
    COMPLEX,
    REAL,
    Case,
    cases,
    direction,
    function_of,
    native_call,
    numerical,
    patterns,
    real_inner,
    rows,
    split_call,
)

CASES = cases()
REAL_CASES = [case for case in CASES if not case.rule.only_complex]
COMPLEX_CASES = [case for case in CASES if not case.rule.only_real]
FIRST_ORDER, SECOND_ORDER = 1e-6, 1e-5


def parametrize(chosen: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.id)


def close(found: float, wanted: float, tolerance: float) -> bool:
    return abs(found - wanted) <= tolerance * max(1.0, abs(found), abs(wanted))


def check_first_order(case: Case, dtype: np.dtype[Any]) -> None:
    args, kwargs = case.arguments(dtype)
    arrays, statics = split_call(args, case.rule)
    f = function_of(case, np, kwargs, statics)
    before = [a.copy() for a in arrays]
    random = np.random.default_rng(case.seed)
    tangents = [direction(random, a) for a in arrays]

    out, pull = gw.vjp(f, *arrays)
    plain = f(*arrays)
    cotangents = [direction(random, np.asarray(part)) for part in out]
    gradients = pull([np.asarray(c)[()] if not np.shape(c) else c for c in cotangents])

    for found, wanted in zip(out, plain, strict=True):
        np.testing.assert_array_equal(found, wanted)
    for gradient, array in zip(gradients, arrays, strict=True):
        assert gradient.dtype == array.dtype
        assert gradient.shape == array.shape
        assert type(gradient) is type(array)
    wanted_slope = numerical(f, arrays, tangents, cotangents)
    assert close(real_inner(gradients, tangents), wanted_slope, FIRST_ORDER)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def check_second_order(case: Case, dtype: np.dtype[Any]) -> None:
    args, kwargs = case.arguments(dtype)
    arrays, statics = split_call(args, case.rule)
    f = function_of(case, np, kwargs, statics)
    random = np.random.default_rng(case.seed)
    cotangents = [direction(random, np.asarray(part)) for part in f(*arrays)]
    others = [direction(random, a) for a in arrays]
    tangents = [direction(random, a) for a in arrays]

    def pulled(*values: Any) -> list[Any]:
        _, pull = gw.vjp(f, *values)
        return list(pull(list(cotangents)))

    _, pull_again = gw.vjp(pulled, *arrays)
    nested = pull_again(others)

    leaves = [gw.wrap(a, requires_grad=True) for a in arrays]
    outputs = f(*leaves)
    tracked = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
    gw.autograd.backward([o for o, _ in tracked], [c for _, c in tracked], create_graph=True)
    first: list[Any] = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    again = [(g, o) for g, o in zip(first, others, strict=True) if _is_tracked(g)]
    if again:
        gw.autograd.backward([g for g, _ in again], [o for _, o in again])

    wanted = numerical(pulled, arrays, tangents, others)
    assert close(real_inner(nested, tangents), wanted, SECOND_ORDER)
    for leaf, expected in zip(leaves, nested, strict=True):
        by_graph = np.zeros_like(expected) if leaf.grad is None else gw.unwrap(leaf.grad)
        np.testing.assert_allclose(by_graph, expected, rtol=1e-9, atol=1e-9)


def _is_tracked(gradient: Any) -> bool:
    return isinstance(gradient, gw.Variable) and gradient.requires_grad


@parametrize(REAL_CASES)
def test_vjp_is_the_numerical_one(case: Case) -> None:
    check_first_order(case, REAL)


@parametrize(COMPLEX_CASES)
def test_complex_vjp_is_the_numerical_one(case: Case) -> None:
    check_first_order(case, COMPLEX)


@parametrize([case for case in REAL_CASES if case.rule.order is None])
def test_second_order_is_the_numerical_one_nested_and_on_the_tape(case: Case) -> None:
    check_second_order(case, REAL)


@parametrize([case for case in COMPLEX_CASES if case.rule.order is None])
def test_complex_second_order_is_the_numerical_one(case: Case) -> None:
    check_second_order(case, COMPLEX)


@pytest.mark.parametrize(
    ("case", "dtype"),
    [(c, np.float32) for c in REAL_CASES if "complex128" not in c.pattern]
    + [(c, np.complex64) for c in COMPLEX_CASES if "complex128" not in c.pattern],
    ids=lambda value: value.id if isinstance(value, Case) else value.__name__,
)
def test_single_precision_stays_single(case: Case, dtype: type[Any]) -> None:
    args, kwargs = case.arguments(np.dtype(dtype))
    arrays, statics = split_call(args, case.rule)
    f = function_of(case, np, kwargs, statics)

    out, pull = gw.vjp(f, *arrays)
    gradients = pull([np.ones_like(part) for part in out])

    assert [part.dtype for part in out] == [part.dtype for part in f(*arrays)]
    assert [g.dtype for g in gradients] == [a.dtype for a in arrays]


SEVERAL = [case for case in REAL_CASES if len(case.rule.arrays) > 1 and not case.rule.variadic]


@pytest.mark.parametrize(
    ("case", "which"),
    [(c, k) for c in SEVERAL for k in range(len(split_call(c.arguments(REAL)[0], c.rule)[0]))],
    ids=lambda value: value.id if isinstance(value, Case) else str(value),
)
def test_gradient_does_not_depend_on_what_else_is_tracked(case: Case, which: int) -> None:
    args, kwargs = case.arguments(REAL)
    arrays, statics = split_call(args, case.rule)
    f = function_of(case, np, kwargs, statics)

    out, pull = gw.vjp(f, *arrays)
    cotangents = [np.ones_like(part) for part in out]
    alone, pull_alone = gw.vjp(
        lambda one: f(*arrays[:which], one, *arrays[which + 1 :]), arrays[which]
    )

    np.testing.assert_array_equal(alone[0], out[0])
    np.testing.assert_allclose(
        pull_alone(cotangents)[0], pull(cotangents)[which], rtol=1e-12, atol=1e-12
    )


def test_a_row_without_second_order_says_so() -> None:
    """The claim of the table is tested in both directions."""
    for case in REAL_CASES:
        if case.rule.order == 1:
            with pytest.raises(gw.errors.NoRuleError):
                check_second_order(case, REAL)


def test_every_row_with_a_derivative_is_tested() -> None:
    """A row that the harness cannot call would seem to be tested."""
    without = [rule.name for _, rule, _ in rows() if not patterns(rule)]

    assert not without
    assert len(CASES) > 250


@pytest.mark.parametrize("mutation", ["sign", "one percent", "zero", "additive"])
@pytest.mark.parametrize("name", ["sin", "multiply", "exp", "sum", "matmul", "tanh", "divide"])
def test_harness_catches_a_wrong_formula(
    name: str, mutation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test of the harness: a wrong formula is noticed for each argument."""
    from gradwrap.core.table.rule import Formula

    case = next(c for c in CASES if c.rule.name == name and "0" not in c.pattern.replace("0.", ""))
    right = case.rule.formulas[-1]
    assert right is not None

    def wrong(xp: Any, g: Any, *saved: Any) -> Any:
        value = right.function(xp, g, *saved)
        return {
            "sign": lambda: -value,
            "one percent": lambda: 1.01 * value,
            "zero": lambda: 0.0 * value,
            "additive": lambda: value + 0.1,
        }[mutation]()

    formulas = (*case.rule.formulas[:-1], Formula(wrong, right.saved))
    monkeypatch.setattr(case.rule, "formulas", formulas)
    case.op.version += 1
    try:
        with pytest.raises(AssertionError):
            check_first_order(case, REAL)
    finally:
        monkeypatch.undo()
        case.op.version += 1
    check_first_order(case, REAL)


def test_native_call_is_the_librarys_own() -> None:
    case = next(c for c in CASES if c.rule.name == "sin")

    assert native_call(case, np, [np.array(0.5)], {}) == np.sin(0.5)
