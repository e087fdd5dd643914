"""The rows of `scipy.constants`."""

from __future__ import annotations

from gradwrap.scipy.kinds import ArrayApi
from gradwrap.scipy.table import Row, register

register(
    [
        Row("constants.convert_temperature", ArrayApi()),
        Row("constants.lambda2nu", ArrayApi()),
        Row("constants.nu2lambda", ArrayApi()),
    ]
)
