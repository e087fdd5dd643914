"""The nodes of the recorded graph as users see them, with PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.observing.handles import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.observing.handles import Hooks, RemovableHandle


_apply: Callable[[Any, tuple[Any, ...]], Any] | None = None


def install(apply: Callable[[Any, tuple[Any, ...]], Any]) -> None:
    """Set the function that answers a call of a node."""
    global _apply  # noqa: PLW0603  set once, at import
    _apply = apply


class GradFn:
    """A node of the recorded graph.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.array(3.0), requires_grad=True)
    >>> y = x * 2
    >>> y.grad_fn
    <MultiplyBackward>
    >>> y.grad_fn.next_functions
    ((<AccumulateGrad>, 0), (None, 0))
    """

    __slots__ = ()

    def name(self) -> str:
        """The name of the operation: `MultiplyBackward`, after the library's function."""
        raise NotImplementedError

    @property
    def next_functions(self) -> tuple[tuple[GradFn | None, int], ...]:
        """Return for each argument its `grad_fn`, and its output number there.

        None stands for an argument that is not tracked, `AccumulateGrad` for a leaf. Empty once
        `backward` has freed the graph.
        """
        raise NotImplementedError

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary in which users can keep any data."""
        return self.own_hooks().metadata

    def __call__(self, *gradients: Any) -> Any:
        """Pull the gradients of the outputs back to the arguments, through this node alone.

        Parameters
        ----------
        gradients
            One for each output of the operation, of its shape and dtype; None for zero.

        Returns
        -------
        The gradient of the argument, or a tuple of them in the order of `next_functions`, with None
        for those that are not tracked. What the node has saved is kept; its hooks run. A leaf's
        node adds the gradient to the leaf's `grad`, and returns None.

        Raises
        ------
        BackwardError
            The number of gradients is not that of the outputs, or one is of another shape or dtype.
        GraphFreedError
            `backward` has freed the graph.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> x = gw.wrap(np.array([2.0, 3.0]), requires_grad=True)
        >>> y = x * x
        >>> y.grad_fn(np.array([1.0, 10.0]))
        (array([ 2., 30.]), array([ 2., 30.]))
        """
        assert _apply is not None
        return _apply(self, gradients)

    def own_hooks(self) -> Hooks:
        """Return the hooks of this node, made at the first use."""
        raise NotImplementedError

    def register_hook(
        self, hook: Callable[[tuple[Any, ...], tuple[Any, ...]], Any]
    ) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run in a backward pass.

        `grad_inputs` are the gradients of the arguments, in the order of `next_functions`;
        `grad_outputs` those of the outputs. The hook may return a tuple that takes the place of
        `grad_inputs`.

        Raises
        ------
        HookResultError
            During `backward`: the hook returned anything but None or a tuple of gradients of the
            same shapes and dtypes.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> x = gw.wrap(np.ones(1), requires_grad=True)
        >>> y = x * 2
        >>> handle = y.grad_fn.register_hook(lambda inputs, outputs: print(inputs, outputs))
        >>> y.sum().backward()
        (array([2.]), None) (array([1.]),)
        """
        return register(self.own_hooks().after, hook)

    def register_prehook(self, hook: Callable[[tuple[Any, ...]], Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs in a backward pass.

        The hook may return a tuple that takes the place of `grad_outputs`.

        Raises
        ------
        HookResultError
            As for `register_hook`.

        Examples
        --------
        >>> import numpy as np, gradwrap as gw
        >>> x = gw.wrap(np.array(3.0), requires_grad=True)
        >>> y = x * 2
        >>> handle = y.grad_fn.register_prehook(lambda outputs: tuple(10 * g for g in outputs))
        >>> y.backward()
        >>> x.grad
        array(20.)
        """
        return register(self.own_hooks().before, hook)

    def __repr__(self) -> str:
        return f"<{self.name()}>"
