"""`scan`: the gradients of a loop of every order, from few carries, with the fewest runs."""

from __future__ import annotations

import tracemalloc
from math import comb
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import CheckpointError, NotAnArrayError, PytreeError
from gradwrap.transforms.scan import first_part
from lambdas import fn, rows

RNG = np.random.default_rng(0)
W = RNG.normal(size=3)
XS = {"a": RNG.normal(size=(6, 3)), "b": RNG.normal(size=6)}
WEIGHTS = RNG.normal(size=(6, 3))


def step(carry: Any, x: Any) -> Any:
    state, count = carry
    state = np.tanh(state * W + x["a"]) * x["b"]
    return (state, count + 1), (np.sum(state), {"state": state, "nothing": None})


def looped(init: Any, xs: Any, *, reverse: bool = False) -> Any:
    """The loop that `scan` stands for."""
    carry, outputs = (init, 0), [None] * 6
    for i in reversed(range(6)) if reverse else range(6):
        carry, outputs[i] = step(carry, {"a": xs["a"][i], "b": xs["b"][i]})
    sums, states = zip(*outputs, strict=True)
    return carry, (np.stack(sums), {"state": np.stack([s["state"] for s in states])})


def loss(run: Any) -> Any:
    def total(init: Any, xs: Any) -> Any:
        (state, _), (sums, outputs) = run(init, xs)
        return np.sum(state**2) + sums @ WEIGHTS[:, 0] + np.sum(outputs["state"] ** 2 * WEIGHTS)

    return total


@pytest.mark.parametrize("checkpoints", [None, 1, 2, 3, 6, 20])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "transform",
    rows(
        [
            lambda f: gw.grad(f, (0, 1)),
            lambda f: fn(lambda w, xs: gw.jvp(f, (w, xs), (w, xs))),
            lambda f: gw.hessian(f, (0, 1)),
            lambda f: fn(lambda w, xs: gw.vmap(gw.grad(f), (0, None))(np.stack([w, -w]), xs)),
            lambda f: gw.compile(gw.grad(f)),
        ]
    ),
)
def test_every_transform_gives_what_it_gives_for_the_loop(
    transform: Any, reverse: bool, checkpoints: int | None
) -> None:
    def scanned(init: Any, xs: Any) -> Any:
        return gw.scan(step, (init, 0), xs, reverse=reverse, checkpoints=checkpoints)

    expected = transform(loss(fn(lambda w, xs: looped(w, xs, reverse=reverse))))(W, XS)
    found = transform(loss(scanned))(W, XS)
    for one, other in zip(gw.tree.leaves(found), gw.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


def test_values_are_those_of_the_loop() -> None:
    (state, count), (sums, outputs) = gw.scan(step, (W, 0), XS)
    (wanted, _), (wanted_sums, wanted_outputs) = looped(W, XS)
    np.testing.assert_array_equal(state, wanted)
    np.testing.assert_array_equal(sums, wanted_sums)
    np.testing.assert_array_equal(outputs["state"], wanted_outputs["state"])
    assert (count, outputs["nothing"]) == (6, None)


def test_the_tape_and_arrays_of_an_enclosing_scope() -> None:
    w = gw.wrap(np.array([0.5, -0.3]), requires_grad=True)
    end, _ = gw.scan(fn(lambda c, _: (np.sin(c * w), None)), np.ones(2), length=9)
    total: Any = np.sum(end)
    total.backward()

    def plainly(w: Any) -> Any:
        c: Any = np.ones(2)
        for _ in range(9):
            c = np.sin(c * w)
        return np.sum(c)

    gradient: Any = w.grad
    np.testing.assert_allclose(gradient, gw.grad(plainly)(np.array([0.5, -0.3])), rtol=1e-13)


# The schedule -------------------------------------------------------------------------------------


def fewest(count: int, free: int, known: dict[tuple[int, int], float]) -> float:
    """The fewest runs of segments in forward and backward, by trying all schedules."""
    if count == 1:
        return 1
    if free == 0:
        return float("inf")
    if (count, free) not in known:
        known[count, free] = min(
            first + fewest(first, free, known) + fewest(count - first, free - 1, known)
            for first in range(1, count)
        )
    return known[count, free]


def test_no_schedule_has_fewer_runs() -> None:
    known: dict[tuple[int, int], float] = {}
    for free in range(1, 6):
        for count in range(2, 60):
            first = first_part(count, free)
            runs = first + fewest(first, free, known) + fewest(count - first, free - 1, known)
            assert runs == fewest(count, free, known), (count, free)


@pytest.mark.parametrize(("length", "checkpoints"), [(40, 3), (comb(7, 3), 3), (30, 7), (5, 5)])
def test_steps_run_as_often_as_the_schedule_says(length: int, checkpoints: int) -> None:
    runs = 0

    def counted(c: Any, _: None) -> Any:
        nonlocal runs
        runs += 1
        return np.sin(c), None

    gw.grad(lambda x: gw.scan(counted, x, length=length, checkpoints=checkpoints)[0])(0.5)
    assert runs == fewest(length, checkpoints, {})


@pytest.mark.slow
def test_the_memory_is_that_of_the_checkpoints() -> None:
    u = np.sin(np.linspace(0.0, 7.0, 5000))

    def heat(u: Any, _: None) -> Any:
        inner = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return np.concatenate([u[:1], inner, u[-1:]]), None

    def energy(u: Any) -> Any:
        return np.sum(gw.scan(heat, u, length=400, checkpoints=6)[0] ** 2)

    gw.grad(lambda u: energy(u[:10]))(u)  # what is made once
    tracemalloc.start()
    gw.grad(energy)(u)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * u.nbytes  # a loop keeps 400


# Bad input ----------------------------------------------------------------------------------------


def same(carry: Any, x: Any) -> Any:
    return carry, x


@pytest.mark.parametrize(
    ("arguments", "options", "error", "pattern"),
    [
        ((same, 1.0), {}, ValueError, "neither xs nor length. Fix: pass length=steps"),
        ((same, 1.0, W), {"length": 4}, ValueError, r"have \[3\] elements .*, and length=4"),
        ((same, 1.0, (W, XS["b"])), {}, ValueError, r"have \[3, 6\] elements"),
        ((same, 1.0, W[:0]), {}, ValueError, "scan over no steps"),
        ((same, 1.0), {"length": 0}, ValueError, "scan over no steps"),
        ((same, 1.0, W), {"checkpoints": 0}, ValueError, "checkpoints=0. Fix: pass at least 1"),
        ((same, 1.0, {"k": 2.0}), {}, NotAnArrayError, r"xs\['k'\] is a float"),
        ((fn(lambda c, _: c), 1.0, W), {}, PytreeError, "returned a float. Fix: return a pair"),
        ((fn(lambda _, x: (x, [x] * int(x > 0))), 1.0, W), {}, PytreeError, "different structures"),
        (
            (fn(lambda c, _: (c[:-1], c)), np.ones(4), W),
            {},
            PytreeError,
            r"the shapes \(2,\) and \(3,\) and \(4,\)",
        ),
    ],
)
def test_the_message(arguments: Any, options: Any, error: type[Exception], pattern: str) -> None:
    with pytest.raises(error, match=pattern):
        gw.scan(*arguments, **options)


def test_a_step_that_does_something_else_when_it_runs_again() -> None:
    sizes = iter(range(100, 0, -1))

    def shrinking(c: Any, _: None) -> Any:
        return c[: next(sizes)], None

    with pytest.raises(CheckpointError, match="Fix:"):
        gw.grad(lambda x: np.sum(gw.scan(shrinking, x, length=9, checkpoints=2)[0]))(np.ones(100))
