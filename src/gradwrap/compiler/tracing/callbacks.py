"""Functions that solvers of other packages call, such as the one that SciPy minimizes.

A program runs the solver again. What the function does is a program of its own: its inputs are
the arguments that the solver gives, and the values around the function that are traced. It has one
path for each way through the function that the solver took in the trace. Where it takes another,
or gives a result of another layout, the compiled function runs eagerly.
"""

from __future__ import annotations

import copy
from copy import deepcopy
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.operations import OPAQUE
from gradwrap.compiler.ir.program import NDARRAY, Guard, Missed, Ref, mapped, same_nest, used
from gradwrap.compiler.tracing.tape import NUMBER, Recorded, same_content
from gradwrap.core.array.variable import variable_class
from gradwrap.core.levels.wrapper import AnyWrapper, make_wrapper
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, rebuilt, type_of
from gradwrap.core.values.tree import TreeDef, flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.compiler.ir.program import Instr, Value
    from gradwrap.compiler.tracing.tape import Tape

    Step = tuple[Any, ...]

ROOM = 1 << 12
"""The least number of values that a trace leaves to the functions that a solver calls."""
MOST_RUNS = 2_000
"""So many runs of callbacks are recorded in a trace, some 2 s; with more, code runs eagerly."""
RECORDED = 4
"""So many runs of a callback are recorded; then its paths run as programs where they are known."""
FUNCTIONS = (FunctionType, MethodType)
NUMERIC = (int, float, complex, bool, NUMBER)


class Otherwise(Exception):  # noqa: N818  it is caught: the function runs then
    """A solver does what it did not in the trace."""


class Path(NamedTuple):
    """One way through a callback. The values are numbered from 0: arguments, others, results."""

    arguments: Any
    """The layouts of the arguments."""
    around: tuple[Any, ...]
    """The values around the callback that it reads, as the outer program names them; in a `Solver`
    their places among its operands."""
    values: list[Value]
    instrs: list[Instr]
    guards: list[tuple[int, Guard, Any]]
    leaves: tuple[Any, ...]
    tree: TreeDef

    def is_like(self, other: Path) -> bool:
        """Tell if two runs did the same."""
        return (
            self.arguments == other.arguments
            and self.around == other.around
            and self.guards == other.guards
            and self.tree == other.tree
            and same_nest(self.leaves, other.leaves)
            and len(self.instrs) == len(other.instrs)
            and all(
                one.name == two.name
                and one.fn == two.fn
                and same_nest((one.args, one.kw), (two.args, two.kw))
                for one, two in zip(self.instrs, other.instrs, strict=True)
            )
        )

    def contradicts(self, other: Path) -> bool:
        """Tell if two runs with the same arguments and outcomes of tests did not do the same.

        Results of solvers may differ in their layouts.
        """
        alike = (self.arguments, self.guards) == (other.arguments, other.guards)
        return alike and not self.is_like(other) and self._layouts() == other._layouts()

    def _layouts(self) -> list[Any]:
        return [step.fn.layout for step in self.instrs if isinstance(step.fn, Solver)]


