"""Code that looks into what it computes from arrays around it: these arrays are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.5, 1.5, 2.5])


class Around:
    """The arrays around the functions."""

    def __init__(self) -> None:
        self.looked = np.array([2.0, 3.0, 4.0])
        self.read = np.array([1.0, 1.5, 2.0])


def by_float(around: Around, x: Any) -> Any:
    total = float(np.sum(around.looked * 2.0))
    return np.sum(x**2 * around.read) * (1.0 if total > 19.0 else total)


def by_array(around: Around, x: Any) -> Any:
    doubled: Any = np.asarray(around.looked * 2.0)
    table = memoryview(doubled)  # which NumPy does not see
    return np.sum(x * around.read * table[1])


def by_item(around: Around, x: Any) -> Any:
    scale = (around.looked + 1.0)[2].item()
    return np.sum(x**2 * around.read) * scale


def by_attribute(around: Around, x: Any) -> Any:
    return np.sum(x * around.read * (around.looked - 1.0).getfield(np.float64)[0])


def by_list(around: Around, x: Any) -> Any:
    return sum(one * part for one, part in zip((around.looked**2).tolist(), x * around.read))  # noqa: B905  of one length


LOOKING: list[Callable[[Around, Any], Any]] = [by_float, by_array, by_item, by_attribute, by_list]


@pytest.fixture(params=LOOKING, ids=lambda function: function.__name__)
def case(request: pytest.FixtureRequest) -> tuple[Around, Callable[[Any], Any]]:
    around = Around()
    looking: Callable[[Around, Any], Any] = request.param
    return around, lambda x: looking(around, x)


def gradient(function: Callable[[Any], Any], x: Any) -> Any:
    return np.array([(function(x + e) - function(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)])


def test_what_code_looked_into_is_compared(
    case: tuple[Around, Callable[[Any], Any]],
) -> None:
    around, function = case
    compiled = gw.compile(gw.grad(function))
    assert np.allclose(compiled(X), gradient(function, X), rtol=1e-5)
    made = compiled.programs
    assert len(made) == 1
    around.read[1] += 0.5  # which is read in each call
    assert np.allclose(compiled(X), gradient(function, X), rtol=1e-5)
    assert compiled.programs == made
    around.looked -= 0.25
    assert np.allclose(compiled(X), gradient(function, X), rtol=1e-5)
    assert compiled.programs != made
    around.looked = around.looked - 0.5
    assert np.allclose(compiled(X), gradient(function, X), rtol=1e-5)


def test_what_depends_on_arguments_cannot_be_looked_into() -> None:
    around = Around()
    compiled = gw.compile(lambda x: np.sum(x * float(np.sum(around.looked * x))))
    with pytest.warns(gw.errors.CompileWarning, match="it calls float"):
        compiled(X)
