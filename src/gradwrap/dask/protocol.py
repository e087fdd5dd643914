"""What Dask asks of a variable, and the methods that Dask's arrays have beyond NumPy's.

Dask takes an object that it does not know for a constant of its graph, in which a tracked value
would lose its gradient. So wherever Dask looks at such an object, to name a task after its
arguments or to find what they depend on, a tracked one is refused.
"""

from __future__ import annotations

import contextlib
import functools
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradwrap.core.array import protocol
from gradwrap.core.levels.wrapper import AnyWrapper, innermost, is_recorded
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

INSTEAD = (
    "take it from gradwrap.dask.array in place of dask.array, from the array's own namespace, "
    "xp = x.__array_namespace__(), or from NumPy: np.add(a, x) for dask.array.add(a, x)."
)
LAYOUT = ("chunks", "chunksize", "numblocks", "npartitions")
VIEWS = {"blocks": "Blocks", "partitions": "Blocks", "vindex": "Points"}
"""The attributes that select parts, by the classes of `gradwrap.dask.indexing`."""
METHODS = {
    "map_blocks": "blocks",
    "map_overlap": "overlapping",
    "persist": "linear",
    "rechunk": "linear",
}
"""The methods that are functions of a module of `gradwrap.dask`."""
REDUCTIONS = (
    *("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"),
)


def token(variable: Any) -> Any:
    """Return what Dask names a task by; refused while tracked."""
    data = variable._untracked_data("A function of dask.array", INSTEAD)
    return import_module("dask.tokenize").normalize_token(data)


def class_attributes() -> dict[str, Any]:
    """Return the attributes of the class of variables of Dask's arrays."""
    return {
        "__dask_tokenize__": token,
        "compute_chunk_sizes": _compute_chunk_sizes,
        **{name: property(functools.partial(_layout, name)) for name in LAYOUT},
        **{name: property(functools.partial(_view, name)) for name in VIEWS},
        **{name: _method(name, module) for name, module in METHODS.items()},
        **{name: _reduction(name) for name in REDUCTIONS},
    }


def _layout(name: str, variable: Any) -> Any:
    return getattr(innermost(variable), name)


def _view(name: str, variable: Any) -> Any:
    return getattr(import_module("gradwrap.dask.indexing"), VIEWS[name])(variable)


def _method(name: str, module: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        function = getattr(import_module(f"gradwrap.dask.{module}"), name)
        if name.startswith("map_"):
            return function(args[0], self, *args[1:], **options)
        return function(self, *args, **options)

    method.__name__ = name
    return method


def _compute_chunk_sizes(self: Any) -> Any:
    """Compute the lengths of chunks that are unknown, and note them, as the method of Dask's."""
    innermost(self).compute_chunk_sizes()
    return self


def _reduction(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, split_every: Any = None, **options: Any) -> Any:
        found: Any = protocol.find_method(name)
        with splitting(split_every):
            return found(self, *args, **options)

    method.__name__ = name
    return method


def splitting(split_every: Any) -> contextlib.AbstractContextManager[Any]:
    """Let reductions join so many chunks at a time while their graphs are built."""
    if split_every is None:
        return contextlib.nullcontext()
    found: contextlib.AbstractContextManager[Any] = import_module("dask").config.set(
        split_every=split_every
    )
    return found


# Where Dask looks at objects ----------------------------------------------------------------------


def enter_delayed(module: Any) -> None:
    """Refuse tracked values among the arguments of delayed functions."""
    native = module.unpack_collections

    @functools.wraps(native)
    def unpack_collections(expr: Any, *args: Any, **options: Any) -> Any:
        _check(expr, "A delayed function of Dask")
        return native(expr, *args, **options)

    module.unpack_collections = unpack_collections


def enter_tokens(module: Any) -> None:
    """Refuse functions that hold tracked values, where Dask names tasks after them."""
    native = module.normalize_token.dispatch(FunctionType)

    def named(function: Any) -> Any:
        _check(function, "A function that Dask applies to chunks")
        return native(function)

    module.normalize_token.register(FunctionType, named)


def _check(value: Any, what: str) -> None:
    if type_of(value) is FunctionType:
        for held in _held(value):
            inside = _held(held) if type_of(held) is FunctionType else [held]
            if any(isinstance(one, AnyWrapper) and is_recorded(one) for one in inside):
                raise TrackedValueError(
                    f"{what}, {value.__qualname__}, uses a tracked value that is not among its "
                    "arguments, and would drop its gradient. Fix: pass it as an argument, of "
                    "gradwrap.dask.array.map_blocks(f, x, w) for instance."
                )
    elif isinstance(value, AnyWrapper) and is_recorded(value):
        raise TrackedValueError(
            "dask.array or dask.delayed would take a tracked value for a constant, and drop its "
            "gradient. Fix: take the function from gradwrap.dask.array in place of dask.array: its "
            "map_blocks(f, x, w) differentiates f on the workers; or .detach() the value if its "
            "gradient is not wanted."
        )


def _held(function: Any) -> list[Any]:
    """The objects that a function encloses, and the global ones that it names."""
    found = [
        function.__globals__[name]
        for name in function.__code__.co_names
        if name in function.__globals__
    ]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # it is empty
            found.append(cell.cell_contents)
    return found
