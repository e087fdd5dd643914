"""Array libraries: a module each, with only what differs there from the standard."""

from gradwrap.backends import numpy_ufuncs
from gradwrap.backends.numpy import NumPyBackend
from gradwrap.core import protocol
from gradwrap.core.backend import register_backend

__all__ = ["register_all"]


def register_all() -> None:
    """Enter the libraries, and NumPy's protocols."""
    register_backend("numpy", NumPyBackend)
    numpy_ufuncs.register_all()
    protocol.install(_numpy_handlers)


def _numpy_handlers() -> protocol.Handlers:
    from gradwrap.backends import numpy_methods, numpy_protocol
    from gradwrap.backends.numpy_functions.table import WRITING

    return protocol.Handlers(
        numpy_protocol.call_ufunc,
        numpy_protocol.call_function,
        numpy_methods.find,
        frozenset(WRITING),
    )
