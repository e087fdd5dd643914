"""The kinds of operations, and the functions that write a row of each kind.

==============  ==========================  =====================================  ============
kind            what it is                  its tangent                            its batching
==============  ==========================  =====================================  ============
`Elementwise`   each element by itself      the formulas of the cotangent          aligned
`Linear`        linear in its array         the operation on the tangent           the row says
`Multilinear`   linear in each array        the operation with one tangent each    the row says
`Reduction`     a sum to first order        the cotangent's weights, summed        along axes
`General`       anything                    the VJP transposed                     the row says
`Constant`      without a derivative        none                                   aligned
==============  ==========================  =====================================  ============

A row with `jvp=` has its tangent from there, whatever its kind. A batching that the row has to say
is a loop over the examples where it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.table.rule import Formula, Kind, Rule, passes, zero

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from gradwrap.core.table.rule import Batching, FormulaFunction, RuleOptions


def _applied(function: str, rule: Rule, formula: Formula, index: int, along: str = "") -> str:
    """Write the call of a formula on the tangent of an argument, or on `along`."""
    t = f"{rule.arrays[index]}_t"
    words = "".join(f", {name}_d" if name in rule.arrays else f", {name}" for name in formula.saved)
    return f"{function}{index}({_of_type('spaces', rule, t)}, {along or t}{words})"


def _term(function: str, rule: Rule, formula: Formula, index: int) -> str:
    """Write the term that a formula contributes to the tangent; "" if the derivative is zero."""
    if formula.function is zero:
        return ""
    if formula.function is passes:
        return f"{rule.arrays[index]}_t"
    return _applied(function, rule, formula, index)


def _operation(rule: Rule, index: int) -> str:
    """Write the call of the operation with the tangent as this argument."""
    t = f"{rule.arrays[index]}_t"
    arguments = [
        t if name == rule.arrays[index] else f"{name}_d" if name in rule.arrays else name
        for name in rule.parameters
    ]
    call = _of_type("calls", rule, t)
    return f"{call}({', '.join(passed(rule, arguments))})"


def _of_type(table: str, rule: Rule, t: str) -> str:
    """Write the look-up by the type of a tangent; for several, by the deepest wrapper's."""
    return f"{table}[{'deepest' if rule.variadic else 'type'}({t})]"


def passed(rule: Rule, values: Sequence[str]) -> list[str]:
    """Write how a call passes each parameter: by keyword if it is keyword-only."""
    return [
        f"{name}={value}" if name in rule.keyword_only else value
        for name, value in zip(rule.parameters, values, strict=True)
    ]


class _Kind(Kind):
    """The common part of the kinds: a row's own `jvp=` comes first, and batches may loop."""

    def push(self, rule: Rule, index: int) -> str | None:
        if not rule.jvps:
            return self._follows(rule, index)
        at = 0 if rule.variadic else index
        formula = rule.jvps[at] if at < len(rule.jvps) else None
        if formula is None:  # a tracked argument without any formula is refused before
            return "" if rule.lacks(index) else None
        return _term("j", rule, formula, index)

    def _follows(self, rule: Rule, index: int) -> str | None:
        """Return the term that the kind implies, or None."""
        return None

    def describe(self, rule: Rule) -> str:
        if rule.jvps:
            return "own"
        is_term = all(self.push(rule, i) is not None for i in range(len(rule.arrays)))
        return self.tangent_from if is_term else "transposed twice"


class Elementwise(_Kind):
    """Each element of the result depends only on the elements at the same place.

    Its derivative is a number for each element, so the formula of the cotangent is that of the
    tangent too.
    """

    name = "elementwise"
    tangent_from = "as VJP"
    is_elementwise = True

    def _follows(self, rule: Rule, index: int) -> str | None:
        formula = rule.formulas[index]
        if formula is None:
            return ""  # a tracked argument there is refused before
        return _term("f", rule, formula, index)

    def real_only(self, rule: Rule) -> bool:
        return not rule.holomorphic and not rule.jvps

    def batch(self, rule: Rule) -> Batching:
        return "align"


class Linear(_Kind):
    """Linear in its array, or in all arrays together: the tangent is the operation on it."""

    name = "linear"
    tangent_from = "itself"

    def _follows(self, rule: Rule, index: int) -> str | None:
        return _operation(rule, index)


