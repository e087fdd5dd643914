"""Rows of `scipy.signal`: coefficients, zeros and poles, sections and states of filters."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Formula, formula
from gradwrap.scipy.rules.extending import extended
from gradwrap.scipy.solving import data_of
from gradwrap.scipy.table import Row

signal: Any = import_module("scipy.signal")


# Representations of filters -----------------------------------------------------------------------


def _substituted(p: Any, above: Any, below: Any, order: int) -> Any:
    """Substitute above/below into a polynomial, and multiply by below**order."""
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
    """Substitute above/below into a transfer function, and normalise it as SciPy does."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    order = max(len(b), len(a)) - 1
    return _normalized(*(_substituted(one, above, below, order) for one in (b, a)))


def _normalized(b: Any, a: Any) -> Any:
    a = _without_leading(a, 0.0)
    return _without_leading(b / a[0], 1e-14), a / a[0]


def _without_leading(p: Any, size: float) -> Any:
    data = np.abs(data_of(p))
    start = next((i for i, value in enumerate(data) if value > size), len(data) - 1)
    return p[start:]


def _pair(x: Any, y: Any) -> Any:
    return np.stack([np.asarray(1.0) * x, np.asarray(1.0) * y])


def _bilinear(b: Any, a: Any, fs: Any) -> Any:
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    # SciPy drops leading zeros; those that raise the order would change the result
    length = max(len(_without_leading(one, 0.0)) for one in (b, a))
    b, a = b[-length:], a[-length:]
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


def _lp2hp_zpk(z: Any, p: Any, k: Any, wo: Any) -> Any:
    return _with_zeros(wo / z, _more_poles(z, p)), wo / p, k * np.real(np.prod(-z) / np.prod(-p))


def _split(roots: Any, wo: Any, found: Any) -> Any:
    """Return the roots of the quadratic equations, in the order in which SciPy has found them."""
    root = np.sqrt((roots + 0j) ** 2 - wo**2)
    first = found[: np.size(roots)]
    root = np.where(np.abs(roots + root - first) <= np.abs(roots - root - first), root, -root)
    return np.concatenate([roots + root, roots - root])


def _lp2bp_zpk(z: Any, p: Any, k: Any, wo: Any, bw: Any, out: Any) -> Any:
    more = _more_poles(z, p)
    made = _with_zeros(_split(z * bw / 2, wo, out[0]), more)
    return made, _split(p * bw / 2, wo, out[1]), k * bw**more


def _lp2bs_zpk(z: Any, p: Any, k: Any, wo: Any, bw: Any, out: Any) -> Any:
    more = _more_poles(z, p)
    made = _with_zeros(_split(bw / 2 / z, wo, out[0]), more, np.asarray(1j) * wo)
    made = _with_zeros(made, more, np.asarray(-1j) * wo)
    return made, _split(bw / 2 / p, wo, out[1]), k * np.real(np.prod(-z) / np.prod(-p))


def _roots(p: Any, found: Any) -> Any:
    """Return the roots of a polynomial, by two Newton steps from SciPy's roots."""
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
    """Return the characteristic polynomial by the Faddeev-LeVerrier algorithm."""
    n = a.shape[0]
    eye = np.eye(n)
    coefficients = [np.asarray(1.0)]
    moved = np.zeros((n, n))
    for k in range(1, n + 1):
        moved = a @ moved + coefficients[-1] * eye
        coefficients.append(-np.trace(a @ moved) / k)
    return np.stack(coefficients)


def _ss2tf(A: Any, B: Any, C: Any, D: Any, input: Any) -> Any:
    a, b, c, d = (np.atleast_2d(one) for one in (A, B, C, D))
    b, d = b[:, input : input + 1], d[:, input : input + 1]
    den = _characteristic(a)
    rows = [_characteristic(a - b @ c[k : k + 1]) + (d[k] - 1) * den for k in range(c.shape[0])]
    return np.stack(rows), den


def _tf2ss(num: Any, den: Any, out: Any) -> Any:
    den = _without_leading(den, 0.0)
    num = np.atleast_2d(num) / den[0]
    den = den / den[0]
    n = den.shape[0] - 1
    num = num[
        :, num.shape[1] - np.shape(_without_leading(np.max(np.abs(data_of(num)), 0), 1e-14))[0] :
    ]
    num = np.concatenate([np.zeros((num.shape[0], n + 1 - num.shape[1])), num], axis=1)
    a = np.concatenate([-den[None, 1:], np.eye(n - 1, n)])
    c = num[:, 1:] - num[:, :1] * den[1:]
    return a, np.eye(n, 1), c, np.reshape(num[:, :1], np.shape(out[3]))


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
    """Match each wanted value to the nearest unused value; return the indices and the rest."""
    left = list(range(len(values)))
    places: list[int] = []
    for one in wanted:
        nearest = min(left, key=lambda i: abs(values[i] - one))
        left.remove(nearest)
        places.append(nearest)
    return np.asarray(places, dtype=int), left


def _zpk2sos(z: Any, p: Any, k: Any, out: Any) -> Any:
    """Build the sections from the roots, paired as in SciPy's result."""
    sections = data_of(out)
    rest_z, rest_p = (data_of(one) for one in (z, p))
    places_z, places_p = list(range(len(rest_z))), list(range(len(rest_p)))
    rows: list[Any] = []
    for i, section in enumerate(sections):
        parts: list[Any] = []
        for roots, places, wanted in ((z, places_z, section[:3]), (p, places_p, section[3:])):
            data = data_of(roots)[places] if places else np.zeros(0)
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
    """Return the coefficients of a section, padded with zeros in front or behind as in SciPy's."""
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


def one_first(sos: Any, *rest: Any) -> tuple[Any, ...]:
    """Set the leading denominator coefficients of sections to one, as SciPy requires."""
    return (np.concatenate([sos[:, :3], np.ones((sos.shape[0], 1)), sos[:, 4:]], axis=1), *rest)


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
            ("lp2lp_zpk", lambda z, p, k, wo: (wo * z, wo * p, k * wo ** _more_poles(z, p)), "wo"),
            ("lp2hp_zpk", _lp2hp_zpk, "wo"),
            ("lp2bp_zpk", _lp2bp_zpk, "wo bw"),
            ("lp2bs_zpk", _lp2bs_zpk, "wo bw"),
            ("bilinear_zpk", _bilinear_zpk, "fs"),
        )
    ),
    formula("signal.tf2zpk", _tf2zpk, "b a"),
    formula("signal.sos2zpk", _sos2zpk, "sos", within=one_first),
    formula("signal.ss2tf", _ss2tf, "A B C D"),
    formula("signal.tf2ss", _tf2ss, "num den"),
    formula("signal.chirp", _chirp, "t f0 t1 f1 phi"),
    formula("signal.bilinear", _bilinear, "b a fs"),
    formula("signal.zpk2sos", _zpk2sos, "z p k", neutral="pairing analog"),
    formula("signal.tf2sos", _tf2sos, "b a", neutral="pairing analog"),
    Row("signal.freqz_sos", within=one_first, kind=Formula(_freqz_sos), arrays="sos"),
    Row(
        "signal.sosfreqz",
        within=one_first,
        signature="sos, worN=512, whole=False, fs=6.283185307179586",
        kind=Formula(_freqz_sos),
        arrays="sos",
    ),
]
