"""The imperative tape: backward passes with PyTorch's meaning, which add to `grad` of leaves."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.alignment import check_labels, labels_of_results
from gradwrap.core.graph.backward import backward_pass
from gradwrap.core.graph.grad_fn import install
from gradwrap.core.graph.memory import latest_op, note_memory
from gradwrap.core.graph.node import JOINT, Leaf, Node
from gradwrap.core.graph.outputs import output_node
from gradwrap.core.levels.levels import TAPE_LEVEL
from gradwrap.core.levels.modes import enable_grad, set_grad_enabled
from gradwrap.core.levels.wrapper import AnyWrapper, make_wrapper, native
from gradwrap.core.library.backend import own_buffers
from gradwrap.core.observing.hooks import (
    accumulate,
    after_node,
    before_node,
    leaf_hooks,
    on_variable,
)
from gradwrap.core.values.comparing import described, mismatch
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.core.values.space import zeros_of
from gradwrap.errors import BackwardError, GraphFreedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.values.space import Meta


def backward(
    outputs: Sequence[Any],
    gradients: Sequence[Any],
    retain_graph: bool | None,
    create_graph: bool,
    inputs: Any,
) -> None:
    """Add the gradients of several outputs to the `grad` of the leaves, or of the inputs."""
    variables = None if inputs is None else _inputs(inputs, "backward")
    for variable in variables or ():
        variable.retain_grad()  # a result keeps its gradient on the way
    arrived = _run(outputs, gradients, retain_graph, create_graph, variables)
    with set_grad_enabled(create_graph):
        for node, gradient in arrived.items():
            if isinstance(node, Leaf):
                _arrive_at_leaf(node, gradient)


def _arrive_at_leaf(leaf: Leaf, gradient: Any) -> None:
    """Run the hooks of a leaf and add to its `grad`; skip a leaf that is frozen or deleted."""
    variable: Any = leaf.variable
    hooks = leaf.hooks
    if hooks is not None:
        gradient = on_variable(leaf, hooks, gradient)
    if variable is None or variable._node is None:
        return
    if variable._node is not leaf:
        raise BackwardError(
            "a leaf Variable has been moved into the graph interior: it was used, then frozen, "
            "then changed in place by a tracked value, so there is no leaf to take its gradient. "
            "Fix: make the change on a .clone(), or use the leaf after it."
        )
    if hooks is not None:
        gradient = before_node(leaf, hooks, gradient)
    accumulate(variable, gradient)
    if hooks is not None:
        for hook in tuple(hooks.accumulated.values()):
            hook(variable)
        after_node([], hooks, {}, gradient)


def gradients_of(  # noqa: PLR0913  PyTorch's arguments
    outputs: Sequence[Any],
    inputs: Any,
    gradients: Sequence[Any],
    retain_graph: bool | None,
    create_graph: bool,
    *,
    allow_unused: bool,
    materialize: bool,
) -> tuple[Any, ...]:
    """Return the gradients of several outputs, summed, with respect to each input."""
    variables = _inputs(inputs, "grad")
    arrived = _run(outputs, gradients, retain_graph, create_graph, variables)
    with set_grad_enabled(create_graph):
        leaf_hooks(arrived)
    results: list[Any] = []
    for index, variable in enumerate(variables):
        gradient = arrived.get(variable._node)
        if gradient is None and not allow_unused:
            raise BackwardError(
                f"The differentiated Variable at index {index} appears to not have been used in "
                "the graph. Fix: pass allow_unused=True for None in its place, or "
                "materialize_grads=True for zeros."
            )
        results.append(gradient)
    own_buffers(results, ())
    if materialize:
        results = [
            _zeros(variable, create_graph) if gradient is None else gradient
            for variable, gradient in zip(variables, results, strict=True)
        ]
    return tuple(results)


def _zeros(variable: Any, create_graph: bool) -> Any:
    zeros = zeros_of(variable._backend.xp, variable._node.meta)
    # tracked, so that it can be differentiated like the others
    return make_wrapper(type_of(variable), zeros).requires_grad_() if create_graph else zeros


def _run(
    outputs: Sequence[Any],
    gradients: Sequence[Any],
    retain_graph: bool | None,
    create_graph: bool,
    inputs: Sequence[Any] | None,
) -> dict[Node | Leaf, Any]:
    """Run the backward pass, and copy the results into buffers of their own."""
    if len(outputs) != len(gradients):
        raise BackwardError(
            f"got {len(outputs)} tensors and {len(gradients)} gradients. "
            "Fix: pass a gradient, or None, for each tensor."
        )
    roots = [
        _root(index, output, gradient, create_graph)
        for index, (output, gradient) in enumerate(zip(outputs, gradients, strict=True))
    ]
    if labels_of_results:
        check_labels(node for node, _ in roots)
    targets = None if inputs is None else {variable._node for variable in inputs}
    keep = create_graph if retain_graph is None else retain_graph
    # the recording of a pass does not depend on the caller's mode
    with enable_grad() if create_graph else nullcontext():
        try:
            arrived = backward_pass(
                roots, retain_graph=keep, create_graph=create_graph, targets=targets
            )
        except MemoryError as error:
            note_memory(error, f"in the backward pass, at {latest_op(error)}")
            raise
    results = list(arrived.values())
    own_buffers(results, [g for _, g in roots])
    return dict(zip(arrived, results, strict=True))


def _applied(node: Any, gradients: tuple[Any, ...]) -> Any:
    """Return the result of calling a node: the gradients of its arguments."""
    if isinstance(node, Leaf):
        (gradient,) = _of_outputs(node, (node.meta,), gradients)
        _arrive_at_leaf(node, gradient)
        return None
    if node.formula is None:
        raise GraphFreedError(
            f"{node!r} was called after backward has freed the graph. "
            "Fix: pass retain_graph=True to backward."
        )
    metas = node.meta if isinstance(node.meta, TUPLE) else (node.meta,)
    given = _of_outputs(node, metas, gradients)
    roots: list[tuple[Node | Leaf, Any]] = [(node, given[0])]
    if len(metas) > 1:
        roots = [
            (output_node(node, index, meta), gradient)
            for index, (meta, gradient) in enumerate(zip(metas, given, strict=True))
            if gradient is not None
        ]
    found: list[Any] = [None] * node.arity

    def note(of_arguments: tuple[Any, ...], _: Any) -> None:
        found[:] = of_arguments

    if any(gradient is not None for gradient in given):
        with node.register_hook(note):
            backward_pass(roots, retain_graph=True, targets=_below(node), cut=True)
    return found[0] if len(found) == 1 else tuple(found)


def _below(node: Node) -> set[Any]:
    """Return the nodes to which the edges of a node lead."""
    found: set[Any] = set()
    for parent, _, _, index in node.edges:
        found.update(one for one in (parent if index == JOINT else (parent,)) if one is not None)
    return found


def _of_outputs(node: Any, metas: Sequence[Meta], gradients: tuple[Any, ...]) -> list[Any]:
    """Return the gradients passed to a node's call, checked against its outputs."""
    if len(gradients) != len(metas):
        raise BackwardError(
            f"{node!r} has {len(metas)} outputs and was called with {len(gradients)} gradients. "
            "Fix: pass one for each, None for zero."
        )
    plain = list(map(native, gradients))
    for index, (gradient, meta) in enumerate(zip(plain, metas, strict=True)):
        if gradient is None:
            continue
        found = mismatch(gradient, None, meta)
        if found is not None:
            raise BackwardError(
                f"{node!r} was called with {described(gradient)}; output {index} is {meta}. "
                "Fix: pass an array of its shape and dtype."
            )
    return plain


