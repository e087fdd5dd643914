"""The rows of `scipy.fft`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import special

from gradwrap.scipy.dispatching import Constant, scipys
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import AxisLinear, formula
from gradwrap.scipy.table import Row, register

SWAPPED: dict[Any, Any] = {
    None: "forward",
    "backward": "forward",
    "forward": "backward",
    "ortho": "ortho",
}


def _numpys(name: str) -> Any:
    """Return NumPy's function of the same name, for one axis or several."""
    function: Any = getattr(np.fft, name)
    if name.endswith(("2", "n")):
        return lambda x, s, axes, norm: function(x, *sizes_and_axes(s, axes), norm=norm)
    return lambda x, n, axis, norm: function(x, n=n, axis=axis, norm=norm)


def _hfftn(x: Any, s: Any, axes: Any, norm: Any) -> Any:
    return np.fft.irfftn(np.conj(x), *sizes_and_axes(s, axes), norm=SWAPPED[norm])


def _ihfftn(x: Any, s: Any, axes: Any, norm: Any) -> Any:
    return np.conj(np.fft.rfftn(x, *sizes_and_axes(s, axes), norm=SWAPPED[norm]))


def sizes_and_axes(s: Any, axes: Any) -> tuple[Any, Any]:
    """Return the sizes and axes as lists; SciPy also takes a single number."""
    s, axes = (None if one is None else np.atleast_1d(one).tolist() for one in (s, axes))
    return s, list(range(-len(s), 0)) if axes is None and s is not None else axes


# Cosine and sine transforms -----------------------------------------------------------------------

INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


@functools.cache
def _is_ignored_of_complex() -> bool:
    """Tell if SciPy does not read `orthogonalize` of complex arrays, as up to 1.17."""
    dct, x = scipys("fft.dct"), np.array([1.0, 2.0])
    return not np.allclose(dct(x + 0j, orthogonalize=True).real, dct(x, orthogonalize=True))


def _real_adjoint(kind: str) -> Any:
    """Return the adjoint of `dct` or `dst`: the dual type of transform, with end corrections."""

    def adjoint(g: Any, x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any) -> Any:
        full = x.shape[axis] if n is None else n
        norm = "backward" if norm is None else norm
        if orthogonalize is None or (np.iscomplexobj(x) and _is_ignored_of_complex()):
            orthogonalize = norm == "ortho"
        g = np.moveaxis(g, axis, -1)
        size = {("dct", 1): 2 * (full - 1), ("dst", 1): 2 * (full + 1)}.get((kind, type), 2 * full)
        scale = {"backward": 1.0, "ortho": size**-0.5, "forward": 1.0 / size}[norm]
        if orthogonalize:
            made = dispatcher(f"fft.i{kind}")(g, type=type, norm="ortho") * (scale * size**0.5)
        else:
            made = _transposed(kind, type, g) * scale
        made = made[..., : x.shape[axis]]
        missing = x.shape[axis] - made.shape[-1]
        if missing > 0:
            made = np.concatenate([made, np.zeros((*made.shape[:-1], missing))], axis=-1)
        return np.moveaxis(made, -1, axis)

    return adjoint


def _transposed(kind: str, type: int, g: Any) -> Any:
    """Apply the transpose of the unnormalised transform along the last axis."""
    n = g.shape[-1]
    weights = np.ones(n)
    end = 0 if kind == "dct" else n - 1
    function = dispatcher(f"fft.{kind}")
    if type == 1 and kind == "dct":
        weights[1:-1] = 2.0
        return weights * function(g / weights, type=1)
    if type == 2:
        weights[end] = 2.0
        return function(g * weights, type=3)
    if type == 3:
        weights[end] = 0.5
        return weights * function(g, type=2)
    return function(g, type=type)


def _inverse_adjoint(kind: str) -> Any:
    """Return the adjoint of an inverse transform, as a transform of dual type and opposite norm."""
    forward = _real_adjoint(kind)

    def adjoint(g: Any, x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any) -> Any:
        return forward(g, x, INVERSE[type], n, axis, SWAPPED[norm], orthogonalize)

    return adjoint


def _over_axes(name: str) -> Any:
    function = name[:-1]

    def formula(x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any) -> Any:
        if axes is None:
            axes = range(-(x.ndim if s is None else len(np.atleast_1d(s))), 0)
        axes = np.atleast_1d(list(axes) if np.iterable(axes) else axes)
        sizes = [None] * len(axes) if s is None else np.atleast_1d(s).tolist()
        for axis, n in zip(axes.tolist(), sizes, strict=True):
            x = dispatcher(f"fft.{function}")(
                x, type=type, n=n, axis=axis, norm=norm, orthogonalize=orthogonalize
            )
        return x

    return formula


