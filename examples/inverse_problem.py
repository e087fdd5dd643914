"""Find where a pollutant entered a river, and how it spreads, from a few gauges downstream.

The concentration follows a partial differential equation: it is carried along, it spreads, it
decays, and a source adds to it for a while. The program is the usual one: a right-hand side that
fills an array in place, and `solve_ivp`. Six unknowns, the place and the strength of the source
among them, are fitted by `gw.optimize.least_squares`, which differentiates the program through all
steps of the solver. Only the imports of the program were changed.
"""

import math
from typing import NamedTuple, TypeAlias

from matplotlib.figure import Figure
from numpy.random import default_rng
from numpy.typing import NDArray

import gradwrap as gw
import gradwrap.numpy as np
from gradwrap.scipy.integrate import solve_ivp

Floats: TypeAlias = NDArray[np.float64]
Unknowns: TypeAlias = dict[str, Floats]

LENGTH, CELLS = 10.0, 40  # km
PLACES = np.linspace(0.0, LENGTH, CELLS)
STEP = LENGTH / (CELLS - 1)
TIMES = np.linspace(0.0, 12.0, 40)  # hours
GAUGES = np.array([12, 20, 32])
NOISE = 0.02
TRUTH = {
    "source": 2.4, "log_strength": math.log(1.5), "log_spread": math.log(0.06),
    "log_speed": math.log(0.7), "log_decay": math.log(0.05), "end": 2.0,
}  # fmt: skip
GUESS = {
    "source": 4.0, "log_strength": math.log(0.7), "log_spread": math.log(0.1),
    "log_speed": math.log(0.5), "log_decay": math.log(0.1), "end": 3.0,
}  # fmt: skip


# The program, as it would be in NumPy and SciPy ---------------------------------------------------


class River:
    """A river with a source of pollution."""

    def __init__(self, unknowns: Unknowns) -> None:
        self.spread = np.exp(unknowns["log_spread"])
        self.speed = np.exp(unknowns["log_speed"])
        self.decay = np.exp(unknowns["log_decay"])
        self.end = unknowns["end"]
        shape = np.exp(-0.5 * ((PLACES - unknowns["source"]) / 0.3) ** 2)
        self.source = np.exp(unknowns["log_strength"]) * shape

    def open(self, t: float) -> Floats:
        """Return how far the source is open: it is shut within a quarter of an hour."""
        shut: Floats = np.tanh((t - self.end) / 0.25)
        return 0.5 - 0.5 * shut

    def rate(self, t: float, c: Floats) -> Floats:
        """Return the rate of change of the concentration in each cell."""
        rate = np.zeros_like(c)
        rate[1:] -= self.speed * (c[1:] - c[:-1]) / STEP  # carried along
        rate[1:-1] += self.spread * (c[2:] - 2.0 * c[1:-1] + c[:-2]) / STEP**2
        rate[-1] += self.spread * (c[-2] - c[-1]) / STEP**2
        rate -= self.decay * c
        rate += self.open(t) * self.source
        rate[0] = 0.0  # clean water flows in
        return rate

    def concentrations(self, rtol: float = 1e-5) -> Floats:
        """Return the concentration in each cell at each time."""
        start = np.zeros(CELLS)
        run = solve_ivp(
            self.rate, (TIMES[0], TIMES[-1]), start, t_eval=TIMES, rtol=rtol, atol=0.01 * rtol
        )
        assert run.success, run.message
        found: Floats = run.y
        return found


def residuals(unknowns: Unknowns, measured: Floats, rtol: float = 1e-5) -> Floats:
    """Return by how much the gauges differ from what they should show, in standard deviations."""
    shown: Floats = River(unknowns).concentrations(rtol)[GAUGES]
    return (shown - measured) / NOISE


# The fit ------------------------------------------------------------------------------------------


class Result(NamedTuple):
    """The fit, its errors, and how far its Jacobian is from a numerical one."""

    measured: Floats
    unknowns: dict[str, float]
    errors: dict[str, float]
    shown: Floats
    concentrations: Floats
    evaluations: int
    chi_squared: float
    jacobian_error: float


def jacobian_error(unknowns: Unknowns, measured: Floats) -> float:
    """Return the largest error of a column of the Jacobian, relative to its length."""
    fine = 1e-7  # the steps of the solver differ, which differences of its results show
    jacobian = gw.jacobian(residuals)(unknowns, measured, fine)
    errors: list[float] = []
    for name, column in jacobian.items():
        above, below = (
            residuals({**unknowns, name: unknowns[name] + step}, measured, fine)
            for step in (1e-4, -1e-4)
        )
        error = np.linalg.norm((above - below) / 2e-4 - column) / np.linalg.norm(column)
        errors.append(float(error))
    return max(errors)


def main() -> Result:
    truth = {name: np.asarray(value) for name, value in TRUTH.items()}
    guess = {name: np.asarray(value) for name, value in GUESS.items()}
    noise = NOISE * default_rng(5).normal(size=(len(GAUGES), len(TIMES)))
    measured = River(truth).concentrations()[GAUGES] + noise
    fit = gw.optimize.least_squares(residuals, guess, (measured,), x_scale="jac", ftol=1e-6)
    assert fit.success, fit.message

    J = np.stack([fit.jac[name].ravel() for name in TRUTH], axis=1)
    errors = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
    concentrations = River(fit.x).concentrations()
    result = Result(
        measured=measured,
        unknowns={name: float(fit.x[name]) for name in TRUTH},
        errors=dict(zip(TRUTH, errors.tolist(), strict=True)),
        shown=concentrations[GAUGES],
        concentrations=concentrations,
        evaluations=int(fit.nfev),
        chi_squared=2.0 * float(fit.cost) / (measured.size - len(TRUTH)),
        jacobian_error=jacobian_error(guess, measured),
    )
    print(f"{measured.size} readings, {result.evaluations} runs of the river and their Jacobians\n")
    print(f"{'':<14}{'truth':>8}{'guess':>8}{'fitted':>9}{'error':>8}")
    for name, value in result.unknowns.items():
        print(
            f"{name:<14}{TRUTH[name]:>8.3f}{GUESS[name]:>8.3f}{value:>9.3f}"
            f"{result.errors[name]:>8.3f}"
        )
    print(f"\nchi squared per degree of freedom: {result.chi_squared:.2f}")
    print(f"relative error of the Jacobian:    {result.jacobian_error:.0e}")
    assert result.jacobian_error < 1e-4
    assert 0.7 < result.chi_squared < 1.3
    for name, value in result.unknowns.items():
        assert abs(value - TRUTH[name]) < 4.0 * result.errors[name], name
    return result


def picture(result: Result, path: str = "inverse_problem.png") -> None:
    """Draw the readings with the fit, and the concentration over place and time."""
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for place, readings, shown in zip(PLACES[GAUGES], result.measured, result.shown, strict=True):
        (line,) = left.plot(TIMES, shown, label=f"at {place:.1f} km")
        left.plot(TIMES, readings, ".", color=line.get_color(), markersize=4)
    left.set(xlabel="hours", ylabel="concentration", title="Three gauges")
    left.legend()
    image = right.pcolormesh(PLACES, TIMES, result.concentrations.T, shading="auto")
    right.axvline(result.unknowns["source"], color="w", linestyle="--", linewidth=1)
    right.set(xlabel="km", ylabel="hours", title="The river, and the source found")
    figure.colorbar(image, ax=right)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
