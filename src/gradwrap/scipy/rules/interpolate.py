"""The rows of `scipy.interpolate`."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.interpolate
from scipy.spatial import Delaunay, KDTree

from gradwrap.core.values.dynamic import TUPLE
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.classes import Class
from gradwrap.scipy.dispatching import Composed, Refused, dispatching, scipys
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.interpolants import coordinates, differentiated, interpolant_class
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.rules.matrices import from_bands
from gradwrap.scipy.rules.splines import at_points
from gradwrap.scipy.solving import as_array, attached, data_of, plain
from gradwrap.scipy.table import Row, register

if TYPE_CHECKING:
    from collections.abc import Callable

# Shapes -------------------------------------------------------------------------------------------


def _rows(y: Any, axis: int) -> tuple[Any, Any]:
    """Move the axis of the points first, flatten the other axes, and return their shape too."""
    y = as_array(y)
    moved = np.moveaxis(y, axis % y.ndim, 0)
    return np.reshape(moved, (moved.shape[0], -1)), moved.shape[1:]


def _placed(value: Any, x: Any, trailing: Any, axis: int) -> Any:
    """Reshape values so that the axes of the points replace the interpolation axis."""
    made = np.reshape(value, (*x.shape, *trailing))
    places = list(range(x.ndim))
    return np.moveaxis(made, places, [axis % (len(trailing) + 1) + i for i in places])


# Piecewise polynomials ----------------------------------------------------------------------------


def _interval(x: Any, points: Any) -> Any:
    """Return the interval of each point; the first and the last interval are unbounded."""
    data, at = data_of(x), data_of(points)
    if data[0] > data[-1]:
        return np.clip(
            len(data) - 1 - np.searchsorted(data[::-1], at, side="left"), 0, len(data) - 2
        )
    return np.clip(np.searchsorted(data, at, side="right") - 1, 0, len(data) - 2)


def _wrapped_around(x: Any, points: Any, extrapolate: Any) -> Any:
    if extrapolate != "periodic":
        return points
    low, period = x[0], x[-1] - x[0]
    turns = np.floor((data_of(points) - plain(low)) / plain(period))
    return points - turns * period


def _polynomial(x: Any, c: Any, points: Any) -> Any:
    """Evaluate piecewise polynomials in the distance from the left end, highest power first."""
    at = _interval(x, points)
    distance = (points - x[at])[:, None]
    total: Any = 0.0
    for row in range(c.shape[0]):
        total = total * distance + c[row][at]
    return total


def _hermite(x: Any, y: Any, s: Any) -> Any:
    h = np.diff(x)[:, None]
    m = np.diff(y, axis=0) / h
    t = (s[:-1] + s[1:] - 2 * m) / h
    return np.stack([t / h, (m - s[:-1]) / h - t, s[:-1], y[:-1]])


def _spline(slopes: Any) -> Any:
    """Return the formula of the Hermite interpolant with given slopes at its points."""

    def formula(made: Any, given: Any, points: Any, extrapolate: Any = None) -> Any:
        x, axis = as_array(given["x"]), given["axis"]
        y, trailing = _rows(given["y"], axis)
        flat = np.reshape(
            _wrapped_around(x, points, made.extrapolate if extrapolate is None else extrapolate),
            (-1,),
        )
        s = slopes(given, x, y)
        return _placed(_polynomial(x, _hermite(x, y, s), flat), points, trailing, axis)

    return formula


FEW = 16
"""Up to so many points, a solver of full matrices is as fast."""
ENDS: dict[Any, Any] = {"clamped": (1, 0.0), "natural": (2, 0.0)}


def _cubic_slopes(given: Any, x: Any, y: Any) -> Any:
    """Return the slopes that make the second derivative continuous."""
    n = x.shape[0]
    bc = given["bc_type"]
    ends: list[Any] = [bc, bc] if isinstance(bc, str) else list(bc)
    known = [end if isinstance(end, str) else "" for end in ends]
    is_parabola = n == 3 and known == ["not-a-knot"] * 2
    if is_parabola or (n > 2 and "periodic" in known):
        if holds_variable([x]):
            raise NoRuleError(
                "scipy.interpolate.CubicSpline has no derivative with respect to x with three "
                "points and no condition at the ends, or bc_type='periodic'. Fix: .detach() it."
            )
        if not is_parabola:
            return _periodic_slopes(x, y)
        units = scipy.interpolate.CubicSpline(plain(x), np.eye(n), bc_type="not-a-knot")
        return units(plain(x), 1) @ y
    h = np.diff(x)
    m = np.diff(y, axis=0) / h[:, None]
    if n == 2:
        ends = [
            end if name in ENDS or not name else (1, m[0])
            for name, end in zip(known, ends, strict=True)
        ]
    rows: list[tuple[Any, Any, Any]] = []  # of the ends: two coefficients, and the right-hand side
    for side, end in enumerate(ends):
        k = 0 if side == 0 else n - 2
        if isinstance(end, str) and end == "not-a-knot":
            a, b = (h[0], h[1]) if side == 0 else (h[-1], h[-2])
            p, q = (m[0], m[1]) if side == 0 else (m[-1], m[-2])
            rows.append((b, a + b, ((a + 2 * (a + b)) * b * p + a * a * q) / (a + b)))
            continue
        order, value = ENDS.get(end, end) if isinstance(end, str) else end
        value = np.reshape(as_array(value) * np.ones(y.shape[1:]), y.shape[1:])
        if order == 1:
            rows.append((1.0, 0.0, value))
        else:
            rows.append((2.0, 1.0, 3 * m[k] + (1 if side else -1) * value * h[k] / 2))
    (first, after, left), (last, before, right) = rows
    one, zero = np.ones(1), np.zeros(1)
    bands = [
        np.concatenate([zero, after * one, h[:-1]]),
        np.concatenate([first * one, 2 * (h[:-1] + h[1:]), last * one]),
        np.concatenate([h[1:], before * one, zero]),
    ]
    inner = 3 * (h[1:, None] * m[:-1] + h[:-1, None] * m[1:])
    sides = np.concatenate([left[None], inner, right[None]])
    if n <= FEW:
        return np.linalg.solve(from_bands(np.stack(bands), 1, 1), sides)
    return dispatcher("linalg.solve_banded")((1, 1), np.stack(bands), sides)


def _periodic_slopes(x: Any, y: Any) -> Any:
    units = _periodic_units(len(plain(x)))
    slopes = scipy.interpolate.CubicSpline(plain(x), units, bc_type="periodic")(plain(x), 1)
    return slopes @ y[:-1]


def _periodic_units(n: int) -> Any:
    """Return the unit vectors of values at n points, of which the last is the first again."""
    units = np.eye(n)[:, : n - 1].copy()
    units[-1, 0] = 1.0
    return units


def _stacked(parts: list[Any]) -> Any:
    return np.stack([part if hasattr(part, "detach") else np.asarray(part) for part in parts])


def _pchip_slopes(given: Any, x: Any, y: Any) -> Any:
    """Return the slopes of F. N. Fritsch and J. Butland, SIAM J. Sci. Stat. Comput. 5 (1984)."""
    h = np.diff(x)[:, None]
    m = np.diff(y, axis=0) / h
    if x.shape[0] == 2:
        return np.concatenate([m, m])
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    data = np.sign(data_of(m))
    flat = (data[1:] != data[:-1]) | (data[1:] == 0) | (data[:-1] == 0)
    safe = [np.where(flat, 1.0, one) for one in (m[:-1], m[1:])]
    mean = (w1 / safe[0] + w2 / safe[1]) / (w1 + w2)
    inner = np.where(flat, 0.0, 1 / mean)
    ends = [_pchip_end(h[0], h[1], m[0], m[1]), _pchip_end(h[-1], h[-2], m[-1], m[-2])]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    data, first, second = (data_of(one) for one in (d, m0, m1))
    turned = np.sign(data) != np.sign(first)
    steep = (np.sign(first) != np.sign(second)) & (np.abs(data) > 3 * np.abs(first))
    return np.where(turned, 0.0, np.where(~turned & steep, 3 * m0, d))


def _akima_slopes(given: Any, x: Any, y: Any) -> Any:
    """Return the slopes of H. Akima, J. ACM 17 (1970), or of the modified method."""
    h = np.diff(x)[:, None]
    inner = np.diff(y, axis=0) / h
    if x.shape[0] == 2:
        return np.concatenate([inner, inner])
    before = 2 * inner[0] - inner[1]
    after = 2 * inner[-1] - inner[-2]
    m = _stacked([2 * before - inner[0], before])
    m = np.concatenate([m, inner, _stacked([after, 2 * after - inner[-1]])])
    change = np.abs(np.diff(m, axis=0))
    if given["method"] == "makima":
        change = change + np.abs(m[1:] + m[:-1]) / 2
    f1, f2 = change[2:], change[:-2]
    total = f1 + f2
    data = data_of(total)
    some = data > 1e-9 * np.max(data, initial=-np.inf)
    weighted = (f1 * m[1:-2] + f2 * m[2:-1]) / np.where(some, total, 1.0)
    return np.where(some, weighted, (m[3:] + m[:-3]) / 2)


def _ppoly(
    made: Any, given: Any, points: Any, extrapolate: Any = None, evaluate: Any = _polynomial
) -> Any:
    x, c, axis = as_array(given["x"]), as_array(given["c"]), given["axis"]
    c = np.moveaxis(c, (axis, axis + 1), (0, 1)) if axis else c
    trailing = c.shape[2:]
    flat = np.reshape(
        _wrapped_around(x, points, made.extrapolate if extrapolate is None else extrapolate), (-1,)
    )
    value = evaluate(x, np.reshape(c, (*c.shape[:2], -1)), flat)
    return _placed(value, points, trailing, axis)


def _bpoly(made: Any, given: Any, points: Any, extrapolate: Any = None) -> Any:
    """Evaluate polynomials in Bernstein's basis by De Casteljau's algorithm."""
    return _ppoly(made, given, points, extrapolate, _bernstein)


def _bernstein(x: Any, c: Any, points: Any) -> Any:
    at = _interval(x, points)
    t = ((points - x[at]) / (x[at + 1] - x[at]))[:, None]
    values = [row[at] for row in c]
    while len(values) > 1:
        values = [(1 - t) * one + t * other for one, other in itertools.pairwise(values)]
    return values[0]


# Polynomials made of others -----------------------------------------------------------------------
#
# Each returns the coefficients, the breakpoints and `extrapolate`, which the constructor takes.


def _lengths(c: Any, x: Any) -> Any:
    return np.reshape(np.diff(x), (-1, *(1,) * (c.ndim - 2)))


def _of_bernstein(bp: Any, extrapolate: Any = None) -> Any:
    """Convert from Bernstein's basis: `b_a` is a sum of the powers from `a` to the degree."""
    c, x = as_array(bp.c), as_array(bp.x)
    k = c.shape[0] - 1
    shares = np.zeros((k + 1, k + 1))
    for a, s in itertools.combinations_with_replacement(range(k + 1), 2):
        shares[k - s, a] = (-1) ** (a + s) * math.comb(k, a) * math.comb(k - a, s - a)
    mixed, length = np.tensordot(shares, c, 1), _lengths(c, x)
    c = np.stack([row / length ** (k - i) for i, row in enumerate(mixed)])
    return c, x, bp.extrapolate if extrapolate is None else extrapolate


