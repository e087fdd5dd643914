"""Functions and classes that Numba has compiled, run as the Python code that they were made of."""

from __future__ import annotations

import functools
import re
import sys
from contextvars import ContextVar
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.builtin_names import StandIn
from gradwrap.adaptation.plain_values import Holder, are_plain
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.values.dynamic import TUPLE, attribute_or_none, attributes_of
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ours: Any = drop_in


COMPILED = "__gradwrap_compiled__"
"""The attribute of a stand-in that has what it stands for."""
_in_python: ContextVar[bool] = ContextVar("gradwrap_numba_in_python", default=False)
"""True while the Python code of a compiled function runs."""


NO_ARRAYS = (int, float, complex, str, type, np.dtype, np.generic, type(None))


def compiled_of(value: Any) -> Any:
    """Return the compiled function that a stand-in stands for, and other values as they are."""
    return vars(value).get(COMPILED, value) if type(value) is FunctionType else value


def uncompiled(dispatcher: Any) -> Any:
    """Make a stand-in for a function that runs its Python code on variables.

    What it calls with numbers and dtypes alone runs as Python too: compiled, an integer may become
    a float, which compiled code takes where Python's `range` does not, and new arrays are plain.
    """

    @functools.wraps(dispatcher)
    def stand_in(*args: Any, **options: Any) -> Any:
        if are_plain(args, options) and not (_in_python.get() and _is_for_python(args, options)):
            return dispatcher(*args, **options)
        token = _in_python.set(True)
        try:
            return dispatcher.py_func(*args, **options)
        finally:
            _in_python.reset(token)

    vars(stand_in)[COMPILED] = dispatcher
    return stand_in


def _is_for_python(args: Any, options: dict[str, Any]) -> bool:
    values = (*args, *options.values())
    are_numbers = all(isinstance(value, NO_ARRAYS) for value in values)
    return are_numbers or any(type(value) in (list, dict) for value in values)


def uncompiling(decorator: Any) -> Any:
    """Make a stand-in for a decorator of Numba's: what it makes runs its Python code."""

    def through(made: Any) -> Any:
        if type(made) is FunctionType:  # a decorator with its options
            return uncompiling(made)
        wrap = UNCOMPILED.get(type(made).__name__)
        if wrap is None:
            return uncompiled(made) if hasattr(made, "py_func") else made
        return wrap(made)

    @functools.wraps(decorator)
    def stand_in(*args: Any, **options: Any) -> Any:
        return through(decorator(*args, **options))

    return stand_in


def uncompiled_ufunc(function: Any, python: Any = None) -> Any:
    """Make a stand-in for a ufunc that runs the Python function on each element."""
    python = python or function._dispatcher.py_func  # noqa: SLF001  it has no other name

    @functools.wraps(function)
    def stand_in(*args: Any, out: Any = None, where: Any = True, **options: Any) -> Any:
        if are_plain(args, {"out": out, "where": where, **options}):
            return function(*args, out=out, where=where, **options)
        _check_options(function, options, args)
        args, rest = args[: function.nin], args[function.nin :]
        (into,) = rest or (out if isinstance(out, TUPLE) else (out,))
        found = drop_in.vectorize(python, otypes=_dtypes_of(function, args))(*args)
        if where is not True:
            before = ours.zeros(found.shape, found.dtype) if into is None else into
            found = ours.where(where, found, before)
        if into is None:
            return found
        into[...] = found
        return into

    vars(stand_in)[COMPILED] = function
    return stand_in


def _dtypes_of(function: Any, args: Any) -> list[Any]:
    """Return the dtypes of a ufunc's results, which its branches may not give."""
    ones = [np.ones((), one.dtype) if hasattr(one, "dtype") else np.ones_like(one) for one in args]
    with np.errstate(all="ignore"):
        found = function(*ones)
    return [one.dtype for one in found] if isinstance(found, TUPLE) else [found.dtype]


def overloaded(function: Any) -> Any:
    """Make a stand-in for a function that compiled code replaces by another one, or return None.

    `numba.extending.overload` gives functions that choose the other one by the types of the
    arguments. Python code in place of compiled code calls what compiled code would call.
    """
    templates: Any = sys.modules.get("numba.core.typing.templates")
    known = () if templates is None else templates.builtin_registry.globals
    found = [kind for value, kind in known if value is function]
    choices = [
        one._overload_func  # noqa: SLF001  it has no other name
        for kind in found
        for one in attribute_or_none(kind, "templates") or ()
        if hasattr(one, "_overload_func")
    ]
    if not choices:
        return None

    @functools.wraps(function)
    def stand_in(*args: Any, **options: Any) -> Any:
        if _in_python.get():
            types = list(map(_type_in_numba, args))
            words = {name: _type_in_numba(value) for name, value in options.items()}
            for choose in reversed(choices):
                chosen = choose(*types, **words)
                if chosen is not None:
                    return chosen(*args, **options)
        return function(*args, **options)

    return stand_in


