# Stubs of CuPy, which has no types of its own: what gradwrap and its users touch. The modules are
# CuPy's; `tests/tools/test_stubs.py` compares them with the library.
import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal, ParamSpec, TypeVar, overload

import numpy as np
from numpy import (
    bool as bool,
    bool_ as bool_,
    byte as byte,
    cdouble as cdouble,
    complex128 as complex128,
    complex64 as complex64,
    complexfloating as complexfloating,
    csingle as csingle,
    double as double,
    finfo as finfo,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    floating as floating,
    generic as generic,
    half as half,
    iinfo as iinfo,
    inexact as inexact,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int8 as int8,
    int_ as int_,
    intc as intc,
    integer as integer,
    intp as intp,
    long as long,
    longlong as longlong,
    ndindex as ndindex,
    number as number,
    short as short,
    signedinteger as signedinteger,
    single as single,
    ubyte as ubyte,
    uint as uint,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
    uintc as uintc,
    uintp as uintp,
    ulong as ulong,
    ulonglong as ulonglong,
    unsignedinteger as unsignedinteger,
    ushort as ushort,
    broadcast_shapes as broadcast_shapes,
    dtype as dtype,
    isdtype as isdtype,
    issubdtype as issubdtype,
    promote_types as promote_types,
    index_exp as index_exp,
    s_ as s_,
    get_printoptions as get_printoptions,
    set_printoptions as set_printoptions,
    printoptions as printoptions,
    iterable as iterable,
)
from numpy.typing import DTypeLike

