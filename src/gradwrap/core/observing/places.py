"""Streams and devices on which operations ran, for libraries whose work is queued.

A library that has such places enters a `Placer`, which keeps track of them. Its nodes know their
place, and a backward pass that visits several goes from one to the next, so that the device does
the work in the order of the pass, and the host waits for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.node import Node
from gradwrap.core.library.backend import find_backend
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, Self

    from gradwrap.core.graph.node import Leaf

    class Placement(Protocol):
        """One backward pass across several streams or devices."""

        def __enter__(self) -> Self: ...

        def __exit__(self, *exc_info: object) -> None: ...

        def visit(self, node: Node) -> None:
            """Switch to the place where the node's operation ran."""

        def arrive(self, node: Node | Leaf) -> None:
            """Switch to the place where the cotangents of this node are added up."""

    class Placer(Protocol):
        """An object that keeps track of a library's streams and devices."""

        def placement(self) -> Placement | None:
            """Return the placement of a new pass; None if all ran at the caller's place."""


class PlacedNode(Node):
    """The node of an operation that ran on another stream or device than the usual one."""

    __slots__ = ("place",)

    place: Any


placers: dict[str, Placer] = {}
"""By the name of the library; without an entry, a pass asks nothing."""


def placement_of(roots: Sequence[tuple[Any, Any]]) -> Placement | None:
    """Return the placement of a pass with these cotangents, or None."""
    for _, cotangent in roots:
        backend = find_backend(type_of(cotangent))
        placer = None if backend is None else placers.get(backend.name)
        if placer is not None:
            return placer.placement()
    return None
