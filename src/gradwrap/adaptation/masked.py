"""Masked arrays in adapted code: NumPy's own code for masks, run on variables.

`numpy.ma` is written in Python. It is not changed: a copy of its globals has stand-ins, its
functions and classes are made again with that copy, and a variable takes the place of the data.
Masks stay plain. Only elementwise operations are done here: they give a function no masked value,
whose derivative may be infinite.
"""

from __future__ import annotations

import importlib
import sys
from copy import deepcopy
from types import CellType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation import subclasses
from gradwrap.adaptation.builtin_names import BUILTINS, StandIn, real
from gradwrap.adaptation.plain_values import Holder, are_plain, standing_in
from gradwrap.adaptation.shadows import shadow
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.observing.callers import MARK
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, attributes_of, type_of
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = ("numpy.ma.core", "numpy.ma.extras")


def _method(name: str, original: Any) -> Any:
    """Make a function that stands for a method of `ndarray`, also for variables."""

    def method(array: Any, *args: Any, **options: Any) -> Any:
        args = tuple(map(real, args))
        if isinstance(array, AnyWrapper):
            if name == "view" and args and isinstance(args[0], type):
                return subclasses.held(array, args[0], array)
            return getattr(array, name)(*args, **options)
        if isinstance(array, subclasses.HeldArray):
            return getattr(subclasses.HeldArray, name)(array, *args, **options)
        return original(array, *args, **options)

    return method


def _readable(data: Any) -> Any:
    """Return a variable for a plain array, whose memory cannot hold tracked values.

    A write to it raises an error: the plain array would not change.
    """
    if type_of(data) is not NDARRAY or data.dtype.kind not in "fc" or not is_differentiating():
        return data
    made = drop_in.array(data)
    native(made).flags.writeable = False
    return made


def _passing_for(kind: Any, call: Any, names: dict[str, Any]) -> Any:
    """Derive a class that passes for `kind`, as an argument of `plain.view`, too."""
    metaclass: Any = type("StandIn", (StandIn,), {"__call__": call})
    return type.__new__(metaclass, kind.__name__, (kind,), {**names, "stands_for": kind})


NDARRAY: type[Any] = np.ndarray
anything: Any = np
METHODS = {
    name: _method(name, member)
    for name, member in vars(NDARRAY).items()
    if callable(member) and not name.startswith("_")
}


def _new_array(_: Any, *args: Any, **options: Any) -> Any:
    return NDARRAY(*args, **options)


