"""`custom_vjp` and `custom_jvp`: functions with a user-written rule for one mode."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from gradwrap.core.array.variable import variable_class
from gradwrap.core.levels.wrapper import make_wrapper
from gradwrap.core.library.backend import backend_of, is_floating
from gradwrap.core.observing.watching import kept_tree, restored_tree
from gradwrap.core.values.comparing import kind_of, zeros_like
from gradwrap.core.values.dynamic import SEQUENCE, class_of
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import RuleDefinitionError, RuleResultError
from gradwrap.transforms.calls import Space, checked_leaves, output_of, refuse_tracked, spaces_of
from gradwrap.transforms.custom_calls import pull_by_transposing, push_by_transposing
from gradwrap.transforms.custom_function import Arguments, CustomCall, CustomFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.values.dynamic import AnyFunction
    from gradwrap.transforms.custom_calls import Pull

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound="Callable[..., Any]")


class custom_vjp(CustomFunction[P, R]):  # noqa: N801  JAX's name
    """Give a function its own rule for reverse mode: a decorator, as JAX's `custom_vjp`.

    The method `defvjp(fwd, bwd)` of the decorated function gives it its rule. Forward mode follows
    from `bwd`, which is linear in its cotangent. Keyword arguments and defaults are bound to
    positions.

    Parameters
    ----------
    fun
        A function of arrays or pytrees of arrays, which returns such values too. Outside of a
        transform, it is called directly.
    nondiff_argnums
        Positions of arguments that are not arrays: functions, shapes, names. `bwd` gets them before
        the others. They cannot be tracked.

    Raises
    ------
    NoRuleError
        The function is differentiated before `defvjp`.
    RuleResultError
        `fwd` does not return a pair, or `bwd` returns a cotangent that does not fit its argument.
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
            structure, and returns a tuple with a cotangent for each of the other arguments, of its
            structure, shapes and dtypes. None stands for zero. It has the form of the result of
            `gradwrap.vjp`: for complex arguments the conjugate of JAX's.
        """
        for function in (fwd, bwd):
            if not callable(function):
                raise TypeError(
                    f"{self.name}.defvjp takes two functions, fwd and bwd; "
                    f"it got {class_of(function)}. Fix: pass both functions."
                )
        self._rule = (fwd, bwd)

    def _rule_of(self, arguments: Arguments) -> _VjpCall:
        if self._rule is None:
            raise self._undefined()
        return _VjpCall(self.name, *self._rule, arguments)


class _VjpCall(CustomCall):
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
        """Run fwd, and return bwd as the pull."""
        outs, residuals = self._forward(inputs)
        refuse_tracked(outs, level, f"the fwd of {self.name} uses")
        out_treedef = self.out_treedef
        spaces = spaces_of(inputs)
        saved = kept_tree((tuple(self.arguments.static.values()), residuals), level)

        def pull(cotangents: Sequence[Any]) -> list[Any]:
            static, residuals = restored_tree(self.name, saved)
            returned = self.bwd(*static, residuals, unflatten(out_treedef, cotangents))
            found = self._checked(returned, spaces)
            refuse_tracked(found, level, f"the bwd of {self.name} uses", only=True)
            return found

        return outs, pull

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Run fwd, and transpose bwd for the tangents."""
        outs, pull = self.reverse(inputs, [t is not None for t in tangents], level)
        return outs, push_by_transposing(pull, outs, tangents)

    def _forward(self, inputs: Sequence[Any]) -> tuple[list[Any], Any]:
        returned = self.fwd(*self.arguments.all(inputs))
        leaves, residuals = self.value_and("the residuals that bwd is to be given", returned, "fwd")
        return [output_of(leaf, inputs) for leaf in leaves], residuals

    def _checked(self, returned: Any, spaces: Sequence[Space | None]) -> list[Any]:
        """Return the cotangents as flat leaves; None stands for zero."""
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


