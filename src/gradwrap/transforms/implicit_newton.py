"""The derivative of a solution by Newton steps, where a `vmap` is inside of what differentiates.

An operation of its own, as in `implicit_levels`, belongs to one level and has all that is inside of
that for its data. Here the batch is what is outermost. So the derivative is made of ordinary
operations, which are batched, and recorded by whoever records: from an x that is right in value,
a Newton step leads to one that is right to the first order in whatever `f` has closed over, the
next one to the third (a step that starts with an error of order k ends with one of order 2 k).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.tree import flatten
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.stop_gradient import stop_gradient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.transforms.implicit_levels import Problem

__all__ = ["stepped"]


def stepped(problem: Problem, leaves: Sequence[Any], order: int) -> list[Any]:
    """The solution, of the values it has, with its derivatives up to an order."""
    found = list(leaves)
    reached = 0
    while reached < order:
        found = _newton_step(problem, found)
        reached = 2 * reached + 1
    return [leaf + (one - stop_gradient(one)) for leaf, one in zip(leaves, found, strict=True)]


def _newton_step(problem: Problem, leaves: Sequence[Any]) -> list[Any]:
    at = problem.tree(leaves)

    def linear(direction: Any) -> Any:
        _, pushed = jvp(problem.f, (at,), (direction,))
        return pushed

    solve, _ = problem.solvers
    change = flatten(solve(linear, problem.tree(problem.residual(leaves))))[0]
    return [leaf - part for leaf, part in zip(leaves, change, strict=True)]
