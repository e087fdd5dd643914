# The array. Its type has a shape and a dtype, as NumPy's has; an operation keeps what it can, and
# says `Any` where CuPy's promotion of dtypes would take a table. It has no `__array__` here: CuPy
# refuses the implicit copy to the host.
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Generic, Literal, Self, SupportsIndex, TypeAlias, overload

import numpy as np
from cupy.cuda.device import Device
from cupy.cuda.memory import MemoryPointer
from cupy.cuda.stream import Stream
from numpy.typing import DTypeLike
from typing_extensions import TypeVar

_ShapeT_co = TypeVar("_ShapeT_co", bound=tuple[int, ...], default=tuple[Any, ...], covariant=True)
_DTypeT_co = TypeVar("_DTypeT_co", bound=np.dtype[Any], default=np.dtype[Any], covariant=True)
_ShapeT = TypeVar("_ShapeT", bound=tuple[int, ...])
_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_NumberT = TypeVar("_NumberT", bound=np.number[Any])
_IntegerT = TypeVar("_IntegerT", bound=np.integer[Any])
_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])
_FloatingT = TypeVar("_FloatingT", bound=np.floating[Any])
_ComplexT = TypeVar("_ComplexT", bound=np.complexfloating[Any, Any])

_NDArray: TypeAlias = ndarray[tuple[Any, ...], np.dtype[_ScalarT]]
_DType: TypeAlias = type[_ScalarT] | np.dtype[_ScalarT]
_Scalar: TypeAlias = complex | np.number[Any] | np.bool_
_ArrayLike: TypeAlias = ndarray | _Scalar
_Axes: TypeAlias = int | tuple[int, ...] | None
_Key: TypeAlias = (
    EllipsisType
    | slice
    | SupportsIndex
    | ndarray
    | np.ndarray[Any, Any]
    | Sequence[Any]
    | tuple[Any, ...]
    | None
)

# Each dtype, and what does not widen it
_F4: TypeAlias = _NDArray[np.float32]
_F8: TypeAlias = _NDArray[np.float64]
_C8: TypeAlias = _NDArray[np.complex64]
_C16: TypeAlias = _NDArray[np.complex128]
_I8: TypeAlias = _NDArray[np.int64]
_Bool: TypeAlias = _NDArray[np.bool_]
_Small: TypeAlias = np.bool_ | np.int8 | np.int16 | np.uint8 | np.uint16 | np.float16
_UpToF4: TypeAlias = _NDArray[_Small | np.float32]
_UpToF8: TypeAlias = _NDArray[np.floating[Any] | np.integer[Any] | np.bool_]
_UpToC8: TypeAlias = _NDArray[_Small | np.float32 | np.complex64]
_UpToC16: TypeAlias = _NDArray[np.number[Any] | np.bool_]
_UpToI8: TypeAlias = _NDArray[np.signedinteger[Any] | np.uint8 | np.uint16 | np.uint32 | np.bool_]
_Integers: TypeAlias = _NDArray[np.integer[Any] | np.bool_]

