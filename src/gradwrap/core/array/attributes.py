"""The attributes of an array: the standard's, and those of NumPy's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from gradwrap.core.array.adapted import adapted_caller
from gradwrap.core.array.flat import Flat
from gradwrap.core.array.setters import mark_imaginary, set_part, set_shape
from gradwrap.core.array.writing.views import IMAG, REAL, view_of
from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import Wrapper, innermost, is_scalar, native
from gradwrap.core.observing.callers import current_caller, remedy
from gradwrap.errors import InPlaceError, TrackedAttributeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.typing.namespace import ArrayNamespace

D = TypeVar("D")

remedies: list[Callable[[str], str]] = []
"""Functions that return a sentence on what to write for a method that is missing, or nothing."""


_near: dict[tuple[type[Any], str], str] = {}
"""By class and name: the attribute that is most like a missing one, which code may test often."""


class Attributes(Wrapper):
    """Attributes of NumPy's arrays, and parts and views that are operations."""

    __slots__ = ()

    _namespace: ArrayNamespace[Any, Self, Any]

    def _no_attribute(self, name: str) -> TrackedAttributeError:
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if not name.startswith("_") and hasattr(innermost(self), name):
            fix = remedy(
                current_caller(),
                "make the function that reads it one operation with f = gradwrap.primitive(f), and "
                "give it its derivative with gradwrap.defvjp(f, ...); or "
                f"x.detach().data.{name}, if no gradient is wanted.",
            )
            text = f"{text}. Fix: {fix}"
            return TrackedAttributeError(text, obj=self)  # no name, of which Python makes a guess
        fix = next(filter(None, (find(name) for find in remedies)), "")
        if not fix and not name.startswith("_"):
            key = type(self), name
            if key not in _near:
                import difflib  # for errors alone

                _near[key] = next(iter(difflib.get_close_matches(name, dir(self), 1)), "")
            fix = f". Did you mean {_near[key]!r}?" if _near[key] else ""
        return TrackedAttributeError(text + fix)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        """Copy the array to a device, if it is not there; gradients return to the array's own."""
        this: Any = self
        if device == this.device and stream is None:
            return self
        namespace: Any = self._namespace  # beyond the standard
        moved: Self = namespace.to_device(self, device, stream=stream)
        return moved

    @property
    def nbytes(self) -> int:
        """The size of the native array in bytes."""
        return one_array(self).nbytes  # type: ignore[no-any-return]  # Any: a native array

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._value.dtype.itemsize  # type: ignore[no-any-return]  # Any: a native array

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps in bytes along the axes of the native array."""
        return one_array(self).strides  # type: ignore[no-any-return]  # Any: a native array

    @property
    def flags(self) -> Any:
        """NumPy's flags of the memory of the native array."""
        native(self)  # which refuses arrays that `vmap` maps over
        return one_array(self).flags

    @property
    def base(self) -> Self | None:
        """The array of which this is a view, or None, as of NumPy's arrays; in adapted code."""
        if adapted_caller() is None:
            raise AttributeError("base")  # `__getattr__` names a remedy
        found: Any = self
        while (how := view_of(found)) is not None:
            found = how.source
        return None if found is self else found

    @property
    def T(self) -> Self:  # noqa: N802  the standard's name
        """The array with its axes in reverse order."""
        order = tuple(range(self.ndim))[::-1]
        return self._namespace.permute_dims(self, order)

    @property
    def mT(self) -> Self:  # noqa: N802  the standard's name
        """The array with its last two axes exchanged."""
        if is_scalar(self):
            raise AttributeError("mT")  # which a number lacks; `__getattr__` says so
        return self._namespace.matrix_transpose(self)

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]:
            """The lengths of the axes; assigning to it gives the array another shape in place."""
            ...

        @shape.setter
        def shape(self, shape: int | tuple[int, ...]) -> None: ...

    else:
        shape = Wrapper.shape.setter(set_shape)

    @property
    def real(self) -> Self:
        """The real part; assigning to it writes that part."""
        if not self._backend.dtype_kind(self._value.dtype)[1]:
            return self
        found: Self = self._namespace.real(self)
        return found

    @real.setter
    def real(self, value: Any) -> None:
        set_part(self, REAL, value)

    @property
    def imag(self) -> Self:
        """The imaginary part; zeros for a real array. Assigning to it writes that part."""
        if not self._backend.dtype_kind(self._value.dtype)[1]:
            this: Any = self
            zeros: Any = this._namespace.zeros_like(this.copy("A"))
            if is_scalar(self):
                zeros = zeros[()]
            else:
                mark_imaginary(zeros, self)
            part: Self = zeros
            return part
        found: Self = self._namespace.imag(self)
        return found

    @imag.setter
    def imag(self, value: Any) -> None:
        set_part(self, IMAG, value)

    @property
    def flat(self) -> Flat[Self]:
        """The elements in one row, to iterate over, to read and to write; it can be assigned to."""
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        Flat(self)[:] = value

    def __delitem__(self, key: Any) -> None:
        raise InPlaceError("the elements of an array cannot be deleted. Fix: np.delete(x, i).")
