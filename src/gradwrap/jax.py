"""Functions of NumPy in JAX's programs, and functions of JAX in gradwrap's graph.

>>> import jax, numpy as np, gradwrap.jax
>>> pendulum = gradwrap.jax.callback(lambda angle: -9.81 * np.sin(angle))
>>> float(jax.jit(jax.grad(pendulum))(0.0))
-9.8100...
"""

from __future__ import annotations

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING, Any

from gradwrap.errors import MissingToolError as _MissingToolError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["callback", "operation"]


def _bridge(name: str) -> Any:
    if _find_spec("jax") is None:
        raise _MissingToolError(
            "gradwrap.jax joins gradwrap with JAX, which is not installed. Fix: pip install jax."
        )
    return _import_module(f"gradwrap.bridges.{name}")


def callback(fun: Callable[..., Any], out_like: Any = None) -> Callable[..., Any]:
    """Make a function of NumPy arrays a function of JAX arrays, which JAX's transforms take.

    It works in `jit`, `grad`, `vmap`, `scan`, in forward and reverse mode, and in derivatives
    of any order. The program calls it on the host, and gradwrap computes the derivatives.

    Parameters
    ----------
    fun
        A function of arrays, numbers and containers of them, which returns arrays or containers of
        them. The shapes of its results depend on the shapes of its arguments alone. It must have no
        side effects, and must not call JAX.
    out_like
        The shapes and dtypes of the result: a container of `jax.ShapeDtypeStruct`, or a function
        that returns one, given the arguments with such objects in place of arrays. Without it,
        `fun` runs once on ones for each set of shapes.

    Returns
    -------
    callable
        A function of the same arguments. Python's numbers are given to `fun` as they are.

    Raises
    ------
    NotAnArrayError
        An argument has a dtype that NumPy lacks, or a result has another shape than JAX was told.
    TrackedValueError
        The callback is given a tracked value of gradwrap.
    MissingToolError
        JAX is not installed.

    Examples
    --------
    >>> import jax, numpy as np, gradwrap as gw
    >>> cube = gw.jax.callback(lambda x: x**3)
    >>> print(jax.jit(jax.hessian(lambda x: cube(x).sum()))(np.array([1.0, 2.0], np.float32)))
    [[ 6.  0.]
     [ 0. 12.]]
    """
    return _bridge("jax_callback").Callback(fun, out_like)  # type: ignore[no-any-return]  # imported by name


def operation(fun: Callable[..., Any], *, jit: bool = True) -> Callable[..., Any]:
    """Make a function of JAX arrays a function of NumPy arrays, which gradwrap differentiates.

    JAX computes the derivatives, of every order and in every mode; in 64 bits if an argument has
    them. Under `gradwrap.compile` it is one opaque operation.

    Parameters
    ----------
    fun
        A function of arrays, numbers and containers of them, which returns arrays or containers of
        them.
    jit
        Whether JAX compiles it, and its derivatives, for each set of shapes. A function that tests
        values of its arguments needs False.

    Returns
    -------
    callable
        A function of the same arguments.

    Raises
    ------
    NotAnArrayError
        An array is of another library than NumPy and JAX.
    MissingToolError
        JAX is not installed.

    Examples
    --------
    >>> import jax, numpy as np, gradwrap as gw
    >>> softplus = gw.jax.operation(jax.nn.softplus)
    >>> gw.grad(lambda x: np.sum(softplus(x) ** 2))(np.array([0.0]))
    array([0.69314718])
    """
    library = _bridge("jax_operation").JaxLibrary(jit)
    return _bridge("operation").Operation(fun, library, "gradwrap.jax.operation")  # type: ignore[no-any-return]  # imported by name
