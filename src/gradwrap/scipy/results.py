"""Extract the floating-point parts of a result by their paths, and put them back.

SciPy returns arrays, numbers, tuples, named tuples, and result objects that are dictionaries.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.backend import by_type
from gradwrap.core.values.dynamic import DICT, SEQUENCE, rebuilt, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Path = tuple[Any, ...]


def is_float(value: Any) -> bool:
    """Tell if a value is a floating-point or complex number or array, wrapped or plain."""
    if isinstance(value, (np.ndarray, np.generic, AnyWrapper)):
        return value.dtype.kind in "fc"
    if isinstance(value, (float, complex)):
        return True
    return type_of(value) in by_type and value.dtype.kind in "fc"  # a trace's


def is_whole(value: Any) -> bool:
    """Tell if a value is an integer or a bool, or an array of them."""
    is_array = isinstance(value, (np.ndarray, np.generic))
    return isinstance(value, int) or (is_array and value.dtype.kind in "biu")


def float_parts(
    result: Any, path: Path = (), wanted: Callable[[Any], bool] = is_float
) -> Iterator[tuple[Path, Any]]:
    """Yield the floating-point parts of a result, or other wanted ones, each with its path."""
    if isinstance(result, SEQUENCE):
        for index, part in enumerate(result):
            yield from float_parts(part, (*path, index), wanted)
        for name in _more_fields(result):
            yield from float_parts(getattr(result, name), (*path, name), wanted)
    elif isinstance(result, DICT):
        for key, part in result.items():
            yield from float_parts(part, (*path, key), wanted)
    elif wanted(result):
        yield path, result
    elif dataclasses.is_dataclass(result):
        for name, part in vars(result).items():
            if isinstance(part, SEQUENCE) or wanted(part):
                yield from float_parts(part, (*path, name), wanted)


def is_discrete(result: Any) -> bool:
    """Tell if a result contains only integers, bools and strings."""
    if isinstance(result, SEQUENCE):
        return all(map(is_discrete, result)) and not _more_fields(result)
    if isinstance(result, DICT):
        return all(map(is_discrete, result.values()))
    if isinstance(result, (np.ndarray, np.generic)):
        return result.dtype.kind in "biuSUmM"
    return result is None or isinstance(result, (int, str, bytes))


def part_at(result: Any, path: Path) -> Any:
    """Return the part of a result at a path."""
    for key in path:
        is_item = isinstance(result, DICT) or not isinstance(key, str)
        result = result[key] if is_item else getattr(result, key)
    return result


def with_parts(result: Any, parts: Mapping[Path, Any]) -> Any:
    """Return a copy of a result with the parts at some paths replaced."""
    if () in parts:
        return parts[()]
    if not parts:
        return result
    changed: dict[Any, Any] = {}
    nested: dict[Any, dict[Path, Any]] = {}
    for path, part in parts.items():
        if len(path) == 1:
            changed[path[0]] = part
        else:
            nested.setdefault(path[0], {})[path[1:]] = part
    for key, inner in nested.items():
        changed[key] = with_parts(part_at(result, (key,)), inner)
    if isinstance(result, SEQUENCE):
        items = [changed.get(place, part) for place, part in enumerate(result)]
        if not hasattr(result, "__dict__"):
            return rebuilt(result, items)
        made = tuple.__new__(type_of(result), items)  # its constructor may take more arguments
        changed_by = {id(part_at(result, (key,))): part for key, part in changed.items()}
        fields = {name: changed_by.get(id(part), part) for name, part in vars(result).items()}
        fields |= {name: part for name, part in changed.items() if isinstance(name, str)}
        vars(made).update(fields)  # an attribute may be a second name of an item
        return made
    made = copy.copy(result)
    for key, part in changed.items():
        if isinstance(made, DICT):
            made[key] = part
        else:  # a dataclass, which may be frozen
            object.__setattr__(made, key, part)
    return made


def _more_fields(result: Any) -> tuple[str, ...]:
    """Return the names of the extra attributes of SciPy's named tuples."""
    return tuple(getattr(result, "_extra_fields", ()))


def hidden_parts(result: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the numbers that a named tuple keeps for its methods, as a confidence interval's.

    An attribute that is a second name of an item is not among them.
    """
    if not isinstance(result, SEQUENCE):
        return
    for name, part in vars(result).items() if hasattr(result, "__dict__") else ():
        is_second = name in _more_fields(result) or any(part is item for item in result)
        if is_float(part) and not is_second:
            yield (name,), part
