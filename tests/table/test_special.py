"""Special functions: by every door, at the points where formulas divide by zero, and without SciPy.

Values and derivatives of all rows, in all modes, are tested by the harness: see test_rules.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import special

import gradwrap as gw
import gradwrap.scipy.special
from gradwrap.core.library.namespace import composites
from gradwrap.core.table.registry import find_op, ops
from gradwrap.errors import NoRuleError
from lambdas import fn, is_a, rows

if TYPE_CHECKING:
    from collections.abc import Callable

XP: Any = gw.wrap_namespace(np)  # with the names that its type omits
scipys: Any = gradwrap.scipy.special
X = np.array([0.3, 0.9, 1.7])


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# Doors --------------------------------------------------------------------------------------------


def unary_ufuncs() -> list[str]:
    rows = [op.name for op in ops() if op.name.startswith("special.") and "._" not in op.name]
    found: list[str] = []
    for name in rows:
        op = find_op(name)
        assert op is not None
        rule = op.rule_for("numpy")
        function = getattr(special, name.removeprefix("special."))
        if rule is not None and rule.differentiable and isinstance(function, np.ufunc):
            found.append(name.removeprefix("special."))
    return [name for name in found if getattr(special, name).nin == 1]


@pytest.mark.parametrize("name", unary_ufuncs())
def test_unmodified_scipy_is_the_namespaces_function(name: str) -> None:
    op = find_op(f"special.{name}")
    assert op is not None
    low, high = op.rules["*"].domain
    x = low + (high - low) * np.array([0.3, 0.6, 0.8])

    found = gw.grad(fn(lambda x: total(getattr(special, name)(x))))(x)

    wanted = gw.grad(fn(lambda x: total(getattr(XP.special, name)(x))))(x)
    np.testing.assert_array_equal(found, wanted)
    assert np.all(np.isfinite(found))


def total(outputs: Any) -> Any:
    """The sum of one or several outputs, of which some are complex."""
    parts: list[Any] = list(outputs) if is_a(outputs, tuple) else [outputs]
    found: Any = 0.0
    for part in parts:
        real: Any = np.real(part)
        found = found + np.sum(real)
    return found


def test_functions_of_two_arguments_and_those_that_are_operations_already() -> None:
    def f(x: Any) -> Any:
        return np.sum(
            special.xlogy(2.0, x)
            + special.zeta(2.0, x)
            + special.gammainc(1.5, x)
            + special.betainc(1.5, 2.0, x / 2)
            + special.expm1(x)
            + special.log1p(x)
            + special.cbrt(x)
            + special.exp2(x)
        )

    gw.testing.check_grads(f, [X])


def test_scipy_that_was_imported_later_is_known_too() -> None:
    out = run(
        "import numpy as np, sys, gradwrap as gw\n"
        "assert 'scipy' not in sys.modules\n"
        "x = gw.wrap(np.array(0.5), requires_grad=True)\n"
        "np.sin(x)\n"
        "from scipy import special\n"
        "special.erf(x).backward()\n"
        "print(float(x.grad))\n"
    )
    assert float(out) == pytest.approx(2 / np.sqrt(np.pi) * np.exp(-0.25))


@pytest.mark.slow
def test_scipy_in_its_array_api_mode_takes_the_namespaces_functions() -> None:
    """SciPy looks for `xp.special`; it is not documented."""
    out = run(
        "import numpy as np, gradwrap as gw\n"
        "from scipy import special\n"
        "functions = [special.gammaln, special.erf, lambda x: special.stdtr(3.0, x),\n"
        "    special.logsumexp, special.softmax, lambda x: special.polygamma(1, x),\n"
        "    lambda x: special.xlogy(2.0, x), lambda x: special.chdtr(2.0, x), special.sinc]\n"
        "x = np.array([1.0, 2.0])\n"
        "for f in functions:\n"
        "    gw.testing.check_grads(lambda x: np.sum(f(x) * np.array([1.0, 2.0])), [x])\n"
        "print(len(functions))\n",
        SCIPY_ARRAY_API="1",
    )
    assert out == "9"


def test_users_rule_takes_the_place_of_the_librarys() -> None:
    out = run(
        "import numpy as np, gradwrap as gw\n"
        "from scipy import special\n"
        "gw.defvjp(special.erf, lambda xp, g, x: 10.0 * g)\n"
        "print(gw.grad(special.erf)(0.5), gw.grad(gw.wrap_namespace(np).special.erf)(0.5))\n"
    )
    assert out == "10.0 10.0"


def test_namespace_lists_scipys_names_and_refuses_those_without_a_rule() -> None:
    assert {"erf", "gammaln", "logsumexp", "ellipk"} <= set(dir(XP.special))
    assert "special" in dir(XP)
    with pytest.raises(NoRuleError, match=r"mathieu_a on numpy arrays has no rule"):
        gw.grad(lambda q: XP.special.mathieu_a(1, q))(0.5)
    assert XP.special.mathieu_a(0, gw.wrap(np.array(0.0))).item() == 0.0
    with pytest.raises(AttributeError):
        _ = XP.special.no_such_function


def test_without_scipy_the_error_says_what_to_install() -> None:
    out = run(
        "import sys\n"
        "sys.modules['scipy'] = sys.modules['scipy.special'] = None\n"
        "import numpy as np, gradwrap as gw\n"
        "xp = gw.wrap_namespace(np)\n"
        "print('special' in dir(xp), gw.grad(xp.special.sinc)(0.0))\n"
        "try:\n"
        "    gw.grad(xp.special.erf)(0.5)\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert out.splitlines() == [
        "True 0.0",
        (
            "xp.special of numpy arrays is scipy.special, and scipy is not installed. "
            "Fix: pip install scipy."
        ),
    ]


def test_a_library_without_special_functions_has_those_made_of_others() -> None:
    import array_api_strict as strict

    xp = gw.wrap_namespace(strict)
    x = strict.asarray([0.5, 1.5])
    found = gw.grad(fn(lambda x: xp.sum(xp.special.softmax(x) * x) + xp.special.logsumexp(x)))(x)

    wanted = gw.grad(fn(lambda x: np.sum(XP.special.softmax(x) * x) + XP.special.logsumexp(x)))
    np.testing.assert_allclose(np.asarray(found), wanted(np.array([0.5, 1.5])))
    with pytest.raises(AttributeError, match="erf"):
        _ = xp.special.erf


# Arguments without a derivative -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "argument"),
    rows(
        [
            (lambda v: special.jv(v, 2.0), "v"),
            (lambda v: special.yv(v, 2.0), "v"),
            (lambda v: special.struve(v, 2.0), "v"),
            (lambda v: special.hyp0f1(v, 2.0), "v"),
            (lambda b: special.hyperu(1.0, b, 0.3), "b"),
        ]
    ),
)
def test_argument_without_a_formula_is_refused_by_name(
    call: Callable[[Any], Any], argument: str
) -> None:
    with pytest.raises(NoRuleError, match=f"with respect to its argument {argument}, which is"):
        gw.grad(call)(1.5)


# Points where a formula divides by zero -----------------------------------------------------------


def taylor(f: Callable[[Any], Any], order: int, x: float = 0.0) -> float:
    for _ in range(order):
        f = gw.grad(f)
    return float(f(x))


@pytest.mark.parametrize(
    ("function", "derivatives"),
    [
        (special.j1, [0.0, 1 / 2, 0.0, -3 / 8, 0.0]),
        (special.i1, [0.0, 1 / 2, 0.0, 3 / 8, 0.0]),
        (special.j0, [1.0, 0.0, -1 / 2, 0.0, 3 / 8]),
        (special.i0, [1.0, 0.0, 1 / 2, 0.0, 3 / 8]),
        (special.exprel, [1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5]),
        (XP.special.sinc, [1.0, 0.0, -(np.pi**2) / 3, 0.0, np.pi**4 / 5]),
    ],
)
def test_derivatives_at_zero_are_exact_to_any_order(
    function: Callable[[Any], Any], derivatives: list[float]
) -> None:
    for order, wanted in enumerate(derivatives):
        assert taylor(function, order) == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize("x", [0.999, 1.001, -0.999, -1.001])
@pytest.mark.parametrize("function", [special.j1, special.i1, special.i1e, special.exprel])
def test_series_and_formula_meet(function: Callable[[Any], Any], x: float) -> None:
    gw.testing.check_grads(function, [x])


def test_conventions() -> None:
    assert gw.grad(special.xlogy, 1)(0.0, 0.0) == 0.0
    assert gw.grad(special.xlog1py, 1)(0.0, -1.0) == 0.0
    assert gw.grad(special.i0e)(0.0) == 0.0
    assert gw.grad(special.i1e)(0.0) == 0.5


# Of large and infinite arguments ------------------------------------------------------------------


def test_log_functions_do_not_overflow() -> None:
    x = np.array([1000.0, 1001.0, -np.inf])
    assert gw.grad(XP.special.logsumexp)(x) == pytest.approx(special.softmax(x))
    assert XP.special.logsumexp(gw.wrap(x)).item() == pytest.approx(special.logsumexp(x))
    np.testing.assert_allclose(XP.special.softmax(gw.wrap(x)).data, special.softmax(x))
    log = XP.special.log_softmax(gw.wrap(x[:2]))
    np.testing.assert_allclose(log.data, special.log_softmax(x[:2]))
    assert gw.grad(special.log_ndtr)(-1e9) == pytest.approx(1e9)
    assert gw.grad(special.log_ndtr)(50.0) == 0.0
    assert gw.grad(special.log_expit)(-800.0) == 1.0


@pytest.mark.parametrize("x", [-37.0, 0.3, 37.0])
def test_second_derivative_of_log_expit_is_right_in_both_tails(x: float) -> None:
    found = gw.grad(gw.grad(special.log_expit))(x)

    np.testing.assert_allclose(found, -special.expit(x) * special.expit(-x), rtol=1e-14)


@pytest.mark.parametrize("x", [19.0, 21.0, 300.0, 1e8])
def test_scaled_error_function_does_not_cancel(x: float) -> None:
    """Its derivative is -1/(sqrt(pi) x**2) for large x."""
    squares = 1 / x**2
    wanted = -squares / np.sqrt(np.pi) * (1 - squares * (1.5 - squares * (3.75 - squares * 13.125)))
    assert gw.grad(special.erfcx)(x) == pytest.approx(wanted, rel=1e-8)
    assert gw.grad(gw.grad(special.erfcx))(x) == pytest.approx(2 / x**3 / np.sqrt(np.pi), rel=0.02)


def test_left_of_zero_polygamma_is_right_too() -> None:
    assert gw.grad(special.digamma)(-0.5) == pytest.approx(special.polygamma(1, -0.5))


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_has_scipys_arguments(axis: Any, keepdims: bool) -> None:
    x, b = np.linspace(-1.0, 2.0, 6).reshape(2, 3), np.array([1.0, -2.0, 0.5])
    options = {"axis": axis, "keepdims": keepdims}

    found = XP.special.logsumexp(gw.wrap(x), **options)
    np.testing.assert_allclose(found.data, special.logsumexp(x, **options))
    signed = XP.special.logsumexp(gw.wrap(x), b=b, return_sign=True, **options)
    for part, wanted in zip(
        signed, special.logsumexp(x, b=b, return_sign=True, **options), strict=True
    ):
        np.testing.assert_allclose(part.data, wanted)
    gw.testing.check_grads(
        fn(lambda x: XP.special.logsumexp(x, b=b, return_sign=True, **options)[0]), [x]
    )


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_functions_made_of_others_go_through_all_modes(name: str) -> None:
    function = getattr(XP.special, name)
    x = np.linspace(-1.0, 2.0, 6).reshape(2, 3)

    gw.testing.check_grads(fn(lambda x: function(x, axis=-1)), [x])
    mapped = gw.vmap(fn(lambda x: function(x)))(x)
    np.testing.assert_allclose(mapped, getattr(special, name)(x, axis=-1))


def test_complex_error_function_is_holomorphic() -> None:
    z = 0.3 + 0.4j
    found = gw.grad(special.erf, holomorphic=True)(z)
    assert found == pytest.approx(2 / np.sqrt(np.pi) * np.exp(-z * z))


def test_multivariate_gamma_function() -> None:
    x = np.array([2.5, 4.0])
    np.testing.assert_allclose(
        XP.special.multigammaln(gw.wrap(x), 3).data, special.multigammaln(x, 3)
    )
    gw.testing.check_grads(fn(lambda x: XP.special.multigammaln(x, 3)), [x])


def test_all_composed_functions_are_scipys() -> None:
    for name in composites():
        if name.startswith("special."):
            assert hasattr(special, name.removeprefix("special."))


COMPLEX_SUMS = np.array([[700.0 + 3.0j, 699.0 - 3.1j, 698.0 + 1.0j], [1.0 + 1j, 2.0 - 1j, -3.0]])


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("weights", [None, np.array([1.0, -2.0, 0.5])])
def test_logsumexp_of_complex_values_is_scipys(axis: Any, weights: Any) -> None:
    scipy_special: Any = pytest.importorskip("scipy.special")
    x = COMPLEX_SUMS
    wanted: Any = scipy_special.logsumexp(x, axis=axis, b=weights)
    found: Any = XP.special.logsumexp(gw.wrap(x), axis=axis, b=weights).data
    np.testing.assert_allclose(found.real, wanted.real, rtol=1e-13)
    np.testing.assert_allclose(np.exp(1j * np.imag(found)), np.exp(1j * np.imag(wanted)))
    assert np.all(np.abs(found.imag) <= np.pi)
    size: Any
    sign: Any
    size, sign = XP.special.logsumexp(gw.wrap(x), axis=axis, b=weights, return_sign=True)
    np.testing.assert_allclose(size.data, wanted.real, rtol=1e-13)
    np.testing.assert_allclose(sign.data, np.exp(1j * np.imag(wanted)), rtol=1e-10)


@pytest.mark.parametrize("signed", [False, True])
def test_logsumexp_of_complex_values_has_derivatives(signed: bool) -> None:
    def of(x: Any) -> Any:
        found = XP.special.logsumexp(x, axis=1, return_sign=signed)
        return found[0] + 0.5 * XP.real(found[1]) + XP.imag(found[1]) if signed else found

    gw.testing.check_grads(of, [COMPLEX_SUMS - np.array([[699.0], [0.0]])], order=1)


@pytest.mark.parametrize("x", [0.5, -2.0, 20.0, -30.0])
@pytest.mark.parametrize(("a", "b"), [(1.5, 1.5), (-2.0, 1.5), (0.0, 0.7), (2.5, 0.5)])
def test_the_confluent_function_has_slopes_where_a_factor_of_its_series_is_zero(
    a: float, b: float, x: float
) -> None:
    """Kummer's transformation has b - a in the place of a: here one of both is 0, -1 or -2."""
    step = Decimal("1e-18")

    def value(i: int, j: int) -> Decimal:
        """Sum the series at a + i step, b + j step, with 80 digits."""
        total = term = Decimal(1)
        upper, lower = Decimal(a) + i * step, Decimal(b) + j * step
        for k in range(400):
            term *= (upper + k) * Decimal(x) / ((lower + k) * (k + 1))
            total += term
        return total

    with localcontext() as context:
        context.prec = 80
        wanted = [
            (value(1, 0) - value(-1, 0)) / (2 * step),
            (value(0, 1) - value(0, -1)) / (2 * step),
            (value(1, 0) - 2 * value(0, 0) + value(-1, 0)) / (step * step),
            (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * step * step),
        ]
    function = fn(lambda a, b: XP.special.hyp1f1(a, b, x))
    found = [gw.grad(function, i)(a, b) for i in (0, 1)]
    found += [gw.grad(gw.grad(function, 0), i)(a, b) for i in (0, 1)]
    np.testing.assert_allclose(found, [float(one) for one in wanted], rtol=1e-9)


