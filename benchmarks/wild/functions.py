"""Functions of public packages, as they are installed, at a point.

Each case is a function of one vector. The packages know nothing of gradwrap; all but a few are pure
Python. They were chosen for their variety, before any of them was tried.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

Case = tuple[str, Callable[[Any], Any], list[float]]


class Package(NamedTuple):
    """A distribution, its subject, and what yields its cases."""

    name: str
    subject: str
    cases: Callable[[], Iterator[Case]]


class Sample(list[Package]):
    """The packages of one sample, in the order in which they are entered."""

    def package(self, name: str, subject: str) -> Callable[[Callable[[], Iterator[Case]]], None]:
        """Enter a package."""

        def enter(cases: Callable[[], Iterator[Case]]) -> None:
            self.append(Package(name, subject, cases))

        return enter


PACKAGES = Sample()
package = PACKAGES.package


def spread(function: Callable[..., Any], *rest: Any) -> Callable[[Any], Any]:
    """The function of a vector whose elements are the arguments of another."""
    return lambda x: function(*x, *rest)


def with_last(function: Callable[..., Any], *first: Any) -> Callable[[Any], Any]:
    """The function of a vector whose elements are the last arguments of another."""
    return lambda x: function(*first, *x)


def module(name: str) -> Any:
    """Import a module that has no types."""
    return importlib.import_module(name)


@package("pymap3d", "geodesy")
def pymap3d() -> Iterator[Case]:
    m = module("pymap3d")
    yield "geodetic2ecef", spread(m.geodetic2ecef), [46.0, 11.0, 300.0]
    yield "ecef2geodetic", spread(m.ecef2geodetic), [4.2e6, 8.0e5, 4.7e6]
    yield "aer2geodetic", spread(m.aer2geodetic, 42.0, -82.0, 200.0), [33.0, 70.0, 1000.0]
    yield "enu2aer", spread(m.enu2aer), [186.0, 286.0, 939.0]
    yield "geodetic2enu", spread(m.geodetic2enu, 42.0, -82.0, 200.0), [42.1, -81.9, 1139.0]


@package("utm", "geodesy")
def utm() -> Iterator[Case]:
    m = module("utm")
    yield "from_latlon", lambda x: m.from_latlon(x[0], x[1])[:2], [51.2, 7.5]
    yield "to_latlon", lambda x: m.to_latlon(x[0], x[1], 32, "U"), [395201.3, 5673135.2]
    yield "from_latlon of arrays", lambda x: m.from_latlon(x[:2], x[2:])[0], [51.2, 51.3, 7.5, 7.6]


@package("nvector", "geodesy")
def nvector() -> Iterator[Case]:
    m = module("nvector")
    yield "lat_lon2n_E", lambda x: m.lat_lon2n_E(x[0], x[1]), [0.7, 0.3]
    yield "n_E2lat_lon", lambda x: m.n_E2lat_lon(x.reshape(3, 1)), [0.6, 0.2, 0.77]
    yield "n_EB_E2p_EB_E", lambda x: m.n_EB_E2p_EB_E(x.reshape(3, 1)), [0.6, 0.2, 0.77]
    yield (
        "great_circle_distance",
        lambda x: m.great_circle_distance(x[:3].reshape(3, 1), x[3:].reshape(3, 1)),
        [0.6, 0.2, 0.77, 0.5, 0.3, 0.8],
    )


@package("haversine", "geodesy")
def haversine() -> Iterator[Case]:
    m = module("haversine")
    yield "haversine", lambda x: m.haversine((x[0], x[1]), (48.8, 2.3)), [45.7, 4.8]
    yield (
        "haversine_vector",
        lambda x: m.haversine_vector(x.reshape(2, 2), [(48.8, 2.3), (40.7, -74.0)]),
        [45.7, 4.8, 41.0, -73.0],
    )
    yield (
        "inverse_haversine",
        lambda x: m.inverse_haversine((x[0], x[1]), x[2], 0.3),
        [45.7, 4.8, 32.0],
    )


@package("transforms3d", "rotations")
def transforms3d() -> Iterator[Case]:
    e, q, a = (module(f"transforms3d.{name}") for name in ("euler", "quaternions", "axangles"))
    affines = module("transforms3d.affines")
    yield "euler2mat", lambda x: e.euler2mat(x[0], x[1], x[2]), [0.1, 0.7, -0.4]
    yield "euler2quat", lambda x: e.euler2quat(x[0], x[1], x[2]), [0.1, 0.7, -0.4]
    yield "quat2mat", q.quat2mat, [0.9, 0.1, 0.3, -0.2]
    yield "qmult", lambda x: q.qmult(x[:4], x[4:]), [0.9, 0.1, 0.3, -0.2, 0.5, 0.5, 0.1, 0.7]
    yield "axangle2mat", lambda x: a.axangle2mat(x[:3], x[3]), [0.3, 0.5, 0.1, 0.7]
    yield "compose", lambda x: affines.compose(x[:3], np.eye(3), x[3:]), [1.0, 2, 3, 1.1, 1.2, 0.9]


@package("pytransform3d", "rotations")
def pytransform3d() -> Iterator[Case]:
    r, t = module("pytransform3d.rotations"), module("pytransform3d.transformations")
    yield "matrix_from_axis_angle", r.matrix_from_axis_angle, [0.267, 0.535, 0.802, 0.7]
    yield "matrix_from_compact_axis_angle", r.matrix_from_compact_axis_angle, [0.3, 0.5, 0.7]
    yield "matrix_from_quaternion", r.matrix_from_quaternion, [0.9, 0.1, 0.3, -0.2]
    yield (
        "quaternion_slerp",
        lambda x: r.quaternion_slerp(
            np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.8, 0.6, 0.0, 0.0]), x[0]
        ),
        [0.3],
    )
    yield (
        "transform_from_exponential_coordinates",
        t.transform_from_exponential_coordinates,
        [
            *(0.3, 0.5, 0.7, 0.1, 0.2, -0.3),
        ],
    )


@package("modern_robotics", "robotics")
def modern_robotics() -> Iterator[Case]:
    m = module("modern_robotics")
    home = np.array([[-1.0, 0, 0, 0], [0, 1, 0, 6], [0, 0, -1, 2], [0, 0, 0, 1]])
    screws = np.array([[0.0, 0, 1, 4, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, -1, -6, 0, -0.1]]).T
    joints = [0.5, 3.0, 1.2]
    yield "FKinSpace", lambda x: m.FKinSpace(home, screws, x), joints
    yield "FKinBody", lambda x: m.FKinBody(home, screws, x), joints
    yield "JacobianSpace", lambda x: m.JacobianSpace(screws, x), joints
    yield "MatrixExp3", lambda x: m.MatrixExp3(m.VecToso3(x)), [0.3, 0.5, 0.7]
    yield "MatrixLog3", lambda x: m.MatrixLog3(m.MatrixExp3(m.VecToso3(x))), [0.3, 0.5, 0.7]
    yield "Adjoint", lambda x: m.Adjoint(x.reshape(4, 4)), list(np.eye(4).ravel() + 0.1)


@package("pyquaternion", "quaternions")
def pyquaternion() -> Iterator[Case]:
    m = module("pyquaternion")
    yield (
        "rotate",
        lambda x: m.Quaternion(*x).rotate(np.array([1.0, 2.0, 3.0])),
        [0.9, 0.1, 0.3, -0.2],
    )
    yield "rotation_matrix", lambda x: m.Quaternion(array=x).rotation_matrix, [0.9, 0.1, 0.3, -0.2]
    yield (
        "product",
        lambda x: (m.Quaternion(*x) * m.Quaternion(0.5, 0.5, 0.1, 0.7)).elements,
        [
            *(0.9, 0.1, 0.3, -0.2),
        ],
    )


@package("pyrr", "quaternions")
def pyrr() -> Iterator[Case]:
    m = module("pyrr")
    yield "quaternion.create_from_eulers", m.quaternion.create_from_eulers, [0.1, 0.7, -0.4]
    yield (
        "matrix33.create_from_quaternion",
        m.matrix33.create_from_quaternion,
        [0.1, 0.3, -0.2, 0.9],
    )
    yield (
        "quaternion.cross",
        lambda x: m.quaternion.cross(x[:4], x[4:]),
        [
            *(0.9, 0.1, 0.3, -0.2, 0.5, 0.5, 0.1, 0.7),
        ],
    )
    yield "vector.normalize", m.vector.normalize, [0.9, 0.1, 0.3]


@package("ahrs", "quaternions")
def ahrs() -> Iterator[Case]:
    o = module("ahrs.common.orientation")
    frames = module("ahrs.common.frames")
    yield "q_prod", lambda x: o.q_prod(x[:4], x[4:]), [0.9, 0.1, 0.3, -0.2, 0.5, 0.5, 0.1, 0.7]
    yield "q2R", o.q2R, [0.9, 0.1, 0.3, -0.2]
    yield "am2angles", lambda x: o.am2angles(x[:3], x[3:]), [0.1, 0.2, 9.8, 20.0, 3.0, 40.0]
    yield "geo2ecef", spread(frames.geodetic2ecef), [30.0, 70.0, 300.0]


@package("filterpy", "estimation")
def filterpy() -> Iterator[Case]:
    k, s = module("filterpy.kalman"), module("filterpy.stats")
    d = module("filterpy.common")

    def filtered(x: Any) -> Any:
        f = k.KalmanFilter(dim_x=2, dim_z=1)
        f.F = np.array([[1.0, 1.0], [0.0, 1.0]])
        f.H = np.array([[1.0, 0.0]])
        f.Q = np.eye(2) * x[0]
        f.R = np.array([[x[1]]])
        for z in (1.0, 2.1, 2.9):
            f.predict()
            f.update(z)
        return f.x

    yield "KalmanFilter", filtered, [0.1, 0.5]
    yield (
        "predict and update",
        lambda x: k.update(*k.predict(x[0], x[1], u=1.0, Q=0.1), 2.0, 0.5),
        [
            *(1.0, 0.3),
        ],
    )
    yield "stats.gaussian", lambda x: s.gaussian(x[0], x[1], x[2]), [0.2, 0.5, 1.3]
    yield "stats.mul", lambda x: s.mul(*x), [1.0, 0.5, 2.0, 0.7]
    yield "Q_discrete_white_noise", lambda x: d.Q_discrete_white_noise(2, x[0], x[1]), [0.1, 0.5]


@package("control", "control")
def control() -> Iterator[Case]:
    m = module("control")
    yield "tf response", lambda x: abs(m.tf([x[0]], [1.0, x[1], x[2]])(1j)), [2.0, 0.6, 3.0]
    yield (
        "ss response",
        lambda x: abs(m.ss(x.reshape(2, 2), [[0.0], [1]], [[1.0, 0]], 0)(1j)),
        [
            *(-1.0, 0.5, -0.3, -2.0),
        ],
    )
    yield (
        "series",
        lambda x: abs(m.series(m.tf([1], [1, x[0]]), m.tf([1], [1, x[1]]))(2j)),
        [0.6, 3.0],
    )
    yield (
        "damp",
        lambda x: m.ss(x.reshape(2, 2), [[0.0], [1]], [[1.0, 0]], 0).dcgain(),
        [
            *(-1.0, 0.5, -0.3, -2.0),
        ],
    )


@package("numpy-financial", "finance")
def numpy_financial() -> Iterator[Case]:
    m = module("numpy_financial")
    yield "fv", lambda x: m.fv(x[0], 120.0, x[1], x[2]), [0.004, -100.0, -100.0]
    yield "pv", lambda x: m.pv(x[0], 120.0, x[1], x[2]), [0.004, -100.0, 15692.0]
    yield "pmt", lambda x: m.pmt(x[0], 180.0, x[1]), [0.006, 200000.0]
    yield "nper", lambda x: m.nper(x[0], x[1], x[2]), [0.006, -150.0, 8000.0]
    yield "npv", lambda x: m.npv(x[0], x[1:]), [0.281, -100.0, 39.0, 59.0, 55.0, 20.0]
    yield "ipmt", lambda x: m.ipmt(x[0], 4, 24, x[1]), [0.0069, 2500.0]


@package("nelson-siegel-svensson", "finance")
def nelson_siegel_svensson() -> Iterator[Case]:
    m = module("nelson_siegel_svensson")
    times = np.array([1.0, 2.0, 5.0, 10.0])
    yield "NelsonSiegelCurve", lambda x: m.NelsonSiegelCurve(*x)(times), [0.03, -0.02, 0.01, 1.7]
    yield (
        "NelsonSiegelSvenssonCurve",
        lambda x: m.NelsonSiegelSvenssonCurve(*x)(times),
        [
            *(0.03, -0.02, 0.01, 0.02, 1.7, 4.0),
        ],
    )
    yield "forward", lambda x: m.NelsonSiegelCurve(*x).forward(times), [0.03, -0.02, 0.01, 1.7]


@package("colorspacious", "colour")
def colorspacious() -> Iterator[Case]:
    m = module("colorspacious")
    rgb = [0.3, 0.5, 0.7]
    for space in ("XYZ100", "CIELab", "CIELCh", "CAM02-UCS", "sRGB1-linear"):
        yield f"sRGB1 to {space}", partial(m.cspace_convert, start="sRGB1", end=space), rgb
    yield "deltaE", lambda x: m.deltaE(x[:3], x[3:], input_space="sRGB1"), [*rgb, 0.4, 0.4, 0.6]


@package("colour-science", "colour")
def colour() -> Iterator[Case]:
    m = module("colour")
    xyz = [0.2, 0.12, 0.05]
    for name in ("XYZ_to_Lab", "XYZ_to_Luv", "XYZ_to_xyY", "XYZ_to_sRGB", "XYZ_to_Oklab"):
        yield name, getattr(m, name), xyz
    yield "Lab_to_LCHab", m.Lab_to_LCHab, [41.5, 52.6, 26.9]
    yield "delta_E", lambda x: m.delta_E(x[:3], x[3:]), [41.5, 52.6, 26.9, 40.0, 50.0, 30.0]


@package("opfunu", "test functions")
def opfunu() -> Iterator[Case]:
    m = module("opfunu")
    for year, name in (
        *((2014, f"F{i}2014") for i in (1, 4, 8)),
        *((2017, f"F{i}2017") for i in (1, 3, 5)),
    ):
        function = getattr(m.cec_based, name)
        yield (
            f"cec {name}",
            function(ndim=10).evaluate,
            list(np.linspace(-30.0, 40.0, 10) + year * 1e-3),
        )


@package("benchmark_functions", "test functions")
def benchmark_functions() -> Iterator[Case]:
    m = module("benchmark_functions")
    point = [0.5, -0.3, 0.7]
    for name in ("Ackley", "Griewank", "Rastrigin", "Rosenbrock", "Michalewicz", "StyblinskiTang"):
        yield name, getattr(m, name)(n_dimensions=3), point


@package("scikit-fuzzy", "fuzzy logic")
def scikit_fuzzy() -> Iterator[Case]:
    m = module("skfuzzy")
    u = np.linspace(0.0, 10.0, 21)
    yield "gaussmf", lambda x: m.gaussmf(u, x[0], x[1]), [4.0, 1.5]
    yield "gbellmf", lambda x: m.gbellmf(u, x[0], x[1], x[2]), [2.0, 3.0, 5.1]
    yield "sigmf", lambda x: m.sigmf(u, x[0], x[1]), [4.0, 1.5]
    yield "trimf", lambda x: m.trimf(u, x), [2.1, 4.2, 7.3]
    yield "trapmf", lambda x: m.trapmf(u, x), [1.1, 3.2, 5.3, 8.4]
    yield "defuzz", lambda x: m.defuzz(u, m.gaussmf(u, x[0], x[1]), "centroid"), [4.0, 1.5]


@package("vg", "geometry")
def vg() -> Iterator[Case]:
    m = module("vg")
    pair = [1.0, 0.3, -0.5, 0.2, 0.8, 0.4]
    yield "angle", lambda x: m.angle(x[:3], x[3:]), pair
    yield "project", lambda x: m.project(x[:3], x[3:]), pair
    yield "rotate", lambda x: m.rotate(x[:3], x[3:], 30.0), pair
    yield "reject", lambda x: m.reject(x[:3], x[3:]), pair


@package("scikit-spatial", "geometry")
def scikit_spatial() -> Iterator[Case]:
    m = module("skspatial.objects")
    yield (
        "Plane.distance_point",
        lambda x: m.Plane(x[:3], x[3:6]).distance_point(x[6:]),
        [
            *(0.0, 0.1, 0.2, 1.0, 0.3, 0.2, 2.0, 1.0, 0.5),
        ],
    )
    yield (
        "Line.project_point",
        lambda x: m.Line(x[:3], x[3:6]).project_point(x[6:]),
        [
            *(0.0, 0.1, 0.2, 1.0, 0.3, 0.2, 2.0, 1.0, 0.5),
        ],
    )
    yield "Sphere.volume", lambda x: m.Sphere([0, 0, 0], x[0]).volume(), [2.0]


@package("splines", "geometry")
def splines() -> Iterator[Case]:
    m = module("splines")
    yield (
        "CatmullRom",
        lambda x: m.CatmullRom(x.reshape(4, 2), endconditions="natural").evaluate(1.4),
        [0.0, 0.0, 1.0, 2.0, 3.0, 1.0, 4.0, 3.0],
    )
    yield "Natural", lambda x: m.Natural(x.reshape(4, 2)).evaluate(1.4), [0.0, 0, 1, 2, 3, 1, 4, 3]
    yield (
        "Bernstein",
        lambda x: m.Bernstein([x.reshape(4, 2)]).evaluate(0.3),
        [0.0, 0, 1, 2, 3, 1, 4, 3],
    )


@package("tmm", "optics")
def tmm() -> Iterator[Case]:
    m = module("tmm")
    yield (
        "coh_tmm R",
        lambda x: m.coh_tmm("s", [1.0, x[0], x[1], 1.5], [np.inf, x[2], x[3], np.inf], 0.1, 550.0)[
            "R"
        ],
        [2.1, 1.4, 80.0, 120.0],
    )
    yield "snell", lambda x: m.snell(x[0], x[1], x[2]), [1.0, 1.5, 0.3]
    yield "interface_r", lambda x: abs(m.interface_r("p", x[0], x[1], 0.3, 0.2)), [1.0, 1.5]


@package("miepython", "optics")
def miepython() -> Iterator[Case]:
    m = module("miepython")
    yield "intensities", lambda x: m.i_unpolarized(x[0] - 0.01j, x[1], 0.4), [1.5, 2.3]
    yield "efficiencies_mx", lambda x: m.efficiencies_mx(x[0] - 0.01j, x[1])[:2], [1.5, 2.3]
    yield "small_sphere", lambda x: m.small_sphere(x[0] - 0.01j, x[1])[:2], [1.5, 0.03]


@package("seawater", "oceanography")
def seawater() -> Iterator[Case]:
    m = module("seawater")
    yield "dens", lambda x: m.dens(x[0], x[1], x[2]), [35.0, 12.0, 1000.0]
    yield "svel", lambda x: m.svel(x[0], x[1], x[2]), [35.0, 12.0, 1000.0]
    yield "ptmp", lambda x: m.ptmp(x[0], x[1], x[2]), [35.0, 12.0, 1000.0]
    yield "cp", lambda x: m.cp(x[0], x[1], x[2]), [35.0, 12.0, 1000.0]
    yield "dpth", lambda x: m.dpth(x[0], x[1]), [1000.0, 30.0]


@package("ambiance", "atmosphere")
def ambiance() -> Iterator[Case]:
    m = module("ambiance")

    def atmosphere(name: str, x: Any) -> Any:
        return getattr(m.Atmosphere(x), name)

    for name in ("temperature", "pressure", "density", "speed_of_sound", "dynamic_viscosity"):
        yield name, partial(atmosphere, name), [500.0, 12000.0]


@package("thermofeel", "meteorology")
def thermofeel() -> Iterator[Case]:
    m = module("thermofeel")
    yield "humidex", lambda x: m.calculate_humidex(x[:1], x[1:]), [303.0, 293.0]
    yield (
        "heat_index_simplified",
        lambda x: m.calculate_heat_index_simplified(x[:1], x[1:]),
        [305.0, 60.0],
    )
    yield "wind_chill", lambda x: m.calculate_wind_chill(x[:1], x[1:]), [265.0, 8.0]
    yield (
        "utci",
        lambda x: m.calculate_utci(x[:1], x[1:2], x[2:3], None, x[3:]),
        [
            *(300.0, 3.0, 310.0, 20.0),
        ],
    )


@package("psychrolib", "meteorology")
def psychrolib() -> Iterator[Case]:
    m = module("psychrolib")
    m.SetUnitSystem(m.SI)
    yield "GetSatVapPres", lambda x: m.GetSatVapPres(x[0]), [25.0]
    yield (
        "GetHumRatioFromRelHum",
        lambda x: m.GetHumRatioFromRelHum(x[0], x[1], x[2]),
        [
            *(25.0, 0.6, 101325.0),
        ],
    )
    yield "GetMoistAirEnthalpy", lambda x: m.GetMoistAirEnthalpy(x[0], x[1]), [25.0, 0.01]


@package("iapws", "thermodynamics")
def iapws() -> Iterator[Case]:
    m = module("iapws")
    e = module("iapws._iapws").__dict__
    yield "_Viscosity", spread(e["_Viscosity"]), [998.0, 298.15]
    yield "_Dielectric", spread(e["_Dielectric"]), [998.0, 298.15]
    yield "IAPWS97 h", lambda x: m.IAPWS97(P=x[0], T=x[1]).h, [5.0, 500.0]


@package("chemicals", "thermodynamics")
def chemicals() -> Iterator[Case]:
    m = module("chemicals")
    yield "Antoine", lambda x: m.Antoine(x[0], 8.95894, 510.595, -15.95), [100.0]
    yield "Rackett", lambda x: m.Rackett(*x), [272.0, 369.83, 4248000.0, 0.2763]
    yield "EQ105", lambda x: m.EQ105(x[0], 0.128, 0.242, 617.1, 0.3), [300.0]
    yield (
        "Rachford_Rice_flash_error",
        lambda x: m.rachford_rice.Rachford_Rice_flash_error(
            x[0], [0.5, 0.3, 0.2], [1.685, 0.742, 0.532]
        ),
        [0.5],
    )
    yield "Lee_Kesler", lambda x: m.Lee_Kesler(*x), [347.2, 617.1, 36e5, 0.299]


@package("fluids", "fluid mechanics")
def fluids() -> Iterator[Case]:
    m = module("fluids")
    yield (
        "Reynolds",
        lambda x: m.Reynolds(V=x[0], D=x[1], rho=x[2], mu=x[3]),
        [2.5, 0.25, 1.1, 1e-5],
    )
    yield "Colebrook", lambda x: m.friction.Colebrook(x[0], x[1]), [1e5, 1e-4]
    yield "Haaland", lambda x: m.friction.Haaland(x[0], x[1]), [1e5, 1e-4]
    yield "ATMOSPHERE_1976", lambda x: m.ATMOSPHERE_1976(x[0]).rho, [5000.0]
    yield (
        "isothermal_gas",
        lambda x: m.isothermal_gas(rho=x[0], fd=x[1], P1=1e6, P2=9e5, L=1000.0, D=0.5),
        [11.3, 0.00185],
    )


@package("HydroErr", "hydrology")
def hydro_err() -> Iterator[Case]:
    m = module("HydroErr")
    observed = np.array([4.7, 6.0, 10.0, 2.5, 4.0, 7.0])
    for name in ("nse", "kge_2009", "rmse", "d", "ve", "sa"):
        yield (
            name,
            partial(getattr(m, name), observed_array=observed),
            [5.0, 7.0, 9.0, 2.0, 4.5, 6.7],
        )


@package("python_speech_features", "signals")
def python_speech_features() -> Iterator[Case]:
    m = module("python_speech_features")
    t = np.linspace(0.0, 0.06, 960)
    yield "mfcc", lambda x: m.mfcc(np.sin(x[0] * t) + x[1] * np.sin(900 * t), 16000), [700.0, 0.4]
    yield (
        "logfbank",
        lambda x: m.logfbank(np.sin(x[0] * t) + x[1] * np.sin(900 * t), 16000),
        [700.0, 0.4],
    )
    yield "hz2mel", lambda x: m.hz2mel(x[0]), [700.0]


@package("lmfit", "spectroscopy")
def lmfit() -> Iterator[Case]:
    m = module("lmfit.lineshapes")
    grid = np.linspace(-3.0, 3.0, 13)
    for name, point in {
        "gaussian": [1.0, 0.2, 0.7],
        "lorentzian": [1.0, 0.2, 0.7],
        "voigt": [1.0, 0.2, 0.7, 0.5],
        "pvoigt": [1.0, 0.2, 0.7, 0.4],
        "moffat": [1.0, 0.2, 0.7, 1.4],
        "doniach": [1.0, 0.2, 0.7, 0.1],
        "skewed_gaussian": [1.0, 0.2, 0.7, 0.5],
    }.items():
        yield name, with_last(getattr(m, name), grid), point


@package("periodictable", "crystallography")
def periodictable() -> Iterator[Case]:
    m = module("periodictable")
    yield "neutron_sld", lambda x: m.neutron_sld("H2O", density=x[0], wavelength=4.75)[0], [0.997]
    yield "xray f0", m.Fe.xray.f0, [0.5, 1.5]
    yield "magnetic j0", m.Fe.magnetic_ff[2].j0_Q, [0.5, 1.5]


@package("rmsd", "chemistry")
def rmsd() -> Iterator[Case]:
    m = module("rmsd")
    other = np.array([[0.0, 0.1, 0], [1.1, 0.2, 0.1], [0.3, 1.0, 0.4], [0.2, 0.1, 1.3]])
    point = [0.1, 0.0, 0.2, 1.0, 0.0, 0.1, 0.2, 1.3, 0.0, 0.0, 0.3, 1.0]
    yield "rmsd", lambda x: m.rmsd(x.reshape(4, 3), other), point
    yield "kabsch_rmsd", lambda x: m.kabsch_rmsd(x.reshape(4, 3), other), point
    yield "quaternion_rmsd", lambda x: m.quaternion_rmsd(x.reshape(4, 3), other), point


@package("bruges", "geophysics")
def bruges() -> Iterator[Case]:
    m = module("bruges.reflection")
    r = module("bruges.rockphysics")
    rock = [3000.0, 1500.0, 2400.0, 3300.0, 1800.0, 2500.0]
    for name in ("zoeppritz_rpp", "akirichards", "shuey", "fatti"):
        yield name, spread(getattr(m, name), 20.0), rock
    yield "gassmann", lambda x: r.avseth_gassmann(*x), [5e9, 37e9, 2e9, 8e8, 0.2]


@package("pvlib", "solar energy")
def pvlib() -> Iterator[Case]:
    i, a = module("pvlib.irradiance"), module("pvlib.atmosphere")
    s, v = module("pvlib.solarposition"), module("pvlib.pvsystem")
    yield "aoi", lambda x: i.aoi(*x), [30.0, 180.0, 40.0, 170.0]
    yield "haydavies", lambda x: i.haydavies(30.0, 180.0, *x, 1367.0, 40.0, 170.0), [100.0, 700.0]
    yield "get_relative_airmass", lambda x: a.get_relative_airmass(x[0]), [40.0]
    yield "alt2pres", lambda x: a.alt2pres(x[0]), [1000.0]
    yield "declination_spencer71", lambda x: s.declination_spencer71(x[0]), [100.0]
    yield "pvwatts_dc", lambda x: v.pvwatts_dc(x[0], x[1], 100.0, -0.003), [800.0, 40.0]


@package("colossus", "astronomy")
def colossus() -> Iterator[Case]:
    c = module("colossus.cosmology.cosmology")
    p = module("colossus.halo.profile_nfw")
    cosmo = c.setCosmology("planck18")
    yield "Ez", cosmo.Ez, [0.3, 1.2]
    yield "rho_m", cosmo.rho_m, [0.3, 1.2]
    yield "NFW density", lambda x: p.NFWProfile(rhos=1e6, rs=100.0).density(x), [50.0, 300.0]
    yield (
        "NFW enclosedMass",
        lambda x: p.NFWProfile(rhos=x[0], rs=x[1]).enclosedMass(80.0),
        [1e6, 100.0],
    )


@package("PyAstronomy", "astronomy")
def py_astronomy() -> Iterator[Case]:
    m = module("PyAstronomy.pyasl")
    yield "planck", lambda x: m.planck(x[0], lam=x[1]), [5800.0, 5e-7]
    yield "airtovac2", m.airtovac2, [5000.0, 6000.0]
    yield (
        "KeplerEllipse",
        lambda x: m.KeplerEllipse(x[0], 1.0, e=x[1], i=30.0).xyzPos(0.3),
        [1.0, 0.2],
    )
    yield "radec2aitoff", lambda x: m.positionAngle(*x), [200.0, 10.0, 200.5, 10.3]


@package("spatialmath-python", "robotics")
def spatialmath() -> Iterator[Case]:
    m = module("spatialmath.base")
    yield "rpy2r", lambda x: m.rpy2r(x[0], x[1], x[2]), [0.1, 0.7, -0.4]
    yield "trexp", m.trexp, [0.3, 0.5, 0.7, 0.1, 0.2, -0.3]
    yield "angvec2r", lambda x: m.angvec2r(x[0], x[1:]), [0.7, 0.3, 0.5, 0.1]
    yield "r2q", lambda x: m.r2q(m.rpy2r(x[0], x[1], x[2])), [0.1, 0.7, -0.4]


@package("deap", "test functions")
def deap() -> Iterator[Case]:
    m = module("deap.benchmarks")
    for name in ("ackley", "griewank", "rastrigin", "schwefel", "himmelblau", "bohachevsky"):
        yield name, getattr(m, name), [0.5, -0.3]


@package("geomdl", "geometry")
def geomdl() -> Iterator[Case]:
    b = module("geomdl.BSpline")

    def point(x: Any) -> Any:
        curve = b.Curve()
        curve.degree = 2
        curve.ctrlpts = [[x[0], x[1]], [1.0, 2.0], [3.0, 1.0]]
        curve.knotvector = [0, 0, 0, 1, 1, 1]
        return curve.evaluate_single(0.3)

    yield "Curve.evaluate_single", point, [0.1, 0.3]


@package("bezier", "geometry")
def bezier() -> Iterator[Case]:
    m = module("bezier")
    yield (
        "Curve.evaluate",
        lambda x: m.Curve(x.reshape(2, 3), degree=2).evaluate(0.3),
        [
            *(0.0, 0.5, 1.0, 0.0, 1.0, 0.2),
        ],
    )
    yield (
        "Curve.length",
        lambda x: m.Curve(x.reshape(2, 3), degree=2).length,
        [0.0, 0.5, 1.0, 0.0, 1.0, 0.2],
    )


@package("PeakUtils", "signals")
def peakutils() -> Iterator[Case]:
    m = module("peakutils")
    grid = np.linspace(0.0, 10.0, 21)
    yield "gaussian", lambda x: m.gaussian(grid, *x), [1.0, 4.0, 1.5]
    yield "centroid", lambda x: m.centroid(grid, m.gaussian(grid, *x)), [1.0, 4.0, 1.5]


@package("padasip", "signals")
def padasip() -> Iterator[Case]:
    m = module("padasip.filters")
    inputs = np.sin(np.arange(20.0)).reshape(10, 2)
    target = np.cos(np.arange(10.0))
    yield "FilterLMS", lambda x: m.FilterLMS(2, mu=x[0]).run(target, inputs)[0], [0.1]
    yield "FilterRLS", lambda x: m.FilterRLS(2, mu=x[0]).run(target, inputs)[0], [0.9]
    yield "FilterNLMS", lambda x: m.FilterNLMS(2, mu=x[0]).run(target, inputs)[0], [0.3]


@package("sgp4", "astronomy")
def sgp4() -> Iterator[Case]:
    m = module("sgp4.ext")
    state = [6524.8, 6862.9, 6448.3, 4.9013, 5.5338, -1.9763]
    yield "rv2coe", lambda x: m.rv2coe(list(x[:3]), list(x[3:]), 398600.4418)[:6], state
    yield "newtonnu", spread(m.newtonnu), [0.3, 0.7]
    yield "angle", lambda x: m.angle(list(x[:3]), list(x[3:])), state


@package("magpylib", "magnetostatics")
def magpylib() -> Iterator[Case]:
    m = module("magpylib.func")
    yield "dipole_field", lambda x: m.dipole_field("B", x[:3], x[3:]), [1.0, 2, 3, 0.1, 0.2, 0.3]
    yield "sphere_field", lambda x: m.sphere_field("B", x[:3], x[3], (1, 2, 3)), [1.0, 2, 3, 0.5]


@package("aotools", "optics")
def aotools() -> Iterator[Case]:
    m = module("aotools")
    yield "phaseFromZernikes", lambda x: m.phaseFromZernikes(x, 8), [0.1, 0.2, 0.3]
    yield "r0_to_seeing", spread(m.r0_to_seeing), [0.15]


@package("prysm", "optics")
def prysm() -> Iterator[Case]:
    m, c = module("prysm.polynomials"), module("prysm.coordinates")
    yield "zernike_nm", with_last(m.zernike_nm, 3, 1), [0.4, 0.3]
    yield "jacobi", lambda x: m.jacobi(3, 1, 1, x), [0.4, 0.3]
    yield "cart_to_polar", lambda x: c.cart_to_polar(x[:1], x[1:]), [0.4, 0.3]


@package("scikit-rf", "microwaves")
def scikit_rf() -> Iterator[Case]:
    n, f, t = (module(f"skrf.{name}") for name in ("network", "mathFunctions", "tlineFunctions"))
    yield "s2z", lambda x: n.s2z(x.reshape(1, 2, 2) + 0j), [0.1, 0.2, 0.3, 0.15]
    yield "complex_2_db", lambda x: f.complex_2_db(x[0] + 1j * x[1]), [0.1, 0.2]
    yield "zl_2_Gamma0", lambda x: t.zl_2_Gamma0(50.0, x[0] + 1j * x[1]), [30.0, 10.0]


@package("pyXSteam", "thermodynamics")
def py_xsteam() -> Iterator[Case]:
    m = module("pyXSteam.XSteam").XSteam
    steam = m(m.UNIT_SYSTEM_MKS)
    yield "h_pt", spread(steam.h_pt), [20.0, 300.0]
    yield "rho_pt", spread(steam.rho_pt), [20.0, 300.0]
    yield "tsat_p", spread(steam.tsat_p), [20.0]


@package("pykalman", "estimation")
def pykalman() -> Iterator[Case]:
    m = module("pykalman")
    seen = np.array([[1.0], [2.0], [3.0]])

    def filtered(x: Any) -> Any:
        f = m.KalmanFilter([[1, 1], [0, 1]], x.reshape(1, 2))
        return f.filter(seen)[0]

    yield "KalmanFilter.filter", filtered, [0.9, 0.1]


@package("skyfield", "astronomy")
def skyfield() -> Iterator[Case]:
    f, e = module("skyfield.functions"), module("skyfield.earthlib")
    yield "angle_between", lambda x: f.angle_between(x[:3], x[3:]), [1.0, 2, 3, 3, 1, 2]
    yield "rot_x", spread(f.rot_x), [0.3]
    yield "refraction", spread(e.refraction), [20.0, 10.0, 1010.0]


@package("ht", "heat transfer")
def ht() -> Iterator[Case]:
    m = module("ht")
    yield "turbulent_Dittus_Boelter", spread(m.turbulent_Dittus_Boelter), [1e5, 1.2]
    yield "LMTD", spread(m.LMTD), [100.0, 60.0, 30.0, 40.2]


@package("pyorbital", "astronomy")
def pyorbital() -> Iterator[Case]:
    m = module("pyorbital.astronomy")
    time = np.datetime64("2020-01-01T00:00:00")
    yield "cos_zen", with_last(m.cos_zen, time), [10.0, 50.0]
    yield "observer_position", with_last(m.observer_position, time), [10.0, 50.0, 0.1]


@package("geographiclib", "geodesy")
def geographiclib() -> Iterator[Case]:
    g = module("geographiclib.geodesic").Geodesic.WGS84
    yield "Inverse", lambda x: g.Inverse(*x)["s12"], [40.6, -73.8, 51.6, -0.5]
    yield (
        "Direct",
        lambda x: [g.Direct(*x)[key] for key in ("lat2", "lon2")],
        [
            *(40.6, -73.8, 45.0, 1e6),
        ],
    )


@package("sympy", "generated code")
def sympy() -> Iterator[Case]:
    s = module("sympy")
    a, b = s.symbols("a b")
    matrix = s.Matrix([[s.sin(a) * b, a**2], [s.sqrt(b), s.Piecewise((a, a > 1), (b, True))]])
    yield "lambdify to numpy", spread(s.lambdify((a, b), matrix, "numpy")), [1.2, 0.4]
    yield "lambdify to math", spread(s.lambdify((a, b), s.sin(a) * s.exp(b), "math")), [1.2, 0.4]
    yield "lambdify to scipy", spread(s.lambdify((a, b), [a * b, s.gamma(a)], "scipy")), [1.2, 0.4]


@package("lmoments3", "statistics")
def lmoments3() -> Iterator[Case]:
    m = module("lmoments3")
    yield "lmom_ratios", lambda x: m.lmom_ratios(x, nmom=4), [2.0, 5.0, 1.0, 7.0, 3.5]


@package("pycwt", "signals")
def pycwt() -> Iterator[Case]:
    m = module("pycwt")
    t = np.linspace(0.0, 6.0, 32)
    yield "cwt", lambda x: abs(m.cwt(np.sin(x[0] * t), 0.2)[0]), [2.0]
    yield "Morlet.psi_ft", m.Morlet(6).psi_ft, [2.0, 5.0]
