"""Implicit differentiation of roots, fixed points, and solutions of linear systems.

The solver runs once and is not differentiated. Where `f(x)` is zero, and `A` is the derivative of
`f` at `x`, a change `df` through the closure of `f` moves the root by `dx = -A^-1 df` (the implicit
function theorem). So `f(x)` is recorded, and `x` is made from it by an operation whose derivative
is `-A^-1`. Each level that tracks `f(x)` gets its own such operation, from the lowest up, so that
it is differentiated in its turn by those outside of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradwrap.core.calls.forward import Dual
from gradwrap.core.graph.backward import backward_pass
from gradwrap.core.graph.custom_nodes import OpaqueOp, recorded_outputs
from gradwrap.core.graph.linear import LinearMap
from gradwrap.core.levels.levels import (
    TAPE_LEVEL,
    next_sequence_number,
    probe_level,
    recording_from,
    silent_up_to,
)
from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    has_effect,
    innermost,
    is_at,
    is_batch,
    layers,
    level_of,
    snapshot,
    strip,
)
from gradwrap.core.library.backend import backend_of, is_floating
from gradwrap.core.values.comparing import namespace_of, zeros_like
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.core.values.tree import TreeDef, flatten, map_leaves, unflatten
from gradwrap.errors import ConvergenceError, NoRuleError, RuleResultError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.arguments import kept_probe, stop_gradient, wrapped_untracked
from gradwrap.transforms.calls import checked_leaves, dual, output_of, spaces_of
from gradwrap.transforms.checkpoint import origins
from gradwrap.transforms.raveling import to_host
from gradwrap.transforms.recomputing import may_keep, recomputing
from gradwrap.transforms.reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Linear = Callable[[Any], Any]
    Solve = Callable[[Linear, Any], Any]

T = TypeVar("T")


def custom_root(
    f: Callable[[T], T],
    initial_guess: T,
    solve: Callable[[Callable[[T], T], T], T],
    tangent_solve: Callable[[Callable[[T], T], T], T] | None = None,
) -> T:
    """Return a root of `f` by any solver, and differentiate it by the implicit function theorem.

    Derivatives of any order, in both modes, are with respect to the variables in the closure of
    `f`. The form is that of `jax.lax.custom_root`.

    Parameters
    ----------
    f
        A function of an array or a pytree of arrays that returns one of the same structure and
        shapes; differentiable, with an invertible derivative at its root.
    initial_guess
        The start of the solver. It has no derivative.
    solve
        `solve(f, initial_guess)` returns `x` such that `f(x)` is zero. This is not checked. The
        solver is not differentiated, so it may iterate, look at values, or call a compiled library.
    tangent_solve
        `tangent_solve(g, y)` returns `x` such that `g(x)` is `y`, for a linear function `g` and a
        right-hand side with the structure of `x`. It is called for the derivative of `f` and for
        its adjoint. By default, the matrix of `g` is computed column by column, and solved. Under a
        `vmap` that is differentiated from outside, it is differentiated too; it must then consist
        of operations that have derivatives, and solve to full precision.

    Raises
    ------
    RuleResultError
        `solve` or `f` does not return the structure, shapes and dtypes of `initial_guess`.
    TrackedValueError
        The result of the transform is made of what `f` has kept of one of its calls.

    Examples
    --------
    The square root, by Newton's method; and a fixed point, which is a root of `g(x) - x`:

    >>> import numpy as np, gradwrap as gw
    >>> def newton(f, x):
    ...     for _ in range(20):
    ...         x = x - f(x) / gw.grad(f)(x)
    ...     return x
    >>> gw.grad(lambda a: gw.custom_root(lambda x: x * x - a, 1.0, newton))(4.0)
    np.float64(0.25)
    >>> def iterate(f, x):
    ...     for _ in range(100):
    ...         x = x + f(x)
    ...     return x
    >>> def fixed_point(g, guess):
    ...     return gw.custom_root(lambda x: g(x) - x, guess, iterate)
    >>> gw.value_and_grad(lambda a: fixed_point(lambda x: a * np.cos(x), 1.0))(0.5)
    (np.float64(0.45018...), np.float64(0.73948...))
    """
    name = f"custom_root of {name_of(f)}"
    return named_root(recomputing(f), initial_guess, solve, tangent_solve, name, f)


def named_root(  # noqa: PLR0913  those of `custom_root`, and two that it adds
    f: Any, initial_guess: T, solve: Any, tangent_solve: Any, name: str, quick: Any = None
) -> T:
    """Return what `custom_root` does; the errors have the name, and the solver calls `quick`."""
    tangent_solve = tangent_solve or _dense_solve
    return _solved(f, initial_guess, quick or f, solve, (tangent_solve, tangent_solve), name)  # type: ignore[no-any-return]  # of the type of the guess


def fixed_point(
    fun: Callable[[T], T],
    x0: T,
    *,
    tol: float | None = None,
    maxiter: int = 1000,
    tangent_solve: Callable[[Callable[[T], T], T], T] | None = None,
) -> T:
    """Return a fixed point of a function, `x = fun(x)`, and differentiate it implicitly.

    The iteration is not differentiated, and takes no memory. Derivatives of any order are with
    respect to the variables in the closure of `fun`.

    Parameters
    ----------
    fun
        A function of an array or a container of arrays, which returns the same structure, shapes
        and dtypes. `fun(fun(... fun(x0)))` has to converge.
    x0
        The start of the iteration. It has no derivative.
    tol
        The iteration ends when no element changes by more than `tol * (1 + abs(x))`. By default,
        64 times the precision of the dtype.
    maxiter
        The largest number of calls. If there is no convergence by then, an error is raised.
    tangent_solve
        As in `custom_root`, for the derivative of `fun(x) - x`. By default, its matrix is computed
        and solved. For thousands of elements, an iterative solver is better.

    Raises
    ------
    ConvergenceError
        `maxiter` calls did not suffice, or an element has become infinite or NaN.
    RuleResultError
        `fun` does not return the structure, shapes and dtypes of `x0`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def kepler(eccentricity, mean):
    ...     return gw.fixed_point(lambda angle: mean + eccentricity * np.sin(angle), mean)
    >>> gw.value_and_grad(kepler)(0.1, 1.0)
    (np.float64(1.08859...), np.float64(0.92906...))
    """
    name = name_of(fun)

    def change_by(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: _minus(function(x), x, f"fixed_point of {name}: fun")

    def iterate(change: Any, x: Any) -> Any:
        left = np.inf
        for _ in range(maxiter):
            leaves, treedef = flatten(x)
            steps = flatten(change(x))[0]
            x = unflatten(treedef, [a + b for a, b in zip(leaves, steps, strict=True)])
            left = max(map(_relative, steps, leaves), default=0.0)
            enough = tol if tol is not None else 64 * max(map(_precision, leaves), default=0.0)
            if left <= enough:
                return x
            if not left < np.inf:
                break
        raise ConvergenceError(
            f"fixed_point of {name} has not converged: after at most {maxiter} calls, the last "
            f"relative change is {left:.1e}. Fix: start nearer, allow more with maxiter=, or find "
            "it by a solver of your own with gw.custom_root."
        )

    by_rule, title = change_by(recomputing(fun)), f"fixed_point of {name}"
    return named_root(by_rule, x0, iterate, tangent_solve, title, change_by(fun))


def _relative(step: Any, at: Any) -> float:
    """Return the largest relative change of any element, in any example of a batch."""
    step, at = (to_host(innermost(one)) for one in (step, at))
    return float(np.max(np.abs(step) / (1.0 + np.abs(at)), initial=0.0))


def _precision(array: Any) -> float:
    return float(np.finfo(to_host(innermost(array)).dtype).eps)


def custom_linear_solve(
    matvec: Callable[[T], T],
    b: T,
    solve: Callable[[Callable[[T], T], T], T],
    transpose_solve: Callable[[Callable[[T], T], T], T] | None = None,
    symmetric: bool = False,
) -> T:
    """Return the solution of `matvec(x) = b` by any solver, with an implicit derivative.

    Derivatives of any order are with respect to `b` and to the variables in the closure of
    `matvec`; each needs one more solve. The form is that of `jax.lax.custom_linear_solve`.

    Parameters
    ----------
    matvec
        A linear function of an array, or a pytree of arrays.
    b
        The right-hand side, with the structure of the argument and the result of `matvec`.
    solve
        `solve(matvec, b)` returns the solution. It is not differentiated.
    transpose_solve
        `transpose_solve(vecmat, b)` solves with `vecmat`, the transpose of `matvec` (for complex
        arrays, the adjoint). Reverse mode needs it.
    symmetric
        `matvec` is its own transpose, so `solve` solves with the transpose too.

    Raises
    ------
    NoRuleError
        Reverse mode, without `transpose_solve` or `symmetric`.
    RuleResultError
        A solution does not have the structure, shape and dtype of `b`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> from scipy.sparse.linalg import LinearOperator, cg
    >>> def by_cg(matvec, b):
    ...     return cg(LinearOperator((b.size, b.size), matvec, dtype=b.dtype), b, rtol=1e-12)[0]
    >>> def total(scale, b):
    ...     matvec = lambda x: scale * np.array([2.0, 5.0]) * x
    ...     return np.sum(gw.custom_linear_solve(matvec, b, by_cg, symmetric=True))
    >>> gw.grad(total, (0, 1))(1.0, np.ones(2))
    (np.float64(-0.7...), array([0.5, 0.2]))
    """
    if symmetric:
        transpose_solve = solve
    name = f"custom_linear_solve of {name_of(matvec)}"

    def residual(x: Any) -> Any:
        return _minus(matvec(x), b, f"{name}: matvec", "b")

    solvers: Any = (solve, transpose_solve)
    return _solved(residual, b, matvec, solve, solvers, name)  # type: ignore[no-any-return]  # of the type of b


def _minus(value: Any, other: Any, what: str, whose: str = "x") -> Any:
    """Subtract two trees of one structure."""
    left, treedef = flatten(value)
    right, wanted = flatten(other)
    if treedef != wanted:
        raise RuleResultError(
            f"{what} returned the structure {treedef}; {whose} has {wanted}. "
            "Fix: return that structure."
        )
    return unflatten(treedef, [one - two for one, two in zip(left, right, strict=True)])


def _solved(  # noqa: PLR0913  the two functions above
    f: Callable[[Any], Any],
    like: Any,
    given: Callable[[Any], Any],
    solve: Callable[..., Any],
    solvers: tuple[Solve, Solve | None],
    name: str,
) -> Any:
    """Find a root of `f` by `solve(given, like)`, and attach its derivative at each level."""
    is_first, silenced = may_keep(given), silent_up_to()
    depended: set[int] = set()

    def quietly(x: Any) -> Any:
        """Call the function as the solver does, with native arrays where possible."""
        nonlocal is_first
        if is_first:  # what it keeps of this call has derivatives
            is_first = False
            with recording_from(silenced + 1):
                made = given(wrapped_untracked(x))
            depended.update(_levels_of(flatten(made)[0])[0])
        else:
            made = given(wrapped_untracked(x))
        return map_leaves(_without_silent, made)

    with no_grad():
        like = map_leaves(_without_silent, like)
        found = map_leaves(_without_silent, solve(quietly, like))
    guesses, treedef = flatten(like)
    wanted = [output_of(leaf, ()) for leaf in guesses]
    problem = _Problem(f, treedef, solvers, name)
    leaves = problem.checked(found, wanted, "solve returned", "the right-hand side or guess")
    residual = problem.residual(leaves)
    levels, is_outside = _levels_of(residual)
    levels = {level for level in levels if level > problem.silenced}
    if not levels and any(level > silenced for level in depended):
        raise _kept(name, "at the solution")
    if levels and is_outside:
        return unflatten(treedef, _stepped(problem, leaves, len(levels)))
    for level in sorted(levels):
        leaves = _attached(problem, leaves, residual, level)
    return unflatten(treedef, leaves)


def _dense_solve(linear: Callable[[Any], Any], y: Any) -> Any:
    """Solve `linear(x) = y` for `x`, by one call of `linear` for each element."""
    parts, treedef = flatten(y)
    backend = backend_of(parts[0])
    xp = backend.xp
    sizes = [part.size for part in parts]

    def as_vector(tree: Any) -> Any:
        leaves = [xp.reshape(leaf, (-1,)) for leaf in flatten(tree)[0]]
        return leaves[0] if len(leaves) == 1 else xp.concat(leaves)

    def as_tree(vector: Any) -> Any:
        leaves: list[Any] = []
        start = 0
        for part, size in zip(parts, sizes, strict=True):
            leaf = xp.reshape(vector[start : start + size], part.shape)
            leaves.append(xp.astype(leaf, part.dtype))
            start += size
        return unflatten(treedef, leaves)

    right = as_vector(y)
    unit = xp.eye(sum(sizes), dtype=right.dtype, device=backend.device(parts[0]))
    columns = [as_vector(linear(as_tree(unit[i, :]))) for i in range(sum(sizes))]
    xp = namespace_of([right, *columns])
    solution = xp.linalg.solve(xp.stack(columns, axis=1), right[:, None])
    return as_tree(solution[:, 0])


# One operation for each level ---------------------------------------------------------------------


class _Problem:
    """An equation `f(x) = 0`, and the solvers for its derivative and the adjoint."""

    def __init__(
        self,
        f: Callable[[Any], Any],
        treedef: TreeDef,
        solvers: tuple[Solve, Solve | None],
        name: str,
    ) -> None:
        self.f = f
        self.treedef = treedef
        self.solvers = solvers
        self.name = name
        self.silenced: int = silent_up_to()

    def residual(self, leaves: Sequence[Any]) -> list[Any]:
        """Return the leaves of `f(x)`, of the structure and spaces of `x`."""
        return self.checked(
            self.f(wrapped_untracked(self.tree(leaves))), leaves, "the function returned"
        )

    def tree(self, leaves: Sequence[Any]) -> Any:
        """Put leaves into the structure of the solution."""
        return unflatten(self.treedef, leaves)

    def checked(
        self, tree: Any, like: Sequence[Any], what: str, whose: str = "the solution"
    ) -> list[Any]:
        """Return a tree's leaves, checked against the spaces of `like`; None for non-arrays."""
        where = f"{self.name}: {what}"
        return checked_leaves(tree, self.treedef, spaces_of(like), lambda _: where, whose)

    def solve(self, linear: Linear, right: Sequence[Any]) -> list[Any]:
        """Solve with the derivative, as an operation differentiated implicitly."""
        forward, transpose = self.solvers
        return flatten(custom_linear_solve(linear, self.tree(right), forward, transpose))[0]

    def solve_transposed(self, linear: Linear, right: Sequence[Any]) -> list[Any]:
        """Solve with the adjoint of the derivative, also differentiated implicitly."""
        forward, transpose = self.solvers
        if transpose is None:
            raise NoRuleError(
                f"{self.name} has no transpose_solve, which reverse mode needs. Fix: "
                "pass one, or symmetric=True where matvec is its own transpose."
            )
        return flatten(custom_linear_solve(linear, self.tree(right), transpose, forward))[0]


