"""A tenth sample, drawn on 2026-11-28 after the ninth, and written down before any was tried.

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

TENTH = Sample()
package = TENTH.package
MOLECULE = [0.0, 0.0, 0.1, 1.4, 0.2, 0.0, 1.9, 1.5, 0.3, 3.1, 1.7, -0.6]
"""Four atoms in a chain."""


@package("pystoi", "speech intelligibility")
def pystoi() -> Iterator[Case]:
    m = module("pystoi.utils")
    stoi = module("pystoi")
    time = np.arange(6000)
    clean = np.sin(0.05 * time) * np.cos(0.003 * time) + 0.3 * np.sin(0.31 * time + 1.0)
    noise = np.cos(0.17 * time**1.1)

    def noisy(x: Any) -> Any:
        return stoi.stoi(clean, clean + x[0] * noise + x[1] * np.abs(noise), 10000)

    yield "stoi", noisy, [0.3, 0.1]
    yield "resample_oct", lambda x: m.resample_oct(x, 3, 2), WAVE
    yield "stft", lambda x: m.stft(x, 16, 16), WAVE
    yield "row_col_normalize", lambda x: m.row_col_normalize(x.reshape(1, 3, 4)), SERIES[:12]


@package("speechpy", "speech features")
def speechpy() -> Iterator[Case]:
    processing = module("speechpy.processing")
    yield "stack_frames", lambda x: processing.stack_frames(
        x, 100, 0.06, 0.03, zero_padding=True
    ), SERIES  # fmt: skip
    yield "power_spectrum", lambda x: processing.power_spectrum(x.reshape(2, -1), 16), SERIES
    yield "cmvn", lambda x: processing.cmvn(x.reshape(4, -1), variance_normalization=True), SERIES
    yield "log_power_spectrum", lambda x: processing.log_power_spectrum(
        x.reshape(2, -1), 16
    ), SERIES  # fmt: skip


@package("spafe", "audio features")
def spafe() -> Iterator[Case]:
    scales, features = module("spafe.utils.converters"), module("spafe.features.spfeats")
    ceps = module("spafe.utils.cepstral")
    yield "hz2erb", lambda x: scales.hz2erb(x[0]), [440.0]
    yield "bark2hz", lambda x: scales.bark2hz(x[0]), [4.4]
    yield "spectral_entropy", features.spectral_entropy, [0.4, 1.2, 0.7, 0.3]
    yield "spectral_flatness", features.spectral_flatness, [0.4, 1.2, 0.7, 0.3]
    yield "lifter_ceps", lambda x: ceps.lifter_ceps(x.reshape(2, -1), 3), SERIES
    yield "normalize_ceps", lambda x: ceps.normalize_ceps(x.reshape(4, -1), "mvn"), SERIES


@package("pyACA", "audio content analysis")
def pyaca() -> Iterator[Case]:
    m = module("pyACA")
    spectra = [0.4, 1.2, 0.7, 0.3, 0.9, 0.2, 1.1, 0.6, 0.5, 0.8]

    def of_spectra(function: Any) -> Callable[[Any], Any]:
        return lambda x: function(x.reshape(5, 2), 100.0)

    yield "FeatureSpectralCentroid", of_spectra(m.FeatureSpectralCentroid), spectra
    yield "FeatureSpectralKurtosis", of_spectra(m.FeatureSpectralKurtosis), spectra
    yield "FeatureSpectralFlatness", of_spectra(m.FeatureSpectralFlatness), spectra
    yield "ToolFreq2Bark", m.ToolFreq2Bark, [440.0, 1000.0]
    yield "FeatureTimeRms", lambda x: m.FeatureTimeRms(x, 8, 4, 100.0)[0], WAVE


@package("pygeomag", "geomagnetism")
def pygeomag() -> Iterator[Case]:
    model = module("pygeomag").GeoMag()

    def at(x: Any) -> Any:
        found = model.calculate(glat=x[0], glon=x[1], alt=x[2], time=2026.5)
        return [found.d, found.f, found.h]

    yield "GeoMag.calculate", at, [47.6, -122.3, 0.5]
    yield "calculate at a time", lambda x: model.calculate(47.6, -122.3, 0.0, x[0]).f, [2026.4]


@package("crflux", "cosmic rays")
def crflux() -> Iterator[Case]:
    m = module("crflux.models")
    energies = [1e3, 4e5]
    yield "HillasGaisser2012", m.HillasGaisser2012("H3a").total_flux, energies
    yield "PolyGonato", m.PolyGonato(False).total_flux, energies
    yield "nucleon_gamma", m.GaisserStanevTilav("3-gen").nucleon_gamma, energies
    yield "lnA", m.HillasGaisser2012("H4a").lnA, energies
    yield "ZatsepinSokolskaya", m.ZatsepinSokolskaya("pamela").total_flux, energies


@package("ckmutil", "quark mixing")
def ckmutil() -> Iterator[Case]:
    m, diag, phases = module("ckmutil.ckm"), module("ckmutil.diag"), module("ckmutil.phases")
    yield "ckm_wolfenstein", spread(m.ckm_wolfenstein), [0.22, 0.8, 0.13, 0.35]
    yield "ckm_tree", spread(m.ckm_tree), [0.22, 0.004, 0.04, 1.2]
    yield "standard_to_wolfenstein", spread(m.standard_to_wolfenstein), [0.22, 0.004, 0.04, 1.2]
    yield "mixing_phases", lambda x: phases.mixing_phases(m.ckm_standard(*x))["delta"], [
        0.3, 0.2, 0.4, 1.2,
    ]  # fmt: skip
    yield "msvd", lambda x: diag.msvd(x.reshape(2, 2))[1], [1.2, 0.3, -0.4, 0.9]


@package("sunposition", "sunlight")
def sunposition() -> Iterator[Case]:
    m = module("sunposition")
    time = "2026-05-04T10:30:00"
    yield "sunposition", lambda x: m.sunposition(time, x[0], x[1], x[2], jit=False)[:2], [
        47.6, 8.3, 400.0,
    ]  # fmt: skip
    yield "refraction", lambda x: m.observed_sunposition(
        time, 47.6, -80.3, 400.0, x[0], x[1], jit=False
    ), [12.0, 980.0]  # fmt: skip
    yield "arcdist", lambda x: m.arcdist(x[:2], x[2:], jit=False), [40.0, 0.3, 47.0, 0.9]


@package("pyBADA", "aircraft performance")
def pybada() -> Iterator[Case]:
    m = module("pyBADA.atmosphere")
    yield "delta", lambda x: m.delta(x[0], x[1]), [9000.0, 5.0]
    yield "atmosphereProperties", lambda x: m.atmosphereProperties(x[0], x[1]), [12500.0, 5.0]
    yield "cas2Tas", spread(m.cas2Tas), [130.0, 0.4, 0.5]
    yield "crossOver", spread(m.crossOver), [140.0, 0.78]
    yield "mach2Cas", spread(m.mach2Cas), [0.7, 0.8, 0.4, 0.5]


@package("geometric", "molecular geometry")
def geometric() -> Iterator[Case]:
    m, rotate = module("geometric.internal"), module("geometric.rotate")
    other = np.array([[0.0, 0.1, 0.0], [1.3, 0.4, 0.2], [1.7, 1.6, 0.1], [3.3, 1.5, -0.5]])
    yield "Distance", lambda x: m.Distance(0, 2).value(x), MOLECULE
    yield "Angle", lambda x: m.Angle(0, 1, 2).value(x), MOLECULE
    yield "Dihedral", lambda x: m.Dihedral(0, 1, 2, 3).value(x), MOLECULE
    yield "OutOfPlane.derivative", lambda x: m.OutOfPlane(0, 1, 2, 3).derivative(x), MOLECULE
    yield "calc_rmsd", lambda x: rotate.calc_rmsd(x.reshape(4, 3), other), MOLECULE
    yield "get_expmap", lambda x: rotate.get_expmap(x.reshape(4, 3), other), MOLECULE


@package("morfeus-ml", "molecular descriptors")
def morfeus() -> Iterator[Case]:
    m, calculators = module("morfeus.geometry"), module("morfeus.calculators")
    pyramid = module("morfeus")

    def pyramidalization(x: Any) -> Any:
        found = pyramid.Pyramidalization(x.reshape(4, 3), 1, neighbor_indices=[2, 3, 4])
        return [found.P, found.P_angle, found.alpha]

    def internal(x: Any) -> Any:
        coordinates = m.InternalCoordinates()
        coordinates.add_bond(1, 2)
        coordinates.add_angle(1, 2, 3)
        coordinates.add_dihedral(1, 2, 3, 4)
        return coordinates.get_B_matrix(x.reshape(4, 3))

    yield "Pyramidalization", pyramidalization, [
        0.0, 0.0, 0.3, 0.9, 0.1, 0.0, -0.5, 0.8, 0.1, -0.4, -0.8, 0.0,
    ]  # fmt: skip
    yield "InternalCoordinates.get_B_matrix", internal, MOLECULE
    yield "D3Calculator", lambda x: calculators.D3Calculator(
        [6, 6, 8, 1], x.reshape(4, 3)
    ).coordination_numbers, MOLECULE  # fmt: skip
    yield "kabsch_rotation_matrix", lambda x: m.kabsch_rotation_matrix(
        x.reshape(4, 3), np.array(MOLECULE[::-1]).reshape(4, 3)
    ), MOLECULE  # fmt: skip


@package("quimb", "quantum information")
def quimb() -> Iterator[Case]:
    m = module("quimb")

    def state(x: Any) -> Any:
        return m.qu([x[0], x[1], x[2], x[3]], qtype="ket", normalized=True)

    def network(x: Any) -> Any:
        tensors = module("quimb.tensor")
        a = tensors.Tensor(x[:4].reshape(2, 2), inds=("i", "j"))
        b = tensors.Tensor(x[4:].reshape(2, 2), inds=("j", "k"))
        return (a & b).contract().data

    yield "entropy", lambda x: m.entropy(m.ptr(state(x), [2, 2], 0)), [1.0, 0.3, 0.5, 0.9]
    yield "logneg", lambda x: m.logneg(0.8 * m.dop(state(x)) + 0.05 * m.eye(4)), [
        1.0, 0.3, 0.5, 0.9,
    ]  # fmt: skip
    yield "bloch_state", lambda x: m.bloch_state(*x), [0.3, 0.5, 0.2]
    yield "TensorNetwork.contract", network, SERIES[:8]
    yield "expec", lambda x: m.expec(m.pauli("X") & m.pauli("Z"), state(x)), [1.0, 0.3, 0.5, 0.9]


@package("financepy", "derivatives of securities")
def financepy() -> Iterator[Case]:
    analytic = module("financepy.models.black_scholes_analytic")
    black, merton = module("financepy.models.black"), module("financepy.models.merton_firm")
    math, kind = module("financepy.utils.math"), module("financepy.utils.global_types")
    call = kind.OptionTypes.EUROPEAN_CALL

    def firm(x: Any) -> Any:
        model = merton.MertonFirm(x[0], x[1], 2.0, 0.05, 0.06, x[2])
        return [model.debt_value(), model.equity_value()]

    yield "bs_value", lambda x: analytic.bs_value(*x, call.value), [
        100.0, 1.2, 105.0, 0.03, 0.01, 0.2,
    ]  # fmt: skip
    yield "black_vega", lambda x: black.black_vega(*x, call), [100.0, 1.2, 105.0, 0.03, 0.2]
    yield "MertonFirm", firm, [140.0, 100.0, 0.2]
    yield "phi2", spread(math.phi2), [0.3, -0.2, 0.4]


@package("elote", "ratings of players")
def elote() -> Iterator[Case]:
    m = module("elote")

    def elo(x: Any) -> Any:
        one, other = m.EloCompetitor(x[0]), m.EloCompetitor(x[1])
        one.beat(other)
        return [one.rating, other.rating, one.expected_score(other)]

    def dwz(x: Any) -> Any:
        one, other = m.DWZCompetitor(x[0]), m.DWZCompetitor(x[1])
        one.beat(other)
        return [one.rating, other.rating]

    def glicko(x: Any) -> Any:
        one, other = m.GlickoCompetitor(x[0], x[1]), m.GlickoCompetitor(x[2], x[3])
        return one.expected_score(other)

    yield "EloCompetitor.beat", elo, [420.0, 390.0]
    yield "DWZCompetitor.beat", dwz, [1500.0, 1420.0]
    yield "GlickoCompetitor.expected_score", glicko, [1500.0, 80.0, 1430.0, 120.0]


@package("pystra", "structural reliability")
def pystra() -> Iterator[Case]:
    m = module("pystra")

    def margin(r: Any, s: Any) -> Any:
        return r - s

    def analysis(x: Any) -> Any:
        limit = m.LimitState(margin)
        model = m.StochasticModel()
        model.addVariable(m.Normal("r", x[0], x[1]))
        model.addVariable(m.Lognormal("s", x[2], x[3]))
        found = m.Form(stochastic_model=model, limit_state=limit)
        found.run()
        return found.getBeta()

    yield "Gumbel.cdf", lambda x: m.Gumbel("s", x[0], x[1]).cdf(x[2]), [10.0, 2.0, 11.0]
    yield "Lognormal.u_to_x", lambda x: m.Lognormal("s", x[0], x[1]).u_to_x(x[2]), [10.0, 2.0, 0.4]
    yield "Weibull.pdf", lambda x: m.Weibull("s", x[0], x[1]).pdf(x[2]), [10.0, 2.0, 11.0]
    yield "Form", analysis, [10.0, 1.0, 5.0, 0.7]


@package("Platypus-Opt", "multiobjective optimization")
def platypus() -> Iterator[Case]:
    m = module("platypus")

    def objectives(problem: Any) -> Callable[[Any], Any]:
        def evaluated(x: Any) -> Any:
            solution = m.Solution(problem)
            solution.variables = list(x)
            problem.evaluate(solution)
            return list(solution.objectives)

        return evaluated

    yield "DTLZ2", objectives(m.DTLZ2(2, 4)), [0.2, 0.4, 0.7, 0.6]
    yield "ZDT1", objectives(m.ZDT1()), [0.2 + 0.02 * k for k in range(30)]
    yield "UF1", objectives(m.UF1(4)), [0.2, 0.4, 0.7, 0.6]
    yield "WFG4", objectives(m.WFG4(2)), [0.2 + 0.3 * k for k in range(11)]


@package("nevergrad", "benchmarks of optimizers")
def nevergrad() -> Iterator[Case]:
    m = module("nevergrad.functions.corefuncs")
    yield "lunacek", m.lunacek, [0.3, 1.2, -0.7]
    yield "ackley", m.ackley, [0.3, 1.2, -0.7]
    yield "griewank", m.griewank, [0.3, 1.2, -0.7]
    yield "genzcornerpeak", m.genzcornerpeak, [0.3, 1.2, 0.7]


@package("zernike", "wavefronts")
def zernike() -> Iterator[Case]:
    m = module("zernike")
    polynomials = m.RZern(3)
    yield "RZern", lambda x: m.RZern(3).eval_a(x, 0.4, 0.9), [0.1 * k for k in range(1, 11)]
    yield "RZern.Zk", lambda x: polynomials.Zk(7, x[0], x[1]), [0.4, 0.9]
    yield "RZern.fit", lambda x: m.FitZern(m.RZern(1), 4, 3).fit(x), SERIES[:12]
    yield "RZern.make_rotation", lambda x: polynomials.make_rotation(x[0]), [0.4]


@package("optiland", "optical design")
def optiland() -> Iterator[Case]:
    materials, stacks = module("optiland.materials"), module("optiland.thin_film")
    optic = module("optiland.optic")

    def film(x: Any) -> Any:
        air, glass = materials.IdealMaterial(1.0), materials.IdealMaterial(1.52)
        stack = stacks.ThinFilmStack(air, glass)
        stack.add_layer_nm(materials.IdealMaterial(x[1]), x[0])
        return stack.reflectance_nm_deg(550.0, x[2])

    def lens(x: Any) -> Any:
        made = optic.Optic()
        made.surfaces.add(index=0, thickness=np.inf)
        made.surfaces.add(index=1, radius=x[0], thickness=x[1], material="N-BK7", is_stop=True)
        made.surfaces.add(index=2, radius=x[2], thickness=90.0)
        made.surfaces.add(index=3)
        made.set_aperture("EPD", 10.0)
        made.fields.set_type("angle")
        made.fields.add(y=0)
        made.wavelengths.add(value=0.55, is_primary=True)
        return made.paraxial.f2()

    yield "ThinFilmStack", film, [100.0, 1.38, 10.0]
    yield "Paraxial.f2", lens, [60.0, 5.0, -80.0]


@package("rcwa", "diffraction")
def rcwa() -> Iterator[Case]:
    m, fresnel = module("rcwa"), module("rcwa.utils.fresnel")

    def stack(x: Any) -> Any:
        source = m.Source(wavelength=x[0], theta=x[1])
        layers = m.LayerStack(
            m.Layer(n=x[2], thickness=x[3]),
            incident_layer=m.Layer(n=1.0), transmission_layer=m.Layer(n=1.5),
        )  # fmt: skip
        return m.Solver(layers, source, 1).solve()["RTot"]

    yield "Solver.solve", stack, [0.6, 0.2, 1.38, 0.1]
    yield "rTE", lambda x: fresnel.rTE(
        m.Source(wavelength=0.6, theta=x[0]), m.Layer(n=1.0), m.Layer(n=x[1])
    ), [0.4, 1.5]  # fmt: skip
    yield "Layer.n", lambda x: m.Layer(er=x[0], ur=x[1]).n, [2.2, 1.1]


@package("ElectroMagneticPython", "electromagnetism")
def empy() -> Iterator[Case]:
    m, matrices = module("EMpy"), module("EMpy.transfer_matrix")

    def layers(x: Any) -> Any:
        air = m.materials.IsotropicMaterial("air", n0=m.materials.RefractiveIndex(n0_const=1.0))
        film = m.materials.IsotropicMaterial("film", n0=m.materials.RefractiveIndex(n0_const=x[0]))
        stack = m.utils.Multilayer(
            [
                m.utils.Layer(air, np.inf),
                m.utils.Layer(film, 1e-6 * x[1]),
                m.utils.Layer(air, np.inf),
            ]
        )
        found = matrices.IsotropicTransferMatrix(stack, x[2]).solve(np.array([1.5e-6]))
        return [found.Rs, found.Tp]

    yield "IsotropicTransferMatrix", layers, [1.5, 0.4, 0.2]
    yield "euler_rotate", lambda x: m.utils.euler_rotate(
        np.diag([1.0, 2.0, 3.0]), *x
    ), [0.3, 0.4, 0.5]  # fmt: skip
    yield "snell", lambda x: m.utils.snell(x[0], x[1:]), [0.3, 1.0, 1.5, 1.4]


@package("uncertainty-toolbox", "calibration of predictions")
def uncertainty_toolbox() -> Iterator[Case]:
    m = module("uncertainty_toolbox.metrics_scoring_rule")
    accuracy = module("uncertainty_toolbox.metrics_accuracy")
    truth = np.array([1.0, 0.4, -0.3])
    point = [0.8, 0.5, 0.1, 0.4, 0.3, 0.6]
    yield "crps_gaussian", lambda x: m.crps_gaussian(x[:3], x[3:], truth), point
    yield "nll_gaussian", lambda x: m.nll_gaussian(x[:3], x[3:], truth), point
    yield "interval_score", lambda x: m.interval_score(x[:3], x[3:], truth, resolution=5), point
    yield "prediction_error_metrics", lambda x: [
        value
        for key, value in accuracy.prediction_error_metrics(x, truth).items()
        if key in ("mae", "rmse", "corr")
    ], point[:3]  # fmt: skip


@package("mgwr", "spatial statistics")
def mgwr() -> Iterator[Case]:
    kernels, gwr = module("mgwr.kernels"), module("mgwr.gwr")
    places = np.array([[0.0, 0.1], [1.0, 0.3], [0.4, 1.2], [1.4, 1.1], [0.7, 0.6], [0.2, 0.8]])
    inputs = np.array([[0.3], [1.2], [0.7], [-0.4], [0.1], [0.9]])

    def fitted(x: Any) -> Any:
        model = gwr.GWR(
            places, x.reshape(-1, 1), inputs, 1.5, kernel="gaussian", fixed=True, n_jobs=1
        )
        return model.fit().params

    yield "Kernel", lambda x: kernels.Kernel(
        0, x.reshape(3, 2), 1.5, function="gaussian"
    ).kernel, [0.0, 0.1, 1.0, 0.3, 0.4, 1.2]  # fmt: skip
    yield "GWR.fit", fitted, [1.0, 2.3, 1.4, 0.2, 0.9, 1.8]


@package("pastas", "groundwater series")
def pastas() -> Iterator[Case]:
    m = module("pastas.rfunc")
    yield "Gamma.step", lambda x: m.Gamma(cutoff=0.9).step(x, dt=10.0), [1.2, 1.1, 30.0]
    yield "Exponential.block", lambda x: m.Exponential(cutoff=0.9).block(x, dt=10.0), [1.2, 30.0]
    yield "Hantush.impulse", lambda x: m.Hantush.impulse(np.array([1.0, 5.0, 20.0]), x), [
        1.2, 30.0, 0.4,
    ]  # fmt: skip
    yield "Gamma.moment", lambda x: m.Gamma().moment(x, 1, method="exact"), [1.2, 1.1, 30.0]


@package("timml", "groundwater flow")
def timml() -> Iterator[Case]:
    m = module("timml")

    def head(x: Any) -> Any:
        model = m.ModelMaq(kaq=x[0], z=[10.0, 0.0])
        m.Constant(model, xr=100.0, yr=0.0, hr=20.0)
        m.Well(model, xw=0.0, yw=0.0, Qw=x[1], rw=0.2)
        model.solve(silent=True)
        return model.head(x[2], x[3])

    yield "ModelMaq.head", head, [5.0, 100.0, 12.0, 9.0]


@package("virocon", "environmental contours")
def virocon() -> Iterator[Case]:
    m = module("virocon.distributions")
    dependence = module("virocon")
    places = np.array([0.5, 1.5, 3.0])

    def growing(h: Any, a: Any, b: Any) -> Any:
        return a + b * h**0.7

    def conditional(x: Any) -> Any:
        function = dependence.DependenceFunction(growing)
        function.parameters = {"a": x[0], "b": x[1]}
        parameters = {"mu": function}
        given = m.ConditionalDistribution(m.LogNormalDistribution(f_sigma=0.3), parameters)
        return given.pdf(places, places)

    yield "WeibullDistribution.pdf", lambda x: m.WeibullDistribution(*x).pdf(places), [
        1.2, 1.6, 0.1,
    ]  # fmt: skip
    yield "LogNormalDistribution.icdf", lambda x: m.LogNormalDistribution(x[0], x[1]).icdf(
        [0.1, 0.6]
    ), [0.3, 0.5]  # fmt: skip
    yield "ExponentiatedWeibullDistribution.cdf", lambda x: m.ExponentiatedWeibullDistribution(
        *x
    ).cdf(places), [1.2, 1.6, 2.1]  # fmt: skip
    yield "ConditionalDistribution.pdf", conditional, [0.2, 0.4]


@package("apsg", "structural geology")
def apsg() -> Iterator[Case]:
    m = module("apsg")

    def turned(x: Any) -> Any:
        line = m.lin(x[0], x[1]).rotate(m.vec(1, 1, 0), x[2])
        return [line.x, line.y, line.z]

    def gradient(x: Any) -> Any:
        tensor = m.defgrad(x.reshape(3, 3))
        return [tensor.R.xx, tensor.U.xy, tensor.det]

    yield "rotate", turned, [120.0, 30.0, 25.0]
    yield "angle", lambda x: m.vec(*x[:3]).angle(m.vec(*x[3:])), [1.0, 0.3, 0.5, 0.2, 0.9, -0.4]
    yield "DeformationGradient3", gradient, [1.2, 0.3, 0.1, -0.2, 0.9, 0.2, 0.1, 0.0, 1.1]
    yield "fol.cross", lambda x: (m.fol(x[0], x[1]).cross(m.fol(x[2], x[3]))).geo, [
        120.0, 30.0, 250.0, 60.0,
    ]  # fmt: skip


@package("pyjams", "environmental sciences")
def pyjams() -> Iterator[Case]:
    m, functions = module("pyjams"), module("pyjams.functions")
    yield "esat", m.esat, [280.0, 295.0]
    yield "rhair2vpd", lambda x: m.rhair2vpd(x[:2], x[2:]), [0.4, 0.7, 280.0, 295.0]
    yield "alpha_equ_h2o", lambda x: m.alpha_equ_h2o(x, isotope=2), [280.0, 295.0]
    yield "kernel_regression", lambda x: m.kernel_regression(
        np.linspace(0.0, 1.0, 6), x, h=np.array([0.3])
    ), [0.4, 1.2, 0.7, 0.3, 0.9, 0.2]  # fmt: skip
    yield "lasslop", lambda x: functions.lasslop(
        np.array([100.0, 400.0]), np.array([0.4, 0.6]), np.array([5.0, 20.0]), *x
    ), [0.02, 20.0, 0.05, 3.0]  # fmt: skip


@package("spharpy", "spherical acoustics")
def spharpy() -> Iterator[Case]:
    m, spherical = module("spharpy.special"), module("spharpy.spherical")
    yield "spherical_bessel", lambda x: m.spherical_bessel(2, x), [0.6, 2.1]
    yield "spherical_hankel", lambda x: m.spherical_hankel(1, x), [0.6, 2.1]
    yield "spherical_harmonic_real", lambda x: m.spherical_harmonic_real(3, 2, x[:2], x[2:]), [
        0.6, 2.1, 0.4, 1.7,
    ]  # fmt: skip
    yield "modal_strength", lambda x: spherical.modal_strength(2, x), [0.6, 2.1]


@package("halomod", "haloes of galaxies")
def halomod() -> Iterator[Case]:
    profiles, tools = module("halomod.profiles"), module("halomod.tools")
    relation = module("halomod.concentration").Duffy08

    def profile(x: Any) -> Any:
        return profiles.NFW(relation()).rho(np.array([0.05, 0.2]), 1e13, c=x[0])

    yield "NFW.rho", profile, [6.0]
    yield "Hernquist.u", lambda x: profiles.Hernquist(relation()).u(x[:1], 1e13, c=x[1]), [3.0, 6.0]
    yield "exclusion_window", lambda x: tools.exclusion_window(x[:2], x[2]), [0.6, 2.1, 1.3]


@package("TBmodels", "tight-binding models")
def tbmodels() -> Iterator[Case]:
    m = module("tbmodels")
    cell = np.eye(2)

    def chain(x: Any) -> Any:
        model = m.Model(on_site=[x[0], -x[0]], dim=2, occ=1, uc=cell)
        model.add_hop(x[1], 0, 1, [0, 0])
        model.add_hop(x[2], 0, 1, [1, 0])
        return model.eigenval([0.2, 0.1])

    fixed = m.Model(on_site=[0.4, -0.4], dim=2, occ=1, pos=[[0.0, 0.0], [0.5, 0.3]], uc=cell)
    fixed.add_hop(0.7, 0, 1, [0, 0])
    fixed.add_hop(0.3, 0, 1, [1, 0])
    yield "eigenval of parameters", chain, [0.4, 0.7, 0.3]
    yield "hamilton", fixed.hamilton, [0.2, 0.1]
    yield "eigenval", fixed.eigenval, [0.2, 0.1]


@package("harmonica", "gravity surveys")
def harmonica() -> Iterator[Case]:
    m = module("harmonica")

    def masses(x: Any) -> Any:
        return m.point_gravity(
            (np.array([0.0, 50.0]), np.array([10.0, 20.0]), np.array([5.0, 5.0])),
            (x[:1], x[1:2], x[2:3]), x[3:], field="g_z",
        )  # fmt: skip

    def prisms(x: Any) -> Any:
        coordinates = np.array([5.0]), np.array([10.0]), np.array([7.0])
        return m.prism_gravity(coordinates, x[:6].reshape(1, 6), x[6:], field="g_z")

    yield "point_gravity", masses, [20.0, 30.0, -40.0, 1e9]
    yield "prism_gravity", prisms, [-20.0, 30.0, -10.0, 40.0, -60.0, -5.0, 2600.0]
    yield "bouguer_correction", m.bouguer_correction, [300.0, -200.0]


@package("basic-colormath", "colour differences")
def basic_colormath() -> Iterator[Case]:
    m = module("basic_colormath")
    yield "rgb_to_lab", lambda x: m.rgb_to_lab(tuple(x)), [120.0, 200.0, 30.0]
    yield "get_delta_e", lambda x: m.get_delta_e(tuple(x[:3]), tuple(x[3:])), [
        120.0, 200.0, 30.0, 100.0, 210.0, 60.0,
    ]  # fmt: skip
    yield "rgb_to_hsl", lambda x: m.rgb_to_hsl(tuple(x)), [120.0, 200.0, 30.0]


@package("pyrvt", "ground motion")
def pyrvt() -> Iterator[Case]:
    m = module("pyrvt.motions")
    peaks = module("pyrvt.peak_calculators")
    frequencies = np.geomspace(0.1, 50.0, 40)

    def motion(x: Any) -> Any:
        made = m.SourceTheoryMotion(x[0], x[1], "wna", freqs=frequencies)
        return [made.duration, made.fourier_amps[10]]

    def peak(x: Any) -> Any:
        amplitudes = x[0] * np.exp(-(np.log(frequencies / x[1]) ** 2))
        made = m.RvtMotion(frequencies, amplitudes, x[2], peak_calculator="CLH56")
        return made.calc_peak()

    yield "SourceTheoryMotion", motion, [6.2, 20.0]
    yield "RvtMotion.calc_peak", peak, [0.1, 3.0, 8.0]
    yield "calc_sdof_tf", lambda x: m.calc_sdof_tf(np.array([0.5, 2.0]), x[0], x[1]), [1.0, 0.05]
    yield "calc_moments", lambda x: peaks.calc_moments(frequencies, x[0] * frequencies, [0, 1]), [
        0.3,
    ]  # fmt: skip


@package("py-fatigue", "fatigue")
def py_fatigue() -> Iterator[Case]:
    curves = module("py_fatigue.material.sn_curve")
    corrections = module("py_fatigue.mean_stress.corrections")
    damage = module("py_fatigue.damage.stress_life")

    def cycles(x: Any) -> Any:
        curve = curves.SNCurve([3, 5], [x[0], x[1]])
        return np.log(curve.get_cycles(np.array([120.0, 40.0])))

    yield "SNCurve.get_cycles", cycles, [12.16, 15.61]
    yield "swt_mean_stress_correction", lambda x: corrections.swt_mean_stress_correction(
        x[:2], x[2:]
    ), [10.0, 20.0, 50.0, 80.0]  # fmt: skip
    yield "calc_manson_halford_exponents", lambda x: damage.calc_manson_halford_exponents(
        1e5 * x[1:], x[0]
    ), [0.4, 2.0, 7.0]  # fmt: skip


@package("nfoursid", "identification of systems")
def nfoursid() -> Iterator[Case]:
    m = module("nfoursid.state_space")
    utils = module("nfoursid.utils")

    def simulated(x: Any) -> Any:
        model = m.StateSpace(
            x[:4].reshape(2, 2), x[4:6].reshape(2, 1), x[6:8].reshape(1, 2), np.zeros((1, 1))
        )
        for step in range(4):
            model.step(np.array([[np.cos(step)]]))
        return model.ys

    yield "StateSpace.step", simulated, [0.8, 0.1, -0.2, 0.7, 0.3, 0.5, 1.0, 0.4]
    yield "Utils.block_hankel_matrix", lambda x: utils.Utils.block_hankel_matrix(
        x.reshape(-1, 1), 3
    ), SERIES  # fmt: skip


@package("equadratures", "polynomial approximation")
def equadratures() -> Iterator[Case]:
    m = module("equadratures")

    def parameter(kind: str, *shape: float) -> Any:
        names = {"shape_parameter_A": shape[0], "shape_parameter_B": shape[1]}
        return m.Parameter(distribution=kind, lower=0.0, upper=1.0, order=3, **names)

    yield "Beta.get_pdf", lambda x: parameter("beta", 2.0, 3.0).get_pdf(x), [0.3, 0.8]
    yield "Gaussian.get_cdf", lambda x: parameter("gaussian", x[0], x[1]).get_cdf(x[2:]), [
        0.2, 1.1, 0.3, 0.8,
    ]  # fmt: skip


@package("emd", "decomposition of signals")
def emd() -> Iterator[Case]:
    tools, spectra, sift = module("emd.imftools"), module("emd.spectra"), module("emd.sift")
    time = np.arange(64) / 64.0
    wave = np.sin(9.0 * time) + 0.4 * np.cos(55.0 * time)
    yield "est_orthogonality", lambda x: tools.est_orthogonality(x.reshape(-1, 3)), SERIES
    yield (
        "freq_from_phase",
        lambda x: spectra.freq_from_phase(x.reshape(-1, 1), 10.0),
        (np.cumsum(np.abs(WAVE)).tolist()),
    )
    yield "sift", lambda x: sift.sift(x[0] * wave + x[1] * time, max_imfs=2), [1.0, 0.4]


@package("beziers", "outlines of glyphs")
def beziers() -> Iterator[Case]:
    m, point = module("beziers.cubicbezier"), module("beziers.point").Point

    def curve(x: Any) -> Any:
        return m.CubicBezier(*(point(a, b) for a, b in zip(x[::2], x[1::2], strict=True)))

    def middle(x: Any) -> Any:
        found = curve(x).pointAtTime(0.3)
        return [found.x, found.y]

    corners = [0.0, 0.1, 1.0, 2.0, 3.0, 2.5, 4.0, 0.3]
    yield "pointAtTime", middle, corners
    yield "curvatureAtTime", lambda x: curve(x).curvatureAtTime(0.4), corners
    yield "area", lambda x: curve(x).area, corners
    yield "findExtremes", lambda x: curve(x).findExtremes(), corners


@package("teneva", "tensor trains")
def teneva() -> Iterator[Case]:
    m = module("teneva")
    numbers = [0.1 * (7 * k % 16) - 0.4 for k in range(16)]

    def train(x: Any) -> Any:
        return [x[:4].reshape(1, 2, 2), x[4:12].reshape(2, 2, 2), x[12:16].reshape(2, 2, 1)]

    yield "get", lambda x: m.get(train(x), [0, 1, 1]), numbers
    yield "mul_scalar", lambda x: m.mul_scalar(train(x), train(0.5 * x)), numbers
    yield "norm", lambda x: m.norm(train(x)), numbers
    yield "accuracy", lambda x: m.accuracy(train(x), train(np.cos(x))), numbers


@package("dcmri", "contrast agents")
def dcmri() -> Iterator[Case]:
    m = module("dcmri")
    inflow = np.exp(-np.linspace(0.0, 3.0, 8))
    yield "conc_comp", lambda x: m.conc_comp(inflow, x[0], dt=x[1]), [4.0, 0.7]
    yield "flux_chain", lambda x: m.flux_chain(inflow, x[0], x[1], dt=0.7), [4.0, 0.6]
    yield "flux_pfcomp", lambda x: m.flux_pfcomp(inflow, x[0], x[1], dt=0.7), [4.0, 0.6]
    yield "relax", lambda x: m.relax(x[:2], x[2], x[3]), [0.2, 0.4, 0.7, 4.5]


@package("opentorsion", "torsional vibrations")
def opentorsion() -> Iterator[Case]:
    m = module("opentorsion")

    def made(x: Any) -> Any:
        shafts = [m.Shaft(0, 1, k=x[0], I=x[1]), m.Shaft(1, 2, k=x[2], I=x[3])]
        return m.Assembly(shafts, disk_elements=[m.Disk(0, x[4]), m.Disk(2, x[5])])

    point = [900.0, 0.2, 700.0, 0.3, 4.0, 6.0]
    yield "assemble_K", lambda x: made(x).K, point
    yield "modal_analysis", lambda x: made(x).undamped_modal_analysis()[0][1:], point
    yield "state_matrix", lambda x: made(x).state_matrix()[0], point


@package("svgelements", "paths")
def svgelements() -> Iterator[Case]:
    m = module("svgelements")

    def at(curve: Any) -> Any:
        found = curve.point(0.3)
        return [found.x, found.y]

    yield "CubicBezier.point", lambda x: at(
        m.CubicBezier(*(complex(a, b) for a, b in zip(x[::2], x[1::2], strict=True)))
    ), [0.0, 0.1, 1.0, 2.0, 3.0, 2.5, 4.0, 0.3]  # fmt: skip
    yield "Arc.point", lambda x: at(
        m.Arc((x[0], x[1]), x[2], x[3], 0.3, 0, 1, (x[4], x[5]))
    ), [0.0, 0.1, 3.0, 2.0, 2.5, 1.3]  # fmt: skip
