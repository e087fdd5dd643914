"""Linear algebra: conventions at degenerate points, closed forms, names, errors."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import DegeneracyWarning
from gradwrap.scipy import linalg as scipys_linalg
from harness import cases_of, to_numpy
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
FILES = ("linear_algebra", "matrix_functions", "norms", "decompositions")
RANDOM = np.random.default_rng(7)
W = np.array([1.0, 2.0, 3.0])
C = RANDOM.standard_normal((3, 3))
M = RANDOM.standard_normal((3, 3)) + 3.0 * np.eye(3)
Z = M + 1j * RANDOM.standard_normal((3, 3))
SPD = M @ M.T
HPD = Z @ np.conj(Z.T)
ROTATION, _ = np.linalg.qr(RANDOM.standard_normal((3, 3)))
EYE = np.eye(3)
ONES = np.ones((2, 2))


def linalg(x: Any) -> Any:
    """Return the `linalg` extension of an array's namespace."""
    return x.__array_namespace__().linalg


def rebuilt(vectors: Any) -> Any:
    """Return the projector on the span of the vectors, which does not depend on their choice."""
    return vectors @ np.conj(vectors.T)


# Degenerate points


@pytest.mark.parametrize(
    ("loss", "x", "wanted"),
    rows(
        [
            (lambda x: np.sum(W * linalg(x).eigh(x)[0]), EYE, np.diag(W)),
            (lambda x: np.sum(W * linalg(x).eigvalsh(x)), EYE, np.diag(W)),
            (lambda x: np.sum(C * rebuilt(linalg(x).eigh(x)[1])), EYE, 0.0 * EYE),
            (lambda x: np.sum(linalg(x).eigvals(x)).real, EYE, EYE),
            (lambda x: np.sum(linalg(x).eig(x)[0] ** 2).real, 2.0 * EYE, 4.0 * EYE),
            (lambda x: np.sum(W * linalg(x).svd(x)[1]), EYE, np.diag(W)),
            (lambda x: np.sum(W * linalg(x).svdvals(x)), EYE, np.diag(W)),
            (lambda x: np.sum(C * rebuilt(linalg(x).svd(x)[0])), EYE, 0.0 * EYE),
            (lambda x: np.sum(linalg(x).svdvals(x)), ONES, 0.5 * ONES),
            (lambda x: np.sum(linalg(x).svdvals(x)), np.zeros((2, 3)), np.zeros((2, 3))),
            (lambda x: np.linalg.norm(x, "nuc"), EYE, EYE),
            (lambda x: np.sum(linalg(x).pinv(x)), ONES, -0.25 * ONES),
        ]
    ),
    ids=[
        "eigh values",
        "eigvalsh",
        "eigh vectors",
        "eigvals",
        "eig values",
        "svd values",
        "svdvals",
        "svd vectors",
        "svdvals, rank 1",
        "svdvals of zeros",
        "nuclear norm",
        "pinv, rank 1",
    ],
)
def test_degenerate_point_has_the_decided_gradient(
    loss: Callable[[Any], Any], x: Any, wanted: Any
) -> None:
    np.testing.assert_allclose(gw.grad(loss)(x), wanted, rtol=1e-12, atol=1e-12)


def test_span_of_equal_eigenvalues_has_its_exact_gradient() -> None:
    """The projector on a double eigenvalue's space: the pair is left out, the gap to the third
    is not.
    """

    def projector(x: Any) -> Any:
        x = (x + x.T) / 2
        return rebuilt(linalg(x).eigh(x)[1][:, :2])

    x = ROTATION @ np.diag([1.0, 1.0, 3.0]) @ ROTATION.T

    gw.testing.check_grads(projector, [x], order=1)


@pytest.mark.parametrize("full_matrices", [True, False])
def test_polar_factor_of_a_rotation_has_its_exact_gradient(full_matrices: bool) -> None:
    """All singular values are equal, and yet U V^H moves smoothly."""

    def polar(x: Any) -> Any:
        u, _, vh = linalg(x).svd(x, full_matrices=full_matrices)
        return u @ vh

    gw.testing.check_grads(polar, [ROTATION], order=1)
    gradient = gw.grad(fn(lambda x: np.sum(C * polar(x))))(ROTATION)
    inner = ROTATION.T @ C
    np.testing.assert_allclose(gradient, ROTATION @ (inner - inner.T) / 2, rtol=1e-10, atol=1e-12)


