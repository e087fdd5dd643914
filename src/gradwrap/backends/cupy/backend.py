"""The backend of CuPy, whose arrays are on a GPU; the host never waits for the device."""

from __future__ import annotations

import functools
import sys
from contextlib import nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.cupy import protocol as cupy_protocol
from gradwrap.backends.cupy.counting import PoolPeak
from gradwrap.backends.cupy.kernels import fused
from gradwrap.backends.cupy.namespace import extended
from gradwrap.backends.cupy.streams import Streams, device_count, moved, on_own_device
from gradwrap.backends.differing_rows import differing, writing
from gradwrap.backends.numpy.backend import SCALAR_TYPES
from gradwrap.backends.numpy.buffers import COPIED
from gradwrap.core.library.backend import Backend
from gradwrap.core.library.buffers import copied
from gradwrap.core.library.compat import to_device
from gradwrap.core.library.scatter import is_basic_key, scatter_add_generic
from gradwrap.core.observing.places import placers
from gradwrap.core.table.registry import register
from gradwrap.core.values.dynamic import TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from gradwrap.core.table.registry import Op
    from gradwrap.core.table.rule import Rule

    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy

ATOMIC = frozenset("efd")
"""The dtypes of floats that `cupy.add.at` adds, by their letters."""

_OWN_BUFFER = 2  # references to an array's pointer: the array's own, and the one that is counted


class CupyBackend(Backend):
    """CuPy: scatter-add by `cupy.add.at`, fused formulas, streams, and no waiting for the device.

    Where there are several devices, each operation runs on that of its arrays.
    """

    elsewhere: Mapping[str, str] = MappingProxyType({"special": "cupyx.scipy.special"})
    counting: Any = PoolPeak
    has_operators = False  # with a number, `x * 2.0` takes CuPy ten times as long to find its way

    def __init__(self, xp: Any, kind: type) -> None:
        devices = device_count()
        self.has_several_devices: bool = devices > 1
        namespace = extended(xp, has_several_devices=self.has_several_devices)
        super().__init__("cupy", namespace, frozenset({cupy.ndarray}))
        self.plain_types: frozenset[type] = self.plain_types | SCALAR_TYPES  # as CuPy takes them
        self._fused: Callable[[Rule], Rule] = functools.cache(fused)
        streams = placers[self.name] = Streams(devices)
        self.node: Any = streams.node

    def class_attributes(self) -> dict[str, Any]:
        """Return the attributes that CuPy's ufuncs, kernels and reductions ask for."""
        return cupy_protocol.class_attributes()

    def is_array(self, value: object) -> bool:
        return isinstance(value, cupy.ndarray)

    def device(self, array: Any) -> Any:
        return cupy.cuda.Device(array.data.device_id)

    def dtype_kind(self, dtype: Any) -> tuple[bool, bool]:
        kind = dtype.kind
        return (True, kind == "c") if kind in "fc" else super().dtype_kind(dtype)

    def native(self, path: str) -> Callable[..., Any] | None:
        found = super().native(path)
        if not self.has_several_devices or not callable(found):
            return found
        return on_own_device(found, path)

    def adapt(self, op: Op, rule: Rule) -> Callable[..., Any]:
        adapted = super().adapt(op, rule)
        return on_own_device(adapted, rule.name) if self.has_several_devices else adapted

    def rule_of(self, op: Op) -> Rule | None:
        rule = super().rule_of(op)
        return None if rule is None else self._fused(rule)

    def _at(self, array: Any) -> AbstractContextManager[Any]:
        """Return the context of the device of an array."""
        return self.device(array) if self.has_several_devices else nullcontext()

    def copy(self, array: Any, order: str | None = None) -> Any:
        with self._at(array):
            return array.copy(order=order or "K")

    def kept(self, array: Any, level: int, briefly: bool = False) -> Any:
        """Copy a small array; share a large one, since comparing it later would block the host."""
        if not self.is_array(array) or array.nbytes > COPIED:
            return array
        return copied(self.copy(array), array)

    def owns_buffer(self, array: Any) -> bool:
        """Tell if nothing else refers to the array's memory pointer, as views and others would."""
        if self.has_several_devices or type(array) is not cupy.ndarray or array.base is not None:
            return False
        return sys.getrefcount(array.data) == _OWN_BUFFER

    tells_views = True

    def may_be_view(self, array: Any, source: Any) -> bool:
        return bool(cupy.may_share_memory(array, source))

    def write(self, array: Any, key: Any, value: Any) -> None:
        _write(array, key, value)

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        with self._at(buffer):
            return self._added(buffer, key, values)

    def _added(self, buffer: Any, key: Any, values: Any) -> Any:
        if is_basic_key(key):
            part = buffer[key]
            part += values
            return buffer
        key = _on_device(key)
        if _is_mask(key):
            return buffer + _spread(key, values, buffer)
        if isinstance(key, TUPLE):  # masks among others: reading by them has waited, too
            key = tuple(
                one for part in key for one in (cupy.nonzero(part) if _is_mask(part) else (part,))
            )
        letter = buffer.dtype.char
        if letter in "FD":  # no atomic addition of pairs: the parts are added each by itself
            cupy.add.at(buffer.real, key, values.real)
            cupy.add.at(buffer.imag, key, values.imag)
        elif letter in ATOMIC:
            cupy.add.at(buffer, key, values)
        else:
            return scatter_add_generic(self.xp, buffer, key, values)
        return buffer


def _on_device(key: Any) -> Any:
    """Convert the lists and NumPy arrays in a key to CuPy arrays."""
    if isinstance(key, TUPLE):
        return tuple(_on_device(part) for part in key)
    return cupy.asarray(key) if isinstance(key, (list, np.ndarray)) else key


def _is_mask(key: Any) -> bool:
    return isinstance(key, cupy.ndarray) and key.dtype == np.bool_


def _spread(mask: Any, values: Any, like: Any) -> Any:
    """Return zeros with `values` where a mask is true, without counting the mask on the host."""
    shape = mask.shape + (1,) * (like.ndim - mask.ndim)
    if not values.shape[0]:
        return cupy.zeros_like(like)
    places = cupy.cumsum(mask.ravel(), dtype=np.int64).reshape(mask.shape) - 1
    return cupy.where(mask.reshape(shape), values.take(places, axis=0), like.dtype.type(0))


# Writing: a mask is a selection, so that its elements need not be counted ------------------------


def _setitem(xp: Any, x: Any, value: Any, key: Any) -> Any:
    return _write(x.copy(), key, value)


def _write(array: Any, key: Any, value: Any) -> Any:
    """Write a value at `key` in place, and return the array."""
    if type(array) is cupy.ndarray and _is_mask(key) and not getattr(value, "ndim", 0):
        mask = key.reshape(key.shape + (1,) * (array.ndim - key.ndim))
        cupy.copyto(array, value, where=mask, casting="unsafe")
    else:
        array[key] = value
    return array


def _to_device(xp: Any, x: Any, device: Any, *, stream: Any = None) -> Any:
    """Move an array to a device, as array-api-compat does; the streams wait for each other."""
    if isinstance(x, cupy.ndarray) and stream is None and not isinstance(device, str):
        return moved(x, device)
    return to_device(x, device, stream=stream)


register(
    [
        writing(_write, _setitem),
        differing(
            "to_device", lambda xp, g, x_meta: _to_device(xp, g, x_meta.device), native=_to_device
        ),
    ],
    backend="cupy",
)
