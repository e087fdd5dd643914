"""The programs of the benchmarks: their gradients, by gradwrap and by hand, are right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.checking import check
from benchmarks.peers import gradwrap
from benchmarks.programs import PROGRAMS, is_primal
from benchmarks.programs.__main__ import check_numerically

if TYPE_CHECKING:
    from benchmarks.workloads import Workload


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_gradients_of_a_program_are_those_of_central_differences(program: Workload) -> None:
    args = program.data(np.random.default_rng(1))
    peer = gradwrap()
    found = peer.arrays(peer.prepare(program, args)())
    check_numerically(program, args, found)
    if not is_primal(program):
        check(found, program.by_hand(np, *args))


def test_the_check_refuses_a_wrong_gradient() -> None:
    program = next(one for one in PROGRAMS if one.name == "k-means")
    args = program.data(np.random.default_rng(1))
    (right,) = program.by_hand(np, *args)
    with pytest.raises(ValueError, match="gradient 1 has slope"):
        check_numerically(program, args, (right * 1.01,))
