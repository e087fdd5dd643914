"""Samples of the rows of `scipy.spatial`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.scipy.rules.spatial import METRICS
from scipy_samples import call, each


def _pair(r: Any) -> Any:
    return [
        call(r.normal(4), r.normal(4)),
        call(r.normal(4), r.normal(4), w=np.array([0.3, 1.0, 0.5, 2.0]), tracked="w"),
    ]


def _truths(r: Any) -> Any:
    shares = r.uniform(2, 4)
    return [call(*shares), call(*shares, w=r.uniform(4), tracked="w")]


def _all_metrics(r: Any) -> list[Any]:
    return [call(r.uniform(5, 3), name) for name in METRICS]


SAMPLES: dict[str, Any] = {
    **each(
        "spatial.distance",
        "euclidean sqeuclidean cityblock correlation cosine braycurtis canberra",
        _pair,
    ),
    **each(
        "spatial.distance",
        "dice hamming jaccard rogerstanimoto russellrao sokalsneath yule",
        _truths,
    ),
    "spatial.distance.chebyshev": lambda r: [call(r.normal(4), r.normal(4))],
    "spatial.distance.minkowski": lambda r: [
        call(r.normal(4), r.normal(4), 3),
        call(r.normal(4), r.normal(4), 2.5, r.uniform(4)),
    ],
    "spatial.distance.seuclidean": lambda r: [call(r.normal(4), r.normal(4), r.uniform(4))],
    "spatial.distance.mahalanobis": lambda r: [call(r.normal(3), r.normal(3), r.spd(3))],
    "spatial.distance.jensenshannon": lambda r: [
        call(r.uniform(4), r.uniform(4)),
        call(r.uniform(4, 2), r.uniform(4, 2), base=2),
    ],
    "spatial.distance.pdist": _all_metrics,
    "spatial.distance.cdist": lambda r: [
        call(r.uniform(4, 3), r.uniform(3, 3), name) for name in METRICS
    ],
    "spatial.distance.squareform": lambda r: [call(r.uniform(6))],
    "spatial.distance.directed_hausdorff": lambda r: [call(r.normal(4, 2), r.normal(3, 2))],
    "spatial.procrustes": lambda r: [call(r.normal(4, 2), r.normal(4, 2))],
    "spatial.distance_matrix": lambda r: [
        call(r.normal(4, 2), r.normal(3, 2)),
        call(r.normal(4, 2), r.normal(3, 2), 3),
    ],
    "spatial.minkowski_distance": lambda r: [call(r.normal(4, 2), r.normal(4, 2))],
    "spatial.minkowski_distance_p": lambda r: [call(r.normal(4, 2), r.normal(4, 2), 3)],
    "spatial.geometric_slerp": lambda r: [
        call(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.6, 0.8]), np.array([0.2, 0.7]))
    ],
}
