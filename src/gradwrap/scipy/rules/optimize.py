"""The rows of `scipy.optimize`: derivatives by the implicit function theorem."""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
from importlib import import_module
from typing import Any

import numpy as np

from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.errors import NoRuleError
from gradwrap.scipy.array_api import array_api_paths
from gradwrap.scipy.calls import wrappers_in
from gradwrap.scipy.dispatching import FUNCTIONS, Composed, Constant, Refused, scipys
from gradwrap.scipy.kinds import ArrayApi, formula
from gradwrap.scipy.rules.matrices import solved, spread
from gradwrap.scipy.solving import (
    as_args,
    as_array,
    attached,
    plain,
    quiet,
    refuse,
    refuse_failure,
    solution,
)
from gradwrap.scipy.table import Row, register, row_of
from gradwrap.transforms.arguments import wrapped_untracked
from gradwrap.transforms.jacobian import jacobian
from gradwrap.transforms.reverse import grad, vjp

BOUNDS: Any = import_module("scipy.optimize").Bounds
QUIET = ("callback", "fprime", "fprime2", "jac", "hess", "hessp", "Dfun")


def _silenced(options: dict[str, Any]) -> dict[str, Any]:
    """Convert options to plain data, and wrap callbacks to return plain data."""
    return {key: quiet(value) if key in QUIET else plain(value) for key, value in options.items()}


# Roots --------------------------------------------------------------------------------------------


def _bracketed(name: str) -> Any:
    """Return the rule of a function that finds a root in a bracket."""
    public = f"optimize.{name}"

    def composed(f: Any, a: Any, b: Any, args: Any = (), **options: Any) -> Any:
        args = as_args(args)
        result = scipys(f"optimize.{name}")(
            quiet(f), plain(a), plain(b), plain(args), **_silenced(options)
        )
        found = result[0] if isinstance(result, tuple) else result
        root = solution(lambda x: as_array(f(x, *args)), found)
        if isinstance(result, tuple):
            return attached(public, result, {(0,): root, (1, "root"): root})
        return attached(public, result, {(): root})

    return composed


def _newton(func: Any, x0: Any, fprime: Any = None, args: Any = (), **options: Any) -> Any:
    args = as_args(args)
    options = {"fprime": fprime, **options}
    result = scipys("optimize.newton")(
        quiet(func), plain(as_array(x0)), args=plain(args), **_silenced(options)
    )
    if isinstance(result, tuple):
        root = solution(lambda x: as_array(func(x, *args)), result[0])
        return attached(
            "optimize.newton",
            result,
            {(0,): root, (1, "root"): root} if isinstance(result[1], dict) else {(0,): root},
        )
    root = solution(lambda x: as_array(func(x, *args)), result)
    return attached("optimize.newton", result, {(): root})


def _root_scalar(f: Any, args: Any = (), **options: Any) -> Any:
    args = as_args(args)
    result = scipys("optimize.root_scalar")(quiet(f), args=plain(args), **_silenced(options))
    both = options.get("fprime") is True

    def residual(x: Any) -> Any:
        made = f(x, *args)
        return as_array(made[0] if both else made)

    root = solution(residual, result.root)
    if is_recorded(root):
        refuse_failure("scipy.optimize.root_scalar", result.converged, result.flag)
    return attached("optimize.root_scalar", result, {("root",): root})


def _root(
    fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, **options: Any
) -> Any:
    args = as_args(args)
    options = {"jac": jac, **options}
    result = scipys("optimize.root")(
        quiet(fun), plain(as_array(x0)), args=plain(args), method=method, **_silenced(options)
    )

    def residual(x: Any) -> Any:
        made = fun(x, *args)
        return np.reshape(as_array(made[0] if jac is True else made), np.shape(result.x))

    root = solution(residual, result.x)
    if is_recorded(root):
        refuse_failure("scipy.optimize.root", result.success, result.message)
    return attached("optimize.root", result, {("x",): root})


def _fsolve(
    func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: Any = 0, **options: Any
) -> Any:
    args = as_args(args)
    options = {"fprime": fprime, **options}
    result = scipys("optimize.fsolve")(
        quiet(func),
        plain(as_array(x0)),
        args=plain(args),
        full_output=full_output,
        **_silenced(options),
    )
    found = result[0] if full_output else result
    root = solution(lambda x: np.reshape(as_array(func(x, *args)), np.shape(found)), found)
    return attached("optimize.fsolve", result, {(0,) if full_output else (): root})


