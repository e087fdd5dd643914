"""Programs as people write them, with slices, joins, extrema, solves and writes in place.

`python -m benchmarks.programs` measures them as `python -m benchmarks` measures its workloads. The
base is the gradient written by hand where a textbook has one, and otherwise the program itself
without any derivative (`is_primal`).
"""

from ..workloads import Workload
from .clusters import ATTENTION, BUNDLE, HAND, K_MEANS, LOG_SUM_EXP, MIXTURE
from .in_place import (
    CHOLESKY,
    CONVOLUTION,
    GAUSS_SEIDEL,
    HEAT,
    JACOBI,
    LU,
    N_BODY,
    TRIANGULAR,
)
from .sequences import KALMAN, LSTM, ODE

PROGRAMS: tuple[Workload, ...] = (
    LSTM,
    ODE,
    KALMAN,
    K_MEANS,
    LOG_SUM_EXP,
    MIXTURE,
    ATTENTION,
    CONVOLUTION,
    BUNDLE,
    HAND,
    HEAT,
    JACOBI,
    GAUSS_SEIDEL,
    N_BODY,
    LU,
    CHOLESKY,
    *TRIANGULAR,
)


def is_primal(program: Workload) -> bool:
    """Tell if a program is measured against itself, not against a gradient by hand."""
    return program.by_hand is program.fun
