"""Descriptions of values, and their comparison with a space (library, shape, dtype)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from gradwrap.core.library.backend import backend_of, library_of
from gradwrap.core.values.dynamic import TUPLE, class_of
from gradwrap.core.values.record import Record
from gradwrap.core.values.space import dtype_and_shape, same_shape, zeros_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gradwrap.core.library.backend import Backend
    from gradwrap.core.values.space import Meta


def described(array: Any) -> str:
    """Return the dtype and shape of an array, as in `float64[2, 3]`, or a value's kind."""
    if not hasattr(array, "dtype"):
        return kind_of(array)
    return dtype_and_shape(array)


def described_wholly(array: Any) -> str:
    """Return the dtype, shape, library and device of an array as text."""
    backend = backend_of(array)
    return f"{described(array)} of {backend.name} on {backend.device(array)}"


def kind_of(value: Any) -> str:
    """Return the words for a value in messages: its library, or its class."""
    if value is None:
        return "None"
    if isinstance(value, TUPLE):
        return f"a tuple of {len(value)}"
    library = library_of(value)
    return class_of(value) if library is None else f"an array of {library.name}"


def namespace_of(arrays: Iterable[Any]) -> Any:
    """Return the namespace for all of the arrays: the deepest wrapper's, or a tracer's."""
    backends = map(backend_of, arrays)  # the one of tracers takes plain arrays, too
    return max(backends, key=lambda one: (one.depth, len(one.array_types))).xp


def zeros_like(array: Any) -> Any:
    """Return untracked zeros in the space of another array."""
    backend = backend_of(array)
    return zeros_of(backend.xp, backend.meta(array, 0))


class Mismatch(Record):
    """The first difference between a value and the space that it should belong to."""

    part: Literal["array", "library", "shape", "dtype"]
    """`"array"`: it is no array at all."""
    got: Any
    """Its shape or dtype; in words, where it is not an array of the library."""
    drops_imaginary: bool = False
    """A cast to the wanted dtype would drop its imaginary part."""

    def contrast(self, value: Any, like: Any, whose: str) -> str:
        """Describe a value, and the array whose space it should belong to."""
        if self.part == "library":
            return f"is {self.got}, the {whose} is one of {backend_of(like).name}. Fix: convert it"
        return (
            f"is {described(value)}, the {whose} is {described(like)}. "
            f"Fix: pass an array of the {whose}'s shape and dtype"
        )

    def message(  # noqa: PLR0913  the parts of a sentence
        self,
        what: str,
        whose: str,
        backend: Backend,
        meta: Meta,
        *,
        shape: str,
        dtype: str,
        like: str,
    ) -> str:
        """Describe a value, the space that it should belong to, and a remedy.

        `shape` and `like` are remedies; `dtype` is the expression of the wanted dtype.
        """
        if self.part == "shape":
            return f"{what} of shape {self.got}; {whose} has shape {meta.shape}{shape}."
        if self.part == "dtype":
            cast = "xp.real(...)" if self.drops_imaginary else f"xp.astype(..., {dtype})"
            return (
                f"{what} of dtype {self.got}; {whose} has {meta.dtype}. "
                f"Fix: return that, for example with {cast}."
            )
        return (
            f"{self.got}; {whose} is an array of {backend.name}, {meta}. "
            f"Fix: return an array of that shape and dtype, {like}."
        )


def mismatch(
    value: Any,
    backend: Backend | None,
    meta: Meta,
    *,
    dtypes: Literal["same", "castable", "floating"] = "same",
    shapes: Callable[[tuple[int, ...], tuple[int, ...]], bool] = same_shape,
) -> Mismatch | None:
    """Compare a value with a space; return None if it belongs to it.

    Parameters
    ----------
    value
        Anything.
    backend
        The library it has to be of; None for any.
    meta
        The shape and dtype it has to have.
    dtypes
        The dtype has to be the same, or a floating-point one: one that is `"castable"`, which a
        complex one is not to a real one, or any.
    shapes
        `shapes(shape of the value, shape of meta)` tells if a shape will do.
    """
    own = library_of(value)
    if own is None:
        return Mismatch("array", "None" if value is None else class_of(value))
    if backend is not None and own.name != backend.name:
        return Mismatch("library", f"an array of {own.name}")
    if not shapes(tuple(value.shape), meta.shape):
        return Mismatch("shape", tuple(value.shape))
    floating, is_complex = own.dtype_kind(value.dtype)
    drops = is_complex and not meta.is_complex
    if dtypes == "same":
        belongs = value.dtype == meta.dtype
    else:
        belongs = floating and not (drops and dtypes == "castable")
    return None if belongs else Mismatch("dtype", value.dtype, drops)