def _of_powers(pp: Any, extrapolate: Any = None) -> Any:
    """Convert to Bernstein's basis: each power is a sum of `b_j` from itself to the degree."""
    c, x = as_array(pp.c), as_array(pp.x)
    k, length = c.shape[0] - 1, _lengths(c, x)
    scaled = np.stack([row * length ** (k - i) for i, row in enumerate(c)])
    shares = [[math.comb(j, p) / math.comb(k, p) for p in range(k, -1, -1)] for j in range(k + 1)]
    c = np.tensordot(np.array(shares), scaled, 1)
    return c, x, pp.extrapolate if extrapolate is None else extrapolate


def _of_spline(tck: Any, extrapolate: Any = None) -> Any:
    """Expand a spline by Taylor's formula at the left end of each interval."""
    t, c, k = tck if isinstance(tck, TUPLE) else (tck.t, tck.c, tck.k)
    if not isinstance(tck, TUPLE) and extrapolate is None:
        extrapolate = tck.extrapolate
    spline = dispatcher("interpolate.BSpline")(t, c, k)
    orders = range(k, -1, -1)
    return np.stack([spline(t[:-1], m) / math.factorial(m) for m in orders]), t, extrapolate


def _of_derivatives(xi: Any, yi: Any, orders: Any = None, extrapolate: Any = None) -> Any:
    """Match the derivatives at both ends of each interval, one by one."""
    made = scipy.interpolate.BPoly.from_derivatives(plain(xi), plain(yi), orders)
    xi = as_array(xi)
    count = len(made.x) - 1
    degrees = [orders] * count if orders is None or np.ndim(orders) == 0 else list(orders)
    columns: list[Any] = []
    for i, degree in enumerate(degrees):
        ends = yi[i], yi[i + 1]
        lefts, rights = map(len, ends)
        if degree is not None:  # as many of each end, where there are
            lefts = min((degree + 1) // 2, lefts)
            rights = min(degree + 1 - lefts, rights)
            lefts = degree + 1 - rights
        h = xi[i + 1] - xi[i]
        column = _end(ends[0][:lefts], h, lefts + rights)
        column += _end(ends[1][:rights], -h, lefts + rights)[::-1]
        while len(column) < made.c.shape[0]:  # the same polynomial with one more coefficient
            n = len(column)
            column = [
                column[0],
                *(j / n * column[j - 1] + (1 - j / n) * column[j] for j in range(1, n)),
                column[-1],
            ]
        columns.append(np.stack(column))
    return np.stack(columns, axis=1), xi, extrapolate


def _end(derivatives: Any, h: Any, n: int) -> list[Any]:
    """Return the first of `n` coefficients, from the derivatives at the end that they belong to."""
    found: list[Any] = []
    for q in range(len(derivatives)):
        value = derivatives[q] * (h**q / math.perm(n - 1, q))
        signs = ((-1) ** (q + j + 1) * math.comb(q, j) for j in range(q))
        found.append(sum((sign * c for sign, c in zip(signs, found, strict=True)), value))
    return found


# B-splines ----------------------------------------------------------------------------------------


def basis(t: Any, k: int, points: Any, count: int, nu: int = 0) -> tuple[Any, Any]:
    """Return the index of the first nonzero basis function at each point, and the k + 1 values.

    With `nu`, the values are those of the derivatives of this order.
    """
    data = data_of(t)
    at = np.clip(np.searchsorted(data, data_of(points), side="right") - 1, k, count - 1)
    values: Any = np.ones((1, *points.shape)) * float(nu <= k)
    near, none = t[at + np.arange(1 - k, k + 1)[:, None]], np.zeros((1, *points.shape))
    for d in range(1, k + 1):  # from degree d - 1
        right, left = near[k : k + d], near[k - d : k]
        share = values / (right - left)
        if d <= k - nu:
            before, after = (right - points) * share, (points - left) * share
        else:
            before, after = -d * share, d * share
        values = np.concatenate([before, none]) + np.concatenate([none, after])
    return at - k, values


class _Knots(NamedTuple):
    """The spline of a degree on knots that are not tracked."""

    t: Any
    k: int
    size: int

    def taps(self, points: Any, nus: Any) -> tuple[Any, list[Any]]:
        """Return the places of the coefficients of each point, and their weights."""
        found = [basis(self.t, self.k, points[0], self.size, nu) for (nu,) in nus]
        return found[0][0] + np.arange(self.k + 1)[:, None], [weights for _, weights in found]


def _bspline_at(t: Any, c: Any, k: int, points: Any, nus: Any = (0,)) -> list[Any]:
    """Return derivatives of a spline at points, for each order."""
    count = c.shape[0]
    if not holds_variable([t]):
        form = _Knots(np.asarray(t), k, count)
        return list(at_points(c, points[None], form, [(nu,) for nu in nus]))
    found = [basis(t, k, points, count, nu) for nu in nus]
    near = c[found[0][0] + np.arange(k + 1)[:, None]]
    return [np.sum(near * weights[..., None], axis=0) for _, weights in found]


def _collocation(t: Any, k: int, points: Any, count: int, nu: int = 0) -> Any:
    """Return the matrix of the basis functions at points."""
    return _bspline_at(t, np.eye(count), k, points, (nu,))[0]


def _not_a_knot(x: Any, k: int) -> Any:
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    cut = (k + 1) // 2 if k % 2 else k // 2
    return _clamped(x, inner[cut : inner.shape[0] - cut], k)


def _clamped(x: Any, inner: Any, k: int) -> Any:
    """Return inner knots with the first and the last point k + 1 times at the ends."""
    return np.concatenate([x[:1] * np.ones(k + 1), inner, x[-1:] * np.ones(k + 1)])


def _through(x: Any, y: Any, k: int, t: Any = None) -> tuple[Any, Any]:
    """Return the knots, and the coefficients, of the spline through points."""
    knots = _not_a_knot(x, k) if t is None else as_array(t)
    return knots, np.linalg.solve(_collocation(knots, k, x, y.shape[0]), y)


def _least_squares(x: Any, y: Any, w: Any, knots: Any, k: int) -> Any:
    """Return the coefficients of the spline on given knots that is closest to points."""
    matrix = _collocation(knots, k, x, knots.shape[0] - k - 1)
    weights = (np.ones(x.shape) if w is None else as_array(w))[:, None]
    return np.linalg.pinv(matrix * weights) @ (y * weights)


def _bspline(made: Any, given: Any, points: Any, extrapolate: Any = None) -> Any:
    t, k, axis = as_array(given["t"]), int(given["k"]), given["axis"]
    c, trailing = _rows(given["c"], axis)
    count = t.shape[0] - k - 1
    if (made.extrapolate if extrapolate is None else extrapolate) == "periodic":
        points = _wrapped_around(t[k : count + 1], points, "periodic")
    flat = np.reshape(points, (-1,))
    return _placed(_bspline_at(t, c[:count], k, flat)[0], points, trailing, axis)


def _as_bspline(name: str, made: Any, t: Any, c: Any) -> Any:
    """Return SciPy's B-spline with derivatives in its knots and coefficients."""
    knots = attached(name, made.t, {(): t}) if holds_variable([t]) else made.t
    coefficients = attached(name, made.c, {(): np.reshape(c, made.c.shape)})
    moved = np.moveaxis(coefficients, 0, made.axis)
    return dispatcher("interpolate.BSpline")(knots, moved, made.k, made.extrapolate, made.axis)


def _make_interp_spline(
    x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0, **options: Any
) -> Any:
    name = "interpolate.make_interp_spline"
    made = scipys("interpolate.make_interp_spline")(
        plain(as_array(x)), plain(as_array(y)), k, plain(t), bc_type, axis, **options
    )
    rows, _ = _rows(y, axis)
    if bc_type is not None or k == 0:
        _refuse_points(name, x, t)
        units = _units_of(
            lambda unit: (
                scipys("interpolate.make_interp_spline")(
                    plain(x), unit, k, plain(t), bc_type, **options
                ).c
            ),
            rows.shape[0],
            bc_type,
        )
        return _as_bspline(name, made, made.t, units @ rows)
    return _as_bspline(name, made, *_through(as_array(x), rows, k, t))


def _units_of(function: Any, n: int, bc_type: Any) -> Any:
    """Return the matrix of a linear map of the values, with homogeneous end conditions."""
    if isinstance(bc_type, tuple) and any(
        not isinstance(end, str) and end is not None and any(np.any(plain(v)) for _, v in end)
        for end in bc_type
    ):
        raise NoRuleError(
            "scipy.interpolate.make_interp_spline has no derivative with values in bc_type=. "
            "Fix: use 'natural' or 'clamped'."
        )
    if bc_type == "periodic":
        made = function(_periodic_units(n))
        return np.concatenate([made, np.zeros((made.shape[0], 1))], axis=1)
    return function(np.eye(n))


class _Maker(Composed):
    """A function that makes a B-spline, which can be evaluated at tracked points."""

    def stand_in(self, row: Row) -> Any:
        """Return a dispatcher that makes splines of plain data differentiable in the points."""
        made = dispatching(row, row.original)

        @functools.wraps(row.original)
        def dispatch(*args: Any, **kwargs: Any) -> Any:
            spline = made(*args, **kwargs)
            if type(spline) is scipy.interpolate.BSpline:
                spline.__class__ = dispatcher("interpolate.BSpline")
            return spline

        return dispatch


def _refuse_points(name: str, *points: Any) -> None:
    if holds_variable(list(points)):
        raise NoRuleError(
            f"scipy.{name} has no derivative with respect to its points with these options. "
            "Fix: .detach() them, or leave the options out."
        )


def _make_lsq_spline(
    x: Any, y: Any, t: Any, k: Any = 3, w: Any = None, axis: Any = 0, **options: Any
) -> Any:
    given = [None if one is None else plain(as_array(one)) for one in (x, y, t, w)]
    made = scipys("interpolate.make_lsq_spline")(
        given[0], given[1], given[2], k, given[3], axis, **options
    )
    x, t = as_array(x), as_array(t)
    rows, _ = _rows(y, axis)
    c = _least_squares(x, rows, w, t, k)
    return _as_bspline("interpolate.make_lsq_spline", made, t, c)


def _make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: Any = 0) -> Any:
    name = "interpolate.make_smoothing_spline"
    made = scipys("interpolate.make_smoothing_spline")(
        plain(as_array(x)), plain(as_array(y)), plain(w), plain(lam), axis=axis
    )
    if lam is None:
        raise NoRuleError(
            f"scipy.{name} without lam= has no derivative: it chooses lam from y. Fix: give lam."
        )
    _refuse_points(name, x, w, lam)
    rows, _ = _rows(y, axis)
    units = scipys("interpolate.make_smoothing_spline")(
        plain(x), np.eye(rows.shape[0]), plain(w), plain(lam)
    )
    return _as_bspline(name, made, made.t, units.c @ rows)


