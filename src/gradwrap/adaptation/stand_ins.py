"""The table of stand-ins for objects of NumPy, `math` and Python in adapted code.

Every stand-in passes through: where no argument holds a variable and no transform runs, it acts as
the original.
"""

from __future__ import annotations

import cmath as _cmath
import copy
import functools
import importlib
import math as _math
import operator
import sys
from contextvars import ContextVar
from importlib.machinery import ExtensionFileLoader
from statistics import NormalDist
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as _np  # noqa: ICN001  `numpy` is the module that stands in for it

from gradwrap import random
from gradwrap.adaptation import (
    dask,
    hashing,
    numba,
    numexpr,
    processes,
    random_names,
    subclasses,
)
from gradwrap.adaptation.beside import source_of
from gradwrap.adaptation.bottleneck import FUNCTIONS
from gradwrap.adaptation.builtin_names import BUILTINS, CLASSES
from gradwrap.adaptation.masked import stand_in_of_masked
from gradwrap.adaptation.math_names import math_functions
from gradwrap.adaptation.matrices import matrices
from gradwrap.adaptation.numpy_names import POLYNOMIALS, numpy_functions, without_rule
from gradwrap.adaptation.plain_values import are_plain, are_plain_types, kind_of, lent, unheld
from gradwrap.adaptation.polynomials import enter_polynomials
from gradwrap.adaptation.readers import READERS, readers_of, readers_of_numpy
from gradwrap.adaptation.scipy_helpers import helper, in_copy
from gradwrap.adaptation.shadows import shadow, shadowing
from gradwrap.adaptation.standard_functions import functions_in_python
from gradwrap.adaptation.statistics_names import Normal, compiled_functions, statistics_functions
from gradwrap.adaptation.structured import records
from gradwrap.core.array.wrapping import wrap_namespace
from gradwrap.core.levels.levels import differentiating, is_differentiating
from gradwrap.core.levels.modes import called, is_traced
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    holds_batch,
    innermost,
    is_recorded,
    native,
)
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.library.namespace import EXTENSIONS
from gradwrap.core.library.registration import registered
from gradwrap.core.observing.callers import current_caller
from gradwrap.core.observing.code import STANDARD, library_named
from gradwrap.core.observing.results import are_equal, parts_of
from gradwrap.core.values.dynamic import TYPE, attribute_or_none, attributes_of, type_of
from gradwrap.core.values.tree import flatten, map_leaves
from gradwrap.errors import NoRuleError
from gradwrap.transforms.numerical import numerical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ARRAYS = (_np.ndarray, _np.generic)
_table: dict[int, tuple[Any, Any]] = {}
"""From the identity of an object to itself, which keeps it alive, and its stand-in."""
_originals: dict[int, Any] = {}
"""From the identity of a stand-in, which the table keeps alive, to what it stands for."""
_copies: list[tuple[ModuleType, dict[str, Any], dict[str, Any]]] = []
"""Modules that stand in, the contents of the originals, and what they were when last seen."""
SCIPYS = "gradwrap.scipy"
compiled_as: ContextVar[str] = ContextVar("gradwrap_compiled", default="refused")
"""How the functions of compiled modules are differentiated: "refused" or "numerical"."""
OWN_LIBRARIES = STANDARD | {"gradwrap", "numpy", "scipy"}
"""Libraries whose compiled functions are met by other ways."""


def stand_in_of(value: Any) -> Any:
    """Return the stand-in for a value, or None."""
    known = _table.get(id(value))
    if known is not None:
        return known[1]
    kind = type_of(value)
    make = _BY_TYPE.get(kind) or _BY_NAME.get(kind.__name__)
    if make is not None:
        return make(value)
    if issubclass(kind, ModuleType):
        return _of_lazy(value)
    if issubclass(kind, TYPE):
        return _of_home(value) or _of_masked(value) or _of_scipy(value)
    if "py_func" in attributes_of(value):
        return numba.uncompiled(value)
    return _of_masked(value) or _of_scipy(value) if callable(value) else None


