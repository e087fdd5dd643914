"""Array libraries as the core sees them, and how an array's library is found.

`Backend` serves any library that follows the standard. A module in `gradwrap.backends` derives
from it where a library offers more, or differs.
"""

from __future__ import annotations

import functools
import importlib
import operator
import threading
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import array_api_compat

from gradwrap.core.levels.memory import lay_out, one_array
from gradwrap.core.levels.wrapper import AnyWrapper, innermost, layers, make_wrapper
from gradwrap.core.library.buffers import Guarded, buffer_of, shared
from gradwrap.core.library.compat import device, module_like
from gradwrap.core.library.placing import placed_rule
from gradwrap.core.library.scatter import scatter_add_generic
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.space import Meta
from gradwrap.errors import MissingToolError, NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gradwrap.core.table.registry import Op
    from gradwrap.core.table.rule import Rule

PYTHON_SCALARS = frozenset({bool, int, float, complex})


class NamespaceByType(dict[type, Any]):
    """Map the type of a cotangent to the namespace whose functions accept it."""

    def __init__(self, native: Any) -> None:
        super().__init__()
        self._native = native

    def __missing__(self, kind: type) -> Any:
        other = by_type.get(kind)  # that of a cotangent which went through arrays that promote it
        promoting = other.namespaces._native if other is not None and other.promotes else None
        self[kind] = promoting or getattr(kind, "_namespace", None) or self._native
        return self[kind]


