"""NumPy's functions, unmodified, with NumPy's signatures: NumPy's value, the numerical gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwrap as gw

A = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))
V = np.random.default_rng(1).uniform(0.5, 2.0, 5)
S = np.random.default_rng(2).uniform(0.5, 2.0, (3, 3)) + 2 * np.eye(3)
T = np.random.default_rng(3).uniform(0.5, 2.0, (2, 3, 4))
B = np.random.default_rng(4).uniform(0.5, 2.0, (4, 3))

Case = tuple[str, Callable[..., Any], tuple[Any, ...]]
CASES: list[Case] = [
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
    ("mean where", lambda x: np.mean(x, where=A > 1), (A,)),
    ("var ddof", lambda x: np.var(x, axis=1, ddof=1), (A,)),
    ("std", np.std, (A,)),
    ("std correction", lambda x: np.std(x, correction=1), (A,)),
    ("cumsum", lambda x: np.cumsum(x, axis=1), (A,)),
    ("cumsum flat", np.cumsum, (A,)),
    ("cumprod", lambda x: np.cumprod(x, axis=0), (A,)),
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
    ("block", lambda x: np.block([[x, np.ones((3, 1))], [np.zeros((1, 4)), 2.0]]) ** 2, (A,)),
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
    ("where", lambda x, y: np.square(np.where(A > 1, x, y)), (A, A[0])),
    ("clip", lambda x: np.clip(x, 0.7, 1.5) ** 2, (A,)),
    ("clip keywords", lambda x: np.clip(x, min=0.7, max=None) ** 2, (A,)),
    ("tril triu", lambda x: np.tril(x) * np.triu(x, -1), (S,)),
    ("diagonal", lambda x: np.diagonal(x, 1) ** 2, (A,)),
    ("diag of a vector", lambda x: np.diag(x, 1)[:, 1:] @ x, (V,)),
    ("diag below", lambda x: np.diag(x, -2)[2:] @ np.append(x, [0.0, 0.0]), (V,)),
    ("diag of a matrix", lambda x: np.diag(x) ** 2, (S,)),
    ("round", lambda x: np.round(x, 1) * 0 + x, (A,)),
    ("sinc", lambda x: np.sinc(x - 1.0), (V,)),
    ("nan_to_num", lambda x: np.nan_to_num(x) ** 2, (A,)),
    ("linspace", lambda x: np.linspace(x[0], x[1], 5) ** 2, (V,)),
    ("meshgrid", lambda x: np.meshgrid(x, x * 2)[0] * np.meshgrid(x, x * 2)[1], (V,)),
    ("meshgrid ij", lambda x: np.meshgrid(x, x[:2], indexing="ij")[1] ** 2, (V,)),
    ("pad", lambda x: np.pad(x, ((1, 0), (2, 1))) ** 2, (A,)),
    ("pad reflect", lambda x: np.pad(x, 2, mode="reflect") ** 2, (V,)),
    ("convolve", lambda x, k: np.convolve(x, k), (V, V[:3])),
    ("convolve same", lambda x, k: np.convolve(k, x, mode="same"), (V, V[:3])),
    ("convolve valid", lambda x, k: np.convolve(x, k, "valid"), (V, V[:2])),
    ("polyval", lambda p, x: np.polyval(p, x), (V, A)),
    ("interp", lambda x, y: np.interp(x, np.arange(5.0), y), (A + 0.3, V)),
    # products and linear algebra
    ("dot", lambda x, y: np.dot(x, y), (A, B)),
    ("dot n-d", lambda x, y: np.dot(x, y), (A, np.moveaxis(T, 1, 2))),
    ("inner", lambda x, y: np.inner(x, y), (A, T)),
    ("vdot", lambda x: np.vdot(x, x * x), (A,)),
    ("outer", lambda x: np.outer(x, x), (V,)),
    ("matmul", lambda x, y: np.matmul(x, y), (T, B)),
    ("tensordot", lambda x, y: np.tensordot(x, y, axes=([1, 2], [1, 0])), (T, B)),
    ("einsum", lambda x, y: np.einsum("ijk,kj->i", x, y), (T, B)),
    ("einsum implicit", lambda x, y: np.einsum("ij,jk", x, y), (A, B)),
    ("einsum trace", lambda x: np.einsum("ii->i", x) ** 2, (S,)),
    ("einsum ellipsis", lambda x: np.einsum("...ij->...j", x), (T,)),
    ("kron", lambda x, y: np.kron(x, y), (S, V[:2])),
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
    # methods of ufuncs
    ("add.reduce", lambda x: np.add.reduce(x), (A,)),
    ("multiply.reduce", lambda x: np.multiply.reduce(x, axis=1), (A,)),
    ("maximum.reduce", lambda x: np.maximum.reduce(x, axis=None), (A,)),
    ("add.accumulate", lambda x: np.add.accumulate(x, axis=1) ** 2, (A,)),
    ("multiply.outer", lambda x: np.multiply.outer(x, x), (V,)),
    ("subtract.outer", lambda x, y: np.subtract.outer(x, y) ** 2, (V, V)),
    # ufuncs beyond the standard
    ("cbrt", np.cbrt, (A,)),
    ("exp2", np.exp2, (A,)),
    ("deg2rad", np.deg2rad, (A,)),
    ("degrees", np.degrees, (A,)),
    ("fabs", lambda x: np.fabs(x - 1.1), (A,)),
    ("fmax", lambda x: np.fmax(x, 1.0) ** 2, (A,)),
    ("fmin", lambda x, y: np.fmin(x, y) ** 2, (A, A[0] + 0.1)),
    ("float_power", np.float_power, (A, A[0])),
    ("fmod", lambda x: np.fmod(x, 0.9) ** 2, (A,)),
    ("logaddexp2", np.logaddexp2, (A, A[0])),
    # methods and attributes of the array
    ("x.T", lambda x: x.T @ x, (A,)),
    ("x.mT", lambda x: x.mT @ x, (T,)),
    ("x.sum", lambda x: x.sum(axis=0), (A,)),
    ("x.mean std var", lambda x: x.mean(0) * x.std(0) + x.var(axis=0), (A,)),
    ("x.reshape", lambda x: x.reshape(2, -1) ** 2, (A,)),
    ("x.ravel flatten", lambda x: x.ravel() * x.flatten(), (A,)),
    ("x.dot", lambda x: x.dot(B), (A,)),
    ("x.transpose", lambda x: x.transpose(1, 0, 2) ** 2, (T,)),
    ("x.swapaxes", lambda x: x.swapaxes(0, 1) ** 2, (A,)),
    ("x.clip", lambda x: x.clip(0.7, 1.5) ** 2, (A,)),
    ("x.max min prod", lambda x: x.max() * x.min() + x.prod(), (A,)),
    ("x.cumsum", lambda x: x.cumsum(1) ** 2, (A,)),
    ("x.copy astype", lambda x: x.copy() * x.astype(np.float64), (A,)),
    ("x.repeat take", lambda x: x.repeat(2) * x.take([0, 1] * 5), (V,)),
    ("x.trace diagonal", lambda x: x.trace() * x.diagonal(), (S,)),
    ("x.squeeze", lambda x: x[None].squeeze() ** 2, (A,)),
    ("iteration", lambda x: sum(row[0] * row[-1] for row in x), (A,)),
    ("left operand", lambda x: (V * x) / (V - x * 0.1) + np.float64(2.0) * x, (V + 1,)),
]


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_value_is_numpys_and_derivatives_are_numerical(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    copies = [a.copy() for a in args]

    value, _ = gw.vjp(function, *args)

    np.testing.assert_allclose(np.asarray(value), np.asarray(function(*args)), rtol=1e-12)
    gw.testing.check_grads(function, args, order=2)
    for arg, before in zip(args, copies, strict=True):
        np.testing.assert_array_equal(arg, before)
