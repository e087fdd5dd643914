"""Stretches in which a Jacobian is computed, and the line that shows their progress."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from gradwrap.core.observing.progress import Progress
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.derived import derived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Stretches = list[tuple[int, int]]

STEPS = 20
"""The number of stretches that are shown if no `chunk_size` is given."""

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


def chunks_of(total: int, chunk_size: int | None) -> Stretches:
    """Split rows into stretches, each a pair of first and last number."""
    if chunk_size is None:
        if not _shown.get():
            return [(0, total)]
        chunk_size = max(1, -(-total // STEPS))
    if chunk_size < 1:
        raise ValueError(f"chunk_size={chunk_size}. Fix: give a positive number of rows, or None.")
    return [
        (first, min(first + chunk_size, total)) for first in range(0, max(total, 1), chunk_size)
    ]


def one_by_one(stretches: Stretches) -> Iterator[tuple[int, int]]:
    """Yield stretches, and show how many are done; nested computations show nothing."""
    what = _shown.get()
    if not what:
        yield from stretches
        return
    total = stretches[-1][1]
    with Progress(True, what, len(stretches)) as line:
        for step, (first, last) in enumerate(stretches, 1):
            yield first, last
            line.show(step, f"{last} of {total} rows or columns".__str__)