class Backend:
    """Describe an array library to the core.

    This class serves any library that follows the standard. For a library that differs, derive a
    class and register it (`gradwrap.register_backend`). `name` is the library's name, `xp` its
    namespace, `array_types` the types of its arrays.

    Examples
    --------
    >>> import array_api_strict, gradwrap as gw
    >>> class Strict(gw.Backend):
    ...     def scatter_add(self, buffer, key, values):  # where a library can do better
    ...         return super().scatter_add(buffer, key, values)
    >>> Strict("strict", array_api_strict, frozenset({type(array_api_strict.empty(0))})).name
    'strict'
    """

    counting: Any = None
    """Makes context managers whose `bytes` are the most that their block uses at a time."""

    has_operators: bool = True
    """True if `a * b` is `multiply(a, b)` for its arrays, and quicker."""

    node: Any = None
    """The function that makes the node of an operation on its arrays; None: `Node` itself."""

    depth: int = 0
    """How many wrappers deep its arrays are; native arrays are at zero."""

    promotes: frozenset[str] = frozenset()
    """The libraries whose arrays become arrays of this one in operations on both."""

    bridge: str = ""
    """The function that makes one of this library an operation on the arrays of others."""

    elsewhere: Mapping[str, str] = MappingProxyType({})
    """The modules of extensions of the standard that its namespace does not have below it."""

    def __init__(self, name: str, xp: Any, array_types: frozenset[type]) -> None:
        self.wrapper_classes: dict[type[Any], type[Any]] = {}
        self.name = name
        self.xp = xp
        self.array_types = array_types
        self.native_types: frozenset[type] = array_types
        self.plain_types: frozenset[type] = array_types | PYTHON_SCALARS | {type(None)}
        self.namespaces: NamespaceByType = NamespaceByType(self.for_formulas(xp))
        self._dtype_kinds: dict[Any, tuple[bool, bool]] = {}

    def __repr__(self) -> str:
        return f"<backend {self.name}>"

    # What arrays are

    def is_array(self, value: object) -> bool:
        """Tell if `value` is an array (or array scalar) of this library."""
        return type(value) in self.array_types or isinstance(value, tuple(self.array_types))

    def check_type(self, kind: type) -> None:
        """Raise if arrays of a type have no derivative, though the library is known."""

    def answers_itself(self, kind: type[Any], *, operators: bool = False) -> bool:
        """Tell if arrays of this type handle functions (or operators) of tracked arrays."""
        return False

    def is_at_hand(self, array: Any) -> bool:
        """Tell if values can be read without waiting for a device or a lazy computation."""
        return False

    def check_converting(self, module: str) -> None:
        """Raise the library's own message for a module that converts a tracked array, if any."""

    def device(self, array: Any) -> Any:
        return device(array)

    def dispatches(self, function: Any) -> bool:
        """Tell if a library's function passes calls with a variable on to its class."""
        return False

    def dtype_kind(self, dtype: Any) -> tuple[bool, bool]:
        """Tell if a dtype is floating (real or complex), and if it is complex."""
        kind = self._dtype_kinds.get(dtype)
        if kind is None:
            is_complex = self.xp.isdtype(dtype, "complex floating")
            kind = (is_complex or self.xp.isdtype(dtype, "real floating"), is_complex)
            self._dtype_kinds[dtype] = kind
        return kind

    def is_numeric(self, array: Any) -> bool:
        """Tell if a dtype is one of the standard's, rather than objects, strings or dates."""
        try:
            return bool(self.xp.isdtype(array.dtype, ("bool", "numeric")))
        except (TypeError, ValueError):
            return False

    def is_float(self, array: Any) -> bool:
        return self.dtype_kind(array.dtype)[0]

    def meta(self, array: Any, level: int, like: Meta | None = None) -> Meta:
        """Describe `array`, which is on the device of `like`; an equal description is reused.

        So whether two arrays are of one space can be tested by identity.
        """
        shape = array.shape
        dtype = array.dtype
        if (
            like is not None
            and like.level == level
            and (like.dtype is dtype or like.dtype == dtype)
        ):
            if like.shape == shape:
                return like
            known = None if like.made is None else like.made.get(shape)
            return known or like.of_shape(shape)
        return Meta(tuple(shape), dtype, self.device(array), level, self.dtype_kind(dtype)[1])

    def to_hold(self, array: Any) -> Any:
        """Return the array that a variable holds: in most libraries, the user's own."""
        return array

    def class_attributes(self) -> dict[str, Any]:
        """Return attributes for the class of variables: the library's own protocols."""
        return {}

    # What is done to arrays that are ours

    def native(self, path: str) -> Callable[..., Any] | None:
        """Return the library's own function of a (dotted) name, or None."""
        found: Any = self.xp
        first, _, rest = path.partition(".")
        if first in self.elsewhere:
            found, path = self.extension(first), rest
        for part in path.split(".") if path else ():
            found = getattr(found, part, None)
            if found is None:
                return None
        return found  # type: ignore[no-any-return]  # looked up by name

    def function_of(self, function: Any) -> Callable[..., Any] | None:
        """Return the replacement of a NumPy function for wrapped arrays, or None."""
        return None

    def extension(self, name: str) -> Any:
        """Import an extension that the namespace lacks."""
        module = self.elsewhere[name]
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            package = module.partition(".")[0]
            raise MissingToolError(
                f"xp.{name} of {self.name} arrays is {module}, and {package} is not installed. "
                f"Fix: pip install {package}."
            ) from error

    def has_extension(self, name: str) -> bool:
        """Tell if the namespace has this extension of the standard, imported or not."""
        return name in self.elsewhere or self.native(name) is not None

    def for_formulas(self, xp: Any) -> Any:
        """Return the namespace for formulas: the library's, with all extensions."""
        if not self.elsewhere:
            return xp
        whole = module_like(xp)

        def find(name: str) -> Any:
            found = self.extension(name) if name in self.elsewhere else getattr(xp, name)
            setattr(whole, name, found)
            return found

        whole.__dict__["__getattr__"] = find
        return whole

    def placed(self, cotangent: Any, meta: Any) -> Any:
        """Move a formula's result to the place of the argument described by `meta`.

        A class whose arrays are in parts defines it: Dask's gives a cotangent the chunks of its
        argument.
        """
        return cotangent

    def rule_of(self, op: Op) -> Rule | None:
        """Return the rule by which an operation on these arrays is recorded."""
        rule = op.rule_for(self.name)
        is_whole = rule is None or type(self).placed is Backend.placed
        return rule if is_whole else placed_rule(rule, self.placed)

    def adapt(self, op: Op, rule: Rule) -> Callable[..., Any]:
        """Return the native function of an operation that is written in terms of others."""
        assert rule.native is not None
        return functools.partial(rule.native, self.xp)

    def asarray(self, value: Any, like: Any = None) -> Any:
        """Make an array of nested lists and scalars, on the device of `like`."""
        device = None if like is None else self.device(like)
        return self.xp.asarray(value, device=device)

    def ones_like(self, array: Any) -> Any:
        """Return the initial cotangent of a pass: ones."""
        return self.xp.ones_like(array)

    def computed(self, arrays: list[Any], stay: list[bool]) -> list[Any]:
        """Compute lazy arrays together; those without `stay` become plain arrays."""
        return arrays

    def concrete(self, array: Any) -> Any:
        """Return the array itself, or for a trace's stand-in an array of the same layout."""
        return array

    def with_part(self, xp: Any, array: Any, part: str, value: Any) -> Any:
        """Write the real or the imaginary part of an array through a view; return the array."""
        getattr(xp, part)(array)[...] = value
        return array

    write: Any = staticmethod(operator.setitem)
    """Write a value to an array at a key, in place."""

    def copy(self, array: Any, order: str | None = None) -> Any:
        return self.xp.asarray(array, copy=True)

    def kept(self, array: Any, level: int, briefly: bool = False) -> Any:
        """Return a caller's array, for saving, protected against later writes.

        Return a copy, the array itself if it cannot be written to, or a `Guarded` array. Operations
        of one `level` may share the copy. `briefly` is for the arguments of one call, which should
        not be written to during the call. Other values are returned unchanged.
        """
        return self.copy(array) if type_of(array) in self.array_types else array

    def is_seen_finite(self, array: Any) -> bool:
        """Tell if a look at `array`, which waits for nothing, has shown that all of it is finite.

        Where a look would wait, or costs as much as a selection, the answer is False.
        """
        return False

    def is_seen_nan(self, array: Any) -> bool:
        """Tell if a look at `array`, which waits for nothing, has shown that it holds NaN."""
        return False

    def owns_buffer(self, array: Any) -> bool:
        """Tell if `array` is known to have one reference, and its buffer no other owner.

        Where it is not, writing to a variable always copies first.
        """
        return False

    def handed_out(self, wrapper: Any) -> Any:
        """Return a wrapper of an array of this library that later writes do not reach."""
        return wrapper._snapshot()

    def batch_first(self, array: Any, axis: int) -> Any:
        """Move the batch axis to the front.

        In memory they lie one behind the other, so that each result of theirs is dense.
        """
        return self.xp.moveaxis(array, axis, 0) if axis else array

    def diagonal_matrix(self, diagonal: Any) -> Any:
        """Return the matrix of a diagonal: zeros elsewhere, even beside infinities."""
        length = diagonal.shape[0]
        unit = self.xp.eye(length, dtype=diagonal.dtype, device=self.device(diagonal))
        return self.xp.where(unit != 0, self.xp.expand_dims(diagonal, axis=-1), unit)

    def plus_diagonal(self, matrix: Any, diagonal: Any) -> Any:
        """Add a diagonal matrix to a matrix."""
        return matrix + self.diagonal_matrix(diagonal)

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        """Add `values` to `buffer[key]`, repeatedly where an element is named repeatedly."""
        return scatter_add_generic(self.xp, buffer, key, values)

    tells_views: bool = False
    """`may_be_view` tells what is a view, of any result; else it is asked where NumPy has one."""
    keeps_base: bool = False
    """The `base` of a result is the array it is a view of, or None where it is a new array."""
    lent: Any = None
    """`lent(view, loan)` makes an array of the memory of a view that keeps a loan alive."""

    def may_be_view(self, array: Any, source: Any) -> bool:
        """Tell if `array`, a part of `source`, may share its buffer."""
        return True

    def saved_part(self, view: Any, whole: Any) -> Any:
        """Return what an operation saves of part of an array being written to: it, or a copy.

        A view that is saved makes the next write copy the whole array. So the copy of a small part
        costs less.
        """
        return view

    def is_writeable(self, view: Any) -> bool:
        """Tell if the library allows writes to a view."""
        return True

    def laid_out(self, array: Any, like: Any) -> Any:
        """Return the array in the memory order of another of its shape; for None, in C order."""
        return array