# FITPACK ------------------------------------------------------------------------------------------


def _splrep(
    x: Any, y: Any, w: Any, k: Any, s: Any, task: Any, t: Any, per: Any, full_output: Any
) -> Any:
    if per or full_output:
        raise NoRuleError(
            "scipy.interpolate.splrep with per= or full_output= has no derivative. Fix: leave it "
            'out, or use scipy.interpolate.make_interp_spline(x, y, bc_type="periodic").'
        )
    x, y = as_array(x), as_array(y)  # a column of a table, too
    if task == 0 and ((s is None and w is None) or s == 0):
        knots, c = _through(x, y[:, None], k)
    elif task == -1:
        knots = _clamped(x, as_array(t), k)
        c = _least_squares(x, y[:, None], w, knots, k)
    else:
        raise NoRuleError(
            "scipy.interpolate.splrep with s > 0 has no derivative: it chooses knots from y. "
            "Fix: s=0, or task=-1 with knots t."
        )
    return knots, np.concatenate([c[:, 0], np.zeros(k + 1)]), None


def _splev(x: Any, tck: Any, der: Any, ext: Any) -> Any:
    t, c, k = tck
    if isinstance(c, list) or np.ndim(c) > 1:  # a curve
        return [_splev(x, (t, one, k), der, ext) for one in c]
    t, c, x = as_array(t), as_array(c), as_array(x)
    if ext == 3:
        x = np.clip(x, t[k], t[t.shape[0] - k - 1])
    flat, ends = np.reshape(x, (-1,)), plain(t[[k, t.shape[0] - k - 1]])
    (value,) = _bspline_at(t, c[: t.shape[0] - k - 1, None], k, flat, (der,))
    value = value[:, 0]
    if ext == 1:
        data = data_of(flat)
        value = np.where((data < ends[0]) | (data > ends[1]), 0.0, value)
    return np.reshape(value, x.shape)


