"""Functions that make new arrays from tracked values."""

from __future__ import annotations

from typing import Any

from gradwrap.core.array.flat import Flat
from gradwrap.core.array.wrapping import wrap
from gradwrap.core.levels.modes import is_traced, represented
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, unwrapped_key
from gradwrap.core.library.backend import PYTHON_SCALARS
from gradwrap.core.library.buffers import share
from gradwrap.core.library.labelled import tracked_in
from gradwrap.core.library.namespace import asked_of_data, composite
from gradwrap.core.table.kinds import nondifferentiable
from gradwrap.core.table.registry import register
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, type_of

RULES = [
    nondifferentiable(name, "x, /, *, dtype=None, device=None", "of no values", batch="last")
    for name in ("empty_like", "ones_like", "zeros_like")
]
register(RULES)
asked_of_data(
    "can_cast",
    "finfo",
    "iinfo",
    "result_type",
    "isdtype",
    "broadcast_shapes",
    "__array_namespace_info__",
)


FLAT: Any = Flat


@composite("asarray")
def asarray(
    xp: Any, obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Any:
    """Return a variable, cast or copied within the graph if need be, or make a new array."""
    cls = xp._class  # noqa: SLF001  shared with the core
    if isinstance(obj, AnyWrapper):
        found = obj
        xp = obj.__array_namespace__() if is_traced() else xp  # that of the trace
        if device is not None and obj.device != device:
            found = found.to_device(device)
        if dtype is not None and obj.dtype != dtype:
            found = xp.astype(found, dtype)
        if copy and found is obj:
            found = xp.copy(obj)
            found._is_array = True  # noqa: SLF001  shared with the core
        return found
    backend = cls._backend
    if isinstance(obj, SEQUENCE):
        stacked = cls._stacked(obj)
        if device is not None and stacked.device != device:
            stacked = stacked.to_device(device)
        return stacked if dtype is None else xp.astype(stacked, dtype, copy=False)
    if type_of(obj) not in backend.plain_types:
        backend.check_type(type_of(obj))
        variable = obj.copy() if isinstance(obj, FLAT) else tracked_in(obj)
        if variable is not None:
            return asarray(xp, variable, dtype=dtype, device=device, copy=copy)
    made = backend.xp.asarray(obj, dtype=dtype, device=device, copy=copy)
    held = made
    if made is obj or getattr(made, "base", None) is not None:
        share(made)  # the caller can write to it
        held = represented(made)
    return cls._plain(made) if held is made else wrap(held)


@composite("array")
def array(xp: Any, obj: Any, /, dtype: Any = None, *, copy: bool | None = True, **_: Any) -> Any:
    """Make an array as `asarray` does, but copy by default; the name is NumPy's."""
    return asarray(xp, obj, dtype=dtype, copy=copy)


@composite("from_dlpack")
def from_dlpack(xp: Any, x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return this library's variable unchanged; import another library's array by DLPack."""
    if isinstance(x, AnyWrapper):
        return asarray(xp, x, device=device, copy=copy)
    cls = xp._class  # noqa: SLF001  shared with the core
    options = {"device": device, "copy": copy}
    wanted = {name: value for name, value in options.items() if value is not None}
    return cls._plain(cls._backend.xp.from_dlpack(x, **wanted))


@composite("full")
def full(xp: Any, shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array filled with one value, which may be tracked."""
    if not is_recorded(fill_value):
        cls = xp._class  # noqa: SLF001  shared with the core
        value = unwrapped_key(fill_value)
        return cls._plain(cls._backend.xp.full(shape, value, dtype=dtype, device=device))
    value = asarray(xp, fill_value, dtype=dtype, device=device)
    shape = shape if isinstance(shape, TUPLE) else (shape,)
    return xp.copy(xp.broadcast_to(value, shape), order="C")


@composite("full_like")
def full_like(xp: Any, x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Make an array of the shape of another, filled with one value, which may be tracked."""
    x = xp.asarray(x)
    dtype = x.dtype if dtype is None else dtype
    return full(xp, x.shape, fill_value, dtype=dtype, device=device or x.device)


@composite("linspace")
def linspace(
    xp: Any,
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    """Make evenly spaced numbers; if an end is tracked, each is a weighted mean of the two ends."""
    cls = xp._class  # noqa: SLF001  shared with the core
    make = cls._backend.xp.linspace
    options = {"dtype": dtype, "device": device, "endpoint": endpoint}
    if not is_recorded((start, stop)):
        ends = unwrapped_key((start, stop))
        return cls._plain(make(*ends, num=num, **options))
    start, stop = (x if type(x) in PYTHON_SCALARS else xp.asarray(x) for x in (start, stop))
    span = stop - start
    options["dtype"], options["device"] = span.dtype, span.device
    weights = make(0.0, 1.0, num=num, **options)
    weights = xp.reshape(cls._plain(weights), (num,) + (1,) * span.ndim)
    points = xp.where(weights == 1.0, stop, start + span * weights)
    return asarray(xp, points, dtype=dtype, device=device)


@composite("meshgrid")
def meshgrid(xp: Any, *arrays: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """Return the coordinates of a grid: each vector repeated along the axes of the others."""
    lines = open_grid(xp, arrays, indexing)
    return tuple(xp.copy(grid, order="C") for grid in xp.broadcast_arrays(*lines))


def open_grid(xp: Any, arrays: Any, indexing: str) -> list[Any]:
    """Reshape each vector to lie along an axis of its own."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid got indexing={indexing!r}. Fix: pass 'xy' or 'ij'.")
    count = len(arrays)
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[:2] = 1, 0
    return [
        xp.reshape(xp.asarray(x), tuple(-1 if k == at else 1 for k in range(count)))
        for x, at in zip(arrays, order, strict=True)
    ]
