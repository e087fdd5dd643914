"""A twenty-sixth sample, drawn on 2026-11-30, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
docs/public-packages.md says how the names were drawn, and what was skipped.
"""

from __future__ import annotations

import contextlib
import io
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module
from .nineteenth import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

TWENTYSIXTH = Sample()
package = TWENTYSIXTH.package
xp: Any = np


def of_one(function: Callable[[Any], Any]) -> Any:
    """Return a function of one argument, whose type is then known."""
    return function


def of_two(function: Callable[[Any, Any], Any]) -> Any:
    """Return a function of two arguments."""
    return function


def of_three(function: Callable[[Any, Any, Any], Any]) -> Any:
    """Return a function of three arguments."""
    return function


@package("aerosol3d", "optics of aerosols")
def aerosol3d() -> Iterator[Case]:
    sizes, ema = module("Aerosol3D.bulk.datastructs"), module("Aerosol3D.core.ema")
    builder, optics = module("Aerosol3D.bulk.builder"), module("Aerosol3D.optics.optics_export")
    legendre = module("Aerosol3D.optics.legendre")
    radii = np.array([40.0, 90.0, 200.0, 500.0])

    def bulk(x: Any) -> Any:
        made = builder.BulkOpticsBuilder(
            sizes.SizeDistribution.lognormal(100.0 * x[8], x[9]), radii, n_legendre=3
        )
        for i, radius in enumerate(radii):
            extinction, scattering = 1e4 * x[i : i + 1], 1e4 * x[i : i + 1] * x[4 + i]
            made.add(radius, optics.AerosolOpticsData(
                np.array([550.0]), extinction, scattering, extinction - scattering,
                scattering / extinction, 0.7 * x[4 + i : 5 + i], radius, n_legendre=3,
            ))  # fmt: skip
        found = made.compute(integration="fixed_quad", n_quad=64)
        return [1e-4 * found.C_ext, found.SSA, found.g]

    def moments(x: Any) -> Any:
        made = sizes.SizeDistribution.gamma(100.0 * x[0], x[1])
        return [1e-2 * made.effective_radius(), made.number_in_interval(60.0, 150.0)]

    def mixed(x: Any) -> Any:
        indices = [x[2 * i] + 1j * x[2 * i + 1] for i in range(3)]
        found = [ema.bruggeman([*x[6:]], indices), ema.maxwell_garnett([*x[6:]], indices)]
        return [np.real(found), np.imag(found)]

    def phase(x: Any) -> Any:
        theta = np.linspace(0.0, np.pi, 61)
        value = (1.0 - x[0] ** 2) / (1.0 + x[0] ** 2 - 2.0 * x[0] * np.cos(theta)) ** 1.5 + x[1]
        made = types.SimpleNamespace(P11=np.stack([value, value], axis=1), theta=theta)
        return legendre.compute_legendre_moments(made, n_legendre=5)

    yield "BulkOpticsBuilder.compute", bulk, [
        0.3, 1.1, 4.2, 9.3, 0.75, 0.81, 0.9, 0.86, 1.3, 0.45,
    ]  # fmt: skip
    yield "SizeDistribution.gamma", moments, [1.2, 0.13]
    yield "ema.bruggeman", mixed, [1.5, 0.02, 1.8, 0.6, 1.33, 0.001, 2.1, 0.9, 1.3]
    yield "compute_legendre_moments", phase, [0.6, 0.2]


@package("numerical-methods", "integrals and roots")
def numerical_methods() -> Iterator[Case]:
    m = module("numerical_methods")

    def area(x: Any) -> Any:
        found = m.rectangle_method(of_one(lambda t: x[2] * t**2 - np.sin(x[3] * t)), x[0], x[1], 30)
        return [found[0], *found[1][::7], *found[2][::9]]

    yield "rectangle_method", area, [-0.8, 2.3, 1.4, 0.7]
    yield (
        "bisection",
        lambda x: m.bisection(of_one(lambda t: t**3 + x[0] * t - x[1]), x[2], x[3], 1e-14),
        [1.3, 2.1, 0.1, 1.7],
    )


@package("augsynth-py", "controls of policies")
def augsynth() -> Iterator[Case]:
    m, polars = module("augsynth_py"), module("polars")
    times: Any = np.arange(12.0)
    donors = np.stack([
        10.0 + 0.5 * times + np.cos(1.3 * times), 12.0 - 0.3 * times + np.sin(2.1 * times),
        9.0 + 0.2 * times + np.cos(2.7 * times + 0.4),
    ])  # fmt: skip
    path = np.array([0.4, 0.35, 0.25]) @ donors + 0.1 * np.cos(3.7 * times)
    treated = [*(path + 2.0 * (times > 7.0))]

    def fitted(make: Any, x: Any) -> Any:
        panel = polars.DataFrame(
            {
                "unit": np.repeat(["a", "b", "c", "d"], 12),
                "time": np.tile(np.arange(12), 4),
                "outcome": np.concatenate([x[:12], donors.ravel()]),
            }
        )
        return make.fit(
            panel, unit="unit", time="time", outcome="outcome", treated="a", treatment_time=8
        )

    def classical(x: Any) -> Any:
        found = fitted(m.Synth(), x)
        return [found.att_, found.att_pct_, found.synthetic_]

    def augmented(x: Any) -> Any:
        found = fitted(m.AugSynth(lambda_=x[12]), x)
        return [found.att_, found.gap_]

    yield "Synth.fit", classical, treated
    yield "AugSynth.fit", augmented, [*treated, 3.0]
    yield "conformal_null_residuals", lambda x: fitted(m.Synth(), x).conformal_null_residuals(
        x[12]
    ), [*treated, 1.5]  # fmt: skip


@package("optionxray", "values of options")
def optionxray() -> Iterator[Case]:
    m, greeks = module("optionxray.instruments"), module("optionxray.greeks")
    iv, scenarios, xray = (module(f"optionxray.{name}") for name in ("iv", "scenarios", "xray"))

    def run(x: Any) -> Any:
        option = m.Option(10.0 * x[0], 10.0 * x[1], x[2], x[3], x[4], "put")
        shocks = [
            {"name": "down", "dS_pct": x[6], "dvol_abs": 0.05},
            {"name": "later", "dT_days": 30.0},
        ]
        found = xray.XRay(option, m.Market(market_price=x[5])).run(scenarios=shocks)
        table = found.scenarios_df[["price", "pnl", "vol"]].to_numpy()
        return [table.ravel(), found.base["implied_vol"], found.base["greeks"]["delta"]]

    def implied(x: Any) -> Any:
        return iv.implied_vol_bs(m.Option(*x[:5]), x[5], tol=1e-14).implied_vol

    yield "XRay.run", run, [1.0, 1.1, 0.7, 0.03, 0.01, 1.7, -0.08]
    yield "greeks_bs", lambda x: [*greeks.greeks_bs(m.Option(*x[:5]), x[5]).values()], [
        1.0, 1.1, 0.7, 0.03, 0.01, 0.35,
    ]  # fmt: skip
    yield "implied_vol_bs", implied, [1.0, 1.1, 0.7, 0.03, 0.01, 0.08]
    yield "run_scenarios", lambda x: scenarios.run_scenarios(
        m.Option(*x[:5]), x[5], [{"dS_abs": x[6], "dvol_pct": x[7], "dr_abs": 0.01}]
    )[["price", "pnl", "spot", "rate"]].to_numpy(), [
        1.0, 1.1, 0.7, 0.03, 0.01, 0.35, 0.1, -0.2,
    ]  # fmt: skip


@package("nemophoto", "spectra of molecules")
def nemophoto() -> Iterator[Case]:
    m, tools, pandas = module("nemo.analysis"), module("nemo.tools"), module("pandas")

    def table(x: Any, kind: str) -> Any:
        shift = 0.1 * np.array([[0.0], [0.7], [-0.4]])
        numbers = x[:8] * (1.0 + shift * np.cos(np.arange(8.0)))
        names = ["e_s1", "e_s2", "e_t1", "e_t2", "d_s1", "d_s2", "d_t1", "d_t2"]
        data = pandas.DataFrame(numbers, columns=names)
        for i, one in enumerate(("1", "2")):
            data[f"osce_s{one}"] = x[8 + i] * (1.0 + shift[:, 0])
            data[f"osc_s{one}"] = x[8 + i] * (1.0 - shift[:, 0])
            for other in ("1", "2"):
                data[f"soc_s{one}_t{other}"] = 1e-4 * (1 + i) * x[10] * (1.0 + 2 * shift[:, 0])
        data["gp"] = 0.15 * x[11]
        data["eps"], data["nr"], data["kbT"], data["ensemble"] = 2.4, 1.5, 0.026, kind
        return data

    def rates(x: Any) -> Any:
        found, emitted = m.rates("S1", (x[12], x[13]), table(x, "s1"))
        numbers = found.drop(columns="Transition").to_numpy(dtype=float)
        return [np.nan_to_num(numbers * [1e-9, 1e-9, 0.01, 1.0, 1.0, 1.0, 0.01]), emitted.tdm]

    def absorbed(x: Any) -> Any:
        return m.absorption("S0", (x[12], x[13]), table(x, "s0")).to_numpy()[::20]

    point = [
        2.9, 3.4, 2.5, 2.75, 0.12, 0.14, 0.11, 0.13, 0.3, 0.12, 1.3, 1.1, 2.7, 1.46,
    ]  # fmt: skip
    yield "rates", rates, point
    yield "absorption", absorbed, point
    yield "calc_tdm", lambda x: tools.calc_tdm(x[:4], x[4:8], x[8:]), SERIES


@package("quat-numpy", "algebra of quaternions")
def quat_numpy() -> Iterator[Case]:
    m, signal = module("quat"), module("quat.signal")
    linalg = module("quat.linalg")

    def turned(x: Any) -> Any:
        first, last = m.Quaternion.from_euler(x[:3]), m.Quaternion.from_euler(x[3:6])
        middle = m.slerp(first, last, x[6])
        return [middle.to_euler(), (first * last).log().components]

    def solved(x: Any) -> Any:
        matrix = m.QuatMatrix(x[:16].reshape(2, 2, 4))
        found = linalg.solve(matrix, m.QuatVector(x[16:].reshape(2, 4)))
        return [found.to_array(), 0.01 * linalg.det(matrix)]

    def singular(x: Any) -> Any:
        return linalg.svd(m.QuatMatrix(x.reshape(2, 3, 4)))[1]

    yield "slerp", turned, [0.1, 0.4, -0.3, 0.8, -0.2, 0.5, 0.3]
    yield "linalg.solve", solved, LONG
    yield "linalg.svd", singular, LONG
    yield "qconv", lambda x: signal.qconv(x[:16].reshape(4, 4), x[16:].reshape(2, 4)), LONG


@package("ufopticsim", "pulses of lasers")
def ufopticsim() -> Iterator[Case]:
    with contextlib.redirect_stdout(io.StringIO()):
        m, lasers = module("UFOpticSim.simulation"), module("UFOpticSim.laser")
    lenses, screens = module("UFOpticSim.lens"), module("UFOpticSim.screen")
    materials, pulses = module("UFOpticSim.material"), module("UFOpticSim.pulseprofile")
    calc = module("UFOpticSim.calc")

    def simulated(x: Any) -> Any:
        profile = pulses.PulseProfile(10.0 * x[0], 10.0 * x[1], 800.0, True, x[2], x[3])
        made = m.Simulation("air", 1)
        made.add_laser(lasers.Laser(profile, (1, 0), (0, 0)))
        glass = materials.Material("BK7", x[4])
        made.add_element(lenses.Lens(glass, 10.0 * x[5], (3, 0), "one"))
        made.add_screen(screens.Screen((8, 0)))
        found = made.get_results()
        return [0.1 * found.duration_fs, 0.01 * found.GDD_fs2, found.beam_size_mm]

    def beam(x: Any) -> Any:
        made = pulses.PulseProfile(30.0, 25.0, 100.0 * x[0], True, x[1], 1.0)
        return [1e3 * made.beam_radius(x[2]), 0.1 * made.curvature(x[2]), made.gouy(x[2])]

    yield "Simulation.get_results", simulated, [1.2, 2.5, 1.3, 1.1, 4.2, 3.3]
    yield "PulseProfile", beam, [8.0, 0.9, 2.3]
    yield "sellmeier_n", lambda x: calc.sellmeier_n(x[0], x[1:4], [0.006, 0.02, x[4]]), [
        0.8, 1.04, 0.23, 1.01, 103.5,
    ]  # fmt: skip


@package("insufficientgibbs", "inference from quantiles")
def insufficientgibbs() -> Iterator[Case]:
    m, models = module("InsufficientGibbs.Distribution"), module("InsufficientGibbs.Models")

    def started(make: Callable[[], Any]) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = make()
            found = made.Init_theta_Quantile([*x[:3]], [0.25, 0.5, 0.75])
            return [*found.values()]

        return result

    def ordered(x: Any) -> Any:
        made = models.NormalModel(m.Normal(0.0, 1.0, name="loc"), m.Gamma(1.0, 1.0, name="scale"))
        made._distribution = m.Normal(x[0], x[1])  # noqa: SLF001  where the package keeps it
        return made.log_order_stats_density([-np.inf, *x[2:], np.inf], [0, 3, 5, 9, 13])

    def truncated(x: Any) -> Any:
        np.random.seed(3)  # noqa: NPY002  the package draws from it
        return m.ReparametrizedGamma(x[0], x[1]).truncated(x[2], x[3], 5)

    yield "log_order_stats_density", ordered, [0.3, 1.2, -0.7, 0.2, 1.1]
    yield "Init_theta_Quantile", started(
        lambda: models.CauchyModel(m.Normal(name="loc"), m.Gamma(name="scale"))
    ), [1.2, 2.1, 3.4]  # fmt: skip
    yield "Distribution.truncated", truncated, [2.1, 0.8, 1.2, 3.4]
    yield "llikelihood", lambda x: m.TranslatedLogNormal(*x[:3]).llikelihood(x[3:]), [
        0.4, 0.9, 0.7, *SERIES,
    ]  # fmt: skip


@package("hdfe", "effects in panels")
def hdfe() -> Iterator[Case]:
    m, pandas = module("hdfe.hdfe"), module("pandas")
    groups = module("hdfe.groupby")
    firms, years = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    data = pandas.DataFrame({"firm": firms, "year": years})

    def within(x: Any) -> Any:
        return m.estimate(data, x[:12, None], x[12:, None], ["firm"])[0]

    def residual(x: Any) -> Any:
        found = m.estimate(
            data, x[:12, None], np.stack([x[12:], np.cos(1.7 * np.arange(12.0))], axis=1),
            ["firm"], get_residual=True,
        )  # fmt: skip
        return [found[0], found[2]]

    def grouped(x: Any) -> Any:
        return groups.Groupby(firms).apply(of_one(lambda one: one.std()), x, broadcast=True)

    def lagged(x: Any) -> Any:
        frame = pandas.DataFrame({"firm": firms, "sales": x[:12], "costs": x[12:]})
        found, names = m.make_lags(frame, 1, 1, ["sales", "costs"], ["firm"], True)
        return found[names["sales"]].to_numpy() * found[["costs"]].to_numpy()

    yield "estimate", within, LONG
    yield "estimate, residual", residual, LONG
    yield "Groupby.apply", grouped, SERIES
    yield "make_lags", lagged, LONG


