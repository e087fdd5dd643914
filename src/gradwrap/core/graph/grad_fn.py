"""The nodes of the recorded graph as their users see them, under PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.observing.handles import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.observing.handles import Hooks, RemovableHandle


class GradFn:
    """A node of the recorded graph, as its user sees it.

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
        """For each argument, its own `grad_fn` and the number of its output that it is.

        None stands for an argument that is not tracked, `AccumulateGrad` for a leaf. Empty once
        `backward` has freed the graph.
        """
        raise NotImplementedError

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary to keep what one likes with the node."""
        return self.own_hooks().metadata

    def own_hooks(self) -> Hooks:
        """The hooks of this node, made when they are first asked for."""
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
