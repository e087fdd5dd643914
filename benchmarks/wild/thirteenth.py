"""A thirteenth sample, drawn on 2026-11-29, and written down before any of it was tried.

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

LONG = [*SERIES, 3.1, 0.7, 5.2, 2.6]
THIRTEENTH = Sample()
package = THIRTEENTH.package


@package("deerlab", "electron paramagnetic resonance")
def deerlab() -> Iterator[Case]:
    m = module("deerlab")
    distances, times = np.linspace(2.0, 5.0, 12), np.linspace(0.0, 2.0, 9)
    yield "dd_gauss", lambda x: m.dd_gauss(distances, x[0], x[1]), [3.4, 0.3]
    yield "bg_hom3d", lambda x: m.bg_hom3d(times, x[0], x[1]), [50.0, 0.3]
    yield "dipolarkernel", lambda x: m.dipolarkernel(
        times, distances, mod=x[0], bg=np.exp(-x[1] * times)
    ), [0.3, 0.1]  # fmt: skip
    yield "fftspec", lambda x: m.fftspec(x, np.linspace(0.0, 1.0, 12))[1], SERIES[:12]


@package("pychemengg", "chemical engineering")
def pychemengg() -> Iterator[Case]:
    exchangers, transient = (
        module(f"pychemengg.heattransfer.{name}") for name in ("heatexchangers", "transient")
    )
    air = module("pychemengg.physicalproperties.airproperties")

    yield (
        "lumped temperature",
        lambda x: transient.LumpedSystem(
            thermalconductivity=x[0],
            density=x[1],
            specificheat=x[2],
            T_initial=300.0,
            T_infinity=20.0,
            heattransfercoefficient=x[3],
            surfacearea=0.03,
            volume=0.0005,
        ).calc_temperature_of_solid_at_time_t(time=x[4]),
        [400.0, 8900.0, 380.0, 40.0, 60.0],
    )
    yield "oneshell2ntubepasses", lambda x: exchangers.FCorrectionFactor().oneshell2ntubepasses(
        T_tubein=x[0], T_tubeout=x[1], T_shellin=x[2], T_shellout=x[3]
    ), [20.0, 45.0, 90.0, 60.0]  # fmt: skip
    yield "density of air", lambda x: air.density(T=x[0]), [23.4]


@package("homopy", "homogenisation of composites")
def homopy() -> Iterator[Case]:
    elasticity, methods = module("homopy.elasticity"), module("homopy.methods")
    yield "TransverseIsotropy", lambda x: elasticity.TransverseIsotropy(*x).stiffness66, [
        130.0, 9.0, 4.5, 3.2, 0.28,
    ]  # fmt: skip
    yield (
        "MoriTanaka",
        lambda x: methods.MoriTanaka(
            elasticity.Isotropy(x[0], x[1]), elasticity.Isotropy(x[2], x[3]), x[4], x[5]
        ).get_effective_stiffness(),
        [2.0, 0.35, 70.0, 0.22, 0.25, 20.0],
    )
    yield (
        "Laminate",
        lambda x: methods.Laminate(
            [np.diag(x[:3]) + 0.3, np.diag(x[:3]) + 0.2], [x[3], x[4]]
        ).get_effective_stiffness(),
        [4.0, 3.0, 1.5, 0.3, -0.4],
    )


@package("hyperelastic", "rubber")
def hyperelastic() -> Iterator[Case]:
    m = module("hyperelastic")

    def stretched(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def stress(x: Any) -> Any:
            deformation = np.eye(3) + 0.1 * x[:9].reshape(3, 3)
            umat = m.DistortionalSpace(make(x[9:]))
            return umat.gradient([deformation[..., None, None], None])[0]

        return stress

    yield (
        "ThirdOrderDeformation",
        stretched(
            lambda x: m.InvariantsFramework(
                m.models.invariants.ThirdOrderDeformation(C10=x[0], C01=x[1])
            )
        ),
        [0.3, -0.2, 0.4, 0.1, 0.5, -0.3, 0.2, 0.15, -0.25, 0.5, 0.1],
    )
    yield (
        "Ogden",
        stretched(
            lambda x: m.StretchesFramework(
                m.models.stretches.Ogden(mu=[x[0], x[1]], alpha=[1.7, -1.5])
            )
        ),
        [0.3, -0.2, 0.4, 0.1, 0.5, -0.3, 0.2, 0.15, -0.25, 0.5, 0.1],
    )


@package("tribology", "friction and wear")
def tribology() -> Iterator[Case]:
    m = module("tribology")
    yield "reff", spread(m.reff), [0.02, 0.03, 0.05, 0.04]
    yield "phertz", spread(m.phertz), [0.01, 0.02, 0.03, 2.2e11, 80.0]
    yield "dowhampoint", lambda x: 1e6 * m.dowhampoint(
        x[0], x[1], 1e-8 * x[2], 1e11 * x[3], x[4], x[5]
    ), [1.3, 60.0, 1.7, 2.2, 0.01, 0.02]  # fmt: skip
    yield "walther", spread(m.walther), [40.0, 110.0, 100.0, 14.0, 60.0]
    yield "barus", lambda x: m.barus(x[0], 1e-8 * x[1], x[2]), [0.03, 2.0, 1e7]


@package("slientruss3d", "trusses")
def slientruss3d() -> Iterator[Case]:
    m, kinds = module("slientruss3d.truss"), module("slientruss3d.type")

    yield "k", lambda x: m.Member(
        (x[0], x[1]), (x[2], x[3]), 2, kinds.MemberType(x[4], x[5], 1.0)
    ).matK, [0.0, 0.3, 2.0, 1.0, 1.4, 20.0]  # fmt: skip


@package("ionize", "electrophoresis")
def ionize() -> Iterator[Case]:
    m = module("ionize")

    def ion(x: Any) -> Any:
        return m.Ion("acid", [-1], [x[0]], [1e-9 * x[1]])

    yield "mobility", lambda x: 1e9 * ion(x).mobility(x[2], x[3], 25.0), [4.8, -42.0, 5.0, 0.01]
    yield "molar_conductivity", lambda x: ion(x).molar_conductivity(x[2], x[3], 25.0), [
        4.8, -42.0, 5.0, 0.01,
    ]  # fmt: skip
    yield "ionization_fraction", lambda x: ion(x).ionization_fraction(x[2], x[3], 25.0), [
        4.8, -42.0, 5.0, 0.01,
    ]  # fmt: skip


@package("pytheos", "high pressure")
def pytheos() -> Iterator[Case]:
    m = module("pytheos")
    yield "bm3_p", lambda x: m.bm3_p(x[:3], x[3], x[4], x[5]), [70.0, 68.0, 66.0, 74.7, 160.0, 4.1]
    yield "vinet_p", lambda x: m.vinet_p(x[:3], x[3], x[4], x[5]), [
        70.0, 68.0, 66.0, 74.7, 160.0, 4.1,
    ]  # fmt: skip
    yield "constq_pth", lambda x: m.constq_pth(
        x[:2], x[2:4], x[4], x[5], x[6], x[7], 2.0, 4.0
    ), [70.0, 68.0, 900.0, 1500.0, 74.7, 1.5, 0.9, 760.0]  # fmt: skip
    yield "bm3_v", lambda x: m.bm3_v(x[0], x[1], x[2], x[3]), [20.0, 74.7, 160.0, 4.1]


@package("pedophysics", "soil geophysics")
def pedophysics() -> Iterator[Case]:
    ec, perm = (module(f"pedophysics.pedophysical_models.bulk_{n}") for n in ("ec", "perm"))
    yield "Rhoades", spread(ec.Rhoades), [0.25, 0.1, 0.02, 0.3, 1.2]
    yield "LongmireSmithEC", lambda x: ec.LongmireSmithEC(x[:2], x[2]), [0.01, 0.03, 1e6]
    yield "LR", spread(perm.LR), [0.25, 0.45, 1.0, 5.0, 80.0, 0.5]
    yield "LongmireSmithP", lambda x: perm.LongmireSmithP(x[:2], 5.0, x[2]), [0.01, 0.03, 1e7]


@package("welleng", "well paths")
def welleng() -> Iterator[Case]:
    u, drag = module("welleng.utils"), module("welleng.torque_drag")
    yield "get_vec", lambda x: u.get_vec(x[:2], x[2:]), [20.0, 40.0, 60.0, 80.0]
    yield "MinCurve", lambda x: u.MinCurve(
        np.array([0.0, 100.0, 200.0]), x[:3], x[3:]
    ).poss, [0.1, 0.3, 0.5, 0.2, 0.4, 0.7]  # fmt: skip
    yield "get_angles", lambda x: u.get_angles(x.reshape(2, 3), nev=True), [
        0.3, 0.4, 0.8, 0.5, -0.2, 0.7,
    ]  # fmt: skip
    yield "force_normal", spread(drag.force_normal), [2e4, 0.6, 0.05, 0.08, 300.0]


@package("bluebonnet", "oil and gas wells")
def bluebonnet() -> Iterator[Case]:
    gas, oil, water = (module(f"bluebonnet.fluids.{name}") for name in ("gas", "oil", "water"))
    yield "viscosity_Sutton", spread(gas.viscosity_Sutton), [300.0, 2000.0, 400.0, 660.0, 0.7]
    yield "z_factor_hallyarbrough", spread(gas.z_factor_hallyarbrough), [2.0, 1.6]
    yield "viscosity_beggs_robinson", spread(oil.viscosity_beggs_robinson), [
        200.0, 2000.0, 35.0, 0.8, 650.0,
    ]  # fmt: skip
    yield "b_o_Standing", lambda x: oil.b_o_Standing(x[0], x[1:3], x[3], x[4], x[5]), [
        200.0, 1500.0, 4000.0, 35.0, 0.8, 650.0,
    ]  # fmt: skip
    yield "viscosity_water_McCain", spread(water.viscosity_water_McCain), [200.0, 4000.0, 15.0]


@package("earthkit-meteo", "weather")
def earthkit() -> Iterator[Case]:
    m, wind = module("earthkit.meteo.thermo.array"), module("earthkit.meteo.wind.array")
    yield "ept_from_dewpoint", lambda x: m.ept_from_dewpoint(x[:2], x[2:4], x[4:]), [
        295.0, 285.0, 288.0, 280.0, 95000.0, 85000.0,
    ]  # fmt: skip
    yield "relative_humidity", lambda x: m.relative_humidity_from_specific_humidity(
        x[:2], x[2:4], x[4:]
    ), [295.0, 260.0, 0.008, 0.001, 95000.0, 60000.0]  # fmt: skip
    yield "xy_to_polar", lambda x: wind.xy_to_polar(x[:2], x[2:]), [3.0, -4.0, 2.0, 1.0]


@package("multipletau", "fluctuation correlation")
def multipletau() -> Iterator[Case]:
    m = module("multipletau")
    yield "autocorrelate", lambda x: m.autocorrelate(x, m=4, normalize=True), WAVE
    yield "correlate", lambda x: m.correlate(x, np.cos(0.4 * np.arange(len(WAVE))), m=4), WAVE


@package("nrefocus", "digital holography")
def nrefocus() -> Iterator[Case]:
    m = module("nrefocus")
    field = np.exp(0.3j * np.arange(16.0).reshape(4, 4))
    yield "refocus", lambda x: np.abs(
        m.refocus(field * x.reshape(4, 4), d=2.0, nm=1.33, res=4.0, padding=False)
    ), LONG  # fmt: skip
    yield "distance", lambda x: np.angle(
        m.refocus(field, d=x[0], nm=x[1], res=x[2], padding=False)
    ), [2.0, 1.33, 4.0]  # fmt: skip


@package("microscPSF-py", "light microscopy")
def microscopy() -> Iterator[Case]:
    m = module("microscPSF.microscPSF")
    places = np.linspace(0.0, 1.0, 6)

    def moved(**changed: Any) -> Any:
        return dict(m.m_params, **changed)

    yield "gLZRFocalScan", lambda x: m.gLZRFocalScan(
        m.m_params, places, np.array([-0.4, 0.1, 0.5]), pz=x[0], wvl=x[1]
    ), [0.3, 0.6]  # fmt: skip
    yield "OPD", lambda x: m.OPD(
        moved(ns=x[0], ng0=x[1]), 0.5 * places, x[2], x[3], 0.6, m.m_params["zd0"]
    ), [1.33, 1.5, 0.4, 0.3]  # fmt: skip


@package("diffcalc-core", "diffractometers")
def diffcalc() -> Iterator[Case]:
    geometry, ub = module("diffcalc.hkl.geometry"), module("diffcalc.ub.crystal")
    yield "get_q_phi", lambda x: geometry.get_q_phi(geometry.Position(*x)), [
        10.0, 25.0, 5.0, 12.0, 40.0, 70.0,
    ]  # fmt: skip
    yield "B", lambda x: ub.Crystal("salt", "Triclinic", *x).B, [
        4.0, 5.0, 6.0, 88.0, 95.0, 102.0,
    ]  # fmt: skip
    yield "get_hkl_plane_distance", lambda x: ub.Crystal(
        "salt", "Triclinic", *x
    ).get_hkl_plane_distance((1, 2, 1)), [4.0, 5.0, 6.0, 88.0, 95.0, 102.0]  # fmt: skip


@package("cameratransform", "cameras")
def cameratransform() -> Iterator[Case]:
    m = module("cameratransform")

    def camera(x: Any) -> Any:
        return m.Camera(
            m.RectilinearProjection(focallength_px=x[0], image=(1280, 720)),
            m.SpatialOrientation(elevation_m=x[1], tilt_deg=x[2], roll_deg=x[3]),
        )

    yield "imageFromSpace", lambda x: camera(x).imageFromSpace(x[4:].reshape(2, 3)), [
        1200.0, 15.0, 60.0, 3.0, 4.0, 40.0, 1.0, -3.0, 60.0, 2.0,
    ]  # fmt: skip
    yield "spaceFromImage", lambda x: camera(x).spaceFromImage(x[4:].reshape(2, 2), Z=0), [
        1200.0, 15.0, 60.0, 3.0, 600.0, 500.0, 800.0, 650.0,
    ]  # fmt: skip
    yield "getDistance", lambda x: m.getDistance(x[:2], x[2:]), [52.1, 4.2, 52.4, 4.9]


@package("lapy", "shape analysis")
def lapy() -> Iterator[Case]:
    m = module("lapy")
    corners = [0.0, 0, 0, 1, 0.1, 0, 0.2, 1, 0.1, 0.1, 0.2, 1.1]
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    yield "area", lambda x: m.TriaMesh(x.reshape(4, 3), faces).area(), corners
    yield "volume", lambda x: m.TriaMesh(x.reshape(4, 3), faces).volume(), corners
    yield "vertex_normals", lambda x: m.TriaMesh(x.reshape(4, 3), faces).vertex_normals(), corners
    yield "Polygon", lambda x: m.Polygon(x.reshape(4, 2), closed=True).area(), [
        0.0, 0, 2, 0.1, 2.2, 1.5, 0.1, 1,
    ]  # fmt: skip


@package("pymor", "model order reduction")
def pymor() -> Iterator[Case]:
    arrays = module("pymor.vectorarrays.numpy")
    schmidt = module("pymor.algorithms.gram_schmidt")
    operators = module("pymor.operators.numpy")

    def vectors(x: Any) -> Any:
        return arrays.NumpyVectorSpace.from_numpy(x.reshape(4, 3))

    yield "inner", lambda x: vectors(x).inner(vectors(np.cos(x))), SERIES[:12]
    yield "gram_schmidt", lambda x: schmidt.gram_schmidt(vectors(x)).to_numpy(), [
        1.0, 0.2, 0.3, -0.5, 1.4, 0.1, 0.7, -0.2, 1.9, 0.4, 0.3, -0.8,
    ]  # fmt: skip
    yield (
        "apply_inverse",
        lambda x: (
            operators.NumpyMatrixOperator(np.diag(x[:4]) + 0.1)
            .apply_inverse(arrays.NumpyVectorSpace.from_numpy(x[4:].reshape(4, 1)))
            .to_numpy()
        ),
        [2.0, 3.0, 4.0, 5.0, 1.0, -1.0, 0.5, 2.0],
    )


@package("bspline", "B-splines")
def bspline() -> Iterator[Case]:
    m, lab = module("bspline"), module("bspline.splinelab")
    knots = lab.augknt(np.linspace(0.0, 1.0, 5), 3)
    yield "basis", lambda x: m.Bspline(knots, 3)(x[0]), [0.37]
    yield "d", lambda x: m.Bspline(knots, 3).d(x[0]), [0.37]
    yield "aptknt", lambda x: lab.aptknt(x, 3), [0.0, 0.1, 0.3, 0.55, 0.8, 1.0]


@package("symfit", "curve fitting")
def symfit() -> Iterator[Case]:
    m, objectives = module("symfit"), module("symfit.core.objectives")
    a, b = m.parameters("a, b")
    s, y = m.variables("s, y")
    places = np.linspace(0.1, 2.0, 6)
    model = m.Model({y: a * m.exp(-b * s)})
    yield "Model", lambda x: model(s=places, a=x[0], b=x[1]).y, [1.4, 0.7]
    yield "LeastSquares", lambda x: objectives.LeastSquares(
        model, {s: places, y: np.cos(places), model.sigmas[y]: np.ones(6)}
    )(a=x[0], b=x[1]), [1.4, 0.7]  # fmt: skip


@package("kafe2", "fits in physics classes")
def kafe2() -> Iterator[Case]:
    m, errors = module("kafe2"), module("kafe2.core.error")
    library = module("kafe2.fit.util.function_library")

    def line(x: Any, a: float = 1.0, b: float = 0.5) -> Any:
        return a * x + b

    def cost(x: Any) -> Any:
        data = m.XYContainer(np.arange(1.0, 6.0), x[:5])
        data.add_error("y", 0.3)
        fit = m.XYFit(data, line)
        return fit.goodness_of_fit

    yield "normal_distribution", lambda x: library.normal_distribution(x[:3], x[3], x[4]), [
        0.1, 0.5, 1.2, 0.3, 0.8,
    ]  # fmt: skip
    yield "SimpleGaussianError", lambda x: errors.SimpleGaussianError(x[:3], x[3]).cov_mat, [
        0.2, 0.3, 0.5, 0.4,
    ]  # fmt: skip
    yield "XYFit", cost, [1.4, 2.6, 3.3, 4.9, 5.2]


@package("solarsystem", "planets")
def solarsystem() -> Iterator[Case]:
    m = module("solarsystem.functions")
    yield "spherical2rectangular", spread(m.spherical2rectangular), [40.0, 20.0, 1.3]
    yield "rectangular2spherical", spread(m.rectangular2spherical), [0.4, 0.7, 0.2]
    yield "spherical_ecliptic2equatorial", spread(m.spherical_ecliptic2equatorial), [
        40.0, 20.0, 1.3, 23.4,
    ]  # fmt: skip
    yield "Planet_Sun", spread(m.Planet_Sun), [50.0, 0.05, 1.5, 49.0, 286.0, 1.85]


@package("soltrack", "solar tracking")
def soltrack() -> Iterator[Case]:
    m = module("soltrack")

    def position(x: Any) -> Any:
        made = m.SolTrack(x[0], x[1], use_degrees=True, compute_refr_equatorial=False)
        made.set_date_and_time(2026, 5, 12, 10, 30, 15.0)
        made.compute_position()
        return made.azimuth, made.altitude

    yield "position", position, [5.9, 51.9]


@package("solarenergy", "photovoltaics")
def solarenergy() -> Iterator[Case]:
    m = module("solarenergy")
    yield "airmass", lambda x: m.airmass(x[0]), [0.6]
    yield "cos_angle_sun_panels", spread(m.cos_angle_sun_panels), [0.1, 0.5, 0.4, 0.7]
    yield "clearsky_bird", lambda x: m.clearsky_bird(x[0], x[1], x[2]), [0.6, 1353.0, 1.01]
    yield "pv_cell_temperature", lambda x: m.pv_cell_temperature(x[0], x[1], x[2]), [
        20.0, 700.0, 2.0,
    ]  # fmt: skip
    yield "reflectance_transmittance", spread(m.reflectance_transmittance), [0.6, 1.0, 1.4]


@package("colorzero", "colour on small computers")
def colorzero() -> Iterator[Case]:
    m, conversions = module("colorzero"), module("colorzero.conversions")
    yield "rgb_to_yuv", spread(conversions.rgb_to_yuv), [0.4, 0.6, 0.2]
    yield "xyz_to_lab", spread(conversions.xyz_to_lab), [0.3, 0.4, 0.25]
    yield "hls_to_rgb", spread(conversions.hls_to_rgb), [0.3, 0.4, 0.65]
    yield "ciede2000", lambda x: m.ciede2000(
        m.Lab(*x[:3]), m.Lab(*x[3:])
    ), [50.0, 20.0, -30.0, 55.0, 15.0, -20.0]  # fmt: skip


@package("xlogit", "discrete choice")
def xlogit() -> Iterator[Case]:
    m = module("xlogit")
    differences = np.sin(np.arange(30.0)).reshape(5, 2, 3)
    yield (
        "log likelihood",
        lambda x: m.MultinomialLogit()._loglik_gradient(  # noqa: SLF001  it is what is minimised
            x, differences, None, None, None, None, return_gradient=False
        ),
        [0.4, -0.3, 0.8],
    )


@package("penaltyblog", "football")
def penaltyblog() -> Iterator[Case]:
    m, metrics = module("penaltyblog.implied"), module("penaltyblog.metrics")
    yield "multiplicative", lambda x: m.calculate_implied(
        list(x), method="multiplicative"
    ).probabilities, [2.7, 2.3, 4.4]  # fmt: skip
    yield "power", lambda x: m.calculate_implied(list(x), method="power").probabilities, [
        2.7, 2.3, 4.4,
    ]  # fmt: skip
    yield "ignorance_score", lambda x: metrics.ignorance_score(
        x.reshape(2, 3), np.array([0, 2])
    ), [0.5, 0.3, 0.2, 0.2, 0.2, 0.6]  # fmt: skip


@package("neuralfoil", "wings")
def neuralfoil() -> Iterator[Case]:
    m = module("neuralfoil")
    foil = {
        "lower_weights": -0.12 * np.ones(8),
        "upper_weights": 0.2 * np.ones(8),
        "leading_edge_weight": 0.1,
        "TE_thickness": 0.001,
    }
    yield "lift", lambda x: m.get_aero_from_kulfan_parameters(
        foil, x[0], x[1], model_size="xxsmall"
    )["CL"], [4.0, 1e6]  # fmt: skip
    yield (
        "shape",
        lambda x: m.get_aero_from_kulfan_parameters(
            {**foil, "upper_weights": x}, 4.0, 1e6, model_size="xxsmall"
        )["CD"],
        [0.2, 0.21, 0.19, 0.2, 0.18, 0.2, 0.22, 0.2],
    )


@package("sporco", "sparse coding")
def sporco() -> Iterator[Case]:
    prox, metric, linalg = (module(f"sporco.{name}") for name in ("prox", "metric", "linalg"))
    yield "prox_l2", lambda x: prox.prox_l2(x.reshape(3, 4), 0.7, axis=1), SERIES[:12]
    yield "prox_l1", lambda x: prox.prox_l1(x, 0.7), SERIES[:12]
    yield "snr", lambda x: metric.snr(np.cos(np.arange(12.0)), x), SERIES[:12]
    yield (
        "solvedbi_sm",
        lambda x: linalg.solvedbi_sm(x[:6].reshape(2, 3), x[6], x[7:].reshape(2, 3), axis=1),
        [*SERIES[:6], 1.5, *SERIES[6:12]],
    )


@package("pyproximal", "proximal operators")
def pyproximal() -> Iterator[Case]:
    m = module("pyproximal")
    yield "Huber", lambda x: m.Huber(alpha=1.0).prox(x, 0.6), SERIES[:8]
    yield "Log", lambda x: m.Log(0.5, 1.2).prox(x, 0.4), SERIES[:8]
    yield "Nuclear", lambda x: m.Nuclear((4, 3), sigma=0.3).prox(x, 0.4), SERIES[:12]
    yield "Simplex", lambda x: m.Simplex(6, 1.0, engine="numpy", xtol=1e-13).prox(x, 0.4), [
        0.3, 0.5, -0.2, 0.9, 0.1, 0.4,
    ]  # fmt: skip


@package("gpyreg", "Gaussian processes")
def gpyreg() -> Iterator[Case]:
    m, means = module("gpyreg.covariance_functions"), module("gpyreg.mean_functions")
    points = np.sin(np.arange(10.0)).reshape(5, 2)
    yield "SquaredExponential", lambda x: m.SquaredExponential().compute(x, points), [
        0.1, -0.2, 0.3,
    ]  # fmt: skip
    yield "Matern", lambda x: m.Matern(5).compute(x, points, np.cos(points)), [0.1, -0.2, 0.3]
    yield "NegativeQuadratic", lambda x: means.NegativeQuadratic().compute(x, points), [
        0.4, 0.1, -0.2, 0.2, -0.1,
    ]  # fmt: skip


@package("neat-python", "evolving networks")
def neat() -> Iterator[Case]:
    activations, aggregations = module("neat.activations"), module("neat.aggregations")
    recurrent = module("neat.nn.feed_forward")
    yield "sigmoid", lambda x: [activations.sigmoid_activation(one) for one in x], [0.3, -0.5]
    yield "selu", lambda x: [activations.selu_activation(one) for one in x], [0.3, -0.5]
    yield "median", lambda x: aggregations.median_aggregation(list(x)), [0.3, -0.5, 0.8, 0.1]

    def network(x: Any) -> Any:
        nodes = [
            (
                node,
                activations.tanh_activation,
                aggregations.sum_aggregation,
                x[place],
                1.0,
                [(-1, x[place + 2]), (-2, x[place + 4])],
            )
            for place, node in enumerate((0, 1))
        ]
        return recurrent.FeedForwardNetwork([-1, -2], [0, 1], nodes).activate([0.4, -0.3])

    yield "FeedForwardNetwork", network, [0.1, 0.2, 0.3, -0.4, 0.5, 0.15]


@package("phylo-treetime", "molecular clocks")
def treetime() -> Iterator[Case]:
    gtr, dist = module("treetime.gtr"), module("treetime.distribution")
    yield "Distribution", lambda x: dist.Distribution(np.arange(6.0), x).y, SERIES[:6]
    yield "expQt", lambda x: gtr.GTR.custom(
        mu=1.0, pi=np.array([0.3, 0.2, 0.3, 0.2]), W=np.ones((4, 4)), alphabet="nuc_nogap"
    ).expQt(x[0]), [0.3]  # fmt: skip
    yield "avg_transition", lambda x: gtr.avg_transition(
        x[:16].reshape(4, 4), np.array([0.3, 0.2, 0.3, 0.2])
    ), LONG  # fmt: skip


@package("neutcurve", "neutralisation of viruses")
def neutcurve() -> Iterator[Case]:
    m = module("neutcurve.hillcurve")
    concentrations = np.array([0.002, 0.02, 0.1, 0.5, 2.0])
    yield "evaluate", lambda x: m.HillCurve.evaluate(concentrations, *x), [0.1, 1.5, 0.05, 0.95]


@package("specparam", "spectra of the brain")
def specparam() -> Iterator[Case]:
    m = module("specparam.modes.funcs")
    places = np.linspace(1.0, 30.0, 8)
    yield "gaussian_function", lambda x: m.gaussian_function(places, *x), [10.0, 0.6, 2.0]
    yield "skewed_gaussian_function", lambda x: m.skewed_gaussian_function(places, *x), [
        10.0, 0.6, 2.0, 1.3,
    ]  # fmt: skip
    yield "lorentzian_function", lambda x: m.lorentzian_function(places, *x), [1.0, 12.0, 1.4]
    yield "double_expo_function", lambda x: m.double_expo_function(places, *x), [
        1.0, 0.7, 20.0, 1.8,
    ]  # fmt: skip


@package("meegkit", "denoising of the brain's signals")
def meegkit() -> Iterator[Case]:
    m, covariances = module("meegkit.utils.matrix"), module("meegkit.utils.covariances")
    yield "normcol", lambda x: m.normcol(x.reshape(6, 2)), SERIES[:12]
    yield "multishift", lambda x: m.multishift(x.reshape(6, 2), np.array([0, 1, 2])), SERIES[:12]
    yield "tscov", lambda x: covariances.tscov(x.reshape(6, 2), np.array([0, 1]))[0], SERIES[:12]


@package("precession", "spinning black holes")
def precession() -> Iterator[Case]:
    m = module("precession")
    yield "eval_chieff", spread(m.eval_chieff), [0.8, 1.1, 0.7, 0.6, 0.8]
    yield "angles_to_conserved", spread(m.angles_to_conserved), [
        0.8, 1.1, 0.4, 100.0, 0.7, 0.6, 0.8,
    ]  # fmt: skip
    yield "eval_chip", lambda x: m.eval_chip(
        theta1=x[0], theta2=x[1], deltaphi=x[2], r=10.0, q=x[3], chi1=x[4], chi2=x[5], which="rms"
    ), [0.8, 1.1, 0.4, 0.7, 0.6, 0.8]  # fmt: skip
    yield "deltachicubic_coefficients", spread(m.deltachicubic_coefficients), [
        0.3, 0.05, 0.2, 0.7, 0.6, 0.8,
    ]  # fmt: skip


@package("photutils", "photometry")
def photutils() -> Iterator[Case]:
    psf, centroids = module("photutils.psf"), module("photutils.centroids")
    rows, columns = np.mgrid[0:5, 0:4].astype(float)
    yield "GaussianPSF", lambda x: psf.GaussianPSF().evaluate(columns, rows, *x), [
        10.0, 1.7, 2.2, 1.5, 2.0, 20.0,
    ]  # fmt: skip
    yield "CircularGaussianPRF", lambda x: psf.CircularGaussianPRF().evaluate(
        columns, rows, *x
    ), [10.0, 1.7, 2.2, 1.5]  # fmt: skip
    yield "MoffatPSF", lambda x: psf.MoffatPSF().evaluate(columns, rows, *x), [
        10.0, 1.7, 2.2, 1.5, 2.5,
    ]  # fmt: skip
    yield "centroid_com", lambda x: centroids.centroid_com(x.reshape(4, 3)), SERIES[:12]
    yield "gini", lambda x: module("photutils.morphology").gini(x), SERIES[:12]


@package("pulser-core", "neutral atoms")
def pulser() -> Iterator[Case]:
    m = module("pulser.waveforms")
    yield "RampWaveform", lambda x: m.RampWaveform(12, x[0], x[1]).samples.as_array(), [1.0, 3.0]
    yield "BlackmanWaveform", lambda x: m.BlackmanWaveform(16, x[0]).samples.as_array(), [2.0]
    yield "CustomWaveform", lambda x: m.CustomWaveform(x).integral, SERIES[:8]
    yield "InterpolatedWaveform", lambda x: m.InterpolatedWaveform(20, x).samples.as_array(), [
        0.3, 1.0, 0.6, 1.4,
    ]  # fmt: skip


@package("sigpy", "magnetic resonance imaging")
def sigpy() -> Iterator[Case]:
    m = module("sigpy")
    yield "fft", lambda x: np.abs(m.fft(x.reshape(4, 4) * (1.0 + 0.3j))), LONG
    yield "soft_thresh", lambda x: m.soft_thresh(0.5, x), SERIES[:8]
    yield "convolve", lambda x: m.convolve(x[:10], x[10:]), SERIES[:14]
    yield "rss", lambda x: m.rss(x.reshape(4, 3)), SERIES[:12]
    yield "whiten", lambda x: module("sigpy.mri.util").whiten(
        x[4:].reshape(2, 4), np.diag(x[:2]) + 0.1 * np.ones((2, 2))
    ), [2.0, 3.0, *SERIES[:10]]  # fmt: skip


@package("sdeint", "stochastic equations")
def sdeint() -> Iterator[Case]:
    m = module("sdeint")
    steps = np.linspace(0.0, 1.0, 9)
    noise = 0.1 * np.sin(np.arange(16.0)).reshape(8, 2)

    def path(solver: str) -> Callable[[Any], Any]:
        def ends(x: Any) -> Any:
            def drift(y: Any, _t: float) -> Any:
                return np.array([[-x[2], 0.4], [-0.4, -0.3]]) @ y

            def diffusion(_y: Any, _t: float) -> Any:
                return np.diag(x[3:])

            return getattr(m, solver)(drift, diffusion, x[:2], steps, dW=noise)

        return ends

    yield "itoEuler", path("itoEuler"), [1.0, 0.5, 0.7, 0.2, 0.3]
    yield "stratHeun", path("stratHeun"), [1.0, 0.5, 0.7, 0.2, 0.3]


@package("differint", "fractional calculus")
def differint() -> Iterator[Case]:
    m = module("differint.differint")

    def of(method: Any) -> Callable[[Any], Any]:
        def derivative(x: Any) -> Any:
            def growth(t: Any) -> Any:
                return np.exp(x[1] * t)

            return method(x[0], growth, 0.0, 1.0, 12)

        return derivative

    yield "GL", of(m.GL), [0.5, 0.7]
    yield "RL", of(m.RL), [0.5, 0.7]
    yield "MittagLeffler", lambda x: m.MittagLeffler(x[0], x[1], x[2:]), [0.8, 1.2, 0.3, -0.6]


@package("pycaputo", "fractional differential equations")
def pycaputo() -> Iterator[Case]:
    m, grids = module("pycaputo"), module("pycaputo.grid")
    points = grids.make_uniform_points(9, 0.0, 1.0)

    def of_sine(x: Any) -> Any:
        def sine(t: Any) -> Any:
            return np.sin(x[0] * t) * x[1]

        return m.diff(sine, points, 0.6)[1:]

    yield "diff", of_sine, [1.2, 0.8]
    yield "grid", lambda x: m.diff(
        np.square, grids.make_stretched_points(9, 0.0, x[0], strength=x[1]), 0.6
    )[1:], [1.1, 4.0]  # fmt: skip


@package("copulae", "dependence in finance")
def copulae() -> Iterator[Case]:
    m = module("copulae")
    points = np.array([[0.2, 0.4], [0.6, 0.5], [0.8, 0.9]])

    def density(kind: str) -> Callable[[Any], Any]:
        return lambda x: getattr(m, kind)(theta=x[0], dim=2).pdf(points)

    yield "Clayton", density("ClaytonCopula"), [1.4]
    yield "Gumbel", density("GumbelCopula"), [1.7]
    yield "Frank", density("FrankCopula"), [2.3]
    yield "pseudo marginals", lambda x: m.ClaytonCopula(theta=1.4, dim=2).cdf(
        x.reshape(3, 2)
    ), [0.2, 0.4, 0.6, 0.5, 0.8, 0.9]  # fmt: skip


@package("smithwilson", "insurance curves")
def smithwilson() -> Iterator[Case]:
    m = module("smithwilson")
    terms = np.array([1.0, 2.0, 5.0, 10.0])
    yield "fit_smithwilson_rates", lambda x: m.fit_smithwilson_rates(
        x, terms, np.array([3.0, 7.0, 20.0]), ufr=0.035, alpha=0.12
    ), [0.01, 0.012, 0.018, 0.022]  # fmt: skip
    yield (
        "wilson_function",
        lambda x: m.wilson_function(terms.reshape(-1, 1), terms.reshape(-1, 1), x[0], x[1]),
        [0.12, 0.035],
    )
    yield "fit_parameters", lambda x: m.fit_parameters(
        x.reshape(-1, 1), terms.reshape(-1, 1), 0.12, 0.035
    ), [
        0.01, 0.012, 0.018, 0.022,
    ]  # fmt: skip


@package("pointpats", "point patterns")
def pointpats() -> Iterator[Case]:
    m = module("pointpats.centrography")
    points = [0.1, 0.3, 1.2, 0.4, 0.9, 1.6, 0.3, 1.1, 0.7, 0.8]
    yield "std_distance", lambda x: m.std_distance(x.reshape(5, 2)), points
    yield "ellipse", lambda x: m.ellipse(x.reshape(5, 2)), points
    yield "weighted_mean_center", lambda x: m.weighted_mean_center(
        np.sin(np.arange(10.0)).reshape(5, 2), x
    ), [1.0, 2.0, 0.5, 1.5, 0.8]  # fmt: skip
    yield "dtot", lambda x: m.dtot(x, np.sin(np.arange(10.0)).reshape(5, 2)), [0.35, 0.15]


@package("pylinac", "radiotherapy")
def pylinac() -> Iterator[Case]:
    m, geometry = module("pylinac.calibration.tg51"), module("pylinac.core.geometry")
    yield "p_ion", lambda x: m.p_ion(
        voltage_reference=-300, voltage_reduced=-150, m_reference=x[0], m_reduced=x[1]
    ), [20.0, 19.8]  # fmt: skip
    yield "p_tp", lambda x: m.p_tp(temp=x[0], press=x[1]), [22.0, 101.0]
    yield "distance_to", lambda x: geometry.Line(tuple(x[:2]), tuple(x[2:4])).distance_to(
        geometry.Point(x[4], x[5])
    ), [0.1, 0.2, 3.0, 1.0, 1.0, 2.0]  # fmt: skip
    yield "kq_photon_pddx", lambda x: m.kq_photon_pddx(chamber="30013", pddx=x[0]), [66.4]


@package("surfalize", "rough surfaces")
def surfalize() -> Iterator[Case]:
    m = module("surfalize")

    def of(name: str) -> Callable[[Any], Any]:
        return lambda x: getattr(m.Surface(x.reshape(4, 4), 0.1, 0.2), name)()

    yield "Sq", of("Sq"), LONG
    yield "Ssk", of("Ssk"), LONG
    yield "Sdr", of("Sdr"), LONG
    yield "Sal", lambda x: m.Surface(x.reshape(4, 4), 0.1, 0.2).level().data, LONG


@package("cobyqa", "optimisation")
def cobyqa() -> Iterator[Case]:
    m = module("cobyqa.subsolvers")
    curvature = np.array([[2.0, 0.3], [0.3, 1.5]])

    def product(s: Any) -> Any:
        return curvature @ s

    def curved(s: Any) -> Any:
        return s @ curvature @ s

    yield "tangential_byrd_omojokun", lambda x: m.tangential_byrd_omojokun(
        x, product, -np.ones(2), np.ones(2), 0.7, False
    ), [0.3, -0.4]  # fmt: skip
    yield "cauchy_geometry", lambda x: m.cauchy_geometry(
        0.1, x, curved, -np.ones(2), np.ones(2), 0.7, False
    ), [0.3, -0.4]  # fmt: skip


@package("uravu", "reflectometry")
def uravu() -> Iterator[Case]:
    m, norm = module("uravu.optimize"), module("scipy.stats").norm
    places: Any = np.linspace(0.0, 1.0, 5)

    def model(s: Any, a: Any, b: Any) -> Any:
        return a * np.exp(b * s)

    yield "ln_likelihood", lambda x: m.ln_likelihood(
        x, model, places, norm(np.cos(places), 0.3)
    ), [1.1, 0.4]  # fmt: skip


@package("loopfield", "coils")
def loopfield() -> Iterator[Case]:
    m = module("loopfield")

    def field(x: Any) -> Any:
        made = m.Field()
        made.addLoop(m.Loop(x[:3], x[3:6], x[6], x[7]))
        return made.evaluate(x[8:])

    yield "evaluate", field, [0.1, 0.2, 0.0, 0.1, 0.3, 0.9, 1.4, 2.0, 0.5, 0.4, 0.8]


@package("AirSeaFluxCode", "air and sea")
def airsea() -> Iterator[Case]:
    m = module("AirSeaFluxCode")
    yield "VaporPressure", lambda x: m.VaporPressure(x, np.full(2, 1010.0), "liquid", "Buck"), [
        12.0, 18.0,
    ]  # fmt: skip
    yield "gc", m.gc, [40.0, 55.0]
    yield "adjust_wind_speed", lambda x: m.adjust_wind_speed(
        x[:2], x[2:4], np.full(2, 18.0), np.full(2, 10.0), x[4:], "S80"
    ), [8.0, 6.0, 0.3, 0.2, -40.0, 90.0]  # fmt: skip


@package("rosetta-soil", "soil hydraulics")
def rosetta() -> Iterator[Case]:
    m = module("rosetta")
    yield "predict", lambda x: m.Rosetta(3, 3).predict(x.reshape(1, 4))[0], [
        40.0, 35.0, 25.0, 1.4,
    ]  # fmt: skip


@package("sklvq", "prototypes")
def sklvq() -> Iterator[Case]:
    swish = module("sklvq.activations._swish")
    relative = module("sklvq.discriminants._relative_distance")
    yield "Swish", lambda x: swish.Swish(beta=x[0])(x[1:]), [1.5, 0.3, -0.4]
    yield "RelativeDistance", lambda x: relative.RelativeDistance()(x[:3], x[3:]), SERIES[:6]


@package("mord", "ordinal regression")
def mord() -> Iterator[Case]:
    m = module("mord.threshold_based")
    rows, classes = np.sin(np.arange(12.0)).reshape(6, 2), np.array([0, 1, 2, 0, 1, 2])
    ordered = np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(float)
    yield "obj_margin", lambda x: m.obj_margin(
        x, rows, classes, 0.4, 3, np.abs(np.diff(ordered)), np.tri(2), None
    ), [0.4, -0.3, 0.2, 0.9]  # fmt: skip
    yield "threshold_proba", lambda x: m.threshold_proba(rows, x[:2], x[2:]), [
        0.4, -0.3, 0.2, 0.9,
    ]  # fmt: skip


@package("yasa", "sleep")
def yasa() -> Iterator[Case]:
    m, others = module("yasa"), module("yasa.others")
    frequencies = np.linspace(0.5, 40.0, 80)
    bands = [(0.5, 4, "Delta"), (4, 8, "Theta"), (8, 30, "Alpha")]
    yield "bandpower", lambda x: m.bandpower_from_psd_ndarray(
        x[0] / (frequencies + x[1]), frequencies, bands=bands
    ), [2.0, 1.5]  # fmt: skip
    yield "trimbothstd", lambda x: others.trimbothstd(x, cut=0.1), SERIES[:12]
    yield "moving_transform", lambda x: others.moving_transform(
        x, sf=4, window=1, step=0.5, method="rms"
    )[1], LONG  # fmt: skip


@package("nanite", "atomic force microscopy")
def nanite() -> Iterator[Case]:
    paraboloid = module("nanite.model.model_hertz_paraboloidal")
    cone, sphere = (
        module("nanite.model.model_conical_indenter"),
        module("nanite.model.model_sneddon_spherical_approximation"),
    )
    depths = np.linspace(-2e-6, 1e-6, 7)
    yield "hertz_paraboloidal", lambda x: 1e9 * paraboloid.hertz_paraboloidal(
        depths, x[0], 1e-5, x[1]
    ), [3000.0, 0.45]  # fmt: skip
    yield "hertz_conical", lambda x: 1e9 * cone.hertz_conical(depths, x[0], x[1], x[2]), [
        3000.0, 25.0, 0.45,
    ]  # fmt: skip
    yield "sneddon", lambda x: 1e9 * sphere.hertz_sneddon_spherical_approx(
        depths, x[0], 1e-5, x[1]
    ), [3000.0, 0.45]  # fmt: skip


@package("diffsims", "electron diffraction")
def diffsims() -> Iterator[Case]:
    m = module("diffsims.utils.sim_utils")
    yield "get_electron_wavelength", lambda x: m.get_electron_wavelength(x[0]), [200.0]
    yield "get_interaction_constant", lambda x: m.get_interaction_constant(x[0]), [200.0]
    yield "scattering_angle", lambda x: m.scattering_angle_to_lattice_parameter(x[0], x[1]), [
        0.025, 0.01,
    ]  # fmt: skip
    yield "beta_to_bst", lambda x: m.beta_to_bst(x[0], x[1]), [1e-4, 2e5]
