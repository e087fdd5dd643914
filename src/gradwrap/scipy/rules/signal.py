"""The rows of `scipy.signal`."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.modes import called
from gradwrap.errors import NoRuleError
from gradwrap.scipy.classes import Class
from gradwrap.scipy.dispatching import Constant
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Adjoint, ArrayApi, AxisLinear, Formula, formula
from gradwrap.scipy.rules import filter_design, responses
from gradwrap.scipy.rules.convolving import convolved
from gradwrap.scipy.rules.extending import extended, neighbours, odd, windows
from gradwrap.scipy.rules.matrices import native_of, solved
from gradwrap.scipy.solving import data_of
from gradwrap.scipy.table import Row, register

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.scipy.calls import SciPyCall
from gradwrap.scipy.rules.filter_representations import REPRESENTATIONS, one_first
from gradwrap.scipy.rules.spectra import SPECTRA, peaks, prominences, short_time, widths

signal: Any = import_module("scipy.signal")

# Convolutions -------------------------------------------------------------------------------------


def _centred(x: Any, shape: Any, axes: Any = None) -> Any:
    """Return the central part of an array."""
    axes = range(x.ndim) if axes is None else axes
    key = [slice(None)] * x.ndim
    for axis in axes:
        start = (x.shape[axis] - shape[axis]) // 2
        key[axis] = slice(start, start + shape[axis])
    return x[tuple(key)]


def _convolve(in1: Any, in2: Any, mode: Any, axes: Any = None) -> Any:
    axes = list(range(in1.ndim)) if axes is None else axes
    if mode == "valid" and any(in1.shape[axis] < in2.shape[axis] for axis in axes):
        in1, in2 = in2, in1
    made = convolved(in1, in2, "full" if mode == "same" else mode, axes)
    return _centred(made, in1.shape, axes) if mode == "same" else made


def _fft_convolve(in1: Any, in2: Any, mode: Any, axes: Any) -> Any:
    if not in1.size or not in2.size:
        return np.zeros(0)  # as SciPy does
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
        length = kernel.shape[0]
        input = neighbours(input, length, length // 2, "reflect", axis=axis) @ kernel[::-1]
    return input


# Filters ------------------------------------------------------------------------------------------


def _native_filter(b: Any, a: Any, x: Any) -> Any:
    return called(signal.lfilter, "scipy.signal.lfilter", b, a, x)


def _filtered(b: Any, a: Any, x: Any) -> Any:
    """Apply `lfilter` along the last axis, starting from rest."""
    args = (b, a, x)
    if any(hasattr(arg, "detach") for arg in args):
        return FILTER.kind.answer(FILTER, args, {})
    return _native_filter(b, a, x)


def _lags(g: Any, u: Any, count: int) -> Any:
    """Return the inner products of `g` with `u` delayed by 0, 1, ... steps."""
    n = u.shape[-1]
    return np.stack([np.sum(g[..., k:] * _conj(u[..., : max(n - k, 0)])) for k in range(count)])


def _delayed(t: Any, u: Any) -> Any:
    """Sum `u` delayed by 0, 1, ... steps, weighted by the elements of `t`."""
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
            "x": lambda g, b, a: _filtered(_conj(b), _conj(a), g[..., ::-1])[..., ::-1],
        },
        {
            "b": lambda t, a, x: _delayed(t, _filtered(ONE, a, x)),
            "a": lambda t, a, out: -_delayed(t, _filtered(ONE, a, out)),
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
    """Filter from an initial state, which acts as extra inputs of the recursive part."""
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
    """Extend the last axis as `filtfilt` does; return it and the length of the extension."""
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


def _gustafsson(b: Any, a: Any, x: Any, length: Any) -> Any:
    """Filter from the initial states for which both orders of the two ways differ least.

    SciPy's `irlen`, the length of the impulse response, is here `length`.
    """
    order, n = max(len(b), len(a)) - 1, x.shape[-1]
    if not order:
        return (b[0] / a[0]) ** 2 * x
    m = n if length is None or n <= 2 * length else length

    def turned(y: Any) -> Any:
        return y[..., ::-1]

    def both_ends(first: Any, last: Any) -> Any:
        """Join what two states do to the whole signal, or each to its end alone."""
        if m == n:
            return np.concatenate([first, last])
        zeros = np.zeros(first.shape)
        return np.concatenate(
            [np.concatenate([first, zeros], axis=-1), np.concatenate([zeros, last], axis=-1)]
        )

    states, nothing = np.eye(order), np.zeros((order, m))
    free = _filter_from(b, a, nothing, states)[0]  # what each state gives without a signal
    back = _filtered(b, a, turned(free))
    forwards = turned(_filtered(b, a, turned(_filtered(b, a, x))))
    rest = _filtered(b, a, turned(_filtered(b, a, turned(x)))) - forwards
    ends = rest if m == n else np.concatenate([rest[..., :m], rest[..., -m:]], axis=-1)
    rows = both_ends(turned(back) - free, turned(free) - back)
    columns = np.reshape(ends, (-1, ends.shape[-1])).T
    inverse = np.linalg.pinv(rows.T, max(rows.shape) * np.finfo(float).eps)
    best = np.reshape((inverse @ columns).T, (*ends.shape[:-1], 2 * order))
    change = best @ both_ends(turned(back), turned(free))
    if m != n:
        gap = np.zeros((*change.shape[:-1], n - 2 * m))
        change = np.concatenate([change[..., :m], gap, change[..., m:]], axis=-1)
    return forwards + change


def _filtfilt(
    b: Any, a: Any, x: Any, axis: Any, padtype: Any, padlen: Any, method: Any, irlen: Any
) -> Any:
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    if method == "gust":
        return np.moveaxis(_gustafsson(b, a, np.moveaxis(x, axis, -1), irlen), -1, axis)
    longer, edge = _padded(np.moveaxis(x, axis, -1), padtype, padlen, max(len(a), len(b)))
    made = _both_ways(longer, edge, lambda y, zi: _filter_from(b, a, y, zi)[0], _lfilter_zi(b, a))
    return np.moveaxis(made, -1, axis)


def _sosfiltfilt(sos: Any, x: Any, axis: Any, padtype: Any, padlen: Any) -> Any:
    data = data_of(sos)
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
    return quotient, signal - convolved(divisor, quotient, "full", [0])


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
    if mode != "interp":
        made = neighbours(x, len(weights), before, mode, cval) @ weights
    else:
        n, half = x.shape[-1], window_length // 2
        edges = signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, axis=0)
        middle = windows(x, window_length)[..., :, :] @ weights
        left = x[..., :window_length] @ edges[:half].T
        right = x[..., n - window_length :] @ edges[window_length - half :].T
        made = np.concatenate([left, middle, right], axis=-1)
    return np.moveaxis(made / delta**deriv, -1, axis)


def _neighbours(x: Any, shape: Any) -> Any:
    """Gather the neighbourhood of each element in a new last axis, with zeros beyond the ends."""
    for axis, length in enumerate(shape):
        half = length // 2
        x = neighbours(x, length, half, "constant", axis=axis)
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
    """Evaluate the symmetric B-spline of order 2 or 3."""
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
        low = np.floor(data_of(x) - (order + 1) / 2).astype(int) + 1
        total: Any = 0.0
        for step in range(order + 1):
            at = low + step
            total = total + cj[np.clip(at, 0, last)] * _basis(x - at, order)
        return total

    return evaluated


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
    Row("signal.sosfilt", within=one_first, kind=Formula(_sosfilt), arrays="sos x zi"),
    Row("signal.sosfilt_zi", within=one_first, kind=Formula(_sosfilt_zi), arrays="sos"),
    formula("signal.filtfilt", _filtfilt, "b a x"),
    Row("signal.sosfiltfilt", within=one_first, kind=Formula(_sosfiltfilt), arrays="sos x"),
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


def _hilbert(x: Any, N: Any, axis: Any) -> Any:
    """Return the analytic signal: zero negative frequencies, and doubled positive frequencies."""
    n = x.shape[axis] if N is None else N
    twice = np.zeros(n)
    twice[0] = twice[n // 2] = 1.0
    twice[1 : (n + 1) // 2] = 2.0
    moved = np.moveaxis(x, axis, -1)
    made = np.fft.ifft(np.fft.fft(moved, n) * twice)
    return np.moveaxis(made, -1, axis)


class _MinimumPhase(ArrayApi):
    """The array-API path, except for the method "hilbert", which takes a square root at zero."""

    def evaluate(self, call: SciPyCall, leaves: Sequence[Any], outs: Sequence[Any]) -> Any:
        """Raise an error for the method "hilbert", or call the path."""
        if call.given.get("method") == "hilbert":
            raise NoRuleError(
                'scipy.signal.minimum_phase has no derivative with method="hilbert". '
                'Fix: method="homomorphic".'
            )
        return super().evaluate(call, leaves, outs)


BY_ARRAY_API = (
    "hilbert2 envelope resample freqz freqz_zpk freqs freqs_zpk group_delay sos2tf "
    "vectorstrength normalize firwin sweep_poly"
)
API = [
    formula("signal.hilbert", _hilbert, "x"),
    *(Row(f"signal.{name}", ArrayApi()) for name in BY_ARRAY_API.split()),
    *(Row(f"signal.{name}", ArrayApi(gives_value=False)) for name in ("gausspulse", "zpk2tf")),
    Row(
        "signal.minimum_phase", _MinimumPhase(), within=lambda h, *rest: ((h + h[::-1]) / 2, *rest)
    ),
]
NONE = [
    Row("signal.ShortTimeFFT", Class(short_time), note=".stft and .spectrogram of one signal"),
    formula(
        "signal.find_peaks",
        peaks,
        "x rel_height",
        neutral="wlen",
        thresholds="height threshold distance prominence width plateau_size",
    ),
    formula("signal.peak_prominences", prominences, "x", neutral="wlen"),
    formula("signal.peak_widths", widths, "x rel_height prominence_data", groups="prominence_data"),
    *(
        Row(f"signal.{name}", Constant("indices, counts or facts"))
        for name in (
            *("argrelextrema", "argrelmax", "argrelmin", "check_COLA", "check_NOLA"),
            *("choose_conv_method", "correlation_lags", "find_peaks_cwt", "max_len_seq"),
        )
    ),
]
MODULES = [*filter_design.ROWS, *responses.ROWS]
register([*CONVOLUTIONS, *FILTERS, *SPECTRA, *REPRESENTATIONS, *API, *NONE, *MODULES])
