"""Tests that only a GPU can run: the host does not wait; streams; the memory of the pool.

A kernel that spins for a while is launched first. What is launched after it on the same stream
cannot begin before it ends; so if it is still running when a training step has been launched,
nothing in the step has waited for the stream, or for the whole device: no value was read back, no
size was asked for, no memory was returned to the driver. This needs no profiler. It does not see a
wait for a stream that is idle, nor a copy to the host that is only queued; for these, CuPy itself
is told to refuse to hand out values (`cupyx.allow_synchronize`).
"""

from __future__ import annotations

import contextlib
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from benchmarks.gpu.devices import gpu
from benchmarks.workloads import mlp
from tests.compiler.test_compiled_programs import PROGRAMS

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Spin: TypeAlias = Callable[[float], None]
    Step: TypeAlias = Callable[[], Any]
    Attempt: TypeAlias = Callable[[float], tuple[Any, list[Any]]]
    """From the seconds of the slow kernel: the stream that it runs on, and the results."""

ANY: Any = np  # for calls that NumPy's own types are too narrow for
pytestmark = pytest.mark.gpu
cupy: Any = pytest.importorskip("cupy")
cupyx: Any = pytest.importorskip("cupyx")
if not cupy.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

from test_cupy_compiled import NUMPYS, compiled_twice, on_device  # noqa: E402  after the skip

SPIN = r"""
extern "C" __global__ void spin(long long nanoseconds) {
    long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}
"""
WHILE = 1.0  # seconds; a step is launched in a hundredth of that
WARM_UP = 3


@pytest.fixture(scope="module")
def spin() -> Spin:
    """Keep the current stream busy for so many seconds."""
    kernel = cupy.RawKernel(SPIN, "spin")
    kernel((1,), (1,), (np.int64(1),))  # compiled before it is needed
    cupy.cuda.Device().synchronize()
    return lambda seconds: kernel((1,), (1,), (np.int64(1e9 * seconds),))


@contextlib.contextmanager
def values_stay_on_the_device() -> Generator[None]:
    """CuPy raises `DeviceSynchronized` at `get`, and so at `item`, `float` and `bool`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that it does not see everything: see above
        refusing = cupyx.allow_synchronize(False)
        refusing.__enter__()
    try:
        yield
    finally:
        refusing.__exit__(None, None, None)


def is_running(stream: Any) -> bool:
    return not stream.done


# Training steps -----------------------------------------------------------------------------------


def network() -> tuple[list[Any], list[Any]]:
    """Data and parameters of a perceptron, on the device."""
    arrays = [cupy.asarray(array) for array in mlp.data(np.random.default_rng(0), batch=512)]
    return arrays[:2], arrays[2:]


def functional() -> Step:
    """Steps by `value_and_grad`."""
    return steps_by(gw.value_and_grad(partial(mlp.loss, np), (2, 3, 4, 5, 6, 7)))


def compiled() -> Step:
    """The same, compiled to kernels."""
    return steps_by(gw.compile(gw.value_and_grad(partial(mlp.loss, np), (2, 3, 4, 5, 6, 7))))


def steps_by(gradient: Any) -> Step:
    """Steps along a gradient."""
    data, params = network()

    def step() -> Any:
        value, slopes = gradient(*data, *params)
        for i, slope in enumerate(slopes):
            params[i] = params[i] - 0.1 * slope
        return value

    return step


def taped() -> Step:
    """Steps by `backward`, with the parameters changed in place."""
    data, starts = network()
    params: list[Any] = [gw.wrap(start, requires_grad=True) for start in starts]

    def step() -> Any:
        value = mlp.loss(np, *data, *params)
        value.backward()
        with gw.no_grad():
            for p in params:
                p -= 0.1 * p.grad  # noqa: PLW2901  in place: this writes to p itself
                p.zero_grad()
        return value.data

    return step


def recurrent() -> Step:
    """Steps of a recurrent network: slices, indices, a loop, writing in place."""
    rng = np.random.default_rng(1)
    weights = cupy.asarray(rng.normal(size=(16, 16)) / 4.0)
    inputs = cupy.asarray(rng.normal(size=(8, 4, 16)))
    chosen = cupy.asarray(rng.integers(0, 16, 4))
    rows = cupy.arange(4)

    def loss(w: Any) -> Any:
        state = inputs[0] * 0.0
        for t in range(8):
            state = np.tanh(state @ w + inputs[t])
            state[:, 0] = 0.5 * state[:, 1]
        kept = ANY.where(state > 0, state, 0.1 * state)
        return ANY.sum(kept[rows, chosen] ** 2) + ANY.mean(np.max(state, axis=1))

    def step() -> Any:
        nonlocal weights
        value, slope = gw.value_and_grad(loss)(weights)
        weights = weights - 0.1 * slope
        return value

    return step


@pytest.fixture(params=[functional, compiled, taped, recurrent], ids=lambda make: make.__name__)
def step(request: pytest.FixtureRequest) -> Step:
    """A training step that has been warmed up: kernels are compiled, the pool is filled."""
    made: Step = request.param()
    for _ in range(WARM_UP):
        made()
    cupy.cuda.Device().synchronize()
    return made


def test_the_spinning_kernel_is_seen_to_run(spin: Spin) -> None:
    """Otherwise the tests below would prove nothing."""
    stream = cupy.cuda.get_current_stream()
    spin(WHILE)
    time.sleep(0.1 * WHILE)
    assert is_running(stream)
    stream.synchronize()
    assert not is_running(stream)


def test_reading_a_value_would_be_seen(spin: Spin) -> None:
    x = cupy.ones(3)
    spin(0.2)
    float(x.sum())
    assert not is_running(cupy.cuda.get_current_stream())
    with values_stay_on_the_device(), pytest.raises(cupyx.DeviceSynchronized):
        float(x.sum())


def test_a_training_step_waits_for_nothing(step: Step, spin: Spin) -> None:
    stream = cupy.cuda.get_current_stream()
    with values_stay_on_the_device():
        spin(WHILE)
        value = step()
        still_running = is_running(stream)
    stream.synchronize()
    assert still_running
    assert np.isfinite(float(value))


def test_a_training_step_learns(step: Step) -> None:
    values = [step() for _ in range(20)]
    assert float(values[-1]) < float(values[0])


# Streams ------------------------------------------------------------------------------------------


def late(spin: Spin, array: Any, seconds: float) -> Any:
    """Return an array that gets its values at the end of a slow kernel on the current stream."""
    filled = cupy.full(array.shape, np.nan)
    cupy.cuda.Device().synchronize()  # before, it is NaN on whatever stream it is looked at
    spin(seconds)
    filled[...] = array
    return filled


def energy(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(x @ w) ** 2 * np.exp(-x[:, :1]))


class Problem(NamedTuple):
    """Arguments on the device, and the gradients that NumPy gives."""

    x: Any
    w: Any
    of_x: Any
    of_w: Any


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(32, 8)), rng.normal(size=(8, 8))
    return Problem(cupy.asarray(x), cupy.asarray(w), *gw.grad(energy, (0, 1))(x, w))


def in_flight(attempt: Attempt) -> list[Any]:
    """Return what is computed behind a slow kernel that still runs when all has been launched.

    A first attempt without it compiles the kernels and gives each stream its memory.
    """
    attempt(0.0)
    cupy.cuda.Device().synchronize()
    stream, results = attempt(0.5)
    assert is_running(stream)
    cupy.cuda.Device().synchronize()
    return results


def close(found: list[Any], expected: list[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.get(), b, rtol=1e-12, atol=1e-13)


def test_a_transform_runs_on_the_current_stream(problem: Problem, spin: Spin) -> None:
    stream = cupy.cuda.Stream(non_blocking=True)

    def attempt(seconds: float) -> tuple[Any, list[Any]]:
        with stream:
            x = late(spin, problem.x, seconds)
            return stream, list(gw.grad(energy, (0, 1))(x, problem.w))

    close(in_flight(attempt), [problem.of_x, problem.of_w])


def test_backward_runs_on_the_stream_of_forward(problem: Problem, spin: Spin) -> None:
    """Though it is called where another stream is the current one."""
    stream = cupy.cuda.Stream(non_blocking=True)

    def attempt(seconds: float) -> tuple[Any, list[Any]]:
        with stream:
            x = gw.wrap(late(spin, problem.x, seconds), requires_grad=True)
            w = gw.wrap(problem.w, requires_grad=True)
            value = energy(x, w)
        value.backward()
        return stream, [x.grad, w.grad]

    close(in_flight(attempt), [problem.of_x, problem.of_w])


def test_what_follows_backward_waits_for_it_on_the_device(problem: Problem, spin: Spin) -> None:
    """The caller's stream may use the gradient at once; the host does not wait."""
    stream, caller = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))

    def attempt(seconds: float) -> tuple[Any, list[Any]]:
        with stream:
            x: Any = gw.wrap(late(spin, problem.x, seconds), requires_grad=True)
            value = energy(x, problem.w)
        with caller:
            value.backward()
            return stream, [2.0 * x.grad]

    close(in_flight(attempt), [2.0 * problem.of_x])


