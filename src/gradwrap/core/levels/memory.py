"""Memory order of arrays; for a batch of `vmap`, the order within one example."""

from __future__ import annotations

from typing import Any

from gradwrap.core.levels.wrapper import AnyWrapper, innermost, is_scalar, layers


def lay_out(value: Any, like: Any) -> None:
    """Lay out a fresh value in the memory order of another array of its shape."""
    while isinstance(value._value, AnyWrapper):
        value = value._value
    value._value = value._backend.laid_out(value._value, innermost(like))


def one_array(value: Any) -> Any:
    """Return the array below all wrappers; for a batch, the array of its first example."""
    array = innermost(value)
    batches = len(array.shape) - len(value.shape)
    if batches and 0 in array.shape[:batches]:  # there is no example
        *_, lowest = layers(value)
        return lowest._backend.xp.empty(value.shape, dtype=array.dtype)
    first = array[(0,) * batches + (...,)] if batches else array
    return first[()] if batches and not first.shape and is_scalar(value) else first


def is_fortran(value: Any) -> bool:
    """Tell if NumPy reads an array in Fortran order where the order is "A"."""
    flags = getattr(one_array(value), "flags", None)
    return flags is not None and bool(flags.f_contiguous) and not flags.c_contiguous
