"""Fit a spline with free knots to a measured curve: where to put them is a part of the fit.

With fixed knots, a spline is linear in its coefficients, and least squares is one `lstsq`. Where
the curve has a sharp peak, far fewer knots suffice if they can move there. The program is written
with SciPy's `BSpline`; that the residuals depend on the knots in a way that nobody wants to
differentiate by hand does not matter. All that was changed are its imports.
"""

from typing import Any, NamedTuple, TypeAlias

import scipy.interpolate
from matplotlib.figure import Figure
from numpy.random import default_rng
from numpy.typing import NDArray

import gradwrap as gw
import gradwrap.numpy as np
from gradwrap.scipy.interpolate import BSpline

Floats: TypeAlias = NDArray[np.float64]
Spline: TypeAlias = dict[str, Floats]

DEGREE, INNER = 3, 5
POINTS = np.linspace(0.0, 1.0, 150)
NOISE = 0.015


# The program, as it would be in NumPy and SciPy ---------------------------------------------------


def knots_of(gaps: Floats) -> Floats:
    """Return the whole knot vector, whose inner knots are in order whatever the gaps are."""
    lengths = np.exp(gaps)
    lengths /= np.sum(lengths)
    inner = np.cumsum(lengths)[:-1]
    knots = np.zeros(INNER + 2 * (DEGREE + 1))
    knots[DEGREE + 1 : -(DEGREE + 1)] = inner
    knots[-(DEGREE + 1) :] = 1.0
    return knots


def curve(spline: Spline, x: Floats) -> Floats:
    """Return the spline at some points."""
    found: Floats = BSpline(knots_of(spline["gaps"]), spline["coefficients"], DEGREE)(x)
    return found


def residuals(spline: Spline, x: Floats, y: Floats) -> dict[str, Floats]:
    """Return how far the curve is from the data, and a weak pull of the knots to even gaps."""
    pull = spline["gaps"] - np.mean(spline["gaps"])
    return {"data": (curve(spline, x) - y) / NOISE, "knots": 0.1 * pull}


def linear_fit(gaps: Floats, x: Floats, y: Floats) -> Spline:
    """Return the best coefficients for given knots, by linear least squares."""
    knots = knots_of(gaps)
    design = scipy.interpolate.BSpline.design_matrix(x, knots, DEGREE).toarray()
    return {"gaps": gaps, "coefficients": np.linalg.lstsq(design, y)[0]}


# The fit ------------------------------------------------------------------------------------------


def peak(x: Floats) -> Floats:
    """Return a curve that is flat but for a sharp peak."""
    return 0.3 * x + 1.0 / (1.0 + ((x - 0.62) / 0.035) ** 2)


class Result(NamedTuple):
    """The data, the fits, and how far they are from what is known."""

    y: Floats
    even: Floats
    free: Floats
    knots: Floats
    errors: dict[str, float]
    evaluations: int
    linear_error: float
    jacobian_error: float


def error_of(found: Floats) -> float:
    """Return the root of the mean squared distance from the curve without noise."""
    return float(np.sqrt(np.mean((found - peak(POINTS)) ** 2)))


def jacobian_error(spline: Spline, x: Floats, y: Floats) -> float:
    """Return the error of the Jacobian along a random direction."""
    random = default_rng(1)
    along = gw.tree.map(lambda part: random.normal(size=part.shape), spline)
    jacobian: Any = gw.jacobian(residuals)(spline, x, y)
    blocks = jacobian["data"]
    product = sum(blocks[name] @ along[name] for name in along)
    step = 1e-6
    above, below = (
        residuals(gw.tree.map(lambda p, v, s=s: p + s * v, spline, along), x, y)["data"]
        for s in (step, -step)
    )
    numerical = (above - below) / (2.0 * step)
    return float(np.linalg.norm(product - numerical) / np.linalg.norm(numerical))


def main() -> Result:
    y = peak(POINTS) + NOISE * default_rng(0).normal(size=len(POINTS))
    even = linear_fit(np.zeros(INNER + 1), POINTS, y)

    # With the knots held, the fit has to find what linear algebra finds.
    def with_even_knots(coefficients: Floats) -> Floats:
        return residuals({"gaps": even["gaps"], "coefficients": coefficients}, POINTS, y)["data"]

    held = gw.optimize.least_squares(with_even_knots, np.zeros(INNER + DEGREE + 1))
    linear_error = float(np.max(np.abs(held.x - even["coefficients"])))

    fit = gw.optimize.least_squares(residuals, even, (POINTS, y), max_nfev=400)
    found = curve(fit.x, POINTS)
    result = Result(
        y=y,
        even=curve(even, POINTS),
        free=found,
        knots=knots_of(fit.x["gaps"])[DEGREE + 1 : -(DEGREE + 1)],
        errors={"even": error_of(curve(even, POINTS)), "free": error_of(found)},
        evaluations=int(fit.nfev),
        linear_error=linear_error,
        jacobian_error=jacobian_error(even, POINTS, y),
    )
    print(f"{len(POINTS)} points, {INNER} inner knots, {result.evaluations} evaluations\n")
    print(f"error with even knots: {result.errors['even']:.4f}")
    print(f"error with free knots: {result.errors['free']:.4f}   (noise: {NOISE})")
    print(f"knots: {np.round(result.knots, 3)}\n")
    print(f"from linear least squares, knots held: {result.linear_error:.0e}")
    print(f"relative error of the Jacobian:        {result.jacobian_error:.0e}")
    assert result.linear_error < 1e-8
    assert result.jacobian_error < 1e-6
    assert result.errors["free"] < result.errors["even"] / 3.0
    return result


def picture(result: Result, path: str = "spline_fit.png") -> None:
    """Draw the data, the splines, and the knots."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(POINTS, result.y, "k.", markersize=3, label="measured")
    axes.plot(POINTS, result.even, linewidth=1, label="even knots")
    axes.plot(POINTS, result.free, label="free knots")
    for knot in result.knots:
        axes.axvline(knot, color="grey", linewidth=0.6)
    axes.set(xlabel="x", ylabel="y", title="A spline whose knots move to the peak")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
