"""A function's run on wrapped arguments, and the way back through what it recorded."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import own_buffers
from gradwrap.core.backward import backward_pass
from gradwrap.core.comparing import kind_of
from gradwrap.core.dynamic import TUPLE
from gradwrap.core.hooks import leaf_hooks
from gradwrap.core.levels import differentiating, new_level
from gradwrap.core.linear import LinearMap
from gradwrap.core.node import Leaf
from gradwrap.core.wrapper import is_at
from gradwrap.errors import NotAnArrayError
from gradwrap.transforms.argnums import described, name_of, selected
from gradwrap.transforms.arguments import Tracked, unwrapped, without_inner, wrapped_untracked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.typing.signatures import Argnums

__all__ = ["Recording", "out_and_aux"]


class Recording:
    """A function's run on wrapped arguments: its outputs, and the arguments they were made from."""

    def __init__(
        self, fun: Callable[..., Any], argnums: Argnums, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        self.name: str = name_of(fun)
        self.level: int = new_level()
        self.tracked: list[Tracked] = []
        places: dict[int | str, Tracked] = {}
        for place in selected(fun, argnums, args, kwargs):
            if place not in places:
                value = args[place] if isinstance(place, int) else kwargs[place]
                name = functools.partial(described, fun, place)
                places[place] = Tracked(value, self.level, name)
            self.tracked.append(places[place])
        entered = [
            places[i].value if i in places else wrapped_untracked(arg) for i, arg in enumerate(args)
        ]
        named = {
            key: places[key].value if key in places else wrapped_untracked(value)
            for key, value in kwargs.items()
        }
        with differentiating():
            self.out: Any = without_inner(fun(*entered, **named), self.level)

    def unwrapped(self, tree: Any) -> Any:
        """A result of the function, as the caller of the transform gets it."""
        return unwrapped(tree, self.level)

    def is_tracked(self, value: Any) -> bool:
        """Tell if a value was computed from the arguments under differentiation."""
        return is_at(value, self.level)

    def linear_map(self, outputs: Sequence[Any]) -> LinearMap:
        """The derivative of outputs with respect to the leaves of the tracked arguments."""
        leaves = [leaf for tracked in self.tracked for leaf in tracked.leaves]
        return LinearMap([None if leaf is None else leaf[0] for leaf in leaves], outputs)

    def arrived(
        self, outputs: Sequence[Any], cotangents: Sequence[Any], *, keep: bool = True
    ) -> dict[Any, Any]:
        """Carry cotangents of outputs back to the leaves of the tracked arguments."""
        roots = [
            (output._node, cotangent)
            for output, cotangent in zip(outputs, cotangents, strict=True)
            if is_at(output, self.level)
        ]
        arrived = backward_pass(roots, retain_graph=keep)
        if any(isinstance(one, Leaf) and one.hooks is not None for one in arrived):
            leaf_hooks(arrived)
        return arrived

    def pull(
        self, outputs: Sequence[Any], cotangents: Sequence[Any], *, keep: bool = False
    ) -> list[Any]:
        """The gradients of the tracked arguments, each in its argument's form."""
        arrived = self.arrived(outputs, cotangents, keep=keep)
        gradients = [g for tracked in self.tracked for g in tracked.gradients(arrived)]
        own_buffers(gradients, cotangents)
        iterator = iter(gradients)
        return [
            tracked.restored([next(iterator) for _ in tracked.originals])
            for tracked in self.tracked
        ]


def out_and_aux(name: str, returned: Any, has_aux: bool) -> tuple[Any, Any]:
    """Take apart what a function returned."""
    if not has_aux:
        return returned, None
    if not isinstance(returned, TUPLE) or len(returned) != 2:
        is_shown = returned is None or isinstance(returned, TUPLE)
        got = kind_of(returned) if is_shown else f"a {type(returned).__name__}"
        raise NotAnArrayError(
            f"has_aux=True needs a function that returns a pair (out, aux); {name} "
            f"returned {got}. Fix: return out, aux."
        )
    return returned[0], returned[1]
