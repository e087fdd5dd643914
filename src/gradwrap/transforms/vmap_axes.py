"""The axes that `vmap` is asked to map over, and the errors where arrays do not have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import is_array
from gradwrap.core.dynamic import SEQUENCE
from gradwrap.core.tree import broadcast_prefix
from gradwrap.errors import VmapAxesError
from gradwrap.transforms.argnums import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "axes_of_arguments",
    "axes_of_leaves",
    "checked_in_axis",
    "checked_out_axis",
    "common_size",
]


def axes_of_arguments(fun: Callable[..., Any], in_axes: Any, count: int) -> Sequence[Any]:
    """The entry of `in_axes` for each of so many arguments."""
    if not isinstance(in_axes, SEQUENCE):
        return [in_axes] * count
    axes: Sequence[Any] = in_axes
    if len(axes) != count:
        raise VmapAxesError(
            f"in_axes has {len(axes)} entries, and {name_of(fun)} was called with "
            f"{count} positional arguments. Fix: give an entry for each, None for one "
            "that is the same for all examples."
        )
    return axes


def axes_of_leaves(
    axes: Any, tree: Any, count: int, what: Callable[[], str], whose: str
) -> Sequence[Any]:
    """The axis of each leaf of a tree, of which `axes` is a prefix."""
    if axes is None or isinstance(axes, int):
        return [axes] * count
    try:
        return broadcast_prefix(axes, tree)
    except ValueError as error:
        raise VmapAxesError(
            f"{what()}: {error}. Fix: give an int, None, or a pytree of them with the structure "
            f"of the {whose}."
        ) from None


def checked_in_axis(leaf: Any, axis: Any, path: Callable[[], str]) -> int:
    """An axis of an argument, counted from the front."""
    if not is_array(leaf):
        raise VmapAxesError(
            f"{path()} is a {type(leaf).__name__}, which has no axis to map over. "
            "Fix: give None for it in in_axes, or pass an array."
        )
    rank = len(leaf.shape)
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise VmapAxesError(f"in_axes of {path()} is {axis!r}. Fix: give an int or None.")
    if not -rank <= axis < rank:
        raise VmapAxesError(
            f"in_axes of {path()} is {axis}, which is out of range for its shape "
            f"{tuple(leaf.shape)}. Fix: give an axis it has, or None."
        )
    return axis % rank


def checked_out_axis(name: str, data: Any, axis: Any) -> int:
    """The place of the batch axis in a result, counted from the front."""
    rank = len(data.shape)
    if isinstance(axis, bool) or not isinstance(axis, int):
        fix = "the axis it is to have" if axis is None else "an int"
        problem = f"None for a result of {name} that depends on the example"
        raise VmapAxesError(
            f"out_axes is {problem if axis is None else f'{axis!r} for a result of {name}'}. "
            f"Fix: give {fix}."
        )
    if not -rank <= axis < rank:
        raise VmapAxesError(
            f"out_axes is {axis}, which is out of range for a result of {name} of shape "
            f"{tuple(data.shape[1:])} and the batch axis. Fix: give an axis from {-rank} to "
            f"{rank - 1}."
        )
    return axis % rank


def common_size(fun: Callable[..., Any], sizes: Sequence[tuple[int, Callable[[], str]]]) -> int:
    """The number of examples: the length, with the path, of each axis that is mapped over."""
    if not sizes:
        raise VmapAxesError(
            f"vmap of {name_of(fun)} has nothing to map over: every entry of in_axes is "
            "None. Fix: give the axis of at least one argument."
        )
    size, _ = sizes[0]
    if any(other != size for other, _ in sizes):
        listed = ", ".join(f"{path()} has {other}" for other, path in sizes)
        raise VmapAxesError(
            f"vmap got inconsistent sizes for the axes to be mapped over: {listed}. "
            "Fix: give arrays of one length along these axes, or None in in_axes for one that "
            "is the same for all examples."
        )
    return size
