"""Functions without batching, applied to one example after the other and differentiated.

Under `vmap` alone, a loop over the examples performs such a function. Inside `vmap(grad(f))`, its
arguments are batches that `grad` tracks. The call is then recorded as one operation: its value is
computed by such a loop, and so is its derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.protocol import ELSEWHERE
from gradwrap.core.calls.loop import is_innermost_batch, looped
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.backend import is_floating
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.transforms.custom_calls import is_differentiated, perform
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.transforms.custom_calls import Pull


def one_by_one(function: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
    """Call a function on each example, recorded by the transforms that differentiate it."""
    leaves, tree = flatten((args, kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, AnyWrapper)]
    if not is_differentiated([leaves[place] for place in places]):
        return ELSEWHERE
    trees: list[Any] = []

    def call(*values: Any) -> list[Any]:
        given = _replaced(leaves, places, values)
        positional, named = unflatten(tree, given)
        parts, found = flatten(function(*positional, **named))
        trees.append(found)
        return parts

    outs = _on_each(call, name, [leaves[place] for place in places])
    return unflatten(trees[-1], outs)


def _on_each(function: Callable[..., list[Any]], name: str, leaves: Sequence[Any]) -> list[Any]:
    if is_innermost_batch(leaves):
        return list(looped(function, name, *leaves))
    if is_differentiated(leaves):
        return perform(_Examples(function, name), leaves)
    return function(*leaves)


def _replaced(whole: Sequence[Any], places: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """Return a list with new values at some places."""
    found = dict(zip(places, values, strict=True))
    return [found.get(place, value) for place, value in enumerate(whole)]


class _Examples:
    """The derivative of a function of arrays, example by example."""

    def __init__(self, function: Callable[..., list[Any]], name: str) -> None:
        self.function = function
        self.name = name

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """Return the outputs, and a function that pulls each example's cotangents back."""
        outs = _on_each(self.function, self.name, inputs)
        kept = [place for place, out in enumerate(outs) if is_floating(out)]
        moved = [place for place, is_needed in enumerate(needed) if is_needed]

        def pulled(*values: Any) -> list[Any]:
            xs, cotangents = values[: len(inputs)], values[len(inputs) :]
            _, back = vjp(self._of(xs, moved, kept), *(xs[place] for place in moved))
            return list(back(list(cotangents)))

        def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
            given = [*inputs, *(cotangents[place] for place in kept)]
            return _replaced([None] * len(inputs), moved, _on_each(pulled, self.name, given))

        return outs, pull

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Return the outputs and their tangents."""
        outs = _on_each(self.function, self.name, inputs)
        kept = [place for place, out in enumerate(outs) if is_floating(out)]
        moved = [place for place, tangent in enumerate(tangents) if tangent is not None]

        def pushed(*values: Any) -> list[Any]:
            xs, ts = values[: len(inputs)], values[len(inputs) :]
            _, found = jvp(self._of(xs, moved, kept), tuple(xs[place] for place in moved), ts)
            return list(found)

        given = [*inputs, *(tangents[place] for place in moved)]
        return outs, _replaced([None] * len(outs), kept, _on_each(pushed, self.name, given))

    def _of(
        self, xs: Sequence[Any], moved: Sequence[int], kept: Sequence[int]
    ) -> Callable[..., list[Any]]:
        """Return the function of the moved arguments and the differentiable outputs only."""

        def function(*primals: Any) -> list[Any]:
            outs = self.function(*_replaced(xs, moved, primals))
            return [outs[place] for place in kept]

        return function