def _fixed_point(func: Any, x0: Any, args: Any = (), **options: Any) -> Any:
    args = as_args(args)
    result = scipys("optimize.fixed_point")(
        quiet(func), plain(as_array(x0)), plain(args), **_silenced(options)
    )
    root = solution(lambda x: as_array(func(x, *args)) - x, result)
    return attached("optimize.fixed_point", result, {(): root})


def _from_start(name: str) -> Any:
    """Return the rule of a quasi-Newton solver for systems of equations."""

    def composed(F: Any, xin: Any, *more: Any, **options: Any) -> Any:
        result = scipys(f"optimize.{name}")(
            quiet(F), plain(as_array(xin)), *more, **_silenced(options)
        )
        root = solution(lambda x: np.reshape(as_array(F(x)), np.shape(result)), result)
        return attached(f"optimize.{name}", result, {(): root})

    return composed


# Minima -------------------------------------------------------------------------------------------


def _at_bounds(x: Any, bounds: Any) -> tuple[Any, Any, Any]:
    """Return masks of the elements at their lower and upper bounds, and the bounds."""
    if bounds is None or _is_empty(bounds):
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
    is_low, is_high = (np.abs(x - np.asarray(plain(one))) <= near for one in (low, high))
    return is_low, is_high & ~is_low, (low, high)


def _is_empty(bounds: Any) -> bool:
    return isinstance(bounds, (tuple, list)) and not bounds


def _plain_bounds(bounds: Any) -> Any:
    if bounds is None or isinstance(bounds, BOUNDS):
        return bounds
    return plain(bounds)


def _stationary(slope: Any, x: Any, bounds: Any) -> Any:
    """Return the point where the gradient vanishes in all elements that are not at a bound."""
    return solution(_where_free(slope, x, bounds), x)


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


def _between(slope: Any, x: Any, ends: Any) -> Any:
    """Return the minimum in an interval, which is an end if the Newton step leads beyond it.

    SciPy's search never reaches the ends exactly.
    """
    low, high = (float(plain(end)) for end in ends)
    step = float(plain(grad(slope)(np.float64(x))))
    target = float(x) - float(plain(slope(np.float64(x)))) / step if step > 0 else float(x)
    if low <= target <= high:
        return solution(slope, x)
    end = as_array(ends[0] if target < low else ends[1])
    return solution(lambda point: point - end, x)


# Constraints


def _constraints(constraints: Any, x: Any) -> list[Any]:
    """Return the residuals of the active constraints, which are zero at the solution."""
    found: list[Any] = []
    for one in constraints if isinstance(constraints, (tuple, list)) else [constraints]:
        if isinstance(one, dict):
            function, args = one["fun"], as_args(one.get("args", ()))
            low, high = 0.0, 0.0 if one["type"] == "eq" else np.inf
        elif hasattr(one, "A"):
            function, args = functools.partial(np.matmul, _matrix_of(one.A)), ()
            low, high = one.lb, one.ub
        else:
            function, args, low, high = one.fun, (), one.lb, one.ub
        value = np.atleast_1d(np.asarray(plain(as_array(function(x, *args)))))
        lower, upper = (np.asarray(plain(as_array(end))) for end in (low, high))
        for end, counts in ((low, True), (high, lower != upper)):
            limit = as_array(end) * np.ones(value.shape)
            near = np.abs(value - np.asarray(plain(limit))) <= 1e-6 * (1 + np.abs(value))
            at = np.flatnonzero(near & counts)
            if len(at):
                found.append(_distance(function, args, limit, at))
    return found


def _quiet_constraints(constraints: Any) -> Any:
    """Convert constraints to plain data and callbacks that return plain data."""
    if isinstance(constraints, (tuple, list)):
        return type(constraints)(map(_quiet_constraints, constraints))
    if isinstance(constraints, dict):
        return _own_parts(constraints)
    made = copy.copy(constraints)
    vars(made).update(_own_parts(vars(constraints)))
    return made


def _own_parts(given: dict[str, Any]) -> dict[str, Any]:
    """Convert the parts of a constraint to plain data, and wrap its callbacks."""
    return {
        key: quiet(value) if isinstance(value, FUNCTIONS) else plain(value)
        for key, value in given.items()
    }


