"""The rows of `scipy.ndimage`."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import scipy.sparse

from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.dispatching import Constant, Refused
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import AxisLinear, formula, product
from gradwrap.scipy.rules.extending import extended, windows
from gradwrap.scipy.rules.matrices import native_of
from gradwrap.scipy.table import Row, register


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
    before = length // 2 + origin
    longer = extended(np.moveaxis(x, axis, -1), before, length - 1 - before, mode, cval)
    return np.moveaxis(windows(longer, length) @ weights, -1, axis)


def _correlate1d(input: Any, weights: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    return _correlated(
        input,
        np.asarray(weights) if isinstance(weights, list) else weights,
        axis,
        mode,
        cval,
        origin,
    )


def _turned(origin: int, length: int) -> int:
    """Return the origin of the reversed kernel."""
    return -origin - 1 if length % 2 == 0 else -origin


def _convolve1d(input: Any, weights: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    weights = np.asarray(weights) if isinstance(weights, list) else weights
    return _correlated(input, weights[::-1], axis, mode, cval, _turned(origin, len(weights)))


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


def _gaussian1d(
    input: Any, sigma: Any, axis: Any, order: Any, mode: Any, cval: Any, truncate: Any, radius: Any
) -> Any:
    return _correlated(input, _kernel(sigma, order, truncate, radius)[::-1], axis, mode, cval, 0)


def _gaussian(
    input: Any, sigma: Any, order: Any, mode: Any, cval: Any, truncate: Any, radius: Any, axes: Any
) -> Any:
    chosen = _axes(axes, input.ndim)
    options = [_each(one, len(chosen)) for one in (sigma, order, mode, radius)]
    for axis, s, o, m, r in zip(chosen, *options, strict=True):
        if float(native_of(s)) > 1e-15:
            input = _gaussian1d(input, s, axis, o, m, cval, truncate, r)
    return input


def _laplace_of(input: Any, mode: Any, axes: Any, second: Any) -> Any:
    chosen = _axes(axes, input.ndim)
    modes = _each(mode, len(chosen))
    return functools.reduce(
        lambda total, part: total + part,
        [second(input, axis, m) for axis, m in zip(chosen, modes, strict=True)],
    )


def _gaussian_laplace(input: Any, sigma: Any, mode: Any, cval: Any, axes: Any, kwargs: Any) -> Any:
    chosen = _axes(axes, input.ndim)
    parts = _gaussian_parts(input, sigma, mode, cval, chosen, 2, kwargs)
    return functools.reduce(lambda a, b: a + b, parts)


def _gaussian_gradient(input: Any, sigma: Any, mode: Any, cval: Any, axes: Any, kwargs: Any) -> Any:
    every = list(range(input.ndim))  # SciPy smooths along all axes, and takes slopes along some
    chosen = _axes(axes, input.ndim)
    parts = [
        _gaussian_parts(input, sigma, m, cval, every, 1, kwargs)[axis]
        for axis, m in zip(chosen, _each(mode, len(chosen)), strict=True)
    ]
    return np.sqrt(functools.reduce(lambda a, b: a + b, [part * part for part in parts]))


def _gaussian_parts(
    input: Any, sigma: Any, mode: Any, cval: Any, axes: list[int], order: int, kwargs: Any
) -> list[Any]:
    truncate, radius = kwargs.get("truncate", 4.0), kwargs.get("radius")
    return [
        _gaussian(
            input,
            sigma,
            [order * (one == axis) for one in axes],
            mode,
            cval,
            truncate,
            radius,
            axes,
        )
        for axis in axes
    ]


def _laplace(input: Any, mode: Any, cval: Any, axes: Any) -> Any:
    weights = np.array([1.0, -2.0, 1.0])
    return _laplace_of(
        input, mode, axes, lambda x, axis, m: _correlated(x, weights, axis, m, cval, 0)
    )


def _slope(side: list[float]) -> Any:
    """Return the filter that takes the slope along one axis and smooths along the others."""

    def formula(input: Any, axis: Any, mode: Any, cval: Any) -> Any:
        axis %= input.ndim
        modes = _each(mode, input.ndim)
        made = _correlated(input, np.array([-1.0, 0.0, 1.0]), axis, modes[axis], cval, 0)
        for other in range(input.ndim):
            if other != axis:
                made = _correlated(made, np.array(side), other, modes[other], cval, 0)
        return made

    return formula


def _uniform1d(input: Any, size: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    return _correlated(input, np.full(size, 1 / size), axis, mode, cval, origin)


def _uniform(input: Any, size: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Any:
    chosen = _axes(axes, input.ndim)
    options = [_each(one, len(chosen)) for one in (size, mode, origin)]
    for axis, n, m, o in zip(chosen, *options, strict=True):
        if n > 1:
            input = _uniform1d(input, n, axis, m, cval, o)
    return input


# Filters of neighbourhoods ------------------------------------------------------------------------


def _around(x: Any, shape: Any, mode: Any, cval: Any, origin: Any, axes: list[int]) -> Any:
    """Gather the neighbourhood of each element in a new last axis."""
    options = [_each(one, len(axes)) for one in (shape, mode, origin)]
    count = x.ndim
    for axis, length, m, o in zip(axes, *options, strict=True):
        before = length // 2 + o
        longer = extended(x, before, length - 1 - before, m, cval, axis)
        x = np.moveaxis(windows(np.moveaxis(longer, axis, -1), length), -2, axis)
    return np.reshape(x, (*x.shape[:count], -1))


def _in_order(axes: Any, origin: Any, ndim: int) -> tuple[list[int], list[int]]:
    """Sort the axes of the weights, and the origins with them."""
    chosen = _axes(axes, ndim)
    pairs = sorted(zip(chosen, _each(origin, len(chosen)), strict=True))
    return [axis for axis, _ in pairs], [one for _, one in pairs]


def _correlate(input: Any, weights: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Any:
    chosen, origins = _in_order(axes, origin, input.ndim)
    around = _around(input, weights.shape, mode, cval, origins, chosen)
    return around @ np.reshape(weights, (-1,))


def _convolve(input: Any, weights: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Any:
    chosen, origins = _in_order(axes, origin, input.ndim)
    turned = [_turned(o, n) for o, n in zip(origins, weights.shape, strict=True)]
    reversed_ = weights[(slice(None, None, -1),) * weights.ndim]
    return _correlate(input, reversed_, mode, cval, turned, chosen)


def _members(
    input: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any
) -> Any:
    if footprint is None:
        chosen = _axes(axes, input.ndim)
        return _around(input, _each(size, len(chosen)), mode, cval, origin, chosen)
    footprint = np.asarray(footprint, dtype=bool)
    chosen, origins = _in_order(axes, origin, input.ndim)
    around = _around(input, footprint.shape, mode, cval, origins, chosen)
    return around[..., np.flatnonzero(footprint)]


def _extreme(take: Any) -> Any:
    def formula(
        input: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any
    ) -> Any:
        return take(_members(input, size, footprint, mode, cval, origin, axes), axis=-1)

    return formula


def _extreme1d(take: Any) -> Any:
    def formula(input: Any, size: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
        return take(_around(input, [size], mode, cval, origin, [axis % input.ndim]), axis=-1)

    return formula


def _rank(
    input: Any, rank: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any
) -> Any:
    return np.sort(_members(input, size, footprint, mode, cval, origin, axes), axis=-1)[..., rank]


def _median(
    input: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any
) -> Any:
    around = _members(input, size, footprint, mode, cval, origin, axes)
    return np.sort(around, axis=-1)[..., around.shape[-1] // 2]


def _percentile(
    input: Any,
    percentile: Any,
    size: Any,
    footprint: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
) -> Any:
    around = _members(input, size, footprint, mode, cval, origin, axes)
    count = around.shape[-1]
    percentile = percentile + 100.0 if percentile < 0 else percentile
    rank = count - 1 if percentile == 100.0 else int(float(count) * percentile / 100.0)
    return np.sort(around, axis=-1)[..., rank]


def _structured(
    input: Any, size: Any, footprint: Any, structure: Any, mode: Any, cval: Any, origin: Any,
    axes: Any, sign: int,
) -> Any:  # fmt: skip
    """Return the extreme of each neighbourhood plus the structure, which dilation reflects."""
    if structure is None and footprint is None:
        chosen = _axes(axes, input.ndim)
        origins = _each(origin, len(chosen))
    else:
        chosen, origins = _in_order(axes, origin, input.ndim)
    if structure is not None:
        structure = np.asarray(structure) if isinstance(structure, list) else structure
        footprint = (
            np.ones(structure.shape, bool) if footprint is None else np.asarray(footprint, bool)
        )
    elif footprint is not None:
        footprint = np.asarray(footprint, bool)
    else:
        footprint = np.ones(_each(size, len(chosen)), bool)
    if sign > 0:
        turn = (slice(None, None, -1),) * footprint.ndim
        origins = [_turned(o, n) for o, n in zip(origins, footprint.shape, strict=True)]
        footprint = footprint[turn]
        structure = None if structure is None else structure[turn]
    around = _around(input, footprint.shape, mode, cval, origins, chosen)
    if structure is not None:
        around = around + sign * np.reshape(structure, (-1,))
    around = around[..., np.flatnonzero(footprint)]
    return np.max(around, axis=-1) if sign > 0 else np.min(around, axis=-1)


def _dilation(**words: Any) -> Any:
    return _structured(**words, sign=1)


def _erosion(**words: Any) -> Any:
    return _structured(**words, sign=-1)


def _grey(combine: Any) -> Any:
    """Return a formula that combines erosions and dilations with the same options."""

    def formula(
        input: Any, size: Any, footprint: Any, structure: Any, mode: Any, cval: Any, origin: Any,
        axes: Any,
    ) -> Any:  # fmt: skip
        options = {
            "size": size, "footprint": footprint, "structure": structure, "mode": mode,
            "cval": cval, "origin": origin, "axes": axes,
        }  # fmt: skip
        return combine(
            input,
            lambda x: _erosion(input=x, **options),
            lambda x: _dilation(input=x, **options),
        )

    return formula


# Splines ------------------------------------------------------------------------------------------


def _spline_filter(input: Any, order: Any, mode: Any) -> Any:
    if order > 1:
        for axis in range(input.ndim):
            input = dispatcher("ndimage.spline_filter1d")(input, order, axis=axis, mode=mode)
    return input


def _basis(distance: Any, order: int) -> Any:
    """Evaluate the symmetric B-spline of an order by truncated powers."""
    if order == 0:
        return np.where(np.abs(native_of(distance)) <= 0.5, 1.0, 0.0) + 0.0 * distance
    half = (order + 1) / 2
    total: Any = 0.0
    for k in range(order + 2):
        base = distance + half - k
        power = np.where(base > 0, base, 0.0) ** order
        total = total + (-1) ** k * math.comb(order + 1, k) * power
    return total / math.factorial(order)


def _folded(x: Any, n: int, mode: str) -> tuple[Any, Any]:
    """Map coordinates into the range of an axis; return them and the mask of those left outside."""
    data = np.asarray(native_of(x))
    if mode == "constant":
        return x, (data < 0) | (data > n - 1)
    outside = np.zeros(data.shape, bool)
    if mode == "mirror":
        period = 2 * (n - 1)
        x = x - period * np.trunc(data / period)
        x = np.where(np.asarray(native_of(x)) < 0, -x, x)
        return np.where(np.asarray(native_of(x)) >= n, period - x, x), outside
    if mode == "reflect":
        period = 2 * n
        x = x - period * np.floor((data + 0.5) / period)
        return np.where(np.asarray(native_of(x)) > n - 0.5, period - 1 - x, x), outside
    if mode == "grid-wrap":
        return x - n * np.floor(data / n), outside
    if mode == "wrap":  # period from end to end; the ends themselves stay unchanged
        turns = np.where(data < 0, -np.trunc(-data / (n - 1)) - 1, np.trunc(data / (n - 1)))
        return x - (n - 1) * np.where((data >= 0) & (data <= n - 1), 0, turns), outside
    return x, outside


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


PADDING = 12


def _mapped(
    input: Any, coordinates: list[Any], order: Any, mode: Any, cval: Any, prefilter: Any
) -> Any:
    """Evaluate the spline through the elements of an array at the coordinates."""
    mode = "reflect" if mode == "grid-mirror" else mode
    pad = 0
    if prefilter and order > 1:
        if mode in ("nearest", "grid-constant"):
            pad = PADDING
            for axis in range(input.ndim):
                input = extended(input, pad, pad, mode, cval, axis)
        input = _spline_filter(input, order, mode)
    flat = np.reshape(input, (-1,))
    points, shape = [x + pad for x in coordinates], np.shape(coordinates[0])
    taps, outside = _taps(points, input.shape, order, mode)
    if not holds_variable(points):
        return np.reshape(_by_matrix(flat, taps, outside, cval), shape)
    total: Any = 0.0
    for index, weight, blank in taps:
        value = flat[index]
        if np.any(blank):
            value = np.where(blank, cval, value)
        total = total + value * weight
    return np.where(outside, cval, total) if np.any(outside) else total


def _taps(points: list[Any], sizes: Any, order: int, mode: str) -> tuple[Any, Any]:
    """Return taps (indices, weights, masks of blanks) and a mask of the points outside."""
    outside: Any = False
    of_axis: list[list[tuple[Any, Any, Any]]] = []
    for x, n in zip(points, sizes, strict=True):
        folded, is_outside = _folded(x, n, mode)
        outside = outside | is_outside
        data = np.asarray(native_of(folded))
        low = np.floor(data if order % 2 else data + 0.5).astype(int) - order // 2
        of_axis.append([])
        for k in range(order + 1):
            place, none = _tap(low + k, n, mode)
            of_axis[-1].append((place, _basis(folded - (low + k), order), none))
    taps: list[tuple[Any, Any, Any]] = []
    for chosen in itertools.product(*of_axis):
        places = [np.broadcast_to(place, np.shape(outside)) for place, _, _ in chosen]
        weight = functools.reduce(lambda a, b: a * b, [weight for _, weight, _ in chosen])
        blank = functools.reduce(lambda a, b: a | b, [none for _, _, none in chosen])
        taps.append((np.ravel_multi_index(places, sizes), weight, blank))
    return taps, outside


def _by_matrix(flat: Any, taps: Any, outside: Any, cval: Any) -> Any:
    """Interpolate at constant points: multiply the elements by a sparse matrix."""
    count = np.size(outside)
    weights = np.stack([np.where(blank | outside, 0.0, weight) for _, weight, blank in taps])
    blank = sum(np.where(blank, weight, 0.0) for _, weight, blank in taps)
    rows = np.broadcast_to(np.arange(count), (len(taps), count))
    columns = np.stack([np.reshape(index, (-1,)) for index, _, _ in taps])
    made = (np.reshape(weights, (-1,)), (np.reshape(rows, (-1,)), np.reshape(columns, (-1,))))
    matrix = scipy.sparse.csr_array(made, shape=(count, flat.shape[0]))
    of_blank = np.reshape(np.where(outside, 1.0, blank), (-1,))
    total = product(matrix, flat)
    return total + of_blank * cval if np.any(of_blank) else total


def _grid(shape: Any) -> list[Any]:
    return [axis.astype(float) for axis in np.indices(shape)]


def _map_coordinates(
    input: Any, coordinates: Any, order: Any, mode: Any, cval: Any, prefilter: Any
) -> Any:
    return _mapped(input, [coordinates[i] for i in range(input.ndim)], order, mode, cval, prefilter)


def _shift(input: Any, shift: Any, order: Any, mode: Any, cval: Any, prefilter: Any) -> Any:
    shifts = _each(shift, input.ndim)
    moved = [x - s for x, s in zip(_grid(input.shape), shifts, strict=True)]
    return _mapped(input, moved, order, mode, cval, prefilter)


def _zoom(
    input: Any, order: Any, mode: Any, cval: Any, prefilter: Any, grid_mode: Any, out: Any
) -> Any:
    shape = out.shape
    if shape == input.shape and prefilter:
        return input
    points: list[Any] = []
    for x, m, n in zip(_grid(shape), shape, input.shape, strict=True):
        if grid_mode:
            points.append((x + 0.5) * (n / m) - 0.5)
        else:
            points.append(x * ((n - 1) / (m - 1) if m > 1 else 1.0))
    return _mapped(input, points, order, mode, cval, prefilter)


def _affine(
    input: Any, matrix: Any, offset: Any, output_shape: Any, order: Any, mode: Any, cval: Any,
    prefilter: Any,
) -> Any:  # fmt: skip
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
    return _mapped(input, points, order, mode, cval, prefilter)


def _rotate(
    input: Any, angle: Any, axes: Any, order: Any, mode: Any, cval: Any, prefilter: Any, out: Any
) -> Any:
    first, second = sorted(axis % input.ndim for axis in axes)
    c, s = np.cos(angle * (np.pi / 180)), np.sin(angle * (np.pi / 180))
    rows = [[c, s], [-s, c]]
    grid = _grid(out.shape)
    points = list(grid)
    pair = (first, second)
    for i, axis in enumerate(pair):
        centre = (input.shape[axis] - 1) / 2
        points[axis] = centre + sum(
            rows[i][j] * (grid[other] - (out.shape[other] - 1) / 2) for j, other in enumerate(pair)
        )
    if input.ndim == 2:
        return _mapped(input, points, order, mode, cval, prefilter)
    # each plane by itself
    moved = np.moveaxis(input, pair, (-2, -1))
    planes = np.reshape(moved, (-1, *moved.shape[-2:]))
    key = tuple(slice(None) if axis in pair else 0 for axis in range(input.ndim))
    in_plane = [points[axis][key] for axis in pair]
    mapped = [_mapped(plane, in_plane, order, mode, cval, prefilter) for plane in planes]
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
        parts = [measure(flat[np.flatnonzero(labels == i)]) for i in np.ravel(index)]
        return np.reshape(np.stack(parts), np.shape(index))

    return formula


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


def _fourier(factor: Any) -> Any:
    def formula(input: Any, n: Any, axis: Any, **words: Any) -> Any:
        (value,) = words.values()
        if n == 0:
            raise NoRuleError("a transform of no elements has no derivative. Fix: n=-1, or n > 0.")
        values = _each(value, input.ndim)
        for k, length in enumerate(input.shape):
            is_real = axis % input.ndim == k and n > 0
            full = n if is_real else length
            steps = np.arange(length) if is_real else np.round(np.fft.fftfreq(length) * length)
            shape = [1] * input.ndim
            shape[k] = length
            input = input * np.reshape(factor(steps, full, values[k]), shape)
        return input

    return formula


_gaussian_factor = _fourier(lambda k, n, s: np.exp(-2 * (np.pi * k / n * s) ** 2))
_shift_factor = _fourier(lambda k, n, s: np.exp(np.asarray(-2j) * np.pi * k / n * s))


def _uniform_factor(k: Any, n: int, s: Any) -> Any:
    x = np.pi * k / n * s
    return np.where(k == 0, 1.0, np.sin(x) / np.where(k == 0, 1.0, x))


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


FILTERS = [
    formula("ndimage.correlate1d", _correlate1d, "input weights cval", neutral="output"),
    formula("ndimage.convolve1d", _convolve1d, "input weights cval", neutral="output"),
    formula("ndimage.gaussian_filter1d", _gaussian1d, "input sigma cval", neutral="output"),
    formula("ndimage.gaussian_filter", _gaussian, "input sigma cval", neutral="output"),
    formula("ndimage.gaussian_laplace", _gaussian_laplace, "input sigma cval", neutral="output"),
    formula(
        "ndimage.gaussian_gradient_magnitude",
        _gaussian_gradient,
        "input sigma cval",
        neutral="output",
    ),
    formula("ndimage.laplace", _laplace, "input cval", neutral="output"),
    formula("ndimage.sobel", _slope([1.0, 2.0, 1.0]), "input cval", neutral="output"),
    formula("ndimage.prewitt", _slope([1.0, 1.0, 1.0]), "input cval", neutral="output"),
    formula("ndimage.uniform_filter1d", _uniform1d, "input cval", neutral="output"),
    formula("ndimage.uniform_filter", _uniform, "input cval", neutral="output"),
    formula("ndimage.correlate", _correlate, "input weights cval", neutral="output"),
    formula("ndimage.convolve", _convolve, "input weights cval", neutral="output"),
    *(
        formula(f"ndimage.{name}_filter", _extreme(take), "input cval", neutral="output")
        for name, take in (("maximum", np.max), ("minimum", np.min))
    ),
    *(
        formula(f"ndimage.{name}_filter1d", _extreme1d(take), "input cval", neutral="output")
        for name, take in (("maximum", np.max), ("minimum", np.min))
    ),
    formula("ndimage.median_filter", _median, "input cval", neutral="output"),
    formula("ndimage.rank_filter", _rank, "input cval", neutral="output"),
    formula("ndimage.percentile_filter", _percentile, "input cval", neutral="output"),
    *(
        formula(f"ndimage.{name}", _grey(combine), "input structure cval", neutral="output")
        for name, combine in GREY.items()
    ),
    *(
        formula(f"ndimage.fourier_{name}", function, f"input {word}", neutral="output")
        for name, word, function in (
            (
                "gaussian",
                "sigma",
                lambda input, sigma, n, axis: _gaussian_factor(input, n, axis, sigma=sigma),
            ),
            (
                "shift",
                "shift",
                lambda input, shift, n, axis: _shift_factor(input, n, axis, shift=shift),
            ),
            (
                "uniform",
                "size",
                lambda input, size, n, axis: _fourier(_uniform_factor)(input, n, axis, size=size),
            ),
        )
    ),
]
INTERPOLATION = [
    Row("ndimage.spline_filter1d", AxisLinear("input"), arrays="input"),
    formula("ndimage.spline_filter", _spline_filter, "input", neutral="output"),
    formula(
        "ndimage.map_coordinates", _map_coordinates, "input coordinates cval", neutral="output"
    ),
    formula("ndimage.shift", _shift, "input shift cval", neutral="output"),
    formula("ndimage.zoom", _zoom, "input zoom cval", neutral="output"),
    formula("ndimage.affine_transform", _affine, "input matrix offset cval", neutral="output"),
    formula("ndimage.rotate", _rotate, "input angle cval", neutral="output reshape"),
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
            *("generic_filter", "generic_filter1d", "generic_gradient_magnitude"),
            *("generic_laplace", "geometric_transform", "labeled_comprehension"),
            "vectorized_filter",
        )
    ),
    Row(
        "ndimage.fourier_ellipsoid",
        Refused("it has no formula here. Fix: ndimage.fourier_gaussian."),
    ),
]
register([*FILTERS, *INTERPOLATION, *MEASUREMENTS, *NONE])
