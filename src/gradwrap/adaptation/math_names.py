"""Stand-ins for the functions of `math` and `cmath`: NumPy's functions for variables."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.plain_values import HOLDERS, are_plain, number_in, standing_in, unheld
from gradwrap.core.array.adapted import note_plain
from gradwrap.core.array.conversions import known
from gradwrap.core.array.python_floats import array_of, python_floats
from gradwrap.core.calls.loop import differing
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    batched_parts,
    holds_batch,
    innermost,
    is_recorded,
    native,
    unwrapped_key,
)
from gradwrap.core.observing.comparing import looks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

ELEMENTWISE = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "pow": "power",
    "phase": "angle",
    **{
        name: name
        for name in (
            *("cbrt", "copysign", "cos", "cosh", "degrees", "exp", "exp2", "expm1", "fabs"),
            *("fmod", "ldexp", "log10", "log1p", "log2", "modf", "radians", "sin", "sinh"),
            *("sqrt", "tan", "tanh"),
        )
    },
}
"""NumPy's name for each function."""
SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}
"""SciPy's name."""
JUMPS = {**dict.fromkeys(("ceil", "floor", "trunc"), "whole"), "isclose": "equality"}
"""Where such a function jumps, as in the rows of the table."""
OF_VALUES = ("ceil", "floor", "isclose", "isfinite", "isinf", "isnan", "trunc", "ulp")
"""Functions without a derivative: they are asked about the number."""


def _special(name: str, x: Any) -> Any:
    return getattr(importlib.import_module("scipy.special"), name)(x)


def _log(x: Any, *base: Any) -> Any:
    found: Any = np.log(x)
    return found / np.log(base[0]) if base else found


def _frexp(x: Any) -> Any:
    mantissa, exponent = np.frexp(x)
    return mantissa, int(exponent)


def _sum_of(values: Any) -> Any:
    return functools.reduce(np.add, values, 0.0)


def _hypot(*coordinates: Any) -> Any:
    first, *others = coordinates
    return functools.reduce(np.hypot, others, first) if others else abs(first)


def _dist(p: Any, q: Any) -> Any:
    return _hypot(*(a - b for a, b in zip(p, q, strict=True)))


def _prod(iterable: Any, *, start: Any = 1) -> Any:
    return functools.reduce(np.multiply, iterable, start)


