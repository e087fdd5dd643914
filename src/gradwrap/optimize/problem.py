"""A function of a container, converted for SciPy to a function of a float64 vector."""

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
    """Return `gradwrap.scipy.optimize`, whose results have derivatives, or raise without SciPy."""
    try:
        from gradwrap.scipy import optimize
    except ModuleNotFoundError as error:
        raise MissingToolError(
            f"gradwrap.optimize.{name} needs SciPy, which is not installed. "
            "Fix: pip install scipy, or use gradwrap.optimize.adam."
        ) from error
    return optimize


def double(value: Any) -> Any:
    """Convert an array of any library to a NumPy array of float64; an untracked wrapper stays."""
    found = to_host(value)
    return found if isinstance(found, AnyWrapper) else found.astype(np.float64)


def computed(values: Sequence[Any], likes: Sequence[Any]) -> list[Any]:
    """Compute the values of lazy arrays, all at once; return other values unchanged.

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
    """Return the start of an optimisation, with untracked arrays.

    Numbers and arrays of integers become floats, on their own and in containers. A list of numbers
    is one array, as SciPy takes it.
    """
    x0 = map_leaves(native, x0)
    if isinstance(x0, SEQUENCE) and not hasattr(x0, "_fields") and _all_numbers(x0):
        return np.asarray(x0, dtype=np.float64)
    return map_leaves(_as_float, x0)


WHOLE: tuple[type[Any], ...] = (int, np.integer)


def _as_float(leaf: Any) -> Any:
    """Convert integers and integer arrays to float64; other values are unchanged."""
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
        """Convert SciPy's vector to the container's library."""
        if isinstance(vector, AnyWrapper):
            return vector
        vector = np.asarray(vector, dtype=np.float64)
        backend = backend_of(self.raveling.flat)
        return vector if backend.name == "numpy" else backend.asarray(vector, self.raveling.flat)

    def tree(self, vector: Any) -> Any:
        """Return the container of a vector, with its arrays' libraries and dtypes."""
        return self.raveling.tree(self.in_library(vector))

    def owned(self, vector: Any, *, is_gradient: bool = False) -> Any:
        """Return the container of a vector, in new arrays."""
        own = vector if isinstance(vector, AnyWrapper) else np.array(vector)
        return self.raveling.tree(self.in_library(own), is_gradient=is_gradient)

    def ravelled(self, tree: Any) -> Any:
        """Return SciPy's vector of a container such as a gradient."""
        return double(self.raveling.ravelled(tree))

    def of_vector(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[Any], Any]:
        """Convert a function of the container to a function between vectors."""

        def called(vector: Any) -> Any:
            return Raveling(fun(self.raveling.tree(vector), *args), "the result").flat

        return called

    def product_of(self, linear: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Convert a linear function of the library's vectors to one of NumPy vectors, for SciPy."""
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
        """Return the given option for each array of the container.

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
    """Return extra arguments as a tuple; a single argument may be given without one."""
    return args if isinstance(args, TUPLE) else (args,)
