"""Drop-in for `import numpy as np`: NumPy itself, whose new arrays can hold tracked values.

Everything does what NumPy's does, and type checkers see NumPy's own types. The functions that make
arrays differ in two cases: inside a function that a transform differentiates, what they make can be
filled in place with tracked values; and what they are given may hold tracked values. Arrays of
integers and bools, which have no derivative, stay NumPy's own everywhere. The other functions
differ in one case: a nested list of tracked values is an array of them, as in `np.diag([a, b])`.

>>> import gradwrap as gw
>>> import gradwrap.numpy as np
>>> def running_product(x):
...     out = np.zeros(3)
...     out[0] = x[0]
...     for i in range(1, 3):
...         out[i] = out[i - 1] * x[i]
...     return np.sum(out)
>>> gw.grad(running_product)(np.array([1.0, 2.0, 3.0]))
array([9., 4., 2.])
"""

from __future__ import annotations

import re as _re
import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING, Any

import numpy as _numpy  # noqa: ICN001  np is what this module is imported as

from gradwrap.backends.drop_in import Submodule as _Submodule
from gradwrap.backends.drop_in import creation_functions as _creation_functions
from gradwrap.backends.drop_in import first_variable as _first_variable
from gradwrap.backends.drop_in import joining as _joining
from gradwrap.backends.drop_in import taking_lists as _taking_lists
from gradwrap.backends.iterating import Iterating as _Iterating
from gradwrap.core.calls.general import taking_arrays as _taking_arrays
from gradwrap.core.levels.memory import lay_out as _lay_out
from gradwrap.core.levels.memory import one_array as _one_array
from gradwrap.core.library.backend import backend_of as _backend_of
from gradwrap.core.observing.callers import drop_ins as _drop_ins
from gradwrap.core.values.dynamic import TUPLE as _TUPLE
from gradwrap.errors import TrackedValueError as _TrackedValueError

if TYPE_CHECKING:
    from numpy import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]  as seen

    from gradwrap.typing.numpy_names import *  # noqa: F403  # pyright: ignore[reportGeneralTypeIssues]  the constants again


class _Vectorize(_numpy.vectorize):  # pyright: ignore[reportIncompatibleVariableOverride]  # its `__module__`
    """NumPy's class; where an argument is a variable, the function is called for each element."""

    @_taking_arrays
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        variable = _first_variable([*args, *kwargs.values()])
        if variable is None:
            try:
                return super().__call__(*args, **kwargs)
            except (_TrackedValueError, ValueError) as error:
                if not isinstance(error.__cause__ or error, _TrackedValueError):
                    raise  # else the function gives tracked values for plain ones
        xp: Any = _numpy if variable is None else variable.__array_namespace__()
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        arrays = {k: _values(xp, v) for k, v in given.items() if k not in self.excluded}
        if self.signature is not None:
            return self._of_parts(xp, self.signature, list(arrays.values()))
        shape = _numpy.broadcast_shapes(*(a.shape for a in arrays.values()))
        # NumPy makes arrays of objects of its arguments, whose memory order its result has
        objects = [
            _numpy.empty_like(_backend_of(one).concrete(one), bool)
            for one in map(_one_array, arrays.values())
        ]
        arrays = {k: _numpy.broadcast_to(a, shape) for k, a in arrays.items()}

        def call(index: Any) -> Any:
            each = {k: arrays[k][index] if k in arrays else v for k, v in given.items()}
            positional = [each.pop(i) for i in range(len(args))]
            return self.pyfunc(*positional, **each)

        def joined(column: list[Any], place: int) -> Any:
            """One array, of the dtype that was given, or of that of the first result."""
            first = column[0] if column else 0.0
            dtype = _numpy.dtype(self.otypes[place]) if self.otypes else _numpy.result_type(first)
            made = xp.asarray(column)
            made = made if dtype in (made.dtype, object) else made.astype(dtype)
            made = xp.reshape(made, shape, copy=True)
            _lay_out(made, like)
            return made

        like = _numpy.nditer([*objects, None], ["zerosize_ok"]).operands[-1]
        results = [call(index) for index in _numpy.ndindex(*shape)]
        given_by = _first_variable(results) if variable is None else None
        xp = xp if given_by is None else given_by.__array_namespace__()
        if results and isinstance(results[0], _TUPLE):
            if self.otypes and len(self.otypes) == 1:  # each tuple is an object
                return _of_tuples(results, shape)
            columns = enumerate(zip(*results, strict=True))
            return tuple(joined(list(column), place) for place, column in columns)
        return joined(results, 0)

    def _of_parts(self, xp: Any, signature: str, arrays: list[Any]) -> Any:
        """Call the function of each part that the signature names, and stack its results."""
        inputs, _, outputs = signature.partition("->")
        axes = [len(_re.findall(r"\w+", part)) for part in _re.findall(r"\(([^)]*)\)", inputs)]
        outer = [a.shape[: a.ndim - n] for a, n in zip(arrays, axes, strict=True)]
        shape = _numpy.broadcast_shapes(*outer)
        spread = [
            _numpy.broadcast_to(a, (*shape, *a.shape[a.ndim - n :]))
            for a, n in zip(arrays, axes, strict=True)
        ]
        results = [self.pyfunc(*(a[index] for a in spread)) for index in _numpy.ndindex(*shape)]
        several = outputs.count("(") > 1
        stacked = [
            xp.stack([xp.asarray(part) for part in column])
            for column in (zip(*results, strict=True) if several else [results])
        ]
        made = [xp.reshape(one, (*shape, *one.shape[1:])) for one in stacked]
        return tuple(made) if several else made[0]


