"""Wrappers of user functions, and `primitive`, which records a function as one operation."""

from __future__ import annotations

import functools
import inspect
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from gradwrap.core.calls.general import no_rule
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, unwrapped_key
from gradwrap.core.library.backend import backend_of, backend_of_namespace, is_array
from gradwrap.core.table.registry import Op
from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.errors import MixedLibrariesError, NotAnArrayError, RuleDefinitionError
from gradwrap.transforms.argnums import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.core.array.variable import Variable

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


class UserFunction(Generic[P, R]):
    """A wrapper of a user's function with its name, which also binds to instances."""

    def __init__(self, fun: Callable[P, R]) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        raise NotImplementedError

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: UserFunction[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind to an instance, as a function in a class does."""
        return self if instance is None else MethodType(self, instance)


class Signature:
    """The parameters of a function, written as a row of the table writes them.

    `scope` has the values of the defaults, to which `text` refers by name.
    """

    names: list[str]
    text: str

    def __init__(self, function: Any, params: str | None) -> None:
        self.scope: dict[str, Any] = {}
        self.outputs: int = 0
        nin = getattr(function, "nin", None)
        given = None if params is None else params.replace(",", " ").split()
        if isinstance(nin, int):
            known = [p.name for p in getattr(function, "in_params", ())]  # CuPy's ElementwiseKernel
            self.names = (
                given or known or (["x"] if nin == 1 else [f"x{i + 1}" for i in range(nin)])
            )
            self.text = ", ".join(self.names) + ", /"
            self.outputs = int(function.nout)
        else:
            self.names, self.text = self._inspected(function, given)

    def check_words(self, name: str, count: int, along: str) -> None:
        """Refuse array parameters whose names have another meaning in formulas."""
        reserved = ("xp", along, "out")
        if any(parameter in reserved for parameter in self.names[:count]):
            renamed = [f"{p}_" if p in reserved else p for p in self.names]
            raise RuleDefinitionError(
                f"{name} has parameters ({', '.join(self.names)}); {', '.join(reserved)} are words "
                f'of formulas. Fix: rename them for the rule, params="{" ".join(renamed)}".'
            )

    def _inspected(self, function: Any, given: list[str] | None) -> tuple[list[str], str]:
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


class Primitive(UserFunction[P, R]):
    """A function of native arrays that is recorded as one operation."""

    def __init__(self, fun: Callable[P, R]) -> None:
        super().__init__(fun)
        self.op: Op = Op(name_of(fun))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function with native arrays, and record the call."""
        cls: Any = next((type(v) for v in _variables([*args, *kwargs.values()])), None)
        if cls is None:
            return self.fun(*args, **kwargs)
        if self.op.rule_for(cls._backend.name) is not None:
            return cls._bind(self.op).apply(*args, **kwargs)  # type: ignore[no-any-return]  # of the type of the function
        self._refuse_recorded(cls._backend.name, args, kwargs)
        native = {key: unwrapped_key(value) for key, value in kwargs.items()}
        return cls._plain(self.fun(*unwrapped_key(args), **native))  # type: ignore[no-any-return]  # likewise

    def __repr__(self) -> str:
        return f"<primitive {self.op.name}>"

    def _refuse_recorded(self, backend: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not is_recorded(args) and not is_recorded(kwargs):
            return
        names = [*Signature(self.fun, None).names, *map(str, range(len(args)))]
        given = dict(zip(names, args, strict=False)) | kwargs
        argument = next(name for name, value in given.items() if is_recorded(value))
        raise no_rule(self.op.name, backend, argument, list(given))


def _variables(values: Sequence[Any]) -> Iterator[Variable[Any]]:
    for value in values:
        if isinstance(value, AnyWrapper):
            yield value
        elif isinstance(value, SEQUENCE):
            yield from _variables(value)


def primitive(fun: Callable[P, R]) -> Callable[P, R]:
    """Make any function of native arrays one operation, which can get a rule with `defvjp`.

    The function is called with native arrays only, and returns an array, a number, or a tuple of
    these. Without a rule, a tracked argument raises an error. Parameters may have defaults.

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


def call_native(
    function: Callable[..., Any], name: str, xp: Any, /, *args: Any, **kwargs: Any
) -> Any:
    """Call a user's function, and convert its results to arrays."""
    out = function(*args, **kwargs)
    if isinstance(out, SEQUENCE):
        parts = [_as_array(xp, part, name) for part in out]
        return type(out)(*parts) if hasattr(out, "_fields") else tuple(parts)
    return _as_array(xp, out, name)


def _as_array(xp: Any, value: Any, name: str) -> Any:
    if is_array(value):
        given, made = backend_of_namespace(xp), backend_of(value)
        if made.name != given.name:
            raise MixedLibrariesError(
                f"{name} was given arrays of {given.name} and returned an array of {made.name}, "
                "to which its rule does not apply. Fix: let it compute with the library of its "
                "arguments, or convert the result before it is returned."
            )
        return value
    if isinstance(value, (bool, int, float, complex)):
        return xp.asarray(value)[()]
    raise NotAnArrayError(
        f"{name} returned {'None' if value is None else 'a ' + type(value).__name__}. It is one "
        "operation on arrays. Fix: return an array, a number, or a tuple of them."
    )
