"""An eighth sample, drawn on 2026-11-24 after the seventh, and written down before any was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread
from .later import WAVE
from .seventh import POSITIVE, STRESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .functions import Case

EIGHTH = Sample()
package = EIGHTH.package
OTHER = np.array([2.5, 0.3, 0.3, 1.5]).reshape(2, 2)
"""A positive definite matrix of two rows."""
SQUARE = [0.0, 0.0, 2.0, 0.1, 2.1, 1.0, 0.1, 1.2]
"""The corners of a quadrilateral."""


def spd(x: Any) -> Any:
    """The positive definite matrix that a vector of four numbers gives."""
    found: Any = x.reshape(2, 2) @ x.reshape(2, 2).T + np.eye(2)
    return found


@package("EMD-signal", "mode decomposition")
def emd_signal() -> Iterator[Case]:
    m, splines = module("PyEMD"), module("PyEMD.splines")
    knots, places = np.arange(6.0), np.array([0.3, 1.7, 3.2])
    yield "akima", lambda x: splines.akima(knots, x, places), SERIES[:6]
    yield "cubic_spline_3pts", lambda x: splines.cubic_spline_3pts(knots[:3], x, places[:2])[1], [
        1.0, 3.0, 2.0,
    ]  # fmt: skip
    yield "EMD.emd", lambda x: m.EMD().emd(x, max_imf=1), WAVE


@package("mir_eval", "music information")
def mir_eval() -> Iterator[Case]:
    melody, beat = module("mir_eval.melody"), module("mir_eval.beat")
    alignment = module("mir_eval.alignment")
    times = np.array([0.0, 0.1, 0.2, 0.3])

    def resampled(x: Any) -> Any:
        return melody.resample_melody_series(times, x, np.ones(4), times[:3] + 0.04)[0]

    def aligned(x: Any) -> Any:
        return alignment.absolute_error(np.array([1.0, 2.2, 3.1]), x)

    yield "hz2cents", melody.hz2cents, [220.0, 330.0, 441.0]
    yield "resample_melody_series", resampled, [220.0, 330.0, 441.0, 350.0]
    yield "cemgil", lambda x: beat.cemgil(np.array([6.0, 6.5, 7.0]), x), [6.01, 6.52, 6.97]
    yield "absolute_error", aligned, [1.1, 2.15, 3.4]


@package("mosqito", "psychoacoustics")
def mosqito() -> Iterator[Case]:
    m = module("mosqito.sq_metrics")

    def sharp(x: Any) -> Any:
        found = x[0] + x[1] * np.linspace(0.0, 1.0, 240)
        return m.sharpness_din_from_loudness(np.sum(found) * 0.1, found)

    yield "sone_to_phon", lambda x: [m.sone_to_phon(x[0]), m.sone_to_phon(x[1])], [3.0, 0.6]
    yield "sharpness_din_from_loudness", sharp, [0.5, 0.3]


@package("pyriemann", "brain-computer interfaces")
def pyriemann() -> Iterator[Case]:
    d, mean = module("pyriemann.utils.distance"), module("pyriemann.utils.mean")
    base = module("pyriemann.utils.base")
    point = [1.2, 0.3, 0.2, 0.9]
    yield "distance_riemann", lambda x: d.distance_riemann(spd(x), OTHER), point
    yield "geodesic_riemann", lambda x: mean.geodesic_riemann(spd(x), OTHER, 0.3), point
    yield "mean_riemann", lambda x: mean.mean_riemann(np.stack([spd(x), OTHER])), point
    yield "logm", lambda x: base.logm(spd(x)), point


@package("pymanopt", "manifold optimisation")
def pymanopt() -> Iterator[Case]:
    m = module("pymanopt.manifolds")
    sphere, frames, matrices = m.Sphere(3), m.Stiefel(3, 2), m.SymmetricPositiveDefinite(2)
    pole = np.array([0.6, 0.0, 0.8])
    yield "Sphere.exp", lambda x: sphere.exp(pole, sphere.projection(pole, x)), [0.2, 0.5, 0.1]
    yield "Sphere.dist", lambda x: sphere.dist(pole, x / np.linalg.norm(x)), [0.2, 0.5, 0.1]
    yield "Stiefel.retraction", lambda x: frames.retraction(np.eye(3, 2), x.reshape(3, 2)), [
        0.1, 0.3, 0.2, 0.4, 0.1, 0.5,
    ]  # fmt: skip
    yield "SymmetricPositiveDefinite.dist", lambda x: matrices.dist(spd(x), OTHER), [1, 0.3, 0.2, 1]


@package("pysindy", "nonlinear dynamics")
def pysindy() -> Iterator[Case]:
    d = module("pysindy.differentiation")
    times = np.linspace(0.0, 1.1, 12)

    yield "SpectralDerivative", lambda x: d.SpectralDerivative()(x[:, None], times), SERIES
    yield "FiniteDifference", lambda x: d.FiniteDifference()(x[:, None], times), SERIES
    yield (
        "SmoothedFiniteDifference",
        lambda x: d.SmoothedFiniteDifference()(x[:, None], times),
        (SERIES),
    )


@package("dit", "information theory")
def dit() -> Iterator[Case]:
    m, shannon, dependence = module("dit"), module("dit.shannon"), module("dit.multivariate")
    names, chances = ["00", "01", "10", "11"], [0.1, 0.3, 0.4, 0.2]

    def given(x: Any) -> Any:
        return m.Distribution(names, x / np.sum(x))

    yield "entropy_pmf", lambda x: shannon.entropy_pmf(x / np.sum(x)), chances
    yield "mutual_information", lambda x: shannon.mutual_information(given(x), [0], [1]), chances
    yield "total_correlation", lambda x: dependence.total_correlation(given(x)), chances


@package("factor_analyzer", "factor analysis")
def factor_analyzer() -> Iterator[Case]:
    m, rotator = module("factor_analyzer.factor_analyzer"), module("factor_analyzer.rotator")

    def table(x: Any) -> Any:
        return x.reshape(-1, 3)

    loadings = [0.8, 0.1, 0.7, 0.3, 0.2, 0.9, 0.1, 0.6]
    yield "corr", lambda x: m.corr(table(x)), [*SERIES, 2.2, 3.1, 0.4]
    yield "smc", lambda x: m.smc(m.corr(table(x))), [*SERIES, 2.2, 3.1, 0.4]
    yield "partial_correlations", lambda x: np.asarray(m.partial_correlations(table(x))), [
        *SERIES, 2.2, 3.1, 0.4,
    ]  # fmt: skip
    yield "Rotator, varimax", lambda x: rotator.Rotator().fit_transform(x.reshape(4, 2)), loadings


@package("linearmodels", "panel econometrics")
def linearmodels() -> Iterator[Case]:
    m, covariance = module("linearmodels.iv"), module("linearmodels.shared.covariance")
    known = np.array(SERIES)[:, None]
    regressor = np.stack([np.ones(12), np.arange(12.0)], axis=1)

    def fitted(x: Any) -> Any:
        return np.asarray(m.IV2SLS(x, regressor, known, known**2 + 1.0).fit().params)

    yield (
        "cov_kernel",
        lambda x: covariance.cov_kernel(x.reshape(-1, 2), np.array([1.0, 0.5])),
        (SERIES),
    )
    yield (
        "cov_cluster",
        lambda x: covariance.cov_cluster(x.reshape(-1, 2), np.arange(6) // 2),
        (SERIES),
    )
    yield "IV2SLS", fitted, POSITIVE


@package("lifelines", "survival analysis")
def lifelines() -> Iterator[Case]:
    u, m = module("lifelines.utils"), module("lifelines")
    design = np.stack([np.ones(12), np.array(SERIES)], axis=1)

    def ridge(x: Any) -> Any:
        return u.ridge_regression(design, x[:12], c1=x[12])[0]

    def kernel(x: Any) -> Any:
        return u.epanechnikov_kernel(x[:3], x[1], x[3])

    def weibull(x: Any) -> Any:
        return m.WeibullFitter()._cumulative_hazard(x, np.array([1.0, 2.0, 5.0]))  # noqa: SLF001  it has no public name

    yield "epanechnikov_kernel", kernel, [1.0, 1.2, 0.7, 2.0]
    yield "ridge_regression", ridge, [*POSITIVE, 0.5]
    yield "Weibull hazard", weibull, [2.0, 1.4]


@package("powerlaw", "heavy tails")
def powerlaw() -> Iterator[Case]:
    m = module("powerlaw")
    data = np.array([1.2, 2.3, 1.7, 5.1, 9.4])

    def ratio(x: Any) -> Any:
        return m.loglikelihood_ratio(x[:4], x[4:])

    def density(x: Any) -> Any:
        return m.Power_Law(xmin=1.0, parameters=[x[0]]).pdf(data)

    def fitted(x: Any) -> Any:
        return m.Fit(x, xmin=1.0, verbose=0).power_law.alpha

    yield "loglikelihood_ratio", ratio, SERIES[:8]
    yield "Power_Law.pdf", density, [2.3]
    yield "Fit", fitted, [1.2, 2.3, 1.7, 5.1, 9.4]


@package("pygam", "additive models")
def pygam() -> Iterator[Case]:
    links, distributions = module("pygam.links"), module("pygam.distributions")
    u, penalties = module("pygam.utils"), module("pygam.penalties")
    counts = np.array([1.0, 3.0, 2.0])

    def basis(x: Any) -> Any:
        return u.b_spline_basis(x, np.array([0.0, 1.0]), n_splines=5, sparse=False, verbose=False)

    def deviance(x: Any) -> Any:
        return distributions.PoissonDist().deviance(counts, x, scaled=False)

    def curved(x: Any) -> Any:
        return x @ penalties.derivative(4, x).toarray() @ x

    binomial = distributions.BinomialDist()
    yield "LogitLink.mu", lambda x: links.LogitLink().mu(x, binomial), [0.3, -0.7]
    yield "PoissonDist.deviance", deviance, [1.2, 2.1, 2.7]
    yield "b_spline_basis", basis, [0.13, 0.42, 0.81]
    yield "derivative penalty", curved, SERIES[:4]


@package("dynesty", "nested sampling")
def dynesty() -> Iterator[Case]:
    m, u = module("dynesty.bounding"), module("dynesty.utils")
    samples = np.array(SERIES).reshape(6, 2)

    def volume(x: Any) -> Any:
        return m.Ellipsoid(2, np.zeros(2), spd(x)).logvol

    def moments(x: Any) -> Any:
        return u.mean_and_cov(samples, x)

    yield "Ellipsoid.logvol", volume, [1.2, 0.3, 0.2, 0.9]
    yield "mean_and_cov", moments, POSITIVE[:6]
    yield "quantile", lambda x: u.quantile(x, [0.3, 0.7], weights=np.arange(1.0, 7.0)), SERIES[:6]
    yield "bounding_ellipsoid", lambda x: m.bounding_ellipsoid(x.reshape(6, 2)).cov, SERIES


@package("getdist", "posterior densities")
def getdist() -> Iterator[Case]:
    g, d = module("getdist.gaussian_mixtures"), module("getdist.densities")
    axis = np.linspace(-1.0, 2.0, 12)

    def density(x: Any) -> Any:
        return g.Gaussian2D(x[:2], spd(x[2:])).pdf(0.3, 0.4)

    yield "Gaussian2D.pdf", density, [0.1, 0.2, 1.2, 0.3, 0.2, 0.9]
    yield "Density1D.Prob", lambda x: d.Density1D(axis, x).Prob(np.array([0.1, 0.7])), POSITIVE
    yield "getContourLevels", lambda x: d.getContourLevels(x.reshape(3, 4)), POSITIVE


@package("bilby", "gravitational waves")
def bilby() -> Iterator[Case]:
    c, prior = module("bilby.gw.conversion"), module("bilby.core.prior")
    likelihood = module("bilby.core.likelihood")
    times, data = np.linspace(0.0, 1.0, 5), np.array([0.3, 0.7, 1.1, 0.2, 0.5])

    def masses(x: Any) -> Any:
        total = c.chirp_mass_and_mass_ratio_to_total_mass(x[0], x[1])
        return c.total_mass_and_mass_ratio_to_component_masses(x[1], total)

    def line(time: Any, slope: Any, start: Any) -> Any:
        return slope * time + start

    def fit(x: Any) -> Any:
        found = likelihood.GaussianLikelihood(times, data, line, sigma=0.3)
        return found.log_likelihood({"slope": x[0], "start": x[1]})

    yield "component masses", masses, [28.0, 0.8]
    yield "PowerLaw.prob", lambda x: prior.PowerLaw(-2.0, 5.0, 50.0).prob(x), [7.0, 31.0]
    yield "Cosine.rescale", lambda x: prior.Cosine().rescale(x[0]), [0.3]
    yield "GaussianLikelihood", fit, [0.4, 0.3]


@package("radvel", "exoplanets")
def radvel() -> Iterator[Case]:
    o, k = module("radvel.orbit"), module("radvel.kepler")
    times = np.array([1.0, 3.3, 7.1, 11.9])

    def velocity(x: Any) -> Any:
        return k.rv_drive(times, x, use_c_kepler_solver=False)

    def anomaly(x: Any) -> Any:
        return o.true_anomaly(times, x[0], x[1], x[2])

    yield "timetrans_to_timeperi", spread(o.timetrans_to_timeperi), [3.0, 12.0, 0.3, 0.7]
    yield "true_anomaly", anomaly, [3.0, 12.3, 0.3]
    yield "rv_drive", velocity, [12.3, 3.0, 0.3, 0.7, 55.0]


@package("hmf", "cosmic structure")
def hmf() -> Iterator[Case]:
    f, filters = module("hmf.mass_function.fitting_functions"), module("hmf.density_field.filters")
    waves = np.logspace(-2, 1, 60)

    def sigma(x: Any) -> Any:
        return filters.TopHat(waves, x[0] * waves / (1.0 + (10.0 * waves) ** 3)).sigma(x[1:])

    yield "PS.fsigma", lambda x: f.PS(nu2=x).fsigma, [0.5, 1.3, 2.2]
    yield "SMT.fsigma", lambda x: f.SMT(nu2=x).fsigma, [0.5, 1.3, 2.2]
    yield "TopHat.sigma", sigma, [1.3, 4.0, 8.0]
    yield "TopHat.real_space", lambda x: filters.Gaussian(waves, waves).k_space(x), [0.5, 1.3]


@package("qcelemental", "quantum chemistry")
def qcelemental() -> Iterator[Case]:
    u, m = module("qcelemental.util"), module("qcelemental.molutil")
    points = [0.0, 0.1, 0.2, 1.0, 0.2, 0.1, 1.3, 1.1, 0.4, 2.0, 1.2, 1.5]
    fixed = np.array(points).reshape(4, 3) @ np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1.0]])

    def dihedral(x: Any) -> Any:
        return u.compute_dihedral(*x.reshape(4, 3), degrees=True)

    def aligned(x: Any) -> Any:
        return m.kabsch_align(fixed + 0.1, x.reshape(4, 3) ** 2)[0]

    yield "compute_angle", lambda x: u.compute_angle(*x.reshape(4, 3)[:3]), points
    yield "compute_dihedral", dihedral, points
    yield "distance_matrix", lambda x: u.distance_matrix(x.reshape(4, 3), fixed), points
    yield "kabsch_align", aligned, points


@package("pymatgen-core", "materials")
def pymatgen() -> Iterator[Case]:
    m, op = module("pymatgen.core"), module("pymatgen.core.operations")
    cell = [4.0, 5.0, 6.0, 80.0, 95.0, 105.0]

    def spacing(x: Any) -> Any:
        return m.Lattice.from_parameters(*x).d_hkl((1, 1, 0))

    def turned(x: Any) -> Any:
        found = op.SymmOp.from_axis_angle_and_translation([0, 0, 1], x[0], translation_vec=x[1:4])
        return found.operate([0.3, 0.4, 0.5])

    yield "Lattice.volume", lambda x: m.Lattice.from_parameters(*x).volume, cell
    yield "Lattice.d_hkl", spacing, cell
    yield "Lattice.angles", lambda x: m.Lattice(x.reshape(3, 3)).angles, STRESS
    yield "SymmOp.operate", turned, [30.0, 0.1, 0.2, 0.3]


@package("Dans-Diffraction", "diffraction")
def dans_diffraction() -> Iterator[Case]:
    g = module("Dans_Diffraction.functions_general")
    c = module("Dans_Diffraction.functions_crystallography")

    def line(x: Any) -> Any:
        return g.distance2line(x[:3], x[3:6], x[6:9])

    yield "rot3D", lambda x: g.rot3D(x[:3], x[3], x[4], x[5]), [1.0, 0.5, 0.2, 30.0, 40.0, 50.0]
    yield "cart2sph", g.cart2sph, [1.0, 0.5, 0.2]
    yield "distance2line", line, STRESS
    yield "xray_scattering_factor", lambda x: c.xray_scattering_factor("Fe", x), [0.4, 1.7]


@package("refnx", "reflectometry")
def refnx() -> Iterator[Case]:
    m = module("refnx.reflect")
    q = np.array([0.02, 0.06, 0.11])

    def slabs(x: Any) -> Any:
        return np.array([[0, 2.07, 0, 0], [x[0], x[1], 0, x[2]], [0, 6.36, 0, 3.0]])

    yield "reflectivity", lambda x: m.reflectivity(q, slabs(x), dq=0.0), [100.0, 3.47, 4.0]
    yield "sld_profile", lambda x: m.sld_profile(slabs(x), z=np.array([-5.0, 20.0, 101.0]))[1], [
        100.0, 3.47, 4.0,
    ]  # fmt: skip
    yield "Erf", lambda x: m.Erf()(x, scale=2.0, loc=0.3), [0.1, 0.7]


@package("poppy", "telescope optics")
def poppy() -> Iterator[Case]:
    z = module("poppy.zernike")

    def surface(x: Any) -> Any:
        return z.zernike(3, 1, rho=x[:3], theta=x[3:])

    yield "R", lambda x: z.R(4, 2, x), [0.3, 0.6, 0.9]
    yield "zernike", surface, [0.3, 0.6, 0.9, 0.1, 1.1, 2.1]
    yield "zernike1", lambda x: z.zernike1(7, rho=x[:3], theta=x[3:]), [0.3, 0.6, 0.9, 0.1, 1, 2]


@package("iadpython", "tissue optics")
def iadpython() -> Iterator[Case]:
    m = module("iadpython")

    def layer(x: Any) -> Any:
        return m.Sample(a=x[0], b=x[1], g=x[2], n=1.4, quad_pts=4).rt()

    yield "fresnel_reflection", spread(m.fresnel_reflection), [1.0, 0.7, 1.4]
    yield "specular_rt", spread(m.specular_rt), [1.5, 1.4, 1.5, 0.7, 0.9]
    yield "glass", spread(m.glass), [1.0, 1.5, 1.4, 0.7]
    yield "Sample.rt", layer, [0.8, 2.0, 0.5]


@package("filter_functions", "qubit control")
def filter_functions() -> Iterator[Case]:
    m, u, n = (
        module("filter_functions"),
        module("filter_functions.util"),
        module("filter_functions.numeric"),
    )
    sx, sz = np.array([[0, 1], [1, 0]]), np.array([[1, 0], [0, -1]])
    omega = np.linspace(0.1, 3.0, 7)

    def eigenvalues(x: Any) -> Any:
        hamiltonians = x[:2, None, None] * sx + x[2:4, None, None] * sz
        values, _, propagators = n.diagonalize(hamiltonians, np.array([0.3, 0.5]))
        return [values, propagators]

    def infidelity(x: Any) -> Any:
        pulse = m.PulseSequence([[sx / 2, x[:2]]], [[sz / 2, np.ones(2)]], [0.3, 0.5])
        return m.infidelity(pulse, 1e-2 / omega, omega)

    yield "integrate", lambda x: u.integrate(x, np.array(POSITIVE).cumsum()), SERIES
    yield "cexp", u.cexp, [0.3, 0.7]
    yield "diagonalize", eigenvalues, [0.9, 0.4, 0.3, 0.7]
    yield "infidelity", infidelity, [1.3, 0.7]


@package("physics-tenpy", "tensor networks")
def tenpy() -> Iterator[Case]:
    t, c = module("tenpy.tools.math"), module("tenpy.linalg.np_conserved")

    def product(x: Any) -> Any:
        found = c.Array.from_ndarray_trivial(x.reshape(2, 2), labels=["a", "b"])
        return c.tensordot(found, found, axes=("b", "a")).to_ndarray()

    def norm(x: Any) -> Any:
        return c.norm(c.Array.from_ndarray_trivial(x.reshape(2, 2), labels=["a", "b"]))

    yield "entropy", lambda x: t.entropy(x / np.sum(x), 1), [0.1, 0.3, 0.4]
    yield "Renyi entropy", lambda x: t.entropy(x / np.sum(x), 2), [0.1, 0.3, 0.4]
    yield "tensordot", product, [0.9, 0.4, 0.3, 0.7]
    yield "norm", norm, [0.9, 0.4, 0.3, 0.7]


@package("solidspy", "finite elements")
def solidspy() -> Iterator[Case]:
    u, f = module("solidspy.uelutil"), module("solidspy.femutil")

    def quadrilateral(x: Any) -> Any:
        return u.uel4nquad(x.reshape(4, 2), 0.3, 2.0)[0]

    def strain(x: Any) -> Any:
        return f.str_el3(np.array(SQUARE[:6]).reshape(3, 2), x)[0]

    yield "uel4nquad", quadrilateral, SQUARE
    yield "uel3ntrian", lambda x: u.uel3ntrian(x[:6].reshape(3, 2), x[6], x[7])[0], [
        *SQUARE[:6], 0.3, 2.0,
    ]  # fmt: skip
    yield "umat", lambda x: f.umat(x[0], x[1]), [0.3, 2.0]
    yield "str_el3", strain, SERIES[:6]


@package("fipy", "finite volumes")
def fipy() -> Iterator[Case]:
    m = module("fipy")

    def variable(x: Any) -> Any:
        found = m.CellVariable(mesh=m.Grid1D(nx=4, dx=0.5), value=x)
        return found.faceGrad.value

    def diffusion(x: Any) -> Any:
        grid = m.Grid1D(nx=5, dx=0.2)
        found = m.CellVariable(mesh=grid, value=0.0)
        found.constrain(0.0, grid.facesLeft)
        found.constrain(1.0, grid.facesRight)
        (m.DiffusionTerm(coeff=x[0]) == -x[1]).solve(var=found)
        return found.value

    yield "faceGrad", variable, SERIES[:4]
    yield (
        "cell average",
        lambda x: m.CellVariable(mesh=m.Grid1D(nx=4, dx=0.5), value=x).cellVolumeAverage.value,
        SERIES[:4],
    )
    yield "DiffusionTerm.solve", diffusion, [1.3, 0.7]


@package("pygasflow", "gas dynamics")
def pygasflow() -> Iterator[Case]:
    i, s = module("pygasflow.isentropic"), module("pygasflow.shockwave")
    yield "prandtl_meyer_angle", lambda x: i.prandtl_meyer_angle(x[0], x[1]), [2.1, 1.4]
    yield "m_from_critical_area_ratio", lambda x: i.m_from_critical_area_ratio(x[0], "super"), [2.1]
    yield "beta_from_mach_theta", lambda x: s.beta_from_mach_theta(x[0], x[1]), [3.0, 12.0]
    yield "mach_downstream", lambda x: s.mach_downstream(x[0], x[1]), [2.1, 1.4]


@package("openmdao", "design optimisation")
def openmdao() -> Iterator[Case]:
    m, units = module("openmdao.api"), module("openmdao.utils.units")
    interpolation = module("openmdao.components.interp_util.interp")

    def model(x: Any) -> Any:
        problem = m.Problem()
        component = m.ExecComp("y = a * sin(b) + a ** 2")
        problem.model.add_subsystem("c", component, promotes=["*"])
        problem.setup()
        problem.set_val("a", x[0])
        problem.set_val("b", x[1])
        problem.run_model()
        return problem.get_val("y")

    def table(x: Any) -> Any:
        return interpolation.InterpND(
            method="lagrange2", points=np.arange(5.0), values=x
        ).interpolate([1.3])

    yield "convert_units", lambda x: units.convert_units(x, "degF", "degC"), [50.0, 70.0]
    yield "ExecComp", model, [1.3, 0.7]
    yield "InterpND", table, SERIES[:5]
    yield "sine_distribution", lambda x: m.sine_distribution(5, start=x[0], end=x[1]), [0.3, 1.7]


@package("rainflow", "fatigue cycles")
def rainflow() -> Iterator[Case]:
    m = module("rainflow")

    def cycles(x: Any) -> Any:
        return [part for one in m.extract_cycles(x) for part in one[:3]]

    yield "extract_cycles", cycles, SERIES
    yield "reversals", lambda x: [value for _, value in m.reversals(x)], SERIES
    yield "count_cycles", lambda x: [value for pair in m.count_cycles(x) for value in pair], SERIES


@package("eofs", "climate variability")
def eofs() -> Iterator[Case]:
    m = module("eofs.standard")
    scores = np.array([0.3, -0.7, 0.9, 0.1, -0.6])

    def variances(x: Any) -> Any:
        return m.Eof(x.reshape(5, 3)).eigenvalues()

    point = [*SERIES, 2.2, 3.1, 0.4]
    yield "Eof.eigenvalues", variances, point
    yield "correlation_map", lambda x: m.correlation_map(scores, x.reshape(5, 3)), point
    yield "covariance_map", lambda x: m.covariance_map(scores, x.reshape(5, 3)), point


@package("pyTMD", "ocean tides")
def pytmd() -> Iterator[Case]:
    m = module("pyTMD.astro")
    yield "polynomial_sum", lambda x: m.polynomial_sum(x[:3], x[3:]), [1.0, 0.3, 0.2, 0.7, 1.3]
    yield "rotate", lambda x: m.rotate(x[0], "y"), [0.7]
    yield "schureman_arguments", lambda x: m.schureman_arguments(x[:1], x[1:]), [0.7, 1.1]
    yield "solar_distance", lambda x: m.solar_distance(59000.0 + x) / 1e9, [10.0, 60.0]


@package("pyfao56", "irrigation")
def pyfao56() -> Iterator[Case]:
    m = module("pyfao56.refet")

    def daily(x: Any) -> Any:
        return m.ascedaily("S", 100.0, 40.0, 187, x[0], x[1], x[2], rhmax=x[3], rhmin=x[4])

    def dew(x: Any) -> Any:
        return m.ascedaily("T", 100.0, 40.0, 187, x[0], x[1], x[2], tdew=x[3], wndsp=x[4])

    def hourly(x: Any) -> Any:
        return m.ascehourly("S", 100.0, 40.0, 105.0, 105.0, 187, 12.5, x[0], x[1], rhum=x[2])

    yield "ascedaily", daily, [22.0, 34.0, 15.0, 80.0, 30.0]
    yield "ascedaily, dew point", dew, [22.0, 34.0, 15.0, 12.0, 2.5]
    yield "ascehourly", hourly, [2.2, 30.0, 45.0]


@package("spectral", "hyperspectral images")
def spectral() -> Iterator[Case]:
    m, a = module("spectral.algorithms"), module("spectral.algorithms.algorithms")
    members = np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0]])

    def image(x: Any) -> Any:
        return x.reshape(2, 2, 3)

    yield "spectral_angles", lambda x: m.spectral_angles(image(x), members), POSITIVE
    yield "msam", lambda x: m.msam(image(x), members), POSITIVE
    yield "orthogonalize", lambda x: m.orthogonalize(x.reshape(2, 3)), POSITIVE[:6]
    yield "matrix_sqrt", lambda x: a.matrix_sqrt(spd(x), symmetric=True), [1.2, 0.3, 0.2, 0.9]


@package("mplstereonet", "structural geology")
def mplstereonet() -> Iterator[Case]:
    m = module("mplstereonet.stereonet_math")

    def fisher(x: Any) -> Any:
        vector, statistics = m.fisher_stats(x[:4], x[4:])
        return [vector, statistics]

    yield "pole", spread(m.pole), [120.0, 40.0]
    yield "plane_intersection", spread(m.plane_intersection), [120.0, 40.0, 30.0, 65.0]
    yield "fisher_stats", fisher, [0.3, 0.4, 0.2, 0.35, 0.7, 0.6, 0.75, 0.5]
    yield "project_onto_plane", spread(m.project_onto_plane), [120.0, 40.0, 30.0, 65.0]


@package("pmagpy", "palaeomagnetism")
def pmagpy() -> Iterator[Case]:
    m = module("pmagpy.pmag")

    def mean(x: Any) -> Any:
        found = m.fisher_mean([[x[0], x[1]], [x[2], x[3]], [x[4], x[5]]])
        return [found["dec"], found["inc"], found["k"]]

    yield "dir2cart", m.dir2cart, [30.0, 50.0, 1.2]
    yield "cart2dir", m.cart2dir, [0.3, 0.5, 0.7]
    yield "fisher_mean", mean, [30.0, 50.0, 36.0, 48.0, 28.0, 55.0]
    yield "dia_vgp", spread(m.dia_vgp), [4.0, 41.0, 5.0, 33.0, -117.0]


@package("verde", "gridding")
def verde() -> Iterator[Case]:
    m, u = module("verde"), module("verde.utils")
    east, north = np.array(SERIES[:6]), np.array(POSITIVE[6:])

    def trend(x: Any) -> Any:
        return m.Trend(degree=1).fit((east, north), x).coef_

    def spline(x: Any) -> Any:
        found = m.Spline(damping=0.1).fit((east, north), x)
        return found.predict((east + 0.3, north))

    yield "Trend.fit", trend, POSITIVE[:6]
    yield "Spline.fit", spline, POSITIVE[:6]
    yield "variance_to_weights", u.variance_to_weights, POSITIVE[:6]


@package("geoana", "geophysical fields")
def geoana() -> Iterator[Case]:
    s, g = module("geoana.em.static"), module("geoana.gravity")
    places = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 1.2]])

    def loop(x: Any) -> Any:
        found = s.CircularLoopWholeSpace(radius=x[0], current=x[1])
        return found.magnetic_field(places)

    def sphere(x: Any) -> Any:
        found = s.ElectrostaticSphere(x[0], x[1], x[2], primary_field=np.array([1.0, 0.0, 0.0]))
        return found.potential(places)

    yield "CircularLoopWholeSpace", loop, [1.3, 0.7]
    yield "ElectrostaticSphere", sphere, [1.3, 0.7, 0.2]
    yield (
        "PointMass",
        lambda x: g.PointMass(mass=x[0] * 1e9).gravitational_field(x[1:].reshape(1, 3)),
        [2.0, 1.0, 0.5, 0.7],
    )
    yield "Sphere", lambda x: g.Sphere(x[0], x[1] * 1e9).gravitational_potential(places), [2.0, 1.3]


@package("NavPy", "inertial navigation")
def navpy() -> Iterator[Case]:
    m = module("navpy")
    yield "lla2ecef", spread(m.lla2ecef), [51.2, -2.4, 120.0]
    yield "lla2ned", spread(m.lla2ned), [51.2, -2.4, 120.0, 51.1, -2.3, 100.0]
    yield "angle2quat", spread(m.angle2quat), [0.3, 0.7, 0.2]
    yield "ecef2lla", m.ecef2lla, [3822566.3, -144427.5, 5086857.2]


@package("ezdxf", "drawings")
def ezdxf() -> Iterator[Case]:
    m = module("ezdxf.math")

    def circle(x: Any) -> Any:
        found = m.ConstructionCircle.from_3p((x[0], x[1]), (x[2], x[3]), (x[4], x[5]))
        return [found.radius, found.center.x, found.center.y]

    def turned(x: Any) -> Any:
        return list(m.Vec3(x[0], x[1], x[2]).rotate(x[3]))

    yield "ConstructionCircle.from_3p", circle, [0.0, 0.1, 1.0, 0.2, 0.7, 1.3]
    yield "Vec3.rotate", turned, [1.0, 0.5, 0.2, 0.7]
    yield "gps_to_world_mercator", spread(m.gps_to_world_mercator), [11.0, 46.0]
    yield "area", lambda x: m.area(m.Vec2.list(x.reshape(4, 2))), SQUARE


@package("svgpathtools", "vector graphics")
def svgpathtools() -> Iterator[Case]:
    m = module("svgpathtools")

    def cubic(x: Any) -> Any:
        return m.CubicBezier(*(complex(x[2 * k], x[2 * k + 1]) for k in range(4)))

    yield "CubicBezier.point", lambda x: cubic(x).point(0.3), SQUARE
    yield "CubicBezier.length", lambda x: cubic(x).length(), SQUARE
    yield "CubicBezier.curvature", lambda x: cubic(x).curvature(0.3), SQUARE
    yield "bezier_point", lambda x: m.bezier_point(list(x), 0.3), SQUARE[2:6]


@package("fonttools", "type design")
def fonttools() -> Iterator[Case]:
    b, t = module("fontTools.misc.bezierTools"), module("fontTools.misc.transform")

    def pairs(x: Any) -> Any:
        return [tuple(pair) for pair in x.reshape(-1, 2)]

    def moved(x: Any) -> Any:
        found = t.Identity.rotate(x[0]).scale(x[1], x[2]).inverse()
        return found.transformPoint((x[3], x[4]))

    yield "calcQuadraticArcLength", lambda x: b.calcQuadraticArcLength(*pairs(x)), SQUARE[:6]
    yield "calcCubicBounds", lambda x: b.calcCubicBounds(*pairs(x)), [0, 0, 1, 2, 3, -1, 2, 1]
    yield "solveQuadratic", spread(b.solveQuadratic), [1.0, -3.1, 1.9]
    yield "Transform", moved, [0.3, 1.2, 0.8, 0.5, 0.7]


@package("metrolopy", "uncertain quantities")
def metrolopy() -> Iterator[Case]:
    m = module("metrolopy")

    def product(x: Any) -> Any:
        found = m.gummy(x[0], u=x[1]) * m.gummy(x[2], u=x[3])
        return [found.x, found.u]

    def length(x: Any) -> Any:
        found = m.gummy(x[0], u=x[1], unit="cm").convert("m")
        return [found.x, found.u]

    yield "product", product, [1.3, 0.1, 0.7, 0.05]
    yield "convert", length, [130.0, 2.0]
    yield "sin", lambda x: m.sin(m.gummy(x[0], u=x[1])).u, [0.7, 0.1]


@package("biosppy", "biosignals")
def biosppy() -> Iterator[Case]:
    m = module("biosppy.signals.tools")
    wave = np.array(WAVE)

    def locked(x: Any) -> Any:
        return m.phase_locking(signal1=x, signal2=np.roll(wave, 3) + 0.1 * wave**2)["plf"]

    yield "smoother", lambda x: m.smoother(signal=x, kernel="hamming", size=5)["signal"], WAVE
    yield "phase_locking", locked, WAVE
    yield "signal_stats", lambda x: list(m.signal_stats(signal=x)), WAVE
    yield "rms_error", lambda x: m.rms_error(x=x, y=wave + 0.3)["rmse"], [*WAVE[1:], 0.2]


@package("kineticstoolkit", "biomechanics")
def kineticstoolkit() -> Iterator[Case]:
    m = module("kineticstoolkit.geometry")
    points = np.array([[1.0, 2.0, 3.0, 1.0], [0.3, 0.4, 0.1, 1.0]])

    def turned(x: Any) -> Any:
        return m.rotate(points, "zx", x[None], degrees=False)

    def local(x: Any) -> Any:
        frames = m.rotate(np.eye(4)[None], "zx", x[None, :2], degrees=False)
        return m.get_local_coordinates(points[:1], m.translate(frames, x[None, 2:]))

    yield "rotate", turned, [0.3, 0.7]
    yield "get_local_coordinates", local, [0.3, 0.7, 0.1, 0.2, 0.4]
    yield "get_distances", lambda x: m.get_distances(x.reshape(2, 4), points), [
        *SERIES[:3], 1.0, *SERIES[3:6], 1.0,
    ]  # fmt: skip


@package("tsfresh", "time series features")
def tsfresh() -> Iterator[Case]:
    m = module("tsfresh.feature_extraction.feature_calculators")
    yield "autocorrelation", lambda x: m.autocorrelation(x, 2), SERIES
    yield "cid_ce", lambda x: m.cid_ce(x, normalize=True), SERIES
    yield "c3", lambda x: m.c3(x, 1), SERIES
    yield (
        "fft_aggregated",
        lambda x: [value for _, value in m.fft_aggregated(x, [{"aggtype": "centroid"}])],
        SERIES,
    )


@package("pyglmnet", "generalised linear models")
def pyglmnet() -> Iterator[Case]:
    m = module("pyglmnet.pyglmnet")
    design = np.array(SERIES).reshape(6, 2) * 0.2
    counts = np.array([1.0, 2.0, 0.0, 3.0, 1.0, 1.0])

    def rates(x: Any) -> Any:
        return m.simulate_glm("poisson", x[0], x[1:], design, sample=False)

    def likelihood(x: Any) -> Any:
        return m._logL("softplus", counts, np.exp(design @ x))  # noqa: SLF001  it has no public name

    yield "simulate_glm", rates, [0.1, 0.3, 0.2]
    yield "log likelihood", likelihood, [0.3, 0.2]
    yield "binomial", lambda x: m.simulate_glm("binomial", x[0], x[1:], design, sample=False), [
        0.1, 0.3, 0.2,
    ]  # fmt: skip


@package("spreg", "spatial econometrics")
def spreg() -> Iterator[Case]:
    m, d = module("spreg.ols"), module("spreg.diagnostics")
    design = np.stack([np.ones(6), np.array(SERIES[:6])], axis=1)

    def fitted(x: Any) -> Any:
        return m.BaseOLS(x[:, None], design)

    yield "BaseOLS.betas", lambda x: fitted(x).betas, POSITIVE[6:]
    yield "log_likelihood", lambda x: d.log_likelihood(fitted(x)), POSITIVE[6:]
    yield "r2", lambda x: d.r2(fitted(x)), POSITIVE[6:]
    yield "akaike", lambda x: d.akaike(fitted(x)), POSITIVE[6:]


@package("pmutt", "thermochemistry")
def pmutt() -> Iterator[Case]:
    vib, trans = module("pmutt.statmech.vib"), module("pmutt.statmech.trans")
    rot = module("pmutt.statmech.rot")

    def vibration(x: Any) -> Any:
        found = vib.HarmonicVib(vib_wavenumbers=[x[0], x[1]])
        return [found.get_SoR(T=x[2]), found.get_CvoR(T=x[2])]

    def translation(x: Any) -> Any:
        return trans.FreeTrans(n_degrees=3, molecular_weight=x[0]).get_SoR(T=x[1], P=1.0)

    def rotation(x: Any) -> Any:
        found = rot.RigidRotor(symmetrynumber=2, geometry="linear", rot_temperatures=[x[0]])
        return found.get_SoR(T=x[1])

    yield "HarmonicVib", vibration, [1600.0, 3600.0, 500.0]
    yield "FreeTrans", translation, [18.0, 400.0]
    yield "RigidRotor", rotation, [2.9, 400.0]


@package("mystic", "optimisation models")
def mystic() -> Iterator[Case]:
    m, measures = module("mystic.models"), module("mystic.math.measures")
    yield "rosen", m.rosen, [0.3, 0.7, 0.4]
    yield "zimmermann", m.zimmermann, [2.3, 2.9]
    yield "variance", lambda x: measures.variance(list(x[:3]), list(x[3:])), POSITIVE[:6]
    yield "impose_mean", lambda x: measures.impose_mean(x[0], list(x[1:])), POSITIVE[:5]


@package("scikit-dsp-comm", "digital communications")
def scikit_dsp_comm() -> Iterator[Case]:
    m = module("sk_dsp_comm.sigsys")

    def equalized(x: Any) -> Any:
        return m.ten_band_eq_filt(np.array(WAVE), x)

    yield "peaking", lambda x: m.peaking(x[0], x[1]), [3.0, 1000.0]
    yield "ten_band_eq_filt", equalized, SERIES[:10]
    yield "fir_iir_notch", lambda x: m.fir_iir_notch(x[0], 8000.0, r=x[1])[1], [1000.0, 0.95]
    yield "fs_coeff", lambda x: m.fs_coeff(x, 3, 2.0)[0], WAVE


@package("MFDFA", "fractals")
def mfdfa() -> Iterator[Case]:
    m = module("MFDFA")
    lag = np.array([4, 6, 8])
    yield "MFDFA", lambda x: m.MFDFA(x, lag, order=1, q=np.array([2.0]))[1], WAVE
    yield "MFDFA, q=3", lambda x: m.MFDFA(x, lag, order=2, q=np.array([3.0]))[1], WAVE
    yield "MFDFA, modified", lambda x: m.MFDFA(x, lag, q=np.array([2.0]), modified=True)[1], WAVE


@package("spectrum", "spectral estimation")
def spectrum() -> Iterator[Case]:
    m = module("spectrum")
    yield "arburg", lambda x: m.arburg(x, 3)[0], WAVE
    yield "aryule", lambda x: m.aryule(x, 3)[0], WAVE
    yield "CORRELATION", lambda x: m.CORRELATION(x, maxlags=4), WAVE
    yield "arma2psd", lambda x: m.arma2psd(A=x[:2], rho=x[2], NFFT=8), [0.5, -0.3, 1.2]


@package("stingray", "X-ray timing")
def stingray() -> Iterator[Case]:
    u, f = module("stingray.utils"), module("stingray.fourier")
    times = np.arange(24.0)

    def rebinned(x: Any) -> Any:
        return u.rebin_data(times, x, 2.5)[1]

    yield "rebin_data", rebinned, WAVE
    yield "standard_error", lambda x: u.standard_error(x.reshape(4, 6), np.zeros(6)), WAVE
    yield (
        "normalize_periodograms",
        lambda x: f.normalize_periodograms(x, 0.1, 12, 5.0, n_ph=100.0, norm="frac"),
        SERIES,
    )


@package("pyElli", "ellipsometry")
def pyelli() -> Iterator[Case]:
    m = module("elli")

    def measured(x: Any) -> Any:
        glass = m.IsotropicMaterial(m.Cauchy(n0=x[0], n1=x[1]))
        air, silicon = m.AIR, m.IsotropicMaterial(m.ConstantRefractiveIndex(n=3.87))
        structure = m.Structure(air, [m.Layer(glass, x[2])], silicon)
        found = structure.evaluate(np.array([500.0, 600.0]), 65.0, solver=m.Solver2x2)
        return [found.psi, found.delta]

    yield "Cauchy", lambda x: m.Cauchy(n0=x[0], n1=x[1]).get_dielectric(np.array([500.0])), [
        1.45, 36.0,
    ]  # fmt: skip
    yield "Structure.evaluate", measured, [1.45, 36.0, 80.0]


@package("smt", "test functions")
def smt() -> Iterator[Case]:
    m = module("smt.problems")
    yield "Branin", lambda x: m.Branin(ndim=2)(x[None]), [0.3, 0.7]
    yield "Rosenbrock", lambda x: m.Rosenbrock(ndim=3)(x[None]), [0.3, 0.7, 0.4]
    yield "WaterFlow", lambda x: m.WaterFlow(ndim=8)(x[None]), [
        0.1, 2500.0, 9e4, 1050.0, 90.0, 760.0, 1400.0, 1e4,
    ]  # fmt: skip
