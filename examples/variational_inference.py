"""Approximate a posterior by a Gaussian, by stochastic gradients through its samples.

The data are eleven measurements with a Student error. A place and the logarithm of a width are
inferred. The approximation is the Gaussian nearest to the posterior. Its samples are `mean + scale
@ noise`, a function of its parameters with fixed noise, so the evidence bound can be
differentiated through them (the "reparametrisation"). With two parameters the posterior can also
be computed on a grid, which shows how good the approximation is.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import gammaln

import gradwrap as gw

Floats: TypeAlias = NDArray[np.floating]
Guide: TypeAlias = dict[str, Floats]

DATA = np.array([1.2, 0.7, 2.1, 1.6, 0.9, 1.4, 5.0, 1.1, 1.8, 0.4, 1.5])
FREEDOM = 3.0
STEPS, SAMPLES, RATE = 1_500, 20, 0.02


def log_posterior(theta: Floats) -> Any:
    """Return the logarithm of the posterior of (place, log width), but for a constant."""
    place, log_width = theta[0], theta[1]
    z = (DATA - place) / np.exp(log_width)
    tails = -0.5 * (FREEDOM + 1.0) * np.log1p(z**2 / FREEDOM)
    norm = gammaln(0.5 * (FREEDOM + 1.0)) - gammaln(0.5 * FREEDOM) - 0.5 * np.log(FREEDOM * np.pi)
    prior = -0.5 * (place / 10.0) ** 2 - 0.5 * log_width**2
    return np.sum(tails + norm - log_width) + prior


def negative_bound(guide: Guide, noise: Floats) -> Any:
    """Return minus the evidence bound: it is smallest for the Gaussian nearest to the posterior."""
    scale = np.tril(guide["scale"], -1) + np.diag(np.exp(guide["log_diagonal"]))
    samples = guide["mean"] + noise @ scale.T
    values: Floats = gw.vmap(log_posterior)(samples)
    return -np.mean(values) - np.sum(guide["log_diagonal"])


class Result(NamedTuple):
    """The Gaussian, the moments on a grid, and the bounds on the way."""

    mean: Floats
    covariance: Floats
    grid_mean: Floats
    grid_covariance: Floats
    bounds: Floats


def on_grid() -> tuple[Floats, Floats, Floats]:
    """Return points of a grid, and the posterior's mean and covariance there."""
    x, y = np.meshgrid(np.linspace(0.0, 3.0, 120), np.linspace(-2.0, 1.5, 120))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    logs: Floats = gw.vmap(log_posterior)(points)
    weights = np.exp(logs - np.max(logs))
    weights /= np.sum(weights)
    mean = weights @ points
    return points, mean, (points - mean).T @ (weights[:, None] * (points - mean))


def main() -> Result:
    rng = np.random.default_rng(0)
    guide: Guide = {"mean": np.zeros(2), "log_diagonal": np.zeros(2), "scale": np.zeros((2, 2))}
    first, second = ({name: np.zeros_like(p) for name, p in guide.items()} for _ in range(2))
    bounds: list[float] = []
    bound_and_slope = gw.value_and_grad(negative_bound)
    for step in range(1, STEPS + 1):  # Adam, with a rate that falls
        bound, slope = bound_and_slope(guide, rng.normal(size=(SAMPLES, 2)))
        bounds.append(-float(bound))
        for name, g in slope.items():
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.999 * second[name] + 0.001 * g**2
            size = np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
            rate = RATE * min(1.0, 2.0 - 2.0 * step / STEPS)
            guide[name] = guide[name] - rate * first[name] / (1 - 0.9**step) / size
    scale = np.tril(guide["scale"], -1) + np.diag(np.exp(guide["log_diagonal"]))
    _, mean, covariance = on_grid()
    result = Result(guide["mean"], scale @ scale.T, mean, covariance, np.array(bounds))
    print(f"{'':<22}{'place':>8}{'log width':>12}")
    for name, values in {
        "mean, Gaussian": result.mean,
        "mean, grid": mean,
        "deviation, Gaussian": np.sqrt(np.diag(result.covariance)),
        "deviation, grid": np.sqrt(np.diag(covariance)),
    }.items():
        print(f"{name:<22}{values[0]:>8.3f}{values[1]:>12.3f}")
    return result


def picture(result: Result, path: str = "variational_inference.png") -> None:
    """Draw the posterior, the Gaussian, and the evidence bound."""
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    points, _, _ = on_grid()
    logs: Floats = gw.vmap(log_posterior)(points)
    shape = (120, 120)
    x, y = points[:, 0].reshape(shape), points[:, 1].reshape(shape)
    left.contourf(x, y, np.exp(logs - np.max(logs)).reshape(shape), levels=10, cmap="Blues")
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    for size in (1.0, 2.0):
        ring = result.mean[:, None] + size * np.linalg.cholesky(result.covariance) @ circle
        left.plot(ring[0], ring[1], "C1")
    left.set(xlabel="place", ylabel="log width", title="posterior, and the Gaussian")
    left.set(xlim=(0.5, 2.2), ylim=(-1.5, 0.7))
    right.plot(result.bounds, lw=0.6)
    right.set(xlabel="step", title="evidence bound", ylim=(result.bounds[-1] - 10, None))
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
