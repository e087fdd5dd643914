"""`chunk_size` as a size in bytes: the results, the memory they need, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import CompileWarning
from lambdas import fn

RANDOM = np.random.default_rng(0)
W = RANDOM.normal(size=(200, 200)) / 14.0
X = RANDOM.normal(size=200)
ROWS = RANDOM.normal(size=(2000, 40))
KIB = 1024


def layers(x: Any) -> Any:
    for _ in range(5):
        x = np.tanh(W @ x) * x
    return x


def energy(row: Any) -> Any:
    square = np.outer(row, row)
    return np.sum(square @ square)


def peak(call: Any, *args: Any) -> tuple[int, Any]:
    """Return the most bytes in use at a time during the second call, and its result."""
    call(*args)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = call(*args)
        return tracemalloc.get_traced_memory()[1] - before, result
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("jac", [gw.jacrev, gw.jacfwd, gw.jacobian])
def test_a_jacobian_keeps_to_its_bytes(jac: Any) -> None:
    """Beside its result, which is held twice while its rows are joined."""
    whole, wanted = peak(jac(layers), X)
    limit = 100 * KIB
    bounded, found = peak(jac(layers, chunk_size="100 KiB"), X)
    recording = 60 * KIB

    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15)
    assert bounded < 2 * found.nbytes + limit + recording
    assert whole > 2 * found.nbytes + 5 * limit + recording


@pytest.mark.parametrize("limit", ["2 MB", "0.001GiB"])
@pytest.mark.parametrize("function", [energy, gw.grad(energy)])
def test_vmap_keeps_to_its_bytes(function: Any, limit: str) -> None:
    size = {"2 MB": 2_000_000, "0.001GiB": KIB**3 // 1000}[limit]
    whole, wanted = peak(gw.vmap(function), ROWS)
    bounded, found = peak(gw.vmap(function, chunk_size=limit), ROWS)

    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert bounded < 2 * found.nbytes + size + 60 * KIB
    assert bounded > size // 2
    assert whole > 40_000_000


@pytest.mark.parametrize("chunk_size", [1, 3, 7, 100, "1 MiB"])
def test_vmap_in_chunks_gives_what_it_gives_at_once(chunk_size: Any) -> None:
    def function(w: Any, pair: Any, name: str, scale: Any = 1.0) -> Any:
        x, y = pair
        if name != "a":
            raise ValueError(name)
        return {"sum": x @ w + y, "outer": np.outer(x, w) * scale, "w": w * 2, "name": name}

    w = RANDOM.normal(size=3)
    pair = RANDOM.normal(size=(3, 7)), RANDOM.normal(size=7)
    scale = RANDOM.normal(size=7)
    axes: Any = (None, (1, 0), None)
    out: Any = {"sum": 0, "outer": -1, "w": None, "name": None}
    wanted = gw.vmap(function, axes, out)(w, pair, "a", scale=scale)
    found = gw.vmap(function, axes, out, chunk_size=chunk_size)(w, pair, "a", scale=scale)
    assert found["name"] == "a"
    for key in ("sum", "outer", "w"):
        np.testing.assert_allclose(found[key], wanted[key], rtol=1e-14)


def test_vmap_in_chunks_is_differentiated_and_nested() -> None:
    x = RANDOM.normal(size=(5, 4))

    def total(x: Any, chunk_size: Any) -> Any:
        inner = gw.vmap(gw.vmap(fn(np.sin), chunk_size=2), chunk_size=chunk_size)
        return np.sum(inner(x) ** 2)

    for chunk_size in (2, "1 MiB"):
        found = gw.grad(total)(x, chunk_size)
        np.testing.assert_allclose(found, np.sin(2 * x), rtol=1e-12)


def test_vmap_in_chunks_loops_where_a_branch_depends_on_an_example() -> None:
    def function(x: Any) -> Any:
        return x * 2.0 if x > 0 else -x

    x = np.array([1.0, -2.0, 3.0, -4.0, 5.0])
    found = gw.vmap(function, fallback="loop", chunk_size=2)(x)
    np.testing.assert_array_equal(found, [2.0, 2.0, 6.0, 4.0, 10.0])


def test_no_examples_in_chunks() -> None:
    assert gw.vmap(fn(np.sin), chunk_size="1 MB")(np.zeros((0, 3))).shape == (0, 3)
    assert gw.jacrev(fn(np.sin), chunk_size="1 MB")(np.zeros(0)).shape == (0, 0)


def test_hessians_in_bytes() -> None:
    x = X[:20]
    f = fn(lambda x: np.sum(layers(np.concatenate([x, X[20:]]))))
    wanted = gw.hessian(f)(x)
    np.testing.assert_allclose(gw.hessian(f, chunk_size="1 MiB")(x), wanted, rtol=1e-9, atol=1e-13)
    diagonal = gw.hessian_diagonal(f, chunk_size="1 MiB")(x)
    np.testing.assert_allclose(diagonal, np.diag(wanted), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("text", ["64", "64 XiB", "MiB", "-1 MiB", "0 B", "", "1e3 kB"])
def test_a_text_that_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no size\. Fix: give a number and B, kB"):
        gw.jacrev(layers, chunk_size=text)(X)


@pytest.mark.parametrize("size", [0, -3, 2.5, True])
def test_a_number_of_examples_that_is_none(size: Any) -> None:
    with pytest.raises(ValueError, match=r"Fix: give a positive number of rows, a size in bytes"):
        gw.vmap(energy, chunk_size=size)(ROWS)


@pytest.mark.parametrize("examples", [1, 2, 50])
def test_a_limit_that_one_example_exceeds(examples: int) -> None:
    found = r"chunk_size='5 kB' is too small: one row or example alone needs [\d,]+ bytes\. Fix"
    with pytest.raises(ValueError, match=found):
        gw.vmap(energy, chunk_size="5 kB")(ROWS[:examples])


def test_arrays_whose_bytes_cannot_be_counted() -> None:
    strict: Any = pytest.importorskip("array_api_strict")
    with pytest.raises(ValueError, match=r"the bytes of array_api_strict arrays cannot be counted"):
        gw.vmap(fn(lambda x: x + x), chunk_size="1 MB")(strict.ones(3))


def test_a_trace_of_the_users_keeps_its_peak() -> None:
    tracemalloc.start()
    try:
        large = np.ones(1_000_000)
        before = tracemalloc.get_traced_memory()[1]
        del large
        gw.vmap(energy, chunk_size="256 KiB")(ROWS[:100])
        assert tracemalloc.is_tracing()
        now, highest = tracemalloc.get_traced_memory()
        assert before <= highest < before + 100_000
        assert now < 1_000_000
    finally:
        tracemalloc.stop()


def test_counting_ends_with_an_error() -> None:
    def failing(_: Any) -> Any:
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        gw.vmap(failing, chunk_size="1 MB")(ROWS)
    assert not tracemalloc.is_tracing()


THREADS = """
import threading
import tracemalloc

