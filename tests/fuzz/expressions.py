"""Random expressions: each takes the source of an array and gives the source of a new one."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.fuzz.keys import advanced_key, basic_key

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.fuzz.writer import Writer

# Templates: {e} is the array, and a word of the tables below something that fits it.

SMOOTH = """
np.sin({e}) | np.cos({e}) | np.tanh({e}) | np.arctan({e}) | np.exp(np.tanh({e})) | np.square({e})
np.sqrt({e} * {e} + 1.3) | np.log({e} ** 2 + 0.7) | {e} ** 2 | {e} ** 3 * 0.1 | -{e} | +{e}
1.0 / ({e} ** 2 + 1.5) | np.arcsinh({e}) | np.log1p({e} ** 2) | np.expm1(np.tanh({e})) | 2.0 ** np.tanh({e})
np.sinh(np.tanh({e})) | np.cosh(np.tanh({e})) | np.reciprocal(2.5 + np.tanh({e})) | np.exp2(np.tanh({e}))
np.hypot({e}, 1.3) | np.arctan2({e}, 1.7) | np.logaddexp({e}, 0.3) | np.logaddexp2({e}, 0.3) | np.sinc({e} + 0.117)
np.cbrt({e} ** 2 + 1.0) | np.float_power({e} ** 2 + 1.0, 1.5) | np.positive({e}) | np.negative({e})
np.deg2rad({e}) | np.arcsin(np.tanh({e}) * 0.9) | np.arccos(np.tanh({e}) * 0.9) | np.arctanh(np.tanh({e}) * 0.8)
np.power({e} ** 2 + 0.5, 1.7) | np.ldexp({e}, 1) | np.tan(np.tanh({e}))
np.conj({e}) | {e}.conjugate() | np.real({e}) | np.imag({e}) | {e}.real | {e}.imag
"""
KINKED = """
np.abs({e}) | abs({e}) | np.fabs({e}) | np.maximum({e}, 0.1317) | np.minimum({e}, 0.2113) | np.sign({e}) * {e}
np.clip({e}, -0.6137, 0.7219) | {e}.clip(-0.6137, 0.7219) | {e}.clip(min=-0.3119) | np.fmax({e}, -0.1713)
np.where({e} > 0.1273, {e}, 0.5) | np.where({e} > 0.1273, {e} * 2, -{e}) | np.heaviside({e}, 0.5)
np.floor({e}) | np.ceil({e}) | np.rint({e} * 3) | np.round({e}, 1) + {e} | np.trunc({e} * 2.17) | np.fix({e})
np.mod({e}, 0.7331) | {e} % 0.7331 | {e} // 0.7331 | np.fmod({e}, 0.7331) | np.copysign({e}, -1.0) | np.nan_to_num({e})
np.modf({e})[0] | np.frexp({e})[0] | divmod({e}, 0.7331)[1] | round(float(np.size({e})), 1) * {e}
np.select([{e} > 0.3137, {e} > -0.4171], [{e}, {e} ** 2], 0.1) | np.piecewise({e}, [{e} > 0.1171], [np.sin, np.cos])
"""
VIEWS = """
{e}.T | np.transpose({e}) | {e}.reshape(-1) | {e}.ravel() | np.ravel({e}) | {e}.ravel("F") | {e}.ravel("K")
np.ravel({e}, order="K") | {e}.reshape({shape}) | np.reshape({e}, {shape}) | {e}.reshape({shape}, order="F")
{e}.transpose({perm}) | np.transpose({e}, {perm}) | np.swapaxes({e}, {axis}, {axis2}) | {e}.swapaxes({axis}, {axis2})
np.moveaxis({e}, {axis}, {axis2}) | np.rollaxis({e}, {axis}) | {e}[...] | {e}[:] | {e}[::-1] | {e}[..., ::-1]
np.flip({e}) | np.flip({e}, {axis}) | np.flipud({e}) | np.fliplr({e}) | np.rot90({e}) | np.rot90({e}, 2) | np.rot90({e}, -1)
np.squeeze({e}) | {e}.squeeze() | np.expand_dims({e}, {axis}) | {e}[None] | {e}[..., None] | np.expand_dims({e}, (0, -1))
np.diagonal({e}) | {e}.diagonal() | np.diagonal({e}, {offset}) | np.diag({e}) | np.einsum("ii->i", {e})
np.einsum("ij->ji", {e}) | np.einsum("...i->...i", {e}) | np.linalg.diagonal({e}) | np.matrix_transpose({e}) | {e}.mT
np.atleast_1d({e}) | np.atleast_2d({e}) | np.atleast_3d({e}) | np.broadcast_to({e}, (2,) + np.shape({e}))
np.split({e}, 2)[{zero1}] | np.split({e}, [1], axis={axis})[{zero1}] | np.array_split({e}, 2, {axis})[{zero1}] | np.hsplit({e}, [1])[{zero1}]
np.unstack({e})[0] | np.lib.stride_tricks.sliding_window_view({e}, 2, axis={axis}) | {e}.view() | np.broadcast_arrays({e}, 1.0)[0]
np.permute_dims({e}) | np.real({e}) | {e}.real | {e}.imag | np.asarray({e}) | {e}[()] | np.vsplit({e}, [1])[{zero1}]
np.asanyarray({e}) | np.require({e}) | np.ascontiguousarray({e}) | np.asfortranarray({e}) | np.asarray({e}, order="F")
np.trim_zeros({e}) | np.resize({e}, {shape}) | next(iter({e}))
"""
COPIES = """
{e}.copy() | np.copy({e}) | {e}.copy(order="F") | {e}.copy(order="K") | np.copy({e}, order="C") | np.array({e}) | np.array({e}, order="F")
{e}.flatten() | {e}.flatten("F") | {e}.flatten("K") | np.array({e}, copy=False) | np.array({e}, ndmin=3) | {e}.copy("A")
{e} * 1.0 | np.positive({e}) | {e}.__copy__() | {e}.astype(np.float64) | {e}.astype(float, copy=False) | np.astype({e}, np.float64)
"""
DTYPES = """
{e}.astype(np.float32) | {e}.astype("float64") | {e}.astype(complex) | {e}.astype(np.complex64) | {e} * 1j | {e} + 0.5j
{e}.astype(np.float32, order="F") | {e} * np.float32(0.7) | {e} * np.float64(0.7) | {e} * np.int64(2) | {e} + True | {e} * 3
({e} > 0.1271).astype(float) * {e} | {e} * np.array([2]) | np.float32(0.5) - {e} | {e}.astype(np.float64, casting="same_kind")
np.add({e}, 1, dtype=np.float64) | {e} * np.array(2, dtype=np.float32) | np.abs({e}) | np.angle({e} + 3.1) | np.sum({e}, dtype=np.float64)
"""
REDUCTIONS = """
np.sum({e}{ax}) | np.mean({e}{ax}) | {e}.sum({axis}) | {e}.sum() | {e}.mean({axis}) | {e}.mean() | np.prod(np.tanh({e}){ax}) | np.max({e}{ax})
np.min({e}{ax}) | {e}.max() | {e}.min({axis}) | np.var({e}{ax}) | np.std({e}{ax}) | np.var({e}, ddof=1) | {e}.std({axis}) | np.ptp({e}{ax})
np.sum({e}, where={e} > 0.1271) | np.mean({e}, where={e} > -2.5173) | np.sum({e}{ax}, initial=0.5) | np.max({e}{ax}, initial=-0.3171)
np.median({e}{ax}) | np.quantile({e}, 0.3{ax}) | np.percentile({e}, 35{ax}) | np.nansum({e}{ax}) | np.nanmean({e}{ax}) | np.average({e}{ax})
np.linalg.norm({e}) | np.linalg.norm({e}{ax}) | np.linalg.norm({e}, 1) | np.trace({e}) | {e}.trace() | {e}.prod() | np.count_nonzero({e}) * {e}
np.average({e}, weights=np.arange(1.0, np.size({e}) + 1).reshape(np.shape({e}))) | np.add.reduce({e}, {axis}) | np.multiply.reduce(np.tanh({e}), {axis})
np.argmax({e}) * {e} | np.all({e} > -9) * {e} | np.vdot({e}, {e}) * 0.1 | np.logaddexp.reduce({e}, {axis}) | np.maximum.reduce({e}, {axis})
np.linalg.vector_norm({e}{ax}) | np.trapezoid({e}) | np.trapezoid({e}, dx=0.5, axis={axis}) | np.nanmax({e}{ax}) | np.nanstd({e})
"""
REARRANGED = """
np.sort({e}) | np.sort({e}, axis={axis}) | np.sort({e}, axis=None) | np.roll({e}, 1) | np.roll({e}, -1, {axis}) | np.tile({e}, 2) | np.tile({e}, (2, 1))
np.repeat({e}, 2) | np.repeat({e}, 2, axis={axis}) | np.cumsum({e}) | np.cumsum({e}, axis={axis}) | {e}.cumsum({axis}) | np.cumprod(np.tanh({e}))
np.diff({e}) | np.diff({e}, axis={axis}) | np.diff({e}, n=2) | np.diff({e}, prepend=0.3) | np.ediff1d({e}) | np.gradient({e}) | np.gradient({e}, 0.5, axis={axis})
np.take({e}, [0, 0, -1]) | np.take({e}, [0, -1], axis={axis}) | {e}.take([0, 0]) | np.take_along_axis({e}, np.argsort({e}, axis={axis}), {axis})
np.pad({e}, 1) | np.pad({e}, 1, mode="edge") | np.pad({e}, 1, mode="reflect") | np.pad({e}, 1, constant_values=0.5) | np.pad({e}, 1, mode="wrap")
np.triu({e}) | np.tril({e}, -1) | np.diag({e}) | np.diagflat({e}) | np.compress(np.arange(np.shape({e})[0]) % 2 == 0, {e}, axis=0) | np.delete({e}, 0, axis={axis})
np.insert({e}, 1, 0.5, axis={axis}) | np.append({e}, 0.5) | np.append({e}, {e}) | np.extract({e} > 0.1271, {e}) | {e}[np.argsort({e})] | {e}[np.nonzero({e})]
np.partition({e}, 1) | np.unique({e}) | np.trim_zeros({e}) | {e}.repeat(2) | {e}.compress([True]) | np.argsort({e}) * 0.5 | np.choose([0, 1], [{e}, {e} * 2])
np.cov({e}) | np.interp({e}, np.arange(-3.0, 4.0), np.arange(7.0) ** 2) | np.polyval([0.5, -0.3, 0.1], {e}) | np.convolve({e}, [0.5, 0.3]) | np.correlate({e}, [0.5, 0.3])
np.nancumsum({e}) | np.add.accumulate({e}) | np.maximum.accumulate({e}) | np.cumulative_sum({e}, axis={axis}) | np.vander({e}, 3)
np.fft.fft({e}) | np.fft.rfft({e}) | np.fft.ifft({e}) | np.fft.fftshift({e}) | np.fft.fft2({e}) | np.fft.irfft({e}) | np.linspace({e}, 1.0, 3) | np.argwhere({e}) * 0.5
np.full_like({e}, 0.5) * {e} | np.zeros_like({e}) + {e} | np.ones_like({e}) * {e} | np.empty_like({e}).fill(1.0) or {e} | np.identity(2) * 0.5 + np.sum({e})
"""
MEMORY = """
np.shares_memory({e}, {same}) * {e} | {e}.flags.c_contiguous * {e} | {e}.flags["F_CONTIGUOUS"] * {e} | {e} * {e}.strides[0] * 0.01 | np.isfortran({e}) * {e}
{e} * np.ndim({e}) | {e} * {e}.shape[0] | {e} * len({e}) * 0.1 | {e} * {e}.size * 0.1 | {e} * {e}.itemsize * 0.1 | np.may_share_memory({e}, {same}) * {e} | {e} * np.size({e}) * 0.1
np.full(np.shape({e}), 0.5, dtype={e}.dtype) * {e} | np.zeros({e}.shape) + {e} | {e} * (np.result_type({e}) == np.float64) | {e} * np.isscalar({e}.shape[0]) | {e} * {e}.nbytes * 0.01
"""
CHOSEN = """
{e}[np.where({e} > 0.1271)] | {e}[np.argmax({e})] | {e}[np.argsort({e})[::-1]] | {e}.flat[np.argmin({e})] | {e}[{e}.argmax(0)] | {e}[np.nonzero({e} > 0.1271)] | {e}[~({e} > 0.1271)]
{e}[np.unravel_index(np.argmax({e}), {e}.shape)] | {e}[np.arange(len({e}))[::-1]] | {e}[..., np.newaxis] | {e}[np.s_[::2]] | {e}[tuple([0])] | {e}[np.int64(0)] | {e}[np.arange(2), 0] | {e}[(0,)]
{e}[np.triu_indices(2)] | {e}[np.diag_indices(2)] | {e}[np.ones(np.shape({e}), dtype=bool)] | {e}[np.array([], dtype=int)] | {e}[[]] | {e}[0][...] | {e}[-1:][::-1] | {e}[:, :] | {e}[None, ..., 0] | {e}[0:0]
np.array(list({e}))[0] * {e} | sum({e}) | max({e}.ravel()) | min({e}.ravel()) | sorted({e}.ravel())[0] * {e} | np.stack([*{e}]) | np.stack(list(reversed({e}))) | np.sum([r * 2 for r in {e}]) | next(iter({e})) | {e}[True]
float(len({e})) * {e} | np.stack([r * k for k, r in enumerate({e})]) | np.stack([p * q for p, q in zip({e}, {e}[::-1])]) | np.vectorize(lambda t: t * 2)({e}) | np.apply_along_axis(np.sum, 0, {e})
"""
LISTS = """
np.sum([{s1}, {s2}]) | np.max([{s1}, {s2}]) | np.mean([{s1}, 0.5]) | np.stack(({e}, {same})) | np.diag([{s1}, {s2}]) | np.dot([{s1}, {s2}], [0.5, 0.3]) | np.prod([{e}, {same}], axis=0) | np.minimum([{s1}, 0.2], 0.5)
np.linalg.norm([{s1}, {s2}]) | np.append([{s1}], {s2}) | np.sort([{s1}, {s2}, 0.1]) | np.add([{s1}, 0.1], [{s2}, 0.2]) | np.sin([{s1}, {s2}]) | np.where([True, False], [{s1}, 0.5], {s2}) | np.cumsum([{s1}, {s2}])
np.array([[{s1}, {s2}], [0.5, {s1}]]) | np.asarray([{s1}, {s2}]) | np.max([{e}, {same}], axis=0) | np.outer([{s1}, 1.0], [{s2}, 0.5]) | np.concatenate([[{s1}], [{s2}]]) | np.median([{s1}, {s2}, 0.1]) | np.array([{s1}, 0.5]) * {s2}
np.full((2, 2), {s1}) | np.full(3, {s1}) * 2 | np.linspace({s1}, {s2}, 3) | np.array({s1}) | np.asarray({s1}) * 2 | np.atleast_1d([{s1}, {s2}]) | np.eye(2) * {s1} | np.array([{s1}])[0] | np.tile([{s1}, 0.5], 2) | np.interp({s1}, [-9.0, 9.0], [{s2}, 0.5])
"""
JOINED = """
np.concatenate([{e}, {same}]) | np.concatenate([{e}, {same}], axis={axis}) | np.concatenate([{e}, {same}], axis=None) | np.stack([{e}, {same}])
np.stack([{e}, {same}], axis=-1) | np.hstack([{e}, {same}]) | np.vstack([{e}, {same}]) | np.dstack([{e}, {same}]) | np.column_stack([{e}, {same}])
np.append({e}, {same}, axis=0) | np.block([{e}, {same}]) | np.array([{s1}, {s2}]) | np.stack([{s1}, {s2}, 0.5]) | np.hstack([{s1}, {e}]) if np.ndim({e}) == 1 else {e}
np.meshgrid({e}, {same})[{zero1}] | np.r_[{e}, {same}] | np.c_[{e}, {same}] | np.broadcast_arrays({e}, {other})[{zero1}] | np.array([{e}, {same}])
np.lexsort(({e}, {same})) * 0.5 | np.isin({e}, {same}) * {e} | np.putmask({e}.copy(), {e} > 0, 0.5) or {e} | np.searchsorted(np.sort({e}.ravel()), 0.1271) * {e}
"""
BINARY = """
({e} + {other}) | ({e} - {other}) | ({e} * {other}) | ({e} / (2.5 + np.tanh({other}))) | ({other} - {e}) | np.add({e}, {other}) | np.multiply({e}, {other})
np.maximum({e}, {other}) | np.minimum({e}, {other}) | np.where({e} > {other}, {e}, {other}) | np.where(np.cos({e}) > 0.1171, {e}, {other}) | np.hypot({e}, {other} + 3.7)
np.arctan2({e}, {other} ** 2 + 1.0) | np.logaddexp({e}, {other}) | (({e} ** 2 + 0.5) ** np.tanh({other})) | np.subtract({e}, {other}) | np.divide({e}, {other} ** 2 + 1.0)
np.fmin({e}, {other}) | np.copysign({e}, {other}) | np.power({e} ** 2 + 0.7, np.tanh({other})) | ({e} > {other}) * {e} | np.clip({e}, {other} - 1.0, {other} + 1.0)
np.multiply({e}, {other}, where={e} > 0.1271, out=np.zeros(np.broadcast_shapes(np.shape({e}), np.shape({other}))))
"""
PRODUCTS = """
({e} @ {tail}) | np.dot({e}, {tail}) | np.matmul({e}, {tail}) | {e}.dot({tail}) | np.outer({e}, {other}) | np.inner({e}, {e}) | np.vdot({e}, {same}) | np.kron({e}, [0.5, 0.3])
np.tensordot({e}, {tail}, 1) | np.einsum("ij,jk->ik", {e}, {tail}) | np.einsum("...i,...i->...", {e}, {same}) | np.einsum("ij,kj", {e}, {same}) | np.einsum("i,j->ij", {e}, {e})
({e} @ {e}.T) | ({e}.T @ {e}) | np.multiply.outer({e}, {other}) | np.cross({e}, {same}) | np.linalg.vecdot({e}, {same}) | np.einsum({e}, [0, 1], [1, 0]) | np.matvec({e}, {e}[0])
np.linalg.multi_dot([{e}, {e}.T, {e}]) * 0.1 | np.einsum("ij,ij->i", {e}, {same}) | np.einsum("i...->...", {e}) | np.linalg.matmul({e}.T, {e}) | np.subtract.outer({e}, {e})
"""
LINALG = """
np.linalg.inv({spd}) | np.linalg.det({spd}) * 0.1 | np.linalg.solve({spd}, {e}) | np.linalg.cholesky({spd}) | np.linalg.eigvalsh({spd}) | np.linalg.slogdet({spd})[1]
np.linalg.eigh({spd})[0] | np.linalg.svd({e}, compute_uv=False) | np.linalg.qr({spd})[1] ** 2 | np.linalg.pinv({spd}) | np.linalg.matrix_power({spd}, 2) * 0.1 | np.linalg.norm({spd}, 2)
np.linalg.matrix_norm({e}) | np.linalg.svdvals({e}) | np.linalg.eigh({spd}).eigenvectors ** 2 | np.linalg.lstsq({spd}, {e})[0] | np.linalg.norm({e}, "nuc") | np.linalg.tensorinv({spd}, ind=1)
"""
GROUPS: dict[str, tuple[float, str]] = {
    "smooth": (10, SMOOTH),
    "kinked": (4, KINKED),
    "views": (9, VIEWS),
    "copies": (2, COPIES),
    "dtypes": (2, DTYPES),
    "reductions": (4, REDUCTIONS),
    "rearranged": (4, REARRANGED),
    "joined": (3, JOINED),
    "memory": (1, MEMORY),
    "chosen": (3, CHOSEN),
    "lists": (1, LISTS),
    "binary": (10, BINARY),
    "products": (3, PRODUCTS),
    "linalg": (1, LINALG),
}


def entries(table: str) -> list[str]:
    """Return the templates of a table."""
    return [entry.strip() for line in table.strip().splitlines() for entry in line.split(" | ")]


TEMPLATES = {name: entries(table) for name, (_, table) in GROUPS.items()}
WEIGHTS = {name: weight for name, (weight, _) in GROUPS.items()}
_WORDS = string.Formatter()


def words_of(template: str) -> set[str]:
    """Return the words in braces."""
    return {word for _, word, _, _ in _WORDS.parse(template) if word}


# What a word stands for -------------------------------------------------------------------------


def _axis(writer: Writer, value: Any) -> str | None:
    return str(writer.rng.randrange(-value.ndim, value.ndim)) if value.ndim else None


def _ax(writer: Writer, value: Any) -> str | None:
    rng = writer.rng
    if not value.ndim or rng.random() < 0.3:
        return ""
    axis = str(rng.randrange(-value.ndim, value.ndim))
    if value.ndim > 1 and rng.random() < 0.15:
        axis = str(tuple(rng.sample(range(value.ndim), 2)))
    return f", axis={axis}" + (", keepdims=True" if rng.random() < 0.4 else "")


def _shape(writer: Writer, value: Any) -> str | None:
    size = value.size
    pairs = [(a, size // a) for a in range(1, size + 1) if size % a == 0]
    if not pairs:
        return None
    one, two = writer.rng.choice(pairs)
    return writer.rng.choice((str((one, two)), str((one, -1)), "-1", str((one, 1, two))))


def _perm(writer: Writer, value: Any) -> str | None:
    return str(tuple(writer.rng.sample(range(value.ndim), value.ndim))) if value.ndim else None


def _other(writer: Writer, value: Any) -> str | None:
    return writer.partner(value)


def _same(writer: Writer, value: Any) -> str | None:
    return writer.of_shape(value.shape)


def _tail(writer: Writer, value: Any) -> str | None:
    if not value.ndim:
        return None
    n = value.shape[-1]
    found = [
        name
        for name, other in writer.arrays()
        if other.ndim and other.shape[max(other.ndim - 2, 0)] == n
    ]
    if found and writer.rng.random() < 0.7:
        return writer.rng.choice(found)
    return writer.literal(writer.rng.choice(((n,), (n, 2))))


def _spd(writer: Writer, value: Any) -> str | None:
    """Return the source of a symmetric matrix whose eigenvalues are apart and not near 0."""
    return "{m}" if value.ndim == 2 and value.shape[0] <= 4 else None  # noqa: PLR2004


FITTING: dict[str, Callable[[Writer, Any], str | None]] = {
    "axis": _axis,
    "axis2": _axis,
    "ax": _ax,
    "shape": _shape,
    "perm": _perm,
    "other": _other,
    "same": _same,
    "tail": _tail,
    "spd": _spd,
    "offset": lambda writer, value: str(writer.rng.choice((-1, 1))),
    "zero1": lambda writer, value: str(writer.rng.choice((0, 1, -1))),
    "s1": lambda writer, value: writer.scalar(),
    "s2": lambda writer, value: writer.scalar(),
}


def filled(writer: Writer, template: str, source: str, value: Any) -> str | None:
    """Return a template with its words filled in for an array, or None where nothing fits."""
    array = np.asarray(value)
    words: dict[str, str] = {"e": source}
    for word in sorted(words_of(template) - {"e"}):
        found = FITTING[word](writer, array)
        if found is None:
            return None
        n = array.shape[0] if array.ndim else 0
        words[word] = found.replace(
            "{m}", f"({source} @ {source}.T * 0.3 + np.diag(np.arange({n}) * 1.7 + 1.0))"
        )
    return template.format(**words)


def indexed(writer: Writer, source: str, value: Any) -> str:
    """Return the source of a part of an array, by any form of indexing."""
    return f"{source}[{key_for(writer, source, np.shape(value))}]"


def key_for(writer: Writer, source: str, shape: tuple[int, ...]) -> str:
    """Return a key of any form for an array of a shape: literal, or an index array that is alive."""
    rng = writer.rng
    if shape and rng.random() < 0.15:
        alive = writer.index_arrays(shape[0])
        if alive:
            return rng.choice(alive)
    if rng.random() < 0.6:
        return basic_key(rng, shape)
    return advanced_key(rng, shape, source)


REFUSED = (  # for tracked values, by NumPy's own functions; gradwrap.numpy's take them
    *("np.array({e}", "np.array([", "np.array({s", "np.asarray", "np.asanyarray", "np.require"),
    *("np.ascontiguousarray", "np.asfortranarray", "np.r_", "np.c_", "out=np.zeros", "([{s"),
    *("np.add([{", "np.sin([{", "np.array(list", "np.prod([{", "np.max([{", "np.full(", "np.vectorize"),
)


def grown(writer: Writer, source: str, value: Any, group: str | None = None) -> str | None:
    """Return the source of something made from an array, of a group or of any."""
    rng: random.Random = writer.rng
    if group is None and rng.random() < 0.2:
        return indexed(writer, source, value)
    chosen = group or rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    template = rng.choice(TEMPLATES[chosen])
    if not writer.drop_in and any(word in template for word in REFUSED) and rng.random() < 0.97:
        return None
    return filled(writer, template, source, value)
