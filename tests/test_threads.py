"""Levels, modes and graphs are each thread's and each task's own."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import gradwrap as gw

THREADS = 8
CALLS = 20_000


def nested(x: float) -> Any:
    """Equal to x²; perturbation confusion would make it something else."""
    return gw.grad(lambda x: x * gw.grad(lambda y: x * y * y)(x))(x) / 6


def test_nested_gradients_in_many_threads() -> None:
    """HIPS autograd: 127 wrong of 2,000."""
    start = threading.Barrier(THREADS)

    def work(seed: int) -> int:
        start.wait()
        wrong = 0
        for i in range(CALLS // THREADS):
            x = float(1 + (seed + i) % 7)
            wrong += abs(nested(x) - x**2) > 1e-12
        return wrong

    began = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        wrong = sum(pool.map(work, range(THREADS)))
    took = time.perf_counter() - began
    print(f"\n{CALLS:,} nested gradients in {THREADS} threads: {took:.1f} s")  # noqa: T201
    assert wrong == 0
    assert took < 20


def test_the_tape_in_many_threads() -> None:
    start = threading.Barrier(THREADS)

    def work(seed: int) -> int:
        start.wait()
        wrong = 0
        for i in range(300):
            x = gw.wrap(np.array([1.0, 2.0]) * (seed + i), requires_grad=True)
            (x * x).sum().backward()
            wrong += not np.array_equal(x.grad, 2 * x.data)  # type: ignore[arg-type]
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        assert sum(pool.map(work, range(THREADS))) == 0


def test_rules_are_bound_once_whoever_comes_first() -> None:
    """Operations are compiled at their first use, here in many threads at once."""

    @gw.primitive
    def cube(x: Any) -> Any:
        return x**3

    gw.defvjp(cube, lambda xp, g, x: 3 * g * x**2)
    start = threading.Barrier(THREADS)

    def work(_: int) -> float:
        start.wait()
        return float(gw.grad(lambda x: cube(np.arctan2(x, 1.0) * np.log1p(x)))(1.0))

    with ThreadPoolExecutor(THREADS) as pool:
        assert len(set(pool.map(work, range(THREADS)))) == 1


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
