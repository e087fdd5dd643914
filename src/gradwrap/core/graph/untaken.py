"""Elements that a selection did not take: in a backward pass, no derivative reaches them.

`where(x > 0, sqrt(x), 0)` does not take `sqrt(x)` at 0. The cotangent of that element is zero, but
zero times the infinite derivative of `sqrt` would be NaN. The pass remembers which elements of a
cotangent are zero because a selection did not take them, not because a number happened to be zero.
Behind an elementwise operation they are zeros again, whatever its derivative is.

The memory of such elements is a mask, true at those that were taken. It follows elementwise
operations and views, ends at all others, and is computed where an elementwise operation with a
derivative that depends on values needs it. A program without selections, or one that selects from
the results of other operations (`maximum(x @ w, 0)`), pays nothing.

Where the gradient of adapted code holds NaN, the pass is walked again, and every selection is
remembered: by any index, and by any linear operation, of the value of a write, too. If that is not
enough, it is walked without what comes through infinite derivatives, as in the limit of a function
whose steep part has no weight. What that gives is a guess, which values have to confirm.
"""

from __future__ import annotations

import math
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.arrivals import arrive
from gradwrap.core.graph.node import EDGE, JOINT, Leaf, Node
from gradwrap.core.library.backend import PYTHON_SCALARS, backend_of
from gradwrap.core.library.scatter import PARTS, OutputPart, Scattered, is_basic_key
from gradwrap.core.observing.arithmetic import computes_derivative
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, type_of
from gradwrap.core.values.space import fit_cotangent, zeros_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gradwrap.core.graph.arrivals import Pending


ran_adapted: ContextVar[bool] = ContextVar("gradwrap_ran_adapted", default=False)
"""Whether the outermost run of this context has called adapted code."""


class Taken:
    """The mask of a cotangent, true at elements that selections took; computed when asked for.

    `work` computes it from the masks of `bases`. Of a selection between two arguments, `half` is
    the node and the mask of its own cotangent: what one argument's mask leaves, the other's takes.
    """

    __slots__ = ("_bases", "_mask", "_work", "half")

    zeros_annihilate = True

    def __init__(
        self,
        work: Callable[..., Any],
        bases: Collection[Taken] = (),
        half: tuple[Node, Taken | None] | None = None,
    ) -> None:
        self._work: Callable[..., Any] | None = work
        self._bases = bases
        self._mask: Any = None
        self.half: tuple[Node, Taken | None] | None = half

    @property
    def mask(self) -> Any:
        """The mask, of a shape that broadcasts to that of the cotangent."""
        stack = [self]  # no recursion: a loop makes a chain of masks
        while stack:
            one = stack[-1]
            waiting = [base for base in one._bases if base._work is not None]
            stack += waiting
            if not waiting:
                stack.pop()
                if one._work is not None:
                    one._mask = one._work(*[base._mask for base in one._bases])
                    one._work, one._bases = None, ()
        return self._mask


class Either(Taken):
    """The mask of a sum: elements that a part of it takes."""

    __slots__ = ("is_shared", "parts")

    def __init__(self, first: Taken) -> None:
        self.parts: dict[Any, Taken] = {first if first.half is None else first.half[0]: first}
        self.is_shared: bool = False
        super().__init__(_union, self.parts.values())

    def covers_all_with(self, other: Taken) -> bool:
        """Add a part; tell if the sum then takes all elements, as with both halves of one node."""
        new: Taken | None = other
        while new is not None:
            key = new if new.half is None else new.half[0]
            partner = self.parts.pop(key, new)
            if partner is new:
                self.parts[key] = new
                return False
            assert new.half is not None
            new = new.half[1]
        return True


def _union(*masks: Any) -> Any:
    first, *others = masks
    for mask in others:
        first = first | mask
    return first


class Everywhere(dict[int, tuple[Any, Taken]]):
    """The masks of a pass that remembers every selection."""

    def cotangent(self, _node: Node, _xp: Any, _g: Any, made: Any) -> Any:
        """Return the cotangent that the pass uses, for the one that a formula has made."""
        return made


