"""An infinite cotangent stays where it belongs: a zero of a Jacobian selects, it is no factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from harness import REAL, Case, cases, function_of, split_call
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = [
    case
    for case in cases()
    if not case.rule.only_complex
    and (case.rule.selects or case.rule.kind.name not in ("elementwise", "general"))
]
X = np.random.default_rng(0).standard_normal((3, 4))
CALLS: list[Callable[[Any], Any]] = [
    fn(lambda x: np.diag(x, -1)),
    fn(lambda x: np.diagonal(x, 2)),
    fn(lambda x: np.diagonal(x, -9)),
    fn(lambda x: np.trace(x, 1)),
    fn(lambda x: np.einsum("ii->i", x[:, :3])),
    fn(lambda x: np.einsum("iij->j", x[:, None, :] * np.eye(3)[:, :, None])),
    fn(lambda x: np.fmax(x, 0.1)),
    fn(lambda x: np.fmin(0.1, x)),
    fn(lambda x: np.repeat(x, [1, 0, 2], axis=0)),
    fn(lambda x: np.repeat(x, np.arange(12))),
    fn(lambda x: np.linalg.norm(x, np.inf, axis=1)),
    fn(lambda x: np.median(x, axis=1)),
    fn(lambda x: np.nanmedian(x, axis=0)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_rows_that_are_linear_or_select(case: Case) -> None:
    args, kwargs = case.arguments(REAL)
    arrays, statics = split_call(args, case.rule)
    check(function_of(case, np, kwargs, statics), *arrays)


@pytest.mark.parametrize("function", CALLS)
def test_functions_of_numpy(function: Callable[[Any], Any]) -> None:
    check(fn(lambda x: [function(x)]), X)


def check(function: Callable[..., list[Any]], *arrays: Any) -> None:
    """Compare the gradients where one cotangent is infinite with those where it is one."""
    out, pull = gw.vjp(function, *arrays)
    for number, part in enumerate(out):
        for place in np.ndindex(np.shape(part)):

            def along(value: float, number: int = number, place: Any = place) -> Any:
                cotangents = [np.zeros_like(each) for each in out]
                cotangents[number][place] = value
                with np.errstate(all="ignore"):
                    return pull([each[()] if not each.shape else each for each in cotangents])

            for slope, found in zip(along(1.0), along(np.inf), strict=True):
                wanted = np.where(slope == 0.0, 0.0, np.copysign(np.inf, slope))
                np.testing.assert_array_equal(found, wanted)


def test_a_zero_on_the_diagonal_of_a_logarithm() -> None:
    with np.errstate(divide="ignore"):
        found = gw.grad(fn(lambda a: np.sum(np.log(np.diag(a)))))(np.diag([0.0, 2.0]))
    np.testing.assert_array_equal(found, [[np.inf, 0.0], [0.0, 0.5]])


def test_cotangents_of_very_different_size_keep_their_digits() -> None:
    weights = np.array([1e30, 1.0, 1.0])
    found = gw.grad(fn(lambda x: np.sum(np.repeat(x, [1, 2]) * weights)))(np.ones(2))
    np.testing.assert_array_equal(found, [1e30, 2.0])


@pytest.mark.parametrize("extremum", [np.maximum, np.fmax])
def test_the_smaller_of_two_has_no_derivative_in_either_mode(extremum: Any) -> None:
    def program(x: Any) -> Any:
        return extremum(np.sqrt(x), 1.0)

    with np.errstate(divide="ignore", invalid="ignore"):
        assert gw.grad(program)(0.0) == 0.0
        assert gw.jvp(program, (0.0,), (1.0,))[1] == 0.0
