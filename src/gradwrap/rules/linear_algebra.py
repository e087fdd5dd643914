"""Products and the linear algebra extension.

Matrix formulas follow M. B. Giles, "An extended collection of matrix derivative results for
forward and reverse mode algorithmic differentiation" (Oxford, 2008), cited by section.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from array_api_compat import device

from gradwrap.core.namespace import composite
from gradwrap.core.registry import find_op, register
from gradwrap.core.rule import general, joint, linear, multilinear, reduction
from gradwrap.rules.axes import as_axes, kept

if TYPE_CHECKING:
    from collections.abc import Sequence


def _mT(xp: Any, x: Any) -> Any:  # noqa: N802  the standard's attribute
    return xp.matrix_transpose(x)


def _matmul_left(xp: Any, g: Any, x2: Any, x1_meta: Any) -> Any:
    """G x2^T, vectors taken as one row or one column."""
    if len(x1_meta.shape) > 1 and x2.ndim > 1:
        return xp.matmul(g, xp.matrix_transpose(x2))
    if x2.ndim == 1:
        return xp.expand_dims(g, axis=-1) * x2
    return xp.matmul(xp.expand_dims(g, axis=-2), _mT(xp, x2))[..., 0, :]


def _matmul_right(xp: Any, g: Any, x1: Any, x2_meta: Any) -> Any:
    """x1^T g, vectors taken as one row or one column."""
    if len(x2_meta.shape) > 1 and x1.ndim > 1:
        return xp.matmul(xp.matrix_transpose(x1), g)
    if x1.ndim == 1 and len(x2_meta.shape) == 1:
        return g * x1
    if x1.ndim == 1:
        return xp.expand_dims(x1, axis=-1) * xp.expand_dims(g, axis=-2)
    return xp.matmul(_mT(xp, x1), xp.expand_dims(g, axis=-1))[..., 0]


def _solve(xp: Any, g: Any, x1: Any, out: Any, x2_meta: Any) -> tuple[Any, Any]:
    """Giles 2.3.1: the cotangent of b is A^-T g, that of A is minus its product with out^T."""
    of_b = xp.linalg.solve(_mT(xp, x1), g)
    if len(x2_meta.shape) == 1:
        return -(xp.expand_dims(of_b, axis=-1) * xp.expand_dims(out, axis=-2)), of_b
    return -xp.matmul(of_b, _mT(xp, out)), of_b


def _inv(xp: Any, g: Any, out: Any) -> Any:
    """Giles 2.2.3."""
    transposed = _mT(xp, out)
    return -xp.matmul(xp.matmul(transposed, g), transposed)


def _others(xp: Any, values: Any) -> Any:
    """For each element along the last axis, the product of the others, without division."""
    ones = xp.ones_like(values[..., :1])

    def before(v: Any) -> Any:
        return xp.concat([ones, xp.cumulative_prod(v[..., :-1], axis=-1)], axis=-1)

    return before(values) * xp.flip(before(xp.flip(values, axis=-1)), axis=-1)


def _cofactors(xp: Any, x: Any) -> Any:
    """The cofactor matrix by the SVD, also of singular matrices.

    With x = U S V^H it is conj(det(U) det(V^H)) U diag(products of the others of S) V^H,
    conjugated; G. W. Stewart, "On the adjugate matrix", Linear Algebra Appl. 283 (1998), eq. 2.
    """
    if not x.shape[-1]:
        return x
    u, s, vh = xp.linalg.svd(x)
    phase = xp.linalg.det(u) * xp.linalg.det(vh)
    middle = xp.astype(_others(xp, s), u.dtype)
    adjoint = xp.matmul(u * middle[..., None, :], vh)
    cofactors = _conj(xp, adjoint)
    return cofactors * phase[..., None, None]


def _conj(xp: Any, x: Any) -> Any:
    return xp.conj(x) if xp.isdtype(x.dtype, "complex floating") else x


def _cofactors_derivative(xp: Any, g: Any, x: Any) -> Any:
    """The second derivative of the determinant, applied to g: linear, and symmetric.

    In the basis of the SVD the matrix is diagonal, where a product of two elements of g is
    multiplied by the product of all singular values but those of its two rows. O(n^3).
    """
    if x.shape[-1] < 2:
        return xp.zeros_like(x)
    u, s, vh = xp.linalg.svd(x)
    phase = (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]
    pairs = xp.astype(_all_but_two(xp, s), u.dtype)
    cu, cv = _conj(xp, u), _conj(xp, vh)
    inner = xp.matmul(xp.matmul(_mT(xp, cu), g), _mT(xp, cv))
    diagonal = xp.linalg.diagonal(inner)
    on_diagonal = xp.sum(pairs * diagonal[..., None, :], axis=-1)
    eye = xp.eye(x.shape[-1], dtype=u.dtype, device=device(x))
    result = on_diagonal[..., None, :] * eye - pairs * _mT(xp, inner)
    return phase * xp.matmul(xp.matmul(cu, result), cv)


def _all_but_two(xp: Any, s: Any) -> Any:
    """For each pair i, j the product of the other elements; zero on the diagonal."""
    n = s.shape[-1]
    columns = []
    for i in range(n):
        rest = xp.concat([s[..., :i], s[..., i + 1 :]], axis=-1)
        products = _others(xp, rest)
        column = xp.concat(
            [products[..., :i], xp.zeros_like(s[..., :1]), products[..., i:]], axis=-1
        )
        columns.append(column)
    return xp.stack(columns, axis=-1)


def _slogdet(xp: Any, g: Any, x: Any, out: Any) -> tuple[Any]:
    """Giles 2.2.4 for the logarithm; for complex matrices the sign turns with it.

    With t = tr(x^-1 dx): d logabsdet = Re t, and d sign = i sign Im t.
    """
    sign, _ = out
    of_sign, of_log = g
    inverse = _transposed_inverse(xp, x)
    if not xp.isdtype(x.dtype, "complex floating"):
        return (of_log[..., None, None] * inverse,)
    turn = xp.imag(of_sign * xp.conj(sign))
    slope = xp.astype(of_log, x.dtype) + 1j * xp.astype(turn, x.dtype)
    return (slope[..., None, None] * xp.conj(inverse),)


def _transposed_inverse(xp: Any, x: Any) -> Any:
    """The inverse, transposed; of a singular matrix, infinite along the cofactors."""
    try:
        return _mT(xp, xp.linalg.inv(x))
    except ValueError:  # NumPy's LinAlgError; other libraries return inf themselves
        cofactors = cofactors_of(xp, x)
        return xp.where(cofactors == 0, 0.0 * cofactors, cofactors * float("inf"))


def _diagonal(xp: Any, g: Any, x_meta: Any, offset: int) -> Any:
    """Put a diagonal back into zeros."""
    rows, columns = x_meta.shape[-2:]
    length = g.shape[-1]
    first = (max(-offset, 0), max(offset, 0))
    place = x_meta.device
    row = xp.arange(length, device=place) + first[0]
    here = xp.arange(rows, device=place)[:, None] == row[None, :]
    there = row[:, None] - first[0] + first[1] == xp.arange(columns, device=place)[None, :]
    left = xp.astype(here, g.dtype) * g[..., None, :]
    return xp.matmul(left, xp.astype(there, g.dtype))


def _trace(xp: Any, g: Any, x_meta: Any, offset: int) -> Any:
    eye = xp.eye(*x_meta.shape[-2:], k=offset, dtype=x_meta.dtype, device=x_meta.device)
    return g[..., None, None] * eye


def _vector_norm(xp: Any, g: Any, x: Any, out: Any, axis: Any, keepdims: bool, ord: Any) -> Any:
    """The direction of steepest ascent, 0 where the norm is; shared evenly at ties of inf."""
    whole = kept(xp, out, x.ndim, axis, keepdims)
    slope = kept(xp, g, x.ndim, axis, keepdims)
    size = xp.abs(x)
    if ord == 0:
        return xp.zeros_like(x)
    if ord in (1, float("inf"), float("-inf")):
        if ord != 1:
            chosen = xp.astype(size == whole, size.dtype)
            slope = slope * (chosen / xp.sum(chosen, axis=axis, keepdims=True))
        return slope * _unit(xp, x, size)
    nothing = whole == 0
    safe = xp.where(nothing, 1.0, whole)
    if ord == 2:
        return slope * xp.where(nothing, 0.0 * x, x / safe)
    positive = xp.where(size == 0, 1.0, size)
    power = xp.where(size == 0, 0.0 * size, (positive / safe) ** (ord - 1.0))
    return slope * xp.where(nothing, 0.0 * x, power * _unit(xp, x, size))


def _unit(xp: Any, x: Any, size: Any) -> Any:
    """X / |x|, and 0 at 0."""
    if not xp.isdtype(x.dtype, "complex floating"):
        return xp.sign(x)
    return x / xp.where(size == 0, 1.0, size)


def _matrix_norm(xp: Any, g: Any, x: Any, keepdims: bool, ord: Any) -> Any:
    """Nuclear norm: U V^H over the singular values above rounding; 2 and -2: u v^H, ties shared."""
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    if ord == "nuc":
        precision = xp.finfo(s.dtype).eps * max(x.shape[-2:])
        weights = xp.astype(s > precision * s[..., :1], s.dtype)
    else:
        chosen = s == (s[..., :1] if ord == 2 else s[..., -1:])
        weights = xp.astype(chosen, s.dtype)
        weights = weights / xp.sum(weights, axis=-1, keepdims=True)
    slope = g if keepdims else g[..., None, None]
    return slope * xp.matmul(u * xp.astype(weights, u.dtype)[..., None, :], vh)


def _einsum(
    xp: Any, g: Any, operands: Sequence[Any], metas: Sequence[Any], subscripts: str
) -> list[Any]:
    """Each operand's cotangent is an einsum of the others' with g; missing axes are repeated."""
    inputs, output = parse_einsum(subscripts, [len(m.shape) for m in metas])
    cotangents = []
    for index, (letters, meta) in enumerate(zip(inputs, metas, strict=True)):
        rest = [other for i, other in enumerate(inputs) if i != index]
        arrays = [operand for i, operand in enumerate(operands) if i != index]
        known = set(output).union(*rest)
        unique = "".join(dict.fromkeys(letters))
        found = "".join(c for c in unique if c in known)
        part = xp.einsum(",".join([output, *rest]) + "->" + found, g, *arrays)
        shape = [1] * len(unique)
        lengths = dict(zip(letters, meta.shape, strict=True))
        for position, letter in enumerate(unique):
            if letter in found:
                shape[position] = part.shape[found.index(letter)]
        whole = xp.reshape(part, tuple(shape))
        wanted = tuple(
            lengths[letter] if shape[k] == 1 else shape[k] for k, letter in enumerate(unique)
        )
        whole = xp.broadcast_to(whole, wanted)
        cotangents.append(_to_diagonals(xp, whole, unique, letters, lengths))
    return cotangents


def _to_diagonals(xp: Any, whole: Any, unique: str, letters: str, lengths: dict[str, int]) -> Any:
    """Put back the axes that one letter named twice: zero off their diagonal."""
    seen = unique
    for position, letter in enumerate(letters):
        if letters.index(letter) == position:
            continue
        at = seen.index(letter)
        n = lengths[letter]
        places = [1] * (whole.ndim + 1)
        places[at] = places[-1] = n
        eye = xp.reshape(xp.eye(n, dtype=whole.dtype, device=device(whole)), (n, n))
        whole = xp.expand_dims(whole, axis=-1) * xp.reshape(eye, tuple(places))
        seen += letter.upper() if letter.islower() else letter.lower()
        letters_left = letters[:position] + seen[-1] + letters[position + 1 :]
        letters = letters_left
    return xp.permute_dims(whole, tuple(seen.index(c) for c in letters))


def parse_einsum(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the output, with the ellipsis written out."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in text]
    hidden = max(
        (rank - len(part) + 3 for part, rank in zip(inputs, ranks, strict=True) if "..." in part),
        default=0,
    )
    ellipsis = "".join(free[:hidden])
    expanded = []
    for part, rank in zip(inputs, ranks, strict=True):
        covered = rank - len(part.replace("...", ""))
        expanded.append(part.replace("...", ellipsis[len(ellipsis) - covered :]))
    if not arrow:
        letters = "".join(inputs).replace("...", "")
        output = ("..." if hidden else "") + "".join(
            sorted(c for c in set(letters) if letters.count(c) == 1)
        )
    return expanded, output.replace("...", ellipsis)


SQUARE = "spd(3)"

register(
    [
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
        ),
        multilinear(
            "linalg.matmul",
            "x1, x2, /",
            _matmul_left,
            _matmul_right,
            samples=("x(2, 3), x(3, 4)",),
        ),
        joint(
            "linalg.solve",
            "x1, x2, /",
            _solve,
            arrays=2,
            samples=(f"{SQUARE}, x(3)", f"{SQUARE}, x(3, 2)", "spd(2, 3), x(2, 3, 1)"),
        ),
        general("linalg.inv", "x, /", _inv, samples=(SQUARE, "spd(2, 3)")),
        general(
            "linalg.det",
            "x, /",
            lambda xp, g, x: g[..., None, None] * cofactors_of(xp, x),
            samples=(SQUARE, "x(2, 3, 3)", "singular(3)"),
            convention="the cofactor matrix, also of a singular matrix",
        ),
        general(
            "cofactors",
            "x, /",
            _cofactors_derivative,
            order=1,  # its formula needs the svd, which has no rule yet
            native=_cofactors,
            samples=(SQUARE, "x(2, 3, 3)", "singular(3)"),
        ),
        joint(
            "linalg.slogdet",
            "x, /",
            _slogdet,
            outputs=2,
            holomorphic=False,
            samples=(SQUARE, "spd(2, 3)"),
            convention="inf for a singular matrix",
        ),
        linear(
            "linalg.diagonal",
            "x, /, *, offset=0",
            _diagonal,
            samples=("x(3, 4)", "x(2, 3, 3), offset=1", "x(4, 3), offset=-1"),
        ),
        linear(
            "linalg.trace",
            "x, /, *, offset=0, dtype=None",
            _trace,
            samples=("x(3, 3)", "x(2, 3, 4), offset=1"),
        ),
        reduction(
            "linalg.vector_norm",
            "x, /, *, axis=None, keepdims=False, ord=2",
            _vector_norm,
            holomorphic=False,
            samples=(
                "x(3, 4)",
                "x(3, 4), axis=0",
                "x(3, 4), axis=-1, keepdims=True, ord=1",
                "x(5), ord=3",
                "x(5), ord=float('inf')",
            ),
            convention="0 where the norm is 0; ties of inf shared evenly",
        ),
        reduction(
            "spectral_norm",
            "x, /, *, keepdims=False, ord='nuc'",
            _matrix_norm,
            order=1,  # its formula needs the svd, which has no rule yet
            holomorphic=False,
            native=lambda xp, x, keepdims=False, ord="nuc": xp.linalg.matrix_norm(
                x, keepdims=keepdims, ord=ord
            ),
            samples=("spd(3), ord='nuc'", "x(2, 3, 2), ord=2"),
            convention="U V^H of the singular values that are not 0; ties shared evenly",
        ),
        joint(
            "einsum",
            "operands, subscripts, /",
            _einsum,
            variadic=True,
            native=lambda xp, operands, subscripts: xp.einsum(subscripts, *operands),
            samples=(
                "[x(2, 3), x(3, 4)], 'ij,jk->ik'",
                "[x(2, 3)], 'ij->j'",
                "[x(3, 3)], 'ii'",
                "[x(2, 3), x(2, 3)], '...j,...j'",
            ),
        ),
    ]
)


def cofactors_of(xp: Any, x: Any) -> Any:
    """The cofactor matrix, recorded where the namespace records."""
    return xp.cofactors(x) if hasattr(xp, "_class") else _cofactors(xp, x)


@composite("einsum")
def einsum(xp: Any, subscripts: str, *operands: Any, **_: Any) -> Any:
    """Sums of products, by subscripts."""
    op = find_op("einsum")
    assert op is not None
    return xp._class._bind(op).apply(list(operands), subscripts)  # noqa: SLF001


@composite("linalg.matrix_norm")
def matrix_norm(xp: Any, x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Every order: by the elements, by sums of rows or columns, or by singular values."""
    if ord in ("fro", None):
        return xp.linalg.vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, float("inf"), float("-inf")):
        summed, chosen = (-2, -1) if abs(ord) == 1 else (-1, -2)
        totals = xp.sum(xp.abs(x), axis=summed, keepdims=True)
        extreme = xp.max if ord > 0 else xp.min
        found = extreme(totals, axis=chosen, keepdims=True)
        return found if keepdims else xp.squeeze(found, axis=(-2, -1))
    return xp.spectral_norm(x, keepdims=keepdims, ord=ord)


