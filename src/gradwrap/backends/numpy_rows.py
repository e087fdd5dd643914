"""The rows that do less on NumPy's arrays, whose values can be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.adapted_rows import adapted
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.table.registry import register
from gradwrap.rules.axes import kept
from gradwrap.rules.linear_algebra import contracted, is_large_product, parse_einsum
from gradwrap.rules.reductions import extremum

if TYPE_CHECKING:
    from collections.abc import Sequence

NDARRAY: type[Any] = np.ndarray
NUMPY: tuple[type[Any], ...] = (np.ndarray, np.generic)


def _extremum(xp: Any, g: Any, x: Any, out: Any, axis: Any, keepdims: bool) -> Any:
    """Put g at the extremum, where nothing equals it but one element: in half of the passes."""
    if type(x) is not NDARRAY or not isinstance(g, NUMPY):
        return extremum(xp, g, x, out, axis, keepdims)
    whole = kept(xp, out, x.ndim, axis, keepdims)
    chosen = x == whole
    if np.count_nonzero(chosen) != whole.size or np.isnan(whole).any():
        return extremum(xp, g, x, out, axis, keepdims)
    share = np.zeros_like(x, g.dtype)
    np.copyto(share, kept(xp, g, x.ndim, axis, keepdims), where=chosen)
    return share


def _einsum(xp: Any, operands: Sequence[Any], subscripts: str) -> Any:
    """Return what `np.einsum` does, in its memory order; a large product of two by `matmul`."""
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
    """Return an array with at most two elements along each axis, which lie as those of x do."""
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    made = np.ones([min(x.shape[axis], 2) for axis in order], x.dtype)
    return made.transpose(np.argsort(order))


def register_all() -> None:
    """Enter the rows."""
    rows = [adapted(name, _extremum) for name in ("max", "min")]
    register([*rows, adapted("einsum", native=_einsum)], backend="numpy")
