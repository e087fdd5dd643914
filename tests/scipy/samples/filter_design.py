"""Samples of the rows of `scipy.filter_design`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call, each

_SHAPES: tuple[dict[str, Any], ...] = (
    {"output": "ba"},
    {"output": "zpk", "btype": "highpass"},
    {"output": "sos", "fs": 2.5},
    {"output": "ba", "analog": True},
)
_BAND = np.array([0.2, 0.5])


def _designs(*ripples: float) -> Any:
    """Samples of all outputs and bands."""
    return lambda r: [
        *(call(3, *ripples, 0.3, **shape, upto=1) for shape in _SHAPES),
        *(call(2, *ripples, _BAND, btype=kind, upto=1) for kind in ("bandpass", "bandstop")),
    ]


def _window(value: float) -> Any:
    return lambda r: [call(7, value), call(8, value, sym=False)]


SAMPLES: dict[str, Any] = {
    "signal.ellip": lambda r: [call(3, 1, 30, 0.3, output=one) for one in ("ba", "zpk", "sos")],
    "signal.iirfilter": lambda r: [
        call(3, 0.3, btype="low"),
        call(2, _BAND, 1.2, None, "band", upto=1, ftype="cheby1"),
    ],
    "signal.iirnotch": lambda r: [call(0.3, 20.0)],
    "signal.iirpeak": lambda r: [call(0.3, 20.0)],
    "signal.sawtooth": lambda r: [call(r.rising(6) + 0.1, 0.4), call(r.rising(6) + 0.1)],
    "signal.butter": _designs(),
    "signal.bessel": _designs(),
    "signal.cheby1": _designs(1.2),
    "signal.cheby2": _designs(30.0),
    "signal.windows.kaiser": _window(4.2),
    **each("signal.windows", "tukey general_hamming", _window(0.6)),
}
