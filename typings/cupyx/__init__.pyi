# What gradwrap and its users touch of CuPy's second package.
from cupy._core import _Smooth
from cupy._core.syncdetect import (
    DeviceSynchronized as DeviceSynchronized,
    allow_synchronize as allow_synchronize,
)
from cupyx import profiler as profiler
from cupyx._pinned_array import (
    empty_like_pinned as empty_like_pinned,
    empty_pinned as empty_pinned,
    zeros_like_pinned as zeros_like_pinned,
    zeros_pinned as zeros_pinned,
)
from cupyx._scatter import (
    scatter_add as scatter_add,
    scatter_max as scatter_max,
    scatter_min as scatter_min,
)
from cupyx._ufunc_config import errstate as errstate, geterr as geterr, seterr as seterr

rsqrt: _Smooth