def _attached(
    problem: _Problem, leaves: Sequence[Any], residual: Sequence[Any], level: int
) -> list[Any]:
    """Attach the derivative at a level to the solution; `leaves` have the lower levels'."""
    tracked = [_at(leaf, level) for leaf in residual]
    if any(isinstance(leaf, Dual) for leaf in tracked):
        return _pushed(problem, leaves, level)
    return _recorded(problem, leaves, level)


# Forward mode -------------------------------------------------------------------------------------


def _pushed(problem: _Problem, leaves: Sequence[Any], level: int) -> list[Any]:
    """Solve A dx = -df for the tangent dx, where df is the tangent of f at a fixed x."""
    moved = _tangents(problem.residual(leaves), leaves, level)

    def linear(tree: Any) -> Any:
        directions = problem.checked(tree, leaves, "a solver multiplied")
        duals = [dual(x, d, level) for x, d in zip(leaves, directions, strict=True)]
        probe = probe_level(problem.name)
        with recording_from(problem.silenced + 1):  # a solver runs without recording
            made = problem.residual([_point(problem, x, probe) for x in duals])
        found = _tangents(made, leaves, level)
        return problem.tree([a - b for a, b in zip(found, moved, strict=True)])

    tangents = problem.solve(linear, [-t for t in moved])
    return [dual(x, t, level) for x, t in zip(leaves, tangents, strict=True)]


