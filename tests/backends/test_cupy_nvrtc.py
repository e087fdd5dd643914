"""Every kernel that the rows launch on CuPy is CUDA: NVIDIA's compiler makes PTX of it.

The rows run on the double, which notes the kernels: the fused formulas, and CuPy's own.
"""

from __future__ import annotations

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

import cupy

from nvrtc import (
    Compiled,
    Compiler,
    elementwise_source,
    library,
    programs,
    reduction_source,
    ufunc_source,
)
from test_backends import Call
from test_cupy_rules import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hosted_cupy.counts import Counts

pytestmark = pytest.mark.skipif(library() is None, reason="needs the extra `nvrtc`")

DTYPES = ("float32", "float64", "complex128", "int64")
COPIES = frozenset({"cupy_copy", "cupy_scatter_add"})
"""Kernels whose arguments the double does not note as CuPy gives them."""


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
        try:
            call = Call(case, "cupy", kind, device=namespace("cupy").cuda.Device())
            if kind.kind in "fc":
                call.gradients()
            else:
                call.function(*call.arrays)
        except (TypeError, ValueError, NotImplementedError, gw.errors.GradwrapError):
            continue


@functools.cache
def launched(dtype: str) -> dict[str, str]:
    """The sources of the kernels that the rows launch, by a name of their own."""
    from hosted_cupy.counts import COUNTS

    COUNTS.kernels.clear()
    run_rows(dtype)
    sources: dict[str, str] = {}
    for (name, dtypes), kernel in COUNTS.kernels.items():
        if name in COPIES or not all(np.dtype(d).name in (*DTYPES, "bool") for d in dtypes):
            continue
        if isinstance(kernel, cupy.ufunc):
            found = ufunc_source(kernel, dtypes)
        elif hasattr(kernel, "_ops"):
            found = reduction_source(kernel, dtypes[0])
        else:
            found = elementwise_source(kernel, [np.dtype(d).type for d in dtypes])
        if found is not None:
            sources[found[0]] = found[1]
    return sources


def compiled(compile_: Compiler, sources: dict[str, str]) -> Compiled:
    """Compile kernels in as few programs as can be."""
    made = [compile_(texts) for texts in programs(sources)]
    log = "\n".join(one.log for one in made)
    return Compiled("\n".join(one.ptx for one in made) if all(one.ptx for one in made) else "", log)


def warnings(log: str) -> list[str]:
    """The warnings in a log, without those of functions that CuPy defines and does not call."""
    said = re.findall(r"warning #\S+ .*", log)
    return [one for one in said if "#177-D: function" not in one or "gradwrap_" in one]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_kernel_becomes_ptx_without_a_warning(
    dtype: str, counts: Counts, compile_: Compiler
) -> None:
    sources = launched(dtype)
    if dtype == "int64":  # what is cast to float64 has been compiled
        sources = {name: text for name, text in sources.items() if "int64" in name}

    made = compiled(compile_, sources)

    assert warnings(made.log) == []
    assert made.ptx, made.log
    entries = set(re.findall(r"\.visible \.entry (\w+)\(", made.ptx))
    assert entries == set(sources)


def test_the_kernels_are_those_of_the_rows(counts: Counts) -> None:
    found = {dtype: set(launched(dtype)) for dtype in DTYPES}

    fused = {one for one in found["float32"] if one.startswith("gradwrap_")}
    assert {one.replace("float32", "float64") for one in fused} <= found["float64"]
    assert len(fused) > 30
    assert "cupy_multiply_complex128_complex128" in found["complex128"]
    assert "cupy_add_int64_int64" in found["int64"]
    reduced = {one for one in found["float64"] if re.match("cupy_(sum|prod|max|min)", one)}
    assert len(reduced) >= 4


def broken() -> Any:
    return cupy.ElementwiseKernel("T x", "T y", "y = x * undeclared", "gradwrap_broken")


def test_a_kernel_with_a_mistake_fails(counts: Counts, compile_: Compiler) -> None:
    name, source = elementwise_source(broken(), [np.float64])
    fused = {own: text for own, text in launched("float64").items() if "gradwrap_" in own}

    made = compiled(compile_, {**fused, name: source})

    assert made.ptx == ""
    assert 'identifier "undeclared" is undefined' in made.log


def test_a_warning_is_read(counts: Counts, compile_: Compiler) -> None:
    kernel = cupy.ElementwiseKernel("T x", "T y", "int unused_here; y = x", "gradwrap_warns")

    made = compiled(compile_, dict([elementwise_source(kernel, [np.float64])]))

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