from cupy import (
    cuda as cuda,
    exceptions as exceptions,
    fft as fft,
    linalg as linalg,
    random as random,
    typing as typing,
)
from cupy._core import (
    ElementwiseKernel as ElementwiseKernel,
    RawKernel as RawKernel,
    RawModule as RawModule,
    ReductionKernel as ReductionKernel,
    _Absolute,
    _Arithmetic,
    _Keeping,
    _Matmul,
    _Pair,
    _Predicate,
    _Smooth,
    _Smooth2,
    ufunc as ufunc,
)
from cupy._core.core import _ArrayLike, ndarray as ndarray
from cupy._creation.basic import (
    astype as astype,
    empty as empty,
    empty_like as empty_like,
    eye as eye,
    full as full,
    full_like as full_like,
    identity as identity,
    ones as ones,
    ones_like as ones_like,
    zeros as zeros,
    zeros_like as zeros_like,
)
from cupy._creation.from_data import (
    array as array,
    asanyarray as asanyarray,
    asarray as asarray,
    ascontiguousarray as ascontiguousarray,
    copy as copy,
)
from cupy._creation.matrix import (
    diag as diag,
    diagflat as diagflat,
    tri as tri,
    tril as tril,
    triu as triu,
    vander as vander,
)
from cupy._creation.ranges import (
    arange as arange,
    linspace as linspace,
    logspace as logspace,
    meshgrid as meshgrid,
)
from cupy._functional.piecewise import (
    piecewise as piecewise,
)
from cupy._indexing.generate import (
    indices as indices,
    ix_ as ix_,
    tril_indices as tril_indices,
    tril_indices_from as tril_indices_from,
    triu_indices as triu_indices,
    triu_indices_from as triu_indices_from,
    unravel_index as unravel_index,
)
from cupy._indexing.indexing import (
    choose as choose,
    compress as compress,
    diagonal as diagonal,
    extract as extract,
    select as select,
    take as take,
    take_along_axis as take_along_axis,
)
from cupy._indexing.insert import (
    diag_indices as diag_indices,
    diag_indices_from as diag_indices_from,
    fill_diagonal as fill_diagonal,
    place as place,
    put as put,
    putmask as putmask,
)
from cupy._logic.comparison import (
    allclose as allclose,
    array_equal as array_equal,
    array_equiv as array_equiv,
    isclose as isclose,
)
from cupy._logic.content import (
    isneginf as isneginf,
    isposinf as isposinf,
)
from cupy._logic.truth import (
    all as all,
    any as any,
    intersect1d as intersect1d,
    isin as isin,
    setdiff1d as setdiff1d,
    setxor1d as setxor1d,
    union1d as union1d,
)
from cupy._logic.type_testing import (
    iscomplex as iscomplex,
    iscomplexobj as iscomplexobj,
    isfortran as isfortran,
    isreal as isreal,
    isrealobj as isrealobj,
)
from cupy._manipulation.add_remove import (
    append as append,
    delete as delete,
    resize as resize,
    trim_zeros as trim_zeros,
    unique as unique,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
)
from cupy._manipulation.basic import (
    copyto as copyto,
)
from cupy._manipulation.dims import (
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    broadcast_arrays as broadcast_arrays,
    broadcast_to as broadcast_to,
    expand_dims as expand_dims,
    squeeze as squeeze,
)
from cupy._manipulation.join import (
    column_stack as column_stack,
    concatenate as concatenate,
    dstack as dstack,
    hstack as hstack,
    stack as stack,
    vstack as vstack,
)
from cupy._manipulation.kind import (
    asfortranarray as asfortranarray,
)
from cupy._manipulation.rearrange import (
    flip as flip,
    fliplr as fliplr,
    flipud as flipud,
    roll as roll,
    rot90 as rot90,
)
from cupy._manipulation.shape import (
    ravel as ravel,
    reshape as reshape,
    shape as shape,
)
from cupy._manipulation.split import (
    array_split as array_split,
    dsplit as dsplit,
    hsplit as hsplit,
    split as split,
    vsplit as vsplit,
)
from cupy._manipulation.tiling import (
    repeat as repeat,
    tile as tile,
)
from cupy._manipulation.transpose import (
    matrix_transpose as matrix_transpose,
    moveaxis as moveaxis,
    rollaxis as rollaxis,
    swapaxes as swapaxes,
    transpose as transpose,
)
from cupy._math.arithmetic import (
    angle as angle,
    imag as imag,
    real as real,
)
from cupy._math.misc import (
    clip as clip,
    convolve as convolve,
    interp as interp,
    nan_to_num as nan_to_num,
    real_if_close as real_if_close,
)
from cupy._math.rounding import (
    around as around,
    round as round,
)
from cupy._math.sumprod import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    diff as diff,
    ediff1d as ediff1d,
    gradient as gradient,
    nancumprod as nancumprod,
    nancumsum as nancumsum,
    nanprod as nanprod,
    nansum as nansum,
    prod as prod,
    sum as sum,
    trapezoid as trapezoid,
)
from cupy._math.trigonometric import (
    unwrap as unwrap,
)
from cupy._math.window import (
    bartlett as bartlett,
    blackman as blackman,
    hamming as hamming,
    hanning as hanning,
    kaiser as kaiser,
)
from cupy._misc.memory_ranges import (
    may_share_memory as may_share_memory,
    shares_memory as shares_memory,
)
from cupy._padding.pad import (
    pad as pad,
)
from cupy._sorting.count import (
    count_nonzero as count_nonzero,
)
from cupy._sorting.search import (
    argmax as argmax,
    argmin as argmin,
    argwhere as argwhere,
    flatnonzero as flatnonzero,
    nanargmax as nanargmax,
    nanargmin as nanargmin,
    nonzero as nonzero,
    searchsorted as searchsorted,
    where as where,
)
from cupy._sorting.sort import (
    argpartition as argpartition,
    argsort as argsort,
    lexsort as lexsort,
    partition as partition,
    sort as sort,
    sort_complex as sort_complex,
)
from cupy._statistics.correlation import (
    corrcoef as corrcoef,
    correlate as correlate,
    cov as cov,
)
from cupy._statistics.histogram import (
    bincount as bincount,
    digitize as digitize,
    histogram as histogram,
    histogram2d as histogram2d,
    histogramdd as histogramdd,
)
from cupy._statistics.meanvar import (
    average as average,
    mean as mean,
    median as median,
    nanmean as nanmean,
    nanmedian as nanmedian,
    nanstd as nanstd,
    nanvar as nanvar,
    std as std,
    var as var,
)
from cupy._statistics.order import (
    amax as amax,
    amin as amin,
    nanmax as nanmax,
    nanmin as nanmin,
    percentile as percentile,
    ptp as ptp,
    quantile as quantile,
)
from cupy.lib._shape_base import (
    apply_along_axis as apply_along_axis,
    put_along_axis as put_along_axis,
)
from cupy.linalg._einsum import (
    einsum as einsum,
)
from cupy.linalg._norms import (
    trace as trace,
)
from cupy.linalg._product import (
    cross as cross,
    dot as dot,
    inner as inner,
    kron as kron,
    outer as outer,
    tensordot as tensordot,
    vdot as vdot,
)
from cupy.cuda import is_available as is_available
from cupy.cuda.memory import MemoryPool
from cupy.cuda.pinned_memory import PinnedMemoryPool
from cupy.cuda.stream import Stream
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_ShapeT = TypeVar("_ShapeT", bound=tuple[int, ...])
_P = ParamSpec("_P")
_R = TypeVar("_R")

