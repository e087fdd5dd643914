"""Fit a damped oscillation, with error bars from the Hessian and an error band from the Jacobian.

The tutorial builds this script step by step. Near its minimum, the negative log-likelihood is a
parabola; the inverse of its Hessian is the covariance of the estimates. To first order, an error
of the parameters shifts the prediction by its Jacobian: that gives the band around the curve.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import minimize

import gradwrap as gw

Floats: TypeAlias = NDArray[np.floating]

NAMES = ("amplitude", "decay", "frequency", "phase")
TRUTH = np.array([0.8, 6.0, 2.1, 0.3])
GUESS = np.array([1.0, 5.0, 2.0, 0.0])
ERROR = 0.03
TIMES = np.linspace(0.0, 10.0, 40)


def angle(parameters: Floats, t: Floats) -> Floats:
    """Return the angle of a pendulum that loses height."""
    amplitude, decay, frequency, phase = parameters
    swing: Floats = amplitude * np.exp(-t / decay) * np.cos(frequency * t + phase)
    return swing


def loss(parameters: Floats, measured: Floats) -> float | np.floating:
    """Return the negative logarithm of the likelihood, but for a constant."""
    residuals = (measured - angle(parameters, TIMES)) / ERROR
    return 0.5 * np.sum(residuals**2)


class Result(NamedTuple):
    """The data, the fit, and its errors."""

    measured: Floats
    best: Floats
    covariance: Floats

    @property
    def errors(self) -> Floats:
        """The error bars of the parameters."""
        return np.sqrt(np.diag(self.covariance))

    def band(self, t: Floats) -> Floats:
        """Return the error of the prediction at times."""
        slopes = gw.jacobian(angle)(self.best, t)
        variance: Floats = np.einsum("ti,ij,tj->t", slopes, self.covariance, slopes)
        return np.sqrt(variance)


def main() -> Result:
    noise = ERROR * np.random.default_rng(0).normal(size=len(TIMES))
    measured = angle(TRUTH, TIMES) + noise
    fit = minimize(gw.value_and_grad(loss), GUESS, (measured,), jac=True)
    covariance = np.linalg.inv(gw.hessian(loss)(fit.x, measured))
    result = Result(measured, fit.x, covariance)
    print(f"{len(TIMES)} measurements, {fit.nfev} evaluations of the loss and its gradient\n")
    print(f"{'':<12}{'fitted':>8}{'error':>9}{'truth':>8}")
    for name, value, error, truth in zip(NAMES, result.best, result.errors, TRUTH, strict=True):
        print(f"{name:<12}{value:>8.3f}{error:>9.3f}{truth:>8.3f}")
    return result


def picture(result: Result, path: str = "curve_fit.png") -> None:
    """Draw the measurements, the curve, and its band of two errors."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.subplots()
    t = np.linspace(0.0, 12.0, 400)
    curve, band = angle(result.best, t), 2.0 * result.band(t)
    axes.fill_between(t, curve - band, curve + band, alpha=0.3, label="two errors")
    axes.plot(t, curve, label="fit")
    axes.errorbar(TIMES, result.measured, yerr=ERROR, fmt="k.", label="measured")
    axes.set(xlabel="time", ylabel="angle", title="A damped oscillation")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
