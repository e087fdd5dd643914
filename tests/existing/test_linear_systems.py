"""Linear systems of `scipy.signal` in adapted code: classes, responses, discretization, filters.

Functions without a rule run by SciPy's own source.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

signal: Any = importlib.import_module("scipy.signal")
X = np.array([0.3, 0.5, 0.2, 0.7])
T = np.linspace(0, 2, 7)


def fraction(x: Any) -> Any:
    return [x[0]], [1.0, x[1], x[3]]


def matrices(x: Any) -> Any:
    a = np.array([[0.0, 1.0], [-x[0], -x[1]]])
    return a, np.array([[0.0], [x[3]]]), np.array([[1.0, 0.0]]), np.array([[0.0]])


def zeros_and_poles(x: Any) -> Any:
    system = signal.lti([-x[0]], [-1.0, -2.0], x[1])
    return np.concatenate([np.abs(system.freqresp(T + 1)[1]), system.to_tf().num])


def converted(x: Any) -> Any:
    system = signal.TransferFunction(*fraction(x)).to_ss()
    return np.concatenate([system.A.ravel(), system.C.ravel()])


def widths_of_peaks(x: Any) -> Any:
    line = x[0] * np.exp(-((T - 0.7) ** 2) / x[1]) + x[2] * np.sin(x[3] * T)
    at = signal.find_peaks(line)[0]
    known = signal.peak_prominences(line, at)
    return np.concatenate(signal.peak_widths(line, at, prominence_data=known))


CASES: dict[str, Callable[[Any], Any]] = {
    "step": lambda x: signal.step(signal.lti(*fraction(x)), T=T)[1],
    "step of coefficients": lambda x: signal.step(fraction(x), T=T)[1],
    "step, a method": lambda x: signal.lti(*fraction(x)).step(T=T)[1],
    "impulse": lambda x: signal.TransferFunction(*fraction(x)).impulse(T=T)[1],
    "bode": lambda x: signal.bode(signal.TransferFunction(*fraction(x)), w=T + 1)[1],
    "frequencies": lambda x: np.abs(signal.freqresp(fraction(x), w=T + 1)[1]),
    "lsim": lambda x: signal.lsim(signal.StateSpace(*matrices(x)), np.sin(T), T)[1],
    "lsim of coefficients": lambda x: signal.lsim(fraction(x), np.sin(T), T)[1],
    "output": lambda x: signal.lti(*matrices(x)).output(np.sin(T), T)[1],
    "dstep": lambda x: signal.dstep(signal.dlti([x[0]], [1.0, x[1], 0.2], dt=0.1), n=7)[1][0],
    "dlsim": lambda x: signal.dlsim(([x[0]], [1.0, x[1], 0.2], 0.1), x[3] * np.sin(T))[1],
    "discretized": lambda x: signal.cont2discrete(matrices(x), 0.1)[0],
    "bilinear": lambda x: signal.cont2discrete(fraction(x), x[2], method="bilinear")[0],
    "residues": lambda x: np.real(signal.residue([x[0], 1.0], [1.0, 3.0, x[1]])[0]),
    "inverse of residues": lambda x: signal.invres([x[0], x[1]], [-x[2], -x[3]], [])[0],
    "filter by a response": lambda x: signal.firwin2(9, [0, x[2], 0.9, 1], [x[0], x[1], 0.5, 0]),
    "filter by least squares": lambda x: signal.firls(7, [0, x[2], 0.5, 1], [x[0], x[1], 0.1, 0]),
    "window by name": lambda x: signal.get_window(("gaussian", x[0] * 4), 7),
    "widths of peaks": widths_of_peaks,
    "poles": lambda x: np.abs(signal.TransferFunction(*fraction(x)).poles),
    "zeros and poles": zeros_and_poles,
    "converted": converted,
}


@pytest.mark.parametrize("name", CASES)
def test_as_differences(name: str) -> None:
    fun = CASES[name]
    adapted = gw.adapting(fun)
    wanted = np.stack([(fun(X + e) - fun(X - e)) / 2e-5 for e in 1e-5 * np.eye(4)], axis=-1)
    np.testing.assert_allclose(adapted(X), fun(X))
    np.testing.assert_allclose(gw.jacrev(adapted)(X), wanted, atol=1e-7)
    np.testing.assert_allclose(gw.jacfwd(adapted)(X), wanted, atol=1e-7)


def test_plain_systems_are_scipys_own() -> None:
    gw.grad(gw.adapting(lambda x: np.sum(CASES["step"](x))))(X)
    system = signal.lti([1.0], [1.0, 2.0])
    assert type(system.to_ss().A) is np.ndarray
    np.testing.assert_array_equal(signal.step(system, T=T)[1], system.step(T=T)[1])


def test_what_its_source_cannot_do_is_refused() -> None:
    def taper(x: Any) -> Any:
        return np.sum(signal.windows.dpss(9, 2.0 + x[0]) ** 3)

    with pytest.raises(NoRuleError, match=r"dpss has no derivative in gradwrap. Fix: make it one"):
        gw.grad(gw.adapting(taper))(X)