def _of_masked(value: Any) -> Any:
    """Return the stand-in for a function, an operation or a class of `numpy.ma`, or None."""
    named = value if type_of(value) in (FunctionType, type) else type_of(value)
    if not str(_home(named)).startswith("numpy.ma"):
        return None
    found = stand_in_of_masked(value, _in_numpy)
    return None if found is value else _enter(value, found)


def _enter(original: Any, stand_in: Any) -> Any:
    _table[id(original)] = (original, stand_in)
    if isinstance(original, _np.ufunc) or id(stand_in) not in _originals:
        _originals[id(stand_in)] = original
    return stand_in


def original_of(value: Any) -> Any:
    """Return what a stand-in stands for, and other values as they are."""
    if isinstance(value, _np.ufunc):
        return value
    if type_of(value) is ModuleType and value.__name__.startswith(SCIPYS):
        return sys.modules.get(value.__name__.removeprefix("gradwrap."), value)
    return _originals.get(id(value), value)


# Modules ------------------------------------------------------------------------------------------


def _like(module: ModuleType, *submodules: str, deep: bool = False) -> ModuleType:
    """Copy a module, with stand-ins for its contents where they exist; if `deep`, made for them."""
    made: ModuleType = _enter(module, ModuleType(module.__name__, module.__doc__))
    if deep:  # modules of a package may name each other
        for value in list(vars(module).values()):
            stand_in_of(value)
    contents = {name: getattr(module, name) for name in {*vars(module), *submodules}}
    for name in ("__builtins__", "ma", "testing"):  # modules get theirs where they are first used
        contents.pop(name, None)

    def __getattr__(name: str) -> Any:  # noqa: N807  what is loaded later
        found = getattr(module, name)
        made = stand_in_of(found) if type_of(found) is ModuleType else None
        return _or_itself(found) if made is None else made

    made.__dict__.update({name: _or_itself(value) for name, value in contents.items()})
    made.__dict__.update(__getattr__=__getattr__, __dir__=lambda: dir(module))
    _copies.append((made, vars(module), contents))
    return made


def look_again() -> None:
    """Exchange what was exchanged in a module since it was copied, as by a package's import."""
    for made, now, known in _copies:
        for name, value in known.items():
            found = now.get(name, value)
            if found is not value:
                stand_in = stand_in_of(found)
                made.__dict__[name] = found if stand_in is None else stand_in
                known[name] = found


def _in_numpy(value: Any) -> Any:
    """Return the stand-in for a value in a NumPy module; the value may be a module itself."""
    known = _table.get(id(value))
    if known is not None:
        return known[1]
    is_numpys = issubclass(type_of(value), ModuleType) and _library(value.__name__) == "numpy"
    return _like(value) if is_numpys else None


def _or_itself(value: Any) -> Any:
    known = _table.get(id(value))
    return value if known is None else known[1]


def _of_module(module: ModuleType) -> ModuleType | None:
    """Return the stand-in of a SciPy module, `numpy.ma` or a compiled module, or None."""
    if module.__name__.startswith("numpy.ma"):
        return _like(module, deep=True)
    if _is_standard(module):
        return _of_standard(module, wrap_namespace(module))
    functions = _FUNCTIONS.get(module.__name__)
    if functions is not None:
        for original, stand_in in functions(module):
            _enter(original, stand_in)
        made = _like(module)
        for name, part in list(vars(module).items()):  # modules of a package may name each other
            if type_of(part) is ModuleType and part.__name__ in _FUNCTIONS:
                made.__dict__[name] = stand_in_of(part)
        return made
    loader = attribute_or_none(attribute_or_none(module, "__spec__"), "loader")
    if not isinstance(loader, ExtensionFileLoader) or _library(module.__name__) in OWN_LIBRARIES:
        found: ModuleType | None = _of_scipy(module)
        return found
    for value in vars(module).values():
        make = _BY_NAME.get(type_of(value).__name__)
        if make is not None and id(value) not in _table:  # not what it imported from `math`
            _enter(value, make(value) or value)
    return _like(module)


