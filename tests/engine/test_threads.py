"""Levels, modes and graphs belong to one thread or task alone."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from counting import lines
from gradwrap.core.calls.record import Tape
from gradwrap.core.levels import levels
from gradwrap.core.library.namespace import rebind
from gradwrap.core.table import registry
from gradwrap.core.table.registry import find_op, redefine
from lambdas import fn
from sampling import LONG

THREADS = 8
CALLS = 20_000


def nested(x: float) -> Any:
    """Equal to x²; perturbation confusion would make it something else."""
    return gw.grad(lambda x: x * gw.grad(lambda y: x * y * y)(x))(x) / 6


@pytest.mark.slow
def test_nested_gradients_in_many_threads() -> None:
    """HIPS autograd gives 127 wrong results of 2,000."""
    start = threading.Barrier(THREADS, timeout=60.0)

    def work(seed: int) -> int:
        start.wait()
        wrong = 0
        for i in range(CALLS // THREADS):
            x = float(1 + (seed + i) % 7)
            wrong += abs(nested(x) - x**2) > 1e-12
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        assert sum(pool.map(work, range(THREADS))) == 0


@pytest.mark.slow
def test_a_gradient_executes_no_more_lines_beside_other_threads() -> None:
    """No thread polls for another one, or walks through what the others have recorded."""
    start, end = threading.Barrier(THREADS, timeout=60.0), threading.Barrier(THREADS, timeout=60.0)
    nested(3.0)
    alone = lines(lambda: nested(3.0))

    def work(_: int) -> int:
        start.wait()
        kept = [gw.vjp(nested, 2.0) for _ in range(20)]
        count = lines(lambda: nested(3.0))
        end.wait()
        del kept
        return count

    with ThreadPoolExecutor(THREADS) as pool:
        assert set(pool.map(work, range(THREADS))) == {alone}


class Worker:
    """One thread's passes: graphs, modes and hooks that no other thread may disturb."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.weights = gw.wrap(self.random.normal(size=3), requires_grad=True)
        self.seen: list[Any] = []
        self.wrong = 0

    def expect(self, found: Any, expected: Any) -> None:
        self.wrong += not np.allclose(found, expected, rtol=1e-12, atol=1e-12)

    def run(self, passes: int) -> None:
        kinds = (self.accumulate, self.quiet_parts, self.hooked, self.twice, self.descend)
        for i in range(passes):
            kinds[i % len(kinds)]()
        self.wrong += not gw.is_grad_enabled()

    def accumulate(self) -> None:
        x, w = self.random.normal(size=3), self.weights
        w.grad = np.ones(3)
        np.sum(w * w * x).backward()
        self.expect(w.grad, 1.0 + 2.0 * w.data * x)

    def quiet_parts(self) -> None:
        w = self.weights
        w.zero_grad()
        with gw.no_grad():
            factor = w * w
            with gw.enable_grad():
                (factor * np.sin(w)).sum().backward()
            self.wrong += factor.requires_grad or gw.is_grad_enabled()
        self.expect(w.grad, w.data**2 * np.cos(w.data))

    def hooked(self) -> None:
        w = self.weights
        w.zero_grad()
        y: Any = np.exp(w)
        with y.register_hook(self.seen.append), w.register_hook(lambda g: 2.0 * g):
            y[1:].sum().backward()
        self.expect(self.seen.pop(), [0.0, 1.0, 1.0])
        self.expect(w.grad, 2.0 * np.exp(w.data) * [0.0, 1.0, 1.0])

    def twice(self) -> None:
        (first,) = gw.autograd.grad(np.sum(self.weights**3), self.weights, create_graph=True)
        (second,) = gw.autograd.grad(first.sum(), self.weights)
        self.expect(second, 6.0 * self.weights.data)

    def descend(self) -> None:
        w = self.weights
        w.zero_grad()
        (w @ w).backward()
        before = w.data.copy()
        with gw.no_grad():
            w -= 0.25 * w.grad  # type: ignore[operator]  # not None here
        assert w is self.weights
        self.expect(self.weights.data, before / 2.0)
        self.weights.data[:] = self.random.normal(size=3)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=LONG)])
