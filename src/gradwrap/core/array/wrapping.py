"""Wrapping arrays and namespaces, and unwrapping them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from gradwrap.core.array.variable import Variable, variable_class
from gradwrap.core.array.writing.ownership import handed_out
from gradwrap.core.graph.checking import check_differentiable
from gradwrap.core.levels.wrapper import AnyWrapper, batched_parts, data_of, make_wrapper, native
from gradwrap.core.library.backend import backend_of, backend_of_namespace
from gradwrap.core.library.buffers import share

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.typing import Namespace

A = TypeVar("A")

notes_of_failures: list[Callable[[Exception], None]] = []
"""Functions that add to the error of a library that can make no array what runs without it."""


@overload
def wrap(array: Variable[A], requires_grad: bool = False) -> Variable[A]: ...
@overload
def wrap(array: A, requires_grad: bool = False) -> Variable[A]: ...
def wrap(array: Any, requires_grad: bool = False) -> Variable[Any]:
    """Wrap a native array, so that operations on it can be recorded.

    The buffer is shared, and never written to.

    Parameters
    ----------
    array
        An array of any library that follows the standard; any shape and numeric dtype.
    requires_grad
        Track it: `backward` of a result will add to its `grad`.

    Raises
    ------
    NonDifferentiableInputError
        `requires_grad` for a dtype that is not floating-point, or an object array.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
    Variable(array([1., 2.]), requires_grad=True)
    """
    variable: Variable[Any]
    if isinstance(array, AnyWrapper):
        variable = array
    else:
        backend = backend_of(array)
        if not backend.is_numeric(array):
            check_differentiable(backend, array, "the wrapped array")
        held = backend.to_hold(array)
        share(held)
        variable = make_wrapper(variable_class(backend), held)
    if requires_grad:
        variable.requires_grad_()
    return variable


@overload
def unwrap(value: Variable[A]) -> A: ...
@overload
def unwrap(value: A) -> A: ...
def unwrap(value: Any) -> Any:
    """Return the native array of a variable, and any other value unchanged.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.unwrap(gw.wrap(np.ones(2)))
    array([1., 1.])
    """
    return handed_out(value)


def untracked_copy(x: Any) -> Variable[Any]:
    """Wrap the same data untracked at every level; batches of `vmap` remain batches."""
    mapped = next(batched_parts(x), None)
    if mapped is None:
        data = native(x)
        return make_wrapper(variable_class(backend_of(data)), data)
    below = data_of(mapped)
    stopped = untracked_copy(below) if isinstance(below, AnyWrapper) else below
    holding: type[Variable[Any]] = mapped._class_holding(type(stopped))
    return make_wrapper(holding, stopped, mapped._node)


def wrap_namespace(xp: Any) -> Namespace[Any]:
    """Return an Array API namespace whose arrays are variables.

    `xp` is the namespace of any library that follows the standard: `numpy`, `array_api_strict`,
    `array_api_compat.cupy`. The result is the same object for the same library.

    Examples
    --------
    >>> import numpy, gradwrap as gw
    >>> xp = gw.wrap_namespace(numpy)
    >>> xp.sum(xp.ones(3))
    Variable(np.float64(3.0))
    """
    try:
        backend = backend_of_namespace(xp)
    except Exception as error:
        for note in notes_of_failures:
            note(error)
        raise
    made: Any = variable_class(backend)
    namespace: Namespace[Any] = made._namespace
    return namespace
