"""The rows of `scipy.signal`."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.modes import called
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.classes import Class, meta_of
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import (
    Adjoint,
    ArrayApi,
    AxisLinear,
    Constant,
    Formula,
    formula,
)
from gradwrap.scipy.rules import filter_design
from gradwrap.scipy.rules.extending import extended, odd, windows
from gradwrap.scipy.rules.matrices import native_of, solved
from gradwrap.scipy.solving import attached, plain
from gradwrap.scipy.table import Row, register

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.scipy.calls import SciPyCall

signal: Any = import_module("scipy.signal")

# Convolutions -------------------------------------------------------------------------------------


def _convolved(x: Any, y: Any, axes: Any = None) -> Any:
    """The full convolution along axes, by Fourier transforms."""
    axes = list(range(x.ndim)) if axes is None else axes
    shape = [x.shape[axis] + y.shape[axis] - 1 for axis in axes]
    if "c" in (x.dtype.kind, y.dtype.kind):
        return np.fft.ifftn(np.fft.fftn(x, shape, axes) * np.fft.fftn(y, shape, axes), shape, axes)
    return np.fft.irfftn(np.fft.rfftn(x, shape, axes) * np.fft.rfftn(y, shape, axes), shape, axes)


def _centred(x: Any, shape: Any, axes: Any = None) -> Any:
    """The middle of an array."""
    axes = range(x.ndim) if axes is None else axes
    key = [slice(None)] * x.ndim
    for axis in axes:
        start = (x.shape[axis] - shape[axis]) // 2
        key[axis] = slice(start, start + shape[axis])
    return x[tuple(key)]


def _convolve(in1: Any, in2: Any, mode: Any, axes: Any = None) -> Any:
    full = _convolved(in1, in2, axes)
    if mode == "full":
        return full
    if mode == "same":
        return _centred(full, in1.shape, axes)
    valid = [abs(m - n) + 1 for m, n in zip(in1.shape, in2.shape, strict=True)]
    return _centred(full, valid, axes)


def _fft_convolve(in1: Any, in2: Any, mode: Any, axes: Any) -> Any:
    axes = None if axes is None else [axis % in1.ndim for axis in np.atleast_1d(axes)]
    return _convolve(in1, in2, mode, axes)


def _reversed(x: Any) -> Any:
    turned = x[(slice(None, None, -1),) * x.ndim]
    return np.conj(turned) if x.dtype.kind == "c" else turned


def _correlate(in1: Any, in2: Any, mode: Any) -> Any:
    is_swapped = mode == "valid" and any(m < n for m, n in zip(in1.shape, in2.shape, strict=True))
    if is_swapped:  # SciPy correlates the longer with the shorter
        return _reversed(_convolve(in2, _reversed(in1), "valid"))
    return _convolve(in1, _reversed(in2), mode)


def _extended2(x: Any, shape: Any, boundary: Any, fill: Any) -> Any:
    for axis in range(2):
        x = extended(x, shape[axis] - 1, shape[axis] - 1, boundary, fill, axis)
    return x


def _convolve2d(in1: Any, in2: Any, mode: Any, boundary: Any, fillvalue: Any) -> Any:
    if mode == "valid":
        return _convolve(in1, in2, mode)
    full = _convolve(_extended2(in1, in2.shape, boundary, fillvalue), in2, "valid")
    return full if mode == "full" else _centred(full, in1.shape)


def _correlate2d(in1: Any, in2: Any, mode: Any, boundary: Any, fillvalue: Any) -> Any:
    if mode == "valid":
        return _correlate(in1, in2, mode)
    full = _convolve(_extended2(in1, in2.shape, boundary, fillvalue), _reversed(in2), "valid")
    if mode == "full":
        return full
    # the middle of a correlation is that of the reversed kernel
    key = tuple(slice(n // 2, n // 2 + m) for m, n in zip(in1.shape, in2.shape, strict=True))
    return full[key] if any(n % 2 == 0 for n in in2.shape) else _centred(full, in1.shape)


def _sepfir2d(input: Any, hrow: Any, hcol: Any) -> Any:
    for axis, kernel in ((1, hrow), (0, hcol)):
        half = kernel.shape[0] // 2
        longer = extended(input, half, half, "reflect", axis=axis)
        input = _along(longer, axis, kernel[::-1])
    return input


def _along(x: Any, axis: int, kernel: Any) -> Any:
    """The correlation of the stretches of an axis with a kernel."""
    moved = np.moveaxis(x, axis, -1)
    return np.moveaxis(windows(moved, kernel.shape[0]) @ kernel, -1, axis)


# Filters ------------------------------------------------------------------------------------------


def _native_filter(b: Any, a: Any, x: Any) -> Any:
    return called(signal.lfilter, "scipy.signal.lfilter", b, a, x)


def _filtered(b: Any, a: Any, x: Any) -> Any:
    """`lfilter` along the last axis, from rest."""
    args = (b, a, x)
    if any(hasattr(arg, "detach") for arg in args):
        return FILTER.kind.answer(FILTER, args, {})
    return _native_filter(b, a, x)


def _filter_of_x(g: Any, b: Any, a: Any) -> Any:
    return _filtered(_conj(b), _conj(a), g[..., ::-1])[..., ::-1]


def _lags(g: Any, u: Any, count: int) -> Any:
    """The sums of `g` with `u` delayed by 0, 1, ... steps."""
    n = u.shape[-1]
    return np.stack([np.sum(g[..., k:] * _conj(u[..., : max(n - k, 0)])) for k in range(count)])


def _delayed(t: Any, u: Any) -> Any:
    """The sum of `u` delayed by 0, 1, ... steps, with the elements of `t` as weights."""
    n = u.shape[-1]
    total = t[0] * u
    for k in range(1, min(t.shape[0], n)):
        blank = np.zeros((*u.shape[:-1], k))
        total = total + t[k] * np.concatenate([blank, u[..., : n - k]], axis=-1)
    return total


def _conj(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


ONE = np.ones(1)
FILTER = Row(
    "signal.lfilter",
    Adjoint(
        {
            "b": lambda g, b, a, x: _lags(g, _filtered(ONE, a, x), b.shape[0]),
            "a": lambda g, a, out: -_lags(g, _filtered(ONE, a, out), a.shape[0]),
            "x": _filter_of_x,
        },
        {
            "b": lambda t, a, x: _delayed(t, _filtered(ONE, a, x)),
            "a": lambda t, a, out: -_delayed(t, _filtered(ONE, a, out)),
            "x": lambda t, b, a: _filtered(b, a, t),
        },
    ),
    arrays="b a x",
    original=_native_filter,
)


def _lfilter(b: Any, a: Any, x: Any, axis: Any, zi: Any) -> Any:
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    x = np.moveaxis(x, axis, -1)
    if zi is None:
        return np.moveaxis(_filtered(b, a, x), -1, axis)
    y, zf = _filter_from(b, a, x, np.moveaxis(zi, axis, -1))
    return np.moveaxis(y, -1, axis), np.moveaxis(zf, -1, axis)


def _filter_from(b: Any, a: Any, x: Any, zi: Any) -> tuple[Any, Any]:
    """A filter from a state, which acts as so many inputs of the recursive part."""
    b, a = b / a[0], a / a[0]
    order, n = max(b.shape[0], a.shape[0]), x.shape[-1]
    b, a = (np.concatenate([one, np.zeros(order - one.shape[0])]) for one in (b, a))
    zi = np.broadcast_to(zi, (*x.shape[:-1], order - 1))
    start = np.concatenate([zi, np.zeros((*x.shape[:-1], n + 1))], axis=-1)
    y = _filtered(b, a, x) + _filtered(ONE, a, start[..., :n])
    states: list[Any] = []
    for k in range(1, order):
        total = start[..., n + k - 1]
        for j in range(k, order):
            at = n - 1 - (j - k)
            if at >= 0:
                total = total + b[j] * x[..., at] - a[j] * y[..., at]
        states.append(total)
    final = np.stack(states, axis=-1) if states else zi
    return y, final


def _lfilter_zi(b: Any, a: Any) -> Any:
    b, a = b / a[0], a / a[0]
    n = max(b.shape[0], a.shape[0])
    b, a = (np.concatenate([one, np.zeros(n - one.shape[0])]) for one in (b, a))
    first = np.concatenate([-a[1:][:, None], np.eye(n - 1, n - 2)], axis=1)
    return solved(np.eye(n - 1) - first, b[1:] - a[1:] * b[0])


def _sosfilt_zi(sos: Any) -> Any:
    scale: Any = 1.0
    states: list[Any] = []
    for section in range(sos.shape[0]):
        b, a = sos[section, :3], sos[section, 3:]
        states.append(scale * _lfilter_zi(b, a))
        scale = scale * np.sum(b) / np.sum(a)
    return np.stack(states)


def _lfiltic(b: Any, a: Any, y: Any, x: Any) -> Any:
    b, a = np.atleast_1d(b) / np.atleast_1d(a)[0], np.atleast_1d(a) / np.atleast_1d(a)[0]
    m, n = b.shape[0] - 1, a.shape[0] - 1
    count = max(m, n)
    y = np.concatenate([y, np.zeros(n)])
    x = np.concatenate([np.zeros(0) if x is None else x, np.zeros(m)])
    states: list[Any] = []
    for k in range(count):
        total: Any = 0.0
        if k < m:
            total = total + np.sum(b[k + 1 :] * x[: m - k])
        if k < n:
            total = total - np.sum(a[k + 1 :] * y[: n - k])
        states.append(total)
    return np.stack(states)


def _sosfilt(sos: Any, x: Any, axis: Any, zi: Any) -> Any:
    x = np.moveaxis(x, axis, -1)
    states: list[Any] = []
    for section in range(sos.shape[0]):
        b, a = sos[section, :3], sos[section, 3:]
        if zi is None:
            x = _filtered(b, a, x)
        else:
            x, state = _filter_from(b, a, x, np.moveaxis(zi[section], axis, -1))
            states.append(np.moveaxis(state, -1, axis))
    made = np.moveaxis(x, -1, axis)
    return made if zi is None else (made, np.stack(states))


def _padded(x: Any, padtype: Any, padlen: Any, taps: int) -> tuple[Any, int]:
    """The last axis continued as `filtfilt` does, and by how many elements."""
    edge = 0 if padtype is None else 3 * taps if padlen is None else padlen
    if not edge:
        return x, 0
    if padtype == "odd":
        return odd(x, edge), edge
    return extended(x, edge, edge, "mirror" if padtype == "even" else "nearest"), edge


def _both_ways(x: Any, edge: int, run: Any, zi: Any) -> Any:
    """Filter forwards and backwards, each time from the steady state."""
    for _ in range(2):
        x = run(x, zi * x[..., :1])[..., ::-1]
    return x[..., edge:-edge] if edge else x


def _filtfilt(b: Any, a: Any, x: Any, axis: Any, padtype: Any, padlen: Any, method: Any) -> Any:
    if method != "pad":
        raise NoRuleError(
            "scipy.signal.filtfilt with method='gust' has no derivative. Fix: method='pad'."
        )
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    longer, edge = _padded(np.moveaxis(x, axis, -1), padtype, padlen, max(len(a), len(b)))
    made = _both_ways(longer, edge, lambda y, zi: _filter_from(b, a, y, zi)[0], _lfilter_zi(b, a))
    return np.moveaxis(made, -1, axis)


def _sosfiltfilt(sos: Any, x: Any, axis: Any, padtype: Any, padlen: Any) -> Any:
    data = np.asarray(native_of(sos))
    taps = 2 * len(data) + 1 - min((data[:, 2] == 0).sum(), (data[:, 5] == 0).sum())
    longer, edge = _padded(np.moveaxis(x, axis, -1), padtype, padlen, int(taps))
    zi = _sosfilt_zi(sos)

    for _ in range(2):
        first = longer[..., :1]
        for section in range(sos.shape[0]):
            b, a = sos[section, :3], sos[section, 3:]
            longer, _ = _filter_from(b, a, longer, zi[section] * first)
        longer = longer[..., ::-1]
    return np.moveaxis(longer[..., edge:-edge] if edge else longer, -1, axis)


def _deconvolve(signal: Any, divisor: Any) -> Any:
    n = signal.shape[0] - divisor.shape[0] + 1
    if n < 1:
        return np.zeros(0), signal
    impulse = np.concatenate([np.ones(1), np.zeros(n - 1)])
    quotient = _filtered(signal, divisor, impulse)
    return quotient, signal - _convolved(divisor, quotient)


def _upfirdn(h: Any, x: Any, up: Any, down: Any, axis: Any, mode: Any, cval: Any) -> Any:
    if mode != "constant" or cval != 0:
        raise NoRuleError(
            "scipy.signal.upfirdn has a derivative with mode='constant' and cval=0. Fix: use these."
        )
    x = np.moveaxis(x, axis, -1)
    n, taps = x.shape[-1], h.shape[0]
    places = np.full((n - 1) * up + 1, n)
    places[::up] = np.arange(n)
    spread = np.concatenate([x, np.zeros((*x.shape[:-1], 1))], axis=-1)[..., places]
    longer = extended(spread, taps - 1, taps - 1, "constant")
    made = windows(longer, taps, down) @ h[::-1]
    return np.moveaxis(made, -1, axis)


def _savgol(
    x: Any,
    window_length: Any,
    polyorder: Any,
    deriv: Any,
    delta: Any,
    axis: Any,
    mode: Any,
    cval: Any,
) -> Any:
    x = np.moveaxis(x, axis, -1)
    weights = signal.savgol_coeffs(window_length, polyorder, deriv=deriv, use="dot")
    before = len(weights) - 1 - len(weights) // 2 if len(weights) % 2 else len(weights) // 2 - 1
    after = len(weights) - 1 - before
    if mode != "interp":
        made = windows(extended(x, before, after, mode, cval), len(weights)) @ weights
    else:
        n, half = x.shape[-1], window_length // 2
        edges = signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, axis=0)
        middle = windows(x, window_length)[..., :, :] @ weights
        left = x[..., :window_length] @ edges[:half].T
        right = x[..., n - window_length :] @ edges[window_length - half :].T
        made = np.concatenate([left, middle, right], axis=-1)
    return np.moveaxis(made / delta**deriv, -1, axis)


def _neighbours(x: Any, shape: Any) -> Any:
    """For each element those around it, in a new last axis; zeros beyond the ends."""
    for axis, length in enumerate(shape):
        half = length // 2
        longer = extended(x, half, length - 1 - half, "constant", axis=axis)
        x = np.moveaxis(windows(np.moveaxis(longer, axis, -1), length), -2, axis)
    return np.reshape(x, (*x.shape[: len(shape)], -1))


def _medfilt(volume: Any, kernel_size: Any) -> Any:
    kernel = 3 if kernel_size is None else kernel_size
    shape = np.broadcast_to(np.atleast_1d(kernel), (volume.ndim,)).tolist()
    around = _neighbours(volume, shape)
    return np.sort(around, axis=-1)[..., around.shape[-1] // 2]


def _order_filter(a: Any, domain: Any, rank: Any) -> Any:
    around = _neighbours(a, np.shape(domain))
    chosen = np.flatnonzero(np.reshape(domain, (-1,)))
    return np.sort(around[..., chosen], axis=-1)[..., rank]


def _wiener(im: Any, mysize: Any, noise: Any) -> Any:
    shape = np.broadcast_to(np.atleast_1d(3 if mysize is None else mysize), (im.ndim,)).tolist()
    size = math.prod(shape)
    mean = np.sum(_neighbours(im, shape), axis=-1) / size
    variance = np.sum(_neighbours(im**2, shape), axis=-1) / size - mean**2
    if noise is None:
        noise = np.mean(variance)
    taken = variance >= noise
    ratio = noise / np.where(taken, variance, 1.0)
    return np.where(taken, (im - mean) * (1 - ratio) + mean, mean)


# Splines ------------------------------------------------------------------------------------------


def _basis(x: Any, order: int) -> Any:
    """The symmetric B-spline of order 2 or 3."""
    size, square = np.abs(x), x * x
    if order == 2:
        return np.where(
            size <= 0.5, 0.75 - square, np.where(size < 1.5, (1.5 - size) ** 2 / 2, 0.0)
        )
    inner, outer = 2 / 3 - square * (2 - size) / 2, (2 - size) ** 3 / 6
    return np.where(size < 1, inner, np.where(size < 2, outer, 0.0))


def _spline_at(order: int) -> Any:
    def evaluated(cj: Any, newx: Any, dx: Any, x0: Any) -> Any:
        x = (newx - x0) / dx
        n = cj.shape[0]
        last = n - 1
        for _ in range(1 + int(np.max(np.abs(native_of(x)))) // max(last, 1)):  # mirrored
            x = np.where(native_of(x) < 0, -x, x)
            x = np.where(native_of(x) > last, 2 * last - x, x)
        low = np.floor(np.asarray(native_of(x)) - (order + 1) / 2).astype(int) + 1
        total: Any = 0.0
        for step in range(order + 1):
            at = low + step
            total = total + cj[np.clip(at, 0, last)] * _basis(x - at, order)
        return total

    return evaluated


# Spectra ------------------------------------------------------------------------------------------


def _window(window: Any, nperseg: Any, n: int) -> tuple[Any, int]:
    if isinstance(window, (str, tuple)):
        length = min(256 if nperseg is None else int(nperseg), n)
        return signal.get_window(window, length), length
    return np.asarray(window), len(window)


def _transformed(x: Any, win: Any, step: int, nfft: int, detrend: Any, *, onesided: bool) -> Any:
    """The Fourier transforms of all windows of the last axis, in a new axis before it."""
    frames = windows(x, len(win), step)
    if detrend:
        if callable(detrend):
            raise NoRuleError(
                "A spectrum with a function for detrend= has no derivative. "
                "Fix: detrend='constant', 'linear' or False."
            )
        frames = dispatcher("signal.detrend")(frames, type=detrend)
    transform = np.fft.rfft if onesided else np.fft.fft
    return transform(frames * win, nfft)


def _frequencies(fs: Any, nfft: int, *, onesided: bool) -> Any:
    return (np.fft.rfftfreq if onesided else np.fft.fftfreq)(nfft) * fs


def _same_length(x: Any, y: Any) -> Any:
    n = max(x.shape[-1], y.shape[-1])
    return tuple(extended(one, 0, n - one.shape[-1], "constant") for one in (x, y))


def _csd(
    x: Any,
    y: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    return_onesided: Any,
    scaling: Any,
    axis: Any,
    average: Any,
    averages: bool = True,
) -> Any:
    x, y = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    x, y = _same_length(x, y)
    onesided = return_onesided and "c" not in (x.dtype.kind, y.dtype.kind)
    win, length = _window(window, nperseg, x.shape[-1])
    step = length - (length // 2 if noverlap is None else int(noverlap))
    nfft = length if nfft is None else int(nfft)
    one, other = (
        _transformed(part, win, step, nfft, detrend, onesided=onesided) for part in (x, y)
    )
    scale = 1 / (fs * np.sum(win**2)) if scaling == "density" else 1 / np.sum(win) ** 2
    power = np.conj(one) * other * scale
    if onesided:
        double = np.full(power.shape[-1], 2.0)
        double[0] = 1.0
        if nfft % 2 == 0:
            double[-1] = 1.0
        power = power * double
    if averages:
        if average == "median":
            count = power.shape[-2]
            bias = 1 + np.sum(1 / np.arange(3.0, count + 1, 2) - 1 / np.arange(2.0, count, 2))
            real, imag = (np.median(part, axis=-2) for part in (np.real(power), np.imag(power)))
            power = (real + np.asarray(1j) * imag) / bias
        else:
            power = np.mean(power, axis=-2)
        power = np.moveaxis(power, -1, axis)
    return _frequencies(fs, nfft, onesided=onesided), power


def _csd_of(
    x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any,
    return_onesided: Any, scaling: Any, axis: Any, average: Any,
) -> Any:  # fmt: skip
    return _csd(
        x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


def _welch(**words: Any) -> Any:
    f, power = _csd(y=words["x"], **words)
    return f, np.real(power)


def _welch_of(
    x: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any,
    return_onesided: Any, scaling: Any, axis: Any, average: Any,
) -> Any:  # fmt: skip
    return _welch(
        x=x, fs=fs, window=window, nperseg=nperseg, noverlap=noverlap, nfft=nfft, detrend=detrend,
        return_onesided=return_onesided, scaling=scaling, axis=axis, average=average,
    )  # fmt: skip


def _periodogram(
    x: Any, fs: Any, window: Any, nfft: Any, detrend: Any, return_onesided: Any, scaling: Any,
    axis: Any,
) -> Any:  # fmt: skip
    x = np.moveaxis(x, axis, -1)
    length = x.shape[-1]
    if nfft is not None and nfft < length:
        x, length, nfft = x[..., :nfft], nfft, None
    win = "boxcar" if window is None else window
    win = signal.get_window(win, length) if isinstance(win, (str, tuple)) else win
    f, power = _welch(
        x=x, fs=fs, window=win, nperseg=length, noverlap=0, nfft=nfft, detrend=detrend,
        return_onesided=return_onesided, scaling=scaling, axis=-1, average="mean",
    )  # fmt: skip
    return f, np.moveaxis(power, -1, axis)


def _coherence(
    x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any,
    axis: Any,
) -> Any:  # fmt: skip
    words: dict[str, Any] = {
        "fs": fs, "window": window, "nperseg": nperseg, "noverlap": noverlap, "nfft": nfft,
        "detrend": detrend, "axis": axis, "return_onesided": True, "scaling": "density",
        "average": "mean",
    }  # fmt: skip
    f, of_x = _welch(x=x, **words)
    _, of_y = _welch(x=y, **words)
    _, cross = _csd(x=x, y=y, **words)
    return f, (np.real(cross) ** 2 + np.imag(cross) ** 2) / of_x / of_y


def _times(n: int, length: int, step: int, fs: Any, offset: Any = 0) -> Any:
    return (np.arange(length / 2, n - length / 2 + 1, step) - offset) / fs


def _spectrogram(
    x: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any,
    return_onesided: Any, scaling: Any, axis: Any, mode: Any,
) -> Any:  # fmt: skip
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    win, length = _window(window, nperseg, n)
    overlap = length // 8 if noverlap is None else int(noverlap)
    if mode == "psd":
        f, made = _csd(
            x, x, fs, win, length, overlap, nfft, detrend, return_onesided, scaling, -1, "", False
        )
        made = np.real(made)
    else:
        f, made = _stft_of(x, fs, win, length - overlap, nfft, detrend, return_onesided, scaling)
        if mode == "magnitude":
            made = np.abs(made)
        elif mode != "complex":
            made = np.angle(made)
            made = np.unwrap(made, axis=-2) if mode == "phase" else made
    t = _times(n, length, length - overlap, fs)
    made = np.moveaxis(np.swapaxes(made, -1, -2), -2, axis - 1 if axis < 0 else axis)
    return f, t, made


def _stft_of(
    x: Any, fs: Any, win: Any, step: int, nfft: Any, detrend: Any, return_onesided: Any,
    scaling: Any,
) -> Any:  # fmt: skip
    onesided = return_onesided and x.dtype.kind != "c"
    nfft = len(win) if nfft is None else int(nfft)
    made = _transformed(x, win, step, nfft, detrend, onesided=onesided)
    is_density = scaling in ("psd", "density")
    scale = 1 / (fs * np.sum(win**2)) if is_density else 1 / np.sum(win) ** 2
    return _frequencies(fs, nfft, onesided=onesided), made * np.sqrt(scale)


def _stft(
    x: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any,
    return_onesided: Any, boundary: Any, padded: Any, axis: Any, scaling: Any,
) -> Any:  # fmt: skip
    x = np.moveaxis(x, axis, -1) if x.ndim > 1 else x
    win, length = _window(window, nperseg, x.shape[-1])
    step = length - (length // 2 if noverlap is None else int(noverlap))
    half = length // 2
    if boundary == "odd":
        x = odd(x, half)
    elif boundary is not None:
        words = {"zeros": "constant", "even": "mirror", "constant": "nearest"}
        x = extended(x, half, half, words[boundary])
    if padded:
        x = extended(x, 0, (-(x.shape[-1] - length) % step) % length, "constant")
    f, made = _stft_of(x, fs, win, step, nfft, detrend, return_onesided, scaling)
    t = _times(x.shape[-1], length, step, fs, 0 if boundary is None else length / 2)
    return f, t, np.moveaxis(np.swapaxes(made, -1, -2), -2, axis - 1 if axis < 0 else axis)


def _istft(
    Zxx: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, input_onesided: Any,
    boundary: Any, time_axis: Any, freq_axis: Any, scaling: Any,
) -> Any:  # fmt: skip
    z = np.moveaxis(Zxx, (freq_axis, time_axis), (-1, -2))
    usual = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    length = usual if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = length if input_onesided and length == usual + 1 else usual
    step = length - (length // 2 if noverlap is None else int(noverlap))
    win = signal.get_window(window, length) if isinstance(window, (str, tuple)) else window
    frames = (np.fft.irfft if input_onesided else np.fft.ifft)(z, nfft)[..., :length]
    scale = np.sum(win) if scaling == "spectrum" else np.sqrt(fs * np.sum(win**2))
    frames = frames * win * scale
    count = z.shape[-2]
    total = length + (count - 1) * step
    norm = np.zeros(total)
    made: Any = 0.0
    for k in range(count):
        made = made + extended(frames[..., k, :], k * step, total - k * step - length, "constant")
        norm[k * step : k * step + length] += win**2
    if boundary:
        kept = slice(length // 2, total - length // 2)
        made, norm = made[..., kept], norm[kept]
    made = made / np.where(norm > 1e-10, norm, 1.0)
    t = np.arange(made.shape[0]) / fs
    if made.ndim > 1 and time_axis not in (-1, Zxx.ndim - 1):
        raise NoRuleError(
            "scipy.signal.istft with a time axis that is not the last has no derivative. "
            "Fix: np.moveaxis."
        )
    return t, made


def _lombscargle(
    x: Any, y: Any, freqs: Any, normalize: Any, weights: Any, floating_mean: Any
) -> Any:
    w = (np.ones(x.shape[0]) if weights is None else weights)[:, None]
    w = w / np.sum(w)
    y = y[:, None]
    angle = freqs[None, :] * x[:, None]

    def mean(part: Any) -> Any:
        return np.sum(w * part, axis=0)

    def moments(angle: Any) -> tuple[Any, ...]:
        c, s = np.cos(angle), np.sin(angle)
        cc = mean(c * c)
        found = cc, 1 - cc, mean(c * s), mean(y * c), mean(y * s)
        if not floating_mean:
            return found
        c1, s1, y1 = mean(c), mean(s), mean(y)
        return tuple(
            part - other
            for part, other in zip(
                found, (c1 * c1, s1 * s1, c1 * s1, y1 * c1, y1 * s1), strict=True
            )
        )

    cc, ss, cs, _, _ = moments(angle)
    tau = np.arctan2(2 * cs, cc - ss) / 2
    cc, ss, _, yc, ys = moments(angle - tau)
    a, b = yc / cc, ys / ss
    power = 2 * (a * yc + b * ys)
    if normalize == "amplitude":
        return np.squeeze((a + np.asarray(1j) * b) * np.exp(np.asarray(1j) * tau))
    if normalize in (True, "normalize"):
        total = mean(y * y) - (mean(y) ** 2 if floating_mean else 0.0)
        return np.squeeze(power / (2 * total))
    return np.squeeze(power * (x.shape[0] / 4))


def _czt(x: Any, m: Any, w: Any, a: Any, axis: Any) -> Any:
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    m = n if m is None else m
    if w is None:
        w = np.exp(-2j * np.pi / m)
    k = np.arange(n)
    powers = (
        np.asarray(a + 0j if not hasattr(a, "dtype") else a) ** -k
        if not hasattr(a, "detach")
        else a ** (-k.astype(float))
    )
    matrix = w ** (k[:, None] * np.arange(m)[None, :]).astype(float)
    return np.moveaxis((x * powers) @ matrix, -1, axis)


def _zoom_fft(x: Any, fn: Any, m: Any, fs: Any, endpoint: Any, axis: Any) -> Any:
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    m = n if m is None else m
    f1, f2 = (0.0, fn) if np.size(fn) == 1 else (fn[0], fn[1])
    scale = 2 * np.pi / fs * (f2 - f1) / (m - 1 if endpoint else m)
    k = np.arange(n)
    angle = k[:, None] * (2 * np.pi * f1 / fs + scale * np.arange(m)[None, :])
    return np.moveaxis(x @ np.exp(np.asarray(-1j) * angle), -1, axis)


def _short_time(native: Any) -> Any:
    """The class of short-time transforms, which are linear in the signal."""

    class ShortTimeFFT(native, metaclass=meta_of(native)):  # type: ignore[metaclass,misc]  # a class of SciPy's
        def stft(self, x: Any, *args: Any, axis: int = -1, **options: Any) -> Any:
            if not holds_variable([x]):
                return super().stft(x, *args, axis=axis, **options)
            value = super().stft(plain(x), *args, axis=axis, **options)
            moved = np.moveaxis(x, axis, 0)
            n = moved.shape[0]
            units = super().stft(np.eye(n), *args, axis=-1, **options)
            matrix = np.reshape(units, (n, -1)).T
            made = matrix @ np.reshape(moved, (n, -1))
            made = np.reshape(made, (*units.shape[1:], *moved.shape[1:]))
            made = np.moveaxis(np.moveaxis(made, 1, -1), 0, axis - 1 if axis < 0 else axis)
            return attached("signal.ShortTimeFFT.stft", value, {(): made})

        def spectrogram(self, x: Any, y: Any = None, *args: Any, **options: Any) -> Any:
            if not holds_variable([x, y]):
                return super().spectrogram(x, y, *args, **options)
            if y is not None or options.get("detr") is not None or args:
                raise NoRuleError(
                    "scipy.signal.ShortTimeFFT.spectrogram has a derivative of one signal, without "
                    "detr=. Fix: multiply the two .stft()."
                )
            value = super().spectrogram(plain(x), **options)
            made = self.stft(x, **options)
            power = np.real(made) ** 2 + np.imag(made) ** 2
            return attached("signal.ShortTimeFFT.spectrogram", value, {(): power})

    ShortTimeFFT.__module__ = native.__module__
    return ShortTimeFFT


def _peaks(x: Any, out: Any) -> Any:
    return None, {"peak_heights": x[np.asarray(out[0])]}


def _prominences(x: Any, peaks: Any, out: Any) -> Any:
    bases = np.maximum(x[np.asarray(out[1])], x[np.asarray(out[2])])
    return x[np.asarray(peaks)] - bases, None, None


# Representations of filters -----------------------------------------------------------------------


def _substituted(p: Any, above: Any, below: Any, order: int) -> Any:
    """A polynomial at the quotient of two others, times a power of the lower one."""
    powers: list[Any] = [np.ones(1)]
    others: list[Any] = [np.ones(1)]
    for _ in range(order):
        powers.append(np.convolve(powers[-1], above))
        others.append(np.convolve(others[-1], below))
    degree = len(p) - 1
    terms = [
        p[i] * np.convolve(powers[degree - i], others[order - degree + i])
        for i in range(degree + 1)
    ]
    length = max(term.shape[0] for term in terms)
    total: Any = 0.0
    for term in terms:
        total = total + extended(term, length - term.shape[0], 0, "constant")
    return total


def _in_other(b: Any, a: Any, above: Any, below: Any) -> Any:
    """A transfer function at a quotient of polynomials, normalised as SciPy does."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    order = max(len(b), len(a)) - 1
    return _normalized(*(_substituted(one, above, below, order) for one in (b, a)))


