"""A fifth sample, drawn on 2026-11-23 after the fourth, and written down before any was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread
from .later import WAVE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .functions import Case

FIFTH = Sample()
package = FIFTH.package
TABLE = [1.0, 2.0, 5.0, 2.0, 3.0, 4.0, 3.0, 1.5, 2.5, 4.0, 2.5, 1.0]
"""Four rows of three numbers."""
TURN = [0.9, 0.1, 0.3, 0.2]


@package("ppigrf", "geomagnetism")
def ppigrf() -> Iterator[Case]:
    m = module("ppigrf")
    day = dt.datetime(2021, 3, 28)  # noqa: DTZ001  as the package's page has it
    yield "igrf", lambda x: m.igrf(x[0], x[1], x[2], day), [5.32, 60.39, 0.5]
    yield "igrf_gc", lambda x: m.igrf_gc(x[0], x[1], x[2], day), [6500.0, 30.0, 4.0]
    yield "get_inclination_declination", spread(m.get_inclination_declination), [1e4, 2e4, -4e4]


@package("burnman", "mineral physics")
def burnman() -> Iterator[Case]:
    m, eos = module("burnman"), module("burnman.eos")
    stiff = {"V_0": 1.1e-5, "K_0": 160e9, "Kprime_0": 4.0, "G_0": 130e9, "Gprime_0": 1.5}

    def olivine(x: Any) -> Any:
        mineral = m.minerals.SLB_2011.forsterite()
        mineral.set_state(x[0], x[1])
        return [mineral.density / 1e3, mineral.alpha * 1e5, mineral.K_T / 1e9]

    bm, vinet = eos.BM3(), eos.Vinet()
    params = {**stiff, "P_0": 0.0, "E_0": 0.0}
    yield "BM3.pressure", lambda x: bm.pressure(300.0, x[0] * 1e-5, params) / 1e9, [1.0]
    yield "BM3.volume", lambda x: bm.volume(x[0] * 1e9, 300.0, params) * 1e5, [25.0]
    yield "Vinet.pressure", lambda x: vinet.pressure(300.0, x[0] * 1e-5, params) / 1e9, [1.0]
    yield "set_state", olivine, [25e9, 2000.0]


@package("pyrealm", "plant ecology")
def pyrealm() -> Iterator[Case]:
    m, hygro = module("pyrealm.pmodel"), module("pyrealm.core.hygro")
    water, pressure = module("pyrealm.core.water"), module("pyrealm.core.pressure")

    def gpp(x: Any) -> Any:
        env = m.PModelEnvironment(
            tc=x[:1], vpd=x[1:2], co2=x[2:3], patm=np.array([101325.0]), fapar=1, ppfd=300
        )
        return m.PModel(env).gpp

    yield "PModel", gpp, [20.0, 1000.0, 400.0]
    yield "calc_vp_sat", hygro.calc_vp_sat, [21.0]
    yield "convert_rh_to_vpd", lambda x: hygro.convert_rh_to_vpd(x[:1], x[1:]), [0.7, 21.0]
    yield "calc_density_h2o", lambda x: water.calc_density_h2o(x[:1], x[1:]), [20.0, 101325.0]
    yield "calc_patm", pressure.calc_patm, [1000.0]


@package("raschii", "water waves")
def raschii() -> Iterator[Case]:
    m = module("raschii")

    def fenton(x: Any) -> Any:
        wave = m.FentonWave(height=x[0], depth=x[1], length=2.0, N=5)
        return [wave.surface_elevation(x=[0, 0.1, 0.2, 0.3]), wave.velocity(x=0, z=0.2)]

    def stokes(x: Any) -> Any:
        wave = m.StokesWave(height=x[0], depth=x[1], length=2.0, N=5)
        return [wave.surface_elevation(x=[0, 0.1, 0.2]), wave.velocity(x=0, z=0.2)]

    airy = m.AiryWave(height=0.25, depth=0.5, length=2.0)
    yield "FentonWave", fenton, [0.25, 0.5]
    yield "StokesWave", stokes, [0.1, 0.5]
    yield "AiryWave", lambda x: airy.velocity(x=x[0], z=x[1]), [0.1, 0.2]


@package("polliwog", "geometry")
def polliwog() -> Iterator[Case]:
    plane, tri = module("polliwog.plane"), module("polliwog.tri")
    transform, line = module("polliwog.transform"), module("polliwog").Line
    flat = np.array([0.0, 0.6, 0.8, -0.5])
    rodrigues = transform.rodrigues_vector_to_rotation_matrix
    yield "surface_normals", lambda x: tri.surface_normals(x.reshape(3, 3)), TABLE[:9]
    yield "surface_area", lambda x: tri.surface_area(x.reshape(3, 3)), TABLE[:9]
    yield "project_point_to_plane", lambda x: plane.project_point_to_plane(x, flat), [0.3, 0.7, 1]
    yield "rodrigues", rodrigues, [0.1, 0.2, 0.3]
    yield "Line.project", lambda x: line(np.zeros(3), x[:3]).project(x[3:]), SERIES[:6]


@package("nibabel", "neuroimaging")
def nibabel() -> Iterator[Case]:
    a, q = module("nibabel.affines"), module("nibabel.quaternions")
    e = module("nibabel.eulerangles")
    yield "quat2mat", q.quat2mat, TURN
    yield "mat2quat", lambda x: q.mat2quat(e.euler2mat(*x)), [0.1, 0.2, 0.3]
    yield "euler2mat", spread(e.euler2mat), [0.1, 0.2, 0.3]
    yield "mat2euler", lambda x: e.mat2euler(q.quat2mat(x)), TURN
    yield "apply_affine", lambda x: a.apply_affine(x.reshape(4, 4), [[1.0, 2, 3]]), [*TABLE, *TURN]


@package("trueskill", "ratings")
def trueskill() -> Iterator[Case]:
    m = module("trueskill")

    def numbers(ratings: Any) -> Any:
        return [part for one in ratings for part in (one.mu, one.sigma)]

    def duel(x: Any) -> Any:
        return numbers(m.rate_1vs1(m.Rating(x[0], x[1]), m.Rating(25.0, 8.0)))

    def teams(x: Any) -> Any:
        a, b, c = m.Rating(x[0], x[1]), m.Rating(x[2], 7.0), m.Rating(24.0, 6.0)
        return numbers(one for team in m.rate([(a,), (b, c)], ranks=[0, 1]) for one in team)

    def quality(x: Any) -> Any:
        return m.quality_1vs1(m.Rating(x[0], x[1]), m.Rating(25.0, 8.0))

    yield "rate_1vs1", duel, [27.0, 6.0]
    yield "rate", teams, [27.0, 6.0, 22.0]
    yield "quality_1vs1", quality, [27.0, 6.0]


@package("nashpy", "game theory")
def nashpy() -> Iterator[Case]:
    m = module("nashpy")

    def equilibria(x: Any) -> Any:
        game = m.Game(x.reshape(2, 2), np.array([[2.0, 0.5], [1.0, 3.0]]))
        return [np.concatenate(pair) for pair in game.support_enumeration()]

    def payoff(x: Any) -> Any:
        return m.Game(np.array([[3.0, 0.0], [5.0, 1.0]]))[x[:2], x[2:]]

    yield "support_enumeration", equilibria, [3.0, 1.0, 1.5, 2.0]
    yield "Game[...]", payoff, [0.3, 0.7, 0.6, 0.4]


@package("choix", "choice models")
def choix() -> Iterator[Case]:
    m = module("choix")
    data = [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1), (0, 1)]
    counts = np.array([[0, 3.0, 2.0], [1.0, 0, 4.0], [2.0, 1.0, 0]])

    def dense(x: Any) -> Any:
        return m.lsr_pairwise_dense(counts + x.reshape(3, 3))

    yield "log_likelihood_pairwise", lambda x: m.log_likelihood_pairwise(data, x), [0.3, 0.1, 0.5]
    yield "probabilities", lambda x: m.probabilities([0, 1, 2], x), [0.3, 0.1, 0.5]
    yield "lsr_pairwise_dense", dense, [0.1, 0.2, 0.3, 0.1, 0.2, 0.1, 0.3, 0.1, 0.2]
    yield "rmse", lambda x: m.rmse(x, np.array([0.1, 0.4, -0.2])), [0.3, 0.1, 0.5]


@package("krippendorff", "agreement")
def krippendorff() -> Iterator[Case]:
    m = module("krippendorff")

    def counted(x: Any) -> Any:
        return m.alpha(value_counts=x.reshape(4, 3), level_of_measurement="nominal")

    yield "value_counts", counted, TABLE


@package("pylorentz", "particle physics")
def pylorentz() -> Iterator[Case]:
    m = module("pylorentz")
    momentum = m.Momentum4

    def boosted(x: Any) -> Any:
        return momentum(*x).boost(0.1, 0.2, 0.5, beta=0.3).components

    def between(x: Any) -> Any:
        return momentum(*x).boost_particle(momentum(10.0, 1.0, 2.0, 3.0)).m

    yield "boost", boosted, [5.0, 1.0, 2.0, 0.5]
    yield "boost_particle", between, [5.0, 1.0, 2.0, 0.5]
    yield "eta", lambda x: [momentum(*x).eta, momentum(*x).phi], [5.0, 1.0, 2.0, 0.5]
    yield "m_eta_phi_pt", lambda x: momentum.m_eta_phi_pt(*x).components, [0.5, 1.0, 0.3, 4.0]


@package("ofiber", "fibre optics")
def ofiber() -> Iterator[Case]:
    m = module("ofiber")
    glass = m.glass(0)
    yield "n", lambda x: [m.n(glass, x[0] * 1e-6), m.n_group(glass, x[0] * 1e-6)], [1.55]
    yield "LP_mode_value", lambda x: m.LP_mode_value(x[0], 0, 1), [2.4]
    yield "V_parameter", lambda x: m.V_parameter(x[0] * 1e-6, x[1], x[2] * 1e-6), [4.0, 0.12, 1.55]
    yield "MFR", lambda x: m.MFR(x[0]), [2.4]
    yield "R_unpolarized", lambda x: m.R_unpolarized(x[0], x[1]), [1.5, 0.4]


@package("pypolar", "polarisation")
def pypolar() -> Iterator[Case]:
    f, jones = module("pypolar.fresnel"), module("pypolar.jones")
    mueller, e = module("pypolar.mueller"), module("pypolar.ellipsometry")

    def turned(x: Any) -> Any:
        return jones.op_retarder(x[0], x[1]) @ jones.field_linear(x[2])

    def stokes(x: Any) -> Any:
        return mueller.op_linear_polarizer(x[0]) @ mueller.stokes_linear(x[1])

    yield "r_par_amplitude", lambda x: f.r_par_amplitude(x[0], x[1]), [1.5, 0.4]
    yield "jones", turned, [0.3, 0.7, 0.4]
    yield "mueller", stokes, [0.3, 0.7]
    yield "rho_from_m", lambda x: e.rho_from_m(x[0] - 0.5j, x[1]), [1.5, 0.9]


@package("raytracing", "optics")
def raytracing() -> Iterator[Case]:
    m = module("raytracing")

    def path(x: Any) -> Any:
        found = m.ImagingPath()
        found.append(m.Space(d=x[0]))
        found.append(m.Lens(f=x[1]))
        found.append(m.Space(d=120.0))
        return [found.A, found.B, found.C, found.D]

    def ray(x: Any) -> Any:
        out = m.Space(d=x[0]) * (m.Lens(f=50.0) * m.Ray(y=x[1], theta=x[2]))
        return [out.y, out.theta]

    def beam(x: Any) -> Any:
        out = m.Lens(f=x[0]) * m.GaussianBeam(w=x[1], wavelength=0.6328e-3)
        return [out.w, out.zo, out.waist]

    def thick(x: Any) -> Any:
        return m.ThickLens(n=x[0], R1=x[1], R2=-30.0, thickness=5.0).effectiveFocalLengths()

    yield "ImagingPath", path, [100.0, 50.0]
    yield "Ray", ray, [20.0, 1.0, 0.1]
    yield "GaussianBeam", beam, [50.0, 1.0]
    yield "ThickLens", thick, [1.5, 25.0]


@package("fatpack", "fatigue")
def fatpack() -> Iterator[Case]:
    m = module("fatpack")
    curve, three = m.LinearEnduranceCurve(90.0), m.TriLinearEnduranceCurve(90.0)
    stress = [60.0, 95.0, 120.0, 45.0]
    goodman = m.find_goodman_equivalent_stress
    yield "find_miner_sum", lambda x: curve.find_miner_sum(x) * 1e6, stress
    yield "get_endurance", lambda x: three.get_endurance(x) / 1e6, stress
    yield "goodman", lambda x: goodman(x[:2], x[2:], 400.0), [60.0, 95.0, 20.0, 45.0]
    yield "find_rainflow_ranges", lambda x: m.find_rainflow_ranges(x, k=64), WAVE


@package("PyNiteFEA", "structures")
def pynite() -> Iterator[Case]:
    model = module("Pynite").FEModel3D

    def beam(x: Any, *, sparse: bool) -> Any:
        b = model()
        b.add_node("N1", 0, 0, 0)
        b.add_node("N2", x[0], 0, 0)
        b.add_material("Steel", x[1], 11200.0, 0.3, 2.836e-4)
        b.add_section("S", 20.0, 100.0, x[2], 250.0)
        b.add_member("M1", "N1", "N2", "Steel", "S")
        b.def_support("N1", support_DX=True, support_DY=True, support_DZ=True, support_RX=True)
        b.def_support("N2", support_DY=True, support_DZ=True)
        b.add_member_dist_load("M1", "Fy", -200 / 1000 / 12, -200 / 1000 / 12, 0, x[0])
        b.analyze(sparse=sparse, check_stability=False)
        member = b.members["M1"]
        return [
            member.max_moment("Mz"),
            member.min_deflection("dy"),
            b.nodes["N1"].RxnFY["Combo 1"],
        ]

    yield "dense", lambda x: beam(x, sparse=False), [168.0, 29000.0, 150.0]
    yield "sparse", lambda x: beam(x, sparse=True), [168.0, 29000.0, 150.0]


@package("felupe", "finite elements")
def felupe() -> Iterator[Case]:
    m = module("felupe")
    math = m.math
    nine = [1.2, 0.1, 0.2, 0.0, 0.9, 0.1, 0.3, 0.1, 1.1]

    def inner(x: Any) -> Any:
        mesh = m.Cube(n=2)
        field = m.FieldContainer([m.Field(m.RegionHexahedron(mesh), dim=3)])
        solid = m.SolidBody(m.NeoHooke(mu=x[0], bulk=x[1]), field)
        field[0].values[:] += 0.01 * mesh.points**2
        return solid.assemble.vector().toarray()

    yield "det", lambda x: math.det(x.reshape(3, 3, 1, 1)), nine
    yield "inv", lambda x: math.inv(x.reshape(3, 3, 1, 1)), nine
    yield "dev", lambda x: math.dev(x.reshape(3, 3, 1, 1)), nine
    yield (
        "NeoHooke",
        lambda x: m.NeoHooke(1.0, 2.0).gradient([x.reshape(3, 3, 1, 1), None])[0],
        nine,
    )
    yield "SolidBody", inner, [1.0, 5.0]


@package("utide", "tides")
def utide() -> Iterator[Case]:
    m, a = module("utide"), module("utide.astronomy")
    time = np.arange(0, 20.0, 1 / 12) + 730120.0
    level = np.cos(2 * np.pi * time / 0.5175) + 0.3 * np.sin(2 * np.pi * time / 0.9973)

    def solved(x: Any) -> Any:
        coef = m.solve(
            time, x[0] * level + x[1], lat=30, nodal=False, trend=False, method="ols",
            conf_int="none", Rayleigh_min=0.95, verbose=False,
        )  # fmt: skip
        return [coef.A, coef.mean]

    yield "solve", solved, [1.2, 0.4]
    yield "ut_astron", lambda x: a.ut_astron(x)[0], [730120.3]


@package("refet", "evapotranspiration")
def refet() -> Iterator[Case]:
    m, c = module("refet"), module("refet.calcs")

    def daily(x: Any) -> Any:
        given = {"tmin": "F", "tmax": "F", "tdew": "F", "rs": "Langleys", "uz": "mph", "lat": "deg"}
        return m.Daily(
            tmin=x[0], tmax=x[1], tdew=x[2], rs=x[3], uz=x[4], zw=3, elev=1208.5, lat=39.4575,
            doy=182, method="asce", input_units=given,
        ).etr()  # fmt: skip

    def hourly(x: Any) -> Any:
        given = {"tmean": "F", "rs": "Langleys", "uz": "mph", "lat": "deg"}
        return m.Hourly(
            tmean=x[0], ea=x[1], rs=x[2], uz=x[3], zw=3, elev=1208.5, lat=39.4575, lon=-118.77388,
            doy=182, time=18, method="asce", input_units=given,
        ).etr()  # fmt: skip

    yield "Daily", daily, [66.65, 102.80, 49.84, 674.07, 4.80]
    yield "Hourly", hourly, [91.80, 1.20, 61.16, 3.33]
    yield "ra_daily", lambda x: c.ra_daily(x[0], 182), [0.68]
    yield "sat_vapor_pressure", c.sat_vapor_pressure, [21.0]


@package("isacalc", "aeronautics")
def isacalc() -> Iterator[Case]:
    m = module("isacalc").Atmosphere()
    yield "calculate", lambda x: m.calculate(x[0]), [11500.0]
    yield "ground", lambda x: m.calculate(x[0]), [5000.0]
    yield "altimeter", lambda x: m.altimeter(x[0]), [40000.0]


@package("ladybug-core", "building climate")
def ladybug() -> Iterator[Case]:
    p, sky = module("ladybug.psychrometrics"), module("ladybug.skymodel")
    sun, place = module("ladybug.sunpath").Sunpath, module("ladybug.location").Location

    def sydney(x: Any) -> Any:
        path = sun.from_location(
            place("Sydney", "AUS", latitude=x[0], longitude=x[1], time_zone=10)
        )
        found = path.calculate_sun(month=11, day=15, hour=11.0)
        return [found.altitude, found.azimuth]

    yield "Sunpath", sydney, [-33.87, 151.22]
    yield "humid_ratio_from_db_rh", spread(p.humid_ratio_from_db_rh), [30.0, 60.0]
    yield "wet_bulb_from_db_rh", spread(p.wet_bulb_from_db_rh), [30.0, 60.0]
    yield "dew_point_from_db_rh", spread(p.dew_point_from_db_rh), [30.0, 60.0]
    yield "ashrae_clear_sky", lambda x: sky.ashrae_clear_sky(list(x), 6), [20.0, 45.0]


@package("pymcdm", "decisions")
def pymcdm() -> Iterator[Case]:
    m, w = module("pymcdm.methods"), module("pymcdm.weights")
    share, types = np.array([0.5, 0.3, 0.2]), np.array([1, -1, 1])
    topsis, vikor, untied = m.TOPSIS(), m.VIKOR(), [*TABLE[:10], 2.4, 1.0]
    yield "TOPSIS", lambda x: topsis(x.reshape(4, 3), share, types), TABLE
    yield "VIKOR", lambda x: vikor(x.reshape(4, 3), share, types), untied
    yield "entropy_weights", lambda x: w.entropy_weights(x.reshape(4, 3)), TABLE
    yield "critic_weights", lambda x: w.critic_weights(x.reshape(4, 3)), TABLE


@package("pyciede2000", "colour")
def pyciede2000() -> Iterator[Case]:
    m = module("pyciede2000")
    first = (50.0, 0.0, -82.7485)
    yield (
        "ciede2000",
        lambda x: m.ciede2000(tuple(x), first)["delta_E_00"],
        [50.0, 2.6772, -79.7751],
    )


@package("sewar", "image quality")
def sewar() -> Iterator[Case]:
    m = module("sewar.full_ref")
    true = np.array([[10.0 * i + 3 * ((i * j) % 5) for j in range(8)] for i in range(8)])
    seen = [float(v) for v in (true + 2.0 * np.sin(np.arange(64.0)).reshape(8, 8)).ravel()]
    yield "rmse", lambda x: m.rmse(true, x.reshape(8, 8)), seen
    yield "psnr", lambda x: m.psnr(true, x.reshape(8, 8), MAX=255), seen
    yield "uqi", lambda x: m.uqi(true, x.reshape(8, 8), ws=4), seen
    yield "ssim", lambda x: m.ssim(true, x.reshape(8, 8), ws=5, MAX=255)[0], seen


@package("properscoring", "forecasts")
def properscoring() -> Iterator[Case]:
    m = module("properscoring")
    seen = np.array([2.3, 3.1, 2.9])
    yield "crps_gaussian", lambda x: m.crps_gaussian(seen, x[0], x[1]), [2.5, 0.7]
    yield "crps_ensemble", lambda x: m.crps_ensemble(seen, x.reshape(3, 4)), SERIES
    yield "brier_score", lambda x: m.brier_score(np.array([0.0, 1.0, 1.0]), x), [0.2, 0.7, 0.6]


@package("minisom", "self-organising maps")
def minisom() -> Iterator[Case]:
    m = module("minisom").MiniSom

    def som() -> Any:
        return m(3, 3, 4, sigma=0.5, learning_rate=0.5, random_seed=1)

    def trained(x: Any) -> Any:
        found = som()
        found.train(x.reshape(3, 4), 6)
        return found.get_weights()

    yield "activate", lambda x: som().activate(x), [0.2, 0.4, 0.1, 0.7]
    yield "quantization_error", lambda x: som().quantization_error(x.reshape(3, 4)), TABLE
    yield "train", trained, TABLE


@package("kinpy", "robotics")
def kinpy() -> Iterator[Case]:
    m = module("kinpy")
    t = m.Transform
    arm = m.build_serial_chain_from_urdf(
        """<robot name="a"><link name="l0"/><link name="l1"/><link name="l2"/>
        <joint name="j0" type="revolute"><origin xyz="0 0 0.5" rpy="0 0.1 0"/><axis xyz="0 0 1"/>
        <parent link="l0"/><child link="l1"/></joint>
        <joint name="j1" type="revolute"><origin xyz="0.4 0 0" rpy="0.2 0 0"/><axis xyz="0 1 0"/>
        <parent link="l1"/><child link="l2"/></joint></robot>""",
        "l2",
    )

    def product(x: Any) -> Any:
        return (t(rot=x[:3], pos=[0.1, 0.2, 0.3]) * t(rot=[0.1, 0.4, 0.2], pos=x[3:])).matrix()

    yield "Transform", product, SERIES[:6]
    yield "forward_kinematics", lambda x: arm.forward_kinematics(x).matrix(), [0.3, 0.7]
    yield "jacobian", arm.jacobian, [0.3, 0.7]


@package("simdkalman", "estimation")
def simdkalman() -> Iterator[Case]:
    m = module("simdkalman").KalmanFilter
    series = np.array(SERIES)

    def smoothed(x: Any) -> Any:
        kf = m(
            state_transition=np.array([[1.0, 1.0], [0.0, 1.0]]), process_noise=np.diag([0.1, 0.01]),
            observation_model=np.array([[1.0, 0.0]]), observation_noise=x[0],
        )  # fmt: skip
        return kf.smooth(x[1] * series).observations.mean

    def predicted(x: Any) -> Any:
        kf = m(
            np.array([[1.0, 1.0], [0.0, 1.0]]), np.diag([0.1, 0.01]), np.array([[1.0, 0.0]]), 1.0
        )
        return kf.predict(x, 3).observations.mean

    yield "smooth", smoothed, [1.0, 0.9]
    yield "predict", predicted, SERIES


@package("spectres", "spectroscopy")
def spectres() -> Iterator[Case]:
    m = module("spectres").spectres
    old, new = np.linspace(1.0, 12.0, 12), np.linspace(2.3, 9.7, 5)
    yield "fluxes", lambda x: m(new, old, x), SERIES
    yield "errors", lambda x: m(new, old, np.array(SERIES), spec_errs=x)[1], TABLE


@package("GTC", "metrology")
def gtc() -> Iterator[Case]:
    m = module("GTC")

    def resistance(x: Any) -> Any:
        v, i = m.ureal(x[0], 0.01), m.ureal(x[1], 1e-3)
        r = v / i
        return [m.value(r), m.uncertainty(r)]

    def sine(x: Any) -> Any:
        y = m.sin(m.ureal(x[0], x[1]))
        return [m.value(y), m.variance(y)]

    yield "ureal", resistance, [5.0, 0.2]
    yield "sin", sine, [0.4, 0.1]


@package("blackscholes", "finance")
def blackscholes() -> Iterator[Case]:
    m = module("blackscholes")
    given, futures = [55.0, 50.0, 1.0, 0.0025, 0.15], [55.0, 50.0, 1.0, 0.0025, 0.15]
    yield "call", lambda x: m.BlackScholesCall(*x, q=0.0).price(), given
    yield "charm", lambda x: m.BlackScholesPut(*x, q=0.0).charm(), given
    yield "Black76Call", lambda x: m.Black76Call(*x).vomma(), futures
    yield "Straddle", lambda x: m.BlackScholesStraddleLong(*x, q=0.0).delta(), given


@package("eqsig", "earthquakes")
def eqsig() -> Iterator[Case]:
    m = module("eqsig")
    periods = np.array([0.3, 0.5, 1.0])
    response = m.sdof.nigam_and_jennings_response
    yield "AccSignal.velocity", lambda x: m.AccSignal(x, 0.1).velocity, WAVE
    yield "response", lambda x: response(x, 0.1, periods, 0.05)[0], WAVE
    yield "arias", lambda x: m.im.calc_arias_intensity(m.AccSignal(x, 0.1)), WAVE


@package("pydmd", "dynamic modes")
def pydmd() -> Iterator[Case]:
    m = module("pydmd")

    def eigenvalues(x: Any) -> Any:
        dmd = m.DMD(svd_rank=2)
        dmd.fit(x.reshape(3, 4))
        return np.sort(np.abs(dmd.eigs))

    def rebuilt(x: Any) -> Any:
        dmd = m.DMD(svd_rank=2)
        dmd.fit(x.reshape(3, 4))
        return dmd.reconstructed_data.real

    yield "eigs", eigenvalues, SERIES
    yield "reconstructed_data", rebuilt, SERIES


@package("rockphypy", "rock physics")
def rockphypy() -> Iterator[Case]:
    m = module("rockphypy")
    em, fluid, gm = m.EM, m.Fluid, m.GM
    yield "HS", lambda x: em.HS(x[0], x[1], 2.2, x[2], 0.0, bound="upper"), [0.7, 37.0, 44.0]
    yield "cripor", lambda x: em.cripor(x[0], x[1], x[2], 0.4), [37.0, 44.0, 0.2]
    yield "Gassmann", lambda x: fluid.Gassmann(*x, 37.0, 2.2, 0.2), [18.0, 22.0]
    yield "hertzmindlin", lambda x: gm.hertzmindlin(x[0], x[1], 0.4, 8.6, x[2], 0.5), [37, 44, 20.0]
    yield "SC", lambda x: em.SC(x, 37.0, 44.0, 20), [0.05, 0.1]


@package("radioactivedecay", "nuclear physics")
def radioactivedecay() -> Iterator[Case]:
    m = module("radioactivedecay")

    def decayed(x: Any) -> Any:
        after = m.Inventory({"Mo-99": x[0]}, "Bq").decay(x[1], "h")
        return list(after.activities("Bq").values())

    def masses(x: Any) -> Any:
        return list(m.Inventory({"Tc-99m": x[0], "I-123": x[1]}, "Bq").masses("pg").values())

    yield "decay", decayed, [2.0, 20.0]
    yield "masses", masses, [2.3, 5.8]


@package("heartpy", "heart rate")
def heartpy() -> Iterator[Case]:
    a, f = module("heartpy.analysis"), module("heartpy.filtering")
    beats = [800.0, 820.0, 790.0, 835.0, 810.0, 805.0, 842.0, 796.0]

    def measures(x: Any) -> Any:
        found = a.calc_ts_measures(x, np.abs(np.diff(x)), np.diff(x) ** 2, {}, {})[1]
        return [found["bpm"], found["sdnn"], found["rmssd"]]

    def filtered(x: Any) -> Any:
        return f.filter_signal(x, cutoff=5, sample_rate=24.0, order=2, filtertype="lowpass")

    yield "calc_ts_measures", measures, beats
    yield "filter_signal", filtered, WAVE


@package("floris", "wind farms")
def floris() -> Iterator[Case]:
    m = module("floris.core.rotor_velocity")
    grid = np.ones((1, 1, 3, 3))
    yield "average_velocity", lambda x: m.average_velocity(x.reshape(1, 1, 3, 3)), TABLE[:9]
    yield "cubic mean", lambda x: m.cubic_mean(x[0] * grid + 0.1, axis=(2, 3)), [8.0]
