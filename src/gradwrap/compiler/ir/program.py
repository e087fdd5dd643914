"""The program of a compiled function: the tracer writes it, the passes change it, engines read it.

A `Program` is a tree of `Block`s. A block is straight-line code: its `body` is performed in order,
then it either hands out its `result`, or its `guard` looks at a value and one of its `branches`
goes on. A function without branches on values has one block.

Everything that a body computes is a *value*, which has a number. `Ref(i)` names value `i`, and
`program.values[i]` describes it. A value is given once (by an input, a constant, or one
instruction), and it is never changed: writes are functional (`setitem`, below).

**Arguments.** `Instr.args` and `Instr.kw` are nests of tuples, lists and slices. A leaf is a `Ref`
or a literal: a Python number, a NumPy number, `None`, `...`, a string, a dtype, a type. Python's
numbers are *weak*, as NumPy has it: `x * 2.0` keeps the dtype of a float32 `x`. NumPy's numbers are
not. A literal is never an `ndarray`: arrays of the closure are values too, listed in
`Program.constants`. A key of an index is one argument: `x[1, :, i]` is
`getitem(x, (1, slice(None), i))`, and `x[0]` is `getitem(x, 0)`.

**Numbers and 0-d arrays.** `Value.is_ndarray` is False for a NumPy number (`np.float64`), which
most operations on 0-d arrays return. They must stay distinct: outputs have the types of eager.

**Instructions.** `fn(*args, **kw)` on real values gives the value: a program is run by just that
(`evaluate.py`). `name` says which operation it is:

========================== ======================================================================
name                       operation
========================== ======================================================================
`add`, `sin`, …            the ufunc of this name in NumPy or in scipy.special; `fn` is the ufunc
                           itself. Elementwise, except where `fn.signature` is given (`matmul`).
                           Operators are recorded as their ufuncs (`a * b` as `multiply`), except
                           `pow`
`pow`                      `a ** b`, which is not `np.power`: NumPy squares for `x ** 2`
`add.reduce`, …            a method of a ufunc; `args` are `(x,)` or `(x, axis)`; the keywords
                           `axis`, `keepdims`, `dtype` are there if they are not the default
`where`                    `np.where` of three arguments, elementwise
`getitem`                  `(x, key)`: a view if the key is basic, else a copy
`setitem`                  `(x, key, v)`: a copy of `x` with `v` written at `key`. An engine may
                           write into the buffer of `x` if that dies here and nothing else sees it
`scatter_add`              `(x, key, v)`: likewise, with `v` added at `key`; what is named twice is
                           added twice, so for an array of integers this is `add_at` of
                           `gradwrap.backends.numpy.scatter`
`copy`                     `(x,)`: a new array, laid out as `x` is; `(x, order)`: in that order;
                           never merged with another
`zeros`, `full`            `(shape, dtype)` and `(shape, number, dtype)`: a new array
`array`                    `(nest, dtype)`: `np.array` of nested lists of values and literals
`item`                     `(whole, i)`: output `i` of an instruction with several outputs, whose
                           value `whole` is a tuple (`Value.is_tuple`)
`T`, `mT`, `real`, `imag`  the attribute of `(x,)`; `fn` is an `Attribute`
`astype`, `reshape`, …     the function of NumPy of this name; `fn` is it, or a `Method` of `x`
others                     the function of NumPy of this dotted name (`linalg.solve`)
========================== ======================================================================

**Views.** `Instr.views` is True if the result may share memory with an argument that is a `Ref`
(any of them). So a buffer may be used anew only when all values that may be views of it are dead.

**Loops.** After rolling a body also holds `Loop`s. A loop performs a `body` of its own, `turns`
times, in the order of computation. A body value has a number of its own and is described in
`Program.values`. Only steps of the same loop read it. Between a turn and the world outside there is
what the loop declares:

=========== ========================================================================================
`carries`   `Carry(value, first, next)`: in the first turn body value `value` is `first`, a `Ref` or
            a literal; in each later turn it is what `next` was in the turn before
`reads`     `{i: Ref(r)}`: body value `i` is the part of this turn of value `r`, which has the turns
            along its first axis. Its shape is `values[r].shape[1:]`
`stacks`    `{i: r}`: value `r` has body value `i` of all turns along its first axis. It is an
            ndarray of shape `(turns, *shape)` in C's order
`finals`    `{i: r}`: value `r` is what body value `i` is in the last turn, described alike
=========== ========================================================================================

Steps of the body may read values from outside, which are then the same in all turns. A loop in a
loop is a step of its body. The `value`, `first` and `next` of a carry have one shape and dtype; a
`first` that is a literal is a number. What is handed on (`next`, and the keys of `stacks` and
`finals`) is given by a step of the body itself, and no two carries have one `next`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.backends.numpy.scatter import add_at
from gradwrap.compiler.ir.operations import FULL, OPERATIONS, Kind, Operation
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.core.values.tree import TreeDef

UFUNC: type[Any] = np.ufunc
NDARRAY: type[Any] = np.ndarray
NUMBER: type[Any] = np.generic


class Ref:
    """The name of a value: its number in `Program.values`."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index: int = index

    def __eq__(self, other: object) -> bool:
        return type(other) is Ref and other.index == self.index

    def __hash__(self) -> int:
        return hash((Ref, self.index))

    def __repr__(self) -> str:
        return f"t{self.index}"


