"""Stacks of matrices: find the arguments that are stacks, and select those of one matrix.

SciPy (from 1.17 on) calls functions of matrices on each matrix of a stack. `cores` of a
row names these arguments, with the number of axes of one matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.values.dynamic import LIST, TUPLE, rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Cores = Mapping[str, Sequence[int]]


NUMBERS = frozenset({bool, int, float, complex, type(None)})


def is_stack(given: Mapping[str, Any], cores: Cores) -> bool:
    """Tell if an argument has more axes than one matrix."""
    for name, core in cores.items():
        value: Any = given.get(name)
        parts: Any = value if _is_group(value, core) else (value,)
        for i, part in enumerate(parts):  # quicker than a generator
            if type(part) in NUMBERS:
                continue
            axes = len(part.shape) if hasattr(part, "shape") else np.ndim(part)
            if axes > core[min(i, len(core) - 1)]:
                return True
    return False


def stack_shape(given: Mapping[str, Any], cores: Cores) -> tuple[int, ...]:
    """Return the broadcast shape of the stacks among the arguments; () for one matrix."""
    shapes: list[tuple[int, ...]] = []

    def note(x: Any, core: int) -> Any:
        shapes.append(np.shape(x)[: np.ndim(x) - _axes(x, core)])
        return x

    _changed(given, cores, note)
    return np.broadcast_shapes(*shapes) if any(shapes) else ()


def one_of_stack(
    given: Mapping[str, Any], cores: Cores, shape: tuple[int, ...], index: tuple[int, ...]
) -> dict[str, Any]:
    """Return the arguments of the call on one matrix of the stack."""

    def one(x: Any, core: int) -> Any:
        axes = _axes(x, core)
        whole = np.shape(x)
        if len(whole) == axes:
            return x
        return np.broadcast_to(x, (*shape, *whole[len(whole) - axes :]))[index]

    return _changed(given, cores, one)


def _is_group(value: Any, core: Sequence[int]) -> bool:
    """Tell if an argument is a group of matrices."""
    return isinstance(value, TUPLE) or (isinstance(value, LIST) and len(core) > 1)


def _axes(x: Any, core: int) -> int:
    """Return the number of core axes of an argument, at most its own number of axes."""
    return min(np.ndim(x), core)


def _changed(
    given: Mapping[str, Any], cores: Cores, change: Callable[[Any, int], Any]
) -> dict[str, Any]:
    changed = dict(given)
    for name, core in cores.items():
        value: Any = given.get(name)
        if _is_group(value, core):
            each = [
                part if part is None else change(part, core[min(i, len(core) - 1)])
                for i, part in enumerate(value)
            ]
            changed[name] = rebuilt(value, each)
        elif value is not None:
            changed[name] = change(value, core[0])
    return changed