def test_thousands_of_backward_passes_in_eight_threads(count: int) -> None:
    """The threads do not disturb each other, and leave nothing behind."""
    start = threading.Barrier(THREADS, timeout=60.0)

    def work(worker: Worker, passes: int) -> None:
        start.wait()
        worker.run(passes)

    def run_all(passes: int) -> int:
        workers = [Worker(seed) for seed in range(THREADS)]
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, workers, [passes] * THREADS))
        return sum(worker.wrong for worker in workers)

    gc.collect()
    gc.disable()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # five hundred times as many changes of thread as usual
    try:
        # What is made once, code that the interpreter specialises, its lists of spare blocks: some
        # hundred blocks in the first runs, fewer in some later one. What a pass leaves behind is
        # left in each run.
        growth: list[int] = []
        while len(growth) < 4 and min(growth[1:], default=200) >= 200:
            gc.collect()
            blocks = sys.getallocatedblocks()
            assert run_all(count // THREADS) == 0
            assert gc.collect() == 0 or not growth  # no cycles
            growth.append(sys.getallocatedblocks() - blocks)
        assert min(growth[1:]) < 200, growth
    finally:
        sys.setswitchinterval(interval)
        gc.enable()


def test_rules_are_bound_once_whoever_comes_first() -> None:
    """Operations are compiled at their first use, here in many threads at once."""

    @gw.primitive
    def cube(x: Any) -> Any:
        return x**3

    gw.defvjp(cube, lambda xp, g, x: 3 * g * x**2)
    start = threading.Barrier(THREADS, timeout=60.0)

    def work(_: int) -> float:
        start.wait()
        return float(gw.grad(lambda x: cube(np.arctan2(x, 1.0) * np.log1p(x)))(1.0))

    with ThreadPoolExecutor(THREADS) as pool:
        assert len(set(pool.map(work, range(THREADS)))) == 1


def test_a_rule_that_changes_while_another_thread_binds_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another thread's `defvjp` comes after the look at the rule, before its binding is kept."""

    @gw.primitive
    def cube(x: Any) -> Any:
        return x**3

    gw.defvjp(cube, lambda xp, g, x: g * 0.0)
    cls: Any = type(gw.wrap(np.ones(1)))

    class Interrupted(Tape):
        def function(self, signature: str | None = None) -> Any:
            monkeypatch.undo()
            gw.defvjp(cube, lambda xp, g, x: 3 * g * x**2)
            return super().function(signature)

    monkeypatch.setattr(cls, "_level", Interrupted)
    gw.grad(cube)(2.0)
    assert gw.grad(cube)(2.0) == 12.0


@pytest.mark.parametrize("door", ["np.arctan2(x, 1.0)", "x.__array_namespace__().atan2(x, one)"])
def test_a_function_kept_by_a_namespace_is_that_of_the_newest_rule(
    door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for what a namespace and NumPy's protocol cache."""
    op: Any = find_op("atan2")
    rules = dict(op.rules)
    rebind(op)
    cls: Any = type(gw.wrap(np.ones(1)))

    class Interrupted(Tape):
        def function(self, signature: str | None = None) -> Any:
            call = super().function(signature)
            if self.bound.op is op:
                monkeypatch.undo()
                gw.defvjp("atan2", lambda xp, g, x1: 5.0 * g, None)
            return call

    def fun(x: Any) -> Any:
        return eval(door, {"np": np, "x": x, "one": np.ones(())})  # noqa: S307  of this file

    monkeypatch.setattr(cls, "_level", Interrupted)
    try:
        gw.grad(fun)(np.array(1.0))
        assert gw.grad(fun)(np.array(1.0)) == 5.0
    finally:
        redefine(op, rules)
        rebind(op)
    assert gw.grad(fun)(np.array(1.0)) == pytest.approx(0.5)


FIRST_USES = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import gradwrap as gw
sys.setswitchinterval(1e-6)
start = threading.Barrier(8)
a = np.array([[2.0, 1.0], [1.0, 3.0]])
uses = [
    lambda: gw.grad(lambda x: np.linalg.norm(x, 2))(a),
    lambda: gw.grad(lambda x: np.sum(np.fft.rfft(x).real))(a),
    lambda: gw.grad(lambda x: np.sum(np.linalg.eigvalsh(x)))(a),
    lambda: gw.grad(lambda x: np.sum(x.__array_namespace__().linalg.pinv(x)))(a),
    lambda: gw.grad(lambda x: np.sum(np.linalg.cholesky(x)))(a),
    lambda: gw.grad(lambda x: x.ravel().dot(x.cumsum()))(a),
    lambda: gw.vmap(lambda x: np.sum(np.fft.fft(x).imag))(a),
    lambda: gw.jvp(lambda x: np.linalg.matrix_power(x, 3), (a,), (a,)),
]
def use(number):
    start.wait()
    for i in range(8):
        uses[(number + i) % 8]()
with ThreadPoolExecutor(8) as pool:
    list(pool.map(use, range(8)))
"""


@pytest.mark.slow
def test_chapters_are_loaded_once_whichever_thread_asks() -> None:
    """Eight threads of a new interpreter ask at once for modules that are imported at first use."""
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", FIRST_USES],
            capture_output=True,
            check=False,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr


def test_a_chapter_that_another_thread_loads_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither thread removes a chapter from the list before it is loaded."""
    loaded: list[str] = []
    both = threading.Barrier(2, timeout=10)

    def import_slowly(module: str) -> None:
        if module == "first":
            both.wait()  # both threads are at it
        loaded.append(module)

    monkeypatch.setattr(registry, "modules_waiting", ["first", "second"])
    monkeypatch.setattr(registry, "import_module", import_slowly)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fn(lambda _: registry.load_all()), range(2)))
    assert set(loaded) == {"first", "second"}
    assert registry.modules_waiting == []