def test_two_streams_in_one_graph(problem: Problem, spin: Spin) -> None:
    first, second = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))

    def attempt(seconds: float) -> tuple[Any, list[Any]]:
        with first:
            x = gw.wrap(late(spin, problem.x, seconds), requires_grad=True)
            second.wait_event(first.record())
            left = np.sum(np.sin(x) @ problem.w)
        with second:
            right = np.sum(np.cos(x))
            second.wait_event(first.record())
            total = left + right
        total.backward()
        return first, [x.grad]

    w = problem.w.get()
    expected = gw.grad(lambda x: np.sum(np.sin(x) @ w) + np.sum(np.cos(x)))(problem.x.get())
    close(in_flight(attempt), [expected])


# Memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - NUMPYS))
def test_a_compiled_program_gives_what_eager_gives(name: str) -> None:
    function, args = PROGRAMS[name]
    compiled_twice(function, *on_device(args))


def test_a_step_needs_hardly_more_memory_than_by_hand() -> None:
    device = gpu()
    args = [cupy.asarray(array) for array in mlp.data(np.random.default_rng(0), batch=4096)]
    by_hand = device.peak(partial(mlp.loss_by_hand, cupy, *args))
    gradient: Any = gw.grad(partial(mlp.loss, np), mlp.MLP.argnums)
    own = device.peak(partial(gradient, *args))
    assert own <= 1.1 * by_hand


def test_memory_goes_back_to_the_pool_without_the_collector() -> None:
    pool = cupy.get_default_memory_pool()
    step = taped()
    for _ in range(WARM_UP):
        step()
    used = pool.used_bytes()
    for _ in range(5):
        step()
    assert pool.used_bytes() == used


def test_saved_arrays_can_wait_on_the_host() -> None:
    data, params = network()
    gradient: Any = gw.grad(partial(mlp.loss, np), (2,))
    expected = gradient(*data, *params)[0]
    with gw.save_on_cpu():
        tracked: Any = gw.wrap(params[0], requires_grad=True)
        mlp.loss(np, *data, tracked, *params[1:]).backward()
    assert type(tracked.grad) is cupy.ndarray
    np.testing.assert_allclose(tracked.grad.get(), expected.get(), rtol=1e-5, atol=1e-7)
