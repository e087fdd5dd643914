"""The tape's functions of several outputs, with the meaning of `torch.autograd`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.tape import backward as _backward
from gradwrap.core.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["backward"]


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
    outputs = [tensors] if isinstance(tensors, Variable) else list(tensors)
    if grad_tensors is None:
        gradients: list[Any] = [None] * len(outputs)
    else:
        gradients = [grad_tensors] if isinstance(tensors, Variable) else list(grad_tensors)
    _backward(outputs, gradients, retain_graph, create_graph, inputs)
