"""Arguments that adapted code lets SciPy overwrite, and reads afterwards.

SciPy documents `overwrite_b=True` as a permission. But packages rely on what it leaves: they call
`solve_triangular(a, b, overwrite_b=True)` and go on with `b`, which holds the solution. Rules never
overwrite an argument. So the result is written to it, where SciPy would have left it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.tree import flatten, map_leaves

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "overwrite_"


def permitted(given: dict[str, Any]) -> dict[str, Any]:
    """Return by name the arrays that a call with such arguments lets SciPy overwrite."""
    flags = [name for name in given if name.startswith(PREFIX)]
    arrays = {name: given.get(name.removeprefix(PREFIX)) for name in flags if _is_set(given[name])}
    return {name: one for name, one in arrays.items() if isinstance(one, (np.ndarray, AnyWrapper))}


def _is_set(flag: Any) -> bool:
    return isinstance(flag, (bool, int, np.bool_)) and bool(flag)


def forbidding(given: dict[str, Any]) -> dict[str, Any]:
    """Return arguments without the permission to overwrite some of them."""
    return {name: False if name.startswith(PREFIX) else one for name, one in given.items()}


def overwrite(
    call: Callable[[dict[str, Any]], Any], out: Any, arrays: dict[str, Any], given: dict[str, Any]
) -> None:
    """Write a result to arguments, where SciPy's own function leaves it in them.

    `call` is SciPy's function. It runs once more for each such argument, on copies.
    """
    leaves = flatten(out)[0]
    for flag, array in arrays.items():
        plain = map_leaves(_copied, forbidding(given)) | {flag: True}
        copy = plain[flag.removeprefix(PREFIX)]
        if not (copy.flags.c_contiguous or copy.flags.f_contiguous):
            continue  # SciPy works on a copy
        place = _left_in(call, plain, copy)
        if place is not None:
            array[...] = leaves[place]


def _left_in(call: Callable[[dict[str, Any]], Any], given: dict[str, Any], copy: Any) -> int | None:
    """Return the place of the result that a call leaves in the memory of an argument, or None."""
    found = flatten(call(given))[0]
    return next((n for n, one in enumerate(found) if _is_same_memory(one, copy)), None)


def _copied(leaf: Any) -> Any:
    """Return a copy of a plain array, or of that in a variable, in the same order of memory."""
    data = leaf
    if isinstance(leaf, AnyWrapper):  # of a batch, the first example
        data = one_array(leaf)
        data = backend_of(data).concrete(data)
    if not isinstance(data, np.ndarray):
        return data
    is_dense = data.flags.c_contiguous or data.flags.f_contiguous
    return data.copy(order="K") if is_dense else np.repeat(data, 2, axis=-1)[..., ::2]


def _is_same_memory(one: Any, copy: Any) -> bool:
    if not isinstance(one, np.ndarray) or one.shape != copy.shape or one.strides != copy.strides:
        return False
    first: Any = one.__array_interface__["data"]
    other: Any = copy.__array_interface__["data"]
    return bool(first[0] == other[0])
