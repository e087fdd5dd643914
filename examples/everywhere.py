"""Run the same three programs on six array libraries.

Each program gets its functions from its arguments, as the Python Array API standard intends, and
names no library; neither does `gradwrap`, which computes the gradients. So the programs run on
whatever arrays they are given, and return the same numbers as on NumPy:

- *the width of a kernel*: ridge regression on a Gaussian kernel, whose width and ridge are chosen
  by gradient descent on the error for points that were left out; it solves a linear system;
- *a recurrent network* learns to add up a sequence, step by step, in an ordinary loop;
- *a chain of springs* is aimed: it finds a start from which the last mass reaches a given place
  after some time. Its state is read by slices and written in place.

A library that is not installed is skipped, and so is CuPy without a GPU; the table says so. To
choose libraries, name them on the command line, as in `python examples/everywhere.py torch`.
"""

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import array_api_compat
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gradwrap as gw

Array: TypeAlias = Any  # any library's: the standard has no type for it yet
RANDOM = np.random.default_rng(0)


# A kernel's width -------------------------------------------------------------------------------


def left_out_error(log_width: Array, log_ridge: Array, x: Array, y: Array) -> Array:
    """Fit every second point, and return the error at the others."""
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
    """Return how far the last mass misses 2 after the chain has swung, and how far it was bent."""
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
    """The functions that make a library's arrays, and read them at the end."""

    array: Callable[[Any], Array]
    to_numpy: Callable[[Array], NDArray[np.float64]]


def joined(arrays: list[Array]) -> Array:
    """Join all elements in one vector."""
    xp = array_api_compat.array_namespace(*arrays)
    return xp.concat([xp.reshape(array, (-1,)) for array in arrays])


LIBRARIES = ("numpy", "array_api_strict", "torch", "jax", "dask", "cupy")
NO_GPU = "finds no GPU"


def library(name: str) -> Library:
    """Describe how to use a library; raise an ImportError if it is not installed."""
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
    """Return the result of each program on each library that is installed."""
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


def picture(
    results: dict[str, dict[str, NDArray[np.float64]]], path: str = "everywhere.png"
) -> None:
    """Draw a table of how far each library's results are from NumPy's."""
    figure = Figure(figsize=(8.0, 2.8), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    cells: list[list[str]] = []
    for name in LIBRARIES:
        there = [found.get(name) for found in results.values()]
        gaps = [
            None if own is None else float(np.max(np.abs(own - found["numpy"])))
            for own, found in zip(there, results.values(), strict=True)
        ]
        cells.append(["not here" if gap is None else f"{gap:.0e}" for gap in gaps])
    colours = [["#eee" if cell == "not here" else "#d9f0d9" for cell in row] for row in cells]
    table = axes.table(cells, colours, rowLabels=LIBRARIES, colLabels=list(results), loc="center")
    table.scale(1.0, 1.6)
    axes.set_title("largest difference from NumPy's results")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main(sys.argv[1:] or LIBRARIES))
