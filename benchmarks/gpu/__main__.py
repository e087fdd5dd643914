"""``python -m benchmarks.gpu`` runs the tests that need a GPU and the benchmarks, and records both.

Exit code: 0 if all tests passed and all bounds were met, 1 if not, 2 if there is no GPU to use.
"""

import argparse
import importlib.util
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from .. import ONE_THREAD
from .candidates import CANDIDATES, PEERS, Candidate
from .cases import CASES
from .devices import Device, NoGpuError, gpu
from .graphs import BATCHES, capture
from .measuring import FULL, QUICK, measure
from .programs import PROGRAMS, run_program
from .record import NOT_WANTED, Record, insert, misses, section
from .testing import ROOT, Outcome, Swept, on_gpu, run_tests, sweep_kernels

PAGE = ROOT / "docs" / "gpu.md"
LIMIT = 470
"""The seconds of the whole command. A part that would begin later is left out, as a fault."""
TEST_SECONDS = 220
KERNEL_SECONDS = 60
CASE_SECONDS = 40
"""What one workload may take: five libraries compile, and each is timed for three seconds."""
PROGRAM_SECONDS = 8


def main(
    argv: Sequence[str] | None = None, *, find: Callable[[], Device] = gpu, page: Path = PAGE
) -> int:
    """Run the tests and the benchmarks, and enter the record; return the exit code."""
    given = sys.argv[1:] if argv is None else argv
    options = _parse(given)
    out = options.out or page
    text = (out if out.exists() else page).read_text(encoding="utf-8")
    _free_the_libraries()
    _use_the_checkout()
    try:
        import gradwrap as gw

        device = find()
    except ImportError as error:
        return _give_up(f"gradwrap cannot be imported: {error}")
    except NoGpuError as error:
        return _give_up(f"no GPU: {error}")

    clock = _Clock()
    faults, notes = clock.faults, list[str]()
    tests = NOT_WANTED if options.no_tests else _tests(options.test_seconds)
    on_gpu_ = device.kind == "cuda"
    kernels = _kernels(clock) if on_gpu_ and not options.no_tests else NOT_WANTED
    candidates = _load(device, notes)
    effort = QUICK if options.quick else FULL
    measured = [
        measure(device, case, candidates, effort, faults)
        for case in CASES
        if case.workload.name in options.only or not options.only
        if clock.has(CASE_SECONDS, case.workload.title)
    ]
    programs = [
        run_program(device, program if on_gpu_ else program.small)
        for program in (() if options.only else PROGRAMS)
        if clock.has(PROGRAM_SECONDS, program.title)
    ]
    graphs = [
        capture(device, batch)
        for batch in (BATCHES if on_gpu_ and not options.only else ())
        if clock.has(PROGRAM_SECONDS, f"CUDA graph, batch of {batch}")
    ]
    notes.append(f"the command took {clock.seconds:.0f} s")
    if options.quick:
        notes.append("a quick run: rough figures")

    versions = {
        "Python": sys.version.split()[0],
        "NumPy": np.__version__,
        "gradwrap": gw.__version__,
    }
    record = Record(
        when=datetime.now(UTC),
        command=shlex.join(["python", "-m", "benchmarks.gpu", *given]),
        machine=device.machine,
        versions=versions | {candidate.title: candidate.version for candidate in candidates},
        titles={candidate.name: candidate.title for candidate in candidates},
        measured=measured,
        tests=tests,
        kernels=kernels,
        programs=programs,
        graphs=graphs,
        faults=faults,
        notes=notes,
    )
    found = section(record)
    print(found)
    out.write_text(insert(text, found), encoding="utf-8")
    print(f"\nentered in {out}", file=sys.stderr)
    return 1 if list(misses(record)) else 0


class _Clock:
    """The time of the command: a part that would end too late is left out, as a fault."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self.faults: list[str] = []

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def has(self, seconds: float, what: str) -> bool:
        """Tell if so much time is left, and say that a part begins."""
        if self.seconds + seconds > LIMIT:
            self.faults.append(f"{what} LEFT OUT: the {LIMIT} s of the command are nearly over")
            return False
        print(f"{what} ...", file=sys.stderr, flush=True)
        return True


class _Options(argparse.Namespace):
    only: list[str]
    no_tests: bool
    quick: bool
    out: Path | None
    test_seconds: float


def _parse(argv: Sequence[str] | None) -> _Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        choices=[case.workload.name for case in CASES],
        help="measure this only; may be given again: %(choices)s",
    )
    parser.add_argument("--no-tests", action="store_true", help="measure, but run no tests")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    parser.add_argument(
        "--test-seconds",
        type=float,
        default=TEST_SECONDS,
        help="stop the tests after so many seconds (%(default)s)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="enter the record there; a new file gets all of docs/gpu.md first",
    )
    return parser.parse_args(argv, namespace=_Options())


def _free_the_libraries() -> None:
    """Undo the package's settings for the benchmarks on a CPU: one thread, JAX on the CPU."""
    for name, value in ONE_THREAD.items():
        if os.environ.get(name) == value:
            del os.environ[name]
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # all share the memory


def _use_the_checkout() -> None:
    """Use gradwrap from this checkout if it is not installed; so do the processes of the tests."""
    if importlib.util.find_spec("gradwrap") is None:
        sys.path.insert(0, str(ROOT / "src"))
        path = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "src"), path]))


def _give_up(reason: str) -> int:
    print(f"{reason}\nnothing was run, and nothing was entered", file=sys.stderr)
    return 2


def _tests(seconds: float) -> Outcome | str:
    if importlib.util.find_spec("pytest") is None:
        return "pytest is not installed"
    files = on_gpu(ROOT / "tests")
    names = " ".join(path.name for path in files)
    print(f"tests, for {seconds:g} s at most: {names} ...", file=sys.stderr, flush=True)
    return run_tests(files, seconds)


def _kernels(clock: _Clock) -> Swept | str:
    has_time = clock.has(KERNEL_SECONDS, "kernels")
    return sweep_kernels(KERNEL_SECONDS) if has_time else "no time was left"


def _load(device: Device, notes: list[str]) -> list[Candidate]:
    candidates: list[Candidate] = []
    for loader in CANDIDATES:
        try:
            candidates.append(loader(device))
        except ImportError as error:
            if loader not in PEERS:
                raise
            notes.append(f"{loader.__name__} is left out: {error}")
    return candidates


if __name__ == "__main__":
    sys.exit(main())
