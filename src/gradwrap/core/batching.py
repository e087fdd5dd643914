"""How an operation is performed on a batch of examples at once.

The batch axis is the first one of the data. What an operation does with it follows from its kind,
or is a formula in `gradwrap.rules.batching`; where there is neither, the operation is performed on
one example after the other, which is right for whatever it does.

A batching formula's parameter names say what it is given, as everywhere in the tables:

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

from typing import TYPE_CHECKING, Any

from gradwrap.core.looping import stacked, tell
from gradwrap.core.record import namespace_of, perform
from gradwrap.core.rule import parameter_names
from gradwrap.core.wrapper import batched_parts, example
from gradwrap.errors import RuleDefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradwrap.core.record import BoundOp
    from gradwrap.core.rule import FormulaFunction, Rule

__all__ = [
    "aligned",
    "perform_batched",
    "register_batching",
    "register_elementwise",
    "register_example_by_example",
    "register_stacked",
]

BatchingFormula = tuple["Callable[..., Any]", tuple[str, ...]]
# filled while the tables of rules are imported, and only read from then on
_formulas: dict[str, BatchingFormula] = {}
_elementwise: set[str] = set()
_stacked_names: set[str] = set()
_example_by_example: set[str] = set()


def register_elementwise(names: Iterable[str]) -> None:
    """Name operations whose arrays broadcast against each other."""
    _elementwise.update(names)


def register_stacked(names: Iterable[str]) -> None:
    """Name operations on the last axes of one array, whatever axes are before them."""
    _stacked_names.update(names)


def register_example_by_example(names: Iterable[str]) -> None:
    """Name operations that cannot be performed on a batch at once."""
    _example_by_example.update(names)


def register_batching(table: Mapping[str, FormulaFunction]) -> None:
    """Enter batching formulas, by the names of their operations."""
    for name, function in table.items():
        names = parameter_names(function)
        if names[:2] != ("xp", "op"):
            raise RuleDefinitionError(
                f"{name}: a batching formula's first two parameters are xp and op, this one has "
                f"({', '.join(names)}). Fix: lambda xp, op, x: ..."
            )
        _formulas[name] = (function, names[2:])


def perform_batched(
    bound: BoundOp, level: int, data: Sequence[Any], nodes: Sequence[Any], statics: tuple[Any, ...]
) -> tuple[Any, Any]:
    """The batch that an operation belongs to, and its results, each with the batch axis first."""
    rule = bound.rule
    keys = [] if rule.key is None else [part._node for part in batched_parts(statics, level)]
    batch = next(node for node in (*nodes, *keys) if node is not None)
    flags = [node is not None for node in nodes]
    call = _Call(bound, level, data, flags, statics, batch)
    formula = _formulas.get(rule.name) if rule.kind != "user" else None
    if formula is not None and (not keys or "level" in formula[1]):
        return batch, call.by_formula(formula)
    if not keys and rule.kind != "user":
        if _is_elementwise(rule):
            return batch, perform(bound, aligned(call.xp, data, flags), statics)
        if rule.name in _stacked_names:
            return batch, perform(bound, data, statics)
    return batch, call.loop()


def _is_elementwise(rule: Rule) -> bool:
    if rule.name in _example_by_example:
        return False
    return (
        rule.kind == "elementwise"
        or rule.name in _elementwise
        or (rule.kind == "nondifferentiable" and not rule.statics and not rule.variadic)
    )


class _Call:
    """One operation on a batch."""

    def __init__(  # noqa: PLR0913  all there is to a call
        self,
        bound: BoundOp,
        level: int,
        data: Sequence[Any],
        flags: Sequence[bool],
        statics: tuple[Any, ...],
        batch: Any,
    ) -> None:
        self.bound = bound
        self.level = level
        self.data = data
        self.flags = flags
        self.statics = statics
        self.batch = batch
        self.xp = namespace_of(bound, data)

    def by_formula(self, formula: BatchingFormula) -> Any:
        function, names = formula
        rule = self.bound.rule
        size = self.batch.size
        data = self.data
        if "batched" not in names:
            pairs = zip(data, self.flags, strict=True)
            data = [item if flag else _repeated(self.xp, item, size) for item, flag in pairs]
        statics = dict(zip(rule.statics, self.statics, strict=True))
        words: dict[str, Any] = {
            "size": size,
            "batched": self.flags,
            "level": self.level,
            "loop": self.loop,
            "statics": statics,
            **statics,
        }
        if rule.variadic:
            words[rule.arrays[0]] = list(data)
        else:
            words.update(zip(rule.arrays, data, strict=True))
        return function(self.xp, self.op, *(words[name] for name in names))

    def op(self, *given: Any) -> Any:
        """The operation itself: its arrays, then its statics."""
        rule = self.bound.rule
        count = 1 if rule.variadic else len(rule.arrays)
        arrays = given[0] if rule.variadic else given[:count]
        return perform(self.bound, list(arrays), tuple(given[count:]))

    def loop(self) -> Any:
        """One example after the other."""
        name = self.bound.rule.name
        tell(name, self.batch.fallback)
        pairs = list(zip(self.data, self.flags, strict=True))
        results = [
            perform(
                self.bound,
                [item[i] if flag else item for item, flag in pairs],
                tuple(example(static, self.level, i) for static in self.statics),
            )
            for i in range(self.batch.size)
        ]
        return stacked(name, results)


def _repeated(xp: Any, item: Any, size: int) -> Any:
    """The same array for every example; a number stays one."""
    if not hasattr(item, "shape"):
        return item
    return xp.broadcast_to(item, (size, *item.shape))


def aligned(xp: Any, data: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """Arrays whose examples broadcast against each other, behind the batch axis."""
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
