"""The blocks of a Jacobian: its rows by reverse mode, its columns by forward mode, in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.backward import backward_pass
from gradwrap.core.graph.node import Node
from gradwrap.core.graph.special_nodes import unguarded
from gradwrap.core.graph.thorough import thorough_pass
from gradwrap.core.levels.levels import inspecting, new_level, next_sequence_number
from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of
from gradwrap.core.observing.hooks import leaf_hooks
from gradwrap.core.values.comparing import zeros_like
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.layouts import put
from gradwrap.core.values.space import size_of
from gradwrap.core.values.tree import flatten, flatten_with_paths, unflatten
from gradwrap.errors import NonDifferentiableInputError, NonScalarOutputError
from gradwrap.transforms.argnums import described, name_of, selected
from gradwrap.transforms.arguments import differentiable, given_to, passes_through, untracked
from gradwrap.transforms.batch import batch_of
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.jacobian_space import (
    FlatAxis,
    array_of,
    arrays_among,
    as_asked,
    check_is_array,
    joined,
    rows_of,
    with_none,
    zero_block,
)
from gradwrap.transforms.recording import Recording, ones_of
from gradwrap.transforms.stretches import in_stretches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.typing.signatures import Argnums, ChunkSize


def by_rows(
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: ChunkSize
) -> list[list[Any]]:
    """Return for each output the blocks of all leaves, by one batched backward pass."""
    for out in outputs:
        check_output(recording.name, out, holomorphic)
    leaves = leaves_of(recording)
    if len(outputs) == 1 and recording.is_tracked(outputs[0]):
        return [_rows_of_one(recording, outputs[0], leaves, holomorphic, chunk_size)]
    space = FlatAxis([out._value if recording.is_tracked(out) else None for out in outputs])

    def rows(first: int, last: int) -> list[Any]:
        arrived = recording.arrived(outputs, space.basis(first, last), keep=last < space.total)
        return [
            None
            if leaf is None
            else rows_of(arrived.get(leaf[0]), original, last - first, space.level)
            for leaf, original in leaves
        ]

    found = in_stretches(space.total, chunk_size, space.some, rows)
    whole = [_whole(part, holomorphic) for part in zip(*found, strict=True)]
    blocks: list[Any] = []
    for index, out in enumerate(outputs):
        block: list[Any] = []
        for one, (_, original) in zip(whole, leaves, strict=True):
            if one is None:
                block.append(None)
            elif space.arrays[index] is None:
                block.append(zero_block(out, original))
            else:
                block.append(space.split(backend_of(one).xp, one, index, 0))
        blocks.append(block)
    return blocks


def _whole(parts: Sequence[Any], holomorphic: bool) -> Any:
    """Join the stretches of rows, if there are any; conjugate them for a holomorphic function."""
    if parts[0] is None:
        return None
    whole = joined(parts)
    return backend_of(whole).xp.conj(whole) if holomorphic else whole


def _rows_of_one(
    recording: Recording,
    output: Any,
    leaves: Sequence[Any],
    holomorphic: bool,
    chunk_size: ChunkSize,
) -> list[Any]:
    """Return the blocks of a single output, in the cheapest way."""
    shape = tuple(output._value.shape)
    if not shape:  # its Jacobian is its gradient
        gradient = recording.arrived([output], [ones_of(output)], keep=False)
        found = [None if leaf is None else gradient.get(leaf[0]) for leaf, _ in leaves]
        return [
            None if leaf is None else _whole([zeros_like(x) if g is None else g], holomorphic)
            for g, (leaf, x) in zip(found, leaves, strict=True)
        ]
    total, level, start = size_of(shape), new_level(), _diagonal_start(output)
    only = leaves[0][0] if len(leaves) == 1 else None

    def rows(first: int, last: int) -> list[Any]:
        known = None if only is None else start.rows_at(only[0], first, last)
        if known is not None:
            return [known]
        found = start.arrived(recording, output, first, last, level)
        return [
            None if leaf is None else rows_of(found.get(leaf[0]), original, last - first, level)
            for leaf, original in leaves
        ]

    parts = zip(*in_stretches(total, chunk_size, output._value, rows), strict=True)
    block: list[Any] = []
    for part, (_, original) in zip(parts, leaves, strict=True):
        whole = _whole(part, holomorphic)
        if whole is not None:
            wanted = (*shape, *original.shape)
            if whole.shape != wanted:
                whole = backend_of(whole).xp.reshape(whole, wanted)
        block.append(whole)
    return block


def check_output(name: str, out: Any, holomorphic: bool) -> None:
    """Refuse an output without a Jacobian by rows: not an array, or complex."""
    check_is_array(name, out)
    if backend_of(out).dtype_kind(out.dtype)[1] and not holomorphic:
        raise NonScalarOutputError(
            f"jacrev needs real outputs; {name} returned {out.dtype}. Fix: pass holomorphic=True "
            "for the complex derivative of a holomorphic function, or use jacfwd for a function "
            "of real arguments."
        )


def leaves_of(recording: Recording) -> list[tuple[Any, Any]]:
    """Return the arguments' leaves (None if not differentiated), and their arrays."""
    return [
        (leaf, None if leaf is None else array_of(original))
        for tracked in recording.tracked
        for leaf, original in zip(tracked.leaves, tracked.originals, strict=True)
    ]


