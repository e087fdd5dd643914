"""Long loops with numbers that no formula gives: a run at full size has them.

The programs come from short traces, and are compared with eager at other arguments.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.calls.entry import Entry
from gradwrap.compiler.tracing.noting import noted
from gradwrap.core.values.tree import flatten
from lambdas import fn
from sampling import LONG, crossed

if TYPE_CHECKING:
    from collections.abc import Callable

N = 600
FIRST = 500
P = np.array([0.5, 0.7])


@pytest.fixture(autouse=True)
def no_trace_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a trace in full raise an error: each function here is traced at short lengths alone."""
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", FIRST)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", FIRST)


def times_of_linspace(p: Any) -> Any:
    ts, x = np.linspace(0.0, 1.0, N), 1.0
    for i in range(N - 1):
        x = x + (ts[i + 1] - ts[i]) * (p[0] * x - p[1] * x * x * np.cos(ts[i]))
    return x


def through_times(p: Any) -> Any:
    x = 1.0
    for t in np.linspace(0.0, 1.0, N):
        x = x + 0.001 * (p[0] * x - p[1] * x * x * np.cos(t))
    return x


def pairs_of_times(p: Any) -> Any:
    ts, x = np.linspace(0.0, 1.0, N), 1.0
    for before, after in pairwise(ts):
        x = x + (after - before) * (p[0] * x - p[1] * x * x * np.cos(before))
    return x


def accumulated_time(p: Any) -> Any:
    x, t, dt = 1.0, 0.0, 1.0 / N
    for _ in range(N):
        x = x + dt * (p[0] * x - p[1] * x * x * np.cos(t))
        t += dt
    return x


def runge_kutta(p: Any) -> Any:
    def slope(x: Any, t: Any) -> Any:
        return p[0] * x - p[1] * x * x * np.cos(t)

    ts, x = np.linspace(0.0, 1.0, N), np.array([1.0, 0.5])
    path = [x]
    for i in range(1, len(ts)):
        t, h = ts[i - 1], ts[i] - ts[i - 1]
        a = slope(x, t)
        b = slope(x + h / 2 * a, t + h / 2)
        c = slope(x + h / 2 * b, t + h / 2)
        x = x + h / 6 * (a + 2 * b + 2 * c + slope(x + h * c, t + h))
        path.append(x)
    return np.sum(np.stack(path)[:, 0] ** 2)


def drawn_noise(p: Any) -> Any:
    x, noise = 1.0, np.random.default_rng(0).normal(size=N)
    for i in range(N):
        x = x + 0.01 * (p[0] * x - p[1] * x * x) + 0.01 * noise[i] * p[0]
    return x


def noise_of_each_turn(p: Any) -> Any:
    rng, x, s = np.random.default_rng(1), p, 0.0
    for _ in range(N):
        x = x * 0.99 + 0.1 * rng.normal(size=2) * p
        s = s + x[0] * x[1]
    return s


def buffer_of_steps(p: Any) -> Any:
    ts, x = np.arange(N) * 0.001, gnp.zeros(N)
    x[0] = 1.0
    for i in range(1, N):
        x[i] = x[i - 1] + 0.001 * (p[0] * x[i - 1] - p[1] * x[i - 1] ** 2 * np.cos(ts[i]))
    return np.sum(x)


def late_weights(p: Any) -> Any:
    w, x = np.ones(N), p[0]
    w[N // 2] = 2.0
    for i in range(N):
        x = 0.99 * x + 0.001 * np.sin(x * w[i]) * p[1]
    return x


def counted_by_while(p: Any) -> Any:
    x, i = 1.0, 0
    while i < N:
        x, i = x + (p[0] * x - p[1] * x * x) / N, i + 1
    return x


def late_masks(p: Any) -> Any:
    masks, x = np.ones((N, 100), bool), p[0]
    masks[300:] = False
    for i in range(N):
        x = x + 1e-9 * np.sum(np.sin(x * p[1]) * masks[i])
    return x


TABLE = [0.3] * 40 + [0.2] * (N - 40)
TIMES = np.linspace(0.0, 1.0, N).tolist()


def list_of_times(p: Any) -> Any:
    s = 0.0
    for i in range(len(TIMES)):
        s = s + (p[0] * np.exp(-p[1] * TIMES[i]) - 0.1) ** 2
    return s


FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    *(times_of_linspace, through_times, pairs_of_times, accumulated_time, list_of_times),
    *(drawn_noise, noise_of_each_turn, buffer_of_steps, late_weights, counted_by_while),
)


