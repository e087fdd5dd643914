"""`linear_operator`, `hessian_diagonal`, `fixed_point`, and options of `linearize` and `vmap`."""

from __future__ import annotations

import sys
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
from gradwrap.errors import (
    ArgnumsError,
    ConvergenceError,
    MissingToolError,
    NonDifferentiableInputError,
    NonScalarOutputError,
    NotAnArrayError,
    RuleResultError,
    VmapAxesError,
)
from lambdas import fn

linalg: Any = pytest.importorskip("scipy.sparse.linalg")
gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
P: dict[str, Any] = {"w": np.array([1.0, 2.0, 3.0]), "b": 2.0, "flag": True}


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def outputs(p: Any) -> Any:
    return {"a": np.tanh(0.2 * p["w"] * p["b"]), "c": np.sum(p["w"])}


def matrix() -> Any:
    _, unravel = gw.ravel_pytree(P)
    flat = gw.ravel_pytree(P)[0]
    return gw.jacobian(fn(lambda v: gw.ravel_pytree(outputs(unravel(v)))[0]))(flat)


# linear_operator ----------------------------------------------------------------------------------


def test_products_are_those_of_the_jacobian() -> None:
    operator = gw.linear_operator(outputs, P)
    assert isinstance(operator, linalg.LinearOperator)
    assert (operator.shape, operator.dtype) == ((4, 4), np.float64)
    J, v = matrix(), np.arange(4.0)
    close(operator @ v, J @ v)
    close(operator.rmatvec(v), J.T @ v)
    close(operator @ np.eye(4), J)
    close(operator.H @ np.eye(4), J.T)
    close(operator.matvec(np.array([[1], [0], [0], [2]])), J @ np.array([[1], [0], [0], [2]]))


def test_complex_ones_have_an_adjoint() -> None:
    A = np.array([[1 + 1j, 2.0], [0.5j, -1.0], [0.0, 1j]])
    operator = gw.linear_operator(fn(lambda z: A @ z), np.ones(2, complex))
    close(operator @ np.eye(2), A)
    close(operator.rmatmat(np.eye(3)), A.conj().T)
    assert operator.dtype == np.complex128


def test_the_function_runs_once_for_each_direction() -> None:
    runs = 0

    def counted(x: Any) -> Any:
        nonlocal runs
        runs += 1
        return np.sin(x)

    operator = gw.linear_operator(counted, np.ones(3))
    for _ in range(3):
        operator.matvec(np.ones(3))
        operator.rmatvec(np.ones(3))
    assert runs == 2


def test_what_is_written_to_the_point_later_does_not_matter() -> None:
    x = np.ones(2)
    operator = gw.linear_operator(np.square, x)
    x[:] = 5.0
    close(operator.matvec(np.ones(2)), [2.0, 2.0])
    close(operator.rmatvec(np.ones(2)), [2.0, 2.0])


def test_scipys_solvers_take_it() -> None:
    A = np.diag(np.arange(2.0, 12.0)) + 0.1
    operator = gw.linear_operator(fn(lambda x: A @ x + np.sin(x)), np.zeros(10))
    found, failed = linalg.gmres(operator, np.ones(10), rtol=1e-12)
    assert failed == 0
    np.testing.assert_allclose((A + np.eye(10)) @ found, np.ones(10), rtol=1e-8)
    least = linalg.lsqr(operator, np.ones(10), atol=1e-14, btol=1e-14)[0]
    np.testing.assert_allclose(least, found, rtol=1e-6)
    largest = linalg.svds(operator, k=1, return_singular_vectors=False, v0=np.ones(10))
    np.testing.assert_allclose(largest, np.linalg.norm(A + np.eye(10), 2))


def test_operators_of_other_libraries_take_numpys_vectors() -> None:
    operator = gw.linear_operator(fn(lambda x: x * x), strict.asarray([1.0, 3.0]))
    close(operator @ np.eye(2), np.diag([2.0, 6.0]))
    assert type(operator.rmatvec(np.ones(2))) is np.ndarray


def test_bad_operators_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotAnArrayError, match="x holds no floating-point array"):
        gw.linear_operator(outputs, {"name": "a"})
    with pytest.raises(NotAnArrayError, match="what nothing returned holds no"):
        gw.linear_operator(nothing, np.ones(2))
    monkeypatch.setitem(sys.modules, "scipy.sparse.linalg", None)
    with pytest.raises(MissingToolError, match="linear_operator needs SciPy"):
        gw.linear_operator(np.sin, np.ones(2))