def test_numbers_of_nodes_are_unique_without_the_global_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Backward tells nodes apart by their numbers; free-threaded Python has no global lock."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    take = levels.falling_numbers()
    with ThreadPoolExecutor(THREADS) as pool:
        runs = list(pool.map(fn(lambda _: [take() for _ in range(2_000)]), range(THREADS)))
    numbers = [number for run in runs for number in run]
    assert sorted(numbers, reverse=True) == list(range(0, -2_000 * THREADS, -1))
    assert all(run == sorted(run, reverse=True) for run in runs)


def test_no_grad_in_one_thread_is_not_seen_in_another() -> None:
    x = gw.wrap(np.ones(2), requires_grad=True)
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with gw.no_grad():
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(10)
    try:
        assert gw.is_grad_enabled()
        (x * 2.0).sum().backward()
        assert gw.grad(lambda y: y**2)(3.0) == 6.0
    finally:
        done.set()
        thread.join()
    np.testing.assert_array_equal(x.grad, [2.0, 2.0])


def test_no_grad_in_one_thread_does_not_hide_a_transform_of_another() -> None:
    """A threshold of levels is taken where a mode begins; other threads' levels are higher."""
    entered, left = threading.Event(), threading.Event()
    results: list[Any] = []

    def quiet() -> None:
        with gw.no_grad():
            entered.set()
            left.wait(10)
            results.append(gw.grad(lambda x: x**2)(3.0))

    thread = threading.Thread(target=quiet)
    thread.start()
    assert entered.wait(10)
    results.append(gw.grad(gw.grad(lambda y: y**3))(2.0))
    left.set()
    thread.join()
    assert sorted(results) == [6.0, 12.0]


def test_asyncio_tasks_have_modes_and_levels_of_their_own() -> None:
    x = gw.wrap(np.ones(2), requires_grad=True)

    async def quiet() -> bool:
        with gw.no_grad():
            await asyncio.sleep(0.001)
            return bool((x * 2.0).requires_grad)

    async def loud() -> bool:
        await asyncio.sleep(0.0005)  # while the others are inside of no_grad
        return bool((x * 2.0).requires_grad)

    async def main() -> list[bool]:
        return await asyncio.gather(*(quiet() for _ in range(20)), *(loud() for _ in range(20)))

    assert asyncio.run(main()) == [False] * 20 + [True] * 20
    assert gw.is_grad_enabled()


def test_a_value_of_one_thread_is_differentiated_in_another() -> None:
    x = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
    y = (x**3).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(x.grad, [3.0, 12.0])


PARSING = """
import gc, sys, threading
from gradwrap.core.observing.parsing import parsed
sys.setswitchinterval(1e-6)
gc.set_threshold(50)
gc.callbacks.append(lambda *given: sum(range(50)))
found = []
def use():
    found.extend(len(parsed("f(a, b, c=d[1:2] + g(x, y))").body) for _ in range(1000))
threads = [threading.Thread(target=use) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
assert found == [1] * 8000, len(found)
"""


def test_threads_that_read_source_at_once() -> None:
    """Python 3.11 raises `SystemError` where the collector runs in between (gh-106905)."""
    done = subprocess.run(
        [sys.executable, "-c", PARSING], capture_output=True, check=False, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
