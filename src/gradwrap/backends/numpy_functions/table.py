"""The table of NumPy's functions, and what their implementations share."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradwrap.core.wrapper import is_recorded, unwrapped_key
from gradwrap.errors import NoRuleError
from gradwrap.rules.axes import as_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ALWAYS",
    "IMPLEMENTATIONS",
    "WRITING",
    "Implementation",
    "NoValue",
    "check_constant",
    "constant",
    "counting",
    "flag",
    "given",
    "implements",
    "is_masked",
    "moved_last",
    "on_host",
    "on_values",
    "out_position",
    "put_back",
    "sizes",
    "untyped",
    "with_axes",
]

Implementation = Callable[..., Any]
F = TypeVar("F", bound=Callable[..., Any])
# filled while this package is imported, and only read from then on
IMPLEMENTATIONS: dict[Any, Implementation] = {}
WRITING: set[Any] = set()
"""The functions that write to their first argument."""
ALWAYS: set[Any] = set()
"""The functions whose implementation also answers for arrays that are not tracked: they give
views, or write. For all others, NumPy itself does."""
untyped: Any = np
"""NumPy, for arguments that can be anything, of which its own types make nothing."""
NoValue: Any = np._NoValue  # pyright: ignore[reportPrivateUsage]  # the default of some parameters
_out_positions: dict[Any, int] = {}  # a cache; any thread's entry is as good


def implements(*functions: Any, always: bool = False) -> Callable[[F], F]:
    """Enter an implementation of a function of NumPy."""

    def enter(implementation: F) -> F:
        for function in functions:
            IMPLEMENTATIONS[function] = implementation
            if always:
                ALWAYS.add(function)
        return implementation

    return enter


def counting(n: int) -> NDArray[np.intp]:
    """The whole numbers from 0 on, below `n`."""
    return np.arange(n, dtype=np.intp)


def on_values(*functions: Any) -> None:
    """Questions about values: answered on the data, not differentiated."""
    for function in functions:
        IMPLEMENTATIONS[function] = _asked(function)


def _asked(function: Any) -> Implementation:
    def ask(xp: Any, *args: Any, **kwargs: Any) -> Any:
        native = {k: unwrapped_key(v) for k, v in kwargs.items()}
        return xp._class._plain(function(*unwrapped_key(args), **native))

    return ask


def out_position(function: Any) -> int:
    """Where `out` stands among the positional arguments; past all of them if it does not."""
    position = _out_positions.get(function)
    if position is None:
        code = getattr(IMPLEMENTATIONS.get(function), "__code__", None)
        names = code.co_varnames[1 : code.co_argcount] if code is not None else ()
        position = names.index("out") if "out" in names else 1000
        _out_positions[function] = position
    return position


def on_host(value: Any) -> Any:
    """Indices, masks, ... as NumPy's, to compute with: from a GPU, copied, which waits for it."""
    data = unwrapped_key(value)
    copied = getattr(data, "get", None)
    return np.asarray(data if copied is None else copied())


def constant(xp: Any, values: Any) -> Any:
    """Values that were computed with NumPy, as an array of the library."""
    backend = xp._class._backend
    while hasattr(backend, "_base"):
        backend = backend._base
    return backend.asarray(values)


def given(value: Any) -> bool:
    return value is not NoValue and value is not None


def is_masked(where: Any) -> bool:
    return where is not NoValue and where is not True


def flag(keepdims: Any) -> bool:
    return keepdims is not NoValue and bool(keepdims)


def sizes(shape: Any) -> tuple[int, ...]:
    """A shape as NumPy takes it: one length, or a sequence of them."""
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(operator.index(n) for n in shape)


def with_axes(xp: Any, a: Any, ndim: int) -> Any:
    shape = tuple(a.shape)
    if len(shape) >= ndim:
        return a
    if ndim == 3:
        wanted = {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
    else:
        wanted = (1,) * (ndim - len(shape)) + shape
    return xp.reshape(a, wanted)


def moved_last(xp: Any, a: Any, axis: Any) -> Any:
    """The axes (all for None) as one last axis, for `put_back` to undo after a reduction."""
    axes = as_axes(axis, a.ndim)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    count = 1
    for i in axes:
        count *= a.shape[i]
    return xp.reshape(xp.permute_dims(a, rest + axes), (*(a.shape[i] for i in rest), count))


def put_back(xp: Any, reduced: Any, like: Any, axis: Any, keepdims: Any) -> Any:
    """A reduction over the axes that `moved_last` moved, with axes of length one on demand."""
    if not flag(keepdims):
        return reduced
    axes = as_axes(axis, like.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(like.shape))
    lead = tuple(reduced.shape)[: reduced.ndim - (like.ndim - len(axes))]
    return xp.reshape(reduced, lead + kept)


def check_constant(function: str, **arguments: Any) -> None:
    """Refuse a tracked value where a function has no derivative with respect to it."""
    for name, value in arguments.items():
        if is_recorded(value):
            raise NoRuleError(
                f"{function} has no derivative with respect to {name}. Fix: .detach() it."
            )
