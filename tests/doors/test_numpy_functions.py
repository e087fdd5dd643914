"""NumPy's functions, unmodified, with NumPy's signatures: NumPy's value, the numerical gradient."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from against_numpy import assert_same, check
from counting import allocated, lines
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import NoRuleError, OutArgumentError, TrackedValueError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from lambdas import Function

ANY: Any = np  # for calls that NumPy's own types are too narrow for
A = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))
V = np.random.default_rng(1).uniform(0.5, 2.0, 5)
BELOW: list[Any] = [np.zeros((1, 4)), 2.0]
S = np.random.default_rng(2).uniform(0.5, 2.0, (3, 3)) + 2 * np.eye(3)
T = np.random.default_rng(3).uniform(0.5, 2.0, (2, 3, 4))
HOLES = np.zeros((3, 4))
HOLES[[0, 1, 2, 2], [1, 3, 0, 2]] = np.nan
B = np.random.default_rng(4).uniform(0.5, 2.0, (4, 3))

VECDOT: Any = np.linalg.vecdot  # whose types have no axis
CASES: list[tuple[str, Function, tuple[Any, ...]]] = [
    # reductions
    ("sum", np.sum, (A,)),
    ("sum axis keepdims", lambda x: np.sum(x, 1, keepdims=True), (A,)),
    ("sum where", lambda x: np.sum(x, where=A > 1), (A,)),
    ("sum initial", lambda x: np.sum(x, initial=2.0), (A,)),
    ("sum axes", lambda x: np.sum(x, axis=(0, -1)), (T,)),
    ("prod", lambda x: np.prod(x, axis=0), (A,)),
    ("max", lambda x: np.max(x, axis=1), (A,)),
    ("amin", lambda x: np.min(x), (A,)),
    ("max initial", lambda x: np.max(x, initial=1.2, axis=0), (A,)),
    ("mean", lambda x: np.mean(x, axis=0), (A,)),
    ("mean where", lambda x: ANY.mean(x, where=A > 1), (A,)),
    ("var ddof", lambda x: np.var(x, axis=1, ddof=1), (A,)),
    ("std", np.std, (A,)),
    ("std correction", lambda x: np.std(x, correction=1), (A,)),
    ("cumsum", lambda x: np.cumsum(x, axis=1), (A,)),
    ("cumsum flat", np.cumsum, (A,)),
    ("cumprod", lambda x: ANY.cumprod(x, axis=0), (A,)),
    ("cumulative_sum", lambda x: np.cumulative_sum(x, axis=1, include_initial=True), (A,)),
    ("average", lambda x, w: np.average(x, axis=1, weights=w), (A, A[0] ** 2)),
    ("ptp", lambda x: np.ptp(x, axis=0), (A,)),
    ("median odd", lambda x: np.median(x, axis=0), (A,)),
    ("median even", lambda x: np.median(x, axis=1, keepdims=True), (A,)),
    # shapes
    ("reshape", lambda x: np.reshape(x, (2, 6)) ** 2, (A,)),
    ("reshape F", lambda x: np.reshape(x, (2, -1), order="F") * B.reshape(2, 6), (A,)),
    ("ravel", lambda x: np.ravel(x) ** 2, (A,)),
    ("ravel F", lambda x: np.ravel(x, order="F") * np.arange(12.0), (A,)),
    ("transpose", lambda x: np.transpose(x, (2, 0, 1)) ** 2, (T,)),
    ("swapaxes", lambda x: np.swapaxes(x, 0, 2) ** 2, (T,)),
    ("moveaxis", lambda x: np.moveaxis(x, 0, -1) ** 2, (T,)),
    ("moveaxis several", lambda x: np.moveaxis(x, [0, 1], [2, 0]) ** 2, (T,)),
    ("rollaxis", lambda x: np.rollaxis(x, 2) ** 2, (T,)),
    ("expand_dims", lambda x: np.expand_dims(x, (0, 2)) ** 2, (A,)),
    ("squeeze", lambda x: np.squeeze(x[None]) ** 2, (A,)),
    ("broadcast_to", lambda x: np.broadcast_to(x, (2, 5)) * np.arange(5.0), (V,)),
    ("broadcast_arrays", lambda x, y: np.broadcast_arrays(x, y)[1] * x, (A, A[0])),
    ("atleast", lambda x: np.atleast_1d(x)[0] * np.atleast_2d(x) * np.atleast_3d(x), (V,)),
    # joining and splitting
    ("concatenate", lambda x, y: np.concatenate([x, y, x], axis=0) ** 2, (A, A[:1])),
    ("concatenate flat", lambda x, y: np.concatenate([x, y], axis=None) ** 2, (A, V)),
    ("concatenate plain", lambda x: np.concatenate([x, np.ones((1, 4))]) ** 2, (A,)),
    ("stack", lambda x, y: np.stack([x, y], axis=-1) ** 2, (A, A * 2)),
    ("vstack", lambda x, y: np.vstack([x, y]) ** 2, (A, A[0])),
    ("hstack", lambda x, y: np.hstack([x, y]) ** 2, (V, V * 2)),
    ("hstack 2-d", lambda x: np.hstack([x, x * x]), (A,)),
    ("dstack", lambda x: np.dstack([x, x * x]), (A,)),
    ("column_stack", lambda x: np.column_stack([x, x**2]), (V,)),
    ("block", lambda x: np.block([[x, np.ones((3, 1))], BELOW]) ** 2, (A,)),
    ("append", lambda x: np.append(x, x[:2]) ** 2, (V,)),
    ("split", lambda x: np.split(x, 2, axis=1)[1] ** 2, (A,)),
    ("split at", lambda x: np.split(x, [1, 3])[1] ** 2, (V,)),
    ("array_split", lambda x: np.array_split(x, 3)[0] ** 2, (V,)),
    ("hsplit", lambda x: np.hsplit(x, 2)[0] ** 2, (A,)),
    ("unstack", lambda x: np.unstack(x, axis=1)[2] ** 2, (A,)),
    # rearranging
    ("flip", lambda x: np.flip(x, 0) * A, (A,)),
    ("fliplr flipud", lambda x: np.fliplr(np.flipud(x)) * A, (A,)),
    ("rot90", lambda x: np.rot90(x) * B, (A,)),
    ("roll", lambda x: np.roll(x, (1, 2), axis=(0, 1)) * A, (A,)),
    ("tile", lambda x: np.tile(x, (2, 2)) ** 2, (V,)),
    ("repeat", lambda x: np.repeat(x, 2, axis=0) ** 2, (A,)),
    ("repeat each", lambda x: np.repeat(x, [1, 0, 2], axis=0) ** 2, (A,)),
    ("sort", lambda x: np.sort(x, axis=0) * A, (A,)),
    ("take", lambda x: np.take(x, [0, 0, 2], axis=1) ** 2, (A,)),
    ("take flat", lambda x: np.take(x, [[0, 5], [5, 11]]) ** 2, (A,)),
    ("take_along_axis", lambda x: np.take_along_axis(x, np.argsort(A, 1), 1) * A, (A,)),
    ("diff", lambda x: np.diff(x, n=2, axis=1) ** 2, (A,)),
    ("diff prepend", lambda x: np.diff(x, prepend=0.0) ** 2, (V,)),
    ("trapezoid", lambda x, t: np.trapezoid(x, t), (V, np.cumsum(V))),
    ("where", lambda x, y: np.square(ANY.where(A > 1, x, y)), (A, A[0])),
    ("clip", lambda x: np.clip(x, 0.7, 1.5) ** 2, (A,)),
    ("clip keywords", lambda x: np.clip(x, min=0.7, max=None) ** 2, (A,)),
    ("tril triu", lambda x: np.tril(x) * np.triu(x, -1), (S,)),
    ("diagonal", lambda x: np.diagonal(x, 1) ** 2, (A,)),
    ("diag of a vector", lambda x: np.diag(x, 1)[:, 1:] @ x, (V,)),
    ("diag below", lambda x: np.diag(x, -2)[2:] @ np.append(x, [0.0, 0.0]), (V,)),
    ("diag of a matrix", lambda x: np.diag(x) ** 2, (S,)),
    ("round", lambda x: ANY.round(x, 1) * 0 + x, (A,)),
    ("sinc", lambda x: np.sinc(x - 1.0), (V,)),
    ("nan_to_num", lambda x: np.nan_to_num(x) ** 2, (A,)),
    ("linspace", lambda x: ANY.linspace(x[0], x[1], 5) ** 2, (V,)),
    ("meshgrid", lambda x: ANY.meshgrid(x, x * 2)[0] * ANY.meshgrid(x, x * 2)[1], (V,)),
    ("meshgrid ij", lambda x: ANY.meshgrid(x, x[:2], indexing="ij")[1] ** 2, (V,)),
    ("pad", lambda x: np.pad(x, ((1, 0), (2, 1))) ** 2, (A,)),
    ("pad reflect", lambda x: np.pad(x, 2, mode="reflect") ** 2, (V,)),
    ("convolve", lambda x, k: np.convolve(x, k), (V, V[:3])),
    ("convolve same", lambda x, k: np.convolve(k, x, mode="same"), (V, V[:3])),
    ("convolve valid", lambda x, k: np.convolve(x, k, "valid"), (V, V[:2])),
    ("polyval", lambda p, x: ANY.polyval(p, x), (V, A)),
    ("interp", lambda x, y: ANY.interp(x, np.arange(5.0), y), (A + 0.3, V)),
    # products and linear algebra
    ("dot", lambda x, y: np.dot(x, y), (A, B)),
    ("dot n-d", lambda x, y: np.dot(x, y), (A, np.moveaxis(T, 1, 2))),
    ("inner", lambda x, y: np.inner(x, y), (A, T)),
    ("vdot", lambda x: ANY.vdot(x, x * x), (A,)),
    ("outer", lambda x: np.outer(x, x), (V,)),
    ("matmul", lambda x, y: np.matmul(x, y), (T, B)),
    ("tensordot", lambda x, y: np.tensordot(x, y, axes=([1, 2], [1, 0])), (T, B)),
    ("einsum", lambda x, y: np.einsum("ijk,kj->i", x, y), (T, B)),
    ("einsum implicit", lambda x, y: np.einsum("ij,jk", x, y), (A, B)),
    ("einsum trace", lambda x: np.einsum("ii->i", x) ** 2, (S,)),
    ("einsum ellipsis", lambda x: np.einsum("...ij->...j", x), (T,)),
    ("kron", lambda x, y: ANY.kron(x, y), (S, V[:2])),
    ("cross", lambda x, y: np.cross(x, y), (S, S[0] + V[:3])),
    ("trace", lambda x: np.trace(x, offset=1), (A,)),
    ("norm", np.linalg.norm, (A,)),
    ("norm axis", lambda x: np.linalg.norm(x, axis=1), (A,)),
    ("norm 1", lambda x: np.linalg.norm(x, 1), (A,)),
    ("norm inf", lambda x: np.linalg.norm(x, np.inf, axis=0), (A,)),
    ("norm 3", lambda x: np.linalg.norm(x, 3), (V,)),
    ("norm keepdims", lambda x: np.linalg.norm(x, axis=(0, 1), keepdims=True), (A,)),
    ("solve", np.linalg.solve, (S, V[:3])),
    ("solve matrix", np.linalg.solve, (S, A)),
    ("inv", np.linalg.inv, (S,)),
    ("det", np.linalg.det, (S,)),
    ("slogdet", lambda x: np.linalg.slogdet(x)[1], (S,)),
    ("matrix_power", lambda x: np.linalg.matrix_power(x, 3), (S,)),
    ("matrix_power inverse", lambda x: np.linalg.matrix_power(x, -2), (S,)),
    ("multi_dot", lambda x, y: np.linalg.multi_dot([x, y, x]), (A, B)),
    # every argument of NumPy's signatures
    ("sum dtype", lambda x: np.sum(x, dtype=np.complex128), (A,)),
    ("sum positional", lambda x: np.sum(x, 0, None, None, True), (A,)),
    ("sum no axes", lambda x: np.sum(x, axis=()) ** 2, (A,)),
    ("sum where axis", lambda x: np.sum(x, axis=0, where=A[:, :1] > 1), (A,)),
    ("prod where", lambda x: np.prod(x, axis=1, where=A > 1, initial=2.0), (A,)),
    ("prod keepdims", lambda x: np.prod(x, axis=(0, 2), keepdims=True), (T,)),
    ("max where", lambda x: np.max(x, axis=0, where=A > 1, initial=0.0), (A,)),
    ("min axes", lambda x: np.min(x, axis=(0, 1)), (T,)),
    ("max of nothing", lambda x: np.max(x[:0], axis=0, initial=1.0) * np.sum(x), (A,)),
    ("mean axes", lambda x: np.mean(x, axis=(0, 2), keepdims=True), (T,)),
    ("mean dtype", lambda x: np.mean(x, dtype=np.float64), (A,)),
    ("mean where axis", lambda x: np.mean(x, axis=1, where=A > 0.8, keepdims=True), (A,)),
    ("var where", lambda x: np.var(x, axis=1, where=A > 0.7, ddof=1), (A,)),
    ("var mean", lambda x: np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)), (A,)),
    ("std where", lambda x: np.std(x, where=A > 0.8, keepdims=True), (A,)),
    ("var complex", lambda x: np.var(x * (1 + 2j), axis=0), (A,)),
    ("std complex", lambda x: np.std(x * (1 + 2j) + 1j * x**2), (A,)),
    ("cumsum dtype", lambda x: np.cumsum(x, axis=-1, dtype=np.float64), (A,)),
    ("cumulative_prod", lambda x: ANY.cumulative_prod(x, axis=0, include_initial=True), (A,)),
    ("average plain", lambda x: np.average(x, axis=0), (A,)),
    ("average returned", lambda x: np.average(x, axis=(0, 1), returned=True), (T,)),
    ("average weights", lambda x, w: np.average(x, weights=w, returned=True), (A, A + 1)),
    ("average along", lambda x, w: np.average(x, 1, w, keepdims=True), (A, A[0])),
    ("average axes", lambda x, w: np.average(x, (2, 0), w), (T, T[:, 0, :].T)),
    ("ptp keepdims", lambda x: np.ptp(x, axis=1, keepdims=True), (A,)),
    ("nansum", lambda x: np.nansum(x + HOLES, axis=0), (A,)),
    ("nanprod", lambda x: np.nanprod(x + HOLES, axis=1, keepdims=True), (A,)),
    ("nanmean", lambda x: np.nanmean(x + HOLES, axis=0), (A,)),
    ("nanmean where", lambda x: ANY.nanmean(x + HOLES, where=A > 0.8), (A,)),
    ("nanvar", lambda x: np.nanvar(x + HOLES, axis=0), (A,)),
    ("nanstd ddof", lambda x: np.nanstd(x + HOLES, ddof=1), (A,)),
    ("nanmax", lambda x: np.nanmax(x + HOLES, axis=1), (A,)),
    ("nanmin", lambda x: np.nanmin(x + HOLES), (A,)),
    ("nancumsum", lambda x: np.nancumsum(x + HOLES, axis=1), (A,)),
    ("nancumprod", lambda x: ANY.nancumprod(x + HOLES), (A,)),
    ("nanmedian", lambda x: np.nanmedian(x + HOLES, axis=0), (A,)),
    ("nanpercentile", lambda x: np.nanpercentile(x + HOLES, [20, 70], axis=1), (A,)),
    ("median axes", lambda x: np.median(x, axis=(0, 2)), (T,)),
    ("median 1-d", lambda x: np.median(x), (V,)),
    ("quantile", lambda x: np.quantile(x, 0.3), (V,)),
    ("quantile of q", np.quantile, (V, np.array([0.13, 0.62]))),
    ("percentile of q", lambda x, q: np.percentile(x, 100 * q, axis=1), (A, np.array([[0.13]]))),
    ("nanquantile of q", lambda x, q: np.nanquantile(HOLES + x, q, axis=1), (A, np.array(0.62))),
    *(
        (f"quantile of q {m}", lambda x, q, m=m: ANY.quantile(x, q, method=m), (A, np.array(0.62)))
        for m in ("weibull", "hazen", "median_unbiased")
    ),
    ("quantile axis", lambda x: np.quantile(x, [0.1, 0.5, 1.0], axis=1), (A,)),
    ("quantile 2-d", lambda x: np.quantile(x, [[0.1], [0.5]], axis=0, keepdims=True), (A,)),
    ("percentile", lambda x: np.percentile(x, 35, axis=(0, 1)), (T,)),
    *(
        (f"quantile {m}", lambda x, m=m: ANY.quantile(x, [0.2, 0.55], axis=1, method=m), (A,))
        for m in ("lower", "higher", "nearest", "midpoint", "hazen", "median_unbiased")
    ),
    ("cov", np.cov, (A,)),
    ("cov y", lambda x, y: ANY.cov(x, y, bias=True), (V, V**2)),
    ("cov columns", lambda x: np.cov(x, rowvar=False, ddof=0), (A,)),
    ("cov weights", lambda x: np.cov(x, fweights=[1, 2, 1, 3], aweights=A[0]), (A,)),
    ("cov aweights", lambda x, w: np.cov(x, aweights=w), (A, A[0])),
    ("cov fweights", lambda x: np.cov(x[0], fweights=[1, 2, 1, 3]), (A,)),
    ("corrcoef", lambda x: np.corrcoef(x) * S, (A,)),
    ("reshape order A", lambda x: np.reshape(x.T, (2, 6), order="A") * A.reshape(2, 6), (A,)),
    ("ravel of a transpose", lambda x: np.ravel(x.T, order="K") * A.ravel(), (A,)),
    ("reshape numpy integers", lambda x: x.reshape(np.int64(12)) ** 2, (A,)),
    ("moveaxis negative", lambda x: np.moveaxis(x, -1, 0) ** 2, (T,)),
    ("rollaxis back", lambda x: np.rollaxis(x, 0, 3) ** 2, (T,)),
    ("rollaxis negative", lambda x: np.rollaxis(x, -1, -2) ** 2, (T,)),
    ("transpose negative", lambda x: np.transpose(x, (-1, 0, 1)) ** 2, (T,)),
    ("permute_dims", lambda x: np.permute_dims(x, (1, 2, 0)) ** 2, (T,)),
    ("matrix_transpose", lambda x: np.matrix_transpose(x) ** 2, (T,)),
    ("expand_dims negative", lambda x: np.expand_dims(x, (-1, 1)) ** 2, (A,)),
    ("squeeze axis", lambda x: np.squeeze(x[:, None, :, None], axis=(1, -1)) ** 2, (A,)),
    ("broadcast_arrays all", lambda x, y: np.broadcast_arrays(x, y, 1.0), (A, A[0])),
    ("atleast_2d several", lambda x, y: ANY.atleast_2d(x, y), (A, V)),
    ("atleast_3d 2-d", lambda x: np.atleast_3d(x) ** 2, (A,)),
    ("concatenate dtype", lambda x: np.concatenate([x, x], dtype=np.complex128), (V,)),
    ("concatenate array", lambda x: np.concatenate(x) ** 2, (T,)),
    ("concatenate tuple", lambda x, y: np.concatenate((x, y), axis=-1), (A, S)),
    ("concat", lambda x: np.concat([x, x**2], axis=1), (A,)),
    ("stack negative", lambda x, y: np.stack((x, y, x), -2) ** 2, (A, A * 2)),
    ("vstack dtype", lambda x: np.vstack([x, x], dtype=np.float64) ** 2, (V,)),
    ("hstack scalars", lambda x: np.hstack([x[0], x[1], 2.0]) ** 2, (V,)),
    ("dstack 1-d", lambda x: np.dstack([x, x * x]), (V,)),
    ("column_stack mixed", lambda x, y: np.column_stack([x, y, x]), (V[:3], A)),
    ("block rows", lambda x: np.block([x, x, 1.0]) ** 2, (V,)),
    ("append axis", lambda x, y: np.append(x, y, axis=1) ** 2, (A, S)),
    ("split list", lambda x: np.split(x, np.array([1, 3]), axis=-1), (A,)),
    ("array_split uneven", lambda x: np.array_split(x, 2, axis=0), (A,)),
    ("array_split many", lambda x: np.array_split(x, 7)[4] * 2.0, (V,)),
    ("vsplit dsplit", lambda x: np.vsplit(x, 2)[0] * np.dsplit(x, [1])[1], (T[:, :, :2],)),
    ("hsplit 1-d", lambda x: np.hsplit(x, [2])[1] ** 2, (V,)),
    ("delete", lambda x: np.delete(x, 1, axis=1) ** 2, (A,)),
    ("delete several", lambda x: np.delete(x, [0, -1]) ** 2, (V,)),
    ("delete slice", lambda x: np.delete(x, slice(0, 4, 2), axis=1) ** 2, (A,)),
    ("delete mask", lambda x: np.delete(x, np.array([True, False, False, True, False])), (V,)),
    ("insert", lambda x, y: np.insert(x, 2, y[0]) ** 2, (V, V)),
    ("insert several at one", lambda x, y: np.insert(x, -1, y[:3]) ** 2, (V, V)),
    ("insert at several", lambda x, y: np.insert(x, [3, 0, 3], y[:3]) ** 2, (V, V)),
    ("insert row", lambda x, y: np.insert(x, 1, y, axis=0) ** 2, (A, A[0])),
    ("insert column", lambda x, y: np.insert(x, 1, y, axis=1) ** 2, (A, A[:, 0])),
    ("insert columns", lambda x, y: np.insert(x, [1, 2], y, axis=1) ** 2, (A, A[:, :2])),
    ("insert constant", lambda x: np.insert(x, [1], [[1.0], [2.0], [3.0]], axis=1) ** 2, (A,)),
    ("pad constant", lambda x: np.pad(x, (1, 2), constant_values=3.0) ** 2, (A,)),
    ("pad pairs", lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=((1, 2), (3, 4))), (A,)),
    ("pad none", lambda x: np.pad(x, 0) ** 2, (V,)),
    ("pad edge", lambda x: np.pad(x, ((0, 1), (2, 0)), mode="edge") ** 2, (A,)),
    ("pad wrap", lambda x: np.pad(x, 2, mode="wrap") ** 2, (V,)),
    ("pad mean", lambda x: np.pad(x, ((0, 1), (2, 0)), "mean") ** 2, (A,)),
    ("pad maximum", lambda x: np.pad(x, 2, "maximum", stat_length=(1, 2)) ** 2, (V,)),
    ("pad minimum", lambda x: np.pad(x, (1, 2), "minimum") ** 2, (A,)),
    ("pad median", lambda x: np.pad(x, (3, 1), "median", stat_length=3) ** 2, (A,)),
    ("pad ramp", lambda x: np.pad(x, (3, 2), "linear_ramp", end_values=(1, -2)) ** 2, (A,)),
    ("pad ramp to", lambda x: np.pad(x[1:], (3, 2), "linear_ramp", end_values=x[0]) ** 2, (V,)),
    ("pad odd", lambda x: np.pad(x, (7, 9), "reflect", reflect_type="odd") ** 2, (A,)),
    ("pad odd edge", lambda x: np.pad(x, (7, 9), "symmetric", reflect_type="odd") ** 2, (A,)),
    ("pad symmetric", lambda x: np.pad(x, (3, 1), mode="symmetric") ** 2, (V,)),
    ("resize", lambda x: np.resize(x, (3, 5)) ** 2, (A,)),
    ("flip axes", lambda x: np.flip(x, (0, 2)) * T, (T,)),
    ("flip all", lambda x: np.flip(x) * A, (A,)),
    ("rot90 axes", lambda x: np.rot90(x, -1, axes=(2, 1)) ** 2, (T,)),
    ("rot90 twice", lambda x: np.rot90(x, 2) * A, (A,)),
    ("roll flat", lambda x: np.roll(x, 3) * A, (A,)),
    ("roll list", lambda x: np.roll(x, [1, -1], axis=[0, 1]) * A, (A,)),
    ("roll one by axes", lambda x: np.roll(x, 1, axis=(0, 1)) * A, (A,)),
    ("tile one", lambda x: np.tile(x, 3) ** 2, (A,)),
    ("tile more axes", lambda x: np.tile(x, (2, 1, 3)) ** 2, (A,)),
    ("repeat flat", lambda x: np.repeat(x, 3) ** 2, (A,)),
    ("repeat array", lambda x: np.repeat(x, np.arange(4), axis=-1) ** 2, (A,)),
    ("sort flat", lambda x: np.sort(x, axis=None) * np.arange(12.0), (A,)),
    ("sort descending", lambda x: ANY.sort(x, axis=0, descending=True) * A, (A,)),
    ("sort stable", lambda x: np.sort(x, kind="stable") * A, (A,)),
    ("partition", lambda x: np.partition(x, 2, axis=0) ** 2, (A,)),
    ("unique", lambda x: np.unique(x) ** 2, (V,)),
    ("unique counts", lambda x: np.unique(np.repeat(x, 2), return_counts=True), (V,)),
    ("unique all", lambda x: np.unique(x, True, True), (A,)),
    ("unique rows", lambda x: np.unique(x, axis=0) ** 2, (A,)),
    ("unique columns", lambda x: np.unique(np.concatenate([x, x], 1), True, axis=-1), (A,)),
    ("take wrap", lambda x: np.take(x, [-7, 5, 9], mode="wrap") ** 2, (V,)),
    ("take clip", lambda x: np.take(x, [[-7, 5]], axis=1, mode="clip") ** 2, (A,)),
    ("take one", lambda x: np.take(x, 2, axis=-1) ** 2, (A,)),
    ("take tuple", lambda x: np.take(x, (0, 1)) ** 2, (A,)),
    ("take_along_axis wide", lambda x: np.take_along_axis(x, np.array([[2, 0, 0]]), 1), (A,)),
    ("take_along_axis flat", lambda x: np.take_along_axis(x, np.array([5, 5]), None), (A,)),
    ("where scalars", lambda x: np.where(x > 1, x**2, 0.0), (A,)),
    ("where one", lambda x: np.where(np.array([1, 0, 2, 0]), 1.0, x), (A,)),
    ("select", lambda x: np.select([x < 0.8, x < 1.2], [x, x**2], 5.0), (A,)),
    ("select default", lambda x: np.select([x < 0.8, x < 1.2], [x, A[0]], x**3), (A,)),
    ("piecewise", lambda x: np.piecewise(x, [x < 0.9, x > 1.4], [np.sin, 2.0, np.cos]), (A,)),
    ("piecewise args", lambda x: ANY.piecewise(x, x > 1, [fn(lambda t, p: t**p), 0.0], 3.0), (V,)),
    ("piecewise 0-d", lambda x: np.piecewise(x[0], [x[0] > 0], [np.exp]), (V,)),
    ("choose", lambda x: np.choose([[0, 1, 1, 0]] * 3, [x, x**2]), (A,)),
    ("compress", lambda x: np.compress([True, False, True], x, axis=0) ** 2, (A,)),
    ("extract", lambda x: np.extract(A > 1, x) ** 2, (A,)),
    ("clip arrays", lambda x, y: np.clip(x, y, 1.5) ** 2, (A, A[0] * 0.9)),
    ("clip none", lambda x: np.clip(x, None, 1.2) ** 2, (A,)),
    ("tril 1-d", lambda x: np.tril(x) * np.triu(x, 1), (V,)),
    ("tril stack", lambda x: np.tril(x, 1) + np.triu(x, 2) ** 2, (T,)),
    ("diagonal axes", lambda x: np.diagonal(x, 0, 2, 0) ** 2, (T,)),
    ("diag zero", lambda x: np.diag(x) @ x, (V,)),
    ("diag off", lambda x: np.diag(x, -1) ** 2, (A,)),
    ("diagflat", lambda x: np.diagflat(x, 1) ** 2, (A,)),
    ("trim_zeros", lambda x: np.trim_zeros(ANY.pad(x, 2)) ** 2, (V,)),
    (
        "sliding_window_view",
        lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2)).sum(axis=(0, 1)) ** 2,
        (A,),
    ),
    ("diff prepend append", lambda x, y: np.diff(x, prepend=y, append=0.0), (A, A[:, :1])),
    ("diff none", lambda x: np.diff(x, n=0) ** 2, (V,)),
    ("diff axis", lambda x: np.diff(x, axis=0) ** 2, (A,)),
    ("ediff1d", lambda x: ANY.ediff1d(x, to_end=[1.0, 2.0], to_begin=x[0]) ** 2, (A,)),
    ("gradient", lambda x: np.gradient(x) ** 2, (V,)),
    ("gradient axes", lambda x: np.gradient(x, 0.5, 2.0), (A,)),
    ("gradient second order", lambda x: np.gradient(x, 0.5, edge_order=2), (V,)),
    ("gradient coordinates", lambda x, t: np.gradient(x, t), (V, np.cumsum(V))),
    ("gradient axis", lambda x: np.gradient(x, np.cumsum(V[:4]), axis=1, edge_order=2), (A,)),
    ("trapezoid dx", lambda x: np.trapezoid(x, dx=0.5, axis=0) ** 2, (A,)),
    ("trapezoid axis", lambda x, t: np.trapezoid(x, t, axis=0), (A, np.cumsum(V[:3]))),
    ("trapezoid 2-d", lambda x, t: np.trapezoid(x, t), (A, np.cumsum(A, axis=1))),
    ("interp outside", lambda x, y: ANY.interp(x, [1, 1.2, 1.4], y, left=0, right=9), (A, V[:3])),
    ("interp knots", lambda x, k: ANY.interp(x, k, [1.0, 3.0, -1.0]), (A, np.cumsum(V[:3]))),
    ("interp period", lambda x, y: ANY.interp(x, [0.1, 0.8, 0.4], y, period=0.9), (A, V[:3])),
    ("sinc zero", lambda x: np.sinc(x - V), (V,)),
    ("angle", lambda x: np.angle(x + 1j * x**2), (A,)),
    ("angle degrees", lambda x: np.angle(x + 1j, deg=True), (A,)),
    ("real imag", lambda x: np.real(x * 1j + x**2) * np.imag(x * 1j), (A,)),
    ("real_if real", lambda x: np.real(x) + np.imag(x), (A,)),
    ("unwrap", lambda x: np.unwrap(x * 4.0) ** 2, (V,)),
    (
        "nan_to_num complex",
        lambda x: np.abs(np.nan_to_num(x + 1j * x**3 + HOLES, nan=2.0)),
        (A,),
    ),
    ("nan_to_num values", lambda x: np.nan_to_num(x + HOLES, nan=2.0, posinf=1.0) ** 2, (A,)),
    ("copy", lambda x: np.copy(x) ** 2, (A,)),
    ("astype", lambda x: np.astype(x, np.float64) ** 2, (A,)),
    ("round tracked", lambda x: ANY.round(x, -1) + np.trunc(x) + x, (A * 10,)),
    ("linspace arrays", lambda x: ANY.linspace(x, x[::-1], 4, endpoint=False, axis=1), (V,)),
    ("linspace step", lambda x: ANY.linspace(0.0, x[0], 3, retstep=True), (V,)),
    ("logspace", lambda x: ANY.logspace(x[0], x[1], 4, base=2.0), (V,)),
    ("geomspace", lambda x: ANY.geomspace(x[0], x[1], 4), (V,)),
    ("geomspace negative", lambda x: ANY.geomspace(-x, -x[::-1], 4, axis=-1), (V,)),
    ("meshgrid three", lambda x: ANY.meshgrid(x, x[:2], x[:3])[1] ** 2, (V,)),
    ("meshgrid sparse", lambda x: ANY.meshgrid(x, x[:2], sparse=True), (V,)),
    ("full_like", lambda x: np.full_like(x, x[0]) ** 2, (V,)),
    ("full_like shape", lambda x: np.full_like(x, x[0] * 2, shape=(2, 3)) ** 2, (V,)),
    ("zeros_like", lambda x: np.zeros_like(x) + np.ones_like(x, dtype=np.float32) * x, (A,)),
    ("polyadd polysub", lambda p, q: ANY.polyadd(p, q) * ANY.polysub(q, p), (V, V[:3])),
    ("polymul", lambda p, q: ANY.polymul(p, q), (V, V[:3])),
    ("polyder", lambda p: ANY.polyder(p, 2), (V,)),
    ("polyint", lambda p: ANY.polyint(p, 2, [1.0, 2.0]), (V,)),
    ("polyval point", lambda p: ANY.polyval(p, 0.7), (V,)),
    ("polyval coefficients", lambda x: ANY.polyval([1.0, -2.0, 3.0], x), (A,)),
    ("vander", lambda x: np.vander(x, 3), (V,)),
    ("poly", lambda x: ANY.poly(x), (V,)),
    ("poly of a matrix", lambda x: ANY.poly(x), (S,)),
    ("polydiv", lambda u, v: ANY.polydiv(u, v), (V, V[:3])),
    ("polydiv by a longer one", lambda u, v: ANY.polydiv(u, v), (V[:2], V[:3])),
    ("roots real", lambda x: ANY.roots(np.poly([1.0, 2.0, 4.0]) + 0.05 * x), (V[:4],)),
    ("roots complex", lambda p: np.abs(ANY.roots(p)), (V,)),
    ("roots at zero", lambda p: ANY.roots(np.concatenate([[0.0], p, [0.0, 0.0]])), (V[:2],)),
    ("roots of a constant", lambda p: ANY.roots(p[:1]) + p[1], (V,)),
    ("polyfit", lambda x, y: ANY.polyfit(x, y, 2), (V, V[::-1] ** 2)),
    ("polyfit of columns", lambda x, y: ANY.polyfit(x, y, 1), (A[:, 0], A[:, 1:])),
    ("polyfit weights", lambda y, w: ANY.polyfit(np.arange(5), y, 2, w=w), (V, V[::-1])),
    (
        "polyfit weights of columns",
        lambda y, w: ANY.polyfit([0, 1, 2], y, 1, w=w, rcond=1e-9),
        (A, A[:, 0]),
    ),
    ("vander increasing", lambda x: np.vander(x, increasing=True), (V,)),
    ("correlate", lambda x, k: np.correlate(x, k), (V, V[:3])),
    ("correlate full", lambda x, k: np.correlate(x, k, "full"), (V, V[:2])),
    ("correlate same", lambda x, k: np.correlate(x, k, "same"), (V, V[:4])),
    ("correlate short", lambda x, k: np.correlate(k, x, "full"), (V, V[:2])),
    ("correlate short same", lambda x, k: np.correlate(k, x, "same"), (V, V[:2])),
    ("correlate complex", lambda x, k: np.correlate(x + 1j, k * 1j + k, "full"), (V, V[:2])),
    ("convolve complex", lambda x, k: np.convolve(x * 1j, k), (V, V[:2])),
    ("convolve one", lambda x: np.convolve(x[0], x) ** 2, (V,)),
    ("apply_along_axis", lambda x: ANY.apply_along_axis(np.sum, 1, x) ** 2, (T,)),
    ("apply_along_axis grows", lambda x: np.apply_along_axis(np.diag, 0, x) ** 2, (A,)),
    ("apply_along_axis keeps", lambda x: ANY.apply_along_axis(np.cumsum, 1, x), (T,)),
    ("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x, [0, 2]) ** 2, (T,)),
    ("dot vectors", lambda x: np.dot(x, x), (V,)),
    ("dot scalar", lambda x: np.dot(x[0], x), (V,)),
    ("dot matrix vector", lambda x, y: np.dot(x, y), (T, V[:4])),
    ("dot list", lambda x: np.dot(x, [1.0, 2.0, 3.0]), (S,)),
    ("inner scalar", lambda x: np.inner(x, 3.0) ** 2, (A,)),
    ("vdot complex", lambda x: ANY.vdot(x * 1j + x, x + 1j), (A,)),
    ("outer matrices", lambda x, y: np.outer(x, y), (S, V)),
    ("linalg.outer", lambda x, y: np.linalg.outer(x, y), (V, V[:2])),
    ("tensordot 0", lambda x, y: np.tensordot(x, y, 0), (V, V[:2])),
    ("tensordot 1", lambda x, y: np.tensordot(x, y, 1), (T, B)),
    ("tensordot axis", lambda x, y: np.tensordot(x, y, axes=(1, 1)), (T, B)),
    ("tensordot negative", lambda x, y: np.tensordot(x, y, ([-1], [0])), (T, B)),
    ("einsum lists", lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [2, 0]), (A, B)),
    ("einsum lists implicit", lambda x, y: np.einsum(x, [0, 1], y, [1, 2]), (A, B)),
    ("einsum optimize", lambda x, y: np.einsum("ij,jk,kl->il", x, y, x, optimize=True), (A, B)),
    ("einsum spaces", lambda x: np.einsum(" ij -> ji ", x) ** 2, (A,)),
    ("kron 2-d", lambda x, y: ANY.kron(x, y), (S, A)),
    ("kron 1-d", lambda x, y: ANY.kron(x, y), (V, S)),
    ("cross axes", lambda x, y: np.cross(x, y, axisa=0, axisb=1, axisc=0), (A, B)),
    ("cross axis", lambda x, y: np.cross(x, y, axis=0), (A, A**2)),
    ("linalg.cross", lambda x, y: ANY.linalg.cross(x, y, axis=0), (A, A**2)),
    ("trace axes", lambda x: np.trace(x, axis1=1, axis2=2) ** 2, (T,)),
    ("trace dtype", lambda x: np.trace(x, dtype=np.float64) ** 2, (T,)),
    ("linalg.trace", lambda x: np.linalg.trace(x, offset=-1) ** 2, (T,)),
    ("linalg.diagonal", lambda x: np.linalg.diagonal(x, offset=1) ** 2, (T,)),
    ("linalg.vecdot", lambda x, y: VECDOT(x, y, axis=-2), (T, T[0])),
    ("linalg.matmul", lambda x, y: np.linalg.matmul(x, y), (T, B)),
    ("linalg.tensordot", lambda x, y: np.linalg.tensordot(x, y, axes=1), (T, B)),
    ("vector_norm", lambda x: np.linalg.vector_norm(x, axis=(0, 2), ord=3), (T,)),
    ("matrix_norm", lambda x: np.linalg.matrix_norm(x, ord=1, keepdims=True), (T,)),
    ("norm 3-d", lambda x: np.linalg.norm(x), (T,)),
    ("norm fro", lambda x: np.linalg.norm(x, "fro", axis=(2, 0)), (T,)),
    ("norm 2", lambda x: np.linalg.norm(x, 2), (A,)),
    ("norm -2", lambda x: np.linalg.norm(x, -2, axis=(1, 2)), (T,)),
    ("norm nuc", lambda x: np.linalg.norm(x, "nuc", axis=(0, 2), keepdims=True), (T,)),
    ("norm -1", lambda x: np.linalg.norm(x, -1), (A,)),
    ("norm -inf", lambda x: np.linalg.norm(x, -np.inf, axis=(1, 0)), (T,)),
    ("norm vector inf", lambda x: np.linalg.norm(x, -np.inf), (V,)),
    ("norm vector 0", lambda x: np.linalg.norm(x, 0) + np.sum(x), (V,)),
    ("norm axis keepdims", lambda x: np.linalg.norm(x, axis=-1, keepdims=True), (T,)),
    ("norm one axis", lambda x: np.linalg.norm(x, 1, axis=(1,)), (T,)),
    ("solve stack", lambda x, y: ANY.linalg.solve(np.stack([x, x @ x]), y), (S, A)),
    ("slogdet attributes", lambda x: np.linalg.slogdet(x).logabsdet, (S,)),
    ("matrix_power 0", lambda x: np.linalg.matrix_power(x, 0) + x, (S,)),
    ("matrix_power 1", lambda x: np.linalg.matrix_power(x, 1) ** 2, (S,)),
    ("matrix_power stack", lambda x: np.linalg.matrix_power(x[None], 5), (S,)),
    ("multi_dot vectors", lambda x, y: np.linalg.multi_dot([y, x, x, y]), (S, V[:3])),
    ("multi_dot order", lambda x, y: np.linalg.multi_dot([x, y, x, y, V[:3]]), (A, B)),
]

SINCE_2_5 = {"sort descending"}
if np.lib.NumpyVersion(np.__version__) < "2.5.0":
    CASES = [case for case in CASES if case[0] not in SINCE_2_5]
SINCE_2_1 = {"clip keywords", "cumulative_prod", "cumulative_sum", "unstack"}
if np.lib.NumpyVersion(np.__version__) < "2.1.0":
    CASES = [case for case in CASES if case[0] not in SINCE_2_1]

# their rules are by the SVD, which has none yet
WITHOUT_SECOND = [c[1] for c in CASES if c[0] in ("norm 2", "norm -2", "norm nuc")]


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_value_is_numpys_and_derivatives_are_numerical(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    check(function, args, order=1 if function in WITHOUT_SECOND else 2)


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_arrays_that_are_not_tracked(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    result = function(*(gw.wrap(a) for a in args))
    assert_same(map_leaves(gw.unwrap, result), function(*args))


# Functions that write -----------------------------------------------------------------------------


def written(function: Function, *args: Any) -> Callable[..., Any]:
    """Return the array that a function has written to, a copy of the first argument."""
    write: Callable[..., Any] = function

    def program(x: Any, *values: Any) -> Any:
        out = x * 2.0
        assert write(out, *args, *(v**2 for v in values)) is None
        return out * x

    return program


WRITES: list[tuple[str, Function, tuple[Any, ...]]] = [
    ("copyto", written(np.copyto), (A, A[0])),
    ("copyto where", written(lambda o, v: np.copyto(o, v, where=A > 1)), (A, A)),
    ("copyto casting", written(lambda o, v: np.copyto(o, v, casting="unsafe")), (A, A)),
    ("fill_diagonal", written(np.fill_diagonal), (A, V[:1])),
    ("fill_diagonal values", written(np.fill_diagonal), (S, V[:2])),
    ("fill_diagonal wrap", written(lambda o, v: np.fill_diagonal(o, v, wrap=True)), (B, V[:1])),
    ("put", written(np.put, [0, 5, -1]), (A, V[:3])),
    ("put repeated", written(np.put, [0, 5, 5, 7]), (A, V[:2])),
    ("put wrap", written(lambda o, v: np.put(o, [13, 2], v, mode="wrap")), (A, V[:2])),
    ("put clip", written(lambda o, v: np.put(o, [13, 2], v, mode="clip")), (A, V[:2])),
    ("putmask", written(lambda o, v: np.putmask(o, A > 1, v)), (A, A)),
    ("putmask repeated", written(lambda o, v: np.putmask(o, A > 1, v)), (A, V)),
    ("place", written(lambda o, v: np.place(o, A > 1, v)), (A, V[:3])),
    (
        "put_along_axis",
        written(lambda o, v: np.put_along_axis(o, np.argmax(A, 1)[:, None], v, axis=1)),
        (A, V[:3, None]),
    ),
    (
        "put_along_axis flat",
        written(lambda o, v: np.put_along_axis(o, np.array([0, 7]), v, axis=None)),
        (A, V[:2]),
    ),
    ("nan_to_num", lambda x: np.nan_to_num(x + HOLES, copy=False) * x, (A,)),
]


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in WRITES], ids=[c[0] for c in WRITES])
def test_functions_that_write(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(function, args)


@pytest.mark.parametrize(
    "function",
    rows(
        [
            lambda x: np.copyto(np.zeros(5), x),
            lambda x: np.put(np.zeros(5), [0], x[:1]),
            lambda x: np.putmask(np.zeros(5), V > 1, x),
            lambda x: np.place(np.zeros(5), V > 1, x),
            lambda x: np.put_along_axis(np.zeros(5), np.arange(5), x, 0),
        ]
    ),
)
def test_functions_that_write_refuse_a_plain_array(function: Callable[[Any], Any]) -> None:
    x = gw.wrap(V, requires_grad=True)
    text = r"into an ndarray, in <lambda> \(.*Fix: make the array with gradwrap\.wrap"
    with pytest.raises(OutArgumentError, match=text):
        function(x)
    text = r"with gradwrap\.numpy\.zeros inside the function .*gradwrap\.wrap"
    with pytest.raises(OutArgumentError, match=text):
        gw.grad(function)(V)


def test_writing_what_is_not_tracked_into_a_plain_array_is_fine() -> None:
    out = np.zeros(5)
    np.copyto(out, gw.wrap(V))
    np.testing.assert_array_equal(out, V)


def test_copyto_checks_the_cast_as_numpy() -> None:
    into: Any = gw.wrap(np.zeros(5))
    with pytest.raises(TypeError, match="same_kind"):
        np.copyto(into, gw.wrap(V * 1j, requires_grad=True))


# out= ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    rows(
        [
            lambda x, out: np.sum(x, axis=0, out=out),
            lambda x, out: np.sum(x, 0, None, out),
            lambda x, out: np.mean(x, 0, out=out),
            lambda x, out: np.dot(V[:3], x, out),
            lambda x, out: np.max(x, 0, out),
            lambda x, out: np.median(x, axis=0, out=out),
            lambda x, out: np.concatenate([x[0, :2], x[1, 2:]], out=out),
            lambda x, out: np.take(x, [0, 3, 2, 2], out=out),
            lambda x, out: np.clip(x[0], 0.7, 1.1, out=out),
        ]
    ),
)
def test_out_a_variable_is_written_to(function: Callable[[Any, Any], Any]) -> None:
    def program(x: Any) -> Any:
        out = gw.wrap(np.zeros(4)) if isinstance(x, gw.Variable) else np.zeros(4)
        assert function(x, out) is out
        return out * x

    check(program, (A,))
    plain = np.zeros(4)
    assert function(gw.wrap(A), plain) is plain
    np.testing.assert_allclose(plain, function(A, np.zeros(4)))


# Errors and answers that are not tracked ----------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    rows(
        [
            lambda x: np.argmax(x, axis=0),
            lambda x: np.argsort(x, axis=None),
            lambda x: np.argpartition(x, 1),
            lambda x: np.nonzero(x > 1),
            lambda x: np.where(x > 1),
            lambda x: np.argwhere(x > 1),
            lambda x: np.all(x > 0.7, axis=1),
            lambda x: np.any(x > 1.7, where=A > 1),
            lambda x: np.count_nonzero(x > 1, axis=0),
            lambda x: np.searchsorted(x[0], 1.0),
            lambda x: np.isclose(x, A),
            lambda x: np.allclose(x, A),
            lambda x: np.array_equal(x, A),
            lambda x: ANY.round(x, 2),
            lambda x: np.nanargmax(x, axis=1),
            lambda x: np.shape(x),
            lambda x: np.size(x, 1),
            lambda x: np.ndim(x),
            lambda x: np.iscomplexobj(x),
            lambda x: np.lexsort((x[0], x[1])),
            lambda x: ANY.digitize(x, [0.7, 1.0, 1.5]),
        ]
    ),
)
def test_questions_are_answered_from_the_data(function: Callable[[Any], Any]) -> None:
    def one(answer: Any) -> Any:
        assert not getattr(answer, "requires_grad", False)
        return gw.unwrap(answer)

    assert_same(map_leaves(one, function(gw.wrap(A, requires_grad=True))), function(A))
    assert str(np.result_type(gw.wrap(A, requires_grad=True), np.float32)) == "float64"


@pytest.mark.parametrize(
    ("function", "text"),
    rows(
        [
            (
                np.histogram,
                r"np.histogram on numpy arrays has no rule.*Fix: gradwrap.defvjp\(np.hist",
            ),
            (np.histogram_bin_edges, r"np.histogram_bin_edges on numpy arrays has no rule.*detach"),
            (
                lambda x: np.quantile(x, x, method="lower"),
                "no derivative with respect to q. Fix: .detach",
            ),
            (
                lambda x: np.pad(x, 1, mode="empty"),
                "mode='empty' has no rule. Fix: use np.concatenate",
            ),
            (lambda x: np.full(3, x[0]), "plain numpy.ndarray .* gradwrap.numpy"),
            (lambda x: np.fill_diagonal(np.eye(5), x), "plain numpy.ndarray .* gradwrap.numpy"),
        ]
    ),
)
def test_what_has_no_rule_says_so(function: Callable[[Any], Any], text: str) -> None:
    with pytest.raises((NoRuleError, TrackedValueError), match=text):
        function(gw.wrap(V, requires_grad=True))


@pytest.mark.parametrize(
    "function",
    rows(
        [
            lambda x: np.expand_dims(x, 5),
            lambda x: np.expand_dims(x, (0, 0)),
            lambda x: np.split(x, 4),
            lambda x: np.reshape(x, (7,)),
            lambda x: np.transpose(x, (0, 0)),
            lambda x: np.squeeze(x, axis=0),
            lambda x: np.concatenate([x, x[0]]),
            lambda x: np.stack([x, x[0]]),
            lambda x: np.max(x, where=A > 1),
            lambda x: np.linalg.norm(x[None], 2),
            lambda x: np.average(x, weights=A[0]),
            lambda x: np.diag(x[None]),
            lambda x: np.diff(x, n=-1),
            lambda x: np.select([x > 1], [x, x]),
            lambda x: np.gradient(x, 1.0, 1.0, 1.0),
            lambda x: np.take_along_axis(x, np.array([0]), 0),
            lambda x: np.take(x, 99),
            lambda x: ANY.piecewise(x, [x > 1], [1.0, 2.0, 3.0]),
        ]
    ),
)
def test_what_numpy_refuses_is_refused_with_its_error(function: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011  whatever NumPy raises
        function(A)
    with pytest.raises(Exception) as raised:  # noqa: PT011  NumPy's own kind of error
        function(gw.wrap(A, requires_grad=True))
    builtins = [kind for kind in expected.type.__mro__ if kind.__module__ == "builtins"]
    assert issubclass(raised.type, builtins[0])


def test_conventions_of_order_statistics() -> None:
    gradient = gw.grad(fn(lambda x: ANY.median(x)))
    np.testing.assert_array_equal(gradient(np.array([3.0, 1.0, 2.0, 4.0])), [0.5, 0, 0.5, 0])
    np.testing.assert_array_equal(np.sum(gradient(np.ones(3))), 1.0)
    quantile = gw.grad(fn(lambda x: ANY.quantile(x, 0.5)))
    np.testing.assert_array_equal(quantile(np.array([3.0, 1.0, 2.0, 4.0])), [0.5, 0, 0.5, 0])
    median: Any = np.median
    assert np.isnan(gw.value_and_grad(median)(np.array([1.0, np.nan, 0.0]))[0])
    running = gw.grad(fn(lambda x: np.sum(np.maximum.accumulate(x))))
    np.testing.assert_array_equal(running(np.array([1.0, 1.0, 0.0, 2.0])), [3.0, 0.0, 0.0, 1.0])
    assert gw.grad(lambda x: ANY.sinc(x))(0.0) == 0.0
    first = gw.grad(fn(lambda x: np.diag(x)[0, 0]))
    np.testing.assert_array_equal(first(np.array([1.0, np.inf])), [1.0, 0.0])
    by_holes = gw.grad(fn(lambda x: ANY.nanmean(x) + ANY.nanstd(x) + np.nanmax(x) + np.nansum(x)))
    assert np.all(np.isfinite(by_holes(np.array([1.0, np.nan, 2.0]))))


# Speed --------------------------------------------------------------------------------------------


def test_dispatch_makes_no_object_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """HIPS autograd takes 227 ms here, since it makes an array of 4,000 boxes."""
    x = gw.wrap(np.ones(2000), requires_grad=True)

    def item(self: Any, key: Any = None) -> Any:
        raise AssertionError

    monkeypatch.setattr(type(x), "__getitem__", item)
    monkeypatch.setattr(type(x), "__iter__", item)
    for function in (np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack):
        assert function([x, x]).dtype == np.float64
    assert np.where(np.ones(2000) > 0, x, x).shape == (2000,)


@pytest.mark.slow
def test_concatenate_costs_little_more_than_numpys() -> None:
    """The dispatch adds the same for arrays of any size, and little."""

    def added(size: int) -> tuple[int, int]:
        plain = np.ones(size)
        x = gw.wrap(plain, requires_grad=True)
        np.concatenate([x, x])
        tracked = partial(np.concatenate, [x, x])
        without = partial(np.concatenate, [plain, plain])
        return (
            lines(tracked) - lines(without),
            allocated(tracked) - allocated(without),
        )

    of_few, of_many = added(2), added(2000)
    assert of_many[0] == of_few[0] < 400
    assert of_many[1] == pytest.approx(of_few[1], abs=1_000)


@pytest.mark.parametrize("kth", [0, 3, 9, (2, 7)])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_partition_puts_every_element_where_numpy_puts_it(kth: Any, axis: Any) -> None:
    x = np.random.default_rng(3).normal(size=(40, 30))
    value, gradient = gw.value_and_grad(fn(lambda x: weighted(np.partition(x, kth, axis=axis))))(x)
    parted = np.partition(x, kth, axis=axis)
    assert value == weighted(parted)
    if axis is None:
        x, gradient, axis = x.reshape(-1), gradient.reshape(-1), 0
    by_value = np.take_along_axis(gradient, np.argsort(x, axis=axis), axis=axis)
    wanted = np.take_along_axis(
        weights(x.size).reshape(x.shape), np.argsort(parted, axis=axis), axis=axis
    )
    np.testing.assert_array_equal(by_value, wanted)


def weights(size: int) -> Any:
    return np.sin(np.arange(1.0, size + 1))


def weighted(parted: Any) -> Any:
    return np.sum(np.reshape(parted, -1) * weights(parted.size))


def test_numbers_are_stacked_with_tracked_values_in_every_mode() -> None:
    x = np.array([1.5, -2.0])

    def stacked(a: Any) -> Any:
        return np.stack([a[0], 2.0, a[1], 3])

    rows = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(gw.jacrev(stacked)(x), rows)
    np.testing.assert_array_equal(gw.jacfwd(stacked)(x), rows)
    np.testing.assert_array_equal(gw.vmap(stacked)(np.stack([x, 2 * x]))[1], [3.0, 2.0, -4.0, 3.0])


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.5.0", reason="it sorts in ascending order alone"
)
def test_descending_order_has_nans_last_and_equal_elements_in_their_order() -> None:
    x = np.array([1.0, np.nan, 3.0, -np.inf, 2.0, 3.0, np.nan, 1.0])
    tracked = gw.wrap(x, requires_grad=True)

    found = gw.unwrap(ANY.sort(tracked, descending=True))
    np.testing.assert_array_equal(found, ANY.sort(x, descending=True))
    positions = ANY.argsort(x, descending=True, stable=True)
    np.testing.assert_array_equal(ANY.argsort(tracked, descending=True, stable=True), positions)
    positions_of = fn(lambda row: ANY.argsort(row, descending=True))
    batched = gw.vmap(positions_of)(np.stack([x, x[::-1]]))
    np.testing.assert_array_equal(batched[0], positions)
    again = tracked * 1.0
    ANY.ndarray.sort(x, descending=True)
    again.sort(descending=True)
    np.testing.assert_array_equal(gw.unwrap(again), x)


@pytest.mark.parametrize(
    "function",
    [fn(lambda x: np.nanmedian(x, axis=1)), fn(lambda x: np.nanquantile(x, 0.3, axis=1))],
)
def test_rows_with_one_number_have_the_median_of_a_number(function: Any) -> None:
    holes: Any = np.array([[4.0, np.nan, np.nan], [1.0, 2.0, 3.0]])
    value, pull = gw.vjp(function, holes)
    np.testing.assert_array_equal(value, function(holes))
    np.testing.assert_array_equal(pull(np.array([5.0, 0.0]))[0], [[5.0, 0.0, 0.0], [0.0] * 3])


def test_medians_of_infinite_numbers() -> None:
    far: Any = np.array([[1.0, np.inf, np.inf, np.inf], [-np.inf, -np.inf, 0.0, 1.0]])
    value, _ = gw.vjp(fn(lambda x: ANY.median(x, axis=1)), far)
    np.testing.assert_array_equal(value, np.median(far, axis=1))


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
@pytest.mark.parametrize("initial", [0.5, 1.5])
def test_an_initial_value_is_the_extremum_of_a_slice_of_nan(name: str, initial: float) -> None:
    data = np.array([[np.nan, np.nan], [1.0, np.nan], [2.0, 1.25]])
    function = getattr(np, name)
    value, pull = gw.vjp(fn(lambda x: function(x, axis=1, initial=initial)), data)
    np.testing.assert_array_equal(value, function(data, axis=1, initial=initial))
    (gradient,) = pull(np.ones(3))
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[0], 0.0)
    expected = float(function(data[2]) != initial and value[2] != initial)
    assert gradient[2].sum() == expected


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "nanmax"])
@pytest.mark.parametrize("where", [True, [True, False, True]])
def test_an_initial_value_does_not_change_the_dtype(name: str, where: Any) -> None:
    x = np.array([[1.0, 4, 2], [3.0, 1, 5]], dtype=np.float32)
    function: Any = fn(lambda x, i: getattr(np, name)(x, axis=1, initial=i, where=where))
    out, pull = gw.vjp(function, x, np.float64(2.5))
    wanted = function(x, np.float64(2.5))
    np.testing.assert_array_equal(out, wanted)
    assert out.dtype == wanted.dtype == np.float32
    assert pull(np.ones(2, np.float32))[0].dtype == np.float32


def test_what_ediff1d_adds_has_the_dtype_of_the_array() -> None:
    x = np.array([1.0, 4, 2], dtype=np.float32)
    out, pull = gw.vjp(lambda x, y: np.ediff1d(x, to_end=y), x, np.array([2.5]))
    np.testing.assert_array_equal(out, [3, -2, 2.5])
    assert out.dtype == np.float32
    np.testing.assert_array_equal(pull(np.array([1, 2, 3], np.float32))[1], [3.0])
    with pytest.raises(TypeError, match="same_kind"):
        gw.vjp(lambda x: np.ediff1d(x, to_end=ANY.asarray(1j)), x)


def test_an_open_mesh_of_tracked_numbers_is_tracked() -> None:
    x, y = np.array([1.0, 2.0, 4.0]), np.array([0.5, 3.0])

    def total(x: Any, y: Any) -> Any:
        rows, columns, kept = np.ix_(x, y, ANY.asarray([True, False, True]))
        assert kept.tolist() == [[[0, 2]]]
        return np.sum(rows**2 * columns)

    found = gw.grad(total, (0, 1))(x, y)
    np.testing.assert_allclose(found[0], 2 * x * y.sum())
    np.testing.assert_allclose(found[1], np.full(2, np.sum(x**2)))
    with pytest.raises(ValueError, match="1 dimensional"):
        gw.vjp(lambda x: np.ix_(x)[0], np.ones((2, 2)))


def test_i0_has_all_derivatives() -> None:
    pytest.importorskip("scipy")
    x = np.array([-2.0, 0.0, 0.7])
    gw.testing.check_grads(fn(lambda x: np.i0(x)), [x], order=2)
    assert gw.grad(gw.grad(fn(np.i0)))(0.0) == pytest.approx(0.5)
    assert gw.grad(gw.grad(gw.adapting(fn(np.i0))))(0.0) == pytest.approx(0.5)


@pytest.mark.parametrize("function", [np.concatenate, np.stack, np.hstack, np.vstack])
def test_a_rule_of_casting_is_kept(function: Any) -> None:
    def casting(rule: str, dtype: Any) -> Any:
        return fn(lambda x: function([x, x], dtype=dtype, casting=rule))

    np.testing.assert_array_equal(
        gw.vjp(casting("same_kind", np.float32), V)[0], function([V, V], dtype=np.float32)
    )
    for rule, dtype in (("no", np.float32), ("safe", np.float32), ("same_kind", np.int64)):
        f = casting(rule, dtype)
        with pytest.raises(TypeError, match="Cannot cast array data from"):
            f(V)
        with pytest.raises(TypeError, match="Cannot cast array data from"):
            gw.vjp(f, V)


def test_out_obeys_a_rule_of_casting() -> None:
    def f(x: Any, rule: Any) -> Any:
        return ANY.concatenate([x, x], out=gw.wrap(np.zeros(2 * V.size, np.float32)), casting=rule)

    assert gw.vjp(fn(lambda x: f(x, "same_kind")), V)[0].dtype == np.float32
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        gw.vjp(fn(lambda x: f(x, "safe")), V)


def test_the_sign_of_complex_infinities_is_numpys() -> None:
    x = np.array([np.inf, -np.inf, 1j * np.inf, 3.0 + 4.0j, 0.0, np.nan])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(gw.vjp(np.sign, x)[0], np.sign(x))
        np.testing.assert_array_equal(gw.jvp(np.sign, (x,), (x,))[0], np.sign(x))


@pytest.mark.parametrize("function", [np.tril, np.triu])
def test_a_number_has_no_triangle(function: Any) -> None:
    with pytest.raises(TypeError):
        function(np.array(1.0))
    for x in (np.array(1.0), 1.0):
        with pytest.raises(TypeError, match=r"a matrix or a vector. Fix: x\[None, None\]"):
            gw.grad(lambda x: np.sum(function(x)))(x)
    assert gw.grad(lambda x: np.sum(function(x[None, None])))(1.0) == 1.0


@pytest.mark.parametrize("reduce", [np.max, np.min])
def test_the_extremum_of_nothing_is_an_array_of_its_own(reduce: Any) -> None:
    def program(x: Any) -> Any:
        found = reduce(x[:, :0], axis=1, initial=x[0, 0])
        found[1] = 3.0 * x[1, 1]
        return np.sum(found)

    np.testing.assert_array_equal(gw.grad(program)(np.ones((2, 2))), [[1.0, 0.0], [0.0, 3.0]])
    out, _ = gw.vjp(fn(lambda x: reduce(x[:, :0], axis=1, initial=-0.5)), np.ones((2, 2)))
    assert out.strides == (8,)


@pytest.mark.parametrize(("first", "second"), [(2, 2), (2, 3), (3, 2)])
def test_cross_products_of_vectors_of_the_plane(first: int, second: int) -> None:
    def in_space(vectors: Any) -> Any:
        return np.concatenate([vectors, np.zeros((4, 3 - vectors.shape[-1]))], axis=-1)

    def f(x: Any, y: Any) -> Any:
        return np.sum(np.cross(x, y) ** 3)

    def wanted(x: Any, y: Any) -> Any:
        return np.sum(np.cross(in_space(x), in_space(y)) ** 3)

    x = np.cos(np.arange(4.0 * first)).reshape(4, first)
    y = np.sin(np.arange(4.0 * second)).reshape(4, second)
    for found, one in zip(
        gw.grad(f, argnums=(0, 1))(x, y), gw.grad(wanted, argnums=(0, 1))(x, y), strict=True
    ):
        np.testing.assert_allclose(found, one, rtol=1e-12)
    with pytest.raises(ValueError, match="2 or 3 components"):
        gw.grad(f)(np.ones((2, 4)), np.ones((2, 4)))


def test_ranges_are_operands() -> None:
    x = np.array([1.5, 2.0, 0.5])
    powers = gw.grad(lambda v: np.sum(np.power(v, range(3))))(x)
    np.testing.assert_allclose(powers, [0.0, 1.0, 2 * x[2]])
    np.testing.assert_allclose(gw.grad(lambda v: np.sum(range(3) * v + v * range(3)))(x), [0, 2, 4])
    assert gw.jvp(lambda v: np.add(range(3), v), (x,), (x,))[1].tolist() == x.tolist()


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
def test_weighted_quantiles_select_the_elements_that_numpys_do(name: str, axis: Any) -> None:
    rng = np.random.default_rng(7)
    x, weights = rng.normal(size=(3, 4, 5)), rng.integers(0, 4, (3, 4, 5)) + 0.5
    q = np.array([[0.1, 0.5], [0.8, 1.0]]) * (100 if "percentile" in name else 1)

    def function(x: Any) -> Any:
        return getattr(np, name)(x, q, axis=axis, weights=weights, method="inverted_cdf")

    value, pull = gw.vjp(function, x)
    np.testing.assert_array_equal(value, function(x))
    (found,) = pull(np.ones(value.shape))
    np.testing.assert_array_equal(found, np.equal.outer(value.ravel(), x).sum(0))
    holed = np.where(x > 1.0, np.nan, x)
    np.testing.assert_array_equal(gw.jvp(function, (holed,), (x,))[0], function(holed))
    with pytest.raises(ValueError, match="Only method 'inverted_cdf' supports weights"):
        gw.grad(lambda x: getattr(np, name)(x, 0.5, weights=weights))(x)