@package("stats4science", "tests of groups")
def stats4science() -> Iterator[Case]:
    m = module("stats4science")

    def compared(method: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            found = m.compare_independent_groups(x[:12], x[12:] ** 1.2, method=method)
            return [
                found.statistic, found.p_value, found.estimate, found.ci.lower, found.ci.upper,
                found.df, found.effect_size.value, found.group2_descriptives.kurtosis_fisher,
            ]  # fmt: skip

        return result

    def correlated(x: Any) -> Any:
        found = m.correlation(x[:12], x[12:])
        return [found.coefficient, found.p_value, found.ci.lower, found.ci.upper]

    yield "compare_independent_groups", compared("welch"), LONG
    yield "compare_independent_groups, student", compared("student"), LONG
    yield "correlation", correlated, LONG
    yield "describe", lambda x: [*m.describe(x).to_dict().values()][1:7], LONG


@package("slmethod", "statistical learning")
def slmethod() -> Iterator[Case]:
    m, clusters = module("slmethod.perceptron"), module("slmethod.kmeans")
    random = module("random")
    points = [3.1, 3.4, 4.2, 2.9, 3.6, 4.4, 1.1, 0.8, 0.4, 1.6, 1.3, 0.2]

    def trained(x: Any) -> Any:
        made = m.Perceptron(dual=True, l_rate=x[12])
        made.fit(x[:12].reshape(6, 2), np.array([1, 1, 1, -1, -1, -1]))
        return [made.w, made.project(np.array([[2.0, 1.0], [0.5, 3.0]]))]

    def gathered(x: Any) -> Any:
        random.seed(3)
        made = clusters.KMeans(k=2)
        with contextlib.redirect_stdout(io.StringIO()):
            made.fit(x.reshape(6, 2))
        return made._centers  # noqa: SLF001  where the package keeps them

    yield "Perceptron", trained, [*points, 0.3]
    yield "KMeans", gathered, points


@package("redistpy", "reweighting of histograms")
def redistpy() -> Iterator[Case]:
    m, pyhf = module("redist.modifier"), module("pyhf")
    edges = np.array([0.0, 1.0, 2.5, 4.0, 6.0])
    table = np.array([[8.0, 3.0, 1.0, 0.5], [2.0, 9.0, 4.0, 1.0], [0.5, 2.0, 7.0, 5.0]])

    def null(q: Any) -> Any:
        return np.exp(-0.3 * q)

    def alt(q: Any, c: Any, d: Any) -> Any:
        return np.exp(-c * q) * (1.0 + d * q**2)

    pars = {
        name: {"inits": (1.0,), "bounds": ((-5.0, 5.0),), "paramset_type": "unconstrained"}
        for name in ("c", "d")
    }

    def weights(quad: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = m.Modifier(pars, alt, null, table * x[2:].reshape(1, 4), [edges], quad=quad)
            given = {"c": x[0], "d": x[1]}
            return [made.get_weights(given), made.weight_func(given)()]

        return result

    def correlated(x: Any) -> Any:
        new = {
            "a": {
                "inits": [*x[:2]], "cov": [[0.04, 0.01], [0.01, 0.09]],
                "paramset_type": "constrained_by_normal",
            }
        }  # fmt: skip
        made = m.Modifier(new, alt, null, table, [edges])
        return made.get_weights({"a_decorrelated[0]": x[2], "a_decorrelated[1]": x[3]})

    def likelihood(x: Any) -> Any:
        made = m.Modifier(pars, alt, null, table, [edges], name="shape")
        nominal = pyhf.simplemodels.uncorrelated_background(
            [6.0, 9.0, 8.0], [12.0, 13.0, 9.0], [2.0, 2.0, 1.5]
        )
        model = m.add_to_model(
            nominal, ["singlechannel"], ["signal"], made.expanded_pyhf,
            {"name": "theory", "type": "shape", "data": {"expr": "shape_weight_fn"}},
        )  # fmt: skip
        order = {name: x[i] for i, name in enumerate(("c", "d", "mu"))}
        values: list[Any] = []
        for name in model.config.par_order:
            values += [order[name]] if name in order else [*x[3:6]]
        return model.expected_data(np.stack(values), include_auxdata=False)

    yield "Modifier.get_weights", weights("gauss"), [0.4, 0.2, 1.1, 0.9, 1.2, 0.8]
    yield "Modifier.get_weights, nquad", weights("nquad"), [0.4, 0.2, 1.1, 0.9, 1.2, 0.8]
    yield "Modifier, correlated", correlated, [0.4, 0.2, 0.3, -0.5]
    yield "add_to_model", likelihood, [0.4, 0.2, 1.3, 1.1, 0.9, 1.05]


@package("pyssa", "stochastic kinetics")
def pyssa() -> Iterator[Case]:
    m, utils = module("pyssa.simulation"), module("pyssa.utils")
    before, after = np.array([[1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 0], [0, 0, 1]])
    pairs, joined = np.array([[1, 1, 0], [0, 0, 1]]), np.array([[0, 0, 1], [1, 1, 0]])

    def timed(first: Any, last: Any) -> Any:
        def found(x: Any) -> Any:
            made = m.Simulation(first, last, np.array([12, 7, 0]), x[:2], volume=x[2])
            with contextlib.redirect_stdout(io.StringIO()):
                made.simulate(max_t=100.0, max_iter=15, volume=x[2], n_rep=2, seed=[1, 5])
            return made.results.final[0]

        return found

    yield "Simulation.simulate", timed(before, after), [1.1, 0.8, 1.0]
    yield "Simulation.simulate, second order", timed(pairs, joined), [0.9, 0.4, 1.4]
    yield "get_kstoc", lambda x: utils.get_kstoc(
        np.array([[1, 1, 0], [2, 0, 0], [0, 2, 1]]), x[:3], x[3], False
    ), [1.3, 0.7, 2.1, 1.6]  # fmt: skip


@package("tfilterpy", "filters of Kalman")
def tfilterpy() -> Iterator[Case]:
    m = module("tfilterpy.module_functions")

    def made(x: Any) -> Any:
        moving = np.array([[1.0, x[0]], [-x[1], 1.0]])
        return m.KalmanFilter(
            moving, np.eye(2), x[2] * np.eye(2), np.diag(x[3:5]), np.array([x[5], 0.0]),
            np.eye(2) + 0.2,
        )  # fmt: skip

    def updated(x: Any) -> Any:
        found = made(x[:6])
        found.predict()
        found.update(x[6:8])
        return [found.x, found.P]

    point = [0.3, 0.1, 0.2, 0.5, 0.8, 1.4]
    yield "KalmanFilter.run", lambda x: made(x[:6]).run(x[6:].reshape(12, 2)), [*point, *LONG]
    yield "KalmanFilter.update", updated, [*point, 2.1, -0.4]


@package("codechembook", "data of chemists")
def codechembook() -> Iterator[Case]:
    m, plots = module("codechembook.numericalTools"), module("codechembook.quickPlots")
    places = np.linspace(0.0, 5.5, 12)

    yield "integrateRange", lambda x: m.integrateRange(x[:12], x[12:], [1.1, 4.3]), [
        *SERIES, *places,
    ]  # fmt: skip
    yield "quickBin", lambda x: plots.quickBin(x)[0], SERIES


@package("pyamares", "spectra of metabolites")
def pyamares() -> Iterator[Case]:
    fid, lmfit = module("pyAMARES.kernel.fid"), module("lmfit")
    hlsvd, kernel = module("pyAMARES.libs.hlsvd"), module("pyAMARES.kernel.lmfit")
    crlb, objective = module("pyAMARES.util.crlb"), module("pyAMARES.kernel.objective_func")
    module("pyAMARES.libs.logger").set_log_level("ERROR", verbose=False)
    times = 0.01 * np.arange(48.0)

    def parameters(x: Any) -> Any:
        made = lmfit.Parameters()
        for i, one in enumerate(x.reshape(-1, 5)):
            for name, value in zip(("ak", "freq", "dk", "phi", "g"), one, strict=True):
                made.add(f"{name}_{i}", value=value)
        return made

    def signal(x: Any) -> Any:
        return fid.uninterleave(sum(fid.equation6(times, *one) for one in x.reshape(-1, 5)))

    def fitted(x: Any) -> Any:
        start = parameters(np.array([2.8, 7.3, 4.6, 0.35, 0.0]))
        start["g_0"].vary = False
        data = types.SimpleNamespace(timeaxis=times, fid=signal(x) + 0.02 * np.cos(9.0 * times))
        found = kernel.fitAMARES_kernel(
            data, start, objective.default_objective, method="leastsq",
            fit_kws={"ftol": 1e-14, "xtol": 1e-14},
        )  # fmt: skip
        return [*found.params.valuesdict().values()][:4]

    def decomposed(x: Any) -> Any:
        data = signal(x) + 0.01 * np.cos(23.0 * times**2)
        found = hlsvd.hlsvd(data, 2, 10.0)
        return [found[1][-2:], 10.0 * found[2], 0.01 * found[3], found[4], 0.01 * found[5]]

    point = [3.0, 7.0, 5.0, 0.4, 0.0, 1.7, -11.0, 8.0, 0.9, 0.0]
    wide = [3.0, 7.0, 5.0, 0.4, 0.2, 1.7, -11.0, 8.0, 0.9, 0.3]
    yield "fitAMARES_kernel", fitted, point[:5]
    yield "hlsvd", lambda x: decomposed(np.insert(x, [4, 8], 0.0)), [*point[:4], *point[5:9]]
    yield "calculateCRB", lambda x: 10.0 * crlb.calculateCRB(
        fid.Jac6c(parameters(x[:10]), times), x[10]
    ), [*wide, 0.3]  # fmt: skip
    yield "multieq6", lambda x: fid.multieq6(parameters(x), times), wide


@package("polykin", "kinetics of polymers")
def polykin() -> Iterator[Case]:
    copolymer = module("polykin.copolymerization")
    eos, flash = module("polykin.thermo.eos"), module("polykin.thermo.flash.vle")
    acm, dist = module("polykin.thermo.acm"), module("polykin.distributions")
    binary = module("polykin.copolymerization.binary")

    def drifted(x: Any) -> Any:
        made = copolymer.TerminalModel(x[0], x[1])
        compositions = binary.monomer_drift_binary(
            [x[2]], [0.2, 0.5, 0.8], x[0], x[1], atol=1e-11, rtol=1e-11
        )
        return [compositions, made.azeotrope, made.triads(x[2])["112"]]

    def flashed(x: Any) -> Any:
        made = eos.PengRobinson(
            Tc=[190.6, 305.4, 425.2], Pc=[46.0e5, 48.8e5, 38.0e5], w=[x[0], x[1], 0.193]
        )
        found = flash.flash2_PT(
            1.0, x[2:5], 1e5 * x[5], 100.0 * x[6], made.K, x0=np.array([0.1, 0.3, 0.6]),
            y0=np.array([0.7, 0.2, 0.1]), rtol_outer=1e-13, atol_inner=1e-14, maxiter=200,
        )  # fmt: skip
        return [found.beta, found.x, found.y]

    def active(x: Any) -> Any:
        b = np.array([[0.0, 100.0 * x[0]], [100.0 * x[1], 0.0]])
        made = acm.NRTL(2, b=b)
        place = np.array([x[2], 1.0 - x[2]])
        heat = 1e-3 * made.hE(100.0 * x[3], place)
        return [made.gamma(100.0 * x[3], place), heat]

    def mixed(x: Any) -> Any:
        made = x[4] * dist.SchulzZimm(100.0 * x[0], x[1]) + dist.LogNormal(100.0 * x[2], x[3])
        sizes = [30.0, 100.0, 250.0]
        return [0.01 * made.DPn, 0.01 * made.DPw, made.PDI, 100.0 * made.pdf(sizes, kind="mass")]

    yield "TerminalModel.drift", drifted, [0.4, 0.7, 0.3]
    yield "flash2_PT", flashed, [0.011, 0.099, 0.4, 0.25, 0.35, 8.0, 2.6]
    yield "NRTL", active, [3.1, -0.8, 0.3, 3.4]
    yield "MixtureDistribution", mixed, [1.1, 1.9, 2.3, 1.4, 0.6]


@package("pyseshat", "orbits of double stars")
def pyseshat() -> Iterator[Case]:
    elements, model = (
        module("pyseshat.orbit.orbital_elements"),
        module("pyseshat.orbit.orbit_model"),
    )
    rv, masses = module("pyseshat.orbit.rv_model"), module("pyseshat.analysis.masses")
    likely = module("pyseshat.inference.likelihood")
    triple, orbits = (
        module("pyseshat.triple.triple_elements"),
        module("pyseshat.triple.triple_orbit"),
    )
    epochs = np.array([0.7, 3.1, 6.2, 8.8, 11.3, 14.9, 17.2, 19.6])
    orbit = [18.3, 4.2, 0.43, 0.37, 52.0, 131.0, 64.0]

    def observed(x: Any) -> Any:
        made = elements.OrbitalElements(*x)
        found = model.compute_visual_orbit(epochs, made)
        speeds = [0.1 * rv.compute_rv_orbit(epochs, made, component=i) for i in (0, 1)]
        return [found["rho"], 0.01 * found["theta"], *speeds]

    def likelihood(x: Any) -> Any:
        made = elements.OrbitalElements(*orbit)
        for name in ("K1", "K2", "V0"):
            made.fit_flags[name] = False
        error = np.full(8, 0.1)
        return 0.1 * likely.log_likelihood(
            x[:7], made, epochs, 0.1 * x[7:15], 0.1 * x[15:], error, error
        )

    def weighed(x: Any) -> Any:
        function = masses.compute_mass_function(x[0], x[1], x[2])
        return [
            masses.minimum_secondary_mass(function, x[3]),
            *masses.compute_component_masses(x[0], x[1], x[4], x[2], x[5]),
        ]

    def tripled(x: Any) -> Any:
        made = triple.TripleOrbitalElements(
            outer=elements.OrbitalElements(*x[:7]),
            inner=elements.OrbitalElements(*x[7:14]),
            f=x[14],
        )
        found = orbits.compute_orbit3_visual(epochs, made)
        return [found["POS1"]["X"], found["POS1"]["Y"], found["POS2"]["X"], found["POS2"]["rho"]]

    yield "compute_visual_orbit", observed, [*orbit, 11.2, 14.3, -3.1]
    yield "log_likelihood", likelihood, [
        *orbit, *(0.5 * np.array(LONG[:8])), *(-0.3 * np.array(LONG[8:16])),
    ]  # fmt: skip
    yield "minimum_secondary_mass", weighed, [1.3, 0.43, 12.3, 1.1, 64.0, 15.2]
    yield "compute_orbit3_visual", tripled, [
        *orbit, 4.1, 1.3, 0.21, 0.08, 77.0, 20.0, 48.0, 0.4,
    ]  # fmt: skip


@package("kinetics-lbmc", "biomechanics of limbs")
def kinetics_lbmc() -> Iterator[Case]:
    m, homogeneous = module("Kinetics_LBMC"), module("Kinetics_LBMC.HomogeneousMatrix")
    norm = module("Kinetics_LBMC.utils.norm_vector").norm_vector
    frames: Any = np.arange(30.0)

    def placed(base: Any, amount: Any, phase: float) -> Any:
        waves = np.stack([np.sin(0.2 * frames + phase + one) for one in (0.0, 1.1, 2.3)])
        return np.array(base)[:, None] + 0.05 * amount * waves

    def leg(x: Any) -> Any:
        hip, knee = placed([0.1, 0.9, 0.1], x[0], 0.1), placed([0.2, 0.5, 0.12], x[1], 0.7)
        ankle = placed([0.05, 0.1, 0.1], x[2], 1.3)

        def segment(name: str, top: Any, low: Any, amount: Any) -> Any:
            side = norm(placed([0.1, 0.05, 1.0], amount, 0.4))
            front = norm(placed([1.0, 0.1, -0.1], amount, 2.0))
            markers = [
                placed(base, amount, phase) + 0.5 * (top + low)
                for base, phase in (
                    ([0.05, 0.1, 0.02], 0.3), ([-0.06, 0.05, 0.03], 0.9),
                    ([0.02, -0.1, 0.05], 1.6), ([0.01, 0.02, -0.07], 2.2),
                )
            ]  # fmt: skip
            return m.Segment(
                front, top, low, side, markers, "Buv", "Buv", name, weight=70.0,
                rigid_parameter=True,
            )  # fmt: skip

        with contextlib.redirect_stdout(io.StringIO()):
            return [segment("tibia", knee, ankle, x[3]), segment("pelvis", hip, knee, x[4])]

    def chained(x: Any) -> Any:
        parts = leg(x)
        load = homogeneous.HomogeneousMatrix.fromHomo(np.zeros((4, 4, 30)))
        found = m.KinematicChain(
            parts, [load], ["knee"], ["zxy"], [parts[0].get_proximal_frame_glob()],
            [parts[0].Tprox], "frame",
        )  # fmt: skip
        return [
            0.01 * found.euler_rel["knee"][:, 10:14], 0.01 * found.force["knee"][:, 0, 10:14],
            0.1 * found.moment["knee"][:, 0, 10:14],
        ]  # fmt: skip

    def optimised(x: Any) -> Any:
        parts = leg(x)
        joint = m.spherical_model(parts[0], parts[1], parts[0].rp, parts[1].rd)
        with contextlib.redirect_stdout(io.StringIO()):
            m.multi_body_optimisation(parts, [joint])
        return [parts[0].Q[:, ::10], parts[1].length[::10]]

    def framed(x: Any) -> Any:
        first, last = leg(x)
        turned = first.Tprox.inv() * last.Tdist
        speed, gain = turned.vel_acc_Mat(100.0, 6.0)
        return [speed.T_homo[:, :, 12], 0.1 * gain.T_homo[:, :, 12]]

    point = [1.1, 0.8, 1.3, 0.9, 1.2]
    yield "KinematicChain", chained, point
    yield "multi_body_optimisation", optimised, point
    yield "HomogeneousMatrix.vel_acc_Mat", framed, point


@package("mixmetapy", "summaries of studies")
def mixmetapy() -> Iterator[Case]:
    m = module("mixmetapy")
    inside = np.array([[0.3, 0.05, 0.2], [0.4, -0.03, 0.3], [0.2, 0.04, 0.4], [0.5, 0.1, 0.35],
                       [0.3, 0.02, 0.25], [0.45, -0.05, 0.3]])  # fmt: skip
    moderators = np.stack([np.ones(6), np.array([0.2, 1.1, 0.7, 1.9, 1.4, 0.4])], axis=1)

    def fitted(x: Any) -> Any:
        found = m.mixmeta(x[:12].reshape(6, 2), x[12] * inside, moderators * x[13], method="fixed")
        return [found.coef, found.vcov, 0.1 * found.loglik]

    def tested(x: Any) -> Any:
        found = m.mixmeta(x[:12].reshape(6, 2), x[12:].reshape(6, 2), method="fixed")
        return [0.01 * found.qtest()["Q"], 0.01 * found.qtest()["I2"], found.blup()]

    def predicted(x: Any) -> Any:
        found = m.mixmeta(x[:12].reshape(6, 2), inside, moderators, method="fixed")
        table = found.predict([[1.0, x[12]]], se=True)
        return [table["fit"], table["se"], table["low"], found.aic, found.bic]

    yield "mixmeta", fitted, [*SERIES, 1.1, 0.9]
    yield "MixMeta.qtest", tested, LONG
    yield "MixMeta.predict", predicted, [*SERIES, 0.9]


@package("fluxcomp", "fluxes of cosmic rays")
def fluxcomp() -> Iterator[Case]:
    m, muons = module("fluxcomp.cosmic_ray_fluxes"), module("fluxcomp.muon_fluxes")

    def hillas(x: Any) -> Any:
        made = m.HillasGaisser([*(x[:5])], x[5], 1e9 * x[6])
        protons, neutrons = made.total_p_and_n_flux(1e5 * x[7:])
        return [1e10 * protons, 1e10 * neutrons]

    def spline(x: Any) -> Any:
        made = m.GlobalSplineFit()
        energies = 1e3 * x
        return [
            1e-3 * made.flux(made.validPDGIDs[one], energies) * energies**2.7 for one in (0, 1, 25)
        ]

    def broken(x: Any) -> Any:
        proton = m.HillasGaisser.ValidPDGIDs[0]
        made = m.BrokenPowerLaw(
            [proton], {proton: [x[0], x[1]]}, {proton: [x[2], x[3]]}, {proton: [5.0]},
            {proton: None},
        )  # fmt: skip
        return 1e-4 * made.flux(proton, x[4:])

    def muon(x: Any) -> Any:
        made = muons.GaisserFlatEarth()
        return made.flux(made.validPDGIDs[0], x[1:], theta=x[0]) * x[1:] ** 2.7

    yield "HillasGaisser.total_p_and_n_flux", hillas, [
        1.7, 1.7, 1.14, 1.14, 1.14, 1.4, 1.6, 1.3, 4.7,
    ]  # fmt: skip
    yield "GlobalSplineFit.flux", spline, [1.3, 4.1, 17.0]
    yield "BrokenPowerLaw.flux", broken, [2.7, 3.0, 1.7, 2.9, 1.9, 4.2, 7.1]
    yield "GaisserFlatEarth.flux", muon, [0.6, 12.0, 47.0]


@package("hoadleyyapu", "values of options")
def hoadleyyapu() -> Iterator[Case]:
    m = module("hoadleyYaPu.hoadleyYaPu")

    def priced(kind: str) -> Callable[[Any], Any]:
        return lambda x: [
            m.blackScholes(what, kind, x[0], x[1], x[2], x[3], x[4]) for what in "pdgvtr"
        ]

    def implied(kind: str) -> Callable[[Any], Any]:
        return lambda x: m.implied_volatility(
            kind, x[0], x[1], x[2], x[3], x[4], tol=1e-12, max_iterations=60
        )

    yield "blackScholes, call", priced("C"), [105.0, 100.0, 60.0, 0.3, 0.04]
    yield "blackScholes, put", priced("P"), [105.0, 100.0, 60.0, 0.3, 0.04]
    yield "implied_volatility, call", implied("c"), [105.0, 100.0, 60.0, 3.1, 0.04]
    yield "implied_volatility, put", implied("p"), [105.0, 100.0, 60.0, 7.4, 0.04]


@package("wind-stats", "energy of wind")
def wind_stats() -> Iterator[Case]:
    m, units = module("wind_stats.models"), module("wind_stats.units").units
    reader, xarray = module("wind_stats.gwa_reader"), module("xarray")
    speeds = np.array([3.0, 5.0, 7.0, 9.0, 11.0, 13.0])

    def energy(x: Any) -> Any:
        turbine = m.WindTurbine(
            "one", (speeds * units("m/s"), 1e3 * x[:6] * units.kW), 10.0 * x[6], 80.0
        )
        site = m.Site(47.0, 8.0, m.WindDistribution.weibull(x[7], x[8]))
        found = turbine.get_annual_energy_production(site)
        return [1e-9 * found.m_as("Wh"), turbine.get_power_coefficients()[1]]

    def density(x: Any) -> Any:
        site = m.Site(
            47.0, 8.0, m.WindDistribution.weibull(x[0], x[1]), avg_humidity=x[2],
            avg_temperature=units.Quantity(x[3], "kelvin"),
        )  # fmt: skip
        return [0.01 * site.mean_power_density.m, site.mean_wind.m, site.air_density.m]

    def measured(x: Any) -> Any:
        made = m.WindDistribution.from_data(x[:12], 0.1, x[12], x[13])
        return [made.pdf(np.array([3.0, 4.5])), made.mean_wind_speed.m]

    def roses(x: Any) -> Any:
        sectors = 1.0 + 0.1 * np.cos(np.arange(12.0)).reshape(12, 1, 1)
        scale = np.array([[5.0, 6.0], [6.0, 7.2]]) * x[0] * sectors
        made = xarray.Dataset(
            {
                "A": (("sector", "roughness", "height"), scale.transpose(0, 2, 1)),
                "k": (
                    ("sector", "roughness", "height"),
                    x[1] * 2.0 * sectors + np.array([[0.1, 0.3], [0.0, 0.2]]),
                ),
                "frequency": (
                    ("sector", "roughness"),
                    8.0 * sectors[:, :, 0] + np.array([0.0, 0.4]),
                ),
            },
            coords={"roughness": [0.03, 0.4], "height": [50.0, 100.0]},
        )
        scale_all, shape, frequencies = reader.get_weibull_parameters(made, float(x[2]), x[3])
        return [scale_all, shape, np.stack(frequencies)]

    yield "WindTurbine.get_annual_energy_production", energy, [
        0.05, 0.2, 0.6, 1.2, 1.9, 2.0, 8.0, 7.3, 2.1,
    ]  # fmt: skip
    yield "Site.mean_power_density", density, [7.3, 2.1, 0.4, 285.0]
    yield "WindDistribution.from_data", measured, [*SERIES, 50.0, 80.0]
    yield "get_weibull_parameters", roses, [1.1, 0.9, 0.1, 75.0]


@package("soilrunnutri", "losses of nutrients")
def soilrunnutri() -> Iterator[Case]:
    m = module("SoilRunNutri.model")

    def lost(mode: str) -> Any:
        def found(x: Any) -> Any:
            with contextlib.redirect_stdout(io.StringIO()):
                return [
                    m.nitrogen_loss(x[0], mode), m.phosphorus_loss(x[1], mode),
                    m.potassium_loss(x[2], mode),
                ]  # fmt: skip

        return found

    yield "nitrogen_loss, soil", lost("soil"), [7.2, 3.1, 13.0]
    yield "nitrogen_loss, runoff", lost("runoff"), [4.1, 16.0, 24.0]


@package("nowcastbox", "forecasts of economies")
def nowcastbox() -> Iterator[Case]:
    models, pandas = module("nowcastbox.models"), module("pandas")
    benchmarks, space = module("nowcastbox.benchmarks"), module("nowcastbox.statespace")
    scoring = module("nowcastbox.evaluation.scoring")
    months = pandas.period_range("2015-01", periods=30, freq="M")
    count = np.arange(30.0)
    loads = np.array([1.0, 0.7, -0.5, 0.9])

    def panel(x: Any) -> Any:
        common = np.sin(0.5 * count) + 0.3 * np.cos(1.3 * count) + 0.05 * np.tile(x, 15)
        values = {
            name: loads[i] * common + 0.4 * np.sin((1.9 + 0.7 * i) * count**1.1)
            for i, name in enumerate("abcd")
        }
        target = pandas.Series(common, index=months).rolling(3).mean() + 0.1 * np.cos(2.1 * count)
        target = target.where(months.month % 3 == 0)
        target.iloc[-1] = np.nan
        return pandas.DataFrame({**values, "gdp": target}, index=months)

    kinds = {**dict.fromkeys("abcd", "M"), "gdp": "Q"}

    def factors(x: Any) -> Any:
        made = models.TwoStepDFM(n_factors=1, horizon=0, aggregation="average")
        found = made.fit(panel(x), target="gdp", frequency=kinds)
        return [found.nowcast[["in_sample", "out_of_sample"]].fillna(0.0).to_numpy(dtype=float)]

    def bridged(x: Any) -> Any:
        made = benchmarks.UMIDAS(predictors=["a", "b"], n_lags=2).fit(
            panel(x), "gdp", frequency=kinds
        )
        return [made.coef_.to_numpy(dtype=float), made.predict(["2017Q2"]).to_numpy(dtype=float)]

    def filtered(x: Any) -> Any:
        made = space.StateSpace(
            [[x[0], x[1]], [0.0, x[2]]], [[1.0, 0.3], [0.4, 1.0]], np.diag(x[3:5]), x[5:7],
            initial_state=[0.0, 0.0], initial_state_cov=np.eye(2),
        )  # fmt: skip
        found = space.kalman_smoother(made, 0.2 * x[7:].reshape(6, 2))
        return [found.smoothed_state, 0.1 * space.loglikelihood(made, 0.2 * x[7:].reshape(6, 2))]

    def scored(x: Any) -> Any:
        return [
            scoring.crps_mixture(x[0], x[1:4], x[4:7]), scoring.crps_gaussian(x[0], x[1], x[4]),
            scoring.log_score_gaussian(x[0], x[2], x[5]),
        ]  # fmt: skip

    yield "TwoStepDFM.fit", factors, SERIES[:2]
    yield "UMIDAS.fit", bridged, SERIES[:2]
    yield "kalman_smoother", filtered, [0.7, 0.1, 0.5, 0.8, 0.6, 0.3, 0.4, *SERIES]
    yield "crps_mixture", scored, [0.3, -0.4, 0.6, 1.1, 0.8, 0.5, 1.2]


@package("tkeanalyst", "turbulence of rivers")
def tkeanalyst() -> Iterator[Case]:
    flow, profile = module("TKEanalyst.flowstat"), module("TKEanalyst.profile_analyst")
    spikes, pandas = module("TKEanalyst.rmspike"), module("pandas")

    def measured(x: Any, kind: str = "lp") -> Any:
        parts = x.reshape(4, 6)
        return flow.flowstat(np.arange(6.0), *parts, profile_type=kind)

    def moments(x: Any) -> Any:
        series, stats = measured(x, "up")
        return [series["tau_v (m^2/s^2)"], stats["TKE (m^2/s^2)"], stats["tau_w2 STAT (m^2/s^2)"]]

    def summary(x: Any) -> Any:
        stats = {"one": measured(x[:24])[1], "two": measured(x[:24] ** 0.9)[1]}
        places = {f"{axis} (m)": {"one": x[26], "two": x[27]} for axis in "xyz"}
        found = profile.build_stats_summary(stats, {"probe positions": places}, "lp", x[24], x[25])
        return found.to_numpy()

    def cleaned(x: Any) -> Any:
        names = ("u (m/s)", "v (m/s)", "w1 (m/s)", "w2 (m/s)")
        frame = pandas.DataFrame(dict(zip(names, x.reshape(4, 6), strict=True)))
        stats = measured(x)[1]
        with contextlib.redirect_stdout(io.StringIO()):
            found = spikes.rmspike(
                frame, *(stats[f"{one} STAT (m/s)"] for one in "uvw"), method="velocity", k=1.5
            )[1]
        return [found[name].mean() for name in names]

    yield "flowstat", moments, LONG
    yield "build_stats_summary", summary, [*LONG, 1.4, 0.8, 0.3, 1.2]
    yield "rmspike", cleaned, LONG


@package("nuee", "ecology of communities")
def nuee() -> Iterator[Case]:
    composition = module("nuee.composition")
    distances, diversity = module("nuee.dissimilarity"), module("nuee.diversity")
    ordination, procrustes = module("nuee.ordination"), module("nuee.ordination.procrustes")
    spread_out = np.array([[0.1, 0.3], [0.9, 0.4], [0.4, 1.3], [1.6, 0.8], [0.7, 0.2], [1.2, 1.5]])

    def redundancy(x: Any) -> Any:
        found = ordination.rda(x.reshape(6, 4), spread_out)
        return [found.constrained_eig, found.unconstrained_eig, found.tot_chi]

    def rotated(x: Any) -> Any:
        found = procrustes.procrustes(x[:12].reshape(6, 2), x[12:].reshape(6, 2) ** 1.3)
        return [found["transformed"], found["correlation"], found["ss"], found["dilation"]]

    def distant(x: Any) -> Any:
        table = x.reshape(4, 6)
        return [
            np.asarray(distances.vegdist(table, method=one))
            for one in ("bray", "horn", "mahalanobis")
        ]

    def diverse(x: Any) -> Any:
        found = diversity.renyi(x.reshape(3, 8), scales=[0.5, 1, 2.5])
        parts = composition.ilr(composition.closure(x.reshape(3, 8)))
        return [np.asarray(found), np.asarray(diversity.evenness(x.reshape(3, 8)).values), parts]

    yield "rda", redundancy, LONG
    yield "procrustes", rotated, LONG
    yield "vegdist", distant, LONG
    yield "renyi", diverse, LONG


@package("solve-nivp", "nonsmooth dynamics")
def solve_nivp() -> Iterator[Case]:
    m = module("solve_nivp")

    def pendulum(x: Any) -> Any:
        return of_two(lambda t, y: np.array([y[1], -x[2] * np.sin(y[0]) - x[3] * y[1]]))

    def marched(method: str, solver: str) -> Any:
        def result(x: Any) -> Any:
            return m.solve_ivp_ns(
                pendulum(x), (0.0, 1.0), x[:2], method=method, projection="identity",
                solver=solver, adaptive=False, h0=0.1, solver_opts={"tol": 1e-12},
            )[1][-1]  # fmt: skip

        return result

    def adapted(x: Any) -> Any:
        return m.solve_ivp_ns(
            pendulum(x), (0.0, 0.2), x[:2], method="trapezoidal", projection="identity",
            solver="VI", atol=1e-4, rtol=1e-4, h0=0.04, solver_opts={"tol": 1e-13},
        )[1][-1]  # fmt: skip

    def mass(x: Any) -> Any:
        return m.solve_ivp_ns(
            pendulum(x), (0.0, 0.6), x[:2], method="trapezoidal", projection="identity",
            solver="semismooth_newton", adaptive=False, h0=0.1, A=np.diag([1.0, x[4]]),
            solver_opts={"tol": 1e-12},
        )[1][-1]  # fmt: skip

    point = [0.6, -0.3, 2.2, 0.4]
    yield "solve_ivp_ns, composite", marched("composite", "semismooth_newton"), point
    yield "solve_ivp_ns, VI", adapted, point
    yield "solve_ivp_ns, descriptor", mass, [*point, 1.7]


@package("atom-toolkit", "levels of atoms")
def atom_toolkit() -> Iterator[Case]:
    m, atom, term = module("atomtoolkit"), module("atomtoolkit.atom"), module("atomtoolkit.term")
    strengths, shapes = (
        module("atomtoolkit.transition_strengths"),
        module("atomtoolkit.render.lineshapes"),
    )

    def shifted(x: Any) -> Any:
        ghz = m.Q_(1.0, "gigahertz")
        ground = atom.EnergyLevel(
            term.Term("5p", "2P*", 1.5), m.Q_(380.0, "terahertz"), lande=x[3],
            hfA=x[0] * ghz, hfB=x[1] * ghz, hfC=x[2] * ghz,
        )  # fmt: skip
        made = atom.Atom("Rb", I=1.5, levels=[ground])
        values: list[Any] = []
        for level in made.levels.values():
            for hyperfine in level.values():
                values.append(1e-9 * hyperfine.shift_Hz)
                values += [1e-6 * one.shift_hz_at(x[4]) for one in hyperfine.values()]
        return np.stack(values)

    def moments(x: Any) -> Any:
        rate, omega = m.Q_(1e7 * x[0], "Hz"), m.Q_(1e15 * x[1], "Hz")
        dipole = strengths.A_to_dipole_mel(rate, 0.5, 1.5, omega)
        return [
            strengths.A_to_oscillator_strength(rate, 0.5, 1.5, omega), dipole.magnitude,
            1e-7 * strengths.dipole_mel_to_A(x[2] * dipole, 0.5, 1.5, omega).magnitude,
        ]  # fmt: skip

    yield "EnergyLevel", shifted, [0.085, 0.0125, 0.0003, 1.33, 5.2]
    yield "A_to_dipole_mel", moments, [3.8, 2.4, 1.1]
    yield "mod_lorentzian", lambda x: shapes.mod_lorentzian(
        np.linspace(-3.0, 3.0, 13), x[0], x[1], x[2], x[3], 3, x[4]
    ), [0.2, 0.6, 1.4, 0.8, 1.1]  # fmt: skip
    yield "voigt", lambda x: shapes.voigt(np.linspace(-3.0, 3.0, 13), *x), [0.2, 0.6, 0.8, 1.4]


@package("inv-toolbox", "regularized inversion")
def inv_toolbox() -> Iterator[Case]:
    m, scaled = module("inv_toolbox.regularization"), module("inv_toolbox.utils.preconditioner")
    grid = module("quickpaver").RectilinearGrid(nx=4, ny=3, dx=1.5, dy=0.8)
    covmats = module("covmats")
    cov = np.exp(-0.3 * np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))))

    def smooth(x: Any) -> Any:
        made = m.TikhonovRegularizator(grid, preconditioner=scaled.LogTransform())
        sharp = m.TVRegularizator(grid, eps=0.1)
        return [made.eval_loss(x), sharp.eval_loss(x), made.eval_loss_gradient(x)]

    def distributed(x: Any) -> Any:
        made = m.ProbDistFitting(target_values=x[12:] + 0.05, order=2.0)
        return [made.eval_loss(x[:12]), made.eval_loss_gradient(x[:12])]

    def geostatistical(x: Any) -> Any:
        prior = covmats.ConstantPriorTerm(x[12:])
        made = m.GeostatisticalRegularizator(covmats.CovViaCholesky(np.linalg.cholesky(cov)), prior)
        return made.eval_loss(x[:12])

    def chained(x: Any) -> Any:
        made = scaled.ChainedTransforms(
            [scaled.RangeRescaler(0.0, 8.0, 0.1, 0.9), scaled.SigmoidRescaler(0.2, 1.5, 1.1)]
        )
        found = made(x[:6])
        return [found, made.backtransform(found + 0.01 * x[6:])]

    yield "TikhonovRegularizator", smooth, SERIES
    yield "ProbDistFitting", distributed, LONG
    yield "GeostatisticalRegularizator", geostatistical, LONG
    yield "ChainedTransforms", chained, SERIES