class Dropping(Everywhere):
    """A pass that leaves out what comes through an infinite derivative."""

    def cotangent(self, node: Node, xp: Any, g: Any, made: Any) -> Any:
        """Return the cotangent that the pass uses, for the one that a formula has made."""
        if isinstance(made, SEQUENCE):
            return tuple(self.cotangent(node, xp, g, one) for one in made)
        if made is None or type(made) in PARTS:
            return made
        backend = backend_of(made)
        if backend.is_seen_finite(made) or backend.dtype_kind(made.dtype)[1]:
            return made
        if _is_elementwise(node) and made.shape == g.shape:
            made = xp.where(g == 0.0, 0.0, made)
        return xp.where(xp.isinf(made), 0.0, made)


def _is_elementwise(node: Node) -> bool:
    op = node.op
    return op.by_element and op.rule.kind.is_elementwise and not op.leaves


Masks = dict[int, tuple[Any, Taken]]
"""The masks of one backward pass, by the number of the node whose cotangent each describes.

A mask stands beside its sum of cotangents. Where another cotangent is added, the sum is another
array, and the mask is not valid any more.
"""


def mask_of(masks: Masks, node: Node, g: Any) -> Taken | None:
    """Return the mask of the cotangent with which the pass visits a node."""
    total, taken = masks.pop(node.seq, (None, None))
    if type(taken) is Either:
        taken.is_shared = True
    return taken if total is g else None


def arrive_with(  # noqa: PLR0913  the state of the pass, as for `arrive`
    masks: Masks,
    taken: Taken,
    pending: dict[int, Pending],
    heap: list[int],
    parent: Any,
    cotangent: Any,
    op: Any,
) -> None:
    """Add a cotangent that has a mask to the sum that has arrived at a node."""
    seq = parent.seq
    before = pending.get(seq)
    total, earlier = masks.pop(seq, (None, None))
    is_valid = before is None or (
        earlier is not None and total is before[1] and type(cotangent) is not OutputPart
    )
    total = None  # a buffer with one reference is added to in place
    arrive(pending, heap, parent, cotangent, op)
    if is_valid and earlier is not None:
        either = earlier
        if type(either) is not Either or either.is_shared:
            either = Either(earlier)
        is_valid = not either.covers_all_with(taken)
        taken = either
    if is_valid:
        arrival = pending[seq]
        arrival[2] = False  # what is added to it makes another array, which has no mask
        masks[seq] = arrival[1], taken


def with_zeros(node: Node, taken: Taken, edges: Any) -> Any:
    """Return the edges of an elementwise operation, with zeros where nothing was taken."""
    return [
        (parent, partial(_cotangent, node, taken, formula), saved, index)
        for parent, formula, saved, index in edges
    ]


@computes_derivative(node="node", asked="taken", cotangent="taken")
def _cotangent(node: Node, taken: Taken, formula: Any, xp: Any, g: Any, *saved: Any) -> Any:
    cotangent = formula(xp, g, *saved)
    if cotangent is None or cotangent is g or type(cotangent) in PARTS:
        return cotangent
    if not saved or cotangent.shape != g.shape:  # it was summed: its derivative is 1 or -1
        return cotangent
    if node.op.backend.is_seen_finite(cotangent):
        return cotangent
    if all(type_of(one) in PYTHON_SCALARS and math.isfinite(abs(one)) for one in saved):
        return cotangent
    return xp.where(taken.mask, cotangent, 0.0)


def taken_behind(node: Node, edge: Any, taken: Taken | None, xp: Any) -> Taken | None:
    """Return the mask of the cotangent that an edge of a node makes for its argument, or None.

    Of the arguments of a write, it is that of the array written to.
    """
    parent, _, saved, index = edge
    parent = _argument(parent, index)
    if not _can_use(parent):
        return None
    if not (_begins(node, saved) if taken is None else _passes_on(node.op, saved)):
        return None
    return _behind(node, edge, taken, xp)


