"""Values of splines at points, and the transposed map, each as one operation.

A `Form` knows which coefficients a point needs, and their weights; `ndimage` has one for grids, and
`interpolate` one for knots. Both maps are linear in the values. Their derivatives with respect to
the points are the same maps with the derivatives of the weights, so all orders have closed forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.scipy.kinds import Adjoint
from gradwrap.scipy.table import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    Orders = Sequence[tuple[int, ...]]
    """The orders of some derivatives, each with an order for each coordinate."""


class Form(Protocol):
    """A spline without its coefficients."""

    @property
    def size(self) -> int:
        """The number of coefficients."""
        ...

    def taps(self, points: Any, nus: Orders) -> tuple[Any, list[Any]]:
        """Return the places of the coefficients of each point, and their weights for each order."""
        ...


def at_points(c: Any, points: Any, form: Form, nus: Orders) -> Any:
    """Return derivatives of a spline at points: an array with an axis for `nus` and the points.

    The coordinates of the points are the first axis of `points`.
    """
    if isinstance(c, AnyWrapper) or isinstance(points, AnyWrapper):
        return AT_POINTS.kind.answer(AT_POINTS, (c, points, form, nus), {})
    places, weights = form.taps(points, nus)
    return np.stack([np.einsum("ij,ij...->j...", one, c[places]) for one in weights])


def to_coefficients(v: Any, points: Any, form: Form, nus: Orders) -> Any:
    """Apply the transpose of `at_points`."""
    if isinstance(v, AnyWrapper) or isinstance(points, AnyWrapper):
        return TO_COEFFICIENTS.kind.answer(TO_COEFFICIENTS, (v, points, form, nus), {})
    places, weights = form.taps(points, nus)
    total = np.zeros((form.size, *v.shape[2:]), v.dtype)
    terms = sum(_over(one, v[0]) * part for one, part in zip(weights, v, strict=True))
    np.add.at(total, places, terms)
    return total


def _over(x: Any, columns: Any) -> Any:
    """Add axes to points, so that they broadcast with the values of a spline there."""
    return np.reshape(x, (*x.shape, *(1,) * (columns.ndim - 1)))


def _following(nus: Orders, points: Any) -> list[tuple[int, ...]]:
    """Return the orders with one more for each coordinate."""
    axes = range(len(points))
    return [tuple(n + (i == axis) for i, n in enumerate(nu)) for nu in nus for axis in axes]


def _slopes(c: Any, points: Any, form: Form, nus: Orders) -> Any:
    """Return the derivatives by each coordinate, along the second axis."""
    made = at_points(c, points, form, _following(nus, points))
    return np.reshape(made, (len(nus), len(points), *made.shape[1:]))


def _of_points(v: Any, slopes: Any) -> Any:
    product = (np.conj(v) if v.dtype.kind == "c" else v)[:, None] * slopes
    return np.sum(product, axis=(0, *range(3, product.ndim)))


def _moved(t: Any, slopes: Any) -> Any:
    return np.sum(_over(t, slopes[0, 0]) * slopes, axis=1)


def _transposed_moved(t: Any, v: Any, points: Any, form: Form, nus: Orders) -> Any:
    moved = _over(t, v[0]) * v[:, None]
    flat = np.reshape(moved, (-1, *v.shape[1:]))
    return to_coefficients(flat, points, form, _following(nus, points))


AT_POINTS = Row(
    "values of a spline",
    Adjoint(
        {
            "c": lambda g, points, form, nus: to_coefficients(g, points, form, nus),
            "points": lambda g, c, points, form, nus: _of_points(g, _slopes(c, points, form, nus)),
        },
        {"points": lambda t, c, points, form, nus: _moved(t, _slopes(c, points, form, nus))},
    ),
    arrays="c points",
    original=at_points,
)
TO_COEFFICIENTS = Row(
    "values of a spline, transposed",
    Adjoint(
        {
            "v": lambda g, points, form, nus: at_points(g, points, form, nus),
            "points": lambda g, v, points, form, nus: _of_points(v, _slopes(g, points, form, nus)),
        },
        {"points": _transposed_moved},
    ),
    arrays="v points",
    original=to_coefficients,
)
