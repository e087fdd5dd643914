"""Calls of functions that bring their own derivative: split, recorded, and put together.

The call belongs to the highest level among its arguments. The user's functions run one level below:
on native arrays, or on the wrappers of the transforms outside, which so differentiate them. Their
arguments are flat here: arrays in, arrays out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gradwrap.core.array.variable import variable_class
from gradwrap.core.graph.custom_nodes import OpaqueOp, recorded_outputs
from gradwrap.core.graph.linear import in_spaces_of, record_linear
from gradwrap.core.levels.levels import TAPE_LEVEL, new_level
from gradwrap.core.levels.wrapper import AnyWrapper, has_effect, is_at, is_derived, make_wrapper
from gradwrap.core.library.backend import backend_of, is_array, is_floating
from gradwrap.core.library.buffers import share
from gradwrap.core.observing.performing import name_of_first, performs
from gradwrap.core.observing.watching import kept_tree, restored_tree
from gradwrap.core.values.dynamic import (
    DICT,
    SEQUENCE,
    TUPLE,
    attribute_or_none,
    attributes_of,
    class_of,
    slots_of,
    type_of,
)
from gradwrap.core.values.space import Tangent
from gradwrap.errors import TrackedValueError
from gradwrap.transforms.arguments import wrapped_untracked
from gradwrap.transforms.batch import batch_of
from gradwrap.transforms.calls import Split, current_value, dual, refuse_tracked, split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.values.space import Batch

    Pull = Callable[[Sequence[Any]], Sequence[Any]]
    """From the cotangents of the outputs (None where one is no array) to those of the inputs."""


class CustomRule(Protocol):
    """The derivative of one call; `inputs` are of lower levels than the transform's.

    A rule that sets `materializes = False` is given None where no cotangent arrived, not zeros.
    """

    name: str

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """Return the outputs, and a function that pulls cotangents back to the needed inputs."""
        ...

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Return the outputs and their tangents; None stands for a zero tangent."""
        ...


def is_differentiated(leaves: Sequence[Any]) -> bool:
    """Tell if a transform that differentiates tracks one of the values."""
    for leaf in leaves:
        layer = leaf
        while isinstance(layer, AnyWrapper):
            if not layer._is_batched and has_effect(layer):
                return True
            layer = layer._value
    return False


HOLDING: tuple[type[Any], ...] = (AnyWrapper, *SEQUENCE, DICT)


def hides_tracked(value: Any) -> bool:
    """Tell if an object that is not a container here holds a tracked value."""
    if isinstance(value, HOLDING):
        return not isinstance(value, AnyWrapper) and is_derived(value)
    if is_array(value):
        return False
    parts = list(attributes_of(value).values())
    slots = {name for kind in type_of(value).__mro__ for name in slots_of(kind)}
    parts += [attribute_or_none(value, name) for name in slots]
    return any(isinstance(part, HOLDING) and is_derived(part) for part in parts)


def refuse_hidden(name: str, leaves: Sequence[Any]) -> None:
    """Refuse tracked values in objects that are not containers: the rule would miss them."""
    for leaf in filter(hides_tracked, leaves):
        raise TrackedValueError(
            f"an argument of {name}, which has a rule of its own, is {class_of(leaf)} that holds a "
            "tracked value: gradwrap does not look into objects of this class, so the rule would "
            "not hold. Fix: pass the arrays in a list, a tuple or a dictionary, or call "
            f"gradwrap.register_pytree({type(leaf).__name__}, flatten, unflatten) once."
        )


def perform(rule: CustomRule, leaves: Sequence[Any]) -> list[Any]:
    """Return the outputs of a call with derivatives at the arguments' highest level."""
    call = split(leaves)
    if call.wrapper._is_batched:  # the call belongs to the transform outside of the `vmap`
        whole = _BatchedRule(rule, call)
        return whole.wrapped(perform(whole, call.data))
    inputs = _uniform(call.data)
    if isinstance(call.wrapper._node, Tangent):
        tangents = [None if node is None else node.value for node in call.nodes]
        outs, pushed = rule.forward(inputs, tangents, call.level)
        return [dual(out, tangent, call.level) for out, tangent in zip(outs, pushed, strict=True)]
    outs, pull = rule.reverse(inputs, [node is not None for node in call.nodes], call.level)
    return recorded(rule, call.level, call.nodes, inputs, outs, pull)


performs(perform, "call", name_of_first)


def _uniform(inputs: list[Any]) -> list[Any]:
    """Wrap all inputs if one is wrapped, so that they share a namespace.

    The caller can write to an array that was plain.
    """
    for one in inputs:  # quicker than a generator
        if isinstance(one, AnyWrapper):
            break
    else:
        return inputs
    for one in inputs:
        if is_array(one) and not isinstance(one, AnyWrapper):
            share(one)
    return [wrapped_untracked(one) for one in inputs]


# Reverse mode -------------------------------------------------------------------------------------


def recorded(  # noqa: PLR0913  all there is to a call
    rule: CustomRule,
    level: int,
    nodes: tuple[Any, ...],
    inputs: Sequence[Any],
    outs: Sequence[Any],
    pull: Pull,
) -> list[Any]:
    """Return the outputs with the node that records the call."""
    places = [place for place, out in enumerate(outs) if is_floating(out)]
    if places:
        call = _Recorded(rule, pull, level, len(outs), places)
        if level == TAPE_LEVEL:
            call.inputs, call.nodes = kept_tree(tuple(inputs), level), nodes
        materializes: bool = getattr(rule, "materializes", True)
        op = OpaqueOp(rule.name, backend_of(outs[places[0]]), materializes=materializes)
        outs = recorded_outputs(op, nodes, _pulled, (call,), outs, places, level)
    return [wrapped_untracked(out) for out in outs]


