"""Promotion: in an operation on arrays of two libraries, one converts the arrays of the other.

A library such as Dask takes NumPy's arrays in. A tracked array that it takes in stays the same
place in the graph: its cotangent is an array of the other library, and is passed on unchanged. So
the gradient of a NumPy array through Dask's is lazy.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.calls.bound import NodeOp
from gradwrap.core.graph.node import Node, make_node
from gradwrap.core.levels.wrapper import AnyWrapper, innermost, make_wrapper
from gradwrap.core.library.backend import library_of, wrapper_class
from gradwrap.core.values.dynamic import SEQUENCE, type_of
from gradwrap.core.values.space import Batch, Meta, Tangent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.library.backend import Backend


def promoted(arrays: Sequence[Any]) -> tuple[Sequence[Any], Backend | None]:
    """Return the arguments converted to one library, and that library; None if none converts."""
    if any(isinstance(array, SEQUENCE) for array in arrays):
        return arrays, None
    found = {library.name: library for array in arrays if (library := _library(array)) is not None}
    if len(found) < 2:
        return arrays, None
    for library in found.values():
        if library.promotes.issuperset(found.keys() - {library.name}):
            taken = [
                array if _library(array) in (None, library) else _taken_in(array, library)
                for array in arrays
            ]
            return taken, library
    return arrays, None


@functools.cache
def are_mixed(types: tuple[type[Any], ...]) -> bool:
    """Tell if arguments of these types are arrays of more than one library."""
    names = (
        kind._backend.name if issubclass(kind, AnyWrapper) else kind.__module__.partition(".")[0]
        for kind in types
    )
    return len(set(names)) > 1


def promoted_call(cls: Any, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    """Return a function's arguments with wrappers converted to the library that accepts them.

    The first is the class of wrappers that the function is then called for.
    """
    found: list[Any] = []
    for value in (*args, *kwargs.values()):
        found += _arrays_in(value)
    library = promoted(found)[1]
    if library is None:
        return cls, args, kwargs

    def of(value: Any) -> Any:
        if isinstance(value, SEQUENCE):
            return type(value)(map(of, value))
        other = isinstance(value, AnyWrapper) and _library(value) is not library
        return _taken_in(value, library) if other else value

    return (
        wrapper_class(cls._kind, library),
        tuple(map(of, args)),
        {name: of(value) for name, value in kwargs.items()},
    )


def _arrays_in(value: Any) -> list[Any]:
    if isinstance(value, SEQUENCE):
        return [one for part in value for one in _arrays_in(part)]
    return [value]


def _library(array: Any) -> Backend | None:
    data = innermost(array)
    return library_of(data) if hasattr(data, "dtype") else None


def _taken_in(array: Any, library: Backend) -> Any:
    """Convert an array to another library, and keep its place at each level."""
    if not isinstance(array, AnyWrapper):
        return library.asarray(array)
    data = _taken_in(array._value, library)
    kind: Any = type_of(array)
    outer = wrapper_class(kind._kind, library_of(data) or library)
    node = array._node
    if node is None:
        return make_wrapper(outer, data)
    meta = outer._backend.meta(data, node.meta.level)
    if isinstance(node, Tangent):
        return make_wrapper(outer, data, Tangent(meta, _taken_in(node.value, library)))
    if isinstance(node, Batch):
        example = Meta(meta.shape[1:], meta.dtype, meta.device, meta.level, meta.is_complex)
        return make_wrapper(outer, data, Batch(example, node.size, node.fallback))
    op = NodeOp("taken in", library, outer)
    return make_wrapper(outer, data, make_node(Node, node, _handed_on, (), 0, meta, op))


def _handed_on(xp: Any, g: Any) -> Any:  # noqa: ARG001  a formula's form
    return g
