"""Functions of flat lists of arrays, whose derivatives are such functions again.

A library that calls a NumPy function inside its own graph needs the function's value, its pull
(cotangents to cotangents), its push (tangents to tangents) and its batch, and all of these of the
pull and of the push. Each is a `Flat`. Two of them are equal if they compute the same, so that a
library can keep what it has compiled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from gradwrap.core.graph.linear import LinearMap, record_linear
from gradwrap.core.graph.node import Node
from gradwrap.core.levels.modes import enable_grad
from gradwrap.core.library.backend import backend_of, is_array, is_floating, own_buffers
from gradwrap.core.values import tree
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.core.values.keys import value_key
from gradwrap.core.values.space import zeros_of
from gradwrap.errors import NotAnArrayError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.arguments import track
from gradwrap.transforms.batch import vmap
from gradwrap.transforms.calls import output_of
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Arrays = list[Any]
    """Arrays of one library, or its stand-ins for them."""
    ArraysFunction = Callable[[Arrays], Arrays]


class Structure:
    """A container without its arrays: they go out, and come in again at their places."""

    __slots__ = ("fixed", "places", "treedef")

    def __init__(self, leaves: Sequence[Any], treedef: Any, places: Sequence[int]) -> None:
        self.treedef: Any = treedef
        self.places: tuple[int, ...] = tuple(places)
        self.fixed: tuple[Any, ...] = tuple(leaves)
        if places:
            fixed = list(leaves)
            for place in places:
                fixed[place] = None
            self.fixed = tuple(fixed)

    def filled(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the leaves, with arrays at their places."""
        if len(self.places) == len(self.fixed):
            return list(arrays)
        leaves = list(self.fixed)
        for place, array in zip(self.places, arrays, strict=True):
            leaves[place] = array
        return leaves

    @property
    def key(self) -> tuple[Any, ...]:
        """The key by which two structures are compared."""
        return self.treedef, self.places, tuple(map(value_key, self.fixed))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class System(Protocol):
    """A library that computes derivatives: gradwrap, or that of a foreign function."""

    def is_array(self, leaf: Any) -> bool:
        """Tell if a leaf of a result is an array, or is to become one."""
        ...

    def as_array(self, leaf: Any, like: Arrays) -> Any:
        """Return such a leaf as an array of the library of others."""
        ...

    def is_floating(self, array: Any) -> bool:
        """Tell if an array has a derivative."""
        ...

    def pull(
        self, function: ArraysFunction, cotangents: Arrays, inputs: Arrays, needed: Sequence[bool]
    ) -> Arrays:
        """Return the cotangents of the needed inputs."""
        ...

    def push(
        self, function: ArraysFunction, tangents: Arrays, inputs: Arrays, moved: Sequence[bool]
    ) -> tuple[Arrays, Arrays]:
        """Return the outputs, and the tangents of the floating ones."""
        ...

    def mapped(
        self, function: Callable[..., tuple[Any, ...]], axes: Sequence[int | None], arrays: Arrays
    ) -> Arrays:
        """Perform a function on all examples; its outputs have the axis of the examples first."""
        ...


class Flat:
    """A function of a list of arrays that returns a list of arrays."""

    system: System

    def __call__(self, arrays: Arrays, found: list[Structure] | None = None) -> Arrays:
        """Compute the outputs as flat arrays; append their structure to `found`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Plain(Flat):
    """A user's function of containers."""

    function: Callable[..., Any]
    structure: Structure
    """The structure of its arguments: a tuple of the positional ones, and a dictionary."""
    system: System
    trees: Any = tree
    """The module whose `flatten` and `unflatten` know the containers."""

    def __call__(self, arrays: Arrays, found: list[Structure] | None = None) -> Arrays:
        """Call the user's function."""
        structure, system = self.structure, self.system
        args, kwargs = self.trees.unflatten(structure.treedef, structure.filled(arrays))
        leaves, treedef = self.trees.flatten(self.function(*args, **kwargs))
        places = [place for place, leaf in enumerate(leaves) if system.is_array(leaf)]
        if not places:
            raise NotAnArrayError(
                f"{name_of(self.function)} returned no array. Fix: return an array, or a container "
                "of arrays."
            )
        if found is not None:
            found[:] = [Structure(leaves, treedef, places)]
        return [system.as_array(leaves[place], arrays) for place in places]


