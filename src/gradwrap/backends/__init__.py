"""Array libraries: a folder for each, with its differences from the standard.

A library that follows the standard, such as array-api-strict, needs no room: the generic table and
`core.library.backend.Backend` serve it unchanged. Dask is in `gradwrap.dask`, which is written as a
third party would write it: it registers its backend from outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwrap.backends.numpy import arithmetic as numpy_arithmetic
from gradwrap.backends.numpy import namespace as numpy_namespace
from gradwrap.backends.numpy import rows as numpy_rows
from gradwrap.backends.numpy import ufuncs as numpy_ufuncs
from gradwrap.backends.numpy.backend import NumPyBackend
from gradwrap.core.array import protocol
from gradwrap.core.array.attributes import remedies
from gradwrap.core.array.wrapping import notes_of_failures
from gradwrap.core.library.backend import namespaces
from gradwrap.core.library.registration import register_backend
from gradwrap.core.observing.callers import remedies_of_calls

if TYPE_CHECKING:
    from gradwrap.core.array.protocol import Handlers
    from gradwrap.core.observing.called import Called

__all__ = ["register_all"]


LIBRARIES = {
    "torch": "gradwrap.backends.torch.backend:TorchBackend",
    "jax": "gradwrap.backends.jax.backend:JaxBackend",
    "cupy": "gradwrap.backends.cupy.backend:CupyBackend",
}
"""The libraries that others import: the module and the class of each backend."""


def register_all() -> None:
    """Register the array libraries, and install the handlers of NumPy's protocols."""
    register_backend("numpy", NumPyBackend)
    namespaces["numpy"] = numpy_namespace.namespace
    for library, backend in LIBRARIES.items():
        register_backend(library, backend)
    numpy_arithmetic.listen()
    numpy_ufuncs.register_all()
    numpy_rows.register_all()
    protocol.install(_numpy_handlers)
    remedies.append(_method_remedy)
    remedies_of_calls.append(_remedy_of_call)
    notes_of_failures.append(_note_missing_device)


def _numpy_handlers() -> Handlers:
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


def _remedy_of_call(called: Called) -> str:
    from gradwrap.backends.numpy.remedies import remedy

    return remedy(called)


def _note_missing_device(error: Exception) -> None:
    if type(error).__module__.startswith("cupy"):
        from gradwrap.backends.cupy.faults import note_missing_device

        note_missing_device(error)


def _method_remedy(name: str) -> str:
    from gradwrap.backends.numpy import methods as numpy_methods

    return numpy_methods.instead(name)