def _of_tuples(results: list[Any], shape: tuple[int, ...]) -> Any:
    """Return tuples as NumPy's `vectorize` does: in an array of objects, or one as an array."""
    made = _numpy.empty(len(results) if shape else len(results[0]), dtype=object)
    for place, one in enumerate(results if shape else results[0]):
        made[place] = one
    return made.reshape(shape) if shape else made


def _values(xp: Any, value: Any) -> Any:
    """Return an argument as an array; other objects (None, a function) become its element."""
    if _first_variable([value]) is None:
        plain: Any = _numpy.asarray(value)
        if plain.dtype.kind not in "biufc":
            return plain
    return xp.asarray(value)


class _NdEnumerate(_numpy.ndenumerate):  # pyright: ignore[reportMissingTypeArgument, reportUntypedBaseClass]  # NumPy's stubs
    """NumPy's class, also for a variable."""

    def __init__(self, arr: Any) -> None:
        variable = _first_variable([arr])
        if variable is None:
            super().__init__(arr)
        else:
            self.iter = variable.__array_namespace__().asarray(arr).flat


class _NdIterType(type):
    """The class of what stands for `nditer`, which cannot be derived from."""

    def __call__(cls, op: Any, *args: Any, **kwargs: Any) -> Any:
        if _first_variable([op]) is not None:
            return _Iterating(_OURS["zeros"], op, *args, **kwargs)
        return _numpy.nditer(op, *args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> Any:
        return isinstance(instance, (_numpy.nditer, _Iterating))


class _NdIter(metaclass=_NdIterType):
    __doc__ = _numpy.nditer.__doc__


def _of_random(name: str) -> Any:
    return getattr(_import_module("gradwrap.random"), name)


_OURS: dict[str, Any] = {
    **_creation_functions(_numpy),
    **_joining(_numpy),
    "fft": _Submodule(_numpy.fft, lambda found, _: _taking_lists(found)),
    "linalg": _Submodule(_numpy.linalg, lambda found, _: _taking_lists(found)),
    "ndenumerate": _NdEnumerate,
    "nditer": _NdIter,
    "vectorize": _Vectorize,
}


if not TYPE_CHECKING:  # for a type checker, what NumPy has not is an error

    def __getattr__(name: str) -> Any:
        found = _OURS.get(name)
        if name == "random":  # NumPy, too, imports its module at first use
            found = _import_module("gradwrap.random")
        if found is None:
            known = getattr(_numpy, name)
            found = _taking_lists(known)
            if found is known:
                return known
        globals()[name] = found  # from now on found at once
        return found


# Without these, `import gradwrap.numpy.linalg` would load NumPy's file a second time.
_random = _ModuleType(f"{__name__}.random")
vars(_random)["__getattr__"] = _of_random
_sys.modules.update({f"{__name__}.{name}": _OURS[name] for name in ("fft", "linalg")})
_sys.modules[_random.__name__] = _random

_drop_ins.append(_sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*dir(_numpy), *_OURS})
