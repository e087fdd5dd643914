"""The formulas that follow from a user's JVP: itself, checked, and the VJP that transposes it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.checking import check_tangent
from gradwrap.core.graph.linear import in_spaces_of, record_linear
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.core.values.space import zeros_of
from gradwrap.errors import RuleDefinitionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.table.rule import FormulaFunction


def _signature(*names: str) -> inspect.Signature:
    return inspect.Signature(
        [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names]
    )


class CheckedJvp:
    """A user's JVP formula, whose result is compared with the output it is to belong to."""

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
        """The tangent of the output, or a tuple of those of several."""
        values = dict(zip((*self.names, "out"), saved, strict=False))
        result = self.function(xp, t, *saved[: len(self.names)])
        check_tangent(result, values["out"], self.op, self.argument)
        return result


class TransposedJvp:
    """The formula of a cotangent that follows from a JVP.

    A JVP is linear in its tangent. It is recorded on a variable tangent, and the cotangent goes
    back through that record. What it saves is what the JVP names.
    """

    def __init__(self, jvp: CheckedJvp) -> None:
        self.jvp = jvp
        meta = f"{jvp.argument}_meta"
        self.names: tuple[str, ...] = jvp.names if meta in jvp.names else (*jvp.names, meta)
        self.at: int = self.names.index(meta)
        self.__signature__: inspect.Signature = _signature("xp", "g", *self.names)

    def __call__(self, xp: Any, g: Any, *saved: Any) -> Any:
        """The cotangent of the argument."""
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