class ndarray(Generic[_ShapeT_co, _DTypeT_co]):
    __array_priority__: ClassVar[int]
    __hash__: ClassVar[None]  # type: ignore[assignment]  # as the class has it

    def __init__(
        self,
        shape: int | Sequence[int],
        dtype: DTypeLike = ...,
        memptr: MemoryPointer | None = None,
        strides: Sequence[int] | None = None,
        order: Literal["C", "F"] = "C",
    ) -> None: ...
    @property
    def shape(self) -> _ShapeT_co: ...
    @shape.setter
    def shape(self, value: int | Sequence[int]) -> None: ...
    @property
    def dtype(self) -> _DTypeT_co: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def data(self) -> MemoryPointer: ...
    @property
    def base(self) -> ndarray | None: ...
    @property
    def device(self) -> Device: ...
    @property
    def flags(self) -> Any: ...
    @property
    def flat(self) -> Any: ...
    @property
    def T(self) -> Self: ...
    @property
    def mT(self) -> Self: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    @property
    def real(self) -> _NDArray[Any]: ...
    @real.setter
    def real(self, value: _ArrayLike) -> None: ...
    @property
    def imag(self) -> _NDArray[Any]: ...
    @imag.setter
    def imag(self, value: _ArrayLike) -> None: ...

    # To the host, and into bytes

    def get(
        self,
        stream: Stream | None = None,
        order: Literal["C", "F", "A"] = "C",
        out: np.ndarray[Any, Any] | None = None,
        blocking: bool = True,
    ) -> np.ndarray[_ShapeT_co, _DTypeT_co]: ...
    def set(self, arr: np.ndarray[Any, Any], stream: Stream | None = None) -> None: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def tobytes(self, order: Literal["C", "F", "A"] = "C") -> bytes: ...
    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None: ...
    def dump(self, file: Any) -> None: ...
    def dumps(self) -> bytes: ...
    def __dlpack__(
        self,
        stream: int | None = None,
        *,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any: ...

    # Of the same dtype

    def copy(self, order: Literal["C", "F", "A", "K"] = "C") -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    def conj(self) -> Self: ...
    def conjugate(self) -> Self: ...
    def byteswap(self, inplace: bool = False) -> Self: ...
    def round(self, decimals: int = 0, out: ndarray | None = None) -> Self: ...
    def fill(self, value: _ArrayLike) -> None: ...
    def sort(self, axis: int = -1, kind: Literal["stable"] | None = None) -> None: ...
    def partition(self, kth: int | Sequence[int], axis: int = -1) -> None: ...
    def put(self, indices: Any, values: Any, mode: str = "wrap") -> None: ...
    def scatter_add(self, slices: Any, value: _ArrayLike) -> None: ...
    def scatter_max(self, slices: Any, value: _ArrayLike) -> None: ...
    def scatter_min(self, slices: Any, value: _ArrayLike) -> None: ...
    def __getitem__(self, key: _Key, /) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def __setitem__(self, key: _Key, value: Any, /) -> None: ...
    def __iter__(self) -> Iterator[ndarray[tuple[Any, ...], _DTypeT_co]]: ...
    def choose(
        self, choices: Any, out: ndarray | None = None, mode: str = "raise"
    ) -> _NDArray[Any]: ...
    def compress(
        self, condition: ndarray, axis: int | None = None, out: ndarray | None = None
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def diagonal(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def flatten(
        self, order: Literal["C", "F", "A", "K"] = "C"
    ) -> ndarray[tuple[int], _DTypeT_co]: ...
    def ravel(
        self, order: Literal["C", "F", "A", "K"] = "C"
    ) -> ndarray[tuple[int], _DTypeT_co]: ...
    def reduced_view(self, dtype: Any = None) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def repeat(
        self, repeats: int | Sequence[int] | ndarray, axis: int | None = None
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def squeeze(self, axis: _Axes = None) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def swapaxes(self, axis1: int, axis2: int) -> Self: ...
    def take(
        self,
        indices: ndarray | int | Sequence[int],
        axis: int | None = None,
        out: ndarray | None = None,
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def trace(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
    ) -> _NDArray[Any]: ...
    def transpose(self, *axes: int | Sequence[int] | None) -> Self: ...
    def reshape(
        self,
        *shape: int | Sequence[int],
        order: Literal["C", "F", "A"] = "C",
        copy: bool | None = None,
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def clip(
        self,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        out: ndarray | None = None,
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    @overload
    def astype(
        self,
        dtype: _DType[_ScalarT],
        order: Literal["C", "F", "A", "K"] = "K",
        casting: str | None = None,
        subok: bool | None = None,
        copy: bool = True,
    ) -> ndarray[_ShapeT_co, np.dtype[_ScalarT]]: ...
    @overload
    def astype(
        self,
        dtype: DTypeLike,
        order: Literal["C", "F", "A", "K"] = "K",
        casting: str | None = None,
        subok: bool | None = None,
        copy: bool = True,
    ) -> ndarray[_ShapeT_co, np.dtype[Any]]: ...
    @overload
    def view(self, dtype: None = None, type: None = None) -> Self: ...
    @overload
    def view(self, dtype: _DType[_ScalarT], type: Any = None) -> _NDArray[_ScalarT]: ...
    @overload
    def view(self, dtype: DTypeLike, type: Any = None) -> _NDArray[Any]: ...

    # Reductions; a full one gives an array without axes

    def max(
        self, axis: _Axes = None, out: ndarray | None = None, keepdims: bool = False
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def min(
        self, axis: _Axes = None, out: ndarray | None = None, keepdims: bool = False
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def ptp(
        self, axis: _Axes = None, out: ndarray | None = None, keepdims: bool = False
    ) -> ndarray[tuple[Any, ...], _DTypeT_co]: ...
    def all(
        self, axis: _Axes = None, out: ndarray | None = None, keepdims: bool = False
    ) -> _Bool: ...
    def any(
        self, axis: _Axes = None, out: ndarray | None = None, keepdims: bool = False
    ) -> _Bool: ...
    def argmax(
        self,
        axis: int | None = None,
        out: ndarray | None = None,
        dtype: DTypeLike | None = None,
        keepdims: bool = False,
    ) -> _I8: ...
    def argmin(
        self,
        axis: int | None = None,
        out: ndarray | None = None,
        dtype: DTypeLike | None = None,
        keepdims: bool = False,
    ) -> _I8: ...
    @overload
    def sum(
        self: _NDArray[_InexactT],
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
    ) -> _NDArray[_InexactT]: ...
    @overload
    def sum(
        self: _NDArray[np.signedinteger[Any] | np.bool_],
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
    ) -> _I8: ...
    @overload
    def sum(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: None = None,
        keepdims: bool = False,
    ) -> _NDArray[_ScalarT]: ...
    @overload
    def sum(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        keepdims: bool = False,
    ) -> _NDArray[Any]: ...
    @overload
    def prod(
        self: _NDArray[_InexactT],
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool | None = None,
    ) -> _NDArray[_InexactT]: ...
    @overload
    def prod(
        self: _NDArray[np.signedinteger[Any] | np.bool_],
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool | None = None,
    ) -> _I8: ...
    @overload
    def prod(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: None = None,
        keepdims: bool | None = None,
    ) -> _NDArray[_ScalarT]: ...
    @overload
    def prod(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        keepdims: bool | None = None,
    ) -> _NDArray[Any]: ...
    @overload
    def cumsum(
        self: _NDArray[_InexactT], axis: int | None = None, dtype: None = None, out: None = None
    ) -> _NDArray[_InexactT]: ...
    @overload
    def cumsum(
        self: _NDArray[np.signedinteger[Any] | np.bool_],
        axis: int | None = None,
        dtype: None = None,
        out: None = None,
    ) -> _I8: ...
    @overload
    def cumsum(
        self, axis: int | None = None, *, dtype: _DType[_ScalarT], out: None = None
    ) -> _NDArray[_ScalarT]: ...
    @overload
    def cumsum(
        self, axis: int | None = None, dtype: DTypeLike | None = None, out: ndarray | None = None
    ) -> _NDArray[Any]: ...
    @overload
    def cumprod(
        self: _NDArray[_InexactT], axis: int | None = None, dtype: None = None, out: None = None
    ) -> _NDArray[_InexactT]: ...
    @overload
    def cumprod(
        self: _NDArray[np.signedinteger[Any] | np.bool_],
        axis: int | None = None,
        dtype: None = None,
        out: None = None,
    ) -> _I8: ...
    @overload
    def cumprod(
        self, axis: int | None = None, *, dtype: _DType[_ScalarT], out: None = None
    ) -> _NDArray[_ScalarT]: ...
    @overload
    def cumprod(
        self, axis: int | None = None, dtype: DTypeLike | None = None, out: ndarray | None = None
    ) -> _NDArray[Any]: ...
    @overload
    def mean(
        self: _NDArray[_InexactT],
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
    ) -> _NDArray[_InexactT]: ...
    @overload
    def mean(
        self: _Integers,
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
    ) -> _F8: ...
    @overload
    def mean(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: None = None,
        keepdims: bool = False,
    ) -> _NDArray[_ScalarT]: ...
    @overload
    def mean(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        keepdims: bool = False,
    ) -> _NDArray[Any]: ...
    @overload
    def std(
        self: _NDArray[_FloatingT],
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> _NDArray[_FloatingT]: ...
    @overload
    def std(
        self: _Integers,
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> _F8: ...
    @overload
    def std(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> _NDArray[_ScalarT]: ...
    @overload
    def std(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> _NDArray[Any]: ...
    @overload
    def var(
        self: _NDArray[_FloatingT],
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> _NDArray[_FloatingT]: ...
    @overload
    def var(
        self: _Integers,
        axis: _Axes = None,
        dtype: None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> _F8: ...
    @overload
    def var(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> _NDArray[_ScalarT]: ...
    @overload
    def var(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> _NDArray[Any]: ...

    # Searching

    def argsort(self, axis: int | None = -1, kind: Literal["stable"] | None = None) -> _I8: ...
    def argpartition(self, kth: int | Sequence[int], axis: int = -1) -> _I8: ...
    def nonzero(self) -> tuple[_I8, ...]: ...
    def searchsorted(
        self, v: ndarray, side: Literal["left", "right"] = "left", sorter: ndarray | None = None
    ) -> _I8: ...

    # Operators

    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __neg__(self) -> Self: ...
    def __pos__(self) -> Self: ...
    def __invert__(self) -> Self: ...
    @overload
    def __abs__(
        self: ndarray[_ShapeT, np.dtype[np.complex64]],
    ) -> ndarray[_ShapeT, np.dtype[np.float32]]: ...
    @overload
    def __abs__(
        self: ndarray[_ShapeT, np.dtype[np.complex128]],
    ) -> ndarray[_ShapeT, np.dtype[np.float64]]: ...
    @overload
    def __abs__(self) -> Self: ...
    def __eq__(self, other: object, /) -> Any: ...
    def __ne__(self, other: object, /) -> Any: ...
    def __lt__(self, other: _ArrayLike, /) -> _Bool: ...
    def __le__(self, other: _ArrayLike, /) -> _Bool: ...
    def __gt__(self, other: _ArrayLike, /) -> _Bool: ...
    def __ge__(self, other: _ArrayLike, /) -> _Bool: ...
    @overload
    def __add__(self: _UpToF8, other: _F8 | np.float64, /) -> _F8: ...
    @overload
    def __add__(self: _F8, other: _UpToF8 | np.floating[Any] | np.integer[Any], /) -> _F8: ...
    @overload
    def __add__(self: _UpToF4, other: _F4 | np.float32, /) -> _F4: ...
    @overload
    def __add__(self: _F4, other: _UpToF4 | _Small, /) -> _F4: ...
    @overload
    def __add__(self: _UpToC16, other: _C16 | np.complex128, /) -> _C16: ...
    @overload
    def __add__(self: _C16, other: _UpToC16 | np.number[Any], /) -> _C16: ...
    @overload
    def __add__(self: _UpToC8, other: _C8 | np.complex64, /) -> _C8: ...
    @overload
    def __add__(self: _C8, other: _UpToC8 | _Small | np.float32, /) -> _C8: ...
    @overload
    def __add__(self: _UpToI8, other: _I8 | np.int64, /) -> _I8: ...
    @overload
    def __add__(self: _I8, other: _UpToI8, /) -> _I8: ...
    @overload
    def __add__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __add__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __add__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __add__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    @overload
    def __radd__(self: _UpToF8, other: np.float64, /) -> _F8: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __radd__(self: _UpToC16, other: np.complex128, /) -> _C16: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __radd__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __radd__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __radd__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __radd__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    def __iadd__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __sub__(self: _UpToF8, other: _F8 | np.float64, /) -> _F8: ...
    @overload
    def __sub__(self: _F8, other: _UpToF8 | np.floating[Any] | np.integer[Any], /) -> _F8: ...
    @overload
    def __sub__(self: _UpToF4, other: _F4 | np.float32, /) -> _F4: ...
    @overload
    def __sub__(self: _F4, other: _UpToF4 | _Small, /) -> _F4: ...
    @overload
    def __sub__(self: _UpToC16, other: _C16 | np.complex128, /) -> _C16: ...
    @overload
    def __sub__(self: _C16, other: _UpToC16 | np.number[Any], /) -> _C16: ...
    @overload
    def __sub__(self: _UpToC8, other: _C8 | np.complex64, /) -> _C8: ...
    @overload
    def __sub__(self: _C8, other: _UpToC8 | _Small | np.float32, /) -> _C8: ...
    @overload
    def __sub__(self: _UpToI8, other: _I8 | np.int64, /) -> _I8: ...
    @overload
    def __sub__(self: _I8, other: _UpToI8, /) -> _I8: ...
    @overload
    def __sub__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __sub__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __sub__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __sub__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    @overload
    def __rsub__(self: _UpToF8, other: np.float64, /) -> _F8: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rsub__(self: _UpToC16, other: np.complex128, /) -> _C16: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rsub__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __rsub__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __rsub__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __rsub__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    def __isub__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __mul__(self: _UpToF8, other: _F8 | np.float64, /) -> _F8: ...
    @overload
    def __mul__(self: _F8, other: _UpToF8 | np.floating[Any] | np.integer[Any], /) -> _F8: ...
    @overload
    def __mul__(self: _UpToF4, other: _F4 | np.float32, /) -> _F4: ...
    @overload
    def __mul__(self: _F4, other: _UpToF4 | _Small, /) -> _F4: ...
    @overload
    def __mul__(self: _UpToC16, other: _C16 | np.complex128, /) -> _C16: ...
    @overload
    def __mul__(self: _C16, other: _UpToC16 | np.number[Any], /) -> _C16: ...
    @overload
    def __mul__(self: _UpToC8, other: _C8 | np.complex64, /) -> _C8: ...
    @overload
    def __mul__(self: _C8, other: _UpToC8 | _Small | np.float32, /) -> _C8: ...
    @overload
    def __mul__(self: _UpToI8, other: _I8 | np.int64, /) -> _I8: ...
    @overload
    def __mul__(self: _I8, other: _UpToI8, /) -> _I8: ...
    @overload
    def __mul__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __mul__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __mul__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __mul__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    @overload
    def __rmul__(self: _UpToF8, other: np.float64, /) -> _F8: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rmul__(self: _UpToC16, other: np.complex128, /) -> _C16: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rmul__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __rmul__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __rmul__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __rmul__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    def __imul__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __truediv__(self: _UpToF8, other: _F8 | np.float64, /) -> _F8: ...
    @overload
    def __truediv__(self: _F8, other: _UpToF8 | np.floating[Any] | np.integer[Any], /) -> _F8: ...
    @overload
    def __truediv__(self: _UpToF4, other: _F4 | np.float32, /) -> _F4: ...
    @overload
    def __truediv__(self: _F4, other: _UpToF4 | _Small, /) -> _F4: ...
    @overload
    def __truediv__(self: _UpToC16, other: _C16 | np.complex128, /) -> _C16: ...
    @overload
    def __truediv__(self: _C16, other: _UpToC16 | np.number[Any], /) -> _C16: ...
    @overload
    def __truediv__(self: _UpToC8, other: _C8 | np.complex64, /) -> _C8: ...
    @overload
    def __truediv__(self: _C8, other: _UpToC8 | _Small | np.float32, /) -> _C8: ...
    @overload
    def __truediv__(
        self: _NDArray[np.int32 | np.int64], other: _NDArray[np.int32 | np.int64] | int, /
    ) -> _F8: ...
    @overload
    def __truediv__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __truediv__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __truediv__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    @overload
    def __rtruediv__(self: _UpToF8, other: np.float64, /) -> _F8: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rtruediv__(self: _UpToC16, other: np.complex128, /) -> _C16: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rtruediv__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __rtruediv__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __rtruediv__(self: _NDArray[np.int32 | np.int64], other: int, /) -> _F8: ...
    @overload
    def __rtruediv__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    def __itruediv__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __floordiv__(self: _UpToF8, other: _F8 | np.float64, /) -> _F8: ...
    @overload
    def __floordiv__(self: _F8, other: _UpToF8 | np.floating[Any] | np.integer[Any], /) -> _F8: ...
    @overload
    def __floordiv__(self: _UpToF4, other: _F4 | np.float32, /) -> _F4: ...
    @overload
    def __floordiv__(self: _F4, other: _UpToF4 | _Small, /) -> _F4: ...
    @overload
    def __floordiv__(self: _UpToC16, other: _C16 | np.complex128, /) -> _C16: ...
    @overload
    def __floordiv__(self: _C16, other: _UpToC16 | np.number[Any], /) -> _C16: ...
    @overload
    def __floordiv__(self: _UpToC8, other: _C8 | np.complex64, /) -> _C8: ...
    @overload
    def __floordiv__(self: _C8, other: _UpToC8 | _Small | np.float32, /) -> _C8: ...
    @overload
    def __floordiv__(self: _UpToI8, other: _I8 | np.int64, /) -> _I8: ...
    @overload
    def __floordiv__(self: _I8, other: _UpToI8, /) -> _I8: ...
    @overload
    def __floordiv__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __floordiv__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __floordiv__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __floordiv__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    @overload
    def __rfloordiv__(self: _UpToF8, other: np.float64, /) -> _F8: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rfloordiv__(self: _UpToC16, other: np.complex128, /) -> _C16: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rfloordiv__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __rfloordiv__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __rfloordiv__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __rfloordiv__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    def __ifloordiv__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __mod__(self: _UpToF8, other: _F8 | np.float64, /) -> _F8: ...
    @overload
    def __mod__(self: _F8, other: _UpToF8 | np.floating[Any] | np.integer[Any], /) -> _F8: ...
    @overload
    def __mod__(self: _UpToF4, other: _F4 | np.float32, /) -> _F4: ...
    @overload
    def __mod__(self: _F4, other: _UpToF4 | _Small, /) -> _F4: ...
    @overload
    def __mod__(self: _UpToC16, other: _C16 | np.complex128, /) -> _C16: ...
    @overload
    def __mod__(self: _C16, other: _UpToC16 | np.number[Any], /) -> _C16: ...
    @overload
    def __mod__(self: _UpToC8, other: _C8 | np.complex64, /) -> _C8: ...
    @overload
    def __mod__(self: _C8, other: _UpToC8 | _Small | np.float32, /) -> _C8: ...
    @overload
    def __mod__(self: _UpToI8, other: _I8 | np.int64, /) -> _I8: ...
    @overload
    def __mod__(self: _I8, other: _UpToI8, /) -> _I8: ...
    @overload
    def __mod__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __mod__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __mod__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __mod__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    @overload
    def __rmod__(self: _UpToF8, other: np.float64, /) -> _F8: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rmod__(self: _UpToC16, other: np.complex128, /) -> _C16: ...
    @overload
    def __rmod__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __rmod__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __rmod__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __rmod__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    def __imod__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __pow__(self: _UpToF8, other: _F8 | np.float64, mod: None = None, /) -> _F8: ...
    @overload
    def __pow__(
        self: _F8, other: _UpToF8 | np.floating[Any] | np.integer[Any], mod: None = None, /
    ) -> _F8: ...
    @overload
    def __pow__(self: _UpToF4, other: _F4 | np.float32, mod: None = None, /) -> _F4: ...
    @overload
    def __pow__(self: _F4, other: _UpToF4 | _Small, mod: None = None, /) -> _F4: ...
    @overload
    def __pow__(self: _UpToC16, other: _C16 | np.complex128, mod: None = None, /) -> _C16: ...
    @overload
    def __pow__(self: _C16, other: _UpToC16 | np.number[Any], mod: None = None, /) -> _C16: ...
    @overload
    def __pow__(self: _UpToC8, other: _C8 | np.complex64, mod: None = None, /) -> _C8: ...
    @overload
    def __pow__(self: _C8, other: _UpToC8 | _Small | np.float32, mod: None = None, /) -> _C8: ...
    @overload
    def __pow__(self: _UpToI8, other: _I8 | np.int64, mod: None = None, /) -> _I8: ...
    @overload
    def __pow__(self: _I8, other: _UpToI8, mod: None = None, /) -> _I8: ...
    @overload
    def __pow__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, mod: None = None, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __pow__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, mod: None = None, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __pow__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, mod: None = None, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __pow__(self, other: _ArrayLike, mod: None = None, /) -> _NDArray[Any]: ...
    @overload
    def __rpow__(self: _UpToF8, other: np.float64, mod: None = None, /) -> _F8: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rpow__(self: _UpToC16, other: np.complex128, mod: None = None, /) -> _C16: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    @overload
    def __rpow__(
        self: ndarray[_ShapeT, np.dtype[_InexactT]], other: float, mod: None = None, /
    ) -> ndarray[_ShapeT, np.dtype[_InexactT]]: ...
    @overload
    def __rpow__(
        self: ndarray[_ShapeT, np.dtype[_ComplexT]], other: complex, mod: None = None, /
    ) -> ndarray[_ShapeT, np.dtype[_ComplexT]]: ...
    @overload
    def __rpow__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, mod: None = None, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __rpow__(self, other: _ArrayLike, mod: None = None, /) -> _NDArray[Any]: ...  # type: ignore[misc, unused-ignore]  # NumPy 2.0
    def __ipow__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    def __divmod__(self, other: _ArrayLike, /) -> tuple[_NDArray[Any], _NDArray[Any]]: ...
    def __rdivmod__(self, other: _Scalar, /) -> tuple[_NDArray[Any], _NDArray[Any]]: ...
    @overload
    def __matmul__(self: _F8, other: _UpToF8, /) -> _F8: ...
    @overload
    def __matmul__(self: _F4, other: _UpToF4, /) -> _F4: ...
    @overload
    def __matmul__(
        self: _NDArray[_NumberT], other: _NDArray[_NumberT], /
    ) -> _NDArray[_NumberT]: ...
    @overload
    def __matmul__(self, other: ndarray, /) -> _NDArray[Any]: ...
    @overload
    def dot(self: _F8, b: _UpToF8, out: ndarray | None = None) -> _F8: ...
    @overload
    def dot(self: _F4, b: _UpToF4, out: ndarray | None = None) -> _F4: ...
    @overload
    def dot(
        self: _NDArray[_NumberT], b: _NDArray[_NumberT], out: ndarray | None = None
    ) -> _NDArray[_NumberT]: ...
    @overload
    def dot(self, b: ndarray, out: ndarray | None = None) -> _NDArray[Any]: ...
    def __rmatmul__(self, other: ndarray, /) -> _NDArray[Any]: ...
    @overload
    def __and__(self: _Bool, other: _Bool | bool, /) -> _Bool: ...
    @overload
    def __and__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __and__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    def __rand__(self, other: _Scalar, /) -> _NDArray[Any]: ...
    def __iand__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __or__(self: _Bool, other: _Bool | bool, /) -> _Bool: ...
    @overload
    def __or__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __or__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    def __ror__(self, other: _Scalar, /) -> _NDArray[Any]: ...
    def __ior__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __xor__(self: _Bool, other: _Bool | bool, /) -> _Bool: ...
    @overload
    def __xor__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __xor__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    def __rxor__(self, other: _Scalar, /) -> _NDArray[Any]: ...
    def __ixor__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __lshift__(self: _Bool, other: _Bool | bool, /) -> _Bool: ...
    @overload
    def __lshift__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __lshift__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    def __rlshift__(self, other: _Scalar, /) -> _NDArray[Any]: ...
    def __ilshift__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
    @overload
    def __rshift__(self: _Bool, other: _Bool | bool, /) -> _Bool: ...
    @overload
    def __rshift__(
        self: ndarray[_ShapeT, np.dtype[_IntegerT]], other: int, /
    ) -> ndarray[_ShapeT, np.dtype[_IntegerT]]: ...
    @overload
    def __rshift__(self, other: _ArrayLike, /) -> _NDArray[Any]: ...
    def __rrshift__(self, other: _Scalar, /) -> _NDArray[Any]: ...
    def __irshift__(self, other: _ArrayLike, /) -> Self: ...  # type: ignore[misc]  # the dtype stays
