"""The methods of NumPy's arrays, as editors and type checkers see them.

At run time `Variable.__getattr__` finds each of them at first use, in `backends/numpy/methods.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, Self, TypeVar

from gradwrap.typing.pytorch_methods import PyTorchMethods

if TYPE_CHECKING:
    from gradwrap.typing.arguments import AnyArray, Axes, DType

Other = TypeVar("Other")


class ArrayMethods(PyTorchMethods[Other], Generic[Other]):
    """The methods of `numpy.ndarray` that variables of every library have, and PyTorch's.

    `Other` is returned where the dtype is another: of positions, of bools, of a cast.
    """

    if TYPE_CHECKING:  # where mypy takes a docstring for the whole body

        def all(
            self,
            axis: Axes = None,
            out: Other | None = None,
            *,
            keepdims: bool = False,
            where: AnyArray = True,
        ) -> Other:
            """Tell whether all elements are true."""

        def any(
            self,
            axis: Axes = None,
            out: Other | None = None,
            *,
            keepdims: bool = False,
            where: AnyArray = True,
        ) -> Other:
            """Tell whether one of the elements is true."""

        def argmax(
            self, axis: int | None = None, out: Other | None = None, *, keepdims: bool = False
        ) -> Other:
            """The position of the greatest element."""

        def argmin(
            self, axis: int | None = None, out: Other | None = None, *, keepdims: bool = False
        ) -> Other:
            """The position of the least element."""

        def argpartition(
            self,
            kth: int | tuple[int, ...],
            axis: int | None = -1,
            kind: str = "introselect",
            order: None = None,
        ) -> Other:
            """The positions that put the `kth` element where it belongs in order."""

        def argsort(
            self,
            axis: int | None = -1,
            kind: str | None = None,
            order: None = None,
            *,
            stable: bool | None = None,
            descending: bool = False,
        ) -> Other:
            """The positions that sort the array."""

        def astype(
            self,
            dtype: DType,
            order: str = "K",
            casting: str = "unsafe",
            subok: bool = True,
            copy: bool = True,
        ) -> Other:
            """The elements as numbers of another dtype; the gradient is cast back."""

        def clip(self, min: AnyArray = ..., max: AnyArray = ..., out: Self | None = None) -> Self:
            """The elements within bounds; the gradient passes at the bounds."""

        def compress(
            self, condition: AnyArray, axis: int | None = None, out: Self | None = None
        ) -> Self:
            """The parts along an axis for which a condition holds."""

        def conj(self) -> Self:
            """The complex conjugate; a real array itself."""

        def conjugate(self) -> Self:
            """The complex conjugate; a real array itself."""

        def cumprod(
            self, axis: int | None = None, dtype: DType = None, out: Self | None = None
        ) -> Self:
            """The products of the elements up to each."""

        def cumsum(
            self, axis: int | None = None, dtype: DType = None, out: Self | None = None
        ) -> Self:
            """The sums of the elements up to each."""

        def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
            """The diagonal of each matrix."""

        def dot(self, b: AnyArray, /, out: Self | None = None) -> Self:
            """The product of vectors or matrices, as `numpy.dot`."""

        def fill(self, value: AnyArray) -> None:
            """Set all elements, in place; the value may be tracked."""

        def flatten(self, order: str = "C") -> Self:
            """A copy along one axis."""

        def max(
            self,
            axis: Axes = None,
            out: Self | None = None,
            *,
            keepdims: bool = False,
            initial: AnyArray = ...,
            where: AnyArray = True,
        ) -> Self:
            """The greatest element; ties share the gradient evenly."""

        def mean(
            self,
            axis: Axes = None,
            dtype: DType = None,
            out: Self | None = None,
            *,
            keepdims: bool = False,
            where: AnyArray = True,
        ) -> Self:
            """The mean."""

        def min(
            self,
            axis: Axes = None,
            out: Self | None = None,
            *,
            keepdims: bool = False,
            initial: AnyArray = ...,
            where: AnyArray = True,
        ) -> Self:
            """The least element; ties share the gradient evenly."""

        def nonzero(self) -> tuple[Other, ...]:
            """The positions of the elements that are not zero."""

        def partition(
            self, kth: AnyArray, axis: int = -1, kind: str = "introselect", order: None = None
        ) -> None:
            """Put the elements before and after the `kth` ones in order of size, in place."""

        def prod(
            self,
            axis: Axes = None,
            dtype: DType = None,
            out: Self | None = None,
            *,
            keepdims: bool = False,
            initial: AnyArray = ...,
            where: AnyArray = True,
        ) -> Self:
            """The product."""

        def ptp(
            self, axis: Axes = None, out: Self | None = None, *, keepdims: bool = False
        ) -> Self:
            """The greatest element less the least."""

        def put(
            self,
            indices: AnyArray,
            values: AnyArray,
            mode: Literal["raise", "wrap", "clip"] = "raise",
        ) -> None:
            """Set elements of the flattened array, in place; the values may be tracked."""

        def ravel(self, order: str = "C") -> Self:
            """The elements along one axis."""

        def repeat(self, repeats: AnyArray, axis: int | None = None) -> Self:
            """Each element repeated so many times."""

        def round(self, decimals: int = 0, out: Self | None = None) -> Self:
            """The elements with so many decimals; a step, so not differentiated."""

        def searchsorted(
            self, v: AnyArray, side: Literal["left", "right"] = "left", sorter: AnyArray = None
        ) -> Other:
            """Where in this sorted array the elements of `v` belong."""

        def sort(
            self,
            axis: int = -1,
            kind: str | None = None,
            order: None = None,
            *,
            stable: bool | None = None,
            descending: bool = False,
        ) -> None:
            """Sort in place."""

        def squeeze(self, axis: Axes = None) -> Self:
            """The array without axes of length one."""

        def std(
            self,
            axis: Axes = None,
            dtype: DType = None,
            out: Self | None = None,
            ddof: float = 0,
            *,
            keepdims: bool = False,
            where: AnyArray = True,
            mean: AnyArray = ...,
            correction: float = ...,
        ) -> Self:
            """The standard deviation."""
            ...  # for the default of `correction`

        def sum(
            self,
            axis: Axes = None,
            dtype: DType = None,
            out: Self | None = None,
            *,
            keepdims: bool = False,
            initial: AnyArray = ...,
            where: AnyArray = True,
        ) -> Self:
            """The sum."""

        def swapaxes(self, axis1: int, axis2: int, /) -> Self:
            """The array with two axes exchanged."""

        def take(
            self,
            indices: AnyArray,
            axis: int | None = None,
            out: Self | None = None,
            mode: Literal["raise", "wrap", "clip"] = "raise",
        ) -> Self:
            """The elements at these positions of an axis."""

        def trace(
            self,
            offset: int = 0,
            axis1: int = 0,
            axis2: int = 1,
            dtype: DType = None,
            out: Self | None = None,
        ) -> Self:
            """The sum of the diagonal."""

        def var(
            self,
            axis: Axes = None,
            dtype: DType = None,
            out: Self | None = None,
            ddof: float = 0,
            *,
            keepdims: bool = False,
            where: AnyArray = True,
            mean: AnyArray = ...,
            correction: float = ...,
        ) -> Self:
            """The variance."""
            ...  # for the default of `correction`

        def view(self, dtype: DType = None) -> Self:
            """The array as another object of the same data and graph; of its own dtype only."""
