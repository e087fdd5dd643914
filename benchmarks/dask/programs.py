"""Gradients by gradwrap and the same written by hand in Dask: the value, and the gradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw
import gradwrap.dask.array as gda

if TYPE_CHECKING:
    from collections.abc import Callable

    dask: Any
    da: Any
else:
    import dask
    import dask.array as da


def logistic(w: Any, X: Any, y: Any) -> Any:
    t = X @ w
    return (np.logaddexp(0.0, t) - y * t).mean() + 0.01 * (w * w).sum()


def logistic_by_hand(w: Any, X: Any, y: Any) -> Any:
    t = X @ w
    value = (np.logaddexp(0.0, t) - y * t).mean() + 0.01 * (w * w).sum()
    return value, [X.T @ ((1.0 / (1.0 + np.exp(-t)) - y) / len(y)) + 0.02 * w]


def perceptron(p: Any, X: Any, y: Any) -> Any:
    hidden = np.tanh(X @ p["V"] + p["b"])
    return ((hidden @ p["w"] - y) ** 2).mean()


def perceptron_by_hand(p: Any, X: Any, y: Any) -> Any:
    hidden = np.tanh(X @ p["V"] + p["b"])
    error = hidden @ p["w"] - y
    of_out = 2.0 * error / len(y)
    inside = of_out[:, None] * p["w"] * (1.0 - hidden**2)
    return (error**2).mean(), [X.T @ inside, inside.sum(axis=0), hidden.T @ of_out]


def laplacian(b: Any) -> Any:
    around = b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:]
    return around - 4.0 * b[1:-1, 1:-1]


def reaction(b: Any) -> Any:
    """One step of a reaction with diffusion."""
    c = b[1:-1, 1:-1]
    return c + 0.1 * laplacian(b) + 0.2 * (c - c**3)


WIDE: dict[str, Any] = {"depth": 1, "boundary": "periodic", "trim": False, "dtype": float}


def stencil(u: Any, wanted: Any) -> Any:
    return ((gda.map_overlap(reaction, u, **WIDE) - wanted) ** 2).mean()


def reaction_pulled(b: Any, g: Any) -> Any:
    c = b[1:-1, 1:-1]
    return g[1:-1, 1:-1] * (1.2 - 0.6 * c**2) + 0.1 * laplacian(g)


def stencil_by_hand(u: Any, wanted: Any) -> Any:
    error = da.map_overlap(reaction, u, **WIDE) - wanted
    cotangent = 2.0 * error / error.size
    return (error**2).mean(), [da.map_overlap(reaction_pulled, u, cotangent, **WIDE)]


def data(rows: int, columns: int, chunk: int) -> Any:
    random = da.random.default_rng(0)
    X = random.normal(size=(rows, columns), chunks=(chunk, columns))
    return X, (random.random(rows, chunks=chunk) > 0.5).astype(float)


def parameters(columns: int, hidden: int) -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {
        "V": 0.3 * random.normal(size=(columns, hidden)),
        "b": 0.1 * random.normal(size=hidden),
        "w": random.normal(size=hidden),
    }


def fields(size: int, chunk: int) -> Any:
    random = da.random.default_rng(1)
    return tuple(random.normal(size=(size, size), chunks=(chunk, chunk)) for _ in range(2))


class Program:
    """A function with arguments, of which the first is differentiated, and its gradient by hand."""

    def __init__(
        self, function: Callable[..., Any], by_hand: Callable[..., Any], *arguments: Any
    ) -> None:
        self.function = function
        self.by_hand = by_hand
        self.arguments = arguments

    def by_gradwrap(self) -> list[Any]:
        """Return the value and the gradients, as lazy arrays."""
        value, gradient = gw.value_and_grad(self.function)(*self.arguments)
        return [value, *gw.tree.leaves(gradient)]

    def written_out(self) -> list[Any]:
        """Return the same, written by hand."""
        value, gradients = self.by_hand(*self.arguments)
        return [value, *gradients]


def programs(
    rows: int = 4000, columns: int = 8, hidden: int = 6, chunk: int = 250, edge: int = 16
) -> dict[str, Program]:
    """Return the programs: on so many rows in chunks, and on fields of about as many chunks."""
    X, y = data(rows, columns, chunk)
    w = 0.1 * np.random.default_rng(2).normal(size=columns)
    size = edge * math.isqrt(rows // chunk)
    return {
        "logistic": Program(logistic, logistic_by_hand, w, X, y),
        "perceptron": Program(perceptron, perceptron_by_hand, parameters(columns, hidden), X, y),
        "stencil": Program(stencil, stencil_by_hand, *fields(size, edge)),
    }


NAMES = ("logistic", "perceptron", "stencil")


def number_of_tasks(arrays: list[Any]) -> int:
    """Return how many tasks compute them, after Dask's own optimisation."""
    return len({key for one in dask.optimize(*arrays) for key in one.dask})
