"""Derivatives along random directions, by a mode and by differences of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.values.comparing import kind_of
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import GradwrapError
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from gradwrap.core.values.tree import TreeDef


MODES = ("fwd", "rev")


class GradientMismatchError(GradwrapError, AssertionError):
    """A gradient does not agree with its numerical value.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> twice = gw.primitive(lambda x: 2.0 * x)
    >>> gw.defvjp(twice, lambda xp, g: 3.0 * g)  # wrong
    >>> gw.testing.check_grads(twice, [np.array(1.0)], modes=["rev"])
    Traceback (most recent call last):
        ...
    gradwrap.testing.numerical.GradientMismatchError: derivative of order 1 ...
    """


class FlatFunction:
    """A function of its floating-point arrays alone, with a list of such as its value."""

    def __init__(
        self,
        fun: Callable[..., Any],
        args: Sequence[Any],
        what: str,
        fixed: Collection[int] = (),
    ) -> None:
        """Leave out the arguments at the positions `fixed`."""
        if hasattr(args, "dtype") or not hasattr(args, "__iter__"):
            raise TypeError(
                f"{what} takes a list of the function's arguments; it got {kind_of(args)}. "
                "Fix: pass [x] for a function of x."
            )
        self.fun = fun
        self.leaves: list[Any]
        self.treedef: TreeDef
        self.leaves, self.treedef = flatten(tuple(args))
        positions = [at for at, arg in enumerate(args) for _ in flatten(arg)[0]]
        self.places: list[int] = [
            i
            for i, leaf in enumerate(self.leaves)
            if is_floating(leaf) and positions[i] not in fixed
        ]
        self.arrays: list[Any] = [np.asarray(self.leaves[i]) for i in self.places]
        if not self.arrays:
            raise ValueError(f"{what}: no argument is a floating-point array. Fix: cast one.")

        self.is_coarse: bool = any(array.real.dtype.itemsize < 8 for array in self.arrays)
        """A single-precision array is among the arguments."""

    def tolerance(self, rtol: float | None) -> float:
        """Return the relative tolerance of the first derivative."""
        return rtol or (5e-2 if self.is_coarse else 1e-6)

    def __call__(self, *values: Any) -> list[Any]:
        """Return the value at other arrays, which the function may write to."""
        filled = list(self.leaves)
        for place, value in zip(self.places, values, strict=True):
            filled[place] = value.copy() if isinstance(value, np.ndarray) else value
        out = self.fun(*unflatten(self.treedef, filled))
        return [part for part in flatten(out)[0] if is_floating(part)]


def is_floating(value: Any) -> bool:
    """Tell whether a value is a floating-point or complex number or array."""
    if isinstance(value, (float, complex)):
        return True
    return hasattr(value, "dtype") and str(value.dtype).startswith(("float", "complex"))


def checked_modes(modes: Sequence[str]) -> tuple[str, ...]:
    """Return the modes as a tuple; raise an error for one that is not known."""
    wanted = (modes,) if isinstance(modes, str) else tuple(modes)
    if not wanted or not set(wanted) <= set(MODES):
        raise ValueError(f"modes={modes!r}: known are 'fwd' and 'rev'. Fix: modes=('fwd', 'rev').")
    return wanted


def _direction(random: np.random.Generator, like: Any) -> Any:
    """Draw a random direction in the space of an array."""
    shape = tuple(like.shape)
    real = random.standard_normal(shape)
    if like.dtype.kind != "c":
        return real.astype(like.dtype)
    return (real + 1j * random.standard_normal(shape)).astype(like.dtype)


class Sample:
    """A function at a point, with a random direction of its arguments and one of its value."""

    def __init__(
        self, fun: Callable[..., Any], args: Sequence[Any], random: np.random.Generator
    ) -> None:
        self.fun = fun
        self.args = args
        self.value: list[Any] = [np.asarray(part) for part in fun(*args)]
        self.along: list[Any] = [_direction(random, arg) for arg in args]
        self.across: list[Any] = [_direction(random, part) for part in self.value]

    def pushed(self, *point: Any) -> list[Any]:
        """Return the derivative of the value along the direction of the arguments."""
        return list(jvp(self.fun, point or self.args, self.along)[1])

    def pulled(self, *point: Any) -> list[Any]:
        """Return the gradient along the direction of the value."""
        return list(vjp(self.fun, *(point or self.args))[1](list(self.across)))

    def derivative(self, mode: str) -> Callable[..., Any]:
        """Return the derivative by a mode as a function of the point."""
        return self.pushed if mode == "fwd" else self.pulled

    def slope(self, mode: str) -> float:
        """Return the derivative along both directions, by a mode of differentiation."""
        if mode == "fwd":
            return _inner(self.across, self.pushed())
        return _inner(self.pulled(), self.along)

    def numerical_slope(self, step: float) -> float:
        """Return the same by differences of two steps, with an error of the fourth order."""

        def difference(step: float) -> float:
            above, below = (
                self.fun(*(a + s * t for a, t in zip(self.args, self.along, strict=True)))
                for s in (step, -step)
            )
            pairs = ((np.asarray(a), np.asarray(b)) for a, b in zip(above, below, strict=True))
            return _inner(self.across, [(a - b) / (2 * step) for a, b in pairs])

        return (4 * difference(step) - difference(2 * step)) / 3


def _inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    """Return the real inner product of two lists of arrays."""
    return float(sum(np.sum((np.conj(a) * b).real) for a, b in zip(left, right, strict=True)))
