"""`vmap`: a function of one example, applied to a batch of them at once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar

from gradwrap.core.backend import backend_of, own_buffers
from gradwrap.core.batched import Batched
from gradwrap.core.dynamic import SEQUENCE
from gradwrap.core.levels import differentiating, new_level
from gradwrap.core.tree import TreeDef, broadcast_prefix, flatten, flatten_with_paths, unflatten
from gradwrap.core.wrapper import data_of, snapshot
from gradwrap.errors import VmapAxesError
from gradwrap.transforms.arguments import (
    described,
    is_array,
    left_behind,
    name_of,
    passes_through,
    unwrapped,
    wrapped_untracked,
)
from gradwrap.transforms.batches import batch_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Axes", "vmap"]

P = ParamSpec("P")
R = TypeVar("R")
Axes: TypeAlias = Any
"""An axis, None, or a pytree of them that is a prefix of the arguments (of the results)."""


def vmap(
    fun: Callable[P, R],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    *,
    fallback: Literal["error", "warn", "loop"] = "warn",
) -> Callable[P, R]:
    """Vectorise a function over an axis of its arguments.

    The function sees one example: arrays without the mapped axis. Its operations run once, on
    the whole batch.

    Parameters
    ----------
    fun
        A function of arrays, or pytrees of them, that returns such. It is not called for each
        example, so its control flow cannot depend on an example's values.
    in_axes
        Which axis of each argument is mapped over: an int for all of them, or a tuple with an
        entry for each, which is an int, None (the argument is the same for all examples), or a
        pytree of them that is a prefix of the argument. Keyword arguments are mapped over axis 0.
    out_axes
        Where the batch axis is in the results: an int, or a pytree prefix of them. None for a
        result that does not depend on the example.
    fallback
        What is done about an operation that has no batching rule: `"loop"` performs it on one
        example after the other; `"warn"` does so and says so; `"error"` raises.

    Raises
    ------
    VmapAxesError
        `in_axes` or `out_axes` do not fit the arrays, or mapped axes differ in length.
    BatchedValueError
        The values of a mapped array decide about control flow or a shape.
    VmapFallbackError
        An operation has no batching rule, under `fallback="error"`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x, w = np.arange(6.0).reshape(3, 2), np.array([1.0, 10.0])
    >>> gw.vmap(lambda row, w: np.sum(row * w), in_axes=(0, None))(x, w)
    array([10., 32., 54.])

    Gradients of each example:

    >>> gw.vmap(gw.grad(lambda w, row: np.sum(w * row) ** 2), in_axes=(None, 0))(w, x)
    array([[  0.,  20.],
           [128., 192.],
           [432., 540.]])
    """
    if fallback not in ("error", "warn", "loop"):
        raise VmapAxesError(f"fallback={fallback!r}. Fix: give one of 'error', 'warn', 'loop'.")

    @functools.wraps(fun)
    def mapped(*args: P.args, **kwargs: P.kwargs) -> R:
        level = new_level()
        entering = _Entering(fun, in_axes, args, kwargs, level, fallback)
        with differentiating():
            returned = left_behind(entering.call(), level)
        return _out_of(fun, returned, out_axes, level, entering)  # type: ignore[no-any-return]  # in the structure of the function

    return mapped


class _Entering:
    """The arguments of a mapped function, as it receives them."""

    def __init__(  # noqa: PLR0913  all there is to a call
        self,
        fun: Callable[..., Any],
        in_axes: Axes,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        level: int,
        fallback: str,
    ) -> None:
        self.starts: list[Any] = []
        self.fun = fun
        axes = self._axes_of_arguments(in_axes, args)
        places: list[tuple[int | str, Any, Any]] = [
            (place, value, axis) for (place, value), axis in zip(enumerate(args), axes, strict=True)
        ]
        places += [(key, value, 0) for key, value in kwargs.items()]
        leaves = [
            (place, value, *self._leaves(described(fun, place), value, axis))
            for place, value, axis in places
        ]
        self.size = self._common_size([found for _, _, found, _ in leaves])
        self._made = (level, fallback)
        entered = [
            unflatten(treedef, [self._entered(leaf, axis) for _, leaf, axis in found])
            for _, _, found, treedef in leaves
        ]
        self.args = entered[: len(args)]
        self.kwargs = dict(zip(kwargs, entered[len(args) :], strict=True))

    def call(self) -> Any:
        """Run the function."""
        return self.fun(*self.args, **self.kwargs)

    def _axes_of_arguments(self, in_axes: Axes, args: Sequence[Any]) -> Sequence[Any]:
        if not isinstance(in_axes, SEQUENCE):
            return [in_axes] * len(args)
        axes: Sequence[Any] = in_axes
        if len(axes) != len(args):
            raise VmapAxesError(
                f"in_axes has {len(axes)} entries, and {name_of(self.fun)} was called with "
                f"{len(args)} positional arguments. Fix: give an entry for each, None for one "
                "that is the same for all examples."
            )
        return axes

    def _leaves(
        self, name: str, value: Any, axis: Any
    ) -> tuple[list[tuple[str, Any, int | None]], TreeDef]:
        """The leaves of an argument, each with its path and its axis, counted from the front."""
        pairs, treedef = flatten_with_paths(value, name)
        if axis is None or isinstance(axis, int):
            axes: Sequence[Any] = [axis] * len(pairs)
        else:
            try:
                axes = broadcast_prefix(axis, value)
            except ValueError as error:
                raise VmapAxesError(
                    f"in_axes of {name} is no prefix of it: {error}. Fix: give an int, None, or "
                    "a pytree of them with the structure of the argument."
                ) from None
        found: list[tuple[str, Any, int | None]] = []
        for (path, leaf), one in zip(pairs, axes, strict=True):
            if one is None or (not treedef.is_lone and passes_through(leaf)):
                found.append((path, leaf, None))
            else:
                found.append((path, leaf, _checked_axis(path, leaf, one)))
        return found, treedef

    def _common_size(self, arguments: list[list[tuple[str, Any, int | None]]]) -> int:
        sizes = {
            path: int(leaf.shape[axis])
            for found in arguments
            for path, leaf, axis in found
            if axis is not None
        }
        if not sizes:
            raise VmapAxesError(
                f"vmap of {name_of(self.fun)} has nothing to map over: every entry of in_axes is "
                "None. Fix: give the axis of at least one argument."
            )
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{path} has {size}" for path, size in sizes.items())
            raise VmapAxesError(
                f"vmap got inconsistent sizes for the axes to be mapped over: {listed}. "
                "Fix: give arrays of one length along these axes, or None in in_axes for one that "
                "is the same for all examples."
            )
        return next(iter(sizes.values()))

    def _entered(self, leaf: Any, axis: int | None) -> Any:
        if axis is None:
            return wrapped_untracked(leaf)
        self.starts.append(leaf)
        level, fallback = self._made
        backend = backend_of(leaf)
        data = backend.xp.moveaxis(leaf, axis, 0) if axis else leaf
        return batch_of(snapshot(data), level, fallback)


def _checked_axis(path: str, leaf: Any, axis: Any) -> int:
    if not is_array(leaf):
        raise VmapAxesError(
            f"{path} is a {type(leaf).__name__}, which has no axis to map over. "
            "Fix: give None for it in in_axes, or pass an array."
        )
    rank = len(leaf.shape)
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise VmapAxesError(f"in_axes of {path} is {axis!r}. Fix: give an int or None.")
    if not -rank <= axis < rank:
        raise VmapAxesError(
            f"in_axes of {path} is {axis}, which is out of range for its shape "
            f"{tuple(leaf.shape)}. Fix: give an axis it has, or None."
        )
    return axis % rank


def _out_of(
    fun: Callable[..., Any], returned: Any, out_axes: Axes, level: int, entering: _Entering
) -> Any:
    """The results of all examples, the batch axis where it was asked for."""
    leaves, treedef = flatten(returned)
    if out_axes is None or isinstance(out_axes, int):
        axes: Sequence[Any] = [out_axes] * len(leaves)
    else:
        try:
            axes = broadcast_prefix(out_axes, returned)
        except ValueError as error:
            raise VmapAxesError(
                f"out_axes is no prefix of what {name_of(fun)} returned: {error}. Fix: give an "
                "int, None, or a pytree of them with the structure of the result."
            ) from None
    results = [
        _result(name_of(fun), leaf, axis, level, entering.size)
        for leaf, axis in zip(leaves, axes, strict=True)
    ]
    own_buffers_of_arrays(results, entering.starts)
    return unflatten(treedef, results)


def _result(name: str, leaf: Any, axis: Any, level: int, size: int) -> Any:
    node = getattr(leaf, "_node", None)
    is_mapped = isinstance(leaf, Batched) and node is not None and node.meta.level == level
    if not is_mapped and (axis is None or passes_through(leaf)):
        return unwrapped(leaf, level)
    if axis is None:
        raise VmapAxesError(
            f"out_axes is None for a result of {name} that depends on the example. "
            "Fix: give the axis it is to have."
        )
    if is_mapped:
        data = data_of(leaf)
    else:
        plain = _as_array(unwrapped(leaf, level))
        data = backend_of(plain).xp.broadcast_to(plain, (size, *plain.shape))
    rank = len(data.shape)
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise VmapAxesError(f"out_axes is {axis!r} for a result of {name}. Fix: give an int.")
    if not -rank <= axis < rank:
        raise VmapAxesError(
            f"out_axes is {axis}, which is out of range for a result of {name} of shape "
            f"{tuple(data.shape[1:])} and the batch axis. Fix: give an axis from {-rank} to "
            f"{rank - 1}."
        )
    moved = backend_of(data).xp.moveaxis(data, 0, axis) if axis % rank else data
    return unwrapped(moved, level)  # an inner transform's wrapper, which tracks nothing, is left


def _as_array(value: Any) -> Any:
    """A number as an array."""
    if is_array(value):
        return value
    import numpy as np

    return np.asarray(value)


def own_buffers_of_arrays(results: list[Any], starts: Sequence[Any]) -> None:
    """Give every array among the results a buffer of its own."""
    places = [i for i, result in enumerate(results) if is_array(result)]
    arrays = [results[i] for i in places]
    own_buffers(arrays, starts)
    for place, array in zip(places, arrays, strict=True):
        results[place] = array
