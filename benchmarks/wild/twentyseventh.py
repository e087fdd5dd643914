"""A twenty-seventh sample, drawn on 2026-11-30, and written down before any of it was tried.

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

TWENTYSEVENTH = Sample()
package = TWENTYSEVENTH.package
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


@package("overtone-vpt2", "anharmonic spectra of molecules")
def overtone_vpt2() -> Iterator[Case]:
    config, solver = (
        module("overtone.anharmonics.vpt2_config"),
        module("overtone.anharmonics.vpt2_solver"),
    )
    dipole, harmonics = (
        module("overtone.anharmonics.dipole_derivatives"),
        module("overtone.harmonics.harmonics"),
    )
    ase = module("ase")
    third = [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 1), (0, 1, 2), (0, 2, 2), (1, 1, 1),
             (1, 1, 2), (1, 2, 2), (2, 2, 2)]  # fmt: skip
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]

    def solved(x: Any, method: str, dipoles: Any = None) -> Any:
        cubic, quartic = np.zeros((3, 3, 3)), np.zeros((3, 3, 3, 3))
        for one, value in zip(third, x[3:13], strict=True):
            for a, b, c in orders:
                cubic[one[a], one[b], one[c]] = 100.0 * value
        for i in range(3):
            for j in range(3):
                for a, b, c, d in ((i, i, j, j), (i, j, i, j), (i, j, j, i)):
                    quartic[a, b, c, d] = 100.0 * x[13] * (1.0 + 0.2 * i * j)
        made = config.VPT2Config(
            freq=1000.0 * x[:3], active_modes=[0, 1, 2], min_mode_idx=0, max_mode_idx=2,
            len_modes=3, method=method,
        )  # fmt: skip
        return solver.VPT2Solver(made, (cubic, quartic), dipoles).calculate()

    def standard(x: Any) -> Any:
        found = solved(x, "standard")
        return [1e-3 * found.anharm_freq, 0.1 * found.X]

    def intense(x: Any) -> Any:
        dipoles = dipole.DipoleDerivativesResult(
            mu1=x[14:23].reshape(3, 3),
            mu2=0.1 * np.einsum("ia,jb->ija", *2 * [x[14:23].reshape(3, 3)]),
        )
        found = solved(x, "gvpt2", dipoles).transitions
        return [[1e-3 * one.energy, 1e-2 * one.intensity] for one in found]

    def vibrations(x: Any) -> Any:
        atoms = ase.Atoms("OH2", positions=x[:9].reshape(3, 3))
        made = harmonics.Harmonics(atoms)
        root = np.cos(1.7 * np.arange(81.0)).reshape(9, 9) + np.diag(x[9:])
        return 1e-3 * made.analyse_hessian(root @ root.T).freq[6:]

    point = [
        1.65, 3.75, 3.96, -0.7, 1.5, 0.2, 2.1, -0.3, 3.1, -15.0, 0.4, 16.0, 0.3, 2.2,
    ]  # fmt: skip
    slopes = [0.1, 0.02, -0.04, 0.03, 0.15, 0.06, -0.05, 0.08, 0.2]
    yield "VPT2Solver.calculate", standard, point
    yield "VPT2Solver, intensities", intense, [*point, *slopes]
    yield "VPT2Solver, dcpt2", lambda x: 1e-3 * solved(x, "dcpt2").anharm_freq, point
    yield "Harmonics.analyse_hessian", vibrations, [
        0.0, 0.02, 0.12, 0.01, 0.76, -0.47, 0.03, -0.75, -0.46,
        5.1, 4.2, 6.3, 3.5, 4.4, 5.7, 6.9, 4.8, 5.3,
    ]  # fmt: skip


@package("icp-lattice-calculator", "angles of neutron scattering")
def icp_lattice_calculator() -> Iterator[Case]:
    m = module("lattice_calculator.lattice_calculator")
    crystals = {"mono": {"tau": "pg(002)"}, "ana": {"tau": "pg(002)"}}
    first, last = np.array([[1.0, 2.0, 0.0]]), np.array([[0.1, 0.0, 1.0]])

    def lattice(x: Any) -> Any:
        return m.Lattice(*x[:6], orient1=first, orient2=last)

    def placed(x: Any) -> Any:
        angles = [10.0 * x[i : i + 1] for i in range(6, 10)]
        found = m.SpecWhere(
            *angles, [crystals], lattice(x), m.Orientation(first, last), m.Instrument()
        )
        return [*found[:5], 0.1 * found[5], 0.1 * found[6]]

    def driven(x: Any) -> Any:
        experiment = {**crystals, "infin": -1, "efixed": x[10]}
        point = [x[i : i + 1] for i in range(6, 10)]
        return 0.01 * xp.array(
            m.SpecGoTo(*point, [experiment], lattice(x), m.Orientation(first, last))
        )

    def measured(x: Any) -> Any:
        made = lattice(x)
        return [
            made.V * 0.01, made.alphastar * 0.01, made.calc_twotheta(2.36, *x[6:9]) * 0.1,
            m.angle(*x[6:], "latticestar", made), m.angle2(*x[6:], made),
            0.1 * xp.array(m.vector(*x[6:], "lattice", made)),
        ]  # fmt: skip

    cell = [6.3, 5.8, 11.8, 88.0, 100.0, 93.0]
    yield "SpecWhere", placed, [*cell, 7.9, 7.1, 9.1, 7.4]
    yield "SpecGoTo", driven, [*cell, 0.62, 1.36, 0.44, 1.7, 8.5]
    yield "Lattice, angles", measured, [*cell, 1.1, 0.3, 1.8, 0.4, 1.2, -0.7]


@package("regpy", "inverse problems")
def regpy() -> Iterator[Case]:
    operators, spaces = module("regpy.operators.numpy"), module("regpy.vecsps")
    hilbert, general = module("regpy.hilbert"), module("regpy.solvers.general")
    tikhonov, landweber = (
        module("regpy.solvers.linear.tikhonov"),
        module("regpy.solvers.linear.landweber"),
    )
    irgnm, stoprules = module("regpy.solvers.nonlinear.irgnm"), module("regpy.stoprules")
    module("logging").disable(module("logging").WARNING)
    places = np.linspace(0.0, 1.0, 12)
    grid = spaces.UniformGridFcts(places)

    def blurring(width: Any) -> Any:
        matrix = np.exp(-((places[:, None] - places) ** 2) / width) / 12.0
        return operators.MatrixMultiplication(matrix, domain=grid, codomain=grid)

    def regularised(x: Any) -> Any:
        setting = general.Setting(
            blurring(0.25), penalty=hilbert.Sobolev, data_fid=hilbert.L2, data=x[:12], regpar=x[12]
        )
        return tikhonov.TikhonovCG(setting, reltolx=1e-13).run()[0]

    def newton(x: Any) -> Any:
        operator = blurring(0.25) * operators.Exponential(grid)
        setting = general.Setting(operator, hilbert.L2, hilbert.L2, data=0.2 * x[:12])
        made = irgnm.IrgnmCG(setting, regpar=x[12], init=x[13:], cg_pars={"reltolx": 1e-13})
        return made.run(stoprules.CountIterations(2))[0]

    def iterated(x: Any) -> Any:
        setting = general.Setting(blurring(x[12]), hilbert.L2, hilbert.L2, data=x[:12])
        made = landweber.Landweber(setting, np.zeros(12), stepsize=x[13])
        return made.run(stoprules.CountIterations(6))

    yield "TikhonovCG", regularised, [*SERIES, 0.1]
    yield "IrgnmCG", newton, [*SERIES, 1.0, *(0.1 * np.array(SERIES[::-1]))]
    yield "Landweber", iterated, [*SERIES, 0.25, 0.8]


@package("ideal-gases", "flows of gases")
def ideal_gases() -> Iterator[Case]:
    m, kinetics = module("ideal_gases.riemann"), module("ideal_gases.classical_kinetics")
    nsf, distribution = module("ideal_gases.classical_nsf"), module("ideal_gases.es_distribution")
    places = np.linspace(0.0125, 0.9875, 24)

    def exact(x: Any) -> Any:
        found = m.classical_euler(*x, x=places)
        return [found.rho, found.ux, found.p, found.e, found.mach, found.entropy]

    def kinetic(x: Any) -> Any:
        found = kinetics.classical_bgk(*x[:6], 0.04, 3, x[6], x=places, nv=32, xi_max=8.0)
        return [*found]

    def viscous(x: Any) -> Any:
        found = nsf.classical_nsf(*x[:6], 0.03, 3, x[6], x[7], x=places, conv_flux="rusanov")
        return [*found]

    def ellipsoid(x: Any) -> Any:
        tensor = np.array([[x[3], x[5]], [x[5], x[4]]])
        values, speeds, weights, _ = kinetics.classical_es_distribution(
            x[0], x[1:3], tensor, dim=2, nv=16, xi_max=6.0
        )
        return [
            1e2 * values.ravel()[100:140:3],
            *distribution.es_moments(values, speeds, weights, x[6], 2),
        ]

    tube = [1.0, 0.1, 1.1, 0.4, -0.05, 0.3]
    yield "classical_euler", exact, [*tube, 0.15, 1.4]
    yield "classical_bgk", kinetic, [*tube, 0.02]
    yield "classical_nsf", viscous, [*tube, 0.02, 0.7]
    yield "classical_es_distribution", ellipsoid, [1.2, 0.2, -0.3, 1.3, 0.9, 0.2, 1.1]


@package("pytracerlab", "ages of groundwater")
def pytracerlab() -> Iterator[Case]:
    m = module("PyTracerLab.model.model")
    units = module("PyTracerLab.model.units")
    forcing = 5.0 + np.cos(0.7 * np.arange(16.0)) + 0.1 * np.arange(16.0)

    def mixed(x: Any) -> Any:
        made = m.Model(1.0, x[0], x[7:], steady_state_input=x[6], n_warmup_steps=20)
        made.add_unit(units.ExEPMUnit(x[1], x[2], x[3]), 0.6)
        made.add_unit(units.DMUnit(x[4], x[5]), 0.4)
        return made.simulate()

    def produced(x: Any) -> Any:
        series = np.stack([x[4] * forcing, x[5] * forcing**1.1], axis=1)
        made = m.Model(
            1.0, x[:2], series, production=[False, True], steady_state_input=[1.0, 1.0],
            n_warmup_steps=10,
        )  # fmt: skip
        made.add_unit(units.EPMUnit(x[2], x[3]), 1.0)
        return made.simulate()

    def aged(x: Any) -> Any:
        made = m.Model(1.0, 0.01, forcing, steady_state_input=5.0, n_warmup_steps=30)
        made.add_unit(units.DMUnit(6.0, 0.4), 0.3, "dm")
        made.add_unit(units.EMUnit(9.0), 0.7, "em")
        made.set_vector([*x[:3]])
        observed = made.simulate() - x[3:]
        return [*made.get_ttds(12), observed**2]

    yield "Model.simulate", mixed, [0.05, 6.3, 0.7, 0.25, 8.4, 0.3, 4.1, *LONG]
    yield "Model.simulate, production", produced, [0.05, 0.08, 6.3, 1.37, 1.1, 0.4]
    yield "Model.get_ttds", aged, [0.5, 7.3, 8.1, *(0.5 + 0.5 * np.array(LONG[:16]))]


@package("commensurability", "shapes of orbits")
def commensurability() -> Iterator[Case]:
    m = module("commensurability.tessellation")

    def plane(x: Any) -> Any:
        made = m.Tessellation(x.reshape(12, 2) - 4.0, axis_ratio=6.0)
        return [10.0 * made.area, made.normalization_const * 0.01]

    def solid(kind: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = m.Tessellation(x.reshape(8, 3) - 4.0, normalization_routine=kind)
            return [
                10.0 * made.volume,
                made.tracers["largest side"],
                made.normalization_const * 0.01,
            ]

        return result

    def orbit(x: Any) -> Any:
        times = np.linspace(0.0, 9.7, 25)
        radius = x[0] + x[1] * np.cos(x[2] * times)
        points = [radius * np.cos(x[3] * times), radius * np.sin(x[3] * times)]
        made = m.Tessellation(np.stack(points, axis=1), normalization_routine="circle")
        return [made.measure, made.tracers["measure"]]

    yield "Tessellation, 2D", plane, LONG
    yield "Tessellation, 3D sphere", solid("sphere"), LONG
    yield "Tessellation, 3D convexhull", solid("convexhull"), LONG
    yield "Tessellation of an orbit", orbit, [1.3, 0.4, 2.3, 1.7]


@package("chanter", "spectra of galaxies")
def chanter() -> Iterator[Case]:
    m = module("chanter.model_galaxy")

    def made(x: Any) -> Any:
        return m.modelgalaxy({
            "redshift": x[0], "exponential": {"age": x[1], "tau": x[2], "massformed": x[3]},
            "dust": {"Av": x[4]},
        })  # fmt: skip

    def spectrum(x: Any) -> Any:
        wavelengths, flux = made(x).get_spectrum()
        return [1e-4 * wavelengths[100:1000:90], 1e17 * flux[100:1000:90]]

    def attenuated(x: Any) -> Any:
        one = made([x[0], 1.0, 1.0, 10.0, x[1]])
        return one.transmission_neutral(1e4 * x[2:])

    def history(x: Any) -> Any:
        return 1e-9 * made(x).sfr(np.linspace(0.013, 4.0, 12), x[1], x[2], x[3])

    galaxy = [1.1, 3.1, 0.6, 10.7, 0.5]
    yield "modelgalaxy.get_spectrum", spectrum, galaxy
    yield "modelgalaxy.transmission_neutral", attenuated, [1.1, 0.6, 0.1, 0.2, 0.35, 0.5, 0.7, 1.2]
    yield "modelgalaxy.sfr", history, galaxy


@package("volsplineslib", "surfaces of volatility")
def volsplineslib() -> Iterator[Case]:
    m, search = (
        module("VolSplinesLib.interpolations").Interpolations,
        module("VolSplinesLib.minimize"),
    )
    strikes = np.linspace(0.6, 1.5, 12)

    def objective(x: Any) -> Any:
        quotes = 0.1 * x[5:]
        return [
            0.1
            * m.objective_function(x[:5], np.log(strikes), quotes, quotes - 0.1, quotes + 0.1, one)
            for one in (m.rfv_model, m.sabr_model, m.svi_model)
        ]

    def minimized(x: Any) -> Any:
        powers = np.log(strikes)[:, None] ** np.arange(5)
        weights = 1.0 + 0.3 * np.cos(np.arange(12.0))

        def slopes(params: Any) -> Any:
            error = m.slv_model(np.log(strikes), params) - 0.1 * x
            return 0.1 * np.sum(weights * error**2), 0.2 * powers.T @ (weights * error)

        found = search.minimize(
            slopes,
            np.array([0.2, 0.3, 0.1, 0.2, 0.1]),
            [(-np.inf, np.inf)] * 5,
            ftol=0.0,
            gtol=1e-10,
        )
        return m.slv_model(np.log(strikes), found["x"])

    yield "minimize, slv_model", minimized, SERIES
    yield "objective_function", objective, [0.2, 0.3, 0.1, 0.2, 0.15, *SERIES]


@package("rthon", "probabilities in R's manner")
def rthon() -> Iterator[Case]:
    m = module("rthon")

    def normal(x: Any) -> Any:
        return [
            *m.pnorm([x[0], x[1]], x[2], x[3]),
            *m.dnorm([x[0], x[1]], mean=x[2], sd=x[3], log=True),
            m.qnorm(x[4], x[2], x[3]),
        ]  # fmt: skip

    def gamma(x: Any) -> Any:
        return [
            *m.pgamma([x[0], x[1]], x[2], rate=x[3]), *m.dgamma([x[0], x[1]], x[2], scale=x[3]),
            m.pgamma(x[1], x[2], rate=x[3], lower_tail=False, log=True),
        ]  # fmt: skip

    def counted(x: Any) -> Any:
        return [
            *m.dbinom([2, 5], 9, x[0]), m.pbinom(4, 9, x[0], lower_tail=False),
            *m.dpois([1, 3], x[1], log=True), m.ppois(4, x[1]),
        ]  # fmt: skip

    def waited(x: Any) -> Any:
        return [
            m.qexp(x[0], x[1]), m.pexp(x[2], rate=x[1], log=True), m.dexp(x[2], rate=x[1]),
            m.punif(x[3], x[4], x[5]), m.dunif(x[3], x[4], x[5]), m.qunif(x[0], x[4], x[5]),
        ]  # fmt: skip

    yield "pgamma, dgamma", gamma, [1.3, 4.4, 2.2, 0.8]
    yield "pnorm, qnorm", normal, [0.3, 1.9, 0.8, 1.3, 0.37]
    yield "pbinom, ppois", counted, [0.37, 2.6]
    yield "qexp, punif", waited, [0.37, 1.4, 0.9, 2.3, 1.2, 4.7]


@package("ripleyk", "statistics of points")
def ripleyk() -> Iterator[Case]:
    m = module("ripleyk.ripleyk")
    angles = 2.4 * np.arange(1.0, 13.0)

    def overlap(x: Any) -> Any:
        return [0.1 * m.calculate_overlap([*x[:n]], x[3], x[4], "circle", n) for n in (2, 3)]

    def disc(x: Any) -> Any:
        return m.calculate_ripley(
            [x[12], x[13]], 8.0 * x[14], d1=x[:12] * np.cos(angles), d2=x[:12] * np.sin(angles),
            boundary_correct=True, CSR_Normalise=True,
        )  # fmt: skip

    def ball(x: Any) -> Any:
        return m.calculate_ripley(
            [x[12], x[13]], 8.0 * x[14], d1=x[:12] * np.cos(angles), d2=x[:12] * np.sin(angles),
            d3=np.cos(angles**2), boundary_correct=True,
        )  # fmt: skip

    yield "calculate_ripley, 2D", disc, [*SERIES, 4.1, 2.7, 1.1]
    yield "calculate_ripley, 3D", ball, [*SERIES, 4.1, 2.7, 1.1]
    yield "calculate_overlap", overlap, [1.3, 2.4, -1.7, 4.1, 2.3]


@package("pyssem", "debris in orbit")
def pyssem() -> Iterator[Case]:
    orbits, drag = module("pyssem.utils.elliptical.elliptical"), module("pyssem.utils.drag.drag")
    m = module("pyssem.utils.collisions.NASA_SBM_Evolve")

    def shared(x: Any) -> Any:
        edges = 1000.0 * x[2:]
        return 10.0 * orbits.compute_time_fractions_for_orbit(1000.0 * x[0], x[1], edges)

    def elements(x: Any) -> Any:
        place, speed = m.perifocal_r_and_v(1000.0 * x[0], x[1], x[2], 398600.4418)
        turned = m.rotate_vector_45_deg_in_plane(speed) + x[3:6]
        found = m.compute_sma_ecc_scalar(place, turned, 398600.4418)
        return [1e-3 * found[0], found[1], orbits.vis_viva(1000.0 * x[0], 7100.0)]

    def fragments(x: Any) -> Any:
        np.random.seed(3)  # noqa: NPY002  the package draws from it
        module("random").seed(4)
        ratios = m.func_Am(x, 5.0)
        return [ratios, 0.01 * xp.array(m.func_dv(ratios, "col"))]

    def density(x: Any) -> Any:
        heights = 100.0 * x
        return [1e7 * drag.densityexp(heights), 1e18 * drag.densityexp_jbvalues(5.0 * heights)]

    yield "compute_time_fractions_for_orbit", shared, [
        7.3, 0.05, 6.85, 7.0, 7.15, 7.29, 7.46, 7.6, 7.75,
    ]  # fmt: skip
    yield "compute_sma_ecc_scalar", elements, [7.3, 0.05, 0.7, 0.3, -0.4, 0.2]
    yield "func_Am, func_dv", fragments, [0.11, 0.23, 0.037, 0.34, 0.083, 0.61]
    yield "densityexp", density, [1.23, 1.94, 2.71, 3.27]


@package("mosfit", "light of supernovae")
def mosfit() -> Iterator[Case]:
    nickel, magnetars = (
        module("mosfit.modules.engines.nickelcobalt"),
        module("mosfit.modules.engines.magnetar"),
    )
    diffusion, photosphere = (
        module("mosfit.modules.transforms.diffusion"),
        module("mosfit.modules.photospheres.temperature_floor"),
    )
    made = {"model": types.SimpleNamespace(pool=lambda: None, printer=lambda: None)}
    shock, viscous = (
        module("mosfit.modules.engines.shock_cooling"),
        module("mosfit.modules.transforms.viscous"),
    )
    dense, times = np.linspace(-3.0, 90.0, 60), np.array([4.3, 11.7, 20.9, 33.1, 52.4, 77.7])

    def transported(x: Any, light: Any) -> Any:
        given = {
            "rest_times": times, "resttexplosion": x[0], "dense_times": dense,
            "dense_luminosities": light["luminosities"], "kappa": x[1], "kappagamma": x[2],
            "mejecta": x[3], "vejecta": 1e4 * x[4],
        }  # fmt: skip
        found = diffusion.Diffusion(name="diffusion", **made).process(**given)
        return {**given, **found}

    def decayed(x: Any) -> Any:
        light = nickel.NickelCobalt(name="engine", **made).process(
            dense_times=dense, fnickel=x[5], mejecta=x[3], resttexplosion=x[0]
        )
        found = transported(x, light)
        return [1e-42 * found["luminosities"], 0.1 * found["tau_diffusion"]]

    def spun(x: Any) -> Any:
        light = magnetars.Magnetar(name="engine", **made).process(
            dense_times=dense, Pspin=x[5], Bfield=x[6], Mns=x[7], thetaPB=x[8], resttexplosion=x[0]
        )
        found = photosphere.TemperatureFloor(name="photosphere", **made).process(
            **transported(x, light), temperature=1e3 * x[9]
        )
        radii, temperatures = found["radiusphot"], found["temperaturephot"]
        return [1e-15 * xp.array(radii), 1e-4 * xp.array(temperatures)]

    def shocked(x: Any) -> Any:
        given = {
            "dense_times": dense, "resttexplosion": x[0], "kappa": x[1], "mejecta": x[3],
            "vejecta": 1e4 * x[4], "radius_star": 1e13 * x[5], "shock_frac": x[6], "s": x[7],
        }  # fmt: skip
        light = shock.Shock(name="engine", **made).process(**given)["luminosities"]
        found = viscous.Viscous(name="viscous", **made).process(
            rest_times=times, resttexplosion=x[0], dense_times=dense, dense_luminosities=light,
            Tviscous=x[8],
        )  # fmt: skip
        return 1e-44 * found["luminosities"]

    ejecta = [-2.7, 0.1, 0.05, 3.1, 1.1]
    yield "NickelCobalt, Diffusion", decayed, [*ejecta, 0.12]
    yield "Magnetar, TemperatureFloor", spun, [*ejecta, 4.3, 2.7, 1.5, 1.1, 6.3]
    yield "Shock, Viscous", shocked, [*ejecta, 7.1, 0.8, 1.3, 6.7]


@package("bio-rtd", "times of residence")
def bio_rtd() -> Iterator[Case]:
    inlets, units = module("bio_rtd.inlet"), module("bio_rtd.uo")
    pdfs, loads = module("bio_rtd.pdf"), module("bio_rtd.chromatography.bt_load")
    peaks = module("bio_rtd.peak_shapes")
    times = np.linspace(0.0, 60.0, 121)

    def flowed(x: Any) -> Any:
        inlet = inlets.CustomInlet(
            times, np.full(121, 3.0), np.stack([x[0] + x[1] * np.sin(0.1 * times), x[2] * times]),
            ["protein", "salt"], "inlet", "inlet",
        )  # fmt: skip
        dilution = units.fc_uo.Dilution(times, dilution_ratio=x[3], uo_id="dilution")
        through = units.fc_uo.FlowThrough(
            times,
            pdfs.ExpModGaussianFixedDispersion(times, x[6], x[7], pdf_id="pdf"),
            uo_id="through",
        )
        through.v_void = x[4]
        tank = units.surge_tank.CSTR(times, "tank")
        tank.v_void, tank.v_init_ratio = x[5], 0.8
        flow, content = inlet.get_result()
        with contextlib.redirect_stdout(io.StringIO()):
            for unit in (dilution, through, tank):
                flow, content = unit.evaluate(flow, content)
        return [flow[20::30], content[:, 20::10]]

    def bound(x: Any) -> Any:
        load = loads.ConstantPatternSolution(0.5, dbc_100=10.0 * x[0], k=x[1])
        load.update_btc_parameters(cv=x[2])
        captured = load.calc_c_bound(x[3:7], x[7:].reshape(2, 4))
        return [captured, load.get_total_bc()]

    def shapes(x: Any) -> Any:
        at = times[10:60:6]
        return [
            10.0 * peaks.emg(at, 10.0 * x[0], x[1], x[2]),
            10.0 * peaks.skewed_normal(at, 10.0 * x[0], x[1], x[3]),
            10.0 * peaks.gaussian(at, 10.0 * x[0], x[1]),
        ]  # fmt: skip

    yield "UnitOperation.evaluate", flowed, [1.3, 0.4, 0.02, 1.4, 21.0, 34.0, 0.3, 0.7]
    yield "ConstantPatternSolution", bound, [1.1, 0.7, 2.3, 1.2, 1.4, 1.3, 1.1, *SERIES[:8]]
    yield "peak_shapes", shapes, [1.7, 2.1, 0.4, 1.3]


@package("opt-einsum", "contractions of tensors")
def opt_einsum() -> Iterator[Case]:
    m = module("opt_einsum")
    fixed = np.cos(1.3 * np.arange(24.0)).reshape(2, 3, 4)

    def contracted(x: Any) -> Any:
        return 1e-3 * m.contract(
            "ij,jk,kl,il->jl", x[:6].reshape(3, 2), x[6:12].reshape(2, 3), x[12:18].reshape(3, 2),
            x[18:24].reshape(3, 2), optimize="optimal",
        )  # fmt: skip

    def expressed(x: Any) -> Any:
        call = m.contract_expression("abc,ad,be->cde", fixed, (2, 3), (3, 4), constants=[0])
        return [call(x[:6].reshape(2, 3), x[6:18].reshape(3, 4))]

    def interleaved(x: Any) -> Any:
        first, last = x[:12].reshape(3, 4), x[12:].reshape(3, 4)
        path, _ = m.contract_path(first, [0, 1], last, [0, 2], fixed[0], [0, 1], [2])
        return 0.01 * m.contract(first, [0, 1], last, [0, 2], fixed[0], [0, 1], [2], optimize=path)

    def shared(x: Any) -> Any:
        operands = [x[:12].reshape(3, 4), x[12:].reshape(4, 3), fixed[1]]
        with m.shared_intermediates():
            found = [m.contract("ab,bc,cd->ad", *operands), m.contract("ab,bc,cd->bd", *operands)]
        return 0.01 * xp.concatenate([one.ravel() for one in found])

    yield "contract", contracted, LONG
    yield "contract_expression", expressed, LONG[:18]
    yield "contract_path", interleaved, LONG
    yield "shared_intermediates", shared, LONG


@package("ferro", "ferroelectric films")
def ferro() -> Iterator[Case]:
    m, data = module("ferro.models"), module("ferro.data")
    times = np.linspace(0.0, 0.01, 40)

    def loop(x: Any, frequency: float) -> Any:
        made = data.HysteresisData(freq=frequency, thickness=1.3e-6, area=1e-4)
        made.time, made.dt = times * (100.0 / frequency), times[1] * (100.0 / frequency)
        phase = 2.0 * np.pi * 100.0 * times
        made.voltage = x[0] * np.sin(phase)
        made.current = 1e-6 * (
            frequency
            * 0.01
            * (x[1] * np.cos(phase + 0.2) + x[2] / np.cosh(9.0 * (np.sin(phase) - 0.5)))
        )
        made.polarization = np.zeros(40)
        return made

    def capacitance(x: Any) -> Any:
        film = m.LandauFilm(thickness=1.3e-6, area=1e-4)
        return 1e9 * film.c_calc([loop(x, one) for one in (100.0, 200.0, 500.0)])

    def compensated(x: Any) -> Any:
        film = m.LandauFilm(thickness=1.3e-6, area=1e-4, c=1e-9 * x[3])
        found, remnant = film.c_compensation(loop(x, 100.0))
        return [1e6 * remnant, 1e5 * found.polarization[::5], 1e6 * found.current[3::7]]

    def landscape(x: Any) -> Any:
        film = m.LandauSimple(c=1e-9 * x[0], thickness=1e-6 * x[1], pr=x[2])
        slope = 1e-14 * film.a_calc()
        domains = [m.LandauDomain(film, 1e-4, x[3], x[4 + i], slope, x[6], x[7]) for i in range(2)]
        polarization = np.linspace(-1.1, 1.3, 7)
        return [film.get_ufe(polarization, domains), domains[0].get_efe(polarization)]

    def leaking(x: Any) -> Any:
        leak = data.LeakageData()
        leak.lcm_voltage = np.linspace(-2.0, 2.2, 25)
        leak.lcm_current = data.leakage_func(leak.lcm_voltage, *x[3:]) + 0.01 * np.cos(
            17.0 * leak.lcm_voltage
        )
        with contextlib.redirect_stdout(io.StringIO()):
            leak.lcm_fit(of_fit, init_guess=np.array([0.1, 0.1, 0.1]))
        return leak.lcm_parms

    def of_fit(voltage: Any, a: Any, b: Any, c: Any) -> Any:
        return a * voltage**3 + b * voltage + c

    yield "LandauFilm.c_calc", capacitance, [2.1, 0.4, 1.3]
    yield "LandauFilm.c_compensation", compensated, [2.1, 0.4, 1.3, 0.23]
    yield "LandauDomain.get_ufe", landscape, [0.9, 1.3, 0.7, 0.8, 0.1, -0.2, 1.1, 0.3]
    yield "LeakageData.lcm_fit", leaking, [
        0.0, 0.0, 0.0, 0.02, -0.03, 0.11, 0.04, 0.3, 0.05, -0.1,
    ]  # fmt: skip


@package("noisereduce", "noise in sounds")
def noisereduce() -> Iterator[Case]:
    m = module("noisereduce")
    moments = np.arange(64.0)
    sound = np.sin(0.9 * moments) + 0.3 * np.cos(2.3 * moments) + 0.1 * np.cos(0.17 * moments**2)
    options = {"n_fft": 16, "padding": 0, "n_jobs": 1, "chunk_size": 600000}

    def gated(x: Any) -> Any:
        return m.reduce_noise(
            y=np.repeat(x, 3)[:64] * sound, sr=1000, stationary=False, freq_mask_smooth_hz=None,
            time_mask_smooth_ms=None, time_constant_s=0.02, thresh_n_mult_nonstationary=0.3,
            sigmoid_slope_nonstationary=3, **options,
        )  # fmt: skip

    def stationary(x: Any) -> Any:
        return m.reduce_noise(
            y=x, sr=1000, y_noise=0.1 * np.cos(0.31 * moments**2), stationary=True,
            prop_decrease=0.8, freq_mask_smooth_hz=250, time_mask_smooth_ms=8, **options,
        )  # fmt: skip

    def tuned(x: Any) -> Any:
        return m.reduce_noise(
            y=sound, sr=1000, prop_decrease=x[0], time_constant_s=x[1],
            thresh_n_mult_nonstationary=x[2], sigmoid_slope_nonstationary=x[3],
            freq_mask_smooth_hz=250, time_mask_smooth_ms=8, **options,
        )  # fmt: skip

    yield "reduce_noise", gated, LONG[:22]
    yield "reduce_noise, stationary", stationary, [*sound]
    yield "reduce_noise, parameters", tuned, [0.8, 0.021, 0.3, 4.3]


@package("nurbs", "curves and surfaces")
def nurbs() -> Iterator[Case]:
    m, splines = module("nurbs.NURBS"), module("nurbs.BSpline")
    operations, fitting = module("nurbs.operations"), module("nurbs.fitting")
    knots = module("nurbs.knotvector")

    def points(x: Any, size: int) -> list[list[Any]]:
        return [[*x[i : i + size]] for i in range(0, len(x), size)]

    def curve(x: Any) -> Any:
        made = m.Curve()
        made.degree = 3
        made.ctrlpts = points(x[:18], 3)
        made.weights = [*x[18:24]]
        made.knotvector = knots.generate(3, 6)
        return [*made.derivatives(0.37, 2), *made.evaluate_list([0.21, 0.83])]

    def surface(x: Any) -> Any:
        made = m.Surface()
        made.degree_u = made.degree_v = 2
        made.set_ctrlpts([[x[i], i % 3 + 0.1 * x[9 + i], i // 3, 1.0] for i in range(9)], 3, 3)
        made.knotvector_u = made.knotvector_v = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
        normal = operations.normal(made, [0.3, 0.6], normalize=True)
        return [*made.evaluate_single((0.3, 0.6)), *normal[1]]

    def inserted(x: Any) -> Any:
        made = splines.Curve()
        made.degree = 2
        made.ctrlpts = points(x[:12], 2)
        made.knotvector = knots.generate(2, 6)
        found = operations.insert_knot(made, [0.4], [1])
        return [
            *found.ctrlpts,
            operations.tangent(found, 0.7)[1],
            0.1 * operations.length_curve(made),
        ]

    def fitted(x: Any) -> Any:
        made = fitting.approximate_curve(points(x, 2), 3, ctrlpts_size=6)
        found = fitting.interpolate_curve(points(x[:12], 2), 2)
        return [
            *made.ctrlpts,
            found.knotvector[3:6],
            found.evaluate_single(0.45),
        ]

    yield "NURBS.Curve.derivatives", curve, [*LONG[:18], 1.1, 0.8, 1.3, 0.9, 1.2, 0.7]
    yield "operations.normal", surface, LONG[:18]
    yield "operations.insert_knot", inserted, SERIES
    yield "fitting.approximate_curve", fitted, LONG


@package("pygro", "geodesics of spacetimes")
def pygro() -> Iterator[Case]:
    m, kepler = module("pygro"), module("pygro.utils.kepler")
    metric = m.Metric(
        "hole", ["t", "r", "theta", "phi"],
        "-(1-2*M/r)*dt**2+1/(1-2*M/r)*dr**2+r**2*(dtheta**2+sin(theta)**2*dphi**2)", M=1,
    )  # fmt: skip
    engine = m.GeodesicEngine(metric, backend="lambdify", integrator="dp853")

    def traced(kind: str, end: float) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            metric.set_constant(M=x[0])
            geodesic = m.Geodesic(kind, engine, verbose=False)
            geodesic.set_starting_point(0.0, 10.0 * x[1], x[2], x[3])
            geodesic.set_starting_4velocity(u1=x[4], u2=0.01 * x[5], u3=0.01 * x[6])
            engine.integrate(geodesic, end, 0.5, accuracy_goal=13, precision_goal=13)
            return [0.1 * geodesic.x[-1], geodesic.u[-1]]

        return result

    seen = m.Observer(
        metric, [0.0, 11.0, 1.4, 0.2],
        coframe=["sqrt(1-2*M/r)*dt", "1/sqrt(1-2*M/r)*dr", "r*dtheta", "r*sin(theta)*dphi"],
    )  # fmt: skip

    def observed(x: Any) -> Any:
        metric.set_constant(M=x[0])
        return [
            seen.from_f1(x[1], x[2], type="null"),
            10.0 * seen.from_f2(x[1], x[2], type="time-like", v=x[3]),
        ]  # fmt: skip

    yield "GeodesicEngine.integrate", traced("time-like", 20.0), [
        0.9, 1.1, 1.4, 0.2, -0.1, 0.4, 2.9,
    ]  # fmt: skip
    yield "GeodesicEngine.integrate, null", traced("null", 9.0), [
        0.9, 1.1, 1.4, 0.2, -0.8, 0.7, 4.1,
    ]  # fmt: skip
    yield "Observer.from_f1", observed, [0.9, 0.3, 0.7, 0.4]
    yield "eccentric_anomaly", lambda x: kepler.eccentric_anomaly(x[0], x[1]), [0.3, 1.7]


@package("amazon-braket-default-simulator", "circuits of qubits")
def amazon_braket_default_simulator() -> Iterator[Case]:
    m, mixed = (
        module("braket.default_simulator.state_vector_simulation"),
        module("braket.default_simulator.density_matrix_simulation"),
    )
    gates, noises = (
        module("braket.default_simulator.gate_operations"),
        module("braket.default_simulator.noise_operations"),
    )
    observables, results = (
        module("braket.default_simulator.observables"),
        module("braket.default_simulator.result_types"),
    )

    def circuit(x: Any) -> list[Any]:
        return [
            gates.Hadamard([0]), gates.RotX([1], x[0]), gates.CX([0, 1]), gates.RotY([2], x[1]),
            gates.ZZ([1, 2], x[2]), gates.RotZ([0], x[3]), gates.XY([0, 2], x[4]),
        ]  # fmt: skip

    def evolved(x: Any) -> Any:
        simulation = m.StateVectorSimulation(3, 0, 1)
        simulation.evolve(circuit(x))
        return [simulation.state_vector, simulation.probabilities]

    def expected(x: Any) -> Any:
        simulation = m.StateVectorSimulation(3, 0, 1)
        simulation.evolve(circuit(x))
        matrix = np.array([[x[5], x[6] - 0.3j], [x[6] + 0.3j, -0.4]])
        return [
            results.Expectation(observables.PauliZ([0])).calculate(simulation),
            results.Variance(observables.PauliX([2])).calculate(simulation),
            results.Expectation(observables.Hermitian(matrix, [1])).calculate(simulation),
            results.Probability([0, 2]).calculate(simulation),
        ]  # fmt: skip

    def noisy(x: Any) -> Any:
        simulation = mixed.DensityMatrixSimulation(2, 0)
        simulation.evolve([
            gates.RotY([0], x[0]), gates.CPhaseShift([0, 1], x[1]),
            gates.U([1], x[2], x[3], x[4], ()),
            noises.Depolarizing([0], x[5]), noises.AmplitudeDamping([1], x[6]),
            gates.CX([0, 1]), noises.PauliChannel([0], x[7], x[8], 0.02),
            noises.PhaseDamping([1], x[9]),
        ])  # fmt: skip
        return simulation.density_matrix

    def phased(x: Any) -> Any:
        return [
            gates.MS([0, 1], x[0], x[1], x[2]).matrix, gates.PRx([0], x[1], x[2]).matrix,
            gates.RotX([0], x[0], power=2).matrix, noises.TwoQubitDephasing([0, 1], x[3]).matrices,
        ]  # fmt: skip

    yield "StateVectorSimulation.evolve", evolved, [0.7, 1.3, 0.4, -0.6, 1.9]
    yield "Expectation.calculate", expected, [0.7, 1.3, 0.4, -0.6, 1.9, 0.8, 0.2]
    yield "DensityMatrixSimulation.evolve", noisy, [
        0.7, 1.3, 0.4, -0.6, 1.9, 0.08, 0.13, 0.05, 0.03, 0.21,
    ]  # fmt: skip
    yield "GateOperation.matrix", phased, [0.7, 1.3, 0.4, 0.12]


@package("carspy", "spectra of flames")
def carspy() -> Iterator[Case]:
    m, fit = module("carspy.cars_synth"), module("carspy.cars_fit")
    lines, shapes = module("carspy.line_strength"), module("carspy.convol_fcn")
    places = np.linspace(2310.0, 2333.0, 90)

    def synthesized(x: Any) -> Any:
        gas = m.CarsSpectrum(pressure=x[0], init_comp={"N2": x[1], "O2": x[2], "H2O": 0.1})
        found = gas.signal_as(1000.0 * x[3], nu_s=places, js=20, vs=2, del_Tv=100.0 * x[4])[1]
        return 1e4 * found[::6]

    def convolved(x: Any) -> Any:
        gas = m.CarsSpectrum(pressure=x[0])
        mode = {
            "pump_ls": "Lorentzian", "chi_rs": "isolated", "convol": "Kataoka",
            "doppler_effect": False,
            "chem_eq": False,
        }  # fmt: skip
        found = gas.signal_as(
            1000.0 * x[1], x_mol=x[2], nu_s=places, pump_lw=x[3], synth_mode=mode, js=16, vs=2
        )[1]
        return 1e4 * found[::6]

    def levels(x: Any) -> Any:
        strength = lines.LineStrength("N2")
        found = [strength.pop_factor(1000.0 * x[0], 1, np.arange(4.0, 12.0), branch=0)]
        return [100.0 * xp.array(found), lines.linewidth_isolated(x[1], 1000.0 * x[0], 6.0),
                10.0 * strength.doppler_lw(1000.0 * x[0], 2330.0)]  # fmt: skip

    def slits(x: Any) -> Any:
        at = np.linspace(-3.1, 3.3, 12)
        return [
            shapes.asym_Gaussian(at, x[0], x[1], x[2], x[3], x[4], 0.0),
            shapes.voigt_line(at, x[0], x[1], x[3]),
            fit.bg_removal(x[5:11], x[11:17]),
        ]  # fmt: skip

    yield "CarsSpectrum.signal_as", synthesized, [1.1, 0.7, 0.2, 1.8, 0.3]
    yield "CarsSpectrum.signal_as, Kataoka", convolved, [1.1, 1.8, 0.7, 0.9]
    yield "LineStrength.pop_factor", levels, [1.8, 1.1]
    yield "asym_Gaussian", slits, [0.2, 1.1, 2.3, 0.3, 0.2, *SERIES]


@package("inftools", "rare events of simulations")
def inftools() -> Iterator[Case]:
    errors, helpers = module("inftools.analysis.rec_error"), module("inftools.misc.free_help")
    interfaces, wham = module("inftools.misc.infinit_helper"), module("inftools.analysis.toolsWHAM")

    def blocked(x: Any) -> Any:
        running = np.cumsum(x) / np.arange(1, 25)
        half, inefficiency, relative = errors.rec_block_errors(running, 4)
        return [half, inefficiency, *relative]

    def integrated(x: Any) -> Any:
        axes = [np.array([0.0, 0.7, 1.1, 1.9]), np.linspace(0.0, 1.0, 6) ** 1.3]
        return helpers.recursive_simpson(x.reshape(4, 6) ** 1.2, axes)

    def placed(x: Any) -> Any:
        crossing = np.exp(-np.cumsum(0.1 * x[:12]))
        found, local = interfaces.estimate_interface_positions(
            x[12:] + np.arange(12.0), crossing, 0.31
        )
        return [*found, local]

    def weighted(x: Any) -> Any:
        matrix = [
            [0.0, 0.0, top, *x[3 * i : 3 * i + 3]] for i, top in enumerate((0.3, 0.7, 0.9, 0.5))
        ]
        factors = wham.get_WHAMfactors(matrix, [0.1, 0.4, 0.6, 1.0], 3, [*x[12:15]], None)
        return wham.PcrossWHAM2([0.3, 0.7, 0.9, 0.5], [0.2, 0.45, 0.65, 0.8], factors)

    yield "rec_block_errors", blocked, LONG
    yield "estimate_interface_positions", placed, [*SERIES, *(0.01 * np.array(SERIES))]
    yield "PcrossWHAM2", weighted, LONG[:15]
    yield "recursive_simpson", integrated, LONG


@package("sysdynpy", "dynamics of systems")
def sysdynpy() -> Iterator[Case]:
    m, parts = module("sysdynpy.simulator"), module("sysdynpy.system")
    stock, flow = module("sysdynpy.stock").Stock, module("sysdynpy.flow").Flow
    parameter, dynamic = (
        module("sysdynpy.parameter").Parameter,
        module("sysdynpy.dynamicvariable").DynamicVariable,
    )

    def rule(text: str) -> Any:
        return eval(f"lambda: {text}", {})  # noqa: S307  the package fills in the names

    def run(system: Any, steps: int, dt: float) -> Any:
        simulator = m.Simulator(simulation_steps=steps, time_unit="days", dt=dt)
        with contextlib.redirect_stdout(io.StringIO()):
            simulator.run_simulation(system)
        return simulator.get_simulation_results()

    def cooled(x: Any) -> Any:
        system = parts.System("coffee")
        room = parameter("room", x[0], system, "room")
        rate = parameter("rate", x[1], system, "rate")
        cup = stock("cup", x[2], system, "cup", rule("-cooling"))
        cooling = flow("cooling", system, "cooling", rule("rate * (cup - room)"), [rate, cup, room])
        cup.input_elements = [cooling]
        found = run(system, 5, 0.25)
        return [*found["cup"], *found["cooling"]]

    def hunted(x: Any) -> Any:
        system = parts.System("hares")
        birth, bite, death = (
            parameter(name, x[i], system, name) for i, name in enumerate(("birth", "bite", "death"))
        )
        hares = stock("hares", x[3], system, "hares", rule("born - eaten"))
        lynxes = stock("lynxes", x[4], system, "lynxes", rule("0.3 * eaten - starved"))
        meetings = dynamic("meetings", system, "meetings", rule("hares * lynxes"), [hares, lynxes])
        born = flow("born", system, "born", rule("birth * hares"), [birth, hares])
        eaten = flow("eaten", system, "eaten", rule("bite * meetings"), [bite, meetings])
        starved = flow("starved", system, "starved", rule("death * lynxes"), [death, lynxes])
        hares.input_elements, lynxes.input_elements = [born, eaten], [eaten, starved]
        found = run(system, 4, 0.25)
        return [*found["hares"], *found["lynxes"], *found["meetings"]]

    yield "Simulator.run_simulation", hunted, [0.7, 0.4, 0.5, 2.3, 1.2]
    yield "Simulator.run_simulation, one stock", cooled, [2.1, 0.3, 8.7]


@package("ropwr", "piecewise regression")
def ropwr() -> Iterator[Case]:
    m = module("ropwr")
    places = np.array([0.1, 0.4, 0.7, 1.1, 1.6, 1.9, 2.2, 2.7, 3.1, 3.4, 3.8, 4.3])

    def fitted(degree: int, *, joined: bool) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = m.RobustPWRegression(
                objective="l2", degree=degree, continuous=joined, continuous_deriv=False,
                solver="direct", regularization=None,
            )  # fmt: skip
            made.fit(places, x[:12], splits=[1.3, 2.9])
            return [made.predict(x[12:]), made.coef_.ravel()]

        return result

    def smooth(x: Any) -> Any:
        made = m.RobustPWRegression(
            objective="l2", degree=3, continuous=True, continuous_deriv=True, solver="direct",
            regularization=None,
        )  # fmt: skip
        made.fit(places * (1.0 + 0.01 * x[12]), x[:12], splits=[2.05])
        return made.predict(x[13:])

    new = [0.3, 0.9, 1.7, 2.4, 3.6]
    yield "RobustPWRegression", fitted(1, joined=True), [*SERIES, *new]
    yield "RobustPWRegression, quadratic", fitted(2, joined=False), [*SERIES, *new]
    yield "RobustPWRegression, cubic", smooth, [*SERIES, 1.3, *new]


@package("principle-viz", "economics of markets")
def principle_viz() -> Iterator[Case]:
    aggregation = module("principle_viz.core.aggregation")
    factors, goods = (
        module("principle_viz.core.factor_markets"),
        module("principle_viz.core.public_goods"),
    )
    lines = module("principle_viz.core.line").Line
    frontiers, facade = module("principle_viz.core.ppf"), module("principle_viz.api.facade")

    def aggregated(x: Any) -> Any:
        demand = aggregation.market_demand(
            [lines.from_inverse(x[2 * i], -x[2 * i + 1]) for i in range(3)]
        )
        supply = aggregation.market_supply(
            [lines.from_inverse(x[2 * i], x[2 * i + 1]) for i in range(3, 5)], p_max=12.0
        )
        found = aggregation.solve_piecewise_equilibrium(demand, supply)
        return [found.q_star, found.p_star, *aggregation.piecewise_surplus(demand, supply, found)]

    def employed(x: Any) -> Any:
        found = factors.analyze_minimum_wage(
            lines.from_inverse(x[0], -x[1]), lines.from_standard(x[2], -x[3], -1.0), x[4]
        )
        return [found.equilibrium.p_star, found.employment, found.unemployment, found.wage_bill]

    def provided(x: Any) -> Any:
        people = tuple(
            goods.IndividualBenefit(str(i), lines.from_inverse(x[2 * i], -x[2 * i + 1]))
            for i in range(3)
        )
        found = goods.analyze_public_good(people, lines.from_inverse(x[6], x[7]), samples=5)
        return [
            found.efficient_quantity, found.efficient_marginal_value, found.free_rider_gap,
            *(one.social_marginal_benefit for one in found.points[:3]),
        ]  # fmt: skip

    def produced(x: Any) -> Any:
        frontier = frontiers.ProductionPossibilitiesFrontier(x[0], x[1], x[2])
        grown = frontiers.analyze_ppf_growth(
            frontier, frontiers.PPFGrowthScenario(x[3], x[4]), samples=6
        )
        demand = lines.from_inverse(x[0], -x[2])
        return [
            frontier.opportunity_cost_x(1.7), *[one[1] for one in grown.shifted_points],
            facade.compute_point_elasticity(demand, x[5]), facade.compute_arc_elasticity(*x[2:6]),
        ]  # fmt: skip

    yield "solve_piecewise_equilibrium", aggregated, [
        9.3, 1.7, 7.1, 0.9, 5.2, 2.1, 1.3, 0.8, 2.2, 1.9,
    ]  # fmt: skip
    yield "analyze_minimum_wage", employed, [9.3, 1.7, 0.8, 1.1, 5.9]
    yield "analyze_public_good", provided, [4.3, 0.7, 3.1, 0.9, 2.2, 1.1, 1.3, 0.8]
    yield "analyze_ppf_growth", produced, [4.1, 6.3, 1.7, 0.2, 0.3, 1.2]


@package("sailboat-hydro", "stability of sailboats")
def sailboat_hydro() -> Iterator[Case]:
    m = module("sailboat_hydro.formulas")

    def ratios(x: Any) -> Any:
        return [
            0.1 * m.comfort_ratio(
                displacement_kg=1e3 * x[0], lwl_m=x[1], loa_m=x[2], beam_m=x[3]
            ),
            m.capsize_screening(x[3], 1e3 * x[0]),
        ]  # fmt: skip

    def speeds(x: Any) -> Any:
        return [
            m.hull_speed_kn(x[1]), 0.01 * m.displacement_length_ratio(1e3 * x[0], x[1]),
            m.sail_area_displacement(10.0 * x[2], 1e3 * x[0]),
        ]  # fmt: skip

    yield "comfort_ratio", ratios, [6.3, 8.7, 10.4, 3.2]
    yield "displacement_length_ratio", speeds, [6.3, 8.7, 5.4]


@package("returnsportfolio", "returns of portfolios")
def returnsportfolio() -> Iterator[Case]:
    m, pandas = module("back_test.backtest"), module("pandas")
    dates = pandas.date_range("2024-01-01", periods=5, freq="D")

    def returns(x: Any) -> Any:
        changes = 0.02 * (x - 4.0)
        return pandas.DataFrame(changes.reshape(5, 2), index=dates, columns=["a", "b"])

    def rebalanced(x: Any) -> Any:
        weights = pandas.DataFrame(
            x[10:].reshape(2, 2), index=[dates[0], dates[2]], columns=["a", "b"]
        )
        return 10.0 * m.return_portfolio(returns(x[:10]), weights).to_numpy()

    def informed(x: Any) -> Any:
        found = m.return_portfolio(returns(x[:10]), [*x[10:12]], value0=x[12], include_info=True)
        return [
            found[1].iloc[3].to_numpy(),
            found[4].iloc[4].to_numpy(),
            found[5].iloc[2].to_numpy(),
        ]

    def fallen(x: Any) -> Any:
        held = pandas.DataFrame({"returns": 0.02 * (x - 4.0)}, index=pandas.RangeIndex(12))
        found = m.tail_metrics(held, quantile=0.2, mdd=False)
        return [found.to_numpy(), m.performance_metrics(held, annualization=12).to_numpy()]

    yield "return_portfolio", rebalanced, [*LONG[:10], 0.3, 0.5, 0.6, 0.2]
    yield "return_portfolio, include_info", informed, [*LONG[:10], 0.3, 0.5, 2.3]
    yield "tail_metrics", fallen, SERIES


@package("geometry-box", "geometry of shapes")
def geometry_box() -> Iterator[Case]:
    m, points = module("geometry_box.shapes"), module("geometry_box.points")

    def polygon(x: Any) -> Any:
        made = m.RegularPolygon(5, x[0], x[1], centre=(x[2], x[3]), pivot_angle=x[4])
        made.eval_locus(6)
        return [made.locus.points[::7], made.shape_factor(), made.area]

    def ellipse(x: Any) -> Any:
        made = m.Ellipse(x[0], x[1], x[2], x[3], centre=(x[4], x[5]), smj_angle=x[6])
        return [made.eval_locus(num_points=9).locus.points, made.perimeter, made.shape_factor()]

    def rectangle(x: Any) -> Any:
        made = m.Rectangle(x[0], x[1], x[2], centre=(x[3], x[4]), smj_angle=x[5]).eval_locus(4)
        made.locus.close_loop()
        return [made.locus.points[::4], made.perimeter, made.area]

    def reflected(x: Any) -> Any:
        cloud = points.Points(x[5:].reshape(6, 2)).transform(x[0], x[1], 0.3)
        return cloud.reflect((x[1], x[2]), (x[3], x[4])).points

    yield "RegularPolygon.eval_locus", polygon, [0.15, 1.3, 0.4, -0.7, 0.3]
    yield "Ellipse.eval_locus", ellipse, [2.3, 1.1, 0.2, 5.1, 0.4, -0.7, 0.3]
    yield "Rectangle.eval_locus", rectangle, [2.3, 1.1, 0.4, 0.4, -0.7, 0.3]
    yield "Points.reflect", reflected, [0.3, 0.7, -0.4, 1.9, 0.8, *SERIES]


@package("pymonics", "harmonics of power systems")
def pymonics() -> Iterator[Case]:
    m = module("pymonics")

    def filtered(x: Any) -> Any:
        made = m.Passive_filters()
        return [
            1e3 * xp.array(made.single_tuned_filter(x[0], 10.0 * x[1], x[2], 50.0 * x[3], x[4])),
            xp.array(made.high_pass_filter(x[0], 10.0 * x[1], x[2], 50.0 * x[3], x[4])),
        ]  # fmt: skip

    def generated(x: Any) -> Any:
        np.random.seed(5)  # noqa: NPY002  the package draws from it
        made = m.Signal_generator(100.0, 0.12, 10.0 * x[:3], x[3:6])
        return [made.generateSin(10.0 * x[6]), made.generateCos(10.0 * x[6])]

    yield "Signal_generator", generated, [0.5, 1.3, 2.2, 1.0, 0.4, 0.2, 3.1]
    yield "Passive_filters", filtered, [5.0, 1.3, 30.0, 1.02, 4.1]


@package("spatial-interpolators", "interpolation in space")
def spatial_interpolators() -> Iterator[Case]:
    m = module("spatial_interpolators")
    across, down = np.cos(2.4 * np.arange(12.0)), np.sin(2.4 * np.arange(12.0))
    radii = np.sqrt(np.arange(1.0, 13.0))
    east, north = radii * across, radii * down
    grid = np.meshgrid(np.array([-1.3, 0.2, 1.7]), np.array([-0.9, 1.1]))

    def barnes(x: Any) -> Any:
        return m.barnes_objective(east, north, x[:12], *grid, x[12], x[13], runs=2)

    def splines(x: Any) -> Any:
        return [
            m.biharmonic_spline(east + 0.01 * x[12:], north, x[:12], *grid),
            m.biharmonic_spline(east, north, x[:12], *grid, tension=0.3),
        ]  # fmt: skip

    def radial(x: Any) -> Any:
        return [
            m.radial_basis(east, north, x[:12], *grid, method="multiquadric", epsilon=x[12],
                           smooth=x[13]),
            m.radial_basis(east, north, x[:12], *grid, method="thin_plate", polynomial=1),
        ]  # fmt: skip

    def weighted(x: Any) -> Any:
        return m.shepard_interpolant(x[:12] * across, x[:12] * down, x[12:24], *grid, power=x[24])

    yield "barnes_objective", barnes, [*SERIES, 1.3, 1.7]
    yield "biharmonic_spline", splines, LONG
    yield "radial_basis", radial, [*SERIES, 1.9, 0.1]
    yield "shepard_interpolant", weighted, [*LONG, 1.6]


@package("surya-siddhanta", "astronomy of ancient India")
def surya_siddhanta() -> Iterator[Case]:
    true, places = (
        module("suryasiddhanta.ch02_true_places"),
        module("suryasiddhanta.ch03_direction_place_time"),
    )
    solar, conjunctions = (
        module("suryasiddhanta.ch05_solar_eclipses"),
        module("suryasiddhanta.ch07_conjunctions"),
    )
    start = 2460310.5

    def longitudes(x: Any) -> Any:
        slow = true.manda_longitude("Mars", 10.0 * x[0], 10.0 * x[1])
        return [
            0.01 * xp.array(slow),
            0.1 * xp.array(true.sighra_correction("Mars", 10.0 * x[2], 10.0 * x[3])),
            0.1 * xp.array(true.manda_correction("Moon", 10.0 * x[0], 10.0 * x[3])),
        ]  # fmt: skip

    def observed(x: Any) -> Any:
        right, declination = places.ecliptic_to_equatorial(10.0 * x[0], x[1])
        sidereal = places.local_sidereal_time(start + x[2], 10.0 * x[3])
        return 0.01 * xp.array([
            *places.equatorial_to_horizontal(right, declination, sidereal, 10.0 * x[4]),
            places.lagna(start + x[2], 10.0 * x[4], 10.0 * x[3])[0],
            places.cara(10.0 * x[4], declination),
            10.0 * places.day_length_ghatis(10.0 * x[4], 10.0 * x[0]),
        ])  # fmt: skip

    def eclipsed(x: Any) -> Any:
        return [
            0.1 * solar.nati_correction(start + 0.37, 10.0 * x[0], 10.0 * x[1]),
            0.01 * xp.array(solar.nonagesimal(10.0 * x[1], 10.0 * x[0])),
            0.1 * solar.lambana_factor(x[2], 10.0 * x[3]),
        ]  # fmt: skip

    yield "manda_longitude", longitudes, [7.3, 12.9, 8.1, 14.6]
    yield "equatorial_to_horizontal", observed, [7.3, 2.1, 0.37, 7.7, 2.3]
    yield "nati_correction", eclipsed, [2.3, 7.7, 12.0, 3.4]
    yield "angular_separation", lambda x: 0.01 * conjunctions.angular_separation(*(10.0 * x)), [
        7.3, 0.4, 9.1, -1.3,
    ]  # fmt: skip


@package("ephyspy", "potentials of neurons")
def ephyspy() -> Iterator[Case]:
    m = module("ephyspy.allen_sdk.ephys_extractor").EphysSweepFeatureExtractor
    times = np.arange(0.0, 0.15, 5e-5)
    current = np.where((times > 0.03) & (times < 0.12), 100.0, 0.0)
    rising = (1.0 - np.exp(-(times - 0.03) / 0.02)) * (current > 0.0)
    sagging = 1.0 - np.exp(-(times - 0.03) / 0.05)

    def fired(x: Any) -> Any:
        voltage = -70.0 * x[0] + 20.0 * x[1] * rising
        for i, peak in enumerate((0.06, 0.09)):
            voltage = voltage + 80.0 * x[2 + i] * np.exp(-(((times - peak) / 0.0006) ** 2))
            voltage = voltage - 6.0 * x[4] * np.exp(-(((times - peak - 0.004) / 0.002) ** 2))
        made = m(times, voltage, current, start=0.03, end=0.12, filter=5.0)
        made.process_spikes()
        names = ("peak_v", "upstroke", "downstroke", "trough_v", "upstroke_downstroke_ratio")
        return [0.01 * made.spike_feature(name) for name in names]

    def relaxed(x: Any) -> Any:
        voltage = -70.0 * x[0] - 20.0 * x[1] * rising * (1.0 - 0.3 * x[2] * sagging)
        made = m(times, voltage, -current, start=0.03, end=0.12, filter=5.0)
        return [made.estimate_sag(), 0.01 * made.voltage_deflection("min")[0],
                0.01 * made.sweep_feature("v_baseline")]  # fmt: skip

    yield "EphysSweepFeatureExtractor.process_spikes", fired, [1.0, 1.1, 0.95, 1.05, 1.2]
    yield "EphysSweepFeatureExtractor.estimate_sag", relaxed, [1.0, 1.1, 0.9]


@package("grale", "lenses of gravity")
def grale() -> Iterator[Case]:
    m, cosmology, units = module("grale.core"), module("astropy.cosmology"), module("astropy.units")

    def ranged(x: Any) -> Any:
        made = m.GWEvent(x[0], x[1])
        made.chirp_mass()
        with contextlib.redirect_stdout(io.StringIO()):
            found = made.redshift_range(m1_range=x[2:5], m2_range=x[5:8])
        return [found["chirp_masses"], 10.0 * found["redshifts"]]

    def lensed(x: Any) -> Any:
        universe = cosmology.FlatLambdaCDM(H0=70.0 * x[0], Om0=0.3 * x[1])
        made = m.LensingCalculator(universe, 1000.0 * x[2] * units.Mpc, 200.0 * x[3], x[4])
        with contextlib.redirect_stdout(io.StringIO()):
            found = made.compute_over_redshift_range(x[6:], x[5])
        return [1e-3 * found["DS"], 1e-3 * found["DLS"], found["r_E"], found["mu_geo"]]

    def magnified(x: Any) -> Any:
        universe = cosmology.FlatLambdaCDM(H0=70.0 * x[0], Om0=0.3)
        made = m.LensingCalculator(universe, 1000.0 * x[1] * units.Mpc, 200.0 * x[2], x[3])
        near = made.angular_diameter_distance_z1z2(x[4], x[5])
        radius = made.einstein_radius(near, made.angular_diameter_distance(x[5]))
        return [
            radius.value, made.magnifying_power(radius),
            made.magnification(made.luminosity_distance(x[5])).value,
            1e-3 * made.comoving_distance_diff(x[5], x[4]).value,
        ]  # fmt: skip

    yield "compute_over_redshift_range", lensed, [1.02, 0.97, 2.3, 1.1, 3.1, 0.4, 0.7, 0.9, 1.3]
    yield "einstein_radius", magnified, [1.02, 2.3, 1.1, 3.1, 0.4, 0.9]
    yield "GWEvent.redshift_range", ranged, [1.7, 2.3, 1.2, 1.4, 1.9, 2.0, 2.5, 2.7]


@package("petropt", "engineering of petroleum")
def petropt() -> Iterator[Case]:
    m = module("petropt.correlations")
    saturation, shale = (
        module("petropt.petrophysics.saturation"),
        module("petropt.petrophysics.vshale"),
    )
    porosity = module("petropt.petrophysics.porosity")

    def fluids(x: Any) -> Any:
        ratio = m.standing_rs(1e3 * x[0], 100.0 * x[1], 10.0 * x[2], x[3])
        return [
            1e-3 * ratio, m.standing_bo(ratio, 100.0 * x[1], 10.0 * x[2], x[3]),
            1e-3 * m.standing_bubble_point(10.0 * x[2], x[3], 100.0 * x[1], rs=400.0),
        ]  # fmt: skip

    def declined(x: Any) -> Any:
        rates = m.arps_decline(x[0], x[1], x[2], x[3:])
        return [rates, m.arps_decline(x[0], x[1], 1, x[3:]), m.gas_pz(x[0], 30.0, x[3:])]

    def logged(x: Any) -> Any:
        found = porosity.density_porosity(x[0], x[1], x[2])
        volume = shale.vshale_from_gr(10.0 * x[3], 20.0, 120.0, method="larionov_tertiary")
        return [
            found, saturation.archie_sw(10.0 * x[4], found, x[5], m=x[6]), volume,
            shale.vshale_from_gr(10.0 * x[3], 10.0 * x[7], 120.0, method="clavier"),
        ]  # fmt: skip

    yield "dranchuk_z_factor", lambda x: m.dranchuk_z_factor(x[0], x[1]), [2.3, 1.6]
    yield "standing_bo", fluids, [2.1, 1.8, 3.4, 0.75]
    yield "arps_decline", declined, [2.1, 0.3, 0.6, 0.5, 1.7, 4.2, 9.1]
    yield "archie_sw", logged, [2.31, 2.66, 1.05, 5.3, 1.9, 0.04, 1.9, 2.2]


@package("gapstatistics", "numbers of clusters")
def gapstatistics() -> Iterator[Case]:
    m = module("gapstatistics.gapstatistics")
    scatter = 0.4 * np.cos(2.3 * np.arange(16.0)).reshape(8, 2)

    def gaps(**options: Any) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            np.random.seed(7)  # noqa: NPY002  the package draws from it
            points = np.tile(x.reshape(2, 2), (4, 1)) + scatter
            made = m.GapStatistics(return_params=True, **options)
            found = made.fit_predict(2, points, n_iterations=2)[1]
            return [found["gaps"], found["Wks"], found["sim_sks"]]

        return result

    yield "GapStatistics.fit_predict", gaps(), [0.3, 0.7, 5.9, 3.1]
    yield "GapStatistics.fit_predict, cityblock", gaps(
        distance_metric="cityblock", pca_sampling=False
    ), [0.3, 0.7, 5.9, 3.1]  # fmt: skip


@package("p-winds", "winds of exoplanets")
def p_winds() -> Iterator[Case]:
    m, hydrogen = module("p_winds.parker"), module("p_winds.hydrogen")
    transit = module("p_winds.transit")
    radii = np.linspace(1.0, 12.0, 20)

    def tidal(x: Any) -> Any:
        speed = m.sound_speed(1e4 * x[0], x[1])
        sonic = m.radius_sonic_point_tidal(x[2], speed, x[3], 0.05 * x[4])
        found = m.structure_tidal(radii[::4] * 1.4 / sonic, speed, sonic, x[2], x[3], 0.05 * x[4])
        return [
            *found,
            0.1 * speed,
            sonic,
            1e14 * m.density_sonic_point(10.0 ** x[5], sonic, speed),
        ]

    def ionized(x: Any) -> Any:
        return hydrogen.ion_fraction(
            radii[:6], x[0], 1e4 * x[1], 0.9 * x[2], 10.0 ** x[3], x[4], 0.7, 1.07, 0.05,
            flux_euv=1e3 * x[5], method="RK45", rtol=3e-13, atol=3e-13,
        )[2::4]  # fmt: skip

    def obscured(x: Any) -> Any:
        speed, density = m.structure(radii / 3.1)
        lines = {
            "oscillator_strength": 0.3,
            "einstein_coefficient": 1.02e7,
            "particle_mass": 6.65e-27,
        }
        found = transit.optical_depth_2d(
            1e8 * radii, 1e-15 * x[0] * density, 1e4 * x[1] * speed, 1.0830e-6,
            wavelength_grid=1e-6 * np.array([1.08295, 1.08301, 1.08309]),
            gas_temperature=1e4 * x[2],
            z_grid_size=12, bulk_los_velocity=1e3 * x[3], **lines,
        )  # fmt: skip
        return 1e24 * found[:, ::5]

    yield "hydrogen.ion_fraction", ionized, [1.39, 0.91, 1.0, 10.27, 0.73, 1.1]
    yield "parker.structure_tidal", tidal, [0.91, 0.7, 0.73, 1.07, 0.95, 10.27]
    yield (
        "parker.structure",
        lambda x: xp.concatenate(m.structure(x)),
        [0.4, 0.7, 0.93, 1.2, 2.3, 4.1],
    )
    yield "transit.optical_depth_2d", obscured, [1.3, 0.9, 0.8, 0.7]


@package("pybispectra", "interactions of signals")
def pybispectra() -> Iterator[Case]:
    m, utils = module("pybispectra"), module("pybispectra.utils")
    times = np.arange(40.0)

    def spectra(x: Any) -> Any:
        waves = [
            np.stack(
                [
                    x[0] * np.sin(0.3 * times + epoch) + x[1] * np.cos(0.9 * times + epoch**2),
                    x[2] * np.cos(1.2 * times + 0.5 * epoch)
                    + 0.2 * np.cos(0.7 * times**2 * (1.0 + epoch)),
                ]
            )
            for epoch in (0.1, 1.0, 2.3)
        ]
        return utils.compute_fft(np.stack(waves), 40.0, n_points=40, verbose=False)

    def bispectrum(x: Any) -> Any:
        made = m.Bispectrum(*spectra(x), 40.0, verbose=False)
        made.compute(indices=((0,), (1,), (1,)), f1s=(2.0, 4.0), f2s=(3.0, 5.0))
        return made.results.get_results()[0, :2]  # where f2 is not below f1

    def coupled(x: Any) -> Any:
        made = m.PAC(*spectra(x), 40.0, verbose=False)
        made.compute(indices=((0,), (1,)), f1s=(2.0, 4.0), f2s=(6.0, 8.0))
        return 1e-2 * made.results.get_results()

    yield "Bispectrum.compute", bispectrum, [1.1, 0.4, 0.8]
    yield "PAC.compute", coupled, [1.1, 0.4, 0.8]
    yield "compute_fft", lambda x: 0.1 * spectra(x)[0], [1.1, 0.4, 0.8]


@package("styne", "Bayesian inference of fields")
def styne() -> Iterator[Case]:
    stationary, grids = module("styne.statistics.stationary"), module("styne.utility.grid")
    processes = module("styne.gp.gaussianprocess")
    spde, embedding = module("styne.gp.spde"), module("styne.gp.ce")
    covariance = module("styne.statistics.covariance")
    places = np.array([0.0, 0.3, 0.7, 1.2, 1.6, 2.1])

    def drawn(x: Any) -> Any:
        shape = stationary.MaternCovariance1D(x[0], 1.5, x[1])
        process = processes.GaussianProcess.direct(grids.Grid(places[:, None]), shape, nugget=0.01)
        field = process.sampler.draw(np.random.default_rng(3))
        process.parameter.coordinate = field.coordinate
        new = grids.Grid(np.array([[0.2], [0.9], [1.9]]))
        return [
            process.engine.apply_jacobian(x[2:], None),
            process.engine.create_predictor(process, new).mean(),
        ]  # fmt: skip

    def solved(x: Any) -> Any:
        line = spde.SPDEEngine1D(places + 0.1 * x[:6], x[6], x[7], bc=0)
        square = spde.SPDEEngine2D(places[:4], places[:5], x[6], x[7])
        return [line.draw(np.random.default_rng(3)), square.draw(np.random.default_rng(4))]

    def embedded(x: Any) -> Any:
        engine = embedding.CirculantEmbeddingEngine1D(
            of_one(lambda t: stationary.matern_covariance(t, x[0], 1.5, x[1])), 9, domExt=1.0,
            autotunePadding=False, padding=8,
        )  # fmt: skip
        return engine.draw(np.random.default_rng(3))

    def dense(x: Any) -> Any:
        root = np.tril(x[:16].reshape(4, 4)) + 4.0 * np.eye(4)
        made = covariance.DenseCovarianceMatrix(0.1 * root @ root.T)
        return [
            made.log_determinant(), made.apply_inverse(x[16:20]), made.quadratic_form(x[16:20]),
            stationary.matern_fourier(np.array([0.3, 1.1]), x[20], 2.3, x[21]),
            stationary.matern_covariance(np.array([0.3, 1.1]), x[20], 2.3, x[21]),
        ]  # fmt: skip

    yield "GaussianProcess.direct", drawn, [0.7, 1.3, *(0.2 * np.array(SERIES[:6]))]
    yield "SPDEEngine1D.draw", solved, [*(0.1 * np.array(SERIES[:6])), 1.7, 0.8]
    yield "CirculantEmbeddingEngine1D.draw", embedded, [0.2, 1.3]
    yield "DenseCovarianceMatrix", dense, [*(0.3 * np.array(LONG[:20])), 0.7, 1.3]


@package("geodistpy", "distances on the Earth")
def geodistpy() -> Iterator[Case]:
    m = module("geodistpy.distance")

    def distances(x: Any) -> Any:
        return m.geodist(
            10.0 * x[:6].reshape(3, 2), 10.0 * x[6:].reshape(3, 2), metric="km", ellipsoid="GRS-80"
        )

    def reached(x: Any) -> Any:
        found = m.destination((10.0 * x[0], 10.0 * x[1]), 10.0 * x[2], 100.0 * x[3], metric="km")
        return 0.1 * xp.array([
            *found, m.bearing((10.0 * x[0], 10.0 * x[1]), found),
            *m.midpoint((10.0 * x[0], 10.0 * x[1]), (31.0, 7.0)),
        ])  # fmt: skip

    def matrix(x: Any) -> Any:
        places = 10.0 * x.reshape(4, 2)
        return 1e-3 * xp.array([
            m.geodist_matrix(places, metric="km"), m.greatcircle_matrix(places, metric="km"),
        ])  # fmt: skip

    yield "geodist", lambda x: 1e-3 * distances(x), SERIES
    yield "destination", reached, [4.3, 1.1, 6.2, 7.7]
    yield "geodist_matrix", matrix, [4.3, 1.1, 5.2, 2.3, 3.1, -0.7, -2.2, 1.9]


@package("macroecon-tools", "series of economies")
def macroecon_tools() -> Iterator[Case]:
    m, pandas = module("macroecon_tools"), module("pandas")
    dates = pandas.date_range("2010-03-31", periods=12, freq="QE")

    def series(x: Any) -> Any:
        data = pandas.Series(x, index=dates, name="output")
        return m.Timeseries(data, is_copy=True, source_freq="quarterly")

    def grown(x: Any) -> Any:
        made = series(x)
        return [0.01 * made.logdiff(1).dropna().to_numpy(), made.diff(2).dropna().to_numpy()]

    def filtered(x: Any) -> Any:
        return series(x).hp_filter_detrend().to_numpy()

    def moments(x: Any) -> Any:
        table = m.TimeseriesTable({"a": series(x), "b": series(x[::-1] ** 1.2)})
        yearly = series(x).aggregate("YE", "mean").dropna().to_numpy()
        return [table.corr("a", "b"), yearly]

    def linear(x: Any) -> Any:
        return xp.array(series(x).linear_filter("30-Jun-2010", "30-Jun-2012").to_numpy())

    yield "Timeseries.hp_filter_detrend", filtered, SERIES
    yield "Timeseries.logdiff", grown, SERIES
    yield "TimeseriesTable.corr", moments, SERIES
    yield "Timeseries.linear_filter", linear, SERIES


@package("gstatsim", "geostatistics of ice")
def gstatsim() -> Iterator[Case]:
    m, pandas = module("gstatsim"), module("pandas")
    turns = np.arange(12.0)
    east, north = (1.7 * np.sqrt(turns + 1.0) * wave(2.4 * turns) for wave in (np.cos, np.sin))
    targets = np.array([[0.5, 0.7], [2.2, -1.1]])

    def kriged(x: Any) -> Any:
        data = pandas.DataFrame({"x": east, "y": north, "z": np.cos(turns) * x[0] + x[1]})
        vario = [30.0 * x[2], 0.1 * x[3], 9.0 * x[4], 5.0 * x[5], x[6], "Exponential"]
        return m.Interpolation.skrige(targets, data, "x", "y", "z", 16, vario, 20.0, quiet=True)

    def simulated(x: Any) -> Any:
        data = pandas.DataFrame({"x": east + 0.01 * x[:12], "y": north, "z": np.cos(turns)})
        vario = [30.0, 0.1, 9.0, 5.0, x[12], "Gaussian"]
        return m.Interpolation.okrige(targets[:1], data, "x", "y", "z", 16, vario, 20.0, quiet=True)

    def covariances(x: Any) -> Any:
        turned = m.make_rotation_matrix(30.0 * x[0], 9.0 * x[1], 5.0 * x[2])
        places = np.stack([east, north], axis=1)[:5] + 0.1 * x[5:15].reshape(5, 2)
        vario = [30.0 * x[0], 0.1 * x[3], 9.0 * x[1], 5.0 * x[2], x[4], "Gaussian"]
        return m.Covariance.make_covariance_matrix(places, vario, turned)

    yield "Interpolation.skrige", kriged, [1.2, 0.7, 1.1, 0.9, 1.2, 0.8, 1.3]
    yield "Interpolation.okrige", simulated, [*SERIES, 1.3]
    yield "Covariance.make_covariance_matrix", covariances, [1.1, 0.9, 1.2, 0.8, 1.3, *SERIES[:10]]


@package("pyposolver", "mathematics and physics")
def pyposolver() -> Iterator[Case]:
    equations, roots = (
        module("pyposolver.maths.differential_equations"),
        module("pyposolver.maths.root_finding"),
    )
    integration, fourier = (
        module("pyposolver.maths.integration"),
        module("pyposolver.maths.fourier_transforms"),
    )
    algebra = module("pyposolver.maths.linear_algebra")

    def moved(x: Any) -> Any:
        return equations.runge_kutta_method(
            of_two(lambda t, y: x[0] * y * (1.0 - y / x[1]) - 0.1 * t), (0.0, x[2]),
            [*np.linspace(0.0, 3.0, 8)],
        )  # fmt: skip

    def solved(x: Any) -> Any:
        return roots.newton_raphson_method(
            of_one(lambda t: t**3 + x[0] * t - x[1]), of_one(lambda t: 3.0 * t**2 + x[0]), x[2],
            tol=1e-14,
        )  # fmt: skip

    def transformed(x: Any) -> Any:
        found = fourier.discrete_fourier_transform(x)
        return [found, np.real(fourier.inverse_discrete_fourier_transform(found * found))]

    def multiplied(x: Any) -> Any:
        rows = [[*x[:2]], [*x[2:4]], [*x[4:6]]]
        area = integration.trapezoidal_rule(of_one(lambda t: x[0] * t**2), x[1], x[2], 12)
        return [
            *algebra.matrix_multiply(rows, [[*x[6:9]], [*x[9:12]]]), 0.1 * area,
            *algebra.cross_product(x[:3], x[3:6]),
        ]  # fmt: skip

    yield "runge_kutta_method", moved, [1.1, 2.3, 0.4]
    yield "newton_raphson_method", solved, [1.3, 2.1, 0.9]
    yield "discrete_fourier_transform", transformed, SERIES
    yield "matrix_multiply", multiplied, SERIES


@package("icw-index", "indices of outcomes")
def icw_index() -> Iterator[Case]:
    m, pandas = module("icw.icw"), module("pandas")
    control = np.arange(12) % 3 != 0

    def arrays(x: Any) -> Any:
        return m.icw_index([x[:12], x[12:] ** 1.2])

    def columns(x: Any) -> Any:
        table = pandas.DataFrame({"a": x[:12], "b": x[12:], "c": np.cos(2.1 * np.arange(12.0))})
        return m.icw_index(
            [table["a"].to_numpy(), table["b"].to_numpy(), table["c"].to_numpy()],
            reference_mask=control,
        )

    yield "icw_index", arrays, LONG
    yield "icw_index, reference_mask", columns, LONG


@package("pymsofa", "standards of astronomy")
def pymsofa() -> Iterator[Case]:
    m = module("PyMsOfa")
    day = 2459580.5

    def observed(x: Any) -> Any:
        found = m.pymAtco13(
            x[0], x[1], 1e-5 * x[2], 1e-5 * x[3], 0.1 * x[4], 10.0 * x[5], day, 0.37, 0.1, x[6],
            x[7], 1000.0, 1e-6, 2e-6, 900.0 * x[8], 12.0, 0.4, 0.55,
        )  # fmt: skip
        return [*found[:6]]

    def attitude(x: Any) -> Any:
        return [
            m.pymPnm06a(day, 10.0 * x[0]),
            m.pymC2t06a(day, 10.0 * x[0], day, 10.0 * x[0] - 0.0008, 1e-6 * x[1], 1e-6 * x[2])[0],
        ]

    def planets(x: Any) -> Any:
        helio, bary = m.pymEpv00(day, 10.0 * x[0])
        return [helio, bary, 10.0 * xp.array(m.pymPlan94(day, 10.0 * x[0], 4)[0])]

    def moved(x: Any) -> Any:
        found = m.pymStarpv(x[0], x[1], 1e-5 * x[2], 1e-5 * x[3], x[4], 10.0 * x[5])[0]
        later = m.pymPmsafe(
            x[0], x[1], 1e-5 * x[2], 1e-5 * x[3], x[4], 10.0 * x[5], day, 0.0, day + 9000.0, 0.0
        )
        return [1e-5 * xp.array(found), *later[:2], *m.pymHd2ae(x[0], x[1], x[6])]

    star = [0.7, 0.4, 1.3, -0.9, 0.8, 1.7]
    yield "pymAtco13", observed, [*star, 0.3, 0.8, 1.1]
    yield "pymPnm06a", attitude, [0.37, 1.2, 0.7]
    yield "pymEpv00", planets, [0.37]
    yield "pymStarpv", moved, [*star, 0.9]


@package("materialyoucolor", "appearance of colours")
def materialyoucolor() -> Iterator[Case]:
    cam, conditions = (
        module("materialyoucolor.hct.cam16").Cam16,
        module("materialyoucolor.hct.viewing_conditions").ViewingConditions,
    )
    contrast = module("materialyoucolor.contrast.contrast").Contrast
    utils, curves = (
        module("materialyoucolor.utils.color_utils"),
        module("materialyoucolor.dynamiccolor.contrast_curve"),
    )

    def numbers(made: Any) -> Any:
        return 0.01 * xp.array(
            [made.hue, made.chroma, made.j, made.m, made.s, made.jstar, made.astar]
        )

    def seen(x: Any) -> Any:
        first = cam.from_xyz_in_viewing_conditions(*(10.0 * x[:3]), conditions.DEFAULT)
        last = cam.from_xyz_in_viewing_conditions(*(10.0 * x[3:]), conditions.DEFAULT)
        return [*numbers(first), *numbers(last), 0.1 * first.distance(last)]

    def inverted(x: Any) -> Any:
        made = cam.from_ucs(10.0 * x[0], 10.0 * x[1], 10.0 * x[2])
        other = cam.from_jch(10.0 * x[3], 10.0 * x[4], 100.0 * x[5])
        places = made.xyz_in_viewing_conditions(conditions.DEFAULT)
        return [*numbers(made), *numbers(other), *(0.1 * xp.array(places))]

    def contrasted(x: Any) -> Any:
        return [
            contrast.ratio_of_tones(10.0 * x[0], 10.0 * x[1]),
            0.1 * contrast.lighter(10.0 * x[0], x[2]),
            0.1 * contrast.darker(10.0 * x[1], x[2]), utils.lstar_from_y(x[0]),
            curves.ContrastCurve(*x[2:6]).get(0.37),
        ]  # fmt: skip

    def viewed(x: Any) -> Any:
        made = conditions.make([95.0, 100.0, 109.0], 10.0 * x[0], 50.0 * x[1], x[2])
        return numbers(cam.from_xyz_in_viewing_conditions(30.0, 25.0, 12.0, made))

    yield "Cam16.from_xyz_in_viewing_conditions", seen, [3.1, 2.5, 1.2, 1.9, 2.8, 4.3]
    yield "Cam16.from_ucs", inverted, [6.1, 1.2, -0.7, 5.3, 2.9, 2.1]
    yield "ViewingConditions.make", viewed, [1.2, 0.9, 1.7]
    yield "Contrast.lighter", contrasted, [3.1, 6.7, 2.9, 4.4, 7.2, 11.3]


@package("ammber", "phases of alloys")
def ammber() -> Iterator[Case]:
    m = module("ammber.BinarySystems")
    places = np.linspace(0.05, 0.95, 12)

    def sampled(x: Any) -> Any:
        phase = m.BinaryIsothermalDiscretePhase("liquid", places, x[:12])
        found = phase.resample_near_xpoint(0.47, xdist=0.2, npts=5)
        return [phase.free_energy(x[12:]), found.Gdata]

    def near(x: Any) -> Any:
        system = m.BinaryIsothermalDiscreteSystem("AL", "CU")
        system.add_phase("solid", places, 0.02 * x[:12] + 9.0 * (places - 0.3) ** 2)
        system.add_phase("liquid", places, 0.02 * x[12:] + 8.0 * (places - 0.7) ** 2)
        found = system.resample_near_equilibrium(0.52, xdist=0.1, npts=5)
        return [one.Gdata for one in found.phases.values()]

    def mixed(x: Any) -> Any:
        phases = {
            name: m.BinaryIsothermal2ndOrderPhase(
                name, fmin=x[i], kwell=10.0 * x[i + 2], cmin=x[i + 4]
            )
            for i, name in enumerate(("solid", "liquid"))
        }
        system = m.BinaryIsothermal2ndOrderSystem("AL", "CU", phases)
        found = system.to_discrete(npts=41).get_equilibrium_system()
        return [10.0 * one.Gdata[::3] for one in found.phases.values()]

    yield "resample_near_equilibrium", near, LONG
    yield "BinaryIsothermalDiscretePhase.free_energy", sampled, [*SERIES, 0.21, 0.53, 0.77]
    yield "get_equilibrium_system", mixed, [0.3, 0.2, 1.3, 0.9, 0.27, 0.71]


@package("ionics-fits", "data of trapped ions")
def ionics_fits() -> Iterator[Case]:
    models = module("ionics_fits.models.polynomial")
    rabi, molmer = (
        module("ionics_fits.models.laser_rabi"),
        module("ionics_fits.models.molmer_sorensen"),
    )
    normal, physics = module("ionics_fits.normal"), module("ionics_fits.models.quantum_phys")
    times = np.linspace(0.1, 4.0, 12)

    def flopped(x: Any) -> Any:
        model = rabi.LaserFlopTimeThermal(start_excited=False, sideband_index=0, n_max=12)
        return model(
            times, P_readout_e=x[0], P_readout_g=x[1], eta=x[2], omega=x[3], tau=10.0 * x[4],
            t_dead=0.01 * x[5], delta=x[6], n_bar=x[7],
        )  # fmt: skip

    def entangled(x: Any) -> Any:
        model = molmer.MolmerSorensenTime(num_qubits=2, start_excited=False, walsh_idx=0)
        return model(times, omega=x[0], n_bar=x[1], delta=x[2])

    def fitted(x: Any) -> Any:
        found = normal.NormalFitter(
            times, x, models.Polynomial(2),
            curve_fit_args={"jac": "3-point", "ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15},
        )  # fmt: skip
        return [*found.values.values()]

    def states(x: Any) -> Any:
        return [
            physics.thermal_state_probs(6, x[0]), physics.coherent_state_probs(6, x[1]),
            physics.squeezed_state_probs(6, x[2]),
            physics.displaced_thermal_state_probs(6, x[0], x[1]),
        ]  # fmt: skip

    yield "NormalFitter", fitted, SERIES
    yield "LaserFlopTimeThermal", flopped, [0.95, 0.03, 0.12, 2.3, 1.1, 0.9, 0.4, 0.8]
    yield "MolmerSorensenTime", entangled, [1.3, 0.4, 2.7]
    yield "displaced_thermal_state_probs", states, [0.8, 1.2, 0.6]


@package("unophysics", "records of physics")
def unophysics() -> Iterator[Case]:
    m = module("unophysics._wavefuncs")

    def cleaned(x: Any) -> Any:
        found, threshold = m.wave_clean(x, wavelet="db2", ret_thresh=True)
        return [found, threshold]

    def thresholded(x: Any) -> Any:
        parts = [x[:6] - 4.0, x[6:12] - 4.0, x[12:] - 4.0]
        return m.thresh_wave_coeffs(parts, delta=0.7) + m.thresh_wave_coeffs(parts, 1.3, hard=True)

    yield "wave_clean", cleaned, LONG
    yield "thresh_wave_coeffs", thresholded, LONG


@package("py-channelmodel", "channels of radio")
def py_channelmodel() -> Iterator[Case]:
    coherence, channel = module("channelmodel.coherence"), module("channelmodel.channel")
    noise, profile = module("channelmodel.awgn"), module("channelmodel.powerdelayprofile")

    def coherent(x: Any) -> Any:
        made = [
            one(1e9 * x[0], 10.0 * x[1])
            for one in (coherence.ChannelCoherenceRappaport, coherence.ChannelCoherenceJakes)
        ]
        return [one.coherence_time(1e-3 * time) for one in made for time in x[2:]]

    def equalized(x: Any) -> Any:
        taps, received = x[:6] + 1j * x[6:12], x[12:18] + 1j * x[18:24]
        return [
            channel.FrequencyDomainEqualizer(kind).equalize(received, taps, 0.3 * x[24])
            for kind in ("MF", "ZF", "MMSE")
        ]

    def noisy(x: Any) -> Any:
        made = noise.AWGN(10.0 * x[0], x[1], 64)
        spread = profile.PowerDelayProfile(46e-9, 250e-9, 2e7)
        return [
            10.0 * made.sigma(), made.variance(), 0.1 * made.snr(),
            1e-7 * spread.exp_dist(spread.supports(), 1e-7 * x[2]),
        ]  # fmt: skip

    yield "FrequencyDomainEqualizer.equalize", equalized, [*LONG, 0.9]
    yield "ChannelCoherence.coherence_time", coherent, [2.1, 0.7, 1.3, 4.1]
    yield "AWGN", noisy, [0.7, 0.5, 0.46]


@package("py4mulas", "transport of electrons")
def py4mulas() -> Iterator[Case]:
    m, topology = module("py4mulas.models"), module("py4mulas.topology")
    responses = module("py4mulas.responses")
    places = np.linspace(-3.0, 3.1, 5)
    form = (
        "Matrix([[m + cos(k_x) + cos(k_y), sin(k_x) - I*v*sin(k_y)],"
        " [sin(k_x) + I*v*sin(k_y), -m - cos(k_x) - cos(k_y)]])"
    )

    def model(first: Any, last: Any, mass: Any, speed: Any) -> Any:
        return m.Kmodel(form, k_1=first, k_2=last, params={"m": mass, "v": speed})

    def conducted(x: Any) -> Any:
        formula = responses.Kubo(
            model(places, places, 0.7, 1.1), alpha="x", beta="y",
            kspace_options={"precomp": False, "chunk_size": 100},
        )  # fmt: skip
        return formula(mu=x[0], temperature=x[1], eta=x[2])

    def curved(x: Any) -> Any:
        made = topology.BerryCurvature(model(x[:3], x[3:6], 0.7, 1.1))
        return made(0)

    def massive(x: Any) -> Any:
        made = model(places, places, x[0], x[1])
        return [
            topology.BerryCurvature(made)(1)[::4], made.H(0.3, 0.7),
            responses.Kubo(made, alpha="x", beta="y")(mu=x[2], temperature=0.3, eta=0.1),
        ]  # fmt: skip

    yield "Kubo", conducted, [0.6, 0.3, 0.1]
    yield "BerryCurvature", curved, [-1.3, 0.2, 1.1, -0.7, 0.5, 1.9]
    yield "Kmodel", massive, [0.7, 1.1, 0.6]


@package("haulpave", "roads of mines")
def haulpave() -> Iterator[Case]:
    vehicles, traffic = module("haulpave.models.vehicle"), module("haulpave.models.traffic")
    loads, coverages = module("haulpave.traffic.cesa"), module("haulpave.traffic.coverages")
    pavement, models = module("haulpave.pavement"), module("haulpave.models.economics")
    economics = module("haulpave.economics.engine")

    def fleet(x: Any) -> Any:
        tire = vehicles.TireSpec(contact_pressure_kpa=690.0, contact_area_mm2=3e5)
        axles = [
            vehicles.AxleGroup(
                axle_count=i + 1, tyres_per_axle=2 * (i + 1), gross_load_kn=100.0 * x[i],
                tire_spec=tire,
            )
            for i in range(2)
        ]  # fmt: skip
        truck = vehicles.MiningVehicle(
            name="truck", gross_vehicle_mass_t=160.0, axle_groups=axles, source="sheet"
        )
        return traffic.TrafficInput(
            fleet=[traffic.FleetUnit(vehicle=truck, trips_per_day=10.0 * x[2])],
            design_life_years=x[3],
        )

    def loaded(x: Any) -> Any:
        given = fleet(x)
        passes = coverages.compute_coverages(given)
        return [
            1e-8 * loads.compute_cesa(given).total_cesa, 1e-4 * passes.total_coverages,
            0.01 * passes.design_wheel_load_kn,
        ]  # fmt: skip

    def thick(x: Any) -> Any:
        return 0.01 * xp.array([
            pavement.cbr_thickness_from_coverages(x[0], 1e3 * x[1]),
            pavement.design_pavement(fleet(x[2:]), subgrade_cbr=x[0]).required_thickness_mm,
        ])  # fmt: skip

    def priced(x: Any) -> Any:
        costs = models.CostAssumptions(
            fuel_cost_per_litre=x[0], tyre_cost_per_hour=10.0 * x[1], maintenance_cost_per_km=x[2],
            operator_cost_per_hour=10.0 * x[3], currency="USD",
        )  # fmt: skip
        scenario = models.CostScenario(
            scenario_id="road", haul_distance_km=x[4], average_speed_kmh=10.0 * x[5],
            payload_t=10.0 * x[6], fuel_consumption_l_per_km=x[7], assumptions=costs,
        )  # fmt: skip
        found = economics.compute_economics(scenario, trips_per_day=10.0 * x[8])
        return [0.1 * found.cost_per_trip, found.cost_per_tonne_km, 1e-5 * found.annual_cost]

    yield "compute_coverages", loaded, [3.1, 5.7, 2.2, 9.3]
    yield "design_pavement", thick, [6.3, 4.1, 3.1, 5.7, 2.2, 9.3]
    yield "compute_economics", priced, [1.1, 2.3, 1.7, 4.1, 3.3, 2.7, 9.1, 2.2, 4.3]


@package("fincraft", "reports on funds")
def fincraft() -> Iterator[Case]:
    m, regression = module("fincraft.metrics"), module("fincraft.regression")
    prices, pandas = module("fincraft.prices"), module("pandas")
    weeks = pandas.date_range("2020-01-06", periods=12, freq="W")

    def reported(x: Any) -> Any:
        series = pandas.Series(100.0 + 5.0 * x[:12], index=weeks)
        return [*m.perf_metrics(series, rf=x[12]).values()]

    def regressed(x: Any) -> Any:
        returns = pandas.Series(0.01 * x[:12], index=weeks)
        others = pandas.DataFrame(
            {"one": 0.01 * x[12:] ** 1.3, "two": 0.02 * np.cos(x[12:])}, index=weeks
        )
        found = regression.closest_benchmark(returns, others)
        several = regression.multiple_regression(returns, others, positive=False)
        return [*(found[name] for name in ("alpha", "beta", "rvalue")), *several.values()]

    def basket(x: Any) -> Any:
        made = prices.equal_weight_basket(
            {"a": pandas.Series(x[:12], index=weeks), "b": pandas.Series(x[12:], index=weeks)}
        )
        found = m.forward_returns(pandas.DataFrame({"close": made}), offsets=(1, 3))
        return [found.dropna().to_numpy(), m.signal_to_noise(made.pct_change().dropna())]

    yield "perf_metrics", reported, [*SERIES, 0.02]
    yield "closest_benchmark", regressed, LONG
    yield "equal_weight_basket", basket, LONG


@package("pydrodynamics", "vehicles under water")
def pydrodynamics() -> Iterator[Case]:
    dynamics, water = module("pydrodynamics.dynamics"), module("pydrodynamics.environment")
    propellers, utils = module("pydrodynamics.thrusters"), module("pydrodynamics.utils")

    class Table(dict[str, Any]):
        verbose = False

        def get(self, key: str, default: Any = 0.0) -> Any:
            return super().get(key, default)

    def made(x: Any) -> Any:
        drag = {f"drag_{a}{b}": x[3] * 0.4 for a, b in zip("xyzkmn", "uvwpqr", strict=True)}
        return Table(
            mass=10.0 * x[0], volume=0.01 * x[1], gravity=9.81, density=1000.0, xg=0.01, yg=0.0,
            zg=0.02, xb=0.0, yb=0.01, zb=-0.1 * x[2], ixx=0.3, iyy=0.4, izz=0.5, apx=0.1, apy=0.2,
            apz=0.3, am_xu=-x[4], am_yv=-6.0, am_zw=-8.0, drag_yr=0.2, **drag,
        )  # fmt: skip

    def moved(x: Any) -> Any:
        table = made(x)
        mover, sea = dynamics.Dynamics(table), water.Environment(table)
        state = utils.state_array_to_object(x[5:])
        for _ in range(5):
            tau = sea.calculate(state) + np.array([3.0, 1.0, 0.4, 0.1, -0.2, 0.3])
            state = mover.calculate(0.1, state, tau)
        return utils.state_object_to_array(state)

    def forced(x: Any) -> Any:
        return 0.1 * water.Environment(made(x)).calculate(utils.state_array_to_object(x[5:]))

    def load_thruster_data(self: Any) -> None:
        self.voltage_values = np.array([12.0, 14.0, 16.0])
        self.pwm_values = np.array([1100.0, 1400.0, 1600.0, 1900.0])
        self.force_values = np.array([
            [-20.0, -3.0, 4.0, 25.0], [-26.0, -4.0, 5.0, 32.0], [-31.0, -5.0, 6.0, 39.0],
        ])  # fmt: skip

    body = {"load_thruster_data": load_thruster_data}
    own: Any = type("Propellers", (propellers.Thrusters,), body)

    def pushed(x: Any) -> Any:
        table = made(np.array([1.2, 1.1, 0.5, 1.0, 3.0]))
        table.thrusters = types.SimpleNamespace(list=[0, 1])
        for i in range(2):
            for j, name in enumerate(("dir_x", "dir_y", "dir_z", "x", "y", "z")):
                table[f"t{i + 1}_{name}"] = x[6 * i + j]
        state = utils.state_array_to_object(np.array([*np.zeros(12), x[12]]))
        return 0.1 * own(table).calculate(state, 100.0 * x[13:])

    start = [
        1.3, 1.2, 0.7, 1.1, 4.0, 0.3, -0.4, 2.0, 11.0, -7.0, 31.0, 0.8, 0.3, -0.2, 4.0, -3.0,
        6.0, 15.0,
    ]  # fmt: skip
    yield "Dynamics.calculate", moved, start
    yield "Environment.calculate", forced, start
    yield "Thrusters.calculate", pushed, [
        0.8, 0.3, 0.1, 0.2, -0.3, 0.1, 0.7, -0.5, 0.2, 0.2, 0.3, -0.1, 14.7, 12.3, 17.1,
    ]  # fmt: skip


@package("gwtransport", "transport in groundwater")
def gwtransport() -> Iterator[Case]:
    m, deposits = module("gwtransport.advection"), module("gwtransport.deposition")
    diffusion, pandas = module("gwtransport.diffusion_fast"), module("pandas")
    days = pandas.date_range("2020-01-01", periods=13, freq="D")
    out = pandas.date_range("2020-01-05 07:00", periods=6, freq="D")
    flow = 100.0 + 17.0 * np.cos(1.7 * np.arange(12.0))

    def timed(x: Any) -> dict[str, Any]:
        return {"flow": x, "tedges": days, "cout_tedges": out}

    def gamma(x: Any) -> Any:
        return m.gamma_infiltration_to_extraction(
            cin=x[:12], mean=100.0 * x[12], std=10.0 * x[13], n_bins=7, retardation_factor=x[14],
            **timed(x[15] * flow),
        )  # fmt: skip

    def diffused(x: Any) -> Any:
        return diffusion.infiltration_to_extraction(
            cin=x[:12], aquifer_pore_volumes=100.0 * x[12:14], mean_streamline_length=100.0,
            mean_molecular_diffusivity=0.001 * x[14], mean_longitudinal_dispersivity=x[15],
            retardation_factor=x[16], suppress_dispersion_warning=True, **timed(flow),
        )  # fmt: skip

    def deposited(x: Any) -> Any:
        return 0.1 * deposits.deposition_to_extraction(
            dep=x[:12], aquifer_pore_volume=100.0 * x[12], porosity=x[13], thickness=x[14],
            retardation_factor=x[15], **timed(flow * x[16]),
        )  # fmt: skip

    def fronts(x: Any) -> Any:
        pulse = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        return m.infiltration_to_extraction_front_tracking(
            cin=x[0] * pulse, flow=100.0 * x[1] * np.ones(12), tedges=days, cout_tedges=out,
            aquifer_pore_volumes=100.0 * x[2:4], freundlich_k=0.01 * x[4], freundlich_n=x[5],
            bulk_density=1500.0, porosity=0.3,
        )  # fmt: skip

    yield "gamma_infiltration_to_extraction", gamma, [*SERIES, 2.1, 6.0, 1.13, 1.07]
    yield "diffusion_fast.infiltration_to_extraction", diffused, [
        *SERIES, 1.93, 2.37, 1.2, 0.8, 1.13,
    ]  # fmt: skip
    yield "deposition_to_extraction", deposited, [*SERIES, 2.13, 0.31, 7.3, 1.13, 1.05]
    yield "front_tracking", fronts, [3.1, 1.07, 1.13, 1.49, 0.021, 1.7]


@package("kkkf", "filters of Koopman")
def kkkf() -> Iterator[Case]:
    m, koopman = module("KKKF.DynamicalSystems"), module("KKKF.kEDMD")
    filters, stats = module("KKKF.applyKKKF"), module("scipy.stats")
    kernels = module("sklearn.gaussian_process.kernels")

    def made(x: Any) -> Any:
        np.random.seed(4)  # noqa: NPY002  the package draws from it
        return m.DynamicalSystem(
            2, 1,
            of_one(lambda s: np.stack([
                x[0] * s[0] + 0.2 * s[1], -0.1 * np.sin(s[0]) + x[1] * s[1]
            ])),
            of_one(lambda s: np.stack([s[0] + x[2] * s[1] ** 2])),
            stats.multivariate_normal(np.zeros(2), np.eye(2)),
            stats.multivariate_normal(np.zeros(2), 0.1 * np.eye(2)),
            stats.norm(0.0, 0.3), True,
        )  # fmt: skip

    def filtered(x: Any) -> Any:
        operator = koopman.KoopmanOperator(kernels.Matern(length_scale=1.3, nu=2.5), made(x))
        start = stats.multivariate_normal(np.array([0.4, -0.3]), 0.2 * np.eye(2))
        found = filters.apply_koopman_kalman_filter(
            operator, 0.2 * x[3:].reshape(6, 2)[:, :1], start, 8, optimize=False, noise_samples=10
        )
        return [found.x_plus, found.Px_plus[-1]]

    def edmd(x: Any) -> Any:
        kernel = kernels.ConstantKernel(x[3]) * kernels.RBF(length_scale=x[4])
        operator = koopman.KoopmanOperator(kernel, made(x))
        operator.compute_edmd(5, optimize=False)
        return [operator.phi(x[5:]), operator.U, operator.C, operator.B]

    yield "apply_koopman_kalman_filter", filtered, [0.9, 0.8, 0.3, *SERIES]
    yield "KoopmanOperator.compute_edmd", edmd, [0.9, 0.8, 0.3, 1.2, 1.4, 0.3, -0.7]


@package("betapair", "paired binary outcomes")
def betapair() -> Iterator[Case]:
    m, hierarchy = module("betapair.mcnemar"), module("betapair.hierarchy")
    irt, series = module("betapair.irt"), module("betapair.series")
    cells = [
        hierarchy.Cell("a", "one", improved=7, regressed=3, passed=20, pairs=40),
        hierarchy.Cell("b", "one", improved=4, regressed=5, passed=15, pairs=30),
        hierarchy.Cell("c", "one", improved=9, regressed=2, passed=33, pairs=50),
    ]

    def fitted(x: Any) -> Any:
        found = hierarchy.fit(
            cells, a0=x[0], b0=x[1], kappa_prior=(x[2], x[3]), mu_points=15, kappa_points=10
        )
        means = [found.cell_mean(one) for one in cells]
        return [found.mu, 0.01 * found.kappa, found.log_marginal, *means]

    def tested(x: Any) -> Any:
        found = m.mcnemar(9, 4, a0=x[0], b0=x[1], prob_interval=x[2])
        return [
            found.post_mean, found.post_median, found.eti_low, found.eti_high, found.bf10_point,
            found.bf10_interval, found.p_improved,
        ]  # fmt: skip

    def rasch(x: Any) -> Any:
        passed = [[True, True, False, True], [False, True, False, True], [False, False, True, True]]
        answers = [
            irt.ItemResponse("abc"[i], "one", f"q{j}", passed[i][j])
            for i in range(3)
            for j in range(4)
        ]
        found = irt.fit_rasch(answers, sigma_theta=x[0], sigma_d=x[1], max_iter=500, tol=1e-13)
        return [
            [*found.abilities.values()], [*found.difficulties.values()],
            [*found.ability_sd.values()], [*irt.equated_rates(found).values()],
        ]  # fmt: skip

    def band(x: Any) -> Any:
        points = [series.ScorePoint(x[2 * i], pairs=x[2 * i + 1]) for i in range(4)]
        found = series.score_band(points, level=0.9)
        return [0.1 * found.low, 0.1 * found.high, found.within_sd, found.between_sd]

    yield "mcnemar", tested, [1.3, 1.7, 0.93]
    yield "hierarchy.fit", fitted, [1.3, 1.7, 2.2, 4.3]
    yield "fit_rasch", rasch, [1.2, 0.9]
    yield "score_band", band, [62.0, 51.0, 81.0, 43.5, 74.0, 60.0, 90.0, 38.0]


@package("fisher-a2z", "forecasts of cosmology")
def fisher_a2z() -> Iterator[Case]:
    m, layouts = module("fisherA2Z.fisher"), module("fisherA2Z.flex_layout")
    shifts = module("fisherA2Z.nz_shift_stretch")
    place = np.linspace(0.03, 2.4, 40)
    count = np.arange(5.0)

    def information(x: Any) -> Any:
        layout = layouts.build_layout(1, 2, [(0, 1)], mode="3x2pt")
        edges = layouts.default_ell_edges(20.0, 2000.0, 5)
        ell = layouts.ell_from_edges(edges)
        shape = np.array([[1.0, 0.3, 0.5], [0.3, 0.8, 0.4], [0.5, 0.4, 0.9]])
        power = 1e-7 * x[0] * shape[:, :, None] * (ell / 100.0) ** -x[1]
        noise = layouts.noise_power(1, 2, x[2:3], x[3:5], x[5])
        blocks = layouts.gaussian_covariance(
            power, noise, layout, layouts.n_modes(ell, edges, x[6])
        )
        slopes = np.cos(0.7 * np.arange(15.0).reshape(3, 5, 1) ** 1.6 + 0.2 * count)
        found = layouts.fisher_from_derivs(1e-7 * slopes, blocks)[0]
        return [m.FoM(m.marginalize(found, 0, 1)), np.log(np.diag(found))]

    def shifted(x: Any) -> Any:
        base = np.array([place**2 * np.exp(-((place / x[i]) ** 1.1)) for i in (0, 1)])
        made = shifts.build_shift_stretch_model(place, base)
        moved = np.array([[made.model(i, x[2 + i], x[4 + i]) for i in (0, 1)]])
        return [shifts.fit_shift_stretch(place, made.nz_fid, moved), moved[:, :, ::7]]

    def photometric(x: Any) -> Any:
        truth = m.SmailZ(place, place**2 * np.exp(-((place / x[0]) ** x[1])))
        filters = [np.exp(-((place - 0.6) ** 2)), np.exp(-2.0 * (place - 1.2) ** 2)]
        found = m.PhotozModel(truth, m.Core(place, x[2], x[3]), filters).get_pdf()
        return found[:, ::6]

    def biased(x: Any) -> Any:
        layout = layouts.build_layout(1, 2, [(0, 1)], mode="2x2pt")
        shape = np.array([[1.0, 0.3, 0.5], [0.3, 0.8, 0.4], [0.5, 0.4, 0.9]])
        power = shape[:, :, None] * (1.0 + 0.3 * np.cos(count))
        blocks = layouts.gaussian_covariance(power, x[:3], layout, 3.0 + count)
        slopes = x[3:13].reshape(1, 2, 5)
        return layouts.bias_vector_from_derivs(slopes, blocks, 0.1 * slopes[0] ** 2, jitter=0.01)[0]

    yield "fisher_from_derivs", information, [1.2, 0.8, 10.0, 2.7, 3.3, 0.26, 0.4]
    yield "ShiftStretchModel", shifted, [0.41, 0.57, 0.0217, -0.0131, 1.07, 0.93]
    yield "PhotozModel.get_pdf", photometric, [0.4, 1.2, 0.013, 0.05]
    yield "bias_vector_from_derivs", biased, [0.2, 0.3, 0.25, *SERIES[:10]]


@package("simple-distributions", "normal and binomial laws")
def simple_distributions() -> Iterator[Case]:
    m = module("simple_distributions")

    def fitted(x: Any) -> Any:
        made = m.Gaussian()
        made.data = [*x]
        made.calculate_stdev()
        return [made.mean, made.stdev, *(10.0 * made.pdf(one) for one in (2.0, 4.5))]

    def added(x: Any) -> Any:
        made = m.Gaussian(x[0], x[1]) + m.Gaussian(x[2], x[3])
        return [made.mean, made.stdev, made.pdf(x[4])]

    def binomial(x: Any) -> Any:
        made = m.Binomial(x[0], 9) + m.Binomial(x[0], 6)
        return [made.mean, made.stdev, *(made.pdf(k) for k in (2, 5, 8))]

    yield "Gaussian.calculate_stdev", fitted, SERIES
    yield "Gaussian, sum", added, [1.2, 0.7, -0.4, 1.9, 2.3]
    yield "Binomial.pdf", binomial, [0.37]


@package("oee", "effectiveness of plants")
def oee() -> Iterator[Case]:
    m = module("oee")

    def made(x: Any) -> Any:
        return m.oee(
            100.0 * x[0], downtime=10.0 * x[1], ideal_cycle_time=x[2], total_count=100.0 * x[3],
            reject_count=x[4], all_time=100.0 * x[5], planned_downtime=x[6], setup_time=x[7],
        )  # fmt: skip

    def effective(x: Any) -> Any:
        found = made(x)
        return [found.oee, found.teep, found.ooe, [*found.six_losses.values()]]

    def aggregated(x: Any) -> Any:
        found = m.aggregate([made(x[:8]), made(x[8:])])
        lost = m.loss_value(made(x[:8]), value_per_unit=x[8])
        return [found.oee, found.teep, found.quality, 0.1 * lost.lost_value["total"]]

    def reliable(x: Any) -> Any:
        found = m.reliability(x[0], repair_times=[*x[1:5]])
        rolled = m.rolled_throughput_yield([x[5], (x[6], x[7]), {"good": x[8], "total": x[9]}])
        return [found.mtbf, found.mttr, found.availability, rolled.rty, rolled.normalized_yield]

    def ordered(x: Any) -> Any:
        found = m.pareto({"jams": x[0], "setup": x[1], "speed": x[2], "scrap": x[3]})
        needed = m.capacity(x[4], x[5], cycle_time=x[6])
        return [
            [[one.share, one.cumulative] for one in found], needed.takt_time,
            needed.utilization_needed, needed.max_output,
        ]  # fmt: skip

    point = [4.8, 4.7, 1.1, 3.1, 11.0, 7.2, 30.0, 12.0]
    yield "oee", effective, point
    yield "aggregate", aggregated, [*point, 4.1, 3.2, 0.9, 3.3, 8.0, 6.6, 20.0, 9.0]
    yield "reliability", reliable, [41.0, 1.2, 0.7, 2.1, 0.9, 0.95, 43.0, 47.0, 87.5, 91.0]
    yield "pareto", ordered, [12.0, 31.0, 7.5, 4.2, 48.0, 39.0, 1.1]


@package("mathblocks", "elementary mathematics")
def mathblocks() -> Iterator[Case]:
    m, shapes = module("mathblocks.basic"), module("mathblocks.geometry")
    numbers = module("mathblocks.statistics")

    def shaped(x: Any) -> Any:
        return [
            shapes.circle_area(x[0]), shapes.rectangle_area(x[1], x[2]),
            shapes.triangle_area(x[0], x[2]), shapes.perimeter(x),
        ]  # fmt: skip

    def combined(x: Any) -> Any:
        return [
            m.divide(m.add(x[0], x[1]), m.subtract(x[2], x[1])), m.power(x[2], x[0]),
            m.remainder(x[2], x[1]),
        ]  # fmt: skip

    def spread_of(x: Any) -> Any:
        return [
            numbers.average([*x]), numbers.total([*x]),
            numbers.maximum([*x]) * numbers.minimum([*x]),
        ]  # fmt: skip

    yield "statistics.average", spread_of, SERIES
    yield "geometry.circle_area", shaped, [1.3, 0.7, 2.1]
    yield "basic.power", combined, [1.3, 0.7, 2.5]


@package("dsplab", "processing of signals")
def dsplab() -> Iterator[Case]:
    m, tones = module("dsplab.filtration"), module("dsplab.modulation")
    prony, spectra = module("dsplab.prony"), module("dsplab.spectran")

    def filtered(x: Any) -> Any:
        found = m.butter_filter(x[:12], 10.0, [x[12], x[13]], 2)
        return [found, m.trend_smooth(found, 1.0, cut_off=0.1)[0]]

    def demodulated(x: Any) -> Any:
        wave, _, times = tones.freq_amp_mod(
            2.0, 20.0, of_one(lambda t: 1.0 + x[0] * np.sin(x[1] * t)),
            of_one(lambda t: x[2] + x[3] * t), phi=x[4],
        )  # fmt: skip
        return [wave, tones.iq_demod(wave, times, x[5], [1.0, -0.7], [0.15, 0.15])[0][5:]]

    def decomposed(x: Any) -> Any:
        places = np.arange(14.0)
        wave = sum(np.exp(-x[i] * places) * np.cos(x[i + 1] * places + x[i + 2]) for i in (0, 3))
        found = prony.prony_decomp(wave, 4)
        order = xp.argsort(xp.imag(found[0]))
        return [np.abs(found[0][order]), np.angle(found[0][order]), found[2][order][:, ::4]]

    def specgram(x: Any) -> Any:
        found, times = spectra.calc_specgram(x, 1.0, nseg=8, nstep=4)
        return [found[:5], times, spectra.spectrum(x, one_side=True)[0]]

    yield "butter_filter", filtered, [*SERIES, 1.1, 2.7]
    yield "iq_demod", demodulated, [0.3, 2.1, 2.9, 0.4, 0.3, 3.1]
    yield "prony_decomp", decomposed, [0.05, 0.7, 0.3, 0.11, 1.9, 1.1]
    yield "calc_specgram", specgram, LONG


@package("controlplus", "design of controllers")
def controlplus() -> Iterator[Case]:
    m, control = module("controlplus.controlplus"), module("control")
    places = [0.3j, 1.7j, 0.4 + 1.1j]

    def closed(x: Any) -> Any:
        found = m.unity_feedback(control.tf([x[0], x[1]], [1.0, x[2], x[3], x[4]]), x[5])
        values = np.array([found(s) for s in places])
        return [np.real(values), np.imag(values)]

    def poles(x: Any) -> Any:
        found, zeros = m.find_poles_zeros_at_gain(control.tf([1.0, x[0]], [1.0, *x[1:4]]), x[4])
        order = xp.argsort(xp.imag(found))
        return [np.real(found[order]), np.imag(found[order]), np.real(zeros)]

    yield "unity_feedback", closed, [1.2, 3.1, 4.0, 6.3, 2.1, 0.7]
    yield "find_poles_zeros_at_gain", poles, [1.5, 2.1, 3.3, 1.9, 4.1]


@package("structural-dynamic-tools", "dynamics of structures")
def structural_dynamic_tools() -> Iterator[Case]:
    steps, laws = (
        module("structural_dynamic_tools.time_domain"),
        module("structural_dynamic_tools.constitutive"),
    )
    modeling = module("structural_dynamic_tools.modeling")
    spectra = module("structural_dynamic_tools.frequency_domain.modal_response_spectrum")
    modal = module("structural_dynamic_tools.modal.ssi_cov")
    times = 0.05 * np.arange(25.0)
    ground = np.sin(5.3 * times) + 0.5 * np.cos(9.1 * times + 0.3)

    def hysteretic(x: Any) -> Any:
        law = laws.BoucWen(20.0 * x[0], x[1], x[2], 1.0, x[3], x[4], 1.7)
        found = steps.sdof_nonlinear_newmark_beta(
            x[5], law, 3.0 * x[6] * ground, times, damping_ratio=x[7], max_iter=300, tol=1e-13
        )
        return [10.0 * found[0][::4], found[1][::4]]

    def shear(x: Any) -> Any:
        return modeling.LayerShear(x[:3], 100.0 * x[3:6])

    def storeys(x: Any) -> Any:
        made = shear(x)
        load = -ground[:, None] * np.diag(made.m)
        found = steps.mdof_linear_newmark_beta(made.m, made.k, load, times, damping_ratio=x[6])
        return 10.0 * found[0][::6]

    def spectrum(x: Any) -> Any:
        made = shear(x)
        found = spectra.modal_response_spectrum_analysis(
            made.m, made.k, damping_ratio=x[6], combination_method="cqc"
        )
        damping = modeling.caughey(made.m, made.k, x[6])
        return [found["combined_story_shear"], found["modal"]["periods"], 0.1 * damping]

    def identified(x: Any) -> Any:
        wave = np.exp(-x[0] * times) * np.sin(2.0 * np.pi * x[1] * times)
        other = np.exp(-x[2] * times) * np.cos(2.0 * np.pi * x[3] * times)
        found = modal.ssi_cov(np.stack([wave + x[4] * other, other - x[5] * wave]), 4, 4, 0.05)
        return [np.sort(np.asarray(found[0])), np.sort(np.asarray(found[1]))]

    yield "sdof_nonlinear_newmark_beta", hysteretic, [1.1, 0.07, 0.9, 0.6, 0.3, 1.2, 1.4, 0.04]
    yield "mdof_linear_newmark_beta", storeys, [1.2, 1.1, 0.9, 1.5, 1.3, 1.1, 0.04]
    yield "modal_response_spectrum_analysis", spectrum, [1.2, 1.1, 0.9, 1.5, 1.3, 1.1, 0.04]
    yield "ssi_cov", identified, [0.3, 1.7, 0.5, 3.9, 0.4, 0.3]


@package("digicommpy", "digital communications")
def digicommpy() -> Iterator[Case]:
    m, ofdm = module("digicommpy.equalize.linear"), module("digicommpy.ofdm.modem")
    carrier, timing = module("digicommpy.sync.carrier"), module("digicommpy.sync.timing")
    rf, rates = module("digicommpy.impair.rf"), module("digicommpy.performance.error_rates")
    turns = np.exp(0.5j * np.pi * np.array([0, 1, 3, 2, 1, 1, 2, 0, 3, 0, 2, 1]))

    def equalized(x: Any) -> Any:
        h = x[:3] + 1j * x[3:6]
        w, delay = m.zf_taps(h, 5, 3)
        other = m.mmse_taps(h, 5, x[6], 3)
        found = m.apply_equalizer(turns, h, other, delay, 0.0, None)
        taps, power = m.lms(np.convolve(turns, h), turns, 4, 0.05 * x[7], 1)
        return [np.real(w), np.imag(w), np.real(found), np.abs(taps), power]

    def received(x: Any) -> Any:
        h = x[:2] + 1j * x[2:4]
        symbols = rf.apply_iq(turns[:8] * np.exp(0.6j), x[4], x[5])
        found = ofdm.receive(symbols, h, 3) / ofdm.channel_bins(h * x[6], 8)
        return [np.real(found), np.imag(rf.compensate_iq_blind(found))]

    def tracked(x: Any) -> Any:
        wave = turns * (1.0 + 0.1 * x[0] * np.cos(np.arange(12.0))) * np.exp(1j * x[1])
        made, delay = timing.rrc_matched(wave, 4, x[2], 4)
        return [
            carrier.phase_errors(wave, x[3], x[4]),
            timing.timing_loop(made, delay, 4, x[5], 0.1 * x[6], 2, 8),
        ]  # fmt: skip

    yield "mmse_taps", equalized, [1.0, 0.4, -0.2, 0.3, -0.1, 0.15, 0.2, 0.9]
    yield "ofdm.receive", received, [1.0, 0.3, 0.2, -0.25, 1.1, 0.15, 0.9]
    yield "timing_loop", tracked, [0.7, 0.21, 0.35, 0.3, 0.05, 0.11, 1.2]
    yield "error_rates", lambda x: 10.0 * np.stack([
        rates.ser_bpsk(x[0]), rates.ser_qpsk(x[1]), rates.ser_awgn("psk", x[2], 8),
        rates.ser_mqam(16, x[3]), rates.ber_rayleigh_bpsk(x[4]),
    ]), [2.0, 4.1, 7.3, 9.2, 3.3]  # fmt: skip


@package("python-probabilities", "laws of probability")
def python_probabilities() -> Iterator[Case]:
    m = module("python_probabilities")

    def discrete(x: Any) -> Any:
        return [
            float(m.BinomialPD(3, 8, x[0])), float(m.BinomialCD(4, 9, x[1])),
            float(m.GeometricPD(3, x[2])), float(m.GeometricCD(4, x[3])),
        ]  # fmt: skip

    yield "NormalCD", lambda x: [
        m.NormalCD(*x), m.NormalPD(*x), m.NormalCD(x[0], 0.3, 2.0)
    ], [1.4, 0.6, 1.3]  # fmt: skip
    yield "InvNormalCD", lambda x: m.InvNormalCD(*x), [0.83, 0.6, 1.3]
    yield "BinomialCD", discrete, [0.31, 0.44, 0.27, 0.35]
    yield "PoissonCD", lambda x: [m.PoissonCD(4, x[0]), m.PoissonPD(2, x[1])], [3.3, 1.7]


@package("qucat", "superconducting circuits")
def qucat() -> Iterator[Case]:
    m = module("qucat")

    def made(x: Any) -> Any:
        return m.Network([
            m.C(0, 1, 1e-13), m.J(0, 1, 1e-8 * x[0]), m.C(1, 2, 1e-14 * x[1]),
            m.C(2, 0, 1.2e-13), m.L(2, 0, 1.1e-8), m.R(2, 0, 1e6 * x[2]),
        ])  # fmt: skip

    def swept(x: Any) -> Any:
        circuit = m.Network([
            m.C(0, 1, 1e-13), m.J(0, 1, "L_J"), m.C(1, 2, 2e-14), m.C(2, 0, 1.2e-13),
            m.L(2, 0, "L"), m.R(2, 0, 1.3e6),
        ])  # fmt: skip
        return 1e-9 * circuit.eigenfrequencies(L_J=1e-8 * x[0], L=1e-8 * x[1])

    def coupled(x: Any) -> Any:
        circuit = made(x)
        return [1e-8 * circuit.anharmonicities(), 1e-8 * circuit.kerr()]

    point = [0.8, 1.5, 1.3]
    yield "Network.eigenfrequencies", lambda x: 1e-9 * made([*x, 1.3]).eigenfrequencies(), point[:2]
    yield "Network.loss_rates", lambda x: 1e-5 * made(x).loss_rates(), point
    yield "Network.kerr", coupled, point
    yield "Network.eigenfrequencies, labels", swept, [0.8, 1.1]


@package("pypv", "plants of solar panels")
def pypv() -> Iterator[Case]:
    panels, plants = module("pypv.pv_module"), module("pypv.pv_system")
    inverters = module("pypv.pv_inverter")

    def panel(x: Any) -> Any:
        return panels.PvModule(100.0 * x[0], 41.7, x[1], x[2], x[3], x[4], x[5], x[6], x[7])

    def adjusted(x: Any) -> Any:
        made = panel(x[:8])
        return [
            made.voc_adjusted(x[8]), made.min_vmp_adjusted(x[8]), made.max_vmp_adjusted(x[9]),
            made.isc_adjusted(x[9]),
        ]  # fmt: skip

    def planned(x: Any) -> Any:
        inverter = inverters.PvInverter(
            6.5, 90.0, 360.0, 600.0, x[0], 98.0, [inverters.MPPT(90.0, 560.0, 12.5, 1)] * 2
        )
        made = panel(np.array([5.5, 13.1, 49.9, 14.0, 21.3, -0.34, -0.27, 0.05]))
        return plants.PvSystem(made, inverter, x[1], 70.0, -5.0).calculate().ROS

    yield "PvModule", adjusted, [5.5, 13.1, 49.9, 14.0, 21.3, -0.34, -0.27, 0.05, -5.0, 70.0]
    yield "PvSystem.calculate", planned, [5.2, 15.3]


@package("pymultitaper", "spectra of sounds")
def pymultitaper() -> Iterator[Case]:
    m = module("pymultitaper")

    def multitaper(x: Any) -> Any:
        found = m.multitaper_spectrogram(x[:24], 8.0, 0.5, 1.0, NW=2.0, db_scale=False)
        return found[2]

    def weighted(x: Any) -> Any:
        found = m.multitaper_spectrogram(
            x[:24], 8.0, 1.0, NW=2.5, n_tapers=3, weight_type="eig", detrend="linear",
            freq_range=[1.0, 3.5], p_ref=x[24], boundary_pad=True,
        )  # fmt: skip
        return 0.1 * found[2]

    def windowed(x: Any) -> Any:
        found = m.spectrogram(
            x[:24], 8.0, 0.5, 1.0, window_shape="hann", detrend="off", p_ref=x[24], nfft=16
        )
        return 0.1 * found[2]

    yield "multitaper_spectrogram", multitaper, LONG
    yield "multitaper_spectrogram, eig", weighted, [*LONG, 0.7]
    yield "spectrogram", windowed, [*LONG, 0.7]


@package("spistats", "identifiers of radios")
def spistats() -> Iterator[Case]:
    m, markov = module("spistats.collision"), module("spistats.markov")

    def collided(x: Any) -> Any:
        made = m.Collision(6, x[0], x[1])
        return [made.mean(), made.mass(2), made.cdf(3), made.q]

    yield "Collision", collided, [16.0, 3.5]
    yield "Ef", lambda x: 0.1 * np.log(markov.Ef(x[0], x[1])), [0.23, 4.4]


@package("wastimate", "flows of nuclear waste")
def wastimate() -> Iterator[Case]:
    m, stats = module("wastimate.framework"), module("scipy.stats")

    def simulated(kinds: list[str]) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            np.random.seed(5)  # noqa: NPY002  the package draws from it
            nodes = [m.Node(stats.uniform(loc=x[i], scale=x[3 + i])) for i in range(3)]
            ways = [(0, 1), (1, 2), (2, 0)]
            links = [
                m.Link(nodes[a], nodes[b], stats.norm(x[6 + i], x[9]), LinkType=kinds[i])
                for i, (a, b) in enumerate(ways)
            ]
            settings = m.Settings()
            settings.timestep, settings.batches = 5, 3
            verse = m.Universe(nodes, links, settings)
            verse.simulate()
            return [verse.get_timeseries(nodes[1], 0), verse.get_batch(nodes[2], 5)]

        return result

    def losing(x: Any) -> Any:
        np.random.seed(7)  # noqa: NPY002  the package draws from it
        nodes = [m.Node(stats.uniform(loc=one, scale=0.3)) for one in x[:2]]
        link = m.Link(
            nodes[0], nodes[1], stats.uniform(loc=x[2], scale=0.1),
            VRF=stats.uniform(loc=x[3], scale=0.2), LinkType="var",
        )  # fmt: skip
        settings = m.Settings()
        settings.timestep, settings.batches = 4, 2
        verse = m.Universe(nodes, [link], settings)
        verse.simulate()
        return verse.GlobalStateHistory

    point = [3.0, 1.3, 0.7, 0.5, 0.2, 0.3, 0.12, 0.09, 0.07, 0.01]
    yield "Universe.simulate", simulated(["fixed", "var", "var"]), point
    yield "Universe.simulate, fixed", simulated(["fixed", "fixed", "fixed"]), point
    yield "Link, VRF", losing, [3.0, 1.2, 0.2, 0.7]


@package("aural-features", "features of sounds")
def aural_features() -> Iterator[Case]:
    m, segments = module("aural.young"), module("aural.segment")
    features, bank = module("aural.feature"), module("aural.erb")

    def segmented(x: Any) -> Any:
        return segments.kliewer_mertins(x**2, 3)

    def loud(x: Any) -> Any:
        centres = bank.equally_spaced_erb(100.0 * x[24], 8000.0, 2)
        waves = 100.0 * x[:24].reshape(2, 12)
        bands = np.stack([waves, waves**2, waves + 50.0], axis=1)
        m.equalize_loudness(bands, centres)
        return [bands[:, 2], m.subband_synchronicity(bands), bank.erb(centres)]

    def attacked(x: Any) -> Any:
        waves = x.reshape(2, 12)
        found = m.attack_decay_features(np.stack([waves, waves**2, waves * 1.1], axis=1), 10.0, 0.2)
        return [0.1 * found, [*features.summary_stats(found[:, 1], x[:2])]]

    yield "equalize_loudness", loud, [*LONG, 1.3]
    yield "attack_decay_features", attacked, LONG
    yield "kliewer_mertins", segmented, SERIES


@package("plima", "alignments of galaxies")
def plima() -> Iterator[Case]:
    la, nla = module("plima.models.la"), module("plima.models.nla")
    tatt, registry = module("plima.models.tatt"), module("plima.models.model_registry")

    def torqued(x: Any) -> Any:
        found = tatt.tatt_normalized_coefficients(
            x[:3], growth_factor=x[3:6], omega_m=x[6], a1=x[7], a2=x[8], a1delta=x[9], eta1=x[10],
            eta2=x[11], z_pivot=x[12],
        )  # fmt: skip
        return 100.0 * np.stack([found["c1"], found["c2"], found["cdelta"]])

    def powers(x: Any) -> Any:
        amplitude = registry.get_model("nla_z")(x[:3], a_ia=x[9], b_ia=x[10])
        return [
            10.0 * nla.p_ii_nla(100.0 * x[3:6], x[6:9], x[11], amplitude=amplitude),
            la.p_delta_i_la(100.0 * x[3:6], x[6:9], x[11], amplitude=amplitude),
        ]  # fmt: skip

    def bright(x: Any) -> Any:
        return [
            la.lf_la_amplitude(
                x[:3], x[3:6], a_ia=x[6], red_fraction=x[7:10], eta_low_z=x[10], eta_high_z=x[11]
            ),
            nla.nla_mass_amplitude(
                a_ia=x[6], red_fraction=x[7:10], halo_mass=1e13 * x[3:6], beta=x[10]
            ),
        ]

    def halo(x: Any) -> Any:
        found = registry.get_model("halo_model")(
            x[:3], a_ia=x[3], eta_ia=x[4], a1h=x[5], eta_1h=x[6], b=x[7], z_pivot=x[8]
        )
        return [found["a_ia"], 100.0 * found["a1h"]]

    yield "tatt_normalized_coefficients", torqued, [
        0.3, 0.7, 1.2, 0.86, 0.71, 0.57, 0.31, 1.1, 0.6, 0.4, -0.7, 0.9, 0.6,
    ]  # fmt: skip
    yield "p_ii_nla", powers, [0.3, 0.7, 1.2, 2.1, 1.7, 0.9, 0.86, 0.71, 0.57, 1.2, 0.4, 0.31]
    yield "lf_la_amplitude", bright, [
        0.3, 0.7, 1.2, 2.1, 1.7, 0.9, 1.2, 0.31, 0.24, 0.17, 0.8, -0.6,
    ]  # fmt: skip
    yield "halo_model_ia_parameters", halo, [0.3, 0.7, 1.2, 1.1, 0.4, 0.002, -0.7, -2.0, 0.6]


@package("dlmhelper", "growth of trace gases")
def dlmhelper() -> Iterator[Case]:
    m, data, space = (
        module("dlmhelper.tools"), module("dlmhelper.data"), module("dlmhelper.spatio_temporal"),
    )  # fmt: skip
    times: Any = np.arange(24.0)

    def fitted(x: Any) -> Any:
        found = m.dlm_fit(
            data.TimeSeries(0.1 * times + x[:24], times), "one", seasonal=False,
            autoregressive=False,
            fixed_params={"sigma2.irregular": x[24], "sigma2.trend": 0.1 * x[25]},
        )  # fmt: skip
        return [found.level[8::5], found.level_cov[8::5]]

    def averaged(zonal: bool) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            values = x[:24].reshape(3, 2, 4).copy()
            values[1, 0, 2] = np.nan
            grid = data.Grid(
                values, np.array([10.0, 20.0, 30.0]), np.array([0.0, 5.0]), np.arange(4.0),
                error=0.1 * x[:24].reshape(3, 2, 4) ** 0.5,
            )  # fmt: skip
            found = grid.to_TimeSeries(zonal_avg=zonal)
            return [found.data, 10.0 * found.error]

        return result

    def uneven(x: Any) -> Any:
        counts = x[:24].reshape(3, 2, 4)
        return [
            space.inhomogeneity_spatial([10.0, 20.0, 30.0], [0.0, 5.0], counts, x[24], x[25]),
            space.inhomogeneity_temporal([10.0, 20.0, 30.0], [0.0, 5.0], np.arange(4.0), counts),
        ]

    yield "dlm_fit", fitted, [*LONG, 0.5, 0.3]
    yield "Grid.to_TimeSeries", averaged(zonal=False), LONG
    yield "Grid.to_TimeSeries, zonal", averaged(zonal=True), LONG
    yield "inhomogeneity_spatial", uneven, [*LONG, 0.6, 0.3]


@package("jumpmodels", "regimes of markets")
def jumpmodels() -> Iterator[Case]:
    m, sparse = module("jumpmodels.jump"), module("jumpmodels.sparse_jump")
    prepare, pandas = module("jumpmodels.preprocess"), module("pandas")
    days = pandas.date_range("2020-01-01", periods=12, freq="D")
    shift = np.array([0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0, 0.0, 0.0, 0.0, 4.0, 4.0])

    def frame(x: Any) -> Any:
        values = 0.2 * x.reshape(12, 2) + shift[:, None] * np.array([1.0, -0.7])
        return pandas.DataFrame(values, columns=["a", "b"], index=days)

    def fitted(x: Any) -> Any:
        table = frame(x[:24])
        returns = pandas.Series(0.01 * x[:12] - 0.005 * shift, index=days)
        made = m.JumpModel(n_components=2, jump_penalty=x[24], random_state=0, n_init=3)
        made.fit(table, returns, feat_weights=np.array([1.0, x[25]]), sort_by="cumret")
        gains = [100.0 * np.asarray(made.ret_), 100.0 * np.asarray(made.vol_)]
        return [made.centers_, made.val_, *gains]

    def soft(x: Any) -> Any:
        made = m.JumpModel(
            n_components=2,
            jump_penalty=x[24],
            cont=True,
            grid_size=0.1,
            random_state=0,
            n_init=2,
        )
        made.fit(prepare.StandardScalerPD().fit_transform(frame(x[:24])))
        return [made.val_, made.centers_]

    def weights(x: Any) -> Any:
        return sparse.solve_lasso(x[:5], x[5], tol=1e-15)

    yield "JumpModel.fit", fitted, [*LONG, 1.3, 0.8]
    yield "JumpModel.fit, continuous", soft, [*LONG, 0.9]
    yield "do_E_step", lambda x: m.do_E_step(
        x[:20].reshape(10, 2), x[20:24].reshape(2, 2), m.jump_penalty_to_mx(x[24], 2),
        return_value_mx=True,
    ), [*LONG, 0.7]  # fmt: skip
    yield "solve_lasso", weights, [1.0, 0.7, 0.55, 0.3, 0.12, 1.6]


@package("bact-analysis", "optics of accelerators")
def bact_analysis() -> Iterator[Case]:
    m, orbits = module("bact_analysis.transverse.calc"), module("bact_analysis.transverse.process")
    twiss, xarray = module("bact_analysis.transverse.twiss_interpolate"), module("xarray")
    distorted = module("bact_analysis.transverse.distorted_orbit")
    bba = module("bact_analysis.bba.calc")
    names = ["a", "b", "c", "d", "e"]

    def ring(x: Any) -> Any:
        return xarray.Dataset(
            {"beta": ("pos", x[:5]), "mu": ("pos", np.cumsum(x[5:10]))}, coords={"pos": names}
        )

    def kicked(x: Any) -> Any:
        made = ring(x[:10])
        found = distorted.closed_orbit_distortion(
            made, made.sel(pos="c"), x[10], scale_tune=x[11], scale_phase_advance=2.0 * np.pi
        )
        return found.values

    def processed(x: Any) -> Any:
        made = ring(x[:10])
        steps = xarray.DataArray([-1.1, 0.4, 1.3], dims=["step"], coords=[np.arange(3)])
        offset = xarray.DataArray(
            np.reshape(SERIES[:9], (3, 3)), dims=["step", "pos"], coords=[np.arange(3), names[:3]]
        )
        found = orbits.process_magnet_plane(
            made, made.sel(pos="d"), steps, offset, bpm_names=names[:3], theta=0.3
        )
        value = found.result.sel(result="value").values
        return [value, bba.angle_to_offset(2.1, 0.3, 1, value[0]), found.orbit_at_bpm.values]

    def derived(x: Any) -> Any:
        orbit = xarray.DataArray([0.7, -0.4, 1.1], dims=["pos"], coords=[names[:3]])
        steps = xarray.DataArray([-1.1, 0.4, 1.3], dims=["step"], coords=[np.arange(3)])
        offset = xarray.DataArray(
            x[:9].reshape(3, 3), dims=["step", "pos"], coords=[np.arange(3), names[:3]]
        )
        weights = xarray.DataArray(x[9:], dims=["pos"], coords=[names[:3]])
        return m.derive_angle(orbit, steps, offset, weights=weights).values

    def interpolated(x: Any) -> Any:
        found = twiss.interpolate_twiss(ring(x), ["b", "d"])
        return [found.beta.values, found.mu.values]

    optics = [3.1, 5.2, 8.4, 4.4, 6.3, 0.21, 0.34, 0.17, 0.41, 0.28]
    yield "process_magnet_plane", processed, optics
    yield "closed_orbit_distortion", kicked, [*optics, 0.3, 1.1]
    yield "derive_angle", derived, [*SERIES[:9], 0.8, 1.2, 1.1]
    yield "interpolate_twiss", interpolated, optics


@package("pyctpm", "properties of gases")
def pyctpm() -> Iterator[Case]:
    m = module("PyCTPM")
    gases = ["H2", "CO2", "CH4"]

    def mixture(name: str, x: Any, **more: Any) -> Any:
        return m.thermo(name, {
            "components": gases, "MoFri": x[:3], "eq": "DEFAULT",
            "params": {"T": 100.0 * x[3], "P": 1e5 * x[4]}, **more,
        })  # fmt: skip

    point = [0.4, 0.35, 0.25, 4.7, 2.3]
    yield "thermo, DiCo-MIX", lambda x: 1e5 * mixture("DiCo-MIX", x), point
    yield "thermo, Vi-MIX", lambda x: 1e5 * mixture("Vi-MIX", x), point
    yield "thermo, Cpp-MIX", lambda x: [
        0.1 * mixture("Cpp-MIX", x), 0.1 * mixture("Cpp", x)
    ], point  # fmt: skip
    yield "thermo, ThCo-MIX", lambda x: [
        10.0 * mixture("ThCo-MIX", x), 10.0 * mixture("ThCo-MIX", x, ThCoi=[0.2, x[4], 0.3])
    ], point  # fmt: skip


@package("chetoolbox", "separations of mixtures")
def chetoolbox() -> Iterator[Case]:
    m, props = module("chetoolbox.separations"), module("chetoolbox.props")

    def flashed(x: Any) -> Any:
        constants = props.k_whitson(
            np.array([[6.80, 803.8, 247.0], [6.81, 935.9, 238.7], [6.85, 1064.8, 233.0]]),
            100.0 * x[:3], 10.0 * x[3:6], np.array([[100.0 * x[6], 10.0 * x[7]]]), 180.0, 0.8,
        )  # fmt: skip
        found = m.psi_solver(x[8:11], x[11:14], x[14], tol=1e-14)
        return [np.log(constants), found.psi, found.x_out, found.y_out]

    def split(x: Any) -> Any:
        volatile = np.array([[3.2, 1.9, 1.0, 0.5]]) * x[:3, None]
        volatile[:, 2] = 1.0
        found = m.fenske_feed_split(
            volatile, 10.0 * x[3:7], 10.0 * x[7:11], 10.0 * x[11:15], (1, 2), 10.0 * x[15:17]
        )
        lowest = m.underwood_type1_Rmin(volatile, 10.0 * x[3:7], 10.0 * x[7:11], (1, 2), 0.3)
        return [0.1 * found.D_i, 0.1 * found.B_i, found.N_min, lowest]

    def ponchon(x: Any) -> Any:
        lines = m.ponchon_savarit_enthalpylines(np.array([[x[0], x[1], x[2]], [x[3], x[4], x[5]]]))
        found = m.ponchon_savarit_tieline(*lines, x[6], x[7], x[8], x[9], x[10])
        return [found.R, found.Rmin, 0.1 * found.Hd, 0.1 * found.Hb]

    yield "psi_solver", flashed, [
        3.7, 4.25, 4.7, 4.2, 3.8, 3.4, 3.5, 10.3, 0.3, 0.4, 0.3, 2.3, 1.1, 0.4, 0.5,
    ]  # fmt: skip
    yield "fenske_feed_split", split, [
        1.05, 1.0, 0.97, 2.0, 3.0, 3.1, 1.9, 1.95, 2.7, 0.4, 0.1, 0.05, 0.3, 2.7, 1.8, 2.8, 2.6,
    ]  # fmt: skip
    yield "ponchon_savarit_tieline", ponchon, [
        80.0, 0.31, 94.0, 110.0, 0.37, 87.0, 0.44, 0.66, 0.95, 0.05, 1.3,
    ]  # fmt: skip


@package("classifier-calibration", "calibration of classifiers")
def classifier_calibration() -> Iterator[Case]:
    m = module("classifier_calibration.calibration_error")
    labels = np.array([0, 1, 2, 1])

    def error(bins: int) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            scores = np.exp(0.3 * x.reshape(4, 3))
            found = m.classwise_ece(scores / scores.sum(axis=1, keepdims=True), labels, bins)
            return 10.0 * found

        return result

    yield "classwise_ece, 20 bins", error(20), SERIES
    yield "classwise_ece, 5 bins", error(5), SERIES


@package("dynamodels", "chaotic dynamics")
def dynamodels() -> Iterator[Case]:
    m = module("dynamodels.physical")
    cheb = module("dynamodels.utils")

    def marched(made: Any, steps: int) -> Any:
        states, times = made.time_integrate(Nt=steps)
        made.update_history(states, times)
        return made

    def attractor(x: Any) -> Any:
        made = m.Lorenz63(psi0=x[:3], rho=10.0 * x[3], sigma=10.0 * x[4], beta=x[5], dt=0.005)
        return marched(made, 4).get_observables(Nt=3)

    def oscillator(x: Any) -> Any:
        made = m.VdP(
            psi0=np.stack([x[0], 100.0 * x[1]]), beta=10.0 * x[2], zeta=10.0 * x[3], kappa=x[4],
            Nq=2, dt=0.0001,
        )  # fmt: skip
        return marched(made, 4).get_observables(Nt=3) / np.array([[1.0], [100.0]])

    def flames(x: Any) -> Any:
        start = np.fft.rfft(x[:12] - 4.0)
        made = marched(m.KS(Nx=12, nu=x[12], L=x[13], psi0=start, dt=0.1), 6)
        return [
            made.get_observable_hist(Nt=3, loc="all"), 0.1 * made.get_energy(Nt=2),
            0.1 * made.get_enstrophy(Nt=2),
        ]  # fmt: skip

    def waves(x: Any) -> Any:
        made = m.Lorenz96(Nx=8, psi0=x[:8], F=x[8], dt=0.002)
        found = marched(made, 4).get_observables(Nt=3)
        return found[:, :, 0] @ cheb.Cheb(2, getg=False)

    yield "KS.time_integrate", flames, [*SERIES, 1.1, 20.0]
    yield "Lorenz63.time_integrate", attractor, [1.3, 2.1, 20.7, 2.8, 1.0, 2.7]
    yield "VdP.time_integrate", oscillator, [1.1, 0.7, 7.0, 6.0, 4.0]
    yield "Lorenz96.time_integrate", waves, [*SERIES[:8], 8.2]


@package("splinebox", "splines of curves")
def splinebox() -> Iterator[Case]:
    m, several = module("splinebox"), module("splinebox.multivariate")
    circle = 2.0 * np.pi * np.arange(6.0) / 6.0
    ring = np.stack([np.cos(circle), np.sin(circle)], axis=1)
    places = np.array([0.3, 1.7, 3.2, 4.9])

    def closed(x: Any) -> Any:
        made = m.Spline(M=6, basis_function=m.B3(), closed=True)
        made.knots = 2.0 * ring + 0.1 * x[:12].reshape(6, 2)
        made.scale(x[12])
        return [made.curvature(places), made.arc_length(), made(x[13:], derivative=1)]

    def fitted(x: Any) -> Any:
        made = m.Spline(M=6, basis_function=m.B3(), closed=False)
        made.knots = x[:12].reshape(6, 2)
        return [made(np.array([0.4, 1.6, 4.7])), made.normal(x[12:]), 0.1 * made.control_points]

    def framed(x: Any) -> Any:
        made = m.Spline(M=4, basis_function=m.CatmullRom(), closed=False)
        made.control_points = x[:18].reshape(6, 3) + 2.0 * np.arange(6.0)[:, None]
        made.translate(x[18:21])
        near = made.distance(made(np.array([1.3]))[0] + np.array([0.3, -0.2, 0.1]))
        return [made.moving_frame(np.array([0.4, 1.6, 2.2]), method="frenet"), near, made(x[21:])]

    def surface(x: Any) -> Any:
        made = several.MultivariateSpline(M=(3, 3), basis_functions=m.B2(), closed=False)
        made.control_points = np.concatenate([x[:24], x[:1]]).reshape(5, 5, 1)
        return made(x[24:].reshape(2, 1, 2)), made(x[24:].reshape(1, 2, 2), (1, 0))

    yield "Spline.curvature", closed, [*SERIES, 1.2, 0.6, 2.3, 4.4]
    yield "Spline.knots", fitted, [*SERIES, 0.6, 3.3]
    yield "Spline.moving_frame", framed, [*LONG[:18], 0.7, -0.3, 1.1, 0.6, 1.3, 2.4]
    yield "MultivariateSpline", surface, [*LONG, 0.6, 1.3, 1.7, 0.4]


@package("fcr", "clusters in panels")
def fcr() -> Iterator[Case]:
    m = module("fcr")
    times = np.tile(np.arange(4), 6)
    count: Any = np.arange(24.0)
    regressors = np.stack([np.cos(1.3 * count) + 1.0, np.sin(0.7 * count)], axis=1)
    other = np.cos(2.1 * count + 0.4)[:, None]
    slopes = np.repeat([0.5, 2.5, 0.6, 2.4, 0.4, 2.6], 4)
    outcome = slopes * regressors[:, 0] - 0.3 * regressors[:, 1] + 0.8 * other[:, 0]

    def estimated(y: Any, fuzz: Any) -> Any:
        return m.FCR(m=fuzz, G=2).estimate(
            y, times, regressors, other, tolerance=1e-16, n_startingVal=1
        )

    def moments(x: Any) -> Any:
        found = estimated(outcome + 0.1 * np.cos(3.3 * count), 1.6)
        return 0.1 * found.momentfun(x)

    def goal(x: Any) -> Any:
        return 0.1 * m.FCR.objective_fun(x[:5], outcome, times, regressors * x[6], other, x[5], 2)

    point = [0.6, -0.2, 2.2, -0.4, 0.7]
    yield "FCR.momentfun", moments, point
    yield "FCR.objective_fun", goal, [*point, 1.6, 1.1]


@package("graphenemodeling", "optics of graphene")
def graphenemodeling() -> Iterator[Case]:
    m, constants = module("graphenemodeling.graphene.monolayer"), module("scipy.constants")
    ev = constants.elementary_charge

    def conducting(x: Any) -> Any:
        found = m.OpticalConductivity(
            1e8 * x[0], 1e14 * x[1], 1e13 * x[2], ev * x[3], 0.0
        ) / 6.08e-5  # fmt: skip
        local = m.OpticalConductivity(0, 1e14 * x[1], 1e13 * x[2], ev * x[3], 0.0) / 6.08e-5
        return [np.real(found), np.imag(found), np.real(local), np.imag(local)]

    def reflected(x: Any) -> Any:
        found = np.stack([
            m.FresnelReflection(
                1e6 * x[0], 1e14 * x[1], 1e12 * x[2], ev * x[3], 0.0, x[4], x[5], one
            )
            for one in ("TM", "TE")
        ])  # fmt: skip
        return [np.real(found), np.imag(found)]

    def plasmon(x: Any) -> Any:
        places = 1e7 * x[:2]
        return 1e-14 * np.stack([
            m.PlasmonDispersion(places, 1e12, ev * x[2], x[3], x[4], 0.0, model="local"),
            m.PlasmonDispersion(places, 1e12, ev * x[2], x[3], x[4], 0.0, model="intra"),
        ])  # fmt: skip

    def levels(x: Any) -> Any:
        waves = 1e9 * (x[:2] + 1j * x[2:4])
        return [
            m.CarrierDispersion(waves, "FullTightBinding", 1, 0.1 * ev * x[4]) / ev,
            1e-9 * m.FermiWavenumber(ev * x[5], "FullTightBinding", g0prime=0.1 * ev * x[4]),
            1e-36 * m.DensityOfStates(ev * x[:2], "FullTightBinding", g0prime=0),
        ]

    yield "OpticalConductivity", conducting, [1.3, 4.1, 1.7, 0.4]
    yield "FresnelReflection", reflected, [3.1, 4.3, 8.0, 0.37, 1.3, 2.1]
    yield "PlasmonDispersion", plasmon, [2.3, 3.7, 0.42, 1.2, 2.3]
    yield "CarrierDispersion", levels, [0.7, 1.4, 0.5, -0.9, 1.2, 0.31]


@package("breos", "panels with batteries")
def breos() -> Iterator[Case]:
    battery, economics = module("breos.battery"), module("breos.economics")
    models, inverter = module("breos.degradation.blast.models"), module("breos.inverter")
    temperature, pandas = module("breos.pv.temperature"), module("pandas")
    hours = pandas.date_range("2024-06-01", periods=24, freq="h")
    count: Any = np.arange(24.0)

    def balanced(x: Any) -> Any:
        sun = pandas.Series(3000.0 * np.sin((count - 6.0) / 12.0 * np.pi).clip(0.0), index=hours)
        load = pandas.DataFrame({"load": 500.0 + 200.0 * x[7] * np.cos(count)}, index=hours)
        air = pandas.Series(20.0 + 5.0 * np.sin(count / 4.0), index=hours)
        made = battery.BatteryConfig(
            5000.0 * x[0], charge_efficiency=x[1], discharge_efficiency=x[2],
            standby_loss_wh=10.0 * x[3], max_charge_power_w=1000.0 * x[4],
            inverter_efficiency=x[5],
        )  # fmt: skip
        found = battery.simulate_energy_balance(x[6] * sun, load, made, temperature_series=air)
        return [
            found[1] / 1000.0, found[2].to_numpy(dtype=float).ravel()[:4],
            0.001 * found[0]["Battery_Energy"].to_numpy()[::6],
        ]  # fmt: skip

    def projected(x: Any) -> Any:
        costs = economics.calculate_costs(
            10, 100.0 * x[0], 1000.0 * x[1],
            economics.CostParams(
                electricity_cost=x[2], electricity_sold_cost=x[3], battery_cost_per_kwh=100.0 * x[4]
            ),
        )  # fmt: skip
        years = pandas.DataFrame({
            "Year": [1, 2, 3, 4], "Load_kWh": 1000.0 * x[5] * np.ones(4),
            "Import_kWh": [2100.0, 2000.0, 2200.0, 2050.0], "Export_kWh": 300.0 * x[6] * np.ones(4),
            "PV_Production_kWh": [4800.0, 4700.0, 4650.0, 4600.0],
            "PV_Degradation_Factor": [1.0, 0.99, 0.98, 0.97],
        })  # fmt: skip
        found = economics.cost_analysis_projection(
            years, costs, 4, inflation_rate=x[7], discount_rate=x[8]
        )
        return [
            0.001 * found["Savings_Cumulative_NPV"].to_numpy(),
            0.001 * found["Cost_System_Cumulative"].to_numpy(), found.attrs["lcoe_per_kwh"],
        ]  # fmt: skip

    def aged(x: Any) -> Any:
        made = models.Lfp_Gr_250AhPrismatic(degradation_scalar=x[0])
        seconds = 7200.0 * np.arange(13.0)
        for _ in range(2):
            made.update_battery_state(
                seconds, x[1] + 0.3 * np.sin(0.6 * np.arange(13.0)), 20.0 + x[2:15]
            )
        return 1000.0 * np.stack([made.outputs["q_t"] - 1.0, made.outputs["q_EFC"] - 1.0])

    def converted(x: Any) -> Any:
        found = inverter.calculate_dc_ac_power(1000.0 * x[0], 1000.0 * x[1], x[2], x[3])
        warm = [
            temperature.calculate_cell_temperature(100.0 * x[4], x[5], x[6], one)
            for one in ("faiman", "pvsyst-freestanding", "sapm-open-rack-glass-glass")
        ]
        return [0.001 * found.ac_power_w, 0.001 * found.conversion_loss_w, *warm]

    yield "simulate_energy_balance", balanced, [1.0, 0.95, 0.93, 0.8, 1.43, 0.96, 1.05, 1.1]
    yield "cost_analysis_projection", projected, [
        4.1, 5.3, 0.27, 0.06, 2.2, 5.1, 5.3, 0.021, 0.047,
    ]  # fmt: skip
    yield "Lfp_Gr_250AhPrismatic", aged, [1.1, 0.5, *SERIES, 3.3]
    yield "calculate_dc_ac_power", converted, [2.1, 3.4, 0.95, 0.98, 7.3, 21.0, 2.4]


@package("root-tomography", "tomography of quanta")
def root_tomography() -> Iterator[Case]:
    entities, m = module("root_tomography.entity"), module("root_tomography.experiment")
    estimator, bounds = module("root_tomography.estimator"), module("root_tomography.bound")
    gchi2 = module("root_tomography.gchi2")

    def state(x: Any) -> Any:
        root = x[:4].reshape(2, 2) + 1j * x[4:8].reshape(2, 2)
        return entities.State.from_root(root / np.linalg.norm(root))

    def experiment(clicks: Any = None) -> Any:
        made = m.Experiment(2, entities.State, "polynomial")
        made.set_data(proto=m.proto_measurement("mub", dim=2), nshots=[100.0, 100.0, 100.0])
        return made if clicks is None else made.set_data(clicks=[*clicks.reshape(3, 2)])

    def reconstructed(x: Any) -> Any:
        found = estimator.reconstruct_state(experiment(10.0 * x), rank=2, tol=1e-14)
        return [np.real(found.dm), np.imag(found.dm), entities.State.fidelity(
            found, state(np.array([0.9, 0.1, 0.2, 0.3, 0.0, 0.3, -0.1, 0.2]))
        )]  # fmt: skip

    def likelihood(x: Any) -> Any:
        made = experiment(10.0 * x[8:])
        found = state(x)
        slope = 0.01 * made.dlogL_sq(found.root)
        return [
            0.01 * made.logL_dm(found.dm), 0.01 * made.chi2_dm(found.dm), np.real(slope),
            np.imag(slope),
        ]  # fmt: skip

    def bounded(x: Any) -> Any:
        return 100.0 * np.sum(bounds.bound(state(x), experiment())) * x[8]

    point = [0.9, 0.1, 0.3, 0.4, 0.2, 0.3, -0.1, 0.25]
    clicks = [6.3, 3.7, 7.1, 2.9, 4.4, 5.6]
    yield "reconstruct_state", reconstructed, clicks
    yield "Experiment.logL_dm", likelihood, [*point, *clicks]
    yield "bound", bounded, [*point, 1.1]
    yield "gchi2.cdf", lambda x: [
        gchi2.cdf(x[:3], x[3:], n_bins=400), gchi2.pdf(x[:3], x[3:], n_bins=400)
    ], [0.5, 0.8, 1.1, 1.37, 2.61]  # fmt: skip


@package("forcefinder", "forces on structures")
def forcefinder() -> Iterator[Case]:
    module("os").environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # it opens no window
    receivers, m = module("forcefinder"), module("forcefinder.core.auto_regularization")
    sparse, sdynpy = module("forcefinder.core.sparse_functions"), module("sdynpy")
    kinds = module("sdynpy.core.sdynpy_data").FunctionTypes
    coordinates = module("sdynpy.core.sdynpy_coordinate")
    frequencies = np.array([1.0, 2.0, 3.0])
    count = np.arange(18.0).reshape(3, 3, 2)
    paths = np.cos(1.7 * count) + 1j * np.sin(2.3 * count + 0.4)

    def inverse(x: Any) -> Any:
        outputs = coordinates.coordinate_array(np.array([1, 2, 3]), 1)
        inputs = coordinates.coordinate_array(np.array([11, 12]), 1)
        frfs = sdynpy.data_array(
            kinds.FREQUENCY_RESPONSE_FUNCTION, frequencies, np.moveaxis(paths, 0, -1),
            coordinates.outer_product(outputs, inputs),
        )  # fmt: skip
        response = sdynpy.data_array(
            kinds.SPECTRUM, frequencies, x[:9].reshape(3, 3) + 0.3j, outputs[:, np.newaxis]
        )
        made = receivers.LinearSourcePathReceiver(frfs, response)
        made.manual_inverse(method="tikhonov", regularization_parameter=x[9])
        force = made.force.ordinate
        return [np.real(force), np.imag(force), made.global_asd_error().ordinate]

    def curve(x: Any) -> Any:
        frfs = paths * (1.0 + 0.1 * x[:9].reshape(3, 3, 1))
        response = x[9:18].reshape(3, 3) + 1j
        low = 0.01 * np.ones(3)
        found = m.tikhonov_full_path_for_l_curve(frfs, response, low * x[18], low * 100.0, 4)
        best = m.l_curve_optimal_regularization(*(found[i] for i in (0, 2, 1)), "standard")
        return [np.log(found[1]), np.log(found[2]), best]

    def crossed(x: Any) -> Any:
        low = 0.01 * np.ones(3)
        found = m.leave_one_out_cv(paths, x[:9].reshape(3, 3) + 1j, low * x[9], low * 90.0, 3)
        return 0.1 * found[1]

    def elastic(x: Any) -> Any:
        matrix = np.real(paths[:2].reshape(6, 2))
        found, values = sparse.elastic_net_full_path(
            matrix, x[:6], x[6], number_of_lambdas=5, break_tolerance=1e-15
        )
        return [found[:, 1:4], values[1:4]]

    yield "LinearSourcePathReceiver.manual_inverse", inverse, [*SERIES[:9], 0.3]
    yield "tikhonov_full_path_for_l_curve", curve, [*SERIES[:9], *LONG[:9], 1.2]
    yield "leave_one_out_cv", crossed, [*SERIES[:9], 1.2]
    yield "elastic_net_full_path", elastic, [*SERIES[:6], 0.7]


@package("hvsrprocpy", "spectral ratios of soils")
def hvsrprocpy() -> Iterator[Case]:
    m, times = module("hvsrprocpy.hvt"), module("hvsrprocpy.tdt")
    spectra = module("hvsrprocpy.fdt")
    centres = np.array([1.7, 2.5, 3.4])
    other = np.cos(1.7 * np.arange(24.0)).reshape(2, 12)
    third = np.sin(2.3 * np.arange(24.0) ** 1.1).reshape(2, 12)

    def ratios(kind: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            first = x.reshape(2, 12)
            found = m.hvsr_and_fas_calc(
                first, 3.0 * other + 0.2 * first, third + 0.1 * first[:, ::-1], 0.1, centres,
                centres, horizontal_comb=kind, ko_smooth_b=10, polar_curves_flag=True,
                deg_increment=50, sjb_avg=True,
            )  # fmt: skip
            return [found["hv_ratio"], found["sjb_hv_ratio"], 0.1 * found["polar_hv_ratio"]]

        return result

    def processed(x: Any) -> Any:
        found = m.process_noise_data(
            x[:24].copy(), 0.1, pre_filter_flag=True, pre_filter_hpass_fc=x[24],
            pre_filter_lpass_fc=None, norm_flag=True, win_width=1.2, overlapping=0.0,
            sta_lta_flag=True, short_term_len=0.3, long_term_len=0.8, sta_lta_moving_term=0.3,
            hpass_fc=0.5, lpass_fc=None,
        )  # fmt: skip
        return [found[1], *found[2]]

    def spectrum(x: Any) -> Any:
        straight = times.detrend_ts(x, detrend_type=6)
        found = spectra.fas_cal(times.apply_normalization(straight), 0.1)
        return [found["amp"], 0.1 * found["phase"][1:]]

    yield "hvsr_and_fas_calc", ratios("geometric_mean"), LONG
    yield "hvsr_and_fas_calc, ps_RotD50", ratios("ps_RotD50"), LONG
    yield "process_noise_data", processed, [*LONG, 0.4]
    yield "fas_cal", spectrum, LONG


@package("bandu", "orbitals of crystals")
def bandu() -> Iterator[Case]:
    waves, zones = module("bandu.wfk_class"), module("bandu.brillouin_zone")
    m, tempfile = module("bandu.bandu"), module("tempfile")
    indices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 1]])
    cell = np.array([[4.0, 0.1, 0.2], [0.3, 4.4, 0.1], [0.2, 0.5, 5.0]])

    def state(coefficients: Any, lattice: Any) -> Any:
        return waves.WFK(
            wfk_coeffs=coefficients, kpoints=np.array([0.1, 0.05, -0.1]), pw_indices=indices.copy(),
            symrel=np.eye(3)[None], nsym=1, nkpt=1, nbands=len(coefficients), ngfftx=3, ngffty=3,
            ngfftz=3, eigenvalues=np.array([-0.1, 0.1]), lattice=lattice,
        )  # fmt: skip

    def orbitals(x: Any) -> Any:
        coefficients = x[:12].reshape(2, 6) + 1j * x[12:].reshape(2, 6)
        with (
            tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder),
            contextlib.redirect_stdout(io.StringIO()),
        ):  # fmt: skip
            found = m.BandU([state(coefficients, cell)], 0.0, 1.0, sym=False, plot=False)
        return [10.0 * np.abs(one.wfk_coeffs) ** 2 for one in found.bandu_fxns]

    def gridded(x: Any) -> Any:
        coefficients = x[:12].reshape(2, 6) + 1j * np.cos(np.arange(12.0)).reshape(2, 6)
        made = state(coefficients, cell).GridWFK(1).IFFT().Normalize().XSFFormat()
        back = made.RemoveXSF().FFT().RemoveGrid().wfk_coeffs
        return [np.real(made.wfk_coeffs[::2]), np.abs(back)]

    def zone(x: Any) -> Any:
        made = state(np.ones((2, 6)), cell * x[:3, None])
        bz = zones.BZ(made.rec_latt)
        return [made.rec_latt, bz.MakeCart(x[3:].reshape(1, 3)), bz.MakeRed(x[3:].reshape(1, 3))]

    yield "BandU", orbitals, LONG
    yield "WFK.IFFT", gridded, SERIES
    yield "BZ.MakeCart", zone, [1.0, 1.1, 0.9, 0.3, -0.2, 0.4]


@package("pykelihood", "likelihoods and trends")
def pykelihood() -> Iterator[Case]:
    m, kernels = module("pykelihood.distributions"), module("pykelihood.kernels")
    metrics = module("pykelihood.metrics")
    places = np.linspace(0.1, 1.7, 12)

    def trended(x: Any) -> Any:
        made = m.GEV(
            loc=kernels.linear(places, a=x[0], b=x[1]), scale=x[2],
            shape=kernels.trigonometric(0.1 * places, a=x[3], b=x[4], c=0.05),
        )  # fmt: skip
        return [0.1 * metrics.log_likelihood(made, x[5:]), 0.1 * metrics.BIC(made, x[5:])]

    def scored(x: Any) -> Any:
        made = m.Gamma(x[0], x[1], x[2])
        return [
            metrics.qq_l2_distance(made, x[3:]), metrics.pp_l2_distance(made, x[3:]),
            metrics.Brier_score(made, x[3:], 4.0), metrics.quantile_score(made, x[3:], 0.7),
        ]  # fmt: skip

    def truncated(x: Any) -> Any:
        made = m.TruncatedDistribution(m.Normal(x[0], x[1]), x[2], x[3])
        return [made.pdf(x[4:]), made.cdf(x[4:]), made.ppf(np.array([0.2, 0.7]))]

    def excited(x: Any) -> Any:
        rate = kernels.hawkes_with_exp_kernel(np.cumsum(x[3:]), mu=x[0], alpha=x[1], theta=x[2])
        other = kernels.polynomial_regression(np.stack([x[3:], x[3:] ** 0.5], axis=1), degree=2)
        fixed = other.with_params([0.1, 0.2, -0.3, 0.4])
        return [rate(), metrics.log_likelihood(m.Exponential(0.0, rate), x[3:]), fixed()]

    yield "GEV with trends", trended, [3.1, 0.7, 1.6, 0.11, 0.05, *SERIES]
    yield "qq_l2_distance", scored, [0.1, 1.2, 3.1, *SERIES]
    yield "TruncatedDistribution", truncated, [3.1, 1.6, 0.4, 6.3, 1.7, 3.3, 5.2]
    yield "hawkes_with_exp_kernel", excited, [0.6, 0.4, 0.9, *SERIES]


@package("ancilla", "volatility of markets")
def ancilla() -> Iterator[Case]:
    m, options = module("ancilla.formulae.indicators"), module("ancilla.formulae.options")
    metrics, pandas = module("ancilla.formulae.metrics"), module("pandas")

    def bars(x: Any) -> Any:
        low, high = 20.0 + x[:12], 27.0 + x[12:]
        opened, closed = 0.6 * low + 0.4 * high, 0.3 * low + 0.7 * high
        return [
            m.yang_zhang_volatility(opened, high, low, closed, 10),
            m.garman_klass_volatility(high, low, opened, closed, 10),
            m.parkinson_volatility(high, low, 10), 0.1 * m.atr(high, low, closed, 8),
            0.1 * m.volume_weighted_average_price(high, low, closed, x[:12]),
        ]  # fmt: skip

    def averaged(x: Any) -> Any:
        prices = 20.0 + x
        return [
            0.1 * m.ema([*prices], 7), 0.1 * m.rsi(prices, 9), *m.macd(prices, 3, 8, 1),
            *m.bollinger_bands(prices, 9), m.historical_volatility(prices, 9),
        ]  # fmt: skip

    def valued(x: Any) -> Any:
        found = options.black_scholes(*x[:5], "put")
        implied = m.calculate_implied_volatility(x[5], *x[:4], True, precision=1e-13)
        greeks = m.calculate_option_greeks(x[5], *x[:4], implied, True)
        return [implied, *found.values(), *greeks.values()]

    def measured(x: Any) -> Any:
        equity = pandas.Series(50.0 + x)
        returns = metrics.calculate_return_metrics(equity, 12)
        risks = metrics.calculate_risk_metrics(equity.pct_change().dropna(), 12)
        losses = metrics.calculate_drawdown_metrics(equity)["drawdown_series"].to_numpy()
        return [*returns.values(), risks["sortino_ratio"], 10.0 * risks["var_95"], losses]

    yield "yang_zhang_volatility", bars, LONG
    yield "macd", averaged, SERIES
    yield "calculate_implied_volatility", valued, [10.0, 10.7, 0.6, 0.03, 0.25, 0.71]
    yield "calculate_return_metrics", measured, SERIES


@package("physicalquantity", "quantities with units")
def physicalquantity() -> Iterator[Case]:
    quantity = module("physicalquantity").PhysicalQuantity

    def combined(x: Any) -> Any:
        work = quantity(x[0], "newton") * quantity(x[1], "foot")
        power = work / quantity(x[2], "second") + quantity(x[3], "watt")
        return [work.normalized().value, power.normalized().value]

    def converted(x: Any) -> Any:
        warm = quantity(x[0], "fahrenheit")
        return [
            warm.as_absolute("celsius").value, 0.01 * warm.normalized().value,
            (2.0 * quantity(x[1], "foot") - quantity(x[2], "metre")).as_relative("foot").value,
        ]  # fmt: skip

    def raised(x: Any) -> Any:
        side = quantity(x[0], "metre") ** 2
        ratio = (quantity(x[1], "metre") / quantity(x[2], "metre")) ** quantity(x[3], "one")
        return [side.normalized().value, ratio.value, quantity(x[4], "dBV").normalized().value]

    yield "PhysicalQuantity, products", combined, [2.3, 4.1, 1.7, 0.9]
    yield "as_absolute", converted, [71.3, 6.4, 1.2]
    yield "PhysicalQuantity, powers", raised, [1.3, 2.7, 1.9, 1.4, 3.2]


@package("moire-metrology", "relaxation of moire")
def moire_metrology() -> Iterator[Case]:
    lattice, energy = module("moire_metrology.lattice"), module("moire_metrology.energy")
    grids, meshes = module("moire_metrology.discretization"), module("moire_metrology.mesh")
    gsfe, strain = module("moire_metrology.gsfe"), module("moire_metrology.strain.extraction")
    fields = module("moire_metrology.strain.polynomial")
    shape = np.cos(0.7 * np.arange(64.0) ** 1.2)

    def relaxed(kind: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            geometry = lattice.MoireGeometry(
                lattice.HexagonalLattice(0.247), x[0], delta=0.01 * x[1]
            )
            mesh = meshes.MoireMesh.generate(geometry, min_points=4, pixel_size=100.0)
            made = grids.Discretization(mesh, geometry)
            total = energy.RelaxationEnergy(
                made, made.build_conversion_matrices(), geometry,
                gsfe.GSFESurface((7.0, x[2], -0.4, -0.2, 0.1, 0.05)), 1000.0 * x[3], 500.0 * x[4],
                800.0, 400.0, elastic_strain=kind,
            )  # fmt: skip
            found = total(0.01 * x[5] * shape)
            return [1e-3 * found[0], 1e-2 * found[1][::7]]

        return result

    def strained(x: Any) -> Any:
        found = [
            strain.get_strain(x[0], x[1], 10.0 * x[2], 10.0 * x[3], x[4], x[5], x[6]),
            strain.get_strain_minimize_compression(
                x[0], x[1], 10.0 * x[2], 10.0 * x[3], x[4], x[5], x[6]
            ),
        ]
        return [[one.theta_twist, 100.0 * one.S11, 100.0 * one.eps_s] for one in found]

    def mapped(x: Any) -> Any:
        across, up = np.meshgrid(np.linspace(0.0, 30.0, 6), np.linspace(0.0, 27.0, 4))
        first = 0.1 * across + 0.02 * up + 0.01 * x[:24].reshape(4, 6)
        last = 0.01 * across + 0.09 * up + 0.01 * x[:24][::-1].reshape(4, 6)
        one, two = (
            fields.RegistryField.fit(across.ravel(), up.ravel(), values.ravel(), order=2)
            for values in (first, last)
        )
        found = strain.compute_strain_field(
            np.array([9.0, 17.0]), np.array([8.0, 20.0]), one, two, x[24], x[25], 4.0
        )
        return [found["theta"], 10.0 * found["eps_c"], 10.0 * found["eps_s"]]

    point = [1.3, 0.4, 1.2, 1.1, 0.9, 1.4]
    yield "RelaxationEnergy", relaxed("cauchy"), point
    yield "RelaxationEnergy, Green", relaxed("green_lagrange"), point
    yield "get_strain", strained, [0.247, 0.25, 1.31, 1.42, 7.0, 64.0, 3.0]
    yield "compute_strain_field", mapped, [*LONG, 0.247, 0.25]


@package("ground-motion-tools", "records of earthquakes")
def ground_motion_tools() -> Iterator[Case]:
    m, process = module("ground_motion_tools.im"), module("ground_motion_tools.process")
    steps, kinds = (
        module("ground_motion_tools.sbs_integration_linear"), module("ground_motion_tools.enums"),
    )  # fmt: skip
    spectrum = module("ground_motion_tools.spectrum")
    names = ("PGA", "PGV", "RMSA", "RMSD", "I_SUFFIX_A", "I_SUFFIX_C", "CAV", "SMA", "SA_T1", "I_V")

    def measured(x: Any) -> Any:
        made = m.GMIntensityMeasures(x[:24].reshape(2, 12) - 4.0, 0.1)
        found = made.get_im([getattr(kinds.GMIMEnum, one) for one in names], period=x[24])
        return [found[one] for one in names]

    def adjusted(x: Any) -> Any:
        made = m.GMIntensityMeasures(x[:24].reshape(2, 12) - 4.0, 0.1)
        few = [kinds.GMIMEnum.PGA, kinds.GMIMEnum.RMSA, kinds.GMIMEnum.CAV, kinds.GMIMEnum.SED]
        found = made.im_adjust(made.get_im(few), kinds.GMIMEnum.PGA, x[24])
        return [*found.values()]

    def marched(x: Any) -> Any:
        found = steps.newmark_beta_sdof_gms(
            x[0], 10.0 * x[1], x[4:].reshape(2, 12), 0.1, 14, damping_ratio=x[2], disp_0=0.1 * x[3]
        )
        return [found[0][:, ::4], 10.0 * found[2][:, ::4]]

    def filtered(x: Any) -> Any:
        found = process.butter_worth_filter(x[:12], 0.1, 2, x[12], x[13])
        less = process.down_sample(process.pga_adjust(found, x[14]), 0.1, 0.2)
        design = [
            spectrum.design_spectrum_building(one, damping_ratio=0.01 * x[14], t_g=0.1 * x[13])
            for one in (0.07, 0.13, 0.9, 2.3)
        ]
        return [found, less, process.fourier(less, 0.2)[1], design]

    yield "GMIntensityMeasures.get_im", measured, [*LONG, 0.8]
    yield "GMIntensityMeasures.im_adjust", adjusted, [*LONG, 2.2]
    yield "newmark_beta_sdof_gms", marched, [1.2, 2.1, 0.07, 0.4, *LONG]
    yield "butter_worth_filter", filtered, [*SERIES, 0.7, 3.4, 3.1]


@package("physimlab", "flights of balls")
def physimlab() -> Iterator[Case]:
    m, numerical = module("simlab.physics.models"), module("simlab.physics.numerical")
    air, wind = module("simlab.physics.aerodynamics"), module("simlab.physics.wind")
    mechanics = module("simlab.physics.mechanics")

    def flown(x: Any) -> Any:
        made = m.PhysicsEngine({
            "wind": {"ref_speed": x[0], "shear_alpha": x[1], "humidity_pct": 10.0 * x[2]},
            "surface": {}, "physics": {},
        })  # fmt: skip
        state = {
            "position": x[3:6] + np.array([0.0, 0.0, 30.0]), "velocity": 1.0 * x[6:9],
            "angular_velocity": 1.0 * x[9:12], "radius": 0.1 * x[12], "mass": x[13],
            "inertia": 0.01 * x[14],
        }  # fmt: skip
        for _ in range(4):
            state = made.update_state(state, 0.05)
        return [0.1 * state["position"], state["velocity"], state["angular_velocity"]]

    def integrated(x: Any) -> Any:
        solver = numerical.AdaptiveRK45(rtol=1e-12, atol=1e-13, max_dt=0.05)
        pull = of_two(lambda t, y: np.array([y[1], -x[2] - x[3] * y[1] * (1.0 + y[1] ** 2)]))
        return solver.integrate(pull, 0.0, x[:2], 0.3, 0.01)[1][-1]

    def stepped(x: Any) -> Any:
        pull = of_two(lambda t, y: np.array([y[1], -x[2] - x[3] * y[1]]))
        found = numerical.fixed_step_euler(pull, 0.0, x[:2], 0.52, 0.1)
        return [found[1], mechanics.calculate_terminal_velocity(*x[4:8])]

    def breeze(x: Any) -> Any:
        speed = wind.calculate_wind_velocity(x[0], x[1], 10.0, x[2], 10.0 * x[3])
        density = air.calculate_density(100.0 * x[4], x[5])
        force = wind.calculate_wind_forces(x[6:9], speed, density, 0.1, 0.5)
        return [speed, density, force, 1e5 * air.calculate_viscosity(100.0 * x[4])]

    yield "PhysicsEngine.update_state", flown, [
        2.1, 0.17, 4.0, 0.1, 0.2, 0.3, 7.0, 3.0, 2.0, 3.0, 9.0, -4.0, 1.1, 0.4, 0.3,
    ]  # fmt: skip
    yield "AdaptiveRK45.integrate", integrated, [1.2, 0.7, 9.8, 0.3]
    yield "fixed_step_euler", stepped, [1.2, 0.7, 9.8, 0.3, 0.4, 0.11, 0.47, 1.2]
    yield "calculate_wind_forces", breeze, [6.2, 2.3, 0.17, 3.3, 2.93, 0.4, 5.1, 2.2, -1.4]
