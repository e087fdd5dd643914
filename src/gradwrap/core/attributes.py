"""The attributes of an array: those of the standard, and of NumPy's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gradwrap.core import inplace

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Attributes"]


class Attributes:
    """What is asked of the native array, and the parts and views that are operations."""

    __slots__ = ()

    _data: Any
    _backend: Any
    _namespace: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._data.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The dtype of the native array."""
        return self._data.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._data.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for length in self._data.shape:
            size *= length
        return size

    @property
    def device(self) -> Any:
        """The device of the native array."""
        return self._backend.device(self._data)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        """The array on another device; the gradient comes back to this one."""
        return self._namespace.to_device(self, device, stream=stream)  # type: ignore[no-any-return]

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The namespace whose functions record; the same object for all arrays of a library."""
        if api_version is not None:
            self._namespace._check_version(api_version)
        return self._namespace

    @property
    def nbytes(self) -> int:
        """The size of the native array in bytes."""
        return self._data.nbytes  # type: ignore[no-any-return]

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._data.dtype.itemsize  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps in bytes along the axes of the native array."""
        return self._data.strides  # type: ignore[no-any-return]

    @property
    def flags(self) -> Any:
        """NumPy's flags of the memory of the native array."""
        return inplace.native(self).flags

    @property
    def T(self) -> Self:  # noqa: N802
        """The array with its axes in reverse order."""
        order = tuple(range(self.ndim))[::-1]
        return self._namespace.permute_dims(self, order)  # type: ignore[no-any-return]

    @property
    def mT(self) -> Self:  # noqa: N802
        """The array with its last two axes exchanged."""
        return self._namespace.matrix_transpose(self)  # type: ignore[no-any-return]

    @property
    def real(self) -> Self:
        """The real part."""
        if not self._backend.dtype_kind(self.dtype)[1]:
            return self
        return self._namespace.real(self)  # type: ignore[no-any-return]

    @property
    def imag(self) -> Self:
        """The imaginary part; zeros for a real array."""
        if not self._backend.dtype_kind(self.dtype)[1]:
            return self._namespace.zeros_like(self)  # type: ignore[no-any-return]
        return self._namespace.imag(self)  # type: ignore[no-any-return]

    @property
    def flat(self) -> Iterator[Self]:
        """An iterator over the elements."""
        return iter(self._namespace.reshape(self, (-1,)))
