"""The rows of `scipy.optimize`: derivatives by the implicit function theorem."""

from __future__ import annotations

import functools
import itertools
from importlib import import_module
from typing import Any

import numpy as np

from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import Holder, wrappers_in
from gradwrap.scipy.dispatching import Constant, Refused
from gradwrap.scipy.kinds import ArrayApi, formula
from gradwrap.scipy.results import is_float, part_at
from gradwrap.scipy.rules.matrices import solved, spread
from gradwrap.scipy.solving import (
    Later,
    Solved,
    SolvedWithList,
    as_args,
    as_array,
    as_dense,
    data_of,
    is_tracer,
    number_of,
    plain,
    refuse,
    refuse_failure,
    solution,
)
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.jacobian import jacobian
from gradwrap.transforms.reverse import grad, vjp

BOUNDS: Any = import_module("scipy.optimize").Bounds


def _paths(result: Any, names: tuple[str, ...]) -> list[Any]:
    """Return the paths of parts: named ones, the first of a tuple, or the result itself."""
    if isinstance(result, dict):
        return [(name,) for name in names if name in result]
    return [(0,), (1,)] if isinstance(result, tuple) else [()]


# Roots --------------------------------------------------------------------------------------------


def _rooted(
    result: Any, fun: Any, name: Any, args: Any = (), jac: Any = None, fprime: Any = None,
    method: Any = None,
) -> Any:  # fmt: skip
    """Return the parts of a result that are the root of a function."""
    first, *rest = _paths(result, ("x", "root"))
    found = part_at(result, first)

    def residual(x: Any) -> Any:
        made = fun(x, *args)
        return as_array(made[0] if jac is True or fprime is True else made)

    def reshaped(x: Any) -> Any:
        return np.reshape(residual(x), np.shape(found))

    def cost(x: Any) -> Any:
        return np.sum(residual(x) ** 2) / 2

    value = plain(residual(found))
    if np.iscomplexobj(plain(found)):
        _check_holomorphic(name, residual, plain(found))
    is_square = np.size(value) == np.size(found)
    is_zero = not is_square or _is_zero(reshaped, found, value)
    by_squares = not is_square or (method == "lm" and not is_zero)
    if by_squares:
        root = _stationary(grad(cost), found, None, name)
    else:
        root = solution(reshaped, found, name, is_unique=True)
    if not is_zero and not by_squares and is_recorded(root):
        refuse_failure(name, False, "the function is not zero at its result")
    if isinstance(result, dict) and is_recorded(root) and not result.get("converged", True):
        refuse_failure(name, False, result["flag"])
    is_found = not isinstance(result, dict) or result.get("success", True)
    if is_recorded(root) and is_found:
        residual(root)  # what the function keeps of its last call moves with the solution
    is_inside = rest and isinstance(result[1], dict) and "root" in result[1]
    return {first: root} | ({(1, "root"): root} if is_inside else {})


def _check_holomorphic(name: str, residual: Any, x: Any) -> None:
    """Refuse a function of complex numbers that has no complex derivative."""
    x = np.asarray(x)
    ones = np.ones(x.shape, complex)
    with no_grad():
        along, across = (plain(jvp(residual, (x,), (turn * ones,))[1]) for turn in (1.0, 1j))
    if not np.allclose(across, 1j * along, rtol=1e-6, atol=0.0):
        raise NoRuleError(
            f"{name}: the root is complex, and the function has no complex derivative there, as "
            "one of abs(z), z.real or conj(z) has none. Fix: solve two equations for the real and "
            "the imaginary part."
        )


def _is_zero(residual: Any, x: Any, value: Any) -> bool:
    """Tell if a function is zero at a point or near it: Newton's step from there is short."""
    if np.all(np.abs(value) <= 1e-8):
        return True
    x = data_of(x).astype(np.result_type(x, np.float64))
    is_complex = x.dtype.kind == "c"
    with no_grad():
        slopes = plain(jacobian(lambda v: as_array(residual(v)), holomorphic=is_complex)(x))
    slopes = np.reshape(slopes, (x.size, x.size))
    if not np.isfinite(slopes).all():
        return True
    step = np.linalg.lstsq(slopes, np.reshape(value, (-1,)))[0]
    return bool(np.max(np.abs(step)) <= 1e-3 * (1.0 + np.max(np.abs(x))))


