"""`scipy.ndimage`'s interpolation: every mode, order and prefilter, far beyond the ends too."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.scipy import interpolate as with_types
from gradwrap.scipy import ndimage
from gradwrap.scipy.calls import SciPyCall
from gradwrap.scipy.table import row_of

interpolate: Any = with_types  # called with tracked arrays

RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.normal(size=(6, 5))
MODES = [
    *("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap"),
    "wrap",
]
CALLS: dict[str, tuple[Any, ...]] = {
    "zoom": (1.7,),
    "shift": ((0.7, -2.3),),
    "rotate": (33.0,),
    "affine_transform": (np.array([[0.9, 0.3], [-0.2, 1.1]]), np.array([0.4, -1.2])),
    "map_coordinates": (RANDOM.uniform(-30, 40, size=(2, 40)),),
}
OPTIONS = [
    {"mode": mode, "order": order, "prefilter": prefilter}
    for mode, order, prefilter in itertools.product(MODES, range(6), (True, False))
]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("mode", MODES)
def test_modes_are_right(name: str, mode: str) -> None:
    row: Any = row_of(f"ndimage.{name}")
    for options in OPTIONS:
        if options["mode"] != mode:
            continue
        call = SciPyCall(row, row.kind, (IMAGE, *CALLS[name]), options)
        (out,) = call.values(call.leaves)
        weights = np.cos(np.arange(out.size)).reshape(out.shape)
        direction = np.sin(np.arange(IMAGE.size)).reshape(IMAGE.shape)

        def function(x: Any, options: dict[str, Any] = options) -> Any:
            return getattr(ndimage, name)(x, *CALLS[name], **options)

        found = gw.grad(lambda x, w=weights, f=function: np.sum(w * f(x)))(IMAGE)

        np.testing.assert_allclose(row.kind.evaluate(call, call.leaves, [out]), out, atol=1e-9)
        moved = function(direction) - function(np.zeros_like(direction))  # linear in the image
        np.testing.assert_allclose(np.sum(found * direction), np.sum(weights * moved), atol=1e-9)
        np.testing.assert_allclose(gw.jvp(function, [IMAGE], [direction])[1], moved, atol=1e-9)


@pytest.mark.parametrize("ends", ["not-a-knot", "natural", ((1, 0.3), (2, -0.2))])
def test_splines_of_many_points_have_the_derivatives_of_those_of_few(
    ends: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many points are solved by bands, few by a full matrix."""
    rng = np.random.default_rng(6)
    x, y, at = np.sort(rng.uniform(0, 4, 9)), rng.normal(size=9), rng.uniform(0.5, 3.5, 5)

    def total(x: Any, y: Any) -> Any:
        return np.sum(np.sin(interpolate.CubicSpline(x, y, bc_type=ends)(at)))

    gradient = gw.grad(total, (0, 1))
    wanted = gradient(x, y)
    monkeypatch.setattr("gradwrap.scipy.rules.interpolate.FEW", 0)
    for one, other in zip(gradient(x, y), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11)
