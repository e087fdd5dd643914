"""A fourteenth sample, written down on 2026-11-29, before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .functions import Sample, module, spread
from .later import WAVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

FOURTEENTH = Sample()
package = FOURTEENTH.package
PRICES = [10.0, 10.7, 10.2, 11.1, 11.9, 11.3, 12.4, 12.1]


@package("geokernels", "geostatistics")
def geokernels() -> Iterator[Case]:
    geodesics = module("geokernels.geodesics")
    places = [48.1, 11.5, 52.5, 13.4]
    yield "geodesic_vincenty", lambda x: geodesics.geodesic_vincenty(x[:2], x[2:]), places


@package("hydrostats", "hydrology")
def hydrostats() -> Iterator[Case]:
    m = module("hydrostats.ens_metrics")
    observed, members = np.array([1.2, 2.3, 0.7]), [1.1, 1.6, 2.0, 2.7, 0.9, 0.3]

    def scored(name: str) -> Callable[[Any], Any]:
        return lambda x: getattr(m, name)(observed, x.reshape(3, 2))

    for name in ("ens_mse", "ens_rmse", "ens_pearson_r"):
        yield name, scored(name), members
    yield "ens_crps", lambda x: m.ens_crps(observed, x.reshape(3, 2), llvm=False)["crps"], members


@package("pyequion", "chemical equilibria")
def pyequion() -> Iterator[Case]:
    gases, activities = module("pyequion.PengRobinson"), module("pyequion.activity_coefficients")
    conductivity = module("pyequion.conductivity")
    yield "fugacidade", spread(gases.fugacidade), [310.0, 20.0, 304.2, 73.82, 0.239]
    yield "b_dot_equation", spread(activities.b_dot_equation), [0.2, 0.51, 0.33, 3.8, 0.06, 2.0]
    yield "solution_conductivity", lambda x: conductivity.solution_conductivity(
        x[0], x[1:3], x[3:5], np.array([1.0, -1.0]), np.array([0.005, 0.0076])
    ), [0.1, 0.8, 0.75, 0.1, 0.1]  # fmt: skip


@package("hoggorm", "chemometrics")
def hoggorm() -> Iterator[Case]:
    correlations, tools = module("hoggorm.mat_corr_coeff"), module("hoggorm.statTools")

    def tables(x: Any) -> list[Any]:
        return [x[:6].reshape(3, 2), x[6:].reshape(3, 2)]

    numbers = [1.0, 0.3, -0.7, 0.5, 0.4, -1.2, 0.6, 1.1, -0.2, 0.9, 1.3, -0.8]
    yield "RVcoeff", lambda x: correlations.RVcoeff(tables(x)), numbers
    yield "RV2coeff", lambda x: correlations.RV2coeff(tables(x)), numbers
    yield "standardise", lambda x: tools.standardise(x.reshape(6, 2)), numbers
    yield "ortho", lambda x: tools.ortho(*tables(x)), numbers


@package("pypme", "private equity")
def pypme() -> Iterator[Case]:
    m = module("pypme.pme")
    point = [-100.0, -50.0, 60.0, 1.0, 1.1, 1.2, 1.3, 1.0, 1.05, 1.2, 1.1]
    yield "pme", lambda x: m.pme(x[:3], x[3:7], x[7:]), point


@package("finta", "technical analysis")
def finta() -> Iterator[Case]:
    indicators, pandas = module("finta").TA, module("pandas")

    def bars(x: Any) -> Any:
        return pandas.DataFrame({"open": x, "high": x + 1, "low": x - 1, "close": x})

    def of_bars(name: str, *period: int) -> Callable[[Any], Any]:
        return lambda x: getattr(indicators, name)(bars(x), *period).dropna().to_numpy()

    for name in ("SMA", "EMA", "ROC", "MOM", "HMA"):
        yield name, of_bars(name, 3), PRICES
    yield "TR", of_bars("TR"), PRICES


@package("svg.path", "vector graphics")
def svg_path() -> Iterator[Case]:
    m = module("svg.path.path")

    def complexes(x: Any) -> list[Any]:
        return [complex(x[k], x[k + 1]) for k in range(0, len(x), 2)]

    curve = [0.0, 0.1, 1.0, 2.0, 3.0, -1.0, 4.0, 1.0]
    yield "CubicBezier.point", lambda x: m.CubicBezier(*complexes(x)).point(0.3), curve
    yield "CubicBezier.tangent", lambda x: m.CubicBezier(*complexes(x)).tangent(0.3), curve
    yield "QuadraticBezier.length", lambda x: m.QuadraticBezier(*complexes(x)).length(), curve[:6]
    yield "Line.length", lambda x: m.Line(*complexes(x)).length(), curve[:4]


@package("vnoise", "procedural noise")
def vnoise() -> Iterator[Case]:
    noise = module("vnoise").Noise(3)
    yield "noise1", lambda x: noise.noise1(x[0]), [0.37]
    yield "noise2", lambda x: noise.noise2(x[0], x[1]), [0.37, 1.62]
    yield "noise3", lambda x: noise.noise3(*x, octaves=2), [0.37, 1.62, 2.21]


@package("ewtpy", "empirical wavelets")
def ewtpy() -> Iterator[Case]:
    m = module("ewtpy.ewtpy")
    yield "EWT_beta", lambda x: [m.EWT_beta(one) for one in x], [0.2, 0.6]
    yield "EWT1D", lambda x: m.EWT1D(x, N=2)[0], [*WAVE[:16]]
    yield "EWT_Meyer_Wavelet", lambda x: m.EWT_Meyer_Wavelet(x[0], x[1], 0.1, 24), [0.9, 1.9]


@package("toppra", "trajectories")
def toppra() -> Iterator[Case]:
    m, simple = module("toppra.interpolator"), module("toppra.simplepath")
    knots = np.array([0.0, 0.5, 1.2, 2.0])
    times = np.linspace(0.1, 1.9, 5)
    numbers = [0.1, 0.7, -0.3, 0.9]
    yield "SplineInterpolator", lambda x: m.SplineInterpolator(knots, x[:, None])(times), numbers
    yield "PolynomialPath", lambda x: m.PolynomialPath(x.reshape(2, 2))(times), numbers
    yield "SimplePath", lambda x: simple.SimplePath(knots, x[:, None])(times), numbers


@package("gpxpy", "tracks")
def gpxpy() -> Iterator[Case]:
    m = module("gpxpy.geo")
    places = [47.1, 8.2, 47.4, 8.9]
    yield "haversine_distance", spread(m.haversine_distance), places
    yield "get_course", spread(m.get_course), places
    yield "distance_from_line", lambda x: m.distance_from_line(
        *(m.Location(x[k], x[k + 1]) for k in (0, 2, 4))
    ), [47.11, 8.21, 47.1, 8.2, 47.13, 8.26]  # fmt: skip


@package("localreg", "local regression")
def localreg() -> Iterator[Case]:
    kernels = module("localreg.rbf")
    yield "tricube", kernels.tricube, [0.2, -0.5]


@package("mechmean", "mean fields of materials")
def mechmean() -> Iterator[Case]:
    fabric = module("mechmean.fabric_tensors")
    yield "first_kind_discrete", lambda x: fabric.first_kind_discrete(x.reshape(2, 3), order=2), [
        0.6, 0.8, 0.1, 0.2, 0.5, 0.7,
    ]  # fmt: skip


@package("koma-python", "operational modal analysis")
def koma() -> Iterator[Case]:
    m = module("koma.modal")
    modes = [1.0, 0.4, 0.6, -0.9, 0.2, 1.1]
    yield "mac", lambda x: m.mac(x[:3], x[3:]), modes
    yield "xmacmat", lambda x: m.xmacmat(x.reshape(3, 2)), modes
    yield "normalize_phi", lambda x: m.normalize_phi(x.reshape(3, 2))[0], modes
    yield "mpc", lambda x: m.mpc(x.reshape(3, 2) + 0.3j * x.reshape(3, 2) ** 2), modes


@package("optproblems", "test functions")
def optproblems() -> Iterator[Case]:
    m = module("optproblems.continuous")
    yield "branin", m.branin, [1.2, 2.3]
    yield "goldstein_price", m.goldstein_price, [0.3, -0.4]
    yield "ackley", m.ackley, [0.3, -0.4, 0.8]
    yield "Hartman6", lambda x: m.Hartman6().objective_function(x), [0.2, 0.1, 0.4, 0.3, 0.3, 0.6]
    yield "Shekel", lambda x: m.Shekel(5).objective_function(x), [3.0, 4.4, 5.1, 3.7]


@package("pythonperlin", "procedural noise")
def pythonperlin() -> Iterator[Case]:
    m = module("pythonperlin.perlin")
    yield "smootherstep", m.smootherstep, [0.2, 0.7]
    yield "extend2d", lambda x: m.extend2d(x.reshape(2, 3), n=1), [0.2, 0.7, 1.1, 0.4, 0.9, 1.6]


@package("flightcondition", "aerodynamics")
def flightcondition() -> Iterator[Case]:
    flow = module("flightcondition.isentropicflow").IsentropicFlow
    shock = module("flightcondition.normalshock").NormalShock
    for name in ("p0_by_p", "T0_by_T"):
        yield name, spread(getattr(flow, name)), [1.7, 1.38]
    for name in ("M2", "p2_by_p1", "p02_by_p01"):
        yield name, spread(getattr(shock, name)), [1.7, 1.38]


@package("pyesg", "economic scenarios")
def pyesg() -> Iterator[Case]:
    m = module("pyesg")
    terms, rates = np.array([1.0, 2.0, 5.0, 10.0, 20.0]), [0.01, 0.014, 0.021, 0.026, 0.029]
    yield "NelsonSiegelInterpolator", lambda x: m.NelsonSiegelInterpolator(tau=2.0).fit(
        terms, x
    ).predict(np.array([3.0, 7.0])), rates  # fmt: skip
    yield "CoxIngersollRossProcess", lambda x: m.CoxIngersollRossProcess(*x[:3]).drift(x[3:]), [
        0.05, 0.1, 0.4, 0.03,
    ]  # fmt: skip
    yield "HestonProcess", lambda x: m.HestonProcess(*x[:5]).diffusion(x[5:]), [
        0.05, 0.1, 0.8, 0.3, 0.5, 1.2, 0.09,
    ]  # fmt: skip


@package("skelo", "ratings")
def skelo() -> Iterator[Case]:
    elo, glicko = module("skelo.model.elo"), module("skelo.model.glicko2")
    yield "EloModel", lambda x: elo.EloModel().evolve_rating(x[0], x[1], 1), [1500.0, 1600.0]
    yield "Elo compute_prob", lambda x: elo.EloModel.compute_prob(x[0], x[1]), [1500.0, 1600.0]
    yield "Glicko2Model", lambda x: glicko.Glicko2Model().evolve_rating(
        (x[0], x[1], 0.06), (x[2], x[3], 0.06), 1
    ), [1500.0, 200.0, 1600.0, 150.0]  # fmt: skip


@package("pyphysim", "digital communications")
def pyphysim() -> Iterator[Case]:
    misc, loss = module("pyphysim.util.misc"), module("pyphysim.channels.pathloss")
    filling = module("pyphysim.comm.waterfilling")
    yield "qfunc", misc.qfunc, [0.3, 1.2]
    yield "calc_autocorr", misc.calc_autocorr, PRICES
    yield "update_inv_sum_diag", lambda x: misc.update_inv_sum_diag(
        np.linalg.inv(x[:4].reshape(2, 2)), x[4:]
    ), [2.0, 0.3, 0.4, 1.5, 0.2, 0.1]  # fmt: skip
    yield "calc_whitening_matrix", lambda x: misc.calc_whitening_matrix(
        np.array([[x[0], x[1]], [x[1], x[2]]])
    ), [2.0, 0.3, 1.1]  # fmt: skip
    yield "PathLossFreeSpace", lambda x: loss.PathLossFreeSpace(n=2.0, fc=x[0]).calc_path_loss_dB(
        x[1]
    ), [900.0, 1.4]  # fmt: skip
    yield "doWF", lambda x: filling.doWF(x[:3], x[3])[0], [0.9, 1.4, 1.1, 3.0]


@package("ladybug-comfort", "thermal comfort")
def ladybug_comfort() -> Iterator[Case]:
    parts = {k: module(f"ladybug_comfort.{k}") for k in ("pmv", "utci", "at", "hi", "pet", "di")}
    yield "fanger_pmv", lambda x: parts["pmv"].fanger_pmv(*x)[0], [
        24.0, 26.0, 0.15, 45.0, 1.2, 0.7,
    ]  # fmt: skip
    yield "pierce_set", lambda x: parts["pmv"].pierce_set(*x), [24.0, 26.0, 0.15, 45.0, 1.2, 0.7]
    yield "utci", spread(parts["utci"].universal_thermal_climate_index), [24.0, 30.0, 1.5, 45.0]
    yield "apparent_temperature", spread(parts["at"].apparent_temperature), [29.0, 60.0, 3.0]
    yield "heat_index", spread(parts["hi"].heat_index), [33.0, 65.0]
    yield "discomfort_index", spread(parts["di"].discomfort_index), [29.0, 60.0]


@package("evo", "trajectories of robots")
def evo() -> Iterator[Case]:
    geometry, lie = module("evo.core.geometry"), module("evo.core.lie_algebra")
    turns = module("evo.core.transformations")
    points = np.array([[0.0, 1.0, 0.2, 0.7], [0.3, 0.1, 1.1, 0.4], [0.5, 0.9, 0.3, 1.4]])
    moved = [0.1, 1.2, 0.1, 0.8, 0.5, 0.2, 1.0, 0.6, 0.4, 1.0, 0.1, 1.6]
    yield "umeyama_alignment", lambda x: geometry.umeyama_alignment(
        points, x.reshape(3, 4), with_scale=True
    ), moved  # fmt: skip
    yield "arc_len", lambda x: geometry.arc_len(x.reshape(4, 3)), moved
    yield "so3_exp", lie.so3_exp, [0.3, -0.2, 0.5]
    yield "so3_log", lambda x: lie.so3_log(lie.so3_exp(x)), [0.3, -0.2, 0.5]
    yield "quaternion_slerp", lambda x: turns.quaternion_slerp(x[:4], x[4:], 0.4), [
        1.0, 0.2, 0.1, 0.3, 0.4, 0.9, 0.2, 0.1,
    ]  # fmt: skip
    yield "euler_from_matrix", lambda x: turns.euler_from_matrix(turns.euler_matrix(*x)), [
        0.3, 0.5, -0.4,
    ]  # fmt: skip
    yield "affine_matrix_from_points", lambda x: turns.affine_matrix_from_points(
        points, x.reshape(3, 4), shear=False
    ), moved  # fmt: skip


@package("pygpc", "polynomial chaos")
def pygpc() -> Iterator[Case]:
    m = module("pygpc.misc")
    yield "squared_exponential_kernel", lambda x: m.squared_exponential_kernel(
        x[:4].reshape(2, 2), x[4:8].reshape(2, 2), x[8], x[9]
    ), [0.1, 0.9, 0.4, 0.2, 0.7, 0.3, 0.8, 0.6, 0.5, 1.2]  # fmt: skip
    yield "get_rotation_matrix", m.get_rotation_matrix, [0.3, 0.8, -0.4]
    yield "mutual_coherence", lambda x: m.mutual_coherence(x.reshape(3, 2)), [
        0.1, 0.9, 0.4, 0.2, 0.7, 0.3,
    ]  # fmt: skip
    yield "get_pdf_beta", lambda x: m.get_pdf_beta(x[:2], x[2], x[3], 0.0, 2.0), [
        0.7, 1.4, 2.2, 3.1,
    ]  # fmt: skip
