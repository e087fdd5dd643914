"""A Gaussian process for a record with a trend and a season: fit its scales, and forecast.

The program is the one that textbooks print, in NumPy and SciPy: a covariance matrix, `cho_factor`,
`cho_solve`, and the logarithm of the marginal likelihood. All that was changed are the imports.
Five scales, in a dictionary, are fitted by `gw.optimize.minimize`; the widths of their posterior
come from the Hessian, and the forecast has a band of two standard deviations.
"""

import math
from typing import NamedTuple, TypeAlias

from matplotlib.figure import Figure
from numpy.random import default_rng
from numpy.typing import NDArray

import gradwrap as gw
import gradwrap.numpy as np
from gradwrap.scipy.linalg import cho_factor, cho_solve

Floats: TypeAlias = NDArray[np.float64]
Scales: TypeAlias = dict[str, Floats]

YEARS, AHEAD = 10.0, 3.0
MONTHS = np.arange(0.0, YEARS, 1.0 / 12.0)
NOISE = 0.3
DECAY = 30.0  # the years after which a season is another
START = {
    "trend_size": 2.0,
    "trend_length": 5.0,
    "season_size": 1.0,
    "season_length": 1.0,
    "noise": 0.5,
}


# The program, as it would be in NumPy and SciPy ---------------------------------------------------


def squared_exponential(gaps: Floats, size: Floats, length: Floats) -> Floats:
    """Return a covariance that falls with the distance in time."""
    return size**2 * np.exp(-0.5 * (gaps / length) ** 2)


def seasonal(gaps: Floats, size: Floats, length: Floats) -> Floats:
    """Return a covariance that comes back every year, and is forgotten slowly."""
    wave = np.sin(np.pi * gaps) / length
    return size**2 * np.exp(-2.0 * wave**2 - 0.5 * (gaps / DECAY) ** 2)


def covariance(log_scales: Scales, s: Floats, t: Floats) -> Floats:
    """Return the covariance of the signal at times `s` and `t`."""
    scales = {name: np.exp(value) for name, value in log_scales.items()}
    gaps = s[:, None] - t[None, :]
    K = squared_exponential(gaps, scales["trend_size"], scales["trend_length"])
    K += seasonal(gaps, scales["season_size"], scales["season_length"])
    return K


def factored(log_scales: Scales, t: Floats) -> tuple[Floats, bool]:
    """Return the Cholesky factor of the covariance of the measurements."""
    K = covariance(log_scales, t, t)
    K[np.diag_indices(len(t))] += np.exp(2.0 * log_scales["noise"]) + 1e-10
    factor, lower = cho_factor(K, lower=True)
    return factor, lower


def negative_log_likelihood(log_scales: Scales, t: Floats, y: Floats) -> float | np.floating:
    """Return the negative logarithm of the marginal likelihood."""
    factor, lower = factored(log_scales, t)
    weights: Floats = cho_solve((factor, lower), y)
    log_determinant = 2.0 * np.sum(np.log(np.diag(factor)))
    misfit: float | np.floating = np.sum(y * weights)
    constant = len(y) * math.log(2.0 * math.pi)
    total: float | np.floating = 0.5 * (misfit + log_determinant + constant)
    return total


