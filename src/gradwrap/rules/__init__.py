"""The tables of derivatives, by the chapters of the standard.

Importing this enters those that hardly a program does without. The others are read when an
operation is asked for that is not in these.
"""

from gradwrap.core.batch import batching_functions_later
from gradwrap.core.registry import load_later
from gradwrap.rules import (
    creation,
    elementwise,
    linear_algebra,
    manipulation,
    reductions,
    selection,
)

__all__ = ["creation", "elementwise", "linear_algebra", "manipulation", "reductions", "selection"]

load_later(
    "gradwrap.rules.bessel",
    "gradwrap.rules.decompositions",
    "gradwrap.rules.fft",
    "gradwrap.rules.matrix_functions",
    "gradwrap.rules.norms",
    "gradwrap.rules.softmax",
    "gradwrap.rules.special",
)
batching_functions_later("gradwrap.rules.batching")