def _of_lazy(module: Any) -> Any:
    """Return the stand-in of the module that an object imports when it is first used, or None."""
    name = attributes_of(module).get("__name__")
    if isinstance(name, str) and name.rpartition(".")[2] in ("numpy", "scipy"):
        name = attribute_or_none(module, "__name__")  # that of its package is another name for it
    if not isinstance(name, str) or _library(name) not in {"numpy", "scipy", *_FUNCTIONS}:
        return None
    real: Any = importlib.import_module(name)
    return stand_in_of(real) if type_of(real) is ModuleType else None


def own_namespace(array: Any, **options: Any) -> Any:
    """Do what `array.__array_namespace__` does; a variable has the namespace of its array."""
    if not (is_differentiating() or isinstance(array, AnyWrapper)):
        return array.__array_namespace__(**options)
    namespace = attribute_or_none(_array_in(array), "__array_namespace__")
    found = None if namespace is None else stand_in_of(namespace(**options))
    return array.__array_namespace__(**options) if found is None else found


def _array_namespace(*xs: Any, **options: Any) -> Any:
    """Do what `array_namespace` does; for variables, as for the arrays in their place."""
    if is_differentiating() or any(isinstance(x, AnyWrapper) for x in xs):
        found = stand_in_of(array_api_compat.array_namespace(*map(_array_in, xs), **options))
        if found is not None:
            return found
    return array_api_compat.array_namespace(*xs, **options)


def _array_in(value: Any) -> Any:
    """Return the array of a library in a variable, in a trace the one that a tracer stands for."""
    if not isinstance(value, AnyWrapper):
        return value
    data = innermost(value)
    return backend_of(data).concrete(data)


def _asking(question: Callable[..., bool]) -> Any:
    """Make a stand-in for a function that asks which library an array or a namespace is of."""

    @functools.wraps(question)
    def stand_in(value: Any, *args: Any) -> bool:
        return question(original_of(_array_in(value)), *args)

    return stand_in


def _questions(module: ModuleType) -> Iterable[tuple[Any, Any]]:
    """Yield what array-api-compat asks, and its namespaces, with their stand-ins."""
    for name, value in list(vars(module).items()):
        if type_of(value) is FunctionType and name.startswith("is_"):
            yield value, _asking(value)
        elif type_of(value) is ModuleType and (found := stand_in_of(value)) is not None:
            yield value, found


def _is_standard(module: ModuleType) -> bool:
    """Tell if a module is a namespace of the standard, and its library has no backend here."""
    names = {"__array_namespace_info__", "__array_api_version__"}
    has_names = names <= vars(module).keys()  # a module's `__getattr__` may answer to any name
    return has_names and _library(module.__name__) not in registered()


def _of_standard(module: ModuleType, wrapped: Any) -> ModuleType:
    """Copy a namespace of the Array API standard, with functions that take variables."""
    of_numpy = vars(module).get("ndarray") is _np.ndarray  # also in copies of array-api-compat
    extensions: dict[str, Any] = {name: getattr(module, name, None) for name in EXTENSIONS}
    for name, value in {**vars(module), **extensions}.items():
        own: Any = getattr(wrapped, name, None)
        if type_of(value) is ModuleType and name in EXTENSIONS and own is not None:
            _of_standard(value, own)
        elif type_of(value) is FunctionType and callable(own) and id(value) not in _table:
            numpys = _table.get(id(getattr(_np, name, None))) if of_numpy else None
            if numpys or own is not value:
                made = _for_variables(value, own, are_constants_plain=of_numpy)
                _enter(value, numpys[1] if numpys else made)
    return _like(module)


def _for_variables(
    function: Callable[..., Any], own: Callable[..., Any], *, are_constants_plain: bool
) -> Callable[..., Any]:
    """Return a function that calls `own` for variables, and `function` for plain arguments.

    Arrays of some libraries refuse to be combined with what is not theirs, so constants that are
    made while a function is differentiated are variables there.
    """

    @functools.wraps(function)
    def stand_in(*args: Any, **options: Any) -> Any:
        is_plain = are_plain(args, options) and (are_constants_plain or not is_differentiating())
        return (function if is_plain else own)(*args, **options)

    return stand_in


def _library(name: str) -> str:
    return name.partition(".")[0]


