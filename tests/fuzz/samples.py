"""The arguments that every function and method of NumPy is called with, as text.

A line of `FUNCTIONS` is a function and the arguments of its calls, separated by bars; `METHODS` is
the same for the methods and attributes of an array. `ARRAYS` says what their names stand for.
"""

from __future__ import annotations

ARRAYS: dict[str, str] = {
    "x1": "np.array([[0.31, 0.72, 0.15, 0.93], [0.58, 0.24, 0.87, 0.42], [0.66, 0.51, 0.79, 0.12]])",
    "q1": "np.array([[0.33, 0.27, 0.81, 0.47], [0.62, 0.91, 0.18, 0.56], [0.74, 0.13, 0.39, 0.68]], order='F')",
    "v1": "np.array([0.41, 0.83, 0.17, 0.64])",
    "w1": "np.array([0.36, 0.77, 0.52])",
    "s1": "np.array([[2.31, 0.44, -0.62], [0.53, 3.17, 0.28], [-0.35, 0.71, 1.64]])",
    "p1": "np.array([[2.31, 0.44, -0.62], [0.44, 3.17, 0.28], [-0.62, 0.28, 1.64]])",
    "c1": "np.float64(0.73)",
    "e1": "np.array(0.57)",
    "z1": "np.array([[0.31+0.44j, 0.72-0.27j, 0.15+0.83j], [0.58-0.61j, 0.24+0.19j, 0.87+0.36j]])",
    "f1": "np.array([[0.34, 0.71, 0.19], [0.53, 0.26, 0.88]], dtype=np.float32)",
    "t1": "np.array([[[0.31, 0.74], [0.52, 0.17], [0.95, 0.43]], [[0.28, 0.66], [0.89, 0.35], [0.14, 0.57]]])",
}
"""Arrays with a derivative."""

PLAIN: dict[str, str] = {
    "i1": "np.array([2, 0, 1])",
    "j1": "np.array([[1, 0, 2, 3], [3, 2, 1, 0], [0, 3, 2, 1]])",
    "m1": "np.array([[True, False, True, True], [True, True, True, False], [False, True, True, True]])",
    "n1": "np.array([True, False, True, True])",
    "k1": "np.array([0.6, 1.4, 0.8, 1.1])",
    "y1": "np.array([[1.2, 0.8, 1.5, 0.7], [0.9, 1.1, 0.6, 1.3], [1.4, 0.5, 1.6, 1.7]])",
}
"""Arrays without one."""

UNARY = "x1 | v1 | e1 | c1 | z1 | f1 | q1.T | x1[:, ::-2]"
BINARY = "x1, y1 | x1, v1 | x1, 0.4 | 0.4, x1 | e1, v1 | c1, x1 | z1, w1 | f1, 2 | q1, x1 | x1, k1"
UFUNC_KEYWORDS = (
    "dtype=np.float32",
    "dtype=complex",
    "casting='unsafe'",
    "order='F'",
    "subok=False",
)
METHODS_OF_UFUNCS = {
    "reduce": "x1 | v1 | x1, axis=1 | x1, axis=(0, 1) | x1, axis=None, keepdims=True | x1, initial=0.3 | x1, where=m1, initial=0.3 | t1, -1 | x1, dtype=np.float32 | c1",
    "accumulate": "x1 | v1 | x1, axis=1 | t1, -1 | x1, dtype=np.float32",
    "reduceat": "v1, [0, 2] | x1, [0, 1], axis=1 | x1, [0, 2, 1]",
    "outer": "v1, w1 | x1, k1 | c1, v1 | e1, x1",
    "at": "v1, [0, 0, 2], 0.3 | x1, (0, [1, 1]), c1 | x1, 1, v1",
}
SHIFTED = {  # a ufunc that wants other values than those between 0 and 1
    "arccosh": "{} + 1.3",
    "acosh": "{} + 1.3",
}
INTEGERS_ONLY = (
    "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or"
    " bitwise_right_shift bitwise_xor gcd invert isnat lcm left_shift right_shift"
)

