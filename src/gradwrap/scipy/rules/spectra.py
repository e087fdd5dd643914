"""Rows of `scipy.signal`: spectra, short-time transforms and peaks."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.classes import meta_of
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.rules.extending import extended, odd, windows
from gradwrap.scipy.solving import attached, plain

signal: Any = import_module("scipy.signal")


# Spectra ------------------------------------------------------------------------------------------


def _window(window: Any, nperseg: Any, n: int) -> tuple[Any, int]:
    if isinstance(window, (str, tuple)):
        length = min(256 if nperseg is None else int(nperseg), n)
        return signal.get_window(window, length), length
    return np.asarray(window), len(window)


def _transformed(x: Any, win: Any, step: int, nfft: int, detrend: Any, *, onesided: bool) -> Any:
    """Return the Fourier transforms of all windows of the last axis, in a new axis before it."""
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


def _power(x: Any, y: Any, o: Any, **changed: Any) -> tuple[Any, Any]:
    """Return the frequencies, and the cross spectrum of each window, in its last two axes."""
    o = SimpleNamespace(**(vars(o) | changed))
    x, y = _same_length(x, y)
    onesided = o.return_onesided and "c" not in (x.dtype.kind, y.dtype.kind)
    win, length = _window(o.window, o.nperseg, x.shape[-1])
    step = length - (length // 2 if o.noverlap is None else int(o.noverlap))
    nfft = length if o.nfft is None else int(o.nfft)
    one, other = (
        _transformed(part, win, step, nfft, o.detrend, onesided=onesided) for part in (x, y)
    )
    scale = 1 / (o.fs * np.sum(win**2)) if o.scaling == "density" else 1 / np.sum(win) ** 2
    power = np.conj(one) * other * scale
    if onesided:
        double = np.full(power.shape[-1], 2.0)
        double[0] = 1.0
        if nfft % 2 == 0:
            double[-1] = 1.0
        power = power * double
    return _frequencies(o.fs, nfft, onesided=onesided), power


def _csd(x: Any, y: Any, o: Any, **changed: Any) -> tuple[Any, Any]:
    x, y = np.moveaxis(x, o.axis, -1), np.moveaxis(y, o.axis, -1)
    f, power = _power(x, y, o, **changed)
    if getattr(o, "average", "mean") == "median":
        count = power.shape[-2]
        bias = 1 + np.sum(1 / np.arange(3.0, count + 1, 2) - 1 / np.arange(2.0, count, 2))
        real, imag = (np.median(part, axis=-2) for part in (np.real(power), np.imag(power)))
        power = (real + np.asarray(1j) * imag) / bias
    else:
        power = np.mean(power, axis=-2)
    return f, np.moveaxis(power, -1, o.axis)


def _welch(x: Any, o: Any, **changed: Any) -> Any:
    f, power = _csd(x, x, o, **changed)
    return f, np.real(power)


def _periodogram(x: Any, o: Any) -> Any:
    length, nfft = x.shape[o.axis], o.nfft
    if nfft is not None and nfft < length:
        x = np.moveaxis(np.moveaxis(x, o.axis, -1)[..., :nfft], -1, o.axis)
        length, nfft = nfft, None
    win = "boxcar" if o.window is None else o.window
    win = signal.get_window(win, length) if isinstance(win, (str, tuple)) else win
    return _welch(x, o, window=win, nperseg=length, noverlap=0, nfft=nfft)


def _coherence(x: Any, y: Any, o: Any) -> Any:
    words = {"return_onesided": True, "scaling": "density"}
    f, of_x = _welch(x, o, **words)
    _, of_y = _welch(y, o, **words)
    _, cross = _csd(x, y, o, **words)
    return f, (np.real(cross) ** 2 + np.imag(cross) ** 2) / of_x / of_y


def _times(n: int, length: int, step: int, fs: Any, offset: Any = 0) -> Any:
    return (np.arange(length / 2, n - length / 2 + 1, step) - offset) / fs


def _spectrogram(x: Any, mode: Any, o: Any) -> Any:
    x = np.moveaxis(x, o.axis, -1)
    n = x.shape[-1]
    win, length = _window(o.window, o.nperseg, n)
    overlap = length // 8 if o.noverlap is None else int(o.noverlap)
    if mode == "psd":
        f, made = _power(x, x, o, window=win, nperseg=length, noverlap=overlap)
        made = np.real(made)
    else:
        f, made = _stft_of(x, win, length - overlap, o)
        if mode == "magnitude":
            made = np.abs(made)
        elif mode != "complex":
            made = np.angle(made)
            made = np.unwrap(made, axis=-2) if mode == "phase" else made
    return f, _times(n, length, length - overlap, o.fs), _times_last(made, o.axis)


def _times_last(made: Any, axis: int) -> Any:
    return np.moveaxis(np.swapaxes(made, -1, -2), -2, axis - 1 if axis < 0 else axis)


def _stft_of(x: Any, win: Any, step: int, o: Any) -> Any:
    onesided = o.return_onesided and x.dtype.kind != "c"
    nfft = len(win) if o.nfft is None else int(o.nfft)
    made = _transformed(x, win, step, nfft, o.detrend, onesided=onesided)
    is_density = o.scaling in ("psd", "density")
    scale = 1 / (o.fs * np.sum(win**2)) if is_density else 1 / np.sum(win) ** 2
    return _frequencies(o.fs, nfft, onesided=onesided), made * np.sqrt(scale)


def _stft(x: Any, o: Any) -> Any:
    x = np.moveaxis(x, o.axis, -1) if x.ndim > 1 else x
    win, length = _window(o.window, o.nperseg, x.shape[-1])
    step = length - (length // 2 if o.noverlap is None else int(o.noverlap))
    half = length // 2
    if o.boundary == "odd":
        x = odd(x, half)
    elif o.boundary is not None:
        words = {"zeros": "constant", "even": "mirror", "constant": "nearest"}
        x = extended(x, half, half, words[o.boundary])
    if o.padded:
        x = extended(x, 0, (-(x.shape[-1] - length) % step) % length, "constant")
    f, made = _stft_of(x, win, step, o)
    t = _times(x.shape[-1], length, step, o.fs, 0 if o.boundary is None else length / 2)
    return f, t, _times_last(made, o.axis)


def _istft(Zxx: Any, o: Any) -> Any:
    z = np.moveaxis(Zxx, (o.freq_axis, o.time_axis), (-1, -2))
    usual = 2 * (z.shape[-1] - 1) if o.input_onesided else z.shape[-1]
    length = usual if o.nperseg is None else int(o.nperseg)
    odd_length = o.input_onesided and length == usual + 1
    nfft = o.nfft if o.nfft is not None else length if odd_length else usual
    step = length - (length // 2 if o.noverlap is None else int(o.noverlap))
    win, _ = _window(o.window, length, length)
    frames = (np.fft.irfft if o.input_onesided else np.fft.ifft)(z, nfft)[..., :length]
    scale = np.sum(win) if o.scaling == "spectrum" else np.sqrt(o.fs * np.sum(win**2))
    frames = frames * win * scale
    count = z.shape[-2]
    total = length + (count - 1) * step
    norm = np.zeros(total)
    made: Any = 0.0
    for k in range(count):
        made = made + extended(frames[..., k, :], k * step, total - k * step - length, "constant")
        norm[k * step : k * step + length] += win**2
    if o.boundary:
        kept = slice(length // 2, total - length // 2)
        made, norm = made[..., kept], norm[kept]
    made = made / np.where(norm > 1e-10, norm, 1.0)
    t = np.arange(made.shape[0]) / o.fs
    if made.ndim > 1 and o.time_axis not in (-1, Zxx.ndim - 1):
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
    k = np.arange(float(n))
    matrix = w ** (k[:, None] * np.arange(m)[None, :])
    return np.moveaxis((x * (a + 0j) ** -k) @ matrix, -1, axis)


def _zoom_fft(x: Any, fn: Any, m: Any, fs: Any, endpoint: Any, axis: Any) -> Any:
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    m = n if m is None else m
    f1, f2 = (0.0, fn) if np.size(fn) == 1 else (fn[0], fn[1])
    scale = 2 * np.pi / fs * (f2 - f1) / (m - 1 if endpoint else m)
    k = np.arange(n)
    angle = k[:, None] * (2 * np.pi * f1 / fs + scale * np.arange(m)[None, :])
    return np.moveaxis(x @ np.exp(np.asarray(-1j) * angle), -1, axis)


def short_time(native: Any) -> Any:
    """Make the class of short-time transforms, which are linear in the signal."""

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


def peaks(x: Any, out: Any, rel_height: Any = 0.5) -> Any:
    at, known = np.asarray(out[0]), out[1]
    made = {"peak_heights": x[at]}
    if "left_thresholds" in known:
        made["left_thresholds"] = x[at] - x[at - 1]
        made["right_thresholds"] = x[at] - x[at + 1]
    if "prominences" in known:
        bases = None, known["left_bases"], known["right_bases"]
        made["prominences"] = prominences(x, at, bases)[0]
    if "widths" in known:
        ends = None, None, known["left_ips"], known["right_ips"]
        names = ("widths", "width_heights", "left_ips", "right_ips")
        made |= zip(names, _widths(x, at, rel_height, made["prominences"], ends), strict=True)
    return None, made


def widths(
    x: Any,
    peaks: Any,
    out: Any,
    rel_height: Any = 0.5,
    prominence_data: Any = None,
    wlen: Any = None,
) -> Any:
    if prominence_data is None:
        known = import_module("scipy.signal").peak_prominences(plain(x), np.asarray(peaks), wlen)
        prominence = prominences(x, peaks, known)[0]
    else:
        prominence = prominence_data[0]
    return _widths(x, np.asarray(peaks), rel_height, prominence, out)


def _widths(x: Any, peaks: Any, rel_height: Any, prominence: Any, out: Any) -> Any:
    """Return the widths, their heights, and the places where the signal crosses these."""
    heights = x[peaks] - prominence * rel_height
    left = _crossing(x, heights, np.asarray(out[2]), 1)
    right = _crossing(x, heights, np.asarray(out[3]), -1)
    return right - left, heights, left, right


def _crossing(x: Any, heights: Any, places: Any, step: int) -> Any:
    """Return the places between two samples where their line has the heights.

    A whole number is the place of a base, which is not crossed.
    """
    at = (np.floor(places) if step > 0 else np.ceil(places)).astype(int)
    crosses = at != places
    rise = x[np.where(crosses, at + step, at)] - x[at]
    share = (heights - x[at]) / np.where(crosses, rise, 1.0)
    return at + step * np.where(crosses, share, 0.0)


def prominences(x: Any, peaks: Any, out: Any) -> Any:
    bases = np.maximum(x[np.asarray(out[1])], x[np.asarray(out[2])])
    return x[np.asarray(peaks)] - bases, None, None


WINDOWS = "fs window nperseg noverlap nfft detrend axis"
SCALES = "return_onesided scaling"
SPECTRA = [
    formula("signal.welch", _welch, "x fs", f"{WINDOWS} {SCALES} average"),
    formula("signal.csd", _csd, "x y fs", f"{WINDOWS} {SCALES} average"),
    formula("signal.periodogram", _periodogram, "x fs", f"fs window nfft detrend axis {SCALES}"),
    formula("signal.coherence", _coherence, "x y fs", WINDOWS),
    formula("signal.spectrogram", _spectrogram, "x fs", f"{WINDOWS} {SCALES}"),
    formula("signal.stft", _stft, "x fs", f"{WINDOWS} {SCALES} boundary padded"),
    formula(
        "signal.istft",
        _istft,
        "Zxx fs",
        "fs window nperseg noverlap nfft input_onesided boundary time_axis freq_axis scaling",
    ),
    formula("signal.lombscargle", _lombscargle, "x y freqs weights"),
    formula("signal.czt", _czt, "x w a"),
    formula("signal.zoom_fft", _zoom_fft, "x fn fs"),
]
