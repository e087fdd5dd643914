"""`sparsity="detect"`: the pattern of a Jacobian or a Hessian, from a trace of the function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap
from gradwrap.errors import ArgnumsError, SparsityError
from lambdas import fn

pytest.importorskip("scipy.sparse")
gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
ANY: Any = np  # for calls that NumPy's own types are too narrow for
RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(6, 6)) * (RNG.random((6, 6)) < 0.4)
X = RNG.normal(size=6)


def written(x: Any) -> Any:
    y = x.copy()
    y[1:3] = x[3:5] * x[0]
    y[4] += 2.0 * y[1]
    return y


# A function, and the entries of its pattern.
FUNCTIONS: dict[str, tuple[Any, int]] = {
    "stencil": (fn(lambda x: x[1:-1] + 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])), 12),
    "concatenate": (fn(lambda x: np.concatenate([x[:1], np.sin(x[1:]), 3.0 * x[:2]])), 8),
    "matrix": (fn(lambda x: MATRIX @ np.sin(x)), int(np.count_nonzero(MATRIX))),
    "vector": (fn(lambda x: np.stack([x @ MATRIX[0], MATRIX[1] @ x])), 5),
    "product": (fn(lambda x: x.reshape(2, 3) @ x.reshape(3, 2)), 18),
    "writes": (written, 10),
    "permutation": (fn(lambda x: x[np.argsort(x)][::-1] * 2), 6),
    "where": (fn(lambda x: np.where(np.arange(6) > 2, x**2, np.roll(x, 1))), 12),
    "outer": (fn(lambda x: np.outer(x[:2], x[2:])), 48),
    "loop": (fn(lambda x: np.stack([x[i] * x[(i + 2) % 6] for i in range(6)])), 12),
    "sum": (fn(lambda x: np.sum(x.reshape(2, 3) ** 2, axis=0)), 6),
    "sum of all": (fn(lambda x: np.sum(x * x[0])), 6),
    "maximum": (fn(lambda x: np.max(x.reshape(2, 3), axis=1)), 6),
    "mean": (fn(lambda x: np.mean(x.reshape(2, 3), axis=1, keepdims=True)), 6),
    "repeat": (fn(lambda x: np.repeat(x, [1, 2, 0, 1, 1, 1]) ** 2), 6),
    "take": (fn(lambda x: ANY.take(x, [3, 3, 1])), 3),
    "along": (fn(lambda x: np.take_along_axis(x, np.argsort(x), 0)), 6),
    "triangle": (fn(lambda x: np.tril(x.reshape(2, 3))), 3),
    "transpose": (fn(lambda x: x.reshape(2, 3).T.ravel() * x), 10),
    "solve": (fn(lambda x: np.linalg.solve(3 * np.eye(6) + 1, x)), 36),
    "fft": (fn(lambda x: np.fft.fft(x).real), 36),
    "svd": (fn(lambda x: np.linalg.svd(x.reshape(2, 3))[1]), 12),
    "constant": (fn(lambda x: np.ones(3) + np.floor(x[:3])), 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_and_hessians_are_the_dense_ones(name: str) -> None:
    fun, entries = FUNCTIONS[name]
    expected = gw.jacobian(fun)(X).reshape(-1, 6)
    for transform in (gw.jacobian, gw.jacrev, gw.jacfwd):
        found = transform(fun, sparsity="detect")(X)
        np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12, atol=1e-13)
        assert found.nnz == entries
    weights = np.cos(np.arange(expected.shape[0]))

    def total(x: Any) -> Any:
        return np.sum(np.sin(fun(x)).ravel() * weights)

    found = gw.hessian(total, sparsity="detect")(X).toarray()
    np.testing.assert_allclose(found, gw.hessian(total)(X), rtol=1e-9, atol=1e-11)


def test_containers_names_and_auxiliary_results() -> None:
    tree = {"u": X, "v": np.arange(3.0)}

    def fun(p: Any, y: Any) -> Any:
        return {"a": p["u"] * y, "b": p["v"] ** 2}

    found = gw.jacobian(fun, sparsity="detect")(tree, X).toarray()
    np.testing.assert_array_equal(found, np.diag([*X, *(2 * tree["v"])]))
    found = gw.jacobian(fun, "y", sparsity="detect")(tree, y=X).toarray()
    np.testing.assert_array_equal(found, np.vstack([np.diag(X), np.zeros((3, 6))]))
    same = gw.jacobian(fn(lambda x, y: x * y[::-1]), 1, sparsity="detect")(X, X).toarray()
    np.testing.assert_array_equal(same, np.diag(X)[:, ::-1])
    cubes = gw.hessian(fn(lambda x: (np.sum(x**3), "aux")), has_aux=True, sparsity="detect")
    matrix, aux = cubes(X)
    np.testing.assert_allclose(matrix.toarray(), np.diag(6 * X), rtol=1e-14)
    assert aux == "aux"


def test_a_pattern_of_other_values_or_shapes_is_found_again() -> None:
    factor = [0.0]

    def fun(x: Any) -> Any:
        return x * x[::-1] if factor[0] else x**2

    jac = gw.jacobian(fun, sparsity="detect")
    for value, x in ((0.0, X), (1.0, X), (1.0, X[:4]), (0.0, X)):
        factor[0] = value
        np.testing.assert_allclose(jac(x).toarray(), gw.jacobian(fun)(x), rtol=1e-14)


def test_a_hessian_of_many_unknowns() -> None:
    n = 60

    def energy(u: Any) -> Any:
        u = u.reshape(n, n)
        slopes = np.sum(np.diff(u, axis=0) ** 2) + np.sum(np.diff(u, axis=1) ** 2)
        return slopes + np.sum(np.cosh(u))

    u, v = np.random.default_rng(1).normal(size=(2, n * n))
    found = gw.hessian(energy, sparsity="detect")(u)
    assert found.nnz == 5 * n * n - 4 * n
    np.testing.assert_allclose(found @ v, gw.hvp(energy, u, v), rtol=1e-10)


@pytest.mark.parametrize(
    ("fun", "pattern"),
    [
        (fn(lambda x: np.cumsum(x)), r"20000 elements of cumsum in line \d+ of <lambda> may"),
        (fn(lambda x: x * x[0].item()), r"cannot be traced: .*Fix: .* Or pass the pattern itself"),
    ],
)
def test_the_message(fun: Any, pattern: str) -> None:
    with pytest.raises(SparsityError, match=pattern):
        gw.jacobian(fun, sparsity="detect")(np.ones(20_000))


def test_other_words_and_several_arguments_are_refused() -> None:
    with pytest.raises(SparsityError, match=r"sparsity='dtect'. Fix: pass a matrix, or .detect."):
        gw.jacobian(np.sin, sparsity="dtect")
    with pytest.raises(ArgnumsError, match=r"argnums=.* with sparsity"):
        gw.hessian(np.sin, (0, 1), sparsity="detect")


def by_sign(x: Any) -> Any:
    total = 0.0
    for i in range(5):
        total = total + (x[i] ** 2 * x[i + 1] if x[i] > 0 else np.exp(x[i]))
    return total


def test_a_pattern_is_found_again_where_another_branch_is_taken() -> None:
    hessian, dense = gw.hessian(by_sign, sparsity="detect"), gw.hessian(by_sign)
    for point in (-np.abs(X), np.abs(X), X, -X):
        np.testing.assert_allclose(hessian(point).toarray(), dense(point), atol=1e-15)


def test_small_derivatives_that_were_zero_before_are_not_lost() -> None:
    matrix = np.diag(np.full(6, 1e3))
    jacobian = gw.jacobian(lambda x, a: a @ np.sin(x), sparsity="detect")
    jacobian(X, matrix)
    matrix[0, 5] = 1e-8
    found = jacobian(X, matrix).toarray()
    np.testing.assert_allclose(found, matrix * np.cos(X), rtol=1e-12)


def test_a_derivative_that_is_not_a_number_is_not_missed() -> None:
    x = np.array([1.0, 0.0, 2.0])
    with pytest.raises(SparsityError, match="column 1, of element 1"), np.errstate(all="ignore"):
        gw.jacobian(lambda x: x[::-1] + np.log(x) * 0.0, sparsity=np.eye(3)[::-1] * [1, 0, 1])(x)


def test_infinite_derivatives_in_the_pattern_are_returned() -> None:
    x = np.array([1.0, 0.0, 4.0])
    with np.errstate(all="ignore"):
        found = gw.jacobian(np.sqrt, sparsity="detect")(x).toarray()
    np.testing.assert_array_equal(found.diagonal(), [0.5, np.inf, 0.25])
