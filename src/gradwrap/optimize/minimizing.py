"""`minimize`: SciPy's, for a function of any container of arrays."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.progress import Progress
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.optimize.conditions import bounds_of, constraints_of
from gradwrap.optimize.problem import Problem, as_args, computed, double, optimizers
from gradwrap.optimize.results import caller
from gradwrap.transforms.forward import linearize
from gradwrap.transforms.jacobian import hessian
from gradwrap.transforms.raveling import to_host
from gradwrap.transforms.reverse import grad, value_and_grad

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradwrap.optimize.results import OptimizeResult
    from gradwrap.typing.signatures import F1, P, Scalar, X

WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
WITH_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
WITH_HESSIAN = {"dogleg", "trust-exact"}
SUPPLIED = ("jac", "hess", "hessp")


def minimize(  # noqa: PLR0913  SciPy's arguments
    fun: F1[X, P, Scalar],
    x0: X,
    args: Any = (),
    method: str | None = None,
    *,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    **more_options: Any,
) -> OptimizeResult[X]:
    """Minimise a function of a container of arrays by `scipy.optimize.minimize`.

    gradwrap computes the gradient. It also computes the product of the Hessian with a vector for
    the methods that take it (`Newton-CG`, `trust-ncg`, `trust-krylov`, `trust-constr`), and the
    Hessian for `dogleg` and `trust-exact`.

    Parameters
    ----------
    fun
        `fun(x, *args)` returns a real scalar. It may be a function made by `gw.adapting`.
    x0
        The start: an array of any library, a number, or a container of them. A list of numbers
        counts as an array, as in SciPy, and integers count as floats. Flags, None and strings in a
        container stay as they are.
    args
        More arguments of `fun`, as a tuple.
    method
        One of SciPy's methods. By default SciPy's choice: BFGS; L-BFGS-B with bounds; SLSQP with
        constraints. BFGS keeps a matrix of the size of a Hessian, so take L-BFGS-B for thousands of
        parameters.
    bounds
        A pair `(lower, upper)` for all elements, or a container with a pair for each array of `x0`,
        or for each part of `x0`. Each bound is a number, an array of the shape, or None. None in
        place of a pair stands for no bounds. SciPy's `Bounds`, and a list with a pair for each
        element, mean the same as in SciPy. Two arrays for a vector of two elements can be read in
        both ways, and are refused.
    constraints
        A constraint, or a list of them: dictionaries with `"type"` and `"fun"`, or SciPy's
        `NonlinearConstraint`. Their functions take the container and return arrays or containers of
        arrays; gradwrap computes their derivatives. A `LinearConstraint` refers to the vector that
        `gw.ravel_pytree` makes.
    tol
        SciPy's tolerance.
    callback
        Called after each iteration, with `x`; or with an `OptimizeResult` that has `x` and `fun`,
        if its one parameter is named `intermediate_result`. StopIteration ends the search.
    options
        Options of the method, as a dictionary.
    progress
        True: show a line with the iteration, the value and the norm of the gradient. False: show
        none. By default, a line is shown in a terminal or a notebook after two seconds; the
        environment variable `GRADWRAP_PROGRESS=0` turns it off.
    more_options
        Options of the method, by keyword: `maxiter=100`, `gtol=1e-8`.

    Returns
    -------
    SciPy's result, with `x` and the gradient `jac` as containers like `x0`, of its libraries,
    dtypes and shapes. SciPy computes with float64. If `fun` uses tracked arrays besides `x`, the
    result has the derivative of the solution with respect to them.

    Raises
    ------
    NotAnArrayError
        `x0` holds no array.
    NonDifferentiableInputError
        `x0` holds complex arrays.
    NonScalarOutputError
        `fun` does not return a real scalar.
    PytreeError
        `bounds` do not fit `x0`, or a constraint is of an unknown kind.
    MissingToolError
        SciPy is not installed.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> t = np.linspace(0.0, 1.0, 20)
    >>> def misfit(p):
    ...     return np.mean((p["a"] * np.exp(-p["rate"] * t) - 3.0 * np.exp(-2.0 * t)) ** 2)
    >>> result = gw.optimize.minimize(misfit, {"a": 1.0, "rate": 1.0}, gtol=1e-9)
    >>> print("%.4f %.4f" % (result.x["a"], result.x["rate"]))
    3.0000 2.0000

    Bounds have the form of the container:

    >>> bounds = {"a": (0.0, 2.5), "rate": None}
    >>> result = gw.optimize.minimize(misfit, {"a": 1.0, "rate": 1.0}, bounds=bounds)
    >>> print("%.4f %.4f" % (result.x["a"], result.x["rate"]))
    2.5000 1.6058
    """
    for name in SUPPLIED:
        if name in more_options:
            raise TypeError(
                f"gradwrap.optimize.minimize supplies {name} itself. Fix: leave it out; a "
                "derivative of your own is a gw.custom_vjp of fun, or goes to "
                "scipy.optimize.minimize."
            )
    found = optimizers("minimize")
    problem = Problem("minimize", x0)
    kind = method.lower() if method is not None else ""
    objective = Objective(problem, fun, as_args(args), plain=kind in WITHOUT_GRADIENT)
    words: dict[str, Any] = {}
    if kind not in WITHOUT_GRADIENT:
        words["jac"] = objective.gradient
    if kind in WITH_PRODUCTS:
        words["hessp"] = objective.times_hessian
    if kind in WITH_HESSIAN:
        words["hess"] = objective.hessian
    words_of_method = {**(options or {}), **more_options}
    with Progress(progress, "minimize", words_of_method.get("maxiter")) as line:
        watch = _Watch(objective, callback, line)
        if callback is not None or line.wanted:
            words["callback"] = watch
        result = found.minimize(
            objective.value,
            problem.vector,
            method=method,
            bounds=bounds_of(problem, bounds),
            constraints=constraints_of(problem, constraints, with_hessian=kind == "trust-constr"),
            tol=tol,
            options=words_of_method,
            **words,
        )
    return problem.result(result, ("jac", "grad"))  # type: ignore[no-any-return]  # of the type of x0


class Objective:
    """A function of a container, with its derivatives, as functions of SciPy's vector.

    The value and the gradient come from one run, and are kept for one point.
    """

    def __init__(
        self, problem: Problem, fun: Callable[..., Any], args: tuple[Any, ...], *, plain: bool
    ) -> None:
        self.problem = problem
        self.fun = fun
        self.args = args
        self.plain = plain
        self.latest: tuple[Any, Any, Any] | None = None
        self._linear: tuple[Any, Callable[[Any], Any]] | None = None

    def value(self, vector: Any) -> Any:
        """Return the value at a point."""
        if self.plain or isinstance(vector, AnyWrapper):
            value = self.fun(self.problem.tree(vector), *self.args)
            if isinstance(vector, AnyWrapper):
                return value
            self.latest = (np.array(vector), to_host(value), None)
            return self.latest[1]
        return self._at(vector)[0]

    def gradient(self, vector: Any) -> Any:
        """Return the gradient at a point, as a vector."""
        if isinstance(vector, AnyWrapper):
            return self.problem.raveling.ravelled(self._gradient(self.problem.tree(vector)))
        return self._at(vector)[1]

    def _at(self, vector: Any) -> tuple[Any, Any]:
        if self.latest is None or not np.array_equal(self.latest[0], vector):
            tree = self.problem.tree(vector)
            value, gradient = value_and_grad(self.fun)(tree, *self.args)
            leaves, treedef = flatten(gradient)
            value, *leaves = computed([value, *leaves], [None] * (1 + len(leaves)))
            flat = self.problem.ravelled(unflatten(treedef, leaves))
            self.latest = (np.array(vector), to_host(value), flat)
        return self.latest[1:]

    def _gradient(self, tree: Any) -> Any:
        return grad(self.fun)(tree, *self.args)

    def times_hessian(self, vector: Any, direction: Any) -> Any:
        """Return the product of the Hessian at a point with a vector."""
        if self._linear is None or not np.array_equal(self._linear[0], vector):
            tree = self.problem.tree(vector)
            _, product = linearize(self._gradient, tree)
            self._linear = (np.array(vector), product)
        along = self.problem.raveling.tree(self.problem.in_library(direction), is_gradient=True)
        return self.problem.ravelled(self._linear[1](along))

    def hessian(self, vector: Any) -> Any:
        """Return the Hessian at a point, as a matrix."""

        def of_vector(flat: Any) -> Any:
            return self.fun(self.problem.raveling.tree(flat), *self.args)

        return double(hessian(of_vector)(self.problem.in_library(np.array(vector))))


class _Watch:
    """SciPy's callback, which shows the progress and calls the caller's callback."""

    def __init__(
        self, objective: Objective, callback: Callable[..., Any] | None, line: Progress
    ) -> None:
        self.objective = objective
        self.call = caller(callback)
        self.line = line
        self.step = 0

    def __call__(self, vector: Any, *state: Any) -> Any:
        made: Any = import_module("scipy.optimize").OptimizeResult
        self.step += 1
        at, value, gradient = self.objective.latest or (None, np.nan, None)
        if at is None or not np.array_equal(at, vector):
            value, gradient = self.objective.value(vector), None
            if self.objective.latest is not None:
                gradient = self.objective.latest[2]
        self.line.show(self.step, lambda: described(value, gradient))
        tree = self.objective.problem.owned(vector)
        return self.call(made(x=tree, fun=value, nit=self.step))


def described(value: Any, gradient: Any) -> str:
    """Return the text of a line of progress: the value, and the length of the gradient."""
    text = f"value {float(value):.6g}"
    return text if gradient is None else f"{text}, |gradient| {np.linalg.norm(gradient):.2e}"