def _splev_at_knots(x: Any, tck: Any, der: Any, ext: Any) -> Any:
    t, _, k = tck
    return scipy.interpolate.splev(t[k:-k], tck, der)


def _splint(a: Any, b: Any, tck: Any, full_output: Any) -> Any:
    t, _, k = tck
    n = len(t) - k - 1
    ends = np.stack([as_array(a), as_array(b)])
    integral = (*_splantider(tck, 1)[:2], k + 1)
    low, high = _splev(np.clip(ends, t[k], t[n]), integral, 0, 0)
    return (high - low, None) if full_output else high - low


def _splder(tck: Any, n: Any) -> Any:
    t, c, k = tck
    t, c = as_array(t), as_array(c)
    for _ in range(n):
        count = t.shape[0] - k - 1
        gaps = t[k + 1 : count + k] - t[1:count]
        inner = (c[1:count] - c[: count - 1]) * k / gaps
        c = np.concatenate([inner, np.zeros(k)])
        t, k = t[1:-1], k - 1
    return t, c, None


def _splantider(tck: Any, n: Any) -> Any:
    t, c, k = tck
    t, c = as_array(t), as_array(c)
    for _ in range(n):
        count = t.shape[0] - k - 1
        steps = c[:count] * (t[k + 1 :] - t[:count]) / (k + 1)
        c = np.concatenate([np.zeros(1), np.cumsum(steps), np.sum(steps) * np.ones(k + 2)])
        t, k = np.concatenate([t[:1], t, t[-1:]]), k + 1
    return t, c, None


def _spalde(x: Any, tck: Any) -> Any:
    t, c, k = tck
    t, c, x = as_array(t), as_array(c), as_array(x)
    orders = range(k + 1)
    values = _bspline_at(t, c[: t.shape[0] - k - 1, None], k, np.reshape(x, (-1,)), orders)
    made = np.concatenate(values, axis=1)
    return list(made) if x.ndim and len(x) > 1 else made[0]  # as SciPy


def _sproot(tck: Any, out: Any) -> Any:
    x = np.asarray(out)
    for _ in range(3):  # each Newton step adds one order of derivative
        x = x - _splev(x, tck, 0, 0) / _splev(x, tck, 1, 0)
    return x


