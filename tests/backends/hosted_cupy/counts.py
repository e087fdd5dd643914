"""Counts of what the device is asked for: launches, waits, and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["COUNTS", "Counts"]


class Counts:
    """Counts of what CuPy is asked to do; `reset` them before what is to be counted.

    Attributes
    ----------
    launches
        The names of the kernels, or of the functions that were carried out in one go.
    kernels
        The elementwise kernels, ufuncs and reductions that were launched, by name and the dtypes of
        the arguments. `reset` keeps them.
    synchronisations
        The calls that made the host wait for the device: for values, or for shapes that depend
        on values.
    uploads
        The copies from the host to the device.
    live, peak, total
        Bytes of device memory in use, the most there have been, and all that were allocated.
    """

    def __init__(self) -> None:
        self.launches: list[str] = []
        self.kernels: dict[tuple[str, tuple[np.dtype[Any], ...]], Any] = {}
        self.synchronisations: list[str] = []
        self.uploads: list[str] = []
        self.live = 0
        self.peak = 0
        self.total = 0

    def reset(self) -> None:
        self.launches.clear()
        self.synchronisations.clear()
        self.uploads.clear()
        self.peak = self.live
        self.total = 0

    def allocated(self, size: int) -> None:
        self.live += size
        self.total += size
        self.peak = max(self.peak, self.live)

    def released(self, size: int) -> None:
        self.live -= size


COUNTS = Counts()
