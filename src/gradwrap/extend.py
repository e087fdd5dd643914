"""Functions for packages that add an array library to gradwrap, beside `gradwrap.Backend`.

`gradwrap.dask` is such a package: of gradwrap, it imports public names alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends import backward_slices as _slices
from gradwrap.backends import differing_rows as _rows
from gradwrap.backends.drop_in import Submodule as _Submodule
from gradwrap.backends.drop_in import first_variable as _first_variable
from gradwrap.backends.numpy.functions.table import on_data as _on_data
from gradwrap.core.array import protocol as _protocol
from gradwrap.core.calls import promotion as _promotion
from gradwrap.core.levels import wrapper as _wrapper
from gradwrap.core.library import compat as _compat
from gradwrap.core.library import scatter as _scatter
from gradwrap.core.table.registry import register as _register
from gradwrap.core.values.dynamic import type_of as _type_of
from gradwrap.core.values.tree import flatten as _flatten
from gradwrap.transforms.recording import Recording as _Recording
from gradwrap.transforms.recording import checked_cotangents as _checked_cotangents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from gradwrap.core.table.rule import FormulaFunction
    from gradwrap.typing.signatures import Argnums

__all__ = [
    "call_native",
    "call_numpy",
    "first_variable",
    "forward_key",
    "innermost",
    "is_basic_key",
    "is_mapped",
    "is_recorded",
    "module_like",
    "native",
    "promoted",
    "replace_rule",
    "slice_forwards",
    "submodule",
    "vjp_once",
]

# Values -------------------------------------------------------------------------------------------


def is_recorded(value: Any) -> bool:
    """Tell if a value is, or holds, an array that a transform differentiates or maps over.

    Containers are looked through: lists, tuples, dictionaries and slices.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.extend.is_recorded([np.ones(2), gw.wrap(np.ones(2), requires_grad=True)])
    True
    """
    return _wrapper.is_recorded(value)


def is_mapped(value: Any) -> bool:
    """Tell if a value is, or holds, an array that `vmap` maps over.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> found = []
    >>> _ = gw.vmap(lambda x: found.append(gw.extend.is_mapped(x)) or x)(np.ones(2))
    >>> found
    [True]
    """
    return _wrapper.holds_batch(value)


def innermost(value: Any) -> Any:
    """Return the library's array below all wrappers, to ask for its type, dtype or layout.

    Of an array that `vmap` maps over, it has the axis of the examples in front. A value that is no
    wrapper is returned as it is.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.extend.innermost(gw.wrap(np.ones((2, 3)), requires_grad=True)).flags.c_contiguous
    True
    """
    return _wrapper.innermost(value)


def native(value: Any) -> Any:
    """Return the library's array below all wrappers, to compute with; others as they are.

    Nothing that is computed with it is recorded, so ask `is_recorded` before.

    Raises
    ------
    BatchedValueError
        `vmap` maps over the value, which is one array for each example.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.extend.native(gw.wrap(np.ones(2)))
    array([1., 1.])
    """
    return _wrapper.native(value)


def promoted(arrays: Sequence[Any]) -> list[Any]:
    """Return arrays of several libraries as arrays of the library that takes the others in.

    That is the library whose `Backend.promotes` names the others. A tracked array stays tracked,
    and its gradient is an array of that library. If there is no such library, the arrays are
    returned as they are.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.extend.promoted([np.ones(2), 3.0])
    [array([1., 1.]), 3.0]
    """
    return list(_promotion.promoted(arrays)[0])


# Rows and keys ------------------------------------------------------------------------------------


def replace_rule(
    name: str,
    *formulas: FormulaFunction,
    backend: str,
    native: FormulaFunction | None = None,
    jvps: Sequence[FormulaFunction] | None = None,
) -> None:
    """Change the row of an operation for one library, where the generic row is wrong or slow.

    `gradwrap.defvjp` serves users: it checks the result of each formula. This is for a library's
    package, whose own tests check them, and changes the operation itself as well.

    Parameters
    ----------
    name
        The name of the operation in the table: `"sum"`, `"linalg.inv"`.
    formulas
        The formulas of the cotangents, one for each array argument, as in `gradwrap.defvjp`; if
        none is given, the generic ones stay.
    backend
        The name of the library.
    native
        A function `(xp, *arguments)` that performs the operation.
    jvps
        The formulas of the tangents, one for each array argument.

    Raises
    ------
    RuleDefinitionError
        There is no such operation, or a formula has a parameter that does not exist.

    Examples
    --------
    >>> import gradwrap as gw
    >>> def total(xp, g, x):  # where `broadcast_to` would need a shape that is not known
    ...     return g * xp.ones_like(x)
    >>> gw.extend.replace_rule("sum", total, backend="mylib")
    """
    rule = _rows.differing(name, *formulas, native=native, jvps=jvps)
    _register([rule], backend=backend, depth=2)


def slice_forwards(backend: str) -> None:
    """Give a library whose slices only go forwards rows that reverse axes instead.

    `x[::-1]` then reads, writes, and brings its cotangent back by `xp.flip`.

    Examples
    --------
    >>> import gradwrap as gw
    >>> gw.extend.slice_forwards("mylib")
    """
    _register(_slices.indexing_rules(), backend=backend, depth=2)


def forward_key(key: Any, shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """Return a key whose slices go forwards, and the axes to reverse before it is used.

    Examples
    --------
    >>> import gradwrap as gw
    >>> gw.extend.forward_key((slice(None, None, -1), 2), (4, 5))
    ((slice(0, 4, 1), 2), (0,))
    """
    return _slices.forwards(key, shape)


def is_basic_key(key: Any) -> bool:
    """Tell if a key is made of integers, slices, None and Ellipsis alone: it repeats no element.

    Examples
    --------
    >>> import gradwrap as gw
    >>> gw.extend.is_basic_key((slice(2), 1)), gw.extend.is_basic_key([1, 1])
    (True, False)
    """
    return _scatter.is_basic_key(key)


def module_like(module: Any, **changes: Any) -> ModuleType:
    """Return a module with all that a module has, and with `changes` in place of some of it.

    Examples
    --------
    >>> import math, gradwrap as gw
    >>> degrees = gw.extend.module_like(math, sin=lambda x: math.sin(math.radians(x)))
    >>> round(degrees.sin(30.0), 3), degrees.sqrt(4.0)
    (0.5, 2.0)
    """
    return _compat.module_like(module, **changes)


# Functions ----------------------------------------------------------------------------------------


def vjp_once(
    function: Callable[..., Any], argnums: Argnums, args: Sequence[Any]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return a function's value, and a function that pulls one cotangent back through it.

    It is `gradwrap.vjp` without copies. Do not write to the arguments or the value before the
    cotangent has been pulled back. The pull frees the saved values on its way.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> value, pull = gw.extend.vjp_once(np.multiply, (0,), (np.ones(2), np.array([3.0, 4.0])))
    >>> pull(np.array([1.0, 10.0]))
    (array([ 3., 40.]),)
    """
    recording = _Recording(function, argnums, args, {})
    outputs, treedef = _flatten(recording.out)

    def pull(cotangent: Any) -> tuple[Any, ...]:
        return tuple(recording.pull(outputs, _checked_cotangents(cotangent, outputs, treedef)))

    return recording.unwrapped(recording.out), pull


