"""The rows of `scipy.integrate`."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.integrate

from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.errors import GradwrapError, NoRuleError
from gradwrap.rules.special.incomplete import half_line
from gradwrap.scipy.answers import Answers
from gradwrap.scipy.classes import Class
from gradwrap.scipy.dispatching import Constant, scipys
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.interpolants import OfOrder, differentiated
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.rules.jumps import refuse_jump_in_step, refuse_jumps
from gradwrap.scipy.rules.ode import stepped_by_hand, stepping
from gradwrap.scipy.rules.paths import EXPLICIT, METHODS, Explicit, Implicit, recorded_steps, stages
from gradwrap.scipy.solving import (
    Solved,
    SolvedWithList,
    as_array,
    attached,
    data_of,
    plain,
    quiet,
    refuse,
    solution,
)
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.batch import vmap
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.implicit import custom_root

if TYPE_CHECKING:
    from collections.abc import Callable

# Of samples ---------------------------------------------------------------------------------------


def _spacing(y: Any, x: Any, dx: Any, axis: int) -> Any:
    """Return the distances between samples, along the last axis."""
    n = y.shape[axis]
    if x is None:
        return np.ones(n - 1) * dx
    return np.diff(x if x.ndim == 1 else np.moveaxis(np.broadcast_to(x, y.shape), axis, -1))


def _trapezoid(y: Any, x: Any, dx: Any, axis: Any) -> Any:
    h = _spacing(y, x, dx, axis)
    y = np.moveaxis(y, axis, -1)
    return np.sum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)


def _cumulative_trapezoid(y: Any, x: Any, dx: Any, axis: Any, initial: Any) -> Any:
    h = _spacing(y, x, dx, axis)
    y = np.moveaxis(y, axis, -1)
    made = np.cumsum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if initial is not None:
        made = np.concatenate([initial * np.ones((*made.shape[:-1], 1)), made], axis=-1)
    return np.moveaxis(made, -1, axis)


def _simpson(y: Any, x: Any, dx: Any, axis: Any) -> Any:
    h = np.broadcast_to(
        _spacing(y, x, dx, axis), (*np.moveaxis(y, axis, -1).shape[:-1], y.shape[axis] - 1)
    )
    y = np.moveaxis(y, axis, -1)
    n = y.shape[-1]
    if n == 2:
        return h[..., 0] * (y[..., 0] + y[..., 1]) / 2
    last = n if n % 2 else n - 1
    h0, h1 = h[..., 0 : last - 1 : 2], h[..., 1 : last - 1 : 2]
    y0, y1, y2 = y[..., 0 : last - 2 : 2], y[..., 1 : last - 1 : 2], y[..., 2:last:2]
    total = h0 + h1
    parts = y0 * (2 - h1 / h0) + y1 * total * total / (h0 * h1) + y2 * (2 - h0 / h1)
    made = np.sum(total / 6 * parts, axis=-1)
    if n % 2 == 0:  # the last interval, by the parabola through the last three
        g0, g1 = h[..., -2], h[..., -1]
        alpha = (2 * g1**2 + 3 * g0 * g1) / (6 * (g0 + g1))
        beta = (g1**2 + 3 * g0 * g1) / (6 * g0)
        eta = g1**3 / (6 * g0 * (g0 + g1))
        made = made + alpha * y[..., -1] + beta * y[..., -2] - eta * y[..., -3]
    return made


def _half_intervals(y: Any, h: Any) -> Any:
    """Return the integral over the first of each pair of intervals, by Simpson's rule."""
    x21, x32 = h[..., :-1], h[..., 1:]
    ratio = x21 / (x21 + x32)
    third = ratio * x21 / x32
    return (
        x21
        / 6
        * ((3 - ratio) * y[..., :-2] + (3 + third + ratio) * y[..., 1:-1] - third * y[..., 2:])
    )


def _cumulative_simpson(y: Any, x: Any, dx: Any, axis: Any, initial: Any) -> Any:
    if y.shape[axis] < 3:
        made = _cumulative_trapezoid(y, x, dx, axis, None)
        made = np.moveaxis(made, axis, -1)
    else:
        h = _spacing(y, x, dx, axis)
        y = np.moveaxis(y, axis, -1)
        h = np.broadcast_to(h, (*y.shape[:-1], y.shape[-1] - 1))
        first = _half_intervals(y, h)
        second = _half_intervals(y[..., ::-1], h[..., ::-1])[..., ::-1]
        count = y.shape[-1] - 1
        parts: list[Any] = []
        for k in range(count):
            take_first = k % 2 == 0 and k < count - 1
            parts.append(first[..., k] if take_first else second[..., k - 1])
        made = np.cumsum(np.stack(parts, axis=-1), axis=-1)
    if initial is not None:
        if np.ndim(initial) == made.ndim:
            initial = np.moveaxis(initial, axis, -1)
        elif np.ndim(initial):
            initial = np.expand_dims(initial, -1)
        made = made + initial
        start = initial * np.ones((*made.shape[:-1], 1))
        made = np.concatenate([start, made], axis=-1)
    return np.moveaxis(made, -1, axis)


