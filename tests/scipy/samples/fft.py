"""Samples of the rows of `scipy.fft` and `scipy.fftpack`."""

from __future__ import annotations

from typing import Any

from scipy_samples import call, each


def _real_samples(r: Any) -> Any:
    return [
        call(r.normal(5)),
        *(call(r.normal(5), type=type) for type in (1, 3, 4)),
        *(call(r.normal(5), type=type, norm="ortho") for type in (1, 2, 3, 4)),
        call(r.normal(5), type=2, norm="forward"),
        call(r.normal(5), type=3, norm="ortho", orthogonalize=False),
        call(r.normal(5), type=2, orthogonalize=True),
        call(r.normal(5, 2), n=4, axis=0),
        call(r.normal(5, 2), n=7, axis=0),
    ]


NAMES = (
    "fft ifft irfft hfft fft2 ifft2 irfft2 fftn ifftn irfftn ihfft rfft rfft2 rfftn hfft2 hfftn "
    "ihfft2 ihfftn"
)
OF_REAL_ONES = ("ihfft", "rfft", "rfft2", "rfftn", "ihfft2", "ihfftn")


def _of(name: str) -> Any:
    def samples(r: Any) -> Any:
        make = r.normal if name in OF_REAL_ONES else r.complex
        if name.endswith(("2", "n")):
            return [call(make(3, 4)), call(make(3, 4), s=(4, 3), norm="ortho")]
        return [call(make(5)), call(make(2, 5), n=4, axis=0), call(make(5), norm="ortho")]

    return samples


SAMPLES: dict[str, Any] = {
    **each("fft", "dct dst idct idst", _real_samples),
    **each(
        "fft",
        "dctn idctn dstn idstn",
        lambda r: [
            call(r.normal(3, 4)),
            call(r.normal(3, 4), type=3, axes=0, norm="ortho"),
        ],
    ),
    **each(
        "fft",
        "fht ifht",
        lambda r: [
            call(r.normal(6), 0.7, 0.3, 0.05, 0.02, upto=1),
            call(r.normal(2, 5), 0.7, 0.3, 0.05, upto=1),
        ],
    ),
    "fft.fhtoffset": lambda r: [call(0.7, 0.3, 0.2, 0.1, upto=1)],
    **each(
        "fft", "fftshift ifftshift", lambda r: [call(r.normal(5)), call(r.normal(3, 4), axes=1)]
    ),
    **each("fft", "fftfreq rfftfreq", lambda r: [call(5, 0.7)]),
    **{f"fft.{name}": _of(name) for name in NAMES.split()},
    **each(
        "fftpack", "fft ifft", lambda r: [call(r.complex(5)), call(r.normal(5, 2), n=4, axis=0)]
    ),
    **each(
        "fftpack",
        "fft2 ifft2 fftn ifftn",
        lambda r: [call(r.complex(3, 4)), call(r.normal(3, 4), shape=(4, 3))],
    ),
    **each(
        "fftpack",
        "rfft irfft",
        lambda r: [
            *(call(r.normal(n)) for n in (5, 6)),
            *(call(r.normal(5, 2), n=n, axis=0) for n in (3, 8)),
        ],
    ),
    **each(
        "fftpack",
        "dct idct dst idst",
        lambda r: [
            *(call(r.normal(5), type=type) for type in (1, 2, 3, 4)),
            call(r.normal(5, 2), type=2, n=4, axis=0, norm="ortho"),
        ],
    ),
    **each(
        "fftpack",
        "dctn idctn dstn idstn",
        lambda r: [call(r.normal(3, 4)), call(r.normal(3, 4), type=3, axes=(0,), norm="ortho")],
    ),
}
