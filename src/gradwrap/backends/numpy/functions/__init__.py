"""NumPy's functions, with NumPy's signatures, implemented by the standard's functions.

`__array_function__` looks a function up in `IMPLEMENTATIONS`. Each is written once, against the
namespace `xp` of the variables it is given, so it is differentiated through the operations that it
calls. Those that are one of the standard's functions are spelled by its row.
"""

from gradwrap.backends.numpy.functions import (
    creation,
    joining,
    linear_algebra,
    padding,
    polynomials,
    rearranging,
    reductions,
    shapes,
    statistics,
    values,
    writing,
)
from gradwrap.backends.numpy.functions.spelling import enter_rows
from gradwrap.backends.numpy.functions.table import IMPLEMENTATIONS

__all__ = [
    "IMPLEMENTATIONS",
    "creation",
    "joining",
    "linear_algebra",
    "padding",
    "polynomials",
    "rearranging",
    "reductions",
    "shapes",
    "statistics",
    "values",
    "writing",
]

enter_rows()
