"""Rules of scipy.stats."""

from __future__ import annotations

from scipy import stats

from gradwrap.scipy.rules import multivariate
from gradwrap.scipy.rules.distributions import CONTINUOUS, DISCRETE, Distribution
from gradwrap.scipy.table import Row, register

__all__ = ["NAMES", "multivariate"]

NAMES = [
    name
    for name in stats.__all__
    if isinstance(getattr(stats, name), (CONTINUOUS, DISCRETE))
]

register(Row(f"stats.{name}", Distribution()) for name in NAMES)
