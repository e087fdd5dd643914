"""Operators in the results of solvers."""

from __future__ import annotations

from typing import Any

from scipy.sparse.linalg import LinearOperator

from gradwrap.errors import NoRuleError


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
