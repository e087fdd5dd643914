"""Array libraries: a module each, with only what differs there from the standard.

array-api-strict has none: `core.backend.Backend` and the generic table serve it as it stands,
like any other library that follows the standard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.backends import numpy_ufuncs, special_functions
from gradwrap.backends.numpy import NumPyBackend
from gradwrap.core import protocol
from gradwrap.core.backend import register_backend

if TYPE_CHECKING:
    from gradwrap.core.backend import Backend

__all__ = ["register_all"]


def register_all() -> None:
    """Enter the libraries, and NumPy's protocols."""
    register_backend("numpy", NumPyBackend)
    register_backend("torch", _torch)
    register_backend("jax", _jax)
    register_backend("dask", _dask)
    register_backend("cupy", _cupy)
    numpy_ufuncs.register_all()
    special_functions.register_all()
    protocol.install(_numpy_handlers)


# A library is imported when its first array is met: it has been imported then.


def _torch(xp: Any, kind: type) -> Backend:
    from gradwrap.backends.torch import TorchBackend

    return TorchBackend(xp, kind)


def _cupy(xp: Any, kind: type) -> Backend:
    from gradwrap.backends.cupy import CupyBackend

    return CupyBackend(xp, kind)


def _jax(xp: Any, kind: type) -> Backend:
    from gradwrap.backends.jax import JaxBackend

    return JaxBackend(xp, kind)


def _dask(xp: Any, kind: type) -> Backend:
    from gradwrap.backends.dask import DaskBackend

    return DaskBackend(xp, kind)


def _numpy_handlers() -> protocol.Handlers:
    from gradwrap.backends import numpy_methods, numpy_protocol
    from gradwrap.backends.numpy_functions.table import WRITING

    return protocol.Handlers(
        numpy_protocol.call_ufunc,
        numpy_protocol.call_function,
        numpy_protocol.bind,
        numpy_methods.find,
        numpy_methods.NAMES,
        frozenset(WRITING),
    )
