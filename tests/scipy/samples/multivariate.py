"""Samples of the rows of `scipy.multivariate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import Sample, call, each


def _wishart_samples(r: Any) -> list[Sample]:
    return [
        call(r.spd(3), 4.5, r.spd(3)),
        call(r.uniform(3), 2.5, 1.3),
    ]


SAMPLES: dict[str, Any] = {
    **each(
        "stats.multivariate_normal",
        "logpdf pdf",
        lambda r: [
            call(r.normal(4, 3), r.normal(3), r.spd(3)),
            call(r.normal(3), r.normal(3), r.spd(3)),
            call(r.normal(4), 0.3, 1.7),
            call(r.normal(4, 2), r.normal(2), r.uniform(2)),
            call(0.3, 0.1, 1.7),
            call(r.normal(4, 3), r.normal(3), r.spd(3), allow_singular=True),
        ],
    ),
    "stats.multivariate_normal.entropy": lambda r: [call(np.zeros(3), r.spd(3))],
    **each(
        "stats.multivariate_t",
        "logpdf pdf",
        lambda r: [
            call(r.normal(4, 3), r.normal(3), r.spd(3), 3.5),
            call(r.normal(3), r.normal(3), r.spd(3), 2.5),
        ],
    ),
    **each(
        "stats.dirichlet",
        "logpdf pdf",
        lambda r: [
            call(np.array([0.2, 0.3]), r.uniform(3)),
            call(r.uniform(2, 4, low=0.1, high=0.4), r.uniform(3)),
        ],
    ),
    "stats.dirichlet.mean": lambda r: [call(r.uniform(3)), call(r.uniform(1))],
    "stats.dirichlet.var": lambda r: [call(r.uniform(3)), call(r.uniform(1))],
    "stats.dirichlet.entropy": lambda r: [call(r.uniform(3))],
    **each(
        "stats.dirichlet_multinomial",
        "logpmf pmf",
        lambda r: [call(np.array([1, 2, 3]), r.uniform(3), 6)],
    ),
    **each(
        "stats", "wishart.logpdf wishart.pdf invwishart.logpdf invwishart.pdf", _wishart_samples
    ),
    **each(
        "stats.matrix_normal",
        "logpdf pdf",
        lambda r: [call(r.normal(3, 2), r.normal(3, 2), r.spd(3), r.spd(2))],
    ),
}
