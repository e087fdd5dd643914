"""Stand-ins for instances of subclasses of `ndarray` and `float` that hold a tracked value.

Such an instance is an array, or a number, in memory of its own: it cannot hold a variable. So a
class is made from the subclass: it has the same attributes and methods, and a variable in the place
of the numbers. NumPy's protocols lead its operations to those of the variable, and results become
instances again where NumPy's would. The methods of the subclass run as they are; only `super()` in
them is bound to the new class. `__class__` and `isinstance` name the subclass.
"""

from __future__ import annotations

import abc
import functools
import sys
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from gradwrap.adaptation.later import new_code_of
from gradwrap.adaptation.plain_values import HOLDERS, Holder, kind_of, open_instances, unheld
from gradwrap.core.array.adapted import current_frame, subclass_views
from gradwrap.core.array.objects import plain_instances
from gradwrap.core.array.python_floats import PythonFloat
from gradwrap.core.array.wrapping import wrap
from gradwrap.core.levels.modes import entered
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, is_scalar, native
from gradwrap.core.observing.callers import MARK
from gradwrap.core.values.dynamic import TUPLE, attributes_of, type_of
from gradwrap.core.values.pytree_classes import register_pytree
from gradwrap.errors import AdaptationError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

NDARRAY: type[Any] = np.ndarray
BASE: Any = super
globals()[MARK] = True  # the methods below call those of variables for adapted code


