"""Short-time Fourier transforms of tracked signals, and responses of systems in time."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError

signal: Any = import_module("gradwrap.scipy.signal")
native: Any = import_module("scipy.signal")
X = np.random.default_rng(0).normal(size=(2, 20))


@pytest.mark.parametrize("axis", [-1, 0])
def test_transform_and_spectrogram(axis: int) -> None:
    transform = signal.ShortTimeFFT(np.hanning(8), 4, 1.0)
    x = np.moveaxis(X, -1, axis)

    def power(x: Any) -> Any:
        return np.abs(transform.stft(x, axis=axis)) ** 2

    gw.testing.check_grads(power, (x,), order=1)
    gw.testing.check_grads(lambda x: transform.spectrogram(x, axis=axis), (x,), order=1)
    plain = native.ShortTimeFFT(np.hanning(8), 4, 1.0)
    found = gw.vjp(lambda x: transform.stft(x, axis=axis), x)[0]
    np.testing.assert_array_equal(found, plain.stft(x, axis=axis))
    assert isinstance(transform, native.ShortTimeFFT)


def test_spectrogram_of_two_signals_is_refused() -> None:
    transform = signal.ShortTimeFFT(np.hanning(8), 4, 1.0)
    with pytest.raises(NoRuleError, match="a derivative of one signal"):
        gw.grad(lambda x: np.sum(np.abs(transform.spectrogram(x, x))))(X[0])


def test_responses_of_systems() -> None:
    times, made = np.arange(4.0) * 0.3, native.lti([1.0], [1.0, 0.5, 2.0])

    def driven(x: Any) -> Any:
        return np.sum(signal.lsim(made, np.ones(4) * x[0] + x[1] * times, times)[1] * times)

    x = np.array([0.5, 1.5])
    steps = [(driven(x + e) - driven(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    assert np.allclose(gw.grad(driven)(x), steps, rtol=1e-6)
    with pytest.raises(NoRuleError, match=r"step has no derivative without T=.* Fix: give it"):
        gw.vjp(lambda x: signal.step(([x[0]], [1.0, x[1]]))[1], x)