def call_numpy(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a NumPy function or ufunc that has tracked arrays among its arguments.

    NumPy's own dispatch does not look at all arguments. Arrays of other libraries
    are `promoted` first.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.grad(lambda x: gw.extend.call_numpy(np.add, (np.ones(2), x), {}).sum())(np.ones(2))
    array([1., 1.])
    """
    variable = _first_variable([*args, *kwargs.values()])
    cls, args, kwargs = _promotion.promoted_call(_type_of(variable), args, kwargs)
    if isinstance(function, np.ufunc):
        return _protocol.call_ufunc(cls, function, "__call__", args, kwargs)
    return _protocol.call_function(cls, function, args, kwargs)


def call_native(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function with the library's arrays in place of wrappers, also of those in lists.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.extend.call_native(np.hstack, ([gw.wrap(np.ones(1)), 2.0],), {})
    array([1., 2.])
    """
    return _on_data(function, args, kwargs)


def first_variable(values: Any) -> Any:
    """Return a wrapper among values, or in nested lists of them; None if there is none.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.extend.first_variable([1.0, [2.0, gw.wrap(np.ones(1))]])
    Variable(array([1.]))
    """
    return _first_variable(values)


def submodule(known: ModuleType, standing_for: Callable[[Any, str], Any]) -> ModuleType:
    """Return a module of a drop-in, which looks names up in the library's own when they are used.

    `standing_for(found, name)` returns what takes the place of an object of the library.

    Examples
    --------
    >>> import math, gradwrap as gw
    >>> quiet = gw.extend.submodule(math, lambda found, name: found if name != "pi" else 3)
    >>> quiet.pi, quiet.sqrt(4.0)
    (3, 2.0)
    """
    return _Submodule(known, standing_for)
