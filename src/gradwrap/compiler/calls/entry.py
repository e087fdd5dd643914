"""The state of one signature: its traces, its program, and the reason if calls run eagerly."""

from __future__ import annotations

import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.calls.compare import made, mismatch
from gradwrap.compiler.calls.quick import Quick, quick_call
from gradwrap.compiler.engines.register import MOST_LEFT, Executable, Unsupported
from gradwrap.compiler.ir.program import Constant, Program
from gradwrap.compiler.ir.verify import ProgramError
from gradwrap.compiler.passes.from_traces import constants_of, difference, precisions_of, program_of
from gradwrap.compiler.pipeline import prepared
from gradwrap.compiler.tracing.run import Traced, trace
from gradwrap.compiler.tracing.tape import Unhandled, shares
from gradwrap.core.values.tree import TreeDef, flatten
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.calls.signatures import Call, Signature
    from gradwrap.compiler.engines.libraries import Compilable
    from gradwrap.compiler.tracing.surroundings.find import Surroundings

MOST_BRANCHES = 16


class Target:
    """A function to compile, and the engine to compile it for."""

    def __init__(
        self, function: Callable[..., Any], engine: str, make: Callable[[Program], Executable]
    ) -> None:
        self.function: Callable[..., Any] = function
        self.engine: str = engine
        self.make: Callable[[Program], Executable] = make
        self.told: set[str] = set()
        """The warnings about the engine so far."""
        self.current: threading.local = threading.local()

    @property
    def is_traced(self) -> bool:
        """Return whether this thread is tracing the function."""
        return getattr(self.current, "is_traced", False)


