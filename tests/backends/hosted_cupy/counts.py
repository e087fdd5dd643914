"""Counts of what the device is asked for: launches, waits, and memory."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from hosted_cupy.programs import Kernel

__all__ = ["COUNTS", "Counts"]

Result = TypeVar("Result")


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
    is_noting
        Whether launches are counted and their kernels neither compiled nor run.
    were_values_read
        Whether the host has read arrays although kernels had only been noted.
    """

    def __init__(self) -> None:
        self.launches: list[str] = []
        self.kernels: dict[str, Kernel] = {}
        self.synchronisations: list[str] = []
        self.uploads: list[str] = []
        self.live = 0
        self.peak = 0
        self.total = 0
        self.is_noting = False
        self.were_values_read = False
        self._has_unrun = False
        self._last = ""

    @contextlib.contextmanager
    def noting(self) -> Generator[Counts]:
        """Count launches without running them; see `were_values_read` for what that falsifies."""
        self.is_noting, self.were_values_read, self._has_unrun = True, False, False
        try:
            yield self
        finally:
            self.is_noting = self._has_unrun = False

    def noted_in(self, run: Callable[[], Result]) -> Result:
        """Count what a program asks for without its kernels, or with them if it reads arrays."""
        with self.noting(), contextlib.suppress(Exception):
            found = run()
            if not self.were_values_read:
                return found
        return run()

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
        self._has_unrun |= self.is_noting
        self._last = "launch"

    def noted(self, request: str) -> None:
        """Count what CuPy asks of the runtime: a copy to the host is one wait, as is its end."""
        if request == "download":
            self.values_read()
        if request == "upload":
            self.uploads.append(request)
        elif request == "download" or (request == "wait" and self._last != "download"):
            self.synchronisations.append(request)
        elif request != "wait":
            self.launches.append(request)
        self._last = request

    def values_read(self) -> None:
        """Note that the host reads an array."""
        self.were_values_read |= self._has_unrun

    def allocated(self, size: int) -> None:
        self.live += size
        self.total += size
        self.peak = max(self.peak, self.live)

    def released(self, size: int) -> None:
        self.live -= size


COUNTS = Counts()