def _romb(y: Any, dx: Any, axis: Any) -> Any:
    y = np.moveaxis(y, axis, -1)
    n = y.shape[-1] - 1
    rows = [[dx * n * (y[..., 0] + y[..., -1]) / 2]]
    step = n
    while step > 1:
        half = step // 2
        level = [rows[-1][0] / 2 + dx * half * np.sum(y[..., half::step], axis=-1)]
        for j in range(1, len(rows) + 1):
            level.append(level[-1] + (level[-1] - rows[-1][j - 1]) / (4**j - 1))
        rows.append(level)
        step = half
    return rows[-1][-1]


# Of functions -------------------------------------------------------------------------------------

GAUSS_21 = np.polynomial.legendre.leggauss(21)


def _at_each(function: Any, columns: list[Any]) -> Any:
    """Evaluate a function of numbers at each point, at once if it permits."""
    try:
        return vmap(function, fallback="loop")(*columns)
    except (GradwrapError, TypeError, ValueError, AttributeError, IndexError):
        return np.stack([as_array(function(*point)) for point in zip(*columns, strict=True)])


def _nodes(low: float, high: float, parts: Any) -> Any:
    """Return the nodes of Gauss's rule on subintervals of [0, 1], mapped to a range.

    The columns are the coefficients of both ends and the constant in the point, and the
    coefficient of the length and the constant in its weight. An end that is infinite counts as 0.
    """
    points, weights = map(np.copy, GAUSS_21)  # a trace takes what it makes for a constant
    middle, half = np.mean(parts, axis=1)[:, None], np.diff(parts, axis=1) / 2
    t, w = np.ravel(middle + half * points), np.ravel(half * weights)
    none = np.zeros(t.shape)
    if np.isfinite(low) and np.isfinite(high):
        return np.stack([1 - t, t, none, w, none])
    side = np.sign(low if np.isinf(low) else high)
    sign = side if np.isinf(high) else -side
    ends = [none + np.isfinite(low), none + np.isfinite(high)]
    return np.stack([*ends, side * (1 - t) / t, none, sign * w / t**2])


def _subdivision(function: Any, a: float, b: float, options: dict[str, Any]) -> tuple[Any, float]:
    """Return the intervals chosen by QUADPACK, scaled to [0, 1], and the integral."""
    if a == b:
        return np.array([[0.0, 1.0]]), 0.0
    made = scipys("integrate.quad")(function, a, b, **{**options, "full_output": 1})
    count = made[2]["last"]
    parts = np.stack([made[2]["alist"][:count], made[2]["blist"][:count]], axis=1)
    if np.isfinite(a) and np.isfinite(b):  # QUADPACK's own limits rise
        parts = ((parts if a < b else parts[:, ::-1]) - a) / (b - a)
    return parts, made[0]


def _refuse_singular(function: Any, a: float, b: float, parts: Any, fixed: Any = ()) -> None:
    """Refuse a function that is infinite inside of a range, but not near some fixed places.

    It grows there on short ways as much as on long ones.
    """
    lengths = np.ptp(parts, axis=1)
    shortest = lengths.min()
    if shortest > TINY:
        return
    middle = np.mean(parts[np.argmin(lengths)])
    room = min(middle, 1.0 - middle)
    if room < FAR * shortest:
        return

    def size_at(distance: float) -> Any:
        of_low, of_high, rest, *_ = _nodes(a, b, middle + np.array([[-distance, distance]]))
        low, high = (0.0 if np.isinf(end) else end for end in (a, b))
        values = [function(x) for x in (of_low * low + of_high * high + rest).tolist()]
        return np.max(np.abs(values)), of_low[10] * low + of_high[10] * high + rest[10]

    far = 0.5 * min(room, 0.2)
    (near, place), (between, _), (away, _) = map(
        size_at, (0.5 * shortest, (0.5 * shortest * far) ** 0.5, far)
    )
    grows = near - between > max(0.1 * abs(between - away), 1e-3 * between)
    if grows and np.all(np.abs(np.asarray(fixed) - place) > TINY * abs(b - a)):
        raise NoRuleError(
            f"scipy.integrate: the function grows without limit near {place:.6g}. If that place "
            "depends on a tracked value, the integral's derivative is a principal value, which is "
            "not known. Fix: name the place, which may be tracked: quad(..., points=[place])."
        )


TINY, FAR = 1e-5, 30.0
"""Intervals so short, in proportion to the range, are looked at; those are at its ends that are
within this multiple of their length of them."""


