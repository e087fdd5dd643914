"""Names for the types that the protocols are written in: type variables, arguments, attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

A = TypeVar("A", bound=Any)
In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)
Other_co = TypeVar("Other_co", covariant=True)
"""An array whose dtype is not that of the arguments: bools, positions, Fourier coefficients."""

AnyArray: TypeAlias = Any
"""An array of the library of any dtype: a mask, positions, counts."""
DType: TypeAlias = Any
"""A dtype of the library, which has its own types for them; None for the default."""
Device: TypeAlias = Any
"""A device of the library, likewise."""
Integers: TypeAlias = int | tuple[int, ...]
Shape: TypeAlias = Integers
Axes: TypeAlias = Integers | None
"""An axis, several, or None for all of them."""
Lengths: TypeAlias = Sequence[int] | None
"""An integer for each of several axes, or None for the default."""
Nested: TypeAlias = complex | Sequence[Any]
"""Numbers, and nested sequences of numbers and of arrays."""
Norm: TypeAlias = Literal["backward", "ortho", "forward"]
Kind: TypeAlias = Literal[
    "bool",
    "signed integer",
    "unsigned integer",
    "integral",
    "real floating",
    "complex floating",
    "numeric",
]
Kinds: TypeAlias = DType | Kind | tuple[DType | Kind, ...]


class Holds(Protocol[Out_co]):
    """A variable that holds an array of this type."""

    _value: Any
    _backend: Any

    @property
    def data(self) -> Out_co:
        """The native array."""


class HasDType(Protocol[Out_co]):
    """An array with a dtype."""

    @property
    def dtype(self) -> Out_co:
        """Its dtype."""


class HasDevice(Protocol[Out_co]):
    """An array with a device."""

    @property
    def device(self) -> Out_co:
        """Where it is."""
