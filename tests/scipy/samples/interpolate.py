"""Samples of the rows of `scipy.interpolate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call


def _knotted(r: Any) -> Any:
    t = np.array([0, 0, 0, 0, 0.7, 1.3, 2, 2, 2, 2.0])
    return t, np.concatenate([r.normal(6), np.zeros(4)]), 3


def _polynomials(**more: Any) -> Any:
    return lambda r: [
        call(r.rising(5), r.normal(5), np.array([0.3, 1.2, 1.8]), **more),
        call(r.rising(5), r.normal(5, 2), np.array([0.3, 1.2]), der=1, **more),
    ]


SAMPLES: dict[str, Any] = {
    "interpolate.splrep": lambda r: [
        call(r.rising(7), r.normal(7)),
        call(r.rising(7), r.normal(7), k=2),
        call(r.rising(9), r.normal(9), task=-1, t=np.array([0.8, 1.2])),
    ],
    "interpolate.splev": lambda r: [
        call(np.array([0.3, 1.1, 1.9]), _knotted(r)),
        call(np.array([0.3, 1.1, 1.9]), _knotted(r), der=1),
        call(np.array([-0.3, 1.1, 2.9]), _knotted(r), ext=1),
    ],
    "interpolate.splint": lambda r: [call(0.3, 1.7, _knotted(r))],
    "interpolate.spalde": lambda r: [
        call(0.3, _knotted(r)),
        call(np.array([0.3, 1.1]), _knotted(r)),
        call(np.array([0.3]), _knotted(r)),
    ],
    "interpolate.interpn": lambda r: [
        call((r.rising(4), r.rising(5)), r.normal(4, 5), np.array([[0.4, 1.1], [1.2, 0.3]])),
        call(
            (r.rising(5), r.rising(6)),
            r.normal(5, 6),
            np.array([[0.4, 1.1], [1.2, 0.3]]),
            method="cubic",
            upto=1,
            accuracy=1e-2,
        ),
        call((r.rising(4),), r.normal(4), np.array([[0.4], [1.2]]), method="nearest"),
    ],
    "interpolate.griddata": lambda r: [
        call(r.uniform(8, 2), r.normal(8), np.array([[0.8, 0.8], [0.9, 0.7]])),
        call(r.uniform(8, 2), r.normal(8, 2), np.array([[0.8, 0.8]]), method="nearest"),
    ],
    "interpolate.krogh_interpolate": _polynomials(),
    "interpolate.barycentric_interpolate": _polynomials(rng=2),
    "interpolate.pchip_interpolate": _polynomials(),
}
