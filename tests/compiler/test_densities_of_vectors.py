"""Densities of several variables in compiled functions: SciPy's function is one operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.scipy as gs

AT = np.array([0.3, -0.7, 1.1])


def normal(x: Any) -> Any:
    return gs.stats.multivariate_normal.logpdf(x[:2], x[1:], np.eye(2) * (1.0 + x[0] ** 2))


def student(x: Any) -> Any:
    return gs.stats.multivariate_t.pdf(x[:2], x[1:], np.eye(2) * (1.0 + x[0] ** 2), 4.0)


@pytest.mark.parametrize("f", [normal, student])
def test_a_density_is_an_operation_of_the_program(f: Any) -> None:
    compiled = gw.compile(gw.grad(f))
    for x in (AT, AT + 0.4, -3.0 * AT, np.array([0.3, np.nan, 1.1]), AT):
        assert np.allclose(
            _outcome(compiled, x), _outcome(gw.grad(f), x), rtol=1e-12, equal_nan=True
        )
    assert len(compiled.programs) == 1
    ends = [AT + 1e-6 * sign * np.ones(3) for sign in (1, -1)]
    slope = (f(ends[0]) - f(ends[1])) / 2e-6
    assert np.isclose(np.sum(compiled(AT)), slope, rtol=1e-6)


def _outcome(function: Any, x: Any) -> Any:
    try:
        return function(x)
    except ValueError:
        return np.full(3, 12345.0)
