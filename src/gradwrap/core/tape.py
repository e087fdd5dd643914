"""The imperative tape: leaves made by `wrap`, and `backward` with PyTorch's meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from gradwrap.core.backend import backend_of, find_backend
from gradwrap.core.classes import variable_class
from gradwrap.core.engine import backward_pass
from gradwrap.core.modes import TAPE_LEVEL
from gradwrap.core.node import Leaf, Node
from gradwrap.core.unwrapping import native, snapshot
from gradwrap.core.variable import Variable, check_differentiable
from gradwrap.errors import BackwardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradwrap.core.meta import Meta

__all__ = ["backward", "own_buffers", "unwrap", "wrap"]

A = TypeVar("A")


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
    if isinstance(array, Variable):
        return array.requires_grad_() if requires_grad else array
    backend = backend_of(array)
    if not backend.is_numeric(array):
        check_differentiable(backend, array, "the wrapped array")
    variable = variable_class(backend)(backend.to_hold(array))
    if requires_grad:
        variable.requires_grad_()
    return variable


@overload
def unwrap(value: Variable[A]) -> A: ...
@overload
def unwrap(value: A) -> A: ...
def unwrap(value: Any) -> Any:
    """The native array of a variable; anything else as it is.

    >>> import numpy as np, gradwrap as gw
    >>> gw.unwrap(gw.wrap(np.ones(2)))
    array([1., 1.])
    """
    return native(value)


def backward(
    outputs: Sequence[Any],
    gradients: Sequence[Any],
    retain_graph: bool | None,
    create_graph: bool,
    inputs: Any,
) -> None:
    """Add the gradients of several outputs to the `grad` of the leaves."""
    if len(outputs) != len(gradients):
        raise BackwardError(
            f"got {len(outputs)} tensors and {len(gradients)} grad_tensors. "
            "Fix: pass a gradient, or None, for each tensor."
        )
    roots = [
        _root(output, gradient, create_graph)
        for output, gradient in zip(outputs, gradients, strict=True)
    ]
    targets = None if inputs is None else _leaves(inputs)
    keep = create_graph if retain_graph is None else retain_graph
    arrived = backward_pass(roots, retain_graph=keep, create_graph=create_graph, targets=targets)
    results = list(arrived.values())
    own_buffers(results, [g for _, g in roots])
    for leaf, gradient in zip(arrived, results, strict=True):
        variable = leaf.owner() if isinstance(leaf, Leaf) and leaf.owner is not None else None
        if variable is not None:
            _accumulate(variable, gradient)


def _accumulate(variable: Variable[Any], gradient: Any) -> None:
    before = variable.grad
    variable._grad = gradient if before is None else before + gradient


def _leaves(inputs: Any) -> set[Node | Leaf]:
    variables = (inputs,) if isinstance(inputs, Variable) else tuple(inputs)
    if not variables:
        raise BackwardError(
            "`inputs` argument to backward() cannot be empty. "
            "Fix: leave it out to differentiate for all leaves."
        )
    for variable in variables:
        if not isinstance(variable, Variable) or variable._node is None:
            raise BackwardError(
                "One of the inputs of backward() does not require grad. "
                "Fix: make it with gradwrap.wrap(array, requires_grad=True)."
            )
        if not variable.is_leaf:
            raise BackwardError(
                "One of the inputs of backward() is not a leaf. "
                "Fix: gradwrap.grad differentiates with respect to any array."
            )
    return {variable._node for variable in variables}


def _root(output: Any, gradient: Any, create_graph: bool) -> tuple[Node | Leaf, Any]:
    """The node and the cotangent that a pass starts from, checked against the output."""
    if not isinstance(output, Variable) or output._node is None:
        raise BackwardError(
            "the output does not require grad and does not have a grad_fn. Fix: make an array "
            "it is computed from with gradwrap.wrap(array, requires_grad=True)."
        )
    meta = output._node.meta
    if meta.level != TAPE_LEVEL:
        raise BackwardError(
            "backward() on a value that a transform (gradwrap.grad, vjp, ...) is differentiating: "
            "the tape lies outside of every transform. Fix: use gradwrap.grad inside as well, or "
            ".detach() the value."
        )
    if gradient is None:
        if output.size != 1 or meta.is_complex:
            raise BackwardError(
                "grad can be implicitly created only for real scalar outputs; this one is "
                f"{meta}. Fix: .sum() it, or pass gradient= of its shape."
            )
        gradient = output._backend.ones_like(output._data)
    elif isinstance(gradient, Variable) and not create_graph:
        gradient = native(gradient)
    gradient = _checked(gradient, output, meta)
    if create_graph and not isinstance(gradient, Variable):
        gradient = type(output)(gradient)
    return output._node, gradient


def _checked(gradient: Any, output: Variable[Any], meta: Meta) -> Any:
    """A gradient of the output's library, shape and dtype."""
    backend = output._backend
    if isinstance(gradient, (int, float, complex)):
        one = backend.ones_like(output._data)  # a number takes the output's dtype
        gradient = one * gradient if meta.shape == () else backend.asarray(gradient)
    kind = find_backend(type(gradient))
    if kind is None and not hasattr(gradient, "__array_namespace__"):
        raise BackwardError(
            f"gradient is a {type(gradient).__name__}. "
            "Fix: pass an array of the output's shape and dtype."
        )
    kind = kind or backend_of(gradient)
    if kind.name != backend.name:
        raise BackwardError(
            f"gradient is an array of {kind.name}, the output is an array of {backend.name}. "
            "Fix: convert the gradient."
        )
    if tuple(gradient.shape) != meta.shape:
        raise BackwardError(
            f"Mismatch in shape: gradient has shape {tuple(gradient.shape)}, the output has "
            f"{meta.shape}. Fix: pass a gradient of the output's shape."
        )
    if gradient.dtype != meta.dtype:
        raise BackwardError(
            f"Mismatch in dtype: gradient has {gradient.dtype}, the output has {meta.dtype}. "
            "Fix: cast the gradient."
        )
    return gradient


def own_buffers(gradients: list[Any], starts: Iterable[Any]) -> None:
    """Give every gradient a buffer of its own, which its owner may write to.

    A formula may hand on the cotangent it was given, or a view of it; so two gradients can
    come out as one array.
    """
    taken = {id(start) for start in starts}
    for position, gradient in enumerate(gradients):
        if gradient is None or isinstance(gradient, Variable):
            gradients[position] = snapshot(gradient)
            continue
        backend = backend_of(gradient)
        if id(gradient) in taken or not backend.owns_buffer(gradient):
            gradients[position] = backend.copy(gradient)
        taken.add(id(gradients[position]))
