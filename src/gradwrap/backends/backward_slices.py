"""Backward slices, `x[::-1]`, for libraries whose slices only go forwards: torch and dask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.backends.differing_rows import differing
from gradwrap.core.values.dynamic import SLICE, TUPLE
from gradwrap.core.values.space import zeros_of
from gradwrap.rules.selection import setitem, setitem_cotangents

if TYPE_CHECKING:
    from gradwrap.core.table.rule import Rule


def forwards(key: Any, shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """Return a key whose slices all step forwards, and the axes to reverse before indexing."""
    parts = key if isinstance(key, TUPLE) else (key,)
    if not any(isinstance(part, SLICE) and _is_backwards(part) for part in parts):
        return key, ()
    taken = sum(_axes_of(part) for part in parts)
    axis = 0
    reversed_axes: list[Any] = []
    forward: list[Any] = []
    for part in parts:
        if part is Ellipsis:
            axis += len(shape) - taken
        elif isinstance(part, SLICE) and _is_backwards(part):
            length = shape[axis]
            start, stop, step = part.indices(length)
            part = slice(length - 1 - start, length - 1 - stop, -step)  # noqa: PLW2901  its place
            reversed_axes.append(axis)
        forward.append(part)
        axis += _axes_of(part)
    return tuple(forward), tuple(reversed_axes)


def _is_backwards(part: slice) -> bool:
    return part.step is not None and part.step < 0


def _axes_of(part: Any) -> int:
    """Count the axes of the array that a part of a key consumes."""
    if part is None or part is Ellipsis:
        return 0
    is_mask = str(getattr(part, "dtype", "")).endswith("bool")
    return part.ndim if is_mask else 1


def read(xp: Any, x: Any, key: Any) -> Any:
    key, axes = forwards(key, x.shape)
    return (xp.flip(x, axis=axes) if axes else x)[key]


def _written(xp: Any, x: Any, value: Any, key: Any) -> Any:
    key, axes = forwards(key, x.shape)
    if not axes:
        return setitem(xp, x, value, key)
    return xp.flip(setitem(xp, xp.flip(x, axis=axes), value, key), axis=axes)


def _written_cotangents(xp: Any, g: Any, key: Any, value_meta: Any) -> tuple[Any, Any]:
    key, axes = forwards(key, g.shape)
    if not axes:
        return setitem_cotangents(xp, g, key, value_meta)
    of_x, of_value = setitem_cotangents(xp, xp.flip(g, axis=axes), key, value_meta)
    return xp.flip(of_x, axis=axes), of_value


def _scatter_cotangent(xp: Any, g: Any, key: Any) -> Any:
    return read(xp, g, key)


def indexing_rules() -> list[Rule]:
    """Return the rows for reading and writing with keys that may step backwards."""
    return [
        differing("getitem", native=read),
        differing("scatter", _scatter_cotangent),
        differing(
            "setitem",
            _written_cotangents,
            native=_written,
            jvps=(
                lambda xp, t, key: _written(xp, t, 0, key),
                lambda xp, t, x_meta, key: _written(xp, zeros_of(xp, x_meta), t, key),
            ),
        ),
    ]
