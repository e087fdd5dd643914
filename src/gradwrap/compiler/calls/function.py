"""`compile`: chooses the program for each call, and decides when a call runs eagerly.

A call is looked up by its signature: the structure of the arguments, the shapes, dtypes and memory
orders of arrays, and the values of all other leaves. At the first call of a signature the function
is traced twice and run once; the program's results are compared with those of the run.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from gradwrap.backends.numpy.arithmetic import is_strict
from gradwrap.compiler.calls.compare import ulps
from gradwrap.compiler.calls.entry import MOST_BRANCHES, MOST_UNTRACED, NUMEROUS, Entry, Target
from gradwrap.compiler.calls.quick import ELSEWHERE, Quick, by_shape
from gradwrap.compiler.calls.signatures import Call, Signature, orders
from gradwrap.compiler.engines.libraries import is_array, on_host
from gradwrap.compiler.engines.numpy.engine import Source
from gradwrap.compiler.engines.register import Executable, engine_named
from gradwrap.compiler.engines.threads import checked, usable
from gradwrap.compiler.ir.operations import OPAQUE
from gradwrap.compiler.ir.program import Instr, Missed, Program
from gradwrap.compiler.ir.verify import is_checking
from gradwrap.compiler.rolling.checkpoints import DEFAULT
from gradwrap.compiler.tracing.surroundings.find import Surroundings
from gradwrap.compiler.tracing.tracer import Tracer
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import CompileError
from gradwrap.transforms.derived import own_name
from gradwrap.transforms.stretches import bytes_in

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Iterable, Sequence

P = ParamSpec("P")
R = TypeVar("R")
MOST_PROGRAMS = 64
FEW = 3
"""The number of quick calls up to which they are tried in turn."""


class Compiled(Generic[P, R]):
    """A function that runs as compiled programs, one for each signature of its arguments."""

    def __init__(
        self,
        function: Callable[P, R],
        engine: str,
        static: Iterable[int | str],
        *,
        cache: bool = False,
        memory: float | str | None = None,
        threads: int | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function: Callable[..., Any] = function
        self._memory = memory
        most = _bytes(memory)
        self._threads = checked(threads)
        self._target = Target(function, engine, engine_named(engine), most, threads or usable())
        self._static = frozenset(static)
        self._keeps = cache
        """Whether programs are kept for later processes."""
        self._parameters = _parameter_names(function)
        self._entries: dict[Signature, Entry] = {}
        self._quick: tuple[Quick, ...] = ()
        """The quick calls of the compiled entries, the newest first."""
        self._flat: tuple[Callable[..., Any], ...] = ()
        """The quick calls that take positional and named arguments directly."""
        self._nested: tuple[Callable[..., Any], ...] = ()
        """The quick calls that take the leaves of the arguments, and their structure."""
        self._latest: Entry | None = None
        self._busy: dict[Signature, tuple[int, int]] = {}
        """By signature: the process and thread that are compiling for it."""
        self._tells_same = False
        """Whether the function tests two values for identity."""
        self._takes_floats = True
        """Whether Python floats among the arguments are inputs of the programs."""
        self._tells_flags = False
        """Whether the function tests if arrays are writeable."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the program for these arguments; trace the function first if there is no program."""
        try:
            for quick in self._flat:
                found = quick(args, kwargs)
                if found is not ELSEWHERE:
                    return found  # type: ignore[no-any-return]  # as the function does
            if self._nested:
                leaves, tree = flatten((args, kwargs))
                order = orders((args, kwargs))
                for quick in self._nested:
                    found = quick(leaves, tree, order)
                    if found is not ELSEWHERE:
                        return found  # type: ignore[no-any-return]  # as the function does
        except Exception:  # noqa: BLE001, S110  the slow path reports the error
            pass
        return self._slowly(args, kwargs)  # type: ignore[no-any-return]  # as the function does

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, like any function of a class."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        """Copy and pickle the function without its programs; a decorated one by name."""
        own = (self._function, self._target.engine, self._static, self._keeps)
        return own_name(self) or (_remade, (*own, self._memory, self._threads))

    def __repr__(self) -> str:
        return f"<compiled {getattr(self._function, '__name__', self._function)!s}>"

    # Inspection -----------------------------------------------------------------------------------

    @property
    def programs(self) -> list[Program]:
        """Return the programs so far, the newest last."""
        return [entry.program for entry in self._entries.values() if entry.program is not None]

    @property
    def source(self) -> str:
        """Return the text of the program that was made or extended last.

        Raises
        ------
        CompileError
            There is no program: no call was made, or all of them ran eagerly.
        """
        return self._newest()[1].source

    def save(self, path: str | pathlib.Path) -> None:
        """Write the newest program as a module that needs only NumPy, with its arrays beside it.

        A program for CuPy arrays needs CuPy too. The module's function is `compiled(*leaves)`: it
        takes the arrays among the arguments, and returns the arrays of the result as a tuple. An
        untraced branch raises `Missed`.

        Raises
        ------
        CompileError
            There is no program: no call was made, or all of them ran eagerly. Or it calls a
            function of another library as one operation.
        """
        import pathlib

        entry, executable = self._newest()
        assert entry.program is not None
        steps = (step for body in entry.program.bodies() for step in body)
        opaque = [step for step in steps if isinstance(step, Instr) and step.is_opaque]
        if opaque:
            raise CompileError(
                f"the program calls {opaque[0].name.removeprefix(OPAQUE)}, a function of another "
                "library that source cannot name. Fix: call the compiled function itself."
            )
        path = pathlib.Path(path)
        source = Source(entry.program) if executable.module is None else executable.module
        path.write_text(source.text(f"{path.stem}.npz"), encoding="utf-8")
        arrays = {name: on_host(array) for name, array in source.arrays.items()}
        if arrays:
            np.savez(path.with_suffix(".npz"), **arrays)

    def check(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Run the function and its program; return their differences in ulp, by output.

        Raises
        ------
        CompileError
            They differ by more than rounding, or in types, shapes or dtypes; or the call runs
            eagerly.
        """
        self(*args, **kwargs)
        call = self._call(args, kwargs)
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
            found = entry.executable.call(*call.inputs)
        except Exception as error:
            raise CompileError(
                f"the program raises {type(error).__name__}: {error}. This call runs eagerly then."
            ) from error
        wanted = self._compare(entry, call, found)
        lines = [
            f"output {number}: {ulps(a, b):.3g} ulp of the largest element"
            for number, (a, b) in enumerate(
                zip(map(on_host, wanted), map(on_host, found), strict=True)
            )
            if is_array(a)
        ]
        return "\n".join(lines)

    def explain(self) -> str:
        """Return a report: what was compiled, and what runs eagerly and why."""
        if not self._entries:
            return "not called yet"
        return "\n\n".join(map(self._explained, self._entries.values()))

    def _explained(self, entry: Entry) -> str:
        described = ", ".join(f"{path}: {what}" for path, what in entry.key.shown(entry.names))
        lines = [f"arguments: {described or 'none'}"]
        lines += [
            f"constant: {name} = {value!r}; each new value of this Python {type(value).__name__} "
            "makes another program"
            for name, value in entry.numbers
        ]
        if entry.program is None or entry.executable is None:
            reason = entry.reason or "all calls so far raised errors"
            return "\n".join([*lines, f"runs eagerly: {reason}"])
        lines.append(f"engine: {entry.engine}")
        blocks = list(entry.program.blocks())
        lines.append(f"instructions: {sum(len(block.body) for block in blocks)}")
        guards = [block for block in blocks if block.guard is not None]
        for block in guards:
            assert block.guard is not None
            outcomes = ", ".join(map(repr, block.branches))
            lines.append(f"guard: {block.guard.kind} of {block.guard.value!r}, seen: {outcomes}")
        lines += [f"a branch runs eagerly: {reason}" for reason in entry.untraced]
        for constant in entry.program.constants.values():
            how = "read at each call" if constant.by_reference else "frozen"
            name = constant.name or "made in the run"
            lines.append(f"constant: {name}, {constant.array.dtype}{constant.array.shape}, {how}")
        return "\n".join([*lines, *entry.program.notes, *entry.notes, *entry.executable.notes])

    def _newest(self) -> tuple[Entry, Executable]:
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
        if self._target.is_traced:
            return self._function(*args, **kwargs)
        call = self._call(args, kwargs)
        if any(isinstance(leaf, (AnyWrapper, Tracer)) for leaf in call.leaves):
            return self._function(*args, **kwargs)  # it becomes part of the outer trace
        return self._called(call)

    def _called(self, call: Call) -> Any:
        key = self._key(call)
        entry = self._entries.get(key)
        if entry is None or entry.is_new or entry.changed():
            return self._alone(key, call, lambda: self._first(call))
        executable, tree = entry.executable, entry.tree
        if executable is None or tree is None:
            return call.run(self._function)
        if not executable.notices_errors and is_strict():
            return call.run(self._function)
        try:
            found = entry.call(*call.inputs)
        except Missed:
            return self._alone(key, call, lambda: self._missed(entry, call))
        except Exception:  # noqa: BLE001  the function raises it too, or handles it
            return call.run(self._function)
        if key not in self._busy:
            self._use(entry)
        if is_checking():
            self._compare(entry, call, found)
        return unflatten(tree, found)

    def _compare(self, entry: Entry, call: Call, found: Sequence[Any]) -> list[Any]:
        """Compare the results of a program with those of the function, and return the latter.

        Raises
        ------
        CompileError
            They differ by more than rounding.
        """
        wanted, tree = flatten(self._function(*call.args, **call.kwargs))
        problem = entry.differing(wanted, tree, found, call)
        if problem:
            raise CompileError(f"the program of {self!r} differs from the function: {problem}")
        return wanted

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        floats = self._takes_floats
        if floats and self._target.engine == "jax":
            from gradwrap.compiler.engines.jax import computes_in_double

            floats = computes_in_double()
        if not self._static:
            return Call(args, kwargs, takes_floats=floats)
        fixed = [value for name, value in kwargs.items() if name in self._static]
        for number, value in enumerate(args):
            name = self._parameters[number] if number < len(self._parameters) else ""
            if not self._static.isdisjoint((number, number - len(args), name)):
                fixed.append(value)
        return Call(args, kwargs, {id(leaf) for leaf in flatten(fixed)[0]}, takes_floats=floats)

    def _key(self, call: Call) -> Signature:
        return call.signature(tells_same=self._tells_same, tells_flags=self._tells_flags)

    def _alone(self, key: Signature, call: Call, compiling: Callable[[], Any]) -> Any:
        """Compile for a signature; if another thread is doing so, run this call eagerly.

        No lock is held, since the function may wait for another thread. A thread that was compiling
        at the time of a fork does not exist in the child process.
        """
        mine = (os.getpid(), threading.get_ident())
        owner = self._busy.setdefault(key, mine)
        if owner is not mine and owner[0] == mine[0]:
            return self._function(*call.args, **call.kwargs)
        self._busy[key] = mine
        try:
            return compiling()
        finally:
            self._busy.pop(key, None)

    def _first(self, call: Call) -> Any:
        """Compile for a new signature; return the result of the function itself."""
        surroundings = Surroundings(self._function, call.others, is_array, call.library.replaces)
        self._tells_same |= surroundings.tells_same
        self._tells_flags |= surroundings.tells_flags
        if call.has_floats and (self._tells_same or surroundings.tells_types):
            return self._with_constant_floats(call)
        key = self._key(call)
        before = self._entries.get(key)
        entry = Entry(key, self._target, call, self._parameters)
        changed = before.changed() if before is not None else ""
        if before is not None and changed:
            entry.rebound, entry.own_changes = before.rebound + 1, before.own_changes
        if entry.rebound > MOST_BRANCHES:
            entry.give_up(
                f"the variables that it reads change from call to call, as {changed} did. "
                "Fix: pass it as an argument"
            )
        elif surroundings.problem:
            entry.give_up(surroundings.problem)
        else:
            entry.surroundings = surroundings
        if len(self._entries) >= MOST_PROGRAMS and key not in self._entries:
            entry.give_up(
                f"it was called with more than {MOST_PROGRAMS} signatures. Fix: pass numbers that "
                "vary as arrays, np.asarray(x); compile once for each shape that comes again"
            )
        else:
            self._forget(before)
            self._entries.pop(key, None)
            self._entries[key] = entry
            if before is None and entry.numbers:
                alike = key.family()
                if sum(one.family() == alike for one in self._entries) == NUMEROUS:
                    entry.note_numbers()
        return self._traced(entry, call)

    def _with_constant_floats(self, call: Call) -> Any:
        """Compile with Python floats as constants from now on, since it looks into one."""
        self._takes_floats = False
        again = self._call(call.args, call.kwargs)
        again.result = call.result
        return self._called(again)

    def _missed(self, entry: Entry, call: Call) -> Any:
        """Trace a new branch, and add it to the program."""
        if len(entry.untraced) >= MOST_UNTRACED:
            return call.run(self._function)
        self._forget(entry)
        if len(entry.traces) >= MOST_BRANCHES:
            entry.give_up(
                f"it takes more than {MOST_BRANCHES} different ways through its branches. "
                "Fix: np.where chooses for each element"
            )
        return self._traced(entry, call)

    def _traced(self, entry: Entry, call: Call) -> Any:
        if entry.reason:
            entry.is_new = False
            wanted = call.run(self._function)
        else:
            is_kept, wanted = self._recalled(entry, call)
            if not is_kept:
                wanted = entry.traced(call)
                entry.keep()
            if call.has_floats and entry.needs_constants:
                entry.forget_warnings()
                self._entries.pop(entry.key, None)
                return self._with_constant_floats(call)
        if entry.executable is not None:
            self._use(entry)
        entry.warn()
        return wanted

    def _recalled(self, entry: Entry, call: Call) -> tuple[bool, Any]:
        """Use a program of an earlier process, if calls may and there is one."""
        if not self._keeps or entry.traces or call.library.name != "numpy":
            return False, None
        return entry.recalled(call)

    def _use(self, entry: Entry) -> None:
        """Put an entry's quick call first."""
        self._latest = entry
        if is_checking():
            self._chain(())
            return
        quick = entry.quick_call()
        if quick not in self._quick:
            self._chain((quick, *self._quick))

    def _chain(self, quick: tuple[Quick, ...]) -> None:
        """Set the quick calls that calls try in turn."""
        self._quick = quick
        flat = [one for one in quick if one.is_flat]
        several = [by_shape(flat)] if len(flat) > FEW else []
        self._flat = (*several, *(one.call for one in flat))
        self._nested = tuple(one.call for one in quick if not one.is_flat)

    def _forget(self, entry: Entry | None) -> None:
        """Remove the quick call of an entry, since its program is outdated."""
        if entry is None:
            return
        self._chain(tuple(quick for quick in self._quick if quick is not entry.quick))
        entry.quick = None
        if self._latest is entry:
            self._latest = None


