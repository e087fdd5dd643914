"""Linear operators whose functions hold tracked values, in SciPy's solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.pytree_classes import register_pytree
from gradwrap.scipy.operators import OWN
from gradwrap.scipy.solving import plain

if TYPE_CHECKING:
    from collections.abc import Callable


class _PlainProducts(LinearOperator):  # type: ignore[misc]  # untyped
    """An operator for SciPy's solvers: the values of another's products, which are tracked.

    A trace takes it for a container of two functions, which SciPy calls.
    """

    def __init__(
        self, dtype: Any, shape: Any, multiply: Callable[[Any], Any], adjoint: Callable[[Any], Any]
    ) -> None:
        super().__init__(dtype, shape)
        self.products: tuple[Callable[[Any], Any], Callable[[Any], Any]] = multiply, adjoint

    def _matvec(self, x: Any) -> Any:
        return self.products[0](x)

    def _rmatvec(self, x: Any) -> Any:
        return self.products[1](x)


register_pytree(
    _PlainProducts,
    lambda one: (one.products, (one.dtype, one.shape)),
    lambda kept, products: _PlainProducts(*kept, *products),
)


def _values_of(operator: Any, name: str) -> Callable[[Any], Any]:
    """Return a function that gives the values of products. In a trace they are recorded."""

    def multiply(x: Any) -> Any:
        if isinstance(x, AnyWrapper):  # SciPy's own method takes plain arrays
            return getattr(operator, f"_{name}")(x)
        return plain(getattr(operator, name)(x))

    return multiply


def has_tracked_products(value: Any) -> bool:
    """Tell if a value is an operator whose products depend on tracked values, as by a closure."""
    if not (is_differentiating() and isinstance(value, LinearOperator)):
        return False
    if isinstance(value, (*OWN, _PlainProducts)):
        return False
    return isinstance(value.matvec(np.zeros(value.shape[1], value.dtype)), AnyWrapper)


def with_plain_products(value: Any) -> Any:
    """Return an operator of the values of tracked products, and other values unchanged."""
    if not has_tracked_products(value):
        return value
    products = [_values_of(value, name) for name in ("matvec", "rmatvec")]
    return _PlainProducts(value.dtype, value.shape, *products)


def columns_of(operator: Any) -> Any:
    """Return the dense matrix of an operator, from its products with vectors."""
    vectors = np.eye(operator.shape[1], dtype=operator.dtype)
    return np.stack([operator.matvec(vector) for vector in vectors], axis=1)
