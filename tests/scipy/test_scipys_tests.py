"""Samples of SciPy's and NumPy's own tests as data: `scipys_tests.py` and `numpys_calls.py`."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from scipys_tests import FINE, kind_of, outcomes, rows

SAMPLE = (
    "signal.tests.test_czt",
    "special.tests.test_spherical_bessel",
    "linalg.tests.test_solvers",
)
OF_NUMPY = ("fft.tests.test_pocketfft", "lib.tests.test_twodim_base", "lib.tests.test_ufunclike")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("scipy.signal.tests") is None, reason="SciPy has come without tests")
@pytest.mark.parametrize("module", SAMPLE)
def test_calls_in_scipys_tests_are_right_or_refused(module: str) -> None:
    found = list(outcomes(f"scipy.{module}", 12))
    wrong = [one for one in found if kind_of(one[2]) not in FINE]
    assert not wrong, wrong
    assert Counter(kind_of(one[2]) for one in found)["right"] > 8


@pytest.mark.slow
@pytest.mark.skipif(find_spec("numpy.fft.tests") is None, reason="NumPy has come without tests")
@pytest.mark.parametrize("module", OF_NUMPY)
def test_calls_in_numpys_tests_are_right_or_refused(module: str) -> None:
    found = list(outcomes(f"numpy.{module}", 3, ("numpys_calls",)))
    wrong = [one for one in found if kind_of(one[2]) not in FINE]
    assert not wrong, wrong
    assert Counter(kind_of(one[2]) for one in found)["right"] > 2


def test_functions_of_all_submodules_are_examined() -> None:
    paths = {row.path.split(".")[0] for _, row in rows().values()}
    assert {"linalg", "signal", "ndimage", "special", "stats", "fft"} <= paths


def test_ufuncs_are_those_of_the_table() -> None:
    (jv,) = [function for function, row in rows().values() if row.path == "special.jv"]
    x: Any = np.float64(0.7)
    np.testing.assert_allclose(gw.grad(lambda x: jv(1, x))(x), (jv(0, x) - jv(2, x)) / 2)
