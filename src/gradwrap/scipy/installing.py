"""`install` and `uninstall` give SciPy's own functions the rules, and take them back.

A function keeps its identity: its code is replaced by code that calls the dispatcher, and a copy
keeps the original code. So names that were imported earlier have the rules too. Constructors of
classes make the subclass if an argument is tracked.
"""

from __future__ import annotations

import copy
import functools
import inspect
import threading
import weakref
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradwrap.core.observing.performing import calling, copy_of
from gradwrap.core.values.tree import map_leaves
from gradwrap.scipy.array_api import are_open
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.classes import Class
from gradwrap.scipy.dispatching import dispatching
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.table import all_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.scipy.table import Row

ASKED = (
    "__call__", "ev", "evaluate", "integral", "integrate", "integrate_box_1d", "logpdf", "pdf",
    "solve",
)  # fmt: skip
"""Methods that evaluate an object of plain data at points, which may be tracked."""
_lock = threading.RLock()
_undo: list[Callable[[], None]] = []


def install() -> None:
    """Give SciPy's own functions and classes their rules, until `uninstall` is called.

    Calls with plain arguments run the original code. Calling `install` twice has no effect.

    Examples
    --------
    >>> import numpy as np, scipy.linalg
    >>> import gradwrap as gw, gradwrap.scipy
    >>> gradwrap.scipy.install()
    >>> gw.grad(lambda a: scipy.linalg.det(a))(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    >>> gradwrap.scipy.uninstall()
    """
    with _lock:
        if _undo:
            return
        for row in all_rows():
            undo = row.kind.install(row)
            if undo is not None:
                _undo.append(undo)
            elif isinstance(row.kind, Class):
                if not row.original.__flags__ & IMMUTABLE:
                    _undo.append(_install_class(row))
            elif type(row.original) is FunctionType and row.original.__module__.startswith("scipy"):
                _undo.append(_install_function(row))


IMMUTABLE = 1 << 8
"""The flag of classes whose methods cannot be set, as of `Rotation` before SciPy 1.17."""


def uninstall() -> None:
    """Restore SciPy's functions and classes as they were before `install`."""
    with _lock:
        while _undo:
            _undo.pop()()


def _install_function(row: Row) -> Callable[[], None]:
    function: Any = row.original
    before = (function.__code__, function.__defaults__, function.__kwdefaults__)
    signature = inspect.signature(function)
    copy = copy_of(function)
    had_signature = function.__dict__.get("__signature__")
    row.original = copy
    answer = row.kind.stand_in(row) or dispatching(row, copy)
    function.__code__ = ours = calling(answer, function.__code__)
    function.__defaults__ = function.__kwdefaults__ = None
    function.__signature__ = signature

    def undo() -> None:
        code, function.__defaults__, function.__kwdefaults__ = before
        if function.__code__ is ours:  # and not another tool's
            function.__code__ = code
        if had_signature is None:
            del function.__signature__
        else:
            function.__signature__ = had_signature
        row.original = function

    return undo


def _install_class(row: Row) -> Callable[[], None]:
    native: Any = row.original
    new = _methods(native, dispatcher(row.path))
    before = {name: vars(native).get(name) for name in new}
    for name, value in new.items():
        setattr(native, name, value)

    def undo() -> None:
        for name, value in before.items():
            if value is None:
                delattr(native, name)
            else:
                setattr(native, name, value)

    return undo


def _methods(native: Any, ours: Any) -> dict[str, Any]:
    """Return the methods to set on SciPy's class so that `ours` handles tracked values."""
    new: dict[str, Any] = {}
    for name in getattr(ours, "_constructors", ()):
        new[name] = staticmethod(_constructing(vars(native)[name], getattr(ours, name)))
    if hasattr(ours, "_take_over"):
        made_of: Any = weakref.WeakKeyDictionary()
        for name in () if new else ASKED:
            if any(name in vars(base) for base in native.__mro__):  # `__call__` is also a class's
                new[name] = _asking(getattr(native, name), ours, made_of)
        new["__init__"] = _initializing(native, ours, made_of)
    return new


def _initializing(native: Any, ours: Any, made_of: Any) -> Any:
    """Wrap the constructor: an object of tracked data becomes an instance of our class."""
    initialize = native.__init__
    is_tracked = getattr(ours, "_is_tracked", lambda *given: holds_variable(given))

    @functools.wraps(initialize)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807  a class's
        is_native = type(self) is native
        is_ours = is_native and not are_open() and is_tracked(args, kwargs)
        (ours._take_over if is_ours else initialize)(self, *args, **kwargs)
        if is_native and not is_ours and any(name in vars(native) for name in ASKED):
            made_of[self] = map_leaves(copy.copy, (args, kwargs))

    return __init__


def _asking(method: Any, ours: Any, made_of: Any) -> Any:
    """Wrap a method: for tracked points, our object of the same data computes the result."""

    @functools.wraps(method)
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self in made_of and holds_variable([args, kwargs]):
            given, options = made_of[self]
            return getattr(ours(*given, **options), method.__name__)(*args, **kwargs)
        return method(self, *args, **kwargs)

    return ask


def _constructing(original: Any, ours: Any) -> Any:
    function = original.__func__

    def construct(*args: Any, **kwargs: Any) -> Any:
        is_ours = not are_open() and holds_variable([args, kwargs])
        return (ours if is_ours else function)(*args, **kwargs)

    construct.__name__, construct.__doc__ = function.__name__, function.__doc__
    return construct
