"""Distributions of the module `random` with tracked parameters, against differences."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 2.1, 2.7])
SOURCE = """
import random
from random import lognormvariate, seed

RNG = random.Random(5)

def of_a_generator(x):
    rng = random.Random(3)
    if not isinstance(rng, random.Random) or not isinstance(RNG, random.Random):
        raise TypeError
    return rng.betavariate(x[0], x[1]) + rng.gammavariate(x[2], x[0]) + rng.expovariate(x[1])

def of_one_that_exists(x):
    RNG.seed(4)
    return sum(RNG.triangular(0.0, x[2], x[0]) * RNG.vonmisesvariate(x[0], x[1]) for _ in range(3))

def of_the_module(x):
    random.seed(2)
    first = random.normalvariate(x[0], x[1]) + random.gammavariate(0.4, x[2]) + random.random()
    seed(2)
    return first * lognormvariate(x[0], x[1]) * random.gauss(x[2], x[0])
"""


@pytest.mark.parametrize("name", ["of_a_generator", "of_one_that_exists", "of_the_module"])
def test_as_differences(tmp_path: Path, name: str) -> None:
    function: Any = getattr(written(tmp_path, SOURCE), name)
    wanted = [(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    adapted = gw.adapting(function)
    value, found = gw.value_and_grad(adapted)(X)
    np.testing.assert_allclose(value, function(X), rtol=1e-13)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_allclose([gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(3)], wanted, 1e-6)


def test_plain_generators_are_pythons_own(tmp_path: Path) -> None:
    package: Any = written(tmp_path, SOURCE)
    with gw.adapted(package.__name__):
        assert type(package.random.Random(3)) is random.Random
        assert package.random.Random(3).betavariate(2.0, 3.0) == random.Random(3).betavariate(2, 3)
    assert package.RNG.__class__ is random.Random
