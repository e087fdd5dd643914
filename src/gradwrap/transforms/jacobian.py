"""Jacobians, by rows or by columns: all of them in one batched pass; and Hessians."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.core.values.layouts import put
from gradwrap.core.values.tree import flatten
from gradwrap.transforms.argnums import check_transform
from gradwrap.transforms.derived import derived
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.jacobian_blocks import by_fewer, by_rows, chosen_untracked, forward_columns
from gradwrap.transforms.jacobian_space import arrays_among, as_asked, with_none
from gradwrap.transforms.recording import Recording, out_and_aux
from gradwrap.transforms.reverse import grad
from gradwrap.transforms.stretches import with_line
from gradwrap.transforms.typed import typed_as_hessian, typed_as_hvp, typed_as_jacobian

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.transforms.sparse_jacobian import Mode
    from gradwrap.typing.signatures import Argnums, ChunkSize


@typed_as_jacobian
def jacrev(  # noqa: PLR0913  its options
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: ChunkSize = None,
    sparsity: Any = None,
    progress: bool = False,
) -> Callable[..., Any]:
    """Return a function for the Jacobian by reverse mode: one backward pass for all rows.

    Parameters
    ----------
    fun
        A function that returns real arrays, or pytrees of them.
    argnums
        The arguments to differentiate, as in `grad`.
    has_aux
        `fun` returns a pair `(out, aux)`; the result is a pair `(jacobian, aux)`.
    holomorphic
        `fun` is holomorphic: complex arguments, complex outputs, the complex derivative.
    chunk_size
        The number of rows to compute at a time; all by default. A text such as `"64 MiB"` bounds
        the bytes that the pass of these rows needs at a time, beside the forward pass and the
        result; they are counted for NumPy's and CuPy's arrays.
    sparsity
        The entries of the Jacobian that may differ from zero: a matrix, dense or of `scipy.sparse`,
        with a row for each element of the output and a column for each element of the argument.
        Rows without a common column are then computed in one pass, and one more pass checks the
        pattern. "detect" finds it at the first call, from a trace of the function.
    progress
        Show the progress, with tqdm if that is installed. The rows are then computed in twenty
        parts, unless `chunk_size` is given.

    Returns
    -------
    callable
        A function of the arguments of `fun`. Its result has the structure of the output, with the
        structure of the argument (a tuple, for several arguments) in place of each array; the
        arrays in it have the shape `(*output.shape, *argument.shape)`. With `sparsity`, the result
        is a `scipy.sparse.csr_array` of the shape of the pattern; containers count as the vectors
        that `ravel_pytree` makes of them.

    Raises
    ------
    SparsityError
        `sparsity` does not have the shape of the Jacobian, or lacks an entry that is not zero.
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
    check_transform("jacrev", fun, argnums)
    if progress:
        options = _options(argnums, has_aux, holomorphic, chunk_size)
        return with_line(fun, functools.partial(jacrev, sparsity=sparsity, **options))
    if sparsity is not None:
        return _sparse(fun, argnums, has_aux, holomorphic, chunk_size, sparsity, "rows")
    return _from_recording(fun, argnums, has_aux, by_rows, holomorphic, chunk_size)


