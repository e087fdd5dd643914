"""Reverse mode: gradients, vector-Jacobian products, derivatives of elementwise functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.record import Record
from gradwrap.core.values.tree import flatten, map_leaves
from gradwrap.transforms.argnums import check_transform, one_or_tuple
from gradwrap.transforms.derived import Derived, derived
from gradwrap.transforms.recording import (
    Recording,
    checked_cotangents,
    elementwise_seed,
    out_and_aux,
    scalar_seed,
    without_labels,
)
from gradwrap.transforms.typed import (
    typed_as_elementwise_grad,
    typed_as_grad,
    typed_as_value_and_grad,
    typed_as_vjp,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.typing.signatures import Argnums


@typed_as_grad
def grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Return a function for the gradient of `fun`, which returns a real scalar.

    Parameters
    ----------
    fun
        A function of arrays, or pytrees of arrays, of any library that follows the standard.
    argnums
        The arguments to differentiate: a position, a parameter's name, or a sequence of these.
    has_aux
        `fun` returns a pair `(scalar, aux)`; the gradient function returns `(gradient, aux)`.
    holomorphic
        Give the complex derivative of a holomorphic function of complex arguments.

    Returns
    -------
    callable
        A function of the same parameters. It returns the gradient in the structure of the argument,
        with the same library, dtype, shape and device; a tuple of gradients if `argnums` is a
        sequence. None, strings and other parts of a pytree that are not arrays pass through; the
        gradient has None in their place. The gradient of a real function of a complex argument
        points in the direction of steepest ascent; JAX returns its conjugate.

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
    check_transform("grad", fun, argnums)

    @derived(fun, grad, argnums, has_aux=has_aux, holomorphic=holomorphic)
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
    """Return a function for the value of `fun` and its gradient.

    With `has_aux`, the value is the pair that `fun` returned. Parameters, errors and
    conventions are those of `grad`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """
    check_transform("value_and_grad", fun, argnums)

    @derived(fun, value_and_grad, argnums, has_aux=has_aux, holomorphic=holomorphic)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        out, aux, found = _differentiated(recording, argnums, has_aux, holomorphic)
        value = recording.unwrapped(out)
        return ((value, recording.unwrapped(aux)) if has_aux else value), found

    return value_and_gradient


class Differentiated(Record):
    """The function whose gradient another one returns."""

    fun: Callable[..., Any]
    argnums: Argnums
    gives_value: bool
    """Whether the value comes before the gradient."""


def differentiated(function: Any) -> Differentiated | None:
    """Return what a result of `grad` or `value_and_grad` differentiates; None for other functions.

    Functions with `has_aux` or `holomorphic` count as others.
    """
    if not isinstance(function, Derived):
        return None
    transform, (fun, *argnums), options = function.making
    if transform not in (grad, value_and_grad) or any(options.values()):
        return None
    return Differentiated(fun, argnums[0], transform is value_and_grad)


def _differentiated(
    recording: Recording, argnums: Argnums, has_aux: bool, holomorphic: bool
) -> tuple[Any, Any, Any]:
    """Return the output, `aux`, and the gradient."""
    out, aux = out_and_aux(recording.name, recording.out, has_aux)
    scalar = without_labels(out)
    seed = scalar_seed(recording, scalar, holomorphic)
    gradients = recording.pull([scalar], [seed])
    if holomorphic:
        gradients = [map_leaves(_conjugated, g) for g in gradients]
    return out, aux, one_or_tuple(gradients, argnums)


def _conjugated(leaf: Any) -> Any:
    return None if leaf is None else backend_of(leaf).xp.conj(leaf)


@typed_as_elementwise_grad
def elementwise_grad(fun: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function for the derivative of an elementwise function at each element.

    This is the gradient of the sum of the outputs. It is right if each output depends on only one
    element of the argument. Arguments are as in `grad`; outputs are real arrays of any shape, or
    pytrees of them.

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
    check_transform("elementwise_grad", fun, argnums)

    @derived(fun, elementwise_grad, argnums)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        outputs, _ = flatten(recording.out)
        seeds = [elementwise_seed(recording, out) for out in outputs]
        return one_or_tuple(recording.pull(outputs, seeds), argnums)

    return derivative


@typed_as_vjp
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of `fun`, and a function that pulls cotangents back through it.

    Parameters
    ----------
    fun
        A function of arrays or pytrees of arrays, which returns such values too.
    primals
        Its arguments; all of them are differentiated.
    has_aux
        `fun` returns a pair `(out, aux)`; a third result gives `aux`.

    Returns
    -------
    tuple
        `out` and `vjp_fun`. `vjp_fun(cotangent)` takes a cotangent of the structure, shapes and
        dtypes of `out`, and returns a tuple with a gradient for each of `primals`. It may be called
        again; the saved values are kept as long as `vjp_fun` exists.

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
    recording = Recording(fun, range(len(primals)), primals, {}, lasting=True)
    out, aux = out_and_aux(recording.name, recording.out, has_aux)
    outputs, treedef = flatten(out)
    value = recording.handed_out(out)

    def vjp_fun(cotangent: Any) -> tuple[Any, ...]:
        given = checked_cotangents(cotangent, outputs, treedef)
        return tuple(recording.pull(outputs, given, keep=True))

    return (value, vjp_fun, recording.handed_out(aux)) if has_aux else (value, vjp_fun)