TALL = RANDOM.standard_normal((5, 3))
CUBE = RANDOM.standard_normal((5, 5))


@pytest.mark.parametrize("shape", [(4, 2), (5, 3), (5, 4), (3, 1), (2, 4, 2), (2, 3)])
def test_columns_that_qr_adds_are_lapacks(shape: tuple[int, ...]) -> None:
    """They are a choice, and a smooth function of the matrix: a product of reflections."""
    x = np.random.default_rng(3).standard_normal(shape)
    weights = RANDOM.standard_normal((shape[-2], shape[-2]))

    def loss(x: Any) -> Any:
        q, r = np.linalg.qr(x, mode="complete")
        return np.sum(weights * np.abs(q - 0.2j) ** 3) + np.sum(np.abs(r) ** 3)

    gw.testing.check_grads(loss, [x], order=2)
    gw.testing.check_grads(fn(lambda x: loss(x + 1j * x**2)), [x], order=1)


def test_columns_that_qr_adds_to_a_triangle_are_determined_by_their_span() -> None:
    """There LAPACK reflects nothing, and its choice jumps nearby."""
    triangle = np.triu(TALL)

    def added(x: Any) -> Any:
        return np.linalg.qr(x, mode="complete")[0][:, 3:]

    gw.testing.check_grads(fn(lambda x: rebuilt(added(x)) @ CUBE), [triangle], order=1)
    with pytest.warns(gw.errors.DegeneracyWarning, match="complete those of the matrix"):
        gradient = gw.grad(fn(lambda x: np.sum(CUBE[:, :2] * added(x))))(triangle)
    assert np.isnan(gradient).all()


def last_left(x: Any) -> Any:
    return np.linalg.svd(x)[0][:, 3:]


def last_right(x: Any) -> Any:
    return np.linalg.svd(x.T)[2][3:].T


@pytest.mark.parametrize("added", [last_left, last_right])
def test_vectors_that_svd_adds_have_a_gradient_where_their_span_matters_alone(added: Any) -> None:
    gw.testing.check_grads(fn(lambda x: rebuilt(added(x)) @ CUBE), [TALL], order=2)
    residual = gw.grad(fn(lambda x: np.sum((added(x).T @ x) ** 2)))(TALL)  # zero up to rounding
    np.testing.assert_allclose(residual, 0.0, atol=1e-20)
    with pytest.warns(gw.errors.DegeneracyWarning, match=r"full_matrices=False"):
        gradient = gw.grad(fn(lambda x: np.sum(CUBE[:, :2] * added(x))))(TALL)
    assert np.isnan(gradient).all()


def test_one_vector_that_svd_adds_is_a_choice_of_sign() -> None:
    gw.testing.check_grads(fn(lambda x: np.linalg.svd(x)[0][:, 4:]), [CUBE[:, :4]], order=2)


def test_near_ties_are_not_taken_for_equal() -> None:
    gap = 1e-6

    gradient = gw.grad(fn(lambda x: linalg(x).eigh(x)[1][0, 1]))(np.diag([1.0, 1.0 + gap]))

    np.testing.assert_allclose(np.abs(gradient), [[0.0, 0.5 / gap], [0.5 / gap, 0.0]], rtol=1e-6)


@pytest.mark.parametrize("x", [EYE, np.diag([1.0, 0.0, 0.0]), np.zeros((3, 3)), np.diag(W)])
def test_det_has_every_order_at_singular_and_degenerate_matrices(x: Any) -> None:
    gw.testing.check_grads(fn(lambda a: linalg(a).det(a)), [x], order=4)


def test_nuclear_norm_has_a_second_order_at_equal_singular_values() -> None:
    gw.testing.check_grads(fn(lambda x: np.linalg.norm(x, "nuc")), [EYE], order=2)


# Closed forms


