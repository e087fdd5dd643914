"""Loops of many steps in little memory: `scan`, with checkpoints by a binomial schedule.

Backward needs the carries of all steps in reverse order. `scan` keeps a few of them, and computes
the others again from the nearest one before. With `c` checkpoints, and no segment run more than `r`
times again, `binomial(c + r, c)` segments can be reversed, and no schedule reverses more
(Griewank and Walther, "Algorithm 799: revolve", ACM Transactions on Mathematical Software 26,
2000).

The schedule is a recursion of `checkpoint`. The first part of the segments is one checkpointed call
that divides its own segments in the same way when it runs again. The other part is divided with one
checkpoint less. When backward comes to the first part, the checkpoints of the other are free again.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import numpy as np

from gradwrap.core.library.backend import is_array
from gradwrap.core.values.comparing import described, kind_of, namespace_of
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.core.values.tree import flatten, flatten_with_paths, unflatten
from gradwrap.errors import NotAnArrayError, PytreeError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.checkpoint import checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

C = TypeVar("C")
G = TypeVar("G", bound="np.generic")
X = TypeVar("X")
Y = TypeVar("Y")

SHARE = 8
"""A segment has one step for so many checkpoints: its record then takes little beside them."""


@overload
def scan(
    step: Callable[[C, X], tuple[C, G]],
    init: C,
    xs: X = ...,
    length: int | None = ...,
    *,
    reverse: bool = ...,
    checkpoints: int | None = ...,
) -> tuple[C, NDArray[G]]: ...
@overload
def scan(
    step: Callable[[C, X], tuple[C, float]],
    init: C,
    xs: X = ...,
    length: int | None = ...,
    *,
    reverse: bool = ...,
    checkpoints: int | None = ...,
) -> tuple[C, NDArray[np.float64]]: ...
@overload
def scan(
    step: Callable[[C, X], tuple[C, Y]],
    init: C,
    xs: X = ...,
    length: int | None = ...,
    *,
    reverse: bool = ...,
    checkpoints: int | None = ...,
) -> tuple[C, Y]: ...
def scan(  # noqa: PLR0913  as in JAX, and the number of checkpoints
    step: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    checkpoints: int | None = None,
) -> tuple[Any, Any]:
    """Perform a step many times, and keep only a few of its carries for backward.

    `scan(step, init, xs)` computes what this loop computes, as `jax.lax.scan` does::

        carry, ys = init, []
        for x in xs:
            carry, y = step(carry, x)
            ys.append(y)
        return carry, np.stack(ys)

    A gradient of that loop keeps what all steps have saved. `scan` keeps `checkpoints` carries, and
    computes the steps between them again, by a binomial schedule. With the default a step runs at
    most three times, and the memory grows with the square root of the number of steps. `gw.compile`
    needs no `scan` to find the loops of a function.

    Parameters
    ----------
    step
        A function of the carry and of one element of `xs`, that returns the next carry and an
        output. Both may be pytrees, and None. It must do the same when it runs again, as for
        `checkpoint`; tracked arrays of an enclosing scope get their gradient.
    init
        The first carry.
    xs
        Arrays, or a pytree of them, with the steps along the first axis. Without it, the step gets
        None, and `length` says how many steps there are.
    length
        The number of steps.
    reverse
        Begin with the last element of `xs`. The outputs lie at the places of their elements.
    checkpoints
        The most carries to keep at a time, at least 1; by default `sqrt(2 * length)`. With fewer,
        steps run more often. A segment of `checkpoints // 8` steps, at least 1, is recorded at a
        time.

    Returns
    -------
    The last carry, and the outputs of all steps, stacked along a new first axis.

    Raises
    ------
    ValueError
        There are no steps, `length` is not the length of `xs`, or `checkpoints` is less than 1.
    PytreeError
        The step does not return a pair, or its outputs have different structures or shapes.
    NotAnArrayError
        `xs` has a leaf without axes.

    Examples
    --------
    A thousand steps of the equation of heat, and the temperature in the middle at the end:

    >>> import numpy as np, gradwrap as gw
    >>> def step(u, _):
    ...     inner = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    ...     return np.concatenate([u[:1], inner, u[-1:]]), None
    >>> def middle(u):
    ...     u, _ = gw.scan(step, u, length=1000)
    ...     return u[2]
    >>> gw.grad(middle)(np.array([1.0, 0.0, 0.0, 0.0, 2.0])).round(6)
    array([0.5, 0. , 0. , 0. , 0.5])

    A cumulative sum:

    >>> gw.scan(lambda total, x: (total + x, total + x), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([1., 3., 6.]))
    """
    elements = _elements(xs, length)
    if checkpoints is None:
        checkpoints = math.isqrt(2 * len(elements))
    elif checkpoints < 1:
        raise ValueError(f"scan: checkpoints={checkpoints}. Fix: pass at least 1, or leave it out.")
    steps = _Steps(step, max(1, checkpoints // SHARE))
    carry, outputs = steps.run(checkpoints, init, elements[:: -1 if reverse else 1])
    if reverse:
        outputs.reverse()
    return carry, _stacked(step, outputs)


def _elements(xs: Any, length: int | None) -> Sequence[Any]:
    """Return the parts of `xs` for each step; a range, if the step gets None."""
    if xs is None:
        if length is None:
            raise ValueError("scan was given neither xs nor length. Fix: pass length=steps.")
        elements: Sequence[Any] = range(length)
    else:
        pairs, treedef = flatten_with_paths(xs, "xs")
        columns = [_unstacked(path, leaf) for path, leaf in pairs]
        lengths = {len(column) for column in columns}
        if length is not None:
            lengths.add(length)
        if len(lengths) > 1:
            given = "" if length is None else f", and length={length}"
            raise ValueError(
                f"scan: the arrays of xs have {sorted(map(len, columns))} elements along their "
                f"first axis{given}. Fix: pass arrays of one length."
            )
        elements = [unflatten(treedef, list(row)) for row in zip(*columns, strict=True)]
    if not elements:
        raise ValueError("scan over no steps: nothing tells what the step returns. Fix: pass one.")
    return elements


def _unstacked(path: str, leaf: Any) -> Sequence[Any]:
    if not is_array(leaf) or not leaf.shape:
        raise NotAnArrayError(
            f"scan goes along the first axis of its arrays, and {path} is {described(leaf)}. Fix: "
            "use it in the step from an enclosing scope, or repeat it for each step."
        )
    parts: Sequence[Any] = namespace_of([leaf]).unstack(leaf, axis=0)
    return parts


class _Steps(NamedTuple):
    """A step, and the number of steps in a segment."""

    step: Any
    each: int

    def run(self, free: int, carry: Any, elements: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Perform steps, of which backward keeps `free` carries; return carry and outputs."""
        outputs: list[Any] = []
        while len(elements) > self.each:
            first = self.each * first_part(-(-len(elements) // self.each), free)
            again: Any = checkpoint(functools.partial(self.run, free))
            carry, found = again(carry, elements[:first])
            outputs += found
            elements = elements[first:]
            free -= 1
        for x in elements:
            returned: Any = self.step(carry, None if type_of(elements) is range else x)
            if not isinstance(returned, TUPLE) or len(returned) != 2:
                raise PytreeError(
                    f"scan: {name_of(self.step)} returned {kind_of(returned)}. Fix: return a pair "
                    "of the next carry and an output, which may be None."
                )
            carry, output = returned
            outputs.append(output)
        return carry, outputs


def first_part(count: int, free: int) -> int:
    """Return how many of `count` segments to run again from their start, with free checkpoints.

    The others have one checkpoint less. The result leads to the fewest runs of segments in all.
    """
    again = 0
    while math.comb(free + again, free) < count:
        again += 1
    least = math.comb(free + again - 2, free) if again > 1 else 1
    return max(least, count - math.comb(free - 1 + again, free - 1))


def _stacked(step: Any, outputs: Sequence[Any]) -> Any:
    """Stack the outputs of all steps, leaf by leaf."""
    first, treedef = flatten(outputs[0])
    rows: list[list[Any]] = [first]
    for output in outputs[1:]:
        leaves, found = flatten(output)
        if found != treedef:
            raise PytreeError(
                f"scan: {name_of(step)} returned outputs of different structures: {treedef}, and "
                f"{found}. Fix: return the same structure in every step."
            )
        rows.append(leaves)
    columns = [_column(step, column) for column in zip(*rows, strict=True)]
    return unflatten(treedef, columns)


def _column(step: Any, leaves: Sequence[Any]) -> Any:
    """Stack the leaves at one place of the outputs; None in every step stays None."""
    if all(leaf is None for leaf in leaves):
        return None
    arrays = [leaf for leaf in leaves if is_array(leaf)]
    xp = namespace_of(arrays or [np.float64(0)])
    columns = [leaf if is_array(leaf) else xp.asarray(leaf) for leaf in leaves]
    shapes = sorted({tuple(column.shape) for column in columns})
    if len(shapes) > 1:
        raise PytreeError(
            f"scan: {name_of(step)} returned outputs of the shapes "
            f"{' and '.join(map(str, shapes))}. Fix: return the same shape in every step."
        )
    return xp.stack(columns, axis=0)
