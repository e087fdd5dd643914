"""Loops whose turns are all alike need no run at full size; others are not taken for such loops."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.extrapolating.paths import has_backward_code, paths
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TURNS = 150
ALIKE = "All turns of its loops do the same"
u0 = np.linspace(0.2, 0.9, 12)


@pytest.fixture(autouse=True)
def every_program_counts_as_long_and_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 200)
    monkeypatch.setattr("gradwrap.compiler.extrapolating.proof.SECONDS", 0.0)


def step(u: Any) -> Any:
    return u + 0.1 * (np.roll(u, 1) - u) - 0.01 * u * u


def explained(function: Callable[..., Any], given: Any = u0, **options: Any) -> str:
    """Compile a gradient, compare it with eager at other arguments, and return the explanation."""
    gradient = gw.grad(function)
    made = gw.compile(gradient, **options)
    np.testing.assert_allclose(made(given), gradient(given), rtol=1e-11)
    other = 0.9 * given + 0.01
    np.testing.assert_allclose(made(other), gradient(other), rtol=1e-11)
    return str(made.explain())


def steps(u: Any) -> Any:
    for _ in range(TURNS):
        u = step(u)
    return np.mean(u * u)


def scaled_by_the_number_of_turns(u: Any) -> Any:
    dt = 1.0 / TURNS
    for _ in range(TURNS):
        u = u + dt * step(u)
    return np.mean(u * u) * (TURNS // LATE)


def exchanged(u: Any) -> Any:
    v, w = 0.5 * u, [0.1, 0.3]
    for _ in range(TURNS):
        u, v = v, step(u) * w[1] + 0.5 * v
    return np.sum(u * v)


def loops_in_a_row(u: Any) -> Any:
    for _ in range(TURNS):
        u = step(u)
    for _ in range(2):
        u = np.sin(u)
    for _ in range(TURNS - 1):
        v = step(u)
        for k in range(3):
            v = v + 0.01 * k * u
        u = np.tanh(v)
    return np.sum(u)


@pytest.mark.slow
@pytest.mark.parametrize("function", [steps, exchanged, loops_in_a_row])
def test_turns_that_begin_with_the_same_variables_are_alike(function: Callable[..., Any]) -> None:
    assert ALIKE in explained(function)


@pytest.mark.parametrize(("turns", "comparison"), [(150, "and at full size"), (400, ALIKE)])
def test_turns_are_looked_at_where_a_run_at_full_size_takes_longer(
    turns: int, comparison: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECONDS", "LEAST"):
        monkeypatch.setattr(f"gradwrap.compiler.extrapolating.proof.{name}", 60.0)

    def of_turns(u: Any) -> Any:
        for _ in range(turns):
            u = step(u)
        return np.mean(u * u)

    assert comparison in explained(of_turns)


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_chunks_of_like_turns_are_compared_too(engine: str) -> None:
    explanation = explained(steps, engine=engine, memory=2e4, cache=False)
    assert ALIKE in explanation
    assert "checkpoints: " in explanation


def test_a_function_without_a_gradient_is_not_run_at_full_size() -> None:
    runs: list[int] = []

    def state(u: Any) -> Any:
        for _ in range(TURNS):
            u = step(u)
        return u * 2.0, u[0]

    def counted(u: Any) -> Any:
        runs.append(1)
        return state(u)

    made = gw.compile(state)
    made(u0)
    assert ALIKE in made.explain()
    wanted = counted(u0)
    np.testing.assert_allclose(made(u0)[0], wanted[0], rtol=1e-12)


def of_a_late_element(u: Any) -> Any:
    b = gnp.zeros(TURNS)
    for i in range(len(b)):
        b[i] = u[0] * u[1]
    for _ in range(3):
        u = step(u)
    return b[TURNS - 20] * np.sum(u) + b[3]


@pytest.mark.parametrize("transform", [gw.grad, fn(lambda f: f)])
def test_zeros_do_not_hide_what_only_a_late_turn_writes(transform: Any) -> None:
    made = gw.compile(transform(of_a_late_element))
    made(0.0 * u0)
    np.testing.assert_allclose(made(u0), transform(of_a_late_element)(u0), rtol=1e-11)


# Turns that differ --------------------------------------------------------------------------------


LATE = 100


class Counter:
    """Counts its calls."""

    def __init__(self) -> None:
        self.k = 0

    def __call__(self, u: Any) -> Any:
        self.k += 1
        return step(u) * (1.0 + self.k // LATE)


def counted(u: Any) -> Any:
    k = 0
    for _ in range(TURNS):
        k = k + 1
        u = step(u) * (1.0 + k // LATE)
    return np.mean(u * u)


def with_its_index(u: Any) -> Any:
    for i in range(TURNS):
        u = step(u) * (1.0 + i // LATE)
    return np.mean(u * u)


def with_its_last_index(u: Any) -> Any:
    i = 0
    for i in range(TURNS):  # noqa: B007  the last index is read
        u = step(u)
    return np.mean(u * u) * (1.0 + i // LATE)


def with_its_index_in_a_function(u: Any) -> Any:
    i = 0

    def factor() -> float:
        return 1.0 + i // LATE

    for i in range(TURNS):  # noqa: B007  the function reads it
        u = step(u) * factor()
    return np.mean(u * u)


def with_a_variable_outside(u: Any) -> Any:
    k = 0

    def counting(u: Any) -> Any:
        nonlocal k
        k += 1
        return step(u) * (1.0 + k // LATE)

    for _ in range(TURNS):
        u = counting(u)
    return np.mean(u * u)


def with_a_list(u: Any) -> Any:
    found: list[Any] = []
    for _ in range(TURNS):
        u = step(u)
        found.append(u)
    return np.mean(found[len(found) // LATE])


def with_a_list_elsewhere(u: Any) -> Any:
    found: list[Any] = []

    def run(u: Any, keep: Callable[[Any], None]) -> Any:
        for _ in range(TURNS):
            u = step(u)
            keep(u)
        return u

    return np.mean(run(u, found.append) + found[len(found) // LATE])


def with_a_comprehension(u: Any) -> Any:
    found = [step(u) for _ in range(TURNS)]
    return np.mean(found[0] * (1.0 + len(found) // LATE))


def with_zip(u: Any) -> Any:
    weights = [0.9] * LATE + [0.5] * LATE
    for _, weight in zip(range(TURNS), weights, strict=False):
        u = weight * step(u)
    return np.mean(u * u)


def with_enumerate(u: Any) -> Any:
    for k, _ in enumerate(range(TURNS)):
        u = step(u) * (1.0 + k // LATE)
    return np.mean(u * u)


def with_a_slice(u: Any) -> Any:
    for _ in itertools.islice(range(TURNS), LATE):
        u = step(u)
    return np.mean(u * u)


def with_a_generator(u: Any) -> Any:
    def states(u: Any) -> Iterator[Any]:
        for _ in range(TURNS):
            u = step(u)
            yield u

    k = 0
    for state in states(u):
        k = k + 1
        u = state * (1.0 + k // LATE)
    return np.mean(u * u)


def with_a_dictionary(u: Any) -> Any:
    state = {"k": 0, "u": u}
    for _ in range(TURNS):
        state["k"] += 1
        state["u"] = step(state["u"]) * (1.0 + state["k"] // LATE)
    return np.mean(state["u"])


def with_a_plain_array(u: Any) -> Any:
    k = np.zeros(1)
    for _ in range(TURNS):
        k += 1.0
        u = step(u) * (1.0 + float(k[0]) // LATE)
    return np.mean(u * u)


def with_an_array_that_it_makes(u: Any) -> Any:
    k = gnp.zeros(1)
    for _ in range(TURNS):
        k = k + 1.0
        u = step(u) * (1.0 + float(k[0]) // LATE)
    return np.mean(u * u)


def with_a_number_of_an_array(u: Any) -> Any:
    k = gnp.zeros(1)[0]
    for _ in range(TURNS):
        k = k + 1.0
        u = step(u) * (1.0 + float(k) // LATE)
    return np.mean(u * u)


def with_an_object(u: Any) -> Any:
    counter = Counter()
    for _ in range(TURNS):
        u = counter(u)
    return np.mean(u * u)


def with_an_iterator(u: Any) -> Any:
    calls = itertools.count()
    for _ in range(TURNS):
        u = step(u) * (1.0 + next(calls) // LATE)
    return np.mean(u * u)


def with_a_decaying_rate(u: Any) -> Any:
    rate = 0.9
    for _ in range(TURNS):
        rate = max(rate * 0.99, 0.9 * 0.99**LATE)
        u = step(u) * (1.0 + rate)
    return np.mean(u * u)


def with_a_late_end(u: Any) -> Any:
    k = TURNS
    for _ in range(TURNS):
        k -= 1
        if k < TURNS - LATE:
            break
        u = step(u)
    return np.mean(u * u)


def with_a_lookup_of_its_index(u: Any) -> Any:
    for i in range(TURNS):  # noqa: B007  # pyright: ignore[reportUnusedVariable]  # read by its name
        u = step(u) * (1.0 + locals()["i"] // LATE)
    return np.mean(u * u)


def with_a_default(u: Any, seen: list[int] | None = None) -> Any:
    def counting(u: Any, kept: list[int] = [0]) -> Any:  # noqa: B006  the list is kept on purpose
        kept[0] += 1
        return step(u) * (1.0 + kept[0] // LATE)

    del seen
    for _ in range(TURNS):
        u = counting(u)
    return np.mean(u * u)


def with_an_attribute_of_a_function(u: Any) -> Any:
    state: Any = fn(lambda: None)
    state.k = 0

    def counting(u: Any) -> Any:
        state.k += 1
        return step(u) * (1.0 + state.k // LATE)

    for _ in range(TURNS):
        u = counting(u)
    return np.mean(u * u)


@gw.custom_vjp
def doubled(u: Any) -> Any:
    return 2.0 * u


def doubled_forward(u: Any) -> Any:
    return doubled(u), None


def doubled_backward(_: Any, g: Any) -> Any:
    for _ in range(3):
        g = g * 1.0
    return (2.0 * g,)


doubled.defvjp(doubled_forward, doubled_backward)


def with_a_rule_of_its_own(u: Any) -> Any:
    for _ in range(TURNS):
        u = step(0.5 * doubled(u))
    return np.mean(u * u)


@pytest.mark.parametrize(("function", "has_code"), [(step, False), (doubled, True)])
def test_code_that_runs_in_a_backward_pass_is_told(
    function: Callable[..., Any], has_code: bool
) -> None:
    with paths(lambda module: module == __name__) as taken:
        gw.grad(fn(lambda u: np.sum(function(u))))(u0)
    assert has_backward_code(taken) is has_code


DIFFERENT = [
    with_a_rule_of_its_own,
    *(counted, with_its_index, with_an_array_that_it_makes, with_its_last_index),
    *(with_a_number_of_an_array, with_its_index_in_a_function),
    *(with_a_variable_outside, with_a_list, with_a_list_elsewhere, with_a_comprehension),
    *(with_zip, with_enumerate, with_a_slice, with_a_generator, with_a_dictionary),
    *(with_a_plain_array, with_an_object, with_an_iterator, with_a_decaying_rate),
    *(with_a_late_end, with_a_lookup_of_its_index, with_a_default),
    *(with_an_attribute_of_a_function, scaled_by_the_number_of_turns),
]


@pytest.mark.parametrize(
    "function",
    [*DIFFERENT[:4], *(pytest.param(one, marks=pytest.mark.slow) for one in DIFFERENT[4:])],
)
def test_turns_that_may_differ_are_not_taken_for_alike(function: Callable[..., Any]) -> None:
    assert ALIKE not in explained(function)
