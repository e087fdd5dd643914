"""Operations on a batch of examples at once.

The batch axis is the first one of the data. The row says what an operation does with it, by a word
or a function, or its kind does (`gradwrap.core.table.kinds`):

===========  ====================================================================================
`"align"`    the arrays broadcast against each other, behind the batch axis
`"last"`     the operation works on the last axes, whatever axes are before them
`"loop"`     one example after the other, which is right for whatever the operation does
other words  the functions of `gradwrap.rules.batching`: `"axis"`, `"axes"`, `"matmul"`, ...
===========  ====================================================================================

A batching function's parameter names say what it is given, as everywhere in the tables:

=============  ============================================================================
`xp`           the namespace of the data
`op`           the operation itself: arrays, then statics, by position
`x`, `x1` ...  an argument's data; with the batch axis first, repeated along it if it had none
`axis`, ...    a static argument
`statics`      all of them, by name
`size`         how many examples there are
`level`        the level of the `vmap`, to find the batches in an index
`loop`         to perform the operation example by example after all
`batched`      for each argument whether it has the batch axis; they are then given as they are
=============  ============================================================================
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.calls.call import Call, indented, tuple_of
from gradwrap.core.calls.diagonals import on_diagonals
from gradwrap.core.calls.general import namespace_of, perform
from gradwrap.core.calls.loop import refuse_differing, stacked, tell
from gradwrap.core.levels.wrapper import batched_parts, example, stripped
from gradwrap.core.library.backend import PYTHON_SCALARS
from gradwrap.core.table.rule import parameter_names
from gradwrap.errors import RuleDefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradwrap.core.calls.bound import BoundOp
    from gradwrap.core.table.rule import FormulaFunction, Rule
    from gradwrap.core.values.space import Batch

A = TypeVar("A")

# filled while the module of batching functions is imported, and only read from then on
_functions: dict[str, Callable[..., Any]] = {}
_module_waiting: list[str] = []


def batching_functions_later(module: str) -> None:
    """Name the module that enters the batching functions: imported by the first `vmap`."""
    _module_waiting.append(module)


def register_batching(table: Mapping[str, FormulaFunction]) -> None:
    """Register batching functions under the words by which rows refer to them."""
    _functions.update(table)


class _Moves:
    """How a row moves the batch axis: by a word, or by a function and its parameter names."""

    def __init__(self, rule: Rule) -> None:
        said = rule.batching
        self.word: str = said if isinstance(said, str) else ""
        self.function: Callable[..., Any] | None = None if isinstance(said, str) else said
        if self.word not in ("", "align", "last", "loop"):
            for module in tuple(_module_waiting):  # another thread may clear it meanwhile
                import_module(module)  # waits for a thread that is at it
            _module_waiting.clear()
            self.function = _functions.get(self.word)
            if self.function is None:
                raise RuleDefinitionError(
                    f"{rule.name}: batch={self.word!r} is not a batching word. "
                    f"Fix: use 'align', 'last', 'loop', {', '.join(map(repr, _functions))}, "
                    "or a function, lambda xp, op, x: ..."
                )
        self.names: tuple[str, ...] = ()
        if self.function is not None:
            names = parameter_names(self.function)
            if names[:2] != ("xp", "op"):
                raise RuleDefinitionError(
                    f"{rule.name}: a batching function's first two parameters are xp and op, this "
                    f"one has ({', '.join(names)}). Fix: lambda xp, op, x: ..."
                )
            self.names = names[2:]


# The usual call -----------------------------------------------------------------------------------


class Batches(Call):
    """Write the call on a batch: the operation, with its axes moved behind the batch axis."""

    def __init__(self, bound: BoundOp, other: Callable[..., Any]) -> None:
        super().__init__(bound, other)
        self.moves: _Moves = _Moves(self.rule)

    def usual(self) -> bool:
        return self.moves.word != "loop" and "loop" not in self.moves.names

    def scope(self) -> dict[str, Any]:
        bound = self.bound
        xp = namespace_of(bound, ())  # of the data, native or wrapped by outer transforms
        return super().scope() | {
            "NUMBERS": PYTHON_SCALARS,
            "aligned": functools.partial(aligned, xp),
            "batch_of": bound.variable_class._of_batch,
            "like_batch": bound.variable_class._like,
            "moved": self.moves.function,
            "on_diagonals": on_diagonals(bound),
            "op": functools.partial(bound.forward, bound.native),
            "example": self._example,
            "refuse_differing": refuse_differing,
            "repeated": functools.partial(_repeated, xp),
            "xp": xp,
        }

    def unpack(self, index: int) -> list[str]:
        return []  # an argument without a formula is no matter here

    def look_at(self, index: int) -> list[str]:
        """Test for a diagonal matrix before its data are read, since reading computes them."""
        if self.rule.diagonal is None or self.bound.backend.depth:
            return []
        x = self.rule.arrays[index]
        arguments = ", ".join((*self.rule.arrays, *self.rule.statics))
        return [
            f"if {x}._node is not None and {x}._node.diagonal is not None:",
            f"    found = on_diagonals({arguments})",
            "    if found is not None: return found",
        ]

    def before(self) -> list[str]:
        arrays = self.rule.arrays
        nodes = [f"{x}_n" for x in arrays]
        if self.rule.variadic:
            lines = [f"batch = next((n for n in {nodes[0]} if n is not None), None)"]
        else:
            choice = " else ".join(f"{n} if {n} is not None" for n in nodes[:-1])
            lines = [f"batch = {choice} else {nodes[-1]}" if choice else f"batch = {nodes[0]}"]
        untracked = [f"out = {self.native_call()}", self.result("plain(out)")]
        lines += ["if batch is None:", *indented(untracked)]
        if not self.rule.variadic:
            lines += ["level = batch.meta.level"]
            lines += [
                f"if {n} is not None and {n}.meta.level != level: {self.elsewhere}"
                for n in nodes[1:]
            ]
        return lines

    def perform(self) -> list[str]:
        """Call it, and look at an error: examples may differ in it, which a handler cannot know."""
        return [
            *self._look(),
            "try:",
            *indented(self._perform()),
            "except Exception as raised:",
            f"    one = example({self.arrays}, {self.statics}, batch)",
            "    refuse_differing(raised, batch.size, one)",
            "    raise",
        ]

    def _look(self) -> list[str]:
        """Show where it jumps, if the examples may be tracked outside of `vmap`."""
        if not (self.bound.jumps and self.bound.backend.depth):
            return []
        looked = ", ".join([repr(self.rule.jumps), *self.rule.arrays])
        return ["look = looks()", f"if look is not None: look({looked})"]

    def _perform(self) -> list[str]:
        """Call the native function, never the operator.

        A batch of numbers has an axis, and a library's operator may then take a plain array
        without axes for a weak scalar.
        """
        if self.moves.function is None:
            align = self._align() if self.moves.word == "align" else []
            return [*align, f"out = {self.native_call()}"]
        rule, names = self.rule, self.moves.names
        data = [f"{x}_d" for x in rule.arrays]
        lines: list[str] = []
        if "batched" not in names and rule.variadic:
            x = rule.arrays[0]
            pairs = f"for node, data in zip({x}_n, {x}_d)"
            whole = "repeated(data, batch.size) if node is None else data"
            lines += [f"{x}_d = [{whole} {pairs}]"]
        elif "batched" not in names and len(data) > 1:
            lines += [f"if {x}_n is None: {x}_d = repeated({x}_d, batch.size)" for x in rule.arrays]
        flags = tuple_of(f"{x}_n is not None" for x in rule.arrays)
        if rule.variadic:
            flags = f"[node is not None for node in {rule.arrays[0]}_n]"
        words = {
            "size": "batch.size",
            "batched": flags,
            "statics": f"dict({', '.join(f'{name}={name}' for name in rule.statics)})",
            **dict(zip(rule.arrays, data, strict=True)),
        }
        given = "".join(f", {words.get(name, name)}" for name in names)
        return [*lines, f"out = moved(xp, op{given})"]

    def _example(
        self, arrays: tuple[Any, ...], statics: tuple[Any, ...], batch: Batch
    ) -> Callable[[int], Any]:
        """Return the function that performs the operation on one example."""
        level = batch.meta.level

        def one(index: int) -> Any:
            given = [stripped(example(array, level, index)) for array in arrays]
            return perform(self.bound, given, example(statics, level, index))

        return one

    def _align(self) -> list[str]:
        """Let the examples of the arrays broadcast against each other."""
        arrays = self.rule.arrays
        data = [f"{x}_d" for x in arrays]
        flags = tuple_of(f"{x}_n is not None" for x in arrays)
        align = f"{', '.join(data)} = aligned({tuple_of(data)}, {flags})"
        if len(data) == 1:
            return []
        if len(data) > 2:
            return [align]
        lines = [
            f"if {arrays[0]}_n is not None and {arrays[1]}_n is not None:",
            f"    if len({data[0]}.shape) != len({data[1]}.shape): {align}",
        ]
        for x, y in (arrays, arrays[::-1]):
            lines += [
                f"elif {x}_n is None and type({x}) not in NUMBERS:",
                f"    if len({x}_d.shape) >= len({y}_d.shape): {align}",
            ]
        return lines

    def ending(self) -> list[str]:
        if self.moves.word == "align" and self.rule.outputs == 1:
            return [self.result("like_batch(V, out, batch)")]
        return [self.result("batch_of(level, batch, out)")]


def _repeated(xp: Any, item: Any, size: int) -> Any:
    """Repeat an array for every example; return a number unchanged."""
    if not hasattr(item, "shape"):
        return item
    return xp.broadcast_to(item, (size, *item.shape))


def aligned(xp: Any, data: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """Insert axes of length one behind the batch axis, so that the examples broadcast."""
    ranks = [
        len(item.shape) - flag if hasattr(item, "shape") else 0
        for item, flag in zip(data, flags, strict=True)
    ]
    rank = max(ranks)
    return [
        xp.reshape(item, (item.shape[0], *(1,) * (rank - own), *item.shape[1:]))
        if flag and own < rank
        else item
        for item, flag, own in zip(data, flags, ranks, strict=True)
    ]


# Everything else ----------------------------------------------------------------------------------


def perform_batched(
    bound: BoundOp, level: int, data: Sequence[Any], nodes: Sequence[Any], statics: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return the batch of an operation and its results, each with the batch axis first."""
    keys = [] if bound.rule.key is None else [part._node for part in batched_parts(statics, level)]
    batch = next(node for node in (*nodes, *keys) if node is not None)
    flags = [node is not None for node in nodes]

    def one(index: int) -> Any:
        given = [item[index] if flag else item for item, flag in zip(data, flags, strict=True)]
        return perform(bound, given, tuple(example(static, level, index) for static in statics))

    try:
        return batch, _performed(bound, level, batch, data, flags, statics, bool(keys), one)
    except Exception as error:
        refuse_differing(error, batch.size, one)
        raise


