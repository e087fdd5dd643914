"""`vmap` of every row of the table against a loop, by the harness; and of its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from harness import COMPLEX, REAL, Case, cases, direction, function_of, split_call

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = cases()
BOTH: list[tuple[Case, np.dtype[Any]]]
BOTH = [(case, REAL) for case in CASES if not case.rule.only_complex]
BOTH += [(case, COMPLEX) for case in CASES if not case.rule.only_real]
SIZE = 3


def named(value: Any) -> str:
    return value.id if isinstance(value, Case) else getattr(value, "name", str(value))


class Batch:
    """A case with several examples of each of its arrays."""

    def __init__(self, case: Case, dtype: np.dtype[Any]) -> None:
        args, kwargs = case.arguments(dtype)
        self.arrays, statics = split_call(args, case.rule)
        self.call: Callable[..., list[Any]] = function_of(case, np, kwargs, statics)
        random = np.random.default_rng(case.seed)
        # near the sample, so that an example is in the domain too
        self.batches = [
            np.stack([a + 0.01 * i * direction(random, a) for i in range(SIZE)])
            for a in self.arrays
        ]
        outputs = self.call(*self.arrays)
        self.cotangents = [direction(random, np.asarray(part)) for part in outputs]

    def pulled(self, *arrays: Any) -> list[Any]:
        _, pull = gw.vjp(self.call, *arrays)
        return list(pull([np.asarray(c)[()] if not np.shape(c) else c for c in self.cotangents]))


def check(
    function: Callable[..., list[Any]], arrays: list[Any], in_axes: tuple[int | None, ...]
) -> None:
    found = gw.vmap(function, in_axes, fallback="error")(*arrays)
    for i in range(SIZE):
        one = [a if axis is None else a[i] for a, axis in zip(arrays, in_axes, strict=True)]
        for part, wanted in zip(found, function(*one), strict=True):
            assert part.dtype == wanted.dtype
            np.testing.assert_allclose(part[i], wanted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("case", "dtype"), BOTH, ids=named)
def test_vmap_gives_what_a_loop_gives(case: Case, dtype: np.dtype[Any]) -> None:
    batch = Batch(case, dtype)
    check(batch.call, batch.batches, (0,) * len(batch.batches))


@pytest.mark.parametrize(("case", "dtype"), BOTH, ids=named)
def test_vmap_of_the_gradient_gives_what_a_loop_gives(case: Case, dtype: np.dtype[Any]) -> None:
    batch = Batch(case, dtype)
    check(batch.pulled, batch.batches, (0,) * len(batch.batches))


SEVERAL = [
    (case, dtype, which)
    for case, dtype in BOTH
    if len(case.rule.arrays) > 1 or case.rule.variadic
    for which in range(len(split_call(case.arguments(dtype)[0], case.rule)[0]))
]


@pytest.mark.parametrize(("case", "dtype", "which"), SEVERAL, ids=named)
def test_vmap_over_one_argument_gives_what_a_loop_gives(
    case: Case, dtype: np.dtype[Any], which: int
) -> None:
    batch = Batch(case, dtype)
    arrays = list(batch.arrays)
    arrays[which] = batch.batches[which]
    axes = tuple(0 if i == which else None for i in range(len(arrays)))
    check(batch.call, arrays, axes)
    check(batch.pulled, arrays, axes)


@pytest.mark.parametrize(("case", "dtype"), BOTH, ids=named)
def test_gradient_of_vmap_is_the_sum_of_the_gradients(case: Case, dtype: np.dtype[Any]) -> None:
    batch = Batch(case, dtype)

    def outputs(*arrays: Any) -> list[Any]:
        return gw.vmap(batch.call, fallback="error")(*arrays)

    _, pull = gw.vjp(outputs, *batch.batches)
    gradients = pull([np.stack([c] * SIZE) for c in batch.cotangents])
    for i in range(SIZE):
        alone = batch.pulled(*(a[i] for a in batch.batches))
        for gradient, wanted in zip(gradients, alone, strict=True):
            np.testing.assert_allclose(gradient[i], wanted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("case", "dtype"), BOTH, ids=named)
def test_vmap_of_jvp_gives_what_a_loop_gives(case: Case, dtype: np.dtype[Any]) -> None:
    batch = Batch(case, dtype)

    def pushed(*arrays: Any) -> list[Any]:
        return gw.jvp(batch.call, arrays, batch.arrays)[1]

    check(pushed, batch.batches, (0,) * len(batch.batches))
