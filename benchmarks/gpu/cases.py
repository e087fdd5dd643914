"""The cases measured on a GPU: the workloads of the CPU's benchmarks, in larger sizes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..workloads import MLP, SMALL, Array, Workload
from ..workloads.black_scholes import BLACK_SCHOLES
from ..workloads.black_scholes import data as prices
from ..workloads.chain import chain, chain_by_hand
from ..workloads.chain import data as chain_data
from ..workloads.mlp import data as mlp_data

MANY = 10_000_000
BATCH = 4096
TURNS = 10  # of eight ops; with more, the arrays saved for backward would not fit on every GPU


@dataclass(frozen=True)
class Case:
    """A workload on the GPU, and the requirements on gradwrap beside its bound."""

    workload: Workload
    few: Callable[[np.random.Generator], tuple[Array, ...]]
    """Data of the same kind, small enough for the tests."""
    not_slower_than: tuple[str, ...] = ()
    memory_bound: float | None = None
    """The most memory that a step may need, as a multiple of the one by hand."""


def _on_gpu(workload: Workload, bound: float | None) -> Workload:
    """Return a workload without the figures measured on a CPU."""
    return replace(workload, bound=bound, expected={}, left_out={})


CASES = (
    Case(_on_gpu(SMALL, 1.6), few=partial(chain_data, n=10)),
    Case(
        Workload(
            name="elementwise",
            title=f"chain of {8 * TURNS} ops on 10,000,000 elements",
            fun=partial(chain, turns=TURNS),
            by_hand=partial(chain_by_hand, turns=TURNS),
            data=partial(chain_data, n=MANY),
            bound=1.1,
        ),
        few=partial(chain_data, n=100),
        not_slower_than=("torch",),
    ),
    # Without a bound over the time by hand: there, common subexpressions are computed once, which
    # a rule for each operation cannot do.
    Case(
        replace(
            _on_gpu(BLACK_SCHOLES, None),
            title="Black-Scholes-like formula, n = 10,000,000",
            data=partial(prices, n=MANY),
        ),
        few=partial(prices, n=100),
        not_slower_than=("torch",),
    ),
    Case(
        replace(
            _on_gpu(MLP, 1.1),
            title=f"MLP {BATCH}x784-512-256-10, float32",
            data=partial(mlp_data, batch=BATCH),
        ),
        few=partial(mlp_data, batch=16),
        not_slower_than=("torch",),
        memory_bound=1.1,
    ),
)
