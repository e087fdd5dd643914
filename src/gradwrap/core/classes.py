"""One class of variables for each array library, and one for variables of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core import backend as backends
from gradwrap.core import protocol
from gradwrap.core.backend import (
    Backend,
    NamespaceByType,
    backend_of,
    backend_of_namespace,
    find_backend,
    known_classes,
)
from gradwrap.core.operators import METHOD_OPS
from gradwrap.core.variable import AnyVariable, Variable
from gradwrap.core.wrapper import batched_parts, data_of, native

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.registry import Op
    from gradwrap.typing import Namespace

__all__ = [
    "WrappedBackend",
    "rebind",
    "untracked_copy",
    "variable_class",
    "wrap_namespace",
    "wrapper_class",
]


class WrappedBackend(Backend):
    """Variables as the data of other variables: the backend of a transform inside a transform."""

    has_operators = False

    def __init__(self, inner: Any) -> None:
        base: Backend = inner._backend
        super().__init__(base.name, inner._namespace, frozenset({inner}))
        self._base = base
        self.node: Any = base.node
        self.depth: int = base.depth + 1
        self.native_types: frozenset[type] = base.native_types
        self.plain_types: frozenset[type] = base.plain_types
        self.namespaces: NamespaceByType = AlwaysNamespace(inner._namespace)
        self._inner: Any = inner

    def is_array(self, value: object) -> bool:
        return isinstance(value, self._inner)

    def device(self, array: Any) -> Any:
        return array.device if isinstance(array, AnyVariable) else self._base.device(array)

    def dtype_kind(self, dtype: Any) -> tuple[bool, bool]:
        return self._base.dtype_kind(dtype)

    def is_numeric(self, array: Any) -> bool:
        return self._base.is_numeric(array)

    def rule_of(self, op: Op) -> Any:
        return self._base.rule_of(op)

    def adapt(self, op: Op, rule: Any) -> Callable[..., Any]:
        call: Callable[..., Any] = self._inner._bind(op).call
        return call

    def class_attributes(self) -> dict[str, Any]:
        return self._base.class_attributes()

    def copy(self, array: Any) -> Any:
        return self.xp.copy(array)

    def may_be_view(self, array: Any, source: Any) -> bool:
        return self._base.may_be_view(array._data, source._data)

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        return buffer + self.xp.scatter(values, key, tuple(buffer.shape), buffer.dtype)


class AlwaysNamespace(NamespaceByType):
    """The wrapped namespace, whatever the type of the cotangent: it takes native arrays too."""

    def __init__(self, namespace: Any) -> None:
        super().__init__(namespace)
        self._wrapped = namespace

    def __missing__(self, kind: type) -> Any:
        return self._wrapped


def wrapper_class(kind: type[Variable[Any]], backend: Backend) -> type[Variable[Any]]:
    """The class of the wrappers of a kind (`Variable`, `Dual`, `Batched`) of a backend's arrays."""
    known = backend.wrapper_classes.get(kind)
    if known is not None:
        return known
    with backends.lock:
        if kind not in backend.wrapper_classes:
            attributes = {"__slots__": (), "__module__": "gradwrap", **backend.class_attributes()}
            made: Any = type(kind.__name__, (kind,), attributes)
            made._backend = backend
            made._bindings = {}
            made._kind = kind
            made._sibling = classmethod(_sibling)
            made._around = classmethod(_around)
            made._namespace = made._namespace_class(made, f"gradwrap.{backend.name}")
            protocol.open_doors(made)
            backends.by_type[made] = WrappedBackend(made)
            backend.wrapper_classes[kind] = made
    return backend.wrapper_classes[kind]


def variable_class(backend: Backend) -> type[Variable[Any]]:
    """The class of the variables that hold arrays of a backend."""
    return wrapper_class(Variable, backend)


def _sibling(cls: Any, kind: type[Variable[Any]]) -> type[Variable[Any]]:
    """The class of another kind of wrapper of the same arrays."""
    return wrapper_class(kind, cls._backend)


def _around(cls: Any, inner: type[Variable[Any]]) -> type[Variable[Any]]:
    """The class of this kind whose data are of the class `inner`: a transform inside another."""
    backend = find_backend(inner)
    assert backend is not None
    known = backend.wrapper_classes.get(cls._kind)
    return wrapper_class(cls._kind, backend) if known is None else known


def untracked_copy(x: Any) -> Variable[Any]:
    """A wrapper of the same data, not tracked at any level; what vmap maps over stays so."""
    mapped = next(batched_parts(x), None)
    if mapped is None:
        data = native(x)
        return variable_class(backend_of(data))(data)
    below = data_of(mapped)
    stopped = untracked_copy(below) if isinstance(below, AnyVariable) else below
    around: type[Variable[Any]] = mapped._around(type(stopped))
    return around(stopped, mapped._node)


def wrap_namespace(xp: Any) -> Namespace[Any]:
    """An Array API namespace whose arrays are variables, creation functions included.

    `xp` is the namespace of any library that follows the standard: `numpy`, `array_api_strict`,
    `array_api_compat.cupy`. The result is the same object for the same library.

    Examples
    --------
    >>> import numpy, gradwrap as gw
    >>> xp = gw.wrap_namespace(numpy)
    >>> xp.sum(xp.ones(3))
    Variable(np.float64(3.0))
    """
    made: Any = variable_class(backend_of_namespace(xp))
    namespace: Namespace[Any] = made._namespace
    return namespace


def rebind(op: Op) -> None:
    """Forget what was compiled for an operation whose rules have changed."""
    for cls in known_classes():
        cls._bindings.pop(op, None)
        protocol.forget(cls, op)
        cls._namespace._rebind(op.name)
        for method, name in METHOD_OPS.items():
            if name == op.name:
                cls._forget(method)
