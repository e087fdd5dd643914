"""Products with a matrix whose rows are vectors of different lengths, with zeros around them."""

from __future__ import annotations

from typing import Any

import numpy as np


def padded_product(left: Any, right: Any, spans: Any, is_left: bool, /) -> Any:
    """Return `left @ right`, without the products of zeros with infinities and NaN.

    Row `r` of the padded matrix (`left` if `is_left`, else `right`) has elements from `spans[r][0]`
    up to `spans[r][1]`. Its zeros are multiplied only if all results are finite.
    """
    with np.errstate(invalid="ignore"):  # of a zero and an infinity
        found = left @ right
    if np.isfinite(found).all():
        return found
    for row, (start, stop) in enumerate(spans):
        if is_left:
            found[row] = left[row, start:stop] @ right[start:stop]
        else:
            found = found if row else np.zeros_like(found)
            found[:, start:stop] += left[:, row, None] * right[row, start:stop]
    return found
