"""The command for a machine with a GPU, on one without: its gradients, its record, its refusal.

The host stands in for the GPU where something is to be measured.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import importlib.util
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import benchmarks
import numpy as np
import pytest
from benchmarks.checking import check
from benchmarks.gpu import __main__ as command
from benchmarks.gpu.candidates import CANDIDATES, by_hand, compiled, gradwrap, jax, torch
from benchmarks.gpu.cases import CASES, Case
from benchmarks.gpu.devices import NoGpuError, gpu, host, pool_peak
from benchmarks.gpu.graphs import capture
from benchmarks.gpu.measuring import Measured, Peak, Times, measure
from benchmarks.gpu.programs import PROGRAMS, run_program
from benchmarks.gpu.record import HERE, NOT_WANTED, Record, insert, misses, section
from benchmarks.gpu.testing import ROOT, Outcome, Swept, count, on_gpu, run_tests, sweep_kernels
from benchmarks.timing import Effort

from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = ROOT / "docs" / "gpu.md"
GPU = "gpu"  # so that this file is not taken for one with tests for a GPU
BRIEF = Effort(rounds=2, seconds=0.1, least=1)
NAMES = [case.workload.name for case in CASES]


@pytest.fixture(params=CASES, ids=NAMES)
def few(request: pytest.FixtureRequest) -> Case:
    """A case with little data."""
    case: Case = request.param
    return dataclasses.replace(case, workload=dataclasses.replace(case.workload, data=case.few))


# The gradients ------------------------------------------------------------------------------------


def agrees(case: Case, loader: Any) -> None:
    args = case.few(np.random.default_rng(1))
    right = case.workload.by_hand(np, *args)
    candidate = loader(host())
    check(candidate.arrays(candidate.prepare(case.workload, args)()), right)


@pytest.mark.parametrize("loader", [gradwrap, compiled])
def test_gradwraps_gradient_is_the_one_by_hand(few: Case, loader: Any) -> None:
    agrees(few, loader)


@pytest.mark.peers
@pytest.mark.parametrize("loader", [torch, jax])
def test_a_peers_gradient_is_the_one_by_hand(few: Case, loader: Any) -> None:
    pytest.importorskip(loader.__name__)
    agrees(few, loader)


def test_the_gradient_by_hand_is_that_of_differences(few: Case) -> None:
    args = few.few(np.random.default_rng(2))
    doubled = [arg.astype(np.float64) for arg in args]
    rng = np.random.default_rng(3)
    along = [
        rng.normal(size=arg.shape) if i in few.workload.argnums else 0.0 * arg
        for i, arg in enumerate(doubled)
    ]
    gradient = few.workload.by_hand(np, *doubled)
    slope = sum(np.vdot(g, along[i]) for g, i in zip(gradient, few.workload.argnums, strict=True))
    ahead, behind = (
        few.workload.fun(np, *(a + h * d for a, d in zip(doubled, along, strict=True)))
        for h in (1e-6, -1e-6)
    )
    assert slope == pytest.approx((ahead - behind) / 2e-6, rel=1e-5)


@pytest.mark.slow
def test_a_wrong_gradient_is_not_timed(few: Case) -> None:
    def wrong(np: Any, *args: Any) -> Any:
        return 1.01 * few.workload.fun(np, *args)

    broken = dataclasses.replace(few.workload, fun=wrong)
    faults: list[str] = []
    device = host()
    found = measure(
        device,
        dataclasses.replace(few, workload=broken),
        [by_hand(device), gradwrap(device)],
        BRIEF,
        faults,
    )
    assert set(found.times) == {"by-hand"}
    assert len(faults) == 1
    assert faults[0].startswith(f"gradwrap FAILED on {few.workload.name}: ValueError: gradient 0")


# Measuring ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_times_and_memory_are_measured() -> None:
    case = next(case for case in CASES if case.memory_bound)
    case = dataclasses.replace(case, workload=dataclasses.replace(case.workload, data=case.few))
    device = host()
    faults: list[str] = []
    found = measure(device, case, [by_hand(device), gradwrap(device)], BRIEF, faults)
    assert not faults
    for times in found.times.values():
        assert 0.0 < times.best <= times.median < 1.0
    assert found.peak is not None
    assert found.peak.by_hand > 10_000
    assert found.peak.own < 3 * found.peak.by_hand


def test_the_pools_hook_finds_the_peak() -> None:
    """CuPy's own class of hooks, called as its memory pool would call it."""
    cupy: Any = pytest.importorskip("cupy")
    hooks = cupy.cuda.memory_hook.get_memory_hooks()

    def run() -> None:
        def malloc(number: int, size: int) -> None:
            for hook in list(hooks.values()):
                hook.malloc_postprocess(
                    device_id=0, size=size - 1, mem_size=size, mem_ptr=number, pmem_id=number
                )

        def free(number: int) -> None:
            for hook in list(hooks.values()):
                hook.free_postprocess(device_id=0, mem_size=512, mem_ptr=number, pmem_id=number)

        free(99)  # of memory that is older
        malloc(1, 512)
        malloc(2, 2048)
        free(1)
        malloc(1, 1024)  # the same place again
        free(2)
        malloc(3, 512)

    peak = pool_peak()
    assert peak(run) == 2048 + 1024
    assert peak(run) == 2048 + 1024
    assert not hooks