def _type_in_numba(value: Any) -> Any:
    """Return the type that compiled code would give a value."""
    if isinstance(value, AnyWrapper):
        value = np.empty(value.shape, value.dtype) if value.ndim else value.dtype.type(0)
    return sys.modules["numba"].typeof(compiled_of(value))


NEUTRAL = frozenset({"casting", "order", "subok"})
"""The options of ufuncs that change no number."""


def _check_options(function: Any, options: dict[str, Any], args: tuple[Any, ...]) -> None:
    """Refuse options that this module knows nothing of, and dtypes other than the arguments'."""
    for name in options.keys() - NEUTRAL:
        given = options[name]
        letters = given.replace("->", "") if isinstance(given, str) and "->" in given else [given]
        parts: Any = given if isinstance(given, TUPLE) else letters
        kinds = {np.dtype(one) for one in parts if one is not None}
        floats = {kind for kind in kinds if kind.kind in "fc"}
        own = {one.dtype for one in map(ours.asarray, args) if one.dtype.kind in "fc"}
        if name in ("dtype", "signature", "sig") and floats <= own and len(own) == 1:
            continue
        raise NoRuleError(
            f"{function.__name__}, a function that Numba has compiled, has no derivative with "
            f"{name}=. Fix: leave it out."
        )


# Functions of parts of arrays ---------------------------------------------------------------------


