"""Pools of processes in adapted code: the process that has the tape runs their functions.

A tracked value has no meaning in another process. While a function is differentiated, its pools
have one thread, whose functions get copies of their arguments, as processes do; and joblib calls
its functions in turn. So the tape is the same each time.
"""

from __future__ import annotations

import copy
import functools
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from importlib import import_module
from multiprocessing.pool import ThreadPool
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded
from gradwrap.core.observing.callers import noted, noted_elsewhere
from gradwrap.core.values.dynamic import named_by
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    Pairs = Iterator[tuple[Any, Any]]


def _apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls a copy of another with copies of the arguments.

    It runs in the context of the thread that has made it, where a function is differentiated.
    """
    outside = copy_context()

    def call(*args: Any, **options: Any) -> Any:
        context = outside.copy()
        before = context.get(noted)
        try:
            made, given, named = context.run(copy.deepcopy, (function, args, options))
            return context.run(made, *given, **named)
        finally:
            if context.get(noted) is not before:  # code may have caught that error
                noted_elsewhere[0] = context.get(noted)

    return call


class _Threads(ThreadPool):
    """A pool of one thread with the arguments of a pool of processes."""

    def __init__(
        self,
        processes: Any = None,
        initializer: Any = None,
        initargs: Any = (),
        maxtasksperchild: Any = None,
        context: Any = None,
    ) -> None:
        super().__init__(1, initializer, initargs)

    def apply_async(self, func: Any, *args: Any, **options: Any) -> Any:
        return super().apply_async(_apart(func), *args, **options)

    def _map_async(self, func: Any, *args: Any, **options: Any) -> Any:
        inherited: Any = super()
        return inherited._map_async(_apart(func), *args, **options)  # noqa: SLF001  of `map`, `starmap` and their like

    def imap(self, func: Any, *args: Any, **options: Any) -> Any:
        return super().imap(_apart(func), *args, **options)

    def imap_unordered(self, func: Any, *args: Any, **options: Any) -> Any:
        return super().imap_unordered(_apart(func), *args, **options)


class _Executor(ThreadPoolExecutor):
    """An executor with one thread, and the arguments of one of processes."""

    def __init__(
        self,
        max_workers: Any = None,
        mp_context: Any = None,
        initializer: Any = None,
        initargs: Any = (),
        **_: Any,
    ) -> None:
        super().__init__(1, "", initializer, initargs)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return super().submit(_apart(fn), *args, **kwargs)


class _Context:
    """A context of `multiprocessing` whose pools have one thread."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.Pool = _instead(context.Pool, _Threads)
        self.Process = _process(context.Process)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


def _instead(original: Any, other: Any) -> Any:
    """Return what calls another class while a function is differentiated."""

    @functools.wraps(original, updated=())
    def stand_in(*args: Any, **options: Any) -> Any:
        return (other if is_differentiating() else original)(*args, **options)

    return stand_in


def _process(original: Any) -> Any:
    """Return what makes a process, unless its function would get tracked values."""

    @functools.wraps(original, updated=())
    def stand_in(
        group: Any = None, target: Any = None, name: Any = None, args: Any = (), kwargs: Any = None,
        **options: Any,
    ) -> Any:  # fmt: skip
        held = [one for one in named_by(target) if isinstance(one, AnyWrapper)]
        if is_recorded([args, kwargs or {}, held]):
            raise TrackedValueError(
                "multiprocessing.Process would take a tracked value to another process, and drop "
                'its gradient. Fix: gradwrap.adapting(f, compiled="numerical") takes the '
                "derivative by differences; or call the function in this process. A "
                "multiprocessing.Pool, and a ProcessPoolExecutor, can stay: their functions run in "
                "this process while gradwrap differentiates."
            )
        return original(group, target, name, args, kwargs or {}, **options)

    return stand_in


def _of_parts(_: ModuleType) -> Pairs:
    """Yield nothing: only modules of the package have stand-ins."""
    yield from ()


def _of_multiprocessing(_: ModuleType) -> Pairs:
    processes: Any = import_module("multiprocessing")
    pool: Any = import_module("multiprocessing.pool")
    for original in (processes.Pool, pool.Pool):
        yield original, _instead(original, _Threads)
    yield processes.Process, _process(processes.Process)

    @functools.wraps(processes.get_context)
    def get_context(*args: Any, **options: Any) -> Any:
        context = processes.get_context(*args, **options)
        return _Context(context) if is_differentiating() else context

    yield processes.get_context, get_context


def _of_futures(_: ModuleType) -> Pairs:
    original: Any = import_module("concurrent.futures").ProcessPoolExecutor
    yield original, _instead(original, _Executor)


def _of_joblib(module: ModuleType) -> Pairs:
    """Yield the class `Parallel` of joblib, or scikit-learn's, which then call in turn."""
    original: Any = vars(module)["Parallel"]

    @functools.wraps(original, updated=())
    def parallel(n_jobs: Any = None, *args: Any, **options: Any) -> Any:
        return original(1 if is_differentiating() else n_jobs, *args, **options)

    yield original, parallel


FUNCTIONS: dict[str, Callable[[ModuleType], Pairs]] = {
    "concurrent": _of_parts,
    **dict.fromkeys(("concurrent.futures", "concurrent.futures.process"), _of_futures),
    **dict.fromkeys(("joblib", "joblib.parallel", "sklearn.utils.parallel"), _of_joblib),
    **dict.fromkeys(
        ("multiprocessing", "multiprocessing.context", "multiprocessing.pool"), _of_multiprocessing
    ),
}
"""What yields the objects of a module that have stand-ins, and these."""
