"""Estimate the noise of a tracked vehicle: the likelihood of a Kalman filter, differentiated.

A vehicle is seen by a sensor that sometimes loses it. The filter is written as in any signal
processing course: arrays of zeros that are filled step by step, predictions and corrections in
place. The likelihood of the measurements depends on four unknowns: the random acceleration of the
vehicle, the drag, and the errors of the sensor along and across. They are found by maximum
likelihood; only the import of NumPy was changed in the program.
"""

import math
from typing import Any, NamedTuple, TypeAlias

import scipy.stats
from matplotlib.figure import Figure
from numpy.random import default_rng
from numpy.typing import NDArray

import gradwrap as gw
import gradwrap.numpy as np

Floats: TypeAlias = NDArray[np.float64]
Parameters: TypeAlias = dict[str, Floats]

STEPS, DT = 100, 0.5
LOST = np.arange(50, 62)  # the steps in which the sensor sees nothing
TRUTH = {"acceleration": 0.4, "drag": 0.05, "error_along": 1.0, "error_across": 2.5}
START = {"acceleration": 1.0, "drag": 0.2, "error_along": 3.0, "error_across": 3.0}


# The program, as it would be in NumPy and SciPy ---------------------------------------------------


def dynamics(drag: Floats) -> Floats:
    """Return the matrix that moves positions and velocities on by a step."""
    F = np.eye(4)
    F[0, 2] = F[1, 3] = DT
    F[2, 2] = F[3, 3] = 1.0 - drag * DT
    return F


def process_noise(acceleration: Floats) -> Floats:
    """Return the covariance that a random acceleration adds in a step."""
    Q = np.zeros((4, 4))
    Q[0, 0] = Q[1, 1] = DT**4 / 4.0
    Q[0, 2] = Q[2, 0] = Q[1, 3] = Q[3, 1] = DT**3 / 2.0
    Q[2, 2] = Q[3, 3] = DT**2
    Q *= acceleration**2
    return Q


def measurement_noise(along: Floats, across: Floats) -> Floats:
    """Return the covariance of a measurement."""
    R = np.zeros((2, 2))
    R[0, 0], R[1, 1] = along**2, across**2
    return R


def kalman_filter(
    log_parameters: Parameters, measured: Floats
) -> tuple[float | np.floating, Floats, Floats]:
    """Return the log-likelihood, the filtered states, and their covariances."""
    parameters = {name: np.exp(value) for name, value in log_parameters.items()}
    F = dynamics(parameters["drag"])
    Q = process_noise(parameters["acceleration"])
    R = measurement_noise(parameters["error_along"], parameters["error_across"])
    H = np.eye(2, 4)

    steps = len(measured)
    means = np.zeros((steps, 4))
    covariances = np.zeros((steps, 4, 4))
    x = np.zeros(4)
    P = 100.0 * np.eye(4)
    log_likelihood: float | np.floating = 0.0
    for k in range(steps):
        if k > 0:  # predict
            x = F @ x
            P = F @ P @ F.T
            P += Q
        if not np.isnan(measured[k, 0]):  # correct
            innovation = measured[k] - H @ x
            S = H @ P @ H.T + R
            precision = np.linalg.inv(S)
            gain = P @ H.T @ precision
            log_likelihood -= 0.5 * (innovation @ precision @ innovation)
            log_likelihood -= 0.5 * np.linalg.slogdet(2.0 * np.pi * S)[1]
            x += gain @ innovation
            P -= gain @ S @ gain.T
        means[k] = x
        covariances[k] = P
    return log_likelihood, means, covariances


def negative_log_likelihood(log_parameters: Parameters, measured: Floats) -> float | np.floating:
    """Return what is minimised."""
    return -kalman_filter(log_parameters, measured)[0]


# The fit ------------------------------------------------------------------------------------------


def drive() -> tuple[Floats, Floats]:
    """Return a vehicle's states, and what the sensor measures of them."""
    random = default_rng(2)
    F, L = dynamics(np.asarray(TRUTH["drag"])), np.array([DT**2 / 2.0, DT])
    states = np.zeros((STEPS, 4))
    states[0] = [0.0, 0.0, 6.0, 2.0]
    for k in range(1, STEPS):
        push = TRUTH["acceleration"] * random.normal(size=2)
        states[k] = F @ states[k - 1] + np.outer(L, push).ravel()
    errors = random.normal(size=(STEPS, 2)) * [TRUTH["error_along"], TRUTH["error_across"]]
    measured = states[:, :2] + errors
    measured[LOST] = np.nan
    return states, measured


