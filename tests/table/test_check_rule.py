"""`gradwrap.testing.check_rule` finds what is wrong with a rule, and says it in a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import gradwrap as gw
from gradwrap.errors import RuleDefinitionError
from gradwrap.testing import GradientMismatchError, RuleMismatchError, check_rule

X = np.array([0.3, 1.2, 2.0])
Y = np.array([1.5, 0.5, -0.7])

EVERY_CHECK = [
    "value, fwd",
    "value, rev",
    "fwd",
    "rev",
    "fwd against rev",
    "fwd of fwd",
    "rev of fwd",
    "fwd of rev",
    "rev of rev",
    "float32, fwd",
    "float32, rev",
]


def square() -> Any:
    @gw.primitive
    def squared(x: Any) -> Any:
        return x * x

    gw.defvjp(squared, lambda xp, g, x: 2 * g * x)
    return squared


def wrong_checks(op: Any, *args: Any, **options: Any) -> list[str]:
    """The names of the checks that fail."""
    with pytest.raises(RuleMismatchError) as caught:
        check_rule(op, *args, **options)
    lines = str(caught.value).splitlines()
    return [line.split("  ")[0] for line in lines[2:] if line.endswith("WRONG")]


def test_a_right_rule_passes_every_check() -> None:
    report = check_rule(square(), X)
    assert report.right
    assert [row.check for row in report.rows] == EVERY_CHECK
    assert all(row.error < 1e-8 for row in report.rows if not np.isnan(row.error))
    assert str(report).startswith("the rule of squared: right\ncheck ")


@pytest.mark.parametrize("op", ["sin", "linalg.inv", np.sin, np.multiply, np.sum, np.linalg.solve])
def test_the_rules_of_the_table_pass(op: Any) -> None:
    matrix = X * Y[:, None] + 3 * np.eye(3)
    args = {"linalg.inv": [matrix], np.multiply: [X, Y], np.linalg.solve: [matrix, Y]}
    assert check_rule(op, *args.get(op, [X])).right


def test_complex_arguments_are_checked_as_such() -> None:
    assert check_rule(square(), X + 1j * Y).rows[-1].found == "complex64"

    @gw.primitive
    def modulus(z: Any) -> Any:
        return np.abs(z) ** 2

    gw.defvjp(modulus, lambda xp, g, z: 2 * g * xp.conj(z))
    assert {"fwd", "rev"} <= set(wrong_checks(modulus, X + 1j * Y))
    gw.defvjp(modulus, lambda xp, g, z: 2 * g * z)
    assert check_rule(modulus, X + 1j * Y).right


def test_broadcasting_is_checked_where_the_operation_is_elementwise() -> None:
    @gw.primitive
    def product(x: Any, y: Any) -> Any:
        return x * y

    gw.defvjp(product, lambda xp, g, y: g * y, lambda xp, g, x: g * x)
    names = [row.check for row in check_rule(product, X, Y).rows]
    assert names[-2:] == ["broadcasting, fwd", "broadcasting, rev"]
    # right for one axis alone
    gw.defjvp(product, lambda xp, t, y: t * y, lambda xp, t, x: t * x[..., :3] * (x.ndim < 2))
    assert wrong_checks(product, X, Y) == ["broadcasting, fwd"]
    names = [row.check for row in check_rule(np.matmul, np.eye(3), X).rows]
    assert names[-1] == "float32, rev"


def test_static_arguments() -> None:
    @gw.primitive
    def power(x: Any, k: Any = 2, *, scale: Any = 1.0) -> Any:
        return scale * x**k

    gw.defvjp(power, lambda xp, g, x, k, scale: scale * g * k * x ** (k - 1))
    assert check_rule(power, X, 3, scale=2.0).right


def test_custom_functions() -> None:
    @gw.custom_vjp
    def fun(x: Any, y: Any) -> Any:
        return {"a": np.sin(x) * y, "b": y}

    fun.defvjp(
        lambda x, y: (fun(x, y), (x, y)),
        lambda r, g: (np.cos(r[0]) * r[1] * g["a"], np.sin(r[0]) * g["a"] + g["b"]),
    )
    assert check_rule(fun, X, Y).right
    fun.defvjp(lambda x, y: ({"a": np.sin(x), "b": y}, None), lambda r, g: (g["a"], g["b"]))
    assert {"value, fwd", "value, rev", "fwd", "rev"} <= set(wrong_checks(fun, X, Y, order=1))


# What is wrong is found ---------------------------------------------------------------------------


def test_a_wrong_first_derivative() -> None:
    op = square()
    gw.defvjp(op, lambda xp, g, x: 2.001 * g * x)
    assert wrong_checks(op, X, order=1) == ["fwd", "rev"]


def test_two_modes_that_do_not_agree() -> None:
    op = square()
    gw.defjvp(op, lambda xp, t, x: 3 * t * x)
    assert wrong_checks(op, X, order=1) == ["fwd", "fwd against rev"]
    assert check_rule(op, X, modes=("rev",)).right
    assert wrong_checks(op, X, modes=("fwd",)) == ["fwd"]


def test_a_wrong_second_derivative() -> None:
    op = square()
    gw.defvjp(op, lambda xp, g, x: 2 * g * gw.stop_gradient(x))
    assert wrong_checks(op, X) == ["fwd of fwd", "rev of fwd", "fwd of rev", "rev of rev"]
    assert check_rule(op, X, order=1).right


def test_what_raises_is_a_row_of_the_table() -> None:
    function: Any = special._ufuncs._kolmogc
    slope: Any = special._ufuncs._kolmogp
    gw.defvjp(function, lambda xp, g, x: -g * slope(x))
    assert check_rule(function, X, order=1).right
    with pytest.raises(RuleMismatchError) as caught:
        check_rule(function, X)
    last = str(caught.value).splitlines()[-1]
    assert last.startswith(
        "fwd of fwd, rev of fwd, fwd of rev, rev of rev: NoRuleError: _kolmogp on numpy arrays "
    )


def test_single_precision_that_is_not_kept() -> None:
    @gw.primitive
    def widened(x: Any) -> Any:
        return np.asarray(x, dtype=np.float64) * 2

    gw.defvjp(widened, lambda xp, g: 2 * g)
    rows = {row.check: row for row in check_rule(widened, X).rows}
    assert rows["float32, fwd"].found == "float64"  # what its value is
    assert rows["float32, rev"].found == "float32"


def test_the_error_is_the_table() -> None:
    op = square()
    gw.defvjp(op, lambda xp, g, x: g * x)
    with pytest.raises(GradientMismatchError) as caught:
        check_rule(op, X, order=1)
    lines = str(caught.value).splitlines()
    assert lines[0] == "the rule of squared: WRONG in 2 of 7 checks"
    assert lines[1].split() == ["check", "found", "wanted", "relative", "error"]
    found, wanted = (float(cell) for cell in lines[4].split()[1:3])
    assert found == pytest.approx(wanted / 2, rel=1e-4)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match=r"modes=\('all',\): known are 'fwd' and 'rev'"):
        check_rule(np.sin, X, modes=("all",))
    with pytest.raises(ValueError, match=r"check_rule: no argument is a floating-point array"):
        check_rule(np.sin, np.array([1]))
    with pytest.raises(RuleDefinitionError, match=r"'sine' is not a name of the table"):
        check_rule("sine", X)


def test_an_argument_without_a_formula_is_held_fixed() -> None:
    @gw.primitive
    def scaled(k: Any, x: Any) -> Any:
        return k * x

    gw.defvjp(scaled, None, lambda xp, g, k: g * k)
    report = check_rule(scaled, Y, X)
    assert report.right
    assert [row.check for row in report.rows] == EVERY_CHECK
    gw.defvjp(scaled, None, lambda xp, g, k: g * k * 1.01)
    assert "rev" in wrong_checks(scaled, Y, X)
    assert check_rule("where", np.array([True, False, True]), X, Y).right
    gw.defvjp(scaled, None, None)
    with pytest.raises(ValueError, match=r"no argument is a floating-point array"):
        check_rule(scaled, Y, X)
