"""Stand-ins for the functions of NumPy that do not ask their arguments how to treat them."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.kinds import are_plain, is_plain, kind_of, standing_in
from gradwrap.backends.numpy_functions import IMPLEMENTATIONS
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.values.dynamic import SEQUENCE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from gradwrap.core.values.dynamic import AnyFunction

ours: Any = drop_in
DISPATCHED: type[Any] = type_of(np.sum)
POLYNOMIALS = ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")
CONVERTING = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")
JOINING = frozenset(
    {
        *(np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack),
        *(np.broadcast_arrays, np.meshgrid, np.atleast_1d, np.atleast_2d, np.atleast_3d),
        *(np.linalg.multi_dot, np.select, np.lexsort, np.ix_, np.einsum),
    }
)
"""Functions of several arrays, which may be in one list."""


def numpy_functions() -> Iterator[tuple[Any, Any]]:
    """Yield each function of NumPy with what stands in for it."""
    for name, original in vars(np).items():
        tracked = getattr(ours, name)
        if name in OWN:
            yield original, _of_arrays(original, OWN[name])
        elif isinstance(original, type) or not callable(original):
            if tracked is not original:
                yield original, tracked
        elif tracked is not original:
            convert = _to_array(tracked) if name in CONVERTING else tracked
            yield original, _making(original, convert)
    for path, module in (("numpy", np), ("numpy.linalg", np.linalg), ("numpy.fft", np.fft)):
        for name, original in vars(module).items():
            is_made = module is np and (name in OWN or getattr(ours, name) is not original)
            if isinstance(original, DISPATCHED) and original in IMPLEMENTATIONS and not is_made:
                yield original, _taking_lists(original, f"{path}.{name}")


def without_rule() -> Iterator[tuple[Any, str]]:
    """Yield the functions of NumPy that are written in Python and have no rule, with their paths."""
    for module in (np, np.emath):
        for name, original in vars(module).items():
            if isinstance(original, DISPATCHED) and original not in IMPLEMENTATIONS:
                yield original, f"{module.__name__}.{name}"
    for module in (getattr(np.polynomial, name) for name in POLYNOMIALS):
        for name in module.__all__:
            original = getattr(module, name)
            if isinstance(original, FunctionType):
                yield original, f"{module.__name__}.{name}"


# Functions that make arrays -----------------------------------------------------------------------


def _making(original: Any, tracked: Callable[..., Any]) -> Callable[..., Any]:
    """The original, unless a transform runs or an argument holds a variable."""

    @standing_in(original, f"numpy.{original.__name__}")
    def stand_in(*args: Any, **options: Any) -> Any:
        if not is_differentiating():
            try:
                return original(*args, **options)
            except (TypeError, ValueError):  # a variable refuses to be converted
                if are_plain(args, options):
                    raise
        return tracked(*args, **options)

    return stand_in


def _to_array(convert: Callable[..., Any]) -> Callable[..., Any]:
    """Convert as NumPy does, to which a scalar is an array then."""

    def converted(*args: Any, **options: Any) -> Any:
        made = convert(*args, **options)
        is_scalar = isinstance(made, AnyWrapper) and issubclass(kind_of(made), np.generic)
        return made[...] if is_scalar else made

    return converted


def _of_arrays(original: Any, tracked: Callable[..., Any]) -> Callable[..., Any]:
    """The original, unless an argument holds a variable."""

    @standing_in(original, f"numpy.{original.__name__}")
    def stand_in(*args: Any, **options: Any) -> Any:
        if are_plain(args, options):
            return original(*args, **options)
        return tracked(*args, **options)

    return stand_in


# Functions that NumPy dispatches, but not for variables in lists ----------------------------------


def _taking_lists(original: Any, path: str) -> Callable[..., Any]:
    join = _each_joined if original in JOINING else _joined

    @standing_in(original, path)
    def stand_in(*args: Any, **options: Any) -> Any:
        try:
            return original(*args, **options)
        except (TypeError, ValueError):  # a variable in a list refuses to be converted
            if are_plain(args, options):
                raise
        named = {name: join(value) for name, value in options.items()}
        return original(*map(join, args), **named)

    return stand_in


def _joined(value: Any) -> Any:
    """One array of nested lists that hold variables; any other value as it is."""
    return ours.array(value) if isinstance(value, SEQUENCE) and not is_plain(value) else value


def _each_joined(value: Any) -> Any:
    if isinstance(value, SEQUENCE) and not is_plain(value):
        return [_joined(part) for part in value]
    return value


# Functions without a protocol ---------------------------------------------------------------------


class _Broadcast:
    """`np.broadcast` of arrays of which some are variables."""

    def __init__(self, *args: Any) -> None:
        arrays: list[Any] = [ours.asarray(a) for a in args]
        self._arrays: list[Any] = list(np.broadcast_arrays(*arrays))
        self.shape: tuple[int, ...] = self._arrays[0].shape
        self.ndim = self.nd = len(self.shape)
        self.size: int = self._arrays[0].size
        self.numiter: int = len(arrays)

    @property
    def iters(self) -> tuple[Any, ...]:
        """An iterator over the elements for each array."""
        return tuple(iter(a.reshape(-1)) for a in self._arrays)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.iters, strict=True)


def _is_scalar(element: Any) -> bool:
    return issubclass(kind_of(element), np.generic)


def _checked_finite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    made = ours.asarray(a, dtype)
    np.asarray_chkfinite(native(made))
    return made


def _required(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    return ours.asarray(a, dtype)


def _along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **options: Any) -> Any:
    """Apply a function to each row along an axis."""
    rows = np.moveaxis(ours.asarray(arr), axis, -1)
    lead = rows.shape[:-1]
    found = [
        ours.asarray(func1d(rows[index], *args, **options)) for index in np.ndindex(*lead)
    ]
    shape = found[0].shape
    joined: Any = np.stack(found).reshape(lead + shape)
    places = range(len(lead), len(lead) + len(shape))
    at = axis % rows.ndim
    return np.moveaxis(joined, list(places), list(range(at, at + len(shape))))


OWN: dict[str, AnyFunction[Any]] = {
    "apply_along_axis": _along_axis,
    "asarray_chkfinite": _checked_finite,
    "broadcast": _Broadcast,
    "isscalar": _is_scalar,
    "require": _required,
}