class Held(NDArrayOperatorsMixin, Holder):
    """An instance of a subclass, whose value is a variable; arithmetic gives variables."""

    _stands_for: Any

    @property  # type: ignore[misc]  # it is read alone
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # likewise
        """The subclass, for which the instance passes."""
        return self._stands_for

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*unheld(inputs), **unheld(options))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function(*unheld(args), **unheld(options))

    def __array__(self, *args: Any, **options: Any) -> Any:
        array = self._gradwrap_array
        return array if is_recorded(array) else np.asarray(native(array), *args, **options)

    @property
    def __array_interface__(self) -> Any:
        """Refuse a look at the memory, which holds plain numbers alone.

        NumPy's masked arrays ask whether they share memory.
        """
        if current_frame(1).f_code.co_name == "__array_finalize__":
            return {"data": (id(self._gradwrap_array), False)}
        return self._gradwrap_array.__array_interface__

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TrackedValueError(
            f"a {self._stands_for.__name__} that holds a tracked value cannot be pickled. "
            "Fix: pickle its plain values."
        )

    def __repr__(self) -> str:
        return f"{self._stands_for.__name__}({self._gradwrap_array!r})"

    def __copy__(self) -> Any:
        return _instance(self._stands_for, self._gradwrap_array.copy("K"), self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.__copy__()


class HeldNumber(Held):
    """An instance of a subclass of `float`."""

    def __hash__(self) -> int:
        return hash(self._gradwrap_array)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(one is self for one in options.get("out", ())):
            del options["out"]  # `x -= y` makes a new number
        return super().__array_ufunc__(ufunc, method, *inputs, **options)


class HeldArray(Held):
    """An instance of a subclass of `ndarray`; results are instances where NumPy's are."""

    __array_priority__: float = 0.0
    _stands_for = NDARRAY
    _own_methods: frozenset[str] = frozenset()
    """The methods that the subclass has in the place of the array's."""

    def __pow__(self, exponent: Any, modulo: None = None) -> Any:
        return np.power(self, exponent)

    def __array_finalize__(self, obj: Any) -> None:
        """Do nothing, as NumPy's method."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return again(self, array)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        inputs = tuple(map(instance_of_plain, inputs))
        found = super().__array_ufunc__(ufunc, method, *inputs, **options)
        outs = options.get("out", ())
        if outs:
            return outs if isinstance(found, tuple) else outs[0]
        first: Any = max(filter(_is_instance, inputs), key=_priority, default=None)
        if first is None or method == "at":
            return found
        context = (ufunc, inputs, 0) if method == "__call__" else None
        if isinstance(found, TUPLE):
            return tuple(_wrapped(first, one, context) for one in found)
        return _wrapped(first, found, context)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        is_calling = self._own_methods and not self._own_methods.isdisjoint(_names_in(function))
        code = code_of(function) if is_calling else None
        if code is not None:
            return code(*args, **options)
        return self._of_values(function, types, args, options)

    def _of_values(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Call a function of NumPy with variables, and make an instance where NumPy would."""
        found = super().__array_function__(function, types, args, options)
        out = options.get("out")
        if out is not None:
            return out
        first = _instance_in((*args, *options.values()))
        if first is None or not _preserves(function, args, options):
            return found
        return _wrapped(first, found, None)

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Return an instance of another subclass, or a variable; without a class one of this."""
        kind: Any = self._stands_for if dtype is None and type is None else type or dtype
        kind = getattr(kind, "stands_for", kind)
        if isinstance(kind, type_of(int)) and issubclass(kind, NDARRAY):
            array = self._gradwrap_array[...]
            return array if kind is NDARRAY else held(array, kind, self)
        return _instance(self._stands_for, self._gradwrap_array.view(dtype), self)

    def __getitem__(self, key: Any) -> Any:
        found = self._gradwrap_array[unheld(key)]
        return found if is_scalar(found) else again(self, found)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._gradwrap_array[unheld(key)] = unheld(value)

    @property
    def base(self) -> Any:
        """The array whose memory this is."""
        return _holding(HeldArray, self._gradwrap_array)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self._gradwrap_array)

    def __contains__(self, value: Any) -> bool:
        return unheld(value) in self._gradwrap_array

    __hash__: Any = None  # as for arrays of NumPy


shadows: list[Callable[[FunctionType], Any]] = []
"""Copies a function of NumPy's so that it runs on variables: `stand_ins` enters it here."""


@functools.cache
def _names_in(function: Any) -> set[str]:
    """Return the names and texts in NumPy's code of a function, and in what that calls."""
    found = {"__getitem__"}  # `a[i]`, which has no name in code
    seen: list[Any] = [getattr(function, "_implementation", None)]
    for one in seen:
        if type_of(one) is not FunctionType or not one.__module__.startswith("numpy"):
            continue
        codes = [one.__code__]
        for code in codes:
            codes += [part for part in code.co_consts if isinstance(part, CodeType)]
            found.update(code.co_names, [one for one in code.co_consts if isinstance(one, str)])
            values = [one.__globals__.get(name) for name in code.co_names]
            called = [getattr(value, "_implementation", value) for value in values]
            seen += [value for value in called if callable(value) and value not in seen]
    return found


@functools.cache
def code_of(function: Any) -> Any:
    """Return NumPy's code of a function in Python, which calls the methods of instances, or None.

    The functions of `numpy.linalg`, `numpy.fft` and of strides look at the memory alone.
    """
    written: Any = getattr(function, "_implementation", None)
    if type_of(written) is not FunctionType:
        return None
    module: str = written.__globals__["__name__"]
    is_calling = module.startswith(("numpy._core", "numpy.lib")) and "stride" not in module
    return shadows[0](written) if is_calling else None


def _is_instance(value: Any) -> bool:
    return isinstance(value, HeldArray) or type_of(value).__mro__[1:].count(NDARRAY) > 0


def _instance_in(values: Any) -> Any:
    """Return the first instance among arguments, and in the lists and tuples among them."""
    for value in values:
        found = _instance_in(value) if type_of(value) in (tuple, list) else value
        if _is_instance(found):
            return found
    return None


def _priority(instance: Any) -> float:
    return instance.__array_priority__  # type: ignore[no-any-return]  # a number


def _wrapped(first: HeldArray, found: Any, context: Any) -> Any:
    """Let an instance make a result one of its own, by the signature that its method has."""
    if not isinstance(found, AnyWrapper):
        return found
    wrap: Any = first.__array_wrap__
    try:
        return wrap(found, context, False)
    except TypeError:
        return wrap(found, context)


def _preserves(function: Any, args: Any, options: Any) -> bool:
    """Tell if NumPy's result for these arguments is an instance of their subclass: it is asked."""
    try:
        with np.errstate(all="ignore"):
            found = function(*_probes(args), **_probes(options))
    except Exception:  # noqa: BLE001  it is asked again with the variables
        return False
    return isinstance(found, Probe)


class Probe(np.ndarray):
    """A subclass without attributes, for questions to NumPy."""


@functools.cache
def _probe_of(priority: float) -> type[Probe]:
    """Return the class of probes by whose priority NumPy chooses the class of a result."""
    return type("Probe", (Probe,), {"__array_priority__": priority}) if priority else Probe


def _probes(value: Any) -> Any:
    if isinstance(value, HOLDERS):
        array: Any = unheld(value)
        made: Any = np.ones(array.shape, array.dtype)
        if array.ndim > 1 and array.shape[-1] == array.shape[-2]:
            made += np.eye(array.shape[-1], dtype=array.dtype)  # it has an inverse
        if not isinstance(value, Held):
            return made
        return made.view(_probe_of(getattr(value, "__array_priority__", 0.0)))
    if type_of(value) in (tuple, list):
        return type_of(value)(map(_probes, value))
    return {k: _probes(v) for k, v in value.items()} if type_of(value) is dict else value


def _method(name: str, original: Any = None) -> Any:
    """Make a method that calls the variable's; `original` is NumPy's, which may give instances."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        found = getattr(self._gradwrap_array, name)(*unheld(args), **unheld(options))
        if options.get("out") is not None:
            return options["out"]
        if not isinstance(found, AnyWrapper) or original is None:
            return found
        if _preserves(original, (self, *args), options):
            return again(self, found)
        return found

    method.__name__, method.__doc__ = name, f"Call the variable's `{name}`."
    return method


def _attribute(name: str) -> Any:
    def read(self: Any) -> Any:
        found = getattr(self._gradwrap_array, name)
        is_array = isinstance(found, AnyWrapper) and isinstance(self, HeldArray)
        return again(self, found) if is_array else found

    def write(self: Any, value: Any) -> None:
        setattr(self._gradwrap_array, name, unheld(value))

    return property(read, write)


ARRAY_METHODS = {
    name for name, member in vars(NDARRAY).items() if callable(member) and name[0] != "_"
} | {"__getitem__"}
SCALARS = ("__bool__", "__complex__", "__float__", "__format__", "__index__", "__int__", "__str__")
for _name, _member in vars(NDARRAY).items():
    if _name.startswith("_") or _name in vars(HeldArray):
        continue
    setattr(HeldArray, _name, _method(_name, _member) if callable(_member) else _attribute(_name))
for _name in (*SCALARS, "__round__", "__trunc__", "__floor__", "__ceil__"):
    if hasattr(NDARRAY, _name):
        setattr(HeldArray, _name, _method(_name))
    setattr(HeldNumber, _name, _method(_name))
for _name in ("as_integer_ratio", "conjugate", "hex", "is_integer"):
    setattr(HeldNumber, _name, _method(_name))
for _name in ("dtype", "imag", "real"):
    setattr(HeldNumber, _name, _attribute(_name))


# Classes ------------------------------------------------------------------------------------------

_made: WeakKeyDictionary[type[Any], type[Any]] = WeakKeyDictionary()
namespaces: dict[str, dict[str, Any]] = {}
"""From the name of a module that is not adapted itself to a copy of its globals that is."""
LEFT_OUT = {"__dict__", "__init_subclass__", "__new__", "__slots__", "__weakref__"}


def class_from(kind: type[Any]) -> Any:
    """Return the class that stands in for a subclass of `ndarray` or `float`."""
    if kind in (NDARRAY, float):
        return HeldArray if kind is NDARRAY else HeldNumber
    if not issubclass(kind, (NDARRAY, float)):
        return kind
    known = _made.get(kind)
    if known is not None:
        return known
    if any(
        base.__flags__ & 1 << 8 for base in kind.__mro__ if base not in (NDARRAY, float, object)
    ):
        raise _refused(kind, "its class is compiled")
    cell = CellType()
    copied = namespaces.get(_module_of(kind))
    names = {
        name: _over_bases(bound_to(value, cell, copied), kind)
        for name, value in vars(kind).items()
        if name not in LEFT_OUT and type_of(value).__name__ != "member_descriptor"
    }
    if not issubclass(kind, NDARRAY):
        names |= {name: _of_numbers(name, names[name]) for name in SWAPPED & names.keys()}
    names["_stands_for"] = kind
    own = (name for base in kind.__mro__ if base not in NDARRAY.__mro__ for name in vars(base))
    names["_own_methods"] = frozenset(name for name in own if name in ARRAY_METHODS)
    if "__array_function__" in names:
        names["__array_function__"] = _with_their_types(names["__array_function__"])
    bases = tuple(class_from(base) for base in kind.__bases__ if base is not NDArrayOperatorsMixin)
    metaclass = type_of(kind)  # which makes its classes in `__new__`: this one is made
    make: Any = abc.ABCMeta if issubclass(metaclass, abc.ABCMeta) else type
    made: type[Any] = make.__new__(metaclass, kind.__name__, bases, names)
    cell.cell_contents = made
    _made[kind] = made
    register_pytree(made, _parts, _whole)
    open_instances()
    return made


SWAPPED = {name for name in vars(NDArrayOperatorsMixin) if name in vars(float) and name[2] == "r"}


def _of_numbers(name: str, method: Any) -> Any:
    """Let a number's reflected operator answer numbers of Python, since arrays go before it."""

    @functools.wraps(method)
    def reflected(self: Any, other: Any) -> Any:
        is_arrays = isinstance(other, AnyWrapper) and kind_of(other) not in (float, complex)
        return getattr(Held, name)(self, other) if is_arrays else method(self, other)

    return reflected


def _with_their_types(function: Any) -> Any:
    """Give a subclass's `__array_function__` the types that plain arguments would have."""

    @functools.wraps(function)
    def method(self: Any, called: Any, types: Any, args: Any, options: Any) -> Any:
        plain = [
            NDARRAY if issubclass(kind, AnyWrapper) else getattr(kind, "_stands_for", kind)
            for kind in types
        ]
        found = function(self, called, tuple(dict.fromkeys(plain)), args, options)
        if found is NotImplemented and NDARRAY in plain:  # NumPy asks the plain array next
            return self._of_values(called, types, args, options)
        if found is NotImplemented and not _is_adapted(self._stands_for):
            raise AdaptationError(
                f"np.{called.__name__} got a {self._stands_for.__name__} that holds a tracked "
                "value outside of gradwrap.adapting, where the code of its class is not adapted. "
                "Fix: make the call part of the function that is adapted, or return plain arrays."
            )
        return found

    return method


def _parts(instance: Any) -> Any:
    return (unheld(instance),), None


def _whole(_: Any, parts: Any) -> Any:
    """Return the value of an instance that a function returned."""
    return parts[0]


def bound_to(value: Any, cell: CellType | None, names: dict[str, Any] | None = None) -> Any:
    """Copy a function in whose code `super()` asks the class of the cell.

    `names` are other globals for it; then it has other cells, too.
    """
    if type_of(value) is property:
        return property(*(bound_to(f, cell, names) for f in (value.fget, value.fset, value.fdel)))
    if type_of(value) in (staticmethod, classmethod):
        return type_of(value)(bound_to(value.__func__, cell, names))
    if type_of(value) is not FunctionType:
        return value
    free = value.__code__.co_freevars
    if names is None and "__class__" not in free:
        return value
    cells = tuple(
        cell if name == "__class__" and cell else _cell(own, cell, names)
        for name, own in zip(free, value.__closure__ or (), strict=True)
    )
    is_copied = names is not None and value.__globals__["__name__"] in namespaces
    namespace: Any = names if is_copied else value.__globals__
    made = FunctionType(new_code_of(value), namespace, value.__name__, value.__defaults__, cells)
    made.__kwdefaults__ = value.__kwdefaults__
    made.__dict__.update(value.__dict__)
    return made


def _cell(own: CellType, cell: CellType | None, names: dict[str, Any] | None) -> CellType:
    return own if names is None else CellType(bound_to(own.cell_contents, cell, names))


def _over_bases(value: Any, kind: type[Any]) -> Any:
    """Let a wrapper around a method of a base, as metaclasses make them, call the stand-in's."""
    if type_of(value) is not FunctionType or not value.__closure__:
        return value
    cells = tuple(_over_base(cell, kind) for cell in value.__closure__)
    if all(ours is cell for ours, cell in zip(cells, value.__closure__, strict=True)):
        return value
    made = FunctionType(
        value.__code__, value.__globals__, value.__name__, value.__defaults__, cells
    )
    made.__kwdefaults__ = value.__kwdefaults__
    return made


def _over_base(cell: CellType, kind: type[Any]) -> CellType:
    try:
        content: Any = cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return cell
    name: str = getattr(content, "__name__", "")
    for base in kind.__mro__[1:] if type_of(content) is FunctionType else ():
        if vars(base).get(name) is content:
            own: Any = getattr(class_from(base), name)
            return CellType(own)
    return cell


def _instance(kind: type[Any], array: Any, source: Any) -> Any:
    """Make an instance, as NumPy does: `__array_finalize__` gets the array it was made from."""
    if not isinstance(array, AnyWrapper) or kind is NDARRAY:
        return array
    made = _holding(class_from(kind), array)
    if isinstance(made, HeldArray):
        is_array = isinstance(source, AnyWrapper)
        made.__array_finalize__(_holding(HeldArray, source) if is_array else source)
    return made


def again(instance: Any, array: Any) -> Any:
    """Make an instance of the same subclass."""
    return _instance(instance._stands_for, array, instance)  # noqa: SLF001  of our classes


def _holding(cls: Any, array: Any) -> Any:
    made = object.__new__(cls)
    object.__setattr__(made, "_gradwrap_array", array)
    return made


def held(array: Any, kind: type[Any], source: Any = None) -> Any:
    """Return an instance of a subclass with a variable as its value; its code must be adapted."""
    kind = getattr(kind, "stands_for", kind)
    made = _instance(kind, array[...] if issubclass(kind, NDARRAY) else array, source)
    if not _is_adapted(kind):
        error = _refused(kind, f"{kind.__module__} is not adapted")
        error.__dict__["namespace"] = attributes_of(sys.modules.get(kind.__module__))
        raise error
    return made


def _is_adapted(kind: type[Any]) -> bool:
    """Tell if the code of a class is adapted."""
    name = _module_of(kind)
    return MARK in attributes_of(sys.modules.get(name)) or name in namespaces


def _module_of(kind: type[Any]) -> str:
    """Return the name of the module of a class's code, for which NumPy has another name."""
    code = next((one for one in vars(kind).values() if type_of(one) is FunctionType), None)
    found = None if code is None else code.__globals__["__name__"]
    return str(found) if found in namespaces else kind.__module__


def _refused(kind: type[Any], reason: str) -> AdaptationError:
    base = "numpy.ndarray" if issubclass(kind, NDARRAY) else "float"
    return AdaptationError(
        f"a {kind.__qualname__}, a subclass of {base}, cannot hold a tracked value: {reason}. "
        "Fix: call the code through gradwrap.adapting(f), or adapt the package of the class; or "
        f"pass plain arrays to functions that do not need the subclass."
    )


def super_of(original: Any, kind: Any, instance: Any = None) -> Any:
    """Call `super(kind, instance)`; for a stand-in, the class that stands in for `kind`."""
    is_held = issubclass(type_of(instance), Held)
    return original(class_from(kind) if is_held else kind, instance)


def constructor(kind: Any) -> Any:
    """Return a `__new__` for a subclass that also initializes instances with variables.

    Python calls `__init__` on instances of the class alone. None where nothing is missing.
    """
    if not issubclass(kind, (NDARRAY, float)) or type_of(kind).__call__ is not type.__call__:
        return None
    of_class: Any = kind
    own: Any = of_class.__dict__.get("__new__")
    is_initialized = kind.__init__ is not object.__init__
    if not is_initialized and not issubclass(kind, float):
        return None

    def __new__(cls: Any, *args: Any, **options: Any) -> Any:  # noqa: N807  it is set on the class
        make: Any = BASE(kind, cls).__new__ if own is None else own.__func__
        made = new_instance(make, cls, *args, **options)
        if cls is kind and is_initialized and type_of(made) is _made.get(kind):
            made.__init__(*args, **options)
        return made

    return staticmethod(__new__)


PLAIN_OPTIONS = {"buffer", "dtype"}


def new_instance(make: Any, cls: Any, *args: Any, **options: Any) -> Any:
    """Call `make(cls, ...)`, where `make` is `ndarray.__new__`, `float.__new__` or another."""
    value: Any = unheld(args[0]) if make is float.__new__ and args else None
    if isinstance(value, AnyWrapper):  # those of a solver's function track nothing, but must stay
        is_float = isinstance(value, PythonFloat) or value.dtype.kind == "f"
        return held(value if is_float else value.astype(float), cls)
    buffer = unheld(options.get("buffer"))
    if make is NDARRAY.__new__ and args and options.keys() <= PLAIN_OPTIONS and is_recorded(buffer):
        return held(buffer.reshape(args[0]), cls)
    return make(cls, *args, **options)


def instance_of_plain(value: Any) -> Any:
    """Return an instance with the same values and a variable; anything else is returned unchanged.

    That is done for adapted subclasses with operations of their own; others answer themselves.
    """
    kind: Any = type_of(value)
    if not issubclass(kind, NDARRAY) or value.dtype.kind == "O" or not _is_adapted(kind):
        return value
    names = ("__array_ufunc__", "__array_wrap__", "__mul__")
    if all(getattr(kind, name) is getattr(NDARRAY, name) for name in names):
        return value
    return held(wrap(entered(np.array(value, subok=False))), kind, value)


subclass_views.append(held)
plain_instances.append(instance_of_plain)
