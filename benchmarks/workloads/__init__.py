"""The workloads, one small file for each kind: function, gradient by hand, data, bound."""

from .base import Array, Growth, Namespace, Workload
from .black_scholes import BLACK_SCHOLES
from .chain import LARGE, SMALL
from .jacobian import HESSIAN, JACOBIAN
from .mlp import MLP
from .per_example import PER_EXAMPLE, PER_EXAMPLE_GAIN, PER_EXAMPLE_LOOP
from .rnn import RNN
from .rosenbrock import LOOP_1000, LOOP_4000, LOOP_GROWTH, VECTORISED

WORKLOADS: tuple[Workload | Growth, ...] = (
    SMALL,
    LARGE,
    LOOP_1000,
    LOOP_4000,
    LOOP_GROWTH,
    VECTORISED,
    BLACK_SCHOLES,
    MLP,
    RNN,
    JACOBIAN,
    HESSIAN,
    PER_EXAMPLE,
    PER_EXAMPLE_LOOP,
    PER_EXAMPLE_GAIN,
)

__all__ = ["MLP", "SMALL", "WORKLOADS", "Array", "Growth", "Namespace", "Workload"]