class _Copies:
    """The copies of the modules, and of their functions and classes."""

    def __init__(self, lookup: Callable[[Any], Any]) -> None:
        self.lookup = lookup
        self.modules: dict[int, dict[str, Any]] = {}
        self.made: dict[int, tuple[Any, Any]] = {}
        self.core: Any = importlib.import_module(PARTS[0])
        for name in PARTS:
            original: Any = vars(sys.modules[name])
            names: Any = {**original, **BUILTINS, MARK: True}
            self.modules[id(original)] = subclasses.namespaces[name] = names
        subclasses.namespaces["numpy.ma"] = subclasses.namespaces[PARTS[0]]  # as classes say
        masked: Any = self.core.MaskedArray
        kind: Any
        new: Any = masked.__dict__["__new__"]
        passing: Any
        self.new: Any = subclasses.bound_to(new, None, subclasses.namespaces[PARTS[0]])

        def __array_finalize__(array: Any, obj: Any) -> None:  # noqa: N807  a method
            masked.__array_finalize__(array, obj)
            array.__class__ = masked

        finalizing: Any = {"__array_finalize__": __array_finalize__}
        for kind, passing in (
            (NDARRAY, _passing_for(NDARRAY, _new_array, METHODS)),
            (masked, _passing_for(masked, self._construct, finalizing)),
            (self.core.masked, self.core.masked),
            (self.core.nomask, self.core.nomask),
        ):
            self.made[id(kind)] = kind, passing
        for name in PARTS:
            copied = subclasses.namespaces[name]
            members: dict[str, Any] = vars(sys.modules[name])
            copied.update({key: self.of(value) for key, value in members.items()})
        for name in PARTS:
            self.of(sys.modules[name]).__dict__.update(subclasses.namespaces[name])
        self._add_protocols(subclasses.class_from(masked), subclasses.namespaces[PARTS[0]])

    def _add_protocols(self, kind: Any, names: dict[str, Any]) -> None:
        """Give masked arrays that hold variables the methods that NumPy's functions ask for."""

        def __array_ufunc__(  # noqa: N807  a method
            array: Any, ufunc: Any, method: str, *inputs: Any, **options: Any
        ) -> Any:
            """Use the operation of masked arrays, if NumPy has one for the ufunc."""
            known: Any = names.get(ufunc.__name__)
            is_call = method == "__call__" and options.keys() <= {"dtype"}
            if is_call and getattr(known, "f", None) is ufunc:
                return known(*inputs, **options)
            return subclasses.HeldArray.__array_ufunc__(array, ufunc, method, *inputs, **options)

        def __array_function__(  # noqa: N807  a method
            array: Any, function: Any, types: Any, args: Any, options: Any
        ) -> Any:
            """Check the masks of a result, unless code in Python gives it, which heeds them."""
            run = subclasses.HeldArray.__array_function__
            if subclasses.code_of(function) is not None:
                return run(array, function, types, args, options)
            if function is np.empty_like:
                made = run(array, function, types, args, options)
                return subclasses.again(array, drop_in.array(made))
            given, named = deepcopy((_plain(args), {k: _plain(v) for k, v in options.items()}))
            asked = function(*given, **named)  # of copies: some functions write to arguments
            found = run(array, function, types, args, options)
            _check_masks(function, found, asked)
            return found

        def __deepcopy__(array: Any, memo: Any) -> Any:  # noqa: ARG001, N807  a method
            return array.copy()

        kind.__array_ufunc__, kind.__array_function__ = __array_ufunc__, __array_function__
        kind.__deepcopy__ = __deepcopy__

    def _construct(self, *args: Any, **options: Any) -> Any:
        """Make a masked array of a variable."""
        kind: Any = self.core.MaskedArray
        if are_plain(args, options) and not is_differentiating():
            return kind(*args, **options)
        data = args[0] if args else options.pop("data", None)
        args = (data if options.get("copy") else _readable(data), *args[1:])
        return self.new(kind, *args, **options)

    def of(self, value: Any) -> Any:
        """Return the copy of an object of these modules, or its stand-in, or itself."""
        known = self.made.get(id(value))
        if known is not None:
            return known[1]
        found = value
        if type_of(value) is FunctionType and id(value.__globals__) in self.modules:
            found = self._function(value)
        elif type_of(value).__module__ in subclasses.namespaces:
            found = self._instance(value)
        elif type_of(value) is type and value.__module__ in subclasses.namespaces:
            found = self._class(value)
        elif type_of(value) is ModuleType and value.__name__ in PARTS:
            found = ModuleType(value.__name__, value.__doc__)
        elif callable(value) or type_of(value) is ModuleType:
            found = self.lookup(value) or value
            if found is value and type_of(value) is FunctionType:  # one that NumPy keeps to itself
                found = shadow(value, self.lookup)
        self.made[id(value)] = value, found
        return found

    def _function(self, function: Any) -> Any:
        """Copy a function with the copy of its globals, and what its closure holds."""
        names = self.modules[id(function.__globals__)]
        made = subclasses.bound_to(function, None, names)
        for cell, own in zip(made.__closure__ or (), function.__closure__ or (), strict=True):
            cell.cell_contents = self.of(own.cell_contents)
        return made

    def _class(self, kind: Any) -> Any:
        if issubclass(kind, NDARRAY):
            return kind
        names = subclasses.namespaces[kind.__module__]
        cell = CellType()
        members: dict[str, Any] = {
            key: subclasses.bound_to(value, cell, names)
            for key, value in kind.__dict__.items()
            if key not in subclasses.LEFT_OUT
        }
        if kind.__name__ in ELEMENTWISE:
            members["__call__"] = _elementwise
        made = type(kind.__name__, tuple(map(self.of, kind.__bases__)), members)
        cell.cell_contents = made
        return made

    def _instance(self, value: Any) -> Any:
        """Copy an instance of a class of these modules: an operation, a domain."""
        if isinstance(value, NDARRAY) or type_of(value).__dict__.get("__slots__") is not None:
            return value
        made: Any = object.__new__(self.of(type_of(value)))
        made.__dict__.update({k: self.of(v) for k, v in attributes_of(value).items()})
        made.original, made.core = value, self
        return made


