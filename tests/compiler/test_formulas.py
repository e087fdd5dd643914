"""Long loops that repeat after some turns, compute numbers in Python, or choose between numbers.

Their programs come from short traces, and are compared with eager at sizes that were not traced.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.extrapolating.formulas import Recorder
from gradwrap.compiler.extrapolating.sequences import indices, indices_of, sequence
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST = 500
ALIKE = "All turns of its loops do the same"
rng = np.random.default_rng(5)
X = rng.uniform(0.3, 1.0, 600)
M = rng.uniform(0.3, 1.0, (600, 3))
W = rng.uniform(0.3, 1.0, 4)
TUPLE = (0.3, 0.5, 0.2, 0.9)


@pytest.fixture(autouse=True)
def no_trace_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a trace in full raise an error: each function here is traced at short lengths alone."""
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", FIRST)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", FIRST)


def explained(function: Callable[..., Any], *given: Any) -> str:
    """Compile a gradient, compare it with eager at two arguments, and return the explanation."""
    gradient = gw.value_and_grad(function)
    made = gw.compile(gradient)
    for factor in (1.0, 0.9):
        others = [factor * one for one in given]
        for wanted, found in zip(gradient(*others), made(*others), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    report = str(made.explain())
    assert "extrapolated from traces" in report, report
    return report


# Turns that repeat --------------------------------------------------------------------------------


def every_third(x: Any) -> Any:
    s = x[0]
    for i in range(1, len(x)):
        s = np.sin(s) * x[i] if i % 3 == 0 else s + 0.1 * x[i]
    return s


def every_seventh_backwards(x: Any) -> Any:
    s = x[-1]
    for i in range(len(x) - 1, -1, -1):
        s = np.tanh(s * x[i])
        if (i + 1) % 7 == 2:
            s = s + 0.3 * x[i - 1]
    return s


def every_tenth(x: Any) -> Any:
    s = x[0]
    for i in range(1, len(x)):
        s = np.tanh(s * x[i])
        if i % 10 == 0:
            s = s * 0.5 + 0.4
    return s


def of_two_periods(x: Any) -> Any:
    s = 0.0
    for i, e in enumerate(x):
        s = s + (e * e if i % 2 else np.sin(e)) * (1.0 if i % 5 else 0.3)
    return s


def with_tables(x: Any, w: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        s = np.sin(s + w[i % 3]) * x[i] * TUPLE[i % 4] + (4 if i % 2 else 2)
    return s


def with_a_ring(w: Any) -> Any:
    ring = gnp.zeros((3, 4))
    ring[0] = w
    for t in range(1, 600):
        ring[t % 3] = np.tanh(ring[(t - 1) % 3] * 0.5 + w)
    return np.sum(ring)


def in_batches(x: Any) -> Any:
    w, size = x[0], 10
    for i in range(0, len(x) - size + 1, size):
        w = w - 0.1 * np.mean(np.sin(w * x[i : i + size]))
    return w


def in_lists(m: Any) -> Any:
    states = [m[0, 0], m[0, 1], m[0, 2]]
    for t in range(1, len(m)):
        states = [np.tanh(states[k] + 0.5 * m[t, k] * states[(k + 1) % 3]) for k in range(3)]
    return sum(states)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (in_lists, (M,)),
        (every_third, (X,)),
        pytest.param(every_seventh_backwards, (X,), marks=pytest.mark.slow),
        pytest.param(every_tenth, (X,), marks=pytest.mark.slow),
        pytest.param(of_two_periods, (X,), marks=pytest.mark.slow),
        (with_tables, (X, W)),
        pytest.param(with_a_ring, (W,), marks=pytest.mark.slow),
        (in_batches, (X,)),
    ],
)
def test_turns_that_repeat_after_some(function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    explained(function, *given)


@pytest.mark.parametrize("function", [every_third, every_seventh_backwards])
@pytest.mark.slow
def test_turns_that_repeat_need_no_run_at_full_size(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    for count in (600, 601, 605):
        assert ALIKE in explained(function, np.resize(X, count))


def of_a_late_turn(x: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        s = np.sin(s) * x[i] + (2.0 if i % 450 == 449 else 1.0)
    return s


def of_a_remainder_of_the_length(x: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        s = np.sin(s) * x[i]
    return s * (1 + len(x) % 47)


@pytest.mark.parametrize("function", [of_a_late_turn, of_a_remainder_of_the_length])
@pytest.mark.slow
def test_what_a_late_remainder_does_is_not_missed(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", 1 << 18)
    made = gw.compile(gw.grad(function))
    made(X)
    np.testing.assert_allclose(made(0.9 * X), gw.grad(function)(0.9 * X), rtol=1e-10)


# Numbers computed in Python -----------------------------------------------------------------------


def decaying(w: Any) -> Any:
    y = 1.0 * w
    for t in range(600):
        y = y - 0.1 / (1 + 0.01 * t) * np.sin(y) * w
    return np.sum(y)


def annealed(w: Any) -> Any:
    y, turns = 1.0 * w, 600
    for t in range(turns):
        y = y - 0.05 * (1 + math.cos(math.pi * t / turns)) * np.sin(y) * w
    return np.sum(y)


def forced(w: Any) -> Any:
    y, dt = 1.0 * w, 0.01
    for n in range(600):
        t = n * dt
        y = y + dt * (np.sin(2.0 * t) - y * w)
    return np.sum(y)


def series(w: Any) -> Any:
    term = total = w[0]
    for k in range(1, 300):
        term = -term * w[0] * w[0] / ((2 * k) * (2 * k + 1))
        total = total + term + w[1] / k**2
    return total


def halved(w: Any) -> Any:
    y, rate = 1.0 * w, 0.1
    for t in range(600):
        if t % 20 == 0 and t > 0:
            rate *= 0.9
        y = y - rate * np.sin(y) * w
    return np.sum(y)


def in_epochs(x: Any) -> Any:
    s = 0.0
    for _ in range(4):
        for i in range(1, len(x)):
            s = np.tanh(s + 0.1 * x[i] * x[i - 1])
    return s


@pytest.mark.parametrize("function", [decaying, annealed, forced, series])
def test_numbers_that_python_computes(function: Callable[..., Any]) -> None:
    explained(function, W)


@pytest.mark.slow
def test_numbers_that_change_after_some_turns() -> None:
    explained(halved, W)
    explained(in_epochs, X[:200])


@pytest.mark.parametrize(
    "law",
    [
        fn(lambda n: ([0.3, 0.5, 0.2] * n)[:n]),
        fn(lambda n: ([4, 2] * n)[:n]),
        fn(lambda n: [0.1 * 0.5 ** (i // 3) for i in range(n)]),
    ],
)
def test_laws_of_periods_and_stairs(law: Callable[[int], list[Any]]) -> None:
    found = sequence([np.array(law(n)) for n in (18, 20, 22)])
    assert found is not None
    np.testing.assert_array_equal(found[0](200), np.array(law(200)))


@pytest.mark.parametrize("skipped", [0, 1, 5])
@pytest.mark.parametrize("times", [2, 4])
def test_indices_of_a_few_equal_loops(skipped: int, times: int) -> None:
    whole = np.array([*range(1, 20)] * times)[skipped:]
    np.testing.assert_array_equal(indices(indices_of(whole), len(whole)), whole)


def test_formulas_of_indices_and_lengths() -> None:
    recorder = Recorder([20])
    scope: dict[str, Any] = recorder.builtins
    rate = 0.1 / (1 + 2 * recorder.length(20))
    numbers = [rate * i + scope["math"].sqrt(i) for i in recorder.turns(range(1, 20))]
    assert [float(one) for one in numbers] == [0.1 / 41 * i + math.sqrt(i) for i in range(1, 20)]
    for i in recorder.turns(range(0, 20, 4)):
        assert (i % 6, divmod(i, 7), i == 8, f"{i}", hash(i), [*range(20)][i]) == (
            *(int(i) % 6, divmod(int(i), 7), int(i) == 8, str(int(i)), hash(int(i)), int(i)),
        )
    assert recorder.record.period == 12
    assert any(formula.size == 6 for formula in recorder.record.found)


# Choices between numbers --------------------------------------------------------------------------


def kinks(x: Any) -> Any:
    s, best = x[0], x[0]
    for i in range(1, len(x)):
        s = np.maximum(0.9 * s, x[i]) - np.minimum(s, 0.5) + np.clip(s, 0.2, 0.6)
        best = np.where(s > x[i - 1], 0.5 * s + best, best + abs(s - x[i]))
    return best / len(x) + s


def of_numbers_only(x: Any) -> Any:
    return np.where(x[0] > x[1], x[0], x[1] ** 2), x[2]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_choices_between_numbers_are_in_loops(engine: Any) -> None:
    made = gw.compile(gw.grad(kinks), engine=engine)
    for given in (X, 0.9 * X):
        np.testing.assert_allclose(made(given), gw.grad(kinks)(given), rtol=1e-10)
    count = re.search(r"instructions: (\d+)", made.explain())
    assert count is not None
    assert int(count[1]) < 150


def test_a_choice_that_is_returned_is_an_array() -> None:
    made = gw.compile(of_numbers_only)
    for given in (X[:3], X[:3][::-1].copy()):
        for wanted, found in zip(of_numbers_only(given), made(given), strict=True):
            assert type(found) is type(wanted)
            np.testing.assert_array_equal(found, wanted)


# Slices that advance ------------------------------------------------------------------------------


def windows(x: Any) -> Any:
    s = 0.0
    for i in range(5, len(x)):
        s = s + np.max(x[i - 5 : i]) ** 2 * x[i]
    return s


def convolved(x: Any) -> Any:
    y, weights = gnp.zeros(len(x)), np.array([0.2, 0.5, 0.3])
    for i in range(1, len(x) - 1):
        y[i] = np.dot(x[i - 1 : i + 2], weights)
    return np.sum(y**2)


def of_rows(m: Any) -> Any:
    total = 0.0
    for i in range(0, len(m) - 4, 4):
        block = m[i : i + 4, 1:]
        total = total + np.sum(np.sin(block)) * np.sum(m[i + 1 : i + 3, 0])
    return total + np.sum(m[2:7])


@pytest.mark.parametrize(
    ("function", "given"),
    [(windows, X), (convolved, X), pytest.param(of_rows, M, marks=pytest.mark.slow)],
)
def test_slices_that_advance_are_in_loops(function: Callable[..., Any], given: Any) -> None:
    explained(function, given)


@pytest.mark.parametrize("function", [windows, convolved, of_rows])
def test_few_slices_that_advance(function: Callable[..., Any]) -> None:
    given = (M if function is of_rows else X)[:41]
    made = gw.compile(gw.grad(function))
    made(given)
    np.testing.assert_allclose(made(0.9 * given), gw.grad(function)(0.9 * given), rtol=1e-12)


@pytest.mark.slow
def test_a_trace_in_full_is_too_long_here() -> None:
    def walking(x: Any) -> Any:
        s = x[0]
        for i in range(len(x)):
            s = np.sin(s + np.mean(np.sort(x[: i + 1])))  # a sort is not padded
        return s

    made = gw.compile(gw.grad(walking))
    with pytest.warns(gw.errors.CompileWarning, match="more than 500 operations"):
        made(X)