def _fixed(result: Any, fun: Any, name: Any, args: Any) -> Any:
    def step(x: Any) -> Any:
        return as_array(fun(x, *args)) - x

    return _rooted(result, step, name)


# Minima -------------------------------------------------------------------------------------------


def _at_bounds(x: Any, bounds: Any) -> tuple[Any, Any, Any]:
    """Return masks of the elements at their lower and upper bounds, and the bounds."""
    if bounds is None or (not isinstance(bounds, BOUNDS) and len(bounds) == 0):
        blank = np.zeros(np.shape(x), bool)
        return blank, blank, None
    if isinstance(bounds, BOUNDS):
        low, high = bounds.lb, bounds.ub
    else:
        pairs = [(-np.inf if a is None else a, np.inf if b is None else b) for a, b in bounds]
        low, high = as_array([a for a, _ in pairs]), as_array([b for _, b in pairs])
    shape = np.shape(x)
    low, high = (np.reshape(one * np.ones(shape or (1,)), shape) for one in (low, high))
    near = 1e-7 * (1 + np.abs(x))
    is_low, is_high = (np.abs(x - data_of(one)) <= near for one in (low, high))
    return is_low, is_high & ~is_low, (low, high)


def _stationary(slope: Any, x: Any, bounds: Any, name: str) -> Any:
    """Return the point where the gradient vanishes in all elements that are not at a bound."""
    return solution(_where_free(slope, x, bounds), x, name)


def _where_free(slope: Any, x: Any, bounds: Any) -> Any:
    """Return the residual: the gradient, or for elements at a bound the distance from the bound."""
    is_low, is_high, ends = _at_bounds(x, bounds)

    def residual(point: Any) -> Any:
        made = np.reshape(as_array(slope(point)), np.shape(x))
        if ends is None:
            return made
        held = np.where(
            is_low, point - np.where(is_low, ends[0], 0.0), point - np.where(is_high, ends[1], 0.0)
        )
        return np.where(is_low | is_high, held, made)

    return residual


def _between(slope: Any, x: Any, ends: Any, name: str) -> Any:
    """Return the minimum in an interval, which is an end if the Newton step leads beyond it.

    SciPy's search never reaches the ends exactly.
    """
    low, high = map(number_of, ends)
    step = number_of(grad(slope)(x))
    target = x - number_of(slope(x)) / step if step > 0 else x
    if low <= target <= high:
        return solution(slope, x, name, is_unique=True)
    end = as_array(ends[0] if target < low else ends[1])
    return solution(lambda point: point - end, x, name, is_unique=True)


# Constraints


def _constraints(constraints: Any, x: Any) -> list[Any]:
    """Return the residuals of the active constraints, which are zero at the solution."""
    found: list[Any] = []
    for one in constraints if isinstance(constraints, (tuple, list)) else [constraints]:
        if isinstance(one, dict):
            function, args = one["fun"], as_args(one.get("args", ()))
            low, high = 0.0, 0.0 if one["type"] == "eq" else np.inf
        elif hasattr(one, "A"):
            function, args = functools.partial(np.matmul, as_dense(one.A)), ()
            low, high = one.lb, one.ub
        else:
            function, args, low, high = one.fun, (), one.lb, one.ub
        value = np.atleast_1d(data_of(as_array(function(x, *args))))
        lower, upper = (data_of(as_array(end)) for end in (low, high))
        for end, counts in ((low, True), (high, lower != upper)):
            limit = as_array(end) * np.ones(value.shape)
            near = np.abs(value - data_of(limit)) <= 1e-6 * (1 + np.abs(value))
            at = np.flatnonzero(near & counts)
            if len(at):
                found.append(_distance(function, args, limit, at))
    return found


