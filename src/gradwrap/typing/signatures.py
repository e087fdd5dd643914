"""The type variables and aliases that the signatures of the transforms are written in.

They are for type checkers alone. The type variables of arguments are bound to `Any`, so that a
checker takes a lambda's parameters for `Any` rather than for `object`, and have it as their
default, so that what is not known is `Any` too. Checkers have `typing_extensions`, whether it is
installed or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import (
        Any,
        Concatenate,
        Literal,
        Protocol,
        Required,
        SupportsComplex,
        SupportsFloat,
        TypeAlias,
        TypedDict,
    )

    import numpy as np
    from typing_extensions import ParamSpec, TypeVar, TypeVarTuple

    P = ParamSpec("P", default=...)
    X = TypeVar("X", bound=Any, default=Any)
    Y = TypeVar("Y", bound=Any, default=Any)
    Z = TypeVar("Z", bound=Any, default=Any)
    R = TypeVar("R", default=Any)
    G = TypeVar("G", bound=np.generic, default=Any)
    Aux = TypeVar("Aux", default=Any)
    Primals = TypeVarTuple("Primals")

    # Functions of one, two or three arguments and more
    F1: TypeAlias = Callable[Concatenate[X, P], R]
    F2: TypeAlias = Callable[Concatenate[X, Y, P], R]
    F3: TypeAlias = Callable[Concatenate[X, Y, Z, P], R]

    class Lazy(Protocol):
        """A lazy array of Dask's. pyright sees a class of Dask without `__float__`."""

        def __dask_graph__(self) -> Any:
            """Return the graph of tasks."""
            ...

    Scalar: TypeAlias = SupportsFloat | SupportsComplex | Lazy
    S = TypeVar("S", bound=SupportsFloat | SupportsComplex | Lazy, default=Any)
    # What a function of one array may return besides an array
    Number: TypeAlias = float | complex | np.number[Any]

    Argnums: TypeAlias = int | str | Sequence[int | str]
    # A number of rows, a size in bytes such as "64 MiB", or all rows at once
    ChunkSize: TypeAlias = int | str | None
    OverBatches: TypeAlias = Literal["mean", "sum"]
    No: TypeAlias = Literal[False]
    Yes: TypeAlias = Literal[True]
    First: TypeAlias = Literal[0]
    Second: TypeAlias = Literal[1]
    Third: TypeAlias = Literal[2]
    OnlyFirst: TypeAlias = tuple[Literal[0]]
    FirstTwo: TypeAlias = tuple[Literal[0], Literal[1]]
    FirstThird: TypeAlias = tuple[Literal[0], Literal[2]]
    FirstThree: TypeAlias = tuple[Literal[0], Literal[1], Literal[2]]

    class Options(TypedDict, total=False):
        """The keyword arguments of `grad`."""

        has_aux: Literal[False]
        holomorphic: bool

    class WithAux(TypedDict, total=False):
        """The same for a function that returns a pair."""

        has_aux: Required[Literal[True]]
        holomorphic: bool

    class Chunked(Options, total=False):
        """The keyword arguments of `jacobian`."""

        chunk_size: ChunkSize
        progress: bool

    class Paired(WithAux, total=False):
        """The same for a function that returns a pair."""

        chunk_size: ChunkSize
        progress: bool

    class AnyChunked(TypedDict, total=False):
        """The same, where a checker does not know if the function returns a pair."""

        has_aux: bool
        holomorphic: bool
        chunk_size: ChunkSize
        progress: bool
