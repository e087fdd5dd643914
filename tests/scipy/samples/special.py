"""Samples of the rows of `scipy.special`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call, each

SAMPLES: dict[str, Any] = {
    "special.polygamma": lambda r: [call(1, r.uniform(3)), call(np.arange(3), r.uniform(3))],
    "special.factorial": lambda r: [call(r.uniform(4))],
    "special.comb": lambda r: [call(3.0 + r.uniform(4), r.uniform(4))],
    "special.perm": lambda r: [call(3.0 + r.uniform(4), r.uniform(4))],
    "special.multigammaln": lambda r: [call(2.0 + r.uniform(4), d=3)],
    "special.logsumexp": lambda r: [
        call(r.normal(4)),
        call(r.normal(4, 3), axis=1, keepdims=True),
        call(r.normal(4, 3), (0, 1), r.uniform(4, 3)),
        call(r.normal(4), b=np.array([1.0, -2.0, 0.5, -1.0]), return_sign=True),
    ],
    "special.softmax": lambda r: [call(r.normal(4)), call(r.normal(4, 3), axis=0)],
    "special.log_softmax": lambda r: [call(r.normal(4)), call(r.normal(4, 3), axis=0)],
    "special.diric": lambda r: [call(r.normal(5), n=4)],
    **each(
        "special",
        "spherical_jn spherical_yn spherical_in spherical_kn",
        lambda r: [
            call(2, r.uniform(4)),
            call(np.array([0, 1, 3]), r.uniform(3)),
            call(2, r.uniform(4), derivative=True),
        ],
    ),
    "special.legendre_p": lambda r: [call(3, r.uniform(4, high=0.8))],
    "special.assoc_legendre_p": lambda r: [call(3, 1, r.uniform(4, high=0.8))],
    "special.sph_harm_y": lambda r: [
        call(3, 1, r.uniform(4), r.uniform(4)),
        call(2, -1, r.uniform(4), r.uniform(4)),
    ],
}
