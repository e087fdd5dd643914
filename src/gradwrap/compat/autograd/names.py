"""The objects of HIPS autograd with names of NumPy, SciPy and Python that gradwrap lacks."""

from __future__ import annotations

import builtins
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.builtin_names import BUILTINS
from gradwrap.core.levels.wrapper import AnyWrapper, holds_wrapper, is_recorded, native

if TYPE_CHECKING:
    from collections.abc import Callable, MutableSequence, Sequence

ours: Any = drop_in
linalg: Any = np.linalg


# Boxes: tracked values ----------------------------------------------------------------------------


class _OfBoxes(type):
    """The class of `Box`, whose instances are all tracked arrays."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.holds_arrays and isinstance(instance, AnyWrapper) and is_recorded(instance)

    holds_arrays = True


class _Kinds(dict[type, Any]):
    """Kinds of arrays that packages enter. Operations with a tracked array are gradwrap's."""

    def __setitem__(self, kind: Any, check: Any) -> None:
        super().__setitem__(kind, check)
        own: Any = getattr(kind, "__array_ufunc__", None)
        if issubclass(kind, np.ndarray) and own is not np.ndarray.__array_ufunc__:
            kind.__array_ufunc__ = own if hasattr(own, "leaves_tracked") else _leaving_tracked(own)


