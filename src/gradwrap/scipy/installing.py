"""`install` and `uninstall`: SciPy's own functions get the rules, for code that imports SciPy.

A function keeps its identity: its code is exchanged for one that calls the dispatcher, and the
original code goes on in a copy. So names that were imported earlier are served too. Classes get
constructors that make the subclass where an argument is tracked.
"""

from __future__ import annotations

import functools
import inspect
import threading
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradwrap.core.observing.performing import calling, copy_of
from gradwrap.scipy.array_api import are_open
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.classes import Class
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import dispatching
from gradwrap.scipy.table import all_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.scipy.table import Row

_lock = threading.RLock()
_undo: list[Callable[[], None]] = []


def install() -> None:
    """Give SciPy's own functions and classes their rules, until `uninstall` is called.

    Plain arguments go to the original code. It may be called again.

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
                _undo.append(_install_class(row))
            elif type(row.original) is FunctionType and row.original.__module__.startswith("scipy"):
                _undo.append(_install_function(row))


def uninstall() -> None:
    """Put everything of SciPy's back as it was before `install`."""
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
    function.__code__ = calling(answer, function.__code__)
    function.__defaults__ = function.__kwdefaults__ = None
    function.__signature__ = signature

    def undo() -> None:
        function.__code__, function.__defaults__, function.__kwdefaults__ = before
        if had_signature is None:
            del function.__signature__
        else:
            function.__signature__ = had_signature
        row.original = function

    return undo


def _install_class(row: Row) -> Callable[[], None]:
    native: Any = row.original
    ours = dispatcher(row.path)
    before: dict[str, Any] = {}
    names = getattr(ours, "_constructors", ())
    for name in names:
        before[name] = vars(native)[name]

    initialize = native.__init__
    is_own = "__init__" in vars(native)
    take_over: Any = getattr(ours, "_take_over", None)

    @functools.wraps(initialize)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807  a class's
        is_ours = type(self) is native and not are_open() and holds_variable([args, kwargs])
        (take_over if is_ours else initialize)(self, *args, **kwargs)

    if take_over is not None:
        native.__init__ = __init__
    for name in names:
        setattr(native, name, staticmethod(_constructing(before[name], getattr(ours, name))))

    def undo() -> None:
        if take_over is not None and is_own:
            native.__init__ = initialize
        elif take_over is not None:
            del native.__init__
        for name, value in before.items():
            setattr(native, name, value)

    return undo


def _constructing(original: Any, ours: Any) -> Any:
    function = original.__func__

    def construct(*args: Any, **kwargs: Any) -> Any:
        is_ours = not are_open() and holds_variable([args, kwargs])
        return (ours if is_ours else function)(*args, **kwargs)

    construct.__name__, construct.__doc__ = function.__name__, function.__doc__
    return construct
