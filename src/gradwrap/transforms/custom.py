"""Rules from outside the library: for a user's function, or any library's.

They are entries like the library's own. What a rule of a user returns is checked each time, what
the library's own return is checked by its tests.
"""

from __future__ import annotations

import functools
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar

from gradwrap.core.classes import rebind
from gradwrap.core.record import is_recorded, no_rule
from gradwrap.core.registry import GENERIC, Op, find_op, op_of_function, register_function
from gradwrap.core.rule import FormulaFunction, Rule
from gradwrap.core.unwrapping import unwrapped_key
from gradwrap.core.variable import Variable
from gradwrap.errors import NotAnArrayError, RuleDefinitionError
from gradwrap.transforms.arguments import is_array, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Primitive", "defvjp", "primitive"]

P = ParamSpec("P")
R = TypeVar("R")

RESERVED = ("xp", "g", "out")

if TYPE_CHECKING:
    # Any function will do. The usual numbers of parameters are written out, so that a type checker
    # takes those of a lambda for Any.
    UserFormula: TypeAlias = (
        Callable[[Any, Any], Any]
        | Callable[[Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any, Any], Any]
        | Callable[..., Any]
    )


# A function as one operation ----------------------------------------------------------------------


class Primitive(Generic[P, R]):
    """A function of native arrays that is one operation to the recorder."""

    def __init__(self, fun: Callable[P, R]) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.op = Op(name_of(fun))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function: with native arrays, whatever wraps them."""
        cls = _variable_class_in([*args, *kwargs.values()])
        if cls is None:
            return self.fun(*args, **kwargs)
        if self.op.rule_for(cls._backend.name) is not None:
            return cls._bind(self.op).apply(*args, **kwargs)  # type: ignore[no-any-return]
        self._refuse_recorded(cls._backend.name, args, kwargs)
        native = {key: unwrapped_key(value) for key, value in kwargs.items()}
        return cls._plain(self.fun(*unwrapped_key(args), **native))  # type: ignore[no-any-return]

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind to an instance, as a function in a class does."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<primitive {self.op.name}>"

    def _refuse_recorded(self, backend: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not is_recorded(args) and not is_recorded(kwargs):
            return
        names = [*_Signature(self.fun, None).names, *map(str, range(len(args)))]
        given = dict(zip(names, args, strict=False)) | kwargs
        argument = next(name for name, value in given.items() if is_recorded(value))
        raise no_rule(self.op.name, backend, argument, list(given))


def _variable_class_in(values: Sequence[Any]) -> Any:
    """The class of the first variable among values and in lists of them."""
    return next((type(v) for v in _variables(values)), None)


def _variables(values: Sequence[Any]) -> Iterator[Variable[Any]]:
    for value in values:
        if isinstance(value, Variable):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _variables(value)


def primitive(fun: Callable[P, R]) -> Callable[P, R]:
    """Make any function of native arrays one operation, to be given a rule with `defvjp`.

    It is called with native arrays only, and returns an array, a number, or a tuple of them.
    Without a rule, it refuses tracked arguments. Its parameters may have defaults.

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


# Its rule -----------------------------------------------------------------------------------------


