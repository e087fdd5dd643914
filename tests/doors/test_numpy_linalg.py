"""np.linalg on tracked arrays, unmodified: NumPy's value, the numerical gradient."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
import gradwrap.scipy.linalg as sl
from against_numpy import assert_same, check
from gradwrap.errors import NoRuleError
from gradwrap.testing import check_grads
from lambdas import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from lambdas import Function

SCIPY: Any = sl
ANY: Any = np.linalg  # for calls that NumPy's own types are too narrow for
RANDOM = np.random.default_rng(5)
A = RANDOM.uniform(0.5, 2.0, (3, 4))
S = RANDOM.uniform(-1.0, 1.0, (3, 3)) + np.diag([2.0, 4.0, 6.0])
STACK = RANDOM.uniform(-1.0, 1.0, (2, 3, 3)) + np.diag([2.0, 4.0, 6.0])
TURNING = np.array([[1.0, -2.0, 0.3], [2.0, 1.0, 0.1], [0.2, 0.4, 3.0]])
V = RANDOM.uniform(0.5, 2.0, 3)
Z = S + 1j * RANDOM.uniform(-1.0, 1.0, (3, 3))


def both(x: Any) -> Any:
    """Make a matrix Hermitian."""
    return x + np.conj(x.T)


CASES: list[tuple[str, Function, tuple[Any, ...]]] = [
    ("cholesky", lambda x: ANY.cholesky(both(x)), (S,)),
    ("cholesky upper", lambda x: ANY.cholesky(both(x), upper=True), (S,)),
    ("qr", np.linalg.qr, (A.T,)),
    ("qr wide", np.linalg.qr, (A,)),
    ("qr r", lambda x: np.linalg.qr(x, "r"), (A.T,)),
    ("qr complete", lambda x: np.linalg.qr(x, mode="complete").R, (A.T,)),
    ("qr stack", np.linalg.qr, (STACK,)),
    ("eigh", lambda x: np.linalg.eigh(both(x)), (S,)),
    ("eigvalsh", lambda x: np.linalg.eigvalsh(both(x)), (S,)),
    ("eigvalsh U", lambda x: np.linalg.eigvalsh(both(x), "U"), (S,)),
    ("eigvalsh complex", lambda x: np.linalg.eigvalsh(both(x), UPLO="U"), (Z,)),
    ("eig, real", np.linalg.eig, (S,)),
    ("eigvals, real", np.linalg.eigvals, (S,)),
    ("eigvals, real matrix", np.linalg.eigvals, (TURNING,)),
    ("eigvals complex", np.linalg.eigvals, (Z,)),
    ("svd", np.linalg.svd, (S,)),
    ("svd not full", lambda x: np.linalg.svd(x, full_matrices=False), (A,)),
    ("svd values", lambda x: np.linalg.svd(x, compute_uv=False), (A,)),
    ("svd full, values", lambda x: np.linalg.svd(x)[1], (A,)),
    ("svd hermitian", lambda x: np.linalg.svd(both(x) - 7 * np.eye(3), hermitian=True), (S,)),
    (
        "svd hermitian values",
        lambda x: ANY.svd(both(x) - 7 * np.eye(3), compute_uv=False, hermitian=True),
        (S,),
    ),
    ("svdvals", np.linalg.svdvals, (STACK,)),
    ("pinv", np.linalg.pinv, (A,)),
    ("pinv stack", lambda x: ANY.pinv(x, 1e-10), (STACK,)),
    ("pinv rtol", lambda x: ANY.pinv(x, rtol=1e-10), (A.T,)),
    ("pinv hermitian", lambda x: ANY.pinv(both(x), hermitian=True), (S,)),
    ("pinv complex", np.linalg.pinv, (Z[:, :2],)),
    ("matrix_power", lambda x: np.linalg.matrix_power(x, 5), (S,)),
    ("matrix_power 1", lambda x: np.linalg.matrix_power(x, 1) * S, (STACK,)),
    ("matrix_power 0", lambda x: np.linalg.matrix_power(x, 0) * x, (STACK,)),
    ("matrix_power -3", lambda x: np.linalg.matrix_power(x, -3), (STACK,)),
    ("cross", lambda x, y: np.cross(x, y), (S, V)),
    ("cross of fewer axes", lambda x, y: np.cross(x, y, axisa=0), (S, V)),
    ("cross axes", lambda x, y: np.cross(x, y, axisa=0, axisb=1, axisc=0), (A, A.T)),
    ("linalg.cross", lambda x, y: ANY.cross(x, y, axis=0), (A, A**2)),
    ("cond", np.linalg.cond, (S,)),
    ("cond -2", lambda x: np.linalg.cond(x, -2), (STACK,)),
    ("cond 1", lambda x: np.linalg.cond(x, 1), (S,)),
    ("cond fro", lambda x: np.linalg.cond(x, "fro"), (STACK,)),
    ("norm nuc", lambda x: np.linalg.norm(x, "nuc"), (A,)),
    ("norm 2", lambda x: np.linalg.norm(x, 2, axis=(1, 2)), (STACK,)),
    ("lstsq", lambda a, b: ANY.lstsq(a, b)[0], (A.T, A[0])),
    ("lstsq residuals", lambda a, b: ANY.lstsq(a, b)[1], (A[:2].T, A.T[:, 1:])),
    ("lstsq singular values", lambda a, b: ANY.lstsq(a, b, rcond=-1)[3], (A, V)),
    ("lstsq underdetermined", lambda a, b: ANY.lstsq(a, b)[:2], (A, V)),
    ("tensorinv", lambda x: ANY.tensorinv(x.reshape(3, 3, 1), ind=1), (S,)),
    ("tensorsolve", lambda x, b: ANY.tensorsolve(x.reshape(3, 1, 3), b), (S, V[:, None])),
    ("tensorsolve of as many axes", ANY.tensorsolve, (S[:1, :1], V[:1, None])),
    (
        "tensorsolve axes",
        lambda x, b: ANY.tensorsolve(x.reshape(3, 3, 1), b, axes=(0,)),
        (S, V[:, None]),
    ),
]


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_value_is_numpys_and_derivatives_are_numerical(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    check(function, args)


@pytest.mark.parametrize(
    ("function", "matrix", "fields"),
    rows(
        [
            (np.linalg.svd, S, ("U", "S", "Vh")),
            (lambda x: np.linalg.svd(x, hermitian=True), S, ("U", "S", "Vh")),
            (np.linalg.qr, S, ("Q", "R")),
            (np.linalg.eigh, S, ("eigenvalues", "eigenvectors")),
            (np.linalg.eig, S, ("eigenvalues", "eigenvectors")),
            (np.linalg.eig, TURNING, ("eigenvalues", "eigenvectors")),
        ]
    ),
    ids=["svd", "svd hermitian", "qr", "eigh", "eig real", "eig complex"],
)
def test_results_have_numpys_names(
    function: Callable[[Any], Any], matrix: Any, fields: tuple[str, ...]
) -> None:
    found = function(gw.wrap(matrix, requires_grad=True))

    assert found._fields == fields == function(matrix)._fields
    for name in fields:
        part: Any = getattr(found, name)
        assert part.requires_grad
        np.testing.assert_allclose(gw.unwrap(part), getattr(function(matrix), name), rtol=1e-12)


@pytest.mark.parametrize("matrix", [both(S), both(Z)], ids=["real", "complex"])
def test_eigh_of_the_upper_triangle_reads_no_other(matrix: Any) -> None:
    upper = np.triu(matrix)

    def rebuilt(x: Any) -> Any:
        w, v = np.linalg.eigh(x, UPLO="U")
        return np.real(np.sum((v * np.exp(w / 4)) @ np.conj(v.T) * Z))

    value, gradient = gw.value_and_grad(rebuilt)(upper)

    np.testing.assert_allclose(value, rebuilt(matrix), rtol=1e-12)
    shared = gw.grad(rebuilt)(matrix)
    np.testing.assert_allclose(shared, np.conj(shared.T), rtol=1e-12)
    folded = np.triu(shared) + np.triu(shared, 1)  # the other triangle has no effect
    np.testing.assert_allclose(gradient, folded, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "function",
    rows(
        [
            lambda a: ANY.cholesky(a),
            lambda a: ANY.cholesky(a.T, upper=True),
            lambda a: np.linalg.eigvalsh(a),
            lambda a: ANY.eigh(a.T, UPLO="U")[0],
            lambda a: np.linalg.svd(a, hermitian=True)[1],
            lambda a: SCIPY.cholesky(a, lower=True),
            lambda a: SCIPY.cho_factor(a.T)[0],
            lambda a: SCIPY.eigh(a)[0],
            lambda a: SCIPY.eigvalsh(a.T, lower=False),
            lambda a: SCIPY.solve(a, np.ones(2), assume_a="pos", lower=True),
            lambda a: SCIPY.inv(a.T, assume_a="sym"),
        ]
    ),
)
def test_a_matrix_of_one_triangle_has_the_gradient_of_that_triangle(
    function: Callable[[Any], Any],
) -> None:
    """A program may fill the triangle that is read, and leave zeros or anything in the other."""

    def loss(x: Any) -> Any:
        lower = gnp.array([[x[0], 7.0 * x[2]], [x[1], x[2]]])
        return np.sum(np.cos(np.arange(1.0, 3.0)) * function(lower))

    x = np.array([2.0, 0.4, 3.0])
    steps = 1e-6 * np.eye(3)
    expected = np.array([(loss(x + e) - loss(x - e)) / 2e-6 for e in steps])

    np.testing.assert_allclose(gw.grad(loss)(x), expected, rtol=1e-6, atol=1e-8)
    along = [gw.jvp(loss, (x,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(along, expected, rtol=1e-6, atol=1e-8)


def test_a_compiled_function_may_fill_one_triangle_or_both() -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.linalg.eigvalsh(gnp.array([[x[0], x[3]], [x[1], x[2]]])) ** 3)

    gradient = gw.grad(loss)
    compiled = gw.compile(gradient)

    for x in ([2.0, 0.4, 3.0, 0.4], [2.0, 0.4, 3.0, 0.0], [2.1, 0.4, 3.0, 0.4]):
        np.testing.assert_allclose(compiled(np.array(x)), gradient(np.array(x)), rtol=1e-12)


def test_matrix_rank_is_a_plain_number() -> None:
    x = gw.wrap(np.ones((3, 3)), requires_grad=True)

    assert int(np.linalg.matrix_rank(x)) == 1
    assert not np.linalg.matrix_rank(x).requires_grad
    assert int(np.linalg.matrix_rank(x, tol=1e3)) == 0


def test_cond_of_a_singular_matrix_is_infinite_as_in_numpy() -> None:
    x = gw.wrap(np.diag([1.0, 0.0]), requires_grad=True)

    assert np.linalg.cond(x).item() == np.inf


def test_lstsq_gives_rank_and_no_residuals_where_numpy_has_none() -> None:
    a = gw.wrap(np.ones((4, 2)), requires_grad=True)
    expected = np.linalg.lstsq(np.ones((4, 2)), np.arange(4.0))

    found = np.linalg.lstsq(a, np.arange(4.0))

    assert found[2] == expected[2] == 1
    assert_same(gw.unwrap(found[1]), expected[1])
    np.testing.assert_allclose(gw.unwrap(found[0]), expected[0], rtol=1e-12)


def test_lstsq_of_a_matrix_with_a_large_condition_number() -> None:
    places = np.linspace(0.0, 0.95, 120)

    def fitted(t: Any) -> Any:
        columns: Any = np.cos(np.arange(40) * 1.5 * t[0] * places[:, None])
        found: Any = ANY.lstsq(columns, np.sin(30.0 * t[0] * places**2), rcond=None)[0]
        return np.exp(-places) @ columns @ found

    t, step = np.array([0.6]), 1e-5
    assert np.linalg.cond(np.cos(np.arange(40) * 0.9 * places[:, None])) > 1e15
    slope = (fitted(t + step) - fitted(t - step)) / (2 * step)
    value, gradient = gw.value_and_grad(fitted)(t)
    np.testing.assert_allclose(value, fitted(t), rtol=1e-6)
    np.testing.assert_allclose(gradient, [slope], rtol=1e-5)
    np.testing.assert_allclose(gw.jvp(fitted, (t,), (np.ones(1),))[1], slope, rtol=1e-5)


def test_derivatives_of_lstsq_of_deficient_rank() -> None:
    column = np.array([[1.0], [0.3], [-0.7], [2.0]])

    def fitted(t: Any) -> Any:
        a = column * t[0] @ np.array([[1.0, 2.0, 0.5]]) + t[1] * column**2 @ np.ones((1, 3))
        found: Any = ANY.lstsq(a, t[2] * np.arange(8.0).reshape(4, 2) ** 2, rcond=None)[0]
        return np.sum(found * np.arange(6.0).reshape(3, 2))

    check_grads(fitted, (np.array([1.2, 0.4, 0.8]),), order=2)


@pytest.mark.parametrize(
    ("function", "error", "text"),
    rows(
        [
            (
                lambda x: np.linalg.qr(x, mode="raw"),
                NoRuleError,
                r"mode='raw'.*Fix: pass mode='reduced'",
            ),
            (lambda x: ANY.eigh(x, UPLO="X"), ValueError, "UPLO argument must be 'L' or 'U'"),
            (lambda x: ANY.tensorinv(x, ind=0), ValueError, r"Invalid ind argument\."),
            (
                lambda x: np.linalg.matrix_power(x[:2], 2),
                ValueError,
                r"shape \(2, 3\).*Fix: pass sq",
            ),
            (lambda x: ANY.matrix_power(x, 0.5), TypeError, "integer"),
            (lambda x: ANY.cholesky(-x), np.linalg.LinAlgError, "positive definite"),
            (lambda x: np.linalg.eigh(x[:2]), np.linalg.LinAlgError, "square"),
            (lambda x: np.linalg.eig(x[:2]), np.linalg.LinAlgError, "square"),
            (lambda x: ANY.cholesky(x[:2]), np.linalg.LinAlgError, "square"),
            (lambda x: np.linalg.svd(x[0]), np.linalg.LinAlgError, "dimension"),
        ]
    ),
)
def test_bad_input_has_the_librarys_error(
    function: Callable[[Any], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        function(gw.wrap(S, requires_grad=True))


def test_submodules_of_the_drop_in_are_imported_by_name() -> None:
    drop_in = importlib.import_module("gradwrap.numpy")
    linalg = importlib.import_module("gradwrap.numpy.linalg")
    assert linalg is drop_in.linalg
    assert linalg.norm == np.linalg.norm
    samplers = importlib.import_module("gradwrap.numpy.random")
    assert samplers.default_rng is importlib.import_module("gradwrap.random").default_rng