def _from_knots(name: str) -> Any:
    """Return the formula of a FITPACK class, with the knots that SciPy has found."""

    def formula(made: Any, given: Any, points: Any, ext: Any = None, **options: Any) -> Any:
        x, y, k = as_array(given["x"]), as_array(given["y"])[:, None], int(given["k"])
        n = len(made._eval_args[0]) - k - 1
        if name == "LSQUnivariateSpline":
            knots = _clamped(x, as_array(given["t"]), k)
            c = _least_squares(x, y, given.get("w"), knots, k)
        elif n == x.shape[0] and (name == "InterpolatedUnivariateSpline" or given["s"] == 0):
            knots, c = _through(x, y, k)
        else:
            raise NoRuleError(
                "scipy.interpolate.UnivariateSpline with s > 0 has no derivative: it chooses knots "
                "from y. Fix: s=0, or LSQUnivariateSpline, whose knots are given."
            )
        return _splev(
            points,
            (knots, np.concatenate([c[:, 0], np.zeros(k + 1)]), k),
            0,
            made.ext if ext is None else ext,
        )

    return formula


def _rect(
    made: Any, given: Any, points: Any, y: Any = None, dx: Any = 0, dy: Any = 0, grid: Any = True
) -> Any:
    if given["s"]:
        raise NoRuleError(
            "scipy.interpolate.RectBivariateSpline with s > 0 has no derivative. Fix: s=0."
        )
    u, v, z = (as_array(given[name]) for name in ("x", "y", "z"))
    kx, ky = given["kx"], given["ky"]
    s, across_x = _through(u, z, kx)
    t, c = _through(v, across_x.T, ky)
    points, y = (  # outside of the rectangle, the values are those at its edge
        np.clip(as_array(one) * 1.0, axis[0], axis[-1]) for one, axis in ((points, u), (y, v))
    )
    shape: Any = ()
    if not grid:
        shape = np.broadcast_shapes(points.shape, y.shape)
        points, y = (np.broadcast_to(one, shape) for one in (points, y))
    across, along = np.reshape(points, (-1,)), np.reshape(y, (-1,))
    left = _collocation(s, kx, across, u.shape[0], dx)
    right = _collocation(t, ky, along, v.shape[0], dy)
    if grid:
        return left @ c.T @ right.T
    return np.reshape(np.sum((left @ c.T) * right, axis=-1), shape)


# Grids --------------------------------------------------------------------------------------------


def _on_grid(points: Any, values: Any, xi: Any, method: str, coefficients: Any = None) -> Any:
    """Interpolate between the points of a grid, one axis after the other.

    `coefficients` are SciPy's, for splines that it finds by iteration.
    """
    axes = [as_array(one) * 1.0 for one in points]
    values = as_array(values)
    shape = xi.shape[:-1] if xi.shape[-1:] == (len(axes),) else xi.shape
    flat = np.reshape(xi, (-1, len(axes)))
    trailing = values.shape[len(axes) :]
    weights: list[tuple[Any, list[Any]]] = []
    for i, axis in enumerate(axes):
        at = flat[:, i]
        if method in ("linear", "slinear"):
            low = _interval(axis, at)
            share = (at - axis[low]) / (axis[low + 1] - axis[low])
            weights.append((low, [1 - share, share]))
        elif method == "nearest":
            low = _interval(axis, at)
            share = (at - axis[low]) / (axis[low + 1] - axis[low])
            near = low + (data_of(share) > 0.5)
            weights.append((near, [np.ones(at.shape)]))
        elif method in ("cubic", "quintic"):
            k = 3 if method == "cubic" else 5
            moved = np.moveaxis(values, i, 0)
            knots, solved = _through(axis, np.reshape(moved, (moved.shape[0], -1)), k)
            values = np.moveaxis(np.reshape(solved, moved.shape), 0, i)
            weights.append(basis(knots, k, at, axis.shape[0]))
        else:
            raise NoRuleError(
                f"Interpolation on a grid with method={method!r} has no derivative. "
                "Fix: 'linear', 'cubic', 'quintic' or 'nearest'."
            )
    if coefficients is not None:
        values = values + (coefficients - plain(values))
    return np.reshape(_tensor_product(weights, values), (*shape, *trailing))


def _tensor_product(weights: list[tuple[Any, list[Any]]], values: Any) -> Any:
    """Sum the values at the points of a grid, weighted along each axis from a first index on."""
    trailing, total = values.shape[len(weights) :], 0.0
    for steps in np.ndindex(*(len(parts) for _, parts in weights)):
        index = tuple(first + step for (first, _), step in zip(weights, steps, strict=True))
        share = functools.reduce(
            lambda a, b: a * b,
            [parts[step] for (_, parts), step in zip(weights, steps, strict=True)],
        )
        total = total + values[index] * np.reshape(share, (-1, *(1,) * len(trailing)))
    return total


def _nd_bspline(made: Any, given: Any, points: Any, extrapolate: Any = None) -> Any:
    t, c = [as_array(one) for one in given["t"]], as_array(given["c"])
    orders = [given["k"]] * len(t) if np.ndim(given["k"]) == 0 else list(given["k"])
    flat = np.reshape(points, (-1, len(t)))
    weights = [
        basis(knots, int(k), flat[:, i], knots.shape[0] - int(k) - 1)
        for i, (knots, k) in enumerate(zip(t, orders, strict=True))
    ]
    return np.reshape(_tensor_product(weights, c), (*points.shape[:-1], *c.shape[len(t) :]))


def _grid_interpolator(made: Any, given: Any, points: Any, method: Any = None) -> Any:
    spline = made._spline if method in (None, made.method) else None
    value = _on_grid(
        given["points"], given["values"], points, method or given["method"],
        None if spline is None else spline.c,
    )  # fmt: skip
    return _within(given["points"], points, value, given["fill_value"])


def _within(axes: Any, xi: Any, value: Any, fill_value: Any) -> Any:
    """Return interpolated values, with the constant at the points outside of the grid."""
    if fill_value is None:
        return value
    at = np.reshape(data_of(xi), (-1, len(axes)))
    ends = [(np.min(data_of(as_array(one))), np.max(data_of(as_array(one)))) for one in axes]
    outside = np.any([(at[:, i] < a) | (at[:, i] > b) for i, (a, b) in enumerate(ends)], axis=0)
    if not outside.any():
        return value
    rows = np.reshape(value, (len(at), -1))
    return np.reshape(np.where(outside[:, None], fill_value, rows), np.shape(value))


def _interpn(
    points: Any, values: Any, xi: Any, method: Any, fill_value: Any, bounds_error: Any
) -> Any:
    if method == "splinef2d":
        raise NoRuleError(
            "scipy.interpolate.interpn with method='splinef2d' has no derivative. Fix: 'cubic'."
        )
    at = coordinates(xi)
    value = _on_grid(points, values, at, method)
    return _within(points, at, value, None if bounds_error else fill_value)


