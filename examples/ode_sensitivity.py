"""Ask how a differential equation's solution depends on its parameters, and what to measure next.

Hares and lynxes follow the equations of Lotka and Volterra. The solver is the classical
Runge-Kutta method, in plain NumPy. Forward mode carries the derivative with respect to all four
rates along the solution (`gw.jacfwd`); reverse mode gives the derivative of one number, the peak
of the hares, with respect to everything (`gw.grad`). The two agree.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gradwrap as gw

Floats: TypeAlias = NDArray[np.float64]

NAMES = ("hares' births", "hares eaten", "lynxes' deaths", "lynxes fed")
RATES = np.array([0.55, 0.028, 0.84, 0.026])
START = np.array([30.0, 4.0])
YEARS, STEPS = 20.0, 400
TIMES = np.linspace(0.0, YEARS, STEPS + 1)


def growth(state: Floats, rates: Floats) -> Floats:
    hares, lynxes = state
    births, eaten, deaths, fed = rates
    return np.stack(
        [births * hares - eaten * hares * lynxes, fed * hares * lynxes - deaths * lynxes]
    )


def solve(rates: Floats, start: Floats) -> Floats:
    """Return the animals at all times, in thousands; (times, 2)."""
    h = YEARS / STEPS
    state = start
    states = [state]
    for _ in range(STEPS):
        k1 = growth(state, rates)
        k2 = growth(state + 0.5 * h * k1, rates)
        k3 = growth(state + 0.5 * h * k2, rates)
        k4 = growth(state + h * k3, rates)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        states.append(state)
    return np.stack(states)


def peak(rates: Floats, start: Floats) -> np.float64:
    """Return the highest number of hares."""
    return np.max(solve(rates, start)[:, 0])


class Result(NamedTuple):
    """The solution, its sensitivities, and the check of one mode against the other."""

    states: Floats
    sensitivity: Floats  # d state / d log rate; (times, 2, 4)
    of_peak: Floats  # d peak / d log rate
    difference: float  # between the modes, relative


def main() -> Result:
    states = solve(RATES, START)
    sensitivity = gw.jacfwd(solve)(RATES, START) * RATES
    of_rates, of_start = gw.grad(peak, argnums=(0, 1))(RATES, START)
    of_peak = of_rates * RATES
    at = int(np.argmax(states[:, 0]))
    difference = float(np.max(np.abs(sensitivity[at, 0] - of_peak)) / np.max(np.abs(of_peak)))
    print(f"{4 * STEPS} evaluations; the hares peak at {states[at, 0]:.1f} thousand\n")
    print("1 % more of ...      changes the peak by")
    for name, slope in zip(NAMES, of_peak, strict=True):
        print(f"{name:<20} {10.0 * slope:>+8.0f} hares")
    for name, slope, number in zip(("first hares", "first lynxes"), of_start, START, strict=True):
        print(f"{name:<20} {10.0 * slope * number:>+8.0f} hares")
    print(f"\nforward and reverse mode: {difference:.0e} apart")
    return Result(states, sensitivity, of_peak, difference)


def picture(result: Result, path: str = "ode_sensitivity.png") -> None:
    """Draw the animals, and how their numbers shift with the rates."""
    figure = Figure(figsize=(8.0, 4.6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    for k, name in enumerate(("hares", "lynxes")):
        # the effect of independent errors of 2 % in each rate
        spread = 0.02 * np.sqrt(np.sum(result.sensitivity[:, k] ** 2, axis=1))
        top.plot(TIMES, result.states[:, k], label=name)
        low, high = result.states[:, k] - spread, result.states[:, k] + spread
        top.fill_between(TIMES, low, high, alpha=0.3)
    top.set(ylabel="thousands", title="Hares and lynxes, with rates known to 2 %")
    top.legend()
    for k, name in enumerate(NAMES):
        bottom.plot(TIMES, 0.01 * result.sensitivity[:, 0, k], label=name)
    bottom.set(xlabel="year", ylabel="thousand hares", title="Change if a rate is 1 % higher")
    bottom.legend(ncols=2, fontsize="small")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
