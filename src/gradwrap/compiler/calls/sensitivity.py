"""How far results move where the arguments change in their last places.

A function can amplify rounding, as the solution of an ill-conditioned system does. A program that
adds up in another order then differs from the function in many digits, although both are right. So
the function runs again on arguments that differ from the given ones in the last place. An error of
the size of the movement of its results says nothing against a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradwrap.compiler.calls.compare import MOST, TOLERANCE, Distant, mismatch, ulps
from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.core.values.tree import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.values.tree import TreeDef

TRIES = 3
"""The number of changes of the arguments; the least movement counts."""
FACTOR = 32
"""How many times the movement of its results a program may be away."""
NUMBER: type[Any] = np.generic


class Given(Protocol):
    """The arguments of a call, as leaves and their structure."""

    @property
    def leaves(self) -> Sequence[Any]:
        """Return the leaves of the arguments."""
        ...

    @property
    def treedef(self) -> TreeDef:
        """Return the structure of the arguments."""
        ...

    @property
    def given(self) -> Sequence[bool]:
        """Tell which leaves are inputs."""
        ...


def mismatch_beyond_movement(
    function: Callable[..., Any],
    call: Given,
    wanted: Sequence[Any],
    found: Sequence[Any],
    precisions: Sequence[float],
) -> str:
    """Return how results differ from the function's own by more than these move, or ""."""
    problem = mismatch(wanted, found, precisions)
    if isinstance(problem, Distant):
        movements = precisions_by_movement(function, call, wanted)
        problem = mismatch(wanted, found, [*map(max, precisions, movements)])
    return problem


def precisions_by_movement(
    function: Callable[..., Any], call: Given, wanted: Sequence[Any]
) -> list[float]:
    """Return, for each result, a precision that stands for its movement; 0 if it has none.

    A jump, as of `floor` at an integer, is no movement if one of the tries does not meet it.
    """
    least = [MOST / TOLERANCE] * len(wanted)
    rng = np.random.default_rng(0)
    for _ in range(TRIES):
        leaves = [
            _changed(leaf, rng) if is_given else leaf
            for leaf, is_given in zip(call.leaves, call.given, strict=True)
        ]
        try:
            args, kwargs = unflatten(call.treedef, leaves)
            with np.errstate(all="ignore"):
                moved = flatten(function(*args, **kwargs))[0]
            movements = [_movement(*pair) for pair in zip(wanted, moved, strict=True)]
        except Exception:  # noqa: BLE001  a matrix that has become singular, or another structure
            return [0.0] * len(wanted)
        least = [
            min(one, other * FACTOR / TOLERANCE)
            for one, other in zip(least, movements, strict=True)
        ]
    return least


def _changed(value: Any, rng: np.random.Generator) -> Any:
    """Return a number or an array of NumPy, each element larger or smaller in the last place."""
    array: Any = np.asarray(value)
    if array.dtype.kind not in "fc":
        return value
    signs = rng.choice(np.array([-1, 1], array.real.dtype), array.shape)
    changed = array * (1 + signs * np.finfo(array.dtype).eps)
    return np.asarray(changed) if isinstance(value, NDARRAY) else type(value)(changed)


def _movement(one: Any, other: Any) -> float:
    """Return the distance of two results, as a part of the largest element."""
    if not isinstance(one, (NDARRAY, NUMBER)) or one.dtype.kind not in "fc":
        return 0.0
    distance = ulps(one, np.asarray(other).reshape(one.shape))
    return distance * float(np.finfo(one.dtype).eps) if np.isfinite(distance) else 0.0