def _distance(function: Any, args: Any, limit: Any, at: Any) -> Any:
    return lambda x: (np.reshape(as_array(function(x, *args)), (-1,)) - limit)[at]


def constrained(name: str, slope: Any, x: Any, bounds: Any, constraints: Any) -> Any:
    """Return the point that satisfies the KKT conditions with the active constraints."""
    held = _constraints(constraints, x)
    if not held:
        return _stationary(slope, x, bounds, name)
    n = len(x)

    def distances(point: Any) -> Any:
        return np.concatenate([one(point) for one in held])

    with no_grad():
        slopes = data_of(jacobian(distances)(x))
        gradient = data_of(as_array(slope(x)))
    free = ~np.logical_or(*_at_bounds(x, bounds)[:2])
    if np.linalg.matrix_rank(slopes[:, free]) < len(slopes):
        raise NoRuleError(
            f"{name}: the constraints that hold the solution depend on each other, so it has no "
            "derivative. Fix: leave out those that follow from the others."
        )
    weights = np.linalg.lstsq(slopes[:, free].T, gradient[free])[0]

    def lagrangian_slope(z: Any) -> Any:
        pull = vjp(distances, z[:n])[1]
        return np.reshape(as_array(slope(z[:n])), (n,)) - pull(z[n:])[0]

    def residual(z: Any) -> Any:
        inner = _where_free(lambda _: lagrangian_slope(z), x, bounds)
        return np.concatenate([inner(z[:n]), distances(z[:n])])

    return solution(residual, np.concatenate([x, weights]), name)[:n]


def _gradient(fun: Any, args: Any, jac: Any) -> Any:
    """Return the gradient of the callback: the caller's own, or by reverse mode."""
    if callable(jac):
        return lambda x: jac(x, *args)

    def value(x: Any) -> Any:
        made = fun(x, *args)
        made = made[0] if jac is True else made
        return np.reshape(as_array(made), ())

    return grad(value)


def _minimum(
    result: Any, fun: Any, name: Any, args: Any = (), jac: Any = None, fprime: Any = None,
    bounds: Any = None, constraints: Any = (), minimizer_kwargs: Any = None, approx_grad: Any = 1,
) -> Any:  # fmt: skip
    """Return the parts of a result that are a minimum, and the value there."""
    if fprime is None and not approx_grad:
        jac = True  # as in `minimize`: the function returns its gradient too
    inner = minimizer_kwargs or {}
    args, jac = args or as_args(inner.get("args", ())), inner.get("jac", jac or fprime)
    bounds = inner.get("bounds") if bounds is None else bounds
    path, *rest = _paths(result, ("x", "fun"))
    found = data_of(part_at(result, path))
    slope = _gradient(fun, args, jac)
    is_found = (
        not isinstance(result, dict)
        or result.get("success", True)
        or (not constraints and _is_flat(slope, found, bounds))
    )
    x = constrained(name, slope, found, bounds, constraints)
    if not is_found and is_recorded(x):
        refuse_failure(name, False, result["message"])
    parts = {path: x}
    if rest and is_float(part_at(result, rest[0])):
        value = fun(x, *args)  # the last call: what the function keeps moves with the solution
        parts[rest[0]] = as_array(value[0] if jac is True else value)
        if not is_found and is_recorded(parts[rest[0]]):
            refuse_failure(name, False, result["message"])
    return parts


def _is_flat(slope: Any, x: Any, bounds: Any) -> bool:
    """Tell if a point is a solution although SciPy stopped for lack of precision.

    The exact gradient must meet the default tolerance of BFGS.
    """
    with no_grad():
        rest = plain(as_array(_where_free(slope, x, bounds)(x)))
    return bool(np.all(np.abs(rest) <= 1e-5))


def _in_interval(
    result: Any, fun: Any, name: Any, args: Any, bounds: Any = None, x1: Any = None, x2: Any = None
) -> Any:
    """Return the parts of a result that are a minimum in an interval, and the value there."""
    ends = (x1, x2) if x1 is not None else bounds
    path, *rest = _paths(result, ("x", "fun"))
    slope, found = _gradient(fun, args, None), number_of(part_at(result, path))
    if ends is None:
        x = solution(slope, found, name, is_unique=True)
    else:
        x = _between(slope, found, ends, name)
    return {path: x} | ({rest[0]: as_array(fun(x, *args))} if rest else {})


