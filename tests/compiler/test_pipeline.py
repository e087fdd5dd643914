"""The passes are the same for every engine and size, and they run in the bodies of loops."""

from __future__ import annotations

import warnings
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.engines.c.library import compiler
from gradwrap.compiler.engines.register import Unsupported
from gradwrap.compiler.ir.program import Instr, Loop, Program, bodies_of
from gradwrap.compiler.pipeline import FIND_LOOPS, LEFT, PASSES

SIZES = (3, 100, 200_000)


def test_passes_stand_behind_those_that_they_need() -> None:
    names = [one.name for one in PASSES]
    assert len(names) == len({*names})
    for number, one in enumerate(PASSES):
        assert {*one.needs} <= {*names[:number]}
    search = names.index(FIND_LOOPS)
    assert all(one.keeps_periods for one in PASSES[:search])
    assert not any(one.keeps_periods for one in PASSES[search:])
    assert [one.name for one in PASSES if not one.keeps_bits] == [
        *(
            "choose numbers",
            "stack windows",
            FIND_LOOPS,
            "write wholes",
            "join growing products",
            "join matrices",
        ),
        *(
            "work by blocks",
            "join gathers",
            "keep what is added back",
            "multiply by reciprocals",
            "merge multiples",
            "scale less",
        ),
    ]


def _engines() -> list[str]:
    found = ["numpy"]
    try:
        compiler()
        found.append("c")
    except Unsupported:
        pass
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        found.append("jax")
    except ImportError:
        pass
    return found


def _program(function: Any, *args: Any, engine: str = "numpy") -> Program:
    compiled: Any = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = function(*args)
        np.testing.assert_allclose(compiled(*args), wanted, rtol=1e-14)
        np.testing.assert_allclose(compiled(*args), wanted, rtol=1e-14, atol=1e-15)
    program: Program = compiled.programs[0]
    return program


def _operations(program: Program) -> Counter[str]:
    return Counter(
        step.name for body in program.bodies() for step in body if isinstance(step, Instr)
    )


def _multiples(x: Any, y: Any) -> Any:
    return (0.5 * x * y + 0.5 * (x * y)) * 2


def _logistic(x: Any, y: Any) -> Any:
    d = 1.0 + np.exp(-x)
    return 1.0 / d + y / d + (-x) / d


EXPECTED = {
    _multiples: {"multiply": 3},  # 0.5 * x, its product with y, and 4 times that
    _logistic: {"negative": 1, "exp": 1, "add": 3, "divide": 1, "multiply": 2},
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", EXPECTED)
def test_algebra_is_the_same_for_every_engine_and_size(function: Any, size: int) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, size))
    for engine in _engines():
        program = _program(function, x, y, engine=engine)
        assert _operations(program) == EXPECTED[function]
        assert not program.exact


def test_simplified_programs_are_what_the_numpy_engine_runs() -> None:
    for size in SIZES:
        compiled: Any = gw.compile(_multiples)
        x, y = np.ones((2, size))
        compiled(x, y)
        text = compiled.source
        assert text.count(" * ") + text.count("multiply(") == 3
        assert text.count(" + ") == text.count("i + ")  # those of chunks


def _recurrence(x: Any) -> Any:
    h = x[0]
    for i in range(1, 41):
        h = np.sin(h * 1.0 + (-x[i]))
    return h


@pytest.mark.skipif("c" not in _engines(), reason="a C compiler")
@pytest.mark.parametrize(("turns", "holds_most"), [(10, False), (40, True)])
def test_loops_that_hold_little_are_left_to_an_engine_that_finds_repetition(
    turns: int, holds_most: bool
) -> None:
    def eliminated(x: Any) -> Any:
        h, rows = x[0], x.copy()
        for i in range(turns):
            h = np.sin(h * 1.1 + x[i])
        for i in range(9):  # slices of another length in each turn are not rolled
            rows[i + 1 :] = rows[i + 1 :] - rows[i] * np.cos(rows[i + 1 :])
        return rows * h

    x = np.linspace(0.1, 1.0, 40)
    for engine in ("numpy", "c"):
        program = _program(eliminated, x, engine=engine)
        has_loops = any(isinstance(step, Loop) for step in program.root.body)
        assert has_loops == (holds_most or engine == "numpy")
        assert (LEFT in program.notes) == (not has_loops)


