"""A second sample: 40 packages of other sciences, drawn on 2026-11-23 before any of them was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .functions import Sample, module, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

FRESH = Sample()
package = FRESH.package
WAVE = np.sin(0.4 * np.arange(64.0)) + 0.3 * np.cos(1.7 * np.arange(64.0))
NOON = dt.datetime(2020, 6, 1, 12, tzinfo=dt.UTC)
SERIES = [2.0, 5.1, 1.2, 7.3, 3.5, 4.4, 6.1, 2.7, 5.9, 3.8, 1.9, 4.2]


@package("uncertainties", "metrology")
def uncertainties() -> Iterator[Case]:
    u, m = module("uncertainties"), module("uncertainties.umath")

    def product(x: Any) -> Any:
        found = u.ufloat(x[0], 0.1) * u.ufloat(x[1], 0.2)
        return [found.nominal_value, found.std_dev]

    yield "product", product, [1.3, 0.7]
    yield "umath.sin", lambda x: m.sin(u.ufloat(x[0], x[1])).std_dev, [1.3, 0.1]
    yield "covariance_matrix", lambda x: _covariance(u, x), [1.3, 0.7]


def _covariance(u: Any, x: Any) -> Any:
    a = u.ufloat(x[0], 0.1)
    b = a * x[1]
    return u.covariance_matrix([a, b])


@package("pint", "units")
def pint() -> Iterator[Case]:
    q = module("pint").UnitRegistry().Quantity
    yield "to", lambda x: q(x, "foot").to("metre").magnitude, [1.3, 0.7]
    yield "product", lambda x: (q(x[0], "km/h") * q(x[1], "min")).to("m").magnitude, [1.3, 0.7]
    yield "sin of degrees", lambda x: np.sin(q(x, "degree")).magnitude, [30.0, 50.0]
    yield "temperature", lambda x: q(x[0], "degC").to("kelvin").magnitude, [20.0]


@package("scikit-image", "images")
def scikit_image() -> Iterator[Case]:
    c, m = module("skimage.color"), module("skimage.metrics")
    t, f = module("skimage.transform"), module("skimage.filters")
    image = np.cos(np.arange(144.0).reshape(12, 12))
    yield "rgb2lab", lambda x: c.rgb2lab(x.reshape(1, 1, 3)), [0.2, 0.5, 0.7]
    yield "rgb2hsv", lambda x: c.rgb2hsv(x.reshape(1, 1, 3)), [0.2, 0.5, 0.7]
    yield "peak_signal_noise_ratio", lambda x: _psnr(m, image, x), [0.1, 0.2]
    yield "structural_similarity", lambda x: _ssim(m, image, x), [0.1, 0.2]
    yield "gaussian", lambda x: f.gaussian(x.reshape(3, 4), 1.0), SERIES
    yield "AffineTransform", lambda x: t.AffineTransform(rotation=x[0])([[1.0, 2.0]]), [0.3]


def _psnr(m: Any, image: Any, x: Any) -> Any:
    return m.peak_signal_noise_ratio(image, image * x[0] + x[1], data_range=2.0)


def _ssim(m: Any, image: Any, x: Any) -> Any:
    return m.structural_similarity(image, image * x[0] + x[1], data_range=2.0)


@package("statsmodels", "econometrics")
def statsmodels() -> Iterator[Case]:
    a, t = module("statsmodels.api"), module("statsmodels.tsa.stattools")
    s, r = module("statsmodels.stats.stattools"), module("statsmodels.robust.norms")
    design = np.stack([np.ones(12), np.arange(12.0)], axis=1)
    yield "OLS.fit", lambda x: a.OLS(x, design).fit().params, SERIES
    yield "acf", lambda x: t.acf(x, nlags=3, fft=False), SERIES
    yield "durbin_watson", s.durbin_watson, SERIES
    yield "HuberT.rho", r.HuberT().rho, [0.4, 2.3]
    yield "jarque_bera", lambda x: s.jarque_bera(x)[2], SERIES


@package("antropy", "physiology")
def antropy() -> Iterator[Case]:
    m = module("antropy")
    yield "hjorth_params", m.hjorth_params, SERIES
    yield "spectral_entropy", lambda x: m.spectral_entropy(x, 10.0), SERIES
    yield "katz_fd", m.katz_fd, SERIES
    yield "higuchi_fd", lambda x: m.higuchi_fd(x, kmax=3), SERIES


@package("tensorly", "tensors")
def tensorly() -> Iterator[Case]:
    m, a = module("tensorly"), module("tensorly.tenalg")
    yield "khatri_rao", lambda x: a.khatri_rao([x[:6].reshape(3, 2), x[6:].reshape(3, 2)]), SERIES
    yield "mode_dot", lambda x: a.mode_dot(x.reshape(2, 3, 2), np.ones((2, 3)), 1), SERIES
    yield "cp_to_tensor", lambda x: _cp(m, x), SERIES


def _cp(m: Any, x: Any) -> Any:
    return m.cp_to_tensor((np.ones(2), [x[:6].reshape(3, 2), x[6:].reshape(3, 2)]))


@package("ase", "atomistic simulation")
def ase() -> Iterator[Case]:
    g, c = module("ase.geometry"), module("ase.calculators.lj")
    atoms = module("ase").Atoms
    yield "get_angles", lambda x: g.get_angles([x[:3]], [x[3:]]), [1.0, 0.2, 0.3, 0.1, 1.2, 0.4]
    yield (
        "cell_to_cellpar",
        lambda x: g.cell_to_cellpar(x.reshape(3, 3)),
        [
            *(3.0, 0.1, 0.2, 0.3, 4.0, 0.1, 0.2, 0.5, 5.0),
        ],
    )
    yield "cellpar_to_cell", g.cellpar_to_cell, [3.0, 4.0, 5.0, 80.0, 85.0, 95.0]

    def energy(x: Any) -> Any:
        pair = atoms("Ar2", positions=[[0.0, 0.0, 0.0], x], calculator=c.LennardJones())
        return pair.get_potential_energy()

    yield "LennardJones", energy, [1.1, 0.3, 0.2]


@package("biopython", "molecular biology")
def biopython() -> Iterator[Case]:
    v, s = module("Bio.PDB.vectors"), module("Bio.SVDSuperimposer")
    m = module("Bio.SeqUtils.MeltingTemp")
    vector = v.Vector
    square = np.array([[0.0, 0.1, 0.0], [1.0, 0.0, 0.2], [1.0, 1.0, 0.0], [0.3, 1.0, 1.0]])

    def dihedral(x: Any) -> Any:
        return v.calc_dihedral(*(vector(*x[i : i + 3]) for i in range(0, 12, 3)))

    def superimposed(x: Any) -> Any:
        found = s.SVDSuperimposer()
        found.set(square, x.reshape(4, 3))
        found.run()
        return found.get_rms()

    yield "calc_dihedral", dihedral, SERIES
    yield "calc_angle", lambda x: v.calc_angle(*map(vector, np.split(x, 3))), SERIES[:9]
    yield "rotaxis2m", lambda x: v.rotaxis2m(x[0], vector(1.0, 2.0, 3.0)), [0.4]
    yield "SVDSuperimposer", superimposed, SERIES
    yield "Tm_NN", lambda x: m.Tm_NN("ACGTTGCATGCA", Na=x[0], dnac1=x[1]), [50.0, 25.0]


@package("SALib", "sensitivity analysis")
def salib() -> Iterator[Case]:
    i, g = module("SALib.test_functions.Ishigami"), module("SALib.test_functions.Sobol_G")
    s = module("SALib.analyze.sobol")
    yield "Ishigami", lambda x: i.evaluate(x.reshape(2, 3)), [0.3, 1.2, -0.5, 0.7, 0.1, 2.0]
    yield "Sobol_G", lambda x: g.evaluate(x.reshape(1, 8)), [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
    yield "sobol.first_order", lambda x: s.first_order(x[:4], x[4:8], x[8:]), SERIES


@package("pybaselines", "spectroscopy")
def pybaselines() -> Iterator[Case]:
    m = module("pybaselines")
    yield "poly", lambda x: m.polynomial.poly(x, poly_order=2)[0], SERIES
    yield "asls", lambda x: m.whittaker.asls(x, lam=10.0)[0], SERIES
    yield "mor", lambda x: m.morphological.mor(x, half_window=2)[0], SERIES


@package("nmrglue", "magnetic resonance")
def nmrglue() -> Iterator[Case]:
    p = module("nmrglue.process.proc_base")
    yield "em", lambda x: p.em(WAVE, lb=x[0]), [0.02]
    yield "ps", lambda x: p.ps(WAVE + 0j, p0=x[0], p1=x[1]), [10.0, 20.0]
    yield "fft", p.fft, SERIES
    yield "sp", lambda x: p.sp(x, off=0.3, pow=2.0), SERIES


@package("boule", "gravimetry")
def boule() -> Iterator[Case]:
    e = module("boule").WGS84
    yield "normal_gravity", lambda x: e.normal_gravity((0.0, x[0], x[1])), [45.0, 1000.0]
    yield "geodetic_to_spherical", lambda x: e.geodetic_to_spherical((10.0, *x)), [45.0, 1000.0]
    yield "geocentric_radius", e.geocentric_radius, [10.0, 45.0]


@package("empymod", "electromagnetic geophysics")
def empymod() -> Iterator[Case]:
    m = module("empymod")

    def field(x: Any) -> Any:
        found = m.model.analytical([0, 0, 100], [500, 0, 200], x[0], x[1], verb=0)
        return [found.real * 1e12, found.imag * 1e12]

    yield "analytical", field, [0.3, 1.0]
    yield (
        "check_frequency",
        lambda x: m.utils.check_frequency(1.0, x, *np.ones((5, 2)), 0)[1].real,
        [
            *(0.5, 2.0),
        ],
    )
    yield "check_time", lambda x: m.utils.check_time(x[0], 0, "dlf", {}, 0)[1], [0.5]


@package("spotpy", "hydrology")
def spotpy() -> Iterator[Case]:
    m = module("spotpy.objectivefunctions")
    seen = np.array(SERIES) * 1.1 + 0.2
    for name in ("kge", "nashsutcliffe", "lognashsutcliffe", "pbias", "rsr"):
        yield name, partial(getattr(m, name), seen), SERIES


@package("pythermalcomfort", "buildings")
def pythermalcomfort() -> Iterator[Case]:
    m = module("pythermalcomfort.models")

    def comfort(x: Any) -> Any:
        return m.pmv_ppd_iso(*x, round_output=False).pmv

    yield "pmv_ppd_iso", comfort, [25.0, 25.5, 0.12, 50.0, 1.4, 0.5]
    yield "wbgt", lambda x: m.wbgt(*x, round_output=False).wbgt, [25.0, 32.0]
    yield (
        "heat_index_rothfusz",
        lambda x: m.heat_index_rothfusz(*x, round_output=False).hi,
        [
            *(29.0, 50.0),
        ],
    )
    yield "utci", lambda x: m.utci(*x, round_output=False).utci, [25.0, 25.5, 1.0, 50.0]


@package("pyloudnorm", "audio")
def pyloudnorm() -> Iterator[Case]:
    m = module("pyloudnorm")
    tone = np.sin(0.3 * np.arange(900.0))

    def loudness(x: Any) -> Any:
        return m.Meter(1000, block_size=0.4).integrated_loudness(tone * x[0])

    yield "integrated_loudness", loudness, [0.7]
    yield "normalize.peak", lambda x: m.normalize.peak(x, -1.0), [0.4, -0.7, 0.2]
    yield "normalize.loudness", lambda x: m.normalize.loudness(x, -20.0, -14.0), [0.01, -0.02, 0.03]


@package("fooof", "neuroscience")
def fooof() -> Iterator[Case]:
    f, s = module("fooof.core.funcs"), module("fooof.sim")
    grid = np.linspace(1.0, 40.0, 20)
    yield "gaussian_function", lambda x: f.gaussian_function(grid, *x), [10.0, 0.5, 2.0]
    yield "expo_function", lambda x: f.expo_function(grid, *x), [1.0, 5.0, 1.5]
    yield "gen_power_spectrum", lambda x: _spectrum(s, x), [1.0, 1.5, 10.0, 0.5, 2.0]


def _spectrum(s: Any, x: Any) -> Any:
    return s.gen_power_spectrum([1, 40], list(x[:2]), list(x[2:]), nlv=0.0)[1]


@package("pysolar", "solar energy")
def pysolar() -> Iterator[Case]:
    m, r = module("pysolar.solar"), module("pysolar.radiation")
    yield "get_altitude", lambda x: m.get_altitude(x[0], x[1], NOON), [42.2, -71.4]
    yield "get_azimuth", lambda x: m.get_azimuth(x[0], x[1], NOON), [42.2, -71.4]
    yield "get_altitude_fast", lambda x: m.get_altitude_fast(x[0], x[1], NOON), [42.2, -71.4]
    yield "get_radiation_direct", lambda x: r.get_radiation_direct(NOON, x[0]), [35.0]


@package("suncalc", "sunlight")
def suncalc() -> Iterator[Case]:
    m = module("suncalc")
    yield "get_position", lambda x: m.get_position(NOON, x[0], x[1])["altitude"], [20.0, 45.0]
    yield "azimuth", lambda x: m.get_position(NOON, x[0], x[1])["azimuth"], [20.0, 45.0]
    yield "solar_mean_anomaly", lambda x: m.suncalc.solar_mean_anomaly(x[0]), [7400.0]


@package("mcfit", "cosmology")
def mcfit() -> Iterator[Case]:
    m = module("mcfit")
    k = np.logspace(-3, 1, 32)
    yield "P2xi", lambda x: m.P2xi(k)(k ** x[0] * x[1])[1], [-1.2, 0.7]
    yield "TophatVar", lambda x: m.TophatVar(k)(k ** x[0] * x[1])[1], [-1.2, 0.7]
    yield "Hankel", lambda x: m.Hankel(k)(np.exp(-x[0] * k))[1], [0.8]


@package("lenstronomy", "gravitational lensing")
def lenstronomy() -> Iterator[Case]:
    m = module("lenstronomy.LensModel.lens_model").LensModel
    light = module("lenstronomy.LightModel.light_model").LightModel

    def deflection(x: Any) -> Any:
        lens = {"theta_E": x[0], "e1": x[1], "e2": x[2], "center_x": 0.0, "center_y": 0.0}
        return m(["SIE"]).ray_shooting(0.7, 0.4, [lens])

    def brightness(x: Any) -> Any:
        disc = {"amp": x[0], "R_sersic": x[1], "n_sersic": x[2], "center_x": 0.0, "center_y": 0.0}
        return light(["SERSIC"]).surface_brightness(
            np.array([0.7, 0.2]), np.array([0.4, 0.9]), [disc]
        )

    yield "SIE", deflection, [1.2, 0.1, -0.05]
    yield "SERSIC", brightness, [1.2, 0.6, 3.1]
    yield "SIS", lambda x: _isothermal(m, x), [1.2, 0.7, 0.4]
    yield "NFW", lambda x: _halo(m, x), [1.2, 0.8]


def _isothermal(m: Any, x: Any) -> Any:
    lens = {"theta_E": x[0], "center_x": 0.0, "center_y": 0.0}
    return m(["SIS"]).magnification(x[1], x[2], [lens])


def _halo(m: Any, x: Any) -> Any:
    lens = {"Rs": x[0], "alpha_Rs": x[1], "center_x": 0.0, "center_y": 0.0}
    return m(["NFW"]).alpha(np.array([0.7, 1.9]), np.array([0.4, 0.3]), [lens])


@package("hcipy", "adaptive optics")
def hcipy() -> Iterator[Case]:
    m = module("hcipy")
    grid = m.make_pupil_grid(6)
    field = m.Field
    yield "zernike times a number", lambda x: m.zernike(2, 0, grid=grid) * x[0], [0.3]
    yield "Field of the vector", lambda x: np.sum(field(np.ones(36), grid) * x[0] ** 2), [0.3]
    yield "make_gaussian", lambda x: m.GaussianBeam(x[0], 0.0, 1e-6)(grid).real, [0.4]


@package("findiff", "finite differences")
def findiff() -> Iterator[Case]:
    m = module("findiff")
    yield "FinDiff", m.FinDiff(0, 0.1, 2), SERIES
    yield "Gradient", lambda x: m.Gradient(h=[0.1, 0.1])(x.reshape(4, 3)), SERIES
    yield (
        "coefficients",
        lambda x: np.asarray(m.coefficients(deriv=2, acc=2)["center"]["coefficients"]) * x,
        [1.5, 2.0, 0.5],
    )


@package("numpy-stl", "meshes")
def numpy_stl() -> Iterator[Case]:
    m = module("stl.mesh").Mesh

    def solid(x: Any) -> Any:
        data: Any = np.zeros(1, dtype=m.dtype)
        data["vectors"] = x.reshape(1, 3, 3)
        return m(data)

    yield "areas", lambda x: solid(x).areas, SERIES[:9]
    yield "normals", lambda x: solid(x).get_unit_normals(), SERIES[:9]
    yield "rotation_matrix", lambda x: m.rotation_matrix([1.0, 2.0, 3.0], x[0]), [0.4]


@package("anastruct", "structures")
def anastruct() -> Iterator[Case]:
    m = module("anastruct")

    def deflection(x: Any) -> Any:
        frame = m.SystemElements()
        frame.add_element([[0, 0], [2, 0]])
        frame.add_element([[2, 0], [4, 0]])
        frame.add_support_hinged(1)
        frame.add_support_roll(3)
        frame.point_load(2, Fy=x[0])
        frame.solve()
        return frame.get_node_displacements(2)["uy"]

    yield "beam", deflection, [-10.0]
    yield "rotation of vertex", lambda x: _moved(m, x), [1.0, 2.0]
    yield "angle_x_axis", lambda x: m.basic.angle_x_axis(x[0], x[1]), [1.0, 2.0]


def _moved(m: Any, x: Any) -> Any:
    vertex = m.Vertex(x[0], x[1])
    return [(vertex * 2.0).x, vertex.y]


@package("PYPOWER", "power grids")
def pypower() -> Iterator[Case]:
    p = module("pypower.api")
    case = module("pypower.case9").case9()
    case = module("pypower.ext2int").ext2int(case)
    matrix = module("pypower.makeYbus").makeYbus(100.0, case["bus"], case["branch"])[0]
    injection = module("pypower.dSbus_dV").dSbus_dV

    def powers(x: Any) -> Any:
        voltage = x[:9] * np.exp(1j * 0.1 * np.arange(9.0))
        return voltage * np.conj(matrix @ voltage)

    def derivative(x: Any) -> Any:
        voltage = np.ones(9) * x[0] * np.exp(1j * 0.1 * np.arange(9.0))
        return injection(matrix, voltage)[0].toarray()

    def loads(x: Any) -> Any:
        bus = case["bus"].copy()
        bus[:, 2] = x
        return p.makeSbus(100.0, bus, case["gen"])

    yield "Ybus", powers, [1.0, 1.01, 0.98, 1.0, 0.99, 1.02, 1.0, 1.0, 1.01]
    yield "dSbus_dV", derivative, [1.1]
    yield "makeSbus", loads, [10.0, 20.0, 30.0, 5.0, 90.0, 1.0, 100.0, 2.0, 125.0]
    yield "totcost", lambda x: p.totcost(case["gencost"], x), [50.0, 60.0, 70.0]


@package("csaps", "splines")
def csaps() -> Iterator[Case]:
    m = module("csaps").csaps
    grid = np.arange(12.0)
    yield "values", lambda x: m(grid, x, [1.5, 4.2], smooth=0.8), SERIES
    yield "places", lambda x: m(grid, SERIES, x, smooth=0.8), [1.5, 4.2]
    yield (
        "weights",
        lambda x: m(grid, SERIES, [2.5], weights=x, smooth=0.8),
        [1.0 + 0.1 * i for i in range(12)],
    )


@package("chempy", "physical chemistry")
def chempy() -> Iterator[Case]:
    n = module("chempy.electrochemistry.nernst")
    w = module("chempy.properties.water_density_tanaka_2001")
    a, e = module("chempy.kinetics.arrhenius"), module("chempy.electrolytes")
    yield (
        "nernst_potential",
        lambda x: n.nernst_potential(x[0], x[1], 1, x[2]),
        [145.0, 15.0, 310.0],
    )
    yield "water_density", spread(w.water_density), [290.0]
    yield "arrhenius_equation", spread(a.arrhenius_equation), [1e10, 40e3, 298.0]
    yield "debye_huckel.A", spread(e.A), [80.1, 293.15, 998.2]


@package("pyteomics", "proteomics")
def pyteomics() -> Iterator[Case]:
    m, a = module("pyteomics.electrochem"), module("pyteomics.auxiliary")
    yield "charge", lambda x: m.charge("PEPTIDEKR", x[0]), [6.5]
    yield "charge at several", lambda x: m.charge("HHEEGGTR", list(x)), [4.0, 8.1]
    yield "linear_regression", lambda x: list(a.linear_regression(np.arange(12.0), x)), SERIES


@package("vector", "particle physics")
def vector() -> Iterator[Case]:
    m = module("vector")
    yield "boost", lambda x: _boosted(m, x), [1.0, 2.0, 3.0, 10.0, 0.3]
    yield (
        "deltaR",
        lambda x: m.obj(pt=x[0], phi=x[1], eta=x[2]).deltaR(m.obj(pt=1.0, phi=0.1, eta=0.2)),
        [1.3, 0.7, 0.9],
    )
    yield "tau", lambda x: m.obj(x=x[0], y=x[1], z=x[2], t=x[3]).tau, [1.0, 2.0, 3.0, 10.0]
    yield "array", lambda x: m.array({"x": x[:2], "y": x[2:]}).rho, [1.0, 2.0, 3.0, 4.0]


def _boosted(m: Any, x: Any) -> Any:
    found = m.obj(x=x[0], y=x[1], z=x[2], t=x[3]).boostX(beta=x[4])
    return [found.x, found.y, found.t]


@package("dcor", "dependence")
def dcor() -> Iterator[Case]:
    m = module("dcor")
    other = np.cos(np.arange(12.0))
    yield "distance_correlation", lambda x: m.distance_correlation(x, other), SERIES
    yield "distance_covariance", lambda x: m.distance_covariance(x, other, method="naive"), SERIES
    yield "energy_distance", lambda x: m.energy_distance(x.reshape(6, 2), np.ones((3, 2))), SERIES


@package("POT", "optimal transport")
def pot() -> Iterator[Case]:
    m = module("ot")
    half, cost = np.array([0.4, 0.6]), np.array([[0.1, 1.2], [0.9, 0.3]])
    yield "sinkhorn2", lambda x: m.sinkhorn2(half, half, x.reshape(2, 2), 0.5), [0.1, 1.2, 0.9, 0.3]
    yield "sinkhorn of weights", lambda x: m.sinkhorn(x / np.sum(x), half, cost, 0.5), [0.3, 0.8]
    yield "dist", lambda x: m.dist(x.reshape(3, 2), np.ones((2, 2))), SERIES[:6]
    yield "wasserstein_1d", lambda x: m.wasserstein_1d(x[:5], x[5:10]), SERIES
    yield "emd2", lambda x: m.emd2(half, half, x.reshape(2, 2)), [0.1, 1.2, 0.9, 0.3]


@package("similaritymeasures", "curves")
def similaritymeasures() -> Iterator[Case]:
    m = module("similaritymeasures")
    curve = np.stack([np.arange(6.0), np.cos(np.arange(6.0))], axis=1)

    def against(function: Any) -> Callable[[Any], Any]:
        return lambda x: function(curve, x.reshape(6, 2))

    point = [0.1, 1.2, 1.0, 0.5, 2.1, -0.2, 3.2, -1.2, 4.0, -0.4, 5.3, 0.5]
    yield "dtw", lambda x: against(m.dtw)(x)[0], point
    yield "frechet_dist", against(m.frechet_dist), point
    yield "area_between_two_curves", against(m.area_between_two_curves), point
    yield "pcm", against(m.pcm), point


@package("vmdpy", "signal decomposition")
def vmdpy() -> Iterator[Case]:
    m = module("vmdpy")
    yield (
        "VMD",
        lambda x: m.VMD(WAVE * x[0] + x[1] * np.arange(64.0), 50.0, 0.0, 2, 0, 1, 1e-3)[0],
        [
            *(1.0, 0.01),
        ],
    )
    yield "alpha", lambda x: m.VMD(WAVE, x[0], 0.0, 2, 0, 1, 1e-3)[0], [50.0]
    yield "tau", lambda x: m.VMD(WAVE, 50.0, x[0], 2, 0, 1, 1e-3)[2], [0.1]


@package("coloraide", "colour")
def coloraide() -> Iterator[Case]:
    m = module("coloraide").Color

    def converted(space: str) -> Callable[[Any], Any]:
        return lambda x: m("srgb", list(x)).convert(space).coords()

    for space in ("lab", "oklch", "xyz-d65"):
        yield space, converted(space), [0.2, 0.5, 0.7]
    yield "delta_e", lambda x: m("srgb", list(x)).delta_e("orange", method="2000"), [0.2, 0.5, 0.7]


@package("geopy", "geography")
def geopy() -> Iterator[Case]:
    m = module("geopy.distance")
    home = (41.5, -71.3)
    yield "great_circle", lambda x: m.great_circle(home, tuple(x)).km, [51.2, 7.5]
    yield "geodesic", lambda x: m.geodesic(home, tuple(x)).km, [51.2, 7.5]
    yield "destination", lambda x: _reached(m, home, x), [120.0, 40.0]


def _reached(m: Any, home: Any, x: Any) -> Any:
    found = m.great_circle(kilometers=x[0]).destination(home, bearing=x[1])
    return [found.latitude, found.longitude]


@package("windpowerlib", "wind energy")
def windpowerlib() -> Iterator[Case]:
    s, d = module("windpowerlib.wind_speed"), module("windpowerlib.density")
    p = module("windpowerlib.power_output")
    yield (
        "logarithmic_profile",
        lambda x: s.logarithmic_profile(x[:2], 10, 100, x[2]),
        [5.0, 6.0, 0.15],
    )
    yield "hellman", lambda x: s.hellman(x, 10, 100, hellman_exponent=0.2), [5.0, 6.0]
    yield "ideal_gas", lambda x: d.ideal_gas(x[0], 10, 100, x[1]), [101125.0, 267.0]
    yield (
        "power_curve",
        lambda x: p.power_curve(x, [0.0, 4, 8, 12], [0.0, 1e5, 8e5, 2e6]),
        [5.0, 9.0],
    )


@package("impedance", "electrochemistry")
def impedance() -> Iterator[Case]:
    m = module("impedance.models.circuits.elements")
    c = module("impedance.models.circuits")
    f = np.array([1.0, 10.0, 100.0])
    yield "CPE", lambda x: m.CPE(list(x), f), [0.2, 0.8]
    yield "Wo", lambda x: m.Wo(list(x), f), [0.2, 0.8]
    yield "TLMQ", lambda x: m.TLMQ(list(x), f), [0.2, 0.8, 0.9]

    def predicted(x: Any) -> Any:
        return c.CustomCircuit("R0-p(R1,C1)", initial_guess=list(x)).predict(f, use_initial=True)

    yield "CustomCircuit", predicted, [0.1, 0.2, 0.3]


@package("scikit-gstat", "geostatistics")
def scikit_gstat() -> Iterator[Case]:
    m, e = module("skgstat.models"), module("skgstat.estimators")
    lags = np.array([0.5, 1.5, 2.5])
    yield "spherical", lambda x: m.spherical(lags, *x), [2.0, 1.5, 0.2]
    yield "gaussian", lambda x: m.gaussian(lags, *x), [2.0, 1.5, 0.2]
    yield "matern", lambda x: m.matern(lags, *x), [2.0, 1.5, 1.3, 0.2]
    yield "matheron", e.matheron, SERIES
    yield "cressie", e.cressie, SERIES


@package("emcee", "sampling")
def emcee() -> Iterator[Case]:
    m = module("emcee.autocorr")
    yield "function_1d", m.function_1d, SERIES
    yield "integrated_time", lambda x: m.integrated_time(x, has_walkers=False, quiet=True), SERIES
