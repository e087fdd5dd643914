"""What adapting costs: plain calls of an adapted package, and gradients."""

from __future__ import annotations

import timeit
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw

from .functions import PACKAGES
from .trying import differences, total

if TYPE_CHECKING:
    from collections.abc import Callable

CHOSEN = {
    "nvector": "great_circle_distance",
    "colour-science": "delta_E",
    "modern_robotics": "FKinSpace",
    "filterpy": "KalmanFilter",
    "colorspacious": "sRGB1 to CIELab",
    "scikit-fuzzy": "trapmf",
    "seawater": "dens",
    "HydroErr": "kge_2009",
    "rmsd": "kabsch_rmsd",
    "geographiclib": "Inverse",
}
"""A function of each of ten packages, of 10 µs to 1 ms, some of arrays and some of numbers."""
IMPORTED = {"scikit-fuzzy": "skfuzzy", "colour-science": "colour"}
"""The names under which packages are imported, where these differ."""


def seconds(call: Callable[[], Any]) -> float:
    """The least time of a call, of many."""
    number = max(1, int(2e-3 / max(timeit.timeit(call, number=5) / 5, 1e-7)))
    return min(timeit.repeat(call, number=number, repeat=25)) / number


def cost_table() -> str:
    """The times of ten functions: plain, plain in an adapted package, and their gradients."""
    lines = [
        "| function | parameters | µs | adapted, plain | gradient | central differences |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    ratios: list[float] = []
    gradients: list[float] = []
    for package in PACKAGES:
        if package.name not in CHOSEN:
            continue
        label, function, point = next(c for c in package.cases() if c[0] == CHOSEN[package.name])
        x = np.array(point)
        name = IMPORTED.get(package.name, package.name)
        call, summed = partial(function, x), total(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = seconds(call)
            with gw.adapted(name):
                during = seconds(call)
            plain = min(before, seconds(call))
            backward = seconds(partial(gw.grad(total(gw.adapting(function))), x)) / plain
            central = seconds(partial(differences, summed, x, 1e-6)) / plain
        ratios.append(during / plain)
        gradients.append(backward)
        lines.append(
            f"| {package.name}: {label} | {x.size} | {plain * 1e6:.0f} | {during / plain:.2f} "
            f"| {backward:.0f} | {central:.0f} |"
        )
    lines.append(f"| median | | | {np.median(ratios):.2f} | {np.median(gradients):.0f} | |")
    return "\n".join(lines)
