"""The workloads, one small file for each kind: function, gradient by hand, data, bound."""

from .base import Array, Growth, Workload
from .black_scholes import BLACK_SCHOLES
from .chain import LARGE, SMALL
from .mlp import MLP
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
)

__all__ = ["WORKLOADS", "Array", "Growth", "Workload"]
