"""Learn to learn, by differentiating MAML's inner step.

A network should fit a sine of unknown height and phase, given ten points, after *one* step of
gradient descent. It learns where to start (Finn, Abbeel and Levine, "Model-agnostic meta-learning",
2017): the loss after the step is differentiated with respect to the parameters before it, through
the gradient that the step uses. `gw.vmap` runs the tasks of a batch side by side.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gradwrap as gw

Floats = NDArray[np.float64]
Params = dict[str, Floats]
HIDDEN, POINTS, TASKS, STEPS = 40, 10, 16, 300
INNER_RATE, META_RATE = 0.05, 0.003


def predict(p: Params, x: Floats) -> Floats:
    hidden: Floats = np.tanh(x[:, None] * p["w1"] + p["b1"])
    hidden = np.tanh(hidden @ p["w2"] + p["b2"])
    return hidden @ p["w3"] + p["b3"]


def loss(p: Params, x: Floats, y: Floats) -> np.floating:
    return np.mean((predict(p, x) - y) ** 2)


def adapted(p: Params, x: Floats, y: Floats) -> Params:
    """Return the parameters after one step on a task."""
    slope = gw.grad(loss)(p, x, y)
    return {name: p[name] - INNER_RATE * slope[name] for name in p}


def meta_loss(p: Params, x: Floats, y: Floats) -> np.floating:
    """Return the loss after the step, on other points of each task; `x` is (tasks, 2, points)."""

    def left(x: Floats, y: Floats) -> Any:
        return loss(adapted(p, x[0], y[0]), x[1], y[1])

    losses: Floats = gw.vmap(left)(x, y)
    return np.mean(losses)


def tasks(rng: np.random.Generator, count: int) -> tuple[Floats, Floats]:
    x = rng.uniform(-5.0, 5.0, (count, 2, POINTS))
    height, phase = rng.uniform(0.1, 5.0, (count, 1, 1)), rng.uniform(0.0, np.pi, (count, 1, 1))
    return x, height * np.sin(x + phase)


class Result(NamedTuple):
    """Mean squared errors on new tasks, and the check of the gradient."""

    before: float  # after one step from random parameters
    after: float  # after one step from the learned ones
    gradient_error: float  # relative, of the meta-gradient against a numerical one
    start: Params  # the learned parameters


def main() -> Result:
    rng = np.random.default_rng(0)
    p: Params = {name: rng.normal(size=HIDDEN) for name in ("w1", "b1", "b2")}
    p["w2"] = rng.normal(size=(HIDDEN, HIDDEN)) / np.sqrt(HIDDEN)
    p["w3"], p["b3"] = rng.normal(size=HIDDEN) / np.sqrt(HIDDEN), np.zeros(())
    test = tasks(rng, 200)

    slope, h = gw.grad(meta_loss)(p, *test), 1e-5
    along = {name: rng.normal(size=np.shape(p[name])) for name in p}
    ahead, behind = (meta_loss({n: p[n] + s * along[n] for n in p}, *test) for s in (h, -h))
    numerical = float(ahead - behind) / (2 * h)
    analytic = sum(float(np.sum(slope[name] * along[name])) for name in p)
    gradient_error = abs(analytic - numerical) / abs(numerical)
    print(f"meta-gradient {analytic:.8f}, numerical {numerical:.8f}: {gradient_error:.0e} apart\n")

    before = float(meta_loss(p, *test))
    print(f"step {0:>4}   error on new tasks, after one step from here: {before:.3f}")
    first, second = ({name: np.zeros(np.shape(p[name])) for name in p} for _ in range(2))
    for step in range(1, STEPS + 1):  # Adam
        for name, g in gw.grad(meta_loss)(p, *tasks(rng, TASKS)).items():
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.999 * second[name] + 0.001 * g * g
            size = np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
            p[name] = p[name] - META_RATE * first[name] / (1 - 0.9**step) / size
        if step % 100 == 0:
            print(f"step {step:>4}   {meta_loss(p, *test):.3f}")
    return Result(before, float(meta_loss(p, *test)), gradient_error, p)


def picture(result: Result, path: str = "maml.png") -> None:
    """Draw two new tasks: what the network predicts before and after its one step."""
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    x, y = tasks(np.random.default_rng(1), 2)
    at = np.linspace(-5.0, 5.0, 200)
    for axes, xs, ys in zip(figure.subplots(1, 2), x, y, strict=True):
        after = adapted(result.start, xs[0], ys[0])
        axes.plot(at, predict(result.start, at), "--", label="before the step")
        axes.plot(at, predict(after, at), label="after it")
        axes.plot(xs[0], ys[0], "k.", label="the ten points")
        axes.plot(xs[1], ys[1], "r.", label="other points")
        axes.legend(fontsize="small")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