def _leaving_tracked(own: Callable[..., Any]) -> Any:
    """Return a class's `__array_ufunc__` that declines tracked arrays."""

    def __array_ufunc__(  # noqa: N807  it becomes a method
        self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        if any(isinstance(one, AnyWrapper) for one in inputs):
            return NotImplemented
        return own(self, ufunc, method, *inputs, **kwargs)

    vars(__array_ufunc__)["leaves_tracked"] = True
    return __array_ufunc__


class Box(metaclass=_OfBoxes):
    """A class whose instances are tracked arrays; tracked containers are plain ones."""

    type_mappings: ClassVar[dict[type, Any]] = _Kinds()
    """For kinds of arrays, functions that are called before one is tracked, and may refuse it."""

    def __init__(self, value: Any, *_place: Any) -> None:
        self._value = value

    @classmethod
    def register(cls, value_type: type) -> None:
        """Accept a kind of array."""
        Box.type_mappings[value_type] = cls


class ArrayBox(Box):
    """The same class."""


class SequenceBox(Box):
    """A class without instances: tuples and lists are plain, and hold tracked arrays."""

    holds_arrays = False


class DictBox(Box):
    """A class without instances: dictionaries are plain, and hold tracked arrays."""

    holds_arrays = False


def isbox(x: Any) -> bool:
    """Tell if a value is tracked."""
    return isinstance(x, Box)


def getval(x: Any) -> Any:
    """Return the plain array or number of a tracked one."""
    return native(x)


# NumPy --------------------------------------------------------------------------------------------


def where(condition: Any, *args: Any, **kwargs: Any) -> Any:
    """Call NumPy's function, with `x` and `y` by keyword too; Python's numbers stay such."""
    if not args and not kwargs:
        return np.where(condition)
    if len(args) + len(kwargs) != 2:
        raise ValueError("either both or neither of x and y should be given")
    x, y = (*args, *(kwargs[name] for name in ("x", "y") if name in kwargs))
    found = ours.where(condition, x, y)
    arrays = (AnyWrapper, np.ndarray, np.generic)
    is_plain = not any(isinstance(one, arrays) or holds_wrapper(one) for one in (condition, x, y))
    return found.tolist() if is_plain else found


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return matrices with the last axis on their diagonals."""
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError(
            "Currently make_diagonal only supports offset=0, axis1=-1, axis2=-2"
        )
    return D[..., None] * np.eye(D.shape[-1])


def T(x: Any) -> Any:  # noqa: N802  its name there
    """Swap the last two axes."""
    return np.swapaxes(x, -1, -2)


def eigh(a: Any, UPLO: str = "L") -> Any:
    """Call NumPy's function; the gradient is in the triangle that it reads."""
    if not isinstance(a, AnyWrapper):
        return linalg.eigh(a, UPLO)
    read, rest = (np.tril(a), np.tril(a, -1)) if UPLO == "L" else (np.triu(a), np.triu(a, 1))
    real = np.real(np.diagonal(a, axis1=-2, axis2=-1))[..., None] * np.eye(a.shape[-1])
    is_complex = read.dtype.kind == "c"
    return linalg.eigh(rest + np.conj(T(rest)) + real if is_complex else read + T(rest), UPLO)


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a pull whose result is summed to the shape of an argument."""
    shape = np.shape(target)

    def pull(g: Any) -> Any:
        found = f(g)
        extra = np.ndim(found) - len(shape)
        found = np.sum(found, axis=tuple(range(extra))) if extra > 0 else found
        axes = tuple(i for i, n in enumerate(shape) if n == 1 and np.shape(found)[i] != 1)
        found = np.sum(found, axis=axes, keepdims=True) if axes else found
        is_real = getattr(target, "dtype", np.dtype(float)).kind != "c"
        return np.real(found) if is_real and np.iscomplexobj(found) else found

    return pull


def whole_number(kind: Any) -> Any:
    """Return a type of integers that takes tracked values, as constants."""

    def make(_: Any, value: Any = 0) -> Any:
        return kind(getval(value))

    return type(kind.__name__, (kind,), {"__new__": make})


class Names(ModuleType):
    """A module with the names of another, and some of its own."""

    def __init__(self, name: str, source: Any, own: dict[str, Any]) -> None:
        super().__init__(name)
        self.__path__: MutableSequence[str] = []
        self._source = source
        self.__dict__.update(own)

    def filled(self) -> Names:
        """Put all names into the dictionary, which packages read, and return the module."""
        own = self.__dict__
        names = [one for one in dir(self._source) if one[0] != "_" and one not in own]
        own.update((one, getattr(self._source, one)) for one in names)
        self.__all__ = sorted(one for one in own if one[0] != "_")
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_source"], name)


# SciPy --------------------------------------------------------------------------------------------


def convolve(
    A: Any,
    B: Any,
    axes: Any = None,
    dot_axes: Sequence[Sequence[int]] | None = None,
    mode: str = "full",
) -> Any:
    """Convolve along pairs of axes, and contract others.

    The result has the remaining axes of both arrays, and then those of the convolution.
    """
    if mode not in ("valid", "full", "same"):
        raise ValueError(f"Mode {mode} undefined, it can be one of 'valid', 'full', and 'same'")
    dot_axes = ((), ()) if dot_axes is None else dot_axes
    axes = (range(np.ndim(A)),) * 2 if axes is None else axes
    along, across = ([int(i) for i in one] for one in axes)
    larger = all(A.shape[i] >= B.shape[j] for i, j in zip(along, across, strict=True))
    smaller = all(A.shape[i] <= B.shape[j] for i, j in zip(along, across, strict=True))
    if mode == "valid" and not larger:
        if not smaller:
            raise ValueError(
                "One array must be larger than the other along all convolved dimensions"
            )
        found = convolve(B, A, (across, along), (dot_axes[1], dot_axes[0]), mode)
        free_b = B.ndim - len(across) - len(dot_axes[1])
        free_a = A.ndim - len(along) - len(dot_axes[0])
        order = [*range(free_b, free_b + free_a), *range(free_b)]
        return np.transpose(found, [*order, *range(free_a + free_b, found.ndim)])
    sizes = [B.shape[j] for j in across]
    padded = A
    if mode != "valid":
        widths = [(0, 0)] * A.ndim
        for i, size in zip(along, sizes, strict=True):
            after = (size - 1) // 2
            widths[i] = (size - 1, size - 1) if mode == "full" else (size - 1 - after, after)
        padded = np.pad(A, widths)
    windows = np.lib.stride_tricks.sliding_window_view(padded, sizes, axis=tuple(along))
    flipped = np.flip(B, tuple(across))
    of_a = list(range(A.ndim))
    window = list(range(100, 100 + len(along)))
    of_b = list(range(A.ndim, A.ndim + B.ndim))
    for i, j in zip(*dot_axes, strict=True):
        of_b[j] = of_a[i]
    for place, j in enumerate(across):
        of_b[j] = window[place]
    shared = {of_a[i] for i in dot_axes[0]}
    moved = [of_a[i] for i in along]
    out = [x for x in of_a if x not in shared and x not in moved]
    out += [x for x in of_b if x not in shared and x not in window] + moved
    letters = {x: chr(97 + place) for place, x in enumerate([*of_a, *window, *of_b])}
    texts = ["".join(letters[x] for x in one) for one in ([*of_a, *window], of_b, out)]
    return np.einsum(f"{texts[0]},{texts[1]}->{texts[2]}", windows, flipped)


def scipy_modules() -> dict[str, Any]:
    """Return gradwrap's SciPy under the names of `autograd.scipy`."""
    scipy: Any = import_module("gradwrap.scipy")
    found: dict[str, Any] = {}
    for name in ("special", "linalg", "integrate", "stats", "signal"):
        own = {"convolve": convolve} if name == "signal" else {}
        found[f"scipy.{name}"] = Names(f"autograd.scipy.{name}", getattr(scipy, name), own)
    for name in DISTRIBUTIONS:
        found[f"scipy.stats.{name}"] = getattr(scipy.stats, name)
    parts = {name.partition(".")[2]: one for name, one in found.items() if name.count(".") == 1}
    found["scipy"] = Names("autograd.scipy", scipy, parts)
    return found


DISTRIBUTIONS = (
    "beta",
    "chi2",
    "dirichlet",
    "gamma",
    "multivariate_normal",
    "norm",
    "poisson",
    "t",
)


# Python -------------------------------------------------------------------------------------------

isinstance_ = BUILTINS["isinstance"]
type_ = BUILTINS["type"]


def container(kind: type) -> Any:
    """Return a subclass of a container type whose calls and `isinstance` are those of the type."""

    class OfContainers(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return builtins.isinstance(instance, kind)

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return kind(*args, **kwargs)

    return OfContainers(kind.__name__, (kind,), {})
