"""Run the loop of PyTorch's tutorials on NumPy arrays: forward, backward, step, reset.

Gradient descent fits a cubic to the sine. Least squares gives the same answer in closed form, which
shows how close the loop has come.
"""

import math
from typing import Any, NamedTuple

import numpy as np

import gradwrap as gw

STEPS = 2_000
LEARNING_RATE = 0.4


class Result(NamedTuple):
    """The results of the loop."""

    losses: list[float]
    distance: float  # largest difference from the coefficients of least squares


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
    return Result(losses, distance)


if __name__ == "__main__":
    main()