def forecast(log_scales: Scales, t: Floats, y: Floats, later: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of the signal at other times."""
    factor = factored(log_scales, t)
    across = covariance(log_scales, later, t)
    mean = across @ cho_solve(factor, y)
    explained = np.sum(across * cho_solve(factor, across.T).T, axis=1)
    variance = np.diag(covariance(log_scales, later, later)) - explained
    return mean, np.sqrt(np.maximum(variance, 0.0))


# The fit ------------------------------------------------------------------------------------------


def measurements() -> tuple[Floats, Floats]:
    """Return what was measured, with gaps, and what comes later, both less the mean."""
    random = default_rng(3)

    def signal(t: Floats) -> Floats:
        return 0.04 * t**2 + np.sin(2 * np.pi * t) + 0.3 * np.cos(4 * np.pi * t + 0.02 * t)

    later = np.arange(YEARS, YEARS + AHEAD, 1.0 / 12.0)
    kept = np.sort(random.choice(len(MONTHS), 90, replace=False))
    measured = signal(MONTHS[kept]) + NOISE * random.normal(size=90)
    mean = measured.mean()
    return np.stack([MONTHS[kept], measured - mean]), np.stack([later, signal(later) - mean])


class Result(NamedTuple):
    """The fit, the forecast, and how far the gradient is from a numerical one."""

    measured: Floats
    future: Floats
    scales: dict[str, float]
    errors: dict[str, float]
    mean: Floats
    deviation: Floats
    likelihoods: tuple[float, float]
    gradient_error: float


def gradient_error(log_scales: Scales, t: Floats, y: Floats) -> float:
    """Return the relative error of the gradient along a random direction."""
    random = default_rng(0)
    along = {name: np.asarray(random.normal()) for name in log_scales}
    gradient = gw.grad(negative_log_likelihood)(log_scales, t, y)
    slope = sum(float(gradient[name] * along[name]) for name in along)
    step = 1e-5
    above, below = (
        negative_log_likelihood(gw.tree.map(lambda p, v, s=s: p + s * v, log_scales, along), t, y)
        for s in (step, -step)
    )
    return abs(slope / (float(above - below) / (2 * step)) - 1.0)


def main() -> Result:
    measured, future = measurements()
    t, y = measured
    start = {name: np.asarray(math.log(value)) for name, value in START.items()}
    first = float(negative_log_likelihood(start, t, y))
    fit = gw.optimize.minimize(negative_log_likelihood, start, (t, y), method="L-BFGS-B")
    assert fit.success, fit.message

    flat, unravel = gw.ravel_pytree(fit.x)
    hessian = gw.hessian(lambda v: negative_log_likelihood(unravel(v), t, y))(flat)
    widths = unravel(np.sqrt(np.diag(np.linalg.inv(hessian))))
    times = np.concatenate([MONTHS, future[0]])
    mean, deviation = forecast(fit.x, t, y, times)
    result = Result(
        measured=measured,
        future=future,
        scales={name: math.exp(value) for name, value in fit.x.items()},
        errors={name: float(value) for name, value in widths.items()},
        mean=mean,
        deviation=deviation,
        likelihoods=(-first, -float(fit.fun)),
        gradient_error=gradient_error(start, t, y),
    )
    print(f"{len(t)} months measured, {fit.nfev} evaluations of the likelihood and its gradient")
    print(f"log-likelihood {-first:.1f} before, {-fit.fun:.1f} after the fit\n")
    for name, value in result.scales.items():
        print(f"{name:<15}{value:>9.3f}   (of its logarithm: +- {result.errors[name]:.2f})")
    misses = np.abs(future[1] - mean[len(MONTHS) :]) > 2 * deviation[len(MONTHS) :]
    print(f"\nthe forecast misses {np.sum(misses)} of {len(misses)} months by two deviations")
    print(f"relative error of the gradient: {result.gradient_error:.0e}")
    assert result.gradient_error < 1e-6
    assert abs(result.scales["noise"] / NOISE - 1.0) < 0.3
    return result


def picture(result: Result, path: str = "gaussian_process.png") -> None:
    """Draw the measurements, the process, and its forecast."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.subplots()
    times = np.concatenate([MONTHS, result.future[0]])
    low, high = (result.mean + sign * 2.0 * result.deviation for sign in (-1, 1))
    axes.fill_between(times, low, high, alpha=0.3, label="two deviations")
    axes.plot(times, result.mean, label="mean")
    axes.plot(*result.measured, "k.", markersize=3, label="measured")
    axes.plot(*result.future, "r--", linewidth=1, label="what came later")
    axes.axvline(YEARS, color="grey", linewidth=0.8)
    axes.set(xlabel="year", ylabel="signal", title="A Gaussian process")
    axes.legend(loc="upper left")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