@package("beta-ensembles", "random matrices")
def beta_ensembles() -> Iterator[Case]:
    laguerre, gaussian = module("beta_ensembles.laguerre"), module("beta_ensembles.gaussian")
    m, sff = module("beta_ensembles.statistics"), module("beta_ensembles.sff")
    jacobi = module("beta_ensembles.jacobi")
    levels = np.array([0.3, 1.1, 1.7, 2.9, 3.6, 4.2])

    def unfolded(x: Any) -> Any:
        made = laguerre.Ensemble(x[6], x[7], 6, rng=3)
        return [made.unfold(x[:6]), jacobi.unfold(x[:6] / 20.0, x[6], x[7], 2.0, 6)]

    def predicted(x: Any) -> Any:
        s = x[2:]
        return [
            m.pdf_s(x[0], s), m.cdf_s(x[0], s), m.pdf_r(x[1], 0.5 * s), m.cdf_r(x[1], 0.5 * s),
        ]  # fmt: skip

    def form(x: Any) -> Any:
        full, connected = sff.compute_sff(
            x.reshape(3, 8), np.array([0.1, 0.25, 0.6]), verbose=False
        )
        return [full, connected]

    def unfolding(x: Any) -> Any:
        return m.spacings(gaussian.unfold(x - 2.0))

    yield "laguerre.Ensemble.unfold", unfolded, [1.4, 3.1, 4.7, 7.9, 10.6, 14.2, 1.7, 1.3]
    yield "gaussian.unfold", unfolding, [*levels]
    yield "pdf_s", predicted, [1.3, 2.2, 0.4, 0.9, 1.6]
    yield "compute_sff", form, LONG