def dense_log_likelihood(log_parameters: Parameters, measured: Floats) -> float:
    """Return the log-likelihood from the joint covariance of all measurements, without a filter."""
    parameters = {name: np.exp(value) for name, value in log_parameters.items()}
    F = dynamics(parameters["drag"])
    Q = process_noise(parameters["acceleration"])
    R = measurement_noise(parameters["error_along"], parameters["error_across"])
    steps = len(measured)
    own = [100.0 * np.eye(4)]
    for _ in range(steps - 1):
        own.append(F @ own[-1] @ F.T + Q)
    joint = np.zeros((steps, 2, steps, 2))
    for i in range(steps):
        across = own[i]
        for j in range(i, steps):
            joint[i, :, j] = across[:2, :2]
            joint[j, :, i] = across[:2, :2].T
            across = across @ F.T
        joint[i, :, i] += R
    seen = ~np.isnan(measured).ravel()
    covariance = joint.reshape(2 * steps, 2 * steps)[np.ix_(seen, seen)]
    normal: Any = scipy.stats.multivariate_normal
    return float(normal.logpdf(measured.ravel()[seen], cov=covariance))


class Result(NamedTuple):
    """The fit, the filtered states, and how far value and gradient are from known ones."""

    states: Floats
    measured: Floats
    parameters: dict[str, float]
    errors: dict[str, float]
    means: Floats
    covariances: Floats
    likelihood_error: float
    gradient_error: float


def gradient_error(log_parameters: Parameters, measured: Floats) -> float:
    """Return the relative error of the gradient, by differences of each component."""
    gradient = gw.grad(negative_log_likelihood)(log_parameters, measured)
    errors: list[float] = []
    for name, slope in gradient.items():
        above, below = (
            negative_log_likelihood({**log_parameters, name: log_parameters[name] + step}, measured)
            for step in (1e-5, -1e-5)
        )
        errors.append(abs(float(slope) - float(above - below) / 2e-5) / abs(float(slope)))
    return max(errors)


def main() -> Result:
    states, measured = drive()
    start = {name: np.asarray(math.log(value)) for name, value in START.items()}
    fit = gw.optimize.minimize(negative_log_likelihood, start, (measured,), method="BFGS")
    flat, unravel = gw.ravel_pytree(fit.x)
    hessian = gw.hessian(lambda v: negative_log_likelihood(unravel(v), measured))(flat)
    covariance = np.linalg.inv(hessian)
    errors = np.sqrt(np.diag(covariance))
    _, means, covariances = kalman_filter(fit.x, measured)
    dense = dense_log_likelihood(fit.x, measured)
    result = Result(
        states=states,
        measured=measured,
        parameters={name: math.exp(value) for name, value in fit.x.items()},
        errors=dict(zip(sorted(fit.x), errors.tolist(), strict=True)),
        means=means,
        covariances=covariances,
        likelihood_error=abs(float(fit.fun) + dense),
        gradient_error=gradient_error(start, measured),
    )
    print(f"{STEPS} steps, {fit.nfev} evaluations of the likelihood and its gradient\n")
    print(f"{'':<14}{'truth':>8}{'fitted':>9}{'error of its logarithm':>25}")
    for name, value in result.parameters.items():
        print(f"{name:<14}{TRUTH[name]:>8.2f}{value:>9.2f}{result.errors[name]:>25.2f}")
    print(f"\nfrom the likelihood without a filter: {result.likelihood_error:.0e}")
    print(f"relative error of the gradient:       {result.gradient_error:.0e}")
    assert result.likelihood_error < 1e-6
    assert result.gradient_error < 1e-5
    for name, value in result.parameters.items():
        assert abs(math.log(value / TRUTH[name])) < 3.5 * result.errors[name], name
    return result


def picture(result: Result, path: str = "kalman_filter.png") -> None:
    """Draw the track, what was measured, and the filtered positions with their errors."""
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    top, bottom = figure.subplots(2, sharex=True)
    times = DT * np.arange(STEPS)
    for axes, index, name in ((top, 0, "along"), (bottom, 1, "across")):
        error = 2.0 * np.sqrt(result.covariances[:, index, index])
        mean = result.means[:, index]
        axes.fill_between(times, mean - error, mean + error, alpha=0.3)
        axes.plot(times, mean, label="filtered")
        axes.plot(times, result.states[:, index], "k--", linewidth=1, label="true")
        axes.plot(times, result.measured[:, index], "r.", markersize=3, label="measured")
        axes.set(ylabel=f"position {name}")
    top.legend()
    top.set(title="A Kalman filter, fitted by maximum likelihood")
    bottom.set(xlabel="time")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