def _normalized(b: Any, a: Any) -> Any:
    a = _without_leading(a, 0.0)
    return _without_leading(b / a[0], 1e-14), a / a[0]


def _without_leading(p: Any, size: float) -> Any:
    data = np.abs(np.asarray(native_of(p)))
    start = next((i for i, value in enumerate(data) if value > size), len(data) - 1)
    return p[start:]


def _pair(x: Any, y: Any) -> Any:
    return np.stack([np.asarray(1.0) * x, np.asarray(1.0) * y])


def _bilinear(b: Any, a: Any, fs: Any) -> Any:
    return _in_other(b, a, _pair(2 * fs, -2 * fs), np.ones(2))


def _lp2lp(b: Any, a: Any, wo: Any) -> Any:
    return _in_other(b, a, np.array([1.0, 0.0]), np.reshape(wo, (1,)))


def _lp2hp(b: Any, a: Any, wo: Any) -> Any:
    return _in_other(b, a, np.reshape(wo, (1,)), np.array([1.0, 0.0]))


def _lp2bp(b: Any, a: Any, wo: Any, bw: Any) -> Any:
    return _in_other(b, a, _squared(wo), _pair(bw, 0.0))


def _lp2bs(b: Any, a: Any, wo: Any, bw: Any) -> Any:
    return _in_other(b, a, _pair(bw, 0.0), _squared(wo))