# The fast Hankel transform ------------------------------------------------------------------------


def _coefficients(n: int, dln: Any, mu: Any, offset: Any, bias: Any) -> Any:
    """Return the coefficients of A. J. S. Hamilton, MNRAS 312 (2000) 257, eq. 174."""
    y = np.pi * np.arange(n // 2 + 1) / (n * dln)
    lower = special.loggamma((mu + 1 - bias) / 2 + np.asarray(1j) * y)
    upper = special.loggamma((mu + 1 + bias) / 2 + np.asarray(1j) * y)
    size = np.real(upper) - np.real(lower) + np.log(2) * bias
    angle = np.imag(lower) + np.imag(upper) + 2 * (np.log(2) - offset) * y
    u = np.exp(size) * np.exp(1j * angle)
    return np.concatenate([u[:-1], np.real(u[-1:]) + 0j]) if n % 2 == 0 else u


def _hankel(a: Any, u: Any) -> Any:
    made = np.fft.irfft(np.fft.rfft(a) * u, a.shape[-1])
    return made[..., ::-1]


def _fht(a: Any, dln: Any, mu: Any, offset: Any, bias: Any) -> Any:
    n = a.shape[-1]
    tilt = np.exp(-bias * (np.arange(n) - (n - 1) / 2) * dln)
    u = _coefficients(n, dln, mu, offset, bias)
    return _hankel(a * tilt, u) * tilt * np.exp(-bias * offset)


def _ifht(A: Any, dln: Any, mu: Any, offset: Any, bias: Any) -> Any:
    n = A.shape[-1]
    tilt = np.exp(bias * ((np.arange(n) - (n - 1) / 2) * dln))
    u = _coefficients(n, dln, mu, offset, bias)
    return _hankel(A * tilt * np.exp(bias * offset), 1 / np.conj(u)) * tilt


def _offset(dln: Any, mu: Any, initial: Any, bias: Any) -> Any:
    y = np.pi / (2 * dln)
    lower = special.loggamma((mu + 1 - bias) / 2 + np.asarray(1j) * y)
    upper = special.loggamma((mu + 1 + bias) / 2 + np.asarray(1j) * y)
    turns = (np.log(2) - initial) / dln + (np.imag(lower) + np.imag(upper)) / np.pi
    return initial + (turns - np.round(turns)) * dln


COMPLEX_ONES = (
    "fft",
    "ifft",
    "irfft",
    "hfft",
    "fft2",
    "ifft2",
    "irfft2",
    "fftn",
    "ifftn",
    "irfftn",
)


ROWS = [
    *(
        formula(f"fft.{name}", _numpys(name), "x", neutral="plan")
        for name in (*COMPLEX_ONES, "ihfft", "rfft", "rfft2", "rfftn")
    ),
    *(
        formula(f"fft.{name}", function, "x", neutral="plan")
        for name, function in (
            *(("hfft2", _hfftn), ("hfftn", _hfftn)),
            *(("ihfft2", _ihfftn), ("ihfftn", _ihfftn)),
        )
    ),
    *(
        Row(
            f"fft.{name}",
            AxisLinear(adjoint=make(name.removeprefix("i"))),
            arrays="x",
            neutral="plan",
        )
        for name, make in (
            *(("dct", _real_adjoint), ("dst", _real_adjoint)),
            *(("idct", _inverse_adjoint), ("idst", _inverse_adjoint)),
        )
    ),
    *(
        formula(f"fft.{name}", _over_axes(name), "x", neutral="plan")
        for name in ("dctn", "idctn", "dstn", "idstn")
    ),
    *(
        formula(f"fft.{name}", function, f"{array} dln mu offset bias")
        for name, array, function in (("fht", "a", _fht), ("ifht", "A", _ifht))
    ),
    formula("fft.fhtoffset", _offset, "dln mu initial bias"),
    *(
        formula(f"fft.{name}", function, "x")
        for name, function in (
            ("fftshift", lambda x, axes: np.fft.fftshift(x, axes)),
            ("ifftshift", lambda x, axes: np.fft.ifftshift(x, axes)),
        )
    ),
    *(
        formula(f"fft.{name}", function, "d", neutral="xp device")
        for name, function in (
            ("fftfreq", lambda n, d: np.fft.fftfreq(n) / d),
            ("rfftfreq", lambda n, d: np.fft.rfftfreq(n) / d),
        )
    ),
    *(Row(f"fft.{name}", Constant("a length")) for name in ("next_fast_len", "prev_fast_len")),
]
register(ROWS)
