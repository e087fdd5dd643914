"""The adapter of NPBench, on a made-up checkout of two programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.npbench import main, measure, read, workloads
from benchmarks.peers import first_call, jax, numpy_engine

if TYPE_CHECKING:
    from pathlib import Path

MAKE = """
import numpy as np

def initialize(N):
    return np.linspace(0.1, 1.0, N), np.arange(N)
"""
SWEEPS = """
import numpy as np

def kernel(turns, u):
    v = np.empty(u.shape)
    for _ in range(turns):
        v[0], v[1:] = u[-1], u[:-1]
        u *= v
    return turns
"""
SWEEPS_IN_JAX = """
import jax
import jax.numpy as jnp
from functools import partial

@jax.jit
def kernel(turns, u):
    return jax.lax.fori_loop(0, turns, lambda _, u: u * jnp.roll(u, 1), u)
"""
PAIR = """
import numpy as np

def pair(u, order):
    return np.sin(u), u[order] * 2.0
"""
PAIR_IN_JAX = """
import jax
import jax.numpy as jnp

@jax.jit
def pair(order, u):
    return 2.0 * u[order], u + 1.0
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "bench_info").mkdir()
    programs: dict[str, tuple[str, list[str], str, str]] = {
        "sweeps": ("kernel", ["turns", "u"], SWEEPS, SWEEPS_IN_JAX),
        "pair": ("pair", ["u", "order"], PAIR, PAIR_IN_JAX),
    }
    for name, (function, parameters, in_numpy, in_jax) in programs.items():
        info: dict[str, Any] = {
            "name": name,
            "relative_path": name,
            "module_name": name,
            "func_name": function,
            "parameters": {"S": {"N": 5, "turns": 3}},
            "init": {
                "func_name": "initialize",
                "input_args": ["N"],
                "output_args": ["u", "order"],
            },
            "input_args": parameters,
        }
        (tmp_path / "bench_info" / f"{name}.json").write_text(json.dumps({"benchmark": info}))
        folder = tmp_path / "npbench" / "benchmarks" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(MAKE)
        (folder / f"{name}_numpy.py").write_text(in_numpy)
        (folder / f"{name}_jax.py").write_text(in_jax)
    return tmp_path


def _after_three(u: Any) -> Any:
    for _ in range(3):
        u = u * np.roll(u, 1)
    return u


def _shifted(turns: int, u: Any) -> Any:
    return u + turns


def test_the_gradient_is_that_of_the_squares_of_what_is_written(checkout: Path) -> None:
    program = read(checkout, "sweeps", "S")
    assert program is not None
    assert program.inputs == ("u",)
    workload = workloads(program._replace(versions=())).workloads[0]
    (u,) = workload.data(np.random.default_rng(0))
    first = first_call(numpy_engine(), workload, (u,))
    np.testing.assert_array_equal(u, np.linspace(0.1, 1.0, 5))  # the argument is as it was
    for i in range(5):
        step = 1e-20j * (np.arange(5) == i)
        wanted = np.sum(_after_three(u + step) ** 2).imag / 1e-20
        np.testing.assert_allclose(first.gradients[0][i], wanted, rtol=1e-10)


def test_arrays_of_integers_are_not_differentiated(checkout: Path) -> None:
    program = read(checkout, "pair", "S")
    assert program is not None
    workload = workloads(program._replace(versions=())).workloads[0]
    (u,) = workload.data(np.random.default_rng(0))
    (gradient,) = first_call(numpy_engine(), workload, (u,)).gradients
    np.testing.assert_allclose(gradient, np.sin(2 * u) + 8 * u, rtol=1e-12)


def test_a_size_without_data_is_left_out(checkout: Path) -> None:
    assert read(checkout, "pair", "M") is None


def test_a_folder_that_is_no_checkout_is_refused(checkout: Path) -> None:
    with pytest.raises(SystemExit, match="has no bench_info"):
        main([str(checkout / "npbench")])
    with pytest.raises(SystemExit, match="has no triple"):
        main([str(checkout), "--only", "triple"])


@pytest.mark.peers
def test_results_of_both_versions_are_matched_by_their_values(checkout: Path) -> None:
    pytest.importorskip("jax")
    peer = jax()
    program = read(checkout, "pair", "S")
    assert program is not None
    (workload,) = workloads(program).workloads
    (u,) = workload.data(np.random.default_rng(0))
    for one in (peer, numpy_engine()):
        (gradient,) = one.arrays(one.prepare(workload, (u,))())
        np.testing.assert_allclose(gradient, 8 * u, rtol=1e-12)


@pytest.mark.peers
def test_a_loop_of_a_version_for_jax_is_differentiated(checkout: Path) -> None:
    pytest.importorskip("jax")
    jax()
    program = read(checkout, "sweeps", "S")
    assert program is not None
    found = measure(program, quick=True)
    assert found.remarks == []
    assert found.times.keys() >= {"numpy-engine", "jax"}
    other = program._replace(versions=(_shifted,))
    assert workloads(other).remarks == ("sweeps: JAX's version has other results",)