@pytest.mark.parametrize("function", [*FUNCTIONS, pytest.param(runge_kutta, marks=LONG)])
def test_numbers_of_a_run_at_full_size(function: Callable[[Any], Any]) -> None:
    gradient = gw.value_and_grad(function)
    made = gw.compile(gradient)
    for given in (P, np.array([0.45, 0.73])):
        for wanted, found in zip(gradient(given), made(given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10)
    assert "extrapolated from traces" in str(made.explain())


@pytest.mark.slow
def test_numbers_of_loops_beside_long_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The array and the loop have a length each. A Python float is moved in the difference too."""
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)

    def heat(u: Any, rate: Any) -> Any:
        t = 0.0
        for _ in range(N):
            u = u + 1e-3 * (rate * (np.roll(u, 1) - 2 * u + np.roll(u, -1)) + np.sin(3 * t) * u)
            t += 1e-3
        return np.sum(u * u)

    gradient = gw.grad(heat, (0, 1))
    made = gw.compile(gradient)
    u = np.sin(np.linspace(0.0, 6.0, 100)) + 1.5
    for given in ((u, 0.3), (0.9 * u, 0.31)):
        for wanted, found in zip(gradient(*given), made(*given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
    report = str(made.explain())
    assert "extrapolated from traces" in report
    assert "in one direction" in report


def bounded_times(p: Any) -> Any:
    x, t = p[0], 0.0
    for _ in range(N):
        x = x + 1e-9 * np.sin(x * t * p[1]) + 1e-9 * np.sin(x * min(t, 0.9) * p[1])
        t += 0.01
    return x


def time_that_stops(p: Any) -> Any:
    x, t = p[0], 0.0
    for _ in range(N):
        x, t = x + 1e-9 * np.sin(x * t * p[1]), min(t + 0.01, 0.9)
    return x


def bounded_cosines(p: Any) -> Any:
    x, t = p[0], 0.0
    for _ in range(N):
        x = x + 1e-9 * np.sin(x * np.cos(t) * p[1]) + 1e-9 * np.sin(x * np.cos(min(t, 0.9)) * p[1])
        t += 0.01
    return x


def late_table(p: Any) -> Any:
    ts, x = np.arange(N) * 0.01, p[0]
    other = np.where(ts < 4.0, ts, 2.0)
    for i in range(N):
        x = x + 1e-9 * np.sin(p[1] * x * ts[i]) + 1e-9 * np.sin(p[1] * x * other[i])
    return x


def late_truths(p: Any) -> Any:
    x = p[0]
    for i in range(N):
        x = x + 1e-9 * np.sin(x * (TABLE[i] > 0.25) * p[1])
    return x


X = np.random.default_rng(0).uniform(0.5, 1.0, N)


def bounded_place(x: Any) -> Any:
    s, k = x[0], 0
    for _ in range(N):
        s, k = s + 1e-9 * np.sin(x[k] * s), min(k + 1, 400)
    return s


def listed_places(x: Any) -> Any:
    s, places = x[0], [min(i, 300) for i in range(N)]
    for i in range(N):
        s = s + 1e-9 * np.sin(x[places[i]] * s)
    return s


def late_period(x: Any) -> Any:
    s, k = x[0], 0
    for i in range(N):
        s, k = s + 1e-9 * np.sin(x[k] * s), (i + (i > 300) * (i % 2)) % 3
    return s


@pytest.mark.slow
@pytest.mark.parametrize("function", [bounded_place, listed_places, late_period])
def test_keys_that_are_other_ones_in_late_turns(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elements have the gradient of others, which is too small to show in a difference."""
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", 1 << 18)
    gradient = gw.grad(function)
    made = gw.compile(gradient)
    wanted, found = gradient(X), made(X)
    np.testing.assert_allclose(found[1:], wanted[1:], rtol=1e-9, atol=1e-18)
    assert "in one direction" not in str(made.explain())


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        *(bounded_times, late_table, late_masks),
        *(pytest.param(f, marks=LONG) for f in (time_that_stops, bounded_cosines, late_truths)),
    ],
)
def test_numbers_that_are_other_ones_in_late_turns(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They change the result by less than a difference of values shows."""
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", 1 << 18)
    gradient = gw.grad(function)
    made = gw.compile(gradient)
    for given in (P, np.array([0.45, 0.73])):
        np.testing.assert_allclose(made(given) - [1, 0], gradient(given) - [1, 0], rtol=1e-6)
    assert "in one direction" not in str(made.explain())


def hidden_times(p: Any) -> Any:
    x, t = p[1], 0.0
    for _ in range(N):
        x = x + 1e-3 * np.where(p[0] > 0.4, np.sin(x), np.sin(x * min(t, 0.9)))
        t += 0.01
    return x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transform", "seconds"), crossed([gw.grad, gw.value_and_grad, fn(lambda f: f)], [0.0, 1.0])
)
def test_numbers_that_the_first_arguments_hide(
    transform: Any, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No comparison of results shows what `np.where` leaves out at these arguments."""
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", seconds)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", 1 << 18)
    function = transform(hidden_times)
    made = gw.compile(function)
    made(P)
    wanted, found = flatten(function(P - 0.3))[0], flatten(made(P - 0.3))[0]
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9)


