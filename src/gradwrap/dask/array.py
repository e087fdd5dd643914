"""Drop-in for `import dask.array as da`: Dask's own, whose functions take tracked values.

Dask's functions do not ask their arguments who they are, and refuse a tracked array. Here, a
function with a tracked argument acts as NumPy's function of that name does for gradwrap, and builds
Dask's graph; given anything else, it is Dask's own. `map_blocks` and `map_overlap` differentiate
the function that they apply, block by block on the workers::

    import gradwrap as gw
    import gradwrap.dask.array as da


    def roughness(u):
        differences = da.map_overlap(lambda b: b[1:] - b[:-1], u, depth={0: (0, 1)}, trim=False)
        return da.sum(differences**2, split_every=8)


    gw.grad(roughness)(u)  # a lazy dask.array.Array, in the chunks of u
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any

from gradwrap.errors import MissingToolError as _MissingToolError

try:
    _dask_array: Any = _import_module("dask.array")  # this module is imported as `da`
except ModuleNotFoundError as _error:
    raise _MissingToolError(
        "gradwrap.dask.array is dask.array with tracked values, and Dask is not installed. "
        'Fix: pip install "dask[array]".'
    ) from _error

from gradwrap.dask.functions import DropIn as _DropIn

_drop_in = _DropIn()


def __getattr__(name: str) -> Any:
    return _drop_in.find(name)


def __dir__() -> list[str]:
    return dir(_dask_array)
