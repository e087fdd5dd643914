"""The tape's functions of several outputs, with the meaning of `torch.autograd`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from gradwrap.core.array.variable import Variable
from gradwrap.core.graph.grad_fn import GradFn
from gradwrap.core.graph.tape import backward as _backward
from gradwrap.core.graph.tape import gradients_of as _gradients_of
from gradwrap.core.levels.modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.handles import RemovableHandle
from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.errors import BackwardError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.array.variable import Variable
    from gradwrap.transforms.function import Function
    from gradwrap.transforms.watches import detect_anomaly
else:
    _LATER = {
        "Function": "gradwrap.transforms.function",
        "detect_anomaly": "gradwrap.transforms.watches",
    }

    def __getattr__(name: str) -> object:
        """Import a name of `torch.autograd` that `gradwrap` imports at first use."""
        import importlib

        if name not in _LATER:
            raise AttributeError(f"module 'gradwrap.autograd' has no attribute {name!r}")
        return getattr(importlib.import_module(_LATER[name]), name)


A = TypeVar("A")

__all__ = [
    "Function",
    "GradFn",
    "RemovableHandle",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]


def backward(
    tensors: Variable[Any] | Sequence[Variable[Any]],
    grad_tensors: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Differentiate several outputs at once, and add to the `grad` of the leaves.

    Parameters and errors are those of `Variable.backward`; `grad_tensors` holds a cotangent, or
    None, for each of `tensors`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.array(3.0), requires_grad=True)
    >>> gw.autograd.backward([x * x, 2 * x])
    >>> x.grad
    array(8.)
    """
    outputs, gradients = _paired(tensors, grad_tensors)
    _backward(outputs, gradients, retain_graph, create_graph, inputs)


@overload
def grad(
    outputs: Variable[Any] | Sequence[Variable[Any]],
    inputs: Variable[A] | Sequence[Variable[A]],
    grad_outputs: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: Literal[False] = False,
    allow_unused: Literal[False] | None = None,
    materialize_grads: bool = False,
) -> tuple[A, ...]: ...
@overload
def grad(
    outputs: Variable[Any] | Sequence[Variable[Any]],
    inputs: Variable[A] | Sequence[Variable[A]],
    grad_outputs: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: Literal[True],
    allow_unused: Literal[False] | None = None,
    materialize_grads: bool = False,
) -> tuple[Variable[A], ...]: ...
@overload
def grad(
    outputs: Variable[Any] | Sequence[Variable[Any]],
    inputs: Variable[A] | Sequence[Variable[A]],
    grad_outputs: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: Literal[False] = False,
    allow_unused: bool | None,
    materialize_grads: bool = False,
) -> tuple[A | None, ...]: ...
@overload
def grad(
    outputs: Variable[Any] | Sequence[Variable[Any]],
    inputs: Variable[A] | Sequence[Variable[A]],
    grad_outputs: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Any, ...]: ...
def grad(  # noqa: PLR0913  PyTorch's signature
    outputs: Variable[Any] | Sequence[Variable[Any]],
    inputs: Variable[Any] | Sequence[Variable[Any]],
    grad_outputs: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of the sum of `outputs` with respect to each of `inputs`.

    Parameters
    ----------
    outputs
        Results of recorded operations.
    inputs
        Variables they were computed from, leaves or not.
    grad_outputs
        A cotangent, or None, for each output.
    retain_graph, create_graph
        As for `Variable.backward`.
    allow_unused
        Return None for an input that no output depends on, instead of raising an error. By default,
        `materialize_grads`.
    materialize_grads
        Return zeros for such an input.

    Returns
    -------
    tuple
        A gradient for each input, of its shape and dtype: native arrays, or variables with
        `create_graph`. For variables with hooks, these are the results of the hooks. No `grad`
        attribute changes.

    Raises
    ------
    BackwardError
        An input is not tracked or was not used; or as for `Variable.backward`.
    GraphFreedError
        As for `Variable.backward`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.array(3.0), requires_grad=True)
    >>> y = x**3
    >>> (first,) = gw.autograd.grad(y, x, create_graph=True)
    >>> first
    Variable(np.float64(27.0), grad_fn=<MultiplyBackward>)
    >>> gw.autograd.grad(first, [x])
    (array(18.),)
    """
    if materialize_grads and allow_unused is False:
        raise BackwardError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False. Fix: omit allow_unused."
        )
    tensors, gradients = _paired(outputs, grad_outputs)
    return _gradients_of(
        tensors,
        inputs,
        gradients,
        retain_graph,
        create_graph,
        allow_unused=allow_unused or materialize_grads,
        materialize=materialize_grads,
    )


def _paired(
    outputs: Variable[Any] | Sequence[Variable[Any]], gradients: Any
) -> tuple[list[Any], list[Any]]:
    """Outputs and their cotangents as two lists; one alone stands for a list of one."""
    alone = isinstance(outputs, AnyWrapper)
    found: list[Any] = [outputs] if alone else list(outputs)
    if gradients is None:
        return found, [None] * len(found)
    return found, [gradients] if alone and not isinstance(gradients, SEQUENCE) else list(gradients)
