"""Functions that write to an argument, which may be a variable but not a plain array."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.table import (
    check_cast,
    check_target,
    counting,
    implements,
    on_data,
    on_host,
)
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded

VALUES = {
    "fill_diagonal": "val",
    "place": "vals",
    "put": "v",
    "put_along_axis": "values",
    "putmask": "values",
}
"""For each function that writes elements the name of their values."""
WRITING = frozenset({np.copyto, np.trim_zeros, *(getattr(np, name) for name in VALUES)})
"""The functions that write to their first argument, or whose view may be written to."""


@implements(
    "copyto(dst, src, casting='same_kind', where=True)",
    "fill_diagonal(a, val, wrap=False)",
    "place(arr, mask, vals)",
    "put(a, ind, v, mode='raise')",
    "put_along_axis(arr, indices, values, axis)",
    "putmask(a, /, mask, values)",
    always=True,
)
def write(xp: Any, name: str, **options: Any) -> None:
    target = next(iter(options.values()))
    if not isinstance(target, AnyWrapper) and not is_recorded(options):
        on_data(getattr(np, name), tuple(options.values()), {})
        return
    check_target(f"np.{name} into", target)
    if name == "copyto":
        _copy(xp, **options)
    else:
        _put(xp, name, target, **options)


def _copy(xp: Any, dst: Any, src: Any, casting: Any, where: Any) -> None:
    if hasattr(src, "dtype"):
        check_cast(src.dtype, dst.dtype, casting)
    elif isinstance(src, (int, float, complex)):
        np.copyto(np.empty((), dst.dtype), src, casting)  # which refuses what it cannot cast
    dst[...] = src if where is True else xp.where(xp.asarray(where), src, dst)


def _put(xp: Any, name: str, target: Any, **options: Any) -> None:
    """Let NumPy write the numbers of the values, and then write each value where its number is."""
    values = xp.asarray(options[VALUES[name]])
    options[VALUES[name]] = counting(values.size).reshape(values.shape)
    given = (on_host(o) if word in ("ind", "indices", "mask") else o for word, o in options.items())
    _, *others = given
    chosen = np.full(target.shape, -1)
    getattr(np, name)(chosen, *others)
    taken = chosen >= 0
    target[taken] = xp.reshape(values, (-1,))[chosen[taken]]
