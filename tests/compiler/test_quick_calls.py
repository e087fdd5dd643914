"""Calls of several signatures in turn: each finds its program, and nothing is written anew."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.counting import called_code

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.unverified  # calls that are compared with eager do not take the quick way


def frames(call: Callable[[], Any]) -> Counter[str]:
    """The functions in Python that a call runs, by name."""
    return Counter(code.co_name for code in called_code(call))


def weighted(p: Any, power: int = 2) -> Any:
    return np.sum(np.sin(p["a"]) ** power * p["b"])


def plain(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


CASES: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = {
    "shapes": (plain, lambda n: (np.linspace(0.1, 1.0, 5 + n),)),
    "dtypes and shapes": (plain, lambda n: (np.ones(5 + n, [np.float64, np.float32][n % 2]),)),
    "containers": (weighted, lambda n: ({"a": np.ones(n + 1), "b": np.ones(n + 1)},)),
    "numbers": (weighted, lambda n: ({"a": np.ones(3), "b": np.ones(3)}, n + 1)),
}


@pytest.mark.filterwarnings("ignore:.* is compiled for the 5th time")
@pytest.mark.parametrize("name", CASES)
def test_eight_signatures_in_turn_are_as_quick_as_one(name: str) -> None:
    function, arguments = CASES[name]
    compiled: Any = gw.compile(gw.grad(function))
    calls = [arguments(n) for n in range(8)]
    for _ in range(2):
        for args in calls:
            compiled(*args)
    latest = frames(lambda: compiled(*calls[-1]))

    each = [frames(lambda args=args: compiled(*args)) for args in calls]  # type: ignore[misc]  # bound at once

    for found in each:
        assert found.pop("quick") <= 8
    latest.pop("quick")
    assert all(found.total() <= latest.total() + 8 for found in each)
    for args in calls:
        for a, b in zip(compiled(*args), gw.grad(function)(*args), strict=True):
            np.testing.assert_array_equal(a, b)


def test_named_arguments_are_told_apart_by_name_and_order() -> None:
    compiled: Any = gw.compile(lambda **kw: [kw[name] * (i + 1.0) for i, name in enumerate(kw)])
    x, y = np.ones(2), np.full(2, 3.0)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(a=x, b=y), [x, 2.0 * y])
        np.testing.assert_array_equal(compiled(b=y, a=x), [y, 2.0 * x])
        np.testing.assert_array_equal(compiled(a=x, c=y), [x, 2.0 * y])
        np.testing.assert_array_equal(compiled(a=x), [x])


def test_static_arguments_take_the_quick_way() -> None:
    compiled: Any = gw.compile(lambda x, w: x * w, static=1)
    x, w, v = np.arange(3.0), np.ones(3), np.full(3, 2.0)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x, w), x)
        np.testing.assert_array_equal(compiled(x, v), 2.0 * x)
    assert "_slowly" not in frames(lambda: compiled(x, w))
    w[0] = 7.0
    np.testing.assert_array_equal(compiled(x, w), x * w)
