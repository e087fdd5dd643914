"""How long do patients live? A survival model with censored times, fitted by maximum likelihood.

Some patients are alive when the study ends, so only a lower bound of their survival time is known.
They contribute the probability to live longer, `logsf` of `scipy.stats`, to the likelihood; the
others contribute the density, `logpdf`. The times follow a Weibull distribution whose scale depends
on age and treatment. The program is an ordinary one with SciPy's `weibull_min`; only its imports
were changed. Standard errors come from the Hessian.
"""

import math
from typing import Any, NamedTuple, TypeAlias

import scipy.stats
from matplotlib.figure import Figure
from numpy.random import default_rng
from numpy.typing import NDArray

import gradwrap as gw
import gradwrap.numpy as np
from gradwrap.scipy.stats import weibull_min

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Model: TypeAlias = dict[str, Floats]

PATIENTS, STUDY = 400, 5.0  # years
NAMES = ("intercept", "age", "treatment")
SHAPE, EFFECTS = 1.6, np.array([1.1, -0.35, 0.5])


# The program, as it would be in NumPy and SciPy ---------------------------------------------------


def scale_of(model: Model, covariates: Floats) -> Floats:
    """Return the scale of each patient's distribution, in years."""
    scale: Floats = np.exp(covariates @ model["effects"])
    return scale


def negative_log_likelihood(
    model: Model, times: Floats, died: Bools, covariates: Floats
) -> np.floating:
    """Return the negative log-likelihood per patient."""
    shape, scale = np.exp(model["log_shape"]), scale_of(model, covariates)
    terms = np.empty(len(times))
    terms[died] = weibull_min.logpdf(times[died], shape, scale=scale[died])
    terms[~died] = weibull_min.logsf(times[~died], shape, scale=scale[~died])
    return -np.mean(terms)


def survival(model: Model, t: Floats, covariates: Floats) -> Floats:
    """Return the probability to live longer than each of some times, of the mean patient."""
    shape, scale = np.exp(model["log_shape"]), scale_of(model, covariates)
    curves: Floats = weibull_min.sf(t[:, None], shape, scale=scale[None, :])
    mean: Floats = np.mean(curves, axis=1)
    return mean


def kaplan_meier(times: Floats, died: Bools) -> tuple[Floats, Floats]:
    """Return the estimate of the survival curve that assumes nothing: times, and probabilities."""
    order = np.argsort(times)
    at_risk = np.arange(len(times), 0, -1)
    steps = np.where(died[order], 1.0 - 1.0 / at_risk, 1.0)
    left = np.cumprod(steps)
    return times[order], left.astype(np.float64)


# The fit ------------------------------------------------------------------------------------------


class Study(NamedTuple):
    """The data of a study."""

    times: Floats
    died: Bools
    covariates: Floats


def study() -> Study:
    """Return the times at which patients died or left, and what is known of them."""
    random = default_rng(7)
    age = random.normal(size=PATIENTS)
    treated = random.integers(2, size=PATIENTS).astype(np.float64)
    covariates = np.stack([np.ones(PATIENTS), age, treated], axis=1)
    scale = np.exp(covariates @ EFFECTS)
    weibull: Any = scipy.stats.weibull_min
    deaths: Floats = weibull.rvs(SHAPE, scale=scale, random_state=random)
    ends = random.uniform(1.0, STUDY, size=PATIENTS)  # of each patient's part in the study
    return Study(np.minimum(deaths, ends), deaths <= ends, covariates)


class Result(NamedTuple):
    """The fit, its errors, and how far it is from what is known."""

    data: Study
    model: Model
    errors: Model
    exponential_error: float
    gradient_error: float


def exponential_error(data: Study) -> float:
    """Return how far the rate of an exponential model is from the known one.

    Without covariates, and with the shape held at one, it is the deaths per year that was lived.
    """
    ones = data.covariates[:, :1]

    def loss(intercept: Floats) -> np.floating:
        model = {"log_shape": np.zeros(()), "effects": np.stack([intercept])}
        return negative_log_likelihood(model, data.times, data.died, ones)

    fit = gw.optimize.minimize(loss, np.zeros(()), gtol=1e-10)
    known = np.log(np.sum(data.times) / np.sum(data.died))
    return abs(float(fit.x - known))


def gradient_error(model: Model, data: Study) -> float:
    """Return the relative error of the gradient along a direction."""
    along = gw.tree.map(lambda part: np.ones(part.shape), model)
    gradient = gw.grad(negative_log_likelihood)(model, *data)
    slope = sum(float(np.sum(part)) for part in gw.tree.leaves(gradient))
    above, below = (
        negative_log_likelihood(gw.tree.map(lambda p, v, s=s: p + s * v, model, along), *data)
        for s in (1e-5, -1e-5)
    )
    return abs(slope / (float(above - below) / 2e-5) - 1.0)


def main() -> Result:
    data = study()
    start = {"log_shape": np.zeros(()), "effects": np.zeros(3)}
    fit = gw.optimize.minimize(negative_log_likelihood, start, tuple(data), method="BFGS")
    flat, unravel = gw.ravel_pytree(fit.x)
    hessian = gw.hessian(lambda v: negative_log_likelihood(unravel(v), *data))(flat)
    errors = unravel(np.sqrt(np.diag(np.linalg.inv(PATIENTS * hessian))))
    result = Result(
        data=data,
        model=fit.x,
        errors=errors,
        exponential_error=exponential_error(data),
        gradient_error=gradient_error(start, data),
    )
    print(f"{PATIENTS} patients, {np.sum(data.died)} deaths seen, {fit.nfev} evaluations\n")
    print(f"{'':<12}{'truth':>8}{'fitted':>9}{'error':>8}")
    rows: list[tuple[str, Any, Any, Any]] = [
        ("log shape", math.log(SHAPE), fit.x["log_shape"], errors["log_shape"])
    ]
    rows += zip(NAMES, EFFECTS, fit.x["effects"], errors["effects"], strict=True)
    for name, truth, value, error in rows:
        print(f"{name:<12}{truth:>8.3f}{value:>9.3f}{error:>8.3f}")
        assert abs(value - truth) < 3.5 * error, name
    print(f"\nfrom the known rate of an exponential model: {result.exponential_error:.0e}")
    print(f"relative error of the gradient:              {result.gradient_error:.0e}")
    assert result.exponential_error < 1e-6
    assert result.gradient_error < 1e-6
    return result


def picture(result: Result, path: str = "survival.png") -> None:
    """Draw the survival curves of both groups: the model's, and those that assume nothing."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.subplots()
    t = np.linspace(0.0, STUDY, 200)
    for treated, label in ((0, "not treated"), (1, "treated")):
        group = result.data.covariates[:, 2] == treated
        curve = survival(result.model, t, result.data.covariates[group])
        (line,) = axes.plot(t, curve, label=label)
        steps = kaplan_meier(result.data.times[group], result.data.died[group])
        axes.step(*steps, where="post", color=line.get_color(), linewidth=0.8, alpha=0.7)
    axes.set(xlabel="years", ylabel="alive", ylim=(0.0, 1.0), title="Survival: model and data")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