def _remade(
    function: Any,
    engine: str,
    static: frozenset[int | str],
    cache: bool,
    memory: float | str | None,
    threads: int | None,
) -> Compiled[..., Any]:
    return Compiled(function, engine, static, cache=cache, memory=memory, threads=threads)


def _bytes(memory: float | str | None) -> float:
    """Return a number of bytes given as the option `memory`."""
    if memory is None:
        return DEFAULT
    if isinstance(memory, str):
        return bytes_in(memory, "memory", "the number of bytes")
    if isinstance(memory, bool) or not memory >= 0:
        raise ValueError(
            f'memory={memory!r}. Fix: give a number of bytes, or a text such as "64 MiB", or None.'
        )
    return memory


def _parameter_names(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


# The decorator ------------------------------------------------------------------------------------


@overload
def compile(
    f: Callable[P, R],
    *,
    engine: str = "numpy",
    static: int | str | Iterable[int | str] = (),
    cache: bool = False,
    memory: float | str | None = None,
    threads: int | None = None,
) -> Compiled[P, R]: ...
@overload
def compile(
    *,
    engine: str = "numpy",
    static: int | str | Iterable[int | str] = (),
    cache: bool = False,
    memory: float | str | None = None,
    threads: int | None = None,
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
def compile(
    f: Any = None,
    *,
    engine: str = "numpy",
    static: int | str | Iterable[int | str] = (),
    cache: bool = False,
    memory: float | str | None = None,
    threads: int | None = None,
) -> Any:
    """Compile a function of arrays to a program of NumPy or CuPy calls.

    Parameters
    ----------
    f
        A function of arrays or containers of arrays, usually a derivative: `gw.grad(g)`,
        `gw.vmap(...)`, `gw.hessian(g)`, a step of an optimiser. It is traced at the first call for
        each signature: structure, shapes, dtypes, and the values of all other arguments.
    engine
        `"numpy"`: functions of the arguments' own library, NumPy or CuPy, with kernels for CuPy;
        `"c"`: kernels made by the system's C compiler; `"jax"`: the program under `jax.jit`;
        `"cupy"`: like `"numpy"`, but only for CuPy arrays.
    static
        Positions or names of arguments whose arrays are part of the signature instead of inputs of
        the program.
    cache
        Keep programs on disk, and use those of earlier processes after one comparison with `f`.
    memory
        The bytes that loops may use for what their backward loops read, as a number or a text such
        as `"64 MiB"`, which is the default. A longer loop keeps the values of about `√turns` turns,
        and computes the others again.
    threads
        The most threads for one call of a program with NumPy arrays. If not given: one for each
        core that the process may use, or `$OMP_NUM_THREADS` if it is less. Operations on large
        arrays are split over them, small ones run on one. The number does not change results.

    Returns
    -------
    A function of the same parameters and results. `source` is the text of its program, `save`
    writes it as a module, `check` compares it with `f`, `explain` says what was compiled, and
    `programs` lists the programs. A function that cannot be compiled (it draws random numbers, or
    calls `x.item()`) runs eagerly, with a `CompileWarning` that gives the reason.

    Raises
    ------
    ValueError
        There is no engine of this name, `memory` is no size, or `threads` is less than one.
    TypeError
        `f` is not a function, or `threads` is no integer.

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
        checked(threads)
        options: dict[str, Any] = {"engine": engine, "static": static, "cache": cache}
        return functools.partial(compile, **options, memory=memory, threads=threads)
    if not callable(f):
        raise TypeError(f"gradwrap.compile takes a function; it got {f!r}. Fix: gw.compile(f)(x)")
    places = (static,) if isinstance(static, (int, str)) else tuple(static)
    return Compiled(f, engine, places, cache=cache, memory=memory, threads=threads)
