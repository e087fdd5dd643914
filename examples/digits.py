"""Train a two-layer network, written in plain NumPy, to read handwritten digits.

The data are the 1,797 images of 8 x 8 pixels that the UCI Machine Learning Repository calls
"Optical Recognition of Handwritten Digits"; scikit-learn ships them.

Nothing in `scores` or `loss` refers to gradwrap: `gw.value_and_grad(loss)` is all it takes. Nor do
they depend on where the arrays are: `python examples/digits.py cupy` trains on a GPU.
"""

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import gradwrap as gw

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]
Params: TypeAlias = dict[str, Floats]

HIDDEN = 64
EPOCHS = 40
BATCH = 32
LEARNING_RATE = 0.1
MOMENTUM = 0.9
TEST_IMAGES = 450
LINE_WIDTH = 79


def scores(params: Params, images: Floats) -> Floats:
    """Return ten scores per image; the highest is that of the digit that the network reads."""
    hidden = np.tanh(images @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def loss(params: Params, images: Floats, labels: Labels) -> np.floating:
    """Return the mean cross-entropy, in nats: ln 10 = 2.3 for guessing, 0 for certainty."""
    logits = scores(params, images)
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_norm = np.log(np.sum(np.exp(logits), axis=1))
    surprise: Floats = log_norm - logits[np.arange(len(labels)), labels]
    return np.mean(surprise)


def initial_params(rng: np.random.Generator, pixels: int, digits: int = 10) -> Params:
    return {
        "w1": rng.normal(size=(pixels, HIDDEN)) / np.sqrt(pixels),
        "b1": np.zeros(HIDDEN),
        "w2": rng.normal(size=(HIDDEN, digits)) / np.sqrt(HIDDEN),
        "b2": np.zeros(digits),
    }


def check_gradient(
    rng: np.random.Generator,
    params: Params,
    images: Floats,
    labels: Labels,
    array: Callable[[Any], Any],
) -> float:
    """Compare slopes from the gradient with central differences; return the largest relative error.

    One random direction in each parameter, and one in all of them at once.
    """
    gradient = gw.grad(loss)(params, images, labels)
    step = 2e-6
    largest = 0.0
    print("slope in a random direction   gradient  central difference  relative error")
    for names in [[name] for name in params] + [list(params)]:
        direction: Params = {
            name: array(rng.normal(size=p.shape) if name in names else np.zeros(p.shape))
            for name, p in params.items()
        }
        ahead, behind = (
            loss({name: p + h * direction[name] for name, p in params.items()}, images, labels)
            for h in (step, -step)
        )
        numerical = float(ahead - behind) / (2 * step)
        slope = sum(float(np.vdot(gradient[name], direction[name])) for name in params)
        error = abs(slope - numerical) / abs(numerical)
        largest = max(largest, error)
        label = " ".join(names)
        print(f"  {label:<22}{slope:>14.10f}{numerical:>20.10f}{error:>16.1e}")
    return largest


def accuracy(params: Params, images: Floats, labels: Labels) -> float:
    read: Labels = np.argmax(scores(params, images), axis=1)
    return int(np.count_nonzero(read == labels)) / len(labels)


def keep_line(text: str) -> None:
    """Print a line in place of the progress bar, which moves down."""
    print(f"\r{text:<{LINE_WIDTH}}" if sys.stdout.isatty() else text)


def progress(done: int, total: int) -> None:
    """Redraw the progress bar; do nothing without a terminal."""
    if sys.stdout.isatty():
        filled = 40 * done // total
        bar = f"[{'#' * filled}{'.' * (40 - filled)}] epoch {done} of {total}"
        print(f"\r{bar:<{LINE_WIDTH}}", end="\n" if done == total else "", flush=True)


def show_digits(images: Floats, captions: list[str]) -> None:
    """Print 8 x 8 images side by side, each pixel as two characters."""
    shades = np.array([c + c for c in " .:-=+*#%@"])
    art = shades[np.rint(images * 9).astype(np.int64)].reshape(-1, 8, 8)
    for row in range(8):
        print("   ".join("".join(image[row]) for image in art).rstrip())
    print("   ".join(f"{caption:^16}" for caption in captions).rstrip())


class Result(NamedTuple):
    """The results of the training."""

    losses: list[float]  # one per epoch
    train_accuracy: float
    test_accuracy: float
    gradient_error: float  # relative
    shown: Floats  # some test images, with what they are read as
    captions: list[str]


def main(epochs: int = EPOCHS, library: str = "numpy") -> Result:
    xp = importlib.import_module(library)
    to_host: Callable[[Any], Any] = getattr(xp, "asnumpy", np.asarray)
    rng = np.random.default_rng(0)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images, labels = xp.asarray(digits.data[order] / 16.0), xp.asarray(digits.target[order])
    test_images, test_labels = images[:TEST_IMAGES], labels[:TEST_IMAGES]
    images, labels = images[TEST_IMAGES:], labels[TEST_IMAGES:]
    start_at = initial_params(rng, pixels=images.shape[1])
    params: Params = {name: xp.asarray(p) for name, p in start_at.items()}
    count = sum(p.size for p in params.values())
    print(
        f"{len(labels):,} handwritten digits to learn from, {len(test_labels)} to test with; "
        f"{count:,} parameters\n"
    )

    gradient_error = check_gradient(rng, params, images, labels, xp.asarray)
    assert gradient_error < 1e-6, "the gradient is wrong"
    print(f"gradient checked against a numerical one: they agree to {gradient_error:.0e}\n")

    loss_and_gradient = gw.value_and_grad(loss)
    velocity = {name: np.zeros_like(p) for name, p in params.items()}
    losses: list[float] = []
    start = time.perf_counter()
    for epoch in range(1, epochs + 1):
        total = 0.0
        order = rng.permutation(len(labels))
        for batch in np.split(order, range(BATCH, len(order), BATCH)):
            value, gradient = loss_and_gradient(params, images[batch], labels[batch])
            for name, g in gradient.items():
                velocity[name] = MOMENTUM * velocity[name] - LEARNING_RATE * g
                params[name] = params[name] + velocity[name]
            total += float(value) * len(batch)
        losses.append(total / len(labels))
        if epoch == 1 or epoch % max(1, epochs // 8) == 0:
            train = accuracy(params, images, labels)
            test = accuracy(params, test_images, test_labels)
            keep_line(
                f"epoch {epoch:>3}   loss {losses[-1]:.4f}   "
                f"accuracy: train {train:6.1%}, test {test:6.1%}"
            )
        progress(epoch, epochs)
    seconds = time.perf_counter() - start

    train_accuracy = accuracy(params, images, labels)
    test_accuracy = accuracy(params, test_images, test_labels)
    read = to_host(np.argmax(scores(params, test_images), axis=1))
    test_images, test_labels = to_host(test_images), to_host(test_labels)
    wrong = np.flatnonzero(read != test_labels)
    print(
        f"\n{len(test_labels) - len(wrong)} of {len(test_labels)} test images read right "
        f"({test_accuracy:.1%}), after {seconds:.1f} s of training."
    )
    right = [np.flatnonzero((read == digit) & (test_labels == digit))[0] for digit in (3, 5, 8)]
    shown = [*right, *wrong[:1]]
    print("Three of them, and one that was not:\n")
    captions = [f"{test_labels[i]}, read as {read[i]}" for i in shown]
    show_digits(test_images[shown], captions)
    return Result(
        losses, train_accuracy, test_accuracy, gradient_error, test_images[shown], captions
    )


def picture(result: Result, path: str = "digits.png") -> None:
    """Draw the loss of each epoch, and some test images."""
    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    left, *others = figure.subplots(1, 5, width_ratios=[3, 1, 1, 1, 1])
    left.semilogy(range(1, len(result.losses) + 1), result.losses)
    left.set(
        xlabel="epoch", ylabel="loss", title=f"{result.test_accuracy:.1%} of test images right"
    )
    for axes, image, caption in zip(others, result.shown, result.captions, strict=True):
        axes.imshow(image.reshape(8, 8), cmap="gray_r")
        axes.set(xticks=[], yticks=[], title=caption)
    figure.savefig(path, dpi=150)
    print(f"\nThe losses, and these images, are drawn in {path}.")


if __name__ == "__main__":
    picture(main(library=sys.argv[1] if len(sys.argv) > 1 else "numpy"))
