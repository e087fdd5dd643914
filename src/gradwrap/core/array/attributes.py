"""The attributes of an array: those of the standard, and of NumPy's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from gradwrap.core.levels.wrapper import Wrapper, native

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradwrap.typing.namespace import ArrayNamespace

D = TypeVar("D")


class Attributes(Wrapper):
    """Attributes of NumPy's arrays, and parts and views that are operations."""

    __slots__ = ()

    _namespace: ArrayNamespace[Any, Self, Any]

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        """The array on another device; the gradient comes back to this one."""
        namespace: Any = self._namespace  # beyond the standard
        moved: Self = namespace.to_device(self, device, stream=stream)
        return moved

    @property
    def nbytes(self) -> int:
        """The size of the native array in bytes."""
        return self._value.nbytes  # type: ignore[no-any-return]  # Any: a native array

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._value.dtype.itemsize  # type: ignore[no-any-return]  # Any: a native array

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps in bytes along the axes of the native array."""
        return self._value.strides  # type: ignore[no-any-return]  # Any: a native array

    @property
    def flags(self) -> Any:
        """NumPy's flags of the memory of the native array."""
        return native(self).flags

    @property
    def T(self) -> Self:  # noqa: N802  the standard's name
        """The array with its axes in reverse order."""
        order = tuple(range(self.ndim))[::-1]
        return self._namespace.permute_dims(self, order)

    @property
    def mT(self) -> Self:  # noqa: N802  the standard's name
        """The array with its last two axes exchanged."""
        return self._namespace.matrix_transpose(self)

    @property
    def real(self) -> Self:
        """The real part."""
        if not self._backend.dtype_kind(self._value.dtype)[1]:
            return self
        found: Self = self._namespace.real(self)
        return found

    @property
    def imag(self) -> Self:
        """The imaginary part; zeros for a real array."""
        if not self._backend.dtype_kind(self._value.dtype)[1]:
            return self._namespace.zeros_like(self)
        found: Self = self._namespace.imag(self)
        return found

    @property
    def flat(self) -> Iterator[Self]:
        """An iterator over the elements."""
        elements: Any = self._namespace.reshape(self, (-1,))
        return iter(elements)
