"""The standard's functions along axes, and products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gradwrap.typing.arguments import AnyArray, Axes, DType, In_contra, Other_co, Out_co

if TYPE_CHECKING:
    from collections.abc import Sequence


class Reductions(Protocol[In_contra, Out_co, Other_co]):
    """Sums, means, extrema, along axes; running ones; differences."""

    def cumulative_prod(
        self,
        x: In_contra,
        /,
        *,
        axis: int | None = None,
        dtype: DType = None,
        include_initial: bool = False,
    ) -> Out_co:
        """The products of the elements up to each."""

    def cumulative_sum(
        self,
        x: In_contra,
        /,
        *,
        axis: int | None = None,
        dtype: DType = None,
        include_initial: bool = False,
    ) -> Out_co:
        """The sums of the elements up to each."""

    def max(self, x: In_contra, /, *, axis: Axes = None, keepdims: bool = False) -> Out_co:
        """The greatest element; ties share the gradient evenly."""

    def mean(self, x: In_contra, /, *, axis: Axes = None, keepdims: bool = False) -> Out_co:
        """The mean."""

    def min(self, x: In_contra, /, *, axis: Axes = None, keepdims: bool = False) -> Out_co:
        """The least element; ties share the gradient evenly."""

    def prod(
        self, x: In_contra, /, *, axis: Axes = None, dtype: DType = None, keepdims: bool = False
    ) -> Out_co:
        """The product."""

    def std(
        self, x: In_contra, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
    ) -> Out_co:
        """The standard deviation."""

    def sum(
        self, x: In_contra, /, *, axis: Axes = None, dtype: DType = None, keepdims: bool = False
    ) -> Out_co:
        """The sum."""

    def var(
        self, x: In_contra, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
    ) -> Out_co:
        """The variance."""

    def all(self, x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Other_co:
        """Tell whether all elements are true."""

    def any(self, x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Other_co:
        """Tell whether one of the elements is true."""

    def diff(
        self,
        x: In_contra,
        /,
        *,
        axis: int = -1,
        n: int = 1,
        prepend: In_contra | None = None,
        append: In_contra | None = None,
    ) -> Out_co:
        """The differences of neighbours, `n` times."""


class Products(Protocol[In_contra, Out_co]):
    """Products of vectors, matrices and tensors."""

    def matmul(self, x1: In_contra, x2: In_contra, /) -> Out_co:
        """The matrix product, `x1 @ x2`."""

    def matrix_transpose(self, x: In_contra, /) -> Out_co:
        """The array with its last two axes exchanged."""

    def tensordot(
        self,
        x1: In_contra,
        x2: In_contra,
        /,
        *,
        axes: int | tuple[Sequence[int], Sequence[int]] = 2,
    ) -> Out_co:
        """The sum of products along pairs of axes."""

    def vecdot(self, x1: In_contra, x2: In_contra, /, *, axis: int = -1) -> Out_co:
        """The dot product along an axis, `x1` conjugated."""
