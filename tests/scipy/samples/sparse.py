"""Samples of the rows of `scipy.sparse`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from scipy_samples import call, each


def _systems(r: Any) -> list[Any]:
    exact: dict[str, Any] = {
        "atol": 1e-15,
        "btol": 1e-15,
        "take": lambda made: made[0],
        "accuracy": 1e-6,
    }
    return [
        call(r.normal(6, 4), r.normal(6), **exact),
        call(r.normal(6, 4), r.normal(6), 0.3, **exact),
    ]


SAMPLES: dict[str, Any] = {
    **each("sparse.linalg", "lsqr lsmr", _systems),
    "sparse.linalg.eigsh": lambda r: [
        call(r.spread(5), 2, v0=np.ones(5)),
        call(r.spread(5), 2, v0=np.ones(5), return_eigenvectors=False),
    ],
    "sparse.linalg.svds": lambda r: [
        call(r.normal(6, 4), 2, v0=np.ones(4)),
        call(r.normal(6, 4), 2, v0=np.ones(4), return_singular_vectors=False),
    ],
    "sparse.linalg.expm_multiply": lambda r: [
        call(A=scipy.sparse.csr_array(np.eye(3) + 0.3), B=r.normal(3), tracked="B"),
    ],
}
