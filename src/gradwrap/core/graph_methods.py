"""A variable's place in the graph: leaf or result, `grad`, `backward`."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from gradwrap.core import inplace
from gradwrap.core.checking import check_differentiable, check_gradient
from gradwrap.core.modes import TAPE_LEVEL
from gradwrap.core.node import Leaf
from gradwrap.errors import BackwardError

if TYPE_CHECKING:
    from gradwrap.core.variable import Variable

__all__ = ["GraphMethods"]

A = TypeVar("A")


class GraphMethods(Generic[A]):
    """What a variable has of `torch.Tensor` in the matter of gradients."""

    __slots__ = ()

    _data: Any
    _node: Any
    _leaf: Leaf | None
    _grad: Any
    _backend: Any
    _namespace: Any

    @property
    def data(self) -> A:
        """The native array itself, not a copy."""
        return inplace.native(self)  # type: ignore[no-any-return]

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this array are recorded."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """Whether the array was made by the user rather than by a recorded operation."""
        return self._node is None or type(self._node) is Leaf

    @property
    def grad(self) -> A | None:
        """What `backward` has accumulated, as a native array; None before."""
        return getattr(self, "_grad", None)

    @grad.setter
    def grad(self, value: A | None) -> None:
        if value is not None:
            check_gradient(value, self._backend.meta(self._data, TAPE_LEVEL), "the assigned grad")
        self._grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Start (or stop) tracking a leaf, and return it.

        Raises
        ------
        NonDifferentiableInputError
            The dtype is not floating-point.
        BackwardError
            The array is not a leaf, and was to be no longer tracked.
        """
        if requires_grad and self._node is None:
            check_differentiable(self._backend, self._data, "an array that requires grad")
            leaf = getattr(self, "_leaf", None)
            if leaf is None:
                meta = self._backend.meta(self._data, TAPE_LEVEL)
                leaf = self._leaf = Leaf(meta, weakref.ref(self))
            self._node = leaf
        elif not requires_grad and self._node is not None:
            if not self.is_leaf:
                raise BackwardError(
                    "you can only change requires_grad flags of leaf variables. "
                    "Fix: use .detach() to get an array that is not tracked."
                )
            self._node = None
        return self

    def detach(self) -> Self:
        """The same data, not tracked at any level; the graph behind this array is untouched."""
        return self._namespace.stop_gradient(self)  # type: ignore[no-any-return]

    def backward(
        self,
        gradient: A | Variable[A] | None = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Differentiate this array with respect to the leaves, and add to their `grad`.

        Parameters
        ----------
        gradient
            The cotangent of this array, of its shape. May be left out for a real scalar, for
            which it is one.
        retain_graph
            Keep what was recorded, so that `backward` can run again. By default, `create_graph`.
        create_graph
            Record the pass itself; the gradients are then variables, to be differentiated again.
        inputs
            The leaves to differentiate for; all of them by default.

        Raises
        ------
        BackwardError
            The array is not tracked, or not a scalar and `gradient` is missing, or `gradient`
            has another shape.
        GraphFreedError
            The graph was released by an earlier call.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> x = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        array([2., 4.])
        """
        from gradwrap.core.tape import backward

        backward([self], [gradient], retain_graph, create_graph, inputs)
