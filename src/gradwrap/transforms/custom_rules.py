"""Rules from outside the library: for a user's function or another library's.

They are entries like the library's own. The results of a user's rule are checked at each call; the
library's own rules are checked by its tests.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.checking import check_tangent
from gradwrap.core.graph.linear import in_spaces_of, record_linear
from gradwrap.core.library.backend import backend_of, by_type
from gradwrap.core.library.namespace import rebind
from gradwrap.core.library.registration import registered
from gradwrap.core.table.kinds import GENERAL
from gradwrap.core.table.registry import (
    GENERIC,
    Op,
    find_op,
    redefine,
    register_function,
    search_function,
)
from gradwrap.core.table.rule import Rule, parameter_names
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.core.values.space import zeros_of
from gradwrap.errors import RuleDefinitionError
from gradwrap.transforms.primitive import Primitive, Signature, call_native

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.table.rule import FormulaFunction


def defvjp(
    op: Callable[..., Any] | str,
    *vjps: FormulaFunction | None,
    backend: str | None = None,
    params: str | None = None,
) -> None:
    """Give an operation a rule: a formula for the cotangent of each array argument.

    Parameters
    ----------
    op
        A `primitive`, a name of the standard (`"sin"`, `"linalg.inv"`), any ufunc
        (`scipy.special.gammaln`), or any function of NumPy. Once it has a rule, gradwrap
        differentiates unmodified code that calls it.
    vjps
        For each array argument, in order, a formula such as `lambda xp, g, x: g * xp.cos(x)`, or
        None if it is not differentiable. Its parameter names say which values it gets, and which
        are therefore saved: `xp` (the namespace), `g` (the cotangent of the output), `out` (the
        output), arguments by their names, and `x_meta` (shape, dtype and device of an argument).
        Write it as for real numbers; for a complex output, the engine conjugates before and after
        it, which is right for a holomorphic function. Parameters of `op` without a formula are
        static: they are passed on unchanged, and cannot be tracked.
    backend
        The library for which the rule holds (`"numpy"`, `"cupy"`); all of them by default.
    params
        The parameters' names, where they cannot be inspected: `"x1 x2"`. Those of a ufunc are
        `x`, or `x1 x2`.

    Raises
    ------
    RuleDefinitionError
        A formula has a parameter that does not exist, there are more formulas than parameters, or
        gradwrap cannot notice calls of `op`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.defvjp(np.cbrt, lambda xp, g, out: g / (3 * out * out))
    >>> gw.grad(np.cbrt)(8.0)
    np.float64(0.08333333333333333)
    """
    _define(op, "g", vjps, backend, params)


def defjvp(
    op: Callable[..., Any] | str,
    *jvps: FormulaFunction | None,
    backend: str | None = None,
    params: str | None = None,
) -> None:
    """Give an operation a rule for forward mode: a tangent formula for each array argument.

    An operation needs only one of the two rules. If it has just a VJP, its JVP follows by
    transposing that. If it has just a JVP, its VJP follows in the same way, so the JVP has to be
    written in `xp`. With both, each mode uses its own.

    Parameters
    ----------
    op
        As in `defvjp`.
    jvps
        For each array argument, in order, a formula such as `lambda xp, t, x: t * xp.cos(x)`, or
        None if it is not differentiable. `t` is the tangent of that argument, of its shape. The
        tangent of the output is the sum of the formulas' results. The other parameter names are
        those of `defvjp`. Nothing is conjugated, even for complex arrays. If the operation has
        several outputs, a formula returns a tuple of tangents.
    backend, params
        As in `defvjp`.

    Raises
    ------
    RuleDefinitionError
        A formula has a parameter that does not exist, there are too many or too few formulas, or
        gradwrap cannot notice calls of `op`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> @gw.primitive
    ... def cube(x):
    ...     return x**3
    >>> gw.defjvp(cube, lambda xp, t, x: t * 3 * x**2)
    >>> gw.jvp(cube, (2.0,), (1.0,))
    (np.float64(8.0), np.float64(12.0))
    >>> gw.grad(cube)(2.0)
    np.float64(12.0)
    """
    _define(op, "t", jvps, backend, params)


KEPT = (
    *("diagonal", "is_joint", "variadic", "same", "symbol", "native", "outputs", "views"),
    *("key", "scope", "numpy"),
)
"""The options that a replaced row keeps: those that its formulas do not decide."""


def _is_library(name: str) -> bool:
    """Tell if a name is that of a known library, or of a module that is installed."""
    if name in registered() or any(backend.name == name for backend in by_type.values()):
        return True
    from importlib.util import find_spec  # slow to import, and needed for errors alone

    return name.isidentifier() and find_spec(name) is not None


def _define(
    op: Any,
    along: str,
    formulas: tuple[FormulaFunction | None, ...],
    backend: str | None,
    params: str | None,
) -> None:
    if backend is not None and not _is_library(backend):
        raise RuleDefinitionError(
            f"backend={backend!r} is not the name of a known or installed array library. "
            "Fix: use 'numpy', 'cupy', or another library's name; or omit it, for all of them."
        )
    target, function = _target(op)
    if function is None:
        rules = _replacements(target, along, formulas, backend, (op, params))
    else:
        rule = _rule_of_function(target, function, along, formulas, backend, params)
        rules = {backend or GENERIC: rule}
        register_function(op, target)
    redefine(target, rules)
    rebind(target)


def _target(op: Any) -> tuple[Op, Callable[..., Any] | None]:
    """Return the operation to give a rule, and its native function if the table lacks it."""
    if isinstance(op, str):
        found = find_op(op)
        if found is None:
            raise RuleDefinitionError(
                f"{op!r} is not a name of the table. Fix: pass the function itself, "
                "or a name of the standard such as 'sin' or 'linalg.inv'."
            )
        return found, None
    if isinstance(op, Primitive):
        return op.op, op.fun
    known = search_function(op)
    if known is not None:
        return known, (None if find_op(known.name) is known else op)
    dispatches = hasattr(op, "nin") or hasattr(op, "_implementation")
    if not callable(op) or not dispatches or hasattr(op, "reduce_expr"):  # CuPy's ReductionKernel
        name = getattr(op, "__name__", getattr(op, "name", repr(op)))
        raise RuleDefinitionError(
            f"Nothing tells gradwrap when {name} is called: it is not a ufunc, a function of "
            "NumPy, or a name of the standard. "
            f"Fix: make it one operation with {name} = gradwrap.primitive({name})."
        )
    return Op(getattr(op, "__name__", type(op).__name__)), op


def _rule_of_function(  # noqa: PLR0913  what `defvjp` and `defjvp` were given
    target: Op,
    function: Callable[..., Any],
    along: str,
    formulas: tuple[FormulaFunction | None, ...],
    backend: str | None,
    params: str | None,
) -> Rule:
    """Make the rule of a function outside the table, extending any earlier one."""
    known = target.rule_for(backend or GENERIC)
    if params is None and known is not None:
        params = " ".join(known.parameters)
    signature = Signature(function, params)
    _check_formulas(target.name, along, formulas, signature.names)
    signature.check_words(target.name, len(formulas), along)
    other = _defined(known, "t" if along == "g" else "g")
    if any(other) and known is not None and len(other) != len(formulas):
        raise _wrong_count(target.name, along, formulas, known.arrays)
    vjps, jvps = (formulas, other) if along == "g" else (other, formulas)
    arrays = signature.names[: len(formulas)]
    checked = _checked(jvps, target.name, arrays)
    return Rule(
        target.name,
        signature.text,
        _completed(vjps, checked, len(arrays)),
        kind=GENERAL,
        provenance="user",
        native=functools.partial(call_native, function, target.name),
        outputs=signature.outputs,
        casts=True,
        checked=True,
        jvp=checked,
        scope=signature.scope,
    )


def _names(
    op: Any, params: str | None, rule: Rule, formulas: Sequence[FormulaFunction | None]
) -> tuple[str, ...]:
    """Return the parameter names that formulas use: the row's, or those of any ufunc."""
    if params is not None:
        names = tuple(params.replace(",", " ").split())
    elif isinstance(getattr(op, "nin", None), int):
        names = tuple(Signature(op, None).names)
        used = {word for f in formulas if callable(f) for word in parameter_names(f)[2:]}
        if used <= set(rule.words()):
            return rule.parameters
    else:
        return rule.parameters
    return names if len(names) == len(rule.parameters) == len(rule.arrays) else rule.parameters