def nothing(_: Any) -> None:
    """Return nothing."""


# hessian_diagonal ---------------------------------------------------------------------------------


def energy(p: Any) -> Any:
    return np.sum(p["w"] ** 3) * p["b"] ** 2 + np.sum(np.outer(p["w"], p["w"]))


@pytest.mark.parametrize("chunk_size", [None, 1, 3])
def test_it_is_the_diagonal_of_the_hessian(chunk_size: int | None) -> None:
    found = gw.hessian_diagonal(energy, chunk_size=chunk_size)(P)
    close(found["w"], 6.0 * P["w"] * 4.0 + 2.0)
    close(found["b"], 2.0 * 36.0)
    assert found["flag"] is None
    x = np.arange(6.0).reshape(2, 3)
    cube = fn(lambda x: np.sum(x @ x.T @ x) / 6.0)
    wanted = np.diag(gw.hessian(cube)(x).reshape(6, 6)).reshape(2, 3)
    close(gw.hessian_diagonal(cube, chunk_size=chunk_size)(x), wanted)


def test_a_sum_of_functions_of_elements_makes_no_matrix() -> None:
    n = 1_000_000  # whose matrix would take 8 TB
    x = np.linspace(0.1, 1.0, n)
    found = gw.hessian_diagonal(fn(lambda x: np.sum(np.exp(x) * x)))(x)
    close(found, np.exp(x) * (x + 2.0))


def test_it_takes_positions_and_names() -> None:
    f = fn(lambda a, x: np.sum(a * x**3))
    close(gw.hessian_diagonal(f, 1)(2.0, np.arange(3.0)), [0.0, 12.0, 24.0])
    close(gw.hessian_diagonal(f, "x")(2.0, x=np.arange(3.0)), [0.0, 12.0, 24.0])
    assert gw.hessian_diagonal(fn(lambda x: x**3))(2.0) == 12.0
    close(gw.hessian_diagonal(np.sum)(np.ones(3)), np.zeros(3))


def test_it_nests() -> None:
    f = fn(lambda x: np.sum(x**4))
    close(gw.grad(fn(lambda x: np.sum(gw.hessian_diagonal(f)(x))))(np.arange(3.0)),
          24.0 * np.arange(3.0))  # fmt: skip
    rows = np.arange(6.0).reshape(2, 3)
    close(gw.vmap(gw.hessian_diagonal(f))(rows), 12.0 * rows**2)


def test_bad_diagonals_are_refused() -> None:
    with pytest.raises(NonScalarOutputError, match=r"returned an array of shape \(2,\)"):
        gw.hessian_diagonal(np.sin)(np.ones(2))
    with pytest.raises(NonDifferentiableInputError, match="needs real arguments"):
        gw.hessian_diagonal(fn(lambda z: np.sum(abs(z))))(np.ones(2, complex))
    with pytest.raises(ArgnumsError, match="takes a function"):
        gw.hessian_diagonal(np.ones(2))


# fixed_point --------------------------------------------------------------------------------------


def kepler(eccentricity: Any, mean: Any) -> Any:
    return gw.fixed_point(lambda angle: mean + eccentricity * np.sin(angle), mean)


def test_it_is_found_and_differentiated() -> None:
    value, (by_e, by_m) = gw.value_and_grad(kepler, (0, 1))(0.1, 1.0)
    assert value - 0.1 * np.sin(value) == pytest.approx(1.0, abs=1e-14)
    slope = 1 / (1 - 0.1 * np.cos(value))
    close([by_e, by_m], [np.sin(value) * slope, slope])
    close(gw.jvp(kepler, (0.1, 1.0), (1.0, 0.0))[1], by_e)
    step = 1e-4
    second = (gw.grad(kepler)(0.1 + step, 1.0) - gw.grad(kepler)(0.1 - step, 1.0)) / (2 * step)
    assert gw.hessian(kepler)(0.1, 1.0) == pytest.approx(second, rel=1e-6)


def test_it_works_under_vmap_and_on_the_tape() -> None:
    e = np.array([0.1, 0.2])
    rows = gw.vmap(gw.grad(kepler), in_axes=(0, None))(e, 1.0)
    close(rows, [gw.grad(kepler)(one, 1.0) for one in e])
    w = gw.wrap(np.array(0.1), requires_grad=True)
    kepler(w, 1.0).backward()
    close(w.grad, gw.grad(kepler)(0.1, 1.0))


