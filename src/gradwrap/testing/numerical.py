"""Derivatives along random directions, by a mode or by differences of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.array.wrapping import wrap
from gradwrap.core.levels.wrapper import AnyWrapper, innermost
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.backend import is_floating as is_array_of_floats
from gradwrap.core.values.comparing import kind_of
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import GradwrapError
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.reverse import vjp
from gradwrap.transforms.watches import to_host

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from gradwrap.core.values.tree import TreeDef


MODES = ("fwd", "rev")


class GradientMismatchError(GradwrapError, AssertionError):
    """A gradient differs from its numerical value.

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
    """A function of floating-point arrays only, which returns a list of such arrays."""

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
        self.arrays: list[Any] = [_as_array(self.leaves[i]) for i in self.places]
        if not self.arrays:
            raise ValueError(f"{what}: no argument is a floating-point array. Fix: cast one.")

        self.is_coarse: bool = any(
            int(backend_of(array).xp.finfo(array.dtype).bits) < 64 for array in self.arrays
        )
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
    """Tell whether a value is a floating-point or complex number or array, of any library."""
    return isinstance(value, (float, complex)) or is_array_of_floats(value)


PLAIN: tuple[type[Any], ...] = (np.ndarray, np.generic, float, complex)


def _as_array(value: Any) -> Any:
    """Return a library's array unchanged, and a number as a NumPy array."""
    array = innermost(value)
    return np.asarray(value) if isinstance(array, (float, complex, np.generic)) else value


def on_host(value: Any) -> Any:
    """Return an array of any library, on any device, as NumPy's."""
    is_plain = isinstance(value, PLAIN)
    return np.asarray(value if is_plain else to_host(value)[0])


def checked_modes(modes: Sequence[str]) -> tuple[str, ...]:
    """Return the modes as a tuple; raise an error for an unknown mode."""
    wanted = (modes,) if isinstance(modes, str) else tuple(modes)
    if not wanted or not set(wanted) <= set(MODES):
        raise ValueError(f"modes={modes!r}: known are 'fwd' and 'rev'. Fix: modes=('fwd', 'rev').")
    return wanted


def _direction(random: np.random.Generator, like: Any) -> Any:
    """Draw a random direction in the space of an array."""
    shape = tuple(like.shape)
    values = random.standard_normal(shape)
    backend = backend_of(like)
    if backend.dtype_kind(like.dtype)[1]:
        values = values + 1j * random.standard_normal(shape)
    if isinstance(like, PLAIN):
        return np.asarray(values).astype(like.dtype)
    return backend.xp.asarray(values, dtype=like.dtype, device=backend.device(like))


def _beside(directions: list[Any], args: Sequence[Any]) -> list[Any]:
    """Wrap the directions if an argument is wrapped, so that the two can be combined."""
    is_wrapped = any(isinstance(arg, AnyWrapper) for arg in args)
    return [wrap(one) if is_wrapped else one for one in directions]


class Sample:
    """A function at a point, with a random direction for the arguments and one for the value."""

    def __init__(
        self, fun: Callable[..., Any], args: Sequence[Any], random: np.random.Generator
    ) -> None:
        self.fun = fun
        self.args = args
        self.value: list[Any] = [_as_array(part) for part in fun(*args)]
        self.along: list[Any] = [_direction(random, arg) for arg in args]
        self.across: list[Any] = [_direction(random, part) for part in self.value]
        self.known: dict[str | float, float] = {}
        """The slopes that were asked for, by their mode or step."""

    def pushed(self, *point: Any) -> list[Any]:
        """Return the derivative of the value along the direction of the arguments."""
        args = point or self.args
        return list(jvp(self.fun, args, _beside(self.along, args))[1])

    def pulled(self, *point: Any) -> list[Any]:
        """Return the gradient along the direction of the value."""
        args = point or self.args
        return list(vjp(self.fun, *args)[1](_beside(self.across, args)))

    def derivative(self, mode: str) -> Callable[..., Any]:
        """Return the derivative by a mode as a function of the point."""
        return self.pushed if mode == "fwd" else self.pulled

    def slope(self, mode: str) -> float:
        """Return the derivative along both directions, by a mode of differentiation."""
        if mode not in self.known:
            pair = (self.across, self.pushed()) if mode == "fwd" else (self.pulled(), self.along)
            self.known[mode] = _inner(*pair)
        return self.known[mode]

    def numerical_slope(self, step: float) -> float:
        """Return this slope from differences of two steps, with fourth-order error."""

        def difference(step: float) -> float:
            above, below = (
                self.fun(*(a + s * t for a, t in zip(self.args, self.along, strict=True)))
                for s in (step, -step)
            )
            pairs = ((on_host(a), on_host(b)) for a, b in zip(above, below, strict=True))
            return _inner(self.across, [(a - b) / (2 * step) for a, b in pairs])

        if step not in self.known:
            self.known[step] = (4 * difference(step) - difference(2 * step)) / 3
        return self.known[step]


def _inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    """Return the real inner product of two lists of arrays."""
    pairs = ((on_host(a), on_host(b)) for a, b in zip(left, right, strict=True))
    return float(sum(np.sum((np.conj(a) * b).real) for a, b in pairs))