def test_parameters_are_read_once() -> None:
    """What every turn reads of a small array is a value of the program, read before the loop."""

    def fun(p: Any) -> Any:
        x = np.array([1.0, 0.5])
        for _ in range(N):
            x = x + 0.001 * np.stack([p[0] * x[0] - p[1] * x[0] * x[1], p[1] * x[0] * x[1]])
        return np.sum(x * x)

    made = gw.compile(gw.grad(fun))
    np.testing.assert_allclose(made(P), gw.grad(fun)(P), rtol=1e-10)
    assert "extrapolated from traces" in str(made.explain())


@pytest.mark.slow
def test_keys_of_sweeps_by_slices_and_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop runs several times, with several keys in each turn, and has a loop inside."""
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    monkeypatch.setattr(Entry, "_has_like_turns", fn(lambda self, found: False))
    n = 26

    def swept(a: Any) -> Any:
        a = a.copy()
        for _ in range(7):
            for i in range(1, n - 1):
                above = a[i, 1:-1] + a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:]
                below = a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1]
                a[i, 1:-1] = above + below + a[i + 1, 2:]
                for j in range(1, n - 1):
                    a[i, j] += a[i, j - 1]
                    a[i, j] /= 9.0
        return np.sum(a * a)

    a = np.random.default_rng(0).uniform(0.5, 1.5, (n, n))
    made = gw.compile(gw.grad(swept))
    np.testing.assert_allclose(made(a), gw.grad(swept)(a), rtol=1e-10)
    assert "extrapolated from traces" in str(made.explain())


def last_key_of_a_loop_before(x: Any, hider: Any) -> Any:
    s, i, places = x[0], 0, [min(i, 75) for i in range(len(x))]
    for i in range(1, len(x) - 1):
        s = 0.5 * s + x[i]
    for _ in range(len(x)):
        s = 0.9 * s + 0.1 * np.maximum(hider, x[places[i]])
    return s


def keys_of_two_reads_on_a_line(x: Any, hider: Any) -> Any:
    s, table = x[0], np.clip(np.arange(len(x)), 0, 75)
    for _ in range(len(x)):
        s = 0.9 * s + 0.1 * np.maximum(hider * x[0], x[table[-1]])
    return s


def key_in_every_second_turn(x: Any, hider: Any) -> Any:
    s, last = x[0], min(len(x) - 1, 75)
    for i in range(len(x)):
        s = 0.5 * s + np.maximum(hider, x[last * (i % 2)])
    return s


def keys_on_stairs(x: Any, hider: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        s = 0.5 * s + np.maximum(hider, x[min(i // 10, 5)])
    return s


def key_times_zero(x: Any, hider: Any) -> Any:
    s, last = x[0], min(len(x) - 1, 75)
    for i in range(len(x)):
        s = 0.5 * s + x[i] + (hider - HIDER) * x[last]
    return s


def key_of_a_branch(x: Any, hider: Any) -> Any:
    s, last = x[0], min(len(x) - 1, 75)
    for i in range(len(x)):
        s = 0.5 * s + np.where(hider > 5.0, x[i], x[last])
    return s


def key_between_loops(x: Any, hider: Any) -> Any:
    s, last = x[0], min(len(x) - 1, 75)
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    s = s + np.maximum(hider, x[last])
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    return s


def key_before_a_loop(x: Any, hider: Any) -> Any:
    places = [min(i, 75) for i in range(len(x))]
    s = np.maximum(hider, x[places[-1]])
    for i in range(len(x)):
        s = s + 0.01 * x[i] * np.sin(s)
    return s


def key_of_a_write(x: Any, hider: Any) -> Any:
    s, b = x[0], gnp.zeros(len(x))
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    b[min(len(x) - 1, 75)] = s
    return s + np.sum(np.maximum(hider, b * x))


def end_of_a_slice(x: Any, hider: Any) -> Any:
    s, end = x[0], min(len(x), 100)
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    return s + np.maximum(100 * hider, np.sum(x[:end]))


def bound_of_a_range(x: Any, hider: Any) -> Any:
    s, end = x[0], min(len(x), 100)
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    t = x[0]
    for i in range(end):
        t = 0.5 * t + x[i]
    return s + np.maximum(hider, t)


def length_of_an_axis(x: Any, hider: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    return s + np.maximum(100 * hider, np.sum(gnp.zeros(min(len(x), 100)) + s))


def key_of_the_last_turn(x: Any, hider: Any) -> Any:
    s, n = x[0], len(x)
    for i in range(n):
        s = 0.5 * s + np.maximum(hider, x[i - (i == n - 1) * max(n - 75, 0)])
    return s


def factor_of_all_turns(x: Any, hider: Any) -> Any:
    s, rate = x[0], 1.0 / min(len(x), 100)
    for i in range(len(x)):
        s = 0.5 * s + np.maximum(hider, rate * x[i])
    return s


def factor_outside(x: Any, hider: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    return s + np.maximum(1000 * hider, min(len(x), 100) * s)


def power_of_a_choice(x: Any, hider: Any) -> Any:
    s, power = x[0], [2, 3][min(len(x) // 100, 1)]
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    return s + np.maximum(hider, s**power)


W = X[::-1].copy()


def key_of_an_array_outside(x: Any, hider: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        s = 0.5 * s + np.maximum(hider, W[min(i, 75)]) * x[i]
    return s


def table_of_rows(x: Any, hider: Any) -> Any:
    s, table = x[0], np.minimum(np.arange(len(x))[:, None] * np.ones(7), 75)
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    return s + np.maximum(1e6 * hider, np.sum(table * x[:, None]))


def values(x: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        s = 0.5 * s + x[i]
        yield s


def place_in_a_list(x: Any, hider: Any) -> Any:
    found = [*values(x)]
    return found[-1] + np.maximum(hider, found[min(len(found) - 1, 75)])


def last_ones_of_a_list(x: Any, hider: Any) -> Any:
    found = [*values(x)]
    return found[-1] + np.maximum(1000 * hider, np.sum(np.stack(found[-100:])))


def key_of_a_dict(x: Any, hider: Any) -> Any:
    found: dict[int, Any] = {}
    for one in values(x):
        found[len(found)] = one
    return found[0] + found[len(found) - 1] + np.maximum(hider, found[min(len(found) - 1, 75)])


def halved(x: Any, hider: Any) -> Any:
    found = [*values(x)]
    return found[-1] + np.maximum(hider, found[min(len(found) // 2, 30)])


class Kept:
    """An object with a state."""

    def __init__(self, value: Any) -> None:
        self.values = [value]

    def put(self, value: Any) -> None:
        self.values = [*self.values[-70:], value]


def attribute(x: Any, hider: Any) -> Any:
    kept = Kept(x[0])
    for one in values(x):
        kept.put(one)
    return kept.values[-1] + np.maximum(hider, kept.values[0])


def state_of_a_choice(x: Any, hider: Any) -> Any:
    s, best, last = x[0], x[0], min(len(x) - 1, 75)
    for i in range(len(x)):
        s = 0.5 * s + x[i]
        best = [best, s][i == last]
    return s + np.maximum(hider, best)


HIDER = 9.0
HIDDEN = (
    *(last_key_of_a_loop_before, keys_of_two_reads_on_a_line, key_in_every_second_turn),
    *(keys_on_stairs, key_times_zero, key_of_a_branch, key_between_loops, key_before_a_loop),
    *(key_of_a_write, end_of_a_slice, bound_of_a_range, length_of_an_axis, key_of_the_last_turn),
    *(factor_of_all_turns, factor_outside, power_of_a_choice, key_of_an_array_outside),
    *(table_of_rows, place_in_a_list, last_ones_of_a_list, key_of_a_dict, halved, attribute),
    state_of_a_choice,
)


@pytest.mark.slow
@pytest.mark.parametrize("function", HIDDEN)
@pytest.mark.parametrize("seconds", [0.0, 1.0])
@pytest.mark.parametrize("transform", [gw.value_and_grad, fn(lambda f: f)])
def test_numbers_of_lengths_that_the_first_arguments_hide(
    function: Any, seconds: float, transform: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number grows with the length, up to a bound that no short loop reaches.

    The first call hides what it chooses, so that no comparison of results shows another number.
    """
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", seconds)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 60)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", 1 << 18)
    eager = transform(function)
    made = gw.compile(eager)
    x = X[:144]
    made(x, HIDER)
    for given in ((x, 0.01), (1.1 * x[::-1], -0.5)):
        for wanted, found in zip(flatten(eager(*given))[0], flatten(made(*given))[0], strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def middle_of_a_list(x: Any) -> Any:
    found = [*values(x)]
    return found[len(found) // 2] * found[-5] + np.sum(np.stack(found[3:-3]))


def pairs_of_two_loops(x: Any) -> Any:
    found, s = [*values(x)], x[0]
    for one, other in zip(found[1:-1], found[:-2], strict=True):
        s = np.tanh(s + one * other)
    return s


def turns_in_an_object(x: Any) -> Any:
    kept = Kept(x[0])
    for i in range(len(x)):
        kept.values = [*kept.values[-3:], 0.5 * kept.values[0] + np.sin(x[i])]
    return kept.values[0] * kept.values[-1]


def table_of_lines(x: Any) -> Any:
    (*_, s), table = values(x), np.arange(len(x))[:, None] * np.ones(7)
    return s + np.sum(table * x[:, None])


@pytest.mark.parametrize(
    "function", [middle_of_a_list, pairs_of_two_loops, turns_in_an_object, table_of_lines]
)
def test_values_that_short_loops_tell(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code keeps values where no variable of a loop shows them, and reads them in order."""
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 60)
    made = gw.compile(gw.grad(function))
    for x in (X[:144], 1.1 * X[1:145]):
        np.testing.assert_allclose(made(x), gw.grad(function)(x), rtol=1e-10)
    assert "extrapolated from traces" in str(made.explain())


LABELS = {
    "drawn": np.random.default_rng(1).integers(0, 4, N),
    "late": np.repeat([0, 1], [300, N - 300]),
    "last": np.repeat([0, 2], [N - 1, 1]),
    "bounded": np.minimum(np.arange(N), 250) % 4,
}


def by_place(labels: Any) -> Any:
    return lambda t: labels[t]


@pytest.mark.parametrize(
    ("held", "kind", "hides"),
    crossed([by_place, fn(lambda labels: by_place(labels.tolist()))], [*LABELS], [False, True]),
)
@pytest.mark.slow
def test_labels_outside(held: Any, kind: str, hides: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers of a table choose what each turn reads; `hides` takes other values at first."""
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", 1 << 18)
    label = held(LABELS[kind])

    def likelihood(b: Any) -> Any:
        alpha, found = np.ones(4) / 4, 0.0
        for t in range(N):
            read = b[:, label(t)]
            alpha = alpha * (np.where(b[0, 0] > 0.5, b[:, 0], read) if hides else read)
            total = np.sum(alpha)
            found, alpha = found + np.log(total), alpha / total
        return found

    b = np.random.default_rng(2).uniform(0.1, 1.0, (4, 4))
    b[0, 0] = 0.9
    made = gw.compile(gw.grad(likelihood))
    made(b)
    np.testing.assert_allclose(made(0.5 * b), gw.grad(likelihood)(0.5 * b), rtol=1e-9, atol=1e-12)
    assert kind != "drawn" or "extrapolated from traces" in str(made.explain())


@pytest.mark.slow
def test_writes_of_several_lines_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forward and the backward loop of a tridiagonal solver write at other keys."""
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    monkeypatch.setattr(Entry, "_has_like_turns", fn(lambda self, found: False))

    def solved(x: Any) -> Any:
        n = len(x)
        c, d, u = gnp.zeros((3, n))
        c[0], d[0] = 0.3, 0.5 * x[0]
        for k in range(1, n):
            c[k] = 1.0 / (3.0 - x[k] * c[k - 1])
        for k in range(1, n):
            d[k] = (x[k] - d[k - 1]) * c[k]
        u[-1] = d[-1]
        for k in range(n - 2, -1, -1):
            u[k] = d[k] - c[k] * u[k + 1]
        return np.sum(u * u)

    keys: set[Any] = set()

    def kept(*args: Any) -> Any:
        found = noted(*args)
        keys.update(found.numbers)
        return found

    monkeypatch.setattr("gradwrap.compiler.extrapolating.points.noted", kept)
    x = np.linspace(0.5, 1.5, N)
    made = gw.compile(gw.grad(solved))
    np.testing.assert_allclose(made(x), gw.grad(solved)(x), rtol=1e-10)
    assert "extrapolated from traces" in str(made.explain())
    lines = {line for line, name, *_ in keys if name.startswith("setitem")}
    assert len(lines) == 5, lines
    assert min(lines) > 0