def _home(value: Any) -> Any:
    """Return the name of the module that a value is of; `functools.wraps` copies another's name."""
    named = attribute_or_none(value, "__module__")
    if type_of(value) is FunctionType:
        own = str(value.__globals__.get("__name__"))
        named_there = attribute_or_none(sys.modules.get(str(named)), value.__name__)
        if _library(own) != _library(str(named)) and named_there is not value:
            return own
    return named


def _of_scipy(value: Any) -> Any:
    """Return the dispatcher of `gradwrap.scipy` for a function or module, or None."""
    is_module = issubclass(type_of(value), ModuleType)
    name = attribute_or_none(value, "__name__") if is_module else _home(value)
    if not isinstance(name, str) or library_named(name) != "scipy":
        return None
    dispatcher = _scipy_dispatcher()
    found = None if dispatcher is None else dispatcher(value)
    if found is None and type_of(value) is FunctionType:
        made = helper(value, stand_in_of)
        return None if made is None else _enter(value, made)
    return found


def _of_linalg(function: Any) -> Any:
    """Return the stand-in of a function of LAPACK or BLAS, or of SuperLU: they know no module."""
    dispatcher = _scipy_dispatcher()
    return None if dispatcher is None else dispatcher(function)


def _of_tree(tree: Any) -> Any:
    """Return the stand-in of a tree of points, whose class is compiled."""
    module: Any = importlib.import_module("gradwrap.adaptation.scipy_objects")
    return _enter(tree, module.tree_of(tree, "cKDTree"))


@functools.cache
def _scipy_dispatcher() -> Callable[[Any], Any] | None:
    try:
        module: Any = importlib.import_module("gradwrap.scipy")
    except ImportError:  # without SciPy
        return None
    kinds: Any = importlib.import_module("gradwrap.scipy.kinds")
    kinds.in_source.append(in_copy(stand_in_of))
    found: Callable[[Any], Any] = module.stand_in
    return found


# Functions of a kind ------------------------------------------------------------------------------


def _uncached(cached: Any) -> Any:
    """Make a stand-in for a cached function that bypasses the cache for variables."""

    @functools.wraps(cached)
    def stand_in(*args: Any, **options: Any) -> Any:
        if not is_differentiating() and are_plain(args, options):
            return cached(*args, **options)
        if are_plain_types(map(type, args)) and are_plain_types(map(type, options.values())):
            with differentiating(False):
                return cached(*args, **options)
        return cached.__wrapped__(*args, **options)

    made: Any = stand_in
    made.cache_info, made.cache_clear = cached.cache_info, cached.cache_clear
    made.cache_parameters = cached.cache_parameters
    return made


def _partial(value: Any) -> Any:
    stand_in = stand_in_of(value.func)
    if stand_in is None:
        return None
    return functools.partial(stand_in, *value.args, **value.keywords)


def _static(value: Any) -> Any:
    stand_in = stand_in_of(value.__func__)
    return None if stand_in is None else staticmethod(stand_in)


def _of_home(value: Any) -> Any:
    """Return the stand-in of what a module defines whose functions have some, or None."""
    home = _home(value)
    if home not in _FUNCTIONS:
        return None
    stand_in_of(sys.modules[home])
    known = _table.get(id(value))
    return None if known is None else known[1]


def _function(value: Any) -> Any:
    """Return the stand-in of a generic function, chosen by type, or of a SciPy function."""
    if "registry" in attributes_of(value):
        return _by_kind(value)
    home = _home(value)
    if home in _FUNCTIONS:
        return _of_home(value) or value
    if str(home).startswith("numpy.testing"):
        return _enter(value, _of_values(value))
    chosen = numba.overloaded(value)
    if chosen is not None:
        return _enter(value, chosen)
    found = _of_masked(value) or _of_scipy(value)
    if found is None and _library(str(home)) == "numpy":  # a private one
        path = f"{home}.{value.__qualname__}"
        return _enter(value, shadowing(value, path, _in_numpy))
    return found


def _checks(module: ModuleType) -> Iterable[tuple[Any, Any]]:
    found = [(name, value) for name, value in vars(module).items() if name.startswith("assert_")]
    return [(value, _of_values(value)) for _, value in found if type_of(value) is FunctionType]