def _matrix_of(a: Any) -> Any:
    return a.toarray() if hasattr(a, "toarray") else as_array(a)


def _distance(function: Any, args: Any, limit: Any, at: Any) -> Any:
    return lambda x: (np.reshape(as_array(function(x, *args)), (-1,)) - limit)[at]


def _constrained(name: str, slope: Any, x: Any, bounds: Any, constraints: Any) -> Any:
    """Return the point that satisfies the KKT conditions with the active constraints."""
    held = _constraints(constraints, x)
    if not held:
        return _stationary(slope, x, bounds)
    n = len(x)

    def distances(point: Any) -> Any:
        return np.concatenate([one(point) for one in held])

    with no_grad():
        slopes = np.asarray(plain(jacobian(distances)(x)))
        gradient = np.asarray(plain(as_array(slope(x))))
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

    return solution(residual, np.concatenate([x, weights]))[:n]


def _gradient(fun: Any, args: Any, jac: Any) -> Any:
    """Return the gradient of the callback: the caller's own, or by reverse mode."""
    if callable(jac):
        return lambda x: jac(x, *args)

    def value(x: Any) -> Any:
        made = fun(x, *args)
        made = made[0] if jac is True else made
        return np.reshape(as_array(made), ())

    return grad(value)


def _minimize(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    **options: Any,
) -> Any:
    name = "scipy.optimize.minimize"
    args = as_args(args)
    given = {"jac": jac, "hess": hess, "hessp": hessp, **options}
    native = {key: value for key, value in _silenced(given).items() if value is not None}
    result = scipys("optimize.minimize")(
        quiet(fun), plain(as_array(x0)), args=plain(args), method=method,
        bounds=_plain_bounds(bounds), constraints=_quiet_constraints(constraints), **native,
    )  # fmt: skip
    slope = _gradient(fun, args, jac)
    x = _constrained(name, slope, result.x, bounds, constraints)
    value = fun(x, *args)
    value = as_array(value[0] if jac is True else value)
    if is_recorded([x, value]):
        is_found = result.success or (not constraints and _is_flat(slope, result.x, bounds))
        refuse_failure(name, is_found, result.message)
    return attached("optimize.minimize", result, {("x",): x, ("fun",): value})


def _is_flat(slope: Any, x: Any, bounds: Any) -> bool:
    """Tell if a point is a solution although SciPy stopped for lack of precision.

    The exact gradient must meet the default tolerance of BFGS.
    """
    with no_grad():
        rest = plain(as_array(_where_free(slope, x, bounds)(x)))
    return bool(np.all(np.abs(rest) <= 1e-5))


def _minimize_scalar(
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    **options: Any,
) -> Any:
    args = as_args(args)
    result = scipys("optimize.minimize_scalar")(
        quiet(fun), plain(bracket), plain(bounds), plain(args), method, **_silenced(options)
    )
    slope = _gradient(fun, args, None)
    x = _stationary(slope, result.x, None) if bounds is None else _between(slope, result.x, bounds)
    value = as_array(fun(x, *args))
    if is_recorded([x, value]):
        refuse_failure(
            "scipy.optimize.minimize_scalar", result.success, getattr(result, "message", "")
        )
    return attached("optimize.minimize_scalar", result, {("x",): x, ("fun",): value})


STARTS = {"fminbound": 2, "brent": 0, "golden": 0}
"""The number of points before `args`. Other functions have one, and some then a gradient."""


def _fmin(name: str, *, with_gradient: bool = False) -> Any:
    """Return the rule of an older minimizer, which returns the point, and more on request."""

    def composed(func: Any, *given_first: Any, args: Any = (), **options: Any) -> Any:
        count = STARTS.get(name, 1)
        starts, rest = given_first[:count], list(given_first[count:])
        if rest and with_gradient:
            options["fprime"] = rest.pop(0)
        if rest:
            args = rest.pop(0)
        refuse(f"scipy.optimize.{name}", more_by_position=rest)
        args = as_args(args)
        given = _silenced(options)
        result = scipys(f"optimize.{name}")(
            quiet(func), *(plain(as_array(s)) for s in starts), args=plain(args), **given
        )
        found = result[0] if isinstance(result, tuple) else result
        slope = _gradient(func, args, options.get("fprime"))
        if name == "fminbound":
            x = _between(slope, np.float64(found), starts)
        else:
            x = _stationary(slope, np.asarray(found), options.get("bounds"))
        if not isinstance(result, tuple):
            return attached(f"optimize.{name}", result, {(): x})
        return attached(f"optimize.{name}", result, {(0,): x, (1,): as_array(func(x, *args))})

    return composed


