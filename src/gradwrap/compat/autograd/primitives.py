"""`primitive`, `defvjp`, `defjvp` and their relatives, with HIPS autograd's signatures.

A maker `vjpmaker(ans, *args, **kwargs)` returns the function from the cotangent of the result to
that of an argument; `jvp(g, ans, *args, **kwargs)` returns the tangent of the result. Both get the
arguments as an outer transform sees them, so that what they compute is differentiated too.
"""

from __future__ import annotations

import functools
import warnings
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.library.backend import is_floating
from gradwrap.core.values.dynamic import SEQUENCE, rebuilt
from gradwrap.core.values.tree import flatten, map_leaves, unflatten
from gradwrap.errors import NoRuleError, RuleResultError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.calls import checked_leaves, output_of, spaces_of
from gradwrap.transforms.custom_calls import (
    is_differentiated,
    perform,
    pull_by_transposing,
    push_by_transposing,
)
from gradwrap.transforms.primitive import UserFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gradwrap.transforms.custom_calls import Pull

    Maker = Callable[..., Any]


class NotDefinedError(NoRuleError, NotImplementedError):
    """A primitive has no derivative in an argument; NotImplementedError is HIPS autograd's."""


class Primitive(UserFunction[Any, Any]):
    """A function of plain values that is recorded as one operation."""

    vjp: Maker | None = None
    """From the numbers of the tracked arguments, the result and the arguments to the pull."""
    jvp: Maker | None = None
    __name__: str

    def __init__(self, fun: Any) -> None:
        super().__init__(fun)
        self._older: dict[int, Maker | None] = {}

    def defgrad(self, vjpmaker: Maker | None, argnum: int = 0) -> None:
        """Give one argument a maker; an older form of `defvjp`."""
        warnings.warn(f"{name_of(self)}.defgrad is deprecated. Fix: defvjp.", stacklevel=2)
        self._older[argnum] = vjpmaker
        defvjp(self, *self._older.values(), argnums=self._older)

    def defvjp(self, vjp: Maker, argnum: int = 0) -> None:
        """Give one argument a function of the cotangent, the result and their spaces."""

        def maker(ans: Any, *args: Any, **kwargs: Any) -> Maker:
            return lambda g: vjp(g, ans, None, None, *args, **kwargs)

        self.defgrad(maker, argnum)

    def defvjp_is_zero(self, argnums: Iterable[int] = (0,)) -> None:
        """Declare that derivatives are zero; an older form of `defvjp(f, None)`."""
        for argnum in argnums:
            self.defgrad(None, argnum)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with plain values, and record the call."""
        leaves, treedef = flatten(args)
        if not is_differentiated(leaves):
            return self.fun(*map_leaves(native, args), **map_leaves(native, kwargs))
        call = _Call(self, treedef, [flatten(arg)[1].size for arg in args], kwargs)
        outs = perform(call, leaves)
        return unflatten(call.out_treedef, outs)


class _Call:
    """One recorded call. Its arguments are flat here, and `sizes` has how many leaves each has."""

    def __init__(
        self, function: Primitive, treedef: Any, sizes: list[int], kwargs: dict[str, Any]
    ) -> None:
        self.function = function
        self.name = name_of(function)
        self.treedef = treedef
        self.owners = [i for i, size in enumerate(sizes) for _ in range(size)]
        self.kwargs = kwargs
        self.out_treedef: Any = None

    def _performed(self, inputs: Sequence[Any]) -> tuple[list[Any], Any, Any]:
        """Return the outputs, the result and the arguments."""
        args = unflatten(self.treedef, inputs)
        ans = self.function(*args, **self.kwargs)
        leaves, self.out_treedef = flatten(ans)
        return [output_of(leaf, inputs) for leaf in leaves], ans, args

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """Return the outputs, and the pull that the makers give."""
        argnums = tuple(dict.fromkeys(self._of(needed)))
        if self.function.vjp is None:
            if self.function.jvp is None:
                raise self._missing("VJP", argnums)
            return pull_by_transposing(
                lambda tangents: self.forward(inputs, tangents, level), inputs, needed, self.name
            )
        outs, ans, args = self._performed(inputs)
        made: Any = self.function.vjp(argnums, ans, args, self.kwargs)
        treedef, spaces = self.out_treedef, spaces_of(inputs)

        def pull(cotangents: Sequence[Any]) -> list[Any]:
            given = unflatten(treedef, [conjugate(one) for one in cotangents])
            found: list[Any] = [None] * len(spaces)
            for argnum, cotangent in zip(argnums, made(given), strict=False):
                places = [i for i, owner in enumerate(self.owners) if owner == argnum]
                own = [spaces[i] for i in places]
                leaves = [conjugate(one) for one in self._fitted(args[argnum], cotangent, own)]
                for place, leaf in zip(places, leaves, strict=True):
                    found[place] = leaf if needed[place] else None
            return found

        return outs, pull

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Return the outputs and their tangents; without a JVP, by transposing the VJP."""
        needed = [one is not None for one in tangents]
        if self.function.jvp is None:
            outs, pull = self.reverse(inputs, needed, level)
            return outs, push_by_transposing(pull, outs, tangents)
        argnums = tuple(dict.fromkeys(self._of(needed)))
        outs, ans, args = self._performed(inputs)
        zeros = [
            np.zeros(np.shape(x)) if t is None and is_floating(x) else t
            for x, t in zip(inputs, tangents, strict=True)
        ]
        gs = unflatten(self.treedef, zeros)
        pushed = self.function.jvp(argnums, [gs[i] for i in argnums], ans, args, self.kwargs)
        return outs, self._fitted(ans, pushed, spaces_of(outs))

    def _of(self, needed: Sequence[bool]) -> Iterable[int]:
        return (owner for owner, wanted in zip(self.owners, needed, strict=True) if wanted)

    def _fitted(self, like: Any, found: Any, spaces: Sequence[Any]) -> list[Any]:
        """Return the leaves of a cotangent or tangent, of their dtypes; its shape is checked."""
        found = _put_as(like, found)
        leaves, treedef = flatten(found)
        if flatten(like)[1] == treedef:
            leaves = [
                x if s is None or x is None else _cast(x, s)
                for x, s in zip(leaves, spaces, strict=True)
            ]
            found = unflatten(treedef, leaves)
        where = f"the rule of {self.name} returned"
        return checked_leaves(found, flatten(like)[1], spaces, lambda _: where, "the argument")

    def _missing(self, which: str, argnums: tuple[int, ...]) -> NotDefinedError:
        return NotDefinedError(
            f"{which} of {self.name} wrt argnums {argnums} not defined. Fix: defvjp({self.name}, "
            "lambda ans, x: lambda g: ...) gives it one."
        )