def _squared(wo: Any) -> Any:
    return np.concatenate([np.array([1.0, 0.0]), np.reshape(wo * wo, (1,))])


def _more_poles(z: Any, p: Any) -> int:
    return int(np.size(p) - np.size(z))


def _with_zeros(z: Any, count: int, value: Any = 0.0) -> Any:
    return np.concatenate([z, value * np.ones(count)])


def _bilinear_zpk(z: Any, p: Any, k: Any, fs: Any) -> Any:
    z_new, p_new = ((2 * fs + one) / (2 * fs - one) for one in (z, p))
    k = k * np.real(np.prod(2 * fs - z) / np.prod(2 * fs - p))
    return _with_zeros(z_new, _more_poles(z, p), -1.0), p_new, k


def _lp2lp_zpk(z: Any, p: Any, k: Any, wo: Any) -> Any:
    return wo * z, wo * p, k * wo ** _more_poles(z, p)


def _lp2hp_zpk(z: Any, p: Any, k: Any, wo: Any) -> Any:
    return _with_zeros(wo / z, _more_poles(z, p)), wo / p, k * np.real(np.prod(-z) / np.prod(-p))


def _split(roots: Any, wo: Any) -> Any:
    if native_of(roots).dtype.kind != "c":
        roots = roots + 0j  # of complex roots, the sign of zero chooses the branch
    root = np.sqrt(roots**2 - wo**2)
    return np.concatenate([roots + root, roots - root])