class Multilinear(_Kind):
    """Linear in each of its arrays by itself: a product."""

    name = "multilinear"
    tangent_from = "by product"

    def _follows(self, rule: Rule, index: int) -> str | None:
        return _operation(rule, index)


class Reduction(_Kind):
    """A function of one array along axes: each output is, to first order, a weighted sum.

    The weights are the cotangent of ones.
    """

    name = "reduction"
    tangent_from = "weights"

    def _follows(self, rule: Rule, index: int) -> str | None:
        formula = rule.formulas[index]
        if formula is None or not {"axis", "keepdims"} <= set(rule.statics):
            return None
        t = f"{rule.arrays[index]}_t"
        xp = _of_type("spaces", rule, t)
        weights = _applied("f", rule, formula, index, along=f"{xp}.ones_like(out)")
        return f"weighted({xp}, {weights}, {t}, axis, keepdims)"

    def real_only(self, rule: Rule) -> bool:
        return not rule.holomorphic and not rule.jvps

    def batch(self, rule: Rule) -> Batching:
        return "axes" if "axis" in rule.statics else "loop"


class General(_Kind):
    """Any function: its tangent is its VJP, transposed, unless the row has `jvp=`."""

    name = "general"


class Constant(_Kind):
    """A function without a derivative, or with a zero one."""

    name = "nondifferentiable"
    is_differentiable = False

    def _follows(self, rule: Rule, index: int) -> str | None:
        return ""

    def batch(self, rule: Rule) -> Batching:
        return "loop" if rule.statics or rule.variadic else "align"


ELEMENTWISE = Elementwise()
LINEAR = Linear()
MULTILINEAR = Multilinear()
REDUCTION = Reduction()
GENERAL = General()
CONSTANT = Constant()


def weighted(xp: Any, weights: Any, t: Any, axis: Any, keepdims: bool) -> Any:
    """Return the sum of a tangent along axes, with weights."""
    product = weights * t
    return xp.sum(product, axis=axis, keepdims=keepdims, dtype=product.dtype)


# Rows ---------------------------------------------------------------------------------------------


def elementwise(
    name: str, params: str, *formulas: FormulaFunction | None, **options: Unpack[RuleOptions]
) -> Rule:
    """Make the row of an elementwise function: a formula per argument, `None` for no derivative.

    `params` are the names of its arguments, or a signature.
    """
    signature = params if "," in params else ", ".join(params.split()) + ", /"
    options.setdefault("same", True)
    return Rule(name, signature, formulas, kind=ELEMENTWISE, **options)


def linear(
    name: str, signature: str, transpose: FormulaFunction, **options: Unpack[RuleOptions]
) -> Rule:
    """Make the row of a function linear in its one array: the transpose is the whole derivative.

    Of a variadic one, which is linear in all of its arrays together, the transpose returns the
    cotangents of all.
    """
    options.setdefault("is_joint", options.get("variadic", False))
    return Rule(name, signature, (transpose,), kind=LINEAR, **options)


def multilinear(
    name: str, signature: str, *formulas: FormulaFunction | None, **options: Unpack[RuleOptions]
) -> Rule:
    """Make the row of a product: a function linear in each of its arrays."""
    return Rule(name, signature, formulas, kind=MULTILINEAR, **options)


def reduction(
    name: str, signature: str, formula: FormulaFunction, **options: Unpack[RuleOptions]
) -> Rule:
    """Make the row of a nonlinear function of one array along axes: max, prod, var ..."""
    return Rule(name, signature, (formula,), kind=REDUCTION, **options)


def general(
    name: str, signature: str, *formulas: FormulaFunction | None, **options: Unpack[RuleOptions]
) -> Rule:
    """Make the row of any function: one formula for each of its arrays, its first arguments."""
    return Rule(name, signature, formulas, kind=GENERAL, **options)


def joint(
    name: str,
    signature: str,
    formula: FormulaFunction,
    arrays: int = 1,
    **options: Unpack[RuleOptions],
) -> Rule:
    """Make the row of a function whose one formula returns the cotangents of all arrays."""
    options["array_count"] = arrays
    options["is_joint"] = True
    return Rule(name, signature, (formula,), kind=GENERAL, **options)


def nondifferentiable(
    name: str, signature: str, why: str, /, arrays: int = 1, **options: Unpack[RuleOptions]
) -> Rule:
    """Make the row of a function without a derivative, or with a zero one; give the reason."""
    options["reason"] = why
    return Rule(name, signature, (None,) * arrays, kind=CONSTANT, **options)
