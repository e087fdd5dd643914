"""Tables and advice from the events of a profile."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradwrap.core.library.buffers import Stack
    from gradwrap.profiling.recording import Event

OUTSIDE = "outside of operations"
UNKNOWN = "recorded before the profile"
MEGABYTE = 1 << 20
MUCH = 0.25
"""The part of all saved bytes from which on a function is named."""
MOST = 0.9
"""The part from which on all of it again is as much as before."""
SOME = 0.05
"""The part of the bytes of all events from which on an operation is named."""
CONVERSIONS = frozenset({"astype", "asarray", "to_device"})


class Row(NamedTuple):
    """The sums over some events."""

    name: str
    """The operation or the function."""
    line: str
    """The line of code, where the rows are by line."""
    calls: int
    visits: int
    """How often its nodes were visited in backward passes."""
    forward: float
    """In seconds, as `backward`."""
    backward: float
    bytes: int
    """The size of the arrays that forward made, and then backward."""
    backward_bytes: int
    saved: int
    """The size of those that were saved for backward."""

    @property
    def time(self) -> float:
        """The seconds in both directions."""
        return self.forward + self.backward


class Whole(NamedTuple):
    """The totals of a profile."""

    wall: float
    """The seconds from its begin to its end, and those of them that it took itself."""
    overhead: float
    peak: int
    """The most bytes that were alive at one time, and saved for backward."""
    saved: int


def line_of(place: Stack) -> str:
    """Return a place as text: its innermost line."""
    if not place:
        return UNKNOWN
    code, line = place[-1]
    return f"{PurePath(code.co_filename).name}:{line} in {code.co_name}"


def function_of(place: Stack) -> str:
    """Return the innermost function of a place."""
    return place[-1][0].co_name if place else UNKNOWN


def rows(events: Iterable[Event], by: str) -> list[Row]:
    """Return the sums of events by line, operation or function, the longest first."""
    keys: dict[str, Callable[[Event], tuple[str, str]]] = {
        "line": lambda event: (event.operation, line_of(event.place)),
        "operation": lambda event: (event.operation, ""),
        "function": lambda event: (function_of(event.place), ""),
    }
    if by not in keys:
        raise ValueError(f'no rows by {by!r}. Fix: by="line", "operation" or "function".')
    groups: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        groups[keys[by](event)].append(event)
    found = [_sum(*key, group) for key, group in groups.items()]
    return sorted(found, key=lambda row: -row.time)


def _sum(name: str, line: str, events: Sequence[Event]) -> Row:
    forward = [event for event in events if not event.backward]
    backward = [event for event in events if event.backward]
    return Row(
        name,
        line,
        len(forward),
        sum(event.visit for event in backward),
        sum(event.own for event in forward),
        sum(event.own for event in backward),
        sum(event.bytes for event in forward),
        sum(event.bytes for event in backward),
        sum(event.saved for event in events),
    )


# Text ---------------------------------------------------------------------------------------------


def shown_time(seconds: float) -> str:
    """Return a time as text."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def shown_bytes(size: int) -> str:
    """Return a size as text."""
    for unit, name in ((1 << 30, "GB"), (MEGABYTE, "MB"), (1 << 10, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} B"


HEADER = ("", "line", "calls", "forward", "backward", "bytes", "in backward", "saved")


def cells(found: Sequence[Row], limit: int, whole: Whole) -> list[tuple[str, ...]]:
    """Return a table's cells: rows, a row for the others, and the time outside of operations."""
    shown = list(found[:limit])
    if len(found) > limit:
        rest = found[limit:]
        shown.append(
            Row(
                f"{len(rest)} more",
                "",
                sum(row.calls for row in rest),
                sum(row.visits for row in rest),
                sum(row.forward for row in rest),
                sum(row.backward for row in rest),
                sum(row.bytes for row in rest),
                sum(row.backward_bytes for row in rest),
                sum(row.saved for row in rest),
            )
        )
    written: list[tuple[str, ...]] = [
        (
            row.name,
            row.line,
            str(row.calls),
            shown_time(row.forward),
            shown_time(row.backward) if row.backward else "",
            shown_bytes(row.bytes),
            shown_bytes(row.backward_bytes),
            shown_bytes(row.saved),
        )
        for row in shown
    ]
    outside = whole.wall - whole.overhead - sum(row.time for row in found)
    written.append((OUTSIDE, "", "", shown_time(max(0.0, outside)), "", "", "", ""))
    return written


def table(found: Sequence[Row], limit: int, whole: Whole) -> str:
    """Return rows as text in columns."""
    lines = [HEADER, *cells(found, limit, whole)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEADER))]
    text = [
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([*text, summary(whole)])


def summary(whole: Whole) -> str:
    """Return the line below a table."""
    return (
        f"{shown_time(whole.wall)} in all, {shown_time(whole.overhead)} of them for the profile; "
        f"at most {shown_bytes(whole.peak)} of arrays at one time, and "
        f"{shown_bytes(whole.saved)} saved for backward"
    )


# Advice -------------------------------------------------------------------------------------------


def advice(
    events: Sequence[Event],
    repeated: Mapping[tuple[str, Stack], Sequence[Event]],
    fallbacks: Mapping[tuple[str, Stack], int],
) -> list[str]:
    """Return advice on reducing time and memory."""
    some = SOME * sum(event.bytes for event in events)
    found = list(_saving(events))
    for (name, place), again in repeated.items():
        if sum(event.bytes for event in again) >= some:
            found.append(
                f"{name} ({line_of(place)}) was called again with the same arguments, in "
                f"{len(again)} of its calls, which took "
                f"{shown_time(sum(event.time for event in again))}: store its result and use that."
            )
    for (name, place), count in fallbacks.items():
        found.append(
            f"vmap performed {name} ({line_of(place)}) on one example after the other, {count} "
            "times: write it in operations that have a batching rule."
        )
    found += [
        f"{row.name} ({row.line}) took {shown_time(row.time)} in {row.calls} "
        f"call{'s' * (row.calls > 1)}: create the arrays with the dtype, and on the device, in "
        "which they are used."
        for row in rows(events, "line")
        if row.name in CONVERSIONS and row.bytes >= some
    ]
    return found


def _saving(events: Sequence[Event]) -> Iterable[str]:
    saving = [event for event in events if event.place and event.saved]
    groups: defaultdict[object, list[Event]] = defaultdict(list)
    for event in saving:
        if not event.backward:
            groups[event.place[-1][0]].append(event)
    for event in saving:
        if event.backward and not event.visit:  # it is computed again already
            groups.pop(event.place[-1][0], None)
    total = sum(event.saved for group in groups.values() for event in group)
    for group in groups.values():
        size = sum(event.saved for event in group)
        if size >= MEGABYTE and size >= MUCH * total:
            name = function_of(group[0].place)
            parts = (
                " If it is called only once, do this with its parts."
                if size >= MOST * total
                else ""
            )
            yield (
                f"{name} ({line_of(group[0].place)}) saves {shown_bytes(size)} for backward, "
                f"{size / total:.0%} of all: gradwrap.checkpoint({name}) would keep only its "
                f"arguments, and run it again in backward.{parts}"
            )
