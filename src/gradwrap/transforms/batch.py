"""`vmap`: a function of one example, applied to a batch of them at once."""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from gradwrap.core.array.batched import Batched
from gradwrap.core.calls.loop import stacked
from gradwrap.core.levels.levels import new_level
from gradwrap.core.levels.wrapper import (
    data_of,
    example,
    innermost,
    is_at,
    make_wrapper,
    snapshot,
    stripped,
)
from gradwrap.core.library.backend import backend_of, is_array, own_buffers, wrapper_class
from gradwrap.core.values.dynamic import SEQUENCE, class_of
from gradwrap.core.values.layouts import put
from gradwrap.core.values.prefixes import broadcast_prefix
from gradwrap.core.values.space import Batch, Meta
from gradwrap.core.values.tree import flatten, path_of, unflatten
from gradwrap.errors import BatchedIndexError, BatchedValueError, VmapAxesError
from gradwrap.transforms.argnums import counted, described, name_of
from gradwrap.transforms.arguments import (
    NUMBERS,
    passes_through,
    unwrapped,
    without_inner,
    wrapped_untracked,
)
from gradwrap.transforms.derived import derived
from gradwrap.transforms.running import run
from gradwrap.transforms.stretches import in_stretches
from gradwrap.transforms.typed import typed_as_vmap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.values.tree import TreeDef
    from gradwrap.typing.signatures import ChunkSize

Axes: TypeAlias = Any
"""An axis, None, or a pytree of them that is a prefix of the arguments (of the results)."""


