"""A function of a container as SciPy takes it: a function of a vector of float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE
from gradwrap.core.values.prefixes import parts_under
from gradwrap.core.values.tree import flatten, map_leaves
from gradwrap.errors import MissingToolError, NonDifferentiableInputError, PytreeError
from gradwrap.transforms.raveling import Raveling, to_host

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.library.backend import Backend


def optimizers(name: str) -> Any:
    """Return SciPy's optimisers, with derivatives of what they return."""
    try:
        from gradwrap.scipy import optimize
    except ModuleNotFoundError as error:
        raise MissingToolError(
            f"gradwrap.optimize.{name} needs SciPy, which is not installed. "
            "Fix: pip install scipy, or use gradwrap.optimize.adam."
        ) from error
    return optimize


def double(value: Any) -> Any:
    """Return an array of any library as NumPy's, of float64; an untracked wrapper as it is."""
    found = to_host(value)
    return found if isinstance(found, AnyWrapper) else found.astype(np.float64)


def computed(values: Sequence[Any], likes: Sequence[Any]) -> list[Any]:
    """Return values that are at hand: those of a lazy library are computed, all at once.

    Each stays in its library if that of `likes` is of it, and is a plain array otherwise.
    """
    found = list(values)
    places: dict[Backend, list[int]] = {}
    for place, value in enumerate(found):
        if is_array(value):
            places.setdefault(backend_of(value), []).append(place)
    for backend, mine in places.items():
        stay = [is_array(likes[i]) and backend_of(likes[i]) is backend for i in mine]
        for place, value in zip(
            mine, backend.computed([found[i] for i in mine], stay), strict=True
        ):
            found[place] = value
    return found


def as_start(x0: Any) -> Any:
    """Return the start with which an optimiser is called: arrays that are not tracked.

    Numbers and arrays of integers become floats, on their own and in containers. A list of numbers
    is one array, as SciPy takes it.
    """
    x0 = map_leaves(lambda leaf: native(leaf) if isinstance(leaf, AnyWrapper) else leaf, x0)
    if isinstance(x0, SEQUENCE) and not hasattr(x0, "_fields") and _all_numbers(x0):
        return np.asarray(x0, dtype=np.float64)
    return map_leaves(_as_float, x0)


WHOLE: tuple[type[Any], ...] = (int, np.integer)


def _as_float(leaf: Any) -> Any:
    """Return an integer, or an array of integers, as one of float64; all else as it is."""
    if isinstance(leaf, WHOLE):
        return leaf if isinstance(leaf, bool) else float(leaf)
    if is_array(leaf):
        backend = backend_of(leaf)
        if backend.xp.isdtype(leaf.dtype, "integral"):
            return backend.xp.astype(leaf, backend.xp.float64)
    return leaf


def _all_numbers(values: Any) -> bool:
    return bool(values) and all(
        isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        for value in values
    )


class Problem:
    """The start of an optimisation, as a container and as SciPy's vector."""

    def __init__(self, name: str, x0: Any) -> None:
        self.name = name
        self.start: Any = as_start(x0)
        self.raveling: Raveling = Raveling(self.start, "x0")
        if backend_of(self.raveling.flat).dtype_kind(self.raveling.dtype)[1]:
            raise NonDifferentiableInputError(
                f"{name} needs real arrays; x0 holds complex ones. Fix: make x0 of the real and "
                "the imaginary parts, and put them together in the function."
            )
        self.vector: Any = double(self.raveling.flat)

    def in_library(self, vector: Any) -> Any:
        """Return SciPy's vector as one of the container's library."""
        if isinstance(vector, AnyWrapper):
            return vector
        vector = np.asarray(vector, dtype=np.float64)
        backend = backend_of(self.raveling.flat)
        return vector if backend.name == "numpy" else backend.asarray(vector, self.raveling.flat)

    def tree(self, vector: Any) -> Any:
        """Return the container of a vector, with arrays of their libraries and dtypes."""
        return self.raveling.tree(self.in_library(vector))

    def owned(self, vector: Any, *, is_gradient: bool = False) -> Any:
        """Return the container of a vector, in arrays of its own."""
        own = vector if isinstance(vector, AnyWrapper) else np.array(vector)
        return self.raveling.tree(self.in_library(own), is_gradient=is_gradient)

    def ravelled(self, tree: Any) -> Any:
        """Return SciPy's vector of a container such as a gradient."""
        return double(self.raveling.ravelled(tree))

    def of_vector(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[Any], Any]:
        """Return a function of the container as one of a vector of its library, to such a one."""

        def called(vector: Any) -> Any:
            return Raveling(fun(self.raveling.tree(vector), *args), "the result").flat

        return called

    def product_of(self, linear: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a linear function of a vector of the library as one of SciPy's."""
        return lambda vector: double(linear(self.in_library(np.ravel(vector))))

    def result(self, found: Any, gradients: Sequence[str]) -> Any:
        """Return SciPy's result with `x` and some gradients as containers."""
        for name in ("x", *gradients):
            vector = found.get(name)
            if name != "x" and isinstance(vector, AnyWrapper):
                continue  # it has no derivative, and refuses to be taken apart
            if getattr(vector, "shape", None) == self.vector.shape:
                found[name] = self.owned(vector, is_gradient=name != "x")
        return found

    def spread(self, given: Any, what: str, is_leaf: Callable[[Any], bool]) -> list[Any]:
        """Return what is given for each array of the container, as a prefix of it.

        Raises
        ------
        PytreeError
            The structure is another one than that of the container.
        """
        try:
            parts = parts_under(given, self.start, is_leaf)
        except ValueError as error:
            raise PytreeError(
                f"{what} of {self.name} has another structure than x0, {self.raveling.treedef}. "
                f"Fix: give one for all, or a container of that structure ({error})."
            ) from None
        for_leaves = [leaf for leaf, part in parts for _ in range(len(flatten(part)[0]))]
        return [for_leaves[place] for place in self.raveling.places]


def as_args(args: Any) -> tuple[Any, ...]:
    """Return more arguments of a function as a tuple; one that is no tuple stands for itself."""
    return args if isinstance(args, TUPLE) else (args,)
