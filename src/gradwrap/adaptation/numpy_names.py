"""Stand-ins for NumPy functions that bypass NumPy's dispatch protocols."""

from __future__ import annotations

import itertools
import operator
import sys
from importlib import import_module
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import gradwrap.numpy as drop_in
from gradwrap.adaptation.plain_values import (
    Holder,
    are_plain,
    at_hand,
    kind_of,
    objects,
    of_objects,
    operands,
    standing_in,
    unheld,
)
from gradwrap.adaptation.structured import Structured, making
from gradwrap.adaptation.subclasses import again
from gradwrap.backends.drop_in import HIDING, as_array
from gradwrap.backends.numpy.functions import IMPLEMENTATIONS
from gradwrap.backends.numpy.functions.polynomials import OF_OBJECTS
from gradwrap.core.array.python_floats import array_of
from gradwrap.core.array.texts import refuse_reading
from gradwrap.core.array.variable import Variable
from gradwrap.core.calls.general import converted, floats_in
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, data_of
from gradwrap.core.observing.callers import noted
from gradwrap.core.values.dynamic import DICT, LIST, SEQUENCE, TUPLE, type_of
from gradwrap.errors import BatchedValueError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


ours: Any = drop_in
RECORDED: type[Any] = Variable
DISPATCHED: type[Any] = type_of(np.sum)
POLYNOMIALS = ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")
NEW = (
    *("linspace", "logspace", "geomspace"),
    *("empty_like", "full_like", "ones_like", "zeros_like"),
)
"""Functions with a protocol whose arrays are new, so that they can hold tracked values."""
CONVERTING = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")


def numpy_functions() -> Iterator[tuple[Any, Any]]:
    """Yield the functions of NumPy that differ in `gradwrap.numpy`, with their stand-ins.

    Ufuncs are left as they are: a call of one is too short for another one around it.
    """
    for path, module, made in (
        ("numpy", np, ours),
        ("numpy.linalg", np.linalg, ours.linalg),
        ("numpy.fft", np.fft, ours.fft),
    ):
        for name, original in vars(module).items():
            if name.startswith("_") or isinstance(original, (np.ufunc, ModuleType)):
                continue
            tracked = getattr(made, name)
            if module is np and name in OWN:
                yield original, OWN[name]
            elif tracked is not original:
                yield original, _fast(original, tracked, f"{path}.{name}")

    yield as_strided, _unless_plain(as_strided, _as_strided)


def _fast(original: Any, tracked: Any, path: str) -> Any:
    """Return the stand-in for a NumPy object that `gradwrap.numpy` replaces."""
    if isinstance(original, DISPATCHED) and original.__name__ not in NEW:
        if original not in IMPLEMENTATIONS or original in HIDING or original in OF_OBJECTS:
            return tracked
        return _unless_refused(original, tracked, path)
    if isinstance(original, type) or not callable(original):
        return tracked
    name = original.__name__
    made = _to_array(tracked) if name in CONVERTING else tracked
    return _making(original, making(original, made))


def without_rule() -> Iterator[tuple[Any, str]]:
    """Yield NumPy's functions that are written in Python and have no rule, with their paths."""
    for module in (np, np.emath):
        for name, original in vars(module).items():
            if isinstance(original, DISPATCHED) and original not in IMPLEMENTATIONS:
                yield original, f"{module.__name__}.{name}"
    for module in (getattr(np.polynomial, name) for name in POLYNOMIALS):
        for name in module.__all__:
            original = getattr(module, name)
            is_dispatched = isinstance(original, DISPATCHED) and original not in IMPLEMENTATIONS
            if isinstance(original, FunctionType) or is_dispatched:
                yield original, f"{module.__name__}.{name}"


# Functions that make arrays -----------------------------------------------------------------------


def _making(original: Any, tracked: Callable[..., Any]) -> Callable[..., Any]:
    """Make a stand-in that calls the original unless a transform runs or a variable is given."""

    @standing_in(original, f"numpy.{original.__name__}")
    def stand_in(*args: Any, **options: Any) -> Any:
        args, options = _with_dtypes(args, options)
        if not is_differentiating():
            try:
                return original(*args, **options)
            except (TypeError, ValueError):  # a variable refuses to be converted
                if are_plain(args, options):
                    raise
        elif returns_arrays and not options and len(args) == 1:
            found = _array_in(args[0])
            if found is not None:
                return found
        if are_plain(args, options):
            is_instance = type_of(args[0] if args else None).__mro__[1:].count(np.ndarray) > 0
            if is_instance and _keeps_class(original, options):
                return original(*args, **options)
            return tracked(*args, **options)
        if isinstance(args[0] if args else None, Structured):
            return tracked(*args, **options)
        return _like_given(original, tracked(*operands(args), **unheld(options)), args, options)

    returns_arrays = original in (np.asarray, np.asanyarray)
    return stand_in


