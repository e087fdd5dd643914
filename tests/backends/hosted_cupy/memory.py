"""CuPy's memory, on the host: an allocator, and NumPy's view of an array that lies there."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    cupy: Any
else:
    import cupy

from hosted_cupy.counts import COUNTS
from hosted_cupy.devices import current_device
from lambdas import is_a

__all__ = ["Graph", "Pool", "allocate", "cupy", "lent", "live", "returned", "view"]


def allocate(size: int) -> Any:
    """Memory of the current device, which is counted while it is in use."""
    host = np.empty(max(size, 1), dtype=np.uint8)
    COUNTS.allocated(size)
    _LIVE[id(host)] = weakref.ref(host)
    weakref.finalize(host, _released, id(host), size)
    for hook in _hooks():
        hook.malloc_postprocess(
            device_id=current_device().id,
            size=size,
            mem_size=size,
            mem_ptr=host.ctypes.data,
            pmem_id=id(host),
        )
    memory = cupy.cuda.UnownedMemory(
        host.ctypes.data, host.nbytes, host, device_id=current_device().id
    )
    return cupy.cuda.MemoryPointer(memory, 0)


def _released(number: int, size: int) -> None:
    del _LIVE[number]
    COUNTS.released(size)
    for hook in _hooks():
        hook.free_postprocess(
            device_id=current_device().id, mem_size=size, mem_ptr=0, pmem_id=number
        )


def _hooks() -> list[Any]:
    """Return the hooks of CuPy's memory pool, which the double calls as the pool would."""
    return list(cupy.cuda.memory_hook.get_memory_hooks().values())


class Pool:
    """As `cupy.cuda.MemoryPool`: all pieces are the double's."""

    def malloc(self, size: int) -> Any:
        return allocate(size)


class Graph:
    """As a captured graph: a launch leaves the bytes that the captured work has left."""

    def __init__(self) -> None:
        self._left: list[tuple[weakref.ref[Any], Any]] = [
            (weakref.ref(host), host.copy()) for host in live()
        ]

    def launch(self, stream: Any = None) -> None:
        COUNTS.launches.append("graph")
        for reference, left in self._left:
            host = reference()
            if host is not None:
                host[...] = left


def live() -> list[Any]:
    """Return the bytes of each piece of device memory in use."""
    return [host for reference in list(_LIVE.values()) if (host := reference()) is not None]


_LIVE: dict[int, weakref.ref[Any]] = {}


class _Exposed:
    """An array as NumPy's protocol describes it; the view keeps it, and so the memory."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "shape": array.shape,
            "strides": array.strides,
            "typestr": array.dtype.str,
            "data": (array.data.ptr, False),
        }


def view(array: Any) -> Any:
    """Return a view of an array of CuPy, for NumPy to read and to write."""
    COUNTS.values_read()
    return _view(array)


def _view(array: Any) -> Any:
    if array.size == 0:
        return np.empty(array.shape, array.dtype)
    return np.asarray(_Exposed(array))


def lent(value: Any) -> Any:
    """Return an argument as NumPy takes it; refuse what CuPy does not take.

    CuPy takes its own arrays, and scalars of Python and NumPy, but no arrays of NumPy.
    """
    if isinstance(value, cupy.ndarray):
        if value.device.id != current_device().id:
            raise ValueError(
                f"Array device must be same as the current device: array device = "
                f"{value.device.id} while current = {current_device().id}"
            )
        return view(value)
    if is_a(value, list, tuple):
        parts = [lent(part) for part in value]
        return parts if is_a(value, list) else tuple(parts)
    if is_a(value, dict):
        return {key: lent(part) for key, part in value.items()}
    plain = (bool, int, float, complex, str, np.generic, np.dtype, type, slice, type(None))
    if is_a(value, *plain) or value is Ellipsis:
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def returned(value: Any) -> Any:
    """Return NumPy's results as arrays of CuPy, where a scalar is an array without axes."""
    if is_a(value, tuple):
        parts = [returned(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if is_a(value, list):
        return [returned(part) for part in value]
    if not is_a(value, np.ndarray, np.generic):
        return value
    value = np.asarray(value)
    is_fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    array = cupy.ndarray(value.shape, value.dtype, order="F" if is_fortran else "C")
    _view(array)[...] = value
    return array
