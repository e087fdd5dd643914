from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from cupy._core.core import _ArrayLike, _DType, ndarray
from cupy.random._bit_generator import BitGenerator
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_Size: TypeAlias = int | Sequence[int] | None

class Generator:
    def __init__(self, bit_generator: BitGenerator) -> None: ...
    @overload
    def beta(
        self, a: _ArrayLike, b: _ArrayLike, size: _Size = None, dtype: type[np.float64] = ...
    ) -> NDArray[np.float64]: ...
    @overload
    def beta(
        self, a: _ArrayLike, b: _ArrayLike, size: _Size = None, *, dtype: _DType[_ScalarT]
    ) -> NDArray[_ScalarT]: ...
    @overload
    def beta(
        self, a: _ArrayLike, b: _ArrayLike, size: _Size = None, dtype: DTypeLike | None = ...
    ) -> NDArray[Any]: ...
    def binomial(self, n: _ArrayLike, p: _ArrayLike, size: _Size = None) -> NDArray[Any]: ...
    def chisquare(self, df: _ArrayLike, size: _Size = None) -> NDArray[np.float64]: ...
    def dirichlet(self, alpha: _ArrayLike, size: _Size = None) -> NDArray[np.float64]: ...
    def exponential(self, scale: _ArrayLike = 1.0, size: _Size = None) -> NDArray[np.float64]: ...
    def f(
        self, dfnum: _ArrayLike, dfden: _ArrayLike, size: _Size = None
    ) -> NDArray[np.float64]: ...
    def gamma(
        self, shape: _ArrayLike, scale: _ArrayLike = 1.0, size: _Size = None
    ) -> NDArray[np.float64]: ...
    def geometric(self, p: _ArrayLike, size: _Size = None) -> NDArray[Any]: ...
    def hypergeometric(
        self, ngood: _ArrayLike, nbad: _ArrayLike, nsample: _ArrayLike, size: _Size = None
    ) -> NDArray[Any]: ...
    def integers(
        self,
        low: _ArrayLike,
        high: _ArrayLike | None = None,
        size: _Size = None,
        dtype: DTypeLike | None = ...,
        endpoint: bool = False,
    ) -> NDArray[Any]: ...
    def logseries(self, p: _ArrayLike, size: _Size = None) -> NDArray[Any]: ...
    def poisson(self, lam: _ArrayLike = 1.0, size: _Size = None) -> NDArray[Any]: ...
    def power(self, a: _ArrayLike, size: _Size = None) -> NDArray[np.float64]: ...
    @overload
    def random(
        self, size: _Size = None, dtype: type[np.float64] = ..., out: None = None
    ) -> NDArray[np.float64]: ...
    @overload
    def random(
        self, size: _Size = None, *, dtype: _DType[_ScalarT], out: ndarray | None = None
    ) -> NDArray[_ScalarT]: ...
    @overload
    def random(
        self, size: _Size = None, dtype: DTypeLike | None = ..., out: ndarray | None = None
    ) -> NDArray[Any]: ...
    @overload
    def standard_exponential(
        self,
        size: _Size = None,
        dtype: type[np.float64] = ...,
        method: str = "inv",
        out: None = None,
    ) -> NDArray[np.float64]: ...
    @overload
    def standard_exponential(
        self,
        size: _Size = None,
        *,
        dtype: _DType[_ScalarT],
        method: str = "inv",
        out: ndarray | None = None,
    ) -> NDArray[_ScalarT]: ...
    @overload
    def standard_exponential(
        self,
        size: _Size = None,
        dtype: DTypeLike | None = ...,
        method: str = "inv",
        out: ndarray | None = None,
    ) -> NDArray[Any]: ...
    @overload
    def standard_gamma(
        self, shape: _ArrayLike, size: _Size = None, dtype: type[np.float64] = ..., out: None = None
    ) -> NDArray[np.float64]: ...
    @overload
    def standard_gamma(
        self,
        shape: _ArrayLike,
        size: _Size = None,
        *,
        dtype: _DType[_ScalarT],
        out: ndarray | None = None,
    ) -> NDArray[_ScalarT]: ...
    @overload
    def standard_gamma(
        self,
        shape: _ArrayLike,
        size: _Size = None,
        dtype: DTypeLike | None = ...,
        out: ndarray | None = None,
    ) -> NDArray[Any]: ...
    @overload
    def standard_normal(
        self, size: _Size = None, dtype: type[np.float64] = ..., out: None = None
    ) -> NDArray[np.float64]: ...
    @overload
    def standard_normal(
        self, size: _Size = None, *, dtype: _DType[_ScalarT], out: ndarray | None = None
    ) -> NDArray[_ScalarT]: ...
    @overload
    def standard_normal(
        self, size: _Size = None, dtype: DTypeLike | None = ..., out: ndarray | None = None
    ) -> NDArray[Any]: ...
    @overload
    def uniform(
        self,
        low: _ArrayLike = 0.0,
        high: _ArrayLike | None = 1.0,
        size: _Size = None,
        dtype: type[np.float64] = ...,
    ) -> NDArray[np.float64]: ...
    @overload
    def uniform(
        self,
        low: _ArrayLike = 0.0,
        high: _ArrayLike | None = 1.0,
        size: _Size = None,
        *,
        dtype: _DType[_ScalarT],
    ) -> NDArray[_ScalarT]: ...
    @overload
    def uniform(
        self,
        low: _ArrayLike = 0.0,
        high: _ArrayLike | None = 1.0,
        size: _Size = None,
        dtype: DTypeLike | None = ...,
    ) -> NDArray[Any]: ...
