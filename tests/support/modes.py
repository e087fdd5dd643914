"""What tests of adapted code compare: each mode of differentiation with differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable


def check_modes(run: Callable[[Any], Any], x: Any) -> None:
    """Compare reverse and forward mode, a Hessian and a compiled gradient with differences."""
    steps = 1e-5 * np.eye(len(x))
    wanted = [(float(run(x + e)) - float(run(x - e))) / 2e-5 for e in steps]
    adapted = gw.adapting(run)
    value, found = gw.value_and_grad(adapted)(x)
    np.testing.assert_allclose(value, float(run(x)), rtol=1e-14)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(gw.jacfwd(adapted)(x), wanted, rtol=1e-6, atol=1e-7)
    forward = [gw.jvp(adapted, (x,), (e,))[1] for e in np.eye(len(x))]
    np.testing.assert_allclose(forward, wanted, rtol=1e-6, atol=1e-7)
    slope = gw.grad(adapted)
    second = [(slope(x + e) - slope(x - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(gw.hessian(adapted)(x), second, rtol=1e-6, atol=1e-6)
    compiled = gw.compile(slope)
    compiled(1.1 * x)
    np.testing.assert_allclose(compiled(x), found, rtol=1e-11, atol=1e-13)
