"""Loops whose stacks would take too much memory keep few turns, and compute the others again."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 60
CHUNKS = r"(?<!no )checkpoints: (\d+) chunks of (\d+) turns, of (\d+) turns"
u = np.linspace(0.2, 0.9, 12)
k = np.linspace(0.5, 0.8, 12)
rng = np.random.default_rng(5)


def burgers(u: Any) -> Any:
    for _ in range(TURNS):
        middle, left, right = u[1:-1], u[:-2], u[2:]
        change = 0.2 * (right - 2.0 * middle + left) - 0.1 * middle * (right - left)
        u = np.concatenate([u[:1], middle + change, u[-1:]])
    return np.sum(u * u)


def in_place(u: Any) -> Any:
    y = 1.0 * u
    for _ in range(TURNS):
        y[1:-1] = y[1:-1] * np.sin(y[2:]) + 0.1 * y[:-2]
    return np.sum(y**3)


def parameters(u: Any, k: Any) -> Any:
    y = 1.0 * u
    for _ in range(TURNS):
        y = y + 0.1 * (np.sin(y) * k + np.roll(y, 1) - y)
    return np.sum(y * y)


def two_steps(u: Any) -> Any:
    before, y = u, 0.9 * u
    for _ in range(TURNS):
        before, y = y, 1.2 * np.tanh(y) - 0.4 * before * y
    return np.sum(y * before)


def driven(x: Any, w: Any) -> Any:
    h = gnp.zeros(4)
    for t in range(len(x)):
        h = np.tanh(w @ h + x[t])
    return np.sum(h * h)


def with_states(x: Any, w: Any) -> Any:
    h, found = gnp.zeros(4), gnp.zeros((len(x), 4))
    for t in range(len(x)):
        h = np.tanh(w @ h + x[t])
        found[t] = h
    return np.sum(found[-1] * found[0])


def scalars(x: Any) -> Any:
    s = x[0]
    for i in range(1, len(x)):
        s = np.sin(s) * x[i] + 0.1 * s * s
    return s


x = rng.uniform(-1, 1, (TURNS, 4))
w = rng.uniform(-0.5, 0.5, (4, 4))
PROGRAMS: list[tuple[Any, ...]] = [
    (burgers, u),
    (in_place, u),
    (parameters, u, k),
    (two_steps, u),
    (driven, x, w),
    (with_states, x, w),
    (scalars, np.linspace(0.5, 1.5, TURNS)),
]


CASES = [(one, "numpy") for one in PROGRAMS] + [(PROGRAMS[1], "c"), (PROGRAMS[4], "c")]


@pytest.mark.parametrize(("program", "engine"), CASES)
def test_chunks_give_what_eager_gives(
    program: tuple[Any, ...], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    monkeypatch.setattr("gradwrap.compiler.rolling.checkpoints.cut.WHOLE", 100)
    function, *given = program
    gradient = gw.value_and_grad(function, tuple(range(len(given))))
    made = gw.compile(gradient, engine=engine, memory=0)
    made(*given)
    others = [0.9 * one + 0.01 for one in given]
    (value, found), (wanted, slopes) = made(*others), gradient(*others)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    for one, other in zip(found, slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    assert re.search(CHUNKS, made.explain()), made.explain()


def workspace(function: Callable[..., Any], turns: int, memory: float) -> int:
    """Return the bytes of the buffers of a gradient in so many turns."""

    def run(u: Any) -> Any:
        for _ in range(turns):
            u = np.sin(u) * u + 0.1
        return function(u)

    made = gw.compile(gw.grad(run), memory=memory)
    np.testing.assert_allclose(made(u), gw.grad(run)(u))
    return int(re.findall(r"workspace: (\d+) bytes", made.explain())[-1])


@pytest.mark.slow
def test_memory_may_be_a_text() -> None:
    u = np.linspace(0.0, 1.0, 50)
    gradient = gw.grad(burgers)
    reports = []
    for memory in ("1 kB", 1000, "64 MiB", None):
        made = gw.compile(gradient, memory=memory)
        np.testing.assert_allclose(made(u), gradient(u), rtol=1e-10)
        reports.append("checkpoints:" in made.explain())
    assert reports == [True, True, False, False]


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ("64", "memory='64' is no size. Fix: give a number and B, kB"),
        ("many", "or give the number of bytes"),
        (-1, 'memory=-1. Fix: give a number of bytes, or a text such as "64 MiB", or None'),
        (float("nan"), "memory=nan. Fix"),
        (True, "memory=True. Fix"),
    ],
)
def test_memory_that_is_no_size_is_refused(memory: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        gw.compile(lambda x: x, memory=memory)


@pytest.mark.slow
def test_memory_grows_with_the_square_root_of_the_turns() -> None:
    sizes = [workspace(np.sum, turns, 4000) for turns in (100, 400, 1600)]
    assert sizes[2] < 5 * sizes[0]
    assert workspace(np.sum, 1600, 1e9) > 10 * sizes[2]


@pytest.mark.slow
def test_small_stacks_are_kept() -> None:
    made = gw.compile(gw.grad(burgers))
    made(u)
    assert "checkpoints" not in made.explain()


def test_what_is_needed_as_a_whole_is_kept_and_noted() -> None:
    def run(x: Any) -> Any:
        s, found = x[0], gnp.zeros(TURNS)
        for i in range(1, TURNS):
            s = np.sin(s) * x[i]
            found[i] = s
        return np.sum(np.sort(found) * x)

    made = gw.compile(gw.grad(run), memory=0)
    given = np.linspace(0.5, 1.5, TURNS)
    np.testing.assert_allclose(made(given), gw.grad(run)(given))
    assert "no checkpoints: what a loop computes in its turns is needed" in made.explain()


def test_a_copy_keeps_the_limit() -> None:
    made = copy.copy(gw.compile(gw.grad(burgers), memory=0))
    made(u)
    assert re.search(CHUNKS, made.explain())


def test_the_decorator_takes_the_limit() -> None:
    made = gw.compile(memory=0)(gw.grad(fn(lambda u: burgers(u))))
    made(u)
    assert re.search(CHUNKS, made.explain())
