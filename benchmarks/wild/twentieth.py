"""A twentieth sample, drawn on 2026-11-29, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
docs/public-packages.md says how the names were drawn, and what was skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread
from .nineteenth import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

TWENTIETH = Sample()
package = TWENTIETH.package


@package("pyhdfe", "fixed effects")
def pyhdfe() -> Iterator[Case]:
    m = module("pyhdfe")
    places, years = np.array([0, 0, 1, 1, 2, 2, 2, 0, 1, 1, 2, 0]), np.arange(12) % 3

    def absorbed(ids: Any, method: str, **options: Any) -> Callable[[Any], Any]:
        def residuals(x: Any) -> Any:
            algorithm = m.create(ids, residualize_method=method, options=options)
            return algorithm.residualize(x.reshape(12, -1))

        return residuals

    both = np.stack([places, years], axis=1)
    yield "within", absorbed(places[:, None], "within"), LONG
    yield "dummy", absorbed(both, "dummy"), LONG
    yield "map", absorbed(both, "map", tol=1e-12), LONG
    yield "lsmr", absorbed(both, "lsmr", residual_tol=1e-13), SERIES


@package("distinctipy", "colours that differ")
def distinctipy() -> Iterator[Case]:
    m, blind = module("distinctipy"), module("distinctipy.colorblind")
    pair = [0.3, 0.5, 0.2, 0.8, 0.4, 0.1]
    yield "color_distance", lambda x: m.color_distance(tuple(x[:3]), tuple(x[3:])), pair
    yield (
        "colorblind_filter",
        lambda x: blind.colorblind_filter(tuple(x), "Deuteranomaly"),
        pair[:3],
    )
    yield "colorblind_filter, blue", lambda x: blind.colorblind_filter(x, "Tritanopia"), pair[:3]


@package("ussa1976", "the standard atmosphere")
def ussa1976() -> Iterator[Case]:
    m, core = module("ussa1976"), module("ussa1976.core")

    def atmosphere(x: Any) -> Any:
        found = m.compute(z=1e3 * x, variables=["t", "p", "rho"])
        return [np.log(found[name].values) for name in ("t", "p", "rho")]

    yield "compute", atmosphere, [1.3, 8.4, 23.2, 61.0]
    yield "compute_high_altitude_temperature", lambda x: core.compute_temperature_high_altitude(
        1e3 * x
    ), [88.0, 103.0, 115.0, 300.0]  # fmt: skip
    yield "thermal_diffusion_coefficient", lambda x: core.thermal_diffusion_coefficient(
        1e20 * x[:3], x[3:6], 5.863e20, x[6]
    ), [1.3, 0.8, 0.2, 190.0, 240.0, 700.0, 0.75]  # fmt: skip
    yield "eddy_diffusion_coefficient", lambda x: core.eddy_diffusion_coefficient(1e3 * x), [
        98.0, 105.0, 111.0,
    ]  # fmt: skip


@package("better-optimize", "optimization")
def better_optimize() -> Iterator[Case]:
    m = module("better_optimize")

    def crossing(x: Any) -> Any:
        def equations(v: Any) -> Any:
            return np.array([v[0] ** 2 + x[0] * v[1] - x[1], v[1] - x[2] * np.cos(v[0])])

        return m.root(equations, np.array([1.0, 0.5]), "hybr", progressbar=False, tol=1e-12).x

    def lowest(x: Any) -> Any:
        def height(v: Any) -> Any:
            return np.sum((v - x[:2]) ** 2) + x[2] * np.sum(v**4)

        def slope(v: Any) -> Any:
            return 2.0 * (v - x[:2]) + 4.0 * x[2] * v**3

        def curvature(v: Any) -> Any:
            return np.diag(2.0 + 12.0 * x[2] * v**2)

        start = np.array([0.3, 0.2])
        return m.minimize(
            height, start, "trust-exact", slope, curvature, progressbar=False, tol=1e-10
        ).x

    yield "root", crossing, [0.8, 2.0, 0.7]
    yield "minimize", lowest, [0.9, -0.4, 0.3]


@package("psmpy", "propensity scores")
def psmpy() -> Iterator[Case]:
    m, pandas = module("psmpy.functions"), module("pandas")
    treated = [1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1]

    def effect(x: Any) -> Any:
        return m.cohenD(pandas.DataFrame({"treated": treated, "age": x}), "treated", "age")

    yield "cohenD", effect, SERIES


@package("biwipy", "cycling")
def biwipy() -> Iterator[Case]:
    m, tracks = module("biwipy.core.bike_physics"), module("biwipy.analysis.gpx_processor")
    rider = [210.0, 0.4, 0.004, 78.0, 0.02, 1.2]
    yield "calculate_air_density", spread(m.calculate_air_density), [640.0, 21.0]
    yield "solve_speed_for_power", spread(m.solve_speed_for_power), rider
    yield "solve_speed_dynamic", spread(m.solve_speed_dynamic), [*rider, 4.0, 60.0]
    yield "estimate_P0_from_v0", spread(m.estimate_P0_from_v0), [8.0, 0.4, 0.004, 78.0, 1.2]
    yield "bearing", spread(tracks.bearing), [45.7, 4.8, 46.1, 5.4]


@package("bloqade-geometry", "grids of atoms")
def bloqade_geometry() -> Iterator[Case]:
    grid = module("bloqade.geometry.dialects.grid.types").Grid

    def positions(made: Any) -> Any:
        return [np.array([*made.x_positions]), np.array([*made.y_positions])]

    start = [0.0, 1.5, 2.2, 4.0, -1.0, 0.3, 1.2, 0.5, 2.0]
    yield "Grid.scale", lambda x: positions(
        grid.from_positions(x[:4], x[4:7]).scale(x[7], x[8])
    ), start  # fmt: skip
    yield "Grid.repeat", lambda x: positions(
        grid.from_positions([*x[:4]], [*x[4:7]]).repeat(2, 3, x[7], x[8])
    ), start  # fmt: skip
    yield "Grid.shift_subgrid_x", lambda x: positions(
        grid(tuple(x[:3]), tuple(x[3:6]), x[6], x[7]).shift_subgrid_x([1, 2], x[8])
    ), [1.5, 0.7, 1.8, 1.3, 0.9, 0.4, -0.2, 0.5, 0.3]  # fmt: skip


@package("chebfun", "functions as Chebyshev series")
def chebfun() -> Iterator[Case]:
    m, series = module("chebpy"), module("chebpy.algorithms")
    nodes = np.cos(np.pi * np.arange(6) / 5)[::-1]
    weights = np.array([0.5, -1.0, 1.0, -1.0, 1.0, -0.5])

    def integral(x: Any) -> Any:
        def wave(t: Any) -> Any:
            return np.exp(-x[0] * t) * np.sin(x[1] * t + x[2])

        f = m.chebfun(wave, [-1, 2])
        return [np.reshape(f.sum(), (1,)), f(np.array([-0.3, 0.4]))]

    yield "chebfun", integral, [0.7, 2.0, 0.4]
    yield "bary", lambda x: series.bary(x[:3], x[3:], nodes, weights), [0.1, -0.5, 0.7, *SERIES[:6]]
    yield "clenshaw", lambda x: series.clenshaw(x[:3], x[3:]), [0.1, -0.5, 0.7, *SERIES[:6]]
    yield "coeffmult", lambda x: series.coeffmult(x[:6], x[6:]), SERIES
    yield "cheb2leg", series.cheb2leg, SERIES[:7]


@package("matscipy", "elastic constants")
def matscipy() -> Iterator[Case]:
    m, strain = module("matscipy.elasticity"), module("matscipy.atomic_strain")

    def stiffness(x: Any) -> Any:
        a = x.reshape(6, 6)
        return a @ a.T + 40.0 * np.eye(6)

    def turned(x: Any) -> Any:
        angle = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
        return m.rotate_elastic_constants(stiffness(x), angle)

    def gradients(x: Any) -> Any:
        atoms = np.array([0, 0, 0, 0, 1, 1, 1, 1])
        apart = np.random.default_rng(20).normal(size=(8, 3))
        return strain.get_delta_plus_epsilon(2, atoms, x.reshape(8, 3), apart)

    start = [*(3.0 * np.cos(1.3 * np.arange(36.0)))]
    yield "rotate_elastic_constants", turned, start
    yield "elastic_moduli", lambda x: m.elastic_moduli(stiffness(x), np.array([1, 2, 0.5])), start
    yield "invariants", lambda x: m.invariants(x.reshape(2, 6)), SERIES
    yield "get_delta_plus_epsilon", gradients, LONG


@package("pyroomacoustics", "acoustics of rooms")
def pyroomacoustics() -> Iterator[Case]:
    m, utilities = module("pyroomacoustics.acoustics"), module("pyroomacoustics.utilities")
    common, stft = module("pyroomacoustics.bss.common"), module("pyroomacoustics.transform.stft")

    def projected(x: Any) -> Any:
        spectra = (x[:12] + 1j * x[12:]).reshape(3, 2, 2)
        return common.projection_back(spectra, (1.0 + 0.5j) * spectra[:, :, 0] ** 2)

    yield "rt60_eyring", spread(m.rt60_eyring), [94.0, 60.0, 0.3, 0.002, 343.0]
    yield "stft.analysis", lambda x: stft.analysis(x, 8, 4, np.hanning(8)), LONG
    yield "lpc", lambda x: utilities.lpc(x, 4), LONG
    yield "prony", lambda x: utilities.prony(x, 3, 2)[:2], LONG
    yield "angle_function", lambda x: utilities.angle_function(x[:12].reshape(3, 4), x[12:]), [
        *SERIES, 0.1, -0.3, 0.2,
    ]  # fmt: skip
    yield "projection_back", projected, LONG


@package("momentchi2", "sums of chi-squared variables")
def momentchi2() -> Iterator[Case]:
    m = module("momentchi2")
    start = [1.5, 1.3, 0.7, 0.4, 4.2]
    yield "hbe", lambda x: m.hbe(x[:4], x[4]), start
    yield "sw", lambda x: m.sw(x[:4], x[4]), start
    yield "wf", lambda x: m.wf(x[:4], x[4]), start


@package("optodetools", "oxygen in the sea")
def optodetools() -> Iterator[Case]:
    m = module("optodetools")
    times = np.cumsum(0.001 * np.array([1.0, 1.3, 0.8, 1.1, 0.9, 1.4]))
    yield "sample_Tconst", lambda x: m.sample_Tconst(times, x[:6], x[6]), [
        210.0, 205.0, 190.0, 160.0, 120.0, 95.0, 60.0,
    ]  # fmt: skip
    yield "sample_Tconst, times", lambda x: m.sample_Tconst(1e-3 * x[:6], x[6:12], 70.0), [
        1.0, 2.3, 3.1, 4.2, 5.1, 6.5, *SERIES[:6],
    ]  # fmt: skip


@package("pydy", "multibody dynamics")
def pydy() -> Iterator[Case]:
    models = module("pydy.models")

    def moved(x: Any) -> Any:
        system = models.multi_mass_spring_damper(1, apply_gravity=True)
        values: dict[str, Any] = dict(zip(("g", "c0", "m0", "k0"), x[:4], strict=True))
        system.constants = {symbol: values[str(symbol)] for symbol in system.constants_symbols}
        system.initial_conditions = dict(zip(system.states, x[4:], strict=True))
        system.times = np.linspace(0.0, 1.0, 6)
        system.generate_ode_function(generator="lambdify")
        return system.integrate()

    def rates(x: Any) -> Any:
        system = models.multi_mass_spring_damper(2)
        system.constants = dict.fromkeys(system.constants_symbols, 1.3)
        slopes = system.generate_ode_function(generator="lambdify")
        symbols = sorted(system.constants_symbols, key=str)
        return slopes(x[:4], 0.0, dict(zip(symbols, x[4:], strict=True)))

    yield "System.integrate", moved, [9.8, 0.4, 1.2, 5.0, 0.1, -0.2]
    yield "generate_ode_function", rates, [0.1, 0.3, -0.2, 0.4, 0.5, 0.6, 1.2, 1.4, 5.0, 6.0]


@package("blend-modes", "blending of images")
def blend_modes() -> Iterator[Case]:
    m = module("blend_modes")
    pair = [*(255.0 * (0.5 + 0.4 * np.cos(1.7 * np.arange(24.0))))]

    def blended(name: str) -> Callable[[Any], Any]:
        def image(x: Any) -> Any:
            return getattr(m, name)(x[:12].reshape(1, 3, 4), x[12:].reshape(1, 3, 4), 0.7)

        return image

    for name in ("soft_light", "overlay", "divide", "lighten_only"):
        yield name, blended(name), pair


@package("kanga", "Markov chains, diagnosed")
def kanga() -> Iterator[Case]:
    m, linear = module("kanga.stats"), module("kanga.linalg")
    corner = [2.0, -1.0, 0.0, 0.3, 1.5, -1.4, 0.1, -1.2, 0.4]
    yield "mc_cov, inse", lambda x: m.mc_cov(x.reshape(12, 2), adjust=True), LONG
    yield "mc_cor, bm", lambda x: m.mc_cor(x.reshape(12, 2), method="bm", b=3), LONG
    yield "multi_ess", lambda x: m.multi_ess(x.reshape(12, 2)), LONG
    yield "multi_rhat", lambda x: m.multi_rhat(x.reshape(3, 4, 2), method="iid"), LONG
    yield "nearest_pd", lambda x: linear.nearest_pd(x.reshape(3, 3)), corner


@package("gemspa-spt", "tracks of particles")
def gemspa() -> Iterator[Case]:
    m = module("gemspa_spt")

    def tracks(x: Any) -> Any:
        rows = [np.zeros(8), np.arange(8.0), x[:8], x[8:16], x[16:]]
        return m.ParticleTracks(tracks=np.stack(rows, axis=1))

    yield "step_size", lambda x: tracks(x).step_size(0), LONG
    yield "msd", lambda x: tracks(x).msd(0), LONG
    yield "msd, plain", lambda x: tracks(x).msd(0, fft=False), LONG
    yield "r_of_g", lambda x: tracks(x).r_of_g(0, full=False), LONG


@package("ipfn", "iterative proportional fitting")
def ipfn() -> Iterator[Case]:
    m, pandas = module("ipfn.ipfn"), module("pandas")

    def fitted(x: Any) -> Any:
        sums = [20.0 + x[12:15], np.array([18.0, 16.0, 12.0, 14.0]) + np.sum(x[12:15]) / 4]
        return m.ipfn(
            x[:12].reshape(3, 4), sums, [[0], [1]], convergence_rate=1e-14, rate_tolerance=0.0
        ).iteration()

    def table(x: Any) -> Any:
        frame = pandas.DataFrame({"age": [0, 0, 1, 1, 2, 2], "sex": ["f", "m"] * 3, "total": x[:6]})
        ages = frame.groupby("age")["total"].sum() + x[6]
        sexes = frame.groupby("sex")["total"].sum() + 1.5 * x[6]
        made = m.ipfn(frame, [ages, sexes], [["age"], ["sex"]])
        return made.iteration()["total"].to_numpy()

    yield "iteration", fitted, [*SERIES, 0.3, -0.2, 0.4]
    yield "iteration, table", table, [*SERIES[:6], 0.7]


@package("ap-features", "action potentials")
def ap_features() -> Iterator[Case]:
    m = module("ap_features")
    times = np.linspace(0.0, 600.0, 40)
    trace = [*(np.exp(-(((times - 100.0) / 60.0) ** 2)) + 1e-3 * np.cos(times))]

    yield "apd", lambda x: m.features.apd(70, x, times), trace
    yield "upstroke", lambda x: m.features.upstroke(times, x), trace
    yield "integrate_apd", lambda x: m.features.integrate_apd(x, times, 0.7), trace


@package("numpy-partition", "windows over rows")
def numpy_partition() -> Iterator[Case]:
    m, window = module("partition.partition"), module("partition.window")
    keys = np.array([1.0, 2, 1, 3, 2, 1, 3, 2, 1, 3, 1, 2])

    def averages(x: Any) -> Any:
        rows = np.stack([keys, x], axis=1)
        return m.apply_over_partition(rows, (0,), (1,), (-1,), window.avg, {"vcol": 1, "top_n": 2})

    yield "apply_over_partition", averages, SERIES


@package("hyppo", "tests of independence")
def hyppo() -> Iterator[Case]:
    independence, ksample = module("hyppo.independence"), module("hyppo.ksample")
    conditional = module("hyppo.conditional")

    def of(test: Any, width: int) -> Callable[[Any], Any]:
        def statistic(x: Any) -> Any:
            return np.reshape(test().statistic(*x.reshape(2, -1, width)), (1,))

        return statistic

    def partial(x: Any) -> Any:
        a, b, c = x.reshape(3, 8, 1)
        return conditional.PartialCorr().statistic(a, b + 0.5 * a, c + a + b)

    yield "Hsic", of(independence.Hsic, 2), LONG
    yield "Dcorr", of(independence.Dcorr, 2), LONG
    yield "CCA", of(independence.CCA, 2), LONG
    yield "RV", of(independence.RV, 3), LONG
    yield "Hotelling", of(ksample.Hotelling, 2), LONG
    yield "Energy", of(ksample.Energy, 2), LONG
    yield "PartialCorr", partial, LONG


@package("ripples-sci", "numerical derivatives")
def ripples() -> Iterator[Case]:
    m = module("ripples")

    def slopes(order: int, **options: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            def height(v: Any) -> Any:
                return np.sin(x[0] * v[0]) * np.exp(-x[1] * v[1]) + v[0] * v[1] ** 2

            return m.nth_numerical_derivative(height, order, **options)(x[2:]).derivative

        return values

    yield "nth_numerical_derivative", slopes(1, step_size=1e-2, point_number=5), [
        1.2, 0.4, 0.3, -0.5,
    ]  # fmt: skip
    yield "nth_numerical_derivative, second", slopes(2, step_size=0.05, single_component=(0, 1)), [
        1.2, 0.4, 0.3, -0.5,
    ]  # fmt: skip


@package("pyequib", "nebulae")
def pyequib() -> Iterator[Case]:
    m = module("pyequib")
    levels = np.array(
        [(0.0, 1.5), (21000.0, 2.5), (21050.0, 1.5)], dtype=[("ej", float), ("j_v", float)]
    )
    kind = [("level1", int), ("level2", int), ("strength", float, (4,))]
    strengths = np.array(
        [
            (0, 0, [5e3, 1e4, 1.5e4, 2e4]),
            (1, 2, [0.8, 0.83, 0.85, 0.9]),
            (1, 3, [0.5, 0.55, 0.57, 0.6]),
            (2, 3, [1.2, 1.1, 1.05, 1.0]),
        ],
        dtype=kind,
    )
    rates = np.array(
        [([[0.0, 3.6e-5, 1.6e-4], [0.0, 0.0, 1.3e-7], [0.0, 0.0, 0.0]],)],
        dtype=[("aij", float, (3, 3))],
    )

    def populations(x: Any) -> Any:
        return m.calc_populations(
            temperature=1e4 * x[0],
            density=1e3 * x[1],
            elj_data=levels,
            omij_data=strengths,
            aij_data=rates,
            level_num=3,
        )

    yield "calc_populations", populations, [1.2, 0.8]
    yield "deredden_flux", lambda x: m.deredden_flux(1e3 * x[0], x[1], x[2]), [6.563, 2.8, 0.4]
    yield "redlaw_ccm", lambda x: m.redlaw_ccm(1e3 * x[:3], rv=x[3]), [6.563, 4.861, 1.9, 3.2]


@package("pymyami", "ions in seawater")
def pymyami() -> Iterator[Case]:
    m, helpers = module("pymyami"), module("pymyami.helpers")

    def correction(x: Any) -> Any:
        return m.calculate_seawater_correction(TempC=x[:1], Sal=x[1:2], Mg=x[2:3], Ca=x[3:])

    start = [23.0, 34.0, 0.045, 0.02]
    yield "calculate_seawater_correction", correction, start
    yield "calc_KF", spread(helpers.calc_KF), [298.0, 34.0]


@package("pyxtal", "crystals")
def pyxtal() -> Iterator[Case]:
    m, lattice = module("pyxtal.XRD_indexer"), module("pyxtal.lattice")
    cell = [3.1, 4.2, 5.3, 1.5, 1.7, 1.8]
    yield "get_d_hkl_from_cell", lambda x: m.get_d_hkl_from_cell(11, x.reshape(2, 2), 1, 1, 2), [
        4.9, 6.2, 5.1, 7.0,
    ]  # fmt: skip
    yield "get_cell_params", lambda x: m.get_cell_params(14, [(1, 0, 0), (1, 1, 1)], x)[0], [
        22.1, 38.4,
    ]  # fmt: skip
    yield "para2matrix", lattice.para2matrix, cell
    yield "matrix2para", lambda x: lattice.matrix2para(x.reshape(3, 3), radians=False), [
        3.0, 0.1, 0.2, -0.3, 4.0, 0.4, 0.5, 0.2, 5.0,
    ]  # fmt: skip


@package("ndfilters", "filters of images")
def ndfilters() -> Iterator[Case]:
    m = module("ndfilters")
    kernel = np.array([[0.1, 0.2, 0.1], [0.0, 0.4, -0.1], [0.2, 0.1, 0.3]])
    yield "variance_filter", lambda x: m.variance_filter(x.reshape(6, 4), size=3), LONG
    yield "trimmed_mean_filter", lambda x: m.trimmed_mean_filter(
        x.reshape(6, 4), size=3, proportion=0.2
    ), LONG  # fmt: skip
    yield "convolve", lambda x: m.convolve(x.reshape(6, 4), kernel), LONG


@package("hawkeye-tracker", "tracking")
def hawkeye() -> Iterator[Case]:
    m = module("hawkeye")

    def filtered(x: Any) -> Any:
        tracker = m.KalmanFilter2D(dt=0.1, process_noise=2.0, measurement_noise=x[0])
        tracker.init_state(x[1], x[2])
        for a, b in x[3:].reshape(-1, 2):
            tracker.predict()
            tracker.update(a, b)
        return [np.asarray(tracker.position), np.asarray(tracker.velocity)]

    yield "KalmanFilter2D", filtered, [2.0, 1.0, 0.5, 1.4, 0.9, 1.9, 1.5, 2.2, 2.2]


@package("acousticspy", "acoustics, simply")
def acousticspy() -> Iterator[Case]:
    m = module("acousticspy")

    def modes(x: Any) -> Any:
        return m.calculate_room_modes(*x, 3)["Frequency"].to_numpy()[1:]

    yield "get_alpha", spread(m.get_alpha), [1000.0, 1.0, 20.0, 45.0]
    yield "add_decibels", lambda x: m.add_decibels(10.0 * x, coherent=True), SERIES
    yield "get_oaspl", m.get_oaspl, SERIES
    yield "calculate_room_modes", modes, [4.1, 3.3, 2.4]


@package("alphashape", "shapes of points")
def alphashape() -> Iterator[Case]:
    m = module("alphashape.alphashape")
    corners = [0.0, 0.1, 0.2, 1.1, 0.0, 0.3, 0.2, 1.3, -0.1, 0.4, 0.3, 1.2]
    yield "circumradius", lambda x: m.circumradius(x.reshape(4, 3)), corners
    yield "circumcenter", lambda x: m.circumcenter(x.reshape(3, 4)), corners


@package("bias-correction", "biases of climate models")
def bias_correction() -> Iterator[Case]:
    m = module("bias_correction")
    observed = np.array(SERIES) + 0.1 * np.cos(np.arange(12.0))

    yield "quantile_correction", lambda x: m.quantile_correction(observed, x[:12], x[12:]), LONG
    yield "normal_correction", lambda x: m.normal_correction(observed, x[:12], x[12:]), LONG
    yield "BiasCorrection.correct", lambda x: m.BiasCorrection(
        x[:12], observed, x[12:]
    ).correct(method="basic_quantile"), LONG  # fmt: skip


@package("geeet", "evapotranspiration")
def geeet() -> Iterator[Case]:
    meteo, most = module("geeet.meteo"), module("geeet.MOST")
    model, solar = module("geeet.tseb"), module("geeet.solar")

    def fluxes(x: Any) -> Any:
        return model.tseb_series(
            Tr=x[:2],
            Ta=x[2:4],
            NDVI=0.1 * x[4:6],
            P=np.array([95.0, 96.0]),
            Td=x[2:4] - 12.0,
            U=np.array([3.0, 2.5]),
            Sdn=np.array([800.0, 750.0]),
            Ldn=np.array([350.0, 340.0]),
            Alb=np.array([0.2, 0.21]),
            doy=180,
            time=12.0,
            Vza=0.0,
            longitude=38.0,
            latitude=30.0,
            zU=10.0,
            zT=2.0,
        )

    yield "relative_humidity", spread(meteo.relative_humidity), [300.0, 288.0]
    yield "compute_met_params", lambda x: meteo.compute_met_params(
        x[:2], x[2:4], 1e3 * x[4:]
    ), [300.0, 295.0, 288.0, 281.0, 95.0, 96.0]  # fmt: skip
    yield "PsiM", most.PsiM, [0.3, 0.8, 1.2]
    yield "rad_ratio", lambda x: solar.rad_ratio(
        doy=180, time=x[0], longitude=x[1], latitude=x[2]
    ), [12.3, 38.0, 30.0]  # fmt: skip
    yield "tseb_series", fluxes, [312.0, 310.0, 303.0, 302.0, 3.0, 5.0]


@package("inspiral-range", "ranges of detectors")
def inspiral_range() -> Iterator[Case]:
    m = module("inspiral_range.inspiral_range")
    frequencies = np.geomspace(20.0, 800.0, 12)
    noise = 1e-46 * (1.0 + (frequencies / 150.0) ** 2 + (60.0 / frequencies) ** 4)

    yield "sensemon_range", lambda x: m.sensemon_range(frequencies, noise * x[2:], x[0], x[1]), [
        1.4, 1.6, *SERIES,
    ]  # fmt: skip
    yield "int73", lambda x: m.int73(10.0 * np.cumsum(x), noise)[0], SERIES


@package("scipy-dae", "differential-algebraic equations")
def scipy_dae() -> Iterator[Case]:
    m = module("scipy_dae.integrate")

    def solved(method: str) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            def residual(t: Any, y: Any, slope: Any) -> Any:
                return np.array(
                    [slope[0] + x[0] * y[0] - y[1], y[1] - x[1] * np.sin(t) - 0.1 * y[0] ** 2]
                )

            start = np.array([x[2], 0.1 * x[2] ** 2])
            first = -x[0] * x[2] + start[1]
            slopes = np.array([first, x[1] + 0.2 * x[2] * first])
            found = m.solve_dae(
                residual, (0.0, 1.0), start, slopes, method=method, rtol=1e-8, atol=1e-10
            )
            return found.y[:, -1]

        return values

    yield "solve_dae, Radau", solved("Radau"), [0.8, 0.5, 1.1]
    yield "solve_dae, BDF", solved("BDF"), [0.8, 0.5, 1.1]


@package("forestci", "errors of forests")
def forestci() -> Iterator[Case]:
    m = module("forestci.calibration")
    grid = np.linspace(-0.5, 3.0, 30)
    yield "gbayes", lambda x: m.gbayes(x[0], (grid, np.exp(-x[1] * grid**2)), x[2]), [0.8, 0.4, 0.6]


@package("protein-design-tools", "proteins")
def protein_design_tools() -> Iterator[Case]:
    m, scores = module("protein_design_tools.core.geometry"), module("protein_design_tools.metrics")
    chain = np.stack(
        [2.3 * np.cos(1.7 * np.arange(8)), 2.3 * np.sin(1.7 * np.arange(8)), 1.5 * np.arange(8)],
        axis=1,
    )

    def near(x: Any) -> Any:
        return chain + 0.3 * x.reshape(8, 3)

    yield "kabsch", lambda x: [*m.kabsch(chain, near(x))], LONG
    yield "rmsd", lambda x: scores.compute_rmsd_numpy(near(x), chain), LONG
    yield "tmscore", lambda x: scores.compute_tmscore_numpy(near(x), chain), LONG


@package("mne-features", "features of time series")
def mne_features() -> Iterator[Case]:
    m, pairs = module("mne_features.univariate"), module("mne_features.bivariate")
    trace = np.cos(0.9 * np.arange(48.0)) + 0.4 * np.sin(0.31 * np.arange(48.0) ** 1.2)
    signal = [*(trace + 0.02 * np.arange(48.0))]

    def of(function: Any, *before: Any, **options: Any) -> Callable[[Any], Any]:
        return lambda x: function(*before, x.reshape(2, 24), **options)

    yield "compute_hjorth_complexity", of(m.compute_hjorth_complexity), signal
    yield "compute_higuchi_fd", of(m.compute_higuchi_fd, kmax=4), signal
    yield "compute_katz_fd", of(m.compute_katz_fd), signal
    yield "compute_svd_entropy", of(m.compute_svd_entropy, emb=4), signal
    yield "compute_spect_entropy", of(m.compute_spect_entropy, 24.0, psd_method="fft"), signal
    yield (
        "compute_wavelet_coef_energy",
        of(m.compute_wavelet_coef_energy, wavelet_name="db1"),
        signal,
    )
    yield "compute_phase_lock_val", of(pairs.compute_phase_lock_val), signal


@package("tbats", "forecasts")
def tbats() -> Iterator[Case]:
    m, transformation = module("tbats.bats"), module("tbats.transformation")
    components = m.Components(
        use_box_cox=True, use_trend=True, use_damped_trend=False, seasonal_periods=[3],
        use_arma_errors=False, p=0, q=0,
    )  # fmt: skip

    def fitted(x: Any, y: Any) -> Any:
        params = m.ModelParams(
            components, alpha=x[0], beta=x[1], box_cox_lambda=x[2], gamma_params=x[3:4],
            x0=np.array([2.0, 0.1, 0.1, -0.1, 0.05]),
        )  # fmt: skip
        model = m.Context().create_model(params)
        model.fit(y)
        return [np.reshape(model.likelihood(), (1,)), model.forecast(3)]

    weights = [0.2, 0.05, 0.5, 0.1]
    yield "boxcox", lambda x: transformation.boxcox(x[1:], lam=x[0]), [0.4, *SERIES]
    yield "Model.fit", lambda x: fitted(x, np.array(SERIES)), weights
    yield "Model.fit, series", lambda x: fitted(np.array(weights), x), SERIES


@package("griddataformats", "data on grids")
def griddataformats() -> Iterator[Case]:
    grid = module("gridData").Grid
    cube = [*np.cos(0.7 * np.arange(27.0)) + 2.0]

    def made(x: Any) -> Any:
        return grid(x.reshape(3, 3, 3), origin=[0.0, 0.0, 0.0], delta=[1.0, 0.5, 1.0])

    def resampled(x: Any) -> Any:
        return made(x).resample([np.linspace(-0.25, 2.25, 4)] * 3).grid

    yield "interpolated", lambda x: made(np.array(cube)).interpolated(x[:2], x[2:4], x[4:]), [
        0.4, 1.2, 0.3, 0.7, 0.6, 1.3,
    ]  # fmt: skip
    yield "resample", resampled, cube
    yield "arithmetic", lambda x: ((made(x) * 2.0 + made(x[::-1])) ** 2).grid, cube


@package("moonmag", "magnetic fields of moons")
def moonmag() -> Iterator[Case]:
    m = module("MoonMag.field_xyz")

    def induced(n: int, order: int) -> Callable[[Any], Any]:
        def field(x: Any) -> Any:
            radius = np.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2)
            return np.array([*m.eval_Bi(n, order, x[3] + 1j * x[4], *x[:3], radius)])

        return field

    start = [0.3, 0.4, 0.5, 1.0, 0.6]
    yield "eval_Bi", induced(1, 1), start
    yield "eval_Bi, third", induced(3, -2), start
    yield "eval_Be", lambda x: np.array([*m.eval_Be(2, 1, x[3] + 1j * x[4], *x[:3], 1.0)]), start


@package("izh2122", "numerical methods, from a course")
def izh2122() -> Iterator[Case]:
    m = module("izh2122.itogicoboki")
    square = [4.0, 1.0, -0.5, 0.3, 3.0, 0.8, 1.1, -0.7, 5.0]

    def rows(x: Any) -> Any:
        return [[*row] for row in x.reshape(3, 3)]

    yield "getdeternminant", lambda x: m.getdeternminant(rows(x)), square
    yield "invr_mtx_gauss", lambda x: m.invr_mtx_gauss(rows(x)), square
    yield "Norma", lambda x: m.Norma(rows(x)), square
    yield "lagr", lambda x: m.lagr([1.0, 2.0, 3.5, 4.0], x[:4], x[4]), [*SERIES[:4], 2.7]


@package("symnum", "functions made by SymPy")
def symnum() -> Iterator[Case]:
    m, symbols = module("symnum"), module("symnum.numpy")

    def formula(x: Any) -> Any:
        return symbols.sum(symbols.sin(x) * x) + x[0] * x[1] ** 2

    height = m.numpify(3)(formula)

    yield "numpify", height, SERIES[:3]
    yield "gradient", m.gradient(height), SERIES[:3]
    yield "hessian", m.hessian(height), SERIES[:3]


@package("bycycle", "cycles of oscillations")
def bycycle() -> Iterator[Case]:
    m = module("bycycle.features")
    times = np.arange(72.0)
    wave = [*(np.cos(2.0 * np.pi * times / 20.0) + 0.1 * np.sin(times))]

    def shapes(x: Any) -> Any:
        found = m.compute_shape_features(x, 100.0, (4, 10), n_cycles=2)
        return [found[name].to_numpy() for name in ("volt_peak", "volt_amp", "band_amp")]

    yield "compute_shape_features", shapes, wave


@package("gatiab", "gases in bands")
def gatiab() -> Iterator[Case]:
    m = module("gatiab.gatiab")
    levels = [0.1, 3.2, 12.0, 47.0, 101.0]

    yield "get_zatm", lambda x: m.get_zatm(1e3 * x[:5], x[5:9], 0.02896, x[9]), [
        *levels, 230.0, 220.0, 250.0, 285.0, 9.81,
    ]  # fmt: skip
    yield "get_zatm, hypsometric", lambda x: m.get_zatm(
        1e3 * x[:5], x[5:9], 0.02896, 9.81, 1e-3 * x[9:],
        P_fl=np.array([1.6e3, 7.6e3, 3e4, 7.4e4]), M_h2o=0.01802, method="hypsometric",
    ), [*levels, 230.0, 220.0, 250.0, 285.0, 0.1, 0.5, 3.0, 11.0]  # fmt: skip
    yield "diff1", lambda x: m.diff1(x.reshape(6, 4), axis=1), LONG


@package("arviz-stats", "Bayesian diagnostics")
def arviz_stats() -> Iterator[Case]:
    m = module("arviz_stats.base").array_stats
    draws = [*np.random.default_rng(20).normal(size=48)]
    walk = [*(np.array(draws) + np.cos(0.5 * np.arange(48.0)))]

    def of(function: Any, **options: Any) -> Callable[[Any], Any]:
        return lambda x: np.reshape(function(x.reshape(4, 12), **options), (-1,))

    yield "rhat", of(m.rhat, method="split"), draws
    yield "ess", of(m.ess, method="mean"), walk
    yield "mcse", of(m.mcse, method="mean"), draws
    yield "hdi", of(m.hdi, prob=0.8), draws
    yield "kde", lambda x: m.kde(x, grid_len=200)[1][::20], draws


@package("orbx", "distances of orbits")
def orbx() -> Iterator[Case]:
    orbit = module("orbx.density.tools.DMT").VectorizedKeplerianOrbit

    def apart(x: Any) -> Any:
        elements = x.reshape(6, 2, 2)
        sizes = elements[0] * (1.0 - elements[1] ** 2)
        first, second = (
            orbit(np.stack([*elements[:5, k], elements[5, k], sizes[k]])) for k in (0, 1)
        )
        return orbit.DistanceMetric(first, second)

    yield "DistanceMetric", apart, [
        7.0, 7.2, 7.1, 7.4, 0.01, 0.02, 0.03, 0.05, 0.9, 1.1, 0.8, 1.3,
        0.3, 1.2, 2.2, 0.7, 1.0, 2.0, 0.4, 1.7, 6.9, 7.0, 6.8, 7.1,
    ]  # fmt: skip


@package("pydlm", "dynamic linear models")
def pydlm() -> Iterator[Case]:
    m = module("pydlm")

    def smoothed(x: Any) -> Any:
        made = m.dlm([*x]) + m.trend(1, 0.9) + m.seasonality(3, 0.95)
        made.fit()
        return np.array(made.getMean())

    def forecast(x: Any) -> Any:
        made = m.dlm([*x[:8]]) + m.trend(1, discount=0.95, w=1.0)
        made = made + m.dynamic(features=[[v] for v in x[8:]], discount=1.0, name="load", w=1.0)
        made.fitForwardFilter()
        return np.array(made.getMean(filterType="forwardFilter"))

    yield "dlm", smoothed, SERIES
    yield "dlm, dynamic", forecast, LONG[:16]


@package("window-ops", "rolling windows")
def window_ops() -> Iterator[Case]:
    rolling, expanding = module("window_ops.rolling"), module("window_ops.expanding")
    yield "rolling_std", lambda x: rolling.rolling_std(x, 3)[2:], SERIES
    yield "seasonal_rolling_max", lambda x: rolling.seasonal_rolling_max(x, 2, 3)[4:], SERIES
    yield "rolling_kurtosis", lambda x: rolling.rolling_kurtosis(x, 5)[4:], SERIES
    yield "expanding_std", lambda x: expanding.expanding_std(x)[1:], SERIES
    yield "ewm_mean", lambda x: module("window_ops.ewm").ewm_mean(x[1:], x[0]), [0.3, *SERIES]


@package("pint-xarray", "units of labelled arrays")
def pint_xarray() -> Iterator[Case]:
    module("pint_xarray")
    xr = module("xarray")

    def square(x: Any) -> Any:
        made = xr.DataArray(x, dims="place").pint.quantify("m")
        return (made**2).mean().pint.to("cm^2").pint.dequantify().to_numpy()

    def speeds(x: Any) -> Any:
        made = xr.Dataset(
            {"way": ("place", x[:6], {"units": "km"}), "time": ("place", x[6:], {"units": "h"})}
        ).pint.quantify()
        return (made["way"] / made["time"]).pint.to("m/s").pint.magnitude

    yield "quantify", square, SERIES
    yield "speeds", speeds, SERIES


@package("qiskit-algorithms", "optimizers")
def qiskit_algorithms() -> Iterator[Case]:
    m = module("qiskit_algorithms.optimizers")

    def lowest(optimizer: Callable[[], Any]) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            def height(v: Any) -> Any:
                return np.sum((v - x[:2]) ** 2) + x[2] * v[0] ** 2 * v[1] ** 2

            def slope(v: Any) -> Any:
                return 2.0 * (v - x[:2]) + 2.0 * x[2] * v[0] * v[1] * v[::-1]

            return optimizer().minimize(height, np.array([0.3, 0.2]), jac=slope).x

        return values

    start = [0.9, -0.4, 0.3]
    yield "ADAM", lowest(lambda: m.ADAM(maxiter=8, lr=0.1)), start
    yield "GradientDescent", lowest(lambda: m.GradientDescent(maxiter=6, learning_rate=0.1)), start
    yield "AQGD", lowest(lambda: m.AQGD(maxiter=4)), start


@package("atooms-landscape", "energy landscapes")
def atooms_landscape() -> Iterator[Case]:
    m, methods = (
        module("atooms.landscape.surfaces.muller_brown"),
        module("atooms.landscape.methods"),
    )

    def descent(x: Any) -> Any:
        return methods.steepest_descent(x, m.compute, maxiter=6, dx=0.0002)["x"]

    yield "value", m.value, [-0.4, 0.6]
    yield "gradient", m.gradient, [-0.4, 0.6]
    yield "normal_modes", lambda x: m.normal_modes(x)[0], [-0.4, 0.6]
    yield "steepest_descent", lambda x: descent(1.0 * x), [-0.4, 0.6]


@package("adafruit-circuitpython-simplemath", "ranges of sensors")
def simplemath() -> Iterator[Case]:
    m = module("adafruit_simplemath")
    yield "map_range", spread(m.map_range), [0.7, 0.1, 2.0, -1.0, 3.0]
    yield "constrain", spread(m.constrain), [2.4, 0.5, 1.9]


@package("pymablock", "perturbation theory")
def pymablock() -> Iterator[Case]:
    m = module("pymablock")
    rows = np.random.default_rng(20).normal(size=(4, 4))

    def effective(x: Any) -> Any:
        coupling = x[4:].reshape(4, 4)
        transformed, *_ = m.block_diagonalize(
            [np.diag(x[:4]), coupling + coupling.T], subspace_indices=[0, 0, 1, 1]
        )
        return transformed[0, 0, 2]

    yield "block_diagonalize", effective, [0.0, 0.1, 1.0, 1.3, *rows.ravel()]


@package("hazardous", "competing risks")
def hazardous() -> Iterator[Case]:
    m, pandas = module("hazardous.metrics"), module("pandas")
    spans = [3.0, 5.0, 2.0, 7.0, 4.0, 6.0, 1.0, 9.0]
    times = np.array([1.5, 3.2, 5.1])
    risks = [*(0.5 + 0.4 * np.cos(1.7 * np.arange(24.0)))]

    def survival(x: Any) -> Any:
        seen = pandas.DataFrame({"event": [0, 1, 0, 1, 1, 1, 1, 0], "duration": spans})
        return m.brier_score_survival(seen, seen, x.reshape(8, 3), times)

    def incidence(x: Any) -> Any:
        seen = pandas.DataFrame({"event": [0, 1, 0, 1, 1, 2, 1, 0], "duration": spans})
        return m.integrated_brier_score_incidence(
            seen, seen, x.reshape(8, 3), times, event_of_interest=1
        )

    yield "brier_score_survival", survival, risks
    yield "integrated_brier_score_incidence", incidence, risks


@package("geometry-lib-pca", "areas of shapes")
def geometry_lib() -> Iterator[Case]:
    m = module("geometry_lib")

    def areas(kind: str) -> Callable[[Any], Any]:
        return lambda x: m.ShapeFactory.create(m.ShapeType[kind], *x).compute_area()

    yield "TRIANGLE", areas("TRIANGLE"), [3.0, 4.0, 4.5]
    yield "CIRCLE", areas("CIRCLE"), [1.3]


@package("eir", "epidemics")
def eir() -> Iterator[Case]:
    m = module("Eir.Deterministic.SEIR")
    sir = module("Eir.Deterministic.SIR")

    def exposed(x: Any) -> Any:
        beta, rho, gamma = (float(v) for v in x)
        found = m.SEIR(beta, rho, gamma, 990, 5, 5, 0).run(6, 0.5, plot=False)
        return found["Infected"].to_numpy()

    def infected(x: Any) -> Any:
        beta, gamma = (float(v) for v in x)
        found = sir.SIR(beta=beta, gamma=gamma, S0=990, I0=10, R0=0).run(6, 0.5, plot=False)
        return found["Infected"].to_numpy()

    yield "SEIR.run", exposed, [1.2, 0.4, 0.2]
    yield "SIR.run", infected, [1.2, 0.3]


@package("hydroevents", "streams after rain")
def hydroevents() -> Iterator[Case]:
    m, before = module("hydroevents.baseflow"), module("hydroevents.preprocessing")
    pandas = module("pandas")

    def filled(x: Any) -> Any:
        flow = pandas.DataFrame({"Q": [*x[:5], np.nan, np.nan, *x[5:]]})
        return before.fill_streamflow_gaps(flow, interp_method="linear")[0]["Q"].to_numpy()

    yield "lyne_hollick_filter", lambda x: m.lyne_hollick_filter(x[1:], x[0], "frf"), [
        0.9, *SERIES,
    ]  # fmt: skip
    yield "compute_bfi", lambda x: m.compute_bfi(
        pandas.Series(0.5 * x[:6]), pandas.Series(x[6:])
    ), SERIES  # fmt: skip
    yield "fill_streamflow_gaps", filled, SERIES


@package("qcsim", "quantum computers")
def qcsim() -> Iterator[Case]:
    operators, states = module("qcSim.operator"), module("qcSim.state")

    def rotated(x: Any) -> Any:
        turn = operators.two_pulse(x[0], x[1], x[2])
        return turn(states.State([0.6, 0.8])).probabilities()

    def entangled(x: Any) -> Any:
        gate = operators.controlled_operator(operators.two_pulse(x[0], x[1]))
        state = states.State([x[2], x[3], 0.3, 1.2])
        return np.reshape(gate(state).specific_probability(1, 0), (1,))

    yield "two_pulse", rotated, [0.7, 0.4, 0.2]
    yield "controlled_operator", entangled, [0.7, 0.4, 1.0, 2.0]


@package("joelkit", "algorithms, from a course")
def joelkit() -> Iterator[Case]:
    m = module("joelkit.algorithms.merge_sorted")
    selection = module("joelkit.algorithms.insertion_sort")
    yield "merge_sorted", lambda x: m.merge_sorted([*x]), SERIES
    yield "insertion_sorted", lambda x: selection.insertion_sorted([*x]), SERIES


@package("tedana", "echoes of magnetic resonance")
def tedana() -> Iterator[Case]:
    combine, decay = module("tedana.combine"), module("tedana.decay")
    echoes = np.array([14.0, 28.0, 42.0])
    mask = np.array([3, 2])
    cube = [*(100.0 + 20.0 * np.cos(1.3 * np.arange(24.0)))]

    def fitted(x: Any) -> Any:
        return decay.fit_loglinear(x.reshape(2, 3, 4), echoes, mask, report=False)

    yield "make_optcom, t2s", lambda x: combine.make_optcom(
        x[2:].reshape(2, 3, 4), echoes, mask, t2s=x[:2]
    ), [30.0, 45.0, *cube]  # fmt: skip
    yield "make_optcom, paid", lambda x: combine.make_optcom(
        x.reshape(2, 3, 4), echoes, mask, combmode="paid"
    ), cube  # fmt: skip
    yield "fit_loglinear", fitted, [
        v * w for v, w in zip(cube, np.exp(-np.repeat([0.4, 0.8, 1.2] * 2, 4)), strict=True)
    ]  # fmt: skip


@package("numericalmethodsjb", "roots of functions")
def numericalmethodsjb() -> Iterator[Case]:
    m = module("rootfinding")

    def root(x: Any) -> Any:
        def cubic(t: Any) -> Any:
            return t**3 - x[0] * t - x[1]

        def slope(t: Any) -> Any:
            return 3.0 * t**2 - x[0]

        return m.Rootfinding.newton(cubic, slope, x[2], 6, 1e-12)

    yield "newton", root, [2.0, 1.0, 2.5]


@package("centurypy", "carbon in soil")
def centurypy() -> Iterator[Case]:
    m = module("centurypy.century")
    rates = [0.28, 0.08, 0.0035, 0.14, 0.00013, 0.3, 0.55, 0.55, 0.55, 0.55, 0.2, 0.03, 0.004]
    times = np.array([0.0, 1.0, 3.0, 6.0])

    def model(x: Any) -> Any:
        return m.Century([100.0, x[0], x[1], 20.0, 30.0, x[2], 0.1]).resolve(times, x[3:])

    yield "Century.resolve", model, [5.0, 0.4, 3.0, *rates]


@package("pushinka-rad", "radiation in space")
def pushinka_rad() -> Iterator[Case]:
    m, doses = module("pushinka_rad.orbits"), module("pushinka_rad.data.dose_depth")
    orbit = m.get_orbit("LEO_ISS")

    def environment(x: Any) -> Any:
        found = m.compute_environment(orbit, x[0], shielding_mm_al=x[1])
        return np.array([found.tid_krad, 1e-10 * found.proton_fluence_cm2])

    yield "kepler_period", lambda x: m.kepler_period(x[0]), [420.0]
    yield "interpolate_dose_rate", lambda x: doses.interpolate_dose_rate(x[0]), [2.3]
    yield "compute_environment", environment, [1.7, 2.3]


@package("pysunergy-calc", "solar panels")
def pysunergy() -> Iterator[Case]:
    m, time = module("pysunergy_calc"), module("datetime")
    noon = time.datetime(2026, 6, 21, 11, 30, tzinfo=time.timezone.utc)

    def position(x: Any) -> Any:
        found = m.compute_solar_potential(x[0], x[1], noon)
        return np.array([found.altitude, found.azimuth])

    yield "compute_solar_potential", position, [46.2, 6.1]
    yield "compute_panel_power", spread(m.compute_panel_power), [12.0, 0.2, 700.0]
    yield "estimate_energy_produced", spread(m.estimate_energy_produced), [
        12.0, 0.2, 200.0, 24.0, 0.8,
    ]  # fmt: skip


@package("segwo", "sensitivities of detectors")
def segwo() -> Iterator[Case]:
    cov, response = module("segwo.cov"), module("segwo.response")
    sensitivity, geometry = module("segwo.sensitivity"), module("segwo.geometry")
    mixing = np.array([[1.0, 0.5j, -0.3], [0.2, 1.0, 0.4j], [0.1j, 0.3, 1.0]])
    corners = 1e9 * np.array([[0.0, 0.0, 0.0], [2.5, 0.1, 0.0], [1.2, 2.1, 0.3]])

    def noise(x: Any) -> Any:
        return cov.project_covariance(cov.construct_covariance_from_psds([*x]), mixing)

    def signal(x: Any) -> Any:
        return cov.construct_covariance_from_measurements(x[:, None] * np.array([1.0, 0.3, 0.5]))

    def inverse(x: Any) -> Any:
        return sensitivity.compute_sensitivity_from_inverse(
            noise(x[:12].reshape(3, 4)), signal(x[12:])
        )

    def diagonal(x: Any) -> Any:
        return sensitivity.compute_sensitivity_from_eigenvalues(
            noise(x[:12].reshape(3, 4)), signal(x[12:])
        )

    def links(x: Any) -> Any:
        made = geometry.Geometry(
            links=geometry.lisa_links(),
            positions=(corners + 1e8 * x[2:].reshape(3, 3))[None],
            ltts=np.full((1, 6), 8.3),
        )
        return response.compute_strain2link(np.array([1e-3, 3e-3]), x[0], x[1], made)

    start = [*SERIES, 1.0, 0.7, 1.2, 0.9]
    yield "compute_sensitivity_from_inverse", inverse, start
    yield "compute_sensitivity_from_eigenvalues", diagonal, start
    yield "compute_strain2link", links, [0.4, 1.1, *(0.1 * np.array(SERIES[:9]))]


@package("unwisexlens-lklh", "spectra of galaxies")
def unwisexlens() -> Iterator[Case]:
    m = module("unWISExLens_lklh.auxiliary.pk_interpolator").PowerSpectrumInterpolator
    binned = module("unWISExLens_lklh.auxiliary.auxiliary_functions").bin_spectrum
    shifts, scales = np.linspace(0.0, 2.0, 5), np.geomspace(0.01, 1.0, 6)
    power = np.exp(-(np.log(scales / 0.05) ** 2))[None] / (1.0 + shifts[:, None]) ** 2

    def spectrum(x: Any) -> Any:
        made = m(shifts, scales, x.reshape(5, 6), extrap_kmax=5.0)
        return made.P(np.array([0.3, 1.1]), np.array([0.03, 0.2]), grid=False)

    def at(x: Any) -> Any:
        return m(shifts, scales, np.log(power), logP=True).logP(x[:2], x[2:], grid=False)

    bands = np.array([0.0, 4.0, 8.0, 12.0])
    yield "PowerSpectrumInterpolator", spectrum, [*power.ravel()]
    yield "PowerSpectrumInterpolator.logP", at, [0.3, 1.1, 0.03, 0.2]
    yield "bin_spectrum", lambda x: binned(np.arange(12.0), x, bands, ell_weighted=True), SERIES


@package("pymagnetos", "high magnetic fields")
def pymagnetos() -> Iterator[Case]:
    m = module("pymagnetos.core.signal_processing")
    times = np.linspace(0.0, 1.0, 60)
    carrier = [*(np.sin(2.0 * np.pi * 12.0 * times + 0.3) * (1.0 + 0.4 * times))]

    def quadratures(x: Any) -> Any:
        return m.demodulate(
            times, np.sin(2.0 * np.pi * 12.0 * times), times, x, 12.0, filter_order=2, filter_fc=4.0
        )

    yield "integrate_pickup", lambda x: m.integrate_pickup(np.cumsum(x[:12]), x[12:], 0.7), [
        *SERIES, *SERIES[::-1],
    ]  # fmt: skip
    yield "rolling_average", lambda x: m.rolling_average(x.reshape(12, 2), 3, subsample=True), LONG
    yield "demodulate", quadratures, carrier


@package("polypy", "molecules that move")
def polypy() -> Iterator[Case]:
    m, utils = module("polypy.analysis"), module("polypy.utils")
    tracks = module("polypy.msd").MSDContainer
    cell = [5.0, 0.1, 0.2, -0.3, 6.0, 0.4, 0.5, 0.2, 7.0]

    def charges(x: Any) -> Any:
        made = m.OneDimensionalChargeDensity(
            np.arange(12.0), [x[:12], x[12:]], [2.0, -1.0], 3.5, 10
        )
        return made.calculate_charge_density()[1]

    def fractions(x: Any) -> Any:
        inverse, lengths = utils.calculate_rcplvs(x[:9].reshape(3, 3))
        return utils.cart_2_frac(x[9:].reshape(2, 3), lengths, inverse)

    yield "calculate_charge_density", charges, LONG
    yield "cart_2_frac", fractions, [*cell, 1.0, 2.0, 3.0, 2.5, 1.5, 0.5]
    yield "conductivity", spread(m.conductivity), [120.0, 800.0, 0.3, 900.0, 1.1]
    yield "smooth_msd_data", lambda x: tracks().smooth_msd_data(np.arange(12) // 3, x)[1], SERIES


@package("alaa-rocket", "rockets, from a course")
def alaa_rocket() -> Iterator[Case]:
    m = module("rocket.rocket")

    def distance(x: Any) -> Any:
        first, second = m.Rocket(x[0], x[1]), m.Shuttle(x[2], x[3])
        first.move_rocket(x[4], 2.0)
        return first.get_distance(second)

    yield "get_distance", distance, [0.3, 1.0, 2.0, -0.5, 0.7]


@package("quantumgeometrytensor", "geometry of bands")
def quantum_geometry() -> Iterator[Case]:
    m = module("quantumgeometrytensor.QuantumGeometry").QuantumGeometry
    spins = [np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1])]

    def bands(k: Any) -> Any:
        return np.sin(k[0]) * spins[0] + np.sin(k[1]) * spins[1] + (1.2 - np.cos(k[0])) * spins[2]

    yield "get_energy_band", lambda x: m(bands).get_energy_band(x)[0], [0.4, 0.9]
    yield "Local_S_QuantumGeometry", lambda x: m(bands).Local_S_QuantumGeometry(x, spins[:2]), [
        0.4, 0.9,
    ]  # fmt: skip
    yield "velocity", lambda x: [np.abs(v) for v in m(bands).velocity(x)], [0.4, 0.9]


@package("samspy", "launch vehicles")
def samspy() -> Iterator[Case]:
    m, orbit = module("samspy.vehicle.multistage"), module("samspy.traj.orbit").Elliptical

    def launch(x: Any) -> Any:
        stages = {
            "S1": {"Mwet": x[0], "Mdry": x[1], "Isp": x[2]},
            "S2": {"Mwet": x[3], "Mdry": 1.0, "Isp": 340.0},
        }
        return m.stagedeltaV(["S1", "S2"], stages)

    def turn(x: Any) -> Any:
        first, second = (orbit(apo=x[0], peri=p, mu=398600.0) for p in (x[1], x[2]))
        first.fill_params()
        second.fill_params()
        return np.array([first.planechange(second, x[3]), second.eccentricity, first.period])

    yield "rocketeq", spread(m.rocketeq), [3.1, 120.0, 40.0]
    yield "stagedeltaV", launch, [100.0, 8.0, 310.0, 12.0]
    yield "planechange", turn, [42164.0, 6678.0, 7000.0, 0.4]


@package("ocean-model", "a column of the ocean")
def ocean_model() -> Iterator[Case]:
    m, types = module("ocean_model.Dynamic"), module("types")

    def step(x: Any) -> Any:
        layers = types.SimpleNamespace(kmax=5, dsig_u=x[:6], dsig_w=x[6:12])
        explicit = m.estimate_explicite_matrix(6, 0.5, 0.6, x[12], x[13], layers)
        implicit = m.estimate_implicite_matrix(6, 0.5, 0.6, x[12], x[13], layers)
        return [explicit, implicit]

    widths = [*(0.2 + 0.02 * np.cos(np.arange(12.0)))]
    yield "estimate_implicite_matrix", step, [*widths, 0.05, 1.4]


@package("pgmpy", "Bayesian networks")
def pgmpy() -> Iterator[Case]:
    network = module("pgmpy.models").LinearGaussianBayesianNetwork
    factor = module("pgmpy.factors.continuous").LinearGaussianCPD

    def joint(x: Any) -> Any:
        made = network([("a", "b"), ("b", "c")])
        made.add_cpds(
            factor("a", [x[0]], x[1]), factor("b", x[2:4], x[4], ["a"]),
            factor("c", x[5:7], x[7], ["b"]),
        )  # fmt: skip
        return made.to_joint_gaussian()

    yield "to_joint_gaussian", joint, [1.0, 4.0, -5.0, 0.5, 2.0, 4.0, -1.0, 1.5]
