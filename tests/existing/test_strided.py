"""Strided views of tracked arrays in adapted code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import InPlaceError, TrackedValueError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

STRIDED = """
    from numpy.lib.stride_tricks import as_strided

    def frames(x, n=3, hop=2):
        step = x.strides[0]
        return as_strided(x, shape=((len(x) - n) // hop + 1, n), strides=(hop * step, step))

    def every_second(x):
        return frames(x[::2], 2, 1)

    def repeated(x):
        return np.lib.stride_tricks.as_strided(x, (2, 3), (0, x.itemsize))

    def overlapping(x):
        m = np.asarray(x, dtype=float).reshape(2, 4)
        return as_strided(m, (2, 2, 3), (*m.strides, m.strides[1]))

    def turned(x):
        m = x.reshape(2, 4).T[:, ::-1]
        return as_strided(m, (3, 2, 2), (m.strides[0], *m.strides))

    def backwards(x):
        return as_strided(x[::-1], (4,), (-2 * x.itemsize,))

    def as_it_is(x):
        return as_strided(x.reshape(2, 4))

    def written_later(x):
        x = x * 1.0
        found = frames(x)
        x[0] = 5.0 * x[1]
        return found
"""


@pytest.mark.parametrize(
    "name",
    [
        "frames", "every_second", "repeated", "overlapping", "turned", "backwards", "as_it_is",
        "written_later",
    ],
)  # fmt: skip
def test_strided_views_are_those_of_numpy(tmp_path: Path, name: str) -> None:
    function = getattr(written(tmp_path, STRIDED), name)

    def total(x: Any) -> Any:
        return np.sum(np.cos(np.arange(function(x).size) + 0.3) * np.ravel(function(x)) ** 2)

    x = np.arange(1.0, 9.0)
    steps = 1e-6 * np.eye(8)
    differences = [(total(x + e) - total(x - e)) / 2e-6 for e in steps]
    adapted = gw.adapting(total)
    np.testing.assert_allclose(gw.grad(adapted)(x), differences, rtol=1e-6, atol=1e-6)
    forward = [gw.jvp(adapted, (x,), (e,))[1] for e in np.eye(8)]
    np.testing.assert_allclose(forward, differences, rtol=1e-6, atol=1e-6)


def test_strided_views_without_overlaps_can_be_written_to(tmp_path: Path) -> None:
    module = written(
        tmp_path,
        """
        import numpy as np
        from numpy.lib.stride_tricks import as_strided

        def run(x):
            out = np.zeros((2, 3, 3)) + x[0]
            diagonals = as_strided(out, (2, 3), (72, 32))
            diagonals[:] = x.reshape(2, 3) ** 2
            diagonals[1, 2] *= x[1]
            out[..., 0] *= 2.0
            turned = as_strided(out, (3, 2), (32, 72))
            return np.sum(out * np.arange(18.0).reshape(2, 3, 3)) + np.sum(turned**3)
        """,
    )
    x: Any = np.linspace(0.5, 1.5, 6)
    wanted = [(module.run(x + e) - module.run(x - e)) / 2e-6 for e in np.eye(6) * 1e-6]
    np.testing.assert_allclose(gw.grad(gw.adapting(module.run))(x), wanted, rtol=1e-6)
    assert gw.value_and_grad(gw.adapting(module.run))(x)[0] == module.run(x)


def test_strided_views_are_not_written_through_and_stay_inside(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        from numpy.lib.stride_tricks import as_strided

        def through(x):
            as_strided(x, (3, 2), (8, 8))[0] = x[1]
            return np.sum(x)

        def outside(x):
            return np.sum(as_strided(x, (9,), (8,)))
        """,
    )
    with pytest.raises(InPlaceError, match="read-only"):
        gw.grad(gw.adapting(package.through))(np.ones(4))
    with pytest.raises(TrackedValueError, match="Converting to a plain"):
        gw.grad(gw.adapting(package.outside))(np.ones(4))


def test_windows_of_truths_can_be_written_to(tmp_path: Path) -> None:
    module = written(
        tmp_path,
        """
        from numpy.lib.stride_tricks import as_strided

        def run(x):
            is_large = x > 0.4
            pairs = as_strided(is_large, (x.size - 1, 2), 2 * is_large.strides)
            pairs[0] = False
            return np.sum(np.where(is_large, x**2, x))
        """,
    )
    x = np.array([0.5, 0.7, 0.3, 0.9])
    slopes = np.array([1.0, 1.0, 1.0, 1.8])
    assert module.run(x) == pytest.approx(2.31)
    np.testing.assert_allclose(gw.grad(gw.adapting(module.run))(x), slopes)


def test_a_submodule_of_lib_is_the_one_of_numpy(tmp_path: Path) -> None:
    source = """
        def run(x): return np.lib.scimath.sqrt(x).sum() + abs(np.lib.scimath.log(-x)[0]) ** 2
        """
    run = written(tmp_path, source).run
    x = np.array([0.3, 0.7])
    wanted = 0.5 / np.sqrt(x) + [2 * np.log(0.3) / 0.3, 0.0]
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(x), wanted, rtol=1e-12)
