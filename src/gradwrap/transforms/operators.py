"""Derivatives without full matrices: SciPy linear operators, and diagonals of Hessians."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.calls.diagonals import diagonal_of
from gradwrap.core.levels.wrapper import is_at
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.comparing import zeros_like
from gradwrap.core.values.tree import flatten, flatten_with_paths, unflatten
from gradwrap.errors import MissingToolError
from gradwrap.transforms.argnums import check_transform, described, name_of, selected
from gradwrap.transforms.arguments import passes_through
from gradwrap.transforms.batch import vmap
from gradwrap.transforms.derived import derived
from gradwrap.transforms.forward import jvp, linearize
from gradwrap.transforms.jacobian_blocks import differentiated
from gradwrap.transforms.jacobian_space import FlatAxis, as_asked, joined, rows_of
from gradwrap.transforms.raveling import Raveling, to_host
from gradwrap.transforms.reverse import grad, vjp
from gradwrap.transforms.stretches import in_stretches
from gradwrap.transforms.typed import typed_as_hessian_diagonal

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.typing.signatures import F1, Argnums, ChunkSize, P, X
    from gradwrap.typing.sparse import LinearOperator


def linear_operator(fun: F1[X, P, Any], x: X) -> LinearOperator:
    """Return the Jacobian of a function at a point as a SciPy linear operator.

    Its products are Jacobian-vector products, forward and backward; the matrix itself is never
    computed. Use it with `scipy.sparse.linalg.gmres`, `lsqr`, `svds`, `eigs` and similar functions.
    `fun` runs once for each direction that is used; after that, a product costs about as much as a
    gradient.

    Parameters
    ----------
    fun
        A function of an array or a container of arrays, which returns such a value too.
    x
        The point.

    Returns
    -------
    A `scipy.sparse.linalg.LinearOperator` of the shape of the Jacobian, with a row for each element
    of the output and a column for each of `x`, in the order of `ravel_pytree`. It takes and returns
    NumPy's arrays.

    Raises
    ------
    NotAnArrayError
        `x` does not hold an array, or `fun` does not return one.
    MissingToolError
        SciPy is not installed.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> from scipy.sparse.linalg import gmres
    >>> def residual(x):
    ...     return 4.0 * x + np.sin(np.roll(x, 1)) - 1.0
    >>> x = np.zeros(1000)
    >>> for _ in range(4):  # Newton's method
    ...     step, _ = gmres(gw.linear_operator(residual, x), -residual(x), rtol=1e-10)
    ...     x = x + step
    >>> bool(np.max(np.abs(residual(x))) < 1e-12)
    True
    """
    try:
        operator: Any = import_module("scipy.sparse.linalg").LinearOperator
    except ModuleNotFoundError as error:
        raise MissingToolError(
            "gradwrap.linear_operator needs SciPy, which is not installed. Fix: pip install scipy."
        ) from error
    made = _Products(fun, x)
    return operator(  # type: ignore[no-any-return]  # SciPy has no types
        (made.rows.size, made.columns.size),
        matvec=made.forward,
        rmatvec=made.backward,
        matmat=made.forward_all,
        rmatmat=made.backward_all,
        dtype=to_host(made.rows.flat).dtype,
    )


class _Products:
    """The products of a Jacobian with vectors, as functions of NumPy's vectors."""

    def __init__(self, fun: Callable[..., Any], x: Any) -> None:
        self.columns = Raveling(x, "x")
        self.at: Any = self.columns.flat  # a copy, whatever is written to x
        self.fun = fun
        out, self._pull = vjp(self._of_vector, self.at)
        self.rows = Raveling(out, f"what {name_of(fun)} returned")

    def _of_vector(self, vector: Any) -> Any:
        return self.fun(self.columns.tree(vector))

    @functools.cached_property
    def _push(self) -> Callable[[Any], Any]:
        return linearize(lambda v: Raveling(self._of_vector(v)).flat, self.at)[1]

    def _pulled(self, vector: Any) -> Any:
        return self._pull(self.rows.tree(vector, is_gradient=True))[0]

    def forward(self, vector: Any) -> Any:
        """Multiply the Jacobian by a vector."""
        return to_host(self._push(_like(np.ravel(vector), self.at)))

    def backward(self, vector: Any) -> Any:
        """Multiply the adjoint of the Jacobian by a vector."""
        return to_host(self._pulled(_like(np.ravel(vector), self.rows.flat)))

    def forward_all(self, matrix: Any) -> Any:
        """Multiply the Jacobian by a matrix: by all of its columns at once."""
        return to_host(vmap(self._push, 1, 1, fallback="loop")(_like(matrix, self.at)))

    def backward_all(self, matrix: Any) -> Any:
        """Multiply the adjoint of the Jacobian by a matrix."""
        return to_host(vmap(self._pulled, 1, 1, fallback="loop")(_like(matrix, self.rows.flat)))


