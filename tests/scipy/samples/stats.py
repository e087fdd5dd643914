"""Samples of the rows of `scipy.stats`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call, each


def _two(r: Any) -> tuple[Any, Any]:
    x = r.normal(12)
    return x, 0.4 * x + r.normal(12)


BINNED = "mean sum std min max median count"

SAMPLES: dict[str, Any] = {
    "stats.yeojohnson_llf": lambda r: [call(0.3, r.normal(9))],
    "stats.pearsonr": lambda r: [call(*_two(r)), call(*_two(r), alternative="less")],
    "stats.pointbiserialr": lambda r: [call(*_two(r))],
    "stats.linregress": lambda r: [
        call(*_two(r)),
        call(*_two(r), alternative="greater"),
        call(r.normal(4, 5), r.normal(4, 5), axis=1, keepdims=True),
    ],
    "stats.f_oneway": lambda r: [
        call(r.normal(6), r.normal(8), r.normal(5)),
        call(r.normal(6, 2), r.normal(5, 2), keepdims=True),
    ],
    "stats.variation": lambda r: [call(r.uniform(6)), call(r.uniform(4, 3), axis=1, ddof=1)],
    "stats.trim_mean": lambda r: [
        call(r.normal(12), proportiontocut=0.2),
        call(r.normal(4, 3), proportiontocut=0.2, axis=None, keepdims=True),
    ],
    "stats.scoreatpercentile": lambda r: [
        call(r.normal(12), per=31.0),
        call(r.normal(4, 3), per=31.0, axis=1),
    ],
    "stats.wasserstein_distance": lambda r: [call(r.normal(6), r.normal(5))],
    "stats.energy_distance": lambda r: [call(r.normal(6), r.normal(5))],
    "stats.boxcox": lambda r: [call(r.uniform(6), 0.3)],
    "stats.boxcox_llf": lambda r: [call(0.3, r.uniform(6))],
    "stats.yeojohnson": lambda r: [call(r.normal(6), 0.3)],
    **each(
        "stats",
        "skew kurtosis tmean tvar tstd tsem sem zscore differential_entropy kstat kstatvar "
        "skewtest jarque_bera describe iqr median_abs_deviation lmoment tmin tmax",
        lambda r: [call(r.normal(12))],
    ),
    "stats.moment": lambda r: [call(r.normal(12), 3), call(r.normal(4, 3), 2)],
    **each(
        "stats",
        "gmean hmean gzscore gstd entropy chisquare power_divergence",
        lambda r: [call(r.uniform(12))],
    ),
    **each("stats", "circmean circvar circstd", lambda r: [call(r.uniform(8))]),
    **each("stats", "kurtosistest normaltest", lambda r: [call(r.normal(24))]),
    **each("stats", "zmap ttest_rel bartlett levene alexandergovern", lambda r: [call(*_two(r))]),
    "stats.ttest_1samp": lambda r: [call(r.normal(12), 0.2)],
    "stats.ttest_ind": lambda r: [
        call(*_two(r)),
        call(r.normal(8), r.normal(5), equal_var=False),
    ],
    "stats.ttest_ind_from_stats": lambda r: [call(1.0, 0.5, 10, 1.3, 0.4, 12)],
    **each(
        "stats",
        "combine_pvalues false_discovery_control",
        lambda r: [call(r.uniform(5, low=0.1, high=0.9))],
    ),
    "stats.binned_statistic": lambda r: [
        *(call(r.uniform(20), r.normal(20), name, 4) for name in BINNED.split()),
        call(r.uniform(20), r.normal(3, 20), np.ptp, bins=5),
        call(r.uniform(20), r.normal(20), "mean", np.array([0.15, 0.5, 0.87, 1.17])),
        call(r.uniform(20), r.normal(20), bins=3, range=(0.3, 1.1), tracked="range"),
    ],
    "stats.binned_statistic_2d": lambda r: [
        *(
            call(r.uniform(40), r.uniform(40), r.normal(2, 40), statistic=name, bins=(2, 3))
            for name in BINNED.split()
        ),
        call(r.uniform(20), r.uniform(20), r.normal(20), bins=2, expand_binnumbers=True),
        call(r.uniform(9), r.uniform(9), r.normal(9), "sum", [[0.17, 0.8, 1.3], [0.1, 0.7, 1.57]]),
    ],
    "stats.binned_statistic_dd": lambda r: [
        call(r.uniform(30, 2), r.normal(30), statistic=name, bins=2) for name in BINNED.split()
    ],
    "stats.quantile": lambda r: [call(r.normal(9), 0.3)],
}