@package("solrat", "polarized light of the Sun")
def solrat() -> Iterator[Case]:
    registry = module("solrat.atom_model.model_registry")
    slab = module("solrat.atom_model.shared.common_api.constant_property_slab")
    milne = module("solrat.atom_model.shared.common_api.milne_eddington_slab")
    angle = module("solrat.atom_model.shared.object.angles")
    light = module("solrat.atom_model.shared.object.stokes")
    line = 60000.0 * 29979245800.0
    nu = line * (1.0 + 2e-5 * np.linspace(-1.0, 1.2, 3))
    atom = registry.PreconfiguredModels.multi_level_atom_mock()
    even = registry.PreconfiguredModels.multi_level_atom_mock_lte()

    def parts(model: Any) -> Any:
        tensor = model.RadiationTensor.from_model_config(config=model.config)
        return (
            tensor.fill_NLTE_n_w_allen(h_arcsec=30.0) if model is atom else tensor,
            model.StatisticalEquilibriumEquations.from_model_config(config=model.config),
            model.RadiativeTransferEquations.from_model_config(config=model.config, nu=nu),
        )

    solar, thermal = parts(atom), parts(even)

    def setup(field: Any, heat: Any, tilt: Any, model: Any) -> Any:
        where = angle.Angles(chi=0.4, theta=1.1, gamma=0.3, chi_B=0.2, theta_B=tilt)
        air = model.AtmosphereParameters(
            model_config=model.config, magnetic_field_gauss=100.0 * field,
            temperature_K=1000.0 * heat, voigt_a=0.1,
        )  # fmt: skip
        return where, air

    def shown(found: Any) -> Any:
        return [1e6 * found.I, 1e6 * found.Q, 1e6 * found.U, 1e6 * found.V]

    def slabbed(x: Any) -> Any:
        where, air = setup(x[0], 6.3, 0.7, atom)
        tensor, see, rte = solar
        made = slab.ConstantPropertySlabAtmosphere(
            atom, tensor, air, where, 0.8, 0.05, see=see, rte=rte
        )
        return shown(made.forward(light.Stokes.from_BP(nu, 5800.0)))

    def inverted(x: Any) -> Any:
        where, air = setup(9.0, x[0], 0.7, even)
        tensor, see, rte = thermal
        made = milne.MilneEddingtonSlabAtmosphere(
            even, tensor, air, where, x[1], 1.3e-6, see=see, rte=rte
        )
        return shown(made.forward(light.Stokes.from_zeros(nu)))

    def balanced(x: Any) -> Any:
        where, air = setup(x[0], 6.3, x[1], atom)
        tensor, see, _ = solar
        see.fill_all_equations(air, tensor.rotate_to_magnetic_frame(angles=where))
        rho = see.get_solution()
        return [1e8 * rho(K=2, Q=one, level_id=upper) for one in (0, 1, 2)]

    upper = atom.config.level_registry.get_level(alpha="upper", J=1).level_id
    yield "ConstantPropertySlabAtmosphere", slabbed, [0.2]
    yield "MilneEddingtonSlabAtmosphere", inverted, [6.3, 2.0]
    yield "StatisticalEquilibriumEquations", balanced, [0.01, 0.7]


@package("akck-lff", "gas of electrons")
def akck_lff() -> Iterator[Case]:
    m, dynamic = module("AKCK_LFF.fitted_LFF"), module("AKCK_LFF.rMCP07")
    corr, quadrature = module("AKCK_LFF.corr"), module("AKCK_LFF.gauss_quad")

    def both(x: Any) -> Any:
        return [m.g_plus_new(x[:4], x[4]), m.g_minus_new(x[:4], x[4])]

    def kernel(x: Any) -> Any:
        rs = x[4]
        kf = (9.0 * np.pi / 4.0) ** (1.0 / 3.0) / rs
        made = {"rs": rs, "rsh": rs**0.5, "kF": kf, "n": 3.0 / (4.0 * np.pi * rs**3)}
        return dynamic.g_rMCP07(x[:4], x[5], made)

    def integrated(x: Any) -> Any:
        return quadrature.GK_global_adap(
            of_one(lambda u: np.exp(-x[0] * u) * np.cos(x[1] * u)),
            (0.0, x[2]),
            opt_d={"prec": 1e-11},
        )[0]

    def response(x: Any) -> Any:
        return 10.0 * corr.ec_freq_integrand(x[:4], x[4], x[5], x[6], fxc="NEW")

    yield "g_plus_new", both, [0.4, 0.9, 1.7, 2.6, 2.3]
    yield "g_rMCP07", kernel, [0.4, 0.9, 1.7, 2.6, 2.3, 0.7]
    yield "ec_freq_integrand", response, [0.3, 0.7, 1.6, 2.9, 0.9, 0.6, 2.3]
    yield "GK_global_adap", integrated, [0.7, 1.9, 2.4]


@package("roguewavespectrum", "waves of the ocean")
def roguewavespectrum() -> Iterator[Case]:
    m, estimate = module("roguewavespectrum"), module("roguewavespectrum._estimators.estimate")
    frequency = np.array([0.05, 0.07, 0.09, 0.12, 0.16, 0.21, 0.3, 0.4])

    shape = np.array([0.2, 0.9, 2.1, 1.6, 0.9, 0.5, 0.2, 0.1])

    def spectrum(x: Any) -> Any:
        spread = 0.6 + 0.05 * np.cos(np.arange(8.0))
        return m.create_spectrum1d(
            frequency, x[0] * shape + x[1] * frequency,
            spread * np.cos(x[2]), spread * np.sin(x[2]),
            0.5 * spread * np.cos(2.0 * x[2]), 0.5 * spread * np.sin(2.0 * x[2]), depth=10.0 * x[3],
        )  # fmt: skip

    def heights(x: Any) -> Any:
        made = spectrum(x)
        found = [
            made.significant_waveheight(), made.mean_period(), 0.01 * made.mean_direction(),
            made.wavenumber,
        ]  # fmt: skip
        return [np.ravel(one.values) for one in found]

    def directional(x: Any) -> Any:
        made = spectrum(x).as_frequency_direction_spectrum(8, method="mem")
        return [10.0 * made.variance_density.values, made.hm0().values.reshape(1)]

    def parametric(x: Any) -> Any:
        made = m.create_parametric_spectrum2d(frequency, 12, x[0], x[1], x[2], x[3])
        return [10.0 * np.ravel(made.variance_density.values), np.ravel(made.hm0().values)]

    def moments(x: Any) -> Any:
        return estimate.estimate_directional_spectrum_from_moments(
            np.array([1.0, 2.0]), x[:2], x[2:4], x[4:6], x[6:8], np.linspace(0.0, 330.0, 12), "mem"
        )

    point = [1.1, 0.6, 0.7, 1.2]
    yield "Spectrum", heights, point
    yield "as_frequency_direction_spectrum", directional, point
    yield "estimate_directional_spectrum_from_moments", moments, [
        0.5, 0.3, 0.2, -0.4, 0.1, 0.15, -0.2, 0.05,
    ]  # fmt: skip
    yield "create_parametric_spectrum2d", parametric, [1.7, 8.3, 70.0, 25.0]


@package("option-greek-pricing", "prices of options")
def option_greek_pricing() -> Iterator[Case]:
    trees, m = module("OptionGreekPricing.BinomialTrees"), module("OptionGreekPricing.BlackScholes")
    greeks, random = module("OptionGreekPricing.Greeks"), module("random")
    simulated = module("OptionGreekPricing.MonteCarlo")

    def drawn(x: Any) -> Any:
        random.seed(11)
        return simulated.MC_riskneutral_European("C", *x, simulations=400)

    def scholes(x: Any) -> Any:
        return [
            m.BlackScholes_Stock("P", *x), 0.1 * greeks.Greek_Theta("C", *x),
            0.1 * greeks.Greek_Vega(*x), greeks.Greek_Gamma(*x),
        ]  # fmt: skip

    yield "NonDivStock_MultiPeriod_American", lambda x: trees.NonDivStock_MultiPeriod_American(
        "P", x[0], x[1], x[2], x[3], 7, x[4], r=x[5]
    ), [52.0, 49.3, 1.11, 0.91, 1.2, 0.05]  # fmt: skip
    yield "Currency_MultiPeriod_European", lambda x: trees.Currency_MultiPeriod_European(
        "C", x[0], x[1], x[2], x[3], 6, x[4], x[5], x[6]
    ), [1.2, 1.27, 1.07, 0.94, 0.8, 0.03, 0.05]  # fmt: skip
    yield "BlackScholes_Stock", scholes, [49.0, 52.0, 0.3, 0.05, 1.2, 0.02]
    yield "MC_riskneutral_European", drawn, [49.0, 52.0, 0.3, 0.05, 1.2, 0.02]


@package("nustattools", "statistics of neutrinos")
def nustattools() -> Iterator[Case]:
    m, gx2 = module("nustattools.stats"), module("nustattools.stats.gx2.functions")
    derate = module("nustattools.stats._derate")

    def covariance(x: Any) -> Any:
        half = x.reshape(3, 4)[:, :3] * 0.2
        return half @ half.T + np.eye(3)

    def derated(x: Any) -> Any:
        unknown = np.full((4, 4), np.nan)
        unknown[:2, :2] = [[x[0], x[1]], [x[1], 0.9]]
        unknown[2:, 2:] = [[x[2], -0.2], [-0.2, 1.6]]
        return m.derate_covariance(unknown, jacobian=[[1.0], [x[3]], [-0.5], [0.4]], sigma=2.0)

    def whitened(x: Any) -> Any:
        return [
            part for kind in ("zca", "cholesky", "zca-cor")
            for part in derate.get_whitening_transform(covariance(x), kind)
        ]  # fmt: skip

    def maximal(x: Any) -> Any:
        made = m.FMaxStatistic(
            k=[2, 3, 1],
            funcs=[of_one(lambda v: v**1.1), None, of_one(lambda v: 1.3 * v + 0.1 * v**2)],
        )
        return [made.calculate(x[:3]), *np.ravel(made.cdf(x[3:]))]

    yield "derate_covariance", derated, [1.3, 0.3, 0.8, 0.7]
    yield "get_whitening_transform", whitened, SERIES
    yield "gx2cdf", lambda x: gx2.gx2cdf(
        x[:2], x[2:5], np.array([1, 2, 3]), x[5:8], x[8], 0.0
    ), [3.1, 6.7, 0.7, 1.3, 0.4, 0.5, 0.2, 0.9, 0.1]  # fmt: skip
    yield "FMaxStatistic", maximal, [2.3, 1.1, 0.7, 1.9, 3.4]


