"""The type of `vmap`: the type of the function, whose results have one more axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, final, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Concatenate, ParamSpec, Self, TypedDict, Unpack

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import TypeVar

    from gradwrap.typing.signatures import ChunkSize, G, P, R

    class Batched(TypedDict, total=False):
        """The keyword arguments of `vmap`."""

        fallback: Literal["error", "warn", "loop"]
        axis_size: int | None
        chunk_size: ChunkSize

    Out = TypeVar("Out")
    Out_co = TypeVar("Out_co", covariant=True)
    Q = ParamSpec("Q")

    @final
    class Nothing:
        """A class without instances: only Any can stand for it."""

    # The bound of a type variable, and not `Never` itself: from `Never`, pyright would infer the
    # result of `grad(f)` in `vmap(grad(f))`.
    Untyped = TypeVar("Untyped", bound=Nothing, default=Nothing)

    class Mapped(Protocol[Out_co, P]):
        """A function of a batch, in a class of its own.

        mypy merges overloads that all give a `Callable` into an untyped function where a function
        returns Any. Where they differ, it takes Any.
        """

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Out_co:
            """Call the function on a batch."""
            ...

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> Self: ...
        @overload
        def __get__(
            self: Mapped[Out, Concatenate[Any, Q]], instance: object, owner: type | None = None
        ) -> Callable[Q, Out]: ...


class Vmap(Protocol):
    """The type of `vmap`: a number becomes an array of numbers, an array stays one."""

    __name__: str

    @overload  # of a function that returns Any: a checker knows no more of the result
    def __call__(
        self,
        fun: Callable[P, Untyped],
        in_axes: Any = 0,
        out_axes: Any = 0,
        **options: Unpack[Batched],
    ) -> Any: ...
    @overload
    def __call__(
        self, fun: Callable[P, G], in_axes: Any = 0, out_axes: Any = 0, **options: Unpack[Batched]
    ) -> Mapped[NDArray[G], P]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, float],
        in_axes: Any = 0,
        out_axes: Any = 0,
        **options: Unpack[Batched],
    ) -> Mapped[NDArray[np.float64], P]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, tuple[G, R]],
        in_axes: Any = 0,
        out_axes: Any = 0,
        **options: Unpack[Batched],
    ) -> Mapped[tuple[NDArray[G], R], P]: ...
    @overload
    def __call__(
        self, fun: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0, **options: Unpack[Batched]
    ) -> Callable[P, R]: ...
