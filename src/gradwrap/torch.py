"""Functions of arrays in PyTorch's graph, and functions of PyTorch in gradwrap's.

>>> import numpy as np, torch, gradwrap.torch
>>> pendulum = gradwrap.torch.layer(lambda angle: -9.81 * np.sin(angle))
>>> angle = torch.tensor([0.0, 1.0], requires_grad=True)
>>> pendulum(angle).sum().backward()
>>> angle.grad
tensor([-9.8100, -5.3004])
"""

from __future__ import annotations

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING, Any, Literal

from gradwrap.errors import MissingToolError as _MissingToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    Kind = Literal["numpy", "cupy", "torch"]
    """The arrays that a layer's function computes with."""


__all__ = ["layer", "module", "operation"]


def _bridge(name: str) -> Any:
    if _find_spec("torch") is None:
        raise _MissingToolError(
            "gradwrap.torch joins gradwrap with PyTorch, which is not installed. "
            "Fix: pip install torch."
        )
    return _import_module(f"gradwrap.bridges.{name}")


def layer(fun: Callable[..., Any], *, arrays: Kind = "numpy") -> Callable[..., Any]:
    """Make a function of arrays a function of tensors, which PyTorch's transforms differentiate.

    It works in `backward`, also with `create_graph=True`, in all of `torch.func`, and as one opaque
    operation in `torch.compile`. gradwrap computes the derivatives.

    Parameters
    ----------
    fun
        A function of arrays, numbers and containers of them, which returns arrays or containers of
        them. It must not write to its arguments, whose memory is that of the tensors.
    arrays
        The arrays that `fun` computes with. `"numpy"`: tensors have to be on the host. `"cupy"`:
        tensors on a GPU, whose memory CuPy shares. `"torch"`: the tensors themselves, detached, on
        any device, for a function of any library's arrays.

    Returns
    -------
    callable
        A function of the same arguments, with tensors in place of arrays, that returns tensors in
        place of arrays. A tensor has the dtype of its array, a gradient that of its argument.
        Tensors of integers, and tensors that do not require it, get no gradient. Memory is shared
        where both libraries can read it, and where nothing else refers to it.

    Raises
    ------
    NotAnArrayError
        A tensor is on another device, is sparse, has a dtype that the arrays cannot have, or `fun`
        returns something else than arrays.
    TrackedValueError
        The layer is given a tracked value of gradwrap.
    MissingToolError
        PyTorch, or CuPy for `arrays="cupy"`, is not installed.

    Examples
    --------
    >>> import numpy as np, torch, gradwrap as gw
    >>> cube = gw.torch.layer(lambda x: x**3)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> cube(x).sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    >>> torch.func.hessian(lambda x: cube(x).sum())(x.detach())
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return _bridge("torch_layer").Layer(fun, arrays)  # type: ignore[no-any-return]  # imported by name


def module(fun: Callable[..., Any], parameters: Any, *, arrays: Kind = "numpy") -> Any:
    """Make a function of parameters and arrays a `torch.nn.Module`, which holds the parameters.

    Parameters
    ----------
    fun
        A function `fun(parameters, *args)`, as `layer` takes it.
    parameters
        A container of arrays or tensors, with which the training starts: copies of them become the
        module's parameters, by names such as `layers_0_weight`. Integers, and whatever else is no
        floating-point array, are given to `fun` as they are.
    arrays
        As in `layer`.

    Returns
    -------
    torch.nn.Module
        A module that calls `fun` with its parameters and the tensors that it is given.

    Examples
    --------
    >>> import numpy as np, torch, gradwrap as gw
    >>> line = gw.torch.module(lambda p, x: p["slope"] * x + p["offset"],
    ...                        {"slope": np.array(2.0), "offset": np.array(1.0)})
    >>> [name for name, _ in line.named_parameters()]
    ['offset', 'slope']
    >>> line(torch.tensor([1.0, 3.0], dtype=torch.float64)).sum().backward()
    >>> line.slope.grad
    tensor(4., dtype=torch.float64)
    """
    return _bridge("torch_layer").LayerModule(fun, parameters, arrays)


def operation(fun: Callable[..., Any], *, device: Any = None) -> Callable[..., Any]:
    """Make a function of tensors a function of arrays, which gradwrap's transforms differentiate.

    PyTorch computes the derivatives, of every order and in every mode. Under `gradwrap.compile` it
    is one opaque operation.

    Parameters
    ----------
    fun
        A function of tensors, numbers and containers of them, which returns tensors or containers
        of them: a `torch.nn.Module` too, whose own parameters are constants here.
    device
        Where it computes: arrays are sent there as tensors, and results are brought back. By
        default, arrays of NumPy stay on the host, and tensors where they are.

    Returns
    -------
    callable
        A function of the same arguments, with arrays in place of tensors.

    Raises
    ------
    NotAnArrayError
        An array is of another library than NumPy and PyTorch, or has a dtype that torch lacks.
    InPlaceError
        `fun` writes to its argument.
    MissingToolError
        PyTorch is not installed.

    Examples
    --------
    >>> import numpy as np, torch, gradwrap as gw
    >>> softplus = gw.torch.operation(torch.nn.functional.softplus)
    >>> gw.grad(lambda x: np.sum(softplus(x) ** 2))(np.array([0.0]))
    array([0.69314718])
    """
    library = _bridge("torch_operation").TorchLibrary(None if device is None else str(device))
    return _bridge("operation").Operation(fun, library, "gradwrap.torch.operation")  # type: ignore[no-any-return]  # imported by name