FIRST = {"basinhopping": "x0", "brute": "ranges"}
UNPOLISHED: dict[str, dict[str, Any]] = {
    "differential_evolution": {"polish": False},
    "dual_annealing": {"no_local_search": True},
    "brute": {"finish": None},
}
"""The options that make a search skip the final minimization."""


def _search(name: str) -> Any:
    """Return the rule of a global search, which ends at a minimum."""
    public = f"scipy.optimize.{name}"

    def composed(func: Any, *rest: Any, **options: Any) -> Any:
        original = scipys(f"optimize.{name}")
        names = inspect.signature(row_original(name)).parameters
        given = dict(zip(list(names)[1:], rest, strict=False)) | options
        inner = dict(given.get("minimizer_kwargs") or {})
        args = as_args(given.get("args", inner.get("args", ())))
        native = {
            key: quiet(value) if callable(value) else _plain_bounds(value)
            for key, value in given.items()
        }
        if inner:
            native["minimizer_kwargs"] = _silenced(inner)
        result = original(quiet(func), **native)
        path: tuple[Any, ...] = ()
        place: tuple[Any, ...] = ()
        if isinstance(result, dict):
            found, path, place = result["x"], ("x",), ("fun",)
        elif isinstance(result, tuple):
            found, path, place = result[0], (0,), (1,)
        else:
            found = result
        bounds = inner.get("bounds") if name in FIRST else given["bounds"]
        jac = inner.get("jac")
        slope = _gradient(func, args, jac)
        x = _stationary(slope, np.asarray(found), bounds)
        if not is_recorded([x]):
            return result
        refuse(public, constraints=given.get("constraints"), callable_minimizer=inner.get("method"))
        for option, value in UNPOLISHED.get(name, {}).items():
            if option in given and given[option] is value:
                raise NoRuleError(
                    f"{public} with {option}={value} does not end at a minimum, so it has no "
                    "derivative. Fix: leave the option out."
                )
        parts = {path: x}
        if isinstance(result, dict):
            refuse_failure(public, result.get("success", True), result["message"])
        if path:
            value = func(x, *args)
            parts[place] = as_array(value[0] if jac is True else value)
        return attached(f"optimize.{name}", result, parts)

    return composed


def row_original(name: str) -> Any:
    """Return SciPy's own function."""
    row = row_of(f"optimize.{name}")
    assert row is not None
    return row.original


def _slsqp(
    func: Any,
    x0: Any,
    eqcons: Any = (),
    f_eqcons: Any = None,
    ieqcons: Any = (),
    f_ieqcons: Any = None,
    bounds: Any = (),
    fprime: Any = None,
    fprime_eqcons: Any = None,
    fprime_ieqcons: Any = None,
    args: Any = (),
    **options: Any,
) -> Any:
    args = as_args(args)
    held = [{"type": "eq", "fun": one, "args": args} for one in eqcons]
    held += [{"type": "ineq", "fun": one, "args": args} for one in ieqcons]
    held += [{"type": "eq", "fun": f_eqcons, "args": args}] if f_eqcons else []
    held += [{"type": "ineq", "fun": f_ieqcons, "args": args}] if f_ieqcons else []
    slopes = (quiet(one) for one in (fprime, fprime_eqcons, fprime_ieqcons))
    result = scipys("optimize.fmin_slsqp")(
        quiet(func), plain(as_array(x0)), [quiet(one) for one in eqcons], quiet(f_eqcons),
        [quiet(one) for one in ieqcons], quiet(f_ieqcons), plain(bounds), *slopes, plain(args),
        **_silenced(options),
    )  # fmt: skip
    name, slope = "scipy.optimize.fmin_slsqp", _gradient(func, args, fprime)
    if not isinstance(result, tuple):
        return attached(
            name.removeprefix("scipy."), result,
            {(): _constrained(name, slope, result, bounds, held)},
        )  # fmt: skip
    x = _constrained(name, slope, result[0], bounds, held)
    if is_recorded(x):
        refuse_failure(name, result[3] == 0, result[4])
    value = as_array(func(x, *args))
    return attached(name.removeprefix("scipy."), result, {(0,): x, (1,): value})


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
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = (-np.inf, np.inf),
    method: Any = "trf",
    *,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    args: Any = (),
    kwargs: Any = None,
    **options: Any,
) -> Any:
    name = "scipy.optimize.least_squares"
    args, words = as_args(args), dict(kwargs or {})
    result = scipys("optimize.least_squares")(
        quiet(fun), plain(as_array(x0)), quiet(jac), _plain_bounds(bounds), method, loss=loss,
        f_scale=plain(f_scale), args=plain(args), kwargs=plain(words), **_silenced(options),
    )  # fmt: skip
    rho = _rho(loss)

    def residuals(x: Any) -> Any:
        return np.reshape(as_array(fun(x, *args, **words)), (-1,))

    def cost(x: Any) -> Any:
        return f_scale**2 * np.sum(rho((residuals(x) / f_scale) ** 2)) / 2

    pairs = _pairs_of(bounds, result.x)
    x = _stationary(grad(cost), result.x, pairs)
    if is_recorded(x):
        refuse_failure(name, result.success, result.message)
    return attached(
        "optimize.least_squares", result, {("x",): x, ("fun",): residuals(x), ("cost",): cost(x)}
    )


