"""Threads that differentiate the same code at once, or use a part of gradwrap first at once."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written as package_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STORING = """
def stored(x, pause):
    found = np.zeros(2)
    pause()
    found[0] = np.sin(x)
    return found
"""


SEARCHING = """
def quantile(p, rate, pause):
    low, high = 0.0, 100.0
    for turn in range(200):
        if turn == 50:
            pause()
        middle = 0.5 * (low + high)
        if 1.0 - np.exp(-rate * middle) < p:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
"""


def waved(sine: Callable[[Any], Any] = math.sin) -> Callable[..., Any]:
    def wave(x: Any, pause: Callable[[], None]) -> Any:
        pause()
        return sine(x)  # the variable of the closure is exchanged while the function is adapted

    return wave


def beside(started: threading.Event, other: Callable[[], None], run: Callable[[], Any]) -> Any:
    """Return the result of `run`, which a thread runs; `other` is called once it has started."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(run()))
    thread.start()
    assert started.wait(30.0)
    other()
    thread.join(30.0)
    return found[0]


@pytest.mark.parametrize("is_shared", [False, True])
def test_what_one_thread_has_adapted_stays_while_another_runs_it(*, is_shared: bool) -> None:
    """The thread that began first ends first, in the midst of the other's call."""
    wave = waved()
    cell: Any = wave.__closure__
    second, go, ended = (threading.Event() for _ in range(3))
    one = gw.adapting(wave)
    two = one if is_shared else gw.adapting(wave)

    def in_second() -> None:
        second.set()
        assert ended.wait(30.0)

    def first() -> Any:
        def pause() -> None:
            go.set()
            assert second.wait(30.0)

        found = gw.grad(one)(0.5, pause)
        ended.set()
        return found

    later: list[Any] = []
    found = beside(go, lambda: later.append(gw.grad(two)(0.5, in_second)), first)
    assert np.allclose([found, *later], math.cos(0.5))
    assert cell[0].cell_contents is math.sin


def test_code_that_another_thread_has_rewritten_is_run_again(tmp_path: Path) -> None:
    """The first run of both meets a store; the second to be refused finds it rewritten."""
    package: Any = package_of(tmp_path, STORING)
    old = package.stored.__code__
    both = threading.Barrier(2)
    runs = [0, 0]
    found: dict[int, Any] = {}

    def run(number: int) -> None:
        def pause() -> None:
            runs[number] += 1
            if runs[number] == 1:
                both.wait(30.0)

        found[number] = gw.grad(gw.adapting(lambda x: np.sum(package.stored(x, pause))))(0.5)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60.0)
    assert np.allclose([found[0], found[1]], math.cos(0.5))
    assert package.stored.__code__ is old


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_search_that_two_threads_run_at_once(tmp_path: Path, *, is_shared: bool) -> None:
    package: Any = package_of(tmp_path, SEARCHING)
    old = package.quantile.__code__
    turns = threading.Barrier(2, timeout=30.0)

    def alone() -> None:
        return None

    def runner() -> Any:
        pausing: list[Callable[[], Any]] = [alone]
        adapted = gw.adapting(lambda p, rate: package.quantile(p, rate, pausing[0]))
        gradient = gw.grad(adapted, argnums=(0, 1))
        gradient(0.4, 1.5)  # it is known now that this is a search
        pausing[0] = turns.wait
        return gradient

    runs = [runner()] * 2 if is_shared else [runner(), runner()]
    found: dict[int, Any] = {}

    def run(number: int) -> None:
        found[number] = runs[number](0.6, 2.0)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60.0)
    for number in range(2):
        assert np.allclose(found[number], [1.25, np.log(0.4) / 4.0], rtol=1e-6)
    assert package.quantile.__code__ is old


FIRST_USE = """
import builtins, sys, threading
import gradwrap as gw
import gradwrap.scipy.stats as stats

inside, go = threading.Event(), threading.Event()
real = builtins.__import__

def slow(*args, **kwargs):
    if threading.current_thread() is first and "gradwrap.scipy.rules.stats" in sys.modules:
        inside.set()
        assert go.wait(30.0)
    return real(*args, **kwargs)

first = threading.Thread(target=lambda: stats.norm)
builtins.__import__ = slow
first.start()
assert inside.wait(30.0)
builtins.__import__ = real
threading.Timer(0.2, go.set).start()
print(gw.grad(stats.norm.pdf)(1.0))
"""


def test_a_part_of_scipy_that_another_thread_imports_is_waited_for() -> None:
    run = subprocess.run(
        [sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert np.isclose(float(run.stdout), -math.exp(-0.5) / math.sqrt(2.0 * math.pi))