def _lp2bp_zpk(z: Any, p: Any, k: Any, wo: Any, bw: Any) -> Any:
    more = _more_poles(z, p)
    return _with_zeros(_split(z * bw / 2, wo), more), _split(p * bw / 2, wo), k * bw**more


def _lp2bs_zpk(z: Any, p: Any, k: Any, wo: Any, bw: Any) -> Any:
    more = _more_poles(z, p)
    made = _with_zeros(_split(bw / 2 / z, wo), more, np.asarray(1j) * wo)
    made = _with_zeros(made, more, np.asarray(-1j) * wo)
    return made, _split(bw / 2 / p, wo), k * np.real(np.prod(-z) / np.prod(-p))


def _roots(p: Any, found: Any) -> Any:
    """The roots of a polynomial: two of Newton's steps from those that SciPy has found."""
    degree = p.shape[0] - 1
    slope = p[:-1] * np.arange(degree, 0, -1)
    for _ in range(2):
        value, rate = (
            np.sum(c * found[:, None] ** np.arange(c.shape[0] - 1, -1, -1), axis=-1)
            for c in (p, slope)
        )
        found = found - value / rate
    return found


def _tf2zpk(b: Any, a: Any, out: Any) -> Any:
    b, a = _normalized(np.atleast_1d(b), np.atleast_1d(a))
    z, p, _ = out
    return _roots(b, z), _roots(a, p), b[0]


