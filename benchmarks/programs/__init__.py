"""Programs as people write them, with slices, joins, extrema, solves and writes in place.

`python -m benchmarks.programs` measures them as `python -m benchmarks` measures its workloads. The
base is the gradient written by hand where a textbook has one, and otherwise the program itself
without any derivative (`is_primal`). `--set in-place` chooses programs that write to arrays in
loops, which JAX's users write otherwise.
"""

from ..workloads import Workload
from .clusters import ATTENTION, BUNDLE, HAND, K_MEANS, LOG_SUM_EXP, MIXTURE
from .elements import (
    FILTER,
    GRAY_SCOTT,
    LORENZ,
    RECURRENT_CELL,
    SPRINGS,
    TRIANGULAR_SYSTEM,
    TRIDIAGONAL,
    WAVES,
)
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

IN_PLACE: tuple[Workload, ...] = (
    HEAT,
    JACOBI,
    GAUSS_SEIDEL,
    N_BODY,
    CHOLESKY,
    LU,
    TRIDIAGONAL,
    FILTER,
    WAVES,
    GRAY_SCOTT,
    SPRINGS,
    LORENZ,
    TRIANGULAR_SYSTEM,
    RECURRENT_CELL,
)
"""Programs that write to arrays in loops. JAX has versions of its own, with the same values."""
SETS = {"programs": PROGRAMS, "in-place": IN_PLACE}


def is_primal(program: Workload) -> bool:
    """Tell if a program is measured against itself, not against a gradient by hand."""
    return program.by_hand is program.fun
