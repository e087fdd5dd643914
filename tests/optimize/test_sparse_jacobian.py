"""`jacobian(f, sparsity=...)`: few passes, a sparse result, and a check of the pattern."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
from gradwrap.core.graph.linear import LinearMap
from gradwrap.errors import ArgnumsError, SparsityError, TrackedValueError

sparse: Any = pytest.importorskip("scipy.sparse")
gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
MODES = [gw.jacrev, gw.jacfwd, gw.jacobian]
modes = pytest.mark.parametrize("jac", MODES, ids=lambda jac: jac.__name__)


def band(n: int, offsets: tuple[int, ...] = (-1, 0, 1)) -> Any:
    return sparse.diags_array([1.0] * len(offsets), offsets=offsets, shape=(n, n))


def neighbours(x: Any) -> Any:
    """Each element depends on itself and its two neighbours."""
    out = np.sin(x) * x
    out[1:] += x[:-1] ** 2
    out[:-1] -= x[1:] * x[:-1]
    return out


def points(n: int) -> Any:
    return np.random.default_rng(n).normal(size=n)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows or columns of each batched pass through what was recorded."""
    found: list[int] = []
    pull = LinearMap.pull

    def counted(self: LinearMap, cotangents: Any, **options: Any) -> list[Any]:
        found.extend(one._node.size for one in cotangents[:1] if getattr(one, "_is_batched", False))
        return pull(self, cotangents, **options)

    monkeypatch.setattr(LinearMap, "pull", counted)
    return found


@modes
def test_a_tridiagonal_one_takes_at_most_five_passes(jac: Any, passes: list[int]) -> None:
    n = 10_000
    x = points(n)
    calls = 0

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return neighbours(x)

    found = jac(counted, sparsity=band(n))(x)

    assert calls == 1
    assert passes == [4]  # three colours, and the check
    assert isinstance(found, sparse.csr_array)
    assert found.nnz == 3 * n - 2
    diagonal = np.cos(x) * x + np.sin(x) - np.append(x[1:], 0.0)
    np.testing.assert_allclose(found.diagonal(), diagonal, rtol=1e-13)
    np.testing.assert_allclose(found.diagonal(-1), 2 * x[:-1], rtol=1e-13)
    np.testing.assert_allclose(found.diagonal(1), -x[:-1], rtol=1e-13)


@modes
def test_it_is_the_dense_one(jac: Any) -> None:
    random = np.random.default_rng(0)
    A = random.normal(size=(12, 9)) * (random.uniform(size=(12, 9)) < 0.25)
    f = lambda x: np.tanh(A @ x)
    x = points(9)
    for pattern in (A, A != 0, sparse.coo_array(A), sparse.csc_matrix(A)):
        np.testing.assert_allclose(jac(f, sparsity=pattern)(x).toarray(), jac(f)(x), rtol=1e-14)


def test_the_cheaper_of_rows_and_columns_is_taken(passes: list[int]) -> None:
    wide = np.zeros((3, 30))
    wide[0, :] = wide[1, 0] = wide[2, 1] = 1.0  # a dense row: 30 colours of columns, 2 of rows
    f = lambda x: np.stack([np.sum(x**2), x[0] ** 3, x[1] ** 3])
    found = gw.jacobian(f, sparsity=wide)(points(30))
    np.testing.assert_allclose(found.toarray(), gw.jacrev(f)(points(30)))
    assert passes == [3]


def test_passes_are_made_in_chunks(passes: list[int]) -> None:
    found = gw.jacfwd(neighbours, sparsity=band(20), chunk_size=3)(points(20))
    assert passes == [3, 1]
    np.testing.assert_allclose(found.toarray(), gw.jacfwd(neighbours)(points(20)), rtol=1e-14)


def test_containers_count_as_vectors() -> None:
    def f(p: Any) -> Any:
        return {"a": p["x"] ** 2, "b": p["y"] * p["x"]}

    pattern = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]]
    for jac in MODES:
        found = jac(f, sparsity=pattern)({"x": np.array([1.0, 2.0]), "y": 3.0, "flag": True})
        np.testing.assert_array_equal(found.toarray(), [[2, 0, 0], [0, 4, 0], [3, 0, 1], [0, 3, 2]])


