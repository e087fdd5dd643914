"""Every kernel that the rows launch on CuPy is CUDA: NVIDIA's compiler makes PTX of it.

The rows run on the double, which notes the kernels: the fused formulas, and CuPy's own.
"""

from __future__ import annotations

import contextlib
import functools
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from harness import namespace
from hosted_cupy import hosted

pytest.importorskip("cupy")

from nvrtc import (
    Compiled,
    Compiler,
    launched_source,
    library,
    programs,
)
from sampling import LONG
from test_backends import Call
from test_cupy_rules import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hosted_cupy.counts import Counts

pytestmark = pytest.mark.skipif(library() is None, reason="needs the extra `nvrtc`")

REFUSALS = (TypeError, ValueError, NotImplementedError, gw.errors.GradwrapError)
DTYPES = ("float32", "float64", "complex128", "int64")


@pytest.fixture(scope="module")
def counts() -> Iterator[Counts]:
    with hosted() as counted:
        yield counted


@pytest.fixture(scope="module")
def compile_(counts: Counts) -> Compiler:
    path = library()
    assert path is not None
    return Compiler(path)


def run_rows(dtype: str) -> None:
    """Run each row once, with its gradient; what CuPy refuses at once launches nothing."""
    from hosted_cupy.counts import COUNTS

    seen: set[str] = set()
    for case in CASES:
        if case.rule.name in seen:
            continue
        seen.add(case.rule.name)
        kind = np.dtype(dtype)
        if (kind.kind == "c" and case.rule.only_real) or (
            kind.kind != "c" and case.rule.only_complex
        ):
            continue

        def run(case: Any = case, kind: Any = kind) -> None:
            call = Call(case, "cupy", kind, device=namespace("cupy").cuda.Device())
            if kind.kind in "fc":
                call.gradients()
            else:
                call.function(*call.arrays)

        with contextlib.suppress(*REFUSALS):
            COUNTS.noted_in(run)


@functools.cache
def launched(dtype: str) -> dict[str, str]:
    """The sources of the kernels that the rows launch, by a name of their own."""
    from hosted_cupy.counts import COUNTS

    COUNTS.kernels.clear()
    run_rows(dtype)
    return dict(launched_source(kernel) for kernel in COUNTS.kernels.values())


def compiled(compile_: Compiler, sources: dict[str, str]) -> Compiled:
    """Compile kernels in as few programs as can be."""
    made = [compile_(texts) for texts in programs(sources)]
    log = "\n".join(one.log for one in made)
    return Compiled("\n".join(one.ptx for one in made) if all(one.ptx for one in made) else "", log)


def warnings(log: str) -> list[str]:
    """The warnings in a log, without those of functions that CuPy defines and does not call."""
    said = re.findall(r"warning #\S+ .*", log)
    return [one for one in said if "#177-D: function" not in one or "gradwrap_" in one]


PARTS = [4, pytest.param(1, marks=LONG)]
"""One kernel of so many is compiled."""


def part_of(sources: dict[str, str], part: int) -> dict[str, str]:
    return {name: sources[name] for name in sorted(sources)[::part]}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_kernel_becomes_ptx_without_a_warning(
    dtype: str, part: int, counts: Counts, compile_: Compiler
) -> None:
    sources = launched(dtype)
    for other in DTYPES[: DTYPES.index(dtype)]:  # what has been compiled is not compiled again
        sources = {name: text for name, text in sources.items() if name not in launched(other)}
    sources = part_of(sources, part)

    made = compiled(compile_, sources)

    assert warnings(made.log) == []
    assert made.ptx, made.log
    assert set(re.findall(r"\.visible \.entry (\w+)\(", made.ptx)) == set(sources)


def test_the_kernels_are_those_of_the_rows(counts: Counts) -> None:
    found = {dtype: names(launched(dtype)) for dtype in DTYPES}

    fused = {one for one in found["float32"] if one.startswith("gradwrap_")}
    assert fused <= found["float64"]
    assert len(fused) > 30
    assert "cupy_multiply__complex128_complex128_complex128" in found["complex128"]
    assert "cupy_add__int64_int64_int64" in found["int64"]
    assert found["float64"] >= {"cupy_take", "cupy_scatter_add", "cupy_sum"}
    reduced = {one for one in found["float64"] if re.match("cupy_(sum|prod|max|min)", one)}
    assert len(reduced) >= 4


def names(sources: dict[str, str]) -> set[str]:
    """The kernels' names, without what tells them from each other."""
    return {re.sub(r"_[0-9a-f]{12}$", "", name) for name in sources}


TEXT = """
extern "C" __global__ void %s(CArray<double, 1, 1, 1> x) {
  %s; CUPY_FOR(i, x.size()) x[i] = x[i] * known;
}
"""


def test_a_kernel_with_a_mistake_fails(counts: Counts, compile_: Compiler) -> None:
    fused = {own: text for own, text in launched("float64").items() if "gradwrap_" in own}

    made = compiled(compile_, {**fused, "broken": TEXT % ("broken", "double unknown = 1")})

    assert made.ptx == ""
    assert 'identifier "known" is undefined' in made.log


def test_a_warning_is_read(counts: Counts, compile_: Compiler) -> None:
    made = compiled(compile_, {"warns": TEXT % ("warns", "double known = 2; int unused_here")})

    assert made.ptx
    (said,) = warnings(made.log)
    assert 'variable "unused_here" was declared but never referenced' in said


def resources(ptx: str, folder: Path) -> tuple[list[int], list[tuple[str, str]]]:
    """The registers of each kernel, and the bytes that it stores and loads for want of more."""
    path = folder / "kernels.ptx"
    path.write_text(ptx)
    command = ["ptxas", "-v", "-arch=sm_90", "-o", str(folder / "out"), str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    said = done.stderr + done.stdout
    spills: list[tuple[str, str]] = re.findall(
        r"(\d+) bytes spill stores, (\d+) bytes spill loads", said
    )
    return [int(one) for one in re.findall(r"Used (\d+) registers", said)], spills


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fused_kernels_do_not_spill(
    dtype: str, counts: Counts, compile_: Compiler, tmp_path: Path
) -> None:
    if shutil.which("ptxas") is None:
        pytest.skip("ptxas, which allocates registers, is not installed")
    fused = {name: text for name, text in launched(dtype).items() if name.startswith("gradwrap_")}

    registers, spills = resources(compiled(compile_, fused).ptx, tmp_path)

    assert len(registers) == len(fused)
    assert set(spills) == {("0", "0")}
    assert max(registers) <= 64