def _tangents(values: Sequence[Any], like: Sequence[Any], level: int) -> list[Any]:
    found: list[Any] = []
    for value, x in zip(values, like, strict=True):
        dual = _at(value, level)
        found.append(zeros_like(x) if dual is None else dual._node.value)
    return found


# Reverse mode -------------------------------------------------------------------------------------


def _recorded(problem: _Problem, leaves: Sequence[Any], level: int) -> list[Any]:
    """Record f at a tracked x, whose pull is the adjoint of A."""
    xs = [_point(problem, x, level) for x in leaves]
    points = [x._node for x in xs]
    began = next_sequence_number()
    residual = [_at(value, level) for value in problem.residual(xs)]
    derivative = LinearMap(points, residual)

    def adjoint(tree: Any) -> Any:
        cotangents = problem.checked(tree, leaves, "a solver multiplied")
        arrived = derivative.pull(cotangents, inputs_alone=True)
        back = [zeros_like(x) if g is None else g for g, x in zip(arrived, leaves, strict=True)]
        return problem.tree(back)

    tracked = [value._node for value in residual if value is not None]
    parents = tuple(node for node in origins(tracked, began) if node not in points)
    if not parents:
        raise _kept(problem.name, "at a second call at the solution")
    return _Solution(problem, leaves, adjoint, residual, parents).recorded(level)


