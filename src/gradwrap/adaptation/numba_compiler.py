"""Numba's compiler beside adapted code: it sees functions as they were written.

While a package is adapted, its functions have other code, and the names in it refer to stand-ins.
A function that is first called then, with plain values, is compiled then.
"""

from __future__ import annotations

import builtins
import functools
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.after_import import exchange
from gradwrap.adaptation.builtin_names import BUILTINS, CLASSES
from gradwrap.adaptation.later import as_written
from gradwrap.adaptation.numba import (
    compiled_of,
    uncompiled,
    uncompiled_gufunc,
    uncompiled_ufunc,
)
from gradwrap.adaptation.places import ABSENT
from gradwrap.adaptation.plain_values import are_plain
from gradwrap.adaptation.stand_ins import original_of
from gradwrap.core.array.adapted import made_of_python
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDING: dict[Any, Any] = dict(CLASSES)


def enter_bytecode(module: Any) -> None:
    """Let Numba read the functions that it compiles as they were written."""
    kind: Any = module.FunctionIdentity
    read = kind.from_function.__func__

    @functools.wraps(read)
    def read_as_written(cls: Any, pyfunc: Any) -> Any:
        return read(cls, _as_written(pyfunc) if type(pyfunc) is FunctionType else pyfunc)

    kind.from_function = classmethod(read_as_written)


def enter_dispatchers(module: Any) -> None:
    """Let what `njit` has made take tracked values, wherever code has kept it.

    Numba asks for compiled code of new types of arguments, and calls what it gets.
    """
    kind: Any = module.Dispatcher
    compile_for = kind._compile_for_args  # noqa: SLF001  it has no other name

    @functools.wraps(compile_for)
    def chosen(self: Any, *args: Any, **options: Any) -> Any:
        if not is_differentiating() or are_plain(args, options):
            return compile_for(self, *args, **options)
        return uncompiled(self)

    kind._compile_for_args = chosen  # noqa: SLF001  likewise


def enter_numbers(module: Any) -> None:
    """Let the types of numbers, such as `numba.float64`, convert tracked values."""
    for name in ("Float", "Complex"):
        exchange(getattr(module, name), "cast_python_value", _converting)


def _converting(convert: Any) -> Any:
    @functools.wraps(convert)
    def converted(self: Any, value: Any) -> Any:
        if not isinstance(value, AnyWrapper):
            return convert(self, value)
        return STANDING[getattr(np, self.name)](value)

    return converted


def enter_functions_of_parts(module: Any) -> None:
    """Let what `guvectorize` has made take tracked values, wherever code has kept it."""
    kind: Any = module.GUFunc
    call = kind.__call__

    @functools.wraps(call)
    def called(self: Any, *args: Any, **options: Any) -> Any:
        if not is_differentiating() or are_plain(args, options):
            return call(self, *args, **options)
        return uncompiled_gufunc(self)(*args, **options)

    kind.__call__ = called


def enter_builders(module: Any) -> None:
    """Let ufuncs that Numba compiles run the Python functions that they were made of.

    Compiled for given types, a function of parts is a plain ufunc of NumPy's, which knows no more.
    """
    exchange(
        module.GUFuncBuilder, "build_ufunc", functools.partial(_noting, make=uncompiled_gufunc)
    )
    exchange(module.UFuncBuilder, "build_ufunc", functools.partial(_noting, make=_elementwise))


def _elementwise(ufunc: Any, builder: Any) -> Any:
    return uncompiled_ufunc(ufunc, builder.py_func)


def _noting(build: Any, make: Any) -> Any:
    @functools.wraps(build)
    def build_ufunc(builder: Any) -> Any:
        made = build(builder)
        if type(made) is np.ufunc:
            made_of_python[id(made)] = made, make(made, builder)
        return made

    return build_ufunc


def _as_written(function: FunctionType) -> FunctionType:
    """Return a function with its own code, and with originals in place of stand-ins."""
    code = as_written(function.__code__)
    known = function.__globals__
    changed: dict[str, Any] = {}
    for name in {name for part in _codes(code) for name in part.co_names}:
        if name in known and (found := _original(known[name])) is not known[name]:
            changed[name] = found
        elif known.get(name) is BUILTINS.get(name, ABSENT):
            changed[name] = getattr(builtins, name)
    cells = function.__closure__
    closure = None if cells is None else tuple(map(_original_cell, cells))
    defaults = _original(function.__defaults__)
    is_same = code is function.__code__ and not changed and defaults is function.__defaults__
    if is_same and (
        cells is None or all(a is b for a, b in zip(cells, closure or (), strict=True))
    ):
        return function
    made = FunctionType(code, {**known, **changed}, function.__name__, defaults, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of those inside it."""
    yield code
    for part in code.co_consts:
        if type_of(part) is CodeType:
            yield from _codes(part)


def _original(value: Any) -> Any:
    """Return what a stand-in stands for, also in a tuple; other values as they are."""
    if type_of(value) is TUPLE:
        found = tuple(map(_original, value))
        return value if all(a is b for a, b in zip(found, value, strict=True)) else found
    return compiled_of(original_of(value))


def _original_cell(cell: Any) -> Any:
    """Return a cell of a closure with the original in place of a stand-in."""
    try:
        found = _original(cell.cell_contents)
    except ValueError:  # it is empty
        return cell
    return cell if found is cell.cell_contents else type_of(cell)(found)
