"""A package that knows nothing of gradwrap, for the examples of existing-code.md."""

import math
from typing import Any

import numpy as np


def trajectory(speed: float, angle: float, steps: int = 4) -> Any:
    """The heights of a thrown ball, one after the other."""
    heights = np.zeros(steps)
    for i in range(1, steps):
        t = 0.1 * i
        heights[i] = float(speed) * math.sin(angle) * t - 4.905 * t**2
    return heights


def rotated(angle: float, point: Any) -> Any:
    """A point of the plane, turned around the origin."""
    point = np.asarray(point, dtype=float)
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]]).dot(point)