@typed_as_vmap
def vmap(  # noqa: PLR0913  its options
    fun: Callable[..., Any],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    *,
    fallback: Literal["error", "warn", "loop"] = "warn",
    axis_size: int | None = None,
    chunk_size: ChunkSize = None,
) -> Callable[..., Any]:
    """Vectorise a function over an axis of its arguments.

    The function sees one example: arrays without the mapped axis. Its operations run once, on
    the whole batch.

    Parameters
    ----------
    fun
        A function of arrays or pytrees of arrays, which returns such values too. It runs once for
        all examples, so its control flow cannot depend on the values of an example, and a random
        number that it draws is the same for all.
    in_axes
        Which axis of each argument is mapped over: an int for all of them, or a tuple with an
        entry for each, which is an int, None (the argument is the same for all examples), or a
        pytree of them that is a prefix of the argument. Keyword arguments are mapped over axis 0.
    out_axes
        Where the batch axis is in the results: an int, or a pytree prefix of them. None for a
        result that does not depend on the example.
    fallback
        How to treat an operation without a batching rule: `"loop"` performs it on one example after
        the other; `"warn"` does the same, with a warning; `"error"` raises an error. If a branch
        depends on a mapped value, `"loop"` calls `fun` for one example after the other, from its
        beginning. If a function that NumPy does not dispatch gets a mapped index, as in
        `np.take(x, i)` with a plain `x`, `"warn"` does so as well.
    axis_size
        The number of examples. It is needed if no argument is mapped over; otherwise, the mapped
        axes must have this length.
    chunk_size
        How many examples to compute at a time; all by default. A text such as `"64 MiB"` bounds
        the bytes that they need at a time, beside the arguments and the results: the bytes of
        the first chunks are counted, of NumPy's arrays by `tracemalloc` and of CuPy's in its memory
        pool. `fun` runs once for each chunk, and may draw other random numbers.

    Raises
    ------
    VmapAxesError
        `in_axes` or `out_axes` do not fit the arrays, or mapped axes differ in length.
    BatchedValueError
        Control flow or a shape depends on the values of a mapped array, and `fallback` is not
        `"loop"`.
    VmapFallbackError
        An operation has no batching rule, under `fallback="error"`.
    ValueError
        `chunk_size` is no number or size, or one example alone needs more bytes.

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

    if axis_size is not None and (isinstance(axis_size, bool) or axis_size < 0):
        raise VmapAxesError(f"axis_size={axis_size}. Fix: give the number of examples.")

    @derived(
        fun, vmap, in_axes, out_axes, fallback=fallback, axis_size=axis_size, chunk_size=chunk_size
    )
    def mapped(*args: Any, **kwargs: Any) -> Any:
        level = new_level()

        def enter() -> _Entering:
            return _Entering(fun, in_axes, args, kwargs, level, fallback, axis_size)

        entering = enter()
        if chunk_size is None:
            try:
                returned = run(fun, entering.args, entering.kwargs)
            except BatchedValueError as error:
                if not entering.may_loop(error):
                    raise
                returned = _by_example(enter(), error)
            return _joined([_results(entering, returned, out_axes)], entering)

        of_examples = functools.partial(_of_part, entering, enter, out_axes)
        like = entering.starts[0] if entering.starts else 0.0
        parts = in_stretches(entering.size, chunk_size, like, of_examples)
        return _joined(parts, entering)

    return mapped


class _Entering:
    """The arguments of a mapped function, with their batch axes in front."""

    def __init__(  # noqa: PLR0913  all there is to a call
        self,
        fun: Callable[..., Any],
        in_axes: Axes,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        level: int,
        fallback: str,
        axis_size: int | None,
    ) -> None:
        self.fun = fun
        self.level = level
        self.fallback = fallback
        self.starts: list[Any] = []
        self.mapped: dict[Any, Any] = {}
        self._sizes: list[tuple[int, Callable[[], str]]] = []
        axes = _axes_of_arguments(fun, in_axes, len(args))
        self.args = [self._entered(i, arg, axes[i]) for i, arg in enumerate(args)]
        self.kwargs = {key: self._entered(key, value, 0) for key, value in kwargs.items()}
        self.size = _common_size(fun, self._sizes, axis_size)

    def part(self, first: int, last: int) -> _Entering:
        """Return the arguments of some examples."""

        def rows(leaf: Any) -> Any:
            if not is_at(leaf, self.level):
                return leaf
            return batch_of(snapshot(data_of(leaf)[first:last]), self.level, self.fallback)

        made = copy.copy(self)
        leaves, treedef = flatten((self.args, self.kwargs))
        made.args, made.kwargs = unflatten(treedef, [rows(leaf) for leaf in leaves])
        made.size = last - first
        return made

    def by_example(self) -> Any:
        """Call the function for one example after the other, and stack the results."""
        leaves, treedef = flatten((self.args, self.kwargs))
        rows: list[list[Any]] = []
        structure = treedef
        for index in range(self.size):
            parts = [snapshot(example(leaf, self.level, index)) for leaf in leaves]
            args, kwargs = unflatten(treedef, wrapped_untracked(parts))
            row, structure = flatten(without_inner(run(self.fun, args, kwargs), self.level))
            xp = backend_of(innermost(self.starts[0])).xp
            results = (stripped(leaf) for leaf in row)
            rows.append([xp.asarray(v) if isinstance(v, NUMBERS) else v for v in results])
        columns = zip(*rows, strict=True) if rows else [()]
        found = [stacked(name_of(self.fun), column) for column in columns]
        return unflatten(structure, [batch_of(array, self.level) for array in found])

    def may_loop(self, error: BatchedValueError) -> bool:
        """Tell if the function may be called for each example after an error."""
        is_index = isinstance(error, BatchedIndexError) and self.fallback == "warn"
        return bool(self.size) and (is_index or self.fallback == "loop")

    def _entered(self, place: int | str, value: Any, axis: Any) -> Any:
        """Return one argument, its mapped arrays with the batch axis first."""
        leaves, treedef = flatten(value)
        axes = _axes_of_leaves(
            axis,
            value,
            len(leaves),
            lambda: f"in_axes of {described(self.fun, place)} is no prefix of it",
            "argument",
        )
        entered: list[Any] = []
        for index, (leaf, one) in enumerate(zip(leaves, axes, strict=True)):
            if one is None or (not treedef.is_lone and passes_through(leaf)):
                entered.append(wrapped_untracked(snapshot(leaf)))  # `fun` may write to it
                continue
            path = functools.partial(_path, self.fun, place, value, index)
            first = _checked_in_axis(leaf, one, path)
            self.starts.append(leaf)
            self._sizes.append((int(leaf.shape[first]), path))
            data = backend_of(leaf).batch_first(leaf, first)
            entered.append(batch_of(snapshot(data), self.level, self.fallback))
        return (
            entered[0] if treedef.is_lone else put(treedef, entered, "example", axes, self.mapped)
        )


def _path(fun: Callable[..., Any], place: int | str, value: Any, index: int) -> str:
    """Return the expression that reaches a leaf of an argument."""
    return path_of(value, described(fun, place), index)


class _Results(NamedTuple):
    """The results of some examples, as leaves with the batch axes at the requested places."""

    treedef: TreeDef
    axes: Sequence[Any]
    leaves: list[Any]


def _of_part(
    entering: _Entering, enter: Callable[[], _Entering], out_axes: Axes, first: int, last: int
) -> _Results:
    """Return the results of some examples; `enter` returns all arguments anew."""
    part = entering.part(first, last)
    try:
        returned = run(part.fun, part.args, part.kwargs)
    except BatchedValueError as error:
        if not part.may_loop(error):
            raise
        returned = _by_example(enter().part(first, last), error)
    return _results(part, returned, out_axes)


def _by_example(entering: _Entering, error: BatchedValueError) -> Any:
    """Call the function for each example, with arguments taken anew."""
    try:
        return entering.by_example()
    except BatchedValueError:
        raise error from None


def _results(entering: _Entering, returned: Any, out_axes: Axes) -> _Results:
    """Return the results of examples."""
    returned = without_inner(returned, entering.level)
    leaves, treedef = flatten(returned)
    name = name_of(entering.fun)
    axes = _axes_of_leaves(
        out_axes,
        returned,
        len(leaves),
        lambda: f"out_axes is no prefix of what {name} returned",
        "result",
    )
    results = [_result(name, leaf, axis, entering) for leaf, axis in zip(leaves, axes, strict=True)]
    return _Results(treedef, axes, results)


def _joined(parts: Sequence[_Results], entering: _Entering) -> Any:
    """Return the results of all examples."""
    treedef, axes, results = parts[0]
    if len(parts) > 1:
        columns = zip(*(part.leaves for part in parts), strict=True)
        results = [_concatenated(column, axis) for column, axis in zip(columns, axes, strict=True)]
    own_buffers(results, entering.starts)
    return results[0] if treedef.is_lone else put(treedef, results, "batch", axes, entering.mapped)


def _concatenated(parts: Sequence[Any], axis: Any) -> Any:
    """Join the results of all chunks along the batch axis, which one for all examples lacks."""
    if axis is None or not is_array(parts[0]):
        return parts[0]
    return backend_of(parts[0]).xp.concat(list(parts), axis=axis)


def _result(name: str, leaf: Any, axis: Any, entering: _Entering) -> Any:
    level = entering.level
    is_mapped = is_at(leaf, level)
    if not is_mapped and (axis is None or passes_through(leaf)):
        return unwrapped(leaf, level)
    if is_mapped:
        data = data_of(leaf)
    else:
        plain = _as_array(unwrapped(leaf, level))
        data = backend_of(plain).xp.broadcast_to(plain, (entering.size, *plain.shape))
    place = _checked_out_axis(name, data, axis)
    moved = backend_of(data).xp.moveaxis(data, 0, place) if place else data
    return unwrapped(moved, level)  # an inner transform's wrapper, which tracks nothing, is left


def _as_array(value: Any) -> Any:
    """Convert a number to an array."""
    if is_array(value):
        return value
    import numpy as np

    return np.asarray(value)


# Axes ---------------------------------------------------------------------------------------------


def _axes_of_arguments(fun: Callable[..., Any], in_axes: Any, count: int) -> Sequence[Any]:
    """Return the entry of `in_axes` for each argument."""
    if not isinstance(in_axes, SEQUENCE):
        return [in_axes] * count
    axes: Sequence[Any] = in_axes
    if len(axes) != count:
        raise VmapAxesError(
            f"in_axes has {len(axes)} entries, and {name_of(fun)} was called with "
            f"{counted(count)}. Fix: give an entry for each, None for one "
            "that is the same for all examples."
        )
    return axes


def _axes_of_leaves(
    axes: Any, tree: Any, count: int, what: Callable[[], str], whose: str
) -> Sequence[Any]:
    """Return the axis of each leaf of a tree, of which `axes` is a prefix."""
    if axes is None or isinstance(axes, int):
        return [axes] * count
    try:
        return broadcast_prefix(axes, tree)
    except ValueError as error:
        raise VmapAxesError(
            f"{what()}: {error}. Fix: give an int, None, or a pytree of them with the structure "
            f"of the {whose}."
        ) from None


def _checked_in_axis(leaf: Any, axis: Any, path: Callable[[], str]) -> int:
    """Return an axis of an argument, counted from the front."""
    if not is_array(leaf):
        raise VmapAxesError(
            f"{path()} is {class_of(leaf)}, which has no axis to map over. "
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


def _checked_out_axis(name: str, data: Any, axis: Any) -> int:
    """Return the place of the batch axis in a result, counted from the front."""
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


def _common_size(
    fun: Callable[..., Any],
    sizes: Sequence[tuple[int, Callable[[], str]]],
    axis_size: int | None,
) -> int:
    """Return the number of examples, from the lengths of the mapped axes, which must agree."""
    if axis_size is not None:
        sizes = [(axis_size, lambda: "axis_size"), *sizes]
    if not sizes:
        raise VmapAxesError(
            f"vmap of {name_of(fun)} has nothing to map over: every entry of in_axes is "
            "None. Fix: give the axis of at least one argument, or axis_size."
        )
    if len(dict(sizes)) > 1:
        listed = ", ".join(f"{path()} has {other}" for other, path in sizes)
        raise VmapAxesError(
            f"vmap got inconsistent sizes for the axes to be mapped over: {listed}. "
            "Fix: give arrays of one length along these axes, or None in in_axes for one that "
            "is the same for all examples."
        )
    return sizes[0][0]


def batch_of(data: Any, level: int, fallback: str = "loop") -> Batched[Any]:
    """Wrap an array as a batch of examples along its first axis."""
    backend = backend_of(data)
    meta = backend.meta(data, level)
    size, *shape = meta.shape
    one = Meta(tuple(shape), meta.dtype, meta.device, level, meta.is_complex)
    cls: Any = wrapper_class(Batched, backend)
    return make_wrapper(cls, data, Batch(one, size, fallback))


def unit_batch(vector: Any, level: int) -> Batched[Any]:
    """Return the unit vectors of a vector's space as a batch."""
    backend = backend_of(vector)
    meta = backend.meta(vector, level)
    batch = Batch(meta, meta.shape[0], "loop", backend.ones_like(vector), is_unit=True)
    cls: Any = wrapper_class(Batched, backend)
    return cls._of_diagonal(batch)  # type: ignore[no-any-return]  # a class is Any here
