"""Functions that take callbacks: SciPy's result with a derivative attached.

SciPy computes the value on plain data. Another computation of the same value, such as the implicit
function theorem, gives the derivative. `attached` combines the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native
from gradwrap.core.values.dynamic import DICT
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import SciPyCall, wrappers_in
from gradwrap.scipy.kinds import Derived
from gradwrap.scipy.results import with_parts
from gradwrap.scipy.table import Row
from gradwrap.transforms.implicit import custom_root

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradwrap.scipy.results import Path
    from gradwrap.transforms.custom_calls import Pull


def plain(value: Any) -> Any:
    """Replace the variables in nested containers by their data."""
    return map_leaves(_plain_leaf, value)


def _plain_leaf(leaf: Any) -> Any:
    if not isinstance(leaf, AnyWrapper):
        return leaf
    data = native(leaf)
    return data[()] if isinstance(data, np.ndarray) and not data.ndim else data


def quiet(function: Any) -> Any:
    """Wrap a callback to take and return plain data without recording."""
    if not callable(function):
        return function

    def called(*args: Any, **kwargs: Any) -> Any:
        with no_grad():
            return plain(function(*args, **kwargs))

    called.__wrapped__ = function  # type: ignore[attr-defined]  # SciPy counts its parameters
    return called


def as_array(value: Any) -> Any:
    """Join a list of variables into one variable; convert other values with NumPy."""
    if isinstance(value, AnyWrapper):
        return value
    found = next((leaf for _, leaf in wrappers_in(value)), None)
    return np.asarray(value) if found is None else found.__array_namespace__().asarray(value)


def as_args(args: Any) -> tuple[Any, ...]:
    """Return the extra arguments of a callback as a tuple; a single argument is allowed."""
    return args if isinstance(args, tuple) else (args,)


def solution(residual: Callable[[Any], Any], found: Any) -> Any:
    """Return SciPy's root with the derivative from the implicit function theorem."""
    return custom_root(residual, np.asarray(found, dtype=float)[()], lambda _f, x: x)


class _ResultRow(Row):
    """The row of one result, whose parts with a variable are differentiable."""

    def is_byproduct(self, path: tuple[Any, ...]) -> bool:
        """Tell if a part has no variable."""
        return path not in self.chosen

    chosen: Mapping[Path, int] = {}


class _Attached(Derived):
    """The derivative of a result: each part has the derivative of its variable."""

    def takes(self, parameter: str) -> bool:
        """Take every parameter: the result is plain data."""
        return True

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Pass the cotangents on to the variables."""
        row: Any = call.row

        def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
            of_part = {
                row.chosen[path]: g
                for path, g in zip(call.out_paths, cotangents, strict=True)
                if path in row.chosen
            }
            return [of_part.get(path[1]) for path in call.paths]

        return pull

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Pass the tangents of the variables on."""
        row: Any = call.row
        of_part = {path[1]: t for path, t in zip(call.paths, tangents, strict=True)}
        return [of_part.get(row.chosen.get(path, -1)) for path in call.out_paths]


def attached(name: str, result: Any, parts: Mapping[Path, Any]) -> Any:
    """Return SciPy's result with the derivatives of variables for the parts at some paths.

    Differentiating a floating-point part without a variable raises an error.
    """
    if not is_recorded(list(parts.values())):
        return result
    shaped = {}
    for path, part in parts.items():
        value = _at(result, path)
        shape = np.shape(value)
        shaped[path] = part if np.shape(part) == shape else np.reshape(part, shape)
    row = _ResultRow(
        name, _Attached(), arrays="parts", groups="parts", original=lambda parts, result: result
    )
    row.chosen = {path: index for index, path in enumerate(shaped)}
    made = SciPyCall(row, _Attached(), (tuple(shaped.values()), result), {}).answer()
    for key, part in made.items() if isinstance(made, DICT) else ():
        if isinstance(part, LinearOperator):  # such as `hess_inv` of L-BFGS
            made[key] = _RefusedOperator(part, f"scipy.{name}: .{key} of its result")
    return made


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


def _at(result: Any, path: Path) -> Any:
    from gradwrap.scipy.results import part_at

    return part_at(result, path)


def refuse(name: str, **options: Any) -> None:
    """Raise an error for the first of these options that is given."""
    for option, value in options.items():
        if (
            value is not None
            and value is not False
            and not (isinstance(value, (tuple, list)) and not value)
        ):
            raise NoRuleError(
                f"{name} has no derivative with {option}=. Fix: leave it out, or .detach() what "
                "is tracked."
            )


def refuse_failure(name: str, success: Any, message: Any) -> None:
    """Refuse the derivative of a result that is not a solution."""
    if not success:
        raise NoRuleError(
            f"{name} found no solution ({message}), so there is nothing to differentiate. "
            "Fix: start nearer, or allow more iterations."
        )


__all__ = [
    "as_args", "as_array", "attached", "plain", "quiet", "refuse", "refuse_failure", "solution",
    "with_parts",
]  # fmt: skip
