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


POLYNOMIALS = """
    def derived(x):
        p = np.poly1d(np.polyfit(np.arange(4.0), x, 2))
        return np.polyder(p)(0.3) + np.polyder(p, 2)(2.0) + p.deriv()(0.1)

    def integrated(x):
        p = np.poly1d(x)
        return np.polyint(p)(0.3) + np.polyint(p, 2, k=1.0)(0.5) + p.integ()(1.0)

    def multiplied(x):
        p, q = np.poly1d(x), np.poly1d([1.0, 2.0])
        return np.polymul(p, q)(0.3) + np.polymul(x, q)(0.2) + np.polymul(q, a2=p)[1]

    def added(x):
        p, q = np.poly1d(x), np.poly1d([1.0, 2.0])
        return np.polyadd(p, q)(0.3) * np.polysub(q, p)(0.2) + np.polyadd(p, 1.0)(0.1)

    def divided(x):
        quotient, rest = np.polydiv(np.poly1d(x), np.poly1d([1.0, 2.0]))
        assert isinstance(quotient, np.poly1d)
        return quotient(0.4) + rest(0.3)

    def evaluated(x):
        p = np.poly1d(x)
        inside = np.polyval(p, np.poly1d([1.0, 2.0]))(0.5) + p(np.poly1d([2.0, 0.5]))(0.2)
        return inside + np.polyval(p, 0.3) + np.polyval(np.poly1d([1.0, 2.0]), x).sum()

    def zeros(x):
        return np.sum(np.abs(np.roots(np.poly1d(x))) ** 2)
"""


@pytest.mark.parametrize(
    "name",
    ["derived", "integrated", "multiplied", "added", "divided", "evaluated", "zeros"],
)
def test_polynomials_that_are_objects(name: str, tmp_path: Path) -> None:
    function = getattr(written(tmp_path, POLYNOMIALS), name)
    check(function)
    gradient = gw.grad(gw.adapting(function))
    compiled = gw.compile(gradient)
    assert np.allclose(compiled(X), gradient(X))
    assert np.allclose(compiled(X[::-1]), gradient(X[::-1]))


SPARSE = """
    import scipy.sparse as sp
    from scipy.sparse import csr_matrix, issparse, isspmatrix_csc, spmatrix

    def by_isinstance(x):
        A = csr_matrix(np.diag(x))
        if not isinstance(A, (csr_matrix, sp.csc_matrix)) or not isinstance(A, spmatrix):
            raise TypeError(A)
        assert not isinstance(A, (np.ndarray, sp.csc_matrix, sp.sparray))
        return (A @ A).sum()

    def by_type(x):
        A = sp.diags_array(x).tocsc()
        if type(A) is not sp.csc_array or type(A) in (sp.csr_array, np.ndarray):
            raise TypeError(A)
        return {sp.csc_array: A.multiply(A).sum()}[type(A)]

    def by_name(x):
        A = sp.csc_matrix(np.diag(x))
        name = type(A).__name__
        assert A.__class__.__name__ == name and "csc_matrix" in str(type(A))
        return {"csc_matrix": A.T @ A @ x, "csr_matrix": x}[name].sum()

    def made_by_its_class(x):
        A = sp.csr_matrix(np.diag(x))
        B = type(A)((x**2, (np.arange(4), np.arange(4))), shape=A.shape)
        assert isspmatrix_csc(B.T) and A.__class__(A.shape).nnz == 0
        return (A + B).sum()

    def changed(x):
        A = sp.lil_matrix((4, 4))
        A[1, 2] = x[1] * x[2]
        assert type(A).__name__ == "lil_matrix" and isinstance(A, sp.lil_matrix)
        return A.tocsr().sum()
"""


@pytest.mark.parametrize(
    "name", ["by_isinstance", "by_type", "by_name", "made_by_its_class", "changed"]
)
def test_the_class_of_a_sparse_matrix(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, SPARSE), name))
