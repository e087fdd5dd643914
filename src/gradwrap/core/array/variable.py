"""`Variable`: an array with its place in the recorded graph.

There is one class per array library, made when its first array is wrapped. `Variable` is their base
class; the methods of an operation are bound to a class when they are first used.
"""

from __future__ import annotations

import operator
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from gradwrap.core.array import protocol
from gradwrap.core.array.adapted import adapted_caller, formatted, rounded, warn_of_text
from gradwrap.core.array.attributes import Attributes
from gradwrap.core.array.conversions import Conversions
from gradwrap.core.array.display import Displayed, shown
from gradwrap.core.array.graph_methods import GraphMethods
from gradwrap.core.array.operators import Operators
from gradwrap.core.array.writing.outdated import take_again
from gradwrap.core.array.writing.views import OUTDATED_SLOTS, link, view_of
from gradwrap.core.calls.bound import BoundOp
from gradwrap.core.calls.general import bind_calls, interpret
from gradwrap.core.calls.keeping import keepable
from gradwrap.core.calls.promotion import are_mixed, promoted_call
from gradwrap.core.calls.record import Tape, record
from gradwrap.core.levels.memory import lay_out
from gradwrap.core.levels.modes import recorded
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    holds_wrapper,
    innermost,
    is_scalar,
    is_whole_number,
    make_wrapper,
    native,
)
from gradwrap.core.library.backend import Backend, backend_of, library_of, wrapper_class
from gradwrap.core.library.labelled import attribute_of, labels_of
from gradwrap.core.library.namespace import WrappedNamespace
from gradwrap.core.values.dynamic import LIST, NUMBERED, TUPLE, type_of
from gradwrap.errors import NoLengthError, NoRuleError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import TypeAlias

    from gradwrap.core.calls.call import Call
    from gradwrap.core.table.registry import Op
    from gradwrap.typing.array_methods import ArrayMethods
    from gradwrap.typing.namespace import ExtendedNamespace

A = TypeVar("A")

if not TYPE_CHECKING:

    class ArrayMethods(Generic[A]):
        """An empty base class: at run time, `Variable.__getattr__` finds NumPy's methods."""

        __slots__ = ()


