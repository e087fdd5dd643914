"""The rows of `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.scipy.kinds import Adjoint, Formula, Tangent
from gradwrap.scipy.table import Row, call, register

CHECKS = "overwrite_a check_finite"


def _inv(a: Any) -> Any:
    return np.linalg.inv(a)


register(
    [
        Row(
            "linalg.inv",
            Formula(lambda a: np.linalg.inv(a)),
            arrays="a",
            neutral=CHECKS + " assume_a lower",
            samples=lambda r: [call(r.matrix(3))],
        ),
    ]
)