@dataclass(frozen=True)
class Derived(Flat):
    """A function made of another one."""

    of: Flat

    @property
    def system(self) -> System:  # type: ignore[override]  # it is only read
        """The library that differentiates the function."""
        return self.of.system


@dataclass(frozen=True)
class Pulled(Derived):
    """The pull of a function; takes the cotangents of the floating outputs, then the arguments."""

    needed: tuple[bool, ...]
    """For each argument whether its cotangent is wanted."""
    count: int
    """The number of the function's floating outputs."""

    def __call__(self, arrays: Arrays, found: list[Structure] | None = None) -> Arrays:
        """Run the function, and pull the cotangents back."""
        return self.system.pull(self.of, arrays[: self.count], arrays[self.count :], self.needed)


@dataclass(frozen=True)
class Pushed(Derived):
    """The push of a function: of the tangents of some arguments, then its arguments."""

    moved: tuple[bool, ...]
    """For each argument whether it has a tangent."""
    with_values: bool = False
    """Whether it returns the function's outputs before the tangents."""

    def __call__(self, arrays: Arrays, found: list[Structure] | None = None) -> Arrays:
        """Return the tangents of the floating outputs."""
        count = sum(self.moved)
        outs, pushed = self.system.push(
            lambda own: self.of(own, found), arrays[:count], arrays[count:], self.moved
        )
        return [*outs, *pushed] if self.with_values else pushed


@dataclass(frozen=True)
class Batched(Derived):
    """A function of examples, mapped over an axis of some arguments; the outputs have it first."""

    axes: tuple[int | None, ...]

    def __call__(self, arrays: Arrays, found: list[Structure] | None = None) -> Arrays:
        """Perform the function on all examples at once."""
        return self.system.mapped(lambda *own: tuple(self.of(list(own), found)), self.axes, arrays)


class Record:
    """A run on tracked arrays; derivatives of any order follow from it without another run.

    Functions with rules of their own have first derivatives here, and no others.
    """

    def __init__(self, recording: Recording, leaves: Sequence[Any], outs: Arrays) -> None:
        self._recording = recording
        self._leaves = leaves
        """For each input its leaf in the recording, and its namespace; None if it is constant."""
        self._outs = outs

    @property
    def values(self) -> Arrays:
        """The outputs, as arrays that are the caller's own."""
        return [self._recording.handed_out(one) for one in self._outs]

    def pull(self, cotangents: Arrays, needed: Sequence[bool]) -> Arrays:
        """Return the cotangents of the needed inputs; it can be called again.

        The cotangents given have the outputs' shapes and dtypes.
        """
        arrived = self._recording.arrived(self._outs, cotangents)
        found = [_arrived_at(leaf, arrived) for leaf in chosen(self._leaves, needed)]
        own_buffers(found, cotangents)
        return found

    def push(self, tangents: Arrays, moved: Sequence[bool]) -> Arrays:
        """Return the tangents of the outputs, from those of some inputs."""
        leaves = [leaf[0] for leaf in chosen(self._leaves, moved)]
        values = [self._recording.unwrapped(out) for out in self._outs]
        transposed = record_linear(
            lambda given: LinearMap(leaves, self._outs).pull(given, inputs_alone=True), values
        )
        pushed = transposed.pull(tangents)
        return [
            backend_of(a).xp.zeros_like(a) if t is None else t
            for t, a in zip(pushed, values, strict=True)
        ]

    def of_pull(self, cotangents: Arrays, needed: Sequence[bool]) -> Record | None:
        """Return the record of a pull, whose inputs are the cotangents and those of this record.

        None if an operation has a rule of its own.
        """
        recording = self._recording
        tracked = filter(recording.is_tracked, self._outs)
        if not _has_formulas([out._node for out in tracked]):  # noqa: SLF001  the core's
            return None
        given: Arrays = [track(one, recording.level, lambda _, array: array) for one in cotangents]
        with enable_grad():
            arrived = recording.arrived(self._outs, given, create_graph=True)
        outs = [_arrived_at(leaf, arrived) for leaf in chosen(self._leaves, needed)]
        leaves = [(one._node, one._backend.xp) for one in given]  # noqa: SLF001  likewise
        return Record(recording, [*leaves, *self._leaves], outs)


