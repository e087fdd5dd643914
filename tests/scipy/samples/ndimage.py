"""Samples of the rows of `scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call, each


def _image(r: Any) -> Any:
    return r.normal(5, 6)


def _filter_samples(r: Any) -> Any:
    return [
        call(_image(r), 3),
        call(_image(r), (2, 3), mode="mirror"),
        call(_image(r), 3, mode="constant", cval=0.4),
        call(_image(r), 3, origin=(1, 0), mode="wrap"),
    ]


def _rank_samples(r: Any, *more: Any) -> Any:
    return [
        call(_image(r), *more, size=3),
        call(_image(r), *more, footprint=np.array([[0, 1, 0], [1, 1, 1]]), mode="nearest"),
    ]


TILES = [[0.03, 0.21, 0.12], [0.44, 0.35, 0.6]]
"""With these, no result of a sample is near a kink."""


def _grey_samples(r: Any) -> Any:
    return [
        call(_image(r), size=(3, 2)),
        call(_image(r), footprint=np.array([[0, 1, 0], [1, 1, 1]]), mode="nearest"),
        call(_image(r), structure=np.array(TILES), mode="constant"),
    ]


MODES = ("constant", "nearest", "mirror", "reflect", "grid-wrap", "grid-constant", "wrap")


def _between(r: Any) -> list[Any]:
    """Points between the elements, inside and beyond."""
    points = np.array([[0.3, 1.7, 3.9, -0.6, 5.2], [2.2, 0.4, 4.6, 1.3, -0.7]])
    return [
        *(call(_image(r), points.copy(), mode=mode) for mode in MODES),
        *(call(_image(r), points.copy(), order=order, mode="mirror") for order in (1, 2, 4, 5)),
        call(_image(r), points.copy(), prefilter=False),
        call(r.normal(7), np.array([[0.3, 2.4]]), order=1),
    ]


LABELS = np.array([[1, 1, 0, 2, 2, 2]] * 5)


SAMPLES: dict[str, Any] = {
    "ndimage.correlate1d": lambda r: [
        call(r.normal(6), r.normal(3)),
        call(_image(r), r.normal(4), axis=0, mode="mirror", origin=1),
        call(_image(r), r.normal(4), mode="constant", cval=0.3),
    ],
    "ndimage.convolve1d": lambda r: [
        call(r.normal(6), r.normal(3)),
        call(_image(r), r.normal(4), axis=0, mode="wrap", origin=1),
    ],
    "ndimage.gaussian_filter1d": lambda r: [
        call(r.normal(8), 0.7),
        call(_image(r), 0.7, axis=0, order=1, mode="nearest"),
        call(_image(r), 0.7, order=3, radius=3),
    ],
    "ndimage.gaussian_filter": lambda r: [
        call(_image(r), 0.7),
        call(_image(r), np.array([0.7, 0.9]), order=(0, 1), mode=["wrap", "mirror"]),
        call(_image(r), 0.8, axes=1),
    ],
    "ndimage.gaussian_laplace": lambda r: [call(_image(r), 0.7)],
    "ndimage.gaussian_gradient_magnitude": lambda r: [call(_image(r), 0.7)],
    "ndimage.laplace": lambda r: [call(_image(r)), call(_image(r), mode="constant", cval=0.2)],
    "ndimage.sobel": lambda r: [call(_image(r)), call(_image(r), axis=0, mode="nearest")],
    "ndimage.prewitt": lambda r: [call(_image(r))],
    "ndimage.uniform_filter1d": lambda r: [
        call(r.normal(6), 3),
        call(_image(r), 4, axis=0, origin=1),
    ],
    "ndimage.uniform_filter": _filter_samples,
    "ndimage.correlate": lambda r: [
        call(_image(r), r.normal(3, 2)),
        call(_image(r), r.normal(2, 3), mode="constant", origin=(0, 1)),
    ],
    "ndimage.convolve": lambda r: [
        call(_image(r), r.normal(3, 2)),
        call(_image(r), r.normal(2, 3), mode="constant", origin=(-1, 1)),
    ],
    **each("ndimage", "maximum_filter minimum_filter median_filter", _rank_samples),
    **each(
        "ndimage",
        "maximum_filter1d minimum_filter1d",
        lambda r: [call(r.normal(7), 3), call(_image(r), 4, axis=0)],
    ),
    "ndimage.rank_filter": lambda r: _rank_samples(r, 2),
    "ndimage.percentile_filter": lambda r: _rank_samples(r, 30),
    **each(
        "ndimage",
        "grey_erosion grey_dilation grey_opening grey_closing white_tophat black_tophat "
        "morphological_gradient morphological_laplace",
        _grey_samples,
    ),
    "ndimage.fourier_gaussian": lambda r: [
        call(r.complex(4, 5), 0.7),
        call(r.complex(4, 3), 0.7, n=5),
    ],
    "ndimage.fourier_shift": lambda r: [
        call(r.complex(4, 5), 0.7),
        call(r.complex(4, 3), np.array([0.7, 0.2]), n=4),
    ],
    "ndimage.fourier_uniform": lambda r: [
        call(r.complex(4, 5), 1.7),
        call(r.complex(4, 3), 1.7, n=5),
    ],
    "ndimage.spline_filter1d": lambda r: [
        call(r.normal(7)),
        call(_image(r), 2, axis=0, mode="reflect"),
        call(_image(r), 4, mode="grid-wrap"),
    ],
    "ndimage.spline_filter": lambda r: [call(_image(r))],
    "ndimage.map_coordinates": _between,
    "ndimage.shift": lambda r: [
        call(_image(r), 0.3),
        call(_image(r), np.array([0.3, -1.6]), mode="nearest"),
        call(_image(r), np.array([0.3, -1.6]), mode="wrap", order=1),
    ],
    "ndimage.zoom": lambda r: [
        call(_image(r), zoom=1.7, mode="mirror"),
        call(_image(r), zoom=(1.5, 0.6), order=1, mode="grid-constant", grid_mode=True),
        call(_image(r), zoom=2.0, mode="reflect"),
    ],
    "ndimage.affine_transform": lambda r: [
        call(_image(r), np.array([[0.9, 0.1], [-0.2, 0.8]]), 0.317),
        call(_image(r), np.array([0.9, 0.8]), np.array([0.31, 0.23]), mode="nearest", order=1),
        call(_image(r), np.array([[0.9, 0.1, 0.317], [-0.2, 0.8, 0.423]])),
    ],
    "ndimage.rotate": lambda r: [
        call(_image(r), 20.0),
        call(_image(r), 20.0, reshape=False, mode="reflect"),
        call(r.normal(4, 2, 5), 20.0, axes=(0, 2), order=1, mode="nearest"),
    ],
    **each(
        "ndimage",
        "sum_labels sum mean variance standard_deviation maximum minimum median",
        lambda r: [
            call(_image(r)),
            call(_image(r), LABELS),
            call(_image(r), LABELS, [1, 2]),
        ],
    ),
    "ndimage.center_of_mass": lambda r: [
        call(r.uniform(5, 6)),
        call(r.uniform(5, 6), LABELS, [1, 2]),
    ],
    "ndimage.labeled_comprehension": lambda r: [
        call(_image(r), LABELS, [1, 2, 77], np.std, float, -1.5),
        call(_image(r), LABELS, None, np.ptp, float, 0.0),
        call(_image(r), None, None, lambda x, at: np.sum(x * at), float, 0.0, pass_positions=True),
    ],
    "ndimage.generic_filter": lambda r: [
        call(_image(r), np.std, size=3),
        call(_image(r), np.ptp, footprint=[[0, 1, 0], [1, 1, 1], [0, 1, 0]], mode="wrap"),
        call(
            _image(r), lambda x, p: np.sum(x**p), 2, mode="constant", cval=0.4, extra_arguments=(2,)
        ),
    ],
    "ndimage.extrema": lambda r: [call(_image(r)), call(_image(r), LABELS, [1, 2])],
}
