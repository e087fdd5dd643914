"""A twenty-fourth sample, drawn on 2026-11-30, and written down before any of it was tried.

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

TWENTYFOURTH = Sample()
package = TWENTYFOURTH.package


@package("attoworld", "pulses of attoseconds")
def attoworld() -> Iterator[Case]:
    m, spectrum = module("attoworld.data"), module("attoworld.spectrum")
    time = module("attoworld.wave")

    def wave(x: Any) -> Any:
        return m.Waveform(wave=x, time=0.5 * np.arange(x.size), dt=0.5, is_uniformly_spaced=True)

    yield "Waveform.to_bandpassed", lambda x: wave(x).to_bandpassed(0.3, 0.2).wave, LONG
    yield "Waveform.to_time_derivative", lambda x: wave(x).to_time_derivative().wave, LONG
    yield "frequency_to_wavelength", lambda x: (
        spectrum.frequency_to_wavelength(3e14 * (1.0 + x[:6]), x[6:])[1] * 1e-12
    ), SERIES  # fmt: skip
    yield "stft", lambda x: time.stft(wave(x), nperseg=8, nfft=8).data, LONG


@package("hawkesbook", "self-exciting processes")
def hawkesbook() -> Iterator[Case]:
    m = module("hawkesbook")
    events = np.cumsum(0.3 * np.array(SERIES))

    yield "exp_hawkes_intensity", lambda x: m.exp_hawkes_intensity(
        x[3], events[:6], x[:3]
    ), [0.7, 0.4, 1.1, 8.5]  # fmt: skip
    yield "exp_hawkes_compensator", lambda x: m.exp_hawkes_compensator(x[14], x[:11], x[11:14]), [
        *events[:11], 0.7, 0.4, 1.1, 20.0,
    ]  # fmt: skip
    yield "log_likelihood", lambda x: m.log_likelihood(
        events, 20.0, x, m.exp_hawkes_intensity, m.exp_hawkes_compensator
    ), [0.7, 0.4, 1.1]  # fmt: skip
    yield "power_log_likelihood", lambda x: m.power_log_likelihood(events, 20.0, x), [
        0.7, 0.4, 1.1, 1.8,
    ]  # fmt: skip


@package("chiral-transfermatrix", "chiral layers of optics")
def chiral() -> Iterator[Case]:
    m = module("chiral_transfermatrix")

    def layered(x: Any) -> Any:
        air = m.MaterialLayer(d=np.inf, eps=1.0)
        metal = m.MaterialLayer(d=x[0], eps=-x[1] + 0.4j)
        chiral = m.MaterialLayer(d=x[2], eps=x[3] + 0.05j, kappa=x[4] + 0.001j)
        return m.MultiLayerScatt([air, metal, chiral, metal, air], 600.0 * x[5], x[6])

    def mirrored(x: Any) -> Any:
        air, gap = m.MaterialLayer(d=np.inf, eps=1.0), m.MaterialLayer(d=90.0, eps=1.0)
        omega = np.array([1.7, 1.9])
        mirror = m.helicity_preserving_mirror(omega, x[0], x[1])
        inner = m.MaterialLayer(d=x[2], eps=x[3], kappa=x[4])
        made = m.MultiLayerScatt([air, mirror, gap, inner, air], 1240.0 / omega, 0.0)
        return [made.Tsp, made.Rsm]

    yield "MultiLayerScatt", lambda x: [layered(x).Tsp, layered(x).Rsm], [
        25.0, 14.0, 160.0, 2.9, 0.02, 1.0, 0.3,
    ]  # fmt: skip
    yield "field_ampl", lambda x: layered(x).field_ampl(2, [1.0, 0.5]), [
        25.0, 14.0, 160.0, 2.9, 0.02, 1.0, 0.3,
    ]  # fmt: skip
    yield "helicity_preserving_mirror", mirrored, [2.0, 0.05, 150.0, 2.2, 0.03]


@package("nusa", "finite elements of structures")
def nusa() -> Iterator[Case]:
    m, material = module("nusa"), module("nusa.material")
    section = module("nusa.section")

    def trussed(x: Any) -> Any:
        made = m.TrussModel("roof")
        nodes = [m.Node((0.0, 0.0)), m.Node((x[0], 0.0)), m.Node((x[1], x[2]))]
        steel = material.Material(E=x[3])
        bar = section.Section(A=x[4])
        elements = [
            m.Truss((nodes[i], nodes[j]), material=steel, section=bar)
            for i, j in ((0, 1), (1, 2), (0, 2))
        ]
        made.add_nodes(nodes)
        made.add_elements(elements)
        made.add_force(nodes[2], (x[5], -x[6]))
        made.add_constraint(nodes[0], ux=0, uy=0)
        made.add_constraint(nodes[1], uy=0)
        found = made.solve()
        return [found.displacements, found.reactions]

    def beam(x: Any) -> Any:
        made = m.BeamModel("beam")
        nodes = [m.Node((0.0, 0.0)), m.Node((x[0], 0.0)), m.Node((x[0] + x[1], 0.0))]
        steel, profile = material.Material(E=x[2]), section.Section(I=x[3])
        made.add_nodes(nodes)
        for i in (0, 1):
            made.add_element(m.Beam((nodes[i], nodes[i + 1]), material=steel, section=profile))
        made.add_force(nodes[1], (-x[4],))
        made.add_moment(nodes[2], (x[5],))
        made.add_constraint(nodes[0], uy=0, ur=0)
        made.add_constraint(nodes[2], uy=0)
        found = made.solve()
        return [found.displacements, found.nodal_forces]

    def plate(x: Any) -> Any:
        nodes = [m.Node(one) for one in x[:6].reshape(3, 2)]
        made = m.LinearTriangle(nodes, material=material.Material(E=x[6], nu=x[7]), thickness=x[8])
        return made.get_element_stiffness()

    yield "TrussModel.solve", trussed, [3.0, 1.2, 2.0, 20.0, 0.5, 1.5, 2.5]
    yield "BeamModel.solve", beam, [2.0, 1.5, 21.0, 0.8, 4.0, 1.3]
    yield "LinearTriangle", plate, [0.0, 0.1, 2.0, 0.3, 0.7, 1.6, 20.0, 0.3, 0.2]


@package("multineas", "asteroids near the earth")
def multineas() -> Iterator[Case]:
    m, util = module("multineas.multimin"), module("multineas.util")

    def mixed(x: Any) -> Any:
        made = m.ComposedMultiVariateNormal(
            weights=[0.4, 0.6],
            mus=x[:4].reshape(2, 2),
            Sigmas=util.Stats.calc_covariance_from_correlations(
                x[4:8].reshape(2, 2), 0.1 * x[8:10].reshape(2, 1)
            ),
        )
        return np.reshape(made.pdf(x[10:]), (1,))

    yield "ComposedMultiVariateNormal.pdf", mixed, SERIES
    yield "calc_covariance_from_correlations", lambda x: (
        util.Stats.calc_covariance_from_correlations(x[:6].reshape(2, 3), x[6:].reshape(2, 3))
    ), SERIES  # fmt: skip
    yield "true_anomaly_to_mean_anomaly", spread(util.Util.true_anomaly_to_mean_anomaly), [0.3, 1.2]


@package("mrs-denoising-tools", "spectra of magnetic resonance")
def mrs() -> Iterator[Case]:
    m = module("mrs_denoising.denoising")

    def signals(x: Any) -> Any:
        return x[:12].reshape(2, 1, 1, 6) + 1j * x[12:].reshape(2, 1, 1, 6)

    yield "st_denoising", lambda x: m.st_denoising(x.reshape(2, 2, 1, 6), rank=2)[:2], LONG
    yield "st_denoising, patches", lambda x: m.st_denoising(
        x.reshape(3, 2, 1, 4), rank=2, patch=(2, 2, 1)
    )[0], LONG  # fmt: skip
    yield "lp", lambda x: m.lp(signals(x), 2), LONG
    yield "lora", lambda x: m.lora(signals(x), 1, 2), LONG


@package("g3d", "flows of compressible gas")
def g3d() -> Iterator[Case]:
    flow = module("g3d").cflow

    yield "nozzle.get_Mach_from_area_ratio", lambda x: flow.nozzle.get_Mach_from_area_ratio(
        AR=x[0], mode="supersonic", tol=1e-12
    ), [3.0]  # fmt: skip
    yield "oblique_shock.get_theta", lambda x: flow.oblique_shock.get_theta(
        M=x[0], beta=x[1], angle_type="degrees"
    ), [2.5, 50.0]  # fmt: skip
    yield "expansion.get_Prandtl_Meyer_function", lambda x: (
        flow.expansion.get_Prandtl_Meyer_function(M=x, angle_type="degrees")
    ), [1.5, 2.5, 3.1]  # fmt: skip


@package("modified-cam-clay", "mechanics of soil")
def clay() -> Iterator[Case]:
    m = module("modified_cam_clay")
    yield "drained", lambda x: m.drained(*x)[:2], [20.5, 0.9, 0.06, 0.2, 0.9]
    yield "undrained", lambda x: m.undrained(*x)[:2], [20.5, 0.9, 0.06, 0.2, 0.9, 0.3]


@package("isonav", "reactions of nuclei")
def isonav() -> Iterator[Case]:
    m = module("lib.isonavBase")
    yield "getVelcm", lambda x: [
        np.reshape(one, (1,)) for one in m.getVelcm("4He", "12C", x[0])
    ], [4.0]  # fmt: skip
    yield "rutherford0", lambda x: m.rutherford0("4He", "197Au", *x), [5.0, 40.0]
    yield "getLDBE", lambda x: m.getLDBE("57Fe", *x), [15.6, 16.8, 0.72, 23.3]


@package("pharmacokinetics", "doses of drugs")
def pharmacokinetics() -> Iterator[Case]:
    m = module("pharmacokinetics.shared_formulas")
    multiple = module("pharmacokinetics.multiple_doses")
    yield "concentrationAtTime", lambda x: m.concentrationAtTime(
        x[0], vd=x[1], bioavailability=x[2], t12=x[3], t12abs=x[4], elapsed=x[5], interval=x[6]
    ), [500.0, 30.0, 0.8, 6.0, 1.0, 3.0, 8.0]  # fmt: skip
    yield "calculateTmax", lambda x: m.calculateTmax(ka=x[0], ke=x[1], interval=x[2]), [
        0.9, 0.12, 8.0,
    ]  # fmt: skip
    yield "calculateCmax", lambda x: multiple.calculateCmax(x[0], x[1], t12=x[2]), [20.0, 8.0, 6.0]


@package("orbit-gen", "orbits of three bodies")
def orbit_gen() -> Iterator[Case]:
    m = module("orbit_gen.utils.eom")
    halo = [0.82, 0.06, 0.16, 1.35]
    yield "crtbp_eom", lambda x: np.stack(m.crtbp_eom(0.0, x[:6], x[6])), [
        0.8, 0.1, 0.05, 0.02, 0.2, -0.1, 0.012,
    ]  # fmt: skip
    yield "propagate", lambda x: m.propagate(x, 0.01215)[0][-1], halo
    yield "continuation_constraint", lambda x: m.continuation_constraint(
        x, np.array([0.2, 0.5, -0.1, 0.8]), np.array([0.81, 0.07, 0.17, 1.3]), 0.01215
    ), halo  # fmt: skip


@package("puremacro", "macroeconomics")
def puremacro() -> Iterator[Case]:
    m, state = module("puremacro.cycles"), module("puremacro.state_space")
    estimate, responses = module("puremacro.var.estimate"), module("puremacro.var.irf")

    def filtered(x: Any) -> Any:
        model = state.StateSpaceModel(
            T=np.array([[x[0], 1.0], [x[1], 0.0]]), Z=np.array([[1.0, 0.3]]),
            Q=np.diag(x[2:4]), H=np.array([[x[4]]]),
        )  # fmt: skip
        found = state.kalman_filter(x[5:].reshape(-1, 1), model, np.zeros(2), np.eye(2))
        return [np.reshape(found["loglik"], (1,)), found["a_filt"]]

    def responded(x: Any) -> Any:
        found = estimate.estimate_var(x.reshape(12, 2), 1)
        return [found.c, responses.irf(found.A_list, np.linalg.cholesky(found.Sigma), 4)]

    yield "hamilton_filter", lambda x: m.hamilton_filter(x, h=4, p=3).cycle[6:], LONG
    yield "hp_filter", lambda x: m.hp_filter(x, lamb=100.0).trend, LONG
    yield "kalman_filter", filtered, [0.6, 0.2, 0.5, 0.3, 0.4, *SERIES]
    yield "irf", responded, LONG


@package("turbopy", "simulations of plasma")
def turbopy() -> Iterator[Case]:
    m, core = module("turbopy.computetools"), module("turbopy.core")

    def owner(top: Any) -> Any:
        made = core.Simulation({"type": "none"})
        made.grid = core.Grid({"N": 8, "r_min": 0.5, "r_max": top})
        made.clock = core.SimulationClock(
            made, {"start_time": 0.0, "end_time": 0.4, "num_steps": 4}
        )
        return made

    def pushed(x: Any) -> Any:
        position, momentum = x[:6].reshape(2, 3).copy(), x[6:12].reshape(2, 3).copy()
        tool = m.BorisPush(owner(2.0), {"type": "BorisPush"})
        for _ in range(3):
            tool.push(position, momentum, 1.3, 0.8, x[12:18].reshape(2, 3), x[18:].reshape(2, 3))
        return [position, momentum]

    def differenced(x: Any) -> Any:
        options = {"type": "FiniteDifference", "method": "centered"}
        tool = m.FiniteDifference(owner(x[8]), options)
        return tool.setup_ddx()(x[:8])

    yield "PoissonSolver1DRadial", lambda x: m.PoissonSolver1DRadial(
        owner(x[8]), {"type": "PoissonSolver1DRadial"}
    ).solve(x[:8]), SERIES[:9]  # fmt: skip
    yield "FiniteDifference", differenced, SERIES[:9]
    yield "BorisPush", pushed, LONG


@package("seismic-bedload", "noise of rivers")
def seismic() -> Iterator[Case]:
    m, turbulence = module("seismic_bedload.models"), module("seismic_bedload.turbulence")
    empirical = module("seismic_bedload.empiricals")
    bands, sizes = np.array([2.0, 5.0, 10.0]), np.linspace(0.05, 0.4, 9)

    yield "SaltationModel.forward_psd", lambda x: np.log(
        m.SaltationModel(m.SedimentParams(rho_s=2700.0 * x[0]), m.SeismicParams(v0=2206.0 * x[1]))
        .forward_psd(bands, x[2], x[3], x[4], x[5], x[6], x[7])
    ), [1.0, 1.1, 0.3, 4.0, 50.0, 0.014, 600.0, 0.002]  # fmt: skip
    yield "SaltationModel.inverse_bedload", lambda x: m.SaltationModel().inverse_bedload(
        x[:2], bands, 0.3, x[2:4], x[4], x[5], x[6], 1.0
    ), [-130.0, -128.0, 4.0, 4.2, 50.0, 0.014, 600.0]  # fmt: skip
    yield "TurbulenceModel.forward_psd", lambda x: np.log(
        turbulence.TurbulenceModel().forward_psd(bands, sizes, *x[:4], D50=x[4])
    ), [50.0, 4.0, 0.014, 600.0, 0.15]  # fmt: skip
    yield "SeismicHydraulicModel.predict", lambda x: empirical.SeismicHydraulicModel(
        D50=0.1
    ).predict(x[:6], 0.1 * x[6:]), SERIES  # fmt: skip


@package("building3d", "physics of buildings")
def building3d() -> Iterator[Case]:
    m, rotate = module("building3d.geom.polygon"), module("building3d.geom.rotate")
    point, name = module("building3d.geom.point"), module("building3d").random_id

    def corners(x: Any) -> Any:
        base = [(0.0, 0.0), (x[0], 0.0), (x[0] + 0.3, x[1]), (0.4, x[2])]
        return [point.Point(a, b, x[3] * a + x[4] * b + 1.0) for a, b in base]

    def wall(x: Any) -> Any:
        made = m.Polygon(name(), corners(x))
        return [np.reshape(made.area, (1,)), made.normal, made.centroid.vector()]

    def turned(x: Any) -> Any:
        found, axis, angle = rotate.rotate_points_to_plane(
            corners(x), point.Point(0.1, 0.2, 0.3), np.array([0.0, 0.0, 1.0]), d=x[5]
        )
        return [*(one.vector() for one in found), axis, np.reshape(angle, (1,))]

    yield "Polygon", wall, [2.0, 1.5, 1.7, 0.3, -0.2]
    yield "rotate_points_to_plane", turned, [2.0, 1.5, 1.7, 0.3, -0.2, 0.6]


@package("stokestrel", "stochastic processes")
def stokestrel() -> Iterator[Case]:
    m, pandas = module("kestrel"), module("pandas")

    def fitted(kind: str, *names: str, **options: Any) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = getattr(m, kind)()
            made.fit(pandas.Series(x), **options)
            return [np.reshape(made.params[name], (1,)) for name in names]

        return result

    drifting = [1.0, 1.4, 1.9, 1.7, 2.2, 2.4, 2.1, 2.6, 2.5, 2.9, 2.7, 3.0]
    yield "OUProcess.fit", fitted(
        "OUProcess", "theta", "mu", "sigma", "theta_se", dt=0.5, method="ar1"
    ), drifting  # fmt: skip
    yield "BrownianMotion.fit", fitted("BrownianMotion", "mu", "sigma", "mu_se", dt=0.5), SERIES
    yield "CIRProcess.fit", fitted(
        "CIRProcess", "kappa", "theta", "sigma", dt=0.5, method="lsq"
    ), drifting  # fmt: skip


@package("energystats", "statistics of energy")
def energystats() -> Iterator[Case]:
    m, sample = module("energystats.tests.cor"), module("energystats.tests.Two_sample_test")
    normal = module("energystats.tests.distribution_tests")
    disco = module("energystats.tests.disco_decomposition")
    yield "dcor", lambda x: m.dcor(x[:12].reshape(6, 2), x[12:].reshape(6, 2)), LONG
    yield "energy_distance", lambda x: sample.energy_distance(x[:12], x[12:] + 0.4), LONG
    yield "normality_statistic", normal.normality_statistic, LONG
    yield "total_dispersion", lambda x: disco.total_dispersion(x.reshape(8, 3), 1.5), LONG


@package("cvxreg", "convex regression")
def cvxreg() -> Iterator[Case]:
    m = module("cvxreg.models")
    inputs = np.array(SERIES).reshape(6, 2)
    yield (
        "CR",
        lambda x: m.CR(solver="osqp").fit(inputs, x).predict(inputs),
        [2.0, 0.5, 3.1, 1.0, 4.4, 0.7],
    )
    yield "PCR", lambda x: m.PCR(c=0.5, solver="osqp").fit(inputs, x).predict(inputs), [
        2.0, 0.5, 3.1, 1.0, 4.4, 0.7,
    ]  # fmt: skip


@package("gimbal-regression", "regression in space")
def gimbal() -> Iterator[Case]:
    m, solver = module("grpy.model"), module("grpy.solver")
    diagnostics, weights = module("grpy.diagnostics"), module("grpy.weights")
    angles = 0.01 * np.arange(12.0)

    def fitted(x: Any) -> Any:
        found = m.local_fit(
            x[:12], x[12:], 45.0 + angles * np.cos(3.0 * angles * 100.0), 7.0 + angles[::-1], 4,
            K=8,
        )  # fmt: skip
        return [np.reshape(found[name], (1,)) for name in ("B0", "B1", "Bz", "R2", "yhat")]

    yield "local_fit", fitted, LONG
    yield "solve_beta_eq46_numpy", lambda x: solver.solve_beta_eq46_numpy(
        x[:12].reshape(6, 2), x[12:18], x[18:], 0.7
    )[:3], LONG  # fmt: skip
    yield "residual_weights", lambda x: diagnostics.residual_weights(x[:6], x[6]), SERIES[:7]
    yield "eta_from_geometry", lambda x: weights.eta_from_geometry(
        x[:4], x[4:8], np.sqrt(x[:4] ** 2 + x[4:8] ** 2), x[8], 1e-8, 50.0
    ), SERIES[:9]  # fmt: skip


@package("pybads", "search by Bayes' rule")
def pybads() -> Iterator[Case]:
    m, stats = module("pybads.variable_transformer"), module("pybads.stats.kldiv_mvn")

    def transformed(x: Any) -> Any:
        made = m.VariableTransformer(
            3, np.full((1, 3), 0.1), np.full((1, 3), 500.0), np.full((1, 3), 0.5),
            np.array([[50.0, 3.0, 90.0]]),
        )  # fmt: skip
        there = made(x[:3].reshape(1, 3))
        return [there, made.inverse_transf(0.1 * x[3:].reshape(1, 3))]

    def covariance(x: Any) -> Any:
        half = 0.2 * x.reshape(2, 2)
        return half @ half.T + np.eye(2)

    yield "VariableTransformer", transformed, SERIES[:6]
    yield "kldiv_mvn", lambda x: stats.kldiv_mvn(
        x[:2], covariance(x[2:6]), x[6:8], covariance(x[8:])
    ), SERIES  # fmt: skip


@package("specreduce", "spectra on detectors")
def specreduce() -> Iterator[Case]:
    extract, tracing = module("specreduce.extract"), module("specreduce.tracing")
    background, units = module("specreduce.background"), module("astropy.units")

    def image(x: Any) -> Any:
        peak = np.exp(-0.5 * (np.arange(9.0)[:, None] - 4.2) ** 2)
        return (peak * x[:12][None, :] + 0.1 * x[12:][None, :]) * units.DN

    def boxed(x: Any) -> Any:
        data = image(x)
        return extract.BoxcarExtract(data, tracing.FlatTrace(data, 4.2), width=3.4).spectrum.flux

    def cleared(x: Any) -> Any:
        data = image(x)
        trace = tracing.FlatTrace(data, 4.2)
        made = background.Background.two_sided(data, trace, separation=3.0, width=2.0)
        return made.sub_image().data

    def optimal(x: Any) -> Any:
        data = image(x)
        return extract.HorneExtract(
            data, tracing.FlatTrace(data, 4.2), variance=np.ones((9, 12)), unit=units.DN
        ).spectrum.flux

    yield "BoxcarExtract", lambda x: boxed(x).value, LONG
    yield "HorneExtract", lambda x: optimal(x).value, LONG
    yield "Background.two_sided", cleared, LONG


@package("covforge", "covariances of portfolios")
def covforge() -> Iterator[Case]:
    m, factor = module("covforge.modules.simple"), module("covforge.modules.factor")
    yield "covariance_rolling_window", lambda x: m.covariance_rolling_window(x.reshape(8, 3), 4)[
        4:
    ], LONG  # fmt: skip
    yield "covariance_ewma", lambda x: m.covariance_ewma(x.reshape(8, 3), 3, 5)[3:], LONG
    yield "covariance_factor_iewma", lambda x: factor.covariance_factor_iewma(
        x.reshape(8, 3), 1, 5, 6, 4
    )[2][5:], LONG  # fmt: skip


@package("tdmrsdm", "permittivity of soil")
def tdmrsdm() -> Iterator[Case]:
    m = module("tdmrsdm.core")
    yield "TDMRSDM", lambda x: m.TDMRSDM(x[0], x[1:3], x[3], x[4], x[5]).run(), [
        1.4, 12.0, 18.0, 40.0, 0.8, 0.3,
    ]  # fmt: skip
    yield "TDMRSDM, frozen", lambda x: m.TDMRSDM(x[0], x[1:3], x[3], x[4], x[5], "v2").run(), [
        1.4, -12.0, -7.0, 40.0, 0.8, 0.3,
    ]  # fmt: skip


@package("kepler-metric", "returns and their risk")
def kepler() -> Iterator[Case]:
    m, pandas = module("kepler.metric"), module("pandas")

    def returns(x: Any) -> Any:
        return 0.01 * (x - 4.1)

    yield "alpha_beta", lambda x: m.alpha_beta(returns(x[:12]), returns(x[12:])), LONG
    yield "sharpe_ratio", lambda x: np.reshape(m.sharpe_ratio(returns(x)), (1,)), SERIES
    yield "downside_risk", lambda x: np.reshape(
        m.downside_risk(pandas.Series(returns(x))), (1,)
    ), SERIES  # fmt: skip
    yield "max_drawdown", lambda x: np.reshape(m.max_drawdown(returns(x)), (1,)), SERIES


@package("mielib", "scattering by spheres")
def mielib() -> Iterator[Case]:
    m, acoustics = module("mielib.mieoptics"), module("mielib.mieacoustics")
    harmonics = module("mielib.harmonics")
    yield "optics_scattering_cross_section", lambda x: m.optics_scattering_cross_section(
        x[:2], x[2], eps_p=x[3], eps_h=x[4], nmax=5
    )[0], [1.1, 1.7, 0.8, 4.0, 1.3]  # fmt: skip
    yield "acoustics_extinction_cross_section", lambda x: (
        acoustics.acoustics_extinction_cross_section(x[:2], x[2], x[3], x[4], nmax=5)[0]
    ), [1.1, 1.7, 0.8, 2.0, 0.6]  # fmt: skip
    yield "vsh_bohren_me", lambda x: harmonics.vsh_bohren_me(1, 2, x[:1], x[1:2], x[2:], 1), [
        2.3, 0.9, 0.4,
    ]  # fmt: skip


@package("partialleastsquares", "partial least squares")
def partial_least_squares() -> Iterator[Case]:
    m = module("PartialLeastSquares")

    def fitted(algorithm: str, columns: int) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            np.random.seed(5)  # noqa: NPY002  the package starts from these numbers
            made = m.PartialLeastSquares(epsilon=1e-10)
            made.X = np.asmatrix(x[: 24 - 6 * columns].reshape(6, -1))
            made.Y = np.asmatrix(x[24 - 6 * columns :].reshape(6, columns))
            made.N = 6
            return np.asarray(getattr(made, algorithm)())

        return result

    yield "PLS", fitted("PLS", 2), LONG
    yield "PLS1", fitted("PLS1", 1), LONG


@package("bsplyne", "splines in space")
def bsplyne() -> Iterator[Case]:
    m, geometry = module("bsplyne"), module("bsplyne.geometries_in_3D")
    knots = np.array([0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0])

    def curve(x: Any) -> Any:
        made = m.BSpline([2], [knots])
        return made(x[:8].reshape(2, 4), [0.1 * x[8:]], 0)

    def piped(x: Any) -> Any:
        made, points = geometry.new_quarter_pipe(x[:3], x[3:6], x[6], x[7])
        return made(points, [np.array([0.2, 0.7]), np.array([0.4])])

    def refined(x: Any) -> Any:
        made = m.BSpline([2], [knots])
        return made.knotInsertion(x.reshape(3, 4), [np.array([0.3])])

    yield "BSpline", curve, SERIES
    yield "knotInsertion", refined, SERIES
    yield "new_quarter_pipe", piped, SERIES[:8]


@package("interpylate", "interpolation on grids")
def interpylate() -> Iterator[Case]:
    m = module("interpylate")

    def grid(x: Any) -> tuple[Any, Any]:
        return x[:16].reshape(4, 4), 0.4 * x[16:].reshape(2, 4)

    def volume(x: Any) -> tuple[Any, Any]:
        return x[:18].reshape(2, 3, 3), 0.3 * x[18:].reshape(3, 2)

    yield "BiLinearRegularGridInterpolator.evaluate", lambda x: (
        m.BiLinearRegularGridInterpolator().evaluate(*grid(x))
    ), LONG  # fmt: skip
    yield "BiLinearRegularGridInterpolator.grad", lambda x: (
        m.BiLinearRegularGridInterpolator().grad(*grid(x))
    ), LONG  # fmt: skip
    yield "TriLinearRegularGridInterpolator.evaluate", lambda x: (
        m.TriLinearRegularGridInterpolator().evaluate(*volume(x))
    ), LONG  # fmt: skip


@package("pyapril", "passive radar")
def pyapril() -> Iterator[Case]:
    m, detector = module("pyapril.clutterCancellation"), module("pyapril.detector")
    target = module("pyapril.targetLocalization")

    def channels(x: Any) -> tuple[Any, Any]:
        return x[:12] + 1j * x[:12][::-1] ** 1.2, x[12:] - 0.3j * x[6:18]

    yield "Wiener_SMI", lambda x: m.Wiener_SMI(*channels(x), 3, "direct_matrix")[0], LONG
    yield "Wiener_SMI_MRE", lambda x: m.Wiener_SMI_MRE(*channels(x), 3)[0], LONG
    yield "cc_detector_ons", lambda x: detector.cc_detector_ons(*channels(x), 24.0, 3, 4), LONG
    yield "localize_target_ms_sx", lambda x: target.localize_target_ms_sx(
        x[:12].reshape(4, 3), x[12:]
    ), [
        2.0, 5.1, 1.2, -7.3, 3.5, 4.4, 6.1, -2.7, 5.9, -3.8, -1.9, 4.2, 6.0, 8.0, 7.0, 9.0,
    ]  # fmt: skip


@package("stratage", "ages of strata")
def stratage() -> Iterator[Case]:
    m, geochron = module("stratage.stratage"), module("stratage.geochron")
    normal = module("scipy.stats").norm
    units = np.array([[0.0, 4.0], [4.0, 9.0], [9.0, 13.0]])

    dates = geochron.Geochron(np.array([2.0, 11.0]), [normal(3.0, 0.7), normal(14.0, 1.1)])

    def fitted(x: Any) -> Any:
        return m.fit_floating_model(x[:3], x[3:], units, dates, method="max")

    yield "get_times", lambda x: m.get_times(x[:3], x[3:5], np.cumsum(x[5:11]).reshape(3, 2)), [
        1.3, 0.8, 1.1, 0.7, 1.6, 0.2, 4.1, 0.5, 3.8, 0.3, 2.9,
    ]  # fmt: skip
    yield "floating_age", lambda x: m.floating_age(x[:3], x[3:5], units, x[5:]), [
        1.3, 0.8, 1.1, 0.7, 1.6, 2.2, 6.1, 11.4,
    ]  # fmt: skip
    yield "fit_floating_model", fitted, [1.3, 0.8, 1.1, 0.7, 1.6]


@package("curvefit-stats", "errors of fitted curves")
def curvefit_stats() -> Iterator[Case]:
    m = module("curvefit_stats")
    inputs = np.linspace(0.2, 3.0, 12)

    def model(x: Any, a: Any, b: Any) -> Any:
        return a * np.exp(-b * x)

    def banded(x: Any) -> Any:
        covariance = np.array([[x[2], 0.3 * x[3]], [0.3 * x[3], x[4]]])
        return m.generate_error_bands(model, inputs, x[:2], covariance, x[5:])

    def audited(x: Any) -> Any:
        found = m.audit_fit(
            model, inputs, x[2:], x[:2], sigma=np.full(12, 0.3), absolute_sigma=True
        )
        return [np.reshape(found[name], (1,)) for name in ("rss", "rmse", "aic", "bic")]

    yield "generate_error_bands", banded, [5.0, 0.8, 0.04, 0.02, 0.03, *(0.8 * np.array(SERIES))]
    yield "audit_fit", audited, [5.0, 0.8, *(0.8 * np.array(SERIES))]
    yield "collinearity_diagnostics", lambda x: m.collinearity_diagnostics(
        0.1 * x.reshape(3, 4) @ x.reshape(3, 4).T + np.eye(3)
    )["vif"], SERIES  # fmt: skip


@package("probpy", "networks of probabilities")
def probpy() -> Iterator[Case]:
    m = module("ProbPy")
    rain, sprinkler, wet = (m.RandVar(name, ["yes", "no"]) for name in ("rain", "on", "wet"))

    def asked(x: Any) -> Any:
        factors = (
            m.Factor(rain, x[:2].tolist()),
            m.Factor([sprinkler, rain], x[2:6].tolist()),
            m.Factor([wet, rain, sprinkler], x[6:14].tolist()),
        )
        net = m.BayesianNetwork([*zip((rain, sprinkler, wet), factors, strict=True)])
        found = net.eliminationAsk(rain, [(wet, "yes")])
        return [np.reshape(one, (1,)) for one in found.values]

    def informed(x: Any) -> Any:
        joint = m.Factor([rain, wet], x[:4].tolist()).normalize()
        parts = joint.marginal(rain), joint.marginal(wet)
        return [
            np.reshape(one, (1,)) for one in (m.entropy(joint), m.mutualInformation(joint, *parts))
        ]

    yield "BayesianNetwork.eliminationAsk", asked, [
        0.2, 0.8, 0.01, 0.99, 0.4, 0.6, 0.9, 0.1, 0.8, 0.2, 0.85, 0.15, 0.05, 0.95,
    ]  # fmt: skip
    yield "mutualInformation", informed, [0.3, 0.1, 0.2, 0.4]


@package("pybisp", "inference of random paths")
def pybisp() -> Iterator[Case]:
    m, traps = module("pybisp.ou"), module("pybisp.equipartition")
    path = [0.9, 0.7, 0.8, 0.3, -0.1, -0.4, -0.2, -0.7, -0.3, 0.2, 0.4, 0.1]

    def weighed(x: Any) -> Any:
        made = traps.Inference(x[1:])
        return [
            np.reshape(one, (1,))
            for one in (made.logProb(x[0]), made.mapEstimate(), made.errorBar())
        ]

    yield "ou.Inference.logProb", lambda x: np.reshape(
        m.Inference(x[2:], 0.1).logProb(x[0], x[1]), (1,)
    ), [1.4, 0.6, *path]  # fmt: skip
    yield "ou.Inference.mapEstimate", lambda x: np.stack(m.Inference(x, 0.1).mapEstimate()), path
    yield "ou.Inference.errorBar", lambda x: m.Inference(x[2:], 0.1).errorBar(x[0], x[1]), [
        1.4, 0.6, *path,
    ]  # fmt: skip
    yield "equipartition.Inference", weighed, [2.5, *path]


@package("ep-stats", "controlled experiments")
def ep_stats() -> Iterator[Case]:
    m = module("epstats.toolkit.statistics").Statistics
    columns = ["diff", "test_stat", "p_value", "confidence_interval", "standard_error"]

    def tested(x: Any) -> Any:
        rows = [
            [1, "clicks", name, count, mean, deviation, count * mean, 0.95]
            for name, count, mean, deviation in (("a", 120.0, *x[:2]), ("b", 131.0, *x[2:]))
        ]
        found = m.ttest_evaluation(np.array([rows], dtype=object), "a")
        return found[columns].to_numpy()[1].astype(float)

    def resampled(x: Any) -> Any:
        found = m.quantile_bootstrap_evaluation(
            {"a": x[:12], "b": x[12:]}, 0.5, "a", 0.95, n_samples=40, random_state=3
        )
        return found[columns].to_numpy()[1]

    yield "ttest_evaluation", tested, [1.2, 0.7, 1.3, 0.8]
    yield "quantile_bootstrap_evaluation", resampled, LONG
    yield "power_from_required_sample_size", lambda x: np.reshape(
        m.power_from_required_sample_size_per_variant(2, *x), (1,)
    ), [900.0, 1100.0, 0.8, 0.95]  # fmt: skip


@package("kdepy", "estimates of densities")
def kdepy() -> Iterator[Case]:
    m, bandwidth = module("KDEpy"), module("KDEpy.bw_selection")
    kernels = module("KDEpy.kernel_funcs")
    grid = np.linspace(0.0, 9.0, 16)
    yield "NaiveKDE", lambda x: (
        m.NaiveKDE(kernel="gaussian", bw=x[10]).fit(x[:5], weights=x[5:10]).evaluate(grid)
    ), [*SERIES[:10], 0.8]  # fmt: skip
    yield "silvermans_rule", lambda x: np.reshape(
        bandwidth.silvermans_rule(x.reshape(-1, 1)), (1,)
    ), SERIES  # fmt: skip
    yield "gaussian kernel", lambda x: kernels.gaussian(x.reshape(6, 2), 2), [
        *(0.1 * np.array(SERIES))
    ]  # fmt: skip


@package("loess", "local regression")
def loess() -> Iterator[Case]:
    one, two = module("loess.loess_1d"), module("loess.loess_2d")
    grid = np.array([0.4, 1.7, 3.3, 4.9])
    places = np.arange(12.0) / 2.0
    yield "loess_1d", lambda x: one.loess_1d(
        x[:12], x[12:], xnew=grid + 1.5, degree=1, frac=0.7, sigy=np.full(12, 3.0)
    )[1], [*(places + 0.1 * np.sin(7.0 * places)), *SERIES]  # fmt: skip
    yield "loess_1d, no errors given", lambda x: one.loess_1d(
        places, x, xnew=grid, degree=2, npoints=9
    )[1], SERIES  # fmt: skip
    yield "loess_2d", lambda x: two.loess_2d(
        np.cos(places), np.sin(1.7 * places), x, frac=0.8, sigz=np.full(12, 4.0)
    )[0], SERIES  # fmt: skip


@package("vollib", "prices of options")
def vollib() -> Iterator[Case]:
    price, greeks = module("vollib.black_scholes"), module("vollib.black_scholes.greeks.analytical")
    implied = module("vollib.black_scholes.implied_volatility")
    point = [100.0, 95.0, 0.6, 0.03, 0.25]
    yield "black_scholes", lambda x: price.black_scholes("c", *x), point
    yield "black_scholes greeks", lambda x: [
        np.reshape(f("p", *x), (1,)) for f in (greeks.delta, greeks.gamma, greeks.vega, greeks.rho)
    ], point  # fmt: skip
    yield "implied_volatility", lambda x: implied.implied_volatility(*x, "c"), [
        13.0, 100.0, 95.0, 0.6, 0.03,
    ]  # fmt: skip


@package("pval-corrections", "many tests at once")
def pval() -> Iterator[Case]:
    m = module("pval_corrections.correction")
    values = [0.012, 0.021, 0.033, 0.041, 0.052]
    yield "bonferroni", lambda x: m.correction([*x], "bonferroni")["padj"], values
    yield "benjamini_hochberg", lambda x: m.correction([*x], "benjamini_hochberg")["padj"], values


@package("physlib", "lessons of physics")
def physlib() -> Iterator[Case]:
    motion, light = module("physlib.kinematics"), module("physlib.optics")
    turning = module("physlib.rotational_motion")
    yield "final_velocity2", spread(motion.Kinematics.final_velocity2), [2.0, 3.0, 5.0]
    yield "snells_law", spread(light.Optics.snells_law), [1.0, 1.5, 35.0]
    yield "torque", spread(turning.RotationalMotion.torque), [2.0, 3.0, 40.0]


@package("netneurotools", "networks of the brain")
def netneurotools() -> Iterator[Case]:
    m, walks = module("netneurotools.metrics.statistical"), module("netneurotools.metrics.bct")

    def weights(x: Any) -> Any:
        half = 0.1 * x[:12].reshape(3, 4)
        return half.T @ half * (1.0 - np.eye(4))

    def damped(x: Any) -> Any:
        return np.exp(-weights(x)) * (1.0 - np.eye(4)) + np.eye(4)

    yield "network_pearsonr", lambda x: np.reshape(
        m.network_pearsonr(x[12:16], x[16:20], damped(x), use_numba=False), (1,)
    ), LONG[:20]  # fmt: skip
    yield "network_pearsonr_pairwise", lambda x: m.network_pearsonr_pairwise(
        x[12:].reshape(3, 4), damped(x)
    ), LONG  # fmt: skip
    yield "communicability_wei", lambda x: walks.communicability_wei(weights(x)), SERIES


@package("nopapy", "regression without parameters")
def nopapy() -> Iterator[Case]:
    m, kernels = module("nopapy.estimate.estimate"), module("nopapy.kernel.kernel")
    regression = module("nopapy.regression.regression")
    places = np.arange(6.0)
    yield "NWEstimate", lambda x: np.reshape(
        m.NWEstimate(x[:6], x[6:], 3.3, 0.8, kernels.GaussianKernel), (1,)
    ), SERIES  # fmt: skip
    yield "GMEstimate", lambda x: np.reshape(
        m.GMEstimate(places + 0.01 * x[:6], x[6:], 2.2, 0.9, kernels.GaussianKernel), (1,)
    ), SERIES  # fmt: skip
    yield "LPRegression", lambda x: regression.LPRegression(
        places, x[:6], x[6:9], 1.1, kernels.GaussianKernel, 2
    ), [*SERIES[:6], 1.3, 2.2, 4.4]  # fmt: skip


@package("ackl", "kernels of analytical chemistry")
def ackl() -> Iterator[Case]:
    m = module("ackl.kernels")

    def of_two(kernel: Callable[..., Any], *rest: Any) -> Callable[[Any], Any]:
        return lambda x: kernel(x[:12].reshape(3, 4), x[12:].reshape(3, 4), *rest)

    point = [*(0.2 * np.array(LONG))]
    yield "gaussian_kernel", of_two(m.gaussian_kernel, 0.3), point
    yield "anova_kernel", of_two(m.anova_kernel), point
    yield "rq_kernel", of_two(m.rq_kernel), point


@package("galapy-fit", "spectra of galaxies")
def galapy() -> Iterator[Case]:
    m, compared = module("galapy.Cosmology"), module("galapy.analysis.model_comparison")
    grid = np.linspace(0.0, 4.0, 30)
    table = {
        "redshift": grid,
        "luminosity_distance": 4000.0 * grid + 300.0 * grid**2 + 1.0,
        "age": 13.0 / (1.0 + grid),
    }
    yield "CSM.to_flux", lambda x: m.CSM(table).to_flux(x[0], x[1:7], x[7:]), [
        1.23, *(1000.0 * np.array(SERIES[:6])), *SERIES[6:],
    ]  # fmt: skip
    yield "weighted_mean", lambda x: compared.weighted_mean(x[:6], x[6:]), SERIES
    yield "weighted_std", lambda x: compared.weighted_std(x[:6], x[6:]), SERIES


@package("pymedphys", "medical physics")
def pymedphys() -> Iterator[Case]:
    m, mocks = module("pymedphys._electronfactors.core"), module("pymedphys._mocks.profiles")
    affine = module("pymedphys._utilities.transforms.affine")

    def field(x: Any) -> Any:
        made = mocks.create_rectangular_field_function((x[0], x[1]), (x[2], x[3]), x[4], x[5])
        return made(np.array([0.1, 1.9, -2.2]), np.array([1.3, -1.4, 0.4]))

    yield "convert2_ratio_perim_area", lambda x: m.convert2_ratio_perim_area(x[:6], x[6:]), SERIES
    yield "create_rectangular_field_function", field, [0.2, -0.3, 4.0, 3.0, 0.6, 20.0]
    yield "rotate_about_vector", lambda x: affine.rotate_about_vector(
        x[:6].reshape(3, 2), x[6:9], x[9]
    ), [*SERIES[:9], 25.0]  # fmt: skip


@package("sfsimodels", "soils and structures")
def sfsimodels() -> Iterator[Case]:
    m, functions = module("sfsimodels"), module("sfsimodels.functions")
    hazards = module("sfsimodels.models.hazards")

    def soil(x: Any) -> Any:
        made = m.Soil(g=9.8)
        made.specific_gravity = x[0]
        made.e_curr = x[1]
        made.g_mod = x[2]
        made.poissons_ratio = x[3]
        found = (
            made.unit_dry_weight, made.unit_sat_weight, made.porosity, made.bulk_mod,
            made.get_shear_vel(saturated=True),
        )  # fmt: skip
        return [np.reshape(one, (1,)) for one in found]

    def hazard(x: Any) -> Any:
        made = hazards.SeismicHazard()
        made.z_factor, made.r_factor, made.n_factor = x[0], x[1], x[2]
        made.corner_acc_factor, made.corner_period = x[3], x[4]
        return [np.reshape(one, (1,)) for one in (made.pga, made.corner_acc, made.corner_disp)]

    yield "Soil", soil, [2.65, 0.7, 3.0e1, 0.3]
    yield "SeismicHazard", hazard, [0.3, 1.1, 1.0, 2.4, 3.0]
    yield "interp2d", lambda x: functions.interp2d(
        np.array([0.4, 1.3, 2.2]), np.arange(4.0), x.reshape(4, 3)
    ), SERIES  # fmt: skip


@package("chemcat", "chemistry of atmospheres")
def chemcat() -> Iterator[Case]:
    m = module("chemcat.network")

    def heat(x: Any) -> Any:
        return [one(x) for one in m.setup_janaf_network(["H2O", "CH4", "CO"])[2]]

    yield "setup_janaf_network", heat, [347.0, 912.0, 1555.0]


@package("pyzome", "means over circles of latitude")
def pyzome() -> Iterator[Case]:
    m, basic, logp = module("pyzome.tem"), module("pyzome.basic"), module("pyzome.qglogp")
    xarray = module("xarray")
    lats, levels = np.array([20.0, 35.0, 50.0, 65.0]), np.array([2e4, 5e4, 9e4])

    def field(x: Any, units: str) -> Any:
        data = xarray.DataArray(
            x.reshape(4, 3), dims=("lat", "plev"), coords={"lat": lats, "plev": levels}
        )
        data.attrs["units"] = units
        data["plev"].attrs["units"] = "Pa"
        data["lat"].attrs["units"] = "degrees_north"
        return data

    def flux(x: Any) -> Any:
        warm = field(240.0 + 3.0 * x[:12], "K")
        parts = m.qg_epflux_vector(warm, field(x[12:], "m+2 s-2"), field(0.3 * x[12:], "K m s-1"))
        return [1e-6 * one.values for one in parts] + [m.epflux_div(*parts).values]

    def buoyant(x: Any) -> Any:
        warm = logp.add_logp_altitude(field(240.0 + 3.0 * x, "K"))
        return 1e4 * logp.buoyancy_frequency_squared(warm).values

    yield "qg_epflux_vector", flux, LONG
    yield "meridional_mean", lambda x: basic.meridional_mean(field(x, "K"), 30, 60).values, SERIES
    yield "buoyancy_frequency_squared", buoyant, SERIES


@package("akriti", "persistence diagrams")
def akriti() -> Iterator[Case]:
    m = module("akriti.diagrams.core")
    dims = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)

    def diagram(x: Any) -> Any:
        return m.PersistenceDiagram(dims=dims, births=x[:6], deaths=x[:6] + x[6:])

    def finite(x: Any) -> Any:
        deaths = np.concatenate([x[:5] + x[6:11], [np.inf]])
        made = m.PersistenceDiagram(dims=dims, births=x[:6], deaths=deaths)
        return made.finitize(at="max_finite_death").persistence

    yield "persistence", lambda x: diagram(x).persistence, SERIES
    yield "canonical", lambda x: diagram(x).canonical().deaths, SERIES
    yield "finitize", finite, SERIES


@package("bpptkg-richter", "magnitudes of earthquakes")
def richter() -> Iterator[Case]:
    m = module("richter.ml")
    yield "compute_bpptkg_ml", m.compute_bpptkg_ml, [0.02, 0.3, 1.4]
    yield "compute_analog_ml", lambda x: np.reshape(m.compute_analog_ml(x[0]), (1,)), [12.0]
    yield "compute_seismic_energy", m.compute_seismic_energy, [0.7, 1.3, 2.2]


@package("gwfit", "waves of gravitation")
def gwfit() -> Iterator[Case]:
    m, waves = (
        module("gwfit.waveforms.inspiral_model"),
        module("gwfit.waveforms.waveform_functions"),
    )
    stars = module("gwfit.neutron_star.neutron_star_functions")
    tones = np.array([25.0, 60.0, 120.0])
    yield "dmdt", lambda x: np.log(np.stack(m.dmdt(tones, *x))), [30.0, 20.0, -0.4, -0.3]
    yield "contact_freq", spread(stars.contact_freq), [1.5, 1.3, 300.0, 500.0]
    yield "Mf_chif", lambda x: [np.reshape(one, (1,)) for one in waves.Mf_chif(*x)], [
        30.0, 20.0, 0.4, 0.3,
    ]  # fmt: skip


@package("mqqr", "regression between quantiles")
def mqqr() -> Iterator[Case]:
    m = module("mqqr.utils")
    yield "qq_weights", lambda x: m.qq_weights(x, 0.4, h=0.3, cdf_based=False), SERIES
    yield "weighted_quantile_regression", lambda x: m.weighted_quantile_regression(
        x[:12], np.stack([np.ones(12), x[12:]], axis=1), 0.37, np.linspace(0.5, 1.7, 12) ** 2
    )["coef"], LONG  # fmt: skip
    yield "pseudo_r2", lambda x: np.reshape(m.pseudo_r2(x[:12], x[12:], 0.37), (1,)), [
        *SERIES, *(np.array(SERIES) + 0.3 * np.cos(np.arange(12.0))),
    ]  # fmt: skip


@package("matscikit-cosmotim", "heat in materials")
def matscikit() -> Iterator[Case]:
    m, line = (
        module("MatSciKit_COSMOTIM.thermal_conductivity.cahill"),
        module("MatSciKit_COSMOTIM.fitting.linear"),
    )
    flash = module("MatSciKit_COSMOTIM.thermal_conductivity.lfa_dsc")
    yield "minimum_tc", lambda x: m.minimum_tc(x[:3], 1e28 * x[3], x[4], 1000.0 * x[5]), [
        150.0, 300.0, 500.0, 4.0, 420.0, 3.1,
    ]  # fmt: skip
    yield "fit_with_errors", lambda x: [
        np.reshape(one, (1,)) for one in line.fit_with_errors(np.arange(6.0), x[:6], x[6:])
    ], SERIES  # fmt: skip
    yield "lfa_dsc.calculate", lambda x: [
        *flash.calculate(
            np.arange(300.0, 360.0, 10.0), x[:6], 0.1 * x[:6], np.array([312.0, 334.0]),
            x[6:8], x[8:10], x[10], x[11],
        )
    ], SERIES  # fmt: skip


@package("gmthrash", "crossed molecular beams")
def gmthrash() -> Iterator[Case]:
    m = module("gmthrash")

    def beams(x: Any) -> Any:
        made = m.crossedmolecularbeamsexperiment()
        made.vAmp, made.SA, made.vBmp, made.SB = x[:4]
        return [made.PvA(x[4:8]), made.PvB(x[8:])]

    def crossed(x: Any) -> Any:
        made = m.crossedmolecularbeamsexperiment()
        made.Pcollisionenergies_x = np.arange(6.0)
        made.Pcollisionenergies_y = x[:6]
        return made.Pcollisionenergies(x[6:])

    yield "PvA", beams, [1.1, 5.0, 1.4, 4.0, 0.9, 1.0, 1.2, 1.3, 1.2, 1.3, 1.5, 1.6]
    yield "Pcollisionenergies", crossed, [*SERIES[:6], 0.4, 1.3, 2.2, 4.7]


@package("spssmirror", "statistics in the style of SPSS")
def spssmirror() -> Iterator[Case]:
    m = module("spssmirror.core._engine")
    effects = module("spssmirror.statistics.effect_sizes")
    linear = module("spssmirror.statistics.regression")
    related = module("spssmirror.statistics.correlations")
    groups = ["a", "b"] * 6

    def engine(x: Any, **more: Any) -> Any:
        made = m.DataEngine()
        made.load_dict({"u": x[:12], "v": x[12:24], **more})
        return made

    def effect(x: Any) -> Any:
        found = effects.EffectSizeEngine(engine(x, g=groups)).cohens_d("u", "g", "a", "b")
        return [np.reshape(one, (1,)) for one in (found.value, found.ci_lower, found.ci_upper)]

    def fitted(x: Any) -> Any:
        found = linear.RegressionEngine(engine(x)).linear("u ~ v")
        return [np.reshape(one.b, (1,)) for one in found.coefficients]

    def correlated(x: Any) -> Any:
        found = related.CorrelationEngine(engine(x)).pearson("u", "v")
        return [np.reshape(one, (1,)) for one in (found.coefficient, found.p_value)]

    yield "cohens_d", effect, LONG
    yield "linear", fitted, LONG
    yield "pearson", correlated, LONG


@package("pymininec", "antennas of wires")
def pymininec() -> Iterator[Case]:
    m, taper = module("mininec.mininec"), module("mininec.taper")

    def driven(x: Any) -> Any:
        wires = [m.Wire(6, 0.0, 0.0, 0.0, 20.0, 0.0, 1.0, x[0])]
        made = m.Mininec(x[1], wires)
        made.register_source(m.Excitation(cvolt=1 + 0j), 2)
        made.compute()
        return np.reshape(made.sources[0].impedance, (1,))

    yield "Mininec.compute", driven, [0.01, 7.15]
    yield "taper2", lambda x: [
        one for pair in taper.taper2(x[:3], x[3:6], 6, 0.01) for one in pair
    ], [0.1, 0.2, 0.3, 2.0, 3.0, 1.0]  # fmt: skip


@package("tobler", "numbers of areas")
def tobler() -> Iterator[Case]:
    m, pycno = module("tobler.area_weighted"), module("tobler.pycno.pycno")
    geopandas, shapes = module("geopandas"), module("shapely.geometry")

    def source(x: Any) -> Any:
        boxes = [shapes.box(i, j, i + 1, j + 1) for i in range(3) for j in range(2)]
        data = {"people": x[:6], "rent": x[6:], "geometry": boxes}
        return geopandas.GeoDataFrame(data, crs="EPSG:3857")

    def moved(x: Any) -> Any:
        boxes = [shapes.box(0.2, 0.1, 1.7, 1.4), shapes.box(1.7, 0.1, 2.9, 1.8)]
        target = geopandas.GeoDataFrame({"geometry": boxes}, crs="EPSG:3857")
        found = m.area_interpolate(source(x), target, ["people"], ["rent"])
        return [found["people"].to_numpy(), found["rent"].to_numpy()]

    yield "area_interpolate", moved, SERIES
    yield (
        "pycno",
        lambda x: pycno.pycno(source(x), "people", 0.5, converge=2, verbose=False)[0],
        SERIES,
    )


@package("safeinterp", "interpolation")
def safeinterp() -> Iterator[Case]:
    m = module("safeinterp.core")
    places = np.array([0.0, 1.0, 2.5, 4.0])
    yield "interp_curve, auto", lambda x: m.interp_curve(
        places, x, np.array([0.3, 1.4, 3.1, 3.7]), mode="auto"
    ), SERIES[:4]  # fmt: skip
    yield "interp_curve, logistic", lambda x: m.interp_curve(
        start=x[0], end=x[1], num=6, mode="logistic", k=x[2]
    ), [2.0, 5.0, 4.0]  # fmt: skip
    yield "interp_curve, extrapolated", lambda x: m.interp_curve(
        places, x, np.array([0.4, 1.8, 4.5]), mode="poly3", extrapolate="linear"
    ), SERIES[:4]  # fmt: skip


@package("signalprocessingtools", "signals of railway tracks")
def signalprocessingtools() -> Iterator[Case]:
    m, space = (
        module("SignalProcessingTools.time_signal"),
        module("SignalProcessingTools.space_signal"),
    )
    times, points = np.arange(24.0) / 24.0, np.arange(64.0) * 0.5

    def spectrum(x: Any) -> Any:
        made = m.TimeSignalProcessing(times, x)
        made.fft()
        return [made.amplitude, made.phase]

    def integrated(x: Any) -> Any:
        made = m.TimeSignalProcessing(times, x)
        made.integrate(baseline=True, moving=True)
        return made.signal

    def track(x: Any) -> Any:
        values = np.sum(x[:, None] * np.cos(np.arange(1.0, 13.0)[:, None] * 0.2 * points), axis=0)
        made = space.SpaceSignalProcessing(points, 0.001 * values)
        made.compute_Hmax()
        return [made.rms_bands, made.max_fast]

    yield "TimeSignalProcessing.fft", spectrum, LONG
    yield "TimeSignalProcessing.integrate", integrated, LONG
    yield "SpaceSignalProcessing.compute_Hmax", track, SERIES


@package("mapu", "communities of species")
def mapu() -> Iterator[Case]:
    m, distance = module("mapu.diversity"), module("mapu.vegdist")
    order, change = module("mapu.ordination"), module("mapu.transform")

    def places(x: Any) -> Any:
        return x[:12].reshape(4, 3)

    yield "diversity", lambda x: m.diversity(places(x)), SERIES
    yield "cmdscale", lambda x: order.cmdscale(
        distance.vegdist(places(x), method="euclidean"), k=2
    )[1], SERIES  # fmt: skip
    yield "decostand", lambda x: change.decostand(places(x), "hellinger"), SERIES


@package("astroatmosphere", "light in the atmosphere")
def astroatmosphere() -> Iterator[Case]:
    m, bent = module("AstroAtmosphere.ciddorModel"), module("AstroAtmosphere.refractionModels")
    spread_out = module("AstroAtmosphere.dispersionModels")

    def index(x: Any) -> Any:
        return 1e6 * (m.Observatory().n_tph(l=x[0], T=x[1], p=x[2], RH=x[3], xc=x[4]) - 1.0)

    def refracted(x: Any) -> Any:
        made = bent.refraction(lat=x[0], h=x[1])
        made.setReducedHeight(x[2], x[3])
        found = (
            made.cassini(x[4], x[5]),
            made.matharExponential(x[4], x[5]),
            made.tan5(x[4], x[5]),
        )
        return [np.reshape(1e3 * one, (1,)) for one in found]

    def dispersed(x: Any) -> Any:
        made = spread_out.dispersion(lat=-24.6, h=2600.0)
        made.setReducedHeight(75000.0, 0.9)
        return [
            np.reshape(1e5 * one, (1,))
            for one in (made.cassini(*x), made.corbard(*x), made.oriani(*x))
        ]

    yield "Observatory.n_tph", index, [0.55, 285.0, 75000.0, 0.2, 450.0]
    yield "refraction", refracted, [-24.6, 2600.0, 75000.0, 0.9, 1.0002, 45.0]
    yield "dispersion", dispersed, [1.00021, 1.0002, 45.0]


@package("astromodule", "tools of astronomy")
def astromodule() -> Iterator[Case]:
    m = module("astromodule.distance")
    yield "arcsec2mpc", lambda x: m.arcsec2mpc(x[:3], x[3:]).value, [*SERIES[:3], 0.03, 0.2, 0.7]
    yield "mpc2arcsec", lambda x: m.mpc2arcsec(x[:3], x[3:]).value, [*SERIES[:3], 0.03, 0.2, 0.7]


@package("derivative-lib", "derivatives by differences")
def derivative_lib() -> Iterator[Case]:
    m = module("derivative_lib.derivative")

    def of_grid(x: Any) -> Any:
        made = m.Derivative({0.1 * i: x[i] for i in range(6)}, grid=True)
        return [
            np.reshape(made.threepoint_pattern(0.1 * 2, second), (1,)) for second in (False, True)
        ]

    def of_sine(x: Any) -> Any:
        def sine(t: Any) -> Any:
            return np.sin(x[1] * t)

        return m.Derivative(sine, e=0.1).tailor_app(x[0])

    def of_bell(x: Any) -> Any:
        def bell(t: Any) -> Any:
            return np.exp(-x[1] * t**2)

        return m.Derivative(bell, e=0.1).second_derivative(x[0])

    yield "tailor_app", of_sine, [0.7, 1.9]
    yield "second_derivative", of_bell, [0.7, 1.9]
    yield "threepoint_pattern", of_grid, SERIES[:6]


@package("isotherm-fit", "moisture in food")
def isotherm_fit() -> Iterator[Case]:
    m = module("isotherm_fit.models")
    wet = np.array([0.11, 0.23, 0.33, 0.43, 0.53, 0.64, 0.75, 0.84])
    yield "gab", lambda x: m.gab(wet, *x), [6.0, 12.0, 0.8]
    yield "bet", lambda x: m.bet(wet, *x), [6.0, 12.0]
    yield "peleg", lambda x: m.peleg(wet, *x), [8.0, 0.5, 13.0, 4.0]


@package("phasegen", "genealogies")
def phasegen() -> Iterator[Case]:
    m = module("phasegen")

    def history(x: Any) -> Any:
        return m.Coalescent(n=4, demography=m.Demography(pop_sizes={"pop_0": {0: x[0], 0.7: x[1]}}))

    yield "tree_height", lambda x: [
        np.reshape(one, (1,)) for one in (history(x).tree_height.mean, history(x).tree_height.var)
    ], [1.2, 2.1]  # fmt: skip
    yield "sfs", lambda x: history(x).sfs.mean.data, [1.2, 2.1]
    yield "tree_height.cdf", lambda x: history(x[:2]).tree_height.cdf(x[2:]), [1.2, 2.1, 0.4, 1.5]


@package("differentialequations", "differential equations")
def differentialequations() -> Iterator[Case]:
    m = module("DifferentialEquations.DiffEq")

    def rows(found: Any) -> Any:
        return [np.reshape(value, (1,)) for row in found for value in row[1:]]

    yield "euler_method", lambda x: rows(
        m.euler_method(["math.sin(x + y)"], [x[0]], [x[1], x[2]], 8)[1]
    ), [0.3, 0.1, 1.2]  # fmt: skip
    yield "euler_caushy", lambda x: rows(
        m.euler_caushy(["y - x*z", "y*z"], [x[0], x[1]], [0, 1], 8)
    ), [0.3, 0.5]  # fmt: skip
    yield "runge_kutta", lambda x: rows(
        m.runge_kutta(["z", "-math.sin(y) - 0.1*z"], [x[0], x[1]], [0, x[2]], 12)
    ), [0.8, 0.2, 2.0]  # fmt: skip


@package("mpstool", "statistics of images")
def mpstool() -> Iterator[Case]:
    m, stats = module("mpstool.variogram"), module("mpstool.stats")

    yield "fftvariogram", lambda x: m.fftvariogram(x.reshape(3, 4))[0], SERIES
    yield "fftcrossvariogram", lambda x: m.fftcrossvariogram(
        x[:12].reshape(3, 4), x[12:].reshape(3, 4)
    )[0], LONG  # fmt: skip
    yield "variogram_continuous", lambda x: stats.variogram_continuous(x.reshape(4, 3), 0), SERIES


@package("wrsi", "water for crops")
def wrsi() -> Iterator[Case]:
    dekadal, daily = module("wrsi.wrsi_dekadal"), module("wrsi.wrsi_daily")
    point = [*SERIES[:6], *(1.37 * np.array(SERIES[:6]))]

    def dekads(method: str) -> Callable[[Any], Any]:
        return lambda x: [
            np.reshape(one, (1,))
            for one in dekadal.wrsi_dekadal(
                [*x[:6]], [*x[6:]], method=method
            ).calculate_wrsi_dekadal()
        ]

    def days(x: Any) -> Any:
        found = daily.wrsi_daily([*x[:12]], [*x[12:]], method="Modified").calculate_wrsi_daily()
        return [np.reshape(one, (1,)) for one in found]

    yield "wrsi_dekadal, original", dekads("Original"), point
    yield "wrsi_dekadal, modified", dekads("Modified"), point
    yield "wrsi_daily", days, [*SERIES, *(1.37 * np.array(SERIES))]


@package("physoce", "oceanography")
def physoce() -> Iterator[Case]:
    m, stats, series = module("physoce.oceans"), module("physoce.stats"), module("physoce.tseries")
    yield (
        "wavedisp",
        lambda x: np.stack(m.wavedisp(x[:3], x[3:])),
        [8.0, 11.0, 6.0, 20.0, 35.0, 9.0],
    )
    yield "linreggm", lambda x: [
        np.reshape(one, (1,)) for one in stats.linreggm(x[:12], x[12:])
    ], LONG  # fmt: skip
    yield "princax", lambda x: [
        np.reshape(one, (1,)) for one in series.princax(x[:12], x[12:])
    ], LONG  # fmt: skip


@package("covimath", "epidemics")
def covimath() -> Iterator[Case]:
    m, exposed = module("covimath.models.sir"), module("covimath.models.seir")
    closed = module("covimath.models.sis")

    def infected(x: Any) -> Any:
        made = m.SIR(1000.0, x[0], x[1], x[2], 0.0, 20)
        made.solve()
        return [made.S, made.I]

    def both(x: Any) -> Any:
        made = exposed.SEIR(1000.0, x[0], x[1], x[2], x[3], x[4], 0.0, 20)
        made.solve()
        return [made.E, made.I]

    def fraction(x: Any) -> Any:
        made = closed.SIS(1000.0, x[0], x[1], x[2], x[3], 20)
        return [np.reshape(made.i(t), (1,)) for t in (1.0, 4.0, 9.0)]

    yield "SIR.solve", infected, [0.5, 0.1, 12.0]
    yield "SEIR.solve", both, [0.6, 0.3, 0.1, 5.0, 8.0]
    yield "SIS.i", fraction, [0.5, 0.05, 0.1, 0.02]


@package("eco-eng", "money of ecological works")
def eco_eng() -> Iterator[Case]:
    m = module("econ.econ")
    yield "GetNPVTable", lambda x: m.GetNPVTable(x[0], x[1], x[2], x[3], x[4], 6)[
        "Cumulative NPV"
    ].to_numpy(), [20.0, 1.5, 4.0, 6.0, 0.04]  # fmt: skip
    yield "GetNPV", lambda x: m.GetNPV(x[0], x[1:]), [0.04, -20.0, *SERIES[:6]]
