"""The table of NumPy's functions, and helpers for their implementations."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from inspect import Parameter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.exceptions import AxisError

from gradwrap.backends.numpy.functions.converting import NDARRAY, NoValue, memory_order
from gradwrap.backends.numpy.functions.spelling import (
    COMPLETED,
    SPELLED,
    Implementation,
    enter,
    named,
)
from gradwrap.core.array.adapted import note_text
from gradwrap.core.array.writing.views import view_of
from gradwrap.core.levels.memory import is_fortran, lay_out, one_array
from gradwrap.core.levels.wrapper import (
    CONTAINERS,
    AnyWrapper,
    innermost,
    is_recorded,
    native,
    unwrapped_key,
)
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.labelled import without_labels
from gradwrap.core.observing.callers import buffers, current_caller, remedy
from gradwrap.core.observing.comparing import looks
from gradwrap.core.values.dynamic import SEQUENCE, class_of, type_of
from gradwrap.errors import NoRuleError, OutArgumentError
from gradwrap.rules.axes import as_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
untyped: Any = np
"""NumPy, for arguments that can be anything, of which its own types make nothing."""


GIVE_ARRAYS = frozenset(
    getattr(np, name)
    for name in (
        *("array", "asarray", "copy", "empty_like", "full_like", "ones_like", "zeros_like"),
        *("apply_along_axis", "choose", "cov", "pad", "piecewise", "roll", "select", "tensordot"),
        *("where",),
    )
)
"""Functions that give an array without axes, where all others give a scalar."""


class Implementations(dict[Any, Implementation]):
    """Map a NumPy function to its implementation, called with `xp` and NumPy's arguments.

    Each is written from its spelling when it is first asked for.
    """

    def __contains__(self, function: object) -> bool:
        return function in SPELLED or super().__contains__(function)

    def __missing__(self, function: Any) -> Implementation:
        found = self[function] = SPELLED[function].general()
        return found

    def get(self, function: Any, default: Any = None) -> Any:
        """Return the implementation, or the default."""
        is_known = function in self
        return self[function] if is_known else default


IMPLEMENTATIONS = Implementations()


def implements(*texts: str, arrays: int = 0, always: bool = False) -> Callable[[F], F]:
    """Register an implementation of the functions with these signatures.

    It is given the arguments that its parameters name; the first `arrays` of them as arrays.
    """

    def mark(code: F) -> F:
        for text in texts:
            enter(text, always=always, code=code, arrays=arrays)
        return code

    return mark


def completes(*functions: Any) -> Callable[[F], F]:
    """Register the function for arguments that a row's operation does not take."""

    def mark(code: F) -> F:
        COMPLETED.update(dict.fromkeys(functions, code))
        return code

    return mark


def standard(path: str, *texts: str, always: bool = False) -> None:
    """Register NumPy functions that call a function of the standard without a row of its own."""
    for text in texts:
        enter(text, always=always, path=path)


def counting(n: int) -> NDArray[np.intp]:
    """Return the whole numbers from 0 to `n` - 1."""
    return np.arange(n, dtype=np.intp)


def on_values(names: str, seen_as: Callable[[Any], Any] = unwrapped_key) -> None:
    """Register functions that NumPy answers from values, converted by `seen_as`."""
    for name in names.split():
        function = named(name)[1]
        if function is not None:
            IMPLEMENTATIONS[function] = functools.partial(asked, function, seen_as)


EQUALITIES = (np.allclose, np.array_equal, np.array_equiv, np.isclose)
"""Functions that compare numbers, whose answers are looked at like those of an operator."""


def asked(function: Any, seen_as: Callable[[Any], Any], xp: Any, *args: Any, **kwargs: Any) -> Any:
    options = {name: seen_as(value) for name, value in kwargs.items()}
    found = function(*map(seen_as, args), **options)
    if type_of(found) is str:
        note_text(args)
    look = looks()
    if look is not None and function in EQUALITIES and is_recorded(args) and np.all(found):
        value = next(native(arg) for arg in args if is_recorded(arg))
        look("equality", value, value)
    return xp._class._plain(found)


def out_position(function: Any) -> int:
    """Return the position of `out` among the arguments; 1000 if it has none."""
    spelling = SPELLED.get(function)
    parameters = {} if spelling is None else spelling.parameters
    if "out" not in parameters or parameters["out"].kind == Parameter.KEYWORD_ONLY:
        return 1000
    return list(parameters).index("out")


