"""A fourth sample, written down on 2026-11-23 before any of its packages was installed.

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

LATER = Sample()
package = LATER.package
WAVE = [float(np.sin(0.7 * k) + 0.1 * np.cos(2.3 * k)) for k in range(24)]


@package("PyMeeus", "astronomy")
def pymeeus() -> Iterator[Case]:
    angle = module("pymeeus.Angle").Angle
    c, i = module("pymeeus.Coordinates"), module("pymeeus.Interpolation").Interpolation

    def ecliptical(x: Any) -> Any:
        found = c.equatorial2ecliptical(angle(x[0]), angle(x[1]), angle(23.44))
        return [part.rad() for part in found]

    yield "Angle", lambda x: (angle(x[0]) + angle(x[1]) * 2.0).rad(), [30.5, 12.25]
    yield "equatorial2ecliptical", ecliptical, [116.3, 28.0]
    yield "Interpolation", lambda x: i([0.0, 1.0, 2.0], list(x))(0.4), [0.3, 0.9, 0.2]


@package("clifford", "geometric algebra")
def clifford() -> Iterator[Case]:
    g = module("clifford.g3")

    def rotated(x: Any) -> Any:
        r = (x[0] / 2 * g.e12).exp()
        return (r * g.e1 * ~r).value

    yield "product", lambda x: ((x[0] * g.e1 + x[1] * g.e2) * (g.e1 + 2 * g.e23)).value, [0.3, 0.7]
    yield "rotor", rotated, [0.4]
    yield "abs", lambda x: abs(x[0] * g.e1 + x[1] * g.e3), [0.3, 0.7]


@package("mibian", "finance")
def mibian() -> Iterator[Case]:
    m = module("mibian")
    yield "BS", lambda x: m.BS([x[0], 100, 2, 60], volatility=x[1]).callPrice, [103.0, 25.0]
    yield "delta", lambda x: m.BS([x[0], 100, 2, 60], volatility=x[1]).callDelta, [103.0, 25.0]
    yield "Me", lambda x: m.Me([x[0], 52, 1, 1, 30], volatility=x[1]).putPrice, [52.0, 20.0]


@package("hsluv", "colour")
def hsluv() -> Iterator[Case]:
    m = module("hsluv")
    yield "hsluv_to_rgb", lambda x: m.hsluv_to_rgb(list(x)), [120.0, 60.0, 40.0]
    yield "rgb_to_hsluv", lambda x: m.rgb_to_hsluv(tuple(x)), [0.2, 0.5, 0.7]
    yield "hpluv_to_rgb", lambda x: m.hpluv_to_rgb(list(x)), [200.0, 30.0, 60.0]


@package("opensimplex", "noise")
def opensimplex() -> Iterator[Case]:
    m = module("opensimplex").OpenSimplex(seed=1234)
    yield "noise2", spread(m.noise2), [0.3, 0.7]
    yield "noise3", spread(m.noise3), [0.3, 0.7, 1.1]


@package("euclid3", "geometry")
def euclid3() -> Iterator[Case]:
    m = module("euclid3")

    def numbers(v: Any) -> Any:
        return [v.x, v.y, v.z]

    def turned(x: Any) -> Any:
        return numbers(m.Quaternion.new_rotate_axis(x[0], m.Vector3(0, 1, 0)) * m.Vector3(1, 2, 3))

    yield "normalized", lambda x: numbers(m.Vector3(*x).normalized()), [0.3, 0.7, 1.1]
    yield "rotate", turned, [0.4]
    yield "Matrix4", lambda x: numbers(m.Matrix4.new_rotatex(x[0]) * m.Point3(*x)), [0.3, 0.7, 1.1]


@package("vectormath", "geometry")
def vectormath() -> Iterator[Case]:
    m = module("vectormath")
    yield "length", lambda x: m.Vector3(x).length, [0.3, 0.7, 1.1]
    yield (
        "cross",
        lambda x: np.asarray(m.Vector3(x[:3]).cross(m.Vector3(x[3:]))),
        [1, 2, 3, 3, 1, 2],
    )
    yield "array", lambda x: m.Vector3Array(x.reshape(2, 3)).length, [1, 2, 3, 3, 1, 2]


@package("geometer", "projective geometry")
def geometer() -> Iterator[Case]:
    m = module("geometer")
    p = m.Point

    def meeting(x: Any) -> Any:
        found = m.Line(p(0, 0), p(x[0], x[1])).meet(m.Line(p(0, 1), p(1, 0)))
        return found.normalized_array[:2]

    yield "dist", lambda x: m.dist(p(x[0], x[1]), p(1, 2)), [0.3, 0.7]
    yield "meet", meeting, [0.3, 0.7]
    yield "angle", lambda x: m.angle(p(0, 0), p(1, 0), p(x[0], x[1])), [0.3, 0.7]


@package("resampy", "audio")
def resampy() -> Iterator[Case]:
    m = module("resampy")
    yield "upwards", lambda x: m.resample(x, 4, 7, filter="kaiser_fast"), WAVE
    yield "downwards", lambda x: m.resample(x, 4, 3, filter="kaiser_fast"), WAVE


@package("hydroeval", "hydrology")
def hydroeval() -> Iterator[Case]:
    m = module("hydroeval")
    seen = np.array(SERIES)[::-1] + 0.1
    yield "nse", lambda x: m.evaluator(m.nse, x, seen), SERIES
    yield "kge", lambda x: m.evaluator(m.kge, x, seen), SERIES
    yield "rmse", lambda x: m.evaluator(m.rmse, x, seen), SERIES


@package("PyMieScatt", "optics")
def pymiescatt() -> Iterator[Case]:
    m = module("PyMieScatt")
    yield "MieQ", lambda x: m.MieQ(1.5 + 0.01j, x[0], x[1]), [532.0, 300.0]
    yield "RayleighMieQ", lambda x: m.RayleighMieQ(1.5 + 0.01j, x[0], x[1]), [532.0, 20.0]
    yield "index", lambda x: m.MieQ(x[0] + 1j * x[1], 532.0, 300.0)[0], [1.5, 0.02]


@package("neurodsp", "neuroscience")
def neurodsp() -> Iterator[Case]:
    s, t = module("neurodsp.spectral"), module("neurodsp.timefrequency")
    yield "compute_spectrum", lambda x: s.compute_spectrum(x, 24, method="welch")[1], WAVE
    yield "amp_by_time", lambda x: t.amp_by_time(x, 24), WAVE
    yield "phase_by_time", lambda x: t.phase_by_time(x, 24), WAVE


@package("simple-pid", "control")
def simple_pid() -> Iterator[Case]:
    pid = module("simple_pid").PID

    def run(x: Any) -> Any:
        c = pid(x[0], x[1], x[2], setpoint=1.0, sample_time=None)
        return [c(0.2, dt=0.1), c(0.4, dt=0.1), c(0.5, dt=0.1)]

    def limited(x: Any) -> Any:
        c = pid(2.0, 0.5, 0.1, setpoint=x[0], sample_time=None, output_limits=(0, 10))
        return [c(x[1], dt=0.1), c(x[1] * 2, dt=0.1), *c.components]

    yield "gains", run, [1.2, 0.3, 0.05]
    yield "limits", limited, [1.5, 0.3]


@package("splipy", "splines")
def splipy() -> Iterator[Case]:
    m, f = module("splipy"), module("splipy.curve_factory")

    def curve(x: Any) -> Any:
        return m.Curve(m.BSplineBasis(3), x.reshape(3, 2))

    yield "evaluate", lambda x: curve(x).evaluate(0.3), [0.0, 0.1, 0.4, 0.9, 1.0, 0.2]
    yield "length", lambda x: curve(x).length(), [0.0, 0.1, 0.4, 0.9, 1.0, 0.2]
    yield "circle", lambda x: f.circle(r=x[0]).evaluate(0.4), [1.3]


@package("galpy", "galactic dynamics")
def galpy() -> Iterator[Case]:
    p, c = module("galpy.potential"), module("galpy.util.coords")
    disk = p.MiyamotoNagaiPotential(a=0.5, b=0.0375, normalize=1.0)

    def made(x: Any) -> Any:
        return p.MiyamotoNagaiPotential(a=x[0], b=x[1], normalize=1.0)(1.0, 0.1)

    yield "potential", lambda x: disk(x[0], x[1]), [1.1, 0.2]
    yield "parameters", made, [0.5, 0.04]
    yield "lb_to_radec", lambda x: c.lb_to_radec(x[0], x[1], degree=True), [120.0, 30.0]


@package("choclo", "gravimetry")
def choclo() -> Iterator[Case]:
    point, prism = module("choclo.point"), module("choclo.prism")
    inside = (-1.0, 1.0, -1.0, 1.0, -3.0, -2.0, 2.0)
    yield "point", lambda x: point.gravity_u(*x, 1.0, 2.0, -1.5, 1e9), [0.3, 0.7, 0.5]
    yield "prism", lambda x: prism.gravity_pot(*x, *inside), [0.3, 0.7, 0.5]


@package("weightedstats", "statistics")
def weightedstats() -> Iterator[Case]:
    m = module("weightedstats")
    data = [1.0, 4.0, 2.0]
    yield "weighted_mean", lambda x: m.weighted_mean(data, weights=list(x)), [0.2, 0.5, 0.3]
    yield "numpy_weighted_mean", lambda x: m.numpy_weighted_mean(x, data), [0.2, 0.5, 0.3]