def _barycentric(points: Any, values: Any, xi: Any, tri: Any = None) -> Any:
    """Interpolate linearly in each simplex of a triangulation, by default SciPy's."""
    data, at = data_of(points), data_of(xi)
    tri = Delaunay(data) if tri is None else tri
    n = data.shape[1]
    flat = np.reshape(xi, (-1, n))
    simplex = tri.find_simplex(np.reshape(at, (-1, n)))
    corners = tri.simplices[np.maximum(simplex, 0)]
    places = points[corners]
    edges = np.swapaxes(places[:, :-1] - places[:, -1:], -1, -2)
    shares = np.linalg.solve(edges, (flat - places[:, -1])[..., None])[..., 0]
    shares = np.concatenate([shares, 1 - np.sum(shares, axis=-1, keepdims=True)], axis=-1)
    found = values[corners]
    weights = np.reshape(shares, (*shares.shape, *(1,) * (found.ndim - 2)))
    total = np.sum(found * weights, axis=1)
    outside = np.reshape(simplex < 0, (-1, *(1,) * (total.ndim - 1)))
    return np.reshape(np.where(outside, 0.0, total), (*xi.shape[:-1], *values.shape[1:]))


def _scattered(method: str, points: Any, values: Any, xi: Any, rescale: Any) -> Any:
    tri = points if isinstance(points, Delaunay) else None
    points, values = coordinates(points if tri is None else points.points), as_array(values)
    xi = xi * 1.0
    if points.ndim == 1:
        points = points[:, None]
    if xi.ndim == 0 or xi.shape[-1] != points.shape[1]:
        xi = xi[..., None]
    if method == "nearest":
        _, at = KDTree(data_of(points)).query(data_of(xi))
        return values[at]
    if method == "linear" and points.shape[1] > 1 and not rescale:
        return _barycentric(points, values, xi, tri)
    if method == "linear" and points.shape[1] == 1:
        order = np.argsort(data_of(points)[:, 0])
        x, y = points[order, 0], values[order]
        return _on_grid([x], y, xi, "linear")
    raise NoRuleError(
        "Interpolation of scattered points has a derivative with method='linear' or 'nearest', and "
        "without rescale=; in their values also with 'cubic' in the plane. Fix: use these, or "
        "scipy.interpolate.RBFInterpolator."
    )


def _griddata(points: Any, values: Any, xi: Any, method: Any, rescale: Any) -> Any:
    points, xi = coordinates(points), coordinates(xi)
    if method == "cubic" and np.ndim(points) == 2:
        given = {"points": points, "values": values, "rescale": rescale}
        return _clough_tocher(None, given, xi)
    return _scattered(method, points, values, xi, rescale)


def _scattered_class(method: str, x: str, y: str) -> Any:
    def formula(made: Any, given: Any, points: Any, **options: Any) -> Any:
        return _scattered(method, given[x], given[y], points, given.get("rescale"))

    return formula


def _clough_tocher(made: Any, given: Any, points: Any, **options: Any) -> Any:
    """Interpolate by the matrix of the map from values to values, which is linear."""
    if holds_variable([points, given["points"]]):
        raise NoRuleError(
            "scipy.interpolate.CloughTocher2DInterpolator has a derivative in its values alone. "
            "Fix: scipy.interpolate.RBFInterpolator."
        )
    values = as_array(given["values"])
    n = values.shape[0]
    at = scipy.interpolate.CloughTocher2DInterpolator(
        given["points"], np.eye(n), 0.0, tol=1e-12, maxiter=10_000, rescale=given["rescale"]
    )(points)
    made = at @ np.reshape(values, (n, -1))
    return np.reshape(made, (*at.shape[:-1], *values.shape[1:]))


# Radial functions ---------------------------------------------------------------------------------


def _radial(kernel: str, r2: Any) -> Any:
    """Evaluate a kernel at squared distances; its slope at zero is zero."""
    zero = data_of(r2) == 0
    safe = np.where(zero, 1.0, r2)
    r = np.sqrt(safe)
    table: dict[str, Any] = {
        "linear": lambda: np.where(zero, 0.0, -r),
        "thin_plate_spline": lambda: np.where(zero, 0.0, safe * np.log(safe) / 2),
        "cubic": lambda: np.where(zero, 0.0, safe * r),
        "quintic": lambda: np.where(zero, 0.0, -(safe**2) * r),
        "multiquadric": lambda: -np.sqrt(r2 + 1),
        "inverse_multiquadric": lambda: 1 / np.sqrt(r2 + 1),
        "inverse_quadratic": lambda: 1 / (r2 + 1),
        "gaussian": lambda: np.exp(-r2),
    }
    return table[kernel]()


def _rbf(made: Any, given: Any, points: Any) -> Any:
    if given["neighbors"] is not None:
        raise NoRuleError(
            "scipy.interpolate.RBFInterpolator with neighbors= has no derivative. "
            "Fix: leave it out."
        )
    y, d = as_array(given["y"]) * 1.0, as_array(given["d"])
    trailing = d.shape[1:]
    d = np.reshape(d, (d.shape[0], -1))
    epsilon, kernel = (
        made.epsilon if not holds_variable([given["epsilon"]]) else given["epsilon"],
        given["kernel"],
    )
    powers = np.asarray(made.powers)
    low, high = np.min(data_of(y), axis=0), np.max(data_of(y), axis=0)
    shift, scale = (low + high) / 2, (high - low) / 2
    scale = np.where(scale == 0, 1.0, scale)

    def squares(a: Any, b: Any) -> Any:
        return np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1) * epsilon**2

    def polynomials(x: Any) -> Any:
        hat = (x - shift) / scale
        return (
            np.stack([np.prod(_raised(hat, power), axis=-1) for power in powers], axis=-1)
            if len(powers)
            else np.zeros((x.shape[0], 0))
        )

    n, m = y.shape[0], len(powers)
    smoothing = as_array(given["smoothing"]) * np.ones(n)
    p = polynomials(y)
    kernel_part = _radial(kernel, squares(y, y)) + smoothing[:, None] * np.eye(n)
    matrix = np.concatenate(
        [np.concatenate([kernel_part, p], axis=1), np.concatenate([p.T, np.zeros((m, m))], axis=1)]
    )
    c = np.linalg.solve(matrix, np.concatenate([d, np.zeros((m, d.shape[1]))]))
    x = points * 1.0
    values = np.concatenate([_radial(kernel, squares(x, y)), polynomials(x)], axis=1) @ c
    return np.reshape(values, (x.shape[0], *trailing))


def _raised(x: Any, powers: Any) -> Any:
    columns: list[Any] = []
    for j, power in enumerate(powers):
        column: Any = np.ones(x.shape[0])
        for _ in range(int(power)):
            column = column * x[:, j]
        columns.append(column)
    return np.stack(columns, axis=-1)


