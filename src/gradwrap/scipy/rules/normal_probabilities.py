"""The distribution function of the multivariate normal distribution, and its derivatives.

Those in a limit and in two limits (Plackett, 1954) are densities times the distribution functions
of the other components, given these: of normal distributions with fewer components.
"""

from __future__ import annotations

import itertools
import math
from importlib import import_module
from typing import Any

import numpy as np

from gradwrap.transforms.custom_derivatives import custom_jvp

special: Any = import_module("scipy.special")
stats: Any = import_module("scipy.stats")
FAR = 38.0
"""So many standard deviations away the density is zero in double precision."""


def probability(limits: Any, covariance: Any, out: Any = None) -> Any:
    """Return the probabilities that normal vectors of mean zero are below limits.

    Parameters
    ----------
    limits
        Limits of shape (n, d).
    covariance
        A symmetric matrix of shape (d, d).
    out
        The probabilities, of shape (n,), if they are known.
    """
    dim = np.shape(covariance)[0]
    if dim == 0:
        return np.ones(np.shape(limits)[0])
    if dim == 1:
        return special.ndtr(limits[:, 0] / np.sqrt(covariance[0, 0]))

    def value(limits: Any, covariance: Any) -> Any:
        found = stats.multivariate_normal.cdf(limits, None, covariance) if out is None else out
        return np.reshape(found, np.shape(limits)[:1])

    function = custom_jvp(value)
    function.defjvp(lambda primals, tangents: (function(*primals), _derivative(primals, tangents)))
    return function(limits, covariance)


def _derivative(primals: Any, tangents: Any) -> Any:
    """Return the tangent of the probabilities."""
    (limits, covariance), (moves, spreads) = primals, tangents
    dim = np.shape(covariance)[0]
    widths = np.sqrt(np.diagonal(covariance))
    limits = np.clip(limits, -FAR * widths, FAR * widths)
    slopes = [_density(limits, covariance, (i,)) for i in range(dim)]
    total = sum(slope * moves[:, i] for i, slope in enumerate(slopes))
    scaled = [slope * limits[:, i] for i, slope in enumerate(slopes)]
    for i, j in itertools.combinations(range(dim), 2):
        pair = _density(limits, covariance, (i, j))
        total = total + pair * (spreads[i, j] + spreads[j, i]) / 2
        scaled[i] = scaled[i] + pair * covariance[i, j]
        scaled[j] = scaled[j] + pair * covariance[i, j]
    # a limit, its variance and its covariances in another unit leave the probability as it is
    for i, part in enumerate(scaled):
        total = total - part * spreads[i, i] / (2 * covariance[i, i])
    return total


def _density(limits: Any, covariance: Any, fixed: tuple[int, ...]) -> Any:
    """Return the density of some components at their limits, the others being below theirs."""
    chosen = list(fixed)
    rest = [k for k in range(np.shape(covariance)[0]) if k not in fixed]
    own = covariance[np.ix_(chosen, chosen)]
    weights = np.linalg.solve(own, covariance[np.ix_(chosen, rest)])
    at = limits[:, chosen]
    squares = np.sum(np.linalg.solve(own, at.T).T * at, axis=-1)
    front = np.exp(-squares / 2) / np.sqrt((2 * math.pi) ** len(chosen) * np.linalg.det(own))
    others = covariance[np.ix_(rest, rest)] - covariance[np.ix_(rest, chosen)] @ weights
    return front * probability(limits[:, rest] - at @ weights, (others + others.T) / 2)
