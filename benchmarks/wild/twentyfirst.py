"""A twenty-first sample, drawn on 2026-11-29, and written down before any of it was tried.

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

TWENTYFIRST = Sample()
package = TWENTYFIRST.package


@package("pymls", "sound through layers")
def pymls() -> Iterator[Case]:
    m, media = module("pymls"), module("mediapack")
    indicators = module("pymls.utils.indicators")

    def solved(layers: list[Any], backing: Any, angle: float) -> Any:
        solver = m.Solver(layers=layers, backing=backing)
        return solver.solve([320.0, 900.0], angle)

    def wool(x: Any) -> Any:
        foam = media.EqFluidJCA(
            phi=x[0], sigma=1e4 * x[1], alpha=x[2], Lambda_prime=1e-4 * x[3], Lambda=1e-5 * x[4]
        )
        found = solved([m.Layer(foam, 0.01 * x[5])], m.backing.rigid, 0.0)
        return [indicators.alpha_from_R(np.array(one)) for one in found["R"]]

    def water(x: Any) -> Any:
        fluid = media.Fluid(rho=x[0], c=100.0 * x[1])
        return solved([m.Layer(fluid, 0.1 * x[2])], m.backing.transmission, 20.0)["T"]

    yield "porous layer", wool, [0.95, 1.3, 1.2, 1.5, 8.0, 5.0]
    yield "fluid layer", water, [3.0, 2.7, 0.6]


@package("vectorbt", "backtesting")
def vectorbt() -> Iterator[Case]:
    m, pandas = module("vectorbt"), module("pandas")

    def returns(x: Any) -> Any:
        made = pandas.Series(x, index=pandas.date_range("2026-01-01", periods=x.shape[0]))
        return made.vbt.returns.from_value(made, freq="1D")

    yield "rolling_mean", lambda x: pandas.Series(x).vbt.rolling_mean(3).dropna().to_numpy(), SERIES
    yield "ewm_std", lambda x: pandas.Series(x).vbt.ewm_std(4).dropna().to_numpy(), SERIES
    yield "RSI.run", lambda x: m.RSI.run(pandas.Series(x), window=5).rsi.dropna().to_numpy(), SERIES
    yield "returns.total", lambda x: np.reshape(
        returns(x).total(), (1,)
    ), SERIES  # fmt: skip


@package("ngboost", "probabilistic boosting")
def ngboost() -> Iterator[Case]:
    m, multi = module("ngboost.distns"), module("ngboost.distns.multivariate_normal")
    normal, gamma = module("ngboost.distns.normal"), module("ngboost.distns.gamma")
    pair = [0.3, -0.2, 0.5, 0.1, 0.4, -0.3, 1.2, 0.7, 2.1]

    def scored(kind: Any, score: Any) -> Callable[[Any], Any]:
        made = type("Scored", (score, kind), {})

        def results(x: Any) -> Any:
            one = made(x[:6].reshape(2, 3))
            return [one.score(x[6:]), one.d_score(x[6:]), one.metric().reshape(-1)]

        return results

    yield "Normal, CRPS", scored(m.Normal, normal.NormalCRPScore), pair
    yield "Gamma, log score", scored(m.Gamma, gamma.GammaLogScore), pair
    yield "Normal.fit", m.Normal.fit, SERIES
    yield "get_chol_factor", lambda x: multi.get_chol_factor(x.reshape(6, 2)), [
        0.1 * one for one in SERIES
    ]  # fmt: skip


@package("meshcut", "meshes, cut")
def meshcut() -> Iterator[Case]:
    m = module("meshcut")
    corners = np.array(
        [[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.2) for z in (0.0, 0.9)]
    ) + 0.02 * np.cos(np.arange(24.0)).reshape(8, 3)
    faces = [
        [0, 1, 3], [0, 3, 2], [4, 7, 5], [4, 6, 7], [0, 5, 1], [0, 4, 5], [2, 3, 7], [2, 7, 6],
        [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]  # fmt: skip

    def cut(x: Any) -> Any:
        return m.cross_section(x.reshape(8, 3), faces, np.array([0.5, 0.5, 0.41]), [0.1, 0.2, 1.0])

    def plane(x: Any) -> Any:
        return m.cross_section(corners, np.array(faces), x[:3], x[3:])

    yield "cross_section", cut, [*corners.reshape(-1)]
    yield "cross_section, plane", plane, [0.5, 0.5, 0.41, 0.1, 0.2, 1.0]
    yield "pdist_squareformed_numpy", lambda x: m.pdist_squareformed_numpy(x.reshape(8, 3)), LONG


@package("pygad", "test functions")
def pygad() -> Iterator[Case]:
    classic, many = module("pygad.benchmarks.classic"), module("pygad.benchmarks.dtlz")
    zdt = module("pygad.benchmarks.zdt")
    start = [0.31, 0.72, 0.44, 0.63, 0.27]

    def of(problem: Any) -> Callable[[Any], Any]:
        return lambda x: np.asarray(problem(None, x, 0))

    yield "Ackley", of(classic.Ackley(5)), start
    yield "Griewank", of(classic.Griewank(5)), start
    yield "DTLZ2", of(many.DTLZ2(3, 3)), start
    yield "ZDT3", of(zdt.ZDT3(5)), start


@package("jgss", "nonlinear solvers for economies")
def jgss() -> Iterator[Case]:
    m = module("jgss._convergence")
    subspace = module("jgss._subspace")

    def economy(x: Any) -> Callable[[Any], Any]:
        def residuals(v: Any) -> Any:
            return np.array([v[0] ** x[0] - v[1] - x[1] * v[0], x[2] * v[1] ** -x[3] - v[0]])

        return residuals

    def solved(x: Any) -> Any:
        return m.levenberg_marquardt(economy(x), np.array([2.0, 1.0]), tol=1e-13)[0]

    def slopes(x: Any) -> Any:
        start = x[4:]

        def given(v: Any) -> Any:
            return np.diag(x[0] * v) + np.outer(v, v)

        return [subspace.compute_jacobian(economy(x), start, given)[0]]

    yield "levenberg_marquardt", solved, [0.5, 0.1, 1.5, 0.6]
    yield "compute_jacobian", slopes, [0.5, 0.1, 1.5, 0.6, 1.3, 0.7]


@package("rixs", "inelastic scattering")
def rixs() -> Iterator[Case]:
    m = module("rixs.process2d")
    events = np.stack([50.0 * np.cos(np.arange(30.0)), 9.0 * np.sin(1.7 * np.arange(30.0))])

    def counted(x: Any) -> Any:
        rows = np.column_stack((*events, x))
        return m.apply_curvature(rows, np.array([1e-4, 1e-3, 0.0]), bins=3)

    yield "gauss", lambda x: m.gauss(x[4:], *x[:4]), [2.0, 3.0, 1.5, 0.2, *SERIES]
    yield "apply_curvature", counted, [*(1.5 + np.cos(2.1 * np.arange(30.0)))]
    yield "image_to_photon_events", lambda x: m.image_to_photon_events(
        x.reshape(3, 4), min_threshold=2.2
    ), SERIES  # fmt: skip


@package("snuggs", "expressions of arrays")
def snuggs() -> Iterator[Case]:
    m = module("snuggs")
    formula = "(/ (- (read 1 1) (* 0.5 (read 1 2))) (+ (read 1 1) (sqrt (read 1 2))))"
    yield "eval", lambda x: m.eval("(* (+ a 1.5) (where (> b 3) b a))", a=x[:6], b=x[6:]), SERIES
    yield "eval, bands", lambda x: m.eval(formula, {1: x.reshape(2, 6), "a": x}), SERIES


@package("rank-bm25", "ranking of documents")
def rank_bm25() -> Iterator[Case]:
    m = module("rank_bm25")
    texts = ["a rose is a rose", "the rose and the thorn", "a thorn", "violets are blue"]
    corpus = [text.split() for text in texts]
    query = ["rose", "thorn"]
    yield "BM25L", lambda x: m.BM25L(corpus, None, *x).get_scores(query), [1.5, 0.75, 0.5]
    yield "BM25Plus", lambda x: m.BM25Plus(corpus, None, *x).get_scores(query), [1.5, 0.75, 0.5]
    yield "BM25Okapi", lambda x: m.BM25Okapi(corpus, None, *x).get_scores(["rose", "blue"]), [
        1.5, 0.75, 0.25,
    ]  # fmt: skip


@package("seispack", "asteroseismology")
def seispack() -> Iterator[Case]:
    m, hough = module("seispack.basic"), module("seispack.hough.base")
    yield "smooth", lambda x: m.smooth(x, 4), LONG
    yield "a_correlate", lambda x: m.a_correlate(x, [0, 1, 2, 5]), LONG
    yield "rebin", lambda x: m.rebin(x, 5, ifirst=1, nskip=1), LONG
    yield "lambda_val", lambda x: np.reshape(hough.lambda_val(x[0], 1, k=1, nt=24), (1,)), [2.3]


@package("hexalattice", "hexagonal grids")
def hexalattice() -> Iterator[Case]:
    m = module("hexalattice.hexalattice")
    yield "create_hex_grid", lambda x: m.create_hex_grid(
        nx=4, ny=3, min_diam=x[0], rotate_deg=x[1], do_plot=False
    )[0], [1.3, 12.0]  # fmt: skip
    yield "create_hex_grid, cropped", lambda x: m.create_hex_grid(
        nx=5, ny=5, min_diam=x[0], rotate_deg=x[1], crop_circ=2.4, align_to_origin=False
    )[0], [1.3, 12.0]  # fmt: skip


@package("pytools", "orders of convergence")
def pytools() -> Iterator[Case]:
    m, tools = module("pytools.convergence"), module("pytools")

    def recorded(x: Any) -> Any:
        recorder = m.EOCRecorder()
        for width, error in zip(x[:4], x[4:], strict=True):
            recorder.add_data_point(width, error)
        return [recorder.estimate_order_of_convergence(2), recorder.order_estimate()]

    yield "EOCRecorder", recorded, [0.4, 0.2, 0.1, 0.05, 0.9, 0.21, 0.06, 0.013]
    yield "norm_p", lambda x: tools.norm_p(x, 3.0), SERIES


@package("simplecosine", "similarity of texts")
def simplecosine() -> Iterator[Case]:
    m = module("simplecosine.cosine")

    def weighed(x: Any) -> Any:
        texts = ["one fish two fish", "red fish blue fish", "old fish new fish"]
        made = m.CosineTextSimilarity(texts)
        made.doc_freq = dict(zip(sorted(made.doc_freq), x, strict=True))
        return made(texts[0], texts[1])

    yield "CosineTextSimilarity", weighed, [0.7, 0.4, 0.9, 1.2, 0.3, 0.8, 1.1]


@package("ffpiv", "particle image velocimetry")
def ffpiv() -> Iterator[Case]:
    m = module("ffpiv.pnp")
    y, x_axis = np.mgrid[:5, :5] - 2.0
    peaks = [
        np.exp(-((y - a) ** 2 + (x_axis - b) ** 2) / 2.5) for a, b in ((0.2, -0.3), (-0.1, 0.4))
    ]
    start = [*np.stack(peaks).reshape(-1)]
    yield "peak_position", lambda x: m.peak_position(x.reshape(2, 5, 5)), start
    yield "u_v_displacement", lambda x: m.u_v_displacement(x.reshape(2, 5, 5), 1, 2), start


@package("axiprop", "propagation of light")
def axiprop() -> Iterator[Case]:
    lib = module("axiprop.lib")

    def plane(x: Any) -> Any:
        wide, tall = (6.0, 6), (5.0, 5)
        made = lib.PropagatorFFT2(wide, tall, np.array([7.0, 8.0]), verbose=False)
        start = (x[:60] + 1j * x[60:120]).reshape(2, 6, 5)
        return made.step(start, 0.4)

    def ring(x: Any) -> Any:
        made = lib.PropagatorSymmetric((5.0, 12), np.array([7.0, 8.0]), verbose=False)
        return made.step((x[:24] + 1j * x[24:]).reshape(2, 12), 0.4)

    yield "PropagatorSymmetric.step", ring, [*LONG, *LONG[::-1]]
    yield "PropagatorFFT2.step", plane, [*np.cos(1.7 * np.arange(120.0))]


@package("riskfolio-lib", "risk of portfolios")
def riskfolio() -> Iterator[Case]:
    m, help_ = module("riskfolio.src.RiskFunctions"), module("riskfolio.src.AuxFunctions")
    returns = [0.03 * (one - 4.0) for one in SERIES]
    yield "SemiDeviation", m.SemiDeviation, returns
    yield "GMD", m.GMD, returns
    yield "CVaR_Hist", lambda x: m.CVaR_Hist(x, alpha=0.3), returns
    yield "UCI_Abs", m.UCI_Abs, returns
    yield "EVaR_Hist", lambda x: m.EVaR_Hist(x, alpha=0.3)[0], returns
    yield "dcorr", lambda x: help_.dcorr(x[:12], x[12:]), LONG


@package("skfolio", "portfolios")
def skfolio() -> Iterator[Case]:
    m = module("skfolio.measures")
    moments = module("skfolio.moments")
    returns = [0.03 * (one - 4.0) for one in LONG]
    yield "skew", m.skew, returns
    yield "semi_deviation", lambda x: m.semi_deviation(x.reshape(12, 2)), returns
    yield "cvar", lambda x: m.cvar(x, beta=0.8), returns
    yield "evar", lambda x: m.evar(x, beta=0.8), returns
    yield "ulcer_index", lambda x: m.ulcer_index(m.get_drawdowns(x, compounded=True)), returns
    yield "LedoitWolf", lambda x: moments.LedoitWolf().fit(x.reshape(8, 3)).covariance_, returns
    yield "EWCovariance", lambda x: moments.EWCovariance(half_life=5).fit(
        x.reshape(8, 3)
    ).covariance_, returns  # fmt: skip


@package("formulab", "formulas")
def formulab() -> Iterator[Case]:
    m, statistics = module("formulab.physics"), module("formulab.statistics")
    yield "distance", spread(m.distance), [3.0, 2.0, 0.7]
    yield "kinetic_energy", spread(m.kinetic_energy), [3.0, 2.0]
    yield "standard_deviation", lambda x: statistics.standard_deviation(list(x)), SERIES


@package("py-droplets", "droplets")
def droplets() -> Iterator[Case]:
    m = module("droplets")

    def sizes(x: Any) -> Any:
        drop = m.SphericalDroplet(x[:3], x[3])
        return [drop.volume, drop.surface_area, drop.position]

    def moved(x: Any) -> Any:
        drop = m.DiffuseDroplet(x[:2], x[2], interface_width=x[3])
        drop.volume = 2.0 * drop.volume
        return [drop.position, drop.radius, drop.interface_width]

    yield "SphericalDroplet", sizes, [0.3, 0.4, 0.5, 1.3]
    yield "DiffuseDroplet.volume", moved, [0.3, 0.4, 1.3, 0.2]


@package("mixsea", "mixing of the sea")
def mixsea() -> Iterator[Case]:
    m, overturn = module("mixsea.shearstrain"), module("mixsea.overturn")
    tools = module("mixsea.helpers")
    depth, waves = np.arange(0.0, 24.0, 2.0), np.linspace(0.05, 0.6, 12)

    def dissipation(x: Any) -> Any:
        chosen, _ = m.find_cutoff_wavenumber(x[:12], waves, 1.4)
        modelled, _ = m.gm_shear_variance(waves, chosen, x[12])
        return m.eps_shearstrain(6e-10, x[12], 5.2e-3, x[:12], modelled, x[13], 7e-5) * 1e9

    yield "calc_shear", lambda x: tools.calc_shear(x, depth)[1:-2], SERIES
    yield "psd", lambda x: tools.psd(x, 2.0, ffttype="p", detrend=True)[2], SERIES
    yield "eps_shearstrain", dissipation, [*SERIES, 4e-3, 5.0]
    yield "pot_rho_linear", lambda x: overturn.pot_rho_linear(x[:6] + 30.0, x[6:]), SERIES


@package("astronomica", "astronomy")
def astronomica() -> Iterator[Case]:
    m = module("astronomica.astronomica")
    yield "declination", spread(m.declination), [73.0, 2.0]
    yield "ecliptic_longitude", lambda x: m.ecliptic_longitude(m.solar_mean_anomaly(x[0])), [812.0]


@package("timewave", "stochastic processes")
def timewave() -> Iterator[Case]:
    m, process = module("timewave.indexedmatrix"), module("timewave.stochasticprocess.gauss")

    def factor(x: Any) -> Any:
        rows = [[*row] for row in x.reshape(3, 3)]
        return m.mmult(m.cholesky(m.madd(m.mmult(rows, m.mtrans(rows)), m.munit(3))), rows)

    def path(x: Any) -> Any:
        made = process.OrnsteinUhlenbeckProcess(theta=x[0], mu=x[1], sigma=x[2], start=x[3])
        value = made.start
        for step in (0.3, -0.8, 0.5):
            value = made.evolve(value, 0.0, 0.25, step)
        return [value, made.mean(0.7), made.variance(0.7)]

    yield "cholesky", factor, SERIES[:9]
    yield "OrnsteinUhlenbeckProcess", path, [0.7, 0.3, 0.2, 1.1]


@package("signaltour", "signals")
def signaltour() -> Iterator[Case]:
    core, spectrum = (
        module("signaltour._Signal_Module.core"),
        module("signaltour._Analysis_Module.SpectrumAnalysis"),
    )
    filters = module("signaltour._Signal_Module.SignalFilt")

    def signal(x: Any) -> Any:
        return core.Signal(core.t_Axis(N=24, dt=0.1), x)

    yield "Hilbert.amplitude", lambda x: spectrum.Hilbert(signal(x)).amplitude().data, LONG
    yield "convolve", lambda x: spectrum.convolve(x[:12], x[12:], "same"), LONG
    yield "filtIIR", lambda x: filters.filtIIR(signal(x), 2.0, 3, "lowpass").data, LONG


@package("rdt", "transforms of columns")
def rdt() -> Iterator[Case]:
    m, pandas = module("rdt.transformers.numerical"), module("pandas")

    def scaled(x: Any) -> Any:
        made = m.LogScaler(constant=0.5)
        table = pandas.DataFrame({"a": x})
        return made.fit_transform(table, "a")["a"].to_numpy()

    yield "LogScaler", scaled, SERIES


@package("openpnm", "porous media")
def openpnm() -> Iterator[Case]:
    m = module("openpnm")

    def flow(x: Any) -> Any:
        network = m.network.Cubic(shape=[3, 2, 1], spacing=1.0)
        phase = m.phase.Phase(network=network)
        phase["throat.diffusive_conductance"] = x[:7]
        solver = m.algorithms.FickianDiffusion(network=network, phase=phase)
        solver.set_value_BC(pores=[0, 1], values=x[7])
        solver.set_value_BC(pores=[4, 5], values=0.0)
        solver.run()
        return [solver["pore.concentration"], solver.rate(pores=[0, 1])]

    def viscosity(x: Any) -> Any:
        network = m.network.Cubic(shape=[3, 1, 1])
        water = m.phase.Water(network=network)
        water["pore.temperature"] = 290.0 + x
        water.regenerate_models()
        return [1e3 * water["pore.viscosity"], 1e-3 * water["pore.density"]]

    yield "FickianDiffusion", flow, [1.2, 0.7, 0.9, 1.5, 0.8, 1.1, 0.6, 2.0]
    yield "Water", viscosity, [3.0, 8.0, 15.0]


@package("pymatting", "mattes of images")
def pymatting() -> Iterator[Case]:
    m = module("pymatting")
    trimap = np.array([[0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0]])
    colours = [*(0.5 + 0.4 * np.cos(1.7 * np.arange(36.0)))]

    def matte(x: Any) -> Any:
        return m.estimate_alpha_cf(x.reshape(3, 4, 3), trimap, laplacian_kwargs={"epsilon": 1e-2})

    def solved(x: Any) -> Any:
        a = x[:9].reshape(3, 3)
        return m.cg(a @ a.T + np.eye(3), x[9:], rtol=1e-13)

    yield "estimate_alpha_cf", matte, colours
    yield "cg", solved, SERIES
    yield "blend", lambda x: m.blend(
        x[:18].reshape(2, 3, 3), x[18:36].reshape(2, 3, 3), x[36:].reshape(2, 3)
    ), [*colours, 0.2, 0.7, 0.4, 0.9, 0.1, 0.6]  # fmt: skip


@package("finport-optengine", "optimization of portfolios")
def finport() -> Iterator[Case]:
    active = module("optimization_engine.analytics.active")
    bets = module("optimization_engine.analytics.diversification")
    pandas, names = module("pandas"), ["a", "b", "c"]

    def covariance(x: Any) -> Any:
        rows = x.reshape(3, 3)
        return pandas.DataFrame(rows @ rows.T + 5.0 * np.eye(3), index=names, columns=names)

    def transferred(x: Any) -> Any:
        alphas = pandas.Series(x[9:12], index=names)
        weights = pandas.Series(x[12:], index=names)
        return active.transfer_coefficient(alphas, weights, covariance(x[:9]))

    start = [2.0, 0.3, -0.4, 0.5, 1.5, 0.2, -0.1, 0.6, 1.8]
    yield "transfer_coefficient", transferred, [*start, 0.3, -0.1, 0.2, 0.1, -0.2, 0.15]
    yield "pca_torsion", lambda x: bets.pca_torsion(covariance(x)).to_numpy(), start
    yield "minimum_torsion", lambda x: bets.minimum_torsion(covariance(x)).to_numpy(), start


@package("numba-stats", "distributions")
def numba_stats() -> Iterator[Case]:
    m, expon = module("numba_stats.norm"), module("numba_stats.expon")
    cruijff, uniform = module("numba_stats.cruijff"), module("numba_stats.bernstein")
    yield "norm.logpdf", lambda x: m.logpdf(x[:6], x[6], x[7]), SERIES[:8]
    yield "expon.cdf", lambda x: expon.cdf(x[:6], 0.5, x[6]), SERIES[:7]
    yield "cruijff.density", lambda x: cruijff.density(x[:6], *x[6:]), [
        *SERIES[:6], 3.3, 1.2, 0.9, 0.1, 0.2,
    ]  # fmt: skip
    yield "bernstein.density", lambda x: uniform.density(x[:6], x[6:], 0.0, 9.0), SERIES


@package("pylinalg", "linear algebra of scenes")
def pylinalg() -> Iterator[Case]:
    m = module("pylinalg")

    def placed(x: Any) -> Any:
        turn = m.quat_from_euler(x[:3])
        return m.vec_transform(x[9:].reshape(3, 3), m.mat_compose(x[3:6], turn, x[6:9]))

    yield "mat_compose", placed, [0.3, -0.2, 0.5, 1.0, 2.0, 3.0, 1.1, 0.9, 1.3, *SERIES[:9]]
    yield "mat_decompose", lambda x: m.mat_decompose(
        np.concatenate([x.reshape(3, 4), np.array([[0.0, 0.0, 0.0, 1.0]])])
    ), [1.2, 0.1, -0.3, 0.5, 0.2, 0.9, 0.1, 1.5, -0.1, 0.3, 1.4, 2.5]  # fmt: skip
    yield "mat_look_at", lambda x: m.mat_look_at(x[:3], x[3:6], x[6:]), [
        0.1, 0.5, 2.0, 1.3, -0.4, 0.2, 0.1, 1.0, 0.2,
    ]  # fmt: skip
    yield "vec_unproject", lambda x: m.vec_unproject(
        x[:2], m.mat_perspective(-1.0, 1.0, 0.7, -0.7, *x[2:4]), depth=x[4]
    ), [0.3, -0.2, 0.5, 9.0, 0.4]  # fmt: skip
    yield "quat_from_vecs", lambda x: m.quat_from_vecs(x[:3], x[3:]), SERIES[:6]


@package("pyjanitor", "tables")
def pyjanitor() -> Iterator[Case]:
    module("janitor")
    pandas = module("pandas")

    def table(x: Any) -> Any:
        return pandas.DataFrame({"a": x[:6], "b": x[6:12], "kind": ["u", "v", "w"] * 2})

    yield "min_max_scale", lambda x: table(x).min_max_scale(column_name="a")["a"].to_numpy(), SERIES
    yield "groupby_agg", lambda x: table(x).groupby_agg(
        by="kind", agg="mean", agg_column_name="b", new_column_name="m"
    )["m"].to_numpy(), SERIES  # fmt: skip
    yield "transform_column", lambda x: table(x).transform_column(
        "a", np.log, dest_column_name="c"
    )["c"].to_numpy(), SERIES  # fmt: skip


@package("quaccatoo", "colour centres")
def quaccatoo() -> Iterator[Case]:
    m = module("quaccatoo.analysis.fit_functions")
    shapes = module("quaccatoo.pulsed_sim.pulse_shapes")
    times = np.linspace(0.1, 3.0, 7)
    yield "fit_rabi_decay", lambda x: m.fit_rabi_decay(times, *x), [0.5, 1.3, 0.2, 0.4, 2.0]
    yield "fit_sinc2", lambda x: m.fit_sinc2(times, *x), [0.4, 0.7, 1.2, 0.9]
    yield "fit_two_lorentz", lambda x: m.fit_two_lorentz(times, *x), [
        0.4, 0.3, 0.7, 0.5, 1.2, 1.9, 1.0,
    ]  # fmt: skip
    yield "gaussian_pulse", lambda x: shapes.gaussian_pulse(
        times, f_pulse=x[0], phi_t=x[1], t_mid=x[2], sigma=x[3]
    ), [0.8, 0.3, 1.4, 0.6]  # fmt: skip


@package("torque-utils", "torque of muscles")
def torque_utils() -> Iterator[Case]:
    m, signals = module("torque_utils.statscalc"), module("torque_utils.sigproc")
    yield "CCC", lambda x: m.CCC(x[:12], x[12:]), LONG
    yield "bland_altman_metrics", lambda x: m.bland_altman_metrics(
        x[:12], x[12:]
    ).to_numpy(), LONG  # fmt: skip
    yield "RMS", signals.RMS, SERIES


@package("pycel", "formulas of spreadsheets")
def pycel() -> Iterator[Case]:
    m, stats = module("pycel.excellib"), module("pycel.lib.stats")

    def rows(x: Any) -> Any:
        return tuple((one,) for one in x)

    yield "npv", lambda x: m.npv(0.1 * x[0], *x[1:]), SERIES[:6]
    yield "pv", spread(m.pv), [0.05, 12.0, 100.0, 20.0]
    yield "sumproduct", lambda x: m.sumproduct(rows(x[:6]), rows(x[6:])), SERIES
    yield "slope", lambda x: stats.slope(rows(x[:6]), rows(x[6:])), SERIES
    yield "forecast", lambda x: stats.forecast(x[12], rows(x[:6]), rows(x[6:12])), [*SERIES, 3.3]


@package("wfdb", "physiological signals")
def wfdb() -> Iterator[Case]:
    m = module("wfdb.processing")
    yield "normalize_bound", lambda x: m.normalize_bound(x, -1.0, 2.0), SERIES
    yield "smooth", lambda x: m.basic.smooth(x, 3), SERIES
    yield "resample_sig", lambda x: m.resample_sig(x, 12.0, 30.0)[0], SERIES


@package("pysd", "system dynamics")
def pysd() -> Iterator[Case]:
    m, tables = module("pysd.py_backend.functions"), module("pysd.py_backend.lookups")
    states, xarray = module("pysd.py_backend.statefuls"), module("xarray")

    def level(x: Any) -> Any:
        stock: Any = None
        stock = states.Integ(lambda: x[0] - x[1] * stock.state, lambda: x[2], "stock")
        stock.initialize()
        for _ in range(6):
            stock.update(stock.state + 0.25 * stock.ddt())
        return [stock.state, m.xidz(x[0], stock.state, 1.0)]

    def looked(x: Any) -> Any:
        made = tables.HardcodedLookups([0.0, 1.0, 2.5], x[:3], {}, "interpolate", {}, "made")
        made.initialize()
        return [made(x[3]), made(x[4])]

    def chosen(x: Any) -> Any:
        chooser = xarray.DataArray([0.0, 1.0, 1.0], {"d": ["a", "b", "c"]}, ["d"])
        values = xarray.DataArray(x, {"d": ["a", "b", "c"]}, ["d"])
        return [m.vector_select(chooser, values, ["d"], 0.0, 0, 0), m.prod(values, ("d",))]

    yield "Integ", level, [2.0, 0.7, 1.2]
    yield "HardcodedLookups", looked, [1.0, 3.0, 2.0, 0.4, 1.9]
    yield "vector_select", chosen, [1.0, 3.0, 2.0]
    yield "ramp", lambda x: m.ramp(lambda: x[0], x[1], x[2]), [4.0, 0.6, 1.5]


@package("pycustomfocus", "focused light")
def pycustomfocus() -> Iterator[Case]:
    m, profile = (
        module("PyFocus.equations.complex_quadrature"),
        module("PyFocus.equations.gaussian_profile"),
    )

    def focus(x: Any) -> Any:
        shape = profile.gaussian_theta(x[0], x[1])

        def wave(t: Any) -> Any:
            return shape(t) * np.sqrt(np.cos(t)) * np.sin(t) * np.exp(1j * x[2] * np.cos(t))

        found = m.complex_quadrature(wave, 0.0, x[3])[0]
        return np.reshape(found, (1,))

    yield "complex_quadrature", focus, [3.0, 2.0, 4.0, 1.1]


@package("elaston", "elasticity")
def elaston() -> Iterator[Case]:
    m, green = module("elaston.elastic_constants"), module("elaston.green")
    slip = module("elaston.dislocation")
    tensor = module("elaston.tools")

    def cubic(x: Any) -> Any:
        return m.get_elastic_tensor_from_tensor(C_11=x[0], C_12=x[1], C_44=x[2])

    def averages(x: Any) -> Any:
        made = cubic(x)
        return [*m.get_voigt_average(made).values(), *m.get_reuss_average(made).values()]

    def response(x: Any) -> Any:
        made = tensor.C_from_voigt(cubic(x))
        return green.get_greens_function(made, x[3:].reshape(2, 3), optimize=False)

    def displaced(x: Any) -> Any:
        made = tensor.C_from_voigt(cubic(x))
        return slip.get_dislocation_displacement(made, x[3:9].reshape(2, 3), x[9:])

    start = [5.0, 3.1, 1.6]
    yield "get_voigt_average", averages, start
    yield "get_greens_function", response, [*start, 1.0, 0.4, -0.3, 0.2, 1.3, 0.6]
    yield "get_dislocation_displacement", displaced, [
        *start, 1.0, 0.4, -0.3, 0.2, 1.3, 0.6, 0.3, 0.1, 0.7,
    ]  # fmt: skip


@package("qiskit-experiments", "experiments with qubits")
def qiskit_experiments() -> Iterator[Case]:
    m = module("qiskit_experiments.curve_analysis.fit_function")
    times = np.linspace(0.1, 3.0, 7)
    yield "cos_decay", lambda x: m.cos_decay(times, *x), [0.6, 1.4, 0.8, 0.3, 0.2]
    yield "gaussian", lambda x: m.gaussian(times, *x), [0.6, 0.7, 1.2, 0.1]
    yield "exponential_decay", lambda x: m.exponential_decay(times, *x), [0.8, 0.5, 1.2, 0.1, 0.3]


@package("insurance-dispersion", "double linear models")
def insurance_dispersion() -> Iterator[Case]:
    m, fitting = module("insurance_dispersion.families"), module("insurance_dispersion.fitting")
    design = np.stack([np.ones(12), np.cos(1.7 * np.arange(12.0))], axis=1)
    shape = np.stack([np.ones(12), np.sin(2.3 * np.arange(12.0))], axis=1)

    def fitted(x: Any) -> Any:
        found = fitting.dglm_fit(m.Gamma(), design, shape, x, maxit=60, epsilon=1e-12)
        return [found.beta, found.alpha]

    yield "dglm_fit", fitted, SERIES
    yield "InverseGaussian.log_likelihood", lambda x: m.InverseGaussian().log_likelihood(
        x[:4], x[4:8], x[8:]
    ), SERIES  # fmt: skip
    yield "Gamma.deviance_resid", lambda x: m.Gamma().deviance_resid(x[:6], x[6:]), SERIES


@package("baycomp", "comparison of classifiers")
def baycomp() -> Iterator[Case]:
    m = module("baycomp")
    yield "CorrelatedTTest.probs", lambda x: m.CorrelatedTTest.probs(x[:12], x[12:], 0.4), LONG
    yield "two_on_single", lambda x: m.two_on_single(x[:12], x[12:], runs=2), LONG


@package("probabilit", "Monte Carlo sampling")
def probabilit() -> Iterator[Case]:
    m = module("probabilit.correlation")
    target = np.array([[1.0, 0.6], [0.6, 1.0]])
    yield "Cholesky", lambda x: m.Cholesky().set_target(target)(x.reshape(12, 2)), LONG
    yield "ImanConover", lambda x: m.ImanConover().set_target(target)(x.reshape(12, 2)), LONG
    yield "decorrelate", lambda x: m.decorrelate(x.reshape(12, 2)), LONG


@package("beamtools", "optical beams")
def beamtools() -> Iterator[Case]:
    m, profile = module("beamtools.common"), module("beamtools.beam_profile")
    times, mesh = np.linspace(0.0, 1.5, 7), np.meshgrid(np.arange(4.0), np.arange(3.0))

    def decay(x: Any) -> Any:
        def slope(t: Any, y: Any, a: Any, b: Any) -> Any:
            return a * y - b * t * y**2

        return m.rk4(slope, times, x[0], [x[1], x[2]])

    yield "rk4", decay, [1.3, -0.4, 0.3]
    yield "gaussian2D", lambda x: m.gaussian2D(mesh, *x), [1.2, 0.8, 1.5, 0.9, 2.0, 0.1, 0.4]
    yield "gaussian_beamwaist", lambda x: profile.gaussian_beamwaist(x[:4], *x[4:]), [
        0.1, 0.3, 0.5, 0.9, 0.4, 80.0, 1.2,
    ]  # fmt: skip
    yield "calculate_2D_moments", lambda x: profile.calculate_2D_moments(x.reshape(4, 6)), LONG


@package("betacal", "calibration of probabilities")
def betacal() -> Iterator[Case]:
    m = module("betacal")
    scores = 0.5 + 0.4 * np.cos(1.7 * np.arange(30.0))
    truths = (scores + 0.3 * np.cos(2.9 * np.arange(30.0)) > 0.5).astype(int)

    def calibrated(kind: str) -> Callable[[Any], Any]:
        return lambda x: m.BetaCalibration(parameters=kind).fit(scores, truths).predict(x)

    yield "abm", calibrated("abm"), [0.2, 0.4, 0.7, 0.9]
    yield "am", calibrated("am"), [0.2, 0.4, 0.7, 0.9]


@package("motmetrics", "tracking of objects")
def motmetrics() -> Iterator[Case]:
    m = module("motmetrics.distances")
    yield "norm2squared_matrix", lambda x: m.norm2squared_matrix(
        x[:12].reshape(6, 2), x[12:].reshape(6, 2)
    ), LONG  # fmt: skip
    yield "boxiou", lambda x: m.boxiou(x[:12].reshape(3, 4), x[12:].reshape(3, 4)), LONG


@package("phik", "correlation of any variables")
def phik() -> Iterator[Case]:
    m, beta = module("phik.bivariate"), module("phik.betainc")
    yield "incompbeta", spread(beta.incompbeta), [2.3, 3.1, 0.3]
    yield "log_incompbeta", spread(beta.log_incompbeta), [2.3, 3.1, 0.7]
    yield "chi2_from_phik", lambda x: m.chi2_from_phik(x[0], 100, nx=4, ny=3), [0.4]


@package("pyrisklib", "credit risk")
def pyrisklib() -> Iterator[Case]:
    m = module("pyrisklib.credit_risk.basel_irb_capital_requirements")
    chances = [0.01, 0.03, 0.004]

    def capital(x: Any) -> Any:
        related = m.IRBAAssetCorrelation().corporate(x[3:6])
        made = m.IRBACapitalRequirement(x[:3], x[3:6], x[6:9], x[9:], related)
        return made.capital_requirement()

    yield "sme", lambda x: m.IRBAAssetCorrelation().sme(x[:3], x[3:]), [*chances, 12.0, 30.0, 41.0]
    yield "capital_requirement", capital, [
        10.0, 25.0, 7.0, *chances, 0.45, 0.3, 0.6, 2.5, 4.0, 1.5,
    ]  # fmt: skip


@package("hierarchicalforecast", "forecasts of sums")
def hierarchicalforecast() -> Iterator[Case]:
    m = module("hierarchicalforecast.methods")
    sums = np.array([[1.0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    bottom = {"total": np.array([0]), "group": np.array([1, 2]), "bottom": np.array([3, 4, 5])}

    def bottom_up(x: Any) -> Any:
        return m.BottomUp().fit_predict(sums, x.reshape(6, 2))["mean"]

    def least(x: Any) -> Any:
        return m.MinTrace("ols").fit_predict(sums, x.reshape(6, 2))["mean"]

    def scaled(x: Any) -> Any:
        seen, fitted = x[12:36].reshape(6, 4), x[36:].reshape(6, 4)
        made = m.MinTrace("wls_var")
        return made.fit_predict(sums, x[:12].reshape(6, 2), seen, fitted, tags=bottom)["mean"]

    yield "BottomUp", bottom_up, SERIES
    yield "MinTrace, ols", least, SERIES
    yield "MinTrace, wls_var", scaled, [*SERIES, *LONG, *(0.9 * one + 0.3 for one in LONG[::-1])]


@package("tranquilo", "trust regions")
def tranquilo() -> Iterator[Case]:
    cg = module("tranquilo.subsolvers._conjugate_gradient")

    def solved(x: Any) -> Any:
        a = x[3:].reshape(3, 3)
        return cg.minimize_trust_cg(x[:3], a @ a.T + np.eye(3), 0.4)

    yield "minimize_trust_cg", solved, [0.7, -0.3, 0.5, *SERIES[:9]]


@package("lpbkg", "signals over backgrounds")
def lpbkg() -> Iterator[Case]:
    m = module("LPBkg.detc")
    yield "Legj", lambda x: m.Legj(0.1 * x, 3), SERIES[:5]
    yield "denoise", lambda x: m.denoise(np.array(x), 4, "AIC"), SERIES[:6]


@package("calkulate", "alkalinity of the sea")
def calkulate() -> Iterator[Case]:
    m, density = module("calkulate.core"), module("calkulate.density")
    convert = module("calkulate.convert")
    grams = np.linspace(1.5e-3, 2.6e-3, 8)
    volts = [400.0, 430.0, 455.0, 470.0, 480.0, 487.0, 493.0, 498.0]
    yield "gran_alkalinity", lambda x: m.gran_alkalinity(grams, x, 25.0, 0.2, 0.15)[0] * 1e3, volts
    yield "seawater_1atm_MP81", spread(density.seawater_1atm_MP81), [14.0, 33.0]
    yield (
        "emf_to_pH",
        lambda x: convert.emf_to_pH(x[:3], x[3], x[4]),
        [400.0, 450.0, 480.0, 660.0, 21.0],
    )


@package("coordinatesconverter", "coordinates of maps")
def coordinates_converter() -> Iterator[Case]:
    m = module("CoordinatesConverter")
    yield "wgs84togcj02", spread(m.wgs84togcj02), [116.4, 39.9]
    yield "getdistance", spread(m.getdistance), [116.4, 39.9, 117.1, 38.2]


@package("causal-learn", "causes")
def causal_learn() -> Iterator[Case]:
    kernels, scores = module("causallearn.utils.KCI.KCI"), module("causallearn.utils.ScoreUtils")
    local = module("causallearn.score.LocalScoreFunction")

    def score(x: Any) -> Any:
        made = local.local_score_BIC(np.asarray(x).reshape(12, 2), 0, [1])
        return np.reshape(np.asarray(made), (1,))

    yield "GaussianKernel.kernel", lambda x: kernels.GaussianKernel(1.5).kernel(
        x[:12].reshape(4, 3), x[12:].reshape(4, 3)
    ), LONG  # fmt: skip
    yield (
        "pdinv",
        lambda x: scores.pdinv(x.reshape(3, 3) @ x.reshape(3, 3).T + np.eye(3)),
        SERIES[:9],
    )
    yield "local_score_BIC", score, LONG


@package("analphipy", "pair potentials")
def analphipy() -> Iterator[Case]:
    m, measures = module("analphipy.potential"), module("analphipy.measures")

    def virial(x: Any) -> Any:
        made = m.Yukawa(z=x[0], sig=1.0, eps=x[1])
        return measures.secondvirial(made.phi, x[2], [0.0, 1.0, 30.0])

    yield "LennardJones.phi", lambda x: m.LennardJones(sig=x[0], eps=x[1]).phi(x[2:]), [
        1.1, 0.7, 1.2, 1.5, 2.1,
    ]  # fmt: skip
    yield "LennardJonesNM.dphidr", lambda x: m.LennardJonesNM(
        n=10, m=5, sig=x[0], eps=x[1]
    ).dphidr(x[2:]), [1.1, 0.7, 1.2, 1.5, 2.1]  # fmt: skip
    yield "secondvirial", virial, [1.3, 0.7, 0.9]


@package("utilsforecast", "losses of forecasts")
def utilsforecast() -> Iterator[Case]:
    m, pandas = module("utilsforecast.losses"), module("pandas")

    def table(x: Any) -> Any:
        return pandas.DataFrame(
            {"unique_id": ["a"] * 6 + ["b"] * 6, "ds": [*range(6)] * 2, "y": x[:12], "m": x[12:]}
        )

    yield "rmse", lambda x: m.rmse(table(x), ["m"])["m"].to_numpy(), LONG
    yield "smape", lambda x: m.smape(table(x), ["m"])["m"].to_numpy(), LONG
    yield "linex", lambda x: m.linex(table(0.1 * x), ["m"])["m"].to_numpy(), LONG


@package("feature-engine", "features of tables")
def feature_engine() -> Iterator[Case]:
    m, pandas = module("feature_engine.transformation"), module("pandas")
    creation = module("feature_engine.creation")

    def table(x: Any) -> Any:
        return pandas.DataFrame({"a": x[:6], "b": x[6:]})

    def logs(x: Any) -> Any:
        return m.LogTransformer().fit_transform(table(x)).to_numpy()

    def ratios(x: Any) -> Any:
        made = creation.RelativeFeatures(variables=["a"], reference=["b"], func=["div", "sub"])
        return made.fit_transform(table(x)).to_numpy()

    def sums(x: Any) -> Any:
        made = creation.MathFeatures(variables=["a", "b"], func=["mean", "std"])
        return made.fit_transform(table(x)).to_numpy()

    yield "LogTransformer", logs, SERIES
    yield "RelativeFeatures", ratios, SERIES
    yield "MathFeatures", sums, SERIES


@package("volstats", "volatility")
def volstats() -> Iterator[Case]:
    m, pandas = module("volstats"), module("pandas")

    def table(x: Any) -> Any:
        low = 10.0 + np.cos(np.arange(6.0))
        first, last = low + 0.2 * x[:6], low + 0.2 * x[6:]
        high = np.maximum(first, last) + 0.3
        return pandas.DataFrame({"Open": first, "High": high, "Low": low, "Close": last})

    yield "parkinson_vol", lambda x: m.parkinson_vol(table(x)), SERIES
    yield "garman_klass_vol", lambda x: m.garman_klass_vol(table(x)), SERIES
    yield "yang_zhang_vol", lambda x: m.yang_zhang_vol(table(x)), SERIES


@package("bhuvanesh-aerospace-controls", "control of drones")
def aerospace() -> Iterator[Case]:
    m, simulation = module("bhuvanesh.controllers"), module("bhuvanesh.simulation")
    models = module("bhuvanesh.models")

    def held(x: Any) -> Any:
        plant = models.DroneAttitudePlant(
            inertia=x[3], damping=x[4], max_torque=50.0, max_torque_rate=None, angle=0.1
        )
        controller = m.PIDController(x[0], x[1], x[2])
        return simulation.simulate_attitude_hold(
            plant, controller, target_degrees=3.0, duration=0.3
        ).angle

    yield "simulate_attitude_hold", held, [1.2, 0.3, 0.4, 0.05, 0.1]


@package("tparton", "distributions of partons")
def tparton() -> Iterator[Case]:
    m = module("tparton.t_evolution")

    def evolved(x: Any) -> Any:
        places = np.linspace(0.0, 1.0, 9)
        start = np.stack([places, np.concatenate([np.zeros(1), x, np.zeros(1)])], axis=1)
        return m.evolve(start, Q0_2=1.0, Q2=4.0, n_t=3, n_z=12, alpha_num=False)

    yield "evolve", evolved, [0.3, 0.5, 0.6, 0.5, 0.4, 0.2, 0.1]
    yield "splitting", lambda x: m.splitting(x, 4 / 3, 1, 1, 3.0, 0.5), [0.2, 0.5, 0.8]


@package("xro", "El Niño")
def xro() -> Iterator[Case]:
    m = module("XRO.core")
    yield "gradient", lambda x: m.gradient(x.reshape(2, 12), is_forward=False), LONG


@package("time-rescale", "spikes of neurons")
def time_rescale() -> Iterator[Case]:
    m = module("time_rescale.core")
    spikes = np.isin(np.arange(24), [3, 4, 9, 14, 20])
    yield "uniform_rescaled_ISIs", lambda x: m.uniform_rescaled_ISIs(0.1 * x, spikes), LONG
    yield "uniform_rescaled_ISIs, plain", lambda x: m.uniform_rescaled_ISIs(
        0.1 * x, spikes, adjust_for_short_trials=False
    ), LONG  # fmt: skip


@package("itemresponsecalc", "questionnaires")
def itemresponsecalc() -> Iterator[Case]:
    m = module("ItemResponseCalc.gamma")
    yield "GammaRV.logpdf", lambda x: m.GammaRV(x[:3], x[3:6]).logpdf(x[6:].reshape(2, 3)), SERIES
    yield "GammaRV.relative_entropy", lambda x: m.GammaRV(x[:3], x[3:6]).relative_entropy(
        m.GammaRV(x[6:9], x[9:])
    ), SERIES  # fmt: skip
    yield "GammaRV.mean_inv", lambda x: m.GammaRV(x[:3], x[3:]).mean_inv, SERIES[:6]


@package("pyquil", "quantum programs")
def pyquil() -> Iterator[Case]:
    m = module("pyquil.simulation")
    matrices, paulis = module("pyquil.simulation.matrices"), module("pyquil.paulis")

    def energy(x: Any) -> Any:
        simulator = m.NumpyWavefunctionSimulator(2)
        simulator.do_gate_matrix(matrices.RX(x[0]), [0])
        simulator.do_gate_matrix(matrices.RY(x[1]), [1])
        simulator.do_gate_matrix(matrices.CPHASE(x[2]), [0, 1])
        return np.real(simulator.expectation(paulis.sZ(0) * paulis.sX(1) + 0.5 * paulis.sY(0)))

    yield "NumpyWavefunctionSimulator", energy, [0.4, 0.9, 1.3]
    yield "FSIM", spread(matrices.FSIM), [0.4, 0.9]
    yield "RXX", spread(matrices.RXX), [0.4]


@package("nateeganmathpackagelinfinnum", "finance")
def nateegan() -> Iterator[Case]:
    m = module("nateeganmathpackagelinfinnum.finance")
    yield "present_value", spread(m.present_value), [100.0, 0.05, 7.0]
    yield "portfolio_value", lambda x: m.portfolio_value(list(x[:6]), list(x[6:])), SERIES


@package("momlevel", "sea level")
def momlevel() -> Iterator[Case]:
    m, xarray = module("momlevel"), module("xarray")
    wright = module("momlevel.eos.wright")
    depths = {"z_l": [5.0, 15.0, 30.0, 60.0]}

    def stability(x: Any) -> Any:
        heat = xarray.DataArray(20.0 - x[:4], depths, ["z_l"])
        salt = xarray.DataArray(33.0 + 0.1 * x[4:], depths, ["z_l"])
        return 1e5 * m.derived.calc_n2(heat, salt).fillna(0.0).values

    yield "calc_n2", stability, [1.0, 2.5, 4.0, 7.0, 1.0, 4.0, 5.0, 9.0]
    yield "wright.density", lambda x: wright.density(x[:2], x[2:4] + 30.0, 1e5 * x[4:]), SERIES[:6]
    yield (
        "wright.alpha",
        lambda x: 1e4 * wright.alpha(x[:2], x[2:4] + 30.0, 1e5 * x[4:]),
        SERIES[:6],
    )


@package("skpro", "probabilistic prediction")
def skpro() -> Iterator[Case]:
    m = module("skpro.distributions")
    values = [0.4, 1.2, 0.7, 0.9, 1.3, 0.8]
    yield "Normal.log_pdf", lambda x: m.Normal(mu=x[0], sigma=x[1]).log_pdf(x[2]), values[:3]
    yield "Normal.cdf", lambda x: m.Normal(
        mu=x[:2].reshape(2, 1), sigma=x[2:4].reshape(2, 1)
    ).cdf(x[4:].reshape(2, 1)), values  # fmt: skip
    yield "Weibull.pdf", lambda x: m.Weibull(scale=x[0], k=x[1]).pdf(x[2]), values[:3]
    yield "Laplace.energy", lambda x: m.Laplace(mu=x[0], scale=x[1]).energy(x[2]), values[:3]