def all_taken_behind(
    node: Node, edge: Any, taken: Taken | None, xp: Any
) -> tuple[Taken | None, ...]:
    """Return the masks of the cotangents that an edge makes, in a pass that remembers everything.

    A write has two of them: that of the array written to, and that of the value.
    """
    parent, _, _, index = edge
    op = node.op
    if op.rule is None or not (op.by_element or op.rule.selects or op.rule.kind.name == "linear"):
        return (None, None)
    if taken is None and op.rule.kind.is_elementwise and not op.leaves:
        return (None, None)
    parents = parent[:2] if index == JOINT else (parent,)
    return tuple(
        None if one is None else _behind(node, edge, taken, xp, place)
        for place, one in enumerate(parents)
    )


def _behind(node: Node, edge: Any, taken: Taken | None, xp: Any, place: int = 0) -> Taken | None:
    parent, _, _, index = edge
    parent = parent[place] if index == JOINT else parent
    rule = node.op.rule
    has_its_shape = rule.kind.is_elementwise and parent.meta.shape == node.meta.shape
    if has_its_shape and not rule.selects:
        return taken
    half = (node, taken) if has_its_shape and node.op.halves else None
    work = partial(_pulled_back, node, edge, xp, place)
    return Taken(work, () if taken is None else (taken,), half)


def is_of_use(node: Node) -> bool:
    """Tell if a mask can be of use behind a node that may take some elements."""
    more = node.more
    if more is None and type(node.parent) is Leaf:
        return False
    if not _begins(node, node.saved):
        return False
    parents = (_argument(node.parent, node.index), *(more or ())[::EDGE])
    return any(map(_can_use, parents))


def _argument(parent: Any, index: int) -> Any:
    """Return the parent that a mask goes to: of a write, the array written to."""
    return parent[0] if index == JOINT else parent


def _can_use(parent: Any) -> bool:
    """Tell if a mask of a node's cotangent can be of use there: at a function of each element."""
    while parent is not None and type(parent) is not Leaf:  # None: not tracked, or freed
        op = parent.op
        if op.rule is not None and op.rule.kind.is_elementwise:
            return True
        if not _passes_on(op, parent.saved):
            return False
        parent = _argument(parent.parent, parent.index)
    return False


def _begins(node: Node, saved: Any) -> bool:
    """Tell if a node makes a mask of its own: an elementwise selection, or by an index of masks.

    Other indices do not: each `x[i]` of a loop would pay.
    """
    return node.op.leaves and (node.op.rule.key is None or _is_of_booleans(saved[0]))


def _passes_on(op: Any, saved: Any) -> bool:
    """Tell if each element of an operation's result is, or depends on, one of its argument's."""
    return op.by_element or (op.leaves and _is_of_booleans(saved[0]))


def _is_of_booleans(key: Any) -> bool:
    if is_basic_key(key):
        return False
    parts = key if type_of(key) is TUPLE else (key,)
    return any(str(getattr(part, "dtype", "")).endswith("bool") for part in parts)


def _pulled_back(node: Node, edge: Any, xp: Any, place: int, taken: Any = None) -> Any:
    """Pull back numbers where elements were taken: what they do not reach was not taken.

    The numbers are all unlike, so that their differences are not zero.
    """
    parent, formula, saved, index = edge
    parent = parent[place] if index == JOINT else parent
    own, behind, rule = node.meta, parent.meta, node.op.rule
    ones = xp.asarray(1 + 1j if own.is_complex else 1, dtype=own.dtype, device=own.device)
    if not (rule.kind.is_elementwise or node.op.leaves):
        count = math.prod(own.shape)
        ones = ones * xp.reshape(2.0 + xp.cos(xp.arange(float(count))), own.shape)
    if taken is not None:
        ones = xp.where(taken, ones, 0.0)
    if not rule.kind.is_elementwise:
        ones = xp.broadcast_to(ones, own.shape)
        if index == JOINT:  # it writes to them
            ones = formula(xp, xp.asarray(ones, copy=True), *saved)[place]
        else:
            ones = formula(xp, ones, *saved)
    elif rule.selects:
        ones = formula(xp, ones, *saved)
    if type(ones) is Scattered:
        buffer = zeros_of(xp, behind)
        return backend_of(buffer).scatter_add(buffer, ones.key, ones.values) != 0
    if behind.shape != own.shape:
        if rule.kind.is_elementwise:
            ones = xp.broadcast_to(ones, own.shape)
        ones = fit_cotangent(xp, ones, behind)
    return ones != 0
