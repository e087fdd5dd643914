"""The functions of `dask.array` for `gradwrap.dask.array`; tracked values go to NumPy's."""

from __future__ import annotations

import functools
import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.dask import blocks, gufuncs, linalg, linear, overlapping, reducing
from gradwrap.dask.protocol import splitting
from gradwrap.errors import NoRuleError
from gradwrap.extend import call_native, call_numpy, first_variable, is_recorded, submodule

if TYPE_CHECKING:
    from collections.abc import Callable

    da: Any
else:
    import dask.array as da

OWN: dict[str, Callable[..., Any]] = {
    "dask.array.apply_gufunc": gufuncs.apply_gufunc,
    **dict.fromkeys(("dask.array.asanyarray", "dask.array.asarray"), linear.asarray),
    "dask.array.argtopk": reducing.argtopk,
    "dask.array.as_gufunc": gufuncs.as_gufunc,
    "dask.array.blockwise": blocks.blockwise,
    "dask.array.coarsen": blocks.coarsen,
    "dask.array.diag": linear.diag,
    "dask.array.from_array": linear.from_array,
    "dask.array.gufunc": gufuncs.GUFunc,
    "dask.array.histogram": reducing.histogram,
    "dask.array.map_blocks": blocks.map_blocks,
    "dask.array.map_overlap": overlapping.map_overlap,
    "dask.array.pad": linear.pad,
    "dask.array.rechunk": linear.rechunk,
    "dask.array.reduction": reducing.reduction,
    "dask.array.topk": reducing.topk,
    "dask.array.overlap.map_overlap": overlapping.map_overlap,
    "dask.array.overlap.overlap": overlapping.overlap,
    "dask.array.overlap.trim_internal": overlapping.trim_internal,
    "dask.array.overlap.trim_overlap": overlapping.trim_overlap,
    **{f"dask.array.linalg.{name}": function for name, function in linalg.FUNCTIONS.items()},
}
"""The functions that are not those of NumPy, by their paths."""
COUNTERPARTS: dict[str, ModuleType] = {
    "dask.array": np,
    "dask.array.fft": np.fft,
    "dask.array.lib.stride_tricks": np.lib.stride_tricks,
    "dask.array.linalg": np.linalg,
}
"""The modules of NumPy that have functions of the same names."""
SUBMODULES = frozenset({"fft", "lib", "linalg", "overlap", "stride_tricks"})
LAYOUT = frozenset({"automatic_rechunk", "limit", "merge_chunks", "method"})
"""Options that NumPy's functions lack and that change Dask's tasks, not the result."""
REMEDIES: dict[str, str] = {
    "apply_along_axis": "write it with array functions, or apply it by map_blocks to an array with "
    "one chunk along the axis",
    "cumreduction": "cumsum or cumprod",
    "from_delayed": "map_blocks, whose function is differentiated on the workers; data that are "
    "not tracked can come from delayed functions",
    "store": "call it outside of the differentiated function, or on x.detach().data",
    "to_zarr": "call it outside of the differentiated function, or on x.detach().data",
}
"""What to do instead of a function without a rule."""


class DropIn:
    """The functions of `dask.array` for tracked values, each made at its first use."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        """Return the version of a `dask.array` object for tracked values."""
        if name.startswith("__") and not hasattr(da, name):
            raise AttributeError(f"module 'gradwrap.dask.array' has no attribute {name!r}")
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = _standing_for(getattr(da, name), "dask.array", name)
        return found


def _standing_for(known: Any, module: str, name: str) -> Any:
    path = f"{module}.{name}"
    if isinstance(known, ModuleType):
        in_dask = known.__name__ == path and name in SUBMODULES
        return (
            submodule(known, lambda found, name: _standing_for(found, path, name))
            if in_dask
            else known
        )
    own = OWN.get(path)
    if own is not None:
        return own
    if isinstance(known, type) or not callable(known):
        return known
    counterpart = getattr(COUNTERPARTS.get(module), name, None)
    return _function(known, path, counterpart if callable(counterpart) else None)


def _function(known: Callable[..., Any], path: str, counterpart: Callable[..., Any] | None) -> Any:
    @functools.wraps(known)
    def function(*args: Any, **kwargs: Any) -> Any:
        if first_variable([*args, *kwargs.values()]) is None:
            return known(*args, **kwargs)
        if counterpart is None:
            if not is_recorded([args, kwargs]):
                return call_native(known, args, kwargs)
            raise NoRuleError(_without_rule(path))
        with splitting(kwargs.pop("split_every", None)):
            if not isinstance(counterpart, np.ufunc):
                _check_words(path, counterpart, kwargs)
            return call_numpy(counterpart, args, kwargs)

    return function


def _check_words(path: str, counterpart: Callable[..., Any], kwargs: dict[str, Any]) -> None:
    """Refuse options that NumPy's function lacks, except Dask's options for tasks."""
    try:
        parameters = inspect.signature(counterpart).parameters
    except (TypeError, ValueError):
        return
    for name in tuple(kwargs):
        if name not in parameters and name in LAYOUT:
            del kwargs[name]
        elif name not in parameters:
            raise NoRuleError(
                f"{path} with {name}= has no rule for tracked values. Fix: omit it; rechunk gives "
                "the result other chunks."
            )


def _without_rule(path: str) -> str:
    fix = REMEDIES.get(path.rpartition(".")[2], "write it with functions that have one")
    return (
        f"{path} has no rule, and an argument is tracked. Fix: {fix}; or .detach() the argument "
        "if its gradient is not wanted."
    )
