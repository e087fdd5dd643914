"""Long arrays that are computed piece by piece: what is added to slices of one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.fuzz.compiled import run

import gradwrap as gw
from gradwrap.compiler.engines.numpy import buffers, chunks
from gradwrap.compiler.ir.runtime import aligned
from sampling import LONG

LENGTHS = (20_000, 3 << 14, (3 << 14) + 2, 100_001)
STENCILS: dict[str, Any] = {
    "forward differences": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    "second differences": lambda x: np.sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2),
    "from the left": lambda x: np.sum((x[:-2] - 2 * x[1:-1] + x[2:]) ** 2),
    "away from both ends": lambda x: np.sum(np.exp(-(x[5:-7] ** 2)) * x[9:-3]),
    "and all elements": lambda x: np.sum(np.sqrt(x * x + 1.0)) + np.sum(x[3:] * x[:-3] * x[1:-2]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", STENCILS)
def test_additions_to_slices_are_those_of_eager(name: str, length: int, dtype: Any) -> None:
    """They are exact where each goes further than the one before, which is the usual order."""
    x = np.random.default_rng(length).normal(size=length).astype(dtype)
    gradient = gw.grad(STENCILS[name])
    compiled = gw.compile(gradient)
    for at in (x, 2 * x, x):  # the first call returns what eager gave
        found, wanted = compiled(at), gradient(at)
        assert found.dtype == wanted.dtype
        tolerance = 4 * np.finfo(dtype).eps * float(np.max(np.abs(wanted)))
        exact = "range(0" not in compiled.source
        np.testing.assert_allclose(found, wanted, rtol=0, atol=0.0 if exact else tolerance)
    assert "chunks of" in compiled.explain()


def test_no_zeros_are_written_where_the_first_addition_can_give_the_sum() -> None:
    gradient = gw.compile(gw.grad(STENCILS["forward differences"]))
    gradient(np.linspace(0.0, 1.0, 50_000))
    assert "np.zeros" not in gradient.source
    assert "for j in range(49999, 0, " in gradient.source


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_multiples_by_powers_of_two_of_what_is_known_are_left_out(dtype: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        z = 0.5 * x * y + 0.5 * (x * y)
        return np.exp(z) * (y * (x * 2.0)), 4.0 * y + y * 4, (x > y) + (y > x)

    x, y = np.random.default_rng(0).normal(size=(2, 50_000)).astype(dtype)
    compiled = gw.compile(f)
    compiled(x, y)
    for found, wanted in zip(compiled(y, x), f(y, x), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    # 0.5 * x, a = (0.5 * x) * y, 2 * a, 4 * a, the product with it, 8 * y
    assert compiled.source.count("= multiply(") == 6
    assert compiled.source.count("= add(") == 1  # that of bools


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_quotients_by_what_is_far_from_zero_are_products_with_a_known_reciprocal(
    engine: str,
) -> None:
    def f(x: Any, y: Any) -> Any:
        d = 1.0 + np.exp(-x)
        e = np.exp(-x)
        return 1 / d, y / d, 1 / e, y / e

    x = np.linspace(-800.0, 800.0, 50_000)
    compiled = gw.compile(f, engine=engine)
    with np.errstate(all="ignore"):
        compiled(x, x)
        for found, wanted in zip(compiled(x, 2 * x), f(x, 2 * x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=4e-15, atol=1e-300)
    kernel = compiled.source.replace("divide(", " / ")
    assert kernel.count(" / ") == 3


def test_long_buffers_are_aligned() -> None:
    for shape, dtype in ((5_000, np.float64), ((30, 70), np.float32), (17, np.bool_)):
        array = aligned(shape, dtype)
        assert array.shape == (shape if isinstance(shape, tuple) else (shape,))
        assert array.dtype == dtype
        assert array.ctypes.data % 64 == 0
        array[...] = 1


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(778100, marks=pytest.mark.slow),
        *range(40, 46),
        *(pytest.param(seed, marks=LONG) for seed in range(46, 60)),
    ],
)
def test_random_programs_in_pieces_of_two_elements(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first one a new array, in whose place another is written, has its columns first."""
    monkeypatch.setattr(chunks, "LARGE", 3)
    monkeypatch.setattr(chunks, "SMALL", 0)
    for size in ("LEAST", "MOST", "LONG"):
        monkeypatch.setattr(chunks, size, 2)
    assert run(seed).problem == ""


def test_chunks_share_their_buffers_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for number in range(6):
            y = np.tanh(x[number:] * 0.5) + np.exp(-x[number:] * x[number:])
            total = total + np.sum(y * np.sqrt(y * y + number))
        return total

    monkeypatch.setattr(buffers, "WORKSPACE", 1 << 16)
    gradient = gw.grad(f)
    compiled = gw.compile(gradient)
    x = np.random.default_rng(0).normal(size=60_000)
    compiled(x)
    assert "chunks of" in compiled.explain()
    np.testing.assert_allclose(compiled(2 * x), gradient(2 * x), rtol=1e-12, atol=1e-13)