def _put_as(like: Any, found: Any) -> Any:
    """Return a rule's result in the argument's sequences, where it has another or an array."""
    is_sequence = isinstance(found, SEQUENCE) or np.ndim(found) > 0
    if not isinstance(like, SEQUENCE) or not is_sequence or len(found) != len(like):
        return found
    return rebuilt(like, [_put_as(one, part) for one, part in zip(like, found, strict=True)])


def _cast(value: Any, space: Any) -> Any:
    """Return a value of a rule as an array of the dtype of its space."""
    meta = space.meta
    if not isinstance(value, AnyWrapper):
        value = np.asarray(value)
    if not meta.is_complex and value.dtype.kind == "c":
        value = np.real(value)
    return value if value.dtype == meta.dtype else value.astype(meta.dtype)


def conjugate(value: Any) -> Any:
    """Return the conjugate of a complex array; others as they are.

    The gradient of HIPS autograd is the conjugate of gradwrap's.
    """
    is_complex = getattr(getattr(value, "dtype", None), "kind", "") == "c"
    return np.conj(value) if is_complex or isinstance(value, complex) else value


# Definitions --------------------------------------------------------------------------------------


def primitive(f_raw: Callable[..., Any]) -> Primitive:
    """Make a function one operation, whose arguments are plain values."""
    return Primitive(f_raw)