__version__: str

e: float
euler_gamma: float
inf: float
nan: float
pi: float
newaxis: None

abs: _Absolute
absolute: _Absolute
acos: _Smooth
acosh: _Smooth
add: _Arithmetic
arccos: _Smooth
arccosh: _Smooth
arcsin: _Smooth
arcsinh: _Smooth
arctan: _Smooth
arctan2: _Smooth2
arctanh: _Smooth
asin: _Smooth
asinh: _Smooth
atan: _Smooth
atan2: _Smooth2
atanh: _Smooth
bitwise_and: ufunc
bitwise_count: ufunc
bitwise_invert: _Keeping
bitwise_left_shift: ufunc
bitwise_not: _Keeping
bitwise_or: ufunc
bitwise_right_shift: ufunc
bitwise_xor: ufunc
cbrt: _Smooth
ceil: _Keeping
conj: _Keeping
conjugate: _Keeping
copysign: _Smooth2
cos: _Smooth
cosh: _Smooth
deg2rad: _Smooth
degrees: _Smooth
divide: _Smooth2
divmod: _Pair
equal: _Predicate
exp: _Smooth
exp2: _Smooth
expm1: _Smooth
fabs: _Smooth
fix: _Keeping
float_power: ufunc
floor: _Keeping
floor_divide: _Arithmetic
fmax: _Arithmetic
fmin: _Arithmetic
fmod: _Arithmetic
frexp: _Pair
gcd: ufunc
greater: _Predicate
greater_equal: _Predicate
heaviside: _Smooth2
hypot: _Smooth2
i0: _Smooth
invert: _Keeping
isfinite: _Predicate
isinf: _Predicate
isnan: _Predicate
lcm: ufunc
ldexp: ufunc
left_shift: ufunc
less: _Predicate
less_equal: _Predicate
log: _Smooth
log10: _Smooth
log1p: _Smooth
log2: _Smooth
logaddexp: _Smooth2
logaddexp2: _Smooth2
logical_and: _Predicate
logical_not: _Predicate
logical_or: _Predicate
logical_xor: _Predicate
maximum: _Arithmetic
minimum: _Arithmetic
mod: _Arithmetic
modf: _Pair
multiply: _Arithmetic
negative: _Keeping
nextafter: _Smooth2
not_equal: _Predicate
positive: _Keeping
pow: _Arithmetic
power: _Arithmetic
rad2deg: _Smooth
radians: _Smooth
reciprocal: ufunc
remainder: _Arithmetic
right_shift: ufunc
rint: _Keeping
sign: _Keeping
signbit: _Predicate
sin: _Smooth
sinc: _Smooth
sinh: _Smooth
sqrt: _Smooth
square: _Keeping
subtract: _Arithmetic
tan: _Smooth
tanh: _Smooth
true_divide: _Smooth2
trunc: _Keeping

matmul: _Matmul

concat = concatenate
max = amax
min = amin
permute_dims = transpose

def asnumpy(
    a: ndarray[_ShapeT, np.dtype[_ScalarT]],
    stream: Stream | None = None,
    order: Literal["C", "F", "A"] = "C",
    out: np.ndarray[Any, Any] | None = None,
    *,
    blocking: builtins.bool = True,
) -> np.ndarray[_ShapeT, np.dtype[_ScalarT]]: ...
def get_array_module(*args: object) -> ModuleType: ...
def get_default_memory_pool() -> MemoryPool: ...
def get_default_pinned_memory_pool() -> PinnedMemoryPool: ...
def can_cast(from_: DTypeLike | ndarray, to: DTypeLike, casting: str = "safe") -> builtins.bool: ...
def common_type(*arrays: ndarray) -> type[Any]: ...
def result_type(*arrays_and_dtypes: DTypeLike | _ArrayLike) -> np.dtype[Any]: ...
def min_scalar_type(a: DTypeLike | _ArrayLike) -> np.dtype[Any]: ...
def isscalar(element: object) -> builtins.bool: ...
def ndim(a: object) -> int: ...
def size(a: ndarray, axis: int | None = None) -> int: ...
def from_dlpack(
    array: Any, *, device: Any = None, copy: builtins.bool | None = None
) -> NDArray[Any]: ...
def show_config(*, _full: builtins.bool = False) -> None: ...
def clear_memo() -> None: ...
@overload
def fuse(func: Callable[_P, _R], /) -> Callable[_P, _R]: ...
@overload
def fuse(*, kernel_name: str | None = None) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def memoize(
    for_each_device: builtins.bool = False,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
