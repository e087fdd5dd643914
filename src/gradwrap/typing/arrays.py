"""The standard's functions that move elements, and those that search and sort them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, Protocol

from gradwrap.typing.arguments import AnyArray, Axes, In_contra, Integers, Other_co, Out_co

if TYPE_CHECKING:
    from collections.abc import Sequence


class UniqueAll(NamedTuple, Generic[Out_co, Other_co]):
    """The result of `unique_all`."""

    values: Out_co
    indices: Other_co
    inverse_indices: Other_co
    counts: Other_co


class UniqueCounts(NamedTuple, Generic[Out_co, Other_co]):
    """The result of `unique_counts`."""

    values: Out_co
    counts: Other_co


class UniqueInverse(NamedTuple, Generic[Out_co, Other_co]):
    """The result of `unique_inverse`."""

    values: Out_co
    inverse_indices: Other_co


class Manipulation(Protocol[In_contra, Out_co]):
    """Shapes, order, parts and joins."""

    def broadcast_arrays(self, *arrays: In_contra) -> tuple[Out_co, ...]:
        """The arrays in their common shape."""

    def broadcast_shapes(self, *shapes: tuple[int, ...]) -> tuple[int, ...]:
        """The common shape of arrays of these shapes."""

    def broadcast_to(self, x: In_contra, /, shape: tuple[int, ...]) -> Out_co:
        """The array repeated along new or single axes."""

    def concat(self, arrays: Sequence[In_contra], /, *, axis: int | None = 0) -> Out_co:
        """Arrays joined along an axis."""

    def expand_dims(self, x: In_contra, /, axis: Integers) -> Out_co:
        """The array with axes of length one put in."""

    def flip(self, x: In_contra, /, *, axis: Axes = None) -> Out_co:
        """The elements in reverse order along axes."""

    def moveaxis(self, x: In_contra, source: Integers, destination: Integers, /) -> Out_co:
        """The array with axes at other positions."""

    def permute_dims(self, x: In_contra, /, axes: tuple[int, ...]) -> Out_co:
        """The array with its axes in another order."""

    def repeat(
        self, x: In_contra, repeats: int | AnyArray, /, *, axis: int | None = None
    ) -> Out_co:
        """Each element repeated so many times."""

    def reshape(
        self, x: In_contra, /, shape: tuple[int, ...], *, copy: bool | None = None
    ) -> Out_co:
        """The same elements in another shape."""

    def roll(self, x: In_contra, /, shift: Integers, *, axis: Axes = None) -> Out_co:
        """The elements moved along axes, the last coming in first."""

    def squeeze(self, x: In_contra, /, axis: Integers) -> Out_co:
        """The array without these axes of length one."""

    def stack(self, arrays: Sequence[In_contra], /, *, axis: int = 0) -> Out_co:
        """Arrays joined along a new axis."""

    def tile(self, x: In_contra, repetitions: tuple[int, ...], /) -> Out_co:
        """The array, repeated as a whole the given number of times along each axis."""

    def unstack(self, x: In_contra, /, *, axis: int = 0) -> tuple[Out_co, ...]:
        """The parts of the array along an axis."""

    def take(self, x: In_contra, indices: AnyArray, /, *, axis: int | None = None) -> Out_co:
        """The elements at these positions of an axis."""

    def take_along_axis(self, x: In_contra, indices: AnyArray, /, *, axis: int = -1) -> Out_co:
        """For each position an element along the axis."""


class Searching(Protocol[In_contra, Out_co, Other_co]):
    """Positions, choices, sets and order."""

    def argmax(
        self, x: In_contra, /, *, axis: int | None = None, keepdims: bool = False
    ) -> Other_co:
        """The position of the greatest element."""

    def argmin(
        self, x: In_contra, /, *, axis: int | None = None, keepdims: bool = False
    ) -> Other_co:
        """The position of the least element."""

    def count_nonzero(
        self, x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False
    ) -> Other_co:
        """The number of elements that are not zero."""

    def nonzero(self, x: AnyArray, /) -> tuple[Other_co, ...]:
        """The positions of the elements that are not zero."""

    def searchsorted(
        self,
        x1: In_contra,
        x2: In_contra | float,
        /,
        *,
        side: Literal["left", "right"] = "left",
        sorter: AnyArray = None,
    ) -> Other_co:
        """Where in the sorted `x1` the elements of `x2` belong."""

    def where(
        self, condition: AnyArray, x1: In_contra | complex, x2: In_contra | complex, /
    ) -> Out_co:
        """Elements of `x1` where the condition holds, else of `x2`."""

    def isin(
        self, x1: In_contra | int, x2: In_contra | int, /, *, invert: bool = False
    ) -> Other_co:
        """Tell whether an element of `x1` is among those of `x2`."""

    def unique_all(self, x: In_contra, /) -> UniqueAll[Out_co, Other_co]:
        """The different elements, with their positions and counts."""

    def unique_counts(self, x: In_contra, /) -> UniqueCounts[Out_co, Other_co]:
        """The different elements, and how often each occurs."""

    def unique_inverse(self, x: In_contra, /) -> UniqueInverse[Out_co, Other_co]:
        """The different elements, and which of them each one is."""

    def unique_values(self, x: In_contra, /) -> Out_co:
        """The different elements."""

    def argsort(
        self, x: In_contra, /, *, axis: int = -1, descending: bool = False, stable: bool = True
    ) -> Other_co:
        """The positions that sort the array."""

    def sort(
        self, x: In_contra, /, *, axis: int = -1, descending: bool = False, stable: bool = True
    ) -> Out_co:
        """The elements in order."""
