"""A GPU that is missing, full, or whose compiler fails: what the messages say, and what runs."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import CompileWarning
from hosted_cupy import has_gpu, hosted
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hosted_cupy.counts import Counts

cupy: Any = pytest.importorskip("cupy")
pytestmark = pytest.mark.skipif(has_gpu(), reason="the double provokes the faults")


@pytest.fixture(autouse=True)
def counts() -> Iterator[Counts]:
    with hosted() as counted:
        yield counted


# No device ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (35, "there is no NVIDIA driver, or it is older than CuPy's CUDA"),
        (100, "there is a driver, and no device that it shows to this process"),
    ],
)
@pytest.mark.parametrize("name", ["zeros", "asarray", "arange"])
def test_without_a_device_the_message_says_why_and_what_runs(
    status: int, reason: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradwrap.backends.cupy.faults import with_reason

    def refusing(*_: Any) -> Any:
        raise cupy.cuda.runtime.CUDARuntimeError(status)

    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError) as said:
        with_reason(refusing)(3)

    (note,) = said.value.__notes__
    assert f"CuPy computes on a GPU: {reason}" in note
    assert "Fix: without a GPU, import gradwrap.numpy for gradwrap.cupy" in note
    cp: Any = pytest.importorskip("gradwrap.cupy")
    assert getattr(cp, name).__wrapped__ is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "making", ["import gradwrap.cupy as cp; cp.ones(3)", "import cupy; gw.wrap_namespace(cupy)"]
)
def test_a_process_without_a_driver_gets_the_message(making: str) -> None:
    code = (
        f"import gradwrap as gw\ntry: {making}\nexcept Exception as e: print(*e.__notes__, sep='|')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    (note,) = done.stdout.strip().split("|")
    assert note.startswith("CuPy computes on a GPU: there is ")


def test_other_errors_of_the_runtime_are_left_alone() -> None:
    from gradwrap.backends.cupy.faults import with_reason

    def failing() -> Any:
        raise cupy.cuda.runtime.CUDARuntimeError(700)  # an illegal address

    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError) as said:
        with_reason(failing)()
    assert not hasattr(said.value, "__notes__")


# No room ------------------------------------------------------------------------------------------


def chain(x: Any) -> Any:
    y = np.sin(x)
    for _ in range(3):
        y = np.tanh(y) * x
    return np.sum(y)


def test_a_device_without_room_says_where_and_what_needs_less(counts: Counts) -> None:
    x = cupy.linspace(0.1, 1.0, 1000)
    wanted = gw.grad(chain)(x).get()
    before, allocate = counts.live, cupy.cuda.get_allocator()
    left = 0
    places: list[str] = []
    found: Any = None

    def refusing(size: int) -> Any:
        nonlocal left
        left -= size > 8  # the number that a backward pass starts with has room
        if left < 0:
            raise cupy.cuda.memory.OutOfMemoryError(size, 1 << 30, 1 << 30)
        return allocate(size)

    cupy.cuda.set_allocator(refusing)
    for pieces in range(100):
        left = pieces
        try:
            found = gw.grad(chain)(x)
            break
        except cupy.cuda.memory.OutOfMemoryError as error:
            (note,) = error.__notes__
            for name in ("gradwrap.checkpoint", "chunk_size=", "accumulate_", "save_on_cpu"):
                assert name in note
            places.append(re.sub(r"gradwrap ran out of memory (.*?):.*", r"\1", note))

    cupy.cuda.set_allocator(allocate)
    np.testing.assert_array_equal(found.get(), wanted)
    assert places[0] == "while chain ran"
    assert places[-1] == "in the backward pass of chain, at sin"
    assert {"in the backward pass of chain, at tanh"} < set(places)
    del found
    assert counts.live <= before  # nothing of the failed calls is kept


def test_the_backward_pass_of_a_tape_says_so_too(counts: Counts) -> None:
    x = gw.wrap(cupy.linspace(0.1, 1.0, 1000), requires_grad=True)
    y = chain(x)
    allocate = cupy.cuda.get_allocator()

    def refusing(size: int) -> Any:
        if size > 8:
            raise cupy.cuda.memory.OutOfMemoryError(size, 1 << 30, 1 << 30)
        return allocate(size)

    cupy.cuda.set_allocator(refusing)
    with pytest.raises(cupy.cuda.memory.OutOfMemoryError) as said:
        y.backward()
    cupy.cuda.set_allocator(allocate)
    (note,) = said.value.__notes__
    assert note.startswith("gradwrap ran out of memory in the backward pass, at ")
    assert "gradwrap.checkpoint" in note


def test_a_host_without_room_says_so_too() -> None:
    def greedy(x: Any) -> Any:
        return np.sum(np.ones(1 << 55) * x)

    with pytest.raises(MemoryError) as said:
        gw.grad(greedy)(1.0)
    assert "gradwrap ran out of memory while greedy ran" in said.value.__notes__[0]


# Kernels that do not compile ----------------------------------------------------------------------


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the compiler refuse the kernels that gradwrap writes, as another CUDA may."""
    compiler = cupy.cuda.compiler
    compile_program = compiler._compile_with_cache_cuda
    refused: list[str] = []

    def compiling(source: str, *args: Any, **kwargs: Any) -> Any:
        own = "cupy_" not in source.partition("__global__")[2].partition("(")[0]
        if own:
            refused.append(source)
            text = "kernels.cu(7): error: identifier is undefined\n1 error detected"
            raise compiler.CompileException(text, source, "kernels.cu", ())
        return compile_program(source, *args, **kwargs)

    monkeypatch.setattr(compiler, "_compile_with_cache_cuda", compiling)
    return refused


def test_a_formula_whose_kernel_does_not_compile_runs_as_its_operations(
    refusing: list[str], counts: Counts
) -> None:
    """The kernel's name and the compiler's line are in one warning."""
    x = np.linspace(0.2, 0.9, 77)
    function = fn(lambda x: np.sum(np.arcsin(x)))
    on_device = cupy.asarray(x)
    with pytest.warns(CompileWarning) as warned:
        found = gw.grad(function)(on_device)
    np.testing.assert_allclose(found.get(), 1 / np.sqrt(1 - x**2), rtol=1e-14)
    (text,) = [str(one.message) for one in warned]
    assert text.startswith(
        "the kernel gradwrap_asin_0 does not compile: kernels.cu(7): error: identifier is undefined"
    )
    assert "CuPy's own kernels, one for each operation of this derivative, run in its place" in text
    gw.grad(function)(on_device)  # without a warning, which would be an error
    assert len(refusing) == 1


def test_a_compiled_function_whose_kernels_do_not_compile_says_what_runs(
    refusing: list[str],
) -> None:
    x = cupy.linspace(0.1, 1.0, 1001)
    compiled: Any = gw.compile(fn(lambda x: np.exp(x) * x + x / 3.0))
    with pytest.warns(CompileWarning) as warned:
        compiled(x)
    host = x.get()
    for _ in range(2):
        found = compiled(x)
        np.testing.assert_allclose(found.get(), np.exp(host) * host + host / 3.0, rtol=1e-14)
    (text,) = [str(one.message) for one in warned]
    assert "program of <lambda> raised CompileException: kernels.cu(7): error: identifier" in text
    assert "the library's own functions, one for each operation, are used" in text
    assert refusing
