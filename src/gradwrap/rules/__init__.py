"""The tables of rules, one file for each chapter of the standard.

Importing this package reads the tables that almost every program needs. The others are read when
an operation is looked up that is not in these.
"""

from gradwrap.core.calls.batch import batching_functions_later
from gradwrap.core.table.registry import load_later
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
    "gradwrap.rules.special.bessel",
    "gradwrap.rules.decompositions",
    "gradwrap.rules.special.distribution_functions",
    "gradwrap.rules.special.elementary",
    "gradwrap.rules.special.elliptic",
    "gradwrap.rules.fft",
    "gradwrap.rules.special.hypergeometric",
    "gradwrap.rules.special.integrals",
    "gradwrap.rules.matrix_functions",
    "gradwrap.rules.norms",
    "gradwrap.rules.sets",
    "gradwrap.rules.special.softmax",
    "gradwrap.rules.special.gamma_and_error",
)
batching_functions_later("gradwrap.rules.batching")
