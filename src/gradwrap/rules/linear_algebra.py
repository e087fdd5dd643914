"""Products and the simplest parts of the linear algebra extension."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from gradwrap.core.array.writing.views import SELECTION
from gradwrap.core.library.compat import device
from gradwrap.core.library.namespace import composite
from gradwrap.core.table.kinds import joint, linear, multilinear
from gradwrap.core.table.registry import find_op, register
from gradwrap.rules.axes import as_axes

if TYPE_CHECKING:
    from collections.abc import Sequence


def _matmul_left(xp: Any, g: Any, x2: Any) -> Any:
    """Return g x2^T for x1's cotangent; x1 is a vector if g has fewer axes than x2."""
    is_vector = g.ndim < x2.ndim
    if x2.ndim == 1:
        return (g if is_vector else xp.expand_dims(g, axis=-1)) * x2
    if not is_vector:
        return xp.matmul(g, xp.matrix_transpose(x2))
    if x2.ndim == 2:
        return xp.matmul(x2, g)
    return xp.matmul(xp.expand_dims(g, axis=-2), xp.matrix_transpose(x2))[..., 0, :]


def _matmul_right(xp: Any, g: Any, x1: Any) -> Any:
    """Return x1^T g for x2's cotangent; x2 is a vector if g has fewer axes than x1."""
    is_vector = g.ndim < x1.ndim
    if x1.ndim == 1:
        return g * x1 if is_vector else xp.expand_dims(x1, axis=-1) * xp.expand_dims(g, axis=-2)
    if not is_vector:
        return xp.matmul(xp.matrix_transpose(x1), g)
    if x1.ndim == 2:
        return xp.matmul(g, x1)
    return xp.matmul(xp.matrix_transpose(x1), xp.expand_dims(g, axis=-1))[..., 0]


def _cross(xp: Any, a: Any, b: Any, axis: int, meta: Any) -> Any:
    """Return a x b with the axes in the order of the argument's axes."""
    product = xp.linalg.cross(a, b, axis=axis)
    ndim = len(meta.shape)
    return product if axis < 0 or product.ndim == ndim else xp.moveaxis(product, axis, axis - ndim)


def _diagonal(xp: Any, g: Any, x_meta: Any, offset: int) -> Any:
    """Put a diagonal back into a matrix of zeros."""
    rows = x_meta.shape[-2]
    before = min(max(-offset, 0), rows)
    after = rows - before - g.shape[-1]
    if before or after:
        above, below = (
            xp.zeros((*g.shape[:-1], n), dtype=g.dtype, device=x_meta.device)
            for n in (before, after)
        )
        g = xp.concat([above, g, below], axis=-1)
    return _on_diagonal(xp, g[..., :, None], x_meta, offset)


def _on_diagonal(xp: Any, g: Any, x_meta: Any, offset: int) -> Any:
    """Return a matrix that is g on a diagonal, and zero elsewhere, also where g is infinite."""
    places = xp.eye(*x_meta.shape[-2:], k=offset, dtype=xp.bool, device=x_meta.device)
    return xp.where(places, g, 0.0)


def _einsum(
    xp: Any, g: Any, operands: Sequence[Any], metas: Sequence[Any], subscripts: str
) -> list[Any]:
    """Return each operand's cotangent: an einsum of g and the others, missing axes repeated."""
    inputs, output = parse_einsum(subscripts, [len(m.shape) for m in metas])
    cotangents: list[Any] = []
    for index, (letters, meta) in enumerate(zip(inputs, metas, strict=True)):
        rest = [other for i, other in enumerate(inputs) if i != index]
        arrays = [operand for i, operand in enumerate(operands) if i != index]
        known = set(output).union(*rest)
        unique = "".join(dict.fromkeys(letters))
        found = "".join(c for c in unique if c in known)
        part = contracted(xp, [output, *rest], found, [g, *arrays])
        lengths = dict(zip(letters, meta.shape, strict=True))
        shape = tuple(part.shape[found.index(c)] if c in found else 1 for c in unique)
        wanted = tuple(lengths[c] if n == 1 else n for c, n in zip(unique, shape, strict=True))
        whole = xp.broadcast_to(xp.reshape(part, shape), wanted)
        cotangents.append(_to_diagonals(xp, whole, unique, letters, lengths))
    return cotangents


