"""Jacobians and Hessians: all rows, or all columns, in one batched pass."""

from __future__ import annotations

import functools
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    TypeVarTuple,
    overload,
)

from gradwrap.core.backend import backend_of
from gradwrap.core.batched import Batched
from gradwrap.core.modes import new_level
from gradwrap.core.record import UNTRACKED
from gradwrap.core.scatter import zeros_of
from gradwrap.core.tree import flatten, flatten_with_paths, unflatten
from gradwrap.errors import NonDifferentiableInputError, NonScalarOutputError, NotAnArrayError
from gradwrap.transforms.arguments import (
    Argnums,
    default_scalar,
    described,
    differentiable,
    is_array,
    name_of,
    passes_through,
    selected,
    unwrapped,
)
from gradwrap.transforms.batches import batch_of
from gradwrap.transforms.diagonal import diagonal_start
from gradwrap.transforms.forward import Linearization, jvp
from gradwrap.transforms.recording import Recording, ones_of, out_and_aux
from gradwrap.transforms.reverse import grad

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    # What a function of one array may return besides an array
    Number: TypeAlias = float | complex | np.number[Any]

__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev"]

P = ParamSpec("P")
A = TypeVar("A", bound=Any)
Aux = TypeVar("Aux")
No: TypeAlias = Literal[False]
Yes: TypeAlias = Literal[True]
First: TypeAlias = Literal[0]
Primals = TypeVarTuple("Primals")