def _kept(name: str, where: str) -> RuleResultError:
    return RuleResultError(
        f"{name}: {where}, the function's result does not depend on the tracked values that it "
        "depended on at its first call. It may return what it has kept. Fix: let it compute its "
        "result at each call."
    )


def _point(problem: _Problem, x: Any, level: int) -> Any:
    """Track a part of the solution at a level, for this rule alone."""
    if not is_floating(x):
        return wrapped_untracked(x)
    op = OpaqueOp(problem.name, backend_of(x))
    return recorded_outputs(op, (), _refused, (problem.name,), [x], [0], level)[0]


def _refused(xp: Any, g: Any, name: str) -> Any:  # noqa: ARG001  a formula's form
    """Refuse a cotangent at the point of the call by which the rule differentiates f."""
    raise kept_probe(name)


class _Solution:
    """The solution as an operation on the nodes from which the residual was computed."""

    def __init__(  # noqa: PLR0913  an equation, and what it was recorded from
        self,
        problem: _Problem,
        leaves: Sequence[Any],
        adjoint: Linear,
        residual: Sequence[Any],
        parents: tuple[Any, ...],
        own: Sequence[Any] = (),
    ) -> None:
        self.problem = problem
        self.leaves = leaves
        self.adjoint = adjoint
        self.residual = residual
        self.parents = parents
        self.own = own
        """The solution's nodes, if the residual is made from them and the pull to be recorded."""

    def recorded(self, level: int) -> list[Any]:
        """Return the solution with nodes at a level."""
        leaves = self.leaves
        places = [place for place, leaf in enumerate(leaves) if is_floating(leaf)]
        op = OpaqueOp(self.problem.name, backend_of(leaves[places[0]]), materializes=True)
        outs = recorded_outputs(op, self.parents, _pulled, (self,), leaves, places, level)
        return [wrapped_untracked(out) for out in outs]

    def again(self) -> _Solution:
        """Return the operation on a solution that is tracked itself, for higher derivatives."""
        problem = self.problem
        leaves = self.recorded(TAPE_LEVEL)
        residual = [_at(value, TAPE_LEVEL) for value in problem.residual(leaves)]
        _, back = vjp(problem.f, problem.tree(leaves))

        def adjoint(tree: Any) -> Any:
            return back(tree)[0]

        own = [_at(leaf, TAPE_LEVEL)._node for leaf in leaves if is_floating(leaf)]
        return _Solution(problem, leaves, adjoint, residual, self.parents, own)

    def pull(self, parts: tuple[Any, ...]) -> tuple[Any, ...]:
        """Solve with the adjoint, and pull the solution back through f at a fixed x."""
        given = iter(parts)
        cotangents = [next(given) if is_floating(leaf) else None for leaf in self.leaves]
        solved = self.problem.solve_transposed(self.adjoint, cotangents)
        roots = [
            (value._node, -part if isinstance(part, AnyWrapper) else wrapped_untracked(-part))
            if self.own
            else (value._node, -part)
            for value, part in zip(self.residual, solved, strict=True)
            if value is not None
        ]
        targets = {*self.parents, *self.own}
        arrived = backward_pass(
            roots, retain_graph=True, create_graph=bool(self.own), targets=targets, cut=True
        )
        return tuple(arrived.get(parent) for parent in self.parents)