UNPOLISHED: dict[str, Any] = {"polish": False, "no_local_search": True, "finish": None}
"""The options that make a search skip the final minimization."""


def _searched(
    result: Any, fun: Any, name: Any, args: Any = (), bounds: Any = None, constraints: Any = None,
    minimizer_kwargs: Any = None, polish: Any = True, no_local_search: Any = False,
    finish: Any = True,
) -> Any:  # fmt: skip
    """Return the parts of the result of a global search, which ends at a minimum."""
    parts = _minimum(result, fun, name, args, bounds=bounds, minimizer_kwargs=minimizer_kwargs)
    if not is_recorded(list(parts.values())):
        return parts
    method = (minimizer_kwargs or {}).get("method")
    refuse(name, constraints=constraints, callable_minimizer=method)
    given = {"polish": polish, "no_local_search": no_local_search, "finish": finish}
    for option, value in given.items():
        if value is UNPOLISHED[option]:
            raise NoRuleError(
                f"{name} with {option}={value} does not end at a minimum, so it has no "
                "derivative. Fix: leave the option out."
            )
    return parts


def _slsqp(
    result: Any, fun: Any, name: Any, args: Any, bounds: Any, fprime: Any, eqcons: Any,
    f_eqcons: Any, ieqcons: Any, f_ieqcons: Any,
) -> Any:  # fmt: skip
    pairs = (("eq", [*eqcons, f_eqcons]), ("ineq", [*ieqcons, f_ieqcons]))
    held = [{"type": kind, "fun": one, "args": args} for kind, all_ in pairs for one in all_ if one]
    parts = _minimum(result, fun, name, args, None, fprime, bounds, held)
    if isinstance(result, tuple) and is_recorded(list(parts.values())):
        refuse_failure(name, result[3] == 0, result[4])
    return parts


# Least squares ------------------------------------------------------------------------------------


def _rho(loss: Any) -> Any:
    """Return a robust loss function of squared residuals, as SciPy defines it."""
    table = {
        "linear": lambda z: z,
        "soft_l1": lambda z: 2 * ((1 + z) ** 0.5 - 1),
        "huber": lambda z: np.where(z <= 1, z, 2 * np.where(z <= 1, 1.0, z) ** 0.5 - 1),
        "cauchy": np.log1p,
        "arctan": np.arctan,
    }
    if loss not in table:
        raise NoRuleError(
            "scipy.optimize.least_squares with a function for loss= has no derivative. "
            "Fix: use one of its names, such as 'soft_l1'."
        )
    return table[loss]


def _least_squares(
    result: Any, fun: Any, name: Any, args: Any, kwargs: Any, bounds: Any, loss: Any, f_scale: Any
) -> Any:
    rho, words = _rho(loss), kwargs or {}

    def residuals(x: Any) -> Any:
        return np.reshape(as_array(fun(x, *args, **words)), (-1,))

    def cost(x: Any) -> Any:
        return f_scale**2 * np.sum(rho((residuals(x) / f_scale) ** 2)) / 2

    x = _stationary(grad(cost), result.x, _pairs_of(bounds, result.x), name)
    parts = {("x",): x, ("fun",): residuals(x), ("cost",): cost(x)}
    if loss == "linear" and (isinstance(result.jac, np.ndarray) or is_tracer(result.jac)):
        parts["jac",] = Later(lambda: jacobian(residuals)(x))
    return parts


def _pairs_of(bounds: Any, x: Any) -> Any:
    if isinstance(bounds, BOUNDS):
        return bounds
    low, high = bounds
    low, high = (as_array(one) * np.ones(np.shape(x)) for one in (low, high))
    return list(zip(low, high, strict=True))