@typed_as_jacobian
def jacfwd(  # noqa: PLR0913  its options
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: ChunkSize = None,
    sparsity: Any = None,
    progress: bool = False,
) -> Callable[..., Any]:
    """Return a function for the Jacobian by forward mode: one forward pass for all columns.

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
    check_transform("jacfwd", fun, argnums)
    if progress:
        options = _options(argnums, has_aux, holomorphic, chunk_size)
        return with_line(fun, functools.partial(jacfwd, sparsity=sparsity, **options))
    if sparsity is not None:
        return _sparse(fun, argnums, has_aux, holomorphic, chunk_size, sparsity, "columns")

    @derived(fun, jacfwd, **_options(argnums, has_aux, holomorphic, chunk_size))
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        return forward_columns(fun, argnums, args, kwargs, has_aux, holomorphic, chunk_size)

    return jacobian_of


@typed_as_jacobian
def jacobian(  # noqa: PLR0913  its options
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: ChunkSize = None,
    sparsity: Any = None,
    progress: bool = False,
) -> Callable[..., Any]:
    """Return a function for the Jacobian, by rows or by columns, whichever are fewer.

    `fun` runs once in both cases. Parameters, result and errors are those of `jacrev`. With
    `sparsity`, it computes rows or columns, whichever need fewer passes.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.jacobian(lambda x: np.stack([x[0] * x[1], x[0] + x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 1.]])

    A sparse one, of a thousand columns in three passes, and one that checks the pattern:

    >>> import scipy.sparse
    >>> n = 1000
    >>> near = scipy.sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(n, n))
    >>> found = gw.jacobian(lambda x: np.gradient(x**2), sparsity=near)(np.ones(n))
    >>> found[[0, 1], :4].toarray()
    array([[-2.,  2.,  0.,  0.],
           [-1.,  0.,  1.,  0.]])
    """
    check_transform("jacobian", fun, argnums)
    if progress:
        options = _options(argnums, has_aux, holomorphic, chunk_size)
        return with_line(fun, functools.partial(jacobian, sparsity=sparsity, **options))
    if sparsity is not None:
        return _sparse(fun, argnums, has_aux, holomorphic, chunk_size, sparsity, "fewer")
    return _from_recording(fun, argnums, has_aux, by_fewer, holomorphic, chunk_size)


@typed_as_hessian
def hessian(  # noqa: PLR0913  its options
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: ChunkSize = None,
    sparsity: Any = None,
    progress: bool = False,
) -> Any:
    """Return a function for the matrix of second derivatives: one pass for all columns.

    It uses forward mode over reverse mode. Parameters and errors are those of `jacrev`. For an
    argument of shape `s` and an output of shape `o`, the result has the shape `(*o, *s, *s)`; for
    pytrees it is a tree of trees. With `sparsity`, `fun` returns a number, and the result is a
    `scipy.sparse.csr_array` with a row and a column for each element of the argument.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])

    A sparse one, in three passes, whose pattern is found:

    >>> def energy(u):
    ...     return np.sum(np.diff(u) ** 2) + np.sum(u**4)
    >>> gw.hessian(energy, sparsity="detect")(np.ones(1000))[[0, 1], :4].toarray()
    array([[14., -2.,  0.,  0.],
           [-2., 16., -2.,  0.]])
    """
    check_transform("hessian", fun, argnums)
    if progress:
        options = _options(argnums, has_aux, holomorphic, chunk_size)
        return with_line(fun, functools.partial(hessian, sparsity=sparsity, **options))
    if sparsity is not None:
        by_grad: Any = grad
        gradient = by_grad(fun, argnums, has_aux=has_aux)
        return _sparse(gradient, argnums, has_aux, holomorphic, chunk_size, sparsity, "columns")
    inner = jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return jacfwd(inner, argnums, has_aux=has_aux, holomorphic=holomorphic, chunk_size=chunk_size)


@typed_as_hvp
def hvp(fun: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """Return the product of a scalar function's Hessian and a vector, without the Hessian.

    Parameters
    ----------
    fun
        A function that returns a real scalar.
    primals
        Its arguments, as a tuple; or its one argument.
    tangents
        The vector to multiply the Hessian with, in the same structure, shapes and dtypes.

    Returns
    -------
    array or pytree
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


def _options(
    argnums: Argnums, has_aux: bool, holomorphic: bool, chunk_size: ChunkSize
) -> dict[str, Any]:
    """Return the options that all Jacobians have, by name."""
    flags = {"has_aux": has_aux, "holomorphic": holomorphic}
    return {"argnums": argnums, "chunk_size": chunk_size, **flags}


def _from_recording(  # noqa: PLR0913  the function, and the options of jacrev
    fun: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    blocks: Callable[[Recording, list[Any], bool, ChunkSize], list[list[Any]]],
    holomorphic: bool,
    chunk_size: ChunkSize,
) -> Callable[..., Any]:
    """Make the function that runs `fun` once, recorded, and finds the blocks from that."""

    @derived(fun, _from_recording, argnums, has_aux, blocks, holomorphic, chunk_size)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, *chosen_untracked(fun, argnums, args, kwargs))
        out, aux = out_and_aux(recording.name, recording.out, has_aux)
        outputs, treedef = flatten(out)
        treedefs = [tracked.treedef for tracked in recording.tracked]
        arrays = arrays_among(outputs, treedef)
        asked = as_asked(blocks(recording, arrays, holomorphic, chunk_size), treedefs, argnums)
        found = put(treedef, with_none(outputs, asked), "columns")
        return (found, recording.unwrapped(aux)) if has_aux else found

    return jacobian_of


def _sparse(  # noqa: PLR0913  the function, and the options of jacrev
    fun: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    chunk_size: ChunkSize,
    sparsity: Any,
    mode: Mode,
) -> Callable[..., Any]:
    """Make the function that runs `fun` once, recorded, and finds a sparse matrix from that."""
    from gradwrap.transforms.sparse_jacobian import Patterns, check_options

    check_options(argnums, holomorphic)
    patterns = Patterns(fun, argnums, has_aux, sparsity, mode)

    @derived(fun, _sparse, argnums, has_aux, holomorphic, chunk_size, sparsity, mode)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(fun, argnums, args, kwargs)
        out, aux = out_and_aux(recording.name, recording.out, has_aux)
        outputs, treedef = flatten(out)
        arrays = arrays_among(outputs, treedef)
        found = patterns.matrix(recording, arrays, args, kwargs, chunk_size)
        return (found, recording.unwrapped(aux)) if has_aux else found

    return jacobian_of
