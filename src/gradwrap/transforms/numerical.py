"""`numerical`: a function whose first derivative is taken by differences of its values."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, TypeVar

import numpy as np

from gradwrap.core.calls.loop import looped
from gradwrap.core.levels.levels import differentiating
from gradwrap.core.levels.wrapper import is_derived, is_recorded, native
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import NonDifferentiableInputError, NoRuleError, TrackedValueError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.custom_rules import defjvp, defvjp
from gradwrap.transforms.derived import derived
from gradwrap.transforms.primitive import primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

P = ParamSpec("P")
R = TypeVar("R")
Method = Literal["central", "complex"]
METHODS: tuple[Method, ...] = ("central", "complex")
TINY = 1e-30
"""The imaginary step."""


def numerical(fun: Callable[P, R], *, method: Method = "central") -> Callable[P, R]:
    """Return a function whose first derivative is taken by differences of its values.

    Use it for compiled code of a few numbers that nobody can give a rule. It is called twice for
    each tracked number ("central"), or once ("complex").

    Parameters
    ----------
    fun
        A function of NumPy arrays, numbers, or pytrees of them. It gets plain values, of the dtypes
        that it is called with.
    method
        "central": differences with a step of 6e-6 times the number, or 6e-6 if that is more. The
        relative error is about 1e-10 for a smooth function; noise in its values of the relative
        size e causes one of about 2e5 times e. A number in float32 has a step of 5e-3, and an
        error of about 2e-5. "complex": the imaginary part with an imaginary
        step, exact to rounding. The function must accept complex numbers, and be analytic.

    Raises
    ------
    NonDifferentiableInputError
        A tracked argument is complex.
    TrackedValueError
        The function writes to an argument that it does not return.
    NoRuleError
        A derivative of higher order is asked for: differences of differences are not exact enough.

    Examples
    --------
    >>> import math, gradwrap as gw
    >>> gw.grad(gw.numerical(math.lgamma))(2.5).round(6)
    np.float64(0.703157)
    """
    if method not in METHODS:
        raise ValueError(
            f"method={method!r} is none of {', '.join(METHODS)}. Fix: use one of these."
        )

    @derived(fun, numerical, method=method)
    def differenced(*args: P.args, **kwargs: P.kwargs) -> R:
        leaves, tree = flatten([args, kwargs])
        tracked = [i for i, leaf in enumerate(leaves) if is_recorded(leaf)]
        if not tracked:
            return fun(*args, **kwargs)
        call = _Call(fun, method, leaves, tree, tracked)
        flat: Any = np.concatenate([leaves[i].reshape(-1) for i in tracked])
        return call.result(call.op(flat))  # type: ignore[no-any-return]  # what `fun` returns

    return differenced


class _Call:
    """One call with tracked arguments, as a function of the vector of their elements."""

    def __init__(
        self, fun: Any, method: Method, leaves: list[Any], tree: Any, tracked: list[int]
    ) -> None:
        self.fun = fun
        self.name = name_of(fun)
        self.method: Method = method
        self.tree = tree
        self.given = [None if i in tracked else native(leaf) for i, leaf in enumerate(leaves)]
        # The function is called again in backward, when its caller may have written to them.
        self.kept: list[Any] = [_own(value) for value in self.given]
        self.parts: list[_Part] = []
        size = 0
        for i in tracked:
            part = _Part(i, size, leaves[i].shape, np.dtype(leaves[i].dtype))
            if part.dtype.kind == "c":
                raise NonDifferentiableInputError(
                    f"gradwrap.numerical({self.name}) takes derivatives at real numbers, and got "
                    f"{part.dtype}. Fix: give it the real and the imaginary part."
                )
            self.parts.append(part)
            size += math.prod(part.shape)
        self.outs: list[Any] = []
        self.out_tree: Any = None

        def of_vector(x: Any) -> Any:
            return self.values(x, self.given, keeps=True)

        of_vector.__name__ = of_vector.__qualname__ = self.name
        self.op: Any = primitive(of_vector)
        defvjp(self.op, lambda xp, g, x: xp.matmul(g, xp.asarray(self.jacobian(x))))
        defjvp(self.op, lambda xp, t, x: xp.matmul(xp.asarray(self.jacobian(x)), t))

    def values(self, x: Any, others: Sequence[Any], *, keeps: bool = False) -> Any:
        """Return the numbers in the result as a vector, for a plain vector of arguments."""
        leaves = list(others)
        for place, start, shape, dtype in self.parts:
            own = np.result_type(dtype, np.complex64) if x.dtype.kind == "c" else dtype
            part = x[start : start + math.prod(shape)].reshape(shape).astype(own)
            leaves[place] = part if shape else part.item()
        args, kwargs = unflatten(self.tree, leaves)
        with differentiating(False):  # adapted code runs as it is
            outs, tree = flatten(self.fun(*args, **kwargs))
        outs = list(map(self._as_floats, outs))
        if keeps:
            self._check_arguments(leaves, x, outs)
            self.outs, self.out_tree = outs, tree
        numbers = [np.asarray(out).reshape(-1) for out in outs if _is_number(out)]
        return np.concatenate([np.zeros(0), *numbers])

    def _as_floats(self, out: Any) -> Any:
        """Return an array of objects that are numbers, or an exact number, as floats."""
        if isinstance(out, (Decimal, Fraction)):
            return float(out)
        if not issubclass(type_of(out), np.ndarray) or out.dtype != np.dtype("O"):
            return out
        elements: list[Any] = out.reshape(-1).tolist()
        numbers = [one for one in elements if isinstance(one, NUMBERS)]
        if all(isinstance(one, int) for one in numbers):
            return out
        if len(numbers) == len(elements):
            is_complex = any(isinstance(one, complex) for one in numbers)
            return out.astype(complex if is_complex else float)
        raise TrackedValueError(
            f"gradwrap.numerical({self.name}): the function has returned an array of objects, of "
            "which some are numbers, and these would have no gradient. Fix: give "
            "gradwrap.numerical a function that returns the numbers in an array of their own."
        )

    def _check_arguments(self, leaves: list[Any], x: Any, outs: list[Any]) -> None:
        """Refuse a function that has written to an argument which it does not return."""
        before = list(self.kept)
        for place, start, shape, _ in self.parts:
            before[place] = x[start : start + math.prod(shape)].reshape(shape)
        for value, was in zip(leaves, before, strict=True):
            if type_of(value) is not np.ndarray or value.dtype.kind not in "fc":
                continue
            is_returned = any(out is value for out in outs)
            if not is_returned and not np.array_equal(value, was, equal_nan=True):
                raise TrackedValueError(
                    f"gradwrap.numerical({self.name}): the function has written to an argument, "
                    "and what it has written would have no gradient. Fix: give gradwrap.numerical "
                    "a function that makes this array itself, and returns it."
                )

    def result(self, flat: Any) -> Any:
        """Return the result in the function's own form, with the vector's elements in place."""
        outs, at = list(self.outs), 0
        for i, out in enumerate(self.outs):
            if _is_number(out):
                size, dtype = int(np.size(out)), np.asarray(out).dtype
                part = flat[at : at + size]
                part = part.reshape(np.shape(out)) if np.ndim(out) else part[0]
                part = part.real if dtype.kind == "f" else part
                outs[i] = part if part.dtype == dtype else part.astype(dtype)
                at += size
        return unflatten(self.out_tree, outs)

    def jacobian(self, x: Any) -> Any:
        """Return the derivatives at a point, by differences; under `vmap`, at each one."""
        if is_derived(x):
            raise NoRuleError(
                f"gradwrap.numerical({self.name}) has a first derivative only, and here a second "
                "one is asked for: differences of differences are not exact enough. Fix: give the "
                "function a rule with gradwrap.primitive and gradwrap.defvjp."
            )
        return looped(self._slopes, f"the derivative of {self.name}", x)

    def _slopes(self, x: Any) -> Any:
        point: Any = np.array(native(x))
        columns = [
            self._slope(point, start + i, dtype)
            for _, start, shape, dtype in self.parts
            for i in range(math.prod(shape))
        ]
        return np.stack(columns, axis=1)

    def _slope(self, point: Any, i: int, dtype: np.dtype[Any]) -> Any:
        """Return the derivatives by one number, which steps by what its dtype can resolve."""
        if dtype.kind != "f":  # an integer of vmap's
            return 0.0 * self.values(point, self.kept)
        if self.method == "complex":
            moved = point.astype(np.result_type(point, np.complex64))
            moved[i] += 1j * TINY
            return self.values(moved, self.kept).imag / TINY
        step = float(np.finfo(dtype).eps) ** (1 / 3) * max(1.0, abs(float(point[i])))
        high, low = point.copy(), point.copy()
        high[i], low[i] = dtype.type(point[i] + step), dtype.type(point[i] - step)
        difference = self.values(high, self.kept) - self.values(low, self.kept)
        return difference / (float(high[i]) - float(low[i]))


NUMBERS = (int, float, complex, Decimal, Fraction)
"""The numbers that an array of objects may hold."""


class _Part(NamedTuple):
    """A tracked argument: its place among the leaves, and its elements in the vector."""

    place: int
    start: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def _own(value: Any) -> Any:
    return value.copy("K") if issubclass(type_of(value), np.ndarray) else value


def _is_number(value: Any) -> bool:
    """Tell if a part of a result is a real number, or an array of them."""
    return isinstance(value, float) or getattr(value, "dtype", np.dtype("O")).kind in "fc"
