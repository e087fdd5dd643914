"""A twenty-fifth sample, drawn on 2026-11-30, and written down before any of it was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
docs/public-packages.md says how the names were drawn, and what was skipped.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread
from .nineteenth import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

TWENTYFIFTH = Sample()
package = TWENTYFIFTH.package


@package("changepoynt", "changes in series")
def changepoynt() -> Iterator[Case]:
    subspace, online = module("changepoynt.algorithms.sst"), module("changepoynt.algorithms.bocpd")
    entropy = module("changepoynt.algorithms.esst")
    ratio = module("changepoynt.utils.densityratioestimation")

    def scored(make: Callable[[], Any]) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            np.random.seed(5)  # noqa: NPY002  likewise  # noqa: NPY002  the package starts from these numbers
            return make().transform(x)

        return result

    yield "SST", scored(lambda: subspace.SST(5, n_windows=5, lag=3, rank=2, method="svd")), LONG
    yield "ESST", scored(
        lambda: entropy.ESST(6, n_windows=6, lag=2, rank=2, method="fbrsvd")
    ), LONG  # fmt: skip
    yield "BOCPD", lambda x: online.BOCPD(
        6, prior_mean=x[0], prior_var=x[1], signal_var=x[2], change_length_threshold=2
    ).transform(x[3:]), [3.5, 2.0, 4.0, *SERIES]  # fmt: skip
    yield "RuLSIF", lambda x: ratio.RuLSIF(0.1, sigma=2.0, lambda_=0.1)(
        x[:12].reshape(3, 4), x[12:].reshape(3, 4)
    ), LONG  # fmt: skip


@package("pyspectrakit", "processing of spectra")
def pyspectrakit() -> Iterator[Case]:
    m = module("spectrakit")
    wave = np.linspace(800.0, 1800.0, 12)

    yield "baseline_arpls", lambda x: m.baseline_arpls(x, lam=50.0, tol=1e-12, max_iter=100), SERIES
    yield "baseline_snip", lambda x: m.baseline_snip(x, max_half_window=3), LONG
    yield "scatter_emsc", lambda x: m.scatter_emsc(x.reshape(2, 12), poly_order=2), LONG
    yield "transform_atr_correction", lambda x: m.transform_atr_correction(
        x[:12], wave, n_crystal=x[12], n_sample=x[13], angle=x[14]
    ), [*SERIES, 2.4, 1.5, 45.0]  # fmt: skip


@package("cyberwave-geometry", "frames of robots")
def cyberwave() -> Iterator[Case]:
    m, geodetic = module("cyberwave_geometry"), module("cyberwave_geometry.geodetic")
    quaternion = module("cyberwave_geometry.quaternion")
    kinds, fk = module("cyberwave_geometry.types"), module("cyberwave_geometry.fk")

    def posed(x: Any) -> Any:
        turning = fk.joint_type_from_string("revolute")

        def joint(name: str, above: str, below: str, offset: Any, axis: Any) -> Any:
            origin = kinds.Transform(kinds.Vector3(*offset), quaternion.from_rpy(0.1, 0.2, 0.3))
            return fk.JointDescription(
                name, above, below, turning, origin=origin, axis=kinds.Vector3(*axis)
            )

        description = fk.RobotDescription(
            links=("base", "arm", "hand"),
            joints=(
                joint("one", "base", "arm", x[2:5], (0.0, 0.0, 1.0)),
                joint("two", "arm", "hand", x[5:8], (0.0, 1.0, 0.0)),
            ),
        )
        found = fk.RobotTree(description).frame_pose(
            "hand", joint_positions={"one": x[0], "two": x[1]}
        )
        where = found.transform
        return [*where.translation.to_tuple(), *where.rotation.to_xyzw()]

    def local(x: Any) -> Any:
        anchor = kinds.GeoAnchor(kinds.Geodetic(*x[:3]), x[3])
        return 0.01 * np.array(geodetic.to_local(anchor, kinds.Geodetic(*x[4:])).to_tuple())

    def between(x: Any) -> Any:
        first, last = quaternion.from_rpy(*x[:3]), quaternion.from_rpy(*x[3:6])
        return quaternion.slerp(first, last, x[6]).to_xyzw()

    assert m.core_version()
    yield "RobotTree.frame_pose", posed, [0.4, -0.7, 0.1, 0.2, 0.5, 0.3, 0.1, 0.4]
    yield "to_local", local, [47.1, 8.2, 410.0, 30.0, 47.1012, 8.2021, 433.0]
    yield "slerp", between, [0.1, 0.4, -0.3, 0.8, -0.2, 0.5, 0.3]


@package("gosti", "systems of optics")
def gosti() -> Iterator[Case]:
    abcd, waves = module("gosti.paraxial.ray_tracing.abcd"), module("gosti.wavelength")
    rays = module("gosti.paraxial.ray_tracing.paraxial_ray_2d")
    geo, optics = module("dimetra.geo"), module("dimetra.optics")
    raster = module("gosti.pupil.build_pupil_raster")
    built = module("gosti.pupil.builder.build_from_grid")
    zernike, front = module("gosti.zernike.zernike_base"), module("gosti.wavefront.wavefront")
    surface, basis = module("gosti.surface.freeform_surface"), module("gosti.surface.basis")
    angular = module("gosti.grid.angular_grid")

    def millimetres(one: Any) -> Any:
        return geo.Length(one, geo.LengthUnit.MM)

    def traced(x: Any) -> Any:
        first = abcd.ABCD.thin_lens(millimetres(x[0]))
        last = abcd.ABCD.thin_lens(millimetres(x[1]))
        system = last @ abcd.ABCD.transfer(millimetres(x[2])) @ first
        ray = rays.ParaxialRay2D(y=millimetres(x[3]), slope=optics.ParaxialSlope(x[4]))
        out = system.trace(ray)
        return [
            out.y.value_mm, out.slope.value_slope, system.effective_focal_length.value_mm,
            system.rear_focal_distance.value_mm,
        ]  # fmt: skip

    def fronted(x: Any) -> Any:
        grid = raster.build_pupil_raster(grid_size=8)
        phase = 0.01 * x @ zernike.ZernikeBasis().build_basis(x.size, grid)
        pupil = built.build_pupil_function_from_grid(
            grid=grid, wavelength=waves.Wavelength.from_nm(550.0),
            phase_waves=phase.reshape(8, 8) * grid.mask,
        )  # fmt: skip
        found = front.Wavefront(pupil_function=pupil)
        field = pupil.complex_field()
        return [
            found.rms_waves_zemax_like(), found.rms_waves_weighted_mean_removed(),
            found.piston_waves(), field.real.sum(), field.imag.sum(),
        ]  # fmt: skip

    def shaped(x: Any) -> Any:
        grid = angular.AngularGrid(5, 4, geo.Angle(x[3], geo.AngleUnit.RAD))
        made = surface.FreeformSurfaceAngular(
            grid, millimetres(x[4]), basis.FourierPhiBasis((0, 1, 2)), x[:3]
        )
        return [made.points().ravel(), made.normals().ravel()]

    yield "ABCD.trace", traced, [50.0, 80.0, 12.0, 1.5, 0.1]
    yield "Wavefront", fronted, SERIES
    yield "FreeformSurfaceAngular", shaped, [0.3, -0.2, 0.15, 0.9, 12.0]


@package("hydro-analysis-toolkit", "forecasts of floods")
def hydro_analysis() -> Iterator[Case]:
    m, xarray = module("hat.compute_hydrostats.stats"), module("xarray")
    stations = module("hat.station_mapping.metrics")

    def pair(x: Any) -> Any:
        return [
            xarray.DataArray(one.reshape(6, 2), dims=("time", "station"))
            for one in (x[:12], x[12:] + 0.4)
        ]

    yield "kge", lambda x: m.kge(*pair(x), "time").values, LONG
    yield "nse", lambda x: m.nse(*pair(x), "time").values, LONG
    yield "index_agreement", lambda x: m.index_agreement(*pair(x), "time").values, LONG
    yield "metrics.rmse", lambda x: stations.rmse(x[0], x[1:].reshape(3, 4)), [2.5, *SERIES]


@package("pylacc", "circuits of analog parts")
def pylacc() -> Iterator[Case]:
    m = module("pylacc.circuit")

    def series(x: Any) -> Any:
        made = m.Series(m.E(x[0], f=x[1]), m.R(x[2]), m.L(x[3]), m.C(x[4]))
        made.solve()
        current = made.I
        return [current.real, current.imag, made.Z.real, made.Z.imag]

    def parallel(x: Any) -> Any:
        made = m.Parallel(m.E(x[0]), m.R(x[1]), m.R(x[2]))
        made.solve()
        return [abs(made.I), made.nodes[1].I.real, made.nodes[2].PA.real]

    def divided(x: Any) -> Any:
        load = m.Parallel(m.R(x[2]), m.R(x[3]))
        made = m.Series(m.E(x[0]), m.R(x[1]), load)
        made.solve()
        return [made.I.real, load.E.real, load.nodes[0].I.real]

    yield "Series", series, [10.0, 0.7, 3.0, 1.2, 0.4]
    yield "Parallel", parallel, [12.0, 3.0, 4.5]
    yield "Series of Parallel", divided, [12.0, 2.0, 3.0, 4.5]


@package("sgsim", "motions of earthquakes")
def sgsim() -> Iterator[Case]:
    m, signal = module("sgsim.core.model"), module("sgsim.motion.signal")
    motion = module("sgsim.motion.ground_motion")
    record = np.sin(1.3 * np.arange(40.0)) * np.exp(-0.5 * (0.1 * np.arange(40.0) - 1.7) ** 2)

    def model(x: Any) -> Any:
        def part(kind: str, **values: Any) -> Any:
            return {"type": kind, "params": values}

        return m.StochasticModel.load_from(
            {
                "modulating": part(
                    "BetaSingle", peak=x[0], concentration=x[1], energy=x[2], duration=4.1
                ),
                "upper_frequency": part("Linear", start=x[3], end=x[4]),
                "upper_damping": part("Constant", value=x[5]),
                "lower_frequency": part("Linear", start=x[6], end=x[7]),
                "lower_damping": part("Constant", value=x[8]),
            },
            40,
            0.1,
        )

    def spectra(x: Any) -> Any:
        made = model(x)
        return [made.fas, made.ce]

    def measured(x: Any) -> Any:
        made = motion.GroundMotion.load_from(source="array", dt=0.1, ac=x - 4.0)
        found = made.butterworth_filter((0.5, 4.0), order=2)
        return [found.ac, found.vel, found.ce]

    yield "StochasticModel", spectra, [0.4, 6.0, 12.0, 3.0, 2.2, 0.5, 0.6, 0.4, 0.7]
    yield "GroundMotion.butterworth_filter", measured, LONG
    yield "response_spectra", lambda x: signal.response_spectra(
        0.1, x - 4.0, np.array([0.5, 1.0, 2.0]), 0.05
    )[2], LONG  # fmt: skip
    yield "baseline_correction", lambda x: signal.baseline_correction(
        record * x[0] + x[1] + x[2] * np.arange(40.0), 2
    ), [1.3, 0.2, 0.01]  # fmt: skip


@package("agi-probability", "distributions")
def agi_probability() -> Iterator[Case]:
    m = module("agi_probability")

    def fitted(x: Any) -> Any:
        made = m.Gaussian()
        made.data = x[1:]
        made.mean = made.calculate_mean()
        made.stdev = made.calculate_stdev()
        return [made.mean, made.stdev, made.pdf(x[0])]

    def added(x: Any) -> Any:
        made = m.Gaussian(x[0], x[1]) + m.Gaussian(x[2], x[3])
        return [made.mean, made.stdev, made.pdf(x[4])]

    def binomial(x: Any) -> Any:
        made = m.Binomial(x[0], 12)
        return [made.mean, made.stdev, made.pdf(4)]

    yield "Gaussian.calculate_stdev", fitted, [3.1, *SERIES]
    yield "Gaussian.__add__", added, [1.2, 0.7, 2.1, 1.4, 3.0]
    yield "Binomial.pdf", binomial, [0.3]


@package("rokpy", "physics of rocks")
def rokpy() -> Iterator[Case]:
    avo, inclusions = module("rokpy.avo"), module("rokpy.effective_medium.inclusion_methods")
    contacts, fluids = (
        module("rokpy.effective_medium.contact_methods"),
        module("rokpy.effective_medium.fluid_methods"),
    )
    constants = module("rokpy.constants")

    def reflected(x: Any) -> Any:
        made = avo.AVOModel(np.array([0.0, 12.0, 24.0]), np.ones(3), 0.002, "zoeppritz")
        return 10.0 * made.reflectivity(x[:3], x[3:6], x[6:])

    def grown(x: Any) -> Any:
        content = constants.ElasticPropertySet(density=1.0, bulk=x[2], shear=x[3])
        pore = inclusions.Inclusion("SPHEROID", x[4], content=content)
        return inclusions.InclusionMethods.dem(x[0], x[1], {pore: x[5]}, increments=20)

    yield "AVOModel.reflectivity", reflected, [2.9, 3.3, 3.1, 1.4, 1.8, 1.6, 2.3, 2.45, 2.38]
    yield "InclusionMethods.dem", grown, [37.0, 44.0, 2.3, 0.1, 0.12, 0.15]
    yield "ContactMethods.soft_sand", lambda x: contacts.ContactMethods.soft_sand(*x), [
        37.0, 44.0, 0.25, 8.6, 0.02, 0.4, 0.7,
    ]  # fmt: skip
    yield "FluidEffectMethods.gassmann_substitution", lambda x: (
        fluids.FluidEffectMethods.gassmann_substitution(*x)
    ), [18.0, 12.0, 37.0, 0.9, 2.4, 0.2]  # fmt: skip


@package("parvati", "profiles of stellar lines")
def parvati() -> Iterator[Case]:
    m = module("parvati.parvati")
    speeds = np.linspace(-40.0, 40.0, 33)
    noise = 0.005 * np.cos(2.7 * np.arange(33.0))

    def line(x: Any) -> Any:
        return 1.0 - x[0] * np.exp(-0.5 * ((speeds - x[1]) / x[2]) ** 2) + x[3] * noise

    def moments(x: Any) -> Any:
        found = m.moments(speeds, line(x), limits=(-22.0, 22.0))
        return [found[name] for name in ("m0", "m1", "e_m1", "fwhm", "skewness", "kurtosis")]

    def bisected(x: Any) -> Any:
        found = m.bisector(speeds, line(x), limits=(-22.0, 22.0))
        return [one for one in found.values() if np.ndim(one) == 0]

    def fitted(x: Any) -> Any:
        found = m.fit_profile(
            speeds, line([*x, 0.0]), lorentz=False, voigt=False, rot=False, rv0=2.0
        )
        gauss = found["gaussian"] if "gaussian" in found else found["gauss"]
        return [gauss["rv"], gauss["EW"]]

    yield "fit_profile", fitted, [0.4, 2.3, 6.1]
    yield "moments", moments, [0.4, 2.3, 6.1, 1.0]
    yield "bisector", lambda x: bisected([0.4, *x, 1.0]), [2.3, 6.1]
    yield "fourier", lambda x: m.fourier(speeds, line(x), limits=(-22.0, 22.0)), [
        0.4, 2.3, 6.1, 1.0,
    ]  # fmt: skip


@package("timevalue", "values of money")
def timevalue() -> Iterator[Case]:
    annuities = module("timevalue.investing.annuity")
    perpetual = module("timevalue.investing.perpetuity")
    money = module("timevalue.investing.time_value_money")

    def growing(x: Any) -> Any:
        made = annuities.GrowingAnnuity(*x)
        return [made.present_value_of_growing_annuity(), made.future_value_of_growing_annuity()]

    def valued(x: Any) -> Any:
        made = money.TimeValueOfMoney(*x)
        return [made.present_value_of_money(), made.future_value_of_money()]

    yield "Annuity", lambda x: [
        annuities.Annuity(*x).present_value_of_annuity(),
        annuities.Annuity(*x).future_value_of_annuity_due(),
    ], [10.0, 0.05, 7.5]  # fmt: skip
    yield "GrowingAnnuity", growing, [10.0, 0.05, 0.02, 7.5]
    yield "GrowingPerpetuity", lambda x: [
        perpetual.GrowingPerpetuity(*x).present_value_of_growing_perpetuity(),
        perpetual.GrowingPerpetuity(*x).present_value_of_growing_perpetuity_due(),
    ], [10.0, 0.05, 0.02]  # fmt: skip
    yield "TimeValueOfMoney", valued, [10.0, 0.05, 7.5]


@package("sgnl-pastro", "sources of gravitational waves")
def sgnl_pastro() -> Iterator[Case]:
    m, rates = module("pastro.pastro"), module("pastro.multicomponent_fgmc_rates_module")

    def early(x: Any) -> Any:
        made = m.p_astro_ew(
            N_BNS_O123=x[0], N_terr_O123=x[1],
            d_BNS={"O4": x[2], "O3": x[3], "O2": 100.0, "O1": 80.0},
        )  # fmt: skip
        made.A = x[4]
        return [json.loads(made({"likelihood": x[5], "fhigh": band}))["BNS"] for band in (38, 49)]

    def counted(x: Any) -> Any:
        terrestrial = rates.SourceType("Terr", np.ones(4))
        stars, holes = rates.SourceType("BNS", x[4:8]), rates.SourceType("BBH", x[8:12])
        return rates.MarginalizedPosterior(
            f_divby_b=x[:4], prior_type={"BNS": "Uniform", "BBH": "Jeffreys", "Terr": "Uniform"},
            terr_source=terrestrial, fix_sources={"Terr": 4.0}, verbose=False, gq_n=12,
            bns=stars, bbh=holes,
        )  # fmt: skip

    triggers = [9.0, 0.4, 25.0, 3.0, *(0.15 * np.array(SERIES[:8]))]
    yield "p_astro_ew", early, [2.0, 11541.0, 190.0, 130.0, 1.3, 9.2]
    yield "MarginalizedPosterior.posterior", lambda x: 100.0 * counted(x[:12]).posterior(
        BNS=x[12]
    ), [*triggers, 1.7]  # fmt: skip
    yield "MarginalizedPosterior.pastro", lambda x: [
        counted(x).pastro(0, ["BNS"])
    ], triggers  # fmt: skip
    yield "MarginalizedPosterior.getOneDimMean", lambda x: [
        counted(x).getOneDimMean("BNS")
    ], triggers  # fmt: skip


@package("faspy2", "instruments of finance")
def faspy2() -> Iterator[Case]:
    m, risk = module("faspy.interestrate.bonds_jit"), module("faspy.risk.var_utils")
    solvers = module("faspy.interestrate.rmp_solvers")

    def positioned(x: Any) -> Any:
        returns = risk.logreturns(x[3:].reshape(8, 3))
        assets = risk.var_asset_weightbyprice(x[:3], 0.95, risk.volatilities(returns))
        return risk.value_at_risk(assets, risk.correlation(returns))

    def derived(x: Any) -> Any:
        found = solvers.solver_bond_derivatives(
            100.0, cfs=x[:3], yld_dcfs=x[3:6], fvs=[0.0, 0.0, 100.0], my_yield=x[6]
        )
        return [found["duration"], found["convexity"]]

    yield "bond_price", lambda x: m.bond_price(5.0, x[0], x[1], 2.0), [4.2, 5.1]
    yield "value_at_risk", positioned, [1.2, 0.7, 2.1, *LONG]
    yield "solver_bond_derivatives", derived, [2.5, 2.4, 2.6, 0.5, 0.51, 0.49, 4.2]


@package("holmes-hydro", "models of rivers")
def holmes() -> Iterator[Case]:
    hydro, snow = module("holmes.models.hydro"), module("holmes.models.snow")
    utils, evaporation = module("holmes.models.utils"), module("holmes_rs.pet.oudin")
    days = np.arange(100, 112, dtype=np.uintp)
    layers = np.array([300.0, 520.0, 800.0])

    yield "gr4j", lambda x: hydro.get_model("gr4j")(x[:4], x[4:], 0.3 * x[4:][::-1]), [
        300.0, 0.4, 60.0, 1.7, *SERIES,
    ]  # fmt: skip
    yield "cemaneige", lambda x: snow.get_model("cemaneige")(
        x[:3], x[3:15], x[15:] - 3.5, days, layers, 500.0
    ), [0.4, 3.1, 250.0, *SERIES, *SERIES[::-1]]  # fmt: skip
    yield "oudin", lambda x: evaporation.simulate(x[:12], days, x[12]), [*SERIES, 46.0]
    yield "evaluate", lambda x: [
        utils.evaluate(x[:12], x[12:] + 0.4, one, "sqrt")
        for one in ("kge", "nse", "deviation_bias", "correlation")
    ], LONG  # fmt: skip


@package("synthetic-control", "effects of treatments")
def synthetic_control() -> Iterator[Case]:
    m, pandas = module("synthetic_control.model"), module("pandas")
    days = pandas.date_range("2024-01-01", periods=8, freq="D")

    def frames(x: Any) -> tuple[Any, Any]:
        donors = pandas.DataFrame(x.reshape(8, 3), index=days, columns=["a", "b", "c"])
        weight = 0.1 * np.cos(np.arange(8.0))
        return donors, pandas.Series(
            0.5 * x[::3] + 0.3 * x[1::3] + 0.2 * x[2::3] + weight, index=days
        )

    def made(**options: Any) -> Any:
        return m.SyntheticControl(days[5], alpha=0.3, **options)

    yield "fit_predict", lambda x: made(positive=False).fit_predict(*frames(x)), LONG
    yield "fit_predict, positive", lambda x: made().fit_predict(*frames(x)), LONG
    yield "get_confidence_interval", lambda x: made(
        positive=False, ci_sample_size=5, ci_fraction=0.67, ci_percentiles=(20, 50, 80)
    ).get_confidence_interval(
        frames(np.array(LONG))[0], pandas.Series(x, index=days)
    ), SERIES[:8]  # fmt: skip


@package("pydynpd", "panels over time")
def pydynpd() -> Iterator[Case]:
    m = module("pydynpd.common_functions")

    def corrected(x: Any) -> Any:
        parts = x[:12].reshape(6, 2), x[12:18].reshape(6, 1)
        instruments = x[6:24].reshape(9, 2)  # three for each of the three firms
        gram = np.eye(3) + 0.01 * x[6:15].reshape(3, 3) @ x[6:15].reshape(3, 3).T
        left = 0.1 * x[:6].reshape(2, 3)
        return 1e-3 * m.Windmeijer(
            0.1 * np.eye(2), left, np.linalg.inv(gram), 0.1 * x[18:21].reshape(3, 1),
            0.2 * np.eye(2), parts[0], instruments, 0.1 * parts[1], 3,
        )  # fmt: skip

    yield "get_fod_table", lambda x: m.get_fod_table(x.reshape(8, 3), 2)[[1, 2, 3, 5, 6, 7]], LONG
    yield "get_first_diff_table", lambda x: m.get_first_diff_table(
        x.reshape(8, 3), 2
    )[[1, 2, 3, 5, 6, 7]], LONG  # fmt: skip
    yield "Windmeijer", corrected, LONG


@package("molmdtools", "atoms that move")
def molmdtools() -> Iterator[Case]:
    atoms, molecules = module("molmdtools.atom"), module("molmdtools.molecule")
    trajectories = module("molmdtools.xyz_trajectory")
    names = ["C", "O", "N", "H"]

    def four(x: Any) -> list[Any]:
        return [
            atoms.Atom(name, list(one)) for name, one in zip(names, x.reshape(4, 3), strict=True)
        ]

    def centred(x: Any) -> Any:
        steps = [molecules.Molecule(four(one)) for one in (x[:12], x[12:])]
        found = trajectories.XYZ_Trajectory(steps)
        return [[*found[i].center_of_mass] for i in (0, 1)]

    yield "Atom.torsion_angle", lambda x: atoms.Atom.torsion_angle(*four(x)), SERIES
    yield "Atom.angle, cell", lambda x: atoms.Atom.angle(*four(x)[:3], cell=[5.0, 6.0, 7.0]), SERIES
    yield "Dist_Matrix", lambda x: molecules.Dist_Matrix(
        molecules.Molecule(four(x))
    ).dist_matrix, SERIES  # fmt: skip
    yield "Molecule.center_of_mass", centred, LONG


@package("hyper-ford", "power from water")
def hyper_ford() -> Iterator[Case]:
    m, simulate = (
        module("hyperford.model.model_functions"),
        module("hyperford.simulate.sim_energy_functions"),
    )  # fmt: skip
    share = np.linspace(0.0, 1.0, 11)
    efficiency = 0.9 - 0.6 * (share - 0.8) ** 2

    def plant(x: Any) -> Any:
        return {
            "operating_scheme": 1,
            "case_specific": {
                "hg": x[0], "L": x[1], "cf": 0.15, "om": 0.01, "fxc": 5.0, "ep": x[2], "pt": 1500.0,
                "ir": x[3], "N": 49,
            },
            "e": 0.45e-4, "hr": 8760.0, "perc": share,
        }  # fmt: skip

    def simulated(x: Any) -> Any:
        found = simulate.Sim_energy(
            x[6:], 2, 1, x[4:6], plant(x), {2: (0.2, (0.01, 10.0), efficiency)}
        )
        return [np.ravel(one) for one in found]

    yield "Sim_energy", simulated, [80.0, 208.0, 0.055, 0.095, 1.6, 5.0, *SERIES]
    yield "cost", lambda x: m.cost(
        x[0], x[1], 2, 2, x[2], {"case_specific": {"pt": x[3], "L": x[4]}}
    ), [3200.0, 78.0, 1.6, 1500.0, 208.0]  # fmt: skip
    yield "moody", lambda x: 100.0 * m.moody(x[0], 1e4 * x[1:]), [3e-3, 0.13, 0.31, 1.7, 40.0]


@package("modlinear", "linearized models")
def modlinear() -> Iterator[Case]:
    m = module("modlinear")

    def tanks(z: Any, area: Any) -> Any:
        level, other, flow = np.ravel(z)
        return np.array(
            [flow / area - np.sqrt(level), np.sqrt(level) - area * np.sqrt(other)]
        ).reshape(2, 1)

    def of_area(area: Any) -> Callable[[Any], Any]:
        def changes(z: Any) -> Any:
            return tanks(z, area)

        return changes

    yield "linearize_continuous", lambda x: m.linearize_continuous(
        of_area(x[3]), x[:3].reshape(3, 1)
    ), [1.7, 2.3, 0.9, 1.3]  # fmt: skip
    yield "linearize_c2d", lambda x: m.linearize_c2d(
        of_area(x[3]), x[:3].reshape(3, 1), C=np.eye(2), ts=0.2
    )[:2], [1.7, 2.3, 0.9, 1.3]  # fmt: skip


@package("qmsolver", "states of one particle")
def qmsolver() -> Iterator[Case]:
    solvers, wells = module("qmsolver.tise.finite_differences"), module("qmsolver.potentials")

    def states(make: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = solvers.FDSolver(steps=30, x_min=-x[0], x_max=x[0], n_lowest=3)
            made.m = x[1]
            made.potential_generator = make(made.x_grid, x[2:])
            assert made.potential.size == 30
            made.solve()
            return [made.E_lowest, made.Psi_lowest**2]

        return result

    yield "FDSolver, oscillator", states(
        lambda grid, x: wells.HarmonicOscillatorPotential(
            x_grid=grid, spring_constant=x[0], mass=x[1]
        )
    ), [5.0, 1.1, 1.3, 1.2]  # fmt: skip
    yield "FDSolver, Poschl-Teller", states(
        lambda grid, x: wells.PoschlTellerPotential(x_grid=grid, lambda_=x[0])
    ), [4.0, 1.1, 2.3]  # fmt: skip


@package("elxsi", "distributions of numbers")
def elxsi() -> Iterator[Case]:
    m = module("elxsi")

    def described(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            made = make(x[1:])
            return [made.mean, made.stdev, made.pdf(x[0])]

        return result

    yield "Beta", described(lambda x: m.Beta(*x)), [0.4, 2.3, 3.1]
    yield "T", described(lambda x: m.T(x[0])), [0.7, 5.3]
    yield "Trapezoidal", described(lambda x: m.Trapezoidal(*x)), [1.4, 1.0, 2.1, 3.3, 4.6]
    yield "Gaussian.__add__", lambda x: [
        (m.Gaussian(*x[:2]) + m.Gaussian(*x[2:4])).pdf(x[4])
    ], [1.2, 0.7, 2.1, 1.4, 3.0]  # fmt: skip


@package("tecana", "analysis of markets")
def tecana() -> Iterator[Case]:
    m, pandas = module("tecana").Tecana(), module("pandas")

    def prices(x: Any) -> Any:
        close = 10.0 + x
        return pandas.DataFrame({
            "open": 10.0 + np.roll(x, 1), "high": close + 0.5 + 0.1 * x[::-1],
            "low": close - 0.4 - 0.05 * x[::-1] ** 2, "close": close,
            "volume": 100.0 + 7.0 * x[::-1],
        })  # fmt: skip

    def added(name: str, **options: Any) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            table = prices(x)
            found = getattr(m, name)(table, **options)
            return found.loc[12:, [one for one in found if one not in table]].to_numpy()

        return result

    yield "rsi", added("rsi", w1=4), LONG
    yield "macd", added("macd", short_window=3, long_window=6, signal_window=3), LONG
    yield "mfi", added("mfi", window=5), LONG
    yield "atr", added("atr", window=5), LONG


@package("ec-ms", "electrochemistry with mass spectra")
def ec_ms() -> Iterator[Case]:
    with contextlib.redirect_stdout(io.StringIO()):
        response, spectra = module("EC_MS.Time_Response"), module("EC_MS.MS")
        electrolytes, chips = module("EC_MS.Electrolytes"), module("EC_MS.Chips")
    times = np.linspace(0.1, 6.0, 24)

    def flow(x: Any) -> Any:
        made = chips.Chip("SI-3iv1")
        rate = made.capillary_flow(
            "He", w_cap=1e-6 * x[0], h_cap=1e-6 * x[1], l_cap=1e-3 * x[2], T=100.0 * x[3],
            p=1e5 * x[4],
        )  # fmt: skip
        return [1e-15 * rate]

    def acid(x: Any) -> Any:
        made = electrolytes.Electrolyte(
            electrolyte_type="perchloric acid", s=x[0], anion="ClO4-", verbose=False
        )
        first = made.pH
        made.equilibrate(s=x[1])
        return [first, made.pH]

    def peak(x: Any) -> Any:
        masses = np.linspace(27.0, 29.0, 24)
        height = 0.3 * masses + x[0] * np.exp(-0.5 * ((masses - x[1]) / x[2]) ** 2)
        made = spectra.Peak(masses, height)
        made.set_background(bg=True)
        return np.asarray(made.fit_gauss()[:3], dtype=float)

    yield "fit_exponential", lambda x: response.fit_exponential(
        times, x[0] + x[1] * np.exp(-times / x[2])
    ), [2.0, 3.0, 1.4]  # fmt: skip
    yield "Peak.fit_gauss", peak, [9.0, 28.03, 0.22]
    yield "Electrolyte.equilibrate", acid, [0.13, 0.02]
    yield "Chip.capillary_flow", flow, [6.0, 5.0, 3.3, 3.0, 1.0]


@package("krovak03", "maps of Slovakia")
def krovak03() -> Iterator[Case]:
    m = module("krovak03.krovak03").Transformation()

    def there(x: Any) -> Any:
        return [1e-5 * one for one in m.etrs_jtsk03(x[0], x[1], 1e5 * x[2])]

    def back(x: Any) -> Any:
        return m.jtsk_etrs(1e5 * x[0], 1e5 * x[1], 1e3 * x[2])

    yield "etrs_jtsk03", there, [48.7231, 19.1452, 0.0042]
    yield "etrs_jtsk", lambda x: [
        1e-5 * one for one in m.etrs_jtsk(x[0], x[1], 1e5 * x[2])
    ], [48.7231, 19.1452, 0.0042]  # fmt: skip
    yield "jtsk_etrs", back, [4.1234, 12.3456, 0.42]


@package("magpack", "fields of magnets")
def magpack() -> Iterator[Case]:
    vectors, images = module("magpack.vectorop"), module("magpack.image_utils")
    rotations, structures = module("magpack.rotations"), module("magpack.structures")

    def field(x: Any) -> Any:
        return structures.skyrmion(8, 8) + 0.05 * x.reshape(3, 8, 1)

    def turned(x: Any) -> Any:
        turn = rotations.eul2rot("xyz", *x[:3])
        cube = x[3:].reshape(3, 2, 4, 1) * np.array([1.0, 0.7, 1.2])
        return rotations.rotate_vector_field(cube, turn, order=1)

    yield "skyrmion_number", lambda x: vectors.skyrmion_number(field(x)), LONG
    yield "rotate_vector_field", turned, [10.0, 25.0, -14.0, *LONG]
    yield "angular_gradient", lambda x: vectors.angular_gradient(
        vectors.normalize(x.reshape(3, 2, 4))
    ), LONG  # fmt: skip
    yield "fourier_shell_correlation", lambda x: images.fourier_shell_correlation(
        x.reshape(4, 6), x.reshape(4, 6)[::-1] ** 1.2, rgb=False
    )[0], LONG  # fmt: skip


@package("nucleardatapy", "matter in nuclei")
def nucleardatapy() -> Iterator[Case]:
    m = module("nucleardatapy")
    paths: list[Any] = sys.path
    paths[:] = [one for one in paths if one is not None]  # the package adds None

    def nucleons(x: Any) -> Any:
        made = m.matter.setupFFGNuc(x[:3], x[3:6], x[6])
        return [made.e2a_int, made.pre, made.cs2, made.esym_nr]

    def leptons(x: Any) -> Any:
        made = m.matter.setupFFGLep(x[:3], x[3:])
        return [made.e2n_lep_int, made.pre_lep]

    def micro(x: Any) -> Any:
        made = m.matter.setupMicro(model="1998-VAR-AM-APR-fit", var1=x[:4], var2=x[4])
        return [made.e2a_int, made.pre, made.cs2]

    yield "setupMicro", micro, [0.08, 0.13, 0.17, 0.22, 0.3]
    yield "setupFFGNuc", nucleons, [0.08, 0.16, 0.23, 0.1, 0.3, 0.5, 0.8]
    yield "setupFFGLep", leptons, [0.01, 0.02, 0.03, 0.002, 0.004, 0.009]
    yield "denCC_emp", lambda x: m.eos.denCC_emp(*x, "Ducoin"), [0.16, 32.0, 60.0, -100.0, 50.0]


@package("gridpf", "flows of power")
def gridpf() -> Iterator[Case]:
    m, linear = module("gridpf"), module("gridpf.solvers.dc_pf")
    ends = np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3])

    def net(x: Any, **loads: Any) -> Any:
        none, zero = np.zeros(4), np.zeros(4)
        return m.PFInput(
            n_bus=4, n_branch=4, bus_ids=np.arange(4), bus_vn_kv=np.full(4, 110.0),
            bus_type=np.array([2, 0, 1, 0], dtype=np.int8), slack_idx=0, branch_ids=np.arange(4),
            from_idx=ends[0], to_idx=ends[1], branch_r=x[:4], branch_x=x[4:8], branch_g=none,
            branch_b=np.full(4, 0.02), branch_g_from=none, branch_b_from=none, branch_g_to=none,
            branch_b_to=none, tap_ratio=np.array([1.0, 0.98, 1.0, 1.0]), phase_shift=zero,
            bus_g_shunt=zero, bus_b_shunt=zero, bus_p_injection=x[8:12], bus_q_injection=x[12:16],
            bus_v_set=np.array([1.02, np.nan, 1.01, np.nan]), **loads,
        )  # fmt: skip

    def solved(method: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            found = m.solve(net(x), m.PFOptions(method=method, tol=1e-12, max_iter_gs=400))
            assert found.converged
            return [np.abs(found.V), np.angle(found.V), 0.01 * found.branch_loss_p]

        return result

    def admitted(x: Any) -> Any:
        matrix = m.build_ybus(net(x))[0].toarray()
        return [matrix.real, matrix.imag]

    point = [
        0.02, 0.03, 0.025, 0.015, 0.11, 0.14, 0.12, 0.09, 0.0, -0.6, 0.4, -0.5,
        0.0, -0.2, 0.0, -0.15,
    ]  # fmt: skip
    yield "solve, Newton", solved("nr"), point
    yield "solve, Gauss-Seidel", solved("gs"), point
    yield "build_ybus", admitted, point
    yield "dc_powerflow", lambda x: linear.dc_powerflow(
        net(x), x[8:12], np.array([0]), np.array([2]), np.array([1, 3])
    ), point  # fmt: skip


@package("cpz-quant", "portfolios and their risks")
def cpz_quant() -> Iterator[Case]:
    risks, covariance = (
        module("cpz_quant.portfolio.risk_measures"), module("cpz_quant.portfolio.covariance"),
    )  # fmt: skip
    pooling, trend = (
        module("cpz_quant.portfolio.entropy_pooling"), module("cpz_quant.indicators.trend"),
    )  # fmt: skip

    def returns(x: Any) -> Any:
        return {name: 0.01 * (one - 3.8) for name, one in zip("abc", x.reshape(3, 8), strict=True)}

    def measured(x: Any) -> Any:
        names = ("ENTROPIC_RISK_MEASURE", "CVAR", "ULCER_INDEX", "EVAR", "GINI_MEAN_DIFFERENCE")
        return [
            risks.compute_risk(0.01 * (x - 3.9), getattr(risks.RiskMeasure, name), beta=0.8)
            for name in names
        ]

    def pooled(x: Any) -> Any:
        found = pooling.entropy_pooling(
            prior=np.full(12, 1 / 12), a_eq=0.1 * x[:12].reshape(1, 12), b_eq=x[12:]
        )
        return 12.0 * found.posterior

    yield "compute_risk", measured, LONG
    yield "ledoit_wolf", lambda x: 10.0 * np.array(
        covariance.ledoit_wolf(returns(x)).covariance
    ), LONG  # fmt: skip
    yield "entropy_pooling", pooled, [*SERIES, 0.45]
    yield "vidya_series", lambda x: trend.vidya_series(x, 5, cmo_period=4)[5:], LONG


@package("quantifin", "values of shares")
def quantifin() -> Iterator[Case]:
    m, markets = module("quantifin.equity.valuation.valuation"), module("quantifin.util.markets")
    helper = module("quantifin.util.helper")

    def annual(x: Any) -> Any:
        prices = [{"close": one} for one in x[1:]]
        return markets.Market.annualise(markets.Market.returns(prices), x[0])

    yield "CAPM", lambda x: m.CAPM(risk_free=x[0], market_premium=x[1], beta=x[2]), [
        0.02, 0.07, 1.2,
    ]  # fmt: skip
    yield "Market.annualise", annual, [2.5, *SERIES]
    yield "price_returns", lambda x: helper.price_returns(
        {f"2024-{month + 1:02d}": one for month, one in enumerate(x)}
    ), SERIES  # fmt: skip


@package("pyreactlab", "equilibria of reactions")
def pyreactlab() -> Iterator[Case]:
    m = module("PyReactLab.docs.reaction")
    analyzer = module("PyReactLab.docs.reactionanalyzer").ReactionAnalyzer()

    def methanol(x: Any) -> Any:
        names = ("CO-g", "H2-g", "CH3OH-g")
        source = {
            name: {
                "GiEnFo": {"value": free, "unit": "kJ/mol"},
                "EnFo": {"value": heat, "unit": "kJ/mol"},
            }
            for name, free, heat in zip(names, x[:3], x[3:6], strict=True)
        }  # fmt: skip
        made = m.Reaction(source, {}, {"name": "R1", "reaction": "CO(g) + 2H2(g) <=> CH3OH(g)"})
        return made, made.cal_equilibrium_constant([x[6], "K"], method="shortcut van't Hoff")

    energies = [-137.2, 0.0, -162.0, -110.5, 0.0, -200.7]
    yield "cal_equilibrium_constant", lambda x: [methanol(x)[1]["value"]], [*energies, 400.0]
    yield "Reaction", lambda x: [
        methanol(x)[0].gibbs_free_energy_of_reaction_std["value"],
        1e-4 * methanol(x)[0].equilibrium_constant_std["value"],
    ], [*energies, 400.0]  # fmt: skip
    yield "vh_shortcut", lambda x: [
        analyzer.vh_shortcut({}, {}, x[0], x[1], x[2], "R1", "A(g) <=> B(g)")["value"]
    ], [350.0, -12.3, 2.1]  # fmt: skip
    yield "cal_mole_fraction", lambda x: [
        *analyzer.cal_mole_fraction(analyzer.cal_mole({"CO2": x[0], "H2": x[1]}, x[2]))[0].values()
    ], [1.2, 3.1, 2.0]  # fmt: skip


@package("gpac", "analog computing by reactions")
def gpac() -> Iterator[Case]:
    m, sympy = module("gpac"), module("sympy")
    a, b, c = sympy.symbols("a b c")
    times = np.linspace(0.0, 1.0, 5)

    def rock(x: Any) -> Any:
        odes = {a: -x[3] * a * b + c * a, b: -b * c + a * b, c: -c * a + b * c}
        inits = {a: x[0], b: x[1], c: x[2]}
        return m.integrate_odes(odes, inits, t_eval=times, rtol=1e-9, atol=1e-11).y

    def reacted(x: Any) -> Any:
        one, two, three = m.species("A B C")
        reactions = [(one + two >> three).k(x[3]), (three | one).k(x[4]).r(x[5])]
        inits = {one: x[0], two: x[1], three: x[2]}
        return m.integrate_crn_odes(reactions, inits, t_eval=times, rtol=1e-9, atol=1e-11).y

    yield "integrate_odes", rock, [3.0, 1.0, 1.4, 1.2]
    yield "integrate_crn_odes", reacted, [1.3, 0.9, 0.2, 0.7, 0.4, 0.3]


@package("lisabeta", "gravitational waves in space")
def lisabeta() -> Iterator[Case]:
    m, noise = module("lisabeta.lisa.lisatools"), module("lisabeta.lisa.ldcnoise")
    signal = module("lisabeta.lisa.lisa")

    def snr(x: Any) -> Any:
        params = {
            "m1": 1e6 * x[0], "m2": 1e6 * x[1], "chi1": x[2], "chi2": x[3], "Deltat": 0.0,
            "dist": 1e4 * x[4], "inc": x[5], "phi": x[6], "lambda": x[7], "beta": x[8],
            "psi": x[9], "Lframe": True,
        }  # fmt: skip
        found = signal.GenerateLISATDISignal_SMBH(
            params, approximant="IMRPhenomD", minf=1e-4, maxf=0.05, timetomerger_max=0.02
        )
        return found["SNR"] / 1000.0

    def likelihood(x: Any) -> Any:
        injected = np.array([1.0, 0.4, 0.9, 1.1, 0.3, 0.7])
        return m.simple_likelihood_22(x, 10.0, m.func_sa_22(injected), m.func_se_22(injected))

    def converted(x: Any) -> Any:
        found = m.convert_Lframe_to_SSBframe({
            "Deltat": 1e3 * x[0], "lambda": x[1], "beta": x[2], "psi": x[3], "Lframe": True,
        }, t0=x[4])  # fmt: skip
        return [1e-3 * found["Deltat"], found["lambda"], found["beta"], found["psi"]]

    def density(x: Any) -> Any:
        made = noise.AnalyticNoise(1e-3 * x)
        return [1e40 * made.psd(option="A"), 1e40 * made.sensitivity()]

    yield "GenerateLISATDISignal_SMBH", snr, [
        1.1, 0.6, 0.3, -0.2, 2.2, 0.7, 0.4, 1.1, 0.5, 0.9,
    ]  # fmt: skip
    yield "convert_Lframe_to_SSBframe", converted, [0.4, 1.1, 0.3, 0.7, 0.2]
    yield "simple_likelihood_22", likelihood, [1.1, 0.5, 0.8, 1.0, 0.4, 0.6]
    yield "AnalyticNoise.psd", density, [1.3, 2.9, 6.1, 9.7]


@package("geometrykit", "curves of design")
def geometrykit() -> Iterator[Case]:
    m, primitives = module("geometrykit.geometry.curve"), module("geometrykit.geometry.primitives")
    spiral, frames = module("geometrykit.geometry.spiral"), module("geometrykit.geometry.frames")
    biarc = module("geometrykit.geometry.biarc")
    vec = primitives.Vec

    def curved(x: Any) -> Any:
        points = [vec(*x[3 * i : 3 * i + 3]) for i in range(5)]
        made = m.Curve(points, [0.0, 0.4, 1.0], [4, 1, 4], 3, weights=[1.0, x[15], x[16], 1.0, 1.0])
        return [[*made.point_at(x[17])], [*made.tangent_at(0.7)]]

    def wound(x: Any) -> Any:
        made = spiral.Spiral.from_clothoid(
            center=vec(*x[:3]), axis=vec(0.1, 0.2, 1.0), length=x[3],
            start_curvature=x[4], end_curvature=x[5], start_heading=x[6],
        )  # fmt: skip
        return [[*made.point_at(0.63)], [*made.tangent_at(0.37)]]

    def arcs(x: Any) -> Any:
        first, second, joint = biarc.solve_biarc(*(vec(*x[3 * i : 3 * i + 3]) for i in range(4)))
        return [[*joint], [*first.point_at(0.4)], [*second.center]]

    def carried(x: Any) -> Any:
        found = frames.transport_frames(
            [vec(*x[3 * i : 3 * i + 3]) for i in range(4)], vec(0.2, 1.0, 0.1)
        )
        return [
            *([*frame.x_axis] for frame in found.frames),
            np.stack([one for one, _ in found.scales]),
        ]

    yield "Curve.point_at", curved, [
        0.0, 0.1, 0.2, 1.0, 1.3, 0.4, 2.1, 0.7, 1.1, 3.2, -0.4, 0.9, 4.0, 0.3, 0.2, 1.4, 0.8, 0.55,
    ]  # fmt: skip
    yield "Spiral.from_clothoid", wound, [0.3, 0.2, 0.1, 3.0, 0.2, 1.1, 0.4]
    yield "solve_biarc", arcs, [0.0, 0.1, 0.2, 1.0, 0.6, 0.1, 3.0, 0.5, 0.7, 0.7, -0.9, 0.3]
    yield "transport_frames", carried, [
        0.0, 0.1, 0.2, 1.0, 0.6, 0.1, 2.1, 0.5, 0.7, 2.9, 1.3, 0.3,
    ]  # fmt: skip


@package("paraxial", "optics near the axis")
def paraxial() -> Iterator[Case]:
    m, sources = module("paraxial.surfaces"), module("paraxial.sources")
    equations, materials = module("paraxial.equations"), module("paraxial.materials")

    def lens(x: Any) -> Any:
        made = m.Transfer(x[5]) @ m.ThickLens(x[0], x[1], x[2], x[3]) @ m.Transfer(x[4])
        return [np.reshape(one, (1,)) for one in (made.f1, made.F2, made.P1, made.P2, made.B)]

    def beam(x: Any) -> Any:
        light = sources.GaussianBeam(λ0=1e-6 * x[0], w=1e-3 * x[1], z=x[2])
        light @= m.ThinLens(x[3])
        light @= m.Transfer(x[4])
        return [np.reshape(one, (1,)) for one in (1e3 * light.w, light.R, light.z, 1e3 * light.w0)]

    yield "ThickLens", lens, [0.05, -0.08, 0.006, 1.51, 0.1, 0.2]
    yield "GaussianBeam", beam, [0.633, 0.8, 0.3, 0.2, 0.25]
    yield "fiber_coupling_efficiency", spread(equations.fiber_coupling_efficiency), [
        1.55, 5.2, 4.8, 1.1, 20.0, 0.03, 1.0,
    ]  # fmt: skip
    yield "nbk7", lambda x: materials.nbk7(*x), [0.58, 23.0, 0.98]


@package("numlib-bobr789008", "roots and integrals")
def numlib() -> Iterator[Case]:
    m, quadrature = module("numlib.roots.methods"), module("numlib.integration.quadrature")

    def root(x: Any) -> Any:
        def value(t: Any) -> Any:
            return np.cos(x[0] * t) - x[1] * t

        def slope(t: Any) -> Any:
            return -x[0] * np.sin(x[0] * t) - x[1]

        return m.newton(value, slope, x[2]).root

    def wave(x: Any) -> Callable[[Any], Any]:
        def at(t: Any) -> Any:
            return np.exp(-x[0] * t) * np.sin(x[1] * t)

        return at

    yield "newton", root, [1.2, 0.9, 0.6]
    yield "trapezoidal", lambda x: quadrature.trapezoidal(
        wave(x), x[2], x[3], 40
    ).value, [0.4, 1.7, 0.2, 2.9]  # fmt: skip
    yield "simpson", lambda x: quadrature.simpson(
        wave(x), x[2], x[3], 40
    ).value, [0.4, 1.7, 0.2, 2.9]  # fmt: skip


@package("constava", "conformations of proteins")
def constava() -> Iterator[Case]:
    m, sampling = module("constava.calc.csmodels"), module("constava.calc.subsampling")
    kernel = module("sklearn.neighbors").KernelDensity
    calculator = module("constava.calc.calculator")
    ensembles = module("constava.utils.ensembles")
    places = np.linspace(-np.pi, np.pi, 13)
    wavy = np.stack([
        -1.0 - (places[:, None] - a) ** 2 / 4 - np.cos(places[None, :] - b)
        for a, b in ((-1.1, -0.8), (-1.9, 2.2), (1.0, 0.6))
    ])  # fmt: skip
    angles = [-1.1, -0.7, -1.3, -0.2, -2.0, 2.1, -1.7, 1.9, 0.9, 0.4, 1.2, 0.8]

    def densities(x: Any) -> Any:
        kernels = [
            kernel(bandwidth=0.6).fit(np.array(one))
            for one in ([[-1.1, -0.8], [-0.9, -0.5]], [[-1.9, 2.2], [-1.6, 1.8]])
        ]
        found = m.ConfStateModelKDE(["helix", "sheet"], kernels).get_logpdf(x.reshape(6, 2))
        return [found, *sampling.SubsamplingWindow(3).calculate(found)]

    def gridded(x: Any) -> Any:
        model = m.ConfStateModelGrid(["a", "b", "c"], wavy, (places, places))
        return sampling.SubsamplingWindow(2).calculate(model.get_logpdf(x.reshape(6, 2)))

    def calculated(x: Any) -> Any:
        pairs = np.array([[x[0], x[1]], [-1.7, 1.9]])
        residue = ensembles.ResidueEnsemble("ALA", 3, pairs)
        model = m.ConfStateModelGrid(["a", "b", "c"], wavy, (places, places))
        made = calculator.ConfStateCalculator(model, [sampling.SubsamplingWindow(1)])
        (found,) = made.calculate(ensembles.ProteinEnsemble([residue]))
        (entry,) = found.entries
        return [entry.state_propensities, np.reshape(entry.state_variability, (1,))]

    yield "ConfStateModelKDE.get_logpdf", densities, angles
    yield "ConfStateModelGrid.get_logpdf", gridded, angles
    yield "ConfStateCalculator.calculate", calculated, angles[:2]
    yield "SubsamplingWindow.calculate", lambda x: sampling.SubsamplingWindow(3).calculate(
        0.3 * x.reshape(3, 8)
    ), LONG  # fmt: skip


@package("pypermod", "performance of athletes")
def pypermod() -> Iterator[Case]:
    m = module("pypermod.agents.hyd_agents.three_comp_hyd_agent")
    weigend = module("pypermod.agents.wbal_agents.wbal_ode_agent_weigend")
    skiba = module("pypermod.agents.wbal_agents.wbal_int_agent_skiba")
    fitter = module("pypermod.fitter.cp_to_tte_fitter")
    measures = module("pypermod.data_structure.helper.simple_constant_effort_measures")

    def tanks(x: Any) -> Any:
        made = m.ThreeCompHydAgent(1, *x[:8])
        levels: list[Any] = []
        for power in (420.0, 380.0, 300.0, 150.0):
            made.set_power(power)
            for _ in range(15):
                made.perform_one_step()
            levels += [made.get_fill_lf(), made.get_fill_ls()]
        return np.stack(levels)

    def balance(x: Any) -> Any:
        made = weigend.WbalODEAgentWeigend(w_p=1e4 * x[0], cp=100.0 * x[1])
        left: list[Any] = []
        for power in x[2:]:
            made.set_power(100.0 * power)
            for _ in range(20):
                made.perform_one_step()
            left.append(1e-4 * made.get_w_p_balance())
        return np.stack(left)

    def integral(x: Any) -> Any:
        made = skiba.WbalIntAgentSkiba(w_p=1e4 * x[0], cp=100.0 * x[1])
        return 1e-4 * np.stack(made.estimate_w_p_bal_to_data(100.0 * x[2:]))

    def fitted(x: Any) -> Any:
        trials = measures.SimpleConstantEffortMeasures(
            times=[120.0, 240.0, 600.0, 900.0], measures=[*x]
        )
        found = fitter.CpToTTEsFitter.fit_2p_linear(trials)
        other = fitter.CpToTTEsFitter.fit_2p_1dtime(trials)
        return [np.stack([1e-3 * one[0], one[1]]) for one in (found, other)]

    yield "ThreeCompHydAgent", tanks, [
        15000.0, 60000.0, 250.0, 300.0, 40.0, 0.3, 0.2, 0.15,
    ]  # fmt: skip
    yield "WbalODEAgentWeigend", balance, [1.8, 2.5, 4.1, 1.2, 3.6, 1.9]
    yield "WbalIntAgentSkiba", integral, [1.8, 2.5, 4.1, 1.2, 3.6, 1.9, 4.7, 0.8, 3.3]
    yield "CpToTTEsFitter", fitted, [390.0, 331.0, 285.0, 266.0]


@package("melizalab-pyspike", "spikes of neurons")
def pyspike() -> Iterator[Case]:
    m = module("pyspike")
    times = [
        *(0.13, 0.41, 0.74, 1.12, 1.45),
        *(0.22, 0.47, 0.93, 1.2, 1.62),
        *(0.08, 0.36, 0.81, 1.33, 1.71),
    ]

    def trains(x: Any) -> Any:
        return [m.SpikeTrain(x[5 * i : 5 * i + 5], (0.0, 2.0)) for i in range(3)]

    def profiles(x: Any) -> Any:
        found = m.spike_profile(trains(x)[:2])
        return [found.x, found.y1, found.y2, np.reshape(found.avrg(), (1,))]

    yield "spike_distance", lambda x: m.spike_distance(*trains(x)[:2]), times
    yield "isi_distance_matrix", lambda x: m.isi_distance_matrix(trains(x)), times
    yield "spike_profile", profiles, times
    yield "isi_distance, interval", lambda x: m.isi_distance(trains(x), interval=(0.3, 1.5)), times


@package("ssa-tools", "singular spectra")
def ssa_tools() -> Iterator[Case]:
    m = module("ssa_tools.core")

    def components(decomposition: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            made = m.SSA(x, 5, 3, decomposition=decomposition)
            made.computeSSA()
            return [made.RC, made.eigenvalues / made.eigenvalues.sum()]

        return found

    def correlated(x: Any) -> Any:
        made = m.SSA(x, 6, 3)
        made.computeSSA()
        made.computeWCA()
        return made.WCorr

    yield "SSA.computeSSA, EVD", components("EVD"), LONG
    yield "SSA.computeSSA, SVD", components("SVD"), LONG
    yield "SSA.computeWCA", correlated, LONG


@package("cedarkit-comp", "fields of weather")
def cedarkit() -> Iterator[Case]:
    m, util, xarray = module("cedarkit.comp.smooth"), module("cedarkit.comp.util"), module("xarray")

    def applied(x: Any) -> Any:
        def smoothed(v: Any) -> Any:
            return m.smth9(v, 0.5, 0.25)

        field = xarray.DataArray(x.reshape(3, 4), dims=("latitude", "longitude"))
        return util.apply_to_xarray_values(field, smoothed).values

    yield "smth9", lambda x: m.smth9(x[:24].reshape(4, 6), x[24], x[25]), [*LONG, 0.5, 0.25]
    yield "smth9, wrap", lambda x: m.smth9(x.reshape(6, 4), 0.5, -0.25, wrap=True), LONG
    yield "apply_to_xarray_values", applied, SERIES


@package("drw4e", "damped random walks")
def drw4e() -> Iterator[Case]:
    m = module("drw4e")
    times = np.cumsum(1.0 + 0.3 * np.cos(np.arange(12.0)))

    def process(x: Any) -> Any:
        np.random.seed(3)  # noqa: NPY002  the package draws from it
        found = m.post_OU(times, x[:12], x[12:15], 0.2, -1.0, 1.0, 1.0, 1.0, x[15])
        return np.stack([np.reshape(one, ()) for one in found])

    def kept(x: Any) -> Any:
        np.random.seed(5)  # noqa: NPY002  likewise
        found = m.post_OU(
            np.cumsum(x[:12]), np.array(SERIES), x[12:], -0.3, 20.0, 1.0, 1.0, 1.0, 1.0
        )
        return np.stack([np.reshape(one, ()) for one in found])

    yield "post_OU", process, [*SERIES, 3.9, 1.2, 8.0, 1.1]
    yield "post_OU, times", kept, [*(0.3 * np.array(SERIES)), 3.7, 1.4, 5.0]


@package("open-petro-elastic", "elasticity of rocks")
def open_petro_elastic() -> Iterator[Case]:
    m, sand = module("open_petro_elastic.material"), module("open_petro_elastic.material.sandstone")
    fluids = module("open_petro_elastic.material.batzle_wang")
    carbon = module("open_petro_elastic.material.span_wagner.carbon_dioxide")

    def both(made: Any) -> Any:
        return np.stack(
            [1e-3 * made.primary_velocity, 1e-3 * made.density, 1e-9 * made.bulk_modulus]
        )

    def rock(x: Any) -> Any:
        quartz = m.Material(density=2650.0 * x[0], bulk_modulus=3.7e10 * x[1], shear_modulus=4.4e10)
        dry = sand.friable_sand(quartz, x[2], 0.4, 2e7 * x[3])
        water = m.Material(density=1030.0, bulk_modulus=2.5e9 * x[4], shear_modulus=0.0)
        wet = m.fluid_substitution(dry, quartz, water, x[2])
        return [both(wet), np.reshape(1e-3 * wet.secondary_velocity, (1,))]

    def cemented(x: Any) -> Any:
        quartz = m.Material(density=2650.0, bulk_modulus=3.7e10 * x[0], shear_modulus=4.4e10)
        cement = m.Material(density=2710.0, bulk_modulus=7.6e10 * x[1], shear_modulus=3.2e10)
        return both(sand.contact_cement(cement, quartz, x[2], sand_porosity=x[3]))

    def mixed(x: Any) -> Any:
        brine = fluids.brine(90.0 * x[0], 2e7 * x[1], 45000.0 * x[2])
        oil = fluids.oil(90.0 * x[0], 2e7 * x[1], 850.0, 100.0 * x[3], 0.7)
        gas = fluids.gas(90.0 * x[0], 2e7 * x[1], 0.7)
        return [
            both(m.wood_fluid_mixing([brine, oil], [x[4], 1.0 - x[4]])),
            both(m.brie_fluid_mixing([brine, oil], [0.4, 0.3], [gas], [0.3], x[5])),
        ]

    def dioxide(x: Any) -> Any:
        density = carbon.carbon_dioxide_density(300.0 * x[0], 10.0 * x[1])
        return 1e-3 * np.reshape(density, (1,))

    yield "friable_sand", rock, [1.0, 0.95, 0.25, 1.1, 0.98]
    yield "contact_cement", cemented, [1.0, 0.9, 0.3, 0.38]
    yield "brie_fluid_mixing", mixed, [0.9, 1.1, 0.8, 1.2, 0.6, 3.2]
    yield "carbon_dioxide_density", dioxide, [1.1, 1.3]


@package("spacedatalab", "orbits of satellites")
def spacedatalab() -> Iterator[Case]:
    m = module("spacedatalab")

    def orbit(x: Any) -> Any:
        found = m.propagate_dense(
            [*(1e6 * x[:3])], [*(1e3 * x[3:6])], 3000.0, 3.986004418e14, j2=1.08262668e-3
        )
        position, velocity = found.eval(1e3 * x[6])
        return [1e-6 * np.array(position), 1e-3 * np.array(velocity)]

    def lambert(x: Any) -> Any:
        found = m.lambert([*(1e6 * x[:3])], [*(1e6 * x[3:6])], 1e3 * x[6], 3.986004418e14)
        return [1e-3 * np.array(one) for one in found]

    def geodetic(x: Any) -> Any:
        found = m.geodetic_to_itrf(10.0 * x[0], 10.0 * x[1], 1e3 * x[2])
        return [1e-6 * np.array(found), np.array(m.itrf_to_geodetic([*(1e6 * x[3:6])])[:2])]

    yield "propagate_dense", orbit, [6.9, 0.4, 0.8, -0.3, 6.1, 4.2, 1.7]
    yield "lambert", lambert, [7.1, 0.4, 0.8, -2.1, 7.4, 1.9, 2.1]
    yield "geodetic_to_itrf", geodetic, [4.6, 1.1, 0.4, 4.2, 0.8, 4.7]
    yield "niell_mapping", lambda x: np.stack([
        np.reshape(one, ()) for one in m.niell_mapping(*x)
    ]), [0.8, 300.0, 150.0, 0.5]  # fmt: skip


@package("kiauhoku", "grids of stars")
def kiauhoku() -> Iterator[Case]:
    m, zones = module("kiauhoku.stargrid"), module("kiauhoku.extensions.calc_HZ")
    pandas = module("pandas")

    def grid(x: Any) -> Any:
        index = pandas.MultiIndex.from_product(
            [[0.8, 1.0, 1.2], [-0.2, 0.2], [0, 1, 2, 3]], names=["mass", "met", "eep"]
        )
        mass, met, eep = (np.array(index.get_level_values(i), float) for i in range(3))
        data = {
            "age": eep * (1.3 + 0.1 * np.cos(met)) * x[3] / mass**2,
            "lum": x[0] * mass**3.5 * (1.0 + x[1] * eep),
            "teff": 5777.0 * mass ** x[2] - 30.0 * met,
        }
        return m.from_pandas(
            pandas.DataFrame(data, index=index), name="toy", eep_params={"age": "age"}
        )

    fixed = grid(np.array([1.0, 0.1, 0.6, 2.0])).to_interpolator()
    fixed.get_star_eep((0.9, 0.0, 1.0))  # it is compiled when it is called first

    def zoned(x: Any) -> Any:
        found = zones.calc_HZ(
            pandas.Series(1e3 * x[:3]), pandas.Series(x[3:6]),
            np.array([1.107, 1.332e-4, 1.58e-8]), np.array([0.356, 6.171e-5, 1.698e-9]),
            (-3180.0, 1420.0),
        )  # fmt: skip
        return [one.to_numpy() for one in found[:2]]

    yield "get_star_eep", lambda x: fixed.get_star_eep((*x,)).to_numpy() * [
        1.0, 1.0, 1e-3,
    ], [0.93, 0.05, 1.4]  # fmt: skip
    yield "get_star_age", lambda x: grid(x[:4]).to_interpolator().get_star_age(
        (0.93, 0.05), x[4], age_label="age"
    ).to_numpy() * [1.0, 1.0, 1e-3], [1.0, 0.1, 0.6, 2.0, 4.1]  # fmt: skip
    yield "calc_HZ", zoned, [-0.4, 0.2, -1.1, 0.7, 1.1, 0.3]


@package("snompy", "near fields of light")
def snompy() -> Iterator[Case]:
    m = module("snompy")

    def stack(x: Any) -> Any:
        return m.Sample(
            eps_stack=(1.0, x[0] + 1j * x[1], x[2] + 0.1j),
            t_stack=(1e-7 * x[3],),
            nu_vac=1e5 * x[4],
        )

    def both(found: Any) -> Any:
        return [np.real(found), np.imag(found)]

    def tip(x: Any) -> Any:
        z_tip = np.array([1e-9, 2e-8])
        over = m.fdm.eff_pol(stack(x), z_tip=z_tip, r_tip=3e-8 * x[5], L_tip=3e-7)
        under = m.fdm.eff_pol(m.bulk_sample(11.7), z_tip=z_tip, r_tip=3e-8, L_tip=3e-7)
        return both(over / under)

    def points(x: Any) -> Any:
        eps = m.sample.lorentz_perm(1e5 * x[0], 1e5, 1e4 * x[1], A_j=1e10 * x[2])
        found = m.pdm.eff_pol(
            m.bulk_sample(eps), z_tip=1e-8 * x[4], r_tip=2e-8, alpha_tip=4e-24 * x[3]
        )
        return both(1e24 * found)

    def inverted(x: Any) -> Any:
        known = m.bulk_sample(x[0] + 1j * x[1])
        measured = m.fdm.eff_pol(known, z_tip=1e-8, r_tip=3e-8, L_tip=3e-7)
        found = m.fdm.refl_coef_qs_from_eff_pol(measured, z_tip=1e-8, r_tip=3e-8 * x[2], L_tip=3e-7)
        return both(found)

    yield "fdm.eff_pol", tip, [2.3, 0.4, 11.0, 0.5, 1.1, 1.2]
    yield "pdm.eff_pol", points, [1.1, 0.8, 0.9, 1.2, 0.9]
    yield "Sample.refl_coef", lambda x: both(stack(x).refl_coef(theta_in=x[5])), [
        2.3, 0.4, 11.0, 5.1, 1.1, 0.6,
    ]  # fmt: skip
    yield "refl_coef_qs_from_eff_pol", inverted, [3.1, 0.7, 1.05]


@package("running-stats", "statistics of streams")
def running_stats() -> Iterator[Case]:
    m = module("running_stats.running_stats")

    def pushed(x: Any) -> Any:
        made = m.RunningMeanVar()
        made.push_iter(x)
        return [made.mean(), made.variance(), made.standard_deviation()]

    def joined(x: Any) -> Any:
        first, second = m.RunningMeanVar(), m.RunningMeanVar()
        first.push_iter(x[:5])
        for one in x[5:]:
            second.push(one)
        both = first + second
        return [both.mean(), both.standard_deviation()]

    def moments(x: Any) -> Any:
        first, second = m.RunningStats(), m.RunningStats()
        first.push_iter(x[:9])
        second.push_iter(x[9:])
        both = first + second
        return [both.M1, both.M2, both.M3, 0.01 * both.M4]

    yield "RunningMeanVar", pushed, SERIES
    yield "RunningMeanVar, sum", joined, SERIES
    yield "RunningStats", moments, LONG


@package("insurance-frequency-severity", "claims of insurance")
def insurance() -> Iterator[Case]:
    m, joint = (
        module("insurance_frequency_severity.copula"),
        module("insurance_frequency_severity.joint"),
    )
    api, pandas = module("statsmodels.api"), module("pandas")
    counts = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 0.0, 2.0, 1.0, 1.0, 2.0])

    def sarmanov(x: Any) -> Any:
        made = m.SarmanovCopula("nb", "gamma", omega=x[12], kernel_alpha=x[13])
        return made.log_likelihood(
            counts, x[:12], {"mu": x[14], "alpha": x[15]}, {"mu": x[16], "shape": x[17]}
        )

    def gaussian(x: Any) -> Any:
        return m.GaussianCopulaMixed(rho=x[12]).log_likelihood(
            counts, x[:12], {"mu": x[13]}, {"mu": x[14], "shape": x[15]}, "poisson", "gamma"
        )

    def conditional(x: Any) -> Any:
        claims = np.array([1.0, 2.0, 1.0, 3.0] * 6)
        design = api.add_constant(np.linspace(-1.0, 1.0, 24) ** 2)
        costs = np.concatenate([x, LONG[x.size :]])
        often = api.GLM(claims, design, family=api.families.Poisson()).fit()
        link = api.families.links.Log()
        costly = api.GLM(costs, design, family=api.families.Gamma(link)).fit()
        table = pandas.DataFrame({"claim_count": claims, "avg_severity": costs})
        found = joint.ConditionalFreqSev(often, costly).fit(table)
        return [found.gamma_, found.premium_correction()["premium_joint"].to_numpy()]

    yield "SarmanovCopula", sarmanov, [*SERIES, 0.6, 0.2, 1.2, 0.4, 4.1, 2.3]
    yield "GaussianCopulaMixed", gaussian, [*SERIES, 0.3, 1.2, 4.1, 2.3]
    yield "ConditionalFreqSev", conditional, SERIES[:6]
    yield "FGMCopula", lambda x: m.FGMCopula(theta=x[8]).log_likelihood(x[:4], x[4:8]), [
        0.2, 0.5, 0.7, 0.9, 0.3, 0.8, 0.4, 0.6, 0.7,
    ]  # fmt: skip


@package("thz-deconvolution", "images by terahertz")
def thz() -> Iterator[Case]:
    m = module("thz_deconvolution.utils")
    times = 0.5 * np.arange(24.0)
    filters = [np.array([0.2, 0.6, 0.2]), np.array([-0.3, 0.7, -0.2]), np.array([-0.4, 0.8, -0.3])]

    def sharpened(x: Any) -> Any:
        place = np.arange(-2.0, 2.5, 0.5)
        spot = np.outer(m.gaussian(place, x[24], x[25]), m.gaussian(place, 0.1, x[26]))
        return m.richardson_lucy_unclipped(x[:24].reshape(4, 6), spot[2:7, 2:7], 4)

    def pulse(x: Any) -> Any:
        across = np.array([[0.02, 0.3], [0.03, 0.45], [0.04, 0.7]])
        return m.richardson_lucy_single_pulse(
            x, across, across, filters, [0.5, 1.0, 1.5], 3, "transmission"
        )

    yield "richardson_lucy_unclipped", sharpened, [*LONG, 0.05, 0.9, 1.1]
    yield "richardson_lucy_single_pulse", pulse, SERIES
    yield "get_fft", lambda x: m.get_fft(times, x, df=0.5, window_start=1, window_end=3)[1:], LONG


@package("sutra2", "quality of groundwater")
def sutra2() -> Iterator[Case]:
    m, removal = module("sutra2.Analytical_Well"), module("sutra2.removal_functions")

    def scheme(x: Any) -> Any:
        made = m.HydroChemicalSchematisation(
            schematisation_type="phreatic", computation_method="analytical",
            removal_function="omp", name="benzene",
            well_discharge=-7500.0 * x[0], recharge_rate=0.0008 * x[1],
            thickness_target_aquifer=40.0 * x[3],
            hor_permeability_target_aquifer=35.0 * x[4], thickness_vadose_zone_at_boundary=5.0,
            thickness_shallow_aquifer=10.0 * x[5], ground_surface=22.0,
            hor_permeability_shallow_aquifer=0.02 * x[2],
        )  # fmt: skip
        made.make_dictionary()
        return [
            1e-3 * made.model_radius,
            1e-3 * made.KD,
            1e-2 * made.vertical_resistance_shallow_aquifer,
            0.1 * made.bottom_filterscreen,
        ]

    def traveled(x: Any) -> Any:
        made = removal.MicrobialRemoval("carotovorum")
        return made.calc_advective_microbial_removal(
            grainsize=1e-4 * x[0], temp_water=x[1], pH=x[2], por_eff=x[3], conc_start=x[4],
            distance_traveled=x[5], traveltime=x[6], alpha0=1e-5 * x[7], mu1=0.1,
            organism_diam=1.8e-6, pH0=7.5,
        )  # fmt: skip

    def microbial(x: Any) -> Any:
        made = removal.MicrobialRemoval("carotovorum")
        return made.calc_lambda(
            mu1=x[0], por_eff=x[1], grainsize=1e-4 * x[2], pH=x[3], temp_water=x[4], alpha0=x[5],
            organism_diam=1e-7 * x[6], v_por=0.01 * x[7],
        )  # fmt: skip

    yield "HydroChemicalSchematisation", scheme, [1.0, 1.1, 0.9, 1.05, 0.95, 1.2]
    yield "calc_advective_microbial_removal", traveled, [
        2.5, 11.0, 7.6, 0.33, 1.2, 1.1, 6.0, 900.0,
    ]  # fmt: skip
    yield "MicrobialRemoval.calc_lambda", microbial, [0.15, 0.33, 2.5, 7.6, 11.0, 0.1, 1.8, 1.2]


@package("gastropy", "rhythms of the stomach")
def gastropy() -> Iterator[Case]:
    m, bands = module("gastropy"), module("gastropy.metrics.bands")
    phase, spectral = module("gastropy.signal.phase"), module("gastropy.signal.spectral")
    filtering, plv = module("gastropy.signal.filtering"), module("gastropy.coupling.plv")
    times: Any = np.arange(240.0)

    def wave(x: Any) -> Any:
        rates: Any = 0.02 * np.arange(1.0, len(x) + 1.0)
        return np.sum(x[:, None] * np.cos(rates[:, None] * times + 0.3), axis=0)

    def power(x: Any) -> Any:
        found = bands.band_power(*spectral.psd_welch(wave(x), 1.0), m.NORMOGASTRIA)
        return [found[one] for one in ("max_power", "mean_power", "prop_power", "mean_power_ratio")]

    def locked(x: Any) -> Any:
        first, second = (
            phase.instantaneous_phase(
                filtering.apply_bandpass(one, 1.0, 0.03, 0.07, method="iir")[0]
            )
            for one in (wave(x[:12]), wave(x[12:]))
        )
        return plv.phase_locking_value(first[0], second[0])

    yield "band_power", power, SERIES
    yield "phase_locking_value", locked, LONG
    yield "egg_clean", lambda x: m.egg_clean(wave(x), 1.0, method="iir")[0][::20], SERIES
    yield "apply_bandpass, fir", lambda x: filtering.apply_bandpass(
        wave(x), 1.0, 0.03, 0.07, f_order=2
    )[0][::20], SERIES[:5]  # fmt: skip


@package("rgakit", "analysis of residual gas")
def rgakit() -> Iterator[Case]:
    m, library = module("rgakit.spectrum"), module("rgakit.library")
    similarity, background = module("rgakit.similarity"), module("rgakit.background")
    masses = np.array([2, 12, 14, 16, 17, 18, 28, 29, 32, 40, 43, 44])
    water = [0.5, 0.1, 0.1, 1.9, 21.2, 100.0, 0.2, 0.1, 0.3, 0.1, 0.1, 0.2]
    air = [0.1, 0.2, 14.0, 3.5, 0.1, 0.3, 100.0, 0.9, 27.0, 1.3, 0.1, 0.4]
    smoke = [0.1, 8.7, 0.3, 9.6, 0.2, 0.4, 9.8, 0.2, 0.6, 0.1, 0.2, 100.0]

    def spectrum(values: Any, name: str) -> Any:
        return m.MassSpectrum(masses, values, name)

    def fitted(x: Any) -> Any:
        known = library.SpectraLibrary([
            spectrum(x[12:], "water"), spectrum(air, "air"), spectrum(smoke, "carbon dioxide"),
        ])  # fmt: skip
        found = known.fit(spectrum(x[:12], "sample"))
        return [np.stack([*found.weights.values()]), found.fitted, np.reshape(found.residual, (1,))]

    def alike(method: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            pair = [spectrum(x[:12], "a"), spectrum(x[12:], "b"), spectrum(air, "air")]
            return similarity.pairwise(pair, method=method)[0]

        return found

    def corrected(x: Any) -> Any:
        shutter = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0])
        times = np.arange(12.0)
        return background.background_correct(shutter, times, times, x.reshape(12, 2), 0.5, 0.5)[0]

    weights, noise = np.array([0.5, 0.3, 0.4]), 1.0 + np.cos(np.arange(12.0))
    mixed = [*(weights @ np.array([water, air, smoke]) + noise)]
    yield "SpectraLibrary.fit", fitted, [*mixed, *water]
    yield "pairwise, entropy", alike("entropy"), [*mixed, *smoke]
    yield "pairwise, pearson", alike("pearson"), [*mixed, *smoke]
    yield "background_correct", corrected, LONG


@package("openwind", "acoustics of instruments")
def openwind() -> Iterator[Case]:
    m, physics = module("openwind"), module("openwind.continuous")
    transfer = module("openwind.compute_transfer_matrix")
    tones = np.array([180.0, 330.0, 510.0])

    def both(found: Any) -> Any:
        return [np.real(found), np.imag(found)]

    def bore(x: Any) -> Any:
        return [
            [0.0, x[0], 0.01 * x[1], 0.01 * x[2], "cone"],
            [x[0], x[3], 0.01 * x[2], 0.01 * x[4], "cone"],
        ]

    def impedance(method: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            options = {"l_ele": 0.1, "order": 4} if method == "FEM" else {}
            made = m.ImpedanceComputation(
                tones, bore(x), temperature=x[5], compute_method=method, **options
            )
            return both(made.impedance / made.Zc)

        return found

    def holed(x: Any) -> Any:
        holes = [["label", "position", "chimney", "radius"], ["one", x[5], 0.003, 0.001 * x[6]]]
        made = m.ImpedanceComputation(
            tones, bore(x), holes, temperature=25.0, compute_method="TMM", nb_sub=4
        )
        return both(made.impedance / made.Zc)

    def matrix(x: Any) -> Any:
        cone = [[0.0, x[0], 0.01 * x[1], 0.01 * x[2], "cone"]]
        found = transfer.ComputeTransferMatrix(cone, tones[1:2], 22.0, l_ele=0.25, order=5)
        scales = (1.0, 1e-6, 1e6, 1.0)
        return [one for b, scale in zip(found, scales, strict=True) for one in both(scale * b)]

    def air(x: Any) -> Any:
        made = physics.Physics(x[0], humidity=x[1], carbon=1e-3 * x[2])
        rho, c, mu, *_ = made.get_coefs(0, "rho", "c", "mu")
        return [np.reshape(one, (1,)) for one in (rho, 0.01 * c, 1e5 * mu)]

    point = [0.23, 0.6, 0.7, 0.47, 1.1, 22.0]
    yield "ImpedanceComputation, FEM", impedance("FEM"), point
    yield "ImpedanceComputation, hole", holed, [0.23, 0.6, 0.7, 0.47, 1.1, 0.31, 3.2]
    yield "ComputeTransferMatrix", matrix, [0.43, 0.6, 0.9]
    yield "Physics", air, [22.0, 0.6, 0.9]


@package("seismic-utac", "statistics of earthquakes")
def seismic_utac() -> Iterator[Case]:
    m, after = module("seismic_utac.gutenberg_richter"), module("seismic_utac.aftershock")
    strain, crep = module("seismic_utac.strain_accumulation"), module("seismic_utac.crep_seismic")
    monitor = module("seismic_utac.b_value_monitor")
    magnitudes = [*(2.5 + 0.08 * np.array(SERIES))]

    def valued(x: Any) -> Any:
        found = m.GutenbergRichterFitter().fit(x, 2.5)
        state = crep.SeismicCREP().compute(x)
        names = ("b_value", "b_uncertainty", "a_value")
        return [*(found[name] for name in names), state["R"], state["eta"]]

    def shaken(x: Any) -> Any:
        made = after.OmoriUtsu(*x[:3])
        return [made.cumulative(x[3:]), made.rate(x[3:])]

    def loaded(x: Any) -> Any:
        made = strain.StrainAccumulationModel(
            loading_rate=x[0], k_energy=1e15 * x[1], H_initial=x[2]
        )
        for one in x[3:]:
            made.step(0.7, [one, one - 0.3])
        return np.stack(made.history)

    def watched(x: Any) -> Any:
        made = monitor.BValueMonitor(window_size=10)
        for one in x:
            made.update(one)
        return [made.current_b(), 10.0 * made.b_trend()]

    yield "GutenbergRichterFitter", valued, magnitudes
    yield "OmoriUtsu", shaken, [12.0, 0.05, 1.1, 0.4, 2.0, 9.0]
    yield "StrainAccumulationModel", loaded, [0.03, 1.2, 0.5, 6.1, 5.4, 5.9, 6.2]
    yield "BValueMonitor", watched, magnitudes


@package("mechelastic", "elasticity of crystals")
def mechelastic() -> Iterator[Case]:
    m = module("mechelastic.core.elastic_properties")
    structure = module("mechelastic.core.structure")
    elate, state = module("mechelastic.core.elate"), module("mechelastic.eos.eos")
    volumes = np.linspace(60.0, 90.0, 8)
    trigonal = [86.7, 7.1, 11.9, 105.8, 58.3, 40.1, 17.9, 2.3, 1.7]

    def stiffness(x: Any) -> Any:
        c11, c12, c13, c33, c44, c66, c14, c25, c36 = x[:9]
        return np.array([
            [c11, c12, c13, c14, 0.0, 0.0],
            [c12, c11 + c36, c13, -c14, c25, 0.0],
            [c13, c13, c33, 0.0, 0.0, c36],
            [c14, -c14, 0.0, c44, 0.0, 0.0],
            [0.0, c25, 0.0, 0.0, c44, c14],
            [0.0, 0.0, c36, 0.0, c14, c66],
        ])  # fmt: skip

    def averaged(x: Any) -> Any:
        made = m.ElasticProperties(stiffness(x), verbose=False)
        names = ("K_vrh", "G_vrh", "E_vrh", "Nu_vrh", "A_u", "K_r", "kleinman_parameter")
        return [np.reshape(getattr(made, name), (1,)) for name in names]

    def thermal(x: Any) -> Any:
        cell = structure.Structure(
            ["Mg", "O"], [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]], np.diag(x[9:]) + 0.1
        )
        made = m.ElasticProperties(stiffness(x), verbose=False)
        made.structure = cell
        names = ("velocity_average", "debye_temperature")
        return [np.reshape(1e-3 * getattr(made, name), (1,)) for name in names]

    def directed(x: Any) -> Any:
        made = elate.Elastic(stiffness(x).tolist())
        return [
            np.reshape(made.Young(x[9:11]), (1,)),
            np.reshape(1e3 * made.LC(x[9:11]), (1,)),
            np.reshape(made.shear(x[9:]), (1,)),
            np.reshape(made.Poisson(x[9:]), (1,)),
        ]

    def fitted(x: Any) -> Any:
        made = state.EOS()
        made.eostype, made.volume, made.energy = "energy", volumes, x
        made.coeffs0 = np.array([-10.0, 0.5, 4.0, 75.0])
        made.fitting()
        return made.eos_vinet_fitted.x

    yield "ElasticProperties", averaged, trigonal
    yield "ElasticProperties.debye_temperature", thermal, [*trigonal, 3.1, 2.9, 3.3]
    yield "Elastic", directed, [*trigonal, 0.7, 0.4, 1.1]
    yield "EOS.fitting", fitted, [
        *state.EOS().eos_vinet([-10.0, 0.5, 4.2, 74.0], volumes)
    ]  # fmt: skip


@package("oceantide", "tides of the ocean")
def oceantide() -> Iterator[Case]:
    module("oceantide")
    utils, xarray, pandas = module("oceantide.core.utils"), module("xarray"), module("pandas")
    names = ["M2", "S2", "K1", "O1"]

    def charted(x: Any) -> Any:
        values = np.append(x[::2] + 1j * x[1::2], 0.3 - 0.1j).reshape(-1, 1, 1)
        return xarray.Dataset(
            {"h": (("con", "lat", "lon"), values)},
            coords={"con": names[: values.size], "lat": [-40.0], "lon": [175.0]},
        )

    def predicted(x: Any) -> Any:
        dates = pandas.date_range("2020-03-01", periods=5, freq="5h")
        times = xarray.DataArray(dates, dims="time", coords={"time": dates})
        return charted(x).tide.predict(times, components=["h"])["h"].to_numpy()

    def chunked(x: Any) -> Any:
        times = pandas.date_range("2020-03-01", periods=3, freq="5h")
        return charted(x).tide.predict(times, components=["h"])["h"].to_numpy()

    def shown(x: Any) -> Any:
        tide = charted(x).tide
        return [tide.amplitude("h").to_numpy(), 0.01 * tide.phase("h").to_numpy()]

    def corrected(x: Any) -> Any:
        pu, pf, v0u = utils.nodal(1e4 * x, np.array(["M2", "K1", "O1", "MF", "Q1"]))
        return [pu, pf, v0u]

    yield "Tide.predict", predicted, [0.8, 0.3]
    yield "Tide.predict, dask", chunked, [0.4, -0.2]
    yield "Tide.amplitude", shown, [0.8, 0.3, 0.4, -0.2]
    yield "nodal", corrected, [5.71, 5.83, 5.97]


@package("lifexp", "experience of lives")
def lifexp() -> Iterator[Case]:
    m, spline = module("lifexp.graduation.whittaker"), module("lifexp.graduation.splines")
    parametric, tables = module("lifexp.graduation.parametric"), module("lifexp.core.tables")
    credibility, pandas = module("lifexp.core.credibility"), module("pandas")
    ages = np.arange(40.0, 52.0)
    rates = [*(0.002 * 1.1 ** np.arange(12.0) * (1.0 + 0.05 * np.cos(2.3 * np.arange(12.0))))]

    def surface(x: Any) -> Any:
        found = spline.fit_pspline_2d(
            pandas.DataFrame(x[:12].reshape(4, 3)), pandas.DataFrame(x[12:].reshape(4, 3)),
            df_age=4, df_dur=3, lam_age=1.5, lam_dur=0.7, degree=2,
        )  # fmt: skip
        return found.to_numpy()

    def table(x: Any) -> Any:
        made = tables.MortalityTable(
            "own", 40, 51, pandas.DataFrame({"age": ages.astype(int), "qx": x[:12]})
        )
        z = credibility.classical_credibility(100.0 * x[13], credibility.CredibilityConfig())
        blended = credibility.blend_rates(x[14], made.interpolate(x[12], method="cubic"), z)
        return [1e3 * made.mu(x[12]), 1e3 * blended]

    def gompertz(x: Any) -> Any:
        found = parametric.fit_gompertz(pandas.Series(ages), pandas.Series(0.01 * x))
        return [1e4 * found["B"], found["c"], 100.0 * found["fitted_qx"].to_numpy()]

    yield "whittaker_1d", lambda x: m.whittaker_1d(
        pandas.Series(x[:12], index=ages), pandas.Series(x[12:], index=ages), lam=3.0
    ).to_numpy(), LONG  # fmt: skip
    yield "fit_pspline_2d", surface, LONG
    yield "MortalityTable", table, [*rates, 44.3, 3.1, 0.005]
    yield "fit_gompertz", gompertz, [*(100.0 * np.array(rates))]


@package("pdielec", "spectra of powders")
def pdielec() -> Iterator[Case]:
    m, dielectric = module("PDielec.Calculator"), module("PDielec.DielectricFunction")
    matrices = module("PDielec.GTMcore")

    def lorentz(x: Any) -> Any:
        made = dielectric.DrudeLorentz(
            [[100.0 * x[0]], [100.0 * x[1]], [100.0 * x[2]]],
            [[150.0 * x[3]], [100.0 * x[4]], [120.0]], [[20.0], [25.0 * x[5]], [30.0]],
        )  # fmt: skip
        made.set_epsilon_infinity(np.diag([2.1, 2.3, 2.6]))
        return made

    def both(found: Any) -> Any:
        return [np.real(found), np.imag(found)]

    def even(v: Any) -> Any:
        return 2.0 + 0.0 * v

    def powder(method: str) -> Callable[[Any], Any]:
        def found(x: Any) -> Any:
            shape = m.initialise_ellipsoid_depolarisation_matrix(np.array([0.0, 0.6, 0.8]), x[6])
            solved = m.solve_effective_medium_equations(
                method, x[7], 0.5, 0.0, even, "ellipsoid", shape, 10.0, 0.0,
                0.0, np.zeros((3, 3)), (130.0, lorentz(x).calculate(130.0)),
            )  # fmt: skip
            return [*both(solved[6]), 0.01 * solved[7]]

        return found

    def crystal(x: Any) -> Any:
        hertz = 29979245800.0 * 130.0
        air = dielectric.ConstantTensor(np.eye(3)).function()
        system = matrices.TransferMatrixSystem(
            substrate=matrices.Layer(epsilon=air),
            superstrate=matrices.Layer(epsilon=air),
            layers=[
                matrices.Layer(1e-5 * x[6], lorentz(x).function(), theta=x[7], phi=0.3, psi=0.2)
            ],
        )
        zeta = np.sin(x[8])
        system.initialize_sys(hertz)
        system.calculate_GammaStar(hertz, zeta)
        found = system.calculate_r_t(zeta)
        return [np.real(found[1]), np.real(found[3])]

    def modes(x: Any) -> Any:
        half = 1e-6 * (x.reshape(6, 4)[:, [0, 1, 2, 3, 1, 0]] + np.diag(3.0 + np.arange(6.0)))
        return 1e-3 * m.calculate_normal_modes_and_frequencies(half @ half.T * 1e6)[1]

    point = [1.2, 1.4, 1.7, 1.1, 0.9, 1.2]
    yield "maxwell", powder("maxwell"), [*point, 1.6, 0.15]
    yield "bruggeman_iter", powder("bruggeman_iter"), [*point, 1.6, 0.15]
    yield "TransferMatrixSystem", crystal, [*point, 0.7, 0.4, 0.5]
    yield "calculate_normal_modes_and_frequencies", modes, LONG
