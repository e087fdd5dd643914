"""A seventeenth sample, drawn on 2026-11-29, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
docs/public-packages.md says how the names were drawn, and what was skipped.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread
from .later import WAVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

SEVENTEENTH = Sample()
package = SEVENTEENTH.package
PRICES = [*(100.0 + 3.0 * np.cos(1.7 * np.arange(14.0)) + np.sin(5.1 * np.arange(14.0)))]


@package("pyeq3", "curves")
def pyeq3() -> Iterator[Case]:
    m = module("pyeq3")
    table = "\n".join(f"{t:.1f} {2.0 + np.tanh(t - 3.0) + 0.1 * np.cos(9 * t):.4f}" for t in (
        0.5, 1.0, 2.0, 3.0, 4.5, 6.0, 7.0,
    ))  # fmt: skip

    def made(kind: Any, target: str = "SSQABS") -> Any:
        equation = kind(target)
        m.dataConvertorService().ConvertAndSortColumnarASCII(table, equation, False)
        equation.dataCache.FindOrCreateAllDataCache(equation)
        return equation

    def target(kind: Any, name: str) -> Callable[[Any], Any]:
        return lambda x: made(kind, name).CalculateAllDataFittingTarget(x)

    def predicted(kind: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            equation = made(kind)
            return equation.CalculateModelPredictions(x, equation.dataCache.allDataCacheDictionary)

        return values

    shapes, peaks, decays = m.Models_2D.Sigmoidal, m.Models_2D.Peak, m.Models_2D.Exponential
    yield "FourParameterLogistic", target(shapes.FourParameterLogistic, "SSQABS"), [
        1.1, 4.0, 2.9, 3.1,
    ]  # fmt: skip
    yield "GompertzA", target(shapes.GompertzA, "LNQREL"), [3.0, 1.2, 0.7]
    yield "Richards", predicted(shapes.Richards), [3.0, 1.2, 0.7, 0.9]
    yield "Gaussian", target(peaks.GaussianPeak, "SSQREL"), [2.9, 5.0, 4.0]
    yield "DoubleExponential", predicted(decays.DoubleExponential), [1.0, -0.3, 2.0, 0.1]


@package("cycling-stats", "cycling")
def cycling_stats() -> Iterator[Case]:
    m, pandas = module("cyclingstats.stats"), module("pandas")
    seconds = pandas.date_range("2026-01-01", periods=36, freq="s")
    powers = [*(200.0 + 40.0 * np.cos(0.9 * np.arange(36.0)))]

    def aggregated(x: Any) -> Any:
        table = pandas.DataFrame({"power": x[:36], "heart_rate": x[36:]}, index=seconds)
        return m.agg_power(table, 250.0).to_numpy()

    yield "normalised_power", lambda x: m.normalised_power(pandas.Series(x, index=seconds)), powers
    yield "agg_power", aggregated, [*powers, *(140.0 + np.arange(36.0))]
    yield "chronic_training_load", lambda x: m.chronic_training_load(
        pandas.Series(x)
    ).to_numpy(), SERIES  # fmt: skip
    yield "elevation_gain", lambda x: m.elevation_gain(pandas.Series(x)), SERIES
    yield "combine_pedal_smoothness", lambda x: m.combine_pedal_smoothness(
        pandas.Series(x[:2]), pandas.Series(x[2:4]), pandas.Series(x[4:])
    ).to_numpy(), [20.0, 22.0, 25.0, 24.0, 48.0, 51.0]  # fmt: skip


@package("likelihood-distributions", "probability")
def likelihood_distributions() -> Iterator[Case]:
    m = module("likelihood_distributions")

    def spreads(x: Any) -> Any:
        made = m.Gaussian()
        made.data = list(x)
        return [made.calculate_mean(), made.calculate_stdev()]

    def added(x: Any) -> Any:
        both = m.Gaussian(x[0], x[1]) + m.Gaussian(x[2], x[3])
        return [both.mean, both.stdev, both.pdf(x[4])]

    yield "Gaussian.calculate_stdev", spreads, SERIES
    yield "Gaussian.pdf", lambda x: m.Gaussian(x[0], x[1]).pdf(x[2]), [0.3, 1.4, 1.1]
    yield "Gaussian.__add__", added, [0.3, 1.4, 1.1, 0.8, 0.9]


@package("astroinstrumentad", "spectrographs")
def astroinstrumentad() -> Iterator[Case]:
    m = module("AstroInstrumentAD.dispersion_functions")
    config = {
        "telescope_diameter": 8.0, "wavefront_outer_scale": 25.0, "median_seeing": 0.7,
        "median_seeing_wl": 0.5, "simulation_scale": 0.2, "temperature": 8.0, "pressure": 750.0,
        "humidity": 15.0, "relative_FWHM": 1.0,
    }  # fmt: skip

    yield "parallatic_angle", lambda x: m.parallatic_angle(x[:2], x[2], x[3]), [
        0.4, 1.2, -0.5, -0.43,
    ]  # fmt: skip
    yield "calculate_FWHM", lambda x: m.calculate_FWHM(x[:2], x[2], config), [0.5, 0.9, 1.3]
    yield "make_PSFs", lambda x: m.make_PSFs(
        "moffat", x[:2], x[2:6].reshape(2, 2), x[6], 1.0, config
    ), [0.5, 0.9, 0.05, -0.1, 0.1, 0.03, 1.2]  # fmt: skip
    yield "diff_shift", lambda x: m.diff_shift(x[:2], x[2], x[3], config), [0.5, 0.9, 1.3, 0.6]


@package("airfoilgmesher", "meshes of airfoils")
def airfoilgmesher() -> Iterator[Case]:
    m = module("airfoilgmesher.utils")

    yield "compute_length", lambda x: m.compute_length(x.reshape(2, 6)), SERIES
    yield "compute_line", lambda x: m.compute_line(x[:2], x[2:]), [0.1, 0.4, 1.3, 2.0]
    yield "point_to_polyline_distance", lambda x: m.point_to_polyline_distance(
        x[:2], x[2:].reshape(2, 5)
    ), [0.4, 1.7, 0.0, 1.0, 2.0, 3.1, 4.0, 0.1, 0.4, 0.3, 0.0, -0.2]  # fmt: skip


@package("woffl", "jet pumps in oil wells")
def woffl() -> Iterator[Case]:
    jets, lines = module("woffl.flow.jetflow"), module("woffl.flow.outflow")
    single, inflow = module("woffl.flow.singlephase"), module("woffl.flow.inflow")
    pvt = module("woffl.pvt")

    def mixture(water: Any, ratio: Any, gravity: Any = 0.65) -> Any:
        oil = pvt.BlackOil(22.0, 1750.0, gravity)
        return pvt.ResMix(water, ratio, oil, pvt.FormWater(1.02), pvt.FormGas(gravity))

    def throat(x: Any) -> Any:
        rate, book = jets.throat_entry_zero_tde(
            x[0], 80.0, 0.03, 1e-3 * x[1], inflow.InFlow(x[2], 1049.0, 1400.0), mixture(0.4, x[3])
        )
        return [rate, book.tde_ray[1], book.rho_ray[1]]

    def least(x: Any) -> Any:
        made = mixture(x[0], x[1])
        return jets.psu_minimize(
            80.0, 0.03, 1e-3 * x[2], inflow.InFlow(246.0, 1049.0, 1400.0), made
        )[:2]

    def gas(x: Any) -> Any:
        made = pvt.FormGas(x[0]).condition(x[1], x[2])
        return [made.zfactor, made.density, 100.0 * made.viscosity]

    def oil(x: Any) -> Any:
        made = pvt.BlackOil(x[0], 1750.0, x[1]).condition(x[2], x[3])
        return [made.density, made.viscosity, made.gas_solubility()]

    yield "serghide", spread(single.serghide), [4e4, 0.002]
    yield "InFlow.oil_flow", lambda x: inflow.InFlow(*x[:3]).oil_flow(x[3]), [
        246.0, 1049.0, 1400.0, 800.0,
    ]  # fmt: skip
    yield "FormGas", gas, [0.65, 700.0, 80.0]
    yield "BlackOil", oil, [22.0, 0.65, 900.0, 80.0]
    yield "homo_diff_press", lambda x: lines.homo_diff_press(
        x[0], x[1], 2.99, 0.0487, 0.004, 100.0, 90.0, x[2], mixture(x[3], x[4])
    ), [900.0, 85.0, 400.0, 0.4, 300.0]  # fmt: skip
    yield "beggs_diff_press", lambda x: lines.beggs_diff_press(
        x[0], x[1], 2.99, 0.0487, 0.004, 100.0, 90.0, x[2], mixture(x[3], x[4])
    ), [900.0, 85.0, 400.0, 0.4, 300.0]  # fmt: skip
    yield "throat_entry_zero_tde", throat, [1100.0, 1.8, 246.0, 150.0]
    yield "psu_minimize", least, [0.4, 150.0, 1.8]


@package("psi-continuum-v2", "cosmology")
def psi_continuum() -> Iterator[Case]:
    start = "psi_continuum_v2.cosmology"
    models, distances = (
        module(f"{start}.background.psicdm"),
        module(f"{start}.background.distances"),
    )
    sn, bao = (module(f"{start}.likelihoods.{name}_likelihood") for name in ("sn", "bao"))
    hz = module(f"{start}.likelihoods.hz_likelihood")
    parameters = module(f"{start}.models.psicdm_params").PsiCDMParams
    reds = np.array([0.1, 0.4, 0.9])
    noise = np.diag([1.0, 2.0, 1.5]) + 0.2

    def supernovae(x: Any) -> Any:
        def model(z: Any) -> Any:
            return distances.mu_from_dL(models.dL_psicdm(z, parameters(*x[:4]), nz=30))

        return sn.sn_loglike_from_model(reds, x[4:], noise, model)

    yield "dL_psicdm", lambda x: models.dL_psicdm(reds, parameters(*x), nz=40), [
        70.0, 0.3, 0.1, 1.2,
    ]  # fmt: skip
    yield "dL_flat_from_H", lambda x: distances.dL_flat_from_H(
        x[:4], models.H_psicdm, parameters(*x[4:])
    ), [0.9, 0.1, 0.4, 0.7, 70.0, 0.3, 0.1, 1.2]  # fmt: skip
    yield "sn_loglike_from_model", supernovae, [70.0, 0.3, 0.1, 1.2, 38.0, 41.5, 43.7]
    yield "chi2_hz", lambda x: hz.chi2_hz(
        {"z": reds, "Hz": x[4:7], "sigma_Hz": x[7:]}, models.H_psicdm, parameters(*x[:4])
    ), [70.0, 0.3, 0.1, 1.2, 73.0, 88.0, 118.0, 2.0, 3.0, 5.0]  # fmt: skip
    yield "chi2_bao", lambda x: bao.chi2_bao(x[:3], noise + np.outer(x[:3], x[:3]), x[3:]), [
        1.0, 2.0, 3.0, 1.2, 1.9, 2.7,
    ]  # fmt: skip


@package("ratecurves", "interest rates")
def ratecurves() -> Iterator[Case]:
    m, models, risk = (module(f"ratecurves{name}") for name in ("", ".models", ".risk"))
    curves = module("ratecurves.curve")
    years, rates = np.array([0.5, 1.0, 2.0, 5.0, 10.0]), [0.03, 0.032, 0.035, 0.04, 0.042]
    bond = m.Bond(100.0, 0.045, 8.0)

    def curve(x: Any, method: str = "cubic") -> Any:
        return m.YieldCurve(years, x, method=method)

    def bootstrapped(x: Any) -> Any:
        found = curves.bootstrap_from_par_rates(years, x)
        return found.discount(np.array([0.7, 3.0, 8.0]))

    yield "YieldCurve.forward", lambda x: curve(x[:5]).forward(x[5], x[6]), [*rates, 1.3, 4.4]
    yield (
        "YieldCurve.discount",
        lambda x: curve(x[:5], "log_linear").discount(x[5:]),
        [*rates, 0.8, 1.7, 7.7],
    )
    yield "YieldCurve.par_rate", lambda x: curve(x).par_rate(7.0), rates
    yield "bootstrap_from_par_rates", bootstrapped, rates
    yield "Bond.ytm", lambda x: m.Bond(100.0, x[0], 8.0).ytm(x[1]), [0.045, 98.0]
    yield "Bond.z_spread", lambda x: bond.z_spread(x[0], curve(x[1:])), [97.0, *rates]
    yield "key_rate_durations", lambda x: list(
        risk.key_rate_durations(bond, curve(x), shift_bp=50.0).values()
    ), rates  # fmt: skip
    yield (
        "modified_duration",
        lambda x: risk.modified_duration(m.Bond(100.0, x[0], 8.0), x[1]),
        [0.045, 0.05],
    )
    yield "Svensson", lambda x: models.Svensson(*x[:6]).rate(x[6:]), [
        0.04, -0.02, 0.01, 0.005, 1.5, 6.0, 0.7, 3.0, 9.0,
    ]  # fmt: skip


@package("mantis-delta", "chemical reactions")
def mantis() -> Iterator[Case]:
    analysis = module("mantis.analysis")
    parsed = module("mantis.parsing").parse_reactions(["2A + B -> C", "C -> A", "A -> B"])
    species = ["A", "B", "C"]

    def rates(x: Any) -> Any:
        return {reaction.rate_key: x[i] for i, reaction in enumerate(parsed)}

    def final(x: Any) -> Any:
        start = dict(zip(species, x[3:], strict=True))
        return analysis.simulate_ode(parsed, species, rates(x), start, (0.0, 0.5)).final()

    yield "build_ode_function", lambda x: analysis.build_ode_function(parsed, species, rates(x))(
        0.0, x[3:]
    ), [1.1, 0.4, 0.7, 1.0, 0.6, 0.2]  # fmt: skip
    yield "simulate_ode", final, [1.1, 0.4, 0.7, 1.0, 0.6, 0.2]


@package("astro-ssptools", "stellar populations")
def ssptools() -> Iterator[Case]:
    masses, kroupa = module("ssptools.masses"), module("ssptools.Kroupa")
    imf = masses.PowerLawIMF

    yield "Pk", lambda x: masses.Pk(x[:2], 1, x[2:4], x[4:]), [-1.3, -2.3, 0.1, 0.5, 0.5, 8.0]
    yield "PowerLawIMF", lambda x: imf(
        np.array([0.1, 0.5, 1.0, 100.0]), x[:3], N0=x[3]
    )(x[4:]), [-0.5, -1.3, -2.5, 10.0, 0.3, 0.8, 3.0]  # fmt: skip
    yield "PowerLawIMF.binned_M", lambda x: imf(
        np.array([0.1, 0.5, 1.0, 100.0]), x, N0=10.0
    ).binned_M(
        masses.mbin(np.array([0.2, 0.6, 2.0]), np.array([0.4, 0.9, 5.0]))
    ), [-0.5, -1.3, -2.5]  # fmt: skip
    yield "Kroupa.integral", lambda x: kroupa.Kroupa(x[:2]).integral(x[2], x[3]), [
        1.3, 2.35, 0.2, 3.0,
    ]  # fmt: skip


@package("pystatkit", "statistics")
def pystatkit() -> Iterator[Case]:
    m = module("pystatkit.core")
    yield "median", lambda x: m.median(list(x)), SERIES
    yield "std_dev", lambda x: m.std_dev(list(x)), SERIES


@package("pylag", "X-ray timing")
def pylag() -> Iterator[Case]:
    m, times = module("pylag"), np.arange(12.0)

    def curve(rates: Any) -> Any:
        return m.LightCurve(t=times, r=rates, e=0.1 * np.ones(12))

    def binned(x: Any) -> Any:
        return m.Periodogram(curve(3.0 + x)).bin(m.LinearBinning(0.05, 0.5, 3)).periodogram

    def cross(x: Any) -> Any:
        made = m.CrossSpectrum(curve(3.0 + x), curve(2.0 + np.roll(x, 1) ** 2))
        return [made.lag_average(0.05, 0.4), made.lag_spectrum()[1][1:]]

    def coherence(x: Any) -> Any:
        made = m.Coherence(
            curve(3.0 + x), curve(2.0 + np.roll(x, 1) ** 2), bins=m.LinearBinning(0.05, 0.5, 2),
            bias=False,
        )  # fmt: skip
        return made.coh

    yield "Periodogram", lambda x: m.Periodogram(curve(3.0 + x)).periodogram, SERIES
    yield "Periodogram.bin", binned, SERIES
    yield "CrossSpectrum", cross, SERIES
    yield "Coherence", coherence, SERIES
    yield "LightCurve.rebin", lambda x: curve(x).rebin(3.0).rate, SERIES


@package("just-focus", "focused light")
def just_focus() -> Iterator[Case]:
    m = module("leb.just_focus")
    linear = m.Polarization.LINEAR_X

    def focus(x: Any) -> Any:
        beam = m.InputField.gaussian_pupil((x[0], x[1]), x[2], 8, linear)
        return 1e3 * m.Pupil(mesh_size=8).propagate(x[3], beam, padding_factor=1).intensity()

    def halfmoon(x: Any) -> Any:
        beam = m.InputField.gaussian_halfmoon_pupil((0.0, 0.1), x[0], 8, linear, phase=x[1])
        field = m.Pupil(mesh_size=8, na=x[2]).propagate(0.2, beam, padding_factor=1)
        return field.intensity(normalize=False)

    yield "propagate", focus, [0.1, -0.2, 0.8, 0.3]
    yield "propagate, half moon", halfmoon, [0.8, 2.9, 1.3]


@package("rheopy-rheomodel", "rheology")
def rheomodel() -> Iterator[Case]:
    def model(name: str) -> Callable[[Any], Any]:
        equation = module(f"rheomodel.models.{name}").equation
        return lambda x: equation(x[:3], *x[3:])

    yield "herschel_bulkley", model("herschel_bulkley"), [0.1, 1.0, 9.0, 2.0, 1.1, 0.6]
    yield "carreau_carreau", model("carreau_carreau"), [0.1, 1.0, 9.0, 8.0, 2.0, 3.0, 0.4]
    yield "tccc", model("tccc"), [0.1, 1.0, 9.0, 2.0, 0.4, 8.0, 2.0, 3.0, 0.4]


@package("sir-equations", "epidemics")
def sir_equations() -> Iterator[Case]:
    m = module("sir_equations.main")

    def social(x: Any) -> Any:
        model = m.GASModel(x[0], x[1], x[2], x[3], x[4:6], x[6:])
        return m.run_simulation(model, 3.0, 5)[1]

    yield "EpiModel", lambda x: m.run_simulation(m.EpiModel(x[0], x[1], x[2:]), 5.0, 6)[1], [
        0.9, 0.3, 0.9, 0.08, 0.02,
    ]  # fmt: skip
    yield "GASModel", social, [0.9, 0.3, 1.4, 0.1, 0.2, 0.3, 0.9, 0.08, 0.02]


@package("aero-fatigue", "fatigue of alloys")
def aero_fatigue() -> Iterator[Case]:
    engine = module("aero_fatigue").AeroFatigueEngine()
    yield "solve_linear_fea", lambda x: 1e-3 * engine.solve_linear_fea("TC4_Ti", x[0]), [12.0]


@package("proteusllp-actuarial-library", "insurance")
def pal() -> Iterator[Case]:
    m, copulas = module("pal.distributions"), module("pal.copulas")

    def both(kind: str, count: int) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = getattr(m, kind)(*x[:count])
            return [made.cdf(x[count:-2]), made.invcdf(x[-2:])]

        return values

    yield "GPD", both("GPD", 3), [0.3, 2.0, 1.0, 1.7, 4.0, 0.2, 0.9]
    yield "Burr", both("Burr", 4), [1.3, 2.0, 3.0, 0.5, 1.7, 4.0, 0.2, 0.9]
    yield "Beta", both("Beta", 2), [1.7, 2.4, 0.3, 0.6, 0.2, 0.9]
    yield "Gamma", both("Gamma", 2), [1.7, 2.4, 1.3, 5.6, 0.2, 0.9]
    yield "InverseGamma", both("InverseGamma", 2), [2.7, 2.4, 1.3, 5.6, 0.2, 0.9]
    yield "NonCentralChiSquared", both("NonCentralChiSquared", 2), [2.7, 1.4, 1.3, 5.6, 0.2, 0.9]
    yield "MBBEFD", lambda x: m.MBBEFD(x[0], x[1]).exposure_curve(x[2]), [5.0, 2.0, 0.2]
    yield "LogNormal", both("LogNormal", 2), [0.7, 0.4, 1.3, 2.6, 0.2, 0.9]
    yield "FrankCopula", lambda x: copulas.FrankCopula(x[0]).generator_inv(x[1:]), [2.1, 0.3, 1.4]


@package("autotau", "time constants")
def autotau() -> Iterator[Case]:
    m, times = module("autotau"), np.linspace(0.0, 5.0, 11)

    def fitted(x: Any) -> Any:
        made = m.TauFitter(times, x, t_on_idx=[0.0, 5.0], t_off_idx=[0.0, 5.0])
        made.fit_tau_on(interp=False)
        return made.get_tau_on()

    yield "TauFitter.fit_tau_on", fitted, [
        0.01, 0.31, 0.54, 0.69, 0.79, 0.86, 0.91, 0.93, 0.96, 0.97, 0.975,
    ]  # fmt: skip


@package("shin", "betting")
def shin() -> Iterator[Case]:
    find = module("shin").calculate_implied_probabilities
    yield "three", lambda x: find(list(x), force_python_optimiser=True), [2.6, 2.4, 4.3]
    yield "two", lambda x: find(x, force_python_optimiser=True), [1.5, 2.74]
    yield (
        "compiled",
        lambda x: find({"home": x[0], "draw": x[1], "away": x[2]}),
        [2.6, 2.4, 4.3],
    )


@package("pystran", "frames and trusses")
def pystran() -> Iterator[Case]:
    m = module("pystran")
    model, section = m.model, m.section

    def frame(x: Any) -> Any:
        made = model.create(2)
        for joint, place in enumerate(([0.0, 0.0], [0.0, x[0]], [x[1], x[0]])):
            model.add_joint(made, joint, place)
        for joint in (0, 2):
            model.add_support(made["joints"][joint], made["freedoms"].ALL_DOFS)
        beam = section.beam_2d_section("beam", E=x[2], A=x[3], I=x[4], rho=1.0)
        model.add_beam_member(made, 1, [0, 1], beam)
        model.add_beam_member(made, 2, [1, 2], beam)
        model.add_load(made["joints"][1], made["freedoms"].U1, x[5])
        model.number_dofs(made)
        return made

    def moved(x: Any) -> Any:
        made = frame(x)
        model.solve_statics(made)
        return made["joints"][1]["displacements"]

    def reactions(x: Any) -> Any:
        made = frame(x)
        model.solve_statics(made)
        model.statics_reactions(made)
        return [*made["joints"][0]["reactions"].values()]

    def vibrating(x: Any) -> Any:
        made = frame(x)
        model.solve_free_vibration(made)
        return made["frequencies"][:2]

    def truss(x: Any) -> Any:
        made = model.create(2)
        for joint, place in enumerate(x[:6].reshape(3, 2)):
            model.add_joint(made, joint, place)
        for joint in (0, 1):
            model.add_support(made["joints"][joint], made["freedoms"].ALL_DOFS)
        model.add_support(made["joints"][2], made["freedoms"].UR3)
        bar = section.truss_section("bar", E=x[6], A=x[7])
        model.add_truss_member(made, 1, [0, 2], bar)
        model.add_truss_member(made, 2, [1, 2], bar)
        model.add_load(made["joints"][2], made["freedoms"].U2, x[8])
        model.number_dofs(made)
        model.solve_statics(made)
        return made["joints"][2]["displacements"]

    numbers = [3.0, 4.0, 10.0, 2.0, 1.5, 1.2]
    yield "solve_statics, frame", moved, numbers
    yield "statics_reactions", reactions, numbers
    yield "solve_free_vibration", vibrating, numbers
    yield "solve_statics, truss", truss, [0.0, 0.0, 3.0, 0.2, 1.4, 2.0, 10.0, 1.1, -0.7]
    yield "i_beam", spread(section.i_beam), [0.3, 0.15, 0.012, 0.008]
    yield "rotmat3", m.rotation.rotmat3, [0.3, -0.5, 0.9]


@package("transformations-2d", "plane geometry")
def transformations() -> Iterator[Case]:
    m = module("transformations_2d")

    def moved(x: Any) -> Any:
        made = m.Polygon([m.Point(*pair) for pair in x[:6].reshape(3, 2)])
        made.rotate(x[6])
        made.scale(x[7], x[8])
        made.translate(x[9], x[10])
        return [[point.x, point.y] for point in made.points]

    def sheared(x: Any) -> Any:
        made = m.Point(x[0], x[1])
        made.rotate(x[2], origin=m.Point(x[3], x[4]))
        made.shear_x(x[5])
        return [made.x, made.y]

    yield "Polygon", moved, [0.0, 0.1, 2.0, 0.3, 1.0, 1.5, 33.0, 1.4, 0.7, 0.2, -0.6]
    yield "Point", sheared, [1.0, 2.0, 40.0, 0.3, -0.2, 0.6]


@package("qsospec", "spectra of quasars")
def qsospec() -> Iterator[Case]:
    continuum, extinction = module("qsospec.models.continuum"), module("qsospec.extinction")
    gaussian, lorentzian = module("qsospec.models.gaussian"), module("qsospec.models.lorentzian")
    waves = np.array([4700.0, 4861.0, 5007.0])
    yield "gaussian", lambda x: gaussian.gaussian(waves, *x), [2.0, 4860.0, 150.0]
    yield "lorentzian", lambda x: lorentzian.lorentzian(waves, *x), [2.0, 4860.0, 150.0]
    yield "continuum", lambda x: continuum.continuum(
        waves, "linear", x[:2], x[2], x[3]
    ), [2.0, 0.4, 4860.0, 300.0]  # fmt: skip
    yield "f99_dereddening_factor", lambda x: extinction.f99_dereddening_factor(
        x[:3], x[3], x[4]
    ), [*waves, 0.2, 3.1]  # fmt: skip


@package("wave-packet-dynamics", "quantum dynamics")
def wave_packets() -> Iterator[Case]:
    m = module("wave_packet_dynamics")

    def simulation(x: Any) -> Any:
        return m.Simulation(
            grid=m.Grid((-4.0, 4.0), 25), particle=m.particles.Particle(-1.0, x[0]),
            wave_function=partial(m.wave_function.gaussian, sigma=x[1], x0=x[2], k0=x[3]),
            potential=partial(m.potential.harmonic, k=x[4]),
        )  # fmt: skip

    def expected(x: Any) -> Any:
        made = simulation(x)
        return [made.expectation_value(name) for name in ("position", "momentum", "total_energy")]

    def evolved(x: Any) -> Any:
        made = simulation(x)
        step = m.operators.TimeEvolutionOperator(made, 0.05)
        for _ in range(3):
            made.wave_function = step @ made.wave_function
        return made.density

    yield "expectation_value", expected, [1.2, 0.8, -0.4, 1.1, 0.7]
    yield "TimeEvolutionOperator", evolved, [1.2, 0.8, -0.4, 1.1, 0.7]


@package("realized-library", "high-frequency econometrics")
def realized() -> Iterator[Case]:
    start = "realized_library.estimators"

    def estimator(name: str, **named: Any) -> Callable[[Any], Any]:
        found = module(f"{start}.{name}").compute
        return lambda x: 1e3 * found(x, **named)

    yield "realized_variance", estimator("variance.realized_variance"), PRICES
    yield "med_rv", estimator("variance.med_rv"), PRICES
    yield "min_rq", estimator("variance.min_rq"), PRICES
    yield "multipower_variation", estimator("variance.multipower_variation", m=3, r=2.0), PRICES
    yield "preaverage", lambda x: module("realized_library.utils.preaverage").compute(x), PRICES


@package("kinalite", "kinetics")
def kinalite() -> Iterator[Case]:
    m, pandas = module("kinalite.kinetic_analysis"), module("pandas")

    def normalised(x: Any) -> Any:
        times = pandas.Series(np.array([0.0, 1.0, 2.5, 4.0, 6.0]), name="t")
        made = m.VariableTimeNormalization(
            [times], [pandas.Series(x[:5], name="A")], [pandas.Series(x[5:10], name="P")]
        )
        return made.apply_variable_time_normalization(x[10])

    yield "apply_variable_time_normalization", normalised, [
        1.0, 0.8, 0.55, 0.4, 0.3, 0.0, 0.2, 0.45, 0.6, 0.7, 1.3,
    ]  # fmt: skip


@package("ptjpl", "evapotranspiration")
def ptjpl() -> Iterator[Case]:
    def part(folder: str, file: str, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(module(f"PTJPL.{folder}.{file}"), name)
        return found

    warmth = part("partitioning", "fT", "calculate_plant_temperature_constraint")
    soil = part("partitioning", "fSM", "calculate_soil_moisture_constraint")
    radiation = part("partitioning", "soil_net_radiation", "calculate_soil_net_radiation")
    canopy = part("partitioning", "canopy_latent_heat_flux", "calculate_canopy_latent_heat_flux")
    savi = part("vegetation_conversion", "SAVI_from_NDVI", "SAVI_from_NDVI")
    yield "calculate_plant_temperature_constraint", lambda x: warmth(x[:2], x[2:]), [
        20.0, 30.0, 24.0, 25.0,
    ]  # fmt: skip
    yield "calculate_soil_moisture_constraint", lambda x: soil(x[:2], x[2:]), [
        0.5, 0.7, 1300.0, 900.0,
    ]  # fmt: skip
    yield "calculate_soil_net_radiation", lambda x: radiation(x[:2], x[2:]), [
        400.0, 300.0, 1.3, 2.7,
    ]  # fmt: skip
    yield "calculate_canopy_latent_heat_flux", lambda x: canopy(
        x[:1], x[1:2], x[2:3], x[3:4], x[4:5], x[5:]
    ), [300.0, 0.7, 0.2, 0.8, 0.9, 0.85]  # fmt: skip
    yield "SAVI_from_NDVI", savi, [0.3, 0.7]


@package("metocean-stats", "waves and wind at sea")
def metocean() -> Iterator[Case]:
    spectra, aux = (
        module("metocean_stats.stats.spec_funcs"),
        module("metocean_stats.stats.aux_funcs"),
    )
    f = np.array([0.06, 0.09, 0.12, 0.2])

    yield "jonswap", lambda x: spectra.jonswap(f, x[0], x[1]), [4.0, 10.0]
    yield "jonswap, gamma", lambda x: spectra.jonswap(f, *x), [4.0, 10.0, 2.2, 0.07, 0.09]
    yield "torsethaugen", lambda x: spectra.torsethaugen(f, *x), [4.0, 10.0]
    yield "velocity_spectrum", lambda x: 1e3 * spectra.velocity_spectrum(f, x[:4], 50.0, x[4]), [
        2.0, 9.0, 5.0, 1.0, 20.0,
    ]  # fmt: skip
    yield "fit_profile_polynomial", lambda x: aux.fit_profile_polynomial(
        np.arange(6.0), x, degree=3
    ), SERIES[:6]  # fmt: skip
    yield "fit_profile_spline", lambda x: aux.fit_profile_spline(
        np.arange(6.0), x, s=0.0
    )(np.array([0.7, 3.2])), SERIES[:6]  # fmt: skip


@package("attune", "tuning of lasers")
def attune() -> Iterator[Case]:
    m = module("attune")
    yield "Tune", lambda x: m.Tune(np.arange(5.0), x[:5])(x[5:]), [
        1.0, 3.0, 2.0, 5.0, 4.0, 0.4, 3.3,
    ]  # fmt: skip
    yield "Tune, units", lambda x: m.Tune(
        np.array([500.0, 600.0, 700.0]), x[:3], dep_units="deg"
    )(x[3], ind_units="eV", dep_units="rad"), [10.0, 14.0, 21.0, 2.2]  # fmt: skip


@package("physicsbox", "laser beams")
def physicsbox() -> Iterator[Case]:
    beams, mirrors = module("physicsbox.optics.gaussbeams"), module("physicsbox.oap.oap_class")
    airy = module("physicsbox.optics.airybeams")

    def beam(x: Any) -> Any:
        made = beams.GaussSpatialMonochromatic(x[0], x[1], 0.8)
        return made.field_at_rz(x[2:4], x[4], 0.0)

    def mirror(x: Any) -> Any:
        made = mirrors.OAP(x[0], x[1], x[2])
        made.assign_input_field(np.outer(x[3:7], x[7:]), np.zeros((4, 4)), 0.5)
        return [np.abs(part) for part in made.field_at_point(0.1, 0.2, 0.1, 4.0)]

    yield "GaussSpatialMonochromatic", beam, [1.3, 2.0, 0.4, 1.1, 3.0]
    yield "OAP", mirror, [10.0, 60.0, 1.0, 0.5, 1.0, 0.9, 0.4, 0.6, 1.1, 1.0, 0.5]
    yield "airy_intensity", lambda x: airy.airy_intensity(x[:3], x[3], x[4], x[5]), [
        0.4, 1.3, 2.9, 0.8, 3.0, 2.0,
    ]  # fmt: skip


@package("calibrationcurve", "chemical analysis")
def calibrationcurve() -> Iterator[Case]:
    m = module("CalibrationCurve.core")

    def predicted(x: Any) -> Any:
        made = m.CalibrationModel(x[:6], x[6:12], 3)
        made.fit_ols()
        return [made.inverse_prediction(x[12:]), made.calculate_uncertainty(), made.r_squared]

    yield "CalibrationModel", predicted, [
        0.0, 1.0, 2.0, 3.1, 4.0, 5.2, 0.1, 2.1, 3.8, 6.3, 8.1, 10.0, 4.4, 4.6, 4.3,
    ]  # fmt: skip


@package("aquacrop", "crops and soil water")
def aquacrop() -> Iterator[Case]:
    folder = "aquacrop.solution"
    cover = module(f"{folder}.cc_development").cc_development
    degrees = module(f"{folder}.growing_degree_day").growing_degree_day
    yield "cc_development", lambda x: [
        cover(x[0], x[1], x[2], x[3], x[4], mode, x[1]) for mode in ("Growth", "Decline")
    ], [0.03, 0.9, 0.12, 0.09, 11.0]  # fmt: skip
    yield "growing_degree_day", lambda x: [degrees(kind, *x) for kind in (1, 2, 3)], [
        28.0, 9.0, 26.0, 13.0,
    ]  # fmt: skip


@package("quantr", "quantum computing")
def quantr() -> Iterator[Case]:
    m = module("quantr")
    yield "Statevector", lambda x: (m.Statevector(x[1:3] + 1j * x[3:]) + m.P(x[0])).vector, [
        0.7, 1.0, 0.3, -0.4, 0.8,
    ]  # fmt: skip
    yield "kron", lambda x: (m.P(x[0]) * m.P(x[1])).matrix, [0.7, 1.9]


@package("wrs2-py", "robust statistics")
def wrs2() -> Iterator[Case]:
    m = module("wrs2_py")
    more = [
        *(np.array([*SERIES[::-1], *SERIES]) + 0.01 * np.cos(2.3 * np.arange(24.0)))
    ]  # not equal

    def columns(x: Any) -> Any:
        return np.stack([x[:8], x[8:16] * 1.3 + 0.5, x[16:] ** 2], axis=1)

    yield "winvar", lambda x: m.winvar(x, 0.2), SERIES
    yield "trimse", lambda x: m.trimse(x, 0.2), SERIES
    yield "pbos", m.pbos, SERIES
    yield "yuen", lambda x: m.yuen(x[:11], 1.3 * x[11:] + 0.4)["test"], more
    yield "wincor", lambda x: list(m.wincor(x[:12], x[12:] ** 2 + x[:12]).values()), more
    yield "pbcor", lambda x: m.pbcor(x[:12], x[12:] ** 2 + x[:12])["cor"], more
    yield "t1way", lambda x: [
        m.t1way([x[:8], 1.3 * x[8:16] + 0.4, x[16:] ** 2])[key] for key in ("test", "p_value")
    ], more  # fmt: skip
    yield "rmanova", lambda x: [m.rmanova(columns(x))[key] for key in ("test", "p_value")], more


@package("rt1", "radiative transfer")
def rt1() -> Iterator[Case]:
    volume, surface = module("rt1.volume"), module("rt1.surface")
    metrics, series = module("rt1.rtmetrics").RTmetrics, module("pandas").Series

    yield "HenyeyGreenstein.p", lambda x: volume.HenyeyGreenstein(
        t=x[0], ncoefs=4, omega=0.3, tau=0.2
    ).p(x[1:3], x[3:5], x[5], x[6]), [0.4, 0.5, 0.9, 0.3, 0.8, 0.2, 1.1]  # fmt: skip
    yield "HG_nadirnorm.brdf", lambda x: surface.HG_nadirnorm(t=x[0], ncoefs=4).brdf(
        x[1:3], x[3:5], x[5], x[6]
    ), [0.4, 0.5, 0.9, 0.3, 0.8, 0.2, 1.1]  # fmt: skip
    yield "ub_rmsd", lambda x: metrics.ub_rmsd(series(x[:6]), series(x[6:])), SERIES
    yield "pearson", lambda x: metrics.pearson(series(x[:6]), series(x[6:] + 2.0 * x[:6])), SERIES


@package("analytische-geometrie", "geometry")
def analytische_geometrie() -> Iterator[Case]:
    m = module("analytische_geometrie.geometrie")
    vectors, planes = module(f"{m.__name__}.vektor").Vektor, module(f"{m.__name__}.ebene").Ebene
    yield "Ebene.abstand_punkt", lambda x: planes(x[:3], x[3:6]).abstand_punkt(vectors(x[6:])), [
        0.1, 0.4, 0.2, 1.0, 2.0, -1.0, 3.0, 2.5, 1.0,
    ]  # fmt: skip


@package("optical-ray-tracer", "optics")
def optical_ray_tracer() -> Iterator[Case]:
    rotation = module("optical_ray_tracer.utils.rotation_vect").rotationVectU
    yield "rotationVectU", lambda x: rotation(x[:3], x[3]), [0.6, 0.0, 0.8, 0.7]


@package("supersmoother", "smoothing")
def supersmoother() -> Iterator[Case]:
    m, times = (
        module("supersmoother"),
        np.array([0.0, 0.7, 1.1, 2.0, 3.2, 3.9, 5.1, 6.0, 7.3, 8.0, 9.1, 10.0]),
    )

    def smoothed(kind: str, *given: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = getattr(m, kind)(*given).fit(times, x, 0.3)
            return [made.predict(np.array([0.9, 4.4, 8.2])), made.cv_error()]

        return values

    yield "LinearSmoother", smoothed("LinearSmoother", 0.5), SERIES
    yield "MovingAverageSmoother", smoothed("MovingAverageSmoother", 0.5), SERIES


@package("bayespy", "variational inference")
def bayespy() -> Iterator[Case]:
    nodes, inference = module("bayespy.nodes"), module("bayespy.inference")
    linalg, misc = module("bayespy.utils.linalg"), module("bayespy.utils.misc")
    spread_out = np.eye(3)

    def posterior(x: Any) -> Any:
        mean, precision = nodes.GaussianARD(0.0, 1e-2), nodes.Gamma(1.2, 0.7)
        data = nodes.GaussianARD(mean, precision, plates=(8,))
        data.observe(x)
        engine = inference.VB(mean, precision, data)
        engine.update(repeat=4, verbose=False)
        return [
            mean.get_moments()[0],
            precision.get_moments()[0],
            engine.loglikelihood_lowerbound(),
        ]

    def mixture(x: Any) -> Any:
        weights = nodes.Dirichlet([1.0, 1.0])
        classes = nodes.Categorical(weights, plates=(8,))
        means = nodes.GaussianARD(np.array([-0.5, 0.5]), 0.1)
        data = nodes.Mixture(classes, nodes.GaussianARD, means, 4.0)
        data.observe(x)
        inference.VB(data, means, classes, weights).update(repeat=3, verbose=False)
        return [means.get_moments()[0], classes.get_moments()[0][0]]

    def cholesky(x: Any) -> Any:
        factor = linalg.chol(np.outer(x[:3], x[:3]) + spread_out * x[3])
        return [linalg.chol_logdet(factor), linalg.chol_solve(factor, x[4:])]

    yield "VB, a Gaussian", posterior, SERIES[:8]
    yield "VB, a mixture", mixture, [-1.0, -0.6, 0.3, 0.9, 1.2, -0.9, 0.8, -0.1]
    yield "chol_solve", cholesky, [0.4, -0.3, 0.8, 1.7, 1.0, 0.2, -0.5]
    yield "invpsi", misc.invpsi, [0.3, -1.2, 2.0]
    yield "dist_haversine", lambda x: misc.dist_haversine(x[:2], x[2:], radius=6.4), [
        48.0, 11.0, 52.0, 13.0,
    ]  # fmt: skip


@package("ezyrb", "reduced-order models")
def ezyrb() -> Iterator[Case]:
    m, places = module("ezyrb"), np.array([[0.0], [1.0], [2.2], [3.1]])
    waves = np.sin(np.outer(np.array([0.3, 0.9, 1.4, 2.0]), np.arange(1.0, 6.0)))

    def predicted(x: Any) -> Any:
        base = m.Database(places, waves + x[:4, np.newaxis] * np.arange(5.0))
        return m.ReducedOrderModel(base, m.POD(rank=2), m.RBF()).fit().predict([x[4]])

    yield "ReducedOrderModel", predicted, [0.1, 0.4, -0.2, 0.3, 1.7]
    yield "RBF", lambda x: _fit(m.RBF(), places, x[:8].reshape(4, 2)).predict([[x[8]]]), [
        *SERIES[:8], 1.4,
    ]  # fmt: skip


def _fit(model: Any, points: Any, values: Any) -> Any:
    model.fit(points, values)
    return model


@package("ssalib", "singular spectrum analysis")
def ssalib() -> Iterator[Case]:
    m, matrices = module("ssalib"), module("ssalib.math_ext.matrix_operations")

    def components(kind: str) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = m.SingularSpectrumAnalysis(x, window=5, svd_matrix_kind=kind).decompose()
            return made.reconstruct({"main": [0, 1]})["main"]

        return values

    yield "reconstruct", components("bk_trajectory"), SERIES
    yield "reconstruct, covariances", components("vg_covariance"), SERIES
    yield "weighted_correlation_matrix", lambda x: matrices.weighted_correlation_matrix(
        x.reshape(2, 6), matrices.correlation_weights(6, 3)
    ), SERIES  # fmt: skip
    yield "average_antidiagonals", lambda x: matrices.average_antidiagonals(x.reshape(3, 4)), SERIES


@package("popclass", "microlensing")
def popclass() -> Iterator[Case]:
    kernel = module("popclass.model").MultivariateGaussianKernel
    yield "MultivariateGaussianKernel", lambda x: kernel(x[:10].reshape(2, 5)).evaluate(
        x[10:].reshape(2, 1)
    ), SERIES  # fmt: skip


@package("gatspy", "periods of stars")
def gatspy() -> Iterator[Case]:
    m = module("gatspy.periodic")
    times = np.array([0.0, 0.7, 1.1, 2.0, 3.2, 3.9, 5.1, 6.0, 7.3, 8.0, 9.1, 10.0])
    bands = np.array(["g", "r"] * 6)

    def scored(kind: str, **named: Any) -> Callable[[Any], Any]:
        return lambda x: getattr(m, kind)(**named).fit(times, x[:12], 0.2).score(x[12:])

    yield "LombScargle.score", scored("LombScargle", Nterms=2), [*SERIES, 1.7, 2.9]
    yield "LombScargle.predict", lambda x: m.LombScargle().fit(times, x[:12], 0.2).predict(
        x[12:14], period=x[14]
    ), [*SERIES, 0.4, 3.3, 2.1]  # fmt: skip
    yield "LombScargleFast", lambda x: m.LombScargleFast().fit(
        times, x, 0.2
    ).score_frequency_grid(0.1, 0.05, 6), SERIES  # fmt: skip
    yield "LombScargleMultiband", lambda x: m.LombScargleMultiband().fit(
        times, x[:12], 0.2, bands
    ).score(x[12:]), [*SERIES, 1.7, 2.9]  # fmt: skip
    yield "SuperSmoother", lambda x: m.SuperSmoother().fit(times, x, 0.2).score([1.7, 2.9]), SERIES


@package("specutils", "spectra")
def specutils() -> Iterator[Case]:
    m, analysis = module("specutils"), module("specutils.analysis")
    manipulation, units = module("specutils.manipulation"), module("astropy.units")
    waves = np.linspace(5000.0, 5110.0, 12)
    line = [*(1.0 + 3.0 * np.exp(-(((waves - 5050.0) / 20.0) ** 2)) + 0.1 * np.cos(waves))]

    def spectrum(x: Any) -> Any:
        return m.Spectrum(spectral_axis=waves * units.AA, flux=x * units.Jy)

    def measure(name: str, **named: Any) -> Callable[[Any], Any]:
        return lambda x: getattr(analysis, name)(spectrum(x), **named).value

    yield "line_flux", measure("line_flux"), line
    yield "equivalent_width", measure("equivalent_width"), line
    yield "centroid", measure("centroid", regions=None), line
    yield "gaussian_sigma_width", measure("gaussian_sigma_width"), line
    yield "moment", measure("moment", order=1), line
    yield "snr_derived", measure("snr_derived"), line
    yield (
        "gaussian_smooth",
        lambda x: manipulation.gaussian_smooth(spectrum(x), 1.5).flux.value,
        line,
    )


@package("gwpopulation", "populations of black holes")
def gwpopulation() -> Iterator[Case]:
    mass, spin = module("gwpopulation.models.mass"), module("gwpopulation.models.spin")
    redshift, utils = module("gwpopulation.models.redshift"), module("gwpopulation.utils")
    events = {
        "mass_1": np.array([12.0, 31.0, 44.0]), "mass_ratio": np.array([0.8, 0.6, 0.9]),
        "a_1": np.array([0.2, 0.5, 0.7]), "a_2": np.array([0.1, 0.4, 0.3]),
        "redshift": np.array([0.1, 0.4, 0.8]),
        "cos_tilt_1": np.array([0.2, 0.7, -0.5]), "cos_tilt_2": np.array([0.9, 0.1, 0.3]),
    }  # fmt: skip

    def smoothed(x: Any) -> Any:
        names = ("alpha", "beta", "mmin", "mmax", "lam", "mpp", "sigpp", "delta_m")
        made = mass.SinglePeakSmoothedMassDistribution(
            mmin=2.0, mmax=100.0, normalization_shape=(60, 30)
        )
        return 1e3 * made(events, **dict(zip(names, x, strict=True)))

    yield "double_power_law_primary_mass", lambda x: 1e2 * mass.double_power_law_primary_mass(
        events["mass_1"], *x
    ), [1.6, 5.6, 5.0, 87.0, 0.43]  # fmt: skip
    yield "two_component_primary_mass_ratio", lambda x: 1e2 * mass.two_component_primary_mass_ratio(
        events, *x
    ), [2.3, 1.2, 5.0, 87.0, 0.1, 33.0, 4.0]  # fmt: skip
    yield "SinglePeakSmoothedMassDistribution", smoothed, [
        3.2, 1.1, 5.0, 87.0, 0.04, 33.0, 4.0, 4.8,
    ]  # fmt: skip
    yield "iid_spin", lambda x: spin.iid_spin(events, *x), [0.7, 1.2, 1.0, 1.8, 3.1]
    yield "MadauDickinsonRedshift", lambda x: redshift.MadauDickinsonRedshift(z_max=1.0)(
        events, gamma=x[0], kappa=x[1], z_peak=x[2]
    ), [2.7, 5.6, 1.9]  # fmt: skip
    yield "truncnorm", lambda x: utils.truncnorm(x[:2], *x[2:]), [0.3, 0.8, 0.4, 0.5, 1.5, -0.7]
    yield "von_mises", lambda x: utils.von_mises(x[:2], x[2], x[3]), [0.3, 1.8, 0.4, 1.5]


@package("gwcs", "world coordinates")
def gwcs() -> Iterator[Case]:
    geometry, spectroscopy = module("gwcs.geometry"), module("gwcs.spectroscopy")
    yield "ToDirectionCosines", spread(geometry.ToDirectionCosines()), [0.2, -0.4, 0.7]
    yield "SphericalToCartesian", spread(geometry.SphericalToCartesian()), [30.0, 50.0]
    yield "CartesianToSpherical", lambda x: geometry.CartesianToSpherical()(
        x[:2], x[2:4], x[4:]
    ), [0.2, -0.4, 0.7, 0.3, 0.5, 0.1]  # fmt: skip
    yield "AnglesFromGratingEquation3D", lambda x: spectroscopy.AnglesFromGratingEquation3D(
        x[0], -1.0
    )(x[1:3], x[3:5], x[5:]), [0.2, 0.5, 0.9, 0.1, 0.2, 0.05, 0.1]  # fmt: skip
    yield "SellmeierGlass", lambda x: spectroscopy.SellmeierGlass(x[:3], x[3:6])(x[6:]), [
        0.6, 0.4, 0.9, 0.005, 0.014, 98.0, 0.5, 1.2,
    ]  # fmt: skip


@package("alchemlyb", "free energies")
def alchemlyb() -> Iterator[Case]:
    m, pandas = module("alchemlyb.estimators"), module("pandas")

    def energies(x: Any) -> Any:
        places = pandas.MultiIndex.from_arrays(
            [np.tile(np.arange(4.0), 3), np.repeat([0.0, 0.5, 1.0], 4)],
            names=["time", "fep-lambda"],
        )
        table = pandas.DataFrame({"fep": x}, index=places)
        table.attrs = {"temperature": 300, "energy_unit": "kT"}
        return m.TI().fit(table)

    yield "TI.delta_f_", lambda x: energies(x).delta_f_.to_numpy()[0], SERIES
    yield "TI.d_delta_f_", lambda x: energies(x).d_delta_f_.to_numpy()[0, 1:], SERIES


@package("wsimod", "water and pollution")
def wsimod() -> Iterator[Case]:
    nodes, constants = module("wsimod.nodes.tanks"), module("wsimod.core.constants")

    def flow(amount: Any, share: Any) -> Any:
        return {"volume": amount, **dict.fromkeys(constants.POLLUTANTS, share)}

    def tank(x: Any) -> Any:
        constants.set_simple_pollutants()
        made = nodes.Tank(capacity=x[0], area=1.0, datum=10.0)
        made.push_storage(flow(x[1], x[2]))
        made.push_storage(flow(x[3], x[4]))
        pulled = made.pull_storage({"volume": x[5]})
        return [pulled["volume"], pulled["phosphate"], made.storage["phosphate"], made.get_head()]

    yield "Tank", tank, [10.0, 3.0, 0.2, 4.0, 0.7, 2.5]


@package("spectromap", "spectrograms")
def spectromap() -> Iterator[Case]:
    m = module("spectromap.spectromap")
    yield "get_spectrogram", lambda x: m.spectromap(x, nperseg=6, noverlap=2).get_spectrogram()[
        2
    ], WAVE  # fmt: skip


@package("nrel-rev", "wind and solar power")
def rev() -> Iterator[Case]:
    m, econ = module("reV.losses.power_curve"), module("reV.econ.utilities")
    speeds = np.array([0.0, 4.0, 8.0, 12.0, 16.0, 20.0])

    def losses(kind: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            curve = m.PowerCurve(speeds, x[:6])
            return getattr(m, kind)(curve).apply(x[6])(np.array([6.0, 9.0, 13.0]))

        return found

    powers = [0.0, 0.2, 1.1, 1.9, 2.0, 2.0]
    yield "PowerCurve", lambda x: m.PowerCurve(speeds, x[:6])(x[6:]), [*powers, 5.3, 9.1]
    yield "HorizontalTranslation", losses("HorizontalTranslation"), [*powers, 0.4]
    yield "LinearStretching", losses("LinearStretching"), [*powers, 1.2]
    yield "ExponentialStretching", losses("ExponentialStretching"), [*powers, 1.2]
    yield "lcoe_fcr", spread(econ.lcoe_fcr), [0.1, 3.0, 2.0, 9.0, 0.3]


@package("21cmsense", "radio astronomy")
def sense() -> Iterator[Case]:
    beam, units = module("py21cmsense.beam"), module("astropy.units")
    conversions, helpers = module("py21cmsense.conversions"), module("py21cmsense._utils")

    def dish(x: Any) -> Any:
        made, frequency = beam.GaussianBeam(dish_size=x[1] * units.m), x[0] * units.MHz
        return [made.area(frequency).value, made.uv_resolution(frequency)]

    yield "GaussianBeam", dish, [150.0, 14.0]
    yield "dL_df", lambda x: conversions.dL_df(x[0]).value, [9.0]
    yield "dk_du", lambda x: 1e3 * conversions.dk_du(x[0]).value, [9.0]
    yield "convert_half_to_full_uv_plane", lambda x: helpers.convert_half_to_full_uv_plane(
        x.reshape(4, 3)
    ), SERIES  # fmt: skip
