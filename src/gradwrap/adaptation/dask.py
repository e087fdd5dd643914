"""Refusal of tracked values where Dask would store them as constants in its graph.

Dask takes an object that it does not know for a constant, and a tracked value would lose its
gradient. So a tracked value is refused wherever Dask looks at such an object: to name a task after
its arguments, or to find what they depend on.
"""

from __future__ import annotations

import functools
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded
from gradwrap.core.values.dynamic import named_by, type_of
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

INSTEAD = (
    "take it from gradwrap.dask.array in place of dask.array, from the array's own namespace, "
    "xp = x.__array_namespace__(), or from NumPy: np.add(a, x) for dask.array.add(a, x)."
)


def functions(module: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield what `dask.array` has, with what takes tracked values in its place."""
    ours = import_module("gradwrap.dask.array")
    for name, original in list(vars(module).items()):
        found = getattr(ours, name) if name[0] != "_" else original
        if found is not original:
            yield original, found


def enter_delayed(module: Any) -> None:
    """Refuse tracked values among the arguments of delayed functions."""
    native = module.unpack_collections

    @functools.wraps(native)
    def unpack_collections(expr: Any, *args: Any, **options: Any) -> Any:
        _check(expr, "A delayed function of Dask")
        return native(expr, *args, **options)

    module.unpack_collections = unpack_collections


def enter_tokens(module: Any) -> None:
    """Refuse tracked values, and functions that hold them, where Dask names tasks after them."""
    normalize: Any = module.normalize_token
    native: Callable[[Any], Any] = normalize.dispatch(FunctionType)

    def named(function: Any) -> Any:
        _check(function, "A function that Dask applies to chunks")
        return native(function)

    def named_by_data(wrapper: Any) -> Any:
        return normalize(wrapper._untracked_data("A function of dask.array", INSTEAD))  # noqa: SLF001  as a plain array

    normalize.register(FunctionType, named)
    normalize.register(AnyWrapper, named_by_data)


def _check(value: Any, what: str) -> None:
    if type_of(value) is FunctionType:
        for held in named_by(value):
            inside = named_by(held) if type_of(held) is FunctionType else [held]
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
