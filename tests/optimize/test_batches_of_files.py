"""Gradients of all data by batches: values, weights, what is read, and the memory that it takes."""

from __future__ import annotations

import tracemalloc
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

opt = gw.optimize
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(103, 4))
Y = RANDOM.normal(size=103)
PARAMS = {"w": RANDOM.normal(size=4), "b": 0.5, "name": "linear"}


def loss(p: Any, x: Any, y: Any) -> Any:
    return np.mean((np.tanh(x @ p["w"] + p["b"]) - y) ** 2)


def check_gradient(found: Any, x: Any = X, y: Any = Y) -> None:
    value, gradient = found
    wanted_value, wanted = gw.value_and_grad(loss)(PARAMS, x, y)
    assert value == pytest.approx(wanted_value, rel=1e-12)
    np.testing.assert_allclose(gradient["w"], wanted["w"], rtol=1e-10)
    assert gradient["b"] == pytest.approx(wanted["b"], rel=1e-10)
    assert gradient["name"] is None


@pytest.mark.parametrize("size", [1, 10, 51, 103, 500])
@pytest.mark.parametrize("shuffle", [True, False, "batches"])
def test_the_mean_of_batches_is_the_mean_of_all_rows(size: int, shuffle: Any) -> None:
    batches = opt.minibatches(X, Y, size=size, shuffle=shuffle, rng=1)
    check_gradient(opt.accumulate_gradients(loss, PARAMS, batches))


def test_sums_other_arguments_and_numbers_of_rows() -> None:
    def total(w: Any, x: Any, power: int, scale: Any) -> Any:
        return np.sum((w * x) ** power) * scale[0]

    parts = [X[:50, 0], X[50:, 0]]
    scale = np.array([2.0, 5.0, 7.0])
    value, slope = opt.accumulate_gradients(total, 3.0, parts, (2, scale), reduction="sum")
    assert value == pytest.approx(18.0 * np.sum(X[:, 0] ** 2))
    assert slope == pytest.approx(12.0 * np.sum(X[:, 0] ** 2))

    def mean(w: Any, x: Any, table: Any) -> Any:
        return np.mean(w * x) * table[0]

    pairs = [(part, scale) for part in parts]
    value, slope = opt.accumulate_gradients(mean, 3.0, pairs, rows=lambda x, _: len(x))
    assert slope == pytest.approx(2.0 * np.mean(X[:, 0]))


def test_float32_stays_float32_and_half_does_not_overflow() -> None:
    for dtype in (np.float32, np.float16):
        x = np.full(40_000, 3.0, dtype)
        batches = opt.minibatches(x, size=999)
        _, slope = opt.accumulate_gradients(_mean_product, np.ones(1, dtype), batches)
        assert slope.dtype == dtype
        np.testing.assert_allclose(slope, 3.0, rtol=1e-3)


def _mean_product(w: Any, x: Any) -> Any:
    return np.mean(w * x)


def test_a_batch_is_released_before_the_next_one_is_made() -> None:
    seen: list[weakref.ref[Any]] = []
    alive: list[int] = []

    def made() -> Iterator[Any]:
        for start in range(0, 100, 25):
            alive.append(sum(one() is not None for one in seen))
            batch = X[start : start + 25].copy(), Y[start : start + 25].copy()
            seen.extend(map(weakref.ref, batch))
            yield batch
            del batch

    check_gradient(opt.accumulate_gradients(loss, PARAMS, made()), X[:100], Y[:100])
    assert alive == [0, 0, 0, 0]


def test_a_generator_is_run_through_once() -> None:
    batches = opt.minibatches(X, Y, size=10)
    opt.accumulate_gradients(loss, PARAMS, batches)
    with pytest.raises(ValueError, match=r"gave no rows\. A generator can be run through once"):
        opt.accumulate_gradients(loss, PARAMS, batches)