ELEMENTWISE = ("_MaskedUnaryOperation", "_MaskedBinaryOperation", "_DomainedBinaryOperation")


def _elementwise(operation: Any, *values: Any, **options: Any) -> Any:
    """Apply an elementwise operation; masked places get values of a place that is not masked."""
    core = operation.core.core
    with np.errstate(all="ignore"):
        asked: Any = operation.original(*map(_plain, values), **options)
    if asked is core.masked or not isinstance(asked, NDARRAY):
        return asked if asked is core.masked else operation.f(*map(_data, values), **options)
    mask, data = core.getmaskarray(asked), list(map(_data, values))
    if not mask.any():
        found: Any = operation.f(*data, **options)
    elif mask.all():
        found = np.zeros_like(data[0] if isinstance(data[0], AnyWrapper) else data[-1]) * asked.data
    else:
        where: Any = anything.unravel_index(np.flatnonzero(~mask)[0], mask.shape)
        inside = [np.where(mask, np.broadcast_to(d, mask.shape)[where], d) for d in data]
        found = operation.f(*inside, **options)
        if found.dtype.kind in "fc":
            found = anything.where(mask, data[0], found)
    if not isinstance(found, AnyWrapper):
        return asked
    source = next((v for v in values if isinstance(v, core.MaskedArray)), None)
    made = subclasses.held(found, type_of(asked), found)
    made._mask = core.getmask(asked)  # noqa: SLF001  as NumPy's operations do
    if source is not None:
        made._update_from(source)  # noqa: SLF001  likewise
    return made


def _check_masks(function: Any, found: Any, asked: Any) -> None:
    """Refuse the result of a function that heeds masks, as NumPy's result `asked` shows."""
    parts = (found, asked) if isinstance(asked, TUPLE) else ([found], [asked])
    for own, plain in zip(*parts, strict=True):
        own_plain = _plain(own)
        same = np.ma.getmaskarray(own_plain) == np.ma.getmaskarray(plain)
        if not same.all() or not np.ma.allequal(own_plain, plain, fill_value=True):
            raise NoRuleError(
                f"{function.__module__}.{function.__name__} of a masked array has no rule. Fix: "
                f"use numpy.ma.{function.__name__}, if there is one; or keep the mask as an array "
                "of bools, and use np.where(mask, fill, x)."
            )


def _data(value: Any) -> Any:
    """Return the data of a masked array: a variable, or a plain array."""
    if isinstance(value, Holder):
        return value.gradwrap_array()
    is_kept = isinstance(value, AnyWrapper) or type_of(value) in (int, float, complex)
    return value if is_kept else np.asarray(value)


def _plain(value: Any) -> Any:
    """Return the plain masked array of a value."""
    if isinstance(value, Holder):
        made: Any = np.ma.MaskedArray(
            native(value.gradwrap_array()), mask=getattr(value, "_mask", False)
        )
        return made
    if isinstance(value, SEQUENCE):
        return type_of(value)(map(_plain, value))
    return native(value) if isinstance(value, AnyWrapper) else value


_copies: list[_Copies] = []


def stand_in_of_masked(value: Any, lookup: Callable[[Any], Any]) -> Any:
    """Return the stand-in for a function or class of `numpy.ma`, or None."""
    if not _copies:
        _copies.append(_Copies(lookup))
    found = _copies[0].of(value)
    if found is value or issubclass(type_of(value), type):
        return found

    @standing_in(value, f"numpy.ma.{getattr(value, '__name__', '')}")
    def stand_in(*args: Any, **options: Any) -> Any:
        if are_plain(args, options) and not is_differentiating():
            return value(*args, **options)
        return found(*args, **options)

    return stand_in
