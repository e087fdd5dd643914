"""Tangents of adapted code that are NaN in forward mode: reverse mode knows more.

A backward pass remembers which elements no result takes, and can ask the values for a limit. So
where a tangent is NaN, and the value is not, it is computed from a row of the Jacobian.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.levels import is_differentiating, new_level
from gradwrap.core.levels.modes import is_traced, note_nan
from gradwrap.core.levels.wrapper import innermost, is_at
from gradwrap.core.library.backend import backend_of
from gradwrap.core.observing.callers import noted
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.batch import batch_of
from gradwrap.transforms.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NDARRAY: type[Any] = np.ndarray
MOST = 256
"""The most tangents that are computed so."""


def without_nan(  # noqa: PLR0913  a run in forward mode
    fun: Callable[..., Any],
    primals: Sequence[Any],
    entered: Sequence[Any],
    outs: list[Any],
    tangents: list[Any],
    level: int,
    *,
    has_aux: bool,
) -> list[Any]:
    """Return the tangents of a run of adapted code, with those of reverse mode in place of NaN.

    `entered` are the primals with their tangents, `outs` are the leaves of the output.
    """
    if is_traced():
        note_nan()
    if is_traced() or is_differentiating():
        return tangents
    places = [_nans_of(out, t) for out, t in zip(outs, tangents, strict=True)]
    count = sum(map(len, places))
    if not 0 < count <= MOST:
        return tangents
    leaves, tree = flatten([*primals])
    starts = [leaf._node.value if is_at(leaf, level) else None for leaf in flatten([*entered])[0]]
    moved = [n for n, start in enumerate(starts) if start is not None]
    if any(type_of(innermost(starts[n])) not in (NDARRAY, np.float64) for n in moved):
        return tangents

    def asked(given: list[Any]) -> list[Any]:
        """Return the elements whose tangents are NaN."""
        filled = [*leaves]
        for n, one in zip(moved, given, strict=True):
            filled[n] = one
        returned = fun(*unflatten(tree, filled))
        found = flatten(returned[0] if has_aux else returned)[0]
        return [found[n].reshape(-1)[place] for n, place in enumerate(places) if len(place)]

    asked.__name__ = name_of(fun)
    before = noted.get()
    try:
        found = iter(_rows(asked, [leaves[n] for n in moved]))
    except Exception:  # noqa: BLE001  an operation may have a derivative in forward mode alone
        noted.set(before)
        return tangents
    along = [starts[n] for n in moved]
    return [
        _filled(tangent, place, next(found), along) if len(place) else tangent
        for tangent, place in zip(tangents, places, strict=True)
    ]


def _nans_of(out: Any, tangent: Any) -> Any:
    """Return the places, in a flat array, where a tangent is NaN and the value is not."""
    values, slopes = (innermost(one) for one in (out, tangent))
    kinds = (NDARRAY, np.float64)
    if type_of(slopes) not in kinds or type_of(values) not in kinds or slopes.dtype.kind != "f":
        return ()
    nan = np.isnan(slopes)
    if not nan.any():
        return ()
    if nan.ndim > np.ndim(out):  # of a batch
        nan = np.any(nan, axis=tuple(range(nan.ndim - np.ndim(out))))
    if np.shape(values) != np.shape(nan):
        return ()
    return np.flatnonzero(nan & np.isfinite(values))


def _rows(function: Callable[..., Any], given: list[Any]) -> list[list[Any]]:
    """Return the Jacobian's parts of a function of a list, which returns a list of vectors."""
    recording = Recording(function, 0, (given,), {})
    (argument,) = recording.tracked
    found: list[list[Any]] = []
    for out in recording.out:
        units = batch_of(np.eye(out.shape[0]), new_level())
        arrived = recording.arrived([out], [units])
        found.append([_part(arrived, leaf, out.shape[0]) for leaf in argument.leaves])
    return found


def _part(arrived: dict[Any, Any], leaf: Any, count: int) -> Any:
    found = arrived.get(leaf[0])
    return np.zeros((count, *leaf[0].meta.shape)) if found is None else innermost(found)


def _filled(tangent: Any, place: Any, rows: Sequence[Any], starts: Sequence[Any]) -> Any:
    """Return a tangent whose NaN at some places are products of rows and starts."""
    xp = backend_of(tangent).xp
    pairs = zip(rows, starts, strict=True)
    products = [xp.where(start == 0.0, 0.0, row * start) for row, start in pairs]
    sums = [xp.sum(one, axis=tuple(range(1, len(one.shape)))) for one in products]
    flat = xp.reshape(tangent, (-1,))
    is_asked = np.zeros(flat.shape[0], bool)
    is_asked[place] = True
    at = np.zeros(flat.shape[0], int)
    at[place] = np.arange(len(place))
    found = xp.take(functools.reduce(operator.add, sums), at, axis=0)
    return xp.reshape(xp.where(is_asked & xp.isnan(flat), found, flat), tangent.shape)
