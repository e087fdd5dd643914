"""Context managers for checks and modes of the backward pass, and for packing saved arrays."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import array_api_compat
import numpy as np

from gradwrap.core.levels.levels import inspecting
from gradwrap.core.library.backend import backend_of
from gradwrap.core.observing.inspection import Wanted
from gradwrap.core.observing.watching import Watch, Watching
from gradwrap.core.values.dynamic import class_of
from gradwrap.errors import SavedArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from gradwrap.core.library.backend import Backend


class _Inspecting(Watching):
    """A context manager during which backward passes are inspected."""

    _state = (inspecting.get, inspecting.set, Wanted())


class detect_anomaly(_Inspecting):  # noqa: N801  PyTorch's name
    """Raise at the first NaN or infinity that a backward pass makes, and say where it came from.

    This is a context manager, for the current thread or task. Run forward and backward inside of
    it. The error names the operation whose derivative made a NaN or an infinity from a finite
    cotangent, and shows the lines of the forward call that recorded it. It also says if `where` or
    an index had left that value out (0 times an infinite derivative is NaN). Any other error inside
    a derivative gets the same lines as a note.

    Use it for debugging only: it checks every value, waits for the device, and notes the call stack
    of every operation.

    Parameters
    ----------
    check_nan
        Check the values. If False, there are only the notes.

    Raises
    ------
    AnomalyError
        In backward. Cotangents that were not finite from the start do not raise it.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> with gw.detect_anomaly(), np.errstate(divide="ignore"):
    ...     gw.grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 1.0]))
    Traceback (most recent call last):
        ...
    gradwrap.errors.AnomalyError: SqrtBackward returned inf values: ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check_nan = check_nan
        self._places = _NotingPlaces()

    def _watch(self, outside: Wanted) -> Wanted:
        return outside.changed(notes=True, finite=self._check_nan)

    def __enter__(self) -> Self:
        self._places.__enter__()
        return super().__enter__()

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self._places.__exit__(*exc_info)


class _NotingPlaces(Watching):
    def _watch(self, outside: Watch) -> Watch:
        return outside.changed(notes_place=True)


class guard_buffers(Watching):  # noqa: N801  named like the others
    """Notice in backward that an array was overwritten after an operation had saved it.

    A context manager, for this thread or task, around the forward computation. By default, small
    arrays are copied when they are saved, and of large ones a fingerprint is compared, which misses
    some writes (on CuPy, all). Within this context, each array that an operation saves is kept with
    a copy of its values, and backward compares the two.

    For debugging: it costs the memory of the copies and the time to compare. Arrays packed by
    `saved_tensors_hooks` are not guarded.

    Raises
    ------
    BufferChangedError
        In backward, wherever that runs. It names the operation and shows the lines of its call.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> array = np.array([1.0, 2.0])
    >>> x = gw.wrap(array, requires_grad=True)
    >>> with gw.guard_buffers():
    ...     y = np.sum(x * x)
    >>> array[0] = 100.0
    >>> y.backward()
    Traceback (most recent call last):
        ...
    gradwrap.errors.BufferChangedError: An array that multiply saved for backward, float64[2], ...
    """

    def _watch(self, outside: Watch) -> Watch:
        return outside.changed(guards=True)


class strong_zeros(_Inspecting):  # noqa: N801  named like the others
    """Make a zero cotangent times an infinite or undefined derivative zero instead of NaN.

    This is a context manager, for the current thread or task, around the backward pass, or around
    the call of a transform in forward mode. In elementwise operations, a cotangent or tangent that
    is exactly zero gives a zero, whatever the derivative is. This is usually the intended result
    for a slice that leaves out bad values, and wrong in `sqrt(x)**2` at 0. By default, gradwrap
    computes NaN as in IEEE arithmetic, except for elements that `where`, `clip`, `maximum`,
    `minimum` or an index of booleans does not take: their derivative is zero without this.

    It costs a comparison and a selection per operation in backward, and in forward mode.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def f(x):
    ...     return np.sum(np.sqrt(x)[2:])
    >>> with gw.strong_zeros(), np.errstate(invalid="ignore", divide="ignore"):
    ...     gw.grad(f)(np.array([-1.0, 0.0, 1.0]))
    array([0. , 0. , 0.5])
    """

    def _watch(self, outside: Wanted) -> Wanted:
        return outside.changed(zeros_annihilate=True)


# Saved arrays -------------------------------------------------------------------------------------


class saved_tensors_hooks(Watching):  # noqa: N801  PyTorch's name
    """Pack every array that an operation saves for backward, and unpack it when it is needed.

    This is a context manager for the current thread or task. Inside of it, each array that a
    formula saves is passed to `pack`, and the result is kept in its place. When a backward pass
    comes to the operation, inside of the context or not, it passes the kept value to `unpack`; each
    further pass does so again. If contexts are nested, only the innermost applies, as in PyTorch.

    Both functions get and return native arrays, on the tape and under transforms of any depth.
    `pack` must not write to the array, which may be the caller's own. An array that two operations
    save is packed twice. The array of a leaf or variable is not packed, nor is the index of one
    element. For a `Function`, the arrays of floats that its context keeps are packed.

    Parameters
    ----------
    pack
        Takes an array of any shape and dtype; returns anything.
    unpack
        Takes the result of `pack`; returns the array again, of the same library, shape, dtype and
        device.

    Raises
    ------
    SavedArrayError
        One of the two is not callable; or, in backward, `unpack` returned another kind of array.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def half(array):
    ...     return array.astype(np.float32)
    >>> def whole(kept):
    ...     return kept.astype(np.float64)
    >>> with gw.saved_tensors_hooks(half, whole):
    ...     gw.grad(lambda x: np.sum(np.sin(x)))(np.array([0.0, 0.5]))
    array([1.        , 0.87758256])
    """

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        super().__init__()
        for name, function in (("pack", pack), ("unpack", unpack)):
            if not callable(function):
                raise SavedArrayError(
                    f"saved_tensors_hooks: {name} is {class_of(function)}, which cannot be "
                    f"called. Fix: pass a function of one argument as {name}."
                )
        self._hooks = pack, unpack

    def _watch(self, outside: Watch) -> Watch:
        return outside.changed(hooks=self._hooks)


@contextmanager
def save_on_cpu() -> Generator[None, None, None]:
    """Keep the arrays that operations save for backward in the memory of the CPU.

    This is a context manager, based on `saved_tensors_hooks`. Arrays on the CPU are kept as they
    are. In backward, each array is moved back to its device.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> with gw.save_on_cpu():
    ...     gw.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    with saved_tensors_hooks(to_host, _from_host):
        yield


def to_host(array: Any) -> tuple[Any, Any, Backend]:
    """Return an array on the CPU, with the device and the library that it came from."""
    backend = backend_of(array)
    device = backend.device(array)
    if "cpu" in str(device).lower():
        return array, device, backend
    try:
        return array_api_compat.to_device(array, "cpu"), device, backend
    except ValueError:  # a library that does not know its devices by this name
        pass
    for other in backend.xp.__array_namespace_info__().devices():
        if "cpu" in str(other).lower():
            return array_api_compat.to_device(array, other), device, backend
    return np.asarray(array), device, backend


def _from_host(kept: tuple[Any, Any, Backend]) -> Any:
    array, device, backend = kept
    if backend.is_array(array):
        return array_api_compat.to_device(array, device)
    return backend.xp.asarray(array, device=device)
