"""Ufuncs of Python objects: arrays of them, and instances that were made outside of a transform."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import is_recorded, unwrapped_key
from gradwrap.core.library.labelled import keeps_labels, labels_of
from gradwrap.core.observing.callers import current_caller

plain_instances: list[Any] = []
"""The function that makes an instance with plain values hold a variable, if it is of a subclass.

The class is one of NumPy's arrays. Other arguments are returned.
"""


def with_instances(ufunc: Any, inputs: tuple[Any, ...], **options: Any) -> Any:
    """Call a ufunc with instances that hold variables, in place of those that were made outside.

    That is done in adapted code alone. NumPy asks the subclass itself first, which does not know
    variables. Beside constants, the instances stay as they are.
    """
    found = keeps_labels(inputs)
    if found is not None and found.held is not None:
        if found.combined is not None and sum(labels_of(one) is not None for one in inputs) == 1:
            return found.combined(partial(ufunc, **options), inputs)
        return ufunc(*map(found.held, inputs), **options)
    if not (plain_instances and is_differentiating()):
        return NotImplemented
    given = [plain_instances[0](value) for value in inputs]
    if all(ours is value for ours, value in zip(given, inputs, strict=True)):
        return NotImplemented
    if not _is_called_by_adapted_code():
        return NotImplemented
    return ufunc(*(given if is_recorded(inputs) else map(unwrapped_key, inputs)), **options)


def by_elements(function: Any, *inputs: Any, **options: Any) -> Any:
    """Let NumPy's loop over objects call a function, or raise the error that is being handled.

    It does that in adapted code, where an array of Python objects meets a tracked one.
    """
    kinds = [getattr(getattr(value, "dtype", None), "kind", "") for value in inputs]
    if "O" not in kinds or not _is_called_by_adapted_code():
        raise  # noqa: PLE0704  the caller handles it
    return function(*map(_boxed, inputs), **options)


def _is_called_by_adapted_code() -> bool:
    caller = current_caller()
    return caller is not None and caller.is_adapted


def _boxed(value: Any) -> Any:
    """Return a variable as an array of Python objects."""
    if not is_recorded(value):
        return value
    import numpy as np

    made = np.empty(value.shape, dtype=object)
    for place in np.ndindex(value.shape):
        made[place] = value[place]
    return made
