"""Sample from a curved distribution by Hamiltonian Monte Carlo, on many chains side by side.

A chain rolls over the negative log-density like a ball, pushed by its gradient, and so reaches far
places that are still probable (Neal, "MCMC using Hamiltonian dynamics", 2011). The log-density is
written for one point; `gw.vmap` of `gw.grad` gives the slopes at the points of all chains. The
distribution is Haario's banana, whose moments are known in closed form.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gradwrap as gw

Floats: TypeAlias = NDArray[np.float64]

CHAINS, STEPS, WARM_UP = 100, 200, 50
LEAPS, STEP_SIZE = 20, 0.15
WIDTH, BEND = 2.0, 0.4


def potential(point: Floats) -> Any:
    """Return the negative logarithm of the density, but for a constant."""
    x, y = point[0], point[1]
    return 0.5 * (x / WIDTH) ** 2 + 0.5 * (y - BEND * (x**2 - WIDTH**2)) ** 2


slopes = gw.vmap(gw.grad(potential))
potentials = gw.vmap(potential)


def orbit(points: Floats, momenta: Floats) -> tuple[Floats, Floats, list[Floats]]:
    """Follow each chain for some time, by the leapfrog method."""
    momenta = momenta - 0.5 * STEP_SIZE * slopes(points)
    path = [points]
    for leap in range(LEAPS):
        points = points + STEP_SIZE * momenta
        path.append(points)
        size = STEP_SIZE if leap < LEAPS - 1 else 0.5 * STEP_SIZE
        momenta = momenta - size * slopes(points)
    return points, momenta, path


class Result(NamedTuple):
    """The samples after warming up, the path of one chain, and how many moves were accepted."""

    samples: Floats  # (steps, chains, 2)
    path: Floats
    accepted: float


def main() -> Result:
    rng = np.random.default_rng(0)
    points: Floats = rng.normal(size=(CHAINS, 2))
    kept: list[Floats] = []
    path: list[Floats] = []
    moves = 0
    for step in range(STEPS):
        momenta = rng.normal(size=points.shape)
        ends, final, path = orbit(points, momenta)
        energy = potentials(points) + 0.5 * np.sum(momenta**2, axis=1)
        energy_there = potentials(ends) + 0.5 * np.sum(final**2, axis=1)
        accept = np.log(rng.random(CHAINS)) < energy - energy_there
        points = np.where(accept[:, None], ends, points)
        if step >= WARM_UP:
            kept.append(points)
            moves += int(np.count_nonzero(accept))
    samples = np.stack(kept)
    accepted = moves / (CHAINS * len(kept))
    x, y = samples[..., 0], samples[..., 1]
    print(f"{len(kept) * CHAINS:,} samples of {CHAINS} chains, {accepted:.1%} of moves accepted")
    print(f"{'':<16}{'found':>8}{'exact':>8}")
    print(f"{'mean of x':<16}{x.mean():>8.3f}{0.0:>8.3f}")
    print(f"{'deviation of x':<16}{x.std():>8.3f}{WIDTH:>8.3f}")
    print(f"{'mean of y':<16}{y.mean():>8.3f}{0.0:>8.3f}")
    exact = np.sqrt(1.0 + 2.0 * (BEND * WIDTH**2) ** 2)
    print(f"{'deviation of y':<16}{y.std():>8.3f}{exact:>8.3f}")
    return Result(samples, np.stack(path)[:, :3], accepted)


def picture(result: Result, path: str = "hamiltonian_monte_carlo.png") -> None:
    """Draw the density, the samples, and one move of three chains."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    x, y = np.meshgrid(np.linspace(-7.0, 7.0, 200), np.linspace(-5.0, 17.0, 200))
    height = potentials(np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)
    axes.contourf(x, y, np.exp(-height), levels=12, cmap="Blues")
    samples = result.samples[::10].reshape(-1, 2)
    axes.plot(samples[:, 0], samples[:, 1], "k.", ms=2, alpha=0.4)
    for k in range(result.path.shape[1]):
        axes.plot(result.path[:, k, 0], result.path[:, k, 1], "o-", ms=3, lw=1.2)
    axes.set(xlabel="x", ylabel="y", title="Samples, and the last move of three chains")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
