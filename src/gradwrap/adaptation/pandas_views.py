"""Plain arrays that adapted code has taken of columns of pandas, or made columns of.

Such an array shows what is stored in its column later. A tracked value cannot be stored in it.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.observing.callers import current_caller, refused
from gradwrap.core.values.dynamic import DICT
from gradwrap.errors import TrackedValueError

FEW = 64
_taken: list[weakref.ref[Any]] = []
_limit: list[int] = [FEW]


def noted_array(array: Any) -> Any:
    """Note an array that may share its numbers with a column, and return it."""
    if not (is_differentiating() and isinstance(array, (np.ndarray, AnyWrapper))):
        return array
    if len(_taken) >= _limit[0]:
        _taken[:] = [one for one in _taken if one() is not None]
        _limit[0] = max(FEW, 2 * len(_taken))
    _taken.append(weakref.ref(array))
    return array


def note_data(data: Any) -> None:
    """Note the arrays that a series or table is made of without a copy."""
    for part in data.values() if isinstance(data, DICT) else (data,):
        noted_array(part)


def refuse_shown(column: Any, name: Any) -> None:
    """Refuse a tracked value in a plain column, if an array that shows the column is in use.

    Raises
    ------
    TrackedValueError
        There is such an array.
    """
    arrays: list[Any] = [native(one()) for one in _taken]
    if any(hasattr(one, "strides") and np.shares_memory(one, column) for one in arrays):
        where = "a series" if name is None else f"the column {name!r} of a table"
        raise refused(
            current_caller(),
            TrackedValueError(
                f"a tracked value was stored in {where}, and an array that was taken of it before "
                "(.values, .to_numpy()), or that it was made of, would show it. Fix: take the "
                "array after the store, or a copy of it, .to_numpy(copy=True); or make the column "
                "of tracked values before."
            ),
        )