def test_containers_dtypes_and_libraries() -> None:
    start = {"a": np.ones(2, np.float32), "b": np.float32(0.0)}
    found = gw.fixed_point(lambda p: {"a": np.cos(p["a"]), "b": p["a"][0] / 2}, start)
    np.testing.assert_allclose(found["a"], 0.7390851, rtol=1e-5)
    assert found["a"].dtype == found["b"].dtype == np.float32
    of_strict = gw.fixed_point(lambda x: x.__array_namespace__().cos(x), strict.ones(2))
    np.testing.assert_allclose(np.asarray(of_strict), 0.7390851332151607, rtol=1e-12)


def test_a_large_one_with_an_iterative_solver() -> None:
    def neumann(linear: Any, y: Any) -> Any:  # linear(x) = J x - x
        x = -y
        for _ in range(60):
            x = linear(x) + x - y
        return x

    def total(a: Any) -> Any:
        shifted = lambda x: 0.3 * np.sin(np.roll(x, 1)) + a
        return np.sum(gw.fixed_point(shifted, np.zeros(500), tangent_solve=neumann))

    slope = gw.grad(total)(1.0)
    assert slope == pytest.approx((total(1.0 + 1e-5) - total(1.0 - 1e-5)) / 2e-5, rel=1e-7)


def test_what_does_not_converge_is_refused() -> None:
    with pytest.raises(ConvergenceError, match=r"fixed_point of <lambda> has not converged"):
        gw.fixed_point(lambda x: 1.0 - x, 0.3, maxiter=20)
    with pytest.raises(ConvergenceError, match=r"start nearer, allow more with maxiter="):
        gw.fixed_point(lambda x: x * x, 3.0)
    assert gw.fixed_point(np.cos, 1.0, tol=1e-3, maxiter=30) == pytest.approx(0.739, abs=1e-3)
    with pytest.raises(RuleResultError, match="fun returned the structure"):
        gw.fixed_point(lambda p: [p["a"]], {"a": 1.0})


# Options ------------------------------------------------------------------------------------------


def test_linearize_with_aux() -> None:
    out, push, aux = gw.linearize(fn(lambda x: (x**2, {"next": x + 1})), 3.0, has_aux=True)
    assert (out, push(1.0), aux) == (9.0, 6.0, {"next": 4.0})
    with pytest.raises(NotAnArrayError, match="has_aux=True needs a function that returns a pair"):
        gw.linearize(np.sin, 3.0, has_aux=True)


def test_vmap_of_a_given_size() -> None:
    close(gw.vmap(fn(lambda: np.ones(2)), axis_size=3)(), np.ones((3, 2)))
    close(gw.vmap(fn(lambda x: 2 * x), in_axes=None, axis_size=3)(np.ones(2)), 2 * np.ones((3, 2)))
    close(gw.vmap(np.sin, axis_size=2)(np.zeros(2)), np.zeros(2))
    assert gw.vmap(fn(lambda: 1.0), out_axes=None, axis_size=3)() == 1.0
    with pytest.raises(VmapAxesError, match="axis_size has 3, x has 2"):
        gw.vmap(fn(lambda x: x), axis_size=3)(np.ones(2))
    with pytest.raises(VmapAxesError, match="axis_size=-1"):
        gw.vmap(np.sin, axis_size=-1)
    with pytest.raises(VmapAxesError, match="or axis_size"):
        gw.vmap(np.sin, in_axes=None)(np.ones(2))


@pytest.mark.peers
def test_options_are_those_of_jax() -> None:
    jax: Any = pytest.importorskip("jax")
    x = np.arange(3.0)
    f = fn(lambda x: (x**2, x + 1))
    (out, push, aux), (theirs, their_push, their_aux) = (
        library.linearize(f, x, has_aux=True) for library in (gw, jax)
    )
    np.testing.assert_allclose(out, theirs)
    np.testing.assert_allclose(push(np.ones(3)), their_push(np.ones_like(np.asarray(theirs))))
    np.testing.assert_allclose(aux, their_aux)
    for library in (gw, jax):
        found = library.vmap(lambda x: 2 * x, in_axes=None, axis_size=2)(x)
        np.testing.assert_allclose(found, [2 * x, 2 * x])
