"""Types of CuPy's arrays, by the stubs in typings/; see transforms.py.

CuPy need not be installed: this file is never run.
"""

from __future__ import annotations

from typing import Any, assert_type

import cupy as cp
import cupyx
import numpy as np
from cupyx.profiler import benchmark
from cupyx.scipy import special
from numpy.typing import NDArray

import gradwrap as gw

Array = cp.ndarray[tuple[Any, ...], np.dtype[np.float64]]
Single = cp.ndarray[tuple[Any, ...], np.dtype[np.float32]]
Matrix = cp.ndarray[tuple[int, int], np.dtype[np.float64]]
Ints = cp.ndarray[tuple[Any, ...], np.dtype[np.int64]]
Bools = cp.ndarray[tuple[Any, ...], np.dtype[np.bool_]]
Complex = cp.ndarray[tuple[Any, ...], np.dtype[np.complex128]]

# Making arrays ------------------------------------------------------------------------------------

x = cp.zeros(3)
assert_type(x, Array)
assert_type(x, cp.typing.NDArray[np.float64])
single = cp.ones((2, 3), dtype=cp.float32)
assert_type(single, Single)
ints = cp.arange(3)
assert_type(ints, Ints)
assert_type(cp.arange(0.0, 1.0, 0.1), Array)
assert_type(cp.zeros_like(single), Single)
assert_type(cp.zeros_like(single, dtype=np.float64), Array)
assert_type(cp.full(3, 1.0, dtype=np.float32), Single)
assert_type(cp.eye(3), Array)
assert_type(cp.linspace(0.0, 1.0), Array)
assert_type(cp.asarray(np.ones(3)), Array)
assert_type(cp.asarray([1, 2], dtype=np.float32), Single)
assert_type(cp.random.normal(size=3), Array)
assert_type(cp.random.default_rng(0).random(3, dtype=np.float32), Single)
matrix: Matrix = cp.ndarray((2, 2))
cp.zeros("a")  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
cp.zeroes(3)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

# Attributes and methods ---------------------------------------------------------------------------

assert_type(x.dtype, np.dtype[np.float64])
assert_type(matrix.shape, tuple[int, int])
assert_type(x.ndim, int)
assert_type(x.device, cp.cuda.Device)
assert_type(matrix.T, Matrix)
assert_type(x[0], Array)
assert_type(single[:, None], Single)
assert_type(x[x > 0.0], Array)
assert_type(x.astype(np.float32), Single)
assert_type(matrix.copy(), Matrix)
assert_type(x.reshape(1, 3), Array)
assert_type(x.sum(), Array)
assert_type(ints.sum(), Ints)
assert_type(ints.mean(), Array)
assert_type(single.max(axis=0, keepdims=True), Single)
assert_type(x.argmax(), Ints)
assert_type(x.get(), np.ndarray[tuple[Any, ...], np.dtype[np.float64]])
assert_type(cp.asnumpy(single), np.ndarray[tuple[Any, ...], np.dtype[np.float32]])
assert_type(float(x.sum()), float)
x.sumn()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
x.sum(axes=0)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]

# Operators: Python's numbers are weak, arrays widen -----------------------------------------------

assert_type(x + x, Array)
assert_type(2.0 * single - 1, Single)
assert_type(single * single, Single)
assert_type(single * x, Array)
assert_type(x * single, Array)
assert_type(x / ints, Array)
assert_type(ints + 1, Ints)
assert_type(ints / 2, Array)
assert_type(2 / ints, Array)
assert_type(ints + ints, Ints)
assert_type(single**2, Single)
assert_type(-matrix, Matrix)
assert_type(matrix * 2.0, Matrix)
assert_type(x @ x, Array)
assert_type(single @ single, Single)
assert_type(x > 0, Bools)
assert_type((x > 0) & (x < 1), Bools)
assert_type(x * 1j, cp.typing.NDArray[Any])
spectrum = cp.zeros(3, dtype=np.complex128)
assert_type(x * spectrum, Complex)
x += 1.0
assert_type(x, Array)
x + "a"  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]

# Functions ----------------------------------------------------------------------------------------