FUNCTIONS = """
np.all: x1 | x1 > 0.5, axis=1 | x1, axis=0, keepdims=True, where=m1
np.allclose: x1, q1 | v1, v1 + 1e-9 | x1, 0.5, rtol=2.0
np.amax: x1 | v1 | x1, 1 | t1, (0, 2) | c1 | e1
np.amin: x1 | v1 | x1, 1 | t1, (0, 2) | c1 | e1
np.max: x1 | v1 | x1, 1 | t1, (0, 2) | c1 | e1 | f1 | x1, where=m1, initial=0.0
np.min: x1 | v1 | x1, 1 | t1, (0, 2) | c1 | e1 | f1 | x1, where=m1, initial=2.0
np.sum: x1 | v1 | t1, (0, 2) | c1 | e1 | z1 | f1 | [c1, c1] | q1.T
np.prod: x1 | v1 | t1, (0, 2) | c1 | e1 | z1 | f1
np.mean: x1 | v1 | t1, (0, 2) | c1 | e1 | z1 | f1 | x1, where=m1
np.var: x1 | v1 | t1, (0, 2) | e1 | z1 | f1 | x1, where=m1 | x1, ddof=1, axis=1
np.std: x1 | v1 | t1, (0, 2) | z1 | f1 | x1, where=m1 | x1, ddof=1, axis=1
np.ptp: x1 | v1 | t1, 1
np.median: x1 | v1 | t1, 1 | x1, (0, 1) | c1 | e1
np.average: x1 | v1 | x1, weights=y1 | x1, axis=1, weights=v1 | v1, weights=w1[[0, 1, 2, 0]] | x1, returned=True | x1, 0, w1
np.percentile: x1, 30 | v1, [20, 70] | x1, 30, axis=1 | x1, c1 | v1, 30, method='midpoint' | v1, 30, method='lower'
np.quantile: x1, 0.3 | v1, [0.2, 0.7] | x1, 0.3, axis=1 | v1, c1 | v1, 0.3, method='nearest' | x1, 0.3, axis=1, weights=y1, method='inverted_cdf' | e1, 0.3
np.nansum: x1 | v1 | z1 | np.where(m1, x1, np.nan)
np.nanprod: x1 | v1 | np.where(m1, x1, np.nan)
np.nanmean: x1 | v1 | np.where(m1, x1, np.nan)
np.nanvar: x1 | v1 | np.where(m1, x1, np.nan) | x1, ddof=1
np.nanstd: x1 | v1 | np.where(m1, x1, np.nan) | x1, ddof=1
np.nanmax: x1 | v1 | np.where(m1, x1, np.nan)
np.nanmin: x1 | v1 | np.where(m1, x1, np.nan)
np.nanmedian: x1 | v1 | np.where(m1, x1, np.nan)
np.nanpercentile: x1, 30 | np.where(m1, x1, np.nan), 30
np.nanquantile: x1, 0.3 | np.where(m1, x1, np.nan), 0.3
np.nancumsum: x1 | v1 | np.where(m1, x1, np.nan)
np.nancumprod: x1 | v1 | np.where(m1, x1, np.nan)
np.nanargmax: x1 | np.where(m1, x1, np.nan)
np.nanargmin: x1 | np.where(m1, x1, np.nan)
np.nan_to_num: x1 | np.where(m1, x1, np.nan) | x1, nan=0.5 | c1 | x1, copy=False
np.cumsum: x1 | v1 | x1, 1 | t1, -1 | c1 | f1 | z1
np.cumprod: x1 | v1 | x1, 1 | t1, -1 | c1 | f1 | z1
np.cumulative_sum: v1 | x1, axis=1 | v1, include_initial=True
np.cumulative_prod: v1 | x1, axis=1 | v1, include_initial=True
np.count_nonzero: x1 | x1 > 0.5, axis=1
np.any: x1 | x1 > 0.5, axis=1
np.argmax: x1 | v1 | x1, 1
np.argmin: x1 | v1 | x1, 1
np.argsort: x1 | v1 | x1, 0
np.argpartition: v1, 2 | x1, 1
np.argwhere: x1 > 0.5 | v1
np.nonzero: x1 > 0.5 | v1
np.flatnonzero: x1 > 0.5 | v1
np.lexsort: (v1, k1) | x1
np.searchsorted: k1[[0, 2, 3, 1]], v1 | np.sort(v1), 0.5 | np.sort(v1), w1, side='right'
np.digitize: v1, [0.3, 0.6] | x1, [0.3, 0.6], right=True
np.histogram: v1, 3 | v1, [0.0, 0.5, 1.0] | v1, 2, weights=w1[[0, 1, 2, 0]]
np.histogram2d: v1, v1[::-1], 2
np.histogramdd: x1, 2
np.histogram_bin_edges: v1, 3 | v1, 'auto'
np.bincount: j1[0] | j1[0], weights=v1 | j1[0], v1, minlength=6
np.unique: v1 | x1 | j1 * c1 | v1, return_index=True | v1, return_counts=True, return_inverse=True | x1, axis=0
np.unique_all: v1
np.unique_counts: v1
np.unique_inverse: v1
np.unique_values: v1 | x1
np.union1d: v1, w1
np.intersect1d: v1, v1[:2]
np.setdiff1d: v1, v1[:2]
np.setxor1d: v1, v1[:2]
np.isin: v1, w1 | x1, 0.31
np.isclose: x1, q1 | v1, 0.4
np.iscomplex: x1 | z1
np.iscomplexobj: x1 | z1
np.isreal: x1 | z1
np.isrealobj: x1 | z1
np.isneginf: x1
np.isposinf: x1
np.isfortran: x1 | q1
np.ndim: x1 | c1 | [c1, c1]
np.shape: x1 | c1 | [v1, v1]
np.size: x1 | c1 | x1, 1
np.array_equal: x1, q1 | v1, v1
np.array_equiv: x1, q1 | v1, v1
np.result_type: x1, f1
np.common_type: x1, f1
np.min_scalar_type: c1
np.mintypecode: x1
np.can_cast: 'f4', np.float64
np.may_share_memory: x1, x1[0] | x1, q1
np.shares_memory: x1, x1[0] | x1, q1
np.angle: z1 | x1 - 0.5 | z1, deg=True | c1
np.real: x1 | z1 | c1 | f1
np.imag: x1 | z1 | c1
np.real_if_close: x1 | z1
np.fix: x1 * 3 | v1 | c1
np.round: x1 | x1 * 1.03, 1 | c1, 1 | z1 * 1.03, 1
np.around: x1 * 1.03 | x1 * 1.03, 1 | c1, 1
np.sinc: x1 | v1 | c1 | e1 | f1
np.i0: x1 | c1
np.unwrap: v1 * 9 | x1 * 9, axis=0 | v1 * 5, period=2.0
np.clip: x1, 0.3, 0.7 | x1, None, 0.7 | x1, v1 * 0.3, v1 | c1, 0.1, 0.9 | x1, 0.3, 0.7, dtype=np.float64 | f1, 0.3, 0.7 | x1, min=0.3 | e1, 0.2, 0.4 | x1, v1, 0.9
np.interp: x1, [0.0, 0.5, 1.0], w1 | c1, [0.0, 0.5, 1.0], w1 | v1, [0.0, 0.5, 1.0], [0.0, 2.0, 3.0] | v1 * 2, [0.0, 0.5, 1.0], w1, left=0.1, right=0.2 | v1, np.sort(w1), w1 | v1, [0.0, 0.5], [1.0, 2.0], period=0.7
np.gradient: v1 | x1 | v1, 0.5 | x1, axis=1 | v1, k1.cumsum() | v1, edge_order=2 | x1, 0.5, 2.0 | v1, np.cumsum(w1[[0, 1, 2, 0]])
np.diff: v1 | x1 | x1, axis=0 | v1, n=2 | v1, prepend=0.2 | x1, append=x1[:, :1] | v1, 2, -1
np.ediff1d: v1 | x1 | v1, to_end=0.5 | v1, to_begin=c1
np.trapezoid: v1 | x1 | x1, axis=0 | v1, dx=0.5 | v1, k1 | v1, np.cumsum(v1)
np.convolve: v1, w1 | v1, w1, 'same' | v1, w1, 'valid'
np.correlate: v1, w1 | v1, w1, 'same' | v1, w1, 'full' | z1[0], w1
np.cov: x1 | v1 | x1, rowvar=False | v1, w1[[0, 1, 2, 0]] | x1, ddof=0 | x1, aweights=v1 | x1, fweights=[1, 2, 1, 3] | x1, bias=True | x1, dtype=np.float64
np.corrcoef: x1 | x1, rowvar=False | v1, w1[[0, 1, 2, 0]]
np.polyval: w1, x1 | w1, c1 | [1.0, 2.0], v1
np.polyfit: k1, v1, 1 | v1, w1[[0, 1, 2, 0]], 1 | k1, v1, 2, w=v1
np.polyadd: v1, w1
np.polysub: v1, w1
np.polymul: v1, w1
np.polydiv: v1, w1
np.polyder: v1 | v1, 2
np.polyint: v1 | v1, 2 | v1, k=0.5
np.poly: v1 | s1
np.roots: w1 | v1
np.vander: v1 | v1, 3 | v1, 3, increasing=True | v1, N=2
np.where: m1, x1, y1 | x1 > 0.5, x1, 0.3 | m1, c1, x1 | x1 > 0.5 | m1, x1, q1 | n1, e1, v1
np.select: [x1 > 0.6, x1 > 0.3], [x1, x1 ** 2] | [x1 > 0.6], [x1], default=c1
np.choose: [0, 1, 0, 1], [v1, k1] | j1 % 2, [x1, 0.5] | [0, 2, 1, 1], [v1, k1], mode='clip'
np.piecewise: v1, [v1 > 0.5], [lambda t: t * 2, lambda t: t ** 2] | v1, [v1 > 0.5, v1 <= 0.5], [c1, 0.2]
np.extract: m1, x1 | x1 > 0.5, x1
np.compress: n1, x1, axis=1 | [True, False, True], x1, 0 | m1.ravel(), x1
np.take: x1, [0, 5] | x1, i1, axis=0 | x1, [[0, 1], [2, 0]], 1 | v1, 2 | x1, [5, 20], mode='wrap' | x1, [5, 20], mode='clip' | v1, [-1] | t1, 1, -1
np.take_along_axis: x1, j1, axis=1 | x1, np.argsort(x1, 0), 0 | x1, j1.ravel(), None
np.put: x1, [0, 5], [0.3, 0.4] | v1, [1], c1 | v1, [1, 9], 0.5, mode='clip'
np.put_along_axis: x1, j1[:, :1], 0.5, 1 | x1, j1[:, :1], w1[:, None], axis=1
np.putmask: x1, m1, 0.5 | x1, x1 > 0.5, v1 | v1, n1, c1
np.place: x1, m1, [0.5, 0.6] | v1, n1, w1
np.copyto: x1, y1 | x1, v1 | x1, c1, where=m1 | v1, 0.5
np.fill_diagonal: s1, 0.5 | s1, w1 | x1, c1, wrap=True
np.sort: x1 | v1 | x1, 0 | x1, axis=None | v1, kind='stable' | c1[None]
np.sort_complex: v1 | z1[0]
np.partition: v1, 2 | x1, 1, axis=0
np.reshape: x1, (2, 6) | x1, -1 | x1, (4, 3), order='F' | q1, (2, 6) | x1, (2, 6), copy=True | x1, (6, 2), order='A' | q1, (6, 2), order='A' | c1, (1, 1) | x1, shape=(12,)
np.ravel: x1 | q1 | x1, 'F' | q1, order='K' | c1 | e1 | q1, order='A' | x1.T
np.transpose: x1 | t1, (1, 2, 0) | t1, axes=[0, 2, 1] | v1 | t1, (-1, 0, 1)
np.permute_dims: x1 | t1, (1, 2, 0)
np.matrix_transpose: x1 | t1
np.swapaxes: t1, 0, 2 | x1, 0, 1 | x1, -1, 0
np.moveaxis: t1, 0, -1 | t1, [0, 1], [2, 0]
np.rollaxis: t1, 2 | t1, 1, 3
np.expand_dims: x1, 0 | x1, (0, -1) | c1, 0 | v1, axis=-1
np.squeeze: x1[None] | x1[:, None], 1 | x1[None], axis=0 | e1
np.atleast_1d: c1 | e1 | v1 | x1, c1
np.atleast_2d: c1 | v1 | x1 | v1, c1
np.atleast_3d: c1 | v1 | x1 | t1
np.broadcast_to: v1, (3, 4) | c1, (2,) | x1, (2, 3, 4) | e1, ()
np.broadcast_arrays: x1, v1 | v1, c1 | v1, 0.5
np.flip: x1 | x1, 0 | x1, axis=(0, 1) | v1
np.fliplr: x1
np.flipud: x1 | v1
np.rot90: x1 | x1, 2 | x1, -1 | t1, 1, (1, 2) | x1, 4
np.roll: x1, 1 | x1, 1, axis=0 | x1, (1, 2), (0, 1) | v1, -1
np.tile: v1, 2 | x1, (2, 1) | c1, 3 | v1, (2, 2)
np.repeat: x1, 2 | x1, 2, axis=0 | v1, [1, 0, 2, 1] | c1, 3
np.resize: x1, (2, 3) | v1, 6 | x1, (5, 4)
np.append: v1, w1 | x1, x1[:1], axis=0 | v1, 0.5 | c1, v1 | [c1, c1], 0.5
np.insert: v1, 1, 0.5 | x1, 1, v1, axis=0 | v1, [0, 2], c1 | q1, 1, 0.5, axis=1 | x1, 3, 0.5
np.delete: v1, 1 | x1, [0, 2], axis=1 | x1, 0, 0 | v1, [] | v1, slice(1, 3) | v1, n1
np.trim_zeros: v1 | np.where([False, True, True, False], v1, 0.0)
np.pad: v1, 1 | x1, ((1, 0), (2, 1)) | v1, 2, 'edge' | v1, 2, mode='reflect' | v1, 2, mode='wrap' | v1, 1, constant_values=c1 | x1, 1, mode='mean' | v1, 2, mode='linear_ramp', end_values=0.5 | v1, 2, mode='symmetric' | v1, 1, mode='maximum' | v1, 1, mode='median' | x1, {0: 1} | v1, 1, mode='minimum', stat_length=2 | q1, 1
np.concatenate: [x1, q1] | [x1, q1], 1 | [v1, w1] | (x1, y1), None | [v1, [0.5]] | [q1, q1.copy('F')], 1
np.concat: [x1, q1] | [v1, w1]
np.stack: [v1, k1] | [v1, v1], 1 | [c1, c1, 0.5] | [x1, q1], axis=-1 | [e1, c1]
np.vstack: [v1, x1] | [v1, k1] | [c1, 0.5]
np.hstack: [v1, w1] | [x1, q1] | [c1, v1] | [c1, 0.5]
np.dstack: [v1, k1] | [x1, q1]
np.column_stack: [v1, k1] | [x1, w1]
np.row_stack: [v1, x1]
np.block: [v1, w1] | [[x1, w1[:, None]]] | [[s1], [s1]] | [[c1, 0.5]]
np.split: v1, 2 | x1, [1, 3], axis=1 | x1, 3
np.array_split: v1, 3 | x1, 2, 1
np.hsplit: x1, 2 | v1, [1]
np.vsplit: x1, 3
np.dsplit: t1, 2
np.unstack: x1 | x1, axis=1
np.meshgrid: v1, w1 | v1, w1, indexing='ij' | v1, w1, sparse=True | v1, w1, copy=False | v1, c1
np.ix_: n1, i1 | [0, 1], [2]
np.diag: v1 | s1 | x1, 1 | v1, -1
np.diagflat: v1 | w1, 1 | c1
np.diagonal: s1 | x1, 1 | t1, 0, 1, 2 | t1, offset=0, axis1=2, axis2=0
np.trace: s1 | x1, 1 | t1, 0, 1, 2 | t1 | s1, dtype=np.float32
np.tril: s1 | x1, 1 | t1
np.triu: s1 | x1, -1 | t1
np.tril_indices_from: s1
np.triu_indices_from: s1
np.diag_indices_from: s1
np.dot: x1, v1 | s1, x1 | v1, v1 | c1, x1 | 0.5, v1 | x1, t1.reshape(1, 4, 3) | f1, w1 | v1, k1
np.vdot: v1, k1 | z1, z1 | x1, q1
np.inner: v1, k1 | x1, y1 | c1, v1 | x1, v1
np.outer: v1, w1 | x1, c1 | v1, [1.0, 2.0]
np.tensordot: x1, v1, 1 | t1, x1, ([1], [0]) | t1, t1, 3 | x1, x1, axes=((0, 1), (0, 1)) | v1, w1, 0
np.einsum: 'ij->ji', x1 | 'ii->i', s1 | 'ij,j->i', x1, v1 | 'ii', s1 | 'ij,kj', x1, q1 | '...i,i', t1, [1.0, 2.0] | 'i,i,i->', v1, v1, k1 | x1, [0, 1], [1] | 'ij->', x1 | 'ij,jk,kl->il', s1, s1, x1, optimize=True | '->', c1 | 'ij->ij', x1 | 'i,j', v1, w1, order='F'
np.einsum_path: 'ij,j->i', x1, v1
np.kron: v1, w1 | s1, [[1.0, 2.0]] | c1, v1
np.cross: w1, [1.0, 2.0, 3.0] | s1, w1 | s1, s1.T, axis=0
np.apply_along_axis: np.sum, 0, x1 | lambda t: t * 2, 1, x1
np.apply_over_axes: np.sum, t1, [0, 2]
np.array: x1 | x1, order='F' | q1 | x1, copy=False | x1, ndmin=3 | [v1, v1] | [c1, 0.5] | x1, dtype=np.float32 | c1 | [[c1, c1], [0.5, c1]] | (v1, k1) | x1.T, order='K'
np.asarray: x1 | x1, order='F' | [c1, 0.5] | x1, dtype=np.float32 | c1 | x1, copy=True | q1, order='C'
np.asanyarray: x1 | c1 | [c1, c1] | x1, order='F'
np.asarray_chkfinite: x1
np.ascontiguousarray: x1 | q1 | c1 | e1
np.asfortranarray: x1 | q1 | c1
np.require: x1 | x1, requirements='F' | x1, np.float32
np.copy: x1 | q1 | x1, order='F' | q1, 'C' | c1 | x1.T, order='K' | x1, subok=True
np.astype: x1, np.float32 | x1, complex | x1, np.float64, copy=False | x1, int
np.zeros_like: x1 | c1 | q1 | x1, dtype=np.float32 | x1, order='F' | x1, shape=(2,)
np.ones_like: x1 | c1 | q1
np.full_like: x1, 0.5 | x1, c1 | q1, v1 | x1, 0.5, order='F' | v1, c1, shape=(2,)
np.empty_like: x1[:0] | x1[:, :0]
np.full: 3, c1 | (2, 4), v1 | (), 0.5 | (2, 4), v1, order='F'
np.linspace: c1, 2.0, 5 | v1, 2.0, 3 | 0.0, v1, 3, axis=1 | c1, 2.0, 5, endpoint=False | c1, 2.0, 5, retstep=True | 0.0, c1
np.logspace: c1, 2.0, 5 | v1, 1.0, 3 | 0.0, c1, 4, base=2.0 | 0.0, 1.0, 3, base=c1
np.geomspace: c1, 2.0, 5 | v1, 2.0, 3 | z1[0], 2.0, 3
np.arange: c1 | c1, 5.0 | 0.0, 3.0, c1
np.fromiter: [c1, 0.5], float
np.frompyfunc: np.sin, 1, 1
np.fromfunction: lambda i, j: i + j, (2, 2)
np.asmatrix: x1
np.bmat: [[s1]]
np.ravel_multi_index: ([0, 1], [1, 2]), (3, 4)
np.unravel_index: [1, 5], (3, 4)
np.packbits: m1
np.unpackbits: np.array([3], dtype=np.uint8)
np.broadcast_shapes: (2, 1), (3,)
np.nested_iters: x1, [[0], [1]]
np.linalg.cholesky: p1 + p1.T | p1 + p1.T, upper=True | np.stack([p1, p1.T]) + np.stack([p1.T, p1])
np.linalg.cond: s1 | s1, 'fro' | s1, -2
np.linalg.cross: w1, [1.0, 2.0, 3.0] | s1, s1.T
np.linalg.det: s1 | np.stack([s1, p1])
np.linalg.diagonal: s1 | t1 | x1, offset=1
np.linalg.eig: s1
np.linalg.eigh: p1 + p1.T | p1 + p1.T, 'U' | s1 + s1.T, UPLO='U' | s1 + s1.T, 'L'
np.linalg.eigvals: s1
np.linalg.eigvalsh: p1 + p1.T | s1 + s1.T, 'U' | s1 + s1.T
np.linalg.inv: s1 | np.stack([s1, p1])
np.linalg.lstsq: x1.T, v1 | s1, w1 | x1.T, x1.T, rcond=None
np.linalg.matmul: s1, x1 | v1, x1.T
np.linalg.matrix_norm: x1 | s1, ord=2 | s1, ord='nuc' | t1, keepdims=True | s1, ord=1
np.linalg.matrix_power: s1, 3 | s1, -1 | s1, 0
np.linalg.matrix_rank: s1
np.linalg.matrix_transpose: x1 | t1
np.linalg.multi_dot: [s1, x1, v1] | [s1, s1, s1]
np.linalg.norm: x1 | v1 | x1, axis=1 | v1, 1 | v1, 3 | s1, 'nuc' | s1, 2 | x1, 1 | v1, np.inf | t1, axis=(0, 1) | x1, 'fro', keepdims=True | z1 | v1, 0 | v1, -np.inf | c1 | [c1, c1]
np.linalg.outer: v1, w1
np.linalg.pinv: s1 | x1 | x1, rcond=1e-12
np.linalg.qr: s1 | x1.T | x1.T, 'complete' | x1.T, mode='r'
np.linalg.slogdet: s1 | np.stack([s1, p1])
np.linalg.solve: s1, w1 | s1, x1 | np.stack([s1, p1]), x1
np.linalg.svd: x1, compute_uv=False | s1, full_matrices=False | p1 + p1.T, hermitian=True
np.linalg.svdvals: x1 | s1
np.linalg.tensordot: x1, v1, axes=1
np.linalg.tensorinv: s1, ind=1
np.linalg.tensorsolve: s1, w1
np.linalg.trace: s1 | t1 | x1, offset=1
np.linalg.vecdot: v1, k1 | x1, q1, axis=0
np.linalg.vector_norm: x1 | x1, axis=1 | v1, ord=3 | x1, keepdims=True | z1
np.fft.fft: v1 | x1 | x1, axis=0 | v1, 6 | v1, 3, norm='ortho' | z1
np.fft.ifft: v1 | z1 | v1, norm='forward'
np.fft.fft2: x1 | x1, (2, 3)
np.fft.ifft2: x1 | z1
np.fft.fftn: x1 | t1 | t1, axes=(0, 2)
np.fft.ifftn: x1 | t1
np.fft.rfft: v1 | x1 | x1, axis=0 | v1, 5 | v1, norm='ortho'
np.fft.irfft: z1 | z1, 5 | v1 | z1, axis=0
np.fft.rfft2: x1
np.fft.irfft2: z1
np.fft.rfftn: t1
np.fft.irfftn: z1
np.fft.hfft: z1 | v1
np.fft.ihfft: v1 | x1
np.fft.fftshift: v1 | x1 | x1, 1
np.fft.ifftshift: v1 | x1 | x1, 1
np.emath.sqrt: x1 | v1 - 0.5 | c1
np.emath.log: x1 | v1 - 0.5
np.emath.log2: x1 | v1 - 0.5
np.emath.log10: x1 | v1 - 0.5
np.emath.logn: 2, x1
np.emath.power: x1, 2 | x1, 1.5
np.emath.arccos: x1 | v1 * 2
np.emath.arcsin: x1 | v1 * 2
np.emath.arctanh: x1 | v1 * 2
np.lib.stride_tricks.sliding_window_view: v1, 2 | x1, (2, 2) | x1, 2, axis=1
np.lib.stride_tricks.as_strided: v1, (2,), (16,)
np.polynomial.polynomial.polyval: c1, v1 | x1, w1
np.polynomial.polynomial.polyadd: v1, w1
np.polynomial.polynomial.polymul: v1, w1
np.polynomial.polynomial.polyder: v1
np.polynomial.polynomial.polyint: v1
np.polynomial.polynomial.polyvander: v1, 2
np.polynomial.polynomial.polyfit: k1, v1, 1
np.polynomial.polynomial.polyroots: w1
"""

