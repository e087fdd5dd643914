"""NumPy's `shuffle` exchanges the rows of any array but its own through views."""

from __future__ import annotations

import operator
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = np.arange(8.0).reshape(4, 2)
WEIGHTS = np.arange(8.0).reshape(4, 2) ** 2


def weighted(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        y = x * 1.0
        changed = change(y)
        return np.sum((y if changed is None else changed) * WEIGHTS[: len(x)])

    return run


SHUFFLES: dict[str, Callable[[Any], Any]] = {
    "Generator": lambda y: np.random.default_rng(0).shuffle(y),
    "RandomState": lambda y: np.random.RandomState(0).shuffle(y),
    "operator": lambda y: operator.setitem(y, 0, y[1]),
}


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize("shuffle", SHUFFLES.values(), ids=SHUFFLES)
def test_rows_that_c_code_exchanges_are_refused(shuffle: Callable[[Any], Any]) -> None:
    f = weighted(shuffle)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: gw.grad(f)(ROWS),
        lambda: gw.hessian(f)(ROWS),
        lambda: gw.jvp(f, (ROWS,), (ROWS,)),
        lambda: gw.vmap(f)(np.stack([ROWS, ROWS])),
        lambda: f(gw.wrap(ROWS, requires_grad=True)),
    )
    for call in calls:
        with pytest.raises(gw.errors.InPlaceError, match=r"shuffle.*Fix: x = x\[rng.permutation"):
            call()


@pytest.mark.filterwarnings("ignore:you are shuffling")
def test_numbers_are_shuffled_as_in_numpy() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        np.random.default_rng(0).shuffle(y)
        return np.sum(y * np.arange(5.0))

    x = np.arange(5.0) ** 2
    value, slope = gw.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_array_equal(slope @ x, value)


def swapped(y: Any) -> None:
    y[0], y[1] = y[1], y[0]


def shifted(y: Any) -> None:
    y[1:] = y[:-1]
    y[0] += y[2]
    y[2], y[3] = y[3].copy(), y[2].copy()


ALLOWED: dict[str, Callable[[Any], Any]] = {
    "the remedy": lambda y: y[np.random.default_rng(0).permutation(len(y))],
    "Python's shuffle": lambda y: random.Random(0).shuffle(y),
    "swap": swapped,
    "shift": shifted,
}


@pytest.mark.parametrize("change", ALLOWED.values(), ids=ALLOWED)
def test_assignments_of_rows_are_as_in_numpy(change: Callable[[Any], Any]) -> None:
    f = weighted(change)
    value, slope = gw.value_and_grad(f)(ROWS)
    assert value == f(ROWS)
    np.testing.assert_allclose(np.sum(slope * ROWS), value)
    np.testing.assert_array_equal(gw.vmap(f)(np.stack([ROWS, 2 * ROWS])), [value, 2 * value])
