"""Samples of the rows of `scipy.kernel_density`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import Sample, call, each


def _samples(r: Any) -> list[Sample]:
    weights = np.array([0.1, 0.3, 0.2, 0.1, 0.3])
    return [
        call(r.normal(6), r.normal(3)),
        call(r.normal(2, 6), r.normal(2, 3), bw_method=0.7),
        call(r.normal(5), r.normal(3), weights=weights),
    ]


SAMPLES: dict[str, Any] = {
    **each("stats.gaussian_kde", "evaluate logpdf", _samples),
    "stats.gaussian_kde.integrate_box_1d": lambda r: [
        call(r.normal(6), -0.4, 0.9),
        call(r.normal(6), -0.4, 0.9, bw_method=0.7),
    ],
}