class custom_jvp(CustomFunction[P, R]):  # noqa: N801  JAX's name
    """Give a function its own rule for forward mode: a decorator, as JAX's `custom_jvp`.

    Parameters are those of `custom_vjp`: the rule gets the arguments in `nondiff_argnums` before
    the others. `defjvp` gives the function its rule, or `defjvps` a rule for each argument. Reverse
    mode follows, since the rule is linear in the tangents and can be transposed.

    Raises
    ------
    NoRuleError
        The function is differentiated before it has a rule.
    RuleResultError
        The rule does not return a pair, or its tangent does not fit the output.
    TrackedValueError
        An argument in `nondiff_argnums` is tracked, or the rule uses a tracked array that is not
        among the arguments.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> @gw.custom_jvp
    ... def log1pexp(x):
    ...     return np.log(1 + np.exp(x))
    >>> @log1pexp.defjvp
    ... def log1pexp_jvp(primals, tangents):
    ...     x, = primals
    ...     t, = tangents
    ...     return log1pexp(x), (1 - 1 / (1 + np.exp(x))) * t
    >>> gw.grad(log1pexp)(100.0)
    np.float64(1.0)
    """

    _kind = "custom_jvp"
    _definition = "defjvp(jvp)"
    _rule: Callable[..., Any] | None = None

    def defjvp(self, jvp: F) -> F:
        """Give the function its rule; can be used as a decorator.

        Parameters
        ----------
        jvp
            `jvp(*nondiff_args, primals, tangents)`: takes the arguments and their tangents as two
            tuples, and returns the value and its tangent. A tangent has the structure, shapes and
            dtypes of its primal, and None for leaves that are neither arrays nor numbers. It must
            be linear in the tangents.
        """
        if not callable(jvp):
            raise TypeError(f"{self.name}.defjvp takes a function; it got {kind_of(jvp)}.")
        self._rule = jvp
        return jvp

    def defjvps(self, *jvps: AnyFunction[Any] | None) -> None:
        """Give the function a tangent rule for each argument; their results are summed.

        Parameters
        ----------
        jvps
            For each argument `jvp(tangent, out, *primals)`, which returns this tangent's
            contribution to the tangent of `out`; None where that is zero.
        """
        if self.nondiff_argnums:
            raise RuleDefinitionError(
                f"{self.name}.defjvps does not go with nondiff_argnums. Fix: use defjvp."
            )
        for one in jvps:
            if one is not None and not callable(one):
                raise TypeError(f"{self.name}.defjvps takes functions; it got {kind_of(one)}.")

        def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
            if len(primals) != len(jvps):
                raise RuleDefinitionError(
                    f"{self.name}.defjvps was given {len(jvps)} functions for "
                    f"{len(primals)} arguments. Fix: give one for each, None where it is zero."
                )
            out = self(*primals)  # type: ignore[call-arg]  # its own arguments
            total: Any = None
            given: tuple[Any, ...] = jvps
            for jvp, tangent in zip(given, tangents, strict=True):
                if jvp is not None:
                    part = jvp(tangent, out, *primals)
                    total = part if total is None else _sum(total, part)
            return out, total

        self._rule = rule

    def _rule_of(self, arguments: Arguments) -> _JvpCall:
        if self._rule is None:
            raise self._undefined()
        return _JvpCall(self.name, self._rule, arguments)


def _sum(left: Any, right: Any) -> Any:
    """Add two trees of one structure."""
    leaves, treedef = flatten(left)
    others, _ = flatten(right)
    pairs = zip(leaves, others, strict=True)
    return unflatten(treedef, [b if a is None else a if b is None else a + b for a, b in pairs])


class _JvpCall(CustomCall):
    """The derivative of one call of a `custom_jvp` function."""

    def __init__(self, name: str, jvp: Callable[..., Any], arguments: Arguments) -> None:
        super().__init__(name, arguments)
        self.jvp = jvp

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Run the rule."""
        outs, pushed = self._run(inputs, tangents)
        refuse_tracked([*outs, *pushed], level, f"the jvp of {self.name} uses")
        return outs, pushed

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """Return the outputs, and the transposed rule as the pull."""
        primals = [_wrapped(one) for one in inputs]  # one class with their tangents

        def forward(tangents: Sequence[Any]) -> tuple[list[Any], Sequence[Any]]:
            outs, pushed = self._run(primals, tangents)
            what = f"the jvp of {self.name} uses"
            refuse_tracked([*outs, *pushed], level, what, only=True)
            return outs, pushed

        return pull_by_transposing(forward, inputs, needed, f"the jvp of {self.name}")

    def _run(
        self, inputs: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[list[Any], Sequence[Any]]:
        arguments = self.arguments
        full = [
            _zero(one) if tangent is None else tangent
            for one, tangent in zip(inputs, tangents, strict=True)
        ]
        primals, directions = (tuple(arguments.restored(leaves)) for leaves in (inputs, full))
        returned = self.jvp(*arguments.static.values(), primals, directions)
        leaves, tangent_out = self.value_and("its tangent", returned, "jvp")
        outs = [output_of(leaf, inputs) for leaf in leaves]
        where = f"the jvp of {self.name} returned for the tangent"
        pushed = checked_leaves(
            tangent_out, self.out_treedef, spaces_of(outs), lambda _: where, "the value"
        )
        return outs, pushed


def _wrapped(value: Any) -> Any:
    if not is_floating(value):
        return value
    return make_wrapper(variable_class(backend_of(value)), value)


def _zero(primal: Any) -> Any:
    """Return the tangent of an argument that is not differentiated: zeros."""
    if is_floating(primal):
        return zeros_like(primal)
    if isinstance(primal, (int, float, complex)) and not isinstance(primal, bool):
        return 0.0
    return None
