"""Drop-in for `import cupy as cp`: CuPy itself, whose functions and new arrays take tracked values.

CuPy's own functions reach gradwrap where CuPy asks its arguments for it: ufuncs, kernels and some
reductions. The others (`concatenate`, `matmul`, `einsum`, ...) take no array but CuPy's. Here, a
function that is given a tracked value does what NumPy's function of that name does for gradwrap,
on the GPU; given anything else, it is CuPy's own. A function without a derivative says so.

Arrays made inside a function that a transform differentiates can be filled in place with tracked
values, as in `gradwrap.numpy`::

    import gradwrap as gw
    import gradwrap.cupy as cp


    def loss(w, x, y):
        hidden = cp.concatenate([cp.tanh(x @ w), cp.ones((len(x), 1))], axis=1)
        return cp.mean((cp.sum(hidden, axis=1) - y) ** 2)


    gw.grad(loss)(w, x, y)  # a cupy.ndarray, like w
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING, Any

from gradwrap.errors import MissingToolError as _MissingToolError

try:
    import cupy as _cupy  # cp is what this module is imported as
except ModuleNotFoundError as _error:
    raise _MissingToolError(
        "gradwrap.cupy is CuPy with tracked values, and CuPy is not installed. "
        "Fix: pip install cupy-cuda12x, for CUDA 12 (cupy-cuda13x for CUDA 13; for others see "
        "https://docs.cupy.dev/en/stable/install.html). Without a GPU: import gradwrap.numpy as np."
    ) from _error

from gradwrap.backends.cupy.functions import DropIn as _DropIn

if TYPE_CHECKING:
    from cupy import *  # noqa: F403  as a checker sees the module

_drop_in = _DropIn(_sys.modules[__name__])


def __getattr__(name: str) -> Any:
    return _drop_in.find(name)


def __dir__() -> list[str]:
    return dir(_cupy)
