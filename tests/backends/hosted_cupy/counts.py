"""Counts of what the device is asked for: launches, waits, and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hosted_cupy.programs import Kernel

__all__ = ["COUNTS", "Counts"]


class Counts:
    """Counts of what CuPy is asked to do; `reset` them before what is to be counted.

    Attributes
    ----------
    launches
        The names of the kernels, or of the functions that were carried out in one go.
    kernels
        The kernels that were launched, each by a name of its own. `reset` keeps them.
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
        self.kernels: dict[str, Kernel] = {}
        self.synchronisations: list[str] = []
        self.uploads: list[str] = []
        self.live = 0
        self.peak = 0
        self.total = 0
        self._last = ""

    def reset(self) -> None:
        self.launches.clear()
        self.synchronisations.clear()
        self.uploads.clear()
        self.peak = self.live
        self.total = 0

    def launched(self, kernel: Kernel) -> None:
        """Count a launch by the kernel's name, without the dtypes that CuPy adds to it."""
        name = kernel.name
        self.launches.append(name if name.startswith("gradwrap") else name.partition("__")[0])
        self.kernels[kernel.own_name] = kernel
        self._last = "launch"

    def noted(self, request: str) -> None:
        """Count what CuPy asks of the runtime: a copy to the host is one wait, as is its end."""
        if request == "upload":
            self.uploads.append(request)
        elif request == "download" or (request == "wait" and self._last != "download"):
            self.synchronisations.append(request)
        elif request != "wait":
            self.launches.append(request)
        self._last = request

    def allocated(self, size: int) -> None:
        self.live += size
        self.total += size
        self.peak = max(self.peak, self.live)

    def released(self, size: int) -> None:
        self.live -= size


COUNTS = Counts()