def _fma(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def _remainder(x: Any, y: Any) -> Any:
    return x - y * np.rint(native(x) / native(y))


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Any:
    allowed = np.maximum(rel_tol * np.maximum(abs(a), abs(b)), abs_tol)
    return (a == b) | (np.isfinite(a) & np.isfinite(b) & (abs(a - b) <= allowed))


def _sumprod(p: Any, q: Any) -> Any:
    return _sum_of(a * b for a, b in zip(p, q, strict=True))


def _polar(x: Any) -> Any:
    return np.abs(x), np.angle(x)


def _rect(r: Any, phi: Any) -> Any:
    return r * (np.cos(phi) + 1j * np.sin(phi))


OWN: dict[str, Callable[..., Any]] = {
    "dist": _dist,
    "fma": _fma,
    "frexp": _frexp,
    "fsum": _sum_of,
    "hypot": _hypot,
    "log": _log,
    "polar": _polar,
    "prod": _prod,
    "rect": _rect,
    "remainder": _remainder,
    "sumprod": _sumprod,
}


SEVERAL = frozenset(
    {
        *("atan2", "copysign", "fma", "fmod", "hypot", "isclose", "ldexp", "log", "pow", "rect"),
        *("remainder", "ulp"),
    }
)
"""Functions of several numbers; the others have one parameter."""
NUMBERS = frozenset({int, float, np.float64})
are_numbers: Callable[[Iterable[object]], bool] = NUMBERS.issuperset
OF_ITERABLES = ("dist", "fsum", "prod", "sumprod")


def math_functions(module: ModuleType) -> list[tuple[Any, Any]]:
    """Return each function of `math` or `cmath` with its stand-in."""
    found: list[tuple[Any, Any]] = []
    for name in dir(module):
        computed = _tracked(module, name)
        if computed is not None:
            tracked = _in_pythons_floats(computed)
            original = getattr(module, name)
            make = _of_iterables if name in OF_ITERABLES else _of_numbers
            found.append((original, make(original, tracked, f"{module.__name__}.{name}")))
    return found


def _in_pythons_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose results are floats of Python."""

    def computed(*args: Any, **options: Any) -> Any:
        return python_floats(function(*map(array_of, args), **options))

    return computed


def _tracked(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """Return the function that answers calls with variables."""
    if name in OF_VALUES:
        of_arrays = _isclose if name == "isclose" else getattr(np, name, None)
        return _of_values(getattr(module, name), of_arrays)
    if name in SPECIAL:
        return functools.partial(_special, SPECIAL[name])
    if name in OWN:
        return OWN[name]
    return getattr(np, ELEMENTWISE[name]) if name in ELEMENTWISE else None


def _of_values(original: Any, of_arrays: Any) -> Callable[..., Any]:
    """Return a function of the numbers; in a trace, NumPy's, so that the answer is a branch."""

    def of_values(*args: Any, **options: Any) -> Any:
        note_plain()
        look, name = looks(), original.__name__
        if look is not None and name in JUMPS and is_recorded(args):
            look(JUMPS[name], *map(known, args))
        if is_traced() and of_arrays is not None:
            answer: type = bool if original.__name__.startswith("is") else int
            return answer(of_arrays(*map(native, args), **options))
        return original(*map(known, args), **options)

    return of_values


def _of_numbers(original: Any, tracked: Callable[..., Any], path: str) -> Callable[..., Any]:
    convert = _as_complex if path.startswith("cmath.") else _as_scalar

    def of_variables(*args: Any, **options: Any) -> Any:
        args = unheld(args)
        return _checked(original, tracked, args, list(map(convert, args)), options)

    def one(x: Any, /) -> Any:
        if type(x) is float or not isinstance(x, HOLDERS):
            return original(x)
        number = number_in(x) if is_real else None
        if number is None:
            return of_variables(x)
        original(number)  # it refuses bad arguments itself
        return tracked(x)

    def several(*args: Any, **options: Any) -> Any:
        if are_numbers(map(type, args)) and not options:
            return original(*args)
        if is_real and not options:
            numbers = [x if type(x) in NUMBERS else number_in(x) for x in args]
            if None not in numbers:
                original(*numbers)
                return tracked(*args)
        if are_plain(args, options):
            return original(*args, **options)
        return of_variables(*args, **options)

    is_real = path.startswith("math.")
    takes_one = path.partition(".")[2] not in SEVERAL
    return standing_in(original, path)(one if takes_one else several)


def _of_iterables(original: Any, tracked: Callable[..., Any], path: str) -> Callable[..., Any]:
    @standing_in(original, path)
    def stand_in(*iterables: Any, **options: Any) -> Any:
        lists = [values if hasattr(values, "__len__") else list(values) for values in iterables]
        if are_plain(lists, options):
            return original(*lists, **options)
        lists = [unheld(list(values)) for values in lists]
        return _checked(original, tracked, lists, lists, options)

    return stand_in


def _checked(original: Any, tracked: Any, args: Any, converted: Any, options: Any) -> Any:
    """Call the function for variables, after the original's check of the plain values.

    In a trace the check is a branch of the program, on whether the result is finite.
    """
    if not is_traced():
        if holds_batch(args):
            with np.errstate(all="ignore"):  # as in Python, where there is an error or nothing
                found = tracked(*converted, **options)
            return _of_examples(original, converted, found, options)
        _check(original, args, options)
        return tracked(*converted, **options)
    found = tracked(*converted, **options)
    is_one = isinstance(found, AnyWrapper) and next(batched_parts(found), None) is None
    if is_one and not np.isfinite(native(found)):
        _check(original, args, options)
    return found


def _of_examples(original: Any, args: Any, found: Any, options: dict[str, Any]) -> Any:
    """Return results for a batch, if the original refuses none of the examples, or all of them."""
    if any(isinstance(arg, list) for arg in args):
        return found  # sums, which refuse nothing
    values = np.asarray(innermost(found))
    data = np.broadcast_arrays(values, *map(innermost, args))
    errors: list[Exception] = []
    for place in np.argwhere(~np.isfinite(values)):
        try:
            original(*(one[tuple(place)] for one in data[1:]), **options)
        except (ArithmeticError, ValueError) as error:
            errors.append(error)
    if errors:
        if len(errors) == values.size:
            raise errors[0]
        raise differing(errors[0])
    return found


def _check(original: Any, args: Any, options: dict[str, Any]) -> None:
    """Run the original on plain values, so that it refuses bad arguments itself."""
    if next(batched_parts(args), None) is None:
        original(*(unwrapped_key(value) for value in args), **options)


def _as_scalar(value: Any) -> Any:
    """Return the single element of an array."""
    return value.reshape(()) if isinstance(value, AnyWrapper) and value.ndim else value


def _as_complex(value: Any) -> Any:
    scalar = _as_scalar(value)
    return scalar.astype(complex) if isinstance(scalar, AnyWrapper) else complex(scalar)
