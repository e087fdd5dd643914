"""The kinds of rules that replace a whole function, and the dispatchers that apply rules.

A dispatcher stands for SciPy's function. It checks once whether an argument is tracked.

===============  ================================================================================
kind             its derivative
===============  ================================================================================
`Composed`       that of another function, which replaces SciPy's
`Constant`       zero: the result is piecewise constant
`Refused`        none: a tracked argument raises an error with the reason
===============  ================================================================================
"""

from __future__ import annotations

import functools
import inspect
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from gradwrap.core.array.adapted import adapted_caller
from gradwrap.core.calls.general import taking_arrays
from gradwrap.core.calls.loop import looped
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.modes import called, is_traced
from gradwrap.core.levels.wrapper import is_recorded, unwrapped_key
from gradwrap.core.library.labelled import array_held
from gradwrap.core.observing.callers import MARK
from gradwrap.core.observing.code import library_named
from gradwrap.core.values.dynamic import DICT, SEQUENCE, enclosed_by
from gradwrap.errors import GradwrapError
from gradwrap.scipy.answers import Answers
from gradwrap.scipy.calls import (
    SUSPECTS,
    are_plain,
    holds_variable,
    natively,
    refuse_recorded,
    with_plain_constants,
    without_permissions,
    wrappers_in,
)
from gradwrap.scipy.overwriting import overwrite, permitted
from gradwrap.scipy.table import Kind, Row, row_of
from gradwrap.transforms.arguments import wrapped_untracked
from gradwrap.transforms.custom_calls import is_differentiated

if TYPE_CHECKING:
    from collections.abc import Callable


@functools.cache
def parameters_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of a function's parameters, looked up once."""
    return frozenset(inspect.signature(function).parameters)


def scipys(path: str) -> Callable[..., Any]:
    """Return SciPy's own function, even after `install` has given it a rule.

    SciPy's functions that it calls run on plain data as well.
    """
    row = row_of(path)
    assert row is not None, path

    def call(*args: Any, **kwargs: Any) -> Any:
        token = natively.set(True)
        try:
            return row.call(*args, **kwargs)
        finally:
            natively.reset(token)

    return call


class Composed(Kind):
    """A function that replaces SciPy's: `function(...)`.

    It calls SciPy's function on plain data, and attaches a derivative to the result.
    """

    name = "composed"
    tracks_all = True

    def __init__(self, function: Callable[..., Any], *, calls_back: bool = False) -> None:
        self.function = function
        self.calls_back = calls_back
        """The function takes a callback, which may have closed over tracked values."""

    def takes(self, parameter: str) -> bool:
        """Tell if the function has the parameter."""
        return parameter in parameters_of(self.function)

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call gradwrap's function instead of SciPy's."""
        args, kwargs = with_plain_constants(args, kwargs)
        return self.function(*args, **kwargs)

    def stand_in(self, row: Row) -> Any:
        """Return a dispatcher that also checks callbacks for tracked values in their closures.

        Outside of a transform a closure can hold tracked values only of the tape. SciPy's function
        then stops at the first tracked value that the callback returns.
        """
        if not self.calls_back:
            return None
        original = row.original

        @functools.wraps(original)
        def dispatch(*args: Any, **kwargs: Any) -> Any:
            if are_plain(args, kwargs):
                try:
                    return _natively_or_watched(original, args, kwargs)
                except (_RecordedError, GradwrapError):
                    pass
            return self.answer(row, args, kwargs)

        return dispatch


def _natively_or_watched(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call SciPy's function; stop at the first tracked value that a callback returns."""
    if natively.get():
        return original(*args, **kwargs)
    is_simple = all(map(_is_simple, (*args, *kwargs.values())))
    if not is_differentiating() and not is_traced():
        if any(map(_has_recorded, (*args, *kwargs.values()))):
            raise _RecordedError
        try:
            return original(*args, **kwargs)
        except GradwrapError:
            raise
        except Exception:  # C code may have replaced gradwrap's error
            if not is_simple:
                raise
    elif not is_simple:  # a call that cannot be made twice
        raise _RecordedError
    given = (_watched(value, _stop_at_recorded) for value in args)
    options = {name: _watched(value, _stop_at_recorded) for name, value in kwargs.items()}
    with Answers() as answers:
        found = original(*given, **options)
    if answers.found:  # it depends on what is compared, as a root does on the place of a jump
        raise _RecordedError
    return found


def _has_recorded(value: Any) -> bool:
    """Tell if a function has closed over a recorded value."""
    return any(map(is_recorded, enclosed_by(value)))


class _RecordedError(Exception):
    """A callback has returned a tracked value, or one of a trace."""


def _stop_at_recorded(made: Any) -> None:
    if is_recorded(made) or (is_traced() and not are_plain((made,), {})):
        raise _RecordedError


def _watched(value: Any, check: Callable[[Any], None]) -> Any:
    """Wrap a callback so that its results are checked, and plain; return other values unchanged."""
    if not isinstance(value, FUNCTIONS):
        return value

    @functools.wraps(value)
    def called(*args: Any, **kwargs: Any) -> Any:
        made = array_held(value(*args, **kwargs))
        check(made)
        return unwrapped_key(made)

    return called


