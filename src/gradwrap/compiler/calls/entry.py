"""The state of one signature: its traces, its program, and the reason if calls run eagerly."""

from __future__ import annotations

import gc
import math
import sys
import threading
import time
import warnings
from contextlib import contextmanager, nullcontext
from copy import copy
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy.arithmetic import is_strict
from gradwrap.compiler.calls.callbacks import function_of
from gradwrap.compiler.calls.compare import Raised, made, mismatch
from gradwrap.compiler.calls.nans import with_known, without_nan
from gradwrap.compiler.calls.quick import Quick, quick_call
from gradwrap.compiler.calls.sensitivity import (
    mismatch_beyond_movement,
    precisions_by_movement,
)
from gradwrap.compiler.engines.register import FIND_REPETITION, Executable, Unsupported
from gradwrap.compiler.ir.program import NDARRAY, NUMBER, Constant, Program, counts_turns
from gradwrap.compiler.ir.verify import ProgramError, is_checking, parts_of, verify
from gradwrap.compiler.passes.from_traces import constants_of, difference, precisions_of, program_of
from gradwrap.compiler.pipeline import prepared
from gradwrap.compiler.rolling.checkpoints import bytes_of, with_checkpoints
from gradwrap.compiler.tracing.run import Traced, trace
from gradwrap.compiler.tracing.surroundings import files
from gradwrap.compiler.tracing.tape import (
    MOST,
    Contradiction,
    Tape,
    Tied,
    TooLong,
    Unhandled,
    shares,
)
from gradwrap.core.levels.modes import Ran, noting_code
from gradwrap.core.values.tree import TreeDef, flatten, unflatten
from gradwrap.errors import CompileWarning
from gradwrap.transforms.reverse import differentiated

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from gradwrap.compiler.calls.kept import Kept
    from gradwrap.compiler.calls.signatures import Call, Signature
    from gradwrap.compiler.engines.libraries import Compilable
    from gradwrap.compiler.extrapolating.points import Found
    from gradwrap.compiler.extrapolating.sizes import Foreseeing
    from gradwrap.compiler.tracing.surroundings.find import Surroundings

FIRST = 5000
"""The length of a trace from which extrapolation is tried."""
PADDED = 1 << 32
"""The most bytes of stacks of loops whose turns vary in number, which `memory` does not bound."""
RARELY = 100_000
"""The new objects after which garbage is collected during a trace."""
MOST_BRANCHES = 16
MOST_TIES = 2
TIED = (
    "it compares values that are equal there, such as x == 0, about which each call has to be "
    "asked. Fix: np.where or if, with an order in place of the equality"
)
REMEDY = "Fix: mend the directory that gradwrap.compiler.cache_info() names, or use cache=False"
PROOFS = {
    "twice": "compared with the function at two other lengths, and at full size on two arguments",
    "direction": "compared with the function at two other lengths; at full size, with a difference "
    "of its values in one direction. check() compares all of it",
    "turns": "compared with the function at three other lengths. All turns of its loops do the "
    "same, since they begin with the same variables. check() compares all of it",
    "full": "compared with the function at two other lengths, and at full size",
}
"""The notes on the comparisons of extrapolated programs."""
AMPLIFIES = "rounding is amplified: results move as far where arguments change in their last places"
NUMEROUS = 5
"""The programs that differ in Python numbers alone from which on there is a warning."""


class Target:
    """A function to compile, and the engine to compile it for."""

    def __init__(
        self,
        function: Callable[..., Any],
        engine: str,
        make: Callable[[Program], Executable],
        memory: float,
        threads: int = 1,
    ) -> None:
        self.function: Callable[..., Any] = function
        self.engine: str = engine
        self.make: Callable[[Program], Executable] = make
        self.memory: float = memory
        """The most bytes of the stacks of loops."""
        self.threads: int = threads
        """The most threads of a call."""
        self.told: set[str] = set()
        """The warnings about the engine so far."""
        self.current: threading.local = threading.local()

    @property
    def is_traced(self) -> bool:
        """Return whether this thread is tracing the function."""
        return getattr(self.current, "is_traced", False)


