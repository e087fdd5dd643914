"""Libraries that find gradwrap by themselves: unmodified scipy.fft, and einops."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwrap as gw

fft: Any = import_module("scipy.fft")
SIGNAL = np.array([0.3, -1.2, 0.7, 2.0, 0.4])
PLANE = np.arange(12.0).reshape(3, 4) ** 1.5


@pytest.mark.parametrize(
    ("name", "x"),
    [("fft", SIGNAL), ("rfft", SIGNAL), ("dct", SIGNAL), ("idst", SIGNAL), ("fft2", PLANE)],
)
def test_unmodified_scipy_fft_is_differentiated(name: str, x: Any) -> None:
    function = getattr(fft, name)

    gw.testing.check_grads(lambda x: np.abs(function(x)) ** 2, (x,))
    np.testing.assert_array_equal(gw.vjp(function, x)[0], function(x))


def test_plain_arrays_and_other_backends_go_to_scipy() -> None:
    found = fft.fft(SIGNAL)
    with fft.set_backend("scipy", only=True):
        wanted = fft.fft(SIGNAL)

    np.testing.assert_array_equal(found, wanted)
    assert type(found) is np.ndarray


@pytest.mark.parametrize("first", ["gradwrap", "scipy.fft"])
def test_order_of_imports_does_not_matter(first: str) -> None:
    second = {"gradwrap": "scipy.fft", "scipy.fft": "gradwrap"}[first]
    code = f"""
import {first}, {second}
import numpy as np, gradwrap, scipy.fft
print(gradwrap.grad(lambda x: np.sum(scipy.fft.dct(x)))(np.ones(2)).shape)
print(type(scipy.fft.__loader__).__name__)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.split() == ["(2,)", "SourceFileLoader"]


def test_einops_takes_tracked_arrays() -> None:
    einops: Any = pytest.importorskip("einops")

    def function(x: Any) -> Any:
        y = einops.rearrange(x, "a (b c) -> (a c) b", c=2)
        return einops.reduce(y, "i j -> i", "mean") + einops.repeat(x[0, 0], "-> n", n=6)

    gw.testing.check_grads(function, (PLANE,))
