"""Train a network that reads digits not to be fooled by small changes, by a gradient of a gradient.

Training reduces not only the loss, but also the gradient of the loss with respect to the *images*
(Drucker and LeCun, "Improving generalization performance using double backpropagation", 1992). Such
a penalty needs the gradient of a gradient: `create_graph=True` records the backward pass itself.

The test uses scikit-learn's digits, unchanged and with each pixel changed for the worse.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import gradwrap as gw

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
STEPS, BATCH, LEARNING_RATE, LEARNED = 200, 100, 0.5, 400
SHIFT = 0.1  # of each pixel; white is 1


def scores(params: list[Any], images: Any) -> Any:
    return np.tanh(images @ params[0]) @ params[1]


def loss(params: list[Any], images: Any, labels: Any) -> Any:
    """Return the cross-entropy, summed over the images."""
    found = scores(params, images)
    norm = np.log(np.sum(np.exp(found), axis=1))
    return np.sum(norm - found[np.arange(len(labels)), labels])


def penalised(params: list[Any], images: Any, labels: Any, strength: float) -> Any:
    """Return the mean loss plus the 1-norm of its gradient: the effect of a small shift."""
    images = gw.wrap(images, requires_grad=True)
    value = loss(params, images, labels)
    (slope,) = gw.autograd.grad(value, images, create_graph=True)
    return (value + strength * np.sum(np.abs(slope))) / len(labels)


def train(images: Floats, labels: Labels, strength: float) -> list[Any]:
    rng = np.random.default_rng(0)
    starts = rng.normal(size=(64, 32)) / 8.0, rng.normal(size=(32, 10)) / 6.0
    params: list[Any] = [gw.wrap(start, requires_grad=True) for start in starts]
    for _ in range(STEPS):
        batch = rng.choice(len(labels), BATCH, replace=False)
        penalised(params, images[batch], labels[batch], strength).backward()
        with gw.no_grad():
            for p in params:
                p -= LEARNING_RATE * p.grad  # noqa: PLW2901  in place: this writes to p itself
                p.zero_grad()
    return [p.data for p in params]


def accuracy(params: list[Any], images: Floats, labels: Labels) -> float:
    read: Labels = np.argmax(scores(params, images), axis=1)
    return int(np.count_nonzero(read == labels)) / len(labels)


class Result(NamedTuple):
    """Accuracies by the strength of the penalty, on unchanged and changed images."""

    clean: dict[float, float]
    changed: dict[float, float]
    gradient_error: float  # relative, of the second-order gradient against a numerical one
    pair: tuple[Floats, Floats]  # an image, and its change for the worse


def main() -> Result:
    digits = load_digits()
    images: Floats = digits.data / 16.0
    labels: Labels = digits.target
    known, unknown = slice(LEARNED), slice(LEARNED, None)
    clean: dict[float, float] = {}
    changed: dict[float, float] = {}
    params: list[Any] = []
    pair: tuple[Floats, Floats] | None = None
    for strength in (0.0, 0.03, 0.1):
        params = train(images[known], labels[known], strength)
        slope = gw.grad(loss, argnums=1)(params, images[unknown], labels[unknown])
        clean[strength] = accuracy(params, images[unknown], labels[unknown])
        worse = images[unknown] + SHIFT * np.sign(slope)
        changed[strength] = accuracy(params, worse, labels[unknown])
        pair = pair or (images[unknown][0], worse[0])
        print(
            f"penalty {strength:.2f}   digits read right: {clean[strength]:.1%}, "
            f"and {changed[strength]:.1%} with pixels changed by {SHIFT}"
        )
    images, labels = images[known], labels[known]
    tape: list[Any] = [gw.wrap(p, requires_grad=True) for p in params]
    penalised(tape, images, labels, 0.1).backward()
    along: Floats = np.random.default_rng(2).normal(size=(64, 32))
    h = 1e-7  # small, because a norm has kinks
    ahead, behind = (
        penalised([gw.wrap(params[0] + s * along), params[1]], images, labels, 0.1).item()
        for s in (h, -h)
    )
    analytic, numerical = float(np.sum(tape[0].grad * along)), (ahead - behind) / (2 * h)
    gradient_error = abs(analytic - numerical) / abs(numerical)
    print(f"slope {analytic:.8f}, numerical {numerical:.8f}: {gradient_error:.0e} apart")
    assert pair is not None
    return Result(clean, changed, gradient_error, pair)


def picture(result: Result, path: str = "gradient_penalty.png") -> None:
    """Draw the accuracies, and an image with its change."""
    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    left, *others = figure.subplots(1, 3, width_ratios=[2, 1, 1])
    names = [f"{strength:g}" for strength in result.clean]
    left.plot(names, list(result.clean.values()), "o-", label="images as they are")
    left.plot(names, list(result.changed.values()), "o-", label="changed for the worse")
    left.set(xlabel="strength of the penalty", ylabel="read right")
    left.legend()
    for axes, image, title in zip(others, result.pair, ("a digit", "changed"), strict=True):
        axes.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0.0, vmax=1.0)
        axes.set(xticks=[], yticks=[], title=title)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
