"""The types of `jacrev`, `jacfwd` and `jacobian`, which are the same, and of `hessian`.

`typed_as_jacobian` and `typed_as_hessian` stand above these functions in place of their overloads.
To a type checker they make the function one of the protocols here; at run time they return it as
it is.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    overload,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from gradwrap.transforms.arguments import Argnums

    # What a function of one array may return besides an array
    Number: TypeAlias = float | complex | np.number[Any]

__all__ = ["HessianTransform", "JacobianTransform", "typed_as_hessian", "typed_as_jacobian"]

P = ParamSpec("P")
A = TypeVar("A", bound=Any)
A1 = TypeVar("A1", bound=Any)
A2 = TypeVar("A2", bound=Any)
Aux = TypeVar("Aux")
No: TypeAlias = Literal[False]
Yes: TypeAlias = Literal[True]
First: TypeAlias = Literal[0]
Second: TypeAlias = Literal[1]
Third: TypeAlias = Literal[2]
OnlyFirst: TypeAlias = tuple[Literal[0]]
FirstTwo: TypeAlias = tuple[Literal[0], Literal[1]]


class JacobianTransform(Protocol):
    """Of the type of the argument it is taken for; a tuple of such for several."""

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
        fun: Callable[Concatenate[A, P], A | Number],
        argnums: First = 0,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, P], A]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, A1, P], A1 | Number],
        argnums: Second,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, A1, P], A1]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, A1, A2, P], A2 | Number],
        argnums: Third,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, A1, A2, P], A2]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, P], A | Number],
        argnums: OnlyFirst,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, P], tuple[A]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, A1, P], A | A1 | Number],
        argnums: FirstTwo,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, A1, P], tuple[A, A1]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, P], tuple[A | Number, Aux]],
        argnums: First = 0,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, P], tuple[A, Aux]]: ...
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


class HessianTransform(Protocol):
    """Likewise; for several arguments a row of blocks for each."""

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
        fun: Callable[Concatenate[A, P], Any],
        argnums: First = 0,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, P], A]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, A1, P], Any],
        argnums: Second,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, A1, P], A1]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, A1, A2, P], Any],
        argnums: Third,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, A1, A2, P], A2]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, P], Any],
        argnums: OnlyFirst,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, P], tuple[tuple[A]]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, A1, P], Any],
        argnums: FirstTwo,
        *,
        has_aux: No = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, A1, P], tuple[tuple[A, A1], tuple[A, A1]]]: ...
    @overload
    def __call__(
        self,
        fun: Callable[Concatenate[A, P], tuple[Any, Aux]],
        argnums: First = 0,
        *,
        has_aux: Yes,
        holomorphic: bool = False,
        chunk_size: int | None = None,
    ) -> Callable[Concatenate[A, P], tuple[A, Aux]]: ...
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


def typed_as_jacobian(transform: Callable[..., Any]) -> JacobianTransform:
    """The function itself, typed as a `JacobianTransform`."""
    typed: Any = transform
    return typed  # type: ignore[no-any-return]  # a function with these parameters


def typed_as_hessian(transform: Callable[..., Any]) -> HessianTransform:
    """The function itself, typed as a `HessianTransform`."""
    typed: Any = transform
    return typed  # type: ignore[no-any-return]  # a function with these parameters