def _pulled(xp: Any, g: Any, solution: _Solution) -> tuple[Any, ...]:  # noqa: ARG001  a formula's form
    parts = g if isinstance(g, TUPLE) else (g,)
    level = solution.parents[0].meta.level
    is_recorded = level == TAPE_LEVEL and any(isinstance(part, AnyWrapper) for part in parts)
    return (solution.again() if is_recorded else solution).pull(parts)


# Levels -------------------------------------------------------------------------------------------


def _levels_of(values: Sequence[Any]) -> tuple[set[int], bool]:
    """Return the levels that track the values, and whether one is outside of a `vmap`."""
    found: set[int] = set()
    is_outside = False
    for value in values:
        is_mapped = False
        for layer in layers(value):
            if is_batch(layer):
                is_mapped = True
            elif layer._node is not None:
                is_outside = is_outside or is_mapped
                found.add(level_of(layer))
    return found, is_outside


def _without_silent(leaf: Any) -> Any:
    """Take off the wrappers that have no effect in the present mode."""
    return snapshot(strip(leaf, lambda layer: not has_effect(layer)))


def _at(value: Any, level: int) -> Any:
    """Return the wrapper of a level without the wrappers above it, or None."""
    value = strip(value, lambda layer: layer._node is None or level_of(layer) > level)
    return snapshot(value) if is_at(value, level) else None


