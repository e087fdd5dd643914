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
        X1,
        X2,
        AnyChunked,
        Argnums,
        Aux,
        AuxChunked,
        Chunked,
        First,
        FirstThird,
        FirstThree,
        FirstTwo,
        Number,
        OnlyFirst,
        P,
        Second,
        Third,
        X,
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
        self, fun: F2[X, X1, P, X1 | Number], argnums: Second, **options: Unpack[Chunked]
    ) -> F2[X, X1, P, X1]: ...
    @overload
    def __call__(
        self, fun: F3[X, X1, X2, P, X2 | Number], argnums: Third, **options: Unpack[Chunked]
    ) -> F3[X, X1, X2, P, X2]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, X | Number], argnums: OnlyFirst, **options: Unpack[Chunked]
    ) -> F1[X, P, tuple[X]]: ...
    @overload
    def __call__(
        self, fun: F2[X, X1, P, X | X1 | Number], argnums: FirstTwo, **options: Unpack[Chunked]
    ) -> F2[X, X1, P, tuple[X, X1]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, X1, X2, P, X | X2 | Number],
        argnums: FirstThird,
        **options: Unpack[Chunked],
    ) -> F3[X, X1, X2, P, tuple[X, X2]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, X1, X2, P, X | X1 | X2 | Number],
        argnums: FirstThree,
        **options: Unpack[Chunked],
    ) -> F3[X, X1, X2, P, tuple[X, X1, X2]]: ...
    @overload
    def __call__(
        self,
        fun: F1[X, P, tuple[X | Number, Aux]],
        argnums: First = 0,
        **options: Unpack[AuxChunked],
    ) -> F1[X, P, tuple[X, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F2[X, X1, P, tuple[X1 | Number, Aux]],
        argnums: Second,
        **options: Unpack[AuxChunked],
    ) -> F2[X, X1, P, tuple[X1, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, X1, X2, P, tuple[X2 | Number, Aux]],
        argnums: Third,
        **options: Unpack[AuxChunked],
    ) -> F3[X, X1, X2, P, tuple[X2, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F1[X, P, tuple[X | Number, Aux]],
        argnums: OnlyFirst,
        **options: Unpack[AuxChunked],
    ) -> F1[X, P, tuple[tuple[X], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F2[X, X1, P, tuple[X | X1 | Number, Aux]],
        argnums: FirstTwo,
        **options: Unpack[AuxChunked],
    ) -> F2[X, X1, P, tuple[tuple[X, X1], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, X1, X2, P, tuple[X | X2 | Number, Aux]],
        argnums: FirstThird,
        **options: Unpack[AuxChunked],
    ) -> F3[X, X1, X2, P, tuple[tuple[X, X2], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, X1, X2, P, tuple[X | X1 | X2 | Number, Aux]],
        argnums: FirstThree,
        **options: Unpack[AuxChunked],
    ) -> F3[X, X1, X2, P, tuple[tuple[X, X1, X2], Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, Any], argnums: list[Any], **options: Unpack[Chunked]
    ) -> Callable[P, tuple[Any, ...]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, tuple[Any, Aux]], argnums: list[Any], **options: Unpack[AuxChunked]
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
        self, fun: F2[X, X1, P, Any], argnums: Second, **options: Unpack[Chunked]
    ) -> F2[X, X1, P, X1]: ...
    @overload
    def __call__(
        self, fun: F3[X, X1, X2, P, Any], argnums: Third, **options: Unpack[Chunked]
    ) -> F3[X, X1, X2, P, X2]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, Any], argnums: OnlyFirst, **options: Unpack[Chunked]
    ) -> F1[X, P, tuple[tuple[X]]]: ...
    @overload
    def __call__(
        self, fun: F2[X, X1, P, Any], argnums: FirstTwo, **options: Unpack[Chunked]
    ) -> F2[X, X1, P, tuple[tuple[X, X1], tuple[X, X1]]]: ...
    @overload
    def __call__(
        self, fun: F3[X, X1, X2, P, Any], argnums: FirstThird, **options: Unpack[Chunked]
    ) -> F3[X, X1, X2, P, tuple[tuple[X, X2], tuple[X, X2]]]: ...
    @overload
    def __call__(
        self, fun: F3[X, X1, X2, P, Any], argnums: FirstThree, **options: Unpack[Chunked]
    ) -> F3[X, X1, X2, P, tuple[tuple[X, X1, X2], tuple[X, X1, X2], tuple[X, X1, X2]]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[Any, Aux]], argnums: First = 0, **options: Unpack[AuxChunked]
    ) -> F1[X, P, tuple[X, Aux]]: ...
    @overload
    def __call__(
        self, fun: F2[X, X1, P, tuple[Any, Aux]], argnums: Second, **options: Unpack[AuxChunked]
    ) -> F2[X, X1, P, tuple[X1, Aux]]: ...
    @overload
    def __call__(
        self, fun: F3[X, X1, X2, P, tuple[Any, Aux]], argnums: Third, **options: Unpack[AuxChunked]
    ) -> F3[X, X1, X2, P, tuple[X2, Aux]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[Any, Aux]], argnums: OnlyFirst, **options: Unpack[AuxChunked]
    ) -> F1[X, P, tuple[tuple[tuple[X]], Aux]]: ...
    @overload
    def __call__(
        self, fun: F2[X, X1, P, tuple[Any, Aux]], argnums: FirstTwo, **options: Unpack[AuxChunked]
    ) -> F2[X, X1, P, tuple[tuple[tuple[X, X1], tuple[X, X1]], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, X1, X2, P, tuple[Any, Aux]],
        argnums: FirstThird,
        **options: Unpack[AuxChunked],
    ) -> F3[X, X1, X2, P, tuple[tuple[tuple[X, X2], tuple[X, X2]], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, X1, X2, P, tuple[Any, Aux]],
        argnums: FirstThree,
        **options: Unpack[AuxChunked],
    ) -> F3[
        X, X1, X2, P, tuple[tuple[tuple[X, X1, X2], tuple[X, X1, X2], tuple[X, X1, X2]], Aux]
    ]: ...
    @overload
    def __call__(
        self, fun: Callable[P, Any], argnums: list[Any], **options: Unpack[Chunked]
    ) -> Callable[P, tuple[tuple[Any, ...], ...]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, tuple[Any, Aux]], argnums: list[Any], **options: Unpack[AuxChunked]
    ) -> Callable[P, tuple[tuple[tuple[Any, ...], ...], Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[..., Any], argnums: Argnums = 0, **options: Unpack[AnyChunked]
    ) -> Any: ...