class _Recorded:
    """A recorded call, as backward needs it; on the tape, it can be differentiated again."""

    __slots__ = ("count", "inputs", "level", "nodes", "places", "pull", "rule")

    def __init__(
        self, rule: CustomRule, pull: Pull, level: int, count: int, places: Sequence[int]
    ) -> None:
        self.rule = rule
        self.pull = pull
        self.level = level
        self.count = count
        self.places = places
        self.inputs: tuple[Any, ...] = ()
        self.nodes: tuple[Any, ...] = ()

    def again(self) -> Pull:
        """Return a pull whose inputs have their nodes again, so that the pass is recorded."""
        inputs = [
            value if node is None else make_wrapper(variable_class(backend_of(value)), value, node)
            for value, node in zip(
                restored_tree(self.rule.name, self.inputs), self.nodes, strict=True
            )
        ]
        needed = [node is not None for node in self.nodes]
        _, pull = self.rule.reverse(inputs, needed, TAPE_LEVEL - 1)
        return pull


def _pulled(xp: Any, g: Any, call: _Recorded) -> tuple[Any, ...]:  # noqa: ARG001  a formula's form
    parts = g if isinstance(g, TUPLE) else (g,)
    cotangents: list[Any] = [None] * call.count
    for place, part in zip(call.places, parts, strict=True):
        cotangents[place] = part
    is_recorded = call.level == TAPE_LEVEL and any(isinstance(part, AnyWrapper) for part in parts)
    pull = call.again() if is_recorded else call.pull
    return tuple(pull(cotangents))


# One mode from the other --------------------------------------------------------------------------


def push_by_transposing(pull: Pull, outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Compute the tangents of the outputs by transposing the pull, which is linear."""
    linear = record_linear(
        lambda cotangents: in_spaces_of(tangents, pull(cotangents)),
        [out if is_floating(out) else None for out in outs],
    )
    return linear.pull(tangents, keep=False)


def pull_by_transposing(
    forward: Callable[[Sequence[Any]], tuple[list[Any], Sequence[Any]]],
    inputs: Sequence[Any],
    needed: Sequence[bool],
    name: str,
) -> tuple[list[Any], Pull]:
    """Return the outputs and a pull, the transpose of a push recorded on new tangents."""
    level = new_level()
    outputs: list[Any] = []

    def push(tangents: Sequence[Any]) -> Sequence[Any]:
        outs, pushed = forward(tangents)
        refuse_tracked(outs, level, f"{name} returned an output made from")
        outputs.extend(current_value(out) for out in outs)
        return in_spaces_of([out if is_floating(out) else None for out in outputs], pushed)

    like = [one if wanted else None for one, wanted in zip(inputs, needed, strict=True)]
    return outputs, record_linear(push, like, level).pull


# Under vmap ---------------------------------------------------------------------------------------


class _BatchedRule:
    """The rule of a batch, made from the rule of one example; the batch axis is the first.

    A transform outside of the `vmap` differentiates the whole batch. It gets the user's rule,
    whose functions are given batched arrays.
    """

    def __init__(self, rule: CustomRule, call: Split) -> None:
        self.name: str = rule.name
        self.rule = rule
        self.materializes: bool = getattr(rule, "materializes", True)
        self.level = call.level
        self.batch: Batch = call.wrapper._node
        self.mapped = [node is not None for node in call.nodes]
        self.mapped_outs: list[bool] = []

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """Run the example's reverse mode on batched arrays."""
        outs, pull = self.rule.reverse(self._batched(inputs, self.mapped), needed, level)
        mapped_outs = self.mapped_outs = [is_at(out, self.level) for out in outs]

        def pull_all(cotangents: Sequence[Any]) -> list[Any]:
            found = pull(self._batched(cotangents, mapped_outs))
            return [
                None if g is None else self._whole(g) if mapped else self._summed(g)
                for g, mapped in zip(found, self.mapped, strict=True)
            ]

        datas = [out._value if own else out for out, own in zip(outs, mapped_outs, strict=True)]
        return datas, pull_all

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Run the example's forward mode on batched arrays."""
        outs, pushed = self.rule.forward(
            self._batched(inputs, self.mapped), self._batched(tangents, self.mapped), level
        )
        self.mapped_outs = [
            is_at(out, self.level) or is_at(t, self.level)
            for out, t in zip(outs, pushed, strict=True)
        ]
        both = zip(outs, pushed, self.mapped_outs, strict=True)
        found = [
            (self._whole(out), None if t is None else self._whole(t)) if mapped else (out, t)
            for out, t, mapped in both
        ]
        return [out for out, _ in found], [t for _, t in found]

    def wrapped(self, outs: Sequence[Any]) -> list[Any]:
        """Wrap outputs of the whole batch as the function under `vmap` receives them."""
        return self._batched(outs, self.mapped_outs)

    def _batched(self, values: Sequence[Any], mapped: Sequence[bool]) -> list[Any]:
        return [
            batch_of(value, self.level, self.batch.fallback) if own and is_array(value) else value
            for value, own in zip(values, mapped, strict=True)
        ]

    def _whole(self, value: Any) -> Any:
        """Return a value with the batch axis; repeat it if all examples share it."""
        if is_at(value, self.level):
            return value._value
        return backend_of(value).xp.broadcast_to(value, (self.batch.size, *value.shape))

    def _summed(self, value: Any) -> Any:
        """Sum the examples' cotangents of an argument that they share."""
        if not is_at(value, self.level):
            return value
        data = value._value
        return backend_of(data).xp.sum(data, axis=0, dtype=data.dtype)
