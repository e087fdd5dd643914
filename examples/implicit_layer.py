"""Train a layer whose output is the solution of an equation, not the end of a computation.

The layer's output is the state `z` at which `z = tanh(W z + U x + b)`: a network of infinitely
many equal layers (Bai, Kolter and Koltun, "Deep equilibrium models", 2019). `gw.custom_root` takes
any solver and differentiates its result by the implicit function theorem. So backward does not go
through the solver's steps: it takes no memory for them, however many there were, and the solver
may be any code. Here the layer learns to tell two interlocked spirals apart.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gradwrap as gw

Floats: TypeAlias = NDArray[np.float64]
Params: TypeAlias = dict[str, Floats]

STATE, POINTS, STEPS, RATE = 24, 200, 400, 0.02
TOLERANCE = 1e-10


def update(z: Floats, params: Params, x: Floats) -> Floats:
    """Apply the layer once; its weights are scaled so that it is a contraction."""
    w = params["w"]
    w = 0.95 * w / np.maximum(0.95, np.sqrt(np.sum(w**2)))
    found: Floats = np.tanh(z @ w + x @ params["u"] + params["b"])
    return found


def equilibrium(params: Params, x: Floats) -> Floats:
    """Return the state that the layer maps to itself, for each row of `x`."""

    def residual(z: Floats) -> Floats:
        return update(z, params, x) - z

    def solve(f: Any, z: Floats) -> Floats:
        change = f(z)
        while np.max(np.abs(change)) > TOLERANCE:
            z = z + change
            change = f(z)
        return z

    def tangent_solve(g: Any, y: Floats) -> Floats:
        # g(t) = J t - t, for the layer's slope J: t = -y + J t converges, as the layer does
        t = -y
        change = y - g(t)
        while np.max(np.abs(change)) > TOLERANCE:
            t = t - change
            change = y - g(t)
        return t

    found: Floats = gw.custom_root(residual, np.zeros((len(x), STATE)), solve, tangent_solve)
    return found


def loss(params: Params, x: Floats, labels: Floats) -> np.floating:
    """Return the mean logistic loss; labels are 1 and -1."""
    scores = equilibrium(params, x) @ params["out"]
    return np.mean(np.logaddexp(0.0, -labels * scores))


def spirals(rng: np.random.Generator) -> tuple[Floats, Floats]:
    turn = rng.uniform(0.3, 1.4, POINTS) * 2.0 * np.pi
    labels = np.where(np.arange(POINTS) % 2 == 0, 1.0, -1.0)
    x = labels[:, None] * turn[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return (x + 0.15 * rng.normal(size=x.shape)) / 4.0, labels


class Result(NamedTuple):
    """The data, the trained layer, and the check of its gradient."""

    x: Floats
    labels: Floats
    params: Params
    losses: list[float]
    accuracy: float


def main(steps: int = STEPS) -> Result:
    rng = np.random.default_rng(0)
    x, labels = spirals(rng)
    params: Params = {
        "w": rng.normal(size=(STATE, STATE)) / STATE,
        "u": 2.0 * rng.normal(size=(2, STATE)),
        "b": rng.normal(size=STATE),
        "out": np.zeros(STATE),
    }
    first, second = ({name: np.zeros_like(p) for name, p in params.items()} for _ in range(2))
    losses: list[float] = []
    for step in range(1, steps + 1):  # Adam
        value, slope = gw.value_and_grad(loss)(params, x, labels)
        losses.append(float(value))
        for name, g in slope.items():
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.99 * second[name] + 0.01 * g**2
            size = np.sqrt(second[name] / (1 - 0.99**step)) + 1e-8
            params[name] = params[name] - RATE * first[name] / (1 - 0.9**step) / size
        if step % 100 == 0 or step == 1:
            print(f"step {step:>4}   loss {losses[-1]:.4f}")
    right = np.sign(equilibrium(params, x) @ params["out"]) == labels
    accuracy = int(np.count_nonzero(right)) / POINTS
    print(f"{accuracy:.1%} of {POINTS} points on the right side")
    return Result(x, labels, params, losses, accuracy)


def picture(result: Result, path: str = "implicit_layer.png") -> None:
    """Draw the spirals and the layer's decision."""
    figure = Figure(figsize=(5.6, 5.0), layout="constrained")
    axes = figure.subplots()
    a, b = np.meshgrid(np.linspace(-2.6, 2.6, 120), np.linspace(-2.6, 2.6, 120))
    grid = np.stack([a.ravel(), b.ravel()], axis=1)
    scores = equilibrium(result.params, grid) @ result.params["out"]
    axes.contourf(a, b, np.tanh(scores).reshape(a.shape), levels=21, cmap="RdBu", alpha=0.7)
    for label, colour in ((1.0, "navy"), (-1.0, "darkred")):
        points = result.x[result.labels == label]
        axes.plot(points[:, 0], points[:, 1], ".", color=colour)
    axes.set(title=f"{result.accuracy:.0%} on the right side", xticks=[], yticks=[])
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
