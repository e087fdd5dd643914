"""The parts of a call that has a derivative of its own, whoever defines that derivative.

Such a call belongs to the highest level among its arguments. To that level, the values of the
levels below are data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.backend import backend_of, is_array, is_floating, wrapper_class
from gradwrap.core.comparing import namespace_of
from gradwrap.core.forward import Dual, Tangent
from gradwrap.core.levels import TAPE_LEVEL
from gradwrap.core.space import fit_tangent
from gradwrap.core.wrapper import UNTRACKED, layers, level_of, snapshot, stripped
from gradwrap.errors import TrackedValueError
from gradwrap.transforms.arguments import default_scalar, wrapped_untracked

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Split", "dual", "output_of", "refuse_tracked", "settled", "split", "with_tangent"]


class Split(NamedTuple):
    """The arguments of a call, taken apart at the highest level among them."""

    level: int
    """`UNTRACKED`, where no transform tracks any."""
    wrapper: Any
    """An argument of that level."""
    nodes: tuple[Any, ...]
    """For each argument its place in that level; None where it has none."""
    data: list[Any]
    """For each argument its value to the levels below."""


def split(arguments: Sequence[Any]) -> Split:
    """Take the arguments of a call apart."""
    values = [settled(one) for one in arguments]
    level = max(map(level_of, values), default=UNTRACKED)
    if level == UNTRACKED:
        return Split(level, None, (None,) * len(values), values)
    here = [level_of(value) == level for value in values]
    wrapper = values[here.index(True)]
    nodes = tuple(v._node if own else None for v, own in zip(values, here, strict=True))
    data = [v._data if own else v for v, own in zip(values, here, strict=True)]
    return Split(level, wrapper, nodes, data)


def settled(value: Any) -> Any:
    """A value as it is now, without the outer wrappers that track nothing."""
    return snapshot(stripped(value))


def output_of(value: Any, like: Sequence[Any]) -> Any:
    """An output of a user's function: a number with a fraction is an array in its library."""
    value = settled(value)
    if type(value) in (float, complex):
        backend = next((backend_of(one) for one in like if is_array(one)), None)
        return default_scalar(value) if backend is None else backend.xp.asarray(value)[()]
    return value


def dual(out: Any, tangent: Any, level: int) -> Any:
    """An output with its tangent at a level; None stands for zero."""
    if tangent is None or not is_floating(out):
        return wrapped_untracked(out)
    xp = namespace_of([out, tangent])
    return with_tangent(out, fit_tangent(xp, tangent, out), level)


def with_tangent(out: Any, tangent: Any, level: int) -> Any:
    """An array with a tangent of its space."""
    backend = backend_of(out)
    return wrapper_class(Dual, backend)(out, Tangent(backend.meta(out, level), tangent))


def refuse_tracked(values: Sequence[Any], level: int, what: str, *, only: bool = False) -> None:
    """Refuse arrays that a level, or one above it, tracks: they came from a closure."""
    if level < TAPE_LEVEL:  # the pass itself is recorded, and so are they
        return
    for value in values:
        for layer in layers(value):
            own = level_of(layer)
            if not layer._is_batched and (own == level or (own > level and not only)):
                raise TrackedValueError(
                    f"{what} a tracked array that is not among the arguments: its gradient would "
                    "be lost. Fix: pass it as an argument, or .detach() it."
                )
