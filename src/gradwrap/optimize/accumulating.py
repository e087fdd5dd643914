"""`accumulate_gradients`: the gradient of a function of all data, one batch after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.library.backend import is_array
from gradwrap.core.values.tree import flatten, flatten_with_paths, unflatten
from gradwrap.optimize.batches import as_batch
from gradwrap.optimize.problem import as_args, as_start
from gradwrap.transforms.reverse import value_and_grad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gradwrap.typing.signatures import F1, OverBatches, P, Scalar, X


def accumulate_gradients(  # noqa: PLR0913  its options
    fun: F1[X, P, Scalar],
    x: X,
    batches: Iterable[Any],
    args: Any = (),
    *,
    reduction: OverBatches = "mean",
    rows: Callable[..., int] | None = None,
) -> tuple[Any, X]:
    """Return the value and the gradient of a function of all data, which is given in batches.

    The memory is that of one batch, of its backward pass, and of three gradients. A batch, its
    values and its graph are released before the next batch is asked for.

    Parameters
    ----------
    fun
        `fun(x, *batch, *args)` returns a real scalar for a batch.
    x
        An array of any library, a number, or a container of them.
    batches
        The data, from any iterable, which is run through once: tuples of arguments (or lists of
        arrays, as data loaders give), or one argument each. `minibatches` makes them of arrays,
        and of arrays in files.
    args
        More arguments of `fun`, as a tuple.
    reduction
        `"mean"`: `fun` is a mean over the rows of a batch, and the result is the mean over all
        rows. So a batch counts by its number of rows, and a shorter last batch counts less.
        `"sum"`: the values and gradients of all batches are added.
    rows
        For `"mean"`: a function of the batch's arguments that returns its number of rows. By
        default, it is the length of the first axis, in which all arrays of a batch must agree.

    Returns
    -------
    The value, and the gradient, a container like `x`.

    Raises
    ------
    ValueError
        There are no batches, as after a generator has been run through, or no rows; the arrays of
        a batch differ in length; or `reduction` is unknown.
    NonScalarOutputError
        `fun` does not return a real scalar.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def loss(w, x, y):
    ...     return np.mean((w * x - y) ** 2)
    >>> x = np.arange(10.0)
    >>> batches = gw.optimize.minibatches(x, 3.0 * x, size=4, shuffle=False)
    >>> value, gradient = gw.optimize.accumulate_gradients(loss, 1.0, batches)
    >>> print(value, gradient, gw.grad(loss)(1.0, x, 3.0 * x))
    114.0 -114.0 -114.0
    """
    is_sum = reduction == "sum"
    if not (is_sum or reduction == "mean"):
        raise ValueError(f"reduction={reduction!r}. Fix: give 'mean' or 'sum'.")
    derivative: Any = value_and_grad(fun)
    start, more = as_start(x), as_args(args)
    total: list[Any] = []
    count = 0
    treedef = flatten(start)[1]
    for batch in batches:
        given = as_batch(batch)
        weight = 1 if is_sum else _rows_of(given, rows)
        if weight:
            count += weight
            value, gradient = derivative(start, *given, *more)
            parts = [value, *flatten(gradient)[0]]
            del gradient, value
            total = _added(total, parts, None if is_sum else weight / count)
            del parts
        del batch, given  # the next batch takes their memory
    if not count:
        raise ValueError(
            "batches gave no rows. A generator can be run through once. "
            "Fix: make a new one for each call, as minibatches(...) does."
        )
    return total[0], unflatten(treedef, total[1:])


def _added(total: list[Any], parts: list[Any], share: float | None) -> list[Any]:
    """Add a batch's results, or bring a mean nearer to them by the batch's share of the rows."""
    if not total:
        return parts
    for place, part in enumerate(parts):
        if part is not None:
            known = total[place]
            total[place] = known + part if share is None else known + (part - known) * share
    return total


def _rows_of(batch: tuple[Any, ...], rows: Callable[..., int] | None) -> int:
    """Return the number of rows of a batch."""
    if rows is not None:
        return int(rows(*batch))
    counts = {
        path: int(leaf.shape[0])
        for path, leaf in flatten_with_paths(batch, "batch")[0]
        if is_array(leaf) and leaf.shape
    }
    if len(set(counts.values())) != 1:
        listed = ", ".join(f"{path} has {count}" for path, count in counts.items()) or "none"
        raise ValueError(
            f"the number of rows of a batch is unclear: {listed}. Fix: pass arrays with one row "
            "for each example; give other arguments as args=; or say rows=lambda *batch: ...."
        )
    return next(iter(counts.values()))
