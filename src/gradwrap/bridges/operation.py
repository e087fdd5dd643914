"""Functions of another library as operations of gradwrap: that library differentiates them.

An operation is recorded as a whole. Its derivative is an operation again, made of the library's
own pull, push and batch, so every order and every mode follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from gradwrap.bridges.flat import (
    Batched,
    Derived,
    Flat,
    Plain,
    Pulled,
    Pushed,
    Structure,
    System,
    chosen,
    filled,
)
from gradwrap.core.levels.modes import called, is_traced
from gradwrap.core.levels.wrapper import UNTRACKED, AnyWrapper
from gradwrap.core.library.backend import is_array, is_floating
from gradwrap.core.library.buffers import Guarded
from gradwrap.core.observing.watching import kept_parts, kept_shared, restored_tree
from gradwrap.core.values import tree
from gradwrap.core.values.space import dtype_and_shape
from gradwrap.errors import BufferChangedError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.batch import batch_of
from gradwrap.transforms.calls import split
from gradwrap.transforms.custom_calls import perform, refuse_hidden
from gradwrap.transforms.primitive import UserFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.bridges.flat import Arrays
    from gradwrap.transforms.custom_calls import Pull


class Library(System, Protocol):
    """A library whose functions become operations."""

    @property
    def copies(self) -> bool:
        """Whether its arrays never share memory with those that it is given."""
        ...

    def held(self, fun: Callable[..., Any]) -> list[tuple[Any, int]]:
        """Return the arrays that a function reads beside its arguments, with their versions."""
        ...

    def call(self, function: Flat, arrays: Arrays, found: list[Structure], name: str) -> Arrays:
        """Compute the outputs, as arrays of the caller's; nothing is recorded."""
        ...

    def recorded(
        self, function: Flat, arrays: Arrays, needed: Sequence[bool], name: str
    ) -> tuple[Arrays, list[Structure], Callable[[Arrays], Arrays]]:
        """Return the outputs, their structure, and the pull to the needed inputs."""
        ...


class Operation(UserFunction[..., Any]):
    """A function of another library's arrays as a function of gradwrap's."""

    def __init__(self, fun: Callable[..., Any], library: Library, kind: str) -> None:
        super().__init__(fun)
        self.name: str = f"the operation {name_of(fun)}"
        self.library = library
        self._kind = kind

    def __repr__(self) -> str:
        return f"<{self._kind} {name_of(self.fun)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, and record the call."""
        leaves, treedef = tree.flatten((args, kwargs))
        refuse_hidden(self.name, leaves)
        places = [place for place, leaf in enumerate(leaves) if is_array(leaf)]
        arrays = [leaves[place] for place in places]
        function = Plain(self.fun, Structure(leaves, treedef, places), self.library)
        call = OpaqueCall(self.name, function, self.library)
        outs = call(arrays)
        (structure,) = call.found
        return tree.unflatten(structure.treedef, structure.filled(outs))


@dataclass(frozen=True)
class Run:
    """A call on plain arrays. Two are equal if they compute the same, so traces can be compared."""

    function: Flat
    library: Library
    name: str
    found: list[Structure] = field(compare=False)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Compute the outputs."""
        return tuple(self.library.call(self.function, list(arrays), self.found, self.name))


class OpaqueCall:
    """One call of an operation, and its derivative: a rule of `custom_calls`."""

    def __init__(self, name: str, function: Flat, library: Library) -> None:
        self.name = name
        self.function = function
        self.library = library
        self.found: list[Structure] = []

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the outputs, recorded by the transforms that the arrays belong to."""
        call = split(arrays)
        if call.level == UNTRACKED:
            return self._performed(call.data)
        if not call.wrapper._is_batched:  # noqa: SLF001  the core's
            return perform(self, arrays)
        batch: Any = call.wrapper._node  # noqa: SLF001  likewise
        axes = tuple(None if node is None else 0 for node in call.nodes)
        whole = OpaqueCall(self.name, Batched(self.function, axes), self.library)
        outs = whole(call.data)
        self.found = whole.found
        return [batch_of(out, call.level, batch.fallback) for out in outs]

    def _performed(self, arrays: list[Any]) -> list[Any]:
        """Call the function on plain arrays; a trace records the call as one operation."""
        if not is_traced():
            return self.library.call(self.function, arrays, self.found, self.name)
        run = Run(self.function, self.library, self.name, self.found)
        word = "".join(letter if letter.isalnum() else "_" for letter in self.name.split()[-1])
        return list(called(run, f"opaque.{word}", *arrays))

    def reverse(
        self,
        inputs: Sequence[Any],
        needed: Sequence[bool],
        level: int,
    ) -> tuple[list[Any], Pull]:
        """Return the outputs, and the library's pull."""
        wanted = tuple(own and is_floating(one) for own, one in zip(needed, inputs, strict=True))
        saved = [
            kept_shared(kept_parts, one, level) if own else kept_parts(one, level)
            for one, own in zip(inputs, needed, strict=True)
        ]
        held = self._held()
        own_pull: Callable[[list[Any]], list[Any]] | None = None
        if any(isinstance(one, AnyWrapper) for one in inputs) or is_traced():
            outs = self(inputs)
        else:
            arrays = [one.array if type(one) is Guarded else one for one in saved]
            outs, self.found, own_pull = self.library.recorded(
                self.function, arrays, wanted, self.name
            )
        floating = [is_floating(out) for out in outs]

        def pull(cotangents: Sequence[Any]) -> list[Any]:
            given = chosen(cotangents, floating)
            if own_pull is not None and not any(isinstance(g, AnyWrapper) for g in given):
                if not self.library.copies:
                    restored_tree(self.name, saved)  # which checks them
                found = own_pull(given)
            else:
                self._check(held)
                pulled = OpaqueCall(
                    self.name, Pulled(self.function, wanted, len(given)), self.library
                )
                found = pulled([*given, *restored_tree(self.name, saved)])
            return filled([None] * len(wanted), wanted, found)

        return outs, pull

    def _held(self) -> list[tuple[Any, int]]:
        function = self.function
        while isinstance(function, Derived):
            function = function.of
        return self.library.held(function.function) if isinstance(function, Plain) else []

    def _check(self, before: list[tuple[Any, int]]) -> None:
        """Raise if values that the function reads have changed since the call."""
        for (array, version), (now, later) in zip(before, self._held(), strict=False):
            if array is not now or version != later:
                raise BufferChangedError(
                    f"{self.name} reads {dtype_and_shape(array)} beside its arguments, which was "
                    "overwritten after the call, so the gradient would be wrong. Fix: pass it as "
                    "an argument, or write to it after the derivative is taken."
                )

    def forward(
        self,
        inputs: Sequence[Any],
        tangents: Sequence[Any],
        level: int,
    ) -> tuple[list[Any], Sequence[Any]]:
        """Return the outputs and their tangents, by the library's push."""
        moved = tuple(tangent is not None for tangent in tangents)
        function = Pushed(self.function, moved, with_values=True)
        push = OpaqueCall(self.name, function, self.library)
        both = push([*chosen(tangents, moved), *inputs])
        self.found = push.found
        floating: list[bool] = []
        while len(floating) + sum(floating) < len(both):
            floating.append(is_floating(both[len(floating)]))
        count = len(floating)
        return both[:count], filled([None] * count, floating, both[count:])
