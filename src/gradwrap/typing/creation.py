"""The standard's functions that make arrays, and those about dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from gradwrap.typing.arguments import (
    Device,
    DType,
    In_contra,
    Kinds,
    Nested,
    Other_co,
    Out_co,
    Shape,
)

if TYPE_CHECKING:
    from gradwrap.typing.info import FInfo, IInfo


class Creation(Protocol[In_contra, Out_co]):
    """Functions that make arrays."""

    def arange(
        self,
        start: float,
        /,
        stop: float | None = None,
        step: float = 1,
        *,
        dtype: DType = None,
        device: Device = None,
    ) -> Out_co:
        """Evenly spaced numbers from `start` to before `stop`."""

    def asarray(
        self,
        obj: In_contra | Nested,
        /,
        *,
        dtype: DType = None,
        device: Device = None,
        copy: bool | None = None,
    ) -> Out_co:
        """An array of numbers, nested sequences, or another array; the graph is kept."""

    def empty(self, shape: Shape, *, dtype: DType = None, device: Device = None) -> Out_co:
        """An array of that shape, its elements not set."""

    def empty_like(self, x: In_contra, /, *, dtype: DType = None, device: Device = None) -> Out_co:
        """An array of the shape and dtype of `x`, its elements not set."""

    def eye(
        self,
        n_rows: int,
        n_cols: int | None = None,
        /,
        *,
        k: int = 0,
        dtype: DType = None,
        device: Device = None,
    ) -> Out_co:
        """Ones on the diagonal `k`, zeros elsewhere."""

    def from_dlpack(self, x: Any, /, *, device: Device = None, copy: bool | None = None) -> Out_co:
        """An array that shares the buffer of another library's array."""

    def full(
        self,
        shape: Shape,
        fill_value: In_contra | complex,
        *,
        dtype: DType = None,
        device: Device = None,
    ) -> Out_co:
        """An array of that shape, filled with one value."""

    def full_like(
        self,
        x: In_contra,
        /,
        fill_value: In_contra | complex,
        *,
        dtype: DType = None,
        device: Device = None,
    ) -> Out_co:
        """An array of the shape and dtype of `x`, filled with one value."""

    def linspace(
        self,
        start: In_contra | complex,
        stop: In_contra | complex,
        /,
        num: int,
        *,
        dtype: DType = None,
        device: Device = None,
        endpoint: bool = True,
    ) -> Out_co:
        """`num` evenly spaced numbers from `start` to `stop`."""

    def meshgrid(
        self, *arrays: In_contra, indexing: Literal["xy", "ij"] = "xy"
    ) -> tuple[Out_co, ...]:
        """The coordinates of a grid, from those of its axes."""

    def ones(self, shape: Shape, *, dtype: DType = None, device: Device = None) -> Out_co:
        """An array of ones."""

    def ones_like(self, x: In_contra, /, *, dtype: DType = None, device: Device = None) -> Out_co:
        """Ones, of the shape and dtype of `x`."""

    def tril(self, x: In_contra, /, *, k: int = 0) -> Out_co:
        """The lower triangle of each matrix; zeros above it."""

    def triu(self, x: In_contra, /, *, k: int = 0) -> Out_co:
        """The upper triangle of each matrix; zeros below it."""

    def zeros(self, shape: Shape, *, dtype: DType = None, device: Device = None) -> Out_co:
        """An array of zeros."""

    def zeros_like(self, x: In_contra, /, *, dtype: DType = None, device: Device = None) -> Out_co:
        """Zeros, of the shape and dtype of `x`."""


class DTypeFunctions(Protocol[In_contra, Other_co]):
    """Casts, and questions about dtypes."""

    def astype(
        self, x: In_contra, dtype: DType, /, *, copy: bool = True, device: Device = None
    ) -> Other_co:
        """The elements as numbers of another dtype; the gradient is cast back."""

    def can_cast(self, from_: In_contra | DType, to: DType, /) -> bool:
        """Tell whether a dtype may be converted to another."""

    def finfo(self, type: In_contra | DType, /) -> FInfo:
        """The machine limits of a floating-point dtype."""

    def iinfo(self, type: In_contra | DType, /) -> IInfo:
        """The machine limits of an integer dtype."""

    def isdtype(self, dtype: DType, kind: Kinds) -> bool:
        """Tell whether a dtype is of a kind: "real floating", "integral", ..."""

    def result_type(self, *arrays_and_dtypes: In_contra | complex | DType) -> DType:
        """The dtype of the result of an operation on these."""