class Callback:
    """A function that another package calls, whose runs are recorded."""

    def __init__(self, function: Callable[..., Any], tape: Tape) -> None:
        self._function = function
        self._tape = tape
        self.paths: list[Path] = []
        self._constants: dict[int, Any] = {}
        """The arrays that the function makes or reads, each content once."""
        self._runs = self._compiled = 0
        self._known: list[tuple[Path, Callable[..., Any], list[Any]]] = []
        """The paths whose values around are known, as functions, with these values."""
        self._last: Any = None
        """The arguments of the last run, if that was not recorded."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns; its first runs are recorded, and those on new paths."""
        if self._runs >= RECORDED:
            self._compile()
            try:
                found = running(self._known)(*args, **kwargs)
            except Otherwise:
                pass
            else:
                self._last = deepcopy((args, kwargs))  # SciPy may write to its array again
                return found
        return self._recorded(args, kwargs)

    def _compile(self) -> None:
        """Compile the paths that are new, if what is around them is known."""
        tape = self._tape
        while self._compiled < len(self.paths) and tape.make_function is not None:
            path = self.paths[self._compiled]
            around = [tape.value_of(ref.index) for ref in path.around]
            if all(value is not None for value in around):
                self._known.append((path, tape.make_function(path), around))
            self._compiled += 1

    def settle(self) -> None:
        """Record the last run, as code outside may read what the function kept of it."""
        if self._last is not None:
            self._recorded(*self._last)

    def _recorded(self, args: Any, kwargs: Any) -> Any:
        """Run the function on new values, and take what it recorded out of the tape."""
        tape, self._last = self._tape, None
        self._runs += 1
        tape.callback_runs += 1
        if tape.callback_runs > MOST_RUNS:
            raise tape.refuse(f"solvers call functions more than {MOST_RUNS:,} times")
        given, treedef = flatten((args, kwargs))
        start, begin, guards = len(tape.instrs), len(tape.values), len(tape.guards)
        keeps, tape.keeps = tape.keeps, True
        tape.depth += 1
        inputs: list[int] = []
        entered = [self._entered(leaf, inputs) for leaf in given]
        arguments, named = unflatten(treedef, entered)
        try:
            handed, tree = flatten(self._function(*arguments, **named))
            found = [_native(leaf) for leaf in handed]
            leaves = tuple(map(tape.recorded, found))
            steps, tests = tape.instrs[start:], tape.guards[guards:]
        finally:
            tape.keeps = keeps
            tape.depth -= 1
            tape.cut(start, begin, guards)
        tests = [(at - start, guard, outcome) for at, guard, outcome in tests]
        key = treedef, *map(layout, given)
        path = self._renumbered(key, inputs, steps, tests, leaves, tree)
        if any(map(path.contradicts, self.paths)):
            raise tape.refuse(
                "a function that a solver calls does something else in each call: it depends on "
                "random numbers, on the time, or on what it changes itself"
            )
        if not any(map(path.is_like, self.paths)):
            self.paths.append(path)
        return unflatten(tree, [tape.real(leaf) for leaf in found])

    def _entered(self, leaf: Any, inputs: list[int]) -> Any:
        """Return an argument as an untracked variable, which is an input of the program."""
        if layout(leaf) == type_of(leaf):
            return leaf
        # SciPy may write to its array again
        tracer = self._tape.given(np.array(leaf)[()] if np.ndim(leaf) == 0 else np.array(leaf))
        inputs.append(tracer.index)
        return make_wrapper(variable_class(self._tape.library.backend), tracer)

    def _first_alike(self, index: int) -> int:
        """Return the first constant with the content of one; other values unchanged."""
        array = self._tape.constants.get(index)
        if array is None or index in self._constants:
            return index
        alike = (n for n, one in self._constants.items() if same_content(one, array))
        found = next(alike, index)
        self._constants[found] = array
        return found

    def _renumbered(
        self,
        arguments: Any,
        inputs: list[int],
        steps: list[Instr],
        tests: list[tuple[int, Guard, Any]],
        leaves: tuple[Any, ...],
        tree: TreeDef,
    ) -> Path:
        tape = self._tape
        own = {*inputs, *(step.out for step in steps)}
        read = [index for step in steps for index in used(step)]
        read += [guard.value.index for _, guard, _ in tests]
        read += [leaf.index for leaf in leaves if type(leaf) is Ref]
        numbers = {index: self._first_alike(index) for index in read if index not in own}
        around = [*dict.fromkeys(numbers.values())]
        if any(map(tape.is_cut, around)):
            raise tape.refuse("a function that a solver calls uses what it kept of an earlier call")
        order = [*inputs, *around, *(step.out for step in steps)]
        numbered = {index: Ref(number) for number, index in enumerate(order)}

        def renamed(leaf: Any) -> Any:
            return numbered[numbers.get(leaf.index, leaf.index)] if type(leaf) is Ref else leaf

        return Path(
            arguments,
            tuple(tape.refs[index] for index in around),
            [tape.values[index] for index in order],
            [
                step.on(
                    mapped(step.args, renamed), numbered[step.out].index, mapped(step.kw, renamed)
                )
                for step in steps
            ],
            [(at, Guard(test.kind, renamed(test.value)), outcome) for at, test, outcome in tests],
            tuple(map(renamed, leaves)),
            tree,
        )


