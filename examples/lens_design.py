"""Design a lens of two glasses: rays are traced through it, and its curves follow the gradient.

Light of a far point on the axis enters as parallel rays. Each surface is a sphere, where Snell's
law bends them. A single lens focuses blue light nearer than red, and rays at its edge nearer than
those at its centre. A second glass behind it can undo both, if the three curvatures are right. The
merit is the size of the spot on the sensor, for three colours. The tracing is plain NumPy; the
gradient goes through every refraction.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import minimize

import gradwrap as gw

Floats: TypeAlias = NDArray[np.float64]

SENSOR = 100.0  # millimetres behind the first surface
GAPS = (0.0, 6.0, 3.0)  # from the surface before to each surface
COLOURS = {  # the index of crown and flint glass, by Cauchy's formula
    "blue": (1.5224, 1.6321),
    "green": (1.5168, 1.6200),
    "red": (1.5143, 1.6150),
}
HEIGHTS = np.linspace(-12.0, 12.0, 15)
START = np.array([1.0, -1.0, -0.5])  # curvatures; 1 is a radius of 100 mm


def trace(curvatures: Floats, indices: tuple[float, float]) -> tuple[list[Floats], list[Floats]]:
    """Return where the rays are along and across the axis, at each surface and the sensor."""
    across: Floats = HEIGHTS
    along: Floats = 0.0 * HEIGHTS
    slope: Floats = 0.0 * HEIGHTS  # the sine of the angle to the axis
    path_along, path_across = [along - 15.0], [across]
    vertex = 0.0
    media = (1.0, *indices, 1.0)
    for k in range(3):
        vertex += GAPS[k]
        cosine = np.sqrt(1.0 - slope**2)
        # the ray meets the sphere c (x^2 + y^2) = 2 x, with x from the vertex, after a distance
        x, c = along - vertex, curvatures[k] / 100.0
        outside = c * (x**2 + across**2) - 2.0 * x
        b = cosine - c * (x * cosine + across * slope)
        distance = outside / (b + np.sqrt(b**2 - c * outside))
        along, across = along + distance * cosine, across + distance * slope
        normal_across = c * across
        normal_along = np.sqrt(1.0 - normal_across**2)
        # Snell's law, as vectors
        ratio = media[k] / media[k + 1]
        cos_in = cosine * normal_along - slope * normal_across
        cos_out = np.sqrt(1.0 - ratio**2 * (1.0 - cos_in**2))
        slope = ratio * slope - (cos_out - ratio * cos_in) * normal_across
        path_along.append(along)
        path_across.append(across)
    at_sensor = across + (SENSOR - along) * slope / np.sqrt(1.0 - slope**2)
    return [*path_along, np.full(len(HEIGHTS), SENSOR)], [*path_across, at_sensor]


def merit(curvatures: Floats) -> Any:
    """Return the mean square of the rays' distances from the axis on the sensor."""
    hits = np.concatenate([trace(curvatures, indices)[1][-1] for indices in COLOURS.values()])
    return np.mean(hits**2)


class Result(NamedTuple):
    """The lens before and after; spots are the root mean square radius, in millimetres."""

    curvatures: Floats
    spot_before: float
    spot_after: float


def main() -> Result:
    fit = minimize(
        gw.value_and_grad(merit),
        START,
        jac=True,
        hess=gw.hessian(merit),
        method="trust-exact",
        options={"initial_trust_radius": 0.1, "max_trust_radius": 0.3},
    )
    result = Result(fit.x, float(np.sqrt(merit(START))), float(np.sqrt(fit.fun)))
    print(f"spot before: {1000 * result.spot_before:8.1f} µm")
    print(f"spot after:  {1000 * result.spot_after:8.1f} µm, {fit.nfev} evaluations")
    print("radii: " + ", ".join(f"{100 / c:.1f} mm" for c in fit.x))
    return result


def picture(result: Result, path: str = "lens_design.png") -> None:
    """Draw the rays through both lenses."""
    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    rows = figure.subplots(2, 1, sharex=True)
    for axes, curvatures, spot in zip(
        rows,
        (START, result.curvatures),
        (result.spot_before, result.spot_after),
        strict=True,
    ):
        for colour, indices in COLOURS.items():
            along, across = trace(curvatures, indices)
            axes.plot(np.stack(along), np.stack(across), color=colour, lw=0.6, alpha=0.7)
        y = np.linspace(-13.0, 13.0, 50)
        for vertex, c in zip(np.cumsum(GAPS), curvatures / 100.0, strict=True):
            axes.plot(vertex + c * y**2 / (1.0 + np.sqrt(1.0 - (c * y) ** 2)), y, "k", lw=1.2)
        axes.axvline(SENSOR, color="0.5")
        axes.set(ylabel="mm", title=f"spot on the sensor: {1000 * spot:.0f} µm")
    rows[-1].set_xlabel("mm")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
