"""A ninth sample, drawn on 2026-11-28 after the eighth, and written down before any was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .eighth import OTHER, spd
from .fresh import SERIES
from .functions import Sample, module, spread
from .later import WAVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

NINTH = Sample()
package = NINTH.package
STRIKES = np.array([95.0, 108.0])


@package("pyfeng", "option pricing")
def pyfeng() -> Iterator[Case]:
    m = module("pyfeng")

    def sabr(x: Any) -> Any:
        model = m.SabrHagan2002(x[0], vov=x[1], rho=x[2], beta=0.5)
        return model.vol_for_price(STRIKES, 100.0, 1.2)

    yield "Bsm.price", lambda x: m.Bsm(x[0]).price(STRIKES, x[1], x[2]), [0.2, 100.0, 1.2]
    yield "Bsm.vega", lambda x: m.Bsm(x[0], intr=0.03).vega(STRIKES, x[1], 1.2), [0.2, 100.0]
    yield "Norm.price", lambda x: m.Norm(x[0]).price(STRIKES, x[1], x[2]), [20.0, 100.0, 1.2]
    yield "SabrHagan2002.vol_for_price", sabr, [2.0, 0.4, -0.3]


@package("pyfar", "audio engineering")
def pyfar() -> Iterator[Case]:
    m = module("pyfar")

    def turned(x: Any) -> Any:
        points = m.Coordinates.from_spherical_elevation(x[:2], x[2:4], x[4:])
        return points.cartesian

    yield "Coordinates", turned, [0.3, 0.7, 0.2, 0.4, 1.0, 1.3]
    yield "rms", lambda x: m.dsp.rms(m.Signal(x, 8000)), SERIES
    yield "Signal.freq", lambda x: m.Signal(x, 8000).freq, SERIES
    yield "energy", lambda x: m.dsp.energy(m.Signal(x, 8000)), SERIES


@package("pygaps", "adsorption")
def pygaps() -> Iterator[Case]:
    modelling = module("pygaps.modelling")
    area = module("pygaps.characterisation.area_bet")
    thickness = module("pygaps.characterisation.models_thickness")
    pressures = np.array([0.1, 0.4, 0.8])

    def langmuir(x: Any) -> Any:
        model = modelling.get_isotherm_model("Langmuir", parameters={"K": x[0], "n_m": x[1]})
        return model.loading(pressures)

    def spreading(x: Any) -> Any:
        parameters = {"n_m1": x[0], "K1": x[1], "n_m2": x[2], "K2": x[3]}
        model = modelling.get_isotherm_model("DSLangmuir", parameters=parameters)
        return model.spreading_pressure(pressures)

    yield "Langmuir.loading", langmuir, [2.0, 5.0]
    yield "DSLangmuir.spreading_pressure", spreading, [2.0, 5.0, 1.0, 0.4]
    yield "bet_transform", lambda x: area.bet_transform(x[:3], x[3:]), [
        0.1, 0.2, 0.3, 2.0, 2.5, 2.8,
    ]  # fmt: skip
    yield "thickness_halsey", thickness.thickness_halsey, [0.1, 0.3, 0.6]


@package("pypulseq", "magnetic resonance imaging")
def pypulseq() -> Iterator[Case]:
    m = module("pypulseq")

    def sinc(x: Any) -> Any:
        pulse = m.make_sinc_pulse(
            flip_angle=x[0], duration=1e-3, apodization=x[1], use="excitation"
        )
        return pulse.signal[::100]

    def gauss(x: Any) -> Any:
        pulse = m.make_gauss_pulse(flip_angle=x[0], duration=1e-3, bandwidth=x[1], use="excitation")
        return pulse.signal[::100]

    def trapezoid(x: Any) -> Any:
        found = m.make_trapezoid("x", amplitude=x[0], rise_time=2e-4, flat_time=1e-3)
        return [found.area, found.flat_area]

    yield "make_sinc_pulse", sinc, [1.2, 0.4]
    yield "make_gauss_pulse", gauss, [1.2, 3000.0]
    yield "make_trapezoid", trapezoid, [2000.0]


@package("openpmd-beamphysics", "particle accelerators")
def beamphysics() -> Iterator[Case]:
    statistics = module("beamphysics.statistics")
    solenoid = module("beamphysics.fields.solenoid")
    walls = module("beamphysics.wakefields.resistive_wall")
    particles = module("beamphysics.particles")

    def emittance(x: Any) -> Any:
        zeros = np.zeros(4)
        data = {
            "x": 1e-3 * x[:4], "y": zeros, "z": zeros, "px": x[4:], "py": zeros,
            "pz": np.full(4, 1e7), "t": zeros, "status": np.ones(4), "weight": np.ones(4) * 1e-12,
            "species": "electron",
        }  # fmt: skip
        return particles.ParticleGroup(data=data).norm_emit_x

    yield "twiss_calc", lambda x: statistics.twiss_calc(spd(x)), [1.2, 0.3, 0.2, 0.9]
    yield "Bz_on_axis", spread(solenoid.Bz_on_axis), [0.1, 0.05, 0.2, 1e4]
    yield "ac_conductivity", lambda x: walls.ac_conductivity(x[0], x[1], 1e-6 * x[2]), [
        1e3, 6e7, 8.0,
    ]  # fmt: skip
    yield "norm_emit_x", emittance, [1.0, 2.0, -1.0, 0.4, 2e3, 1e3, -3e3, 5e2]


@package("particula", "aerosols")
def particula() -> Iterator[Case]:
    slip = module("particula.particles.properties.slip_correction_module")
    vapor = module("particula.gas.properties.vapor_pressure_module")
    activity = module("particula.particles.properties.activity_module")
    settling = module("particula.particles.properties.settling_velocity")

    def velocity(x: Any) -> Any:
        return settling.get_particle_settling_velocity_via_system_state(x[0], x[1], x[2], 101325.0)

    def kappa(x: Any) -> Any:
        return activity.get_kappa_activity(
            x, np.array([0.0, 0.2, 0.5]), np.array([1000.0, 1200.0, 1500.0]),
            np.array([0.018, 0.1, 0.2]), 0,
        )  # fmt: skip

    yield "get_cunningham_slip_correction", slip.get_cunningham_slip_correction, [
        0.5, 2.0,
    ]  # fmt: skip
    yield "get_particle_settling_velocity_via_system_state", velocity, [1e-2, 1000.0, 298.0]
    yield "get_buck_vapor_pressure", vapor.get_buck_vapor_pressure, [290.0, 300.0]
    yield "get_kappa_activity", kappa, [1.0, 2.0, 3.0]


@package("pyrtlib", "microwave radiometry")
def pyrtlib() -> Iterator[Case]:
    u, models = module("pyrtlib.utils"), module("pyrtlib.absorption_model")

    def water(x: Any) -> Any:
        models.LiqAbsModel.model = "R98"
        return models.LiqAbsModel.liquid_water_absorption(x[0], x[1], x[2])

    yield "mr2rh", lambda x: u.mr2rh(x[:2], x[2:4], x[4:]), [900.0, 800.0, 290.0, 280.0, 8.0, 5.0]
    yield "eswat_goffgratch", u.eswat_goffgratch, [290.0, 280.0]
    yield "virtual_temperature", lambda x: u.virtual_temperature(x[0], x[1]), [290.0, 8.0]
    yield "liquid_water_absorption", water, [0.2, 30.0, 285.0]


@package("motulator", "electric drives")
def motulator() -> Iterator[Case]:
    m, utils = module("motulator.common.utils._utils"), module("motulator.drive.utils._helpers")
    torques = module("motulator.drive.control.sm._torque")

    def machine(x: Any) -> Any:
        pars = utils.SynchronousMachinePars(n_p=3, R_s=0.5, L_d=x[0], L_q=x[1], psi_f=x[2])
        return torques.TorqueCharacteristics(pars)

    point = [0.03, 0.05, 0.6, 8.0]
    yield "abc2complex", m.abc2complex, [1.0, 2.0, -0.5]
    yield "complex2abc", lambda x: m.complex2abc(x[0] + 1j * x[1]), [1.0, -0.5]
    yield "mtpa", lambda x: machine(x).mtpa(x[3]), point
    yield "torque", lambda x: machine(x).torque(x[3] + 0.4j), [0.03, 0.05, 0.6, 0.7]


@package("extensisq", "Runge-Kutta methods")
def extensisq() -> Iterator[Case]:
    m, integrate = module("extensisq"), module("scipy.integrate")

    def pendulum(_: float, y: Any) -> Any:
        return np.array([y[1], -np.sin(y[0])])

    def end(method: str) -> Callable[[Any], Any]:
        solver = getattr(m, method)
        return lambda x: integrate.solve_ivp(
            pendulum, (0.0, 1.0), x, method=solver, rtol=1e-8, atol=1e-10, first_step=0.05
        ).y[:, -1]

    for method in ("BS5", "Ts5", "Me4"):
        yield method, end(method), [0.8, 0.3]


@package("gmr", "mixture regression")
def gmr() -> Iterator[Case]:
    m = module("gmr")
    places = np.array([[0.1, 0.5], [1.0, -0.3]])

    def mixture(x: Any) -> Any:
        return m.GMM(
            2, priors=np.array([0.4, 0.6]), means=x.reshape(2, 2), covariances=np.array([OTHER] * 2)
        )

    point = [0.2, 0.4, 1.1, -0.5]
    yield "MVN.to_probability_density", lambda x: m.MVN(x, OTHER).to_probability_density(places), [
        0.2, 0.4,
    ]  # fmt: skip
    yield "MVN.condition", lambda x: m.MVN(x[:2], OTHER).condition([0], x[2:]).mean, [0.2, 0.4, 0.7]
    yield "GMM.to_probability_density", lambda x: mixture(x).to_probability_density(places), point
    yield "GMM.predict", lambda x: mixture(x).predict([0], np.array([[0.3]])), point


@package("PyMoosh", "multilayers")
def pymoosh() -> Iterator[Case]:
    m, models = module("PyMoosh"), module("PyMoosh.models")

    def stack(x: Any) -> Any:
        return m.Structure([1.0, 2.25, 4.0], [0, 1, 2, 0], [0.0, x[0], x[1], 0.0], verbose=False)

    def reflected(x: Any) -> Any:
        return m.coefficient(stack(x), x[2], x[3], 0)[2:]

    def absorbed(x: Any) -> Any:
        return m.absorption(stack(x), x[2], x[3], 1)[-2:]

    point = [120.0, 80.0, 600.0, 0.3]
    yield "coefficient", reflected, point
    yield "absorption", absorbed, point
    yield "Drude", lambda x: models.Drude(x[0], x[1], x[2]), [600.0, 9.0, 0.1]


@package("chaosmagpy", "geomagnetism")
def chaosmagpy() -> Iterator[Case]:
    m, c = module("chaosmagpy.model_utils"), module("chaosmagpy.coordinate_utils")
    coefficients = np.array([-29400.0, -1450.0, 4650.0])

    yield "synth_values", lambda x: m.synth_values(coefficients, x[0], x[1], x[2]), [
        6500.0, 55.0, 15.0,
    ]  # fmt: skip
    yield "power_spectrum", m.power_spectrum, [*coefficients]
    yield "gg_to_geo", lambda x: c.gg_to_geo(x[0], x[1]), [100.0, 55.0]
    yield "spherical_to_cartesian", spread(c.spherical_to_cartesian), [6500.0, 55.0, 15.0]


@package("PyIRI", "ionosphere")
def pyiri() -> Iterator[Case]:
    m, field = module("PyIRI.main_library"), module("PyIRI.igrf_library")
    heights = np.array([150.0, 280.0, 400.0])

    yield "epstein", lambda x: m.epstein(x[0], x[1], x[2], heights), [1e3, 250.0, 40.0]
    yield "freq2den", m.freq2den, [4.0, 7.0]
    yield "F107_2_R12", m.F107_2_R12, [90.0, 150.0]
    yield "gg_to_geo", lambda x: field.gg_to_geo(x[0], x[1]), [300.0, 55.0]


@package("liquepy", "soil liquefaction")
def liquepy() -> Iterator[Case]:
    m = module("liquepy.trigger.boulanger_and_idriss_2014")

    yield "calc_i_c", spread(m.calc_i_c), [60.0, 1.2]
    yield "calc_crr_m7p5_from_qc1ncs", m.calc_crr_m7p5_from_qc1ncs, [80.0, 120.0]
    yield "calc_k_sigma", lambda x: m.calc_k_sigma(x[:2], x[2:]), [150.0, 220.0, 90.0, 110.0]
    yield "calc_unit_dry_weight", lambda x: m.calc_unit_dry_weight(x[:2], x[2:], 101.0, 9.81), [
        40.0, 60.0, 5000.0, 8000.0,
    ]  # fmt: skip


@package("geofound", "foundations")
def geofound() -> Iterator[Case]:
    m = module("geofound")
    stiffness = module("geofound.stiffness.gazetas_1991")

    def parts(x: Any) -> Any:
        soil = m.create_soil(phi=x[0], cohesion=x[1], unit_dry_weight=x[2])
        return soil, m.create_foundation(x[3], x[4], depth=0.5, height=0.5)

    def vertical(x: Any) -> Any:
        soil, footing = parts(np.array([30.0, 1e3, 17e3, 3.0, 2.0]))
        soil.g_mod, soil.poissons_ratio = x[0], x[1]
        footing.length, footing.width = x[2], x[3]
        return stiffness.calc_vert_via_gazetas_1991(soil, footing)

    point = [30.0, 1e3, 17e3, 3.0, 2.0]
    yield "capacity_vesic_1975", lambda x: m.capacity.capacity_vesic_1975(*parts(x)), point
    yield "capacity_meyerhof_1963", lambda x: m.capacity.capacity_meyerhof_1963(*parts(x)), point
    yield "calc_vert_via_gazetas_1991", vertical, [3e7, 0.3, 3.0, 2.0]


@package("pyunlocbox", "convex optimisation")
def pyunlocbox() -> Iterator[Case]:
    f = module("pyunlocbox.functions")
    known = np.array([1.0, 3.0, 2.0, 5.0])

    yield "norm_l2.eval", lambda x: f.norm_l2(y=known, lambda_=2).eval(x), SERIES[:4]
    yield "norm_l1.prox", lambda x: f.norm_l1(y=known).prox(x, 0.3), SERIES[:4]
    yield "norm_nuclear.eval", lambda x: f.norm_nuclear().eval(x.reshape(2, 2)), SERIES[:4]
    yield "norm_tv.eval", lambda x: f.norm_tv(dim=2, verbosity="NONE").eval(x.reshape(3, 4)), SERIES


@package("astroML", "astronomical statistics")
def astroml() -> Iterator[Case]:
    stats, fourier = module("astroML.stats"), module("astroML.fourier")
    correlation = module("astroML.correlation")
    times = np.arange(12.0)

    yield "median_sigmaG", stats.median_sigmaG, SERIES
    yield "FT_continuous", lambda x: fourier.FT_continuous(times, x)[1], SERIES
    yield "ra_dec_to_xyz", spread(correlation.ra_dec_to_xyz), [30.0, 12.0]
    yield "sinegauss", lambda x: fourier.sinegauss(times, x[0], x[1], x[2]), [5.0, 0.3, 2.0]


@package("orbit-predictor", "satellite passes")
def orbit_predictor() -> Iterator[Case]:
    k, c = module("orbit_predictor.keplerian"), module("orbit_predictor.coordinate_systems")
    a = module("orbit_predictor.angles")

    def elements(x: Any) -> Any:
        return k.rv2coe(398600.4, x[:3], x[3:])

    yield "rv2coe", elements, [6524.8, 6862.9, 6448.3, 4.9, 5.5, -1.98]
    yield "coe2rv", lambda x: k.coe2rv(398600.4, *x), [11067.0, 0.83, 1.53, 3.98, 0.93, 1.61]
    yield "M_to_ta", spread(a.M_to_ta), [0.8, 0.3]
    yield "ecef_to_llh", c.ecef_to_llh, [4510.7, 1284.6, 4310.2]


@package("semopy", "structural equations")
def semopy() -> Iterator[Case]:
    m, pandas = module("semopy"), module("pandas")
    turns = np.cos(np.outer(np.arange(12.0) + 1.0, np.array([1.3, 2.1, 0.7])))
    data = pandas.DataFrame(turns, columns=["a", "b", "c"])
    model = m.Model("b ~ a\nc ~ a + b")
    model.load(data)
    point = [0.3, 0.2, 0.4, 0.5, 0.6]

    yield "obj_mlw", model.obj_mlw, point
    yield "obj_uls", model.obj_uls, point
    yield "l1_smooth", lambda x: m.regularization.l1_smooth(x, 0.3, 0.2, np.arange(3)), point[:3]


@package("pvmismatch", "photovoltaic mismatch")
def pvmismatch() -> Iterator[Case]:
    m = module("pvmismatch.pvmismatch_lib.pvcell")
    constants = module("pvmismatch.pvmismatch_lib.pvconstants")

    yield "PVcell.calcIcell", lambda x: m.PVcell(Ee=x[0], Tcell=x[1]).calcIcell(x[2]), [
        0.9, 310.0, 0.5,
    ]  # fmt: skip
    yield "PVcell.Voc", lambda x: m.PVcell(Ee=x[0], Tcell=x[1]).Voc, [0.9, 310.0]
    yield "PVcell.f_Icell", spread(m.PVcell.f_Icell), [
        5.0, 0.5, 6.0, 0.004, 0.026, 2e-11, 1e-6, 10.0,
    ]  # fmt: skip
    yield "npinterpx", lambda x: constants.npinterpx(x[:2], np.arange(4.0), x[2:]), [
        0.4, 3.7, 1.0, 3.0, 2.0, 5.0,
    ]  # fmt: skip


@package("oemof.thermal", "heat storage")
def oemof() -> Iterator[Case]:
    pumps = module("oemof.thermal.compression_heatpumps_and_chillers")
    store = module("oemof.thermal.stratified_thermal_storage")
    chillers = module("oemof.thermal.absorption_heatpumps_and_chillers")

    def cops(x: Any) -> Any:
        return pumps.calc_cops("heat_pump", [x[0]], [x[1], x[2]], x[3])

    def warmth(x: Any) -> Any:
        return chillers.calc_characteristic_temp(
            [x[0]], [x[1]], [x[2]], 2.5, 1.8, "kuehn_and_ziegler"
        )

    yield "calc_cops", cops, [45.0, 5.0, -3.0, 0.4]
    yield "calculate_losses", spread(store.calculate_losses), [0.5, 2.0, 90.0, 50.0, 10.0]
    yield "calc_characteristic_temp", warmth, [80.0, 30.0, 15.0]


@package("openfermion", "quantum simulation")
def openfermion() -> Iterator[Case]:
    channels, linalg = module("openfermion.utils.channel_state"), module("openfermion.linalg")
    state = np.array([[0.6, 0.2], [0.2, 0.4]])

    yield (
        "amplitude_damping_channel",
        lambda x: channels.amplitude_damping_channel(state, x[0], 0),
        [0.3],
    )
    yield "dephasing_channel", lambda x: channels.dephasing_channel(state * x[1], x[0], 0), [0.3, 1]
    yield "givens_matrix_elements", lambda x: linalg.givens_matrix_elements(x[0], x[1]), [0.3, 0.8]


@package("niapy", "test problems")
def niapy() -> Iterator[Case]:
    m = module("niapy.problems")

    for name in ("Ackley", "Levy", "Rosenbrock", "Zakharov"):
        problem = getattr(m, name)(dimension=4)
        yield name, problem.evaluate, [0.3, 1.2, -0.7, 2.1]


@package("komm", "communication systems")
def komm() -> Iterator[Case]:
    m = module("komm")

    yield "entropy", lambda x: m.entropy(x / np.sum(x)), [0.1, 0.3, 0.4, 0.2]
    yield "gaussian_q", m.gaussian_q, [0.3, 1.2]
    yield "binary_entropy", lambda x: m.binary_entropy(x[0]), [0.3]
    yield "boxplus", lambda x: m.boxplus(x[:2], x[2:]), [0.3, 1.2, -0.7, 2.0]


@package("gnss-lib-py", "satellite navigation")
def gnss() -> Iterator[Case]:
    c, snapshot = module("gnss_lib_py.utils.coordinates"), module("gnss_lib_py.algorithms.snapshot")
    satellites = np.array([
        [1.5e7, 2.0e7, 8e6], [2.0e7, -1.0e7, 1.4e7], [1e7, 5e6, 2.4e7], [2.4e7, 8e6, 7e6],
        [1.8e7, 1.5e7, 1.2e7],
    ])  # fmt: skip
    start = np.array([[4.5e6], [1.3e6], [4.3e6], [0.0]])

    def located(x: Any) -> Any:
        return snapshot.wls(start, satellites.copy(), x[:, None], sv_rx_time=True)

    def geodetic(x: Any) -> Any:
        return c.ecef_to_geodetic(x.reshape(3, 1))

    ranges = np.linalg.norm(satellites - np.array([4.51e6, 1.28e6, 4.31e6]), axis=1) + 100.0
    yield "geodetic_to_ecef", lambda x: c.geodetic_to_ecef(x.reshape(3, 1)), [46.0, 11.0, 300.0]
    yield "ecef_to_geodetic", geodetic, [4.51e6, 1.28e6, 4.31e6]
    yield "wls", located, [*ranges]


@package("sequence-jacobian", "macroeconomics")
def sequence_jacobian() -> Iterator[Case]:
    d, misc = (module(f"sequence_jacobian.utilities.{name}") for name in ("discretize", "misc"))

    yield "markov_rouwenhorst", lambda x: d.markov_rouwenhorst(x[0], x[1], 4)[:1], [0.8, 0.3]
    yield "stationary", lambda x: d.stationary(x.reshape(2, 2) / x.reshape(2, 2).sum(1)[:, None]), [
        0.7, 0.3, 0.4, 0.6,
    ]  # fmt: skip
    yield "variance", lambda x: d.variance(x[:3], x[3:]), [1.0, 2.0, 4.0, 0.3, 0.5, 0.2]
    yield "logsum", lambda x: misc.logsum(x.reshape(2, 3), 0.5), SERIES[:6]


@package("elephant", "spike trains")
def elephant() -> Iterator[Case]:
    s, phase = module("elephant.statistics"), module("elephant.phase_analysis")

    yield "cv2", s.cv2, SERIES
    yield "lv", s.lv, SERIES
    yield "mean_phase_vector", phase.mean_phase_vector, [0.3, 1.1, -0.4, 2.0]
    yield (
        "phase_locking_value",
        lambda x: phase.phase_locking_value(x[:6].reshape(2, 3), x[6:].reshape(2, 3))[0],
        SERIES,
    )


@package("nara-wpe", "dereverberation")
def nara_wpe() -> Iterator[Case]:
    m = module("nara_wpe.wpe")

    def signals(x: Any) -> Any:
        return x[:12].reshape(2, 6) + 1j * x[12:].reshape(2, 6)

    yield "wpe_v6", lambda x: m.wpe_v6(signals(x), taps=1, delay=1, iterations=1), WAVE
    yield "wpe_v0", lambda x: m.wpe_v0(signals(x), taps=1, delay=1, iterations=1), WAVE
    yield "get_power_inverse", lambda x: m.get_power_inverse(signals(x)), WAVE


@package("spaudiopy", "spatial audio")
def spaudiopy() -> Iterator[Case]:
    u, sph = module("spaudiopy.utils"), module("spaudiopy.sph")

    yield "sh_to_b", lambda x: sph.sh_to_b(x.reshape(4, 2)), SERIES[:8]
    yield "cart2sph", lambda x: u.cart2sph(x[0], x[1], x[2]), [1.0, 0.4, -0.6]
    yield "rotation_euler", spread(u.rotation_euler), [0.3, 0.7, -0.4]
    yield "haversine", spread(u.haversine), [0.3, 0.7, 0.9, 1.4]


@package("becquerel", "gamma spectroscopy")
def becquerel() -> Iterator[Case]:
    fitting, rebin = module("becquerel.core.fitting"), module("becquerel.core.rebin")
    calibration = module("becquerel.core.calibration")
    places = np.array([0.5, 1.0, 1.8])

    def calibrated(x: Any) -> Any:
        return calibration.Calibration("p[0] + p[1] * x", x)(places)

    yield "gausserf", lambda x: fitting.gausserf(places, *x), [3.0, 1.0, 1.2, 0.4]
    yield "expgauss", lambda x: fitting.expgauss(places, *x), [3.0, 1.0, 0.4, 0.8]
    yield "Calibration", calibrated, [0.3, 2.0]
    yield "rebin", lambda x: rebin.rebin(x, np.arange(5.0), np.array([0.5, 1.7, 3.2])), [
        3.0, 5.0, 2.0, 4.0,
    ]  # fmt: skip


@package("scikit-criteria", "decisions")
def skcriteria() -> Iterator[Case]:
    topsis, waspas = module("skcriteria.agg.topsis"), module("skcriteria.agg.waspas")
    scalers = module("skcriteria.preprocessing.scalers")
    weighters = module("skcriteria.preprocessing.weighters")
    goals, weights = np.array([1, -1, 1, 1]), np.array([0.3, 0.2, 0.4, 0.1])

    yield "topsis", lambda x: topsis.topsis(x.reshape(3, 4), goals, weights)[1:], SERIES
    yield "waspas", lambda x: waspas.waspas(x.reshape(3, 4), weights, 0.5)[1:], SERIES
    yield "scale_by_vector", lambda x: scalers.scale_by_vector(x.reshape(3, 4), axis=0), SERIES
    yield "critic_weights", lambda x: weighters.critic_weights(x.reshape(3, 4), goals), SERIES


@package("colorspace", "palettes")
def colorspace() -> Iterator[Case]:
    m = module("colorspace.colorlib")
    library = m.colorlib()

    def each(name: str) -> Callable[[Any], Any]:
        return lambda x: getattr(library, name)(x[:1], x[1:2], x[2:])

    yield "XYZ_to_LAB", each("XYZ_to_LAB"), [40.0, 45.0, 38.0]
    yield "LUV_to_polarLUV", each("LUV_to_polarLUV"), [60.0, 20.0, 30.0]
    yield "sRGB_to_RGB", each("sRGB_to_RGB"), [0.4, 0.6, 0.2]
    yield "sRGB_to_HLS", each("sRGB_to_HLS"), [0.4, 0.6, 0.2]


@package("bumps", "curve fitting")
def bumps() -> Iterator[Case]:
    curve, problems = module("bumps.curve"), module("bumps.fitproblem")
    bounds = module("bumps.bounds")
    places = np.linspace(0.1, 1.2, 8)

    def line(t: Any, a: float = 1.0, b: float = 2.0) -> Any:
        return a * np.exp(-b * t)

    model = curve.Curve(line, places, np.cos(places), np.full(8, 0.1))
    model.a.range(0.0, 5.0)
    model.b.range(0.0, 5.0)
    problem = problems.FitProblem(model)

    yield "FitProblem.nllf", problem.nllf, [1.2, 0.7]
    yield "Curve", lambda x: curve.Curve(line, places, x, np.full(8, 0.1)).nllf(), SERIES[:8]
    yield "Normal.nllf", lambda x: bounds.Normal(1.0, 0.5).nllf(x[0]), [1.4]


@package("epipack", "epidemics")
def epipack() -> Iterator[Case]:
    m = module("epipack.numeric_epi_models")

    def model(x: Any) -> Any:
        found = m.EpiModel(["S", "I", "R"])
        found.set_processes([("S", "I", x[0], "I", "I"), ("I", x[1], "R")])
        found.set_initial_conditions({"S": 0.99, "I": 0.01})
        return found

    def integrated(x: Any) -> Any:
        return model(x).integrate(np.linspace(0.0, 5.0, 11))["I"]

    yield "dydt", lambda x: model(x).dydt(0.0, x[2:]), [0.8, 0.2, 0.7, 0.2, 0.1]
    yield "integrate", integrated, [0.8, 0.2]


@package("nitime", "neuroscience")
def nitime() -> Iterator[Case]:
    a, u = module("nitime.algorithms"), module("nitime.utils")

    yield "AR_est_LD", lambda x: a.AR_est_LD(x, 3), WAVE
    yield "AR_est_YW", lambda x: a.AR_est_YW(x, 3), WAVE
    yield "periodogram", lambda x: a.periodogram(x)[1], SERIES
    yield "autocov", u.autocov, SERIES


@package("calfem-python", "finite elements")
def calfem() -> Iterator[Case]:
    m = module("calfem.core")
    steel = m.hooke(1, 210e9, 0.3)

    def truss(x: Any) -> Any:
        stiffness = np.zeros((4, 4))
        element = m.bar2e([0.0, x[0]], [0.0, x[1]], [x[2], 0.1])
        return m.assem(np.array([1, 2, 3, 4]), stiffness, element)

    yield "bar2e", truss, [1.0, 0.5, 200.0]
    yield "beam2e", lambda x: m.beam2e([0.0, x[0]], [0.0, x[1]], [x[2], 0.1, x[3]]), [
        2.0, 1.0, 200.0, 0.02,
    ]  # fmt: skip
    yield "plante", lambda x: m.plante(x[:3], x[3:], [1, 0.1], steel / 1e9), [
        0.0, 1.0, 0.2, 0.0, 0.1, 0.9,
    ]  # fmt: skip
    yield "effmises", lambda x: m.effmises(x.reshape(1, 3), 1), [3.0, 1.0, 0.5]


@package("scikit-maad", "ecoacoustics")
def maad() -> Iterator[Case]:
    spl, features = module("maad.spl"), module("maad.features")

    yield "attenuation_dB", lambda x: spl.attenuation_dB(x[0], x[1], 1.0, x[2], x[3])[0], [
        4000.0, 30.0, 18.0, 55.0,
    ]  # fmt: skip
    yield "pressure2dBSPL", spl.pressure2dBSPL, [0.02, 0.3]
    yield "spectral_moments", features.spectral_moments, SERIES
    yield "wav2leq", lambda x: spl.wav2leq(x, 8, 42.0, dt=1), WAVE


@package("giddy", "spatial dynamics")
def giddy() -> Iterator[Case]:
    ergodic, markov = module("giddy.ergodic"), module("giddy.markov")
    mobility = module("giddy.mobility")

    def chances(x: Any) -> Any:
        table = x.reshape(3, 3)
        return table / np.sum(table, axis=1)[:, None]

    point = [0.5, 0.3, 0.2, 0.2, 0.6, 0.2, 0.1, 0.3, 0.6]
    yield "steady_state", lambda x: ergodic.steady_state(chances(x)), point
    yield "mfpt", lambda x: ergodic.mfpt(chances(x)), point
    yield "markov_mobility", lambda x: mobility.markov_mobility(chances(x), measure="P"), point
    yield "sojourn_time", lambda x: markov.sojourn_time(chances(x), summary=False), point


@package("naima", "gamma-ray astronomy")
def naima() -> Iterator[Case]:
    m, r = module("naima.models"), module("naima.radiative")
    places = np.array([0.5, 2.0, 8.0])

    def eval_of(name: str) -> Callable[[Any], Any]:
        return lambda x: getattr(m, name).eval(places, *x)

    yield "ExponentialCutoffPowerLaw.eval", eval_of("ExponentialCutoffPowerLaw"), [
        1.2, 1.0, 2.1, 10.0, 1.0,
    ]  # fmt: skip
    yield "BrokenPowerLaw.eval", eval_of("BrokenPowerLaw"), [1.2, 1.0, 3.0, 1.5, 2.5]
    yield "LogParabola.eval", eval_of("LogParabola"), [1.2, 1.0, 2.0, 0.3]
    yield "G12", lambda x: r.G12(x, [0.4, 0.3, 0.2, 0.1]), [0.4, 1.2]


@package("pylife", "fatigue of materials")
def pylife() -> Iterator[Case]:
    stress = module("pylife.stress.equistress")
    laws, ramberg = module("pylife.materiallaws.hookeslaw"), module("pylife.materiallaws.rambgood")
    point = [3.0, 1.0, 0.5, 0.4, 0.2, 0.7]

    yield "mises", spread(stress.mises), point
    yield "tresca", spread(stress.tresca), point
    yield (
        "HookesLaw2dPlaneStress.stress",
        lambda x: laws.HookesLaw2dPlaneStress(x[0], x[1]).stress(1e-3, 2e-3, 5e-4),
        [210.0, 0.3],
    )
    yield "RambergOsgood.strain", lambda x: ramberg.RambergOsgood(x[0], x[1], x[2]).strain(x[3]), [
        210.0, 1.2, 0.15, 0.4,
    ]  # fmt: skip


@package("rayoptics", "lens design")
def rayoptics() -> Iterator[Case]:
    p, raytrace = module("rayoptics.elem.profiles"), module("rayoptics.raytr.raytrace")

    yield "Spherical.sag", lambda x: p.Spherical(c=x[0]).sag(x[1], x[2]), [0.02, 3.0, 4.0]
    yield (
        "EvenPolynomial.sag",
        lambda x: p.EvenPolynomial(c=x[0], cc=-0.5, coefs=[0.0, 1e-5]).sag(x[1], x[2]),
        [0.02, 3.0, 4.0],
    )
    yield (
        "bend",
        lambda x: raytrace.bend(
            x[:3] / np.linalg.norm(x[:3]), np.array([0.0, 0.1, 1.0]) / np.hypot(0.1, 1.0), 1.0, x[3]
        ),
        [0.1, 0.2, 1.0, 1.5],
    )


@package("pystrata", "site response")
def pystrata() -> Iterator[Case]:
    m = module("pystrata.site")

    def soil(x: Any) -> Any:
        found = m.DarendeliSoilType(
            18.0, plas_index=x[0], ocr=x[1], stress_mean=x[2], strains=np.array([1e-5, 1e-3])
        )
        return found.mod_reduc.values

    def travel(x: Any) -> Any:
        layers = [
            m.Layer(m.SoilType("soil", 18.0, None, 0.05), 10.0, x[0]),
            m.Layer(m.SoilType("rock", 22.0, None, 0.01), 0.0, x[1]),
        ]
        return m.Profile(layers).time_average_vel(8.0)

    yield "DarendeliSoilType", soil, [20.0, 1.5, 100.0]
    yield "Profile.time_average_vel", travel, [300.0, 900.0]
