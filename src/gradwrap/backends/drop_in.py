"""Functions that the drop-in namespaces for NumPy and CuPy share.

Creation functions accept tracked values, and inside a function that a transform differentiates
their new arrays can be filled in place with tracked values. Arrays of integers and bools, which
have no derivative, stay the library's own everywhere. All other functions of NumPy's take nested
lists of tracked values where NumPy takes nested lists of numbers.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gradwrap.backends.numpy.functions import IMPLEMENTATIONS
from gradwrap.backends.numpy.functions.polynomials import OF_OBJECTS, on_objects
from gradwrap.core.array import protocol
from gradwrap.core.array.variable import variable_class
from gradwrap.core.calls.general import taking_arrays
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.memory import lay_out, one_array
from gradwrap.core.levels.modes import entered, is_traced
from gradwrap.core.levels.wrapper import AnyWrapper, holds_wrapper, innermost, make_wrapper, native
from gradwrap.core.library.backend import backend_of, by_type
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, type_of
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

FROM_VALUES = (
    *("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "copy"),
    *("asarray_chkfinite", "require"),
)
NEW = (
    *("zeros", "ones", "empty", "zeros_like", "ones_like", "empty_like", "full_like", "arange"),
    *("linspace", "logspace", "geomspace", "eye", "identity", "tri", "diagflat", "fromfunction"),
    *("full", "meshgrid", "indices"),
)


def creation_functions(library: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return a library's creation functions, whose arrays can then hold tracked values."""
    tracked = dict.fromkeys(FROM_VALUES, _converted) | dict.fromkeys(NEW, _new)
    found = {
        name: _maker(library, name, make)
        for name, make in tracked.items()
        if hasattr(library, name)
    }
    return found | {"fromiter": _fromiter(library, found["asarray"])}


def first_variable(values: Any) -> Any:
    """Return the first variable among values or nested lists of values, or None."""
    for value in values:
        if isinstance(value, AnyWrapper):
            return value
        if isinstance(value, SEQUENCE):
            found = first_variable(value)
            if found is not None:
                return found
    return None


def _wrapped(library: ModuleType, result: Any, given: tuple[Any, ...] = ()) -> Any:
    """Wrap new floating-point arrays, untracked, where tracked values may be stored in them.

    A given array, or a view of one, is not new.
    """
    if not is_differentiating():
        return result
    if isinstance(result, SEQUENCE):
        return type(result)(_wrapped(library, part, given) for part in result)
    if not isinstance(result, library.ndarray):
        return result
    kind = library.ndarray
    if any(isinstance(a, kind) and library.may_share_memory(result, a) for a in given):
        return result
    if result.dtype.kind not in "fc":
        return result
    held = entered(result)
    return make_wrapper(variable_class(backend_of(held)), held)


