"""Train with two techniques for large networks: micro-batches and frozen layers.

- *Micro-batches*: a batch that does not fit in memory is processed in parts. Each part has its own
  backward pass, and `grad` accumulates the gradient of the whole batch.
- *Freezing*: if a parameter has `requires_grad = False`, nothing is recorded or computed for it.
  Here the first layer is random and frozen in the first half, and trained in the second.

The data are scikit-learn's handwritten digits.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

import gradwrap as gw

PARTS = 8
STEPS = 40
LEARNING_RATE = 1.0


def loss_sum(params: dict[str, Any], images: Any, labels: Any) -> Any:
    """Return the cross-entropy, in nats, summed over the images, so that parts add up."""
    hidden = np.tanh(images @ params["first"])
    scores = hidden @ params["last"]
    scores = scores - np.max(scores, axis=1, keepdims=True)
    norm = np.log(np.sum(np.exp(scores), axis=1))
    return np.sum(norm - scores[np.arange(len(labels)), labels])


class Result(NamedTuple):
    """The results of the training."""

    losses: list[float]
    gradient_error: float  # of the micro-batches' sum, against the whole batch at once
    moved_while_frozen: float


def main() -> Result:
    rng = np.random.default_rng(0)
    digits = load_digits()
    images, labels = digits.data / 16.0, digits.target
    count, pixels = len(images), images.shape[1]
    params: dict[str, Any] = {
        "first": gw.wrap(rng.normal(size=(pixels, 64)) / 8.0),  # frozen: requires_grad is False
        "last": gw.wrap(np.zeros((64, 10)), requires_grad=True),
    }
    initial = params["first"].data.copy()
    losses: list[float] = []
    gradient_error = moved_while_frozen = 0.0

    for step in range(2 * STEPS):
        if step == STEPS:
            moved_while_frozen = float(np.max(np.abs(params["first"].data - initial)))
            print(f"frozen: the first layer has moved by {moved_while_frozen}; now it may\n")
            params["first"].requires_grad = True
        total = 0.0
        for part in np.array_split(np.arange(count), PARTS):
            loss = loss_sum(params, images[part], labels[part]) / count
            loss.backward()  # adds to grad, and frees the graph of this part
            total += float(loss.item())
        losses.append(total)
        trained = [p for p in params.values() if p.requires_grad]
        if step in {0, STEPS}:
            whole = gw.autograd.grad(loss_sum(params, images, labels) / count, trained)
            errors = [np.max(np.abs(p.grad - g)) for p, g in zip(trained, whole, strict=True)]
            gradient_error = max(gradient_error, *map(float, errors))
            print(f"{PARTS} micro-batches against the whole batch: {gradient_error:.0e} apart")
        if step % 20 == 19:
            print(f"step {step + 1:>4}   {len(trained)} layer(s) trained   loss {total:.4f}")
        with gw.no_grad():
            for p in trained:
                p -= LEARNING_RATE * p.grad  # noqa: PLW2901  in place: this writes to p itself
                p.zero_grad()
    return Result(losses, gradient_error, moved_while_frozen)


def picture(result: Result, path: str = "micro_batches.png") -> None:
    """Draw the loss, and when the first layer was freed."""
    figure = Figure(figsize=(6.0, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.semilogy(result.losses)
    axes.axvline(STEPS, color="0.5", ls="--", label="the first layer is freed")
    axes.set(xlabel="step", ylabel="loss")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