SPELLINGS = {
    "inverse": "inverse_multiquadric",
    "inverse multiquadric": "inverse_multiquadric",
    "thin-plate": "thin_plate",
}
OLDER: dict[str, Callable[[Any], Any]] = {
    "multiquadric": lambda r2: np.sqrt(r2 + 1),
    "inverse_multiquadric": lambda r2: 1.0 / np.sqrt(r2 + 1),
    "gaussian": lambda r2: np.exp(-r2),
    "linear": lambda r2: -_radial("linear", r2),
    "cubic": lambda r2: _radial("cubic", r2),
    "quintic": lambda r2: -_radial("quintic", r2),
    "thin_plate": lambda r2: _radial("thin_plate_spline", r2),
}
"""The functions of `Rbf`, of squared distances."""
SCALED = ("multiquadric", "inverse_multiquadric", "gaussian")


def _older_given(given: dict[str, Any]) -> dict[str, Any]:
    """Name the arguments of `Rbf` as its attributes."""
    *points, values = given["args"]
    xi = np.stack([np.reshape(as_array(one) * 1.0, (-1,)) for one in points])
    defaults = {"function": "multiquadric", "norm": "euclidean", "smooth": 0.0, "mode": "1-D"}
    own = {"epsilon": None, **given["kwargs"], "xi": xi, "di": as_array(values)}
    return {**defaults, **own}


def _older_points(args: Any) -> Any:
    return np.stack([as_array(one) * 1.0 for one in args], axis=-1)


def _older_rbf(made: Any, given: Any, points: Any) -> Any:
    """Evaluate the interpolant of the older class, by the squares of the distances."""
    xi, di, norm, epsilon = given["xi"].T, given["di"], given["norm"], given["epsilon"]
    one_dimensional = given["mode"] == "1-D"
    d = np.reshape(di, (-1, 1)) if one_dimensional else di
    if epsilon is None:
        edges = np.max(xi, axis=0) - np.min(xi, axis=0)
        edges = edges[np.flatnonzero(data_of(edges))]
        epsilon = (np.prod(edges) / xi.shape[0]) ** (1.0 / edges.shape[0])

    def squares(a: Any, b: Any) -> Any:
        if norm == "euclidean":
            return np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
        return dispatcher("spatial.distance.cdist")(a, b, norm) ** 2

    def kernel(r2: Any) -> Any:
        function = given["function"]
        if isinstance(function, str):
            name = SPELLINGS.get(function.lower(), function.lower())
            return OLDER[name](r2 / epsilon**2 if name in SCALED else r2)
        r = -_radial("linear", r2)
        takes_object = len(inspect.signature(function).parameters) > 1
        options = SimpleNamespace(**(given | {"epsilon": epsilon}))
        return function(options, r) if takes_object else function(r)

    matrix = kernel(squares(xi, xi)) - np.eye(xi.shape[0]) * given["smooth"]
    nodes = np.linalg.solve(matrix, d * 1.0)
    x = np.reshape(points, (-1, xi.shape[1]))
    shape = np.shape(points)[:-1] + (() if one_dimensional else d.shape[1:])
    return np.reshape(kernel(squares(x, xi)) @ nodes, shape)


# Polynomials --------------------------------------------------------------------------------------


def _through_points(xi: Any, yi: Any, points: Any) -> Any:
    """Evaluate the interpolating polynomial in Newton's form."""
    data = data_of(xi)
    if len(np.unique(data)) < len(data):
        raise NoRuleError(
            "Interpolation by a polynomial has no derivative where points are repeated. "
            "Fix: scipy.interpolate.CubicHermiteSpline takes slopes."
        )
    table = [yi[i] for i in range(yi.shape[0])]
    n = len(table)
    for depth in range(1, n):
        for i in range(n - 1, depth - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (xi[i] - xi[i - depth])
    total: Any = table[-1] * np.ones((points.shape[0], 1))
    for i in range(n - 2, -1, -1):
        total = total * (points - xi[i])[:, None] + table[i]
    return total


def _polynomial_class(made: Any, given: Any, points: Any, **options: Any) -> Any:
    axis = given["axis"]
    y, trailing = _rows(given["yi"], axis)
    flat = np.reshape(points, (-1,)) * 1.0
    value = _through_points(as_array(given["xi"]) * 1.0, y, flat)
    return _placed(value, points, trailing, axis)


def _polynomial_function(xi: Any, yi: Any, x: Any, axis: Any, der: Any) -> Any:
    y, trailing = _rows(yi, axis)
    x = as_array(x) * 1.0
    orders = [der] if np.ndim(der) == 0 else list(der)
    flat = np.reshape(x, (-1,))
    made = [
        _placed(
            differentiated(lambda at: _through_points(xi, y, at), flat, order), x, trailing, axis
        )
        for order in orders
    ]
    return made[0] if np.ndim(der) == 0 else np.stack(made)


def _pchip_function(xi: Any, yi: Any, x: Any, axis: Any, der: Any) -> Any:
    y, trailing = _rows(yi, axis)
    x = as_array(x) * 1.0
    c = _hermite(xi, y, _pchip_slopes({}, xi, y))
    flat = np.reshape(x, (-1,))
    return _placed(differentiated(lambda at: _polynomial(xi, c, at), flat, der), x, trailing, axis)


def _rational(made: Any, given: Any, points: Any) -> Any:
    """Evaluate the rational interpolant of Floater and Hormann, with weights from the points."""
    _refuse_points("interpolate.FloaterHormannInterpolator", given["points"])
    z = np.asarray(given["points"])
    values, trailing = _rows(given["values"], 0)
    flat = np.reshape(points, (-1,)) * 1.0
    value = _quotient(flat, z, np.asarray(made.weights).reshape(-1), values)
    return _placed(value, points, trailing, 0)


def _quotient(points: Any, support: Any, weights: Any, values: Any) -> Any:
    """Evaluate a rational function in barycentric form: its rows of values at the support."""
    distance = points[:, None] - support
    hit = data_of(distance) == 0
    shares = weights / np.where(hit, 1.0, distance)
    shares = np.where(np.any(hit, axis=1, keepdims=True), hit.astype(float), shares)
    return (shares @ values) / np.sum(shares, axis=1, keepdims=True)


def _aaa(made: Any, given: Any, points: Any) -> Any:
    """Evaluate the rational function in barycentric form, with the support points held fixed."""
    _refuse_points("interpolate.AAA", given["x"])
    support, weights = np.asarray(made.support_points), np.asarray(made.weights)
    values: Any = np.asarray(made.support_values)
    if holds_variable([given["y"]]):
        x, y = np.asarray(given["x"]), as_array(given["y"])
        equal = x[:, None] == support
        values = y[np.argmax(equal, axis=0)]
        rest = np.flatnonzero(~np.any(equal, axis=1))
        loewner = (y[rest][:, None] - values) / (x[rest][:, None] - support)
        weights = np.conj(np.linalg.svd(loewner, full_matrices=False)[2][-1])
    value = _quotient(np.reshape(points, (-1,)), support, weights, values[:, None])
    return np.reshape(value, np.shape(points))


def _interp1d(made: Any, given: Any, points: Any) -> Any:
    kind = given["kind"]
    x, axis = as_array(given["x"]) * 1.0, given["axis"]
    y, trailing = _rows(given["y"], axis)
    if not given["assume_sorted"]:
        order = np.argsort(data_of(x), kind="mergesort")
        x, y = x[order], y[order]
    flat = np.reshape(points, (-1,)) * 1.0
    data, at = data_of(x), data_of(flat)
    if kind in ("linear", "slinear", 1):
        value = _on_grid([x], y, flat[:, None], "linear")
    elif kind in ("nearest", "nearest-up", "previous", "next", "zero", 0):
        value = y[_steps(kind, data, at)]
    else:
        k = int({"quadratic": 2, "cubic": 3}.get(kind) or kind)
        knots, c = _through(x, y, k)
        (value,) = _bspline_at(knots, c, k, flat)
    fill = given["fill_value"]
    if not isinstance(fill, str):
        for outside, one in zip((at < data[0], at > data[-1]), _two_of(fill), strict=True):
            if np.any(outside):
                value = np.where(outside[:, None], np.reshape(one, (1, -1)), value)
    return _placed(value, points, trailing, axis)


def _two_of(fill: Any) -> tuple[Any, Any]:
    """Return what `interp1d` gives below and above its points."""
    is_pair = isinstance(fill, tuple) and len(fill) == 2
    return fill if is_pair else (fill, fill)


def _steps(kind: Any, x: Any, at: Any) -> Any:
    if kind in ("previous", "zero", 0):
        return np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 1)
    if kind == "next":
        return np.clip(np.searchsorted(x, at, side="left"), 0, len(x) - 1)
    middle = (x[1:] + x[:-1]) / 2
    if kind == "nearest":
        return np.clip(np.searchsorted(middle, at, side="left"), 0, len(x) - 1)
    return np.clip(np.searchsorted(middle, at, side="right"), 0, len(x) - 1)


