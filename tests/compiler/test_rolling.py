"""Loops of the trace are found again: what becomes of them, and that the results are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.engines.numpy import tangents
from gradwrap.compiler.ir import runtime
from gradwrap.compiler.ir.evaluate import evaluated
from gradwrap.compiler.ir.program import Block, Loop, Program, Ref, Result, Value
from gradwrap.compiler.ir.verify import verify
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.core.values.tree import flatten
from rolled import Turns, compiled_to, loops, names, names_in, steps

RNG = np.random.default_rng(1)
X = RNG.uniform(0.5, 1.0, 30)


def test_a_recurrence_becomes_a_loop_and_the_rest_is_vectorised() -> None:
    def f(x: Any) -> Any:
        s = x[0]
        for i in range(1, len(x)):
            s = np.sin(s) * x[i]
        return s

    program = compiled_to(gw.grad(f), X)
    forward, backward = loops(program)
    assert names_in(forward.body) == ["sin", "multiply"]
    assert names_in(backward.body) == ["multiply", "multiply"]
    assert names(program).count("cos") == 2  # of all turns at once, and of the first


def test_what_is_no_recurrence_has_no_loop() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for i in range(len(x) - 1):
            s = s + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
        return s

    for function in (f, gw.grad(f), gw.value_and_grad(f)):
        program = compiled_to(function, X)
        assert loops(program) == []
        assert len(steps(program)) < 60


def test_negative_indices_are_counted_from_the_front() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for i in range(20):
            s = s + np.sin(x[-1 - i]) * x[i - 20]
        return s

    assert loops(compiled_to(gw.grad(f), X[:20])) == []


def test_numbers_that_vary_have_the_dtype_of_their_operation() -> None:
    def f(x: Any) -> Any:
        return [np.sin(x[i]) * (0.1 * i + 0.3) for i in range(20)]

    compiled_to(f, X.astype(np.float32))


def test_turns_may_be_long() -> None:
    """A turn of a solver has hundreds of operations; this one repeats nothing within a turn."""
    which = np.random.default_rng(0).integers(4, size=450).tolist()
    operations: list[Any] = [np.sin, np.cos, lambda s: s + 1.0, lambda s: s * 0.5]

    def f(x: Any) -> Any:
        s = x[0]
        for i in range(10):
            for number in which:
                s = operations[number](s)
            s = s * x[i]
        return s

    (loop,) = loops(compiled_to(f, X))
    assert 400 < len(loop.body) <= 451


def test_a_state_of_vectors_is_kept_in_rows() -> None:
    def f(w: Any, u: Any, b: Any, x: Any) -> Any:
        h = np.zeros(4)
        for t in range(30):
            h = np.tanh(h @ w + x[t] @ u + b)
        return np.sum(h * h)

    args = (RNG.standard_normal((4, 4)), RNG.standard_normal((3, 4)), RNG.standard_normal(4))
    program = compiled_to(gw.grad(f, (0, 1, 2)), *args, RNG.standard_normal((30, 3)))
    assert len(loops(program)) == 2


def test_all_results_of_a_loop_are_handed_out_as_arrays_of_their_own() -> None:
    def f(x: Any, a: Any) -> Any:
        h, found = a, []
        for t in range(20):
            h = np.tanh(h * a + x[t])
            found.append(h)
        return found

    x, a = RNG.standard_normal((20, 5)), RNG.standard_normal(5)
    compiled_to(f, x, a)
    compiled = gw.compile(f)
    found = compiled(x, a)
    found = compiled(x, a)
    found[3][:] = 7.0
    np.testing.assert_allclose(found[4], f(x, a)[4])


def test_an_addend_that_is_broadcast_is_no_stack_of_rows() -> None:
    def f(x: Any, c: Any) -> Any:
        for i in range(20):
            c = x[i] * 0.5 + c
        return c

    compiled_to(f, X[:20], X[:3])


def test_a_running_sum_is_accumulated() -> None:
    def f(x: Any) -> Any:
        s, found = x[0], []
        for i in range(1, 25):
            s = s + np.sin(x[i])
            found.append(s * x[i])
        return found

    assert "add.accumulate" in names(compiled_to(f, X))


def test_an_array_that_is_filled_in_order_is_written_at_once() -> None:
    def f(x: Any) -> Any:
        b = gnp.zeros(30)
        for i in range(30):
            b[i] = np.sin(x[i]) * x[i - 1]
        return np.sum(b * b)

    assert names(compiled_to(gw.grad(f), X)).count("setitem") <= 6


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (1, 1, 3), (3,), (2, 3)])
def test_rows_that_broadcast_to_where_they_are_written(shape: tuple[int, ...]) -> None:
    ones = np.ones(shape)

    def f(x: Any) -> Any:
        table = gnp.zeros((2, 13, 3))
        for i in range(12):
            table[:, i] = np.sin(x[i]) * ones
        return table * x[0]

    program = compiled_to(f, X[:13])
    assert names(program).count("setitem") <= 2  # of the first turn, and of all others


def test_stencils_in_place_are_loops() -> None:
    def f(x: Any) -> Any:
        u = x * 1.0
        for _ in range(12):
            u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return np.sum(u * u)

    assert loops(compiled_to(gw.grad(f), X))


def test_what_a_loop_gives_last_is_not_what_the_next_turn_would_find() -> None:
    def f(m: Any, w: Any) -> Any:
        q = gnp.zeros((19, 3))
        for i in range(16):
            q[1:-1] += 0.1 * (q[2:] - q[:-2])
            q[0] = (m[i] @ w) * m[18 - i, -1]
        for _ in range(16):
            q[1:-1] += 0.1 * (q[2:] - q[:-2])
        return np.sum(q[1])

    args = RNG.standard_normal((19, 3)), RNG.standard_normal((3, 3))
    assert loops(compiled_to(gw.grad(f, (0, 1)), *args))


def test_matrices_are_multiplied_for_all_turns() -> None:
    def f(a: Any, m: Any) -> Any:
        s = 0.0
        for i in range(12):
            s = s + np.sum((a[i] @ m) @ a[i])
        return s

    compiled_to(gw.grad(f, (0, 1)), RNG.standard_normal((12, 3, 3)), RNG.standard_normal((3, 3)))


def test_steps_over_an_axis_and_gathers() -> None:
    order = RNG.permutation(20)

    def f(x: Any, m: Any) -> Any:
        s = 0.0
        for i in range(12):
            s = s + x[2 * i] * m[0, i] + np.sum(m[:, i] * x[int(order[i])])
        return s

    compiled_to(gw.grad(f, (0, 1)), X, RNG.standard_normal((3, 12)))


def test_buffers_of_the_surroundings_that_change_are_read_as_they_were() -> None:
    def f(x: Any) -> Any:
        m, s = np.zeros(20), 0.0
        for i in range(20):
            m[i] = i + 1.0
            s = s + np.sum(x * m)
        return s

    compiled_to(gw.grad(f), X[:20], roll=False)


def test_branches_are_kept_between_loops() -> None:
    def f(x: Any) -> Any:
        s = x[0]
        for i in range(1, 20):
            s = np.sin(s) * x[i]
        if s > 10.0:
            s = s * 2.0
        for i in range(1, 20):
            s = np.cos(s) + x[i]
        return s

    compiled: Any = gw.compile(gw.grad(f))
    compiled(X)
    np.testing.assert_allclose(compiled(X * 0.9), gw.grad(f)(X * 0.9), rtol=1e-12)
    blocks = list(compiled.programs[0].blocks())
    assert len(blocks) == 2
    assert all(any(isinstance(step, Loop) for step in block.body) for block in blocks)


def test_short_loops_and_large_rows_stay_as_they_are() -> None:
    def f(x: Any) -> Any:
        for _ in range(12):
            x = np.sin(x) * 0.5 + np.cos(x)
        return np.sum(x)

    compiled_to(gw.grad(f), RNG.standard_normal(20_000), roll=False)
    compiled_to(lambda x: np.sin(np.sin(x)), X, roll=False)


@pytest.mark.parametrize("shape", [(50_001,), (250, 300)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_long_arrays_are_computed_in_chunks(shape: tuple[int, ...], dtype: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        z = np.where(x > 0, np.exp(-x * x), np.sin(y)) * y
        return np.sum(z * z) + np.sum(z[1:] * z[:-1])

    x, y = (RNG.standard_normal(shape).astype(dtype) for _ in range(2))
    for function in (f, gw.grad(f, (0, 1)), lambda x, y: (np.sin(x) * y + 1, x * y * 2 > 1)):
        compiled: Any = gw.compile(function)
        compiled(x, y)
        assert "chunks of" in compiled.explain()
        found = flatten(compiled(y, x))[0]
        for a, b in zip(flatten(function(y, x))[0], found, strict=True):
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            rtol = 1e-4 if dtype == np.float32 else 1e-12
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-14)


def test_what_is_added_to_slices_of_zeros_is_added_in_chunks() -> None:
    def f(x: Any) -> Any:
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    x = RNG.standard_normal(100_001)
    compiled: Any = gw.compile(gw.grad(f))
    compiled(x)
    np.testing.assert_allclose(compiled(x + 1), gw.grad(f)(x + 1), rtol=1e-12, atol=1e-9)
    assert "+= " in compiled.source
    assert "chunks of" in compiled.explain()


def test_sines_and_cosines_by_tangents_are_exact_to_four_units() -> None:
    spread = np.concatenate([RNG.uniform(-s, s, 10_000) for s in (1e-8, 1.0, 4.0, 100.0, 1e6)])
    near = np.pi / 2 * np.arange(-4, 5)[:, None] + RNG.uniform(-1e-6, 1e-6, 1000)
    x = np.concatenate([spread, near.ravel()])
    sines = runtime.sine(x, np.empty_like(x))
    for found, wanted in (
        (sines, np.sin(x)),
        (runtime.cosine(x, sines, np.empty_like(x)), np.cos(x)),
    ):
        assert np.max(np.abs(found - wanted) / np.spacing(np.abs(wanted))) <= 4


def test_sines_and_cosines_by_tangents_are_no_larger_than_one() -> None:
    """So `sqrt(1 - cos(x)**2)` is a number."""
    away = np.array([1.0, -1.0]) * 10.0 ** RNG.uniform(-17, -2, (5_000, 1))
    x = (np.pi / 2 * np.arange(-9, 10)[:, None, None] + away).ravel()
    sines = runtime.sine(x, np.empty_like(x))
    assert np.abs(sines).max() == 1.0
    assert np.abs(runtime.cosine(x, sines, np.empty_like(x))).max() == 1.0


def test_sines_and_cosines_by_tangents_at_zero_and_of_what_is_no_number() -> None:
    x = np.array([0.0, -0.0, 5e-324, 1.5e-323, 1e-310, np.nan, 1.0])
    with np.errstate(divide="raise", invalid="raise"):
        sines = runtime.sine(x, np.empty(7))
        cosines = runtime.cosine(x, sines, np.empty(7))
    np.testing.assert_allclose(sines, np.sin(x), rtol=1e-15, atol=5e-324)
    assert np.array_equal(np.signbit(sines), np.signbit(x))
    np.testing.assert_allclose(cosines, np.cos(x), rtol=1e-15)
    infinite = np.array([np.inf, -np.inf])
    with np.errstate(invalid="ignore"):
        sines = runtime.sine(infinite, np.empty(2))
        assert np.isnan(sines).all()
        assert np.isnan(runtime.cosine(infinite, sines, np.empty(2))).all()


@pytest.mark.parametrize("quick", [True, False])
def test_chunks_share_sines_and_cosines(
    quick: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.sin(x) * y + np.cos(y) * np.sin(x) * np.exp(-x))

    monkeypatch.setattr(tangents, "QUICK", quick)
    x, y = RNG.standard_normal(200_000), RNG.standard_normal(200_000)
    x[7] = 0.0
    gradient = gw.grad(f, (0, 1))
    compiled: Any = gw.compile(gradient)
    compiled(x, y)
    for wanted, found in zip(gradient(y, x), compiled(y, x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)
    assert ("= cosine(" in compiled.source) == quick
    assert ("= sine(" in compiled.source) == quick
    compiled.save(tmp_path / "saved.py")
    scope: dict[str, Any] = {"__file__": str(tmp_path / "saved.py")}
    exec((tmp_path / "saved.py").read_text(), scope)  # noqa: S102  written here
    for wanted, found in zip(gradient(x, y), scope["compiled"](x, y), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)
    single: Any = gw.compile(gradient)
    single(x.astype(np.float32), y.astype(np.float32))
    assert "= cosine(" not in single.source  # those of float32 are quick


def test_short_groups_of_small_arrays_are_not_cut() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.tanh(x) @ y.T)

    x = RNG.standard_normal((300, 200))
    compiled: Any = gw.compile(gw.grad(f, (0, 1)))
    compiled(x, x)
    assert "chunks of" not in compiled.explain()
    for wanted, found in zip(gw.grad(f, (0, 1))(x + 1, x), compiled(x + 1, x), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_products_with_arrays_of_one_number_stay_products() -> None:
    def f(x: Any) -> Any:
        return gnp.ones((3, 3)) @ x + x @ gnp.broadcast_to(x[0], (3, 3))

    compiled: Any = gw.compile(f)
    x = RNG.standard_normal((3, 3))
    np.testing.assert_array_equal(compiled(x), f(x))
    np.testing.assert_array_equal(compiled(x + 1), f(x + 1))


def test_what_is_broadcast_to_an_operand_is_read_as_it_is() -> None:
    def f(x: Any) -> Any:
        return x * gnp.broadcast_to(np.sum(x, axis=1, keepdims=True), x.shape)

    compiled: Any = gw.compile(f)
    x = RNG.standard_normal((4, 5))
    np.testing.assert_array_equal(compiled(x), f(x))
    np.testing.assert_array_equal(compiled(x + 1), f(x + 1))
    assert "broadcast_to" not in compiled.source


@pytest.mark.peers
def test_jax_runs_the_programs_under_jit() -> None:
    jax: Any = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64

    def f(x: Any) -> Any:
        s = x[0]
        for i in range(1, 30):
            s = np.sin(s) * x[i] + 0.1
        return s

    try:
        jax.config.update("jax_enable_x64", True)
        compiled: Any = gw.compile(gw.grad(f), engine="jax")
        compiled(X)
        np.testing.assert_allclose(compiled(X * 0.9), gw.grad(f)(X * 0.9), rtol=1e-12)
        assert "scan of" in compiled.source
        jax.config.update("jax_enable_x64", False)
        single: Any = gw.compile(gw.grad(f), engine="jax")
        with pytest.warns(gw.errors.CompileWarning, match="jax_enable_x64"):
            single(X)
        assert "import numpy" in single.source
    finally:
        jax.config.update("jax_enable_x64", before)


def test_what_no_output_of_a_loop_needs_leaves_its_body() -> None:
    number = Value((), np.dtype("f8"), is_ndarray=False)
    values = [Value((9,), np.dtype("f8"), is_ndarray=True), number, *[number] * 3]
    turns = Turns(values, 9)
    state, unseen, seen = turns.carry(Ref(1), number), turns.carry(0.0, number), turns.read(0)
    inner = Turns(values, 5)  # gives two values, of which one is needed
    first = inner.carry(state, number)
    sine = inner.add(np.sin, (first,), number)
    inner.hand_on(sine)
    square = inner.add(np.square, (sine,), number)
    turns.loop.body.append(inner.give({}, {sine: 2, square: 3}))
    total = turns.add(np.add, (unseen, seen), number)  # read by itself alone
    turns.hand_on(Ref(2), total)
    loop = turns.give({}, {Ref(2): 4})
    block = Block([loop], result=Result((Ref(4),), flatten((0,))[1]))
    program = Program(values, (0, 1), ("x", "s"), {}, block)
    arguments = [RNG.normal(size=9), np.float64(0.5)]
    before = evaluated(program, arguments)
    remove_dead(program)
    verify(program, "the test", arguments)
    (left,) = loops(program)
    (inner_left,) = (step for step in left.body if isinstance(step, Loop))
    assert [carry.value for carry in left.carries] == [state.index]
    assert (left.reads, len(left.body)) == ({}, 1)
    assert (names_in(inner_left.body), inner_left.finals) == (["sin"], {sine.index: 2})
    assert evaluated(program, arguments) == before
    assert before[0] == pytest.approx(np.asarray(nested_sine(0.5, 45)), abs=1e-15)


def nested_sine(x: float, times: int) -> float:
    for _ in range(times):
        x = float(np.sin(x))
    return x
