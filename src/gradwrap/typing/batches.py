"""The type of `vmap`: the function's own, with an axis more in what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Never, Protocol, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from gradwrap.typing.signatures import G, P, R

    Fallback = Literal["error", "warn", "loop"]


class Vmap(Protocol):
    """The type of `vmap`: a number becomes an array of numbers, an array stays one."""

    __name__: str

    @overload  # of a function that returns Any: a checker knows no more of the result
    def __call__(
        self,
        fun: Callable[..., Never],
        in_axes: Any = 0,
        out_axes: Any = 0,
        *,
        fallback: Fallback = "warn",
    ) -> Any: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, G],
        in_axes: Any = 0,
        out_axes: Any = 0,
        *,
        fallback: Fallback = "warn",
    ) -> Callable[P, NDArray[G]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, float],
        in_axes: Any = 0,
        out_axes: Any = 0,
        *,
        fallback: Fallback = "warn",
    ) -> Callable[P, NDArray[np.float64]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, tuple[G, R]],
        in_axes: Any = 0,
        out_axes: Any = 0,
        *,
        fallback: Fallback = "warn",
    ) -> Callable[P, tuple[NDArray[G], R]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, R],
        in_axes: Any = 0,
        out_axes: Any = 0,
        *,
        fallback: Fallback = "warn",
    ) -> Callable[P, R]: ...
