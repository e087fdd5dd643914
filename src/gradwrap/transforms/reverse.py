"""Reverse mode: run a function on wrapped arguments, then walk back what it recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gradwrap.core.backend import backend_of
from gradwrap.core.engine import backward_pass
from gradwrap.core.modes import _differentiating, new_level
from gradwrap.core.scatter import zeros_of
from gradwrap.core.tape import own_buffers
from gradwrap.core.tree import TreeDef, flatten, flatten_with_paths, unflatten
from gradwrap.core.variable import Variable
from gradwrap.errors import BackwardError, NonScalarOutputError, NotAnArrayError
from gradwrap.transforms.arguments import (
    Argnums,
    Tracked,
    is_array,
    selected,
    unwrapped,
    wrapped_untracked,
)

__all__ = ["Recording", "elementwise_grad", "grad", "value_and_grad", "vjp"]


class Recording:
    """A function's run on wrapped arguments: what came out, and what it was made from."""

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: Argnums,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.level = new_level()
        self.tracked: list[Tracked] = []
        places: dict[int | str, Tracked] = {}
        for name, place in selected(fun, argnums, args, kwargs):
            if place not in places:
                value = args[place] if isinstance(place, int) else kwargs[place]
                places[place] = Tracked(value, name, self.level)
            self.tracked.append(places[place])
        entered = [
            places[i].value if i in places else wrapped_untracked(arg) for i, arg in enumerate(args)
        ]
        named = {
            key: places[key].value if key in places else wrapped_untracked(value)
            for key, value in kwargs.items()
        }
        token = _differentiating.set(True)
        try:
            self.out = fun(*entered, **named)
        finally:
            _differentiating.reset(token)

    def unwrapped(self, tree: Any) -> Any:
        return unwrapped(tree, self.level)

    def is_tracked(self, value: Any) -> bool:
        """Whether a value was computed from the arguments under differentiation."""
        return (
            isinstance(value, Variable)
            and value._node is not None
            and value._node.meta.level == self.level
        )

    def pull(
        self, outputs: Sequence[Any], cotangents: Sequence[Any], *, keep: bool = False
    ) -> list[Any]:
        """The gradients of the tracked arguments, each in its argument's form."""
        roots = [
            (output._node, cotangent)
            for output, cotangent in zip(outputs, cotangents, strict=True)
            if self.is_tracked(output)
        ]
        arrived = backward_pass(roots, retain_graph=keep)
        leaves = [leaf for tracked in self.tracked for leaf in tracked.leaves]
        originals = [value for tracked in self.tracked for value in tracked.originals]
        gradients = [
            arrived[leaf] if leaf in arrived else _zeros(leaf, original)
            for leaf, original in zip(leaves, originals, strict=True)
        ]
        own_buffers(gradients, cotangents)
        iterator = iter(gradients)
        return [
            tracked.restored([next(iterator) for _ in tracked.leaves]) for tracked in self.tracked
        ]


def _zeros(leaf: Any, original: Any) -> Any:
    """The gradient of an argument that the output does not depend on."""
    if not hasattr(original, "shape"):
        original = (
            type(leaf.meta.dtype.type(0))(0) if hasattr(leaf.meta.dtype, "type") else original
        )
    return zeros_of(backend_of(original).xp, leaf.meta)