class Solver:
    """A function of another package that calls functions, as an operation of a program.

    Its operands are the arrays among its arguments, and then the values around the callbacks.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        treedef: TreeDef,
        leaves: Sequence[Any],
        callbacks: dict[int, Callback],
        around: dict[Ref, int],
        result: Any,
        make: Callable[[Path], Callable[..., Any]],
    ) -> None:
        self.function = function
        self._make = make
        """Returns a path as a function."""
        self.treedef = treedef
        self.leaves: list[Any] = [None if n in callbacks else leaf for n, leaf in enumerate(leaves)]
        """The arguments that are no operands."""
        self.paths: dict[int, list[Path]] = {
            n: [
                path._replace(around=tuple(around[ref] for ref in path.around))
                for path in one.paths
            ]
            for n, one in callbacks.items()
        }
        self.count: int = len(around)
        self.layout: list[Any] = [layout(leaf) for leaf in parts_of(result)]
        self._calls: dict[int, list[Callable[..., Any]]] = {}

    def __eq__(self, other: object) -> bool:
        """Tell if two are the same operation; if so, each takes the paths of both from now on."""
        if self is other:
            return True
        if not isinstance(other, Solver) or not (
            (self.function, self.treedef) == (other.function, other.treedef)
            and same_nest(self.leaves, other.leaves)
            and self.paths.keys() == other.paths.keys()
            and (self.layout, self.count) == (other.layout, other.count)
        ):
            return False
        both = [(mine, other.paths[n]) for n, mine in self.paths.items()]
        for mine, theirs in both:
            for one in mine:
                if any(one.contradicts(two) for two in theirs):
                    return False
        for mine, theirs in both:
            if len(mine) != len(theirs) or not all(map(Path.is_like, mine, theirs)):
                mine += [two for two in theirs if not any(map(two.is_like, mine))]
                theirs[:] = mine
                self._calls, other._calls = {}, {}
        return True

    def __hash__(self) -> int:
        return hash((Solver, self.function))

    def __call__(self, *operands: Any) -> Any:
        rest = iter(operands)
        given = [next(rest) if leaf is OPERAND else leaf for leaf in self.leaves]
        around = [*rest]
        for n in self.paths:
            given[n] = self._running(n, around)
        args, kwargs = unflatten(self.treedef, given)
        found = [*parts_of(self.function(*args, **kwargs))]
        if [*map(layout, found)] != self.layout:
            raise Otherwise
        return numbers_of(found)

    def _running(self, n: int, around: list[Any]) -> Callable[..., Any]:
        """Return a callback as a function of what the solver gives."""
        paths = self.paths[n]
        if n not in self._calls:
            self._calls[n] = [*map(self._make, paths)]
        return running(
            [
                (path, call, [around[place] for place in path.around])
                for path, call in zip(paths, self._calls[n], strict=True)
            ]
        )


def running(known: list[tuple[Path, Callable[..., Any], list[Any]]]) -> Callable[..., Any]:
    """Return a callback that runs the programs of its paths, each with the values around it."""

    def run(*args: Any, **kwargs: Any) -> Any:
        given, treedef = flatten((args, kwargs))
        key = treedef, *map(layout, given)
        inputs = [_taken(leaf) for leaf in given if layout(leaf) != type_of(leaf)]
        for place, (path, call, around) in enumerate(known):
            if path.arguments == key:
                try:
                    found = call(*inputs, *around)
                except (Missed, Otherwise):
                    continue
                if place:  # the next call may take the same path
                    known.insert(0, known.pop(place))
                return unflatten(path.tree, found)
        raise Otherwise

    return run


OPERAND: Any = object()
"""Stands for an argument that is an operand."""


def call_with_callbacks(
    tape: Tape, function: Callable[..., Any], name: str, args: Any, kwargs: Any
) -> Any:
    """Record a call of a function of another package that calls functions; return its result."""
    leaves, treedef = flatten((args, kwargs))
    callbacks = {n: Callback(x, tape) for n, x in enumerate(leaves) if isinstance(x, FUNCTIONS)}
    if not any(isinstance(leaf, Recorded) for leaf in leaves):
        try:
            return _untraced(tape, function, leaves, treedef, callbacks)
        except _IsTraced:
            pass
    make = tape.make_function
    if make is None:
        raise tape.refuse("an operation is given a function")
    recorded = [x if n in callbacks else tape.recorded(x) for n, x in enumerate(leaves)]
    given = [callbacks.get(n, tape.real(leaf)) for n, leaf in enumerate(leaves)]
    real_args, real_kwargs = unflatten(treedef, given)
    begin = len(tape.values)
    result = function(*real_args, **real_kwargs)
    for callback in callbacks.values():
        callback.settle()
    if not tape.depth:  # within a callback, values are numbered anew
        tape.skip_to(begin + _rounded(len(tape.values) - begin))
    read = dict.fromkeys(r for one in callbacks.values() for p in one.paths for r in p.around)
    around = {ref: place for place, ref in enumerate(read)}
    fixed = [OPERAND if type(leaf) is Ref else leaf for leaf in recorded]
    solver = Solver(function, treedef, fixed, callbacks, around, result, make)
    operands = (*(leaf for leaf in recorded if type(leaf) is Ref), *around)
    numbers = numbers_of([*parts_of(result)])
    label = f"{OPAQUE}{name.rpartition('.')[2]}"
    made = tape.repeated(solver, label, operands, ()) if tape.repeats else None
    if made is None:
        made = tape.enter(solver, label, operands, (), numbers)
    found = iter(made if isinstance(made, TUPLE) else (made,))
    return _rebuilt(result, found)


class _IsTraced(Exception):  # noqa: N818  it is caught
    """What a callback returns depends on traced values."""


def _untraced(
    tape: Tape, function: Callable[..., Any], leaves: Sequence[Any], treedef: TreeDef, places: Any
) -> Any:
    """Call a function whose callbacks return plain values for plain ones."""

    def checked(callback: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            start, begin, guards = len(tape.instrs), len(tape.values), len(tape.guards)
            found = callback(*args, **kwargs)
            if any(isinstance(_native(leaf), Recorded) for leaf in flatten(found)[0]):
                tape.cut(start, begin, guards)
                raise _IsTraced
            return found

        return run

    given = [checked(leaf) if n in places else leaf for n, leaf in enumerate(leaves)]
    args, kwargs = unflatten(treedef, given)
    return function(*args, **kwargs)


def _rounded(count: int) -> int:
    """Return a number of values that is the same if a solver calls somewhat more or less often."""
    room = ROOM
    while room < count:
        room *= 8
    return room


def has_callback(args: Any, kwargs: dict[str, Any]) -> bool:
    """Tell if functions of Python are among arguments."""
    return any(isinstance(leaf, FUNCTIONS) for leaf in flatten((args, kwargs))[0])


def _native(leaf: Any) -> Any:
    while isinstance(leaf, AnyWrapper):
        leaf = leaf._value
    return leaf


def _taken(leaf: Any) -> Any:
    """Return an argument as the program of a callback takes it."""
    return np.ascontiguousarray(leaf) if np.ndim(leaf) else np.asarray(leaf)[()]


def layout(leaf: Any) -> Any:
    """Return what must be the same in each call: the layout of an array or number, or a type."""
    if isinstance(leaf, (NDARRAY, NUMBER)) and leaf.dtype.kind in "fciub":
        return leaf.shape, leaf.dtype
    return ((), np.asarray(leaf).dtype) if isinstance(leaf, NUMERIC) else type_of(leaf)


def parts_of(result: Any) -> Iterator[Any]:
    """Yield the parts of a result of another package."""
    if isinstance(result, (DICT, SEQUENCE)):
        for part in result.values() if isinstance(result, DICT) else result:
            yield from parts_of(part)
    else:
        yield result


def numbers_of(parts: list[Any]) -> Any:
    """Return the arrays and numbers of a result, those of Python as NumPy's; a lone one itself."""
    kept = [part for part in parts if layout(part) != type_of(part)]
    found = tuple(part if isinstance(part, NDARRAY) else np.asarray(part)[()] for part in kept)
    return found[0] if len(found) == 1 else found


def _rebuilt(result: Any, found: Iterator[Any]) -> Any:
    """Return a result with traced values in place of its arrays and numbers."""
    if isinstance(result, DICT):
        made = copy.copy(result)
        made.update({key: _rebuilt(part, found) for key, part in result.items()})
        return made
    if isinstance(result, SEQUENCE):
        return rebuilt(result, [_rebuilt(part, found) for part in result])
    return result if layout(result) == type_of(result) else next(found)
