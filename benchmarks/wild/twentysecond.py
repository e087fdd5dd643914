"""A twenty-second sample, drawn on 2026-11-30, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
docs/public-packages.md says how the names were drawn, and what was skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread
from .nineteenth import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

TWENTYSECOND = Sample()
package = TWENTYSECOND.package


@package("kalmanbox", "state-space models")
def kalmanbox() -> Iterator[Case]:
    m = module("kalmanbox.core.representation")
    kalman, unscented = module("kalmanbox.filters.kalman"), module("kalmanbox.filters.ukf")

    def system(x: Any) -> Any:
        made = m.StateSpaceRepresentation(k_states=2, k_endog=1)
        made.T, made.Z = np.array([[1.0, 1.0], [0.0, x[0]]]), np.array([[1.0, 0.0]])
        made.R, made.H, made.Q = np.eye(2), np.array([[x[1]]]), np.diag(x[2:4])
        made.P1 = 4.0 * np.eye(2)
        return made

    def filtered(x: Any) -> Any:
        found = kalman.KalmanFilter().filter(x[4:], system(x))
        return [found.filtered_state, np.reshape(found.loglike, (1,))]

    def points(x: Any) -> Any:
        model = unscented.LinearUKFModel(system(x))
        return unscented.UnscentedKalmanFilter(alpha=0.5).filter(x[4:], model).filtered_cov

    yield "KalmanFilter", filtered, [0.9, 1.3, 0.4, 0.2, *SERIES]
    yield "UnscentedKalmanFilter", points, [0.9, 1.3, 0.4, 0.2, *SERIES]


@package("accelerator-toolbox", "wakes in accelerators")
def accelerator() -> Iterator[Case]:
    m, touschek = module("at.collective.wake_functions"), module("at.acceptance.touschek")
    places = np.linspace(0.05, 0.8, 9)
    yield "long_resonator_wf", lambda x: m.long_resonator_wf(places, 1e8 * x[0], *x[1:]), [
        2.3, 1.4, 3.0, 0.98,
    ]  # fmt: skip
    yield "transverse_resonator_wf", lambda x: m.transverse_resonator_wf(
        places, 1e8 * x[0], x[1], x[2], 0.9, x[3]
    ), [2.3, 0.4, 3.0, 0.98]  # fmt: skip
    yield "transverse_reswall_wf", lambda x: m.transverse_reswall_wf(x, 1.0, 2.0, 0.02, 1e6, 1.0), [
        *places
    ]  # fmt: skip
    yield "int_piwinski", spread(touschek.int_piwinski), [0.9, 0.4, 2.1, 1.3]


@package("pyfolio", "performance of portfolios")
def pyfolio() -> Iterator[Case]:
    m, pandas = module("pyfolio.timeseries"), module("pandas")
    changes = [0.01 * (one - 4.0) for one in SERIES]

    def series(x: Any) -> Any:
        return pandas.Series(x, index=pandas.date_range("2026-01-01", periods=x.shape[0], tz="UTC"))

    yield "rolling_volatility", lambda x: (
        m.rolling_volatility(series(x), 4).dropna().to_numpy()
    ), changes  # fmt: skip
    yield "gross_lev", lambda x: m.gross_lev(
        pandas.DataFrame({"a": x[:6], "b": -x[6:], "cash": x[6:] + 1.0})
    ).to_numpy(), SERIES  # fmt: skip
    yield "value_at_risk", lambda x: np.reshape(m.value_at_risk(series(x)), (1,)), changes


@package("spectral-cube", "spectra of the sky")
def spectral_cube() -> Iterator[Case]:
    m = module("spectral_cube.analysis_utilities")
    yield "fourier_shift", lambda x: m.fourier_shift(x[1:], x[0]), [1.3, *SERIES]
    yield "fourier_shift, padded", lambda x: m.fourier_shift(
        x[1:], x[0], add_pad=True, pad_size=(4, 4)
    ), [1.3, *SERIES]  # fmt: skip


@package("patchsim", "epidemics")
def patchsim() -> Iterator[Case]:
    m, geo, pandas = module("patchsim.core.model"), module("patchsim.utils.geo"), module("pandas")
    steps = [
        {"transition": "S -> E", "rate": "beta * S"},
        {"transition": "E -> I", "rate": "sigma"},
        {"transition": "I -> R", "rate": "gamma"},
    ]

    def spreading(x: Any) -> Any:
        values = {"beta": x[0], "sigma": x[1], "gamma": x[2]}
        base = m.CompartmentalModel(["S", "E", "I", "R"], values, steps)
        model = m.NetworkModel(base, 2, [[0.9, 0.1], [0.2, 0.8]])
        people = (90.0, 2.0, 1.0, 0.0, 50.0, 1.0, 3.0, 2.0)
        start = dict(zip(model.all_compartments, people, strict=True))
        return model.compute_derivatives(start)

    yield "compute_derivatives", spreading, [0.6, 0.3, 0.2]
    yield "distance_matrix_km", lambda x: geo.distance_matrix_km(
        pandas.DataFrame({"lat": x[:3], "lon": x[3:]})
    ), [52.5, 48.1, 50.9, 13.4, 11.6, 6.9]  # fmt: skip


@package("probeinterface", "electrodes")
def probeinterface() -> Iterator[Case]:
    m = module("probeinterface")

    def turned(x: Any) -> Any:
        probe = m.Probe(ndim=2, si_units="um")
        probe.set_contacts(positions=x[:6].reshape(3, 2), shapes="circle")
        probe.create_auto_shape(probe_type="tip")
        probe.move(x[6:8])
        probe.rotate(x[8])
        return [probe.contact_positions, probe.probe_planar_contour]

    def solid(x: Any) -> Any:
        probe = m.Probe(ndim=2, si_units="um")
        probe.set_contacts(positions=x[:6].reshape(3, 2), shapes="circle")
        made = probe.to_3d(axes="xz")
        made.rotate(x[6], center=x[7:10], axis=[0.1, 0.4, 1.0])
        return made.contact_positions

    yield "Probe.rotate", turned, [0.0, 10.0, 20.0, 11.0, 40.0, 14.0, 3.0, -2.0, 35.0]
    yield "Probe.to_3d", solid, [0.0, 10.0, 20.0, 11.0, 40.0, 14.0, 35.0, 1.0, 2.0, 0.5]


@package("color-operations", "corrections of photographs")
def color_operations() -> Iterator[Case]:
    m = module("color_operations.operations")
    pixels = [0.1 * one for one in SERIES]

    def parsed(x: Any) -> Any:
        picture = x.reshape(3, 2, 2)
        for step in m.parse_operations("gamma rg 1.8, sigmoidal rgb 6 0.4"):
            picture = step(picture)
        return picture

    yield "sigmoidal", lambda x: m.sigmoidal(x[2:], *x[:2]), [5.0, 0.4, *pixels]
    yield "simple_atmo", lambda x: m.simple_atmo(x[3:].reshape(3, 2, 2), *x[:3]), [
        0.03, 10.0, 0.15, *pixels,
    ]  # fmt: skip
    yield "parse_operations", parsed, pixels


@package("songdkl", "songs of birds")
def songdkl() -> Iterator[Case]:
    m = module("songdkl.syllables")
    yield "norm", m.norm, SERIES


@package("timeseries-compute", "volatility")
def timeseries_compute() -> Iterator[Case]:
    data, pandas = module("timeseries_compute.data_processor"), module("pandas")

    def together(x: Any) -> Any:
        return data.calculate_ewma_covariance(pandas.Series(x[:6]), pandas.Series(x[6:])).to_numpy()

    yield "calculate_ewma_covariance", together, SERIES
    yield "calculate_ewma_volatility", lambda x: (
        data.calculate_ewma_volatility(pandas.Series(x)).to_numpy()
    ), SERIES  # fmt: skip
    yield "price_to_returns", lambda x: data.price_to_returns(
        pandas.DataFrame({"a": x[:6], "b": x[6:]})
    ).to_numpy(), SERIES  # fmt: skip


@package("pretty-midi", "notes of music")
def pretty_midi() -> Iterator[Case]:
    m, tools = module("pretty_midi"), module("pretty_midi.utilities")
    start = [80.0, 0.4, 64.0, 0.9, 100.0, 1.3]

    def tune(x: Any) -> Any:
        made = m.Instrument(program=0)
        for number, pitch in enumerate((60, 64, 67)):
            loud, long = x[2 * number], x[2 * number + 1]
            made.notes.append(
                m.Note(velocity=loud, pitch=pitch, start=0.5 * number, end=long + 1.0)
            )
        return made

    yield "get_pitch_class_histogram", lambda x: tune(x).get_pitch_class_histogram(
        use_duration=True, use_velocity=True
    ), start  # fmt: skip
    yield "note_number_to_hz", m.note_number_to_hz, SERIES
    yield "hz_to_note_number", tools.hz_to_note_number, SERIES


@package("alphalens", "factors of stocks")
def alphalens() -> Iterator[Case]:
    m, pandas = module("alphalens.performance"), module("pandas")

    def table(x: Any) -> Any:
        dates = pandas.date_range("2026-01-01", periods=4)
        index = pandas.MultiIndex.from_product([dates, ["a", "b", "c"]], names=["date", "asset"])
        return pandas.DataFrame({"1D": 0.01 * x[:12], "factor": x[12:]}, index=index)

    yield "factor_weights", lambda x: m.factor_weights(table(x)).to_numpy(), LONG
    yield "factor_weights, positive", lambda x: (
        m.factor_weights(table(x), demeaned=False).to_numpy()
    ), LONG  # fmt: skip


@package("pgeocode", "distances of places")
def pgeocode() -> Iterator[Case]:
    m = module("pgeocode")
    yield "haversine_distance", lambda x: m.haversine_distance(
        x[:6].reshape(3, 2), x[6:].reshape(3, 2)
    ), SERIES  # fmt: skip


@package("fit-3d-plane", "planes of points")
def fit_plane() -> Iterator[Case]:
    m = module("fit_3d_plane.main")
    yield "fit_3d_plane", lambda x: np.abs(m.fit_3d_plane(x.reshape(8, 3))[1]), LONG


@package("numba-quaternion", "rotations")
def numba_quaternion() -> Iterator[Case]:
    m = module("numba_quaternion")

    def pairs(x: Any) -> Any:
        return m.float_to_complex(x).reshape(-1, 2)

    start = [*SERIES, *SERIES[3:7]]
    yield "mul", lambda x: m.mul(pairs(x[:8]), pairs(x[8:])), start
    yield "rotate", lambda x: m.rotate(pairs(x[:8]), pairs(x[8:])), start
    yield "quat_to_rotation_matrix", lambda x: m.quat_to_rotation_matrix(pairs(x)), start


@package("sktime", "series in time")
def sktime() -> Iterator[Case]:
    m = module("sktime.performance_metrics.forecasting")
    asinh = module("sktime.transformations.scaledasinh")
    logit = module("sktime.transformations.scaledlogit")

    yield "geometric_mean_absolute_error", lambda x: np.reshape(
        m.geometric_mean_absolute_error(x[:6], x[6:]), (1,)
    ), SERIES  # fmt: skip
    yield "mean_linex_error", lambda x: np.reshape(
        m.mean_linex_error(x[:6], x[6:], a=0.4), (1,)
    ), SERIES  # fmt: skip
    yield "ScaledAsinhTransformer", lambda x: (
        asinh.ScaledAsinhTransformer().fit_transform(x.reshape(12, 1))
    ), SERIES  # fmt: skip
    yield "ScaledLogitTransformer", lambda x: logit.ScaledLogitTransformer(
        lower_bound=0.5, upper_bound=9.0
    ).fit_transform(x), SERIES  # fmt: skip


@package("spacetransformer-core", "coordinates of scans")
def spacetransformer() -> Iterator[Case]:
    m, warpers = module("spacetransformer.core.transform"), module("spacetransformer.core")

    def moved(x: Any) -> Any:
        last = np.array([[0.0, 0.0, 0.0, 1.0]])
        there = m.Transform(np.concatenate([x[:12].reshape(3, 4) + 4.0 * np.eye(3, 4), last]))
        return (there @ there.inverse() @ there.inverse()).apply_point(x[12:].reshape(4, 3))

    def warped(x: Any) -> Any:
        source = warpers.Space(shape=(5, 6, 7), spacing=(1.0, 0.5, 2.0))
        target = warpers.Space(shape=(8, 8, 8), origin=(0.4, -1.0, 0.2), spacing=(0.3, 0.4, 0.7))
        return warpers.warp_point(x.reshape(4, 3), source, target)[0]

    yield "Transform", moved, LONG
    yield "warp_point", warped, SERIES


@package("darts", "forecasts")
def darts() -> Iterator[Case]:
    m, metrics = module("darts"), module("darts.metrics")
    made = module("darts.dataprocessing.transformers")

    def pair(x: Any) -> Any:
        return m.TimeSeries.from_values(x[:6]), m.TimeSeries.from_values(x[6:])

    yield "smape", lambda x: np.reshape(metrics.smape(*pair(x)), (1,)), SERIES
    yield "coefficient_of_variation", lambda x: np.reshape(
        metrics.coefficient_of_variation(*pair(x)), (1,)
    ), SERIES  # fmt: skip
    yield "BoxCox", lambda x: (
        made.BoxCox(lmbda=0.4).fit_transform(m.TimeSeries.from_values(x)).values()
    ), SERIES  # fmt: skip


@package("cleanlab", "errors of labels")
def cleanlab() -> Iterator[Case]:
    m, scorer = module("cleanlab.rank"), module("cleanlab.internal.multilabel_scorer")
    regression = module("cleanlab.regression.rank")
    labels = np.array([0, 2, 1, 0])

    def chances(x: Any) -> Any:
        made = x.reshape(4, 3)
        return made / made.sum(axis=1, keepdims=True)

    yield "get_label_quality_scores, margin", lambda x: m.get_label_quality_scores(
        labels, chances(x), method="normalized_margin"
    ), SERIES  # fmt: skip
    yield "get_label_quality_scores, entropy", lambda x: m.get_label_quality_scores(
        labels, chances(x), method="confidence_weighted_entropy"
    ), SERIES  # fmt: skip
    yield "softmin", lambda x: scorer.softmin(x.reshape(4, 3), temperature=0.7, axis=1), SERIES
    yield "regression, residual", lambda x: regression.get_label_quality_scores(
        x[:6], x[6:], method="residual"
    ), SERIES  # fmt: skip


@package("meteomath", "flows of air")
def meteomath() -> Iterator[Case]:
    m, xarray = module("meteomath.mathlib"), module("xarray")
    places = {"y": [0.0, 1.0, 2.5], "x": [0.0, 0.5, 1.5, 2.0]}

    def pair(x: Any) -> Any:
        return (xarray.DataArray(one.reshape(3, 4), places, ["y", "x"]) for one in (x[:12], x[12:]))

    yield "vorticity", lambda x: m.vorticity(*pair(x)).values, LONG
    yield "strain_rate", lambda x: m.strain_rate(*pair(x)).values, LONG


@package("seaborn", "densities for plots")
def seaborn() -> Iterator[Case]:
    m = module("seaborn._statistics")
    yield "KDE", lambda x: m.KDE(gridsize=7)(x)[0], SERIES
    yield "KDE, two", lambda x: m.KDE(gridsize=4, bw_adjust=0.7)(x[:12], x[12:])[0], LONG
    yield "ECDF, weights", lambda x: m.ECDF()(np.array(SERIES), weights=x)[0], SERIES


@package("general-robotics-toolbox", "arms of robots")
def robotics() -> Iterator[Case]:
    m = module("general_robotics_toolbox")
    joints = [0.3, -0.4, 0.7, 0.2, 0.5, -0.6]

    def arm(x: Any) -> Any:
        axes = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]]).T
        links = np.zeros((3, 7))
        links[2, 0], links[0, 1], links[2, 2], links[0, 4] = 0.4, 0.1, 0.5, x
        return m.Robot(1.0 * axes, links, np.zeros(6))

    def pose(x: Any) -> Any:
        found = m.fwdkin(arm(0.6), x)
        return [found.R, found.p]

    yield "fwdkin", pose, joints
    yield "robotjacobian", lambda x: m.robotjacobian(arm(0.6), x), joints
    yield "slerp", lambda x: m.slerp(x[:4], x[4:8], x[8]), [*SERIES[:8], 0.3]
    yield "rpy2R, R2q", lambda x: m.R2q(m.rpy2R(x)), [0.3, -0.2, 0.5]


@package("kombine", "sampling by densities")
def kombine() -> Iterator[Case]:
    m, tools = module("kombine.clustered_kde"), module("kombine.utils")
    points = np.array([[3.0, 4.0], [5.0, 3.5]])
    yield "KDE.logpdf", lambda x: m.KDE(x.reshape(12, 2)).logpdf(points), LONG
    yield "oas_cov", lambda x: m.oas_cov(x.reshape(6, 4)), LONG
    yield "gelman_rubin", lambda x: np.reshape(tools.gelman_rubin(x.reshape(8, 3)), (1,)), LONG


@package("interpret-core", "models that explain themselves")
def interpret() -> Iterator[Case]:
    m, privacy = module("interpret.utils._link"), module("interpret.utils._privacy")
    yield "link_func", lambda x: m.link_func(
        x.reshape(12, 1) / 10.0, "logit"
    ), SERIES  # fmt: skip
    yield "calc_classic_noise_multi", lambda x: np.reshape(
        privacy.calc_classic_noise_multi(4, x[0], 1e-5 * x[1], x[2]), (1,)
    ), [1.2, 1.0, 0.5]  # fmt: skip
    yield "calc_gdp_noise_multi", lambda x: np.reshape(
        privacy.calc_gdp_noise_multi(4, x[0], 1e-5 * x[1]), (1,)
    ), [1.2, 1.0]  # fmt: skip


@package("recordlinkage", "records that belong together")
def recordlinkage() -> Iterator[Case]:
    m, pandas = module("recordlinkage"), module("pandas")
    pairs = pandas.MultiIndex.from_tuples([(0, 3), (1, 2), (4, 5), (2, 5)])

    def compared(method: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = m.Compare()
            made.numeric("a", "b", method=method, offset=0.1, scale=2.0)
            return made.compute(pairs, pandas.DataFrame({"a": x[:6], "b": x[6:]})).to_numpy()

        return result

    yield "Compare.numeric, gauss", compared("gauss"), SERIES
    yield "Compare.numeric, exp", compared("exp"), SERIES


@package("plotnine", "statistics for plots")
def plotnine() -> Iterator[Case]:
    box, ellipse = module("plotnine.stats.stat_boxplot"), module("plotnine.stats.stat_ellipse")
    density, summary = module("plotnine.stats.stat_density"), module("plotnine.stats.stat_summary")
    places = np.array([1.0, 4.0, 2.5, 7.0, 6.0, 3.0])
    yield "weighted_percentile", lambda x: box.weighted_percentile(
        places, (25, 50, 75), weights=x
    ), SERIES[:6]  # fmt: skip
    yield "cov_trob", lambda x: ellipse.cov_trob(x.reshape(12, 2))["cov"], LONG
    yield "nrd0", lambda x: np.reshape(density.nrd0(x), (1,)), SERIES
    yield "mean_cl_normal", lambda x: summary.mean_cl_normal(x).to_numpy(), SERIES


@package("switchback-power-calculator", "experiments in turns")
def switchback() -> Iterator[Case]:
    m = module("switchback_power_calculator")

    def named(x: Any) -> Any:
        return {
            "mean_obs_per_cell": x[0], "cell_size_cv": x[1], "outcome_sd": x[2],
            "between_cell_variance_share": x[3],
        }  # fmt: skip

    start = [40.0, 0.6, 2.5, 0.1]
    yield "estimator_variance", lambda x: m.estimator_variance(10, 14, **named(x)), start
    yield "mde", lambda x: m.mde(10, 14, **named(x)), start
    yield "power", lambda x: m.power(x[4], 10, 14, **named(x)), [*start, 0.3]


@package("jparse-robotics", "singular arms")
def jparse() -> Iterator[Case]:
    m = module("jparse_robotics.core")
    matrix = [0.9, 0.3, -0.2, 0.5, 0.1, 0.7, 0.4, -0.6, 0.2, 0.8, 0.3, 0.1]
    yield "JParseCore.compute", lambda x: m.JParseCore(gamma=0.4).compute(x.reshape(3, 4)), matrix
    yield "manipulability_measure", lambda x: np.reshape(
        m.manipulability_measure(x.reshape(3, 4)), (1,)
    ), matrix  # fmt: skip
    yield "inverse_condition_number", lambda x: np.reshape(
        m.inverse_condition_number(x.reshape(3, 4)), (1,)
    ), matrix  # fmt: skip


@package("skforecast", "scores of forecasts")
def skforecast() -> Iterator[Case]:
    m = module("skforecast.metrics")
    levels = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    yield "root_mean_squared_scaled_error", lambda x: np.reshape(
        m.root_mean_squared_scaled_error(x[:6], x[6:12], x[12:]), (1,)
    ), LONG  # fmt: skip
    yield "symmetric_mean_absolute_percentage_error", lambda x: np.reshape(
        m.symmetric_mean_absolute_percentage_error(x[:6], x[6:]), (1,)
    ), SERIES  # fmt: skip
    yield "crps_from_predictions", lambda x: np.reshape(
        m.crps_from_predictions(3.3, x), (1,)
    ), SERIES  # fmt: skip
    yield "crps_from_quantiles", lambda x: np.reshape(
        m.crps_from_quantiles(3.2, x, levels), (1,)
    ), [1.1, 2.0, 3.1, 4.6, 6.0]  # fmt: skip


@package("researchpy", "descriptions of data")
def researchpy() -> Iterator[Case]:
    m, pandas = module("researchpy.basic_stats"), module("pandas")
    yield "nansem", lambda x: np.reshape(m.nansem(pandas.Series(x)), (1,)), SERIES
    yield "kurtosis", lambda x: np.reshape(m.kurtosis(x), (1,)), SERIES
    yield "value_range", lambda x: np.reshape(m.value_range(x), (1,)), SERIES


@package("hendrics", "pulses of X-rays")
def hendrics() -> Iterator[Case]:
    m, fold, ffa = module("hendrics.base"), module("hendrics.fold"), module("hendrics.ffa")
    phases = np.linspace(0.0, 1.0, 9)
    yield "r_in", spread(m.r_in), [0.2, 3.0]
    yield "normalize_dyn_profile", lambda x: m.normalize_dyn_profile(
        x.reshape(4, 6), "meanstd"
    ), LONG  # fmt: skip
    yield "normalize_dyn_profile, smooth", lambda x: m.normalize_dyn_profile(
        x.reshape(4, 6), "median_smooth"
    ), LONG  # fmt: skip
    yield "dbl_cos_fit_func", lambda x: fold.dbl_cos_fit_func(x, phases), SERIES[:5]
    yield "z_n_fast_cached", lambda x: np.reshape(ffa.z_n_fast_cached(x, 3), (1,)), SERIES


@package("core-watpy", "gravitational waves")
def watpy() -> Iterator[Case]:
    m, numbers = module("watpy.wave.gwutils"), module("watpy.utils.num")
    places = np.linspace(0.0, 2.2, 12)

    def energies(x: Any) -> Any:
        wave, slope = x[:12] + 1j * x[12:], x[12:] - 1j * x[:12]
        return np.stack(
            m.waveform2energetics({(2, 2): wave}, {(2, 2): slope}, places, [(2, 2)], [2])
        )

    def extrapolated(x: Any) -> Any:
        times = [places[:6], places[:6] + 0.05, places[:6] + 0.1]
        return m.richardson_extrap_series(2, [x[:6], x[6:12], x[12:18]], times, [0.4, 0.3, 0.2])[0]

    yield "waveform2energetics", energies, LONG
    yield "richardson_extrap_series", extrapolated, LONG
    yield "lam1_lam2_of_pe_params", lambda x: np.stack(
        m.lam1_lam2_of_pe_params(*x)
    ), [0.24, 400.0, 20.0]  # fmt: skip
    yield "fixed_freq_int_1", lambda x: m.fixed_freq_int_1(x, 0.3), SERIES
    yield "diff1", lambda x: numbers.diff1(places, x), SERIES


@package("luminet", "light around black holes")
def luminet() -> Iterator[Case]:
    m = module("luminet.black_hole_math")
    yield "calc_radius", spread(m.calc_radius), [12.0, 0.8, 1.0, 1.2]
    yield "solve_for_impact_parameter", lambda x: m.solve_for_impact_parameter(
        x[0], x[1], 2.0, x[2]
    ), [20.0, 1.2, 1.0]  # fmt: skip
    yield "calc_flux_observed", spread(m.calc_flux_observed), [12.0, 1.3, 1.0, 1.2]
    yield "calc_f_kerr", spread(m.calc_f_kerr), [1.0, 0.5, 9.0]


@package("evidently", "drift of data")
def evidently() -> Iterator[Case]:
    from_ = "evidently.legacy.calculations.stattests"
    m, pandas = module(f"{from_}.wasserstein_distance_norm"), module("pandas")
    energy = module(f"{from_}.energy_distance")
    kind = module("evidently.legacy.core").ColumnType.Numerical

    def pair(x: Any) -> Any:
        return pandas.Series(x[:12]), pandas.Series(x[12:])

    yield "wasserstein_distance_norm", lambda x: np.reshape(
        m.wasserstein_stat_test.func(*pair(x), kind, 0.1)[0], (1,)
    ), LONG  # fmt: skip
    yield "energy_dist", lambda x: np.reshape(
        energy.energy_dist_test.func(*pair(x), kind, 0.1)[0], (1,)
    ), LONG  # fmt: skip


@package("econml", "effects of treatments")
def econml() -> Iterator[Case]:
    m, linear = module("econml.utilities"), module("econml.sklearn_extensions.linear_model")
    design = np.stack([np.cos(np.arange(12.0)), np.sin(1.3 * np.arange(12.0))], axis=1)
    yield "cross_product", lambda x: m.cross_product(
        x[:12].reshape(4, 3), x[12:20].reshape(4, 2)
    ), LONG  # fmt: skip
    yield "StatsModelsLinearRegression", lambda x: (
        linear.StatsModelsLinearRegression().fit(design, x).coef_
    ), SERIES  # fmt: skip
    yield "StatsModelsLinearRegression, errors", lambda x: (
        linear.StatsModelsLinearRegression().fit(design, x).coef_stderr_
    ), SERIES  # fmt: skip


@package("causalml", "causes and effects")
def causalml() -> Iterator[Case]:
    m, truth = module("causalml.metrics.regression"), module("causalml.metrics.ground_truth")
    sensitivity = module("causalml.metrics.sensitivity")
    treated = np.array([1, 0, 1, 1, 0, 0])
    yield "smape", lambda x: np.reshape(m.smape(x[:6], x[6:]), (1,)), SERIES
    yield "gini", lambda x: np.reshape(m.gini(x[:6], x[6:] + 0.1 * x[:6]), (1,)), SERIES
    yield "pehe", lambda x: np.reshape(truth.pehe(x[:6], x[6:], squared=False), (1,)), SERIES
    yield "alignment", lambda x: sensitivity.alignment(x[0], x[1:], treated), [
        0.3, 0.2, 0.6, 0.7, 0.4, 0.55, 0.35,
    ]  # fmt: skip


@package("pybamm", "batteries")
def pybamm() -> Iterator[Case]:
    m = module("pybamm")
    y = m.StateVector(slice(0, 12))
    formula = m.tanh(y) * m.exp(-0.1 * y**2) + m.sqrt(y) / (1 + y)

    def diffusion() -> Any:
        model = m.BaseModel()
        c = m.Variable("c", domain="rod")
        model.rhs = {c: m.div((1 + 0.1 * c) * m.grad(c)) - 0.2 * c**2}
        model.initial_conditions = {c: m.Scalar(1)}
        fixed = (m.Scalar(1), "Dirichlet"), (m.Scalar(0.5), "Neumann")
        model.boundary_conditions = {c: {"left": fixed[0], "right": fixed[1]}}
        r = m.SpatialVariable("x", domain=["rod"], coord_sys="cartesian")
        geometry = m.Geometry({"rod": {r: {"min": m.Scalar(0), "max": m.Scalar(1)}}})
        mesh = m.Mesh(geometry, {"rod": m.Uniform1DSubMesh}, {r: 12})
        return m.Discretisation(mesh, {"rod": m.FiniteVolume()}).process_model(model, inplace=False)

    rod = diffusion().concatenated_rhs
    yield "evaluate", lambda x: formula.evaluate(y=x.reshape(12, 1)), SERIES
    yield "FiniteVolume", lambda x: rod.evaluate(0.0, x.reshape(12, 1)), SERIES


@package("gymnasium", "games to learn")
def gymnasium() -> Iterator[Case]:
    m, pendulum = module("gymnasium"), module("gymnasium.envs.classic_control.pendulum")
    acrobot = module("gymnasium.envs.classic_control.acrobot")

    def poles(x: Any) -> Any:
        game = m.make("CartPole-v1").unwrapped
        game.reset(seed=3)
        game.state = x
        game.step(1)
        game.step(0)
        return game.state

    def swung(x: Any) -> Any:
        game = pendulum.PendulumEnv()
        game.reset(seed=3)
        game.state = x[:2]
        cost = game.step(x[2:])[1]
        return [game.state, np.reshape(cost, (1,))]

    def fallen(x: Any) -> Any:
        def slopes(y: Any) -> Any:
            return [y[1], -x[0] * np.sin(y[0]) - x[1] * y[1], y[3], y[0] * y[2]]

        return acrobot.rk4(slopes, x[2:], [0.0, 0.2, 0.3])

    yield "CartPoleEnv.step", poles, [0.02, 0.3, -0.05, 0.2]
    yield "PendulumEnv.step", swung, [0.7, 0.4, 0.9]
    yield "acrobot.rk4", fallen, [9.8, 0.3, 0.5, 0.1, 0.2, 0.4]


@package("helios-sim", "flights of rockets")
def helios() -> Iterator[Case]:
    air, wind = module("helios.density_and_temp"), module("helios.wind_forces")
    motor, motion = module("helios.propulsion_para"), module("helios.Rk4Derivative")
    times = np.array([0.0, 0.5, 1.0, 2.0, 3.5])

    def pushed(x: Any) -> Any:
        return np.stack(motor.propulsion_para(1.4, *x[:6], times, x[6:]))

    yield "density_and_temp", spread(air.density_and_temp), [900.0, 293.0]
    yield "wind_forces", lambda x: np.stack(
        wind.wind_forces(*x[:5], x[5:])
    ), [4.0, 1.2, 1.1, 0.05, 1.9, 0.1, 0.2, 0.15, 0.0, 1.7]  # fmt: skip
    yield "propulsion_para", pushed, [
        0.6, 0.1, 3.0, 1.4, 0.3, 0.1, 100.0, 240.0, 260.0, 210.0, 20.0,
    ]  # fmt: skip
    yield "Rk4Derivative", lambda x: np.stack(motion.Rk4Derivative(*x)), LONG[:23]


@package("pyntcloud", "clouds of points")
def pyntcloud() -> Iterator[Case]:
    m, places = module("pyntcloud.geometry.areas"), module("pyntcloud.geometry.coord_systems")
    sphere = module("pyntcloud.geometry.models.sphere")

    def ball(x: Any) -> Any:
        made = sphere.Sphere()
        made.from_k_points(x.reshape(4, 3))
        return [made.center, np.reshape(made.radius, (1,))]

    yield "triangle_area_multi", lambda x: m.triangle_area_multi(
        *x[:18].reshape(3, 2, 3)
    ), LONG  # fmt: skip
    yield "cartesian_to_spherical", lambda x: np.stack(
        places.cartesian_to_spherical(x.reshape(4, 3))
    ), SERIES  # fmt: skip
    yield "Sphere.from_k_points", ball, SERIES


@package("tobvalid", "displacements of atoms")
def tobvalid() -> Iterator[Case]:
    m, peak = module("tobvalid.local.analysis"), module("tobvalid.stats.pheight")
    yield "occupancy_estimate", spread(m.occupancy_estimate), [20.0, 31.0, 0.6]
    yield "atna", lambda x: np.stack(m.atna(x[0], 5.0 * x[1:], 0.6, 12)), [20.0, *SERIES]
    yield "peak_height", lambda x: peak.peak_height(x, 1.7), SERIES


@package("stochasticprocesssimulator", "stochastic processes")
def stochastic() -> Iterator[Case]:
    m = module("StochasticProcessSimulator")

    def simulated(kind: str, *names: str) -> Callable[[Any], Any]:
        def paths(x: Any) -> Any:
            np.random.seed(7)  # noqa: NPY002  the package draws from it
            made = m.StochasticProcessSimulator(
                kind, num_paths=3, path_length=6, time_exec=False, dt=0.1,
                **dict(zip(names, x, strict=True)),
            )  # fmt: skip
            return made.simulate()

        return paths

    yield "OU", simulated("OU", "kappa", "theta", "sigma", "X0"), [0.5, 1.3, 0.55, 0.2]
    yield "CIR", simulated("CIR", "kappa", "theta", "sigma", "X0"), [0.5, 0.4, 0.3, 0.2]


@package("pythresh", "thresholds of outliers")
def pythresh() -> Iterator[Case]:
    def limit(name: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            made = getattr(module(f"pythresh.thresholds.{name.lower()}"), name)()
            made.eval(x)
            return np.reshape(made.thresh_, (1,))

        return found

    yield "IQR", limit("IQR"), LONG
    yield "MAD", limit("MAD"), LONG
    yield "ZSCORE", limit("ZSCORE"), LONG


@package("numintegrator", "integrators in time")
def numintegrator() -> Iterator[Case]:
    m = module("numintegrator.integrators")
    times, steps = np.linspace(0.0, 0.6, 7), np.full(6, 0.1)

    def first(method: Callable[..., Any], *rest: Any) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            path = np.zeros((7, 2))
            path[0] = x[2:]

            def slope(y: Any, t: Any) -> Any:
                return np.array([x[0] * y[1], -x[1] * y[0] + 0.1 * t])

            method(slope, path, times, steps, *rest)
            return path

        return run

    def second(x: Any) -> Any:
        path, speed = np.zeros((7, 2)), np.zeros((7, 2))
        path[0], speed[0] = x[1:3], x[3:]

        def push(y: Any, _: Any) -> Any:
            return -x[0] * y**3

        m.velocity_verlet_explicit_ode2(push, path, speed, times, steps)
        return [path, speed]

    start = [1.2, 0.7, 1.0, 0.5]
    yield "runge_kutta_order4", first(m.runge_kutta_order4), start
    yield "crank_nicolson", first(m.crank_nicolson, m.euler_explicit, 1e-9), start
    yield "velocity_verlet_explicit_ode2", second, [1.3, 1.0, 0.5, 0.2, -0.3]


@package("batsoc", "charge of batteries")
def batsoc() -> Iterator[Case]:
    m = module("batsoc.batsoc")
    yield "soc", lambda x: np.reshape(m.soc(m.BatteryType.LI_ION, x[0]), (1,)), [3.83]
    yield "voltage", lambda x: np.reshape(m.voltage(m.BatteryType.ALKALINE, x[0]), (1,)), [0.43]


@package("pydms-sorption", "sorption of gases")
def pydms() -> Iterator[Case]:
    m, fugacity, evaluate = module("pyDMS.dms"), module("pyDMS.fugacity"), module("pyDMS.evaluate")
    pressure = np.array([[1.0, 4.0, 9.0], [2.0, 5.0, 8.0]])

    def gas() -> Any:
        made = m.Gas()
        made.formula, made.temp, made.p = "CO2", np.array([300.0, 320.0]), pressure
        made.pr_coeff = {"omega": 0.225, "Tc": 304.1, "Pc": 7.38}
        made.c, made.c_err = np.sqrt(pressure), 0.1 + 0.01 * pressure
        return made

    def loss(x: Any) -> Any:
        made = gas()
        made.LFER.fit = [5.0, -20.0, 6.0, -15.0]
        return np.reshape(m.vH_loss(x, made), (-1,))

    def isotherm(x: Any) -> Any:
        made = gas()
        made.kD, made.b, made.CH = x[:2], x[2:4], x[4:]
        return evaluate.isotherm(made, 320.0)[1]

    yield "peng_robinson_eos_z", lambda x: np.reshape(
        fugacity.peng_robinson_eos_z(gas(), x[0], x[1]), (-1,)
    ), [12.0, 310.0]  # fmt: skip
    yield "virial_eos_z", lambda x: np.reshape(
        fugacity.virial_eos_z(gas(), x[0], x[1]), (-1,)
    ), [12.0, 310.0]  # fmt: skip
    yield "vH_loss", loss, [-15.0, -20.0, 2.0, 1.8]
    yield "isotherm", isotherm, [0.3, 0.4, 0.2, 0.15, 3.0, 2.5]


@package("supervision", "boxes in pictures")
def supervision() -> Iterator[Case]:
    m, boxes = module("supervision.detection.utils.iou_and_nms"), module("supervision")
    corners = module("supervision.detection.utils.boxes")
    yield "box_iou", lambda x: np.reshape(m.box_iou(x[:4], x[4:]), (1,)), [
        0.0, 0.0, 3.0, 2.0, 1.0, 0.5, 4.0, 2.5,
    ]  # fmt: skip
    yield "obb_polygon_area", lambda x: corners.obb_polygon_area(x.reshape(3, 4, 2)), LONG
    yield "xyxy_to_xcycarh", lambda x: boxes.xyxy_to_xcycarh(x.reshape(3, 4)), SERIES


@package("xeofs", "patterns of the climate")
def xeofs() -> Iterator[Case]:
    m, xarray = module("xeofs.single"), module("xarray")

    def fitted(x: Any) -> Any:
        data = xarray.DataArray(
            x.reshape(8, 3), {"time": np.arange(8), "x": [0, 1, 2]}, ["time", "x"]
        )
        model = m.EOF(n_modes=2, solver="full")
        model.fit(data, dim="time")
        return model

    yield "EOF.explained_variance", lambda x: fitted(x).explained_variance().values, LONG
    yield "EOF.components", lambda x: np.abs(fitted(x).components().values), LONG


@package("aprioridns", "simulations of flames")
def aprioridns() -> Iterator[Case]:
    m, derivatives = module("aPriori.DNS"), module("aPriori.derivatives")
    networks = module("aPriori.NN")
    places = np.meshgrid(*[np.linspace(0.0, 1.0, n) ** 1.2 for n in (4, 3, 3)], indexing="ij")
    start = [*np.cos(1.3 * np.arange(36.0))]

    def slope(x: Any) -> Any:
        mesh = m.Mesh(*[m.Scalar(shape=[4, 3, 3], value=one) for one in places])
        field = m.Scalar(shape=[4, 3, 3], value=x.reshape(4, 3, 3))
        return derivatives.gradient_x(field, mesh, acc=2)

    def scaled(x: Any) -> Any:
        made = networks.VectorScaler(mode="standard", log=True, vmin=1.5)
        made.fit(x)
        return made.transform(x)

    yield "gradient_x", slope, start
    yield "VectorScaler", scaled, SERIES


@package("dfxm-geo", "microscopy by X-rays")
def dfxm() -> Iterator[Case]:
    m, moments = module("dfxm_geo.crystal.dislocations"), module("dfxm_geo.analysis.moments")
    rotations, cell = module("dfxm_geo.crystal.rotations"), module("dfxm_geo.crystal.cell")
    mosaicity = module("dfxm_geo.analysis.mosaicity")
    turn = np.linalg.qr(np.cos(np.arange(9.0)).reshape(3, 3))[0]
    yield "calc_moments", lambda x: moments.calc_moments(x.reshape(3, 4), 1.0, 2.0, 3, 4), SERIES
    yield "compute_com_maps", lambda x: np.stack(
        mosaicity.compute_com_maps(x.reshape(2, 3, 2, 2), 0.3, 3, 0.4, 2)
    ), LONG  # fmt: skip
    yield "Fd_find_mixed", lambda x: m.Fd_find_mixed(
        0.001 * x[1:].reshape(3, 4), turn, turn.T, x[0], turn
    ), [35.0, *SERIES]  # fmt: skip
    yield "rotatedU", lambda x: rotations.rotatedU(x[:3], x[3], turn, "cryst"), SERIES[:4]
    yield "UnitCell.B", lambda x: cell.UnitCell(
        a=x[0], b=x[1], c=x[2], alpha_deg=x[3], beta_deg=x[4], gamma_deg=x[5]
    ).B, [3.0, 4.0, 5.0, 88.0, 95.0, 102.0]  # fmt: skip


@package("glum", "generalized linear models")
def glum() -> Iterator[Case]:
    m, links = module("glum"), module("glum._link")
    design = np.stack([np.ones(12), np.cos(np.arange(12.0))], axis=1)
    yield "GammaDistribution.unit_deviance", lambda x: (
        m.GammaDistribution().unit_deviance(x[:6], x[6:])
    ), SERIES  # fmt: skip
    yield "InverseGaussianDistribution.deviance", lambda x: np.reshape(
        m.InverseGaussianDistribution().deviance(x[:6], x[6:]), (1,)
    ), SERIES  # fmt: skip
    yield "CloglogLink", lambda x: links.CloglogLink().inverse(x - 4.0), SERIES
    yield "GeneralizedLinearRegressor", lambda x: m.GeneralizedLinearRegressor(
        alpha=0.1, family="gamma", fit_intercept=False, gradient_tol=1e-11
    ).fit(design, x).coef_, SERIES  # fmt: skip


@package("vcetdspdcom", "lessons of signals")
def vcet() -> Iterator[Case]:
    m = module("vcetdspdcom.dsp")
    yield "circular_conv", lambda x: m.circular_conv(x[:8], x[8:]), SERIES
    yield "filter", lambda x: m.filter(x[:2], np.array([1.0, -0.3, 0.1]), x[2:]), SERIES
    yield "fft", m.fft, SERIES
    yield "dct", m.dct, SERIES


@package("oasis-deconv", "spikes of calcium")
def oasis() -> Iterator[Case]:
    m = module("oasis.functions")
    yield "onnls", lambda x: m.onnls(x, [0.7], lam=0.1)[0], SERIES
    yield "GetSn", lambda x: np.reshape(m.GetSn(x), (1,)), LONG
    yield "ar2_to_tau", lambda x: np.stack(m.ar2_to_tau(*x)), [1.5, -0.54, 30.0]


@package("sarpy", "pictures by radar")
def sarpy() -> Iterator[Case]:
    m = module("sarpy.geometry.geocoords")
    places = [4.1e6, 8.0e5, 4.7e6, 4.2e6, 7.0e5, 4.6e6]
    centre = np.array([4.15e6, 7.5e5, 4.65e6])
    yield "ecf_to_geodetic", lambda x: m.ecf_to_geodetic(x.reshape(2, 3)), places
    yield "geodetic_to_ecf", lambda x: m.geodetic_to_ecf(x.reshape(2, 3)), [
        48.0, 11.0, 300.0, 49.0, 12.0, 100.0,
    ]  # fmt: skip
    yield "ecf_to_ned", lambda x: m.ecf_to_ned(x.reshape(2, 3), centre), places


@package("gglasso", "sparse networks")
def gglasso() -> Iterator[Case]:
    m, linear = module("gglasso.helper.model_selection"), module("gglasso.helper.basic_linalg")
    tools, pandas = module("gglasso.helper.utils"), module("pandas")
    solver = module("gglasso.solver.single_admm_solver")

    def positive(x: Any) -> Any:
        half = 0.2 * x.reshape(3, 4)
        return half @ half.T + 0.5 * np.eye(3)

    def solved(x: Any) -> Any:
        found, _ = solver.ADMM_SGL(
            positive(x), 0.05, np.eye(3), tol=1e-12, rtol=1e-12, max_iter=2000
        )
        return found["Theta"]

    yield "ebic_single", lambda x: np.reshape(
        m.ebic_single(positive(x), positive(x[::-1]), 50, 0.3), (1,)
    ), SERIES  # fmt: skip
    yield "scale_array_by_diagonal", lambda x: linear.scale_array_by_diagonal(positive(x)), SERIES
    yield "log_transform", lambda x: tools.log_transform(
        pandas.DataFrame({"a": x[:6], "b": x[6:]})
    ).to_numpy(), SERIES  # fmt: skip
    yield "ADMM_SGL", solved, SERIES


@package("tensor-disentangler", "networks of tensors")
def disentangler() -> Iterator[Case]:
    m = module("tensor_disentangler.disentangle")
    turn = np.linalg.qr(np.cos(np.arange(16.0)).reshape(4, 4))[0]

    def cost(function: Any) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            value, slope = function(turn, x.reshape(2, 2, 2, 3), [0, 1], [0, 2], 0.5, 2)
            return [np.reshape(value, (1,)), slope]

        return result

    start = [*(0.2 * np.array(LONG))]
    yield "renyi", cost(m.renyi), start
    yield "von_neumann", cost(m.von_neumann), start
    yield "trunc_error", cost(m.trunc_error), start


@package("dspca", "demixed components")
def dspca() -> Iterator[Case]:
    m = module("dspca.dspca")
    targets = np.stack([np.cos(np.arange(8.0))], axis=1)
    yield "dsPCA", lambda x: m.dsPCA(x.reshape(8, 3), targets)[0], LONG
    yield "dsPCA, variances", lambda x: m.dsPCA(x.reshape(8, 3), targets)[3], LONG


@package("cartopy", "maps")
def cartopy() -> Iterator[Case]:
    m, crs = module("cartopy.util"), module("cartopy.crs")
    places = np.linspace(0.0, 330.0, 12)

    def projected(x: Any) -> Any:
        made = crs.LambertConformal(central_longitude=10.0)
        return 1e-5 * made.transform_points(crs.PlateCarree(), x[:6], 10.0 * x[6:])[:, :2]

    yield "add_cyclic", lambda x: m.add_cyclic(x.reshape(2, 6)), SERIES
    yield "add_cyclic_point", lambda x: np.asarray(m.add_cyclic_point(x, coord=places)[0]), SERIES
    yield "transform_points", projected, SERIES


@package("embeam", "lenses for electrons")
def embeam() -> Iterator[Case]:
    m, coherent = module("embeam"), module("embeam.coherent")

    def phase(x: Any) -> Any:
        parts = [
            coherent.Aberration(m=2, n=0, C_mag=x[0], C_ang=0.0),
            coherent.Aberration(m=2, n=2, C_mag=x[1], C_ang=x[2]),
        ]
        made = coherent.PhaseDeviation(beam_energy=80.0, coherent_aberrations=parts)
        return made.eval(np.array([[0.1, 0.2]]), np.array([[0.05, -0.1]]))

    yield "wavelength", lambda x: np.reshape(m.wavelength(x[0]), (1,)), [80.0]
    yield "PhaseDeviation", phase, [3.0, 1.2, 0.4]


@package("money-time-value", "value of money in time")
def money() -> Iterator[Case]:
    m, bond = module("money_time_value.commonfactors"), module("money_time_value.bond")
    yield "Factor.P_GIVEN_G", lambda x: m.Factor(*x).P_GIVEN_G(), [0.04, 9.0]
    yield "BondValue", lambda x: bond.BondValue(*x).bond_value(), [0.04, 9.0, 1000.0, 0.03]


@package("stacie", "times of correlation")
def stacie() -> Iterator[Case]:
    m, cost, cutoff = module("stacie.spectrum"), module("stacie.cost"), module("stacie.cutoff")
    tools = module("stacie.utils")
    shares = [0.2, 0.5, 0.3, 0.7]

    def mixed(x: Any) -> Any:
        covariances = np.stack([np.outer(one, one) for one in x[8:].reshape(4, 2)])
        return tools.mixture_stats(x[:8].reshape(4, 2), covariances, np.array(shares))

    def fitted(x: Any) -> Any:
        design = np.stack([np.ones(6), np.arange(6.0)], axis=1)
        weights = np.stack([x[6:], x[6:] ** 0.5])
        return cutoff.linear_weighted_regression(design, x[:6], weights)

    yield "compute_spectrum", lambda x: m.compute_spectrum(x.reshape(2, 12)).amplitudes, LONG
    yield "logpdf_gamma", lambda x: cost.logpdf_gamma(x[:4], x[4:8], x[8:], deriv=2), SERIES
    yield "mixture_stats", mixed, [*SERIES, *SERIES[:4]]
    yield "linear_weighted_regression", fitted, SERIES
    yield "robust_posinv", lambda x: tools.robust_posinv(
        x[:9].reshape(3, 3) @ x[:9].reshape(3, 3).T + np.eye(3)
    )[3], SERIES[:9]  # fmt: skip


@package("practical-astronomy", "astronomy by pocket calculator")
def practical() -> Iterator[Case]:
    m = module("practical_astronomy.pa_macro")
    yield "eq_az", lambda x: m.eq_az(*x), [5.0, 51.0, 44.0, 23.0, 13.0, 10.0, 52.0]
    yield "true_anomaly", spread(m.true_anomaly), [1.3, 0.2]
    yield "refract_l3035", lambda x: m.refract_l3035(x[0], x[1], x[2], 1), [1012.0, 13.0, 0.33]
    yield "parallax_ha", lambda x: m.parallax_ha(*x[:6], "true", *x[6:]), [
        22.0, 35.0, 19.0, -7.0, 41.0, 13.0, 50.0, 60.0, 1.02,
    ]  # fmt: skip


@package("xfab", "crystals")
def xfab() -> Iterator[Case]:
    m, tools, structure = module("xfab.detector"), module("xfab.tools"), module("xfab.structure")
    cell = [8.5, 7.2, 9.1, 91.0, 94.0, 102.0]
    tilt = tools.detect_tilt(0.01, -0.02, 0.03)

    def factor(x: Any) -> Any:
        atoms = [
            structure.atom_entry("C1", "C", x[:3], "Uiso", x[3], 1.0, 2),
            structure.atom_entry("O1", "O", x[4:7], "Uiso", x[7], 1.0, 2),
        ]
        return np.stack(structure.StructureFactor([1, 1, 0], cell[:3] + [90.0] * 3, "P-1", atoms))

    yield "form_b_mat", tools.form_b_mat, cell
    yield "b_to_cell", lambda x: np.stack(
        tools.b_to_cell(np.array([[x[0], x[1], x[2]], [0.0, x[3], x[4]], [0.0, 0.0, x[5]]]))
    ), [0.9, 0.1, -0.1, 0.8, 0.2, 0.7]  # fmt: skip
    yield "u_to_euler", lambda x: tools.u_to_euler(tools.euler_to_u(*x)), [0.4, 0.9, 1.3]
    yield "det_coor2", lambda x: np.stack(
        m.det_coor2(x[0], x[1], 50.0, 0.05, 0.05, 1024.0, 1024.0, tilt, *x[2:])
    ), [0.2, 1.1, 0.1, -0.2, 0.3]  # fmt: skip
    yield "StructureFactor", factor, [0.1, 0.2, 0.3, 0.02, 0.4, 0.15, 0.35, 0.03]


@package("mps-motion", "motion of hearts")
def mps_motion() -> Iterator[Case]:
    m, mechanics = module("mps_motion.frame_sequence"), module("mps_motion.mechanics")
    times = np.array([0.0, 0.3, 0.7])
    yield "VectorFrameSequence.norm", lambda x: (
        m.VectorFrameSequence(x.reshape(2, 2, 3, 2), dx=0.5).norm().array
    ), LONG  # fmt: skip
    yield "VectorFrameSequence.angle", lambda x: (
        m.VectorFrameSequence(x.reshape(2, 2, 3, 2)).angle().array
    ), LONG  # fmt: skip
    yield "compute_velocity", lambda x: np.asarray(
        mechanics.compute_velocity(x.reshape(2, 2, 3, 2), times).compute()
    ), LONG  # fmt: skip


@package("glimix-core", "linear mixed models")
def glimix() -> Iterator[Case]:
    m, lmm = module("glimix_core.cov"), module("glimix_core.lmm")
    linalg = module("numpy_sugar.linalg")
    design = np.stack([np.ones(6), np.cos(np.arange(6.0))], axis=1)
    kinship = np.cos(1.7 * np.arange(18.0)).reshape(6, 3)

    def free(x: Any) -> Any:
        made = m.FreeFormCov(3)
        made.Lu = 0.1 * x
        return made.value()

    def mixed(x: Any) -> Any:
        model = lmm.LMM(x, design, linalg.economic_qs_linear(kinship, return_q1=False))
        model.delta = 0.4
        return np.reshape(model.lml(), (1,))

    yield "LinearCov", lambda x: m.LinearCov(x.reshape(4, 3)).value(), SERIES
    yield "FreeFormCov", free, SERIES[:6]
    yield "LMM.lml", mixed, SERIES[:6]


@package("optuna", "search of hyperparameters")
def optuna() -> Iterator[Case]:
    m, volumes = module("optuna.samplers._tpe._truncnorm"), module("optuna._hypervolume")
    errors = module("optuna.samplers._tpe._erf")
    low = np.array([0.1, 0.3, 0.6, 0.8])
    yield "compute_hypervolume", lambda x: np.reshape(
        volumes.compute_hypervolume(x.reshape(4, 3), np.full(3, 9.0)), (1,)
    ), SERIES  # fmt: skip
    yield "truncnorm.ppf", lambda x: m.ppf(low, -x[:4], 0.5 * x[4:]), SERIES[:8]
    yield "truncnorm.logpdf", lambda x: m.logpdf(
        0.5 + 0.1 * x[:4], -x[4:8] / 3.0, x[8:], loc=0.4, scale=1.2
    ), SERIES  # fmt: skip
    yield "erf", lambda x: errors.erf(0.4 * x - 1.5), SERIES
