"""A nineteenth sample, drawn on 2026-11-29, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
docs/public-packages.md says how the names were drawn, and what was skipped.
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

NINETEENTH = Sample()
package = NINETEENTH.package
LONG = [*(np.array([*SERIES[::-1], *SERIES]) + 0.01 * np.cos(2.3 * np.arange(24.0)))]  # not equal


@package("firedrake-fiat", "finite elements")
def fiat() -> Iterator[Case]:
    m = module("FIAT")

    def tabulated(kind: str, dimension: int, degree: int, order: int) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            element = getattr(m, kind)(m.ufc_simplex(dimension), degree)
            return [*element.tabulate(order, x.reshape(-1, dimension)).values()]

        return values

    yield "Lagrange.tabulate", tabulated("Lagrange", 2, 3, 1), [0.2, 0.3, 0.5, 0.1]
    yield "RaviartThomas.tabulate", tabulated("RaviartThomas", 2, 2, 0), [0.2, 0.3, 0.5, 0.1]
    yield "Hermite.tabulate", tabulated("Hermite", 1, 3, 2), [0.2, 0.3, 0.5]
    yield "Bernstein.tabulate", tabulated("Bernstein", 2, 2, 1), [0.2, 0.3, 0.5, 0.1]


@package("earthkit-hydro", "river networks")
def earthkit_hydro() -> Iterator[Case]:
    m = module("earthkit.hydro")
    flows = module("earthkit.hydro._readers._d8").from_d8
    network = module("earthkit.hydro.data_structures._network").RiverNetwork(
        flows(np.array([[6, 2, 4], [6, 2, 1], [6, 5, 4]]))
    )
    field = [*(1.0 + 0.3 * np.cos(np.arange(9.0)))]

    yield "upstream.sum", lambda x: m.upstream.array.sum(network, x.reshape(3, 3)), field
    yield "upstream.std", lambda x: m.upstream.array.std(network, x.reshape(3, 3))[
        :, 1
    ], field  # fmt: skip
    yield "downstream.mean", lambda x: m.downstream.array.mean(network, x.reshape(3, 3)), field
    yield "move.upstream", lambda x: m.move.array.upstream(network, x.reshape(3, 3)), field


@package("spiepy", "scanning probe images")
def spiepy() -> Iterator[Case]:
    m = module("spiepy")
    mask = np.zeros((6, 4), dtype=bool)
    yield "flatten_xy", lambda x: m.flatten_xy(x.reshape(6, 4)), LONG
    yield "flatten_poly_xy", lambda x: m.flatten_poly_xy(x.reshape(6, 4), mask, deg=1), LONG


@package("xarray-einstats", "statistics of labelled arrays")
def xarray_einstats() -> Iterator[Case]:
    xr, stats, linalg = module("xarray"), *(
        module(f"xarray_einstats.{name}") for name in ("stats", "linalg")
    )  # fmt: skip

    def labelled(x: Any, *names: str) -> Any:
        return xr.DataArray(x.reshape(6, 4) if len(names) == 2 else x, dims=names)

    def gram(x: Any) -> Any:
        values = labelled(x, "draw", "place")
        square = linalg.matmul(values, values, dims=[["place", "draw"], ["draw", "place"]])
        return linalg.det(square, dims=("place", "place2")).values

    yield "gmean", lambda x: stats.gmean(labelled(x, "draw", "place"), dims="draw").values, LONG
    yield "skew", lambda x: stats.skew(labelled(x, "draw", "place"), dims="draw").values, LONG
    yield "logsumexp", lambda x: stats.logsumexp(
        labelled(x, "draw", "place"), dims="place"
    ).values, LONG  # fmt: skip
    yield "norm", lambda x: linalg.norm(labelled(x, "draw", "place"), dims="draw").values, LONG
    yield "matmul, det", gram, LONG


@package("snf-simulations", "antineutrinos")
def snf_simulations() -> Iterator[Case]:
    m, detector = module("snf_simulations.physics"), module("snf_simulations.detector")
    spectra = module("snf_simulations.spec")
    edges = np.linspace(1500.0, 5500.0, 9)

    def rate(x: Any) -> Any:
        made = spectra.Spectrum(edges, x, 0.1 * x)
        return detector.Detector(1.0, 4.6e28).calculate_event_rate(made, 40.0)

    def integral(x: Any) -> Any:
        made = spectra.Spectrum(edges, x, 0.1 * x)
        made.equalise(700)
        return made.integrate(1800.0, 5000.0)

    flux = [1e15 * v for v in SERIES[:8]]
    yield "get_isotope_activity", spread(m.get_isotope_activity), [3.0, 2.0, 90.0, 28.8]
    yield "get_decay_mass", spread(m.get_decay_mass), [3.0, 2.0, 28.8, 5.5, 0.9]
    yield "calculate_event_rate", rate, flux
    yield "integrate", integral, SERIES[:8]


@package("geodesiq", "quantum control")
def geodesiq() -> Iterator[Case]:
    m = module("geodesiq")

    def pulse(x: Any) -> Any:
        def energies(x: Any, z: Any) -> Any:
            return np.array([[z, x], [x, -z]])

        def slopes(**_: Any) -> Any:
            return np.array([[1, 0], [0, -1]])

        model = m.ControlModel(energies, slopes)
        model.set_parameters(x=x[0])
        model.set_control(
            control_name="z", pulse_initial=x[1], pulse_final=x[2], initial_state=0, alpha=2, beta=2
        )
        model.solve_problem()
        return model.control_pulse[::100]

    utils = module("geodesiq._utils")
    yield "solve_problem", pulse, [1.0, -4.0, 5.0]
    yield "uniform_grid_derivative", lambda x: utils.uniform_grid_derivative(x, 0.3, 5), SERIES


@package("asteval", "evaluation of formulas")
def asteval() -> Iterator[Case]:
    m = module("asteval")
    text = """
total = 0
for k in range(3):
    total += a**k * exp(-b * t)
if max(t) > 1:
    total = where(t > 1.0, total, sin(t) * total)
