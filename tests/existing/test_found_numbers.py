"""Numbers that code finds by comparisons have the derivatives of implicit functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import AdaptationError, BatchedValueError, NoRuleError
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([1.3, 0.7])
"""The point of most tests."""
SEARCHES = {
    "between constants": """
        def cdf(m, a): return 0.5 * (1.0 + math.erf(m * a / 2**0.5))
        def run(x):
            a, p = x[0], x[1]
            lo, hi = -10., 10.
            for _ in range(200):
                mid = (lo + hi) / 2
                if cdf(mid, a) < p: lo = mid
                else: hi = mid
            return (lo + hi) / 2 * a
        """,
    "the result alone": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi = 0.0, 3.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if mid * mid < x: lo = mid
                else: hi = mid
            return lo
        """,
    "by a product": """
        def residual(v, x): return v**3 - x
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi = 0, 3
            while hi - lo > 1e-12:
                mid = (lo + hi) / 2
                if residual(lo, x) * residual(mid, x) <= 0: hi = mid
                else: lo = mid
            return mid * x
        """,
    "with three branches": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi = 0.0, 3.0
            while True:
                mid = (lo + hi) / 2
                rest = math.exp(mid) - 4.0 * x
                if abs(rest) < 1e-12: return mid
                elif rest > 0.0: hi = mid
                else: lo = mid
        """,
    "in an expression": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi = 0.0, 3.0
            for _ in range(50):
                mid = (lo + hi) / 2
                lo, hi = (mid, hi) if mid * mid < x else (lo, mid)
            return mid
        """,
    "by steps": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            found, step = 0.0, 8.0
            for _ in range(60):
                if (found + step) ** 2 < x: found += step
                else: step *= 0.5
            return found
        """,
    "of an object": """
        class Model:
            def __init__(self, x): self.x = x
            def rest(self, v): return v * v - self.x
        def bisected(function, lo, hi):
            for _ in range(50):
                mid = (lo + hi) / 2
                if function(mid) < 0.0: lo = mid
                else: hi = mid
            return lo
        def run(v):
            x = v[0] + 0.1 * v[1]
            return bisected(Model(x).rest, 0.0, 3.0)
        """,
    "with a tracked bound": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi = 0.0, 2.0 * x
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if mid * mid < x: lo = mid
                else: hi = mid
            return lo * x
        """,
    "of arrays": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi, squares = np.zeros(2), np.full(2, 9.0), x * np.array([1.0, 2.0])
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                is_low = mid * mid < squares
                lo, hi = np.where(is_low, mid, lo), np.where(is_low, hi, mid)
            return lo[0] + lo[1] ** 2 * x
        """,
    "by masks": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi, squares = np.zeros(2), np.full(2, 9.0), x * np.array([1.0, 2.0])
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                is_low = mid * mid < squares
                lo[is_low], hi[~is_low] = mid[is_low], mid[~is_low]
            return lo[0] + lo[1] ** 2
        """,
    "in attributes": """
        class Search:
            def __init__(self, x): self.x, self.lo, self.hi = x, 0.0, 3.0
            def step(self):
                mid = 0.5 * (self.lo + self.hi)
                if mid * mid < self.x: self.lo = mid
                else: self.hi = mid
        def run(v):
            x = v[0] + 0.1 * v[1]
            search = Search(x)
            for _ in range(60): search.step()
            return search.lo * x
        """,
    "by signs": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            found, step = 1.0, 0.5
            for _ in range(60):
                found += step * np.sign(x - found * found)
                step /= 2
            return found * x
        """,
    "by calls of itself": """
        def search(x, lo, hi, n):
            mid = 0.5 * (lo + hi)
            if not n: return mid
            return search(x, mid, hi, n - 1) if mid * mid < x else search(x, lo, mid, n - 1)
        def run(v):
            x = v[0] + 0.1 * v[1]
            return search(x, 0.0, 3.0, 60) + x * search(2*x, 0.0, 4.0, 60)
        """,
    "between limits that are doubled": """
        def run(x):
            f = lambda v: v ** 3 + v - 20.0 * x[0]
            lo, hi = x[1], 2.0 * x[1]
            while f(hi) < 0: hi *= 2
            while hi - lo > 1e-13:
                mid = (lo + hi) / 2
                fm = f(mid)
                if fm == 0.0: return mid * x[1]
                if np.sign(fm) == np.sign(f(lo)): lo = mid
                else: hi = mid
            return mid * x[1]
        """,
    "inside another": """
        def inner(o, x):
            lo, hi = 0.0, 5.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if mid ** 3 + mid < o + x: lo = mid
                else: hi = mid
            return lo
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi = 0.0, 5.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if inner(mid, x) * mid < x: lo = mid
                else: hi = mid
            return lo * x
        """,
    "of what another has found": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            lo, hi = 0.0, 5.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if mid ** 3 + mid < x: lo = mid
                else: hi = mid
            lo2, hi2 = 0.0, 5.0
            for _ in range(60):
                mid = 0.5 * (lo2 + hi2)
                if mid ** 3 + mid * x < lo: lo2 = mid
                else: hi2 = mid
            return lo * lo2
        """,
    "one after the other": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            out = np.zeros(3)
            for i in range(3):
                lo, hi = 0.0, 5.0
                for _ in range(60):
                    mid = 0.5 * (lo + hi)
                    if mid ** 3 + mid < x * (i + 1): lo = mid
                    else: hi = mid
                out[i] = lo
            return np.sum(out ** 2)
        """,
    "in a list": """
        def run(v):
            x = v[0] + 0.1 * v[1]
            b = [0.0, 5.0]
            for _ in range(60):
                mid = 0.5 * (b[0] + b[1])
                b[int(mid ** 3 + mid > x)] = mid
            return b[0] * x
        """,
    "in a generator": """
        def halvings(x):
            lo, hi = 0.0, 5.0
            while True:
                mid = 0.5 * (lo + hi)
                if mid ** 3 + mid < x: lo = mid
                else: hi = mid
                yield lo, hi
        def run(v):
            x = v[0] + 0.1 * v[1]
            for lo, hi in halvings(x):
                if hi - lo < 1e-14: break
            return lo * x
        """,
    "of a cached function": """
        @functools.lru_cache(maxsize=100)
        def cdf(m, a): return m ** 3 + a * m
        def run(x):
            lo, hi = 0.0, 5.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if cdf(mid, x[0]) < x[1]: lo = mid
                else: hi = mid
            return lo * x[0]
        """,
}


def differences(run: Callable[[Any], Any], x: Any, step: float = 1e-3) -> Any:
    """Return central differences of fourth order."""
    moved = [
        8 * (run(x + e) - run(x - e)) - (run(x + 2 * e) - run(x - 2 * e))
        for e in step * np.eye(len(x))
    ]
    return np.array(moved) / (12 * step)


@pytest.mark.parametrize("source", SEARCHES.values(), ids=SEARCHES)
def test_a_number_found_by_comparisons_has_its_derivative(source: str, tmp_path: Path) -> None:
    run = written(tmp_path, source).run
    adapted = gw.adapting(run)
    for differentiate in (gw.grad, gw.grad, gw.jacfwd):
        for x in (X, X * 1.1):
            found = differentiate(adapted)(x)
            np.testing.assert_allclose(found, differences(run, x), rtol=1e-7, atol=1e-9)
    assert gw.value_and_grad(adapted)(X)[0] == run(X)


ROUGH = {
    "a penalty": """
        def soft(a, least): return np.sign(a) * np.maximum(np.abs(a) - least, 0.0)
        def run(x):
            a = np.array([x[0], x[1], 1.1, -0.9])
            lo, hi = 0.0, np.max(np.abs(a))
            while hi - lo > TOLERANCE:
                least = (lo + hi) / 2
                found = soft(a, least)
                if np.sum(np.abs(found)) / np.linalg.norm(found) < 1.3: hi = least
                else: lo = least
            return np.sum(soft(a, lo) ** 3)
        """,
    "a golden section": """
        def rest(c, x): return (c - x[0]) ** 2 + x[1] * c**4 / 4
        def run(x):
            part = (5**0.5 - 1) / 2
            a, b = 0.0, 3.0
            c, d = b - part * (b - a), a + part * (b - a)
            while b - a > TOLERANCE:
                if rest(c, x) < rest(d, x): b = d
                else: a = c
                c, d = b - part * (b - a), a + part * (b - a)
            return (a + b) / 2
        """,
}


@pytest.mark.parametrize("source", ROUGH.values(), ids=ROUGH)
def test_a_search_may_end_at_a_tolerance(source: str, tmp_path: Path) -> None:
    package = written(
        tmp_path, source.replace("TOLERANCE", "TOLERANCES[0]") + "\n        TOLERANCES = [1e-6]\n"
    )
    found = gw.grad(gw.adapting(package.run))(X)
    package.TOLERANCES[0] = 1e-13 if "soft" in source else 1e-7  # below which there is rounding
    np.testing.assert_allclose(found, differences(package.run, X, 1e-2), rtol=1e-4)


def test_a_minimum_has_the_derivative_of_where_the_slope_vanishes(tmp_path: Path) -> None:
    source = ROUGH["a golden section"].replace("TOLERANCE", "1e-10")
    run = written(tmp_path, source).run
    c = run(X)
    wanted = np.array([2.0, -(c**3)]) / (2.0 + 3.0 * X[1] * c * c)
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(X), wanted, rtol=1e-6)


def test_a_second_derivative_is_refused(tmp_path: Path) -> None:
    run = gw.adapting(written(tmp_path, SEARCHES["the result alone"]).run)
    for differentiate in (gw.hessian(run), gw.jacfwd(gw.jacfwd(run))):
        with pytest.raises(NoRuleError, match=r"a first derivative only.*gradwrap.custom_root"):
            differentiate(X)


def test_each_example_has_its_derivative_in_a_loop(tmp_path: Path) -> None:
    package = written(tmp_path, SEARCHES["the result alone"])
    run, points = gw.adapting(package.run), np.stack([X, 2.0 * X])
    with pytest.raises(BatchedValueError, match='fallback="loop"'):
        gw.vmap(gw.grad(run))(points)
    wanted = [differences(package.run, x) for x in points]
    for _ in range(2):
        found = gw.vmap(gw.grad(run), fallback="loop")(points)
        np.testing.assert_allclose(found, wanted, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")
def test_a_compiled_function_is_never_that_of_one_point(tmp_path: Path) -> None:
    package = written(tmp_path, SEARCHES["between constants"])
    for compiled in (
        gw.compile(gw.grad(gw.adapting(package.run))),
        gw.grad(gw.compile(gw.adapting(package.run))),
    ):
        for x in (X, 1.1 * X, 1.2 * X):
            np.testing.assert_allclose(compiled(x), differences(package.run, x), 1e-7, 1e-9)


REFUSED = {
    "where the slope is zero": """
        def run(x):
            lo, hi = -1.0, 3.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if mid**3 < x[0] - 1.3: lo = mid
                else: hi = mid
            return lo * x[1]
        """,
    "at a kink": """
        def run(x):
            lo, hi = -1.0, 3.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if (2.0 * mid if mid > 0.0 else mid) < x[0] - 1.3: lo = mid
                else: hi = mid
            return (lo + 1.0) * x[1]
        """,
}


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_a_number_without_a_derivative_is_refused(source: str, tmp_path: Path) -> None:
    run = written(tmp_path, source).run
    for differentiate in (gw.grad, gw.jacfwd):
        with pytest.raises(AdaptationError, match=r'compared|found.*Fix: .*compiled="numerical"'):
            differentiate(gw.adapting(run))(X)


def test_a_later_point_may_have_no_derivative(tmp_path: Path) -> None:
    run = gw.adapting(written(tmp_path, REFUSED["where the slope is zero"]).run)
    x = np.array([1.5, 0.7])
    wanted = [0.7 * 0.2 ** (-2 / 3) / 3, 0.2 ** (1 / 3)]
    np.testing.assert_allclose(gw.grad(run)(x), wanted, rtol=1e-8)
    with pytest.raises(AdaptationError, match="a number was found"):
        gw.grad(run)(X)
    np.testing.assert_allclose(gw.grad(run)(x), wanted, rtol=1e-8)


def test_a_branch_without_a_search_has_its_own_derivative(tmp_path: Path) -> None:
    source = """
        def run(x):
            if x[0] < 1.0: return x[0] ** 2 * x[1]
            lo, hi = 0.0, 3.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if mid * mid < x[0]: lo = mid
                else: hi = mid
            return lo * x[1]
        """
    run = written(tmp_path, source).run
    adapted = gw.adapting(run)
    for x in (X, 0.5 * X, X):
        np.testing.assert_allclose(gw.grad(adapted)(x), differences(run, x), rtol=1e-8)


EARLY = """
    TOLERANCE = 1e-13
    def root(a, tolerance):
        low, high = 0.0, 4.0
        while high - low > tolerance:
            middle = (low + high) / 2
            if middle**2 < a: low = middle
            else: high = middle
        return (low + high) / 2
    def run(x): return root(x[0], TOLERANCE) * x[1]
    def given(x, tolerance): return root(x[0], tolerance) * x[1]
    """
SLOPES = [X[1] / 2 / X[0] ** 0.5, X[0] ** 0.5]


@pytest.mark.parametrize("tolerance", [1e-3, 2e-4])
def test_a_search_that_ends_early_is_refused(tolerance: float, tmp_path: Path) -> None:
    package = written(tmp_path, EARLY)
    package.TOLERANCE = tolerance
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(AdaptationError, match=r"found in root .* as in a bisection"):
            transform(gw.adapting(package.run))(X)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")
def test_a_search_is_compared_again_when_its_tolerance_changes(tmp_path: Path) -> None:
    package = written(tmp_path, EARLY)
    eager = gw.grad(gw.adapting(package.run))
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    for gradient in (eager, compiled):
        package.TOLERANCE = 1e-13
        for x in (X, 1.2 * X):
            wanted = [x[1] / 2 / x[0] ** 0.5, x[0] ** 0.5]
            np.testing.assert_allclose(gradient(x), wanted, rtol=1e-9)
        package.TOLERANCE = 1e-3
        with pytest.raises(AdaptationError, match="as in a bisection"):
            gradient(X)
        package.TOLERANCE = 1e-13
        np.testing.assert_allclose(gradient(X), SLOPES, rtol=1e-9)
    gradient = gw.grad(gw.adapting(package.given))
    for tolerance in (1e-13, 1e-12):
        np.testing.assert_allclose(gradient(X, tolerance), SLOPES, rtol=1e-9)
    with pytest.raises(AdaptationError, match="as in a bisection"):
        gradient(X, 1e-3)
