"""`compile`: the programs of one function, which of them a call takes, and when it runs eagerly.

A call is looked up by its signature: the structure of the arguments, the shapes, dtypes and memory
orders of arrays, and all else by value. At the first call of a signature the function is traced
twice and run once; the program's results are compared with those of the run.
"""

from __future__ import annotations

import functools
import gc
import inspect
import pathlib
import sys
import threading
import warnings
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from gradwrap.compiler.calls.signatures import (
    Signature,
    kinds,
    leaf_key,
    orders,
    repeated,
    signature_of,
)
from gradwrap.compiler.engines.libraries import NUMPY, Compilable, is_array, library_of, on_host
from gradwrap.compiler.engines.numpy.engine import Source
from gradwrap.compiler.engines.register import MOST_LEFT, Executable, Unsupported, engine_named
from gradwrap.compiler.ir.program import NDARRAY, Constant, Missed, Program
from gradwrap.compiler.ir.verify import ProgramError, is_checking
from gradwrap.compiler.passes.passes import constants_of, difference, precisions_of, program_of
from gradwrap.compiler.passes.pipeline import prepared
from gradwrap.compiler.tracing.surroundings import Surroundings
from gradwrap.compiler.tracing.tape import Unhandled, shares
from gradwrap.compiler.tracing.trace import Traced, trace
from gradwrap.compiler.tracing.tracer import Tracer
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.layouts import flatten_exactly
from gradwrap.core.values.tree import TreeDef, flatten, flatten_with_paths, unflatten
from gradwrap.errors import CompileError, CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

P = ParamSpec("P")
R = TypeVar("R")
MOST_BRANCHES = 16
MOST_PROGRAMS = 64
NUMBER: type[Any] = np.generic


