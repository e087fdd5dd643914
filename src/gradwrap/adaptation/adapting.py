"""`adapting(f)`: run a function, and adapt the modules of its code on the way."""

from __future__ import annotations

import copy
import functools
import sys
from contextlib import contextmanager, suppress
from importlib.machinery import EXTENSION_SUFFIXES
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

from gradwrap.adaptation.exact_numbers import as_floats
from gradwrap.adaptation.found_numbers import Finding, Moving, Shifting, as_point, shifting
from gradwrap.adaptation.kept import check_caches, forget_arguments, remove_tracked_keys
from gradwrap.adaptation.last_calls import kept_objects
from gradwrap.adaptation.later import exchanged, number_made
from gradwrap.adaptation.modules import (
    Group,
    can_adapt,
    grouped,
    hold,
    hold_more,
    is_being_made,
    module_of,
    now,
    release,
    rewrite,
    with_package,
)
from gradwrap.adaptation.noting import note, other_profiler, profiled
from gradwrap.adaptation.places import Given, with_shifts
from gradwrap.adaptation.rewriting import CALLS, STORED, Rewritten
from gradwrap.adaptation.rounded_keys import Looked, restore
from gradwrap.adaptation.rounded_keys import caches as looked_in
from gradwrap.adaptation.search_loops import loops_of, only
from gradwrap.adaptation.searching import (
    FAR,
    LONGER,
    STEP,
    have_other_slopes,
    lacks_a_part,
    without_derivative,
)
from gradwrap.adaptation.stand_ins import compiled_as, look_again, stand_in_of
from gradwrap.adaptation.sympy import symbols
from gradwrap.core.array.adapted import (
    adapted_caller,
    followed,
    made_text,
    plain_made,
    rounded_at,
    stands_for_python,
)
from gradwrap.core.array.adapted import rounding as rounding_as
from gradwrap.core.array.keys import Cache, caches
from gradwrap.core.array.python_floats import PythonFloat, array_of, python_float
from gradwrap.core.array.steered import Found, Searches, check_steered, found_at, is_checked
from gradwrap.core.array.texts import Texts, texts
from gradwrap.core.array.wrapping import wrap
from gradwrap.core.graph.untaken import ran_adapted
from gradwrap.core.levels.levels import differentiating, is_differentiating
from gradwrap.core.levels.modes import code_that_runs, is_traced, untraced
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    has_changed,
    holds_batch,
    is_derived,
    is_recorded,
    native,
    snapshot,
)
from gradwrap.core.library.backend import backend_of, is_floating
from gradwrap.core.library.labelled import are_kept
from gradwrap.core.observing.called import called_at
from gradwrap.core.observing.callers import Refusal, latest_refusal, noted
from gradwrap.core.observing.comparing import asker, looker
from gradwrap.core.observing.results import check_caught
from gradwrap.core.observing.tracebacks import forget
from gradwrap.core.values.dynamic import attribute_or_none, attributes_of, named_by, type_of
from gradwrap.core.values.tree import flatten, is_lone, map_leaves, unflatten
from gradwrap.errors import (
    AdaptationError,
    BatchedValueError,
    CompileError,
    GradwrapError,
    NoRuleError,
    RuleResultError,
    TrackedValueError,
)
from gradwrap.transforms.derived import derived
from gradwrap.transforms.numerical import numerical

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from collections.abc import Set as AbstractSet
    from contextvars import ContextVar
    from types import CodeType, FrameType

    from gradwrap.adaptation.places import Namespace
    from gradwrap.adaptation.search_loops import Loops

Compiled = Literal["refused", "numerical"]
Rounding = Literal["refused", "zero", "through"]
P = ParamSpec("P")
R = TypeVar("R")

NUMBERS = (bool, int, float, str)
"""The classes of globals and arguments on which a search may depend, as on its tolerance."""
ROUNDS = 60
"""So many times a function is run at most."""
AGAIN = 2
"""So many times it is run again for new code of no module, which it may make in each run."""


