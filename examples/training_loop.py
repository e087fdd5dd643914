"""Run the loop of PyTorch's tutorials on NumPy arrays: forward, backward, step, reset.

Gradient descent fits a cubic to the sine. Least squares gives the same answer in closed form, which
shows how close the loop has come.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import gradwrap as gw

STEPS = 2_000
LEARNING_RATE = 0.4


class Result(NamedTuple):
    """The results of the loop."""

    losses: list[float]
    distance: float  # largest difference from the coefficients of least squares
    coefficients: list[float]  # of the powers of x


def main() -> Result:
    x = np.linspace(-math.pi, math.pi, 2_000)
    target = np.sin(x)
    powers = np.stack([(x / math.pi) ** k for k in range(4)], axis=1)
    weights = gw.wrap(np.random.default_rng(0).normal(size=4), requires_grad=True)

    losses: list[float] = []
    for step in range(1, STEPS + 1):
        error = powers @ weights - target
        loss: Any = np.mean(error**2)
        loss.backward()
        with gw.no_grad():
            assert weights.grad is not None
            weights -= LEARNING_RATE * weights.grad  # in place, in the same buffer
        weights.zero_grad()
        losses.append(float(loss.item()))
        if step in {1, 10, 100, 1_000, STEPS}:
            print(f"step {step:>5}   mean squared error {losses[-1]:.6f}")

    best = np.linalg.lstsq(powers, target)[0]
    a, b, c, d = weights.data / math.pi ** np.arange(4)
    print(f"\nsin x = {a:.4f} + {b:.4f} x + {c:.4f} x^2 + {d:.4f} x^3, from -pi to pi")
    distance = float(np.max(np.abs(weights.data - best)))
    print(f"The coefficients of least squares are those, to {distance:.0e}.")
    return Result(losses, distance, [float(a), float(b), float(c), float(d)])


def picture(result: Result, path: str = "training_loop.png") -> None:
    """Draw the loss, and the cubic beside the sine."""
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.loglog(result.losses)
    left.set(xlabel="step", ylabel="mean squared error")
    x = np.linspace(-math.pi, math.pi, 200)
    right.plot(x, np.sin(x), label="sine")
    right.plot(x, np.polyval(result.coefficients[::-1], x), "--", label="cubic")
    right.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
