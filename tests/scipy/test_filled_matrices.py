"""Sparse matrices whose array of elements gets tracked values, in adapted code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from modes import check_modes
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")
X = np.array([1.3, 0.7])
PROGRAMS = {
    "an element": """
        A = sparse.csr_matrix(DENSE)
        A.data[0] = x[0]
        return spsolve(A, x)[0]
        """,
    "slices": """
        A = sparse.csr_array(DENSE)
        A.data[:2] = x
        A.data[3] += x[0]
        return (A @ x)[1] + spsolve(A.tocsc(), np.ones(2))[0]
        """,
    "a loop": """
        A = sparse.csc_matrix(DENSE)
        for k in range(4):
            A.data[k] *= x[k % 2]
        return splu(A).solve(x)[0] + A.toarray()[0, 1] ** 2
        """,
    "coordinates": """
        A = sparse.coo_matrix(([1.0, 2.0, 3.0], ([0, 1, 1], [0, 0, 1])), shape=(2, 2))
        A.data[1] = x[1]
        return (A.tocsr() @ x)[1] ** 2
        """,
    "diagonals": """
        A = sparse.diags([[1.0, 2.0], [3.0]], [0, 1]).todia()
        A.data[0, :] = x
        return (A @ x)[0] ** 2
        """,
    "a pattern": """
        A = sparse.csr_matrix((np.zeros(4), np.array([0, 1, 0, 1]), np.array([0, 2, 4])))
        A.data[0], A.data[3] = x[0], x[1]
        A.data[1:3] = 0.25
        return spsolve(A, x)[0]
        """,
    "a whole array": """
        A = PATTERN.copy()
        A.data = A.data * x[0] + x[1]
        return (A @ x)[0] + PATTERN[0, 0] + (A * 2.0)[1, 1]
        """,
    "where it is large": """
        A = sparse.csr_matrix(DENSE)
        A.data[A.data > 1.5] *= x[0]
        return (A @ x)[0] ** 2
        """,
    "after elements": """
        A = sparse.lil_matrix((3, 3))
        A[0, 0], A[1, 1], A[2, 2] = 1.0, x[0], 2.0
        A[0, 2] += x[1]
        A = A.tocsr()
        A.data[A.indptr[0]] = 3 * x[0]
        A.eliminate_zeros()
        return np.sum(spsolve(A.tocsc(), np.ones(3)))
        """,
}
SOURCE = """
from scipy import sparse
from scipy.sparse.linalg import splu, spsolve
DENSE = np.array([[2.0, 1.0], [1.0, 3.0]])
PATTERN = sparse.csr_matrix(DENSE)
def run(x):
"""


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_the_array_of_elements_takes_tracked_values(body: str, tmp_path: Path) -> None:
    lines = [f"    {line.removeprefix(' ' * 8)}" for line in body.strip("\n").rstrip().split("\n")]
    package = written(tmp_path, SOURCE + "\n".join(lines))
    check_modes(package.run, X)
    assert type(package.PATTERN).__module__.startswith("scipy.")
    assert package.PATTERN.toarray().tolist() == [[2.0, 1.0], [1.0, 3.0]]


def test_elements_that_something_else_refers_to_are_refused(tmp_path: Path) -> None:
    body = """
    data = np.array([2.0, 1.0, 1.0, 3.0])
    A = sparse.csr_matrix((data, np.array([0, 1, 0, 1]), np.array([0, 2, 4])))
    B = A.T
    A.data[0] = x[0]
    return (B @ x)[0] + data[0]
"""
    run = gw.adapting(written(tmp_path, SOURCE + body).run)
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(gw.errors.TrackedValueError, match=r"A store into a plain .*Fix: "):
            transform(run)(X)


def test_a_matrix_that_an_object_keeps_is_scipys_again(tmp_path: Path) -> None:
    body = """
    MODEL.A.data[0] = x[0]
    return (MODEL.A @ x)[0] * x[1]
class Model:
    def __init__(self): self.A = sparse.csr_matrix(DENSE)
    def run(self, x):
        A = self.A
        A.data[0] = x[0]
        return (A @ x)[0] * x[1]
MODEL = Model()
"""
    model = written(tmp_path, SOURCE + body).MODEL
    for transform in (gw.grad, gw.jacfwd):
        np.testing.assert_allclose(transform(gw.adapting(model.run))(X), [1.82, 3.09])
    assert type(model.A).__module__.startswith("scipy.")
    assert model.A.data[0] == X[0]
