"""The peak memory of a gradient, beside that of one written by hand which saves the same arrays."""

from __future__ import annotations

import gc
import tracemalloc
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.workloads import black_scholes, chain, mlp, rnn

import gradwrap as gw
from free_threading import counts_at_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.workloads import Array

RNG = np.random.default_rng(0)


def recurrent(batch: int, hidden: int) -> tuple[Array, ...]:
    shapes = (rnn.STEPS, batch, hidden), (batch, hidden), (hidden, hidden), (hidden, hidden)
    arrays = [0.1 * RNG.normal(size=shape) for shape in (*shapes, (hidden,))]
    return tuple(array.astype(np.float32) for array in arrays)


def peak(call: Callable[[], object]) -> int:
    """Return the most bytes that a call had allocated at one time, NumPy's buffers included."""
    call()  # what is made once is made now
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


def peaks(
    fun: Callable[..., Any], by_hand: Callable[..., Any], args: Any, argnums: Any
) -> tuple[int, int]:
    """Return the peaks of the gradient and of the one by hand."""
    gradient = gw.grad(partial(fun, np), argnums)
    return peak(partial(gradient, *args)), peak(partial(by_hand, np, *args))


PROGRAMS: dict[str, tuple[Any, ...]] = {
    "perceptron": (mlp.loss, mlp.loss_by_hand, mlp.data(RNG), (2, 3, 4, 5, 6, 7)),
    "recurrent": (rnn.loss, rnn.loss_by_hand, recurrent(64, 128), (2, 3, 4)),
    "prices": (
        black_scholes.price,
        black_scholes.price_by_hand,
        black_scholes.data(RNG, n=100_000),
        (0, 1, 2, 3),
    ),
    "chain": (
        partial(chain.chain, turns=20),
        partial(chain.chain_by_hand, turns=20),
        chain.data(RNG, n=20_000),
        0,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_gradient_takes_a_tenth_more_memory_than_by_hand(name: str) -> None:
    own, by_hand = peaks(*PROGRAMS[name])
    assert own <= 1.1 * by_hand


@counts_at_once
def test_what_a_recorded_operation_takes_beside_its_arrays() -> None:
    """Arrays of 2 kB are so small that the graph shows: five operations a step, and a view."""
    own, by_hand = peaks(rnn.loss, rnn.loss_by_hand, recurrent(16, 32), (2, 3, 4))
    assert own - by_hand <= 1_300 * rnn.STEPS
