"""The Python Array API standard, version 2025.12: its functions, and calls of those that have a
derivative.

A call is written as a user would write it. In it, `x(2, 3)` is an array to differentiate with
respect to, its elements between -0.9 and 0.9 and apart from each other; `spd(3)` is one that is a
well-conditioned matrix; `sym` and `gram` make a matrix Hermitian and positive definite; `i(0, 2)`
and `b(1, 0)` are integers and bools.
"""

from __future__ import annotations

CHAPTERS = {
    "creation": """
        arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid
        ones ones_like tril triu zeros zeros_like
    """,
    "dtypes": """
        astype can_cast finfo iinfo isdtype result_type
    """,
    "elementwise": """
        abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert
        bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor ceil clip conj
        copysign cos cosh divide equal exp expm1 floor floor_divide greater
        greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p
        log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum
        multiply negative nextafter not_equal positive pow real reciprocal remainder
        round sign signbit sin sinh sqrt square subtract tan tanh trunc
    """,
    "indexing": """
        take take_along_axis
    """,
    "manipulation": """
        broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis
        permute_dims repeat reshape roll squeeze stack tile unstack
    """,
    "searching": """
        argmax argmin count_nonzero nonzero searchsorted where
    """,
    "sets": """
        isin unique_all unique_counts unique_inverse unique_values
    """,
    "sorting": """
        argsort sort
    """,
    "statistics": """
        cumulative_prod cumulative_sum max mean min prod std sum var
    """,
    "utilities": """
        all any diff
    """,
    "linear algebra": """
        matmul matrix_transpose tensordot vecdot
    """,
    "linalg": """
        cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm
        matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd
        svdvals tensordot trace vecdot vector_norm
    """,
    "fft": """
        fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft
        rfftfreq rfftn
    """,
}

FUNCTIONS = [
    f"{chapter}.{name}" if chapter in ("fft", "linalg") else name
    for chapter, names in CHAPTERS.items()
    for name in names.split()
]

