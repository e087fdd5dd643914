"""Set functions: the unique elements of an array, with their places and counts."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradwrap.core.library.compat import device
from gradwrap.core.library.namespace import composite
from gradwrap.core.table.kinds import nondifferentiable
from gradwrap.core.table.registry import find_op, register


class _UniqueAll(NamedTuple):
    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class _UniqueCounts(NamedTuple):
    values: Any
    counts: Any


class _UniqueInverse(NamedTuple):
    values: Any
    inverse_indices: Any


def _unique_all(xp: Any, x: Any) -> Any:
    try:
        return xp.unique_all(x)
    except NotImplementedError:  # PyTorch does not return positions
        return unique_all_by_sorting(xp, x)


def unique_all_by_sorting(xp: Any, x: Any) -> _UniqueAll:
    """Find the unique elements by a stable sort, in which equal ones are neighbours."""
    flat = xp.reshape(x, (-1,))
    order = xp.argsort(flat, stable=True)
    ordered = xp.take(flat, order, axis=0)
    size = flat.shape[0]
    is_start = (xp.arange(size, device=device(x)) == 0) | (ordered != xp.roll(ordered, 1))
    starts = xp.nonzero(is_start)[0]
    lengths = xp.roll(starts, -1) - starts  # the last is up to the first start, modulo the size
    rank = xp.cumulative_sum(xp.astype(is_start, order.dtype)) - 1
    inverse = xp.take(rank, xp.argsort(order), axis=0)
    return _UniqueAll(
        xp.take(ordered, starts, axis=0),
        xp.take(order, starts, axis=0),
        xp.reshape(inverse, x.shape),
        (lengths - 1) % max(size, 1) + 1,
    )


RULES = [
    nondifferentiable(
        "unique_all",
        "x, /",
        "positions and counts; the values come from `take`",
        native=_unique_all,
        batch="loop",
    ),
]
register(RULES)


@composite("unique_all")
def unique_all(xp: Any, x: Any, /) -> Any:
    """Return the values, each taken where it first occurs, with their positions and counts."""
    op = find_op("unique_all")
    assert op is not None
    x = xp.asarray(x)
    found = xp._class._bind(op).call(x)  # noqa: SLF001  shared with the core
    return found._replace(values=xp.take(xp.reshape(x, (-1,)), found.indices, axis=0))


@composite("unique_counts")
def unique_counts(xp: Any, x: Any, /) -> _UniqueCounts:
    """Return the values, each taken where it first occurs, and how often they occur."""
    found = unique_all(xp, x)
    return _UniqueCounts(found.values, found.counts)


@composite("unique_inverse")
def unique_inverse(xp: Any, x: Any, /) -> _UniqueInverse:
    """Return the values, each taken where it first occurs, and the place of each x among them."""
    found = unique_all(xp, x)
    return _UniqueInverse(found.values, found.inverse_indices)


@composite("unique_values")
def unique_values(xp: Any, x: Any, /) -> Any:
    """Return the values, each taken where it first occurs."""
    return unique_all(xp, x).values