factories: dict[str, Callable[[Any, type], Backend]] = {}
"""The functions that make the backend of a library, by its name."""
namespaces: dict[str, Callable[[], Any]] = {}
"""Functions that make the namespace of a library, by the module of its arrays."""
by_type: dict[type, Backend] = {}
# By identity, since the namespaces of wrappers are equal; each with its key, so that it lives on
by_namespace: dict[int, tuple[Any, Backend]] = {}
lock: threading.RLock = threading.RLock()


def find_backend(kind: type) -> Backend | None:
    """Return the backend of arrays of type `kind`, or None if none is known yet."""
    return by_type.get(kind)


def backend_of(array: Any) -> Backend:
    """Return the library of an array.

    Raises
    ------
    NotAnArrayError
        `array` is not of a library that follows the standard.
    """
    backend = by_type.get(type_of(array))
    if backend is not None:
        return backend
    homes = (kind.__module__ for kind in type_of(array).__mro__)  # a subclass has its base's
    make = next((namespaces[home] for home in homes if home in namespaces), None)
    try:
        xp = array_api_compat.array_namespace(array) if make is None else make()
    except TypeError:
        raise NotAnArrayError(
            f"{type(array).__name__} is not an array of a library that follows the Python Array "
            "API standard. Fix: pass a numpy.ndarray, a cupy.ndarray, ..."
        ) from None
    return _enter(xp, type_of(array))


