"""Sparse Jacobians: columns or rows that share no nonzero are computed in one pass.

Columns without a common row can be added up: one pass along their sum gives all of them, and each
row says to which it belongs. So the columns are coloured, such that columns of one colour have no
common row, and there is one pass for each colour (Curtis, Powell and Reid, "On the estimation of
sparse Jacobian matrices", 1974). Rows are coloured likewise for reverse mode.

One more pass, along random numbers, checks the pattern: an entry that it lacks would be added to
another one without notice.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradwrap.core.levels.levels import new_level
from gradwrap.core.levels.wrapper import native
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.space import size_of
from gradwrap.core.values.tree import flatten, map_leaves
from gradwrap.errors import ArgnumsError, MissingToolError, SparsityError
from gradwrap.transforms.argnums import selected
from gradwrap.transforms.batch import batch_of
from gradwrap.transforms.jacobian_blocks import check_output, leaves_of
from gradwrap.transforms.jacobian_space import rows_of
from gradwrap.transforms.raveling import to_host
from gradwrap.transforms.stretches import in_stretches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gradwrap.core.graph.linear import LinearMap
    from gradwrap.transforms.recording import Recording
    from gradwrap.typing.signatures import Argnums, ChunkSize

    Ints = NDArray[np.int64]
    Mode = Literal["rows", "columns", "fewer"]


class Pattern:
    """The sparsity pattern of a matrix, and the colours of its rows or columns."""

    def __init__(self, sparsity: Any, mode: Mode) -> None:
        try:
            self.sparse: Any = import_module("scipy.sparse")
        except ModuleNotFoundError as error:
            raise MissingToolError(
                "sparsity= needs SciPy, which is not installed. Fix: pip install scipy."
            ) from error
        if not self.sparse.issparse(sparsity):
            sparsity = np.asarray(sparsity) != 0
        if len(sparsity.shape) != 2:
            raise SparsityError(
                f"sparsity has the shape {tuple(sparsity.shape)}. Fix: pass a matrix with a row "
                "for each element of the output and a column for each of the argument."
            )
        matrix = self.sparse.csr_array(sparsity, copy=True)
        matrix.sum_duplicates()
        self.shape: tuple[int, int] = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.indices: Ints = matrix.indices
        self.starts: Ints = matrix.indptr
        self.rows: Ints = np.repeat(np.arange(self.shape[0]), np.diff(self.starts))
        found: dict[str, tuple[Ints, int]] = {}
        if mode != "columns":
            found["rows"] = coloured(self.starts, self.indices, self.shape[1])
        if mode != "rows":
            by_column = matrix.tocsc()
            found["columns"] = coloured(by_column.indptr, by_column.indices, self.shape[0])
        self.mode: str = min(found, key=lambda name: found[name][1])
        colours, count = found[self.mode]
        self.colours: Ints = colours
        self.count: int = count

    def seeds(self) -> NDArray[np.float64]:
        """Return a direction for each colour, and a random one for the check."""
        made = np.zeros((self.count + 1, self.colours.size))
        made[self.colours, np.arange(self.colours.size)] = 1.0
        made[-1] = np.random.default_rng(0).uniform(0.5, 1.5, self.colours.size)
        return made

    def matrix(self, passes: Any, directions: Any, name: str, closely: bool) -> Any:
        """Assemble the Jacobian from the passes' results; check it along the last direction.

        A close check can fail by rounding alone.
        """
        own, across = self.rows, self.indices
        if self.mode == "columns":
            own, across = across, own
        values = passes[self.colours[own], across]
        found = self.sparse.csr_array((values, self.indices, self.starts), shape=self.shape)
        product = found if self.mode == "columns" else found.T
        expected, along = passes[-1], directions[-1]
        eps = np.finfo(values.dtype).eps
        with np.errstate(invalid="ignore"):  # of infinities
            tolerance = (64 * eps if closely else eps**0.5) * (abs(product) @ np.abs(along))
            found_along = product @ along
            is_right = np.abs(found_along - expected) <= tolerance
        wrong = np.flatnonzero(~is_right & np.isfinite(found_along))
        if wrong.size:
            where, line = ("output", "row") if self.mode == "columns" else ("argument", "column")
            raise SparsityError(
                f"sparsity lacks a derivative of {name} that is not zero: in {line} {wrong[0]}, "
                f"of element {wrong[0]} of the {where}. Fix: add the entries of that {line}, or "
                "leave sparsity out."
            )
        return found


class Patterns:
    """The pattern of a function's Jacobian: the user's, or one detected for each set of shapes."""

    def __init__(
        self, fun: Callable[..., Any], argnums: Any, has_aux: bool, sparsity: Any, mode: Mode
    ) -> None:
        self._fun = fun
        self._argnums = argnums
        self._has_aux = has_aux
        self._mode: Mode = mode
        self._given: Pattern | None = None
        self._known: dict[Any, Pattern] = {}
        if not isinstance(sparsity, str):
            self._given = Pattern(sparsity, mode)
        elif sparsity != "detect":
            raise SparsityError(f'sparsity={sparsity!r}. Fix: pass a matrix, or "detect".')

    def matrix(
        self,
        recording: Recording,
        outputs: Sequence[Any],
        args: Any,
        kwargs: Any,
        chunk_size: ChunkSize,
    ) -> Any:
        """Return the sparse Jacobian; a detected pattern that lacks an entry is found again."""
        if self._given is not None:
            return sparse_matrix(recording, outputs, self._given, chunk_size)
        leaves, treedef = flatten((args, kwargs))
        key = treedef, tuple(getattr(leaf, "shape", leaf) for leaf in leaves)
        try:
            known = self._known.get(key)
        except TypeError:  # an argument that cannot be hashed
            return sparse_matrix(recording, outputs, self._detected(args, kwargs), chunk_size)
        if known is not None:
            with contextlib.suppress(SparsityError):  # it was detected at other values
                return sparse_matrix(recording, outputs, known, chunk_size, elsewhere=True)
        found = self._known[key] = self._detected(args, kwargs)
        return sparse_matrix(recording, outputs, found, chunk_size)

    def _detected(self, args: Any, kwargs: Any) -> Pattern:
        try:
            detect: Any = import_module("gradwrap.compiler.sparsity").pattern
        except ModuleNotFoundError as error:
            raise MissingToolError(
                'sparsity="detect" needs SciPy, which is not installed. Fix: pip install scipy.'
            ) from error
        (place,) = selected(self._fun, self._argnums, args, kwargs)
        fun = _first_of(self._fun) if self._has_aux else self._fun
        given = map_leaves(native, (tuple(args), kwargs))
        return Pattern(detect(fun, *given, place), self._mode)


def _first_of(fun: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fun)
    def first(*args: Any, **kwargs: Any) -> Any:
        return fun(*args, **kwargs)[0]

    return first


def coloured(starts: Any, indices: Any, others: int) -> tuple[Ints, int]:
    """Colour the lines so that lines of one colour share no index; return colours and their number.

    Each line in turn gets the first colour that none of its indices has met.
    """
    ends: list[int] = starts.tolist()
    places: list[int] = indices.tolist()
    met: list[int] = [0] * others  # the colours of an index, as the bits of a number
    colours: list[int] = []
    for start, end in itertools.pairwise(ends):
        taken = 0
        for index in places[start:end]:
            taken |= met[index]
        bit = ~taken & (taken + 1)
        for index in places[start:end]:
            met[index] |= bit
        colours.append(bit.bit_length() - 1)
    return np.array(colours, dtype=np.int64), max(colours, default=-1) + 1


def check_options(argnums: Argnums, holomorphic: bool) -> None:
    """Refuse options that a sparse Jacobian does not support."""
    if not isinstance(argnums, (int, str)):
        raise ArgnumsError(
            f"argnums={argnums!r} with sparsity, which is the pattern of one matrix. Fix: give one "
            "position or name; put several arguments into one container."
        )
    if holomorphic:
        raise ArgnumsError(
            "holomorphic=True with sparsity is not supported. Fix: leave one of them out."
        )


def sparse_matrix(
    recording: Recording,
    outputs: Sequence[Any],
    pattern: Pattern,
    chunk_size: ChunkSize,
    *,
    elsewhere: bool = False,
) -> Any:
    """Return the Jacobian of outputs with respect to a recording's one argument.

    A pattern that was detected `elsewhere` is checked closely, and the recording is kept.
    """
    for out in outputs:
        check_output(recording.name, out, holomorphic=False)
    arguments = [original for _, original in leaves_of(recording)]
    values = [out._value if recording.is_tracked(out) else out for out in outputs]
    shape = (_size(values), _size(arguments))
    if shape != pattern.shape:
        raise SparsityError(
            f"sparsity has the shape {pattern.shape}; the Jacobian of {recording.name} has "
            f"{shape}. Fix: pass a matrix with a row for each element of the output and a column "
            "for each of the argument."
        )
    linear = recording.linear_map(outputs)
    sources, targets = values, arguments
    if pattern.mode == "columns":
        linear, sources, targets = linear.transposed(keep=elsewhere), arguments, values
    seeds = pattern.seeds()

    def passes(first: int, last: int) -> Any:
        return _passes(linear, seeds[first:last], sources, targets)

    some = next(array for array in arguments if array is not None)
    parts = in_stretches(len(seeds), chunk_size, some, passes)
    return pattern.matrix(np.concatenate(parts), seeds, recording.name, elsewhere)


def _size(arrays: Sequence[Any]) -> int:
    return sum(0 if array is None else size_of(tuple(array.shape)) for array in arrays)


def _passes(linear: LinearMap, seeds: Any, sources: Sequence[Any], targets: Sequence[Any]) -> Any:
    """Pass all seeds through a linear map as one batch; return the results as rows."""
    level = new_level()
    starts: list[Any] = []
    first = 0
    for source in sources:
        if source is None:
            starts.append(None)
            continue
        backend = backend_of(source)
        size = size_of(tuple(source.shape))
        part = backend.asarray(seeds[:, first : first + size], source)
        part = backend.xp.astype(part, source.dtype)
        shaped = backend.xp.reshape(part, (len(seeds), *source.shape))
        starts.append(batch_of(shaped, level))
        first += size
    found = linear.pull(starts)
    rows = [
        to_host(rows_of(one, target, len(seeds), level)).reshape(len(seeds), -1)
        for one, target in zip(found, targets, strict=True)
        if target is not None
    ]
    return np.concatenate(rows, axis=1)
