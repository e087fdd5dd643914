"""Linear operators whose functions hold tracked values, in SciPy's solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.scipy.operators import OWN
from gradwrap.scipy.solving import plain


class _PlainProducts(LinearOperator):  # type: ignore[misc]  # untyped
    """An operator for SciPy's solvers: the values of another's products, which are tracked."""

    def __init__(self, operator: Any) -> None:
        super().__init__(operator.dtype, operator.shape)
        self._operator = operator

    def _matvec(self, x: Any) -> Any:
        return plain(self._operator.matvec(x))

    def _rmatvec(self, x: Any) -> Any:
        return plain(self._operator.rmatvec(x))


def has_tracked_products(value: Any) -> bool:
    """Tell if a value is an operator whose products depend on tracked values, as by a closure."""
    if not (is_differentiating() and isinstance(value, LinearOperator)):
        return False
    if isinstance(value, (*OWN, _PlainProducts)):
        return False
    return isinstance(value.matvec(np.zeros(value.shape[1], value.dtype)), AnyWrapper)


def with_plain_products(value: Any) -> Any:
    """Return an operator of the values of tracked products, and other values unchanged."""
    return _PlainProducts(value) if has_tracked_products(value) else value


def columns_of(operator: Any) -> Any:
    """Return the dense matrix of an operator, from its products with vectors."""
    vectors = np.eye(operator.shape[1], dtype=operator.dtype)
    return np.stack([operator.matvec(vector) for vector in vectors], axis=1)