def _array_in(given: Any) -> Any:
    """Return a variable that holds one plain array or number as an array; None in other cases."""
    if not isinstance(given, RECORDED):
        return None
    given = array_of(given)
    data: Any = data_of(given)
    if type_of(data) is np.ndarray:
        return given
    if type_of(data) is not np.float64:
        return None
    return as_array(given, np.asarray(data))


def _like_given(original: Any, made: Any, args: Any, options: dict[str, Any]) -> Any:
    """Make an array an instance of the class of a given instance, where NumPy would."""
    given: Any = args[0] if args else None
    if not issubclass(type_of(given), Holder) or not _keeps_class(original, options):
        return made
    return given if made is unheld(given) else again(given, made)


def _keeps_class(original: Any, options: dict[str, Any]) -> bool:
    """Tell if a function of NumPy returns an instance of the subclass that it is given."""
    keeps = original is np.asanyarray or original.__name__.endswith("_like")
    return bool(options.get("subok", keeps))


def _to_array(convert: Callable[..., Any]) -> Callable[..., Any]:
    """Make a converting function return arrays, as NumPy's does, even for scalars."""

    def converted(*args: Any, **options: Any) -> Any:
        given: Any = at_hand(args[0]) if args else None
        args = (given, *args[1:]) if args else args
        kind = args[1] if len(args) > 1 else options.get("dtype")
        if kind is not None and np.dtype(kind).kind in "fc":
            refuse_reading(given)
        if kind is not None and np.dtype(kind) == object:
            return objects(given)
        if kind is not None and of_objects(given):
            return convert(given.tolist(), *args[1:], **options)
        try:
            made = convert(*args, **options)
        except ValueError:  # its `__array__`, or that of one inside, gave a variable
            held = _all_converted(given)
            if held is given:
                raise
            made = convert(held, *args[1:], **options)
        return array_of(made)[...] if isinstance(made, AnyWrapper) and _is_scalar(made) else made

    return converted


def _unless_plain(original: Any, tracked: Callable[..., Any]) -> Callable[..., Any]:
    """Make a stand-in that calls the original unless an argument holds a variable."""

    @standing_in(original, f"numpy.{original.__name__}")
    def stand_in(*args: Any, **options: Any) -> Any:
        if are_plain(args, options):
            return original(*args, **options)
        return tracked(*operands(args), **unheld(options))

    return stand_in