@pytest.mark.parametrize("matrix", [SPD, HPD], ids=["real", "complex"])
@pytest.mark.parametrize("upper", [False, True])
def test_log_determinant_by_cholesky_has_the_inverse(matrix: Any, upper: bool) -> None:
    def log_determinant(x: Any) -> Any:
        factor = linalg(x).cholesky(x, upper=upper)
        return 2.0 * np.sum(np.log(np.real(np.diagonal(factor))))

    gradient = gw.grad(log_determinant)(matrix)

    np.testing.assert_allclose(gradient, ANY.linalg.inv(matrix), rtol=1e-10)
    np.testing.assert_array_equal(gradient, np.conj(gradient.T))


@pytest.mark.parametrize("matrix", [SPD, HPD], ids=["real", "complex"])
@pytest.mark.parametrize(
    "values", rows([lambda x: linalg(x).eigh(x)[0], lambda x: linalg(x).eigvalsh(x)])
)
def test_sum_of_cubed_eigenvalues_has_three_squares(
    matrix: Any, values: Callable[[Any], Any]
) -> None:
    gradient = gw.grad(fn(lambda x: np.sum(values(x) ** 3)))(matrix)

    np.testing.assert_allclose(gradient, 3.0 * matrix @ matrix, rtol=1e-10)
    np.testing.assert_array_equal(gradient, np.conj(gradient.T))


@pytest.mark.parametrize(
    "loss",
    rows(
        [
            lambda x: np.sum(W * linalg(x).eigh(x)[0]),
            lambda x: np.sum(W * linalg(x).eigvalsh(x)),
            lambda x: linalg(x).eigh(x)[1][0, 1] ** 2,
        ]
    ),
    ids=["eigh values", "eigvalsh", "eigh vectors"],
)
def test_matrix_that_is_not_symmetric_has_the_gradient_of_its_lower_triangle(
    loss: Callable[[Any], Any],
) -> None:
    """The value depends on the triangle that NumPy reads; the gradient is symmetric."""
    lower = np.tril(M)

    value, gradient = gw.value_and_grad(loss)(M)
    wanted, expected = gw.value_and_grad(loss)(lower + np.tril(M, -1).T)

    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(gradient, gradient.T)


@pytest.mark.parametrize("matrix", [SPD, HPD], ids=["real", "complex"])
def test_matrix_logarithm_by_eigh_has_the_gradient_by_differences(matrix: Any) -> None:
    def logarithm(x: Any) -> Any:
        x = (x + np.conj(x.T)) / 2
        w, v = linalg(x).eigh(x)
        return (v * np.log(w)) @ np.conj(v.T)

    gw.testing.check_grads(logarithm, [matrix])


@pytest.mark.parametrize("matrix", [M, Z], ids=["real", "complex"])
def test_sum_of_squared_eigenvalues_has_twice_the_transpose(matrix: Any) -> None:
    """The trace of the square; the argument's own dtype, though eigenvalues are complex."""
    for values in (fn(lambda x: linalg(x).eig(x)[0]), fn(lambda x: linalg(x).eigvals(x))):

        def total(x: Any, values: Callable[[Any], Any] = values) -> Any:
            return np.sum(values(x) ** 2).real

        gradient = gw.grad(total)(matrix)
        assert gradient.dtype == matrix.dtype
        np.testing.assert_allclose(gradient, 2.0 * np.conj(matrix.T), rtol=1e-10)


