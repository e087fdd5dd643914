"""`strong_zeros` changes nothing where each derivative is finite, whatever is broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from harness import REAL, Case, cases, function_of, split_call

SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (2, 3), (2, 1), (1, 3), (4, 1, 1))
OPERATIONS = {
    case.rule.name: case
    for case in cases()
    if case.rule.kind.is_elementwise and len(case.rule.arrays) > 1 and not case.rule.only_complex
}


def with_zeros(value: Any) -> Any:
    """Cotangents of which every other one is exactly zero."""
    size: int = value.size
    shape: tuple[int, ...] = value.shape
    return (value + 1.5) * (np.arange(size).reshape(shape) % 2)


@pytest.mark.parametrize("case", OPERATIONS.values(), ids=OPERATIONS)
def test_broadcast_arguments_have_the_same_gradients(case: Case) -> None:
    pairs = [f"x{left}, x{right}" for left in SHAPES for right in SHAPES]
    for pattern in case.rule.samples or pairs:
        shown = Case(case.op, case.rule, case.backend, pattern, case.seed)
        args, kwargs = shown.arguments(REAL)
        arrays, statics = split_call(args, case.rule)
        f = function_of(shown, np, kwargs, statics)
        with np.errstate(all="ignore"):
            out, pull = gw.vjp(f, *arrays)
            given = [with_zeros(np.asarray(part))[()] for part in out]
            wanted = pull(given)
            with gw.strong_zeros():
                found = gw.vjp(f, *arrays)[1](given)
                leaves = [gw.wrap(a, requires_grad=True) for a in arrays]
                parts = f(*leaves)
                some = [i for i, part in enumerate(parts) if part.requires_grad]
                gw.autograd.backward([parts[i] for i in some], [given[i] for i in some])
        for one, other, leaf in zip(found, wanted, leaves, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14, err_msg=pattern)
            if leaf.grad is not None:
                np.testing.assert_allclose(leaf.grad, other, rtol=1e-14, err_msg=pattern)


def test_numbers_beside_arrays() -> None:
    values = np.arange(12.0).reshape(4, 3)

    def squares(mean: Any) -> Any:
        return np.sum((values - mean) ** 2)

    with gw.strong_zeros():
        assert gw.grad(squares)(1.0) == -108.0
        assert gw.value_and_grad(squares)(1.0)[1] == -108.0
        np.testing.assert_array_equal(
            gw.grad(lambda b: np.sum(values - b))(np.zeros(3)), [-4.0] * 3
        )
        leaf = gw.wrap(np.ones((1, 1)), requires_grad=True)
        squares(leaf).backward()
    np.testing.assert_array_equal(leaf.grad, [[-108.0]])
