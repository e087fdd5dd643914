"""Results that packages keep between calls: their gradients are those of the call, each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import TrackedValueError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 0.7])
CUBES = 3 * X**2
BODIES = {
    "keys of numbers": """
        def cube(day, x, _cache={}):
            try:
                return _cache[(day, x)]
            except KeyError:
                pass
            _cache[(day, x)] = x ** day
            return _cache[(day, x)]
        def run(x): return cube(3, x[0]) + cube(3, x[1])
        """,
    "a look before": """
        class Model:
            def __init__(self): self.known = {}
            def cube(self, x):
                if x not in self.known:
                    self.known[x] = x ** 3
                return self.known.get(x)
        MODEL = Model()
        def run(x): return MODEL.cube(x[0]) + MODEL.cube(x[1])
        """,
    "a named dictionary": """
        LAST = {}
        def cubes(x):
            if not LAST or not np.all(LAST["x"] == x):
                LAST["y"] = np.sum(x ** 3)
                LAST["x"] = x
            return LAST["y"]
        def run(x): return cubes(x)
        """,
    "global names": """
        last = found = None
        def cubes(x):
            global last, found
            if last is None or not np.all(last == x):
                last, found = x, np.sum(x ** 3)
            return found
        def run(x): return cubes(x)
        """,
}


COUNTED = [
    """
    COUNTS = {}
    def run(x):
        COUNTS[x[0]] = COUNTS.get(x[0], 0) + 1
        return COUNTS[x[0]] * x[1]
    """,
    """
    GROUPS = {}
    def run(x):
        if x[0] not in GROUPS:
            GROUPS[x[0]] = []
        GROUPS[x[0]].append(x[1])
        return sum(map(sum, GROUPS.values()))
    """,
    """
    def run(x):
        own = {1.3: 2.0}
        if x[0] not in own:
            own[x[0]] = 3.0
        return own[x[0]] * x[1]
    """,
]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_results_that_a_package_keeps(tmp_path: Path, body: str) -> None:
    package = written(tmp_path, body)
    gradient = gw.grad(gw.adapting(package.run))
    is_keyed = "if x not in" in body or "_cache" in body
    if is_keyed:
        package.run(X)  # the plain results of equal keys have no gradient
    for _ in range(3):
        assert np.allclose(gradient(X), CUBES)
        assert np.allclose(gw.jvp(gw.adapting(package.run), (X,), (X,))[1], CUBES @ X)
    assert np.allclose(package.run(X), np.sum(X**3))
    assert type(package.run(X)) is np.float64


def test_a_table_refuses_a_tracked_part_of_a_key(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        TABLE = {(1, 1.3): 2.0, (1, 0.5): 3.0}
        def run(x): return TABLE[(1, x[0])] * x[1]
        """,
    )
    with pytest.raises(TrackedValueError, match=r"Use as a key .* in run"):
        gw.grad(gw.adapting(package.run))(X)
    for body in COUNTED:
        package = written(tmp_path, body)
        with pytest.raises(TrackedValueError, match=r"Use as a key .* in run"):
            gw.grad(gw.adapting(package.run))(X)
    package = written(
        tmp_path,
        """
        FOUND = {}
        def run(x):
            FOUND[x[0]] = 2.0
            return x[1]
        """,
    )
    with pytest.raises(TrackedValueError, match=r"Use as a key .* in run"):
        gw.grad(gw.adapting(package.run))(X)
