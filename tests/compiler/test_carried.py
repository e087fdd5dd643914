"""Loops carry an array once and read its parts; what is overwritten or copied is not stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.ir.program import Loop

TURNS = 40


def exchanged(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(TURNS):
        b[1:-1] = 0.3 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.3 * (b[:-2] + b[1:-1] + b[2:])
    return a, b


def in_place(a: Any, b: Any) -> Any:
    a = a.copy()
    for _ in range(TURNS):
        a[1:-1] = 0.3 * (a[:-2] + b[1:-1] * a[1:-1] + a[2:])
    return a, a[1:-1]


def first_from_elsewhere(a: Any, b: Any) -> Any:
    """The slice that the first turn reads is not that of the state."""
    a, inner = a.copy(), b[1:-1]
    for _ in range(TURNS):
        a[1:-1] = 0.3 * (a[:-2] + inner + a[2:])
        inner = a[1:-1].copy()
    return a, inner


def other_part(a: Any, b: Any) -> Any:
    """The slice that is carried is of the turn before."""
    a, before = a.copy(), a[2:]
    for _ in range(TURNS):
        last = a[:-2] * 1.0
        a[1:-1] = 0.3 * (a[:-2] + before * b[1:-1])
        before = last
    return a, before


CASES: list[tuple[Any, int | None]] = [
    (exchanged, 2),
    (in_place, 1),
    (first_from_elsewhere, 2),
    (other_part, None),
]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("special", [None, np.nan, -0.0])
@pytest.mark.parametrize(("fun", "carries"), CASES)
def test_parts_are_read_where_they_are_parts_in_all_turns(
    fun: Any, carries: int | None, special: Any, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 12)) / 4
    if special is not None:
        a[5] = special
    compiled: Any = gw.compile(fun, engine=engine)
    compiled(a, b)
    for other in (a, 2.0 * a):
        for one, wanted in zip(compiled(other, b), fun(other, b), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-13)
            assert np.array_equal(np.signbit(one[wanted == 0]), np.signbit(wanted[wanted == 0]))
    loops = [step for step in compiled.programs[0].root.body if isinstance(step, Loop)]
    if carries is not None and np.isfinite(special or 0.0):
        assert [len(loop.carries) for loop in loops] == [carries]


def compare_engines(gradient: Any, *arguments: Any) -> None:
    """Compare a compiled gradient, with either engine, with the gradient itself."""
    wanted = gradient(*arguments)
    for engine in ("numpy", "c"):
        compiled: Any = gw.compile(gradient, engine=engine)
        compiled(*arguments)
        for one, other in zip(compiled(*arguments), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
        assert f"engine: {engine}" in compiled.explain()


@pytest.mark.parametrize("size", [2, 12])
@pytest.mark.parametrize("fun", [exchanged, in_place, first_from_elsewhere, other_part])
def test_gradients_are_those_of_eager(fun: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, size)) / 4

    def total(a: Any, b: Any) -> Any:
        one, other = fun(a, b)
        return (one * one).sum() + (other * other).sum()

    compare_engines(gw.grad(total, argnums=(0, 1)), a, b)


def test_a_carried_array_that_is_handed_on_is_not_copied_in_c() -> None:
    compiled: Any = gw.compile(exchanged, engine="c")
    a, b = np.random.default_rng(2).normal(size=(2, 12))
    compiled(a, b)
    compiled(a, b)
    turn = compiled.source.partition("for (long k")[2].partition("next")[0]
    assert "engine: c" not in compiled.explain() or (turn and "memcpy" not in turn)


def stencil(a: Any) -> Any:
    a = 1.0 * a
    for _ in range(3):
        a[1:-1] = 0.3 * (a[1:-1] + a[:-2] + a[2:])
    return a


def overlapping(a: Any) -> Any:
    """The second write leaves an element of the first one, and the third read needs all."""
    a = 1.0 * a
    a[1:-1] = a[1:-1] * 2.0
    b = a.copy()
    a[2:-1] = 0.0
    a[2:-1] = a[2:-1] + b[2:-1]
    a[1:-1] = a[:-2] * a[2:]
    return a + b


def copied(a: Any) -> Any:
    b = (2.0 * a).copy()
    c = a.copy()
    b[1:] = c[:-1]
    c[0] = 5.0
    return b * a + c


@pytest.mark.parametrize("size", [0, 3, 9])
@pytest.mark.parametrize("special", [None, np.inf])
@pytest.mark.parametrize("fun", [stencil, overlapping, copied])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_what_is_not_stored_changes_nothing(
    fun: Any, special: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    if not size and fun is not stencil:
        return
    a = np.random.default_rng(4).normal(size=size)
    a[:1] = a[:1] if special is None else special
    g = np.cos(np.arange(size * 1.0))

    def gradient(a: Any) -> Any:
        return gw.grad(lambda a: (fun(a) * g).sum())(a)

    wanted = gradient(a)
    for engine in ("numpy", "c"):
        compiled: Any = gw.compile(gradient, engine=engine)
        compiled(a)
        np.testing.assert_allclose(compiled(a), wanted, rtol=1e-13)


def test_sums_that_are_overwritten_and_copies_of_new_arrays_are_left_out() -> None:
    compiled: Any = gw.compile(gw.grad(lambda a: (stencil(a) ** 2).sum()))
    compiled(np.random.default_rng(4).normal(size=9))
    names = [step.name for step in compiled.programs[0].root.body]
    assert names.count("scatter_add") == 7
    assert names.count("copy") == 1


def added_in_place(a: Any, b: Any) -> Any:
    a, b = 1.0 * a, 1.0 * b
    for _ in range(3):
        a[1:] -= 0.5 * (b[1:] - b[:-1])
        b[:-1] -= 0.7 * a[1:] * a[:-1]
    return a, b


def added_in_a_loop(a: Any, b: Any) -> Any:
    a = 1.0 * a
    for _ in range(30):
        a[1:-1] += 0.1 * (a[2:] - 2.0 * a[1:-1] + a[:-2]) * b[1:-1]
    return a, a[1:]


def added_elsewhere(a: Any, b: Any) -> Any:
    """What is added back was changed, is of other elements, or is added to a part of them."""
    a = 1.0 * a
    a[1:-1] = 2.0 * a[1:-1]
    a[2:] = a[2:] + a[:-2]
    a[:3] += a[1:4] * b[:3]
    a[1:-1] += a[1:-1]
    return a, a * b


def read_between(a: Any, b: Any) -> Any:
    """The gradient reads its array between additions to it, in a loop that stacks it."""
    a = 1.0 * a
    for i in range(16):
        a[1:-1] += 0.1 * (a[2:] - a[:-2])
        a[0] = np.cos(b[i % len(b)])
    return a, a * b


@pytest.mark.parametrize("size", [5, 17])
@pytest.mark.parametrize("special", [None, np.nan])
@pytest.mark.parametrize("fun", [added_in_place, added_in_a_loop, added_elsewhere, read_between])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_what_is_added_back_stays_where_it_is(
    fun: Any, special: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    a, b = np.random.default_rng(5).normal(size=(2, size))
    if special is not None:
        a[2] = special
    g = np.cos(np.arange(size * 1.0))

    def total(a: Any, b: Any) -> Any:
        one, other = fun(a, b)
        return (one * g).sum() + (other * other).sum()

    compare_engines(gw.grad(total, argnums=(0, 1)), a, b)


def test_zeros_that_the_same_is_added_to_are_left_out() -> None:
    compiled: Any = gw.compile(gw.grad(lambda a, b: added_in_place(a, b)[0].sum(), argnums=(0, 1)))
    compiled(*np.random.default_rng(5).normal(size=(2, 9)))
    names = [step.name for step in compiled.programs[0].root.body]
    assert names.count("scatter_add") == 8
    writes = [step for step in compiled.programs[0].root.body if step.name == "setitem"]
    assert all(type(write.args[2]) is not int for write in writes)
