"""Loops over single elements, which the NumPy engine writes with Python's floats."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(8)
x0, y0 = rng.uniform(0.5, 1.5, (2, 60))
m0 = rng.uniform(0.5, 1.5, (30, 30))
FLAT = ".data"


@pytest.fixture(autouse=True)
def every_program_counts_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 300)


def sweeps(m: Any) -> Any:
    m = 1.0 * m
    for _ in range(2):
        for i in range(1, len(m) - 1):
            for j in range(1, len(m) - 1):
                m[i, j] = 0.25 * (m[i - 1, j] + m[i + 1, j] + m[i, j - 1] + m[i, j + 1])
    return np.sum(m * m)


def backwards(x: Any) -> Any:
    x = x.copy()
    for i in range(1, len(x)):
        x[-1 - i] = x[-1 - i] / x[-i] + 0.5
    return np.sum(np.sin(x))


def with_another_array(x: Any) -> Any:
    z = 0.0 * x
    for i in range(2, len(x) - 1):
        z[i] = x[i] * y0[i] + 2 * z[i - 1] / x[i + 1] - z[i - 2] * y0[3]
    return np.sum(z)


def twice_at_a_place(x: Any) -> Any:
    x = 1.0 * x
    for i in range(1, len(x) - 1):
        x[i] = x[i - 1] * x[i]
        x[0] += 0.1 * x[i]
        x[i] -= x[i + 1] * x[i]
    return np.sum(x) * x[0]


CASES = [
    (gw.grad, sweeps, m0),
    (gw.value_and_grad, backwards, x0),
    (gw.grad, with_another_array, x0),
    (gw.grad, twice_at_a_place, x0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("transform", "function", "given"), CASES)
def test_loops_over_elements_give_what_the_function_gives(
    transform: Any, function: Callable[..., Any], given: Any
) -> None:
    eager, made = transform(function), gw.compile(transform(function))
    made(given)
    assert FLAT in made.source
    other = 1.1 * given - 0.03
    for turned in (other, other[::-1])[: 3 - given.ndim]:
        wanted, found = eager(turned), made(turned)
        if transform is gw.grad:
            wanted, found = (wanted,), (found,)
        for a, b in zip(wanted, found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-13)
            assert type(a) is type(b)


def test_a_division_by_zero_is_numpys() -> None:
    made = gw.compile(backwards)
    made(x0)
    zeros = np.where(np.arange(60) == 20, 0.0, x0)
    zeros[9] = -0.5
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(made(0.0 * zeros), backwards(0.0 * zeros))
        np.testing.assert_array_equal(made(zeros), backwards(zeros))


@pytest.mark.slow
def test_a_saved_program_has_the_tables_of_places(tmp_path: Any) -> None:
    made = gw.compile(gw.grad(sweeps))
    made(m0)
    made.save(tmp_path / "saved.py")
    found = runpy.run_path(str(tmp_path / "saved.py"))["compiled"](m0)
    np.testing.assert_array_equal(np.asarray(found).reshape(m0.shape), made(m0))


def test_arrays_of_other_dtypes_are_numpys() -> None:
    made, narrow = gw.compile(gw.grad(backwards)), x0.astype(np.float32)
    made(narrow)
    assert FLAT not in made.source
    np.testing.assert_allclose(made(narrow), gw.grad(backwards)(narrow), rtol=1e-5)
