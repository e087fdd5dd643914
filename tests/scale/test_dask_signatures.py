"""Dask's functions with the user's own functions of blocks, against NumPy and differences.

`blockwise`, `reduction`, `topk`, `apply_gufunc`, and `histogram` with weights.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import BatchedValueError, NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")
gda: Any = pytest.importorskip("gradwrap.dask.array")
pytestmark = pytest.mark.peers
Library = Any
Program = tuple["Callable[..., Any]", "Callable[..., Any]", tuple[Any, ...]]

RANDOM = np.random.default_rng(0)
V = RANDOM.normal(size=(12, 10))
M = RANDOM.normal(size=(10, 6))
W = RANDOM.normal(size=10)
X = da.from_array(V, chunks=(5, 4))
Y = da.from_array(M, chunks=(4, 2))
ROWS = da.from_array(V, chunks=(5, 10))


def refuse(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("something was computed")


def plain(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dask.compute(*arrays, scheduler="sync"))


def agree(found: Any, wanted: Any, rtol: float = 1e-9) -> None:
    """Compare arrays of Dask with NumPy's."""
    for one, other in zip(plain(tuple(found)), wanted, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-11)


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    """A number that depends on all elements of all results, none of them alike."""

    def summed(*args: Any) -> Any:
        found = f(*args)
        several: Any = found if isinstance(found, tuple) else (found,)
        return sum(
            (one**3 * (1.0 + np.arange(one.size).reshape(one.shape))).sum() for one in several
        )

    return summed


def steepness(f: Callable[..., Any], places: tuple[int, ...]) -> Callable[..., Any]:
    return lambda *args: sum((one**2).sum() for one in gw.grad(f, places)(*args))


def check(on_blocks: Callable[..., Any], on_whole: Callable[..., Any], args: Any) -> None:
    """The gradient, lazy and in the argument's chunks, its own gradient, and the tangent."""
    f, g, places = total(on_blocks), total(on_whole), tuple(range(len(args)))
    on_numpy = plain(args)
    with dask.config.set(scheduler=refuse):
        value, gradients = gw.value_and_grad(f, places)(*args)
        second = gw.grad(steepness(f, places), places)(*args)
        tangent = gw.jvp(f, args, args)[1]
    for one, argument in zip(gradients, args, strict=True):
        assert not isinstance(argument, da.Array) or one.chunks == argument.chunks
    agree([value, *gradients], [g(*on_numpy), *gw.grad(g, places)(*on_numpy)])
    agree(second, gw.grad(steepness(g, places), places)(*on_numpy))
    agree([tangent], [gw.jvp(g, on_numpy, on_numpy)[1]])


# blockwise ----------------------------------------------------------------------------------------


def products(rows: list[Any], columns: list[Any]) -> Any:
    return sum(a @ b for a, b in zip(rows, columns, strict=True))


def doubled(a: Any, w: Any = None) -> Any:
    return np.concatenate([a, a * w.sum()])


def with_square(a: Any) -> Any:
    return np.stack([a, a**2], axis=-1)


def wise(function: Callable[..., Any], *pairs: Any, **options: Any) -> Any:
    return gda.blockwise(function, *pairs, dtype=float, **options)


BLOCKWISE: dict[str, Program] = {
    "lists along an axis": (
        lambda x, y: wise(products, "ij", x, "ik", y, "kj"),
        lambda x, y: x @ y,
        (X, Y),
    ),
    "joined along an axis": (
        lambda x, y: wise(np.matmul, "ij", x, "ik", y, "kj", concatenate=True),
        lambda x, y: x @ y,
        (X, Y),
    ),
    "lists of lists": (
        lambda x: wise(lambda rows: sum((b**2).sum() for row in rows for b in row), "", x, "ij"),
        lambda x: np.sum(x**2),
        (X,),
    ),
    "transposed, NumPy's vector, a number": (
        lambda x, w: wise(lambda a, b, c: c * (a * b).T, "ji", x, "ij", w, "j", 2.0, None),
        lambda x, w: 2.0 * (x * w).T,
        (X, W),
    ),
    "by keyword, longer": (
        lambda x, w: wise(doubled, "ij", x[:5], "ij", w=w, adjust_chunks={"i": lambda n: 2 * n}),
        lambda x, w: doubled(x[:5], w),
        (X, W),
    ),
    "a new axis": (
        lambda x: wise(with_square, "ijz", x, "ij", new_axes={"z": 2}),
        with_square,
        (X,),
    ),
    "other chunks": (
        lambda x, y: wise(np.multiply, "ij", x, "ij", y, "ij"),
        lambda x, y: x * y,
        (X, X.rechunk(3)),
    ),
}

