"""A package that knows nothing of gradwrap, for the examples of existing-code.md."""

import math

import numpy as np


def trajectory(speed, angle, steps=4):
    """The heights of a thrown ball, one after the other."""
    heights = np.zeros(steps)
    for i in range(1, steps):
        t = 0.1 * i
        heights[i] = float(speed) * math.sin(angle) * t - 4.905 * t**2
    return heights


def rotated(angle, point):
    """A point of the plane, turned around the origin."""
    point = np.asarray(point, dtype=float)
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]]).dot(point)