install(_applied)


def _inputs(inputs: Any, caller: str) -> tuple[Any, ...]:
    variables = (inputs,) if isinstance(inputs, AnyWrapper) else tuple(inputs)
    if not variables:
        raise BackwardError(
            f"`inputs` argument to `{caller}()` cannot be empty. "
            "Fix: name the variables to differentiate for."
        )
    for variable in variables:
        if not isinstance(variable, AnyWrapper) or variable._node is None:
            raise BackwardError(
                f"One of the differentiated Variables does not require grad: inputs of {caller}(). "
                "Fix: make it with gradwrap.wrap(array, requires_grad=True)."
            )
    return variables


def _root(index: int, output: Any, gradient: Any, create_graph: bool) -> tuple[Node | Leaf, Any]:
    """Return the node and the cotangent where a pass starts, checked against the output."""
    if not isinstance(output, AnyWrapper) or output._node is None:
        raise BackwardError(
            f"element {index} of tensors does not require grad and does not have a grad_fn. "
            "Fix: make an array it is computed from with gradwrap.wrap(array, requires_grad=True)."
        )
    variable: Any = output
    meta = output._node.meta
    if meta.level != TAPE_LEVEL:
        raise BackwardError(
            "backward() on a value that a transform (gradwrap.grad, vjp, ...) is differentiating: "
            "the tape lies outside of every transform. Fix: use gradwrap.grad inside as well, or "
            ".detach() the value."
        )
    if gradient is None:
        if variable.size != 1 or meta.is_complex:
            real = "real " if meta.is_complex else ""
            raise BackwardError(
                f"grad can be implicitly created only for {real}scalar outputs; this one is "
                f"{meta}. Fix: .sum() it, or pass gradient= of its shape."
            )
        gradient = variable._backend.ones_like(variable._value)
    elif isinstance(gradient, AnyWrapper) and not create_graph:
        gradient = native(gradient)
    gradient = _checked(index, gradient, output, meta)
    if create_graph and not isinstance(gradient, AnyWrapper):
        gradient = make_wrapper(type_of(output), gradient)
    return output._node, gradient


def _checked(index: int, gradient: Any, output: Any, meta: Meta) -> Any:
    """Check that a gradient has the output's library, shape and dtype; return it."""
    backend = output._backend
    if isinstance(gradient, (int, float, complex)):
        one = backend.ones_like(output._value)  # a number takes the output's dtype
        gradient = one * gradient if meta.shape == () else backend.asarray(gradient)
    found = mismatch(gradient, backend, meta)
    if found is None:
        return gradient
    fix = {
        "shape": "pass a gradient of the output's shape",
        "dtype": "cast the gradient",
        "library": "convert the gradient",
        "array": "pass an array of the output's shape and dtype",
    }[found.part]
    wanted = getattr(meta, found.part, None)
    if wanted is None:
        whose = f", the output is an array of {backend.name}" if found.part == "library" else ""
        raise BackwardError(f"gradient is {found.got}{whose}. Fix: {fix}.")
    raise BackwardError(
        f"Mismatch in {found.part}: grad_output[{index}] has a {found.part} of {found.got} and "
        f"output[{index}] has a {found.part} of {wanted}. Fix: {fix}."
    )
