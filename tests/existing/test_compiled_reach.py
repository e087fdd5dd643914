"""Compiled functions of packages that know nothing of gradwrap; a warning of the compiler fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.5, 1.5])
SOURCES = {
    "stores to random numbers": """
        class Filter:
            def __init__(self): self.w = np.random.RandomState(0).randn(2)
            def update(self, x): self.w += x * self.w
        def run(x):
            one = Filter()
            one.update(x)
            one.update(x)
            return np.sum(one.w * x)
    """,
    "keys that are floats": """
        EXACT = {0.0: 1.0, 90.0: 0.0, 60.0: 0.5}
        def run(x):
            found = EXACT.get(x[0] % 360.0)
            if found is None:
                found = math.cos(math.radians(x[0]))
            return found * x[1]
    """,
    "checks": """
        def run(x):
            y = 2 * x
            np.testing.assert_allclose(y, x + x)
            np.testing.assert_array_less(x, 10.0, err_msg="too large")
            return np.sum(y * x)
    """,
    "eigenvalues": """
        def run(x):
            w, v = np.linalg.eig(np.array([[2.0 + x[0], 0.3], [x[1], 1.0]]))
            return np.sum(np.abs(w) ** 3) + np.abs(v[0, 1])
    """,
    "ufuncs within SciPy": """
        from scipy.special import lambertw
        def run(x):
            return np.real(lambertw(x[0] + 1.0)) * x[1]
    """,
    "questions": """
        import scipy.sparse
        def run(x):
            return np.sum(x) if scipy.sparse.issparse(x) else np.sum(x**2)
    """,
}


def differences(function: Any, x: Any) -> Any:
    return np.array([(function(x + e) - function(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)])


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_packages_run_as_programs(tmp_path: Path, source: str) -> None:
    package = written(tmp_path, source)
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    for x in (X, 1.1 * X, np.array([2.5, 0.7]), X):
        assert np.allclose(compiled(x), differences(package.run, x), rtol=1e-6)


def test_a_key_that_is_there_is_refused_as_without_compiling(tmp_path: Path) -> None:
    package = written(tmp_path, SOURCES["keys that are floats"])
    slope = gw.grad(gw.adapting(package.run))
    compiled = gw.compile(slope)
    assert np.allclose(compiled(X), slope(X))
    for _ in range(12):  # Python runs the lookup by another instruction after some calls
        assert np.allclose(slope(X), differences(package.run, X))
    for function in (slope, compiled):
        with pytest.raises(gw.errors.TrackedValueError, match=r"a dictionary.* in run"):
            function(np.array([420.0, 1.0]))


def test_a_check_that_fails_later_raises(tmp_path: Path) -> None:
    compiled = gw.compile(gw.grad(gw.adapting(written(tmp_path, SOURCES["checks"]).run)))
    assert np.allclose(compiled(X), 4 * X)
    with pytest.raises(AssertionError, match="too large"):
        compiled(np.array([1.0, 20.0]))
    assert np.allclose(compiled(2 * X), 8 * X)
