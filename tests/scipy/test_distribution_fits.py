"""Parameters that `fit` of SciPy's distributions finds for tracked data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats as st

import gradwrap as gw
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

DATA: Any = np.random.default_rng(3).gamma(3.0, 1.2, size=15)
WEIGHTS: Any = np.array([0.7, -1.3, 0.4])


def total(found: Any) -> Any:
    return sum(w * one for w, one in zip(WEIGHTS, found, strict=False))


def differences(function: Callable[[Any], Any], x: Any, h: float = 1e-5) -> Any:
    return np.array([(function(x + e) - function(x - e)) / (2 * h) for e in np.eye(x.size) * h])


CASES: dict[str, Callable[[Any], Any]] = {
    "norm": lambda x: st.norm.fit(x),
    "norm, a fixed place": lambda x: st.norm.fit(x, floc=1.0),
    "the ends of the support": lambda x: st.uniform.fit(x),
    "one end of the support": lambda x: st.expon.fit(x),
    "expon, a fixed place": lambda x: st.expon.fit(x, floc=0.1),
    "gamma": lambda x: st.gamma.fit(x, floc=0),
    "lognorm": lambda x: st.lognorm.fit(x, floc=0),
    "logistic": lambda x: st.logistic.fit(x),
    "beta": lambda x: st.beta.fit(x, floc=0, fscale=20),
    "a fixed shape": lambda x: st.gamma.fit(x, fa=2.0, floc=0),
    "a matrix": lambda x: st.norm.fit(np.reshape(x, (5, 3))),
}


@pytest.mark.parametrize("name", CASES)
def test_fits_have_the_derivatives_of_the_estimates(name: str) -> None:
    function = CASES[name]
    adapted = gw.adapting(lambda x: total(function(x)))
    wanted = differences(lambda x: total(function(x)), DATA)
    assert np.allclose(gw.grad(adapted)(DATA), wanted, rtol=1e-5, atol=1e-7)
    unit: Any = np.cos(np.arange(15.0))
    assert np.isclose(gw.jvp(adapted, (DATA,), (unit,))[1], wanted @ unit, rtol=1e-5)
    assert total(function(DATA)) == gw.value_and_grad(adapted)(DATA)[0]


def test_a_search_gives_the_derivatives_of_the_most_likely_parameters() -> None:
    # Of the scale at a fixed shape, the estimate is known: the mean of powers.
    def scale(x: Any) -> Any:
        return st.weibull_min.fit(x, fc=1.7, floc=0)[2]

    def known(x: Any) -> Any:
        return np.mean(x**1.7) ** (1 / 1.7)

    assert np.allclose(gw.grad(gw.adapting(scale))(DATA), gw.grad(known)(DATA), rtol=2e-4)


def test_second_derivatives_of_a_fit() -> None:
    found = gw.hessian(gw.adapting(lambda x: st.norm.fit(x)[1]))(DATA)
    assert np.allclose(found, gw.hessian(np.std)(DATA), atol=1e-10)


def test_a_tracked_fixed_parameter_is_kept_and_moves_the_others() -> None:
    def fitted(v: Any) -> Any:
        loc, scale = st.norm.fit(DATA, floc=v)
        return loc + 2 * scale

    wanted = differences(lambda v: fitted(v[0]), np.array([1.0]))[0]
    assert np.isclose(gw.grad(gw.adapting(fitted))(1.0), wanted, rtol=1e-6)


def test_a_flat_likelihood_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"laplace\.fit has no derivative here.*curvature"):
        gw.grad(gw.adapting(lambda x: st.laplace.fit(x)[0]))(DATA)
    with pytest.raises(NoRuleError, match=r"norm\.fit has no derivative with method='MM'"):
        gw.grad(gw.adapting(lambda x: st.norm.fit(x, method="MM")[0]))(DATA)