def _replacements(
    target: Op,
    along: str,
    formulas: tuple[FormulaFunction | None, ...],
    backend: str | None,
    function: tuple[Any, str | None],
) -> dict[str, Rule]:
    """Make rules with new formulas for an operation, on one backend or on all."""
    if backend is None:
        wanted = [name for name, rule in target.rules.items() if rule.provenance != "user"]
        wanted = list(dict.fromkeys([GENERIC, *wanted]))
    else:
        wanted = [backend]
    rules: dict[str, Rule] = {}
    for name in wanted:
        existing = target.rule_for(name) or next(iter(target.rules.values()))
        joint = existing.is_joint and (along == "g" or existing.variadic)
        names, text = _names(*function, existing, formulas), existing.signature_text
        if names != existing.parameters:
            text = ", ".join(names) + ", /"
        arrays = names[: 1 if joint else len(existing.arrays)]
        _check_formulas(target.name, along, formulas, arrays)
        if len(formulas) < len(arrays):
            raise _wrong_count(target.name, along, formulas, arrays)
        if along == "t":
            checked = _checked(formulas, target.name, arrays)
            # a row's own formulas have the row's names
            vjps: Sequence[Any] = _defined(existing, "g") if names == existing.parameters else ()
            holomorphic = existing.holomorphic
        else:
            own = _defined(existing, "t") if names == existing.parameters else ()
            checked = _checked(own, target.name, arrays)
            vjps, holomorphic = formulas, True
        if not existing.is_joint:
            vjps = _completed(vjps, checked, len(arrays))
        rules[name] = Rule(
            target.name,
            text,
            vjps,
            kind=GENERAL,
            provenance="user",
            array_count=len(existing.arrays),
            holomorphic=holomorphic,
            casts=True,
            consumes=existing.consumes and along == "t",
            parts=existing.parts and along == "t",
            checked=True,
            jvp=checked,
            batch=existing.batching,
            **{name: getattr(existing, name) for name in KEPT},
        )
    return rules


