"""CuPy on a machine without a GPU: its own arrays, dispatch and kernels, run on the host.

The arrays are `cupy.ndarray`, over host memory. CuPy runs its own code, down to the functions of
CUDA's runtime and driver, which `driver.py` replaces. A kernel's text is compiled by g++ with
CuPy's headers (`programs.py`, `include/`), and its threads run one after the other (`grid.cpp`).
Functions that call the device's libraries are carried out by NumPy's of the same name, with CuPy's
signature. What CuPy refuses is refused: NumPy's arrays among its own, `__array__`, a tracked value
in a function that no protocol reaches, arrays of another than the current device.

It says nothing about a GPU's time, streams and libraries: docs/gpu.md lists what remains unproven.
It checks the text of the kernels, and *our* code: the table, the dispatch, and, by counting, that
nothing waits for the device.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from hosted_cupy.counts import Counts

__all__ = ["device_params", "has_gpu", "hosted", "on_device", "prepare"]


def is_installed() -> bool:
    return importlib.util.find_spec("cupy") is not None


def has_gpu() -> bool:
    """Tell whether CuPy is installed, and there is a GPU for it."""
    if not is_installed():
        return False
    cupy: Any = importlib.import_module("cupy")
    return bool(cupy.is_available())


def prepare() -> None:
    """Let CuPy, which is yet to be imported, find the double's runtime, if there is no GPU."""
    from hosted_cupy import driver

    if is_installed() and "cupy" not in sys.modules and driver.has_compiler():
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError:
            driver.install()


@contextlib.contextmanager
def hosted(device_count: int = 1) -> Generator[Counts]:
    """Let CuPy compute on the host, and count what it is asked for.

    gradwrap meets CuPy anew: what it knows of a machine depends on its devices.

    Examples
    --------
    with hosted() as counts:
        x = cupy.asarray([1.0, 2.0])
        (x * x).sum()
        assert counts.launches == ["cupy_multiply", "cupy_sum"]
        assert not counts.synchronisations
    """
    from hosted_cupy import devices, driver, functions, programs
    from hosted_cupy.counts import COUNTS
    from hosted_cupy.memory import Pool, allocate, cupy
    from hosted_cupy.methods import METHODS

    with contextlib.ExitStack() as undo:
        patch = pytest.MonkeyPatch()
        undo.callback(patch.undo)
        for name, method in METHODS.items():
            patch.setattr(cupy.ndarray, name, method, raising=False)
        for function, code in functions.exchanged().items():
            patch.setattr(function, "__code__", code)
        patch.setattr(cupy.matmul, "_try_fastcall_func", functions.matmul)
        for name in ("Device", "Event", "Stream"):
            patch.setattr(cupy.cuda, name, getattr(devices, name))
        patch.setattr(cupy.cuda, "MemoryPool", Pool)
        patch.setattr(cupy.cuda, "get_current_stream", devices.current_stream)
        patch.setattr(cupy.cuda.compiler, "_compile_with_cache_cuda", programs.compile_program)
        patch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: device_count)
        driver.switch(1)
        undo.callback(driver.switch, -1)
        accelerators = cupy._core.get_routine_accelerators()
        reducers = cupy._core.get_reduction_accelerators()
        cupy._core.set_routine_accelerators([])
        cupy._core.set_reduction_accelerators([])
        undo.callback(cupy._core.set_routine_accelerators, accelerators)
        undo.callback(cupy._core.set_reduction_accelerators, reducers)
        allocator = cupy.cuda.get_allocator()
        cupy.cuda.set_allocator(allocate)
        undo.callback(cupy.cuda.set_allocator, allocator)
        _forget_cupy()
        undo.callback(_forget_cupy)
        COUNTS.reset()
        yield COUNTS


def _forget_cupy() -> None:
    """Let gradwrap set up its backend when it meets CuPy's arrays the next time."""
    from gradwrap.core.library import backend as backends
    from gradwrap.core.observing.places import placers

    for kind in [k for k, backend in backends.by_type.items() if backend.name == "cupy"]:
        del backends.by_type[kind]
    for key in [k for k, (_, backend) in backends.by_namespace.items() if backend.name == "cupy"]:
        del backends.by_namespace[key]
    placers.pop("cupy", None)


def device_params() -> list[Any]:
    """Parametrise a fixture: by the GPU where there is one, marked `gpu`, else by the double."""
    return [pytest.param("gpu", marks=pytest.mark.gpu)] if has_gpu() else ["hosted"]


def on_device(where: str) -> contextlib.AbstractContextManager[Counts | None]:
    """Set the device of a test that runs on both; give the counts of the double, None on a GPU."""
    return contextlib.nullcontext() if where == "gpu" else hosted()


prepare()