class Value(NamedTuple):
    """The description of a value, which is not kept itself.

    `dtype` is a `np.dtype`. A tuple of several outputs has `is_tuple`, and no shape or dtype of its
    own. `is_number` says that it is a number of Python's, weak in operations: an argument of the
    function that varies. `order` is the memory order of an array: `"C"`, `"F"`, `"S"` (the axes are
    in C's order, with gaps or reversed) or `"?"` (another, or not known).
    """

    shape: tuple[int, ...]
    dtype: Any
    is_ndarray: bool
    is_tuple: bool = False
    is_number: bool = False
    order: str = "C"


class Instr(NamedTuple):
    """One operation, `out = fn(*args, **kw)`; see the module's docstring."""

    fn: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kw: tuple[tuple[str, Any], ...]
    """Keywords in alphabetical order."""
    out: int
    """The number of the value that it gives."""
    views: bool = False
    line: int = 0
    """The line of the user's code that it comes from; 0 if that is not known."""
    copied: bool = False
    """Whether it may give a view, but gave a copy when it was traced."""

    @property
    def op(self) -> Operation:
        """The row of the table of operations."""
        return OPERATIONS[self.name]


class Carry(NamedTuple):
    """In a loop: a value that each turn hands to the next; see the module's docstring."""

    value: int
    """The number of the body value that a turn finds."""
    first: Any
    """What the first turn finds."""
    next: int
    """The number of the body value that a turn hands on."""


@dataclass(slots=True)
class Loop:
    """A body that is performed `turns` times; see the module's docstring."""

    turns: int
    body: list[Instr | Loop] = field(default_factory=list["Instr | Loop"])
    carries: list[Carry] = field(default_factory=list[Carry])
    reads: dict[int, Any] = field(default_factory=dict[int, Any])
    stacks: dict[int, int] = field(default_factory=dict[int, int])
    finals: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def outs(self) -> tuple[int, ...]:
        """The numbers of the values that it gives."""
        return (*self.stacks.values(), *self.finals.values())

    @property
    def found(self) -> set[int]:
        """The numbers of the body values that are there when a turn begins."""
        return {*self.reads, *(carry.value for carry in self.carries)}

    @property
    def handed_on(self) -> set[int]:
        """The numbers of the body values that are needed when a turn ends."""
        return {*self.stacks, *self.finals, *(carry.next for carry in self.carries)}

    @property
    def line(self) -> int:
        """The first line of the user's code that is known of its steps; 0 if none is."""
        return next((step.line for step in self.body if step.line), 0)


class Guard(NamedTuple):
    """A look at a value on which the function branches.

    `kind` is `"bool"`, `"int"` or `"shape"` (of what a mask has selected), and the outcome is
    `bool(v)`, `int(v)` or `v.shape`. The outcomes that have been seen are the keys of the block's
    `branches`; any other is a miss, which the function's owner traces (`compiled.py`).
    """

    kind: str
    value: Ref


class Missed(Exception):  # noqa: N818  it ends a run, and is no error
    """A guard had an outcome that has not been traced."""


class Result(NamedTuple):
    """What the function returns: the leaves (`Ref`s or literals) and their structure."""

    leaves: tuple[Any, ...]
    tree: TreeDef


@dataclass(slots=True)
class Block:
    """Straight-line code, and what comes after it: a result, or a guard with branches."""

    body: list[Instr | Loop] = field(default_factory=list["Instr | Loop"])
    guard: Guard | None = None
    branches: dict[Any, Block] = field(default_factory=dict[Any, "Block"])
    result: Result | None = None


class Constant(NamedTuple):
    """An array of the function's surroundings.

    `by_reference` says that `array` is the user's own object, whose content is read at each call.
    Otherwise it is a copy that nobody writes to. `name` is the user's name for it, or "".
    """

    array: Any
    by_reference: bool
    name: str