ANY = """
xp.positive(x(3))
xp.negative(x(3))
xp.add(x(2, 3), x(3))
xp.add(x(3), 1.5)
xp.subtract(x(2, 1), x(1, 3))
xp.multiply(x(2, 3), x(2, 3))
xp.multiply(2.0, x(3))
xp.divide(x(3), 2.0 + x(3))
xp.divide(1.0, 2.0 + x(3))
xp.reciprocal(2.0 + x(3))
xp.square(x(2, 3))
xp.sqrt(1.5 + x(3))
xp.pow(1.5 + x(3), x(3))
xp.pow(x(3), 3)
xp.pow(2.0, x(3))
xp.exp(x(3))
xp.expm1(x(3))
xp.log(1.5 + x(3))
xp.log1p(x(3))
xp.log2(1.5 + x(3))
xp.log10(1.5 + x(3))
xp.sin(x(3))
xp.cos(x(3))
xp.tan(x(3))
xp.asin(x(3))
xp.acos(x(3))
xp.atan(x(3))
xp.sinh(x(3))
xp.cosh(x(3))
xp.tanh(x(3))
xp.asinh(x(3))
xp.acosh(2.0 + x(3))
xp.atanh(x(3))
xp.abs(x(3))
xp.conj(x(3))
xp.real(x(3))
xp.sum(x(2, 3))
xp.sum(x(2, 3, 4), axis=(0, -1), keepdims=True)
xp.mean(x(2, 3), axis=0)
xp.prod(x(2, 3), axis=1)
xp.cumulative_sum(x(2, 3), axis=1, include_initial=True)
xp.cumulative_prod(x(2, 3), axis=0)
xp.diff(x(5), n=2)
xp.diff(x(2, 3), axis=0, prepend=x(1, 3), append=x(2, 3))
xp.matmul(x(2, 3), x(3, 4))
xp.matmul(x(5, 2, 3), x(3))
xp.vecdot(x(2, 3), x(2, 3), axis=0)
xp.tensordot(x(2, 3, 4), x(4, 3, 5), axes=((1, 2), (1, 0)))
xp.matrix_transpose(x(2, 3, 4))
xp.reshape(x(2, 3), (3, -1))
xp.permute_dims(x(2, 3, 4), (2, 0, 1))
xp.permute_dims(x(2, 3, 4), (-1, 0, -2))
xp.expand_dims(x(2, 3), axis=1)
xp.expand_dims(x(2, 3), axis=(0, -1))
xp.squeeze(x(2, 1, 3, 1), axis=(1, -1))
xp.broadcast_to(x(3), (2, 3))
xp.broadcast_arrays(x(2, 1), x(1, 3))
xp.concat([x(2, 3), x(1, 3)])
xp.concat([x(2), x(2, 2)], axis=None)
xp.stack([x(2, 3), x(2, 3)], axis=-1)
xp.unstack(x(2, 3), axis=1)
xp.flip(x(2, 3), axis=0)
xp.roll(x(2, 3), (1, -2), axis=(0, 1))
xp.moveaxis(x(2, 3, 4), (0, 1), (-1, 0))
xp.tile(x(2, 3), (2, 1, 2))
xp.repeat(x(2, 3), 2, axis=1)
xp.repeat(x(3), i(1, 0, 2))
xp.tril(x(2, 3, 3), k=-1)
xp.triu(x(3, 4), k=1)
xp.take(x(3, 4), i(-1, 0, 0), axis=1)
xp.take_along_axis(x(2, 3), i(2, 0, 0, 1).reshape(2, 2), axis=-1)
xp.where(b(1, 0, 1), x(2, 3), x(3))
xp.where(b(1, 0, 1), x(3), 0.0)
xp.astype(x(3), xp.complex128)
xp.asarray([x(), [x(2), 1.0][0][1]])
xp.meshgrid(x(2), x(3), x(4))
xp.meshgrid(x(2), x(3), indexing="ij")
xp.full((2, 3), x())
xp.full_like(b(1, 0), x(), dtype=xp.complex128)
xp.linspace(x(), x(), 5)
xp.linspace(x(), 2.0, 4, endpoint=False)
xp.unique_values(x(4))
xp.unique_counts(x(4)).values
xp.unique_inverse(x(4)).values
xp.unique_all(x(2, 2)).values
x(3, 4)[1:, ::-2]
x(3, 4)[i(0, 2, 0), i(1, 1, 3)]
x(4)[b(1, 0, 1, 1)]
xp.linalg.matmul(x(2, 3), x(3, 2))
xp.linalg.matrix_transpose(x(2, 3))
xp.linalg.tensordot(x(2, 3), x(3, 2), axes=1)
xp.linalg.vecdot(x(2, 3), x(2, 3))
xp.linalg.outer(x(2), x(3))
xp.linalg.cross(x(2, 3), x(2, 3))
xp.linalg.trace(x(2, 3, 3), offset=1)
xp.linalg.diagonal(x(3, 4), offset=-1)
xp.linalg.det(spd(3))
xp.linalg.slogdet(spd(3)).logabsdet
xp.linalg.inv(spd(2, 3))
xp.linalg.solve(spd(3), x(3, 2))
xp.linalg.solve(spd(3), x(3))
xp.linalg.matrix_power(spd(3), 3)
xp.linalg.matrix_power(spd(3), -2)
xp.linalg.vector_norm(x(2, 3), axis=1)
xp.linalg.vector_norm(x(5), ord=3)
xp.linalg.vector_norm(x(5), ord=1)
xp.linalg.vector_norm(x(5), ord=float("inf"))
xp.linalg.matrix_norm(x(2, 3))
xp.linalg.matrix_norm(x(2, 3), ord="nuc")
xp.linalg.matrix_norm(x(2, 3), ord=2)
xp.linalg.matrix_norm(x(2, 3), ord=1, keepdims=True)
xp.linalg.cholesky(gram(spd(3)))
xp.linalg.cholesky(gram(spd(3)), upper=True)
xp.linalg.qr(spd(3)).R
xp.linalg.eigh(sym(spd(3))).eigenvalues
xp.abs(xp.linalg.eigh(sym(spd(3))).eigenvectors)
xp.linalg.eigvalsh(sym(spd(3)))
xp.abs(xp.linalg.eig(spd(3)).eigenvectors)
xp.abs(xp.linalg.eigvals(spd(3)))
xp.linalg.svd(x(2, 3), full_matrices=False).S
xp.abs(xp.linalg.svd(spd(3)).U)
xp.linalg.svdvals(x(2, 3))
xp.linalg.pinv(x(2, 3))
xp.fft.fft(x(2, 5), n=4)
xp.fft.ifft(x(3, 4), n=6, axis=0, norm="ortho")
xp.fft.fftn(x(2, 3, 4), s=(3, 3), axes=(0, -1))
xp.fft.ifftn(x(3, 4))
xp.fft.irfft(x(5))
xp.fft.irfft(x(2, 5), n=7)
xp.fft.irfftn(x(3, 4), norm="forward")
xp.fft.hfft(x(4), n=7)
xp.fft.fftshift(x(3, 4), axes=1)
xp.fft.ifftshift(x(5))
"""