@pytest.fixture
def on_the_double(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Let the command find the double where it looks for a GPU; give the double's counts."""
    cupy: Any = pytest.importorskip("cupy")
    from hosted_cupy import has_gpu, hosted

    if has_gpu():
        pytest.skip("there is a GPU")
    properties = {"name": b"A double", "totalGlobalMem": 80 * 2**30}

    def properties_of(device: int) -> dict[str, Any]:
        return properties

    with hosted() as counts:
        monkeypatch.setattr(cupy, "is_available", lambda: True)
        monkeypatch.setattr(cupy.cuda, "get_elapsed_time", fn(lambda start, end: 30.0))
        monkeypatch.setattr(cupy.cuda.runtime, "getDevice", lambda: 0)
        monkeypatch.setattr(cupy.cuda.runtime, "getDeviceProperties", properties_of)
        monkeypatch.setattr(cupy.cuda.runtime, "driverGetVersion", lambda: 13010)
        yield counts


def brief(case: Case) -> Case:
    return dataclasses.replace(case, workload=dataclasses.replace(case.workload, data=case.few))


def test_the_code_for_a_gpu_runs_on_the_double(
    on_the_double: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the clock: what CuPy is asked for is there, and events stand around the calls."""
    cupy: Any = pytest.importorskip("cupy")
    asked: list[Any] = []

    def elapsed(start: Any, end: Any) -> float:
        asked.append((start.stream, end.stream))
        return 30.0  # milliseconds

    monkeypatch.setattr(cupy.cuda, "get_elapsed_time", elapsed)
    device = gpu()
    assert device.machine["device"] == "A double"
    assert device.machine["memory"] == "80 GiB"
    assert device.machine["driver supports CUDA"] == "13.1"
    calls: list[int] = []
    on_the_double.reset()
    assert device.seconds(lambda: calls.append(1), calls.append, 3) == pytest.approx(0.01)
    assert calls == [1, 1, 1, None]
    assert on_the_double.synchronisations == ["Device.synchronize", "Event.synchronize"]
    assert asked == [(cupy.cuda.Stream.null, cupy.cuda.Stream.null)]
    x = cupy.ones(1000)
    assert device.peak(lambda: (x * 2.0) * 3.0) == 16_000
    assert device.waits(lambda: float(x.sum()) + x[:2].get()[0]) == 2
    assert device.waits(lambda: x.sum()) == 0


def test_the_whole_command_runs_on_the_double(
    on_the_double: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every part but the two processes of tests, with little data, and the record of all."""
    monkeypatch.setattr(command, "QUICK", BRIEF)
    monkeypatch.setattr(command, "CANDIDATES", (by_hand, gradwrap, compiled))
    monkeypatch.setattr(command, "CASES", tuple(map(brief, CASES)))
    monkeypatch.setattr(command, "BATCHES", (16,))
    monkeypatch.setattr(command, "PROGRAMS", tuple(program.small for program in PROGRAMS))
    monkeypatch.setattr(command, "sweep_kernels", swept := Sweeps())
    monkeypatch.setattr(command, "_tests", fn(lambda seconds: GOOD))
    for name in ("XLA_PYTHON_CLIENT_PREALLOCATE", *benchmarks.ONE_THREAD):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # what is there afterwards
    out = tmp_path / "gpu.md"

    code = command.main(["--quick", "--out", str(out)])

    page = out.read_text(encoding="utf-8")
    assert "FAILED" not in page
    assert "LEFT OUT" not in page
    assert "| Gaussian process " in page
    assert page.count("| as NumPy's |") == len(PROGRAMS)
    assert "| MLP, batch of 16: value and gradients, compiled |" in page
    assert "Kernels against NumPy: 3 checks, on the GPU, 0 failed." in page
    assert swept.seconds == [command.KERNEL_SECONDS]
    assert code == (0 if "nothing is missed" in capsys.readouterr().out else 1)


class Sweeps:
    """Stands in for the sweep's process, which the next test runs."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> Swept:
        self.seconds.append(seconds)
        return Swept("3 checks, on the GPU, 0 failed", [])


@pytest.mark.slow
def test_the_sweep_of_kernels_runs_in_a_process_for_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cupy")
    found = sweep_kernels(1.0)
    assert isinstance(found, Swept), found
    assert found.summary.endswith("0 failed, and the time was up")
    assert not found.failed
    monkeypatch.setattr("benchmarks.gpu.testing.ROOT", ROOT / "docs")
    assert "the sweep could not be run: " in str(sweep_kernels(1.0))


@pytest.mark.slow
def test_a_program_that_fails_is_a_fault_and_the_others_go_on() -> None:
    program = PROGRAMS[0]

    def failing(xp: Any, w: Any, *_: Any) -> Any:
        return xp.no_such_function(w)

    wrong = dataclasses.replace(program, fun=failing)
    assert str(run_program(host(), wrong.small).fault).startswith("AttributeError")
    for one in PROGRAMS:
        assert run_program(host(), one.small).fault is None


def test_a_capture_that_the_driver_refuses_is_recorded(
    on_the_double: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cupy: Any = pytest.importorskip("cupy")

    def refusing(self: Any) -> None:
        raise RuntimeError("cudaErrorStreamCaptureInvalidated")

    monkeypatch.setattr(cupy.cuda.Stream, "end_capture", refusing)
    found = capture(gpu(), 16)
    assert found.fault == "RuntimeError: cudaErrorStreamCaptureInvalidated"
    record = dataclasses.replace(RECORD, graphs=[found], kernels="g++ is missing")
    assert list(misses(record)) == ["kernels: g++ is missing", found.title]
    assert "FAILED: RuntimeError: cudaErrorStreamCaptureInvalidated" in section(record)


def test_parts_that_would_begin_too_late_are_left_out(
    tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LIMIT", -1)
    out = tmp_path / "gpu.md"
    assert command.main(["--no-tests", "--quick", "--out", str(out)], find=host) == 1
    page = out.read_text(encoding="utf-8")
    assert page.count("LEFT OUT: the -1 s of the command are nearly over") == len(CASES) + len(
        PROGRAMS
    )


# The record ---------------------------------------------------------------------------------------

TESTS = Outcome(
    passed=812,
    failed=["tests/test_x.py::test_a[`b|c`]: assert 1 == 2"],
    skipped=["SciPy is missing"],
    skips=3,
    not_run=["tests/test_y.py: No module named 'hypothesis'"],
    finished=True,
)
GOOD = Outcome(passed=812, failed=[], skipped=[], skips=0, not_run=[], finished=True)
MEASURED = [
    Measured(
        "small",
        {"by-hand": Times(1e-3, 2e-3), "gradwrap": Times(1.5e-3, 4e-3), "jax": Times(1e-4, 1e-4)},
        bound=1.6,
    ),
    Measured(
        "large",
        {
            "by-hand": Times(0.01, 0.01),
            "gradwrap": Times(0.0105, 0.011),
            "torch": Times(0.02, 0.02),
        },
        bound=1.1,
        not_slower_than=("torch",),
        peak=Peak(by_hand=100 * 2**20, own=90 * 2**20, bound=1.1),
    ),
]
RECORD = Record(
    when=dt.datetime(2026, 11, 30, 12, 34, tzinfo=dt.UTC),
    command="python -m benchmarks.gpu",
    machine={"device": "NVIDIA X1", "memory": "80 GiB", "CUDA": "13.0", "driver": "580.1"},
    versions={"CuPy": "14.2.0", "PyTorch": "2.13.0"},
    titles={"by-hand": "cupy", "gradwrap": "gradwrap", "torch": "PyTorch", "jax": "JAX (jit)"},
    measured=MEASURED,
    tests=GOOD,
)


TABLES = (
    "\n".join(
        "| " + " | ".join(cells) + " |"
        for cells in [
            [
                "time over that by hand: of the best rounds (of the medians)",
                "by hand, cupy",
                "   gradwrap",
                "    PyTorch",
                "   JAX (jit)",
                "                    bounds",
            ],
            ["-" * 59, "-" * 12 + ":", *(["-" * 10 + ":"] * 2), "-" * 11 + ":", "-" * 25 + ":"],
            [
                f"{'small':<59}",
                "      1.00 ms",
                "1.50 (2.00)",
                "          -",
                "0.10 (0.050)",
                "                <= 1.6 met",
            ],
            [
                f"{'large':<59}",
                "      10.0 ms",
                "1.05 (1.10)",
                "2.00 (2.00)",
                "           -",
                "<= 1.1 met, <= PyTorch met",
            ],
        ]
    )
    + """

| most memory in use during a step |   by hand | gradwrap | bound over by hand |
| -------------------------------- | --------: | -------: | -----------------: |
| large                            | 100.0 MiB | 90.0 MiB |         <= 1.1 met |"""
)


def test_a_record_is_written_as_markdown() -> None:
    assert (
        section(RECORD)
        == f"""### 2026-11-30 12:34 UTC, NVIDIA X1

`python -m benchmarks.gpu`

- device: NVIDIA X1
- memory: 80 GiB
- CUDA: 13.0
- driver: 580.1

CuPy 14.2.0, PyTorch 2.13.0

Tests: **812 passed, 0 failed, 0 skipped**.

Kernels against NumPy: not run, as `--no-tests` says.

{TABLES}

**Verdict**: nothing is missed."""
    )
    assert not list(misses(RECORD))


def test_a_record_says_what_was_missed() -> None:
    slow = dataclasses.replace(
        MEASURED[1],
        times={**MEASURED[1].times, "gradwrap": Times(0.021, 0.022)},
        peak=Peak(by_hand=100, own=120, bound=1.1),
    )
    unmeasured = Measured("tiny", {"by-hand": Times(1.0, 1.0)}, bound=1.6)
    record = dataclasses.replace(
        RECORD,
        measured=[MEASURED[0], slow, unmeasured],
        tests=dataclasses.replace(TESTS, finished=False),
        faults=["gradwrap FAILED on tiny: ValueError: gradient 0 is wrong"],
        notes=["jax is left out: no module"],
    )
    text = section(record)
    assert list(misses(record)) == [
        "1 tests failed",
        "1 files of tests could not be run",
        "the tests did not come to an end",
        "gradwrap FAILED on tiny",
        "large <= 1.1 NOT MET",
        "large <= PyTorch NOT MET",
        "memory of large",
        "tiny not measured: NOT MET",
    ]
    assert "Tests: **812 passed, 1 failed, 3 skipped**, and not all were run." in text
    assert "- failed: `tests/test_x.py::test_a['b/c']: assert 1 == 2`" in text
    assert "- skipped: SciPy is missing" in text
    assert "- could not be run: tests/test_y.py: No module named 'hypothesis'" in text
    assert "- jax is left out: no module" in text
    assert text.endswith("; ".join(misses(record)) + ".")
    assert text.count("**Verdict**: missed: ") == 1


def test_it_says_why_there_were_no_tests() -> None:
    unwanted = dataclasses.replace(RECORD, tests=NOT_WANTED)
    assert "Tests: not run, as `--no-tests` says." in section(unwanted)
    assert not list(misses(unwanted))
    impossible = dataclasses.replace(RECORD, tests="pytest is not installed")
    assert "Tests: not run, pytest is not installed." in section(impossible)
    assert list(misses(impossible)) == ["no test was run: pytest is not installed"]


def test_a_run_without_any_test_is_a_miss() -> None:
    record = dataclasses.replace(RECORD, tests=dataclasses.replace(GOOD, passed=0))
    assert list(misses(record)) == ["no test was run"]


def test_records_are_kept_the_newest_first() -> None:
    page = PAGE.read_text(encoding="utf-8")
    if "<!-- none yet -->" in page:
        assert "**Not yet run on a GPU** (2026-11-21)." in page
    once = insert(page, "### first\n\ntext")
    assert "Not yet run" not in once
    assert "none yet" not in once
    assert "until here" not in once
    twice = insert(once, "### second\n\ntext")
    above, below = page.split(HERE)[0], twice.split(HERE)[1]
    assert twice.startswith(above)
    assert below.startswith("\n\n### second\n\ntext\n\n### first\n\ntext")
    assert twice.endswith("\n")
    assert not twice.endswith("\n\n")


def test_a_page_without_the_line_is_refused() -> None:
    with pytest.raises(ValueError, match="the page has no line '<!-- records: the newest first"):
        insert("# Another page\n", "text")


# The tests of a GPU machine -----------------------------------------------------------------------


def test_the_files_with_tests_for_a_gpu_are_found() -> None:
    names = {path.name for path in on_gpu(ROOT / "tests")}
    assert "test_cupy_on_gpu.py" in names
    assert "test_grad.py" not in names


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 4], ids=["alone", "in two processes"])
def test_tests_are_run_and_counted(
    tmp_path: Path, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cores > 1:
        pytest.importorskip("xdist")
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    (tmp_path / "test_good.py").write_text(f"""
import pytest
pytestmark = pytest.mark.{GPU}
def test_right(): pass
def test_wrong(): assert 1 == 2
def test_left_out(): pytest.skip("no SciPy")
@pytest.mark.xfail(strict=True)
def test_expected(): assert False
@pytest.fixture
def broken(): raise ValueError("in the fixture")
def test_with_a_broken_fixture(broken): pass
""")
    (tmp_path / "test_marker.py").write_text("def test_for_the_cpu(): assert False\n")
    (tmp_path / "test_import.py").write_text("import no_such_module\n")
    (tmp_path / "test_optional.py").write_text(
        "import pytest\npytest.importorskip('no_such_module_either')\n"
    )
    found = run_tests(sorted(tmp_path.glob("test_*.py")), 60)
    assert found.finished
    assert found.passed == 2
    assert [text.rpartition("::")[2] for text in sorted(found.failed)] == [
        "test_with_a_broken_fixture: ValueError: in the fixture",
        "test_wrong: assert 1 == 2",
    ]
    assert (found.skips, found.skipped) == (1, ["Skipped: no SciPy"])
    missing = [text.rpartition("/")[2] for text in sorted(found.not_run)]
    assert missing[0].startswith("test_import.py: ModuleNotFoundError: No module named 'no_such")
    assert missing[1].startswith("test_optional.py: Skipped: could not import 'no_such_module_e")


@pytest.mark.slow
def test_tests_that_take_too_long_are_stopped_and_what_was_run_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    (tmp_path / "test_slow.py").write_text(f"""
import pathlib, time, pytest
pytestmark = pytest.mark.{GPU}
def test_quick(): pass
def test_slow():
    pathlib.Path({str(started)!r}).touch()
    time.sleep(600)
""")
    wait = subprocess.Popen[bytes].wait

    def wait_once_started(child: subprocess.Popen[bytes], seconds: float | None = None) -> int:
        while not started.exists():
            assert child.poll() is None
            time.sleep(0.05)
        return wait(child, seconds)

    monkeypatch.setattr(subprocess.Popen, "wait", wait_once_started)
    found = run_tests([tmp_path / "test_slow.py"], 1)
    assert not found.finished
    assert found.passed == 1


def test_a_test_that_fails_after_its_call_counts_once() -> None:
    lines = """{"test": "t", "outcome": "passed", "why": ""}
{"test": "t", "outcome": "failed", "why": "in the tear-down"}
"""
    found = count(lines)
    assert (found.passed, found.failed, found.finished) == (0, ["t: in the tear-down"], False)


# The command --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_without_a_gpu_the_command_says_so_and_enters_nothing(tmp_path: Path) -> None:
    if (
        importlib.util.find_spec("cupy") is not None
        and importlib.import_module("cupy").is_available()
    ):
        pytest.skip("there is a GPU")
    out = tmp_path / "gpu.md"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", "--out", str(out)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        text=True,
    )
    assert done.returncode == 2
    assert not out.exists()
    assert done.stderr.startswith("no GPU: CuPy ")
    assert done.stderr.endswith("\nnothing was run, and nothing was entered\n")
    assert not done.stdout


def no_gpu() -> Any:
    raise NoGpuError("in this test")


def test_the_command_gives_up_before_it_touches_the_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = PAGE.read_text(encoding="utf-8")
    assert command.main([], find=no_gpu) == 2
    assert capsys.readouterr().err.startswith("no GPU: in this test\n")
    assert PAGE.read_text(encoding="utf-8") == before


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Briefly, and without the peers, which are checked above."""
    monkeypatch.setattr(command, "QUICK", BRIEF)
    monkeypatch.setattr(command, "CANDIDATES", (by_hand, gradwrap))
    for name in ("XLA_PYTHON_CLIENT_PREALLOCATE", *benchmarks.ONE_THREAD):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # what is there afterwards


@pytest.mark.slow
def test_the_command_measures_and_enters_a_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], quick: None
) -> None:
    out = tmp_path / "gpu.md"
    options = ["--no-tests", "--quick", "--only", "chain-small", "--out", str(out)]
    bound_met = {0: "nothing is missed", 1: "<= 1.6 NOT MET"}  # it is a bound for GPUs
    for _ in range(2):
        code = command.main(options, find=host)
        assert bound_met[code] in capsys.readouterr().out
    page = out.read_text(encoding="utf-8")
    assert page.startswith("# On a GPU\n")
    assert page.count(" UTC, host\n") == 2
    assert page.count("| chain of 1,000 ops on 10 elements ") == 4  # times and memory, twice
    assert f"`python -m benchmarks.gpu {' '.join(options)}`" in page
    assert "- a quick run: rough figures" in page
    assert page.count("Tests: not run, as `--no-tests` says.") == 2


@pytest.mark.slow
def test_a_peer_that_is_missing_is_left_out_and_named(
    tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "CANDIDATES", (by_hand, gradwrap, jax))
    monkeypatch.setitem(sys.modules, "jax", None)
    out = tmp_path / "gpu.md"
    options = ["--no-tests", "--quick", "--only", "chain-small", "--out", str(out)]
    command.main(options, find=host)
    assert "- jax is left out: import of jax halted" in out.read_text(encoding="utf-8")


def test_the_page_names_the_workloads_and_their_bounds() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert ", ".join(f"`{name}`" for name in NAMES) in page
    bounds = [case.workload.bound for case in CASES]
    assert bounds == [1.6, 1.1, None, 1.1]
    assert [line.split("|")[2].strip() for line in page.splitlines() if "≤" in line] == [
        "≤ 1.6",
        "≤ 1.1",
        "≤ 1.1",
    ]
    assert [case.not_slower_than for case in CASES] == [(), ("torch",), ("torch",), ("torch",)]
    assert [case.memory_bound for case in CASES] == [None, None, None, 1.1]
    assert [loader.__name__ for loader in CANDIDATES] == [
        "by_hand",
        "gradwrap",
        "compiled",
        "torch",
        "jax",
    ]
