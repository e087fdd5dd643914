"""Parts of results: none comes back untracked without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.spatial import transform as native

import gradwrap as gw
from gradwrap.scipy import linalg, optimize, stats
from gradwrap.scipy.spatial import transform
from gradwrap.scipy.spatial.transform import Rotation, Slerp

if TYPE_CHECKING:
    from collections.abc import Callable

A = np.array([0.4, 0.6])
X = np.array([1.0, 2.0, 3.5, 0.3, 2.2])


def valley(z: Any, a: Any) -> Any:
    return (z[0] - a[0]) ** 2 + 3 * (z[1] - a[1] * z[0]) ** 2 + 0.1 * z[0] ** 4


def system(z: Any, a: Any) -> Any:
    return [z[0] + a[0] * z[1] ** 2 - 1, z[1] - a[1] * np.sin(z[0])]


@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("method", ["percentile", "basic", "BCa"])
def test_interval_of_bootstrap_is_differentiated(end: str, method: str) -> None:
    def bound(x: Any) -> Any:
        made = stats.bootstrap((x,), np.mean, n_resamples=40, rng=1, method=method)
        return getattr(made.confidence_interval, end)

    gw.testing.check_grads(bound, [X], order=1, modes=["rev"])


@pytest.mark.parametrize("part", ["fjac", "r", "qtf", "fun"])
def test_byproducts_of_a_root_are_refused(part: str) -> None:
    for function in (
        lambda a: optimize.root(system, [0.0, 0.0], args=(a,))[part],
        lambda a: optimize.root(lambda z: system(z, a), [0.0, 0.0])[part],
    ):
        with pytest.raises(gw.errors.NoRuleError, match=rf"root: \.{part} of its result has no"):
            gw.grad(lambda a, f=function: np.sum(f(a)) + np.sum(a))(A)


@pytest.mark.parametrize(
    "use", [lambda h: h @ np.ones(2), lambda h: h.todense(), lambda h: h.T @ A]
)
def test_operator_in_a_result_is_refused(use: Callable[[Any], Any]) -> None:
    def function(a: Any) -> Any:
        made: Any = optimize.minimize(lambda z: valley(z, a), [0.0, 0.0], method="L-BFGS-B")
        return np.sum(use(made.hess_inv)) + np.sum(a)

    with pytest.raises(gw.errors.NoRuleError, match="hess_inv of its result has no derivative"):
        gw.grad(function)(A)


def test_operator_in_a_result_detached_is_scipys() -> None:
    def function(a: Any) -> Any:
        made: Any = optimize.minimize(lambda z: valley(z, a), [0.0, 0.0], method="L-BFGS-B")
        return np.sum(made.hess_inv.detach() @ np.ones(2)) * a[0]

    assert gw.grad(function)(A)[0] > 0


SOLVED: dict[str, Callable[[Any], Any]] = {
    "brentq": lambda t: optimize.brentq(lambda z: z**3 - t, 0.0, 3.0),
    "root_scalar": lambda t: optimize.root_scalar(lambda z: z**3 - t, bracket=(0.0, 3.0)).root,
    "newton": lambda t: optimize.newton(lambda z: z**3 - t, 1.0),
    "fsolve": lambda t: optimize.fsolve(lambda z: z**3 - t, [1.0])[0],
    "root": lambda t: optimize.root(lambda z: z**3 - t, [1.0]).x[0],
    "least_squares": lambda t: optimize.least_squares(lambda z: z**3 - t, [1.0]).x[0],
    "minimize": lambda t: optimize.minimize(lambda z: np.sum((z**3 - t) ** 2), [1.2], tol=1e-12).x,
}


@pytest.mark.parametrize("name", SOLVED)
def test_tape_in_a_closure_is_differentiated(name: str) -> None:
    t = gw.wrap(np.array(2.0), requires_grad=True)

    np.sum(SOLVED[name](t)).backward()

    gradient: Any = t.grad
    np.testing.assert_allclose(gradient, 2.0 ** (-2 / 3) / 3, rtol=1e-4)


def test_tape_in_a_global_is_differentiated() -> None:
    space: dict[str, Any] = {"t": gw.wrap(np.array(2.0), requires_grad=True), "op": optimize}
    exec("def f(z): return z ** 3 - t\nx = op.brentq(f, 0.0, 3.0)", space)  # noqa: S102  globals of its own

    space["x"].backward()

    np.testing.assert_allclose(space["t"].grad, 2.0 ** (-2 / 3) / 3, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rotations_have_the_dtype_of_scipys(dtype: Any) -> None:
    q = np.array([[0.1, 0.2, 0.3, 0.9], [0.4, -0.2, 0.1, 0.8]], dtype)
    matrix = np.eye(4, dtype=dtype)

    def parts(q: Any, matrix: Any) -> list[Any]:
        turned = Rotation.from_quat(q)
        return [
            turned.as_matrix(),
            turned.as_rotvec(),
            transform.RigidTransform.from_matrix(matrix).as_matrix(),
            Slerp([0.0, 1.0], turned)([0.3]).as_quat(),
        ]

    turned = native.Rotation.from_quat(q)
    wanted = [
        turned.as_matrix(),
        turned.as_rotvec(),
        native.RigidTransform.from_matrix(matrix).as_matrix(),
        native.Slerp([0.0, 1.0], turned)([0.3]).as_quat(),
    ]
    found, pull = gw.vjp(parts, q, matrix)

    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
    assert pull([np.ones_like(one) for one in found])[0].dtype == dtype


MATRIX, BANDS = np.array([[3.0, 0.5], [0.0, 2.0]]), np.array([[3.0, 2.0], [0.5, 0.0]])
SOLVERS: dict[str, Any] = {
    "cho_solve": lambda b: linalg.cho_solve((np.triu(MATRIX), False), b),
    "lu_solve": lambda b: linalg.lu_solve((MATRIX, np.array([0, 1])), b),
    "solve_banded": lambda b: linalg.solve_banded((0, 1), BANDS[::-1], b),
    "solveh_banded": lambda b: linalg.solveh_banded(BANDS, b, lower=True),
    "solve_toeplitz": lambda b: linalg.solve_toeplitz(MATRIX[0], b),
    "cho_solve_banded": lambda b: linalg.cho_solve_banded((BANDS, True), b),
    "solve_triangular": lambda b: linalg.solve_triangular(MATRIX, b),
    "solve": lambda b: linalg.solve(MATRIX, b, check_finite=True),
    "pinv": lambda b: linalg.pinv(MATRIX * b)[0],
    "solve_discrete_lyapunov": lambda b: linalg.solve_discrete_lyapunov(
        MATRIX * 0.1, b * np.eye(2) + b[:, None]
    )[0],
    "signm": lambda b: linalg.signm(MATRIX - b * np.eye(2))[0] + 0 * b,
    "least_squares": lambda b: optimize.least_squares(lambda x, b: x - b, [0.0, 0.0], args=(b,)).x,
}


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_a_cotangent_of_nan_gives_nan(solver: Any) -> None:
    out, pull = gw.vjp(solver, np.array([0.5, 1.0]))
    assert np.isfinite(out).all()
    assert np.isnan(pull(np.full(2, np.nan))[0]).all()


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_a_tangent_of_nan_gives_nan(solver: Any) -> None:
    b, nan = np.array([0.5, 1.0]), np.full(2, np.nan)
    assert np.isnan(gw.jvp(solver, (b,), (nan,))[1]).all()
    of_each = gw.vmap(lambda t: gw.jvp(solver, (b,), (t,))[1], fallback="loop")
    found = of_each(np.stack([nan, b]))
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], gw.jvp(solver, (b,), (b,))[1], rtol=1e-12)
    with pytest.raises((ValueError, np.linalg.LinAlgError)):  # a value of NaN is SciPy's to refuse
        solver(nan)


PAIR = np.diag([3.0, 2.0, 2.0])
WEIGHTS = np.arange(9.0).reshape(3, 3)
OF_VECTORS: dict[str, Any] = {
    "eigh": lambda a: np.sum(WEIGHTS * linalg.eigh(a)[1]),
    "svd": lambda a: np.sum(WEIGHTS * linalg.svd(a)[0]),
    "schur": lambda a: np.sum(WEIGHTS * linalg.schur(a)[0]),
}
OF_VALUES: dict[str, Any] = {
    "eigh": lambda a: linalg.eigh(a)[0],
    "eigvalsh": lambda a: linalg.eigvalsh(a),
    "svd": lambda a: linalg.svd(a)[1],
    "svdvals": lambda a: linalg.svdvals(a),
}


@pytest.mark.filterwarnings("ignore::gradwrap.errors.DegeneracyWarning")
@pytest.mark.parametrize("fun", OF_VECTORS.values(), ids=OF_VECTORS)
def test_vectors_of_equal_values_have_no_derivative(fun: Any) -> None:
    assert np.isnan(gw.grad(fun)(PAIR)).all()


@pytest.mark.parametrize("fun", OF_VALUES.values(), ids=OF_VALUES)
def test_equal_values_have_a_derivative_and_no_second_one(fun: Any) -> None:
    def total(a: Any) -> Any:
        return np.sum(fun(a) ** 2)

    def one(a: Any) -> Any:
        return fun(a)[1]

    np.testing.assert_allclose(gw.grad(total)(PAIR), 2 * PAIR)
    for f in (total, one):
        with pytest.warns(gw.errors.DegeneracyWarning, match="equal up to rounding"):
            found = gw.hvp(f, PAIR, np.ones((3, 3)))
        assert np.isnan(found).all()


def test_a_function_of_a_matrix_with_equal_values_warns() -> None:
    def exponential(a: Any, decompose: Any) -> Any:
        w, v = decompose(a)
        return np.sum(WEIGHTS * ((v * np.exp(w)) @ v.T))

    for decompose in (linalg.eigh, lambda a: linalg.eigh(a, np.eye(3))):
        for derivative in (
            lambda f: gw.grad(f)(PAIR),
            lambda f: gw.jvp(f, (PAIR,), (np.ones((3, 3)),)),
        ):
            with pytest.warns(gw.errors.DegeneracyWarning, match=r"linalg\.eigh: eigen"):
                derivative(lambda a, d=decompose: exponential(a, d))


MATRICES = np.array([[[1.0, 5.0], [2.0, 1.0]], [[5.0, 1.0], [1.0, 2.0]], [[1.0, 3.0], [9.0, 1.0]]])
LINALG: Any = linalg
OPTIMIZE: Any = optimize
WITH_PIVOTS: dict[str, Any] = {
    "lu_factor": lambda a: LINALG.lu_factor(a)[1],
    "lu_solve": lambda a: LINALG.lu_solve(LINALG.lu_factor(a), np.array([0.5, 1.0])),
    "lu": lambda a: LINALG.lu(a, p_indices=True)[0],
    "lu taken": lambda a: LINALG.lu(a, p_indices=True)[1][LINALG.lu(a, p_indices=True)[0]],
    "qr": lambda a: LINALG.qr(a, pivoting=True)[2],
    "qr used": lambda a: LINALG.qr(a, pivoting=True)[1] @ np.eye(2)[LINALG.qr(a, pivoting=True)[2]],
    "rank": lambda a: LINALG.lstsq(a - np.array([[1, 0], [0, 2]]) * a[0, 0], a)[2],
    "iterations": lambda a: OPTIMIZE.minimize(lambda x: np.sum((x - a[0]) ** 4), a[0] * 0).nit,
}


@pytest.mark.parametrize("fun", WITH_PIVOTS.values(), ids=WITH_PIVOTS)
def test_integers_in_results_are_those_of_each_example(fun: Any) -> None:
    wanted = np.stack([fun(a) for a in MATRICES])
    mapped = gw.vmap(fun, fallback="loop")
    for found in (
        mapped(MATRICES),
        gw.vjp(mapped, MATRICES)[0],
        gw.vmap(lambda a: gw.vjp(fun, a)[0], fallback="loop")(MATRICES),
        gw.vmap(mapped, fallback="loop")(MATRICES[None])[0],
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_gradients_through_pivots_are_those_of_each_example() -> None:
    def f(a: Any) -> Any:
        factors = LINALG.lu_factor(a)
        return np.sum(LINALG.lu_solve(factors, a[0] * 2.0) ** 2)

    wanted = np.stack([gw.grad(f)(a) for a in MATRICES])
    mapped = gw.vmap(f, fallback="loop")
    np.testing.assert_allclose(gw.vmap(gw.grad(f), fallback="loop")(MATRICES), wanted)
    np.testing.assert_allclose(gw.grad(lambda a: np.sum(mapped(a)))(MATRICES), wanted)
    rows = gw.jacrev(mapped)(MATRICES)
    np.testing.assert_allclose(rows[[0, 1, 2], [0, 1, 2]], wanted)


@pytest.mark.parametrize("name", ["lu", "lu_factor", "eig", "qr", "svd", "schur", "eigh"])
def test_factors_of_an_empty_matrix(name: str) -> None:
    nothing = np.zeros((0, 0))
    found = gw.vjp(lambda a: getattr(LINALG, name)(a)[0], nothing)[0]
    assert not found.size
    assert not gw.jvp(lambda a: getattr(LINALG, name)(a)[0], (nothing,), (nothing,))[1].size