def _of_values(function: Any) -> Any:
    """Return the stand-in of a check by `numpy.testing`, which compares the plain values.

    In a trace it is an operation that tells if the values pass, and a branch.
    """

    def passes(*args: Any, **options: Any) -> Any:
        try:
            function(*args, **options)
        except AssertionError:
            return _np.False_
        return _np.True_

    @functools.wraps(function)
    def stand_in(*args: Any, **options: Any) -> Any:
        if is_traced():
            given, named = map_leaves(native, (args, options))
            if called(passes, f"opaque.{function.__name__}", *given, **named):
                return
        function(*map_leaves(_value_of, args), **map_leaves(_value_of, options))

    return stand_in


def _value_of(leaf: Any) -> Any:
    """Return the plain array of a variable, in a trace the one that a tracer stands for."""
    if not isinstance(leaf, AnyWrapper):
        return leaf
    data = native(leaf)
    return _np.asarray(backend_of(data).concrete(data))


def _by_kind(generic: Any) -> Any:
    @functools.wraps(generic)
    def stand_in(*args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], AnyWrapper):
            return generic.dispatch(kind_of(args[0]))(*args, **options)
        return generic(*args, **options)

    return stand_in


if TYPE_CHECKING:
    _Method = functools.singledispatchmethod[Any]
else:
    _Method = functools.singledispatchmethod