def uncompiled_gufunc(function: Any, builder: Any = None) -> Any:
    """Make a stand-in for a function of `guvectorize` that runs the Python function on each part.

    A ufunc that has been compiled for some types knows less than its builder.

    Such a function writes its results to arrays that it is given after the inputs.
    """
    builder = builder or attribute_or_none(function, "gufunc_builder")
    signature = function.signature or builder.signature  # NumPy has none where all are numbers
    inputs, outputs = (
        [re.findall(r"\w+", part) for part in re.findall(r"\(([^)]*)\)", side)]
        for side in (*signature.split("->"), "")[:2]  # the last argument may be written to
    )
    python = function.__wrapped__ if builder is None else builder.py_func
    kinds = _kinds_of_parameters(signature, builder)

    @functools.wraps(function)
    def stand_in(
        *args: Any,
        out: Any = None,
        axes: Any = None,
        axis: Any = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        if are_plain(args, {"out": out, **options}):
            named = {"axes": axes, "axis": axis, "keepdims": keepdims or None, "out": out}
            options |= {name: value for name, value in named.items() if value is not None}
            return function(*args, **options)
        _check_options(function, options, args[: len(inputs)])
        before, after = _axes_of(inputs, outputs, axes, axis, keepdims=keepdims)
        given: list[Any] = [
            np.moveaxis(ours.asarray(a), at, range(-len(at), 0))
            for a, at in zip(args[: len(inputs)], before, strict=True)
        ]
        split = [a.ndim - len(axes) for a, axes in zip(given, inputs, strict=True)]
        shape = np.broadcast_shapes(*(a.shape[:n] for a, n in zip(given, split, strict=True)))
        sizes = {
            axis: size
            for a, n, axes in zip(given, split, inputs, strict=True)
            for axis, size in zip(axes, a.shape[n:], strict=True)
        }
        spread = [  # what is read-only is no array of the caller's that the function writes to
            a
            if isinstance(arg, AnyWrapper) and a.shape[:n] == shape
            else np.broadcast_to(a, (*shape, *a.shape[n:]))
            for a, n, arg in zip(given, split, args, strict=False)
        ]
        into: Any = args[len(inputs) :] or (() if out is None else out)
        into = into if isinstance(into, TUPLE) else (into,)
        kept = (1,) * (len(inputs[0]) if keepdims else 0)
        wholes: list[Any] = [
            np.moveaxis(one, at, range(-len(at), 0)) for one, at in zip(into, after, strict=False)
        ]
        wholes = wholes or [
            ours.zeros((*shape, *(sizes[axis] for axis in axes), *kept)) for axes in outputs
        ]
        results = [whole[(..., *(0 for _ in kept))] for whole in wholes]
        for place in np.ndindex(*shape):
            parts = [
                a[place] if kind is None or a[place].ndim else a[(*place, None)]
                for a, kind in zip(spread, kinds, strict=False)
            ]
            targets = [
                r[(*place, ...)] if axes else r[(*place, None)]
                for r, axes in zip(results, outputs, strict=True)
            ]
            python(*parts, *targets)
        moved = [
            np.moveaxis(r, range(-len(at), 0), at) for r, at in zip(wholes, after, strict=True)
        ]
        found = list(into) or [r if r.ndim else r[()] for r in moved]
        return found[0] if len(found) == 1 else tuple(found)

    vars(stand_in)[COMPILED] = function
    return stand_in


def _axes_of(
    inputs: list[Any], outputs: list[Any], axes: Any, axis: Any, *, keepdims: bool
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the axes that the function acts on, of each input and each output."""
    counts = [*map(len, inputs), *(len(inputs[0]) if keepdims else len(one) for one in outputs)]
    if axis is not None:
        axes = [(axis,) * count for count in counts]
    found: list[tuple[int, ...]] = [
        one if isinstance(one, TUPLE) else (one,) for one in (() if axes is None else axes)
    ]
    for count in counts[len(found) :]:
        is_like = keepdims and len(found) >= len(inputs) and axes is not None
        found.append(found[0] if is_like else tuple(range(-count, 0)))
    return found[: len(inputs)], found[len(inputs) :]


def _kinds_of_parameters(signature: str, builder: Any) -> list[Any]:
    """Return for each parameter its number of axes where it was declared as an array."""
    count = signature.partition("->")[0].count("(")
    declared: Any = attribute_or_none(builder, "_sigs") or []
    first: Any = declared[0] if declared else None
    types: Any = attribute_or_none(first, "args") or first or ()
    found = [attribute_or_none(kind, "ndim") for kind in types][:count]
    return found + [None] * (count - len(found))


# Classes ------------------------------------------------------------------------------------------


class _Instance(Holder):
    """An instance of a compiled class, as a Python object."""

    _stands_for: Any

    @property  # type: ignore[misc]  # it is read alone
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # likewise
        """The compiled class, for which the instance passes."""
        return self._stands_for

    def gradwrap_array(self) -> Any:
        """Return itself: it is no array."""
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        declared = str(self._stands_for.class_type.struct.get(name))
        is_whole = declared.startswith(("int", "uint"))
        object.__setattr__(self, name, int(native(value)) if is_whole else value)


def uncompiled_class(kind: Any) -> Any:
    """Make a stand-in for a class of `jitclass`: in a transform it makes Python objects."""
    about = kind.class_type
    members: dict[str, Any] = {}
    for name, method in about.jit_methods.items():
        members[name] = method.py_func
    for name, static in about.jit_static_methods.items():
        members[name] = staticmethod(static.py_func)
    for name, parts in about.jit_props.items():
        members[name] = property(*(f.py_func for f in (parts.get("get"), parts.get("set")) if f))
    made = type(kind.__name__, (_Instance,), {**members, "_stands_for": kind})

    def call(_: Any, *args: Any, **options: Any) -> Any:
        is_plain = are_plain(args, options) and not is_differentiating()
        return kind(*args, **options) if is_plain else made(*args, **options)

    def check(_: Any, value: Any) -> bool:
        return issubclass(type(value), made) or isinstance(value, kind)

    metaclass: Any = type("StandIn", (StandIn,), {"__call__": call, "__instancecheck__": check})
    statics = {name: members[name] for name in attributes_of(about)["jit_static_methods"]}
    return type.__new__(metaclass, kind.__name__, (), {**statics, "stands_for": kind})


def _container(kind: Any, in_python: Any, empty: str) -> Any:
    """Make a stand-in for a typed container: code in place of compiled code makes Python's."""
    make_empty = getattr(kind, empty)

    def call(_: Any, *args: Any, **options: Any) -> Any:
        return in_python(*args) if _in_python.get() else kind(*args, **options)

    def of_types(*types: Any, **options: Any) -> Any:
        return in_python() if _in_python.get() else make_empty(*types, **options)

    metaclass: Any = type("StandIn", (StandIn,), {"__call__": call})
    names = {"stands_for": kind, empty: staticmethod(of_types)}
    return type.__new__(metaclass, kind.__name__, (), names)


UNCOMPILED: dict[str, Any] = {
    "DUFunc": uncompiled_ufunc,
    "GUFunc": uncompiled_gufunc,
    "JitClassType": uncompiled_class,
}
"""The stand-ins of what Numba compiles, by the names of its classes."""


MODULES = (
    *("numba", "numba.core.decorators", "numba.misc.special", "numba.np.ufunc.decorators"),
    *("numba.typed", "numba.typed.typedlist", "numba.typed.typeddict"),
)
"""The modules that show Numba's decorators and containers, and those that define them."""


def functions(module: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield the decorators, containers and questions of a module, with their stand-ins."""
    for name in ("jit", "njit", "vectorize", "guvectorize"):
        if name in vars(module):
            yield vars(module)[name], uncompiling(vars(module)[name])
    if "typeof" in vars(module):
        yield vars(module)["typeof"], _type_in_numba
    if module.__name__.startswith("numba.typed"):
        for name, in_python, empty in (("List", list, "empty_list"), ("Dict", dict, "empty")):
            if name in vars(module):
                kind = vars(module)[name]
                yield kind, _container(kind, in_python, empty)