def _performed(  # noqa: PLR0913  all there is to a call
    bound: BoundOp,
    level: int,
    batch: Batch,
    data: Sequence[Any],
    flags: Sequence[bool],
    statics: tuple[Any, ...],
    has_mapped_key: bool,
    one: Callable[[int], Any],
) -> Any:
    """Return the results, each with the batch axis first; `one` performs it on one example."""
    rule, moves = bound.rule, _Moves(bound.rule)

    def loop() -> Any:
        tell(rule.name, batch.fallback)
        return stacked(rule.name, [one(index) for index in range(batch.size)])

    if moves.word == "loop" or (has_mapped_key and "level" not in moves.names):
        return loop()
    if moves.function is None:
        if moves.word == "align":
            data = aligned(namespace_of(bound, data), data, flags)
        return perform(bound, data, statics)
    xp = namespace_of(bound, data)
    if "batched" not in moves.names:
        pairs = zip(data, flags, strict=True)
        data = [item if flag else _repeated(xp, item, batch.size) for item, flag in pairs]
    by_name = dict(zip(rule.statics, statics, strict=True))
    words: dict[str, Any] = {
        "size": batch.size,
        "batched": flags,
        "level": level,
        "loop": loop,
        "statics": by_name,
        **by_name,
    }
    count = 1 if rule.variadic else len(rule.arrays)
    words.update(zip(rule.arrays, [list(data)] if rule.variadic else data, strict=True))

    def op(*given: Any) -> Any:
        arrays = given[0] if rule.variadic else given[:count]
        return perform(bound, list(arrays), tuple(given[count:]))

    return moves.function(xp, op, *(words[name] for name in moves.names))
