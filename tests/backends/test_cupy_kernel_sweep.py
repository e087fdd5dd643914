"""CUDA on the host: a sample of the sweep of all kernels, and how the double runs a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hosted_cupy import has_gpu, hosted

pytest.importorskip("cupy")

import cupy

from hosted_cupy.orders import RaceError, two_orders
from kernel_sweep import KINDS, sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hosted_cupy.counts import Counts

pytestmark = pytest.mark.skipif(has_gpu(), reason="the double runs kernels on the host")


@pytest.fixture(autouse=True)
def counts() -> Iterator[Counts]:
    with hosted() as counted:
        yield counted


def test_a_sample_of_all_kernels_gives_numpys_values_in_both_orders() -> None:
    swept = sweep(part=400)

    assert swept.failed == []
    assert swept.is_whole
    assert swept.checks > 20
    assert len(swept.kernels) > 30
    assert any("gradwrap_" in name for name in swept.kernels)


def test_a_sweep_ends_when_its_time_is_up() -> None:
    swept = sweep(part=400, seconds=0.0)

    assert (swept.checks, swept.is_whole) == (0, False)


def test_the_sweep_has_every_kind_of_check() -> None:
    assert [len(list(kind())) > 40 for kind in KINDS] == [True] * 5


SUMS = r"""
extern "C" __global__ void block_sums(const double *x, double *out, int n) {
  __shared__ double part[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  for (int half = 32; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
"""


def block_sums(text: str) -> Any:
    x, out = cupy.arange(150.0), cupy.zeros(3)
    cupy.RawKernel(text, "block_sums")((3,), (64,), (x, out, np.int32(150)))
    return out.get()


def test_threads_wait_for_each_other_at_a_barrier() -> None:
    with two_orders() as ran:
        found = block_sums(SUMS)

    x = np.arange(150.0)
    np.testing.assert_array_equal(found, [x[:64].sum(), x[64:128].sum(), x[128:].sum()])
    assert "block_sums" in [kernel.name for kernel in ran]


def test_a_kernel_without_its_barrier_is_a_race() -> None:
    text = SUMS.replace("__syncthreads();", "")

    with two_orders(), pytest.raises(RuntimeError, match="depends on the order of threads") as said:
        block_sums(text)

    assert isinstance(said.value.args[0], RaceError)


def test_memory_of_the_launch_is_shared_in_a_block() -> None:
    text = r"""
    extern "C" __global__ void reversed_blocks(const float *x, float *out) {
      extern __shared__ float kept[];
      kept[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
      __syncthreads();
      out[blockIdx.x * blockDim.x + threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
    }
    """
    x, out = cupy.arange(6, dtype="f"), cupy.zeros(6, "f")

    cupy.RawKernel(text, "reversed_blocks")((2,), (3,), (x, out), shared_mem=12)

    np.testing.assert_array_equal(out.get(), [2, 1, 0, 5, 4, 3])


def test_atomic_additions_add_up_in_both_orders() -> None:
    x = cupy.zeros(3, "f")
    places, parts = cupy.asarray([0, 2] * 50), cupy.full(100, 0.1, "f")

    with two_orders():
        cupy.add.at(x, places, parts)

    np.testing.assert_allclose(x.get(), [5.0, 0.0, 5.0], rtol=1e-5)


def test_a_kernel_that_does_not_compile_says_what_is_wrong() -> None:
    kernel = cupy.ElementwiseKernel("T x", "T y", "y = x * unknown_name", "with_a_mistake")

    with pytest.raises(cupy.cuda.compiler.CompileException, match="unknown_name"):
        kernel(cupy.ones(2))


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "complex128", "int8", "bool"])
def test_a_reduction_runs_the_threads_of_its_blocks(dtype: str) -> None:
    values = np.arange(2000).reshape(4, 500) % 3
    x = cupy.asarray(values.astype(dtype))

    with two_orders() as ran:
        found = x.sum(axis=1), x.any(axis=0), (x.real if x.dtype.kind == "c" else x).argmax(axis=1)

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found[0].get(), values.astype(dtype).sum(axis=1))
    np.testing.assert_array_equal(found[1].get(), values.any(axis=0))
    np.testing.assert_array_equal(found[2].get(), values.astype(dtype).argmax(axis=1))
    assert any(kernel.has_barriers for kernel in ran)