class _Space:
    """The elements of several arrays as one axis: what a Jacobian's rows or columns are."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.arrays = arrays
        self.shapes = [None if a is None else tuple(a.shape) for a in arrays]
        self.sizes = [0 if a is None else _size(a) for a in arrays]
        self.total = sum(self.sizes)
        self.level = new_level()

    def basis(self, first: int, last: int) -> list[Any]:
        """The unit vectors from one number to another: for each array its part of all of them."""
        count = last - first
        level = self.level
        parts: list[Any] = []
        start = 0
        for array, size in zip(self.arrays, self.sizes, strict=True):
            if array is None:
                parts.append(None)
                continue
            backend = backend_of(array)
            xp = backend.xp
            meta = backend.meta(array, level)
            rows = xp.eye(count, size, k=first - start, dtype=meta.dtype, device=meta.device)
            is_identity = len(meta.shape) == 1 and size == count and first == start
            ones = backend.ones_like(array) if is_identity else None
            data = xp.reshape(rows, (count, *meta.shape))
            parts.append(batch_of(data, level, diagonal=ones))
            start += size
        return parts

    def split(self, xp: Any, whole: Any, index: int, axis: int) -> Any:
        """The stretch of an axis that belongs to one of the arrays, in its shape."""
        own = self.shapes[index]
        assert own is not None
        shape = whole.shape
        wanted = (*shape[:axis], *own, *shape[axis + 1 :])
        if self.sizes[index] != self.total:
            start = sum(self.sizes[:index])
            whole = whole[(slice(None),) * axis + (slice(start, start + self.sizes[index]), ...)]
        return whole if whole.shape == wanted else xp.reshape(whole, wanted)


def _size(array: Any) -> int:
    size = 1
    for length in array.shape:
        size *= length
    return size


def _chunks(total: int, chunk_size: int | None) -> list[tuple[int, int]]:
    if chunk_size is None:
        return [(0, total)]
    if chunk_size < 1:
        raise ValueError(f"chunk_size={chunk_size}. Fix: give a positive number of rows, or None.")
    return [
        (first, min(first + chunk_size, total)) for first in range(0, max(total, 1), chunk_size)
    ]


def _rows_of(found: Any, like: Any, count: int, level: int) -> Any:
    """What a batched pass found, batch axis first; zeros, or one value for all, spread out."""
    backend = backend_of(like)
    xp = backend.xp
    if found is None:
        zeros = zeros_of(xp, backend.meta(like, 0))
        return xp.broadcast_to(zeros, (count, *zeros.shape))
    node = getattr(found, "_node", None)
    if isinstance(found, Batched) and node is not None and node.meta.level == level:
        return found._data
    return xp.broadcast_to(found, (count, *found.shape))


def _joined(parts: list[Any], like: Any, axis: int) -> Any:
    xp = backend_of(like).xp
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=axis)


# Reverse ------------------------------------------------------------------------------------------


def _by_rows(
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: int | None
) -> list[list[Any]]:
    """For each output, the blocks of all leaves of the arguments: one batched backward pass."""
    for out in outputs:
        _check_output(recording.name, out, holomorphic)
    space = _Space([out._data if recording.is_tracked(out) else None for out in outputs])
    leaves = _leaves_of(recording)
    rows: list[list[Any]] = [[] for _ in leaves]
    arriving = _arriving(recording, outputs, space)
    for first, last in _chunks(space.total, chunk_size):
        arrived = arriving(first, last)
        for part, (leaf, original) in zip(rows, leaves, strict=True):
            if leaf is not None:
                part.append(_rows_of(arrived.get(leaf[0]), original, last - first, space.level))
    whole = [_joined(part, part[0], 0) if part else None for part in rows]
    blocks = []
    for index, out in enumerate(outputs):
        block: list[Any] = []
        for one, (_, original) in zip(whole, leaves, strict=True):
            if one is None:
                block.append(None)
            elif space.arrays[index] is None:
                block.append(_zero_block(out, original))
            else:
                xp = backend_of(one).xp
                found = space.split(xp, one, index, 0)
                block.append(xp.conj(found) if holomorphic else found)
        blocks.append(block)
    return blocks


def _arriving(recording: Recording, outputs: Sequence[Any], space: _Space) -> Callable[..., Any]:
    """What arrives at the leaves for a stretch of the rows, by the cheapest way there is."""
    if len(outputs) == 1 and space.total == 1:
        return lambda first, last: recording.arrived(outputs, [ones_of(outputs[0])])
    if len(outputs) == 1 and space.total:
        start = diagonal_start(outputs[0])
        return lambda first, last: start.arrived(first, last, space.level)
    return lambda first, last: recording.arrived(outputs, space.basis(first, last))


def _leaves_of(recording: Recording) -> list[tuple[Any, Any]]:
    """The leaves of the arguments, None where nothing is differentiated, and their arrays."""
    return [
        (leaf, None if leaf is None else _array(original))
        for tracked in recording.tracked
        for leaf, original in zip(tracked.leaves, tracked.originals, strict=True)
    ]


def _array(original: Any) -> Any:
    return original if is_array(original) else default_scalar(original)


def _zero_block(out: Any, original: Any) -> Any:
    backend = backend_of(original)
    meta = backend.meta(original, 0)
    shape = (*tuple(getattr(out, "shape", ())), *meta.shape)
    return backend.xp.zeros(shape, dtype=meta.dtype, device=meta.device)


def _check_is_array(name: str, out: Any) -> None:
    if not is_array(out):
        raise NotAnArrayError(
            f"a Jacobian needs a function that returns arrays; {name} returned a "
            f"{type(out).__name__}. Fix: return arrays alone, or with has_aux=True a pair."
        )


def _check_output(name: str, out: Any, holomorphic: bool) -> None:
    _check_is_array(name, out)
    is_complex = backend_of(out).dtype_kind(out.dtype)[1]
    if is_complex and not holomorphic:
        raise NonScalarOutputError(
            f"jacrev needs real outputs; {name} returned {out.dtype}. Fix: pass holomorphic=True "
            "for the complex derivative of a holomorphic function, or use jacfwd for a function "
            "of real arguments."
        )


@overload
def jacrev(
    fun: np.ufunc,
    argnums: Argnums = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
@overload
def jacrev(
    fun: Callable[Concatenate[A, P], A | Number],
    argnums: First = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[A, P], A]: ...
@overload
def jacrev(
    fun: Callable[Concatenate[A, P], tuple[A | Number, Aux]],
    argnums: First = 0,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[A, P], tuple[A, Aux]]: ...
@overload
def jacrev(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
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
        blocks = _by_rows(recording, outputs, holomorphic, chunk_size)
        found = unflatten(treedef, [_as_asked(recording, block, argnums) for block in blocks])
        return (found, recording.unwrapped(aux)) if has_aux else found

    return jacobian_of


def _as_asked(recording: Recording, block: Sequence[Any], argnums: Argnums) -> Any:
    """The blocks of one output, in the structure of the arguments."""
    parts = iter([None if one is None else _owned(one) for one in block])
    trees = [
        unflatten(tracked.treedef, [next(parts) for _ in tracked.originals])
        for tracked in recording.tracked
    ]
    return trees[0] if isinstance(argnums, (int, str)) else tuple(trees)


def _owned(block: Any) -> Any:
    """An array whose buffer is its own, without wrappers that track nothing."""
    block = unwrapped(block, UNTRACKED)
    if hasattr(type(block), "_bind"):
        return block
    backend = backend_of(block)
    return block if backend.owns_buffer(block) else backend.copy(block)


# Forward ------------------------------------------------------------------------------------------


@overload
def jacfwd(
    fun: np.ufunc,
    argnums: Argnums = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
@overload
def jacfwd(
    fun: Callable[Concatenate[A, P], A | Number],
    argnums: First = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[A, P], A]: ...
@overload
def jacfwd(
    fun: Callable[Concatenate[A, P], tuple[A | Number, Aux]],
    argnums: First = 0,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[A, P], tuple[A, Aux]]: ...
@overload
def jacfwd(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
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
        places = list(dict.fromkeys(selected(fun, argnums, args, kwargs)))
        chosen = [args[p] if isinstance(p, int) else kwargs[p] for p in places]

        def of_chosen(*values: Any) -> Any:
            given, named = list(args), dict(kwargs)
            for place, value in zip(places, values, strict=True):
                if isinstance(place, int):
                    given[place] = value
                else:
                    named[place] = value
            return fun(*given, **named)

        functools.update_wrapper(of_chosen, fun, assigned=("__name__",), updated=())
        flattened = [flatten(value) for value in chosen]
        leaves = [
            _differentiated(leaf, fun, holomorphic, path)
            for place, value in zip(places, chosen, strict=True)
            for path, leaf in flatten_with_paths(value, described(fun, place))[0]
        ]
        space = _Space(leaves)
        chunks = []
        aux: Any = None
        treedef: Any = None
        values: list[Any] = []
        for first, last in _chunks(space.total, chunk_size):
            basis = iter(space.basis(first, last))
            tangents = [unflatten(td, [next(basis) for _ in ls]) for ls, td in flattened]
            pushed = jvp(of_chosen, chosen, tangents, has_aux=has_aux)  # type: ignore[call-overload]  # a bool
            aux = pushed[-1] if has_aux else None
            values, treedef = flatten(pushed[0])
            for out in values:
                _check_is_array(name_of(fun), out)
            found, _ = flatten(pushed[1])
            chunks.append(
                [
                    _columns(one, out, last - first, space.level)
                    for one, out in zip(found, values, strict=True)
                ]
            )
        results: list[Any] = []
        for index, out in enumerate(values):
            blocks = iter(_column_blocks(space, out, [chunk[index] for chunk in chunks]))
            trees = [unflatten(td, [next(blocks) for _ in ls]) for ls, td in flattened]
            ordered = [trees[places.index(p)] for p in selected(fun, argnums, args, kwargs)]
            results.append(ordered[0] if isinstance(argnums, (int, str)) else tuple(ordered))
        found = unflatten(treedef, results)
        return (found, aux) if has_aux else found

    return jacobian_of


def _differentiated(leaf: Any, fun: Callable[..., Any], holomorphic: bool, path: str) -> Any:
    """A leaf of an argument as an array; None for one that passes through."""
    if passes_through(leaf):
        return None
    array, backend = differentiable(leaf, f"argument {path}")
    if backend.dtype_kind(array.dtype)[1] and not holomorphic:
        raise NonDifferentiableInputError(
            f"jacfwd needs real arguments; {getattr(fun, '__name__', 'the function')} was called "
            f"with {array.dtype}. Fix: pass holomorphic=True for the complex derivative of a "
            "holomorphic function, or use jacrev for a function with real outputs."
        )
    return array


def _column_blocks(space: _Space, out: Any, parts: list[Any]) -> list[Any]:
    """The blocks of one output for all arrays of a space, from its columns in stretches."""
    if parts[0] is None:
        return [None if a is None else _zero_block(out, a) for a in space.arrays]
    rank = len(out.shape)
    whole = _joined(parts, parts[0], rank)
    xp = backend_of(whole).xp
    return [
        None if a is None else _owned(space.split(xp, whole, k, rank))
        for k, a in enumerate(space.arrays)
    ]


def _columns(tangent: Any, out: Any, count: int, level: int) -> Any:
    """The tangents of an output for a batch of directions, the directions along the last axis."""
    if tangent is None:
        return None
    rows = _rows_of(tangent, _array(out), count, level)
    return backend_of(rows).xp.moveaxis(rows, 0, -1)


# Both ---------------------------------------------------------------------------------------------


@overload
def jacobian(
    fun: np.ufunc,
    argnums: Argnums = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
@overload
def jacobian(
    fun: Callable[Concatenate[A, P], A | Number],
    argnums: First = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[A, P], A]: ...
@overload
def jacobian(
    fun: Callable[Concatenate[A, P], tuple[A | Number, Aux]],
    argnums: First = 0,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[A, P], tuple[A, Aux]]: ...
@overload
def jacobian(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
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
        rows = sum(_size(o) for o in outputs if recording.is_tracked(o))
        if rows <= inputs:
            blocks = _by_rows(recording, outputs, holomorphic, chunk_size)
        else:
            blocks = _by_columns(recording, outputs, holomorphic, chunk_size)
        found = unflatten(treedef, [_as_asked(recording, block, argnums) for block in blocks])
        return (found, recording.unwrapped(aux)) if has_aux else found

    return jacobian_of


def _by_columns(
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: int | None
) -> list[list[Any]]:
    """The same blocks as `_by_rows`, from the linearisation: one pass for all columns."""
    for out in outputs:
        _check_output(recording.name, out, holomorphic)
    leaves = _leaves_of(recording)
    originals = [original for _, original in leaves]
    nodes = [leaf for leaf, _ in leaves]
    space = _Space(originals)
    linear = Linearization(recording, outputs)
    chunks = []
    for first, last in _chunks(space.total, chunk_size):
        starts = [
            (leaf[0], tangent)
            for leaf, tangent in zip(nodes, space.basis(first, last), strict=True)
            if leaf is not None
        ]
        pushed = linear.push(starts)
        chunks.append(
            [
                _columns_or_none(one, out, last - first, space.level)
                for one, out in zip(pushed, outputs, strict=True)
            ]
        )
    return [
        _column_blocks(space, out, [chunk[index] for chunk in chunks])
        for index, out in enumerate(outputs)
    ]


def _columns_or_none(tangent: Any, out: Any, count: int, level: int) -> Any:
    return None if tangent is None else _columns(tangent, out._data, count, level)


@overload
def hessian(
    fun: np.ufunc,
    argnums: Argnums = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
@overload
def hessian(
    fun: Callable[Concatenate[A, P], Any],
    argnums: First = 0,
    *,
    has_aux: No = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[A, P], A]: ...
@overload
def hessian(
    fun: Callable[Concatenate[A, P], tuple[Any, Aux]],
    argnums: First = 0,
    *,
    has_aux: Yes,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[A, P], tuple[A, Aux]]: ...
@overload
def hessian(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
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
def hvp(fun: Callable[[A], Any], primals: A, tangents: A) -> A: ...
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
    if not isinstance(primals, (tuple, list)):
        return jvp(grad(fun), (primals,), (tangents,))[1]
    gradient = grad(fun, tuple(range(len(primals))))
    return jvp(gradient, tuple(primals), tangents)[1]
