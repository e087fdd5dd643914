"""The types of the sparse arrays and linear operators that gradwrap makes: SciPy ships none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import Self, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    SparsityPattern: TypeAlias = Any
    """A matrix of NumPy's, or of `scipy.sparse`; nested lists."""


class SparseArray(Protocol):
    """The type of a sparse Jacobian, a `scipy.sparse.csr_array`."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the entries."""
        ...

    @property
    def nnz(self) -> int:
        """The number of entries."""
        ...

    @property
    def data(self) -> NDArray[Any]:
        """The entries, row by row."""
        ...

    @property
    def indices(self) -> NDArray[Any]:
        """The columns of the entries."""
        ...

    @property
    def indptr(self) -> NDArray[Any]:
        """Where each row begins among the entries."""
        ...

    @property
    def T(self) -> Any:  # noqa: N802  SciPy's name
        """The transpose."""
        ...

    def toarray(self) -> NDArray[Any]:
        """Return the matrix as a dense array."""
        ...

    def __matmul__(self, other: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any: ...


class LinearOperator(Protocol):
    """The type of `gw.linear_operator`, a `scipy.sparse.linalg.LinearOperator`."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the products."""
        ...

    @property
    def T(self) -> Self:  # noqa: N802  SciPy's name
        """The transpose."""
        ...

    @property
    def H(self) -> Self:  # noqa: N802  SciPy's name
        """The adjoint."""
        ...

    def matvec(self, x: Any) -> NDArray[Any]:
        """Return the product with a vector."""
        ...

    def rmatvec(self, x: Any) -> NDArray[Any]:
        """Return the product of the adjoint with a vector."""
        ...

    def matmat(self, X: Any) -> NDArray[Any]:
        """Return the product with a matrix."""
        ...

    def rmatmat(self, X: Any) -> NDArray[Any]:
        """Return the product of the adjoint with a matrix."""
        ...

    def __matmul__(self, other: Any) -> Any: ...
