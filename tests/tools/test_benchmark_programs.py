"""The programs of the benchmarks: their gradients, by gradwrap and by hand, are right."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks import first_calls
from benchmarks.checking import check
from benchmarks.peers import Peer, c_engine, first_call, gradwrap, jax, numpy_engine
from benchmarks.programs import IN_PLACE, PROGRAMS, SETS, is_primal
from benchmarks.programs.__main__ import check_numerically
from benchmarks.programs.long import PROGRAMS as LONGER
from benchmarks.programs.long import main as measure_long
from benchmarks.report import compared, put_into

import gradwrap as gw
from sampling import LONG

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable

    from benchmarks.programs.long import Program
    from benchmarks.workloads import Workload


ROOT = Path(__file__).parents[2]
LARGE = ("triangular-240", "lu")
ALL = {program.name: program for programs in SETS.values() for program in programs}.values()


@pytest.mark.parametrize("program", ALL, ids=lambda program: program.name)
def test_gradients_of_a_program_are_those_of_central_differences(program: Workload) -> None:
    args = program.data(np.random.default_rng(1))
    peer = gradwrap()
    found = peer.arrays(peer.prepare(program, args)())
    check_numerically(program, args, found)
    if not is_primal(program):
        check(found, program.by_hand(np, *args))


@pytest.mark.parametrize(
    "program",
    [pytest.param(program, marks=LONG if program.name in LARGE else ()) for program in PROGRAMS],
    ids=lambda program: program.name,
)
def test_a_program_is_compiled(program: Workload) -> None:
    args = program.data(np.random.default_rng(1))
    first = first_call(numpy_engine(), program, args)
    assert first.warnings == []
    eager = gradwrap()
    check(first.gradients, eager.arrays(eager.prepare(program, args)()))


def test_the_check_refuses_a_wrong_gradient() -> None:
    program = next(one for one in PROGRAMS if one.name == "k-means")
    args = program.data(np.random.default_rng(1))
    (right,) = program.by_hand(np, *args)
    with pytest.raises(ValueError, match="gradient 1 has slope"):
        check_numerically(program, args, (right * 1.01,))


@pytest.mark.peers
@pytest.mark.parametrize("program", IN_PLACE, ids=lambda program: program.name)
def test_programs_for_jax_have_the_same_gradients(program: Workload) -> None:
    pytest.importorskip("jax")
    args = program.data(np.random.default_rng(1))
    eager, other = gradwrap(), jax()
    check(
        other.arrays(other.prepare(program, args)()), eager.arrays(eager.prepare(program, args)())
    )


@pytest.mark.peers
@pytest.mark.parametrize("program", LONGER, ids=lambda program: program.name)
def test_long_programs_for_jax_have_the_same_gradients(program: Program) -> None:
    pytest.importorskip("jax")
    workload = program.workload(50)
    args = workload.data(np.random.default_rng(1))
    eager, other = gradwrap(), jax()
    found = eager.arrays(eager.prepare(workload, args)())
    check(other.arrays(other.prepare(workload, args)()), found)


def test_long_programs_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    measure_long(["--cell", "rosenbrock", "60", "c"])
    first, later, _ = json.loads(capsys.readouterr().out)
    assert first > later > 0


@pytest.mark.parametrize("engine", [numpy_engine, c_engine])
def test_first_calls_are_timed_and_compiled(engine: Callable[[], Peer]) -> None:
    program = next(one for one in IN_PLACE if one.name == "recurrent-cell")
    args = program.data(np.random.default_rng(1))
    try:
        first = first_call(engine(), program, args)
    except ImportError as error:
        pytest.skip(str(error))
    eager = gradwrap()
    check(first.gradients, eager.arrays(eager.prepare(program, args)()))
    assert first.warnings == []
    assert first.seconds > 0
    check(eager.arrays(first.run()), first.gradients)


def test_engines_are_compared_where_both_were_measured() -> None:
    times = {"a": {"c": 1.0, "jax": 4.0}, "b": {"c": 1.0, "jax": 0.25}, "d": {"c": 1.0}}
    titles = {"c": "compiled", "jax": "JAX", "torch": "PyTorch"}
    assert compared(times, "c", "jax", titles) == (
        "compiled over JAX: geometric mean 1.00; at least as fast on 1 of 2: a"
    )
    assert compared(times, "c", "torch", titles) == ""


def test_a_workload_that_runs_eagerly_says_so() -> None:
    def leaving(np: Any, x: Any) -> Any:
        return np.sum(x) * x[0].item()

    program = replace(PROGRAMS[0], fun=leaving, argnums=(0,))
    first = first_call(numpy_engine(), program, (np.ones(3),))
    assert "runs eagerly" in first.warnings[0]


def test_tables_are_put_into_a_page(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin: it -->\nold\n<!-- end: it -->\nafter\n")
    head = ["program", "bound", "PyTorch"]
    for _ in range(2):
        put_into(page, "it", head, [["a", "<= 3 met", "2.0 (1.5)"]], ["a machine", "a remark"])
    text = page.read_text()
    assert text.startswith("before\n<!-- begin: it -->\n\nMeasured on ")
    assert "| program | PyTorch |\n| ------- | ------: |\n| a       |     2.0 |" in text
    assert text.endswith("- a remark\n\n<!-- end: it -->\nafter\n")
    with pytest.raises(ValueError, match="lacks the lines"):
        put_into(page, "other", head, [], ["a machine"])


@pytest.mark.parametrize("page", ["docs/benchmarks.md", "docs/compile.md"])
def test_pages_have_places_for_the_tables(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in re.findall(r"<!-- begin: (.*) -->", text):
        assert f"<!-- end: {name} -->" in text
    assert "<!-- begin: benchmarks -->" in text


@pytest.mark.parametrize(("function", "args"), [one[1:] for one in first_calls.programs()])
def test_the_programs_of_first_calls_are_compiled(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    gradient = gw.grad(function)
    compiled = gw.compile(gradient)
    np.testing.assert_allclose(compiled(*args), gradient(*args), rtol=1e-12)
    assert compiled.programs
    assert "runs eagerly" not in compiled.explain()


def test_first_calls_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--only", "tanh", "--one", "numpy", "--calls", "2", str(ROOT)]
    assert first_calls.main(options) == 0
    first, later = json.loads(capsys.readouterr().out)
    assert first > 0
    assert later > 0