class Entry:
    """The state of one signature of a function."""

    def __init__(
        self, key: Signature, target: Target, names: tuple[str, ...], library: Compilable
    ) -> None:
        self.key = key
        self.target = target
        self.names = names
        self.library = library
        self.reason: str = ""
        """The reason why calls run eagerly, or ""."""
        self.traces: list[Traced] = []
        self.constants: list[dict[int, Constant]] = []
        self.precisions: list[float] = []
        """By output: the machine epsilon of the coarsest dtype it depends on."""
        self.program: Program | None = None
        self.executable: Executable | None = None
        self.tree: TreeDef | None = None
        self.notes: list[str] = []
        self.surroundings: Surroundings | None = None
        self.quick: Quick | None = None
        self.rebound = 0
        """The number of times the surroundings have changed."""
        self.own_changes: int = 0
        """The number of successive calls in which the function changed its surroundings itself."""
        self.is_new: bool = True
        """Whether no call has returned yet."""
        self._waiting: list[str] = []
        """The warnings of this call, which are issued when the entry is complete."""

    def changed(self) -> str:
        """Return the name of a variable around the function that has changed, or ""."""
        return "" if self.surroundings is None else self.surroundings.changed()

    def outlived(self) -> str:
        """Return the name of a variable used by a cached function that has changed, or ""."""
        return "" if self.surroundings is None else self.surroundings.outlived()

    def quick_call(self) -> Quick:
        """Return the quick call of the program, written at the first use."""
        if self.quick is None:
            assert self.executable is not None
            assert self.tree is not None
            self.quick = quick_call(
                self.key, self.library, self.executable, self.tree, self.surroundings
            )
        return self.quick

    def differing(self, wanted: Sequence[Any], tree: TreeDef, found: Sequence[Any]) -> str:
        """Return how the results of the program differ from those of the function."""
        if tree != self.tree:
            return "another structure"
        return mismatch(wanted, found, self.precisions)

    def give_up(self, reason: str) -> None:
        """Run calls eagerly from now on, with a warning."""
        self.reason = reason
        self.surroundings = None
        self._restart()
        name = getattr(self.target.function, "__name__", "the function")
        self._waiting.append(f"{name} runs eagerly on such arguments: {reason}.")

    def warn(self) -> None:
        """Issue the warnings of this call; one that is an error leaves the entry as it is."""
        while self._waiting:
            warn(self._waiting.pop(0))

    def _restart(self) -> None:
        """Forget the traces and the program."""
        self.program = self.executable = self.tree = None
        self.traces, self.constants, self.precisions = [], [], []

    # Tracing --------------------------------------------------------------------------------------

    def traced(self, call: Call) -> Any:
        """Trace another path through the function and compile it; return the function's result."""
        surroundings = self.surroundings
        assert surroundings is not None
        found, problem = self._attempted(call)
        wanted = self.target.function(*call.args, **call.kwargs)  # an error leaves the entry new
        leaves, tree = flatten(wanted)
        problem = problem or _defect(self.differing(leaves, tree, found))
        if problem and surroundings.replaces:
            surroundings.compare_contents()
            self._restart()
            found, problem = self._attempted(call)
            problem = problem or _defect(self.differing(leaves, tree, found))
        changed = "" if problem else surroundings.changed()
        self.own_changes = self.own_changes + 1 if changed else 0
        if self.own_changes > 1:
            problem = f"it changes variables that it reads: {changed}. Fix: return the new values"
        self.is_new = False
        if problem:
            self.give_up(problem)
        return wanted

    def _attempted(self, call: Call) -> tuple[tuple[Any, ...], str]:
        """Trace and run the program. Return its results, or () and the reason."""
        assert self.surroundings is not None
        restore = self.surroundings.keep_random()
        try:
            self.target.current.is_traced = True
            with call.library.current():
                self._extend(call)
            assert self.executable is not None
            return self.executable.call(*call.inputs), ""
        except (Unhandled, Unsupported) as error:
            return (), str(error)
        except ProgramError:
            raise
        except Exception as error:  # noqa: BLE001  its error or ours: eager shows which
            return (), f"tracing it raised {type(error).__name__}: {error}"
        finally:
            self.target.current.is_traced = False
            restore()

    def _extend(self, call: Call) -> None:
        """Trace another path through the function, and rebuild the program."""
        strange = call.library.strange(call.leaves)
        if strange:
            raise Unhandled(strange)
        one = self._trace(call, None)
        other = self._trace(call, one)
        one = one._replace(tape=None)
        differing = difference(one, other)
        if differing:
            raise Unhandled(
                f"two runs on the same arguments differ in {differing}: it depends on random "
                "numbers, on the time, or on what it changes itself. Fix: pass what changes as an "
                "argument"
            )
        if self.tree is not None and self.tree != one.tree:
            raise Unhandled("its result has another structure in another branch")
        self.tree = one.tree
        self.traces.append(one)
        precisions = precisions_of(one)
        self.precisions = [*map(max, precisions, self.precisions or precisions)]
        self.constants.append(self._named(constants_of(one, other), one.readers, call.fixed))
        self.program, self.executable, self.notes = self._built(call.inputs)

    def _trace(self, call: Call, first: Traced | None) -> Traced:
        return trace(
            self.target.function,
            call.leaves,
            call.treedef,
            call.given,
            self.surroundings,
            call.library,
            first,
        )

    def _named(
        self, constants: dict[int, Constant], readers: dict[int, str | None], fixed: Sequence[Any]
    ) -> dict[int, Constant]:
        """Name constants after the variables that hold them, and freeze static arguments.

        Raises
        ------
        Unhandled
            A constant is in no watched variable, so another array could replace it unnoticed.
        """
        surroundings = self.surroundings
        assert surroundings is not None
        found: dict[int, Constant] = {}
        for index, constant in constants.items():
            found[index] = constant
            if constant.by_reference and any(shares(constant.array, one) for one in fixed):
                found[index] = Constant(self.library.copied(constant.array), False, "")
            elif constant.by_reference:
                name = surroundings.name_of(constant.array)
                reader = readers[index]
                if name is None and (reader is None or not surroundings.is_users(reader)):
                    name = ""
                if name is None:
                    raise Unhandled(
                        f"it uses an array of {constant.array.shape} elements that was not made in "
                        "it, and is in no variable that it names. Fix: pass it as an argument"
                    )
                found[index] = constant._replace(name=name)
        return found

    # Building -------------------------------------------------------------------------------------

    def _built(self, given: Sequence[Any]) -> tuple[Program, Executable, list[str]]:
        """Build the program of all traces, rolled if the results agree, and its executable."""
        target = self.target
        wanted = self.traces[-1].results
        notes: list[str] = []
        own = self.library.engine
        chosen = self.library.chosen(target.engine, target.make)
        most = MOST_LEFT.get(target.engine) if chosen != own else None
        program, is_rolled = self._simplified(given, roll=True, most=most)
        executable, problem = made(chosen, program, given, wanted, self.precisions)
        if executable is None and not is_rolled:
            program, _ = self._simplified(given, roll=True)
            executable, problem = made(chosen, program, given, wanted, self.precisions)
        if executable is None and chosen != own:
            if problem not in target.told:
                target.told.add(problem)
                name = getattr(target.function, "__name__", target.function)
                self._waiting.append(
                    f"the engine {target.engine!r} cannot take {name}: {problem}. "
                    f"The {self.library.name} engine is used."
                )
            notes.append(f"engine {target.engine!r}: {problem}")
            executable, problem = made(own, program, given, wanted, self.precisions)
        if executable is not None:
            self._waiting += executable.told
            return program, executable, notes
        program, _ = self._simplified(given, roll=False)
        notes.append(f"loops were not rolled: that gave {problem}")
        return program, own(program, plainly=True), notes

    def _simplified(
        self, given: Sequence[Any], *, roll: bool, most: int | None = None
    ) -> tuple[Program, bool]:
        """Merge all traces and run the passes; loops are dropped if the program exceeds `most`."""
        program = program_of(self.traces, self.constants, self.names)
        inputs = given if self.library.name == "numpy" else None
        return prepared(program, roll=roll, most=most, arguments=inputs)


def _defect(problem: str) -> str:
    return problem and f"its program gives {problem}. This is a defect of gradwrap"


def warn(text: str) -> None:
    """Warn the caller of a compiled function."""
    level = 2
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame.f_back and str(frame.f_globals.get("__name__", "")).startswith("gradwrap."):
        frame, level = frame.f_back, level + 1
    warnings.warn(f"gradwrap.compile: {text}", CompileWarning, stacklevel=level)
