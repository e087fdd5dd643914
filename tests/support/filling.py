"""The cost of filling an array by many writes, and of differentiating that."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from counting import allocated, early_and_late, lines

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT, LONG = 200, 50_000


def check_filling(make: Callable[[int], Any], *, nested: bool = False) -> None:
    """Check that each write to an array that `make` makes costs the same, and copies nothing.

    In a nested gradient each write makes four arrays of that size: the inner backward pass is
    recorded, so it cannot write to a cotangent, and no more can the outer pass.
    """

    def run(size: int, writes: int) -> Any:
        def loss(x: Any) -> Any:
            out = make(size)
            for i in range(writes):
                out[i] = x[i] * 2.0
            filled = out[:writes]
            return (filled * filled).sum()

        def total_slope(x: Any) -> Any:
            return gw.grad(loss)(x).sum()

        return gw.grad(total_slope if nested else loss)(np.ones(size))

    np.testing.assert_array_equal(run(SHORT, 100)[:100], 8.0)
    early, late = early_and_late(lines, partial(run, SHORT), 20)
    assert early == pytest.approx(late, rel=0.01)
    # what a call costs once depends on the size: whether a copy of its argument is cheap
    assert _lines_of_20(partial(run, LONG)) == _lines_of_20(partial(run, SHORT))
    arrays = [size / (8 * LONG) for size in early_and_late(allocated, partial(run, LONG), 20)]
    assert max(arrays) < (5.0 if nested else 0.5)


def _lines_of_20(run: Callable[[int], Any]) -> int:
    """The lines that 20 more writes execute."""
    return lines(partial(run, 40)) - lines(partial(run, 20))
