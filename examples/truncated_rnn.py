"""Train a recurrent network to predict the letters of scikit-learn's documentation.

The text is one long sequence. The hidden state is carried from window to window, but `detach` cuts
backpropagation between them, so that a step needs only the time and memory of one window.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

import gradwrap as gw

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
STREAMS, WINDOW, HIDDEN, EPOCHS = 32, 16, 64, 8
LEARNING_RATE, DECAY = 0.01, 0.95


def run(params: dict[str, Any], state: Any, letters: Labels) -> tuple[Any, Any]:
    """Return the mean surprise at each next letter, in bits, and the last state; (time, stream)."""
    surprise: Any = 0.0
    streams: int = letters.shape[1]
    rows = np.arange(streams)
    for now, after in pairwise(letters):
        state = np.tanh(params["in"][now] + state @ params["again"])
        scores = state @ params["out"] + params["bias"]
        each: Floats = np.logaddexp.reduce(scores, axis=1) - scores[rows, after]
        surprise += np.mean(each)
    return surprise / (np.log(2.0) * (len(letters) - 1)), state


class Result(NamedTuple):
    """The results of the training."""

    bits: list[float]  # per letter, one for each epoch
    gradient_error: float  # against a gradient at a constant state


def main() -> Result:
    rng = np.random.default_rng(0)
    text = "".join(load().DESCR for load in (load_breast_cancer, load_diabetes, load_digits))
    text += load_wine().DESCR
    alphabet, codes = np.unique(list(text), return_inverse=True)
    letters = codes[: len(codes) // STREAMS * STREAMS].reshape(STREAMS, -1).T
    n, h = len(alphabet), HIDDEN
    shapes = {"in": (n, h), "again": (h, h), "out": (h, n), "bias": (n,)}
    params: dict[str, Any] = {
        name: gw.wrap(rng.normal(size=shape) * 0.1, requires_grad=True)
        for name, shape in shapes.items()
    }
    square = {name: np.zeros(p.shape) for name, p in params.items()}
    print(f"{len(text):,} letters of {n} kinds; uniform guessing: {np.log2(n):.2f} bits each")

    bits: list[float] = []
    gradient_error = 0.0
    for epoch in range(EPOCHS):
        state: Any = gw.wrap(np.zeros((STREAMS, HIDDEN)))
        losses: list[float] = []
        for start in range(0, len(letters) - 1, WINDOW):
            window = letters[start : start + WINDOW + 1]
            before = state.detach()  # backward ends here
            loss, state = run(params, before, window)
            loss.backward()
            if epoch == 0 and start == WINDOW:
                arrays = {name: p.data for name, p in params.items()}
                alone = gw.grad(run, has_aux=True)(arrays, before.data, window)[0]
                gaps = (np.max(np.abs(p.grad - alone[name])) for name, p in params.items())
                gradient_error = float(max(gaps))
            losses.append(float(loss.item()))
            with gw.no_grad():  # RMSprop
                for name, p in params.items():
                    square[name] = DECAY * square[name] + (1 - DECAY) * p.grad**2
                    p -= LEARNING_RATE * p.grad / (np.sqrt(square[name]) + 1e-6)  # noqa: PLW2901  in place
                    p.zero_grad()
        bits.append(float(np.mean(losses)))
        print(f"epoch {epoch + 1}   {bits[-1]:.3f} bits per letter")
    print(f"a window's gradient against that at a constant state: {gradient_error:.0e} apart")
    return Result(bits, gradient_error)


def picture(result: Result, path: str = "truncated_rnn.png") -> None:
    """Draw how the surprise falls."""
    figure = Figure(figsize=(6.0, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(range(1, len(result.bits) + 1), result.bits, "o-")
    axes.set(xlabel="epoch", ylabel="bits per letter", title="surprise at the next letter")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
