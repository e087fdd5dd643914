"""A third sample, drawn on 2026-11-23 after the second, before any of its packages was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .functions import Case

UNSEEN = Sample()
package = UNSEEN.package
TURN = [0.9, 0.1, 0.3, 0.2]
GAINS = [0.01, -0.02, 0.015, 0.003, -0.01, 0.02, 0.005, -0.012, 0.007, 0.011]


@package("unyt", "units")
def unyt() -> Iterator[Case]:
    u = module("unyt")
    array = u.unyt_array
    yield "to", lambda x: array(x, "km").to("m").value, [0.3, 0.7]
    yield "product", lambda x: (array(x, "m") * array(x, "s") ** 2).to("cm*s**2").value, [0.3, 0.7]
    yield "sin", lambda x: np.sin(array(x, "degree")), [30.0, 40.0]


@package("quantities", "units")
def quantities() -> Iterator[Case]:
    q = module("quantities")
    yield "rescale", lambda x: q.Quantity(x, "ft").rescale("m").magnitude, [0.3, 0.7]
    yield "product", lambda x: (x * q.m / q.Quantity(x, "s")[::-1]).magnitude, [0.3, 0.7]


@package("rowan", "quaternions")
def rowan() -> Iterator[Case]:
    m = module("rowan")
    yield "rotate", lambda x: m.rotate(m.normalize(x), [1.0, 2.0, 3.0]), TURN
    yield "from_axis_angle", lambda x: m.from_axis_angle([0.0, 0.6, 0.8], x[0]), [0.4]
    yield "to_euler", lambda x: m.to_euler(m.normalize(x)), TURN
    yield "slerp", lambda x: m.interpolate.slerp([1.0, 0, 0, 0], m.normalize(x), 0.3), TURN


@package("ikpy", "robotics")
def ikpy() -> Iterator[Case]:
    c, link = module("ikpy.chain").Chain, module("ikpy.link")

    def forward(x: Any) -> Any:
        links = [
            link.OriginLink(),
            link.URDFLink("a", [0.1, 0.2, 0.5], [0.0, 0.1, 0.0], rotation=[0, 1, 0]),
            link.URDFLink("b", [0.4, 0.0, 0.2], [0.2, 0.0, 0.0], rotation=[0, 0, 1]),
        ]
        return c(links).forward_kinematics([0.0, x[0], x[1]])

    yield "forward_kinematics", forward, [0.3, 0.7]


@package("pybotics", "robotics")
def pybotics() -> Iterator[Case]:
    r, p = module("pybotics.robot").Robot, module("pybotics.predefined_models")
    g, k = module("pybotics.geometry"), module("pybotics.kinematic_chain")
    joints = [0.1, -0.4, 0.3, 0.2, 0.5, 0.6]
    arm = r(k.MDHKinematicChain(p.ur10()))
    yield "fk", arm.fk, joints
    yield "jacobian_world", arm.jacobian_world, joints
    yield "vector_2_matrix", g.vector_2_matrix, [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]


@package("visual-kinematics", "robotics")
def visual_kinematics() -> Iterator[Case]:
    f = module("visual_kinematics.Frame").Frame
    r = module("visual_kinematics.RobotSerial").RobotSerial
    table = np.array([[0.2, 0.0, 0.5 * np.pi, 0.0], [0.1, 0.4, 0.0, 0.0]])
    yield "RobotSerial.forward", lambda x: r(table).forward(x).t_4_4, [0.3, 0.6]
    yield "Frame.euler_3", lambda x: f.from_euler_3(x, np.zeros((3, 1))).euler_3, [0.1, 0.2, 0.3]


@package("compas", "architecture")
def compas() -> Iterator[Case]:
    g = module("compas.geometry")
    yield "angle_vectors", lambda x: g.angle_vectors(x[:3], x[3:]), SERIES[:6]
    yield "area_polygon", lambda x: g.area_polygon(x.reshape(4, 3).tolist()), SERIES
    yield "Rotation", lambda x: g.Rotation.from_euler_angles(x).matrix, [0.1, 0.2, 0.3]
    yield "distance_point_line", lambda x: g.distance_point_line(x[:3], (x[3:6], x[6:])), SERIES[:9]


@package("py-pol", "polarization")
def py_pol() -> Iterator[Case]:
    m = module("py_pol.stokes")

    def stokes(x: Any) -> Any:
        return m.Stokes("S").linear_light(azimuth=x[0], intensity=x[1]).M

    yield "Stokes.linear_light", stokes, [0.3, 2.0]


@package("allantools", "clocks")
def allantools() -> Iterator[Case]:
    m = module("allantools")
    yield "adev", lambda x: m.adev(x, taus=[1, 2])[1], SERIES
    yield "oadev", lambda x: m.oadev(x, taus=[1, 2])[1], SERIES
    yield "hdev", lambda x: m.hdev(x, taus=[1, 2])[1], SERIES
    yield "totdev", lambda x: m.totdev(x, taus=[1, 2])[1], SERIES


@package("EntropyHub", "physiology")
def entropy_hub() -> Iterator[Case]:
    m = module("EntropyHub")
    yield "K2En", lambda x: m.CoSiEn(x)[0], SERIES
    yield "SpecEn", lambda x: m.SpecEn(x)[0], SERIES
    yield "FuzzEn", lambda x: m.FuzzEn(x)[0], SERIES


@package("neurokit2", "physiology")
def neurokit2() -> Iterator[Case]:
    m = module("neurokit2")
    yield "standardize", m.standardize, SERIES
    yield "rescale", m.rescale, SERIES
    yield "fractal_katz", lambda x: m.fractal_katz(x)[0], SERIES
    yield "fractal_higuchi", lambda x: m.fractal_higuchi(x, k_max=3)[0], SERIES


@package("pingouin", "statistics")
def pingouin() -> Iterator[Case]:
    m = module("pingouin")
    yield "compute_effsize", lambda x: m.compute_effsize(x[:6], x[6:]), SERIES
    yield "circ_mean", m.circ_mean, [0.3, 0.9, 1.4]
    yield "circ_r", m.circ_r, [0.3, 0.9, 1.4]
    yield "mad", m.mad, SERIES
    yield "convert_effsize", lambda x: m.convert_effsize(x[0], "cohen", "pointbiserialr"), [0.4]


@package("PyPortfolioOpt", "finance")
def pyportfolioopt() -> Iterator[Case]:
    m = module("pypfopt.objective_functions")
    cov = np.diag([0.1, 0.2, 0.3]) + 0.01
    yield "portfolio_variance", lambda x: m.portfolio_variance(x, cov), [0.2, 0.3, 0.5]
    yield "sharpe_ratio", lambda x: m.sharpe_ratio(x, [0.1, 0.2, 0.15], cov), [0.2, 0.3, 0.5]
    yield "L2_reg", m.L2_reg, [0.2, 0.3, 0.5]


@package("empyrical-reloaded", "finance")
def empyrical() -> Iterator[Case]:
    m = module("empyrical")
    yield "sharpe_ratio", m.sharpe_ratio, GAINS
    yield "sortino_ratio", m.sortino_ratio, GAINS
    yield "max_drawdown", m.max_drawdown, GAINS
    yield "annual_volatility", m.annual_volatility, GAINS
    yield "cum_returns", m.cum_returns, GAINS


@package("py_vollib", "finance")
def py_vollib() -> Iterator[Case]:
    b, g = module("py_vollib.black_scholes"), module("py_vollib.black_scholes.greeks.analytical")
    point = [100.0, 95.0, 0.5, 0.01, 0.2]
    yield "black_scholes", lambda x: b.black_scholes("c", *x), point
    yield "delta", lambda x: g.delta("p", *x), point
    yield "theta", lambda x: g.theta("c", *x), point


@package("thermo", "thermodynamics")
def thermo() -> Iterator[Case]:
    m, i = module("thermo"), module("thermo.interface")
    yield (
        "PR",
        lambda x: m.PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=x[0], P=x[1]).V_l,
        [299.0, 1e6],
    )
    yield "Brock_Bird", spread(i.Brock_Bird), [293.15, 404.75, 633.0, 4530000.0]
    yield "Wilson_gammas", lambda x: m.wilson.Wilson_gammas(x, [[1.0, 0.8], [0.6, 1.0]]), [0.3, 0.7]


@package("MetPy", "meteorology")
def metpy() -> Iterator[Case]:
    c, u = module("metpy.calc"), module("metpy.units").units
    q = u.Quantity
    yield "wind_speed", lambda x: c.wind_speed(q(x[:1], "m/s"), q(x[1:], "m/s")).m, [3.0, 4.5]
    yield (
        "potential_temperature",
        lambda x: c.potential_temperature(q(x[0], "hPa"), q(x[1], "K")).m,
        [800.0, 280.0],
    )
    yield "saturation_vapor_pressure", lambda x: c.saturation_vapor_pressure(q(x, "K")).m, [290.0]
    yield (
        "dewpoint_from_relative_humidity",
        lambda x: c.dewpoint_from_relative_humidity(q(x[0], "degC"), x[1]).m,
        [20.0, 0.6],
    )


@package("pyet", "hydrology")
def pyet() -> Iterator[Case]:
    m = module("pyet.meteo_utils")
    yield "calc_e0", m.calc_e0, [12.0, 18.0]
    yield "calc_vpc", m.calc_vpc, [12.0, 18.0]
    days = module("pandas").date_range("2020-03-01", periods=2)
    yield "daylight_hours", lambda x: m.daylight_hours(days, x[0]), [0.7]


@package("pymoo", "optimization")
def pymoo() -> Iterator[Case]:
    get = module("pymoo.problems").get_problem
    point = [0.2, 0.7, 0.4, 0.9, 0.3]
    for name, count in (("ackley", 5), ("rastrigin", 5), ("zdt1", 5), ("bnh", 2)):
        problem = get(name) if name == "bnh" else get(name, n_var=count)

        def objective(x: Any, problem: Any = problem) -> Any:
            return problem.evaluate(x[None, :], return_values_of=["F"])

        yield name, objective, point[:count]


@package("cma", "optimization")
def cma() -> Iterator[Case]:
    f = module("cma").ff
    point = [0.2, 0.7, -0.4, 0.9]
    yield "rosen", f.rosen, point
    yield "elli", f.elli, point
    yield "rastrigin", f.rastrigin, point
    yield "schwefelelli", f.schwefelelli, point


@package("colormath", "colour")
def colormath() -> Iterator[Case]:
    o, c = module("colormath.color_objects"), module("colormath.color_conversions")
    yield (
        "XYZ to Lab",
        lambda x: c.convert_color(o.XYZColor(*x), o.LabColor).get_value_tuple(),
        [
            *(0.3, 0.4, 0.2),
        ],
    )
    yield (
        "sRGB to XYZ",
        lambda x: c.convert_color(o.sRGBColor(*x), o.XYZColor).get_value_tuple(),
        [
            *(0.3, 0.4, 0.2),
        ],
    )


@package("toqito", "quantum information")
def toqito() -> Iterator[Case]:
    p, m = module("toqito.state_props"), module("toqito.state_metrics")
    other = np.diag([0.3, 0.7])

    def state(x: Any) -> Any:
        return np.stack([np.stack([x[0], x[1]]), np.stack([x[1], 1.0 - x[0]])])

    yield "purity", lambda x: p.purity(state(x)), [0.6, 0.2]
    yield "von_neumann_entropy", lambda x: p.von_neumann_entropy(state(x)), [0.6, 0.2]
    yield "trace_distance", lambda x: m.trace_distance(state(x), other), [0.6, 0.2]
    yield "fidelity", lambda x: m.fidelity(state(x), other), [0.6, 0.2]


@package("s2sphere", "geography")
def s2sphere() -> Iterator[Case]:
    m = module("s2sphere")
    place = m.LatLng.from_degrees

    def distance(x: Any) -> Any:
        return place(x[0], x[1]).get_distance(place(x[2], x[3])).degrees

    yield "get_distance", distance, [46.0, 11.0, 47.0, 13.0]


@package("turfpy", "geography")
def turfpy() -> Iterator[Case]:
    m, g = module("turfpy.measurement"), module("geojson")

    def two(function: Any) -> Any:
        def called(x: Any) -> Any:
            ends = [g.Feature(geometry=g.Point((x[i], x[i + 1]))) for i in (0, 2)]
            return function(*ends)

        return called

    yield "distance", two(m.distance), [-75.3, 39.9, -75.5, 39.1]
    yield "bearing", two(m.bearing), [-75.3, 39.9, -75.5, 39.1]


@package("harold", "control")
def harold() -> Iterator[Case]:
    m = module("harold")

    def lyapunov(x: Any) -> Any:
        return m.lyapunov_eq_solver(x.reshape(2, 2), np.eye(2))

    yield "lyapunov_eq_solver", lyapunov, [-1.0, 0.3, 0.2, -2.0]
    yield "haroldpolymul", lambda x: m.haroldpolymul(x[:2], x[2:]), [1.0, 2.0, 0.5, 3.0]


@package("fastdtw", "time series")
def fastdtw() -> Iterator[Case]:
    m = module("fastdtw")
    yield "dtw", lambda x: m.dtw(x[:5], x[5:10])[0], SERIES
    yield "fastdtw", lambda x: m.fastdtw(x[:5], x[5:10], radius=2)[0], SERIES


@package("tsfel", "time series")
def tsfel() -> Iterator[Case]:
    m = module("tsfel.feature_extraction.features")
    yield "abs_energy", m.abs_energy, SERIES
    yield "spectral_centroid", lambda x: m.spectral_centroid(x, 100.0), SERIES
    yield "auc", lambda x: m.auc(x, 100.0), SERIES
    yield "kurtosis", m.kurtosis, SERIES
    yield "mean_abs_diff", m.mean_abs_diff, SERIES


@package("anaflow", "groundwater")
def anaflow() -> Iterator[Case]:
    m = module("anaflow")
    yield "thiem", lambda x: m.thiem([1.0, 10.0], 30.0, x[0], x[1]), [1e-3, -1e-4]
    yield "theis", lambda x: m.theis([100.0, 500.0], [5.0], x[0], x[1]), [1e-4, 1e-3]


@package("PyKrige", "geostatistics")
def pykrige() -> Iterator[Case]:
    v, o = module("pykrige.variogram_models"), module("pykrige.ok").OrdinaryKriging
    places = np.array([0.0, 1.0, 2.0, 0.5, 1.5]), np.array([0.0, 2.0, 1.0, 1.5, 0.2])

    def kriged(x: Any) -> Any:
        model = o(*places, x, variogram_model="linear", variogram_parameters=[1.0, 0.1])
        return model.execute("points", [0.7], [0.9])

    yield (
        "spherical",
        lambda x: v.spherical_variogram_model(x, np.array([0.5, 4.0])),
        [1.0, 2.0, 0.1],
    )
    yield "OrdinaryKriging", kriged, SERIES[:5]


@package("acoustics", "acoustics")
def acoustics() -> Iterator[Case]:
    a, d = module("acoustics.atmosphere").Atmosphere, module("acoustics.decibel")
    yield "soundspeed", lambda x: a(temperature=x[0]).soundspeed, [293.0]
    yield "dbsum", d.dbsum, [60.0, 63.0, 58.0]
    yield "dbmean", d.dbmean, [60.0, 63.0, 58.0]


@package("networkx", "graphs")
def networkx() -> Iterator[Case]:
    m = module("networkx")

    def graph(x: Any) -> Any:
        made = m.DiGraph()
        for i, weight in enumerate(x):
            made.add_edge(i % 3, (i + 1) % 4, weight=weight)
        return made

    yield "pagerank", lambda x: m.pagerank(graph(x)), [0.5, 1.2, 0.7, 0.4]
    yield "dijkstra", lambda x: m.dijkstra_path_length(graph(x), 0, 3), [0.5, 1.2, 0.7, 0.4]
    yield "laplacian_matrix", lambda x: m.to_numpy_array(graph(x)), [0.5, 1.2, 0.7, 0.4]


@package("arch", "econometrics")
def arch() -> Iterator[Case]:
    m = module("arch.univariate.distribution")
    gains = np.array(GAINS)
    normal, student = m.Normal(), m.StudentsT()
    yield "Normal", lambda x: normal.loglikelihood([], gains, x * np.ones(10)), [0.01]
    yield "StudentsT", lambda x: student.loglikelihood(x, gains, 0.01 * np.ones(10)), [5.0]


@package("inequality", "economics")
def inequality() -> Iterator[Case]:
    g, t = module("inequality.gini").Gini, module("inequality.theil").Theil
    yield "Gini", lambda x: g(x).g, SERIES
    yield "Theil", lambda x: t(x).T, SERIES


@package("rocketpy", "rockets")
def rocketpy() -> Iterator[Case]:
    v = module("rocketpy.mathutils.vector_matrix")
    yield "Vector", lambda x: (v.Vector(x[:3]) ^ v.Vector(x[3:])).components, SERIES[:6]
    yield "transformation", lambda x: v.Matrix.transformation(x).components, TURN


@package("pymannkendall", "hydrology")
def pymannkendall() -> Iterator[Case]:
    m = module("pymannkendall")
    yield "sens_slope", lambda x: m.sens_slope(x).slope, SERIES


@package("PyAbel", "tomography")
def pyabel() -> Iterator[Case]:
    m = module("abel")
    image = np.cos(0.2 * np.arange(49.0)).reshape(7, 7)
    yield (
        "direct",
        lambda x: m.direct.direct_transform(
            image * x[0] + x[1], direction="forward", backend="python"
        ),
        [1.0, 0.2],
    )
    yield "hansenlaw", lambda x: m.hansenlaw.hansenlaw_transform(image * x[0] + x[1]), [1.0, 0.2]


@package("numdifftools", "numerical derivatives")
def numdifftools() -> Iterator[Case]:
    m = module("numdifftools")

    def derivative(x: Any) -> Any:
        def scaled(t: Any) -> Any:
            return np.sin(t) * x[1]

        return m.Derivative(scaled)(x[0])

    def gradient(x: Any) -> Any:
        def scaled(t: Any) -> Any:
            return t[0] ** 2 * t[1] * x[0]

        return m.Gradient(scaled)([1.0, 2.0])

    yield "Derivative", derivative, [0.4, 1.3]
    yield "Gradient", gradient, [0.4]


@package("pyswarms", "optimization")
def pyswarms() -> Iterator[Case]:
    m = module("pyswarms.utils.functions.single_obj")
    yield "sphere", lambda x: m.sphere(x[None, :]), [0.2, 0.7]
    yield "ackley", lambda x: m.ackley(x[None, :]), [0.2, 0.7]
    yield "beale", lambda x: m.beale(x[None, :]), [0.2, 0.7]


@package("scikit-kinematics", "movement")
def scikit_kinematics() -> Iterator[Case]:
    q, r = module("skinematics.quat"), module("skinematics.rotmat")
    yield "q_mult", lambda x: q.q_mult(x[:4], x[4:]), [0.9, 0.1, 0.3, 0.2, 0.5, 0.4, 0.1, 0.7]
    yield "rotate R", lambda x: r.R("y", x[0]), [35.0]
    yield "quat2deg", q.quat2deg, [0.1, 0.2, 0.3]


@package("mapclassify", "maps")
def mapclassify() -> Iterator[Case]:
    m = module("mapclassify")
    yield "Quantiles", lambda x: m.Quantiles(x, k=3).bins, SERIES
    yield "StdMean", lambda x: m.StdMean(x).bins, SERIES
    yield "EqualInterval", lambda x: m.EqualInterval(x, k=3).bins, SERIES


@package("ruptures", "change points")
def ruptures() -> Iterator[Case]:
    c = module("ruptures.costs")
    yield "CostL2", lambda x: c.CostL2().fit(x[:, None]).error(0, 8), SERIES
    yield "CostRbf", lambda x: c.CostRbf(gamma=1.0).fit(x[:, None]).error(0, 8), SERIES
    yield "CostNormal", lambda x: c.CostNormal().fit(x[:, None]).error(0, 8), SERIES


@package("pyransac3d", "point clouds")
def pyransac3d() -> Iterator[Case]:
    m = module("pyransac3d.aux_functions")
    yield "rodrigues_rot", lambda x: m.rodrigues_rot(x[:3], [0.0, 0.0, 1.0], x[3:]), SERIES[:6]
