"""Recorded linear maps: pulling back through a map, and transposing it.

A derivative is a linear map, and its computation can itself be recorded. So a pull of cotangents,
recorded on cotangents of zero, has a pull of its own, which pushes tangents; and the pull of a push
that was recorded on tangents of zero is the pull of cotangents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.variable import variable_class
from gradwrap.core.graph.backward import backward_pass
from gradwrap.core.graph.node import Leaf, Node
from gradwrap.core.graph.thorough import thorough_pass
from gradwrap.core.levels.levels import new_level
from gradwrap.core.levels.wrapper import AnyWrapper, is_at, make_wrapper
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.space import fit_tangent, zeros_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class LinearMap:
    """The linear map from leaves of a level to the outputs computed from them.

    Parameters
    ----------
    leaves
        The inputs; None for what the map does not depend on.
    outputs
        Values; those that the level does not track do not depend on the inputs.
    thorough
        Pull by a `thorough_pass`.
    """

    __slots__ = ("_leaves", "_outputs", "_thorough")

    def __init__(
        self,
        leaves: Sequence[Leaf | Node | None],
        outputs: Sequence[Any],
        *,
        thorough: bool = False,
    ) -> None:
        self._thorough = thorough
        level = next((leaf.meta.level for leaf in leaves if leaf is not None), None)
        self._leaves = leaves
        self._outputs = [
            one if level is not None and is_at(one, level) else None for one in outputs
        ]

    def pull(
        self, cotangents: Sequence[Any], *, keep: bool = True, inputs_alone: bool = False
    ) -> list[Any]:
        """Pull the cotangents of the outputs back to the inputs; None stands for zero.

        Parameters
        ----------
        cotangents
            One for each output, of its shape and dtype.
        keep
            Keep the record, so that it can be used again.
        inputs_alone
            Ignore the other leaves of the level that the record leads to.
        """
        roots = [
            (output._node, cotangent)
            for output, cotangent in zip(self._outputs, cotangents, strict=True)
            if output is not None and cotangent is not None
        ]
        targets: Any = {leaf for leaf in self._leaves if leaf is not None} if inputs_alone else None
        walk = thorough_pass if self._thorough else backward_pass
        arrived: dict[Any, Any] = walk(roots, retain_graph=keep, targets=targets)
        return [None if leaf is None else arrived.get(leaf) for leaf in self._leaves]

    def transposed(self, *, keep: bool = False) -> LinearMap:
        """Return the map whose pull takes tangents of the inputs to tangents of the outputs.

        It is recorded once, and this map is used up, unless it is to be kept.
        """
        return record_linear(
            lambda cotangents: self.pull(cotangents, keep=keep),
            [None if output is None else output._value for output in self._outputs],
        )


def record_linear(
    function: Callable[[list[Any]], Sequence[Any]], like: Sequence[Any], level: int | None = None
) -> LinearMap:
    """Record a linear function, run on zeros shaped like `like`; None stays None."""
    level = new_level() if level is None else level
    zeros = [None if one is None else _zeros(one, level) for one in like]
    outputs = function(zeros)
    return LinearMap([None if zero is None else zero._node for zero in zeros], outputs)


def _zeros(like: Any, level: int) -> Any:
    backend = backend_of(like)
    leaf = Leaf(backend.meta(like, level))
    return make_wrapper(variable_class(backend), zeros_of(backend.xp, leaf.meta), leaf)


def in_spaces_of(arrays: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Fit recorded values to the shapes and dtypes of arrays, before pulling back to them."""
    return [
        fit_tangent(type_of(value)._namespace, value, array)
        if array is not None and isinstance(value, AnyWrapper)
        else value
        for value, array in zip(values, arrays, strict=True)
    ]


def push(
    leaves: Sequence[Leaf | None], outputs: Sequence[Any], tangents: Sequence[Any]
) -> list[Any]:
    """Push tangents of leaves forward through the recorded map; None stands for zero."""
    return LinearMap(leaves, outputs).transposed().pull(tangents, keep=False)
