"""Linear operators of tracked matrices, and operators in the results of solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from gradwrap.errors import NoRuleError


class _MatrixOperator(LinearOperator):  # type: ignore[misc]  # untyped
    """The operator of a tracked matrix, dense or sparse, whose products are the matrix's."""

    def __init__(self, A: Any) -> None:
        if A.ndim > 2:
            raise ValueError("array must have ndim <= 2")
        self.matrix: Any = A if A.ndim == 2 else np.atleast_2d(A)
        super().__init__(self.matrix.dtype, self.matrix.shape)

    def matvec(self, x: Any) -> Any:
        """Return the product with a vector, of shape (n,) or (n, 1)."""
        return self.matrix @ x

    def matmat(self, X: Any) -> Any:
        """Return the product with a matrix."""
        return self.matrix @ X

    def rmatvec(self, x: Any) -> Any:
        """Return the product of the adjoint with a vector."""
        return self._adjoint().matvec(x)

    def rmatmat(self, X: Any) -> Any:
        """Return the product of the adjoint with a matrix."""
        return self._adjoint().matmat(X)

    def _matvec(self, x: Any) -> Any:
        return self.matvec(x)

    def _matmat(self, X: Any) -> Any:
        return self.matmat(X)

    def _rmatvec(self, x: Any) -> Any:
        return self.rmatvec(x)

    def _rmatmat(self, X: Any) -> Any:
        return self.rmatmat(X)

    def _adjoint(self) -> Any:
        return _MatrixOperator(np.conj(self.matrix.T))

    def _transpose(self) -> Any:
        return _MatrixOperator(self.matrix.T)


def operator_of(A: Any) -> Any:
    """Return the operator of a tracked matrix, dense or sparse, as `aslinearoperator` does."""
    return _MatrixOperator(A)


def matrix_of(value: Any) -> Any:
    """Return the tracked matrix of an operator, and other values unchanged."""
    return value.matrix if isinstance(value, _MatrixOperator) else value


class _RefusedOperator(LinearOperator):  # type: ignore[misc]  # untyped
    """An operator in a tracked result; it has no derivative, and its use raises an error."""

    def __init__(self, operator: Any, what: str) -> None:
        super().__init__(operator.dtype, operator.shape)
        self._operator = operator
        self._what = what

    def detach(self) -> Any:
        """Return SciPy's operator."""
        return self._operator

    def _matmat(self, X: Any) -> Any:
        raise NoRuleError(
            f"{self._what} has no derivative. Fix: .detach() it, if it is to be a constant."
        )

    def _rmatmat(self, X: Any) -> Any:
        return self._matmat(X)

    def _matvec(self, x: Any) -> Any:
        return self._matmat(x)

    def _rmatvec(self, x: Any) -> Any:
        return self._matmat(x)

    def _adjoint(self) -> Any:
        return self._matmat(None)

    def todense(self) -> Any:
        """Raise an error, as products do."""
        return self._matmat(None)


def refused_operator(operator: Any, what: str) -> Any:
    """Return an operator that has no derivative, and whose use raises an error that names it."""
    return _RefusedOperator(operator, what)


OWN: tuple[type[Any], ...] = (_MatrixOperator, _RefusedOperator)
"""The classes of operators that are made here."""