OF_PROGRAM = (
    *("program", "executable", "tree", "traces", "constants", "precisions", "notes", "engine"),
    *("_orders", "_other_orders", "_extrapolated", "_is_large", "_are_alike"),
)
"""The attributes of an entry that describe its program."""
MOST_UNTRACED = 3
"""The most branches of a program that are tried in vain; then calls that miss run eagerly."""


class Entry:
    """The state of one signature of a function."""

    def __init__(
        self, key: Signature, target: Target, call: Call, parameters: Sequence[str]
    ) -> None:
        self.key = key
        self.target = target
        names = call.leaf_names(parameters)
        self.names: tuple[str, ...] = tuple(compress(names, call.given))
        """The names of the inputs."""
        self.numbers: list[tuple[str, Any]] = [(names[n], call.leaves[n]) for n, _ in key.numbers()]
        """The Python numbers that are constants of the program, by name."""
        self.library: Compilable = call.library
        own = self.library.name
        self.engine: str = target.engine if own == "numpy" else own
        """The engine that runs the program."""
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
        self._orders: list[list[tuple[int, ...]]] = []
        """For each trace, the memory order of each result of the function."""
        self._other_orders: set[int] = set()
        """The results that the program lays out otherwise."""
        self._extrapolates: bool = True
        """Whether the program of long loops may be extrapolated."""
        self._began: float = time.perf_counter()
        """The time at which its first call began."""
        self._is_large: bool = False
        """Whether the program was not compared at full size."""
        self._are_alike: bool | None = None
        """Whether all turns of its loops do the same, if that was asked."""
        self._extrapolated: Found | None = None
        """The extrapolated program."""
        self.kept_as: str | None = None
        """The key of the program in the cache, if it is kept."""
        self._ran = Ran()
        """What code of adapted modules did."""
        self._amplifies: bool = False
        """Whether results move far where the arguments change in their last places."""
        self._ties: int = 0
        """The calls that could not be traced since values are equal that it compares."""
        self.untraced: list[str] = []
        """Why branches could not be traced: calls that take them run eagerly."""
        self._is_of_branch: bool = False
        """Whether the last trace was refused for what the function does there alone."""
        self._waiting: list[str] = []
        """The warnings of this call, which are issued when the entry is complete."""

    def changed(self) -> str:
        """Return the name of a variable around the function that has changed, or ""."""
        return "" if self.surroundings is None else self.surroundings.changed()

    def quick_call(self) -> Quick:
        """Return the quick call of the program, written at the first use."""
        if self.quick is None:
            assert self.executable is not None
            assert self.tree is not None
            executable = self.executable._replace(call=self.call)
            self.quick = quick_call(
                self.key, self.library, executable, self.tree, self.surroundings
            )
        return self.quick

    @property
    def call(self) -> Callable[..., tuple[Any, ...]]:
        """Return the call of the program; it raises `HoldsNaN` where the function has to run.

        In a gradient of adapted code, NaN may be replaced by other passes, which no program has.
        """
        assert self.executable is not None
        run = self.executable.call
        return without_nan(run) if self._ran.looks_for_nan else run

    def differing(
        self, wanted: Sequence[Any], tree: TreeDef, found: Sequence[Any], call: Call | None = None
    ) -> str:
        """Return how the results of the program differ from those of the function, or "".

        With a call, the program may be as far away as results move where its arguments do.
        """
        if tree != self.tree:
            return "another structure"
        if self._ran.looks_for_nan:  # where the program gives NaN, the function runs
            found = [*map(with_known, found, wanted)]
        if call is None or self.library.name != "numpy":
            return mismatch(wanted, found, self.precisions)
        function = self.target.function
        return mismatch_beyond_movement(function, call, wanted, found, self.precisions)

    def give_up(self, reason: str) -> None:
        """Run calls eagerly from now on, with a warning."""
        self.reason = reason
        self.surroundings = None
        self._restart()
        name = getattr(self.target.function, "__name__", "the function")
        self._waiting.append(f"{name} runs eagerly on such arguments: {reason}.")

    def note_numbers(self) -> None:
        """Warn that each new value of a Python number is compiled anew."""
        numbers = ", ".join(f"{name} = {value!r}" for name, value in self.numbers)
        name = getattr(self.target.function, "__name__", "the function")
        self._waiting.append(
            f"{name} is compiled for the {NUMEROUS}th time, since Python numbers are constants of "
            f"its programs: {numbers}. Each new value takes as long as a first call. Fix: pass "
            "numbers that vary as arrays, np.asarray(x)"
        )

    @property
    def is_eager(self) -> bool:
        """Tell if calls run eagerly."""
        return bool(self.reason)

    @property
    def needs_constants(self) -> bool:
        """Tell if Python floats as inputs are in the way: of tracing, or of JAX by a branch."""
        branches = self.program is not None and self.program.root.guard is not None
        return self.is_eager or (branches and self.target.engine == "jax")

    def forget_warnings(self) -> None:
        """Drop the warnings of this program: another one replaces it."""
        self._waiting.clear()
        self.target.told.clear()

    def warn(self) -> None:
        """Issue the warnings of this call; a warning that raises leaves the entry unchanged."""
        while self._waiting:
            warn(self._waiting.pop(0))

    def _restart(self) -> None:
        """Forget the traces and the program."""
        self.program = self.executable = self.tree = None
        self.traces, self.constants, self.precisions, self._orders = [], [], [], []
        self._extrapolated, self._is_large, self._are_alike = None, False, None

    # Tracing --------------------------------------------------------------------------------------

    def traced(self, call: Call) -> Any:
        """Trace another path through the function and compile it; return the function's result."""
        surroundings, known = self.surroundings, len(self.traces)
        assert surroundings is not None
        before = {name: copy(value) for name, value in vars(self).items() if name in OF_PROGRAM}
        found, problem = self._attempted(call)
        extrapolation = None if problem else self._extrapolated
        if extrapolation is not None:
            fits = None if is_strict() else self._fits(call, found)
            if fits:
                return call.result[0]
            if fits is not None:
                problem = extrapolation.family.problem_of_numbers()
            elif self._is_large:
                problem = self._problem_in_full(extrapolation, found)
                if not problem and _are_finite(found) and self._is_accepted(call, found, "full"):
                    return call.result[0]
        try:
            wanted = call.run(self.target.function)
        except Exception:
            if len(self.traces) != known:  # the new path is none
                self._restart()
                self.is_new = True
            raise
        if problem == TIED:  # what the function found is known now
            self._restart()
            found, problem = self._attempted(call)
            self._ties += problem == TIED
            if problem == TIED and self._ties <= MOST_TIES:
                self.is_new = True
                return wanted
        leaves, tree = flatten(wanted)
        problem = problem or _defect(self.differing(leaves, tree, found))
        if problem and self._extrapolated is not None:
            self._restart()
            self._extrapolates = False
            found, problem = self._attempted(call)
            problem = problem or _defect(self.differing(leaves, tree, found))
        if problem and surroundings.replaces:
            surroundings.compare_contents()
            self._restart()
            found, problem = self._attempted(call)
            problem = problem or _defect(self.differing(leaves, tree, found))
        surroundings.forget_written()
        changed = "" if problem else surroundings.changed()
        if not problem:
            self._lay_out(leaves, found)
            surroundings.watch_caches()
        self.own_changes = self.own_changes + 1 if changed else 0
        if self.own_changes > 1:
            problem = f"it changes variables that it reads: {changed}. Fix: return the new values"
        self.is_new = False
        is_left_out = self._is_of_branch and known and before["_extrapolated"] is None
        if problem and is_left_out and not call.has_floats:  # floats may be constants instead
            self._leave_out(problem, before)
        elif problem:
            self.give_up(problem)
        return wanted

    def _leave_out(self, problem: str, before: dict[str, Any]) -> None:
        """Keep the program of the branches that were traced before."""
        for name, value in before.items():
            setattr(self, name, value)
        self.untraced.append(problem)
        name = getattr(self.target.function, "__name__", "the function")
        self._waiting.append(f"{name} runs eagerly where it takes a branch: {problem}.")

    def _fits(self, call: Call, found: Sequence[Any]) -> bool | None:
        """Tell if an extrapolated program is right, without a run of the function for this call.

        If it was not compared at full size, its turns have to be alike, or its gradient is compared
        with the function's values. The result is None if that does not tell.
        """
        from gradwrap.compiler.extrapolating.proof import general, in_a_direction

        surroundings, extrapolation, tree = self.surroundings, self._extrapolated, self.tree
        executable = self.executable
        assert surroundings is not None
        assert executable is not None
        assert extrapolation is not None
        assert tree is not None
        if not (_are_finite(found) and self._is_in_order(found)):
            return None
        if not self._is_large:
            proof = "full"
        elif self._has_like_turns(extrapolation):
            proof = "turns"
        else:
            proof, family = "direction", extrapolation.family
            given, there = general(family.subject, executable.call, found)
            if not in_a_direction(family, self.target.function, given, unflatten(tree, there)):
                return None
            if family.problem_of_numbers():
                return False
        return self._is_accepted(call, found, proof) or None

    def _is_accepted(self, call: Call, found: Sequence[Any], proof: str) -> bool:
        """Give the results of a program that is proved; False if a run of the function has to."""
        surroundings, tree = self.surroundings, self.tree
        assert surroundings is not None
        assert tree is not None
        if is_strict() or not self._is_in_order(found):
            return False
        surroundings.forget_written()
        if surroundings.changed():
            return False
        surroundings.watch_caches()
        call.result = (unflatten(tree, found),)
        self.notes[-1] = PROOFS[proof]
        self.is_new = False
        return True

    def _is_in_order(self, found: Sequence[Any]) -> bool:
        """Tell if the program and the function return arrays in C's order."""
        assert self._extrapolated is not None
        return self._extrapolated.family.is_in_order and all(map(_is_in_order, found))

    def _problem_in_full(self, extrapolation: Found, found: Sequence[Any]) -> str:
        """Return how a program differs at full size from the function on changed arguments, or "".

        Results that are not finite tell little there: the call itself then runs the function.
        """
        from gradwrap.compiler.extrapolating.proof import in_full

        assert self.executable is not None
        problem = extrapolation.family.problem_of_numbers()  # it ends within a minute
        if problem or not _are_finite(found):
            return problem
        run = self.executable.call
        return in_full(extrapolation, run, mismatch_beyond_movement, math.inf) or ""

    def _has_like_turns(self, found: Found) -> bool:
        """Tell if all turns of the loops do the same, and the program is right for some more."""
        if self._are_alike is None:
            self._are_alike = self._tells_like_turns(found)
        return self._are_alike

    def _tells_like_turns(self, found: Found) -> bool:
        from gradwrap.compiler.extrapolating.alike import FARTHER, of_all_turns
        from gradwrap.compiler.extrapolating.points import Budget
        from gradwrap.compiler.extrapolating.proof import at_point, at_unseen
        from gradwrap.compiler.extrapolating.sizes import Declined

        own = partial(self.library.engine, plainly=True)
        try:
            with _without_collector():
                compared = at_unseen(own, mismatch, precisions_of)
                program, family = of_all_turns(found, Budget(), compared)
                pairs = zip(family.sizes.short, family.actual, strict=True)
                with_checkpoints(program, self.target.memory * min(n / whole for n, whole in pairs))
                is_chosen = self.engine == self.target.engine
                chosen = self.library.chosen(self.target.engine, self.target.make)
                make = chosen if is_chosen else own
                at_point(family, program, make, mismatch, precisions_of, FARTHER)
        except (Declined, Unsupported):
            return False
        return family.is_in_order

    def recalled(self, call: Call) -> tuple[bool, Any]:
        """Use the program that an earlier process has kept, after one run of the function.

        Returns
        -------
        Whether there is a program that gives the same results, and the function's result.
        """
        from gradwrap.compiler.calls.kept import key_of

        assert self.surroundings is not None
        made_for = f"{self.target.engine}, {self.target.memory}"
        self.kept_as = key_of(self.key, self.surroundings, made_for)
        found = self.kept_as and self._found(self.kept_as)
        if not found:
            return False, None
        found.program.threads = self.target.threads
        with noting_code(self._ran):
            wanted = call.run(self.target.function)
        leaves, self.tree = flatten(wanted)
        chosen = self.library.chosen(self.target.engine, self.target.make)
        given = [np.float64(x) if n in found.floats else x for n, x in enumerate(leaves)]
        executable, _ = made(chosen, found.program, call.inputs, given, found.precisions)
        results = [b.result for b in found.program.blocks() if b.result is not None]
        problem = self.surroundings.watch_code(self._ran)
        if problem or executable is None or any(one.tree != self.tree for one in results):
            self._restart()
            return False, None
        self.program, self.precisions = found.program, found.precisions
        self._waiting += executable.told
        self.executable = self._with_floats(executable, found.floats)
        self._lay_out(leaves, self.executable.call(*call.inputs))
        self.is_new = False
        return True, wanted

    def _found(self, key: str) -> Kept | None:
        from gradwrap.compiler.calls.kept import find

        assert self.surroundings is not None
        try:
            return find(key, self.surroundings, self._waiting)
        except OSError as error:
            self._waiting.append(f"programs of earlier processes cannot be used: {error}. {REMEDY}")
            self.kept_as = None
            return None

    def keep(self) -> None:
        """Keep the program for later processes."""
        if self._ran.files:  # the key knows of none
            return
        if self.kept_as and self.program is not None and self.surroundings is not None:
            from gradwrap.compiler.calls.kept import Kept, store

            kept = Kept(self.program, self.precisions, self.traces[0].floats)
            try:
                store(self.kept_as, kept, self.surroundings)
            except OSError as error:
                self._waiting.append(
                    f"a program cannot be kept for later processes: {error}. {REMEDY}"
                )

    def _with_floats(self, executable: Executable, floats: tuple[int, ...]) -> Executable:
        return executable._replace(call=_changed(executable.call, dict.fromkeys(floats, float)))

    def _lay_out(self, wanted: Sequence[Any], found: Sequence[Any]) -> None:
        """Let the program return arrays in the memory orders of the function's results."""
        assert self.executable is not None
        assert self.program is not None
        in_c_order = self.executable.in_c_order
        orders = [_axes(one) for one in wanted]
        self._other_orders |= {
            place
            for place, (order, one) in enumerate(zip(orders, found, strict=True))
            if _axes(one) not in (order, tuple(range(len(order))) if in_c_order else order)
            and not any(
                shared[place] or any(-1 - place in other for other in shared)
                for shared in self.program.shares
            )
        }
        self._orders.append(orders)
        changes = {
            place: partial(_in_order, axes=self._orders[0][place])
            for place in self._other_orders
            if len({seen[place] for seen in self._orders}) == 1
        }
        self.executable = self.executable._replace(call=_changed(self.executable.call, changes))

    def _attempted(self, call: Call) -> tuple[tuple[Any, ...], str]:
        """Trace and run the program. Return its results, or () and the reason."""
        assert self.surroundings is not None
        restore = self.surroundings.keep_random()
        self._is_of_branch = False
        try:
            self.target.current.is_traced = True
            is_told = self.surroundings.reads_files
            with (
                call.library.current(),
                noting_code(self._ran),
                files.noting() if is_told else nullcontext(),
                _collecting_rarely(),
            ):
                self._extend(call)
            problem = self.surroundings.watch_code(self._ran)
            if problem:
                return (), problem
            if self.surroundings.reads_files and not is_told:
                self._restart()  # the trace was not told which files a package reads
                return self._attempted(call)
            assert self.executable is not None
            return self.executable.call(*call.inputs), ""
        except Tied:
            return (), TIED
        except (Unhandled, Unsupported) as error:
            self._is_of_branch = type(error) is Unhandled
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
        why = ""
        is_long = self._extrapolates and not self.traces and call.library.name == "numpy"
        try:
            one = self._first_trace(call) if is_long else self._trace(call, None, MOST)
        except TooLong as error:
            if not is_long:
                raise
            why = self._extrapolate(call)
            if not why:
                return
            self._extrapolates = False
            try:
                one = self._trace(call, None, MOST)
            except TooLong as whole:
                raise Unhandled(f"{whole}, and its loops cannot be extrapolated: {why}") from error
        other, differing = self._again(call, one)
        one = one._replace(tape=None)
        if differing and other.tape is not None and other.tape.makes_text:
            raise Contradiction(
                "it makes text of a value, and reads the text. Fix: pass the value on"
            )
        if differing:
            raise Contradiction(
                f"two runs on the same arguments differ in {differing}: it depends on random "
                "numbers, on the time, or on what it changes itself. Fix: pass what changes as an "
                "argument"
            )
        if self.tree is not None and self.tree != one.tree:
            raise Unhandled("its result has another structure in another branch")
        if self.tree is not None and self.traces and self.traces[0].floats != one.floats:
            raise Unhandled("its result has other types in another branch")
        self.tree = one.tree
        self.traces.append(one.without_arrays())
        precisions = precisions_of(one)
        self.precisions = [*map(max, precisions, self.precisions or precisions)]
        self.constants.append(self._named(constants_of(one, other), one.readers, call.fixed))
        for index in one.sealed | other.sealed:
            constant = self.constants[-1][index]
            if constant.by_reference and self.surroundings is not None:
                self.surroundings.watch_content(constant.name, constant.array)
                self.kept_as = None  # a later process would not know what to compare
        with _without_collector():
            self.program, executable, self.notes = self._built(call, one.results)
        self.executable = self._with_floats(executable, one.floats)
        if why:
            self.notes.append(f"traced in full, since its loops cannot be extrapolated: {why}")

    def _first_trace(self, call: Call) -> Traced:
        """Trace until the turns of a loop tell that it will take too many operations."""
        from gradwrap.compiler.extrapolating.sizes import Foreseeing

        assert self.surroundings is not None
        if self.surroundings.has_ranges:
            tape = Tape(self.library, most=FIRST)
            # a backward pass has at least as many operations
            is_gradient = differentiated(self.target.function) is not None
            around = Foreseeing(self.surroundings, tape, FIRST, 1 + is_gradient)
            try:
                return self._trace(call, None, FIRST, around, tape)
            except TooLong:
                raise
            except Exception:
                if not around.is_used:
                    raise
        return self._trace(call, None, FIRST)

    def _again(self, call: Call, one: Traced) -> tuple[Traced, str]:
        """Return a second trace and how it differs from the first one.

        Its large arrays have no content, unless it looks into them.
        """
        assert one.tape is not None
        while True:
            try:
                other = self._trace(call, one)
                differing = difference(one, other)
            except Exception:
                if not one.tape.forget_layouts():
                    raise
            else:
                if not (differing and one.tape.forget_layouts()):
                    return other, differing

    def _extrapolate(self, call: Call) -> str:
        """Make the program of long loops from traces of short ones; return why not, or ""."""
        from gradwrap.compiler.extrapolating.points import Subject, extrapolated
        from gradwrap.compiler.extrapolating.proof import affordable, at_unseen, in_full

        assert self.surroundings is not None
        subject = Subject(
            *(self.target.function, self.surroundings, call.leaves, call.treedef, call.given),
            *(self.library, self.names, call.fixed, self.engine),
        )
        own = partial(self.library.engine, plainly=True)
        with _without_collector():
            found, why = extrapolated(subject, at_unseen(own, mismatch, precisions_of))
        if found is None:
            return why
        if is_checking():
            verify(found.program, "extrapolation", call.inputs)
        if counts_turns(found.program) and bytes_of(found.program) > PADDED:
            return f"the stacks of its loops would take more than {PADDED} bytes"
        with_checkpoints(found.program, self.target.memory)
        found.program.threads = self.target.threads
        if is_checking():
            verify(found.program, "checkpoints")
        notes = [found.shown]
        try:
            executable = self.library.chosen(self.target.engine, self.target.make)(found.program)
        except Unsupported as error:
            notes.append(f"engine {self.target.engine!r}: {error}")
            self.engine = self.library.name
            executable = self.library.engine(found.program)
        compared: str | None = None
        if not (found.family.is_much_longer and self._has_like_turns(found)):
            allowed = affordable(time.perf_counter() - self._began)
            compared = in_full(found, executable.call, mismatch_beyond_movement, allowed)
            if compared:
                return compared
            problem = "" if compared is None else found.family.problem_of_numbers()
            if problem:
                return problem
        self._is_large = compared is None
        notes.append(PROOFS["full" if compared is None else "twice"])
        self._extrapolated, self.tree, self.program = found, found.traced.tree, found.program
        self.traces, self.precisions = [found.traced.without_arrays()], found.precisions
        self._waiting += executable.told
        self.notes = notes
        self.executable = self._with_floats(executable, found.traced.floats)
        return ""

    def _trace(
        self,
        call: Call,
        first: Traced | None,
        most: int = MOST,
        around: Foreseeing | None = None,
        tape: Tape | None = None,
    ) -> Traced:
        tape = tape or Tape(call.library, None if first is None else first.tape, most)
        tape.seals = call.library.name == "numpy"
        tape.make_function = function_of
        return trace(
            *(self.target.function, call.leaves, call.treedef, call.given),
            around or self.surroundings,
            call.library,
            *(first, most, tape),
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
        all_code: Surroundings | None = None
        for index, constant in constants.items():
            found[index] = constant
            if constant.by_reference and any(shares(constant.array, one) for one in fixed):
                found[index] = Constant(self.library.copied(constant.array), False, "")
            elif constant.by_reference:
                name = surroundings.name_of(constant.array)
                reader = readers[index]
                if name is None and (reader is None or not surroundings.is_users(reader)):
                    name = ""
                if name is None and self._ran.code:  # its module is watched once its code has run
                    all_code = all_code or surroundings.with_code(self._ran)
                    name = all_code.name_of(constant.array)
                if name is None:
                    raise Unhandled(
                        f"it uses an array of {constant.array.shape} elements that was not made in "
                        "it, and is in no variable that it names. Fix: pass it as an argument"
                    )
                found[index] = constant._replace(name=name)
        return found

    # Building -------------------------------------------------------------------------------------

    def _built(self, call: Call, wanted: Sequence[Any]) -> tuple[Program, Executable, list[str]]:
        """Build the program of all traces, rolled if the results agree, and its executable."""
        target = self.target
        notes: list[str] = []
        own = self.library.engine
        chosen = self.library.chosen(target.engine, target.make)
        sparingly = target.engine in FIND_REPETITION and chosen != own
        is_long = self.engine != "numpy" or len(self.traces[0].instrs) > FIRST
        nests = self.library.name == "numpy" and is_long
        program, is_rolled = self._simplified(
            call.inputs, roll=True, sparingly=sparingly, nests=nests
        )
        executable, problem = self._made(chosen, program, call, wanted)
        if executable is None and (nests or not is_rolled):
            program, _ = self._simplified(call.inputs, roll=True)
            executable, problem = self._made(chosen, program, call, wanted)
        if executable is None and chosen != own:
            if problem not in target.told:
                target.told.add(problem)
                name = getattr(target.function, "__name__", target.function)
                self._waiting.append(
                    f"the engine {target.engine!r} cannot take {name}: {problem}. "
                    f"The {self.library.name} engine is used."
                )
            notes.append(f"engine {target.engine!r}: {problem}")
            self.engine = self.library.name
            executable, problem = self._made(own, program, call, wanted)
        if executable is not None:
            self._waiting += executable.told
            if self._amplifies:
                notes.append(AMPLIFIES)
            return program, executable, notes
        if isinstance(problem, Raised):
            name = getattr(target.function, "__name__", target.function)
            self._waiting.append(
                f"the {self.library.name} engine's program of {name} raised {problem}. Calls of "
                "the library's own functions, one for each operation, are used."
            )
        program, _ = self._simplified(call.inputs, roll=False)
        notes.append(f"loops were not rolled: that gave {problem}")
        return program, own(program, plainly=True), notes

    def _made(
        self,
        engine: Callable[[Program], Executable],
        program: Program,
        call: Call,
        wanted: Sequence[Any],
    ) -> tuple[Executable | None, str]:
        """Compile a program, and compare it with the function as precisely as that is."""

        def movements() -> list[float]:
            return precisions_by_movement(self.target.function, call, wanted)

        known = [*self.precisions]
        asked = movements if self.library.name == "numpy" else None
        executable, problem = made(engine, program, call.inputs, wanted, self.precisions, asked)
        self._amplifies |= executable is not None and self.precisions != known
        return executable, problem

    def _simplified(
        self,
        given: Sequence[Any],
        *,
        roll: bool,
        sparingly: bool = False,
        nests: bool = False,
    ) -> tuple[Program, bool]:
        """Merge all traces and run the passes; `sparingly` drops loops that hold little."""
        program = program_of(self.traces, self.constants, self.names)
        inputs = given if self.library.name == "numpy" else None
        made, is_rolled = prepared(
            program, roll=roll, sparingly=sparingly, arguments=inputs, nests=nests
        )
        if inputs is not None:
            verified = parts_of(made) if is_checking() else []
            with_checkpoints(made, self.target.memory)
            if is_checking() and parts_of(made) != verified:
                verify(made, "checkpoints", inputs)
        made.threads = self.target.threads
        return made, is_rolled


@contextmanager
def _collecting_rarely() -> Generator[None]:
    """Let the garbage collector wait for more objects: a trace makes many that stay."""
    first, *others = gc.get_threshold()
    gc.set_threshold(max(first, RARELY) if first else 0, *others)
    try:
        yield
    finally:
        gc.set_threshold(first, *others)


@contextmanager
def _without_collector() -> Generator[None]:
    """Keep the garbage collector from searching traces, which grow by many objects at a time."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def _changed(
    call: Callable[..., Any], changes: Mapping[int, Callable[[Any], Any]]
) -> Callable[..., Any]:
    """Return a call that changes some of its results, by their places."""
    if not changes:
        return call

    def changed(*inputs: Any) -> tuple[Any, ...]:
        found = [*call(*inputs)]
        for place, change in changes.items():
            found[place] = change(found[place])
        return tuple(found)

    return changed


def _is_in_order(array: Any) -> bool:
    return not isinstance(array, NDARRAY) or bool(array.flags.c_contiguous)


def _is_numeric(one: Any) -> bool:
    return isinstance(one, (NDARRAY, NUMBER)) and one.dtype.kind in "fciub"


def _are_finite(results: Sequence[Any]) -> bool:
    return all(np.all(np.isfinite(one)) for one in results if _is_numeric(one))


def _axes(array: Any) -> tuple[int, ...]:
    """Return the axes of an array by their strides, the largest first."""
    if not isinstance(array, NDARRAY) or array.size < 2:
        return ()
    strides = array.strides
    return tuple(sorted(range(array.ndim), key=lambda axis: (-abs(strides[axis]), axis)))


def _in_order(array: Any, axes: tuple[int, ...]) -> Any:
    """Return an array with these axes, the largest stride first."""
    return np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes))


def _defect(problem: str) -> str:
    return problem and f"its program gives {problem}. This is a defect of gradwrap"


def warn(text: str) -> None:
    """Warn the caller of a compiled function."""
    level = 2
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame.f_back and str(frame.f_globals.get("__name__", "")).startswith("gradwrap."):
        frame, level = frame.f_back, level + 1
    warnings.warn(f"gradwrap.compile: {text}", CompileWarning, stacklevel=level)
