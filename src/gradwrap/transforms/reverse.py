"""Reverse mode: gradients and vector-Jacobian products of functions.

The overloads keep the types of the user's function: the gradient of an argument has the type of
the argument, and the other parameters stay as they are. Positions beyond the third, other
combinations of them than are written out below, and names give `Any`. The type variables of
arguments are bound to `Any`, so that a type checker takes a lambda's parameters for `Any` rather
than for `object`.
"""

from __future__ import annotations

import functools
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    SupportsComplex,
    SupportsFloat,
    TypeAlias,
    TypeVar,
    TypeVarTuple,
    overload,
)

from gradwrap.core.backend import backend_of
from gradwrap.core.tree import flatten, unflatten
from gradwrap.transforms.recording import (
    Recording,
    checked_cotangents,
    elementwise_seed,
    out_and_aux,
    scalar_seed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from gradwrap.transforms.arguments import Argnums

__all__ = ["elementwise_grad", "grad", "value_and_grad", "vjp"]

P = ParamSpec("P")
X = TypeVar("X", bound=Any)
X1 = TypeVar("X1", bound=Any)
X2 = TypeVar("X2", bound=Any)
R = TypeVar("R")
Aux = TypeVar("Aux")
Primals = TypeVarTuple("Primals")
Scalar: TypeAlias = SupportsFloat | SupportsComplex
S = TypeVar("S", bound=SupportsFloat | SupportsComplex)

No: TypeAlias = Literal[False]
Yes: TypeAlias = Literal[True]
First: TypeAlias = Literal[0]
Second: TypeAlias = Literal[1]
Third: TypeAlias = Literal[2]
OnlyFirst: TypeAlias = tuple[Literal[0]]
FirstTwo: TypeAlias = tuple[Literal[0], Literal[1]]
FirstAndThird: TypeAlias = tuple[Literal[0], Literal[2]]
FirstThree: TypeAlias = tuple[Literal[0], Literal[1], Literal[2]]


# grad ---------------------------------------------------------------------------------------------


@overload
def grad(
    fun: np.ufunc, argnums: Argnums = 0, *, has_aux: No = False, holomorphic: bool = False
) -> Any: ...
@overload
def grad(
    fun: Callable[Concatenate[X, P], Scalar],
    argnums: First = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, P], X]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, X1, P], Scalar],
    argnums: Second,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, P], X1]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, X1, P], Scalar],
    argnums: FirstTwo,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, P], tuple[X, X1]]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, X1, X2, P], Scalar],
    argnums: Third,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, X2, P], X2]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, P], Scalar],
    argnums: OnlyFirst,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, P], tuple[X]]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, X1, X2, P], Scalar],
    argnums: FirstAndThird,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, X2, P], tuple[X, X2]]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, X1, X2, P], Scalar],
    argnums: FirstThree,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, X2, P], tuple[X, X1, X2]]: ...
@overload
def grad(
    fun: Callable[..., Scalar],
    argnums: Argnums,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Any: ...
@overload
def grad(
    fun: Callable[Concatenate[X, P], tuple[Scalar, Aux]],
    argnums: First = 0,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, P], tuple[X, Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, X1, P], tuple[Scalar, Aux]],
    argnums: Second,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, P], tuple[X1, Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, X1, P], tuple[Scalar, Aux]],
    argnums: FirstTwo,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, P], tuple[tuple[X, X1], Aux]]: ...
@overload
def grad(
    fun: Callable[..., tuple[Scalar, Aux]],
    argnums: Argnums,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
) -> Any: ...
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


# value_and_grad -----------------------------------------------------------------------------------


@overload
def value_and_grad(
    fun: np.ufunc, argnums: Argnums = 0, *, has_aux: No = False, holomorphic: bool = False
) -> Any: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, P], S],
    argnums: First = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, P], tuple[S, X]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, X1, P], S],
    argnums: Second,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, P], tuple[S, X1]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, X1, P], S],
    argnums: FirstTwo,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, P], tuple[S, tuple[X, X1]]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, X1, X2, P], S],
    argnums: Third,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, X2, P], tuple[S, X2]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, P], S],
    argnums: OnlyFirst,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, P], tuple[S, tuple[X]]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, X1, X2, P], S],
    argnums: FirstAndThird,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, X2, P], tuple[S, tuple[X, X2]]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, X1, X2, P], S],
    argnums: FirstThree,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, X2, P], tuple[S, tuple[X, X1, X2]]]: ...
@overload
def value_and_grad(
    fun: Callable[..., S],
    argnums: Argnums,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
) -> Any: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, P], tuple[S, Aux]],
    argnums: First = 0,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, P], tuple[tuple[S, Aux], X]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, X1, P], tuple[S, Aux]],
    argnums: Second,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, P], tuple[tuple[S, Aux], X1]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, X1, P], tuple[S, Aux]],
    argnums: FirstTwo,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
) -> Callable[Concatenate[X, X1, P], tuple[tuple[S, Aux], tuple[X, X1]]]: ...
@overload
def value_and_grad(
    fun: Callable[..., tuple[S, Aux]],
    argnums: Argnums,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
) -> Any: ...
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
        gradients = [_conjugated(g) for g in gradients]
    return out, aux, _as_asked(gradients, argnums)


def _as_asked(gradients: Sequence[Any], argnums: Argnums) -> Any:
    """One gradient, or a tuple of them, as `argnums` has it."""
    return gradients[0] if isinstance(argnums, (int, str)) else tuple(gradients)


def _conjugated(tree: Any) -> Any:
    leaves, treedef = flatten(tree)
    return unflatten(
        treedef, [None if leaf is None else backend_of(leaf).xp.conj(leaf) for leaf in leaves]
    )


# elementwise_grad ---------------------------------------------------------------------------------


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
    fun: Callable[Concatenate[X, X1, P], Any], argnums: FirstTwo
) -> Callable[Concatenate[X, X1, P], tuple[X, X1]]: ...
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
        return _as_asked(recording.pull(outputs, seeds), argnums)

    return derivative


# vjp ----------------------------------------------------------------------------------------------


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
