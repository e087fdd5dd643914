"""Infer how a rod conducts heat, point by point, from thermometers at a few places.

The rod is cold, and its ends are kept hot. Its temperature follows the heat equation, which is
solved in explicit steps that write in place, as one would in plain NumPy. Least squares needs the
derivative of every reading with respect to the conductivity of each of the rod's pieces;
`gw.jacfwd` carries them all through the six hundred steps at once.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import least_squares

import gradwrap as gw

Floats: TypeAlias = NDArray[np.float64]

PIECES, STEPS, EVERY = 40, 600, 30
THERMOMETERS = np.arange(3, PIECES, 4)
NOISE, ROUGHNESS = 0.005, 0.1
PLACES = np.linspace(0.0, 1.0, PIECES)
BETWEEN = 0.5 * (PLACES[1:] + PLACES[:-1])
TRUTH = 0.25 - 0.15 * np.exp(-(((BETWEEN - 0.55) / 0.12) ** 2))  # worse in the middle


def temperatures(conductivity: Floats) -> Floats:
    """Return what the thermometers read, every few steps."""
    u = np.zeros_like(conductivity, shape=PIECES)
    u[0], u[-1] = 1.0, 0.6  # the ends are kept hot
    readings: list[Floats] = []
    for step in range(STEPS):
        flow = conductivity * (u[1:] - u[:-1])
        u[1:-1] += flow[1:] - flow[:-1]
        if step % EVERY == EVERY - 1:
            readings.append(u[THERMOMETERS])
    return np.stack(readings)


def residuals(logs: Floats, measured: Floats) -> Floats:
    """Return the errors in units of the noise, and the differences of neighbours as a penalty."""
    errors: Floats = (temperatures(np.exp(logs)) - measured) / NOISE
    return np.concatenate([errors.ravel(), np.diff(logs) / ROUGHNESS])


class Result(NamedTuple):
    """The inferred conductivity, its error bars, and the readings."""

    conductivity: Floats
    errors: Floats
    measured: Floats
    misfit_per_reading: float


def main() -> Result:
    rng = np.random.default_rng(0)
    measured = temperatures(TRUTH) + NOISE * rng.normal(size=(STEPS // EVERY, len(THERMOMETERS)))
    start = np.full(PIECES - 1, np.log(0.2))
    fit = least_squares(residuals, start, gw.jacfwd(residuals), args=(measured,))
    conductivity = np.exp(fit.x)
    errors = conductivity * np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)))
    of_readings = fit.fun[: measured.size]
    result = Result(conductivity, errors, measured, float(np.mean(of_readings**2)))
    print(f"{PIECES - 1} conductivities from {measured.size} readings, {fit.njev} Jacobians")
    print(f"mean squared residual, in units of the noise: {result.misfit_per_reading:.2f}")
    off = np.abs(conductivity - TRUTH) / errors
    print(f"within two error bars of the truth: {np.mean(off < 2.0):.0%}")
    return result


def picture(result: Result, path: str = "heat_equation.png") -> None:
    """Draw the readings, and the conductivity along the rod."""
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for k in range(0, len(result.measured), 3):
        left.plot(PLACES[THERMOMETERS], result.measured[k], "o-", ms=3, lw=0.8)
    left.set(xlabel="place", ylabel="temperature", title="readings, at seven times")
    low, high = result.conductivity - 2 * result.errors, result.conductivity + 2 * result.errors
    right.fill_between(BETWEEN, low, high, alpha=0.3, label="two errors")
    right.plot(BETWEEN, result.conductivity, label="inferred")
    right.plot(BETWEEN, TRUTH, "k--", label="truth")
    right.set(xlabel="place", ylabel="conductivity", ylim=(0.0, 0.4))
    right.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
