"""Containers of arrays, joined into one vector and split again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import array_api_compat
import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.values.comparing import described, kind_of, namespace_of
from gradwrap.core.values.space import cast_to, size_of
from gradwrap.core.values.tree import flatten, flatten_with_paths, unflatten
from gradwrap.errors import MixedLibrariesError, NotAnArrayError, PytreeError, TrackedValueError
from gradwrap.transforms.arguments import as_original, differentiable, passes_through

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.values.tree import TreeDef

T = TypeVar("T")


class Raveling:
    """The places of a container's arrays in one vector.

    Flags, None, strings, and other parts that are neither arrays nor numbers, are left out.
    """

    def __init__(self, tree: Any, name: str = "tree") -> None:
        pairs, treedef = flatten_with_paths(tree, name)
        self.treedef: TreeDef = treedef
        self.originals: list[Any] = [leaf for _, leaf in pairs]
        self.places: list[int] = [
            index for index, (_, leaf) in enumerate(pairs) if not passes_through(leaf)
        ]
        if not self.places:
            raise NotAnArrayError(
                f"{name} holds no floating-point array or number. Fix: pass one, or a container "
                "of them."
            )
        numbers = [i for i in self.places if not is_array(self.originals[i])]
        arrays = [
            differentiable(self.originals[i], pairs[i][0])[0]
            for i in self.places
            if i not in numbers
        ]
        libraries = sorted({backend_of(array).name for array in arrays})
        if len(libraries) > 1:
            raise MixedLibrariesError(
                f"{name} holds arrays of {' and '.join(libraries)}, which cannot be "
                "joined into one vector. Fix: convert them to one library."
            )
        like = arrays[0] if arrays else None
        values = [self._as_array(self.originals[i], pairs[i][0], like) for i in self.places]
        self.shapes: list[tuple[int, ...]] = [tuple(value.shape) for value in values]
        self.sizes: list[int] = [size_of(shape) for shape in self.shapes]
        self.dtypes: list[Any] = [value.dtype for value in values]
        self.size: int = sum(self.sizes)
        xp = namespace_of(values)
        self.dtype: Any = xp.result_type(*self.dtypes)
        self.flat: Any = self._joined(values)

    @staticmethod
    def _as_array(leaf: Any, path: str, like: Any) -> Any:
        if is_array(leaf) or like is None:
            return differentiable(leaf, path)[0]
        return backend_of(like).asarray(leaf, like)

    def _joined(self, values: list[Any]) -> Any:
        """Join arrays into one vector, in a buffer of its own."""
        xp = namespace_of(values)
        return xp.concat(
            [cast_to(xp, xp.reshape(value, (-1,)), self.dtype) for value in values], axis=0
        )

    def ravelled(self, tree: Any) -> Any:
        """Return the vector of another container of the same structure and shapes."""
        leaves, treedef = flatten(tree)
        if treedef != self.treedef:
            raise PytreeError(f"the structure is {treedef}, not {self.treedef}.")
        return self._joined([self._as_array(leaves[i], "", self.flat) for i in self.places])

    def tree(self, flat: Any, *, is_gradient: bool = False) -> Any:
        """Return the container of a vector's parts, in their shapes and dtypes.

        Leaves that are not in the vector stay unchanged, or are None in a gradient.
        """
        shape = tuple(flat.shape) if is_array(flat) else None
        if shape != (self.size,):
            got = kind_of(flat) if shape is None else described(flat)
            raise PytreeError(
                f"unravel takes a vector of {self.size} elements; it got {got}. "
                "Fix: pass one of the shape that ravel_pytree has returned."
            )
        xp = backend_of(flat).xp
        leaves = [None] * len(self.originals) if is_gradient else list(self.originals)
        start = 0
        for place, shape, size, dtype in zip(
            self.places, self.shapes, self.sizes, self.dtypes, strict=True
        ):
            part = cast_to(xp, xp.reshape(flat[start : start + size], shape), dtype)
            leaves[place] = as_original(part, self.originals[place])
            start += size
        return unflatten(self.treedef, leaves)


def to_host(value: Any) -> Any:
    """Return an array of any library as a NumPy array; an untracked wrapper unchanged.

    Raises
    ------
    TrackedValueError
        The value is tracked: NumPy's arrays, and SciPy's copies of them, cannot hold it.
    """
    if isinstance(value, AnyWrapper):
        if is_recorded(value):
            raise TrackedValueError(
                "arrays and sparse arrays of NumPy and SciPy cannot hold a tracked value. Fix: "
                "leave sparsity= out, which gives an array that can; or .detach() what is tracked."
            )
        return value
    try:
        return np.asarray(value)
    except TypeError:  # it is on another device
        return np.asarray(array_api_compat.to_device(value, "cpu"))


def ravel_pytree(tree: T) -> tuple[Any, Callable[[Any], T]]:
    """Join the arrays of a container into one vector; return it and the inverse function.

    Parameters
    ----------
    tree
        An array, a number, or a container of them, of one library. A Python integer counts as a
        float. Flags, None, strings and similar values in a container are left out of the vector.

    Returns
    -------
    `flat` and `unravel`. `flat` is a new vector of the library, of the dtype that all the arrays
    can be cast to. `unravel(flat)` makes a container like `tree` from a vector of the same length,
    with the same shapes and dtypes; values that were left out are as before. Its arrays are parts
    of the vector, and views if the library has views. Both can be differentiated.

    Raises
    ------
    NotAnArrayError
        There is nothing to join.
    NonDifferentiableInputError
        An array has an integer, bool or object dtype.
    MixedLibrariesError
        The arrays are of two libraries.
    PytreeError
        The argument of `unravel` is not a vector of that length.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> flat, unravel = gw.ravel_pytree({"w": np.eye(2), "b": 5.0})
    >>> flat
    array([5., 1., 0., 0., 1.])
    >>> unravel(2 * flat)
    {'w': array([[2., 0.],
           [0., 2.]]), 'b': np.float64(10.0)}
    """
    raveling = Raveling(tree)

    def unravel(flat: Any) -> T:
        return raveling.tree(flat)  # type: ignore[no-any-return]  # of the type of the tree

    return raveling.flat, unravel