total[1:3] / sqrt(1 + t[:2] ** 2)
"""

    def program(x: Any) -> Any:
        return m.Interpreter(user_symbols={"a": x[0], "b": x[1], "t": x[2:]}).eval(text)

    def procedure(x: Any) -> Any:
        interpreter = m.Interpreter(use_numpy=True)
        interpreter("def wave(t, w=1.0):\n    return cos(w * t) + dot(t, t)\n")
        interpreter.symtable["t"] = x
        return interpreter("wave(t, w=2)")

    yield "eval", program, [0.6, 0.3, 0.2, 0.8, 1.4, 2.1]
    yield "procedure", procedure, [0.6, 0.3, 0.2, 0.8]


@package("fbpca", "randomized decompositions")
def fbpca() -> Iterator[Case]:
    m = module("fbpca")

    def seeded(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            np.random.seed(19)  # noqa: NPY002  the package draws by it
            return function(x.reshape(6, 4))

        return values

    def centred(a: Any) -> Any:
        u, s, v = m.pca(a, k=3, n_iter=3)
        return (u * s) @ v

    yield "pca", seeded(centred), LONG
    yield "pca, raw", seeded(lambda a: m.pca(a, k=4, raw=True)[1]), LONG
    yield "eigenn", seeded(lambda a: m.eigenn(a.T @ a, k=2)[0]), LONG
    yield "diffsnorm", seeded(
        lambda a: m.diffsnorm(a, np.ones((6, 1)), np.ones(1), np.ones((1, 4)), n_iter=50)
    ), LONG  # fmt: skip


@package("cosmosim2025", "orbits, in formulas")
def cosmosim() -> Iterator[Case]:
    core, orbit = module("cosmosim.core"), module("cosmosim.orbit")
    yield "gravitational_force", lambda x: 1e20 * core.gravitational_force(*x), [2.0, 3.0, 1.5]
    yield "orbital_period", lambda x: orbit.orbital_period(1e11 * x[0], x[1]), [0.7, 1.3]
    yield "earth_position", lambda x: module("cosmosim.ephemeris").earth_position(x[0]), [47.3]


@package("crnpy", "soil moisture from neutrons")
def crnpy() -> Iterator[Case]:
    m = module("crnpy.crnpy")
    moisture = [0.2, 0.31, 0.25, 0.18, 0.36, 0.29, 0.22]

    yield "counts_to_vwc", lambda x: m.counts_to_vwc(x[:3], *x[3:]), [
        2100.0, 2300.0, 1900.0, 3000.0, 0.03, 0.01, 1.4,
    ]  # fmt: skip
    yield "sensing_depth", lambda x: m.sensing_depth(
        x[:3], x[3], 1013.0, x[4], x[5], dist=[1.0, 50.0]
    ), [0.2, 0.3, 0.15, 970.0, 1.4, 0.03]  # fmt: skip
    yield "exp_filter", lambda x: m.exp_filter(x, T=2.0), moisture
    yield "nrad_weight", lambda x: m.nrad_weight(
        x[0], x[1:4], x[4:7], x[7:], profiles=np.array([1, 1, 2]), p=1e3
    )[0], [8.0, 0.2, 0.25, 0.3, 1.5, 20.0, 90.0, 5.0, 15.0, 25.0]  # fmt: skip


@package("hecalib", "hand-eye calibration")
def hecalib() -> Iterator[Case]:
    m = module("hecalib")

    def motion(x: Any) -> Any:
        a, b, c = x[:3]
        zero, angle = 0.0 * a, np.linalg.norm(x[:3])
        k = np.array([[zero, -c, b], [c, zero, -a], [-b, a, zero]]) / angle
        turn = np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)
        return np.vstack([np.hstack([turn, x[3:, None]]), np.array([[0.0, 0.0, 0.0, 1.0]])])

    def calibrated(kind: str) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            poses = [motion(one) for one in x.reshape(8, 6)]
            return getattr(m, kind)().calibrate(
                np.array(poses[:4]), np.array(poses[4:]), rel=True
            )[:2]  # fmt: skip

        return values

    arm = np.random.default_rng(19).normal(size=(4, 6))
    poses: Any = np.vstack([arm, 0.97 * arm + 0.05 * np.cos(np.arange(24.0)).reshape(4, 6)]).ravel()
    start: list[float] = [float(v) for v in poses]
    yield "Cal_Park", calibrated("Cal_Park"), start
    yield "Cal_Chou", calibrated("Cal_Chou"), start
    yield "Cal_Li", calibrated("Cal_Li"), start
    yield "Cal_Tsai", calibrated("Cal_Tsai"), start


@package("pycomlink", "rain from microwave links")
def pycomlink() -> Iterator[Case]:
    rates = module("pycomlink.processing.k_R_relation")
    antennas = module("pycomlink.processing.wet_antenna")
    baseline = module("pycomlink.processing.baseline")
    wet = np.array([0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0])

    yield "calc_R_from_A", lambda x: rates.calc_R_from_A(x[:4], x[4], f_GHz=23.0, pol="H"), [
        1.5, 3.2, 0.8, 6.1, 4.2,
    ]  # fmt: skip
    yield "a_b", lambda x: rates.a_b(x, pol="V"), [11.3, 23.1, 38.2]
    yield "waa_leijnse_2008", lambda x: antennas.waa_leijnse_2008(x[:3], 1e9 * x[3]), [
        1.5, 8.0, 22.0, 23.0,
    ]  # fmt: skip
    yield "baseline_linear", lambda x: baseline.baseline_linear(x, wet), SERIES
    yield "waa_schleiss_2013", lambda x: antennas.waa_schleiss_2013(
        x[:12], x[12:], wet, 2.2, 1.0, 15.0
    ), [*(40.0 + np.array(SERIES)), *(39.0 + 0.1 * np.arange(12))]  # fmt: skip


@package("scprep", "single cells")
def scprep() -> Iterator[Case]:
    m, pandas = module("scprep"), module("pandas")

    def table(x: Any) -> Any:
        return pandas.DataFrame(x.reshape(6, 4), columns=list("abcd"))

    yield "library_size_normalize", lambda x: m.normalize.library_size_normalize(
        x.reshape(6, 4)
    ), LONG  # fmt: skip
    yield (
        "library_size_normalize, table",
        lambda x: m.normalize.library_size_normalize(table(x)).to_numpy(),
        LONG,
    )
    yield "log", lambda x: m.transform.log(x.reshape(6, 4)), LONG
    yield "pairwise_correlation", lambda x: m.stats.pairwise_correlation(
        x[:12].reshape(6, 2), x[12:].reshape(6, 2)
    ), LONG  # fmt: skip
    yield "t_statistic", lambda x: m.stats.t_statistic(
        x[:12].reshape(6, 2), x[12:].reshape(6, 2)
    ), LONG  # fmt: skip


@package("spyrmsd", "distances of molecules")
def spyrmsd() -> Iterator[Case]:
    m = module("spyrmsd.rmsd")
    kinds = np.array([6, 8, 1, 1])
    bonds = np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])

    def of(function: str, *more: Any, **named: Any) -> Callable[[Any], Any]:
        return lambda x: getattr(m, function)(
            x[:12].reshape(4, 3), x[12:].reshape(4, 3), kinds, kinds, *more, **named
        )

    places = np.random.default_rng(3).normal(size=12)
    start = [*places, *(places + 0.2 * np.cos(np.arange(12.0)))]
    yield "rmsd", of("rmsd"), start
    yield "rmsd, minimize", of("rmsd", minimize=True), start
    yield "hrmsd", of("hrmsd", center=True), start
    yield "symmrmsd", of("symmrmsd", bonds, bonds, minimize=True), start


@package("geometric-theory-of-diffraction", "diffraction")
def diffraction() -> Iterator[Case]:
    m = module("geometric_theory_of_diffraction.Cylindric2DPhantom")

    def constants(x: Any) -> Any:
        k, d, o = m.Cylindric2DPhantom(x[:2], x[2]).calc_constants(1e9 * x[3])
        return [np.reshape(k, (1,)), d.to_numpy(), o.to_numpy()]

    yield "calc_constants", constants, [0.0, 0.2, 0.3, 2.4]
    yield (
        "calc_skin_propagation_distances",
        lambda x: m.Cylindric2DPhantom(x[:2], x[2]).calc_skin_propagation_distances(x[3:5], x[5:7]),
        [0.0, 0.2, 0.3, -2.0, 0.1, 3.0, -0.2],
    )
    yield "calc_shadowing_gain", lambda x: m.Cylindric2DPhantom(x[:2], x[2]).calc_shadowing_gain(
        x[3:5], x[5:7], 2.4e9
    ), [0.0, 0.2, 0.3, -2.0, 0.1, 3.0, -0.2]  # fmt: skip


@package("gym-socks", "kernels for control")
def gym_socks() -> Iterator[Case]:
    kernel = module("gym_socks.algorithms.kernel")
    metrics = module("gym_socks.kernel.metrics")
    probability = module("gym_socks.kernel.probability")

    def embedding(x: Any) -> Any:
        places, others = x[:12].reshape(6, 2) / 4.0, x[12:18].reshape(3, 2) / 4.0
        fitted = kernel.ConditionalEmbedding(0.1).fit(metrics.rbf_kernel(places, sigma=1.2))
        return fitted.predict(x[18:], metrics.rbf_kernel(places, others, sigma=1.2))

    yield "ConditionalEmbedding", embedding, LONG
    yield "abel_kernel", lambda x: metrics.abel_kernel(
        x[:12].reshape(6, 2), x[12:].reshape(6, 2), sigma=2.0
    ), LONG  # fmt: skip
    yield "maximum_mean_discrepancy", lambda x: probability.maximum_mean_discrepancy(
        x[:12].reshape(6, 2), x[12:].reshape(6, 2)
    ), LONG  # fmt: skip


@package("voltops", "electronics")
def voltops() -> Iterator[Case]:
    filters = module("voltops.signal_processing.filters").Filters
    transforms = module("voltops.signal_processing.transforms").Transforms
    quantities = module("voltops.core.quantities")
    formulas = module("voltops.formulas.basic").BasicFormulas
    yield "low_pass_filter", lambda x: filters.low_pass_filter(x, 2.0, 10.0, order=3), WAVE
    yield "dft", transforms.dft, SERIES
    yield "frequency_spectrum", lambda x: transforms.frequency_spectrum(x, 8.0)[1], SERIES
    yield "ohms_law", lambda x: formulas.ohms_law(
        voltage=quantities.Voltage(x[0]), resistance=quantities.Resistance(x[1])
    ).value, [5.0, 220.0]  # fmt: skip


@package("fluxfootprints", "flux footprints")
def fluxfootprints() -> Iterator[Case]:
    m = module("fluxfootprints.ep_footprint")
    names = ["peak", "offset", "x10", "x30", "x50", "x70", "x80", "x90"]

    def of(function: str) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            found = getattr(m, function)(*x)
            return [getattr(found, name) for name in names]

        return values

    yield "kljun_04", of("kljun_04"), [0.4, 0.3, -0.1, 3.0, 0.3, 0.05]
    yield "kormann_meixner_01", of("kormann_meixner_01"), [0.3, -0.1, 2.5, 3.0, 0.3]
    yield "hsieh_00", of("hsieh_00"), [-30.0, 3.0, 0.3, 0.05]


@package("fitspy", "spectra of materials")
def fitspy() -> Iterator[Case]:
    models, baseline = module("fitspy.models"), module("fitspy.baseline")
    places = np.linspace(0.0, 11.0, 12)

    def line(x: Any) -> Any:
        made = baseline.BaseLine()
        made.mode, made.order_max = "Polynomial", 2
        for place, height in zip([0.5, 3.0, 7.0, 10.0], x[:4], strict=True):
            made.add_point(place, height)
        return made.eval(places, x[4:16])

    def attached(x: Any) -> Any:
        made = baseline.BaseLine()
        made.mode, made.sigma = "Linear", 1
        for place in (0.5, 3.0, 7.0, 10.0):
            made.add_point(place, 0.0)
        return made.eval(places, x, attached=True)

    yield "gaussian_asym", lambda x: models.gaussian_asym(places, *x), [2.0, 1.5, 3.1, 5.2]
    yield "pseudovoigt", lambda x: models.pseudovoigt(places, *x), [2.0, 1.5, 5.2, 0.3]
    yield "arpls", lambda x: baseline.arpls(x, coef=3, itermax=4), SERIES
    yield "BaseLine, polynomial", line, [*SERIES, *SERIES[:4]]
    yield "BaseLine, attached", attached, SERIES


@package("mgen", "rotations")
def mgen() -> Iterator[Case]:
    m = module("mgen")
    yield (
        "rotation_around_axis",
        lambda x: m.rotation_around_axis(x[:3], x[3]),
        [1.0, 2.0, 0.5, 0.7],
    )
    yield "rotation_from_angles", lambda x: m.rotation_from_angles(x, "XZX"), [0.3, 1.1, -0.6]
    yield "rotation_from_angle_and_plane", lambda x: m.rotation_from_angle_and_plane(
        x[0], x[1:5], x[5:]
    ), [0.7, 1.0, 2.0, 0.5, -0.3, 0.4, -1.0, 0.8, 1.1]  # fmt: skip


@package("empeaks", "mixtures of peaks")
def empeaks() -> Iterator[Case]:
    m = module("EMPeaks.GaussianMixture._gmm")
    module("EMPeaks.EMCore._backend").set_backend("python")
    places = np.linspace(-5.0, 6.0, 12)

    def fitted(x: Any) -> Any:
        made = m.GaussianMixtureModel(K=2, x_min=-5.0, x_max=6.0, background="uniform")
        made.set_param(mu=[*x[:2]], sigma=[*x[2:4]], pi=[0.4, 0.4, 0.2])
        made.adapted_em(places, x[4:], 3, 1e-9, stdout=False)
        return made.predict(places)

    yield "GaussianMixtureModel, adapted_em", fitted, [-1.0, 2.5, 1.2, 0.8, *SERIES]


@package("blind-rt60", "reverberation")
def blind_rt60() -> Iterator[Case]:
    m = module("blind_rt60.estimation")

    def slopes(x: Any) -> Any:
        made = m.BlindRT60(fs=100, framelen=0.1, hop=0.05)
        made.init_states(2)
        return made.likelihood_derivative(x[:2].reshape(2, 1), x[2:].reshape(2, -1))

    yield "likelihood_derivative", slopes, [0.95, 0.9, *(0.02 * np.array([*SERIES, *SERIES[:8]]))]


@package("preflightpy", "flights of rockets")
def preflightpy() -> Iterator[Case]:
    m = module("preflightpy.env")

    def at(x: Any) -> Any:
        made = m.Environment([0.0, 288.15, x[1], 0.0289644, 8.31447, 1.4, 101325.0])
        height = made.get_geopotential_altitude(1e3 * x[0])
        temperature, layer = made.get_temp(1e3 * x[0], height)
        pressure = made.get_pressure(1e3 * x[0], height, temperature, layer)
        density = made.get_density(1e3 * x[0], pressure, temperature, layer)
        return [made.get_gravity(1e3 * x[0]), pressure, density, made.get_c(temperature)]

    yield "Environment, 8 km", at, [8.3, 9.81]
    yield "Environment, 35 km", at, [35.2, 9.81]


@package("augsig", "augmentation of signals")
def augsig() -> Iterator[Case]:
    warper, noise = module("augsig.warper"), module("augsig.noisifier")

    def seeded(function: Callable[..., Any], **named: Any) -> Callable[[Any], Any]:
        return lambda x: function(x, rng=np.random.default_rng(19), **named)

    yield "adrift_pchip", seeded(warper.adrift_pchip, k=4), WAVE
    yield "amod_bezier", seeded(warper.amod_bezier, k=4), WAVE
    yield "twarp_pchip", seeded(warper.twarp_pchip, k=4), WAVE
    yield "noisify", seeded(
        noise.noisify, snr_db=10.0, color="pink", bpass_params=(0.1, 0.8), dist="gauss"
    ), [*WAVE, *SERIES]  # fmt: skip


@package("kneed", "knees of curves")
def kneed() -> Iterator[Case]:
    m = module("kneed")
    places = np.linspace(0.0, 5.0, 12)
    curve = [*(np.sqrt(places + 0.1) + 0.05 * np.sin(7.0 * places))]

    def found(**named: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = m.KneeLocator(places, x, **named)
            return [made.y_difference, np.asarray([made.knee_y, made.norm_knee_y])]

        return values

    yield "KneeLocator", found(), curve
    yield "KneeLocator, polynomial", found(interp_method="polynomial", polynomial_degree=4), curve


@package("meent", "diffraction gratings")
def meent() -> Iterator[Case]:
    m = module("meent")

    def grating(polarization: int) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            cell = np.concatenate([np.ones(3), np.repeat(x[4], 3), np.ones(4)]).reshape(1, 1, 10)
            made = m.call_mee(
                backend=0, pol=polarization, n_top=1.0, n_bot=x[0], theta=x[1], phi=0.0,
                fto=[3, 0], wavelength=x[2], period=[1000.0], thickness=[x[3]], ucell=cell,
                type_complex=0,
            )  # fmt: skip
            result = made.conv_solve()
            return [result.de_ri, result.de_ti]

        return values

    dispersion = module("meent.dispersion")
    yield "conv_solve, TE", grating(0), [1.5, 0.2, 900.0, 300.0, 3.5]
    yield "conv_solve, TM", grating(1), [1.5, 0.2, 900.0, 300.0, 3.5]
    yield "formula_2", lambda x: dispersion.formula_2(x[:5], x[5:], np), [
        0.0, 1.04, 0.006, 0.23, 0.02, 0.6, 0.8,
    ]  # fmt: skip


@package("pytci", "anaesthetics")
def pytci() -> Iterator[Case]:
    propofol = module("PyTCI.models.propofol")

    def course(name: str, *more: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            patient = getattr(propofol, name)(*x[:-1], *more)
            patient.give_drug(x[-1])
            patient.wait_time(60)
            patient.give_drug(0.5 * x[-1])
            patient.wait_time(30)
            return [patient.x1, patient.x2, patient.x3, patient.xeo]

        return values

    yield "Schnider", course("Schnider", "m"), [41.0, 78.0, 176.0, 90.0]
    yield "Marsh", course("Marsh"), [78.0, 90.0]
    yield "Kataria", course("Kataria"), [22.0, 7.0, 40.0]


@package("sensormotion", "human motion")
def sensormotion() -> Iterator[Case]:
    m, gait = module("sensormotion.signal"), module("sensormotion.gait")

    def filtered(x: Any) -> Any:
        return m.filter_signal(*m.build_filter(2.0, 20, "low", filter_order=3), x)

    yield "filter_signal", filtered, WAVE
    yield "xcorr", lambda x: m.xcorr(x[:12], x[12:], scale="unbiased", plot=False), LONG
    yield "vector_magnitude", lambda x: m.vector_magnitude(x[:8], x[8:16], x[16:]), LONG
    yield "step_regularity", gait.step_regularity, [0.4, 0.7, 1.0, 0.6, 0.5]


@package("enzyme-fit", "enzyme kinetics")
def enzyme_fit() -> Iterator[Case]:
    m, data = module("enzyme_fit.models"), module("enzyme_fit.data")
    amounts = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])

    def measured(x: Any) -> Any:
        return data.EnzymeKineticsData(amounts, x, None, None)

    def fitted(name: str) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            found = m.fit_model(measured(x), name)
            return [found.predict(np.array([1.5, 6.0])), np.asarray(found.rmse).reshape(1)]

        return values

    speeds = [1.9, 3.2, 4.9, 6.4, 7.9, 8.6]
    yield "fit_model, MichaelisMenten", fitted("MichaelisMenten"), speeds
    yield "lineweaver_burk_fit", lambda x: m.lineweaver_burk_fit(measured(x)), speeds
    yield "haldane", lambda x: m.haldane(amounts, *x), [10.0, 2.0, 30.0]


@package("ekidna", "electrochemistry")
def ekidna() -> Iterator[Case]:
    m = module("Ekidna")
    yield "RS_anomalous_diffusion", lambda x: m.RS_anomalous_diffusion(x[:4], *x[4:]), [
        0.1, 0.3, 0.5, 0.9, 0.2, 1.4, 0.6,
    ]  # fmt: skip
    yield "RS_linear_self_blocking_anomalous_diffusion", lambda x: (
        m.RS_linear_self_blocking_anomalous_diffusion(x[:4], *x[4:])
    ), [0.1, 0.3, 0.5, 0.9, 0.2, 1.4, 0.6, 0.3]  # fmt: skip
    yield "running_sd", lambda x: m.running_sd(x, 4)[0], SERIES
    yield "moving_average_baseline_subtraction", lambda x: m.moving_average_baseline_subtraction(
        x, 3, max_iter=2
    ), LONG  # fmt: skip


@package("ibuffpy", "reaction networks")
def ibuffpy() -> Iterator[Case]:
    networks, action = module("ibuffpy.ReactionNetwork"), module("ibuffpy.massaction")
    network = networks.ReactionNetwork(
        [
            ["in", ["out"], ["A"]],
            ["r1", ["A"], ["B"]],
            ["r2", ["B", "B"], ["C"]],
            ["r3", ["C"], ["out"]],
        ],
        info=False,
    )
    orders = action.make_reguMat(network)

    yield "compute_flux", lambda x: action.compute_flux(
        network, x[:3], orders, x[3:], activate=[(0, 2)], inhibit=[(2, 1)]
    ), [0.7, 1.2, 0.4, 1.0, 0.6, 0.8, 0.9]  # fmt: skip
    yield "perturb", lambda x: action.perturb(
        network, x[:3], [4, 9], x[3:7], ["r1", x[7]], dt=0.05
    ), [0.7, 1.2, 0.4, 1.0, 0.6, 0.8, 0.9, 0.3]  # fmt: skip


@package("robustica", "independent components")
def robustica() -> Iterator[Case]:
    m = module("robustica.RobustICA")
    labels = np.array([0, 1, 0, 1, 0, 1])

    yield "abs_pearson_dist", lambda x: m.abs_pearson_dist(x.reshape(6, 4))[
        np.triu_indices(4, 1)
    ], LONG  # fmt: skip
    yield "corrmats", lambda x: m.corrmats(x[:12].reshape(3, 4), x[12:].reshape(3, 4)), LONG
    yield "compute_iq", lambda x: m.compute_iq(x.reshape(6, 4), labels)["iq"].to_numpy(), LONG


@package("atomistics", "thermodynamics of crystals")
def atomistics() -> Iterator[Case]:
    fit, debye = (
        module("atomistics.workflows.evcurve.fit"),
        module("atomistics.workflows.evcurve.debye"),
    )
    moduli = module("atomistics.workflows.elastic.elastic_moduli")
    places = np.linspace(60.0, 74.0, 7)
    energies = [*(-13.0 + 0.004 * (places - 66.4) ** 2 - 2e-5 * (places - 66.4) ** 3)]

    def polynomial(x: Any) -> Any:
        found = fit.EnergyVolumeFit(places, x).fit_polynomial(fit_order=3)
        return [np.reshape(found[key], (-1,)) for key in ("energy_eq", "volume_eq", "bulkmodul_eq")]

    def stiffness(x: Any) -> Any:
        a = x.reshape(6, 6)
        return moduli.ElasticProperties(a @ a.T + 40.0 * np.eye(6)).to_dict(
            ["shearmodul_hill", "bulkmodul_hill", "poissonsratio_hill"]
        )

    yield "fit_polynomial", polynomial, energies
    yield "vinet_energy", lambda x: fit.EnergyVolumeFit.vinet_energy(x[:3], *x[3:]), [
        60.0, 66.0, 74.0, -13.0, 75.0, 4.6, 66.4,
    ]  # fmt: skip
    yield "debye_function", debye.debye_function, [0.4, 1.5, 3.2]
    yield "ElasticProperties", stiffness, [*(3.0 * np.cos(1.3 * np.arange(36.0)))]


@package("struct-utils", "structures")
def struct_utils() -> Iterator[Case]:
    bolts = module("struct_utils.structural_utils.bolt_pattern_elastic_method")
    helpers = module("struct_utils.structural_utils.shared_helpers")

    def forces(x: Any) -> Any:
        found = bolts.bolt_pattern_force_distribution(
            [(x[0], x[1]), (x[2], x[3]), (x[4], x[5])],
            [{"Fx": x[6], "Fz": x[7], "Mz": x[8], "x": 0.3, "y": 0.1, "z": x[9]}],
            bolt_areas=[x[10], 1.1, 0.9],
            bolt_labels=["a", "b", "c"],
        )
        return [np.asarray([one.F_total, one.F_shear]) for one in found]

    yield "bolt_pattern_force_distribution", forces, [
        0.0, 0.1, 1.0, 0.2, 0.4, 1.1, 100.0, 50.0, 20.0, 0.5, 1.0,
    ]  # fmt: skip
    yield "von_mises", lambda x: helpers.von_mises(*x), [10.0, -5.0, 3.0, 2.0, 1.0, 4.0]


@package("segregation", "segregation of groups")
def segregation() -> Iterator[Case]:
    pandas = module("pandas")

    def of(kind: str, name: str) -> Callable[[Any], Any]:
        def value(x: Any) -> Any:
            if kind == "singlegroup":
                table = pandas.DataFrame({"group": x[:12], "total": x[:12] + x[12:]})
                made = getattr(module("segregation.singlegroup"), name)(table, "group", "total")
            else:
                table = pandas.DataFrame({"a": x[:8], "b": x[8:16], "c": x[16:]})
                made = getattr(module("segregation.multigroup"), name)(table, ["a", "b", "c"])
            return np.asarray(made.statistic).reshape(1)

        return value

    yield "Entropy", of("singlegroup", "Entropy"), LONG
    yield "Atkinson", of("singlegroup", "Atkinson"), LONG
    yield "CorrelationR", of("singlegroup", "CorrelationR"), LONG
    yield "MultiInfoTheory", of("multigroup", "MultiInfoTheory"), LONG
    yield "MultiDissim", of("multigroup", "MultiDissim"), LONG


@package("qclab", "mixed quantum-classical dynamics")
def qclab() -> Iterator[Case]:
    functions, ingredients = module("qclab.functions"), module("qclab.ingredients")
    models = module("qclab.models.spin_boson")

    def model(x: Any) -> Any:
        made = models.SpinBoson({"A": 4, "V": x[0], "E": x[1], "l_reorg": x[2], "kBT": 1.0})
        made.initialize_constants()
        return made

    def hamiltonian(x: Any) -> Any:
        made = model(x)
        z = (x[3:7] + 1j * x[7:11]).reshape(1, 4)
        h = ingredients.h_q_two_level(made, None, batch_size=1) + ingredients.h_qc_diagonal_linear(
            made, None, z=z, batch_size=1
        )
        return [ingredients.h_c_harmonic(made, None, z=z, batch_size=1), np.linalg.eigvalsh(h)]

    def coordinates(x: Any) -> Any:
        mass, weight = np.ones(6), np.full(6, 0.4)
        z = functions.qp_to_z(x[:12].reshape(2, 6), x[12:].reshape(2, 6), mass, weight)
        return [
            z,
            functions.z_to_p(2.0 * z, mass, weight),
            functions.dh_c_dzc_harmonic_jit(z, weight, mass),
        ]

    def transformed(x: Any) -> Any:
        basis = np.linalg.eigh(x[:16].reshape(4, 4) + x[:16].reshape(4, 4).T)[1]
        return np.abs(functions.transform_vec(x[16:20].reshape(1, 4), basis[None])) ** 2

    yield "SpinBoson", hamiltonian, [0.5, 0.4, 0.05, *(0.3 * np.array(SERIES[:8]))]
    yield "qp_to_z", coordinates, LONG
    yield "transform_vec", transformed, LONG[:20]


@package("linearean", "linear algebra in Python's numbers")
def linearean() -> Iterator[Case]:
    m = module("my_linalg_package")

    def matrix(x: Any) -> Any:
        return m.Matrix([[*row] for row in x.reshape(3, 3)])

    square = [4.0, 1.0, -0.5, 0.3, 3.0, 0.8, 1.1, -0.7, 5.0]
    yield "determinant", lambda x: matrix(x).determinant(), square
    yield "inverse", lambda x: matrix(x).inverse().to_list(), square
    yield "solve", lambda x: matrix(x[:9]).solve([*x[9:]]).to_list(), [*square, 1.0, 2.0, -0.5]
    yield "Vector.normalize", lambda x: m.Vector([*x]).normalize().to_list(), SERIES[:4]


@package("abtem", "electron microscopes")
def abtem() -> Iterator[Case]:
    energy, bloch = module("abtem.core.energy"), module("abtem.bloch.utils")

    yield (
        "energy2wavelength",
        lambda x: [energy.energy2wavelength(e) for e in 1e5 * x],
        [0.8, 2.0, 3.0],
    )
    yield "energy2sigma", lambda x: energy.energy2sigma(1e5 * x[0]), [2.0]
    yield "excitation_errors", lambda x: bloch.excitation_errors(x[1:].reshape(3, 3), 1e5 * x[0]), [
        2.0, *(0.1 * np.array(SERIES[:9])),
    ]  # fmt: skip


@package("geogals", "geostatistics of galaxies")
def geogals() -> Iterator[Case]:
    m = module("geogals.geogals")
    pandas = module("pandas")
    meta = {"RA": 24.17, "DEC": 15.78, "PA": 21.0, "i": 9.0, "D": 9.84, "PSF": 0.9}
    spots = np.random.default_rng(19)
    right, down = 24.17 + 0.02 * spots.normal(size=6), 15.78 + 0.02 * spots.normal(size=6)
    heights = [8.6, 8.45, 8.52, 8.38, 8.55, 8.41]

    def trend(x: Any) -> Any:
        data = {"RA": right, "DEC": down, "Z": x[:6], "e_Z": x[6:]}
        return m.fit_radial_linear_trend(data, meta)

    def likelihood(x: Any) -> Any:
        apart = m.deprojected_distances(right, down, meta=meta)
        covariance = m.build_correlated_error_covariance_matrix(apart, 0.05 * np.ones(6), meta)
        m.globalize_data(x[4:], covariance, apart[0], apart, None, None)
        return m.log_likelihood_exp_model(x[:4], priors=False)

    def kriged(x: Any) -> Any:
        table = pandas.DataFrame({"RA": right, "DEC": down, "Z": x[4:], "e_Z": 0.05 * np.ones(6)})
        return m.krig_exp_model(
            np.array([24.171, 24.165]), np.array([15.782, 15.775]), table, meta, x[:4], mode="list"
        )

    yield "fit_radial_linear_trend", trend, [*heights, 0.02, 0.05, 0.03, 0.02, 0.04, 0.03]
    yield "log_likelihood_exp_model", likelihood, [-2.0, 0.8, 8.5, -0.02, *heights]
    yield "krig_exp_model", kriged, [-2.0, 0.8, 8.5, -0.02, *heights]


@package("eispy2d", "microwave imaging")
def eispy2d() -> Iterator[Case]:
    configuration = module("eispy2d.core.configuration")
    richmond = module("eispy2d.discretization.richmond")
    setup = configuration.Configuration(
        name="setup", number_measurements=4, number_sources=3, observation_radius=4.0,
        wavelength=1.0, image_size=[1.0, 1.0], background_permittivity=1.0,
    )  # fmt: skip
    cells = richmond.Richmond(setup, (3, 3))

    def residual(x: Any) -> Any:
        field = np.exp(0.1j * np.arange(27.0)).reshape(9, 3)
        return cells.residual_state(field, contrast=x[:9].reshape(3, 3), total_field=1.1 * field)

    yield "compute_wavenumber", lambda x: configuration.compute_wavenumber(
        1e9 * x[0], epsilon_r=x[1], sigma=0.1 * x[2]
    ), [1.0, 2.5, 0.4]  # fmt: skip
    yield "Richmond.residual_state", residual, [0.1 * v for v in SERIES[:9]]


@package("poligrain", "rain of points, lines and grids")
def poligrain() -> Iterator[Case]:
    m, xr = module("poligrain.validation"), module("xarray")
    spatial = module("poligrain.spatial")

    def metrics(x: Any) -> Any:
        found = m.calculate_rainfall_metrics(x[:12], x[12:], ref_thresh=0.1, est_thresh=0.1)
        return [
            np.asarray(found[key]).reshape(1)
            for key in ("pearson_correlation_coefficient", "root_mean_square_error", "percent_bias")
        ]

    def apart(x: Any) -> Any:
        a = xr.Dataset(coords={"id": ["a", "b"], "x": ("id", x[:2]), "y": ("id", x[2:4])})
        b = xr.Dataset(coords={"id": ["c", "d", "e"], "x": ("id", x[4:7]), "y": ("id", x[7:10])})
        return spatial.calc_point_to_point_distances(a, b).to_numpy()

    yield "calculate_rainfall_metrics", metrics, LONG
    yield "calc_point_to_point_distances", apart, SERIES[:10]


@package("e13tools", "tools for arrays")
def e13tools() -> Iterator[Case]:
    m = module("e13tools")
    corner = [2.0, -1.0, 0.0, 0.3, 1.5, -1.4, 0.1, -1.2, 0.4]
    yield "nearest_PD", lambda x: m.nearest_PD(x.reshape(3, 3)), corner
    yield "diff", lambda x: m.diff(x[:12].reshape(4, 3), x[12:].reshape(4, 3)), LONG
    yield "sort2D", lambda x: m.sort2D(x.reshape(6, 4), axis=0, order=(1, 0)), LONG


@package("pyoptim", "methods of optimization")
def pyoptim() -> Iterator[Case]:
    solve = module("pyoptim.my_numpy.solve")
    decompose = module("pyoptim.my_numpy.decompose")
    square = [1.0, 4.0, -0.5, 3.0, 0.3, 0.8, 1.1, -0.7, 5.0]

    def positive(x: Any) -> Any:
        a = x[:9].reshape(3, 3)
        return a @ a.T + np.eye(3)

    yield "solve.gaussjordan", lambda x: solve.gaussjordan(x[:9].reshape(3, 3), x[9:, None]), [
        *square, 1.0, 2.0, -0.5,
    ]  # fmt: skip
    yield "choleski", lambda x: decompose.choleski(positive(x)), square


@package("spglm", "generalized linear models")
def spglm() -> Iterator[Case]:
    m, family = module("spglm.glm"), module("spglm.family")

    def fitted(kind: str, scale: float) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            design = np.stack([np.ones(12), 0.1 * x[12:]], axis=1)
            found = m.GLM(scale * x[:12, None], design, getattr(family, kind)()).fit(tol=1e-12)
            return [found.params, np.asarray(found.deviance).reshape(1)]

        return values

    yield "GLM, Gaussian", fitted("Gaussian", 1.0), LONG
    yield "GLM, Poisson", fitted("Poisson", 1.0), LONG


@package("openpiv", "velocities from images")
def openpiv() -> Iterator[Case]:
    m, filters = module("openpiv.pyprocess"), module("openpiv.filters")
    smoothn = module("openpiv.smoothn")
    y, x_ = np.mgrid[:5, :5]
    spot = np.exp(-((y - 2.1) ** 2 + (x_ - 1.8) ** 2) / 2.0)
    moved = np.exp(-((y - 2.4) ** 2 + (x_ - 2.2) ** 2) / 2.0)
    pair = [*spot.ravel(), *moved.ravel()]

    def correlation(x: Any) -> Any:
        return m.fft_correlate_images(
            x[:25].reshape(1, 5, 5), x[25:].reshape(1, 5, 5), correlation_method="linear"
        )

    yield "fft_correlate_images", correlation, pair
    yield (
        "find_subpixel_peak_position",
        lambda x: m.find_subpixel_peak_position(x.reshape(5, 5), backend="python"),
        [*spot.ravel()],
    )
    yield "normalize_intensity", lambda x: m.normalize_intensity(x.reshape(2, 3, 4)), LONG
    yield (
        "gaussian",
        lambda x: filters.gaussian(x[:12].reshape(3, 4), x[12:].reshape(3, 4), 1),
        LONG,
    )
    yield "smoothn", lambda x: smoothn.smoothn(x.reshape(6, 4), s=0.7)[0], LONG


@package("das-statistics", "distributions, by hand")
def das_statistics() -> Iterator[Case]:
    m = module("das_statistics.Gaussiandistribution")

    def summary(x: Any) -> Any:
        made = m.Gaussian()
        made.data = [*x]
        return [made.calculate_stdev(), made.calculate_mean(), made.pdf(3.0)]

    yield "Gaussian, data", summary, SERIES
    yield "Gaussian.pdf", lambda x: m.Gaussian(x[0], x[1]).pdf(x[2]), [0.3, 1.2, 0.9]


@package("climate-indices", "droughts")
def climate_indices() -> Iterator[Case]:
    m, moments = module("climate_indices.indices"), module("climate_indices.lmoments")
    compute, eto = module("climate_indices.compute"), module("climate_indices.eto")
    monthly = compute.Periodicity.monthly
    rain = [*(50.0 + 20.0 * np.cos(np.arange(48.0)) + 10.0 * np.sin(0.37 * np.arange(48.0) ** 1.3))]

    def index(x: Any) -> Any:
        found = m.spi(x, 2, m.Distribution.gamma, 2000, 2000, 2003, monthly)
        return found[1:]

    def thornthwaite(x: Any) -> Any:
        return eto.eto_thornthwaite(x, 43.0, 2001)

    yield "spi", index, rain
    yield "lmoments.fit", moments.fit, rain[:12]
    yield "sum_to_scale", lambda x: compute.sum_to_scale(x, 3)[2:], rain[:12]
    yield "eto_thornthwaite", thornthwaite, [v + 6.0 for v in SERIES]


@package("evcouplings", "evolution of proteins")
def evcouplings() -> Iterator[Case]:
    m = module("evcouplings.couplings.mean_field")

    def frequencies(x: Any) -> Any:
        one = x[:6].reshape(3, 2)
        one = one / one.sum(axis=1, keepdims=True)
        pairs = one[:, None, :, None] * one[None, :, None, :]
        return one, pairs * (1.0 + 0.02 * x[6:].reshape(3, 3, 1, 1))

    def covariance(x: Any) -> Any:
        return m.compute_covariance_matrix(*frequencies(x))

    def field(x: Any) -> Any:
        couplings = 0.1 * np.cos(np.arange(36.0)).reshape(3, 3, 2, 2)
        return m.fields(couplings, frequencies(x)[0])

    start = [*SERIES, *SERIES[:3]]
    yield "regularize_pair_frequencies", lambda x: m.regularize_pair_frequencies(
        frequencies(x)[1]
    ), start  # fmt: skip
    yield "compute_covariance_matrix", covariance, start
    yield "fields", field, start
    yield "tilde_fields", lambda x: m.tilde_fields(
        0.1 * x[6:10].reshape(2, 2), frequencies(x)[0][0], frequencies(x)[0][1]
    ), start  # fmt: skip


@package("anupstatlib", "statistics of Python's numbers")
def anupstatlib() -> Iterator[Case]:
    m, d = module("AnupStatLib.correlation"), module("AnupStatLib.dispersion")
    yield "pearson", lambda x: m.pearson([*x[:12]], [*x[12:]]), LONG
    yield "std_dev", lambda x: d.std_dev([*x]), SERIES
    yield "median", lambda x: module("AnupStatLib.descriptive").median([*x]), SERIES


@package("spaghetti", "networks of roads")
def spaghetti() -> Iterator[Case]:
    m = module("spaghetti.util")
    yield "compute_length", lambda x: m.compute_length(x[:2], x[2:]), [0.3, 0.1, 2.0, 1.4]
    yield "squared_distance_point_link", lambda x: m.squared_distance_point_link(
        (x[0], x[1]), ((x[2], x[3]), (x[4], x[5]))
    ), [0.9, 1.1, 0.3, 0.1, 2.0, 0.4]  # fmt: skip


@package("smsfusion", "inertial navigation")
def smsfusion() -> Iterator[Case]:
    m, calibrate = module("smsfusion"), module("smsfusion.calibrate")

    def strapdown(x: Any) -> Any:
        start = np.concatenate([x[:6], np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(6)])
        made = m.StrapdownINS(10.0, start)
        for k in range(3):
            made.update(x[6:9] + 0.1 * k, x[9:12], degrees=False)
        return [made.position(), made.velocity(), made.euler()]

    def calibrated(x: Any) -> Any:
        return calibrate.calibrate(np.array(LONG).reshape(8, 3), x.reshape(8, 3))

    yield "StrapdownINS", strapdown, [
        0.1, 0.2, 0.3, 1.0, -1.0, 0.5, 0.1, -0.2, -9.7, 0.2, 0.1, -0.3,
    ]  # fmt: skip
    yield "quaternion_from_euler", m.quaternion_from_euler, [0.3, -0.4, 1.2]
    yield "calibrate", calibrated, [*(1.1 * np.array(LONG) + 0.2 * np.sin(np.arange(24.0) ** 2))]
