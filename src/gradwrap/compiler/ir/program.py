"""The program of a compiled function: the tracer writes it, the passes change it, engines read it.

A `Program` is a tree of `Block`s. A block is straight-line code: its `body` is performed in order,
then it either hands out its `result`, or its `guard` looks at a value and one of its `branches`
goes on. A function without branches on values has one block.

Every result of a step is a *value*, which has a number. `Ref(i)` names value `i`, and
`program.values[i]` describes it. A value is defined once (by an input, a constant, or one
instruction), and it never changes: writes are functional (`setitem`, below).

**Arguments.** `Instr.args` and `Instr.kw` are nests of tuples, lists and slices. A leaf is a `Ref`
or a literal: a Python number, a NumPy number, `None`, `...`, a string, a dtype, a type. A Python
number is *weak*, as in NumPy: `x * 2.0` keeps the dtype of a float32 `x`. A NumPy number is
not. A literal is never an `ndarray`: arrays of the closure are values too, listed in
`Program.constants`. A key of an index is one argument: `x[1, :, i]` is
`getitem(x, (1, slice(None), i))`, and `x[0]` is `getitem(x, 0)`.

**Numbers and 0-d arrays.** `Value.is_ndarray` is False for a NumPy number (`np.float64`), which
most operations on 0-d arrays return. The two are kept apart: outputs have the types of eager.

**Instructions.** `fn(*args, **kw)` on real values computes the value, and the evaluator
(`evaluate.py`) runs a program in this way. `name` says which operation it is:

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
`where`                    `np.where` of three arguments, elementwise; `choice` if it gives a number
`getitem`                  `(x, key)`: a view if the key is basic, else a copy
`setitem`                  `(x, key, v)`: a copy of `x` with `v` written at `key`. An engine may
                           write into the buffer of `x` if `x` dies here and has no other reader
`scatter_add`              `(x, key, v)`: likewise, with `v` added at `key`; an index named twice is
                           added to twice, so for an array of integers this is `add_at` of
                           `gradwrap.backends.numpy.scatter`
`copy`                     `(x,)`: a new array in the layout of `x`; `(x, order)`: in that order;
                           never merged with another
`zeros`, `full`            `(shape, dtype)` and `(shape, number, dtype)`: a new array
`array`                    `(nest, dtype)`: `np.array` of nested lists of values and literals
`item`                     `(whole, i)`: output `i` of an instruction with several outputs, whose
                           value `whole` is a tuple (`Value.is_tuple`); a name is an attribute of it
`T`, `mT`, `real`, `imag`  the attribute of `(x,)`; `fn` is an `Attribute`
`astype`, `reshape`, …     the function of NumPy of this name; `fn` is it, or a `Method` of `x`
others                     the function of NumPy of this dotted name (`linalg.solve`)
========================== ======================================================================

**Views.** `Instr.views` is True if the result may share memory with an argument that is a `Ref`
(any of them). So a buffer may be reused only when all values that may be views of it are dead.

**Loops.** After rolling a body also holds `Loop`s. A loop performs a `body` of its own, `turns`
times, in the order of computation. A body value has a number of its own and is described in
`Program.values`. Only steps of the same loop read it. A turn and the code around the loop
exchange values through three declared tables:

=========== ========================================================================================
`carries`   `Carry(value, first, next)`: in the first turn body value `value` is `first`, a `Ref` or
            a literal; in each later turn it is the value of `next` in the turn before
`reads`     `{i: Ref(r)}`: body value `i` is the part of value `r` for this turn; the turns lie
            along the first axis of `r`, so its shape is `values[r].shape[1:]`
`stacks`    `{i: r}`: value `r` stacks body value `i` of all turns along its first axis. It is an
            ndarray of shape `(turns, *shape)` in C's order
`finals`    `{i: r}`: value `r` is body value `i` of the last turn, with the same description
=========== ========================================================================================

Steps of the body may read values from outside, which are the same in all turns. A loop within a
loop is a step of its body. A loop with a `count`, an integer from outside, performs so many turns,
`turns` at the most, and perhaps none. It reads and writes the first parts of its stacks; the other
parts of those that it writes are not defined, and nothing reads them. Its finals are values of the
`next` of carries: with no turns, they are the `first`.

The `value`, `first` and `next` of a carry have one shape and dtype; a `first` that is a literal is
a number. Values handed on (`next`, and the keys of `stacks` and
`finals`) are computed by a step of the body itself, and no two carries have the same `next`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.backends.numpy.scatter import add_at
from gradwrap.compiler.ir.operations import FULL, NAMES, OPERATIONS, Kind, Operation
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
    """The description of a value; the value itself is not kept.

    `dtype` is a `np.dtype`. A tuple of several outputs has `is_tuple`, and no shape or dtype.
    `is_number` marks a Python number, weak in operations: an argument of the function
    that varies. `order` is the memory order of an array: `"C"`, `"F"`, `"S"` (the axes are
    in C's order, with gaps or reversed) or `"?"` (another, or not known).
    """

    shape: tuple[int, ...]
    dtype: Any
    is_ndarray: bool
    is_tuple: bool = False
    is_number: bool = False
    order: str = "C"


@dataclass(slots=True)
class Instr:
    """One operation, `out = fn(*args, **kw)`; see the module's docstring. It never changes."""

    fn: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kw: tuple[tuple[str, Any], ...]
    """Keywords in alphabetical order."""
    out: int
    """The number of the value that the instruction defines."""
    views: bool = False
    line: int = 0
    """The line of the user's code; 0 if unknown."""
    copied: bool = False
    """Whether the operation may return a view, but returned a copy in the trace."""
    is_kernel: bool = False
    """Whether an engine generated the function; source calls it by `name`."""
    op: Operation = field(init=False, compare=False)
    """The row of the table of operations."""
    reads: list[int] = field(init=False, compare=False)
    """The numbers of the values that the instruction reads, in reverse order."""

    def __post_init__(self) -> None:
        self.op = OPERATIONS[self.name]
        found: list[int] = []
        self.reads = found
        for part in self.args[::-1]:
            kind = type_of(part)
            if kind is Ref:
                found.append(part.index)
            elif kind not in LITERALS:
                _collect(part, found)
        if self.kw:
            _collect(self.kw, found)

    def on(
        self,
        args: tuple[Any, ...],
        out: int | None = None,
        kw: tuple[tuple[str, Any], ...] | None = None,
        fn: Callable[..., Any] | None = None,
    ) -> Instr:
        """Return the same operation on other arguments, if need be with another result.

        Or return another operation: the one that has the name of the function `fn`.
        """
        return Instr(
            self.fn if fn is None else fn,
            self.name if fn is None else fn.__name__,
            args,
            self.kw if kw is None else kw,
            self.out if out is None else out,
            self.views,
            self.line,
            self.copied,
            self.is_kernel,
        )

    @property
    def is_opaque(self) -> bool:
        """Tell if source cannot name the function."""
        return self.op.is_opaque

    @property
    def performed(self) -> Any:
        """Return what instructions that perform the same operation have in common.

        It is the name, or the function if source cannot name it: two such functions may hold
        different objects, such as sparse matrices.
        """
        return self.fn if self.op.is_opaque else self.name

    @property
    def form_may_vary(self) -> bool:
        """Tell if the shape or the dtype of the result may depend on values.

        That is so for functions that the table does not know, such as `scipy.linalg.sqrtm`.
        """
        return not (self.is_kernel or self.name in NAMES or isinstance(self.fn, UFUNC))


class Carry(NamedTuple):
    """A value that each turn of a loop hands to the next; see the module's docstring."""

    value: int
    """The body value that a turn starts from."""
    first: Any
    """Its value in the first turn."""
    next: int
    """The body value that becomes `value` in the next turn."""


@dataclass(slots=True)
class Loop:
    """A body that is performed `turns` times; see the module's docstring."""

    turns: int
    """The number of turns; the most, if `count` is given."""
    body: list[Instr | Loop] = field(default_factory=list["Instr | Loop"])
    carries: list[Carry] = field(default_factory=list[Carry])
    reads: dict[int, Any] = field(default_factory=dict[int, Any])
    stacks: dict[int, int] = field(default_factory=dict[int, int])
    finals: dict[int, int] = field(default_factory=dict[int, int])
    count: Any = None
    """The integer that says how many turns it performs, if that varies."""

    @property
    def outs(self) -> tuple[int, ...]:
        """Return the numbers of the values that the loop defines."""
        return (*self.stacks.values(), *self.finals.values())

    @property
    def found(self) -> set[int]:
        """Return the numbers of the body values that are known when a turn begins."""
        return {*self.reads, *(carry.value for carry in self.carries)}

    @property
    def handed_on(self) -> set[int]:
        """Return the numbers of the body values that are needed when a turn ends."""
        return {*self.stacks, *self.finals, *(carry.next for carry in self.carries)}

    @property
    def line(self) -> int:
        """Return the first known line of the user's code among its steps, or 0."""
        return next((step.line for step in self.body if step.line), 0)


class Guard(NamedTuple):
    """A test of a value on which the function branches.

    `kind` is `"bool"`, `"int"`, `"shape"` (of a selection by a mask) or `"elements"`, and the
    outcome is `bool(v)`, `int(v)`, `v.shape` or a tuple of the elements. The keys of the block's
    `branches` are the outcomes seen so far; any other is a miss, and the compiled function traces
    it.
    """

    kind: str
    value: Ref


class Missed(Exception):  # noqa: N818  it ends a run, but is no error
    """A guard had an outcome that has not been traced."""


class Result(NamedTuple):
    """The function's return value: its leaves (`Ref`s or literals) and their structure."""

    leaves: tuple[Any, ...]
    tree: TreeDef
    asks: bool = False
    """Whether the last leaf is no part of it: if it is not zero, `Missed` is raised."""


@dataclass(slots=True)
class Block:
    """Straight-line code, followed by a result or by a guard with branches."""

    body: list[Instr | Loop] = field(default_factory=list["Instr | Loop"])
    guard: Guard | None = None
    branches: dict[Any, Block] = field(default_factory=dict[Any, "Block"])
    result: Result | None = None


class Constant(NamedTuple):
    """An array that the function reads from its surroundings.

    `by_reference` says that `array` is the user's own object, read anew at each call. Otherwise
    it is a private copy that never changes. `name` is the user's name for it, or "".
    """

    array: Any
    by_reference: bool
    name: str


@dataclass(slots=True)
class Program:
    """A traced function for arguments of one signature.

    `inputs` are the numbers of the values that the caller passes, in the order of the
    arguments' leaves; `names` are their names in the source. `constants` are the values
    that exist before the first instruction, by number.
    """

    values: list[Value]
    inputs: tuple[int, ...]
    names: tuple[str, ...]
    constants: dict[int, Constant]
    root: Block
    notes: list[str] = field(default_factory=list[str])
    """Notes for `.explain()`: the loops found, and why other stretches stayed unrolled."""
    quiet: tuple[str, ...] = ()
    """The kinds of floating point errors that the function tells NumPy to ignore somewhere."""
    shares: Sequence[Sequence[frozenset[int]]] = ()
    """For each result, by leaf: the inputs, constants and earlier leaves (the first is -1) with
    which the function's own result shares memory."""
    exact: bool = True
    """False once a pass has changed how a value is rounded."""
    threads: int = 1
    """The most threads that an engine may use for it."""

    def new(self, value: Value) -> Ref:
        """Number a new value."""
        self.values.append(value)
        return Ref(len(self.values) - 1)

    def part_of(self, loop: Loop, stack: Ref) -> Ref:
        """Return the body value of a loop that reads this turn's part of a stack."""
        for index, known in loop.reads.items():
            if known == stack:
                return Ref(index)
        value = self.values[stack.index]
        shape = value.shape[1:]
        order = "?" if shape and value.order != "C" else "C"
        part = self.new(Value(shape, value.dtype, bool(shape), order=order))
        loop.reads[part.index] = stack
        return part

    def copy(self) -> Program:
        """Return a copy of the program with blocks of its own."""
        return replace(
            self,
            values=[*self.values],
            root=_copied(self.root),
            constants=dict(self.constants),
            notes=[*self.notes],
        )

    def operations(self) -> set[Operation]:
        """Return the rows of all its operations."""
        return {step.op for body in self.bodies() for step in body if isinstance(step, Instr)}

    def length(self) -> int:
        """Count the operations; the body of a loop counts once."""
        return sum(isinstance(step, Instr) for body in self.bodies() for step in body)

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks, each before its branches."""
        waiting = [self.root]
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.branches.values()))

    def bodies(self) -> Iterator[list[Instr | Loop]]:
        """Yield all straight-line code: the bodies of blocks, each before those of its loops."""
        for block in self.blocks():
            yield from bodies_of(block.body)


def counts_turns(program: Program) -> bool:
    """Tell if the turns of some loop vary in number."""
    return any(
        isinstance(step, Loop) and step.count is not None
        for body in program.bodies()
        for step in body
    )


def bodies_of(body: list[Instr | Loop]) -> Iterator[list[Instr | Loop]]:
    """Yield a body, then the bodies of the loops in it."""
    yield body
    for step in body:
        if isinstance(step, Loop):
            yield from bodies_of(step.body)


def _copied(root: Block) -> Block:
    found = replace(root)
    waiting = [found]
    while waiting:
        block = waiting.pop()
        block.body = [*map(_with_own_body, block.body)]
        block.branches = {key: replace(branch) for key, branch in block.branches.items()}
        waiting.extend(block.branches.values())
    return found


def _with_own_body(step: Instr | Loop) -> Instr | Loop:
    """Return a loop with tables and a body of its own; an instruction never changes."""
    if isinstance(step, Instr):
        return step
    return replace(
        step,
        body=[*map(_with_own_body, step.body)],
        carries=[*step.carries],
        reads=dict(step.reads),
        stacks=dict(step.stacks),
        finals=dict(step.finals),
    )


# Operations ---------------------------------------------------------------------------------------


class Named:
    """A function that reads an attribute or calls a method; equal to others of the same name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash((type(self), self.name))


class Attribute(Named):
    """A function that reads an attribute of an array."""

    __slots__ = ()

    def __call__(self, x: Any, /) -> Any:
        """Return the attribute of `x`."""
        return getattr(x, self.name)


class Method(Named):
    """A function that calls a method of an array."""

    __slots__ = ()

    def __call__(self, x: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call the method of `x`."""
        return getattr(x, self.name)(*args, **kwargs)


def getitem(x: Any, key: Any, /) -> Any:
    """Return `x[key]`."""
    return x[key]


def setitem(x: Any, key: Any, value: Any, /) -> Any:
    """Return a copy of `x` with `value` written at `key`."""
    new = np.array(x, order="K")
    new[key] = value
    return new


def scatter_add(x: Any, key: Any, value: Any, /) -> Any:
    """Return a copy of `x` with `value` added at `key`; repeated indices add repeatedly."""
    new = np.array(x, order="K")
    if adds_once(key):
        new[key] += value
    else:
        add_at(new, key, value)
    return new


def adds_once(key: Any) -> bool:
    """Tell if a key names no element twice: it contains no list or array of integers."""
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
    """Return a copy of an array; return a number unchanged."""
    return np.array(x, order=order) if isinstance(x, NDARRAY) else x


def item(whole: Any, index: int | str, /) -> Any:
    """Return one output of an operation with several, or an attribute that comes with them."""
    found = getattr(whole, index) if isinstance(index, str) else whole[index]
    return np.asarray(found)[()] if isinstance(index, str) or type(found) is bool else found


def choice(condition: Any, one: Any, other: Any, /) -> Any:
    """Return one of two numbers as a number, not as a 0-d array."""
    where: Callable[..., Any] = np.where
    return where(condition, one, other)[()]


def zeros(shape: tuple[int, ...], dtype: Any, /) -> Any:
    """Return a new array of zeros."""
    return np.zeros(shape, dtype)


def full(shape: tuple[int, ...], number: Any, dtype: Any, /) -> Any:
    """Return a new array filled with one number."""
    return np.full(shape, number, dtype)


def array(nest: Any, dtype: Any, /) -> Any:
    """Return a new array made from nested lists."""
    return np.array(nest, dtype)


def is_elementwise(instr: Instr) -> bool:
    """Tell if each element of one output depends only on the same element of the operands."""
    fn: Any = instr.fn
    if isinstance(fn, UFUNC):
        return fn.signature is None and fn.nout == 1
    op = instr.op
    return op.is_power or (op.is_choice and len(instr.args) == 3)


def filled_with(instr: Instr | None) -> Any:
    """Return the number that fills a new array, or None for other instructions."""
    op = None if instr is None else instr.op
    if instr is None or op is None or op.kind is not Kind.FILL:
        return None
    return instr.args[1] if op is FULL else 0


NESTS: frozenset[type[Any]] = frozenset({tuple, list, slice})
LITERALS: frozenset[type[Any]] = frozenset({int, float, str, type(None), np.float64})


def refs(nest: Any) -> list[int]:
    """Return the numbers of the values that a nest of arguments names, in reverse order."""
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
    """Return the numbers of the values that an instruction reads, or a loop reads from outside."""
    if isinstance(step, Instr):
        return step.reads
    found = refs([*step.reads.values(), *(carry.first for carry in step.carries), step.count])
    inside = step.found
    for one in step.body:
        found += [index for index in used(one) if index not in inside]
        inside.update(given(one))
    return found


def given(step: Instr | Loop) -> tuple[int, ...]:
    """Return the numbers of the values that an instruction or a loop defines."""
    return step.outs if isinstance(step, Loop) else (step.out,)


def is_literal(nest: Any) -> bool:
    """Tell if a key or another nest of tuples and slices names no value."""
    kind = type_of(nest)
    if kind is TUPLE:
        return all(type_of(part) in LITERALS or is_literal(part) for part in nest)
    if kind is SLICE:
        bounds: Sequence[Any] = (nest.start, nest.stop, nest.step)
        return all(type_of(bound) in LITERALS for bound in bounds)
    return kind in LITERALS


def mapped(nest: Any, change: Callable[[Any], Any]) -> Any:
    """Return a nest with `change` applied to every leaf."""
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
    """Return a step with `change` applied to every leaf it reads, also in the bodies of loops."""
    if isinstance(step, Loop):
        return replace(
            step,
            body=[changed(one, change) for one in step.body],
            carries=[carry._replace(first=change(carry.first)) for carry in step.carries],
            reads={index: change(stack) for index, stack in step.reads.items()},
            stacks=dict(step.stacks),
            finals=dict(step.finals),
            count=change(step.count),
        )
    return step.on(mapped(step.args, change), kw=mapped(step.kw, change) if step.kw else ())


def token(nest: Any) -> Any:
    """Return a hashable key that tells nested arguments apart: numbers by type and sign too.

    The key of a value is its number; the key of a literal is a tuple.
    """
    kind: Any = type_of(nest)
    if kind is Ref:
        return nest.index
    if kind is TUPLE or kind is LIST:
        return (kind, *[part.index if type_of(part) is Ref else token(part) for part in nest])
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
    if kind is int:
        return bool(one == other)
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