# reduction ----------------------------------------------------------------------------------------


def squares(b: Any, axis: Any, keepdims: bool) -> Any:
    return (b**2).sum(axis=axis, keepdims=keepdims)


def sums(b: Any, axis: Any, keepdims: bool) -> Any:
    return b.sum(axis=axis, keepdims=keepdims)


def root(b: Any, axis: Any, keepdims: bool) -> Any:
    return np.sqrt(b.sum(axis=axis, keepdims=keepdims))


def weighted(b: Any, w: Any, axis: Any, keepdims: bool) -> Any:
    return (b * w).sum(axis=axis, keepdims=keepdims)


def moments(b: Any, axis: Any, keepdims: bool, computing_meta: bool = False) -> Any:
    """The number, the sum and the sum of the squares, in a dictionary."""
    if computing_meta:
        return b
    count = np.sum(np.ones(b.shape, int), axis=axis, keepdims=keepdims)
    return {"n": count, "s": [sums(b, axis, keepdims), squares(b, axis, keepdims)]}


def added(parts: Any, axis: Any, keepdims: bool, computing_meta: bool = False) -> Any:
    if computing_meta:
        return parts
    parts = list(flat(parts))
    return {"n": sum(p["n"] for p in parts), "s": [sum(p["s"][i] for p in parts) for i in (0, 1)]}


def flat(parts: Any) -> Any:
    return (one for part in parts for one in flat(part)) if isinstance(parts, list) else [parts]


def variance(parts: Any, axis: Any, keepdims: bool, computing_meta: bool = False) -> Any:
    if computing_meta:
        return parts
    whole = added(parts, axis, keepdims)
    found = whole["s"][1] / whole["n"] - (whole["s"][0] / whole["n"]) ** 2
    return found if keepdims else np.squeeze(found, axis=axis)


def norm(x: Any, **options: Any) -> Any:
    return gda.reduction(x, squares, root, combine=sums, dtype=float, split_every=2, **options)


def spread(x: Any, **options: Any) -> Any:
    words = {"combine": added, "dtype": float, "split_every": 2, "concatenate": False}
    return gda.reduction(x, moments, variance, **words, **options)


REDUCTIONS: dict[str, Program] = {
    "of all axes": (norm, lambda x: np.sqrt(np.sum(x**2)), (X,)),
    "of rows": (lambda x: norm(x, axis=1), lambda x: np.sqrt(np.sum(x**2, axis=1)), (X,)),
    "in place": (
        lambda x: norm(x, axis=(0,), keepdims=True),
        lambda x: np.sqrt(np.sum(x**2, axis=0, keepdims=True)),
        (X,),
    ),
    "with weights": (
        lambda x, w: gda.reduction(x, weighted, sums, axis=1, dtype=float, weights=w),
        lambda x, w: np.sum(x * w, axis=1),
        (X, W),
    ),
    "of dictionaries": (lambda x: spread(x, axis=0), lambda x: np.var(x, axis=0), (X,)),
    "of dictionaries in place": (
        lambda x: spread(x, keepdims=True),
        lambda x: np.var(x, keepdims=True),
        (X,),
    ),
}


def largest(x: Any, k: int) -> Any:
    return np.sort(x, axis=1)[:, ::-1][:, :k] if k > 0 else np.sort(x, axis=1)[:, :-k]


TOPK: dict[str, Program] = {
    f"topk {k}": (lambda x, k=k: gda.topk(x, k), lambda x, k=k: largest(x, k), (X,))
    for k in (3, -7, 20)
}
TOPK["topk of columns"] = (
    lambda x: x.topk(4, axis=0, split_every=2),
    lambda x: largest(x.T, 4).T,
    (X,),
)

# apply_gufunc and histogram -----------------------------------------------------------------------


def statistics(b: Any) -> Any:
    return b.mean(axis=-1), np.sqrt((b**2).sum(axis=-1))


def outer(a: Any, b: Any) -> Any:
    return np.einsum("...i,...j->...ij", a, b)


