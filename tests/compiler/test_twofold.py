"""Numbers of short runs that know what they are at full size: loops that need no run there."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.tracing.twofold import Symbol, Twofold, Unlike, Uses, plain_key

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 150
LATE = 100
ALIKE = "All turns of its loops do the same"
rng = np.random.default_rng(3)
X = rng.uniform(0.3, 1.0, TURNS)
M = rng.uniform(0.3, 1.0, (TURNS, 3))
DATA = rng.uniform(0.3, 1.0, (TURNS, 2))


@pytest.fixture(autouse=True)
def every_program_counts_as_long_and_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 200)
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)


def explained(function: Callable[..., Any], *given: Any) -> str:
    """Compile a gradient, compare it with eager at other arguments, and return the explanation."""
    gradient = gw.grad(function)
    made = gw.compile(gradient)
    np.testing.assert_allclose(made(*given), gradient(*given), rtol=1e-10, atol=1e-13)
    others = [0.9 * one + 0.01 if isinstance(one, np.ndarray) else one for one in given]
    np.testing.assert_allclose(made(*others), gradient(*others), rtol=1e-10, atol=1e-13)
    return str(made.explain())


# Loops that need no run at full size --------------------------------------------------------------


def by_index(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def backwards(x: Any) -> Any:
    n = x.shape[0]
    y = gnp.zeros(n)
    y[n - 1] = x[n - 1]
    for i in range(n - 2, -1, -1):
        y[i] = x[i] - 0.5 * np.sin(y[i + 1])
    for i in reversed(range(n)):
        y[i] = y[i] * x[n - 1 - i]
    return np.sum(y * y) / n


def list_of_states(m: Any) -> Any:
    state, states = 0.0 * m[0], []
    for t in range(len(m)):
        state = np.tanh(0.5 * state + m[t])
        states.append(state)
    return np.mean(np.stack(states) ** 2) + np.sum(states[-1]) + states[3][0] / len(states)


def branches_at_the_ends(x: Any) -> Any:
    h, total = 1.0 / (len(x) - 1), 0.0
    for i in range(len(x)):
        if i == 0 or i == len(x) - 1:
            total = total + 0.5 * h * x[i]
        elif i > 0:
            total = total + h * x[i] * x[i - 1]
    return total


def with_turns(u: Any, turns: int) -> Any:
    dt = 1.0 / turns
    for _ in range(turns):
        u = u + dt * np.sin(u)
    return np.sum(u)


def rows_and_slices(m: Any) -> Any:
    total = 0.0
    for i in range(1, m.shape[0]):
        total = total + np.sum(m[i, 1:] * m[i - 1, -2:]) * m[i, 0]
    return total + np.sum(m[-1] * m[2:, 0][0])


def over_elements(x: Any) -> Any:
    mean, total = x[0], 0.0
    for one in x:
        mean = 0.9 * mean + 0.1 * one
        total = total + (one - mean) ** 2
    for i, one in enumerate(x):
        total = total + one * (0.5 if i == 0 else 1.0)
    for one, (first, second, third) in zip(x, np.stack([x, x * x, 2.0 * x], axis=1), strict=True):
        total = total + one * first - second * third
    return total


def with_a_table(x: Any) -> Any:
    total = 0.0
    for i in range(len(DATA)):
        total = total + x[i] * DATA[i, 0] * DATA[i, 1]
    return total / DATA.shape[0]


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (by_index, (X,)),
        pytest.param(with_a_table, (X,), marks=pytest.mark.slow),
        pytest.param(over_elements, (X,), marks=pytest.mark.slow),
        pytest.param(backwards, (X,), marks=pytest.mark.slow),
        (list_of_states, (M,)),
        (branches_at_the_ends, (X,)),
        (with_turns, (X[:12], TURNS)),
        pytest.param(rows_and_slices, (M,), marks=pytest.mark.slow),
    ],
)
def test_loops_that_read_their_index_need_no_run(
    function: Callable[..., Any], given: tuple[Any, ...]
) -> None:
    assert ALIKE in explained(function, *given)


# Loops that might do something else ---------------------------------------------------------------


def a_late_branch(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + (x[i] * x[i] if i < LATE else x[i])
    return total


def a_late_factor(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2 * (1.0 + i // LATE)
    return total


def a_factor_of_all(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total * (1.0 + len(x) // LATE) * (2.0 if x.shape[0] > LATE else 1.0)


def a_late_place(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[min(i, LATE)]
    return total


def end_of_a_list(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        found.append(np.sin(x[i]))  # noqa: PERF401  a loop is tried
    return np.sum(np.stack(found[-LATE:]))


def other_name_of_a_list(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        found.append(np.sin(x[i]))  # noqa: PERF401  a loop is tried
    same = found
    return np.sum(np.stack(same[:LATE]))


def end_of_a_stack(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        found.append(np.sin(x[i]))  # noqa: PERF401  a loop is tried
    return np.sum(np.stack(found)[-LATE:])


def slice_of_an_argument(x: Any) -> Any:
    total = np.sum(x[-LATE:])
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total


def list_of_numbers(x: Any) -> Any:
    found, total = [], 0.0
    for i in range(len(x)):
        found.append(1.0)
        total = total + x[i] ** 2
    return total * (1.0 + sum(found) // LATE)


def list_of_indices(x: Any) -> Any:
    found, total = [], 0.0
    for i in range(len(x)):
        found.append(i)
        total = total + x[i] ** 2
    return total * (1.0 + sum(found) // (LATE * TURNS // 2))


def length_of_a_list(x: Any) -> Any:
    found, total = [], 0.0
    for i in range(len(x)):
        found.append(x[i] ** 2)
        total = total + found[-1] * (1.0 + len(found) // LATE)
    return total


def length_of_a_list_later(x: Any) -> Any:
    found, total = [], 0.0
    for i in range(len(x)):
        found.append(x[i] ** 2)
        total = total + found[-1]
    return total * (1.0 + len(found) // LATE)


def loop_over_a_list(x: Any) -> Any:
    found, k = [], 0
    for i in range(len(x)):
        found.append(x[i] ** 2)  # noqa: PERF401  a loop is tried
    for one in found:
        del one
        k += 1
    return sum(found) * (1.0 + k // LATE)


def loop_over_elements(x: Any) -> Any:
    total, k = 0.0, 0
    for i in range(len(x)):
        total = total + x[i] ** 2
    for one in x:
        del one
        k += 1
    return total * (1.0 + k // LATE)


def loop_over_parts(x: Any) -> Any:
    total, k = 0.0, 0
    for i in range(len(x)):
        total = total + x[i] ** 2
    for one in gnp.unstack(x):
        del one
        k += 1
    return total * (1.0 + k // LATE)


def caught(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        try:
            total = total + x[i] * x[i + len(x) - LATE]
        except IndexError:
            total = total + x[i]
    return total


def caught_comparison(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        try:
            factor = 2.0 if i > LATE else 1.0
        except Exception:  # noqa: BLE001  whatever is raised, the function goes on
            factor = 1.0
        total = total + factor * x[i] ** 2
    return total


def element_of_another_length(x: Any) -> Any:
    b = gnp.zeros(2 * TURNS)
    for i in range(len(x)):
        b[i] = x[i] ** 2
    return b[TURNS - 20] * x[3] + b[2]


def a_float_of_the_index(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + np.minimum(0.01 * i, 0.8) * x[i] ** 2
    return total


def power_of_a_length(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total * (1.0 + (len(x) / 1000.0) ** 30 * 1e24)


def while_loop(x: Any) -> Any:
    i, total = 0, 0.0
    while i < len(x):
        total = total + x[i] ** 2 * (1.0 + i // LATE)
        i += 1
    return total


def kept_by_name(x: Any) -> Any:
    total, last = 0.0, 0
    for i in range(len(x)):
        total = total + x[i] ** 2 * (2.0 if last > LATE else 1.0)
        last = i
    return total


def text_of_an_index(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2 * len(str(i))
    return total


def shape_of_a_table(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2 * DATA[i, 0]
    return total * (1.0 + DATA.shape[0] // LATE) * (1.0 + DATA.size // (2 * LATE))


def shape_by_another_name(x: Any) -> Any:
    told, total = np.shape, 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total * (1.0 + told(x)[0] // LATE)


def shape_by_a_function(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total * (1.0 + np.shape(x)[0] // LATE)


def shape_by_another_library(x: Any) -> Any:
    told, total = [gnp.shape], 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total * (1.0 + told[0](x)[0] // LATE)


def loop_over_a_table(x: Any) -> Any:
    total, k = 0.0, 0
    for i in range(len(x)):
        total = total + x[i] ** 2
    for row in DATA:
        del row
        k += 1
    return total * (1.0 + k // LATE)


def half_of_an_argument(x: Any) -> Any:
    half, total = x[::2], 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total * (2.0 if len(half) > LATE // 2 else 1.0)


def pairs_of_an_argument(x: Any) -> Any:
    pairs, total = np.reshape(x, (-1, 2)), 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total * (2.0 if pairs.shape[0] > LATE // 2 else 1.0)


def length_of_a_stack(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        found.append(x[i] ** 2)  # noqa: PERF401  a loop is tried
    pairs = np.stack([*found, *found])
    return np.sum(pairs) * (2.0 if len(pairs) > LATE else 1.0)


OTHERS = [
    *(a_late_branch, a_late_factor, a_factor_of_all, a_late_place, end_of_a_list),
    *(other_name_of_a_list, end_of_a_stack, slice_of_an_argument, list_of_numbers),
    *(list_of_indices, length_of_a_list, length_of_a_list_later, loop_over_a_list),
    *(loop_over_elements, loop_over_parts, caught, caught_comparison, element_of_another_length),
    *(a_float_of_the_index, power_of_a_length, while_loop, kept_by_name, text_of_an_index),
    *(shape_of_a_table, shape_by_a_function, loop_over_a_table, shape_by_another_name),
    *(shape_by_another_library, half_of_an_argument, pairs_of_an_argument, length_of_a_stack),
]


@pytest.mark.unverified  # some programs raise an error at full size, and are given up
@pytest.mark.parametrize(
    "function",
    [*OTHERS[:2], *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS[2:])],
)
def test_what_late_turns_may_do_otherwise_is_run(function: Callable[..., Any]) -> None:
    assert ALIKE not in explained(function, X)


# The numbers --------------------------------------------------------------------------------------


def uses() -> Any:
    found = Uses(lambda: "here", lambda length: length)
    found.length = lambda length: Twofold(found, length, length + 80)
    return found


def index(known: Uses) -> Any:
    """Return the index 5 of a loop whose inner turns are those from 2 to 97."""
    return Twofold(known, 5, 0, {Symbol(0, 0, 5, 5, 2, 97, step=1, period=1, one=5): 1})


@pytest.mark.parametrize(
    ("compare", "limit", "outcome"),
    [
        (operator.gt, 1, True),
        (operator.ge, 2, True),
        (operator.gt, 2, None),
        (operator.eq, 98, False),
        (operator.ne, 50, None),
        (operator.lt, 98, True),
        (operator.le, 96, None),
        (operator.eq, 5, None),
    ],
)
def test_comparisons_hold_for_all_turns(compare: Any, limit: int, outcome: bool | None) -> None:
    known = uses()
    if outcome is None:
        with pytest.raises(Unlike, match="another outcome"):
            compare(index(known), limit)
        assert known.problem
    else:
        assert compare(index(known), limit) is outcome


def test_arithmetic_is_done_with_both_numbers() -> None:
    known = uses()
    n: Any = Twofold(known, 20, 100)
    assert ((2 * n - 1) // 3).full == 66
    assert (1.0 / (n - 1)).full == 1.0 / 99
    assert (n - 1 - index(known)).ends == (2, 97)
    assert (3 * index(known) + n).rest == 20
    assert np.sqrt(n).full == 10.0
    assert isinstance(n, Twofold)


@pytest.mark.parametrize(
    "compute",
    [
        lambda i: i // 2,
        lambda i: 0.1 * i,
        lambda i: i * i,
        hash,
        str,
        float,
        lambda i: [1, 2, 3, 4, 5, 6][i],
        lambda i: np.zeros(i),
        lambda i: [0.0] * i,
        lambda i: i.bit_length(),
    ],
)
def test_other_uses_of_an_index_are_refused(compute: Callable[[Any], Any]) -> None:
    known = uses()
    with pytest.raises(Unlike):
        compute(index(known))
    assert known.problem


def test_keys_lie_inside_at_full_size() -> None:
    known = uses()
    i = index(known)
    assert plain_key((i, slice(i, i + 3), Ellipsis, i), (20, 20, 20, 20), known) == (
        5,
        slice(5, 8),
        Ellipsis,
        5,
    )
    with pytest.raises(Unlike):
        plain_key(i + 3, (20,), known)
    with pytest.raises(Unlike):
        plain_key(i - 3, (20,), known)


def test_a_slice_that_is_cut_short_is_recorded() -> None:
    known = uses()
    assert plain_key(slice(-50, None), (20,), known) == slice(-50, None)
    assert ("slice", 20, 50) in known.found["here"]
