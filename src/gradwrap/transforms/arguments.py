"""Arguments of a differentiated function, which are wrapped, and its outputs, unwrapped."""

from __future__ import annotations

import dataclasses
from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.array.adapted import as_python, note_stopped
from gradwrap.core.array.variable import Variable, variable_class
from gradwrap.core.graph.checking import check_differentiable
from gradwrap.core.graph.node import Leaf
from gradwrap.core.levels.levels import ProbeLevel
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    innermost,
    is_at,
    level_of,
    make_wrapper,
    snapshot,
    strip,
    stripped,
)
from gradwrap.core.library.backend import Backend, backend_of, find_backend, is_array, is_floating
from gradwrap.core.library.labelled import (
    labelled,
    labels_of,
    relabel,
    tracked_in,
    with_labels,
    without_labels,
)
from gradwrap.core.values.dynamic import class_of, type_of
from gradwrap.core.values.space import zeros_of
from gradwrap.core.values.tree import TreeDef, flatten, map_leaves, path_of, unflatten
from gradwrap.errors import NonDifferentiableInputError, NotAnArrayError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

if TYPE_CHECKING:
    Hold = Callable[[Backend, Any], Any]
    """Gives the array that a variable holds, for an array of a library."""

NUMBERS = (int, float, complex)
PASSED_THROUGH: tuple[type[Any], ...] = (Variable, *NUMBERS, str, bytes, type(None), EllipsisType)


class Tracked:
    """One argument under differentiation: its leaves, and the structure for its gradients.

    A flag, None, a string, and any other part of a pytree that is neither an array nor a number,
    passes through; the gradient has None in its place.
    """

    originals: list[Any]
    treedef: TreeDef

    def __init__(self, value: Any, level: int, name: Callable[[], str], hold: Hold) -> None:
        self.originals, self.treedef = flatten(value)
        variables: list[Any] = []
        for index, original in enumerate(self.originals):
            if not self.treedef.is_lone and passes_through(original):
                variables.append(original)
                continue
            try:
                variables.append(track(original, level, hold))
            except (NonDifferentiableInputError, NotAnArrayError):  # the path takes time to find
                path = path_of(value, name(), index)
                variables.append(track(original, level, hold, f"argument {path}"))
        # the function may write to its arguments, which gives them other nodes
        self.leaves: list[tuple[Any, Any] | None] = [
            (v._node, v._backend.xp) if is_at(v, level) else None for v in variables
        ]
        if variables and not any(self.leaves):
            raise NotAnArrayError(
                f"argument {name()} holds no array: there is nothing to differentiate. "
                "Fix: leave it out of argnums."
            )
        self.value: Any = unflatten(self.treedef, variables)

    def gradients(self, arrived: dict[Any, Any]) -> list[Any]:
        """Return the cotangent of each leaf; zeros if the output does not depend on it."""
        return [
            None
            if leaf is None
            else arrived[leaf[0]]
            if leaf[0] in arrived
            else zeros_of(leaf[1], leaf[0].meta)
            for leaf in self.leaves
        ]

    def restored(self, gradients: Sequence[Any]) -> Any:
        """Return gradients in the argument's structure, each of its leaf's type."""
        pairs = zip(gradients, self.originals, strict=True)
        return unflatten(
            self.treedef, [None if g is None else as_original(g, leaf) for g, leaf in pairs]
        )


def passes_through(leaf: Any) -> bool:
    """Tell if a leaf is not differentiated: a name, a flag, None, or a function."""
    if isinstance(leaf, NUMBERS):
        return isinstance(leaf, bool)
    return not hasattr(leaf, "dtype") and not is_array(leaf) and labels_of(leaf) is None


PYTHONS = frozenset({float, int})


def track(value: Any, level: int, hold: Hold, what: str = "argument") -> Variable[Any]:
    """Wrap an array, or a number, as a leaf of a level."""
    if labelled:
        level = with_labels(value, level)
    array, backend = differentiable(value, what)
    leaf = Leaf(backend.meta(array, level))
    made = make_wrapper(variable_class(backend), hold(backend, snapshot(array)), leaf)
    return as_python(made) if type_of(value) in PYTHONS else made


def differentiable(value: Any, what: str = "argument") -> tuple[Any, Backend]:
    """Return a leaf as an array that can be differentiated, and its library."""
    if isinstance(value, NUMBERS) and find_backend(type(value)) is None:
        if isinstance(value, bool):
            raise NonDifferentiableInputError(
                f"{what} is a bool; only floating-point and complex values can be "
                "differentiated. Fix: leave it out of argnums."
            )
        value = default_scalar(value)
    if labelled and not is_array(value):
        value = without_labels(value)
    if not is_array(value):
        raise NotAnArrayError(
            f"{what} is {class_of(value)}, which cannot be differentiated. "
            f"Fix: {_remedy(value, what)}."
        )
    backend = backend_of(value)
    if not backend.is_float(value):
        check_differentiable(backend, value, what)
    return backend.to_hold(value), backend


def _remedy(value: Any, what: str) -> str:
    if what == "argument self":
        return "on a method, self is argument 0; take argnums=1 for the one after it"
    if dataclasses.is_dataclass(value):
        return f"make it a pytree with gradwrap.register_pytree({type(value).__qualname__})"
    if hasattr(value, "__array__"):
        return "convert it to an array, for example with np.asarray, before the call"
    return "pass an array or a number, or leave it out of argnums"


