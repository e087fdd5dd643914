"""A user's function as the table sees it: its parameters, and the call that arrays come out of."""

from __future__ import annotations

import functools
import inspect
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from gradwrap.core.comparing import is_array
from gradwrap.core.dynamic import SEQUENCE
from gradwrap.errors import NotAnArrayError, RuleDefinitionError
from gradwrap.transforms.argnums import name_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Signature", "UserFunction", "call_native"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


class UserFunction(Generic[P, R]):
    """A user's function in a wrapper that is called, named, and bound to instances as it is."""

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
    """A function's parameters as the table writes them; defaults stand in a scope, by value."""

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
        """Refuse array parameters whose names mean something else to a formula along `g` or `t`."""
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


def call_native(
    function: Callable[..., Any], name: str, xp: Any, /, *args: Any, **kwargs: Any
) -> Any:
    """Call a user's function, and see to it that arrays come out."""
    out = function(*args, **kwargs)
    if isinstance(out, SEQUENCE):
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