def library_of(value: Any) -> Backend | None:
    """Return the library of an array or a wrapper; None for other values."""
    known = by_type.get(type_of(value))
    if known is not None or not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return known
    try:
        return backend_of(value)
    except NotAnArrayError:
        return None


def is_array(value: Any) -> bool:
    """Tell if a value is a library's array or a wrapper of one."""
    return type_of(value) in by_type or library_of(value) is not None


def is_floating(value: Any) -> bool:
    """Tell if a value is an array that can be differentiated."""
    library = library_of(value)
    return library is not None and library.is_float(value)


def backend_of_namespace(xp: Any) -> Backend:
    """Return the backend of a namespace, such as `numpy` or `array_api_strict`."""
    known = by_namespace.get(id(xp))
    if known is not None:
        return known[1]
    backend = backend_of(xp.empty(0))
    with lock:
        by_namespace[id(xp)] = (xp, backend)
    return backend


def _enter(xp: Any, kind: type) -> Backend:
    library = xp.__name__.removeprefix("array_api_compat.").split(".")[0]
    with lock:
        known = by_namespace.get(id(xp))
        backend = None if known is None else known[1]
        if backend is None:
            factory = factories.get(library)
            if factory is None:
                backend = Backend(library, xp, frozenset({kind}))
            else:
                backend = factory(xp, kind)
            by_namespace[id(xp)] = (xp, backend)
        backend.check_type(kind)
        for array_type in backend.array_types | {kind}:
            by_type[array_type] = backend
    return backend


def own_buffers(gradients: list[Any], starts: Iterable[Any]) -> None:
    """Give every array among gradients its own buffer, so that the caller may write to it.

    A formula may hand on the cotangent it was given, or a view: two gradients may be one array.
    """
    taken = {id(start) for start in starts}
    for position, gradient in enumerate(gradients):
        if isinstance(gradient, AnyWrapper):
            gradients[position] = gradient._backend.handed_out(gradient)
            continue
        backend = library_of(gradient)
        if backend is None:
            continue
        if id(gradient) in taken or not backend.owns_buffer(gradient):
            gradients[position] = backend.copy(gradient)
        taken.add(id(gradients[position]))


