"""Samples of the rows of `scipy.cluster`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.scipy.rules.cluster import LINKS, METHODS
from scipy_samples import call, each

SAMPLES: dict[str, Any] = {
    "cluster.vq.whiten": lambda r: [call(r.normal(5, 2))],
    "cluster.vq.vq": lambda r: [call(r.normal(5, 2), r.normal(3, 2))],
    "cluster.vq.kmeans": lambda r: [call(r.normal(8, 2), 2, rng=3)],
    "cluster.vq.kmeans2": lambda r: [
        call(np.concatenate([r.normal(4, 2), r.normal(4, 2) + 9]), np.array([[0, 0], [9, 9]]))
    ],
    "cluster.hierarchy.linkage": lambda r: [call(r.normal(5, 2), method) for method in METHODS],
    **each(
        "cluster.hierarchy",
        "single complete average weighted centroid median ward",
        lambda r: [call(r.uniform(10))],
    ),
    "cluster.hierarchy.cophenet": lambda r: [call(LINKS.copy())],
}