class Variable(
    Attributes,
    ArrayMethods["Variable[Any]"],
    Operators["Variable[Any]"],
    Conversions,
    Displayed,
    GraphMethods[A],
    Generic[A],
):
    """Wrap a native array, so that operations on it can be recorded and differentiated.

    It has the operators, methods and attributes of the standard and of NumPy's arrays. Make one
    with `gradwrap.wrap`; functions under a transform receive them.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.array([3.0, 4.0]), requires_grad=True)
    >>> y = (x * x).sum()
    >>> y
    Variable(np.float64(25.0), grad_fn=<SumBackward>)
    >>> y.backward()
    >>> x.grad
    array([6., 8.])
    """

    __slots__ = ()

    # Set in the class of each library
    _namespace: Any = None
    _kind: Any = None
    _writes_in_place = True
    _level: type[Call] = Tape
    _namespace_class: Any = WrappedNamespace
    _sibling: Any = None
    _class_holding: Any = None
    _bindings: Any = None
    _ufunc_calls: Any = None
    _function_calls: Any = None

    __array_priority__ = 1000  # CuPy asks for more than 100 before it yields to another type

    # The library's class -----------------------------------------------------------------------

    @classmethod
    def _bind(cls, op: Op) -> BoundOp:
        """Return the operation bound to this class; bind it again if its rules have changed."""
        known: tuple[int, BoundOp] | None = cls._bindings.get(op)
        version = op.version  # read before the rule, so that a later rule is bound anew
        if known is not None and known[0] == version:
            return known[1]
        rule = cls._backend.rule_of(op)
        native = None if rule is None else rule.native or cls._backend.native(rule.name)
        if rule is None or native is None:
            raise NoRuleError(
                f"{op.name} is not known on {cls._backend.name} arrays. "
                f"Fix: gradwrap.defvjp gives it a rule."
            )
        if rule.native is not None or cls._backend.depth:
            native = cls._backend.adapt(op, rule)
        if op.keepable and not cls._backend.depth:
            native = keepable(op, native)
        bound = BoundOp(op, rule, cls._backend, native, cls)
        bind_calls(bound, cls._level)
        cls._bindings[op] = (version, bound)
        return bound

    @classmethod
    def _interpret(
        cls, bound: BoundOp, level: int, data: Any, nodes: Any, statics: tuple[Any, ...]
    ) -> Any:
        """Perform an operation that belongs to a level, whose arguments have `nodes`."""
        return interpret(bound, level, data, nodes, statics, record)

    @classmethod
    def _plain(cls, data: Any) -> Any:
        """Wrap an untracked result if it is an array."""
        if type(data) in cls._backend.array_types or cls._backend.is_array(data):
            return make_wrapper(cls, data)
        return cls._plain_other(data)

    @classmethod
    def _plain_other(cls, data: Any) -> Any:
        if isinstance(data, TUPLE):
            parts = [cls._plain(part) for part in data]
            return type(data)(*parts) if hasattr(data, "_fields") else tuple(parts)
        if isinstance(data, LIST):
            return [cls._plain(part) for part in data]
        return data

    _linked: Any = classmethod(link)

    @classmethod
    def _is_foreign(cls, value: Any) -> bool:
        """Tell if an operator leaves a value of this type to the other operand."""
        kind = type_of(value)
        return cls._backend.answers_itself(kind) or not (
            isinstance(value, (Variable, list, tuple, bool, int, float, complex))
            or library_of(value) is not None
            or cls._backend.is_array(value)
            or hasattr(kind, "__array_namespace__")
            or labels_of(value) is not None
        )

    @classmethod
    def _stacked(cls, values: Any) -> Any:
        """Make one array from nested lists: stack them if they hold variables, else copy them."""
        is_nested = isinstance(values, NUMBERED)
        if not holds_wrapper(values):
            return make_wrapper(cls, cls._backend.asarray(values)) if is_nested else values
        if not is_nested:
            return values
        parts = [cls._stacked(part) for part in values]
        shapes = {tuple(getattr(part, "shape", ())) for part in parts}
        if len(shapes) > 1:
            raise ValueError(
                f"Nested arrays of different shapes {sorted(shapes)} cannot make one array. "
                "Fix: give them one shape, or use concat."
            )
        xp: Any = next(part for part in parts if isinstance(part, AnyWrapper))._namespace
        made = xp.stack([xp.asarray(part) for part in parts])
        lay_out(made, None)
        return made

    @classmethod
    def _open_doors(cls) -> None:
        """Bind NumPy's protocols to a new class of variables."""
        protocol.open_doors(cls)

    @classmethod
    def _forget_functions(cls, op: Op) -> None:
        """Drop the bound calls of NumPy's functions that may use a changed operation."""
        protocol.forget(cls, op)

    def _call(self, op_name: str, *args: Any, **kwargs: Any) -> Self:
        function: Callable[..., Self] = getattr(self._namespace, op_name)
        return function(self, *args, **kwargs)

    # The array as a sequence -------------------------------------------------------------------

    if TYPE_CHECKING:

        def __len__(self) -> int: ...

    else:

        @property
        def __len__(self) -> Callable[[], int]:
            """Return the length of the first axis; a 0-d array has none, and `hasattr` says so."""
            if is_scalar(self):
                kind = type(innermost(self)).__name__
                raise NoLengthError(f"object of type {kind!r} has no len()")
            return MethodType(_length, self)

    def __iter__(self) -> Iterator[Self]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(self._namespace.any(self == value))

    def __repr__(self) -> str:
        text = shown(self)
        if (frame := adapted_caller()) is not None:
            return self._as_text(text, frame, "r")
        if self._node is None:
            return f"Variable({text})"
        if self.is_leaf:
            return f"Variable({text}, requires_grad=True)"
        return f"Variable({text}, grad_fn={self.grad_fn!r})"

    def __round__(self, ndigits: int | None = None) -> Any:
        made = self.round(ndigits or 0)
        # other decimals are noted where arrays are rounded
        return made if ndigits else rounded(self, made, is_whole=ndigits is None)

    def __str__(self) -> str:
        frame = adapted_caller()
        return self.__repr__() if frame is None else self._as_text(str(native(self)), frame, "")

    def __format__(self, spec: str) -> str:
        if (frame := adapted_caller()) is not None:
            return self._as_text(format(native(self), spec), frame, spec)
        is_number = is_whole_number(self) and not innermost(self).shape  # not of each example
        return formatted(self, format(native(self), spec)) if spec or is_number else str(self)

    def _as_text(self, text: str, frame: FrameType, spec: str) -> str:
        """Return the text that adapted code makes of the array, and warn about it."""
        warn_of_text(self, frame, text, spec=spec)
        return text

    def __copy__(self) -> Self:
        return recorded(self.copy, "K")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return recorded(self.copy, "K")

    def __reduce__(self) -> Any:
        self._check_pickling()
        if not self.is_leaf:
            raise TrackedValueError(
                "Only leaves can be pickled; this array is the result of a recorded operation. "
                "Fix: pickle x.detach() or x.data."
            )
        return (_unpickled, (self.data, self.requires_grad))

    # NumPy's doors -----------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return protocol.call_ufunc(type(self), ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        cls: Any = type(self)
        if len(types) > 1 and any(hasattr(kind, "_stands_for") for kind in types):
            return NotImplemented  # an instance of a subclass answers
        if len(types) > 1 and are_mixed(tuple(types)):
            cls, args, kwargs = promoted_call(cls, args, kwargs)
        return protocol.call_function(cls, func, args, kwargs)

    # NumPy's methods ---------------------------------------------------------------------------

    if not TYPE_CHECKING:  # a checker knows the methods from `ArrayMethods`, and no others

        def __getattr__(self, name: str) -> Any:
            if name in OUTDATED_SLOTS and view_of(self) is not None:
                take_again(self)
                return object.__getattribute__(self, name)
            method = None if name.startswith("_") else protocol.find_method(name)
            if method is None:
                give = attribute_of(self, name)
                if give is not None:
                    return give(self)
                raise self._no_attribute(name)
            if name in protocol.method_names():  # `dir` lists the attributes of the class
                setattr(Variable, name, method)  # now found at once; any thread's is as good
            return MethodType(method, self)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *protocol.method_names()}
        return sorted(names - {"base"})  # which adapted code alone has

    def __array_namespace__(self, *, api_version: str | None = None) -> Namespace[A]:
        """Return the namespace whose functions record; each library has one."""
        namespace: Any = self._namespace
        if api_version is not None:
            namespace._check_version(api_version)
        found: Namespace[A] = namespace
        return found

    def transpose(self, *axes: Any) -> Self:
        """Permute the axes, by default in reverse order."""
        order = _integers(axes) or tuple(range(self.ndim))[::-1]
        return self._call("permute_dims", order)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Self:
        """Return the same elements in another shape."""
        if order != "C":
            import numpy as np

            return np.reshape(self, _integers(shape), order=order)  # type: ignore[call-overload, no-any-return]  # a variable is no array to NumPy
        return self._call("reshape", _integers(shape), copy=copy)

    def copy(self, order: str = "C") -> Self:
        """Return a copy that is part of the graph, in the memory order named by a letter."""
        copied = self._call("copy", order=order)
        return copied[()] if is_scalar(self) else copied

    def clone(self, *, memory_format: Any = None) -> Self:
        """Return a copy that is part of the graph, in the same memory order."""
        return self.copy("K")


def variable_class(backend: Backend) -> type[Variable[Any]]:
    """Return the class of the variables that hold arrays of a backend."""
    made: Any = backend.wrapper_classes.get(Variable)
    return made or wrapper_class(Variable, backend)


if TYPE_CHECKING:
    Namespace: TypeAlias = ExtendedNamespace[Variable[A] | A, Variable[A], Variable[Any]]


def _length(variable: Any) -> int:
    shape: tuple[int, ...] = variable.shape
    if not shape:
        raise TypeError("len() of unsized object")
    return shape[0]


def _unpickled(data: Any, requires_grad: bool) -> Variable[Any]:
    variable = make_wrapper(variable_class(backend_of(data)), data)
    return variable.requires_grad_() if requires_grad else variable


def _integers(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    """Return integers that a method takes one by one or as a sequence."""
    if len(arguments) == 1:
        only = arguments[0]
        try:
            return (operator.index(only),)
        except TypeError:
            arguments = () if only is None else only
    return tuple(operator.index(n) for n in arguments)
