"""The rows of `scipy.constants`."""

from __future__ import annotations

from gradwrap.scipy.kinds import ArrayApi
from gradwrap.scipy.table import Row, call, register

register(
    [
        Row(
            "constants.convert_temperature",
            ArrayApi(),
            samples=lambda r: [
                call(r.uniform(3), "Celsius", "Fahrenheit"),
                call(r.uniform(3), "K", "C"),
            ],
        ),
        Row("constants.lambda2nu", ArrayApi(), samples=lambda r: [call(r.uniform(3) * 1e4)]),
        Row("constants.nu2lambda", ArrayApi(), samples=lambda r: [call(r.uniform(3) * 1e4)]),
    ]
)