@dataclass(slots=True)
class Program:
    """A traced function for arguments of one signature.

    `inputs` are the numbers of the values that are given by the caller, in the order of the
    arguments' leaves; `names` are the names of these in the source. `constants` are the values
    that are there before the first instruction, by number.
    """

    values: list[Value]
    inputs: tuple[int, ...]
    names: tuple[str, ...]
    constants: dict[int, Constant]
    root: Block
    notes: list[str] = field(default_factory=list[str])
    """What `.explain()` says of the passes: loops that were found, and why others were not."""
    quiet: tuple[str, ...] = ()
    """The kinds of floating point errors that the function lets NumPy ignore somewhere."""
    shares: Sequence[Sequence[frozenset[int]]] = ()
    """For each result, by leaf: the inputs, constants and earlier leaves (the first is -1) with
    which the function's own result shares memory."""
    exact: bool = True
    """False once a pass has changed how a value is rounded."""

    def new(self, value: Value) -> Ref:
        """Number a new value."""
        self.values.append(value)
        return Ref(len(self.values) - 1)

    def copy(self) -> Program:
        """Return the same program, with blocks of its own."""
        return replace(
            self,
            values=[*self.values],
            root=_copied(self.root),
            constants=dict(self.constants),
            notes=[*self.notes],
        )

    def length(self) -> int:
        """Count operations, those of a loop once."""
        return sum(isinstance(step, Instr) for body in self.bodies() for step in body)

    def blocks(self) -> Iterator[Block]:
        """All blocks, each before its branches."""
        waiting = [self.root]
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.branches.values()))

    def bodies(self) -> Iterator[list[Instr | Loop]]:
        """All straight-line code: the bodies of blocks, each before those of the loops in it."""
        for block in self.blocks():
            yield from bodies_of(block.body)


def bodies_of(body: list[Instr | Loop]) -> Iterator[list[Instr | Loop]]:
    """Yield a body, and those of the loops in it."""
    yield body
    for step in body:
        if isinstance(step, Loop):
            yield from bodies_of(step.body)


def _copied(block: Block) -> Block:
    branches = {found: _copied(branch) for found, branch in block.branches.items()}
    return replace(block, body=[changed(step, _same) for step in block.body], branches=branches)


def _same(leaf: Any) -> Any:
    return leaf


# Operations ---------------------------------------------------------------------------------------


class Named:
    """The function of an attribute or a method of arrays, equal to others of its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash((type(self), self.name))


class Attribute(Named):
    """The function of an attribute of arrays."""

    __slots__ = ()

    def __call__(self, x: Any, /) -> Any:
        """Return the attribute of `x`."""
        return getattr(x, self.name)


class Method(Named):
    """The function of a method of arrays."""

    __slots__ = ()

    def __call__(self, x: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call the method of `x`."""
        return getattr(x, self.name)(*args, **kwargs)


def getitem(x: Any, key: Any, /) -> Any:
    """Return `x[key]`."""
    return x[key]


def setitem(x: Any, key: Any, value: Any, /) -> Any:
    """Return a copy of `x` with a value written at a key."""
    new = np.array(x, order="K")
    new[key] = value
    return new


def scatter_add(x: Any, key: Any, value: Any, /) -> Any:
    """Return a copy of `x` with a value added at a key, as often as the key names an element."""
    new = np.array(x, order="K")
    if adds_once(key):
        new[key] += value
    else:
        add_at(new, key, value)
    return new


def adds_once(key: Any) -> bool:
    """Tell if a key names no element twice: it has neither lists nor arrays of integers."""
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    return all(
        part is None
        or part is Ellipsis
        or isinstance(part, SLICE)
        or np.ndim(part) == 0
        or getattr(part, "dtype", None) == np.bool_
        for part in parts
    )


def copy(x: Any, order: Any = "K", /) -> Any:
    """Return a new array, or the number."""
    return np.array(x, order=order) if isinstance(x, NDARRAY) else x


def item(whole: Any, index: int, /) -> Any:
    """Return one of several outputs."""
    return whole[index]


def zeros(shape: tuple[int, ...], dtype: Any, /) -> Any:
    """Return a new array of zeros."""
    return np.zeros(shape, dtype)


def full(shape: tuple[int, ...], number: Any, dtype: Any, /) -> Any:
    """Return a new array of one number."""
    return np.full(shape, number, dtype)


def array(nest: Any, dtype: Any, /) -> Any:
    """Return a new array of nested lists."""
    return np.array(nest, dtype)


def is_elementwise(instr: Instr) -> bool:
    """Tell if an instruction computes each element of one output from those of its arguments."""
    fn: Any = instr.fn
    if isinstance(fn, UFUNC):
        return fn.signature is None and fn.nout == 1
    op = instr.op
    return op.is_power or (op.is_choice and len(instr.args) == 3)


