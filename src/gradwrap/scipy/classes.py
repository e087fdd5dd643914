"""Classes of SciPy whose objects can hold variables.

Each is a subclass of SciPy's class, and accepts SciPy's own objects as instances.
"""

from __future__ import annotations

import functools
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import DICT, SEQUENCE, rebuilt
from gradwrap.scipy.array_api import array_api_paths
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.solving import as_array
from gradwrap.scipy.table import Kind, Row
from gradwrap.transforms.arguments import wrapped_untracked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Class(Kind):
    """A class of SciPy, replaced by the subclass that `make(original)` returns."""

    name = "class"
    tracks_all = True

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make

    def stand_in(self, row: Row) -> Any:
        """Return the subclass."""
        return self.make(row.original)


def meta_of(native: Any) -> Any:
    """Make a metaclass for a subclass that accepts SciPy's own objects as instances."""

    class InstancesOfBoth(type(native)):  # type: ignore[misc]  # a class of SciPy's
        def __instancecheck__(self, instance: Any) -> bool:
            return native in type(instance).__mro__

        def __subclasscheck__(self, other: Any) -> bool:
            return native in other.__mro__

    return InstancesOfBoth


def in_namespace(  # noqa: C901  the parts of one class
    constructors: Sequence[str], methods: Sequence[str], attributes: Sequence[str] = ()
) -> Callable[[Any], Any]:
    """Make the subclass of a class that SciPy implements in the namespace of its arrays.

    Its constructors and methods run with SciPy's array-API paths open. Objects of plain data among
    their arguments are rebuilt in the namespace of the variables.
    """

    def make(native: Any) -> Any:  # noqa: C901  likewise
        body: dict[str, Any] = {"__module__": native.__module__, "__doc__": native.__doc__}
        made = meta_of(native)(native.__name__, (native,), body)

        def opened(function: Any, args: Any, kwargs: Any) -> Any:
            if not (holds_variable([args, kwargs]) or holds_tracked([args, kwargs])):
                return _adopted(function(*args, **kwargs), native, made)
            with array_api_paths():
                result = function(*map(_lifted, args), **_lifted(kwargs))
            return _adopted(result, native, made)

        def constructor(name: str) -> Any:
            function = getattr(native, name)

            @functools.wraps(function)
            def construct(*args: Any, **kwargs: Any) -> Any:
                return opened(function, args, kwargs)

            return staticmethod(construct)

        def method(name: str) -> Any:
            function = getattr(native, name)

            @functools.wraps(function)
            def call(*args: Any, **kwargs: Any) -> Any:
                return opened(function, args, kwargs)

            return call

        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG001, N807  a class's
            return opened(native, args, kwargs)

        def take_over(self: Any, *args: Any, **kwargs: Any) -> None:
            with array_api_paths():
                native.__init__(self, *map(_lifted, args), **_lifted(kwargs))
            self.__class__ = made

        made._take_over = staticmethod(take_over)
        made._constructors = tuple(constructors)
        for name in constructors:
            setattr(made, name, constructor(name))
        for name in methods:
            setattr(made, name, method(name))
        for name in attributes:
            setattr(made, name, property(method_of_property(native, name, opened)))
        if "__mul__" in methods:
            made.__rmul__ = lambda self, other: opened(native.__mul__, (other, self), {})
        made.__new__ = __new__
        # Python calls it on the result of `__new__`
        made.__init__ = lambda self, *args, **kwargs: None
        return made

    return make


def method_of_property(native: Any, name: str, opened: Any) -> Any:
    """Return the getter of a property, which runs with the array-API paths open."""
    getter = getattr(native, name).fget
    return lambda self: opened(getter, (self,), {})


def holds_tracked(value: Any) -> bool:
    """Tell if nested lists contain an object that holds variables."""
    if isinstance(value, SEQUENCE):
        return any(map(holds_tracked, value))
    if isinstance(value, DICT):
        return any(map(holds_tracked, value.values()))
    return hasattr(value, "__dict__") and holds_variable(list(vars(value).values()))


def _is_of_numbers(value: Any) -> bool:
    """Tell if a value is a number, an array, or a nested list of them."""
    if isinstance(value, SEQUENCE):
        return all(map(_is_of_numbers, value))
    return isinstance(value, (AnyWrapper, np.ndarray, numbers.Number))


def _lifted(value: Any) -> Any:
    """Rebuild objects of plain data in an argument from untracked variables; join lists of numbers.

    SciPy's array-API paths take arrays, and no lists of variables.
    """
    if isinstance(value, SEQUENCE) and holds_variable([value]) and _is_of_numbers(value):
        value = as_array(value)
    if isinstance(value, SEQUENCE):
        return rebuilt(value, [_lifted(part) for part in value])
    if isinstance(value, DICT):
        return {key: _lifted(part) for key, part in value.items()}
    if isinstance(value, AnyWrapper):
        # SciPy computes in double precision, except for arrays of other libraries
        return value.astype(np.float64) if value.dtype == np.float32 else value
    if holds_tracked(value):
        return value
    for public, make in (("as_quat", "from_quat"), ("as_dual_quat", "from_matrix")):
        if hasattr(value, public) and hasattr(type(value), make):
            data = value.as_quat() if make == "from_quat" else value.as_matrix()
            return getattr(type(value), make)(wrapped_untracked(data))
    return value


def _adopted(result: Any, native: Any, made: Any) -> Any:
    """Convert a result of SciPy's class that holds variables to the subclass."""
    if isinstance(result, SEQUENCE):
        return rebuilt(result, [_adopted(part, native, made) for part in result])
    if type(result) is native:
        result.__class__ = made
    return result
