"""A twenty-third sample, drawn on 2026-11-30, and written down before any of it was tried.

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

TWENTYTHIRD = Sample()
package = TWENTYTHIRD.package


@package("openstran", "frames of steel")
def openstran() -> Iterator[Case]:
    m = module("OpenSTRAN.model")

    def solved(x: Any) -> Any:
        frame = m.Model(plane="xy")
        low = frame.nodes.add_node(0, 0, 0)
        top = frame.nodes.add_node(0, x[0], 0)
        end = frame.nodes.add_node(x[1], x[0], 0)
        low.add_restraint([1, 1, 1, 1, 1, 1])
        end.add_restraint([1, 1, 1, 1, 1, 1])
        for i, j in ((low, top), (top, end)):
            frame.members.addMember(i, j, Ixx=x[2], A=x[3], mesh=2)
        top.add_load(x[4], lType="force", direction="X")
        frame.solve()
        return [np.reshape(one, (1,)) for one in (low.Rx, low.Ry, end.Rx, end.Rmz)]

    yield "Model.solve", solved, [10.0, 14.0, 100.0, 9.0, 3.0]


@package("vasprun-xml", "spectra of crystals")
def vasprun() -> Iterator[Case]:
    m = module("vasprun.IR")

    def intensities(x: Any) -> Any:
        made = m.IR(
            x[:18].reshape(2, 3, 3), [0.03, 0.05], x[6:18].reshape(2, 6), [16.0, 24.0], 30.0
        )
        return [made.IRs, *made.epsilons]

    yield "IR", intensities, LONG[:18]
    yield "compute_epsilon_by_modes", lambda x: m.compute_epsilon_by_modes(
        x[:6].reshape(2, 3), x[6], x[6:24].reshape(2, 3, 3), 30.0, [16.0, 24.0]
    ), LONG  # fmt: skip


@package("risklabai", "machine learning for finance")
def risklabai() -> Iterator[Case]:
    m, differ = module("RiskLabAI.data.denoise.denoising"), module("RiskLabAI.data.differentiation")
    sharpe, average = (
        module("RiskLabAI.backtest.probabilistic_sharpe_ratio"),
        module("RiskLabAI.utils.ewma"),
    )
    pandas = module("pandas")

    def covariance(x: Any) -> Any:
        return x.reshape(3, 4) @ x.reshape(3, 4).T + np.eye(3)

    def denoised(x: Any) -> Any:
        values, vectors = m.pca(m.cov_to_corr(covariance(x)))
        return m.denoised_corr(np.diag(values), vectors, 1)

    yield "optimal_portfolio", lambda x: m.optimal_portfolio(covariance(x)), SERIES
    yield "denoised_corr", denoised, SERIES
    yield "fractional_difference_std", lambda x: differ.fractional_difference_std(
        pandas.DataFrame({"a": x}), 0.4, 0.9
    ).to_numpy(), SERIES  # fmt: skip
    yield "probabilistic_sharpe_ratio", lambda x: np.reshape(
        sharpe.probabilistic_sharpe_ratio(x[0], x[1], 30, x[2], x[3]), (1,)
    ), [0.4, 0.2, -0.3, 3.4]  # fmt: skip
    yield "ewma", lambda x: average.ewma(x, 4), SERIES


@package("elegansbot", "motion of worms")
def elegansbot() -> Iterator[Case]:
    m = module("elegansbot.elegansbot")

    yield "cholSolver_banded", lambda x: m.cholSolver_banded(
        np.stack([x[:6] + 20.0, x[6:12], x[3:9], x[4:10]]), x[6:12].copy()
    ), SERIES  # fmt: skip


@package("regain", "graphs by regularized inference")
def regain() -> Iterator[Case]:
    m, wishart = module("regain.bayesian.stats"), module("regain.bayesian.wishart_distribution_")
    lasso = module("regain.covariance.graphical_lasso_")

    def positive(x: Any) -> Any:
        half = 0.2 * x.reshape(3, 4)
        return half @ half.T + 0.5 * np.eye(3)

    yield "lognormal_logpdf", spread(m.lognormal_logpdf), [1.3, 0.4, 0.8]
    yield "t_mvn_logpdf", lambda x: np.reshape(
        m.t_mvn_logpdf(x[:6].reshape(1, 2, 3), positive(x)[:, :, None]), (1,)
    ), SERIES  # fmt: skip
    yield "WishartDistribution", lambda x: np.reshape(
        wishart.WishartDistribution(x[0] + 5.0, positive(x)).log_likelihood(positive(x[::-1])), (1,)
    ), SERIES  # fmt: skip
    yield "graphical_lasso", lambda x: lasso.graphical_lasso(
        positive(x), alpha=0.05, tol=1e-12, rtol=1e-12, max_iter=500
    )[0], SERIES  # fmt: skip


@package("xradar", "radars of the weather")
def xradar() -> Iterator[Case]:
    m, xarray = module("xradar.georeference"), module("xarray")

    def located(x: Any) -> Any:
        data = xarray.Dataset(
            {"latitude": 50.1, "longitude": 7.3, "altitude": x[8]},
            coords={
                "range": ("range", 2e4 * x[:4]),
                "azimuth": ("azimuth", 20.0 * x[4:8]),
                "elevation": ("azimuth", np.full(4, 1.5)),
            },
        )
        found = m.get_x_y_z(data)
        return [1e-3 * found[name].values for name in "xyz"]

    yield "antenna_to_cartesian", lambda x: np.stack(
        m.antenna_to_cartesian(2e4 * x[:4], 20.0 * x[4:8], x[8:], site_altitude=200.0)
    ), SERIES  # fmt: skip
    yield "get_x_y_z", located, SERIES[:9]


@package("kgen", "chemistry of seawater")
def kgen() -> Iterator[Case]:
    m = module("kgen")
    yield "calc_K, K1", lambda x: m.calc_K("K1", x[:2], x[2:4], x[4:]), [
        12.0, 25.0, 34.0, 35.0, 10.0, 200.0,
    ]  # fmt: skip
    yield "calc_K, Ksp", lambda x: np.log(m.calc_K("KspC", x[:2], x[2:4], x[4:])), [
        12.0, 25.0, 34.0, 35.0, 10.0, 200.0,
    ]  # fmt: skip
    yield "calc_Ks", lambda x: np.log(
        np.stack([*m.calc_Ks(temp_c=x[:2], sal=x[2:4], MyAMI_mode="approximate").values()])
    ), [12.0, 25.0, 34.0, 35.0]  # fmt: skip


@package("ivmodels", "instrumental variables")
def ivmodels() -> Iterator[Case]:
    m, quadric, tests = module("ivmodels"), module("ivmodels.quadric"), module("ivmodels.tests")
    instruments = np.stack([np.cos(np.arange(12.0)), np.sin(1.7 * np.arange(12.0))], axis=1)

    def fitted(kappa: Any) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = m.KClass(kappa=kappa).fit(x[:12].reshape(12, 1), x[12:], Z=instruments)
            return [made.coef_, np.reshape(made.intercept_, (-1,))]

        return result

    def mapped(x: Any) -> Any:
        half = x[:9].reshape(3, 3)
        made = quadric.Quadric(half @ half.T + np.eye(3), x[9:], -9.0)
        return [np.reshape(made.volume(), (1,)), made.center]

    yield "KClass, two stages", fitted("tsls"), LONG
    yield "KClass, limited information", fitted("liml"), LONG
    yield "anderson_rubin_test", lambda x: np.stack(
        tests.anderson_rubin_test(instruments, x[:12].reshape(12, 1), x[12:], np.array([0.3]))
    ), LONG  # fmt: skip
    yield "Quadric", mapped, SERIES


@package("albumentations", "changes of photographs")
def albumentations() -> Iterator[Case]:
    m = module("albumentations.augmentations.geometric.functional")
    boxes = module("albumentations.core.bbox_utils")
    matrix = np.array([[0.9, -0.2, 3.0], [0.3, 1.1, -1.0], [0.001, 0.0, 1.0]])
    yield "create_affine_transformation_matrix", lambda x: m.create_affine_transformation_matrix(
        {"x": x[0], "y": x[1]}, {"x": x[2], "y": x[3]}, {"x": x[4], "y": x[5]}, x[6], (5.0, 4.0)
    ), [3.0, -2.0, 10.0, 5.0, 1.2, 0.8, 25.0]  # fmt: skip
    yield "bboxes_affine_largest_box", lambda x: m.bboxes_affine_largest_box(
        x.reshape(3, 4), matrix
    ), [2.0, 1.0, 5.0, 4.0, 1.5, 2.2, 3.1, 6.0, 0.5, 0.7, 2.1, 1.9]  # fmt: skip
    yield "normalize_bboxes", lambda x: boxes.normalize_bboxes(x.reshape(3, 4), (40, 60)), SERIES


@package("norbert", "sources of sound")
def norbert() -> Iterator[Case]:
    m, contrib = module("norbert"), module("norbert.contrib")

    def sources(x: Any) -> tuple[Any, Any]:
        mixed = x[:16].reshape(2, 2, 2, 2)
        return x[8:24].reshape(2, 2, 2, 2), mixed[..., 0] + 1j * mixed[..., 1]

    yield "wiener", lambda x: m.wiener(*sources(x), iterations=1), LONG
    yield "softmask", lambda x: m.softmask(*sources(x)), LONG
    yield "residual_model", lambda x: contrib.residual_model(*sources(x)), LONG
    yield "reduce_interferences", lambda x: contrib.reduce_interferences(sources(x)[0]), LONG


@package("xarray-topo", "erosion of land")
def xarray_topo() -> Iterator[Case]:
    m, tools = module("xtopo.algos.hillslope_erosion"), module("xtopo.algos.utils")
    channel = module("xtopo.algos.bedrock_channel")

    def worn(x: Any) -> Any:
        erosion = np.zeros_like(x[:12].reshape(3, 4))
        m.erode_linear_diffusion(erosion, x[:12].reshape(3, 4), 0.4, 0.5, 1.0, 1.5, 4, 3)
        return erosion

    def carved(x: Any) -> Any:
        erosion = np.zeros_like(x[:4])
        channel.erode_spower(
            erosion, np.cumsum(x[:4]), np.arange(4), np.array([0, 0, 1, 2]), x[4:8], x[8:12],
            0.02, 0.4, 1.2, 1.0, 1e-12, 4,
        )  # fmt: skip
        return erosion

    yield "solve_tdma", lambda x: tools.solve_tdma(x[:3], x[3:6] + 9.0, x[6:9], x[9:], 3), SERIES
    yield "erode_linear_diffusion", worn, SERIES
    yield "erode_spower", carved, SERIES


@package("pyxis-toolkit", "orbits of spacecraft")
def pyxis() -> Iterator[Case]:
    m, linalg = module("pyxis.astro.coordinates"), module("pyxis.math.linalg")
    time, relative = module("pyxis.time"), module("pyxis.astro.propagators.relative")

    def entries(vector: Any) -> list[Any]:
        return [np.reshape(one, (1,)) for one in (vector.x, vector.y, vector.z)]

    def stepped(x: Any) -> Any:
        start = m.HillState(linalg.Vector3D(*x[:3]), linalg.Vector3D(*(0.001 * x[3:6])))
        hill = relative.Hill(start, 7000.0 * x[6])
        hill.step_by_seconds(300.0)
        return [*entries(hill.state.position), *entries(hill.state.velocity)]

    def pulled(x: Any) -> Any:
        position = linalg.Vector3D(*(1000.0 * x))
        made = m.GCRFstate(time.Epoch(9000.0), position, linalg.Vector3D(0.0, 7.0, 0.0))
        return [1e3 * one for one in entries(made.acceleration_from_gravity())]

    yield "Hill.step_by_seconds", stepped, [1.0, -2.0, 0.5, 0.4, 1.0, -0.3, 1.1]
    yield "acceleration_from_gravity", pulled, [6.9, 1.2, 2.3]
    yield "rotation_matrix", lambda x: entries(
        linalg.Vector3D.rotation_matrix(linalg.Vector3D(*x[:3]), x[3]).column_2()
    ), [0.3, 0.9, -0.4, 0.7]  # fmt: skip


@package("sumo", "optics of solids")
def sumo() -> Iterator[Case]:
    m = module("sumo.electronic_structure.optics")
    mass = module("sumo.electronic_structure.effective_mass")
    energies = np.array([0.5, 1.5])

    def properties(mode: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            real, imaginary = x[:12].reshape(2, 6), 0.3 * x[12:].reshape(2, 6)
            names = ("eps_real", "n_real", "loss", "absorption")
            shift = np.array([9.0, 11.0, 13.0, 0.0, 0.0, 0.0])
            found = m.calculate_dielectric_properties(
                (energies, real + shift, imaginary + 0.1 * shift), names, mode
            )[1]
            return [found["eps_real"], found["n_real"], found["loss"], 1e-5 * found["absorption"]]

        return result

    yield "calculate_dielectric_properties", properties("average"), LONG
    yield "calculate_dielectric_properties, trace", properties("trace"), LONG
    yield "kkr", lambda x: m.kkr(0.3, x[:18].reshape(2, 9), 0.1), LONG[:18]
    yield "fit_effective_mass", lambda x: np.reshape(
        mass.fit_effective_mass(np.linspace(0.0, 1.0, 6), x), (1,)
    ), [0.1, 0.3, 0.7, 1.4, 2.6, 4.1]  # fmt: skip


@package("adjusttext", "places of labels")
def adjusttext() -> Iterator[Case]:
    m = module("adjustText")
    start = [0.0, 2.1, 0.0, 1.1, 1.3, 3.2, 0.4, 1.9, 2.5, 4.7, 0.8, 2.2]
    yield "get_shifts_texts", lambda x: np.stack(m.get_shifts_texts(x.reshape(3, 4))), start
    yield "expand_coords", lambda x: m.expand_coords(x[2:].reshape(3, 4), x[0], x[1]), [
        1.2, 1.4, *start,
    ]  # fmt: skip
    yield "force_into_bbox", lambda x: m.force_into_bbox(
        x[4:].reshape(3, 4).copy(), x[:4]
    ), [0.5, 4.0, 0.3, 2.0, *start]  # fmt: skip


@package("genmechanics", "mechanisms")
def genmechanics() -> Iterator[Case]:
    m = module("genmechanics.geometry")
    yield "Euler2TransferMatrix", spread(m.Euler2TransferMatrix), [0.4, 0.9, 1.3]
    yield "TransferMatrix2Euler", lambda x: m.TransferMatrix2Euler(
        m.Euler2TransferMatrix(*x)
    ), [0.4, 0.9, 1.3]  # fmt: skip
    yield (
        "Direction2Euler",
        lambda x: m.Direction2Euler(x[:3], x[3:]),
        [0.3, 0.9, 0.4, 0.2, -0.5, 0.7],
    )


@package("dynamicisttoolkit", "dynamics of vehicles")
def dynamicist() -> Iterator[Case]:
    m, process = module("dtk.inertia"), module("dtk.process")
    bicycle = module("dtk.bicycle")

    def canonical(x: Any) -> Any:
        parameters = dict(bicycle.benchmark_parameters())
        parameters.update(w=x[0], c=x[1], lam=x[2], mB=x[3], xB=x[4], zB=x[5])
        return bicycle.benchmark_par_to_canonical(parameters)

    yield "inertia_components", lambda x: m.inertia_components(x[:4], x[4:]), [
        3.0, 2.5, 4.1, 3.3, 0.2, 0.8, 1.4, 2.1,
    ]  # fmt: skip
    yield "principal_axes", lambda x: m.principal_axes(
        x.reshape(3, 4) @ x.reshape(3, 4).T
    )[0], SERIES  # fmt: skip
    yield "benchmark_par_to_canonical", canonical, [1.02, 0.08, 0.31, 85.0, 0.3, -0.9]
    yield "freq_spectrum", lambda x: process.freq_spectrum(x, 10.0)[1], SERIES
    yield "butterworth", lambda x: process.butterworth(x, 2.0, 10.0, axis=0), LONG


@package("imreg-dft-nw", "pictures that are laid over each other")
def imreg() -> Iterator[Case]:
    m, tool = module("imreg_dft.utils"), module("imreg_dft.imreg")
    start = [*(0.1 * np.array(LONG))]
    yield "imfilter", lambda x: m.imfilter(x.reshape(4, 6), low=(0.2, 0.5), high=(0.1, 0.2)), start
    yield "transform_img", lambda x: tool.transform_img(
        x.reshape(4, 6), scale=1.1, angle=10.0, tvec=(0.3, -0.2)
    ), start  # fmt: skip


@package("rocket-douaa", "rockets of a lesson")
def rocket() -> Iterator[Case]:
    m = module("rocket.rocket")

    def distance(x: Any) -> Any:
        first, second = m.Rocket(*x[:2]), m.Rocket(*x[2:4])
        first.move_rocket(x[4], x[5])
        return np.reshape(first.get_distance(second), (1,))

    def circle(x: Any) -> Any:
        made = m.circleRocket(*x)
        return [np.reshape(made.get_area(), (1,)), np.reshape(made.get_circ(), (1,))]

    yield "Rocket.get_distance", distance, [0.3, 1.2, 4.0, -2.0, 0.7, 0.4]
    yield "circleRocket", circle, [0.3, 1.2, 2.5]


@package("perseo-core", "radars in space")
def perseo() -> Iterator[Case]:
    m, doppler = module("perseo_core.geometry.core.angles"), module("perseo_core.geometry.doppler")
    ellipsoid = module("perseo_core.geometry.coordinates.ellipsoid")
    direct = module("perseo_core.geometry.geocoding.core.direct")
    sensor = [4.6, 1.2, 5.2, -5.2, 0.8, 4.4]

    def crossed(x: Any) -> Any:
        found = ellipsoid.compute_line_ellipsoid_intersections(
            x[:3], 1e6 * x[3:], ellipsoid.create_inflated_wgs84_ellipsoid(100.0)
        )
        return 1e-6 * np.stack(found)

    def located(x: Any) -> Any:
        return 1e-6 * direct.direct_geocoding_monostatic_core(
            1e6 * x[:3], 1e3 * x[3:6], 1e-3 * x[6], 0.0, 0.03, 0.0, np.array([4.1e6, 9e5, 4.8e6])
        )

    yield "compute_look_angles_core", lambda x: np.reshape(
        m.compute_look_angles_core(1e6 * x[:3], 1e6 * x[3:]), (1,)
    ), [4.6, 1.2, 5.2, 4.1, 0.9, 4.8]  # fmt: skip
    yield "compute_incidence_angles_core", lambda x: np.reshape(
        m.compute_incidence_angles_core(x[:3], x[3:]), (1,)
    ), [4.6, 1.2, 5.2, 4.1, 0.9, 4.8]  # fmt: skip
    yield "doppler_equation_monostatic_residuals", lambda x: (
        doppler.doppler_equation_monostatic_residuals(
            x[:3], x[3:9].reshape(2, 3), x[9:].reshape(2, 3), 0.1, 0.5
        )
    ), [4.1, 0.9, 4.8, 4.6, 1.2, 5.2, 4.7, 1.1, 5.1, *sensor]  # fmt: skip
    yield "compute_line_ellipsoid_intersections", crossed, [-0.6, -0.1, -0.7, 4.6, 1.2, 5.2]
    yield "direct_geocoding_monostatic_core", located, [*sensor, 4.7]


@package("insurance-sensitivity", "causes of variance")
def insurance_sensitivity() -> Iterator[Case]:
    m = module("insurance_sensitivity._variance")
    yield "weighted_variance", lambda x: np.reshape(m.weighted_variance(x[:6], x[6:]), (1,)), SERIES
    yield "weighted_variance_of_array", lambda x: m.weighted_variance_of_array(x[:6], x[6:]), SERIES
    yield "variance_of_conditional_expectation", lambda x: np.reshape(
        m.variance_of_conditional_expectation(
            x[:8], x[8:].reshape(8, 2), x[8:].reshape(8, 2)[:, :1], None, 3
        ), (1,)
    ), LONG  # fmt: skip


@package("pysot", "optimization with surrogates")
def pysot() -> Iterator[Case]:
    m, problems = module("pySOT.surrogate"), module("pySOT.optimization_problems")
    places = np.stack([np.cos(np.arange(8.0)), np.sin(1.7 * np.arange(8.0))], axis=1)
    low, high = np.full(2, -1.5), np.full(2, 1.5)

    def predicted(x: Any) -> Any:
        made = m.RBFInterpolant(2, low, high, kernel=m.CubicKernel(), tail=m.LinearTail(2))
        made.add_points(places, x[:8])
        return [made.predict(x[8:].reshape(2, 2)), made.predict_deriv(x[8:10])]

    yield "RBFInterpolant", predicted, [*SERIES[:8], 0.2, -0.3, 0.6, 0.4]
    yield "Ackley", lambda x: np.reshape(problems.Ackley(dim=4).eval(x), (1,)), SERIES[:4]
    yield "Hartmann6", lambda x: np.reshape(problems.Hartmann6().eval(x), (1,)), [
        0.2, 0.4, 0.5, 0.3, 0.3, 0.6,
    ]  # fmt: skip
    yield "Levy", lambda x: np.reshape(problems.Levy(dim=4).eval(x), (1,)), SERIES[:4]


@package("pyoma-2", "modes of buildings")
def pyoma() -> Iterator[Case]:
    m, spectra = module("pyoma2.functions.gen"), module("pyoma2.functions.fdd")

    def shapes(x: Any) -> Any:
        return x[:12].reshape(4, 3) + 0.3j * x[12:].reshape(4, 3)

    def singular(x: Any) -> Any:
        signals = x.reshape(2, 12)
        density = spectra.SD_est(signals, signals, 0.1, nxseg=8, method="per")[1]
        return spectra.SD_svalsvec(density)[0]

    yield "MAC", lambda x: m.MAC(shapes(x), shapes(x[::-1])), LONG
    yield "MPC", lambda x: np.reshape(m.MPC(shapes(x)[:, 0]), (1,)), LONG
    yield "MPD", lambda x: np.reshape(m.MPD(shapes(x)[:, 1]), (1,)), LONG
    yield "SD_est, SD_svalsvec", singular, LONG


@package("flying-discs", "flights of discs")
def flying_discs() -> Iterator[Case]:
    m, base = module("flying_discs.frispy.lib.eom"), module("flying_discs.morrison.base")
    constants, tools = module("flying_discs.morrison.constants"), module("flying_discs.utils")
    model = module("flying_discs.frispy.lib.model")

    def forces(x: Any) -> Any:
        made = m.EOM(
            area=0.057, I_xx=0.0011, I_zz=0.0023, mass=0.175, air_density=1.2, g=9.8,
            model=model.Model(PL0=x[8]),
        )  # fmt: skip
        quantities = made.geometric_quantities(x[0], x[1], x[2:5], x[5:8])
        return made.compute_forces(x[2:5], quantities).acc

    def thrown(x: Any) -> Any:
        made = base.MorrisonBaseCalculator(constants.MorrisonUltrastar())
        path = made.calculate_trajectory(x[0], x[1], x[2], 0.05).trajectory
        return np.stack([path.X[-1], path.Z[-1]])

    yield "EOM.compute_forces", forces, [0.1, -0.2, 10.0, 1.0, 0.5, 0.3, 0.2, 50.0, 0.33]
    yield "MorrisonBaseCalculator", thrown, [1.3, 14.0, 7.0]
    yield "rotate_points_around_mid_point", lambda x: tools.rotate_points_around_mid_point(
        [tuple(one) for one in x[1:].reshape(6, 2)], x[0]
    ), [25.0, *SERIES]  # fmt: skip


@package("seastats", "statistics of the sea")
def seastats() -> Iterator[Case]:
    m, pandas = module("seastats.stats"), module("pandas")

    def compared(name: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            return np.reshape(getattr(m, name)(pandas.Series(x[:6]), pandas.Series(x[6:])), (1,))

        return result

    yield "get_kge", compared("get_kge"), SERIES
    yield "get_nse", compared("get_nse"), SERIES
    yield "get_lambda", compared("get_lambda"), [
        1.0, 2.2, 3.1, 4.5, 5.2, 6.8, 1.4, 2.0, 3.3, 4.1, 5.9, 6.1,
    ]  # fmt: skip
    yield "get_slope_intercept_pp", lambda x: np.stack(
        m.get_slope_intercept_pp(pandas.Series(x[:12]), pandas.Series(x[12:]))
    ), LONG  # fmt: skip


@package("skan", "skeletons in pictures")
def skan() -> Iterator[Case]:
    m = module("skan.csr")
    skeleton = np.zeros((6, 7), dtype=bool)
    skeleton[2, 1:6], skeleton[3, 5], skeleton[4, 4], skeleton[1, 3] = True, True, True, True
    yield "pixel_graph", lambda x: m.pixel_graph(x.reshape(3, 4), connectivity=2)[0].data, SERIES
    yield "Skeleton.path_lengths", lambda x: m.Skeleton(skeleton, spacing=x).path_lengths(), [
        1.3, 0.7,
    ]  # fmt: skip


@package("yellowbrick", "diagnoses of models")
def yellowbrick() -> Iterator[Case]:
    m, elbow = module("yellowbrick.bestfit"), module("yellowbrick.cluster.elbow")
    radviz = module("yellowbrick.features.radviz")
    yield "fit_quadratic", lambda x: m.fit_quadratic(x[:8].reshape(8, 1), x[8:16]).predict(
        x[16:].reshape(8, 1)
    ), LONG  # fmt: skip
    yield "distortion_score", lambda x: np.reshape(
        elbow.distortion_score(x.reshape(8, 3), np.array([0, 1, 0, 2, 1, 2, 0, 1])), (1,)
    ), LONG  # fmt: skip
    yield "RadViz.normalize", lambda x: radviz.RadViz.normalize(x.reshape(8, 3)), LONG


@package("dask-ml", "machine learning in parallel")
def dask_ml() -> Iterator[Case]:
    m, dask = module("dask_ml.metrics"), module("dask.array")
    yield "mean_squared_error", lambda x: np.reshape(
        m.mean_squared_error(dask.from_array(x[:6]), dask.from_array(x[6:])), (1,)
    ), SERIES  # fmt: skip
    yield "mean_absolute_error", lambda x: np.reshape(
        m.mean_absolute_error(dask.from_array(x[:6]), dask.from_array(x[6:])), (1,)
    ), SERIES  # fmt: skip


@package("em-simulation", "radar in the ground")
def em_simulation() -> Iterator[Case]:
    m = module("em_simulation.waveform")
    yield (
        "Waveform.ricker",
        lambda x: np.reshape(m.Waveform(x[0]).ricker(7, x[1]), (1,)),
        [1.3, 0.1],
    )
    yield "Waveform.first_der_gaussiana", lambda x: np.reshape(
        m.Waveform(x[0]).first_der_gaussiana(7, x[1]), (1,)
    ), [1.3, 0.1]  # fmt: skip


@package("kerala-math", "series of the Kerala school")
def kerala() -> Iterator[Case]:
    m, circumference = module("kerala_math.series.jya"), module("kerala_math.series.circumference")
    yield "jya_nihatya", lambda x: np.reshape(m.jya_nihatya(x[0]), (1,)), [1200.0]
    yield "jya_vidvan", m.jya_vidvan, [1200.0, 2500.0, 3100.0]
    yield "vyasad", lambda x: np.reshape(
        circumference.vyasad(x[0], 8, calc_type="float"), (1,)
    ), [100.0]  # fmt: skip


@package("scikit-allel", "genetics of populations")
def allel() -> Iterator[Case]:
    m = module("allel")

    def principal(x: Any) -> Any:
        found, model = m.pca(x.reshape(4, 6), n_components=2, scaler="standard")
        return [np.abs(found), model.explained_variance_ratio_]

    def distances(x: Any) -> Any:
        coordinates, ratio = m.pcoa(m.pairwise_distance(x.reshape(4, 6), "euclidean"))
        return [np.abs(coordinates[:, :2]), ratio[:2]]

    yield "pca", principal, LONG
    yield "pcoa", distances, LONG
    yield "moving_statistic", lambda x: m.moving_statistic(x, np.std, size=4, step=2), SERIES


@package("statsforecast", "forecasts by statistics")
def statsforecast() -> Iterator[Case]:
    m = module("statsforecast.models")
    yield "SimpleExponentialSmoothing", lambda x: m.SimpleExponentialSmoothing(alpha=0.3).forecast(
        x, h=3
    )["mean"], SERIES  # fmt: skip
    yield "RandomWalkWithDrift", lambda x: m.RandomWalkWithDrift().forecast(
        x, h=3, level=[80]
    ), SERIES  # fmt: skip
    yield "SeasonalWindowAverage", lambda x: m.SeasonalWindowAverage(
        season_length=3, window_size=2
    ).forecast(x, h=4)["mean"], SERIES  # fmt: skip
    yield "CrostonClassic", lambda x: m.CrostonClassic().forecast(x, h=2)["mean"], SERIES


@package("pympm", "waves in the air")
def pympm() -> Iterator[Case]:
    m = module("pyMPM.MPM")
    yield "MPM", lambda x: m.MPM(20.0 * x[3:], 1000.0 * x[0], x[1], x[2], 0, 0, 0, "ref"), [
        0.99, 14.0, 62.0, 0.9, 1.1, 2.6,
    ]  # fmt: skip
    yield "MPM, attenuation", lambda x: m.MPM(
        20.0 * x[3:], 1000.0 * x[0], x[1], x[2], 0, 0, 0, "att"
    ), [0.99, 14.0, 62.0, 0.9, 1.1, 2.6]  # fmt: skip


@package("xesn", "echo state networks")
def xesn() -> Iterator[Case]:
    m, xarray = module("xesn"), module("xarray")

    def predicted(x: Any) -> Any:
        data = xarray.DataArray(
            0.1 * x.reshape(2, 12), {"x": [0, 1], "time": np.arange(12.0)}, ["x", "time"]
        )
        kinds = {"factor": 0.6, "distribution": "uniform", "normalization": "multiply"}
        made = m.ESN(
            n_input=2, n_output=2, n_reservoir=6, leak_rate=0.7, tikhonov_parameter=0.01,
            input_kwargs={**kinds, "random_seed": 1}, adjacency_kwargs={**kinds, "random_seed": 2},
            bias_kwargs={"distribution": "uniform", "factor": 0.2, "random_seed": 3},
        )  # fmt: skip
        made.build()
        made.train(data)
        return made.predict(data, n_steps=3, n_spinup=4).values

    yield "ESN", predicted, LONG


@package("symfeat", "symbolic features")
def symfeat() -> Iterator[Case]:
    m = module("symfeat.symfeat")

    def product(x: Any) -> Any:
        first, second = m.SimpleFeature(2, 0), m.SimpleFeature(-1, 1)
        found = m.ProductFeature(first, m.OperatorFeature(second, np.log))
        return found.fit_transform(x.reshape(4, 3))

    yield "ProductFeature", product, SERIES
    yield "OperatorFeature", lambda x: m.OperatorFeature(
        m.SimpleFeature(0.5, 1), np.sin
    ).fit_transform(x.reshape(6, 2)), SERIES  # fmt: skip


@package("twoprocessmodel", "sleep")
def twoprocess() -> Iterator[Case]:
    circadian = module("twoprocessmodel.circadianProcess")
    homeostatic = module("twoprocessmodel.homeostaticProcess")
    times = np.linspace(0.0, 24.0, 7)

    def pressed(x: Any) -> Any:
        made = homeostatic.HomeostaticProcess(*x[:2], 0.5, x[2])
        return [np.reshape(made.sample(awake), (1,)) for awake in (True, True, False, True, False)]

    yield "CircadianProcess", lambda x: circadian.CircadianProcess(*x).sample(times), [
        0.12, 24.0, 8.6,
    ]  # fmt: skip
    yield "HomeostaticProcess", pressed, [4.2, 18.2, 0.5]


@package("astro-gdt", "bursts of gamma rays")
def gamma_rays() -> Iterator[Case]:
    m, binned = module("gdt.core.spectra.functions"), module("gdt.core.binning.binned")
    coords = module("gdt.core.coords.quaternion")
    energies = np.array([20.0, 90.0, 300.0, 900.0, 2000.0])

    def turned(x: Any) -> Any:
        first = coords.Quaternion.from_vectors(x[:3], x[3:6])
        return [(first * coords.Quaternion(x[6:])).unit.scalar_last]

    yield "Band", lambda x: m.Band().eval(x, energies), [1.3, 400.0, -0.6, -2.4, 100.0]
    yield "SmoothlyBrokenPowerLaw", lambda x: m.SmoothlyBrokenPowerLaw().eval(x, energies), [
        1.3, 300.0, 0.4, -0.5, -2.2, 100.0,
    ]  # fmt: skip
    yield "combine_by_factor", lambda x: np.stack(
        binned.combine_by_factor(x[:6], x[6:], x[3:9], np.arange(7.0), 2)[:3]
    ), SERIES  # fmt: skip
    yield "Quaternion", turned, SERIES[:10]


@package("iwave", "velocities from waves")
def iwave() -> Iterator[Case]:
    m, dispersion = module("iwave.optimise"), module("iwave.dispersion")
    measured = np.abs(np.cos(1.3 * np.arange(4 * 6 * 6.0))).reshape(4, 6, 6)
    waves = 0.5 * np.arange(1.0, 5.0)

    yield "dispersion", lambda x: np.stack(
        dispersion.dispersion(waves, waves, x[:2], x[2], x[3])[:1]
    ), [0.8, 1.1, 0.6, 0.85]  # fmt: skip
    yield "omega_i_calc", lambda x: dispersion.omega_i_calc(x[1:], x[0]), [0.7, *SERIES]
    yield "nsp_inv", lambda x: np.reshape(
        m.nsp_inv(x[:12].reshape(3, 4), x[12:].reshape(3, 4)), (1,)
    ), LONG  # fmt: skip
    yield "cost_function_velocity_depth", lambda x: np.reshape(
        m.cost_function_velocity_depth(
            x, measured, 0.85, (8, 6, 6), 0.1, 10.0, 1.0, True, False, 8.0
        ), (1,)
    ), [0.4, 0.7, -0.9]  # fmt: skip


@package("mvgavg", "moving averages")
def mvgavg() -> Iterator[Case]:
    m = module("mvgavg")
    yield "mvgavg", lambda x: m.mvgavg(x, 3), SERIES
    yield "mvgavg, weights", lambda x: m.mvgavg(
        x.reshape(2, 6), 3, axis=1, weights=[1.0, 2.0, 4.0]
    ), SERIES  # fmt: skip
    yield "mvgavg, binning", lambda x: m.mvgavg(x.reshape(4, 6), 2, axis=0, binning=True), LONG


@package("xrsignal", "signals with labels")
def xrsignal() -> Iterator[Case]:
    m, xarray = module("xrsignal"), module("xarray")

    def signal(x: Any) -> Any:
        return xarray.DataArray(
            x.reshape(2, 12), {"place": [0, 1], "time": np.arange(12.0)}, ["place", "time"]
        ).chunk({"place": 1, "time": 12})

    yield "hilbert_mag", lambda x: m.hilbert_mag(signal(x), "time").values, LONG
    yield "welch", lambda x: m.welch(signal(x), "time", nperseg=6, fs=2).values, LONG


@package("vispy", "geometry of scenes")
def vispy() -> Iterator[Case]:
    m, quaternion = module("vispy.geometry.calculations"), module("vispy.util.quaternion")
    transforms = module("vispy.util.transforms")

    def turned(x: Any) -> Any:
        made = quaternion.Quaternion.create_from_euler_angles(*x[:3])
        return np.stack(made.rotate_point(x[3:]))

    yield "resize", lambda x: m.resize(x.reshape(3, 4), (5, 3)), SERIES
    yield "Quaternion", turned, [0.3, 0.7, -0.4, 1.0, 2.0, 0.5]
    yield "affine_map", lambda x: transforms.affine_map(
        x[:12].reshape(4, 3) + np.eye(4, 3), x[12:].reshape(4, 3)
    ), LONG  # fmt: skip


@package("dynasor", "structure factors of moving atoms")
def dynasor() -> Iterator[Case]:
    m = module("dynasor.core.reciprocal")
    yield "calc_rho_q", lambda x: m.calc_rho_q(x[:15].reshape(5, 3), x[15:].reshape(3, 3)), LONG
    yield "calc_rho_j_q", lambda x: m.calc_rho_j_q(
        x[:9].reshape(3, 3), x[9:18].reshape(3, 3), x[18:].reshape(2, 3)
    )[1], LONG  # fmt: skip


@package("msmhelper", "Markov state models")
def msmhelper() -> Iterator[Case]:
    m, linalg = module("msmhelper.msm"), module("msmhelper.msm.utils.linalg")
    tools = module("msmhelper.utils.filtering")
    start = SERIES[:9]
    yield "row_normalize_matrix", lambda x: m.row_normalize_matrix(x.reshape(3, 3)), start
    yield "equilibrium_population", lambda x: m.equilibrium_population(
        x.reshape(3, 3) / x.reshape(3, 3).sum(axis=1, keepdims=True)
    ), start  # fmt: skip
    yield "left_eigenvalues", lambda x: linalg.left_eigenvalues(
        x.reshape(3, 4) @ x.reshape(3, 4).T
    ), SERIES  # fmt: skip
    yield "gaussian_filter", lambda x: tools.gaussian_filter(x.reshape(6, 2), 0.8), SERIES


@package("jenn", "nets that learn slopes")
def jenn() -> Iterator[Case]:
    m, cost = module("jenn.core.model"), module("jenn.core.cost")

    def net() -> Any:
        made = m.NeuralNet([2, 4, 1])
        made.parameters.initialize(random_state=1)
        return made

    def loss(x: Any) -> Any:
        made = cost.SquaredLoss(x[:6].reshape(1, 6), 0.7)
        return np.reshape(made.evaluate(x[6:].reshape(1, 6)), (1,))

    yield "NeuralNet.predict", lambda x: net().predict(0.2 * x.reshape(2, 6)), SERIES
    yield "NeuralNet.predict_partials", lambda x: net().predict_partials(
        0.2 * x.reshape(2, 6)
    ), SERIES  # fmt: skip
    yield "SquaredLoss", loss, SERIES


@package("medpy", "medical pictures")
def medpy() -> Iterator[Case]:
    m, intensity = module("medpy.metric.histogram"), module("medpy.features.intensity")

    def measured(name: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            first, second = x[:6] / x[:6].sum(), x[6:] / x[6:].sum()
            return np.reshape(getattr(m, name)(first, second), (1,))

        return result

    yield "jensen_shannon", measured("jensen_shannon"), SERIES
    yield "chi_square", measured("chi_square"), SERIES
    yield "correlate", measured("correlate"), SERIES
    yield "local_mean_gauss", lambda x: intensity.local_mean_gauss(x.reshape(4, 6), sigma=1.2), LONG


@package("promethium", "distributions in Python alone")
def promethium() -> Iterator[Case]:
    m = module("promethium.distributions.normal")
    chi = module("promethium.distributions.chi2")
    yield "normal.cdf", lambda x: np.reshape(m.cdf(*x), (1,)), [0.7, 0.2, 1.3]
    yield "normal.ppf", lambda x: np.reshape(m.ppf(*x), (1,)), [0.7, 0.2, 1.3]
    yield "chi2.cdf", lambda x: np.reshape(chi.cdf(x[0], 5), (1,)), [3.3]


@package("bvlain", "valences of bonds")
def bvlain() -> Iterator[Case]:
    m = module("bvlain.potentials").BVSEPotential
    yield "Morse", lambda x: m.Morse(x[3:], *x[:3]), [1.9, 0.8, 1.4, *SERIES]
    yield "Coulomb", lambda x: m.Coulomb(x[6:], *x[:6]), [1.0, 2.0, 0.7, 1.3, 2.0, 3.0, *SERIES]


@package("pyoam", "arrays of antennas")
def pyoam() -> Iterator[Case]:
    m, source = module("pyoam.core.propagate"), module("pyoam.core.source_point")
    field = module("pyoam.core.field_point")

    def arrived(x: Any) -> Any:
        sources = [source.SourcePoint(*one) for one in x[1:].reshape(2, 5)]
        fields = [field.FieldPoint(3.0, y, 0.5) for y in (-1.0, 0.0, 2.0)]
        m.propagate(sources, fields, 1e8 * x[0])
        return [np.reshape(part, (1,)) for one in fields for part in (one.real(), one.abs())]

    yield "propagate", arrived, [1.4, 0.1, 0.2, 0.0, 1.0, 0.3, 0.0, 0.9, 0.3, 0.7, 1.1]


@package("ocean-wave-tracing", "rays of waves")
def ocean_waves() -> Iterator[Case]:
    m, solvers = (
        module("ocean_wave_tracing.ocean_wave_tracing"),
        module("ocean_wave_tracing.util_solvers"),
    )
    calm = np.zeros((4, 5))

    def tracer(depth: Any) -> Any:
        return m.Wave_tracing(
            calm, calm, 5, 4, 6, 60.0, 25.0, 25.0, 2, 0.0, 100.0, 0.0, 75.0, d=depth
        )  # fmt: skip

    def celerity(x: Any) -> Any:
        made = tracer(np.full((4, 5), 20.0))
        return made.c_intrinsic(0.05 * x[:6], x[6:], group_velocity=True)

    def advanced(x: Any) -> Any:
        step = solvers.Advection(x[:3], x[3:6], x[6:9], 0.4)
        return solvers.RungeKutta4.advance(x[9:], step, 0, [0.0, 0.5])

    yield "c_intrinsic", celerity, SERIES
    yield "RungeKutta4", advanced, SERIES
    yield "dsigma", lambda x: tracer(10.0 * x[:20].reshape(4, 5)).dsigma(
        0.02 * x[20:22], np.array([2, 3]), np.array([1, 2]), 25.0, "x"
    ).values, LONG[:22]  # fmt: skip


@package("timescale", "times of astronomy")
def timescale() -> Iterator[Case]:
    m = module("timescale.time")

    def taken(name: str) -> Callable[[Any], Any]:
        return lambda x: getattr(m.Timescale(MJD=58000.0 + 30.0 * x), name)

    yield "era", taken("era"), SERIES[:4]
    yield "gmst", taken("gmst"), SERIES[:4]
    yield "st", taken("st"), SERIES[:4]


@package("paretobench", "problems with several aims")
def paretobench() -> Iterator[Case]:
    m = module("paretobench")

    def aims(name: str, **options: Any) -> Callable[[Any], Any]:
        return lambda x: getattr(m, name)(**options)(x.reshape(1, -1)).f

    start = [0.3, 0.7, 0.2, 0.6, 0.45, 0.81, 0.37]
    yield "ZDT1", aims("ZDT1", n=5), start[:5]
    yield "ZDT6", aims("ZDT6", n=5), [0.31, *start[1:5]]
    yield "DTLZ2", aims("DTLZ2", n=7, m=3), start
    yield "WFG4", aims("WFG4", n=6, m=2, k=2), [0.5, 1.3, 2.9, 3.3, 4.6, 5.1]


@package("freesopy", "links by light")
def freesopy() -> Iterator[Case]:
    m = module("freesopy")

    def losses(x: Any) -> Any:
        found = (
            m.atmospheric_attenuation_loss(x[0], x[1], x[2]),
            m.geometric_loss(x[0], x[1], x[2], x[3], x[4]),
            m.beam_divergence_loss(x[3], x[2], x[4]),
        )
        return [np.reshape(one, (1,)) for one in found]

    yield "losses", losses, [0.2, 0.1, 2.0, 1.5, 3.0]
    yield "atmospheric_turbulence", lambda x: np.reshape(
        m.atmospheric_turbulence(*x), (1,)
    ), [3.0, 0.1, 2.0, 1.5]  # fmt: skip


@package("oceans", "oceanographic data")
def oceans() -> Iterator[Case]:
    m, filters = module("oceans.ocfis"), module("oceans.filters")
    yield "lanc", lambda x: filters.lanc(5, x[0]), [0.12]
    yield "md_trenberth", filters.md_trenberth, LONG
    yield "fft_lowpass", lambda x: filters.fft_lowpass(x, 0.3, 0.1), SERIES
    yield "pcaben", lambda x: np.stack(m.pcaben(x[:12], x[12:])[0]), LONG
    yield "uv2spdir", lambda x: np.stack(m.uv2spdir(x[:6], x[6:])), SERIES


@package("neutrolab", "neutrosophic learning")
def neutrolab() -> Iterator[Case]:
    kde, parabolic = module("neutrolab.methods.kde"), module("neutrolab.methods.parabolic")
    yield "KDENeutrosophic", lambda x: np.stack(
        kde.KDENeutrosophic().fit_transform(0.1 * x)
    ), SERIES  # fmt: skip
    yield "ParabolicNeutrosophic", lambda x: np.stack(
        parabolic.ParabolicNeutrosophic(alpha=0.8).fit_transform(0.1 * x)
    ), SERIES  # fmt: skip


@package("alpacas", "sundials")
def alpacas() -> Iterator[Case]:
    m = module("alpacas.basic_functions.basic_functions")
    mechanics = module("alpacas.celestial_mechanics.celestial_mechanics")
    yield "nodus_arbitrary_orientation", spread(m.nodus_arbitrary_orientation), [
        0.4, 0.2, 0.9, 0.3, 0.2,
    ]  # fmt: skip
    yield "nodus_vertical", spread(m.nodus_vertical), [0.4, -0.2, 0.9]
    yield "kepler_trajectory", spread(mechanics.kepler_trajectory), [0.7, 0.2]
    yield "sun_coordinate", lambda x: mechanics.sun_coordinate(x[0]), [0.4]


@package("gwtools", "waves of black holes")
def gwtools() -> Iterator[Case]:
    m, harmonics = module("gwtools.gwtools"), module("gwtools.harmonics")
    mismatch = module("gwtools.mismatch")
    times = np.linspace(0.0, 2.0, 12)

    def waves(x: Any) -> Any:
        return x[:12] * np.exp(2j * times), x[12:] * np.exp(2.2j * times)

    yield "Mcnu_to_m1m2", lambda x: np.stack(m.Mcnu_to_m1m2(*x)), [12.0, 0.22]
    yield "sYlm", lambda x: np.reshape(harmonics.sYlm(-2, 3, 2, *x), (1,)), [0.7, 1.2]
    yield "overlap_err", lambda x: np.reshape(mismatch.overlap_err(*waves(x)), (1,)), LONG
    yield "mismatch", lambda x: np.reshape(mismatch.mismatch(*waves(x))[0], (1,)), LONG
    yield "amp_phase", lambda x: np.stack(m.amp_phase(waves(x)[0])), LONG


@package("rxnmodel", "kinetics of reactions")
def rxnmodel() -> Iterator[Case]:
    m = module("rxn_models.rxn_models")
    start = [*(0.08 * np.array(SERIES))]
    yield "D4", m.D4, start
    yield "A2", m.A2, start
    yield "D4, integral", lambda x: m.D4(x, integral=True), start


@package("conservation-spectral", "spectra of graphs")
def conservation() -> Iterator[Case]:
    m, ratios = module("conservation_spectral"), module("conservation_spectral.conservation")
    eigen, laplacian = (
        module("conservation_spectral.eigen"),
        module("conservation_spectral.laplacian"),
    )

    def decomposed(x: Any) -> Any:
        graph = m.TensionGraph()
        for number, pair in enumerate(((0, 1), (1, 2), (2, 3), (0, 3), (1, 3))):
            graph.add_edge(*pair, weight=x[number])
        return eigen.eigendecompose(laplacian.build_laplacian(graph))

    yield "eigendecompose", lambda x: decomposed(x).eigenvalues, SERIES[:5]
    yield "conservation_ratio", lambda x: np.reshape(
        ratios.conservation_ratio(decomposed(x[:5]), x[5:], 1), (1,)
    ), SERIES[:9]  # fmt: skip


@package("pycontrolcharts", "control of processes")
def pycontrolcharts() -> Iterator[Case]:
    charts, individuals = (
        module("pycontrolcharts.charts.xbar_s"),
        module("pycontrolcharts.charts.xmr"),
    )
    pandas = module("pandas")

    def limits(table: Any) -> Any:
        return table.select_dtypes("float").dropna(axis=1).to_numpy()

    yield "xmr_chart", lambda x: limits(individuals.xmr_chart(pandas.Series(x))), SERIES
    yield "xbar_s_chart", lambda x: limits(
        charts.xbar_s_chart(
            pandas.DataFrame({"value": x, "group": np.repeat([1, 2, 3, 4], 3)}),
            value_column="value", subgroup="group",
        )
    ), SERIES  # fmt: skip


@package("pyshtransform", "spherical harmonics")
def pyshtransform() -> Iterator[Case]:
    m = module("pyshtransform.legendre")
    heights = [-0.7, -0.2, 0.1, 0.5, 0.8]
    yield "legendre", lambda x: np.stack(m.legendre(5, x)), heights
    yield "plmbar_d1", lambda x: m.plmbar_d1(3, x)[0], heights


@package("smact", "chemistry of materials")
def smact() -> Iterator[Case]:
    m = module("smact.properties")
    yield "band_gap_Harrison", lambda x: np.reshape(
        m.band_gap_Harrison("O", "Mg", x[0]), (1,)
    ), [2.1]  # fmt: skip
    yield "compound_electroneg", lambda x: np.reshape(
        m.compound_electroneg(elements=["Cu", "In", "S"], stoichs=[*x]), (1,)
    ), [1.0, 1.1, 2.0]  # fmt: skip


@package("tensap", "tensors of functions")
def tensap() -> Iterator[Case]:
    m = module("tensap")

    def tensor(x: Any) -> Any:
        return m.FullTensor(x.reshape(2, 3, 4))

    yield "tensor_matrix_product", lambda x: tensor(x).tensor_matrix_product(
        [np.outer(x[:2], x[1:3]), np.eye(3), np.outer(x[:4], x[4:8])]
    ).numpy(), LONG  # fmt: skip
    yield "singular_values", lambda x: tensor(x).singular_values(), LONG
    yield "tensordot", lambda x: tensor(x).tensordot(tensor(x[::-1]), [0, 1], [0, 1]).numpy(), LONG


@package("hypertransform", "samples that are sorted")
def hypertransform() -> Iterator[Case]:
    m = module("hypertransform")
    start = [0.3, 0.7, 0.2, 0.6, 0.45, 0.81]
    yield "hypertriangulate", lambda x: m.hypertriangulate(x.reshape(2, 3)), start
    yield "hypercubify", lambda x: m.hypercubify(x.reshape(2, 3)), [0.2, 0.5, 0.9, 0.3, 0.45, 0.7]


@package("rkstiff", "stiff equations")
def rkstiff() -> Iterator[Case]:
    m, etd = module("rkstiff.derivatives"), module("rkstiff.etd4")
    grids = module("rkstiff.grids")
    waves = grids.construct_x_kx_rfft(12)[1]

    def advection(u: Any) -> Any:
        return -0.5j * waves * np.fft.rfft(np.fft.irfft(u) ** 2)

    def evolved(x: Any) -> Any:
        solver = etd.ETD4(lin_op=-0.1 * waves**2, nl_func=advection)
        return np.fft.irfft(solver.evolve(np.fft.rfft(0.1 * x), 0.0, 0.3, 0.1))

    yield "dx_rfft", lambda x: m.dx_rfft(waves, x, 1), SERIES
    yield "dx_cheb", lambda x: m.dx_cheb(grids.construct_x_dx_cheb(11)[1], x, 2), SERIES
    yield "ETD4", evolved, SERIES


@package("wake-t", "plasma accelerators")
def wake_t() -> Iterator[Case]:
    m = module("wake_t.beamline_elements.plasma_ramp")
    tools = module("wake_t.utilities.bunch_manipulation")
    places = np.linspace(0.0, 1.0, 5)
    yield "inverse_square_profile", lambda x: m.inverse_square_profile(
        places, density_top=x[0], density_down=x[1], position_down=x[2]
    ), [3.0, 0.4, 0.7]  # fmt: skip
    yield "gaussian_profile", lambda x: m.gaussian_profile(
        places, density_top=x[0], density_down=x[1], position_down=x[2]
    ), [3.0, 0.4, 0.7]  # fmt: skip
    yield "rotation_matrix_xz", lambda x: tools.rotation_matrix_xz(x[0]), [0.4]


@package("nestcheck", "nested sampling")
def nestcheck() -> Iterator[Case]:
    m = module("nestcheck.estimators")

    def run(x: Any) -> Any:
        return {
            "logl": np.cumsum(x[:8]), "theta": x[8:].reshape(8, 2), "nlive_array": np.full(8, 4.0),
        }  # fmt: skip

    yield "logz", lambda x: np.reshape(m.logz(run(x)), (1,)), LONG
    yield "param_mean", lambda x: np.reshape(m.param_mean(run(x), param_ind=1), (1,)), LONG
    yield "r_mean", lambda x: np.reshape(m.r_mean(run(x)), (1,)), LONG


@package("dscribe", "descriptors of molecules")
def dscribe() -> Iterator[Case]:
    m, system = module("dscribe.core.lattice"), module("dscribe.core.system")

    def lattice(x: Any) -> Any:
        return m.Lattice(x.reshape(3, 3) + 5.0 * np.eye(3))

    def molecule(x: Any) -> Any:
        return system.System("OHH", positions=x.reshape(3, 3))

    yield "Lattice.reciprocal_lattice", lambda x: lattice(x).reciprocal_lattice.matrix, SERIES[:9]
    yield "Lattice.get_fractional_coords", lambda x: lattice(x[:9]).get_fractional_coords(
        x[9:]
    ), SERIES  # fmt: skip
    yield "System.get_distance_matrix", lambda x: molecule(x).get_distance_matrix(), SERIES[:9]


@package("phono3py", "heat in crystals")
def phono3py() -> Iterator[Case]:
    m, heat = module("phono3py.phonon.func"), module("phono3py.phonon.heat_capacity_matrix")
    yield "mode_cv", lambda x: 1e3 * m.mode_cv(100.0 * x[:3], 0.01 * x[3:]), SERIES
    yield "gaussian", lambda x: m.gaussian(x[1:], x[0]), [1.3, *SERIES]
    yield "mode_cv_matrix_njc23", lambda x: 1e3 * heat.mode_cv_matrix_njc23(
        100.0 * x[:2], 0.01 * x[2:6]
    ), SERIES[:6]  # fmt: skip


@package("biom-format", "tables of observations")
def biom() -> Iterator[Case]:
    m = module("biom")

    def table(x: Any) -> Any:
        return m.Table(x.reshape(3, 4), ["a", "b", "c"], ["s", "t", "u", "v"])

    yield "Table.norm", lambda x: table(x).norm(inplace=False).matrix_data.toarray(), SERIES
    yield "Table.sum", lambda x: table(x).sum(axis="sample"), SERIES


@package("serapis", "floods")
def serapis() -> Iterator[Case]:
    m, pandas = module("serapis.saintvenant"), module("pandas")
    kinds, rest = module("types").SimpleNamespace, {"dx": 100.0, "dt": 20.0, "Laterals": False}

    def routed(x: Any) -> Any:
        sections = {"b": 10.0 * x[:4], "n": 0.01 * x[4:8], "bed level": [4.0, 3.7, 3.3, 3.0]}
        flow = pandas.DataFrame({"q": x[8:]})
        river = kinds(cross_sections=pandas.DataFrame(sections), icq=2.0, usbc=flow, **rest)
        m.SaintVenant.kinematic_1d(river, flow)
        return [river.q, river.wl]

    yield "SaintVenant.kinematic_1d", routed, SERIES
    yield "SaintVenant.QuadraticEqn", spread(m.SaintVenant.QuadraticEqn), [1.2, 5.0, 0.7]
