"""The kernels of compiled functions are CUDA: NVIDIA's compiler makes PTX of them with no GPU."""

from __future__ import annotations

import functools
import re
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.workloads import black_scholes
from benchmarks.workloads import chain as chains
from tests.compiler.test_compiled_programs import PROGRAMS

import gradwrap as gw
from gradwrap.core.values.tree import flatten, unflatten

pytest.importorskip("cupy")

import test_cupy_nvrtc
from nvrtc import Compiler, launched_source, library
from test_cupy_compiled import (
    BINARY,
    NUMPYS,
    OF_COMPLEX,
    OF_INTEGERS,
    UNARY,
    applied,
    chain,
    on_device,
    recurrence,
)
from test_cupy_nvrtc import PARTS, compiled, part_of, resources, warnings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hosted_cupy.counts import Counts

pytestmark = pytest.mark.skipif(library() is None, reason="needs the extra `nvrtc`")

counts, compile_ = test_cupy_nvrtc.counts, test_cupy_nvrtc.compile_  # fixtures
LINE = np.linspace(0.25, 0.75, 30)
OPERATIONS: dict[str, tuple[str, ...]] = {
    "float32": (*UNARY, *BINARY),
    "float64": (*UNARY, *BINARY),
    "complex128": OF_COMPLEX,
    "int64": OF_INTEGERS,
}
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{name: case for name, case in PROGRAMS.items() if name not in NUMPYS},
    "chain": (gw.grad(chain), (LINE,)),
    "recurrence": (gw.grad(recurrence), (LINE,)),
    "long chain": (
        gw.grad(partial(chains.chain, np, turns=10)),
        chains.data(np.random.default_rng(0), n=20_000),
    ),
    "black scholes": (
        gw.grad(
            partial(black_scholes.BLACK_SCHOLES.fun, np),
            black_scholes.BLACK_SCHOLES.argnums,
        ),
        black_scholes.data(np.random.default_rng(0), n=100),
    ),
}


def kernels(function: Any, args: Any) -> dict[str, str]:
    """The sources of the kernels that a compiled function launches, by a name of their own."""
    from hosted_cupy.counts import COUNTS

    compiled_function: Any = gw.compile(function)
    given = on_device(args)
    compiled_function(*given)
    COUNTS.kernels.clear()
    compiled_function(*given)
    found = [k for k in COUNTS.kernels.values() if re.match("gradwrap_(kernel|loop)[0-9]", k.name)]
    return dict(launched_source(kernel) for kernel in found)


def in_precision(args: Any, dtype: str) -> Any:
    """Arguments with their floats in another precision."""
    leaves, tree = flatten(args)
    real, both = np.dtype(dtype), np.dtype(f"c{2 * np.dtype(dtype).itemsize}")
    kinds = {"f": real, "c": both}
    return unflatten(tree, [leaf.astype(kinds.get(leaf.dtype.kind, leaf.dtype)) for leaf in leaves])


@functools.cache
def sources(dtype: str) -> dict[str, str]:
    """The sources of all kernels, by a name of their own."""
    x = np.array([0.25, 0.5, 0.75]).astype(dtype)
    cases = {"operations": (applied(OPERATIONS[dtype]), (x, x))}
    if dtype.startswith("float"):
        cases |= {n: (f, in_precision(args, dtype)) for n, (f, args) in CASES.items()}
    found: dict[str, str] = {}
    for case, (function, args) in cases.items():
        texts = kernels(function, args)
        mark = f"_{re.sub('[^a-z]', '_', case)}_{dtype}"
        found |= {n + mark: text.replace(n, n + mark) for n, text in texts.items()}
    return found


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtype", OPERATIONS)
def test_every_kernel_becomes_ptx_without_a_warning(
    dtype: str, part: int, counts: Counts, compile_: Compiler
) -> None:
    texts = part_of(sources(dtype), part)

    made = compiled(compile_, texts)

    assert warnings(made.log) == []
    assert made.ptx, made.log
    assert set(re.findall(r"\.visible \.entry (\w+)\(", made.ptx)) == set(texts)


def test_the_kernels_are_those_of_groups_and_loops(counts: Counts) -> None:
    names = {dtype: set(sources(dtype)) for dtype in ("float32", "float64")}
    for dtype, found in names.items():
        assert len(found) > 40
        assert any(name.startswith("gradwrap_loop") for name in found)
        assert any(re.match(f"gradwrap_kernel0_.*_black_scholes_{dtype}", one) for one in found)


def test_single_precision_stays_single(counts: Counts, compile_: Compiler) -> None:
    """Only CUDA's own functions compute in double: sines of large arguments."""
    texts = {
        name: text
        for name, text in sources("float32").items()
        if not re.search("operations|integers|complex", name) and not re.search("sin|cos|tan", text)
    }
    made = compiled(compile_, texts)
    assert len(texts) > 20
    assert made.ptx
    assert ".f64" not in made.ptx


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kernels_do_not_spill(
    dtype: str, counts: Counts, compile_: Compiler, tmp_path: Path
) -> None:
    if shutil.which("ptxas") is None:
        pytest.skip("ptxas, which allocates registers, is not installed")
    texts = {n: t for n, t in sources(dtype).items() if "operations" not in n}

    registers, spills = resources(compiled(compile_, texts).ptx, tmp_path)

    assert len(registers) == len(texts)
    assert set(spills) == {("0", "0")}
    assert max(registers) <= 128
