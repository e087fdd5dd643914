"""The types of the gradients, of the Jacobians (`jacrev`, `jacfwd`, `jacobian`), and of `hessian`.

They keep the types of the user's function: the gradient of an argument has the type of the
argument, and the other parameters stay as they are. A list of positions keeps the parameters
alone; positions beyond the third, other tuples than are written out below, and names give `Any`.
"""

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
        ChunkSize,
        First,
        FirstThird,
        FirstThree,
        FirstTwo,
        No,
        Number,
        OnlyFirst,
        Options,
        P,
        Paired,
        S,
        Scalar,
        Second,
        Third,
        WithAux,
        X,
        Y,
        Yes,
        Z,
    )
    from gradwrap.typing.sparse import SparseArray, SparsityPattern


class Grad(Protocol):
    """The type of `grad`."""

    __name__: str

    @overload
    def __call__(self, fun: np.ufunc, argnums: Argnums = 0, **options: Unpack[Options]) -> Any: ...
    @overload
    def __call__(
        self, fun: F1[X, P, Scalar], argnums: First = 0, **options: Unpack[Options]
    ) -> F1[X, P, X]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, Scalar], argnums: Second, **options: Unpack[Options]
    ) -> F2[X, Y, P, Y]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Scalar], argnums: Third, **options: Unpack[Options]
    ) -> F3[X, Y, Z, P, Z]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, Scalar], argnums: OnlyFirst, **options: Unpack[Options]
    ) -> F1[X, P, tuple[X]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, Scalar], argnums: FirstTwo, **options: Unpack[Options]
    ) -> F2[X, Y, P, tuple[X, Y]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Scalar], argnums: FirstThird, **options: Unpack[Options]
    ) -> F3[X, Y, Z, P, tuple[X, Z]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Scalar], argnums: FirstThree, **options: Unpack[Options]
    ) -> F3[X, Y, Z, P, tuple[X, Y, Z]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, Scalar], argnums: list[Any], **options: Unpack[Options]
    ) -> Callable[P, tuple[Any, ...]]: ...
    @overload
    def __call__(
        self, fun: Callable[..., Scalar], argnums: Argnums, **options: Unpack[Options]
    ) -> Any: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[Scalar, Aux]], argnums: First = 0, **options: Unpack[WithAux]
    ) -> F1[X, P, tuple[X, Aux]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, tuple[Scalar, Aux]], argnums: Second, **options: Unpack[WithAux]
    ) -> F2[X, Y, P, tuple[Y, Aux]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, tuple[Scalar, Aux]], argnums: Third, **options: Unpack[WithAux]
    ) -> F3[X, Y, Z, P, tuple[Z, Aux]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[Scalar, Aux]], argnums: OnlyFirst, **options: Unpack[WithAux]
    ) -> F1[X, P, tuple[tuple[X], Aux]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, tuple[Scalar, Aux]], argnums: FirstTwo, **options: Unpack[WithAux]
    ) -> F2[X, Y, P, tuple[tuple[X, Y], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, Y, Z, P, tuple[Scalar, Aux]],
        argnums: FirstThird,
        **options: Unpack[WithAux],
    ) -> F3[X, Y, Z, P, tuple[tuple[X, Z], Aux]]: ...
    @overload
    def __call__(
        self,
        fun: F3[X, Y, Z, P, tuple[Scalar, Aux]],
        argnums: FirstThree,
        **options: Unpack[WithAux],
    ) -> F3[X, Y, Z, P, tuple[tuple[X, Y, Z], Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, tuple[Scalar, Aux]], argnums: list[Any], **options: Unpack[WithAux]
    ) -> Callable[P, tuple[tuple[Any, ...], Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[..., tuple[Scalar, Aux]], argnums: Argnums, **options: Unpack[WithAux]
    ) -> Any: ...


class ValueAndGrad(Protocol):
    """The type of `value_and_grad`."""

    __name__: str

    @overload
    def __call__(self, fun: np.ufunc, argnums: Argnums = 0, **options: Unpack[Options]) -> Any: ...
    @overload
    def __call__(
        self, fun: F1[X, P, S], argnums: First = 0, **options: Unpack[Options]
    ) -> F1[X, P, tuple[S, X]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, S], argnums: Second, **options: Unpack[Options]
    ) -> F2[X, Y, P, tuple[S, Y]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, S], argnums: Third, **options: Unpack[Options]
    ) -> F3[X, Y, Z, P, tuple[S, Z]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, S], argnums: OnlyFirst, **options: Unpack[Options]
    ) -> F1[X, P, tuple[S, tuple[X]]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, S], argnums: FirstTwo, **options: Unpack[Options]
    ) -> F2[X, Y, P, tuple[S, tuple[X, Y]]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, S], argnums: FirstThird, **options: Unpack[Options]
    ) -> F3[X, Y, Z, P, tuple[S, tuple[X, Z]]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, S], argnums: FirstThree, **options: Unpack[Options]
    ) -> F3[X, Y, Z, P, tuple[S, tuple[X, Y, Z]]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, S], argnums: list[Any], **options: Unpack[Options]
    ) -> Callable[P, tuple[S, tuple[Any, ...]]]: ...
    @overload
    def __call__(
        self, fun: Callable[..., S], argnums: Argnums, **options: Unpack[Options]
    ) -> Any: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[S, Aux]], argnums: First = 0, **options: Unpack[WithAux]
    ) -> F1[X, P, tuple[tuple[S, Aux], X]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, tuple[S, Aux]], argnums: Second, **options: Unpack[WithAux]
    ) -> F2[X, Y, P, tuple[tuple[S, Aux], Y]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, tuple[S, Aux]], argnums: Third, **options: Unpack[WithAux]
    ) -> F3[X, Y, Z, P, tuple[tuple[S, Aux], Z]]: ...
    @overload
    def __call__(
        self, fun: F1[X, P, tuple[S, Aux]], argnums: OnlyFirst, **options: Unpack[WithAux]
    ) -> F1[X, P, tuple[tuple[S, Aux], tuple[X]]]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, tuple[S, Aux]], argnums: FirstTwo, **options: Unpack[WithAux]
    ) -> F2[X, Y, P, tuple[tuple[S, Aux], tuple[X, Y]]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, tuple[S, Aux]], argnums: FirstThird, **options: Unpack[WithAux]
    ) -> F3[X, Y, Z, P, tuple[tuple[S, Aux], tuple[X, Z]]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, tuple[S, Aux]], argnums: FirstThree, **options: Unpack[WithAux]
    ) -> F3[X, Y, Z, P, tuple[tuple[S, Aux], tuple[X, Y, Z]]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, tuple[S, Aux]], argnums: list[Any], **options: Unpack[WithAux]
    ) -> Callable[P, tuple[tuple[S, Aux], tuple[Any, ...]]]: ...
    @overload
    def __call__(
        self, fun: Callable[..., tuple[S, Aux]], argnums: Argnums, **options: Unpack[WithAux]
    ) -> Any: ...


