"""Functions of Dask's blocks: `map_blocks`, stencils by `map_overlap`, and what moves elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp

if TYPE_CHECKING:
    from collections.abc import Callable

da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")
gda: Any = pytest.importorskip("gradwrap.dask.array")
pytestmark = pytest.mark.peers
ANY: Any = np

RANDOM = np.random.default_rng(0)
V = RANDOM.normal(size=(12, 10))
W = RANDOM.normal(size=10)
M = RANDOM.normal(size=(10, 3))
X = da.from_array(V, chunks=(5, 4))
ROWS = da.from_array(V, chunks=(5, 10))


def check(
    f: Callable[..., Any], g: Callable[..., Any], on_dask: tuple[Any, ...], on_numpy: Any = None
) -> None:
    """The gradients of two functions: built without computing, in the arguments' chunks, equal."""
    if on_numpy is None:
        on_numpy = tuple(a.compute(scheduler="sync") if is_dask(a) else a for a in on_dask)
    places = tuple(range(len(on_dask)))
    wanted = gw.grad(g, places)(*on_numpy)
    with dask.config.set(scheduler=refuse):
        found = gw.grad(f, places)(*on_dask)
    for argument, one, by_numpy in zip(on_dask, found, wanted, strict=True):
        assert isinstance(one, da.Array)
        if is_dask(argument):
            assert one.chunks == argument.chunks
        values = one.compute(scheduler="sync")
        assert np.shape(values) == np.shape(by_numpy)
        np.testing.assert_allclose(values, by_numpy, rtol=1e-10, atol=1e-12)


def is_dask(value: Any) -> bool:
    return isinstance(value, da.Array)


