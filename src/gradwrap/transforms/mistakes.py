"""Finding mistakes: values that are not finite, buffers that were overwritten, masked branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gradwrap.core.backend import backend_of
from gradwrap.core.dynamic import TUPLE, type_of
from gradwrap.core.inspection import Wanted
from gradwrap.core.levels import inspecting
from gradwrap.core.watching import Watch, Watching
from gradwrap.core.wrapper import Wrapper
from gradwrap.errors import NotAnArrayError

if TYPE_CHECKING:
    from gradwrap.core.dynamic import AnyFunction

__all__ = ["apply_where", "detect_anomaly", "guard_buffers", "strong_zeros"]


class _Inspecting:
    """A context manager during which backward passes are looked at."""

    def __init__(self) -> None:
        self._outside: list[Wanted | None] = []

    def _asked(self, outside: Wanted) -> Wanted:
        """What is asked of the passes inside of this."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        outside = inspecting.get()
        self._outside.append(outside)
        inspecting.set(self._asked(Wanted() if outside is None else outside))
        return self

    def __exit__(self, *exc_info: object) -> None:
        # not by a token: a generator may be closed in another context than it was started in
        inspecting.set(self._outside.pop())


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

    def _asked(self, outside: Wanted) -> Wanted:
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
        return outside.changed(guards=True)


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

    def _asked(self, outside: Wanted) -> Wanted:
        return outside.changed(zeros_annihilate=True)


def apply_where(
    condition: Any,
    args: Any,
    f: AnyFunction[Any],
    fill: Any = 0.0,
    *,
    safe: float | tuple[float, ...] = 0.5,
) -> Any:
    """`where(condition, f(*args), fill)`, in which `f` is given none of the values left out.

    The values and all derivatives are right also where `f` or its derivative is not finite
    outside of the condition: there, `f` is evaluated at `safe` instead (the "double where").

    Parameters
    ----------
    condition
        Array of bool.
    args
        An array, or a tuple of arrays: what `f` is called with. Their shapes and that of
        `condition` broadcast.
    f
        An elementwise function of as many arrays.
    fill
        What stands where the condition does not hold: a number, an array, or a function of the
        same arguments, which in turn is given `safe` where the condition holds.
    safe
        A value at which `f` and its derivative are finite; one for each argument, or one for all.
        The default serves `sqrt`, `log`, `1 / x`, powers, `arcsin` and the like.

    Returns
    -------
    array
        Of the shape to which all broadcast; of the library of the arguments.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> gw.apply_where(x > 0, x, np.sqrt)
    array([0., 0., 1.])
    >>> gw.grad(lambda x: np.sum(gw.apply_where(x > 0, x, np.sqrt)))(x)
    array([0. , 0. , 0.5])
    """
    arrays: tuple[Any, ...] = args if isinstance(args, TUPLE) else (args,)
    values: tuple[Any, ...] = safe if isinstance(safe, tuple) else (safe,) * len(arrays)
    if len(values) != len(arrays):
        raise TypeError(
            f"apply_where: safe has {len(values)} values for {len(arrays)} arguments. "
            "Fix: pass one for each, or a number for all."
        )
    xp = _namespace((*arrays, condition, fill))
    pairs = tuple(zip(arrays, values, strict=True))
    taken = f(*(xp.where(condition, x, _number(xp, value, x)) for x, value in pairs))
    if callable(fill):
        other = fill(*(xp.where(condition, _number(xp, value, x), x) for x, value in pairs))
    else:
        other = fill
    xp = _namespace((taken, condition, other))  # f may use tracked arrays besides its arguments
    return xp.where(
        condition, taken, other if hasattr(other, "dtype") else _number(xp, other, taken)
    )


def _namespace(values: tuple[Any, ...]) -> Any:
    """The namespace of the values: the wrapped one, if any of them is a variable."""
    arrays = [value for value in values if hasattr(value, "dtype")]
    if not arrays:
        raise NotAnArrayError(
            "apply_where got no arrays. Fix: pass arrays, or branch with an ordinary if."
        )
    wrapped = [type_of(value) for value in arrays if isinstance(value, Wrapper)]
    if wrapped:
        return max(wrapped, key=lambda kind: kind._backend.depth)._namespace
    return backend_of(arrays[0]).xp


def _number(xp: Any, value: Any, like: Any) -> Any:
    """A number as an array of the dtype and device of another."""
    return xp.zeros_like(like) + value
