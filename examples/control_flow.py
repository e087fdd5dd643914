"""Differentiate loops and branches that differ from run to run.

Kepler's equation, M = E - e sin E, gives a planet's position at a time, but has no solution in
closed form. Newton's iteration stops when it is accurate enough: after a few steps for an orbit
that is nearly a circle, after more for a long ellipse. The shape of Mercury's orbit is then found
from its distances to the sun on twelve days, by gradients through these iterations.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import gradwrap as gw

MERCURY_AXIS, MERCURY_E, MERCURY_DAYS = 0.38710, 0.20563, 87.969


def anomaly(mean: float, e: Any) -> tuple[Any, int]:
    """Return the eccentric anomaly E, and the number of steps it took."""
    steps = 0
    angle = mean + 0.0 * e if e < 0.8 else math.pi + 0.0 * e  # a long ellipse starts at the far end
    while True:
        change = (angle - e * np.sin(angle) - mean) / (1.0 - e * np.cos(angle))
        angle = angle - change
        steps += 1
        if abs(change) < 1e-12:
            return angle, steps


def distance(day: float, axis: Any, e: Any) -> Any:
    """Return the distance to the sun, in astronomical units, `day` days after perihelion."""
    angle, _ = anomaly(2.0 * math.pi * day / MERCURY_DAYS, e)
    return axis * (1.0 - e * np.cos(angle))


class Result(NamedTuple):
    """The results, and the check of the gradient."""

    steps: list[int]
    gradient_error: float  # of dE/de, against sin E / (1 - e cos E)
    axis: float
    eccentricity: float
    orbits: dict[int, tuple[float, float]]  # half axis and eccentricity, at some steps


def main() -> Result:
    steps: list[int] = []
    gradient_error = 0.0
    print("   e   steps        E     dE/de   closed form")
    for value in (0.0, 0.2, 0.6, 0.9, 0.99):
        e = gw.wrap(np.array(value), requires_grad=True)
        angle, count = anomaly(0.5, e)
        angle.backward()
        assert e.grad is not None
        found, exact = float(e.grad), math.sin(angle.item()) / (1 - value * math.cos(angle.item()))
        gradient_error = max(gradient_error, abs(found - exact))
        steps.append(count)
        print(f"{value:>5}{count:>6}{angle.item():>12.6f}{found:>10.6f}{exact:>13.6f}")
    print(f"They agree to {gradient_error:.0e}.\n")

    days = np.linspace(3.0, 80.0, 12)
    seen = [float(distance(day, MERCURY_AXIS, np.array(MERCURY_E))) for day in days]
    parameters: list[Any] = [gw.wrap(np.array(v), requires_grad=True) for v in (0.5, 0.05)]
    axis, e = parameters
    orbits: dict[int, tuple[float, float]] = {}
    for step in range(61):
        loss: Any = sum(
            (distance(day, axis, e) - d) ** 2 for day, d in zip(days, seen, strict=True)
        )
        if step in {0, 2, 5, 60}:
            orbits[step] = float(axis.item()), float(e.item())
        if step % 20 == 0:
            print(f"step {step:>3}   half axis {axis.item():.5f}   eccentricity {e.item():.5f}")
        loss.backward()
        for p, rate in zip(parameters, (0.04, 0.3), strict=True):
            with gw.no_grad():
                p -= rate * p.grad  # noqa: PLW2901  in place: this writes to p itself
            p.zero_grad()
    print(f"Mercury's:   half axis {MERCURY_AXIS:.5f}   eccentricity {MERCURY_E:.5f}")
    return Result(steps, gradient_error, float(axis.item()), float(e.item()), orbits)


def picture(result: Result, path: str = "control_flow.png") -> None:
    """Draw the orbits that were tried, and the number of Newton's steps."""
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    turn = np.linspace(0.0, 2.0 * math.pi, 200)
    for step, (axis, e) in result.orbits.items():
        across = axis * math.sqrt(1.0 - e**2) * np.sin(turn)
        left.plot(axis * (np.cos(turn) - e), across, label=f"step {step}")
    left.plot(0.0, 0.0, "o", color="orange", ms=10)
    left.set(aspect="equal", title="Mercury's orbit, as it is found", xlabel="astronomical units")
    left.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    right.bar(["0", "0.2", "0.6", "0.9", "0.99"], result.steps)
    right.set(xlabel="eccentricity", title="steps of Newton's iteration")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
