"""Distributions of packages whose objects hold tracked values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import GradwrapError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.4, 0.7, 2.0])
SOURCE = """
from scipy import integrate, stats
class Weights:
    def __init__(self, c): self.c = c
    def total(self): return 1 + self.c / 2
class Line(stats.rv_continuous):
    def __init__(self, c, **options):
        self.weights = Weights(c)
        self.c = [c]
        super().__init__(a=0.0, b=1.0, **options)
    def _pdf(self, x): return (1 + self.c[0] * x) / self.weights.total()
class LineBelow(Line):
    def _cdf(self, x): return (x + self.c[0] * x**2 / 2) / self.weights.total()
class Ramp(stats.rv_continuous):
    def __init__(self, b, **options): super().__init__(a=0.0, b=b, **options)
    def _pdf(self, x): return 2 * x / self.b**2
    def _cdf(self, x): return x**2 / self.b**2
class Smooth(stats.rv_continuous):
    def __init__(self, data, **options):
        self.kernel = stats.gaussian_kde(data, "silverman")
        super().__init__(a=np.min(data), b=np.max(data), **options)
    def _pdf(self, x, *args): return self.kernel.evaluate(x)
    def _cdf(self, x, *args): return self.kernel.integrate_box_1d(self.a, x)
    def _munp(self, n, *args):
        return integrate.quad(lambda x: x**n * self.pdf(x), self.a, self.b)[0]
class Shaped(stats.rv_continuous):
    def _pdf(self, x, c): return (1 + c * x) / (1 + c / 2)
class Wide(stats.rv_continuous):
    def __init__(self, rate, **options):
        self.rate = rate
        super().__init__(a=0.0, **options)
    def _pdf(self, x): return self.rate * np.exp(-self.rate * x)
DATA = np.array([0.1, 0.2, 0.9, 1.0])
SHAPED = Shaped(a=0.0, b=1.0, name="shaped")
def run(x): return np.sum({}) * x[2]
"""
METHODS = (
    *("pdf(x[0])", "logpdf(x[0])", "cdf(x[0])", "logcdf(x[0])", "sf(x[0])", "logsf(x[0])"),
    *("ppf(x[0])", "isf(x[0])", "median()", "interval(0.8)[0]", "mean()", "var()", "std()"),
    *("moment(3)", "entropy()", "stats(moments='mvs')", "expect(lambda t: t**2)"),
    *("pdf(np.array([-1.0, 0.2, x[0], 9.0]))", "pdf(0.5, loc=0.1 * x[0], scale=x[2])"),
    "expect(lambda t: t**2, loc=x[0], scale=x[2], lb=0.5, conditional=True)",
)
SLOW = (
    "stats.gamma(x[0], scale=x[1]).expect() + stats.gamma(x[0], x[1]).support()[0]",
    "Wide(x[0]).expect(lambda t: t**3, loc=x[1])",
    "Ramp(1.0 + x[1]).mean()",  # an integral of roots
)
SHAPES = (
    "SHAPED.expect(lambda t: t**3, args=(x[1],))",
    "SHAPED.expect(args=(x[1],), loc=x[0])",
    "SHAPED(x[1], scale=x[2]).support()",
    "stats.norm(x[0], x[1]).expect(lambda t: t**4)",
    *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW),
)


@pytest.mark.parametrize(
    "expression",
    [
        *(f"Line(x[1]).{method}" for method in METHODS if "logcdf" not in method),
        *(f"LineBelow(x[1]).{method}" for method in METHODS),
        *(f"Ramp(1.0 + x[1]).{method}" for method in METHODS if method != "mean()"),
        "Ramp(x[1]).support()",
        *(
            f"Smooth(DATA * x[1]).{method}"
            for method in ("pdf(x[0])", "cdf(x[0])", "mean()", "var()")
        ),
        *SHAPES,
    ],
)
def test_distributions_hold_tracked_values(expression: str, tmp_path: Path) -> None:
    run = written(tmp_path, SOURCE.format(expression)).run
    wanted = [(run(X + e) - run(X - e)) / 2e-5 for e in 1e-5 * np.eye(3)]
    adapted = gw.adapting(run)
    value, gradient = gw.value_and_grad(adapted)(X)
    np.testing.assert_allclose(value, run(X), rtol=1e-7)
    np.testing.assert_allclose(gradient, wanted, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(
        gw.jvp(adapted, (X,), (X,))[1], np.dot(wanted, X), rtol=2e-5, atol=1e-7
    )


REFUSED = {
    "samples": "Line(x[1]).rvs(size=2, random_state=1)",
    "a fit": "Line(x[1]).fit([0.2, 0.5], floc=0.0, fscale=1.0)",
    "a density of differences": "Below(x[1]).pdf(x[0])",
    "a value that a closure holds": "Closing(x[1]).pdf(x[0])",
}
MORE = """
class Below(stats.rv_continuous):
    def __init__(self, c, **options):
        self.c = c
        super().__init__(a=0.0, b=1.0, **options)
    def _cdf(self, x): return (x + self.c * x**2 / 2) / (1 + self.c / 2)
class Closing(Below):
    def __init__(self, c, **options):
        self.density = lambda x: (1 + c * x) / (1 + c / 2)
        super().__init__(c, **options)
    def _pdf(self, x): return self.density(x)
"""


@pytest.mark.parametrize("expression", REFUSED.values(), ids=REFUSED)
def test_what_has_no_derivative_is_refused(expression: str, tmp_path: Path) -> None:
    run = written(tmp_path, SOURCE.format(expression) + MORE).run
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(GradwrapError, match=r"Fix: "):
            transform(gw.adapting(run))(X)