REAL = """
xp.atan2(x(3), 1.5 + x(3))
xp.hypot(x(2, 3), x(3))
xp.logaddexp(x(3), x(3))
xp.copysign(x(3), x(3))
xp.nextafter(x(3), x(3))
xp.maximum(x(3), x(3))
xp.minimum(x(3), 0.1)
xp.remainder(2.0 + x(3), 0.7)
xp.clip(x(5), -0.3, 0.4)
xp.clip(x(2, 3), x(3) - 1.5, x(3) + 0.5)
xp.max(x(2, 3), axis=1)
xp.min(x(2, 3), keepdims=True)
xp.std(x(2, 3), axis=0, correction=1.0)
xp.var(x(2, 3))
xp.sort(x(3, 4), axis=0)
xp.sort(x(5), descending=True)
xp.fft.rfft(x(2, 5), n=6)
xp.fft.rfftn(x(3, 4), axes=(1, 0), norm="ortho")
xp.fft.ihfft(x(5))
"""

COMPLEX = """
xp.imag(x(3))
xp.sign(x(3))
xp.linalg.slogdet(spd(3)).sign
"""

DEGENERATE = """
xp.sum(x())
xp.sum(x(0, 3), axis=0)
xp.mean(x())
xp.prod(x())
xp.prod(x(2, 0), axis=1)
xp.max(x())
xp.min(x(0, 3), axis=1)
xp.var(x())
xp.std(x())
xp.cumulative_sum(x(0))
xp.cumulative_prod(x(0))
xp.cumulative_prod(x(2, 0), axis=1, include_initial=True)
xp.diff(x(1))
xp.diff(x(0, 2), axis=1)
xp.matmul(x(2, 0), x(0, 3))
xp.matmul(x(0, 2), x(2))
xp.vecdot(x(0), x(0))
xp.tensordot(x(), x(), axes=0)
xp.reshape(x(), (1, 1))
xp.reshape(x(0), (0, 2))
xp.permute_dims(x(), ())
xp.permute_dims(x(0, 2), (1, 0))
xp.expand_dims(x(), axis=0)
xp.squeeze(x(1), axis=0)
xp.broadcast_to(x(), (0, 2))
xp.broadcast_to(x(1), (0,))
xp.broadcast_arrays(x(), x(0))
xp.concat([x(0), x(2)])
xp.concat([x(), x(0)], axis=None)
xp.stack([x(), x()])
xp.stack([x(0), x(0)])
xp.unstack(x(1, 0))
xp.unstack(x(2, 0))
xp.flip(x())
xp.flip(x(0))
xp.roll(x(0), 1)
xp.tile(x(), (2,))
xp.tile(x(2), (0,))
xp.repeat(x(0), 2)
xp.repeat(x(2), 0)
xp.meshgrid(x(0), x(2))
xp.meshgrid(x())
xp.take(x(3), i(), axis=0)
xp.take_along_axis(x(2, 3), i().reshape(2, 0), axis=1)
xp.where(b(), x(0), x(1))
xp.where(b(1)[0], x(), 1.0)
xp.sort(x(0))
xp.unique_values(x())
xp.unique_values(x(0))
xp.clip(x(), -0.5, 0.5)
xp.tril(x(0, 0))
x(0)[1:]
x(3)[b(0, 0, 0)]
xp.linalg.trace(x(0, 0))
xp.linalg.diagonal(x(0, 2))
xp.linalg.det(x(0, 0))
xp.linalg.vector_norm(x(0))
xp.linalg.vector_norm(x())
xp.fft.fftshift(x(0))
"""


def calls(text: str) -> list[str]:
    return text.strip().splitlines()


OWN = frozenset(
    [
        *("arange", "empty", "eye", "ones", "zeros", "fft.fftfreq", "fft.rfftfreq"),
        *("broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type"),
    ]
)
"""Functions of no array's values: those of the library itself are called."""