def _sos2zpk(sos: Any, out: Any) -> Any:
    z, p, _ = out
    zeros: list[Any] = []
    poles: list[Any] = []
    gain: Any = 1.0
    for i in range(sos.shape[0]):
        b = _without_leading(sos[i, :3], 1e-14)
        zeros.append(_with_zeros(_roots(b, z[2 * i : 2 * i + len(b) - 1]), 3 - len(b)))
        poles.append(_roots(sos[i, 3:], p[2 * i : 2 * i + 2]))
        gain = gain * b[0] / sos[i, 3]
    return np.concatenate(zeros), np.concatenate(poles), gain


def _characteristic(a: Any) -> Any:
    """The characteristic polynomial, by Faddeev and LeVerrier."""
    n = a.shape[0]
    eye = np.eye(n)
    coefficients = [np.asarray(1.0)]
    moved = np.zeros((n, n))
    for k in range(1, n + 1):
        moved = a @ moved + coefficients[-1] * eye
        coefficients.append(-np.trace(a @ moved) / k)
    return np.stack(coefficients)


def _ss2tf(A: Any, B: Any, C: Any, D: Any, input: Any) -> Any:
    b, d = B[:, input : input + 1], D[:, input : input + 1]
    den = _characteristic(A)
    rows = [_characteristic(A - b @ C[k : k + 1]) + (d[k] - 1) * den for k in range(C.shape[0])]
    return np.stack(rows), den