@package("pygmol", "global models of plasma")
def pygmol() -> Iterator[Case]:
    m, chemistry = module("pygmol.equations"), module("pygmol.chemistry")
    parameters = module("pygmol.plasma_parameters")

    def argon(x: Any) -> Any:
        return chemistry.chemistry_from_dict({
            "species_ids": ["Ar", "Ar*", "Ar+"], "species_charges": [0, 0, 1],
            "species_masses": [39.95, 39.95, 39.95],
            "species_lj_sigma_coefficients": [3.5, 3.5, 3.5],
            "species_surface_sticking_coefficients": [0.0, x[0], x[1]],
            "species_surface_return_matrix": [[0, 1, 1], [0, 0, 0], [0, 0, 0]],
            "reactions_ids": [1, 2, 3], "reactions_strings": ["elastic", "ionise", "excite"],
            "reactions_arrh_a": [2.336e-14, 1e-14 * x[2], 1e-14 * x[3]],
            "reactions_arrh_b": [1.609, x[4], 0.33], "reactions_arrh_c": [0.0, x[5], 12.78],
            "reactions_el_energy_losses": [0.0, 15.76, x[6]],
            "reactions_elastic_flags": [True, False, False],
            "reactions_electron_stoich_lhs": [1, 1, 1], "reactions_electron_stoich_rhs": [1, 2, 1],
            "reactions_arbitrary_stoich_lhs": [0, 0, 0],
            "reactions_arbitrary_stoich_rhs": [0, 0, 0],
            "reactions_species_stoichiomatrix_lhs": [[1, 0, 0], [1, 0, 0], [1, 0, 0]],
            "reactions_species_stoichiomatrix_rhs": [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
        })  # fmt: skip

    def plasma(power: Any, pressure: Any) -> Any:
        return parameters.plasma_parameters_from_dict({
            "radius": 0.1, "length": 0.2, "pressure": pressure, "power": power,
            "feeds": {"Ar": 20.0}, "temp_e": 2.1, "temp_n": 400.0, "t_end": 0.5,
        })  # fmt: skip

    rates = [0.6, 0.9, 2.34, 2.48, 0.59, 17.44, 11.6]
    state: Any = np.array([2.4e20, 1.3e17, 3.1e16, 1.4e17])

    def driven(x: Any) -> Any:
        made = m.ElectronEnergyEquations(argon(x), plasma(500.0, 2.0))
        return made.ode_system_rhs(0.0, state) / np.array([1e20, 1e20, 1e20, 1e21])

    def evolved(x: Any) -> Any:
        made = m.ElectronEnergyEquations(argon(rates), plasma(1000.0 * x[0], x[1]))
        found = made.ode_system_rhs(0.0, x[2:] * state)
        return found / np.array([1e20, 1e20, 1e20, 1e21])

    def reported(x: Any) -> Any:
        made = m.ElectronEnergyEquations(argon(rates), plasma(500.0, x[0]))
        found = made.get_final_solution_values(0.1, x[1:] * state)
        return found / (1.0 + np.abs(made.get_final_solution_values(0.1, state)))

    yield "ElectronEnergyEquations.ode_system_rhs, rates", driven, rates
    yield "ElectronEnergyEquations.ode_system_rhs, state", evolved, [0.5, 2.0, 1.1, 0.9, 1.2, 1.05]
    yield "get_final_solution_values", reported, [2.0, 1.1, 0.9, 1.2, 1.05]


@package("lasercalc", "safety of lasers")
def lasercalc() -> Iterator[Case]:
    m, hazards = module("lasercalc.sources"), module("lasercalc.hazards")
    mpe, classes = module("lasercalc.mpe"), module("lasercalc.classify")

    def hazard(x: Any) -> Any:
        source = m.LaserSource(
            100.0 * x[0], power_w=x[1], beam_diameter_m=1e-3 * x[2], divergence_rad=1e-3 * x[3]
        )
        found = hazards.nohd(source)
        worn = hazards.required_od(source, distance_m=x[4])
        return [0.01 * found.nohd_m, found.beam_diameter_at_nohd_m, worn.od]

    def pulsed(x: Any) -> Any:
        source = m.LaserSource(
            1064.0, mode=m.EmissionMode.PULSE_TRAIN, pulse_energy_j=x[0], pulse_duration_s=1e-8,
            prf_hz=10.0 * x[1], beam_diameter_m=1e-3 * x[2], divergence_rad=1e-3 * x[3],
            angular_subtense_mrad=x[4],
        )  # fmt: skip
        return [0.01 * hazards.nohd(source, x[5]).nohd_m, hazards.required_od(source, 0.3, x[5]).od]

    def classified(x: Any) -> Any:
        found = classes.classify(
            m.LaserSource(100.0 * x[0], power_w=x[1], angular_subtense_mrad=x[2])
        )
        return [[one.ael_w, one.emission_w] for one in found.checks[:3]]

    yield "nohd", hazard, [5.32, 0.2, 1.4, 1.1, 0.3]
    yield "required_od", pulsed, [0.02, 1.3, 1.4, 1.1, 3.2, 0.4]
    yield "mpe_eye", lambda x: [
        0.01 * mpe.mpe_eye(100.0 * x[0], x[1], x[2]).irradiance_w_m2,
        0.01 * mpe.mpe_eye(100.0 * x[3], x[4]).irradiance_w_m2,
    ], [9.3, 0.3, 2.6, 4.73, 37.0]  # fmt: skip
    yield "classify", classified, [8.1, 0.03, 3.1]


@package("grays-tortuosity-model", "tortuosity of paths")
def grays_tortuosity() -> Iterator[Case]:
    m, pose = module("grays_tortuosity"), module("grays_tortuosity.pose")
    turning, polygons = module("grays_tortuosity.tortuosity"), module("grays_tortuosity.polygons")
    dynamics, rotation = module("grays_tortuosity.dynamics"), module("scipy.spatial.transform")
    steps: Any = np.arange(6.0)
    path = [*np.stack([steps, np.cos(1.7 * steps)], axis=1).ravel()]

    def polygon(x: Any) -> Any:
        found = polygons.polygon_tortuosity(x[:12].reshape(6, 2), ell=x[12])
        return [found.value, found.average, found.length]

    def sampled(x: Any) -> Any:
        found, average = turning.tortuosity_and_average(
            x[:12].reshape(6, 2), ell=x[12], ds=0.2, smoothing="gaussian"
        )
        return [found.value, average]

    def rebuilt(x: Any) -> Any:
        points = m.reconstruct_path_from_curvature(x[:7], ds=0.5, initial_heading=x[7])
        exposure = dynamics.speed_weighted_exposure(
            np.linspace(0.0, 3.0, 7), x[:7], x[7:], ell=0.8, beta=1.2
        )
        return [points, exposure]

    def moved(x: Any) -> Any:
        turns = rotation.Rotation.from_rotvec(0.1 * x[:12].reshape(4, 3)).as_matrix()
        found = pose.pose_kinematics(0.5 * np.arange(4.0), x[12:].reshape(4, 3), turns)
        return [found.angular_velocity, found.specific_force]

    yield "polygon_tortuosity", polygon, [*path, 0.4]
    yield "tortuosity_and_average", sampled, [*path, 0.4]
    yield "reconstruct_path_from_curvature", rebuilt, [
        0.3, 0.7, -0.4, 0.2, 0.9, 0.5, -0.3, 1.1, 1.4, 0.9, 1.2, 1.6, 1.3, 1.0,
    ]  # fmt: skip
    yield "pose_kinematics", moved, LONG


@package("osaft", "forces of sound")
def osaft() -> Iterator[Case]:
    m = module("osaft")
    module("osaft.core.logger").log.setLevel("ERROR")

    def force(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: 1e14 * np.reshape(xp.real(make(x).compute_arf()), (1,))

    def yosioka(x: Any) -> Any:
        return m.yosioka1955.ARF(
            1e6 * x[0], 1e-6 * x[1], 1e3 * x[2], 1e3 * x[3], 1e3 * x[4], 1e3 * x[5], 1e5 * x[6],
            m.WaveType.STANDING, 1e-4 * x[7],
        )  # fmt: skip

    def settnes(x: Any) -> Any:
        return m.settnes2012.ARF(
            1e6 * x[0], 1e-6 * x[1], 1e3 * x[2], 1e3 * x[3], 1e3 * x[4], 1e3 * x[5], 1e-3 * x[8],
            1e5 * x[6], m.WaveType.STANDING, 1e-4 * x[7],
        )  # fmt: skip

    def hasegawa(x: Any) -> Any:
        return m.hasegawa1969.ARF(
            1e6 * x[0], 1e-6 * x[1], 1e3 * x[2], 1e9 * x[3], x[8], 1e3 * x[4], 1e3 * x[5],
            1e5 * x[6], m.WaveType.STANDING, 1e-4 * x[7],
        )  # fmt: skip

    def scattered(x: Any) -> Any:
        made = yosioka(x)
        found = [made.radial_particle_velocity(2e-6, one, 0.0, True) for one in (0.4, 1.3)]
        found += [made.tangential_acoustic_fluid_velocity(9e-6, 0.7, 0.0, True, 1)]
        return [[1e3 * np.real(one), 1e3 * np.imag(one)] for one in found]

    point = [1.3, 5.2, 1.05, 2.35, 0.998, 1.498, 1.1, 0.9]
    yield "yosioka1955.ARF", force(yosioka), point
    yield "settnes2012.ARF", force(settnes), [*point, 1.01]
    yield "hasegawa1969.ARF", force(hasegawa), [*point[:3], 3.4, *point[4:], 0.34]
    yield "radial_particle_velocity", scattered, point


@package("breakwater", "design of breakwaters")
def breakwater() -> Iterator[Case]:
    battjes, goda = module("breakwater.core.battjes"), module("breakwater.core.goda")
    bishop, stability = module("breakwater.core.bishop"), module("breakwater.core.stability")
    overtopping = module("breakwater.core.overtopping")

    def waves(x: Any) -> Any:
        made = battjes.BattjesGroenendijk(x[0], x[1], (1, 100))
        return [made.get_Hp(0.02), made.get_Hn(3.0), made.Hrms]

    def caisson(x: Any) -> Any:
        made = goda.Goda(
            Hs=x[0], Hmax=x[1], h=x[2], d=x[3], h_acc=x[4], hc=x[5], Bm=8.0, T=x[6], beta=x[7],
            rho=1025.0, slope_foreshore=0.01, B=x[8],
        )  # fmt: skip
        return [1e-5 * made.P(), 1e-6 * made.Mp(), 1e-5 * made.U(), 1e-6 * made.Mu()]

    def slipped(x: Any) -> Any:
        circle = bishop.SlipCircle((x[0], x[1]), x[2])
        made = bishop.Bishop(point2=(20.0, 10.0), SlipCircle=circle)
        made.add_layer(gamma=x[3], c=x[4], phi=x[5], name="clay")
        made.compute(num_slices=12, max_iter=200, ftol=1e-14)
        return circle.F

    def armour(x: Any) -> Any:
        return [
            stability.vandermeer_deep(x[0], 1.6, 0.4, x[1], 3000, x[2], x[3]),
            stability.vandermeer_shallow(x[0], 1.3 * x[0], 1.6, 0.4, x[1], 3000, x[2], x[3]),
            overtopping.rubble_mound(x[0], 1e-3 * x[4], x[2], x[3], 0.2, 1.0, 1.0, 1.0, "Rock"),
        ]

    yield "Goda", caisson, [3.1, 5.4, 12.0, 7.3, 9.1, 4.2, 9.3, 0.2, 14.0]
    yield "BattjesGroenendijk", waves, [3.1, 7.3]
    yield "Bishop.compute", slipped, [6.0, 17.0, 18.03, 18.0, 12.0, 0.4]
    yield "vandermeer_deep", armour, [3.1, 4.2, 2.4, 0.46, 1.3]


@package("sigmapy", "points of unscented filters")
def sigmapy() -> Iterator[Case]:
    m = module("sigmapy.sigma_sets")

    def points(name: str, **options: Any) -> Any:
        def found(x: Any) -> Any:
            half = x[3:].reshape(3, 3) + np.diag([2.0, 3.0, 4.0])
            places, mean, spread = m.SigmaSets().get_set(
                x[:3], half @ half.T, set_name=name, **options
            )
            values = np.sin(places[0]) * places[1] + places[2] ** 2
            centre = values @ mean
            return [centre, (values - centre) ** 2 @ spread]

        return found

    point = [0.3, 1.1, -0.4, 0.5, 0.1, -0.2, 0.3, 0.7, 0.2, -0.1, 0.4, 0.6]
    yield "SigmaSets, merwe", points("merwe"), point
    yield "SigmaSets, julier", points("julier"), point
    yield "SigmaSets, hermite", points("hermite"), point


@package("apt-stats", "masses of molecules")
def apt_stats() -> Iterator[Case]:
    m, material = module("APT_stats.calc"), module("APT_stats.material")

    def found(x: Any) -> Any:
        isotopes = (("Fe", 54, 0.058), ("Fe", 56, 0.918), ("Cr", 52, 0.838), ("C", 12, 0.989))
        scores = (x[0], x[0], x[1], x[2])
        made = [
            material.glob_element(name, mass, x[3] * rate, score=score)
            for (name, mass, rate), score in zip(isotopes, scores, strict=True)
        ]
        return m.calc(types.SimpleNamespace(elements=made), 3)

    def likely(x: Any) -> Any:
        return np.stack([one.probability for one in found(x)[0].molecules])

    def charged(x: Any) -> Any:
        ions = m.charge_calculation(found(x), (1, 3))[0].molecules
        weights = np.stack([one.probability for one in ions])
        masses = np.array([one.mass for one in ions])
        return [np.sum(weights * masses) / np.sum(weights)]

    yield "calc", likely, [0.7, 0.2, 0.1, 0.9]
    yield "charge_calculation", charged, [0.7, 0.2, 0.1, 0.9]


@package("optimate", "forecasts of materials")
def optimate() -> Iterator[Case]:
    metrics = module("optimate.utilities.forecastingMetrics")
    quality = module("optimate.utilities.qualityOfFit")
    linear = module("optimate.utilities.linearInterpolation")
    strain = np.linspace(0.1, 0.6, 5)

    def fit(x: Any) -> Any:
        measured = {"one": np.stack([strain + 0.03, 10.0 * x[:5]], axis=1)}
        simulated = {"one": np.stack([np.linspace(0.0, 0.7, 7), 9.0 + 10.0 * x[5:]], axis=1)}
        return 0.1 * quality.QoF(measured, simulated)

    yield "QoF", fit, SERIES
    yield "mase", lambda x: [
        metrics.mase(x[:12], x[12:] + 0.3), metrics.mape(x[:12], x[12:] + 0.3)
    ], LONG  # fmt: skip
    yield "calc_setvalue", lambda x: linear.calc_setvalue(
        [*x[:3]], [*np.linspace(0.0, 4.0, 9)], [*x[3:]]
    ), [0.6, 1.9, 3.3, *SERIES[:9]]  # fmt: skip


@package("hydrogen-pfhx", "exchange of heat")
def hydrogen_pfhx() -> Iterator[Case]:
    m, heat = (
        module("hydrogen_pfhx.hydrogen_thermodynamics"),
        module("hydrogen_pfhx.heat_transfer_models"),
    )
    hexs, dynamics = module("hydrogen_pfhx.hexs"), module("hydrogen_pfhx.ortho_para_dynamics")
    data = m.ParaHydrogen()

    def state(x: Any) -> Any:
        density, temperature = 1e3 * x[0], 10.0 * x[1]
        return [
            1e-5 * data.pressure(density, temperature), 1e-3 * data.enthalpy(density, temperature),
            0.1 * data.entropy(density, temperature),
            0.1 * data.specific_heat_constant_pressure(density, temperature),
            1e6 * data.viscosity(density, temperature, 2.01588e-3),
        ]  # fmt: skip

    def exchanger(x: Any) -> Any:
        made = hexs.PlateFinHex({
            "length": 1.0, "width": 0.9013, "height": 0.7517, "fin_thickness": 1e-4 * x[0],
            "fin_pitch": 1e-3 * x[1], "fin_height": 1e-3 * x[2], "seration_length": 3e-3,
            "parting_sheet_thickness": 1e-3,
        })  # fmt: skip
        conductivity = heat.aluminium_thermal_conductivity(10.0 * x[3])
        return [
            1e3 * made.hydraulic_diameter(),
            made.calculate_fin_efficiency(100.0 * x[4], conductivity),
        ]

    def kinetics(x: Any) -> Any:
        equilibrium = dynamics.para_ortho_equilibrium(10.0 * x[0])
        made = types.SimpleNamespace(
            temperature=10.0 * x[0], molar_density=1e3 * x[1], mass_density=x[2],
            get_xo=lambda: x[3], get_xo_equil=lambda: equilibrium[1],
        )  # fmt: skip
        return [
            1e-3 * dynamics.first_order_kinetics(made),
            1e-2 * dynamics.autocatalytic_kinetics(made),
        ]  # fmt: skip

    yield "ParaHydrogen", state, [1.7, 6.3]
    yield "PlateFinHex", exchanger, [2.1, 1.7, 6.3, 7.1, 3.3]
    yield "first_order_kinetics", kinetics, [5.1, 2.3, 4.7, 0.6]
    yield "gnielinski_laminar", lambda x: [
        heat.gnielinski_laminar(100.0 * x[0], x[1], x[2], 1.0),
        heat.gnielinski_equation(x[3], 1e4 * x[0], x[1], x[4], x[2]),
        *np.ravel(heat.manglik_bergles_heat_transfer_model(1e3 * x[0], *x[5:])),
    ], [3.1, 0.9, 0.03, 0.02, 0.8, 0.4, 0.05, 0.1]  # fmt: skip


@package("exotics", "exotic options")
def exotics() -> Iterator[Case]:
    m = module("exotics.exotics")

    def barrier(solver: str, **options: Any) -> Any:
        def found(x: Any) -> Any:
            return m.barrierOpt(
                S0=x[0], K=x[1], H=130.0, T=x[2], r=x[3], q=x[4], sigma=x[5], solver=solver,
                **options,
            )  # fmt: skip

        return found

    def asian(x: Any) -> Any:
        names = ("S0", "K", "T", "r", "q", "sigma")
        given = dict(zip(names, x[:6], strict=True))
        return [
            m.asianOpt(**given, n_obs=12),
            m.asianOpt(**given, averaging_type="geometric", method="geometric_closed_form"),
            m.asianOpt(**given, n_obs=6, method="monte_carlo", n_paths=200, realized_avg=x[6],
                       n_realized=3),
        ]  # fmt: skip

    def cliquet(x: Any) -> Any:
        return m.cliquet(
            S0=x[0], r=x[1], q=x[2], sigma=x[3], T=x[4], local_floor=x[5], local_cap=x[6]
        )

    point = [101.3, 99.0, 0.3, 0.05, 0.02, 0.25]
    yield "barrierOpt, fdm", barrier("fdm", n_S=40, n_t=20), point
    yield "barrierOpt, american", barrier(
        "fdm", n_S=40, n_t=12, exercise_style="american", option_type="put"
    ), point  # fmt: skip
    yield "asianOpt", asian, [*point, 98.0]
    yield "cliquet", cliquet, [100.0, 0.05, 0.02, 0.2, 1.0, -0.01, 0.03]


@package("insurance-survival", "survival in insurance")
def insurance_survival() -> Iterator[Case]:
    m, pandas = module("insurance_survival.competing_risks.fine_gray"), module("pandas")
    metrics = module("insurance_survival.competing_risks.metrics")
    bounds = module("insurance_survival.mortality.bounds")
    spent = np.cos(2.1 * np.arange(12.0))
    ends = np.array([1.2, 2.7, 3.1, 4.4, 5.0, 6.3, 7.7, 8.2, 9.6, 10.1, 11.5, 12.9])
    kinds = np.array([1, 2, 1, 0, 1, 2, 1, 1, 0, 2, 1, 0])

    def fitted(x: Any) -> Any:
        frame = pandas.DataFrame({"T": ends, "E": kinds, "age": 0.3 * x, "sum": spent})
        made = m.FineGrayFitter(penaliser=1.0).fit(
            frame, fit_options={"ftol": 0.0, "gtol": 1e-11, "maxiter": 500}
        )
        rates = made.predict_cumulative_incidence(frame.iloc[:2], times=[3.5, 8.0])
        return [made.params_.to_numpy(), made.summary["se(coef)"].to_numpy(), rates.to_numpy()]

    def scored(x: Any) -> Any:
        found = metrics.competing_risks_brier_score(
            0.1 * x.reshape(12, 2), ends, kinds, ends + 0.3, kinds, np.array([4.0, 9.0])
        )
        whole = metrics.integrated_brier_score(
            0.1 * x.reshape(12, 2), ends, kinds, ends + 0.3, kinds, np.array([4.0, 9.0])
        )
        return [found.to_numpy(), whole]

    def bounded(x: Any) -> Any:
        made = bounds.LifetimeBoundsCalculator(x[:5], 65, discount_rate=x[5])
        income = made.annuity_bounds(0.3, x[6], of_one(lambda s: 1.0 + 0.1 * s), n_steps=41)
        death = made.death_benefit_bounds(0.3, x[6])
        return [income.upper, income.lower, 10.0 * death.upper, 10.0 * death.lower]

    yield "FineGrayFitter.fit", fitted, SERIES
    yield "competing_risks_brier_score", scored, LONG
    yield "LifetimeBoundsCalculator", bounded, [0.96, 0.95, 0.93, 0.9, 0.88, 0.04, 4.37]


@package("bezier-interpolation", "curves through points")
def bezier_interpolation() -> Iterator[Case]:
    m = module("bezier_interpolation")

    yield "cubic_interpolation", lambda x: m.cubic_interpolation(x.reshape(6, 2)), SERIES
    yield "quadratic_interpolation", lambda x: m.quadratic_interpolation(
        np.stack([np.arange(6.0), x[:6]], axis=1), x[6]
    ), [*SERIES[:6], 0.3]  # fmt: skip


@package("lattpy", "lattices of solids")
def lattpy() -> Iterator[Case]:
    m, spatial = module("lattpy"), module("lattpy.spatial")
    basis, paths = module("lattpy.basis"), module("lattpy.disptools")

    def built(x: Any) -> Any:
        made = m.Lattice.rectangular(x[0], x[1])
        made.add_atom([0.0, 0.0])
        made.add_atom([x[2] * x[0], x[3] * x[1]], atom="B")
        made.add_connections(1)
        made.build((3.1, 3.2))
        return [made.positions, made.center_of_gravity()]

    def reciprocal(x: Any) -> Any:
        made = basis.LatticeBasis(x[:9].reshape(3, 3))
        return [
            made.reciprocal_vectors(), made.cell_volume, made.norms, made.itransform(x[9:]),
            made.cell_size,
        ]  # fmt: skip

    def path(x: Any) -> Any:
        made = paths.DispersionPath(2)
        made.add([0.0, 0.0], "G").add(x[:2], "X").add(x[2:], "M").cycle()
        return [made.build(4), made.distances(), made.scales()]

    yield "Lattice.build", built, [1.1, 1.4, 0.4, 0.3]
    yield "reciprocal_vectors", reciprocal, [
        1.3, 0.2, 0.1, -0.3, 1.1, 0.4, 0.2, 0.15, 1.7, 0.4, 1.3, 0.9,
    ]  # fmt: skip
    yield "DispersionPath", path, [2.8, 0.1, 2.9, 3.1]
    yield (
        "compute_vectors",
        lambda x: spatial.compute_vectors(*x),
        [1.1, 1.4, 1.7, 80.0, 95.0, 70.0],
    )


@package("xsarsea", "winds from radar")
def xsarsea() -> Iterator[Case]:
    m, winds = module("xsarsea.detrend"), module("xsarsea.windspeed")
    xarray = module("xarray")
    formulas = module("xsarsea.windspeed.gmfs_impl")
    cmod, wide = formulas.gmf_cmod5_generic(neutral=True), formulas.gmf_rs2_v2

    def scattered(x: Any) -> Any:
        model = winds.get_model("gmf_cmod5n")
        return 10.0 * model(x[:3], x[3:6], x[6:], broadcast=True)

    def detrended(x: Any) -> Any:
        sigma = xarray.DataArray(0.01 * x.reshape(2, 3), dims=("line", "sample"))
        angle = xarray.DataArray(
            np.broadcast_to(np.linspace(30.0, 36.0, 3), (2, 3)), dims=("line", "sample")
        )
        return m.sigma0_detrend(sigma, angle, model="gmf_cmod5n").to_numpy()

    yield "gmf_cmod5n", scattered, [31.0, 35.0, 38.0, 7.0, 9.0, 12.0, 20.0, 75.0, 140.0]
    yield "gmf_cmod5_generic", lambda x: [10.0 * cmod(*x), 100.0 * wide(x[0], x[1])], [
        33.0, 8.3, 47.0,
    ]  # fmt: skip
    yield "sigma0_detrend", detrended, SERIES[:6]


@package("lossratio", "losses of insurance")
def lossratio() -> Iterator[Case]:
    m, pandas = module("lossratio"), module("pandas")
    cells = [(i, k) for i in range(5) for k in range(5 - i)]

    def triangle(x: Any) -> Any:
        return m.Triangle(pandas.DataFrame({
            "uy_m": [f"2024-{i + 1:02d}-01" for i, _ in cells],
            "cy_m": [f"2024-{i + k + 1:02d}-01" for i, k in cells],
            "loss_incr": x[:15], "premium_incr": 8.0 + 0.3 * np.arange(15.0) * x[15],
        }))  # fmt: skip

    def fitted(make: Callable[[], Any], names: list[str]) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            table = make().fit(triangle(x)).to_pandas()
            return np.nan_to_num(table[names].to_numpy(dtype=float))

        return result

    point = [*LONG[:15], 1.1]
    yield "CL.fit", fitted(m.CL, ["loss_proj"]), point
    yield "ED.fit", fitted(m.ED, ["loss_proj"]), point
    yield "Triangle", lambda x: triangle(x).to_pandas()[["loss", "lr", "lr_incr"]].to_numpy(), point


@package("kspaces", "mixtures of subspaces")
def kspaces() -> Iterator[Case]:
    m, em = module("kspaces.affine_subspace_"), module("kspaces.EM")
    selection = module("kspaces.model_selection_")
    steps: Any = np.arange(6.0)
    first = np.stack([steps, 0.4 * steps + 0.2 * np.cos(2.3 * steps)], axis=1)
    last = np.stack([4.0 - 0.3 * steps + 0.2 * np.sin(1.9 * steps), steps - 1.0], axis=1)
    cloud = [*np.concatenate([first, last]).ravel()]

    def spaces() -> Any:
        return [
            m.affine_subspace([[1.0, 0.4]], [2.5, 1.0], 0.4, [1.8], 0.5),
            m.affine_subspace([[-0.3, 1.0]], [3.2, 1.5], 0.5, [1.7], 0.5),
        ]

    def shown(found: Any) -> Any:
        return [
            part for one in found
            for part in (one.translation, np.reshape(one.sigma, (1,)), one.latent_sigmas)
        ]  # fmt: skip

    def fitted(x: Any) -> Any:
        points = x.reshape(12, 2)
        weights = em.E_step(points, spaces(), assignment="soft")
        return [weights[::4], *shown(em.M_step(spaces(), points, weights, False, False))]

    def mixed(x: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            found, _weights = em.run_EM(
                x.reshape(12, 2), [1, 1], init_spaces=spaces(), initializations=1, max_iter=3,
                tol=1e-9, silent=True,
            )  # fmt: skip
        return shown(found)

    def judged(x: Any) -> Any:
        points = x.reshape(12, 2)
        found = selection.total_log_likelihood(points, spaces())
        weights = em.E_step(points, spaces(), assignment="soft")
        return [found, selection.get_BIC(5, 12, found), 10.0 * selection.get_entropy(weights)]

    yield "E_step, M_step", fitted, cloud
    yield "run_EM", mixed, cloud
    yield "total_log_likelihood", judged, cloud


@package("gbeampro", "beams of lasers")
def gbeampro() -> Iterator[Case]:
    beams, elements = module("gbeampro.beam"), module("gbeampro.elements")
    systems, analysis = module("gbeampro.system"), module("gbeampro.analysis")

    def traced(x: Any) -> Any:
        made = systems.OpticalSystem()
        for one in (
            elements.Propagation(x[2]), elements.ThinLens(x[3]), elements.Propagation(x[4]),
            elements.InterfaceCurved(1.0, 1.5, x[5]), elements.Propagation(3.3),
        ):  # fmt: skip
            made.add(one)
        path = made.trace(beams.GaussBeam.from_waist(x[0], x[1]), dz=5.0)
        return [[one.w_mm, 1e-2 * one.q.real, 1e-2 * one.q.imag] for one in path[1:]]

    def resonated(x: Any) -> Any:
        beam = beams.GaussBeam(wl_um=x[0], w_mm=x[1], R_mm=x[2])
        found = elements.CurvedMirrorTan(x[3], x[4]).apply(beam)
        other = elements.CurvedMirrorSag(x[3], x[4]).apply(beam)
        return [1e-2 * found.R_mm, found.w_mm, 1e-2 * other.R_mm, 1e3 * found.theta]

    def lost(x: Any) -> Any:
        beam = beams.GaussBeam(wl_um=x[0], w_mm=x[1], R_mm=x[2])
        after = analysis.beam_at([beam], x[3])
        return [
            analysis.aperture_loss(after, x[4], beam), 1e-3 * analysis.rayleigh_range(after),
            1e-3 * analysis.confocal_parameter(beam),
        ]  # fmt: skip

    yield "OpticalSystem.trace", traced, [1.03, 0.6, 103.0, 81.0, 64.0, 43.0]
    yield "CurvedMirrorTan.apply", resonated, [1.03, 0.6, 240.0, 100.0, 12.0]
    yield "aperture_loss", lost, [1.03, 0.6, 240.0, 31.0, 0.7]


@package("calc-pe", "energy of carbon capture")
def calc_pe() -> Iterator[Case]:
    m, pyiast, pandas = module("calc_pe"), module("pyiast"), module("pandas")
    pressures = np.array([1e3, 5e3, 2e4, 6e4, 1.2e5, 2e5])
    carbon = 3.4 * pressures / (2e4 + pressures)
    nitrogen = 1.1 * pressures / (4e5 + pressures)

    def isotherm(loading: Any) -> Any:
        frame = pandas.DataFrame({"pressure(Pa)": pressures, "loading(mol/kg)": loading})
        return pyiast.InterpolatorIsotherm(
            frame, loading_key="loading(mol/kg)", pressure_key="pressure(Pa)", fill_value=5.0
        )

    def heats(first: Any, last: Any) -> Any:
        return {
            "CO_2": pandas.DataFrame({"pressure(Pa)": pressures, "HoA(kJ/mol)": [first] * 6}),
            "N_2": pandas.DataFrame({"pressure(Pa)": pressures, "HoA(kJ/mol)": [last] * 6}),
        }

    cold = {"CO_2": isotherm(carbon), "N_2": isotherm(nitrogen)}
    hot = {"CO_2": isotherm(0.2 * carbon), "N_2": isotherm(0.4 * nitrogen)}

    def total(x: Any) -> Any:
        found = m.totalPE(
            1e5 * x[0], 1e4 * x[1], 313.0, 100.0 * x[2], 0.14, 0.95, cold, hot, 1000.0 * x[3],
            1000.0 * x[4], 0.35, "carnot", {}, {}, heats(x[5], x[6]),
        )  # fmt: skip
        return [1e-5 * one for one in found[:6]] + [0.1 * found[6], found[7]]

    def loaded(x: Any) -> Any:
        own = {"CO_2": isotherm(x[:6]), "N_2": isotherm(x[6:])}
        found = m.totalQ(
            313.0, 390.0, 1.01e5, 3.1e4, 0.14, 0.95, own, hot, 985.0, 0.35, 800.0, {}, {},
            heats(-35.0, -15.0),
        )  # fmt: skip
        return [1e-5 * found[0], 1e-5 * found[1], 0.1 * found[3], found[4]]

    yield "totalPE", total, [1.01, 3.1, 3.9, 0.985, 0.8, -35.0, -15.0]
    yield "totalQ", loaded, [*carbon, *nitrogen]
    yield "totalWcomp", lambda x: 1e-6 * m.totalWcomp(1e4 * x[0], x[1]), [3.1, 0.93]


@package("itu-r-468-weighting", "weighting of noise")
def itu_r_468() -> Iterator[Case]:
    m = module("itu_r_468_weighting.filter")

    yield "r468, dB", lambda x: [
        0.1 * m.r468(1e3 * one, "1khz", "db") for one in x
    ], [0.3, 1.4, 5.7, 9.3, 17.0]  # fmt: skip
    yield "r468, factor", lambda x: [
        m.r468(1e3 * one, "2khz", "factor") for one in x
    ], [0.3, 1.4, 5.7, 9.3, 17.0]  # fmt: skip


@package("patch-antenna", "design of antennas")
def patch_antenna() -> Iterator[Case]:
    m = module("patch_antenna")

    def designed(x: Any) -> Any:
        found = m.design_result(1e9 * x[0], x[1], 1e-3 * x[2])
        lengths = (
            found.patch_width, found.patch_length, found.feeder_length, found.inset_length,
            found.ground_width,
        )  # fmt: skip
        return [100.0 * one for one in lengths] + [0.01 * found.edge_impedance]

    def conductance(x: Any) -> Any:
        made = m.design(1e9 * x[0], x[1], 1e-3 * x[2])
        return [1e3 * made.getG1(), made.e_eff, 1e3 * made.delta_l, made.J0(x[3])]

    yield "design_result", designed, [2.4, 4.4, 1.6]
    yield "design.getG1", conductance, [5.8, 2.2, 0.8, 1.3]


@package("opender", "inverters of solar power")
def opender() -> Iterator[Case]:
    m = module("opender")

    def plant(**options: Any) -> Any:
        return m.DER_PV(m.DERCommonFileFormat(
            NP_P_MAX=100000, NP_VA_MAX=110000, NP_Q_MAX_INJ=48400, NP_Q_MAX_ABS=48400,
            NP_P_MAX_OVER_PF=95000, NP_P_MAX_UNDER_PF=95000, **options,
        ))  # fmt: skip

    def run(made: Any, power: Any, volts: Any, hertz: Any) -> Any:
        made.update_der_input(p_dc_kw=power, v_pu=volts, f=hertz)
        made.run()
        return [1e-4 * made.p_out_w, 1e-4 * made.q_out_var]

    def watts(x: Any) -> Any:
        return run(plant(QV_MODE_ENABLE="ENABLED", PV_MODE_ENABLE="ENABLED"), *x)

    def droop(x: Any) -> Any:
        made = plant(CONST_PF_MODE_ENABLE="ENABLED", CONST_PF=0.93)
        return run(made, *x)

    def stepped(x: Any) -> Any:
        made = plant(QV_MODE_ENABLE="ENABLED", QV_OLRT=x[3])
        found: list[Any] = []
        step, m.DER.t_s = m.DER.t_s, 1.0
        try:
            for one in range(4):
                found += run(made, x[0], x[1] - 0.003 * one, x[2])
        finally:
            m.DER.t_s = step
        return found

    yield "DER_PV.run, voltage", watts, [71.0, 1.043, 60.01]
    yield "DER_PV.run, frequency", droop, [71.0, 0.99, 60.31]
    yield "DER_PV.run, steps", stepped, [71.0, 1.043, 60.01, 5.0]


@package("rayflare", "light in solar cells")
def rayflare() -> Iterator[Case]:
    m, options = module("rayflare.transfer_matrix_method"), module("rayflare.options")
    solcore, layer = module("solcore"), module("solcore.structure").Layer
    air, cell = solcore.material("Air")(), solcore.material("GaAs")(T=300)
    cover = solcore.material("MgF2")()

    def chosen(x: Any, pol: str) -> Any:
        made = options.default_options()
        made.wavelength = 1e-7 * x[:3]
        made.theta_in, made.pol, made.coherent = x[3], pol, True
        return made

    def stacked(pol: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = m.tmm_structure(
                [layer(1e-7 * x[4], cover), layer(1e-7 * x[5], cell)],
                incidence=air,
                transmission=air,
            )
            found = made.calculate(chosen(x, pol))
            return [np.asarray(found[one]) for one in ("R", "T", "A_per_layer")]

        return result

    def profiled(x: Any) -> Any:
        made = m.tmm_structure([layer(1e-7 * x[4], cell)], incidence=air, transmission=air)
        given = chosen(x, "p")
        given.depth_spacing = 2e-8
        found = made.calculate(given, profile=True, layers=[1])
        return 100.0 * np.asarray(found["profile"])

    point = [4.13, 5.37, 6.71, 0.4, 0.93, 1.31]
    yield "tmm_structure.calculate, s", stacked("s"), point
    yield "tmm_structure.calculate, u", stacked("u"), point
    yield "tmm_structure.calculate, profile", profiled, [*point[:4], 1.31]


@package("orbital-thermal", "radiators in orbit")
def orbital_thermal() -> Iterator[Case]:
    cases, bounds = (
        module("orbital_thermal.mccalip_replication"), module("orbital_thermal.bounds")
    )  # fmt: skip
    m, balanced = module("orbital_thermal.coupled_model"), module("orbital_thermal.equilibrium")
    shared = module("orbital_thermal.harmonized_comparison")

    def priced(x: Any) -> Any:
        names = ("solarAbsorptivity", "emissivityPV", "emissivityRad", "pvEfficiency", "betaAngle",
                 "orbitalAltitudeKm", "launchCostPerKg")  # fmt: skip
        found = cases.run_case(dict(zip(names, x, strict=True)))
        return [
            0.01 * found["thermal"]["eqTempK"], 1e-6 * found["thermal"]["areaRequiredM2"],
            0.1 * found["orbital"]["costPerW"], 0.01 * found["orbital"]["lcoe"],
            1e-3 * found["breakeven_launch_cost_per_kg"],
        ]  # fmt: skip

    def coldest(x: Any) -> Any:
        return [
            0.01 * bounds.nonzero_sink_optimum(100.0 * x[0], 100.0 * x[1], tol=1e-12),
            bounds.optimal_cold_fraction(x[2], tol=1e-15),
        ]

    def radiated(x: Any) -> Any:
        spec = m.RadiatorSpec(
            (m.RadiatorFace(1.0, 100.0 * x[0]), m.RadiatorFace(0.9, 100.0 * x[1])),
            x[2], "C1",
        )  # fmt: skip
        return [
            0.01 * m.radiator_temperature(1e3 * x[3], x[4], spec),
            m.radiator_area(1e3 * x[3], 340.0, spec),
            0.01 * balanced.equilibrium_temperature(1e3 * x[3], x[4], x[2], 100.0 * x[0]),
        ]

    def harmonized(x: Any) -> Any:
        around = shared.harmonized_environment(x[0], 100.0 * x[1], x[2])
        found = shared.harmonized_balance("own", x[3], x[4], 1, 100.0 * x[5], around)
        return [1e-3 * found.emitted_W_m2, 0.01 * found.earth_ir_absorbed_W_m2,
                1e-3 * found.net_rejection_W_m2]  # fmt: skip

    yield "run_case", priced, [0.92, 0.85, 0.9, 0.22, 63.0, 551.0, 510.0]
    yield "nonzero_sink_optimum", coldest, [6.0, 2.2, 0.8]
    yield "radiator_temperature", radiated, [2.1, 2.3, 0.86, 1.7, 3.1]
    yield "harmonized_balance", harmonized, [47.0, 5.6, 21.0, 0.9, 0.3, 3.3]


@package("fram", "activation of T cells")
def fram() -> Iterator[Case]:
    chains, asymptotics = module("fram.chain"), module("fram.asymptotics")
    closed = module("fram.closed_form")

    def chain(x: Any) -> Any:
        return chains.Chain(nKP=3, kp=x[0], kd=x[1], k1=x[2])

    def passage(x: Any) -> Any:
        made = chain(x)
        times = np.array([0.4, 1.1, 2.7])
        return [
            chains.F(times, made), chains.cdf_min(times, 5.0, made),
            chains.log_survival_spectral(times, made),
        ]  # fmt: skip

    def weibull(x: Any) -> Any:
        made = chain(x)
        return [
            asymptotics.weibull_quantile(np.array([0.2, 0.7]), x[3], made),
            asymptotics.short_time_F(np.array([0.05, 0.1]), made),
            asymptotics.weibull_cdf(np.array([0.2, 0.4]), x[3], made),
        ]  # fmt: skip

    def retried(x: Any) -> Any:
        law = closed.RetryLaw.from_chain(chain(x))
        return [
            closed.F1(np.array([0.4, 1.1, 2.7]), law),
            closed.cdf_min_new(np.array([0.4, 0.9]), 5.0, law),
        ]

    yield "Chain, F", passage, [1.2, 0.8, 1.5]
    yield "quantile_min", lambda x: chains.quantile_min(x[3], 5.0, chain(x)), [1.2, 0.8, 1.5, 0.4]
    yield "weibull_quantile", weibull, [1.2, 0.8, 1.5, 6.3]
    yield "F1", retried, [1.2, 0.8, 1.5]


@package("chaos4", "snap of chaotic systems")
def chaos4() -> Iterator[Case]:
    m = module("chaos4.integrators.solver")

    def solved(method: str) -> Any:
        def found(x: Any) -> Any:
            def snap(place: Any, speed: Any, rate: Any, jerk: Any, time: Any) -> Any:
                return -x[4] * jerk - x[5] * rate - x[6] * speed - place**2 + 0.1 * np.sin(time)

            return m.Solver(snap).solve(x[:4], (0.0, 2.0), 0.1, method=method)[1][::4]

        return found

    point = [0.4, -0.2, 0.3, 0.1, 0.7, 1.8, 0.9]
    yield "Solver.solve, rk4", solved("rk4"), point
    yield "Solver.solve, symplectic", solved("symplectic"), point


@package("acycle", "cycles in strata")
def acycle() -> Iterator[Case]:
    m = module("acyclePy.acycle")

    def series(x: Any) -> Any:
        return m.Series(0.5 * np.arange(float(len(x))), x)

    def spectral(x: Any) -> Any:
        found = series(x).spectral(method="mtm", nw=2, n_tapers=3)
        return found.power

    def whitened(x: Any) -> Any:
        found = series(x[:24]).prewhiten(rho=x[24])
        return [found.y, found.spectral(method="periodogram").power]

    def resampled(x: Any) -> Any:
        made = series(x).interpolate(0.7).standardize()
        return [made.y, made.derivative(1).y]

    def aged(x: Any) -> Any:
        found = m.sedrate_to_age_model(np.arange(12.0), x)
        return np.asarray(found.age if hasattr(found, "age") else found["age"])

    yield "Series.spectral", spectral, LONG
    yield "Series.prewhiten", whitened, [*LONG, 0.4]
    yield "Series.interpolate", resampled, LONG
    yield "sedrate_to_age_model", aged, SERIES


@package("continuum-mechanics", "waves in crystals")
def continuum_mechanics() -> Iterator[Case]:
    m, views = module("continuum_mechanics.tensor"), module("continuum_mechanics.visualization")

    def stiffness(x: Any) -> Any:
        made = np.zeros((6, 6))
        made[np.triu_indices(6)] = 0.1 * x[:21]
        return made + made.T + 5.0 * np.eye(6)

    def directed(x: Any) -> Any:
        made = m.christ_stiff(stiffness(x), x[21:24])
        return [made, np.linalg.eigvalsh(made)]

    def seen(x: Any) -> Any:
        return views.christofel_eig(stiffness(x), 3, 4)[0]

    yield "christ_stiff", directed, LONG
    yield "christofel_eig", seen, LONG[:21]


@package("wuads", "design of aircraft")
def wuads() -> Iterator[Case]:
    m, os = module("WUADS.aircraft"), module("os.path")
    conditions, logging = module("WUADS.flight_conditions"), module("logging")
    logging.getLogger("WUADS").setLevel("ERROR")
    scratch = module("tempfile").gettempdir()
    file = os.join(os.dirname(m.__file__), "assets", "737-800.yml")

    def loaded() -> Any:
        with contextlib.chdir(scratch):  # it makes a folder for its reports
            return m.Aircraft(file)

    def changed(*names: tuple[str, str]) -> Any:
        def found(x: Any) -> Any:
            made = loaded()
            made.reference_weight = 170000.0
            made.update_component([(*name, value) for name, value in zip(names, x, strict=True)])
            return [
                1e-4 * made.weight_takeoff, 1e-4 * made.weight_empty, 100.0 * made.cd0,
                0.01 * made.cg[0],
            ]  # fmt: skip

        return found

    def dragged(x: Any) -> Any:
        made = loaded()
        return [100.0 * made.get_cd0(1e4 * x[0], x[1])[0]]

    def flown(x: Any) -> Any:
        made = conditions.FlightConditions(1e4 * x[0], x[1])
        return [0.01 * made.q, 0.01 * made.temperature, 1e-3 * made.velocity, 1e6 * made.mu]

    yield "Aircraft.update_component, wing", changed(
        ("Main Wing", "span"), ("Main Wing", "sweep")
    ), [112.0, 26.0]  # fmt: skip
    yield "Aircraft.update_component, fuselage", changed(
        ("Fuselage", "length"), ("Fuselage", "width")
    ), [125.0, 12.3]  # fmt: skip
    yield "Aircraft.get_cd0", dragged, [3.1, 0.71]
    yield "FlightConditions", flown, [2.3, 0.6]


@package("pyfinmod", "models of finance")
def pyfinmod() -> Iterator[Case]:
    m, cost, pandas = module("pyfinmod.basic"), module("pyfinmod.wacc"), module("pandas")
    dates = pandas.to_datetime(["2020-01-01", "2020-07-03", "2021-02-11", "2021-11-30"])
    years = pandas.to_datetime(["2020-12-31", "2019-12-31", "2018-12-31"])

    def present(x: Any) -> Any:
        frame = pandas.DataFrame({"cash flow": [-10.0 * x[0], *x[1:4]], "date": dates})
        return [m.npv(frame, x[4]), *m.irr(frame, 0.1)]

    def paid(x: Any) -> Any:
        found = m.flat_payments(100.0 * x[0], x[1], 5, period="quarter")
        return [0.01 * found["interest"].to_numpy(), 0.01 * m.fv([*x[2:]], x[1], period="month")]

    def weighted(x: Any) -> Any:
        balance = pandas.DataFrame(
            [x[:3], x[3:6]], index=["Long-term debt", "Short-term debt"], columns=years
        )
        income = pandas.DataFrame(
            [x[6:9] + 5.0, 0.2 * x[6:9], -0.1 * x[6:9]],
            index=["Earnings before Tax", "Income Tax Expense", "Interest Expense"], columns=years,
        )  # fmt: skip
        return cost.wacc(10.0 * x[9], balance, income, x[10] / 4.0, 0.02, 0.08)

    yield "npv, irr", present, [1.0, 3.2, 4.4, 5.1, 0.07]
    yield "flat_payments", paid, [2.4, 0.06, 11.0, 9.0, 12.5]
    yield "wacc", weighted, SERIES


@package("rational-rc", "decay of concrete")
def rational_rc() -> Iterator[Case]:
    corrosion, cracking = module("rational_rc.corrosion"), module("rational_rc.cracking")
    helper = module("rational_rc.math_helper")

    def cracked(x: Any) -> Any:
        rebar, cover = np.array([0.008, 0.0075]) * x[0], np.array([0.045, 0.05]) * x[1]
        start = rebar + (x[2] - 1.0) * 1e-5 * x[3]
        grid = start[:, None] + (cover + rebar - start)[:, None] * np.array([0.05, 0.3, 0.6, 0.95])
        found = cracking.strain_stress_crack_f(
            grid, rebar, np.array([1e-5, 0.9e-5]) * x[3], cover, np.array([3.1, 3.3]) * x[4],
            np.array([3.1e4, 3.2e4]), 0.45, np.array([x[2], x[2] + 0.1]),
        )  # fmt: skip
        return [1e3 * found[0], found[1], 1e4 * found[2]]

    def corroded(x: Any) -> Any:
        return [
            corrosion.icorr_base(1e2 * x[0], 1e2 * x[1], x[2], x[3]),
            1e2 * corrosion.icorr_to_mmpy(x[2]),
            1e-2 * corrosion.theta2rho_fun(0.05 * x[2], 18.71, -1.5),
        ]  # fmt: skip

    yield "strain_stress_crack_f", cracked, [1.0, 1.1, 2.9, 1.2, 1.05]
    yield "icorr_base", corroded, [2.1, 2.93, 0.8, 0.04]
    yield "interp_extrap_f", lambda x: helper.interp_extrap_f(
        np.arange(6.0), x[:6], x[6:], plot=False
    ), [2.0, 5.1, 1.2, 7.3, 3.5, 4.4, 1.4, 3.6, 5.7]  # fmt: skip


@package("gplib", "Gaussian processes")
def gplib() -> Iterator[Case]:
    m, kernels = module("gplib.gaussian_process"), module("gplib.kernel_functions")
    means = module("gplib.mean_functions")
    places: Any = np.linspace(0.0, 5.0, 6)[:, None] + 0.1 * np.cos(np.arange(6.0))[:, None]
    values = np.sin(1.3 * places) + 0.5
    targets = np.array([[0.7], [2.2], [4.4]])

    def process(kernel: Any, noise: Any) -> Any:
        made = m.GaussianProcess(means.Constant(mean=0.3), kernel)
        made.set_param_values([*made.get_param_values()[:-1], noise])
        return made

    def predicted(x: Any) -> Any:
        made = process(kernels.SquaredExponential(ov2=x[0], ls=[x[1]]), x[2])
        data = {"X": x[3:9].reshape(6, 1), "Y": x[9:].reshape(6, 1)}
        return [*made.get_posterior(data).predict(targets)]

    def likely(x: Any) -> Any:
        made = process(kernels.Matern52(ov2=x[0], ls=[x[1]]), x[2])
        data = {"X": places, "Y": x[3:].reshape(6, 1)}
        return [np.ravel(made.get_log_likelihood(data)), np.ravel(made.get_log_loocv_density(data))]

    def drawn(x: Any) -> Any:
        np.random.seed(3)  # noqa: NPY002  the package draws from these numbers
        made = process(kernels.RationalQuadratic(ov2=x[0], ls=[x[1]]), x[2])
        data = {"X": places, "Y": x[3:].reshape(6, 1)}
        return made.get_posterior(data).sample(targets, n_samples=2)

    yield "GaussianProcess.predict", predicted, [1.2, 0.9, 0.3, *places.ravel(), *values.ravel()]
    yield "get_log_likelihood", likely, [1.2, 0.9, 0.3, *values.ravel()]
    yield "GaussianProcess.sample", drawn, [1.2, 0.9, 0.3, *values.ravel()]


@package("fnc-python", "numerical computation")
def fnc_python() -> Iterator[Case]:
    m = module("FNC")

    def bound(x: Any) -> Any:
        start = xp.linspace(x[0], x[1], 9)
        return m.bvp(
            of_three(lambda t, u, du: x[2] * u**2 - x[3] * du + np.sin(t)),
            [0.0, 1.5],
            [x[0]],
            [],
            [x[1]],
            [],
            start,
        )[1]

    def element(x: Any) -> Any:
        found = m.fem(
            of_one(lambda t: 1.0 + x[0] * t),
            of_one(lambda t: x[1] + 0.0 * t),
            of_one(lambda t: np.sin(x[2] * t)),
            0.0,
            1.0,
            7,
        )[1]
        linear = m.bvplin(
            of_one(lambda t: x[0] * t),
            of_one(lambda t: x[1] + 0.0 * t),
            of_one(lambda t: np.cos(x[2] * t)),
            [0.0, 1.0],
            x[3],
            0.4,
            7,
        )[1]
        return [10.0 * found, linear]

    def stepped(x: Any) -> Any:
        def hunted(t: Any, u: Any) -> Any:  # noqa: ARG001  the package passes it
            prey, hunter = u
            return np.array([x[0] * prey - x[1] * prey * hunter, prey * hunter - x[2] * hunter])

        return [
            m.rk4(hunted, [0.0, 2.0], x[3:], 12)[1],
            m.rk23(hunted, [0.0, 2.0], x[3:], 1e-3)[1][:, -1],
        ]  # fmt: skip

    def fitted(x: Any) -> Any:
        spline = m.spinterp(np.array([0.0, 0.7, 1.9, 2.8, 4.0, 4.9]), x[:6])
        places = np.array([0.4, 1.1, 3.3])
        solution, left = m.arngmres(x[8:24].reshape(4, 4) + 9.0 * np.eye(4), x[:4], 3)
        return [spline(places), m.lsnormal(x[:12].reshape(4, 3), x[12:16]), solution, left]

    yield "bvp", bound, [0.4, 1.1, 0.6, 0.8]
    yield "fem", element, [1.2, 0.7, 0.9, 0.4]
    yield "rk23", stepped, [1.1, 0.6, 0.8, 1.4, 0.7]
    yield "spinterp, arngmres", fitted, LONG


@package("stellar-occultations", "shadows of small bodies")
def stellar_occultations() -> Iterator[Case]:
    m = module("stellar_occultations.stellar_occultations")
    grid = np.arange(16.0) - 7.5
    hole = np.hypot(grid[:, None] + 0.3, grid[None, :] - 0.2)

    def diffracted(x: Any) -> Any:
        pupil = 1.0 / (1.0 + np.exp(-(hole - x[2]) / x[3]))
        return m.fresnel(pupil, 16, 1e4 * x[0], 1e12 * x[1], 6e-7)[4:12, 5:9]

    def scaled(x: Any) -> Any:
        return [
            1e-3 * m.calculate_fresnel_scale(1e-7 * x[0], 1e12 * x[1]),
            1e-4 * m.calculate_plane(1e3 * x[2], 1e-7 * x[0], x[3]),
            *m.cart2pol(x[4], x[5]), *m.pol2cart(x[4], x[5]), m.SNR_TAOS2(10.0 * x[6]),
        ]  # fmt: skip

    yield "fresnel", diffracted, [1.1, 6.3, 4.2, 0.8]
    yield "calculate_fresnel_scale", scaled, [6.1, 6.3, 2.7, 43.0, 0.7, 1.2, 1.13]


@package("gwtf", "recharge of groundwater")
def gwtf() -> Iterator[Case]:
    m, mcr, pandas = module("gwtf"), module("gwtf.mcr"), module("pandas")
    days = pandas.date_range("2020-01-01", periods=24, freq="D")

    def recession(x: Any) -> Any:
        made = mcr.MCR()
        series = pandas.Series(x[2:], index=days)
        return [made.estimate_dhdt(series, x[0], x[1]).to_numpy(), made.get_dhdt(series).to_numpy()]

    def recharged(x: Any) -> Any:
        made = m.Model(pandas.Series(x[1:], index=days), name="well")
        return np.nan_to_num(made.estimate_recharge(sy=x[0]).to_numpy(dtype=float))

    def extrapolated(x: Any) -> Any:
        made = m.Model(pandas.Series(x[2:], index=days), name="well", mcr=mcr.MCR())
        made.mcr.parameters.optimal = x[:2]
        return np.nan_to_num(made.estimate_recharge(sy=0.2).to_numpy(dtype=float))

    yield "MCR.estimate_dhdt", recession, [0.2, 0.1, *LONG]
    yield "Model.estimate_recharge", recharged, [0.2, *LONG]
    yield "Model.estimate_recharge, MCR", extrapolated, [0.2, 0.1, *LONG]


@package("mixscatter", "scattering of mixtures")
def mixscatter() -> Iterator[Case]:
    mixtures = module("mixscatter.mixture.mixture")
    liquids = module("mixscatter.liquidstructure.liquidstructure")
    models, core = module("mixscatter.scatteringmodel.scatteringmodel"), module("mixscatter.core")
    wave = np.array([0.007, 0.013, 0.024, 0.04])

    def mixture(x: Any) -> Any:
        return mixtures.Mixture(radius=100.0 * x[:2], number_fraction=[x[2], 1.0 - x[2]])

    def measured(x: Any) -> Any:
        made = mixture(x)
        liquid = liquids.PercusYevick(wave, made, x[3])
        model = models.SimpleSphere(wave, made, contrast=x[4])
        return [
            1e-14 * core.measurable_intensity(liquid, model),
            core.measurable_structure_factor(liquid, model), liquid.average_structure_factor,
        ]  # fmt: skip

    def hard(x: Any) -> Any:
        liquid = liquids.VerletWeis(wave, mixture(x), x[3])
        return [liquid.compressibility_structure_factor, liquid.partial_structure_factor]

    def layered(x: Any) -> Any:
        made = mixtures.SingleComponent(100.0 * x[1])
        shell = models.Particle([
            models.ConstantProfile(0.0, 100.0 * x[0], x[2]),
            models.LinearProfile(100.0 * x[0], 100.0 * x[1], x[2], x[3]),
        ])  # fmt: skip
        model = models.ScatteringModel(wave, made, [shell])
        return [
            1e-14 * model.average_square_amplitude, model.average_form_factor,
            1e8 * core.measurable_diffusion_coefficient(model, 4.1e-21, 1e-3),
        ]  # fmt: skip

    yield "PercusYevick", measured, [1.0, 1.4, 0.6, 0.35, 1.2]
    yield "VerletWeis", hard, [1.0, 1.4, 0.6, 0.35]
    yield "ScatteringModel", layered, [0.8, 1.3, 1.1, 0.4]
    yield "FlorySchulzMixture", lambda x: [
        0.01 * (made := mixtures.FlorySchulzMixture(4, 100.0 * x[0], x[1])).radius,
        made.number_fraction, 1e-4 * made.central_moment(2),
    ], [1.1, 23.0]  # fmt: skip


@package("py-vallocation", "portfolios of assets")
def py_vallocation() -> Iterator[Case]:
    moments, bayes = module("pyvallocation.moments"), module("pyvallocation.bayesian")
    project = module("pyvallocation.utils.projection")

    def shrunk(x: Any) -> Any:
        returns = x.reshape(8, 3)
        mean, cov = moments.estimate_sample_moments(returns, np.full(8, 0.125))
        return [
            moments.shrink_mean_jorion(mean, cov, 8),
            moments.shrink_covariance_oas(returns, assume_centered=False),
            moments.shrink_covariance_ledoit_wolf(returns, cov, "constant_correlation"),
        ]  # fmt: skip

    def updated(x: Any) -> Any:
        returns = x.reshape(8, 3)
        made = bayes.NIWPosterior(np.array([4.0, 3.0, 5.0]), np.diag([2.0, 3.0, 2.5]), 5, 8)
        made.update(returns.mean(axis=0), np.cov(returns.T), 8)
        return [made.get_mu_ce(), made.get_sigma_ce(), made.get_S_mu(), made.cred_radius_mu(0.9)]

    def robust(x: Any) -> Any:
        return moments.robust_covariance_tyler(x.reshape(8, 3), shrinkage=0.2, tol=1e-13,
                                               max_iter=2000)  # fmt: skip

    def projected(x: Any) -> Any:
        half = x[3:].reshape(3, 3) + np.eye(3)
        mean, cov = project.project_mean_covariance(0.1 * x[:3], 0.02 * half @ half.T, 12)
        return [*project.log2simple(mean, cov), *project.simple2log(0.1 * x[:3], 0.02 * cov)]

    yield "shrink_covariance_ledoit_wolf", shrunk, LONG
    yield "NIWPosterior", updated, LONG
    yield "robust_covariance_tyler", robust, LONG
    yield "log2simple", projected, [
        0.3, 0.5, 0.2, 0.1, 0.2, -0.1, 0.3, 0.15, 0.05, -0.2, 0.1, 0.25,
    ]  # fmt: skip


@package("mnpbem-misc", "algebra of fields")
def mnpbem_misc() -> Iterator[Case]:
    m, vector = module("mnpbem_misc.linalg"), module("mnpbem_misc.vector")
    units = module("mnpbem_misc.units")

    def crossed(x: Any) -> Any:
        first, last = x[:12].reshape(4, 3), x[12:].reshape(4, 3)
        return [m.matcross(first, last), m.inner(first, last, x[:4]), m.outer(first, last[:, 0])]

    def normal(x: Any) -> Any:
        return [
            vector.vecnormalize(x[:12].reshape(4, 3), x[12:].reshape(4, 3)),
            vector.vecnorm(x[:12].reshape(4, 3)), units.ev_to_nm(x[:3]) / 100.0,
        ]  # fmt: skip

    yield "matcross, inner", crossed, LONG
    yield "vecnormalize", normal, LONG


@package("eprsim", "resonance of electrons")
def eprsim() -> Iterator[Case]:
    m = module("EPRsim.Tools")
    field = np.linspace(335.0, 345.0, 24)

    def broadened(x: Any) -> Any:
        gaussian = m.convolution_G(x[0], field, x[2:])
        return m.normalize2area(0.1 * m.convolution_L(x[1], field, gaussian), 0)

    def rotated(x: Any) -> Any:
        return m.tensor_rotation(np.diag(x[:3]) + 0.1, m.Eulermatrix(*x[3:]))

    yield "convolution_L", broadened, [1.3, 0.9, *LONG]
    yield "modulation_amplitude", lambda x: m.modulation_amplitude(x[0], field, x[1:]), [0.7, *LONG]
    yield "tensor_rotation", rotated, [2.1, 2.3, 2.7, 0.4, 0.7, 1.1]
    yield "GHz2mT", lambda x: [0.01 * m.GHz2mT(x[0], x[1]), m.mT2GHz(100.0 * x[2], x[1])], [
        9.6, 2.003, 3.4,
    ]  # fmt: skip


@package("aeroprop-x", "nozzles of rockets")
def aeroprop_x() -> Iterator[Case]:
    gas, moc = module("aeroprop_x.gasdynamics"), module("aeroprop_x.moc")
    nozzle, performance = module("aeroprop_x.nozzle"), module("aeroprop_x.performance")

    def designed(x: Any) -> Any:
        found = moc.design_min_length_nozzle(x[0], gamma=x[1], n_characteristics=6)
        return [np.array(found.wall), found.theta_max]

    def evaluated(x: Any) -> Any:
        found = performance.evaluate(
            exit_mach=x[0], p0=1e6 * x[1], pa=1e5 * x[2], gamma=x[3], R=100.0 * x[4],
            T0=1e3 * x[5], throat_area=x[6],
        )  # fmt: skip
        return [
            found.c_f, 1e-3 * found.c_star, 1e-2 * found.isp_s, 1e-4 * found.thrust,
            0.1 * found.expansion_ratio, 1e-3 * found.exit_temperature,
        ]  # fmt: skip

    def belled(x: Any) -> Any:
        made = nozzle.rao_bell(
            x[0], gamma=x[1], throat_radius=x[2], percent_length=x[3], theta_n_deg=x[4],
            theta_e_deg=x[5], n_points=20,
        )  # fmt: skip
        return [made.x, made.y]

    yield "design_min_length_nozzle", designed, [2.4, 1.38]
    yield "evaluate", evaluated, [3.1, 5.2, 0.9, 1.22, 3.4, 3.3, 0.02]
    yield "rao_bell", belled, [3.1, 1.25, 0.4, 0.8, 31.0, 9.0]
    yield "GasState", lambda x: [
        gas.inverse_prandtl_meyer(x[0], x[2]), gas.mach_from_area_ratio(x[1], x[2], True),
        gas.mach_from_area_ratio(x[1], x[2], False),
    ], [0.4, 3.3, 1.3]  # fmt: skip


@package("opensatcom", "links to satellites")
def opensatcom() -> Iterator[Case]:
    models, engine = module("opensatcom.core.models"), module("opensatcom.link.engine")
    antenna, cascade = module("opensatcom.antenna.cosine"), module("opensatcom.rf.cascade")
    composite = module("opensatcom.propagation.composite")
    fspl = module("opensatcom.propagation.fspl")
    rain, gas = module("opensatcom.propagation.rain"), module("opensatcom.propagation.gas")
    beam, beamset = module("opensatcom.payload.beam"), module("opensatcom.payload.beamset")
    noise = module("opensatcom.payload.interference")
    slant = module("opensatcom.geometry.slant")

    def paths(vapor: Any, drops: Any) -> Any:
        return composite.CompositePropagation([
            fspl.FreeSpacePropagation(), gas.GaseousAbsorptionP676(vapor),
            rain.RainAttenuationP618(0.99, rain_rate_mm_per_hr=drops),
        ])  # fmt: skip

    def scenario(freq: Any) -> Any:
        return models.Scenario("down", "downlink", freq, 36e6, "RHCP", "ebn0_db", 6.0)

    ground = models.Terminal("dish", 47.0, 8.0, 400.0, 120.0)
    craft = models.Terminal("craft", 0.0, 10.0, 550e3)

    def linked(x: Any) -> Any:
        inputs = models.LinkInputs(
            craft, ground, scenario(1e9 * x[0]), antenna.CosineRolloffAntenna(x[1], 60.0),
            antenna.CosineRolloffAntenna(x[2], 50.0), paths(x[3], x[4]),
            models.RFChainModel(x[5], 1.0, 80.0),
        )  # fmt: skip
        away = slant.slant_range_m(400.0, 550e3, x[6])
        found = engine.DefaultLinkEngine().evaluate_snapshot(
            x[6], 0.0, away, inputs, models.PropagationConditions(availability_target=0.99)
        )
        return [0.1 * found.eirp_dbw, 0.1 * found.gt_dbk, 0.01 * found.path_loss_db,
                0.1 * found.margin_db]  # fmt: skip

    def chained(x: Any) -> Any:
        made = cascade.CascadedRFChain([
            cascade.RFStage("LNA", 10.0 * x[0], x[1], x[2]), cascade.RFStage("BPF", -x[3], x[3]),
            cascade.RFStage("mixer", 7.0, x[4], 5.0),
        ])  # fmt: skip
        return [made.cascaded_nf_db(), 0.01 * made.cascaded_noise_temp_k(), made.total_gain_lin()]

    def disturbed(x: Any) -> Any:
        beams = [
            beam.Beam(name, az, el, power, antenna.CosineRolloffAntenna(32.0, 4.0, -20.0, az, el))
            for name, az, el, power in (("one", 0.0, 0.0, x[0]), ("two", x[1], 1.2, x[2]))
        ]
        made = beamset.BeamSet(
            beams, scenario(20e9), paths(7.5, 9.0), models.RFChainModel(10.0, 1.0, 80.0)
        )
        found = noise.SimpleInterferenceModel().evaluate(
            made, "one", x[3], x[4], 1e6 * x[5], antenna.CosineRolloffAntenna(40.0, 50.0), ground,
            models.PropagationConditions(availability_target=0.99),
        )  # fmt: skip
        return [0.01 * found.signal_dbw, 0.01 * found.interference_dbw, 0.1 * found.cnir_db,
                0.1 * found.sinr_db]  # fmt: skip

    yield "DefaultLinkEngine.evaluate_snapshot", linked, [19.7, 31.0, 40.0, 7.5, 11.0, 20.0, 37.0]
    yield "CascadedRFChain", chained, [1.9, 1.3, -12.0, 2.1, 7.4]
    yield "SimpleInterferenceModel.evaluate", disturbed, [11.0, 4.3, 9.0, 0.6, 0.9, 1.1]


@package("pydvma", "vibrations")
def pydvma() -> Iterator[Case]:
    engine, analysis = module("pydvma.engine"), module("pydvma.analysis")
    times = 0.1 * np.arange(24.0)

    def resampled(x: Any) -> Any:
        return analysis.resample_to_fs(x, 10.0, 7.5)

    def transferred(x: Any) -> Any:
        found = engine.calc_tf(
            times, np.stack([x, np.roll(x, 2) ** 1.1], axis=1), 2, 10.0, 0, "hann", 2
        )
        return found["tf_data"]["data"]

    def spectrum(x: Any) -> Any:
        found = engine.calc_fft(times, x.reshape(-1, 1), 1, 10.0, "hann")
        return found["freq_data"]["data"]

    yield "calc_fft", spectrum, LONG
    yield "calc_tf", transferred, LONG
    yield "resample_to_fs", resampled, LONG


@package("wrightsim", "multidimensional spectra")
def wrightsim() -> Iterator[Case]:
    hamiltonian = module("WrightSim.hamiltonian.default")
    pulses = module("WrightSim.experiment._pulse")
    propagate = module("WrightSim.mixed.propagate")

    bounds = {"fixed_bounds": True, "fixed_bounds_min": -120.0, "fixed_bounds_max": 160.0}
    bounded: Any = type("Bounded", (pulses.GaussRWA,), bounds)

    def fields(x: Any) -> Any:
        given = np.array([
            [x[0], 45.0, 0.0, 7000.0, 0.0], [x[0], 45.0, x[1], 100.0 * x[2], 0.0],
            [x[0], x[3], 30.0, 7010.0, 0.1],
        ])  # fmt: skip
        return bounded.pulse(given, pm=[1, -1, 1])

    def both(found: Any) -> Any:
        return [np.real(found), np.imag(found)]

    def evolved(x: Any) -> Any:
        times, electric = fields(x[:4])
        made = hamiltonian.Hamiltonian(
            tau=x[4], w_central=1000.0 * x[5], coupling=10.0 * x[6], mu=[1.0, x[7]]
        )
        return both(10.0 * propagate.runge_kutta(times, electric, 4, made))

    def pulsed(x: Any) -> Any:
        return both(100.0 * fields(x)[1][:, 20:40:5])

    def built(x: Any) -> Any:
        times, electric = fields([1.1, 12.0, 70.2, 50.0])
        made = hamiltonian.Hamiltonian(tau=x[0], w_central=1000.0 * x[1], mu=[1.0, x[2]])
        return both(100.0 * made.matrix(electric, times)[30])

    yield "runge_kutta", evolved, [1.1, 12.0, 70.2, 50.0, 52.0, 7.0, 4.0, 1.2]
    yield "GaussRWA.pulse", pulsed, [1.1, 12.0, 70.2, 50.0]
    yield "Hamiltonian.matrix", built, [52.0, 7.0, 1.2]


@package("adaptive-dynamics", "adaptive geometry")
def adaptive_dynamics() -> Iterator[Case]:
    m, bonnet = module("adaptive_dynamics.pi.geometry"), module("adaptive_dynamics.pi.gauss_bonnet")
    numerics = module("adaptive_dynamics.core.numerics")

    def measured(x: Any) -> Any:
        made = m.AdaptivePi(of_two(lambda a, b: x[4] * a**2 + 0.1 * b))
        return [made.geodesic_distance(*x[:4], steps=30), made.circle_area(x[5], x[0], x[1])]

    def closed(x: Any) -> Any:
        curve = 0.3 * x.reshape(6, 2) * np.array([1.0, 0.7])
        return bonnet.gauss_bonnet_integral(
            curve,
            of_two(lambda a, b: 0.1 * a + 0.2 * b**2),
            of_two(lambda a, b: np.array([[1.0 + 0.1 * a, 0.05 * b], [0.05 * b, 1.2]])),
        )

    def solved(x: Any) -> Any:
        found, _ = numerics.solve_fixed_point(
            of_one(lambda y: x[0] * np.cos(y) + x[1]), 0.5, tol=1e-14, relaxation=0.7
        )
        return [
            found,
            numerics.integrate_trapezoid(of_one(lambda t: np.sin(x[2] * t)), 0.0, x[3], 40),
        ]

    yield "AdaptivePi.geodesic_distance", measured, [0.2, 0.3, 1.4, 0.9, 0.3, 0.8]
    yield "gauss_bonnet_integral", closed, SERIES
    yield "solve_fixed_point", solved, [0.6, 0.3, 1.3, 1.7]
