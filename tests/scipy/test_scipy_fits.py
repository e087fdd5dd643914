"""Fits of distributions by maximum likelihood: closed forms, exact fits, refusals."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import BatchedValueError, NoRuleError
from gradwrap.scipy import special

stats: Any = import_module("gradwrap.scipy.stats")
native: Any = import_module("scipy.optimize")
special_: Any = special
X = np.random.default_rng(0).gamma(2.0, 1.5, size=15)
STEP = np.cos(1.1 * np.arange(15.0))
FORMS: dict[str, Any] = {
    "norm": (lambda x: stats.norm.fit(x), lambda x: (np.mean(x), np.std(x))),
    "norm with loc": (
        lambda x: stats.norm.fit(x, floc=1.0),
        lambda x: (1.0, np.sqrt(np.mean((x - 1.0) ** 2))),
    ),
    "expon": (lambda x: stats.expon.fit(x), lambda x: (np.min(x), np.mean(x) - np.min(x))),
    "uniform": (lambda x: stats.uniform.fit(x), lambda x: (np.min(x), np.max(x) - np.min(x))),
    "lognorm": (
        lambda x: stats.lognorm.fit(x, floc=0),
        lambda x: (np.std(np.log(x)), 0.0, np.exp(np.mean(np.log(x)))),
    ),
    "pareto": (
        lambda x: stats.pareto.fit(x, floc=0),
        lambda x: (1 / np.mean(np.log(x / np.min(x))), 0.0, np.min(x)),
    ),
    "laplace with loc": (
        lambda x: stats.laplace.fit(x, floc=2.0),
        lambda x: (2.0, np.mean(np.abs(x - 2.0))),
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_fits_have_the_derivatives_of_their_closed_forms(name: str) -> None:
    def of(function: Any) -> Any:
        return lambda x: sum((k + 1.0) * part**2 for k, part in enumerate(function(x)))

    fit, form = map(of, FORMS[name])
    np.testing.assert_allclose(fit(X), form(X), rtol=1e-7)
    np.testing.assert_allclose(gw.grad(fit)(X), gw.grad(form)(X), rtol=1e-6, atol=1e-9)
    pushed = gw.jvp(fit, (X,), (STEP,))[1]
    np.testing.assert_allclose(pushed, gw.jvp(form, (X,), (STEP,))[1], rtol=1e-6)
    np.testing.assert_allclose(gw.hessian(fit)(X), gw.hessian(form)(X), rtol=1e-5, atol=1e-7)


def exact(function: Any, start: Any, args: Any = (), disp: int = 0) -> Any:
    """Search as `fit` does, to full precision."""
    options = {"xtol": 1e-12, "ftol": 1e-13, "maxiter": 20000, "maxfun": 20000}
    return native.fmin(function, start, args=args, disp=disp, **options)


SEARCHED: dict[str, dict[str, Any]] = {
    "gamma": {"floc": 0},
    "lognorm": {},
    "weibull_min": {"floc": 0},
    "t": {},
    "logistic": {},
    "genextreme": {},
}


@pytest.mark.parametrize("name", SEARCHED)
def test_fits_have_the_derivatives_of_exact_fits(name: str) -> None:
    x = np.random.default_rng(0).gamma(2.0, 1.5, size=30)
    step = np.cos(1.1 * np.arange(30.0))

    def f(x: Any, /, **more: Any) -> Any:
        found = getattr(stats, name).fit(x, **SEARCHED[name], **more)
        return sum(np.sqrt(k + 1.0) * part for k, part in enumerate(found))

    ends = [f(x + sign * 1e-4 * step, optimizer=exact) for sign in (1, -1)]
    slope = (ends[0] - ends[1]) / 2e-4
    np.testing.assert_allclose(gw.grad(f)(x) @ step, slope, rtol=2e-3)
    np.testing.assert_allclose(gw.jvp(f, (x,), (step,))[1], slope, rtol=2e-3)
    assert gw.value_and_grad(f)(x)[0] == f(x)


def test_a_fit_of_two_parameters_to_second_order() -> None:
    def variance(x: Any) -> Any:
        a, _, scale = stats.gamma.fit(x, floc=0.0)
        return a * scale**2

    def by_root(x: Any) -> Any:
        gap = np.log(np.mean(x)) - np.mean(np.log(x))

        def solve(f: Any, _: Any) -> Any:
            return np.float64(native.brentq(lambda a: float(f(np.float64(a))), 0.1, 50, xtol=1e-14))

        a = gw.custom_root(lambda a: np.log(a) - special_.psi(a) - gap, 2.0, solve)
        return np.mean(x) ** 2 / a

    np.testing.assert_allclose(gw.grad(variance)(X), gw.grad(by_root)(X), rtol=1e-8)
    np.testing.assert_allclose(gw.hessian(variance)(X), gw.hessian(by_root)(X), rtol=1e-7)


def test_fixed_parameters_are_differentiated_too() -> None:
    def f(loc: Any) -> Any:
        a, found, scale = stats.gamma.fit(X, floc=loc)
        return a * scale + found  # the mean of the data, whatever loc is

    def g(a: Any) -> Any:
        return sum(stats.gamma.fit(X, fa=a, floc=0))  # a and mean / a

    np.testing.assert_allclose(gw.grad(f)(0.05), 0.0, atol=1e-12)
    np.testing.assert_allclose(gw.grad(g)(1.5), 1 - np.mean(X) / 1.5**2, rtol=1e-6)


@pytest.mark.slow
def test_distributions_of_the_users_and_lists() -> None:
    class Rate(stats.rv_continuous):  # type: ignore[misc]  # untyped
        def _pdf(self, x: Any, b: Any) -> Any:
            return b * np.exp(-b * x)

    rate = Rate(a=0, name="rate", shapes="b")

    def f(x: Any) -> Any:
        return rate.fit([x[0], 2.0 * x[1], x[2] ** 2], floc=0, fscale=1)[0]

    total = X[0] + 2 * X[1] + X[2] ** 2
    wanted = -3 / total**2 * np.array([1.0, 2.0, 2 * X[2]])
    np.testing.assert_allclose(gw.grad(gw.adapting(f))(X)[:3], wanted, rtol=1e-8)


def test_a_batch_of_fits_is_a_loop() -> None:
    def scale(x: Any) -> Any:
        return stats.gamma.fit(x, floc=0)[-1]

    batch = np.stack([X, X + 0.3])
    with pytest.raises(BatchedValueError, match='fallback="loop"'):
        gw.vmap(gw.grad(scale))(batch)
    found = gw.vmap(gw.grad(scale), fallback="loop")(batch)
    np.testing.assert_allclose(found, [gw.grad(scale)(x) for x in batch])


def test_fits_that_are_no_regular_maximum_are_refused() -> None:
    words = r"scipy\.stats\.{}\.fit: the parameters that SciPy returns are not at a regular maximum"
    with pytest.raises(NoRuleError, match=words.format("laplace")):
        gw.grad(lambda x: stats.laplace.fit(x)[1])(X)
    with pytest.raises(NoRuleError, match=words.format("triang")):
        gw.grad(lambda x: stats.triang.fit(x)[0])(X)
    with pytest.raises(NoRuleError, match=r"has no derivative with method='MM'"):
        gw.grad(lambda x: stats.gamma.fit(x, method="MM")[0])(X)


@pytest.mark.parametrize(("count", "seed"), [(7, 3), (9, 0), (10, 2), (15, 3), (40, 2), (25, 0)])
def test_a_curvature_of_rounding_alone_is_none(count: int, seed: int) -> None:
    data = np.random.default_rng(seed).gamma(3.0, 1.2, size=count)
    with pytest.raises(NoRuleError, match=r"laplace\.fit.*curvature is singular"):
        gw.grad(lambda x: stats.laplace.fit(x)[0])(data)