def contracted(xp: Any, inputs: Sequence[str], output: str, arrays: Sequence[Any]) -> Any:
    """Compute an einsum; a single large matrix product is done by `matmul`."""
    if not is_large_product(inputs, output, arrays):
        return xp.einsum(",".join(inputs) + "->" + output, *arrays)
    lengths = _lengths(inputs, arrays)
    summed = [c for c in inputs[0] if c not in output]
    left, right = inputs
    batch = [c for c in left if c in right and c in output]
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]

    def matrices(x: Any, letters: str, *axes: Sequence[str]) -> Any:
        shape = [lengths[c] for c in batch]
        shape += [math.prod(lengths[c] for c in group) for group in axes]
        order = [letters.index(c) for group in (batch, *axes) for c in group]
        return xp.reshape(xp.permute_dims(x, tuple(order)), tuple(shape))

    product = xp.matmul(
        matrices(arrays[0], left, rows, summed), matrices(arrays[1], right, summed, columns)
    )
    made = [*batch, *rows, *columns]
    whole = xp.reshape(product, tuple(lengths[c] for c in made))
    return xp.permute_dims(whole, tuple(made.index(c) for c in output))


def is_large_product(inputs: Sequence[str], output: str, arrays: Sequence[Any]) -> bool:
    """Tell if an einsum is a single large product of two stacks of matrices."""
    if len(arrays) != 2 or any(len(set(letters)) < len(letters) for letters in inputs):
        return False
    lengths = _lengths(inputs, arrays)
    summed = {c for c in inputs[0] if c not in output}
    return (
        bool(summed)
        and summed == {c for c in inputs[1] if c not in output}
        and all(
            tuple(lengths[c] for c in letters) == tuple(a.shape)
            for letters, a in zip(inputs, arrays, strict=True)
        )
        and math.prod(lengths.values()) >= LARGE_PRODUCT
    )


def _lengths(inputs: Sequence[str], arrays: Sequence[Any]) -> dict[str, int]:
    return dict(zip("".join(inputs), (n for a in arrays for n in a.shape), strict=False))


LARGE_PRODUCT = 1 << 14
"""The number of multiplications from which an einsum costs more than `matmul` and its reshapes."""


def _to_diagonals(xp: Any, whole: Any, unique: str, letters: str, lengths: dict[str, int]) -> Any:
    """Put back the axes that share a letter, with zeros off their diagonal."""
    order: list[int] = []
    for position, letter in enumerate(letters):
        at, n = unique.index(letter), lengths[letter]
        if letters.index(letter) == position:
            order.append(at)
            continue
        order.append(whole.ndim)
        places = [1] * (whole.ndim + 1)
        places[at] = places[-1] = n
        eye = xp.eye(n, dtype=xp.bool, device=device(whole))
        whole = xp.where(xp.reshape(eye, tuple(places)), xp.expand_dims(whole, axis=-1), 0.0)
    return xp.permute_dims(whole, tuple(order))


