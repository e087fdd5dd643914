"""Calls of a `Function` under `vmap`: one example after the other, forward and backward.

Where a derivative is taken inside of `vmap`, each example's forward runs again in backward, since
what its context keeps belongs to that example alone. A second derivative inside of `vmap` is an
error; of the mapped function, every order works.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.comparing import is_floating
from gradwrap.core.dynamic import SEQUENCE, TUPLE
from gradwrap.core.looping import is_innermost_batch, looped
from gradwrap.core.opaque import OpaqueOp, recorded_outputs
from gradwrap.core.wrapper import batched_parts, snapshot
from gradwrap.errors import NoRuleError
from gradwrap.transforms.reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["applied_by_example", "holds_batch", "looped_gradients", "recorded_by_example"]


def holds_batch(values: Any) -> bool:
    """Tell if an array that `vmap` maps over is somewhere in values."""
    return next(batched_parts(values), None) is not None


def applied_by_example(function: type[Any], args: Sequence[Any]) -> Any:
    """Call `apply` for each example, and stack the results."""
    return _looped(function, function.apply, *args)


def _looped(function: type[Any], run: Any, *args: Any) -> Any:
    if not is_innermost_batch(args):
        raise NoRuleError(
            f"{function.__name__} is a gradwrap.Function, and it is differentiated inside of vmap "
            "in a way that cannot be done example by example. Fix: take the derivative of the "
            "mapped function, or write this one with functions of arrays."
        )
    return looped(run, function.__name__, *args)


def recorded_by_example(
    function: type[Any], level: int, parents: tuple[Any, ...], data: Sequence[Any], outs: list[Any]
) -> list[Any]:
    """Record a call whose arguments below this level are mapped over."""
    places = [i for i, out in enumerate(outs) if is_floating(out)]
    if not places:
        return outs
    op = OpaqueOp(function.__name__, backend_of(outs[places[0]]))
    flags = tuple(parent is not None for parent in parents)
    saved = (function, tuple(snapshot(item) for item in data), flags, tuple(places))
    return recorded_outputs(op, parents, _pulled_by_example, saved, outs, places, level)


def _pulled_by_example(  # noqa: PLR0913  a formula's form
    xp: Any,  # noqa: ARG001  a formula's form
    g: Any,
    function: type[Any],
    data: tuple[Any, ...],
    flags: tuple[bool, ...],
    places: tuple[int, ...],
) -> tuple[Any, ...]:
    grads = g if isinstance(g, TUPLE) else (g,)
    run = partial(_gradients, function, flags, places)
    found = iter(_looped(function, run, *grads, *data))
    return tuple(next(found) if flag else None for flag in flags)


def _gradients(
    function: type[Any], flags: Sequence[bool], places: Sequence[int], *values: Any
) -> tuple[Any, ...]:
    """The gradients of one example: forward again, and backward."""
    grads, data = values[: len(places)], values[len(places) :]

    def of_tracked(*tracked: Any) -> list[Any]:
        own = iter(tracked)
        out = function.apply(*(next(own) if f else x for x, f in zip(data, flags, strict=True)))
        outs = out if isinstance(out, SEQUENCE) else (out,)
        return [outs[place] for place in places]

    _, pull = vjp(of_tracked, *(x for x, flag in zip(data, flags, strict=True) if flag))
    return pull(list(grads))


def looped_gradients(name: str, run: Any, *grads: Any) -> tuple[Any, ...]:
    """Run a backward that takes native arrays alone on mapped cotangents."""
    present: list[bool] = []

    def arrays_alone(*one: Any) -> tuple[Any, ...]:
        results = run(*one)
        parts = results if isinstance(results, SEQUENCE) else (results,)
        present[:] = [part is not None for part in parts]
        return tuple(part for part in parts if part is not None)

    found = iter(looped(arrays_alone, name, *grads))
    return tuple(next(found) if flag else None for flag in present)