@overload
def adapting(
    fun: Callable[P, R], *, compiled: Compiled = ..., rounding: Rounding = ...
) -> Callable[P, R]: ...
@overload
def adapting(
    *, compiled: Compiled = ..., rounding: Rounding = ...
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def adapting(
    fun: Any = None, *, compiled: Compiled = "refused", rounding: Rounding = "refused"
) -> Any:
    """Return a function that may call packages which you cannot edit.

    While it runs on tracked values, the modules of `fun` and of the packages that it calls are
    adapted, as by `gradwrap.adapted`. They are found when their code is entered, or, if the run
    fails, from the traceback; then `fun` runs again. For plain values it is `fun`.

    Parameters
    ----------
    fun
        A function of arrays, or pytrees of arrays. It should not have side effects: it may run
        more than once.
    compiled
        What is done where a function of a compiled module (Cython, C) gets a tracked value. By
        default, an error says so. "numerical": `gradwrap.numerical` differentiates that function
        by differences, with the error that it states, and to first order only. If another error
        shows that the code cannot take tracked values (a class is compiled, say), all of `fun` is
        differentiated so.
    rounding
        The derivative of numbers that the code rounds to decimals (`round`, `np.round`). It is
        zero, as rounding is a step. By default, an output that depends on tracked arguments
        through such numbers, as a whole or in part, is an error, unless differences with steps of
        1e-3 confirm the derivative of `x`. "zero": rounded numbers are constants.
        "through": the derivative is that of `x`, for code that rounds its results to read them.

    Raises
    ------
    AdaptationError
        No output depends on a tracked argument; the message names the modules that ran. Or the code
        raised an error on tracked values; that error is the cause.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> @gw.adapting
    ... def running_product(x):
    ...     out = np.zeros(3)
    ...     out[0] = x[0]
    ...     for i in range(1, 3):
    ...         out[i] = out[i - 1] * x[i]
    ...     return np.sum(out)
    >>> gw.grad(running_product)(np.array([1.0, 2.0, 3.0]))
    array([9., 4., 2.])
    """
    if fun is None:
        return functools.partial(adapting, compiled=compiled, rounding=rounding)
    if compiled not in ("refused", "numerical"):
        raise ValueError(f'compiled={compiled!r} is not known. Fix: "refused" or "numerical".')
    if rounding not in ("refused", "zero", "through"):
        raise ValueError(
            f'rounding={rounding!r} is not known. Fix: "refused", "zero" or "through".'
        )
    runs = _Runs(fun, compiled, rounding)

    @derived(fun, adapting, compiled=compiled, rounding=rounding)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        if not is_differentiating() and not (is_recorded(args) or is_recorded(kwargs)):
            return fun(*args, **kwargs)
        ran_adapted.set(True)
        out = runs(args, kwargs)
        return out if adapted_caller() is not None else _for_other_code(out)

    return adapted


def _as_float(leaf: Any) -> Any:
    """Return a float of Python for an argument that was one; other leaves unchanged."""
    return python_float(leaf) if stands_for_python(leaf) else leaf


def _for_other_code(out: Any) -> Any:
    """Return an output with arrays of no axes in place of floats of Python."""
    if is_lone(out):
        return array_of(out)
    leaves, treedef = flatten(out)
    if not any(isinstance(leaf, PythonFloat) for leaf in leaves):
        return out
    return unflatten(treedef, list(map(array_of, leaves)))


class _Runs:
    """The runs of one function, and the namespaces that they found."""

    def __init__(self, fun: Callable[..., Any], compiled: Compiled, rounding: Rounding) -> None:
        self.compiled: Compiled = compiled
        self.rounding: Rounding = rounding
        self.fun = fun
        self.name: str = getattr(fun, "__name__", type(fun).__name__)
        self.call: Callable[..., Any] = stand_in_of(fun) or fun
        self.own: list[Namespace] = [*_generated(fun), Given(fun)]
        self.found: list[Namespace] = []
        self.group: Group | None = None
        self.ran: dict[str, None] = {}
        self.rewritten: list[tuple[Namespace, Rewritten]] = []
        """The namespaces whose stores or calls are to be rewritten."""
        self.watch = True
        self.by_differences = False
        self.corrected: set[str] = set()
        """The places of searches whose results have whole derivatives."""
        self.read: dict[tuple[int, str], dict[str, Any]] = {}
        """By its dictionary and name: each global number that code reads where searches are."""
        self.numbers: list[Any] = []
        """These numbers and those among the arguments, when the places were found right."""
        self.changes: int = 0
        self.loops: Loops = {}
        """The loops of searches whose results get their derivatives by the implicit function
        theorem."""
        self.moved: frozenset[str] = frozenset()
        """The keys of those that have found their numbers so far."""
        self.shifted: list[tuple[FunctionType, CodeType]] = []
        """Their functions, with new code."""
        self.followed: frozenset[str] = frozenset()
        """The lines where rounded numbers have derivatives, which differences have confirmed."""
        self.searched: list[Found] = []
        """Where these numbers were found."""

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.by_differences:
            return numerical(self.fun)(*args, **kwargs)
        if is_traced():
            self._prepare_for_trace(args, kwargs)
        are_leaves = not kwargs and all(map(is_lone, args))
        leaves = [*args] if are_leaves else flatten([args, kwargs])[0]
        if any(map(stands_for_python, leaves)):
            args, kwargs = map_leaves(_as_float, (args, kwargs))
            leaves = flatten([args, kwargs])[0]
        try:
            moving = self._moving(leaves, args, kwargs) if self.loops else None
            out, steered, searches = self._adapted(leaves, args, kwargs, moving)
        except GradwrapError:
            raise
        except Exception as error:  # noqa: BLE001  of other code
            return self._after(error, args, kwargs)
        if not is_derived(leaves):
            return out
        self._check_moving(moving, searches, args, kwargs)
        found = found_at.get()
        if found is None or found is steered or str(found) in self.corrected:
            found = next(iter(searches.made), found)
        if found is not None and found is not steered and not is_checked.get():
            out = self._searched(found, searches, out, leaves, args, kwargs)
            if str(found) in self.corrected:  # the derivative is whole, whatever was found
                self.corrected |= searches.places.union(map(str, searches.made))
                self._note_numbers([found, *searches.found.values()], leaves)
                found_at.set(steered)
            return out
        return self._check(out, searches, leaves, args, kwargs)

    def _note_numbers(self, places: Iterable[Found], leaves: list[Any]) -> None:
        """Note the numbers that code reads where searches are right, such as their tolerances."""
        for code, namespace, _ in (one for found in places for one in found.stack):
            for name in code.co_names:
                if type(namespace.get(name)) in NUMBERS:
                    self.read[id(namespace), name] = namespace
        self.numbers = self._numbers(leaves)

    def _numbers(self, leaves: list[Any]) -> list[Any]:
        given = [leaf for leaf in leaves if type(leaf) in NUMBERS]
        return [*given, *(names.get(name) for (_, name), names in self.read.items())]

    def _forget_if_changed(self, leaves: list[Any]) -> None:
        """Let all places be compared again if a number has changed that their code reads.

        That is so at the first change, the second, the fourth, and so on.
        """
        if not self.corrected or is_checked.get():
            return
        now = self._numbers(leaves)
        if now == self.numbers:
            return
        self.numbers, self.changes = now, self.changes + 1
        if not self.changes & (self.changes - 1):
            self.corrected.clear()

    def _prepare_for_trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Take the copy that a trace has made of the function, and find its modules by a run."""
        before = self.own[-1]
        if before["function"] is not self.fun:
            self.group, self.own = None, [*_generated(self.fun), Given(self.fun)]
            self.rewritten = [
                (self.own[-1] if one is before else one, what) for one, what in self.rewritten
            ]
        if self.watch:
            self._find_untraced(args, kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function on arguments as a caller gives them."""
        return self(args, kwargs)

    def _moving(self, leaves: list[Any], args: Any, kwargs: Any) -> Moving:
        """Find how the numbers move that searches find, in a run of its own."""
        if is_traced():
            raise CompileError(
                f"{self.name} finds numbers by comparisons, as in a bisection, and their "
                "derivatives take a run of their own"
            )
        tree = flatten([args, kwargs])[1]
        tracked = [n for n, leaf in enumerate(leaves) if is_recorded(leaf)]
        given = [*leaves]
        for n in tracked:
            given[n] = as_point(leaves[n])
        finding = Finding([array_of(given[n]) for n in tracked])
        arguments, named = unflatten(tree, given)
        finding.run(lambda: self._adapted(given, arguments, named, finding))
        moving = Moving(finding, [leaves[n] for n in tracked], self.name)
        self.moved |= moving.keys
        return moving

    def _adapted(
        self, leaves: list[Any], args: Any, kwargs: Any, run: Shifting | None = None
    ) -> tuple[Any, Found | None, Searches]:
        """Run the function with its modules adapted; return what search was known before, too."""
        group = self.group
        held = group.hold() if group else hold([*self.own, *self.found])
        watched, rewritten = self.watch, [*self.rewritten]
        filled: list[Cache] = []
        looked: dict[int, Looked] = {}
        objects: list[Any] = []
        searches = Searches(self.corrected)
        settings: list[tuple[ContextVar[Any], Any]] = [
            *((compiled_as, self.compiled), (rounding_as, self.rounding), (is_checked, True)),
            (looker, run.look if isinstance(run, Finding) else searches.look),
            (asker, searches.note_made),
            (shifting, run),
            *((caches, filled), (looked_in, looked), (kept_objects, objects)),
            *((rounded_at, searches.rounded), (followed, self.followed)),
            *((texts, Texts()), (plain_made, [0, 0, 0]), (are_kept, True), (symbols, {})),
        ]
        changed = ((one, value) for one, value in settings if one.get() is not value)
        outside = [(variable, variable.set(value)) for variable, value in changed]
        try:
            for namespace, what in self.rewritten:
                rewrite(namespace, what)
            before, steered = noted.get(), found_at.get()
            made_text.set(None)
            with differentiating(), self._with_shifts(run, held):
                out = as_floats(self._until_adapted(held, leaves, args, kwargs))
            _check_kept(searches, looked, filled)
        except BaseException:
            # a call that fails does not slow down the next
            self.watch, self.rewritten = watched, rewritten
            raise
        finally:
            for variable, token in outside:
                variable.reset(token)
            forget_arguments(objects)
            remove_tracked_keys(filled)
            restore(looked)
            (group.release if group else release)(held)
            if not group or group.is_outdated or len(held) > len(self.own) + len(self.found):
                self.found = [one for one in held if module_of(one) is not None]
                is_kept = len(self.own) == 1 and not self.watch  # generated code may change
                self.group = grouped([*self.own, *self.found]) if is_kept else None
        caught = noted.get()
        if caught is not before and is_derived(leaves):
            try:
                check_caught(before, flatten(out)[0], self.fun, args, kwargs)
            except GradwrapError:
                if self.compiled != "numerical" or is_traced():
                    raise
                self.by_differences = True
                return numerical(self.fun)(*args, **kwargs), steered, searches
            if caught is not None and caught.error in (NoRuleError, RuleResultError):
                self._check_derivative(caught, args, kwargs)
        return out, steered, searches

    @contextmanager
    def _with_shifts(self, run: Shifting | None, namespaces: list[Namespace]) -> Generator[None]:
        """Exchange the code of the functions that search, in a run that adds to their states."""
        if run is None:
            yield
            return
        if not self.shifted:
            stores = any(what == STORED for _, what in self.rewritten)
            calls = any(what == CALLS for _, what in self.rewritten)
            what: Rewritten = CALLS if calls else STORED if stores else 0
            self.shifted = with_shifts(namespaces, self.loops, what)
        with exchanged(self.shifted):
            yield
            run.check()

    def _after(self, error: Exception, args: Any, kwargs: Any) -> Any:
        """Raise an error that plain values raise, too, unless they do so in adapted code alone."""
        if is_traced() or self._fails_alike(error, args, kwargs):
            raise error
        if self.compiled != "numerical":
            raise _of_tracked_values(error) from error
        self.by_differences = True
        return numerical(self.fun)(*args, **kwargs)

    def _check_derivative(self, caught: Refusal, args: Any, kwargs: Any) -> None:
        """Compare the derivative with differences where code has caught that a result has none.

        What it returns then may have the right value, and a constant in place of the result.
        """
        if is_traced() or is_checked.get():
            return
        checking = is_checked.set(True)
        try:
            lacks = lacks_a_part(self.run, self.fun, args, kwargs)
        finally:
            is_checked.reset(checking)
        if lacks:
            raise caught.error(
                f"{caught.message} The code has caught this error, and its result has another "
                "derivative than its values: a part of the gradient would be missing."
            )

    def _searched(  # noqa: PLR0913  what was found, and the call
        self,
        found: Found,
        searches: Searches,
        out: Any,
        leaves: list[Any],
        args: Any,
        kwargs: Any,
    ) -> Any:
        """Return the output of a run that has found a number by comparisons, or refuse it."""
        is_known = str(found) in self.corrected and found.made != "bytes"
        if is_known or (is_recorded(out) and is_traced()):
            return self._check(out, searches, leaves, args, kwargs)  # compared untraced, too
        lacks = self._lacks_a_part(found, args, kwargs)
        if lacks and not found.is_sure and self._lacks_a_part(found, args, kwargs) is False:
            # it has returned what it kept from a call with equal arguments, and that is gone now
            out, lacks = self._adapted(leaves, args, kwargs)[0], False
        elif not lacks and is_recorded(out):
            self._note_whole(found, is_known=lacks is not None)
        if is_recorded(out) and not lacks:
            return self._check(out, searches, leaves, args, kwargs)
        if lacks and self._follow_rounded(searches, _floats_of(out), args, kwargs):
            return self._adapted(leaves, args, kwargs)[0]
        if (lacks or found.is_sure) and self._move(found, searches, args, kwargs):
            return self._adapted(leaves, args, kwargs, self._moving(leaves, args, kwargs))[0]
        if self.compiled == "numerical" and not is_traced():
            self.by_differences = True
            return numerical(self.fun)(*args, **kwargs)
        if not found.is_sure and not lacks:
            return self._check(out, searches, leaves, args, kwargs)
        check_steered(flatten(out)[0])
        raise without_derivative(self.name, found)

    def _note_whole(self, found: Found, *, is_known: bool) -> None:
        """Note that a derivative is whole where a number was found; warn if that is not known."""
        if is_known:
            self.corrected.add(str(found))
        elif found.is_sure:
            found.warn()

    def _check_moving(
        self, moving: Moving | None, searches: Searches, args: Any, kwargs: Any
    ) -> None:
        """Compare the derivative with differences where a search has not found its number."""
        if moving is None or is_checked.get():
            return
        is_other = not moving.has_begun and any(one.is_sure for one in searches.found.values())
        if moving.are_found and not is_other:
            return
        if self._lacks_a_part(self.searched[-1], args, kwargs) is not False:
            raise without_derivative(self.name, self.searched[-1])

    def _move(self, found: Found, searches: Searches, args: Any, kwargs: Any) -> bool:
        """Let the numbers that were found have derivatives; tell if that of the result is whole."""
        if is_traced() or holds_batch([args, kwargs]):
            return False
        every = {**searches.found, str(found): found}.values()
        sure = [one for one in every if one.is_sure] or [found]
        before = self.loops, self.shifted
        for are_all in (False, True):
            loops = {**before[0], **loops_of(sure, are_all=are_all)}
            if loops == self.loops:
                continue
            if self._are_right(loops, found, args, kwargs):
                needed = only(loops, self.moved)
                if needed != loops and not self._are_right(needed, found, args, kwargs):
                    self.loops, self.shifted = loops, []
                self.searched.append(found)
                self.corrected.add(str(found))
                return True
        self.loops, self.shifted = before
        return False

    def _are_right(self, loops: Loops, found: Found, args: Any, kwargs: Any) -> bool:
        """Tell if the derivative is whole when the searches of these loops move."""
        self.loops, self.shifted = loops, []
        return self._lacks_a_part(found, args, kwargs) is False

    def _lacks_a_part(self, found: Found, args: Any, kwargs: Any) -> bool | None:
        checking = is_checked.set(True)
        is_rough = bool(self.loops)
        compare = functools.partial(lacks_a_part, self.run, self.fun, args, kwargs)
        try:
            if not (found.is_sure or is_rough):
                return compare(steps=(), strictly_at=(STEP, FAR))
            lacks = compare(is_rough=is_rough)
            # a search that ends early gives steps, too small for the code to mean them
            return lacks if lacks is not False else bool(compare(steps=(), strictly_at=LONGER))
        finally:
            is_checked.reset(checking)

    def _find_untraced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Run the function outside of a trace: its failed runs are no part of the program."""
        with untraced(), suppress(Exception):
            given, named = map_leaves(_concrete, (args, kwargs))
            self(given, named)

    def _until_adapted(
        self,
        held: list[Namespace],
        leaves: list[Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run the function until it succeeds, or no new namespace is found."""
        first: Exception | None = None
        refusal: GradwrapError | None = None
        again = 0
        self._forget_if_changed(leaves)
        given = [leaf for leaf in leaves if isinstance(leaf, AnyWrapper)]
        as_given = list(map(snapshot, given))
        if self.watch:
            look_again()
            values = [*_mentioned(self.fun), *args, *kwargs.values()]
            self._adapt(held, _namespaces_of_values(values))
        for _ in range(ROUNDS):
            count, made, caught, started = len(held), number_made(), noted.get(), now()
            try:
                if not self.watch and code_that_runs.get() is None:
                    return self.call(*args, **kwargs)
                out = self._watched(held, args, kwargs)
            except Exception as error:  # noqa: BLE001  raised again below
                is_better = (type(first), type(error)) == (TrackedValueError, NoRuleError)
                if first is None or is_better or "namespace" in vars(first):  # adapted since
                    first, refusal = error, latest_refusal(error)  # the latter names the function
                noted.set(None)
                _undo(given, as_given)
                self._adapt(held, _namespaces_of(error))
                is_known = len(held) == count and self.watch and number_made() == made
                again = 0 if _are_modules(held[count:]) or number_made() != made else again + 1
                if (is_known or again > AGAIN) and not self._rewrites(error, started):
                    break
                forget(first)  # its frames refer to arrays, which a store is to exchange
                self.watch = True
            else:
                again = 0 if _are_modules(held[count:]) else again + 1
                if noted.get() is not caught and len(held) > count and again <= AGAIN:
                    # it has caught an error of code that was adapted meanwhile, which may not recur
                    noted.set(caught)
                    _undo(given, as_given)
                    continue
                self.watch = False
                return out
        assert first is not None
        is_lost = is_traced() or made_text.get() is not None  # a number in text may lack digits
        if self.compiled == "numerical" and not (is_lost or self._fails_alike(first, args, kwargs)):
            self.by_differences = True
            return numerical(self.fun)(*args, **kwargs)
        raise self._explained(first, refusal, args, kwargs)

    def _rewrites(self, error: Exception, started: int) -> bool:
        """Rewrite modules of a traceback: stores, or then calls if compiled code has failed."""
        namespaces = [*_namespaces_of(error), self.own[-1]]
        if self._are_rewritten(namespaces, STORED, started):
            return True
        may_help = isinstance(error, TrackedValueError) or not isinstance(error, GradwrapError)
        return may_help and self._are_rewritten(namespaces, CALLS, started)

    def _are_rewritten(self, namespaces: list[Namespace], what: Rewritten, started: int) -> bool:
        found = [one for one in namespaces if rewrite(one, what, started)]
        for one in found:
            if one is self.own[-1] or module_of(one) is not None:
                self.rewritten.append((one, what))
        return bool(found)

    def _watched(self, held: list[Namespace], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function, and adapt each module before its code first runs.

        Functions that a module calls while it is imported get no tracked values, and stay as they
        are. A trace is told what code runs.
        """
        seen: set[int] = set()
        being_made = 0
        ran = code_that_runs.get()

        def enter(frame: FrameType, event: str, _: Any) -> None:
            nonlocal being_made
            if event != "call" and not (event == "return" and being_made):
                return
            namespace = frame.f_globals
            if frame.f_code.co_name == "<module>":
                if is_being_made(namespace):
                    being_made += (event == "call") - (event == "return")
                return
            if event != "call" or being_made:
                return
            if self.watch and id(namespace) not in seen:
                seen.add(id(namespace))
                self._adapt(held, [namespace])
            if ran is not None:
                note(ran, frame)

        if other_profiler(is_traced=ran is not None) is not None:  # the traceback is what is left
            return self.call(*args, **kwargs)
        with profiled(enter):
            return self.call(*args, **kwargs)

    def _adapt(self, held: list[Namespace], namespaces: list[Namespace]) -> None:
        for namespace in namespaces:
            if not can_adapt(namespace):
                continue
            self.ran[str(namespace.get("__name__", "generated code"))] = None
            known = set(map(id, held))
            hold_more(held, (one for one in with_package(namespace) if id(one) not in known))

    def _check(
        self, out: Any, searches: Searches, leaves: list[Any], args: Any, kwargs: Any
    ) -> Any:
        """Return the output of a run; refuse it if nothing of it depends on a tracked argument."""
        if isinstance(out, AnyWrapper) and is_recorded(out) and not searches.rounded:
            return out
        parts = _floats_of(out)
        if self._follow_rounded(searches, parts, args, kwargs):
            return self._adapted(leaves, args, kwargs)[0]
        if not parts or is_recorded(parts):
            return out
        text = made_text.get()
        cause = (
            ""
            if text is None
            else f"Text was made of a tracked value in {text[0]}, line {text[1]}: what is read "
            "back from it has no gradient. "
        )
        if searches.rounded:
            raise AdaptationError(
                f"no output of {self.name} depends on a tracked argument, so a derivative would be "
                f"zero. round(x, decimals) was called in {', '.join(searches.rounded)}, and its "
                'derivative is zero. Fix: gradwrap.adapting(f, rounding="through") takes the '
                "derivative of x."
            )
        raise AdaptationError(
            f"{cause}no output of {self.name} depends on a tracked argument, so a derivative would "
            f"be zero. These modules ran: {', '.join(self.ran)}. Fix: look there for a whole "
            "number (int, round, //), which has the derivative zero, or for a branch that takes a "
            "tracked value for something else (isinstance, try and except), clear a result that "
            "the package keeps of an earlier call, or leave gradwrap.adapting out if the output is "
            "meant to be constant."
        )

    def _follow_rounded(self, searches: Searches, parts: list[Any], args: Any, kwargs: Any) -> bool:
        """Tell if numbers that were rounded get derivatives; refuse what would lack a part of it.

        They get those that they had before, if differences of the values confirm that: the steps of
        rounding are too small to be seen. What has no derivative without them is refused; so is
        what has another one.
        """
        places = searches.rounded.keys() - self.corrected
        if self.rounding != "refused" or not places:
            return False
        are_recorded = bool(parts) and all(
            is_recorded(one) for one in parts if isinstance(one, AnyWrapper)
        )
        is_alone = is_traced() or is_checked.get()
        if is_alone and (are_recorded or not is_recorded(parts)):
            return False
        if not is_alone:
            match self._with_rounded(places, args, kwargs, are_recorded):
                case "same":
                    self.corrected |= places
                    return False
                case "confirmed":
                    self.followed |= places
                    return True
                case _:
                    pass
        if not is_recorded(parts):
            return False
        what = "would lack a part of its gradient"
        what = what if are_recorded else "depends on no tracked argument"
        raise AdaptationError(
            f"an output of {self.name} {what}, and numbers were rounded to decimals in "
            f"{', '.join(sorted(places))}: the derivative of a rounded number is zero. Fix: "
            'gradwrap.adapting(f, rounding="through") takes the derivative of x in round(x, '
            'decimals), rounding="zero" lets the output be constant.'
        )

    def _with_rounded(
        self, places: AbstractSet[str], args: Any, kwargs: Any, are_recorded: bool
    ) -> str:
        """Tell if rounded numbers with derivatives leave that of the outputs the "same".

        Or "confirmed" if it is the one of the values then; else "".
        """

        def follow(*args: Any, **kwargs: Any) -> Any:
            before, self.followed = self.followed, self.followed | places
            try:
                return self(args, kwargs)
            finally:
                self.followed = before

        checking = is_checked.set(True)
        try:
            if are_recorded and not have_other_slopes(self.run, follow, args, kwargs):
                return "same"
            lacks = lacks_a_part(follow, self.fun, args, kwargs, steps=(FAR,))
        finally:
            is_checked.reset(checking)
        return "confirmed" if lacks is False else ""

    def _explained(
        self, error: Exception, refusal: GradwrapError | None, args: Any, kwargs: Any
    ) -> Exception:
        """Return the error to raise: the first, or gradwrap's if the values were not the cause.

        `refusal` is the gradwrap error that C code replaced by the first error.
        """
        ours: Exception
        if isinstance(error, GradwrapError):
            ours = error
        elif refusal is not None:
            ours = refusal
            ours.__cause__ = error
        elif is_traced() or self._fails_alike(error, args, kwargs):
            return error
        elif (text := made_text.get()) is not None:
            ours = AdaptationError(
                f"text was made of a tracked value in {text[0]}, line {text[1]}: what is read back "
                f"from it has no gradient. Then {type(error).__name__} was raised: "
                f"{str(error).rstrip('.')}. Fix: make the function that does both one operation "
                "with f = gradwrap.primitive(f), and give it its derivative with "
                "gradwrap.defvjp(f, ...), or take it by differences with gradwrap.numerical(f)."
            )
            ours.__cause__ = error
        else:
            ours = _of_tracked_values(error)
            ours.__cause__ = error
        if self.ran:
            ours.add_note(f"gradwrap.adapting has adapted {', '.join(self.ran)}.")
        return ours

    def _fails_alike(self, error: Exception, args: Any, kwargs: Any) -> bool:
        """Tell if the function raises the same error on plain values of its arguments."""
        try:
            with differentiating(False):
                self.fun(*map_leaves(_plain, args), **map_leaves(_plain, kwargs))
        except BatchedValueError:
            return False
        except Exception as other:  # noqa: BLE001  compared
            return type(other) is type(error) and str(other) == str(error)
        return False


def _of_tracked_values(error: Exception) -> AdaptationError:
    """Return the error for one that code has raised because it was given tracked values."""
    return AdaptationError(
        f"{type(error).__name__}: {str(error).rstrip('.')}. This was raised {_place_of(error)}, by "
        'code that was given tracked values. Fix: gradwrap.adapting(f, compiled="numerical") takes '
        "the derivative by differences; or make the function that does it one operation with "
        "f = gradwrap.primitive(f), and give it its derivative with gradwrap.defvjp(f, ...)."
    )


def _floats_of(out: Any) -> list[Any]:
    """Return the numbers and arrays of an output that may have derivatives."""
    return [one for one in flatten(out)[0] if is_floating(one) or type(one) in (float, complex)]


def _check_kept(searches: Searches, looked: dict[int, Looked], filled: list[Cache]) -> None:
    """Check the caches of a run; plain calls find there what the run has computed again."""
    if looked or filled:
        searches.forget_made()
    if not is_traced():
        check_caches(filled)


def _are_modules(namespaces: list[Namespace]) -> bool:
    """Tell if a module owns one of some namespaces."""
    return any(module_of(one) is not None for one in namespaces)


def _generated(function: Any) -> list[Namespace]:
    """Return the globals of a function if no module owns them."""
    namespace = attribute_or_none(function, "__globals__")
    return [] if namespace is None or module_of(namespace) is not None else [namespace]


def _undo(given: list[Any], as_given: list[Any]) -> None:
    """Undo the writes of a run to its arguments, and to caches that it looked into."""
    restore(looked_in.get() or {})
    for value, before in zip(given, as_given, strict=True):
        if has_changed(value, before):
            if value.shape != before.shape:
                value.shape = before.shape
            value[...] = before


def _concrete(leaf: Any) -> Any:
    """Return a leaf of the tape with a copy of the data that a tracer stands for."""
    if not isinstance(leaf, AnyWrapper):
        return leaf
    data = native(leaf)
    return wrap(copy.copy(backend_of(data).concrete(data)), requires_grad=is_floating(leaf))


def _plain(leaf: Any) -> Any:
    """Return a copy of the plain value of an argument."""
    return copy.copy(native(leaf)) if isinstance(leaf, AnyWrapper) else copy.copy(leaf)


def _namespaces_of(error: BaseException | None) -> list[Namespace]:
    """Return the globals of all code in the tracebacks of an error and its causes.

    The modules whose functions the code was calling are among them.
    """
    found: dict[int, Namespace] = {}
    seen: set[int] = set()  # errors may be the causes of each other
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        named = attributes_of(error).get("namespace")  # of a class whose code is not adapted
        if named is not None:
            found[id(named)] = named
        traceback = error.__traceback__
        while traceback is not None:
            namespace = traceback.tb_frame.f_globals
            found.setdefault(id(namespace), namespace)
            call = (
                called_at(traceback.tb_frame, traceback.tb_lasti) if can_adapt(namespace) else None
            )
            whole: Any = None if call is None else call.whole
            if type_of(whole) is ModuleType:  # its code may be compiled
                names = attributes_of(whole)
                found.setdefault(id(names), names)
            elif call is not None and type_of(call.function) is not FunctionType:
                for names in _namespaces_of_values([call.function]):  # so may that of its own
                    found.setdefault(id(names), names)
            if str(namespace.get("__name__")).startswith("numba."):  # it compiles a function
                compiled = attribute_or_none(traceback.tb_frame.f_locals.get("self"), "py_func")
                names = attribute_or_none(compiled, "__globals__") or namespace
                found.setdefault(id(names), names)
            traceback = traceback.tb_next
        error = error.__cause__ or error.__context__
    return list(found.values())


def _namespaces_of_values(values: Iterable[Any]) -> list[Namespace]:
    """Return the globals of modules, and of the modules that define other values."""
    found: list[Namespace] = []
    for value in values:
        if type_of(value) is ModuleType:
            found.append(attributes_of(value))
            continue
        names = (
            attribute_or_none(value, "__module__"),
            attribute_or_none(type_of(value), "__module__"),
        )
        modules = (sys.modules.get(name) for name in names if isinstance(name, str))
        found += [vars(module) for module in modules if type_of(module) is ModuleType]
    return found


def _mentioned(function: Any) -> Iterator[Any]:
    """Yield a function, the functions that it wraps, and the objects that its code names."""
    yield function
    for name in ("__wrapped__", "__func__", "func", "pyfunc"):
        inner: Any = attributes_of(function).get(name)
        if inner is not None:
            yield from _mentioned(inner)
    if type_of(function) is FunctionType:
        yield from named_by(function)


def _place_of(error: BaseException) -> str:
    """Return the line of another package that an error came from, and the call that it made."""
    place, traceback = "", error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        namespace = frame.f_globals
        if can_adapt(namespace):
            name = namespace.get("__name__", "generated code")
            place = f"in {frame.f_code.co_name} ({name}, line {traceback.tb_lineno})"
            if str(namespace.get("__file__")).endswith(tuple(EXTENSION_SUFFIXES)):
                place += ", which is compiled code"
            elif traceback.tb_next is None:
                call = called_at(frame, traceback.tb_lasti)
                if call is not None and type_of(call.function) is not FunctionType:
                    whole = f"{call.owner}.{call.name}" if call.owner else call.name
                    place += f", by {whole}(...), which is not written in Python"
        traceback = traceback.tb_next
    return place or "there"
