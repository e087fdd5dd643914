"""Reads through many tables of indices are one read, and the additions of the gradient are one."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp

RNG = np.random.default_rng(0)
ENGINES = ["numpy", pytest.param("c", marks=pytest.mark.skipif(not shutil.which("cc"), reason=""))]
ROWS = 40
LENGTHS = RNG.integers(0, 5, ROWS)
STARTS = np.concatenate([[0], np.cumsum(LENGTHS)])
COLUMNS = np.concatenate([RNG.integers(-ROWS, ROWS, n) for n in LENGTHS])
UNSIGNED = (COLUMNS % ROWS).astype(np.uint32)
SIZE = len(COLUMNS)


def sparse_product(values: Any, x: Any) -> Any:
    y = gnp.empty(ROWS)
    for i in range(ROWS):
        part = slice(STARTS[i], STARTS[i + 1])
        y[i] = values[part] @ x[COLUMNS[part]]
    return np.sum(y * y)


def of_unsigned_columns(values: Any, x: Any) -> Any:
    y = gnp.empty(ROWS)
    for i in range(ROWS):
        part = slice(STARTS[i], STARTS[i + 1])
        y[i] = values[part] @ np.sin(x)[UNSIGNED[part]]
    return np.sum(y * y)


def of_rows(values: Any, x: Any) -> Any:
    """Read rows of a matrix."""
    matrix = np.reshape(x, (ROWS // 4, 4))
    total = 0.0
    for i in range(ROWS):
        part = slice(STARTS[i], STARTS[i + 1])
        rows = matrix[UNSIGNED[part] % 10]
        total = total + np.sum(rows * rows * values[part][:, None])
    return total


def with_reads_between(values: Any, x: Any) -> Any:
    """Add at tables, and read the array in between."""
    y = 1.0 * x
    total = 0.0
    for i in range(ROWS):
        part = slice(STARTS[i], STARTS[i + 1])
        y[UNSIGNED[part]] += values[part]
        if i % 10 == 9:
            total = total + np.sum(y[COLUMNS[part]] ** 2) + y[3] ** 2
    return total + np.sum(y**3)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "function", [sparse_product, of_unsigned_columns, of_rows, with_reads_between]
)
def test_gradients_are_those_of_the_function(function: Any, engine: str) -> None:
    gradient = gw.grad(function, (0, 1))
    compiled = gw.compile(gradient, engine=engine)
    for values, x in [(RNG.standard_normal(SIZE), RNG.standard_normal(ROWS)) for _ in range(2)]:
        for found, wanted in zip(compiled(values, x), gradient(values, x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
        assert compiled.check(values, x)
    assert compiled.programs


def through_tables(program: Any) -> list[str]:
    """Return the steps that read or add through a table of indices."""
    return [
        step.name
        for step in program.root.body
        if step.name in ("getitem", "scatter_add") and getattr(step.args[1], "index", None)
    ]


def test_there_is_one_read_and_one_addition() -> None:
    compiled = gw.compile(gw.grad(sparse_product, (0, 1)))
    compiled(RNG.standard_normal(SIZE), RNG.standard_normal(ROWS))
    assert through_tables(compiled.programs[0]) == ["getitem", "scatter_add"]


def test_a_changed_table_is_noticed() -> None:
    columns = UNSIGNED.astype(int)

    def product(values: Any, x: Any) -> Any:
        return sum(
            values[STARTS[i] : STARTS[i + 1]] @ x[columns[STARTS[i] : STARTS[i + 1]]]
            for i in range(ROWS)
        )

    compiled = gw.compile(gw.grad(product, (0, 1)))
    values, x = RNG.standard_normal(SIZE), RNG.standard_normal(ROWS)
    compiled(values, x)
    columns[:] = columns[::-1].copy()
    for found, wanted in zip(compiled(values, x), gw.grad(product, (0, 1))(values, x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
def test_the_kernel_has_few_inputs_and_loops() -> None:
    """Rows of different lengths, empty ones too, are turns of one loop."""
    compiled = gw.compile(gw.grad(sparse_product, (0, 1)), engine="c")
    compiled(RNG.standard_normal(SIZE), RNG.standard_normal(ROWS))
    told = compiled.explain()
    assert f"to {ROWS - 1} turns" in told
    assert " 5 inputs, 2 outputs" in told
    assert "values[" not in compiled.source.partition("# The kernels")[0]


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
@pytest.mark.parametrize(("length", "groups"), [(100, 59), (60, 88)])
def test_large_arrays_are_read_in_few_groups(length: int, groups: int) -> None:
    """A cosine is computed in the pass that reads it, where another pass would cost much."""

    def shrinking(x: Any) -> Any:
        for _ in range(30):
            x = x[:-1] + 0.1 * np.sin(x[1:])
        return np.sum(x * x)

    compiled = gw.compile(gw.grad(shrinking), engine="c")
    compiled(np.linspace(0.0, 1.0, length))
    assert f"{groups} groups" in compiled.explain()


def test_large_reads_stay_apart() -> None:
    """Together they would need more memory than the array and the limit."""
    tables = [RNG.integers(0, 50, 40_000) for _ in range(10)]

    def function(x: Any) -> Any:
        return sum(np.sum(x[table] ** 2) for table in tables)

    compiled = gw.compile(function)
    x = RNG.standard_normal(50)
    np.testing.assert_allclose(compiled(x), function(x))
    assert len(through_tables(compiled.programs[0])) == len(tables)
