"""The solution of an equation as one operation of a level, whose input is the residual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.variable import variable_class
from gradwrap.core.calls.forward import Dual
from gradwrap.core.graph.linear import LinearMap
from gradwrap.core.graph.node import Leaf
from gradwrap.core.levels.levels import TAPE_LEVEL, recording_from, silent_up_to
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    has_effect,
    is_at,
    layers,
    level_of,
    snapshot,
    strip,
)
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.comparing import zeros_like
from gradwrap.core.values.tree import TreeDef, flatten, unflatten
from gradwrap.errors import NoRuleError
from gradwrap.transforms.arguments import wrapped_untracked
from gradwrap.transforms.calls import checked_leaves, dual, spaces_of
from gradwrap.transforms.custom_calls import recorded
from gradwrap.transforms.reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.transforms.custom_calls import Pull

    Linear = Callable[[Any], Any]
    Solve = Callable[[Linear, Any], Any]


class Problem:
    """An equation `f(x) = 0`, and how to solve with its derivative and with the adjoint of that."""

    def __init__(
        self,
        f: Callable[[Any], Any],
        treedef: TreeDef,
        solvers: tuple[Solve, Solve | None],
        name: str,
        linear_solve: Callable[..., Any],
    ) -> None:
        self.f = f
        self.treedef = treedef
        self.solvers = solvers
        self.name = name
        self.linear_solve = linear_solve
        self.silenced: int = silent_up_to()

    def residual(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves of `f(x)`, of the structure and spaces of `x`."""
        return self.checked(
            self.f(wrapped_untracked(self.tree(leaves))), leaves, "the function returned"
        )

    def tree(self, leaves: Sequence[Any]) -> Any:
        """Leaves in the structure of the solution."""
        return unflatten(self.treedef, leaves)

    def checked(
        self, tree: Any, like: Sequence[Any], what: str, whose: str = "the solution"
    ) -> list[Any]:
        """The leaves of a tree, each in the space of one of `like`; None where one is no array."""
        where = f"{self.name}: {what}"
        return checked_leaves(tree, self.treedef, spaces_of(like), lambda _: where, whose)

    def solve(self, linear: Linear, right: Sequence[Any]) -> list[Any]:
        """Solve with the derivative, as an operation that is differentiated implicitly."""
        forward, transpose = self.solvers
        return flatten(self.linear_solve(linear, self.tree(right), forward, transpose))[0]

    def solve_transposed(self, linear: Linear, right: Sequence[Any]) -> list[Any]:
        """Solve with the adjoint of the derivative, as such an operation too."""
        forward, transpose = self.solvers
        if transpose is None:
            raise NoRuleError(
                f"{self.name} has no transpose_solve, which reverse mode needs. Fix: "
                "pass one, or symmetric=True where matvec is its own transpose."
            )
        return flatten(self.linear_solve(linear, self.tree(right), transpose, forward))[0]


def attached(
    problem: Problem, leaves: Sequence[Any], residual: Sequence[Any], level: int
) -> list[Any]:
    """The solution with its derivative at a level; `leaves` have those of the levels below."""
    tracked = [_at(leaf, level) for leaf in residual]
    if any(isinstance(leaf, Dual) for leaf in tracked):
        return _pushed(problem, leaves, level)
    return _recorded(problem, leaves, level)


# Forward mode -------------------------------------------------------------------------------------


def _pushed(problem: Problem, leaves: Sequence[Any], level: int) -> list[Any]:
    """A dx = -df, where df is the tangent of f(x) for an x that does not move."""
    moved = _tangents(problem.residual(leaves), leaves, level)

    def linear(tree: Any) -> Any:
        directions = problem.checked(tree, leaves, "a solver multiplied")
        duals = [dual(x, d, level) for x, d in zip(leaves, directions, strict=True)]
        with recording_from(problem.silenced + 1):  # a solver runs without recording
            found = _tangents(problem.residual(duals), leaves, level)
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


def _recorded(problem: Problem, leaves: Sequence[Any], level: int) -> list[Any]:
    """Record f at an x that this level tracks too: the way back to it is the adjoint of A."""
    points = [Leaf(backend_of(x).meta(x, level)) for x in leaves]
    xs = [variable_class(backend_of(x))(x, p) for x, p in zip(leaves, points, strict=True)]
    residual = [_at(value, level) for value in problem.residual(xs)]
    derivative = LinearMap(points, residual)

    def adjoint(tree: Any) -> Any:
        cotangents = problem.checked(tree, leaves, "a solver multiplied")
        arrived = derivative.pull(cotangents, inputs_alone=True)
        back = [zeros_like(x) if g is None else g for g, x in zip(arrived, leaves, strict=True)]
        return problem.tree(back)

    rule = _Rule(problem, leaves, adjoint)
    nodes = tuple(None if value is None else value._node for value in residual)
    inputs = [None if value is None else value._data for value in residual]
    return recorded(rule, level, nodes, inputs, leaves, rule.pull)


class _Rule:
    """The solution as an operation on the residual."""

    def __init__(self, problem: Problem, leaves: Sequence[Any], adjoint: Linear) -> None:
        self.name = problem.name
        self.problem = problem
        self.leaves = leaves
        self.adjoint = adjoint

    def pull(self, cotangents: Sequence[Any]) -> list[Any]:
        """The cotangent of the residual: minus the solution with the adjoint."""
        return [-part for part in self.problem.solve_transposed(self.adjoint, cotangents)]

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """On the tape, once more, on a solution that is tracked: its derivative is recorded."""
        nodes = tuple(one._node if isinstance(one, AnyWrapper) else None for one in inputs)
        again = recorded(self, TAPE_LEVEL, nodes, inputs, self.leaves, self.pull)
        _, back = vjp(self.problem.f, self.problem.tree(again))

        def adjoint(tree: Any) -> Any:
            return back(tree)[0]

        return again, _Rule(self.problem, again, adjoint).pull

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Not asked for: `attached` sees to forward mode."""
        raise NotImplementedError


# Levels -------------------------------------------------------------------------------------------


def levels_of(values: Sequence[Any]) -> tuple[set[int], bool]:
    """The levels that track any of the values, and whether one does from outside of a `vmap`."""
    found: set[int] = set()
    is_outside = False
    for value in values:
        is_mapped = False
        for layer in layers(value):
            if layer._node is not None and layer._is_batched:
                is_mapped = True
            elif layer._node is not None:
                is_outside = is_outside or is_mapped
                found.add(level_of(layer))
    return found, is_outside


def without_silent(leaf: Any) -> Any:
    """Take off the wrappers that track nothing, or nothing in this mode."""
    return snapshot(strip(leaf, lambda layer: not has_effect(layer)))


def _at(value: Any, level: int) -> Any:
    """The wrapper of a level, without those of the levels above; None if there is none."""
    value = strip(value, lambda layer: layer._node is None or level_of(layer) > level)
    return snapshot(value) if is_at(value, level) else None