def _defined(rule: Rule | None, along: str) -> tuple[FormulaFunction | None, ...]:
    """Return the formulas along `g` or `t` that a rule was given; derived formulas are None."""
    if rule is None:
        return ()
    if along == "g":
        functions = (None if f is None else f.function for f in rule.formulas)
        return tuple(None if isinstance(f, _TransposedJvp) else f for f in functions)
    given = (None if f is None else f.function for f in rule.jvps)
    return tuple(f.function if isinstance(f, _CheckedJvp) else None for f in given)


def _checked(
    jvps: Sequence[FormulaFunction | None], name: str, arrays: Sequence[str]
) -> tuple[_CheckedJvp | None, ...] | None:
    if not any(jvps):
        return None
    return tuple(
        None if jvp is None else _CheckedJvp(jvp, name, array)
        for jvp, array in zip(jvps, arrays, strict=True)
    )


def _completed(
    vjps: Sequence[FormulaFunction | None], jvps: Sequence[_CheckedJvp | None] | None, count: int
) -> tuple[FormulaFunction | None, ...]:
    """Return a formula for each cotangent: the given one, or the transposed JVP."""
    given = tuple(vjps) or (None,) * count
    if jvps is None:
        return given
    return tuple(
        _TransposedJvp(jvp) if vjp is None and jvp is not None else vjp
        for vjp, jvp in zip(given, jvps, strict=True)
    )


def _check_formulas(
    name: str, along: str, formulas: Sequence[FormulaFunction | None], parameters: Sequence[str]
) -> None:
    if not formulas:
        define = "defvjp" if along == "g" else "defjvp"
        raise RuleDefinitionError(
            f"{name}: {define} was given no formula. It takes one for each array argument: "
            f"{define}({name}, {', '.join(f'lambda xp, {along}, {p}: ...' for p in parameters)})."
        )
    if len(formulas) > len(parameters):
        raise RuleDefinitionError(
            f"{name}: {len(formulas)} formulas for {len(parameters)} parameters "
            f"({', '.join(parameters)}). Fix: "
            "give one for each array argument, None where it is not differentiable."
        )
    for position, formula in enumerate(formulas):
        if formula is not None and not callable(formula):
            raise RuleDefinitionError(
                f"{name}: the formula for {parameters[position]} is a "
                f"{type(formula).__name__}. Fix: lambda xp, {along}, {parameters[position]}: ..."
            )


