"""Programs of long loops are extrapolated from traces of short ones, or traced as a whole."""

from __future__ import annotations

import functools
import re
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.engines.c.loops import Grid, grid_of
from gradwrap.compiler.extrapolating.paths import can_run_other, covered, paths
from gradwrap.compiler.extrapolating.proof import affordable, in_full
from gradwrap.compiler.extrapolating.sequences import indices, indices_of, sequence
from gradwrap.compiler.extrapolating.sizes import Declined, Sizes, TooSlow, further, timed
from gradwrap.compiler.tracing.tape import Tape
from lambdas import fn
from sampling import LONG

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 200
EXTRAPOLATED = "extrapolated from traces"
x = np.linspace(0.5, 1.5, 170)
u = np.array([0.3, 0.7, 0.2, 0.9])


@pytest.fixture(autouse=True)
def short_traces_count_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 150)


def compiled(function: Callable[..., Any], *given: Any, extrapolates: bool = True) -> Any:
    """Compile a gradient, and compare it with eager at other arguments."""
    gradient = gw.grad(function)
    made = gw.compile(gradient)
    made(*given)
    others = [0.9 * one + 0.01 for one in given]
    np.testing.assert_allclose(made(*others), gradient(*others), rtol=1e-11, atol=1e-13)
    assert (EXTRAPOLATED in made.explain()) == extrapolates, made.explain()
    return made


def recurrence(x: Any) -> Any:
    s = x[0]
    for i in range(1, len(x)):
        s = np.sin(s) * x[i] + 0.1 * x[i - 1]
    return s


def test_a_long_recurrence_is_extrapolated() -> None:
    made = compiled(recurrence, x)
    assert "extrapolated from traces of 14, 18, 20 turns" in made.explain()
    assert "compared with the function at two other lengths, and at full size" in made.explain()
    assert "168 turns" in made.explain()
    assert made.check(x)


def swept(x: Any) -> Any:
    y = gnp.zeros(len(x))
    for _ in range(6):
        for i in range(1, len(x)):
            y[i] = 0.5 * (y[i - 1] + y[i]) + x[i]
    return np.mean(y * y)


