"""The devices of the benchmarks: how arrays get there and back, how time and memory are measured.

On a GPU, time is what passes between two CUDA events on the null stream: the first is recorded
when the GPU is idle, the second when the last call has been launched. PyTorch launches on the null
stream too; JAX has streams of its own, so the host waits for its last result before the second.
"""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..counting import called_code
from ..peers import Run
from ..timing import sample
from ..workloads import Array, Namespace

Finish = Callable[[Any], object]
"""Waits for a result, if the library does not launch on the null stream."""


class NoGpuError(RuntimeError):
    """There is no GPU, or no CuPy; the message says which."""


@dataclass(frozen=True)
class Device:
    """A GPU, or in the tests, the host in place of one."""

    kind: Literal["cuda", "cpu"]
    xp: Namespace
    """The namespace of the gradients by hand."""
    put: Callable[[Array], Any]
    fetch: Callable[[Any], Array]
    seconds: Callable[[Run, Finish, int], float]
    """Measures the mean time of a number of calls in a row."""
    peak: Callable[[Run], int]
    """Measures the most bytes that one call has in use at a time, beyond its arguments."""
    machine: Mapping[str, str]
    waits: Callable[[Run], int]
    """Counts how often the host waits for the device during a call."""


def gpu() -> Device:
    """Return the current GPU, used through CuPy, or raise `NoGpuError`."""
    try:
        cupy: Any = import_module("cupy")
    except ImportError as error:
        raise NoGpuError(f"CuPy is needed, and cannot be imported: {error}") from error
    if not cupy.is_available():
        raise NoGpuError(f"CuPy {cupy.__version__} finds no GPU with a driver for its CUDA")

    def seconds(run: Run, finish: Finish, calls: int) -> float:
        gc.collect()
        cupy.cuda.Device().synchronize()
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        result = None
        start.record(cupy.cuda.Stream.null)
        for _ in range(calls):
            result = run()
        finish(result)
        end.record(cupy.cuda.Stream.null)
        end.synchronize()
        milliseconds: float = cupy.cuda.get_elapsed_time(start, end)
        return 1e-3 * milliseconds / calls

    def waits(run: Run) -> int:
        detector: Any = import_module("cupy._core.syncdetect")
        declare = detector._declare_synchronize  # noqa: SLF001  called before each wait
        run()  # compiles
        return called_code(run).count(declare.__code__)

    peak = pool_peak()
    return Device("cuda", cupy, cupy.asarray, cupy.asnumpy, seconds, peak, _machine(cupy), waits)


def host() -> Device:
    """Return the host, on which the tests run the code for a GPU."""

    def seconds(run: Run, finish: Finish, calls: int) -> float:
        return sample(lambda: finish(run()), calls)

    return Device(
        "cpu",
        np,
        np.asarray,
        np.asarray,
        seconds,
        _traced_peak,
        {"device": "host"},
        lambda _: 0,
    )


def pool_peak() -> Callable[[Run], int]:
    """Count the memory that CuPy's pool lends and takes back during a call."""
    from gradwrap.backends.cupy.counting import PoolPeak

    def peak(run: Run) -> int:
        run()  # so that memory the libraries keep for themselves is already allocated
        gc.collect()
        with PoolPeak() as counted:
            run()
        return counted.bytes

    return peak


def _traced_peak(run: Run) -> int:
    import tracemalloc

    run()
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _machine(cupy: Any) -> dict[str, str]:
    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(runtime.getDevice())
    name = properties["name"]
    driver, toolkit = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    return {
        "device": name.decode() if isinstance(name, bytes) else str(name),
        "memory": f"{properties['totalGlobalMem'] / 2**30:.0f} GiB",
        "driver supports CUDA": f"{driver // 1000}.{driver % 1000 // 10}",
        "CUDA": f"{toolkit // 1000}.{toolkit % 1000 // 10}",
        "driver": _driver(),
    }


def _driver() -> str:
    """Return the version of the driver, as the kernel module states it."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    numbers = [word for word in text.split() if word[0].isdigit() and "." in word]
    return numbers[0] if numbers else "unknown"


def installed(*packages: str) -> str:
    """Return the version of the first of the packages that is installed."""
    for package in packages:
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "unknown"
