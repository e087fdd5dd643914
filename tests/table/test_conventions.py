"""Gradients at kinks, ties, zeros and singular points: one test for each convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.scipy.linalg
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

sl: Any = gradwrap.scipy.linalg
ANY: Any = np  # for calls that NumPy's own types are too narrow for
INF, NAN = np.inf, np.nan
W3 = np.array([1.0, 2.0, 3.0])

Row = tuple[str, "Callable[[Any], Any]", Any, Any]


def masked_std(x: Any) -> Any:
    return np.std(x, where=np.array([True, True, False]))


REAL: list[Row] = [
    ("abs at 0", np.abs, 0.0, 0.0),
    ("abs at -0", np.abs, -0.0, 0.0),
    ("copysign at 0", lambda x: np.copysign(x, 1.0), 0.0, 0.0),
    ("sqrt at 0", np.sqrt, 0.0, INF),
    ("log at 0", np.log, 0.0, INF),
    ("1/x at 0", lambda x: 1.0 / x, 0.0, -INF),
    ("x**.5 at 0", lambda x: x**0.5, 0.0, INF),
    ("arcsin at 1", np.arcsin, 1.0, INF),
    ("sqrt at -1", np.sqrt, -1.0, NAN),
    ("sqrt(x)*0 at 0", lambda x: np.sqrt(x) * 0.0, 0.0, NAN),
    ("(1/x)*0 at 0", lambda x: (1.0 / x) * 0.0, 0.0, NAN),
    ("sqrt(x**2) at 0", lambda x: np.sqrt(x**2), 0.0, NAN),
    ("cbrt at 0", np.cbrt, 0.0, INF),
    ("max of all, tie", np.max, [1.0, 1.0, 0.0], [0.5, 0.5, 0.0]),
    ("max along an axis, tie", lambda x: np.max(x, axis=0), [1.0, 1.0, 0.0], [0.5, 0.5, 0.0]),
    ("max with NaN", np.max, [NAN, 1.0], [1.0, 0.0]),
    ("min tie", np.min, [1.0, 1.0, 2.0], [0.5, 0.5, 0.0]),
    ("maximum at a tie", lambda x: np.maximum(x, 1.0), 1.0, 0.5),
    ("minimum at a tie", lambda x: np.minimum(x, 1.0), 1.0, 0.5),
    ("maximum(x, x)", lambda x: np.maximum(x, x), 1.0, 1.0),
    ("maximum(x, nan)", lambda x: np.maximum(x, NAN), 1.0, 0.0),
    ("fmax(x, nan)", lambda x: np.fmax(x, NAN), 1.0, 1.0),
    ("norm at 0", np.linalg.norm, [0.0, 0.0], [0.0, 0.0]),
    (
        "norm of rows of zeros",
        lambda x: np.sum(np.linalg.norm(x, axis=1)),
        [[0.0] * 2] * 2,
        [[0.0] * 2] * 2,
    ),
    ("Frobenius norm at 0", lambda x: np.linalg.norm(x, "fro"), [[0.0] * 2] * 2, [[0.0] * 2] * 2),
    ("norm 3 at 0", lambda x: np.linalg.norm(x, 3), [0.0, 0.0], [0.0, 0.0]),
    ("norm 1 with a zero", lambda x: np.linalg.norm(x, 1), [0.0, 1.0], [0.0, 1.0]),
    ("norm inf at a tie", lambda x: np.linalg.norm(x, INF), [1.0, 1.0], [0.5, 0.5]),
    ("norm -inf at a tie", lambda x: np.linalg.norm(x, -INF), [1.0, 1.0], [0.5, 0.5]),
    ("spectral norm at a tie", lambda x: np.linalg.norm(x, 2), np.eye(2), 0.5 * np.eye(2)),
    ("matrix norm 1 at a tie", lambda x: np.linalg.norm(x, 1), [[1.0] * 2] * 2, [[0.5] * 2] * 2),
    ("nuclear norm, rank 1", lambda x: np.linalg.norm(x, "nuc"), [[1.0] * 2] * 2, [[0.5] * 2] * 2),
    ("hypot at 0, 0", lambda x: np.hypot(x, 0.0), 0.0, 0.0),
    ("hypot at inf, 1", lambda x: np.hypot(x, 1.0), INF, 1.0),
    ("hypot at -inf, 1", lambda x: np.hypot(x, 1.0), -INF, -1.0),
    ("hypot at 1, inf", lambda x: np.hypot(x, INF), 1.0, 0.0),
    ("hypot at inf, inf", lambda x: np.hypot(x, INF), INF, NAN),
    ("arctan2 at inf, 1, second", lambda x: np.arctan2(INF, x), 1.0, 0.0),
    ("arctan2 at 1, inf", lambda x: np.arctan2(x, INF), 1.0, 0.0),
    ("arctan2 at 0, 0", lambda x: np.arctan2(x, 0.0), 0.0, 0.0),
    ("arctan2 at 0, 0, second", lambda x: np.arctan2(0.0, x), 0.0, 0.0),
    ("sinc at 0", np.sinc, 0.0, 0.0),
    ("x**0. at 0", lambda x: x**0.0, 0.0, 0.0),
    ("x**1 at 0", lambda x: x**1, 0.0, 1.0),
    ("x**2 at 0", lambda x: x**2, 0.0, 0.0),
    ("x**3 at 0", lambda x: x**3, 0.0, 0.0),
    ("x**-1 at 0", lambda x: x**-1.0, 0.0, -INF),
    ("x**x at 0", lambda x: x**x, 0.0, 0.0),
    ("0**y at 0", lambda y: 0.0**y, 0.0, 0.0),
    ("0**y at 2", lambda y: 0.0**y, 2.0, 0.0),
    ("0**y at -1", lambda y: 0.0**y, -1.0, -INF),
    ("0**y at -1, of an array", lambda y: np.zeros(()) ** y, -1.0, -INF),
    ("float_power(0, y) at -1", lambda y: np.float_power(0.0, y), -1.0, -INF),
    ("float_power(0, y) at 2", lambda y: np.float_power(0.0, y), 2.0, 0.0),
    ("float_power(x, 0) at 0", lambda x: np.float_power(x, 0.0), 0.0, 0.0),
    ("(-2)**y at 2", lambda y: np.float64(-2.0) ** y, 2.0, NAN),
    ("sort with ties", lambda x: np.sum(np.sort(x) * W3), [1.0, 1.0, 0.0], [2.0, 3.0, 1.0]),
    (
        "where, branch not taken",
        lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)),
        [-1.0, 0.0, 1.0],
        [0.0, 0.0, 0.5],
    ),
    (
        "where inside where",
        lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)),
        [-1.0, 0.0, 1.0],
        [0.0, 0.0, 0.5],
    ),
    ("boolean index", lambda x: np.sum(np.sqrt(x)[x > 0]), [-1.0, 0.0, 1.0], [0.0, 0.0, 0.5]),
    ("slice", lambda x: np.sum(np.sqrt(x)[2:]), [-1.0, 0.0, 1.0], [NAN, NAN, 0.5]),
    (
        "clip at its bounds",
        lambda x: np.sum(np.clip(x, 0.0, 1.0)),
        [0.0, 1.0, 2.0],
        [1.0, 1.0, 0.0],
    ),
    ("median, even", np.median, [3.0, 1.0, 2.0, 4.0], [0.5, 0.0, 0.5, 0.0]),
    ("median of equal ones", np.median, [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]),
    ("prod with a zero", np.prod, [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    ("prod with two zeros", np.prod, [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    ("cumprod with a zero", lambda x: np.sum(ANY.cumprod(x)), [0.0, 2.0, 3.0], [9.0, 0.0, 0.0]),
    ("cumprod with two zeros", lambda x: np.sum(ANY.cumprod(x)), [0.0, 0.0, 3.0], [1.0, 0.0, 0.0]),
    ("std of a constant", np.std, [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]),
    ("std of one element", np.std, [2.0], [0.0]),
    ("std of a constant under a mask", masked_std, [2.0, 2.0, 5.0], [0.0, 0.0, 0.0]),
    ("nanstd of a constant", np.nanstd, [2.0, 2.0, NAN], [0.0, 0.0, 0.0]),
    ("logaddexp(-inf, -inf)", lambda x: np.logaddexp(x, -INF), -INF, NAN),
    ("logaddexp(inf, inf)", lambda x: np.logaddexp(x, INF), INF, NAN),
    ("logaddexp(inf, 0)", lambda x: np.logaddexp(x, 0.0), INF, 1.0),
    ("logaddexp(0, inf)", lambda x: np.logaddexp(x, INF), 0.0, 0.0),
    ("logaddexp2(inf, 0)", lambda x: np.logaddexp2(x, 0.0), INF, 1.0),
    ("logaddexp2(0, inf)", lambda x: np.logaddexp2(x, INF), 0.0, 0.0),
    ("logsumexp of -inf", lambda x: np.log(np.sum(np.exp(x))), [-INF, -INF], [NAN, NAN]),
    ("floor", np.floor, 1.5, 0.0),
    ("round", np.round, 1.5, 0.0),
    ("sign", np.sign, 0.0, 0.0),
    ("mod at a jump", lambda x: np.mod(x, 2.0), 4.0, 1.0),
    ("mod, second", lambda y: np.mod(5.0, y), 2.0, -2.0),
    ("floor_divide", lambda x: x // 2.0, 5.0, 0.0),
    ("nan_to_num", lambda x: np.sum(np.nan_to_num(x)), [NAN, INF, 1.0], [0.0, 0.0, 1.0]),
    ("gather twice", lambda x: np.sum(x[[0, 0]]), [1.0, 2.0], [2.0, 0.0]),
]


def set_twice(x: Any) -> Any:
    """Both elements are written to the same place: the last one stays."""
    y = np.zeros(2) + x * 0.0
    y[[0, 0]] = x
    return np.sum(y)


REAL.append(("set twice", set_twice, [1.0, 2.0], [0.0, 1.0]))


@pytest.mark.parametrize(("fun", "at", "wanted"), [r[1:] for r in REAL], ids=[r[0] for r in REAL])
def test_gradient_at_a_hard_point(fun: Callable[[Any], Any], at: Any, wanted: Any) -> None:
    with np.errstate(all="ignore"):
        gradient = gw.grad(fun)(np.asarray(at))

    np.testing.assert_allclose(gradient, wanted, rtol=1e-14, atol=1e-15)


FINITE = [row for row in REAL if np.all(np.isfinite(row[3]))]


@pytest.mark.parametrize(
    ("fun", "at", "wanted"), [r[1:] for r in FINITE], ids=[r[0] for r in FINITE]
)
def test_forward_mode_has_the_same_at_a_hard_point(
    fun: Callable[[Any], Any], at: Any, wanted: Any
) -> None:
    jacobian: Any = gw.jacfwd(fun)

    with np.errstate(all="ignore"):
        derivative = jacobian(np.asarray(at))

    np.testing.assert_allclose(derivative, wanted, rtol=1e-14, atol=1e-15)


HIGHER: list[tuple[str, Callable[[Any], Any], float, int, float]] = [
    ("second of x**1.", lambda x: x**1.0, 0.0, 2, 0.0),
    ("third of x**2.", lambda x: x**2.0, 0.0, 3, 0.0),
]


@pytest.mark.parametrize(
    ("fun", "at", "order", "wanted"), [r[1:] for r in HIGHER], ids=[r[0] for r in HIGHER]
)
def test_higher_derivative_at_zero(
    fun: Callable[[Any], Any], at: float, order: int, wanted: float
) -> None:
    for _ in range(order):
        fun = gw.grad(fun)

    assert fun(at) == wanted


def hessian(fun: Callable[[Any], Any], x: Any) -> Any:
    gradient = gw.grad(fun)

    def part(i: int) -> Callable[[Any], Any]:
        return lambda z: gradient(z)[i]

    return np.stack([gw.grad(part(i))(x) for i in range(len(x))])


def test_hessian_of_the_norm_at_zero_is_zero() -> None:
    found = hessian(np.linalg.norm, np.zeros(2))

    np.testing.assert_array_equal(found, np.zeros((2, 2)))


def test_hessian_of_a_product_with_a_zero_is_exact() -> None:
    found = hessian(np.prod, np.array([0.0, 2.0, 3.0]))

    np.testing.assert_array_equal(found, [[0, 3, 2], [3, 0, 0], [2, 0, 0]])


def test_single_precision_with_a_double_constant_gives_single_precision() -> None:
    gradient = gw.grad(fn(lambda x: np.sum(x * np.array([2.0, 3.0]))))(np.ones(2, np.float32))

    assert gradient.dtype == np.float32


COMPLEX: list[Row] = [
    ("|z|^2", lambda z: (z * np.conj(z)).real, 1 + 2j, 2 + 4j),
    ("Re z^2", lambda z: (z**2).real, 1 + 2j, 2 - 4j),
    ("Im z", np.imag, 3 + 4j, 1j),
    ("|z|", np.abs, 3 + 4j, 0.6 + 0.8j),
    ("|z| at 0", np.abs, 0j, 0j),
    ("angle", np.angle, 1 + 1j, -0.5 + 0.5j),
    ("angle at 0", np.angle, 0j, 0j),
]


@pytest.mark.parametrize(
    ("fun", "at", "wanted"), [r[1:] for r in COMPLEX], ids=[r[0] for r in COMPLEX]
)
def test_gradient_of_a_real_function_of_a_complex_number(
    fun: Callable[[Any], Any], at: complex, wanted: complex
) -> None:
    np.testing.assert_allclose(gw.grad(fun)(np.asarray(at)), wanted, rtol=1e-14)


@pytest.mark.parametrize(
    ("fun", "at", "wanted"), [r[1:] for r in COMPLEX], ids=[r[0] for r in COMPLEX]
)
def test_jvp_of_a_real_function_is_the_slope_along_the_gradient(
    fun: Callable[[Any], Any], at: complex, wanted: complex
) -> None:
    for direction in (1 + 0j, 1j):
        _, slope = gw.jvp(fun, (np.asarray(at),), (np.asarray(direction),))

        np.testing.assert_allclose(slope, (np.conj(wanted) * direction).real, rtol=1e-14)


def test_jvp_of_a_holomorphic_function_is_its_derivative_times_the_tangent() -> None:
    _, slope = gw.jvp(lambda z: z**2, (np.asarray(1 + 2j),), (np.asarray(1 + 0j),))

    assert slope == 2 + 4j


def test_complex_vjp_takes_and_gives_conjugated_cotangents() -> None:
    _, of_square = gw.vjp(lambda z: z**2, np.asarray(1 + 2j))
    _, of_conj = gw.vjp(np.conj, np.asarray(1 + 2j))

    assert of_square(np.asarray(1 + 0j))[0] == 2 - 4j
    assert of_conj(np.asarray(1j))[0] == -1j


def test_holomorphic_gives_the_complex_derivative() -> None:
    assert gw.grad(lambda z: z**2, holomorphic=True)(np.asarray(1 + 2j)) == 2 + 4j


def test_complex_output_without_holomorphic_is_refused() -> None:
    with pytest.raises(gw.errors.NonScalarOutputError, match="holomorphic=True"):
        gw.grad(lambda z: z**2)(np.asarray(1 + 2j))


def test_real_argument_gets_a_real_gradient_through_complex_numbers() -> None:
    gradient = gw.grad(fn(lambda x: np.abs(np.exp(1j * x) * x + 1.0)))(np.asarray(0.7))

    x = 0.7
    value = np.abs(np.exp(1j * x) * x + 1.0)
    wanted = (x + np.cos(x) - x * np.sin(x)) / value
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, wanted, rtol=1e-14)


def test_det_of_a_singular_matrix_has_the_adjugate() -> None:
    gradient = gw.grad(np.linalg.det)(np.array([[1.0, 2.0], [2.0, 4.0]]))

    np.testing.assert_allclose(gradient, [[4.0, -2.0], [-2.0, 1.0]], rtol=1e-12)


def test_det_of_zeros_has_gradient_zero() -> None:
    np.testing.assert_array_equal(gw.grad(np.linalg.det)(np.zeros((3, 3))), np.zeros((3, 3)))


@pytest.mark.parametrize("factor", [np.zeros((3, 3)), np.ones((3, 2)), np.ones((2, 3))])
@pytest.mark.parametrize("qr", [ANY.linalg.qr, sl.qr])
def test_qr_of_dependent_columns_is_nan_with_a_warning(qr: Any, factor: Any) -> None:
    with pytest.warns(gw.errors.DegeneracyWarning, match=r"qr: columns .* dependent.*Fix: "):
        gradient = gw.grad(fn(lambda x: np.sum(qr(x)[1])))(factor)
    assert np.isnan(gradient[:, :2]).all()
    with pytest.warns(gw.errors.DegeneracyWarning):
        tangent = gw.jvp(fn(lambda x: qr(x)[1]), (factor,), (np.eye(*factor.shape),))[1]
    assert np.isnan(tangent).any()


def test_qr_of_dependent_columns_has_the_derivative_of_the_first_ones() -> None:
    stack = np.stack([np.ones((3, 3)), np.eye(3) + 0.1])
    first = fn(lambda x: np.sum(np.linalg.qr(x)[1][..., 0, 0]))
    wanted = -stack / np.sqrt(np.sum(stack[..., :1] ** 2, axis=-2, keepdims=True))
    wanted[..., 1:] = 0.0
    np.testing.assert_allclose(gw.grad(first)(stack), wanted, rtol=1e-14)
    with pytest.warns(gw.errors.DegeneracyWarning):
        whole = gw.grad(fn(lambda x: np.sum(np.linalg.qr(x)[1])))(stack)
    assert np.isnan(whole[0]).all()
    alone = gw.grad(fn(lambda x: np.sum(np.linalg.qr(x)[1])))(stack[1])
    np.testing.assert_allclose(whole[1], alone, rtol=1e-13)


def test_hessenberg_of_a_column_of_zeros_is_nan_with_a_warning() -> None:
    with pytest.warns(gw.errors.DegeneracyWarning, match="hessenberg"):
        gradient = gw.grad(fn(lambda x: np.sum(sl.hessenberg(x))))(np.eye(3))
    assert np.isnan(gradient).all()


def test_hessenberg_of_such_a_matrix_has_the_derivative_among_such_matrices() -> None:
    x, t = np.triu(np.arange(1.0, 17.0).reshape(4, 4), -1), np.triu(np.ones((4, 4)), -1)
    for turned in (x, x * (1 + 0.5j)):
        found = gw.jvp(fn(lambda x: sl.hessenberg(x, calc_q=True)), (turned,), (t + 0 * turned,))
        if turned.dtype.kind == "f":
            np.testing.assert_array_equal(found[1][0], t)
            np.testing.assert_array_equal(np.triu(found[1][1]), np.zeros((4, 4)))
        step = 1e-6 * t
        after, before = (sl.hessenberg(turned + s, calc_q=True) for s in (step, -step))
        for slope, one, other in zip(found[1], after, before, strict=True):
            np.testing.assert_allclose(slope, (one - other) / 2e-6, atol=1e-8)


def test_slogdet_of_a_singular_matrix_has_an_infinite_gradient() -> None:
    with np.errstate(all="ignore"):
        gradient = gw.grad(fn(lambda x: np.linalg.slogdet(x)[1]))(
            np.array([[1.0, 2.0], [2.0, 4.0]])
        )

    np.testing.assert_array_equal(gradient, [[INF, -INF], [-INF, INF]])


def test_inv_of_a_singular_matrix_raises_what_numpy_raises() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        gw.grad(lambda x: np.sum(np.linalg.inv(x)))(np.zeros((2, 2)))


def test_cholesky_of_a_matrix_that_is_not_positive_raises_what_numpy_raises() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        gw.grad(lambda x: np.sum(np.linalg.cholesky(x)))(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_of_others_with_a_zero_is_zero_where_it_overflows(dtype: Any) -> None:
    big = float(np.finfo(dtype).max) ** 0.8
    rows = np.array([[0.0, big, big, 3.0], [0.0, 2.0, 3.0, 4.0], [0.0, 0.0, big, big]], dtype)
    with np.errstate(all="ignore"):
        found = gw.grad(lambda x: np.sum(np.prod(x, axis=1)))(rows)
    wanted = np.zeros_like(rows)
    wanted[0, 0], wanted[1, 0] = np.inf, 24.0
    np.testing.assert_array_equal(found, wanted)
    rows = np.array([[0.0, np.inf, 2.0], [np.nan, 0.0, 1.0]], dtype)
    with np.errstate(all="ignore"):
        assert np.isnan(gw.grad(lambda x: np.sum(np.prod(x, axis=1)))(rows)).any(axis=1).all()
