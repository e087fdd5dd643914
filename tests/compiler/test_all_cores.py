"""Programs on several threads: the argument, equal results, forks, and calls at the same time."""

import copy

import numpy as np
import pytest

import gradwrap as gw


@pytest.mark.parametrize("given", [0, -1])
def test_too_few_threads(given: int) -> None:
    with pytest.raises(ValueError, match=rf"threads is {given}; .* Fix: give 1 or more"):
        gw.compile(threads=given)


@pytest.mark.parametrize("given", [True, 1.5, "2"])
def test_threads_that_are_no_integer(given: int) -> None:
    with pytest.raises(TypeError, match=rf"threads is {given!r}, which is no integer. Fix: give"):
        gw.compile(np.sin, threads=given)


def test_a_copied_function_keeps_its_threads() -> None:
    made = copy.copy(gw.compile(np.sin, threads=3))
    assert made(np.ones(3)).shape == (3,)
    assert made.programs[0].threads == 3
