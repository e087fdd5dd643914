"""Stretches in which a Jacobian or a batch is computed, and the line that shows their progress."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of
from gradwrap.core.observing.progress import Progress
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.derived import derived

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from gradwrap.typing.signatures import ChunkSize

    Stretches: TypeAlias = list[tuple[int, int]]

T = TypeVar("T")

STEPS = 20
"""The number of stretches that are shown if no `chunk_size` is given."""
GROWTH = 16
"""A stretch has at most so many times the rows of the longest one whose bytes were counted."""
SETTLED = 1.1
"""Bytes are counted until the next stretch would have less than so many times the rows."""
UNITS = {
    name: base**power
    for power, letter in enumerate(("", "k", "m", "g", "t"))
    for base, name in ((1000, f"{letter}b"), (1024, f"{letter}ib" if letter else "b"))
}

_shown: ContextVar[str] = ContextVar("shown", default="")
"""The beginning of the line in this context; empty if there is none."""


def with_line(
    fun: Callable[..., Any], transform: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Callable[..., Any]:
    """Return the transform of a function, with a line that shows its progress."""
    name = f"{getattr(transform, 'func', transform).__name__} of {name_of(fun)}"
    jacobian_of = transform(_under(fun, ""))  # nested computations show no line
    return _under(jacobian_of, name)


def _under(fun: Callable[..., Any], what: str) -> Callable[..., Any]:
    """Return a function that runs with `what` as the text of the progress line."""

    @derived(fun, _under, what)
    def running(*args: Any, **kwargs: Any) -> Any:
        token = _shown.set(what)
        try:
            return fun(*args, **kwargs)
        finally:
            _shown.reset(token)

    return running


def in_stretches(
    total: int, chunk_size: ChunkSize, like: Any, compute: Callable[[int, int], T]
) -> list[T]:
    """Compute rows in stretches: call `compute(first, last)` for each, and list its results.

    Parameters
    ----------
    chunk_size
        The number of rows of a stretch; None for all at once, or for `STEPS` stretches if they are
        shown. A text such as `"64 MiB"` bounds the bytes that a stretch needs at a time.
    like
        An array of the library whose bytes count.
    """
    what = _shown.get()
    if chunk_size is None and not what:
        return [compute(0, total)]
    if isinstance(chunk_size, str):
        return _within(
            total,
            bytes_in(chunk_size, "chunk_size", "the number of rows as an int"),
            chunk_size,
            like,
            compute,
            what,
        )
    stretches = _chunks_of(total, chunk_size)
    if not what:
        return [compute(first, last) for first, last in stretches]
    found: list[T] = []
    with Progress(True, what, len(stretches)) as line:
        for first, last in stretches:
            found.append(compute(first, last))
            line.show(len(found), _progress(last, total))
    return found


def _progress(last: int, total: int) -> Callable[[], str]:
    return f"{last} of {total} rows or columns".__str__


def _chunks_of(total: int, chunk_size: Any) -> Stretches:
    """Split rows into stretches, each a pair of first and last number."""
    if chunk_size is None:
        chunk_size = max(1, -(-total // STEPS))
    if isinstance(chunk_size, bool) or not isinstance(chunk_size, int) or chunk_size < 1:
        raise ValueError(
            f"chunk_size={chunk_size}. Fix: give a positive number of rows, a size in bytes such "
            'as "64 MiB", or None.'
        )
    return [
        (first, min(first + chunk_size, total)) for first in range(0, max(total, 1), chunk_size)
    ]


# A limit in bytes ---------------------------------------------------------------------------------


def bytes_in(text: str, option: str, otherwise: str) -> int:
    """Read a size such as "64 MiB", the value of an option.

    Raises
    ------
    ValueError
        It is no size; the message says what the option may be otherwise.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]+)\s*", text)
    unit = None if found is None else UNITS.get(found[2].lower())
    size = 0 if found is None or unit is None else int(float(found[1]) * unit)
    if size < 1:
        raise ValueError(
            f"{option}={text!r} is no size. Fix: give a number and B, kB, MB, GB, TB, KiB, MiB, "
            f'GiB or TiB, such as "64 MiB"; or give {otherwise}.'
        )
    return size


def _within(  # noqa: PLR0913  the rows, the limit, and what is done
    total: int,
    limit: int,
    text: str,
    like: Any,
    compute: Callable[[int, int], T],
    what: str,
) -> list[T]:
    """Compute stretches of rows that each need at most so many bytes."""
    backend = backend_of(innermost(like))
    counting: Any = backend.counting
    if counting is None:
        raise ValueError(
            f"chunk_size={text!r}: the bytes of {backend.name} arrays cannot be counted. "
            "Fix: give the number of rows to compute at a time."
        )
    found: list[T] = []
    counts: list[tuple[int, int]] = []
    first, rows, is_settled = 0, 1, False
    with Progress(bool(what), what, total) as line:
        while first < total or not found:
            last = min(first + rows, total)
            if is_settled:
                found.append(compute(first, last))
            else:
                with counting() as counted:
                    found.append(compute(first, last))
                if counted.is_exact:
                    counts.append((last - first, counted.bytes))
                    _check_fits(counts, total, limit, text)
                fits = _most_rows(last - first, counted.bytes, limit)
                is_settled = counted.bytes <= limit and fits < SETTLED * rows
                rows = rows if is_settled else fits
            first = last
            line.show(last, _progress(last, total))
    return found


def _most_rows(rows: int, used: int, limit: int) -> int:
    """Return how many rows fit, if twice the rows need at most twice the bytes."""
    return max(1, min(rows * limit // max(used, 1), GROWTH * rows))


def _check_fits(counts: list[tuple[int, int]], total: int, limit: int, text: str) -> None:
    """Refuse a limit that one row exceeds, also when nothing is done for the first time."""
    is_known = total <= 1 or len(counts) > 1
    if is_known and all(rows <= 1 and used > limit for rows, used in counts[-2:]):
        raise ValueError(
            f"chunk_size={text!r} is too small: one row or example alone needs {counts[-1][1]:,} "
            "bytes. Fix: give at least that; or use gw.checkpoint inside the function."
        )