def _has_formulas(nodes: list[Any]) -> bool:
    """Tell if all operations that lead to nodes have formulas, whose use can be recorded."""
    seen: set[Any] = set()
    while nodes:
        node = nodes.pop()
        if node in seen or node is None:
            continue
        seen.add(node)
        if isinstance(node, Node) and node.op.rule is None and not node.op.selects:
            return False
        nodes += [parent for parent, _ in node.next_functions]
    return True


def _arrived_at(leaf: Any, arrived: Any) -> Any:
    node, xp = leaf
    return arrived[node] if node in arrived else zeros_of(xp, node.meta)


class Own:
    """gradwrap: the derivatives of functions of NumPy's arrays, and of other libraries'."""

    def is_array(self, leaf: Any) -> bool:
        """Tell if a leaf is an array, or a number with a fraction."""
        return is_array(leaf) or type(leaf) in (float, complex)

    def as_array(self, leaf: Any, like: Arrays) -> Any:
        """Return a number as an array of the library of others."""
        return leaf if is_array(leaf) else output_of(leaf, like)

    def is_floating(self, array: Any) -> bool:
        """Tell if an array has a derivative."""
        return is_floating(array)

    def recorded(
        self,
        function: ArraysFunction,
        arrays: Arrays,
        needed: Sequence[bool],
    ) -> tuple[Arrays, Record]:
        """Return the outputs, and the record from the needed arrays to the floating outputs."""
        others: Arrays = []
        parts = of_chosen(self, function, arrays, needed)

        def outputs(*wanted: Any) -> Any:
            floating, others[:] = parts(*wanted)
            return floating[0] if len(floating) == 1 else floating  # one needs no tree

        primals = chosen(arrays, needed)
        recording = Recording(outputs, range(len(primals)), primals, {}, lasting=True)
        found: Any = recording.out
        tracked: Arrays = list(found) if isinstance(found, TUPLE) else [found]
        leaves = iter([leaf for one in recording.tracked for leaf in one.leaves])
        inputs = [next(leaves) if own else None for own in needed]
        record = Record(recording, inputs, tracked)
        values = record.values
        if len(values) < len(others):
            floating = [*map(is_floating, others)]
            values = filled(recording.unwrapped(others), floating, values)
        return values, record

    def pull(
        self, function: ArraysFunction, cotangents: Arrays, inputs: Arrays, needed: Sequence[bool]
    ) -> Arrays:
        """Return the cotangents of the needed inputs."""
        return self.recorded(function, inputs, needed)[1].pull(cotangents, needed)

    def push(
        self, function: ArraysFunction, tangents: Arrays, inputs: Arrays, moved: Sequence[bool]
    ) -> tuple[Arrays, Arrays]:
        """Return the outputs, and the tangents of the floating ones."""
        outs, pushed = jvp(
            lambda *wanted: function(filled(inputs, moved, wanted)), chosen(inputs, moved), tangents
        )
        return outs, [t for t, out in zip(pushed, outs, strict=True) if is_floating(out)]

    def mapped(
        self, function: Callable[..., tuple[Any, ...]], axes: Sequence[int | None], arrays: Arrays
    ) -> Arrays:
        """Perform a function on all examples, by `gradwrap.vmap`."""
        return list(vmap(function, in_axes=tuple(axes))(*arrays))


OWN = Own()


def of_chosen(
    system: System, function: ArraysFunction, inputs: Arrays, which: Sequence[bool]
) -> Callable[..., tuple[tuple[Any, ...], Arrays]]:
    """Return the floating outputs as a function of some inputs; beside them all outputs."""

    def parts(*ones: Any) -> tuple[tuple[Any, ...], Arrays]:
        outs = function(filled(inputs, which, ones))
        return tuple(out for out in outs if system.is_floating(out)), outs

    return parts


def chosen(values: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    """Return the values that `which` says."""
    return [value for value, own in zip(values, which, strict=True) if own]


def filled(values: Sequence[Any], which: Sequence[bool], ones: Sequence[Any]) -> list[Any]:
    """Return values, with others where `which` says."""
    if len(ones) == len(values):
        return list(ones)
    iterator = iter(ones)
    return [next(iterator) if own else value for value, own in zip(values, which, strict=True)]