METHODS = """
T: x1 | t1 | v1 | e1
mT: x1 | t1
real: x1 | z1 | c1
imag: x1 | z1
flat: x1
base: x1
all: x1 | x1, axis=0
any: x1 | x1, axis=0
argmax: x1 | v1 | x1, 1
argmin: x1 | v1
argpartition: v1, 2
argsort: x1 | v1 | x1, 0
astype: x1, np.float32 | x1, complex | x1, float, copy=False | x1, np.float64, order='F' | f1, np.float64 | x1, int | c1, np.float32
choose: j1 % 2, [x1, 0.5]
clip: x1, 0.3, 0.7 | x1, min=0.3 | x1, None, 0.7 | c1, 0.1, 0.9 | x1, max=v1
compress: x1, n1, 1 | v1, [True, False]
conj: x1 | z1
conjugate: x1 | z1
copy: x1 | q1 | x1, 'F' | q1, order='K' | e1 | c1
cumprod: x1 | v1 | x1, 1
cumsum: x1 | v1 | x1, axis=1
diagonal: s1 | x1, 1 | t1, 0, 1, 2
dot: x1, v1 | s1, x1 | v1, k1 | v1, 2.0
fill: v1, 0.5 | v1, c1
flatten: x1 | q1 | x1, 'F' | q1, 'K' | e1
getfield: x1, np.float64
max: x1 | v1 | x1, 1 | x1, axis=0, keepdims=True | x1, where=m1, initial=0.0
min: x1 | v1 | x1, 1
mean: x1 | v1 | x1, 0 | x1, axis=(0, 1), keepdims=True | z1 | x1, where=m1
nonzero: v1 | x1
partition: v1, 2
prod: x1 | v1 | x1, 1
put: x1, [0, 5], 0.5 | v1, [1], c1
ravel: x1 | q1 | x1, 'F' | x1.T | q1, 'K' | e1
repeat: x1, 2 | x1, 2, 0 | v1, [1, 0, 2, 1]
reshape: x1, 2, 6 | x1, (2, 6) | x1, -1 | x1, (4, 3), order='F' | q1, 12 | x1, (2, 6), copy=True | e1, 1
resize: v1, 2 | v1, (2, 2)
round: x1 * 1.03 | x1 * 1.03, 1 | c1, 1
searchsorted: k1, v1
setfield: v1, 0.5, np.float64
setflags: v1, write=True
sort: v1 | x1, 0 | x1, axis=-1, kind='stable'
squeeze: x1[None] | x1[:, None], 1 | e1
std: x1 | v1 | x1, 0 | x1, ddof=1 | z1
sum: x1 | v1 | x1, 0 | x1, axis=(0, 1), keepdims=True | x1, where=m1, initial=0.5 | z1 | x1, 1, np.float32
swapaxes: t1, 0, 2
take: x1, [0, 5] | x1, [0, 1], 1 | v1, 2 | v1, [5], mode='wrap'
to_device: x1, 'cpu'
tobytes: v1
tofile: v1, 'never-written'
trace: s1 | x1, 1
transpose: x1 | t1, 1, 2, 0 | t1, (1, 2, 0) | x1, None
var: x1 | v1 | x1, 0 | x1, ddof=1
view: x1 | x1, np.ndarray
__array__: x1
__copy__: x1
__deepcopy__: x1, {}
__len__: x1
__contains__: x1, 0.31
__divmod__: x1, 0.7
__rpow__: x1, 2.0
__rdivmod__: x1, 0.7
__rmatmul__: x1.T, v1
__matmul__: x1, v1
__abs__: x1
__neg__: x1
__pos__: x1
__pow__: x1, 2 | x1, y1
__floordiv__: x1, 0.3
__mod__: x1, 0.3
__and__: x1 > 0.5, m1
__invert__: x1 > 0.5
__lt__: x1, 0.5
__eq__: x1, 0.31
__getitem__: x1, 0 | x1, (slice(None), 1) | x1, m1 | x1, [0, 0] | x1, (None, ..., 1) | c1, () | e1, ... | x1, (i1, 0)
__setitem__: x1, 0, 0.5 | x1, m1, 0.5 | x1, (0, 1), c1 | e1, (), 0.5 | x1, [0, 0], v1
__iadd__: x1, 0.5 | x1, v1
__imul__: x1, 0.5 | x1, y1
__itruediv__: x1, 2.0
__ipow__: x1, 2
__imatmul__: s1, s1
"""