def notrace_primitive(f_raw: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function take the plain values of tracked arguments; its result is a constant."""

    @functools.wraps(f_raw)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return f_raw(*map(_constant, args), **kwargs)

    return wrapped


def _constant(value: Any) -> Any:
    return map_leaves(native, value)


def register_notrace(trace_type: Any, primitive_fun: Any) -> None:
    """Declare that a function has no derivative: its results are constants."""
    _checked(primitive_fun).fun = primitive_fun.fun
    defvjp_argnums(
        primitive_fun, lambda argnums, ans, args, kwargs: lambda g: [None for _ in argnums]
    )


def _checked(fun: Any) -> Primitive:
    if not isinstance(fun, Primitive):
        raise RuleResultError(
            f"{name_of(fun)} is not a primitive, so it cannot be given another derivative here. "
            "Fix: fun = primitive(fun) first; for a function of NumPy, gradwrap.defvjp."
        )
    return fun


def defvjp_argnums(fun: Any, vjpmaker: Maker) -> None:
    """Give a primitive a maker for the pull to several arguments at once."""
    _checked(fun).vjp = vjpmaker


def defvjp_argnum(fun: Any, vjpmaker: Maker) -> None:
    """Give a primitive a maker that is told the number of the argument."""

    def vjp(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        pulls = [vjpmaker(argnum, ans, args, kwargs) for argnum in argnums]
        return lambda g: [pull(g) for pull in pulls]

    defvjp_argnums(fun, vjp)


def defvjp(fun: Any, *vjpmakers: Maker | None, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive a maker for each argument; None where the derivative is zero."""
    makers = dict(zip(count() if argnums is None else argnums, vjpmakers, strict=False))
    name = name_of(fun)

    def vjp(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        missing = [i for i in argnums if i not in makers]
        if missing:
            raise NotDefinedError(f"VJP of {name} wrt argnum {missing[0]} not defined")
        pulls: list[Any] = [
            None if (m := makers[i]) is None else m(ans, *args, **kwargs) for i in argnums
        ]
        return lambda g: [None if pull is None else pull(g) for pull in pulls]

    defvjp_argnums(fun, vjp)


def defjvp_argnums(fun: Any, jvpmaker: Maker) -> None:
    """Give a primitive a function for the tangent of its result."""
    _checked(fun).jvp = jvpmaker


def defjvp_argnum(fun: Any, jvpmaker: Maker) -> None:
    """Give a primitive a function that is told the number of the argument."""

    def jvp(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        return _sum([jvpmaker(i, g, ans, args, kwargs) for i, g in zip(argnums, gs, strict=True)])

    defjvp_argnums(fun, jvp)


def defjvp(fun: Any, *jvpfuns: Maker | str | None, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive a function for each argument; "same" where it is linear in it."""
    functions = dict(zip(count() if argnums is None else argnums, jvpfuns, strict=False))

    def jvp(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        one: Any = functions.get(argnum)
        if one == "same":
            return fun(*args[:argnum], g, *args[argnum + 1 :], **kwargs)
        return None if one is None else one(g, ans, *args, **kwargs)

    defjvp_argnum(fun, jvp)


def def_linear(fun: Any) -> None:
    """Declare that a primitive is linear in all its arguments."""
    defjvp_argnum(
        fun,
        lambda i, g, ans, args, kwargs: fun(*args[:i], g, *args[i + 1 :], **kwargs),
    )


def _sum(parts: list[Any]) -> Any:
    """Add trees of one structure; None stands for zero."""
    parts = [part for part in parts if part is not None]
    if not parts:
        return None
    columns = zip(*(flatten(part)[0] for part in parts), strict=True)
    return unflatten(flatten(parts[0])[1], [sum(column[1:], column[0]) for column in columns])