# Wrappers as arrays ------------------------------------------------------------------------------


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

    def check_type(self, kind: type) -> None:
        self._base.check_type(kind)

    def dispatches(self, function: Any) -> bool:
        return self._base.dispatches(function)

    def answers_itself(self, kind: type[Any], *, operators: bool = False) -> bool:
        return self._base.answers_itself(kind, operators=operators)

    def device(self, array: Any) -> Any:
        return array.device if isinstance(array, AnyWrapper) else self._base.device(array)

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

    def copy(self, array: Any, order: str | None = None) -> Any:
        return self.xp.copy(array, order=order or "K")

    def batch_first(self, array: Any, axis: int) -> Any:
        moved = self.xp.moveaxis(array, axis, 0) if axis else array
        if not moved.size:
            return moved
        *_, lowest = layers(moved)
        like = one_array(moved)
        found = lowest._backend.batch_first(like, 0)
        if found is like and not axis:
            return array
        made = self.xp.copy(moved)
        lay_out(made, found[0])
        return made

    @property
    def tells_views(self) -> bool:  # type: ignore[override]  # of the library
        return self._base.tells_views

    def kept(self, array: Any, level: int, briefly: bool = False) -> Any:
        if not isinstance(array, AnyWrapper):
            return self._base.kept(array, level, briefly)
        data = array._value
        if array._node is not None or id(buffer_of(innermost(data))) not in shared:
            return array
        found = array._backend.kept(data, level, briefly)
        if type(found) is Guarded:
            return found.wrapped(array)
        return array if found is data else make_wrapper(type_of(array), found)

    def may_be_view(self, array: Any, source: Any) -> bool:
        return self._base.may_be_view(array._value, source._value)

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        return buffer + self.xp.scatter(values, key, tuple(buffer.shape), buffer.dtype)


class AlwaysNamespace(NamespaceByType):
    """Map every type of cotangent to the wrapped namespace, which takes native arrays too."""

    def __init__(self, namespace: Any) -> None:
        super().__init__(namespace)
        self._wrapped = namespace

    def __missing__(self, kind: type) -> Any:
        return self._wrapped


def wrapper_class(kind: type[Any], backend: Backend) -> type[Any]:
    """Return the class that wraps a backend's arrays as a `Variable`, `Dual` or `Batched`."""
    known = backend.wrapper_classes.get(kind)
    if known is not None:
        return known
    with lock:
        if kind not in backend.wrapper_classes:
            attributes = {"__slots__": (), "__module__": kind._home, **backend.class_attributes()}
            # With an error of C code pending, CPython 3.11 looks in the class alone, and it never
            # again asks a class where it has not found this method.
            if hasattr(kind, "__getattr__"):
                attributes.setdefault("__getattr__", kind.__getattr__)
            made: Any = type(kind.__name__, (kind,), attributes)
            made._backend = backend
            made._bindings = {}
            made._kind = kind
            made._sibling = classmethod(_sibling)
            made._class_holding = classmethod(_class_holding)
            made._namespace = made._namespace_class(made, f"gradwrap.{backend.name}")
            made._open_doors()
            by_type[made] = WrappedBackend(made)
            backend.wrapper_classes[kind] = made
    return backend.wrapper_classes[kind]


def _sibling(cls: Any, kind: type[Any]) -> type[Any]:
    """Return the class of another kind that wraps the same arrays."""
    return wrapper_class(kind, cls._backend)


def _class_holding(cls: Any, inner: type[Any]) -> type[Any]:
    """Return the class of this kind whose data are of class `inner`, for nested transforms."""
    backend = find_backend(inner)
    assert backend is not None
    known = backend.wrapper_classes.get(cls._kind)
    return wrapper_class(cls._kind, backend) if known is None else known