OTHERS: dict[str, str] = {
    "settings, text and files": (
        "array2string array_repr array_str binary_repr format_float_positional"
        " format_float_scientific from_dlpack frombuffer fromfile fromregex fromstring genfromtxt"
        " get_include get_printoptions getbufsize geterr geterrcall info load loadtxt printoptions"
        " save savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall"
        " show_config show_runtime test typename errstate linalg.test fft.test"
    ),
    "dates": "busday_count busday_offset datetime_as_string datetime_data is_busday busdaycalendar",
    "questions about types": "isscalar iterable base_repr isdtype issubdtype promote_types finfo iinfo dtype",
    "made of numbers alone": (
        "bartlett blackman diag_indices empty eye hamming hanning identity indices kaiser"
        " mask_indices ones tri tril_indices triu_indices zeros fft.fftfreq fft.rfftfreq"
    ),
    "classes": (
        "bool bool_ broadcast byte bytes_ cdouble character clongdouble complex128 complex256"
        " complex64 complexfloating csingle datetime64 double flatiter flexible float128 float16"
        " float32 float64 floating generic half inexact int16 int32 int64 int8 int_ intc integer"
        " intp long longdouble longlong matrix memmap ndarray ndenumerate ndindex nditer number"
        " object_ poly1d recarray record short signedinteger single str_ timedelta64 ubyte ufunc"
        " uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong unsignedinteger ushort"
        " vectorize void linalg.LinAlgError"
    ),
}
"""Names that take no array with a derivative, and why."""

OTHER_METHODS: dict[str, str] = {
    "ways out of the graph, on purpose": "item tolist",
    "facts about an array": "ctypes data device dtype flags itemsize nbytes ndim shape size strides",
    "files, and other readings of the same bytes": "byteswap dump dumps",
}
"""The methods and attributes that are not called, and why."""
