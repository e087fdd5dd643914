"""CuPy's streams and devices: backward runs where forward ran, and the host never waits.

An operation is queued on the current stream of its device. As long as that is the one default
stream of the one device, nothing is kept. Otherwise a node knows its place, and a backward pass
goes from place to place: each stream waits, on the device, for the one before, so that the work
is done in the order of the pass. In the end the caller's stream waits for the last, and so do the
others that took part: memory that was freed meanwhile belongs to the stream it was allocated on,
which must not use it again while another one still reads it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from gradwrap.core.graph.node import Node, make_node
from gradwrap.core.observing.places import PlacedNode
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE
from gradwrap.errors import MixedDevicesError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradwrap.core.graph.node import Leaf

    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy

DEFAULT = 0
"""The pointer of the default stream."""


def device_count() -> int:
    """Count the devices; without a driver there are 0."""
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


class Place(NamedTuple):
    """A device and one of its streams."""

    device: int
    stream: Any

    def is_same(self, other: Place) -> bool:
        return self.device == other.device and self.stream.ptr == other.stream.ptr


def here() -> Place:
    """Return the current device and its current stream."""
    return Place(cupy.cuda.Device().id, cupy.cuda.get_current_stream())


class Streams:
    """The devices and streams on which operations on CuPy's arrays were recorded.

    As long as all of it ran on one device, on its default stream, nodes are as for any library.
    """

    def __init__(self, devices: int) -> None:
        self._has_none = not devices
        self._has_several_devices = devices > 1
        self._home: int | None = None if self._has_several_devices else 0
        self._in_use = False
        self.node: Any = self._node if devices else None

    def _node(  # noqa: PLR0913  as Node
        self,
        parent: Any,
        formula: Any,
        saved: Any,
        index: int,
        meta: Any,
        op: Any,
        more: tuple[Any, ...] | None = None,
    ) -> Node:
        """Make a node, which notes its place unless that is the usual one."""
        if not self._in_use:
            if self._is_usual(_device_of(meta) if self._has_several_devices else 0):
                return make_node(Node, parent, formula, saved, index, meta, op, more)
            self._in_use = True
        node = make_node(PlacedNode, parent, formula, saved, index, meta, op, more)
        device = _device_of(meta)
        node.place = Place(device, cupy.cuda.get_current_stream(device))
        return node

    def _is_usual(self, device: int) -> bool:
        if self._home is None:
            self._home = device
        return device == self._home and cupy.cuda.get_current_stream(device).ptr == DEFAULT

    def placement(self) -> Journey | None:
        """Return the journey of a backward pass that starts now, or None if it needs none."""
        if self._has_none or (not self._in_use and self._is_usual(cupy.cuda.Device().id)):
            return None
        home = Place(self._home or 0, cupy.cuda.Stream.null)
        return Journey(home, has_several_devices=self._has_several_devices)


def _device_of(meta: Any) -> int:
    return int((meta[0] if isinstance(meta, TUPLE) else meta).device)


class Journey:
    """One backward pass across streams."""

    def __init__(self, usual: Place, *, has_several_devices: bool) -> None:
        self._has_several_devices = has_several_devices
        self._start = self._now = here()
        self._usual = usual
        self._before: dict[int, Any] = {}  # the stream that was current on each device
        self._visited: list[Place] = []

    def __enter__(self) -> Self:
        return self

    def visit(self, node: Node) -> None:
        if isinstance(node, PlacedNode):
            self._go(node.place)
        elif not node.op.selects:  # selecting an output launches nothing
            self._go(self._usual)

    def arrive(self, node: Node | Leaf) -> None:
        if self._has_several_devices:
            device = _device_of(node.meta)
            if device != self._now.device:
                self._go(Place(device, cupy.cuda.get_current_stream(device)))

    def _go(self, place: Place) -> None:
        now = self._now
        if place.is_same(now):
            return
        done = _recorded(now.stream)
        if place.device != now.device:
            cupy.cuda.Device(place.device).use()
        place.stream.wait_event(done)  # the default stream is that of the current device
        if place.device not in self._before:
            self._before[place.device] = cupy.cuda.get_current_stream()
        place.stream.use()
        if not any(place.is_same(one) for one in self._visited):
            self._visited.append(place)
        self._now = place

    def __exit__(self, *exc_info: object) -> None:
        last = self._now
        if not self._visited:
            return
        done = _recorded(last.stream)
        for place in (self._start, *self._visited):
            if not place.is_same(last):
                cupy.cuda.Device(place.device).use()
                place.stream.wait_event(done)
        for device, stream in self._before.items():
            cupy.cuda.Device(device).use()
            stream.use()
        cupy.cuda.Device(self._start.device).use()


def _recorded(stream: Any) -> Any:
    """Record an event at the end of a stream's queue; its device must be the current one."""
    event = cupy.cuda.Event(disable_timing=True)
    event.record(stream)
    return event


# Several devices ---------------------------------------------------------------------------------


def on_own_device(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Wrap a function so that it runs on the device of its arrays."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        devices = {array.data.device_id for array in _arrays((*args, *kwargs.values()))}
        if len(devices) > 1:
            names = " and ".join(map(str, sorted(devices)))
            raise MixedDevicesError(
                f"{name} got arrays of the devices {names}. Fix: bring them to one "
                "before the call, x.to_device(y.device)."
            )
        for device in devices:
            with cupy.cuda.Device(device):
                return function(*args, **kwargs)
        return function(*args, **kwargs)

    return run


def _arrays(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, cupy.ndarray):
            yield value
        elif isinstance(value, SEQUENCE):
            yield from _arrays(value)


def moved(array: Any, device: Any) -> Any:
    """Copy an array to another device; the copy waits until the array has been computed."""
    target = cupy.cuda.Device(device)
    if target.id == array.data.device_id:
        return array
    with cupy.cuda.Device(array.data.device_id):
        whole = cupy.ascontiguousarray(array)  # CuPy copies no other between devices
        computed = _recorded(cupy.cuda.get_current_stream())
    with target:
        stream = cupy.cuda.get_current_stream()
        stream.wait_event(computed)
        copy = cupy.array(whole, copy=True)
        read = _recorded(stream)
    with cupy.cuda.Device(array.data.device_id):
        cupy.cuda.get_current_stream().wait_event(read)  # before the memory is used again
    return copy
