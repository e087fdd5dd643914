"""Samples of the rows of `scipy.differentiate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call


def _wave(x: Any, k: Any) -> Any:
    return np.sin(k * x)


def _two(x: Any) -> Any:
    return np.stack([x[0] * x[1] ** 2, np.sin(x[0])])


def _one(x: Any) -> Any:
    return x[0] ** 2 * x[1] ** 3


SAMPLES: dict[str, Any] = {
    "differentiate.derivative": lambda r: [
        call(
            _wave,
            np.array([0.3, 0.9]),
            args=(np.array([1.2, 0.7]),),
            tracked="args",
            take=lambda made: made.df,
            upto=1,
        )
    ],
    "differentiate.jacobian": lambda r: [
        call(_two, np.array([0.3, 0.9]), take=lambda made: made.df, upto=1)
    ],
    "differentiate.hessian": lambda r: [
        call(_one, np.array([0.3, 0.9]), take=lambda made: made.ddf, upto=1)
    ],
}
