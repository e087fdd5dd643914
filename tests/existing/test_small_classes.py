"""Small packages with classes of their own among the values, as public packages have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import TrackedValueError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.5, 0.7, 0.3, 0.9])


def check(function: Any) -> None:
    """Compare both modes with central differences."""
    units = np.eye(4)
    expected = [(function(X + 1e-6 * e) - function(X - 1e-6 * e)) / 2e-6 for e in units]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-5)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in units], expected, rtol=1e-5)


DTYPES = """
    KINDS = (np.int32, np.float32, np.float64)

    def in_a_tuple(x):
        return np.sum(x**3 if x.dtype in (np.int64, np.float64) else x)

    def in_a_tuple_of_the_module(x):
        return np.sum(x**3 if x.dtype in KINDS else x) * KINDS.index(x.dtype)

    def of_a_made_array(x):
        made = np.ones(3).reshape(1, 3)
        return np.sum(x**2 if made.dtype in (np.complex64, np.float64) else x)

    def on_the_other_side(x):
        return np.sum(x**3 if np.float64 == x.dtype and np.int64 != x.dtype else x)

    def of_another_kind(x):
        return np.sum(x**3 if x.dtype not in (np.float32, np.complex128, int) else x)

    def of_pythons_classes(x):
        return np.sum(x**3 if x.dtype in (int, float) and x.dtype != complex else x)
"""


@pytest.mark.parametrize(
    "name",
    [
        "in_a_tuple",
        "in_a_tuple_of_the_module",
        "of_a_made_array",
        "on_the_other_side",
        "of_another_kind",
        "of_pythons_classes",
    ],
)
def test_a_dtype_equals_the_classes_of_its_numbers(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, DTYPES), name))


def test_keys_that_compare_with_their_own_class_alone(tmp_path: Path) -> None:
    module = written(
        tmp_path,
        """
        class Cell:
            def __init__(self, size):
                self.size = size

            def __eq__(self, other):
                return self.size == other.size

            def __ne__(self, other):
                return not self == other

            def __hash__(self):
                return hash(self.size)

        class Element:
            def __init__(self):
                self.rules = {Cell(2): [np.ones(2), np.sin], Cell(3): [np.ones(3), np.cos]}

        ELEMENT = Element()
        RULES = {Cell(2): ELEMENT}

        def run(x):
            weights, rule = RULES[Cell(2)].rules[Cell(3)]
            return np.sum(weights[:, None] * rule(x))
        """,
    )
    check(module.run)


CONVERTED = """
    import pandas as pd
    import scipy.linalg
    import scipy.special

    class Own:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values)

    def among_rows(x):
        return np.sum(np.array([np.ones(4), Own(x)]).T ** 2)

    def among_nested_rows(x):
        return np.sum(np.array([(np.ones(2), Own(x[:2])), (Own(x[2:]), x[1:3])]) ** 2)

    def stacked(x):
        return np.sum(np.stack([Own(x), np.arange(4.0)]) ** 2)

    def joined(x):
        return np.sum(np.concatenate((Own(x), Own(2.0 * x[:2]))) ** 2)

    def column_among_rows(x):
        return np.sum(np.array([np.ones(4), pd.Series(x)]).T ** 2)

    def columns_stacked(x):
        return np.sum(np.vstack([np.arange(4.0), pd.Series(x) ** 2]) ** 2)

    def solved(x):
        return np.sum(scipy.linalg.solve(np.diag([2.0, 3.0, 4.0, 5.0]) + 0.1, Own(x)) ** 2)

    def solved_by_factor(x):
        factor = scipy.linalg.cho_factor(np.diag([2.0, 3.0, 4.0, 5.0]) * x[0])
        return np.sum(scipy.linalg.cho_solve(factor, pd.Series(x)) ** 2)
"""


@pytest.mark.parametrize(
    "name",
    [line.split()[1].partition("(")[0] for line in CONVERTED.splitlines() if "(x):" in line],
)
def test_what_converts_itself_among_others(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    check(getattr(written(tmp_path, CONVERTED), name))


LABELLED = """
    import xarray as xr

    def of_values(x):
        return np.sum(xr.DataArray(x, dims="t").to_numpy() ** 2)

    def of_a_coordinate(x):
        data = xr.Dataset(coords={"id": list("abcd"), "x": ("id", x)})
        return np.sum(data.x.to_numpy() ** 2)

    def of_a_conversion(x):
        return np.sum(np.asarray(xr.DataArray(x, dims="t")) ** 2)

    def of_one_dimension(x):
        return np.sum(np.atleast_1d(xr.DataArray(x, dims="t")) ** 2)

    def of_a_stack(x):
        data = xr.DataArray(x, dims="t")
        return np.sum(np.stack([data, 2.0 * data]) ** 2)

    def of_elements(x):
        data = xr.DataArray(x, dims="t")
        return np.sum(np.array([data[0], 2.0 * data[1]]) ** 2)
"""


@pytest.mark.parametrize(
    "name",
    [line.split()[1].partition("(")[0] for line in LABELLED.splitlines() if "(x):" in line],
)
def test_labelled_arrays_become_arrays_in_adapted_code(name: str, tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    check(getattr(written(tmp_path, LABELLED), name))


def test_labelled_arrays_do_not_become_plain_arrays_elsewhere() -> None:
    xr: Any = pytest.importorskip("xarray")

    def convert(x: Any) -> Any:
        return np.asarray(xr.DataArray(x, dims="t"))

    def read(x: Any) -> Any:
        return xr.DataArray(x, dims="t").to_numpy()

    for function in (convert, read):
        with pytest.raises(TrackedValueError, match=r"use \.data, which is tracked"):
            gw.grad(lambda x, run=function: np.sum(run(x)))(X)
