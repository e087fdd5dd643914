"""The tables of derivatives, by the chapters of the standard. Importing this enters them all."""

from gradwrap.rules import (
    batching,
    creation,
    decompositions,
    elementwise,
    fft,
    linear_algebra,
    manipulation,
    matrix_functions,
    norms,
    reductions,
    selection,
)

__all__ = [
    "batching",
    "creation",
    "decompositions",
    "elementwise",
    "fft",
    "linear_algebra",
    "manipulation",
    "matrix_functions",
    "norms",
    "reductions",
    "selection",
]
