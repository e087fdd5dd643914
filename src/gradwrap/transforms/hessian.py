"""Second derivatives of scalar functions: forward over reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from gradwrap.core.dynamic import SEQUENCE
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.gradients import grad
from gradwrap.transforms.jacobian import jacfwd, jacrev
from gradwrap.transforms.jacobian_types import typed_as_hessian

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.transforms.arguments import Argnums
    from gradwrap.transforms.type_variables import Primals, X

__all__ = ["hessian", "hvp"]


@typed_as_hessian
def hessian(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any:
    """The matrix of second derivatives, forward over reverse: one pass for all columns at once.

    Parameters and errors are those of `jacrev`. For an argument of shape `s` and an output of
    shape `o` the result has shape `(*o, *s, *s)`; for pytrees it is a tree of trees.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    inner = jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return jacfwd(inner, argnums, has_aux=has_aux, holomorphic=holomorphic, chunk_size=chunk_size)


@overload
def hvp(
    fun: Callable[[*Primals], Any], primals: tuple[*Primals], tangents: tuple[*Primals]
) -> tuple[*Primals]: ...
@overload
def hvp(fun: Callable[[X], Any], primals: X, tangents: X) -> X: ...
def hvp(fun: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The Hessian of a scalar function times a vector, without the Hessian: forward over reverse.

    Parameters
    ----------
    fun
        A function that returns a real scalar.
    primals
        Its arguments, as a tuple; or its one argument.
    tangents
        What the Hessian is multiplied by, in the same structure, shapes and dtypes.

    Returns
    -------
    The product: a tuple for a tuple, otherwise in the structure of the one argument. It costs
    about two gradients.

    Raises
    ------
    NonScalarOutputError
        The output is not a real scalar.
    TangentError
        A tangent does not have the structure, shape or dtype of its primal.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.hvp(lambda x: np.sum(x**3), np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    array([  6., 120.])
    """
    if not isinstance(primals, SEQUENCE):
        return jvp(grad(fun), (primals,), (tangents,))[1]
    gradient = grad(fun, tuple(range(len(primals))))
    return jvp(gradient, tuple(primals), tangents)[1]
