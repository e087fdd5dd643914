"""`minibatches`: the data of each step of a descent, drawn from arrays and from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.values.comparing import kind_of
from gradwrap.core.values.dynamic import LIST, TUPLE, type_of
from gradwrap.core.values.tree import flatten, flatten_with_paths, map_leaves
from gradwrap.errors import NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Iterator


def minibatches(
    *data: Any,
    size: int,
    epochs: int | None = 1,
    shuffle: bool | Literal["batches"] = True,
    drop_last: bool = False,
    rng: np.random.Generator | int | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of arrays in batches, each epoch in a new order.

    Parameters
    ----------
    data
        Arrays of any library with as many rows, or containers of such arrays. They may be in files:
        memory maps, and objects with `shape`, `dtype` and slices, such as the arrays of Zarr and
        h5py, of which only the rows of a batch are read.
    size
        The number of rows of a batch. The last batch of an epoch has the remaining rows.
    epochs
        How often all rows are used; None for endless batches.
    shuffle
        Whether each epoch has the rows in a random order. `"batches"`: each batch has rows that
        follow each other, and the batches come in a random order, which suits data in files.
    drop_last
        Leave out the last batch of an epoch if it is shorter than the others.
    rng
        NumPy's generator, or a seed for one. Two runs with one seed give the same batches.

    Yields
    ------
    tuple
        The rows of a batch, in a tuple with a part for each of `data`. Rows are copied, and stay
        in their library, dtype and device.

    Raises
    ------
    NotAnArrayError
        There are no data, or a part of them is not an array with rows.
    ValueError
        The arrays have different numbers of rows, `size` is not positive, or `shuffle=True` asks
        for single rows of an object that only has slices.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = np.arange(5.0)
    >>> for batch, labels in gw.optimize.minibatches(x, 10 * x, size=2, shuffle=False):
    ...     print(batch, labels)
    [0. 1.] [ 0. 10.]
    [2. 3.] [20. 30.]
    [4.] [40.]
    """
    count = _count(data)
    if size < 1:
        raise ValueError(f"size={size}. Fix: give the number of rows of a batch, 1 or more.")
    if shuffle is True and not all(map(is_array, flatten(data)[0])):
        raise ValueError(
            "shuffle=True asks for single rows of data that are read in slices. Fix: give "
            "shuffle='batches', or shuffle=False."
        )
    return _batches(data, count, size, epochs, shuffle, drop_last, np.random.default_rng(rng))


def _count(data: tuple[Any, ...]) -> int:
    """Return the number of rows, which all arrays share."""
    counts: dict[str, int] = {}
    for path, leaf in flatten_with_paths(data, "data")[0]:
        if not (is_array(leaf) or _has_slices(leaf)) or not leaf.shape:
            raise NotAnArrayError(
                f"{path} of minibatches is {kind_of(leaf)}, which has no rows. Fix: pass arrays "
                "whose first axis counts the examples; give other arguments as args=."
            )
        counts[path] = leaf.shape[0]
    if not counts:
        raise NotAnArrayError("minibatches was given no data. Fix: minibatches(x, y, size=32).")
    if len(set(counts.values())) > 1:
        raise ValueError(
            "the arrays have different numbers of rows: "
            + ", ".join(f"{path} {rows}" for path, rows in counts.items())
            + ". Fix: pass arrays with one row for each example."
        )
    return next(iter(counts.values()))


def _batches(  # noqa: PLR0913  the options of minibatches
    data: tuple[Any, ...],
    count: int,
    size: int,
    epochs: int | None,
    shuffle: bool | Literal["batches"],
    drop_last: bool,
    rng: np.random.Generator,
) -> Iterator[tuple[Any, ...]]:
    epoch = 0
    starts = range(0, count - size + 1 if drop_last else count, size)
    while epochs is None or epoch < epochs:
        if shuffle is True:
            order = rng.permutation(count)
            for start in starts:
                yield tuple(_rows_of(part, order[start : start + size]) for part in data)
        else:
            for start in rng.permutation(starts) if shuffle else starts:
                rows = slice(int(start), min(int(start) + size, count))
                yield tuple(_rows_of(part, rows) for part in data)
        epoch += 1


def as_batch(batch: Any) -> tuple[Any, ...]:
    """Return the arguments of a batch: a tuple, or a list of arrays, as data loaders give."""
    is_several = isinstance(batch, TUPLE) or (isinstance(batch, LIST) and all(map(is_array, batch)))
    return tuple(batch) if is_several else (batch,)


def _has_slices(value: Any) -> bool:
    """Tell if an object is an array in a file, of which slices can be read."""
    names = ("shape", "dtype", "__getitem__")
    return all(hasattr(value, name) for name in names) and not isinstance(value, np.generic)


def _rows_of(part: Any, rows: Any) -> Any:
    """Return some rows of the arrays of a container, in memory of their own."""

    def taken(array: Any) -> Any:
        if not is_array(array):
            return np.asarray(array[rows])
        backend = backend_of(array)
        if not isinstance(rows, slice):
            return backend.xp.take(array, backend.asarray(rows, array), axis=0)
        own: Any = backend.copy(array[rows, ...])
        return np.asarray(own) if type_of(own) is np.memmap else own

    return map_leaves(taken, part)
