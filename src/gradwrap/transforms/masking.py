"""`apply_where`: a function applied where a condition holds, with right derivatives everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.values.comparing import namespace_of
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.errors import NotAnArrayError

if TYPE_CHECKING:
    from gradwrap.core.values.dynamic import AnyFunction


def apply_where(
    condition: Any,
    args: Any,
    f: AnyFunction[Any],
    fill: Any = 0.0,
    *,
    safe: float | tuple[float, ...] = 0.5,
) -> Any:
    """Return `where(condition, f(*args), fill)`; evaluate `f` only where the condition holds.

    Outside of the condition, `f` is evaluated at `safe` instead (the "double where"). So the values
    and all derivatives are right even if `f` or its derivative is not finite there.

    Parameters
    ----------
    condition
        Array of bool.
    args
        The arguments of `f`: an array, or a tuple of arrays. Their shapes and that of `condition`
        are broadcast.
    f
        An elementwise function of as many arrays.
    fill
        The value where the condition does not hold: a number, an array, or a function of the same
        arguments, which gets `safe` where the condition holds.
    safe
        A value at which `f` and its derivative are finite; one for each argument, or one for all.
        The default works for `sqrt`, `log`, `1 / x`, powers, `arcsin` and similar functions.

    Returns
    -------
    array
        An array of the broadcast shape and of the arguments' library.

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
    """Return the namespace of the values: the wrapped one if a value is a variable."""
    arrays = [value for value in values if hasattr(value, "dtype")]
    if not arrays:
        raise NotAnArrayError(
            "apply_where got no arrays. Fix: pass arrays, or branch with an ordinary if."
        )
    return namespace_of(arrays)


def _number(xp: Any, value: Any, like: Any) -> Any:
    """Convert a number to an array of the dtype and device of another."""
    return xp.zeros_like(like) + value
