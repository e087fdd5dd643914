"""Streams and devices on which operations ran, for libraries whose work is queued.

A library that has such places enters a `Placer`, which keeps track of them. Its nodes know their
place, and a backward pass that visits several goes from one to the next, so that the device does
the work in the order of the pass, and the host waits for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

from gradwrap.core.graph.node import Node
from gradwrap.core.library.backend import find_backend
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.graph.node import Leaf


class PlacedNode(Node):
    """A node of an operation that ran elsewhere than at the usual place."""

    __slots__ = ("place",)

    place: Any


class Placement(Protocol):
    """One backward pass that goes from place to place."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc_info: object) -> None: ...

    def visit(self, node: Node) -> None:
        """Go to where the node's operation ran."""

    def arrive(self, node: Node | Leaf) -> None:
        """Go to where what has been computed for this node is added up."""


class Placer(Protocol):
    """An object that keeps track of a library's places."""

    def placement(self) -> Placement | None:
        """For a pass that starts now; None if all it visits is where the caller is."""


placers: dict[str, Placer] = {}
"""By the name of the library; without an entry, a pass asks nothing."""


def placement_of(roots: Sequence[tuple[Any, Any]]) -> Placement | None:
    """The placement of a pass with these cotangents."""
    for _, cotangent in roots:
        backend = find_backend(type_of(cotangent))
        placer = None if backend is None else placers.get(backend.name)
        if placer is not None:
            return placer.placement()
    return None
