"""The rows of `scipy.signal` for the design of filters: derivatives in their frequencies.

The order has no derivative. The formulas come from the documentation of `scipy.signal.iirfilter`
and of the functions that it names.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.solving import as_array, data_of, plain

if TYPE_CHECKING:
    from gradwrap.scipy.table import Row

signal: Any = import_module("scipy.signal")
STOP = ("bandstop", "bands", "stop", "bs")


def _chebyshev1(N: int, rp: Any) -> tuple[Any, Any, Any]:
    eps = np.sqrt(10 ** (0.1 * rp) - 1.0)
    theta = np.pi * np.arange(-N + 1, N, 2) / (2 * N)
    p = -np.sinh(np.arcsinh(1 / eps) / N + 1j * theta)
    k = np.real(np.prod(-p))
    return np.zeros(0), p, k if N % 2 else k / np.sqrt(1 + eps * eps)


def _chebyshev2(N: int, rs: Any) -> tuple[Any, Any, Any]:
    eps = 1.0 / np.sqrt(10 ** (0.1 * rs) - 1.0)
    numbers = np.arange(-N + 1, N, 2)
    z = 1j / np.sin(numbers[numbers != 0] * np.pi / (2 * N))
    around = -np.exp(1j * np.pi * numbers / (2 * N))
    mu = np.arcsinh(1 / eps) / N
    p = 1 / (np.sinh(mu) * np.real(around) + 1j * np.cosh(mu) * np.imag(around))
    return z, p, np.real(np.prod(-p) / np.prod(-z))


def _prototype(ftype: str, N: int, rp: Any, rs: Any) -> tuple[Any, Any, Any]:
    """Return the zeros, poles and gain of the analog lowpass filter of frequency one."""
    if ftype in ("cheby1", "chebyshev1", "chebyshevi"):
        return _chebyshev1(N, rp)
    if ftype in ("cheby2", "chebyshev2", "chebyshevii"):
        return _chebyshev2(N, rs)
    if ftype in ("butter", "butterworth"):
        return signal.buttap(N)  # type: ignore[no-any-return]  # untyped
    if ftype.startswith("bessel"):
        norm = ftype.partition("_")[2] or "phase"
        return signal.besselap(N, norm)  # type: ignore[no-any-return]  # untyped
    return signal.ellipap(N, plain(rp), plain(rs))  # type: ignore[no-any-return]  # untyped


def _iirfilter(
    *,
    N: Any,
    Wn: Any,
    btype: Any,
    analog: Any,
    ftype: Any,
    output: Any,
    fs: Any,
    rp: Any = None,
    rs: Any = None,
) -> Any:
    Wn = as_array(Wn) * 1.0 if fs is None else as_array(Wn) / (fs / 2)
    warped = Wn if analog else 4.0 * np.tan(np.pi * Wn / 2.0)
    kind = btype.lower()
    name = "lp" if kind[0] == "l" else "hp" if kind[0] == "h" else "bs" if kind in STOP else "bp"
    roots = _prototype(ftype.lower(), int(N), rp, rs)
    if name in ("lp", "hp"):
        frequencies: tuple[Any, ...] = (np.reshape(warped, ()),)
    else:
        frequencies = (np.sqrt(warped[0] * warped[1]), warped[1] - warped[0])
    roots = dispatcher(f"signal.lp2{name}_zpk")(*roots, *frequencies)
    if not analog:
        roots = dispatcher("signal.bilinear_zpk")(*roots, 2.0)
    if output == "zpk":
        return roots
    if output == "ba":
        return tuple(map(np.real, dispatcher("signal.zpk2tf")(*roots)))
    return dispatcher("signal.zpk2sos")(*roots, analog=analog)


def _of_type(ftype: str) -> Any:
    """Return the formula of the filters of one type."""
    return partial(_iirfilter, ftype=ftype)


def _bessel(N: Any, Wn: Any, btype: Any, analog: Any, output: Any, norm: Any, fs: Any) -> Any:
    design = _of_type(f"bessel_{norm}")
    return design(N=N, Wn=Wn, btype=btype, analog=analog, output=output, fs=fs)


def _resonance(w0: Any, Q: Any, fs: Any, *, is_notch: bool) -> Any:
    angle = 2.0 * np.pi * w0 / fs
    gain = 1.0 / (1.0 + np.tan(angle / Q / 2.0))
    cosine, zero = np.cos(angle), 0.0 * gain
    notch, peak = [gain, -2.0 * cosine * gain, gain], [1.0 - gain, zero, gain - 1.0]
    return np.stack(notch if is_notch else peak), np.stack(
        [1.0 + zero, -2.0 * gain * cosine, 2.0 * gain - 1.0]
    )


def _sawtooth(t: Any, width: Any) -> Any:
    phase = np.mod(t, 2 * np.pi)
    rising = phase < width * 2 * np.pi
    up = np.where(data_of(width) == 0, 1.0, width)
    down = np.where(data_of(width) == 1, 1.0, 1.0 - width)
    return np.where(
        data_of(rising), phase / (np.pi * up) - 1.0,
        (np.pi * (width + 1.0) - phase) / (np.pi * down),
    )  # fmt: skip


# Windows ------------------------------------------------------------------------------------------


def _places(M: int, sym: bool) -> Any:
    """Return the sample points of a window in [-1, 1], without the last if periodic."""
    return np.linspace(-1.0, 1.0, M + (not sym))[:M]


def _kaiser(M: Any, beta: Any, sym: Any) -> Any:
    special: Any = import_module("scipy.special")
    places = np.sqrt(np.maximum(1.0 - _places(M, sym) ** 2, 0.0))
    return special.i0(beta * places) / special.i0(beta)


def _tukey(M: Any, alpha: Any, sym: Any) -> Any:
    places = (_places(M, sym) + 1.0) / 2.0
    near = np.minimum(places, 1.0 - places)
    share = float(plain(alpha))
    if share <= 0 or share >= 1:
        return (np.ones(M) if share <= 0 else 0.5 - 0.5 * np.cos(2 * np.pi * near)) + 0.0 * alpha
    return np.where(2 * near < share, 0.5 - 0.5 * np.cos(2 * np.pi * near / alpha), 1.0)


def _hamming(M: Any, alpha: Any, sym: Any) -> Any:
    return alpha + (1.0 - alpha) * np.cos(np.pi * _places(M, sym))


def _window(name: str, function: Any, parameter: str) -> Row:
    return formula(f"signal.windows.{name}", function, parameter)


ROWS = [
    formula("signal.butter", _of_type("butter"), "Wn fs"),
    formula("signal.bessel", _bessel, "Wn fs"),
    formula("signal.cheby1", _of_type("cheby1"), "rp Wn fs"),
    formula("signal.cheby2", _of_type("cheby2"), "rs Wn fs"),
    formula("signal.ellip", _of_type("ellip"), "Wn fs"),
    formula("signal.iirfilter", _iirfilter, "Wn rp rs fs"),
    formula("signal.iirnotch", lambda w0, Q, fs: _resonance(w0, Q, fs, is_notch=True), "w0 Q fs"),
    formula("signal.iirpeak", lambda w0, Q, fs: _resonance(w0, Q, fs, is_notch=False), "w0 Q fs"),
    formula("signal.sawtooth", _sawtooth, "t width"),
    _window("kaiser", _kaiser, "beta"),
    _window("tukey", _tukey, "alpha"),
    _window("general_hamming", _hamming, "alpha"),
]