def _wrong_count(
    name: str, along: str, formulas: Sequence[FormulaFunction | None], arrays: Sequence[str]
) -> RuleDefinitionError:
    count = "1 formula" if len(formulas) == 1 else f"{len(formulas)} formulas"
    several = "argument" if len(arrays) == 1 else "arguments"
    words = ", ".join(["xp", along, "out", *arrays, *(f"{a}_meta" for a in arrays)])
    return RuleDefinitionError(
        f"{name}: {count} for {len(arrays)} array {several} ({', '.join(arrays)}). Fix: give one "
        f"for each, None where it is not differentiable. They may use {words}, and the other "
        "parameters by their names."
    )


# The formulas that follow from a user's JVP -------------------------------------------------------


def _signature(*names: str) -> inspect.Signature:
    return inspect.Signature(
        [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names]
    )


class _CheckedJvp:
    """A user's JVP formula, whose result is checked against the output."""

    def __init__(self, function: FormulaFunction, op: str, argument: str) -> None:
        given = tuple(inspect.signature(function).parameters)
        if given[:2] != ("xp", "t"):
            raise RuleDefinitionError(
                f"{op}: a JVP formula's first two parameters are xp and t, this one has "
                f"({', '.join(given)}). Fix: lambda xp, t, {argument}: ..."
            )
        self.function = function
        self.names: tuple[str, ...] = given[2:]
        self.op = op
        self.argument = argument
        more = () if "out" in self.names else ("out",)
        self.__signature__: inspect.Signature = _signature("xp", "t", *self.names, *more)

    def __call__(self, xp: Any, t: Any, *saved: Any) -> Any:
        """Return the tangent of the output, or a tuple for several outputs."""
        values = dict(zip((*self.names, "out"), saved, strict=False))
        result = self.function(xp, t, *saved[: len(self.names)])
        check_tangent(result, values["out"], self.op, self.argument)
        return result


class _TransposedJvp:
    """The cotangent formula derived by transposing a JVP.

    A JVP is linear in its tangent. It is recorded on a variable tangent, and the cotangent goes
    back through that record. It saves the values that the JVP names.
    """

    def __init__(self, jvp: _CheckedJvp) -> None:
        self.jvp = jvp
        meta = f"{jvp.argument}_meta"
        self.names: tuple[str, ...] = jvp.names if meta in jvp.names else (*jvp.names, meta)
        self.at: int = self.names.index(meta)
        self.__signature__: inspect.Signature = _signature("xp", "g", *self.names)

    def __call__(self, xp: Any, g: Any, *saved: Any) -> Any:
        """Return the cotangent of the argument."""
        cotangents = g if isinstance(g, TUPLE) else (g,)
        values = saved[: len(self.jvp.names)]
        # The engine conjugates around the formulas of complex outputs, as a formula for reals
        # needs; the pass through the record gives the adjoint by itself.
        conjugates = any(_is_complex(part) for part in cotangents)
        if conjugates:
            cotangents = tuple(_conjugate(part) for part in cotangents)
        zeros = zeros_of(backend_of(cotangents[0]).xp, saved[self.at])

        def push(tangents: Sequence[Any]) -> Sequence[Any]:
            (t,) = tangents
            result = self.jvp.function(t._namespace, t, *values)
            check_tangent(result, g, self.jvp.op, self.jvp.argument)
            parts = result if isinstance(g, TUPLE) else (result,)
            return in_spaces_of(cotangents, parts)

        arrived = record_linear(push, [zeros]).pull(cotangents, keep=False)[0]
        found = zeros if arrived is None else arrived
        return _conjugate(found) if conjugates else found


def _is_complex(array: Any) -> bool:
    return backend_of(array).dtype_kind(array.dtype)[1]


def _conjugate(array: Any) -> Any:
    return backend_of(array).xp.conj(array) if _is_complex(array) else array
