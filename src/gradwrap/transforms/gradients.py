"""The gradient of a function, and its value with it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.tree import map_leaves
from gradwrap.transforms.argnums import one_or_tuple
from gradwrap.transforms.outputs import scalar_seed
from gradwrap.transforms.recording import Recording, out_and_aux
from gradwrap.transforms.typed import typed_as_grad, typed_as_value_and_grad

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.typing.signatures import Argnums

__all__ = ["grad", "value_and_grad"]


@typed_as_grad
def grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """A function that returns the gradient of `fun`, which returns a real scalar.

    Parameters
    ----------
    fun
        A function of arrays, or pytrees of arrays, of any library that follows the standard.
    argnums
        What to differentiate: a position, a parameter's name, or a sequence of them.
    has_aux
        `fun` returns a pair `(scalar, aux)`; the gradient function returns `(gradient, aux)`.
    holomorphic
        Give the complex derivative of a holomorphic function of complex arguments.

    Returns
    -------
    A function of the same parameters. It returns the gradient in the structure of the argument:
    the same library, dtype, shape and device; a tuple of them if `argnums` is a sequence. None,
    strings and other parts of a pytree that are no arrays pass through; the gradient has None
    in their place. The gradient of a real function of a complex argument points in the direction
    of steepest ascent, the conjugate of what JAX returns.

    Raises
    ------
    NonDifferentiableInputError
        An argument has an integer, bool or object dtype.
    NonScalarOutputError
        The output is not a scalar, or is complex without `holomorphic`.
    NotAnArrayError
        An argument or the output is not an array.
    ArgnumsError
        `argnums` is out of range, or names no parameter.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.grad(lambda x: np.sum(np.sin(x)))(np.array([0.0, np.pi]))
    array([ 1., -1.])
    >>> gw.grad(gw.grad(lambda x: x**3))(2.0)
    np.float64(12.0)
    >>> gw.grad(lambda p: p["w"] * p["b"] ** 2)({"w": 3.0, "b": 2.0})
    {'w': np.float64(4.0), 'b': np.float64(12.0)}
    """

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        _, aux, found = _differentiated(recording, argnums, has_aux, holomorphic)
        return (found, recording.unwrapped(aux)) if has_aux else found

    return gradient


@typed_as_value_and_grad
def value_and_grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """A function that returns the value of `fun` and its gradient.

    With `has_aux`, the value is the pair that `fun` returned. Parameters, errors and
    conventions are those of `grad`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """

    @functools.wraps(fun)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        out, aux, found = _differentiated(recording, argnums, has_aux, holomorphic)
        value = recording.unwrapped(out)
        return ((value, recording.unwrapped(aux)) if has_aux else value), found

    return value_and_gradient


def _differentiated(
    recording: Recording, argnums: Argnums, has_aux: bool, holomorphic: bool
) -> tuple[Any, Any, Any]:
    """The output, what came with it, and the gradient."""
    out, aux = out_and_aux(recording.name, recording.out, has_aux)
    seed = scalar_seed(recording, out, holomorphic)
    gradients = recording.pull([out], [seed])
    if holomorphic:
        gradients = [map_leaves(_conjugated, g) for g in gradients]
    return out, aux, one_or_tuple(gradients, argnums)


def _conjugated(leaf: Any) -> Any:
    return None if leaf is None else backend_of(leaf).xp.conj(leaf)