def _leastsq(result: Any, fun: Any, name: Any, args: Any) -> Any:
    def residuals(x: Any) -> Any:
        return np.reshape(as_array(fun(x, *args)), (-1,))

    def cost(x: Any) -> Any:
        return np.sum(residuals(x) ** 2) / 2

    x = _stationary(grad(cost), result[0], None, name)
    if not is_recorded(x):
        return {(0,): x}
    made = fun(x, *args)  # what it keeps of its last call moves with the solution
    if len(result) == 2:
        return {(0,): x}
    parts = {(0,): x, (2, "fvec"): as_array(made)}
    if result[1] is not None:
        slopes = jacobian(residuals)(x)
        parts[1,] = np.linalg.inv(slopes.T @ slopes)
    return parts


def _curve_fit(
    result: Any,
    fun: Any,
    name: Any,
    xdata: Any,
    ydata: Any,
    sigma: Any,
    absolute_sigma: Any,
    bounds: Any,
) -> Any:
    def residuals(p: Any) -> Any:
        made = as_array(fun(as_array(xdata), *p)) - as_array(ydata)
        if sigma is None:
            return np.reshape(made, (-1,))
        s = as_array(sigma)
        if s.ndim == 2:
            return solved(np.linalg.cholesky(s), made)
        return np.reshape(made / s, (-1,))

    def cost(p: Any) -> Any:
        return np.sum(residuals(p) ** 2) / 2

    p = _stationary(grad(cost), result[0], _pairs_of(bounds, result[0]), name)
    if not np.all(np.isfinite(result[1])):  # the parameters are not determined
        return {(0,): p}
    slopes = jacobian(residuals)(p)
    covariance = np.linalg.inv(slopes.T @ slopes)
    freedom = np.shape(plain(slopes))[0] - np.shape(plain(slopes))[1]
    if not absolute_sigma:
        covariance = covariance * (np.sum(residuals(p) ** 2) / freedom)
    return {(0,): p, (1,): covariance}


def _on_columns(A: Any, b: Any, x: Any, held: Any, values: Any) -> Any:
    """Solve the least-squares problem for the variables that are not at a bound."""
    free = np.flatnonzero(~held)
    fixed = np.flatnonzero(held)
    rest = b - A[:, fixed] @ values[fixed] if len(fixed) else b
    made = np.linalg.pinv(A[:, free]) @ rest
    total = spread(made, free, x.shape[0])
    return total + np.where(held, values, 0.0) if len(fixed) else total


def _nnls(A: Any, b: Any, out: Any) -> Any:
    x = data_of(out[0])
    made = _on_columns(A, b, x, x <= 0, np.zeros(x.shape))
    return made, np.sqrt(np.sum((A @ made - b) ** 2))


def _lsq_linear(result: Any, A: Any, b: Any, bounds: Any) -> Any:
    is_operator = hasattr(A, "matmat")
    matrix = A.matmat(np.eye(A.shape[1])) if is_operator else as_dense(A)
    b = as_array(b)
    is_low, is_high, ends = _at_bounds(result.x, _pairs_of(bounds, result.x))
    assert ends is not None
    values = np.where(is_low, np.where(is_low, ends[0], 0.0), np.where(is_high, ends[1], 0.0))
    x = _on_columns(matrix, b, result.x, is_low | is_high, values)
    left = matrix @ x - b
    return {("x",): x, ("fun",): left, ("cost",): np.sum(left**2) / 2}


# Programs -----------------------------------------------------------------------------------------