def defvjp(
    op: Callable[..., Any] | str,
    *vjps: UserFormula | None,
    backend: str | None = None,
    params: str | None = None,
) -> None:
    """Give an operation a rule: a formula for the cotangent of each array argument.

    Parameters
    ----------
    op
        A `primitive`, a name of the standard (`"sin"`, `"linalg.inv"`), or a library's function
        that calls on wrappers of its arrays: any ufunc (`scipy.special.gammaln`), any function of
        NumPy. Once it has a rule, unmodified code that calls it on tracked arrays is
        differentiated.
    vjps
        For each array argument, in order, a formula such as `lambda xp, g, x: g * xp.cos(x)`, or
        None if it is not differentiable. Its parameter names say what it is given, and saved:
        `xp` (the namespace), `g` (the cotangent of the output), `out` (the output), arguments by
        their names, and `x_meta` (shape, dtype and device of an argument). It is written as for
        real numbers; for a complex output the engine conjugates around it, which is right for a
        holomorphic function. Parameters beyond the formulas are static: they are handed on as
        they are, and cannot be tracked.
    backend
        The library for which the rule holds (`"numpy"`, `"cupy"`); all of them by default.
    params
        The parameters' names, where they cannot be inspected: `"x1 x2"`. Those of a ufunc are
        `x`, or `x1 x2`.

    Raises
    ------
    RuleDefinitionError
        A formula names what it cannot be given, there are more formulas than parameters, or
        nothing tells when `op` is called.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.defvjp(np.cbrt, lambda xp, g, out: g / (3 * out * out))
    >>> gw.grad(np.cbrt)(8.0)
    np.float64(0.08333333333333333)
    """
    target, function = _target(op)
    if function is None:
        rules = _replacements(target, vjps, backend)
    else:
        rules = {backend or GENERIC: _rule_of_function(target, function, vjps, params)}
        register_function(op, target)
    target.rules.update(rules)
    target.version += 1
    rebind(target)


def _target(op: Any) -> tuple[Op, Callable[..., Any] | None]:
    """The operation to register a rule for, and its native function if the table lacks it."""
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
        return known, (None if find_op(known.name) is known else op)
    if not callable(op) or not (hasattr(op, "nin") or hasattr(op, "_implementation")):
        name = getattr(op, "__name__", repr(op))
        raise RuleDefinitionError(
            f"Nothing tells gradwrap when {name} is called: it is no ufunc, no function of "
            "NumPy, and no name of the standard. "
            f"Fix: make it one operation with {name} = gradwrap.primitive({name})."
        )
    return Op(getattr(op, "__name__", type(op).__name__)), op


def _rule_of_function(
    target: Op,
    function: Callable[..., Any],
    vjps: tuple[FormulaFunction | None, ...],
    params: str | None,
) -> Rule:
    """The rule of a function that is not in the table."""
    signature = _Signature(function, params)
    _check_count(target.name, vjps, signature.names)
    signature.check_words(target.name, len(vjps))
    return Rule(
        target.name,
        signature.text,
        vjps,
        kind="user",
        native=functools.partial(_call_native, function, target.name),
        outputs=signature.outputs,
        casts=True,
        checked=True,
        scope=signature.scope,
    )


def _replacements(
    target: Op, vjps: tuple[FormulaFunction | None, ...], backend: str | None
) -> dict[str, Rule]:
    """New formulas for an operation of the table, on one backend or on all."""
    if backend is None:
        wanted = [name for name, rule in target.rules.items() if rule.kind != "user"]
        wanted = list(dict.fromkeys([GENERIC, *wanted]))
    else:
        wanted = [backend]
    rules: dict[str, Rule] = {}
    for name in wanted:
        existing = target.rule_for(name) or next(iter(target.rules.values()))
        _check_count(
            target.name, vjps, existing.arrays[:1] if existing.is_joint else existing.arrays
        )
        count = 1 if existing.is_joint else len(existing.arrays)
        rules[name] = Rule(
            target.name,
            existing.signature_text,
            (*vjps, *[None] * (count - len(vjps))),
            kind="user",
            array_count=len(existing.arrays),
            is_joint=existing.is_joint,
            variadic=existing.variadic,
            same=existing.same,
            symbol=existing.symbol,
            native=existing.native,
            outputs=existing.outputs,
            casts=True,
            views=existing.views,
            key=existing.key,
            checked=True,
            scope=existing.scope,
        )
    return rules


