"""Train a small transformer on a toy text, and look at where it looks.

The text repeats a few random letters, after a number of letters that differs from text to text. To
predict what follows, the network must find where the present letter stood before, and read what
came next. Two layers of attention learn to do that: in the first, each place looks at the letter
before it; in the second, at the place that followed the same letter (Olsson et al., "In-context
learning and induction heads", 2022). Everything is plain NumPy.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gradwrap as gw

Floats: TypeAlias = NDArray[np.float64]
Letters: TypeAlias = NDArray[np.int64]
Params: TypeAlias = dict[str, Floats]

ALPHABET, LENGTH, WIDTH, HEADS = 10, 16, 32, 2
PERIODS = (4, 5, 6, 7, 8)
KNOWN = max(PERIODS)  # from here on, every letter can be predicted
STEPS, BATCH, RATE = 350, 48, 0.005


def attention(p: Params, layer: int, x: Floats) -> tuple[Floats, Floats]:
    """Return what each place reads, and the weights; these are (batch, head, to, from)."""
    batch = len(x)
    parts = (x @ p[f"qkv{layer}"]).reshape(batch, LENGTH, 3, HEADS, -1)
    query, key, value = (np.swapaxes(parts[:, :, k], 1, 2) for k in range(3))
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    scores = np.where(np.tri(LENGTH, dtype=bool), scores, -1e9)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    read: Floats = np.swapaxes(weights @ value, 1, 2).reshape(batch, LENGTH, WIDTH)
    return read @ p[f"out{layer}"], weights


def normalised(x: Floats) -> Floats:
    """Scale each row to a length that does not depend on its content."""
    square: Floats = np.mean(x**2, axis=-1, keepdims=True)
    return x / np.sqrt(square + 1e-5)


def network(p: Params, text: Letters) -> tuple[Floats, list[Floats]]:
    """Return the scores of the next letter at each place, and the weights of both layers."""
    x = p["letters"][text] + p["places"]
    seen: list[Floats] = []
    for layer in range(2):
        read, weights = attention(p, layer, normalised(x))
        x = x + read
        seen.append(weights)
    return normalised(x) @ p["scores"], seen


def loss(p: Params, text: Letters) -> np.floating:
    """Return the cross-entropy of the letters that can be predicted, in nats."""
    scores = network(p, text[:, :-1])[0][:, KNOWN - 1 :]
    norm: Floats = np.log(np.sum(np.exp(scores - 20.0), axis=-1)) + 20.0
    right: Floats = np.take_along_axis(scores, text[:, KNOWN:, None], axis=-1)[..., 0]
    return np.mean(norm - right)


def texts(rng: np.random.Generator, count: int) -> Letters:
    letters = rng.permuted(np.tile(np.arange(ALPHABET), (count, 1)), axis=1)
    periods = rng.choice(PERIODS, count)
    found: Letters = np.take_along_axis(letters, np.arange(LENGTH + 1) % periods[:, None], axis=1)
    return found


class Result(NamedTuple):
    """The losses, the accuracy on new texts, and the weights for one of them."""

    losses: list[float]
    accuracy: float
    text: Letters
    weights: list[Floats]


def main(steps: int = STEPS) -> Result:
    rng = np.random.default_rng(0)
    p: Params = {
        "letters": rng.normal(size=(ALPHABET, WIDTH)),
        "places": rng.normal(size=(LENGTH, WIDTH)),
        "scores": rng.normal(size=(WIDTH, ALPHABET)) / np.sqrt(WIDTH),
    }
    for layer in range(2):
        p[f"qkv{layer}"] = rng.normal(size=(WIDTH, 3 * WIDTH)) / np.sqrt(WIDTH)
        p[f"out{layer}"] = rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH)
    first, second = ({name: np.zeros_like(w) for name, w in p.items()} for _ in range(2))
    losses: list[float] = []
    for step in range(1, steps + 1):  # Adam
        value, slope = gw.value_and_grad(loss)(p, texts(rng, BATCH))
        losses.append(float(value))
        for name, g in slope.items():
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.99 * second[name] + 0.01 * g**2
            size = np.sqrt(second[name] / (1 - 0.99**step)) + 1e-8
            p[name] = p[name] - RATE * first[name] / (1 - 0.9**step) / size
        if step % 50 == 0 or step == 1:
            print(f"step {step:>4}   loss {losses[-1]:.3f}   (guessing: {np.log(ALPHABET):.3f})")
    test = texts(rng, 200)
    scores, weights = network(p, test[:, :-1])
    right = np.count_nonzero(np.argmax(scores[:, KNOWN - 1 :], axis=-1) == test[:, KNOWN:])
    accuracy = int(right) / test[:, KNOWN:].size
    print(f"{accuracy:.1%} of the letters of new texts are predicted")
    return Result(losses, accuracy, test[0], [w[0] for w in weights])


def picture(result: Result, path: str = "attention.png") -> None:
    """Draw which place reads from which, for each head and one text."""
    figure = Figure(figsize=(8.4, 2.6), layout="constrained")
    letters = [chr(ord("a") + int(k)) for k in result.text[:-1]]
    shown = [(layer, head) for layer in (0, 1) for head in range(HEADS)]
    for axes, (layer, head) in zip(figure.subplots(1, len(shown)), shown, strict=True):
        axes.imshow(result.weights[layer][head], cmap="Blues", vmin=0.0, vmax=1.0)
        axes.set_xticks(range(LENGTH), letters, fontsize="x-small")
        axes.set_yticks(range(LENGTH), letters, fontsize="x-small")
        axes.set(title=f"layer {layer + 1}, head {head + 1}", xlabel="reads from")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    picture(main())
