# Ufuncs and kernels. At run time all ufuncs are of one class; here there is a subclass for each way
# in which the dtype of the result follows from the argument's, as in NumPy's own stubs.
from typing import Any, TypeVar, overload, type_check_only

import numpy as np
from cupy._core.core import (
    _F4,
    _F8,
    _I8,
    _ArrayLike,
    _Bool,
    _UpToF4,
    _UpToF8,
    _UpToI8,
    ndarray as ndarray,
)
from cupy._core.raw import RawKernel as RawKernel, RawModule as RawModule
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ArrayT = TypeVar("_ArrayT", bound=ndarray)
_ShapeT = TypeVar("_ShapeT", bound=tuple[int, ...])
_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])
_NumberT = TypeVar("_NumberT", bound=np.number[Any])

class ufunc:
    @property
    def name(self) -> str: ...
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def types(self) -> list[str]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def at(self, a: ndarray, indices: Any, b: _ArrayLike | None = None) -> None: ...
    def outer(self, A: _ArrayLike, B: _ArrayLike, **kwargs: Any) -> Any: ...
    def reduce(
        self,
        array: ndarray,
        axis: int | tuple[int, ...] | None = 0,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        keepdims: bool = False,
    ) -> NDArray[Any]: ...
    def accumulate(
        self,
        array: ndarray,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
    ) -> NDArray[Any]: ...
    def reduceat(
        self,
        array: ndarray,
        indices: ndarray,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
    ) -> NDArray[Any]: ...

@type_check_only
class _Keeping(ufunc):  # negative, floor, conj: the dtype stays
    @overload
    def __call__(self, x: _ArrayT, /, *, casting: str = ...) -> _ArrayT: ...
    @overload
    def __call__(
        self, x: _ArrayLike, out: ndarray | None = None, /, **kwargs: Any
    ) -> NDArray[Any]: ...

@type_check_only
class _Absolute(ufunc):
    @overload
    def __call__(self, x: NDArray[np.complex64], /) -> NDArray[np.float32]: ...
    @overload
    def __call__(self, x: NDArray[np.complex128], /) -> NDArray[np.float64]: ...
    @overload
    def __call__(self, x: _ArrayT, /) -> _ArrayT: ...
    @overload
    def __call__(
        self, x: _ArrayLike, out: ndarray | None = None, /, **kwargs: Any
    ) -> NDArray[Any]: ...

@type_check_only
class _Smooth(ufunc):  # sin, exp, sqrt: of integers, floating
    @overload
    def __call__(
        self, x: ndarray[_ShapeT, np.dtype[_InexactT]], /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __call__(self, x: NDArray[np.int32 | np.int64] | float, /) -> NDArray[np.float64]: ...
    @overload
    def __call__(
        self, x: _ArrayLike, out: ndarray | None = None, /, **kwargs: Any
    ) -> NDArray[Any]: ...

@type_check_only
class _Predicate(ufunc):  # isnan, logical_not, less: the result is bool
    @overload
    def __call__(self, x: ndarray[_ShapeT, Any], /) -> ndarray[_ShapeT, np.dtype[np.bool_]]: ...
    @overload
    def __call__(
        self, x1: _ArrayLike, x2: _ArrayLike = ..., /, *args: Any, **kwargs: Any
    ) -> _Bool: ...

@type_check_only
class _Smooth2(ufunc):  # true_divide, hypot, logaddexp
    @overload
    def __call__(self, x1: _F8, x2: _UpToF8 | float, /) -> _F8: ...
    @overload
    def __call__(self, x1: _UpToF8 | float, x2: _F8, /) -> _F8: ...
    @overload
    def __call__(self, x1: _F4, x2: _UpToF4 | float, /) -> _F4: ...
    @overload
    def __call__(self, x1: _UpToF4 | float, x2: _F4, /) -> _F4: ...
    @overload
    def __call__(
        self, x1: _ArrayLike, x2: _ArrayLike, out: ndarray | None = None, /, **kwargs: Any
    ) -> NDArray[Any]: ...

@type_check_only
class _Arithmetic(ufunc):  # add, multiply, maximum: of integers, integers
    @overload
    def __call__(self, x1: _F8, x2: _UpToF8 | float, /) -> _F8: ...
    @overload
    def __call__(self, x1: _UpToF8 | float, x2: _F8, /) -> _F8: ...
    @overload
    def __call__(self, x1: _F4, x2: _UpToF4 | float, /) -> _F4: ...
    @overload
    def __call__(self, x1: _UpToF4 | float, x2: _F4, /) -> _F4: ...
    @overload
    def __call__(self, x1: _I8, x2: _UpToI8 | int, /) -> _I8: ...
    @overload
    def __call__(self, x1: _UpToI8 | int, x2: _I8, /) -> _I8: ...
    @overload
    def __call__(
        self, x1: _ArrayLike, x2: _ArrayLike, out: ndarray | None = None, /, **kwargs: Any
    ) -> NDArray[Any]: ...

@type_check_only
class _Pair(ufunc):  # modf, divmod
    def __call__(self, *args: Any, **kwargs: Any) -> tuple[NDArray[Any], NDArray[Any]]: ...

@type_check_only
class _Matmul(ufunc):
    @overload
    def __call__(self, x1: _F8, x2: _UpToF8, /) -> _F8: ...
    @overload
    def __call__(self, x1: _F4, x2: _UpToF4, /) -> _F4: ...
    @overload
    def __call__(self, x1: NDArray[_NumberT], x2: NDArray[_NumberT], /) -> NDArray[_NumberT]: ...
    @overload
    def __call__(self, x1: ndarray, x2: ndarray, /, *args: Any, **kwargs: Any) -> NDArray[Any]: ...

class ElementwiseKernel:
    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        **kwargs: Any,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def in_params(self) -> tuple[Any, ...]: ...
    @property
    def out_params(self) -> tuple[Any, ...]: ...
    @property
    def params(self) -> tuple[Any, ...]: ...
    @property
    def operation(self) -> str: ...
    @property
    def preamble(self) -> str: ...
    @property
    def reduce_dims(self) -> bool: ...
    @property
    def no_return(self) -> bool: ...
    @property
    def return_tuple(self) -> bool: ...
    @property
    def kwargs(self) -> dict[str, Any]: ...
    @property
    def cached_code(self) -> str: ...
    @property
    def cached_codes(self) -> dict[Any, str]: ...
    # One array, or a tuple of them, as `out_params` says; an array the usual case.
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class ReductionKernel:
    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: object,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def cached_code(self) -> str: ...
    @property
    def cached_codes(self) -> dict[Any, str]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> NDArray[Any]: ...
