"""Results that a checkpoint keeps, so that running its function again need not compute them.

A native function that a policy names is called through `keepable`, which asks for the store of the
checkpoint that runs. Functions that no policy has named are called as they are.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from gradwrap.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from gradwrap.core.table.registry import Op


class Kept:
    """The results of some operations, in the order of their calls."""

    def __init__(self, ops: frozenset[Op]) -> None:
        self.ops = ops
        self.results: list[tuple[Any, Any]] = []

    def result(self, call: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """Compute a result, and keep it."""
        found = compute()
        self.results.append((call, found))
        return found


class _Replay:
    """Kept results, returned again in the order of their calls."""

    def __init__(self, kept: Kept) -> None:
        self.ops = kept.ops
        self._left = list(reversed(kept.results))

    def result(self, call: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """Return the result that this call had in the first run."""
        before, found = self._left.pop() if self._left else (None, None)
        if before != call:
            raise _differs(f"called {call[0]}", before)
        return found

    def finish(self) -> None:
        """Raise an error if the second run made fewer calls than the first."""
        if self._left:
            raise _differs("ended", self._left[-1][0])


def _differs(what: str, before: Any) -> CheckpointError:
    then = "ended" if before is None else f"called {before[0]} of {before[1:]}"
    return CheckpointError(
        f"checkpoint with a policy: the function, run again in backward, {what} where it {then} "
        "the first time. Fix: make it do the same each time, or leave the policy out."
    )


_store: ContextVar[Kept | _Replay | None] = ContextVar("_store", default=None)


@contextlib.contextmanager
def keeping(kept: Kept | None, *, again: bool = False) -> Generator[None]:
    """Keep the results of a run, or replay them."""
    if kept is None:
        yield
        return
    store = _Replay(kept) if again else kept
    token = _store.set(store)
    try:
        yield
    finally:
        _store.reset(token)
    if isinstance(store, _Replay):
        store.finish()


def keepable(op: Op, native: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the native function of an operation whose results a checkpoint may keep."""

    def call(*args: Any, **kwargs: Any) -> Any:
        store = _store.get()
        if store is None or op not in store.ops:
            return native(*args, **kwargs)
        shapes = tuple(getattr(arg, "shape", None) for arg in args)
        return store.result((op.name, *shapes), lambda: native(*args, **kwargs))

    return call
