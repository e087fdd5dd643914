"""Compiled gradients of adapted functions, compared with eager ones at other arguments.

The first call compiles. Later calls have other numbers, which take other branches at times, another
length, and other numbers in the modules of the package. A program that kept something of the first
call differs there. `python -m benchmarks.wild --compiled [--engine c]` does so for a sample.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw

from .trying import REFUSED, RIGHT, WRONG, Tried, total

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from .functions import Case

EAGER, RANDOM = "eager", "random"
TOLERANCE = 1e-7
MOST_NUMBERS = 6
"""The most numbers of modules that are changed for a case."""


def others(x: Any) -> Iterator[tuple[str, Any]]:
    """Other arguments of the same function: near, farther away, reversed, longer and shorter."""
    count: int = x.size
    turns: Any = np.cos(1.7 * np.arange(count) + 0.4)
    yield "near", x * (1 + 1e-3 * turns)
    yield "far", x * (1 - 0.1 * turns)
    yield "reversed", x[::-1].copy()
    yield "farther", x * (1 + 0.6 * turns) - 0.05 * turns
    yield "longer", np.append(x, x[-1:] * 1.01)
    yield "shorter", x[:-1].copy()
    yield "first", x


def outcome(function: Callable[[Any], Any], x: Any) -> Any:
    """The result of a function, or its error."""
    try:
        return function(x)
    except Exception as error:  # noqa: BLE001  it is compared
        return error


def alike(a: Any, b: Any) -> bool:
    """Whether two outcomes are the same, up to rounding."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        return isinstance(a, Exception) and isinstance(b, Exception)
    if a.shape != b.shape:
        return False
    first: Any = np.asarray(a)
    scale = float(np.max(np.abs(first[np.isfinite(first)]), initial=1e-300))
    return bool(np.all(np.isclose(a, b, TOLERANCE, TOLERANCE * scale, equal_nan=True)))


def numbers(function: Any) -> list[tuple[ModuleType, str]]:
    """The Python floats that are global names of the modules of a function's package."""
    found: list[tuple[ModuleType, str]] = []
    roots = {
        value.__name__.split(".")[0]
        for value in _held(function)
        if isinstance(value, ModuleType) and not value.__name__.startswith(("numpy", "scipy"))
    }
    for name, module in [*sys.modules.items()]:
        if type(module) is ModuleType and name.split(".")[0] in roots:
            found += [(module, key) for key, one in vars(module).items() if type(one) is float]
    return found


def _held(function: Any) -> Iterator[Any]:
    """What a function holds in its closure, and what that holds."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            value: Any = cell.cell_contents
        except ValueError:  # of a name that has no value yet
            continue
        yield value
        named: Any = sys.modules.get(getattr(value, "__module__", None) or "")
        if named is not None:
            yield named
        yield from _held(value)


@contextmanager
def changed(module: ModuleType, name: str) -> Generator[None]:
    """Change a number of a module for a while."""
    before = getattr(module, name)
    setattr(module, name, before * 1.03 + 0.01)
    try:
        yield
    finally:
        setattr(module, name, before)


def compiled(case: Case, engine: str = "numpy") -> Tried:
    """Compile the gradient of a case; compare it with the eager gradient at other arguments.

    The verdicts are those of `tried`, "eager" if there is no program, and "random" if two eager
    calls differ.
    """
    label, function, point = case
    x = np.array(point, dtype=float)

    def eager() -> Callable[[Any], Any]:
        return gw.grad(total(gw.adapting(function)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = outcome(eager(), x)
        if isinstance(wanted, Exception):
            return Tried(label, REFUSED, type(wanted).__name__)
        if not alike(wanted, outcome(eager(), x.copy())):
            return Tried(label, RANDOM)
        under_test, as_often_called = gw.compile(eager(), engine=engine), eager()
        for name, other in (("first", x), *others(x)):
            found = outcome(under_test, other.copy())
            same = outcome(as_often_called, other.copy())  # it knows what its earlier calls told
            if not alike(outcome(eager(), other.copy()), found) and not alike(same, found):
                again = outcome(eager(), other.copy())
                return Tried(label, WRONG, f"{name}: {found}, not {again}")
        tried = 0
        for module, key in numbers(function):
            with changed(module, key):
                moved = outcome(eager(), x.copy())
                if alike(wanted, moved):
                    continue
                tried += 1
                found = outcome(under_test, x.copy())
                if not alike(moved, found):
                    text = f"{module.__name__}.{key} changed: {found}, not {moved}"
                    return Tried(label, WRONG, text)
            if tried == MOST_NUMBERS:
                break
    lines = [
        one.removeprefix("runs eagerly: ")
        for one in under_test.explain().splitlines()
        if one.startswith("runs eagerly: ") and not one.endswith("raised errors")
    ]
    return Tried(label, RIGHT if under_test.programs else EAGER, "; ".join(lines))
