"""A sixteenth sample, drawn on 2026-11-29, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread
from .later import WAVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

SIXTEENTH = Sample()
package = SIXTEENTH.package


@package("pymoto", "topology optimisation")
def pymoto() -> Iterator[Case]:
    m, assembly = module("pymoto"), module("pymoto.modules.assembly")
    domain = m.VoxelDomain(4, 3)
    densities = [0.3, 0.5, 0.9, 0.4, 0.6, 0.8, 0.2, 0.7, 0.5, 0.35, 0.75, 0.55]

    def made(kind: Callable[..., Any], *given: Any, **named: Any) -> Callable[[Any], Any]:
        return lambda x: kind(*given, **named)(x)  # noqa: PLW0108  made at each call

    def compliance(x: Any) -> Any:
        fixed = domain.get_dofnumber(domain.get_nodenumber(0, np.arange(4)), ndof=2).flatten()
        stiffness = m.AssembleStiffness(domain, bc=fixed)(x**3)
        load = np.zeros(domain.nnodes * 2)
        load[-1] = 1.0
        return load @ m.LinSolve()(stiffness, load)

    yield "PNorm", made(m.PNorm, 3.5), densities
    yield "KSFunction", made(m.KSFunction, 4.0), densities
    yield "SoftMinMax", made(m.SoftMinMax, 2.0), densities
    yield "get_D", lambda x: [assembly.get_D(x[0], x[1], k) for k in ("strain", "stress")], [
        2.1, 0.3,
    ]  # fmt: skip
    yield "FilterConv", made(m.FilterConv, domain, 1.5), densities
    yield "DensityFilter", made(m.DensityFilter, domain, radius=1.5), densities
    yield "OverhangFilter", made(m.OverhangFilter, domain, direction=(0, 1)), densities
    yield "MathExpression", lambda x: m.MathExpression("inp0*sin(inp1)")(x[:4], x[4:8]), densities
    yield "compliance", compliance, densities


@package("idf-analysis", "heavy rain")
def idf_analysis() -> Iterator[Case]:
    formulas = module("idf_analysis.parameter_formulas")
    backend = module("idf_analysis.idf_backend_2025")
    extremes = module("idf_analysis.extreme_value_analysis_2025").ExtremeValueParameters
    durations = np.array([5.0, 15.0, 60.0, 240.0])

    def fitted(kind: str) -> Callable[[Any], Any]:
        def parameter(x: Any) -> Any:
            formula = getattr(formulas, kind)()
            formula.fit(durations, x)
            return formula.get_param(np.array([10.0, 90.0]))

        return parameter

    def depth(x: Any) -> Any:
        made = backend.IdfParametersNew()
        made._parameter_values = {  # noqa: SLF001  it is read from a file otherwise
            "shape": -0.1, "loc": x[0], "scale": x[1], "theta": x[2], "eta": x[3],
        }  # fmt: skip
        return made.get_depth_of_rainfall(np.array([15.0, 60.0]), x[4])

    yield "LogNormFormula", fitted("LogNormFormula"), [3.1, 6.2, 9.4, 13.0]
    yield "DoubleLogNormFormula", fitted("DoubleLogNormFormula"), [3.1, 6.2, 9.4, 13.0]
    yield "HyperbolicFormula", fitted("HyperbolicFormula"), [3.1, 6.2, 9.4, 13.0]
    yield "get_depth_of_rainfall", depth, [12.0, 4.0, 3.0, 0.7, 25.0]
    yield "compute_lmoments", extremes.compute_lmoments, SERIES


@package("PyBWE", "radar")
def pybwe() -> Iterator[Case]:
    m = module("PyBWE")
    phases = np.exp(0.4j * np.arange(24))

    yield "burg", lambda x: m.burg(x * phases, 3)[0], WAVE
    yield "mcov", lambda x: m.mcov(x * phases, 3)[0], WAVE
    yield "BWE", lambda x: np.abs(m.BWE(x * phases, 1e6, 2, 0.2, 2, side_cut=False)[0]), WAVE
    yield "ar_extrapolation", lambda x: m.ar_extrapolation(x[:10], x[10:13], 4)[0], WAVE[:13]


@package("pycorrfit", "fluctuation correlation")
def pycorrfit() -> Iterator[Case]:
    lags = np.logspace(-2.0, 2.0, 6)

    def model(file: str, function: str) -> Callable[[Any], Any]:
        made = getattr(module(f"pycorrfit.models.{file}"), function)
        return lambda x: made(x, lags)

    yield "3D", model("model_confocal_3d", "CF_Gxyz_gauss"), [4.0, 0.4, 5.0, 0.01]
    yield "3D and 2D, two triplets", model("model_confocal_tt_3d_2d", "CF_Gxyz_gauss_3D2DTT"), [
        2.5, 0.5, 1.1, 0.3, 5.0, 0.9, 0.2, 0.2, 0.1, 0.1, 0.01,
    ]  # fmt: skip
    yield "total reflection, 2D", model("MODEL_TIRF_1C", "CF_Gxy_TIR_square"), [
        0.54, 0.23, 0.75, 3.2,
    ]  # fmt: skip
    yield "total reflection, 3D", model("MODEL_TIRF_1C", "CF_Gxyz_TIR_square"), [
        0.54, 0.15, 0.23, 0.75, 3.2,
    ]  # fmt: skip
    yield "total reflection, 3D and 2D", model(
        "MODEL_TIRF_gaussian_3D2D", "CF_Gxyz_3d2dT_gauss"
    ), [2.5, 0.5, 1.1, 0.3, 1.5, 0.9, 1.2, 0.2, 0.15, 0.01]  # fmt: skip


@package("tomso", "stars")
def tomso() -> Iterator[Case]:
    utils, fgong = module("tomso.utils"), module("tomso.fgong")

    def star(x: Any) -> Any:
        radii = np.linspace(6e10, 1e10, 4)
        columns = [radii, *x.reshape(5, 4), 0.7 + 0.0 * radii]
        table = np.zeros((4, 40))
        for place, column in zip((0, 1, 2, 3, 4, 5), columns, strict=False):
            table[:, place] = column
        table[:, 9], table[:, 14] = 1.6 + 0.01 * x[:4], 0.3
        return fgong.FGONG(np.array([2e33, 7e10, 4e33, *np.zeros(12)]), table, G=6.67e-8)

    numbers = [
        -0.1, -0.4, -1.2, -2.5, 1.0, 2.0, 4.0, 8.0, 1.1, 3.2, 9.4, 30.0, 0.2, 1.2, 6.0, 40.0,
        0.7, 0.7, 0.6, 0.5,
    ]  # fmt: skip
    yield "integrate", lambda x: utils.integrate(x[:6], np.cumsum(x[6:])), SERIES
    yield "complement", lambda x: utils.complement(x[:6], np.cumsum(x[6:])), SERIES
    yield "get_Teff", spread(utils.get_Teff), [3.8e33, 7e10]
    yield "FGONG.N2", lambda x: 1e6 * star(x).N2, numbers
    yield "FGONG.Vg", lambda x: 1e-20 * star(x).Vg, numbers
    yield "FGONG.tau", lambda x: star(x).tau, numbers


@package("simframe", "simulations")
def simframe() -> Iterator[Case]:
    m = module("simframe")

    def run(scheme: str) -> Callable[[Any], Any]:
        def ends(x: Any) -> Any:
            frame = m.Frame(verbosity=0)
            frame.addfield("Y", x[:2])

            def slope(_frame: Any, t: Any, y: Any) -> Any:
                return -x[2] * y + x[3] * np.sin(t)

            def step(_frame: Any) -> float:
                return 0.1

            frame.Y.differentiator = slope
            frame.addintegrationvariable("t", 0.0, snapshots=[0.4])
            frame.t.updater = step
            made = getattr(m.schemes, scheme)
            frame.integrator = m.Integrator(frame.t)
            frame.integrator.instructions = [m.Instruction(made, frame.Y)]
            frame.run()
            return np.asarray(frame.Y)

        return ends

    yield "Runge and Kutta", run("expl_4_runge_kutta"), [1.0, 0.4, 0.7, 0.3]
    yield "Heun", run("expl_2_heun"), [1.0, 0.4, 0.7, 0.3]


@package("synphot", "synthetic photometry")
def synphot() -> Iterator[Case]:
    models, blackbody = module("synphot.models"), module("synphot.blackbody")
    binning, fft = module("synphot.binning"), module("synphot.filter_parameterization.filter_fft")
    reddening, spectrum = module("synphot.reddening"), module("synphot.spectrum")
    waves = np.array([3000.0, 4500.0, 7000.0])

    def flux(x: Any) -> Any:
        source = spectrum.SourceSpectrum(models.BlackBodyNorm1D, temperature=x[0])
        return 1e6 * source(waves).value

    yield (
        "BlackBodyNorm1D",
        lambda x: 1e6 * models.BlackBodyNorm1D().evaluate(waves, x[0]),
        [5800.0],
    )
    yield "blackbody_nu", lambda x: 1e6 * blackbody.blackbody_nu(waves, x[0]).value, [5800.0]
    yield "calculate_bin_edges", lambda x: binning.calculate_bin_edges(x).value, [
        3000.0, 3100.0, 3250.0, 3500.0,
    ]  # fmt: skip
    yield "GaussianFlux1D", lambda x: models.Gaussian1D().evaluate(waves, *x), [2.0, 5000.0, 900.0]
    yield "filter_from_fft", lambda x: fft.filter_from_fft(
        8, 4000.0, 50.0, x[0], x[1:5] + 1j * x[5:]
    )(np.array([4060.0, 4220.0])).value, [
        0.9, 3.0, 0.5, -0.3, 0.2, 0.0, 0.4, 0.1, -0.2,
    ]  # fmt: skip
    yield "etau_madau", lambda x: reddening.etau_madau(
        np.array([2000.0, 3100.0, 4100.0]), x[0]
    )(np.array([3100.0])).value, [3.1]  # fmt: skip
    yield "SourceSpectrum", flux, [5800.0]


@package("sncosmo", "supernovae")
def sncosmo() -> Iterator[Case]:
    m, utils = module("sncosmo"), module("sncosmo.utils")
    phases, waves = np.linspace(-10.0, 30.0, 7), np.linspace(3000.0, 8000.0, 8)
    grid = 1.0 + np.sin(0.1 * np.add.outer(phases, 0.01 * waves)) ** 2
    places = np.array([-3.0, 4.0, 9.0])

    def stretched(x: Any) -> Any:
        source = m.StretchSource(phases, waves, grid)
        source.set(amplitude=x[0], s=x[1])
        return source.flux(places, np.array([4000.0, 5500.0]))

    def model(x: Any) -> Any:
        made = m.Model(m.TimeSeriesSource(phases, waves, grid))
        made.set(z=x[0], t0=x[1], amplitude=x[2])
        return made.flux(places, np.array([5000.0, 6500.0]))

    def dusty(x: Any) -> Any:
        dust = m.CCM89Dust()
        dust.set(ebv=x[0], r_v=x[1])
        return dust.propagate(waves, x[2] * np.ones(8))

    yield "StretchSource", stretched, [1.2, 1.1]
    yield "Model", model, [0.2, 0.5, 1.3]
    yield "CCM89Dust", dusty, [0.3, 3.1, 1.2]
    yield "sine_interp", lambda x: utils.sine_interp(x[:3], np.arange(5.0), x[3:]), [
        0.3, 1.6, 3.2, *SERIES[:5],
    ]  # fmt: skip
    yield "Spectrum", lambda x: m.Spectrum(x, np.ones(6)).bin_edges, [
        3000.0, 3100.0, 3210.0, 3330.0, 3460.0, 3600.0,
    ]  # fmt: skip


@package("pvdeg", "ageing of photovoltaic modules")
def pvdeg() -> Iterator[Case]:
    names = ("collection", "humidity", "letid", "degradation", "design")
    collection, humidity, letid, ageing, design = (module(f"pvdeg.{name}") for name in names)
    pandas = module("pandas")

    yield "collection_probability", spread(collection.collection_probability), [
        50.0, 180.0, 0.3, 200.0, 27.0,
    ]  # fmt: skip
    yield "relative", lambda x: humidity.relative(x[:3], x[3:]), [20.0, 25.0, 30.0, 8.0, 12.0, 9.0]
    yield "surface_relative", lambda x: humidity.surface_relative(x[:2], x[2:4], x[4:]), [
        40.0, 60.0, 20.0, 25.0, 35.0, 50.0,
    ]  # fmt: skip
    yield "dew_yield", spread(humidity.dew_yield), [0.3, 8.0, 12.0, 3.0, 4.0]
    yield "j0_gray", spread(letid.j0_gray), [1.4, 2.7, 3.1, 0.4, 0.8, 0.6]
    yield "calc_voc_from_tau", spread(letid.calc_voc_from_tau), [120.0, 180.0, 90.0, 41.0, 45.0]
    yield "ff_green", spread(letid.ff_green), [0.65, 310.0]
    yield "arrhenius", lambda x: ageing.arrhenius(
        temperature=pandas.Series(x[:4]), RH=pandas.Series(x[4:8]), Ea=x[8], n=x[9]
    ), [20.0, 35.0, 50.0, 42.0, 30.0, 60.0, 45.0, 70.0, 40.0, 1.4]  # fmt: skip
    yield "csat", lambda x: humidity.csat(x[:3], So=x[3], Eas=x[4]), [20.0, 45.0, 60.0, 1.8, 16.7]
    yield "edge_seal_ingress_rate", spread(design.edge_seal_ingress_rate), [1.7]


@package("pynndescent", "nearest neighbours")
def pynndescent() -> Iterator[Case]:
    m = module("pynndescent.distances")

    def of(distance: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda x: distance(x[:6], x[6:])

    for name in ("euclidean", "canberra", "bray_curtis", "cosine", "correlation"):
        yield name, of(getattr(m, name)), SERIES
    yield "haversine", lambda x: m.haversine(x[:2], x[2:]), [0.4, 1.2, 0.7, 0.9]
    yield "tsss", lambda x: m.tsss(x[:6], x[6:]), SERIES
    yield "symmetric_kl_divergence", lambda x: m.symmetric_kl_divergence(x[:6], x[6:]), SERIES
    yield "jensen_shannon_divergence", lambda x: m.jensen_shannon_divergence(x[:6], x[6:]), SERIES
    yield "sinkhorn", lambda x: m.sinkhorn(
        x[:3] / x[:3].sum(), x[3:] / x[3:].sum(), np.abs(np.subtract.outer(*[np.arange(3.0)] * 2))
    ), SERIES[:6]  # fmt: skip


@package("NREL-rex", "renewable resources")
def rex() -> Iterator[Case]:
    wind = module("rex.renewable_resource").WindResource
    sun = module("rex.utilities.solar_position").SolarPosition

    yield "monin_obukhov_extrapolation", lambda x: wind.monin_obukhov_extrapolation(
        x[:3], 10.0, x[3], x[4:], 80.0
    ), [5.0, 6.0, 4.5, 0.1, 200.0, -150.0, 320.0]  # fmt: skip
    yield "power_law_interp", lambda x: wind.power_law_interp(
        x[:3], 10.0, x[3:6], 100.0, x[6]
    ), [5.0, 6.0, 4.5, 7.0, 8.2, 6.6, 60.0]  # fmt: skip
    yield "circular_interp", lambda x: wind.circular_interp(x[:3], 10.0, x[3:], 100.0, 60.0), [
        5.0, 160.0, 350.0, 7.0, 180.0, 20.0,
    ]  # fmt: skip
    yield "elevation", lambda x: sun(
        np.array(["2026-05-12T10:30", "2026-05-12T14:00"], dtype="datetime64[ns]"), x
    ).elevation, [51.9, 5.9]  # fmt: skip


@package("dipy", "diffusion imaging")
def dipy() -> Iterator[Case]:
    dti, dki, ivim = (module(f"dipy.reconst.{name}") for name in ("dti", "dki", "ivim"))
    geometry, gradients = module("dipy.core.geometry"), module("dipy.core.gradients")
    directions = np.vstack(
        [np.zeros(3), geometry.normalized_vector(np.sin(np.arange(30.0) ** 1.3).reshape(10, 3))]
    )
    table = gradients.gradient_table(np.array([0.0] + [1000.0] * 10), bvecs=directions)
    shells = gradients.gradient_table(
        np.array([0.0, 50, 200, 400, 800, 1000, 1500, 2000, 2500, 3000, 3500]), bvecs=directions
    )
    tensor = [1.7, 0.1, 0.9, -0.2, 0.05, 0.6]

    for name in ("fractional_anisotropy", "mode", "linearity"):
        given = [1.7, 0.9, 0.4]
        if name == "mode":
            yield name, lambda x: dti.mode(dti.from_lower_triangular(x)), tensor
        else:
            yield name, getattr(dti, name), given
    yield (
        "decompose_tensor",
        lambda x: dti.decompose_tensor(dti.from_lower_triangular(x))[0],
        tensor,
    )
    yield "ols_fit_tensor", lambda x: 1e3 * dti.ols_fit_tensor(
        dti.design_matrix(table), np.exp(-0.1 * x)
    )[0][:3], SERIES[:11]  # fmt: skip
    yield "ivim_prediction", lambda x: ivim.ivim_prediction(
        [x[0], x[1], 1e-2 * x[2], 1e-3 * x[3]], shells
    ), [100.0, 0.2, 1.2, 0.9]  # fmt: skip
    yield (
        "carlson_rf",
        lambda x: dki.carlson_rf(x[:2], x[2:4], x[4:]),
        [1.2, 0.4, 2.3, 1.7, 0.7, 3.1],
    )
    yield "directional_diffusion", lambda x: dki.directional_diffusion(x, directions[1:]), tensor
    yield "rodrigues_axis_rotation", lambda x: geometry.rodrigues_axis_rotation(x[:3], x[3]), [
        0.3, 0.5, 0.8, 40.0,
    ]  # fmt: skip
    yield "decompose_matrix", lambda x: geometry.decompose_matrix(
        np.vstack([np.hstack([x[:9].reshape(3, 3), x[9:].reshape(3, 1)]), [[0.0, 0, 0, 1]]])
    )[:3], [1.2, 0.1, 0.3, -0.2, 0.9, 0.1, 0.2, -0.1, 1.4, 1.0, 2.0, 3.0]  # fmt: skip
    yield "circumradius", lambda x: geometry.circumradius(x[:3], x[3:6], x[6:]), SERIES[:9]
    yield "vec2vec_rotmat", lambda x: geometry.vec2vec_rotmat(x[:3], x[3:]), SERIES[:6]


@package("jarvis-tools", "materials")
def jarvis() -> Iterator[Case]:
    zur = module("jarvis.analysis.interface.zur")
    xrd, phonon = (
        module("jarvis.analysis.diffraction.xrd"),
        module("jarvis.analysis.phonon.force_constants"),
    )

    yield "rel_strain", lambda x: zur.rel_strain(x[:3], x[3:]), SERIES[:6]
    yield "reduce_vectors", lambda x: zur.reduce_vectors(x[:3], x[3:]), SERIES[:6]
    yield "vec_angle", lambda x: zur.vec_angle(x[:3], x[3:]), SERIES[:6]
    yield "baseline_als", lambda x: xrd.baseline_als(x, 10.0, 0.1, niter=4), SERIES
    yield "qpoint", lambda x: phonon.qpoint(
        x[:9].reshape(3, 3) + x[:9].reshape(3, 3).T, [x[9]] * 3
    )[
        0
    ], SERIES[:10]  # fmt: skip
    yield "sharpen_peaks", xrd.sharpen_peaks, SERIES


@package("c-lasso", "sparse regression with constraints")
def classo() -> Iterator[Case]:
    m = module("classo.misc_functions")
    rows = np.sin(np.arange(24.0) ** 1.4).reshape(8, 3)

    yield "clr", lambda x: m.clr(x.reshape(4, 3)), SERIES
    yield "proj_c", lambda x: m.proj_c(x[:6].reshape(2, 3), 3), SERIES[:6]
    yield "unpenalized", lambda x: m.unpenalized((rows, np.ones((1, 3)), x)), SERIES[:8]
    yield "min_LS", lambda x: m.min_LS(
        (rows, np.ones((1, 3)), x), np.array([True, False, True])
    ), SERIES[:8]  # fmt: skip


@package("pyotc", "optimal transport of graphs")
def pyotc() -> Iterator[Case]:
    backend = "pyotc.otc_backend"
    transport = module(f"{backend}.optimal_transport.logsinkhorn")
    policy, graph = module(f"{backend}.policy_iteration.utils"), module(f"{backend}.graph.utils")
    half = np.array([0.3, 0.7])

    yield "adj_to_trans", lambda x: graph.adj_to_trans(x.reshape(3, 3)), SERIES[:9]
    yield "get_sq_cost", lambda x: graph.get_sq_cost(x[:3], x[3:]), SERIES[:6]
    yield "logsinkhorn", lambda x: transport.logsinkhorn(
        -0.3 * x.reshape(2, 3), half, np.array([0.2, 0.3, 0.5]), 12
    ), SERIES[:6]  # fmt: skip
    yield "round_transpoly", lambda x: transport.round_transpoly(
        0.02 * x.reshape(2, 3), half, np.array([0.2, 0.3, 0.5])
    ), SERIES[:6]  # fmt: skip
    yield "get_stat_dist", lambda x: policy.get_stat_dist(
        graph.adj_to_trans(x[:9].reshape(3, 3)), method="eigen", c=x[9:]
    )[1], SERIES  # fmt: skip


@package("PyGRB", "bursts of gamma rays")
def pygrb() -> Iterator[Case]:
    m = module("PyGRB.backend.rate_functions")
    times = np.linspace(-1.0, 8.0, 9)

    yield "gaussian_pulse", lambda x: m.gaussian_pulse(times, *x), [2.0, 3.0, 1.2]
    yield "FRED_pulse", lambda x: m.FRED_pulse(times, *x), [-1.5, 3.0, 1.2, 0.8]
    yield "FREDx_pulse", lambda x: m.FREDx_pulse(times, *x), [-1.5, 3.0, 1.2, 0.8, 0.9, 1.1]
    yield "sine_gaussian", lambda x: m.sine_gaussian(times, *x), [1.0, 2.0, 1.5, 0.8, 0.3]
    yield "modified_bessel", lambda x: m.modified_bessel(times, *x), [2.0, 0.7, 1.3, 2.1, 0.5]
    yield "convolution_gaussian", lambda x: m.convolution_gaussian(times, *x), [1.0, 3.0, 0.7, 1.4]


@package("thermoextrap", "extrapolation in thermodynamics")
def thermoextrap() -> Iterator[Case]:
    m = module("thermoextrap.idealgas")
    yield "x_ave", spread(m.x_ave), [1.3, 0.8]
    yield "x_var", spread(m.x_var), [1.3, 0.8]
    yield "u_prob", lambda x: m.u_prob(x[:3], 20.0, x[3], x[4]), [8.0, 9.0, 10.5, 1.2, 0.9]
    yield "x_cdf", lambda x: m.x_cdf(x[:3], x[3], x[4]), [0.2, 0.5, 0.7, 1.2, 0.9]
    yield "x_beta_extrap", lambda x: m.x_beta_extrap(3, x[0], x[1], x[2]), [1.0, 1.4, 0.9]


@package("astLib", "astronomy")
def astlib() -> Iterator[Case]:
    coords, calc, stats = (
        module(f"astLib.{name}") for name in ("astCoords", "astCalc", "astStats")
    )
    yield "calcAngSepDeg", spread(coords.calcAngSepDeg), [10.0, 20.0, 12.5, 21.5]
    yield "shiftRADec", spread(coords.shiftRADec), [10.0, 20.0, 300.0, -200.0]
    yield "dl", spread(calc.dl), [0.7]
    yield "tl", spread(calc.tl), [0.7]
    yield "absMag", spread(calc.absMag), [18.0, 350.0]
    yield "RVirialXRayCluster", spread(calc.RVirialXRayCluster), [5.0, 0.3, 1.05]
    yield "biweightLocation", lambda x: stats.biweightLocation(x, 6.0), SERIES
    yield "biweightScale", lambda x: stats.biweightScale(x, 9.0), SERIES
    yield "OLSFit", lambda x: [
        stats.OLSFit([list(pair) for pair in x.reshape(6, 2)])[key]
        for key in ("slope", "intercept", "slopeError")
    ], SERIES  # fmt: skip
    yield "weightedStdev", lambda x: stats.weightedStdev([list(p) for p in x.reshape(6, 2)]), SERIES


@package("ginga", "viewing of images")
def ginga() -> Iterator[Case]:
    wcs, quality = module("ginga.util.wcs"), module("ginga.util.iqcalc")
    calc = quality.IQCalc()
    field = np.exp(-0.3 * np.add.outer((np.arange(9.0) - 4.2) ** 2, (np.arange(9.0) - 3.7) ** 2))

    yield "eqToEq2000", lambda x: wcs.eqToEq2000(x[0], x[1], 1950.0), [40.0, 20.0]
    yield "dispos", spread(wcs.dispos), [40.0, 20.0, 41.0, 20.5]
    yield "get_RaDecOffsets", spread(wcs.get_RaDecOffsets), [40.0, 20.0, 41.0, 20.5]
    yield "get_xy_rotation_and_scale", lambda x: wcs.get_xy_rotation_and_scale(
        {"CD1_1": x[0], "CD1_2": x[1], "CD2_1": x[2], "CD2_2": x[3]}
    ), [-0.9, 0.2, 0.3, 1.1]  # fmt: skip
    yield "gaussian", lambda x: calc.gaussian(np.arange(6.0), x), [2.2, 1.3, 5.0]
    yield "moffat", lambda x: calc.moffat(np.arange(6.0), x), [2.2, 1.3, 2.5, 5.0]
    yield "centroid", lambda x: calc.centroid(field + x.reshape(9, 9), 4, 4, 3), [0.01] * 81
    yield "brightness", lambda x: calc.brightness(4, 4, 2, x[0], field * x[1]), [0.1, 1.3]


@package("mfpml", "surrogates of many fidelities")
def mfpml() -> Iterator[Case]:
    kernels = module("mfpml.models.kernels")
    problems = module("mfpml.problems.singlefidelity_functions")
    rows = np.sin(np.arange(6.0)).reshape(3, 2)

    def of(problem: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: problem(x.reshape(1, -1))

    yield "RBF", lambda x: kernels.RBF(theta=np.zeros(2))(rows, rows + 0.3, x), [0.2, -0.4]
    for name, point in (
        ("Forrester", [0.37]), ("Branin", [1.2, 2.3]), ("GoldPrice", [0.3, -0.4]),
        ("Sixhump", [0.5, -0.3]), ("Sasena", [1.2, 2.3]),
        ("Hartman6", [0.2, 0.1, 0.4, 0.3, 0.3, 0.6]),
    ):  # fmt: skip
        yield name, of(getattr(problems, name).f), point


@package("pythonradex", "radiative transfer")
def pythonradex() -> Iterator[Case]:
    m, helpers = module("pythonradex.escape_probability"), module("pythonradex.helpers")
    depths = [0.005, 0.4, 1.7, 6.0]

    def beta(kind: Any) -> Callable[[Any], Any]:
        return lambda x: kind().beta(x)

    for name in ("StaticSphere", "StaticSphereRADEX", "LVGSlab", "LVGSphereRADEX"):
        yield name, beta(getattr(m, name)), depths
    yield "specific_intensity", lambda x: m.StaticSphere.specific_intensity(x[:4], x[4:]), [
        *depths, 1.0, 2.0, 1.5, 0.7,
    ]  # fmt: skip
    yield "exp_tau_factor", m.exp_tau_factor, depths
    yield "B_nu", lambda x: 1e18 * helpers.B_nu(1e9 * x[:2], x[2]), [115.0, 230.0, 30.0]
    yield "Planck_brightness_temperature", lambda x: helpers.Planck_brightness_temperature(
        1e-18 * x[:2], 1e9 * x[2:]
    ), [400.0, 700.0, 115.0, 230.0]  # fmt: skip


@package("rfbzero", "flow batteries")
def rfbzero() -> Iterator[Case]:
    cell, ageing = module("rfbzero.redox_flow_cell"), module("rfbzero.degradation")
    crossover, experiment = module("rfbzero.crossover"), module("rfbzero.experiment")

    def made(x: Any, **changed: Any) -> Any:
        return cell.ZeroDModel(
            volume_cls=0.005, volume_ncls=0.010, c_ox_cls=x[0], c_red_cls=x[1], c_ox_ncls=x[0],
            c_red_ncls=x[1], ocv_50_soc=1.0, resistance=x[2], k_0_cls=1e-3, k_0_ncls=x[3] * 1e-3,
            time_step=0.5, **changed,
        )  # fmt: skip

    def cycled(x: Any) -> Any:
        protocol = experiment.ConstantCurrent(
            voltage_limit_charge=1.6, voltage_limit_discharge=0.4, current=0.1
        )
        mechanism = ageing.ChemicalDegradationOxidized(rate_order=1, rate_constant=x[4] * 1e-4)
        found = protocol.run(cell_model=made(x), duration=20, degradation=mechanism)
        return np.array(found.cell_v[3:12])

    yield "Dimerization", lambda x: ageing.Dimerization(x[0], x[1], x[2]).degrade(
        x[3], x[4], 0.1
    ), [0.3, 0.2, 0.01, 0.4, 0.7]  # fmt: skip
    yield "AutoOxidation", lambda x: ageing.AutoOxidation(
        rate_constant=x[0], c_oxidant=x[1], oxidant_stoich=2
    ).degrade(x[2], x[3], 0.1), [0.3, 0.2, 0.4, 0.7]  # fmt: skip
    yield "crossover", lambda x: crossover.Crossover(
        membrane_thickness=183, permeability_ox=5e-6, permeability_red=1e-6
    ).crossover(5.0, *x, 0.01, 0.005, 0.1), [0.1, 0.2, 0.3, 0.15]  # fmt: skip
    yield "total overpotential", lambda x: made(x)._total_overpotential(  # noqa: SLF001  public by use
        0.1, x[4], x[5]
    ), [0.02, 0.03, 0.5, 1.2, 0.4, 0.5]  # fmt: skip
    yield "ConstantCurrent", cycled, [0.02, 0.03, 0.5, 1.2, 3.0]


@package("llnl-ssapy", "orbits")
def ssapy() -> Iterator[Case]:
    m, utils = module("ssapy"), module("ssapy.utils")
    state = [7.0e6, 1.0e5, 3.0e4, 100.0, 7.3e3, 900.0]

    yield "keplerianElements", lambda x: m.Orbit(x[:3], x[3:], 0.0).keplerianElements, state
    yield "Orbit.at", lambda x: m.Orbit(x[:3], x[3:], 0.0).at(600.0).r, state
    yield "fromKeplerianElements", lambda x: m.Orbit.fromKeplerianElements(
        1e6 * x[0], *x[1:], 0.0
    ).r, [7.1, 0.02, 0.9, 0.3, 0.5, 1.1]  # fmt: skip
    yield "rv_to_ntw", lambda x: utils.rv_to_ntw(x[:3], x[3:6], x[6:]), SERIES[:9]
    yield "get_normed_weights", utils.get_normed_weights, [-1.0, 0.4, -2.2]
    yield "sigma_points", lambda x: utils.sigma_points(
        None, x[:2], np.diag(x[2:4]) + 0.1 * x[4]
    ), [1.0, 2.0, 0.5, 0.8, 0.3]  # fmt: skip
    yield "lb_to_tan", lambda x: utils.lb_to_tan(x[:3], x[3:]), [0.3, 0.35, 0.4, 0.7, 0.72, 0.66]
    yield "lonlat_distance", spread(utils.lonlat_distance), [0.7, 0.9, 0.2, 0.5]
    yield "equatorial_to_horizontal", lambda x: utils.equatorial_to_horizontal(
        x[0], x[1], hour_angle=x[2]
    ), [0.7, 0.3, 0.9]  # fmt: skip


@package("poliastro", "astrodynamics")
def poliastro() -> Iterator[Case]:
    names = ("elements", "iod", "propagation", "perturbations", "angles", "flybys")
    elements, iod, propagation, forces, angles, flybys = (
        module(f"poliastro.core.{name}") for name in names
    )
    mu = 398600.4418
    state = [7000.0, 100.0, 30.0, 0.1, 7.3, 0.9]

    yield "rv2coe", lambda x: elements.rv2coe(mu, x[:3], x[3:]), state
    yield "coe2rv", lambda x: elements.coe2rv(mu, *x), [7000.0, 0.1, 0.9, 0.4, 0.6, 1.2]
    yield "mee2coe", spread(elements.mee2coe), [7000.0, 0.05, 0.08, 0.2, 0.3, 1.4]
    yield "izzo", lambda x: iod.izzo(mu, x[:3], x[3:6], x[6], 0, True, True, 35, 1e-10), [
        5000.0, 10000.0, 2100.0, -14600.0, 2500.0, 7000.0, 3600.0,
    ]  # fmt: skip
    yield "markley", lambda x: propagation.markley(mu, x[:3], x[3:], 900.0), state
    yield "farnocchia", lambda x: propagation.farnocchia(mu, x[:3], x[3:], 900.0), state
    yield "vallado", lambda x: propagation.vallado(mu, x[:3], x[3:], 900.0, 50), state
    yield (
        "J2_perturbation",
        lambda x: 1e6 * forces.J2_perturbation(0.0, x, mu, 1.08e-3, 6378.0),
        state,
    )
    yield "M_to_E", spread(angles.M_to_E), [1.1, 0.3]
    yield "compute_flyby", lambda x: flybys.compute_flyby(x[:3], x[3:6], mu, x[6], x[7]), [
        6.0, 30.0, 2.0, 1.0, 29.0, 0.5, 8000.0, 0.6,
    ]  # fmt: skip


@package("ExoTiC-LD", "limb darkening")
def exotic() -> Iterator[Case]:
    m = module("exotic_ld.ld_laws")
    places = np.linspace(0.1, 1.0, 6)
    yield "kipping_ld_law", lambda x: m.kipping_ld_law(places, *x), [0.4, 0.3]
    yield (
        "squareroot_ld_law",
        lambda x: m.squareroot_ld_law(x[:3], *x[3:]),
        [0.2, 0.5, 0.9, 0.4, 0.3],
    )
    yield "nonlinear_4param_ld_law", lambda x: m.nonlinear_4param_ld_law(places, *x), [
        0.4, 0.3, 0.2, 0.1,
    ]  # fmt: skip


@package("nleis", "impedance")
def nleis() -> Iterator[Case]:
    m, data = module("nleis.nleis_elements_pair"), module("nleis.data_processing")
    frequencies = [0.1, 1.0, 10.0]

    def impedance(element: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda x: element(list(x), frequencies)

    for name, point in (
        ("RCn", [1.2, 0.3, 0.1]),
        ("RCD", [1.2, 0.3, 0.8, 2.0]),
        ("RCSn", [1.2, 0.3, 0.8, 2.0, 0.4, 0.1]),
        ("TP", [1.2, 0.9, 0.3]),
        ("TDSn", [1.2, 0.9, 0.3, 0.8, 2.0, 0.4, 0.1]),
    ):
        yield name, impedance(getattr(m, name)), point
    yield "fit_Z1", lambda x: data.fit_Z1(np.array([0.5, 1.0, 1.4]), *x), [0.4, -0.2]


@package("pyFAI", "azimuthal integration")
def pyfai() -> Iterator[Case]:
    units, geometry = module("pyFAI.units"), module("pyFAI.geometry.core")
    rows, columns = np.array([10.0, 40.0, 90.0]), np.array([30.0, 20.0, 60.0])

    def placed(x: Any) -> Any:
        return geometry.Geometry(0.1 * x[0], *(0.01 * x[1:3]), *x[3:], 1e-4, 1e-4, wavelength=1e-10)

    point = [1.2, 0.5, 0.4, 0.1, 0.2, 0.3]
    yield "eq_q", lambda x: units.eq_q(x[:2], x[2:4], x[4:6], x[6]), [
        0.1, 0.2, 0.3, 0.15, 1.1, 1.0, 1.5,
    ]  # fmt: skip
    yield "q_sample", lambda x: units.q_sample(
        x[:1], x[1:2], x[2:3], wavelength=1.0, incident_angle=x[3], tilt_angle=x[4]
    ), [0.1, 0.2, 1.1, 0.05, 0.02]  # fmt: skip
    yield "tth", lambda x: placed(x).tth(rows, columns, path="numpy"), point
    yield "chi", lambda x: placed(x).chi(rows, columns, path="numpy"), point
    yield "quaternion", lambda x: placed(x).quaternion(), point


@package("pydl", "astronomy after IDL")
def pydl() -> Iterator[Case]:
    m, maths = module("pydl"), module("pydl.pydlutils.math")
    yield "smooth", lambda x: m.smooth(x, 3), WAVE
    yield "rebin", lambda x: m.rebin(x.reshape(3, 4), (6, 8)), SERIES
    yield "pcomp", lambda x: m.pcomp(x.reshape(4, 3)).eigenvalues, SERIES
    yield "computechi2", lambda x: maths.computechi2(
        x[:6], x[6:], np.vander(np.arange(6.0), 2)
    ).acoeff, SERIES  # fmt: skip


@package("foodspec", "spectra of food")
def foodspec() -> Iterator[Case]:
    bands, fingerprint = module("foodspec.features.bands"), module("foodspec.features.fingerprint")
    baseline = module("foodspec.preprocess.baseline")
    correction = module("foodspec.preprocess.matrix_correction")
    numbers = np.linspace(1000.0, 1110.0, 12)

    yield "integrate_bands", lambda x: bands.integrate_bands(
        x.reshape(2, 12), numbers, [("a", 1000.0, 1045.0), ("b", 1050.0, 1100.0)]
    ).to_numpy(), WAVE  # fmt: skip
    yield "correlation", lambda x: fingerprint.correlation_similarity_matrix(
        x[:12].reshape(2, 6), x[12:].reshape(2, 6)
    ), WAVE  # fmt: skip
    yield "ALSBaseline", lambda x: baseline.ALSBaseline(lambda_=50.0, p=0.1).fit(
        x.reshape(1, 24)
    ).transform(x.reshape(1, 24)), WAVE  # fmt: skip
    yield "PolynomialBaseline", lambda x: baseline.PolynomialBaseline(2).fit(
        x.reshape(2, 12)
    ).transform(x.reshape(2, 12)), WAVE  # fmt: skip
    yield "subtract_background", lambda x: correction.subtract_background_reference(
        x[:12].reshape(2, 6), x[12:18], method="scaled"
    ), WAVE[:18]  # fmt: skip


@package("cca-zoo", "canonical correlations")
def cca() -> Iterator[Case]:
    m = module("cca_zoo.linear")
    rows = np.sin(np.arange(24.0) ** 1.3).reshape(8, 3)

    def scores(kind: str) -> Callable[[Any], Any]:
        def correlation(x: Any) -> Any:
            fitted = getattr(m, kind)(n_components=1).fit([rows, x.reshape(8, 2)])
            return np.abs(fitted.score([rows, x.reshape(8, 2)]))

        return correlation

    yield "CCA", scores("CCA"), [*WAVE[:15], 0.7]
    yield "PLS", scores("PLS"), [*WAVE[:15], 0.7]
    yield "MCCA", scores("MCCA"), [*WAVE[:15], 0.7]


@package("rdtools", "photovoltaic time series")
def rdtools() -> Iterator[Case]:
    m, pandas = module("rdtools.normalization"), module("pandas")
    hours = pandas.date_range("2026-05-12", periods=6, freq="h")

    yield "pvwatts_dc_power", lambda x: m.pvwatts_dc_power(
        x[:3], x[3], temperature_cell=x[4:7], gamma_pdc=x[7]
    ), [600.0, 800.0, 950.0, 5.0, 30.0, 40.0, 50.0, -0.004]  # fmt: skip
    yield "energy_from_power", lambda x: m.energy_from_power(
        pandas.Series(x, index=hours)
    ).dropna().to_numpy(), SERIES[:6]  # fmt: skip


@package("hermes-rheo", "rheology")
def hermes() -> Iterator[Case]:
    classical, fractional = (
        module(f"hermes_rheo.lve_models.{n}") for n in ("classical", "fractional")
    )
    times = np.array([0.1, 0.7, 3.0])

    yield "MaxwellModel", lambda x: classical.MaxwellModel(x[0], x[1]).saos(x[2:]), [
        3.0, 0.7, 0.5, 2.0,
    ]  # fmt: skip
    yield "MultiModeMaxwellModel", lambda x: classical.MultiModeMaxwellModel(
        x[:2], x[2:4], 0.1
    ).stress_relaxation(times), [3.0, 1.0, 0.7, 5.0]  # fmt: skip
    yield "JeffreysModel", lambda x: classical.JeffreysModel(*x).creep(times), [3.0, 0.7, 0.4]
    yield "FractionalMaxwellModel", lambda x: fractional.FractionalMaxwellModel(*x).saos(times), [
        3.0, 2.0, 0.8, 0.3,
    ]  # fmt: skip
    yield (
        "FractionalKelvinVoigtModel",
        lambda x: fractional.FractionalKelvinVoigtModel(*x).creep(times),
        [3.0, 2.0, 0.8, 0.3],
    )
    yield (
        "SpringPotModel",
        lambda x: fractional.SpringPotModel(*x).stress_relaxation(times),
        [3.0, 0.4],
    )


@package("stresslog", "stress in boreholes")
def stresslog() -> Iterator[Case]:
    hole, criteria = module("stresslog.BoreStab"), module("stresslog.failure_criteria")
    depths = np.arange(0.0, 600.0, 100.0)
    pressure, hydraulics = module("stresslog.obgppshmin"), module("stresslog.hydraulics")

    yield "getRota", spread(hole.getRota), [20.0, 30.0, -10.0]
    yield "mogi_failure", spread(criteria.mogi_failure), [50.0, 40.0, 30.0]
    yield "lade_failure", spread(criteria.lade_failure), [
        50.0, 40.0, 30.0, 2.0, 1.0, 3.0, 0.5, 10.0, 12.0,
    ]  # fmt: skip
    yield "get_Dxc", spread(pressure.get_Dxc), [30.0, 100.0, 20000.0, 8.5, 1.3, 1.0]
    yield "get_PPgrad_Eaton_gcc", lambda x: pressure.get_PPgrad_Eaton_gcc(
        x[0], x[1], 1e-4 * x[2], *x[3:]
    ), [
        2.2, 1.03, 1.0, 0.6, 2500.0, 0.98, 1.1, 0.9,
    ]  # fmt: skip
    yield "get_OBG_pascals_vec", lambda x: pressure.get_OBG_pascals_vec(
        depths + 100.0, depths + 90.0, depths + 80.0, x, 1.03, 20.0,
    ), SERIES[:6]  # fmt: skip
    yield "getGasDensity", spread(hydraulics.getGasDensity), [3000.0, 90.0]


@package("modelskill", "skill of models")
def modelskill() -> Iterator[Case]:
    m = module("modelskill.metrics")
    observed = np.cos(np.arange(6.0)) + 3.0

    def of(metric: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda x: metric(observed, x)

    names = ("rmse", "urmse", "nse", "kge", "si", "r2", "cc", "willmott", "lin_slope", "mape")
    for name in names:
        yield name, of(getattr(m, name)), SERIES[:6]
    yield "c_rmse", lambda x: m.c_rmse(50.0 * x[:3], 60.0 * x[3:]), [1.0, 2.0, 3.0, 1.1, 1.5, 3.2]


@package("WaveSpace", "travelling waves in the brain")
def wavespace() -> Iterator[Case]:
    sensors = module("WaveSpace.SpatialArrangement.SensorLayout")
    phase, morlet = (module(f"WaveSpace.Decomposition.{name}") for name in ("GenPhase", "Morlet"))
    simulation = module("WaveSpace.Simulation.SimulationFuns")

    yield (
        "idw_interpolation",
        lambda x: sensors.idw_interpolation(x[:3], x[3:].reshape(3, 3)),
        SERIES,
    )
    yield "naninterp", lambda x: phase.naninterp(np.where(np.arange(12) == 5, np.nan, x)), SERIES
    yield "gaussian", lambda x: morlet.gaussian(np.arange(5.0), *x), [2.0, 2.3, 1.4]
    yield "gaussian2d", spread(simulation.gaussian2d), [0.3, 0.4, 0.1, 0.8, 1.3]


@package("libpysal", "spatial analysis")
def libpysal() -> Iterator[Case]:
    m, shapes = module("libpysal.cg.standalone"), module("libpysal.cg.shapes")
    sphere = module("libpysal.cg.sphere")

    yield "get_points_dist", lambda x: m.get_points_dist(
        shapes.Point(tuple(x[:2])), shapes.Point(tuple(x[2:]))
    ), SERIES[:4]  # fmt: skip
    yield "get_segment_point_dist", lambda x: m.get_segment_point_dist(
        shapes.LineSegment(shapes.Point(tuple(x[:2])), shapes.Point(tuple(x[2:4]))),
        shapes.Point(tuple(x[4:])),
    )[0], [0.0, 0.3, 4.0, 1.0, 2.0, 3.0]  # fmt: skip
    yield "Polygon.area", lambda x: shapes.Polygon(
        [shapes.Point(tuple(pair)) for pair in x.reshape(4, 2)]
    ).area, [0.0, 0.1, 2.0, 0.2, 2.1, 1.5, 0.2, 1.4]  # fmt: skip
    yield "arcdist", lambda x: sphere.arcdist(tuple(x[:2]), tuple(x[2:])), [40.0, 20.0, 43.0, 21.0]
    yield "geointerpolate", lambda x: sphere.geointerpolate(tuple(x[:2]), tuple(x[2:4]), x[4]), [
        40.0, 20.0, 43.0, 21.0, 0.3,
    ]  # fmt: skip


@package("multisim", "heating systems")
def multisim() -> Iterator[Case]:
    m = module("multisim.utility_functions")
    observed = np.cos(np.arange(6.0)) + 3.0
    yield "r_squared", lambda x: m.r_squared(y=observed, y_hat=x), SERIES[:6]
    yield "cv_rmse", lambda x: m.cv_rmse(y=observed, y_hat=x), SERIES[:6]
    yield "normalized_err", lambda x: m.normalized_err(y=x, y_hat=observed), SERIES[:6]


@package("probinet", "communities in networks")
def probinet() -> Iterator[Case]:
    expected = module("probinet.evaluation.expectation_computation")
    similar, tools = (
        module("probinet.evaluation.community_detection"),
        module("probinet.utils.matrix_operations"),
    )
    likelihood = module("probinet.evaluation.likelihood")
    links = (np.sin(np.arange(9.0)) > 0).astype(float).reshape(1, 3, 3)

    def parts(x: Any) -> Any:
        return x[:6].reshape(3, 2), x[6:12].reshape(3, 2), x[12:16].reshape(1, 2, 2)

    point = [0.3, 0.7, 0.5, 0.4, 0.9, 0.2, 0.6, 0.1, 0.3, 0.8, 0.5, 0.5, 1.2, 0.3, 0.4, 0.9]
    yield "calculate_expectation", lambda x: expected.calculate_expectation(
        *parts(x), 0.3
    ), point  # fmt: skip
    yield "compute_M_joint", lambda x: np.stack(expected.compute_M_joint(*parts(x), 1.4)), point
    yield "PSloglikelihood", lambda x: likelihood.PSloglikelihood(links, *parts(x), 0.4), point
    yield "normalize_nonzero_membership", lambda x: tools.normalize_nonzero_membership(
        x.reshape(4, 4)
    ), point  # fmt: skip
    yield "cosine_similarity", lambda x: similar.cosine_similarity(
        x[:8].reshape(4, 2), x[8:].reshape(4, 2)
    )[1], point  # fmt: skip
    yield "u_with_lagrange_multiplier", lambda x: expected.u_with_lagrange_multiplier(
        x[:4], x[4:8], x[8:12]
    ), point[:12]  # fmt: skip


@package("pfsspy", "the magnetic field of the Sun")
def pfsspy() -> Iterator[Case]:
    coords, analytic = module("pfsspy.coords"), module("pfsspy.analytic")
    units = module("astropy.units")

    yield "sph2cart", spread(coords.sph2cart), [1.3, 0.7, 0.4]
    yield "strum2cart", spread(coords.strum2cart), [0.3, 0.4, 0.7]
    yield "cart2strum", spread(coords.cart2strum), [0.5, 0.7, 0.9]
    yield "Br", lambda x: analytic.Br(2, 1, 2.5)(
        x[0], x[1] * units.rad, x[2] * units.rad
    ), [1.4, 0.7, 0.4]  # fmt: skip


@package("piscola", "light curves of supernovae")
def piscola() -> Iterator[Case]:
    m = module("piscola.utils")
    yield "flux2mag", lambda x: m.flux2mag(x[:2], x[2], x[3:]), [120.0, 80.0, 25.0, 7.0, 5.0]
    yield "mag2flux", lambda x: m.mag2flux(x[:2], x[2], x[3:]), [17.0, 18.0, 25.0, 0.1, 0.2]
    yield "change_zp", spread(m.change_zp), [120.0, 25.0, 24.0]


@package("SpiralMap", "arms of the Milky Way")
def spiralmap() -> Iterator[Case]:
    m = module("SpiralMap.models_")
    model = m.spiral_houhan.__new__(m.spiral_houhan)
    yield "polynomial_log_spiral", lambda x: model.polynomial_log_spiral(x[:3], *x[3:]), [
        0.3, 0.7, 1.2, 2.0, 0.1, 0.02, -0.01,
    ]  # fmt: skip


@package("pyneqsys", "systems of equations")
def pyneqsys() -> Iterator[Case]:
    core = module("pyneqsys.core")

    def root(x: Any) -> Any:
        def system(v: Any, p: Any) -> Any:
            return [v[0] ** 2 + v[1] - p[0], v[0] - p[1] * v[1] ** 3]

        solver = core.NeqSys(2, f=system)
        return solver.solve([1.0, 0.8], x, solver="scipy", tol=1e-13)[0]

    yield "NeqSys.solve", root, [2.0, 1.3]


@package("pyodesys", "systems of differential equations")
def pyodesys() -> Iterator[Case]:
    core = module("pyodesys")

    def ends(x: Any) -> Any:
        def slope(_t: Any, y: Any, p: Any) -> Any:
            return [-p[0] * y[0], p[0] * y[0] - p[1] * y[1]]

        system = core.ODESys(slope, dep_by_name=False)
        found = system.integrate(
            2.0, x[:2], x[2:], integrator="scipy", atol=1e-11, rtol=1e-11, name="dopri5"
        )
        return found.yout[-1]

    yield "ODESys.integrate", ends, [1.0, 0.3, 0.7, 0.4]


@package("lazyarray", "lazy arrays")
def lazyarray() -> Iterator[Case]:
    m = module("lazyarray")

    def wave(i: Any, j: Any) -> Any:
        return np.sin(i) + j

    yield "larray", lambda x: ((m.larray(x) * 2.0 + 1.0) ** 2).evaluate(), SERIES[:6]
    yield "larray of a function", lambda x: (
        m.larray(wave, shape=(3, 2)) * x[0] - x[1]
    ).evaluate(), [1.4, 0.3]  # fmt: skip
    yield "partial evaluation", lambda x: m.sqrt(m.larray(x.reshape(3, 4)))[1:, :2], SERIES


@package("ccdproc", "reduction of images")
def ccdproc() -> Iterator[Case]:
    m, ndata, units = module("ccdproc"), module("astropy.nddata"), module("astropy.units")

    def image(x: Any) -> Any:
        return ndata.CCDData(x, unit="adu")

    yield "subtract_bias", lambda x: m.subtract_bias(
        image(x.reshape(3, 4)), image(np.ones((3, 4)))
    ).data, SERIES  # fmt: skip
    yield "flat_correct", lambda x: m.flat_correct(
        image(x.reshape(3, 4)), image(1.0 + np.arange(12.0).reshape(3, 4))
    ).data, SERIES  # fmt: skip
    yield "gain_correct", lambda x: m.gain_correct(
        image(SERIES * np.ones(1)), x[0] * units.electron / units.adu
    ).data, [1.4]  # fmt: skip
    yield "block_average", lambda x: m.block_average(x.reshape(4, 3)[:, :2], 2), SERIES


@package("cmomy", "moments")
def cmomy() -> Iterator[Case]:
    m = module("cmomy")
    yield "reduce_vals", lambda x: m.reduce_vals(x, mom=3, axis=0), SERIES
    yield "moments_type", lambda x: m.convert.moments_type(
        np.array([[4.0, 1.0, 2.0, 0.7], [3.0, 1.0, 1.0, 0.4]]) * x.reshape(2, 4),
        mom_ndim=1,
        to="raw",
    ), SERIES[:8]  # fmt: skip
