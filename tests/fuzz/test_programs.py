"""Random programs and calls: NumPy's results, the numerical derivatives, or an error that helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.fuzz.checks import judge
from tests.fuzz.minimise import minimised, script
from tests.fuzz.numpy_calls import FUNCTIONS, METHODS, OTHER_METHODS, OTHERS
from tests.fuzz.programs import Program, generate
from tests.fuzz.reference import Unreliable, refer
from tests.fuzz.report import distinct, find
from tests.fuzz.sweep import all_calls, public_methods, public_names, try_call

import gradwrap as gw
from gradwrap.core.library.namespace import rebind
from gradwrap.core.table.registry import find_op, redefine

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 100
CALLS = all_calls()
STEP = 20  # of which one in five is run here


@pytest.mark.parametrize("start", range(0, 2000, CHUNK))
def test_random_programs_are_right_or_refused(start: int) -> None:
    found = find(range(start, start + CHUNK))

    scripts = [text for _, text in distinct(found.failures, most=3)]
    assert not scripts, "\n\n".join(scripts)
    assert found.verdicts["right"] > CHUNK / 2


@pytest.mark.parametrize(
    "start", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(5, STEP, 5))]
)
def test_calls_of_numpy_are_right_or_refused(start: int) -> None:
    failed = [
        f"{verdict.call.source}: {verdict.detail}"
        for verdict in map(try_call, CALLS[start::STEP])
        if verdict.kind == "failed"
    ]
    assert not failed, "\n".join(failed)


def test_every_public_name_of_numpy_is_in_a_table() -> None:
    called = {call.name.removeprefix("np.") for call in CALLS} | {
        name.removeprefix("np.") for name in FUNCTIONS
    }
    listed = {name for names in OTHERS.values() for name in names.split()}
    assert sorted(set(public_names()) - called - listed) == []


def test_every_public_method_of_an_array_is_in_a_table() -> None:
    listed = {name for names in OTHER_METHODS.values() for name in names.split()}
    assert sorted(set(public_methods()) - set(METHODS) - listed) == []


# The adversary itself -----------------------------------------------------------------------------

X = ("x0", "np.array([[0.31, -0.72], [1.13, 0.44]])")


def program(*body: str, result: str = "a9") -> Program:
    return Program(body, ("x0", result), (X,), drop_in=False, transforms=("vjp", "jvp"))


@pytest.fixture
def wrong_sine() -> Iterator[None]:
    """Give the sine the derivative of its negative."""
    op = find_op("sin")
    assert op is not None
    rules = dict(op.rules)
    gw.defvjp("sin", lambda xp, g, x: -g * xp.cos(x))
    yield
    redefine(op, rules)
    rebind(op)


@pytest.mark.usefixtures("wrong_sine")
def test_a_wrong_derivative_is_found_and_reduced_to_its_line() -> None:
    whole = program(
        "v1 = x0.T[::-1]",
        "if v1[0, 0] > 0.1:\n    a2 = v1 * 2\nelse:\n    a2 = np.tanh(v1) + np.sin(v1 * 0.5)",
        "a2[0] += 0.3",
        "a9 = a2 @ v1",
    )
    (outcome, _) = judge(whole)
    small = minimised(whole, outcome)

    assert (outcome.verdict, outcome.kind) == ("failed", "wrong gradient")
    assert [line for line in small.body if "np.sin(" in line] == list(small.body)
    assert "np.sin(" in script(small, outcome)


def test_a_program_is_right_only_if_both_modes_are() -> None:
    outcomes = judge(program("v1 = x0[:, ::-1]", "v1 *= 2", "a9 = np.sum(x0, axis=0)"))
    assert [outcome.verdict for outcome in outcomes] == ["right", "right"]


def test_an_error_of_numpys_must_be_raised_by_gradwrap_too() -> None:
    outcomes = judge(program("a9 = x0[5]"))
    assert [outcome.verdict for outcome in outcomes] == ["right", "right"]


def test_an_error_with_a_remedy_is_a_refusal() -> None:
    (outcome, _) = judge(program("a9 = np.zeros(2)", "a9[:] = x0[0]"))
    assert outcome.verdict == "refused"
    assert "Fix:" in outcome.detail


def test_a_kink_has_no_reference() -> None:
    with pytest.raises(Unreliable):
        refer(program("a9 = np.abs(x0 - 0.31)"))


def test_differences_tell_the_derivative_to_ten_digits() -> None:
    case = program("a9 = np.exp(np.sin(x0)) * x0")
    reference = refer(case)
    (x,), (direction,) = case.values(), reference.directions
    exact = np.exp(np.sin(x)) * (1 + x * np.cos(x)) * direction
    np.testing.assert_allclose(reference.slopes[1], exact, rtol=1e-10, atol=1e-11)


def test_a_seed_is_always_the_same_program() -> None:
    assert generate(7) == generate(7)
    assert generate(7) != generate(8)