def _pairs_of(bounds: Any, x: Any) -> Any:
    if isinstance(bounds, BOUNDS):
        return bounds
    low, high = bounds
    low, high = (as_array(one) * np.ones(np.shape(x)) for one in (low, high))
    return list(zip(low, high, strict=True))


def _leastsq(
    func: Any, x0: Any, args: Any = (), Dfun: Any = None, full_output: Any = False, **options: Any
) -> Any:
    args = as_args(args)
    result = scipys("optimize.leastsq")(
        quiet(func),
        plain(as_array(x0)),
        plain(args),
        quiet(Dfun),
        full_output,
        **_silenced(options),
    )

    def cost(x: Any) -> Any:
        return np.sum(as_array(func(x, *args)) ** 2) / 2

    return attached("optimize.leastsq", result, {(0,): _stationary(grad(cost), result[0], None)})


def _curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: Any = None,
    jac: Any = None,
    *,
    full_output: Any = False,
    **options: Any,
) -> Any:
    native = {"check_finite": check_finite, "method": method, "jac": quiet(jac)}
    native = {key: value for key, value in native.items() if value is not None}
    result = scipys("optimize.curve_fit")(
        quiet(f), plain(xdata), plain(as_array(ydata)), plain(p0), plain(sigma), absolute_sigma,
        bounds=_plain_bounds(bounds), full_output=full_output, **native, **_silenced(options),
    )  # fmt: skip
    refuse("scipy.optimize.curve_fit", nan_policy=options.get("nan_policy"))

    def residuals(p: Any) -> Any:
        made = as_array(f(as_array(xdata), *p)) - as_array(ydata)
        if sigma is None:
            return np.reshape(made, (-1,))
        s = as_array(sigma)
        if s.ndim == 2:
            return solved(np.linalg.cholesky(s), made)
        return np.reshape(made / s, (-1,))

    def cost(p: Any) -> Any:
        return np.sum(residuals(p) ** 2) / 2

    p = _stationary(grad(cost), result[0], _pairs_of(bounds, result[0]))
    slopes = jacobian(residuals)(p)
    covariance = np.linalg.inv(slopes.T @ slopes)
    freedom = np.shape(plain(slopes))[0] - np.shape(plain(slopes))[1]
    if not absolute_sigma:
        covariance = covariance * (np.sum(residuals(p) ** 2) / freedom)
    return attached("optimize.curve_fit", result, {(0,): p, (1,): covariance})


def _on_columns(A: Any, b: Any, x: Any, held: Any, values: Any) -> Any:
    """Solve the least-squares problem for the variables that are not at a bound."""
    free = np.flatnonzero(~held)
    fixed = np.flatnonzero(held)
    rest = b - A[:, fixed] @ values[fixed] if len(fixed) else b
    made = np.linalg.pinv(A[:, free]) @ rest
    total = spread(made, free, x.shape[0])
    return total + np.where(held, values, 0.0) if len(fixed) else total


def _nnls(A: Any, b: Any, out: Any) -> Any:
    x = np.asarray(out[0])
    made = _on_columns(A, b, x, x <= 0, np.zeros(x.shape))
    return made, np.sqrt(np.sum((A @ made - b) ** 2))


