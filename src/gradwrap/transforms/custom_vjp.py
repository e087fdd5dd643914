"""`custom_vjp`: a function whose reverse mode its author writes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from gradwrap.core.comparing import kind_of
from gradwrap.core.dynamic import SEQUENCE
from gradwrap.core.tree import unflatten
from gradwrap.errors import RuleResultError
from gradwrap.transforms.calls import Space, checked_leaves, output_of, refuse_tracked, spaces_of
from gradwrap.transforms.custom_calls import push_by_transposing
from gradwrap.transforms.custom_function import Arguments, CustomCall, CustomFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.dynamic import AnyFunction
    from gradwrap.transforms.custom_calls import Pull

__all__ = ["custom_vjp"]

P = ParamSpec("P")
R = TypeVar("R")


class custom_vjp(CustomFunction[P, R]):  # noqa: N801  JAX's name
    """A function with its own rule for reverse mode: JAX's `custom_vjp`, to be used as a decorator.

    Parameters
    ----------
    fun
        A function of arrays, or pytrees of them, that returns such. Outside of a transform it is
        called as it is.
    nondiff_argnums
        Positions of arguments that are no arrays: functions, shapes, names. They are handed to
        `bwd` before the others, and cannot be tracked.

    `fun.defvjp(fwd, bwd)` gives it its rule, see there. Forward mode follows from `bwd`, which is
    linear in its cotangent. Keyword arguments and defaults are bound to positions.

    Raises
    ------
    NoRuleError
        The function is differentiated before `defvjp`.
    RuleResultError
        `fwd` returns no pair, or `bwd` a cotangent that does not belong to its argument.
    TrackedValueError
        An argument in `nondiff_argnums` is tracked, or `fwd` or `bwd` uses a tracked array that
        is not among the arguments.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> @gw.custom_vjp
    ... def clipped(x, low, high):
    ...     return x
    >>> def forward(x, low, high):
    ...     return x, (low, high)
    >>> def backward(residual, g):
    ...     low, high = residual
    ...     return np.clip(g, low, high), None, None
    >>> clipped.defvjp(forward, backward)
    >>> gw.grad(lambda x: np.sum(clipped(x, -1.0, 1.0) ** 2))(np.array([0.2, 5.0]))
    array([0.4, 1. ])
    """

    _kind = "custom_vjp"
    _definition = "defvjp(fwd, bwd)"
    _rule: tuple[Callable[..., Any], Callable[..., Any]] | None = None

    def defvjp(self, fwd: AnyFunction[tuple[Any, Any]], bwd: AnyFunction[tuple[Any, ...]]) -> None:
        """Give the function its rule.

        Parameters
        ----------
        fwd
            Takes the arguments of the function, and returns a pair: its value, and a pytree of
            whatever `bwd` needs (the residuals).
        bwd
            `bwd(*nondiff_args, residuals, g)`: takes the cotangent of the value, which has its
            structure, and returns a tuple with a cotangent for each of the other arguments, of
            its structure, shapes and dtypes. None stands for zero. It is what `gradwrap.vjp`
            would return: for complex arguments the conjugate of JAX's.
        """
        for function in (fwd, bwd):
            if not callable(function):
                raise TypeError(
                    f"{self.name}.defvjp takes two functions, fwd and bwd; "
                    f"it got a {type(function).__name__}."
                )
        self._rule = (fwd, bwd)

    def _rule_of(self, arguments: Arguments) -> _Call:
        if self._rule is None:
            raise self._undefined()
        return _Call(self.name, *self._rule, arguments)


class _Call(CustomCall):
    """The derivative of one call of a `custom_vjp` function."""

    def __init__(
        self, name: str, fwd: Callable[..., Any], bwd: Callable[..., Any], arguments: Arguments
    ) -> None:
        super().__init__(name, arguments)
        self.fwd = fwd
        self.bwd = bwd

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """Run fwd; bwd is the pull."""
        outs, residuals = self._forward(inputs)
        refuse_tracked(outs, level, f"the fwd of {self.name} uses")
        out_treedef = self.out_treedef
        spaces = spaces_of(inputs)
        static = tuple(self.arguments.static.values())

        def pull(cotangents: Sequence[Any]) -> list[Any]:
            returned = self.bwd(*static, residuals, unflatten(out_treedef, cotangents))
            found = self._checked(returned, spaces)
            refuse_tracked(found, level, f"the bwd of {self.name} uses", only=True)
            return found

        return outs, pull

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Forward mode: bwd, transposed."""
        outs, pull = self.reverse(inputs, [t is not None for t in tangents], level)
        return outs, push_by_transposing(pull, outs, tangents)

    def _forward(self, inputs: Sequence[Any]) -> tuple[list[Any], Any]:
        returned = self.fwd(*self.arguments.all(inputs))
        leaves, residuals = self.value_and("the residuals that bwd is to be given", returned, "fwd")
        return [output_of(leaf, inputs) for leaf in leaves], residuals

    def _checked(self, returned: Any, spaces: Sequence[Space | None]) -> list[Any]:
        """The cotangents as flat leaves, None where one is zero or there is none."""
        arguments = self.arguments
        what = f"the bwd of {self.name} returned"
        names = [arguments.function._parameter(place) for place in arguments.places]
        if not isinstance(returned, SEQUENCE) or len(returned) != len(names):
            count = len(names)
            raise RuleResultError(
                f"{what} {kind_of(returned)}; {self.name} has {count} differentiable "
                f"argument{'' if count == 1 else 's'} ({', '.join(names)}). Fix: return a tuple "
                "with a cotangent for each, None where it is zero."
            )
        found: list[Any] = []
        given = zip(returned, arguments.treedefs, arguments.grouped(spaces), strict=True)
        for index, (cotangent, treedef, own) in enumerate(given):
            where = functools.partial(self._at, what, index)
            found += checked_leaves(cotangent, treedef, own, where, "the argument")
        return found

    def _at(self, what: str, index: int, leaf: int | None) -> str:
        return f"{what} for {self.arguments.path(index, leaf)}"