def test_matrix_with_complex_eigenvalues_has_a_real_gradient() -> None:
    turning = np.array([[1.0, -2.0], [3.0, 1.0]])

    gradient = gw.grad(fn(lambda x: np.sum(np.imag(linalg(x).eigvals(x)) ** 2)))(turning)

    # the imaginary parts are +- sqrt(-b c - (a - d)^2 / 4)
    np.testing.assert_allclose(gradient, [[0.0, -6.0], [4.0, 0.0]], atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("full_matrices", [True, False])
@pytest.mark.parametrize("is_complex", [False, True])
def test_matrix_put_together_again_has_the_identity(
    shape: tuple[int, int], full_matrices: bool, is_complex: bool
) -> None:
    x, weights = RANDOM.standard_normal((2, *shape))
    if is_complex:
        x, weights = x + 1j * weights[::-1], weights + 1j * x
    k = min(shape)

    def by_svd(a: Any) -> Any:
        u, s, vh = linalg(a).svd(a, full_matrices=full_matrices)
        return np.real(np.sum(np.conj(weights) * ((u[:, :k] * s) @ vh[:k])))

    def by_qr(a: Any) -> Any:
        q, r = linalg(a).qr(a, mode="complete" if full_matrices else "reduced")
        return np.real(np.sum(np.conj(weights) * (q @ r)))

    for loss in (by_svd, by_qr):
        np.testing.assert_allclose(gw.grad(loss)(x), weights, rtol=1e-9, atol=1e-9)


def test_added_columns_have_the_gradient_of_their_span() -> None:
    x = RANDOM.standard_normal((4, 2))

    def loss(added: Any) -> Any:
        return np.sum(np.diag(np.arange(4.0)) * rebuilt(added))

    def of_all(a: Any) -> Any:
        return loss(linalg(a).svd(a)[0][:, 2:])

    def of_the_first(a: Any) -> Any:
        return -loss(linalg(a).svd(a, full_matrices=False)[0])

    def by_qr(a: Any) -> Any:
        return loss(linalg(a).qr(a, mode="complete")[0][:, 2:])

    wanted = gw.grad(of_the_first)(x)
    np.testing.assert_allclose(gw.grad(of_all)(x), wanted, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gw.grad(by_qr)(x), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("matrix", [M, Z], ids=["real", "complex"])
@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 6])
def test_power_of_a_matrix_is_that_of_numpy_with_its_derivatives(matrix: Any, n: int) -> None:
    def power(x: Any) -> Any:
        return linalg(x).matrix_power(x, n)

    value, _ = gw.vjp(power, matrix)

    np.testing.assert_allclose(value, np.linalg.matrix_power(matrix, n), rtol=1e-10)
    gw.testing.check_grads(fn(lambda x: power(x) * x), [matrix])
    gw.testing.check_grads(fn(lambda x: power(x) * x), [np.stack([matrix, matrix.T])])


def test_pinv_of_full_rank_is_the_inverse() -> None:
    by_pinv = gw.grad(fn(lambda x: np.sum(C * linalg(x).pinv(x))))(M)
    by_inverse = gw.grad(fn(lambda x: np.sum(C * linalg(x).inv(x))))(M)

    np.testing.assert_allclose(by_pinv, by_inverse, rtol=1e-10, atol=1e-12)


def test_pinv_has_the_gradient_among_matrices_of_its_rank() -> None:
    left, right = RANDOM.standard_normal((4, 2)), RANDOM.standard_normal((2, 3))

    gw.testing.check_grads(fn(lambda a, b: ANY.linalg.pinv(a @ b, rtol=1e-8)), [left, right])


def test_matrix_rank_is_not_tracked() -> None:
    rank = linalg(gw.wrap(ONES, requires_grad=True)).matrix_rank(gw.wrap(ONES, requires_grad=True))

    assert not rank.requires_grad
    assert int(rank) == 1


