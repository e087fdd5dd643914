"""A sixth sample, drawn on 2026-11-23 after the fifth, and written down before any was tried.

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

SIXTH = Sample()
package = SIXTH.package
PARTS = [0.1, 0.3, 0.4, 0.2, 0.2, 0.2, 0.2, 0.4, 0.5, 0.1, 0.1, 0.3]
"""Three rows of four numbers that sum to one."""
TURN = [0.9, 0.1, 0.3, 0.2]
LINKS = [0.7, 0.2, 0.5, 0.3, 0.9, 0.4]
"""The weights between four nodes."""


def symmetric(x: Any) -> Any:
    """The symmetric matrix of four nodes with these weights, and zeros on its diagonal."""
    upper = np.zeros((6, 4, 4))
    for index, (i, j) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        upper[index, i, j] = upper[index, j, i] = 1.0
    return np.tensordot(x, upper, axes=1)


@package("obspy", "seismology")
def obspy() -> Iterator[Case]:
    geo, rotate = module("obspy.geodetics"), module("obspy.signal.rotate")
    trigger = module("obspy.signal.trigger")
    yield "gps2dist_azimuth", spread(geo.gps2dist_azimuth), [48.1, 11.3, 45.2, 9.7]
    yield "locations2degrees", spread(geo.locations2degrees), [48.1, 11.3, 45.2, 9.7]
    yield "rotate_ne_rt", lambda x: rotate.rotate_ne_rt(x[:3], x[3:6], x[6]), [*SERIES[:6], 30.0]
    yield "classic_sta_lta_py", lambda x: trigger.classic_sta_lta_py(x, 2, 5), SERIES


@package("gstools", "random fields")
def gstools() -> Iterator[Case]:
    m = module("gstools")
    lags, places, values = np.array([0.5, 1.0, 2.0]), [0.3, 1.9, 1.1, 3.3], [0.4, 0.6, 1.2, -0.3]

    def exponential(x: Any) -> Any:
        return m.Exponential(dim=2, var=x[0], len_scale=x[1], nugget=x[2]).variogram(lags)

    def matern(x: Any) -> Any:
        return m.Matern(dim=2, var=x[0], len_scale=x[1], nu=1.5).covariance(lags)

    def kriged(x: Any) -> Any:
        krige = m.krige.Ordinary(m.Gaussian(dim=1, var=0.5, len_scale=2.0), places, x)
        return krige([0.7, 2.5], return_var=False)

    yield "variogram", exponential, [2.0, 1.5, 0.1]
    yield "covariance", matern, [2.0, 1.5]
    yield "krige", kriged, values


@package("pyrolite", "geochemistry")
def pyrolite() -> Iterator[Case]:
    m = module("pyrolite.comp.codata")
    yield "CLR", lambda x: m.CLR(x.reshape(3, 4)), PARTS
    yield "ILR", lambda x: m.ILR(x.reshape(3, 4)), PARTS
    yield "inverse_ALR", lambda x: m.inverse_ALR(x.reshape(3, 4)), SERIES
    yield "sphere", lambda x: m.sphere(x.reshape(3, 4)), PARTS


@package("scikit-bio", "bioinformatics")
def skbio() -> Iterator[Case]:
    c, d = module("skbio.stats.composition"), module("skbio.diversity.alpha")
    yield "clr", lambda x: c.clr(x.reshape(3, 4)), PARTS
    yield "ilr", lambda x: c.ilr(x.reshape(3, 4)), PARTS
    yield "perturb", lambda x: c.perturb(x[:4], x[4:8]), PARTS[:8]
    yield "shannon", d.shannon, PARTS[:4]


@package("reliability", "reliability")
def reliability() -> Iterator[Case]:
    m, other = module("reliability.Distributions"), module("reliability.Other_functions")
    times = np.array([3.0, 5.0, 8.0])

    def survival(x: Any) -> Any:
        return m.Weibull_Distribution(alpha=x[0], beta=x[1]).SF(xvals=times, show_plot=False)

    def mean(x: Any) -> Any:
        found = m.Weibull_Distribution(alpha=x[0], beta=x[1])
        return [found.mean, found.standard_deviation, found.b5]

    def stress(x: Any) -> Any:
        return other.stress_strength_normal(
            stress=m.Normal_Distribution(mu=x[0], sigma=2.0),
            strength=m.Normal_Distribution(mu=x[1], sigma=x[2]),
            show_plot=False, print_results=False,
        )  # fmt: skip

    yield "Weibull_Distribution.SF", survival, [6.0, 1.7]
    yield "Weibull_Distribution.mean", mean, [6.0, 1.7]
    yield "stress_strength_normal", stress, [10.0, 14.0, 1.5]


@package("copulas", "copulas")
def copulas() -> Iterator[Case]:
    m = module("copulas.bivariate")

    def clayton(x: Any) -> Any:
        found = m.Clayton()
        found.theta = x[0]
        return found.cumulative_distribution(x[1:].reshape(3, 2))

    def frank(x: Any) -> Any:
        found = m.Frank()
        found.theta, found.tau = x[0], 0.3
        return found.probability_density(x[1:].reshape(3, 2))

    def gumbel(x: Any) -> Any:
        found = m.Gumbel()
        found.theta = x[0]
        return found.partial_derivative(x[1:].reshape(3, 2))

    points = [0.2, 0.7, 0.5, 0.4, 0.8, 0.3]
    yield "Clayton", clayton, [1.7, *points]
    yield "Frank", frank, [2.7, *points]
    yield "Gumbel", gumbel, [1.7, *points]


@package("bayesian-optimization", "optimisation")
def bayes_opt() -> Iterator[Case]:
    m = module("bayes_opt.acquisition")

    def improvement(x: Any) -> Any:
        found = m.ExpectedImprovement(xi=0.01)
        found.y_max = 1.2
        return found.base_acq(x[:3], x[3:])

    def probability(x: Any) -> Any:
        found = m.ProbabilityOfImprovement(xi=0.01)
        found.y_max = 1.2
        return found.base_acq(x[:3], x[3:])

    point = [0.7, 1.3, 1.1, 0.3, 0.2, 0.5]
    yield "ExpectedImprovement", improvement, point
    yield "ProbabilityOfImprovement", probability, point
    yield "UpperConfidenceBound", lambda x: m.UpperConfidenceBound().base_acq(x[:3], x[3:]), point


@package("chaospy", "uncertainty quantification")
def chaospy() -> Iterator[Case]:
    m = module("chaospy")
    at = np.array([0.2, 0.5, 0.7])
    yield "Normal.pdf", lambda x: m.Normal(x[0], x[1]).pdf(at), [0.3, 1.2]
    yield "Beta.cdf", lambda x: m.Beta(2.0, 3.0).cdf(x), [0.2, 0.5, 0.7]
    yield "E", lambda x: m.E(m.Uniform(x[0], x[1])), [0.3, 1.2]


@package("librosa", "music")
def librosa() -> Iterator[Case]:
    m = module("librosa")
    pitches = np.array([110.0, 220.0, 440.0, 880.0])

    def centroid(x: Any) -> Any:
        return m.feature.spectral_centroid(S=x.reshape(4, 3), freq=pitches)

    yield "hz_to_mel", m.hz_to_mel, [110.0, 440.0, 2200.0]
    yield "power_to_db", lambda x: m.power_to_db(x, top_db=None), [1.5, 0.3, 2.0]
    yield "A_weighting", m.A_weighting, [110.0, 440.0, 2200.0]
    yield "spectral_centroid", centroid, [abs(v) + 0.1 for v in SERIES]


@package("mne", "electrophysiology")
def mne() -> Iterator[Case]:
    t, b, s = module("mne.transforms"), module("mne.baseline"), module("mne.stats")
    times = np.array([-0.2, -0.1, 0.0, 0.1, 0.2, 0.3])

    def rescaled(x: Any) -> Any:
        return b.rescale(x.reshape(2, 6), times, (None, 0), mode="zscore", verbose=False)

    yield "rotation", spread(t.rotation), [0.1, 0.2, 0.3]
    yield "quat_to_rot", t.quat_to_rot, [0.1, 0.2, 0.3]
    yield "rescale", rescaled, SERIES
    yield "ttest_1samp_no_p", lambda x: s.ttest_1samp_no_p(x.reshape(4, 3)), SERIES


@package("bctpy", "brain networks")
def bctpy() -> Iterator[Case]:
    m = module("bct")
    yield "clustering_coef_wu", lambda x: m.clustering_coef_wu(symmetric(x)), LINKS
    yield "transitivity_wu", lambda x: m.transitivity_wu(symmetric(x)), LINKS
    yield "efficiency_wei", lambda x: m.efficiency_wei(symmetric(x)), LINKS


@package("nengo", "neural computation")
def nengo() -> Iterator[Case]:
    m = module("nengo")
    frequencies = np.array([1.0, 5.0, 20.0])

    def rates(x: Any) -> Any:
        return m.LIFRate().rates(x[:3], x[3:6], x[6:])

    point = [0.3, 0.5, 0.9, 2.0, 3.0, 4.0, 1.1, 1.2, 1.3]
    yield "LIFRate.rates", rates, point
    yield "gain_bias", lambda x: m.LIFRate().gain_bias(x[:2], x[2:]), [200.0, 300.0, -0.5, 0.2]
    yield "Lowpass", lambda x: m.Lowpass(x[0]).evaluate(frequencies), [0.05]


@package("diffpy.structure", "crystal structures")
def diffpy() -> Iterator[Case]:
    m = module("diffpy.structure").Lattice
    cell = [4.0, 5.0, 6.0, 80.0, 95.0, 105.0]
    yield "volume", lambda x: m(*x).volume, cell
    yield "reciprocal", lambda x: m(*x).reciprocal().abcABG(), cell
    yield "dist", lambda x: m(*x).dist([0.1, 0.2, 0.3], [0.7, 0.5, 0.4]), cell


@package("orix", "texture")
def orix() -> Iterator[Case]:
    q, v = module("orix.quaternion"), module("orix.vector")

    def turned(x: Any) -> Any:
        return (q.Rotation(x[:4].reshape(1, 4)) * v.Vector3d(x[4:].reshape(1, 3))).data

    def angle(x: Any) -> Any:
        return v.Vector3d(x[:3].reshape(1, 3)).angle_with(v.Vector3d(x[3:].reshape(1, 3)))

    yield "to_matrix", lambda x: q.Rotation(x.reshape(1, 4)).to_matrix(), TURN
    yield "rotated", turned, [*TURN, 0.3, 0.4, 0.5]
    yield "angle_with", angle, [0.3, 0.4, 0.5, 0.1, 0.7, 0.2]


@package("LightPipes", "wave optics")
def light() -> Iterator[Case]:
    m = module("LightPipes")

    def beam(x: Any) -> Any:
        return m.Intensity(m.GaussBeam(m.Begin(1e-2, 1e-6, 8), x[0] * 1e-3))

    def lens(x: Any) -> Any:
        field = m.GaussBeam(m.Begin(1e-2, 1e-6, 8), 2e-3)
        return m.Intensity(m.Forvard(m.Lens(field, x[0]), x[1]))

    def fresnel(x: Any) -> Any:
        return m.Intensity(m.Fresnel(m.GaussBeam(m.Begin(1e-2, 1e-6, 8), x[0] * 1e-3), x[1]))

    yield "GaussBeam", beam, [2.0]
    yield "Lens, Forvard", lens, [0.8, 0.3]
    yield "Fresnel", fresnel, [2.0, 0.5]


@package("cirq-core", "quantum computing")
def cirq() -> Iterator[Case]:
    m = module("cirq")
    a, b = m.LineQubit.range(2)

    def state(x: Any) -> Any:
        circuit = m.Circuit(m.ry(x[0])(a), m.CNOT(a, b), m.rz(x[1])(b))
        return circuit.final_state_vector(dtype=np.complex128)

    def entropy(x: Any) -> Any:
        return m.von_neumann_entropy(np.array([[x[0], x[1]], [x[1], 1.0 - x[0]]]))

    def fidelity(x: Any) -> Any:
        c = np.cos(x[0]), np.sin(x[0])
        return m.fidelity(np.array([1.0, 0.0]), np.array([c[0], c[1]]), qid_shape=(2,))

    yield "unitary", lambda x: m.unitary(m.rx(x[0])), [0.7]
    yield "final_state_vector", state, [0.7, 0.3]
    yield "von_neumann_entropy", entropy, [0.7, 0.2]
    yield "fidelity", fidelity, [0.7]


@package("thewalrus", "quantum optics")
def thewalrus() -> Iterator[Case]:
    m, q = module("thewalrus"), module("thewalrus.quantum")
    s = module("thewalrus.symplectic")

    def means(x: Any) -> Any:
        turn = s.two_mode_squeezing(x[0], x[1])
        return q.photon_number_mean_vector(x[2:], turn @ turn.T)

    yield "hafnian", lambda x: m.hafnian(symmetric(x) + np.eye(4)), LINKS
    yield "photon_number_mean_vector", means, [0.5, 0.3, 0.1, 0.2, 0.3, 0.4]
    yield "beam_splitter", lambda x: s.beam_splitter(x[0], x[1]), [0.5, 0.3]


@package("pyromat", "gases")
def pyromat() -> Iterator[Case]:
    m = module("pyromat")
    air, steam = m.get("ig.air"), m.get("mp.H2O")
    yield "cp", lambda x: air.cp(x[0]), [700.0]
    yield "s", lambda x: air.s(T=x[0], p=x[1]), [700.0, 3.0]
    yield "ps", lambda x: steam.ps(T=x[0]), [400.0]


@package("AeroSandbox", "aerodynamics")
def aerosandbox() -> Iterator[Case]:
    m, a = module("aerosandbox"), module("aerosandbox.library.aerodynamics")

    def atmosphere(x: Any) -> Any:
        found = m.Atmosphere(altitude=x[0])
        return [found.pressure(), found.temperature(), found.density()]

    def condition(x: Any) -> Any:
        found = m.OperatingPoint(
            atmosphere=m.Atmosphere(altitude=x[0]), velocity=x[1], alpha=x[2], beta=1.0
        )
        wind = found.compute_freestream_velocity_geometry_axes()
        return [found.dynamic_pressure(), found.mach(), wind]

    yield "Atmosphere", atmosphere, [6000.0]
    yield "OperatingPoint", condition, [6000.0, 120.0, 4.0]
    yield "Cf_flat_plate", a.Cf_flat_plate, [1e5, 1e6]


@package("openap", "air traffic")
def openap() -> Iterator[Case]:
    m = module("openap")
    thrust, drag = m.Thrust("A320", "CFM56-5B4"), m.Drag("A320")
    yield "Thrust.climb", lambda x: thrust.climb(tas=x[0], alt=x[1], roc=x[2]), [200, 20000, 1000]
    yield "Drag.clean", lambda x: drag.clean(mass=x[0], tas=x[1], alt=x[2]), [6e4, 200, 2e4]
    yield "aero.atmos", lambda x: m.aero.atmos(x[0]), [6000.0]
    yield "aero.cas2tas", lambda x: m.aero.cas2tas(x[0], x[1]), [120.0, 6000.0]


@package("plasmapy", "plasma physics")
def plasmapy() -> Iterator[Case]:
    f, u = module("plasmapy.formulary"), module("astropy.units")

    def alfven(x: Any) -> Any:
        return f.Alfven_speed(B=x[0] * u.T, density=x[1] * 1e19 * u.m**-3, ion="p+").value

    def debye(x: Any) -> Any:
        return f.Debye_length(x[0] * 1e6 * u.K, x[1] * 1e19 * u.m**-3).value

    def frequency(x: Any) -> Any:
        return f.plasma_frequency(x[0] * 1e19 * u.m**-3, particle="e-").value

    yield "Alfven_speed", alfven, [1.5, 2.0]
    yield "Debye_length", debye, [1.5, 2.0]
    yield "plasma_frequency", frequency, [2.0]


@package("lamberthub", "astrodynamics")
def lamberthub() -> Iterator[Case]:
    m = module("lamberthub")
    point = [15945.34, 0.0, 0.0, 12214.83899, 10249.46731, 0.0, 4560.0]

    def solved(name: str) -> Callable[[Any], Any]:
        solver = getattr(m, name)
        return lambda x: solver(398600.4418, x[:3], x[3:6], x[6], atol=1e-12, rtol=1e-12)

    yield "izzo2015", solved("izzo2015"), point
    yield "gooding1990", solved("gooding1990"), point
    yield "gauss1809", solved("gauss1809"), point


@package("dust_extinction", "interstellar dust")
def dust() -> Iterator[Case]:
    p, a = module("dust_extinction.parameter_averages"), module("dust_extinction.averages")
    s, u = module("dust_extinction.shapes"), module("astropy.units")
    waves = np.array([1.2, 2.5, 4.0])
    yield "CCM89", lambda x: p.CCM89(Rv=x[0])(waves / u.micron), [3.1]
    yield "G23", lambda x: p.G23(Rv=3.1)(x / u.micron), [1.2, 2.5, 4.0]
    yield "FM90", lambda x: s.FM90(C1=x[0], C2=x[1])(np.array([4.0, 6.0]) / u.micron), [0.1, 0.7]
    yield "GCC09_MWAvg", lambda x: a.GCC09_MWAvg()(x / u.micron), [4.0, 5.0]


@package("resample", "resampling")
def resample() -> Iterator[Case]:
    m = module("resample.jackknife")
    yield "variance", lambda x: m.variance(np.mean, x), SERIES[:6]
    yield "bias", lambda x: m.bias(np.var, x), SERIES[:6]
    yield "bias_corrected", lambda x: m.bias_corrected(np.std, x), SERIES[:6]


@package("quantecon", "economics")
def quantecon() -> Iterator[Case]:
    m = module("quantecon")

    def riccati(x: Any) -> Any:
        a, b = x[:4].reshape(2, 2), np.array([[0.0], [1.0]])
        return m.solve_discrete_riccati(a, b, x[4] * np.eye(2), np.array([[1.0]]))

    def stationary(x: Any) -> Any:
        chain = np.array([[1.0 - x[0], x[0]], [x[1], 1.0 - x[1]]])
        return m.MarkovChain(chain).stationary_distributions

    def lyapunov(x: Any) -> Any:
        return m.solve_discrete_lyapunov(x[:4].reshape(2, 2), x[4] * np.eye(2))

    yield "solve_discrete_riccati", riccati, [0.9, 0.1, 0.2, 0.7, 1.0]
    yield "MarkovChain", stationary, [0.3, 0.2]
    yield "solve_discrete_lyapunov", lyapunov, [0.9, 0.1, 0.2, 0.7, 1.0]
    yield "gini_coefficient", m.gini_coefficient, [1.5, 0.7, 2.2, 3.1]


@package("pyliferisk", "insurance")
def pyliferisk() -> Iterator[Case]:
    m, tables = module("pyliferisk"), module("pyliferisk.mortalitytables")

    def at(function: Any, *rest: Any) -> Callable[[Any], Any]:
        return lambda x: function(m.Actuarial(nt=tables.GKM95, i=x[0]), 40, *rest)

    yield "Ax", at(m.Ax), [0.02]
    yield "annuity", at(m.annuity, 10, 1), [0.02]
    yield "nEx", at(m.nEx, 5), [0.02]


@package("pygmm", "ground motion")
def pygmm() -> Iterator[Case]:
    m = module("pygmm")

    def spectrum(name: str) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            scenario = m.Scenario(
                mag=x[0], dist_rup=x[1], dist_jb=x[1], dist_x=x[1], v_s30=x[2], dip=90.0,
                mechanism="SS", depth_tor=2.0, on_hanging_wall=False, depth_2_5=2.0, depth_1_0=0.2,
                depth_hyp=8.0, width=10.0, region="california",
            )  # fmt: skip
            return np.log(getattr(m, name)(scenario).spec_accels)

        return function

    point = [6.3, 25.0, 500.0]
    yield "AbrahamsonSilvaKamai2014", spectrum("AbrahamsonSilvaKamai2014"), point
    yield "BooreStewartSeyhanAtkinson2014", spectrum("BooreStewartSeyhanAtkinson2014"), point
    yield "ChiouYoungs2014", spectrum("ChiouYoungs2014"), point


@package("pycba", "beams")
def pycba() -> Iterator[Case]:
    m = module("pycba")

    def continuous(x: Any) -> Any:
        beam = m.BeamAnalysis([x[0], 5.0], 30 * 600e7 * 1e-6, [-1, 0, -1, 0, -1, 0])
        beam.add_udl(i_member=1, w=x[1])
        beam.add_pl(i_member=2, p=x[2], a=2.0)
        beam.analyze(npts=5)
        return [beam.beam_results.results.M, beam.beam_results.R]

    def stiff(x: Any) -> Any:
        beam = m.BeamAnalysis([7.5, 5.0], [x[0] * 1e5, x[1] * 1e5], [-1, 0, -1, 0, -1, 0])
        beam.set_loads([[1, 1, 20.0, 0, 0]])
        beam.analyze(npts=5)
        return beam.beam_results.results.D * 1e3

    yield "moments and reactions", continuous, [7.5, 20.0, 30.0]
    yield "deflections", stiff, [1.8, 2.1]


@package("groundhog", "geotechnics")
def groundhog() -> Iterator[Case]:
    m = module("groundhog.shallowfoundations.stressdistribution")
    t = module("groundhog.siteinvestigation.insitutests.spt_correlations")

    def numbers(found: Any) -> Any:
        return [value for value in found.values() if not isinstance(value, str)]

    def strip(x: Any) -> Any:
        return numbers(m.stresses_stripload(z=x[0], x=x[1], width=x[2], imposedstress=x[3]))

    def circle(x: Any) -> Any:
        return numbers(
            m.stresses_circle(z=x[0], footing_radius=x[1], imposedstress=x[2], poissonsratio=0.3)
        )

    def friction(x: Any) -> Any:
        return numbers(t.frictionangle_spt_kulhawymayne(N=x[0], sigma_vo_eff=x[1]))

    yield "stresses_stripload", strip, [2.0, 0.5, 3.0, 100.0]
    yield "stresses_circle", circle, [2.0, 1.5, 100.0]
    yield "frictionangle_spt_kulhawymayne", friction, [20.0, 80.0]


@package("typhon", "remote sensing")
def typhon() -> Iterator[Case]:
    m = module("typhon.physics")
    yield "e_eq_mixed_mk", m.e_eq_mixed_mk, [255.0, 265.0, 280.0]
    yield "planck", lambda x: m.planck(x[0] * 1e12, x[1]) * 1e15, [3.0, 280.0]
    yield "moist_lapse_rate", lambda x: m.moist_lapse_rate(x[0], x[1]), [9e4, 285.0]
    yield "relative_humidity2vmr", lambda x: m.relative_humidity2vmr(*x), [0.7, 9e4, 285.0]


@package("scikit-commpy", "communications")
def commpy() -> Iterator[Case]:
    f, u = module("commpy.filters"), module("commpy.utilities")
    c = module("commpy.modulation")

    def demodulated(x: Any) -> Any:
        return c.QAMModem(4).demodulate(x[:2] + 1j * x[2:4], "soft", noise_var=0.3)

    yield "rcosfilter", lambda x: f.rcosfilter(8, x[0], x[1], 4.1)[1], [0.35, 1.0]
    yield "signal_power", u.signal_power, SERIES
    yield "demodulate", demodulated, [0.7, -0.8, 0.4, 0.9]


@package("colour-demosaicing", "image sensors")
def demosaicing() -> Iterator[Case]:
    m = module("colour_demosaicing")
    image = [0.5 + 0.3 * float(v) for v in np.sin(np.arange(36.0) ** 2)]
    yield (
        "bilinear",
        lambda x: m.demosaicing_CFA_Bayer_bilinear(x.reshape(6, 6)),
        image,
    )
    yield "Malvar2004", lambda x: m.demosaicing_CFA_Bayer_Malvar2004(x.reshape(6, 6)), image
    yield "Menon2007", lambda x: m.demosaicing_CFA_Bayer_Menon2007(x.reshape(6, 6)), image


@package("pylops", "inverse problems")
def pylops() -> Iterator[Case]:
    m = module("pylops")
    matrix = np.array([[2.0, 0.3, 0.1], [0.4, 1.7, 0.2], [0.1, 0.5, 1.3], [0.6, 0.2, 0.9]])

    def solved(x: Any) -> Any:
        return m.optimization.basic.cgls(m.MatrixMult(matrix), x, niter=3, tol=0.0)[0]

    yield "FirstDerivative", lambda x: m.FirstDerivative(12, sampling=0.5) @ x, SERIES
    yield "Smoothing1D", lambda x: m.Smoothing1D(nsmooth=3, dims=12).H @ x, SERIES
    yield "cgls", solved, [1.0, 0.4, 0.7, 0.2]


@package("pygsp", "graph signals")
def pygsp() -> Iterator[Case]:
    graphs, filters = module("pygsp.graphs"), module("pygsp.filters")

    def heat(x: Any) -> Any:
        graph = graphs.Ring(12)
        graph.compute_fourier_basis()
        return filters.Heat(graph, scale=3.0).filter(x, method="exact")

    def fourier(x: Any) -> Any:
        graph = graphs.Path(6)
        graph.compute_fourier_basis()
        return graph.gft(x)

    yield "Heat", heat, SERIES
    yield "gft", fourier, SERIES[:6]
    yield "dirichlet_energy", lambda x: graphs.Ring(6).dirichlet_energy(x), SERIES[:6]


@package("persim", "topology")
def persim() -> Iterator[Case]:
    m, e = module("persim"), module("persim.persistent_entropy")
    other = np.array([[0.1, 0.9], [0.4, 1.5]])
    point = [0.2, 1.1, 0.5, 1.3]
    yield "heat", lambda x: m.heat(x.reshape(2, 2), other), point
    yield "wasserstein", lambda x: m.wasserstein(x.reshape(2, 2), other), point
    yield "persistent_entropy", lambda x: e.persistent_entropy(x.reshape(2, 2)), point


@package("psignifit", "psychophysics")
def psignifit() -> Iterator[Case]:
    m = module("psignifit.sigmoids")
    levels = np.array([0.1, 0.4, 0.8])

    def function(name: str) -> Callable[[Any], Any]:
        return lambda x: m.sigmoid_by_name(name, PC=0.5, alpha=0.05)(levels, x[0], x[1])

    yield "norm", function("norm"), [0.5, 0.7]
    yield "logistic", function("logistic"), [0.5, 0.7]
    yield "gumbel", function("gumbel"), [0.5, 0.7]


@package("zepid", "epidemiology")
def zepid() -> Iterator[Case]:
    m = module("zepid.calc")
    table = [25.0, 75.0, 15.0, 85.0]
    yield "risk_ratio", lambda x: tuple(m.risk_ratio(*x))[:3], table
    yield "odds_ratio", lambda x: tuple(m.odds_ratio(*x))[:3], table
    yield "incidence_rate_ratio", lambda x: tuple(m.incidence_rate_ratio(*x))[:3], table


@package("pints", "inference")
def pints() -> Iterator[Case]:
    m, toy = module("pints"), module("pints.toy")
    times = np.linspace(0, 100, 6)
    seen = toy.LogisticModel().simulate([0.1, 50.0], times) + 0.5 * np.cos(times)

    def likelihood(x: Any) -> Any:
        problem = m.SingleOutputProblem(toy.LogisticModel(), times, seen)
        return m.GaussianLogLikelihood(problem)(x)

    yield "simulate", lambda x: toy.LogisticModel().simulate(x, times), [0.1, 50.0]
    yield "GaussianLogLikelihood", likelihood, [0.12, 49.0, 0.8]
    yield "GaussianLogPrior", m.GaussianLogPrior(1.0, 2.0), [0.3]


@package("modepy", "spectral elements")
def modepy() -> Iterator[Case]:
    m = module("modepy")
    basis = m.orthonormal_basis_for_space(m.PN(2, 2), m.Simplex(2))
    points = [-0.5, -0.3, 0.1, 0.2, -0.7, -0.9, 0.3, -0.2, -0.8, -0.6, -0.1, 0.05]

    def resampled(x: Any) -> Any:
        nodes = m.warp_and_blend_nodes(2, 2)
        return m.resampling_matrix(basis.functions, x.reshape(2, 6), nodes)

    yield "vandermonde", lambda x: m.vandermonde(basis.functions, x.reshape(2, 6)), points
    yield "resampling_matrix", resampled, points
    yield "mass_matrix", lambda x: m.mass_matrix(basis, x.reshape(2, 6)), points


@package("wellpathpy", "drilling")
def wellpathpy() -> Iterator[Case]:
    m = module("wellpathpy")
    depth = np.array([0.0, 300.0, 700.0, 1100.0])
    angles = [1.0, 5.0, 20.0, 35.0, 10.0, 15.0, 40.0, 60.0]

    def path(method: str) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            found = getattr(m.deviation(md=depth, inc=x[:4], azi=x[4:]), method)()
            return [found.depth, found.northing, found.easting]

        return function

    yield "minimum_curvature", path("minimum_curvature"), angles
    yield "radius_curvature", path("radius_curvature"), angles
    yield "tan_method", path("tan_method"), angles


@package("rampy", "Raman spectra")
def rampy() -> Iterator[Case]:
    m = module("rampy")
    at = np.linspace(0.0, 11.0, 12)
    yield "gaussian", lambda x: m.gaussian(at, x[0], x[1], x[2]), [2.0, 5.0, 1.5]
    yield "pseudovoigt", lambda x: m.pseudovoigt(at, *x), [2.0, 5.0, 1.5, 0.4]
    yield "whittaker", lambda x: m.whittaker(x, Lambda=10.0), WAVE
    yield "difffull", lambda x: m.difffull(x[0], x[1], 100.0, 1.0, 0.2, x[2]), [0.1, 0.2, 1e-4]


@package("stockpyl", "inventory")
def stockpyl() -> Iterator[Case]:
    eoq, newsvendor = module("stockpyl.eoq"), module("stockpyl.newsvendor")
    yield "economic_order_quantity", spread(eoq.economic_order_quantity), [8.0, 0.225, 1300.0]
    yield (
        "economic_order_quantity_with_backorders",
        spread(eoq.economic_order_quantity_with_backorders),
        [8.0, 0.225, 5.0, 1300.0],
    )
    yield "newsvendor_normal", spread(newsvendor.newsvendor_normal), [0.18, 0.7, 50.0, 8.0]


@package("catsim", "psychometrics")
def catsim() -> Iterator[Case]:
    m = module("catsim.irt")
    items = np.array([[1.2, 0.3, 0.1, 0.98], [0.8, -0.5, 0.2, 0.97], [1.5, 0.9, 0.0, 1.0]])
    yield "icc", spread(m.icc), [0.4, 1.2, 0.3, 0.1, 0.95]
    yield "inf", spread(m.inf), [0.4, 1.2, 0.3, 0.1, 0.95]
    yield "log_likelihood", lambda x: m.log_likelihood(x[0], [True, False, True], items), [0.4]