import numpy as np

import gradwrap as gw

rows = np.random.default_rng(0).normal(size=(200, 40))


def energy(row):
    square = np.outer(row, row)
    return np.sum(square @ square)


def work():
    found.append(gw.vmap(energy, chunk_size="512 KiB")(rows))


wanted = gw.vmap(energy)(rows)
for _ in range(15):
    found = []
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for one in found:
        np.testing.assert_allclose(one, wanted, rtol=1e-12)
work()
assert not tracemalloc.is_tracing()
tracemalloc.start()
work()
assert tracemalloc.is_tracing()
"""


@pytest.mark.slow
def test_counting_in_threads() -> None:
    """In a process of its own, since Python crashed when a trace ended beside other threads."""
    command = [sys.executable, "-c", THREADS]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_compiled_function_runs_eagerly_in_bytes_and_compiles_in_rows() -> None:
    wanted = gw.vmap(gw.grad(energy))(ROWS[:30])
    compiled: Any = gw.compile(gw.vmap(gw.grad(energy), chunk_size="1 MiB"))
    with pytest.warns(CompileWarning, match="chunk_size is a size in bytes, which is counted"):
        compiled(ROWS[:30])
    np.testing.assert_allclose(compiled(ROWS[:30]), wanted, rtol=1e-12)
    compiled = gw.compile(gw.vmap(gw.grad(energy), chunk_size=7))
    for _ in range(3):
        np.testing.assert_allclose(compiled(ROWS[:30]), wanted, rtol=1e-12)