def _linprog(  # noqa: C901  one kind of constraint after the other
    result: Any, name: Any, c: Any, A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, bounds: Any
) -> Any:
    """Return the optimal vertex, where the active constraints meet."""
    given = [one.stored_data() if isinstance(one, Holder) else one for one in (A_ub, A_eq)]
    if not is_recorded([leaf for _, leaf in wrappers_in([c, *given, b_ub, b_eq, bounds])]):
        return {}
    A_ub, A_eq = (None if A is None else as_dense(A) for A in (A_ub, A_eq))
    refuse_failure(name, result.success, result.message)
    x, c = result.x, np.reshape(as_array(c), (-1,))
    n = len(x)
    rows: list[Any] = []
    right: list[Any] = []
    if A_eq is not None:
        b_eq = np.reshape(as_array(b_eq), (-1,))
        rows += [A_eq[i] for i in range(A_eq.shape[0])]
        right += [b_eq[i] for i in range(A_eq.shape[0])]
    if A_ub is not None:
        b_ub = np.reshape(as_array(b_ub), (-1,))
        slack = data_of(b_ub) - data_of(A_ub) @ x
        for tight in np.flatnonzero(np.abs(slack) <= 1e-8 * (1 + np.abs(plain(b_ub)))):
            rows.append(A_ub[tight])
            right.append(b_ub[tight])
    single = (
        np.ndim(plain(bounds)) == 1
        and len(bounds) == 2
        and not isinstance(bounds[0], (tuple, list))
    )
    pairs = [bounds] * n if single else list(bounds)
    for j, pair in enumerate(pairs):
        for end in pair if pair is not None else (0, None):
            if end is not None and abs(float(plain(end)) - x[j]) <= 1e-9 * (1 + abs(x[j])):
                rows.append(np.eye(n)[j])
                right.append(end)
                break
    chosen: list[int] = []
    for i, _ in enumerate(rows):  # keep only independent rows
        trial = np.stack([data_of(rows[k]) for k in [*chosen, i]])
        if np.linalg.matrix_rank(trial) == len(chosen) + 1:
            chosen.append(i)
    if len(chosen) != n:
        raise NoRuleError(
            f"{name}: the solution is not a vertex, so it is not unique and has no derivative. "
            "Fix: add a small term to c that chooses one."
        )
    matrix = (
        as_array([rows[k] for k in chosen])
        if not any(hasattr(rows[k], "detach") for k in chosen)
        else np.stack([rows[k] for k in chosen])
    )
    vertex = solved(matrix, as_array([right[k] for k in chosen]))
    parts: dict[Any, Any] = {("x",): vertex, ("fun",): c @ vertex}
    if A_ub is not None and result.slack.size:
        parts["slack",] = b_ub - A_ub @ vertex
    if A_eq is not None and result.con.size:
        parts["con",] = b_eq - A_eq @ vertex
    return parts


def _isotonic(y: Any, weights: Any, out: Any) -> Any:
    """Return the means of the blocks that SciPy has pooled."""
    blocks = np.asarray(out["blocks"])
    w = np.ones(y.shape) if weights is None else weights
    parts: list[Any] = []
    for low, high in itertools.pairwise(blocks):
        share = w[low:high]
        total = np.sum(share)
        parts.append((np.sum(share * y[low:high]) / total) * np.ones(high - low))
    sums = [np.sum(w[low:high]) for low, high in itertools.pairwise(blocks)]
    return {"x": np.concatenate(parts), "weights": np.stack(sums)}


# Elementwise --------------------------------------------------------------------------------------


def _find_root(result: Any, fun: Any, name: Any, args: Any) -> Any:
    root = solution(lambda x: as_array(fun(x, *args)), result.x, name, is_unique=True)
    return {("x",): root, ("f_x",): as_array(fun(root, *args))}


def _find_minimum(result: Any, fun: Any, name: Any, args: Any) -> Any:
    slope = grad(lambda x: np.sum(as_array(fun(x, *args))))
    point = solution(slope, result.x, name, is_unique=True)
    return {("x",): point, ("f_x",): as_array(fun(point, *args))}


def _bracket(result: Any, again: Any) -> Any:
    """Return the ends of the bracket and the values there, by the array-API path."""
    made = again()
    return {
        (key, i): made[key][i] for key in ("bracket", "f_bracket") for i in range(len(result[key]))
    }


def _at_solution(
    result: Any, fun: Any, args: Any = (), kwargs: Any = None, jac: Any = None, fprime: Any = None,
    bounds: Any = None, constraints: Any = (),
) -> Any:  # fmt: skip
    """Return what the callbacks return at the solution, and the ends of bounds."""
    x = part_at(result, _paths(result, ("x", "root"))[0])
    called = [one(x, *args, **(kwargs or {})) for one in (fun, jac, fprime) if callable(one)]
    ends = [bounds.lb, bounds.ub] if isinstance(bounds, BOUNDS) else bounds
    return [called, ends, [one(x) for one in _constraints(constraints, x)]]