def parse_einsum(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the letters of each operand and of the output, with the ellipsis written out."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in text]
    hidden = max(
        (rank - len(part) + 3 for part, rank in zip(inputs, ranks, strict=True) if "..." in part),
        default=0,
    )
    ellipsis = "".join(free[:hidden])
    expanded: list[Any] = []
    for part, rank in zip(inputs, ranks, strict=True):
        covered = rank - len(part.replace("...", ""))
        expanded.append(part.replace("...", ellipsis[len(ellipsis) - covered :]))
    if not arrow:
        letters = "".join(inputs).replace("...", "")
        output = ("..." if hidden else "") + "".join(
            sorted(c for c in set(letters) if letters.count(c) == 1)
        )
    return expanded, output.replace("...", ellipsis)


MATRICES = "-> xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset"
DIAGONAL = f"(a, offset=0, axis1=0, axis2=1) {MATRICES}"
TRACE = f"(a, offset=0, axis1=0, axis2=1, dtype=None, out=None) {MATRICES}, dtype=dtype"
RULES = [
    multilinear(
        "matmul",
        "x1, x2, /",
        _matmul_left,
        _matmul_right,
        symbol="@",
        samples=(
            "x(2, 3), x(3, 4)",
            "x(3), x(3)",
            "x(3), x(3, 2)",
            "x(2, 3), x(3)",
            "x(2, 1, 2, 3), x(4, 3, 2)",
            "x(5, 2, 3), x(3)",
            "x(3), x(5, 3, 2)",
        ),
        numpy="dot(a, b, out=None) when are_matrices(a, b)",
        batch="matmul",
        diagonal="matmul",
    ),
    multilinear(
        "linalg.matmul",
        "x1, x2, /",
        _matmul_left,
        _matmul_right,
        samples=("x(2, 3), x(3, 4)",),
        numpy="linalg.matmul",
        batch="matmul",
        diagonal="matmul",
    ),
    multilinear(
        "linalg.cross",
        "x1, x2, /, *, axis=-1",
        lambda xp, g, x2, axis, x1_meta: _cross(xp, x2, g, axis, x1_meta),
        lambda xp, g, x1, axis, x2_meta: _cross(xp, g, x1, axis, x2_meta),
        samples=(
            "x(3), x(3)",
            "x(2, 3), x(3)",
            "x(3, 2), x(3, 1), axis=-2",
            "x(4, 1, 3), x(2, 3)",
            "x(0, 3), x(3)",
        ),
        numpy="linalg.cross(x1, x2, /, *, axis=-1) -> x1, x2, axis=operator.index(axis)",
        batch="cross",
    ),
    linear(
        "linalg.diagonal",
        "x, /, *, offset=0",
        _diagonal,
        views=SELECTION,
        samples=("x(3, 4)", "x(2, 3, 3), offset=1", "x(4, 3), offset=-1"),
        numpy=("linalg.diagonal", f"diagonal{DIAGONAL}"),
        batch="last",
    ),
    linear(
        "linalg.trace",
        "x, /, *, offset=0, dtype=None",
        lambda xp, g, x_meta, offset: _on_diagonal(xp, g[..., None, None], x_meta, offset),
        samples=("x(3, 3)", "x(2, 3, 4), offset=1"),
        numpy=("linalg.trace", f"trace{TRACE}"),
        batch="last",
    ),
    joint(
        "einsum",
        "operands, subscripts, /",
        _einsum,
        variadic=True,
        views=SELECTION,
        native=lambda xp, operands, subscripts: xp.einsum(subscripts, *operands),
        samples=(
            "[x(2, 3), x(3, 4)], 'ij,jk->ik'",
            "[x(2, 3)], 'ij->j'",
            "[x(3, 3)], 'ii'",
            "[x(2, 3), x(2, 3)], '...j,...j'",
        ),
        batch="einsum",
    ),
]
register(RULES)


@composite("einsum")
def einsum(xp: Any, subscripts: str, *operands: Any, **_: Any) -> Any:
    """Compute sums of products, given by subscripts."""
    op = find_op("einsum")
    assert op is not None
    return xp._class._bind(op).call(list(operands), subscripts)  # noqa: SLF001  shared with the core


@composite("linalg.matrix_transpose")
def matrix_transpose(xp: Any, x: Any, /) -> Any:
    """Swap the last two axes."""
    return xp.matrix_transpose(x)


@composite("vecdot", "linalg.vecdot")
def vecdot(xp: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Sum conj(x1) x2 along an axis."""
    x1, x2, axis = xp.asarray(x1), xp.asarray(x2), operator.index(axis)
    for x in (x1, x2):
        as_axes(axis, x.ndim)  # raises if it is out of bounds
    if x1.shape[axis] != x2.shape[axis]:  # the other axes broadcast, this one does not
        raise ValueError(
            f"vecdot got shapes {x1.shape} and {x2.shape}, of unequal length along axis {axis}. "
            "Fix: pass arrays of equal length there."
        )
    if not x1.shape[axis]:  # zeros, in the memory order of both: products of no elements have none
        first, second = (xp.sum(x, axis=axis, dtype=x.dtype) for x in (x1, x2))
        return xp.conj(first) * second
    products = xp.conj(x1) * x2
    return xp.sum(products, axis=axis, dtype=products.dtype)  # small integers stay small


@composite("tensordot", "linalg.tensordot")
def tensordot(xp: Any, x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Contract axes of two arrays, by one matrix product after permuting the axes."""
    x1, x2 = xp.asarray(x1), xp.asarray(x2)
    if getattr(axes, "ndim", 0) == 0 and hasattr(axes, "__index__"):
        count = operator.index(axes)
        first = tuple(range(x1.ndim - count, x1.ndim))
        second = tuple(range(count))
    else:
        first, second = (
            as_axes(a if getattr(a, "ndim", 0) == 0 and hasattr(a, "__index__") else tuple(a), n)
            for a, n in zip(axes, (x1.ndim, x2.ndim), strict=True)
        )
    free1 = tuple(a for a in range(x1.ndim) if a not in first)
    free2 = tuple(a for a in range(x2.ndim) if a not in second)
    rows, columns = tuple(x1.shape[a] for a in free1), tuple(x2.shape[a] for a in free2)
    inner = math.prod(x1.shape[a] for a in first)
    left = xp.reshape(xp.permute_dims(x1, free1 + first), (math.prod(rows), inner))
    right = xp.reshape(xp.permute_dims(x2, second + free2), (inner, math.prod(columns)))
    return xp.reshape(xp.matmul(left, right), rows + columns)


@composite("linalg.outer")
def outer(xp: Any, x1: Any, x2: Any, /) -> Any:
    """Multiply each element of one vector by each element of the other."""
    return xp.expand_dims(xp.asarray(x1), axis=1) * xp.expand_dims(xp.asarray(x2), axis=0)
