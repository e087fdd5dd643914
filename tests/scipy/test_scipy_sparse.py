"""Sparse matrices: products with tracked arrays, tracked elements, solutions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import CompileWarning, NoRuleError

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


OPERATIONS: dict[str, Any] = {
    "A @ x": lambda A, x: A @ x,
    "x @ A": lambda A, x: x @ A,
    "A.dot": lambda A, x: A.T.dot(x),
    "A * x": lambda A, x: A * x,
    "A.multiply": lambda A, x: A.multiply(x),
    "A * t": lambda A, x: A * x[1],
    "t * A": lambda A, x: x[1] * A,
    "A / t": lambda A, x: A / x[1],
    "A + x": lambda A, x: A + np.stack([x, 2 * x, x * x]),
    "x - A": lambda A, x: np.stack([x, 2 * x, x * x]) - A,
    "A + tA": lambda A, x: (A + A * x[0]) @ x,
    "A @ tA": lambda A, x: A @ (A * x[0]),
}


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", ["csr", "dia", "lil", "dok"])
def test_scipys_own_matrices_take_tracked_operands(form: str, kind: str) -> None:
    matrix = getattr(native, f"{form}_{kind}")(DENSE)
    before = matrix.copy()

    for name, operation in OPERATIONS.items():

        def total(x: Any, operation: Any = operation) -> Any:
            made = operation(matrix, x)
            return np.sum(np.sin(made.toarray() if hasattr(made, "toarray") else made))

        steps = 1e-6 * np.eye(3)
        expected = np.array([(total(X + e) - total(X - e)) / 2e-6 for e in steps])
        is_numpys = kind == "matrix" and name in ("A + x", "x - A")  # whose `*` is not elementwise
        if is_numpys:
            with pytest.raises(NoRuleError, match=r"a matrix of NumPy.*Fix: gradwrap\.adapting"):
                gw.grad(total)(X)
        found = gw.grad(gw.adapting(total) if is_numpys else total)(X)
        np.testing.assert_allclose(found, expected, atol=1e-8, err_msg=name)
    hessian = gw.hessian(lambda x: np.sum((matrix @ x) ** 3))(X)
    np.testing.assert_allclose(hessian, 6 * DENSE.T @ np.diag(DENSE @ X) @ DENSE, rtol=1e-12)
    assert type(matrix) is type(before)
    np.testing.assert_array_equal(matrix.toarray(), before.toarray())


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


def test_second_derivatives_of_solutions() -> None:
    def total(x: Any) -> Any:
        matrix = sparse.diags([x, 0.5 * x[1:]], [0, 1], format="csc")
        return np.sum(linalg.spsolve(matrix, x[::-1] ** 2) ** 2)

    def dense(x: Any) -> Any:
        matrix = np.diag(x) + np.diag(0.5 * x[1:], 1)
        return np.sum(np.linalg.solve(matrix, x[::-1] ** 2) ** 2)

    x = np.array([1.0, 2.0, 3.0, 1.5])
    expected = gw.hessian(dense)(x)
    np.testing.assert_allclose(gw.hessian(total)(x), expected, rtol=1e-10)
    np.testing.assert_allclose(gw.jacrev(gw.grad(total))(x), expected, rtol=1e-10)


def test_what_a_matrix_of_tracked_elements_lacks_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"no \.nanmax\. Fix: "):
        gw.grad(lambda d: sparse.coo_array((d, (ROWS, COLUMNS))).nanmax())(DATA)


# Arithmetic of matrices of tracked elements, of which there may be two for a place ----------------

OTHER = native.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 0.5, 0.0], [0.3, 0.0, 0.0]]))
DENSE_OTHER = np.arange(9.0).reshape(3, 3)


def matrix_of(data: Any) -> Any:
    return sparse.csr_array((data, (ROWS, COLUMNS)), (3, 3))


ARITHMETIC: dict[str, Any] = {
    "sum with a matrix": lambda s: (s + OTHER).toarray(),
    "matrix minus it": lambda s: (OTHER - s).toarray(),
    "difference": lambda s: (s - 2 * s).toarray(),
    "sum with an array": lambda s: s + DENSE_OTHER,
    "array minus it": lambda s: DENSE_OTHER - s,
    "multiple": lambda s: (1.5 * s * 2.0).toarray(),
    "quotient": lambda s: (-s / 2.0).toarray(),
    "product with a matrix": lambda s: (s @ OTHER).toarray(),
    "matrix times it": lambda s: (OTHER @ s).toarray(),
    "square": lambda s: (s @ s.T).tocsc().toarray(),
    "elements": lambda s: s.multiply(OTHER).toarray(),
    "elements of an array": lambda s: s.multiply(DENSE_OTHER[0]).toarray(),
    "power": lambda s: (s + OTHER).power(2).toarray(),
    "total": lambda s: s.sum(),
    "sums": lambda s: [s.sum(axis=0), s.sum(axis=1), s.mean(axis=0)],
    "diagonals": lambda s: [s.diagonal(), s.diagonal(1), s.diagonal(-1), s.trace()],
    "element": lambda s: [s[0, 2], s[1, 0]],
    "part": lambda s: (s + OTHER)[1:].toarray(),
    "norm": lambda s: linalg.norm(s + OTHER),
    "vstack": lambda s: sparse.vstack([OTHER, s]).toarray(),
    "hstack": lambda s: sparse.hstack([s, s]).toarray(),
    "block_diag": lambda s: sparse.block_diag([s, OTHER]).toarray(),
    "block_array": lambda s: sparse.block_array([[s, None], [OTHER, s]]).toarray(),
    "tril": lambda s: sparse.tril(s + OTHER).toarray(),
    "kron": lambda s: sparse.kron(s, OTHER).toarray(),
    "kron of itself": lambda s: sparse.kron(s, s.T).toarray(),
    "formats": lambda s: sparse.csc_array(s.tocoo()).toarray(),
    "splu": lambda s: linalg.splu(s.tocsc()).solve(X),
    "splu transposed": lambda s: linalg.splu(s.tocsc()).solve(X, "T"),
    "factorized": lambda s: linalg.factorized(s.tocsc())(X),
    "cg of a product": lambda s: linalg.cg(s @ s.T, X, rtol=1e-13)[0],
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_tracked_elements(name: str) -> None:
    function = ARITHMETIC[name]

    gw.testing.check_grads(lambda d: function(matrix_of(d)), (DATA,))
    found = gw.vjp(lambda d: function(matrix_of(d)), DATA)[0]
    wanted = function(matrix_of(DATA))
    for one, other in zip(
        *(list(v) if isinstance(v, list) else [v] for v in (found, wanted)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-13)
        assert np.shape(one) == np.shape(other)


@pytest.mark.parametrize(
    "function",
    [
        lambda m, v: m + np.outer(v, v),
        lambda m, v: np.outer(v, v) - m,
        lambda m, v: (m * v[0]) @ X,
        lambda m, v: (m / v[0]).toarray(),
        lambda m, v: m.multiply(v).toarray(),
        lambda m, v: (np.outer(v, v) * m).toarray(),
        lambda m, v: m.tocsc().T @ v,
        lambda m, v: (m + m) @ v,
        lambda m, v: sparse.eye_array(3, format="csr") @ v + m @ v,
        lambda _, v: sparse.diags_array([v, v[1:]], offsets=[0, 1]) @ v,
        lambda _, v: sparse.diags(v) @ v,
        lambda _, v: sparse.spdiags(np.stack([v, v**2]), [0, -1], 3, 3) @ v,
        lambda _, v: sparse.spdiags(v, 1, 3, 4, format="csr") @ np.arange(4.0),
        lambda _, v: sparse.spdiags(np.stack([v, v**2]), np.array([0, 2])).toarray(),
        lambda m, v: linalg.splu(m.tocsc()).solve(v),
        lambda m, v: linalg.expm_multiply(m, v),
    ],
)
def test_matrix_of_plain_elements_takes_tracked_values(function: Any) -> None:
    matrix = sparse.csr_array(DENSE)

    gw.testing.check_grads(lambda v: function(matrix, v), (X,), order=1)
    np.testing.assert_allclose(
        gw.vjp(lambda v: function(matrix, v), X)[0], function(sparse.csr_array(DENSE), X)
    )


def test_matrices_of_plain_elements_are_scipys() -> None:
    matrix = sparse.csr_array(DENSE)

    assert isinstance(matrix.tocsc(), native.csc_array)
    np.testing.assert_array_equal((matrix * 2.0).toarray(), DENSE * 2.0)
    np.testing.assert_array_equal((matrix + matrix).toarray(), DENSE + DENSE)
    np.testing.assert_array_equal(sparse.vstack([matrix, matrix]).toarray(), np.r_[DENSE, DENSE])
    np.testing.assert_array_equal((matrix @ matrix).toarray(), DENSE @ DENSE)


def test_attribute_that_scipys_matrices_lack_is_lacking() -> None:
    def total(d: Any) -> Any:
        matrix = matrix_of(d)
        assert not hasattr(matrix, "state")
        assert getattr(matrix, "state", None) is None
        with pytest.raises(NoRuleError, match=r"has no \.nanmax\. Fix: use its products"):
            matrix.nanmax()
        return matrix.sum()

    np.testing.assert_allclose(gw.grad(total)(DATA), np.ones_like(DATA))


def test_comparisons_of_tracked_matrices_are_scipys() -> None:
    def total(d: Any) -> Any:
        matrix = matrix_of(d)
        plain_one = native.csr_array(matrix.made)
        for found, wanted in (
            (matrix != 0, plain_one != 0),
            (matrix > 1.0, plain_one > 1.0),
            (matrix < matrix.T, plain_one < plain_one.T),
            (matrix == 0.4, plain_one == 0.4),
            (matrix != matrix.T, plain_one != plain_one.T),
            (matrix >= 0.4, plain_one >= 0.4),
        ):
            np.testing.assert_array_equal(found.toarray(), wanted.toarray())
        return matrix.sum()

    np.testing.assert_allclose(gw.grad(total)(DATA), np.ones_like(DATA))


def test_comparison_of_a_traced_matrix_makes_calls_eager() -> None:
    compiled: Any = gw.compile(gw.grad(lambda d: matrix_of(d).sum() * (matrix_of(d) > 1.0).sum()))
    with pytest.warns(CompileWarning, match="cannot be compared in a trace"):
        found = compiled(DATA)
    np.testing.assert_array_equal(found, np.full_like(DATA, 3.0))


def test_sums_with_numbers_and_other_norms_are_refused() -> None:
    with pytest.raises(NoRuleError, match=r"a number that is not zero have no sum"):
        gw.grad(lambda d: (matrix_of(d) + 1.0).sum())(DATA)
    with pytest.raises(NoRuleError, match=r"norm has no derivative with ord=inf and axis=0"):
        gw.grad(lambda d: linalg.norm(matrix_of(d), np.inf, axis=0).sum())(DATA)
    with pytest.raises(NoRuleError, match=r"SuperLU\.L has no derivative"):
        gw.grad(lambda d: linalg.splu(matrix_of(d).tocsc()).L.sum())(DATA)


def test_elements_by_diagonals_and_by_blocks() -> None:
    def by_diagonals(data: Any, x: Any) -> Any:
        return sparse.dia_array((data, [0, 1]), shape=(3, 3)) @ x

    def by_blocks(data: Any, x: Any) -> Any:
        return sparse.bsr_array((data, np.array([0, 1]), np.array([0, 1, 2]))) @ x

    diagonals = np.arange(1.0, 7.0).reshape(2, 3)
    blocks = np.arange(1.0, 9.0).reshape(2, 2, 2)
    gw.testing.check_rule(by_diagonals, diagonals, X)
    gw.testing.check_rule(by_blocks, blocks, np.append(X, 0.3))
    plain = native.dia_array((diagonals, [0, 1]), shape=(3, 3)) @ X
    np.testing.assert_array_equal(gw.vjp(by_diagonals, diagonals, X)[0], plain)


@pytest.mark.parametrize("name", ["coo_array", "csr_matrix", "csc_array"])
def test_indices_may_be_whole_numbers_in_floats(name: str) -> None:
    def product(data: Any, x: Any) -> Any:
        places = ROWS.astype(float), COLUMNS.astype(float)
        return getattr(sparse, name)((data, places), shape=(3, 3)) @ x

    gw.testing.check_rule(product, DATA, X)


def test_eigenvalues_of_tracked_elements() -> None:
    def largest(d: Any) -> Any:
        matrix = sparse.diags_array([d, 0.1 * d[:2], 0.1 * d[:2]], offsets=[0, 1, -1])
        return linalg.eigsh(matrix.tocsr(), k=1, v0=np.ones(3))[0]

    gw.testing.check_rule(largest, np.array([1.0, 2.0, 4.0]))


def test_one_kind_of_singular_vectors_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"one kind of vectors\. Fix: return_singular"):
        gw.grad(lambda a: np.sum(linalg.svds(a, 2, return_singular_vectors="u")[0]))(DENSE)


MATRIX = native.csc_matrix(DENSE)
OPERATOR = native.linalg.aslinearoperator(MATRIX)
TWICE = native.linalg.LinearOperator((3, 3), matvec=lambda v: 2 * v, rmatvec=lambda v: 2 * v)
FACTORS = linalg.splu(MATRIX)
LINEAR: dict[str, Any] = {
    "A @ x": lambda x: MATRIX @ x,
    "A @ X": lambda x: MATRIX @ np.stack([x, x * x], axis=1),
    "operator": lambda x: OPERATOR @ x + OPERATOR.rmatvec(x),
    "operators": lambda x: (TWICE + 2 * OPERATOR.H).matvec(x),
    "columns": lambda x: OPERATOR.matmat(np.stack([x, x * x], axis=1)),
    "solve": lambda x: FACTORS.solve(x),
    "transposed": lambda x: FACTORS.solve(x, "T") + FACTORS.solve(x, trans="H"),
    "factorized": lambda x: linalg.factorized(MATRIX)(np.stack([x, x * x], axis=1)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_maps_by_scipys_own_objects(name: str) -> None:
    def cubes(x: Any) -> Any:
        return np.sum(LINEAR[name](x) ** 3)

    gw.testing.check_grads(cubes, (X,), order=2)
    stacked = np.stack([X, 2 * X, X * X])  # a loop over examples would warn, which fails the test
    assert np.allclose(gw.vmap(gw.grad(cubes))(stacked), [gw.grad(cubes)(x) for x in stacked])
    twice = gw.vmap(gw.vmap(cubes))(np.stack([stacked, stacked + 1]))
    assert np.allclose(twice, [[cubes(x) for x in rows] for rows in (stacked, stacked + 1)])


def test_complex_factors_and_operators() -> None:
    matrix = native.csc_matrix(DENSE + 0.3j * DENSE.T)
    factors, operator = linalg.splu(matrix), native.linalg.aslinearoperator(matrix)
    for solve in (factors.solve, lambda z: factors.solve(z, "T"), operator.rmatvec):
        gw.testing.check_grads(lambda x, s=solve: np.abs(s(x + 1j * x**2)) ** 2, (X,), order=1)


def test_an_operator_without_its_adjoint_is_differentiated_as_its_function() -> None:
    operator = native.linalg.LinearOperator((3, 3), matvec=lambda v: 2 * v)
    assert np.allclose(gw.jacfwd(lambda x: operator @ x)(X), 2 * np.eye(3))
    assert np.allclose(gw.jacrev(lambda x: operator @ x)(X), 2 * np.eye(3))


def test_an_operator_of_plain_arrays_without_its_adjoint_has_forward_mode_alone() -> None:
    operator = native.linalg.LinearOperator((3, 3), matvec=lambda v: 2 * np.asarray(v), dtype=float)
    assert np.allclose(gw.jvp(lambda x: operator @ x, (X,), (X,))[1], 2 * X)
    with pytest.raises(NoRuleError, match=r"needs its adjoint .* Fix: .*rmatvec="):
        gw.grad(lambda x: np.sum(operator @ x))(X)


def test_orders_and_parts_of_tracked_graphs_are_constants() -> None:
    def total(x: Any) -> Any:
        graph = sparse.csr_array(np.reshape(x, (3, 3)) * 1.0)
        count, labels = sparse.csgraph.connected_components(graph, connection="strong")
        order, _ = sparse.csgraph.breadth_first_order(graph, 0)
        assert (count, list(labels), list(order)) == (2, [1, 1, 0], [0, 1, 2])
        assert sparse.csgraph.connected_components(np.reshape(x, (3, 3)))[0] == 1
        assert sparse.csgraph.structural_rank(graph) == 2
        assert list(sparse.csgraph.reverse_cuthill_mckee(graph, symmetric_mode=False)) == [2, 1, 0]
        return np.sum(x[order] ** 2) * count

    x = np.array([0.0, 1.0, 3.0, 2.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(gw.grad(total)(x), 4.0 * x * (np.arange(9) < 3))
