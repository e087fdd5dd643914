"""Samples of the rows of SciPy's functions: calls, from which the tests are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samples import (
    cluster,
    constants,
    differentiate,
    fft,
    filter_design,
    integrate,
    interpolate,
    kernel_density,
    linalg,
    multivariate,
    ndimage,
    optimize,
    signal,
    sparse,
    spatial,
    special,
    stats,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy_samples import Random, Sample

SAMPLES: dict[str, Callable[[Random], list[Sample]]] = {
    **cluster.SAMPLES,
    **constants.SAMPLES,
    **differentiate.SAMPLES,
    **fft.SAMPLES,
    **filter_design.SAMPLES,
    **integrate.SAMPLES,
    **interpolate.SAMPLES,
    **kernel_density.SAMPLES,
    **linalg.SAMPLES,
    **multivariate.SAMPLES,
    **ndimage.SAMPLES,
    **optimize.SAMPLES,
    **signal.SAMPLES,
    **sparse.SAMPLES,
    **spatial.SAMPLES,
    **special.SAMPLES,
    **stats.SAMPLES,
}
