"""`least_squares`: SciPy's, for residuals of any container of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.progress import Progress
from gradwrap.core.values.layouts import put
from gradwrap.optimize.conditions import bounds_of
from gradwrap.optimize.problem import Problem, as_args, double, optimizers
from gradwrap.optimize.results import caller
from gradwrap.transforms.jacobian import jacobian
from gradwrap.transforms.raveling import Raveling

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.optimize.results import OptimizeResult
    from gradwrap.typing.signatures import F1, P, X

DIFFERENCES = ("jac", "jac_sparsity", "diff_step")


def least_squares(  # noqa: PLR0913  SciPy's arguments
    fun: F1[X, P, Any],
    x0: X,
    args: Any = (),
    *,
    bounds: Any = None,
    method: str = "trf",
    x_scale: Any = None,
    sparsity: Any = None,
    callback: Callable[..., Any] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> OptimizeResult[X]:
    """Fit a container of arrays to residuals by `scipy.optimize.least_squares`.

    gradwrap computes the Jacobian by rows or by columns, whichever are fewer.

    Parameters
    ----------
    fun
        `fun(x, *args)` returns the residuals: an array of any shape, or a container of arrays. It
        may be a function made by `gw.adapting`.
    x0, args
        As in `minimize`.
    bounds
        As in `minimize`, except that for one array two sequences are the lower and the upper
        bounds, as in SciPy's function: `([0.0, 2.0], [1.0, 3.0])`.
    method
        `"trf"`, `"dogbox"` or `"lm"`.
    x_scale
        A number for each element, in a container like `x0`, or a value that SciPy takes.
    sparsity
        Where the Jacobian may differ from zero: an array, or a sparse array of `scipy.sparse`, of
        a row for each residual and a column for each element of `x0`, in the order of
        `gw.ravel_pytree`. The Jacobian is then a sparse array, as `gw.jacobian` makes it.
    callback
        As in `minimize`; needs SciPy 1.16 or later.
    progress
        Show a line with the number of Jacobians, the cost and the norm of the gradient; by default
        as in `minimize`.
    options
        More arguments of SciPy's function: `loss="soft_l1"`, `ftol=1e-12`.

    Returns
    -------
    SciPy's result, with `x` and the gradient `grad` as containers like `x0`, `fun` as the function
    returns it, and `jac` as `gw.jacobian(fun)` returns it: for residuals of one axis, an array of
    shape `(m, *shape)` for each array of `x0`. If `fun` uses tracked arrays besides `x`, the
    result has the derivative of the solution with respect to them.

    Raises
    ------
    NotAnArrayError
        `x0` holds no array, or `fun` returns none.
    NonDifferentiableInputError
        `x0` holds complex arrays.
    PytreeError
        `bounds` or `x_scale` do not fit `x0`.
    MissingToolError
        SciPy is not installed.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> t = np.linspace(0.0, 1.0, 20)
    >>> def residuals(p):
    ...     return p["a"] * np.exp(-p["rate"] * t) - 3.0 * np.exp(-2.0 * t)
    >>> result = gw.optimize.least_squares(residuals, {"a": 1.0, "rate": 1.0})
    >>> print("%.6f %.6f" % (result.x["a"], result.x["rate"]))
    3.000000 2.000000
    >>> result.jac["rate"].shape
    (20,)
    """
    for name in DIFFERENCES:
        if name in options:
            instead = "pass sparsity=" if name == "jac_sparsity" else "leave it out"
            raise TypeError(
                f"gradwrap.optimize.least_squares supplies the Jacobian, so {name} has no use. "
                f"Fix: {instead}, or call scipy.optimize.least_squares."
            )
    found = optimizers("least_squares")
    problem = Problem("least_squares", x0)
    ends = bounds_of(problem, bounds, ends_first=True)
    if ends is not None:
        options["bounds"] = (ends.lb, ends.ub)
    if x_scale is not None:
        options["x_scale"] = _scale(problem, x_scale)
    if callback is not None:
        options["callback"] = _in_containers(problem, callback)
    with Progress(progress, "least_squares", options.get("max_nfev")) as line:
        residuals = _Residuals(problem, fun, as_args(args), sparsity, line)
        result = found.least_squares(
            residuals.value, problem.vector, residuals.jacobian, method=method, **options
        )
    out = residuals.out
    assert out is not None  # the function has been called
    result.jac = result.jac if sparsity is not None else _blocks(result.jac, out, problem)
    result.fun = residuals.returned(result.fun)
    return problem.result(result, ("grad",))  # type: ignore[no-any-return]  # of the type of x0


def _scale(problem: Problem, x_scale: Any) -> Any:
    if isinstance(x_scale, (str, float, int)):
        return x_scale
    return problem.ravelled(x_scale)


def _in_containers(problem: Problem, callback: Callable[..., Any]) -> Callable[..., Any]:
    call = caller(callback)

    def called(intermediate_result: Any) -> Any:
        intermediate_result.x = problem.owned(intermediate_result.x)
        return call(intermediate_result)

    return called


class _Residuals:
    """The residuals and their Jacobian, as functions of SciPy's vector."""

    def __init__(
        self,
        problem: Problem,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        sparsity: Any,
        line: Progress,
    ) -> None:
        self.problem = problem
        self.fun = fun
        self.args = args
        self.sparsity = sparsity
        self.line = line
        self.out: Raveling | None = None
        self.steps = 0
        of_vector = problem.of_vector(fun, args)
        self._jacobian: Any = (
            jacobian(of_vector) if sparsity is None else jacobian(of_vector, sparsity=sparsity)
        )

    def value(self, vector: Any) -> Any:
        """Return the residuals at a point, as a vector."""
        out = Raveling(self.fun(self.problem.tree(vector), *self.args), "what fun returned")
        if isinstance(vector, AnyWrapper):
            return out.flat
        self.out = out
        self._latest = (vector, double(out.flat))
        return self._latest[1]

    def jacobian(self, vector: Any) -> Any:
        """Return the Jacobian at a point, as a matrix."""
        found = self._jacobian(self.problem.in_library(vector))
        matrix = found if self.sparsity is not None else double(found)
        residuals = self._latest[1]
        self.steps += 1
        self.line.show(self.steps, lambda: _described(residuals, matrix))
        return matrix

    def returned(self, vector: Any) -> Any:
        """Return residuals in the form of the function's result."""
        assert self.out is not None
        return self.out.tree(self.problem.in_library(vector))


def _described(residuals: Any, matrix: Any) -> str:
    slope = np.linalg.norm(matrix.T @ residuals)
    return f"cost {np.sum(residuals**2) / 2:.6g}, |gradient| {slope:.2e}"


def _blocks(matrix: Any, out: Raveling, problem: Problem) -> Any:
    """Split the Jacobian into blocks, in the structures of the residuals and the container."""
    rows: list[Any] = [None] * len(out.originals)
    first = 0
    for row, height, shape in zip(out.places, out.sizes, out.shapes, strict=True):
        into = problem.raveling
        columns: list[Any] = [None] * len(into.originals)
        start = 0
        for column, width, own in zip(into.places, into.sizes, into.shapes, strict=True):
            block = matrix[first : first + height, start : start + width]
            columns[column] = problem.in_library(np.reshape(block, (*shape, *own)))
            start += width
        rows[row] = put(into.treedef, columns, "rows")
        first += height
    return put(out.treedef, rows, "columns")
