"""A case is tried: its gradient, in both modes, against central differences."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import gradwrap as gw
from gradwrap.core.values.dynamic import DICT, SEQUENCE
from gradwrap.errors import GradwrapError

from .functions import module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

RIGHT, WRONG, DROPPED, REFUSED, UNCLEAR = "right", "wrong", "dropped", "refused", "unclear"
TOLERANCE = 1e-5


class Tried(NamedTuple):
    """What became of a case, and why."""

    label: str
    verdict: str
    reason: str = ""


def total(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A weighted sum of all real numbers that a function returns."""

    def weighted(x: Any) -> Any:
        values: Any = np.concatenate(list(_vectors(function(x))))
        count: int = values.shape[0]
        return np.sum(values * np.cos(np.arange(count) + 0.3))

    return weighted


def _vectors(value: Any) -> Iterator[Any]:
    if isinstance(value, DICT):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, SEQUENCE):
        for part in value:
            yield from _vectors(part)
    elif not isinstance(value, (str, bool, type(None))):
        array: Any = value.to_numpy() if hasattr(value, "to_numpy") else value  # a table
        array = array if hasattr(array, "dtype") else np.asarray(array)
        flat: Any = array.reshape(-1)
        if flat.dtype.kind == "c":
            yield from (flat.real, flat.imag)
        elif flat.dtype.kind == "f":
            yield flat
        elif flat.dtype.kind == "O":  # of numbers, as pandas keeps them
            yield from _vectors([np.reshape(one, (1,)) for one in flat])


def differences(function: Callable[[Any], Any], x: Any, step: float) -> Any:
    """Central differences, each with a step in proportion to its coordinate."""
    steps = np.diag(step * np.maximum(1.0, np.abs(x)))
    return np.array([(function(x + e) - function(x - e)) / (2 * e.sum()) for e in steps])


def tried(case: Case) -> Tried:
    """Differentiate a case as `gradwrap.adapting` does, and compare."""
    label, function, point = case
    x = np.array(point, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wide, narrow = (differences(total(function), x, h) for h in (1e-5, 3e-6))
        adapted = total(gw.adapting(function))
        try:
            backward = gw.grad(adapted)(x)
            forward = np.array([gw.jvp(adapted, (x,), (e,))[1] for e in np.eye(x.size)])
        except GradwrapError as error:
            return Tried(label, REFUSED, _reason(error))
        except Exception as error:  # noqa: BLE001  that is what is counted
            return Tried(label, UNCLEAR, f"{type(error).__name__}: {error}")
    scale = np.maximum(np.abs(wide), 1e-3 * np.abs(wide).max())
    allowed = TOLERANCE * scale + 10 * np.abs(wide - narrow)
    for found in (backward, forward):
        if not np.all(np.abs(found - wide) <= allowed):
            return Tried(label, WRONG if np.any(found) else DROPPED, f"{found}, not {wide}")
    return Tried(label, RIGHT)


def _reason(error: GradwrapError) -> str:
    """The first sentence of a message."""
    return str(error).split(". ")[0].splitlines()[0]


def version(name: str) -> str:
    """The installed version of a distribution."""
    return str(module("importlib.metadata").version(name))
