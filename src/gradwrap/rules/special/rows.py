"""Builders of rows for special functions of real numbers, and the series that formulas share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.calls.source import execute
from gradwrap.core.table.kinds import elementwise, general
from gradwrap.core.table.rule import parameter_names

if TYPE_CHECKING:
    from typing import Unpack

    from gradwrap.core.table.rule import FormulaFunction, Rule, RuleOptions

TERMS = 18  # of a power series for |x| < 1: more than double precision needs, also for derivatives
POSITIVE = (0.5, 3.0)
INNER = (0.2, 0.8)
ONE = ("x(3)", "x(2, 3)", "x()", "x(0)")
TWO = ("x(3), x(3)", "x(2, 1), x(1, 3)", "0.6, x(3)", "x(2, 3), 0.7", "x(0), x(1)")
THREE = ("x(3), x(3), x(3)", "x(2, 1), x(3), x(2, 3)", "1.5, 2.0, x(3)", "x(), 0.7, x()")
ORDERS: dict[int, tuple[str, ...]] = {  # where the arguments before the last are orders
    2: ("1.5, x(3)", "i(1, 2, 3), x(2, 3)", "2.5, x()", "1.5, x(0)"),
    3: ("1.5, 2.0, x(3)", "i(1, 2, 3), 0.7, x(2, 3)", "2.5, 1.5, x()"),
}
INTEGER_ORDERS = ("2, x(3)", "i(0, 1, 3), x(2, 3)", "1, x()")
_rows: dict[str, Rule] = {}  # by their names in SciPy


def special(
    name: str, params: str, *formulas: FormulaFunction | None, **options: Unpack[RuleOptions]
) -> Rule:
    """Build the row of a function of real numbers, with the formulas of its last arguments.

    The arguments before them are orders. The row is not `same`, because SciPy returns float64 for a
    float16 array, and for a float32 array and a number.
    """
    count = len(params.split())
    orders = (None,) * (count - len(formulas))
    if orders and "samples" not in options:
        options["samples"] = ORDERS[count]
    options |= {"same": False, "only_real": True}
    rule = _rows[name] = elementwise(f"special.{name}", params, *orders, *formulas, **options)
    return rule


def complement(name: str, function: str) -> Rule:
    """Build the row of 1 - F, for the function F of another row."""
    rule = _rows[function]
    formulas = [
        _derived(f"-{_call(rule, i, 'g')}", formula.saved, name, rule) if formula else None
        for i, formula in enumerate(rule.formulas)
    ]
    options: RuleOptions = {"domain": rule.domain, "samples": rule.samples}
    return special(name, " ".join(rule.arrays), *formulas, **options)


def inverse(name: str, function: str, of: str, **options: Unpack[RuleOptions]) -> Rule:
    """Build the row of the inverse in one argument of the function F of another row.

    If F(a, x) = y, then dx/dy = 1/F_x and dx/da = -F_a/F_x. The value y replaces x.
    """
    rule = _rows[function]
    place = rule.arrays.index(of)
    new = {of: "out", "out": "y"}
    below, slope = _call(rule, place, "1.0", new), rule.formulas[place]
    assert slope is not None, "a function has an inverse where it has a derivative"
    formulas: list[FormulaFunction | None] = []
    for i, formula in enumerate(rule.formulas):
        if formula is None:
            formulas.append(None)
            continue
        text = "g" if i == place else f"-{_call(rule, i, 'g', new)}"
        words = slope.saved if i == place else (*formula.saved, *slope.saved)
        saved = tuple(new.get(word, word) for word in words)
        formulas.append(_derived(f"{text} / {below}", saved, name, rule))
    params = ["y" if x == of else x for x in rule.arrays]
    options.setdefault("domain", INNER)
    if None not in formulas:
        options.setdefault("samples", {1: ONE, 2: TWO, 3: THREE[:2]}[len(params)])
    return special(name, " ".join(params), *formulas, **options)


def _call(rule: Rule, index: int, along: str, new: dict[str, str] | None = None) -> str:
    """Write the call of an argument's formula, which is named `function_argument`."""
    formula = rule.formulas[index]
    words = [(new or {}).get(word, word) for word in (formula.saved if formula else ())]
    return f"{_short(rule)}_{rule.arrays[index]}({', '.join(['xp', along, *words])})"


def _short(rule: Rule) -> str:
    return rule.name.rpartition(".")[2]


def _derived(text: str, saved: tuple[str, ...], name: str, rule: Rule) -> FormulaFunction:
    """Return a formula that calls the formulas of another row."""
    named = zip(rule.arrays, rule.formulas, strict=True)
    scope = {f"{_short(rule)}_{x}": formula.function for x, formula in named if formula}
    return _written(text, saved, name, scope)


def _written(
    text: str, saved: tuple[str, ...], name: str, scope: dict[str, Any], along: str = "g"
) -> FormulaFunction:
    """Return a formula from its text; its source can be looked up, as that of all formulas."""
    words = dict.fromkeys(saved)
    scope |= {"__name__": __name__}
    execute(
        f"formula = lambda {', '.join(['xp', along, *words])}: {text}", scope, f"{name}: {text}"
    )
    formula: FormulaFunction = scope["formula"]
    return formula


def several(
    name: str,
    params: str,
    count: int,
    *slopes: FormulaFunction | None,
    **options: Unpack[RuleOptions],
) -> Rule:
    """Build the row of an elementwise function of real numbers that has several outputs.

    For each argument, `slopes` has a function that returns the derivatives of all outputs.
    """
    options.setdefault("samples", ONE)
    options |= {"outputs": count, "batch": "align", "only_real": True}
    formulas: dict[str, list[FormulaFunction | None]] = {"g": [], "t": []}
    for function in slopes:
        for along, rule in (("g", combined), ("t", spread)):
            formula = function
            if function is not None:
                saved = parameter_names(function)[1:]
                found = f"{function.__name__}({', '.join(['xp', *saved])})"
                scope = {function.__name__: function, rule.__name__: rule}
                text = f"{rule.__name__}({along}, {found})"
                formula = _written(text, saved, name, scope, along)
            formulas[along].append(formula)
    options["jvp"] = formulas["t"]
    return general(f"special.{name}", ", ".join(params.split()) + ", /", *formulas["g"], **options)


def combined(g: Any, slopes: tuple[Any, ...]) -> Any:
    """Return the cotangent of an argument from those of the outputs and their derivatives.

    In a pass that is recorded, an output that is not used has None.
    """
    total: Any = None
    for cotangent, slope in zip(g, slopes, strict=True):
        if cotangent is not None:
            product = cotangent * slope
            total = product if total is None else total + product
    return total


def spread(t: Any, slopes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the tangents of the outputs from that of an argument and their derivatives."""
    return tuple(t * slope for slope in slopes)


def power_series(x: Any, coefficients: list[float]) -> Any:
    """Evaluate a polynomial in x, whose coefficients are given lowest power first."""
    total = 0.0 * x + coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def near_zero(xp: Any, x: Any) -> tuple[Any, Any, Any]:
    """Return the mask |x| < 1, x with 0 outside of the mask, and x with 1 inside of it."""
    near = xp.abs(x) < 1.0
    return near, xp.where(near, x, 0.0), xp.where(near, 1.0, x)