def default_scalar(value: complex) -> Any:
    """Return a Python number as a NumPy scalar, which is a Python float or complex too."""
    import numpy as np

    return np.float64(value) if isinstance(value, (int, float)) else np.complex128(value)


def _without_axes(gradient: Any, original: Any) -> Any:
    """Convert an untracked scalar gradient to a 0-d array if the argument was an array."""
    if gradient._node is not None or not hasattr(original, "__setitem__"):
        return gradient
    value = gradient._value
    if hasattr(value, "__setitem__") or value.shape:
        return gradient
    return make_wrapper(type_of(gradient), backend_of(original).asarray(value, original))


def as_original(gradient: Any, original: Any) -> Any:
    """Convert a gradient to its argument's kind: array, labelled array, scalar, or number."""
    labels = labels_of(original) if labelled else None
    if labels is not None:
        found = as_original(gradient, labels.data(original))
        if isinstance(found, AnyWrapper):
            if found._node is not None:
                relabel(found, original)
            return found
        return labels.relabelled(found, original)
    if isinstance(gradient, AnyWrapper):
        if not isinstance(original, AnyWrapper):
            gradient = stripped(gradient)
        if isinstance(gradient, AnyWrapper):
            return _without_axes(gradient, innermost(original))
    if not hasattr(original, "shape") or not hasattr(original, "__setitem__"):
        return gradient[()] if hasattr(gradient, "__getitem__") else gradient
    if not hasattr(gradient, "__setitem__"):
        return backend_of(original).asarray(gradient, original)
    return gradient


def wrapped_untracked(tree: Any, hold: Hold = lambda _, array: array) -> Any:
    """Wrap the arrays of a tree without tracking; other leaves are unchanged."""
    if isinstance(tree, AnyWrapper):
        return tree
    return map_leaves(lambda leaf: _wrap_leaf(leaf, hold), tree)


def given_to(tree: Any, hold: Hold = lambda _, array: array) -> Any:
    """Wrap the floating-point arrays of an argument that is not differentiated.

    The function may write tracked values to these. Arrays of integers and bools stay the library's
    own, as those that the function makes itself: other packages take them for an index.
    """
    return map_leaves(lambda leaf: _wrap_leaf(leaf, hold) if is_floating(leaf) else leaf, tree)


def _wrap_leaf(leaf: Any, hold: Hold) -> Any:
    if isinstance(leaf, PASSED_THROUGH) or not is_array(leaf):
        return leaf
    backend = backend_of(leaf)
    if not backend.is_numeric(leaf):
        return leaf
    return make_wrapper(variable_class(backend), hold(backend, backend.to_hold(leaf)))


def untracked(tree: Any) -> Any:
    """Take off the outer wrappers that track nothing, so that calls are shorter."""
    return map_leaves(stripped, tree)


def unwrapped(tree: Any, level: int) -> Any:
    """Take off the wrappers of a level, and the wrappers that track nothing."""

    def is_done(layer: Any) -> bool:
        return layer._node is None or layer._node.meta.level == level

    return map_leaves(lambda leaf: snapshot(strip(leaf, is_done)), tree)


def without_inner(tree: Any, level: int) -> Any:
    """Take off the wrappers of transforms that ended inside the transform of this level.

    A function may keep an inner transform's values in a list or an array to which both write. A
    result with labels is its array.
    """

    def peeled(leaf: Any) -> Any:
        if not isinstance(leaf, AnyWrapper):
            array = tracked_in(leaf) if labelled else None
            if array is None:
                return _answered(leaf)
            leaf = array
        while level_of(leaf) > level:
            inner = leaf._node.meta.level
            if type(inner) is ProbeLevel:
                raise kept_probe(inner.name)
            leaf = leaf._value
        return snapshot(leaf)

    return map_leaves(peeled, tree)


def kept_probe(name: str) -> TrackedValueError:
    """Return the error for a result that is made of what the function of an implicit rule kept."""
    return TrackedValueError(
        f"a result depends on what the function that {name} was given has kept: the values of a "
        "call that computes the derivative, which do not move with the solution. Fix: compute the "
        "result from the solution, or call the function there; if the code has caught an error of "
        f"{name}, do what that error says; gw.stop_gradient makes a kept value a constant."
    )


def _answered(leaf: Any) -> Any:
    """Return a result; refuse the `NotImplemented` by which NumPy's ufuncs decline an argument."""
    dtype = getattr(leaf, "dtype", None)
    is_object = dtype is not None and getattr(dtype, "kind", "") == "O" and not leaf.shape
    if leaf is NotImplemented or (is_object and leaf[()] is NotImplemented):
        raise TrackedValueError(
            f"the function returned NotImplemented in {class_of(leaf)}: in an operation with a "
            "tracked array, a subclass of numpy.ndarray took this answer of NumPy's for a result. "
            "Fix: pass np.asarray(x) of the subclass's array to the operation."
        )
    return leaf


def stop_gradient(x: T) -> T:
    """Return the same values as constants: no gradient passes, at any level.

    Takes and returns an array or a pytree of arrays. Values that are not tracked stay as they are.

    Examples
    --------
    >>> import gradwrap as gw
    >>> gw.grad(lambda x: x * gw.stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    note_stopped()

    def stop(leaf: Any) -> Any:
        return leaf.detach() if isinstance(leaf, AnyWrapper) else leaf

    return map_leaves(stop, x)  # type: ignore[no-any-return]  # of the type it was given
