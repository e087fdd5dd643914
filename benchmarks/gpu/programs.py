"""Programs as CuPy's users write them: gradients, compared with NumPy's, and waits.

Each is a function of a namespace and of arrays. On a GPU the namespace is `cupy` itself, whose
functions are called with tracked arrays, or `gradwrap.cupy` for programs with `linalg` or `fft`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from ..timing import SAMPLE_SECONDS
from ..workloads import Array, Namespace
from .devices import Device

TOLERANCE = 1e-8
"""The most error of a gradient in double precision, relative to its greatest element."""


@dataclass(frozen=True)
class Program:
    """A function `fun(xp, *arrays)` that returns a number, and its data."""

    title: str
    fun: Callable[..., Any]
    data: Callable[[np.random.Generator, int], tuple[Array, ...]]
    size: int
    few: int
    """A size for the tests."""
    drop_in: bool = False
    """The program imports `gradwrap.cupy` for `cupy`."""

    @property
    def small(self) -> "Program":
        """The program with little data."""
        return replace(self, size=self.few)


@dataclass(frozen=True)
class ProgramResult:
    """What came of a program: the seconds of a gradient, and how often the host waited."""

    title: str
    seconds: float | None
    waits: int | None
    fault: str | None = None


def logistic(xp: Namespace, w: Any, X: Any, y: Any) -> Any:
    """Return the loss of a logistic regression."""
    t = X @ w
    return xp.mean(xp.logaddexp(0.0, t) - y * t) + 0.01 * xp.sum(w**2)


def heat(xp: Namespace, u: Any, wanted: Any) -> Any:
    """Return the misfit after some steps of the heat equation, which write in place."""
    u = u.copy()
    for _ in range(20):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += 0.1 * (around - 4.0 * u[1:-1, 1:-1])
    return xp.sum((u - wanted) ** 2)


def gaussian_process(xp: Namespace, p: Any, x: Any, y: Any) -> Any:
    """Return the negative log marginal likelihood of a Gaussian process."""
    distances = (x[:, None] - x[None, :]) ** 2
    covariance = xp.exp(p[0] - 0.5 * distances * xp.exp(-2.0 * p[1])) + xp.exp(p[2]) * xp.eye(
        len(x)
    )
    root = xp.linalg.cholesky(covariance)
    z = xp.linalg.solve(root, y)
    return 0.5 * xp.sum(z**2) + xp.sum(xp.log(xp.diagonal(root)))


def markov_model(xp: Namespace, logits: Any, scores: Any) -> Any:
    """Return the log likelihood of a hidden Markov model by the forward algorithm."""
    steps = logits - xp.log(xp.sum(xp.exp(logits), axis=1, keepdims=True))
    state = scores[0]
    for score in scores[1:]:
        joint = state[:, None] + steps
        top = xp.max(joint, axis=0)
        state = top + xp.log(xp.sum(xp.exp(joint - top), axis=0)) + score
    return xp.log(xp.sum(xp.exp(state)))


def deconvolution(xp: Namespace, image: Any, kernel: Any, seen: Any) -> Any:
    """Return the misfit of an image that is blurred by a convolution, with a penalty."""
    blurred = xp.fft.irfft(xp.fft.rfft(image) * xp.fft.rfft(kernel), len(image))
    return xp.mean((blurred - seen) ** 2) + 1e-3 * xp.sum(xp.abs(image[1:] - image[:-1]))


PROGRAMS = (
    Program(
        "logistic regression",
        logistic,
        lambda r, n: (r.normal(size=50), r.normal(size=(n, 50)), r.integers(0, 2, n) * 1.0),
        size=200_000,
        few=20,
    ),
    Program(
        "heat equation, in place",
        heat,
        lambda r, n: (r.normal(size=(n, n)), r.normal(size=(n, n))),
        size=2_000,
        few=8,
    ),
    Program(
        "Gaussian process",
        gaussian_process,
        lambda r, n: (r.normal(size=3), np.linspace(0.0, 0.1 * n, n), r.normal(size=n)),
        size=2_000,
        few=12,
        drop_in=True,
    ),
    Program(
        "hidden Markov model",
        markov_model,
        lambda r, n: (r.normal(size=(n, n)), r.normal(size=(50, n))),
        size=300,
        few=4,
    ),
    Program(
        "deconvolution by FFT",
        deconvolution,
        lambda r, n: (r.normal(size=n), r.normal(size=n), r.normal(size=n)),
        size=1 << 20,
        few=32,
        drop_in=True,
    ),
)


def run_program(device: Device, program: Program) -> ProgramResult:
    """Compare a program's gradient on the device with NumPy's, time it, and count the waits."""
    import gradwrap as gw

    name = device.xp.__name__
    xp: Namespace = import_module(f"gradwrap.{name}") if program.drop_in else device.xp
    args = program.data(np.random.default_rng(0), program.size)

    def gradient(xp: Namespace, arrays: Sequence[Any]) -> Any:
        return gw.grad(lambda first: program.fun(xp, first, *arrays[1:]))(arrays[0])

    try:
        arrays = [device.put(arg) for arg in args]
        found = device.fetch(gradient(xp, arrays))
        wanted = gradient(np, args)
        error = float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))
        if not error <= TOLERANCE:  # also if it is NaN
            return ProgramResult(program.title, None, None, f"the gradient is wrong by {error:.1e}")
        waits = device.waits(lambda: gradient(xp, arrays))
        once = device.seconds(lambda: gradient(xp, arrays), lambda _: None, 1)
        calls = max(1, min(20, int(SAMPLE_SECONDS / max(once, 1e-6))))
        seconds = device.seconds(lambda: gradient(xp, arrays), lambda _: None, calls)
    except Exception as error:  # noqa: BLE001  the other programs go on
        fault = f"{type(error).__name__}: {error}".splitlines()[0]
        return ProgramResult(program.title, None, None, fault)
    return ProgramResult(program.title, seconds, waits)
