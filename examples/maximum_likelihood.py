"""Fit a model by maximum likelihood: `scipy.optimize.minimize` with an exact gradient.

The data are those of Efron, Hastie, Johnstone and Tibshirani, "Least angle regression" (2004):
the progression of diabetes in 442 patients within a year, and ten measurements taken before it.
scikit-learn ships them.

1. Progression is Gaussian, with a mean linear in the measurements and an unknown width sigma. Here
   the answer is known in closed form (ordinary least squares), and the fit must find it.
2. The width, too, depends on the measurements. There is no closed form any more, but only one line
   of the likelihood changes.

Standard errors come from the second derivatives, which are gradients of the gradient.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes

import gradwrap as gw

Floats: TypeAlias = NDArray[np.float64]


def gaussian_nll(residuals: Floats, log_sigma: Floats) -> np.floating:
    """Return the negative log-likelihood of Gaussian residuals, in nats per observation."""
    z: Floats = residuals / np.exp(log_sigma)
    return np.mean(0.5 * z**2 + log_sigma) + 0.5 * math.log(2 * math.pi)


def hessian(fun: Callable[[Floats], np.floating], x: Floats) -> Floats:
    """Return the Hessian of `fun` at `x`: the gradient of each component of the gradient."""

    def row(unit: Floats) -> Floats:
        def slope(z: Floats) -> np.floating:
            gradient: Floats = gw.grad(fun)(z)
            return np.sum(gradient * unit)

        second: Floats = gw.grad(slope)(x)
        return second

    return np.stack([row(unit) for unit in np.eye(len(x))])


class Fit(NamedTuple):
    """A maximum-likelihood estimate."""

    estimate: Floats
    standard_errors: Floats
    log_likelihood: float
    evaluations: int


def fit(nll: Callable[[Floats], np.floating], start: Floats, observations: int) -> Fit:
    """Minimise the negative log-likelihood per observation `nll`, from `start`."""
    result = minimize(gw.value_and_grad(nll), start, jac=True, options={"gtol": 1e-8})
    assert result.success, result.message
    covariance = np.linalg.inv(observations * hessian(nll, result.x))
    return Fit(
        estimate=result.x,
        standard_errors=np.sqrt(np.diag(covariance)),
        log_likelihood=-observations * float(result.fun),
        evaluations=int(result.nfev),
    )


def print_rows(names: list[str], columns: list[tuple[Floats, Floats]]) -> None:
    for i, name in enumerate(names):
        cells = [f"{value[i]:>15.4f} ± {error[i]:>8.4f}" for value, error in columns]
        print(f"{name:<10}{''.join(cells)}")


class Result(NamedTuple):
    """The fits, and how far the first is from the known answer."""

    constant_width: Fit
    varying_width: Fit
    estimate_error: float  # in units of the standard errors
    standard_error_error: float  # relative
    names: list[str]


def main() -> Result:
    data = load_diabetes()
    n, k = data.data.shape
    # The first column is ones; the others have mean 0 and standard deviation 1.
    x = np.column_stack([np.ones(n), data.data / data.data.std(axis=0)])
    y = data.target
    names = ["intercept", *data.feature_names, "log sigma"]
    start = np.concatenate([[y.mean()], np.zeros(k), [np.log(y.std())]])

    def constant_width(theta: Floats) -> np.floating:
        return gaussian_nll(y - x @ theta[:-1], theta[-1])

    def varying_width(theta: Floats) -> np.floating:
        beta, gamma = theta[: k + 1], theta[k + 1 :]
        return gaussian_nll(y - x @ beta, x @ gamma)

    first = fit(constant_width, start, n)

    # The textbooks' answer: least squares, and the inverse of the Fisher information.
    beta = np.linalg.lstsq(x, y)[0]
    sigma = math.sqrt(np.mean((y - x @ beta) ** 2))
    known = np.append(beta, math.log(sigma))
    known_errors = np.append(
        sigma * np.sqrt(np.diag(np.linalg.inv(x.T @ x))), math.sqrt(1 / (2 * n))
    )

    print(f"Diabetes progression of {n} patients, {k} measurements in standard units\n")
    print(f"1. Gaussian of constant width, found in {first.evaluations} evaluations\n")
    print(f"{'':<10}{'maximum likelihood':>26}{'closed form':>26}")
    print_rows(names, [(first.estimate, first.standard_errors), (known, known_errors)])
    estimate_error = float(np.max(np.abs(first.estimate - known) / known_errors))
    standard_error_error = float(np.max(np.abs(first.standard_errors / known_errors - 1)))
    print(
        f"\nThey agree to {estimate_error:.0e} standard errors, "
        f"and the standard errors to {standard_error_error:.0e} of themselves.\n"
    )

    second = fit(varying_width, np.append(first.estimate, np.zeros(k)), n)
    values, errors = second.estimate, second.standard_errors
    print(f"2. Gaussian of varying width, found in {second.evaluations} evaluations\n")
    print(f"{'':<10}{'mean':>26}{'log sigma':>26}")
    print_rows(
        names[: k + 1],
        [(values[: k + 1], errors[: k + 1]), (values[k + 1 :], errors[k + 1 :])],
    )
    gain = 2 * (second.log_likelihood - first.log_likelihood)
    print(
        f"\nTwice the log-likelihood grows by {gain:.1f}; {k} more parameters that mean nothing "
        f"would give {k} ± {math.sqrt(2 * k):.1f}."
    )
    return Result(first, second, estimate_error, standard_error_error, names)


def picture(result: Result, path: str = "maximum_likelihood.png") -> None:
    """Draw the effects on the mean and on the width, with error bars."""
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    k = len(result.names) - 2
    values, errors = result.varying_width.estimate, result.varying_width.standard_errors
    for axes, start, title in ((left, 1, "effect on the mean"), (right, k + 2, "on log sigma")):
        part = slice(start, start + k)
        axes.axvline(0.0, color="0.7")
        axes.errorbar(values[part], result.names[1 : k + 1], xerr=2 * errors[part], fmt="o")
        axes.set(title=f"{title}, with two standard errors")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
