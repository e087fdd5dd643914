"""Random programs and calls: NumPy's results, the numerical derivatives, or an error that helps."""

from __future__ import annotations

import pytest
from tests.fuzz.report import distinct, find
from tests.fuzz.samples import FUNCTIONS, METHODS, OTHER_METHODS, OTHERS
from tests.fuzz.sweep import all_calls, public_methods, public_names, try_call

CHUNK = 100
CALLS = all_calls()
STEP = 20  # of which one in five is run here


@pytest.mark.parametrize("start", range(0, 2000, CHUNK))
def test_random_programs_are_right_or_refused(start: int) -> None:
    found = find(range(start, start + CHUNK))

    scripts = [text for _, text in distinct(found.failures, most=3)]
    assert not scripts, "\n\n".join(scripts)
    assert found.verdicts["right"] > CHUNK / 2


@pytest.mark.parametrize("start", range(0, STEP, 5))
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