def test_results_of_several_parts_keep_their_names() -> None:
    x = gw.wrap(SPD, requires_grad=True)

    assert linalg(x).svd(x)._fields == ("U", "S", "Vh")
    assert linalg(x).qr(x)._fields == ("Q", "R")
    assert linalg(x).eigh(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg(x).eig(x).eigenvalues.requires_grad
    assert linalg(x).slogdet(x).logabsdet.requires_grad


@pytest.mark.parametrize("function", ["cholesky", "eigh", "eigvalsh", "eig", "eigvals"])
def test_matrix_that_is_not_square_has_the_librarys_error(function: str) -> None:
    x = gw.wrap(np.ones((2, 3)), requires_grad=True)

    with pytest.raises(np.linalg.LinAlgError, match="square"):
        getattr(linalg(x), function)(x)


def test_power_of_a_matrix_that_is_not_square_says_so() -> None:
    x = gw.wrap(np.ones((2, 3)), requires_grad=True)

    with pytest.raises(ValueError, match=r"matrix_power got .* shape \(2, 3\). Fix: pass square"):
        linalg(x).matrix_power(x, 1)


@pytest.mark.parametrize("device_name", ["CPU_DEVICE", "device1"])
@pytest.mark.parametrize(
    "function",
    rows(
        [
            lambda x: linalg(x).matrix_power(x, 0) * x,
            lambda x: linalg(x).matrix_power(x, -2),
            lambda x: x.__array_namespace__().real(linalg(x).eigvals(x)) ** 2,
            lambda x: linalg(x).matrix_norm(x, ord="nuc"),
            lambda x: linalg(x).outer(x[0, :], x[1, :]),
            lambda x: linalg(x).vecdot(x, x),
        ]
    ),
    ids=["power 0", "power -2", "eigvals", "nuclear norm", "outer", "vecdot"],
)
def test_functions_made_of_others_stay_on_the_device(
    function: Callable[[Any], Any], device_name: str
) -> None:
    import array_api_strict

    device = array_api_strict.Device(device_name)
    x = array_api_strict.asarray(M, device=device)

    def total(a: Any) -> Any:
        return a.__array_namespace__().sum(function(a))

    gradient = gw.grad(total)(x)

    assert gradient.device == device
    np.testing.assert_allclose(to_numpy(gradient), gw.grad(total)(M), rtol=1e-10, atol=1e-12)


def test_rows_have_a_jvp_of_their_own_or_are_linear() -> None:
    """Differentiating a decomposition's VJP again would cost several times its JVP."""
    rows = [case.rule for case in cases_of(*FILES)]
    without = {r.name for r in rows if not r.jvps and r.kind.name not in ("linear", "multilinear")}

    assert without == {"einsum"}


# Equal values, and the triangle that is read ------------------------------------------------------

WARNS = gw.errors.DegeneracyWarning
PAIR = ROTATION @ np.diag([1.0, 1.0, 3.0]) @ ROTATION.T


def of_eigh(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def fun(x: Any) -> Any:
        w, v = np.linalg.eigh(x)
        return np.sum(C * ((v * f(w)) @ v.T))

    return fun


def of_svd(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x)
    return np.sum(C * ((u * np.exp(s)) @ vh))


def of_eig(x: Any) -> Any:
    w, v = np.linalg.eig(x)
    return np.sum(C * ((v * np.exp(w)) @ np.linalg.inv(v))).real


@pytest.mark.parametrize(
    ("fun", "words"),
    [
        (of_eigh(np.exp), "linalg.eigh: eigenvalues 0 and 1 "),
        (of_eigh(np.log), "linalg.eigh: eigenvalues 0 and 1 "),
        (of_svd, "linalg.svd: singular values 0 and 1 "),
        (of_eig, "linalg.eig: eigenvalues 0 and 1 "),
    ],
    ids=["exp", "log", "svd", "eig"],
)
def test_a_function_of_a_matrix_with_equal_values_warns_in_every_mode(fun: Any, words: str) -> None:
    with pytest.warns(WARNS, match=words):
        gradient = gw.grad(fun)(EYE)
    assert np.all(np.isfinite(gradient))
    with pytest.warns(WARNS, match=words):
        gw.jvp(fun, (EYE,), (C + C.T,))
    with pytest.warns(WARNS, match=words):
        gw.vmap(gw.grad(fun))(np.stack([np.diag(W), EYE]))
    with pytest.warns(WARNS, match=words):
        gw.hessian(fun)(EYE)
    x = gw.wrap(EYE, requires_grad=True)
    y = fun(x)
    with pytest.warns(WARNS, match=words):
        y.backward()


@pytest.mark.parametrize("fun", [of_eigh(np.exp), of_svd, of_eig], ids=["eigh", "svd", "eig"])
def test_a_function_of_a_matrix_with_distinct_values_does_not_warn(fun: Any) -> None:
    def symmetric(x: Any) -> Any:
        return fun((x + x.T) / 2)

    gw.testing.check_grads(symmetric, [ROTATION @ np.diag(W) @ ROTATION.T], order=2, rtol=1e-5)


@pytest.mark.parametrize(
    "fun",
    rows(
        [
            lambda x: np.sum(np.linalg.eigh(x)[0] ** 2),
            lambda x: np.sum(np.linalg.eigvalsh(x) ** 2),
            lambda x: np.sum(np.linalg.svd(x)[1] ** 2),
            lambda x: np.sum(C * rebuilt(np.linalg.eigh(x)[1])),
            # of a value that is not one of the equal ones, with its vector
            lambda x: np.linalg.eigh(x)[0][2] * np.linalg.eigh(x)[1][0, 2] ** 2,
        ]
    ),
)
def test_what_is_exact_at_equal_values_does_not_warn(fun: Any) -> None:
    symmetric = fn(lambda x: fun((x + x.T) / 2))
    gw.testing.check_grads(symmetric, [PAIR], order=1)


def test_the_largest_value_and_its_vector_do_not_warn_where_others_are_equal() -> None:
    def fun(x: Any) -> Any:
        w, v = np.linalg.eigh((x + x.T) / 2)
        return w[2] * v[0, 2] * v[1, 2]

    gw.testing.check_grads(fn(fun), [PAIR], order=1, modes=["rev"])


@pytest.mark.parametrize(
    "fun",
    rows(
        [
            lambda x: np.linalg.eigh(x)[1][1, 0],
            lambda x: np.sum(C * np.linalg.eigh(x)[1]),
            lambda x: np.sum(C * np.linalg.svd(x)[0]),
            lambda x: np.sum(C * np.linalg.svd(x)[2]),
            lambda x: np.sum(C * np.linalg.eig(x)[1]).real,
        ]
    ),
)
def test_what_depends_on_the_choice_of_vectors_of_equal_values_is_nan(fun: Any) -> None:
    for x in (EYE, PAIR):
        assert np.all(np.isnan(gw.grad(fun)(x)))


@pytest.mark.parametrize("fun", [np.linalg.eigvalsh, fn(lambda x: np.linalg.svd(x)[1])])
def test_a_second_derivative_of_equal_values_warns(fun: Any) -> None:
    total = fn(lambda x: np.sum(fun(x) ** 3))
    np.testing.assert_allclose(gw.grad(total)(EYE), 3.0 * EYE)
    with pytest.warns(WARNS, match="equal up to rounding"):
        found = gw.hessian(total)(EYE)
    assert np.isnan(found).any()  # a term is not known: no finite number


VALUES: list[Any] = [
    np.linalg.eigvalsh,
    fn(lambda x: np.linalg.eigvalsh(x, UPLO="U")),
    fn(lambda x: np.linalg.eigh(x)[0]),
    fn(lambda x: np.linalg.svd(x)[1]),
    fn(lambda x: np.linalg.svd(x, compute_uv=False)),
]
IN_ANY_ORDER: list[Any] = [
    *VALUES,
    fn(lambda x: np.real(ANY.linalg.eigvals(x))),
    fn(lambda x: np.real(ANY.linalg.eig(x)[0])),
]


@pytest.mark.filterwarnings("ignore::gradwrap.errors.DegeneracyWarning")  # of the sum
@pytest.mark.parametrize("fun", VALUES)
def test_one_of_equal_values_has_no_second_derivative(fun: Any) -> None:
    one, all_alike = fn(lambda x: fun(x)[1]), fn(lambda x: np.sum(fun(x)))
    x, along = np.diag([3.0, 2.0, 2.0]), np.ones((3, 3))  # the middle one is of a pair
    for tangents in (along[None], np.stack([along, 2 * along])):
        with pytest.warns(WARNS, match="equal up to rounding"):
            found = gw.vmap(fn(lambda t: gw.hvp(one, x, t)))(tangents)
        assert np.isnan(found).all()
    np.testing.assert_allclose(gw.hvp(all_alike, x, along), 0.0, atol=1e-12)
    apart = np.diag([3.0, 2.0, 1.0])
    step = 1e-5 * along
    slopes = (gw.grad(one)(apart + step) - gw.grad(one)(apart - step)) / 2e-5
    np.testing.assert_allclose(gw.hvp(one, apart, along), slopes, atol=1e-8)


@pytest.mark.parametrize("values", IN_ANY_ORDER)
@pytest.mark.parametrize("inner", [gw.grad, gw.jacrev, gw.jacfwd])
@pytest.mark.parametrize("outer", [gw.jacrev, gw.jacfwd])
def test_second_derivatives_of_values_are_exact_or_nan(values: Any, inner: Any, outer: Any) -> None:
    """Of distinct values exact; of equal ones NaN, never another finite number."""
    total = fn(lambda x: np.sum(values((x + x.T) / 2) ** 2))
    apart = ROTATION @ np.diag([1.0, 2.0, 3.5]) @ ROTATION.T
    of_squares = fn(lambda x: np.sum(((x + x.T) / 2) ** 2))
    wanted = gw.hessian(of_squares)(apart)
    np.testing.assert_allclose(outer(inner(total))(apart), wanted, atol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WARNS)
        found = outer(inner(total))(PAIR)
    assert np.isnan(found).any()
    np.testing.assert_allclose(found[~np.isnan(found)], wanted[~np.isnan(found)], atol=1e-10)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.DegeneracyWarning")  # it may be one too many
@pytest.mark.parametrize("values", IN_ANY_ORDER)
def test_a_sum_of_equal_values_has_a_second_derivative(values: Any) -> None:
    total = fn(lambda x: np.sum(values((x + x.T) / 2)))
    np.testing.assert_allclose(gw.hessian(total)(PAIR), 0.0, atol=1e-12)


def test_another_library_is_looked_at_under_detect_anomaly_alone() -> None:
    import array_api_strict as strict

    def fun(x: Any) -> Any:
        xp = x.__array_namespace__()
        w, v = xp.linalg.eigh(x)
        return xp.sum(xp.matmul(v * xp.exp(w), xp.matrix_transpose(v)))

    x = strict.eye(2)
    gw.grad(fun)(x)
    with gw.detect_anomaly(), pytest.warns(WARNS, match="eigenvalues 0 and 1"):
        gw.grad(fun)(x)


@pytest.mark.parametrize("uplo", ["U", "L", "u", "l"])
def test_the_triangle_that_is_asked_for_is_read(uplo: str) -> None:
    a = np.array([[2.0, 9.0, 9.0], [1.0, 3.0, 9.0], [0.5, 0.2, 5.0]])

    def fun(x: Any) -> Any:
        w, v = ANY.linalg.eigh(x, uplo)
        return np.sum(W * w) + np.sum(C * v)

    value, gradient = gw.value_and_grad(fun)(a)
    assert value == fun(a)
    found = gw.vjp(fn(lambda x: ANY.linalg.eigh(x, UPLO=uplo)), a)[0]
    for got, wanted in zip(found, ANY.linalg.eigh(a, uplo), strict=True):
        np.testing.assert_array_equal(got, wanted)
    values = fn(lambda x: ANY.linalg.eigvalsh(x, uplo))
    np.testing.assert_array_equal(gw.vjp(values, a)[0], ANY.linalg.eigvalsh(a, uplo))
    step = 1e-6 * (C + C.T)
    slope = (fun(a + step) - fun(a - step)) / 2e-6
    np.testing.assert_allclose(np.sum(gradient * (C + C.T)), slope, rtol=1e-6)
    np.testing.assert_allclose(gw.jvp(fun, (a,), (C + C.T,))[1], slope, rtol=1e-6)
    batch = gw.vmap(gw.grad(fun))(np.stack([a, 2.0 * a]))
    np.testing.assert_allclose(batch[1], gw.grad(fun)(2.0 * a), rtol=1e-10)
    with pytest.raises(ValueError, match="UPLO argument must be"):
        gw.grad(fn(lambda x: np.sum(ANY.linalg.eigh(x, "X")[0])))(a)


# Phases of complex vectors ------------------------------------------------------------------------

scipys: Any = scipys_linalg
WEIGHTS = np.random.default_rng(7).normal(size=(2, 2, 4, 4))


def _complex(x: Any, rows: int, columns: int) -> Any:
    parts = x[: 2 * rows * columns].reshape(2, rows, columns)
    return parts[0] + 1j * parts[1]


def _hermitian(x: Any) -> Any:
    a = _complex(x, 3, 3)
    return a + np.conj(a.T)


def _weighed(*vectors: Any) -> Any:
    total: Any = 0.0
    for vector, (of_real, of_imag) in zip(vectors, WEIGHTS, strict=False):
        one = vector * vector  # LAPACK may change the signs
        rows, columns = one.shape[-2:]
        total = total + np.sum(np.real(one) * of_real[:rows, :columns])
        total = total + np.sum(np.imag(one) * of_imag[:rows, :columns])
    return total


def _svd(x: Any, rows: int, columns: int) -> Any:
    u, s, vh = np.linalg.svd(_complex(x, rows, columns), full_matrices=False)
    return _weighed(u, vh) + np.sum(s**2)


PHASES: dict[str, Any] = {
    "eigh": fn(lambda x: _weighed(np.linalg.eigh(_hermitian(x))[1])),
    "eigh of the upper triangle": fn(lambda x: _weighed(np.linalg.eigh(_hermitian(x), "U")[1])),
    "eigh of a stack": fn(
        lambda x: _weighed(
            np.linalg.eigh(np.stack([_hermitian(x), _hermitian(x) + np.diag([0.3, 2.0, -1.0])]))[1]
        )
    ),
    "eigh of SciPy": fn(lambda x: _weighed(scipys.eigh(_hermitian(x))[1])),
    "eigh of SciPy, upper": fn(lambda x: _weighed(scipys.eigh(_hermitian(x), lower=False)[1])),
    "eig": fn(lambda x: _weighed(np.linalg.eig(_complex(x, 3, 3))[1])),
    "eig of a real matrix": fn(lambda x: _weighed(np.linalg.eig(x[:9].reshape(3, 3))[1])),
    "svd": fn(lambda x: _svd(x, 3, 3)),
    "svd of a tall matrix": fn(lambda x: _svd(x, 4, 2)),
    "values and vectors": fn(
        lambda x: (
            np.sum(np.sin(np.linalg.eigh(_hermitian(x))[0]))
            + np.linalg.eigh(_hermitian(x))[1][1, 2].imag
        )
    ),
}


@pytest.mark.parametrize("name", PHASES)
def test_phases_of_complex_vectors_are_lapacks(name: str) -> None:
    function, x = PHASES[name], np.random.default_rng(3).normal(size=18)
    wanted = [(function(x + 1e-6 * e) - function(x - 1e-6 * e)) / 2e-6 for e in np.eye(18)]
    for transform in (gw.grad, gw.jacfwd):
        np.testing.assert_allclose(transform(function)(x), wanted, rtol=1e-6, atol=1e-6)
    slopes = gw.grad(function)
    second = [(slopes(x + 1e-6 * e) - slopes(x - 1e-6 * e)) / 2e-6 for e in np.eye(18)]
    scale = np.max(np.abs(second))
    np.testing.assert_allclose(gw.hessian(function)(x), second, rtol=1e-5, atol=1e-5 * scale)


def test_a_phase_that_nothing_tells_has_no_derivative() -> None:
    def loss(x: Any) -> Any:  # of a real symmetric matrix at this point: all components are real
        return np.sum(np.imag(np.linalg.eigh(_hermitian(x))[1]) * WEIGHTS[0, 0, :3, :3])

    def invariant(x: Any) -> Any:
        return np.sum(np.abs(np.linalg.eigh(_hermitian(x))[1]) * WEIGHTS[0, 0, :3, :3])

    x = np.concatenate([np.random.default_rng(3).normal(size=9), np.zeros(9)])
    with pytest.warns(DegeneracyWarning, match=r"linalg\.eigh: the loss depends on the phase"):
        assert np.isnan(gw.grad(loss)(x)).any()
    with pytest.warns(DegeneracyWarning, match=r"linalg\.svd: the loss depends on the phase"):
        assert np.isnan(gw.grad(lambda x: _svd(x, 2, 4))(WEIGHTS[0, 0].ravel())).any()
    wanted = [(invariant(x + 1e-6 * e) - invariant(x - 1e-6 * e)) / 2e-6 for e in np.eye(18)]
    np.testing.assert_allclose(gw.grad(invariant)(x), wanted, rtol=1e-6, atol=1e-7)
