"""Rules from outside the library: for a user's function, or any library's.

They are entries like the library's own. What a rule of a user returns is checked each time, what
the library's own return is checked by its tests.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, ParamSpec, TypeVar, TYPE_CHECKING

from gradwrap.core.classes import rebind
from gradwrap.core.inplace import unwrapped_key
from gradwrap.core.nested import holds_variable
from gradwrap.core.record import no_rule
from gradwrap.core.registry import GENERIC, Op, find_op, op_of_function, register_function
from gradwrap.core.rule import FormulaFunction, Rule
from gradwrap.core.variable import Variable
from gradwrap.errors import RuleDefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Primitive", "defvjp", "primitive"]

P = ParamSpec("P")
R = TypeVar("R")


class Primitive:
    """A function of native arrays that is one operation to the recorder."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.op = Op(getattr(fun, "__name__", type(fun).__name__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not holds_variable([*args, *kwargs.values()]):
            return self.fun(*args, **kwargs)
        return call_op(self.op, self.fun, args, kwargs)

    def __repr__(self) -> str:
        return f"<primitive {self.op.name}>"


def call_op(op: Op, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call an operation with at least one variable among its arguments."""
    values = [*args, *kwargs.values()]
    variable = (
        next(v for v in values if isinstance(v, Variable))
        if any(isinstance(v, Variable) for v in values)
        else None
    )
    cls = None if variable is None else type(variable)
    backend = "" if cls is None else cls._backend.name
    if cls is None or op.rule_for(backend) is None:
        _refuse_tracked(op, fun, backend, args, kwargs)
        out = fun(*unwrapped_key(args), **{k: unwrapped_key(v) for k, v in kwargs.items()})
        return out if cls is None else cls._plain(out)
    return cls._bind(op).apply(*args, **kwargs)


def _refuse_tracked(
    op: Op, fun: Callable[..., Any], backend: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    named = dict(zip(_array_parameters(fun, None), args, strict=False)) | kwargs
    for name, value in named.items():
        if isinstance(value, Variable) and value.requires_grad:
            raise no_rule(op.name, backend, name, list(named))


def primitive(fun: Callable[P, R]) -> Callable[P, R]:
    """Make any function of native arrays one operation, to be given a rule with `defvjp`.

    It is called with native arrays only. Without a rule, it refuses tracked arguments.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> @gw.primitive
    ... def cube(x):
    ...     return x**3
    >>> gw.defvjp(cube, lambda xp, g, x: g * 3 * x**2)
    >>> gw.grad(cube)(2.0)
    np.float64(12.0)
    """
    return Primitive(fun)


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
        A `primitive`, a name of the standard (`"sin"`, `"linalg.inv"`), or any library's function
        (`scipy.special.gammaln`, a NumPy ufunc). Once it has a rule, unmodified code that calls
        it on tracked arrays is differentiated.
    vjps
        For each array argument, in order, a formula such as `lambda xp, g, x: g * xp.cos(x)`, or
        None if it is not differentiable. Its parameter names say what it is given, and saved:
        `xp` (the namespace), `g` (the cotangent of the output), `out` (the output), arguments by
        their names, and `x_meta` (shape, dtype and device of an argument). It is written as for
        real numbers; for a complex output the engine conjugates around it, which is right for a
        holomorphic function.
    backend
        The library for which the rule holds (`"numpy"`, `"cupy"`); all of them by default.
    params
        The parameters' names, where they cannot be inspected: `"x1 x2"`. Those of a ufunc are
        `x`, or `x1 x2`.

    Raises
    ------
    RuleDefinitionError
        A formula names what it cannot be given, or there are more formulas than parameters.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.defvjp(np.cbrt, lambda xp, g, out: g / (3 * out * out))
    >>> gw.grad(np.cbrt)(8.0)
    np.float64(0.08333333333333333)
    """
    target, native_function = _target(op)
    names = _array_parameters(native_function, params)
    if not vjps:
        raise RuleDefinitionError(
            f"{target.name}: defvjp was given no formula. It takes one for each array argument: "
            f"{', '.join(names)}."
        )
    if len(vjps) > len(names):
        raise RuleDefinitionError(
            f"{target.name}: {len(vjps)} formulas for {len(names)} parameters, "
            f"{', '.join(names)}. Fix: give one for each array argument, None where it is not "
            "differentiable."
        )
    existing = target.rule_for(backend or GENERIC)
    if existing is not None and native_function is None:
        signature = existing.signature_text
    else:
        signature = _signature_text(native_function, names)
    rule = Rule(
        target.name,
        signature,
        vjps,
        kind="user",
        native=None if native_function is None else _ignoring_namespace(native_function),
        checked=True,
        casts=True,
    )
    target.rules[backend or GENERIC] = rule
    target.version += 1
    rebind(target)


def _ignoring_namespace(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(xp: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG001
        return function(*args, **kwargs)

    return call


def _target(op: Any) -> tuple[Op, Callable[..., Any] | None]:
    """The operation to register a rule for, and its native function if the registry lacks it."""
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
    known = op_of_function(op)
    if known is not None:
        rule = known.rule_for(GENERIC)
        return known, (op if rule is None or rule.kind == "user" else None)
    made = Op(getattr(op, "__name__", type(op).__name__))
    register_function(op, made)
    return made, op


def _array_parameters(function: Any, params: str | None) -> list[str]:
    if params is not None:
        return params.split()
    nin = getattr(function, "nin", None)
    if isinstance(nin, int):
        return ["x"] if nin == 1 else [f"x{i + 1}" for i in range(nin)]
    if function is None:
        return ["x", "x1", "x2", "x3"]
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise RuleDefinitionError(
            f'The parameters of {function!r} cannot be inspected. Fix: name them, params="x1 x2".'
        ) from None
    return [p.name for p in found if p.kind is not p.VAR_KEYWORD]


def _signature_text(function: Any, names: list[str]) -> str:
    """The signature of a function as it stands in the table, defaults by their values."""
    return ", ".join(names)
