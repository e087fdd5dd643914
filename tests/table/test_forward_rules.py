"""Forward mode of every row of the table, and every pairing of the modes, by the harness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from harness import COMPLEX, REAL, Case, cases, direction, function_of, real_inner, split_call

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = cases()
BOTH: list[tuple[Case, np.dtype[Any]]]
BOTH = [(case, REAL) for case in CASES if not case.rule.only_complex]
BOTH += [(case, COMPLEX) for case in CASES if not case.rule.only_real]
SECOND = [(case, dtype) for case, dtype in BOTH if case.rule.order is None]


def named(value: Any) -> str:
    return value.id if isinstance(value, Case) else value.name


class Program:
    """A case as a function of its arrays, with directions to differentiate along."""

    def __init__(self, case: Case, dtype: np.dtype[Any]) -> None:
        args, kwargs = case.arguments(dtype)
        self.arrays, statics = split_call(args, case.rule)
        self.call: Callable[..., list[Any]] = function_of(case, np, kwargs, statics)
        random = np.random.default_rng(case.seed)
        self.outputs = self.call(*self.arrays)
        self.u = [direction(random, a) for a in self.arrays]
        self.w = [direction(random, a) for a in self.arrays]
        self.v = [direction(random, np.asarray(part)) for part in self.outputs]

    def cotangents(self) -> list[Any]:
        return [np.asarray(c)[()] if not np.shape(c) else c for c in self.v]

    def scalar(self, *arrays: Any) -> Any:
        """The inner product of the outputs with `v`, a real function of the arrays."""
        total: Any = 0.0
        for cotangent, part in zip(self.v, self.call(*arrays), strict=True):
            xp = part.__array_namespace__()
            product = xp.sum(part * np.conj(cotangent))
            total = total + (xp.real(product) if cotangent.dtype.kind == "c" else product)
        return total


def close(found: float, wanted: float, tolerance: float) -> bool:
    return abs(found - wanted) <= tolerance * max(1.0, abs(found), abs(wanted))


@pytest.mark.parametrize(("case", "dtype"), BOTH, ids=named)
def test_jvp_is_the_transpose_of_the_vjp(case: Case, dtype: np.dtype[Any]) -> None:
    """The VJP is the numerical one by test_rules, so this makes the JVP the numerical one too."""
    program = Program(case, dtype)
    out, pushed = gw.jvp(program.call, program.arrays, program.u)
    _, pull = gw.vjp(program.call, *program.arrays)

    for found, wanted, tangent in zip(out, program.outputs, pushed, strict=True):
        np.testing.assert_array_equal(found, wanted)
        assert tangent.dtype == wanted.dtype
        assert tangent.shape == wanted.shape
    across = real_inner(program.v, pushed)
    back = real_inner(pull(program.cotangents()), program.u)
    assert close(across, back, 1e-10)


@pytest.mark.parametrize(("case", "dtype"), SECOND, ids=named)
def test_second_order_is_the_same_by_every_pairing_of_modes(
    case: Case, dtype: np.dtype[Any]
) -> None:
    """Reverse over reverse is the numerical one by test_rules; the others are to agree with it."""
    program = Program(case, dtype)
    arrays, u, w = program.arrays, program.u, program.w
    every = tuple(range(len(arrays)))
    gradient = gw.grad(program.scalar, every)

    def slope(*values: Any) -> Any:
        return gw.jvp(program.scalar, values, u)[1]

    reverse_over_reverse = real_inner(gw.vjp(gradient, *arrays)[1](tuple(u)), w)
    forward_over_reverse = real_inner(gw.jvp(gradient, arrays, w)[1], u)
    reverse_over_forward = real_inner(gw.grad(slope, every)(*arrays), w)
    forward_over_forward = float(gw.jvp(slope, arrays, w)[1])

    assert close(forward_over_reverse, reverse_over_reverse, 1e-9)
    assert close(reverse_over_forward, reverse_over_reverse, 1e-9)
    assert close(forward_over_forward, reverse_over_reverse, 1e-9)


@pytest.mark.parametrize(("case", "dtype"), BOTH, ids=named)
def test_linearize_gives_what_jvp_gives(case: Case, dtype: np.dtype[Any]) -> None:
    program = Program(case, dtype)
    out, push = gw.linearize(program.call, *program.arrays)
    _, wanted = gw.jvp(program.call, program.arrays, program.u)

    for found, expected in zip(out, program.outputs, strict=True):
        np.testing.assert_array_equal(found, expected)
    for _ in range(2):
        for found, expected in zip(push(*program.u), wanted, strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
