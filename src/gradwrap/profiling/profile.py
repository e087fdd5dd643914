"""`profile`, the context manager, and `Profile`, its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.levels import inspecting
from gradwrap.core.observing.inspection import Wanted
from gradwrap.core.observing.performing import observing
from gradwrap.core.observing.traced_memory import TracedMemory
from gradwrap.core.observing.watching import Watch, Watching
from gradwrap.profiling.flames import flame_graph
from gradwrap.profiling.html import page
from gradwrap.profiling.recording import Recorder
from gradwrap.profiling.report import Whole, advice, line_of, rows, table

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager
    from typing import Literal

    from gradwrap.profiling.memory import Moment
    from gradwrap.profiling.recording import Event
    from gradwrap.profiling.report import Row

    By = Literal["line", "operation", "function"]


class profile:  # noqa: N801  a context manager
    """Record the time and the memory of each operation, and of its derivative.

    This is a context manager, for the current thread or task, around forward and backward. It gives
    a `Profile`. Each operation on a tracked array is one event, and so is each visit of its node in
    a backward pass. Other work of Python and NumPy is in no event. The bytes are those of the
    arrays that remain after an operation. On a GPU, the time is that of the launch, unless the
    launch waits.

    It costs some microseconds for each operation. Outside of the block nothing is measured.

    Parameters
    ----------
    temporaries
        For `peak` and `memory`, also count the arrays that an operation uses while it runs. For
        that, Python traces its memory (`tracemalloc`), which takes time and works only for NumPy's
        arrays.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def loss(w):
    ...     return np.sum(np.tanh(w) ** 2)
    >>> with gw.profile() as p:
    ...     gradient = gw.grad(loss)(np.ones(100_000))
    >>> for row in sorted(p.rows(by="operation")):
    ...     print(row.name, row.calls, row.bytes, row.backward_bytes, row.saved)
    backward pass 0 0 0 0
    pow 1 800000 800000 0
    sum 1 8 8 0
    tanh 1 800000 800000 800000
    """

    def __init__(self, *, temporaries: bool = False) -> None:
        self._temporaries = temporaries
        self._open: list[tuple[Profile, list[AbstractContextManager[Any]]]] = []

    def __enter__(self) -> Profile:
        recorder = Recorder(traces=self._temporaries)
        entered: list[AbstractContextManager[Any]] = [
            *([TracedMemory()] if self._temporaries else []),
            _Telling(recorder),
            _Visiting(),
            observing(recorder),
        ]
        made = Profile(recorder)
        for one in entered:
            one.__enter__()
        recorder.start()
        self._open.append((made, entered))
        return made

    def __exit__(self, *exc_info: object) -> None:
        made, entered = self._open.pop()
        made.close()
        for one in reversed(entered):
            one.__exit__(None, None, None)


class _Telling(Watching):
    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def _watch(self, outside: Watch) -> Watch:
        return outside.changed(told=self._recorder.told)


class _Visiting(Watching):
    """Make passes visit each node by a function that can be observed."""

    _state = (inspecting.get, inspecting.set, Wanted())

    def _watch(self, outside: Wanted) -> Wanted:
        return outside


class Profile:
    """The record of a profile, up to now or to the end of its `with` block."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._wall: float | None = None

    def close(self) -> None:
        """Stop the clock."""
        self._wall = self._recorder.clock()

    @property
    def wall(self) -> float:
        """The seconds from the beginning to the end of the block."""
        return self._recorder.clock() if self._wall is None else self._wall

    @property
    def overhead(self) -> float:
        """The seconds of `wall` that the profile itself took; they are in no event."""
        return self._recorder.overhead

    @property
    def events(self) -> list[Event]:
        """All calls and visits, in the order in which they ended."""
        return self._recorder.events

    @property
    def peak(self) -> int:
        """The largest number of bytes in use at one time, of arrays that operations have made."""
        return self._recorder.account.peak.alive

    @property
    def saved(self) -> int:
        """The largest number of bytes saved for backward at one time."""
        return max(moment.saved for moment in self.memory())

    def memory(self) -> list[Moment]:
        """Return the bytes in use, and the bytes saved for backward, at each change."""
        return list(self._recorder.account.moments)

    def rows(self, by: By = "line") -> list[Row]:
        """Return the sums of the events by "line", "operation" or "function", the longest first.

        Raises
        ------
        ValueError
            `by` is something else.
        """
        return rows(self.events, by)

    def table(self, by: By = "line", limit: int = 20) -> str:
        """Return the sums as text: at most `limit` rows, and the time outside of operations."""
        return table(self.rows(by), limit, self._whole())

    def advice(self) -> list[str]:
        """Return suggestions for saving time and memory, each with its place in the code.

        They name functions that save many bytes, which `checkpoint` would compute again; operations
        that are called again with the same arguments; operations that `vmap` performs on one
        example after the other; and conversions between dtypes that make many bytes.
        """
        recorder = self._recorder
        return advice(self.events, recorder.repeated, recorder.fallbacks)

    def flame_graph(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the time by calling function, line and operation as SVG; write it to a file."""
        picture = flame_graph(self.events, self.wall)
        if path is not None:
            Path(path).write_text(picture, encoding="utf-8")
        return picture

    def to_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events, and the memory over time, for chrome://tracing or Perfetto."""
        written: list[dict[str, Any]] = [
            {
                "name": event.operation,
                "cat": "backward" if event.backward else "forward",
                "ph": "X",
                "ts": event.began * 1e6,
                "dur": event.time * 1e6,
                "pid": 0,
                "tid": event.thread,
                "args": {
                    "line": line_of(event.place),
                    "bytes": event.bytes,
                    "saved": event.saved,
                },
            }
            for event in self.events
        ]
        written += [
            {
                "name": "memory",
                "ph": "C",
                "ts": moment.time * 1e6,
                "pid": 0,
                "args": {
                    "saved for backward": moment.saved,
                    "other": moment.alive - moment.saved,
                },
            }
            for moment in self.memory()
        ]
        content = {"traceEvents": written, "displayTimeUnit": "ms"}
        Path(path).write_text(json.dumps(content), encoding="utf-8")

    def _whole(self) -> Whole:
        return Whole(self.wall, self.overhead, self.peak, self.saved)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return page(
            self.rows(),
            self._whole(),
            moments=self.memory(),
            said=self.advice(),
            flames=self.flame_graph(),
        )