# Rows ---------------------------------------------------------------------------------------------


def _class(
    name: str,
    formula: Any,
    first: str = "x",
    note: str = "",
    as_points: Any = as_array,
    as_given: Any = dict,
    **makers: Any,
) -> Row:
    path = f"interpolate.{name}"
    make = interpolant_class(path, formula, first, as_points, makers, as_given)
    return Row(path, Class(make), note=note)


ROWS = [
    _class("CubicSpline", _spline(_cubic_slopes)),
    _class(
        "CubicHermiteSpline", _spline(lambda given, x, y: _rows(given["dydx"], given["axis"])[0])
    ),
    _class("PchipInterpolator", _spline(_pchip_slopes)),
    _class("Akima1DInterpolator", _spline(_akima_slopes)),
    _class("PPoly", _ppoly, from_bernstein_basis=_of_bernstein, from_spline=_of_spline),
    _class("BPoly", _bpoly, from_power_basis=_of_powers, from_derivatives=_of_derivatives),
    _class("BSpline", _bspline),
    _class("NdBSpline", _nd_bspline, "xi"),
    _class("AAA", _aaa, "z", "with the support points held fixed"),
    _class("CloughTocher2DInterpolator", _clough_tocher, "args", "in the values", coordinates),
    _class("interp1d", _interp1d),
    *(
        _class(name, _from_knots(name), note="with the knots held fixed; s = 0")
        for name in ("UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline")
    ),
    _class("RectBivariateSpline", _rect, note="s = 0"),
    _class("RegularGridInterpolator", _grid_interpolator, "xi", "", coordinates),
    _class("RBFInterpolator", _rbf, "x", note="the derivative of a kernel at zero is zero"),
    _class(
        "Rbf",
        _older_rbf,
        "args",
        "the derivative of a distance at zero is zero",
        _older_points,
        _older_given,
    ),
    _class("KroghInterpolator", _polynomial_class),
    _class("BarycentricInterpolator", _polynomial_class),
    _class("FloaterHormannInterpolator", _rational, "z"),
    Row("interpolate.make_interp_spline", _Maker(_make_interp_spline)),
    Row("interpolate.make_lsq_spline", _Maker(_make_lsq_spline)),
    Row("interpolate.make_smoothing_spline", _Maker(_make_smoothing_spline), note="with lam"),
    formula("interpolate.splrep", _splrep, "x y w t", neutral="quiet xb xe"),
    formula("interpolate.splev", _splev, "x tck", groups="tck", beside=_splev_at_knots),
    formula("interpolate.splint", _splint, "a b tck", groups="tck", byproducts=(1,)),
    formula("interpolate.splder", _splder, "tck", groups="tck"),
    formula("interpolate.splantider", _splantider, "tck", groups="tck"),
    formula("interpolate.spalde", _spalde, "x tck", groups="tck"),
    formula("interpolate.sproot", _sproot, "tck", groups="tck", neutral="mest"),
    formula("interpolate.interpn", _interpn, "points values xi", groups="points xi"),
    formula(
        "interpolate.griddata",
        _griddata,
        "points values xi",
        groups="points xi",
        neutral="fill_value",
    ),
    *(
        formula(f"interpolate.{name}", function, "xi yi x", neutral=neutral)
        for name, function, neutral in (
            ("krogh_interpolate", _polynomial_function, ""),
            ("barycentric_interpolate", _polynomial_function, "rng"),
            ("pchip_interpolate", _pchip_function, ""),
        )
    ),
]
CLASSES = [
    _class(
        "LinearNDInterpolator",
        _scattered_class("linear", "points", "values"),
        "args",
        as_points=coordinates,
    ),
    _class(
        "NearestNDInterpolator",
        _scattered_class("nearest", "x", "y"),
        "args",
        as_points=coordinates,
    ),
]
REFUSED = [
    Row(f"interpolate.{name}", Refused(f"it has no rule. Fix: scipy.interpolate.{instead}."))
    for name, instead in (
        *(
            ("approximate_taylor_polynomial", "KroghInterpolator"),
            ("lagrange", "KroghInterpolator"),
        ),
        *(("bisplev", "RectBivariateSpline"), ("bisplrep", "RectBivariateSpline")),
        *(("insert", "BSpline"), ("make_splprep", "make_interp_spline")),
        *(("make_splrep", "make_interp_spline"), ("generate_knots", "make_lsq_spline")),
        *(("pade", "PPoly"), ("splprep", "make_interp_spline")),
    )
]
register([*ROWS, *CLASSES, *REFUSED])
