"""Loops of loops, loops that write to arrays in place, and what they read of them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.ir.evaluate import evaluated, perform
from gradwrap.compiler.ir.program import (
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    given,
    used,
)
from gradwrap.compiler.passes import forwarding as accesses
from gradwrap.compiler.rolling.fission import Write, ordered
from gradwrap.compiler.rolling.nested import as_loop, as_operation
from gradwrap.compiler.rolling.segments import NO_OPERATION, Idx
from rolled import compiled_to, loops, names, steps
from sampling import LONG

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(3)
X = RNG.uniform(0.5, 1.0, 30)
M = RNG.standard_normal((14, 14)) + 14 * np.eye(14)
HAS_COMPILER = any(map(shutil.which, ("gcc", "clang", "cc")))


def sweeps(b: Any) -> Any:
    """Gauss-Seidel sweeps, element by element."""
    u = gnp.zeros(16)
    for _ in range(12):
        for i in range(1, 15):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + b[i])
    return np.sum(u * u)


def products(a: Any, b: Any) -> Any:
    """A product of matrices by three loops."""
    c = gnp.zeros((12, 12))
    for i in range(12):
        for j in range(12):
            s = 0.0
            for k in range(12):
                s = s + a[i, k] * b[k, j]
            c[i, j] = s
    return np.sum(c * c)


def particles(x: Any, v: Any) -> Any:
    """Steps in time, in each of which all particles move."""
    x, v = x * 1.0, v * 1.0
    for _ in range(14):
        for i in range(10):
            v[i] = v[i] - 0.1 * np.sin(x[i])
            x[i] = x[i] + 0.1 * v[i]
    return np.sum(x * v)


def elimination(a: Any) -> Any:
    """LU by rows: what is left gets smaller."""
    a = a * 1.0
    for k in range(14):
        for i in range(k + 1, 14):
            a[i, k] = a[i, k] / a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(np.log(np.abs(np.diagonal(a))))


def inside(loop: Loop) -> list[Loop]:
    """The loops in a loop."""
    return [step for step in loop.body if isinstance(step, Loop)]


def shapes_in_loops(program: Program) -> set[tuple[int, ...]]:
    """The shapes of what the steps of loops give."""
    outs = [out for loop in loops(program) for step in loop.body for out in given(step)]
    return {program.values[out].shape for out in outs}


def test_sweeps_over_an_array_are_a_loop_of_loops() -> None:
    program = compiled_to(gw.grad(sweeps), X[:16])
    outer = [loop for loop in loops(program) if inside(loop)]
    assert len(outer) == 2  # forward and backward
    assert all(inner.turns in (12, 13, 14) for loop in outer for inner in inside(loop))
    assert len(steps(program)) < 80
    assert "    for k2, " in source_of(gw.grad(sweeps), X[:16])


def source_of(function: Callable[..., Any], *args: Any) -> str:
    compiled: Any = gw.compile(function)
    compiled(*args)
    return str(compiled.source)


def test_a_loop_may_have_loops_of_loops() -> None:
    def f(x: Any) -> Any:
        s, found = x[0], []
        for i in range(9):
            for _ in range(9):
                for k in range(9):
                    s = np.sin(s) * x[k] + 0.3
                s = s + 0.1 * i
            found.append(s)
        return found

    program = compiled_to(f, X[:9])
    depths = [inner for loop in loops(program) for one in inside(loop) for inner in inside(one)]
    assert depths
    assert len(steps(program)) < 40


def test_loops_that_do_not_depend_on_each_other_run_side_by_side() -> None:
    def f(m: Any) -> Any:
        s = 0.0
        for i in range(14):
            t = m[i, 0]
            for j in range(1, 14):
                t = np.sin(t) * m[i, j]
            s = s + t
        return s

    program = compiled_to(gw.grad(f), M * 0.1)
    assert len(steps(program)) < 80
    assert (14,) in shapes_in_loops(program)
    assert not any(inside(loop) for loop in loops(program) if loop.turns > 12)


def test_a_loop_that_is_the_same_in_all_turns_is_performed_once() -> None:
    def f(x: Any, m: Any) -> Any:
        found = []
        for i in range(12):
            t = x[0]
            for j in range(10):
                t = np.cos(t) + x[j]
            found.append(t * m[i, 0])
        return found

    program = compiled_to(f, X[:10], M)
    assert [inside(loop) for loop in loops(program)] == [[]]


@pytest.mark.slow
def test_three_loops_of_a_product_are_no_loop_any_more() -> None:
    program = compiled_to(gw.grad(products, (0, 1)), M[:12, :12], M[2:, 2:])
    assert loops(program) == []
    assert len(steps(program)) < 80


def test_numbers_of_the_outer_loop_may_stand_in_the_inner_one() -> None:
    def f(x: Any) -> Any:
        s, found = x[0], []
        for i in range(12):
            for j in range(9):
                s = np.tanh(s * (0.1 * i + 0.5)) + x[j] * (i + 1)
            s = s - 0.01 * i
            found.append(s)
        return found

    for x in (X[:9], X[:9].astype(np.float32)):
        program = compiled_to(f, x)
        assert any(inside(loop) for loop in loops(program))


def test_values_of_the_step_before_are_vectors() -> None:
    x = RNG.standard_normal(10)
    program = compiled_to(gw.grad(particles, (0, 1)), x, x[::-1].copy())
    assert len(steps(program)) < 300
    assert not shapes_in_loops(program).isdisjoint({(8,), (9,), (10,)})


@pytest.mark.parametrize("distance", [2, 3, 5, 7])
def test_values_of_several_turns_before_are_carried(distance: int) -> None:
    def f(x: Any) -> Any:
        y = list(x[:distance])
        for i in range(distance, 30):
            y.append(np.sin(y[-distance]) * y[-1] + x[i])
        return y[-1] * y[-2]

    program = compiled_to(gw.grad(f), X)
    assert loops(program)


def test_parts_that_other_turns_leave_alone_are_read_of_one_version() -> None:
    def forward(a: Any) -> Any:
        return elimination(a)

    program = compiled_to(forward, M)
    assert loops(program) == []
    long = [step for step in steps(program) if isinstance(step, Instr) and step.name == "setitem"]
    assert len(long) < 2 * 14 + 2 * 8 * 7
    notes = " ".join(program.notes)
    assert "loop: 8 to 13 turns" in notes
    assert "loops of ever more or fewer turns" in notes
    compiled_to(gw.grad(elimination), M)


def test_writes_to_very_large_arrays_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accesses, "LARGEST", 10)
    program = compiled_to(gw.grad(elimination), M)
    assert loops(program)


def test_reads_in_any_order_see_what_was_written_before() -> None:
    order = [int(i) for i in RNG.permutation(12)]

    def f(x: Any, m: Any) -> Any:
        m = m * 1.0
        for i in order:
            m[i, 2:6] = m[i, 2:6] * x[i] + m[order[i], 1:5]
            m[order[i]] += 0.1 * m[i]
            m[2:4, i] -= m[i, 2:4]
        return np.sum(m * m)

    compiled: Any = gw.compile(gw.grad(f, (0, 1)))
    args = (X[:12], M[:12, :12] * 0.1)
    compiled(*args)
    for wanted, found in zip(gw.grad(f, (0, 1))(*args), compiled(*args), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_branches_do_not_see_what_others_write() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y[1] = y[0] * 2.0
        if x[0] > 0:
            y[2:4] = y[1:3] * 3.0
        else:
            y[1:3] = y[2:4] * 5.0
        return np.sum(y[1:4] * y[:3])

    compiled: Any = gw.compile(gw.grad(f))
    for x in (X[:5], -X[:5], X[:5], -X[:5]):
        np.testing.assert_array_equal(compiled(x), gw.grad(f)(x))


def test_elements_that_are_written_again_are_written_once() -> None:
    def f(x: Any) -> Any:
        y = gnp.zeros(4)
        y[0] = x[0]
        y[0] = y[0] * x[1]
        y[1] += x[2]
        y[1] = x[3]
        y[0] = y[0] + y[1]
        return y

    compiled: Any = gw.compile(f)
    np.testing.assert_array_equal(compiled(X[:5]), f(X[:5]))
    np.testing.assert_array_equal(compiled(X[5:10]), f(X[5:10]))
    assert names(compiled.programs[0]).count("setitem") == 2
    assert "scatter_add" not in names(compiled.programs[0])


def test_elements_that_are_read_in_between_stay_written() -> None:
    def f(x: Any) -> Any:
        y = gnp.zeros(4)
        y[0] = x[0]
        whole = y * 1.0
        y[0] = x[1]
        part = y[:2] + 0.0
        y[0] = x[2]
        return whole, part, y

    compiled: Any = gw.compile(f)
    for x in (X[:5], X[5:10]):
        compiled(x)
        for wanted, found in zip(f(x), compiled(x), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_writes_of_a_turn_are_performed_in_an_order_for_all_turns() -> None:
    def f(x: Any, y: Any) -> Any:
        z = gnp.zeros(40)
        for i in range(20):
            z[i + 5] += x[i]
            z[i] = y[i]
        for i in range(20):
            z[i + 2] = x[i] * y[i]
            z[i] += y[i]
        return z

    x, y = RNG.standard_normal(20), RNG.standard_normal(20)
    assert loops(compiled_to(f, x, y)) == []


def write(name: str, *places: Any) -> Write:
    """A write of ten turns; places that vary are ranges."""
    parts = [Idx(tuple(part)) if isinstance(part, range) else part for part in places]
    return Write(replace(NO_OPERATION, name=name), parts, None)


def test_writes_that_meet_in_both_orders_stay_in_turns() -> None:
    up, down, later = range(10), range(9, -1, -1), range(3, 13)
    assert ordered([write("setitem", up), write("scatter_add", down)]) is None
    assert ordered([write("setitem", up), write("scatter_add", 4)]) is None
    both = [write("setitem", up), write("scatter_add", later)]
    assert ordered(both) == both[::-1]  # an element is added to before it is set
    assert ordered(both[::-1]) == both[::-1]
    apart = [write("setitem", up, 3), write("scatter_add", down, slice(4, None))]
    assert ordered(apart) == apart
    beside = [write("setitem", up), write("scatter_add", 12)]
    assert ordered(beside) == beside


def test_what_is_carried_on_is_not_written_over_in_the_next_turn() -> None:
    def f(x: Any, h: Any) -> Any:
        found = []
        for i in range(14):
            g = h * 0.5
            found.append(g[1] * x[i])
            h = g + np.sum(h * h) * 0.1
            h[2] += found[-1]
        return found

    compiled_to(gw.grad(lambda x, h: np.sum(gnp.stack(f(x, h))), (0, 1)), X[:14], X[:3])
    compiled_to(f, X[:14], X[:3])


def test_what_a_loop_gives_last_is_not_what_it_carries_on() -> None:
    def f(y: Any, m: Any) -> Any:
        q = gnp.zeros((21, 3))
        for i in range(18):
            q[1:-1] += 0.1 * (q[2:] - q[:-2])
            q[0] = y * m[i]
        return np.sum(q[1])

    compiled_to(gw.grad(f, (0, 1)), RNG.standard_normal(3), RNG.standard_normal((18, 3)))


def test_what_an_inner_loop_gives_last_is_kept_of_all_turns() -> None:
    def f(x: Any, h: Any) -> Any:
        found = []
        for i in range(12):
            for j in range(10):
                h = np.tanh(h * x[j] + 0.1)
            found.append(h * x[i])
        return found

    compiled_to(f, X[:12], RNG.standard_normal(3))


def test_a_number_that_is_broadcast_is_no_buffer() -> None:
    def f(x: Any, m: Any) -> Any:
        s = 0.0
        for i in range(12):
            s = s + np.sum(np.sum(m[i, :1] * x[i]) * m[i, :1]) / x[0]
        return s

    compiled_to(gw.grad(f, (0, 1)), X[:12], M[:12])


def numbers_like(value: Value) -> Any:
    return RNG.normal(size=value.shape) if value.shape else np.float64(RNG.normal())


def test_a_loop_and_its_function_are_one_and_the_same() -> None:
    compiled: Any = gw.compile(sweeps)
    compiled(X[:16])
    program: Program = compiled.programs[0]
    for loop in loops(program):
        nested, args = as_operation(loop, program.values)
        assert as_loop(nested, args, dict(enumerate(loop.outs))) == loop
        known = {i: constant.array for i, constant in program.constants.items()}
        known |= {i: numbers_like(program.values[i]) for i in {*used(loop)} - known.keys()}
        found = nested(*(known[arg.index] if type(arg) is Ref else arg for arg in args))
        perform([loop], known)
        for a, out in zip(found, loop.outs, strict=True):
            np.testing.assert_array_equal(a, known[out])
    assert evaluated(program, (X[:16],))[0] == pytest.approx(sweeps(X[:16]), rel=1e-13)


@pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler here")
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (sweeps, (X[:16],)),
        pytest.param(products, (M[:12, :12], M[2:, 2:]), marks=LONG),
        pytest.param(particles, (X[:10], X[10:20]), marks=pytest.mark.slow),
        pytest.param(elimination, (M,), marks=pytest.mark.slow),
    ],
    ids=["sweeps", "products", "particles", "elimination"],
)
def test_loops_of_loops_in_c(
    function: Any, args: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CACHE_DIR", str(tmp_path))
    gradient = gw.grad(function, tuple(range(len(args))))
    compiled: Any = gw.compile(gradient, engine="c")
    compiled(*args)
    other = tuple(a * 0.95 for a in args)
    for wanted, found in zip(gradient(*other), compiled(*other), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12 * np.max(np.abs(wanted)))
    assert "kernel0" in compiled.source
    twice: Any = gw.compile(gradient, engine="c")
    twice(*args)
    assert twice.source == compiled.source  # so that its library is found on disk


@pytest.mark.peers
def test_loops_of_loops_in_jax() -> None:
    jax: Any = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    try:
        jax.config.update("jax_enable_x64", True)
        compiled: Any = gw.compile(gw.grad(sweeps), engine="jax")
        compiled(X[:16])
        np.testing.assert_allclose(compiled(X[:16] * 0.9), gw.grad(sweeps)(X[:16] * 0.9))
    finally:
        jax.config.update("jax_enable_x64", before)
