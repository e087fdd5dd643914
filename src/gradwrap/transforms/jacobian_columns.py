"""A Jacobian by forward mode: one batched pass for all of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.tree import flatten, flatten_with_paths, unflatten
from gradwrap.errors import NonDifferentiableInputError
from gradwrap.transforms.argnums import described, name_of, selected
from gradwrap.transforms.arguments import differentiable, passes_through
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.jacobian_rows import check_output, leaves_of
from gradwrap.transforms.jacobian_space import (
    FlatAxis,
    array_of,
    as_asked,
    check_is_array,
    chunks_of,
    joined,
    rows_of,
    zero_block,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.transforms.recording import Recording
    from gradwrap.typing.signatures import Argnums

__all__ = ["by_columns", "forward_columns"]


def forward_columns(  # noqa: PLR0913  the function, its call, and the options of jacfwd
    fun: Callable[..., Any],
    argnums: Argnums,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    has_aux: bool,
    holomorphic: bool,
    chunk_size: int | None,
) -> Any:
    """The Jacobian of one call, in the structure of the output, and `aux`."""
    places = list(dict.fromkeys(selected(fun, argnums, args, kwargs)))
    chosen = [args[p] if isinstance(p, int) else kwargs[p] for p in places]

    def of_chosen(*values: Any) -> Any:
        given, named = list(args), dict(kwargs)
        for place, value in zip(places, values, strict=True):
            if isinstance(place, int):
                given[place] = value
            else:
                named[place] = value
        return fun(*given, **named)

    of_chosen.__name__ = name_of(fun)
    flattened = [flatten(value) for value in chosen]
    leaves = [
        _differentiated(leaf, fun, holomorphic, path)
        for place, value in zip(places, chosen, strict=True)
        for path, leaf in flatten_with_paths(value, described(fun, place))[0]
    ]
    space = FlatAxis(leaves)
    aux: Any = None
    treedef: Any = None

    def push(basis: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        nonlocal aux, treedef
        starts = iter(basis)
        tangents = [unflatten(td, [next(starts) for _ in ls]) for ls, td in flattened]
        pushed = jvp(of_chosen, chosen, tangents, has_aux=has_aux)  # type: ignore[call-overload]  # a bool
        aux = pushed[-1]
        values, treedef = flatten(pushed[0])
        for out in values:
            check_is_array(name_of(fun), out)
        return [array_of(out) for out in values], flatten(pushed[1])[0]

    asked = [places.index(place) for place in selected(fun, argnums, args, kwargs)]
    blocks: list[list[Any]] = []
    for block in _blocks_of(space, chunk_size, push):
        found = iter(block)
        by_place = [[next(found) for _ in leaves] for leaves, _ in flattened]
        blocks.append([one for at in asked for one in by_place[at]])
    jacobian = unflatten(treedef, as_asked(blocks, [flattened[at][1] for at in asked], argnums))
    return (jacobian, aux) if has_aux else jacobian


def _differentiated(leaf: Any, fun: Callable[..., Any], holomorphic: bool, path: str) -> Any:
    """A leaf of an argument as an array; None for one that passes through."""
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
    chunk_size: int | None,
    push: Callable[[Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]],
) -> list[list[Any]]:
    """For each output its blocks; `push` gives the outputs and their tangents for a basis."""
    outputs: Sequence[Any] = ()
    chunks: list[list[Any]] = []
    for first, last in chunks_of(space.total, chunk_size):
        outputs, pushed = push(space.basis(first, last))
        both = zip(pushed, outputs, strict=True)
        chunks.append(
            [None if t is None else rows_of(t, o, last - first, space.level) for t, o in both]
        )
    return [
        _column_blocks(space, out, list(parts))
        for out, parts in zip(outputs, zip(*chunks, strict=True), strict=True)
    ]


def _column_blocks(space: FlatAxis, out: Any, parts: list[Any]) -> list[Any]:
    """The blocks of one output for all arrays of a space, from tangents in stretches."""
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
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: int | None
) -> list[list[Any]]:
    """For each output, the blocks of all leaves, from one pass through the linearisation."""
    for out in outputs:
        check_output(recording.name, out, holomorphic)
    space = FlatAxis([original for _, original in leaves_of(recording)])
    linear = recording.linear_map(outputs).transposed()
    datas = [out._data if recording.is_tracked(out) else out for out in outputs]
    return _blocks_of(space, chunk_size, lambda basis: (datas, linear.pull(basis)))