def _unless_refused(original: Any, tracked: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Make a stand-in that calls the original unless a variable refuses its conversion."""

    @standing_in(original, path)
    def stand_in(*args: Any, **options: Any) -> Any:
        before = noted.get()
        args = args if are_plain(args, options) else floats_in(args)
        try:
            return original(*args, **options)
        except (TrackedValueError, BatchedValueError):
            noted.set(before)
            return tracked(*operands(args), **unheld(options))
        except ValueError:  # `__array__` of an argument gave a variable
            given = [_all_converted(arg) for arg in args]
            named = {name: _all_converted(arg) for name, arg in options.items()}
            asked, found = [*args, *options.values()], [*given, *named.values()]
            if not any(map(operator.is_not, found, asked)):
                raise
            return tracked(*given, **named)

    return stand_in


def _all_converted(value: Any) -> Any:
    """Return what objects convert themselves to, also in lists; the value itself without such."""
    if type_of(value) not in (LIST, TUPLE):
        return converted(value, is_operand=False)
    made = [_all_converted(one) for one in value]
    return made if any(map(operator.is_not, made, value)) else value


# Functions without a protocol ---------------------------------------------------------------------


class _Broadcast:
    """A stand-in for `np.broadcast` of arrays, some of which are variables."""

    def __init__(self, *args: Any) -> None:
        arrays: list[Any] = [ours.asarray(a) for a in args]
        self._arrays: list[Any] = list(np.broadcast_arrays(*arrays))
        self.shape: tuple[int, ...] = self._arrays[0].shape
        self.ndim = self.nd = len(self.shape)
        self.size: int = self._arrays[0].size
        self.numiter: int = len(arrays)

    @property
    def iters(self) -> tuple[Any, ...]:
        """Iterators over the elements, one for each array."""
        return tuple(iter(a.reshape(-1)) for a in self._arrays)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.iters, strict=True)


class _OfFunction:
    """A stand-in for a ufunc that NumPy makes of a Python function."""

    def __init__(self, func: Callable[..., Any], /, nin: int, nout: int, **options: Any) -> None:
        self._plain = np.frompyfunc(func, nin, nout, **options)
        self._tracked = ours.vectorize(func)

    def __call__(self, *args: Any, **options: Any) -> Any:
        if are_plain(args, options):
            return self._plain(*args, **options)
        return self._tracked(*unheld(args), **unheld(options))

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """Call the function with all pairs of elements."""
        if are_plain((A, B), options):
            return self._plain.outer(A, B, **options)
        return self(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B, **options)

    def accumulate(self, array: Any, /, axis: int = 0, dtype: Any = None, **options: Any) -> Any:
        """Call the function with what it has returned and the next element, along an axis."""
        if options or are_plain((array,), {}) or not np.size(array):
            return self._plain.accumulate(array, axis, dtype, **options)
        rows: list[Any] = np.moveaxis(ours.asarray(array), axis, 0)
        return np.moveaxis(np.stack(list(itertools.accumulate(rows, self))), 0, axis)

    def reduce(self, array: Any, /, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
        """Return the last of what `accumulate` returns."""
        is_one_axis = np.size(array) and np.ndim(array) and isinstance(axis, int)
        if options or are_plain((array,), {}) or not is_one_axis:
            return self._plain.reduce(array, axis, dtype, **options)
        return np.take(self.accumulate(array, axis), -1, axis=axis)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)


def _with_dtypes(args: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the arguments of a call with dtypes in place of Numba's types."""
    if "numba" not in sys.modules:
        return args, options
    return tuple(map(_dtype_of, args)), {name: _dtype_of(one) for name, one in options.items()}


def _dtype_of(value: Any) -> Any:
    if not type_of(value).__module__.startswith("numba.core.types"):
        return value
    return import_module("numba.np.numpy_support").as_dtype(value)


def _is_scalar(element: Any) -> bool:
    if isinstance(element, (*SEQUENCE, DICT)):
        return False
    return issubclass(kind_of(element), (np.generic, float))


def _as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Any:
    """Do what `as_strided` does by windows of an array without gaps, whose views are known."""
    array: Any = ours.asarray(x)
    held = data_of(array) if isinstance(array, AnyWrapper) else array
    if type_of(held) is np.ndarray and held.dtype.kind not in "fc":  # it has no derivative
        return as_strided(held, shape, strides, subok, writeable)
    shape = array.shape if shape is None else tuple(shape)
    steps = array.strides if strides is None else tuple(strides)
    back = tuple(i for i, step in enumerate(array.strides) if step < 0)
    order = sorted(range(array.ndim), key=lambda i: -abs(array.strides[i]))
    whole = (np.flip(array, back) if back else array).transpose(order)
    unit = whole.strides[0] if array.ndim == 1 else array.dtype.itemsize
    starts = [(array.shape[i] - 1) * -array.strides[i] for i in back]
    ends = [(n - 1) * step for n, step in zip(shape, steps, strict=False) if step < 0]
    start = sum(starts) + sum(ends)
    is_row = array.size and unit > 0 and (array.ndim == 1 or whole.flags.c_contiguous)
    last = start + sum((n - 1) * abs(step) for n, step in zip(shape, steps, strict=False))
    is_inside = start >= 0 and 0 not in shape and last < array.size * unit
    if not (is_row and is_inside) or any(step % unit for step in (start, *steps)):
        return as_strided(x, shape, strides, subok, writeable)  # refuses a variable
    out = whole.reshape(-1)
    if writeable and start == 0 and shape:
        slices = _slices(out, shape, [step // unit for step in steps])
        if slices is not None:
            return slices
    for n, step in zip(reversed(shape), reversed(steps), strict=True):
        apart = abs(step) // unit
        out = sliding_window_view(out, (n - 1) * apart + 1, axis=0)[..., :: apart or 1]
        out = out if apart else np.broadcast_to(out, (*out.shape[:-1], n))
    return out[start // unit].T[tuple(slice(None, None, -1 if s < 0 else 1) for s in steps)]


def _slices(row: Any, shape: Sequence[int], steps: Sequence[int]) -> Any:
    """Return a strided array by slices of a row, which can be written to; None if they overlap."""
    order = sorted(range(len(shape)), key=lambda i: -steps[i])
    for i in order[:-1]:
        n, step = shape[i], steps[i]
        if row.shape[-1] < n * step:
            return None
        row = row[..., : n * step].reshape(*row.shape[:-1], n, step)
    last = order[-1]
    end = (shape[last] - 1) * steps[last] + 1
    if steps[last] == 0 or row.shape[-1] < end:
        return None
    return row[..., : end : steps[last]].transpose(np.argsort(order))


OWN: dict[str, Any] = {
    "broadcast": _unless_plain(np.broadcast, _Broadcast),
    "frompyfunc": _OfFunction,
    "isscalar": _unless_plain(np.isscalar, _is_scalar),
}
