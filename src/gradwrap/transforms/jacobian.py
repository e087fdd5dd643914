"""Jacobians: all rows, or all columns, in one batched pass."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.space import size_of
from gradwrap.core.tree import flatten, unflatten
from gradwrap.transforms.jacobian_columns import by_columns, forward_columns
from gradwrap.transforms.jacobian_rows import as_asked, by_rows
from gradwrap.transforms.jacobian_types import typed_as_jacobian
from gradwrap.transforms.recording import Recording, out_and_aux

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.transforms.arguments import Argnums


__all__ = ["jacfwd", "jacobian", "jacrev"]


@typed_as_jacobian
def jacrev(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The Jacobian by reverse mode: one backward pass for all rows at once.

    Parameters
    ----------
    fun
        A function that returns real arrays, or pytrees of them.
    argnums
        The arguments to differentiate for, as in `grad`.
    has_aux
        `fun` returns a pair `(out, aux)`; the result is a pair `(jacobian, aux)`.
    holomorphic
        `fun` is holomorphic: complex arguments, complex outputs, the complex derivative.
    chunk_size
        How many rows at a time; all by default. Bounds the memory of the pass.

    Returns
    -------
    A function of the arguments of `fun`. It gives, in the structure of the output, for each of its
    arrays the structure of the argument (a tuple, for several), with arrays of shape
    `(*output.shape, *argument.shape)`.

    Raises
    ------
    NonScalarOutputError
        A complex output, without `holomorphic`.
    NonDifferentiableInputError
        An argument of an integer, bool or object dtype.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.jacrev(np.square)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    @functools.wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        out, aux = out_and_aux(recording.name, recording.out, has_aux)
        outputs, treedef = flatten(out)
        blocks = by_rows(recording, outputs, holomorphic, chunk_size)
        found = unflatten(treedef, as_asked(recording, blocks, argnums))
        return (found, recording.unwrapped(aux)) if has_aux else found

    return jacobian_of


@typed_as_jacobian
def jacfwd(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The Jacobian by forward mode: one forward pass for all columns at once.

    Parameters and result are those of `jacrev`; with `chunk_size`, `fun` runs once for each
    stretch of that many columns. Arguments are real, unless `holomorphic`; outputs may be complex.

    Raises
    ------
    NonDifferentiableInputError
        An argument of an integer, bool or object dtype, or a complex one without `holomorphic`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.jacfwd(np.square)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    @functools.wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        return forward_columns(
            fun,
            argnums,
            args,
            kwargs,
            has_aux=has_aux,
            holomorphic=holomorphic,
            chunk_size=chunk_size,
        )

    return jacobian_of


@typed_as_jacobian
def jacobian(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The Jacobian by the mode that needs fewer passes: by rows or by columns.

    `fun` runs once, whichever it is. Parameters, result and errors are those of `jacrev`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.jacobian(lambda x: np.stack([x[0] * x[1], x[0] + x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 1.]])
    """

    @functools.wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        out, aux = out_and_aux(recording.name, recording.out, has_aux)
        outputs, treedef = flatten(out)
        leaves = [leaf for tracked in recording.tracked for leaf in tracked.leaves]
        inputs = sum(0 if leaf is None else leaf[0].meta.size for leaf in leaves)
        rows = sum(size_of(o.shape) for o in outputs if recording.is_tracked(o))
        if rows <= inputs:
            blocks = by_rows(recording, outputs, holomorphic, chunk_size)
        else:
            blocks = by_columns(recording, outputs, holomorphic, chunk_size)
        found = unflatten(treedef, as_asked(recording, blocks, argnums))
        return (found, recording.unwrapped(aux)) if has_aux else found

    return jacobian_of
