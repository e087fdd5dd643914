"""Compilation leaves the process as it was: its threads, random numbers, collector and children."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.unverified  # threads compile, run and wait as users' do
X = np.linspace(0.1, 1.0, 5)
LONG = 60.0
"""Seconds after which a thread that has not ended is waiting for ever."""


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run calls in threads of their own; return what they give."""
    found: list[Any] = [None] * len(calls)

    def run(number: int) -> None:
        found[number] = calls[number]()

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for ever"
    return found


def test_a_function_that_waits_for_a_lock_of_the_user() -> None:
    lock, is_traced, may_go_on = threading.RLock(), threading.Event(), threading.Event()

    def f(x: Any) -> Any:
        is_traced.set()
        may_go_on.wait(LONG)
        with lock:
            return x * 2.0

    compiled: Any = gw.compile(f)

    def holding() -> Any:
        with lock:
            is_traced.wait(LONG)
            may_go_on.set()
            return compiled(X)  # while the other thread compiles, and waits for the lock

    for found in together(lambda: compiled(X), holding):
        np.testing.assert_array_equal(found, X * 2.0)


def test_compiled_functions_that_call_each_other_in_threads() -> None:
    meet = threading.Barrier(2)

    def waiting() -> None:
        if not meet.broken:
            with contextlib.suppress(threading.BrokenBarrierError):
                meet.wait(0.2)

    def one(x: Any, depth: int = 3) -> Any:
        waiting()
        return x if depth == 0 else other_compiled(x * 2.0, depth - 1)

    def other(x: Any, depth: int = 3) -> Any:
        waiting()
        return x if depth == 0 else one_compiled(x * 2.0, depth - 1)

    one_compiled: Any = gw.compile(one)
    other_compiled: Any = gw.compile(other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for found in together(lambda: one_compiled(X), lambda: other_compiled(X)):
            np.testing.assert_array_equal(found, X * 8.0)


def test_eight_threads_call_one_function_of_several_signatures() -> None:
    compiled: Any = gw.compile(gw.grad(lambda x: np.sum(np.sin(x) * x)))
    arrays = [np.linspace(0.1, 1.0, n) for n in range(3, 9)]

    def run() -> None:
        for x in arrays * 5:
            np.testing.assert_allclose(compiled(x), np.cos(x) * x + np.sin(x), 1e-13)

    together(*[run] * 8)
    assert len(compiled.programs) == len(arrays)


@pytest.mark.parametrize("draw", [np.random.random, random.random])
def test_numbers_that_another_thread_draws_are_not_drawn_again(draw: Callable[[], float]) -> None:
    is_traced, has_drawn = threading.Event(), threading.Event()

    def f(x: Any) -> Any:
        is_traced.set()
        has_drawn.wait(LONG)
        return np.sin(x) * x

    drawn: list[float] = []

    def drawing() -> None:
        is_traced.wait(LONG)
        drawn.extend(draw() for _ in range(50))
        has_drawn.set()

    together(lambda: gw.compile(f)(X), drawing)
    drawn.extend(draw() for _ in range(50))
    assert len(set(drawn)) == 100


def test_the_collector_stays_on_while_a_function_is_traced() -> None:
    found: list[bool] = []

    def f(x: Any) -> Any:
        found.append(gc.isenabled())
        return x * 2.0

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        gw.compile(f)(X)
    assert all(found)
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where it was imported
def test_a_child_forked_while_a_thread_compiles_compiles_too() -> None:
    is_traced, may_end = threading.Event(), threading.Event()
    parent = os.getpid()

    def f(x: Any) -> Any:
        if os.getpid() == parent:
            is_traced.set()
            may_end.wait(LONG)
        return np.sin(x) * x

    compiled: Any = gw.compile(f)
    thread = threading.Thread(target=lambda: compiled(X), daemon=True)
    thread.start()
    is_traced.wait(LONG)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            right = all(np.array_equal(compiled(X), f(X)) for _ in range(3))
            code = 0 if right and len(compiled.programs) == 1 else 2
        finally:
            sys.stdout.flush()
            os._exit(code)
    may_end.set()
    thread.join(LONG)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
