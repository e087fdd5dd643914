"""Small modules that do what calls from public packages' own tests were found to fail by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.5, 0.7, 0.3, 0.9])


def check(function: Any, x: Any = X, rtol: float = 1e-6) -> None:
    """Compare both modes with central differences."""
    units = np.eye(x.size)
    expected = [(function(x + 1e-6 * e) - function(x - 1e-6 * e)) / 2e-6 for e in units]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(x), expected, rtol=rtol)
    assert np.allclose([gw.jvp(adapted, (x,), (e,))[1] for e in units], expected, rtol=rtol)


def functions(source: str) -> list[str]:
    """Return the names of a module's functions of `x` alone."""
    return [line.split()[1][:-4] for line in source.splitlines() if line.endswith("(x):")]


WRAPPED = """
    import functools
    import numpy.polynomial.polyutils
    import scipy.integrate
    import scipy.linalg
    import scipy.special

    def doubled(function):
        @functools.wraps(function)
        def twice(*args, **options):
            return 2.0 * function(*args, **options)
        return twice

    sign = doubled(np.abs)
    mean = doubled(np.mean)
    mapparms = doubled(numpy.polynomial.polyutils.mapdomain)
    median = doubled(np.ma.median)
    expit = doubled(scipy.special.expit)
    toeplitz = doubled(scipy.linalg.toeplitz)
    simpson = doubled(scipy.integrate.simpson)
    solved = doubled(scipy.linalg.solve_triangular)

    def of_a_ufunc(x):
        return np.sum(sign(x - 0.6) ** 2)

    def of_numpy(x):
        return mean(x * x)

    def of_numpys_python(x):
        return np.sum(mapparms(x, np.array([0.0, 1.0]), np.array([-1.0, 2.0])) ** 2)

    def of_masked(x):
        return median(np.ma.masked_less(x, 0.4)) ** 2

    def of_scipys_ufunc(x):
        return np.sum(expit(x) ** 2)

    def of_scipys_matrix(x):
        return np.sum(toeplitz(x) ** 3)

    def of_scipy(x):
        return simpson(x ** 3, dx=0.1)

    def of_a_solver(x):
        return np.sum(solved(np.diag(x + 1.0), x) ** 2)
"""


@pytest.mark.parametrize("name", functions(WRAPPED))
def test_a_function_with_the_name_of_another_does_what_its_own_code_says(
    name: str, tmp_path: Path
) -> None:
    """`functools.wraps` copies `__module__` too, by which functions of libraries were known."""
    check(getattr(written(tmp_path, WRAPPED), name))