# The first steps ----------------------------------------------------------------------------------
#
# The cotangents that a Jacobian starts from are the unit vectors. An elementwise function keeps
# them what they are but for a factor each, so one vector of factors goes back through it in place
# of a matrix; and a matrix-vector product then scales the rows of its matrix. Most Jacobians end in
# such steps: the last layers of what they differentiate.


class _DiagonalStart:
    """The node where rows stop being diagonal, with the factors or rows that arrive there."""

    def __init__(self, node: Any, factors: Any, rows: Any) -> None:
        self.node = node
        self.factors = factors
        self.rows = rows

    def arrived(
        self, recording: Recording, output: Any, first: int, last: int, level: int
    ) -> dict[Any, Any]:
        """Return the leaves' cotangents for a stretch of rows, as one batch of this level."""
        roots = [(self.node, batch_of(self._some_rows(first, last), level))]
        ones = output._backend.ones_like(output._value)
        keep = last < size_of(ones.shape)
        if recording.is_adapted:
            units = batch_of(_scaled_units(ones, first, last), level)
            if not backend_of(ones).is_seen_finite(self.factors):  # the pass has to see infinities
                roots = [(output._node, units)]
            confirms = recording.confirming([output], [units])
            found = thorough_pass(roots, retain_graph=keep, confirms=confirms)
        else:
            found = backward_pass(roots, retain_graph=keep)
        leaf_hooks(found)
        return found

    def rows_at(self, leaf: Any, first: int, last: int) -> Any:
        """Return the rows if they have already reached this leaf, and it has no hooks."""
        is_there = self.rows is not None and self.node is leaf and leaf.hooks is None
        return self._some_rows(first, last) if is_there else None

    def _some_rows(self, first: int, last: int) -> Any:
        if self.rows is not None:
            is_all = first == 0 and last == self.rows.shape[0]
            return self.rows if is_all else self.rows[first:last, ...]
        return _scaled_units(self.factors, first, last)


def _scaled_units(factors: Any, first: int, last: int) -> Any:
    """Return a stretch of the unit vectors of a space, each times its factor."""
    backend = backend_of(factors)
    xp = backend.xp
    size = size_of(factors.shape)
    meta = backend.meta(factors, 0)
    unit = xp.eye(last - first, size, k=first, dtype=meta.dtype, device=meta.device)
    scaled = unit * xp.reshape(factors, (1, size))
    return xp.reshape(scaled, (last - first, *factors.shape))


def _diagonal_start(output: Any) -> _DiagonalStart:
    """Go back from an output through its last elementwise functions of one argument."""
    node: Any = output._node
    factors = output._backend.ones_like(output._value)
    while type(node) is Node and _keeps_diagonal(
        node
    ):  # one that ran elsewhere has a class of its own
        factors = _pulled(node, factors)
        node = node.parent
    rows = _rows_of_product(node, factors) if type(node) is Node else None
    return _DiagonalStart(node if rows is None else node.parent, factors, rows)