def _maker(library: ModuleType, name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """Return the library's function; it calls `make` if an argument holds a variable."""
    native = getattr(library, name)

    @taking_arrays
    @functools.wraps(native)
    def maker(*args: Any, **options: Any) -> Any:
        variable = first_variable([*args, *options.values()])
        if variable is None and is_traced():
            args = map_leaves(_held, args)
            variable = first_variable(args)
        if variable is None:
            found = native(*args, **options)
            if name.startswith("empty") and is_traced():
                found[...] = 0  # so that compiled functions return the same values each time
            return _wrapped(library, found, (*args, *options.values()))
        return make(variable.__array_namespace__(), library, native, args, options)

    return maker


def _held(value: Any) -> Any:
    """Wrap an outer array that a trace represents by a stand-in."""
    backend = by_type.get(type_of(value))
    if backend is None or backend.concrete(value) is value:
        return value
    return make_wrapper(variable_class(backend), value)


def as_array(scalar: Any, array: Any) -> Any:
    """Return a variable that holds an array without axes, and has the node of a scalar."""
    made = make_wrapper(type_of(scalar), array, scalar._node)
    made._is_array = True
    return made


def _converted(
    xp: Any,
    library: ModuleType,
    native: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """Convert data as the library does, to the array itself, a view, or a copy."""
    # the first parameter's name; CuPy's array has NumPy's for asarray
    names = ("object", "obj", "a") if native.__name__ == "array" else ("a",)
    name = next((name for name in names if name in options), None)
    obj = args[0] if name is None else options[name]
    if not holds_wrapper(obj):  # it is another argument, `like=`
        return native(*args, **options)
    value = xp.asarray(obj)
    if native.__name__ == "asarray_chkfinite":
        inner = innermost(value)
        if not np.isfinite(inner).all():  # in a trace, a branch
            native(inner)
    if isinstance(obj, SEQUENCE) and len(args) + len(options) == 1:  # it is new
        value._is_array = True
        return value
    data = one_array(value)
    data = backend_of(data).concrete(data)
    like = native(data, *args[1:], **{k: v for k, v in options.items() if k != name})
    if like is data:
        return value
    if library.may_share_memory(like, data):
        return xp.reshape(value, like.shape)
    made = xp.copy(value if value.dtype == like.dtype else xp.astype(value, like.dtype))
    made = xp.reshape(made, like.shape, copy=True) if made.shape != like.shape else made
    lay_out(made, like)
    made._is_array = True
    return made


def _new(
    xp: Any,
    library: ModuleType,  # noqa: ARG001  the parameters of `_converted`
    native: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """Make a new array by gradwrap's implementation of a creation function."""
    name = native.__name__
    make = OWN.get(name) or IMPLEMENTATIONS.get(getattr(np, name))
    if name.endswith("_like"):
        args = tuple(
            xp.asarray(a) if i == 0 and isinstance(a, SEQUENCE) else a for i, a in enumerate(args)
        )
    found = native(*args, **options) if make is None else make(xp, *args, **options)
    if isinstance(found, AnyWrapper) and not found.shape:
        found._is_array = True
    return found


def _full(
    xp: Any, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **_options: Any
) -> Any:
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    found = xp.full(shape, fill_value, dtype=None if dtype is None else np.dtype(dtype))
    lay_out(found, np.empty(shape, order=order))
    return found


def _arange(xp: Any, start: Any, stop: Any = None, step: Any = 1, **options: Any) -> Any:
    """Return `start + step * [0, 1, ...]`; how many there are has no derivative."""
    start, stop = (0, start) if stop is None else (start, stop)
    if is_traced() and not options:  # how many there are is a branch of the program
        count = int(np.ceil((native(stop) - native(start)) / native(step)))
        places = np.arange(max(count, 0), dtype=np.result_type(start, step, np.float64))
        return start + step * xp.asarray(places)
    bounds: list[Any] = [np.asarray(native(value)) for value in (start, stop, step)]
    make: Any = np.arange
    plain: Any = make(*bounds, **options)
    if plain.dtype.kind not in "fc":
        return plain
    return xp.astype(
        start + step * xp.asarray(np.arange(plain.size, dtype=plain.dtype)), plain.dtype
    )


OWN: dict[str, Callable[..., Any]] = {"arange": _arange, "full": _full}
"""The creation functions that have an implementation here."""


def _fromiter(library: ModuleType, asarray: Callable[..., Any]) -> Callable[..., Any]:
    native = library.fromiter

    @functools.wraps(native)
    def fromiter(iter: Any, dtype: Any, count: int = -1, **options: Any) -> Any:
        items: list[Any] = list(iter if count < 0 else itertools.islice(iter, count))
        if holds_wrapper(items):
            return asarray(items, np.dtype(dtype).base)  # the elements of a subarray are arrays
        return _wrapped(library, native(items, dtype, count, **options))

    return fromiter


# Lists of tracked values --------------------------------------------------------------------------

ARRAYS_IN: dict[str, tuple[str, ...]] = {
    "block": ("arrays",),
    "choose": ("choices",),
    "column_stack": ("tup",),
    "concat": ("arrays",),
    "concatenate": ("arrays",),
    "dstack": ("tup",),
    "histogramdd": ("bins",),
    "hstack": ("tup",),
    "lexsort": ("keys",),
    "multi_dot": ("arrays",),
    "piecewise": ("condlist", "funclist"),
    "ravel_multi_index": ("multi_index",),
    "row_stack": ("tup",),
    "select": ("condlist", "choicelist"),
    "stack": ("arrays",),
    "vstack": ("tup",),
}
"""The parameters that are sequences of arrays, which are converted one by one."""
HIDING = frozenset({np.array_equal, np.array_equiv})
"""Functions that take a failed conversion for an answer."""
UFUNC_METHODS: Final = frozenset({"accumulate", "at", "outer", "reduce", "reduceat"})
LISTS: Final[frozenset[Any]] = frozenset(SEQUENCE)
DISPATCHED: tuple[type[Any], ...] = (type_of(np.sum), type_of(np.concatenate))


def taking_lists(found: Any) -> Any:
    """Return the version of a NumPy function or ufunc that takes lists; others unchanged."""
    if not isinstance(found, (np.ufunc, *DISPATCHED)):
        return found
    return (_TakingPolynomials if found in OF_OBJECTS else TakingLists)(found)


class TakingLists:
    """A NumPy function or ufunc that also takes nested lists of variables.

    It compares as equal to the function itself.
    """

    __slots__ = ("_converts_first", "_hides", "_known")

    def __init__(self, known: Any) -> None:
        self._known = known
        self._hides = known in HIDING
        self._converts_first = known.__name__ not in ARRAYS_IN

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        known = self._known
        converted = None
        if self._converts_first:
            for arg in args:
                if type_of(arg) in LISTS and (self._hides or _begins_with_variable(arg)):
                    converted = with_arrays(known, args, kwargs)
                    break
        if converted is None:
            try:
                return known(*args, **kwargs)
            except TypeError:  # ours, or CuPy's own: it has refused a list, or something else
                converted = with_arrays(known, args, kwargs)
                if converted is None:
                    raise
        args, kwargs = converted
        if not isinstance(known, DISPATCHED):
            return known(*args, **kwargs)
        # NumPy does not ask all arguments whether they answer for the function
        cls = type_of(first_variable([*args, *kwargs.values()]))
        return protocol.call_function(cls, known, args, kwargs)

    @property  # type: ignore[misc]  # of its class
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # of its class
        """NumPy's class, so that `isinstance(np.sin, np.ufunc)` is true."""
        return type_of(self._known)

    @property
    def __doc__(self) -> Any:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]  # of its class
        return self._known.__doc__

    @property
    def __wrapped__(self) -> Any:
        return self._known

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._known, name)
        return TakingLists(found) if name in UFUNC_METHODS else found

    def __eq__(self, other: object) -> bool:
        return bool(self._known == (other._known if type(other) is TakingLists else other))

    def __hash__(self) -> int:
        return hash(self._known)

    def __repr__(self) -> str:
        return repr(self._known)

    def __reduce__(self) -> Any:
        return (TakingLists, (self._known,))


class _TakingPolynomials(TakingLists):
    # A NumPy function that also takes objects, `np.poly1d`, whose coefficients are variables. Its
    # docstring is NumPy's, too: without a line here, the class would hide the property.
    __slots__ = ()
    __doc__: Any = TakingLists.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        held = first_variable([one.coeffs for one in given if isinstance(one, np.poly1d)])
        if held is None:
            return super().__call__(*args, **kwargs)
        return on_objects(self._known, super().__call__, args, kwargs)


def with_arrays(
    known: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Return the arguments with lists of variables joined to arrays; None if there are none."""
    values: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
    chosen = {key for key, value in values.items() if _is_list_of_variables(value)}
    chosen -= {"out", *range(getattr(known, "nin", len(args)), len(args))}  # targets are arrays
    if not chosen:
        return None
    xp = first_variable(values[key] for key in chosen).__array_namespace__()
    several = ARRAYS_IN.get(known.__name__, ())
    names = list(inspect.signature(known).parameters) if several else []

    def made(key: Any) -> Any:
        value = values[key]
        if key not in chosen:
            return value
        if known.__name__ == "at" and isinstance(value, TUPLE):  # one index for each axis
            return tuple(map(converted, value))
        if (names[key] if isinstance(key, int) and names else key) not in several:
            return xp.asarray(value)
        return list(map(converted, value))

    def converted(part: Any) -> Any:
        return xp.asarray(part) if _is_list_of_variables(part) else part

    return tuple(made(i) for i in range(len(args))), {name: made(name) for name in kwargs}


def _begins_with_variable(value: Any) -> bool:
    """Tell if the first element of nested lists is a variable; skip the other elements."""
    while isinstance(value, SEQUENCE) and value:
        value = value[0]
    return isinstance(value, AnyWrapper)


def _is_list_of_variables(value: Any) -> bool:
    return isinstance(value, SEQUENCE) and holds_wrapper(value)


class Submodule(ModuleType):
    """A submodule of a library, whose objects `standing_for(found, name)` replaces."""

    def __init__(self, known: ModuleType, standing_for: Callable[[Any, str], Any]) -> None:
        super().__init__(f"gradwrap.{known.__name__}", known.__doc__)
        self._known = known
        self._standing_for = standing_for

    def __getattr__(self, name: str) -> Any:
        found = self._standing_for(getattr(self._known, name), name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return dir(self._known)


# `r_` and `c_`, which join the values between their brackets --------------------------------------


def joining(library: ModuleType) -> dict[str, Any]:
    """Return a library's `r_` and `c_`, extended to join tracked values."""
    return {
        "r_": _Joining(library, "r_", 0, lambda a: a[None] if a.ndim == 0 else a),
        "c_": _Joining(
            library, "c_", -1, lambda a: a[(None,) * (1 - a.ndim)][:, None] if a.ndim < 2 else a
        ),
    }


class _Joining:
    """A library's `r_` or `c_`, which joins variables too."""

    def __init__(
        self, library: ModuleType, name: str, axis: int, piece: Callable[[Any], Any]
    ) -> None:
        self._native: Any = getattr(library, name)
        self._name = f"{library.__name__}.{name}"
        self._axis = axis
        self._piece = piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, TUPLE) else (key,)
        variable = first_variable(items)
        if variable is None:
            return self._native[key]
        if isinstance(items[0], str):
            raise NoRuleError(
                f"{self._name} with a string in front has no rule for tracked values. "
                "Fix: use np.concatenate, np.stack or np.reshape."
            )
        xp: Any = variable.__array_namespace__()
        pieces = [
            self._piece(xp.asarray(item)) if holds_wrapper(item) else self._native[item]
            for item in items
        ]
        return xp.concat(pieces, axis=self._axis)