def on_host(value: Any) -> Any:
    """Return indices, masks and so on as NumPy arrays; copies from a GPU wait for it."""
    data = without_labels(unwrapped_key(value))
    if isinstance(data, SEQUENCE) and any(hasattr(part, "get") for part in data):
        data = [on_host(part) for part in data]
    copied = getattr(data, "get", None)
    return np.asarray(data if copied is None else copied())


def constant(xp: Any, values: Any) -> Any:
    """Convert values computed with NumPy to an array of the library."""
    backend = xp._class._backend
    while hasattr(backend, "_base"):
        backend = backend._base
    return backend.asarray(values)


def cast(xp: Any, a: Any, dtype: Any) -> Any:
    """Cast an array to the dtype, if one is given."""
    a = xp.asarray(a)
    return a if dtype is None else xp.astype(a, np.dtype(dtype), copy=False)


def check_cast(from_: Any, to: Any, casting: Any) -> None:
    """Raise NumPy's error if a rule of casting does not allow a change of dtype."""
    if not np.can_cast(from_, to, casting):
        raise TypeError(
            f"Cannot cast array data from {from_} to {np.dtype(to)} according to the rule "
            f"{casting!r}"
        )


def in_order(found: Any, order: Any, a: Any = None) -> Any:
    """Return a new array in the memory order "C", "F", or "K" (the order of `a`)."""
    order = memory_order(order)
    if order == "A":
        order = "F" if is_fortran(a) else "C"
    if not found.shape:
        return found
    like = in_memory(a)
    if view_of(found) is not None:
        found = found.copy("K")
    if order != "K":
        lay_out(found, np.empty(found.shape, order=order))
    elif isinstance(like, NDARRAY):
        lay_out(found, np.empty_like(like, shape=found.shape))
    return found


def in_memory(a: Any) -> Any:
    """Return an array that lies in memory as that below all wrappers; others unchanged."""
    if not isinstance(a, AnyWrapper):
        return a
    like = one_array(a)
    return backend_of(like).concrete(like)


def scalar(found: Any) -> Any:
    """Return a 0-d result as a scalar, as NumPy's functions do."""
    return found[()] if found.ndim == 0 and isinstance(innermost(found), np.ndarray) else found


def is_masked(where: Any) -> bool:
    return where is not NoValue and where is not True


def moved_last(xp: Any, a: Any, axis: Any) -> Any:
    """Join the axes (all for None) to one last axis, which `put_back` undoes after a reduction."""
    axes = as_axes(axis, a.ndim)
    if axes and not a.ndim:
        raise AxisError(axes[0], 0)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    count = math.prod(a.shape[i] for i in axes)
    return xp.reshape(xp.permute_dims(a, rest + axes), (*(a.shape[i] for i in rest), count))


def put_back(xp: Any, reduced: Any, like: Any, axis: Any, keepdims: Any) -> Any:
    """Restore, with `keepdims`, the reduced axes that `moved_last` moved, with length one."""
    if not keepdims:
        return reduced
    axes = as_axes(axis, like.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(like.shape))
    lead = tuple(reduced.shape)[: reduced.ndim - (like.ndim - len(axes))]
    return xp.reshape(reduced, lead + kept)


def on_data(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function with the plain data; nothing is recorded."""
    return function(*unwrapped_key(args), **{k: unwrapped_key(v) for k, v in kwargs.items()})


def opened(value: Any) -> Any:
    """Return a list in place of an object that has wrappers as elements, such as a table.

    NumPy looks for arrays among the elements of an argument of `roots` and `poly`.
    """
    if isinstance(value, (AnyWrapper, str, *CONTAINERS)) or not hasattr(value, "__len__"):
        return value
    if isinstance(value, NDARRAY) and not value.dtype.hasobject:
        return value
    elements = [*value]
    return elements if any(isinstance(one, AnyWrapper) for one in elements) else value


def check_target(call: str, target: Any) -> None:
    """Refuse to write a tracked value to a plain array."""
    if not isinstance(target, AnyWrapper):
        caller = current_caller()
        place = "" if caller is None else f", {caller}"
        raise OutArgumentError(
            f"{call} {class_of(target)}{place}: a plain array cannot hold a tracked value. "
            f"Fix: {remedy(caller, f'make the array {buffers(caller)}.')}"
        )


def check_constant(function: str, **arguments: Any) -> None:
    """Refuse tracked values for parameters without a derivative."""
    for name, value in arguments.items():
        if is_recorded(value):
            raise NoRuleError(
                f"{function} has no derivative with respect to {name}. Fix: .detach() it."
            )