@composite("linalg.matrix_transpose")
def matrix_transpose(xp: Any, x: Any, /) -> Any:
    """Exchange the last two axes."""
    return xp.matrix_transpose(x)


@composite("vecdot")
def vecdot(xp: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Sum of conj(x1) x2 along an axis."""
    return xp.sum(xp.conj(xp.asarray(x1)) * x2, axis=axis)


@composite("linalg.vecdot")
def linalg_vecdot(xp: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Sum of conj(x1) x2 along an axis."""
    return vecdot(xp, x1, x2, axis=axis)


@composite("tensordot")
def tensordot(xp: Any, x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Contract axes of two arrays: permuted to the inside, it is one matrix product."""
    x1, x2 = xp.asarray(x1), xp.asarray(x2)
    if isinstance(axes, int):
        first = tuple(range(x1.ndim - axes, x1.ndim))
        second = tuple(range(axes))
    else:
        first, second = (
            as_axes(a if isinstance(a, int) else tuple(a), n)
            for a, n in zip(axes, (x1.ndim, x2.ndim), strict=True)
        )
    free1 = tuple(a for a in range(x1.ndim) if a not in first)
    free2 = tuple(a for a in range(x2.ndim) if a not in second)
    shape = tuple(x1.shape[a] for a in free1) + tuple(x2.shape[a] for a in free2)
    inner = 1
    for a in first:
        inner *= x1.shape[a]
    left = xp.reshape(xp.permute_dims(x1, free1 + first), (_count(x1, free1), inner))
    right = xp.reshape(xp.permute_dims(x2, second + free2), (inner, _count(x2, free2)))
    return xp.reshape(xp.matmul(left, right), shape)


@composite("linalg.tensordot")
def linalg_tensordot(xp: Any, x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Contract axes of two arrays."""
    return tensordot(xp, x1, x2, axes=axes)


@composite("linalg.outer")
def outer(xp: Any, x1: Any, x2: Any, /) -> Any:
    """Every product of an element of one vector and one of the other."""
    return xp.expand_dims(xp.asarray(x1), axis=1) * xp.expand_dims(xp.asarray(x2), axis=0)


def _count(x: Any, axes: tuple[int, ...]) -> int:
    count = 1
    for a in axes:
        count *= x.shape[a]
    return count
