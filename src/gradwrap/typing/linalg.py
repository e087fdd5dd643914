"""The standard's extension `linalg`."""

from __future__ import annotations

from typing import Generic, Literal, NamedTuple, Protocol

from gradwrap.typing.arguments import Axes, DType, In_contra, Other_co, Out_co


class Eig(NamedTuple, Generic[Other_co]):
    """The eigenvalues and eigenvectors that `linalg.eig` returns."""

    eigenvalues: Other_co
    eigenvectors: Other_co


class Eigh(NamedTuple, Generic[Out_co]):
    """The eigenvalues and eigenvectors that `linalg.eigh` returns."""

    eigenvalues: Out_co
    eigenvectors: Out_co


class QR(NamedTuple, Generic[Out_co]):
    """The factors that `linalg.qr` returns."""

    Q: Out_co
    R: Out_co


class SlogDet(NamedTuple, Generic[Out_co]):
    """The result of `linalg.slogdet`."""

    sign: Out_co
    logabsdet: Out_co


class SVD(NamedTuple, Generic[Out_co]):
    """The result of `linalg.svd`."""

    U: Out_co
    S: Out_co
    Vh: Out_co


class LinalgFunctions(Protocol[In_contra, Out_co, Other_co]):
    """Decompositions, solutions, norms."""

    def cholesky(self, x: In_contra, /, *, upper: bool = False) -> Out_co:
        """The Cholesky factor of Hermitian positive definite matrices."""

    def cross(self, x1: In_contra, x2: In_contra, /, *, axis: int = -1) -> Out_co:
        """The cross product of vectors of three elements."""

    def det(self, x: In_contra, /) -> Out_co:
        """The determinant."""

    def diagonal(self, x: In_contra, /, *, offset: int = 0) -> Out_co:
        """The diagonal of each matrix."""

    def eig(self, x: In_contra, /) -> Eig[Other_co]:
        """The eigenvalues and eigenvectors, complex."""

    def eigh(self, x: In_contra, /) -> Eigh[Out_co]:
        """The eigenvalues and eigenvectors of Hermitian matrices."""

    def eigvals(self, x: In_contra, /) -> Other_co:
        """The eigenvalues, complex."""

    def eigvalsh(self, x: In_contra, /) -> Out_co:
        """The eigenvalues of Hermitian matrices."""

    def inv(self, x: In_contra, /) -> Out_co:
        """The inverse."""

    def matrix_norm(
        self,
        x: In_contra,
        /,
        *,
        keepdims: bool = False,
        ord: float | Literal["fro", "nuc"] | None = "fro",
    ) -> Out_co:
        """A norm of each matrix; its derivative at 0 is 0."""

    def matrix_power(self, x: In_contra, n: int, /) -> Out_co:
        """The matrix multiplied by itself `n` times, or its inverse."""

    def matrix_rank(self, x: In_contra, /, *, rtol: In_contra | float | None = None) -> Other_co:
        """The number of singular values that count."""

    def outer(self, x1: In_contra, x2: In_contra, /) -> Out_co:
        """The products of each element with each."""

    def pinv(self, x: In_contra, /, *, rtol: In_contra | float | None = None) -> Out_co:
        """The pseudo-inverse."""

    def qr(
        self, x: In_contra, /, *, mode: Literal["reduced", "complete"] = "reduced"
    ) -> QR[Out_co]:
        """An orthogonal and an upper triangular factor."""

    def slogdet(self, x: In_contra, /) -> SlogDet[Out_co]:
        """The sign of the determinant, and the logarithm of its size."""

    def solve(self, x1: In_contra, x2: In_contra, /) -> Out_co:
        """The solution of `x1 @ x = x2`."""

    def svd(self, x: In_contra, /, *, full_matrices: bool = True) -> SVD[Out_co]:
        """The singular value decomposition."""

    def svdvals(self, x: In_contra, /) -> Out_co:
        """The singular values."""

    def trace(self, x: In_contra, /, *, offset: int = 0, dtype: DType = None) -> Out_co:
        """The sum of the diagonal of each matrix."""

    def vector_norm(
        self, x: In_contra, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2
    ) -> Out_co:
        """A norm of vectors; its derivative at 0 is 0."""