def refuse(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("something was computed")


# map_blocks ---------------------------------------------------------------------------------------


def squares(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: (f(*args) ** 2).sum()


def mapped(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return lambda *args: gda.map_blocks(function, *args, dtype=float, **options)


def scaled(a: Any, b: Any) -> Any:
    return a * np.exp(b)


def product(a: Any, b: Any) -> Any:
    return a @ b


def both(x: Any) -> Any:
    return np.stack([x, x**2])


def at_block_id(b: Any, block_id: Any = None) -> Any:
    return b * (1 + block_id[0])


def at_block(b: Any, block_info: Any = None) -> Any:
    return b * (1 + block_info[0]["chunk-location"][0])


BLOCKS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "one": (lambda x: gda.map_blocks(np.sin, x), np.sin, (X,)),
    "two": (mapped(scaled), scaled, (X, 0.1 * X)),
    "a vector for each row": (mapped(scaled), scaled, (X, da.from_array(W, chunks=4))),
    "a column for all": (mapped(scaled), scaled, (X, 0.1 * X[:, :1])),
    "NumPy's vector": (mapped(product, drop_axis=1), product, (ROWS, W)),
    "an axis in chunks is lost": (mapped(product, drop_axis=1), product, (X, W)),
    "NumPy's matrix": (mapped(product, chunks=((5, 5, 2), (3,))), product, (ROWS, M)),
    "NumPy's has more axes": (
        mapped(lambda a, b: a * b.sum()),
        lambda a, b: a * b.sum(),
        (ROWS[:, 0], M),
    ),
    "by keyword": (
        lambda x, w: gda.map_blocks(lambda b, v: b @ v, x, v=w, drop_axis=1, dtype=float),
        product,
        (ROWS, W),
    ),
    "a new axis": (
        mapped(both, new_axis=0, chunks=(2, (5, 5, 2), (4, 4, 2))),
        both,
        (X,),
    ),
    "places": (
        mapped(at_block_id),
        lambda x: x * (1.0 + np.arange(12) // 5)[:, None],
        (X,),
    ),
    "places in words": (
        mapped(at_block),
        lambda x: x * (1.0 + np.arange(12) // 5)[:, None],
        (X,),
    ),
    "the method": (lambda x: x.map_blocks(np.tanh), np.tanh, (X,)),
    "containers of parameters": (
        lambda x, w, m: gda.map_blocks(
            layers, x, [2.0, {"w": w}], bias={"m": m}, drop_axis=1, dtype=float
        ),
        lambda x, w, m: layers(x, [2.0, {"w": w}], bias={"m": m}),
        (ROWS, W, M),
    ),
    "containers and places": (
        lambda x, w: gda.map_blocks(scaled_at, x, {"w": w}, dtype=float),
        lambda x, w: x * w.sum() * (1.0 + np.arange(12) // 5)[:, None],
        (ROWS, W),
    ),
    "a number besides": (mapped(lambda b, n: b**n), lambda b, n: b**n, (X**2, np.float64(1.5))),
}


def layers(b: Any, p: Any, bias: Any) -> Any:
    return np.tanh(p[0] * (b @ p[1]["w"]) + (b @ bias["m"]).sum(axis=1))


def scaled_at(b: Any, p: Any, block_id: Any = None) -> Any:
    return b * p["w"].sum() * (1.0 + block_id[0])


@pytest.mark.parametrize("name", BLOCKS)
def test_function_of_blocks_is_differentiated_block_by_block(name: str) -> None:
    on_blocks, on_whole, arguments = BLOCKS[name]
    check(squares(on_blocks), squares(on_whole), arguments)


def test_second_derivative_of_a_function_of_blocks() -> None:
    def steepness(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda w: (gw.grad(lambda w: (f(w) ** 3).sum())(w) ** 2).sum()

    check(
        steepness(lambda w: gda.map_blocks(product, ROWS, w, drop_axis=1, dtype=float)),
        steepness(lambda w: V @ w),
        (W,),
    )
    check(steepness(lambda x: gda.map_blocks(np.sin, x)), steepness(np.sin), (X,))


def test_tangent_of_a_function_of_blocks() -> None:
    out, tangent = gw.jvp(lambda x: gda.map_blocks(np.sin, x), (X,), (2.0 * X,))

    np.testing.assert_allclose(out.compute(), np.sin(V))
    np.testing.assert_allclose(tangent.compute(), 2.0 * V * np.cos(V))


def test_untracked_arrays_go_to_dask_itself() -> None:
    wanted = X.map_blocks(np.sin)

    assert gda.map_blocks(np.sin, X).name == wanted.name
    assert gda.map_overlap(np.sin, X, depth=1).name == da.map_overlap(np.sin, X, depth=1).name


def test_result_of_a_block_is_computed_once_for_value_and_gradient() -> None:
    runs: list[tuple[int, ...]] = []

    def noted(block: Any) -> Any:
        runs.append(block.shape)
        return np.tanh(block)

    value, gradient = gw.value_and_grad(
        lambda x: (gda.map_blocks(noted, x, dtype=float, meta=np.empty((0, 0))) ** 2).sum()
    )(X)
    dask.compute(value, gradient, scheduler="sync")

    assert len(runs) == X.npartitions


def test_second_pull_and_a_copy_in_another_process_run_the_function_again() -> None:
    import pickle

    from gradwrap.dask.calls import Held

    held = Held(np.sin, (0,), (V,))
    sent = pickle.loads(pickle.dumps(held))  # noqa: S301  its own

    for one in (held, held, sent):
        (cotangent,) = one.pull(np.ones_like(V))
        np.testing.assert_allclose(cotangent, np.cos(V))


# Stencils -----------------------------------------------------------------------------------------

FIELD = RANDOM.normal(size=(13, 11))
MODES = {"reflect": "symmetric", "nearest": "edge", "periodic": "wrap"}


def inner(b: Any) -> Any:
    """A stencil that tells all its neighbours apart, on a field with an edge of one."""
    c = b[1:-1, 1:-1]
    return np.sin(b[:-2, 1:-1]) + b[2:, 1:-1] * c + b[1:-1, :-2] ** 2 + b[:-2, 2:] - 4.0 * c


def stencil(b: Any) -> Any:
    return gnp.pad(inner(b), 1)


CHUNKS = [(5, 4), (13, 11), (4, 11), (2, 2), (1, 1), ((7, 1, 5), (3, 8))]


@pytest.mark.parametrize("boundary", [*MODES, 0.7, "none"])
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_gradient_of_a_stencil_is_that_of_the_whole_field(chunks: Any, boundary: Any) -> None:
    def whole(x: Any) -> Any:
        if boundary == "none":
            return stencil(x)
        mode = MODES.get(boundary)
        wide = ANY.pad(x, 1, mode=mode) if mode else np.pad(x, 1, constant_values=boundary)
        return inner(wide)

    check(
        squares(lambda x: gda.map_overlap(stencil, x, depth=1, boundary=boundary, dtype=float)),
        squares(whole),
        (da.from_array(FIELD, chunks=chunks),),
        (FIELD,),
    )


LINE = RANDOM.normal(size=23)


def far(b: Any) -> Any:
    """Each element with those three before it and after it."""
    zeros = 0.0 * b[:3]
    return b**2 * np.concatenate([b[3:], zeros]) + np.concatenate([zeros, b[:-3]])


def one_sided(b: Any) -> Any:
    return b * np.concatenate([b[2:], 0.0 * b[:2]]) + np.concatenate([0.0 * b[:1], b[:-1]]) ** 2


LINES = [5, 23, 3, (2, 1, 20)]


@pytest.mark.parametrize("boundary", MODES)
@pytest.mark.parametrize("chunks", LINES, ids=str)
def test_wide_stencil(chunks: Any, boundary: str) -> None:
    check(
        squares(lambda x: gda.map_overlap(far, x, depth=3, boundary=boundary, dtype=float)),
        squares(lambda x: far(ANY.pad(x, 3, mode=MODES[boundary]))[3:-3]),
        (da.from_array(LINE, chunks=(chunks,)),),
    )


@pytest.mark.parametrize("chunks", LINES, ids=str)
def test_one_sided_stencil(chunks: Any) -> None:
    options: dict[str, Any] = {"depth": {0: (1, 2)}, "boundary": "none", "dtype": float}

    check(
        squares(lambda x: gda.map_overlap(one_sided, x, **options)),
        squares(one_sided),
        (da.from_array(LINE, chunks=(chunks,)),),
    )


STENCILS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "a parameter by keyword": (
        lambda x, w: gda.map_overlap(
            lambda b, c: c * b**2, x, depth=1, boundary="reflect", c=w, dtype=float
        ),
        lambda x, w: w * x**2,
        (X, np.float64(1.3)),
    ),
    "two fields in other chunks": (
        lambda x, y: gda.map_overlap(
            lambda a, b: a * b**2, x, y, depth=1, boundary="reflect", dtype=float
        ),
        lambda x, y: x * y**2,
        (X, 0.1 * X.rechunk(3)),
    ),
    "not trimmed": (
        lambda x: gda.map_overlap(inner, x, depth=1, boundary="periodic", trim=False, dtype=float),
        lambda x: inner(np.pad(x, 1, mode="wrap")),
        (X,),
    ),
    "an axis is lost": (
        lambda x: gda.map_overlap(
            lambda b: (b**2).sum(axis=1),
            x,
            depth={0: 1},
            boundary="none",
            drop_axis=1,
            dtype=float,
        ),
        lambda x: (x**2).sum(axis=1),
        (ROWS,),
    ),
    "a new axis": (
        lambda x: gda.map_overlap(
            both,
            x,
            depth=1,
            boundary="none",
            new_axis=0,
            chunks=(2, (6, 7, 3), (5, 6, 3)),
            dtype=float,
        ),
        both,
        (X,),
    ),
    "no depth": (lambda x: gda.map_overlap(np.sin, x, depth=0, dtype=float), np.sin, (X,)),
    "the method": (
        lambda x: x.map_overlap(np.sin, depth=1, boundary="reflect", dtype=float),
        np.sin,
        (X,),
    ),
    "edges added and cut off": (
        lambda x: gda.overlap.trim_overlap(gda.overlap.overlap(x**2, 1, "reflect"), 1, "reflect"),
        np.square,
        (X,),
    ),
}


@pytest.mark.parametrize("name", STENCILS)
def test_variants_of_stencils(name: str) -> None:
    on_blocks, on_whole, arguments = STENCILS[name]
    check(squares(on_blocks), squares(on_whole), arguments)


def test_second_derivative_of_a_stencil() -> None:
    def steepness(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: (gw.grad(squares(f))(x) ** 2).sum()

    check(
        steepness(lambda x: gda.map_overlap(stencil, x, depth=1, boundary="none", dtype=float)),
        steepness(stencil),
        (da.from_array(FIELD, chunks=(5, 4)),),
    )