@pytest.mark.parametrize("shape", [(41,), (41, 3)])
def test_steps_that_change_nothing_vanish_from_loops(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    for engine in _engines():
        compiled: Any = gw.compile(_recurrence, engine=engine)
        compiled(x)
        program: Program = compiled.programs[0]
        (loop,) = (step for step in program.root.body if isinstance(step, Loop))
        assert [step.name for step in loop.body if isinstance(step, Instr)] == ["subtract", "sin"]
        assert _operations(program)["negative"] == 0
        np.testing.assert_allclose(compiled(x), _recurrence(x), rtol=1e-14)


def _negation_of_a_product(x: Any) -> Any:
    h = x[0]
    for i in range(1, 41):
        h = np.sin(h + -(0.3 * x[i]))
    return h


@pytest.mark.parametrize("shape", [(41,), (41, 3)])
def test_a_loop_absorbs_the_sign_of_a_product_that_it_reads(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    x = np.random.default_rng(0).normal(size=shape)
    compiled: Any = gw.compile(_negation_of_a_product)
    np.testing.assert_allclose(compiled(x), _negation_of_a_product(x), rtol=1e-14)
    program: Program = compiled.programs[0]
    assert _operations(program)["negative"] == 0
    (loop,) = (step for step in program.root.body if isinstance(step, Loop))
    assert [step.name for step in loop.body if isinstance(step, Instr)] == ["subtract", "sin"]


def _in_the_loop(x: Any) -> Any:
    h = x
    for _ in range(40):
        d = 1.0 + np.exp(h)
        h = 0.5 * h * x + 0.5 * (h * x) - (-1.0 / d) * (h / d) / 1.0
    return h


def test_products_are_merged_in_loops() -> None:
    x = np.linspace(0.1, 0.9, 7)
    compiled: Any = gw.compile(_in_the_loop)
    compiled(x)
    program: Program = compiled.programs[0]
    (loop,) = (step for step in program.root.body if isinstance(step, Loop))
    counted = Counter(step.name for step in loop.body if isinstance(step, Instr))
    assert counted["divide"] == 2
    np.testing.assert_allclose(compiled(x), _in_the_loop(x), rtol=1e-13)


def _shared_with_the_outside(x: Any) -> Any:
    s, h = np.sin(x), x * 0.5
    for _ in range(40):
        h = np.sin(x) * h * 0.5 + np.cos(x)
    return s + h + np.cos(x)


def test_steps_in_loops_use_what_is_known_outside() -> None:
    x = np.linspace(0.1, 0.9, 7)
    compiled: Any = gw.compile(_shared_with_the_outside)
    compiled(x)
    counted = _operations(compiled.programs[0])
    assert (counted["sin"], counted["cos"]) == (1, 1)
    np.testing.assert_allclose(compiled(x), _shared_with_the_outside(x), rtol=1e-14)


def _known_in_one_branch(x: Any) -> Any:
    d = 1.0 + x * x
    if x[0] > 0:
        return 1.0 / d + x / d
    return x / d


def test_what_one_branch_knows_another_does_not() -> None:
    x = np.linspace(0.5, 1.0, 5)
    compiled: Any = gw.compile(_known_in_one_branch)
    for argument in (x, -x, x, -x):
        np.testing.assert_allclose(compiled(argument), _known_in_one_branch(argument), rtol=1e-14)
    root = compiled.programs[0].root
    divisions = {
        found: sum(
            getattr(step, "name", "") == "divide" for body in bodies_of(block.body) for step in body
        )
        for found, block in root.branches.items()
    }
    assert divisions == {True: 1, False: 1}


def test_a_program_stays_exact_if_no_pass_changes_its_rounding() -> None:
    compiled: Any = gw.compile(lambda x: np.sin(-x) * 3.0 - (-x) / 7.0)
    compiled(np.linspace(0.0, 1.0, 5))
    assert compiled.programs[0].exact


def test_what_a_later_branch_returns_is_kept() -> None:
    def f(x: Any) -> Any:
        y = (x * 0.25) * 4.0
        if x[0] > 0:
            x = y + 1.0
        while x[1] > 8.0:
            x = x * 0.5
        return y, x * y

    compiled: Any = gw.compile(f)
    for argument in (np.array([1.0, 20.0]), np.array([-1.0, 3.0]), np.array([1.0, 2.0])):
        for _ in range(2):
            for found, wanted in zip(compiled(argument), f(argument), strict=True):
                np.testing.assert_array_equal(found, wanted)


def _cubes(x: Any, shift: Any, axis: Any) -> Any:
    return np.sum(np.roll(x, shift, axis) ** 3 * x)


@pytest.mark.parametrize(
    ("shift", "axis", "is_joined"),
    [
        *((1, 0, True), (-2, -1, True), ((1, -1), (0, 1), True), (3, 0, True)),
        *((7, 0, False), (0, 0, False), (1, None, False)),
    ],
)
def test_rolls_are_joins(shift: Any, axis: Any, is_joined: bool) -> None:
    a = np.arange(20.0).reshape(4, 5)
    for given in (a, np.asfortranarray(a)):
        program = _program(gw.grad(partial(_cubes, shift=shift, axis=axis)), given)
        steps = [step for body in program.bodies() for step in body if isinstance(step, Instr)]
        assert ("roll" not in {step.name for step in steps}) == (is_joined and given is a)