def _scalar_output(recording: Recording, out: Any, name: str, holomorphic: bool) -> Any:
    """Check that a function's output has a gradient, and give the cotangent to start from."""
    if not isinstance(out, Variable) and not is_array(out) and not _is_number(out):
        raise NotAnArrayError(
            f"grad needs a function that returns a real scalar; {name} returned "
            f"{'None' if out is None else 'a ' + type(out).__name__}. Fix: return the scalar "
            "alone, or with has_aux=True a pair (scalar, anything)."
        )
    shape = tuple(getattr(out, "shape", ()))
    if shape != ():
        raise NonScalarOutputError(
            f"grad needs a scalar output; {name} returned shape {shape}. Fix: reduce it, for "
            "example with .sum(); or use gradwrap.vjp, which takes a cotangent of that shape, or "
            "gradwrap.elementwise_grad for an elementwise function."
        )
    if not recording.is_tracked(out):
        return None
    if out._node.meta.is_complex != holomorphic:
        raise NonScalarOutputError(
            f"{name} returned a {'complex' if not holomorphic else 'real'} scalar, "
            f"{out.dtype}. "
            + (
                "holomorphic=True needs a complex one."
                if holomorphic
                else "grad needs a real one. Fix: take .real or abs, or pass holomorphic=True for the "
                "complex derivative of a holomorphic function."
            )
        )
    return ones_of(out)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def ones_of(out: Any) -> Any:
    """A cotangent of ones for an output."""
    return out._backend.ones_like(out._data)


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
    name = getattr(fun, "__name__", type(fun).__name__)

    @functools.wraps(fun)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        out = recording.out
        aux = None
        if has_aux:
            if not isinstance(out, tuple) or len(out) != 2:
                raise NotAnArrayError(
                    f"has_aux=True needs a function that returns a pair (scalar, aux); {name} "
                    f"returned a {type(out).__name__}. Fix: return scalar, aux."
                )
            out, aux = out
        seed = _scalar_output(recording, out, name, holomorphic)
        gradients = recording.pull([out], [seed])
        if holomorphic:
            gradients = [_conjugated(g) for g in gradients]
        value = recording.unwrapped(out)
        gradient = gradients[0] if isinstance(argnums, (int, str)) else tuple(gradients)
        return ((value, recording.unwrapped(aux)) if has_aux else value), gradient

    return value_and_gradient


def _conjugated(tree: Any) -> Any:
    leaves, treedef = flatten(tree)
    return unflatten(treedef, [backend_of(leaf).xp.conj(leaf) for leaf in leaves])


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
    the same library, dtype, shape and device; a tuple of them if `argnums` is a sequence. The
    gradient of a real function of a complex argument points in the direction of steepest ascent,
    the conjugate of what JAX returns.

    Raises
    ------
    NonDifferentiableInputError
        An argument has an integer, bool or object dtype.
    NonScalarOutputError
        The output is not a scalar, or is complex without `holomorphic`.
    ArgnumsError
        `argnums` is out of range, or names no parameter.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.grad(lambda x: np.sum(np.sin(x)))(np.array([0.0, np.pi]))
    array([ 1., -1.])
    >>> gw.grad(gw.grad(lambda x: x**3))(2.0)
    np.float64(12.0)
    """
    both = value_and_grad(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def elementwise_grad(fun: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The derivative of an elementwise function at each element.

    It is the gradient of the sum of the outputs: right where each output depends on one
    element of the argument.

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
        seeds = [ones_of(out) if isinstance(out, Variable) else None for out in outputs]
        gradients = recording.pull(outputs, seeds)
        return gradients[0] if isinstance(argnums, (int, str)) else tuple(gradients)

    return derivative


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
    out, aux = recording.out if has_aux else (recording.out, None)
    outputs, treedef = flatten(out)
    value = recording.unwrapped(out)

    def vjp_fun(cotangent: Any) -> tuple[Any, ...]:
        given = _checked_cotangents(cotangent, outputs, treedef)
        return tuple(recording.pull(outputs, given, keep=True))

    return (value, vjp_fun, recording.unwrapped(aux)) if has_aux else (value, vjp_fun)


def _checked_cotangents(cotangent: Any, outputs: list[Any], treedef: TreeDef) -> list[Any]:
    """The leaves of a cotangent, each of the shape and dtype of its output."""
    pairs, given = flatten_with_paths(cotangent, "cotangent")
    if given != treedef:
        raise BackwardError(
            f"the cotangent has the structure {given}, the output has {treedef}. "
            "Fix: pass the structure of the output."
        )
    checked = []
    for (path, leaf), output in zip(pairs, outputs, strict=True):
        if not isinstance(output, Variable):
            checked.append(None)
            continue
        if not hasattr(leaf, "dtype"):
            leaf = _like_output(leaf, output)  # noqa: PLW2901
        if tuple(leaf.shape) != output.shape or leaf.dtype != output.dtype:
            raise BackwardError(
                f"{path} is {leaf.dtype}{list(leaf.shape)}, the output is "
                f"{output.dtype}{list(output.shape)}. Fix: pass the output's shape and dtype."
            )
        checked.append(leaf)
    return checked


def _like_output(value: Any, output: Variable[Any]) -> Any:
    """A Python number (or list) as a cotangent of the output's dtype."""
    backend = output._backend
    return (
        backend.ones_like(output._data) * value
        if isinstance(value, (int, float))
        else (backend.asarray(value))
    )
