"""Races: a kernel is run with its threads in two orders, which must leave the same bytes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from hosted_cupy.memory import live
from hosted_cupy.programs import WATCHING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from hosted_cupy.programs import Kernel

__all__ = ["RaceError", "two_orders"]


class RaceError(AssertionError):
    """A kernel's result depends on the order of its threads."""


@contextlib.contextmanager
def two_orders() -> Generator[list[Kernel]]:
    """Run each kernel twice, the last thread first and the first one first; list the kernels.

    The bytes of all arrays are compared. A sum by atomic additions may differ in its last bits.
    """
    ran: list[Kernel] = []

    def watch(kernel: Kernel, run: Callable[..., None], _: int) -> None:
        arrays = live()
        before = [one.copy() for one in arrays]
        run(backwards=True)
        backwards = [one.copy() for one in arrays]
        for one, kept in zip(arrays, before, strict=True):
            one[...] = kept
        run()
        is_sum = "atomicAdd(" in kernel.source
        for one, other in zip(arrays, backwards, strict=True):
            if not np.array_equal(one, other) and not (is_sum and _is_close(one, other)):
                raise RaceError(f"the result of {kernel.name} depends on the order of threads")
        ran.append(kernel)

    WATCHING.append(watch)
    try:
        yield ran
    finally:
        WATCHING.pop()


def _is_close(one: Any, other: Any) -> bool:
    """Tell if bytes are nearly the same numbers, in double or in single precision."""
    return any(
        one.nbytes % np.dtype(dtype).itemsize == 0
        and np.allclose(one.view(dtype), other.view(dtype), rtol=tolerance, atol=0, equal_nan=True)
        for dtype, tolerance in (("f8", 1e-12), ("f4", 1e-4), ("f2", 1e-2))
    )
