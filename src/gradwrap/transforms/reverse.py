"""Vector-Jacobian products of functions, and derivatives of elementwise ones."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.tree import flatten
from gradwrap.transforms.argnums import one_or_tuple
from gradwrap.transforms.outputs import checked_cotangents, elementwise_seed
from gradwrap.transforms.recording import Recording, out_and_aux
from gradwrap.transforms.typed import typed_as_elementwise_grad, typed_as_vjp

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.typing.signatures import Argnums

__all__ = ["elementwise_grad", "vjp"]


@typed_as_elementwise_grad
def elementwise_grad(fun: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The derivative of an elementwise function at each element.

    It is the gradient of the sum of the outputs: right where each output depends on one
    element of the argument. Arguments are as in `grad`; outputs are real arrays of any shape,
    or pytrees of them.

    Raises
    ------
    NotAnArrayError
        An output is not an array.
    NonScalarOutputError
        An output is complex.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.elementwise_grad(np.square)(np.array([1.0, 2.0, 3.0]))
    array([2., 4., 6.])
    """

    @functools.wraps(fun)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        outputs, _ = flatten(recording.out)
        seeds = [elementwise_seed(recording, out) for out in outputs]
        return one_or_tuple(recording.pull(outputs, seeds), argnums)

    return derivative


@typed_as_vjp
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun`, and the function that pulls cotangents back through it.

    Parameters
    ----------
    fun
        A function of arrays, or pytrees of them, that returns such.
    primals
        Its arguments, of which all are differentiated.
    has_aux
        `fun` returns a pair `(out, aux)`; a third result gives `aux`.

    Returns
    -------
    `out` and `vjp_fun`. `vjp_fun(cotangent)` takes a cotangent of the structure, shapes and
    dtypes of `out`, and returns a tuple with a gradient for each of `primals`. It may be called
    again; what the operations saved is kept until it is dropped.

    Raises
    ------
    NonDifferentiableInputError
        A primal has an integer, bool or object dtype.
    BackwardError
        The cotangent does not have the structure, shapes or dtypes of the output.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> out, pull = gw.vjp(np.multiply, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    >>> pull(np.array([1.0, 10.0]))
    (array([ 3., 40.]), array([ 1., 20.]))
    """
    recording = Recording(fun, range(len(primals)), primals, {})
    out, aux = out_and_aux(recording.name, recording.out, has_aux)
    outputs, treedef = flatten(out)
    value = recording.unwrapped(out)

    def vjp_fun(cotangent: Any) -> tuple[Any, ...]:
        given = checked_cotangents(cotangent, outputs, treedef)
        return tuple(recording.pull(outputs, given, keep=True))

    return (value, vjp_fun, recording.unwrapped(aux)) if has_aux else (value, vjp_fun)