class _Call(NamedTuple):
    """The arguments of a call, also as the leaves of one container."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: Sequence[Any]
    treedef: TreeDef
    library: Compilable
    """The library of its arrays."""


def _call_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
    leaves, treedef = flatten_exactly((args, kwargs))
    return _Call(args, kwargs, leaves, treedef, library_of(leaves))


class _Entry:
    """What is known for one signature."""

    library: Compilable = NUMPY

    def __init__(self, key: Signature, names: tuple[str, ...]) -> None:
        self.key = key
        self.names = names
        self.reason = ""
        """Why calls run eagerly; "" if they do not."""
        self.traces: list[Traced] = []
        self.constants: list[dict[int, Constant]] = []
        self.precisions: list[float] = []
        """By output the precision of the coarsest number that it is computed of."""
        self.program: Program | None = None
        self.executable: Executable | None = None
        self.tree: TreeDef | None = None
        self.notes: list[str] = []
        self.surroundings: Surroundings | None = None
        self.rebound = 0
        """How often they have changed."""
        self.own_changes = 0
        """How often the function has changed them itself, call after call."""
        self.is_new = True
        """Whether no call has returned yet."""

    def restart(self) -> None:
        """Forget what was traced."""
        self.program = self.executable = self.tree = None
        self.traces, self.constants, self.precisions = [], [], []

    def changed(self) -> str:
        """The name of something that has changed around the function; "" if nothing has."""
        return "" if self.surroundings is None else self.surroundings.changed()


class Compiled(Generic[P, R]):
    """A function that runs as compiled programs, one for each signature of its arguments."""

    def __init__(self, function: Callable[P, R], engine: str, static: Iterable[int | str]) -> None:
        functools.update_wrapper(self, function)
        self._function: Callable[..., Any] = function
        self._engine = engine
        self._make = engine_named(engine)
        self._static = frozenset(static)
        self._entries: dict[Signature, _Entry] = {}
        self._latest: _Entry | None = None
        self._told: set[str] = set()
        """What was said about the engine."""
        self._lock = threading.RLock()
        self._quick: Callable[..., Any] | None = None
        self._tells_same = False
        """Whether the function asks if two values are one and the same."""
        self._tracing = threading.local()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the program for these arguments; trace the function first, where there is none."""
        quick = self._quick
        if quick is not None:
            try:
                return quick(*args, **kwargs)  # type: ignore[no-any-return]  # as the function does
            except Exception:  # noqa: BLE001, S110  the slow way finds out what it is
                pass
        return self._slowly(args, kwargs)  # type: ignore[no-any-return]  # as the function does

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as a function of its class does."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        """Copy and pickle the function, by name where it has been decorated; not its programs."""
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        name: str = getattr(self, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (Compiled, (self._function, self._engine, self._static))

    def __repr__(self) -> str:
        return f"<compiled {getattr(self._function, '__name__', self._function)!s}>"

    # Inspection -----------------------------------------------------------------------------------

    @property
    def programs(self) -> list[Program]:
        """The programs so far, the newest last."""
        return [entry.program for entry in self._entries.values() if entry.program is not None]

    @property
    def source(self) -> str:
        """The text of the program that was made or extended last.

        Raises
        ------
        CompileError
            There is none: no call was made, or all of them ran eagerly.
        """
        return self._newest()[1].source

    def save(self, path: str | pathlib.Path) -> None:
        """Write the newest program as a module that needs NumPy alone, its arrays beside it.

        That of a call with CuPy's arrays needs CuPy too. Its function is `compiled(*leaves)`: it
        takes the arrays among the arguments, and returns the arrays of the result as a tuple. A
        branch that was not traced raises `Missed`.

        Raises
        ------
        CompileError
            There is no program: no call was made, or all of them ran eagerly.
        """
        entry, executable = self._newest()
        assert entry.program is not None
        path = pathlib.Path(path)
        source = Source(entry.program) if executable.module is None else executable.module
        path.write_text(source.text(f"{path.stem}.npz"), encoding="utf-8")
        arrays = {name: on_host(array) for name, array in source.arrays.items()}
        if arrays:
            np.savez(path.with_suffix(".npz"), **arrays)

    def check(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Run the function and its program, and compare: units in the last place, by output.

        Raises
        ------
        CompileError
            They differ by more than rounding, or in types, shapes or dtypes; or the call runs
            eagerly.
        """
        self(*args, **kwargs)
        call = _call_of(args, kwargs)
        entry = self._entries.get(self._key(call))
        if entry is None:
            raise CompileError(
                "this call runs eagerly: it was given tracked arrays, or the function has been "
                f"compiled for {MOST_PROGRAMS} other signatures. Fix: check plain arrays, with a "
                "function compiled anew."
            )
        if entry.executable is None:
            raise CompileError(f"this call runs eagerly: {entry.reason}")
        try:
            found = entry.executable.call(*filter(self._inputs(call), call.leaves))
        except Exception as error:
            raise CompileError(
                f"the program raises {type(error).__name__}: {error}. This call runs eagerly then."
            ) from error
        wanted = self._compare(entry, call, found)
        lines = [
            f"output {number}: {_ulps(a, b):.3g} ulp of the largest element"
            for number, (a, b) in enumerate(
                zip(map(on_host, wanted), map(on_host, found), strict=True)
            )
            if isinstance(a, (NDARRAY, NUMBER))
        ]
        return "\n".join(lines)

    def explain(self) -> str:
        """Say what was compiled, and what runs eagerly and why."""
        if not self._entries:
            return "not called yet"
        return "\n\n".join(map(self._explained, self._entries.values()))

    def _explained(self, entry: _Entry) -> str:
        described = ", ".join(f"{path}: {what}" for path, what in entry.key.shown(entry.names))
        lines = [f"arguments: {described or 'none'}"]
        if entry.program is None or entry.executable is None:
            return "\n".join([*lines, f"runs eagerly: {entry.reason}"])
        own = entry.library.name
        lines.append(f"engine: {self._engine if own == 'numpy' else own}")
        blocks = list(entry.program.blocks())
        lines.append(f"instructions: {sum(len(block.body) for block in blocks)}")
        guards = [block for block in blocks if block.guard is not None]
        for block in guards:
            assert block.guard is not None
            outcomes = ", ".join(map(repr, block.branches))
            lines.append(f"guard: {block.guard.kind} of {block.guard.value!r}, seen: {outcomes}")
        for constant in entry.program.constants.values():
            how = "read at each call" if constant.by_reference else "frozen"
            name = constant.name or "made in the run"
            lines.append(f"constant: {name}, {constant.array.dtype}{constant.array.shape}, {how}")
        return "\n".join([*lines, *entry.program.notes, *entry.notes, *entry.executable.notes])

    def _newest(self) -> tuple[_Entry, Executable]:
        entry = self._latest
        if entry is None or entry.executable is None:
            reasons = [e.reason for e in self._entries.values() if e.reason]
            raise CompileError(
                f"there is no program of {self!r}: "
                + (f"calls run eagerly ({reasons[-1]})" if reasons else "it was not called yet")
                + ". Fix: call it with example arguments; explain() says why a call runs eagerly."
            )
        return entry, entry.executable

    # Calls ----------------------------------------------------------------------------------------

    def _slowly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = _call_of(args, kwargs)
        if any(isinstance(leaf, (AnyWrapper, Tracer)) for leaf in call.leaves):
            return self._function(*args, **kwargs)  # it becomes a part of what is outside
        if getattr(self._tracing, "active", False):
            return self._function(*args, **kwargs)
        key = self._key(call)
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.is_new or entry.changed():
                return self._first(key, call)
            if entry.executable is None:
                return self._function(*args, **kwargs)
            self._use(entry)
        inputs = list(filter(self._inputs(call), call.leaves))
        try:
            found = entry.executable.call(*inputs)
        except Missed:
            with self._lock:
                return self._missed(entry, call)
        except Exception:  # noqa: BLE001  the function raises it too, or knows what to do then
            return self._function(*args, **kwargs)
        assert entry.tree is not None
        if is_checking():
            self._compare(entry, call, found)
        return unflatten(entry.tree, found)

    def _compare(self, entry: _Entry, call: _Call, found: Sequence[Any]) -> list[Any]:
        """Compare the results of a program with those of the function, which are returned.

        Raises
        ------
        CompileError
            They differ by more than rounding.
        """
        wanted, tree = flatten(self._function(*call.args, **call.kwargs))
        problem = _differing(entry, wanted, tree, found)
        if problem:
            raise CompileError(f"the program of {self!r} differs from the function: {problem}")
        return wanted

    def _inputs(self, call: _Call) -> Callable[[Any], bool]:
        """What tells an input from the other leaves."""
        is_input = call.library.is_input
        if not self._static:
            return is_input
        fixed = {id(leaf) for leaf in flatten(self._static_parts(call.args, call.kwargs))[0]}
        return lambda leaf: is_input(leaf) and id(leaf) not in fixed

    def _input_names(self, call: _Call) -> tuple[str, ...]:
        """A name for each input in the source."""
        names = _parameter_names(self._function)
        named = {names[i] if i < len(names) else f"a{i}": v for i, v in enumerate(call.args)}
        named |= call.kwargs
        is_given = self._inputs(call)
        found: list[str] = []
        for name, value in named.items():
            for path, leaf in flatten_with_paths(value, name)[0]:
                if is_given(leaf):
                    parts = "".join(c if c.isalnum() or c == "_" else " " for c in path).split()
                    found.append("_".join(parts))
        return tuple(found)

    def _static_parts(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        names = _parameter_names(self._function)
        found = [value for name, value in kwargs.items() if name in self._static]
        for number, value in enumerate(args):
            name = names[number] if number < len(names) else ""
            if number in self._static or number - len(args) in self._static or name in self._static:
                found.append(value)
        return found

    def _key(self, call: _Call) -> Signature:
        place = call.library.place
        key = signature_of(
            call.args, call.kwargs, call.leaves, call.treedef, self._inputs(call), place
        )
        return key if self._tells_same else key._replace(same=())

    def _first(self, key: Signature, call: _Call) -> Any:
        """Compile for a new signature; the result is that of the function itself."""
        inputs = self._inputs(call)
        others = [x for x in call.leaves if not inputs(x) and not is_array(x)]
        others += kinds(call.treedef)
        surroundings = Surroundings(self._function, others, is_array, call.library.replaces)
        if surroundings.tells_same and not self._tells_same:
            self._tells_same = True
            key = self._key(call)
        before = self._entries.get(key)
        entry = _Entry(key, self._input_names(call))
        entry.library = call.library
        changed = before.changed() if before is not None else ""
        if before is not None and changed:
            entry.rebound, entry.own_changes = before.rebound + 1, before.own_changes
        if entry.rebound > MOST_BRANCHES:
            entry.reason = (
                f"the variables that it reads change from call to call, as {changed} did. "
                "Fix: pass it as an argument"
            )
            self._warn(entry)
        elif surroundings.is_too_large:
            entry.reason = "it reads too many objects outside. Fix: pass them as arguments"
            self._warn(entry)
        else:
            entry.surroundings = surroundings
        if len(self._entries) >= MOST_PROGRAMS and key not in self._entries:
            entry.reason = (
                f"it was called with more than {MOST_PROGRAMS} signatures. Fix: pass numbers that "
                "vary as arrays, np.asarray(x); compile once for each shape that comes again"
            )
            self._warn(entry)
        else:
            self._entries.pop(key, None)
            self._entries[key] = entry
        return self._traced(entry, call)

    def _missed(self, entry: _Entry, call: _Call) -> Any:
        """Trace a branch that was not seen before, and graft it."""
        if len(entry.traces) >= MOST_BRANCHES:
            self._give_up(
                entry,
                f"it takes more than {MOST_BRANCHES} different ways through its branches. "
                "Fix: np.where chooses for each element",
            )
        return self._traced(entry, call)

    def _traced(self, entry: _Entry, call: _Call) -> Any:
        if entry.reason:
            entry.is_new = False
            return self._function(*call.args, **call.kwargs)
        surroundings = entry.surroundings
        assert surroundings is not None
        found, problem = self._attempted(entry, call)
        wanted = self._function(*call.args, **call.kwargs)  # an error leaves the entry new
        leaves, tree = flatten(wanted)
        problem = problem or _defect(_differing(entry, leaves, tree, found))
        if problem and surroundings.replaces:
            surroundings.compare_contents()
            entry.restart()
            found, problem = self._attempted(entry, call)
            problem = problem or _defect(_differing(entry, leaves, tree, found))
        changed = "" if problem else surroundings.changed()
        entry.own_changes = entry.own_changes + 1 if changed else 0
        if entry.own_changes > 1:
            problem = f"it changes variables that it reads: {changed}. Fix: return the new values"
        if problem:
            self._give_up(entry, problem, warn=False)
        else:
            self._use(entry)
        entry.is_new = False
        self._warn(entry)
        return wanted

    def _attempted(self, entry: _Entry, call: _Call) -> tuple[tuple[Any, ...], str]:
        """Trace and run the program; return what it gives, and why there is none if so."""
        inputs = self._inputs(call)
        assert entry.surroundings is not None
        restore = entry.surroundings.keep_random()
        collects = gc.isenabled()
        gc.disable()  # it would walk through the trace again and again
        try:
            self._tracing.active = True
            with call.library.current():
                self._extend(entry, call, inputs)
            assert entry.executable is not None
            return entry.executable.call(*filter(inputs, call.leaves)), ""
        except (Unhandled, Unsupported) as error:
            return (), str(error)
        except ProgramError:
            raise
        except Exception as error:  # noqa: BLE001  the function's own, or ours: eager shows it
            return (), f"tracing it raised {type(error).__name__}: {error}"
        finally:
            self._tracing.active = False
            restore()
            if collects:
                gc.enable()

    def _extend(self, entry: _Entry, call: _Call, inputs: Callable[[Any], bool]) -> None:
        """Trace a way through the function, and write the program anew."""
        leaves, treedef = call.leaves, call.treedef
        strange = call.library.strange(leaves)
        if strange:
            raise Unhandled(strange)
        surroundings = entry.surroundings
        assert surroundings is not None
        one = trace(self._function, leaves, treedef, inputs, surroundings, call.library)
        other = trace(self._function, leaves, treedef, inputs, surroundings, call.library)
        differing = difference(one, other)
        if differing:
            raise Unhandled(
                f"two runs on the same arguments differ in {differing}: it depends on random "
                "numbers, on the time, or on what it changes itself. Fix: pass what changes as an "
                "argument"
            )
        if entry.tree is not None and entry.tree != one.tree:
            raise Unhandled("its result has another structure in another branch")
        entry.tree = one.tree
        entry.traces.append(one)
        precisions = precisions_of(one)
        entry.precisions = [*map(max, precisions, entry.precisions or precisions)]
        fixed = [leaf for leaf in leaves if is_array(leaf) and not inputs(leaf)]
        entry.constants.append(_named(constants_of(one, other), one.readers, entry, fixed))
        entry.program, entry.executable, entry.notes = self._built(entry, leaves, inputs)
        self._quick = None  # it goes to the program before

    def _built(
        self, entry: _Entry, leaves: Sequence[Any], inputs: Callable[[Any], bool]
    ) -> tuple[Program, Executable, list[str]]:
        """The program of all traces, rolled if that gives what the trace gave; its executable."""
        given = list(filter(inputs, leaves))
        wanted = entry.traces[-1].results
        notes: list[str] = []
        own = entry.library.engine
        chosen = entry.library.chosen(self._engine, self._make)
        most = MOST_LEFT.get(self._engine) if chosen != own else None
        program, is_rolled = self._simplified(entry, given, roll=True, most=most)
        executable, problem = _made(chosen, program, given, wanted, entry.precisions)
        if executable is None and not is_rolled:
            program, _ = self._simplified(entry, given, roll=True)
            executable, problem = _made(chosen, program, given, wanted, entry.precisions)
        if executable is None and chosen != own:
            if problem not in self._told:
                self._told.add(problem)
                warnings.warn(
                    f"gradwrap.compile: the engine {self._engine!r} cannot take {self!r}: "
                    f"{problem}. The {entry.library.name} engine is used.",
                    CompileWarning,
                    stacklevel=8,
                )
            notes.append(f"engine {self._engine!r}: {problem}")
            executable, problem = _made(own, program, given, wanted, entry.precisions)
        if executable is not None:
            return program, executable, notes
        program, _ = self._simplified(entry, given, roll=False)
        notes.append(f"loops were not rolled: that gave {problem}")
        return program, own(program, plainly=True), notes

    def _simplified(
        self, entry: _Entry, arguments: Sequence[Any], *, roll: bool, most: int | None = None
    ) -> tuple[Program, bool]:
        """The program of all traces, and whether it is rolled: not if longer than `most` then."""
        program = program_of(entry.traces, entry.constants, entry.names)
        program.quiet = tuple(sorted({kind for trace in entry.traces for kind in trace.quiet}))
        given = arguments if entry.library.name == "numpy" else None
        return prepared(program, roll=roll, most=most, arguments=given)

    # Falling back ---------------------------------------------------------------------------------

    def _give_up(self, entry: _Entry, reason: str, *, warn: bool = True) -> None:
        entry.reason = reason
        entry.surroundings = None
        entry.restart()
        if self._latest is entry:
            self._latest = self._quick = None
        if warn:
            self._warn(entry)

    def _warn(self, entry: _Entry) -> None:
        if not entry.reason:
            return
        warnings.warn(
            f"gradwrap.compile: {getattr(self._function, '__name__', 'the function')} runs eagerly "
            f"on such arguments: {entry.reason}.",
            CompileWarning,
            stacklevel=5,
        )

    # Quick calls ----------------------------------------------------------------------------------

    def _use(self, entry: _Entry) -> None:
        """Let calls like the last one take the quick way."""
        if self._latest is entry and self._quick is not None:
            return
        self._latest = entry
        self._quick = None if self._static or is_checking() else _quick_call(entry)


class _Elsewhere(Exception):  # noqa: N818  it is no error
    """The arguments are not those of the quick call."""


def _quick_call(entry: _Entry) -> Callable[..., Any]:
    """Write the call that compares its arguments with one signature, and goes to its program."""
    key = entry.key
    args, kwargs = unflatten(key.treedef, list(range(len(key.leaves))))
    assert entry.executable is not None
    assert entry.tree is not None
    is_flat = not kwargs and all(type(arg) is int for arg in args)
    scope: dict[str, Any] = {
        "ndarray": np.ndarray,
        "Elsewhere": _Elsewhere,
        "call": entry.executable.call,
        "unflatten": functools.partial(unflatten, entry.tree),
        "flatten": flatten,
        "TREE": key.treedef,
        "orders": orders,
        "ORDERS": key.orders,
        "repeated": repeated,
        "leaf_key": leaf_key,
    }
    tests: list[str] = []
    given: list[str] = []
    arrays: list[str] = []
    for number, known in enumerate(key.leaves):
        name = f"a{number}"
        if known[0] != "array":
            scope[f"K{number}"] = known
            tests.append(f"leaf_key({name}) == K{number}")
            continue
        _, kind, shape, dtype, strides, place = known
        scope[f"D{number}"] = dtype
        scope[f"T{number}"] = kind
        given.append(name)
        tests.append(f"type({name}) is {'ndarray' if kind is np.ndarray else f'T{number}'}")
        if not issubclass(kind, NUMBER):
            arrays.append(f"id({name})")
            tests += entry.library.place_test(name, place)
            tests += [f"{name}.dtype is D{number}", f"{name}.shape == {shape!r}"]
            order = "c_contiguous" if strides is None else ""
            tests.append(f"{name}.flags.{order}" if order else f"{name}.strides == {strides!r}")
    if key.same:
        tests.append(f"repeated(({', '.join(given)},)) == {key.same!r}")
    elif len(arrays) > 1 and entry.surroundings and entry.surroundings.tells_same:
        tests.append(f"len({{{', '.join(arrays)}}}) == {len(arrays)}")
    for number, place in enumerate(entry.surroundings.places if entry.surroundings else ()):
        scope[f"P{number}"], scope[f"V{number}"] = place.holder, place.value
        scope[f"H{number}"] = place.holds
        tests.append(place.test(number))
    result = "call({})".format(", ".join(given))
    ending = f"{result}[0]" if entry.tree.is_lone else f"unflatten({result})"
    names = "".join(f"a{number}, " for number in range(len(key.leaves)))
    lines = [f"def quick({names}/):" if names and is_flat else "def quick():"]
    if not is_flat:
        lines = [
            "def quick(*args, **kwargs):",
            "    leaves, tree = flatten((args, kwargs))",
            "    if tree != TREE or orders((args, kwargs)) != ORDERS: raise Elsewhere",
            f"    {names}= leaves" if names else "",
        ]
    lines += [
        f"    if {' and '.join(tests) or 'True'}:",
        f"        return {ending}",
        "    raise Elsewhere",
    ]
    text = "\n".join(lines)
    exec(text, scope)  # noqa: S102  written here
    found: Callable[..., Any] = scope["quick"]
    return found


# Names and constants ------------------------------------------------------------------------------


def _parameter_names(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _named(
    constants: dict[int, Constant],
    readers: dict[int, str | None],
    entry: _Entry,
    fixed: Sequence[Any],
) -> dict[int, Constant]:
    """Give constants the names of the variables that hold them, and freeze static arguments.

    Raises
    ------
    Unhandled
        One of them is in no variable that is watched: it could be replaced by another.
    """
    found: dict[int, Constant] = {}
    for index, constant in constants.items():
        found[index] = constant
        if constant.by_reference and any(shares(constant.array, one) for one in fixed):
            found[index] = Constant(entry.library.copied(constant.array), False, "")
        elif constant.by_reference:
            assert entry.surroundings is not None
            name = entry.surroundings.name_of(constant.array)
            reader = readers[index]
            if name is None and (reader is None or not entry.surroundings.is_users(reader)):
                name = ""
            if name is None:
                raise Unhandled(
                    f"it uses an array of {constant.array.shape} elements that was not made in it, "
                    "and is in no variable that it names. Fix: pass it as an argument"
                )
            found[index] = constant._replace(name=name)
    return found


# Comparing results --------------------------------------------------------------------------------


def _differing(entry: _Entry, wanted: Sequence[Any], tree: TreeDef, found: Sequence[Any]) -> str:
    """Say how the results of an entry's program differ from those of the function."""
    if tree != entry.tree:
        return "another structure"
    return _mismatch(wanted, found, entry.precisions)


def _defect(problem: str) -> str:
    return problem and f"its program gives {problem}. This is a defect of gradwrap"


def _made(
    engine: Callable[[Program], Executable],
    program: Program,
    given: Sequence[Any],
    wanted: Sequence[Any],
    precisions: Sequence[float],
) -> tuple[Executable | None, str]:
    """Compile a program and run it: what an engine has made, or None and what is wrong with it."""
    try:
        executable = engine(program)
        problem = _problem(executable, given, wanted, precisions)
    except Unsupported as error:
        return None, str(error)
    return (None if problem else executable), problem


def _problem(
    executable: Executable,
    given: Sequence[Any],
    wanted: Sequence[Any],
    precisions: Sequence[float],
) -> str:
    """Say how a program's results differ from those of its trace; "" if they do not."""
    try:
        found = executable.call(*given)
        return _mismatch(wanted, found, None if executable.exact else precisions)
    except Missed:
        return "it is rounded otherwise, and takes another branch"
    except Exception as error:  # noqa: BLE001  there is another engine
        return f"{type(error).__name__}: {error}"


TOLERANCE = 1 << 14
"""How many units in the last place of its largest element an output may differ by."""


def _mismatch(
    wanted: Sequence[Any], found: Sequence[Any], precisions: Sequence[float] | None
) -> str:
    """Say how the leaves of results differ; "" if they do not by more than rounding.

    What is computed of single precision is rounded as that is, also where it is double in the end.
    Without the precisions, results are compared bit by bit.
    """
    if len(wanted) != len(found):
        return f"{len(found)} outputs in place of {len(wanted)}"
    for number, (a, b) in enumerate(zip(wanted, found, strict=True)):
        if type(a) is not type(b):
            return f"a {type(b).__name__} in place of a {type(a).__name__}, output {number}"
        a, b = on_host(a), on_host(b)  # noqa: PLW2901  the same results
        if not isinstance(a, (NDARRAY, NUMBER)):
            if a != b and (a == a or b == b):  # noqa: PLR0124  NaN is not itself
                return f"{b!r} in place of {a!r}, output {number}"
            continue
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{b.dtype}{b.shape} in place of {a.dtype}{a.shape}, output {number}"
        if np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
            continue
        distance = _ulps(a, b)
        allowed = 0.0
        if precisions is not None and a.dtype.kind in "fc":
            allowed = TOLERANCE * max(1.0, precisions[number] / float(np.finfo(a.dtype).eps))
        if not distance <= allowed:
            return f"other values, {distance:.3g} ulp away, output {number}"
    return ""


def _ulps(a: Any, b: Any) -> float:
    """The largest difference, in units in the last place of the largest element."""
    if a.dtype.kind not in "fc":
        return 0.0 if np.array_equal(a, b) else float("inf")
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if np.all(same):
        return 0.0
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.all(finite | same):
        return float("inf")
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(np.where(finite, a, 0)))
        unit = np.spacing(scale.real.astype(np.abs(a).dtype))
        return float(np.max(np.abs(np.where(finite, a - b, 0))) / unit)


# The decorator ------------------------------------------------------------------------------------


@overload
def compile(
    f: Callable[P, R], *, engine: str = "numpy", static: int | str | Iterable[int | str] = ()
) -> Compiled[P, R]: ...
@overload
def compile(
    *, engine: str = "numpy", static: int | str | Iterable[int | str] = ()
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
def compile(
    f: Any = None, *, engine: str = "numpy", static: int | str | Iterable[int | str] = ()
) -> Any:
    """Compile a function of arrays to a program of NumPy's or CuPy's calls.

    Parameters
    ----------
    f
        A function of arrays or containers of arrays, usually a derivative: `gw.grad(g)`,
        `gw.vmap(...)`, `gw.hessian(g)`, a step of an optimiser. It is traced at the first call for
        each signature: structure, shapes, dtypes, and the values of all other arguments.
    engine
        `"numpy"`: functions of the arguments' own library, NumPy or CuPy, with kernels for CuPy;
        `"c"`: kernels made by the system's C compiler; `"jax"`: the program under `jax.jit`;
        `"cupy"`: as `"numpy"`, but only for CuPy's arrays.
    static
        Positions or names of arguments whose arrays are a part of the signature, and not inputs of
        the program.

    Returns
    -------
    A function of the same parameters and results. `source` is the text of its program, `save`
    writes it as a module, `check` compares it with `f`, `explain` says what was compiled, and
    `programs` lists the programs. A function that cannot be compiled (it draws random numbers, or
    calls `x.item()`) runs as it is, with a `CompileWarning` that says why.

    Raises
    ------
    ValueError
        There is no engine of this name.
    TypeError
        `f` is no function.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gradient = gw.compile(gw.grad(lambda x: np.sum(np.sin(x) ** 2)))
    >>> gradient(np.array([0.0, 1.0]))
    array([0.        , 0.90929743])
    >>> print(gradient.source)  # doctest: +ELLIPSIS
    import numpy as np
    ...
    """
    if f is None:
        return functools.partial(compile, engine=engine, static=static)
    if not callable(f):
        raise TypeError(f"gradwrap.compile takes a function; it got {f!r}. Fix: gw.compile(f)(x)")
    places = (static,) if isinstance(static, (int, str)) else tuple(static)
    return Compiled(f, engine, places)
