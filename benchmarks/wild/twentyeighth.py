"""A twenty-eighth sample, drawn on 2026-11-30, and written down before any of it was tried.

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

TWENTYEIGHTH = Sample()
package = TWENTYEIGHTH.package
xp: Any = np


@package("spart-python", "reflectance of vegetation")
def spart_python() -> Iterator[Case]:
    m, soils = module("SPART.SPART"), module("SPART.BSM")
    leaves, canopies = module("SPART.PROSPECT_5D"), module("SPART.SAILH")
    air = module("SPART.SMAC")
    optics = {name: one[::25] for name, one in m.load_optical_parameters().items()}

    def leaf(x: Any) -> Any:
        found = leaves.PROSPECT_5D(leaves.LeafBiology(*x), optics)
        return [found.refl, found.tran]

    def soil(x: Any) -> Any:
        found = soils.BSM(soils.SoilParameters(*x), optics)
        return [found.refl, found.refl_dry]

    def sky(x: Any) -> Any:
        sun = canopies.Angles(x[0], x[1], 60.0)
        state = air.AtmosphericProperties(x[2], x[3], x[4], alt_m=x[5], temp_k=x[6])
        found = air.SMAC(sun, state, m.load_sensor_info("LANDSAT8-OLI")["SMAC_coef"])
        return [found.Ta_s, found.Ta_o, found.Tg, found.Ra_dd, found.Ra_so, found.Ta_sd]

    def reflected(x: Any) -> Any:
        sun = m.calculate_ET_radiance(m.load_ET_parameters()["Ea"], 100, x[0])
        found = m.calculate_spectral_convolution(
            m.load_ET_parameters()["wl_Ea"], sun, m.load_sensor_info("LANDSAT8-OLI")
        )
        return [0.01 * found, canopies.CanopyStructure(3.0, x[1], x[2], 0.05).lidf]

    yield "PROSPECT_5D", leaf, [40.0, 10.0, 0.02, 0.01, 0.1, 10.0, 1.5]
    yield "BSM", soil, [0.5, 10.0, 95.0, 17.0, 25.0, 0.015]
    yield "calculate_ET_radiance, leaf angles", reflected, [40.0, -0.35, -0.15]
    yield "SMAC", sky, [40.0, 15.0, 0.32, 0.35, 1.4, 500.0, 288.0]


@package("pybenchfcn", "problems of optimisation")
def pybenchfcn() -> Iterator[Case]:
    m = module("PyBenchFCN.Factory")
    problems = module("PyBenchFCN.SingleObjectiveProblem")

    def many(*names: str) -> Callable[[Any], Any]:
        return lambda x: [m.set_sop(name, len(x)).f(x) for name in names]

    def table(x: Any) -> Any:
        rows = x.reshape(4, 3)
        return [
            problems.griewankfcn(3).F(rows), problems.levin13fcn(2).F(rows[:, :2]),
            problems.zakharovfcn(3).F(rows) * 1e-3, problems.salomonfcn(3).F(rows),
        ]  # fmt: skip

    yield (
        "f of problems in many dimensions",
        many("ackley", "rastrigin", "rosenbrock", "styblinskitank", "qing", "happycat"),
        [0.7, -0.4, 1.3, 0.2, -0.9],
    )
    yield (
        "f of problems in two",
        many(
            "goldsteinprice", "mccormick", "himmelblau", "easom", "dropwave", "crossintray", "beale"
        ),
        [0.7, 0.4],
    )
    yield "F of a table", table, SERIES


@package("pandstat", "statistics of tables")
def pandstat() -> Iterator[Case]:
    m, methods = module("pandstat.linear_models"), module("pandstat.dataframe_methods")
    pd = module("pandas")
    columns = ["coef", "std_error", "t", "p_value", "conf_low", "conf_high"]

    def regression(x: Any) -> Any:
        frame = pd.DataFrame({"y": x[:12], "a": x[12:], "b": np.cos(np.arange(12.0))})
        return m.ols_model(frame, "y", ["a", "b"])[columns]

    def tested(x: Any) -> Any:
        frame = pd.DataFrame({"v": x, "w": [1, 2, 3, 1, 2, 1, 1, 2, 3, 1, 1, 2]})
        found = m.one_sample_ttest(frame, "v", "w")
        return found[["mean", "std_error", "t", "conf_low", "conf_high"]]

    def grouped(x: Any) -> Any:
        frame = pd.DataFrame({"v": x, "g": ["a", "b"] * 8}).groupby("g")
        found = m.one_sample_ttest_grouped(frame, "v")
        return found[["mean", "std_error", "t", "p_value", "conf_low", "conf_high"]]

    def lumped(x: Any) -> Any:
        frame = pd.DataFrame({"v": x, "g": [*"aabbbcaabddb"], "k": [*"pq"] * 6})
        wide = methods.pivot_wider(
            frame.groupby(["g", "k"], as_index=False).mean(), ["g"], ["k"], "v"
        )
        return [methods.top_n(frame, "g", "v", 2)[["v"]], wide[["p"]].dropna()]

    yield "ols_model", regression, LONG
    yield "one_sample_ttest", tested, SERIES
    yield "one_sample_ttest_grouped", grouped, LONG[:16]
    yield "top_n, pivot_wider", lumped, SERIES


@package("tbcalc", "bent crystals for X-rays")
def tbcalc() -> Iterator[Case]:
    m, strips = module("tbcalc.transverse_deformation"), module("tbcalc.strip_bent")
    tensors, johann = module("tbcalc.tensor_transform"), module("tbcalc.johann_error")
    across, along = np.array([[3.1, -7.3], [11.2, 20.4]]), np.array([[5.2, 14.1], [-21.3, 9.6]])
    names = ["xx", "yy", "xy", "xz", "zz"]

    def circular(x: Any) -> Any:
        half = x[4:].reshape(6, 6)
        stress, strain, force = m.anisotropic_circular(*x[:4], 1e-3 * (half + half.T))
        return [
            *(1e3 * stress[name](across, along) for name in names[:3]),
            *(1e4 * strain[name](across, along) for name in names), 1e4 * force(across, along),
        ]  # fmt: skip

    def striped(x: Any) -> Any:
        stress, strain, force = strips.isotropic_strip_bent_deformation(
            x[0], x[1], x[2], x[3], "sagittal", True, "wide", *x[4:]
        )
        return [
            *(1e4 * stress[name](across, along) for name in names[:3]),
            *(1e6 * strain[name](across, along) for name in names[:3]), force(across, along),
        ]  # fmt: skip

    def cylindrical(x: Any) -> Any:
        _, strain, _ = m.isotropic_rectangular(*x[:6], 165.0)
        found = tensors.cartesian_tensors_to_cylindrical(strain)
        return [1e5 * found[name](x[6:8], x[8:10]) for name in ("rr", "rphi", "phiphi", "rz", "zz")]

    def errors(x: Any) -> Any:
        return [
            100.0 * johann.johann_error(across, along, *x[:3]),
            10.0 * johann.johann_error(x[4:6], x[6:8], x[0], x[1], x[2], energy=x[3]),
        ]  # fmt: skip

    matrix = 0.1 * np.cos(1.3 * np.arange(36.0)).reshape(6, 6)
    matrix += np.diag([3.8, 3.9, 4.1, 6.3, 6.5, 6.2])
    yield "anisotropic_circular", circular, [1000.0, 900.0, 100.0, 0.15, *matrix.ravel()]
    yield "isotropic_strip_bent_deformation", striped, [
        1000.0, 900.0, 100.0, 15.0, 0.15, 0.27, 165.0,
    ]  # fmt: skip
    yield "cartesian_tensors_to_cylindrical", cylindrical, [
        1000.0, 900.0, 80.0, 70.0, 0.15, 0.27, 11.0, 24.0, 0.4, 2.3,
    ]  # fmt: skip
    yield "johann_error", errors, [1000.0, 900.0, 1.2, 9.7, 11.0, -21.0, 7.0, 16.0]


@package("soominsomean", "linear regression")
def soominsomean() -> Iterator[Case]:
    m, selection = module("soominsomean.lr"), module("sklearn.model_selection")
    fixed = np.stack([np.ones(12), np.cos(np.arange(12.0)), np.sin(1.7 * np.arange(12.0))], axis=1)

    def fitted(x: Any) -> Any:
        table = np.stack([np.ones(12), x[:12], np.cos(x[:12])], axis=1)
        made = m.LinearRegression().fit(table, x[12:])
        return [made.parameters, made.predict(fixed[:4])]

    def scored(x: Any) -> Any:
        made = m.LinearRegression().fit(fixed, x[:12])
        return [made.score(fixed, x[12:]), made.score(fixed[:6], x[:6])]

    def validated(x: Any) -> Any:
        found = selection.cross_val_predict(m.LinearRegression(), fixed, x, cv=3)
        return [found, selection.cross_val_score(m.LinearRegression(), fixed, x, cv=3)]

    yield "fit, predict", fitted, LONG
    yield "score", scored, LONG
    yield "cross_val_predict", validated, SERIES


@package("mrn", "normalised time series")
def mrn() -> Iterator[Case]:
    m = module("MRN.scale")

    def transformed(x: Any, retention: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            return m.Normalization(x, memory_retention=retention).transform()

    yield "transform", lambda x: transformed(x, 0.6)[4:], LONG
    yield "transform, retention", lambda x: transformed(x[1:], x[0])[10:], [0.37, *LONG]


@package("geokde", "densities on maps")
def geokde() -> Iterator[Case]:
    m, gpd = module("geokde"), module("geopandas")
    east, north = 10.0 * np.cos(np.arange(8.0)), 10.0 * np.sin(1.7 * np.arange(8.0))

    def weighted(x: Any) -> Any:
        table = gpd.GeoDataFrame({"w": x}, geometry=gpd.points_from_xy(east, north))
        found, _ = m.kde(table, 6.3, 1.7, weight="w")
        return found

    def varied(x: Any) -> Any:
        table = gpd.GeoDataFrame({"r": x}, geometry=gpd.points_from_xy(east, north))
        found, bounds = m.kde(table, "r", 1.7, kernel="triweight", scale=True)
        return [10.0 * found, bounds]

    def placed(x: Any) -> Any:
        table = gpd.GeoDataFrame(geometry=gpd.points_from_xy(x[:8], x[8:]))
        found, _ = m.kde(table, 6.3, 1.7, kernel="triweight")
        return found

    yield "kde, weights", weighted, SERIES[:8]
    yield "kde, radii", varied, [5.0, 5.6, 4.4, 7.1, 6.2, 5.9, 4.8, 6.6]
    yield "kde, points", placed, [*east, *north]


@package("pymlslecture", "acoustics of porous layers")
def pymlslecture() -> Iterator[Case]:
    m = module("pymls.media")

    def described(x: Any) -> dict[str, Any]:
        return {
            "phi": x[0], "sigma": 1e4 * x[1], "alpha": x[2], "Lambda_prime": 1e-4 * x[3],
            "Lambda": 1e-4 * x[4],
        }  # fmt: skip

    def porous(x: Any) -> Any:
        made = m.PEM()
        made.from_dict({
            **described(x), "rho_1": x[5], "nu": x[6], "E": 1e5 * x[7], "eta": x[8],
            "loss_type": "structural",
        })  # fmt: skip
        made.update_frequency(1e3 * x[9])
        return [
            0.1 * made.delta_1, 0.1 * made.delta_2, 0.1 * made.delta_3, made.mu_1, made.mu_2,
            1e-5 * made.P_til, 1e-5 * made.Q_til, 1e-2 * made.rho_til,
        ]  # fmt: skip

    def fluid(x: Any) -> Any:
        made = m.EqFluidJCA()
        made.from_dict(described(x))
        made.update_frequency(1e3 * x[5])
        return [
            0.1 * made.rho_eq_til, 1e-5 * made.K_eq_til, 0.01 * made.c_eq_til, made.alpha_til,
            made.alpha_prime_til,
        ]  # fmt: skip

    def solid(x: Any) -> Any:
        made = m.Elastic()
        made.from_dict({"E": 1e5 * x[0], "nu": x[1], "rho": x[2], "eta": x[3]})
        made.update_frequency(1e3)
        return [1e-5 * made.lambda_, 1e-5 * made.mu]

    foam = [0.97, 5.7, 1.54, 0.73, 0.24]
    yield "PEM.update_frequency", porous, [*foam, 46.0, 0.3, 2.14, 0.115, 3.3]
    yield "EqFluidJCA.update_frequency", fluid, [*foam, 3.3]
    yield "Elastic.from_dict", solid, [2.6, 0.31, 1.1, 0.1]


@package("cw-constrain", "dark matter and gravitational waves")
def cw_constrain() -> Iterator[Case]:
    m, holes = (
        module("cw_constrain.DM_constrain.dm_constrain"),
        module("cw_constrain.PBH_constrain.pbh_constrain"),
    )
    shared = module("cw_constrain.shared.shared_utils")

    def inspirals(x: Any) -> Any:
        mass, strains, frequencies = 1e-5 * x[0], 1e-25 * x[3:7], 100.0 * x[7:11]
        highest = holes.power_law(1e7, frequencies, 1e-9 * x[1], 11 / 3)
        distances = holes.calc_chirp_d(strains, mass, frequencies)
        times = 1e-13 * holes.calc_delta_T(mass, frequencies, highest + 10.0)
        rate = holes.calc_rate_VT(distances, times)
        return [
            distances, highest * 0.01, np.log(rate), 1e9 * holes.calc_fdot_chirp(mass, highest),
            np.log(holes.calc_ftilde_equal_mass(rate, 2.3 * mass)),
            np.log(holes.calc_ftilde_asymm_mass(rate, x[2], mass)),
            holes.f_taylor(1e3, frequencies, 1e-4 * x[1], 1e-8 * x[2]) * 0.01,
        ]  # fmt: skip

    def matter(x: Any) -> Any:
        masses = m.dm_calc_m(100.0 * x[:3])
        strains = 1e-25 * x[3:6]
        return [
            1e12 * masses, 1e24 * m.dp_calc_eps_from_h0(masses, strains),
            np.log(m.tb_get_constraint_from_h0s(100.0 * x[:3], strains)),
            m.dp_finite_travel_factor(1e-12 * x[:3], detector="et", v0=1e-3 * x[6]),
        ]  # fmt: skip

    def pulsars(x: Any) -> Any:
        spins, drifts = 100.0 * x[:3], 1e-14 * x[3:6]
        length, across, along = shared.calc_TFFT_doppler(spins)
        return [
            1e-3 * length, 100.0 * across, 100.0 * along, 0.1 * shared.calc_ND(spins, length),
            1e6 * shared.calc_ellipticity(1e-25 * x[3:6], spins, x[6], 1e38 * x[7]),
            1e8 * shared.calc_ellip_from_f0_fdot(spins, drifts, 1e38 * x[7]),
            1e8 * shared.calc_eps_sd(spins, -drifts, 1e38 * x[7]),
        ]  # fmt: skip

    yield "inspirals of black holes", inspirals, [
        1.3, 1.7, 2.1, 1.2, 0.9, 1.6, 2.2, 0.7, 1.1, 1.5, 2.4,
    ]  # fmt: skip
    yield "constraints of dark matter", matter, [0.7, 1.9, 4.2, 1.1, 0.8, 2.3, 0.77]
    yield "ellipticities of pulsars", pulsars, [1.3, 2.9, 6.1, 1.1, 0.6, 2.3, 8.2, 1.1]


@package("paramagpy", "NMR of paramagnetic proteins")
def paramagpy() -> Iterator[Case]:
    m, fit = module("paramagpy.metal"), module("paramagpy.fit")
    spots = np.stack(
        [np.cos(np.arange(9.0)), np.sin(1.7 * np.arange(9.0)), np.cos(2.3 * np.arange(9.0) + 1.0)]
    ).T
    spots += 1.5
    proton = np.full(4, 2.0 * np.pi * 42.576e6)

    def shifted(x: Any) -> Any:
        made = m.make_tensor(*x[:8])
        found = made.fast_pcs(1e-9 * x[8:].reshape(4, 3))
        return [0.1 * found, 1e-9 * made.pcs_gradient(1e-9 * x[8:11])]

    def relaxed(x: Any) -> Any:
        made = m.make_tensor(*x[:8], lanthanide="Tb")
        made.taur, made.B0 = 1e-9 * x[8], x[9]
        tensors = 1e-6 * np.cos(np.arange(36.0)).reshape(4, 3, 3)
        places = 1e-9 * x[10:].reshape(4, 3)
        return [
            0.01 * made.fast_pre(places, proton, "r2", csaarray=tensors),
            made.fast_pre(places, proton, "r1"), made.ccr(places[0], proton[0], tensors[1]),
        ]  # fmt: skip

    def solved(x: Any) -> Any:
        index = np.array([0, 1, 2, 3, 4, 5, 6, 6, 7])
        found, tensor = fit.svd_calc_metal_from_pcs(
            1e-9 * spots - 1e-9 * x[:3], x[3:11], index, np.full(9, 0.7)
        )
        return [found, 1e32 * tensor]

    def coupled(x: Any) -> Any:
        made = m.Metal(temperature=300.0 * x[0], B0=10.0 * x[1])
        made.upper_triang = 1e-32 * x[2:7]
        found = made.fast_rdc(1e-10 * x[7:].reshape(4, 3), -0.1 * proton**2)
        return [
            found, 1e32 * made.axrh, made.eulers, 1e3 * made.tensor_saupe, 1e3 * made.eigenvalues,
        ]  # fmt: skip

    places = 0.2 * np.array(LONG[:12]) + 0.4
    tensor = [2.3, -1.7, 0.4, 31.0, 7.2, 40.0, 62.0, 25.0]
    yield "Metal.fast_pcs", shifted, [*tensor, *places]
    yield "Metal.fast_pre, ccr", relaxed, [*tensor, 4.3, 18.8, *places]
    yield "svd_calc_metal_from_pcs", solved, [0.12, -0.2, 0.07, *SERIES[:8]]
    yield "Metal.fast_rdc, eulers", coupled, [1.1, 1.8, 12.3, -4.1, 6.2, -7.5, 9.3, *places]


@package("ciceroscm", "simple climate model")
def ciceroscm() -> Iterator[Case]:
    carbon, boxes = (
        module("ciceroscm.carbon_cycle.carbon_cycle_mod"),
        module("ciceroscm.carbon_cycle.carbon_cycle_mod_box"),
    )
    upwelling, layers = (
        module("ciceroscm.thermal_model.upwelling_diffusion_model"),
        module("ciceroscm.thermal_model.two_layer_ocean"),
    )
    years = {"nystart": 1850, "nyend": 1853, "idtm": 6}

    def emitted(x: Any) -> Any:
        made = carbon.CarbonCycleModel({**years}, {"beta_f": x[0], "mixed_carbon": 100.0 * x[1]})
        return [
            0.1 * made.co2em2conc(1850 + i, 10.0 * x[2 + i], {"dtemp": x[6 + i]}) for i in range(4)
        ]

    def boxed(x: Any) -> Any:
        made = boxes.CarbonCycleModel({**years}, {"beta_f": x[0]})
        return [
            0.1
            * made.co2em2conc(1850 + i, 10.0 * x[1 + i], {"dtemp": x[5 + i], "OHC700": 10.0 * x[9]})
            for i in range(4)
        ]

    def diffused(x: Any) -> Any:
        made = upwelling.UpwellingDiffusionModel({
            "rlamda": 15.1 * x[0], "akapa": 0.66 * x[1], "cpi": 0.21 * x[2], "W": 2.2 * x[3],
        })  # fmt: skip
        calm = np.zeros(12)
        found = [made.energy_budget([x[4 + i], x[7 + i], calm, calm]) for i in range(3)]
        return [[one["dtemp"], one["dtempnh"], one["RIB"], one["OHC700"]] for one in found]

    def layered(x: Any) -> Any:
        made = layers.TwoLayerOceanModel({
            "lambda": x[0], "mixed": 50.0 * x[1], "deep": 1e3 * x[2], "k": x[3],
            "ocean_efficacy": x[4],
        })  # fmt: skip
        found = [
            made.energy_budget([x[5 + i], x[8 + i], np.zeros(12), 0.1 * np.ones(12)])
            for i in range(3)
        ]
        return [[one["dtemp"], one["RIB"], one["OHC700"], one["OHCTOT"]] for one in found]

    yield "CarbonCycleModel.co2em2conc", emitted, [
        0.29, 0.8, 0.7, 1.1, 0.9, 1.3, 0.2, 0.35, 0.5, 0.9,
    ]  # fmt: skip
    yield "UpwellingDiffusionModel.energy_budget", diffused, [
        1.1, 0.9, 1.2, 1.05, 2.1, 2.6, 3.2, 1.7, 2.4, 2.9,
    ]  # fmt: skip
    yield "TwoLayerOceanModel.energy_budget", layered, [
        1.25, 1.1, 1.2, 0.6, 1.3, 2.1, 2.6, 3.2, 1.7, 2.4, 2.9,
    ]  # fmt: skip
    yield "box model of carbon", boxed, [0.29, 0.7, 1.1, 0.9, 1.3, 0.2, 0.35, 0.5, 0.9, 0.4]


@package("paper-portfolio", "returns of portfolios")
def paper_portfolio() -> Iterator[Case]:
    m, pl = module("paper_portfolio.evaluation.metrics"), module("polars")

    def sharpe(x: Any) -> Any:
        return m.annualized_sharpe_ratio(pl.Series(0.01 * x[:12]), pl.Series(0.01 * x[12:]))

    def shortfall(x: Any) -> Any:
        return m.expected_shortfall(pl.Series(x), confidence_level=0.7)

    def cumulated(x: Any) -> Any:
        return m.cumulative_return(pl.Series("r", 0.1 * x)).to_numpy()

    yield "annualized_sharpe_ratio", sharpe, LONG
    yield "expected_shortfall", shortfall, LONG
    yield "cumulative_return", cumulated, SERIES


@package("prstat", "probabilities for students")
def prstat() -> Iterator[Case]:
    m = module("prstat.prstat")

    def received(x: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            return m.communication_system(x[0], 1 - x[0], x[1], 1 - x[1], x[2], 1 - x[2])

    def coded(x: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            failed = [
                m.digital_communication(7, 4, 1, x[0]),
                m.digital_communication(15, 7, 2, x[0]),
            ]
        return [failed, m.bayes(x[1], x[2], x[3]), m.game_of_chance(10, x[0], x[1], x[2])]

    def expected(x: Any) -> Any:
        density = m.c * m.exp(-x[0] * m.x) * (1 + x[1] * m.x)
        return float(m.find_c_PDF(density, 0, m.inf))

    def moments(x: Any) -> Any:
        return float(m.Ex_and_var(x[0] * m.x**2 + x[1] * m.x + x[2], x[3], x[4]))

    yield "communication_system", received, [0.37, 0.91, 0.12]
    yield "digital_communication, bayes", coded, [0.11, 0.72, 0.4, 0.53]
    yield "find_c_PDF", expected, [1.3, 0.7]
    yield "Ex_and_var", moments, [1.3, -0.7, 2.1, 0.8, 1.6]


@package("combss", "best subsets by optimisation")
def combss() -> Iterator[Case]:
    linear, gradients = module("combss.linear"), module("combss._opt_lm")
    validated, metrics = module("combss.cv"), module("combss.metrics")
    table = np.cos(1.3 * np.arange(72.0) ** 1.1).reshape(18, 4)

    def chosen(x: Any) -> Any:
        made = linear.model()
        rows = np.column_stack([data[:, :3], x[:12]])
        made.fit(
            rows, x[12:], X_val=table[:8], y_val=check, q=2, verbose=False, Niter=8,
            inner_tol=1e-12,
        )  # fmt: skip
        return [made.coef_, made.mse]

    def gradient(x: Any) -> Any:
        found = gradients.f_grad_cg(
            x[:4], table, x[5:], table.T @ x[5:] / 18.0, x[4], np.zeros(4), np.zeros(4),
            np.zeros(18), np.zeros(18), cg_maxiter=50, cg_tol=1e-13,
        )  # fmt: skip
        return [found[0], found[1]]

    def left_out(x: Any) -> Any:
        rows = x[:18].reshape(18, 1) + table[:, :2]
        return [
            validated.loocv_mse_linear(rows, x[18:36], x[36]),
            metrics.performance_metrics(table, x[37:41], x[41:])["pe"],
        ]  # fmt: skip

    data = np.cos(0.9 * np.arange(48.0) ** 1.2).reshape(12, 4)
    answer = 2.0 * data[:, 1] - 1.5 * data[:, 3]
    answer += 0.2 * np.cos(5.0 * np.arange(12.0))
    check = 2.0 * table[:8, 1] - 1.5 * table[:8, 3] + 0.1 * np.cos(3.0 * np.arange(8.0))
    yield "model.fit", chosen, [*data[:, 3], *answer]
    yield "f_grad_cg", gradient, [0.4, 0.6, 0.3, 0.7, 0.9, *LONG[:18]]
    yield "loocv_mse_linear", left_out, [
        *LONG[:18], *LONG[6:24], 0.1, 1.2, 0.4, -0.7, 0.9, 1.0, 0.6, -0.5, 0.7,
    ]  # fmt: skip


@package("stambo", "bootstrap comparison of models")
def stambo() -> Iterator[Case]:
    m = module("stambo")

    def compared(x: Any) -> Any:
        found = m.two_sample_test(
            x[:12], x[12:], {"mean": np.mean, "std": np.std}, n_bootstrap=30, seed=3, silent=True
        )
        return [found["mean"][1:], found["std"][1:]]

    def models(x: Any) -> Any:
        truth = 4.0 + 2.0 * np.cos(np.arange(8.0))
        found = m.compare_models(
            truth, x[:8], x[8:], metrics=("MSE",), n_bootstrap=8, seed=3, silent=True
        )
        return found["MSE"][1:]

    def pairs(x: Any) -> Any:
        samples = (x[:8], x[8:16], x[16:])
        found = m.pairwise_bootstrap_test(
            samples,
            {"mean": np.mean},
            groups=np.arange(8) // 2,
            n_bootstrap=25,
            seed=3,
            silent=True,
        )["mean"]
        return [[one["diff"], *one["ci_es"], *one["ci_s1"]] for one in found.values()]

    yield "two_sample_test", compared, LONG
    yield "compare_models", models, LONG[:16]
    yield "pairwise_bootstrap_test", pairs, LONG


@package("applyaf", "antennas and spectrum analysers")
def applyaf() -> Iterator[Case]:
    m = module("applyaf")

    def table(frequencies: Any, amplitudes: Any) -> Any:
        made = np.zeros(len(frequencies), dtype=[("frequency", "f8"), ("amplitude_db", "f8")])
        made["frequency"], made["amplitude_db"] = frequencies, amplitudes
        return made

    def applied(x: Any) -> Any:
        found, factors, losses = m.apply_antenna_factor_show_af_cl(
            table([1.1, 2.3, 3.9, 2.3, 5.2], x[:5]), table([0.5, 2.0, 4.1, 6.0], x[5:9]),
            table([0.7, 3.2, 3.2, 5.9], x[9:]),
        )  # fmt: skip
        return [found["amplitude_db"], factors, losses]

    def removed(x: Any) -> Any:
        found = m.remove_antenna_factor(
            table([1.1, 2.3, 3.9, 5.2], x[:4]), table([0.5, 2.0, 4.1, 6.0], x[4:8]),
            table([0.7, 3.2, 3.2, 5.9], x[8:]), keep_max=False,
        )  # fmt: skip
        return found["amplitude_db"]

    def moved(x: Any) -> Any:
        found = m.apply_antenna_factor(
            table(x[:4], [40.0, 42.0, 39.0, 47.0]), table(x[4:], [7.0, 9.5, 8.2, 12.1])
        )
        return [found["frequency"], found["amplitude_db"]]

    yield "apply_antenna_factor_show_af_cl", applied, LONG[:13]
    yield "remove_antenna_factor", removed, SERIES
    yield "apply_antenna_factor, frequencies", moved, [1.1, 2.3, 3.9, 5.2, 0.5, 2.0, 4.1, 6.0]


@package("pyeletrica", "electrical engineering")
def pyeletrica() -> Iterator[Case]:
    m = module("pyeletrica.core.main")
    curves = [("iec", "si"), ("iec", "ei"), ("ieee", "vi"), ("us", "co2"), ("us", "co8")]

    def impedances(x: Any) -> Any:
        lines = [x[0] * (m.cosd(x[1]) + 1j * m.sind(x[1])), x[2] + 1j * x[3], x[4] - 1j * x[5]]
        return [m.Zparallel(lines), m.tand(x[1]), *m.ZIbase(x[6], x[7])]

    def tripped(x: Any) -> Any:
        return [m.overcurrent_time(100.0 * x[0], 100.0 * x[1], x[2], *one) for one in curves]

    yield "Zparallel, ZIbase", impedances, [2.3, 31.0, 1.4, 0.8, 3.1, 1.7, 4.4, 1.9]
    yield "overcurrent_time", tripped, [7.3, 1.9, 0.4]


@package("emcwrap", "Bayesian inference by ensembles")
def emcwrap() -> Iterator[Case]:
    tools, stats = module("emcwrap.tools"), module("emcwrap.stats")
    moves, dists = module("emcwrap.moves"), module("emcwrap.dists")
    chain = np.cos(np.arange(48.0) ** 1.3).reshape(8, 3, 2)

    def priors(x: Any) -> Any:
        _, log_prior, transform, _, _ = tools.get_prior({
            "a": ["normal", x[0], x[1]], "b": ["gamma", x[2], x[3]], "c": ["beta", x[4], x[5]],
            "d": ["inv_gamma_dynare", x[6], x[7]],
        })  # fmt: skip
        return [log_prior(transform(x[8:])), transform(x[8:]), *dists.inv_gamma_spec(x[6], x[7])]

    def evidence(x: Any) -> Any:
        draws = x.reshape(8, 3) + chain[:, :, 0]
        stacked = np.stack([draws, 0.3 * draws**2 + chain[:, :, 1]], axis=2)
        logs = -0.5 * np.sum(stacked**2, axis=2)
        return [
            stats.mdd_laplace(stacked, logs), stats.mdd_harmonic_mean(stacked, logs, alpha=0.2),
            stats.gelman_rubin(stacked), stats.mc_error(draws),
        ]  # fmt: skip

    def proposed(x: Any) -> Any:
        walkers = x.reshape(8, 3)
        made = moves.DIMEMove(aimh_prob=0.4)
        made.setup(walkers)
        made.lprobs = -0.1 * np.sum(walkers**2, axis=1)
        found, factors = made.get_proposal(walkers, None, np.random.RandomState(5))
        return [found, factors, made.prop_mean, made.prop_cov]

    yield "get_prior", priors, [0.3, 1.2, 1.4, 0.6, 0.4, 0.15, 1.1, 0.5, 0.7, 0.2, -0.3, 0.4]
    yield "mdd_laplace, gelman_rubin", evidence, [*(0.3 * np.array(LONG))]
    yield "DIMEMove.get_proposal", proposed, [*(0.3 * np.array(LONG))]


@package("drsdistributions", "probability distributions")
def drsdistributions() -> Iterator[Case]:
    m = module("drsDistributions")

    def gaussian(x: Any) -> Any:
        made = m.Gaussian()
        made.data = [*x[:12]]
        spread_of_all = made.calculate_stdev(sample=False)
        made.calculate_stdev()
        both = made + m.Gaussian(x[12], x[13])
        return [spread_of_all, made.mean, made.pdf(x[14]), both.mean, both.stdev, both.pdf(x[14])]

    def binomial(x: Any) -> Any:
        made = m.Binomial(x[0], 9)
        both = made + m.Binomial(x[0], 5)
        return [made.mean, made.stdev, made.pdf(3), made.pdf(6), both.stdev, both.pdf(4)]

    def fitted(x: Any) -> Any:
        made = m.Binomial(0.5, 12)
        made.data = [*x]
        made.replace_stats_with_data()
        return [made.mean, made.stdev, made.pdf(2), made.pdf(7)]

    yield "Gaussian", gaussian, [*SERIES, 1.3, 0.8, 3.1]
    yield "Binomial", binomial, [0.37]
    yield "Binomial.replace_stats_with_data", fitted, [*(0.1 * np.array(SERIES))]


@package("sweepystats", "statistics by the sweep operation")
def sweepystats() -> Iterator[Case]:
    m, pd = module("sweepystats"), module("pandas")
    angles = np.arange(12.0)

    def regression(x: Any) -> Any:
        table = np.stack([np.ones(12), x[:12], np.cos(angles)], axis=1)
        made = m.LinearRegression(table, x[12:])
        made.fit(verbose=False)
        return [made.coef(), made.coef_std(), made.sigma2(), made.cov(), made.R2(), made.f_test(1)]

    def variance(x: Any) -> Any:
        table = pd.DataFrame({"y": x, "g": ["a", "b", "c"] * 3, "z": np.cos(angles[:9])})
        made = m.ANOVA(table, "y ~ g + z")
        made.fit(verbose=False)
        return [made.sum_sq(), *made.f_test("g"), *made.f_test("z")]

    def normal(x: Any) -> Any:
        root = x[4:20].reshape(4, 4)
        made = m.Normal(x[:4], root @ root.T + np.eye(4))
        return [
            made.loglikelihood(x[20:24], verbose=False), made.cond_mean(x[20:22], [0, 2]),
            made.cond_var(x[20:22], [0, 2]),
        ]  # fmt: skip

    def swept(x: Any) -> Any:
        root = 0.3 * x.reshape(4, 4)
        made = m.SweepMatrix(root @ root.T + 2.0 * np.eye(4))
        size = np.log(made.det(verbose=False))
        made.sweep_k(1)
        made.sweep_k(3)
        return [size, made.A.copy()]

    yield "LinearRegression", regression, LONG
    yield "ANOVA", variance, SERIES[:9]
    yield "Normal", normal, [*(0.3 * np.array(LONG))]
    yield "SweepMatrix", swept, LONG[:16]


@package("pymetalog", "metalog distributions")
def pymetalog() -> Iterator[Case]:
    m = module("pymetalog")

    def fitted(x: Any, **options: Any) -> Any:
        chances = [*np.linspace(0.05, 0.95, len(x))]
        return m.metalog(x, term_limit=3, fit_method="OLS", probs=chances, **options)

    def quantiles(x: Any) -> Any:
        made = fitted(x, bounds=[0, 12], boundedness="b")
        return [m.qmetalog(made, [0.1, 0.35, 0.8], term=3), m.qmetalog(made, [0.45], term=2)]

    def tables(x: Any) -> Any:
        made = fitted(x, bounds=[0], boundedness="sl").output_dict
        return [made["A"][["a2", "a3"]], made["M"][["m3", "M3"]]]

    def weighted(x: Any) -> Any:
        return m.qmetalog(fitted(x[:5]), [*x[5:]], term=3)

    series = [1.2, 1.9, 2.7, 3.5, 4.2, 5.1, 6.3]
    yield "qmetalog, bounded", quantiles, series
    yield "metalog, tables", tables, series[:6]
    yield "qmetalog, probabilities", weighted, [*series[:5], 0.15]


@package("bsm2-python", "wastewater treatment")
def bsm2_python() -> Iterator[Case]:
    sludge, clarifier = (
        module("bsm2_python.bsm2.asm1_bsm2"),
        module("bsm2_python.bsm2.primclar_bsm2"),
    )
    digester, performance = (
        module("bsm2_python.bsm2.adm1_bsm2"),
        module("bsm2_python.bsm2.plantperformance"),
    )
    start, plant = (
        module("bsm2_python.bsm2.init.asm1init_bsm2"),
        module("bsm2_python.bsm2.init.plantperformanceinit_bsm2"),
    )
    digested = module("bsm2_python.bsm2.init.adm1init_bsm2")
    inflow = np.array([
        28.1, 58.0, 92.0, 363.0, 50.7, 0.1, 0.2, 0.1, 0.3, 23.9, 5.6, 16.1, 7.1, 380.0, 20648.0,
        14.9, 0.0, 0.0, 0.0, 0.0, 0.0,
    ])  # fmt: skip

    def reactions(x: Any) -> Any:
        state = start.YINIT1 * 1.0
        state[:13] = state[:13] * x[:13]
        flow = inflow * 1.0
        flow[:4] = flow[:4] * x[13:17]
        found = sludge.asm1equations(
            0.0, state, flow, start.PAR1 * x[17], 100.0 * x[18], 1500.0 * x[19], True, False
        )
        return 1e-3 * found[:14]

    def quality(x: Any) -> Any:
        made = performance.PlantPerformance(plant.PP_PAR)
        flow = inflow * 1.0
        flow[:12] = flow[:12] * x[:12]
        flow[14] = flow[14] * x[12]
        return [
            1e-3 * made.iqi(flow), 0.01 * made.advanced_quantities(flow),
            made.aerationenergy_step(100.0 * x[13:16], 10.0 * x[16:19], np.full(3, 8.0)),
        ]  # fmt: skip

    def settled(x: Any) -> Any:
        state = inflow * x
        found = clarifier.primclarequations(
            0.0, state, inflow, np.array([0.65, 0.333, 0.007, 0.9]), 900.0, True
        )
        return 1e-3 * found

    def converted(x: Any) -> Any:
        flow = np.append(inflow * x[:21], 7.0 * x[21])
        return 0.1 * digester.asm2adm(flow, 308.15, digested.INTERFACEPAR)

    yield "asm1equations", reactions, [*(1.0 + 0.02 * np.array(LONG[:20]))]
    yield "PlantPerformance", quality, [*(1.0 + 0.05 * np.array(LONG[:19]))]
    yield "primclarequations", settled, [*(1.0 + 0.02 * np.array(LONG[:21]))]
    yield "asm2adm", converted, [*(1.0 + 0.02 * np.array(LONG[:22]))]


@package("atmoslib", "thermodynamics of the atmosphere")
def atmoslib() -> Iterator[Case]:
    m, waves = module("atmoslib.thermodynamics"), module("atmoslib.attenuation")

    def humid(x: Any) -> Any:
        t, p, q = 100.0 * x[:3], 1e4 * x[3:6], 0.01 * x[6:9]
        e = m.vapor_pressure(p, q)
        return [
            m.latent_heat_of_vaporization(t) * 1e-6, m.relative_humidity(t, p, q),
            0.01 * m.equivalent_potential_temperature(t, p, q), 1e-3 * e,
            m.air_density(t, p, m.mixing_ratio(e, p)), 0.01 * m.virtual_temperature(t, q),
            0.01 * m.dew_point_temperature(t, m.relative_humidity(t, p, q)),
            1e3 * m.absolute_humidity(t, e), 1e3 * m.adiabatic_lwc_gradient(t, p),
        ]  # fmt: skip

    def heights(x: Any) -> Any:
        t, q = 100.0 * x[:4], 0.01 * x[4:8]
        return [
            1e-4 * m.hydrostatic_pressure(t, q, 1e3 * x[8:12], 1e5 * x[12]),
            1e-3 * m.isa_altitude(t, 1e4 * x[13:17]), 1e-3 * m.geometric_height(1e3 * x[8:12]),
            1e-4 * m.isa_pressure(1e3 * x[8:12]), m.isa_air_density(1e3 * x[8:12]),
        ]  # fmt: skip

    def attenuated(x: Any) -> Any:
        t, p, e = 100.0 * x[:3], 1e4 * x[3:6], 1e3 * x[6:9]
        return [
            waves.gas_specific_attenuation(t, p, e, 10.0 * x[9]),
            0.1 * waves.liquid_water_specific_attenuation(t, 10.0 * x[9]),
            waves.rain_specific_attenuation(10.0 * x[10:], 10.0 * x[9]),
        ]  # fmt: skip

    air = [2.91, 2.84, 2.77]
    yield "equivalent_potential_temperature, humidity", humid, [*air, 9.9, 8.7, 7.2, 0.7, 0.5, 0.3]
    yield "hydrostatic_pressure, heights", heights, [
        *air, 2.69, 0.7, 0.5, 0.3, 0.2, 0.1, 1.1, 2.2, 3.3, 1.01, 9.9, 8.7, 7.2, 6.1,
    ]  # fmt: skip
    yield "specific attenuations", attenuated, [*air, 9.9, 8.7, 7.2, 1.1, 0.9, 0.5, 3.5, 0.3, 1.7]


@package("circularalgos", "circular distributions")
def circularalgos() -> Iterator[Case]:
    m = module("circularAlgos.circular_stat")
    yield "d_vonmises", lambda x: m.d_vonmises([*x[2:]], x[0], x[1]), [0.7, 2.3, 0.2, 1.4, 2.9, 5.1]
    yield "p_vonmises", lambda x: m.p_vonmises([*x[2:]], x[0], x[1]), [0.7, 2.3, 0.2, 1.4, 2.9]


@package("py-num-math", "numerical tools for students")
def py_num_math() -> Iterator[Case]:
    slopes, norms = (
        module("pymath.src.finite_diff.finite_diff"),
        module("pymath.src.norms.norm_lp"),
    )
    dots, vectors = module("pymath.src.dot_prod.dot_prod"), module("pymath.src.vectors.vectors")
    square, full = (
        module("pymath.src.matrices.square_matrices"),
        module("pymath.src.matrices.rectangular_matrices"),
    )
    sequences = module("pymath.src.num_seq.num_seq")

    def differences(x: Any) -> Any:
        def wave(place: Any) -> Any:
            return np.exp(-x[1] * place) * np.sin(x[2] * place)

        return [
            slopes.first_der_finite_difference_centred(wave, x[0], x[3]),
            slopes.first_der_finite_difference_backwarded(wave, x[0], x[3]),
            slopes.first_der_finite_difference_forwarded(wave, x[0], x[3]),
            slopes.sec_der_finite_difference(wave, x[0], x[3]),
        ]

    def tables(x: Any) -> Any:
        chain = square.tridiagonal_matrix(x[:3], x[3:7], x[7:10])
        return full.sum_matrices(chain, square.diagonal_matrix([*x[8:12]]))

    def lengths(x: Any) -> Any:
        first, second = [*x[:6]], [*x[6:]]
        return [
            0.1 * dots.dot_prod(first, second),
            0.1 * norms.norm_lp(vectors.substraction_vectors(first, second), 2),
            sequences.geometric_seq_gen(x[0], 1, 0.3 * x[1], 4),
            sequences.sum_arithmetic_seq(x[2], sequences.arithmetic_seq_a0(x[2], x[3], 5), 6),
        ]

    yield "finite differences", differences, [0.7, 0.4, 2.3, 0.1]
    yield "dot_prod, norm_lp", lengths, SERIES
    yield "tridiagonal_matrix", tables, SERIES


@package("maritime-choke", "disrupted trade and production")
def maritime_choke() -> Iterator[Case]:
    m, balance, sp = (
        module("maritime_choke.model"),
        module("maritime_choke.model_ras"),
        module("scipy.sparse"),
    )
    country, sector = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    chosen = sp.csr_matrix((sector == np.arange(2)[:, None]).astype(float))
    orders = 1.2 + np.cos(1.7 * np.arange(36.0)).reshape(6, 6)
    orders = orders / orders.sum(axis=0)
    routes = sp.csr_matrix(np.ones((6, 6)))

    def disrupted(x: Any) -> Any:
        table = sp.csr_matrix(orders)
        losses = m.build_disruption_matrix(
            table, [routes, routes], [x[:9].reshape(3, 3), x[9:18].reshape(3, 3)], country, [0, 1]
        )
        return balance.build_disrupted_matrix(table, losses, x[18], sector).toarray()

    def solved(x: Any) -> Any:
        table = sp.csr_matrix(orders)
        lost = np.array([0.11, 0.05, 0.17, 0.08, 0.13, 0.09])
        left = sp.csr_matrix(orders * (1.0 - x[2] * lost[:, None]))
        found = m.solve_coupled_fp(
            table, left, chosen, np.array(shares), np.full(6, 4.0), np.array(demand), x[0],
            varrho=x[1], damping=0.9, tol=1e-11, inner_tol=1e-14, use_direct_inner=True,
        )  # fmt: skip
        return [found["x_post"], found["h"], found["kappa"]]

    def bundled(x: Any) -> Any:
        left = sp.csr_matrix(orders * x[:6].reshape(6, 1))
        retained, index = m.compute_kappa_of_h(
            left, chosen, chosen @ orders, np.ones(6, dtype=bool), x[6], x[7:13]
        )
        return [retained, index, m.outer_G(index, x[13:], -1.5)]

    def losses(x: Any) -> Any:
        left = sp.csr_matrix(orders * 0.9)
        activity, _, _ = m.solve_s_for_h(left, x[:6], x[6:12], x[12:18], use_direct=True)
        found = m.aggregate_country_losses(x[18:24], activity, x[:6], country, sector, 3)
        return [activity, *(one for one in found.values() if np.ndim(one) == 1)]

    shares = [0.4, 0.55, 0.35, 0.6, 0.45, 0.5]
    demand = [1.1, 1.7, 0.9, 1.4, 2.1, 1.2]
    held = [0.9, 0.8, 0.95, 0.7, 0.85, 0.75]
    spread_out = [*(0.3 + 0.2 * np.cos(np.arange(18.0)))]
    yield "solve_coupled_fp", solved, [-1.5, -0.8, 1.1]
    yield "build_disruption_matrix", disrupted, [*spread_out, 0.15]
    yield "compute_kappa_of_h", bundled, [*held, -1.3, *held[::-1], *shares]
    yield "solve_s_for_h, losses", losses, [*shares, *held, *demand, 3.1, 4.2, 2.7, 3.6, 4.9, 3.3]


@package("cristma", "crystals and their diffraction")
def cristma() -> Iterator[Case]:
    cells, values = module("cristma.core.cell"), module("cristma.core.values")
    reciprocal, models = (
        module("cristma.diffraction.reciprocal"),
        module("cristma.diffraction.models"),
    )
    profiles = module("cristma.diffraction.profile_models")

    def described(x: Any) -> Any:
        return cells.UnitCell(*(values.MeasuredValue(one, None, None) for one in x))

    def metric(x: Any) -> Any:
        made = described(x)
        return [made.matrix, made.metric * 0.1, 0.01 * made.volume]

    def spaced(x: Any) -> Any:
        made = reciprocal.ReciprocalMetric.from_cell(described(x))
        planes = [models.MillerIndex(*one) for one in ((1, 0, 0), (1, 1, 2), (0, -2, 1))]
        return [[made.d_spacing(one), 10.0 * made.norm(one)] for one in planes]

    def widths(x: Any) -> Any:
        made = profiles.TchProfile(*x[:5])
        sample = profiles.IsotropicSampleBroadening(10.0 * x[5], 1e-3 * x[6])
        return [
            [10.0 * made.fwhm_deg_at(angle), *sample.component_fwhm_deg_at(angle, x[7])]
            for angle in (21.0, 48.0, 95.0)
        ]

    cell = [5.4, 7.1, 9.8, 88.0, 104.0, 93.0]
    yield "UnitCell", metric, cell
    yield "ReciprocalMetric", spaced, cell
    yield "TchProfile, broadening", widths, [1.9, -0.7, 2.3, 1.4, 0.8, 1.7, 1.2, 1.54]


@package("hydroutils", "hydrology")
def hydroutils() -> Iterator[Case]:
    corrected, stats = module("hydroutils.hydro_correct"), module("hydroutils.hydro_stat")
    pd = module("pandas")
    times = np.arange(12.0)
    flow = 4.0 + 3.0 * np.exp(-0.1 * (times - 4.3) ** 2)

    def smoothed(x: Any) -> Any:
        made = corrected.HydrographCorrector(times, flow)
        return [
            made.five_point_smooth(x),
            made.cubic_spline_interpolation(times, x, np.array([0.4, 3.7, 8.2])),
            made.apply_correction(x, smoothing_enabled=True, interpolation_enabled=False),
        ]

    def balanced(x: Any) -> Any:
        before = pd.DataFrame({"time": times, "q": flow, "net_rain": x[12] * flow})
        after = pd.DataFrame({"time": times, "q": x[:12], "net_rain": x[12] * flow})
        found = corrected.apply_water_balance_correction(
            before, after, discharge_column="q", time_column="time"
        )
        return found[["q"]]

    def compared(x: Any) -> Any:
        seen, made = x[:12], x[12:]
        return [
            stats.KGE(made, seen), 0.1 * stats.pbias(seen, made), 0.1 * stats.fms(seen, made),
            0.1 * stats.flood_volume_error(seen, made), 0.1 * stats.flood_peak_error(seen, made),
            stats.cal_stat_gamma(made), stats.cal_4_stat_inds(seen),
        ]  # fmt: skip

    yield "HydrographCorrector", smoothed, SERIES
    yield "apply_water_balance_correction", balanced, [*SERIES, 1.3]
    yield "KGE, fms, cal_stat_gamma", compared, LONG


@package("sprime", "screening of drugs")
def sprime() -> Iterator[Case]:
    m, hill = module("sprime.sprime"), module("sprime.hill_fitting")
    pipeline = module("sprime.response_pipeline")
    doses = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]

    def slopes(dose: Any, top: Any, power: Any, middle: Any, bottom: Any) -> Any:
        ratio = (dose / middle) ** power
        share = 1.0 / (1.0 + ratio)
        bent = (top - bottom) * ratio * share**2
        parts = [share, -bent * np.log(dose / middle), bent * power / middle, 1.0 - share]
        return np.stack(parts, axis=1)

    tight = {"curve_direction": "down", "xtol": 1e-15, "ftol": 1e-15, "gtol": 0.0, "jac": slopes}

    def profile(responses: Any, line: str) -> Any:
        return m.DoseResponseProfile(
            m.Compound("drug", "d1"), m.CellLine(line), m.Assay("assay"),
            concentrations=[*doses], responses=[*responses],
        )  # fmt: skip

    def fitted(x: Any) -> Any:
        found = hill.fit_hill_curve(
            doses, 10.0 * x, initial_zero_asymptote=90.0, initial_inf_asymptote=10.0,
            initial_ec50=1.0, initial_steepness_coefficient=1.0, **tight,
        )  # fmt: skip
        return [
            found.ec50, 0.1 * found.zero_asymptote, 0.1 * found.inf_asymptote,
            found.steepness_coefficient, found.r_squared,
        ]  # fmt: skip

    def compared(x: Any) -> Any:
        dataset = m.ScreeningDataset(m.Assay("assay"))
        for i, line in enumerate(("ref", "test")):
            one = profile(0.0 * np.arange(8.0), line)
            one.hill_params = m.HillCurveParams(*x[4 * i : 4 * i + 4])
            one.calculate_s_prime()
            dataset.add_profile(one)
        found = dataset.calculate_delta_s_prime("ref", "test")["ref"][0]
        return [found["delta_s_prime"], found["s_prime_ref"]]

    def normalised(x: Any) -> Any:
        scaled = pipeline.pipeline_asymptote_normalized([*x[:8]], x[8])
        one = profile(scaled, "line")
        return one.fit_and_calculate_s_prime(
            initial_zero_asymptote=90.0, initial_inf_asymptote=10.0, initial_ec50=1.0,
            initial_steepness_coefficient=1.0, **tight,
        )  # fmt: skip

    responses = [9.5571, 9.4548, 9.082, 8.08, 5.7754, 3.3722, 1.8526, 1.339]
    yield "fit_hill_curve", fitted, responses
    yield "fit_and_calculate_s_prime", normalised, [*responses, 8.1]
    yield "calculate_delta_s_prime", compared, [0.7, 9.3, 1.4, 1.1, 1.3, 8.7, 2.2, 0.8]


@package("fastmoda", "oscillations and couplings")
def fastmoda() -> Iterator[Case]:
    m, legacy = module("fastmoda"), module("fastmoda.legacy_moda")
    bayes = module("fastmoda.legacy_bayes")
    moments = np.arange(64.0) * 0.1
    rates = np.array([4.7, 7.3, 9.1, 12.7, 16.3])
    base = np.sin(7.0 * moments) + 0.4 * np.cos(15.0 * moments) + 0.1 * np.cos(moments**2)

    def powers(x: Any) -> Any:
        freqs, _, spectra = m.sliding_fft(x, fs=10.0, win_s=1.6, hop_s=0.8)
        bands = [(0.5, 1.5, "low"), (1.5, 3.0, "high")]
        return m.compute_band_powers(spectra, freqs, bands)[0]

    def wavelets(x: Any) -> Any:
        other = np.roll(base, 3) + 0.2 * np.sin(7.3 * moments)
        options = {"fmin": 0.6, "fmax": 3.0, "padding": "zero", "cut_edges": False, "nv": 4}
        signal = xp.sum(x[:, None] * np.sin(np.outer(rates, moments)), axis=0)
        first, _ = legacy.wt_legacy(signal, 10.0, **options)
        second, _ = legacy.wt_legacy(other, 10.0, **options)
        found = legacy.wphcoh_legacy(first, second)
        return [*found[:2], xp.mean(xp.abs(first), axis=1)]

    def windowed(x: Any) -> Any:
        found, _ = legacy.wft_legacy(
            x, 10.0, fmin=0.8, fmax=3.0, fstep=0.3, padding="zero", preprocess=False
        )
        return xp.abs(found[:, 5:60:9])

    def coupled(x: Any) -> Any:
        rates = 2.0 * np.pi * np.array([1.1, 0.7])
        times = 0.1 * np.arange(200.0)
        first = rates[0] * times + x[0] * np.sin(rates[1] * times) + x[1] * np.cos(1.7 * times)
        second = rates[1] * times + x[2] * np.cos(rates[0] * times) + x[3] * np.sin(2.3 * times)
        _, found, noise = bayes.bayes_main(first, second, 10.0, 0.1, 1.0, 0.2, 1)
        return [found, noise[:, 0], *bayes.dirc(found[0], 1)[:2]]

    yield "sliding_fft, compute_band_powers", powers, [*base]
    yield "wt_legacy, wphcoh_legacy", wavelets, [0.7, 1.2, 0.5, 0.9, 0.4]
    yield "wft_legacy", windowed, [*base]
    yield "bayes_main", coupled, [0.2, 0.1, 0.3, 0.15]


@package("specfit", "spectra of radio sources")
def specfit() -> Iterator[Case]:
    m, splines = module("specfit.posterior_helper"), module("specfit.natural_spline")
    with contextlib.redirect_stdout(io.StringIO()):
        made = splines.NaturalCubicSpline([-1.0, 3.0], n_interior_knots=1, degree=3)
    places = np.array([-0.7, -0.2, 0.3, 0.9, 1.6, 2.2, 2.8])

    def brightness(x: Any) -> Any:
        return m.flux(np.geomspace(1.0, 10.0, 8), x[:4], x[4])

    def evaluated(x: Any) -> Any:
        return made.get_expr()(x[0], places, *x[1:])

    def covariance(x: Any) -> Any:
        chain = {f"a[{i}]": x[8 * i : 8 * i + 8][None, :] for i in range(3)}
        found = m.chain_covariance(types.SimpleNamespace(get=chain.get, data_vars=chain))
        return [found[0], found[1]]

    yield "flux", brightness, [0.7, -0.8, 0.1, -0.05, 2.3]
    yield "NaturalCubicSpline.get_expr", evaluated, [0.63, 1.2, -0.4, 0.8]
    yield "chain_covariance", covariance, LONG


@package("exohelp", "properties of exoplanets")
def exohelp() -> Iterator[Case]:
    summary, astrometry = module("exohelp.planet.summary"), module("exohelp.planet.astrometry")
    escape, rv = module("exohelp.planet.escape"), module("exohelp.planet.rv")

    def derived(x: Any) -> Any:
        table = summary.derived_planet_quantities(
            x[0], x[1], r_star=x[2], m_star=x[3], b=x[4], eccentricity=x[5], omega=x[6],
            teff_star=1000.0 * x[7], m_planet=x[8], j_mag=x[9], k_mag=x[10],
        )  # fmt: skip
        return [xp.log(xp.abs(table[one].value)) for one in table.colnames]

    def orbit(x: Any) -> Any:
        found = astrometry.astrometric_orbit(
            np.array([3.0, 120.0, 410.0, 777.0]), 100.0 * x[0], x[1], x[2], distance=x[3],
            inclination=x[4], eccentricity=x[5], omega=x[6], node=x[7], t0=x[8],
        )  # fmt: skip
        along = found.along_scan(np.array([10.0, 50.0, 130.0, 200.0]))
        return 1e-3 * xp.array([
            found.d_ra.value, found.d_dec.value, along.value, found.separation.value,
        ])  # fmt: skip

    def evaporated(x: Any) -> Any:
        track = escape.StellarXUVTrack(1e-3 * x[0], 100.0 * x[1], x[2], l_bol=x[3])
        flux = track.flux_xuv(900.0, x[4], 0.1)
        tide = escape.roche_lobe_correction_factor(x[4], x[5], 0.9, x[6])
        rate = escape.energy_limited_mass_loss_rate(flux, x[6], x[5], k_tide=tide)
        return [xp.log(rate.value), xp.log(flux.value), tide]

    def weighed(x: Any) -> Any:
        mass = rv.planet_mass_from_rv(x[0], x[1], x[2], x[3], inclination=x[4])
        return [mass.value, rv.rv_semi_amplitude(mass, x[1], x[2], x[3]).value]

    yield "derived_planet_quantities", derived, [
        7.3, 2.6, 0.9, 0.95, 0.3, 0.12, 71.0, 5.4, 8.3, 9.1, 8.7,
    ]  # fmt: skip
    yield "astrometric_orbit", orbit, [6.3, 310.0, 1.1, 23.0, 57.0, 0.31, 40.0, 103.0, 12.0]
    yield "energy_limited_mass_loss_rate", evaporated, [0.4, 1.3, 1.24, 0.8, 0.11, 6.3, 2.9]
    yield "planet_mass_from_rv", weighed, [4.3, 23.0, 0.17, 0.9, 78.0]


@package("probayes", "Bayesian probabilities")
def probayes() -> Iterator[Case]:
    m = module("probayes")
    ordered, stats = module("collections").OrderedDict, module("scipy.stats")

    def joint(x: Any) -> Any:
        values = ordered(a=x[12:15].reshape(3, 1), b=x[15:19].reshape(1, 4))
        table = (x[:12] / xp.sum(x[:12])).reshape(3, 4)
        return m.Dist("a,b", values, ordered(a=0, b=1), table)

    def moments(x: Any) -> Any:
        made = joint(x)
        expected, middle = made.expectation(), made.quantile(0.37)
        return [*expected.values(), middle["a"], middle["b"]]

    def conditioned(x: Any) -> Any:
        made = joint(x)
        given = made.conditionalise("b")
        back = given.rescaled("log")
        return [given.prob, made.marginal("a").prob, back.prob, made.conditionalise("a").prob]

    def variable(x: Any) -> Any:
        made = m.RV("x", vset=(-3.0, 3.0), vtype=float, prob=stats.norm, loc=x[0], scale=x[1])
        return [made(x[2]).prob, *made({7}).prob]

    values = [1.1, 2.3, 2.9, 0.2, 0.5, 0.9, 1.4]
    yield "Dist.conditionalise", conditioned, [*SERIES, *values]
    yield "Dist.expectation, quantile", moments, [*SERIES, *values]
    yield "RV", variable, [0.3, 1.2, 0.4]


@package("compdesc", "descriptors of molecules")
def compdesc() -> Iterator[Case]:
    m, surfaces = module("CompDesc.desc3d.geo3D"), module("CompDesc.desc3d.cpsa3D")
    elements = ["C", "O", "H", "H", "H", "H"]
    charges = [0.12, -0.65, 0.05, 0.04, 0.06, 0.38]

    def atoms(x: Any, charge: Any) -> list[list[Any]]:
        return [[*x[3 * i : 3 * i + 3], elements[i], charge[i]] for i in range(6)]

    def geometry(x: Any) -> Any:
        made = atoms(x, charges)
        names = ["W3DH", "W3D", "grav", "Harary3D", "AGDD", "SEig", "SPAN", "Petitj3D"]
        return [getattr(m, "get" + one)(made) for one in names]

    def charged(x: Any) -> Any:
        made = surfaces.GetChargeSA(atoms(place, x))
        names = ["PNSA2", "PPSA3", "DPSA3", "FNSA2", "WPSA3", "RNCS", "RPCS"]
        return [0.01 * getattr(surfaces, "get" + one)(made) for one in names]

    def distances(x: Any) -> Any:
        found = m.GetGementricalDistanceMatrix([[*one] for one in x.reshape(6, 3)])
        return [found, m.getGeDi(atoms(x, charges))]

    place = [
        -0.75, 0.01, 0.02, 0.66, -0.03, 0.05, -1.1, 1.01, -0.08, -1.12, -0.47, 0.93,
        -1.07, -0.61, -0.84, 0.99, 0.88, 0.11,
    ]  # fmt: skip
    yield "geo3D", geometry, place
    yield "GetChargeSA, cpsa3D", charged, charges
    yield "GetGementricalDistanceMatrix", distances, place


@package("wnb", "naive Bayes classifiers")
def wnb() -> Iterator[Case]:
    m, stats = module("wnb"), module("wnb.stats")
    labels = np.array([0, 1, 0, 1, 1, 0, 1, 0])

    def general(x: Any) -> Any:
        made = m.GeneralNB(["Normal", "Gamma", "Lognormal"])
        made.fit(x.reshape(8, 3), labels)
        return made.predict_log_proba([[3.1, 2.7, 4.2], [4.4, 3.6, 2.9]])

    def weighted(x: Any) -> Any:
        made = m.GaussianWNB(max_iter=12, step_size=0.05, C=2.0)
        made.fit(x.reshape(8, 3), labels)
        return [made.coef_, made.predict_log_proba([[3.1, 2.7, 4.2], [4.4, 3.6, 2.9]])]

    def densities(x: Any) -> Any:
        names = ["LognormalDist", "GammaDist", "RayleighDist", "ExponentialDist", "LaplaceDist"]
        made = [getattr(stats, one).from_data(x) for one in names]
        return [10.0 * one.pdf(place) for one in made for place in (1.7, 3.3, 5.2)]

    yield "GeneralNB.fit, predict_log_proba", general, LONG
    yield "GaussianWNB.fit", weighted, LONG
    yield "from_data, pdf", densities, SERIES[:11]


@package("mo-catnip", "statistics of climate")
def mo_catnip() -> Iterator[Case]:
    m, cubes, coords = module("catnip.analysis"), module("iris.cube"), module("iris.coords")

    def grid(data: Any, name: str, across: Any, along: Any) -> Any:
        places = [("latitude", across), ("longitude", along)]
        made = [
            coords.DimCoord(values, standard_name=one, units="degrees")
            for one, values in places
        ]  # fmt: skip
        pairs = [(made[0], 0), (made[1], 1)]
        return cubes.Cube(data, standard_name=name, units="m s-1", dim_coords_and_dims=pairs)

    across, along = np.array([10.0, 20.0, 30.0]), np.array([5.0, 15.0, 25.0, 35.0])

    def interval(x: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            found = m.ci_interval(x[:12], x[12:])
        return [*found[:2], *found[3:5], found[6][::10], found[7][::10]]

    def wind(x: Any) -> Any:
        u = grid(x[:12].reshape(3, 4), "eastward_wind", across, along)
        v = grid(x[12:].reshape(3, 4), "northward_wind", across, along)
        direction = m.wind_direction(u, v, unrotate=False)
        return [m.windspeed(u, v).data, 0.01 * direction.data]

    def regridded(x: Any) -> Any:
        source = grid(x.reshape(3, 4), "eastward_wind", across, along)
        target = grid(
            np.zeros((2, 3)), "eastward_wind", np.array([13.0, 26.0]), np.array([8.0, 18.0, 31.0])
        )
        with contextlib.redirect_stdout(io.StringIO()):
            return m.regrid_to_target(source, target, method="linear").data

    def seasonal(x: Any) -> Any:
        days = 15.0 + 30.0 * np.arange(12.0)
        time = coords.DimCoord(
            days, standard_name="time", bounds=np.stack([days - 15.0, days + 15.0], axis=1),
            units=module("cf_units").Unit("days since 2000-01-01", calendar="360_day"),
        )  # fmt: skip
        cube = cubes.Cube(
            x, standard_name="air_temperature", units="K", dim_coords_and_dims=[(time, 0)]
        )
        with contextlib.redirect_stdout(io.StringIO()):
            found = m.seas_time_stat(cube, metric="std_dev", years=[2000, 2000])
        return [one.data for one in found]

    yield "ci_interval", interval, LONG
    yield "windspeed, wind_direction", wind, LONG
    yield "regrid_to_target", regridded, SERIES
    yield "seas_time_stat", seasonal, SERIES


@package("rocket-sba22", "rockets as points")
def rocket_sba22() -> Iterator[Case]:
    m = module("rocket.rocket")

    def moved(x: Any) -> Any:
        first, last = m.Rocket(x[0], x[1]), m.Shuttle(x[2], x[3], 4)
        first.move_rocket(x[4], x[5])
        return [first.get_distance(last), first.x, first.y]

    def circle(x: Any) -> Any:
        made = m.CircleRocket(x[0], x[1], x[2])
        return [made.get_area(), made.get_circumference(), made.get_distance(m.Rocket())]

    yield "Rocket.get_distance", moved, [1.2, 3.4, -0.7, 5.1, 0.4, 0.9]
    yield "CircleRocket", circle, [1.2, 3.4, 0.8]


@package("simplecalculatorpaulit", "a calculator")
def simplecalculatorpaulit() -> Iterator[Case]:
    m = module("simplecalculatorpaulit.simplecalculatorpaulit")

    def plain(x: Any) -> Any:
        made = m.Calculator(x[0])
        made.add(x[1])
        made.multiply(x[2])
        made.subtract(x[3])
        made.divide(x[4])
        return made.root(x[5])

    def scientific(x: Any) -> Any:
        made = m.ScientificCalculator(10.0 * x[0])
        found = [made.tangent(), made.power(x[1]), made.ln()]
        made.reset()
        return [*found, made.log(x[2]), made.sine()]

    def statistics(x: Any) -> Any:
        made = m.StatisticsCalculator([*x])
        return [made.mean(), made.median(), made.standard_deviation(), 0.1 * made.variance()]

    yield "Calculator", plain, [3.2, 1.4, 2.1, 0.7, 1.3, 2.4]
    yield "ScientificCalculator", scientific, [7.3, 1.4, 2.3]
    yield "StatisticsCalculator", statistics, SERIES[:11]


@package("aarontools", "geometry of molecules")
def aarontools() -> Iterator[Case]:
    m, atoms = module("AaronTools.geometry"), module("AaronTools.atoms")
    internal, paths = module("AaronTools.internal_coordinates"), module("AaronTools.pathway")
    elements = ["O", "O", "H", "H"]

    def molecule(x: Any) -> Any:
        made = [atoms.Atom(elements[i], coords=x[3 * i : 3 * i + 3], name=str(i + 1))
                for i in range(4)]  # fmt: skip
        return m.Geometry(made, refresh_ranks=False)

    def measured(x: Any) -> Any:
        made = molecule(x)
        one = made.atoms
        moments, _ = made.get_principle_axes()
        return [
            made.angle(*one[:2], one[2]), made.dihedral(one[2], one[0], one[1], one[3]),
            made.COM(), 0.1 * moments, 1e-3 * made.LJ_energy(),
        ]  # fmt: skip

    def changed(x: Any) -> Any:
        made = molecule(x[:12])
        one = made.atoms
        made.change_dihedral(one[2], one[0], one[1], one[3], x[12], radians=True)
        made.change_angle(one[0], one[1], one[3], x[13], radians=True)
        made.change_distance(one[0], one[1], dist=x[14], fix=1)
        return made.coords

    def internals(x: Any) -> Any:
        made = [
            internal.Bond(0, 1), internal.InverseBond(1, 3), internal.Angle(2, 0, 1),
            internal.Torsion([2], 0, 1, [3]),
        ]  # fmt: skip
        coords = x.reshape(4, 3)
        return [*(one.value(coords) for one in made), *(one.s_vector(coords) for one in made)]

    def path(x: Any) -> Any:
        moved = 0.1 * xp.sin(np.array([1.0, 1.3, 1.7])[:, None] * x)
        nodes = np.array(place).reshape(1, 4, 3) + moved.reshape(3, 4, 3)
        made = paths.Pathway(nodes)
        return [made.interpolate_coords(0.37), made.tangent(0.71)]

    place = [0.02, 0.72, -0.05, 0.01, -0.71, -0.06, 0.81, 0.88, 0.42, -0.79, -0.9, 0.45]
    yield "Geometry.angle, LJ_energy", measured, place
    yield "Geometry.change_dihedral", changed, [*place, 1.7, 1.8, 1.5]
    yield "Torsion.value, s_vector", internals, place
    yield "Pathway", path, SERIES


@package("dyce", "outcomes of dice")
def dyce() -> Iterator[Case]:
    m = module("dyce")

    def made(x: Any) -> Any:
        return m.H({x[0]: 2, x[1]: 3, x[2]: 1})

    def moments(x: Any) -> Any:
        total = 2 @ made(x) * x[3] + m.H(6)
        return [total.mean(), 0.1 * total.variance(), total.stdev()]

    def ordered(x: Any) -> Any:
        one = made(x)
        return [one.order_stat_for_n_at_pos(4, k).mean() for k in (0, 2, 3)]

    def expanded(x: Any) -> Any:
        def again(result: Any) -> Any:
            return m.H(4) + result.outcome * x[3] if result.outcome > 3.0 else result.outcome

        found = m.expand(again, made(x))
        return [found.mean(), found.stdev(), *found.outcomes()]

    yield "H, mean and variance", moments, [1.2, 2.3, 3.7, 1.4]
    yield "H.order_stat_for_n_at_pos", ordered, [1.2, 2.3, 3.7]
    yield "expand", expanded, [1.2, 2.3, 3.7, 1.4]


@package("thetakde", "estimates of densities")
def thetakde() -> Iterator[Case]:
    m, transform = module("thetakde.thetakde"), module("thetakde.DCT")

    def density(x: Any) -> Any:
        found, mesh, _ = m.kde(LONG, m=32, MIN=x[0], MAX=x[1], sig=x[2])
        return [10.0 * found, mesh]

    def error(x: Any) -> Any:
        coefficients = transform.dct(x[1:] / xp.sum(x[1:]))
        even = coefficients[2::2]
        squares = 24.0 / 23.0 * coefficients[1:12] ** 2 - (2.0 + even) / 23.0
        return m.mise(x[0], squares, even, 24)

    def smoothed(x: Any) -> Any:
        rates = np.arange(12.0) ** 2
        return transform.idct(transform.dct(x[:12]) * xp.exp(-rates * x[12] ** 2))

    yield "kde", density, [0.37, 8.81, 0.23]
    yield "mise", error, [0.13, *LONG[:12], *SERIES]
    yield "dct, idct", smoothed, [*SERIES, 0.21]


@package("tesp-support", "markets for electric power")
def tesp_support() -> Iterator[Case]:
    auctions, heating = module("tesp_support.simple_auction"), module("tesp_support.hvac")
    cooling = module("tesp_support.precool")
    quiet = contextlib.redirect_stdout

    def auction(x: Any) -> Any:
        return auctions.simple_auction({
            "market_id": 1, "unit": "kW", "special_mode": "MD_NONE", "use_future_mean_price": 0,
            "clearing": {}, "latency": 0, "ignore_pricecap": 0, "ignore_failedmarket": 0,
            "warmup": 0, "total_samples": 0, "init_price": x[0], "init_stdev": x[1],
            "period": 300, "pricecap": 3.78, "max_capacity_reference_bid_quantity": 5000.0,
            "statistic_mode": 1, "stat_mode": [], "stat_interval": [], "stat_type": [],
            "stat_value": [],
        }, "auction")  # fmt: skip

    def controller(x: Any) -> Any:
        given = dict.fromkeys(
            ["bid_delay", "daylight_set", "daylight_start", "deadband", "evening_set",
             "evening_start", "night_set", "night_start", "period", "use_predictive_bidding",
             "wakeup_set", "wakeup_start", "weekend_day_set", "weekend_day_start",
             "weekend_night_set", "weekend_night_start"], 1.0
        )  # fmt: skip
        made = heating.hvac(
            {**given, "control_mode": "CN_RAMP", "houseName": "house", "meterName": "meter",
             "offset_limit": x[2], "ramp": x[3], "price_cap": 3.78, "evening_set": x[4],
             "evening_start": 17.0, "night_start": 22.0}, "agent", auction(x),
        )  # fmt: skip
        made.change_basepoint(18.0, 2)
        made.set_air_temp_from_helics(x[5])
        return made

    def bid(x: Any) -> Any:
        made = controller(x)
        price = made.formulate_bid()[0]
        made.inform_bid(x[6])
        made.bid_accepted()
        return [price, 0.1 * made.setpoint]

    def cleared(x: Any) -> Any:
        made = auction(x)
        made.clear_bids()
        made.set_lmp(0.0412)
        made.add_unresponsive_load(10.0 * x[2])
        for price, quantity in zip(x[3:8], x[8:], strict=True):
            made.collect_bid([price, quantity, True])
        made.unresp += 40.0
        with quiet(io.StringIO()):
            made.aggregate_bids()
            made.supplier_bid([0.03 * x[0], 60.0 + x[1]])
            made.clear_market()
            made.surplusCalculation()
        return [
            made.clearing_price, 1e-2 * made.agg_c1, 1e-2 * made.agg_c2,
            0.01 * made.consumerSurplus,
            0.01 * made.agg_resp_max, 0.01 * made.clearing_quantity,
        ]  # fmt: skip

    def house(x: Any) -> Any:
        agent = dict.fromkeys(
            ["night_set", "day_set", "day_start_hour", "day_end_hour", "deadband", "vthresh",
             "toffset"], 1.0
        )  # fmt: skip
        row = {"sqft": 1000.0 * x[0], "thermal_integrity": "GOOD", "stories": x[1], "doors": x[2]}
        with quiet(io.StringIO()):
            made = cooling.precooler(
                "house", {**agent, "meter": "meter"}, row, 1.0, 0.1, 0.02, 360, 0, False, False,
                False,
            )  # fmt: skip
            made.make_etp_model()
        return [0.001 * one for one in (made.UA, made.CA, made.HM, made.CM)]

    yield "simple_auction.clear_market", cleared, [
        1.1, 0.2, 1.7, 0.08, 0.061, 0.092, 0.117, 0.074, 4.1, 3.3, 5.2, 2.7, 4.6,
    ]  # fmt: skip
    yield "hvac.formulate_bid", bid, [0.11, 0.023, 2.1, 1.7, 71.0, 71.8, 0.117]
    yield "precooler.make_etp_model", house, [1.7, 1.3, 3.0]


@package("okama", "portfolios of investments")
def okama() -> Iterator[Case]:
    helpers, balance = (
        module("okama.common.helpers.helpers"),
        module("okama.common.helpers.rebalancing"),
    )
    tails, pandas = module("okama.common.helpers.tails"), module("pandas")
    months = pandas.period_range("2019-04", periods=24, freq="M")

    def returns(x: Any) -> Any:
        values = 0.01 * np.cos(np.arange(72.0)).reshape(24, 3) + 0.002 * x[:, None]
        return pandas.DataFrame(values, index=months, columns=["a", "b", "c"])

    def rebalanced(x: Any) -> Any:
        weights = [*(x[:3] / xp.sum(x[:3]))]
        made = balance.Rebalance(period="half-year", abs_deviation=None, rel_deviation=None)
        ror = returns(x[3:])
        return [
            0.001 * made.wealth_ts(weights, ror).portfolio_wealth_index.to_numpy(),
            made.assets_weights_ts(weights, ror).to_numpy(),
            made.return_ror_ts(weights, ror).to_numpy(),
        ]  # fmt: skip

    def portfolio(x: Any) -> Any:
        weights = [*(x[:3] / xp.sum(x[:3]))]
        ror = returns(x[3:])
        m = helpers.Frame
        together = m.get_portfolio_return_ts(weights, ror)
        return [
            m.get_portfolio_mean_return(weights, ror), m.get_portfolio_risk(weights, ror),
            m.get_cagr(together), m.get_cumulative_return(together),
            m.get_semideviation(together), m.get_rolling_cagr(ror, 12).to_numpy(),
        ]  # fmt: skip

    def risks(x: Any) -> Any:
        m = helpers.Frame
        ror = returns(x)
        return [
            m.get_var_historic(ror, 15).to_numpy(), m.get_cvar_historic(ror, 15).to_numpy(),
            m.skewness(ror).to_numpy()[2:], m.get_drawdowns(ror).to_numpy(),
            m.get_annual_return_ts_from_monthly(ror["a"]).to_numpy(),
        ]  # fmt: skip

    def extremes(x: Any) -> Any:
        return [
            tails.var_normal(x[0], x[1], x[2]), tails.cvar_normal(x[0], x[1], x[2]),
            tails.var_t(x[0], x[3], x[1], x[2]), tails.cvar_t(x[0], x[3], x[1], x[2]),
            tails.cvar_lognorm(x[0], x[4], -1.0, 1.02),
        ]  # fmt: skip

    yield "Rebalance.wealth_ts", rebalanced, [0.4, 0.35, 0.25, *LONG]
    yield "Frame, returns and risk", portfolio, [0.4, 0.35, 0.25, *LONG]
    yield "Frame, tails", risks, LONG
    yield "cvar_t, cvar_normal", extremes, [0.07, 0.01, 0.13, 4.3, 0.2]


@package("labpythonlib", "kinematics of robots")
def labpythonlib() -> Iterator[Case]:
    m = module("labpythonlib.lab_functions")

    def arm(x: Any) -> Any:
        jacobian = m.jacobian_xyz_ur5(x)
        return [m.fkine_ur5(x), jacobian, m.damped_pinv(jacobian, 0.03)]

    def errors(x: Any) -> Any:
        wanted, measured = m.rpy2rot(x[:3]), m.rpy2rot(x[3:])
        return [
            m.axisangle_error(wanted, measured),
            m.quatError(m.rot2quat(wanted), m.rot2quat(measured)), m.rot2rpy(wanted @ measured),
        ]  # fmt: skip

    def rates(x: Any) -> Any:
        return [
            m.angular_velocity_rpy(x[:3], x[3:6]),
            m.angular_acceleration_rpy(x[:3], x[3:6], x[6:]),
        ]

    def followed(x: Any) -> Any:
        place, speed = x[:3], x[3:6]
        found: list[Any] = []
        for step in range(12):
            wanted, _, _ = m.sinusoidal_reference_generator(x[6:9], x[9:12], x[12], 5.0, 0.1 * step)
            place, speed, pull = m.reference_trajectory(wanted, place, speed, 0.02)
            found += [place, speed, 0.1 * pull]
        return found

    yield "fkine_ur5, jacobian_xyz_ur5", arm, [0.3, -1.1, 1.4, -0.6, 0.8, 0.2]
    yield "axisangle_error, quatError", errors, [0.3, -0.4, 0.7, 0.1, 0.35, -0.2]
    yield "angular_acceleration_rpy", rates, [0.3, -0.4, 0.7, 0.1, 0.35, -0.2, 1.1, -0.8, 0.6]
    yield "reference_trajectory", followed, [
        0.3, 0.1, -0.2, 0.4, -0.5, 0.2, 0.35, 0.2, -0.1, 0.21, 0.13, 0.32, 0.7,
    ]  # fmt: skip


@package("cinder-cvt", "transmissions with belts")
def cinder_cvt() -> Iterator[Case]:
    spec, studies = module("cinder.model.cvt.geometry.spec"), module("cinder.studies")
    ramps, arcs = (
        module("cinder.model.cvt.profiles.piecewise_ramp"),
        module("cinder.model.cvt.profiles.circular_segment"),
    )
    lines, kinds = (
        module("cinder.model.cvt.profiles.linear_segment"),
        module("cinder.model.cvt.actuation.types"),
    )
    forces = module("cinder.model.cvt.actuation.forces")

    def context(x: Any) -> Any:
        section = spec.BeltSectionSpec(
            height=0.01 * x[0], outer_width=0.022, inner_width=0.017, cord_depth_from_outer=0.003
        )
        return studies.GeometryDesignContext(
            section, belt_outer_length=x[1], sheave_half_angle=x[2], deadzone_shift=0.003,
            max_shift=0.023,
        )  # fmt: skip

    def endpoints(x: Any) -> Any:
        request = studies.EndpointRadiiDesignRequest(context(x), 0.1 * x[3], 0.1 * x[4])
        design = studies.solve_geometry_from_endpoint_radii(request)
        path = studies.sample_geometry_path(design, sample_count=6)
        return [
            10.0 * design.center_distance, path.ratio, 10.0 * path.secondary_effective_radius,
            0.01 * path.ratio_change_per_m_shift,
        ]  # fmt: skip

    def targets(x: Any) -> Any:
        request = studies.TargetRatioDesignRequest(context(x), x[3], x[4])
        design = studies.solve_geometry_from_target_ratios(request)
        last = design.minimum_ratio_endpoint
        return [10.0 * design.center_distance, 10.0 * last.primary_effective_radius,
                last.primary_wrap_angle]  # fmt: skip

    def ramp(x: Any) -> Any:
        made = ramps.PiecewiseRamp([
            lines.LinearSegment(length=0.01, angle_degrees=10.0 * x[0]),
            arcs.CircularSegment(
                length=0.013, angle_start_degrees=10.0 * x[0], angle_end_degrees=10.0 * x[1]
            ),
        ])  # fmt: skip
        force = forces.CentrifugalRampForce(forces.CentrifugalRampForceSpec(
            flyweight_mass=x[2], radius_at_zero_position=0.1 * x[3],
            radial_displacement_profile=made,
        ))  # fmt: skip
        found: list[Any] = []
        for place in (0.004, 0.013, 0.019):
            state = kinds.PulleyActuationContext(0.0, place, 0.1, 100.0 * x[4])
            found += [1e-3 * force.evaluate(state).bias, 10.0 * made.height(place)]
        return [*found, made.slope(0.019), made.curvature(0.013) * 0.01]

    yield "solve_geometry_from_endpoint_radii", endpoints, [1.2, 0.97, 0.21, 0.4, 1.03]
    yield "solve_geometry_from_target_ratios", targets, [1.2, 0.97, 0.21, 3.4, 0.83]
    yield "CentrifugalRampForce", ramp, [4.2, 3.1, 0.4, 0.51, 2.3]


@package("brainanalysistool", "waves in the brain")
def brainanalysistool() -> Iterator[Case]:
    m, cleaning = (
        module("brainanalysistool.WaveAnalysisFun"),
        module("brainanalysistool.preprocessing"),
    )
    moments = 0.02 * np.arange(80.0)

    def channels(x: Any) -> Any:
        rates = np.array([21.0, 34.0, 48.0])
        waves = [
            x[3 * i] * np.sin(rates[0] * moments + i) + x[3 * i + 1] * np.cos(rates[1] * moments)
            + x[3 * i + 2] * np.sin(rates[2] * moments - 0.7 * i)
            for i in range(4)
        ]  # fmt: skip
        return xp.stack(waves)

    def modes(x: Any) -> Any:
        found, spatial, _, temporal, _ = m.complexSVD(channels(x), 2)
        back = m.SVDModeReconstruct(found, 0)
        return [0.1 * found.S, 0.1 * spatial, 0.1 * temporal[::9], back[:, 5::20].real]

    def gradient(x: Any) -> Any:
        rows, columns = np.meshgrid(np.arange(4.0), np.arange(4.0), indexing="ij")
        phases = x[0] * rows + x[1] * columns + 0.2 * np.cos(x[2] * rows * columns)
        size, direction, across, along = m.phase_gradient_complex_multiplication(
            xp.exp(1j * phases), x[3], x[4]
        )
        return [size, direction, across, along]

    def coupled(x: Any) -> Any:
        signals = cleaning.default_preprocess(channels(x), 50.0, band=[2.0, 15.0])
        analytic = module("scipy.signal").hilbert(signals)
        rates, _ = m.instantaneous_frequency(analytic, 50.0)
        phases = np.tile(np.linspace(-3.1, 3.1, 80), (4, 1))
        index, amplitudes = m.PAC_MI(phases, xp.abs(analytic), 4)
        return [0.1 * rates[:, 10:60:7], 10.0 * index, amplitudes]

    def aligned(x: Any) -> Any:
        angles, spreads, chances = m.mostRespSVDphaseDiff(0.2 * x.reshape(6, 4), 1)
        return [angles[[0, 2, 3]], spreads[[0, 2, 3]], 10.0 * chances[[0, 2, 3]]]

    yield "complexSVD", modes, SERIES
    yield "phase_gradient_complex_multiplication", gradient, [0.7, 0.4, 0.3, 0.4, 0.65]
    yield "default_preprocess, PAC_MI", coupled, SERIES
    yield "mostRespSVDphaseDiff", aligned, LONG


@package("reg-tables", "tables of regressions")
def reg_tables() -> Iterator[Case]:
    m, pandas = module("reg_tables"), module("pandas")
    index = pandas.MultiIndex.from_product([["a", "b", "c"], range(2001, 2009)])
    other, years = np.cos(1.7 * np.arange(24.0)), np.tile(np.arange(8.0), 3)

    def panel(x: Any) -> Any:
        noise = 0.3 * np.cos(2.9 * np.arange(24.0) ** 2)
        columns = {
            "y": x[0] * other + x[1] * years + noise, "one": other + x[2] * noise,
            "two": np.sin(x[3] * np.arange(24.0)),
        }  # fmt: skip
        return pandas.DataFrame(columns, index=index)

    def fixed(x: Any) -> Any:
        found = m.Spec(panel(x), "y", ["one", "two"], entity_effects=True,
                       cluster_entity=True).run()  # fmt: skip
        return [found.params.to_numpy(), found.std_errors.to_numpy(), found.rsquared]

    def pooled(x: Any) -> Any:
        found = m.Spec(panel(x), "y", ["one", "two"], double_cluster=True).run()
        return [found.params.to_numpy(), found.tstats.to_numpy(), 0.1 * found.resids.to_numpy()]

    def compared(x: Any) -> Any:
        model = m.Model(m.Spec(panel([*x, 0.9]), "y", ["one"], cluster_time=True))
        model.add_spec(x_vars=["one", "two"], time_effects=True)
        found = [one.run() for one in model.specs]
        return [[*one.params.to_numpy(), one.f_statistic.stat * 0.001] for one in found]

    yield "Spec.run, entity effects", fixed, [1.2, 0.31, 0.7, 0.9]
    yield "Spec.run, double cluster", pooled, [1.2, 0.31, 0.7, 0.9]
    yield "Model.add_spec", compared, [1.2, 0.31, 0.7]


@package("adlerpy", "the Adler function")
def adlerpy() -> Iterator[Case]:
    m, standard = module("adlerpy.adler_routines"), module("adlerpy.adler_sm")

    def light(x: Any) -> Any:
        particles = [
            m.Particle("up", x=[0.0022, 2.0, 4], mudec=0.01),
            m.Particle("down", x=[0.0047, 2.0, 4], mudec=0.02),
            m.Particle("strange", x=[0.0935, 2.0, 4], mudec=0.3),
            m.Particle("charm", x=[x[2], 3.0, 4], mudec=3.0, mpole=1.67),
            m.Particle("bottom", x=[x[3], 4.18, 5], mudec=8.0, mpole=4.8),
        ]  # fmt: skip
        return float(standard.adler_light_pert(
            x[0], 91.2, x[1], particles, nloops=3, GG=x[4], qq=-0.002
        ))  # fmt: skip

    def massless(x: Any) -> Any:
        return [
            float(m.adler_massless_connected(x[0], x[1], x[2], 4, nloops=4)),
            100.0 * float(m.adler_massless_disconnected(x[0], x[1], x[2], 4, nloops=4)),
        ]

    def heavy(x: Any) -> Any:
        return [
            float(m.adler_hq_full_zero_loop(x[0], x[1]).real),
            float(m.adler_hq_full_one_loop_OS(x[0], x[1]).real),
        ]

    def expanded(x: Any) -> Any:
        high = m.adler_he_o_heavy_i_massless_Q_supressed_MS
        low = m.adler_le_o_heavy_i_massless_m_supressed_MS
        return [
            float(high(x[0], x[1], x[2], x[3], 4, 8, nloops=3)),
            float(low(x[4], x[5], x[2], x[3], 4, 8, nloops=3)),
        ]

    yield "adler_light_pert", light, [0.118, 3.7, 0.99, 4.18, 0.012]
    yield "adler_massless_connected", massless, [3.2, 2.7, 0.27]
    yield "adler_hq_full_one_loop_OS", heavy, [3.2, 1.5]
    yield "heavy and light expansions", expanded, [1.3, 4.7, 3.1, 0.25, 4.3, 1.2]


@package("agriforest-crops", "irrigation of crops")
def agriforest_crops() -> Iterator[Case]:
    m = module("agriforest_crops")

    def planned(x: Any) -> Any:
        found = m.get_water_plan("wheat", [*x])
        return [found["recommended_irrigation_mm"], found["total_rain_mm"]]

    def added(x: Any) -> Any:
        m.add_crop("oca", {"water_need_mm_per_week": x[0]})
        return m.suggest_irrigation("oca", x[1])["recommended_irrigation_mm"]

    yield "get_water_plan", planned, [2.1, 0.4, 3.3, 0.0, 1.2, 0.7, 4.6]
    yield "add_crop, suggest_irrigation", added, [31.3, 7.9]


@package("bayesianquilts", "Bayesian cross-validation")
def bayesianquilts() -> Iterator[Case]:
    m = module("bayesianquilts.metrics.nppsis")
    draws = np.arange(60.0)
    base = np.cos(1.7 * draws) + 0.3 * np.sin(0.4 * draws**2)

    def smoothed(x: Any) -> Any:
        weights = x[0] * base + x[1] * np.sin(2.9 * draws) + 0.3 * x[2] * np.cos(draws) ** 3
        found, shape = m.psislw(weights, Reff=0.9)
        return [found[::4], shape]

    def left_out(x: Any) -> Any:
        errors = x[:4] - base[:, None] * x[4]
        total, each, shapes = m.psisloo(-0.5 * errors**2 / x[5] - 0.5 * xp.log(x[5]))
        return [total, each, shapes]

    def pareto(x: Any) -> Any:
        shape, scale = m.gpdfitnew(x)
        return [shape, scale, m.gpinv(np.array([0.1, 0.4, 0.7, 0.93]), shape, scale)]

    yield "psislw", smoothed, [1.3, 0.7, 0.4]
    yield "psisloo", left_out, [0.3, -1.2, 1.9, 0.7, 1.1, 0.6]
    yield "gpdfitnew, gpinv", pareto, LONG


@package("pygirf", "gradients of MRI scanners")
def pygirf() -> Iterator[Case]:
    m, utils = module("pygirf.core"), module("pygirf.utils")
    times = 1e-5 * np.arange(64.0)

    def pulses(x: Any) -> Any:
        tops = [1.5e-4, 2.0e-4, 2.5e-4]
        ramps = [np.interp(times, [1e-4, top, 2.7e-4], [0.0, 1.0, 0.0]) for top in tops]
        return xp.stack([x[i] * ramps[i] for i in range(3)], axis=1)[:, None, :]

    def response(x: Any) -> Any:
        sent = pulses(x[:3]) + 0.1 * np.cos(np.arange(192.0)).reshape(64, 1, 3)
        kernel = x[3] * np.exp(-np.arange(64.0) / x[4])
        heard = xp.fft.ifft(xp.fft.fft(sent, axis=0) * xp.fft.fft(kernel)[:, None, None], axis=0)
        return m.GirfProvider(
            in_channels=["X"], out_basis=[1], time_in=times, in_data=sent, time_out=times,
            out_data=xp.real(heard) + 0.02 * np.sin(np.arange(192.0)).reshape(64, 1, 3),
        )  # fmt: skip

    def computed(x: Any) -> Any:
        found, _ = response(x).compute_girf()
        return [xp.abs(found[8:60:6]).ravel(), xp.angle(found[33:60:6]).ravel()]

    def windowed(x: Any) -> Any:
        made = response(x)
        made.compute_girf()
        found, _ = made.window_freq(6e4, "rc", 0.4)
        return [xp.abs(found[::4]).ravel(), 1e-1 * xp.abs(made.girf_time[::4]).ravel()]

    def predicted(x: Any) -> Any:
        made = response([1.0, 0.8, 1.2, x[0], x[1]])
        girf, freq = made.compute_girf()
        one = m.GirfApplier(is_freq_domain_girf=True, in_channels=["X"], girf=girf, freq=freq)
        found = one.predict_grad(times, pulses(x[2:])[:, :, 0], pred_channels=["X"])
        return found[0][8:50:3].ravel()

    def swept(x: Any) -> Any:
        moments = np.linspace(0.013, 0.97, 24)
        found, rates, _ = utils.sweeps(
            moments, 1.0, x[0], x[1], x[2], x[3], 0.0, "linear",
            AM={"type": "gaussian", "A_max": x[4], "width": x[5]},
        )  # fmt: skip
        return [found.ravel(), 0.1 * rates.ravel()]

    yield "GirfProvider.compute_girf", computed, [1.1, 0.9, 1.3, 0.7, 4.3]
    yield "GirfProvider.window_freq", windowed, [1.1, 0.9, 1.3, 0.7, 4.3]
    yield "GirfApplier.predict_grad", predicted, [0.7, 4.3, 1.1, 0.9, 1.3]
    yield "sweeps", swept, [0.7, 4.3, 0.4, 1.2, 2.3, 1.7]


@package("pyrca", "beams of concrete")
def pyrca() -> Iterator[Case]:
    m, kinds = (
        module("pyrca.analysis.beam.beam_analyses"),
        module("pyrca.analysis.beam.stress_distribution"),
    )
    sections, nodes = (
        module("pyrca.properties.beam.beam_section"),
        module("pyrca.properties.beam.node"),
    )
    parts, units = (
        module("pyrca.properties.beam.section"),
        module("pyrca.properties.unit"),
    )

    def outline(x: Any) -> Any:
        made = parts.Section()
        corners = [(0.0, 0.0), (-0.3, x[0]), (x[1] + 0.2, x[0]), (x[1], 0.0), (0.0, 0.0)]
        made.set_main_section([nodes.Node(100.0 * a, 100.0 * b) for a, b in corners])
        return made

    def beam(x: Any) -> Any:
        made = sections.BeamSection()
        made.section = outline(x)
        made.set_fc_prime(x[2])
        made.set_fy(100.0 * x[3])
        made.set_effective_depth(100.0 * x[4])
        unit = units.Unit.METRIC
        made.steel_tension.set_total_area(1000.0 * x[5], unit)
        made.steel_compression.set_total_area(100.0 * x[6], unit)
        made.steel_compression.set_d_prime(10.0 * x[7], unit)
        analyses = m.BeamAnalyses()
        analyses.beam_section = made
        return analyses

    def section(x: Any) -> Any:
        made = outline(x)
        level = 100.0 * x[2]
        return [
            1e-5 * made.get_area_above_axis(level), 0.01 * made.centroid_above_axis(level),
            1e-5 * made.gross_area_of_concrete(), 0.01 * made.get_effective_width(level),
        ]  # fmt: skip

    def balanced(kind: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = beam(x)
            found = made.beam_balanced_analysis(getattr(kinds.StressDistribution, kind))
            return [1e-7 * found.moment_c, 1e-3 * made.get_balanced_steel_tension()]

        return result

    values = [5.1, 3.2, 27.3, 4.14, 4.5, 1.2, 3.1, 6.3]
    yield "Section.get_area_above_axis", section, [5.1, 3.2, 3.7]
    yield "beam_balanced_analysis, WHITNEY", balanced("WHITNEY"), values
    yield "beam_balanced_analysis, PARABOLIC", balanced("PARABOLIC"), values


@package("stepbysteplinearregression", "regression in steps")
def stepbysteplinearregression() -> Iterator[Case]:
    simple, multiple = (
        module("StepByStepLinearRegression.simplelinear"),
        module("StepByStepLinearRegression.multiplelinear"),
    )
    logistic = module("StepByStepLinearRegression.logistic")
    quiet = contextlib.redirect_stdout

    def line(x: Any) -> Any:
        made = simple.SimpleLinearRegression()
        with quiet(io.StringIO()):
            made.fit(x[:12], x[12:])
        return [made.slope, made.intercept, 0.1 * made.sse, 0.1 * made.ssr, made.mse,
                made.steps_df["residual"].to_numpy()]  # fmt: skip

    def plane(x: Any) -> Any:
        made = multiple.MultipleLinearRegression()
        with quiet(io.StringIO()):
            made.fit(x[:16].reshape(8, 2), x[16:])
        return [made.intercept, made.coefficients, 0.1 * made.sse, 0.1 * made.ssr]

    def grouped(x: Any) -> Any:
        outcomes = [0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1]
        made = logistic.LogisticRegression()
        with quiet(io.StringIO()):
            made.fit([one for one in x[:6] for _ in range(3)], [*(x[6] * np.array(outcomes))])
        return [made.slope, made.intercept, made.x_bar, made.y_star_bar]

    yield "SimpleLinearRegression", line, LONG
    yield "MultipleLinearRegression", plane, LONG
    yield "LogisticRegression", grouped, [0.4, 1.1, 1.9, 2.8, 3.3, 4.7, 0.9]


@package("quantile-regression-pdlp", "regression of quantiles")
def quantile_regression_pdlp() -> Iterator[Case]:
    m, metrics = (
        module("quantile_regression_pdlp.quantile_regression"),
        module("quantile_regression_pdlp.metrics"),
    )
    conformal = module("quantile_regression_pdlp.conformal")
    places = np.linspace(0.3, 4.1, 12)[:, None]

    def made() -> Any:
        return m.QuantileRegression(
            tau=[0.23, 0.77], n_bootstrap=2, se_method="analytical", solver_backend="GLOP",
            random_state=3,
        )  # fmt: skip

    def fitted(x: Any) -> Any:
        found = made().fit(places, x).predict(np.array([[1.3], [2.9]]))
        return [found[one]["y"] for one in (0.23, 0.77)]

    def intervals(x: Any) -> Any:
        base = m.QuantileRegression(
            tau=[0.11, 0.89], n_bootstrap=2, se_method="analytical", solver_backend="GLOP"
        )
        found = conformal.ConformalQuantileRegression(
            base, coverage=0.78, calibration_size=0.3, random_state=1
        ).fit(places, x)
        return [*found.predict_interval(np.array([[1.3], [2.9]]))["y"].values()]

    def scores(x: Any) -> Any:
        lower, upper = x[:8], x[8:16] + 7.0
        both = xp.stack([lower, upper], axis=1)
        return [
            metrics.pinball_loss(x[16:], lower, 0.3), metrics.mean_interval_width(lower, upper),
            metrics.interval_score(x[16:], lower, upper - 6.0, 0.2),
            *metrics.multi_quantile_pinball_loss(x[16:], both, [0.2, 0.8]).values(),
        ]  # fmt: skip

    yield "QuantileRegression.fit", fitted, LONG[:12]
    yield "ConformalQuantileRegression", intervals, LONG[:12]
    yield "interval_score, pinball_loss", scores, LONG


@package("dynamical-networks", "networks in time")
def dynamical_networks() -> Iterator[Case]:
    grid = module("dynamical_networks.simulate.PG_network")
    lorenz = module("dynamical_networks.simulate.lorenz_network")
    statistics = module("dynamical_networks.analysis.statistics")

    def flows(x: Any) -> Any:
        strengths = x[4] * np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
        return grid.PG_flows(x[:4], 0.0 * x[:4], strengths, 4)

    def watched(x: Any) -> Any:
        networks = x.reshape(6, 2, 2)
        return [statistics.capacity(networks), statistics.betweenness(networks**2)]

    def degrees(x: Any) -> Any:
        return lorenz.degree_matrix(x.reshape(3, 4)[:, :3])

    yield "PG_flows", flows, [0.3, -0.2, 0.7, 1.1, 1.63]
    yield "capacity, betweenness", watched, LONG
    yield "degree_matrix", degrees, SERIES


@package("vixrheston", "term structure of volatility")
def vixrheston() -> Iterator[Case]:
    m, utils = module("VIXRHeston"), module("VIXRHeston.utils")

    def structure(x: Any) -> Any:
        weights, speeds = m.vec_c(4, x[0], x[1]), m.vec_x(4, x[0], x[1])
        return [0.1 * m.squared_VIX(0.1 * i, weights, speeds, *x[2:7], 0.083) for i in range(1, 4)]

    def factors(x: Any) -> Any:
        return [
            m.vec_c(4, x[0], x[1]), m.vec_x(4, x[0], x[1]),
            10.0 * utils.integ_g0(0.2, m.vec_c(4, x[0], x[1]), m.vec_x(4, x[0], x[1]), *x[2:], 0.4),
        ]  # fmt: skip

    def conditional(x: Any) -> Any:
        given = (0.3, x[:3], x[3:6], x[6], np.array([0.02, -0.01, 0.03]), *x[7:11], 0.4)
        omega, propagated = utils.get_omega(*given), utils.get_F(*given, 0.43)
        return [0.1 * xp.sort(omega), propagated, utils.integ_F(*given)]

    market = [0.04, 0.3, 0.05, 0.31, -0.7]
    yield "squared_VIX", structure, [2.5, 0.61, *market]
    yield "vec_c, integ_g0", factors, [2.5, 0.61, *market]
    yield "get_F, integ_F", conditional, [0.5, 0.8, 1.2, 0.3, 1.7, 6.1, *market]


@package("edge-continuum-placement", "placement of computers")
def edge_continuum_placement() -> Iterator[Case]:
    m, fleets = module("continuum.physics"), module("continuum.fleet")
    tiers = module("continuum.tiers")

    def trained(x: Any) -> Any:
        made = m.CollectiveScenario(16, x[0], 100.0 * x[1], 100.0 * x[2], x[3])
        return [m.sync_step_efficiency(made, 100.0 * x[4], y) for y in (4.9, x[5])]

    def lossless(x: Any) -> Any:
        rate, distance = 100.0 * x[0], 100.0 * x[1]
        return [
            0.01 * m.pfc_headroom_mb(rate, distance, x[2]), m.rtt_ms(distance, x[3]),
            0.01 * m.pfc_max_lossless_km(rate, 10.0 * x[4], x[2]), m.ib_credit_max_km(rate),
        ]  # fmt: skip

    def fleet(x: Any) -> Any:
        made = fleets.FleetTier(tiers.custom("tower", ai_power_kw=x[0]), 5000, "l4")
        return [0.1 * made.total_ai_mw, made.stranded_fraction, 0.01 * made.pflops_per_mw]

    yield "sync_step_efficiency", trained, [1.3, 2.1, 3.7, 0.8, 1.2, 3.6]
    yield "pfc_headroom_mb", lossless, [4.1, 1.7, 2.2, 4.7, 6.3]
    yield "FleetTier", fleet, [1.53]