@pytest.mark.parametrize(("function", "given"), [(recurrence, x), (swept, x[:60])])
def test_a_trace_ends_when_its_first_turns_tell_that_it_is_too_long(
    function: Callable[..., Any], given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tapes: list[Tape] = []

    def noted(*args: Any, **kwargs: Any) -> Tape:
        tapes.append(Tape(*args, **kwargs))
        return tapes[-1]

    monkeypatch.setattr("gradwrap.compiler.calls.entry.Tape", noted)
    compiled(function, given)
    (tape,) = tapes
    assert tape.is_too_long
    assert 0 < len(tape.instrs) < 40


def of_a_ranges_bounds(x: Any) -> Any:
    turns = range(2, len(x))
    s = x[0]
    for i in turns:
        s = np.sin(s) * x[i] + 0.1 * x[i - turns.start]
    return s


def test_code_that_asks_for_more_of_a_range_is_traced_as_it_is() -> None:
    compiled(of_a_ranges_bounds, x[:40], extrapolates=False)


def over_an_array_of_its_own(x: Any) -> Any:
    s = x[0]
    for z in np.sin(np.arange(200.0)):
        s = np.sin(s) * x[1] + z * x[0]
    return s


def test_without_a_long_length_the_function_runs_once_to_find_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.points._found", None)
    made = compiled(over_an_array_of_its_own, u, extrapolates=False)
    assert "no length is long" in made.explain()


def test_the_length_of_the_program_does_not_depend_on_the_turns() -> None:
    lengths: set[str] = set()
    for count in (300, 900):
        made = compiled(recurrence, np.linspace(0.5, 1.5, count))
        lengths |= {line for line in made.explain().splitlines() if "instructions" in line}
    assert len(lengths) == 1


def counting(x: Any) -> Any:
    s, i = x[0], 1
    while i < len(x):
        s = np.sin(s) * x[i] + 0.1 * x[i - 1]
        i += 1
    return s


def test_a_large_gradient_is_compared_in_one_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    made = compiled(counting, x)
    assert "at full size, with a difference of its values in one direction" in made.explain()


@pytest.mark.parametrize(("factor", "runs"), [(2.0, 1), (9.0, 0)])
def test_a_gradient_that_no_difference_tells_takes_one_run_at_full_size(
    factor: float, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    whole: list[Any] = []

    def counted(found: Any, call: Any, mismatch: Any, seconds: float) -> str | None:
        whole.extend([found] if seconds > 1.0 else [])
        return in_full(found, call, mismatch, seconds)

    def growing(x: Any) -> Any:
        t = y = 0.0
        for _ in range(400):
            y = factor * y + np.cos(t) * x[0] + 0.1 * np.sin(y) + x[1]
            t += 0.01
        return y

    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.in_full", counted)
    made = gw.compile(gw.grad(growing))
    with np.errstate(all="ignore"):
        first, wanted = made(u[:2]), gw.grad(growing)(u[:2])
    assert np.isfinite(wanted).all() == bool(runs)
    np.testing.assert_allclose(first, wanted, rtol=1e-9)
    assert len(whole) == runs
    assert "at two other lengths, and at full size\n" in made.explain() + "\n"


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_a_cached_function_in_a_long_loop_is_watched(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", seconds)
    factors = {"first": 2.0}

    @functools.lru_cache
    def factor() -> float:
        return factors["first"]

    def turned(x: Any) -> Any:
        s = 0.0
        for i in range(len(x)):
            s = s + np.sin(factor() * x[i]) * x[i - 1]
        return s

    made = compiled(turned, x)
    factors["first"] = 3.0
    np.testing.assert_array_equal(made(x), gw.compile(gw.grad(turned))(x))
    factor.cache_clear()
    np.testing.assert_allclose(made(x), gw.grad(turned)(x), rtol=1e-12)


@pytest.mark.parametrize(("spent", "allowed"), [(0.0, 0.1), (1.0, 0.5), (100.0, 1.0)])
def test_a_comparison_may_take_a_part_of_the_first_call(spent: float, allowed: float) -> None:
    assert affordable(spent) == allowed


def step_and_pairs(u: Any) -> Any:
    s = 0.0
    for i in range(TURNS // 2):
        u = u + 0.01 * np.sin(u)
        for j in range(i):
            s = s + 0.001 * u[0] * j
    return s + np.sum(u)


@pytest.mark.slow
def test_a_loop_of_ever_more_turns_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.calls.entry.MOST", 2000)
    eager = gw.compile(gw.grad(step_and_pairs))
    with pytest.warns(gw.errors.CompileWarning, match=r"more than 2000 op.*a loop in line"):
        np.testing.assert_array_equal(eager(u), gw.grad(step_and_pairs)(u))
    assert "Fix: operations on slices" in eager.explain()


@pytest.mark.parametrize(
    "inner", [2, pytest.param(4, marks=pytest.mark.slow), pytest.param(12, marks=LONG)]
)
def test_a_few_steps_of_newton_in_each_turn(inner: int) -> None:
    """Each step of the inner loop reads a value of the turn's start: it is made part of a turn."""

    def implicit(p: Any) -> Any:
        y = 0.5
        for _ in range(TURNS):
            z = y
            for _ in range(inner):
                residual = z - y - 0.01 * (p[0] * z - p[1] * z**3)
                z = z - residual / (1 - 0.01 * (p[0] - 3 * p[1] * z**2))
            y = z
        return y

    made = compiled(implicit, np.array([1.0, 0.5]))
    found = re.search(r"instructions: (\d+)", made.explain())
    assert found is not None
    assert int(found[1]) < 600


def backwards(x: Any) -> Any:
    s = x[-1]
    for i in range(len(x) - 1, -1, -1):
        s = np.sin(s) * x[i]
    return s


def reverse(x: Any) -> Any:
    s = x[-1]
    for i in reversed(range(len(x))):
        s = np.sin(s) * x[i]
    return s


def stepped(x: Any) -> Any:
    s = x[-1]
    for i in range(0, len(x) - 1, 2):
        s = np.sin(s) * x[i] + x[i + 1]
    return s


def zipped(x: Any) -> Any:
    s = x[0]
    for i, (a, b) in enumerate(pairwise(x)):
        s = np.tanh(s * b + a) if i else s
    return s


def comprehension(x: Any) -> Any:
    return sum([np.sin(x[i]) * x[i - 1] for i in range(1, len(x))])


def alternating(u: Any) -> Any:
    y = 1.0 * u
    for i in range(TURNS):
        y = np.sin(y) if i % 2 else np.cos(y) * u
    return np.sum(y)


def computed(u: Any) -> Any:
    y, rate = 1.0 * u, 0.1
    for i in range(1, TURNS):
        y = np.sin(y + 0.01 * i) * u - rate * u
        rate *= 0.99
    return np.sum(y)


def divided(x: Any) -> Any:
    h, s = 1.0 / (len(x) - 1), x[0]
    for i in range(1, len(x)):
        s = s + h * np.sin(s) * x[i]
    return s / len(x)


def filled(u: Any) -> Any:
    y, rows = 1.0 * u, gnp.zeros((TURNS, len(u)))
    for t in range(TURNS):
        y = np.sin(y) * u
        rows[t] = y
    return np.sum(rows**2)


def calling(x: Any) -> Any:
    def inner(s: Any, x: Any) -> Any:
        for i in range(len(x)):
            s = np.sin(s) * x[i]
        return s

    return inner(x[0], x) + inner(x[1], x * x)


def last_turn(x: Any) -> Any:
    s = x[0]
    for i in range(TURNS):
        s = np.sin(s) * x[1] + x[2]
        if i == TURNS - 1:
            s = s * 3.0
    return s


def stacked(u: Any) -> Any:
    y, rows = 1.0 * u, [u]
    for _ in range(TURNS):
        y = np.tanh(y * u + 0.1)
        rows.append(y)
    return np.sum(np.stack(rows) ** 2) + np.sum(gnp.array([row[0] for row in rows]) * u[1])


@pytest.mark.parametrize(
    "function", [backwards, reverse, stepped, zipped, comprehension, divided, calling]
)
def test_loops_over_an_argument(function: Callable[..., Any]) -> None:
    compiled(function, x)


@pytest.mark.parametrize("function", [alternating, computed, filled, last_turn, stacked])
def test_loops_of_a_number_of_the_surroundings(function: Callable[..., Any]) -> None:
    compiled(function, u)


DATA = np.random.default_rng(0).uniform(0.2, 1.0, (TURNS, 4))


def test_arrays_of_the_surroundings_are_cut_and_read_in_full() -> None:
    data = DATA.copy()

    def fitted(u: Any) -> Any:
        y = 1.0 * u
        for row in data:
            y = np.tanh(y * row + u)
        return np.sum(y)

    made = compiled(fitted, u)
    data[-1] *= 2.0
    np.testing.assert_allclose(made(u), gw.grad(fitted)(u), rtol=1e-12)


def sweeps(u: Any) -> Any:
    y = 1.0 * u
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            y[i, j] = 0.25 * (y[i - 1, j] + y[i + 1, j] + y[i, j - 1] + y[i, j + 1])
    return np.sum(y * y)


@pytest.mark.slow
def test_loops_of_loops_over_elements_are_extrapolated() -> None:
    made = compiled(sweeps, np.random.default_rng(0).random((32, 32)))
    assert "900 turns of 9 operations" in made.explain()


def seidel(u: Any) -> Any:
    y = 1.0 * u
    for _ in range(3):
        for i in range(1, len(u) - 1):
            y[i, 1:-1] += y[i - 1, :-2] + y[i - 1, 2:] + y[i, 2:] + y[i + 1, :-2]
            for j in range(1, len(u) - 1):
                y[i, j] += y[i, j - 1]
                y[i, j] /= 6.0
    return np.sum(y * y)


def sweeps_of_a_rectangle(u: Any) -> Any:
    y = 1.0 * u
    for _ in range(2):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                y[i, j] = np.sin(y[i - 1, j] + y[i + 1, j]) + 0.2 * y[i, j - 1] * y[i, j + 1]
    return np.sum(y * y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "shape", "turns"),
    [
        (seidel, (26, 26), "loop: 72 turns of 10 operations and 1 loop"),
        pytest.param(
            *(sweeps_of_a_rectangle, (24, 30), "int64(616,), frozen"),
            marks=LONG,
        ),
    ],
)
def test_sweeps_over_elements_keep_their_reads_and_writes(
    function: Callable[..., Any], shape: tuple[int, int], turns: str
) -> None:
    made = compiled(function, np.random.default_rng(0).random(shape))
    assert turns in made.explain()


@pytest.mark.slow
def test_indices_of_sweeps_need_no_tables_in_c() -> None:
    v = np.random.default_rng(0).random((24, 30))
    gradient = gw.grad(sweeps_of_a_rectangle)
    made = gw.compile(gradient, engine="c", cache=False)
    made(v)
    np.testing.assert_allclose(made(v - 0.3), gradient(v - 0.3), rtol=1e-12, atol=1e-13)
    heads = re.findall(r"for \(long \w+ = 0; \w+ < (\d+); ", made.source)
    assert heads[-6:] == ["2", "22", "28", "2", "22", "28"]


def test_tables_of_indices_that_are_grids() -> None:
    row, column = np.divmod(np.arange(20), 5)
    tables = {7: 3 + 2 * row, 8: 9 - column, 9: row * column, 10: np.arange(20)}
    assert grid_of(tables) == Grid([4, 5], {7: (3, [2, 0]), 8: (9, [0, -1]), 10: (0, [5, 1])})
    again = {1: np.tile(row, 2), 2: np.tile(column, 2)}
    assert grid_of(again) == Grid([2, 4, 5], {1: (0, [0, 1, 0]), 2: (0, [0, 0, 1])})
    assert grid_of({1: np.array([4, 1, 5])}) is None
    assert grid_of({1: np.arange(4, 9, 2)}) == Grid([3], {1: (4, [2])})
    assert grid_of({1: np.array([4])}) == Grid([1], {1: (4, [0])})
    assert grid_of({1: column[:-1]}) is None
    assert grid_of({}) is None


def pairs(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        for j in range(i):
            s = s + np.sin(x[i]) * x[j]
    return s


def products(x: Any) -> Any:
    s = x[0]
    for i in range(len(x)):
        for j in range(1, len(x)):
            s = np.sin(s * x[i] + x[j])
    return s


@pytest.mark.parametrize("function", [pairs, products])
@pytest.mark.slow
def test_loops_of_loops_that_are_one_loop_are_extrapolated(function: Callable[..., Any]) -> None:
    compiled(function, x[:50])


def test_indices_of_loops_of_loops() -> None:
    rows = np.array([i for i in range(20) for _ in range(i)][1:])
    places = np.array([3 * j for i in range(20, 2, -1) for j in range(i)][:-2])
    again = np.array([i for _ in range(7) for i in range(9) for _ in range(4)][:-5])
    for whole in (rows, places, again):
        np.testing.assert_array_equal(indices(indices_of(whole), len(whole)), whole)
    with pytest.raises(Declined, match="no indices of a loop of loops"):
        indices_of(np.array([0, 1, 2, 0, 1, 2, 0, 1, 1, 2, 0, 1, 2, 0, 1, 2, 0]))


def breaking(x: Any) -> Any:
    s = x[0]
    for i in range(TURNS):
        if i > 125:
            break
        s = np.sin(s) * x[1] + x[2]
    return s


def one_turn(x: Any) -> Any:
    s = x[0]
    for i in range(TURNS):
        s = np.sin(s) * x[1] + (2.0 * x[3] ** 2 if i == 166 else x[2])
    return s


TABLE = [0.3] * 75 + [0.5] * 125


def tabled(x: Any) -> Any:
    s = x[0]
    for i in range(TURNS):
        s = np.sin(s) * x[1] + TABLE[i] * x[2] ** 2
    return s


@pytest.mark.parametrize("function", [breaking, one_turn, tabled])
@pytest.mark.parametrize("start", [u, pytest.param(np.zeros(4), marks=pytest.mark.slow)])
def test_what_a_late_turn_does_is_not_missed(function: Callable[..., Any], start: Any) -> None:
    compiled(function, start, extrapolates=False)


@pytest.mark.parametrize("function", [breaking, one_turn])
@pytest.mark.parametrize("transform", [gw.grad, gw.elementwise_grad, fn(lambda f: f)])
def test_a_late_branch_is_seen_where_a_comparison_takes_long(
    function: Callable[..., Any],
    transform: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)
    made = gw.compile(transform(function))
    made(0.1 * u)
    np.testing.assert_allclose(made(u), transform(function)(u), rtol=1e-11)
    assert EXTRAPOLATED not in made.explain()


def test_a_slope_in_another_place_is_seen_where_a_comparison_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The program has the slope of `x[2]` or `x[3]`, by the turn that writes `b[80]`."""
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)

    def written(x: Any, w: Any) -> Any:
        s, v, rows = x[0], w, [w]
        b = gnp.zeros(83)
        for i in reversed(range(len(x))):
            b[i % 82] = (s + x[3]) * 0.5
            v = np.tanh(np.tanh(w) * (x[-1] - s)) * 0.5
            rows.append(np.tanh(w))
        return s + np.sum(v) + b[80] + np.sum(np.stack(rows) ** 2)

    gradient = gw.grad(written)
    made = gw.compile(gradient)
    for given in (x[:82], x[82:164]):
        np.testing.assert_allclose(made(given, u), gradient(given, u), rtol=1e-11)


def test_values_that_decide_are_traced_in_full() -> None:
    def deciding(u: Any) -> Any:
        s = u[0]
        for _ in range(TURNS):
            s = np.sin(s) * u[1] + 1.0 if s > 0.5 else s + u[2]
        return s

    compiled(deciding, u, extrapolates=False)


def test_short_loops_stay_as_they_are() -> None:
    def short(x: Any) -> Any:
        s = x[0]
        for _ in range(12):
            for i in range(12):
                s = np.sin(s) * x[i]
        return s

    compiled(short, x[:12], extrapolates=False)


@pytest.mark.parametrize(
    "law",
    [
        fn(lambda n: [0.01 * i for i in range(n)]),
        fn(lambda n: [0.3 + 0.001 * i for i in range(n)]),
        fn(lambda n: [1 - 0.9 ** (i + 1) for i in range(n)]),
        fn(lambda n: [0.5 * 0.7**i for i in range(n)]),
        fn(lambda n: [3 + 2 * i for i in range(n)]),
        fn(lambda n: [0.25] * n),
    ],
)
@pytest.mark.parametrize("step", [1, -1])
def test_laws_of_sequences(law: Callable[[int], list[Any]], step: int) -> None:
    found = sequence([np.array(law(n)[::step]) for n in (12, 14, 16)])
    assert found is not None
    np.testing.assert_allclose(found[0](200), np.array(law(200)[::step]), rtol=1e-14, atol=1e-300)


def test_numbers_without_a_law_have_none() -> None:
    numbers = np.random.default_rng(0).random(20)
    assert sequence([numbers[:12], numbers[:14], numbers]) is None
    assert sequence([numbers[:12], numbers[1:15], numbers]) is None


def test_near_lengths_share_a_parameter() -> None:
    sizes = Sizes()
    short = sizes.of(300)
    assert [sizes.of(n) for n in (299, 302, -300, 40)] == [short - 1, short + 2, -short, 40]
    assert sizes.of(310) - short not in range(-3, 4)
    assert sizes.close(14, 2, 6) == (14, 20)
    assert sizes.of(5000) == 5000


def walked(n: int, late: int) -> int:
    total = 0
    for i in range(n):
        if i % 2:
            total += 1
        for _ in range(i // late):
            total += 2
    return total


def test_code_that_took_all_its_branches_need_not_be_followed() -> None:
    with paths(lambda name: name == __name__) as steps:
        walked(6, 100)
    assert walked.__code__ not in covered(steps)
    with paths(lambda name: name == __name__) as steps:
        walked(6, 3)
    assert walked.__code__ in covered(steps)
    with paths(lambda name: name == __name__, covered(steps)) as others:
        walked(1000, 3)
    assert not others


def called_late(n: int) -> int:
    return [walked, late][n > 3](6, 3)


def late(n: int, _: int) -> int:
    return n


def test_runs_are_followed_where_other_code_may_run() -> None:
    def is_users(name: str) -> bool:
        return name == __name__

    with paths(is_users) as steps:
        called_late(2)
    known = covered(steps)
    assert known == {walked.__code__, called_late.__code__}
    assert not can_run_other([called_late, walked, np.ones(2)], steps, known, is_users)
    assert can_run_other([called_late, walked, late], steps, known, is_users)
    assert can_run_other([called_late], steps, {called_late.__code__}, is_users)
    functions = np.array([late], object)
    for other in (functions, [np.frompyfunc(late, 2, 1)], {"late": 1}, Tape, sys.modules[__name__]):
        assert can_run_other([called_late, other], steps, known, is_users)

    def maker() -> Any:
        return lambda: late

    with paths(is_users) as steps:
        maker()
    assert can_run_other([maker], steps, covered(steps), is_users)


def test_a_function_that_only_late_turns_call_is_not_missed() -> None:
    def shrunk(u: Any) -> Any:
        return 0.5 * u

    def halved(u: Any) -> Any:
        return u - 0.5 * u

    def function(x: Any) -> Any:
        u = x[0]
        for i in range(1, len(x)):
            u = [shrunk, halved, halved, late_step][i // 128](u) + x[i]
        return u

    def late_step(u: Any) -> Any:
        return 0.5 * np.sin(u)

    compiled(function, np.linspace(0.5, 1.5, 500), extrapolates=False)


def test_loops_of_few_turns_may_take_twice_as_many_operations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 600)

    def function(x: Any, turns: int) -> Any:
        for _ in range(turns):
            x = np.sin(x) * x + 1.0
        return np.sum(x)

    for turns, is_long in ((79, False), (81, True), (400, True)):
        made = gw.compile(gw.grad(function))
        made(x, turns)
        assert ("extrapolated" in made.explain()) == is_long, made.explain()


def test_a_long_loop_is_stopped_as_soon_as_its_turns_tell() -> None:
    endless: Any = timed(0.2)["range"](1 << 40)
    with pytest.raises(TooSlow):
        sum(endless)
    assert [*timed(1e3)["range"](5, 0, -2)] == [5, 3, 1]


def test_no_traced_length_is_a_power_of_two() -> None:
    """A mean of 16 elements would be a product with a number that other products take in."""
    assert [further(14, 2, count) for count in range(4)] == [14, 18, 20, 22]
    assert [further(16, 12, count) for count in range(4)] == [28, 40, 52, 76]
    assert [further(8, 1, count) for count in range(3)] == [8, 9, 10]

    def function(x: Any) -> Any:
        y = gnp.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = 0.5 * y[i - 1] + x[i]
        return np.mean(y * y)

    made = compiled(function, np.linspace(0.5, 1.5, 300))
    assert "extrapolated from traces of 14, 18, 20 turns" in made.explain()


def test_a_mean_over_the_turns_is_extrapolated() -> None:
    def mean(x: Any) -> Any:
        states = [x[0]]
        for i in range(1, len(x)):
            states.append(np.sin(states[-1]) * x[i])
        return np.mean(np.stack(states) ** 2)

    for count in (300, 304):
        compiled(mean, np.linspace(0.5, 1.5, count))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="paths are followed by a trace function")
def test_without_a_tool_to_follow_branches_loops_are_traced_in_full() -> None:
    monitoring: Any = vars(sys)["monitoring"]
    taken = [number for number in range(6) if monitoring.get_tool(number) is None]
    for number in taken:
        monitoring.use_tool_id(number, "another")
    try:
        made = compiled(recurrence, x, extrapolates=False)
        with paths(lambda name: name == __name__) as steps:
            walked(6, 3)
        with paths(lambda name: name == __name__) as others:
            walked(6, 3)
    finally:
        for number in taken:
            monitoring.free_tool_id(number)
    assert "branches cannot be followed" in made.explain()
    assert not others <= steps
