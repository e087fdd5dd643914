"""Cotangents on their arrival at the nodes that a backward pass is still to visit.

An arrival records the node, the sum so far, and whether the pass owns the sum's buffer, so that
more can be added in place. A min-heap of the nodes' numbers, which fall with time, gives the newest
node first.
"""

from __future__ import annotations

from heapq import heappush
from sys import getrefcount
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.modes import entered
from gradwrap.core.library.backend import backend_of, by_type
from gradwrap.core.library.scatter import OutputPart, Scattered
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.space import zeros_of

if TYPE_CHECKING:
    from gradwrap.core.calls.bound import NodeOp
    from gradwrap.core.library.backend import Backend

Pending = list[Any]


def _references(arrival: Pending) -> int:
    return getrefcount(arrival[1])


_OWN_REFERENCES = _references([None, [], False])


def arrive(  # noqa: PLR0913  the state of the pass
    pending: dict[int, Pending],
    heap: list[int],
    node: Any,
    cotangent: Any,
    op: NodeOp | None = None,
    *,
    owned: bool = False,
) -> None:
    """Add a cotangent to the sum that has arrived at a node."""
    kind = type_of(cotangent)
    if kind is Scattered:
        arrive_at(pending, heap, node, cotangent.key, cotangent.values)
        return
    seq = node.seq
    arrival = pending.get(seq)
    if arrival is None:
        heappush(heap, seq)
        is_part = kind is OutputPart
        arrival = pending[seq] = [node, None if is_part else cotangent, owned and not is_part]
        if not is_part:
            return
    if kind is OutputPart:
        _collect(arrival, cotangent)
    else:
        _add(arrival, cotangent, op)


def arrive_at(
    pending: dict[int, Pending], heap: list[int], node: Any, key: Any, values: Any
) -> None:
    """Add the cotangent of an indexed part into the one buffer of the whole array."""
    seq = node.seq
    arrival = pending.get(seq)
    if arrival is None:
        heappush(heap, seq)
        arrival = pending[seq] = [node, None, False]
    backend = by_type.get(type_of(values)) or backend_of(values)
    if not arrival[2] or backend.depth:
        backend = _own_buffer(arrival, values, backend)
    arrival[1] = backend.scatter_add(arrival[1], key, values)
    arrival[2] = not backend.depth


def _add(arrival: Pending, cotangent: Any, op: NodeOp | None) -> None:
    """Add to the sum that has arrived; add in place if the engine owns its buffer."""
    total = arrival[1]
    if arrival[2] and type(total) is type(cotangent):
        total += cotangent
        arrival[1] = total
        return
    arrival[1] = total = total + cotangent
    # sums of variables are new variables each time: adding in place is for native arrays
    arrival[2] = op is not None and type(total) in op.backend.native_types


def _own_buffer(arrival: Pending, values: Any, backend: Backend) -> Backend:
    """Make sure that the pass owns the sum's buffer; return the backend that adds values to it.

    A formula's result to which nothing else refers is such a buffer.
    """
    if arrival[1] is None:
        zeros = zeros_of(backend.namespaces[type_of(values)], arrival[0].meta)
        arrival[1] = entered(zeros)
        return backend
    has_no_other_owner = _references(arrival) == _OWN_REFERENCES
    total = arrival[1]
    if backend.depth or type(total) not in backend.native_types:
        backend = _deeper(backend, total)
    if not arrival[2] and not (has_no_other_owner and backend.owns_buffer(total)):
        total = backend.copy(total)
    arrival[1] = entered(total)
    return backend


def _deeper(backend: Backend, total: Any) -> Backend:
    """Return the sum's backend, or this one if it has more layers of wrappers."""
    other = by_type.get(type_of(total)) or backend_of(total)
    return max(other, backend, key=lambda one: one.depth)


def _collect(arrival: Pending, part: OutputPart) -> None:
    """Collect the cotangents of the outputs of one node in a list.

    An output arrives twice where a formula that was recorded used it as well (`_rewrap_output`).
    """
    parts = arrival[1]
    if parts is None:
        parts = arrival[1] = [None] * len(arrival[0].meta)
    before = parts[part.index]
    parts[part.index] = part.value if before is None else before + part.value
