"""Pools of processes in adapted code: their functions run in the process that has the tape."""

from __future__ import annotations

import concurrent.futures
import ctypes
import functools
import importlib
import multiprocessing
import multiprocessing.pool
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Pool
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

joblib: Any = importlib.import_module("joblib")  # it has no types
X = np.array([0.3, 0.5, -0.2, 0.7])
scales: list[float] = []


def powers(v: Any, k: int = 2) -> Any:
    return np.sum(v**k)


def written(v: Any) -> Any:
    v *= 2.0
    return np.sum(v**2)


def stored(v: Any) -> Any:
    out = np.zeros(2)
    for i in range(2):
        out[i] = v[i] ** 2
    return out.sum()


def swallowed(v: Any) -> Any:
    try:
        return ctypes.c_double(v[0]).value ** 2 + np.sum(v)
    except (TypeError, ValueError):
        return np.sum(v)


def scaled(v: Any) -> Any:
    return scales[-1] * powers(v)


def in_turn(x: Any) -> Any:
    return sum(joblib.Parallel(n_jobs=2)(joblib.delayed(powers)(v) for v in x.reshape(2, 2)))


def by_executor(x: Any) -> Any:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        return sum(executor.map(powers, x.reshape(2, 2)))


def stored_by_workers(x: Any) -> Any:
    with Pool(2) as pool:
        return sum(pool.map(stored, x.reshape(2, 2)))


def submitted(x: Any) -> Any:
    with concurrent.futures.ProcessPoolExecutor(max_workers=2) as executor:
        waiting = [executor.submit(powers, v, k=2) for v in x.reshape(2, 2)]
        return sum(one.result() for one in concurrent.futures.as_completed(waiting))


def by_pool(x: Any) -> Any:
    with Pool(2) as pool:
        return sum(pool.map(powers, x.reshape(2, 2)))


def by_stars(x: Any) -> Any:
    with multiprocessing.pool.Pool(2, maxtasksperchild=1) as pool:
        return sum(pool.starmap(powers, [(v, 2) for v in x.reshape(2, 2)]))


def of_a_context(x: Any) -> Any:
    with multiprocessing.get_context("spawn").Pool(processes=2) as pool:
        partial = functools.partial(powers, k=2)
        return sum(pool.imap(partial, list(x.reshape(2, 2)))) * 0.5 + 0.5 * sum(
            pool.imap_unordered(partial, list(x.reshape(2, 2)))
        )


def asked_later(x: Any) -> Any:
    with multiprocessing.Pool(2) as pool:
        waiting = [pool.apply_async(powers, (v,)) for v in x.reshape(2, 2)]
        return sum(one.get() for one in waiting)


def begun_with(x: Any) -> Any:
    with multiprocessing.Pool(2, scales.append, (1.0,)) as pool:
        return pool.apply(scaled, (x,))


CASES = (
    in_turn,
    by_executor,
    submitted,
    stored_by_workers,
    by_pool,
    by_stars,
    of_a_context,
    asked_later,
    begun_with,
)


@pytest.mark.parametrize("fun", CASES, ids=lambda fun: fun.__name__)
def test_as_the_sum_of_squares(fun: Callable[[Any], Any]) -> None:
    value, gradient = gw.value_and_grad(gw.adapting(fun))(X)
    np.testing.assert_allclose(value, np.sum(X**2), rtol=1e-14)
    np.testing.assert_allclose(gradient, 2 * X, rtol=1e-14)
    np.testing.assert_allclose(gw.jvp(gw.adapting(fun), (X,), (X,))[1], 2 * value, rtol=1e-14)


def test_a_function_may_write_to_what_it_is_given() -> None:
    """A process gets a copy."""

    def twice(x: Any) -> Any:
        with Pool(1) as pool, ProcessPoolExecutor(1) as executor:
            first = pool.map(written, [x, x])
            return sum(first) + executor.submit(written, x).result() + np.sum(x)

    np.testing.assert_allclose(gw.grad(gw.adapting(twice))(X), 24 * X + 1, rtol=1e-14)


def test_a_refusal_that_a_worker_catches_is_raised() -> None:
    def caught(x: Any) -> Any:
        with Pool(2) as pool, ProcessPoolExecutor(2) as executor:
            return sum(pool.map(swallowed, [x])) + sum(executor.map(swallowed, [x]))

    with pytest.raises(TrackedValueError, match=r"float\(\)"):
        gw.grad(gw.adapting(caught))(X)


def test_a_process_of_its_own_is_refused() -> None:
    """Its result would come back by a queue, which pickles it while this process waits."""

    def started(x: Any, *, closed_over: bool = False) -> Any:
        queue: Any = multiprocessing.Queue()

        def work(v: Any = None) -> None:
            queue.put(powers(x if v is None else v))

        process = multiprocessing.Process(target=work, args=() if closed_over else (x,))
        process.start()
        return queue.get()

    for fun in (started, functools.partial(started, closed_over=True)):
        with pytest.raises(TrackedValueError, match=r"multiprocessing\.Process would take.*Pool"):
            gw.grad(gw.adapting(fun))(X)


def test_plain_values_go_to_processes_as_before() -> None:
    """Adapted code is as it was after the call, and while it is given plain values."""
    kinds = (ProcessPoolExecutor, multiprocessing.Pool, joblib.Parallel, multiprocessing.Process)
    gw.grad(gw.adapting(by_pool))(X)
    gw.grad(gw.adapting(by_executor))(X)
    now = (ProcessPoolExecutor, multiprocessing.Pool, joblib.Parallel, multiprocessing.Process)
    assert all(a is b for a, b in zip(kinds, now, strict=True))
    assert gw.adapting(by_pool)(X) == by_pool(X)
