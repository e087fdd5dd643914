"""Vector-Jacobian products of functions, and derivatives of elementwise ones."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Concatenate, overload

from gradwrap.core.tree import flatten
from gradwrap.transforms.argnums import one_or_tuple
from gradwrap.transforms.outputs import checked_cotangents, elementwise_seed
from gradwrap.transforms.recording import Recording, out_and_aux

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from gradwrap.transforms.argnums import Argnums
    from gradwrap.transforms.type_variables import (
        X1,
        X2,
        Aux,
        First,
        FirstAndThird,
        FirstThree,
        FirstTwo,
        No,
        OnlyFirst,
        P,
        Primals,
        R,
        Second,
        Third,
        X,
        Yes,
    )

__all__ = ["elementwise_grad", "vjp"]


@overload
def elementwise_grad(fun: np.ufunc, argnums: Argnums = 0) -> Any: ...
@overload
def elementwise_grad(
    fun: Callable[Concatenate[X, P], Any], argnums: First = 0
) -> Callable[Concatenate[X, P], X]: ...
@overload
def elementwise_grad(
    fun: Callable[Concatenate[X, X1, P], Any], argnums: Second
) -> Callable[Concatenate[X, X1, P], X1]: ...
@overload
def elementwise_grad(
    fun: Callable[Concatenate[X, X1, X2, P], Any], argnums: Third
) -> Callable[Concatenate[X, X1, X2, P], X2]: ...
@overload
def elementwise_grad(
    fun: Callable[Concatenate[X, P], Any], argnums: OnlyFirst
) -> Callable[Concatenate[X, P], tuple[X]]: ...
@overload
def elementwise_grad(
    fun: Callable[Concatenate[X, X1, P], Any], argnums: FirstTwo
) -> Callable[Concatenate[X, X1, P], tuple[X, X1]]: ...
@overload
def elementwise_grad(
    fun: Callable[Concatenate[X, X1, X2, P], Any], argnums: FirstAndThird
) -> Callable[Concatenate[X, X1, X2, P], tuple[X, X2]]: ...
@overload
def elementwise_grad(
    fun: Callable[Concatenate[X, X1, X2, P], Any], argnums: FirstThree
) -> Callable[Concatenate[X, X1, X2, P], tuple[X, X1, X2]]: ...
@overload
def elementwise_grad(fun: Callable[P, Any], argnums: list[Any]) -> Callable[P, tuple[Any, ...]]: ...
@overload
def elementwise_grad(fun: Callable[..., Any], argnums: Argnums) -> Any: ...
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


@overload
def vjp(
    fun: np.ufunc, *primals: Any, has_aux: No = False
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    fun: Callable[[*Primals], R], *primals: *Primals, has_aux: No = False
) -> tuple[R, Callable[[R], tuple[*Primals]]]: ...
@overload
def vjp(
    fun: Callable[[*Primals], tuple[R, Aux]], *primals: *Primals, has_aux: Yes
) -> tuple[R, Callable[[R], tuple[*Primals]], Aux]: ...
def vjp(  # type: ignore[misc]  # mypy takes *primals: *Primals for more than *primals: Any
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> Any:
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