def _like(array: Any, like: Any) -> Any:
    """Convert a NumPy array to the library, dtype and device of another array."""
    backend = backend_of(like)
    found = backend.asarray(array, like) if backend.name != "numpy" else np.asarray(array)
    return backend.xp.astype(found, like.dtype)


# The diagonal of a Hessian ------------------------------------------------------------------------


@typed_as_hessian_diagonal
def hessian_diagonal(
    fun: Callable[..., Any], argnums: int | str = 0, *, chunk_size: ChunkSize = None
) -> Callable[..., Any]:
    """Return a function for the diagonal of the Hessian of a scalar function.

    The result is exact: there is one product with the Hessian for each element, all in one batched
    pass. If `fun` is a sum of functions of single elements, no matrix is computed.

    Parameters
    ----------
    fun
        A function that returns a real scalar.
    argnums
        The argument to differentiate: a position or a name.
    chunk_size
        The number of products to compute at a time; all by default. A text such as `"64 MiB"`
        bounds the bytes of the pass, as in `jacrev`.

    Returns
    -------
    A function of the same parameters. It returns the second derivative of each element in the
    structure of the argument.

    Raises
    ------
    NonScalarOutputError
        The output is not a real scalar.
    NonDifferentiableInputError
        The argument has an integer, bool, object or complex dtype.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.hessian_diagonal(lambda x: np.sum(x**3) + x[0] * x[1])(np.array([1.0, 2.0]))
    array([ 6., 12.])
    """
    check_transform("hessian_diagonal", fun, argnums)
    gradient: Callable[..., Any] = grad(fun, argnums)

    @derived(fun, hessian_diagonal, argnums, chunk_size=chunk_size)
    def diagonal(*args: Any, **kwargs: Any) -> Any:
        (place,) = selected(fun, argnums, args, kwargs)
        given: dict[int | str, Any] = dict[int | str, Any](enumerate(args)) | dict(kwargs.items())

        def of_one(value: Any) -> Any:
            now = given | {place: value}
            return gradient(
                *(now[i] for i in range(len(args))), **{key: now[key] for key in kwargs}
            )

        return _diagonal(of_one, given[place], described(fun, place), argnums, chunk_size)

    return diagonal


def _diagonal(
    gradient: Callable[[Any], Any], value: Any, name: str, argnums: Argnums, chunk_size: ChunkSize
) -> Any:
    """Return the diagonal of a gradient's Jacobian, in the structure of the argument."""
    pairs, treedef = flatten_with_paths(value, name)
    leaves = [
        None
        if passes_through(leaf) and not treedef.is_lone
        else differentiated(leaf, gradient, holomorphic=False, path=path)
        for path, leaf in pairs
    ]
    space = FlatAxis(leaves)
    parts: list[list[Any]] = [[] for _ in leaves]

    def products(first: int, last: int) -> None:
        tangents = unflatten(treedef, space.basis(first, last))
        pushed = flatten(jvp(gradient, (value,), (tangents,))[1])[0]
        start = 0
        for part, leaf, size, found in zip(parts, leaves, space.sizes, pushed, strict=True):
            low, high = max(first, start), min(last, start + size)
            if leaf is not None and low < high:
                columns = slice(low - start, high - start)
                part.append(
                    _part(found, leaf, space.level, slice(low - first, high - first), columns)
                )
            start += size

    in_stretches(space.total, chunk_size, space.some, products)
    found = [
        None if leaf is None else _shaped(part, leaf)
        for part, leaf in zip(parts, leaves, strict=True)
    ]
    return as_asked([found], [treedef], argnums)[0]


def _part(found: Any, leaf: Any, level: int, rows: slice, columns: slice) -> Any:
    """Return a stretch of the diagonal from a batch of rows."""
    known = diagonal_of(found)
    if known is not None:
        return known[columns]
    block = rows_of(found, leaf, found._node.size if is_at(found, level) else rows.stop, level)
    xp = backend_of(block).xp
    flat = xp.reshape(block, (block.shape[0], -1))
    return xp.linalg.diagonal(flat[rows, columns])


def _shaped(parts: list[Any], leaf: Any) -> Any:
    """Reshape a diagonal to the shape of its array."""
    whole = joined(parts) if parts else zeros_like(leaf)
    return backend_of(whole).xp.reshape(whole, leaf.shape)