def _tf2ss(num: Any, den: Any) -> Any:
    num, den = _normalized(num, den)
    n = den.shape[0] - 1
    num = extended(num, n + 1 - num.shape[0], 0, "constant")
    a = np.concatenate([-den[None, 1:], np.eye(n - 1, n)])
    c = num[1:] - num[0] * den[1:]
    return a, np.eye(n, 1), c[None, :], np.reshape(num[0], (1, 1))


def _chirp(
    t: Any, f0: Any, t1: Any, f1: Any, method: Any, phi: Any, vertex_zero: Any, complex: Any
) -> Any:
    if method in ("linear", "lin", "li"):
        cycles = f0 * t + (f1 - f0) / t1 * t**2 / 2
    elif method in ("quadratic", "quad", "q"):
        rate = (f1 - f0) / t1**2
        cycles = (
            f0 * t + rate * t**3 / 3 if vertex_zero else f1 * t + rate * ((t1 - t) ** 3 - t1**3) / 3
        )
    elif method in ("logarithmic", "log", "lo"):
        cycles = t1 / np.log(f1 / f0) * f0 * ((f1 / f0) ** (t / t1) - 1)
    else:
        pole = -f1 * t1 / (f0 - f1)
        cycles = -pole * f0 * np.log(np.abs(1 - t / pole))
    phase = 2 * np.pi * cycles + phi * np.pi / 180
    return np.exp(np.asarray(1j) * phase) if complex else np.cos(phase)