def _of_curve(result: Any, fun: Any, xdata: Any, bounds: Any) -> Any:
    """Return the curve at the solution, and the ends of bounds."""
    ends = [bounds.lb, bounds.ub] if isinstance(bounds, BOUNDS) else bounds
    return [fun(xdata, *result[0]), ends]


# The table ----------------------------------------------------------------------------------------


def _slopes(result: Any, xk: Any, f: Any, args: Any) -> Any:
    """Differentiate the exact derivative in place of the differences."""
    exact = jacobian(lambda x: as_array(f(x, *args)))(as_array(xk) * 1.0)
    return {(): np.reshape(exact, np.shape(result))}


DIFFERENCES = "it compares or takes differences. Fix: gradwrap.grad, gradwrap.testing.check_grads."


def _solved(names: str, parts: Any, values: Any = _at_solution, **options: Any) -> list[Row]:
    return _rows(names, Solved(parts, **options), values)


def _with_list(names: str, parts: Any, values: Any = _at_solution) -> list[Row]:
    return _rows(names, SolvedWithList(parts), values)


def _rows(names: str, solved: Solved, values: Any) -> list[Row]:
    solved.values = values
    return [Row(f"optimize.{name}", solved) for name in names.split()]


ROWS = [
    *_solved("brentq brenth bisect ridder toms748 root_scalar root fsolve", _rooted),
    *_with_list("newton", _rooted),
    *_solved("anderson broyden1 broyden2 diagbroyden excitingmixing linearmixing", _rooted),
    *_solved("newton_krylov", _rooted),
    *_with_list("fixed_point", _fixed),
    *_solved(
        "minimize fmin fmin_bfgs fmin_cg fmin_ncg fmin_powell fmin_l_bfgs_b", _minimum, checks=True
    ),
    *_solved("fmin_tnc brent golden", _minimum),
    *_solved("minimize_scalar", _in_interval),
    *_with_list("fminbound", _in_interval),
    *_with_list("differential_evolution dual_annealing shgo", _searched),
    *_solved("brute basinhopping", _searched),
    *_solved("fmin_slsqp", _slsqp),
    *_with_list("least_squares", _least_squares),
    *_solved("leastsq", _leastsq),
    *_solved("curve_fit", _curve_fit, _of_curve, refused="nan_policy loss"),
    *_solved("lsq_linear", _lsq_linear, None, calls_back=False),
    *_solved("linprog", _linprog, None, refused="integrality", calls_back=False),
    *_with_list("elementwise.find_root", _find_root, None),
    *_with_list("elementwise.find_minimum", _find_minimum, None),
    *_with_list("elementwise.bracket_root elementwise.bracket_minimum", _bracket, None),
    formula("optimize.nnls", _nnls, "A b", neutral="maxiter atol"),
    formula(
        "optimize.isotonic_regression",
        _isotonic,
        "y weights",
        neutral="increasing",
        byproducts=("blocks",),
    ),
    *(
        Row(f"optimize.{name}", ArrayApi())
        for name in ("rosen", "rosen_der", "rosen_hess", "rosen_hess_prod")
    ),
    Row("optimize.linear_sum_assignment", Constant("an assignment")),
    Row("optimize.approx_fprime", Solved(_slopes), neutral="epsilon"),
    *(
        Row(f"optimize.{name}", Refused(why))
        for name, why in (
            (
                "quadratic_assignment",
                "an assignment is piecewise constant. Fix: the cost of its col_ind.",
            ),
            ("milp", "integers are piecewise constant. Fix: the cost at its x."),
            ("direct", "it ends in a box. Fix: scipy.optimize.minimize from there."),
            ("fmin_cobyla", "it has no rule. Fix: scipy.optimize.minimize."),
            *((name, DIFFERENCES) for name in ("check_grad", "line_search", "bracket")),
        )
    ),
]
register(ROWS)