def chosen(a: Any, b: Any) -> Any:
    return a * b if a > 0 else b


def kept(b: Any) -> Any:
    return b.argmax(axis=-1), b.max(axis=-1)


def with_signature(function: Any, signature: str, *args: Any, **options: Any) -> Any:
    several = signature.partition("->")[2].count("(") > 1
    options.setdefault("output_dtypes", (float, float) if several else float)
    return gda.apply_gufunc(function, signature, *args, **options)


SIGNATURES: dict[str, Program] = {
    "two results": (lambda x: with_signature(statistics, "(i)->(),()", x), statistics, (ROWS,)),
    "one of two": (
        lambda x: with_signature(statistics, "(i)->(),()", x)[1],
        lambda x: statistics(x)[1],
        (ROWS,),
    ),
    "of columns, in place": (
        lambda x: with_signature(
            statistics, "(i)->(),()", x, axis=0, keepdims=True, allow_rechunk=True
        ),
        lambda x: tuple(one[None] for one in statistics(x.T)),
        (X,),
    ),
    "axes of each": (
        lambda x, w: with_signature(
            outer, "(i), (j) -> (i, j)", x, w, axes=[(0,), (0,), (0, 2)], allow_rechunk=True
        ),
        lambda x, w: np.einsum("ia,j->iaj", x, w),
        (X, W),
    ),
    "by keyword": (
        lambda x, w: with_signature(lambda a, w: a @ w, "(i)->()", x, w=w),
        lambda x, w: x @ w,
        (ROWS, W),
    ),
    "element by element": (
        lambda x, y: with_signature(chosen, "(),()->()", x, y, vectorize=True),
        lambda x, y: np.where(x > 0, x * y, y),
        (X, 2.0 * X),
    ),
    "positions as well": (
        lambda x: with_signature(kept, "(i)->(),()", x, output_dtypes=(int, float))[1],
        lambda x: kept(x)[1],
        (ROWS,),
    ),
    "a decorated function": (
        gda.as_gufunc("(i)->(),()", output_dtypes=(float, float))(statistics),
        statistics,
        (ROWS,),
    ),
}
BINS = np.array([-1.0, -0.3, 0.0, V[2, 3], 1.5])


def in_bins(w: Any, edges: Any) -> Any:
    places = np.digitize(V, edges) - 1
    return np.stack([(w * (places == place)).sum() for place in range(len(edges) - 1)])


def density(w: Any) -> Any:
    found = in_bins(w, BINS)
    return found / np.diff(BINS) / found.sum()


HISTOGRAMS: dict[str, Program] = {
    "edges": (
        lambda w: gda.histogram(X, BINS, weights=w)[0],
        lambda w: in_bins(w, BINS),
        (X**2,),
    ),
    "a number of bins": (
        lambda w: gda.histogram(X, 5, range=(-1, 1.0), weights=w)[0],
        lambda w: in_bins(w, np.linspace(-1, 1, 6)),
        (X**2,),
    ),
    "density": (
        lambda w: gda.histogram(X, BINS, weights=w, density=True)[0],
        density,
        (X**2,),
    ),
}
PROGRAMS = {**BLOCKWISE, **REDUCTIONS, **TOPK, **SIGNATURES, **HISTOGRAMS}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_those_of_the_whole_arrays(name: str) -> None:
    check(*PROGRAMS[name])


@pytest.mark.parametrize(
    "name", ["lists along an axis", "of dictionaries", "topk 3", "axes of each"]
)
def test_gradient_is_that_of_central_differences(name: str) -> None:
    on_blocks, _, args = PROGRAMS[name]
    f, step = total(on_blocks), 1e-6
    direction = RANDOM.normal(size=args[0].shape)
    along = (gw.grad(f)(*args) * direction).sum()
    high, low = (f(args[0] + sign * step * direction, *args[1:]) for sign in (1, -1))

    found, upper, lower = plain((along, high, low))

    np.testing.assert_allclose(found, (upper - lower) / (2 * step), rtol=1e-6)