def _keeps_diagonal(node: Any) -> bool:
    """Tell if an operation acts on each element of one argument separately."""
    rule = getattr(node.op, "rule", None)
    return (
        rule is not None
        and rule.kind.is_elementwise
        and _is_unobserved(node.op)
        and not node.more
        and not node.meta.is_complex
        and node.parent.meta.shape == node.meta.shape
        and node.parent.meta.dtype == node.meta.dtype
    )


def _is_unobserved(op: Any) -> bool:
    """Tell if no hook or inspection would miss a visit of this binding's nodes."""
    return (op.guards or not op.special) and op.hooks is None and inspecting.get() is None


def _saved(node: Any) -> tuple[Any, ...]:
    """Return the values that a node's formula saved, after checking the guarded arrays."""
    saved = node.saved
    if node.op.guards:
        saved, _ = unguarded(node.op.name, node, next_sequence_number())
    return saved if type_of(saved) is tuple else (saved,)


def _pulled(node: Any, factors: Any) -> Any:
    formula, saved = node.formula, _saved(node)
    pulled = formula(node.op.namespaces[type(factors)], factors, *saved)
    if tuple(pulled.shape) == node.meta.shape:
        return pulled
    return node.op.namespaces[type(pulled)].broadcast_to(pulled, node.meta.shape)


def _rows_of_product(node: Any, factors: Any) -> Any:
    """Return the rows behind a matrix-vector product, or None for another node."""
    if node.op.name not in ("matmul", "linalg.matmul") or node.more or node.index != 1:
        return None
    if not _is_unobserved(node.op):
        return None
    if node.meta.is_complex or len(node.parent.meta.shape) != 1 or len(node.meta.shape) != 1:
        return None
    (matrix,) = _saved(node)
    if matrix.dtype != node.parent.meta.dtype:
        return None
    return factors[:, None] * matrix


# Columns ------------------------------------------------------------------------------------------


