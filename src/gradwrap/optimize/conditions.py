"""Bounds and constraints in the form of the caller's container, converted for SciPy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.library.backend import is_array
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, class_of
from gradwrap.errors import PytreeError
from gradwrap.optimize.problem import as_args, double
from gradwrap.transforms.forward import linearize
from gradwrap.transforms.jacobian import jacobian
from gradwrap.transforms.reverse import grad

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.optimize.problem import Problem


# Bounds -------------------------------------------------------------------------------------------


def bounds_of(problem: Problem, bounds: Any, *, ends_first: bool = False) -> Any:
    """Return SciPy's bounds of the vector, or None.

    For each array there is a pair of its bounds, or None; or SciPy's bounds, or a list of pairs,
    one for each element. `ends_first` says that two sequences on their own are the lower and the
    upper bounds, as in SciPy's `least_squares`; in its `minimize` they are pairs of two elements.
    """
    if bounds is None:
        return None
    made: Any = import_module("scipy.optimize").Bounds
    if isinstance(bounds, made):
        low, high = (np.broadcast_to(end, problem.vector.shape) for end in (bounds.lb, bounds.ub))
        return made(low, high)
    if problem.raveling.treedef.is_lone:
        pairs = [_as_pair(problem, bounds, ends_first)]
    else:
        pairs = problem.spread(bounds, "bounds", _is_pair)
    low, high = (np.empty(problem.vector.shape) for _ in range(2))
    start = 0
    for pair, shape, size in zip(
        pairs, problem.raveling.shapes, problem.raveling.sizes, strict=True
    ):
        for ends, end in zip((low, high), _ends(pair, shape, size), strict=True):
            ends[start : start + size] = np.ravel(end)
        start += size
    return made(low, high)


def _as_pair(problem: Problem, bounds: Any, ends_first: bool) -> Any:
    """Read the bounds of one array as SciPy does, and refuse ambiguous bounds."""
    if not isinstance(bounds, SEQUENCE) or len(bounds) != 2:
        return bounds
    if ends_first:
        return tuple(np.asarray(end) if isinstance(end, SEQUENCE) else end for end in bounds)
    if problem.vector.size == 2 and all(is_array(end) and np.shape(end) == (2,) for end in bounds):
        raise PytreeError(
            f"the bounds of {problem.name} can be read in two ways: as the lower and the upper "
            "bounds of both elements, or as a pair for each element, which is SciPy's way. Fix: "
            "scipy.optimize.Bounds(lower, upper), or a list of pairs, [(low, high), (low, high)]."
        )
    return bounds


def _is_pair(bounds: Any) -> bool:
    """Tell if bounds are a lower and an upper bound, rather than a container of bounds."""
    return isinstance(bounds, TUPLE) and len(bounds) == 2 and all(map(_is_end, bounds))


def _is_end(value: Any) -> bool:
    return value is None or isinstance(value, (int, float)) or is_array(value)


def _ends(pair: Any, shape: tuple[int, ...], size: int) -> tuple[Any, Any]:
    """Return the lower and the upper bounds of an array."""
    if pair is None:
        pair = (None, None)
    if _is_pair(pair):
        low, high = (
            double(default if end is None else end)
            for end, default in zip(pair, (-np.inf, np.inf), strict=True)
        )
    elif isinstance(pair, SEQUENCE) and len(pair) == size and all(map(_is_pair_like, pair)):
        low = np.array([-np.inf if one is None else one for one, _ in pair], float).reshape(shape)
        high = np.array([np.inf if one is None else one for _, one in pair], float).reshape(shape)
    else:
        raise PytreeError(
            f"the bounds of an array of shape {shape} are {pair!r}. Fix: give a pair (lower, "
            "upper), each a number, an array of that shape, or None; or a list of such a pair for "
            "each element."
        )
    try:
        return np.broadcast_to(low, shape), np.broadcast_to(high, shape)
    except ValueError:
        raise PytreeError(
            f"the bounds of an array of shape {shape} have the shapes {low.shape} and "
            f"{high.shape}. Fix: give numbers, or arrays of its shape."
        ) from None


def _is_pair_like(pair: Any) -> bool:
    return isinstance(pair, SEQUENCE) and len(pair) == 2


# Constraints --------------------------------------------------------------------------------------


def constraints_of(problem: Problem, constraints: Any, *, with_hessian: bool) -> Any:
    """Return SciPy's constraints of the vector, with their derivatives."""
    if not isinstance(constraints, SEQUENCE):
        return _constraint(problem, constraints, with_hessian)
    return [_constraint(problem, one, with_hessian) for one in constraints]


def _constraint(problem: Problem, given: Any, with_hessian: bool) -> Any:
    classes: Any = import_module("scipy.optimize")
    if isinstance(given, classes.LinearConstraint):  # of the vector
        return given
    if isinstance(given, classes.NonlinearConstraint):
        value, slopes, curvature = _derivatives(problem, given.fun, ())
        words = {"hess": curvature} if with_hessian else {}
        return classes.NonlinearConstraint(
            value, given.lb, given.ub, slopes, keep_feasible=given.keep_feasible, **words
        )
    if not isinstance(given, DICT) or not {"type", "fun"} <= given.keys():
        raise PytreeError(
            f"a constraint of {problem.name} is {class_of(given)}. Fix: pass a dictionary "
            "with 'type' ('eq' or 'ineq') and 'fun', or scipy.optimize.NonlinearConstraint or "
            "LinearConstraint."
        )
    value, slopes, curvature = _derivatives(problem, given["fun"], as_args(given.get("args", ())))
    if with_hessian:  # which a dictionary cannot have
        most = 0.0 if given["type"] == "eq" else np.inf
        return classes.NonlinearConstraint(value, 0.0, most, slopes, curvature)
    return {"type": given["type"], "fun": value, "jac": slopes}


def _derivatives(
    problem: Problem, fun: Any, args: tuple[Any, ...]
) -> tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """Return functions of the vector: the value, the Jacobian, and the weighted Hessian."""
    operator: Any = import_module("scipy.sparse.linalg").LinearOperator
    of_vector = problem.of_vector(fun, args)

    def value(vector: Any) -> Any:
        return double(of_vector(problem.in_library(vector)))

    def slopes(vector: Any) -> Any:
        return double(jacobian(of_vector)(problem.in_library(vector)))

    def curvature(vector: Any, weights: Any) -> Any:
        def weighted(point: Any) -> Any:
            out = of_vector(point)
            return (out * problem.in_library(weights)).sum()

        product = problem.product_of(linearize(grad(weighted), problem.in_library(vector))[1])
        return operator((problem.vector.size,) * 2, matvec=product, dtype=np.float64)

    return value, slopes, curvature
