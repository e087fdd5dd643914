"""An eleventh sample, drawn on 2026-11-28 after the tenth, and written down before any was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread
from .later import WAVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

ELEVENTH = Sample()
package = ELEVENTH.package
NOON = dt.datetime(2026, 5, 4, 10, 30)  # noqa: DTZ001  the packages take naive times


TURNS = np.cos(np.arange(12.0).reshape(3, 4))
"""The imaginary parts of four samples from three sensors."""


@package("astronomy-engine", "ephemerides")
def astronomy_engine() -> Iterator[Case]:
    m = module("astronomy")

    def position(x: Any) -> Any:
        found = m.HelioVector(m.Body.Mars, m.Time(x[0]))
        return [found.x, found.y, found.z]

    def horizon(x: Any) -> Any:
        found = m.Horizon(
            m.Time(9000.3), m.Observer(x[0], x[1], 10.0), x[2], x[3], m.Refraction.Normal
        )
        return [found.azimuth, found.altitude]

    def rotated(x: Any) -> Any:
        time = m.Time(9000.3)
        rotation = m.Rotation_EQD_HOR(time, m.Observer(x[0], x[1], 10.0))
        found = m.RotateVector(rotation, m.Vector(x[2], x[3], x[4], time))
        return [found.x, found.y, found.z]

    yield "HelioVector", position, [9000.3]
    yield "Horizon", horizon, [47.0, 8.3, 5.2, 12.0]
    yield "ObserverGravity", spread(m.ObserverGravity), [47.0, 500.0]
    yield "RotateVector", rotated, [47.0, 8.3, 0.4, 0.7, -0.2]


@package("solarpy", "solar radiation")
def solarpy() -> Iterator[Case]:
    m = module("solarpy")

    def panel(x: Any) -> Any:
        made = m.solar_panel(x[0], x[1])
        made.set_orientation(np.array([0.0, 0.3, -0.9]))
        made.set_position(x[2], 8.3, x[3])
        made.set_datetime(NOON)
        return made.power()

    yield "lla2ecef", spread(m.lla2ecef), [47.0, 8.3, 500.0]
    yield "theta", lambda x: m.theta(NOON, *x), [47.0, 0.4, 0.3]
    yield "beam_irradiance", lambda x: m.beam_irradiance(x[0], NOON, x[1]), [500.0, 47.0]
    yield "solar_panel.power", panel, [2.0, 0.2, 47.0, 500.0]


@package("inspyred", "evolutionary computation")
def inspyred() -> Iterator[Case]:
    m = module("inspyred.benchmarks")

    def objectives(problem: Any) -> Callable[[Any], Any]:
        return lambda x: list(problem.evaluator([list(x)], {})[0])

    yield "Schwefel", lambda x: m.Schwefel(3).evaluator([x], {})[0], [20.3, -41.2, 100.7]
    yield "Ackley", lambda x: m.Ackley(3).evaluator([x], {})[0], [0.3, -1.2, 0.7]
    yield "Kursawe", objectives(m.Kursawe(3)), [0.3, -1.2, 0.7]
    yield "DTLZ5", objectives(m.DTLZ5(4, 3)), [0.2, 0.4, 0.7, 0.6]


@package("squaternion", "attitudes")
def squaternion() -> Iterator[Case]:
    q = module("squaternion").Quaternion
    yield "from_euler", lambda x: [*q.from_euler(*x)], [0.3, 0.4, 0.5]
    yield "to_euler", lambda x: [*q(*x).normalize.to_euler()], [0.9, 0.2, -0.3, 0.1]
    yield "product", lambda x: [*(q(*x[:4]) * q(*x[4:]))], SERIES[:8]
    yield "to_rot", lambda x: q(*x).normalize.to_rot(), [0.9, 0.2, -0.3, 0.1]


def _dissonance(m: Any, name: str, x: Any) -> Any:
    return m.dissonance(x[:3], x[3:], model=name)


@package("dissonant", "consonance of chords")
def dissonant() -> Iterator[Case]:
    m = module("dissonant")
    chord = [440.0, 550.0, 660.0, 1.0, 0.8, 0.6]
    for name in ("sethares1993", "vassilakis2001", "cook2006"):
        yield name, partial(_dissonance, m, name), chord
    yield "pitch_to_freq", lambda x: m.pitch_to_freq(x, 440.0), [0.0, 4.0, 7.0]


@package("aerocalc3", "flight")
def aerocalc3() -> Iterator[Case]:
    air, speed = module("aerocalc3.std_atm"), module("aerocalc3.airspeed")
    yield "density_alt", lambda x: air.density_alt(x[0], x[1], DP=x[2]), [3000.0, 24.0, 9.0]
    yield "cas2tas", spread(speed.cas2tas), [250.0, 21000.0]
    yield "cas_mach2alt", spread(speed.cas_mach2alt), [280.0, 0.8]
    yield "alt2press", lambda x: air.alt2press(x[0]), [42000.0]


@package("pyworkforce", "queues")
def pyworkforce() -> Iterator[Case]:
    m = module("pyworkforce.queuing")
    yield "waiting_probability", lambda x: m.ErlangC(
        x[0], x[1], x[2], 30, x[3]
    ).waiting_probability(20), [100.0, 3.0, 0.4, 0.2]  # fmt: skip
    yield "service_level", lambda x: m.ErlangC(x[0], x[1], x[2], 30).service_level(14), [
        100.0, 3.0, 0.4,
    ]  # fmt: skip
    yield "achieved_occupancy", lambda x: m.ErlangC(
        x[0], x[1], 0.4, 30
    ).achieved_occupancy(14), [100.0, 3.0]  # fmt: skip


@package("proptools-rocket", "rocket propulsion")
def proptools() -> Iterator[Case]:
    nozzle, convection = module("proptools.nozzle"), module("proptools.convection")
    yield "thrust", spread(nozzle.thrust), [0.1, 5e6, 1e5, 1.2]
    yield "mach_from_er", spread(nozzle.mach_from_er), [8.0, 1.2]
    yield "bartz", spread(convection.bartz), [5e6, 1500.0, 0.1, 0.2, 2000.0, 1e-4, 0.7]
    yield "film_efficiency", spread(convection.film_efficiency), [1.5, 0.2, 1.0, 0.05, 1e-4]


@package("py-lets-be-rational", "implied volatility")
def lets_be_rational() -> Iterator[Case]:
    m = module("py_lets_be_rational")
    volatility = m.implied_volatility_from_a_transformed_rational_guess
    yield "black", spread(m.black, 1.0), [100.0, 105.0, 0.2, 1.2]
    yield "implied_volatility", spread(volatility, 1.0), [7.0, 100.0, 105.0, 1.2]
    yield "normalised_vega", spread(m.normalised_vega), [0.1, 0.3]


@package("perlin-noise", "procedural noise")
def perlin_noise() -> Iterator[Case]:
    m = module("perlin_noise")
    plane, space = m.PerlinNoise(3, 5), m.PerlinNoise(2.5, 7)
    yield "plane", lambda x: plane([x[0], x[1]]), [0.31, 0.47]
    yield "space", lambda x: space([x[0], x[1], x[2]]), [0.31, 0.47, 1.13]
    yield "tiles", lambda x: plane([x[0], x[1]], tile_sizes=[2, 3]), [0.31, 0.47]


@package("Geometry3D", "solid geometry")
def geometry3d() -> Iterator[Case]:
    m = module("Geometry3D")

    def line(x: Any) -> Any:
        return m.Line(m.Point(*x[:3]), m.Vector(*x[3:6]))

    def plane(x: Any) -> Any:
        return m.Plane(m.Point(*x[:3]), m.Point(*x[3:6]), m.Point(*x[6:9]))

    def crossing(x: Any) -> Any:
        found = m.intersection(plane(x), m.Line(m.Point(0.2, 0.1, 3.0), m.Vector(0.1, 0.2, -1.0)))
        return [found.x, found.y, found.z]

    corner = [0.0, 0.1, 0.2, 1.1, 0.0, 0.3, 0.1, 1.2, 0.4]
    yield "distance", lambda x: m.distance(m.Point(1.0, 2.0, 0.5), line(x)), corner[:6]
    yield "angle", lambda x: m.angle(m.Vector(*x[:3]), m.Vector(*x[3:])), corner[3:]
    yield "intersection", crossing, corner
    yield "Parallelepiped.volume", lambda x: m.Parallelepiped(
        m.Point(0.0, 0.0, 0.0), m.Vector(*x[:3]), m.Vector(*x[3:6]), m.Vector(0.1, 0.2, 1.0)
    ).volume(), corner[3:]  # fmt: skip


@package("nltk", "collocations in texts")
def nltk() -> Iterator[Case]:
    m = module("nltk.metrics.association").BigramAssocMeasures
    counts = [8.0, 15828.0, 4675.0, 143001.0]

    def of_counts(function: Any) -> Callable[[Any], Any]:
        return lambda x: function(x[0], (x[1], x[2]), x[3])

    yield "likelihood_ratio", of_counts(m.likelihood_ratio), counts
    yield "pmi", of_counts(m.pmi), counts
    yield "chi_sq", of_counts(m.chi_sq), counts
    yield "poisson_stirling", of_counts(m.poisson_stirling), counts


@package("dtaidistance", "warping of series")
def dtaidistance() -> Iterator[Case]:
    m = module("dtaidistance.dtw")
    other = np.array([0.1, 0.9, 0.4, -0.6, 0.2, 1.3])
    yield "distance", lambda x: m.distance(x, other), SERIES[:8]
    yield "distance in a window", lambda x: m.distance(x, other, window=4, penalty=0.1), SERIES[:8]
    yield "warping_paths", lambda x: m.warping_paths(x, other)[0], SERIES[:6]
    yield "lb_keogh", lambda x: m.lb_keogh(x, other, window=2), SERIES[:6]


@package("nestle", "Bayesian evidence")
def nestle() -> Iterator[Case]:
    m = module("nestle")
    weights = np.array([0.1, 0.3, 0.2, 0.25, 0.15])

    def ellipsoid(x: Any) -> Any:
        made = m.Ellipsoid(x[:2], x[2:].reshape(2, 2) @ x[2:].reshape(2, 2).T)
        return [made.vol, made.axlens, made.axes[0] @ made.axes[0]]

    def bounding(x: Any) -> Any:
        found = m.bounding_ellipsoid(x.reshape(-1, 2))
        return [found.ctr, found.a, found.vol]

    yield "mean_and_cov", lambda x: m.mean_and_cov(x.reshape(5, 2), weights), SERIES[:10]
    yield "Ellipsoid", ellipsoid, [0.1, 0.2, 1.2, 0.3, -0.4, 0.9]
    yield "bounding_ellipsoid", bounding, SERIES[:10]


@package("laserbeamsize", "laser beams")
def laserbeamsize() -> Iterator[Case]:
    m = module("laserbeamsize")
    down, across = np.mgrid[:16, :20]

    def beam(x: Any) -> Any:
        offset, height = across - x[0], down - x[1]
        image = np.exp(-((offset / x[2]) ** 2) - (height / x[3]) ** 2 - 0.02 * offset * height)
        return m.basic_beam_size(image)

    gauss = module("laserbeamsize.gaussian")
    yield "basic_beam_size", beam, [9.3, 7.6, 3.2, 2.1]
    yield "beam_ellipticity", spread(m.beam_ellipticity), [3.2, 2.1]
    yield "beam_radius", lambda x: gauss.beam_radius(x[0], 632e-9, x[1], M2=x[2]), [1e-3, 0.4, 1.2]
    yield "ellipse_arrays", lambda x: m.ellipse_arrays(*x, npoints=5), [9.3, 7.6, 6.4, 4.2, 0.3]


@package("numpoly", "polynomials")
def numpoly() -> Iterator[Case]:
    m = module("numpoly")
    p, q = m.variable(2)
    surface = 1.5 * p**2 * q - q**3 + 0.4 * p

    def made(x: Any) -> Any:
        return (x[0] * p**2 + x[1] * p * q + 1.0)(0.4, 0.7)

    yield "evaluated", lambda x: surface(x[0], x[1]), [0.4, 0.7]
    yield "gradient", lambda x: m.gradient(surface)(x[0], x[1]), [0.4, 0.7]
    yield "coefficients", made, [1.2, -0.3]


@package("simpful", "fuzzy reasoning")
def simpful() -> Iterator[Case]:
    m = module("simpful")

    def system() -> Any:
        made = m.FuzzySystem(show_banner=False)
        low, high = (
            m.TriangleFuzzySet(0, 0, 10, term="low"),
            m.TriangleFuzzySet(0, 10, 10, term="high"),
        )
        made.add_linguistic_variable(
            "food", m.LinguisticVariable([low, high], universe_of_discourse=[0, 10])
        )
        cold, warm = m.GaussianFuzzySet(2.0, 2.0, "cold"), m.GaussianFuzzySet(7.0, 3.0, "warm")
        made.add_linguistic_variable(
            "air", m.LinguisticVariable([cold, warm], universe_of_discourse=[0, 10])
        )
        made.set_crisp_output_value("small", 5.0)
        made.set_output_function("rich", "2.0*food+air*1.5")
        made.add_rules(
            [
                "IF (food IS low) AND (air IS cold) THEN (tip IS small)",
                "IF (food IS high) OR (air IS warm) THEN (tip IS rich)",
            ]
        )
        return made

    def inferred(x: Any) -> Any:
        found = system()
        found.set_variable("food", x[0])
        found.set_variable("air", x[1])
        return found.Sugeno_inference(["tip"])["tip"]

    yield "Sugeno_inference", inferred, [6.2, 3.4]
    yield "GaussianFuzzySet", lambda x: m.GaussianFuzzySet(x[0], x[1], "a").get_value(x[2]), [
        2.0, 1.5, 2.9,
    ]  # fmt: skip
    yield "TrapezoidFuzzySet", lambda x: m.TrapezoidFuzzySet(0, 2, 5, 9, "a").get_value(x[0]), [6.3]


@package("nodepy", "Runge-Kutta methods")
def nodepy() -> Iterator[Case]:
    m, ivp = module("nodepy.runge_kutta_method"), module("nodepy.ivp")
    classical, pair = m.loadRKM("RK44").__num__(), m.loadRKM("BS5").__num__()

    def pendulum(t: Any, u: Any) -> Any:
        return np.array([u[1], -np.sin(u[0]) + 0.1 * np.cos(t)])

    def integrated(x: Any) -> Any:
        problem = ivp.IVP(f=pendulum, u0=x[:2], T=1.0)
        return classical(problem, N=8)[1][-1]

    def step(x: Any) -> Any:
        return classical.__step__(pendulum, 0.0, x[:2], x[2])

    def paired(x: Any) -> Any:
        return list(pair.__step__(pendulum, 0.0, x[:2], x[2], estimate_error=True))

    yield "RungeKuttaMethod", integrated, [0.6, 0.2]
    yield "RungeKuttaMethod.__step__", step, [0.6, 0.2, 0.1]
    yield "RungeKuttaPair.__step__", paired, [0.6, 0.2, 0.1]


@package("reservoirpy", "reservoir computing")
def reservoirpy() -> Iterator[Case]:
    m = module("reservoirpy.nodes")
    weights = 0.3 * np.cos(np.arange(16.0).reshape(4, 4))
    inputs = np.sin(np.arange(8.0).reshape(4, 2) + 0.5)

    def reservoir(x: Any) -> Any:
        made = m.Reservoir(W=weights, Win=inputs, bias=np.full(4, 0.1), lr=0.4)
        return made.run(x.reshape(-1, 2))

    def ridge(x: Any) -> Any:
        made = m.Ridge(0.1)
        states = x.reshape(-1, 2)
        made.fit(states, np.cos(states[:, :1] * 2.0))
        return made.run(states)

    yield "Reservoir", reservoir, SERIES[:8]
    yield "NVAR", lambda x: m.NVAR(2, 2).run(x.reshape(-1, 2)), SERIES[:8]
    yield "Ridge", ridge, SERIES[:12]


@package("mendeleev", "chemical elements")
def mendeleev() -> Iterator[Case]:
    m = module("mendeleev.electronegativity")
    yield "allred_rochow", spread(m.allred_rochow), [3.25, 0.75]
    yield "martynov_batsanov", lambda x: m.martynov_batsanov(list(x)), [11.3, 24.4, 47.9]
    yield "interpolate_property", lambda x: m.interpolate_property(
        3, [1, 2, 4, 5], x, poly_deg=2
    ), [1.1, 1.4, 1.9, 2.6]  # fmt: skip
    yield "li_xue", lambda x: m.li_xue(x[0], x[1], 3), [11.3, 0.75]


@package("pyttb", "tensor decompositions")
def pyttb() -> Iterator[Case]:
    m = module("pyttb")
    factors = [np.cos(np.arange(k, k + 2.0 * k).reshape(k, 2)) for k in (2, 3, 2)]

    def tensor(x: Any) -> Any:
        return m.tensor(x.reshape(2, 3, 2))

    def sums(x: Any) -> Any:
        parts = [x[:4].reshape(2, 2), x[4:10].reshape(3, 2), x[10:].reshape(2, 2)]
        return m.ktensor(parts, np.array([1.0, 0.5])).full().data

    yield "tensor.norm", lambda x: tensor(x).norm(), SERIES[:12]
    yield "tensor.mttkrp", lambda x: tensor(x).mttkrp(factors, 1), SERIES[:12]
    yield "tensor.ttv", lambda x: tensor(x).ttv(np.array([0.4, -1.1, 0.7]), 1).data, SERIES[:12]
    yield "ktensor.full", sums, [*SERIES[:12], 0.3, 1.2]


@package("PyMARE", "meta-analysis")
def pymare() -> Iterator[Case]:
    m, stats = module("pymare"), module("pymare.stats")
    effects, spreads = np.array([0.3, 0.7, 0.1, 0.5]), np.array([0.1, 0.2, 0.15, 0.3])

    def pooled(method: str) -> Callable[[Any], Any]:
        def fitted(x: Any) -> Any:
            made = module("pymare.estimators")
            found = getattr(made, method)().fit_dataset(m.Dataset(x[:4], x[4:]))
            return [found.summary().fe_params, found.summary().tau2]

        return fitted

    def converted(x: Any) -> Any:
        numbers = np.array([20.0, 30.0, 25.0])
        made = m.TwoSampleEffectSizeConverter(
            m1=x[:3], m2=x[3:6], sd1=x[6:9], sd2=x[9:], n1=numbers, n2=numbers + 4
        )
        return [made.get_smd(), made.get_v_smd()]

    yield "DerSimonianLaird", pooled("DerSimonianLaird"), [*effects, *spreads**2]
    yield "Hedges", pooled("Hedges"), [*effects, *spreads**2]
    yield "weighted_least_squares", lambda x: stats.weighted_least_squares(
        x[:4].reshape(-1, 1), x[4:].reshape(-1, 1), np.ones((4, 1)), 0.02
    ), [*effects, *spreads**2]  # fmt: skip
    yield "TwoSampleEffectSizeConverter", converted, [
        1.0, 1.2, 0.9, 0.7, 0.8, 1.1, 0.3, 0.5, 0.4, 0.6, 0.35, 0.45,
    ]  # fmt: skip


@package("conjugate-models", "Bayesian models")
def conjugate() -> Iterator[Case]:
    m, kinds = module("conjugate.models"), module("conjugate.distributions")

    def gamma(x: Any) -> Any:
        found = m.poisson_gamma(x_total=x[0], n=x[1], prior=kinds.Gamma(x[2], x[3]))
        return [found.alpha, found.beta, found.dist.mean(), found.dist.var()]

    def normal(x: Any) -> Any:
        found = m.normal_known_variance(x_total=x[0], n=8, var=x[1], prior=kinds.Normal(x[2], x[3]))
        return [found.mu, found.sigma, found.dist.pdf(1.1)]

    def beta(x: Any) -> Any:
        found = m.binomial_beta(n=12.0, x=x[0], prior=kinds.Beta(x[1], x[2]))
        return [found.dist.mean(), found.dist.pdf(0.4)]

    yield "poisson_gamma", gamma, [14.0, 6.0, 1.3, 0.8]
    yield "normal_known_variance", normal, [9.0, 1.4, 0.5, 2.0]
    yield "binomial_beta", beta, [5.0, 1.3, 2.1]


@package("mlxtend", "feature extraction")
def mlxtend() -> Iterator[Case]:
    extraction, algebra = module("mlxtend.feature_extraction"), module("mlxtend.math")
    scaling = module("mlxtend.preprocessing")

    def variances(x: Any) -> Any:
        made = extraction.PrincipalComponentAnalysis(2, solver="eigen").fit(x.reshape(-1, 2))
        return made.e_vals_

    yield "PrincipalComponentAnalysis", variances, SERIES[:12]
    yield "vectorspace_orthonormalization", lambda x: algebra.vectorspace_orthonormalization(
        x.reshape(2, 2)
    ), [1.2, 0.3, -0.4, 0.9]  # fmt: skip
    yield "standardize", lambda x: scaling.standardize(x.reshape(-1, 2), [0, 1]), SERIES[:12]
    yield "minmax_scaling", lambda x: scaling.minmax_scaling(x.reshape(-1, 2), [0, 1]), SERIES[:12]


@package("iosacal", "radiocarbon dates")
def iosacal() -> Iterator[Case]:
    m = module("iosacal.core")

    def combined(x: Any) -> Any:
        found = m.combine([m.R(x[k], x[k + 1], f"sample {k}") for k in (0, 2, 4)])
        return [found.date, found.sigma]

    yield "combine", combined, [4520.0, 30.0, 4480.0, 45.0, 4550.0, 25.0]
    yield "calibrate", spread(m.calibrate), [4520.0, 30.0, 4480.0, 12.0]


@package("arlpy", "underwater acoustics")
def arlpy() -> Iterator[Case]:
    water, signal, beams = module("arlpy.uwa"), module("arlpy.signal"), module("arlpy.bf")
    places = np.array([0.0, 0.6, 1.2])
    delays = beams.steering_plane_wave(places, 1500.0, np.array([0.1, 0.4]))

    def power(x: Any) -> Any:
        signals = x.reshape(3, -1) + 1j * TURNS
        return beams.bartlett(signals, 600.0, delays)

    yield "soundspeed", spread(water.soundspeed), [17.0, 35.0, 40.0]
    yield "absorption", spread(water.absorption), [50000.0, 800.0, 17.0, 35.0, 40.0]
    yield "reflection_coeff", spread(water.reflection_coeff), [0.3, 1200.0, 1650.0, 0.1]
    yield "bartlett", power, SERIES[:12]
    yield "envelope", signal.envelope, WAVE


@package("pyargus", "antenna arrays")
def pyargus() -> Iterator[Case]:
    m, beams = module("pyargus.directionEstimation"), module("pyargus.beamform")
    vectors = m.gen_ula_scanning_vectors(np.array([0.0, 0.5, 1.0]), np.array([70.0, 95.0]))
    noise = np.diag([0.3, 0.4, 0.5]).astype(complex)

    def matrix(x: Any) -> Any:
        signals = x.reshape(3, -1) + 1j * TURNS
        return signals @ signals.conj().T / 4 + noise

    yield "DOA_Bartlett", lambda x: m.DOA_Bartlett(matrix(x), vectors), SERIES[:12]
    yield "DOA_Capon", lambda x: m.DOA_Capon(matrix(x), vectors), SERIES[:12]
    yield "forward_backward_avg", lambda x: m.forward_backward_avg(matrix(x)), SERIES[:12]
    yield "optimal_Wiener_beamform", lambda x: beams.optimal_Wiener_beamform(
        matrix(x), vectors[:, :1]
    ), SERIES[:12]  # fmt: skip


@package("kingdon", "Clifford algebras")
def kingdon() -> Iterator[Case]:
    algebra = module("kingdon").Algebra(2, 0, 1)

    def moved(x: Any) -> Any:
        motor = algebra.bivector(list(x[:3])).exp()
        return list((motor >> algebra.vector(list(x[3:]))).values())

    def product(x: Any) -> Any:
        return list((algebra.vector(list(x[:3])) * algebra.bivector(list(x[3:]))).values())

    point = [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]
    yield "exp and sandwich", moved, point
    yield "geometric product", product, point
    yield "normsq", lambda x: list(algebra.vector(list(x)).normsq().values()), point[3:]


@package("PyCO2SYS", "ocean carbonate chemistry")
def pyco2sys() -> Iterator[Case]:
    m = module("PyCO2SYS")
    gases = module("PyCO2SYS.solubility")

    def system(x: Any) -> Any:
        found = m.sys(par1=x[0], par2=x[1], par1_type=1, par2_type=3, temperature=x[2])
        return [found["dic"], found["pCO2"], found["saturation_aragonite"]]

    yield "sys", system, [2300.0, 8.1, 21.0]
    yield "sys by alkalinity and carbon", lambda x: m.sys(
        par1=x[0], par2=x[1], par1_type=1, par2_type=2
    )["pH"], [2300.0, 2050.0]  # fmt: skip
    yield "k_calcite_M83", spread(gases.k_calcite_M83), [294.0, 35.0, 2.0, 83.1]


@package("surpyval", "survival of machines")
def surpyval() -> Iterator[Case]:
    m = module("surpyval")
    times = np.array([1.0, 2.0, 2.7])
    yield "Weibull.sf", lambda x: m.Weibull.sf(times, *x), [3.0, 1.5]
    yield "Gamma.Hf", lambda x: m.Gamma.Hf(times, *x), [2.0, 1.5]
    yield "LogNormal.mean", spread(m.LogNormal.mean), [0.3, 0.5]
    yield "ExpoWeibull.df", lambda x: m.ExpoWeibull.df(x[:2], *x[2:]), [1.0, 2.0, 3.0, 1.5, 0.8]


@package("scikit-optimize", "sequential optimisation")
def scikit_optimize() -> Iterator[Case]:
    m, space = module("skopt.benchmarks"), module("skopt.space")
    acquisition, learning = module("skopt.acquisition"), module("skopt.learning")
    model = learning.GaussianProcessRegressor(random_state=1)
    places = np.array([[0.1], [0.7], [1.4], [2.1]])
    model.fit(places, np.sin(3 * places[:, 0]))
    yield "hart6", m.hart6, [0.2, 0.15, 0.47, 0.27, 0.31, 0.65]
    yield "branin", m.branin, [2.3, 4.1]
    yield "gaussian_ei", lambda x: acquisition.gaussian_ei(x.reshape(-1, 1), model, 0.5), [0.4, 1.1]
    yield "Real.transform", lambda x: space.Real(0.1, 10.0, "log-uniform").transform(x), [0.4, 1.1]


@package("qc-procrustes", "alignment of matrices")
def procrustes() -> Iterator[Case]:
    m = module("procrustes")
    other = np.cos(np.arange(8.0)).reshape(4, 2)

    def aligned(function: Any) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            result = function(x.reshape(4, 2), other)
            return [result.t, result.error]

        return found

    yield "orthogonal", aligned(m.orthogonal), SERIES[:8]
    yield "rotational", aligned(m.rotational), SERIES[:8]
    yield "generic", aligned(m.generic), SERIES[:8]
    yield "symmetric", aligned(m.symmetric), SERIES[:8]


@package("qc-gbasis", "Gaussian orbitals")
def gbasis() -> Iterator[Case]:
    shells, values = module("gbasis.contractions"), module("gbasis.evals.eval")
    overlaps, energies = (
        module("gbasis.integrals.overlap"),
        module("gbasis.integrals.kinetic_energy"),
    )

    def basis(x: Any) -> Any:
        shell = shells.GeneralizedContractionShell
        return [
            shell(0, x[:3], np.array([0.6, 0.5]), np.array([1.3, 0.4]), "cartesian"),
            shell(1, x[3:6], np.array([1.0]), np.array([0.8]), "spherical"),
        ]

    centres = [0.0, 0.1, 0.2, 1.1, 0.3, -0.2]
    points = np.array([[0.3, 0.2, 0.1], [0.9, -0.4, 0.5]])
    yield "overlap_integral", lambda x: overlaps.overlap_integral(basis(x)), centres
    yield "kinetic_energy_integral", lambda x: energies.kinetic_energy_integral(basis(x)), centres
    yield "evaluate_basis", lambda x: values.evaluate_basis(basis(x), points), centres
    yield "exponents", lambda x: overlaps.overlap_integral(
        [
            shells.GeneralizedContractionShell(0, np.zeros(3), x[:2], x[2:4], "cartesian"),
            shells.GeneralizedContractionShell(1, np.ones(3), x[:2], x[2:4], "cartesian"),
        ]
    ), [0.6, 0.5, 1.3, 0.4]  # fmt: skip


@package("spyndex", "spectral indices")
def spyndex() -> Iterator[Case]:
    m = module("spyndex")
    bands = ("N", "R", "B")

    def index(name: str, **rest: float) -> Callable[[Any], Any]:
        return lambda x: m.computeIndex(name, {**dict(zip(bands, x, strict=False)), **rest})

    yield "NDVI", index("NDVI"), [0.6, 0.1]
    yield "EVI", index("EVI", g=2.5, C1=6.0, C2=7.5, L=1.0), [0.6, 0.1, 0.05]
    yield "RBF kernel", lambda x: m.computeKernel(
        "RBF", {"a": x[0], "b": x[1], "sigma": x[2]}
    ), [0.6, 0.1, 0.4]  # fmt: skip


@package("composipy", "laminates")
def composipy() -> Iterator[Case]:
    m = module("composipy")

    def laminate(x: Any) -> Any:
        ply = m.OrthotropicMaterial(x[0], x[1], x[2], x[3], x[4])
        return m.LaminateProperty([0, 45, -45, 90], ply)

    def strains(x: Any) -> Any:
        return m.LaminateStrength(laminate(x), Nxx=100.0, Mxx=5.0).epsilon0()

    ply = [60800.0, 58250.0, 0.07, 4550.0, 0.21]
    yield "LaminateProperty.ABD", lambda x: laminate(x).ABD, ply
    yield "OrthotropicMaterial.Q_0", lambda x: m.OrthotropicMaterial(*x).Q_0, ply
    yield "LaminateStrength.epsilon0", strains, ply


@package("kerrgeopy", "orbits around black holes")
def kerrgeopy() -> Iterator[Case]:
    m = module("kerrgeopy")
    orbit = [0.9, 10.0, 0.2, 0.6]
    yield "constants_of_motion", spread(m.constants_of_motion), orbit
    yield "mino_frequencies", spread(m.mino_frequencies), orbit
    yield "stable_radial_roots", spread(m.stable_radial_roots), orbit
    yield "energy_in_joules", spread(m.energy_in_joules), [0.9, 10.0]


@package("FLife", "vibration fatigue")
def flife() -> Iterator[Case]:
    m = module("FLife")
    frequencies = np.linspace(0.0, 100.0, 51)

    def life(method: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            density = x[0] * np.exp(-(((frequencies - x[1]) / x[2]) ** 2)) + 0.01
            spectrum = m.SpectralData(input={"PSD": density, "f": frequencies})
            return getattr(m, method)(spectrum).get_life(x[3], x[4])

        return found

    for method in ("Dirlik", "TovoBenasciutti", "Narrowband", "ZhaoBaker"):
        yield method, life(method), [1.0, 40.0, 10.0, 1e10, 4.0]


@package("py-pde", "partial differential equations")
def py_pde() -> Iterator[Case]:
    m = module("pde")
    grid, plane = m.CartesianGrid([[0.0, 2.0]], 8), m.UnitGrid([3, 4], periodic=True)

    def diffused(x: Any) -> Any:
        field = m.ScalarField(grid, x)
        equation = m.DiffusionPDE(0.3, bc={"value": 0.0})
        return equation.evolution_rate(field, 0.0).data

    yield "laplace", lambda x: m.ScalarField(grid, x).laplace({"value": 0.0}).data, SERIES[:8]
    yield "DiffusionPDE.evolution_rate", diffused, SERIES[:8]
    yield "gradient_squared", lambda x: m.ScalarField(plane, x.reshape(3, 4)).gradient(
        "periodic"
    ).data, SERIES[:12]  # fmt: skip
    yield "integral", lambda x: m.ScalarField(grid, x).integral, SERIES[:8]


@package("weac", "avalanches")
def weac() -> Iterator[Case]:
    m = module("weac")

    def beam(x: Any) -> Any:
        made = m.Layered()
        made.set_beam_properties(layers=[[x[0], 150.0], [x[1], 100.0]])
        made.set_foundation_properties(t=20.0, E=x[2])
        made.calc_fundamental_system()
        return made

    def stiffness(x: Any) -> Any:
        made = beam(x)
        return [made.A11, made.B11, made.D11, made.kA55, made.kn]

    yield "calc_laminate_stiffness_matrix", stiffness, [200.0, 250.0, 0.3]
    yield "calc_system_matrix", lambda x: beam(x).calc_system_matrix(), [200.0, 250.0, 0.3]
    yield "get_weight_load", lambda x: list(beam(x).get_weight_load(-30.0)), [200.0, 250.0, 0.3]


@package("pyyeti", "structural dynamics")
def pyyeti() -> Iterator[Case]:
    spectra, motion, tools = module("pyyeti.srs"), module("pyyeti.ode"), module("pyyeti.ytools")
    frequencies = np.array([5.0, 12.0])

    def response(x: Any) -> Any:
        return spectra.srs(x, 100.0, frequencies, 10.0, parallel="no", rolloff="none")

    def solved(x: Any) -> Any:
        solver = motion.SolveUnc(np.ones(2), x[:2], x[2:4], 0.01)
        force = np.sin(np.arange(10.0).reshape(2, 5))
        return solver.tsolve(force).d

    def swept(x: Any) -> Any:
        solver = motion.FreqDirect(np.ones(2), x[:2], x[2:4])
        return solver.fsolve(np.ones((2, 2)), frequencies).a

    yield "srs", response, WAVE
    yield "SolveUnc.tsolve", solved, [0.4, 0.6, 90.0, 300.0]
    yield "FreqDirect.fsolve", swept, [0.4, 0.6, 90.0, 300.0]
    yield "max_complex_vector_sum", lambda x: list(
        tools.max_complex_vector_sum(x[0] + 1j * x[1], x[2] + 1j * x[3])
    ), [0.3, 0.7, -0.4, 1.1]  # fmt: skip


@package("diffractio", "diffraction of light")
def diffractio() -> Iterator[Case]:
    sources, masks = module("diffractio.scalar_sources_X"), module("diffractio.scalar_masks_X")
    places = np.linspace(-20.0, 20.0, 32)

    def gaussian(x: Any) -> Any:
        made = sources.Scalar_source_X(places, 0.6)
        made.gauss_beam(A=x[0], x0=x[1], z0=0.0, w0=x[2], theta=x[3])
        return made.u

    def propagated(x: Any) -> Any:
        made = sources.Scalar_source_X(places, 0.6)
        made.plane_wave(A=x[0], theta=x[1])
        return made.RS(z=x[2], new_field=True).u

    def lens(x: Any) -> Any:
        made = masks.Scalar_mask_X(places, 0.6)
        made.lens(x0=x[0], focal=x[1], radius=15.0)
        return made.u

    yield "gauss_beam", gaussian, [1.0, 0.5, 5.0, 0.1]
    yield "RS", propagated, [1.0, 0.05, 100.0]
    yield "lens", lens, [0.3, 200.0]


@package("qibo", "quantum circuits")
def qibo() -> Iterator[Case]:
    m, information = module("qibo"), module("qibo.quantum_info")
    m.set_backend("numpy")

    def state(x: Any) -> Any:
        raw = x[:4] + 1j * x[4:]
        return raw / np.sqrt(np.sum(np.abs(raw) ** 2))

    def circuit(x: Any) -> Any:
        made = m.Circuit(2)
        made.add(m.gates.RX(0, x[0]))
        made.add(m.gates.RY(1, x[1]))
        made.add(m.gates.CNOT(0, 1))
        return made().state()

    yield "Circuit", circuit, [0.3, 0.7]
    yield "RX.matrix", lambda x: m.gates.RX(0, x[0]).matrix(), [0.3]
    yield "purity", lambda x: information.purity(np.outer(x[:4], x[4:]) + np.eye(4)), SERIES[:8]
    yield "fidelity", lambda x: information.fidelity(state(x), np.full(4, 0.5)), SERIES[:8]


@package("econ-ark", "heterogeneous agents")
def econ_ark() -> Iterator[Case]:
    m, tools = module("HARK.rewards"), module("HARK.utilities")
    interpolation = module("HARK.interpolation")
    grid = np.array([0.0, 0.7, 1.5, 2.6])
    yield "CRRAutility", lambda x: m.CRRAutility(x[:2], x[2]), [1.2, 0.8, 2.5]
    yield "CDutility", spread(m.CDutility), [1.2, 0.8, 0.4, 0.1]
    yield "LinearInterp", lambda x: interpolation.LinearInterp(grid, x)(
        np.array([0.4, 2.1])
    ), [0.3, 0.9, 1.2, 1.4]  # fmt: skip
    yield "get_lorenz_shares", lambda x: tools.get_lorenz_shares(
        x, percentiles=[0.3, 0.6]
    ), [1.2, 0.8, 2.5, 0.4]  # fmt: skip


@package("py-wake", "wakes of wind turbines")
def py_wake() -> Iterator[Case]:
    sites, farms = module("py_wake.site"), module("py_wake.wind_farm_models")
    turbines = module("py_wake.examples.data.hornsrev1").V80()
    deficits = module("py_wake.deficit_models")

    def speeds(model: Any) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            site = sites.UniformSite([1], 0.1)
            farm = farms.PropagateDownwind(site, turbines, wake_deficitModel=model())
            return farm(x[:2], x[2:], wd=[270], ws=[10], return_simulationResult=False)[0]

        return found

    farm = [0.0, 500.0, 0.0, 20.0]
    yield "BastankhahGaussianDeficit", speeds(deficits.gaussian.BastankhahGaussianDeficit), farm
    yield "NOJDeficit", speeds(deficits.noj.NOJDeficit), [0.0, 500.0, 0.0, 55.0]
    yield "power", turbines.power, [8.3, 11.2]


@package("spekpy", "X-ray tubes")
def spekpy() -> Iterator[Case]:
    m = module("spekpy")

    def spectrum(x: Any) -> Any:
        made = m.Spek(kvp=80.0, th=x[0])
        made.filter("Al", x[1])
        return made

    yield "get_kerma", lambda x: spectrum(x).get_kerma(), [12.0, 2.0]
    yield "get_hvl1", lambda x: spectrum(x).get_hvl1(), [12.0, 2.0]
    yield "get_emean", lambda x: spectrum(x).get_emean(), [12.0, 2.0]