def _lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), **options: Any) -> Any:
    result = scipys("optimize.lsq_linear")(
        plain(as_array(A)), plain(as_array(b)), plain(bounds), **_silenced(options)
    )
    matrix, b = as_array(A), as_array(b)
    is_low, is_high, ends = _at_bounds(result.x, _pairs_of(bounds, result.x))
    assert ends is not None
    values = np.where(is_low, np.where(is_low, ends[0], 0.0), np.where(is_high, ends[1], 0.0))
    x = _on_columns(matrix, b, result.x, is_low | is_high, values)
    left = matrix @ x - b
    parts = {("x",): x, ("fun",): left, ("cost",): np.sum(left**2) / 2}
    return attached("optimize.lsq_linear", result, parts)


# Programs -----------------------------------------------------------------------------------------


def _linprog(  # noqa: C901  one kind of constraint after the other
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None,
    bounds: Any = (0, None), **options: Any,
) -> Any:  # fmt: skip
    """Return the optimal vertex, where the active constraints meet."""
    name = "scipy.optimize.linprog"
    given = [None if one is None else plain(as_array(one)) for one in (c, A_ub, b_ub, A_eq, b_eq)]
    result = scipys("optimize.linprog")(*given, plain(bounds), **_silenced(options))
    refuse(name, integrality=options.get("integrality"))
    if not is_recorded([leaf for _, leaf in wrappers_in([c, A_ub, b_ub, A_eq, b_eq, bounds])]):
        return result
    refuse_failure(name, result.success, result.message)
    x, c = result.x, as_array(c)
    n = len(x)
    rows: list[Any] = []
    right: list[Any] = []
    if A_eq is not None:
        A_eq, b_eq = as_array(A_eq), np.reshape(as_array(b_eq), (-1,))
        rows += [A_eq[i] for i in range(A_eq.shape[0])]
        right += [b_eq[i] for i in range(A_eq.shape[0])]
    if A_ub is not None:
        A_ub, b_ub = as_array(A_ub), np.reshape(as_array(b_ub), (-1,))
        slack = np.asarray(plain(b_ub)) - np.asarray(plain(A_ub)) @ x
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
        trial = np.stack([np.asarray(plain(rows[k])) for k in [*chosen, i]])
        if np.linalg.matrix_rank(trial) == len(chosen) + 1:
            chosen.append(i)
    if len(chosen) != n:
        raise NoRuleError(
            f"{name}: the solution is not a vertex, so it is not unique and has no derivative. "
            "Fix: add a small term to c that chooses one."
        )
    matrix = (
        as_array([rows[k] for k in chosen])
        if not any(_is_wrapped(rows[k]) for k in chosen)
        else np.stack([rows[k] for k in chosen])
    )
    vertex = solved(matrix, as_array([right[k] for k in chosen]))
    parts: dict[Any, Any] = {("x",): vertex, ("fun",): c @ vertex}
    if A_ub is not None and result.slack.size:
        parts["slack",] = b_ub - A_ub @ vertex
    if A_eq is not None and result.con.size:
        parts["con",] = b_eq - A_eq @ vertex
    return attached("optimize.linprog", result, parts)


def _is_wrapped(value: Any) -> bool:
    return hasattr(value, "detach")


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


def _find_root(f: Any, init: Any, /, *, args: Any = (), **options: Any) -> Any:
    args = as_args(args)
    ends = tuple(plain(as_array(one)) for one in init)
    result = scipys("optimize.elementwise.find_root")(
        quiet(f), ends, args=plain(args), **_silenced(options)
    )
    root = _elementwise(lambda x: as_array(f(x, *args)), result.x)
    return attached(
        "optimize.elementwise.find_root", result, {("x",): root, ("f_x",): as_array(f(root, *args))}
    )


def _find_minimum(f: Any, init: Any, /, *, args: Any = (), **options: Any) -> Any:
    args = as_args(args)
    ends = tuple(plain(as_array(one)) for one in init)
    result = scipys("optimize.elementwise.find_minimum")(
        quiet(f), ends, args=plain(args), **_silenced(options)
    )
    slope = grad(lambda x: np.sum(as_array(f(x, *args))))
    point = _elementwise(slope, result.x)
    return attached(
        "optimize.elementwise.find_minimum",
        result,
        {("x",): point, ("f_x",): as_array(f(point, *args))},
    )


