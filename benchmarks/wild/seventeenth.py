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
            return equation.CalculateModelPredictions(
                x, equation.dataCache.allDataCacheDictionary
            )

        return values

    shapes, peaks, decays = m.Models_2D.Sigmoidal, m.Models_2D.Peak, m.Models_2D.Exponential
    yield "FourParameterLogistic", target(shapes.FourParameterLogistic, "SSQABS"), [
        1.1, 4.0, 2.9, 3.1,
    ]  # fmt: skip
    yield "GompertzA", target(shapes.GompertzA, "LNQREL"), [3.0, 1.2, 0.7]
    yield "Richards", predicted(shapes.Richards), [3.0, 1.2, 0.7, 0.9]
    yield "Gaussian", target(peaks.Gaussian, "SSQREL"), [2.9, 5.0, 4.0]
    yield "DoubleExponential", predicted(decays.DoubleExponential), [1.0, -0.3, 2.0, 0.1]


@package("cycling-stats", "cycling")
def cycling_stats() -> Iterator[Case]:
    m, pandas = module("cyclingstats.stats"), module("pandas")
    seconds = pandas.date_range("2026-01-01", periods=36, freq="s")
    powers = [*(200.0 + 40.0 * np.cos(0.9 * np.arange(36.0)))]

    def aggregated(x: Any) -> Any:
        table = pandas.DataFrame({"power": x[:36], "heart_rate": x[36:]}, index=seconds)
        return m.agg_power(table, 250.0)

    yield "normalised_power", lambda x: m.normalised_power(pandas.Series(x, index=seconds)), powers
    yield "agg_power", aggregated, powers + [*(140.0 + np.arange(36.0))]
    yield "chronic_training_load", lambda x: m.chronic_training_load(pandas.Series(x)), SERIES
    yield "elevation_gain", lambda x: m.elevation_gain(pandas.Series(x)), SERIES
    yield "combine_pedal_smoothness", lambda x: m.combine_pedal_smoothness(
        pandas.Series(x[:2]), pandas.Series(x[2:4]), pandas.Series(x[4:])
    ), [20.0, 22.0, 25.0, 24.0, 48.0, 51.0]  # fmt: skip


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

    def images(kind: str) -> Callable[[Any], Any]:
        return lambda x: m.make_PSFs(kind, x[:2], x[2:6].reshape(2, 2), x[6], 1.0, config)

    yield "parallatic_angle", lambda x: m.parallatic_angle(x[:2], x[2], x[3]), [
        0.4, 1.2, -0.5, -0.43,
    ]  # fmt: skip
    yield "calculate_FWHM", lambda x: m.calculate_FWHM(x[:2], x[2], config), [0.5, 0.9, 1.3]
    yield "make_PSFs", images("moffat"), [0.5, 0.9, 0.05, -0.1, 0.1, 0.03, 1.2]
    yield "make_PSFs, Gaussian", images("gaussian"), [0.5, 0.9, 0.05, -0.1, 0.1, 0.03, 1.2]
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
            x[0], 80.0, 0.03, x[1], inflow.InFlow(x[2], 1049.0, 1400.0), mixture(0.4, x[3])
        )
        return [rate, book.tde_ray[1], book.rho_ray[1]]

    def least(x: Any) -> Any:
        made = mixture(x[0], x[1])
        return jets.psu_minimize(80.0, 0.03, x[2], inflow.InFlow(246.0, 1049.0, 1400.0), made)[:2]

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
    yield "throat_entry_zero_tde", throat, [1100.0, 0.0018, 246.0, 150.0]
    yield "psu_minimize", least, [0.4, 150.0, 0.0018]


@package("psi-continuum-v2", "cosmology")
def psi_continuum() -> Iterator[Case]:
    start = "psi_continuum_v2.cosmology"
    models, distances = module(f"{start}.background.psicdm"), module(f"{start}.background.distances")
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
    yield "convexity", lambda x: risk.convexity(m.Bond(100.0, x[0], 8.0), x[1]), [0.045, 0.05]
    yield "Svensson", lambda x: models.Svensson(*x[:6]).rate(x[6:]), [
        0.04, -0.02, 0.01, 0.005, 1.5, 6.0, 0.7, 3.0, 9.0,
    ]  # fmt: skip


@package("mantis-delta", "chemical reactions")
def mantis() -> Iterator[Case]:
    m, analysis = module("mantis"), module("mantis.analysis")
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
    assert m


@package("astro-ssptools", "stellar populations")
def ssptools() -> Iterator[Case]:
    masses, kroupa = module("ssptools.masses"), module("ssptools.Kroupa")
    imf = masses.PowerLawIMF

    yield "Pk", lambda x: masses.Pk(x[:2], 1, x[2:4], x[4:]), [-1.3, -2.3, 0.1, 0.5, 0.5, 8.0]
    yield "PowerLawIMF", lambda x: imf(
        np.array([0.1, 0.5, 1.0, 100.0]), x[:3], N0=x[3]
    )(x[4:]), [-0.5, -1.3, -2.5, 10.0, 0.3, 0.8, 3.0]  # fmt: skip
    yield "PowerLawIMF.mmean", lambda x: imf(x[:4], x[4:]).mmean, [
        0.1, 0.5, 1.0, 100.0, -0.5, -1.3, -2.5,
    ]  # fmt: skip
    yield "PowerLawIMF.binned_M", lambda x: imf(
        np.array([0.1, 0.5, 1.0, 100.0]), x, N0=10.0
    ).binned_M([0.2, 0.4, 0.9, 5.0]), [-0.5, -1.3, -2.5]  # fmt: skip
    yield "Kroupa.integral", lambda x: kroupa.Kroupa(x[:2]).integral(x[2], x[3]), [
        1.3, 2.35, 0.2, 3.0,
    ]  # fmt: skip


@package("pystatkit", "statistics")
def pystatkit() -> Iterator[Case]:
    m = module("pystatkit.core")
    yield "median", m.median, SERIES
    yield "std_dev", m.std_dev, SERIES


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