def _check_count(
    name: str, vjps: Sequence[FormulaFunction | None], parameters: Sequence[str]
) -> None:
    listed = ", ".join(parameters)
    if not vjps:
        raise RuleDefinitionError(
            f"{name}: defvjp was given no formula. It takes one for each array argument: "
            f"defvjp({name}, {', '.join(f'lambda xp, g, {p}: ...' for p in parameters)})."
        )
    if len(vjps) > len(parameters):
        raise RuleDefinitionError(
            f"{name}: {len(vjps)} formulas for {len(parameters)} parameters ({listed}). Fix: "
            "give one for each array argument, None where it is not differentiable."
        )
    for position, formula in enumerate(vjps):
        if formula is not None and not callable(formula):
            raise RuleDefinitionError(
                f"{name}: the formula for {parameters[position]} is a "
                f"{type(formula).__name__}. Fix: lambda xp, g, {parameters[position]}: ..."
            )


class _Signature:
    """A function's parameters as the table writes them; defaults stand in a scope, by value."""

    def __init__(self, function: Any, params: str | None) -> None:
        self.scope: dict[str, Any] = {}
        self.outputs = 0
        nin = getattr(function, "nin", None)
        given = None if params is None else params.replace(",", " ").split()
        if isinstance(nin, int):
            self.names = given or (["x"] if nin == 1 else [f"x{i + 1}" for i in range(nin)])
            self.text = ", ".join(self.names) + ", /"
            self.outputs = int(function.nout)
        else:
            self.names, self.text = self._inspected(function, given)

    def check_words(self, name: str, count: int) -> None:
        """Refuse array parameters whose names mean something else to a formula."""
        if any(parameter in RESERVED for parameter in self.names[:count]):
            renamed = [f"{p}_" if p in RESERVED else p for p in self.names]
            raise RuleDefinitionError(
                f"{name} has parameters ({', '.join(self.names)}); {', '.join(RESERVED)} are words "
                f'of formulas. Fix: rename them for the rule, params="{" ".join(renamed)}".'
            )

    def _inspected(self, function: Any, given: list[str] | None) -> tuple[list[str], str]:
        import inspect

        try:
            found = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            if given is None:
                raise RuleDefinitionError(
                    f"The parameters of {name_of(function)} cannot be inspected. "
                    'Fix: name them, params="x1 x2".'
                ) from None
            return given, ", ".join(given)
        found = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if given is not None and len(found) < len(given):  # they come in as *args
            return given, ", ".join(given)
        names = [p.name for p in found]
        names[: len(given or ())] = given or ()
        parts: list[str] = []
        before: Any = inspect.Parameter.POSITIONAL_ONLY
        for parameter, name in zip(found, names, strict=True):
            if before == parameter.POSITIONAL_ONLY != parameter.kind and parts:
                parts.append("/")
            if before != parameter.KEYWORD_ONLY == parameter.kind:
                parts.append("*")
            before = parameter.kind
            if parameter.default is parameter.empty:
                parts.append(name)
            else:
                self.scope[f"default_of_{name}"] = parameter.default
                parts.append(f"{name}=default_of_{name}")
        if parts and before == inspect.Parameter.POSITIONAL_ONLY:
            parts.append("/")
        return names, ", ".join(parts)


def _call_native(
    function: Callable[..., Any], name: str, xp: Any, /, *args: Any, **kwargs: Any
) -> Any:
    """Call a user's function, and see to it that arrays come out."""
    out = function(*args, **kwargs)
    if isinstance(out, (tuple, list)):
        parts = [_as_array(xp, part, name) for part in out]
        return type(out)(*parts) if hasattr(out, "_fields") else tuple(parts)
    return _as_array(xp, out, name)


def _as_array(xp: Any, value: Any, name: str) -> Any:
    if is_array(value):
        return value
    if isinstance(value, (bool, int, float, complex)):
        return xp.asarray(value)[()]
    raise NotAnArrayError(
        f"{name} returned {'None' if value is None else 'a ' + type(value).__name__}. It is one "
        "operation on arrays. Fix: return an array, a number, or a tuple of them."
    )
