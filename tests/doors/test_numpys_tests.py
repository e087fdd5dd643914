"""A sample of NumPy's own tests, on `gradwrap.numpy`: `numpys_tests.py`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.doors.numpys_tests import MODES, VERSION, explained, failures, outcomes

SAMPLE = (
    "numpy.lib.tests.test_arraypad",
    "numpy.lib.tests.test_arraysetops",
    "numpy.lib.tests.test_shape_base",
    "numpy.lib.tests.test_twodim_base",
    "numpy.lib.tests.test_type_check",
    "numpy.fft.tests.test_helper",
)


@pytest.mark.slow
@pytest.mark.skipif(not np.__version__.startswith(VERSION), reason="the list is of another version")
@pytest.mark.parametrize("mode", MODES)
def test_numpys_tests_pass_or_are_explained(mode: str) -> None:
    found = failures(mode, SAMPLE)
    known = explained(mode)
    unknown = {name: words for name, words in found.items() if name not in known}
    assert not unknown, unknown
    modules = tuple(name.removeprefix("numpy.").replace(".", "/") for name in SAMPLE)
    expected = {name for name in known if name.startswith(modules)}
    assert expected == set(found)  # a line of the list goes when its test passes


@pytest.mark.slow
def test_a_transform_runs_each_test() -> None:
    found = outcomes("inside", SAMPLE[-1:])
    assert sum(outcome == "passed" for outcome, _ in found.values()) > 5


@pytest.mark.parametrize("mode", MODES)
def test_each_failure_has_a_reason(mode: str) -> None:
    assert all(reason for reason in explained(mode).values())
