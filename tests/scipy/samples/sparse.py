"""Samples of the rows of `scipy.sparse`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from scipy_samples import call

SAMPLES: dict[str, Any] = {
    "sparse.linalg.expm_multiply": lambda r: [
        call(A=scipy.sparse.csr_array(np.eye(3) + 0.3), B=r.normal(3), tracked="B"),
    ],
}
