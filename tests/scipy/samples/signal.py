"""Samples of the rows of `scipy.signal`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call, each

NUMERATOR = np.array([0.4, 0.3, -0.2])

DENOMINATOR = np.array([1.3, -0.4, 0.1])

SECTIONS = np.array([[0.3, 0.2, 0.1, 1.0, -0.4, 0.1], [0.5, -0.2, 0.3, 1.0, 0.3, 0.2]])


def _tf(r: Any) -> tuple[Any, Any]:
    return NUMERATOR + 0.05 * r.normal(3), DENOMINATOR + 0.05 * r.normal(3)


def _two(r: Any) -> Any:
    return [
        call(r.normal(5), r.normal(3)),
        call(r.normal(4, 3), r.normal(2, 2), mode="same"),
        call(r.normal(3), r.normal(5), mode="valid"),
        call(r.normal(6), r.normal(4), mode="valid"),
        call(r.complex(5), r.complex(3), mode="same"),
    ]


def _planes(r: Any) -> Any:
    return [
        call(r.normal(4, 3), r.normal(3, 3)),
        call(r.normal(4, 5), r.normal(2, 3), mode="same", boundary="wrap"),
        call(r.normal(4, 5), r.normal(3, 3), mode="same", boundary="symm"),
        call(r.normal(4, 5), r.normal(2, 2), mode="valid"),
        call(r.normal(4, 5), r.normal(2, 2), mode="same", fillvalue=0.5),
    ]


ROOTS = np.array([0.3, -0.5]), np.array([0.4, 0.2, 0.7])


TIMES = np.arange(5.0) * 0.3


def _state_space(r: Any) -> Any:
    return r.normal(2, 2) - np.eye(2), r.normal(2, 1), r.normal(1, 2), r.normal(1, 1)


SAMPLES: dict[str, Any] = {
    **each("signal", "convolve correlate oaconvolve", _two),
    "signal.fftconvolve": lambda r: [*_two(r), call(r.normal(3, 4), r.normal(3, 2), axes=1)],
    **each("signal", "convolve2d correlate2d", _planes),
    "signal.sepfir2d": lambda r: [call(r.normal(5, 6), r.normal(3), r.normal(5))],
    "signal.lfilter": lambda r: [
        call(*_tf(r), r.normal(7)),
        call(*_tf(r), r.normal(2, 5), zi=0.3 * np.ones((2, 2))),
        call(*_tf(r), r.normal(5, 2), axis=0),
        call(r.normal(3), np.array([2.0]), r.normal(6)),
    ],
    "signal.lfilter_zi": lambda r: [
        call(*_tf(r)),
        call(r.normal(2), r.uniform(4) * np.array([1, 0.3, 0.2, 0.1])),
    ],
    "signal.lfiltic": lambda r: [call(*_tf(r), r.normal(2), r.normal(2))],
    "signal.sosfilt": lambda r: [
        call(SECTIONS.copy(), r.normal(6)),
        call(SECTIONS.copy(), r.normal(6), zi=np.full((2, 2), 0.3)),
    ],
    "signal.sosfilt_zi": lambda r: [call(SECTIONS.copy())],
    "signal.filtfilt": lambda r: [
        call(*_tf(r), r.normal(14)),
        call(*_tf(r), r.normal(6), padtype="even", padlen=3),
        call(*_tf(r), r.normal(7, 2), axis=0, padtype="constant", padlen=2),
        call(*_tf(r), r.normal(9), method="gust"),
        call(*_tf(r), r.normal(2, 11), method="gust", irlen=3),
        call(*_tf(r), r.normal(8, 2), axis=0, method="gust"),
        call(np.array([0.7]), np.array([2.0]), r.normal(5), method="gust"),
    ],
    "signal.sosfiltfilt": lambda r: [
        call(SECTIONS.copy(), r.normal(18)),
        call(SECTIONS.copy(), r.normal(6), padlen=3, padtype="constant"),
    ],
    "signal.deconvolve": lambda r: [call(r.normal(6), r.uniform(3))],
    "signal.upfirdn": lambda r: [
        call(r.normal(3), r.normal(5)),
        call(r.normal(4), r.normal(2, 5), up=3, down=2),
    ],
    "signal.savgol_filter": lambda r: [
        call(r.normal(9), 5, 2),
        call(r.normal(9), 5, 2, deriv=1, delta=0.7),
        call(r.normal(9, 2), 5, 3, axis=0, mode="mirror"),
        call(r.normal(9), 4, 2, mode="nearest"),
    ],
    "signal.medfilt": lambda r: [call(r.normal(7)), call(r.normal(4, 5), [3, 5])],
    "signal.medfilt2d": lambda r: [call(r.normal(4, 5))],
    "signal.order_filter": lambda r: [
        call(r.normal(4, 5), np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]]), 2)
    ],
    "signal.wiener": lambda r: [call(r.normal(8)), call(r.normal(5, 4), (3, 3), 0.05)],
    "signal.detrend": lambda r: [
        call(r.normal(7)),
        call(r.normal(3, 5), type="constant"),
        call(r.normal(8, 2), axis=0, bp=[4]),
    ],
    "signal.resample_poly": lambda r: [
        call(r.normal(8), 3, 2),
        call(r.normal(2, 8), 2, 3, axis=1, padtype="line"),
    ],
    "signal.decimate": lambda r: [
        call(r.normal(40), 2),
        call(r.normal(40), 2, ftype="fir"),
        call(r.normal(2, 40), 3, zero_phase=False),
    ],
    "signal.cspline1d": lambda r: [call(r.normal(8)), call(r.normal(8), 1)],
    "signal.qspline1d": lambda r: [call(r.normal(8))],
    "signal.cspline1d_eval": lambda r: [call(r.normal(6), r.rising(4, -1.0, 7.0), 1.1, 0.2)],
    "signal.qspline1d_eval": lambda r: [
        call(r.normal(6), np.array([-0.9, 1.9, 3.1, 6.6]), 1.1, 0.2)
    ],
    "signal.gauss_spline": lambda r: [call(r.normal(4), 3)],
    "signal.welch": lambda r: [
        call(r.normal(20), 2.0, nperseg=8),
        call(r.normal(2, 21), nperseg=7, average="median", scaling="spectrum"),
        call(r.normal(20, 2), axis=0, nperseg=8, detrend="linear", nfft=11),
    ],
    "signal.csd": lambda r: [
        call(r.normal(20), r.normal(18), 2.0, nperseg=8),
        call(r.normal(20), r.normal(20), nperseg=8, return_onesided=False, average="median"),
    ],
    "signal.periodogram": lambda r: [
        call(r.normal(12), 2.0),
        call(r.normal(12), window="hann", nfft=9),
        call(r.normal(12), nfft=16, detrend=False),
    ],
    "signal.coherence": lambda r: [call(r.normal(30), r.normal(30), 2.0, nperseg=8)],
    "signal.spectrogram": lambda r: [
        call(r.normal(20), 2.0, nperseg=8),
        call(r.normal(20), nperseg=8, mode="magnitude"),
        call(r.normal(2, 20), nperseg=8, mode="complex"),
        call(r.normal(20), nperseg=8, mode="angle"),
    ],
    "signal.stft": lambda r: [
        call(r.normal(20), 2.0, nperseg=8),
        call(r.normal(21, 2), axis=0, nperseg=8, boundary="odd", scaling="psd"),
        call(r.normal(20), nperseg=8, boundary=None, padded=False),
    ],
    "signal.istft": lambda r: [
        call(r.complex(5, 6), 2.0),
        call(r.complex(2, 5, 6), boundary=False, window="boxcar", noverlap=2),
    ],
    "signal.lombscargle": lambda r: [
        call(r.rising(8), r.normal(8), r.uniform(3)),
        call(r.rising(8), r.normal(8), r.uniform(3), normalize=True, floating_mean=True),
        call(r.rising(8), r.normal(8), r.uniform(3), normalize="amplitude"),
    ],
    "signal.czt": lambda r: [
        call(r.normal(6)),
        call(r.complex(2, 6), 4, np.complex128(0.9 - 0.3j), np.complex128(1.1 + 0.2j)),
    ],
    "signal.zoom_fft": lambda r: [
        call(r.normal(6), np.array([0.1, 0.7])),
        call(r.normal(2, 6), 0.7, 4, endpoint=True),
    ],
    "signal.lp2lp": lambda r: [call(*_tf(r), 0.7), call(r.uniform(2), r.uniform(3), 0.7)],
    "signal.lp2hp": lambda r: [call(*_tf(r), 0.7), call(r.uniform(2), r.uniform(3), 0.7)],
    "signal.lp2bp": lambda r: [call(*_tf(r), 0.7, 0.3), call(r.uniform(2), r.uniform(3), 0.7, 0.4)],
    "signal.lp2bs": lambda r: [call(*_tf(r), 0.7, 0.3), call(r.uniform(2), r.uniform(3), 0.7, 0.4)],
    "signal.lp2lp_zpk": lambda r: [call(*ROOTS, 1.3, 0.7)],
    "signal.lp2hp_zpk": lambda r: [call(*ROOTS, 1.3, 0.7)],
    "signal.lp2bp_zpk": lambda r: [call(*ROOTS, 1.3, 0.7, 0.3)],
    "signal.lp2bs_zpk": lambda r: [call(*ROOTS, 1.3, 0.7, 0.3)],
    "signal.bilinear_zpk": lambda r: [call(*ROOTS, 1.3, 1.4)],
    "signal.tf2zpk": lambda r: [
        call(np.array([1.0, 0.3, -0.2]), np.array([1.2, 0.9, 0.1])),
        call(r.normal(3), r.normal(4)),
    ],
    "signal.sos2zpk": lambda r: [call(SECTIONS.copy())],
    "signal.ss2tf": lambda r: [
        call(0.3 * r.normal(2, 2), r.normal(2, 1), r.normal(2, 2), r.normal(2, 1))
    ],
    "signal.tf2ss": lambda r: [call(*_tf(r))],
    "signal.chirp": lambda r: [
        call(r.rising(5), 0.3, 2.0, 1.2),
        *(
            call(r.rising(5), 0.3, 2.0, 1.2, method, 20.0)
            for method in ("quadratic", "logarithmic", "hyperbolic")
        ),
        call(r.rising(5), 0.3, 2.0, 1.2, "quadratic", vertex_zero=False, complex=True),
    ],
    "signal.bilinear": lambda r: [call(*_tf(r), 1.4), call(r.uniform(2), r.uniform(3), 0.9)],
    "signal.zpk2sos": lambda r: [
        call(np.array([0.3, -0.5]), np.array([0.4, 0.2]), 1.3),
        call(np.array([0.3, -0.5, -0.2]), np.array([0.4, 0.2, 0.7]), 1.3),
    ],
    "signal.tf2sos": lambda r: [call(*_tf(r))],
    "signal.freqz_sos": lambda r: [call(SECTIONS.copy(), 4)],
    "signal.sosfreqz": lambda r: [call(SECTIONS.copy(), 4)],
    "signal.hilbert": lambda r: [call(r.normal(6)), call(r.normal(3, 5), axis=0)],
    "signal.hilbert2": lambda r: [call(r.normal(4, 5))],
    "signal.envelope": lambda r: [call(r.normal(12))],
    "signal.resample": lambda r: [call(r.normal(8), 5), call(r.normal(2, 6), 9, axis=1)],
    "signal.freqz": lambda r: [call(*_tf(r), 4)],
    "signal.freqz_zpk": lambda r: [call(*ROOTS, 1.3, 4)],
    "signal.freqs": lambda r: [call(*_tf(r), np.array([0.3, 0.7]))],
    "signal.freqs_zpk": lambda r: [call(*ROOTS, 1.3, np.array([0.3, 0.7]))],
    "signal.group_delay": lambda r: [call(_tf(r), 4)],
    "signal.zpk2tf": lambda r: [call(*ROOTS, 1.3)],
    "signal.sos2tf": lambda r: [call(SECTIONS.copy())],
    "signal.vectorstrength": lambda r: [call(r.rising(5), 0.7)],
    "signal.normalize": lambda r: [call(*_tf(r))],
    "signal.minimum_phase": lambda r: [call(np.array([0.1, 0.3, 1.0, 0.3, 0.1]), upto=1)],
    "signal.firwin": lambda r: [call(7, 0.3)],
    "signal.gausspulse": lambda r: [call(r.rising(5) / 10, 3.0, 0.6)],
    "signal.sweep_poly": lambda r: [call(r.rising(5), np.array([0.1, 0.3]))],
    "signal.find_peaks": lambda r: [
        call(r.normal(12), height=-5),
        call(r.normal(12), prominence=0.01, width=0.1, threshold=1e-3, rel_height=0.7),
    ],
    "signal.peak_widths": lambda r: [
        call(np.array([0.1, 1.0, 0.3, 2.0, 0.2, 0.7, 0.0]), np.array([1, 3, 5])),
        call(np.array([0.1, 1.0, 0.3, 2.0, 0.2, 0.7, 0.0]), np.array([3]), 0.9),
        call(
            np.array([0.1, 1.0, 0.3, 2.0, 0.2, 0.7, 0.0]),
            np.array([3]),
            prominence_data=(np.array([1.7]), np.array([0]), np.array([6])),
        ),
    ],
    "signal.peak_prominences": lambda r: [
        call(np.array([0.1, 1.0, 0.3, 2.0, 0.2, 0.7, 0.0]), np.array([1, 3, 5]))
    ],
    "signal.lsim": lambda r: [
        call(_state_space(r), r.normal(5), T=TIMES),
        call(_state_space(r), r.normal(5, 1), T=TIMES + 0.2, X0=np.array([0.3, 0.1]), interp=False),
        call(([1.0, 0.4], [1.0, 0.7, 2.0]), r.normal(5), T=TIMES),
        call(_state_space(r), None, T=TIMES, X0=np.array([0.3, 0.1])),
    ],
    "signal.step": lambda r: [
        call(_state_space(r), X0=np.array([0.3, 0.1]), T=TIMES),
        call(([0.4], [0.8, 1.7]), T=TIMES),
        call((np.array([0.3]), np.array([-0.4, -2.0]), 1.3), T=TIMES),
    ],
    "signal.impulse": lambda r: [
        call(_state_space(r), T=TIMES),
        call(([0.4], [0.8, 1.7]), X0=np.array([0.2]), T=TIMES),
    ],
}
