"""The backend of JAX, whose arrays cannot be written to."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gradwrap.backends.differing_rows import writing
from gradwrap.core.library.backend import Backend
from gradwrap.core.table.registry import register
from gradwrap.core.values.dynamic import SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    jax: Any  # where it is not installed, a checker takes this file for it
else:
    import jax


class JaxBackend(Backend):
    """JAX: arrays that cannot be written to, so a write makes a new one; scatter-add by `at`.

    Tracers are arrays too, so gradients are compiled by `jax.jit` like any other function.
    """

    bridge = "gradwrap.jax.operation"
    elsewhere: Mapping[str, str] = MappingProxyType({"special": "jax.scipy.special"})

    def __init__(self, xp: Any, kind: type) -> None:
        with jax.ensure_compile_time_eval():  # also where the first array met is a tracer
            concrete = type_of(xp.zeros(()))
        super().__init__("jax", xp, frozenset({concrete, kind}))

    def is_array(self, value: object) -> bool:
        return isinstance(value, jax.Array)

    def copy(self, array: Any, order: str | None = None) -> Any:
        return array  # it cannot be written to

    def may_be_view(self, array: Any, source: Any) -> bool:
        return True  # as code written for NumPy's views expects

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        """Add at a key; for integers and slices by padding, which XLA fuses with the sum."""
        parts = key if isinstance(key, TUPLE) else (key,)
        if not all(type(part) is int or isinstance(part, SLICE) for part in parts):
            return buffer.at[key].add(values)
        parts += (slice(None),) * (buffer.ndim - len(parts))
        places: list[Any] = [
            range(n)[slice(part % n, part % n + 1) if type(part) is int else part]
            for part, n in zip(parts, buffer.shape, strict=True)
        ]
        if any(not place for place in places):
            return buffer
        values = jax.numpy.reshape(values, tuple(map(len, places)))
        axes = [axis for axis, place in enumerate(places) if place.step < 0]
        values = jax.numpy.flip(values, axes) if axes else values
        widths = [
            (min(place), n - 1 - max(place), abs(place.step) - 1)
            for place, n in zip(places, buffer.shape, strict=True)
        ]
        zero = jax.numpy.zeros((), buffer.dtype)
        return buffer + jax.lax.pad(values.astype(buffer.dtype), zero, widths)


def _setitem(xp: Any, x: Any, value: Any, key: Any) -> Any:
    if hasattr(value, "dtype"):
        value = xp.astype(value, x.dtype)
    return x.at[key].set(value)


def _write(array: Any, key: Any, value: Any) -> Any:
    if hasattr(array, "at"):
        return array.at[key].set(value)
    written = array.copy()  # a variable, whose writes come here again
    written[key] = value
    return written


register([writing(_write, _setitem, consumes=False)], backend="jax")