def _matched(values: Any, wanted: Any) -> Any:
    """The places of the values nearest to those that are wanted, each taken once."""
    left = list(range(len(values)))
    places: list[int] = []
    for one in wanted:
        nearest = min(left, key=lambda i: abs(values[i] - one))
        left.remove(nearest)
        places.append(nearest)
    return np.asarray(places, dtype=int), left


def _zpk2sos(z: Any, p: Any, k: Any, out: Any) -> Any:
    """SciPy has chosen the pairs: its sections tell which roots are together."""
    sections = np.asarray(native_of(out))
    rest_z, rest_p = (np.asarray(native_of(one)) for one in (z, p))
    places_z, places_p = list(range(len(rest_z))), list(range(len(rest_p)))
    rows: list[Any] = []
    for i, section in enumerate(sections):
        parts: list[Any] = []
        for roots, places, wanted in ((z, places_z, section[:3]), (p, places_p, section[3:])):
            data = np.asarray(native_of(roots))[places] if places else np.zeros(0)
            found = np.roots(wanted)
            at_zero = np.flatnonzero(np.abs(found) <= 1e-14)  # SciPy fills up with zeros
            surplus = max(len(at_zero) - int(np.sum(np.abs(data) <= 1e-14)), 0)
            found = np.delete(found, at_zero[:surplus])
            taken, _ = _matched(data, found[: len(data)])
            chosen = [places[j] for j in taken]
            for j in chosen:
                places.remove(j)
            parts.append(_section(roots, chosen, wanted))
        parts[0] = parts[0] * k if i == 0 else parts[0]
        rows.append(np.concatenate(parts))
    return np.stack(rows)


def _section(roots: Any, chosen: list[int], wanted: Any) -> Any:
    """The coefficients of a section, with SciPy's zeros in front or behind."""
    one = np.ones(1)
    if not chosen:
        made = one
    elif len(chosen) == 1:
        made = np.concatenate([one, -np.real(roots[np.asarray(chosen)])])
    else:
        x, y = roots[chosen[0]], roots[chosen[1]]
        made = np.stack([np.real(-(x + y)), np.real(x * y)])
        made = np.concatenate([one, made])
    missing = 3 - made.shape[0]
    if not missing:
        return made
    in_front = wanted[0] == 0
    blank = np.zeros(missing)
    return np.concatenate([blank, made] if in_front else [made, blank])


def _tf2sos(b: Any, a: Any, out: Any) -> Any:
    z, p, k = dispatcher("signal.tf2zpk")(b, a)
    return _zpk2sos(z, p, k, out)


def _freqz_sos(sos: Any, worN: Any, whole: Any, fs: Any, out: Any) -> Any:
    response: Any = 1.0
    w = out[0]
    for section in range(sos.shape[0]):
        response = (
            response
            * dispatcher("signal.freqz")(
                sos[section, :3], sos[section, 3:], worN=worN, whole=whole, fs=fs
            )[1]
        )
    return w, response


def _one_first(sos: Any, *rest: Any) -> tuple[Any, ...]:
    """Sections as SciPy wants them."""
    return (np.concatenate([sos[:, :3], np.ones((sos.shape[0], 1)), sos[:, 4:]], axis=1), *rest)


