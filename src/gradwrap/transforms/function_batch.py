"""Custom functions under `vmap`: one example after the other, forward and backward.

Where a derivative is taken inside of `vmap`, each example's forward runs again in backward, since
what its context keeps belongs to that example alone. A second derivative inside of `vmap` is an
error; of the mapped function, every order works.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.backward import backward_pass
from gradwrap.core.dynamic import SEQUENCE, TUPLE
from gradwrap.core.levels import new_level
from gradwrap.core.looping import is_innermost_batch, looped
from gradwrap.core.node import Leaf
from gradwrap.core.opaque import OpaqueOp, output_nodes
from gradwrap.core.space import zeros_of
from gradwrap.core.variable import AnyVariable, variable_class
from gradwrap.core.wrapper import batched_parts, snapshot
from gradwrap.errors import NoRuleError
from gradwrap.transforms.arguments import is_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.transforms.function import Function

__all__ = ["applied_by_example", "holds_batch", "looped_gradients", "recorded_by_example"]


def holds_batch(values: Any) -> bool:
    """Whether an array that `vmap` maps over is somewhere in values."""
    return next(batched_parts(values), None) is not None


def applied_by_example(function: type[Function], args: Sequence[Any]) -> Any:
    """What `apply` returns for each example, stacked."""
    return _looped(function, function.apply, *args)


def _looped(function: type[Function], run: Any, *args: Any) -> Any:
    if not is_innermost_batch(args):
        raise NoRuleError(
            f"{function.__name__} is a gradwrap.Function, and it is differentiated inside of vmap "
            "in a way that cannot be done example by example. Fix: take the derivative of the "
            "mapped function, or write this one with functions of arrays."
        )
    return looped(run, function.__name__, *args)


def recorded_by_example(
    function: type[Function],
    level: int,
    parents: tuple[Any, ...],
    data: Sequence[Any],
    outs: list[Any],
) -> list[Any]:
    """Record a call whose arguments below this level are mapped over."""
    places = [i for i, out in enumerate(outs) if is_array(out) and backend_of(out).is_float(out)]
    if not places:
        return outs
    metas = [backend_of(outs[place]).meta(outs[place], level) for place in places]
    op = OpaqueOp(function.__name__, backend_of(outs[places[0]]))
    flags = tuple(parent is not None for parent in parents)
    saved = (function, tuple(snapshot(item) for item in data), flags, tuple(places))
    outs = list(outs)
    for place, node in zip(
        places, output_nodes(op, parents, _pulled_by_example, saved, metas), strict=True
    ):
        outs[place] = variable_class(backend_of(outs[place]))(outs[place], node)
    return outs


def _pulled_by_example(  # noqa: PLR0913  a formula's form
    xp: Any,  # noqa: ARG001  a formula's form
    g: Any,
    function: type[Function],
    data: tuple[Any, ...],
    flags: tuple[bool, ...],
    places: tuple[int, ...],
) -> tuple[Any, ...]:
    grads = g if isinstance(g, TUPLE) else (g,)
    run = partial(_gradients, function, flags, places)
    found = iter(_looped(function, run, *grads, *data))
    return tuple(next(found) if flag else None for flag in flags)


def _gradients(
    function: type[Function], flags: Sequence[bool], places: Sequence[int], *values: Any
) -> tuple[Any, ...]:
    """The gradients of one example: forward again, and backward."""
    grads, data = values[: len(places)], values[len(places) :]
    level = new_level()
    leaves: list[Leaf] = []
    args: list[Any] = []
    for item, flag in zip(data, flags, strict=True):
        if flag:
            backend = backend_of(item)
            leaves.append(Leaf(backend.meta(item, level)))
            args.append(variable_class(backend)(snapshot(item), leaves[-1]))
        else:
            args.append(item)
    out = function.apply(*args)
    outs = out if isinstance(out, SEQUENCE) else (out,)
    roots = [
        (outs[place]._node, grad)
        for place, grad in zip(places, grads, strict=True)
        if isinstance(outs[place], AnyVariable) and outs[place]._node is not None
    ]
    arrived = backward_pass(roots)
    backends = [backend_of(item) for item, flag in zip(data, flags, strict=True) if flag]
    return tuple(
        arrived[leaf] if leaf in arrived else zeros_of(backend.xp, leaf.meta)
        for leaf, backend in zip(leaves, backends, strict=True)
    )


def looped_gradients(name: str, run: Any, *grads: Any) -> tuple[Any, ...]:
    """What a backward that takes native arrays alone returns for mapped cotangents."""
    present: list[bool] = []

    def arrays_alone(*one: Any) -> tuple[Any, ...]:
        results = run(*one)
        parts = results if isinstance(results, SEQUENCE) else (results,)
        present[:] = [part is not None for part in parts]
        return tuple(part for part in parts if part is not None)

    found = iter(looped(arrays_alone, name, *grads))
    return tuple(next(found) if flag else None for flag in present)
