"""Signatures: the properties of a call that select its program.

The signature of a call is the structure of its arguments with the order of each dictionary, the
shapes, dtypes and memory orders of arrays, which of them are identical, and the values of
numbers, strings and nests of them. All other objects are compared by identity: equal objects may
hold different contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import optree

from gradwrap.compiler.engines.libraries import Compilable, is_array, library_of
from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.core.values.dynamic import DICT, LIST, TUPLE, type_of
from gradwrap.core.values.keys import value_key
from gradwrap.core.values.layouts import flatten_exactly
from gradwrap.core.values.tree import LEAF, NAMESPACE, TreeDef, flatten_with_paths, registered

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

NUMBER: type[Any] = np.generic
NUMBER_OF: Any = np.float64
FLOAT: type[Any] = float
FLOAT64 = np.dtype(np.float64)


class Signature(NamedTuple):
    """The properties that all calls of one program share."""

    treedef: TreeDef
    orders: tuple[Any, ...]
    """The keys of the dictionaries among the arguments, in their order."""
    same: tuple[int, ...]
    """For each array, the first identical one; () if all are different."""
    leaves: tuple[Any, ...]
    """The key of each leaf."""
    writeable: tuple[bool, ...]
    """For each input, whether it is writeable; () if the function does not ask."""

    def numbers(self) -> list[tuple[int, Any]]:
        """Return the leaves that are Python numbers and constants, with their places."""
        return [(n, key) for n, key in enumerate(self.leaves) if key[0] in (int, FLOAT, complex)]

    def family(self) -> Signature:
        """Return what this signature shares with those that have other Python numbers."""
        kinds = dict(self.numbers())
        leaves = tuple((key[0],) if n in kinds else key for n, key in enumerate(self.leaves))
        return self._replace(leaves=leaves)

    def shown(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return the name and the description of each leaf; `names` are the inputs' names."""
        waiting = iter(names)
        return [
            (next(waiting, "?"), "float" if key[1] is FLOAT else f"{key[3]}{key[2]}")
            if key[0] == "array"
            else ("constant", repr(key[-1]))
            for key in self.leaves
        ]


class Call:
    """The arguments of a call, divided into inputs of the program and other leaves."""

    __slots__ = (
        *("args", "given", "has_floats", "inputs", "kwargs", "leaves", "library", "result"),
        "treedef",
    )

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        fixed: Container[int] = (),
        *,
        takes_floats: bool = False,
    ) -> None:
        leaves, treedef = flatten_exactly((args, kwargs))
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs
        self.leaves: Sequence[Any] = leaves
        self.treedef: TreeDef = treedef
        self.library: Compilable = library_of(leaves)
        """The library of its arrays."""
        is_input = self.library.is_input
        takes_floats &= self.library.name == "numpy"
        self.given: list[bool] = [
            (is_input(leaf) or (takes_floats and type_of(leaf) is FLOAT)) and id(leaf) not in fixed
            for leaf in leaves
        ]
        """For each leaf, whether it is an input; `fixed` holds the identities of static ones."""
        given = [x for x, is_given in self._leaves() if is_given]
        self.inputs: list[Any] = [NUMBER_OF(x) if type_of(x) is FLOAT else x for x in given]
        self.has_floats: bool = any(type_of(x) is FLOAT for x in given)
        """Whether Python floats are among the inputs, as numbers of NumPy."""
        self.result: tuple[Any, ...] = ()
        """The function's own result, once it has run."""

    def run(self, function: Callable[..., Any]) -> Any:
        """Run the function itself, once for this call, and return its result."""
        if not self.result:
            self.result = (function(*self.args, **self.kwargs),)
        return self.result[0]

    def _leaves(self) -> Iterator[tuple[Any, bool]]:
        return zip(self.leaves, self.given, strict=True)

    @property
    def fixed(self) -> list[Any]:
        """Return the arrays that are not inputs."""
        return [x for x, is_given in self._leaves() if not is_given and is_array(x)]

    @property
    def others(self) -> list[Any]:
        """Return the leaves that are neither inputs nor arrays, and the containers' classes."""
        leaves = [x for x, is_given in self._leaves() if not is_given and not is_array(x)]
        return leaves + kinds(self.treedef)

    def signature(self, *, tells_same: bool, tells_flags: bool) -> Signature:
        """Return the properties that this call shares with all calls of the same program.

        `tells_same` adds which arrays are identical to the signature, and `tells_flags` which are
        writeable.
        """
        place = self.library.place
        return Signature(
            self.treedef,
            orders((self.args, self.kwargs)),
            repeated(self.inputs) if tells_same else (),
            tuple(leaf_key(x, place, is_given=is_given) for x, is_given in self._leaves()),
            may_write(self.inputs) if tells_flags else (),
        )

    def leaf_names(self, parameters: Sequence[str]) -> tuple[str, ...]:
        """Return a name for each leaf: its path, starting at a parameter."""
        paths: list[str] = []
        for number, value in enumerate(self.args):
            name = parameters[number] if number < len(parameters) else f"a{number}"
            paths += (path for path, _ in flatten_with_paths(value, name)[0])
        for name, value in sorted(self.kwargs.items()):
            paths += (path for path, _ in flatten_with_paths(value, name)[0])
        return tuple(
            "_".join("".join(c if c.isalnum() or c == "_" else " " for c in path).split())
            for path in paths
        )


def orders(tree: Any) -> tuple[Any, ...]:
    """Return the keys of the dictionaries in a tree, in their order."""
    found: list[Any] = []
    _collect_orders(tree, found)
    return tuple(found)


def _collect_orders(tree: Any, found: list[Any]) -> None:
    if isinstance(tree, DICT):
        found.append(tuple(key if type(key) is str else leaf_key(key) for key in tree))
        parts: Any = tree.values()
    elif isinstance(tree, (TUPLE, LIST)):
        parts = tree
    elif type_of(tree) in registered:
        parts = optree.tree_flatten_one_level(tree, none_is_leaf=True, namespace=NAMESPACE)[0]
    else:
        return
    for part in parts:
        if type_of(part) is not NDARRAY:
            _collect_orders(part, found)


def repeated(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Return, for each array, the position of the first identical one; () if all are different."""
    first: dict[int, int] = {}
    found = tuple(
        first.setdefault(number if isinstance(one, NUMBER) else id(one), number)
        for number, one in enumerate(arrays)
    )
    return () if found == tuple(range(len(found))) else found


def may_write(arrays: Sequence[Any]) -> tuple[bool, ...]:
    """Return, for each array, whether it is writeable."""
    return tuple(not isinstance(x, NUMBER) and bool(x.flags.writeable) for x in arrays)


def kinds(treedef: TreeDef) -> list[type[Any]]:
    """Return the classes of the containers in a structure."""
    if treedef == LEAF:
        return []
    found: list[type[Any]] = []
    waiting = [treedef.spec]
    while waiting:
        spec = waiting.pop()
        if spec.type is not None:
            found.append(spec.type)
        waiting.extend(spec.children())
    return found


def leaf_key(leaf: Any, place: Any = None, *, is_given: bool = False) -> Any:
    """Return the key of a leaf in the signature; `place` is the function of its library."""
    if is_given:
        if type_of(leaf) is FLOAT:
            return ("array", FLOAT, (), FLOAT64, None, None)
        strides = None
        if not isinstance(leaf, NUMBER) and not leaf.flags.c_contiguous:
            strides = leaf.strides
        return ("array", type_of(leaf), leaf.shape, leaf.dtype, strides, place(leaf))
    return value_key(leaf)