def test_aux_and_keywords_and_dtypes() -> None:
    def f(scale: float, x: Any, *, power: int) -> Any:
        return scale * x**power, "more"

    jac = gw.jacobian(f, "x", sparsity=np.eye(3), has_aux=True)
    found, aux = jac(2.0, np.ones(3, np.float32), power=3)
    assert aux == "more"
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), 6 * np.eye(3))


def test_arrays_of_other_libraries_give_scipys() -> None:
    found = gw.jacobian(lambda x: x * x, sparsity=np.eye(3))(strict.asarray([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found.toarray(), np.diag([2.0, 4.0, 6.0]))


def test_a_sparse_hessian() -> None:
    def energy(x: Any) -> Any:
        return np.sum(x**4) + np.sum(np.diff(x) ** 2)

    x = points(50)
    found = gw.jacfwd(gw.grad(energy), sparsity=band(50))(x)
    np.testing.assert_allclose(found.toarray(), gw.hessian(energy)(x), rtol=1e-13, atol=1e-13)


def test_scipys_solvers_take_it() -> None:
    solve_ivp: Any = pytest.importorskip("scipy.integrate").solve_ivp
    least_squares: Any = pytest.importorskip("scipy.optimize").least_squares
    n = 40
    target = points(n)
    residuals = lambda x: neighbours(x) + 3.0 * x - target
    jac = gw.jacobian(residuals, sparsity=band(n))
    fit = least_squares(residuals, np.zeros(n), jac)
    assert fit.cost < 1e-16

    def heat(_t: float, u: Any) -> Any:
        padded = np.concatenate([np.zeros(1), u, np.zeros(1)])
        return (padded[2:] - 2 * padded[1:-1] + padded[:-2]) * (n + 1) ** 2

    stiff = gw.jacobian(lambda u: heat(0.0, u), sparsity=band(n))
    start = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    run = solve_ivp(heat, (0.0, 0.1), start, "BDF", jac=lambda _t, u: stiff(u), rtol=1e-8)
    rate = 4 * (n + 1) ** 2 * np.sin(np.pi / (2 * (n + 1))) ** 2
    np.testing.assert_allclose(run.y[:, -1], start * np.exp(-0.1 * rate), rtol=1e-4)


@modes
def test_a_pattern_that_lacks_an_entry_is_refused(jac: Any) -> None:
    with pytest.raises(SparsityError, match="lacks a derivative of neighbours that is not zero"):
        jac(neighbours, sparsity=np.eye(10))(points(10))
    pattern = band(10).toarray()
    pattern[6, 5] = 0.0
    with pytest.raises(SparsityError, match=r"in row 6|in column 5"):
        jac(neighbours, sparsity=pattern)(points(10))


def test_more_entries_than_needed_are_stored_as_zeros() -> None:
    found = gw.jacobian(np.square, sparsity=np.ones((3, 3)))(np.ones(3))
    np.testing.assert_array_equal(found.toarray(), 2 * np.eye(3))


def test_a_nan_is_handed_on() -> None:
    with np.errstate(invalid="ignore"):
        found = gw.jacobian(np.sqrt, sparsity=np.eye(2))(np.array([-1.0, 4.0])).toarray()
    assert np.isnan(found[0, 0])
    assert found[1, 1] == 0.25


def test_bad_input_is_refused() -> None:
    with pytest.raises(SparsityError, match=r"shape \(2, 3\); the Jacobian of square has \(3, 3\)"):
        gw.jacobian(np.square, sparsity=np.ones((2, 3)))(np.ones(3))
    with pytest.raises(SparsityError, match=r"sparsity has the shape \(3,\)"):
        gw.jacobian(np.square, sparsity=np.ones(3))
    with pytest.raises(ArgnumsError, match="which is the pattern of one matrix"):
        gw.jacobian(np.add, (0, 1), sparsity=np.eye(2))
    with pytest.raises(ArgnumsError, match="holomorphic=True with sparsity"):
        gw.jacobian(np.square, sparsity=np.eye(2), holomorphic=True)
    with pytest.raises(TrackedValueError, match="leave sparsity= out"):
        gw.grad(lambda a: gw.jacobian(lambda x: a * x, sparsity=np.eye(2))(np.ones(2)).sum())(2.0)
