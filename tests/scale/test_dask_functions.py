"""`gradwrap.dask.array`: Dask's functions, its decompositions, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")
gda: Any = pytest.importorskip("gradwrap.dask.array")
pytest.importorskip("scipy")
special: Any = pytest.importorskip("gradwrap.scipy.special")
pytestmark = pytest.mark.peers

RANDOM = np.random.default_rng(0)
V = RANDOM.normal(size=(60, 5))
W = RANDOM.normal(size=5)
X = da.from_array(V, chunks=(20, 5))
Library = Any


def refuse(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("something was computed")


def number_of_tasks(array: Any) -> int:
    return len(dict(dask.optimize(array)[0].dask))


# Functions ----------------------------------------------------------------------------------------

FUNCTIONS: dict[str, tuple[Callable[[Library, Any], Any], Callable[[Any, Any], Any]]] = {
    "elementwise": (
        lambda d, x: d.where(x > 0, d.tanh(x), x),
        lambda n, x: n.where(x > 0, n.tanh(x), x),
    ),
    "joined": (lambda d, x: d.concatenate([x, 2 * x]), lambda n, x: n.concatenate([x, 2 * x])),
    "stacked": (lambda d, x: d.stack([x, x**2]), lambda n, x: n.stack([x, x**2])),
    "product": (lambda d, x: d.tensordot(x, x, axes=((0,), (0,))), lambda n, x: x.T @ x),
    "sums": (lambda d, x: d.einsum("ij,ik->jk", x, x), lambda n, x: x.T @ x),
    "padded": (
        lambda d, x: d.pad(x, ((1, 2), (0, 1)), constant_values=0.5),
        lambda n, x: n.pad(x, ((1, 2), (0, 1)), constant_values=0.5),
    ),
    "rechunked": (lambda d, x: d.rechunk(x, (7, 2)), lambda n, x: x),
    "rechunked by the method": (lambda d, x: x.rechunk({0: 13}) * 2, lambda n, x: x * 2),
    "kept on the workers": (lambda d, x: x.persist(scheduler="sync") ** 2, lambda n, x: x**2),
    "fourier": (lambda d, x: d.fft.fft(x, axis=1).real, lambda n, x: n.fft.fft(x, axis=1).real),
    "differences": (lambda d, x: d.diff(x, axis=0), lambda n, x: n.diff(x, axis=0)),
    "rolled": (lambda d, x: d.roll(x, 20, axis=0), lambda n, x: n.roll(x, 20, axis=0)),
    "flat": (lambda d, x: x.reshape(-1)[7:], lambda n, x: x.reshape(-1)[7:]),
    "rows": (lambda d, x: d.take(x, [3, 5, 3], axis=0), lambda n, x: n.take(x, [3, 5, 3], axis=0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_dask_has_the_gradient_of_numpys(name: str) -> None:
    on_dask, on_numpy = FUNCTIONS[name]

    gradient = gw.grad(lambda x: (on_dask(gda, x) ** 3).sum())(X)

    wanted = gw.grad(lambda x: (on_numpy(np, x) ** 3).sum())(V)
    assert gradient.chunks == X.chunks
    np.testing.assert_allclose(gradient.compute(scheduler="sync"), wanted, rtol=1e-9, atol=1e-12)


Z = da.from_array(V, chunks=(20, 2))
INDICES = np.array([40, 3, 3, 59])
MATRIX = da.from_array(RANDOM.normal(size=(5, 3)), chunks=(5, 2))
MESH = np.ix_(INDICES, np.array([4, 0]))
windows: Any = np.lib.stride_tricks.sliding_window_view
IN_TWO_DIRECTIONS: dict[str, tuple[Callable[[Library, Any], Any], Callable[[Any, Any], Any]]] = {
    "product with a vector": (lambda d, x: x @ W, lambda n, x: x @ W),
    "product with Dask's matrix": (
        lambda d, x: d.tanh(x @ MATRIX),
        lambda n, x: n.tanh(x @ MATRIX.compute(scheduler="sync")),
    ),
    "products of elements": (lambda d, x: d.prod(x[:4], axis=0), lambda n, x: n.prod(x[:4], 0)),
    "running products": (
        lambda d, x: d.cumprod(x[:9], axis=1, method="blelloch"),
        lambda n, x: n.cumprod(x[:9], axis=1),
    ),
    "contracted": (lambda d, x: d.einsum("ij,j->i", x, W), lambda n, x: x @ W),
    "diagonal": (lambda d, x: d.diagonal(x, 1), lambda n, x: n.diagonal(x, 1)),
    "diagonal matrix": (
        lambda d, x: d.diag(x[:3, 0], 1)[:, :3],
        lambda n, x: n.diag(x[:3, 0], 1)[:, :3],
    ),
    "NumPy's diagonal matrix": (lambda d, x: np.diag(x[:4, 1]), lambda n, x: n.diag(x[:4, 1])),
    "new axes": (lambda d, x: x[:9, None] * x[None, :9], lambda n, x: x[:9, None] * x[None, :9]),
    "made alike": (
        lambda d, x: sum(d.broadcast_arrays(x, x[:, :1])),
        lambda n, x: x + x[:, :1],
    ),
    "points": (lambda d, x: x[INDICES, [0, 1, 1, 4]], lambda n, x: x[INDICES, [0, 1, 1, 4]]),
    "points, from the end": (
        lambda d, x: x[-INDICES, [-1, 0, 1, 1]],
        lambda n, x: x[-INDICES, [-1, 0, 1, 1]],
    ),
    "points of slices": (
        lambda d, x: d.stack([x, 2 * x])[:, INDICES, [0, 1, 1, 4]],
        lambda n, x: n.stack([x, 2 * x])[:, INDICES, [0, 1, 1, 4]],
    ),
    "points around a slice": (
        lambda d, x: d.stack([x, 2 * x])[[0, 1, 1, 0], :, [0, 1, 1, 4]],
        lambda n, x: n.stack([x, 2 * x])[[0, 1, 1, 0], :, [0, 1, 1, 4]],
    ),
    "an open mesh": (
        lambda d, x: x[MESH],
        lambda n, x: x[MESH],
    ),
    "a row of each column": (
        lambda d, x: x[np.arange(5)[:, None], np.arange(5)[None] % 3],
        lambda n, x: x[np.arange(5)[:, None], np.arange(5)[None] % 3],
    ),
    "vindex": (
        lambda d, x: d.stack([x, 2 * x]).vindex[:, [0, 3], [1, 2]],
        lambda n, x: n.stack([x, 2 * x])[:, [0, 3], [1, 2]].T,
    ),
    "blocks": (lambda d, x: x.blocks[1, ::2], lambda n, x: x[20:40, [0, 1, 4]]),
    "partitions": (lambda d, x: x.partitions[[2, 0]], lambda n, x: n.concatenate([x[40:], x[:20]])),
    "reshaped": (
        lambda d, x: d.reshape(x, (3, 20, 5), merge_chunks=False),
        lambda n, x: n.reshape(x, (3, 20, 5)),
    ),
    "repeated at the edges": (
        lambda d, x: d.pad(x, ((2, 0), (1, 7)), mode="edge"),
        lambda n, x: n.pad(x, ((2, 0), (1, 7)), mode="edge"),
    ),
    "reflected": (lambda d, x: d.pad(x, 3, mode="reflect"), lambda n, x: n.pad(x, 3, "reflect")),
    "reflected, by NumPy": (
        lambda d, x: np.pad(x, 3, "symmetric"),
        lambda n, x: n.pad(x, 3, "symmetric"),
    ),
    "wrapped": (lambda d, x: d.pad(x, (7, 1), mode="wrap"), lambda n, x: n.pad(x, (7, 1), "wrap")),
    "coarser": (
        lambda d, x: d.coarsen(np.mean, x, {0: 6, 1: 2}, trim_excess=True),
        lambda n, x: x[:, :4].reshape(10, 6, 2, 2).mean(axis=(1, 3)),
    ),
    "coarser in one direction": (
        lambda d, x: d.coarsen(np.max, x, {0: 7}, trim_excess=True),
        lambda n, x: x[:56].reshape(8, 7, 5).max(axis=1),
    ),
    "windows": (
        lambda d, x: d.lib.stride_tricks.sliding_window_view(x, 3, axis=0),
        lambda n, x: windows(x, 3, axis=0),
    ),
    "median without gaps": (
        lambda d, x: np.nanmedian(d.where(x > 0, x, np.nan), axis=0, keepdims=True) * x,
        lambda n, x: n.nanmedian(n.where(x > 0, x, np.nan), axis=0, keepdims=True) * x,
    ),
    "quantiles of all": (
        lambda d, x: np.nanquantile(x, [0.2, 0.9]),
        lambda n, x: n.nanquantile(x, [0.2, 0.9]),
    ),
    "NumPy's ufuncs": (
        lambda d, x: d.cbrt(x) * d.fmax(x, 0.1) + np.logaddexp2(x, 0.3),
        lambda n, x: n.cbrt(x) * n.fmax(x, 0.1) + n.logaddexp2(x, 0.3),
    ),
    "SciPy's ufuncs": (
        lambda d, x: special.erf(x) * special.j0(x),
        lambda n, x: special.erf(x) * special.j0(x),
    ),
}


@pytest.mark.parametrize("name", IN_TWO_DIRECTIONS)
def test_gradient_is_lazy_and_in_the_chunks_of_the_argument(name: str) -> None:
    on_dask, on_numpy = IN_TWO_DIRECTIONS[name]

    with dask.config.set(scheduler=refuse):
        value, gradient = gw.value_and_grad(lambda x: (on_dask(gda, x) ** 3).sum())(Z)

    wanted = gw.value_and_grad(lambda x: (on_numpy(np, x) ** 3).sum())(V)
    assert gradient.chunks == Z.chunks
    value, gradient = dask.compute(value, gradient, scheduler="sync")
    np.testing.assert_allclose(value, wanted[0], rtol=1e-10)
    np.testing.assert_allclose(gradient, wanted[1], rtol=1e-9, atol=1e-12)


def test_order_statistics_with_tracked_options_are_refused() -> None:
    with pytest.raises(NoRuleError, match=r"np\.nanquantile of Dask's arrays with out="):
        gw.grad(lambda q: np.nanquantile(X, q, axis=0).sum(), 0)(0.3)


def test_padding_under_vmap_is_that_of_each_row() -> None:
    def padded(r: Any) -> Any:
        return np.pad(r, 1, constant_values=2.0)[1:]

    found = gw.vmap(padded)(X)

    np.testing.assert_array_equal(found.compute(), np.stack([padded(row) for row in V]))


def test_wrappers_that_track_nothing_get_other_chunks() -> None:
    x: Any = gw.wrap(X)

    assert gda.rechunk(x, 30).chunks == x.rechunk(30).chunks == ((30, 30), (5,))


def test_new_axes_among_arrays_of_indices_are_refused_by_dask() -> None:
    with pytest.raises(NotImplementedError):
        gw.grad(lambda x: x[INDICES, None, [0, 1, 1, 4]].sum())(Z)


@pytest.mark.parametrize(
    "reduce", [lambda x, n: gda.sum(x, split_every=n), lambda x, n: x.sum(split_every=n)]
)
def test_split_every_is_that_of_the_forward_pass(reduce: Callable[[Any, int], Any]) -> None:
    line = da.from_array(V[:, 0], chunks=2)

    values = {n: gw.value_and_grad(lambda x, n=n: reduce(x**2, n))(line) for n in (2, 30)}

    assert number_of_tasks(values[2][0]) > number_of_tasks(values[30][0])
    assert number_of_tasks(values[30][0]) == number_of_tasks((line**2).sum(split_every=30))
    for _, gradient in values.values():
        np.testing.assert_allclose(gradient.compute(scheduler="sync"), 2 * V[:, 0])


def test_what_dask_makes_of_untracked_arrays_is_dasks() -> None:
    assert gda.sum(X).name == da.sum(X).name
    assert gda.Array is da.Array
    assert gda.linalg.qr(X)[1].shape == (5, 5)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = gda.nothing_like_it


def test_layout_of_a_tracked_array_is_that_of_its_data() -> None:
    x: Any = gw.wrap(X, requires_grad=True)

    assert (x.chunks, x.numblocks, x.npartitions) == (X.chunks, (3, 1), 3)
    assert x.chunksize == (20, 5)


# Unknown lengths ----------------------------------------------------------------------------------


def positive(x: Any) -> Any:
    return x[x[:, 0] > 0]


def test_lengths_can_be_computed_where_they_are_needed() -> None:
    def f(x: Any) -> Any:
        rows = positive(x)
        if hasattr(rows, "chunks"):
            rows = rows.compute_chunk_sizes()
        return (rows[:2] ** 2).sum() + (rows.reshape(-1) ** 3).sum()

    gradient = gw.grad(f)(X)

    np.testing.assert_allclose(gradient.compute(), gw.grad(f)(V), rtol=1e-10)


def test_function_of_blocks_of_unknown_length() -> None:
    gradient = gw.grad(lambda x: gda.map_blocks(np.sin, positive(x), dtype=float).sum())(X)

    np.testing.assert_allclose(
        gradient.compute(), gw.grad(lambda x: np.sum(np.sin(positive(x))))(V), rtol=1e-10
    )


def test_data_from_delayed_functions_of_unknown_length() -> None:
    parts = [
        da.from_delayed(
            dask.delayed(V.__getitem__)(slice(i, i + 20)), shape=(np.nan, 5), dtype=float
        )
        for i in (0, 20, 40)
    ]
    rows = da.concatenate(parts, allow_unknown_chunksizes=True)

    with dask.config.set(scheduler=refuse):
        gradient = gw.grad(lambda w: (np.tanh(rows @ w) ** 2).mean())(W)

    wanted = gw.grad(lambda w: (np.tanh(V @ w) ** 2).mean())(W)
    np.testing.assert_allclose(gradient.compute(scheduler="sync"), wanted, rtol=1e-10)


# Decompositions -----------------------------------------------------------------------------------

TALL = RANDOM.normal(size=(12, 3))
SQUARE = RANDOM.normal(size=(4, 4))
POSITIVE = TALL[:, :].T @ TALL + 3 * np.eye(3)
SIDES = RANDOM.normal(size=(4, 3))
K = np.arange(16.0).reshape(4, 4)


def approximated(d: Library, x: Any, **options: Any) -> Any:
    u, s, v = d.linalg.svd_compressed(x, 2, seed=3, **options)
    return (u**3).sum() + (v**2 * K[:2, :3]).sum() + s.sum()


def solved(d: Library, x: Any, *, lower: bool) -> Any:
    sides = da.from_array(SIDES, chunks=(x.chunks[0], 3))
    return (d.linalg.solve_triangular(x, sides, lower=lower) ** 2).sum()


def least_squares(d: Library, x: Any) -> Any:
    found, residuals, _, values = d.linalg.lstsq(x, da.arange(12.0, chunks=4))
    return (found**2).sum() + residuals.sum() + (values**2).sum()


DECOMPOSED: dict[str, tuple[Callable[[Library, Any], Any], Any, Any]] = {
    "norm": (lambda d, x: d.linalg.norm(x), TALL, (4, 3)),
    "qr": (lambda d, x: (d.linalg.qr(x)[0] ** 3).sum() + d.linalg.qr(x)[1].sum(), TALL, (4, 3)),
    "tsqr": (lambda d, x: (d.linalg.tsqr(x)[1] ** 3).sum(), TALL, (4, 3)),
    "tsqr, values": (lambda d, x: (d.linalg.tsqr(x, compute_svd=True)[1] ** 3).sum(), TALL, (4, 3)),
    "sfqr": (lambda d, x: (d.linalg.sfqr(x)[1] ** 3).sum(), TALL.T.copy(), (3, 4)),
    "svd": (lambda d, x: (d.linalg.svd(x)[0] ** 3).sum(), TALL, (4, 3)),
    "svd_compressed": (approximated, TALL, (4, 3)),
    "svd_compressed, iterated": (lambda d, x: approximated(d, x, n_power_iter=2), TALL, (4, 3)),
    "svd_compressed, QR": (
        lambda d, x: approximated(d, x, n_power_iter=1, iterator="QR"),
        TALL,
        (4, 3),
    ),
    "lstsq": (least_squares, TALL, (4, 3)),
    "cholesky": (lambda d, x: (d.linalg.cholesky((x + x.T) / 2) ** 2).sum(), POSITIVE, (3, 3)),
    **{
        f"{name}, {chunk}": (f, SQUARE + shift * np.eye(4), (chunk, chunk))
        for chunk in (4, 2)
        for name, f, shift in (
            ("inv", lambda d, x: (d.linalg.inv(x) ** 2).sum(), 0),
            ("solve", lambda d, x: (d.linalg.solve(x, x.T @ x) ** 2).sum(), 4),
            ("lu", lambda d, x: ((d.linalg.lu(x)[1] ** 2 + d.linalg.lu(x)[2] ** 2) * K).sum(), 0),
            ("upper", lambda d, x: solved(d, x, lower=False), 4),
            ("lower", lambda d, x: solved(d, x, lower=True), 4),
        )
    },
}


@pytest.mark.parametrize("name", DECOMPOSED)
def test_decomposition_has_the_gradient_of_finite_differences(name: str) -> None:
    f, matrix, chunks = DECOMPOSED[name]

    def value(values: Any) -> float:
        return float(f(da, da.from_array(values, chunks=chunks)).compute(scheduler="sync"))

    found, gradient = gw.value_and_grad(lambda x: f(gda, x))(da.from_array(matrix, chunks=chunks))

    np.testing.assert_allclose(found.compute(scheduler="sync"), value(matrix), rtol=1e-10)
    direction = np.random.default_rng(1).normal(size=matrix.shape)
    step = 1e-6 * direction
    slope = (value(matrix + step) - value(matrix - step)) / 2e-6
    along = np.sum(gradient.compute(scheduler="sync") * direction)
    np.testing.assert_allclose(along, slope, rtol=1e-5, atol=1e-7)


# What is refused ----------------------------------------------------------------------------------


def of_blocks(w: Any) -> Any:
    return da.map_blocks(lambda b, v: b @ v, X, w, drop_axis=1, dtype=float).sum()


def of_closure(w: Any) -> Any:
    return da.map_blocks(lambda b: b @ w, X, drop_axis=1, dtype=float).sum()


def of_closure_in_drop_in(w: Any) -> Any:
    return gda.map_blocks(lambda b: b @ w, X, drop_axis=1, dtype=float).sum()


def of_inner_closure(w: Any) -> Any:
    def inner(b: Any) -> Any:
        return b @ w

    return da.map_blocks(lambda b: inner(b), X, drop_axis=1, dtype=float).sum()


def delayed(w: Any) -> Any:
    return da.from_delayed(dask.delayed(np.sin)(w), shape=(5,), dtype=float).sum()


def delayed_list(w: Any) -> Any:
    return da.from_delayed(dask.delayed(np.sin)([w, w]), shape=(2, 5), dtype=float).sum()


def delayed_closure(w: Any) -> Any:
    return da.from_delayed(dask.delayed(lambda: 2 * w)(), shape=(5,), dtype=float).sum()


LOST: dict[Callable[[Any], Any], str] = {
    of_blocks: r"gradwrap\.dask\.array in place of dask\.array",
    of_closure: "of_closure.* uses a tracked value that is not among its arguments.*Fix: pass it",
    of_closure_in_drop_in: r"Fix: pass it as an argument, of gradwrap\.dask\.array\.map_blocks",
    of_inner_closure: "uses a tracked value that is not among its arguments",
    delayed: r"dask\.delayed would take a tracked value for a constant.*map_blocks",
    delayed_list: r"dask\.delayed would take a tracked value for a constant",
    delayed_closure: "A delayed function of Dask, .*uses a tracked value",
    lambda w: da.add(X, w).sum(): r"np\.add\(a, x\) for dask\.array\.add",
    lambda w: da.from_array(w).sum(): "would take a tracked value out of the graph",
}


@pytest.mark.parametrize("function", LOST)
def test_tracked_array_of_numpy_that_dask_would_take_for_a_constant_is_refused(
    function: Callable[[Any], Any],
) -> None:
    with pytest.raises(TrackedValueError, match=LOST[function]):
        gw.grad(function)(W)


def test_untracked_variables_and_plain_closures_go_to_dask() -> None:
    constant = gw.wrap(W)

    assert of_blocks(constant).dtype == float
    np.testing.assert_allclose(of_closure(W).compute(scheduler="sync"), np.sum(V @ W))
    assert dask.delayed(np.sin)(constant) is not None


WITHOUT_RULE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "histogramdd": (lambda x: gda.histogramdd(x, 2), r"np\.histogramdd on dask arrays has no rule"),
    "from_delayed": (lambda x: gda.from_delayed(x, (3,), float), "map_blocks, whose function"),
    "lu": (lambda x: gda.linalg.lu(x)[1], "only a square one"),
    "svd": (lambda x: gda.linalg.svd(x, full_matrices=True)[1], "omit full_matrices"),
    "svd_compressed": (lambda x: gda.linalg.svd_compressed(x, 2, compute=True)[1], "omit compute"),
    "pad": (lambda x: gda.pad(x, 1, mode="mean"), "concatenate slices of the array"),
    "words": (lambda x: gda.mean(x, chunks=3), r"dask\.array\.mean with chunks= has no rule"),
}


@pytest.mark.parametrize("name", WITHOUT_RULE)
def test_function_without_a_rule_names_a_way(name: str) -> None:
    function, message = WITHOUT_RULE[name]

    with pytest.raises(NoRuleError, match=message):
        gw.grad(lambda x: function(x).sum())(X)


def test_map_overlap_of_numpys_array_by_position_and_map_blocks_without_blocks() -> None:
    with pytest.raises(TypeError, match="give parameters that all blocks need by keyword"):
        gw.grad(lambda w: gda.map_overlap(np.multiply, X, w, depth=1).sum())(W)
    with pytest.raises(TypeError, match="needs an array of Dask among its arguments"):
        gw.grad(lambda w: gda.map_blocks(np.sin, w).sum())(W)
