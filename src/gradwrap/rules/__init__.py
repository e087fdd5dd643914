"""The tables of derivatives, by the chapters of the standard. Importing this enters them all."""

from gradwrap.rules import (
    batching,
    creation,
    elementwise,
    fft,
    linear_algebra,
    manipulation,
    reductions,
    selection,
)

__all__ = [
    "batching",
    "creation",
    "elementwise",
    "fft",
    "linear_algebra",
    "manipulation",
    "reductions",
    "selection",
]
