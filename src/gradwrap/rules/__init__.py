"""The tables of derivatives, by the chapters of the standard. Importing this enters them all."""

from gradwrap.rules import (
    batching,
    decompositions,
    elementwise,
    linear_algebra,
    manipulation,
    matrix_functions,
    norms,
    reductions,
)

__all__ = [
    "batching",
    "decompositions",
    "elementwise",
    "linear_algebra",
    "manipulation",
    "matrix_functions",
    "norms",
    "reductions",
]
