"""The rows of `scipy.ndimage`."""

from __future__ import annotations

import functools
import math
import operator
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from gradwrap.core.levels.wrapper import holds_batch
from gradwrap.errors import NoRuleError
from gradwrap.scipy.dispatching import Constant, Refused
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import AxisLinear, formula
from gradwrap.scipy.rules.convolving import FEW, convolved
from gradwrap.scipy.rules.extending import extended, neighbours
from gradwrap.scipy.rules.matrices import native_of
from gradwrap.scipy.rules.splines import at_points
from gradwrap.scipy.solving import as_array, data_of
from gradwrap.scipy.table import Row, register

special: Any = import_module("scipy.special")


def _each(value: Any, count: int) -> list[Any]:
    """Expand an option to a list with one value for each axis."""
    is_one = isinstance(value, str) or np.ndim(value) == 0
    return [value] * count if is_one else [value[i] for i in range(count)]


def _axes(axes: Any, ndim: int) -> list[int]:
    if axes is None:
        return list(range(ndim))
    return [axis % ndim for axis in (axes if np.iterable(axes) else [axes])]


# Filters along one axis ---------------------------------------------------------------------------


def _correlated(x: Any, weights: Any, axis: int, mode: str, cval: Any, origin: int) -> Any:
    length = len(weights)
    if x.size * length <= FEW or holds_batch([x, weights]):
        return neighbours(x, length, length // 2 + origin, mode, cval, axis) @ weights
    return _weighted(x, weights, mode, cval, origin, [axis % x.ndim])


def _conjugate(weights: Any) -> Any:
    """Return the weights by which SciPy's correlations multiply."""
    return np.conj(weights) if np.iscomplexobj(weights) else weights


def _correlate1d(input: Any, weights: Any, axis: Any, o: Any) -> Any:
    return _correlated(input, _conjugate(weights), axis, o.mode, o.cval, o.origin)


def _turned(origin: int, length: int) -> int:
    """Return the origin of the reversed kernel."""
    return -origin - 1 if length % 2 == 0 else -origin


def _convolve1d(input: Any, weights: Any, axis: Any, o: Any) -> Any:
    origin = _turned(o.origin, len(weights))
    return _correlated(input, weights[::-1], axis, o.mode, o.cval, origin)


def _kernel(sigma: Any, order: int, truncate: Any, radius: Any) -> Any:
    """Return the Gaussian kernel, or its derivative: a polynomial times the Gaussian."""
    if radius is None:
        radius = int(float(native_of(truncate)) * float(native_of(sigma)) + 0.5)
    x = np.arange(-radius, radius + 1)
    phi = np.exp(-0.5 / (sigma * sigma) * x**2)
    phi = phi / np.sum(phi)
    previous: Any = np.zeros(len(x))
    polynomial: Any = np.ones(len(x))
    for k in range(order):  # Hermite polynomials, by their recurrence
        following = -(x * polynomial + k * previous) / (sigma * sigma)
        previous, polynomial = polynomial, following
    return polynomial * phi


def _gaussian1d(input: Any, sigma: Any, axis: Any, order: Any, o: Any) -> Any:
    kernel = _kernel(sigma, order, o.truncate, o.radius)
    return _correlated(input, kernel[::-1], axis, o.mode, o.cval, 0)


def _along(input: Any, axes: Any, values: Any, one: Any) -> Any:
    """Apply a filter along one axis after the other, each with its own values of the options."""
    chosen = _axes(axes, input.ndim)
    for axis, *own in zip(chosen, *(_each(value, len(chosen)) for value in values), strict=True):
        input = one(input, axis, *own)
    return input


def _gaussian(input: Any, sigma: Any, order: Any, o: Any) -> Any:
    def one(x: Any, axis: int, s: Any, k: Any, mode: Any, radius: Any) -> Any:
        if float(native_of(s)) <= 1e-15:
            return x
        kernel = _kernel(s, k, o.truncate, radius)
        return _correlated(x, kernel[::-1], axis, mode, o.cval, 0)

    return _along(input, o.axes, (sigma, order, o.mode, o.radius), one)


def _gaussian_slope(
    input: Any, sigma: Any, order: int, axis: int, axes: Any, mode: Any, o: Any
) -> Any:
    """Smooth along some axes, and take the derivative of an order along one of them."""
    words = SimpleNamespace(
        truncate=o.kwargs.get("truncate", 4.0), radius=o.kwargs.get("radius"), mode=mode,
        cval=o.cval, axes=axes,
    )  # fmt: skip
    return _gaussian(input, sigma, [order * (one == axis) for one in axes], words)


def _gaussian_laplace(input: Any, sigma: Any, o: Any) -> Any:
    axes = _axes(o.axes, input.ndim)
    return _total(_gaussian_slope(input, sigma, 2, axis, axes, o.mode, o) for axis in axes)


def _gaussian_gradient(input: Any, sigma: Any, o: Any) -> Any:
    every = list(range(input.ndim))  # SciPy smooths along all axes, and takes slopes along some
    axes = _axes(o.axes, input.ndim)
    pairs = zip(axes, _each(o.mode, len(axes)), strict=True)
    slopes = [_gaussian_slope(input, sigma, 1, axis, every, mode, o) for axis, mode in pairs]
    return np.sqrt(_total(slope * slope for slope in slopes))


def _total(parts: Any) -> Any:
    return functools.reduce(operator.add, parts)


def _laplace(input: Any, o: Any) -> Any:
    weights, axes = np.array([1.0, -2.0, 1.0]), _axes(o.axes, input.ndim)
    pairs = zip(axes, _each(o.mode, len(axes)), strict=True)
    return _total(_correlated(input, weights, axis, mode, o.cval, 0) for axis, mode in pairs)


def _slope(side: list[float]) -> Any:
    """Return the filter that takes the slope along one axis and smooths along the others."""

    def formula(input: Any, axis: Any, o: Any) -> Any:
        def one(x: Any, at: int, mode: Any) -> Any:
            weights = np.array([-1.0, 0.0, 1.0] if at == axis % x.ndim else side)
            return _correlated(x, weights, at, mode, o.cval, 0)

        return _along(input, None, (o.mode,), one)

    return formula


def _uniform1d(input: Any, size: Any, axis: Any, o: Any) -> Any:
    return _correlated(input, np.full(size, 1 / size), axis, o.mode, o.cval, o.origin)


def _uniform(input: Any, size: Any, o: Any) -> Any:
    def one(x: Any, axis: int, n: int, mode: Any, origin: Any) -> Any:
        return _correlated(x, np.full(n, 1 / n), axis, mode, o.cval, origin) if n > 1 else x

    return _along(input, o.axes, (size, o.mode, o.origin), one)


# Filters of neighbourhoods ------------------------------------------------------------------------


def _around(x: Any, shape: Any, mode: Any, cval: Any, origin: Any, axes: list[int]) -> Any:
    """Gather the neighbourhood of each element in a new last axis."""
    count = x.ndim

    def one(x: Any, axis: int, length: int, mode: Any, origin: Any) -> Any:
        return neighbours(x, length, length // 2 + origin, mode, cval, axis)

    made = _along(x, axes, (shape, mode, origin), one)
    return np.reshape(made, (*made.shape[:count], -1))


def _weighted(x: Any, weights: Any, mode: Any, cval: Any, origin: Any, axes: list[int]) -> Any:
    """Sum the neighbourhood of each element with weights."""
    if x.size * weights.size <= FEW or holds_batch([x, weights]):
        around = _around(x, weights.shape, mode, cval, origin, axes)
        return around @ np.reshape(weights, (-1,))

    def one(x: Any, axis: int, length: int, mode: Any, origin: Any) -> Any:
        before = length // 2 + origin
        return extended(x, before, length - 1 - before, mode, cval, axis)

    shape = [1] * x.ndim
    for axis, length in zip(axes, weights.shape, strict=True):
        shape[axis] = length
    turned = np.reshape(weights[(slice(None, None, -1),) * weights.ndim], shape)
    longer = _along(x, axes, (weights.shape, mode, origin), one)
    return convolved(longer, turned, "valid", list(range(x.ndim)), "direct")


def _in_order(axes: Any, origin: Any, ndim: int) -> tuple[list[int], list[int]]:
    """Sort the axes of the weights, and the origins with them."""
    chosen = _axes(axes, ndim)
    pairs = sorted(zip(chosen, _each(origin, len(chosen)), strict=True))
    return [axis for axis, _ in pairs], [one for _, one in pairs]


def _correlate(input: Any, weights: Any, o: Any) -> Any:
    axes, origins = _in_order(o.axes, o.origin, input.ndim)
    return _weighted(input, _conjugate(weights), o.mode, o.cval, origins, axes)


def _convolve(input: Any, weights: Any, o: Any) -> Any:
    axes, origins = _in_order(o.axes, o.origin, input.ndim)
    turned = [_turned(origin, n) for origin, n in zip(origins, weights.shape, strict=True)]
    reversed_ = weights[(slice(None, None, -1),) * weights.ndim]
    return _weighted(input, reversed_, o.mode, o.cval, turned, axes)


def _members(input: Any, o: Any) -> Any:
    """Gather the elements of each neighbourhood that the size or the footprint names."""
    if o.footprint is None:
        axes = _axes(o.axes, input.ndim)
        return _around(input, _each(o.size, len(axes)), o.mode, o.cval, o.origin, axes)
    footprint = np.asarray(o.footprint, dtype=bool)
    axes, origins = _in_order(o.axes, o.origin, input.ndim)
    around = _around(input, footprint.shape, o.mode, o.cval, origins, axes)
    return around[..., np.flatnonzero(footprint)]


def _extreme(take: Any) -> Any:
    return lambda input, o: take(_members(input, o), axis=-1)


def _extreme1d(take: Any) -> Any:
    return lambda input, size, axis, o: take(
        _around(input, [size], o.mode, o.cval, o.origin, [axis % input.ndim]), axis=-1
    )


def _rank(input: Any, rank: Any, o: Any) -> Any:
    return np.sort(_members(input, o), axis=-1)[..., rank]


def _median(input: Any, o: Any) -> Any:
    around = _members(input, o)
    return np.sort(around, axis=-1)[..., around.shape[-1] // 2]


def _percentile(input: Any, percentile: Any, o: Any) -> Any:
    around = _members(input, o)
    count = around.shape[-1]
    percentile = percentile + 100.0 if percentile < 0 else percentile
    rank = count - 1 if percentile == 100.0 else int(float(count) * percentile / 100.0)
    return np.sort(around, axis=-1)[..., rank]


def _generic(input: Any, function: Any, extra_arguments: Any, extra_keywords: Any, o: Any) -> Any:
    """Call a function of the caller's with the elements of each neighbourhood."""
    around = _members(input, o)
    rows = np.reshape(around, (-1, around.shape[-1]))
    made = [as_array(function(row, *extra_arguments, **(extra_keywords or {}))) for row in rows]
    return np.reshape(np.stack(made), input.shape)


def _structured(input: Any, structure: Any, o: Any, sign: int) -> Any:
    """Return the extreme of each neighbourhood plus the structure, which dilation reflects."""
    axes, origins = _in_order(o.axes, o.origin, input.ndim)
    footprint = o.footprint
    if footprint is None and structure is None:
        axes = _axes(o.axes, input.ndim)
        origins = _each(o.origin, len(axes))
        footprint = np.ones(_each(o.size, len(axes)), bool)
    elif footprint is None:
        footprint = np.ones(structure.shape, bool)
    footprint = np.asarray(footprint, bool)
    if sign > 0:
        turn = (slice(None, None, -1),) * footprint.ndim
        origins = [_turned(origin, n) for origin, n in zip(origins, footprint.shape, strict=True)]
        footprint = footprint[turn]
        structure = None if structure is None else structure[turn]
    around = _around(input, footprint.shape, o.mode, o.cval, origins, axes)
    if structure is not None:
        around = around + sign * np.reshape(structure, (-1,))
    around = around[..., np.flatnonzero(footprint)]
    return np.max(around, axis=-1) if sign > 0 else np.min(around, axis=-1)


def _grey(combine: Any) -> Any:
    """Return a formula that combines erosions and dilations with the same options."""
    return lambda input, structure, o: combine(
        input, lambda x: _structured(x, structure, o, -1), lambda x: _structured(x, structure, o, 1)
    )


# Splines ------------------------------------------------------------------------------------------


def _spline_filter(input: Any, order: Any, mode: Any) -> Any:
    if order > 1:
        for axis in range(input.ndim):
            input = dispatcher("ndimage.spline_filter1d")(input, order, axis=axis, mode=mode)
    return input


def _basis(distance: Any, order: int, nu: int, from_left: Any = False) -> Any:
    """Evaluate a derivative of the symmetric B-spline of an order by truncated powers.

    Where the derivative jumps, as the slope of order 1 does at each element, it is that from the
    right, or from the left.
    """
    if order == 0:
        return np.where(np.abs(distance) <= 0.5, float(not nu), 0.0)
    if nu > order:
        return np.zeros(distance.shape)
    base = distance + (order + 1) / 2 - np.arange(order + 2)[:, *(None,) * distance.ndim]
    ahead, degree = (base > 0) | ((base == 0) & np.logical_not(from_left)), order - nu
    powers = np.where(ahead, base, 0.0) ** degree if degree else np.where(ahead, 1.0, 0.0)
    return np.einsum("k,k...->...", np.array(_differences(order, degree)), powers)


@functools.cache
def _differences(order: int, degree: int) -> tuple[float, ...]:
    """Return the factors of the truncated powers of a degree in a B-spline of an order."""
    signs = [(-1) ** k * math.comb(order + 1, k) for k in range(order + 2)]
    return tuple(sign / math.factorial(degree) for sign in signs)


def _folded(x: Any, n: int, mode: str) -> tuple[Any, Any, Any]:
    """Map coordinates into the range of an axis.

    Return them, their slopes, which are 1 or -1, and the mask of those left outside.
    """
    inside, ahead = np.zeros(x.shape, bool), np.ones(x.shape)
    if n == 1 and mode in ("mirror", "reflect", "wrap"):
        mode, x, ahead = "", 0.0 * x, 0.0 * ahead
    if mode == "constant":
        return x, ahead, (x < 0) | (x > n - 1)
    if mode == "mirror":
        period = 2 * (n - 1)
        x = x - period * np.trunc(x / period)
        back = x < 0
        x = np.abs(x)
        turned = x >= n
        return np.where(turned, period - x, x), np.where(back != turned, -1.0, 1.0), inside
    if mode == "reflect":
        period = 2 * n
        x = x - period * np.floor((x + 0.5) / period)
        turned = x > n - 0.5
        return np.where(turned, period - 1 - x, x), np.where(turned, -1.0, 1.0), inside
    if mode == "grid-wrap":
        return x - n * np.floor(x / n), ahead, inside
    if mode == "wrap":  # period from end to end; the ends themselves stay unchanged
        turns = np.where(x < 0, -np.trunc(-x / (n - 1)) - 1, np.trunc(x / (n - 1)))
        return x - (n - 1) * np.where((x >= 0) & (x <= n - 1), 0, turns), ahead, inside
    return x, ahead, inside


def _tap(at: Any, n: int, mode: str) -> tuple[Any, Any]:
    """Map indices beyond the ends to coefficients; return them and the mask of blank ones."""
    none = np.zeros(at.shape, bool)
    if mode == "grid-wrap":
        return at % n, none
    if mode == "reflect":
        at = at % (2 * n)
        return np.where(at >= n, 2 * n - 1 - at, at), none
    if mode == "grid-constant":
        return np.clip(at, 0, n - 1), (at < 0) | (at >= n)
    if mode == "nearest":
        return np.clip(at, 0, n - 1), none
    if n == 1:
        return at * 0, none
    at = at % (2 * (n - 1))
    return np.where(at > n - 1, 2 * (n - 1) - at, at), none


class _Grid(NamedTuple):
    """The spline through the elements of an array, beyond its ends as a mode says.

    The last coefficient is the constant that replaces coefficients and points beyond the ends.
    """

    sizes: tuple[int, ...]
    order: int
    mode: str

    @property
    def size(self) -> int:
        """Return the number of coefficients."""
        return math.prod(self.sizes) + 1

    def taps(self, points: Any, nus: Any) -> tuple[Any, list[Any]]:
        """Return the places of the coefficients of each point, and their weights."""
        count = points.shape[1]
        outside = blank = np.zeros((1, count), bool)
        places, weights = np.zeros((1, count), int), [np.ones((1, count)) for _ in nus]
        orders = [list(each) for each in zip(*nus, strict=True)]
        for x, n, each in zip(points, self.sizes, orders, strict=True):
            folded, ahead, is_outside = _folded(x, n, self.mode)
            outside = outside | is_outside
            low = np.floor(folded if self.order % 2 else folded + 0.5).astype(int)
            # beyond the last element, the function jumps
            is_end = (folded == n - 1) & (self.mode in ("constant", "wrap") and self.order % 2 > 0)
            low = np.where(is_end & (n > 1), n - 2, low)
            taps = low - self.order // 2 + np.arange(self.order + 1)[:, None]
            at, none = _tap(taps, n, self.mode)
            own = {k: _basis(folded - taps, self.order, k, is_end) * ahead**k for k in {*each}}
            places = np.reshape(places[:, None] * n + at, (-1, count))
            blank = np.reshape(blank[:, None] | none, (-1, count))
            weights = [
                np.reshape(one[:, None] * own[k], (-1, count))
                for one, k in zip(weights, each, strict=True)
            ]
        places = np.where(blank, self.size - 1, places)
        if np.any(outside):
            places[:, outside[0]] = self.size - 1
            for one, nu in zip(weights, nus, strict=True):
                one[:, outside[0]] = 0.0 if any(nu) else 1.0 / len(one)
        return places, weights


PADDING = 12


def _mapped(input: Any, coordinates: list[Any], o: Any) -> Any:
    """Evaluate the spline through the elements of an array at the coordinates."""
    mode, pad = "reflect" if o.mode == "grid-mirror" else o.mode, 0
    if o.prefilter and o.order > 1:
        if mode in ("nearest", "grid-constant"):
            pad = PADDING
            for axis in range(input.ndim):
                input = extended(input, pad, pad, mode, o.cval, axis)
        input = _spline_filter(input, o.order, mode)
    c = np.concatenate([np.reshape(input, (-1,)), np.reshape(o.cval, (1,))])
    points = np.stack(coordinates) + pad
    flat = np.reshape(points, (input.ndim, -1))
    made = at_points(c, flat, _Grid(input.shape, o.order, mode), [(0,) * input.ndim])
    return np.reshape(made, points.shape[1:])


def _grid(shape: Any) -> list[Any]:
    return [axis.astype(float) for axis in np.indices(shape)]


def _map_coordinates(input: Any, coordinates: Any, o: Any) -> Any:
    return _mapped(input, [coordinates[i] for i in range(input.ndim)], o)


def _shift(input: Any, shift: Any, o: Any) -> Any:
    shifts = _each(shift, input.ndim)
    moved = [x - s for x, s in zip(_grid(input.shape), shifts, strict=True)]
    return _mapped(input, moved, o)


def _zoom(input: Any, grid_mode: Any, out: Any, o: Any) -> Any:
    shape = out.shape
    if shape == input.shape and o.prefilter:
        return input
    points: list[Any] = []
    for x, m, n in zip(_grid(shape), shape, input.shape, strict=True):
        if grid_mode:
            points.append((x + 0.5) * (n / m) - 0.5)
        else:
            points.append(x * ((n - 1) / (m - 1) if m > 1 else 1.0))
    return _mapped(input, points, o)


def _affine(input: Any, matrix: Any, offset: Any, output_shape: Any, o: Any) -> Any:
    n = input.ndim
    if matrix.ndim == 2 and matrix.shape[1] == n + 1:
        matrix, offset = matrix[:n, :n], matrix[:n, n]
    shape = input.shape if output_shape is None else tuple(output_shape)
    grid = _grid(shape)
    offsets = _each(offset, n)
    points: list[Any] = []
    for i in range(n):
        if matrix.ndim == 1:
            points.append(matrix[i] * grid[i] + offsets[i])
        else:
            # in SciPy's order, so that ties are rounded alike
            points.append(sum((matrix[i, j] * grid[j] for j in range(len(shape))), offsets[i]))
    return _mapped(input, points, o)


def _rotate(input: Any, angle: Any, axes: Any, out: Any, o: Any) -> Any:
    pair = tuple(sorted(axis % input.ndim for axis in axes))
    c, s = special.cosdg(angle), special.sindg(angle)
    rows = [[c, s], [-s, c]]
    grid = _grid(out.shape)
    points = list(grid)
    for i, axis in enumerate(pair):
        ends = (rows[i][j] * ((out.shape[other] - 1) / 2) for j, other in enumerate(pair))
        centre = (input.shape[axis] - 1) / 2 - sum(ends)
        # in SciPy's order, as above
        points[axis] = sum((rows[i][j] * grid[other] for j, other in enumerate(pair)), centre)
    if input.ndim == 2:
        return _mapped(input, points, o)
    # each plane by itself
    moved = np.moveaxis(input, pair, (-2, -1))
    planes = np.reshape(moved, (-1, *moved.shape[-2:]))
    key = tuple(slice(None) if axis in pair else 0 for axis in range(input.ndim))
    in_plane = [points[axis][key] for axis in pair]
    mapped = [_mapped(plane, in_plane, o) for plane in planes]
    made = np.reshape(np.stack(mapped), (*moved.shape[:-2], *in_plane[0].shape))
    return np.moveaxis(made, (-2, -1), pair)


# Measurements -------------------------------------------------------------------------------------


def _measured(measure: Any) -> Any:
    """Return a formula that measures each requested label."""

    def formula(input: Any, labels: Any, index: Any) -> Any:
        flat = np.reshape(input, (-1,))
        if labels is None:
            return measure(flat)
        labels = np.broadcast_to(np.asarray(labels), input.shape).reshape(-1)
        if index is None:
            return measure(flat[np.flatnonzero(labels > 0)])
        places = [np.flatnonzero(labels == i) for i in np.ravel(index)]
        parts = [measure(flat[at]) if at.size else np.zeros(()) for at in places]
        return np.reshape(np.stack(parts), np.shape(index))

    return formula


def _comprehended(
    input: Any, labels: Any, index: Any, func: Any, default: Any, pass_positions: bool
) -> Any:
    """Call the function with the elements of each label, and with their places if it wants them."""
    flat = np.reshape(input, (-1,))

    def measured(at: Any) -> Any:
        return func(flat[at], at) if pass_positions else func(flat[at])

    if labels is None:
        return measured(np.arange(flat.shape[0]))
    labels = np.broadcast_to(np.asarray(labels), input.shape).reshape(-1)
    if index is None:
        return measured(np.flatnonzero(labels > 0))
    places = [np.flatnonzero(labels == i) for i in np.ravel(index)]
    parts = [measured(at) if at.size else default for at in places]
    return np.reshape(np.stack(list(map(as_array, parts))), np.shape(index))


def _centre(input: Any, labels: Any, index: Any) -> Any:
    grid = _grid(input.shape)

    def centre(mask: Any) -> Any:
        total = np.sum(input * mask)
        return tuple(np.sum(input * mask * x) / total for x in grid)

    if labels is None:
        return centre(np.ones(input.shape))
    labels = np.asarray(labels)
    if index is None:
        return centre(labels > 0)
    parts = [centre(labels == i) for i in np.ravel(index)]
    return parts if np.ndim(index) else parts[0]


def _fourier(name: str, word: str, factor: Any) -> Row:
    """Return the row of a filter of a Fourier transform: it multiplies along each axis."""

    def formula_(input: Any, o: Any) -> Any:
        if o.n == 0:
            raise NoRuleError("a transform of no elements has no derivative. Fix: n=-1, or n > 0.")
        values = _each(getattr(o, word), input.ndim)
        for k, length in enumerate(input.shape):
            is_real = o.axis % input.ndim == k and o.n > 0
            full = o.n if is_real else length
            steps = np.arange(length) if is_real else np.round(np.fft.fftfreq(length) * length)
            shape = [1] * input.ndim
            shape[k] = length
            input = input * np.reshape(factor(np.pi * steps / full * values[k]), shape)
        return input

    path, options = f"ndimage.fourier_{name}", f"{word} n axis"
    return formula(path, formula_, f"input {word}", options, neutral="output")


def _sinc(x: Any) -> Any:
    zero = data_of(x) == 0
    return np.where(zero, 1.0, np.sin(x) / np.where(zero, 1.0, x))


GREY: dict[str, Any] = {
    "grey_erosion": lambda x, erode, dilate: erode(x),
    "grey_dilation": lambda x, erode, dilate: dilate(x),
    "grey_opening": lambda x, erode, dilate: dilate(erode(x)),
    "grey_closing": lambda x, erode, dilate: erode(dilate(x)),
    "white_tophat": lambda x, erode, dilate: x - dilate(erode(x)),
    "black_tophat": lambda x, erode, dilate: erode(dilate(x)) - x,
    "morphological_gradient": lambda x, erode, dilate: dilate(x) - erode(x),
    "morphological_laplace": lambda x, erode, dilate: dilate(x) + erode(x) - 2 * x,
}


def _rows(
    names: str, function: Any, arrays: str = "input cval", options: str = "mode cval origin axes"
) -> list[Row]:
    return [
        formula(f"ndimage.{name}", function, arrays, options, neutral="output reshape")
        for name in names.split()
    ]


ONE_AXIS = "mode cval origin"
MEMBERS = "size footprint mode cval origin axes"
SPLINE = "order mode cval prefilter"
GAUSSIAN = "mode cval axes kwargs"
FILTERS = [
    *_rows("correlate1d", _correlate1d, "input weights cval", ONE_AXIS),
    *_rows("convolve1d", _convolve1d, "input weights cval", ONE_AXIS),
    *_rows("gaussian_filter1d", _gaussian1d, "input sigma cval", "mode cval truncate radius"),
    *_rows("gaussian_filter", _gaussian, "input sigma cval", "mode cval truncate radius axes"),
    *_rows("gaussian_laplace", _gaussian_laplace, "input sigma cval", GAUSSIAN),
    *_rows("gaussian_gradient_magnitude", _gaussian_gradient, "input sigma cval", GAUSSIAN),
    *_rows("laplace", _laplace, options="mode cval axes"),
    *_rows("sobel", _slope([1.0, 2.0, 1.0]), options="mode cval"),
    *_rows("prewitt", _slope([1.0, 1.0, 1.0]), options="mode cval"),
    *_rows("uniform_filter1d", _uniform1d, options=ONE_AXIS),
    *_rows("uniform_filter", _uniform),
    *_rows("correlate", _correlate, "input weights cval"),
    *_rows("convolve", _convolve, "input weights cval"),
    *_rows("maximum_filter", _extreme(np.max), options=MEMBERS),
    *_rows("minimum_filter", _extreme(np.min), options=MEMBERS),
    *_rows("maximum_filter1d", _extreme1d(np.max), options=ONE_AXIS),
    *_rows("minimum_filter1d", _extreme1d(np.min), options=ONE_AXIS),
    *_rows("median_filter", _median, options=MEMBERS),
    *_rows("rank_filter", _rank, options=MEMBERS),
    *_rows("percentile_filter", _percentile, options=MEMBERS),
    *_rows("generic_filter", _generic, options=MEMBERS),
    *(
        row
        for name, combine in GREY.items()
        for row in _rows(name, _grey(combine), "input structure cval", MEMBERS)
    ),
    _fourier("gaussian", "sigma", lambda x: np.exp(-2 * x**2)),
    _fourier("shift", "shift", lambda x: np.exp(np.asarray(-2j) * x)),
    _fourier("uniform", "size", _sinc),
]
INTERPOLATION = [
    Row("ndimage.spline_filter1d", AxisLinear("input"), arrays="input"),
    formula("ndimage.spline_filter", _spline_filter, "input", neutral="output"),
    *_rows("map_coordinates", _map_coordinates, "input coordinates cval", SPLINE),
    *_rows("shift", _shift, "input shift cval", SPLINE),
    *_rows("zoom", _zoom, "input zoom cval", SPLINE),
    *_rows("affine_transform", _affine, "input matrix offset cval", SPLINE),
    *_rows("rotate", _rotate, "input angle cval", SPLINE),
]

MEASUREMENTS = [
    *(
        formula(f"ndimage.{name}", _measured(measure), "input")
        for name, measure in (
            *(("sum_labels", np.sum), ("sum", np.sum), ("mean", np.mean), ("variance", np.var)),
            *(("standard_deviation", np.std), ("maximum", np.max), ("minimum", np.min)),
            ("median", np.median),
        )
    ),
    formula("ndimage.center_of_mass", _centre, "input"),
    formula("ndimage.labeled_comprehension", _comprehended, "input default", neutral="out_dtype"),
    formula(
        "ndimage.extrema",
        lambda input, labels, index: (
            _measured(np.min)(input, labels, index),
            _measured(np.max)(input, labels, index),
        ),
        "input",
    ),
]
NONE = [
    *(
        Row(f"ndimage.{name}", Constant("labels, places, counts or masks"))
        for name in (
            *("binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes"),
            *("binary_hit_or_miss", "binary_opening", "binary_propagation", "find_objects"),
            *("generate_binary_structure", "histogram", "iterate_structure", "label"),
            *("maximum_position", "minimum_position", "value_indices", "watershed_ift"),
            *("distance_transform_bf", "distance_transform_cdt"),
        )
    ),
    Row(
        "ndimage.distance_transform_edt",
        Constant("distances to the zeros of a mask"),
        arrays="input",
    ),
    *(
        Row(
            f"ndimage.{name}",
            Refused(
                "a function of the caller's is run by compiled code. Fix: write it with NumPy, "
                "on numpy.lib.stride_tricks.sliding_window_view."
            ),
        )
        for name in (
            *("generic_filter1d", "generic_gradient_magnitude"),
            *("generic_laplace", "geometric_transform"),
            "vectorized_filter",
        )
    ),
    Row(
        "ndimage.fourier_ellipsoid",
        Refused("it has no formula here. Fix: ndimage.fourier_gaussian."),
    ),
]
register([*FILTERS, *INTERPOLATION, *MEASUREMENTS, *NONE])