def filled_with(instr: Instr | None) -> Any:
    """Return the number that a new array consists of; None for other instructions."""
    op = None if instr is None else instr.op
    if instr is None or op is None or op.kind is not Kind.FILL:
        return None
    return instr.args[1] if op is FULL else 0


NESTS: frozenset[type[Any]] = frozenset({tuple, list, slice})
LITERALS: frozenset[type[Any]] = frozenset({int, float, str, type(None), np.float64})


def refs(nest: Any) -> list[int]:
    """The numbers of the values that are named in a nest of arguments, the last one first."""
    found: list[int] = []
    _collect(nest, found)
    return found


def _collect(nest: Any, found: list[int]) -> None:
    kind = type_of(nest)
    if kind in LITERALS:
        return
    if kind is TUPLE or kind is LIST:
        for part in reversed(nest):
            kind = type_of(part)
            if kind is Ref:
                found.append(part.index)
            elif kind not in LITERALS:
                _collect(part, found)
    elif kind is Ref:
        found.append(nest.index)
    elif kind is SLICE:
        for bound in (nest.step, nest.stop, nest.start):
            if type_of(bound) not in LITERALS:
                _collect(bound, found)
    elif isinstance(nest, (TUPLE, LIST)):
        for part in reversed(nest):
            _collect(part, found)


def used(step: Instr | Loop) -> list[int]:
    """The numbers of the values that an instruction, or a loop from outside, reads."""
    found: list[int] = []
    if type(step) is Loop:
        _collect([*step.reads.values(), *(carry.first for carry in step.carries)], found)
        inside = step.found
        for one in step.body:
            found += [index for index in used(one) if index not in inside]
            inside.update(given(one))
        return found
    for part in reversed(step.args):
        kind = type_of(part)
        if kind is Ref:
            found.append(part.index)
        elif kind not in LITERALS:
            _collect(part, found)
    if step.kw:
        _collect(step.kw, found)
    return found


def given(step: Instr | Loop) -> tuple[int, ...]:
    """The numbers of the values that an instruction or a loop gives."""
    return step.outs if isinstance(step, Loop) else (step.out,)


def mapped(nest: Any, change: Callable[[Any], Any]) -> Any:
    """Return a nest with every leaf changed."""
    kind = type_of(nest)
    if kind is TUPLE or kind is LIST:
        return kind(
            [mapped(part, change) if type_of(part) in NESTS else change(part) for part in nest]
        )
    if kind is SLICE:
        parts: Sequence[Any] = (nest.start, nest.stop, nest.step)
        return slice(*(mapped(part, change) for part in parts))
    return change(nest)


def changed(step: Any, change: Callable[[Any], Any]) -> Any:
    """Return a step with every leaf changed that it reads, in the bodies of loops too."""
    if isinstance(step, Loop):
        return replace(
            step,
            body=[changed(one, change) for one in step.body],
            carries=[carry._replace(first=change(carry.first)) for carry in step.carries],
            reads={index: change(stack) for index, stack in step.reads.items()},
            stacks=dict(step.stacks),
            finals=dict(step.finals),
        )
    kw = mapped(step.kw, change) if step.kw else ()
    return step._replace(args=mapped(step.args, change), kw=kw)


def token(nest: Any) -> Any:
    """Return what stands for nested arguments in comparisons: numbers with type and sign.

    A value is represented by its number, and everything else by a tuple.
    """
    kind: Any = type_of(nest)
    if kind is Ref:
        return nest.index
    if kind is TUPLE or kind is LIST:
        return (kind, *map(token, nest))
    if kind is SLICE:
        return (kind, token(nest.start), token(nest.stop), token(nest.step))
    if kind is float:
        return (kind, nest.hex())
    if kind is complex:
        return (kind, nest.real.hex(), nest.imag.hex())
    if isinstance(nest, NUMBER):
        return (kind, nest.tobytes())
    return (kind, nest)


def same_nest(one: Any, other: Any) -> bool:
    """Tell if two nests of arguments are the same: their tokens are equal."""
    if one is other:
        return True
    kind = type_of(one)
    if kind is not type_of(other):
        return False
    if kind is Ref:
        return bool(one.index == other.index)
    if kind is TUPLE or kind is LIST:
        return len(one) == len(other) and all(map(same_nest, one, other))
    return bool(token(one) == token(other))


def same_step(one: Instr, other: Instr) -> bool:
    """Tell if two instructions are the same operation on the same values."""
    return one is other or (
        one.name == other.name
        and one.out == other.out
        and one.fn == other.fn
        and same_nest(one.args, other.args)
        and same_nest(one.kw, other.kw)
    )
