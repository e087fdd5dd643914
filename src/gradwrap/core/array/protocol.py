"""NumPy's protocols and methods: bound calls for the usual case, handlers for the rest.

A class of wrappers has one dictionary from NumPy's ufuncs to the calls of their operations, and one
from its other functions to calls that take the same arguments. All other calls go to handlers that
`gradwrap.backends` installs here. The handlers are loaded at the first such call, since loading
them takes a tenth of the time that `import gradwrap` may take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.objects import by_elements, with_instances
from gradwrap.core.calls.general import operator_call
from gradwrap.core.calls.loop import looped, may_loop
from gradwrap.core.levels.wrapper import batched_parts
from gradwrap.core.table.registry import changes, op_of_function
from gradwrap.core.values.record import Record
from gradwrap.errors import BatchedValueError, NonDifferentiableInputError, NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.table.registry import Op

ELSEWHERE: Any = object()
"""Returned by a bound call for arguments that the general way is to answer for."""
MISSING: Any = object()


class Handlers(Record):
    """The functions that answer `__array_ufunc__` and `__array_function__`, and find methods.

    `bind(cls, function)` makes the quick call of a function, which may return `ELSEWHERE`;
    `methods` are the names of NumPy's methods, `writing` the functions that change an argument.
    """

    ufunc: Callable[..., Any]
    function: Callable[..., Any]
    bind: Callable[[Any, Any], Any]
    method: Callable[[str], Callable[..., Any] | None]
    methods: frozenset[str]
    writing: frozenset[Any]


loops: list[Callable[..., Any]] = []
"""The function that performs another on each example, inside a transform that differentiates.

The transforms enter it. It returns `ELSEWHERE` outside of such a transform.
"""
_load: Callable[[], Handlers] | None = None
_loaded: Handlers | None = None


def install(load: Callable[[], Handlers]) -> None:
    """Name the function that loads the handlers."""
    global _load  # noqa: PLW0603  set once, at import
    _load = load


def _handlers() -> Handlers:
    global _loaded  # noqa: PLW0603  the same handlers whichever thread sets them
    if _loaded is None:
        assert _load is not None
        _loaded = _load()
    return _loaded


# What is bound to a class of wrappers -------------------------------------------------------------


class _Calls(dict[Any, Any]):
    """Map a function to its bound call in a class of wrappers; None if it has no rule yet."""

    def __init__(self, cls: Any, bind: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._cls = cls
        self._bind = bind

    def __missing__(self, function: Any) -> Any:
        before = changes()
        call = self._bind(self._cls, function)
        if call is not None:  # else a rule may be registered later
            self[function] = call
            if changes() != before:
                self.pop(function, None)
        return call


def _bind_ufunc(cls: Any, ufunc: Any) -> Any:
    op = op_of_function(ufunc)
    if op is None or op.rule_for(cls._backend.name) is None:
        return None
    bound = cls._bind(op)
    if bound.rule.statics or bound.check:
        return bound.call
    return operator_call(bound, cls._level, swapped=False)  # a type it does not know has its turn


def _bind_function(cls: Any, function: Any) -> Any:
    return _handlers().bind(cls, function)


def open_doors(cls: Any) -> None:
    """Give a class of wrappers its calls of NumPy's functions, and its `__array_ufunc__`."""
    calls = cls._ufunc_calls = _Calls(cls, _bind_ufunc)
    cls._function_calls = _Calls(cls, _bind_function)

    def __array_ufunc__(  # noqa: N807  one or two inputs by position: the quick call
        self: Any,  # noqa: ARG001  the protocol's
        ufunc: Any,
        method: str,
        x1: Any,
        x2: Any = MISSING,
        *more: Any,
        **kwargs: Any,
    ) -> Any:
        if method == "__call__" and not (kwargs or more) and (call := calls[ufunc]) is not None:
            try:
                found = call(x1) if x2 is MISSING else call(x1, x2)
            except NonDifferentiableInputError:
                inputs = (x1,) if x2 is MISSING else (x1, x2)
                given = with_instances(ufunc, inputs)
                return by_elements(ufunc, *inputs) if given is NotImplemented else given
            return with_instances(ufunc, (x1, x2)) if found is NotImplemented else found
        inputs = (x1, *more) if x2 is MISSING else (x1, x2, *more)
        return call_ufunc(cls, ufunc, method, inputs, kwargs)

    cls.__array_ufunc__ = __array_ufunc__


def forget(cls: Any, op: Op) -> None:
    """Drop a class's bound calls that may use an operation whose rules have changed."""
    cls._ufunc_calls.clear()
    for function, call in tuple(cls._function_calls.items()):
        if op.name in (getattr(call, "path", op.name), function.__name__):
            cls._function_calls.pop(function, None)


# The general way ----------------------------------------------------------------------------------


def call_ufunc(cls: Any, ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    """Answer `__array_ufunc__`."""
    try:
        return _handlers().ufunc(cls, ufunc, method, inputs, dict(kwargs))
    except (BatchedValueError, NoRuleError) as error:
        if method == "at" or "out" in kwargs:
            raise
        return _on_each_example(error, getattr(ufunc, method), ufunc.__name__, inputs, kwargs)


def call_function(cls: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """Answer `__array_function__` by the bound call of the function, or else by the handlers."""
    try:
        found = cls._function_calls[function](*args, **kwargs)
        return _handlers().function(cls, function, args, kwargs) if found is ELSEWHERE else found
    except NonDifferentiableInputError:
        return by_elements(function, *args, **kwargs)
    except (BatchedValueError, NoRuleError) as error:
        if function in _handlers().writing or "out" in kwargs:
            raise
        return _on_each_example(error, function, function.__name__, args, kwargs)


def _on_each_example(error: Exception, function: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Call a function on one example after the other, if it refused a batch; else raise."""
    if "overwrite_input" in kwargs:  # an example is a view of the batch, which may be the user's
        kwargs = {**kwargs, "overwrite_input": False}
    if may_loop(error, (args, kwargs)):
        return looped(function, f"np.{name}", *args, **kwargs)
    if isinstance(error, BatchedValueError) and any(True for _ in batched_parts((args, kwargs))):
        found = loops[0](function, f"np.{name}", args, kwargs)
        if found is not ELSEWHERE:
            return found
    raise error


def find_method(name: str) -> Callable[..., Any] | None:
    """Find a method of NumPy's arrays, as a function of the variable."""
    return _handlers().method(name)


def method_names() -> frozenset[str]:
    """Return the names of the methods that `find_method` finds."""
    return _handlers().methods
