"""Samples of the rows of `scipy.constants`."""

from __future__ import annotations

from typing import Any

from scipy_samples import call

SAMPLES: dict[str, Any] = {
    "constants.convert_temperature": lambda r: [
        call(r.uniform(3), "Celsius", "Fahrenheit"),
        call(r.uniform(3), "K", "C"),
    ],
    "constants.lambda2nu": lambda r: [call(r.uniform(3) * 1e4)],
    "constants.nu2lambda": lambda r: [call(r.uniform(3) * 1e4)],
}
