"""Sparse matrices: products with tracked arrays, tracked elements, solutions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError

sparse: Any = import_module("gradwrap.scipy.sparse")
linalg: Any = import_module("gradwrap.scipy.sparse.linalg")
native: Any = import_module("scipy.sparse")
DENSE = np.array([[3.0, 0.0, 0.4], [0.0, 4.0, 0.0], [0.3, 0.0, 5.0]])
ROWS, COLUMNS = np.nonzero(DENSE)
DATA = DENSE[ROWS, COLUMNS]
X = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_product_with_a_tracked_array(form: str, kind: str) -> None:
    matrix = getattr(sparse, f"{form}_{kind}")(DENSE)

    gw.testing.check_grads(lambda x: (matrix @ x) ** 2, (X,))
    gw.testing.check_grads(lambda x: x.T @ matrix, (np.outer(X, X),), order=1)
    assert isinstance(matrix, native.sparray if kind == "array" else native.spmatrix)
    np.testing.assert_array_equal(gw.vjp(lambda x: matrix @ x, X)[0], matrix @ X)


def test_product_with_tracked_elements() -> None:
    starts = np.array([0, 2, 3, 5])

    def by_coordinates(data: Any, x: Any) -> Any:
        return sparse.coo_array((data, (ROWS, COLUMNS)), (3, 3)) @ x

    def compressed(data: Any, x: Any) -> Any:
        return sparse.csr_array((data, COLUMNS, starts)) @ x

    gw.testing.check_grads(by_coordinates, (DATA, X))
    gw.testing.check_grads(compressed, (DATA, X))
    np.testing.assert_allclose(gw.vjp(compressed, DATA, X)[0], DENSE @ X)


@pytest.mark.parametrize("name", ["spsolve", "gmres", "bicgstab", "lgmres"])
def test_solution_in_the_elements_and_the_right_hand_side(name: str) -> None:
    def solution(data: Any, b: Any) -> Any:
        matrix = sparse.csc_array((data, (ROWS, COLUMNS)), (3, 3))
        found = getattr(linalg, name)(matrix, b, **({} if name == "spsolve" else {"rtol": 1e-12}))
        return found if name == "spsolve" else found[0]

    gw.testing.check_grads(solution, (DATA, X))
    np.testing.assert_allclose(gw.vjp(solution, DATA, X)[0], np.linalg.solve(DENSE, X))


def test_what_a_matrix_of_tracked_elements_lacks_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"no \.eliminate_zeros\. Fix: "):
        gw.grad(lambda d: sparse.coo_array((d, (ROWS, COLUMNS))).eliminate_zeros())(DATA)
    with pytest.raises(NoRuleError, match=r"dia_array of tracked elements is made of"):
        gw.grad(lambda d: sparse.dia_array((d[None, :3], [0]), (3, 3)) @ X)(DATA)
