"""Programs on several threads: the argument, equal results, forks, and calls at the same time."""

from __future__ import annotations

import copy
import os
import shutil
import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks import cores

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.engines import threads
from gradwrap.compiler.engines.c import engine as c_engine
from gradwrap.compiler.engines.c import pool as c_pool

if TYPE_CHECKING:
    from collections.abc import Callable

HAS_COMPILER = any(map(shutil.which, ("gcc", "clang", "cc")))
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler here")
RNG = np.random.default_rng(28)
LONG, WIDE = RNG.standard_normal(60_001), RNG.standard_normal((251, 263))
TALL = RNG.standard_normal((40_003, 5))
LONGER = np.concatenate([LONG, LONG[:-1], LONG[1:]])
ENGINES = [pytest.param("c", marks=needs_compiler), "numpy"]


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADWRAP_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.parametrize("given", [0, -1])
def test_too_few_threads(given: int) -> None:
    with pytest.raises(ValueError, match=rf"threads is {given}; .* Fix: give 1 or more"):
        gw.compile(threads=given)


@pytest.mark.parametrize("given", [True, 1.5, "2"])
def test_threads_that_are_no_integer(given: int) -> None:
    with pytest.raises(TypeError, match=rf"threads is {given!r}, which is no integer. Fix: give"):
        gw.compile(np.sin, threads=given)


def test_a_copied_function_keeps_its_threads() -> None:
    made = copy.copy(gw.compile(_sums, threads=3))
    made(np.ones(3))
    assert made.programs[0].threads == 3


def test_the_default_is_one_thread_per_core_or_what_openmp_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 8)
    for given, wanted in (("", 8), ("3", 3), ("2,4", 2), ("16", 8), ("0", 8), ("many", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert threads.usable() == wanted


def test_the_simulation_of_the_schedule() -> None:
    begin, each = cores.BEGIN, cores.EACH
    assert cores.simulated([1.0] * 8, 4) == 2.0 + begin + 2 * each
    assert cores.simulated([3.0] + [1.0] * 7, 2) == 5.0 + begin
    assert cores.simulated([2.0], 64) == 2.0 + begin


def _sums(x: Any) -> Any:
    y = np.tanh(x) * np.exp(-x * x)
    return np.sum(y) + np.sum(np.sin(y) ** 2) * np.sum(np.cos(x))


def _neighbours(x: Any) -> Any:
    """Additions of its gradient to one array overlap."""
    terms = np.exp(x[2:] * np.tanh(x[:-2]) - x[1:-1] ** 2)
    return np.sum(terms) + np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def _heat(x: Any) -> Any:
    """Overlapping additions in two axes, and turns that repeat."""
    for _ in range(3):
        inner = np.sin(x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]) - x[1:-1, 1:-1]
        x = np.pad(x[1:-1, 1:-1] + 0.1 * np.exp(-inner * inner), 1)
    return np.sum(x * x)


def _shorter(x: Any) -> Any:
    """Slices whose lengths, and numbers of segments, differ between turns."""
    total = 0.0
    for k in range(1, 12):
        x = np.tanh(x[k:] * x[:-k]) + 1.0
        total = total + np.sum(np.exp(-x))
    return total


def _rows(x: Any) -> Any:
    """Operands with strides, and broadcast ones; float32."""
    y = np.exp(-(x.T**2) + x[0, :, None]) * np.tanh(x.T)
    return np.sum(np.float32(0.5) * y * y)


def _reductions(x: Any) -> Any:
    """Along rows and columns, of the array and of its transpose."""
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    total = np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2) + np.sum(np.max(x * x, axis=0))
    return total + np.sum(np.sum(np.sin(x), axis=0) ** 2) + np.sum(np.sum(e.T, axis=0) ** 2)


def _recurrence(x: Any) -> Any:
    state = gnp.zeros(len(x))
    for i in range(12):
        state = np.tanh(state * 0.9 + x) * np.exp(-0.01 * i * state)
    return np.sum(state)


def _overflowing(x: Any) -> Any:
    y = np.exp(x * x * 100.0)
    return np.sum(y * y + np.tanh(y) * np.cos(x) + np.sqrt(y))


PROGRAMS = [
    (_sums, LONG),
    (_neighbours, LONG),
    (_heat, WIDE),
    (_shorter, LONG),
    (_rows, WIDE.astype("f4")),
    (_recurrence, LONG),
    pytest.param(_reductions, TALL, marks=pytest.mark.slow),
    pytest.param(_reductions, TALL.T.copy(), marks=pytest.mark.slow),
]


