"""Stand-ins for devices, streams and events: nothing runs on them, they note who waits for whom.

A stream's `log` has its requests, in order: `("record", event, device)` or
`("wait", event, device)`, with the number of the device that was current. The default stream is one
object for all devices, as in CuPy, and stands for that of the current one.
"""

from __future__ import annotations

import itertools
from typing import Any, Self

from hosted_cupy.counts import COUNTS
from hosted_cupy.driver import grid

__all__ = ["Device", "Event", "Stream", "current_device", "current_stream"]

_numbers = itertools.count(1)


class _AlsoOfArrays(type):
    """The device of an array is CuPy's own, and is one of these too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return type(instance).__name__ == "Device"


class Device(metaclass=_AlsoOfArrays):
    """As `cupy.cuda.Device`: the current one in a `with`."""

    current: list[int] = [0]  # noqa: RUF012  one for all, as the driver has it

    def __init__(self, device: Any = None) -> None:
        self.id: int = Device.current[-1] if device is None else int(device)

    def __enter__(self) -> Self:
        Device.current.append(self.id)
        grid().make_current(self.id)
        return self

    def __exit__(self, *exception: object) -> None:
        Device.current.pop()
        grid().make_current(Device.current[-1])

    def use(self) -> None:
        Device.current[-1] = self.id
        grid().make_current(self.id)

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and int(other) == self.id

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def synchronize(self) -> None:
        COUNTS.synchronisations.append("Device.synchronize")


def current_device() -> Device:
    return Device()


class Event:
    """As `cupy.cuda.Event`."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.stream: Stream | None = None

    def record(self, stream: Stream | None = None) -> None:
        self.stream = current_stream() if stream is None else stream
        self.stream.log.append(("record", self, Device.current[-1]))

    def synchronize(self) -> None:
        COUNTS.synchronisations.append("Event.synchronize")


class Stream:
    """As `cupy.cuda.Stream`: the current one of its device in a `with`."""

    null: Stream
    current: dict[int, list[Stream]] = {}  # noqa: RUF012  one for all, as the driver has it

    def __init__(self, null: bool = False, *_: Any, **__: Any) -> None:
        self.ptr: int = 0 if null else next(_numbers)
        self.device_id: int = -1 if null else Device.current[-1]
        self.log: list[tuple[str, Event, int]] = []
        self.is_capturing: bool = False

    def _check_device(self) -> None:
        if self.device_id not in (-1, Device.current[-1]):
            raise RuntimeError(
                f"The device that the stream is created on ({self.device_id}) does not match with "
                f"the current device ({Device.current[-1]})"
            )

    def __enter__(self) -> Self:
        self._check_device()
        _stack().append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _stack().pop()

    def use(self) -> Stream:
        self._check_device()
        _stack()[-1] = self
        return self

    def record(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        self.log.append(("wait", event, Device.current[-1]))

    def synchronize(self) -> None:
        if self.is_capturing:
            raise RuntimeError("cudaErrorStreamCaptureUnsupported")
        COUNTS.synchronisations.append("Stream.synchronize")

    def begin_capture(self, mode: Any = None) -> None:
        if self.ptr == 0:
            raise RuntimeError("cannot capture from the default stream")
        self.is_capturing = True

    def end_capture(self) -> Any:
        from hosted_cupy.memory import Graph

        self.is_capturing = False
        return Graph()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<Stream {self.ptr}>"


Stream.null = Stream(null=True)


def _stack() -> list[Stream]:
    return Stream.current.setdefault(Device.current[-1], [Stream.null])


def current_stream(device_id: int = -1) -> Stream:
    return _stack()[-1] if device_id < 0 else Stream.current.get(device_id, [Stream.null])[-1]