class ElementwiseGrad(Protocol):
    """The type of `elementwise_grad`."""

    __name__: str

    @overload
    def __call__(self, fun: np.ufunc, argnums: Argnums = 0) -> Any: ...
    @overload
    def __call__(self, fun: F1[X, P, Any], argnums: First = 0) -> F1[X, P, X]: ...
    @overload
    def __call__(self, fun: F2[X, Y, P, Any], argnums: Second) -> F2[X, Y, P, Y]: ...
    @overload
    def __call__(self, fun: F3[X, Y, Z, P, Any], argnums: Third) -> F3[X, Y, Z, P, Z]: ...
    @overload
    def __call__(self, fun: F1[X, P, Any], argnums: OnlyFirst) -> F1[X, P, tuple[X]]: ...
    @overload
    def __call__(self, fun: F2[X, Y, P, Any], argnums: FirstTwo) -> F2[X, Y, P, tuple[X, Y]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Any], argnums: FirstThird
    ) -> F3[X, Y, Z, P, tuple[X, Z]]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Any], argnums: FirstThree
    ) -> F3[X, Y, Z, P, tuple[X, Y, Z]]: ...
    @overload
    def __call__(
        self, fun: Callable[P, Any], argnums: list[Any]
    ) -> Callable[P, tuple[Any, ...]]: ...
    @overload
    def __call__(self, fun: Callable[..., Any], argnums: Argnums) -> Any: ...


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
        self,
        fun: Callable[P, Any],
        argnums: int | str = 0,
        *,
        sparsity: SparsityPattern,
        has_aux: No = False,
        chunk_size: ChunkSize = None,
        progress: bool = False,
    ) -> Callable[P, SparseArray]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, tuple[Any, Aux]],
        argnums: int | str = 0,
        *,
        sparsity: SparsityPattern,
        has_aux: Yes,
        chunk_size: ChunkSize = None,
        progress: bool = False,
    ) -> Callable[P, tuple[SparseArray, Aux]]: ...
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
        self,
        fun: Callable[P, Any],
        argnums: int | str = 0,
        *,
        sparsity: SparsityPattern,
        has_aux: No = False,
        chunk_size: ChunkSize = None,
        progress: bool = False,
    ) -> Callable[P, SparseArray]: ...
    @overload
    def __call__(
        self,
        fun: Callable[P, tuple[Any, Aux]],
        argnums: int | str = 0,
        *,
        sparsity: SparsityPattern,
        has_aux: Yes,
        chunk_size: ChunkSize = None,
        progress: bool = False,
    ) -> Callable[P, tuple[SparseArray, Aux]]: ...
    @overload
    def __call__(
        self, fun: Callable[..., Any], argnums: Argnums = 0, **options: Unpack[AnyChunked]
    ) -> Any: ...


class HessianDiagonal(Protocol):
    """The type of `hessian_diagonal`: that of the argument."""

    __name__: str

    @overload
    def __call__(
        self, fun: F1[X, P, Scalar], argnums: First = 0, *, chunk_size: ChunkSize = None
    ) -> F1[X, P, X]: ...
    @overload
    def __call__(
        self, fun: F2[X, Y, P, Scalar], argnums: Second, *, chunk_size: ChunkSize = None
    ) -> F2[X, Y, P, Y]: ...
    @overload
    def __call__(
        self, fun: F3[X, Y, Z, P, Scalar], argnums: Third, *, chunk_size: ChunkSize = None
    ) -> F3[X, Y, Z, P, Z]: ...
    @overload
    def __call__(
        self, fun: Callable[..., Scalar], argnums: int | str, *, chunk_size: ChunkSize = None
    ) -> Any: ...
