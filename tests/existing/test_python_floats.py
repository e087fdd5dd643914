"""Floats of Python among tracked numbers, in adapted code that asks for their class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = (
    "type(t) is float",
    "type(t) == float",
    "type(t) in (int, float)",
    "t.__class__ is float",
    "type(t) is not np.float64",
    "type(t).__name__ == 'float'",
)


@pytest.fixture
def package(tmp_path: Path) -> Any:
    cases = "\n".join(
        f"        def case{n}(t): return t**2 if {check} else 3.0 * t"
        for n, check in enumerate(CHECKS)
    )
    return written(
        tmp_path,
        f"""
{cases}
        def converted(x): return case0(float(x[0])) + case0(x[1])
        """,
    )


@pytest.mark.parametrize("number", range(len(CHECKS)))
@pytest.mark.parametrize(("given", "slope"), [(0.7, 1.4), (2, 4.0), (np.float64(0.7), 3.0)])
def test_an_argument_is_a_float_if_it_was_one(
    package: Any, number: int, given: Any, slope: float
) -> None:
    function = gw.adapting(getattr(package, f"case{number}"))
    assert np.isclose(gw.grad(function)(given), slope)
    assert np.isclose(gw.jvp(function, (given,), (1.0,))[1], slope)


def test_what_float_gives_is_a_float(package: Any) -> None:
    x = np.array([0.7, 0.5])
    np.testing.assert_allclose(gw.grad(gw.adapting(package.converted))(x), [1.4, 3.0])
    np.testing.assert_allclose(gw.jacfwd(gw.adapting(package.converted))(x), [1.4, 3.0])


def test_a_compiled_function_takes_the_branch_of_eager(package: Any) -> None:
    gradient = gw.grad(gw.adapting(package.case0))
    compiled = gw.compile(gradient)
    for given in (0.7, 0.9, np.float64(0.7), 1.3):
        assert np.isclose(compiled(given), gradient(given))