def _halved(function: Any, a: float, b: float, parts: Any) -> Any:
    """Halve the intervals at singular points, where QUADPACK has extrapolated its sums.

    They are halved until Gauss's rule is exact there, also for a derivative that grows, or there
    are no numbers between.
    """
    low, high = (0.0 if np.isinf(end) else end for end in (a, b))

    def sums(parts: Any) -> tuple[Any, Any]:
        of_low, of_high, rest, of_length, weight = _nodes(a, b, parts)
        points = of_low * low + of_high * high + rest
        values = np.array([function(x) for x in points.tolist()])
        values = np.reshape(values * (of_length * (high - low) + weight), (len(parts), -1))
        return np.sum(values, axis=1), np.sum(np.abs(values), axis=1)

    is_exact_at_low = low == 0.0 or np.isinf([a, b]).any()
    found, sizes = sums(parts)
    size, done = np.sum(sizes), []
    while len(parts):
        halves = np.repeat(parts, 2, axis=0)
        halves[::2, 1] = halves[1::2, 0] = np.mean(parts, axis=1)
        of_halves, of_sizes = sums(halves)
        error = np.abs(found - of_halves[::2] - of_halves[1::2])
        is_open = error > np.maximum(1e-5 * EXACT * size, 1e-13 * sizes)
        is_at_zero = is_exact_at_low & (parts[:, 0] == 0.0)
        is_open &= np.ptp(parts, axis=1) > np.where(is_at_zero, FINEST**4, FINEST)
        largest = np.argsort(np.where(is_open, -error, 0.0))[:PLACES]
        is_open &= np.isin(np.arange(len(parts)), largest)
        done.append(parts[~is_open])
        again = np.repeat(is_open, 2)
        parts, found, sizes = halves[again], of_halves[again], of_sizes[again]
    return np.concatenate(done)


EXACT, FINEST, PLACES = 1e-12, 2e-12, 4
"""Sums are exact that differ by less than this part of them; the shortest interval is this part of
a range, except at an end from which the numbers near it can be told; and so many
intervals are halved at a time, since rounding disturbs others near a singular point, too."""


def _rule(low: Any, high: Any, parts: Callable[[int, float, float], Any]) -> tuple[Any, Any, Any]:
    """Return points and weights on some ranges, and the range of each.

    `parts(i, low, high)` returns the subintervals of range i. A range without ends has two parts.
    """
    nodes: list[Any] = []
    ranges: list[Any] = []
    for i, (a, b) in enumerate(zip(*map(_numbers, (low, high)), strict=True)):
        halves = [(a, 0.0), (0.0, b)] if np.isinf(a) and np.isinf(b) else [(a, b)]
        for half in halves:
            nodes.append(_nodes(*half, parts(i, *half)))
            ranges.append(np.full(nodes[-1].shape[1], i))
    of_low, of_high, rest, of_length, weight = np.concatenate(nodes, axis=1)
    at = np.concatenate(ranges)
    low, high = (np.where(np.isinf(plain(one)), 0.0, one)[at] for one in (low, high))
    return of_low * low + of_high * high + rest, of_length * (high - low) + weight, at


def _numbers(values: Any) -> Any:
    """Return the ends of ranges, one after the other: floats, or a trace's stand-ins for them."""
    data = data_of(values)
    return data.tolist() if isinstance(data, np.ndarray) else data


def _integrated(
    fun: Any, ranges: list[Any], options: dict[str, Any] | None = None, *, is_halved: bool = False
) -> Any:
    """Integrate over several ranges, the innermost first, on the intervals chosen by QUADPACK.

    A range is a pair of ends, or a function of the outer points that returns one. Those of one
    range are halved where QUADPACK has extrapolated from their sum.
    """
    native, plain_ranges = (
        quiet(fun),
        [quiet(one) if callable(one) else plain(one) for one in ranges],
    )
    columns: list[Any] = []
    weights: Any = np.ones(1)
    sums: list[Any] = []
    for depth in reversed(range(len(ranges))):
        one = ranges[depth]
        if callable(one) and columns:
            ends = _at_each(lambda *outer, one=one: _pair(one(*outer)), columns)
        else:
            pair = _pair(one() if callable(one) else one)
            ends = np.broadcast_to(pair, (len(weights), 2))
        outer: list[Any] = list(zip(*(plain(column) for column in columns), strict=True))

        def parts(
            i: int, low: float, high: float, depth: int = depth, outer: list[Any] = outer
        ) -> Any:
            own = outer[i] if outer else ()

            def inner(x: Any) -> Any:
                if not depth:
                    return native(x, *own)
                given = plain((x, *own))
                return scipys("integrate.nquad")(native, plain_ranges[:depth], given)[0]

            found, value = _subdivision(inner, low, high, options or {})
            if is_halved:
                found = _halved(inner, low, high, found)
                _refuse_singular(inner, low, high, found)
            elif len(ranges) == 1:
                sums.append(value)
            return found

        points, own_weights, at = _rule(ends[:, 0], ends[:, 1], parts)
        columns = [points, *(column[at] for column in columns)]
        weights = weights[at] * own_weights
    terms = weights * _at_nodes(lambda *xs: as_array(fun(*xs)), columns)
    total = np.sum(terms)
    is_divided = sums and terms.shape[0] > len(sums) * len(GAUSS_21[0])
    if is_divided and abs(data_of(total) - sum(sums)) > EXACT * np.sum(np.abs(data_of(terms))):
        return _integrated(fun, ranges, options, is_halved=True)
    return total


