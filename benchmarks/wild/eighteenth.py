"""An eighteenth sample, drawn on 2026-11-29, and written down before any of it was tried.

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

EIGHTEENTH = Sample()
package = EIGHTEENTH.package
LONG = [*(np.array([*SERIES[::-1], *SERIES]) + 0.01 * np.cos(2.3 * np.arange(24.0)))]  # not equal


@package("pytuq", "uncertainty quantification")
def pytuq() -> Iterator[Case]:
    gps, linear = module("pytuq.fit.gp"), module("pytuq.lreg.anl")
    chem, likelihood = module("pytuq.func.chem"), module("pytuq.func.benchmark")
    pce = module("pytuq.surrogates.pce")
    places = np.array([[0.0], [0.7], [1.3], [2.1], [3.0]])

    def process(x: Any) -> Any:
        made = gps.gp(gps.kernel_rbf, [x[0]], nugget=1e-4)
        made.fit(places, x[1:6])
        return made.predict(x[6:].reshape(2, 1), msc=1, pp=True)[:2]

    def regression(x: Any) -> Any:
        made = linear.anl(prior_var=4.0, datavar=0.2)
        design = np.stack([np.ones(6), x[:6], x[:6] ** 2], axis=1)
        made.fita(design, x[6:])
        return [made.cf, made.cf_cov, made.predicta(design, msc=1, pp=True)[1]]

    def chaos(x: Any) -> Any:
        surrogate = pce.PCE(2, 2, "LU")
        surrogate.set_training_data(x[:16].reshape(8, 2) / 8.0, x[16:])
        surrogate.build(regression="lsq")
        return surrogate.evaluate(np.array([[0.1, -0.2], [0.4, 0.6]]))["Y_eval"]

    yield "gp.predict", process, [0.8, 0.1, 0.9, 0.7, -0.2, -0.6, 0.4, 1.7]
    yield "anl.predicta", regression, SERIES
    yield "PCE.evaluate", chaos, LONG
    yield "MullerBrown", lambda x: chem.MullerBrown()(x.reshape(2, 2)), [-0.5, 1.2, 0.3, 0.4]
    yield "MVN", lambda x: likelihood.MVN(x[:2], np.diag([1.2, 0.8]) + 0.1)(x[2:].reshape(2, 2)), [
        0.3, 0.4, 0.5, -0.3, 0.8, 0.1,
    ]  # fmt: skip


@package("rsatoolbox", "representational similarity analysis")
def rsatoolbox() -> Iterator[Case]:
    m, rdms, data = module("rsatoolbox"), module("rsatoolbox.rdm"), module("rsatoolbox.data")

    def recording(x: Any) -> Any:
        return data.Dataset(
            x.reshape(6, 4), obs_descriptors={"stimulus": [0, 1, 2] * 2, "run": [0] * 3 + [1] * 3}
        )

    def distances(method: str, **named: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            return rdms.calc_rdm(
                recording(x), method=method, descriptor="stimulus", **named
            ).dissimilarities

        return values

    def fitted(x: Any) -> Any:
        model = m.model.ModelWeighted("weighted", x[:12].reshape(2, 6))
        return m.model.fitter.fit_regress(model, rdms.RDMs(x[12:].reshape(2, 6)), method="cosine")

    def whitened(x: Any) -> Any:
        noise = data.noise.prec_from_residuals(x.reshape(8, 3), method="shrinkage_diag")
        return rdms.calc_rdm_mahalanobis(data.Dataset(x.reshape(8, 3)), noise=noise).dissimilarities

    yield "calc_rdm, correlation", distances("correlation"), LONG
    yield "calc_rdm, crossnobis", distances("crossnobis", cv_descriptor="run"), LONG
    yield "calc_rdm, poisson", distances("poisson"), LONG
    yield "calc_rdm_mahalanobis", whitened, LONG
    yield "compare_cosine_cov_weighted", lambda x: rdms.compare_cosine_cov_weighted(
        rdms.RDMs(x[:12].reshape(2, 6)), rdms.RDMs(x[12:].reshape(2, 6))
    ), LONG  # fmt: skip
    yield "fit_regress", fitted, LONG


@package("neurom", "shapes of neurons")
def neurom() -> Iterator[Case]:
    m = module("neurom.morphmath")
    yield "segment_volume", lambda x: m.segment_volume((x[:4], x[4:])), [
        0.0, 1.0, 2.0, 0.7, 3.0, 1.5, 0.2, 0.4,
    ]  # fmt: skip
    yield "taper_rate", lambda x: m.taper_rate(x[:4], x[4:]), [
        0.0, 1.0, 2.0, 0.7, 3.0, 1.5, 0.2, 0.4,
    ]  # fmt: skip
    yield "interval_lengths", lambda x: m.interval_lengths(x.reshape(8, 3), prepend_zero=True), LONG
    yield "path_fraction_point", lambda x: m.path_fraction_point(x.reshape(8, 3), 0.4), LONG
    yield "principal_direction_extent", lambda x: m.principal_direction_extent(
        x.reshape(8, 3)
    ), LONG  # fmt: skip


@package("sunpy", "solar physics")
def sunpy() -> Iterator[Case]:
    models, units = module("sunpy.sun.models"), module("astropy.units")
    yield "differential_rotation", lambda x: models.differential_rotation(
        x[0] * units.day, x[1:] * units.deg
    ).value, [2.0, 10.0, -35.0, 60.0]  # fmt: skip
    yield "differential_rotation, snodgrass", lambda x: models.differential_rotation(
        x[0] * units.day, x[1:] * units.deg, model="snodgrass", frame_time="synodic"
    ).value, [2.0, 10.0, -35.0, 60.0]  # fmt: skip


@package("phonopy", "phonons")
def phonopy() -> Iterator[Case]:
    eos = module("phonopy.qha.eos")

    yield "get_eos, vinet", lambda x: eos.get_eos("vinet")(x[:3], x[3:]), [
        95.0, 101.0, 108.0, -5.0, 0.6, 4.2, 102.0,
    ]  # fmt: skip
    yield "get_eos, birch_murnaghan", lambda x: eos.get_eos("birch_murnaghan")(x[:3], x[3:]), [
        95.0, 101.0, 108.0, -5.0, 0.6, 4.2, 102.0,
    ]  # fmt: skip


@package("numpysane", "broadcasting")
def numpysane() -> Iterator[Case]:
    m = module("numpysane")

    def quadratic(x: Any) -> Any:
        def form(matrix: Any, vector: Any) -> Any:
            return m.inner(vector, m.matmult(matrix, m.transpose(vector)).ravel())

        return m.broadcast_define((("n", "n"), ("n",)))(form)(
            x[:18].reshape(2, 3, 3), x[18:].reshape(2, 3)
        )

    yield "inner", lambda x: m.inner(x[:12].reshape(4, 3), x[12:].reshape(4, 3)), LONG
    yield "matmult", lambda x: m.matmult(x[:12].reshape(2, 2, 3), x[12:].reshape(2, 3, 2)), LONG
    yield (
        "glue",
        lambda x: m.glue(x[:6].reshape(2, 3), m.mag(x[6:].reshape(2, 3, 3)), axis=-1),
        LONG,
    )
    yield "broadcast_define", quadratic, LONG


@package("npx", "extensions of NumPy")
def npx() -> Iterator[Case]:
    m = module("npx")
    yield "dot", lambda x: m.dot(x[:12].reshape(2, 2, 3), x[12:].reshape(3, 2, 2)), LONG
    yield "solve", lambda x: m.solve(
        x[:9].reshape(3, 3) + 20.0 * np.eye(3), x[9:21].reshape(3, 2, 2)
    ), LONG  # fmt: skip
    yield (
        "sum_at",
        lambda x: m.sum_at(x.reshape(6, 4), np.array([0, 2, 1, 1, 0, 2]), minlength=4),
        LONG,
    )
    yield "mean", lambda x: [m.mean(x, -1.5), m.mean(x, 2.0), m.mean(x, 0)], SERIES


@package("pygps", "Gaussian processes")
def pygps() -> Iterator[Case]:
    m = module("pyGPs")
    places = np.linspace(-1.0, 1.0, 8)

    def evidence(made: Any, x: Any) -> Any:
        kernel = m.cov.RBF(x[0], x[1]) + m.cov.Linear(x[2])
        made.setPrior(mean=m.mean.Zero(), kernel=kernel)
        made.setNoise(np.log(0.3))
        made.getPosterior(places[:, np.newaxis], x[3:11, np.newaxis])
        return made

    def regression(x: Any) -> Any:
        made = evidence(m.GPR(), x)
        made.predict(x[11:, np.newaxis])
        return [made.nlZ, made.ym, made.ys2]

    def classes(x: Any) -> Any:
        made = m.GPC()
        made.setPrior(kernel=m.cov.Matern(x[0], 3, x[1]))
        made.getPosterior(x[2:10, np.newaxis], np.array([[1.0, 1, -1, 1, -1, -1, 1, -1]]).T)
        return made.nlZ

    yield "GPR", regression, [
        -0.4, 0.1, -0.7, 0.2, 0.5, 0.1, 0.7, 0.3, 0.4, 0.6, 0.3, 0.13, -0.6,
    ]  # fmt: skip
    yield "GPC", classes, [-0.4, 0.6, *places]
    yield "cov.Periodic", lambda x: m.cov.Periodic(*x[:3]).getCovMatrix(
        x=x[3:, np.newaxis], mode="train"
    ), [-0.4, 0.3, 0.6, 0.0, 0.7, 1.9]  # fmt: skip
    yield "cov.RQard", lambda x: m.cov.RQard(2, list(x[:2]), x[2], x[3]).getCovMatrix(
        x=x[4:10].reshape(3, 2), z=x[10:].reshape(1, 2), mode="cross"
    ), [-0.4, 0.3, 0.2, 0.6, 0.0, 0.7, 1.9, 0.4, -0.6, 1.0, 0.3, 0.8]  # fmt: skip


@package("lfpykit", "potentials of neurons")
def lfpykit() -> Iterator[Case]:
    m = module("lfpykit")
    ends = np.array([[0.0, 10.0], [10.0, 22.0], [22.0, 40.0]])

    def cell(x: Any) -> Any:
        return m.CellGeometry(x=x[:6].reshape(3, 2), y=x[6:12].reshape(3, 2), z=ends, d=x[12:15])

    def potential(kind: str) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = getattr(m, kind)(
                cell(x), x=np.array([15.0, 30.0]), y=np.array([9.0, 4.0]), z=np.array([1.0, 50.0])
            )
            return 1e4 * made.get_transformation_matrix()

        return values

    start = [0.0, 1.0, 1.0, 3.0, 3.0, 2.0, 0.0, 2.0, 2.0, 1.0, 1.0, 4.0, 2.0, 1.5, 1.0]
    yield "PointSourcePotential", potential("PointSourcePotential"), start
    yield "LineSourcePotential", potential("LineSourcePotential"), start
    yield "CurrentDipoleMoment", lambda x: m.CurrentDipoleMoment(
        cell(x)
    ).get_transformation_matrix(), start  # fmt: skip
    yield "InfiniteVolumeConductor", lambda x: 1e6 * m.eegmegcalc.InfiniteVolumeConductor(
        x[0]
    ).get_dipole_potential(x[1:4, np.newaxis], x[4:].reshape(2, 3)), [
        0.3, 10.0, 20.0, -5.0, 100.0, 20.0, 30.0, -40.0, 60.0, 90.0,
    ]  # fmt: skip


@package("markov-clustering", "clusters of graphs")
def markov_clustering() -> Iterator[Case]:
    m = module("markov_clustering")
    graph = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0.2], [0, 0, 0.2, 0]])

    def weights(x: Any) -> Any:
        return graph * x.reshape(4, 4)

    yield "iterate", lambda x: m.iterate(m.normalize(weights(x) + np.eye(4)), 2, 2), [
        *(1.0 + 0.3 * np.cos(np.arange(16.0)))
    ]  # fmt: skip
    yield "inflate", lambda x: m.inflate(m.expand(weights(x), 3), 1.5), [
        *(1.0 + 0.3 * np.cos(np.arange(16.0)))
    ]  # fmt: skip


@package("spgl1", "sparse reconstruction")
def spgl1() -> Iterator[Case]:
    m = module("spgl1")
    matrix = np.random.default_rng(18).normal(size=(6, 10))

    yield "oneprojector", lambda x: m.oneprojector(x, 1.0, 6.0), [*SERIES]
    yield "norm_l12nn_primal", lambda x: m.norm_l12nn_primal(3, x, 1.0), SERIES
    yield "spg_lasso", lambda x: m.spg_lasso(matrix, x, 0.3, opt_tol=1e-10)[0], [
        1.0, -0.4, 0.3, 0.9, -1.2, 0.5,
    ]  # fmt: skip


@package("patsy", "design matrices")
def patsy() -> Iterator[Case]:
    m = module("patsy")

    def matrix(formula: str) -> Callable[[Any], Any]:
        return lambda x: np.asarray(m.dmatrix(formula, {"a": x[:6], "b": x[6:]}))

    yield "dmatrix", matrix("a * b + np.log(a) + center(b)"), SERIES
    yield "dmatrix, standardize", matrix("standardize(a):b"), SERIES
    yield "dmatrix, bs", matrix("bs(a, df=4, lower_bound=0, upper_bound=9)"), SERIES
    yield "dmatrix, cr", matrix("cr(b, knots=[2.5, 4.0], lower_bound=0, upper_bound=9)"), SERIES


@package("umap-learn", "manifolds")
def umap() -> Iterator[Case]:
    m = module("umap.distances")
    yield "hellinger", lambda x: m.hellinger(x[:6], x[6:]), SERIES
    yield "ll_dirichlet", lambda x: m.ll_dirichlet(x[:6], x[6:]), SERIES


@package("pyts", "classes of time series")
def pyts() -> Iterator[Case]:
    approximation, image = module("pyts.approximation"), module("pyts.image")
    decomposition, metrics = module("pyts.decomposition"), module("pyts.metrics")
    yield "PiecewiseAggregateApproximation", lambda x: (
        approximation.PiecewiseAggregateApproximation(window_size=4).transform(x.reshape(2, 12))
    ), LONG  # fmt: skip
    yield "SingularSpectrumAnalysis", lambda x: decomposition.SingularSpectrumAnalysis(
        window_size=4
    ).fit_transform(x.reshape(2, 12)), LONG  # fmt: skip
    yield "GramianAngularField", lambda x: image.GramianAngularField(
        image_size=6, sample_range=None
    ).transform(x.reshape(2, 12)), [*(0.1 * np.array(LONG))]  # fmt: skip
    yield "dtw", lambda x: metrics.dtw(x[:12], x[12:]), LONG


@package("skmatter", "features of materials")
def skmatter() -> Iterator[Case]:
    m, before = module("skmatter.metrics"), module("skmatter.preprocessing")
    points = [*np.random.default_rng(18).normal(size=24)]
    target = np.random.default_rng(19).normal(size=(12, 3))

    def kernel(x: Any) -> Any:
        made = x.reshape(8, 3) @ x.reshape(8, 3).T
        return before.KernelNormalizer().fit_transform(made)

    yield "local_prediction_rigidity", lambda x: m.local_prediction_rigidity(
        [x[:6].reshape(2, 3), x[6:15].reshape(3, 3)], [x[15:].reshape(3, 3)], 0.1
    ), points  # fmt: skip
    yield "periodic_pairwise_euclidean_distances", lambda x: (
        m.periodic_pairwise_euclidean_distances(
            x[:12].reshape(4, 3), x[12:].reshape(4, 3), cell_length=[2.5, 3.0, 2.0]
        )
    ), points  # fmt: skip
    yield "pointwise_global_reconstruction_error", lambda x: (
        m.pointwise_global_reconstruction_error(x.reshape(12, 2), target)
    ), points  # fmt: skip
    yield "KernelNormalizer", kernel, points
    yield "StandardFlexibleScaler", lambda x: before.StandardFlexibleScaler(
        column_wise=True
    ).fit_transform(x.reshape(8, 3)), points  # fmt: skip


@package("tidynamics", "correlations of trajectories")
def tidynamics() -> Iterator[Case]:
    m = module("tidynamics")
    yield "acf", lambda x: m.acf(x.reshape(8, 3)), LONG
    yield "msd", lambda x: m.msd(x.reshape(8, 3)), LONG
    yield "correlation", lambda x: m.correlation(x[:12], x[12:]), LONG
    yield "cross_displacement", lambda x: m.cross_displacement(x.reshape(12, 2)), LONG


@package("xrayutilities", "X-ray diffraction")
def xrayutilities() -> Iterator[Case]:
    m, simulation, math = (
        module("xrayutilities"), module("xrayutilities.simpack"), module("xrayutilities.math"),
    )  # fmt: skip
    angles = np.array([0.3, 0.5, 0.8, 1.2])

    def layers(x: Any) -> Any:
        ground = simulation.Layer(m.materials.Si, np.inf, roughness=x[0])
        film = simulation.Layer(m.materials.Ge, x[1], roughness=x[2])
        return simulation.LayerStack("film", ground, film)

    def reflectivity(x: Any) -> Any:
        made = simulation.SpecularReflectivityModel(layers(x), energy="CuKa1", beam_width=x[3])
        return np.log(made.simulate(angles))

    yield "SpecularReflectivityModel", reflectivity, [3.0, 210.0, 4.0, 0.2]
    yield "PseudoVoigt2d", lambda x: math.PseudoVoigt2d(x[:2], x[2:4], *x[4:]), [
        0.2, 0.7, 1.1, 0.4, 0.3, 0.6, 0.5, 0.8, 2.0, 0.1, 0.4, 0.3,
    ]  # fmt: skip


@package("numpy-groupies", "sums by groups")
def numpy_groupies() -> Iterator[Case]:
    m = module("numpy_groupies")
    groups = np.array([0, 2, 1, 1, 0, 2, 0, 0, 1, 2, 2, 1])

    def aggregated(engine: str, how: str) -> Callable[[Any], Any]:
        return lambda x: getattr(m, engine)(groups, x, func=how)

    yield "aggregate, std", aggregated("aggregate", "std"), SERIES
    yield "aggregate_np, var", aggregated("aggregate_np", "var"), SERIES
    yield "aggregate_np, prod", aggregated("aggregate_np", "prod"), SERIES
    yield "aggregate_np, cumsum", aggregated("aggregate_np", "cumsum"), SERIES
    yield "aggregate_np, max", aggregated("aggregate_np", "max"), SERIES


@package("numbagg", "moving sums")
def numbagg() -> Iterator[Case]:
    m = module("numbagg")
    yield "move_mean", lambda x: m.move_mean(x, window=4, min_count=1), SERIES
    yield "move_exp_nanmean", lambda x: m.move_exp_nanmean(x, alpha=0.4), SERIES
    yield "group_nanvar", lambda x: m.group_nanvar(x, np.array([0, 1, 1, 0, 0, 1] * 2)), SERIES
    yield "nancorrmatrix", lambda x: m.nancorrmatrix(x.reshape(3, 8)), LONG


@package("meautility", "arrays of electrodes")
def meautility() -> Iterator[Case]:
    m = module("MEAutility")
    places = np.array([[0.0, 0.0, 0.0], [0.0, 20.0, 0.0], [0.0, 0.0, 20.0]])

    def field(x: Any) -> Any:
        made = m.MEA(places, {"dim": 3, "size": 5, "shape": "square", "model": "semi"})
        made.set_currents(x[:3])
        return made.compute_field(x[3:].reshape(2, 3))

    yield "compute_field", field, [1.0, -2.0, 3.0, 10.0, 20.0, 30.0, 40.0, 5.0, 8.0]
    yield "rotation_matrix", lambda x: m.rotation_matrix(x[:3], x[3]), [0.3, -0.8, 0.5, 0.7]


@package("hyperspy", "spectra of electrons")
def hyperspy() -> Iterator[Case]:
    m = module("hyperspy.components1d")

    def component(kind: str, *names: str, **fixed: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = getattr(m, kind)(**fixed)
            for name, value in zip(names, x, strict=False):
                getattr(made, name).value = value
            return made.function(x[len(names) :])

        return values

    yield "Voigt", component("Voigt", "centre", "area", "gamma", "sigma"), [
        1.0, 2.0, 0.3, 0.4, 0.7, 1.1, 2.0,
    ]  # fmt: skip
    yield "SplitVoigt", component("SplitVoigt", "A", "sigma1", "sigma2", "fraction", "centre"), [
        2.0, 0.7, 0.9, 0.3, 1.0, 0.5, 1.4,
    ]  # fmt: skip
    yield "Doniach", component("Doniach", "A", "centre", "sigma", "alpha"), [
        2.0, 1.0, 0.9, 0.3, 0.5, 1.4,
    ]  # fmt: skip
    yield "PowerLaw", component("PowerLaw", "A", "r", "origin"), [20.0, 2.7, 0.1, 1.5, 2.4]
    yield "SkewNormal", component("SkewNormal", "x0", "A", "scale", "shape"), [
        1.0, 2.0, 0.9, 1.3, 0.5, 1.4,
    ]  # fmt: skip


@package("mintpy", "radar interferometry")
def mintpy() -> Iterator[Case]:
    utils, ramp = module("mintpy.utils.utils0"), module("mintpy.objects.ramp")
    times = module("mintpy.utils.time_func")
    dates = [f"2026{month:02d}01" for month in range(1, 13)]
    terms: dict[str, Any] = {
        "polynomial": 1,
        "periodic": [1.0],
        "stepDate": ["20260615"],
        "exp": {},
        "log": {},
    }

    yield "enu2los", spread(utils.enu2los), [0.1, -0.2, 0.4, 34.0, -168.0]
    yield "deramp", lambda x: ramp.deramp(x.reshape(6, 4), ramp_type="quadratic")[0], LONG
    yield "estimate_time_func", lambda x: times.estimate_time_func(
        terms, dates, x[:, np.newaxis]
    )[1], SERIES  # fmt: skip


@package("arm-pyart", "weather radar")
def pyart() -> Iterator[Case]:
    m = module("pyart.core.transforms")
    testing, retrieve = module("pyart.testing"), module("pyart.retrieve")

    def rain(x: Any) -> Any:
        radar = testing.make_empty_ppi_radar(3, 4, 1)
        radar.add_field("dbz", {"data": np.ma.array(x.reshape(4, 3))})
        return retrieve.est_rain_rate_z(radar, refl_field="dbz")["data"]

    yield "antenna_to_cartesian", lambda x: m.antenna_to_cartesian(x[:3], x[3:6], x[6:]), [
        10.0, 20.0, 35.0, 40.0, 130.0, 250.0, 1.0, 3.0, 9.0,
    ]  # fmt: skip
    yield "antenna_vectors_to_cartesian", lambda x: m.antenna_vectors_to_cartesian(
        x[:3], x[3:5], x[5:]
    ), [1e3, 2e3, 4e3, 40.0, 130.0, 1.0, 3.0]  # fmt: skip
    yield "cartesian_to_geographic_aeqd", lambda x: m.cartesian_to_geographic_aeqd(
        1e3 * x[:3], 1e3 * x[3:6], x[6], x[7]
    ), [10.0, 20.0, 35.0, 40.0, 13.0, 25.0, -97.0, 36.0]  # fmt: skip
    yield "geographic_to_cartesian_aeqd", lambda x: m.geographic_to_cartesian_aeqd(
        x[:2], x[2:4], x[4], x[5]
    ), [-96.5, -97.3, 36.4, 35.8, -97.0, 36.0]  # fmt: skip
    yield "est_rain_rate_z", rain, SERIES


@package("iterative-stats", "running statistics")
def iterative_stats() -> Iterator[Case]:
    mean, variance = (
        module("iterative_stats.iterative_mean").IterativeMean,
        module("iterative_stats.iterative_variance").IterativeVariance,
    )
    covariance = module("iterative_stats.iterative_covariance").IterativeCovariance

    def run(made: Any, *columns: Any) -> Any:
        for values in zip(*columns, strict=True):
            made.increment(*values)
        return made.get_stats()

    yield "IterativeMean", lambda x: run(mean(dim=2), x.reshape(6, 2)), SERIES
    yield "IterativeVariance", lambda x: run(variance(dim=2), x.reshape(6, 2)), SERIES
    yield "IterativeCovariance", lambda x: run(
        covariance(dim=1), x[:6].reshape(6, 1), x[6:].reshape(6, 1)
    ), SERIES  # fmt: skip


@package("gpy", "Gaussian processes")
def gpy() -> Iterator[Case]:
    m = module("GPy")
    places = np.linspace(0.0, 3.0, 7)[:, np.newaxis]

    def evidence(kernel: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = m.models.GPRegression(places, x[:7, np.newaxis], kernel(x[8:]), noise_var=x[7])
            return made.log_likelihood()

        return values

    def predicted(x: Any) -> Any:
        kernel = m.kern.RBF(1, variance=x[8], lengthscale=x[9])
        made = m.models.GPRegression(places, x[:7, np.newaxis], kernel, noise_var=x[7])
        return made.predict(x[10:, np.newaxis])

    waves = [0.0, 0.5, 0.8, 1.0, 0.9, 0.5, 0.1]
    yield "GPRegression, RBF", evidence(lambda x: m.kern.RBF(1, x[0], x[1])), [
        *waves, 0.1, 0.8, 1.2,
    ]  # fmt: skip
    yield "GPRegression, a sum", evidence(
        lambda x: m.kern.Matern32(1, x[0], x[1]) + m.kern.Linear(1, x[2])
    ), [*waves, 0.1, 0.8, 1.2, 0.3]  # fmt: skip
    yield "GPRegression.predict", predicted, [*waves, 0.1, 0.8, 1.2, 0.4, 2.3]
    yield "kern.StdPeriodic", lambda x: m.kern.StdPeriodic(1, x[0], x[1], x[2]).K(places), [
        0.8, 1.7, 0.6,
    ]  # fmt: skip


@package("csb", "structural biology")
def csb() -> Iterator[Case]:
    utils, statistics = module("csb.bio.utils"), module("csb.statistics")
    pdf = module("csb.statistics.pdf")
    points = [*np.random.default_rng(18).normal(size=30)]

    def pair(function: str) -> Callable[[Any], Any]:
        return lambda x: getattr(utils, function)(x[:15].reshape(5, 3), x[15:].reshape(5, 3))

    yield "fit", pair("fit"), points
    yield "rmsd", pair("rmsd"), points
    yield "tm_score", pair("tm_score"), points
    yield "probabilistic_fit", lambda x: utils.wfit(
        x[:15].reshape(5, 3), x[15:].reshape(5, 3), np.arange(1.0, 6.0)
    ), points  # fmt: skip
    yield "autocorrelation", lambda x: statistics.autocorrelation(x, 4), SERIES
    yield "GeneralizedInverseGaussian", lambda x: pdf.GeneralizedInverseGaussian(*x[:3])(
        x[3:]
    ), [1.2, 0.7, 0.4, 0.8, 1.9]  # fmt: skip
    yield "MultivariateGaussian", lambda x: pdf.MultivariateGaussian(
        x[:2], np.diag([1.2, 0.8]) + 0.1
    ).log_prob(x[2:].reshape(2, 2)), [0.3, 0.4, 0.5, -0.3, 0.8, 0.1]  # fmt: skip


@package("wradlib", "weather radar")
def wradlib() -> Iterator[Case]:
    atten, zr = module("wradlib.atten"), module("wradlib.zr")
    dp, ipol, trafo = module("wradlib.dp"), module("wradlib.ipol"), module("wradlib.trafo")
    beams = [*(20.0 + 5.0 * np.cos(np.arange(24.0)))]
    sources = np.random.default_rng(18).normal(size=(12, 2))

    yield "correct_attenuation_hb", lambda x: atten.correct_attenuation_hb(
        x.reshape(2, 12), coefficients={"a": 1.67e-4, "b": 0.7, "gate_length": 1.0}
    ), beams  # fmt: skip
    yield "z_to_r", lambda x: zr.z_to_r(trafo.idecibel(x), a=250.0, b=1.5), beams
    yield "kdp_from_phidp", lambda x: dp.kdp_from_phidp(x.reshape(2, 12), winlen=5), beams
    yield "Idw", ipol.Idw(sources, sources[:3] + 0.2, nnearest=4), SERIES
    yield "OrdinaryKriging", ipol.OrdinaryKriging(
        sources, sources[:3] + 0.2, cov="1.0 Exp(2.0)", nnearest=6
    ), SERIES  # fmt: skip


@package("radio-beam", "radio astronomy")
def radio_beam() -> Iterator[Case]:
    beams, units = module("radio_beam").Beam, module("astropy.units")

    def beam(x: Any) -> Any:
        return beams(x[0] * units.arcsec, x[1] * units.arcsec, x[2] * units.deg)

    def parts(made: Any) -> Any:
        return [made.major.to_value("arcsec"), made.minor.to_value("arcsec"), made.pa.value]

    yield "Beam.convolve", lambda x: parts(beam(x[:3]).convolve(beam(x[3:]))), [
        4.0, 3.0, 20.0, 5.0, 2.0, 70.0,
    ]  # fmt: skip
    yield "Beam.deconvolve", lambda x: parts(beam(x[:3]).deconvolve(beam(x[3:]))), [
        8.0, 6.0, 20.0, 3.0, 2.0, 70.0,
    ]  # fmt: skip
    yield "Beam.jtok", lambda x: 1e-3 * beam(x).jtok(1.4 * units.GHz).value, [4.0, 3.0, 20.0]


@package("cmaes", "evolution strategies")
def cmaes() -> Iterator[Case]:
    m = module("cmaes")
    samples = np.random.default_rng(18).normal(size=(6, 3))

    def generation(kind: str) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = getattr(m, kind)(mean=x, sigma=0.7, seed=1, population_size=6)
            made.tell([(x + 0.5 * one, float(k)) for k, one in enumerate(samples)])
            return made.mean

        return values

    yield "CMA.tell", generation("CMA"), [0.3, -0.5, 1.2]
    yield "get_warm_start_mgd", lambda x: m.get_warm_start_mgd(
        [(one, float(k)) for k, one in enumerate(x.reshape(6, 2))], gamma=0.5, alpha=0.1
    ), SERIES  # fmt: skip


@package("pyamg", "linear systems")
def pyamg() -> Iterator[Case]:
    krylov = module("pyamg.krylov")

    def solved(name: str, **named: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            matrix = np.diag(x[:4]) + np.diag(x[4:7], 1) + np.diag(x[4:7], -1)
            return getattr(krylov, name)(matrix, x[7:], tol=1e-12, **named)[0]

        return values

    start = [4.0, 5.0, 6.0, 4.5, 1.0, 0.7, -0.4, 1.0, 2.0, -0.5, 0.3]
    yield "cg", solved("cg"), start
    yield "bicgstab", solved("bicgstab"), start
    yield "gmres", solved("gmres", orthog="mgs"), start
    yield "minimal_residual", solved("minimal_residual", maxiter=80), start


@package("numkit", "time series")
def numkit() -> Iterator[Case]:
    fitting, series = module("numkit.fitting"), module("numkit.timeseries")
    yield "linfit", lambda x: [
        value for _, value in sorted(fitting.linfit(x[:6], x[6:] + 2.0 * x[:6]).items())
    ], SERIES  # fmt: skip
    yield "Pearson_r", lambda x: fitting.Pearson_r(x[:6], x[6:]), SERIES
    yield "autocorrelation_fft", series.autocorrelation_fft, SERIES
    yield "smooth", lambda x: series.smooth(x, 5, window="hanning"), SERIES


@package("sasmodels", "small-angle scattering")
def sasmodels() -> Iterator[Case]:
    core, direct = module("sasmodels.core"), module("sasmodels.direct_model")
    q = np.array([0.01, 0.05, 0.1, 0.2])

    def model(name: str, *names: str, scale: float = 1.0) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            kernel = core.load_model(name, dtype="double!", platform="python").make_kernel([q])
            return scale * direct.call_kernel(kernel, dict(zip(names, x, strict=True)))

        return values

    yield "guinier", model("guinier", "rg", "scale"), [12.0, 3.0]
    yield "correlation_length", model(
        "correlation_length", "lorentz_scale", "porod_scale", "cor_length", "porod_exp"
    ), [10.0, 1e-3, 50.0, 3.1]  # fmt: skip
    yield "broad_peak", model(
        "broad_peak", "porod_scale", "porod_exp", "peak_scale", "correlation_length", "peak_pos"
    ), [1e-3, 3.0, 10.0, 50.0, 0.11]  # fmt: skip
    yield "dab", model("dab", "cor_length", scale=1e-3), [40.0]


@package("quaternionic", "quaternions")
def quaternionic() -> Iterator[Case]:
    m = module("quaternionic")
    yield "product", lambda x: (m.array(x[:4]) * m.array(x[4:])).ndarray, [
        0.3, 0.8, -0.4, 0.5, 1.0, 0.2, 0.7, -0.6,
    ]  # fmt: skip
    yield "log", lambda x: np.log(m.array(x)).ndarray, [0.3, 0.8, -0.4, 0.5]
    yield "to_rotation_matrix", lambda x: m.array(x).to_rotation_matrix, [0.3, 0.8, -0.4, 0.5]
    yield "rotate", lambda x: m.array(x[:4]).rotate(x[4:].reshape(2, 3)), [
        0.3, 0.8, -0.4, 0.5, 1.0, 0.2, 0.7, -0.6, 2.0, 0.1,
    ]  # fmt: skip
    yield "slerp", lambda x: m.slerp(
        m.array(x[:4]).normalized, m.array(x[4:8]).normalized, x[8]
    ).ndarray, [0.3, 0.8, -0.4, 0.5, 1.0, 0.2, 0.7, -0.6, 0.4]  # fmt: skip


@package("pyspectral", "satellite channels")
def pyspectral() -> Iterator[Case]:
    black, _solar = module("pyspectral.blackbody"), module("pyspectral.solar")
    yield "blackbody", lambda x: 1e-6 * black.blackbody(1e-6 * x[:2], x[2]), [3.7, 11.0, 300.0]
    yield "blackbody_wn", lambda x: 1e4 * black.blackbody_wn(1e4 * x[:2], x[2]), [9.0, 12.0, 290.0]
    yield "blackbody_rad2temp", lambda x: black.blackbody_rad2temp(1e-6 * x[0], 1e6 * x[1:]), [
        11.0, 8.0, 9.5,
    ]  # fmt: skip


@package("arpys", "photoemission")
def arpys() -> Iterator[Case]:
    m, after = module("arpys.fit2d"), module("arpys.postprocessing")

    def width(_: Any) -> float:
        return 0.02

    def spectrum(x: Any) -> Any:
        broad = {
            "lamb": x[4], "T": 10.0, "i_step": 0.1, "e_step": -0.07, "w_step": 0.02,
            "i_gauss": 0.05, "e_gauss": -0.1, "w_gauss": 0.03, "offset": 0.01,
        }  # fmt: skip
        band = m.band_factory(x[0], x[1])
        return m.arpes_intensity(x[2:4], -0.2, x[5], broad, {"e0": -2.0, "e1": 2.0}, band, width)

    yield "arpes_intensity", spectrum, [-0.5, 1.2, 0.1, 0.3, 2.0, 1.5]
    yield "im_sigma", lambda x: m.im_sigma(x[:3], *x[3:]), [
        -0.3, -0.1, 0.05, 2.0, 10.0, 0.1, -0.07, 0.02, 0.05, -0.1, 0.03, 0.01,
    ]  # fmt: skip
    yield "normalize_per_segment", lambda x: after.normalize_per_segment(
        x.reshape(1, 4, 6)
    ), LONG  # fmt: skip


@package("navarp", "photoemission")
def navarp() -> Iterator[Case]:
    m, level = module("navarp.utils.ktransf"), module("navarp.utils.fermilevel")
    yield "get_k_along_slit", lambda x: m.get_k_along_slit(
        x[:2], x[2:4], x[4], p_hv=True, hv=x[5], tht_ap=x[6]
    ), [80.0, 95.0, 3.0, -7.0, 1.0, 100.0, 45.0]  # fmt: skip
    yield "get_k_perp_slit", lambda x: m.get_k_perp_slit(
        x[:2], x[2:4], x[4], x[5], x[6]
    ), [80.0, 95.0, 3.0, -7.0, 1.0, 4.0, 0.5]  # fmt: skip
    yield "fermi_fun", lambda x: level.fermi_fun(x[:3], *x[3:]), [
        9.8, 10.1, 10.3, 10.0, 0.2, 3.0, 0.2, 0.4,
    ]  # fmt: skip


@package("logomaker", "motifs of sequences")
def logomaker() -> Iterator[Case]:
    m, pandas = module("logomaker"), module("pandas")

    def transformed(**named: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            table = pandas.DataFrame(x.reshape(6, 4), columns=list("ACGT"))
            return m.transform_matrix(table, **named).to_numpy()

        return values

    yield "counts to information", transformed(from_type="counts", to_type="information"), LONG
    yield "counts to weights", transformed(from_type="counts", to_type="weight"), LONG
    yield "center_values", transformed(center_values=True), LONG


@package("pymbar", "free energies")
def pymbar() -> Iterator[Case]:
    m, series = module("pymbar"), module("pymbar.timeseries")
    solvers, others = module("pymbar.mbar_solvers"), module("pymbar.other_estimators")
    energies = [*(0.5 * np.random.default_rng(18).normal(size=24) + np.repeat([0.0, 0.4, 0.9], 8))]
    counts = np.array([3, 3, 2])

    def differences(x: Any) -> Any:
        made = m.MBAR(x.reshape(3, 8), counts, relative_tolerance=1e-12)
        return made.compute_free_energy_differences(compute_uncertainty=False)["Delta_f"]

    yield "MBAR", differences, energies
    yield "mbar_objective", lambda x: solvers.mbar_objective(
        x[:24].reshape(3, 8), counts, x[24:]
    ), [*energies, 0.0, 0.3, 0.8]  # fmt: skip
    yield "bar", lambda x: list(others.bar(x[:4], x[4:]).values()), [
        1.2, 0.7, 1.9, 1.1, -0.6, -1.0, -0.2, -0.9,
    ]  # fmt: skip
    yield "exp_gauss", lambda x: list(others.exp_gauss(x).values()), [1.2, 0.7, 1.9, 1.1]
    yield "statistical_inefficiency", lambda x: series.statistical_inefficiency(
        x, mintime=2
    ), WAVE  # fmt: skip


@package("elecsolver", "electric systems")
def elecsolver() -> Iterator[Case]:
    m = module("ElecSolver")
    linalg = module("scipy.sparse.linalg")

    def solved(x: Any) -> Any:
        nodes = np.array([[0, 0, 1, 1, 2], [1, 2, 2, 3, 3]], dtype=int)
        made = m.FrequencySystemBuilder(
            nodes, x[:5] + 1j * x[5:10], np.array([[0], [3]], dtype=int), np.array([0.1j])
        )
        made.set_ground(3)
        made.add_current_source(x[10], input_node=3, output_node=0)
        made.build_system()
        system, right = made.get_system(sparse_rhs=False)
        found = linalg.spsolve(system.tocsc(), right)
        return made.build_intensity_and_voltage_from_vector(found)[:2]

    yield "FrequencySystemBuilder", solved, [
        1.0, 2.0, 1.5, 0.7, 1.2, 0.3, -0.4, 0.6, 0.2, 0.5, 1.0,
    ]  # fmt: skip


@package("seirsplus", "epidemics")
def seirsplus() -> Iterator[Case]:
    m = module("seirsplus.models")

    def epidemic(**named: float) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = m.SEIRSModel(
                beta=x[0], sigma=x[1], gamma=x[2], mu_I=x[3], initN=1000, initI=20, **named
            )
            made.run(T=30, verbose=False)
            return [made.numS[-1], made.numE[-1], made.numI[-1], made.numR[-1], made.numF[-1]]

        return values

    start = [0.35, 0.2, 0.1, 0.01]
    yield "SEIRSModel", epidemic(), start
    yield "SEIRSModel, testing", epidemic(
        theta_I=0.05, psi_I=0.9, beta_Q=0.1, sigma_Q=0.2, gamma_Q=0.1, mu_Q=0.01, q=0.1
    ), start  # fmt: skip


@package("dask-glm", "generalized linear models")
def dask_glm() -> Iterator[Case]:
    families, penalties = module("dask_glm.families"), module("dask_glm.regularizers")
    design = np.random.default_rng(18).normal(size=(8, 3))
    labels = np.array([0.0, 1, 1, 0, 1, 0, 0, 1])

    yield "Logistic", lambda x: families.Logistic.pointwise_loss(x, design, labels), [
        0.3, -0.8, 1.1,
    ]  # fmt: skip
    yield "Poisson", lambda x: families.Poisson.pointwise_gradient(x, design, labels), [
        0.3, -0.8, 1.1,
    ]  # fmt: skip
    yield "Normal", lambda x: families.Normal.pointwise_loss(x[:3], design, x[3:]), [
        0.3, -0.8, 1.1, *SERIES[:8],
    ]  # fmt: skip
    yield "ElasticNet", lambda x: [
        penalties.ElasticNet(0.4).f(x), penalties.ElasticNet(0.4).proximal_operator(x, 0.2),
    ], [0.3, -0.8, 1.1]  # fmt: skip


@package("hep-ml", "particle physics")
def hep_ml() -> Iterator[Case]:
    losses, pandas = module("hep_ml.losses"), module("pandas")
    labels = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0])
    places = pandas.DataFrame({"mass": np.linspace(0.0, 1.0, 12)})

    def loss(kind: str, **named: Any) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made = getattr(losses, kind)(**named).fit(places, labels, np.ones(12))
            return [made(x), made.negative_gradient(x)]

        return values

    def ranked(x: Any) -> Any:
        made = losses.RankBoostLossFunction("query")
        made.fit(pandas.DataFrame({"query": np.repeat([0, 1], 6)}), labels, np.ones(12))
        return made.negative_gradient(x)

    scores = [*(0.3 * np.array(SERIES) - 1.2)]
    yield "LogLossFunction", loss("LogLossFunction"), scores
    yield "AdaLossFunction", loss("AdaLossFunction"), scores
    yield "RankBoostLossFunction", ranked, scores


@package("xskillscore", "verification of forecasts")
def xskillscore() -> Iterator[Case]:
    m, xarray = module("xskillscore"), module("xarray")

    def field(x: Any) -> Any:
        return xarray.DataArray(x.reshape(4, 3), dims=["time", "x"])

    def score(name: str, **named: Any) -> Callable[[Any], Any]:
        return lambda x: getattr(m, name)(field(x[:12]), field(x[12:]), **named).values

    yield "pearson_r", score("pearson_r", dim="time"), LONG
    yield "rmse", score("rmse", dim="x"), LONG
    yield "crps_gaussian", lambda x: m.crps_gaussian(
        field(x[:12]), 3.5, field(x[12:]), dim="x"
    ).values, LONG  # fmt: skip
    yield "smape", score("smape", dim="time"), LONG


@package("python-picard", "independent components")
def picard() -> Iterator[Case]:
    densities, m = module("picard.densities"), module("picard")
    noise = np.random.default_rng(18).laplace(size=(2, 40))

    def components(x: Any) -> Any:
        found = m.picard(
            noise + x.reshape(2, 1) * np.sin(np.arange(40.0)), ortho=False, w_init=np.eye(2),
            tol=1e-12, max_iter=300,
        )  # fmt: skip
        return np.abs(found[1])

    yield "picard", components, [0.4, -0.7]
    yield "densities.Tanh", lambda x: [
        densities.Tanh({"alpha": 1.3}).log_lik(x), *densities.Tanh({"alpha": 1.3}).score_and_der(x),
    ], SERIES  # fmt: skip
    yield "amari_distance", lambda x: m.amari_distance(x[:9].reshape(3, 3), x[9:].reshape(3, 3)), [
        *np.random.default_rng(18).normal(size=18)
    ]  # fmt: skip


@package("pycbc", "gravitational waves")
def pycbc() -> Iterator[Case]:
    conversions, cosmology = module("pycbc.conversions"), module("pycbc.coordinates")
    yield "mchirp_from_mass1_mass2", spread(conversions.mchirp_from_mass1_mass2), [31.0, 22.0]
    yield "tau0_from_mass1_mass2", lambda x: conversions.tau0_from_mass1_mass2(x[0], x[1], x[2]), [
        31.0, 22.0, 20.0,
    ]  # fmt: skip
    yield "chi_p", spread(conversions.chi_p), [31.0, 22.0, 0.3, 0.2, -0.1, 0.4]
    yield "cartesian_to_spherical", spread(cosmology.cartesian_to_spherical), [0.3, -0.7, 1.1]


@package("pyrocko", "seismology")
def pyrocko() -> Iterator[Case]:
    tensors = module("pyrocko.moment_tensor")

    def source(x: Any) -> Any:
        made = tensors.MomentTensor(strike=x[0], dip=x[1], rake=x[2], scalar_moment=x[3])
        return [made.m(), made.both_strike_dip_rake(), made.p_axis()]

    def tensor(x: Any) -> Any:
        made = tensors.MomentTensor(m=tensors.symmat6(*x))
        return [made.both_strike_dip_rake(), made.standard_decomposition()[1][2]]

    yield "MomentTensor of angles", source, [130.0, 40.0, 110.0, 2.0]
    yield "MomentTensor", tensor, [1.0, -0.4, -0.5, 0.3, 0.7, -0.2]
    yield "magnitude_to_moment", lambda x: [
        1e-18 * tensors.magnitude_to_moment(x[0]), tensors.moment_to_magnitude(1e18 * x[1]),
    ], [6.1, 2.0]  # fmt: skip


@package("pypulse", "pulsars")
def pypulse() -> Iterator[Case]:
    m = module("pypulse.utils")
    yield "shiftit", lambda x: m.shiftit(x[:12], x[12]), [*SERIES, 1.3]
    yield "acf", m.acf, SERIES
    yield "weighted_moments", lambda x: m.weighted_moments(x[:6], x[6:]), SERIES


@package("mdanalysis", "molecular dynamics")
def mdanalysis() -> Iterator[Case]:
    m, transformations = module("MDAnalysis.lib.mdamath"), module("MDAnalysis.lib.transformations")
    points = [*np.random.default_rng(18).normal(size=24)]
    yield "dihedral", lambda x: m.dihedral(x[:3], x[3:6], x[6:]), points[:9]
    yield "superimposition_matrix", lambda x: transformations.superimposition_matrix(
        x[:12].reshape(3, 4), x[12:].reshape(3, 4), usesvd=True
    ), points  # fmt: skip
    yield "rotation_matrix", lambda x: transformations.rotation_matrix(x[0], x[1:4], x[4:]), [
        0.7, *points[:6],
    ]  # fmt: skip
    yield "quaternion_slerp", lambda x: transformations.quaternion_slerp(x[:4], x[4:8], x[8]), [
        *points[:8], 0.4,
    ]  # fmt: skip
    yield "stp", lambda x: m.stp(x[:3], x[3:6], x[6:]), points[:9]


@package("centrosome", "images of cells")
def centrosome() -> Iterator[Case]:
    smooth, zernike = module("centrosome.smooth"), module("centrosome.zernike")
    ndimage = module("scipy.ndimage")
    mask = np.ones((6, 4), bool)
    mask[2, 1] = False

    def smoothed(image: Any) -> Any:
        return ndimage.gaussian_filter(image, 1.2)

    yield "fit_polynomial", lambda x: smooth.fit_polynomial(
        0.1 * x.reshape(6, 4), mask
    ), LONG  # fmt: skip
    yield "smooth_with_function_and_mask", lambda x: smooth.smooth_with_function_and_mask(
        x.reshape(6, 4), smoothed, mask
    ), LONG  # fmt: skip
    yield "construct_zernike_polynomials", lambda x: zernike.construct_zernike_polynomials(
        x[:4].reshape(2, 2), x[4:].reshape(2, 2), zernike.get_zernike_indexes(5)
    ), [0.1, 0.4, -0.3, 0.2, 0.5, -0.2, 0.3, 0.6]  # fmt: skip


@package("pdb2pqr", "electrostatics of proteins")
def pdb2pqr() -> Iterator[Case]:
    m, utilities = module("pdb2pqr.quatfit"), module("pdb2pqr.utilities")
    points = np.random.default_rng(18).normal(size=(4, 3))
    turned = points[:, [1, 2, 0]] + 0.05 * points**2

    def placed(x: Any) -> Any:
        return m.find_coordinates(4, list(x[:12].reshape(4, 3)), points.tolist(), list(x[12:]))

    yield "find_coordinates", placed, [*turned.ravel(), 0.4, 0.3, -0.7]
    yield "dihedral", lambda x: utilities.dihedral(x[:3], x[3:6], x[6:9], x[9:]), [*points.ravel()]
    yield "angle", lambda x: utilities.angle(x[:3], x[3:6], x[6:]), [*points.ravel()[:9]]


@package("freesas", "small-angle scattering")
def freesas() -> Iterator[Case]:
    m, guiniers = module("freesas.invariants"), module("freesas._autorg")
    q = np.linspace(0.01, 0.3, 12)

    def guinier(x: Any) -> Any:
        return guiniers.RG_RESULT(x[12], 0.1, x[13], 0.1, 0, 5, 0.9, 0.1)

    def data(x: Any) -> Any:
        return np.stack([q, x[:12], np.full(12, 0.1)], axis=1)

    start = [*(10.0 * np.exp(-((20.0 * q) ** 2) / 3.0) + 0.1), 20.0, 10.1]
    yield "extrapolate", lambda x: m.extrapolate(data(x), guinier(x)), start
    yield "calc_Porod", lambda x: m.calc_Porod(data(x), guinier(x)), start


@package("denss", "density maps")
def denss() -> Iterator[Case]:
    m = module("denss.core")
    yield "chi2", lambda x: m.chi2(x[:6], x[6:], np.arange(1.0, 7.0)), SERIES
    yield "calc_rg_by_guinier_first_2_points", lambda x: m.calc_rg_by_guinier_first_2_points(
        x[:2], x[2:]
    ), [0.01, 0.02, 9.0, 8.6]  # fmt: skip
    yield "rho2rg", lambda x: m.rho2rg(x.reshape(3, 3, 3), side=10.0, dx=5.0), [
        *(1.0 + 0.3 * np.cos(np.arange(27.0)))
    ]  # fmt: skip


@package("hmmlearn", "hidden Markov models")
def hmmlearn() -> Iterator[Case]:
    m = module("hmmlearn.hmm")

    def model(x: Any) -> Any:
        made = m.GaussianHMM(n_components=2, covariance_type="diag")
        made.startprob_ = np.array([0.6, 0.4])
        made.transmat_ = np.stack([[x[0], 1.0 - x[0]], [1.0 - x[1], x[1]]])
        made.means_ = x[2:4].reshape(2, 1)
        made.covars_ = x[4:6].reshape(2, 1)
        return made

    start = [0.7, 0.8, 2.5, 5.0, 1.1, 1.6, *SERIES]
    yield "GaussianHMM.score", lambda x: model(x).score(x[6:, np.newaxis]), start
    yield "GaussianHMM.predict_proba", lambda x: model(x).predict_proba(x[6:, np.newaxis]), start
    yield "get_stationary_distribution", lambda x: model(x).get_stationary_distribution(), start[:6]


@package("py-bobyqa", "optimization")
def pybobyqa() -> Iterator[Case]:
    m = module("pybobyqa")

    def least(x: Any) -> Any:
        def cost(z: Any) -> Any:
            return (z[0] - x[0]) ** 2 + x[1] * (z[1] - z[0] * x[2]) ** 2 + 0.3 * z[1] ** 2

        return m.solve(cost, np.array([0.4, 0.2]), rhoend=1e-10).f

    yield "solve", least, [1.0, 2.0, 0.7]


@package("xgcm", "grids of ocean models")
def xgcm() -> Iterator[Case]:
    m, xarray = module("xgcm"), module("xarray")

    def grid(x: Any, padding: str) -> tuple[Any, Any]:
        data = xarray.Dataset(
            {"T": (("x_c",), x), "dx": (("x_g",), np.linspace(1.0, 2.0, 12))},
            coords={"x_c": np.arange(12.0) + 0.5, "x_g": np.arange(12.0)},
        )
        made = m.Grid(
            data, coords={"X": {"center": "x_c", "left": "x_g"}}, padding=padding,
            metrics={("X",): ["dx"]}, autoparse_metadata=False,
        )  # fmt: skip
        return made, data

    def applied(name: str, padding: str) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            made, data = grid(x, padding)
            return getattr(made, name)(data["T"], "X").values

        return values

    yield "Grid.diff", applied("diff", "periodic"), SERIES
    yield "Grid.interp", applied("interp", "extend"), SERIES
    yield "Grid.derivative", applied("derivative", "fill"), SERIES
    yield "Grid.cumsum", applied("cumsum", "fill"), SERIES


@package("shap", "explanations of models")
def shap() -> Iterator[Case]:
    m = module("shap")
    behind = np.random.default_rng(18).normal(size=(5, 3))

    def explained(x: Any) -> Any:
        def model(z: Any) -> Any:
            return np.tanh(z @ x[:3]) + x[3] * z[:, 0] * z[:, 1]

        explainer = m.explainers.ExactExplainer(model, m.maskers.Independent(behind))
        return explainer(np.array([[0.3, -0.8, 1.1]])).values

    def linear(x: Any) -> Any:
        explainer = m.explainers.LinearExplainer((x[:3], 0.2), behind)
        return explainer.shap_values(x[3:].reshape(1, 3))

    yield "ExactExplainer", explained, [0.4, -0.7, 0.9, 0.5]
    yield "LinearExplainer", linear, [0.4, -0.7, 0.9, 0.3, -0.8, 1.1]


@package("astrodendro", "structures of clouds")
def astrodendro() -> Iterator[Case]:
    m, units = module("astrodendro.analysis"), module("astropy.units")
    places = tuple(one.ravel() for one in np.mgrid[0:4, 0:3])

    def scalar(x: Any) -> Any:
        made = m.ScalarStatistic(x, places)
        return [made.mom0(), made.mom1(), made.mom2(), made.mom2_along((1.0, 0.4))]

    def axes(x: Any) -> Any:
        made = m.PPStatistic(m.ScalarStatistic(x, places), {"data_unit": units.Jy})
        return [made.major_sigma.value, made.minor_sigma.value, made.position_angle.value]

    yield "ScalarStatistic", scalar, SERIES
    yield "PPStatistic", axes, SERIES


@package("pyresample", "geometry of satellites")
def pyresample() -> Iterator[Case]:
    m = module("pyresample.spherical")
    yield "SCoordinate.distance", lambda x: m.SCoordinate(*x[:2]).distance(m.SCoordinate(*x[2:])), [
        0.2, 0.9, 0.5, 0.7,
    ]  # fmt: skip
    yield "SphPolygon.area", lambda x: m.SphPolygon(x.reshape(4, 2)).area(), [
        0.0, 0.1, 0.1, 0.9, 1.0, 1.0, 0.9, 0.0,
    ]  # fmt: skip
    yield "Arc.angle", lambda x: m.Arc(m.SCoordinate(*x[:2]), m.SCoordinate(*x[2:4])).angle(
        m.Arc(m.SCoordinate(*x[:2]), m.SCoordinate(*x[4:]))
    ), [0.2, 0.9, 0.5, 0.7, 0.1, 0.3]  # fmt: skip


@package("pyscf", "quantum chemistry")
def pyscf() -> Iterator[Case]:
    m, diis = module("pyscf.symm.sph"), module("pyscf.lib.diis")

    def extrapolated(x: Any) -> Any:
        made = diis.DIIS()
        made.update(x[:6], xerr=x[6:])
        return made.update(2.0 * x[:6] + 1.0, xerr=x[6:] * np.cos(np.arange(6.0)) + 0.3)

    yield "real_sph_vec", lambda x: m.real_sph_vec(x.reshape(4, 3), 3), SERIES
    yield "DIIS", extrapolated, SERIES


@package("gpyopt", "Bayesian optimization")
def gpyopt() -> Iterator[Case]:
    general, cases = (
        module("GPyOpt.util.general"),
        module("GPyOpt.objective_examples.experiments2d"),
    )

    def improvement(x: Any) -> Any:
        density, cumulative, quantile = general.get_quantiles(0.01, x[0], x[1:4], x[4:])
        return x[4:] * (quantile * cumulative + density)

    yield "get_quantiles", improvement, [0.3, 0.2, 0.6, -0.1, 0.4, 0.5, 0.9]
    yield "branin", lambda x: cases.branin().f(x.reshape(2, 2)), [1.2, 4.0, -2.0, 7.5]
    yield "goldstein", lambda x: 1e-3 * cases.goldstein().f(x.reshape(2, 2)), [0.3, -0.6, 1.1, 0.2]


@package("qutip-qip", "quantum circuits")
def qutip_qip() -> Iterator[Case]:
    m = module("qutip_qip.circuit")

    def unitary(x: Any) -> Any:
        made = m.QubitCircuit(2)
        made.add_gate("RX", targets=0, arg_value=x[0])
        made.add_gate("RY", targets=1, arg_value=x[1])
        made.add_gate("CNOT", controls=0, targets=1)
        made.add_gate("RZ", targets=1, arg_value=x[2])
        return made.compute_unitary().full()

    yield "compute_unitary", unitary, [0.4, 1.1, -0.7]


@package("qsymm", "symmetries of Hamiltonians")
def qsymm() -> Iterator[Case]:
    m = module("qsymm.groups")
    yield "rotation", lambda x: np.asarray(m.rotation(x[0], x[1:]).R), [0.2, 0.3, -0.8, 0.5]
    yield "spin_rotation", lambda x: m.spin_rotation(x, 1), [0.3, -0.8, 0.5]


@package("sarsen", "synthetic aperture radar")
def sarsen() -> Iterator[Case]:
    m, orbits, xarray = module("sarsen.geocoding"), module("sarsen.orbit"), module("xarray")
    pandas = module("pandas")
    times = pandas.date_range("2026-01-01", periods=7, freq="10s", unit="ns")
    turns = 0.001 * 10.0 * np.arange(7.0)

    def path(x: Any) -> Any:
        places = x[0] * np.stack([np.cos(turns), np.sin(turns), 0.3 * np.sin(turns)], axis=1)
        return orbits.OrbitPolyfitInterpolator.from_position(
            xarray.DataArray(
                places, dims=["azimuth_time", "axis"],
                coords={"azimuth_time": times, "axis": [0, 1, 2]},
            ),
            deg=3,
        )  # fmt: skip

    def geocoded(x: Any) -> Any:
        ground = xarray.DataArray(
            x[1:].reshape(2, 3), dims=["y", "axis"], coords={"axis": [0, 1, 2]}
        )
        return m.backward_geocode(ground, path(x), method="newton")["dem_distance"].values

    yield "OrbitPolyfitInterpolator", lambda x: path(x).velocity(
        xarray.DataArray(times[:2], dims=["azimuth_time"], name="azimuth_time")
    ).values, [7.0]  # fmt: skip
    yield "backward_geocode", geocoded, [7.0, 6.2, 0.2, 0.4, 6.1, 0.25, -0.3]