def test_last_edge_and_values_outside_are_counted_as_numpy_counts_them() -> None:
    values = np.array([0.0, 1.0, 2.0, 2.0, 3.0, -1.0, np.nan, 0.5])
    weights = np.arange(1.0, 9.0)
    x, w = da.from_array(values, chunks=3), da.from_array(weights, chunks=3)

    for bins, span in ((np.array([0.0, 1.0, 2.0]), None), (2, (0, 2))):
        counted = gda.histogram(x, bins, span, weights=gw.wrap(w, requires_grad=True))[0]
        wanted = np.histogram(values, bins, span, weights=weights)[0]
        np.testing.assert_array_equal(counted.detach().data.compute(), wanted)


def test_counts_and_positions_are_constants() -> None:
    x: Any = gw.wrap(X, requires_grad=True)

    counts, edges = gda.histogram(x, BINS)

    np.testing.assert_array_equal(counts, np.histogram(V, BINS)[0])
    np.testing.assert_array_equal(edges, BINS)
    assert type(gda.argtopk(x, 2)) is type(x.argtopk(2)) is da.Array
    np.testing.assert_array_equal(gda.argtopk(x, 2), np.argsort(V, axis=1)[:, :-3:-1])


def test_untracked_arrays_go_to_dask_itself() -> None:
    for name, args in (
        ("topk", (X, 2)),
        ("reduction", (X, sums, sums, 0, False, float)),
        ("blockwise", (np.add, "ij", X, "ij", 1.0, None)),
        ("apply_gufunc", (statistics, "(i)->(),()", ROWS)),
    ):
        found, wanted = getattr(gda, name)(*args), getattr(da, name)(*args)
        pairs = zip(found, wanted, strict=True) if name == "apply_gufunc" else [(found, wanted)]
        for one, other in pairs:
            assert one.name == other.name


def test_functions_of_a_tree_can_be_sent_to_a_worker() -> None:
    gradient = gw.grad(lambda x: spread(x, axis=0).sum())(X)

    for layer in gradient.dask.layers.values():
        pickle.loads(pickle.dumps(layer))  # noqa: S301  its own


UNKNOWN = X[X[:, 0] > 0]
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "unknown lengths": (
        lambda x: wise(np.sum, "", x[x[:, 0] > 0], "ij", concatenate=True),
        r"chunks have unknown lengths\. Fix: call x\.compute_chunk_sizes\(\) first",
    ),
    "an axis twice": (
        lambda x: wise(np.diag, "i", x[:10], "ii"),
        r"'ii', which has an axis twice.*Fix: take the diagonal blocks",
    ),
    "out": (lambda x: norm(x, out=X), r"reduction of a tracked array with out="),
    "a chunk of more than one element": (
        lambda x: gda.reduction(
            x,
            lambda b, axis, keepdims: [b[:, 1]],
            variance,
            dtype=float,
            concatenate=False,
            combine=added,
            meta=X._meta,
        ),
        "calls chunk with a block of one element.*IndexError.*omit concatenate=False",
    ),
    "edges": (lambda x: gda.histogram(X, x[0])[0].sum(), "tracked edges has no rule"),
    "store": (
        lambda x: gda.store(x, np.zeros((12, 10))),
        "call it outside of the differentiated",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_names_a_way(name: str) -> None:
    function, message = REFUSED[name]

    with pytest.raises(NoRuleError, match=message):
        gw.grad(lambda x: function(x).sum())(X)


def test_lists_of_blocks_of_unknown_lengths() -> None:
    def summed(rows: Any) -> Any:
        return sum(b.sum(axis=0) ** 2 for b in rows)

    gradient = gw.grad(lambda x: wise(summed, "j", x[x[:, 0] > 0], "ij").sum())(X)

    parts = [V[at : at + 5][V[at : at + 5, 0] > 0] for at in (0, 5, 10)]
    wanted = np.where(V[:, :1] > 0, 2.0, 0.0) * np.repeat([p.sum(axis=0) for p in parts], 5, 0)[:12]
    agree([gradient], [wanted])


@pytest.mark.parametrize(
    "f",
    [
        lambda r: gda.map_blocks(np.sin, r),
        lambda r: gda.topk(r, 2),
        lambda r: gda.apply_gufunc(np.sum, "(i)->()", r, output_dtypes=float),
    ],
)
def test_functions_of_blocks_of_each_row_are_refused(f: Callable[[Any], Any]) -> None:
    with pytest.raises(BatchedValueError, match=r'fallback="loop"'):
        gw.vmap(f)(ROWS)