class _MethodByKind(_Method):
    """A generic method that is chosen by the array in a variable."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        generic: Any = self.dispatcher

        @functools.wraps(self.func)
        def method(*args: Any, **options: Any) -> Any:
            kind = kind_of(args[0]) if isinstance(args[0], AnyWrapper) else args[0].__class__
            chosen: Any = generic.dispatch(kind)
            return chosen.__get__(instance, owner)(*args, **options)

        method.__dict__["register"] = self.register
        return method


def _method_by_kind(method: Any) -> Any:
    made = _MethodByKind(method.func)
    made.dispatcher = method.dispatcher
    return made


def _makers_of_functions(_: ModuleType) -> list[tuple[Any, Any]]:
    """Return what makes generic and cached functions, with its stand-ins."""

    @functools.wraps(functools.singledispatch)
    def by_kind(function: Any) -> Any:
        return _by_kind(functools.singledispatch(function))

    @functools.wraps(functools.lru_cache)
    def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
        if callable(maxsize):
            return _uncached(functools.lru_cache(maxsize))
        cached: Any = functools.lru_cache(maxsize, typed)
        return functools.partial(made_by, cached)

    def made_by(cached: Any, function: Any) -> Any:
        return _uncached(cached(function))

    @functools.wraps(functools.cache)
    def cache(function: Any) -> Any:
        return _uncached(functools.cache(function))

    return [
        (functools.lru_cache, lru_cache),
        (functools.cache, cache),
        (functools.singledispatch, by_kind),
        (functools.singledispatchmethod, _MethodByKind),
    ]


def _slot(descriptor: Any) -> Any:
    """Make a stand-in for a special method of `float` or `complex`, such as `float.__mul__`."""
    name: str = descriptor.__name__
    if descriptor.__objclass__ not in (float, complex):
        return None
    forwards = name.replace("__r", "__", 1)
    is_swapped = not hasattr(operator, name) and hasattr(operator, forwards)
    apply = getattr(operator, forwards if is_swapped else name, None)

    @functools.wraps(descriptor)
    def stand_in(value: Any, *args: Any) -> Any:
        if are_plain((value, *args), {}):
            return descriptor(value, *args)
        value, args = unheld(value), unheld(args)
        if apply is None:
            return getattr(value, name)(*args)
        return apply(*args, value) if is_swapped else apply(value, *args)

    return stand_in


def _compiled(function: Any) -> Any:
    """Make a stand-in for a compiled function that takes plain values only."""
    module = attribute_or_none(function, "__module__")
    if _BY_NAME.get(type_of(attribute_or_none(function, "__self__")).__name__) is _of_linalg:
        return _of_linalg(function)  # a method
    if not isinstance(module, str) or _library(module) in OWN_LIBRARIES:
        return _of_home(function) or _of_scipy(function)
    path = f"{module}.{function.__name__}"
    in_numpy = FUNCTIONS.get(function.__name__) if _library(module) == "bottleneck" else None

    @functools.wraps(function)
    def stand_in(*args: Any, **options: Any) -> Any:
        if are_plain(args, options):
            return _call_alone(function, args, options)
        found = _by_source(path, function, args, options)
        if found is not MISSING:
            return found
        args, options = unheld(args), unheld(options)
        if is_recorded([args, options]):
            if in_numpy is not None:
                return in_numpy(*args, **options)
            if compiled_as.get() == "numerical":
                return _of_numbers(path, numerical(function)(*args, **options))
            raise NoRuleError(
                f"{path} is compiled code, and an argument is tracked {current_caller() or ''}. "
                "Fix: make the function that you call one operation with "
                "f = gradwrap.primitive(f), and give it its derivative with "
                "gradwrap.defvjp(f, ...); or take its derivative by differences, with "
                'gradwrap.adapting(f, compiled="numerical") or gradwrap.numerical.'
            )
        return call_plainly(function, args, options)

    return stand_in


def call_plainly(function: Any, args: Any, options: dict[str, Any]) -> Any:
    """Call compiled code with plain arrays in place of variables without tracked values.

    It may write to them.
    """
    return _call_alone(function, lent(args), lent(options))


def _call_alone(function: Any, args: Any, options: dict[str, Any]) -> Any:
    """Call compiled code so that NumPy, by the variables of its module, gives it plain arrays.

    The functions that it calls back may hold tracked values.
    """
    values = (*args, *options.values())
    if any(callable(one) and not isinstance(one, type) for one in values):
        return function(*args, **options)
    with differentiating(False):
        return function(*args, **options)


MISSING: Any = object()


def _by_source(path: str, function: Any, args: Any, options: Any) -> Any:
    """Return what the Python source of a compiled function gives, or `MISSING` without one."""
    in_python = source_of(function)
    if in_python is None:
        return MISSING
    wanted = _parts_of_plain(function, args, options)
    found = in_python(*args, **options)
    if wanted is None or are_equal(wanted, parts_of(found)):
        return found
    if compiled_as.get() == "numerical":
        return MISSING
    raise NoRuleError(
        f"{path} is compiled code, and its Python source gives another result: a variable of the "
        "module has changed since its import, or the function draws random numbers. Fix: "
        'gradwrap.adapting(f, compiled="numerical") takes the derivative by differences.'
    )


def _parts_of_plain(function: Any, args: Any, options: Any) -> list[Any] | None:
    """Return what compiled code gives for plain values, or None if it cannot be called with them.

    Its source runs as a module of its own, whose variables are as they are after an import.
    """
    if is_traced() or holds_batch([args, options]):
        return None
    try:
        with differentiating(False):
            return parts_of(function(*map_leaves(_copied, args), **map_leaves(_copied, options)))
    except Exception:  # noqa: BLE001  it does not take such arguments: there is nothing to compare
        return None


def _copied(leaf: Any) -> Any:
    return copy.copy(native(leaf) if isinstance(leaf, AnyWrapper) else leaf)


def _of_numbers(path: str, found: Any) -> Any:
    """Return what compiled code found, or refuse an object that may hold numbers."""
    for leaf in flatten(found)[0]:
        if not (leaf is None or isinstance(leaf, (AnyWrapper, str, bytes, int)) or is_array(leaf)):
            raise NoRuleError(
                f"{path} is compiled code that returned a {type_of(leaf).__name__}, which may hold "
                "numbers. Fix: differentiate a function that returns numbers or arrays by "
                "differences, with gradwrap.numerical."
            )
    return found


def _method(bound: Any) -> Any:
    """Return the stand-in of a method: the same of what stands in for its object."""
    if type_of(bound.__self__) is _np.random.RandomState:  # the global one, for `np.random.normal`
        is_global = getattr(_np.random, bound.__name__, None) == bound
        return getattr(random, bound.__name__) if is_global else None
    found = _of_home(bound)
    if found is not None:
        return found
    own = stand_in_of(bound.__self__)
    return None if own is None else getattr(own, bound.__name__, None)


def _generator(rng: Any) -> Any:
    return _enter(rng, random.Generator(rng.bit_generator))


def _normal(distribution: NormalDist) -> Any:
    return _enter(distribution, Normal(distribution.mean, distribution.stdev))


def _of_random(generator: Any) -> Any:
    stand_in_of(sys.modules["random"])
    return _enter(generator, random_names.shared(generator))


_polynomial_of = enter_polynomials(_in_numpy)


def _polynomial(polynomial: Any) -> Any:
    return _enter(polynomial, _polynomial_of(polynomial))


_FUNCTIONS: dict[str, Callable[[ModuleType], Iterable[tuple[Any, Any]]]] = {
    **dict.fromkeys(READERS, readers_of),
    **dict.fromkeys(hashing.NAMES, hashing.functions),
    **dict.fromkeys(numba.MODULES, numba.functions),
    **processes.FUNCTIONS,
    "array_api_compat": _questions,
    "colorsys": lambda module: functions_in_python(module, _in_numpy),
    "dask.array": dask.functions,
    **dict.fromkeys(("array", "decimal", "fractions"), lambda module: ()),  # of classes alone
    "functools": _makers_of_functions,
    "numexpr": numexpr.functions,
    "numpy.testing": _checks,
    "_statistics": compiled_functions,
    "random": random_names.random_functions(stand_in_of),
    "statistics": statistics_functions,
}
"""What yields the functions of a module that have stand-ins, where the module is used."""
_BY_TYPE: dict[type[Any], Callable[[Any], Any]] = {
    FunctionType: _function,
    functools.partial: _partial,
    functools.singledispatchmethod: _method_by_kind,
    staticmethod: _static,
    ModuleType: _of_module,
    MethodType: _method,
    _np.random.Generator: _generator,
    NormalDist: _normal,
    random_names.RANDOM: _of_random,
    _np.poly1d: _polynomial,
    type_of(functools.cache(len)): _uncached,
}
_BY_NAME: dict[str, Callable[[Any], Any]] = {
    type_of(len).__name__: _compiled,
    "cython_function_or_method": _compiled,
    "fused_cython_function": _compiled,
    "nb_func": _compiled,
    "fortran": _of_linalg,
    "SuperLU": _of_linalg,
    "cKDTree": _of_tree,
    **numba.UNCOMPILED,
    "wrapper_descriptor": _slot,
    "method_descriptor": _slot,
}
"""By the name of the type: each compiled module has one of its own."""

for _pair in (
    *CLASSES,
    (NormalDist, Normal),
    (array_api_compat.array_namespace, _array_namespace),
    *((_one, BUILTINS[_one.__name__]) for _one in (isinstance, hasattr, getattr, vars)),
    *numpy_functions(),
    *readers_of_numpy(),
    *math_functions(_math),
    *math_functions(_cmath),
):
    _enter(*_pair)
for _function, _path in without_rule():
    _enter(_function, shadowing(_function, _path, _in_numpy))
subclasses.shadows.append(lambda function: shadow(function, _in_numpy))
for _name in POLYNOMIALS:
    _like(getattr(_np.polynomial, _name))
_like(_np.polynomial, *POLYNOMIALS)
for _pair in records():
    _enter(*_pair)
_like(_np.rec)
_like(_np.lib.stride_tricks)
_like(_np.emath)
_like(_np.lib)  # its submodules come first
_like(_np.linalg)
_like(_np.fft)
_enter(_np.random.default_rng, random.default_rng)
for _kind in (random.Generator, random.RandomState):  # NumPy's own are instances of the stand-ins
    _enter(_kind, stand_in_of(_kind.__mro__[1]))
_enter(_np.random, _like(random))
for _pair in matrices(_in_numpy):
    _enter(*_pair)
math: ModuleType = _like(_math)
cmath: ModuleType = _like(_cmath)
numpy: ModuleType = _like(_np, "linalg", "fft", "emath", "polynomial")