CONVOLUTIONS = [
    formula(
        "signal.convolve",
        lambda in1, in2, mode: _convolve(in1, in2, mode),
        "in1 in2",
        neutral="method",
    ),
    formula("signal.correlate", _correlate, "in1 in2", neutral="method"),
    formula("signal.fftconvolve", _fft_convolve, "in1 in2"),
    formula("signal.oaconvolve", _fft_convolve, "in1 in2"),
    formula("signal.convolve2d", _convolve2d, "in1 in2 fillvalue"),
    formula("signal.correlate2d", _correlate2d, "in1 in2 fillvalue"),
    Row(
        "signal.sepfir2d",
        signature="input, hrow, hcol, /",
        kind=Formula(_sepfir2d),
        arrays="input hrow hcol",
    ),
]
FILTERS = [
    formula("signal.lfilter", _lfilter, "b a x zi"),
    formula("signal.lfilter_zi", _lfilter_zi, "b a"),
    formula("signal.lfiltic", _lfiltic, "b a y x"),
    Row("signal.sosfilt", within=_one_first, kind=Formula(_sosfilt), arrays="sos x zi"),
    Row("signal.sosfilt_zi", within=_one_first, kind=Formula(_sosfilt_zi), arrays="sos"),
    formula("signal.filtfilt", _filtfilt, "b a x", neutral="irlen"),
    Row("signal.sosfiltfilt", within=_one_first, kind=Formula(_sosfiltfilt), arrays="sos x"),
    formula("signal.deconvolve", _deconvolve, "signal divisor"),
    formula("signal.upfirdn", _upfirdn, "h x"),
    formula("signal.savgol_filter", _savgol, "x delta cval"),
    formula("signal.medfilt", _medfilt, "volume"),
    formula("signal.medfilt2d", lambda input, kernel_size: _medfilt(input, kernel_size), "input"),
    formula("signal.order_filter", _order_filter, "a"),
    formula("signal.wiener", _wiener, "im noise"),
    Row(
        "signal.detrend",
        AxisLinear(
            "data",
            adjoint=lambda g, axis, type, bp: dispatcher("signal.detrend")(
                g, axis=axis, type=type, bp=bp
            ),
        ),
        arrays="data",
    ),
    Row(
        "signal.resample_poly",
        AxisLinear(
            holds=lambda a: (
                "padtype=" + repr(a["padtype"])
                if a["padtype"] in ("median", "maximum", "minimum") or a["cval"]
                else ""
            )
        ),
        arrays="x",
    ),
    Row("signal.decimate", AxisLinear(), arrays="x"),
    Row("signal.cspline1d", AxisLinear("signal", singly=True), arrays="signal"),
    Row("signal.qspline1d", AxisLinear("signal", singly=True), arrays="signal"),
    formula("signal.cspline1d_eval", _spline_at(3), "cj newx dx x0"),
    formula("signal.qspline1d_eval", _spline_at(2), "cj newx dx x0"),
    formula(
        "signal.gauss_spline",
        lambda x, n: np.exp(-(x**2) / 2 / ((n + 1) / 12.0)) / np.sqrt(2 * np.pi * (n + 1) / 12.0),
        "x",
    ),
]
SPECTRA = [
    formula("signal.welch", _welch_of, "x fs"),
    formula("signal.csd", _csd_of, "x y fs"),
    formula("signal.periodogram", _periodogram, "x fs"),
    formula("signal.coherence", _coherence, "x y fs"),
    formula("signal.spectrogram", _spectrogram, "x fs"),
    formula("signal.stft", _stft, "x fs"),
    formula("signal.istft", _istft, "Zxx fs"),
    formula("signal.lombscargle", _lombscargle, "x y freqs weights"),
    formula("signal.czt", _czt, "x w a"),
    formula("signal.zoom_fft", _zoom_fft, "x fn fs"),
]


REPRESENTATIONS = [
    *(
        formula(
            f"signal.{name}", function, "b a wo bw" if name > "lp2b" and name < "lp2c" else "b a wo"
        )
        for name, function in (
            *(("lp2lp", _lp2lp), ("lp2hp", _lp2hp)),
            *(("lp2bp", _lp2bp), ("lp2bs", _lp2bs)),
        )
    ),
    *(
        formula(f"signal.{name}", function, f"z p k {more}")
        for name, function, more in (
            ("lp2lp_zpk", _lp2lp_zpk, "wo"),
            ("lp2hp_zpk", _lp2hp_zpk, "wo"),
            ("lp2bp_zpk", _lp2bp_zpk, "wo bw"),
            ("lp2bs_zpk", _lp2bs_zpk, "wo bw"),
            ("bilinear_zpk", _bilinear_zpk, "fs"),
        )
    ),
    formula("signal.tf2zpk", _tf2zpk, "b a"),
    formula("signal.sos2zpk", _sos2zpk, "sos", within=_one_first),
    formula("signal.ss2tf", _ss2tf, "A B C D"),
    formula("signal.tf2ss", _tf2ss, "num den"),
    formula("signal.chirp", _chirp, "t f0 t1 f1 phi"),
    formula("signal.bilinear", _bilinear, "b a fs"),
    formula("signal.zpk2sos", _zpk2sos, "z p k", neutral="pairing analog"),
    formula("signal.tf2sos", _tf2sos, "b a", neutral="pairing analog"),
    Row("signal.freqz_sos", within=_one_first, kind=Formula(_freqz_sos), arrays="sos"),
    Row(
        "signal.sosfreqz",
        within=_one_first,
        signature="sos, worN=512, whole=False, fs=6.283185307179586",
        kind=Formula(_freqz_sos),
        arrays="sos",
    ),
]


def _hilbert(x: Any, N: Any, axis: Any) -> Any:
    """Without the negative frequencies, and with the positive ones twice."""
    n = x.shape[axis] if N is None else N
    twice = np.zeros(n)
    twice[0] = twice[n // 2] = 1.0
    twice[1 : (n + 1) // 2] = 2.0
    moved = np.moveaxis(x, axis, -1)
    made = np.fft.ifft(np.fft.fft(moved, n) * twice)
    return np.moveaxis(made, -1, axis)


class _MinimumPhase(ArrayApi):
    """The array-API path, save for the method that takes the root of a zero."""

    def evaluate(self, call: SciPyCall, leaves: Sequence[Any], outs: Sequence[Any]) -> Any:
        """Refuse the method "hilbert"."""
        if call.given.get("method") == "hilbert":
            raise NoRuleError(
                'scipy.signal.minimum_phase has no derivative with method="hilbert". '
                'Fix: method="homomorphic".'
            )
        return super().evaluate(call, leaves, outs)


BY_ARRAY_API = (
    "hilbert2 envelope resample freqz freqz_zpk freqs freqs_zpk group_delay zpk2tf sos2tf "
    "vectorstrength normalize firwin gausspulse sweep_poly"
)
API = [
    formula("signal.hilbert", _hilbert, "x"),
    *(Row(f"signal.{name}", ArrayApi()) for name in BY_ARRAY_API.split()),
    Row(
        "signal.minimum_phase", _MinimumPhase(), within=lambda h, *rest: ((h + h[::-1]) / 2, *rest)
    ),
]
NONE = [
    Row("signal.ShortTimeFFT", Class(_short_time), note=".stft and .spectrogram of one signal"),
    formula(
        "signal.find_peaks",
        _peaks,
        "x",
        neutral="height threshold distance prominence width wlen rel_height plateau_size",
        byproducts=(
            *("left_thresholds", "right_thresholds", "prominences", "widths", "width_heights"),
            *("left_ips", "right_ips"),
        ),
    ),
    formula("signal.peak_prominences", _prominences, "x", neutral="wlen"),
    *(
        Row(f"signal.{name}", Constant("indices, counts or facts"))
        for name in (
            *("argrelextrema", "argrelmax", "argrelmin", "check_COLA", "check_NOLA"),
            *("choose_conv_method", "correlation_lags", "find_peaks_cwt", "max_len_seq"),
        )
    ),
]
register([*CONVOLUTIONS, *FILTERS, *SPECTRA, *REPRESENTATIONS, *API, *NONE, *filter_design.ROWS])
