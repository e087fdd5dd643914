"""One call of a function that brings its own derivative: taken apart, recorded, put together.

The call belongs to the highest level among its arguments. The user's functions run one level
below: on native arrays, or on the wrappers of the transforms outside, which so differentiate
them. What they are given is flat here: arrays in, arrays out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gradwrap.core.backend import backend_of, wrapper_class
from gradwrap.core.backward import backward_pass
from gradwrap.core.dynamic import TUPLE, type_of
from gradwrap.core.forward import Dual, Tangent
from gradwrap.core.levels import TAPE_LEVEL, new_level, silent_up_to
from gradwrap.core.node import Leaf
from gradwrap.core.opaque import OpaqueOp, output_nodes
from gradwrap.core.space import fit_tangent, zeros_of
from gradwrap.core.variable import AnyVariable, variable_class
from gradwrap.core.wrapper import snapshot
from gradwrap.errors import TrackedValueError
from gradwrap.transforms.arguments import default_scalar, is_array, wrapped_untracked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.backend import Backend

    Pull = Callable[[Sequence[Any]], Sequence[Any]]
    """From the cotangents of the outputs (None where one is no array) to those of the inputs."""

__all__ = [
    "CustomRule",
    "is_differentiated",
    "is_floating",
    "perform",
    "pull_by_transposing",
    "push_by_transposing",
    "refuse_tracked",
    "settled",
    "settled_output",
    "top_level",
]

UNTRACKED = -2


class CustomRule(Protocol):
    """The derivative of one call; `inputs` are of the levels below the one that asks for it."""

    name: str

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """The outputs, and what pulls cotangents back to the inputs that are needed."""
        ...

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """The outputs and their tangents; a tangent is None where it is zero."""
        ...


def top_level(leaves: Sequence[Any]) -> int | None:
    """The level that a call belongs to; None where it is not recorded."""
    level = max((_level(settled(leaf)) for leaf in leaves), default=UNTRACKED)
    return None if level == UNTRACKED or level <= silent_up_to() else level


def is_differentiated(leaves: Sequence[Any]) -> bool:
    """Whether a transform that differentiates is among those that a call belongs to."""
    for leaf in leaves:
        inner = leaf
        while isinstance(inner, AnyVariable):
            if inner._node is not None and not inner._is_batched and _level(inner) > silent_up_to():
                return True
            inner = inner._data
    return False


def perform(rule: CustomRule, leaves: Sequence[Any], level: int) -> list[Any]:
    """The outputs of a call, with their derivatives at a level."""
    leaves = [settled(leaf) for leaf in leaves]
    here = [_level(leaf) == level for leaf in leaves]
    nodes = tuple(leaf._node if own else None for leaf, own in zip(leaves, here, strict=True))
    top = next(leaf for leaf, own in zip(leaves, here, strict=True) if own)
    if top._is_batched:
        return _performed_on_batch(rule, leaves, level, here, top._node)
    inputs = _uniform([_below(leaf, own) for leaf, own in zip(leaves, here, strict=True)])
    if isinstance(next(node for node in nodes if node is not None), Tangent):
        tangents = [None if node is None else node.value for node in nodes]
        outs, pushed = rule.forward(inputs, tangents, level)
        return [_dual(out, tangent, level) for out, tangent in zip(outs, pushed, strict=True)]
    outs, pull = rule.reverse(inputs, here, level)
    return recorded(rule, level, nodes, inputs, outs, pull)


def _performed_on_batch(
    rule: CustomRule, leaves: Sequence[Any], level: int, here: Sequence[bool], batch: Any
) -> list[Any]:
    """Under `vmap`, a call belongs to the transform outside of it."""
    from gradwrap.transforms.custom_batching import BatchedRule

    inputs = [_below(leaf, own) for leaf, own in zip(leaves, here, strict=True)]
    below = top_level(inputs)
    assert below is not None  # is_differentiated
    whole = BatchedRule(rule, level, batch, here)
    return whole.wrapped(perform(whole, inputs, below))


def recorded(  # noqa: PLR0913  all there is to a call
    rule: CustomRule,
    level: int,
    nodes: tuple[Any, ...],
    inputs: Sequence[Any],
    outs: Sequence[Any],
    pull: Pull,
) -> list[Any]:
    """The outputs with the node that recorded the call."""
    places = [place for place, out in enumerate(outs) if is_floating(out)]
    wrapped = [wrapped_untracked(out) for out in outs]
    if not places:
        return wrapped
    call = _Recorded(rule, pull, level, len(outs), places)
    if level == TAPE_LEVEL:
        call.inputs = tuple(inputs)
        call.nodes = nodes
    backends = [backend_of(outs[place]) for place in places]
    metas = [b.meta(outs[place], level) for b, place in zip(backends, places, strict=True)]
    op = OpaqueOp(rule.name, backends[0])
    made = output_nodes(op, nodes, _pulled, (call,), metas)
    for place, backend, node in zip(places, backends, made, strict=True):
        wrapped[place] = variable_class(backend)(outs[place], node)
    return wrapped


class _Recorded:
    """What the backward pass needs of a call. On the tape, it may be differentiated itself."""

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
        """The pull of the same call on inputs that have their places in the graph again."""
        inputs = [
            value if node is None else variable_class(backend_of(value))(value, node)
            for value, node in zip(self.inputs, self.nodes, strict=True)
        ]
        needed = [node is not None for node in self.nodes]
        _, pull = self.rule.reverse(inputs, needed, TAPE_LEVEL - 1)
        return pull


def _pulled(xp: Any, g: Any, call: _Recorded) -> tuple[Any, ...]:  # noqa: ARG001  a formula's form
    parts = g if isinstance(g, TUPLE) else (g,)
    cotangents: list[Any] = [None] * call.count
    for place, part in zip(call.places, parts, strict=True):
        cotangents[place] = part
    is_recorded = call.level == TAPE_LEVEL and any(isinstance(part, AnyVariable) for part in parts)
    pull = call.again() if is_recorded else call.pull
    return tuple(pull(cotangents))


# One mode from the other --------------------------------------------------------------------------


def push_by_transposing(pull: Pull, outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """The tangents of the outputs: a pull is linear, and its own pull is the push."""
    level = new_level()
    cotangents = [_variable_of(out, level) if is_floating(out) else None for out in outs]
    returned = pull(cotangents)
    pairs = [
        (back, tangent)
        for back, tangent in zip(returned, tangents, strict=True)
        if tangent is not None and back is not None
    ]
    arrived = backward_pass(_roots(pairs, level))
    return [None if one is None else arrived.get(one._node) for one in cotangents]


def pull_by_transposing(
    forward: Callable[[Sequence[Any]], tuple[list[Any], Sequence[Any]]],
    inputs: Sequence[Any],
    needed: Sequence[bool],
    name: str,
) -> tuple[list[Any], Pull]:
    """The outputs, and the pull that follows from a push, which is recorded on fresh tangents."""
    level = new_level()
    tangents = [
        _variable_of(one, level) if wanted else None
        for one, wanted in zip(inputs, needed, strict=True)
    ]
    outs, pushed = forward(tangents)
    refuse_tracked(outs, level, f"{name} returned an output made from")
    outs = [settled(out) for out in outs]
    traced = [
        fit_tangent(type_of(t)._namespace, t, out) if _is_at(t, level) else None
        for out, t in zip(outs, pushed, strict=True)
    ]
    leaves = [None if one is None else one._node for one in tangents]

    def pull(cotangents: Sequence[Any]) -> list[Any]:
        roots = [(t._node, g) for t, g in zip(traced, cotangents, strict=True) if t is not None]
        arrived = backward_pass(roots, retain_graph=True)
        return [None if leaf is None else arrived.get(leaf) for leaf in leaves]

    return outs, pull


def _roots(pairs: Sequence[tuple[Any, Any]], level: int) -> list[tuple[Any, Any]]:
    roots: list[Any] = []
    for value, cotangent in pairs:
        if _is_at(value, level):
            whole = fit_tangent(type_of(value)._namespace, value, cotangent)
            roots.append((whole._node, cotangent))
    return roots


def _variable_of(like: Any, level: int) -> Any:
    """A variable of zeros in the space of an array."""
    backend = backend_of(like)
    leaf = Leaf(backend.meta(like, level))
    return variable_class(backend)(zeros_of(backend.xp, leaf.meta), leaf)


# Arrays of a level, and below it ------------------------------------------------------------------


def is_floating(value: Any) -> bool:
    """Whether a value is an array that can be differentiated."""
    return is_array(value) and backend_of(value).is_float(value)


def refuse_tracked(values: Sequence[Any], level: int, what: str, *, only: bool = False) -> None:
    """Refuse arrays that a level, or one above it, tracks: they came from a closure."""
    if level < TAPE_LEVEL:  # the pass itself is recorded, and so are they
        return
    for value in values:
        inner = value
        while isinstance(inner, AnyVariable):
            own = _level(inner)
            if not inner._is_batched and (own == level or (own > level and not only)):
                raise TrackedValueError(
                    f"{what} a tracked array that is not among the arguments: its gradient would "
                    "be lost. Fix: pass it as an argument, or .detach() it."
                )
            inner = inner._data


def _level(leaf: Any) -> int:
    node = leaf._node if isinstance(leaf, AnyVariable) else None
    return UNTRACKED if node is None else int(node.meta.level)


def _is_at(value: Any, level: int) -> bool:
    return _level(value) == level


def _below(leaf: Any, own: bool) -> Any:
    if not isinstance(leaf, AnyVariable):
        return leaf
    return leaf._data if own or leaf._node is None else snapshot(leaf)


def _uniform(inputs: list[Any]) -> list[Any]:
    """Native arrays alone, or wrappers alone: one namespace for all of them."""
    if any(isinstance(one, AnyVariable) for one in inputs):
        return [wrapped_untracked(one) for one in inputs]
    return inputs


def settled_output(value: Any, like: Sequence[Any]) -> Any:
    """An output as an array, if it is one, or a number with a fraction."""
    value = settled(value)
    if type(value) in (float, complex):
        backend = next((backend_of(one) for one in like if is_array(one)), None)
        return default_scalar(value) if backend is None else backend.xp.asarray(value)[()]
    return value


def settled(value: Any) -> Any:
    """Take off the wrappers that track nothing."""
    while isinstance(value, AnyVariable) and value._node is None:
        value = value._data
    return snapshot(value)


def _dual(out: Any, tangent: Any, level: int) -> Any:
    if tangent is None or not is_floating(out):
        return wrapped_untracked(out)
    backend: Backend = backend_of(out)
    tangent = fit_tangent(_namespace_of(out, tangent), tangent, out)
    return wrapper_class(Dual, backend)(out, Tangent(backend.meta(out, level), tangent))


def _namespace_of(out: Any, tangent: Any) -> Any:
    backends = (backend_of(out), backend_of(tangent))
    return max(backends, key=lambda backend: backend.depth).xp
