"""Rows with faster formulas for NumPy's arrays, whose values can be read at no cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.differing_rows import differing
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.scatter import Scattered
from gradwrap.core.table.kinds import weighted
from gradwrap.core.table.registry import register
from gradwrap.rules.axes import kept
from gradwrap.rules.linear_algebra import contracted, is_large_product, parse_einsum
from gradwrap.rules.reductions import extremum

if TYPE_CHECKING:
    from collections.abc import Sequence

NDARRAY: type[Any] = np.ndarray
NUMPY: tuple[type[Any], ...] = (np.ndarray, np.generic)


def _extremum(xp: Any, g: Any, x: Any, out: Any, axis: Any, keepdims: bool) -> Any:
    """Put g at the extremum if it is unique, which halves the passes over the array."""
    if type(x) is not NDARRAY or not isinstance(g, NUMPY):
        return extremum(xp, g, x, out, axis, keepdims)
    whole = kept(xp, out, x.ndim, axis, keepdims)
    chosen = x == whole
    if np.count_nonzero(chosen) != whole.size or np.isnan(whole).any():
        return extremum(xp, g, x, out, axis, keepdims)
    share = np.zeros_like(x, g.dtype)
    np.copyto(share, kept(xp, g, x.ndim, axis, keepdims), where=chosen)
    return share


def _scattered_extremum(xp: Any, g: Any, x: Any, out: Any, axis: Any, keepdims: bool) -> Any:
    """Return a whole array's cotangent as a single element if the extremum is unique."""
    if type(x) is NDARRAY and out.size == 1 and isinstance(g, NUMPY) and _is_in_order(x):
        chosen = x == out
        if np.count_nonzero(chosen) == 1:
            place = np.unravel_index(int(chosen.argmax()), x.shape)
            return Scattered(tuple(map(int, place)), g.reshape(())[()])
    return _extremum(xp, g, x, out, axis, keepdims)


def _is_in_order(x: Any) -> bool:
    """Tell if an array of zeros would have the memory order of x."""
    return bool(x.ndim and x.flags.c_contiguous)


def _tangent_of_extremum(xp: Any, t: Any, x: Any, out: Any, axis: Any, keepdims: bool) -> Any:
    weights = _extremum(xp, xp.ones_like(out), x, out, axis, keepdims)
    return weighted(xp, weights, t, axis, keepdims)


def _einsum(xp: Any, operands: Sequence[Any], subscripts: str) -> Any:
    """Compute `np.einsum` in its memory order; a large matrix product goes to `matmul`."""
    if len(operands) == 2 and not any(isinstance(one, AnyWrapper) for one in operands):
        inputs, output = parse_einsum(subscripts, [one.ndim for one in operands])
        if is_large_product(inputs, output, operands):
            like = xp.einsum(subscripts, *map(_corner, operands))
            product = contracted(xp, inputs, output, operands)
            if not output:
                return product[()]
            if like.flags.c_contiguous or like.flags.f_contiguous:
                return product.copy("C" if like.flags.c_contiguous else "F")
    return xp.einsum(subscripts, *operands)


def _corner(x: Any) -> Any:
    """Return a small array, at most 2 along each axis, with the memory order of x."""
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    made = np.ones([min(x.shape[axis], 2) for axis in order], x.dtype)
    return made.transpose(np.argsort(order))


def register_all() -> None:
    """Enter the rows."""
    rows = [
        differing(name, _scattered_extremum, jvps=[_tangent_of_extremum]) for name in ("max", "min")
    ]
    for row in rows:
        row.parts = True
    register([*rows, differing("einsum", native=_einsum)], backend="numpy")
