"""The types of `jacrev`, `jacfwd` and `jacobian`, which are the same, and of `hessian`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    import numpy as np

    from gradwrap.typing.signatures import (
        F1,
        F2,
        F3,
        AnyChunked,
        Argnums,
        Aux,
        Chunked,
        First,
        FirstThird,
        FirstThree,
        FirstTwo,
        Number,
        OnlyFirst,
        P,
        Paired,
        Second,
        Third,
        X,
        Y,
        Z,
    )


class Jacobian(Protocol):
    """The type of `jacobian`: a block of the argument's type; a tuple of them for several."""

    __name__: str

    @overload
    def __call__(self, fun: np.ufunc, argnums: Argnums = 0, **options: Unpack[Chunked]) -> Any: ...
    @overload
    def __call__(
        self, fun: F1[X, P, X | Number], argnums: First = 0, **options: Unpack[Chunked]
    ) -> F1[X, P, X]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, Y | Number], argnums: Second, **options: Unpack[Chunked]
    ) -> F2[X, Y, P, Y]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Z | Number], argnums: Third, **options: Unpack[Chunked]
    ) -> F3[X, Y, Z, P, Z]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, X | Number], argnums: OnlyFirst, **options: Unpack[Chunked]
    ) -> F1[X, P, tuple[X]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, X | Y | Number], argnums: FirstTwo, **options: Unpack[Chunked]
    ) -> F2[X, Y, P, tuple[X, Y]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, X | Z | Number], argnums: FirstThird, **options: Unpack[Chunked]
    ) -> F3[X, Y, Z, P, tuple[X, Z]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, Y, Z, P, X | Y | Z | Number],
        argnums: FirstThree,
        **options: Unpack[Chunked],
    ) -> F3[X, Y, Z, P, tuple[X, Y, Z]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[X | Number, Aux]], argnums: First = 0, **options: Unpack[Paired]
    ) -> F1[X, P, tuple[X, Aux]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, tuple[Y | Number, Aux]], argnums: Second, **options: Unpack[Paired]
    ) -> F2[X, Y, P, tuple[Y, Aux]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, tuple[Z | Number, Aux]], argnums: Third, **options: Unpack[Paired]
    ) -> F3[X, Y, Z, P, tuple[Z, Aux]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[X | Number, Aux]], argnums: OnlyFirst, **options: Unpack[Paired]
    ) -> F1[X, P, tuple[tuple[X], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F2[X, Y, P, tuple[X | Y | Number, Aux]],
        argnums: FirstTwo,
        **options: Unpack[Paired],
    ) -> F2[X, Y, P, tuple[tuple[X, Y], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, Y, Z, P, tuple[X | Z | Number, Aux]],
        argnums: FirstThird,
        **options: Unpack[Paired],
    ) -> F3[X, Y, Z, P, tuple[tuple[X, Z], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, Y, Z, P, tuple[X | Y | Z | Number, Aux]],
        argnums: FirstThree,
        **options: Unpack[Paired],
    ) -> F3[X, Y, Z, P, tuple[tuple[X, Y, Z], Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, Any], argnums: list[Any], **options: Unpack[Chunked]
    ) -> Callable[P, tuple[Any, ...]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, tuple[Any, Aux]], argnums: list[Any], **options: Unpack[Paired]
    ) -> Callable[P, tuple[tuple[Any, ...], Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[..., Any], argnums: Argnums = 0, **options: Unpack[AnyChunked]
    ) -> Any: ...


class Hessian(Protocol):
    """The type of `hessian`: a block of the argument's type; for several, a tuple of rows."""

    __name__: str

    @overload
    def __call__(self, fun: np.ufunc, argnums: Argnums = 0, **options: Unpack[Chunked]) -> Any: ...
    @overload
    def __call__(
        self, fun: F1[X, P, Any], argnums: First = 0, **options: Unpack[Chunked]
    ) -> F1[X, P, X]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, Any], argnums: Second, **options: Unpack[Chunked]
    ) -> F2[X, Y, P, Y]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Any], argnums: Third, **options: Unpack[Chunked]
    ) -> F3[X, Y, Z, P, Z]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, Any], argnums: OnlyFirst, **options: Unpack[Chunked]
    ) -> F1[X, P, tuple[tuple[X]]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, Any], argnums: FirstTwo, **options: Unpack[Chunked]
    ) -> F2[X, Y, P, tuple[tuple[X, Y], tuple[X, Y]]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Any], argnums: FirstThird, **options: Unpack[Chunked]
    ) -> F3[X, Y, Z, P, tuple[tuple[X, Z], tuple[X, Z]]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Any], argnums: FirstThree, **options: Unpack[Chunked]
    ) -> F3[X, Y, Z, P, tuple[tuple[X, Y, Z], tuple[X, Y, Z], tuple[X, Y, Z]]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[Any, Aux]], argnums: First = 0, **options: Unpack[Paired]
    ) -> F1[X, P, tuple[X, Aux]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, tuple[Any, Aux]], argnums: Second, **options: Unpack[Paired]
    ) -> F2[X, Y, P, tuple[Y, Aux]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, tuple[Any, Aux]], argnums: Third, **options: Unpack[Paired]
    ) -> F3[X, Y, Z, P, tuple[Z, Aux]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[Any, Aux]], argnums: OnlyFirst, **options: Unpack[Paired]
    ) -> F1[X, P, tuple[tuple[tuple[X]], Aux]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, tuple[Any, Aux]], argnums: FirstTwo, **options: Unpack[Paired]
    ) -> F2[X, Y, P, tuple[tuple[tuple[X, Y], tuple[X, Y]], Aux]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, tuple[Any, Aux]], argnums: FirstThird, **options: Unpack[Paired]
    ) -> F3[X, Y, Z, P, tuple[tuple[tuple[X, Z], tuple[X, Z]], Aux]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, tuple[Any, Aux]], argnums: FirstThree, **options: Unpack[Paired]
    ) -> F3[X, Y, Z, P, tuple[tuple[tuple[X, Y, Z], tuple[X, Y, Z], tuple[X, Y, Z]], Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, Any], argnums: list[Any], **options: Unpack[Chunked]
    ) -> Callable[P, tuple[tuple[Any, ...], ...]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, tuple[Any, Aux]], argnums: list[Any], **options: Unpack[Paired]
    ) -> Callable[P, tuple[tuple[tuple[Any, ...], ...], Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[..., Any], argnums: Argnums = 0, **options: Unpack[AnyChunked]
    ) -> Any: ...
