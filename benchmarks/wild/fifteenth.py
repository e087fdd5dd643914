"""A fifteenth sample, drawn at random on 2026-11-29, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
docs/public-packages.md says how the names were drawn, and what was skipped.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

from .functions import Sample, module, spread
from .later import WAVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

FIFTEENTH = Sample()
package = FIFTEENTH.package
RETURNS = [0.3, -0.5, 0.2, 0.7, -0.4, 0.1, 0.6, -0.2, 0.45, -0.35, 0.15, -0.6]
PICTURE = [*(1.0 + 0.3 * np.cos(1.3 * np.arange(25.0)) + 0.05 * np.arange(25.0))]


def beside(function: Callable[[Any, Any], Any], first: Any) -> Callable[[Any], Any]:
    """The function of a vector that gives another one a first argument."""
    return lambda x: function(first, x)


@package("mescla", "hydrochemistry")
def mescla() -> Iterator[Case]:
    lsq, geometric = module("mescla.mixing.lsq"), module("mescla.mixing.geometric")
    isotopes = module("mescla.isotopes")
    ends = [1.0, 0.2, 4.0, 1.1, 2.0, 5.0]
    yield "three_component", lambda x: geometric.three_component(x[:2], x[2:].reshape(3, 2)), [
        2.2, 1.9, *ends,
    ]  # fmt: skip
    yield "two_component_isotope", spread(isotopes.two_component_isotope), [
        -4.0, -9.0, 1.2, 1.0, 3.1,
    ]  # fmt: skip
    yield "solve_ratios", lambda x: lsq.solve_ratios(x[:8].reshape(4, 2), x[8:])[0], [
        1.0, 4.0, 2.0, 0.5, 0.3, 2.2, 5.0, 1.0, 2.1, 1.4, 1.2, 3.3,
    ]  # fmt: skip


@package("processpi", "process engineering")
def processpi() -> Iterator[Case]:
    fluids = "processpi.calculations.fluids"
    friction = module(f"{fluids}.friction_factor_colebrookwhite").ColebrookWhite
    exchanger = module("processpi.calculations.heat_transfer.heat_exchanger")
    yield "ColebrookWhite", lambda x: (
        friction(reynolds_number=x[0], diameter=x[1], roughness=x[2]).calculate().value
    ), [5e4, 0.1, 0.05]  # fmt: skip
    yield (
        "KernNusselt",
        lambda x: exchanger.KernNusselt(reynolds=x[0], prandtl=x[1]).calculate(),
        [2e4, 5.0],
    )


@package("trajmod", "geodetic time series")
def trajmod() -> Iterator[Case]:
    m = module("trajmod.templates.templates").TemplateFunctions
    start, event = dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2020, 1, 3, tzinfo=dt.UTC)
    days = [0.0, 1.5, 3.2, 4.1, 6.3]
    yield "log_decay", lambda x: m(x[1:], start).log_decay(event, x[0]), [1.3, *days]
    yield (
        "seasonal_with_bspline_envelope",
        lambda x: m(x[1:], start).seasonal_with_bspline_envelope(x[0], 4),
        [9.0, *days],
    )


@package("puffin-disk", "protoplanetary disks")
def puffin() -> Iterator[Case]:
    m = module("puffin_disk")
    yield "planck_wavelength", lambda x: m.planck_wavelength(1e-6 * x[0], 1e3 * x[1]), [0.5, 5.8]
    yield "smooth_temperature_profile", spread(m.smooth_temperature_profile), [0.3, 20.0, 90.0]
    yield "smooth_cosine", lambda x: m.smooth_cosine(x[:3], x[3], x[4]), [0.2, 0.7, 0.9, 1.4, 2.0]
    yield "eker_mlr", lambda x: m.eker_mlr(x[0]), [1.7]


@package("hvac-pressure", "ventilation")
def hvac() -> Iterator[Case]:
    m, tables = module("hvac_pressure.core"), module("hvac_pressure.interpolation")
    grid = [[1.0, 2.0, 4.0], [1.5, 2.7, 5.1]]

    def losses(found: Any) -> Any:
        return [found["delta_p_pa"], found["friction_f"]]

    yield "duct_loss", lambda x: losses(m.duct_loss(x[0], x[1], x[2], 1e-4 * x[3], x[4])), [
        0.4, 12.0, 0.3, 0.9, 22.0,
    ]  # fmt: skip
    yield "rectangular_duct_loss", lambda x: losses(m.rectangular_duct_loss(*x)), [
        0.4, 12.0, 0.3, 0.2,
    ]  # fmt: skip
    yield "interp2d", lambda x: tables.interp2d([0.0, 1.0], [0.0, 1.0, 3.0], grid, x[0], x[1]), [
        0.3, 1.7,
    ]  # fmt: skip


@package("oimalib", "optical interferometry")
def oimalib() -> Iterator[Case]:
    m, binary = module("oimalib.complex_models"), module("oimalib.binary")
    u, v = np.array([[20.0, -35.0]]), np.array([[44.0, 12.0]])
    waves = np.array([2.2e-6])

    def disk(x: Any) -> Any:
        names = ("incl", "majorAxis", "pa", "x0", "y0")
        shape = dict(zip(names, x, strict=True))
        return m.visEllipticalUniformDisk(u, v, waves, shape)

    yield "visEllipticalUniformDisk", disk, [40.0, 3.0, 25.0, 0.4, -0.3]
    yield (
        "visGaussianDisk",
        lambda x: np.real(m.visGaussianDisk(u, v, waves, {"fwhm": x[0], "x0": x[1], "y0": x[2]})),
        [2.0, 0.3, 0.5],
    )
    yield "kepler_solve", lambda x: binary.kepler_solve(x[:3], x[3], x[4]), [
        0.4, 1.1, 1.7, 5.0, 0.3,
    ]  # fmt: skip


@package("pynsitu", "oceanography")
def pynsitu() -> Iterator[Case]:
    m = module("pynsitu")
    yield "rotate", lambda x: m.rotate(x[0], x[1:3], x[3:]), [0.4, 1.0, 2.0, -0.5, 0.3]
    yield "uv2speedheading", lambda x: m.uv2speedheading(x[:2], x[2:]), [1.0, 2.0, -0.5, 0.3]


@package("specpolflow", "stellar magnetism")
def specpolflow() -> Iterator[Case]:
    m, masks = module("specpolFlow.lineList"), module("specpolFlow.mask")
    yield "getEffectiveLande", spread(m.getEffectiveLande), [1.2, 1.5, 2.0, 3.0]
    yield (
        "Mask.get_weights",
        lambda x: masks.Mask(
            x[:3], np.full(3, 26.0), x[3:6], x[6:9], x[9:], np.ones(3)
        ).get_weights(0.2, 500.0, 1.2),
        [480.0, 500.0, 530.0, 0.3, 0.5, 0.2, 2.1, 2.2, 3.0, 1.1, 1.3, 1.6],
    )


@package("mfe-toolbox", "financial econometrics")
def mfe() -> Iterator[Case]:
    ged, skewt = module("mfe.distributions.ged"), module("mfe.distributions.skewt")
    realized, ols = module("mfe.realized.variance"), module("mfe.crosssection.ols")
    kernel = module("mfe.realized.kernel")
    yield "ged_logpdf", lambda x: ged.ged_logpdf(x[:3], x[3]), [0.4, -1.1, 0.7, 1.6]
    yield "skewt_logpdf", lambda x: skewt.skewt_logpdf(x[:3], x[3], x[4]), [
        0.4, -1.1, 0.7, 6.0, -0.2,
    ]  # fmt: skip
    yield (
        "realized_bipower_variation",
        lambda x: realized.realized_bipower_variation(x).value,
        (RETURNS),
    )
    yield "realized_kernel", lambda x: kernel.realized_kernel(x, bandwidth=3).rk, RETURNS
    yield "olsnw", lambda x: ols.olsnw(x, np.arange(12.0).reshape(12, 1) ** 0.5).t_stats, RETURNS


@package("streaming-stats", "statistics of streams")
def streaming() -> Iterator[Case]:
    m = module("streaming_stats")

    def statistics(x: Any) -> Any:
        found = m.StreamingStats()
        for one in x:
            found.update(one)
        return [found.get_mean(), found.get_variance(), found.get_skewness(), found.get_max()]

    yield "update", statistics, RETURNS[:6]


@package("pybhatlib", "discrete choice")
def pybhatlib() -> Iterator[Case]:
    m, logit = module("pybhatlib.gradmvn._bivariate_trunc"), module("pybhatlib.gradmvn._logit_dist")
    conditional = module("pybhatlib.gradmvn._cond_trunc_grads")

    def spd(x: Any) -> Any:
        return np.array([[x[0], x[2]], [x[2], x[1]]])

    yield "truncated_bivariate_mean", lambda x: m.truncated_bivariate_mean(
        x[:2], spd(x[2:5]), x[5:]
    ), [0.2, -0.1, 1.3, 0.9, 0.4, 0.8, 0.5]  # fmt: skip
    yield "pdfmvlogit", lambda x: logit.pdfmvlogit(x.reshape(2, 2)), [0.3, -0.4, 0.9, 0.2]
    yield (
        "gcondcov",
        lambda x: conditional.gcondcov(np.array([[x[0]]]), np.diag(x[1:4]) + 0.2 * np.ones((3, 3)))[
            1
        ],
        [0.7, 1.0, 1.4, 0.8],
    )


@package("leslie-delury", "fisheries")
def leslie() -> Iterator[Case]:
    m = module("leslieDelury.popEstimate")
    yield "LDEstimate", lambda x: m.LDEstimate(x[:5], x[5:]), [
        90.0, 75.0, 62.0, 48.0, 41.0, 7.0, 6.5, 6.0, 5.5, 5.2,
    ]  # fmt: skip


@package("avant", "neutron reflectometry")
def avant() -> Iterator[Case]:
    m = module("parameter.gauss_class")
    prior = [[3.0, 0.6], [5.0, 1.1]]
    for name in ("pdf", "logpdf", "cdf"):
        yield (
            name,
            beside(lambda name, x: getattr(m.Gauss(prior, 0.0, 10.0), name)(x), name),
            [2.2, 4.1, 6.3],
        )


@package("scikit-posthocs", "multiple comparisons")
def posthocs() -> Iterator[Case]:
    m, outer = module("scikit_posthocs"), module("scikit_posthocs._global")
    yield "global_simes_test", outer.global_simes_test, [0.02, 0.3, 0.07, 0.5]
    yield "global_f_test", outer.global_f_test, [0.02, 0.3, 0.07, 0.5]
    groups = [1.0, 1.4, 0.7, 1.2, 2.1, 2.4, 1.9, 2.6, 1.3, 1.7, 2.2, 1.5]
    yield (
        "posthoc_ttest",
        lambda x: np.asarray(m.posthoc_ttest([x[:4], x[4:8], x[8:]]))[0, 1:],
        groups,
    )
    yield (
        "posthoc_scheffe",
        lambda x: np.asarray(m.posthoc_scheffe([x[:4], x[4:8], x[8:]]))[0, 1:],
        groups,
    )


@package("spatial-extremes", "spatial extremes")
def spatial_extremes() -> Iterator[Case]:
    shared = module("spatial_extremes.models._shared")
    schlather = module("spatial_extremes.models.schlather").SchlatherModel
    brown = module("spatial_extremes.models.brownresnick").BrownResnickModel
    yield "de_haan_bivariate_logpdf", lambda x: shared.de_haan_bivariate_logpdf(
        x[:2], x[2:4], x[4]
    ), [0.7, 1.9, 1.2, 2.5, 1.1]  # fmt: skip
    yield (
        "Schlather",
        lambda x: schlather(x[0], x[1]).bivariate_logpdf(x[2:4], x[4:6], x[6:]),
        [2.0, 1.2, 0.7, 1.9, 1.2, 2.5, 0.8, 1.5],
    )
    yield (
        "BrownResnick",
        lambda x: brown(x[0], x[1]).bivariate_logpdf(x[2:4], x[4:6], x[6:]),
        [2.0, 1.2, 0.7, 1.9, 1.2, 2.5, 0.8, 1.5],
    )


@package("gratinglab", "diffraction gratings")
def gratinglab() -> Iterator[Case]:
    m = module("gratinglab.geometry")
    orders = np.array([-1.0, 1.0, 2.0])
    yield "sin_beta", lambda x: m.sin_beta(orders, *x), [0.5, 3.0, 0.3, 0.9]
    yield "beta", lambda x: m.beta(m.sin_beta(orders, x[0], x[1], x[2])), [0.5, 3.0, 0.3]
    yield "facet_graze", spread(m.facet_graze), [0.1, 0.4, 0.3]
    yield "blaze_wavelength", lambda x: m.blaze_wavelength(orders, *x), [3.0, 0.4, 0.3, 0.1]


@package("pedotri", "soil science")
def pedotri() -> Iterator[Case]:
    m = module("pedotri.dem")
    for name in ("slope", "profile_curvature", "plan_curvature"):
        yield (
            name,
            beside(
                lambda name, x: getattr(m, name)(x.reshape(5, 5), pixel_size=2.0)[1:-1, 1:-1], name
            ),
            PICTURE,
        )


@package("erwinjr2", "quantum cascade lasers")
def erwinjr() -> Iterator[Case]:
    m = module("ErwinJr2.OptStrata")

    def layer(x: Any) -> Any:
        return m.MaxwellLayer(x[0], [1.0, x[1], x[2], 3.0], [1.0, x[3], x[4], 3.1])

    yield "transferTM", lambda x: layer(x).transferTM(x[5]), [4.5, 0.6, 0.9, 3.3, 3.5, 3.2]
    yield "chiMTM", lambda x: layer(x).chiMTM(x[5]), [4.5, 0.6, 0.9, 3.3, 3.5, 3.2]


@package("optiqs", "polarisation")
def optiqs() -> Iterator[Case]:
    m = module("optiqs.stokes_formalism")
    yield "polarizer", spread(m.polarizer), [1.3, 0.8, 25.0, 10.0]


@package("batmods-lite", "batteries")
def batmods() -> Iterator[Case]:
    m = module("bmlite.materials")
    yield "Gen2Electrolyte", lambda x: [
        m.Gen2Electrolyte().get_D(x[0], x[1]),
        m.Gen2Electrolyte().get_kappa(x[0], x[1]),
        m.Gen2Electrolyte().get_gamma(x[0], x[1]),
    ], [1.1, 305.0]  # fmt: skip
    yield "GraphiteFast.get_i0", lambda x: m.GraphiteFast(0.5, 0.5, 28.0).get_i0(
        x[0], x[1], x[2], 1.0
    ), [0.4, 1.1, 305.0]  # fmt: skip
    yield "GraphiteFast.get_Eeq", lambda x: m.GraphiteFast(0.5, 0.5, 28.0).get_Eeq(x[:3]), [
        0.2, 0.4, 0.7,
    ]  # fmt: skip


@package("wrinklefe", "composite laminates")
def wrinklefe() -> Iterator[Case]:
    m, materials = module("wrinklefe.core.laminate"), module("wrinklefe.core.material")

    def laminate(x: Any) -> Any:
        ply = materials.OrthotropicMaterial(E1=x[0], E2=x[1], E3=x[1], G12=x[2], nu12=x[3])
        return m.Laminate.from_angles([0.0, 45.0, -45.0, 90.0], ply, 0.2)

    point = [140000.0, 9000.0, 5000.0, 0.3]
    yield "abd_matrix", lambda x: 1e-4 * laminate(x).abd_matrix(), point
    yield "Ex", lambda x: 1e-3 * laminate(x).Ex, point


@package("smmo", "multilayer optics")
def smmo() -> Iterator[Case]:
    m = module("smmo")

    def spectrum(x: Any, polarization: str) -> Any:
        waves = np.array([1.0, 1.2, 1.4]) * 2 * np.pi
        one = np.ones(3)
        layers = [
            {"n": one, "k": 0 * one, "thickness": 0.0, "coherence": True},
            {"n": x[0] * one, "k": x[1] * one, "thickness": 0.1 * x[2], "coherence": True},
            {"n": x[3] * one, "k": 0 * one, "thickness": 0.0, "coherence": True},
        ]
        found = m.SMMO(layers, {"w": waves, "q": x[4], "p": polarization})
        return found()

    yield "s", lambda x: spectrum(x, "s"), [2.1, 0.05, 0.4, 1.5, 20.0]
    yield "p", lambda x: spectrum(x, "p"), [2.1, 0.05, 0.4, 1.5, 20.0]


@package("sn-stat", "supernova neutrinos")
def sn_stat() -> Iterator[Case]:
    signals, rates = module("sn_stat.signals"), module("sn_stat.rate")
    significance = module("sn_stat.sig_calc")
    yield "ccSN", lambda x: signals.ccSN(x[0], x[1], x[2]).s(x[3:]), [5.0, 0.1, 1.2, 0.3, 0.9, 2.0]
    yield "LogRate", lambda x: rates.LogRate(x[:4], x[4:8])(x[8:]), [
        1.0, 2.0, 4.0, 8.0, 3.0, 2.0, 1.1, 0.4, 1.5, 5.0,
    ]  # fmt: skip
    yield "LogRate.integral", lambda x: rates.LogRate(x[:4], x[4:8]).integral(x[8], x[9]), [
        1.0, 2.0, 4.0, 8.0, 3.0, 2.0, 1.1, 0.4, 1.5, 5.0,
    ]  # fmt: skip
    yield "p2z", significance.p2z, [0.01, 0.2]


@package("riana", "proteomics")
def riana() -> Iterator[Case]:
    m, baseline = module("riana.core.models"), module("riana.algorithms.baseline")
    times = np.array([0.5, 1.0, 3.0, 6.0])
    yield "two_compartment_guan", lambda x: m.two_compartment_guan(times, *x), [0.3, 0.1, 0.9, 0.6]
    yield (
        "two_compartment_fornasiero",
        lambda x: m.two_compartment_fornasiero(times, *x),
        [0.3, 0.1, 0.9, 0.6, 0.1, 9.0],
    )
    yield "asls", lambda x: baseline.asls(x, lam=10.0, p=0.1), [
        1.0, 1.2, 1.1, 3.4, 6.2, 3.1, 1.3, 1.15, 1.4, 1.1,
    ]  # fmt: skip


@package("meteo-si", "meteorology")
def meteo_si() -> Iterator[Case]:
    m, wind = module("meteo_si"), module("meteo_si.wind")
    yield "moist_rho_rh", lambda x: m.density.moist_rho_rh(x[:2], x[2:4], x[4:]), [
        95000.0, 60000.0, 290.0, 260.0, 0.7, 0.4,
    ]  # fmt: skip
    yield "rh_to_iwv", lambda x: m.humidity.rh_to_iwv(x[:3], x[3:6], x[6:9], x[9:]), [
        0.8, 0.6, 0.3, 290.0, 280.0, 262.0, 95000.0, 80000.0, 55000.0, 100.0, 1900.0, 4800.0,
    ]  # fmt: skip
    yield "T_virt_rh", lambda x: m.temperature.T_virt_rh(x[0], x[1], x[2]), [290.0, 0.7, 95000.0]
    yield "circular_mean", wind.circular_mean, [0.3, 1.2, 2.9, 0.8]


@package("dive-epr", "electron paramagnetic resonance")
def dive() -> Iterator[Case]:
    m = module("dive.deer")
    distances, times = np.linspace(2.0, 5.0, 12), np.linspace(0.1, 2.0, 7)
    yield "dd_gauss", lambda x: m.dd_gauss(distances, x[:2], x[2:4], x[4:]), [
        2.8, 4.1, 0.4, 0.6, 0.3, 0.7,
    ]  # fmt: skip
    yield "bg_hom3d", lambda x: m.bg_hom3d(times, x[0], x[1]), [50.0, 0.3]
    yield "bg_exp", lambda x: m.bg_exp(times, x[0]), [0.3]


@package("data-whiz", "circular distances")
def data_whiz() -> Iterator[Case]:
    m = module("data_whiz.curved_surface")
    yield "distance", lambda x: m.distance(list(x[:3]), list(x[3:])), [
        350.0, 20.0, 100.0, 10.0, 45.0, 300.0,
    ]  # fmt: skip


@package("curvature-mapping-method", "interstellar magnetic fields")
def curvature_mapping() -> Iterator[Case]:
    m = module("curvature_mapping_method")
    angles = [*(0.1 * np.cos(1.3 * np.arange(25.0)) + 0.02 * np.arange(25.0))]
    for k, name in enumerate(("curvature", "field")):
        yield (
            name,
            beside(
                lambda k, x: m.compute_curvature_mapping(x.reshape(5, 5), 0.1, 20.0)[k][1:-1, 1:-1],
                k,
            ),
            angles,
        )


@package("dielectric", "dielectric spectroscopy")
def dielectric() -> Iterator[Case]:
    m = module("dielectric.classes.cells")

    def cell(kind: Any, x: Any) -> Any:
        made = kind(*x)
        made.update()
        return [made.cell_constant, 1e12 * made.cap]

    yield "PlanarCell", lambda x: cell(m.PlanarCell, x), [1.1, 0.4]


@package("massfunc", "cosmology")
def massfunc() -> Iterator[Case]:
    m = module("massfunc")
    for name in ("Dz", "omegam_z"):
        yield name, beside(lambda name, x: getattr(m.Mass_func(), name)(x[0]), name), [2.3]
    yield "Tk", lambda x: m.Mass_func().Tk(x), [0.05, 0.4]
    yield "sigma2", lambda x: np.log(m.Mass_func().sigma2(1e10 * x)), [1.3, 40.0]


@package("simann", "curve fitting")
def simann() -> Iterator[Case]:
    m = module("SimAnn.SimAnn")
    yield "chi_calculation", lambda x: m.chi_calculation(x[:4], x[4:8], x[8:]), [
        1.0, 2.0, 1.5, 0.7, 0.1, 0.2, 0.15, 0.1, 1.1, 1.8, 1.4, 0.9,
    ]  # fmt: skip


@package("magnetics", "micromagnetics")
def magnetics() -> Iterator[Case]:
    m = module("magnetics")
    energies = {
        name: module(f"magnetics.fields.{name}") for name in ("exchange", "anisotropy", "demag")
    }
    macrospin = module("magnetics.llg.macrospin")

    def grid() -> Any:
        materials = m.MaterialMap()
        materials.register(0, m.Material("film", 8e5, 1.3e-11, 5e5, alpha=0.1))
        return m.Mesh(2, 2, 1, 2e-9, 2e-9, 2e-9), materials

    spins = [1.0, 0.2, 0.3, 0.1, 0.9, 0.4, -0.3, 0.2, 0.8, 0.5, 0.5, -0.6]
    for name, one in energies.items():
        yield (
            f"{name}_energy",
            beside(
                lambda energy, x: 1e19 * energy(x.reshape(2, 2, 1, 3), *grid()),
                getattr(one, f"{name}_energy"),
            ),
            spins,
        )
    yield "llg_rhs", lambda x: macrospin.llg_rhs(x[:3], 1e6 * x[3:6], x[6], 2.2), [
        0.6, 0.3, 0.7, 1.0, -0.4, 2.0, 0.1,
    ]  # fmt: skip


@package("macroeconomy", "macroeconomics")
def macroeconomy() -> Iterator[Case]:
    m = module("macroeconomy.tool")

    def firm(x: Any) -> Any:
        made = m.Cobb_Douglas_Production_Function(*x)
        return [made.y(), made.rent(), made.wage()]

    yield "Cobb_Douglas", firm, [2.0, 1.3, 0.35, 1.1]
    yield "Utility.crra", lambda x: m.Utility(x[0], 0.98, x[1]).crra(), [1.7, 2.5]
    yield "Utility.logarithmic", lambda x: m.Utility(x[0]).logarithmic(), [1.7]


@package("wildfire-fwi", "wildfires")
def wildfire() -> Iterator[Case]:
    m = module("wildfire_fwi")
    yield "calculate_ffmc", spread(m.calculate_ffmc), [22.0, 40.0, 12.0, 1.3, 84.0]
    yield "calculate_dmc", lambda x: m.calculate_dmc(*x, 7), [22.0, 40.0, 2.3, 30.0]
    yield "calculate_bui", spread(m.calculate_bui), [40.0, 200.0]
    yield "calculate_fwi", spread(m.calculate_fwi), [9.0, 60.0]


@package("common-stats", "statistics")
def common_stats() -> Iterator[Case]:
    m = module("common_stats.statistics")
    yield "median", lambda x: m.median([*x]), RETURNS[:5]
    yield "standard_deviation", lambda x: m.standard_deviation([*x]), RETURNS[:5]


@package("padze", "population genetics")
def padze() -> Iterator[Case]:
    m = module("padze.moments")
    yield "moments_from_values", lambda x: m.moments_from_values(x).as_tuple(), RETURNS[:7]

    def streamed(x: Any) -> Any:
        found = m.MomentAccumulator()
        found.update_many(x)
        return found.finalize().as_tuple()

    yield "MomentAccumulator", streamed, RETURNS[:7]


@package("pychebyshev", "Chebyshev interpolation")
def pychebyshev() -> Iterator[Case]:
    m = module("pychebyshev.barycentric")
    nodes = np.cos(np.pi * (np.arange(6) + 0.5) / 6)
    yield "compute_barycentric_weights", m.compute_barycentric_weights, [
        -0.9, -0.3, 0.4, 0.8,
    ]  # fmt: skip
    yield (
        "barycentric_interpolate",
        lambda x: m.barycentric_interpolate(
            x[0], nodes, x[1:], m.compute_barycentric_weights(nodes)
        ),
        [0.17, 1.0, 1.3, 0.8, 0.2, 0.5, 0.9],
    )


@package("dkes", "planar arms")
def dkes() -> Iterator[Case]:
    m = module("dkes.kinematics")
    yield "forward_kinematics", spread(m.forward_kinematics), [30.0, 45.0, 100.0, 80.0]
    yield "inverse_kinematics", spread(m.inverse_kinematics), [90.0, 75.0, 100.0, 80.0]


@package("thztools", "terahertz spectroscopy")
def thztools() -> Iterator[Case]:
    m = module("thztools")
    yield "wave", lambda x: m.wave(16, dt=0.1, t0=x[0], a=x[1], taur=x[2], tauc=x[3], fwhm=x[4]), [
        0.5, 1.2, 0.6, 0.2, 0.1,
    ]  # fmt: skip
    yield (
        "scaleshift",
        lambda x: m.scaleshift(x[4:].reshape(2, 12), dt=0.1, a=x[:2], eta=x[2:4]),
        [1.1, 0.9, 0.03, -0.02, *WAVE[:24]],
    )

    def response(w: Any, a: Any, b: Any) -> Any:
        return a * np.exp(1j * w * b)

    yield (
        "apply_frf",
        lambda x: m.apply_frf(response, x[2:], dt=0.1, args=(x[0], x[1])),
        [0.8, 0.04, *WAVE[:12]],
    )


@package("coxmunk", "sunglint")
def coxmunk() -> Iterator[Case]:
    m, wind = module("coxmunk.coxmunk"), module("coxmunk.cox_munk_validate")
    yield "Pdist_", spread(wind.Pdist_), [5.0, 0.3, -0.4]
    for stats in ("cm_dir", "cm_iso"):
        yield (
            f"sunglint, {stats}",
            beside(
                lambda stats, x: m.sunglint(x[0], x[1], x[2]).sunglint(
                    x[3], wazi=x[4], stats=stats, shadow=False
                ),
                stats,
            ),
            [30.0, 25.0, 170.0, 6.0, 20.0],
        )


@package("cosmocalc-dilru1", "cosmology")
def cosmocalc() -> Iterator[Case]:
    m = module("cosmocalc.calculations")
    yield "hubble_parameter", spread(m.hubble_parameter), [70.0, 1.2, 0.3, 0.7]


@package("crop-energy-balance", "crops")
def crop_energy_balance() -> Iterator[Case]:
    m = module("crop_energy_balance.formalisms.canopy")
    yield "calc_zero_displacement_height", spread(m.calc_zero_displacement_height), [0.8, 3.0, 0.2]
    yield "calc_net_longwave_radiation", lambda x: m.calc_net_longwave_radiation(*x), [
        298.0, 1.5, 290.0, 0.9,
    ]  # fmt: skip
    yield "calc_penman_evaporative_energy", lambda x: m.calc_penman_evaporative_energy(*x), [
        0.01, 400.0, 0.2, 1.3, 0.07, 1.2, 0.28,
    ]  # fmt: skip


@package("formulon-physics", "physics formulas")
def formulon() -> Iterator[Case]:
    modern, waves = module("formulon.modernphysics"), module("formulon.wavedynamics")
    fluids = module("formulon.fluidmechanics")
    yield "relativistic_velocity_addition", spread(modern.relativistic_velocity_addition), [
        1e8, 1.3e8,
    ]  # fmt: skip
    yield "snells_law_angle", spread(waves.snells_law_angle), [1.0, 1.5, 30.0]
    yield "lens_makers_equation", spread(waves.lens_makers_equation), [1.5, 1.0, 0.2, -0.3]
    yield "torricellis_law", spread(fluids.torricellis_law), [9.81, 3.0]


@package("layerlumos", "thin films")
def layerlumos() -> Iterator[Case]:
    m = module("layerlumos")
    frequencies = np.array([4e14, 5e14])

    def spectrum(x: Any) -> Any:
        one = np.ones((2, 1))
        indices = np.concatenate([one, x[0] * one, (x[1] + 1j * x[2]) * one, x[3] * one], axis=1)
        return m.stackrt(
            indices, np.array([0.0, 1e-7 * x[4], 1e-7 * x[5], 0.0]), frequencies, x[6:]
        )

    yield "stackrt", spectrum, [1.5, 2.1, 0.1, 1.4, 0.9, 1.6, 25.0]


@package("nonrad", "semiconductor defects")
def nonrad() -> Iterator[Case]:
    m, scaling, diagrams = (module(f"nonrad.{name}") for name in ("nonrad", "scaling", "ccd"))
    yield "analytic_overlap_NM", lambda x: m.analytic_overlap_NM(x[0], x[1], x[2], 2, 3), [
        1.3, 0.04, 0.03,
    ]  # fmt: skip
    yield "sommerfeld_parameter", lambda x: scaling.sommerfeld_parameter(x[0], -1, x[1], x[2]), [
        300.0, 0.2, 8.9,
    ]  # fmt: skip
    yield "get_barrier_harmonic", lambda x: diagrams.get_barrier_harmonic(*x), [
        1.7, 1.0, 0.03, 0.04,
    ]  # fmt: skip


@package("ndspec", "X-ray timing")
def ndspec() -> Iterator[Case]:
    m = module("ndspec.Models")
    grid = np.array([0.5, 1.0, 2.0, 4.0])
    yield "lorentz", lambda x: m.lorentz(grid, x), [1.3, 2.0, 0.4]
    yield "varbbody", lambda x: m.varbbody(grid, x), [1.3, 0.9]
    yield "cross_lorentz", lambda x: m.cross_lorentz(grid, grid + 0.3, x), [1.3, 2.0, 0.4, 0.2]


@package("specmod", "seismic spectra")
def specmod() -> Iterator[Case]:
    sources, noise = module("specmod.sources.source"), module("specmod.core.noise")
    binned = module("specmod.core.collection")
    grid = np.linspace(1.0, 20.0, 8)
    levels = [4.0, 5.0, 7.0, 6.0, 3.0, 2.5, 2.0, 1.5]
    yield "BoatwrightSource", lambda x: sources.BoatwrightSource().log10_shape(grid, *x), [1.2, 6.0]
    yield "centroid_frequency", lambda x: noise.centroid_frequency(grid, x), levels
    yield "log_bin", lambda x: binned.log_bin(grid, x, n_bins=4).amp, levels
    yield "boost_noise", lambda x: noise.boost_noise(grid, x[:8], x[8:]), [
        1.0, 1.2, 1.1, 0.9, 1.0, 0.8, 0.7, 0.6, *levels,
    ]  # fmt: skip


@package("pydacp", "sparse eigenproblems")
def pydacp() -> Iterator[Case]:
    m = module("dacp.solver")
    start = np.cos(np.arange(4.0)).reshape(4, 1)
    yield (
        "low_E_filter",
        lambda x: m.low_E_filter(start, 0.1 * (x.reshape(4, 4) + x.reshape(4, 4).T), 5),
        PICTURE[:16],
    )


@package("survivalscale", "survival scales")
def survivalscale() -> Iterator[Case]:
    m, marginal = module("SurvivalScale.Solver"), module("SurvivalScale.Marginal")
    answers = np.array(
        [
            [1.0, 0.0, 1.0, 0.3, 1.2],
            [0.0, 1.0, 0.0, -0.4, 0.7],
            [1.0, 1.0, 1.0, 0.9, -0.2],
            [0.0, 0.0, 1.0, 0.1, 0.5],
        ]
    )
    yield "objective_function", lambda x: m.objective_function(x, answers, 2), [0.2, 0.5, 0.4, -0.3]
    yield "marginal_func", lambda x: marginal.marginal_func(x[:3], x[3:6], 1, x[6]), [
        0.2, 0.5, 0.4, 1.0, 0.7, -0.3, 0.1,
    ]  # fmt: skip


@package("part2pop", "aerosol particles")
def part2pop() -> Iterator[Case]:
    m = module("part2pop.aerosol_particle")

    def particle(x: Any) -> Any:
        return m.make_particle(
            1e-7 * x[0], ["SO4", "BC", "H2O"], np.array([x[1], x[2], 1 - x[1] - x[2]])
        )

    yield "get_Ddry", lambda x: 1e7 * particle(x).get_Ddry(), [1.2, 0.5, 0.2]
    yield "get_tkappa", lambda x: particle(x).get_tkappa(), [1.2, 0.5, 0.2]
    yield (
        "get_critical_supersaturation",
        lambda x: particle(x).get_critical_supersaturation(x[3]),
        [1.2, 0.5, 0.2, 293.0],
    )


@package("multispline-python", "multilevel splines")
def multispline() -> Iterator[Case]:
    m = module("multispline.splines")
    yield "make_spline_basis", lambda x: np.asarray(m.make_spline_basis(x)[0]), [
        0.1, 0.4, 0.5, 0.9, 1.3, 1.7, 2.0, 2.6, 3.1, 3.3,
    ]  # fmt: skip


@package("sbpy", "comets")
def sbpy() -> Iterator[Case]:
    m, dust = module("sbpy.photometry"), module("sbpy.activity.dust")
    yield "phase_HalleyMarcus", dust.phase_HalleyMarcus, [12.3, 45.7]
    yield "HG", lambda x: m.HG.evaluate(x[:2], x[2], x[3]), [0.2, 0.5, 8.0, 0.15]
    yield "LinearPhaseFunc", lambda x: m.LinearPhaseFunc.evaluate(x[:2], x[2], x[3]), [
        0.2, 0.5, 8.0, 0.15,
    ]  # fmt: skip


@package("latqcdtools", "lattice QCD")
def latqcd() -> Iterator[Case]:  # the last, since its import changes what NumPy does at errors
    m, polynomials = (
        module("latqcdtools.statistics.statistics"),
        module("latqcdtools.math.polynomials"),
    )
    derivatives, constants = (
        module("latqcdtools.math.num_deriv"),
        module("latqcdtools.math.num_int"),
    )
    yield "Rational", lambda x: polynomials.Rational(x[:3], x[3:5])(x[5]), [
        1.0, 0.4, -0.3, 1.0, 0.2, 0.7,
    ]  # fmt: skip
    yield "weighted_mean", lambda x: m.weighted_mean(x[:4], x[4:]), [
        1.0, 1.3, 0.8, 1.1, 0.1, 0.2, 0.15, 0.3,
    ]  # fmt: skip
    yield "cov_to_cor", lambda x: m.cov_to_cor(x.reshape(2, 2)), [1.3, 0.4, 0.4, 0.9]
    yield "gaudif", spread(m.gaudif), [1.0, 0.2, 1.4, 0.3]

    def cube(t: Any, a: Any) -> Any:
        return a * t**3

    yield (
        "diff_deriv",
        lambda x: derivatives.diff_deriv(x[0], cube, args=(x[1],), h=1e-3),
        [0.7, 1.4],
    )
    yield "integrateData", lambda x: constants.integrateData(x[:5], x[5:]), [
        0.0, 0.3, 0.7, 1.1, 1.6, 1.0, 1.3, 0.8, 0.2, 0.5,
    ]  # fmt: skip
