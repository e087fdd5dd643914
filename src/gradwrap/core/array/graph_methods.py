"""A variable's place in the graph: leaf or result, `grad`, `backward`, hooks."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from gradwrap.core.array.adapted import adapted_caller, note_stopped
from gradwrap.core.array.writing import inplace
from gradwrap.core.array.writing.ownership import handed_out
from gradwrap.core.array.writing.views import view_of
from gradwrap.core.graph.checking import check_differentiable, check_gradient
from gradwrap.core.graph.node import Leaf, Node
from gradwrap.core.graph.tape import backward
from gradwrap.core.levels.levels import TAPE_LEVEL
from gradwrap.core.levels.wrapper import is_recorded, native
from gradwrap.core.library.buffers import share
from gradwrap.core.observing.handles import register
from gradwrap.core.values.comparing import described, mismatch
from gradwrap.core.values.dynamic import class_of
from gradwrap.errors import BackwardError, InPlaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.graph.grad_fn import GradFn
    from gradwrap.core.observing.handles import RemovableHandle

A = TypeVar("A")


class GraphMethods(Generic[A]):
    """The attributes and methods of a variable that `torch.Tensor` has for gradients."""

    __slots__ = ()

    _value: Any
    _node: Any
    _leaf: Any
    _grad: Any

    # Set in the class of each library
    _backend: Any = None
    _namespace: Any = None

    @property
    def data(self) -> A:
        """The native array itself, not a copy.

        Assigning another array of the same library, shape and dtype replaces this one,
        unrecorded. Writing into it is unrecorded too; it does not change what operations have
        saved, or backward raises an error. In code that `gradwrap.adapting` adapts, where it
        would be the memory of an array of NumPy's, a tracked array stands for its own memory.
        """
        if adapted_caller() is not None and is_recorded(self):
            this: Any = self
            itself: A = this  # which `np.array(x.data)` and `x.data[i]` take
            return itself
        return handed_out(self)  # type: ignore[no-any-return]  # the A it was made with

    @data.setter
    def data(self, value: A | Self) -> None:
        array = native(value)
        if array is self._value:  # the second half of `x.data -= ...`
            return
        if self._backend.depth or view_of(self) is not None:
            raise InPlaceError(
                "data= of a view, or of an array under two transforms. "
                "Fix: assign to its parts, x[...] = value, under gradwrap.no_grad()."
            )
        if not self._backend.is_array(array):
            raise InPlaceError(
                f"data= got {class_of(array)}; the array is one of {self._backend.name}. "
                "Fix: assign an array of the same library."
            )
        if mismatch(array, None, self._backend.meta(self._value, TAPE_LEVEL)) is not None:
            raise InPlaceError(
                f"data= got {described(array)}, the array is {described(self._value)}. "
                "Fix: assign an array of its shape and dtype, or wrap a new one."
            )
        share(array)
        inplace.replace_data(self, array)

    @property
    def requires_grad(self) -> bool:
        """True if operations on this array are recorded.

        A result requires a gradient if anything it was computed from does. Assigning to it is
        `requires_grad_`.
        """
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """True if the array was made by the user rather than by a recorded operation."""
        return self._node is None or type(self._node) is Leaf

    @property
    def grad_fn(self) -> GradFn | None:
        """The recorded operation that this array is the result of; None for a leaf.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> x = gw.wrap(np.ones(2), requires_grad=True)
        >>> x.grad_fn, np.sin(x).grad_fn
        (None, <SinBackward>)
        """
        return self._node.shown[0] if isinstance(self._node, Node) else None

    @property
    def grad(self) -> A | None:
        """The gradient that `backward` has accumulated: a native array, or None before.

        Only leaves, and arrays whose `retain_grad` was called, have a gradient. After
        `create_graph`, it is a variable. None, or an array of the same shape and dtype, may be
        assigned to it.
        """
        found: A | None = getattr(self, "_grad", None)
        if found is None and isinstance(self._node, Node) and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Variable that is not a leaf is being accessed. backward "
                "does not fill it. Fix: call .retain_grad() before backward, or read that of the "
                "leaf.",
                UserWarning,
                stacklevel=2,
            )
        return found

    @grad.setter
    def grad(self, value: A | None) -> None:
        if value is not None:
            check_gradient(value, self._backend.meta(self._value, TAPE_LEVEL), "the assigned grad")
        self._grad = value

    def zero_grad(self) -> None:
        """Reset the gradient: `grad` is None again."""
        self._grad = None

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
            check_differentiable(self._backend, self._value, "an array that requires grad")
            leaf = getattr(self, "_leaf", None)
            if leaf is None:
                owner: Any = weakref.ref(self)
                leaf = self._leaf = Leaf(self._backend.meta(self._value, TAPE_LEVEL), owner)
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
        """Return the same data, not tracked at any level; the graph of this array is unchanged."""
        note_stopped()
        return self._namespace.stop_gradient(self)  # type: ignore[no-any-return]  # of the same class

    def detach_(self) -> Self:
        """Take this array itself out of its graph. From then on, it is a leaf that is not tracked.

        Raises
        ------
        InPlaceError
            It is a view of another array.
        """
        if view_of(self) is not None:
            raise InPlaceError(
                "Can't detach views in-place. "
                "Fix: use .detach(), or .copy() the view before .detach_()."
            )
        self._node = None
        return self

    def backward(
        self,
        gradient: A | Self | None = None,
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
            Keep the recorded graph, so that `backward` can run again. By default, `create_graph`.
        create_graph
            Record the pass itself; the gradients are then variables, to be differentiated again.
        inputs
            The variables that get a gradient, leaves or not; all leaves by default.

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
        backward([self], [gradient], retain_graph, create_graph, inputs)

    # Hooks -------------------------------------------------------------------------------------

    def retain_grad(self) -> None:
        """Let `backward` add to the `grad` of this array as well, though it is not a leaf.

        It keeps the gradient after all hooks of the array, whenever they were registered. Nothing
        changes for a leaf.

        Raises
        ------
        BackwardError
            The array is not tracked.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> x = gw.wrap(np.array(3.0), requires_grad=True)
        >>> y = x * x
        >>> y.retain_grad()
        >>> (2 * y).backward()
        >>> y.grad
        array(2.)
        """
        if self._node is None:
            raise BackwardError(
                "can't retain_grad on a Variable that has requires_grad=False. "
                "Fix: make an array it is computed from with gradwrap.wrap(array, "
                "requires_grad=True)."
            )
        node = self._hookable()
        if isinstance(node, Node) and not self.retains_grad:
            node.own_hooks().retained = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """True if `retain_grad` was called on this array, which is not a leaf."""
        node = self._node
        found = None if type(node) is not Node or node.op.hooks is None else node.op.hooks.retained
        return found is not None and found() is self

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call `hook(gradient)` in each backward pass, once the whole gradient is known.

        The gradient is a native array, or a variable in a pass with `create_graph`. The hook may
        return another one of the same shape and dtype, which takes its place: for what lies
        before this array in the graph, for later hooks, and for `grad`. Hooks run in the order in
        which they were registered; a leaf's run before its `grad` is added to. The handle takes
        the hook away again.

        Raises
        ------
        BackwardError
            The array is not tracked.
        HookResultError
            During `backward`: the hook returned anything but None or such a gradient.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> x = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
        >>> handle = x.register_hook(lambda g: np.clip(g, 0.0, 3.0))
        >>> (x * x).sum().backward()
        >>> x.grad
        array([2., 3.])
        """
        return register(self._hookable().own_hooks().variable, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call `hook(x)` with this leaf each time its `grad` has been added to.

        The result of the hook is ignored. It may use `x.grad`, change `x` in place, and set
        `x.grad` to None. The handle takes the hook away again.

        Raises
        ------
        BackwardError
            The array is not tracked, or not a leaf.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> w = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
        >>> def descend(w):
        ...     w -= 0.1 * w.grad
        ...     w.grad = None
        >>> handle = w.register_post_accumulate_grad_hook(descend)
        >>> (w * w).sum().backward()
        >>> w
        Variable(array([0.8, 1.6]), requires_grad=True)
        """
        node = self._hookable()
        if not isinstance(node, Leaf):
            raise BackwardError(
                "post accumulate grad hooks cannot be registered on non-leaf Variables. "
                "Fix: use .register_hook, or .retain_grad() and read .grad."
            )
        return register(node.own_hooks().accumulated, hook)

    def _hookable(self) -> Node | Leaf:
        if self._node is None:
            raise BackwardError(
                "cannot register a hook on a Variable that doesn't require gradient. "
                "Fix: make it, or an array it is computed from, with gradwrap.wrap(array, "
                "requires_grad=True)."
            )
        if not isinstance(self._node, (Node, Leaf)):
            raise BackwardError(
                "cannot register a hook in forward mode (jvp, linearize, jacfwd), which has no "
                "backward pass to call it in. Fix: use grad, vjp or jacrev, or leave the hook out."
            )
        return self._node