assert_type(cp.sin(x), Array)
assert_type(cp.exp(single), Single)
assert_type(cp.sqrt(ints), Array)
assert_type(cp.abs(single), Single)
assert_type(cp.isnan(single), Bools)
assert_type(cp.maximum(x, 0.0), Array)
assert_type(cp.logaddexp(single, single), Single)
assert_type(cp.less(x, single), Bools)
assert_type(cp.sum(single, axis=1), Single)
assert_type(cp.sum(single, dtype=np.float64), Array)
assert_type(cp.mean(x), Array)
assert_type(cp.std(single), Single)
assert_type(cp.max(x), Array)
assert_type(cp.where(x > 0, x, 0.0), Array)
assert_type(cp.where(x > 0), tuple[Ints, ...])
assert_type(cp.concatenate([single, single]), Single)
assert_type(cp.stack([x, x], axis=1), Array)
assert_type(cp.reshape(single, (3, 2)), Single)
assert_type(cp.expand_dims(single, 0), Single)
assert_type(cp.take_along_axis(x, ints, 0), Array)
assert_type(cp.argsort(x), Ints)
assert_type(cp.sort(matrix), Matrix)
assert_type(cp.matmul(single, single), Single)
assert_type(cp.linalg.norm(single), Single)
assert_type(cp.linalg.solve(x, x), Array)
assert_type(cp.linalg.svd(x), tuple[Array, Array, Array])
assert_type(cp.fft.fft(x), Complex)
assert_type(cp.fft.irfft(cp.fft.rfft(x)), Array)
assert_type(special.gammaln(single), Single)
assert_type(special.logit(x), Array)
assert_type(cp.dot(single, single), Single)
assert_type(cp.outer(x, x), Array)
assert_type(cp.unique(single), Single)
assert_type(cp.unique_counts(x).counts, Ints)
assert_type(cp.argmax(x, axis=0), Ints)
assert_type(cp.trace(matrix), Array)
cp.sin(np.ones(3))  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
cp.sum(np.ones(3))  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
cp.concat(3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]

# Kernels, devices, memory -------------------------------------------------------------------------

square = cp.ElementwiseKernel("T x", "T y", "y = x * x", "square")
assert_type(square(x), Any)
norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
assert_type(norm(x, axis=0), cp.typing.NDArray[Any])
kernel = cp.RawKernel('extern "C" __global__ void f(float* x) {}', "f")
kernel((1,), (32,), (single,))
cp.ElementwiseKernel("T x", "T y")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


@cp.fuse
def scaled(x: Array, factor: float) -> Array:
    return x * factor


assert_type(scaled(x, 2.0), Array)
with cp.cuda.Device(0) as device, cp.cuda.Stream(non_blocking=True) as stream:
    assert_type(device, cp.cuda.Device)
    event = stream.record()
    event.synchronize()
    assert_type(cp.cuda.get_elapsed_time(event, event), float)
assert_type(cp.get_default_memory_pool().used_bytes(), int)
assert_type(cp.is_available(), bool)
cupyx.scatter_add(x, ints, 1.0)
assert_type(benchmark(scaled, (x, 2.0), n_repeat=10).gpu_times, NDArray[np.float64])

# gradwrap: the gradient of an argument has its type -----------------------------------------------


def loss(w: Single, x: Single, *, rate: float = 0.1) -> Single:
    return cp.mean(cp.tanh(x @ w) ** 2) * rate


def number(w: Array) -> float:
    return float(cp.sum(w))


assert_type(gw.grad(loss)(single, x=single, rate=1.0), Single)
assert_type(gw.grad(loss, (0, 1))(single, single), tuple[Single, Single])
assert_type(gw.value_and_grad(loss)(single, single), tuple[Single, Single])
assert_type(gw.grad(number)(x), Array)
assert_type(gw.hvp(loss, (single, single), (single, single)), tuple[Single, Single])
assert_type(gw.wrap(single), gw.Variable[Single])
assert_type(gw.wrap(x, requires_grad=True).grad, Array | None)
assert_type(gw.wrap(matrix).data, Matrix)
assert_type(gw.unwrap(gw.wrap(single)), Single)
gw.grad(loss)(x, single)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gw.grad(loss)(np.ones(3), single)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
