"""Array libraries: a module each, with only what differs there from the standard.

array-api-strict needs none, like any other library that follows the standard: the generic table
and `core.backend.Backend` serve it unchanged.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.companions import enter_all
from gradwrap.backends.numpy import namespace as numpy_namespace
from gradwrap.backends.numpy import rows as numpy_rows
from gradwrap.backends.numpy import ufuncs as numpy_ufuncs
from gradwrap.backends.numpy.backend import NumPyBackend
from gradwrap.core.array import protocol
from gradwrap.core.array.attributes import remedies
from gradwrap.core.library.backend import namespaces, register_backend
from gradwrap.core.observing.callers import advisers

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.library.backend import Backend
    from gradwrap.core.observing.callers import Caller

__all__ = ["register_all"]


LIBRARIES = {
    "torch": ("gradwrap.backends.torch.backend", "TorchBackend"),
    "jax": ("gradwrap.backends.jax.backend", "JaxBackend"),
    "dask": ("gradwrap.dask.backend", "DaskBackend"),
    "cupy": ("gradwrap.backends.cupy.backend", "CupyBackend"),
}
"""The libraries that are imported by others alone: the module and the class of each backend."""


def register_all() -> None:
    """Enter the libraries, and NumPy's protocols."""
    register_backend("numpy", NumPyBackend)
    namespaces["numpy"] = numpy_namespace.namespace
    for name, (module, backend) in LIBRARIES.items():
        register_backend(name, functools.partial(_make, module, backend))
    numpy_ufuncs.register_all()
    numpy_rows.register_all()
    protocol.install(_numpy_handlers)
    remedies.append(_method_remedy)
    advisers["scipy"] = _advise_on_scipy
    enter_all()


def _advise_on_scipy(caller: Caller) -> str:
    """Say what to do about SciPy's code, which has been imported where this is asked."""
    advice: Callable[[Caller], str] = import_module("gradwrap.scipy.naming").advice
    return advice(caller)


def _make(module: str, backend: str, xp: Any, kind: type) -> Backend:
    """Make a library's backend when its first array is met, which has imported the library."""
    make: Callable[[Any, type], Backend] = getattr(import_module(module), backend)
    return make(xp, kind)


def _numpy_handlers() -> protocol.Handlers:
    from gradwrap.backends.numpy import methods as numpy_methods
    from gradwrap.backends.numpy import protocol as numpy_protocol
    from gradwrap.backends.numpy.functions.writing import WRITING

    return protocol.Handlers(
        numpy_protocol.call_ufunc,
        numpy_protocol.call_function,
        numpy_protocol.bind,
        numpy_methods.find,
        numpy_methods.LISTED,
        WRITING,
    )


def _method_remedy(name: str) -> str:
    from gradwrap.backends.numpy import methods as numpy_methods

    return numpy_methods.instead(name)
