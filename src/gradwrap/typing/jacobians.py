"""The types of `jacrev`, `jacfwd` and `jacobian`, which are the same, and of `hessian`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from gradwrap.typing.signatures import (
        X1,
        X2,
        Argnums,
        Aux,
        First,
        FirstAndThird,
        FirstThree,
        FirstTwo,
        No,
        Number,
        Of1,
        Of2,
        Of3,
        OnlyFirst,
        P,
        Second,
        Third,
        X,
        Yes,
    )

__all__ = ["Hessian", "Jacobian"]


class Jacobian(Protocol):
    """The type of `jacobian`: a block of the argument's type; a tuple of them for several."""

    __name__: str

    @overload
    def __call__(
        self,
        fun: np.ufunc,
        argnums: Argnums = 0,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        fun: Of1[X, P, X | Number],
        argnums: First = 0,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of1[X, P, X]: ...
    @overload
    def __call__(
        self,
        fun: Of2[X, X1, P, X1 | Number],
        argnums: Second,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of2[X, X1, P, X1]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, X2 | Number],
        argnums: Third,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, X2]: ...
    @overload
    def __call__(
        self,
        fun: Of1[X, P, X | Number],
        argnums: OnlyFirst,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of1[X, P, tuple[X]]: ...
    @overload
    def __call__(
        self,
        fun: Of2[X, X1, P, X | X1 | Number],
        argnums: FirstTwo,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of2[X, X1, P, tuple[X, X1]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, X | X2 | Number],
        argnums: FirstAndThird,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[X, X2]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, X | X1 | X2 | Number],
        argnums: FirstThree,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[X, X1, X2]]: ...
    @overload
    def __call__(
        self,
        fun: Of1[X, P, tuple[X | Number, Aux]],
        argnums: First = 0,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of1[X, P, tuple[X, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of2[X, X1, P, tuple[X1 | Number, Aux]],
        argnums: Second,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of2[X, X1, P, tuple[X1, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, tuple[X2 | Number, Aux]],
        argnums: Third,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[X2, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of1[X, P, tuple[X | Number, Aux]],
        argnums: OnlyFirst,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of1[X, P, tuple[tuple[X], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of2[X, X1, P, tuple[X | X1 | Number, Aux]],
        argnums: FirstTwo,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of2[X, X1, P, tuple[tuple[X, X1], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, tuple[X | X2 | Number, Aux]],
        argnums: FirstAndThird,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[tuple[X, X2], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, tuple[X | X1 | X2 | Number, Aux]],
        argnums: FirstThree,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[tuple[X, X1, X2], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, Any],
        argnums: list[Any],
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[P, tuple[Any, ...]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, tuple[Any, Aux]],
        argnums: list[Any],
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[P, tuple[tuple[Any, ...], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[..., Any],
        argnums: Argnums = 0,
        *,
        has_aux: bool = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Any: ...


class Hessian(Protocol):
    """The type of `hessian`: a block of the argument's type; for several, a tuple of rows."""

    __name__: str

    @overload
    def __call__(
        self,
        fun: np.ufunc,
        argnums: Argnums = 0,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        fun: Of1[X, P, Any],
        argnums: First = 0,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of1[X, P, X]: ...
    @overload
    def __call__(
        self,
        fun: Of2[X, X1, P, Any],
        argnums: Second,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of2[X, X1, P, X1]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, Any],
        argnums: Third,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, X2]: ...
    @overload
    def __call__(
        self,
        fun: Of1[X, P, Any],
        argnums: OnlyFirst,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of1[X, P, tuple[tuple[X]]]: ...
    @overload
    def __call__(
        self,
        fun: Of2[X, X1, P, Any],
        argnums: FirstTwo,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of2[X, X1, P, tuple[tuple[X, X1], tuple[X, X1]]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, Any],
        argnums: FirstAndThird,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[tuple[X, X2], tuple[X, X2]]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, Any],
        argnums: FirstThree,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[tuple[X, X1, X2], tuple[X, X1, X2], tuple[X, X1, X2]]]: ...
    @overload
    def __call__(
        self,
        fun: Of1[X, P, tuple[Any, Aux]],
        argnums: First = 0,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of1[X, P, tuple[X, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of2[X, X1, P, tuple[Any, Aux]],
        argnums: Second,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of2[X, X1, P, tuple[X1, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, tuple[Any, Aux]],
        argnums: Third,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[X2, Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of1[X, P, tuple[Any, Aux]],
        argnums: OnlyFirst,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of1[X, P, tuple[tuple[tuple[X]], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of2[X, X1, P, tuple[Any, Aux]],
        argnums: FirstTwo,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of2[X, X1, P, tuple[tuple[tuple[X, X1], tuple[X, X1]], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, tuple[Any, Aux]],
        argnums: FirstAndThird,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[X, X1, X2, P, tuple[tuple[tuple[X, X2], tuple[X, X2]], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Of3[X, X1, X2, P, tuple[Any, Aux]],
        argnums: FirstThree,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Of3[
        X, X1, X2, P, tuple[tuple[tuple[X, X1, X2], tuple[X, X1, X2], tuple[X, X1, X2]], Aux]
    ]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, Any],
        argnums: list[Any],
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[P, tuple[tuple[Any, ...], ...]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, tuple[Any, Aux]],
        argnums: list[Any],
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[P, tuple[tuple[tuple[Any, ...], ...], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[..., Any],
        argnums: Argnums = 0,
        *,
        has_aux: bool = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Any: ...