def chosen_untracked(
    fun: Callable[..., Any], argnums: Argnums, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments; those to differentiate lose wrappers that track nothing.

    The others are the function's own: it may ask them for a variable's methods, or write to them.
    """
    places = selected(fun, argnums, args, kwargs)
    chosen = [untracked(arg) if i in places else arg for i, arg in enumerate(args)]
    return chosen, {key: untracked(arg) if key in places else arg for key, arg in kwargs.items()}


def forward_columns(  # noqa: PLR0913  the function, its call, and the options of jacfwd
    fun: Callable[..., Any],
    argnums: Argnums,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    has_aux: bool,
    holomorphic: bool,
    chunk_size: ChunkSize,
) -> Any:
    """Return the Jacobian of one call in the output's structure, and `aux`."""
    args, kwargs = chosen_untracked(fun, argnums, args, kwargs)
    places = list(dict.fromkeys(selected(fun, argnums, args, kwargs)))
    given: dict[int | str, Any] = dict[int | str, Any](enumerate(args)) | dict(kwargs.items())
    chosen = [given[place] for place in places]

    def of_chosen(*values: Any) -> Any:
        now = {place: given_to(value) for place, value in given.items() if place not in places}
        now |= dict(zip(places, values, strict=True))
        return fun(*(now[i] for i in range(len(args))), **{key: now[key] for key in kwargs})

    of_chosen.__name__ = name_of(fun)
    flattened = [flatten(value) for value in chosen]
    leaves = [
        None
        if passes_through(leaf) and not treedef.is_lone
        else differentiated(leaf, fun, holomorphic, path)
        for place, value, (_, treedef) in zip(places, chosen, flattened, strict=True)
        for path, leaf in flatten_with_paths(value, described(fun, place))[0]
    ]
    space = FlatAxis(leaves)
    aux: Any = None
    treedef: Any = None
    outputs: Sequence[Any] = ()

    def push(basis: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        nonlocal aux, treedef, outputs
        starts = iter(basis)
        tangents = [unflatten(td, [next(starts) for _ in ls]) for ls, td in flattened]
        pushed = jvp(of_chosen, chosen, tangents, has_aux=has_aux)  # type: ignore[call-overload]  # a bool
        aux = pushed[-1]
        outputs, treedef = flatten(pushed[0])
        values = arrays_among(outputs, treedef)
        for out in values:
            check_is_array(name_of(fun), out)
        slopes = zip(outputs, flatten(pushed[1])[0], strict=True)
        return [array_of(out) for out in values], [
            slope for out, slope in slopes if treedef.is_lone or out is not None
        ]

    asked = [places.index(place) for place in selected(fun, argnums, args, kwargs)]
    blocks: list[list[Any]] = []
    for block in _blocks_of(space, chunk_size, push):
        found = iter(block)
        by_place = [[next(found) for _ in leaves] for leaves, _ in flattened]
        blocks.append([one for at in asked for one in by_place[at]])
    owned = as_asked(blocks, [flattened[at][1] for at in asked], argnums)
    jacobian = put(treedef, with_none(outputs, owned), "columns")
    return (jacobian, aux) if has_aux else jacobian


def differentiated(leaf: Any, fun: Callable[..., Any], holomorphic: bool, path: str) -> Any:
    """Return a leaf as an array, or None if it is not differentiated."""
    if passes_through(leaf):
        return None
    array, backend = differentiable(leaf, f"argument {path}")
    if backend.dtype_kind(array.dtype)[1] and not holomorphic:
        raise NonDifferentiableInputError(
            f"jacfwd needs real arguments; {getattr(fun, '__name__', 'the function')} was called "
            f"with {array.dtype}. Fix: pass holomorphic=True for the complex derivative of a "
            "holomorphic function, or use jacrev for a function with real outputs."
        )
    return array


def _blocks_of(
    space: FlatAxis,
    chunk_size: ChunkSize,
    push: Callable[[Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]],
) -> list[list[Any]]:
    """Return each output's blocks; `push` returns the outputs and their tangents."""
    outputs: Sequence[Any] = ()

    def columns(first: int, last: int) -> list[Any]:
        nonlocal outputs
        outputs, pushed = push(space.basis(first, last))
        both = zip(pushed, outputs, strict=True)
        return [None if t is None else rows_of(t, o, last - first, space.level) for t, o in both]

    chunks = in_stretches(space.total, chunk_size, space.some, columns)
    return [
        _column_blocks(space, out, list(parts))
        for out, parts in zip(outputs, zip(*chunks, strict=True), strict=True)
    ]


def _column_blocks(space: FlatAxis, out: Any, parts: list[Any]) -> list[Any]:
    """Return the blocks of one output for all arrays, from its tangents."""
    if parts[0] is None:
        return [None if a is None else zero_block(out, a) for a in space.arrays]
    rank = len(out.shape)
    whole = joined(parts)
    xp = backend_of(whole).xp
    whole = xp.moveaxis(whole, 0, -1)
    return [
        None if a is None else space.split(xp, whole, k, rank) for k, a in enumerate(space.arrays)
    ]


def by_columns(
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: ChunkSize
) -> list[list[Any]]:
    """Return for each output the blocks of all leaves, by pushing through the linearisation."""
    for out in outputs:
        check_output(recording.name, out, holomorphic)
    space = FlatAxis([original for _, original in leaves_of(recording)])
    linear = recording.linear_map(outputs).transposed(keep=recording.is_adapted)
    datas = [out._value if recording.is_tracked(out) else out for out in outputs]
    blocks = _blocks_of(space, chunk_size, lambda basis: (datas, linear.pull(basis)))
    if recording.is_adapted and _hold_nan(blocks):  # a pass by rows can do more about it
        return by_rows(recording, outputs, holomorphic, chunk_size)
    return blocks


def _hold_nan(blocks: Sequence[Sequence[Any]]) -> bool:
    arrays = (innermost(one) for some in blocks for one in some if one is not None)
    return any(backend_of(one).is_seen_nan(one) for one in arrays)


def by_fewer(
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: ChunkSize
) -> list[list[Any]]:
    """Return the blocks by rows or by columns, whichever are fewer."""
    inputs = sum(0 if leaf is None else leaf[0].meta.size for leaf, _ in leaves_of(recording))
    rows = sum(size_of(out.shape) for out in outputs if recording.is_tracked(out))
    blocks = by_rows if rows <= inputs else by_columns
    return blocks(recording, outputs, holomorphic, chunk_size)
