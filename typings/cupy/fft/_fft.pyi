from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar, overload

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_ArrayT = TypeVar("_ArrayT", bound=ndarray)

_Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None

@overload
def fft(
    a: NDArray[np.float32 | np.complex64], n: int | None = None, axis: int = -1, norm: _Norm = None
) -> NDArray[np.complex64]: ...
@overload
def fft(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    n: int | None = None,
    axis: int = -1,
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def fft(a: ndarray, n: int | None = None, axis: int = -1, norm: _Norm = None) -> NDArray[Any]: ...
@overload
def fft2(
    a: NDArray[np.float32 | np.complex64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[np.complex64]: ...
@overload
def fft2(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def fft2(
    a: ndarray,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[Any]: ...
def fftfreq(n: int, d: float = 1.0) -> NDArray[np.float64]: ...
@overload
def fftn(
    a: NDArray[np.float32 | np.complex64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[np.complex64]: ...
@overload
def fftn(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def fftn(
    a: ndarray,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[Any]: ...
def fftshift(x: _ArrayT, axes: int | Sequence[int] | None = None) -> _ArrayT: ...
@overload
def hfft(
    a: NDArray[np.float32 | np.complex64], n: int | None = None, axis: int = -1, norm: _Norm = None
) -> NDArray[np.float32]: ...
@overload
def hfft(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    n: int | None = None,
    axis: int = -1,
    norm: _Norm = None,
) -> NDArray[np.float64]: ...
@overload
def hfft(a: ndarray, n: int | None = None, axis: int = -1, norm: _Norm = None) -> NDArray[Any]: ...
@overload
def ifft(
    a: NDArray[np.float32 | np.complex64], n: int | None = None, axis: int = -1, norm: _Norm = None
) -> NDArray[np.complex64]: ...
@overload
def ifft(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    n: int | None = None,
    axis: int = -1,
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def ifft(a: ndarray, n: int | None = None, axis: int = -1, norm: _Norm = None) -> NDArray[Any]: ...
@overload
def ifft2(
    a: NDArray[np.float32 | np.complex64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[np.complex64]: ...
@overload
def ifft2(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def ifft2(
    a: ndarray,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[Any]: ...
@overload
def ifftn(
    a: NDArray[np.float32 | np.complex64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[np.complex64]: ...
@overload
def ifftn(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def ifftn(
    a: ndarray,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[Any]: ...
def ifftshift(x: _ArrayT, axes: int | Sequence[int] | None = None) -> _ArrayT: ...
@overload
def ihfft(
    a: NDArray[np.float32 | np.complex64], n: int | None = None, axis: int = -1, norm: _Norm = None
) -> NDArray[np.complex64]: ...
@overload
def ihfft(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    n: int | None = None,
    axis: int = -1,
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def ihfft(a: ndarray, n: int | None = None, axis: int = -1, norm: _Norm = None) -> NDArray[Any]: ...
@overload
def irfft(
    a: NDArray[np.float32 | np.complex64], n: int | None = None, axis: int = -1, norm: _Norm = None
) -> NDArray[np.float32]: ...
@overload
def irfft(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    n: int | None = None,
    axis: int = -1,
    norm: _Norm = None,
) -> NDArray[np.float64]: ...
@overload
def irfft(a: ndarray, n: int | None = None, axis: int = -1, norm: _Norm = None) -> NDArray[Any]: ...
@overload
def irfft2(
    a: NDArray[np.float32 | np.complex64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[np.float32]: ...
@overload
def irfft2(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[np.float64]: ...
@overload
def irfft2(
    a: ndarray,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[Any]: ...
@overload
def irfftn(
    a: NDArray[np.float32 | np.complex64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[np.float32]: ...
@overload
def irfftn(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[np.float64]: ...
@overload
def irfftn(
    a: ndarray,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[Any]: ...
@overload
def rfft(
    a: NDArray[np.float32 | np.complex64], n: int | None = None, axis: int = -1, norm: _Norm = None
) -> NDArray[np.complex64]: ...
@overload
def rfft(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    n: int | None = None,
    axis: int = -1,
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def rfft(a: ndarray, n: int | None = None, axis: int = -1, norm: _Norm = None) -> NDArray[Any]: ...
@overload
def rfft2(
    a: NDArray[np.float32 | np.complex64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[np.complex64]: ...
@overload
def rfft2(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def rfft2(
    a: ndarray,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: _Norm = None,
) -> NDArray[Any]: ...
def rfftfreq(n: int, d: float = 1.0) -> NDArray[np.float64]: ...
@overload
def rfftn(
    a: NDArray[np.float32 | np.complex64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[np.complex64]: ...
@overload
def rfftn(
    a: NDArray[np.float64 | np.complex128 | np.int64],
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[np.complex128]: ...
@overload
def rfftn(
    a: ndarray,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = None,
) -> NDArray[Any]: ...