def compare_numbers(functions: list[Any], x: Any) -> tuple[Any, Any]:
    """Return the value and gradient of the first function, and compare the others bit for bit."""
    for function in functions:
        function(x)  # the first call returns what the function itself returns
    value, gradient = functions[0](x)
    for function in functions[1:]:
        for _ in range(3):
            again, other = function(x)
            assert again == value
            assert np.array_equal(other, gradient)
    return value, gradient


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(("fun", "x"), PROGRAMS)
def test_threads_do_not_change_results_in_c(fun: Callable[[Any], Any], x: Any) -> None:
    functions = [gw.compile(gw.value_and_grad(fun), engine="c", threads=n) for n in (1, 2, 3)]
    value, gradient = compare_numbers(functions, x)
    for function in functions[1:]:
        assert "nests split over threads: " in function.explain()
    wanted, eager = gw.value_and_grad(fun)(x)
    scale = 1e-4 if x.dtype == np.float32 else 1e-12
    assert abs(value - wanted) <= scale * abs(wanted)
    assert np.max(np.abs(gradient - eager)) <= scale * np.max(np.abs(eager))


@pytest.mark.slow
def test_threads_do_not_change_results_in_numpy() -> None:
    functions = [gw.compile(gw.value_and_grad(_sums), threads=n) for n in (1, 2, 3)]
    compare_numbers(functions, LONGER)
    assert "chunk 1, 180001 elements: 3 threads" in functions[2].explain()
    small = gw.compile(gw.value_and_grad(_sums), threads=2)
    small(LONG)
    assert "chunk 1, 60001 elements: one thread (small)" in small.explain()
    overlapping = gw.compile(gw.grad(_neighbours), threads=2)
    overlapping(LONGER)
    assert "one thread (its additions to one array overlap)" in overlapping.explain()


def test_threads_have_the_error_state_of_the_caller() -> None:
    function = gw.compile(_overflowing, threads=3)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        function(LONGER)
        assert np.isinf(function(LONGER))
    assert "chunk 1, 180001 elements: 3 threads" in function.explain()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        function(LONGER)
    with np.errstate(over="ignore"):
        assert np.isinf(function(LONGER))


@needs_compiler
def test_small_work_stays_on_one_thread() -> None:
    function = gw.compile(gw.grad(_sums), engine="c", threads=4)
    function(LONG[:1000])
    assert "threads: 1, since no nest of its kernels is split" in function.explain()
    alone = gw.compile(gw.grad(_sums), engine="c", threads=1)
    alone(LONG)
    assert "threads: 1\n" in alone.explain()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_calls_at_the_same_time(engine: str) -> None:
    function = gw.compile(gw.value_and_grad(_sums), engine=engine, threads=3)
    arguments = [LONGER + shift for shift in (0.0, 0.5, 1.0, 1.5)]
    function(LONGER)
    wanted = [function(x) for x in arguments]
    problems: list[int] = []

    def work(number: int) -> None:
        for _ in range(6):
            value, gradient = function(arguments[number])
            if value != wanted[number][0] or not np.array_equal(gradient, wanted[number][1]):
                problems.append(number)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(len(arguments))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not problems


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where it was imported
@pytest.mark.parametrize("engine", ENGINES)
def test_the_child_of_a_fork_makes_threads_of_its_own(engine: str) -> None:
    function = gw.compile(gw.value_and_grad(_sums), engine=engine, threads=3)
    function(LONGER)
    value, gradient = function(LONGER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads
        child = os.fork()
    if not child:
        same = all(
            again == value and np.array_equal(other, gradient)
            for again, other in (function(LONGER) for _ in range(3))
        )
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert function(LONGER)[0] == value


@needs_compiler
def test_without_a_pool_there_is_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gw.compile(gw.grad(_neighbours), engine="c", threads=2)
    before(LONGER)
    monkeypatch.setattr(c_engine, "pool", lambda: c_pool.Pool(None, 0, "there is none here"))
    function = gw.compile(gw.grad(_neighbours), engine="c", threads=2)
    function(LONGER)
    assert np.array_equal(function(LONGER), before(LONGER))
    assert "threads: 2" in before.explain()
    assert "threads: 1, since there is none here" in function.explain()