def _at_nodes(function: Any, columns: list[Any]) -> Any:
    """Evaluate a function at each point; refuse one that jumps where it compares tracked values."""
    with Answers() as answers:
        found = _at_each(function, columns)
    if answers.found:
        order = np.lexsort([data_of(column) for column in columns])
        order = order[:: 1 + len(order) // PROBES]
        refuse_jumps(function, ([column[i] for column in columns] for i in order), OF_INTEGRALS)
    return found


def _refuse_jumps_between(function: Any, low: Any, high: Any) -> None:
    """Refuse a function that jumps on the ways between some points in its ranges."""
    edges = np.linspace(0.0, 1.0, 17)
    parts = np.stack([edges[:-1], edges[1:]], axis=1)
    columns: list[Any] = []
    for k in range(low.shape[0]):
        column = _rule(low[k : k + 1], high[k : k + 1], lambda *_: parts)[0]
        order = np.random.default_rng(k).permutation(column.shape[0])
        columns.append(column[order] if k else column)  # so that the points fill a box
    count = columns[0].shape[0]
    with Answers(is_probe=True) as answers:
        for i in (0, count // 2, count - 1):
            function(*[column[i] for column in columns])
    if answers.found:
        points = ([column[i] for column in columns] for i in range(count))
        refuse_jumps(function, points, OF_INTEGRALS)


PROBES = 1000
"""So many nodes are looked at for jumps between them."""
OF_INTEGRALS = (
    "integrate the parts before and after it, with the tracked place as a limit: "
    "quad(f, a, place) + quad(g, place, b)"
)


def _pair(ends: Any) -> Any:
    return np.stack([as_array(end) * 1.0 for end in ends])


def _quad(
    result: Any, fun: Any, a: Any, b: Any, args: Any, epsabs: Any, epsrel: Any, limit: Any,
    points: Any, complex_func: Any, weight: Any, wvar: Any,
) -> Any:  # fmt: skip
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit}
    if weight is not None and (weight not in WAVES or not np.isfinite([plain(a), plain(b)]).all()):
        refuse("scipy.integrate.quad", weight=weight)
    wave = None if weight is None else WAVES[weight]

    stops = [a, b]
    if points is not None:
        low, high = sorted([plain(a), plain(b)])
        inner = [one for one in points if low < plain(one) < high]
        stops = [a, *sorted(inner, key=plain, reverse=bool(plain(a) > plain(b))), b]

    def integrand(x: Any) -> Any:
        value = fun(x, *args)
        return value if wave is None else value * wave(wvar * x)

    def integrated(part: Any) -> Any:
        return sum(
            _integrated(lambda x: part(as_array(integrand(x))), [ends], options)
            for ends in itertools.pairwise(stops)
        )

    if complex_func:
        return {(0,): integrated(np.real) + 1j * integrated(np.imag)}
    return {(0,): integrated(lambda value: value)}


WAVES: dict[str, Any] = {"cos": np.cos, "sin": np.sin}
"""The weights of `quad` that have no singular point."""


def _nquad(result: Any, fun: Any, ranges: Any, args: Any) -> Any:
    made = [
        (lambda *outer, one=one: one(*outer, *args)) if callable(one) else one for one in ranges
    ]
    return {(0,): _integrated(lambda *xs: fun(*xs, *args), made)}


def _between(*pairs: Any) -> list[Any]:
    """Convert the ranges of `dblquad` and `tplquad` to those of `nquad`, innermost first."""
    made: list[Any] = []
    for count, (low, high) in enumerate(reversed(pairs)):
        depth = len(pairs) - 1 - count

        def one(*values: Any, low: Any = low, high: Any = high, depth: int = depth) -> Any:
            outer = values[:depth][::-1]
            return [end(*outer) if callable(end) else end for end in (low, high)]

        made.append(one if callable(low) or callable(high) else (low, high))
    return made


def _dblquad(
    result: Any, fun: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any,
    qfun: Any = None, rfun: Any = None,
) -> Any:  # fmt: skip
    pairs = [(a, b), (gfun, hfun), *([] if qfun is None else [(qfun, rfun)])]
    return {(0,): _integrated(lambda *xs: fun(*xs, *args), _between(*pairs))}


def _fixed_quad(result: Any, fun: Any, a: Any, b: Any, args: Any, n: Any) -> Any:
    points, weights = np.polynomial.legendre.leggauss(n)
    y = (b - a) * (points + 1) / 2 + a
    return {(0,): (b - a) / 2 * np.sum(weights * as_array(fun(y, *args)), axis=-1)}


def _first_two(native: dict[str, Any]) -> dict[str, Any]:
    """Ask SciPy for the intervals too, and show the caller the requested parts alone."""
    is_full = native.get("full_output")
    native["full_output"] = True
    if "workers" in native:  # the function cannot be sent to other processes
        native["workers"] = 1
    return {"shown": lambda result: result if is_full else result[:2]}


def _refuse_equal(name: str, a: Any, b: Any) -> None:
    """Refuse the derivative in limits that are equal: SciPy has no points between them."""
    if is_recorded([a, b]) and np.any(np.equal(plain(a), plain(b))):
        raise NoRuleError(
            f"{name} has no derivative in limits that are equal. "
            "Fix: scipy.integrate.quad or fixed_quad has one; or .detach() the limits."
        )


def _quad_vec(result: Any, fun: Any, a: Any, b: Any, args: Any, points: Any, name: Any) -> Any:
    _refuse_equal(name, a, b)
    if is_recorded(points):
        raise NoRuleError(
            f"{name} has no derivative with tracked points=. Fix: integrate the parts between them."
        )
    low, high = (np.reshape(as_array(end) * 1.0, (1,)) for end in (a, b))
    ends = np.array([plain(a), plain(b)])
    if np.all(np.isfinite(ends)):
        parts = (np.asarray(result[2].intervals) - ends[0]) / (ends[1] - ends[0])
    else:
        edges = np.linspace(0.0, 1.0, 17)
        parts = np.stack([edges[:-1], edges[1:]], axis=1)
    nodes, weights, _ = _rule(low, high, lambda *_: parts)
    native = quiet(fun)
    fixed = () if points is None else points
    start, end = ends.tolist()
    _refuse_singular(lambda x: native(x, *plain(args)), start, end, parts, fixed)
    values = _at_nodes(lambda x: as_array(fun(x, *args)), [nodes])
    return {(0,): np.tensordot(weights, values, 1)}


def _again(result: Any, again: Any, a: Any, b: Any, name: Any) -> Any:
    """Return the integral by the array-API path."""
    _refuse_equal(name, a, b)
    part = next(part for part in ("integral", "estimate") if hasattr(result, part))
    return {(part,): getattr(again(), part)}


def _cubature(result: Any, again: Any, fun: Any, a: Any, b: Any, args: Any, name: Any) -> Any:
    found = _again(result, again, a, b, name)
    low, high = np.broadcast_arrays(*(np.reshape(as_array(one) * 1.0, (-1,)) for one in (a, b)))
    _refuse_jumps_between(lambda *x: fun(np.stack(x)[None, :], *args), low, high)
    return found


def _tanhsinh(
    result: Any, again: Any, fun: Any, a: Any, b: Any, args: Any, log: Any, name: Any
) -> Any:
    """Return the integral; by the intervals of `quad` where nodes or weights are infinite."""
    low, high = (np.asarray(plain(one), dtype=float) for one in (a, b))
    are_finite = np.isfinite(low).all() and np.isfinite(high).all()
    if are_finite and not (log and is_recorded([a, b])):
        found = _again(result, again, a, b, name)
        shape = np.shape(result.integral)
        ends = [np.reshape(np.broadcast_to(as_array(one) * 1.0, shape), (-1,)) for one in (a, b)]
        _refuse_jumps_between(lambda *x: fun(np.reshape(np.stack(x), shape), *args), *ends)
        return found
    if np.size(result.integral) != 1 or low.item() >= high.item():
        raise NoRuleError(
            f"{name} with infinite limits, or with log=True and tracked limits, has a derivative "
            "for one pair of limits in rising order. Fix: scipy.integrate.quad for each integral."
        )
    made = _integrated(lambda x: np.exp(fun(x, *args)) if log else fun(x, *args), [(a, b)])
    return {("integral",): np.reshape(np.log(made) if log else made, np.shape(result.integral))}


TERMS = 64
"""The number of terms of a series before the Euler-Maclaurin formula."""


def _nsum(result: Any, fun: Any, name: Any, a: Any, b: Any, step: Any, args: Any) -> Any:
    """Sum the first terms, and the others by the Euler-Maclaurin formula, DLMF 2.10.1."""
    low, high, h = (np.asarray(plain(one), dtype=float) for one in (a, b, step))
    if is_recorded([a, b, step]) or low.ndim or high.ndim or h.ndim or not np.isfinite(low):
        raise NoRuleError(
            f"{name} has a derivative in what the terms depend on, for one series from a finite "
            "first term. Fix: .detach() its limits, and call it for each series."
        )

    def terms(x: Any) -> Any:
        return as_array(fun(x, *args))

    count: Any = np.floor((high - low) / h) + 1
    if count <= 2 * TERMS:
        return {("sum",): np.sum(terms(low + h * np.arange(count)))}
    ends = [low + h * TERMS, low + h * (count - 1)]
    total = np.sum(terms(low + h * np.arange(TERMS)))
    for end, sign in zip(ends, (1.0, -1.0), strict=True):
        if np.isfinite(end):
            slope, third = (differentiated(terms, np.asarray(end), nu) for nu in (1, 3))
            total = total + terms(end) / 2 - sign * (h * slope / 12 - h**3 * third / 720)
    nodes, weights = (np.asarray(values) for values in half_line())
    for end, sign in zip(ends, (1.0, -1.0), strict=True):  # from each end to infinity
        if np.isfinite(end):
            total = total + sign * np.sum(terms(end + end * nodes) * weights) * end / h
    return {("sum",): total}


def _copied_generator(native: dict[str, Any]) -> dict[str, Any]:
    """Make the generator of the points that SciPy would make, and copy it before it is used."""
    if native.get("qrng") is None:
        dim = np.size(native["a"])
        from scipy.stats import qmc  # slow to import

        native["qrng"] = qmc.Halton(dim, rng=np.random.default_rng())
    return {"generator": copy.deepcopy(native["qrng"])}


def _qmc_quad(
    result: Any, fun: Any, a: Any, b: Any, n_estimates: Any, n_points: Any, generator: Any
) -> Any:
    low, high = (np.reshape(as_array(one), (-1,)) for one in (a, b))
    volume = np.prod(high - low)
    turned = data_of(high) < data_of(low)  # SciPy exchanges such limits
    total: Any = 0.0
    for one in _spawned(generator, n_estimates):
        sample = one.random(n_points)
        sample = np.where(turned, 1.0 - sample, sample)
        x = low + sample * (high - low)
        total = total + volume * np.mean(as_array(fun(x.T)))
    _refuse_jumps_between(lambda *x: fun(np.stack(x)), low, high)
    return {(0,): total / n_estimates}


def _spawned(qrng: Any, count: int) -> Any:
    """Return the generators of SciPy's estimates: a new one for each after the first."""
    rngs = qrng.rng.spawn(count)
    return [qrng, *(type(qrng)(seed=rng, **qrng._init_quad) for rng in rngs[:-1])]


# Differential equations ---------------------------------------------------------------------------


def _with_recorder(native: dict[str, Any]) -> dict[str, Any]:
    """Let SciPy's method record its steps, and show it the attributes of the events."""
    method = native.get("method", "RK45")
    solver = METHODS.get(method, getattr(method, "scipys", method))
    if not isinstance(solver, type) or not issubclass(solver, scipy.integrate.OdeSolver):
        raise NoRuleError(
            "scipy.integrate.solve_ivp has no derivative with this method=. Fix: method='RK45'."
        )
    options = native.get("options", {})
    tolerance = options.get("rtol", 1e-3), options.get("atol", 1e-6)
    steps: list[Any] = []
    native["method"] = recorded_steps(solver, steps)
    for event in _listed(native.get("events")):
        for name in ("terminal", "direction"):
            if hasattr(event.__wrapped__, name):
                setattr(event, name, getattr(event.__wrapped__, name))
    return {"steps": steps, "solver": solver, "tolerance": tolerance}


def _listed(events: Any) -> list[Any]:
    """Return the events of `solve_ivp`, which may be one function or several."""
    return [events] if callable(events) else list(events or ())


def _solve_ivp(
    result: Any, fun: Any, t_span: Any, y0: Any, t_eval: Any, vectorized: Any, args: Any,
    dense_output: Any, events: Any, steps: Any, solver: Any, tolerance: Any,
) -> Any:  # fmt: skip
    def rate(t: Any, y: Any) -> Any:
        if vectorized:
            return np.reshape(np.copy(as_array(fun(t, y[:, None], *args))), (-1,))
        return np.copy(as_array(fun(t, y, *args)))  # it may return the same array again

    y = np.reshape(as_array(y0), (-1,))
    ends = (t_span[0], t_span[1])
    if solver in METHODS.values():
        way = Explicit if solver.__name__ in EXPLICIT else Implicit
        path = way(solver, rate, y, _times(steps, ends, result))
    else:
        refuse(
            f"scipy.integrate.solve_ivp(method={solver.__name__})",
            dense_output=dense_output, events=events,
        )  # fmt: skip
        path = _of_another(solver, rate, y, steps, ends, result, tolerance)
    parts, last = _at_events(path, _listed(events), args, result)
    if t_eval is None:
        targets = [ends[0], *result.t[1:-1], path.times[-1] if last is None else last]
    else:
        targets = [as_array(t_eval)[k] for k in range(len(result.t))]
    columns = [path(t) for t in targets]
    if not is_recorded([columns, parts]):
        return {}
    if dense_output:
        result["sol"] = States(result.sol, path)
    parts["y",] = np.stack(columns, axis=1)
    if t_eval is not None or last is not None:  # the other ends of steps are constants
        are_moving = is_recorded(targets)
        parts["t",] = np.stack([as_array(t) * 1.0 for t in targets]) if are_moving else result.t
    return parts


def _at_events(path: Any, events: Any, args: Any, result: Any) -> tuple[dict[Any, Any], Any]:
    """Return the times of the events and the states there, and the time of a terminal one.

    A time is a root of the event's function, and has the derivative of the implicit function
    theorem. A tracked value may also be in the event's function alone.
    """
    places = [(i, k) for i, found in enumerate(result.t_events or ()) for k in range(len(found))]
    if not places:
        return {}, None

    def residual(times: Any) -> Any:
        values = [events[i](times[n], path(times[n]), *args) for n, (i, _) in enumerate(places)]
        return np.stack([np.reshape(as_array(value), ()) for value in values])

    def solve(linear: Callable[[Any], Any], y: Any) -> Any:
        return y / linear(np.ones(len(places)))  # each value depends on its own time

    start = np.concatenate([np.asarray(found, dtype=float) for found in result.t_events])
    slopes = plain(jvp(residual, (start,), (np.ones(start.size),))[1])
    if np.any(slopes == 0.0):
        raise NoRuleError(
            "scipy.integrate.solve_ivp: an event's function has the slope zero at its time, which "
            "then has no derivative. Fix: an event whose function changes its sign."
        )
    times = custom_root(residual, start, lambda _f, t: t, solve)
    of: dict[Any, Any] = {place: times[n] for n, place in enumerate(places)}
    parts: dict[Any, Any] = {}
    for i in {i for i, _ in places}:
        own = [of[place] for place in places if place[0] == i]
        parts["t_events", i] = np.stack(own)
        parts["y_events", i] = np.stack([path(t) for t in own])
    is_last = [
        getattr(events[i], "terminal", None) and result.t_events[i][k] == start_at
        for start_at in [max(start) if path.is_forward else min(start)]
        for i, k in places
    ]
    return parts, of[places[is_last.index(True)]] if result.status == 1 else None


class States:
    """The states of `solve_ivp` at any time between its ends, with their derivatives."""

    def __init__(self, sol: Any, path: Any) -> None:
        self._sol = sol
        self._path = path

    def __call__(self, t: Any) -> Any:
        """Return the states at a time, or at several, as SciPy's object does."""
        times, (low, high) = as_array(t), sorted((self._sol.t_min, self._sol.t_max))
        points = data_of(times).reshape(-1)
        if np.any((points < low) | (points > high)):
            raise NoRuleError(
                "scipy.integrate.solve_ivp: .sol of its result has no derivative outside of "
                f"t_span. Fix: times between {low} and {high}."
            )
        flat = np.reshape(times, (-1,))
        found = np.stack([self._path(flat[k]) for k in range(points.size)], axis=1)
        parts = {(): np.reshape(found, (-1, *times.shape))}
        return attached("integrate.solve_ivp", self._sol(data_of(times)), parts)


def _times(steps: list[Any], ends: Any, result: Any) -> list[Any]:
    """Return the ends of the steps: plain data, except the first and last."""
    times: list[Any] = [one for one, _ in steps] + [steps[-1][1]]
    times[0] = ends[0]
    if result.status == 0:
        times[-1] = ends[1]
    return times


def _of_another(
    solver: Any, rate: Any, y: Any, steps: list[Any], ends: Any, result: Any, tolerance: Any
) -> Implicit:
    """Return the path of a solver that is not SciPy's, by Radau's method.

    Its steps are halved until the states agree with those of the solver within its tolerances.
    """
    rtol, atol = tolerance
    for _ in range(5):
        path = Implicit(solver, rate, y, _times(steps, ends, result))
        found = np.stack([data_of(path(t)) for t in result.t], axis=1)
        margin = np.reshape(atol, (-1, 1)) + rtol * np.abs(result.y)
        if np.all(np.abs(found - result.y) <= 10 * margin):
            return path
        steps = [part for a, b in steps for part in ((a, (a + b) / 2), ((a + b) / 2, b))]
    raise NoRuleError(
        f"scipy.integrate.solve_ivp: the states of {solver.__name__} are not those of Radau's "
        "method within rtol and atol, so their derivatives are not known. Fix: method='RK45', or "
        "'Radau'."
    )


def _odeint(
    result: Any,
    fun: Any,
    y0: Any,
    t: Any,
    args: Any,
    tfirst: Any,
    full_output: Any,
    rtol: Any,
    atol: Any,
) -> Any:
    """Return the states of an exact method, at the values that LSODA has found.

    These may differ by the errors that its tolerances allow.
    """
    found = result[0] if full_output else result
    usual = 1.49012e-8  # LSODA's
    rtol, atol = (usual if one is None else np.asarray(one) for one in (rtol, atol))
    native, points = quiet(fun), data_of(as_array(t))

    def rate(s: Any, y: Any) -> Any:
        found = as_array(fun(s, y, *args) if tfirst else fun(y, s, *args))
        return np.copy(found)  # it may return the same array again

    def plain_rate(s: Any, y: Any) -> Any:
        return native(s, y, *plain(args)) if tfirst else native(y, s, *plain(args))

    y, times = np.reshape(as_array(y0) * 1.0, (-1,)), as_array(t)
    columns = [y]
    state = np.reshape(np.asarray(plain(as_array(y0)), dtype=float), (-1,))
    for k in range(1, len(points)):
        length = times[k] - times[k - 1]
        steps: list[Any] = []
        scipys("integrate.solve_ivp")(
            plain_rate, points[k - 1 : k + 1], state, rtol=1e-9, atol=1e-11, max_step=np.inf,
            method=recorded_steps(METHODS["DOP853"], steps),
        )  # fmt: skip
        state = np.asarray(found[k]).reshape(-1)
        f = rate(times[k - 1], y)
        span = points[k] - points[k - 1]
        for low, high in steps:  # parts of the interval, with ends that may be tracked
            h = length * ((high - low) / span)
            at = times[k - 1] + length * ((low - points[k - 1]) / span)
            before = plain(at), y
            with Answers() as answers:
                y, f, _ = stages(METHODS["DOP853"], rate, at, y, f, h)
            refuse_jump_in_step(answers, rate, before, (plain(at + h), y))
        columns.append(y)
        gap = np.asarray(found[k]).reshape(-1) - data_of(y)
        if np.all(np.abs(gap) <= 10.0 * (atol + rtol * np.abs(data_of(y)))):
            columns[-1] = y + gap
        elif np.max(np.abs(gap)) > 1e-4 * np.max(np.abs(found)):
            raise NoRuleError(
                f"scipy.integrate.odeint: the states are off by {np.max(np.abs(gap)):.2g} from "
                "the solution of the equation, more than rtol and atol allow, so their derivatives "
                "are not known. Fix: smaller rtol and atol, such as their defaults."
            )
    return {(0,) if full_output else (): np.stack(columns)}


def _refined(x: Any, nodes: Any) -> Any:
    """Return the points of a refined mesh, which move with those of the given one."""
    mesh = data_of(as_array(x))
    place = np.clip(np.searchsorted(mesh, nodes, "right") - 1, 0, mesh.size - 2)
    part = (nodes - mesh[place]) / (mesh[place + 1] - mesh[place])
    return x[place] * (1.0 - part) + x[place + 1] * part


def _solve_bvp(result: Any, fun: Any, name: Any, bc: Any, x: Any, p: Any, S: Any) -> Any:
    points = _refined(x, result.x) if is_recorded(x) else result.x
    shape = result.y.shape
    h, count = np.diff(points), result.y.size
    start = result.y.reshape(-1) if p is None else np.concatenate([result.y.reshape(-1), result.p])

    def parts(v: Any) -> tuple[Any, tuple[Any, ...]]:
        return np.reshape(v[:count], shape), () if p is None else (v[count:],)

    def residual(v: Any) -> Any:
        """Return the residuals of Lobatto collocation of order 4 and of the boundary conditions."""
        state, more = parts(v)
        f = as_array(fun(points, state, *more))
        middle = (state[:, 1:] + state[:, :-1]) / 2 - h * (f[:, 1:] - f[:, :-1]) / 8
        f_middle = as_array(fun(points[:-1] + h / 2, middle, *more))
        steps = state[:, 1:] - state[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * f_middle)
        ends = as_array(bc(state[:, 0], state[:, -1], *more))
        return np.concatenate([np.reshape(steps, (-1,)), np.reshape(ends, (-1,))])

    found = solution(residual, start, name, is_unique=True)
    if not is_recorded(found):
        return {}
    refuse(name, S=S)
    state, more = parts(found)
    slopes = as_array(fun(points, state, *more))
    spline = dispatcher("interpolate.CubicHermiteSpline")(points, state, slopes, axis=1)
    result["sol"] = OfOrder(f"{name.removeprefix('scipy.')}.sol", spline, result.sol, 0)
    parts_of_result = {("x",): points, ("y",): state, ("yp",): slopes}
    return parts_of_result | ({("p",): more[0]} if more else {})


def _solved(name: str, parts: Any, note: str = "", **options: Any) -> Row:
    return Row(f"integrate.{name}", Solved(parts, **options), note=note)


def _with_list(name: str, parts: Any, note: str = "", **options: Any) -> Row:
    return Row(f"integrate.{name}", SolvedWithList(parts, **options), note=note)


ROWS = [
    formula("integrate.trapezoid", _trapezoid, "y x dx"),
    formula("integrate.cumulative_trapezoid", _cumulative_trapezoid, "y x dx initial"),
    formula("integrate.simpson", _simpson, "y x dx"),
    formula("integrate.cumulative_simpson", _cumulative_simpson, "y x dx initial"),
    formula("integrate.romb", _romb, "y dx", neutral="show"),
    _solved("quad", _quad),
    _solved("dblquad", _dblquad),
    _solved("tplquad", _dblquad),
    _with_list("nquad", _nquad, refused="opts full_output"),
    _with_list("fixed_quad", _fixed_quad),
    _solved("quad_vec", _quad_vec, prepare=_first_two),
    _with_list("tanhsinh", _tanhsinh),
    _with_list("cubature", _cubature),
    _solved("qmc_quad", _qmc_quad, refused="log", prepare=_copied_generator),
    _with_list(
        "solve_ivp",
        _solve_ivp,
        "by the accepted steps, which are constants; implicit methods by collocation at them; the "
        "times of events by the implicit function theorem",
        prepare=_with_recorder,
    ),
    Row(
        "integrate.ode",
        Class(stepping),
        note="by steps of DOP853, or for backward differentiation by collocation",
    ),
    *(Row(f"integrate.{name}", Class(stepped_by_hand), note="by its steps") for name in METHODS),
    _solved("odeint", _odeint),
    _solved("solve_bvp", _solve_bvp, "by the collocation at SciPy's points"),
    Row("integrate.newton_cotes", Constant("weights")),
    Row("integrate.lebedev_rule", Constant("points and weights")),
    _with_list("nsum", _nsum, refused="log"),
]


register(ROWS)