def _elementwise(residual: Any, found: Any) -> Any:
    """Return the root of each element, with its derivative."""
    return solution(residual, found)


def _bracket(name: str) -> Any:
    def composed(f: Any, *starts: Any, args: Any = (), **options: Any) -> Any:
        args = as_args(args)
        result = scipys(f"optimize.elementwise.{name}")(
            quiet(f), *(plain(as_array(s)) for s in starts), args=plain(args), **_silenced(options)
        )
        with array_api_paths():
            wrapped = tuple(wrapped_untracked(as_array(s)) for s in starts)
            made = scipys(f"optimize.elementwise.{name}")(f, *wrapped, args=args, **options)
        parts = {
            (key, i): made[key][i]
            for key in ("bracket", "f_bracket")
            for i in range(len(result[key]))
        }
        return attached(f"optimize.elementwise.{name}", result, parts)

    return composed


# The table ----------------------------------------------------------------------------------------


def _calls(name: str, function: Any) -> Row:
    return Row(f"optimize.{name}", Composed(function, calls_back=True))


ROWS = [
    *(
        _calls(name, _bracketed(name))
        for name in ("brentq", "brenth", "bisect", "ridder", "toms748")
    ),
    _calls("newton", _newton),
    _calls("root_scalar", _root_scalar),
    _calls("root", _root),
    _calls("fsolve", _fsolve),
    _calls("fixed_point", _fixed_point),
    *(
        Row(f"optimize.{name}", Composed(_from_start(name), calls_back=True))
        for name in (
            "anderson",
            "broyden1",
            "broyden2",
            "diagbroyden",
            "excitingmixing",
            "linearmixing",
            "newton_krylov",
        )
    ),
    _calls("minimize", _minimize),
    _calls("minimize_scalar", _minimize_scalar),
    _calls("fmin", _fmin("fmin")),
    _calls("fmin_bfgs", _fmin("fmin_bfgs", with_gradient=True)),
    _calls("fmin_cg", _fmin("fmin_cg", with_gradient=True)),
    _calls("fmin_ncg", _fmin("fmin_ncg", with_gradient=True)),
    _calls("fmin_powell", _fmin("fmin_powell")),
    _calls("fmin_l_bfgs_b", _fmin("fmin_l_bfgs_b", with_gradient=True)),
    _calls("fmin_tnc", _fmin("fmin_tnc", with_gradient=True)),
    _calls("fminbound", _fmin("fminbound")),
    _calls("brent", _fmin("brent")),
    _calls("golden", _fmin("golden")),
    _calls("least_squares", _least_squares),
    _calls("leastsq", _leastsq),
    _calls("curve_fit", _curve_fit),
    formula("optimize.nnls", _nnls, "A b", neutral="maxiter atol"),
    Row("optimize.lsq_linear", Composed(_lsq_linear)),
    Row("optimize.linprog", Composed(_linprog)),
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
    _calls("elementwise.find_root", _find_root),
    _calls("elementwise.find_minimum", _find_minimum),
    _calls("elementwise.bracket_root", _bracket("bracket_root")),
    _calls("elementwise.bracket_minimum", _bracket("bracket_minimum")),
    Row("optimize.linear_sum_assignment", Constant("an assignment")),
    Row(
        "optimize.quadratic_assignment",
        Refused("an assignment is piecewise constant. Fix: the cost of its col_ind."),
    ),
    Row("optimize.milp", Refused("integers are piecewise constant. Fix: the cost at its x.")),
    *(
        _calls(name, _search(name))
        for name in (
            *("differential_evolution", "dual_annealing", "shgo", "brute", "basinhopping"),
        )
    ),
    _calls("fmin_slsqp", _slsqp),
    Row("optimize.direct", Refused("it ends in a box. Fix: scipy.optimize.minimize from there.")),
    Row("optimize.fmin_cobyla", Refused("it has no rule. Fix: scipy.optimize.minimize.")),
    *(
        Row(
            f"optimize.{name}",
            Refused(
                "it compares or takes differences. Fix: gradwrap.grad, "
                "gradwrap.testing.check_grads."
            ),
        )
        for name in ("approx_fprime", "check_grad", "line_search", "bracket")
    ),
]
register(ROWS)
