"""The types of `vjp`, `jvp`, `linearize` and `hvp`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from gradwrap.typing.signatures import Aux, No, Primals, R, X, Yes


class Vjp(Protocol):
    """The type of `vjp`."""

    __name__: str

    @overload
    def __call__(
        self, fun: np.ufunc, *primals: Any, has_aux: No = False
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]: ...
    @overload
    def __call__(
        self, fun: Callable[[*Primals], R], *primals: *Primals, has_aux: No = False
    ) -> tuple[R, Callable[[R], tuple[*Primals]]]: ...
    @overload
    def __call__(
        self, fun: Callable[[*Primals], tuple[R, Aux]], *primals: *Primals, has_aux: Yes
    ) -> tuple[R, Callable[[R], tuple[*Primals]], Aux]: ...


class Jvp(Protocol):
    """The type of `jvp`."""

    __name__: str

    @overload
    def __call__(
        self,
        fun: Callable[[*Primals], R],
        primals: tuple[*Primals],
        tangents: tuple[*Primals],
        *,
        has_aux: No = False,
    ) -> tuple[R, R]: ...
    @overload
    def __call__(
        self,
        fun: Callable[[*Primals], tuple[R, Aux]],
        primals: tuple[*Primals],
        tangents: tuple[*Primals],
        *,
        has_aux: Yes,
    ) -> tuple[R, R, Aux]: ...
    @overload
    def __call__(
        self,
        fun: Callable[..., R],
        primals: Sequence[Any],
        tangents: Sequence[Any],
        *,
        has_aux: No = False,
    ) -> tuple[R, R]: ...
    @overload
    def __call__(
        self,
        fun: Callable[..., tuple[R, Aux]],
        primals: Sequence[Any],
        tangents: Sequence[Any],
        *,
        has_aux: Yes,
    ) -> tuple[R, R, Aux]: ...


class Linearize(Protocol):
    """The type of `linearize`."""

    __name__: str

    @overload
    def __call__(
        self, fun: np.ufunc, *primals: Any, has_aux: No = False
    ) -> tuple[Any, Callable[..., Any]]: ...
    @overload
    def __call__(
        self, fun: Callable[[*Primals], R], *primals: *Primals, has_aux: No = False
    ) -> tuple[R, Callable[[*Primals], R]]: ...
    @overload
    def __call__(
        self, fun: Callable[[*Primals], tuple[R, Aux]], *primals: *Primals, has_aux: Yes
    ) -> tuple[R, Callable[[*Primals], R], Aux]: ...


class Hvp(Protocol):
    """The type of `hvp`."""

    __name__: str

    @overload
    def __call__(
        self, fun: Callable[[*Primals], Any], primals: tuple[*Primals], tangents: tuple[*Primals]
    ) -> tuple[*Primals]: ...
    @overload
    def __call__(self, fun: Callable[[X], Any], primals: X, tangents: X) -> X: ...
