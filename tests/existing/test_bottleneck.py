"""Functions of bottleneck, which are compiled, on tracked arrays in adapted code."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwrap as gw

pytestmark = pytest.mark.peers
try:
    bn: Any = importlib.import_module("bottleneck")
except ImportError:
    pytest.skip("bottleneck is not installed", allow_module_level=True)

X = np.array([0.3, 1.2, -0.7, 2.1, 0.9, -1.4])
HOLES = np.array([[0.0, 0.0, np.nan, 0.0, 0.0, 0.0], [np.nan, 0.0, 0.0, 0.0, np.nan, 0.0]])
Function = Callable[[Any], Any]
FUNCTIONS: dict[str, Function] = {
    "nansum": lambda a: bn.nansum(a, axis=0) ** 2,
    "nanmean": lambda a: bn.nanmean(a, axis=1),
    "nanstd": lambda a: bn.nanstd(a, axis=1, ddof=1),
    "nanvar": lambda a: bn.nanvar(a),
    "nanmin": lambda a: bn.nanmin(a, 1) * bn.nanmax(a, axis=1),
    "nanmedian": lambda a: bn.nanmedian(a, axis=1),
    "median": lambda a: bn.median(a[0, 3:] ** 2),
    "nanvar by position": lambda a: bn.nanvar(a, 1, 1) + bn.nanstd(a, axis=1, ddof=1),
    "ss": lambda a: bn.ss(a[:, 1:2]),
    "push": lambda a: bn.push(a, n=1, axis=1)[:, 1:],
    "move_sum": lambda a: bn.move_sum(a, 3, min_count=1, axis=1),
    "move_mean": lambda a: bn.move_mean(a, window=2, min_count=1),
    "move_std": lambda a: bn.move_std(a, 3, min_count=2, ddof=1),
    "move_var": lambda a: bn.move_var(a, 3, min_count=2),
    "move_min": lambda a: bn.move_min(a, 3, min_count=1) + bn.move_max(a, 4, 1),
    "move_median": lambda a: bn.move_median(a, 3, min_count=1),
    "anynan": lambda a: a[~bn.anynan(a, axis=1) | bn.allnan(a * np.nan, axis=1)],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_bottleneck(name: str) -> None:
    function = FUNCTIONS[name]

    def total(x: Any) -> Any:
        found = np.ravel(function(x * np.array([[1.0], [0.8]]) + HOLES))
        return np.nansum(found * np.cos(np.arange(found.size)))

    steps = 1e-6 * np.eye(6)
    expected = [(total(X + e) - total(X - e)) / 2e-6 for e in steps]
    value, found = gw.value_and_grad(gw.adapting(total))(X)
    assert np.allclose(value, total(X), rtol=1e-13)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-8)
    forward = [gw.jvp(gw.adapting(total), (X,), (e,))[1] for e in np.eye(6)]
    assert np.allclose(forward, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("window", "least"), [(4, None), (0, None), (2, 3), (2, 0)])
def test_windows_that_do_not_fit_are_refused(window: int, least: int | None) -> None:
    def moved(x: Any) -> Any:
        return np.nansum(bn.move_sum(x, window, min_count=least))

    for function in (moved, gw.grad(gw.adapting(moved))):
        with pytest.raises(ValueError, match=r"window|min_count"):
            function(np.array([1.0, 2.0, 3.0]))