# Sums of exponentials, in double precision, where one of them hides the others --------------------

SUMS: list[tuple[list[float], list[float] | None]] = [
    ([0.0, -37.0], None),
    ([0.0, -80.0, -300.0], None),
    ([1.0, 1.0, -50.0], None),
    ([3.0, -2.0, -40.0, 2.9], [0.5, 2.0, 1e-5, 0.1]),
    ([1000.0, 0.0, -60.0], [0.0, 1.0, 2.0]),  # SciPy leaves out what has no weight
]


def of_scipy(x: Any, **options: Any) -> Any:
    return scipys.logsumexp(x, **options)


def of_the_namespace(x: Any, **options: Any) -> Any:
    return XP.special.logsumexp(x, **options)


def curvature(x: Any, b: Any) -> tuple[Any, Any]:
    """Return the gradient and the Hessian of logsumexp, without a difference of like numbers."""
    terms = b * np.exp(x - np.max(x[b != 0]), where=b != 0, out=np.zeros(len(x)))
    p = terms / np.sum(terms)
    others = [np.sum(np.delete(p, i)) for i in range(len(p))]
    return p, np.diag(p * others) - np.outer(p, p) * (1.0 - np.eye(len(p)))


@pytest.mark.parametrize(("x", "b"), SUMS)
@pytest.mark.parametrize("function", [of_scipy, of_the_namespace])
def test_second_derivatives_of_logsumexp_are_precise_in_the_tail(
    function: Any, x: list[float], b: list[float] | None
) -> None:
    point, weights = np.array(x), np.ones(len(x)) if b is None else np.array(b)
    options = {} if b is None else {"b": weights}
    f = fn(lambda x: function(x, **options))
    slopes, second = curvature(point, weights)
    value = special.logsumexp(point, **options)
    np.testing.assert_allclose(gw.vjp(f, point)[0], value, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(gw.grad(f)(point), slopes, rtol=1e-13)
    for hessian in (gw.hessian(f), gw.jacfwd(gw.jacfwd(f)), gw.jacrev(gw.jacfwd(f))):
        np.testing.assert_allclose(hessian(point), second, rtol=1e-12)
    by_rows = fn(lambda x: np.sum(function(x, axis=1, keepdims=True, **options)))
    found = gw.hessian(by_rows)(np.stack([point, point - 1.0]))
    np.testing.assert_allclose(found[0, :, 0], second, rtol=1e-12)
    compiled = gw.compile(gw.hessian(f))
    for _ in range(2):
        np.testing.assert_allclose(compiled(point), second, rtol=1e-12)


def test_first_derivatives_of_softmax_are_precise_in_the_tail() -> None:
    x = np.array([0.0, -45.0])
    _, second = curvature(x, np.ones(2))
    for of in (scipys, XP.special):
        np.testing.assert_allclose(gw.jacrev(of.softmax)(x), second, rtol=1e-13)
        slopes = gw.jacrev(of.log_softmax)(x)[0]
        np.testing.assert_allclose(slopes, [second[0, 0], -second[0, 0]], rtol=1e-13)


@pytest.mark.parametrize("function", [of_scipy, of_the_namespace])
def test_logsumexp_of_complex_numbers(function: Any) -> None:
    z, t = np.array([0.3 + 0.2j, -40 - 1j, -0.5 + 2j]), np.array([0.1 + 0.3j, -0.2j, 0.5 - 0.2j])
    share = np.exp(z) / np.sum(np.exp(z))
    value, tangent = gw.jvp(function, (z,), (t,))
    np.testing.assert_allclose(value, special.logsumexp(z), rtol=1e-14)
    np.testing.assert_allclose(tangent, np.sum(share * t), rtol=1e-14)
    np.testing.assert_allclose(gw.vjp(function, z)[1](1 + 2j)[0], np.conj(share) * (1 + 2j))
    signed = fn(lambda z: function(z, return_sign=True))
    slopes = gw.jvp(signed, (z,), (t,))[1]
    ahead, behind = (special.logsumexp(z + h * t, return_sign=True) for h in (1e-6, -1e-6))
    for slope, one, other in zip(slopes, ahead, behind, strict=True):
        np.testing.assert_allclose(slope, (one - other) / 2e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("a", "x", "by_a", "by_x", "rtol"),  # by mpmath, with 60 digits
    [
        (900.0, 910.0, -0.0125163341324041, 0.0124451315125711, 1e-12),
        (1001.0, 950.0, -0.0033718701764556, 0.00346101322364828, 1e-12),
        (1e5, 1e5 + 300, -0.000803928212363564, 0.000802723988784425, 1e-12),
        (1e12, 1e12 + 1e6, -2.41970684190703e-7, 2.41970563205421e-7, 1e-9),
        (1e20, 1e20 + 1e10, -2.41970724515111e-11, 2.41970724503012e-11, 1e-5),
    ],
)
def test_incomplete_gamma_function_of_large_arguments(
    a: float, x: float, by_a: float, by_x: float, rtol: float
) -> None:
    found = gw.grad(special.gammainc, (0, 1))(a, x)
    turned = gw.hessian(lambda v: special.gammainc(v[0], v[1]))(np.array([a, x]))

    np.testing.assert_allclose(found, (by_a, by_x), rtol=rtol)
    np.testing.assert_allclose(turned[0, 1], turned[1, 0], rtol=1e-5)
    np.testing.assert_allclose(turned[1, 1], by_x * ((a - 1) / x - 1), rtol=1e-5)


@pytest.mark.parametrize("t", [-2.0, 0.0, 1.0])
def test_students_distribution_of_infinite_degrees_is_the_normal_one(t: float) -> None:
    df = np.array([3.0, np.inf])

    by_df, by_t = gw.vjp(special.stdtr, df, t)[1](np.array([0.0, 1.0]))

    np.testing.assert_array_equal(by_df, 0.0)
    np.testing.assert_allclose(by_t, np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi))
    turned = gw.grad(gw.grad(lambda t: special.stdtr(np.inf, t)))(t)
    np.testing.assert_allclose(turned, -t * np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi))
    quantile = gw.grad(lambda p: special.stdtrit(np.inf, p))(0.1)
    np.testing.assert_allclose(quantile, np.sqrt(2 * np.pi) * np.exp(special.ndtri(0.1) ** 2 / 2))
