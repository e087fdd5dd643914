"""Three programs, six array libraries, one text.

Each program takes its functions from its arguments, as the Python Array API standard has it, and
knows no library; the gradients come from `gradwrap`, which knows the standard too. So all of it
runs on whatever arrays it is given, and gives the numbers that NumPy gives:

- *the width of a kernel*: ridge regression on a Gaussian kernel, whose width and ridge are chosen
  by gradient descent on the error for points that were left out; it solves a linear system;
- *a recurrent network* learns to add up a sequence, step by step, in an ordinary loop;
- *a chain of springs* is aimed: where to start so that after some time the last mass is where it
  should be. Its state is read by slices and written in place.

A library that is not installed is left out, and so is CuPy without a GPU; the table says so. Names
of libraries on the command line, as in `python examples/everywhere.py torch`, choose among them.
"""

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import array_api_compat
import numpy as np
from numpy.typing import NDArray

import gradwrap as gw

Array: TypeAlias = Any  # any library's: the standard has no type for it yet
RANDOM = np.random.default_rng(0)


# A kernel's width -------------------------------------------------------------------------------


def left_out_error(log_width: Array, log_ridge: Array, x: Array, y: Array) -> Array:
    """Fit every second point, and measure the error at the others."""
    xp = array_api_compat.array_namespace(log_width, x, y)

    def kernel(a: Array, b: Array) -> Array:
        distance = (a[:, None] - b[None, :]) / xp.exp(log_width)
        return xp.exp(-0.5 * distance * distance)

    fitted, tested = x[::2], x[1::2]
    ridge = xp.exp(log_ridge) * xp.eye(fitted.shape[0], dtype=x.dtype)
    weights = xp.linalg.solve(kernel(fitted, fitted) + ridge, y[::2])
    error = kernel(tested, fitted) @ weights - y[1::2]
    return xp.mean(error * error)


def kernel_width(array: Callable[[Any], Array]) -> Array:
    points = np.sort(RANDOM_POINTS)
    x, y = array(points), array(np.sin(3.0 * points) + 0.1 * NOISE)
    gradient = gw.value_and_grad(left_out_error, argnums=(0, 1))
    log_width, log_ridge = array(0.0), array(-2.0)
    for _ in range(5):
        _, (of_width, of_ridge) = gradient(log_width, log_ridge, x, y)
        log_width = log_width - 2.0 * of_width
        log_ridge = log_ridge - 2.0 * of_ridge
    return joined([log_width, log_ridge])


RANDOM_POINTS, NOISE = RANDOM.uniform(-2.0, 2.0, 30), RANDOM.standard_normal(30)


# A recurrent network ----------------------------------------------------------------------------


def network_loss(parameters: dict[str, Array], sequences: Array, sums: Array) -> Array:
    xp = array_api_compat.array_namespace(sequences)
    state = xp.zeros((sequences.shape[0], parameters["start"].shape[0]), dtype=sequences.dtype)
    state = state + parameters["start"]
    for t in range(sequences.shape[1]):
        seen = sequences[:, t : t + 1] * parameters["in"]
        state = xp.tanh(state @ parameters["across"] + seen)
    error = state @ parameters["out"] - sums
    return xp.mean(error * error)


def recurrent_network(array: Callable[[Any], Array]) -> Array:
    parameters = {name: array(values) for name, values in START.items()}
    sequences, sums = array(SEQUENCES), array(np.sum(SEQUENCES, axis=1))
    for _ in range(4):
        gradient = gw.grad(network_loss)(parameters, sequences, sums)
        parameters = {name: w - 0.1 * gradient[name] for name, w in parameters.items()}
    return joined(list(parameters.values()))


SEQUENCES = RANDOM.uniform(-0.5, 0.5, (16, 5))
START = {
    "start": np.zeros(4),
    "in": RANDOM.standard_normal(4),
    "across": 0.5 * RANDOM.standard_normal((4, 4)),
    "out": RANDOM.standard_normal(4),
}


# A chain of springs -----------------------------------------------------------------------------


def miss(position: Array) -> Array:
    """How far from 2 the last mass is, after the chain has swung, and how far it was bent."""
    xp = array_api_compat.array_namespace(position)
    at = position * 1.0
    velocity = xp.zeros_like(at)
    for _ in range(8):
        pull = at[1:] - at[:-1]
        velocity[:-1] += 0.2 * pull
        velocity[1:] -= 0.2 * pull
        at += 0.2 * velocity
    return (at[-1] - 2.0) ** 2 + 0.01 * xp.sum(position * position)


def chain_of_springs(array: Callable[[Any], Array]) -> Array:
    position = array(np.linspace(0.0, 1.0, 6))
    for _ in range(4):
        position = position - 0.5 * gw.grad(miss)(position)
    return position


# On every library -------------------------------------------------------------------------------

PROGRAMS = {
    "the width of a kernel": kernel_width,
    "a recurrent network": recurrent_network,
    "a chain of springs": chain_of_springs,
}


class Library(NamedTuple):
    """How to make arrays, and how to read them when all is done."""

    array: Callable[[Any], Array]
    to_numpy: Callable[[Array], NDArray[np.float64]]


def joined(arrays: list[Array]) -> Array:
    """All elements in one vector."""
    xp = array_api_compat.array_namespace(*arrays)
    return xp.concat([xp.reshape(array, (-1,)) for array in arrays])


LIBRARIES = ("numpy", "array_api_strict", "torch", "jax", "dask", "cupy")
NO_GPU = "finds no GPU"


def library(name: str) -> Library:
    """How to use a library; an ImportError where it is not installed."""
    if name == "dask":
        chunked = importlib.import_module("dask.array").from_array

        def in_chunks(a: Any) -> Array:
            return chunked(np.asarray(a, dtype=np.float64))

        return Library(in_chunks, np.asarray)
    if name == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    xp = importlib.import_module("jax.numpy" if name == "jax" else name)
    read: Any = np.from_dlpack if name == "array_api_strict" else np.asarray
    if name == "cupy":
        if not xp.is_available():
            raise ImportError(NO_GPU)
        read = xp.asnumpy

    def array(a: Any) -> Array:
        return xp.asarray(a, dtype=xp.float64)

    return Library(array, read)


def main(names: Sequence[str] = LIBRARIES) -> dict[str, dict[str, NDArray[np.float64]]]:
    """What each program comes to on each library that is installed."""
    results: dict[str, dict[str, NDArray[np.float64]]] = {name: {} for name in PROGRAMS}
    print(f"{'largest difference from NumPy':<30}" + "".join(f"{n:>24}" for n in PROGRAMS))
    for name in dict.fromkeys(["numpy", *names]):
        try:
            found = library(name)
        except ImportError as error:
            print(f"{name:<30}{NO_GPU if error.msg == NO_GPU else 'not installed'}")
            continue
        cells: list[str] = []
        for title, program in PROGRAMS.items():
            result = found.to_numpy(program(found.array))
            results[title][name] = result
            difference = np.max(np.abs(result - results[title]["numpy"]))
            cells.append(f"{difference:>24.0e}" if name != "numpy" else f"{'-':>24}")
        print(f"{name:<30}" + "".join(cells))
    return results


if __name__ == "__main__":
    main(sys.argv[1:] or LIBRARIES)