# Under vmap ---------------------------------------------------------------------------------------
#
# An operation of its own, as above, belongs to one level and has all that is inside
# of that for its data. Where a `vmap` is inside of what differentiates, the batch is outermost. So
# the derivative is made of ordinary operations, which are batched, and recorded by whoever records:
# from an x that is right in value, a Newton step leads to one that is right to the first order in
# whatever `f` has closed over, the next one to the third (a step that starts with an error of order
# k ends with one of order 2 k).


def _stepped(problem: _Problem, leaves: Sequence[Any], order: int) -> list[Any]:
    """Return the solution with its derivatives up to an order, by Newton steps."""
    found = list(leaves)
    reached = 0
    while reached < order:
        found = _newton_step(problem, found)
        reached = 2 * reached + 1
    return [leaf + (one - stop_gradient(one)) for leaf, one in zip(leaves, found, strict=True)]


def _newton_step(problem: _Problem, leaves: Sequence[Any]) -> list[Any]:
    def linear(direction: Any) -> Any:
        probe = probe_level(problem.name)
        duals = [dual(x, d, probe) for x, d in zip(leaves, flatten(direction)[0], strict=True)]
        return problem.tree(_tangents(problem.residual(duals), leaves, probe))

    solve, _ = problem.solvers
    change = flatten(solve(linear, problem.tree(problem.residual(leaves))))[0]
    return [leaf - part for leaf, part in zip(leaves, change, strict=True)]