def test_batches_whose_rows_are_unclear() -> None:
    with pytest.raises(ValueError, match=r"unclear: batch\[0\] has 103, batch\[1\] has 2\. Fix"):
        opt.accumulate_gradients(loss, PARAMS, [(X, Y[:2])])
    with pytest.raises(ValueError, match=r"unclear: none\. Fix: pass arrays"):
        opt.accumulate_gradients(_mean_product, 1.0, [2.0])
    unknown: Any = "median"
    with pytest.raises(ValueError, match=r"reduction='median'\. Fix"):
        opt.accumulate_gradients(loss, PARAMS, [], reduction=unknown)


# Data in files ------------------------------------------------------------------------------------


class Stored:
    """An array that can only be read in slices, and lists what is read."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.shape, self.dtype = array.shape, array.dtype
        self.read: list[slice] = []

    def __getitem__(self, rows: slice) -> Any:
        assert isinstance(rows, slice)
        self.read.append(rows)
        return self._array[rows].copy()


def of_zarr(path: Path, array: Any) -> Any:
    zarr: Any = pytest.importorskip("zarr")
    found = zarr.open(str(path / "x.zarr"), mode="w", shape=array.shape, dtype=array.dtype)
    found[:] = array
    return found


def of_h5py(path: Path, array: Any) -> Any:
    h5py: Any = pytest.importorskip("h5py")
    return h5py.File(str(path / "x.h5"), "w").create_dataset("x", data=array)


def of_memmap(path: Path, array: Any) -> Any:
    found: Any = np.memmap(path / "x", dtype=array.dtype, mode="w+", shape=array.shape)
    found[:] = array
    return found


def of_slices(_: Path, array: Any) -> Any:
    return Stored(array)


@pytest.mark.parametrize("stored", [of_zarr, of_h5py, of_memmap, of_slices])
@pytest.mark.parametrize("shuffle", [False, "batches"])
def test_arrays_in_files(stored: Callable[..., Any], shuffle: Any, tmp_path: Path) -> None:
    x = stored(tmp_path, X)
    batches = opt.minibatches(x, Y, size=20, shuffle=shuffle, rng=0)
    check_gradient(opt.accumulate_gradients(loss, PARAMS, batches))
    parts = [part for part, _ in opt.minibatches(x, Y, size=20, shuffle=shuffle, rng=0)]
    assert [type(part) for part in parts] == [np.ndarray] * 6
    assert sorted(map(len, parts)) == [3, *[20] * 5]
    if shuffle:
        assert not np.array_equal(parts[0], X[:20])
    found = opt.adam(loss, PARAMS, batches=opt.minibatches(x, Y, size=20, shuffle=shuffle))
    assert found.nit == 6


def test_rows_of_an_object_with_slices_cannot_be_drawn_singly() -> None:
    with pytest.raises(ValueError, match=r"Fix: give shuffle='batches', or shuffle=False"):
        opt.minibatches(Stored(X), Y, size=20)


def test_no_row_is_read_before_its_turn() -> None:
    x = Stored(X)
    batches = opt.minibatches(x, size=50, shuffle=False)
    assert not x.read
    next(batches)
    assert x.read == [slice(0, 50)]


def network(p: Any, x: Any) -> Any:
    return np.mean(np.tanh(x @ p["w"]) @ p["v"])


def test_a_memory_map_larger_than_the_memory_in_use(tmp_path: Path) -> None:
    """The peak is that of one batch: its rows, what its graph keeps, and gradients."""
    rows, columns, hidden, size = 60_000, 50, 20, 1_000
    x: Any = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=(rows, columns))
    x[:] = RANDOM.normal(size=(rows, columns))
    p = {"w": RANDOM.normal(size=(columns, hidden)), "v": np.ones(hidden)}

    def run(data: Any) -> Any:
        batches = opt.minibatches(data, size=size, shuffle=False)
        return opt.accumulate_gradients(network, p, batches)

    run(x[:2000])
    tracemalloc.start()
    try:
        value, gradient = run(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    wanted, whole = gw.value_and_grad(network)(p, np.asarray(x))
    assert value == pytest.approx(wanted, rel=1e-9)
    np.testing.assert_allclose(gradient["w"], whole["w"], rtol=1e-8, atol=1e-14)
    one_batch = 8 * size * (columns + 4 * hidden)  # the rows, tanh, its cotangents and temporaries
    assert peak < one_batch + 100_000
    assert peak < x.nbytes // 20