FUNCTIONS = (FunctionType, MethodType, functools.partial)
LOW_LEVEL: Any = vars(scipy)["LowLevelCallable"]
SIMPLE = (
    *FUNCTIONS, LOW_LEVEL, np.ndarray, np.generic, int, float, complex, str,
    type(None),
)  # fmt: skip


def _is_simple(value: Any) -> bool:
    """Tell if an argument has no state, so that the call can be repeated."""
    if isinstance(value, SIMPLE):
        return True
    if isinstance(value, DICT):
        return all(map(_is_simple, value.values()))
    return isinstance(value, SEQUENCE) and all(map(_is_simple, value))


DETACH = "Fix: .detach() what is tracked, for a constant."


class Constant(Kind):
    """A function whose result is piecewise constant, or independent of its float arguments."""

    name = "no derivative"
    tracks_all = True

    def __init__(self, why: str) -> None:
        self.why = why

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call SciPy's function on the data."""
        if row.arrays:  # the result may still depend on the other arguments
            given = row.signature.bind(*args, **kwargs).arguments
            others = {name: value for name, value in given.items() if name not in row.arrays}
            refuse_recorded(row, (), others, f"has no derivative in {', '.join(others)}. {DETACH}")
        if is_recorded([args, kwargs]) and not is_differentiated(
            [leaf for _, leaf in wrappers_in([args, kwargs])]
        ):
            return looped(row.original, row.name, *args, **kwargs)
        options = {name: unwrapped_key(value) for name, value in kwargs.items()}
        return wrapped_untracked(called(row.original, row.name, *unwrapped_key(args), **options))


class Refused(Constant):
    """A function without a derivative, with the reason or a remedy for the message."""

    name = "refused"

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Raise an error for a tracked argument; call SciPy's function on plain arguments."""
        refuse_recorded(row, args, kwargs, f"has no derivative: {self.why}")
        return super().answer(row, args, kwargs)

    def stand_in(self, row: Row) -> Any:
        """Return a dispatcher that raises an error for tracked results of callbacks."""
        dispatch = dispatching(row, row.original)

        def check(made: Any) -> None:
            refuse_recorded(row, [made], {}, f"has no derivative: {self.why}")

        @functools.wraps(row.original)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if is_differentiating() and not natively.get():
                args = tuple(_watched(value, check) for value in args)
                kwargs = {name: _watched(value, check) for name, value in kwargs.items()}
            return dispatch(*args, **kwargs)

        return guarded if type(row.original) is FunctionType else None


def _leaving(row: Row, dispatch: Callable[..., Any], least: int) -> Callable[..., Any]:
    """Return a dispatcher that leaves in arguments what SciPy does, if adapted code permits it.

    The first option that permits it has the place `least`.
    """
    words = frozenset(row.permissions)

    @functools.wraps(dispatch)
    def leaving(*args: Any, **kwargs: Any) -> Any:
        out = dispatch(*args, **kwargs)
        may_overwrite = len(args) > least or not words.isdisjoint(kwargs)
        if may_overwrite and adapted_caller() is not None:
            given = row.signature.bind(*args, **kwargs).arguments
            arrays = permitted(given)
            if arrays:
                overwrite(functools.partial(_by_name, row), out, arrays, given)
        return out

    return leaving


def _by_name(row: Row, given: dict[str, Any]) -> Any:
    """Call SciPy's function with arguments by name."""
    bound = row.signature.bind_partial()
    bound.arguments.update({one: given[one] for one in row.signature.parameters if one in given})
    return scipys(row.path)(*bound.args, **bound.kwargs)


def _answer_of(row: Row, original: Any) -> Callable[..., Any]:
    """Return what answers for variables: the row, or SciPy's own code where that is adapted."""
    answer = row.kind.answer
    if library_named(str(original.__module__)) == "scipy":
        return answer

    def chosen(row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        is_adapted = MARK in original.__globals__
        return original(*args, **kwargs) if is_adapted else answer(row, args, kwargs)

    return chosen


def dispatching(row: Row, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a dispatcher: the row's rule if an argument holds a variable, else SciPy's code."""
    answer = _answer_of(row, original)
    words = frozenset(row.permissions)
    least = min(row.permissions.values(), default=None)

    @taking_arrays
    @functools.wraps(original)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        for value in args:
            if isinstance(value, SUSPECTS) and holds_variable(value):
                return answer(row, args, kwargs)
        if kwargs:
            for value in kwargs.values():
                if isinstance(value, SUSPECTS) and holds_variable(value):
                    return answer(row, args, kwargs)
        if least is not None and (len(args) > least or not words.isdisjoint(kwargs)):
            args, kwargs = without_permissions(row, args, kwargs)
        return called(original, row.name, *args, **kwargs)

    return dispatch if least is None else _leaving(row, dispatch, least)
