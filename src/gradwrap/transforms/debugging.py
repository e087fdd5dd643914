"""Modes of the backward pass that find, or avoid, values that are not finite or not right."""

from __future__ import annotations

from typing import Self

from gradwrap.core.levels.levels import inspecting
from gradwrap.core.observing.inspection import Wanted
from gradwrap.core.observing.watching import Watch, Watching


class _Inspecting(Watching):
    """A context manager during which backward passes are inspected."""

    _state = (inspecting.get, inspecting.set, Wanted())


class detect_anomaly(_Inspecting):  # noqa: N801  PyTorch's name
    """Raise at the first NaN or infinity that a backward pass makes, and say where it came from.

    A context manager, for this thread or task; run forward and backward inside of it. The error
    names the operation whose derivative made a value that is not finite from a cotangent that is,
    shows the lines of the forward call that recorded it, and says so where `where` or an index had
    left that value out (0 times an infinite derivative is NaN). An error of another kind that is
    raised inside of a derivative gets the same lines as a note.

    For debugging: it looks at every value, waits for the device, and notes the call stack of every
    operation.

    Parameters
    ----------
    check_nan
        Look at the values. If not, there are only the notes.

    Raises
    ------
    AnomalyError
        In backward. Cotangents that were not finite to begin with raise nothing.

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
        return outside._replace(notes=True, finite=self._check_nan)

    def __enter__(self) -> Self:
        self._places.__enter__()
        return super().__enter__()

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self._places.__exit__(*exc_info)


class _NotingPlaces(Watching):
    def _watch(self, outside: Watch) -> Watch:
        return outside._replace(notes_place=True)


class guard_buffers(Watching):  # noqa: N801  named like the others
    """Notice in backward that an array was overwritten after an operation had saved it.

    A context manager, for this thread or task, around the forward computation. gradwrap shares
    the caller's arrays, so `x_array[:] = ...` between forward and backward falsifies the gradient
    (writes to a `Variable` never do). Inside of this, each array that an operation saves is kept
    with a copy of its values, and backward compares the two.

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
        return outside._replace(guards=True)


class strong_zeros(_Inspecting):  # noqa: N801  named like the others
    """Let a cotangent of zero annihilate: 0 times an infinite or undefined derivative is 0.

    A context manager, for this thread or task, around the backward pass. In elementwise
    operations, where the cotangent is exactly zero, so is what is sent back, whatever the
    derivative. That is what is meant in `where(x > 0, sqrt(x), 0)`, and in an index that leaves
    out the bad values. By default gradwrap computes as IEEE arithmetic has it, NaN: a zero can
    also be an accident, and NaN shows it. `apply_where` is the way to do without a mode.

    It costs a comparison and a selection per operation in backward.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def f(x):
    ...     return np.sum(np.where(x > 0, np.sqrt(x), 0.0))
    >>> with gw.strong_zeros(), np.errstate(invalid="ignore", divide="ignore"):
    ...     gw.grad(f)(np.array([-1.0, 0.0, 1.0]))
    array([0. , 0. , 0.5])
    """

    def _watch(self, outside: Wanted) -> Wanted:
        return outside._replace(zeros_annihilate=True)
