"""A twelfth sample, drawn on 2026-11-28 after the eleventh, and written down before any was tried.

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

TWELFTH = Sample()
package = TWELFTH.package


@package("goodvibes", "thermochemistry")
def goodvibes() -> Iterator[Case]:
    m = module("goodvibes.thermo")
    waves = [120.0, 800.0, 1600.0]
    yield "calc_vibrational_energy", lambda x: m.calc_vibrational_energy(x[0], list(x[1:])), [
        298.15, *waves,
    ]  # fmt: skip
    yield "calc_rrho_entropy", lambda x: m.calc_rrho_entropy(x[0], list(x[1:])), [298.15, *waves]
    yield "calc_freerot_entropy", lambda x: m.calc_freerot_entropy(x[0], list(x[1:])), [
        298.15, *waves,
    ]  # fmt: skip
    yield "calc_translational_entropy", spread(m.calc_translational_entropy), [18.0, 0.04, 298.15]


@package("rocketprops", "rocket propellants")
def rocketprops() -> Iterator[Case]:
    m, pipes = module("rocketprops.mixing_functions"), module("rocketprops.colebrook")
    yield "buzzelli_ffact", spread(pipes.buzzelli_ffact), [1e-4, 2e5]
    yield "COSTALD_Vmolar", spread(m.COSTALD_Vmolar), [272.0, 369.8, 2.0e-4, 0.153]
    yield "Li_Tcm", lambda x: m.Li_Tcm([0.4, 0.6], x[:2], x[2:]), [300.0, 400.0, 1.1, 2.2]
    yield "DIPPR9H_cond", lambda x: m.DIPPR9H_cond([0.4, 0.6], x), [0.3, 0.5]


@package("kronrod", "quadrature")
def kronrod() -> Iterator[Case]:
    m = module("kronrod")
    nodes, weights, gauss = m.kronrod(3, 1e-12)

    def integral(x: Any) -> Any:
        places, first, _ = m.kronrod_adjust(x[0], x[1], 3, nodes.copy(), weights.copy(), gauss)
        return np.sum(first * np.exp(np.sin(places)))

    yield "kronrod_adjust", integral, [0.3, 1.4]


@package("esda", "spatial autocorrelation")
def esda() -> Iterator[Case]:
    m = module("esda")
    lattice = module("libpysal.weights").lat2W(3, 4)
    yield "Moran", lambda x: m.Moran(x, lattice, permutations=0).I, SERIES[:12]
    yield "Geary", lambda x: m.Geary(x, lattice, permutations=0).C, SERIES[:12]
    yield "G", lambda x: m.G(x, lattice, permutations=0).G, SERIES[:12]
    yield "Moran_BV", lambda x: m.Moran_BV(
        x, np.cos(np.arange(12.0)), lattice, permutations=0
    ).I, SERIES[:12]  # fmt: skip


@package("Lifetimes", "customers")
def lifetimes() -> Iterator[Case]:
    m = module("lifetimes")
    frequency, recency, age = np.array([2.0, 0.0, 5.0]), np.array([12.0, 0.0, 30.0]), 39.0

    def fitter(kind: Any, names: str, x: Any) -> Any:
        made = kind()
        made.params_ = dict(zip(names.split(), x, strict=True))
        return made

    def loss(x: Any) -> Any:
        return m.BetaGeoFitter._negative_log_likelihood(  # noqa: SLF001  it is what is minimised
            x, frequency, recency, np.full(3, age), np.ones(3), 0.01
        )

    yield "BetaGeoFitter loss", loss, [-1.4, 1.5, -0.2, 0.9]
    yield (
        "conditional_probability_alive",
        lambda x: fitter(m.ModifiedBetaGeoFitter, "r alpha a b", x).conditional_probability_alive(
            frequency, recency, age
        ),
        [0.24, 4.4, 0.8, 2.4],
    )
    yield (
        "conditional_expected_average_profit",
        lambda x: fitter(m.GammaGammaFitter, "p q v", x).conditional_expected_average_profit(
            frequency, np.array([20.0, 0.0, 35.0])
        ),
        [6.2, 3.7, 15.4],
    )
    yield (
        "expected purchases",
        lambda x: fitter(
            m.ParetoNBDFitter, "r alpha s beta", x
        ).expected_number_of_purchases_up_to_time(30.0),
        [0.55, 10.6, 0.6, 11.7],
    )


@package("chemlib", "school chemistry")
def chemlib() -> Iterator[Case]:
    m = module("chemlib")
    yield "pH", lambda x: list(m.pH(H=x[0]).values()), [0.003]
    yield "energy_of_hydrogen_orbital", lambda x: m.energy_of_hydrogen_orbital(x[0]), [2.3]


@package("pymcr", "curve resolution")
def pymcr() -> Iterator[Case]:
    m, limits = module("pymcr.regressors"), module("pymcr.constraints")
    other = np.cos(np.arange(12.0)).reshape(6, 2)

    def solved(x: Any) -> Any:
        made = m.OLS()
        made.fit(other, x.reshape(6, 2))
        return made.X_

    yield "OLS", solved, SERIES[:12]
    yield "ConstraintNorm", lambda x: limits.ConstraintNorm(copy=True).transform(
        x.reshape(4, 3)
    ), SERIES[:12]  # fmt: skip
    yield "ConstraintNonneg", lambda x: limits.ConstraintNonneg(copy=True).transform(
        x.reshape(4, 3) - 4.0
    ), SERIES[:12]  # fmt: skip
    yield "mse", lambda x: module("pymcr.metrics").mse(None, None, x[:6], x[6:]), SERIES[:12]


@package("legwork", "gravitational waves of binaries")
def legwork() -> Iterator[Case]:
    m, noise = module("legwork.utils"), module("legwork.psd")
    units, evolution = module("astropy.units"), module("legwork.evol")
    yield "chirp_mass", spread(m.chirp_mass), [0.6, 0.5]
    yield "peters_g", lambda x: m.peters_g(np.array([1, 2, 3]), x[0]), [0.3]
    yield "F_plus_squared", lambda x: m.F_plus_squared(
        x[0] * units.rad, x[1] * units.rad, x[2] * units.rad
    ), [0.4, 0.9, 0.2]  # fmt: skip
    yield "lisa_psd", lambda x: noise.lisa_psd(
        1e-3 * x * units.Hz, approximate_R=True
    ).value * 1e38, [1.0, 4.0]  # fmt: skip
    yield "t_merge_mandel_fit", evolution.t_merge_mandel_fit, [0.3, 0.6]


@package("qnm", "black holes")
def qnm() -> Iterator[Case]:
    radial, angular = module("qnm.radial"), module("qnm.angular")
    approximate = module("qnm.schwarzschild.approx")
    yield "D_coeffs", lambda x: radial.D_coeffs(x[0] + 1j * x[1], x[2], -2, 2, x[3]), [
        0.37, -0.09, 0.1, 4.0,
    ]  # fmt: skip
    yield "leaver_cf_inv_lentz", lambda x: radial.leaver_cf_inv_lentz(
        x[0] + 1j * x[1], x[2], -2, 2, x[3], 0
    )[0], [0.37, -0.09, 0.1, 4.0]  # fmt: skip
    yield "M_matrix", lambda x: angular.M_matrix(-2, x[0], 2, 5), [0.3]
    yield "dolan_ottewill", lambda x: [
        x[0] * approximate.dolan_ottewill_expansion(-2, 2, 0)
    ], [0.3]  # fmt: skip


@package("hasasia", "pulsar timing")
def hasasia() -> Iterator[Case]:
    sky, tools = module("hasasia.skymap"), module("hasasia.utils")
    design = tools.create_design_matrix(np.linspace(0.0, 1e8, 12))
    response = module("hasasia.sensitivity")
    yield "h0_circ", lambda x: 1e15 * sky.h0_circ(x[0] * 1e9, x[1], x[2] * 1e-8).value, [
        1.3, 100.0, 1.7,
    ]  # fmt: skip
    yield "mhat", lambda x: [sky.khat(x[0], x[1]), sky.mhat(x[0], x[1])], [0.4, 1.3]
    yield "pdf_F_signal", lambda x: tools.pdf_F_signal(x[0], x[1]), [6.0, 2.0]
    yield "R_matrix", lambda x: response.R_matrix(design, np.diag(x)), SERIES[:12]


@package("inkstone", "photonic crystals")
def inkstone() -> Iterator[Case]:
    poly, ellipse = module("inkstone.ft.ft_2d_poly"), module("inkstone.ft.ft_2d_ellip")
    rectangle, area = module("inkstone.ft.ft_2d_rct"), module("inkstone.ft.poly_area")
    ks = [(0.3, 0.4), (1.2, -0.5)]
    yield "ft_2d_rct", lambda x: rectangle.ft_2d_rct(x[0], x[1], ks, (x[2], x[3]), x[4]), [
        0.4, 0.6, 0.1, 0.2, 30.0,
    ]  # fmt: skip
    yield "ft_2d_ellip", lambda x: ellipse.ft_2d_ellip(x[0], x[1], ks, (x[2], x[3]), x[4]), [
        0.4, 0.6, 0.1, 0.2, 30.0,
    ]  # fmt: skip
    yield "ft_2d_poly", lambda x: poly.ft_2d_poly(
        [(x[0], x[1]), (x[2], x[3]), (x[4], x[5])], ks
    ), [0.0, 0.1, 1.0, 0.2, 0.4, 0.9]  # fmt: skip
    yield "poly_area", lambda x: area.poly_area([(x[0], x[1]), (x[2], x[3]), (x[4], x[5])]), [
        0.0, 0.1, 1.0, 0.2, 0.4, 0.9,
    ]  # fmt: skip


@package("ceviche", "photonic devices")
def ceviche() -> Iterator[Case]:
    layers, m = module("ceviche.derivatives"), module("ceviche")
    source = np.zeros((8, 8))
    source[3, 4] = 1.0

    def field(x: Any) -> Any:
        permittivity = 1.0 + np.outer(x[:8], np.ones(8))
        found = m.fdfd_ez(2e14, 1e-7, permittivity, [2, 2]).solve(source)
        return [1e3 * np.abs(part) for part in found]

    yield "create_sfactor_f", lambda x: layers.create_sfactor_f(x[0], x[1], 10, 3, 0.3), [2e14, 0.1]
    yield "sig_w", spread(layers.sig_w), [0.2, 0.5]
    yield "fdfd_ez.solve", field, SERIES[:8]


@package("nilearn", "brain images")
def nilearn() -> Iterator[Case]:
    m = module("nilearn.glm.first_level.hemodynamic_models")
    signals = module("nilearn.signal")
    yield "orthogonalize", lambda x: m.orthogonalize(x.reshape(6, 2)), SERIES[:12]
    yield "mean_scaling", lambda x: module("nilearn.glm.first_level").mean_scaling(
        x.reshape(6, 2)
    )[0], SERIES[:12]  # fmt: skip
    yield "standardize_signal", lambda x: signals.standardize_signal(
        x.reshape(6, 2), standardize="zscore_sample"
    ), SERIES[:12]  # fmt: skip
    yield "glover_hrf", lambda x: m.glover_hrf(2.0, 4, 16.0, x[0]), [0.3]


@package("pyddm", "decisions")
def pyddm() -> Iterator[Case]:
    m, analytic = module("pyddm"), module("pyddm.analytic")
    times = np.linspace(0.1, 1.0, 5)

    def model(x: Any) -> Any:
        made = m.Model(
            drift=m.DriftConstant(drift=x[0]),
            noise=m.NoiseConstant(noise=x[1]),
            bound=m.BoundConstant(B=0.9),
            dx=0.01,
            dt=0.01,
            T_dur=1.0,
        )
        return made.solve_numerical_implicit().pdf("correct")[::10]

    yield "analytic_ddm_linbound", lambda x: analytic.analytic_ddm_linbound(
        x[0], -x[1], -x[0], x[2], times
    ), [1.0, 0.3, 0.2]  # fmt: skip
    yield "analytic_ddm", lambda x: list(
        analytic.analytic_ddm(x[0], x[1], x[2], times, force_python=True)
    ), [0.8, 1.0, 0.9]  # fmt: skip
    yield "Model.solve_numerical_implicit", model, [0.8, 1.0]
    yield "DriftLinear", lambda x: m.DriftLinear(drift=x[0], x=x[1], t=x[2]).get_drift(
        x=0.3, t=0.2
    ), [0.4, 0.5, 0.6]  # fmt: skip


@package("questplus", "thresholds of perception")
def questplus() -> Iterator[Case]:
    m = module("questplus.psychometric_function")

    def curve(function: Any, scale: str) -> Callable[[Any], Any]:
        return lambda x: (
            function(
                intensity=x[:2], threshold=x[2], slope=x[3], lapse_rate=0.02, scale=scale
            ).values
        )

    yield "weibull", curve(m.weibull, "log10"), [-1.0, -0.4, -0.6, 3.0]
    yield "weibull of a linear scale", curve(m.weibull, "linear"), [1.0, 0.4, 0.6, 3.0]
    yield "norm_cdf", lambda x: m.norm_cdf(
        intensity=x[:2], mean=x[2], sd=x[3], lapse_rate=0.02, scale="linear"
    ).values, [1.0, 0.4, 0.6, 0.5]  # fmt: skip


@package("ffn", "portfolios")
def ffn() -> Iterator[Case]:
    m = module("ffn.core")
    names = module("pandas")

    def weights(x: Any) -> Any:
        returns = names.DataFrame(x.reshape(6, 2), columns=["a", "b"])
        return m.calc_inv_vol_weights(returns).to_numpy()

    yield "calc_sharpe", lambda x: m.calc_sharpe(names.Series(x), nperiods=12), SERIES[:6]
    yield "calc_total_return", lambda x: m.calc_total_return(names.Series(x)), SERIES[:6]
    yield "calc_inv_vol_weights", weights, SERIES[:12]


@package("Optlib", "options")
def optlib() -> Iterator[Case]:
    prices, greeks = module("optlib.prices"), module("optlib.greeks")
    point = [100.0, 95.0, 0.03, 0.2, 0.5]
    yield "price_bsm", spread(prices.price_bsm, "call"), point
    yield "theta", spread(greeks.theta, "put"), point
    yield "vega", spread(greeks.vega), point
    yield "price_risk_neutral", lambda x: prices.price_risk_neutral(
        x[0], x[1], 0.03, 0.5, x[2], 4, "american", "put"
    )[1][0, 0], [100.0, 95.5, 1.1]  # fmt: skip


@package("sdepy", "stochastic processes")
def sdepy() -> Iterator[Case]:
    m = module("sdepy.analytical")
    times = np.array([0.5, 1.0])
    yield "oruh_var", lambda x: m.oruh_var(times, theta=x[0], k=x[1], sigma=x[2]), [0.3, 1.2, 0.4]
    yield "cir_pdf", lambda x: m.cir_pdf(
        1.0, x[:2], x0=x[2], theta=x[3], k=x[4], xi=x[5]
    ), [0.8, 1.1, 1.0, 0.9, 1.4, 0.5]  # fmt: skip
    yield "bscall", lambda x: m.bscall(
        x[0], x[1], x0=x[2], r=x[3], q=0.01, sigma=x[4]
    ), [105.0, 0.8, 100.0, 0.03, 0.2]  # fmt: skip
    yield "heston_log_chf", lambda x: m.heston_log_chf(
        1.0, x[0], x0=100.0, mu=0.02, sigma=x[1], theta=x[2], k=x[3], xi=x[4], rho=x[5]
    ), [0.7, 0.3, 0.09, 1.2, 0.4, -0.5]  # fmt: skip


@package("gemact", "non-life insurance")
def gemact() -> Iterator[Case]:
    m, copulas = module("gemact.distributions"), module("gemact.copulas")
    tools = module("gemact.helperfunctions")
    yield "GenBeta.lev", lambda x: m.GenBeta(x[0], x[1], x[2], x[3]).lev(x[4:]), [
        2.0, 3.0, 1.5, 4.0, 1.3, 2.2,
    ]  # fmt: skip
    yield "Lognormal.cdf", lambda x: m.Lognormal(scale=x[0], shape=x[1]).cdf(x[2]), [
        1.4, 0.6, 1.3,
    ]  # fmt: skip
    yield "ClaytonCopula.cdf", lambda x: copulas.ClaytonCopula(par=1.6, dim=2).cdf(
        x.reshape(2, 2)
    ), [0.3, 0.6, 0.4, 0.8]  # fmt: skip
    yield "GumbelCopula.cdf", lambda x: copulas.GumbelCopula(par=1.6, dim=2).cdf(
        x.reshape(2, 2)
    ), [0.3, 0.6, 0.4, 0.8]  # fmt: skip
    yield "cov_to_corr", lambda x: tools.cov_to_corr(
        np.array([[x[0], x[1]], [x[1], x[2]]])
    ), [2.0, 0.4, 3.0]  # fmt: skip


@package("causalinference", "causal inference")
def causalinference() -> Iterator[Case]:
    m, scores = module("causalinference"), module("causalinference.core.propensity")
    treated = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1])
    traits = np.cos(np.arange(24.0)).reshape(12, 2)

    def effect(x: Any) -> Any:
        made = m.CausalModel(x, treated, traits)
        made.est_via_ols(adj=1)
        return [made.estimates["ols"]["ate"], made.estimates["ols"]["ate_se"]]

    def matched(x: Any) -> Any:
        made = m.CausalModel(x, treated, traits)
        made.est_via_matching(bias_adj=True)
        return made.estimates["matching"]["ate"]

    yield "est_via_ols", effect, SERIES[:12]
    yield "est_via_matching", matched, SERIES[:12]
    yield "neg_loglike", lambda x: scores.neg_loglike(
        x, traits[treated == 0], traits[treated == 1]
    ), [0.3, -0.4]  # fmt: skip
    yield "calc_ndiff", spread(module("causalinference.core.summary").calc_ndiff), [
        0.3, 0.9, 1.2, 1.4,
    ]  # fmt: skip


@package("pycop", "copulas")
def pycop() -> Iterator[Case]:
    families, gaussian = module("pycop.bivariate.archimedean"), module("pycop.bivariate.gaussian")
    student, mixture = module("pycop.bivariate.student"), module("pycop.bivariate.mixture")
    point = [0.3, 0.6, 1.7]

    def density(copula: Any) -> Callable[[Any], Any]:
        return lambda x: copula.get_pdf(x[0], x[1], list(x[2:]))

    yield "gumbel", density(families.archimedean(family="gumbel")), point
    yield (
        "frank cdf",
        lambda x: families.archimedean(family="frank").get_cdf(x[0], x[1], [x[2]]),
        point,
    )
    yield "gaussian", density(gaussian.gaussian()), [0.3, 0.6, 0.4]
    yield "student", density(student.student()), [0.3, 0.6, 0.4, 3.5]
    yield "mixture", lambda x: mixture.mixture(["clayton", "gumbel"]).get_cdf(
        x[0], x[1], list(x[2:])
    ), [0.3, 0.6, 0.4, 1.2, 0.6, 1.5]  # fmt: skip


@package("pycircstat2", "directions")
def pycircstat2() -> Iterator[Case]:
    m, shapes = module("pycircstat2.descriptive"), module("pycircstat2.distributions")
    angles = [0.3, 0.9, 1.4, 2.1, 0.6]
    yield "circ_mean_and_r", lambda x: list(m.circ_mean_and_r(x)), angles
    yield "circ_skewness", m.circ_skewness, angles
    yield "circ_dispersion", m.circ_dispersion, angles
    yield "vonmises.pdf", lambda x: shapes.vonmises.pdf(x[:2], mu=x[2], kappa=x[3]), [
        0.3, 1.2, 0.7, 2.0,
    ]  # fmt: skip


@package("dirichlet", "proportions")
def dirichlet() -> Iterator[Case]:
    m, places = module("dirichlet.dirichlet"), module("dirichlet.simplex")
    shares = np.array([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3], [0.4, 0.4, 0.2]])
    yield "loglikelihood", lambda x: m.loglikelihood(shares, x), [1.2, 2.3, 0.8]
    yield "pdf", lambda x: m.pdf(x)(shares), [1.2, 2.3, 0.8]
    yield "meanprecision", lambda x: list(m.meanprecision(x)), [1.2, 2.3, 0.8]
    yield "cartesian", lambda x: places.cartesian(x.reshape(2, 3)), [0.2, 0.3, 0.5, 0.1, 0.6, 0.3]


@package("infomeasure", "information theory")
def infomeasure() -> Iterator[Case]:
    m = module("infomeasure")
    pairs = np.cos(np.arange(12.0))
    yield "kernel entropy", lambda x: m.entropy(
        x, approach="kernel", kernel="gaussian", bandwidth=0.7
    ), SERIES[:12]  # fmt: skip
    yield "metric entropy", lambda x: m.entropy(x, approach="metric", k=2, noise_level=0), [
        0.1, 0.7, 1.9, 2.2, 3.6, 4.1,
    ]  # fmt: skip
    yield "mutual information", lambda x: m.mutual_information(
        x, pairs, approach="kernel", kernel="gaussian", bandwidth=0.7
    ), SERIES[:12]  # fmt: skip


@package("solposx", "solar positions")
def solposx() -> Iterator[Case]:
    m, sun = module("solposx.refraction"), module("solposx.solarposition")
    times = module("pandas").date_range("2026-05-04 10:30", periods=2, freq="h", tz="UTC")
    for name in ("archer", "michalsky"):
        yield name, getattr(m, name), [3.0, 20.0]
    yield "hughes", lambda x: m.hughes(x[:2], x[2], x[3]), [3.0, 20.0, 101325.0, 12.0]
    yield "psa", lambda x: sun.psa(times, x[0], x[1])["elevation"].to_numpy(), [47.0, 8.3]


@package("jos3", "human heat balance")
def jos3() -> Iterator[Case]:
    m, comfort = module("jos3.thermoregulation"), module("jos3.comfmod")
    body = module("jos3.construction")
    yield "preferred_temp", lambda x: comfort.preferred_temp(x[0], x[1], x[2], x[3]), [
        0.1, 50.0, 1.1, 0.6,
    ]  # fmt: skip
    yield "body_surface_area", spread(body.body_surface_area), [1.72, 74.4]
    yield "basal_met", lambda x: m.basal_met(x[0], x[1], 30, "male"), [1.72, 74.4]
    yield "wet_r", spread(m.wet_r), [4.0, 0.6]


@package("superflexpy", "rainfall and runoff")
def superflexpy() -> Iterator[Case]:
    hbv = module("superflexpy.implementation.elements.hbv")
    finder = module("superflexpy.implementation.root_finders.pegasus").PegasusPython()
    euler = module("superflexpy.implementation.numerical_approximators.implicit_euler")
    shift = module("superflexpy.implementation.elements.gr4j")
    rain = np.array([3.0, 0.0, 5.0, 1.0])

    def reservoir(x: Any) -> Any:
        made = hbv.PowerReservoir(
            parameters={"k": x[0], "alpha": x[1]},
            states={"S0": x[2]},
            approximation=euler.ImplicitEulerPython(root_finder=finder),
            id="FR",
        )
        made.set_timestep(1.0)
        made.set_input([rain])
        return made.get_output()[0]

    def filtered(x: Any) -> Any:
        made = shift.InterceptionFilter(id="ir")
        made.set_input([x[:4], x[4:]])
        return made.get_output()

    yield "PowerReservoir", reservoir, [0.1, 1.3, 10.0]
    yield "InterceptionFilter", filtered, [3.0, 0.4, 5.0, 1.0, 1.2, 1.5, 0.7, 0.9]


@package("unsatfit", "soil water")
def unsatfit() -> Iterator[Case]:
    m = module("unsatfit")
    suction = np.array([10.0, 100.0, 1000.0])

    def retention(name: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            made = m.Fit()
            made.set_model(name, const=[])
            return made.f_ht(list(x), suction)

        return found

    yield "van Genuchten", retention("vg"), [0.43, 0.05, 0.03, 0.4, 1.0]
    yield "Fredlund and Xing", retention("FX"), [0.43, 0.05, 30.0, 1.3, 1.2]


@package("PySulfSat", "sulphur in magmas")
def pysulfsat() -> Iterator[Case]:
    m = module("PySulfSat")
    names = module("pandas")
    oxides = ("SiO2", "TiO2", "Al2O3", "FeOt", "MnO", "MgO", "CaO", "Na2O", "K2O", "P2O5")

    def scas(x: Any) -> Any:
        liquid = names.DataFrame([dict(zip((f"{o}_Liq" for o in oxides), x, strict=True))])
        return m.calculate_CD2019_SCAS(df=liquid, T_K=1400.0, H2O_Liq=3.0)["SCAS6_ppm"].to_numpy()

    yield "calculate_S6St_Nash2019", spread(m.calculate_S6St_Nash2019), [1473.0, 0.2]
    yield "calculate_S6St_Jugo2010", spread(m.calculate_S6St_Jugo2010_eq10), [0.7]
    yield "calculate_SCSS_Total", spread(m.calculate_SCSS_Total), [900.0, 0.2]
    yield "calculate_CD2019_SCAS", scas, [50.0, 1.2, 15.0, 9.0, 0.2, 7.0, 10.0, 2.6, 0.5, 0.2]


@package("cbsyst", "carbon and boron in seawater")
def cbsyst() -> Iterator[Case]:
    m, boron = module("cbsyst"), module("cbsyst.boron_isotopes")
    yield "Csys", lambda x: [
        m.Csys(DIC=x[:1], pHtot=x[1:], BT=416.0)[name][0] for name in ("CO2", "TA", "pCO2")
    ], [2000.0, 8.1]  # fmt: skip
    yield "swdens", spread(module("cbsyst.helpers").swdens), [21.0, 35.0]
    yield "ABO3_to_ABO4", spread(boron.ABO3_to_ABO4), [0.81, 1.027]


@package("einsteinpy", "general relativity")
def einsteinpy() -> Iterator[Case]:
    m, paths = module("einsteinpy.coordinates.utils"), module("einsteinpy.geodesic.utils")

    def kerr(x: Any) -> Any:
        metric = paths._kerr([0.0, x[0], x[1], 0.3], x[2])  # noqa: SLF001  its formula
        return [metric[0, 0], metric[1, 1], metric[0, 3]]

    event = [1.0, 2.1, 0.7, 0.4, 0.1, 0.2, 0.05]
    yield "cartesian_to_bl", lambda x: m.cartesian_to_bl(*x[:4], 0.5, *x[4:]), event
    yield (
        "spherical_to_cartesian_fast",
        lambda x: m.spherical_to_cartesian_fast(*x, velocities_provided=True),
        event,
    )
    yield "lorentz_factor", lambda x: m.lorentz_factor(*(1e8 * x)), [0.8, 1.2, 0.3]
    yield "kerr", kerr, [8.0, 1.1, 0.5]


@package("commonroad-vehicle-models", "vehicle dynamics")
def commonroad() -> Iterator[Case]:
    single, tyres = module("vehiclemodels.vehicle_dynamics_st"), module("vehiclemodels.utils")
    m = module("vehiclemodels.parameters_vehicle2").parameters_vehicle2()
    kinematic = module("vehiclemodels.vehicle_dynamics_ks")
    tyres = module("vehiclemodels.utils.tire_model")
    state = [1.0, 2.0, 0.05, 12.0, 0.3, 0.1, 0.02]
    yield "vehicle_dynamics_ks", lambda x: kinematic.vehicle_dynamics_ks(
        x[:5], x[5:], m
    ), [*state[:5], 0.1, 0.4]  # fmt: skip
    yield "vehicle_dynamics_st", lambda x: single.vehicle_dynamics_st(
        x[:7], x[7:], m
    ), [*state, 0.1, 0.4]  # fmt: skip
    yield "formula_lateral", lambda x: list(
        tyres.formula_lateral(x[0], x[1], x[2], m.tire)
    ), [0.05, 0.01, 3000.0]  # fmt: skip
    yield "formula_longitudinal", lambda x: tyres.formula_longitudinal(
        x[0], x[1], x[2], m.tire
    ), [0.05, 0.01, 3000.0]  # fmt: skip


@package("shipmmg", "ship manoeuvres")
def shipmmg() -> Iterator[Case]:
    m = module("shipmmg.kt")
    times = np.linspace(0.0, 20.0, 11)

    def turned(x: Any) -> Any:
        found = m.simulate(
            x[0], x[1], list(times), list(0.1 * np.ones(11)), 0.0, rtol=1e-9, atol=1e-12
        )
        return found.y[0][-1:]

    yield "kt.simulate", turned, [0.15, 5.0]


@package("jmetalpy", "multi-objective problems")
def jmetal() -> Iterator[Case]:
    many, single = module("jmetal.problem"), module("jmetal.problem.singleobjective.unconstrained")

    def objectives(problem: Any) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            solution = problem.create_solution()
            solution.variables = list(x)
            return list(problem.evaluate(solution).objectives)

        return found

    yield "ZDT1", objectives(many.ZDT1(4)), [0.2, 0.4, 0.7, 0.6]
    yield "DTLZ2", objectives(many.DTLZ2(5, 3)), [0.2, 0.4, 0.7, 0.6, 0.3]
    yield "Rastrigin", objectives(single.Rastrigin(3)), [0.3, -1.2, 0.7]
    yield "Kursawe", objectives(many.Kursawe(3)), [0.3, -1.2, 0.7]


@package("scikit-robot", "robots")
def scikit_robot() -> Iterator[Case]:
    m, bodies = module("skrobot.coordinates.math"), module("skrobot.coordinates")

    def moved(x: Any) -> Any:
        made = bodies.Coordinates(pos=x[:3])
        made.rotate(x[3], "z")
        return made.transform_vector(np.array([0.1, 0.2, 0.3]))

    yield "rpy_matrix", spread(m.rpy_matrix), [0.3, 0.4, 0.5]
    yield "matrix2quaternion", lambda x: m.matrix2quaternion(m.rpy_matrix(*x)), [0.3, 0.4, 0.5]
    yield "quaternion_slerp", lambda x: m.quaternion_slerp(x[:4], x[4:8], x[8]), [
        0.9, 0.1, 0.3, 0.2, 0.5, 0.5, 0.1, 0.7, 0.3,
    ]  # fmt: skip
    yield "Coordinates.rotate", moved, [1.0, 2.0, 3.0, 0.4]
    yield "sr_inverse", lambda x: m.sr_inverse(x.reshape(2, 3)), SERIES[:6]


@package("minsnap-trajectories", "flight of quadrotors")
def minsnap() -> Iterator[Case]:
    m = module("minsnap_trajectories")

    def path(x: Any) -> Any:
        points = [
            m.Waypoint(time=time, position=place)
            for time, place in zip((0.0, 1.0, 2.5), x.reshape(3, 3), strict=True)
        ]
        found = m.generate_trajectory(points, degree=5, idx_minimized_orders=(3,))
        return m.compute_trajectory_derivatives(found, np.array([0.4, 1.7]), 3)

    yield "generate_trajectory", path, SERIES[:9]


@package("crystalpy", "polarised X-rays")
def crystalpy() -> Iterator[Case]:
    m, light = module("crystalpy.util.Vector"), module("crystalpy.util.StokesVector")
    matrices = module("crystalpy.polarization.MuellerMatrix")

    def polarised(x: Any) -> Any:
        start = light.StokesVector(list(x[:4]))
        return (
            matrices.MuellerMatrix(x[4:].reshape(4, 4)).calculate_stokes_vector(start).components()
        )

    yield "Vector.rotateAroundAxis", lambda x: m.Vector(*x[:3]).rotateAroundAxis(
        m.Vector(0.0, 0.6, 0.8), x[3]
    ).components(), [1.0, 2.0, 3.0, 0.4]  # fmt: skip
    yield "Vector.angle", lambda x: m.Vector(*x[:3]).angle(m.Vector(*x[3:])), SERIES[:6]
    yield "circularPolarizationDegree", lambda x: light.StokesVector(
        list(x)
    ).circularPolarizationDegree(), [1.0, 0.3, 0.2, 0.5]  # fmt: skip
    yield "MuellerMatrix", polarised, [*SERIES[:12], *SERIES[:8]]


@package("pylcp", "laser cooling")
def pylcp() -> Iterator[Case]:
    m, levels = module("pylcp"), module("pylcp.hamiltonians")

    def force(x: Any) -> Any:
        beams = m.conventional3DMOTBeams(delta=x[0], s=x[1], beam_type=m.infinitePlaneWaveBeam)
        field = m.quadrupoleMagneticField(x[2])
        made = m.heuristiceq(beams, field, gamma=1.0, k=1.0)
        return made.force(np.array([0.1, 0.2, 0.3]), np.array([0.05, 0.1, 0.2]), 0.0)[0]

    yield "heuristiceq.force", force, [-1.5, 0.8, 0.1]
    yield (
        "hyperfine_coupled",
        lambda x: levels.hyperfine_coupled(0.5, 1.5, 2.0, x[0], x[1], 0.0, 0.0)[0],
        [0.001, 1.3],
    )
    yield "spherical2cart", m.common.cart2spherical, [0.3, 0.4, 0.5]


@package("spm1d", "curves of movements")
def spm1d() -> Iterator[Case]:
    m = module("spm1d")
    groups = np.array([0, 0, 1, 1, 2, 2])
    yield "ttest", lambda x: m.stats.ttest(x.reshape(4, 3)).z, SERIES[:12]
    yield "regress", lambda x: m.stats.regress(x.reshape(4, 3), np.arange(4.0)).z, SERIES[:12]
    yield "hotellings", lambda x: m.stats.hotellings(x.reshape(3, 2, 2)).z, SERIES[:12]
    yield "anova1", lambda x: m.stats.anova1(x.reshape(6, 2), groups).z, SERIES[:12]
    yield "smooth", lambda x: m.util.smooth(x.reshape(1, 12), 3.0), SERIES[:12]


@package("pyvolve", "sequence evolution")
def pyvolve() -> Iterator[Case]:
    m = module("pyvolve")

    def rates(x: Any) -> Any:
        names = ("AC", "AG", "AT", "CG", "CT", "GT")
        mutations = dict(zip(names, x[:6], strict=True))
        shares = x[6:] / np.sum(x[6:])
        return m.Model(
            "nucleotide", {"mu": mutations, "state_freqs": list(shares)}
        ).extract_rate_matrix()

    yield "nucleotide", rates, [1.0, 2.0, 0.7, 0.8, 2.5, 1.1, 0.3, 0.2, 0.2, 0.4]
    yield "kappa", lambda x: m.Model(
        "nucleotide", {"kappa": x[0]}
    ).extract_rate_matrix(), [2.7]  # fmt: skip


@package("pyIAST", "adsorption of mixtures")
def pyiast() -> Iterator[Case]:
    m = module("pyiast")
    names = module("pandas")
    points = names.DataFrame({"P": [0.1, 0.5, 1.0, 2.0], "q": [0.45, 1.6, 2.4, 3.1]})

    def isotherm(kind: str, **values: Any) -> Any:
        made = m.ModelIsotherm(points, loading_key="q", pressure_key="P", model="Langmuir")
        made.model, made.params = kind, values
        return made

    yield "BET", lambda x: isotherm("BET", M=x[0], Ka=x[1], Kb=x[2]).loading(x[3]), [
        3.0, 1.2, 0.1, 0.7,
    ]  # fmt: skip
    yield "spreading_pressure", lambda x: isotherm(
        "Quadratic", M=x[0], Ka=x[1], Kb=x[2]
    ).spreading_pressure(x[3]), [3.0, 1.2, 0.4, 0.7]  # fmt: skip
    yield (
        "iast",
        lambda x: m.iast(
            x[4:],
            [isotherm("Langmuir", M=x[0], K=x[1]), isotherm("Langmuir", M=x[2], K=x[3])],
            verboseflag=False,
        ),
        [3.0, 1.2, 2.5, 0.4, 0.5, 0.9],
    )


@package("circle-fit", "circles")
def circle_fit() -> Iterator[Case]:
    m = module("circle_fit")
    angles = np.array([0.1, 0.9, 2.0, 3.3, 4.4, 5.6])
    circle = np.stack([2 + 3 * np.cos(angles), 1 + 2.8 * np.sin(angles)], axis=1)

    def fitted(name: str) -> Callable[[Any], Any]:
        return lambda x: list(getattr(m, name)(x.reshape(6, 2)))

    for name in ("taubinSVD", "hyperLSQ", "prattSVD"):
        yield name, fitted(name), list(circle.ravel())


@package("lsq-ellipse", "ellipses")
def lsq_ellipse() -> Iterator[Case]:
    m = module("ellipse")
    angles = np.linspace(0.1, 5.6, 8)
    places = np.stack([2 + 3 * np.cos(angles), 1 + 1.8 * np.sin(angles + 0.3)], axis=1)

    def fitted(x: Any) -> Any:
        centre, width, height, phi = m.LsqEllipse().fit(x.reshape(8, 2)).as_parameters()
        return [*centre, width, height, phi]

    def curve(x: Any) -> Any:
        return m.LsqEllipse().fit(x.reshape(8, 2)).return_fit(t=np.array([0.3, 1.9]))

    noise = 0.05 * np.cos(3 * np.arange(16.0))
    yield "as_parameters", fitted, list(places.ravel() + noise)
    yield "return_fit", curve, list(places.ravel() + noise)


@package("pycpd", "registration of points")
def pycpd() -> Iterator[Case]:
    m = module("pycpd")
    fixed = np.cos(np.arange(12.0) ** 1.3).reshape(6, 2)

    def registered(kind: Any) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            moving = fixed @ np.array([[0.9, -0.3], [0.3, 0.9]]) + x.reshape(6, 2)
            return kind(X=fixed, Y=moving, max_iterations=4).register()[0]

        return found

    start = list(0.05 * np.sin(np.arange(12.0)))
    yield "RigidRegistration", registered(m.RigidRegistration), start
    yield "AffineRegistration", registered(m.AffineRegistration), start
    yield "DeformableRegistration", registered(m.DeformableRegistration), start


@package("pyfuzzylite", "fuzzy control")
def fuzzylite() -> Iterator[Case]:
    m = module("fuzzylite")

    def degree(kind: Any) -> Callable[[Any], Any]:
        return lambda x: kind("a", *x[:-1]).membership(x[-1])

    yield "Bell", degree(m.Bell), [0.3, 0.5, 2.0, 0.9]
    yield "GaussianProduct", degree(m.GaussianProduct), [0.3, 0.5, 0.8, 0.4, 0.9]
    yield "SigmoidDifference", degree(m.SigmoidDifference), [0.3, 2.0, 3.0, 1.1, 0.9]
    yield "EinsteinProduct", lambda x: m.EinsteinProduct().compute(x[0], x[1]), [0.3, 0.6]


@package("pyit2fls", "uncertain fuzzy sets")
def pyit2fls() -> Iterator[Case]:
    m = module("pyit2fls")
    spans = [[0.1, 0.3, 0.2, 0.8], [0.4, 0.5, 0.3, 0.6], [0.7, 0.9, 0.1, 0.9]]
    yield "gauss_uncert_mean_umf", lambda x: m.gauss_uncert_mean_umf(
        x[:2], list(x[2:])
    ), [0.1, 0.9, 0.3, 0.6, 0.2, 1.0]  # fmt: skip
    yield "gbell_mf", lambda x: m.gbell_mf(x[:2], list(x[2:])), [0.1, 0.9, 0.3, 2.0, 0.6, 1.0]
    yield "EIASC", lambda x: list(m.EIASC_algorithm(x.reshape(3, 4))), list(np.ravel(spans))
    yield "KM", lambda x: list(m.KM_algorithm(x.reshape(3, 4))), list(np.ravel(spans))


@package("katpoint", "telescopes")
def katpoint() -> Iterator[Case]:
    m, planes = module("katpoint.conversion"), module("katpoint.projection")
    yield "lla_to_ecef", spread(m.lla_to_ecef), [0.7, 0.3, 500.0]
    yield "ecef_to_lla", spread(m.ecef_to_lla), [4.2e6, 8.0e5, 4.7e6]
    yield "hadec_to_enu", spread(m.hadec_to_enu), [0.4, -0.3, 0.6]
    yield "sphere_to_plane_sin", spread(planes.sphere_to_plane_sin), [0.4, -0.3, 0.5, -0.2]
    yield "FluxDensityModel", lambda x: module("katpoint").FluxDensityModel(
        800.0, 2000.0, list(x)
    ).flux_density(1400.0), [2.0, -0.7, 0.1]  # fmt: skip


@package("simpleicp", "laser scans")
def simpleicp() -> Iterator[Case]:
    m = module("simpleicp.mathutils")
    yield "euler_angles_to_rotation_matrix", spread(m.euler_angles_to_rotation_matrix), [
        0.3, 0.4, 0.5,
    ]  # fmt: skip
    yield "rotation_matrix_to_euler_angles", lambda x: m.rotation_matrix_to_euler_angles(
        m.euler_angles_to_rotation_matrix(*x)
    ), [0.3, 0.4, 0.5]  # fmt: skip
    yield "linearized", spread(m.euler_angles_to_linearized_rotation_matrix), [0.03, 0.04, 0.05]


@package("acoustic-toolbox", "acoustics")
def acoustic_toolbox() -> Iterator[Case]:
    m, levels = module("acoustic_toolbox.atmosphere"), module("acoustic_toolbox.decibel")
    walls, echoes = module("acoustic_toolbox.building"), module("acoustic_toolbox.cepstrum")
    yield "attenuation_coefficient", lambda x: m.Atmosphere(
        x[0], x[1], x[2]
    ).attenuation_coefficient(np.array([500.0, 2000.0])), [293.0, 101.3, 60.0]  # fmt: skip
    yield "dbsum", levels.dbsum, [60.0, 63.0, 58.0]
    yield "mass_law", lambda x: walls.mass_law(np.array([500.0, 2000.0]), x[0], x[1]), [2500.0, 0.1]
    yield "real_cepstrum", echoes.real_cepstrum, SERIES[:12]


@package("gammatone", "hearing")
def gammatone() -> Iterator[Case]:
    m, grams = module("gammatone.filters"), module("gammatone.gtgram")
    yield "erb_space", lambda x: m.erb_space(x[0], x[1], 4), [100.0, 4000.0]
    yield "make_erb_filters", lambda x: m.make_erb_filters(16000.0, x), [300.0, 1000.0]
    yield "gtgram", lambda x: grams.gtgram(x, 1000.0, 0.02, 0.01, 3, 50.0), WAVE


@package("aggregate", "insurance losses")
def aggregate() -> Iterator[Case]:
    m = module("aggregate.utilities")
    yield "mv_to_ln", lambda x: list(m.ln_fit(x[0], x[1])), [10.0, 0.6]
    yield "mu_sigma_from_mean_cv", lambda x: list(m.mu_sigma_from_mean_cv(x[0], x[1])), [10.0, 0.6]
    yield "gamma_fit", lambda x: list(m.gamma_fit(x[0], x[1])), [10.0, 0.6]


@package("ocbpy", "polar caps")
def ocbpy() -> Iterator[Case]:
    m = module("ocbpy.boundaries.models")
    yield "starkov_auroral_boundary", lambda x: m.starkov_auroral_boundary(x, al=-30.0), [3.0, 9.0]
    yield (
        "ch_aurora_2014_radius",
        lambda x: m.ch_aurora_2014_radius(*x),
        [0.3, 18.0, 20.0, 1.0, 2.0, 0.4, 3.0],
    )


@package("linearsolve", "macroeconomics")
def linearsolve() -> Iterator[Case]:
    m = module("linearsolve")

    def decision(x: Any) -> Any:
        a = np.array([[1.0, 0.0], [0.2, x[0]]])
        b = np.array([[x[1], 0.0], [0.3, 1.0]])
        return list(m.klein(a=a, b=b, n_states=1)[:2])

    yield "klein", decision, [0.6, 0.8]
    yield "ir", lambda x: m.ir(
        x[:2].reshape(2, 1), x[2:3].reshape(1, 1), np.array([[1.0], [0.0], [0.0]])
    ), [0.4, 0.6, 0.8]  # fmt: skip


@package("pyrestoolbox", "reservoirs")
def pyrestoolbox() -> Iterator[Case]:
    gas, oil = module("pyrestoolbox.gas"), module("pyrestoolbox.oil")
    yield "gas_z", lambda x: gas.gas_z(p=x[0], sg=x[1], degf=x[2], zmethod="DAK"), [
        2000.0, 0.75, 180.0,
    ]  # fmt: skip
    yield "gas_tc_pc", lambda x: list(gas.gas_tc_pc(x[0], co2=x[1])), [0.75, 0.02]
    yield "oil_pbub", lambda x: oil.oil_pbub(
        api=x[0], degf=x[1], rsb=x[2], sg_g=x[3]
    ), [35.0, 180.0, 500.0, 0.75]  # fmt: skip
