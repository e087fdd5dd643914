"""`Variable`: an array with its place in the recorded graph.

There is one class per array library, made when its first array is wrapped. `Variable` is what
they share; the methods of an operation are bound to a class when they are first used.
"""

from __future__ import annotations

import functools
import operator
import weakref
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from gradwrap.core import inplace, protocol
from gradwrap.core.attributes import Attributes
from gradwrap.core.backend import Backend, find_backend
from gradwrap.core.compile import compile_call, compile_operator
from gradwrap.core.conversions import Conversions
from gradwrap.core.modes import TAPE_LEVEL
from gradwrap.core.namespace import WrappedNamespace
from gradwrap.core.node import Leaf
from gradwrap.core.operators import Operators
from gradwrap.core.record import BoundOp, interpret
from gradwrap.core.registry import Op, find_op
from gradwrap.errors import (
    BackwardError,
    NonDifferentiableInputError,
    NoRuleError,
    TrackedValueError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradwrap.core.meta import Meta

__all__ = ["Variable", "check_differentiable"]

A = TypeVar("A")


class Variable(Attributes, Operators, Conversions, Generic[A]):
    """A native array, wrapped so that what is done to it can be recorded and differentiated.

    It has the operators, methods and attributes of the standard and of NumPy's arrays. Make one
    with `gradwrap.wrap`; functions under a transform receive them.
    """

    __slots__ = ("__weakref__", "_data", "_grad", "_leaf", "_node", "_view", "_views")

    _data: Any
    _node: Any
    _leaf: Leaf | None
    _grad: Any

    # Set in the class of each library
    _backend: Any = None
    _namespace: Any = None
    _kind: Any = None
    _writes_in_place = True
    _is_batched = False
    _namespace_class: Any = WrappedNamespace
    _sibling: Any = None
    _around: Any = None
    _bindings: Any = None
    _ufunc_calls: Any = None

    __array_priority__ = 1000  # CuPy asks for more than 100 before it yields to another type

    def __init__(self, data: Any, node: Any = None) -> None:
        self._data = data
        self._node = node

    # The library's class -----------------------------------------------------------------------

    @classmethod
    def _bind(cls, op: Op) -> BoundOp:
        """The operation bound to this class; bound again if its rules have changed since."""
        known: tuple[int, BoundOp] | None = cls._bindings.get(op)
        if known is not None and known[0] == op.version:
            return known[1]
        rule = op.rule_for(cls._backend.name)
        native = None if rule is None else rule.native or cls._backend.native(rule.name)
        if rule is None or native is None:
            raise NoRuleError(
                f"{op.name} is not known on {cls._backend.name} arrays. "
                f"Fix: gradwrap.defvjp gives it a rule."
            )
        if rule.native is not None or cls._backend.depth:
            native = cls._backend.adapt(op, rule)
        bound = BoundOp(op, rule, cls._backend, native, cls)
        bound.call = cls._compiled(bound)
        cls._bindings[op] = (op.version, bound)
        return bound

    @classmethod
    def _compiled(cls, bound: BoundOp) -> Callable[..., Any]:
        """The function that stands for an operation in the namespace of this class."""
        return compile_call(bound)

    @classmethod
    def _compiled_operator(cls, bound: BoundOp, *, swapped: bool) -> Callable[..., Any]:
        return compile_operator(bound, swapped=swapped)

    @classmethod
    def _interpret(
        cls, bound: BoundOp, level: int, data: Any, nodes: Any, statics: tuple[Any, ...]
    ) -> Any:
        """Perform an operation that belongs to a level, whose arguments have `nodes`."""
        return interpret(bound, level, data, nodes, statics)

    @classmethod
    def _plain(cls, data: Any) -> Any:
        """Wrap a result that is not tracked, unless it is not an array at all."""
        if type(data) in cls._backend.array_types or cls._backend.is_array(data):
            return cls(data)
        return cls._plain_other(data)

    @classmethod
    def _plain_other(cls, data: Any) -> Any:
        if isinstance(data, tuple):
            parts = [cls._plain(part) for part in data]
            return type(data)(*parts) if hasattr(data, "_fields") else tuple(parts)
        if isinstance(data, list):
            return [cls._plain(part) for part in data]
        return data

    @classmethod
    def _linked(cls, result: Any, source: Any, bound: BoundOp, statics: tuple[Any, ...]) -> Any:
        return inplace.link(cls, result, source, bound, statics)

    @classmethod
    def _is_foreign(cls, value: Any) -> bool:
        """Whether an operator leaves a value of this type to the other operand."""
        kind = type(value)
        return not (
            isinstance(value, (Variable, list, tuple, bool, int, float, complex))
            or find_backend(kind) is not None
            or cls._backend.is_array(value)
            or hasattr(kind, "__array_namespace__")
        )

    @classmethod
    def _stacked(cls, values: Any) -> Any:
        """Make one array of nested lists, which may hold variables."""
        from gradwrap.core.nested import stack_nested

        return stack_nested(cls, values)

    def _operator(self, name: str, method: str, *, swapped: bool = False) -> Callable[..., Any]:
        """Bind an operator to the class, in place of the general method."""
        op = find_op(name)
        assert op is not None, name
        bound = self._bind(op)
        function = self._compiled_operator(bound, swapped=swapped)
        setattr(type(self), method, function)
        return function

    def _call(self, op_name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._namespace, op_name)(self, *args, **kwargs)

    # The graph ---------------------------------------------------------------------------------

    @property
    def data(self) -> A:
        """The native array itself, not a copy."""
        return inplace.native(self)  # type: ignore[no-any-return]

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this array are recorded."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """Whether the array was made by the user rather than by a recorded operation."""
        return self._node is None or type(self._node) is Leaf

    @property
    def grad(self) -> A | None:
        """What `backward` has accumulated, as a native array; None before."""
        return getattr(self, "_grad", None)

    @grad.setter
    def grad(self, value: A | None) -> None:
        if value is not None:
            _check_gradient(value, self._backend.meta(self._data, TAPE_LEVEL), "the assigned grad")
        self._grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Start (or stop) tracking a leaf, and return it.

        Raises
        ------
        NonDifferentiableInputError
            The dtype is not floating-point.
        BackwardError
            The array is not a leaf, and was to be no longer tracked.
        """
        if requires_grad and self._node is None:
            check_differentiable(self._backend, self._data, "an array that requires grad")
            leaf = getattr(self, "_leaf", None)
            if leaf is None:
                meta = self._backend.meta(self._data, TAPE_LEVEL)
                leaf = self._leaf = Leaf(meta, weakref.ref(self))
            self._node = leaf
        elif not requires_grad and self._node is not None:
            if not self.is_leaf:
                raise BackwardError(
                    "you can only change requires_grad flags of leaf variables. "
                    "Fix: use .detach() to get an array that is not tracked."
                )
            self._node = None
        return self

    def detach(self) -> Self:
        """The same data, not tracked at any level; the graph behind this array is untouched."""
        return self._call("stop_gradient")  # type: ignore[no-any-return]

    def backward(
        self,
        gradient: A | Variable[A] | None = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Differentiate this array with respect to the leaves, and add to their `grad`.

        Parameters
        ----------
        gradient
            The cotangent of this array, of its shape. May be left out for a real scalar, for
            which it is one.
        retain_graph
            Keep what was recorded, so that `backward` can run again. By default, `create_graph`.
        create_graph
            Record the pass itself; the gradients are then variables, to be differentiated again.
        inputs
            The leaves to differentiate for; all of them by default.

        Raises
        ------
        BackwardError
            The array is not tracked, or not a scalar and `gradient` is missing, or `gradient`
            has another shape.
        GraphFreedError
            The graph was released by an earlier call.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> x = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        array([2., 4.])
        """
        from gradwrap.core.tape import backward

        backward([self], [gradient], retain_graph, create_graph, inputs)

    # The array as a sequence --------------------------------------------------------------------

    def __len__(self) -> int:
        if not self._data.shape:
            raise TypeError("len() of a 0-d array")
        return self._data.shape[0]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Self]:
        if not self._data.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool(self._namespace.any(self == value))

    def __repr__(self) -> str:
        text = repr(inplace.native(self))
        if self._node is None:
            return f"Variable({text})"
        if self.is_leaf:
            return f"Variable({text}, requires_grad=True)"
        return f"Variable({text}, grad_fn=<{grad_fn_name(self._node)}>)"

    def __round__(self, ndigits: int = 0) -> Self:
        return self.round(ndigits)  # type: ignore[no-any-return]

    def __format__(self, spec: str) -> str:
        return format(inplace.native(self), spec) if spec else str(self)

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy of the data that keeps its place in the graph."""
        return self.copy()

    def __reduce__(self) -> Any:
        from gradwrap.core.tape import wrap

        if not self.is_leaf:
            raise TrackedValueError(
                "Only leaves can be pickled; this array is the result of a recorded operation. "
                "Fix: pickle x.detach() or x.data."
            )
        return (wrap, (self.data, self.requires_grad))

    # Indexing and in-place ---------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Self:
        return self._operator("getitem", "__getitem__")(self, key)  # type: ignore[no-any-return]

    def __setitem__(self, key: Any, value: Any) -> None:
        inplace.set_item(self, key, value)

    # NumPy's doors -----------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return protocol.call_ufunc(type(self), ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return protocol.call_function(type(self), func, args, kwargs)

    # NumPy's methods ---------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        method = None if name.startswith("_") else protocol.find_method(name)
        if method is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        setattr(Variable, name, method)  # from now on found at once
        return functools.partial(method, self)

    def transpose(self, *axes: Any) -> Self:
        """The array with its axes permuted, in reverse order by default."""
        order = _integers(axes) or tuple(range(self.ndim))[::-1]
        return self._call("permute_dims", order)  # type: ignore[no-any-return]

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Self:
        """The same elements in another shape."""
        if order != "C":
            import numpy as np

            return np.reshape(self, _integers(shape), order=order)  # type: ignore[call-overload, no-any-return]
        return self._call("reshape", _integers(shape), copy=copy)  # type: ignore[no-any-return]

    def copy(self, order: str = "C") -> Self:
        """A copy that is part of the graph."""
        return self._call("copy")  # type: ignore[no-any-return]

    clone = copy


def _integers(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    """Integers that a method takes one by one or as a sequence."""
    if len(arguments) == 1:
        only = arguments[0]
        try:
            return (operator.index(only),)
        except TypeError:
            arguments = () if only is None else only
    return tuple(operator.index(n) for n in arguments)


def grad_fn_name(node: Any) -> str:
    """The name of a node as PyTorch writes it: `MulBackward` after the operation."""
    words = node.op.name.replace(".", "_").split("_")
    return "".join(word.capitalize() for word in words) + "Backward"


def check_differentiable(backend: Backend, data: Any, what: str) -> None:
    """Refuse arrays that have no derivative: integers, bools, objects."""
    if str(data.dtype) == "object":
        raise NonDifferentiableInputError(
            f"{what} has dtype object. gradwrap differentiates arrays of numbers. "
            "Fix: convert it, for example with np.asarray(x, dtype=np.float64)."
        )
    if not backend.is_numeric(data) or not backend.is_float(data):
        raise NonDifferentiableInputError(
            f"{what} has dtype {data.dtype}; only floating-point and complex arrays can be "
            "differentiated. Fix: cast it, for example x.astype(np.float64)."
        )


def _check_gradient(value: Any, meta: Meta, what: str) -> None:
    if not hasattr(value, "shape") or tuple(value.shape) != meta.shape:
        shape = getattr(value, "shape", None)
        raise BackwardError(f"{what} has shape {shape}, the array has {meta.shape}.")
    if value.dtype != meta.dtype:
        raise BackwardError(f"{what} has dtype {value.dtype}, the array has {meta.dtype}.")
